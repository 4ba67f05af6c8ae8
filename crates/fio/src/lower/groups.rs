//! Jobs that run together, and jobs that are reported together.

use std::collections::HashMap;

use candor_plan::{OnFailure, Phase, Plan};

use super::files;
use super::instance::Instance;
use super::measures;
use crate::ast::Section;
use crate::options::JobOptions;
use candor_front::Diagnostic;
use candor_front::Diagnostics;

/// Phase and group of a section's jobs.
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
    /// Plan names of the section's jobs.
    jobs: Vec<String>,
    /// Plan names of the jobs to wait for.
    after: Vec<String>,
    /// `lat_percentiles`.
    lat_percentiles: bool,
}

/// The sections so far, with the names that the plan has given out.
#[derive(Default)]
pub(super) struct Groups {
    entered: Vec<Entered>,
    phases: Names,
    /// Names of the jobs in the phase under construction.
    jobs: Names,
    /// Names of all targets.
    pub targets: files::Known,
}

/// Names in use, each with its number of requests.
#[derive(Default)]
struct Names(HashMap<String, u64>);

impl Names {
    /// Reserves a name; adds a number if it is in use.
    fn take(&mut self, name: &str) -> String {
        let mut own = name.to_owned();
        let mut count = *self.0.entry(own.clone()).and_modify(|count| *count += 1).or_insert(1);
        while count > 1 {
            own = format!("{name} ({count})");
            if self.0.contains_key(&own) { count += 1 } else { break }
        }
        self.0.insert(name.to_owned(), count);
        self.0.entry(own.clone()).or_insert(1);
        own
    }
}

impl Groups {
    /// Places the next section; begins a phase if it waits for all others.
    pub fn enter(
        &mut self,
        section: &Section,
        options: &JobOptions,
        diagnostics: &mut Diagnostics,
        plan: &mut Plan,
    ) {
        let name = options.about.name.as_deref().unwrap_or(&section.name.text);
        let walled = options.process.stonewall || section.begins_file;
        let last = self.current();
        let group = match last {
            Some(seat) if walled || options.process.new_group => seat.group + 1,
            Some(seat) => seat.group,
            None => 0,
        };
        if last.is_none() || walled {
            let name = self.phases.take(name);
            self.jobs = Names::default();
            let on_failure = on_failure(options);
            let interval = measures::interval(options);
            plan.phases.push(Phase { name, on_failure, interval, ..Phase::default() });
        } else if let Some(phase) = plan.phases.last_mut() {
            phase.interval = phase.interval.min(measures::interval(options));
            if on_failure(options) == OnFailure::EndPhase {
                phase.on_failure = OnFailure::EndPhase;
            }
        }
        let seat = Seat { phase: plan.phases.len() - 1, group };
        self.check_alike(section, options, seat, diagnostics);
        let after = self.awaited(section, options, seat, diagnostics);
        let lat_percentiles = options.statistics.lat_percentiles;
        let (name, jobs) = (name.to_owned(), Vec::new());
        self.entered.push(Entered { name, seat, jobs, after, lat_percentiles });
    }

    /// Enters a job of the current section: gives a name that no other job of its phase has, and
    /// the jobs that it waits for.
    pub fn enter_job(&mut self, from: &Instance<'_>) -> (String, Vec<String>) {
        let name = match from.options.runtime.clones {
            0 | 1 => self.jobs.take(from.name),
            _ => self.jobs.take(&format!("{}.{}", from.name, from.clone)),
        };
        let Some(section) = self.entered.last_mut() else { return (name, Vec::new()) };
        section.jobs.push(name.clone());
        (name, section.after.clone())
    }

    /// The seat of the section that was entered last.
    pub fn current(&self) -> Option<Seat> {
        self.entered.last().map(|section| section.seat)
    }

    /// The seat of the n-th section.
    pub fn seat(&self, section: usize) -> Option<Seat> {
        self.entered.get(section).map(|section| section.seat)
    }

    /// Jobs that are reported together have percentiles of the same latency.
    fn check_alike(
        &self,
        section: &Section,
        options: &JobOptions,
        seat: Seat,
        diagnostics: &mut Diagnostics,
    ) {
        let given = &options.statistics;
        if !(given.group && given.stats) {
            return;
        }
        if let Some(other) = self.entered.iter().find(|other| {
            other.seat.group == seat.group && other.lat_percentiles != given.lat_percentiles
        }) {
            let at = options.given.at("lat_percentiles").unwrap_or(section.name.at);
            let name = options.about.name.as_deref().unwrap_or(&section.name.text);
            let message = format!(
                "lat_percentiles in job {name} differs from {}, which is reported in its group",
                other.name
            );
            let diagnostic = Diagnostic::new(at, "group", name, message);
            diagnostics.push(diagnostic.remedy("set it alike in both, or new_group in this one"));
        }
    }

    /// Jobs of the section in `wait_for`, if they run in this phase.
    fn awaited(
        &self,
        section: &Section,
        options: &JobOptions,
        seat: Seat,
        diagnostics: &mut Diagnostics,
    ) -> Vec<String> {
        let Some(awaited) = options.about.wait_for.as_deref() else { return Vec::new() };
        match self.entered.iter().rev().find(|section| section.name == awaited) {
            Some(section) if section.seat.phase == seat.phase => section.jobs.clone(),
            Some(_) => Vec::new(),
            None => {
                let at = options.given.at("wait_for").unwrap_or(section.name.at);
                let message = format!("wait_for names `{awaited}`, and no job above is called so");
                let diagnostic = Diagnostic::new(at, "wait-for", awaited, message);
                let names = self.entered.iter().map(|section| section.name.as_str());
                diagnostics
                    .push(diagnostic.nearest(names).remedy("define that job above this one"));
                Vec::new()
            }
        }
    }
}

/// A failed job ends alone unless it stops others; later phases run.
fn on_failure(options: &JobOptions) -> OnFailure {
    if options.process.exit_all_on_error { OnFailure::EndPhase } else { OnFailure::EndJob }
}
