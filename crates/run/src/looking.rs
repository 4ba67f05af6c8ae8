//! The eye of a run: opened beside the preparations, since that takes some 60 ms.

use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use candor_observe::Roots;
use candor_observe::eye::{Budget, Eye};
use candor_record::Facts;
use candor_record::facts::Missing;
use candor_record::requests::RequestStats;

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

/// What looks at requests, once it is open.
#[derive(Default)]
pub struct Looking {
    /// The devices that it was opened for.
    names: Vec<String>,
    eye: Arc<OnceLock<Result<Eye, Missing>>>,
    opening: Option<JoinHandle<()>>,
}

impl Looking {
    /// Begins to open it for the devices of a run, unless that was done or cannot be done.
    pub fn begin(&mut self, facts: &Facts, mode: EyeMode, roots: &Roots) {
        let Some(budget) = mode.budget() else { return };
        let names: Vec<String> = facts.devices.iter().map(|device| device.name.clone()).collect();
        if names == self.names || matches!(self.eye.get(), Some(Err(_))) {
            return;
        }
        let eye = Arc::new(OnceLock::new());
        let (facts, roots, to) = (facts.clone(), roots.clone(), Arc::clone(&eye));
        let open = move || {
            // Nobody else puts one there.
            let _ = to.set(Eye::open(&facts, budget, &roots));
        };
        *self = Looking { names, eye, opening: Some(thread::spawn(open)) };
    }

    /// What is missing if it cannot be opened, told once. Waits until that is known, or tells it
    /// only if it is.
    pub fn ready(&mut self, wait: bool) -> Option<Missing> {
        let opening = self.opening.take_if(|opening| wait || opening.is_finished())?;
        if let Err(panic) = opening.join() {
            std::panic::resume_unwind(panic);
        }
        self.eye.get()?.as_ref().err().cloned()
    }

    /// What has been seen so far; nothing while it is not open.
    pub fn look(&self) -> Option<RequestStats> {
        self.eye.get()?.as_ref().ok().map(Eye::look)
    }
}
