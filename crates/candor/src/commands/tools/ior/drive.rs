//! The order of phases, as far as one decides over another: counts that a deadline left, times
//! after which none begins, errors that keep files.

use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use candor_ior::options::EndOptions;
use candor_ior::plan::{Lowered, PhaseKind, TestPhase};
use candor_plan::{Plan, Stop, Target, TargetKind, path_of};
use candor_record::{Measurement, PhaseRecord};
use candor_run::{Run, Step, Stopped};

/// Everything that decides over phases of a test.
#[derive(Clone)]
struct Rules {
    ends: EndOptions,
    keep_with_error: bool,
}

/// Runs the phases of a plan.
pub struct Driver {
    phases: Vec<TestPhase>,
    tests: Vec<Rules>,
    sizes: Sender<Option<u64>>,
}

/// Events of the test that is under way.
struct UnderWay {
    began: Instant,
    /// Transfers of each task after which reads end; none where no deadline ended a write.
    transfers: Option<u64>,
    /// Verification found errors in this repetition.
    has_errors: bool,
    /// A phase of this repetition ran.
    has_run: bool,
}

impl Driver {
    /// For the phases of a plan. After each phase and before the next one, the driver sends the
    /// bytes of the phase's files, as this host has them.
    pub fn new(lowered: &Lowered, sizes: Sender<Option<u64>>) -> Driver {
        let tests = lowered.setup.tests.iter().map(|test| Rules {
            ends: test.options.ends.clone(),
            keep_with_error: test.options.run.keep_with_error,
        });
        Driver { phases: lowered.phases.clone(), tests: tests.collect(), sizes }
    }

    /// Runs them.
    ///
    /// # Errors
    /// The reason why the run ends before its time.
    pub fn drive(&self, run: &mut Run) -> Result<(), Stopped> {
        let mut under_way = UnderWay::new();
        for (index, phase) in self.phases.iter().enumerate() {
            let before = index.checked_sub(1).map(|before| &self.phases[before]);
            if before.is_none_or(|before| before.test != phase.test) {
                under_way = UnderWay::new();
            } else if before.is_none_or(|before| before.repetition != phase.repetition) {
                under_way.next_repetition();
            }
            let rules = &self.tests[phase.test];
            if under_way.leaves_out(phase.kind, rules) {
                continue;
            }
            if let (PhaseKind::Check | PhaseKind::Read, Some(count)) =
                (phase.kind, under_way.transfers)
            {
                let of_plan = run.plan().phases[index].jobs[0].stop.clone().unwrap_or_default();
                let ops = of_plan.ops.map_or(count, |ops| ops.min(count));
                run.end_jobs(index, &Stop { ops: Some(ops), ..of_plan });
            }
            let record = run.phase(Step::Planned { index, repeat: 0 })?.clone();
            // No reader is left where the results cannot be written.
            let _ = self.sizes.send(size_of_files(run.plan(), index));
            under_way.ran(phase.kind, &record, rules)?;
        }
        Ok(())
    }
}

impl UnderWay {
    fn new() -> UnderWay {
        UnderWay { began: Instant::now(), transfers: None, has_errors: false, has_run: false }
    }

    fn next_repetition(&mut self) {
        let UnderWay { began, .. } = *self;
        *self = UnderWay { began, ..UnderWay::new() };
    }

    /// True for a phase that does not run.
    fn leaves_out(&self, kind: PhaseKind, rules: &Rules) -> bool {
        let minutes = rules.ends.max_time_min;
        let is_late =
            minutes > 0 && self.began.elapsed() >= Duration::from_secs(minutes.saturating_mul(60));
        match kind {
            PhaseKind::Remove => !self.has_run || (rules.keep_with_error && self.has_errors),
            PhaseKind::Clear | PhaseKind::Fill | PhaseKind::Write => is_late,
            PhaseKind::Check | PhaseKind::Read => is_late || self.transfers == Some(0),
        }
    }

    /// Learns what later phases depend on.
    fn ran(&mut self, kind: PhaseKind, record: &PhaseRecord, rules: &Rules) -> Result<(), Stopped> {
        self.has_run |= kind != PhaseKind::Clear;
        let Some(measured) = record.measurements.first() else { return Ok(()) };
        self.has_errors |= measured.verify.as_ref().is_some_and(|verify| verify.mismatches() > 0);
        if kind != PhaseKind::Write || rules.ends.deadline_s == 0 {
            return Ok(());
        }
        self.transfers = Some(transfers(measured));
        match (&rules.ends.status_file, rules.ends.wear_out) {
            (Some(file), true) => candor_files::replace(
                &path_of(file),
                transfers(measured).to_string(),
            )
            .map_err(|error| {
                Stopped::Early(format!("the count of transfers cannot be kept in {file}: {error}"))
            }),
            _ => Ok(()),
        }
    }
}

/// Bytes of the files of a phase, as stat reports them. IOR's null back end has files of no bytes;
/// files that are not regular, and files that this host does not have, have no size.
fn size_of_files(plan: &Plan, phase: usize) -> Option<u64> {
    let size = |target: &Target| -> Option<u64> {
        let bytes = |path: &Path| {
            let facts = std::fs::metadata(path).ok()?;
            facts.is_file().then_some(facts.len())
        };
        match target.kind {
            TargetKind::Null => Some(0),
            TargetKind::FileSet => {
                (0..target.files_named()).map(|nth| bytes(&target.file_of_set(nth).0)).sum()
            }
            _ => bytes(&target.path),
        }
    };
    plan.phases[phase].jobs.first()?.targets.iter().map(|name| size(plan.target(name)?)).sum()
}

/// Transfers that each task has certainly written: the count to which all came, or that of the task
/// which was least far.
fn transfers(measured: &Measurement) -> u64 {
    let least = || measured.per_worker.iter().map(|worker| worker.ops).min().unwrap_or(0);
    // Tasks that had less to do than the furthest one's count are at their end.
    measured.wear_out.map_or_else(least, |wear_out| wear_out.ops)
}
