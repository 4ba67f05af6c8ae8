//! Progress of a run, from its events and their times.

use candor_record::Event;

/// Progress of a run. Times are of any monotonic clock.
#[derive(Clone, Debug, Default)]
pub struct RunProgress {
    run: RunState,
    phase: PhaseState,
}

/// The run as a whole.
#[derive(Clone, Debug, Default)]
struct RunState {
    name: String,
    phases: usize,
    expected_ns: Option<u64>,
    /// Expected length of the phases that ended.
    over_ns: u64,
    /// Phases that began, without steps of a search, whose number is unknown.
    begun: usize,
}

/// The current phase.
#[derive(Clone, Debug, Default)]
struct PhaseState {
    name: String,
    search_step: bool,
    started_ns: u64,
    expected_ns: Option<u64>,
}

/// Remaining time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// Remaining time of the phase.
    pub phase_ns: u64,
    /// Remaining time of the run, if it has several phases, all limited by time.
    pub run_ns: Option<u64>,
}

impl RunProgress {
    /// Updates the progress with an event at `now_ns`.
    pub fn on(&mut self, event: &Event, now_ns: u64) {
        match event {
            Event::RunStarted { name, phases, expected_ns } => {
                let run = RunState { name: name.clone(), phases: *phases, ..RunState::default() };
                self.run = RunState { expected_ns: *expected_ns, ..run };
            }
            Event::PhaseStarted { phase, search_step, expected_ns, .. } => {
                self.run.over_ns += self.phase.expected_ns.unwrap_or(0);
                self.run.begun += usize::from(!search_step);
                self.run.phases = self.run.phases.max(self.run.begun);
                self.phase = PhaseState {
                    name: phase.clone(),
                    search_step: *search_step,
                    started_ns: now_ns,
                    expected_ns: *expected_ns,
                };
            }
            _ => {}
        }
    }

    /// Name of the run.
    pub fn run(&self) -> &str {
        &self.run.name
    }

    /// Name of the current or last phase.
    pub fn phase(&self) -> &str {
        &self.phase.name
    }

    /// Number of the phase from 1, and number of phases; absent for a run of one phase, and for
    /// steps of a search.
    pub fn number(&self) -> Option<(usize, usize)> {
        let RunState { phases, begun, .. } = self.run;
        (phases > 1 && !self.phase.search_step).then_some((begun, phases))
    }

    /// Share of the phase's time that passed, from 0 to 1; absent if it is not limited by time.
    pub fn share(&self, now_ns: u64) -> Option<f64> {
        let expected_ns = self.phase.expected_ns.filter(|ns| *ns > 0)?;
        Some((self.passed_ns(now_ns) as f64 / expected_ns as f64).min(1.0))
    }

    /// Remaining time; absent if the phase is not limited by time.
    pub fn left(&self, now_ns: u64) -> Option<Left> {
        let expected_ns = self.phase.expected_ns?;
        let passed_ns = self.passed_ns(now_ns);
        let run_ns = self
            .run
            .expected_ns
            .filter(|_| self.run.phases > 1)
            .map(|all_ns| all_ns.saturating_sub(self.run.over_ns + passed_ns.min(expected_ns)));
        Some(Left { phase_ns: expected_ns.saturating_sub(passed_ns), run_ns })
    }

    fn passed_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.phase.started_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started(phase: &str, search_step: bool, expected_ns: Option<u64>) -> Event {
        let phase = phase.to_owned();
        Event::PhaseStarted { phase, index: 0, search_step, expected_ns, ceilings: Vec::new() }
    }

    #[test]
    fn the_phase_and_the_run_have_a_remaining_time() {
        let mut progress = RunProgress::default();
        let run = |phases| Event::RunStarted { name: "n".into(), phases, expected_ns: Some(50) };
        progress.on(&run(2), 0);
        progress.on(&started("a", false, Some(10)), 5);
        assert_eq!(progress.left(8), Some(Left { phase_ns: 7, run_ns: Some(47) }));
        progress.on(&started("b", false, Some(40)), 20);
        assert_eq!(progress.left(30), Some(Left { phase_ns: 30, run_ns: Some(30) }));
        assert_eq!((progress.share(30), progress.share(90)), (Some(0.25), Some(1.0)));
        assert_eq!((progress.run(), progress.phase(), progress.number()), ("n", "b", Some((2, 2))));
        progress.on(&run(1), 0);
        assert_eq!(progress.left(30), Some(Left { phase_ns: 30, run_ns: None }));
    }

    #[test]
    fn steps_of_a_search_have_no_number_and_an_unlimited_phase_no_remaining_time() {
        let mut progress = RunProgress::default();
        progress.on(&started("a", false, None), 5);
        assert_eq!((progress.left(8), progress.share(8), progress.number()), (None, None, None));
        progress.on(&started("b", false, None), 5);
        assert_eq!(progress.number(), Some((2, 2)), "more than were announced");
        progress.on(&started("c", true, None), 5);
        assert_eq!(progress.number(), None);
    }
}
