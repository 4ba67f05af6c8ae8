//! Which jobs run together, and which are reported together.

use candor_plan::{OnFailure, Phase, Plan};

use super::{Instance, Told, measures};
use crate::fio::settings::Settings;
use crate::fio::words::{Mistake, Section};

/// Where a section's jobs belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seat {
    /// Index of the phase.
    pub phase: usize,
    /// Number of the reporting group.
    pub group: u32,
}

/// A section that has its seat.
struct Entered {
    name: String,
    seat: Seat,
    /// The plan's names of its jobs.
    jobs: Vec<String>,
    /// The plan's names of the jobs that its own wait for.
    after: Vec<String>,
}

/// The sections so far.
#[derive(Default)]
pub(super) struct Groups {
    entered: Vec<Entered>,
}

impl Groups {
    /// Gives the next section its seat; begins a phase where it waits for all others.
    pub fn enter(
        &mut self,
        section: &Section,
        settings: &Settings,
        told: &mut Told,
        plan: &mut Plan,
    ) {
        let name = settings.about.name.as_deref().unwrap_or(&section.name.text);
        let walled = settings.process.stonewall || section.begins_file;
        let last = self.current();
        let group = match last {
            Some(seat) if walled || settings.process.new_group => seat.group + 1,
            Some(seat) => seat.group,
            None => 0,
        };
        if last.is_none() || walled {
            let name = phase_name(plan, name);
            let on_failure = on_failure(settings);
            let interval = measures::interval(settings);
            plan.phases.push(Phase { name, on_failure, interval, ..Phase::default() });
        } else if let Some(phase) = plan.phases.last_mut() {
            phase.interval = phase.interval.min(measures::interval(settings));
            if on_failure(settings) == OnFailure::EndPhase {
                phase.on_failure = OnFailure::EndPhase;
            }
        }
        let seat = Seat { phase: plan.phases.len() - 1, group };
        let after = self.awaited(section, settings, seat, told);
        self.entered.push(Entered { name: name.to_owned(), seat, jobs: Vec::new(), after });
    }

    /// Enters a job of the current section, and gives the jobs that it waits for.
    pub fn enter_job(&mut self, name: &str) -> Vec<String> {
        let Some(section) = self.entered.last_mut() else { return Vec::new() };
        section.jobs.push(name.to_owned());
        section.after.clone()
    }

    /// The seat of the section that was entered last.
    pub fn current(&self) -> Option<Seat> {
        self.entered.last().map(|section| section.seat)
    }

    /// The seat of the n-th section.
    pub fn seat(&self, section: usize) -> Option<Seat> {
        self.entered.get(section).map(|section| section.seat)
    }

    /// The jobs of the section that `wait_for` names; none where they end before this phase.
    fn awaited(
        &self,
        section: &Section,
        settings: &Settings,
        seat: Seat,
        told: &mut Told,
    ) -> Vec<String> {
        let Some(awaited) = settings.about.wait_for.as_deref() else { return Vec::new() };
        match self.entered.iter().rev().find(|section| section.name == awaited) {
            Some(section) if section.seat.phase == seat.phase => section.jobs.clone(),
            Some(_) => Vec::new(),
            None => {
                let at = settings.given.at("wait_for").unwrap_or(section.name.at);
                let message = format!("wait_for names `{awaited}`, and no job above is called so");
                let mistake = Mistake::new(at, "wait-for", awaited, message);
                let names = self.entered.iter().map(|section| section.name.as_str());
                told.mistake(mistake.nearest(names).remedy("define that job above this one"));
                Vec::new()
            }
        }
    }
}

/// A job that fails ends alone, unless it is to take those beside it along; what comes after runs.
fn on_failure(settings: &Settings) -> OnFailure {
    match settings.process.exit_all_on_error {
        true => OnFailure::EndPhase,
        false => OnFailure::EndJob,
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
