//! The eye of a run: opened beside the preparations, since that takes some 60 ms.

use std::thread::{self, JoinHandle};

use candor_observe::Roots;
use candor_observe::eye::{Budget, Eye};
use candor_record::Facts;
use candor_record::facts::Missing;
use candor_record::requests::Trace;

/// The share of one CPU that looking at requests may take.
const SHARE: f64 = 0.0025;

/// How closely single requests are to be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EyeMode {
    /// As many as a quarter of a percent of a CPU allows.
    #[default]
    Auto,
    /// All, whatever that costs.
    All,
    /// None.
    Off,
}

impl EyeMode {
    fn budget(self) -> Option<Budget> {
        match self {
            EyeMode::Auto => Some(Budget::Share(SHARE)),
            EyeMode::All => Some(Budget::Unbounded),
            EyeMode::Off => None,
        }
    }
}

/// Whether requests are looked at.
#[derive(Default)]
pub enum Looking {
    /// Not yet.
    #[default]
    Not,
    /// It is being opened, for these devices.
    Opening(Vec<String>, JoinHandle<Result<Eye, Missing>>),
    /// It is open, for these devices.
    Open(Vec<String>, Eye),
    /// It cannot be opened.
    Blind,
}

impl Looking {
    /// Begins to open it for the devices of a run, unless that was done.
    pub fn begin(&mut self, facts: &Facts, mode: EyeMode, roots: &Roots) {
        let Some(budget) = mode.budget() else { return };
        let names: Vec<String> = facts.devices.iter().map(|device| device.name.clone()).collect();
        let known = match self {
            Looking::Not => names.is_empty(),
            Looking::Opening(known, _) | Looking::Open(known, _) => *known == names,
            Looking::Blind => true,
        };
        if known {
            return;
        }
        let (facts, roots) = (facts.clone(), roots.clone());
        let open = move || Eye::open(&facts, budget, &roots);
        *self = Looking::Opening(names, thread::spawn(open));
    }

    /// Waits until it is open; what is missing if it cannot be, told once.
    pub fn ready(&mut self) -> Option<Missing> {
        let Looking::Opening(..) = self else { return None };
        let Looking::Opening(names, opening) = std::mem::take(self) else { return None };
        match opening.join() {
            Ok(Ok(eye)) => {
                *self = Looking::Open(names, eye);
                None
            }
            Ok(Err(missing)) => {
                *self = Looking::Blind;
                Some(missing)
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    /// What has been seen so far.
    pub fn look(&self) -> Option<Trace> {
        match self {
            Looking::Open(_, eye) => Some(eye.look()),
            _ => None,
        }
    }
}
