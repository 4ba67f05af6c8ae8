//! How far a run is.

use std::time::{SystemTime, UNIX_EPOCH};

use candor_record::{PrepareStep, Verdict};
use prometheus_client::registry::Registry;

use crate::series::{Count, Gauge, Series, seconds};

/// States of a phase, in their order.
const STATES: [&str; 4] = ["preparing", "ramp", "running", "done"];

/// Series about the run and its phases.
#[derive(Debug)]
pub struct ProgressSeries {
    info: Series<Gauge>,
    phases: Series<Gauge>,
    phases_done: Series<Count>,
    state: Series<Gauge>,
    started: Series<Gauge>,
    expected: Series<Gauge>,
    prepared: Series<Gauge>,
    to_prepare: Series<Gauge>,
    verdict: Series<Gauge>,
}

impl ProgressSeries {
    /// Registers them.
    pub fn new(registry: &mut Registry) -> ProgressSeries {
        let s = Some("seconds");
        let bytes = Some("bytes");
        let mut gauge = |name, unit, help| Series::new(registry, name, unit, help);
        ProgressSeries {
            info: gauge("candor_run_info", None, "The run, by its name, and the version of candor"),
            phases: gauge("candor_phases_expected", None, "Phases that the run expects"),
            state: gauge("candor_phase_state", None, "1 for the state in which a phase is"),
            started: gauge(
                "candor_phase_start_timestamp",
                s,
                "Start of the phase, of its last repeat, since 1970",
            ),
            expected: gauge(
                "candor_phase_expected",
                s,
                "Time that the phase takes, its ramp included, where that is known",
            ),
            prepared: gauge("candor_prepared", bytes, "Bytes prepared in the step under way"),
            to_prepare: gauge("candor_to_prepare", bytes, "Bytes that this step is to prepare"),
            verdict: gauge("candor_run_verdict", None, "1 for the verdict of a run that ended"),
            phases_done: Series::new(
                registry,
                "candor_phases_done",
                None,
                "Phases that ended, repeats and steps of a search among them",
            ),
        }
    }

    /// The run began.
    pub fn run_started(&self, name: &str, phases: usize) {
        let labels = [("name", name), ("version", env!("CARGO_PKG_VERSION"))];
        self.info.set(&labels, Some(1.0));
        self.phases.set(&[], Some(phases as f64));
        self.phases_done.of(&[]);
    }

    /// A step of the preparation of a phase.
    pub fn preparing(&self, phase: &str, step: PrepareStep, done: u64, total: u64) {
        // These come after the phase.
        if !matches!(step, PrepareStep::FollowUp | PrepareStep::CleanUp) {
            self.set(phase, "preparing");
        }
        let labels = [("phase", phase), ("step", step.name())];
        self.prepared.set(&labels, Some(done as f64));
        self.to_prepare.set(&labels, (total > 0).then_some(total as f64));
    }

    /// The barrier of a phase was released.
    pub fn phase_started(&self, phase: &str, expected_ns: Option<u64>) {
        self.set(phase, "running");
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let labels = [("phase", phase)];
        self.started.set(&labels, now.ok().map(|since| since.as_secs_f64()));
        self.expected.set(&labels, expected_ns.map(seconds));
    }

    /// A phase is in that state.
    pub fn set(&self, phase: &str, state: &str) {
        self.state.set_state(&[("phase", phase)], "state", &STATES, state);
    }

    /// A phase ended.
    pub fn phase_done(&self, phase: &str) {
        self.set(phase, "done");
        self.phases_done.of(&[]).inc();
    }

    /// The run ended.
    pub fn run_done(&self, verdict: Verdict) {
        let names = Verdict::ALL.map(Verdict::name);
        self.verdict.set_state(&[], "verdict", &names, verdict.name());
    }
}
