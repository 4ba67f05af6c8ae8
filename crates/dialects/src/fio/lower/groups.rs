//! Which jobs run together, and which are reported together.

use candor_plan::{Phase, Plan};

use super::{Instance, Told};
use crate::fio::options;
use crate::fio::settings::Settings;
use crate::fio::words::{Mistake, Section, Texts};

/// Where a section's jobs belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// Index of the phase.
    pub phase: usize,
    /// Number of the reporting group.
    pub group: u32,
}

/// The seats given so far.
#[derive(Default)]
pub(super) struct Groups {
    /// Sections, by their names, with their seats.
    seats: Vec<(String, Seat)>,
}

impl Groups {
    /// The seat of the next section; begins a phase where it waits for others.
    pub fn enter(
        &mut self,
        section: &Section,
        settings: &Settings,
        texts: &Texts,
        told: &mut Told,
        plan: &mut Plan,
    ) -> Seat {
        let name = settings.about.name.as_deref().unwrap_or(&section.name.text);
        let walled = settings.process.stonewall || section.begins_file;
        let last = self.seats.last().map(|(_, seat)| *seat);
        let waits = self.waits(section, settings, texts, told);
        let group = match last {
            Some(seat) if walled || settings.process.new_group => seat.group + 1,
            Some(seat) => seat.group,
            None => 0,
        };
        if last.is_none() || walled || waits {
            let name = phase_name(plan, name);
            plan.phases.push(Phase { name, ..Phase::default() });
        }
        let seat = Seat { phase: plan.phases.len() - 1, group };
        self.seats.push((name.to_owned(), seat));
        seat
    }

    /// The seat of the n-th section.
    pub fn seat(&self, section: usize) -> Option<Seat> {
        self.seats.get(section).map(|(_, seat)| *seat)
    }

    /// True where `wait_for` names a job of the phase that is being filled.
    fn waits(
        &self,
        section: &Section,
        settings: &Settings,
        texts: &Texts,
        told: &mut Told,
    ) -> bool {
        let Some(awaited) = settings.about.wait_for.as_deref() else { return false };
        let current = self.seats.last().map(|(_, seat)| seat.phase);
        let Some((_, seat)) = self.seats.iter().rev().find(|(name, _)| name == awaited) else {
            let at = settings.given.at("wait_for").unwrap_or(section.name.at);
            let message = format!("wait_for names `{awaited}`, and no job above is called so");
            let mistake = Mistake::new(at, "wait-for", awaited, message);
            let names = self.seats.iter().map(|(name, _)| name.as_str());
            told.mistakes.push(mistake.nearest(names).remedy("define that job above this one"));
            return false;
        };
        if Some(seat.phase) != current {
            return false;
        }
        let others = |(name, other): &(String, Seat)| other.phase == seat.phase && name != awaited;
        if self.seats.iter().any(others) {
            let did = "it starts when all jobs that run beside that one have ended";
            let why = "jobs of a phase end before the next phase starts";
            told.notes.push(options::note(settings, texts, "wait_for", did, why));
        }
        true
    }
}

/// A name for a phase that no other phase has.
fn phase_name(plan: &Plan, name: &str) -> String {
    unused(name, |name| plan.phases.iter().any(|phase| phase.name == name))
}

/// A name for a job that no other job of its phase has.
pub(super) fn job_name(phase: &Phase, from: &Instance<'_>) -> String {
    let own = match from.settings.runtime.clones {
        0 | 1 => from.name.to_owned(),
        _ => format!("{}.{}", from.name, from.clone),
    };
    unused(&own, |name| phase.jobs.iter().any(|job| job.name == name))
}

/// The name, with a number behind it where it is taken.
fn unused(name: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(name) {
        return name.to_owned();
    }
    let numbered = (2_u64..).map(|number| format!("{name} ({number})"));
    numbered.take(1 << 20).find(|name| !taken(name)).unwrap_or_else(|| name.to_owned())
}
