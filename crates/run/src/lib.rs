//! One host: plan in, report out.
//!
//! [`Local`] makes a plan's targets ready, runs phases with the engine while observe looks on,
//! has them judged, and gathers the report. It is the [`Runner`] that series drive step by step
//! and that [`execute`] drives through a whole plan. It also keeps candor from doing harm: consent
//! and held devices are checked before anything is opened, and files that candor made are removed
//! whatever happens.

mod align;
mod cached;
mod claims;
mod consent;
mod error;
mod families;
mod hooks;
mod inspected;
mod integrity;
mod laying;
mod local;
mod made;
mod memory;
mod ready;
mod schedulers;
mod signature;
mod stop;
mod tracer;
mod watch;
mod watching;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use candor_plan::{Bytes, Engine, Nanos, OnDone, OnFailure, Phase, Plan};
use candor_record::{Ended, Event, Facts, PhaseRecord, Report};

pub use align::align;
pub use cached::cached;
pub use candor_observe::trace::TraceMethod;
pub use error::RunError;
pub use inspected::{inspect, record, replay};
pub use local::Local;
pub use stop::{
    asked_by_signal, install_interrupt_handlers, install_report_handler, interrupt_exit_code,
    interrupted,
};
pub use tracer::BlockTraceMode;
pub use watching::{Asked, Watching};

/// Who is told what happens, in order.
pub type Events<'a> = dyn FnMut(&Event) + 'a;

/// How a run is made, beside what its plan says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The command line, for the report.
    pub command: Vec<String>,
    /// Where the report will be kept, for the report.
    pub run_dir: Option<PathBuf>,
    /// Devices that are written to although they are mounted or otherwise held, by kernel name or
    /// path.
    pub force: Vec<String>,
    /// Do not watch the devices for half a second before the first phase, nor wait for the block
    /// tracer: traffic of others then shows only in what the devices count during a phase, and the
    /// first requests are not traced.
    pub at_once: bool,
    /// After a phase that could not tell by itself what limited it, run short trials of other work
    /// on its targets: twice the load, the same places once more, one operation at a time.
    pub follow_ups: bool,
    /// How many requests of the devices are traced.
    pub block_trace: BlockTraceMode,
    /// What is asked of the run while it goes on.
    pub asks: Arc<Asks>,
    /// Number of phases and time that a series expects to take, where its plan does not say.
    pub expected: Option<(usize, Nanos)>,
}

/// What may be asked of a run while it goes on.
#[derive(Debug, Default)]
pub struct Asks {
    /// Whoever sets it gets an [`Event::Interim`] a moment later, as long as a phase runs.
    pub how_far: AtomicBool,
    /// The run ends now, as if all that was asked had been done.
    pub end: AtomicBool,
}

/// The phase to run next.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A phase of the plan, by its index, for the `repeat`th time from 0.
    Planned {
        /// Index of the phase.
        index: usize,
        /// Number of the repeat.
        repeat: u32,
    },
    /// A phase that the plan does not have yet; it is added to it.
    Added(&'a Phase),
    /// A short trial that only serves to choose the next step: it is recorded, not judged.
    Search(&'a Phase),
}

/// Something that runs phases one after another and gathers a report.
pub trait Runner {
    /// What is known about the host and the targets.
    fn facts(&self) -> &Facts;

    /// The plan as it stands: the targets, and the phases run so far.
    fn plan(&self) -> &Plan;

    /// Runs one phase and adds it to the report.
    ///
    /// # Errors
    /// What kept the phase from running. I/O errors while it ran are in its measurements.
    fn phase(&mut self, step: Step<'_>, events: &mut Events<'_>) -> Result<&PhaseRecord, RunError>;

    /// From now on a target has that size.
    fn resize(&mut self, target: &str, size: Bytes);

    /// Cleans up and gives the report. `cut_short` says why the run ended before its time.
    fn finish(self: Box<Self>, cut_short: Option<String>, events: &mut Events<'_>) -> Report;
}

/// Runs a whole plan on this host.
///
/// # Errors
/// The plan is refused: it makes no sense, consent is missing, or a device is held. Whatever goes
/// wrong later ends up in the report, with [`Report::cut_short`] set.
pub fn execute(
    plan: &Plan,
    options: &Options,
    events: &mut Events<'_>,
) -> Result<Report, RunError> {
    let mut runner = Box::new(Local::open(plan, options, events)?);
    let cut_short = run_phases(plan, options, runner.as_mut(), events).err();
    Ok(runner.finish(cut_short, events))
}

/// Runs all phases as often as they repeat; a sentence if something ended the run before its time.
fn run_phases(
    plan: &Plan,
    options: &Options,
    runner: &mut dyn Runner,
    events: &mut Events<'_>,
) -> Result<(), String> {
    for round in 0..plan.repeats.max(1) {
        for (index, phase) in plan.phases.iter().enumerate() {
            let repeats = phase.repeats.max(1);
            for repeat in 0..repeats {
                let repeat = round.saturating_mul(repeats).saturating_add(repeat);
                let step = Step::Planned { index, repeat };
                let record = runner.phase(step, events).map_err(|error| error.to_string())?;
                if let Some(why) = cut_short(record).filter(|_| ends_run(phase, record)) {
                    return Err(why);
                }
                if is_last(phase, record) || options.asks.end.load(Relaxed) {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// True where a job has ended that ends the run with it.
fn is_last(phase: &Phase, record: &PhaseRecord) -> bool {
    let ended = phase.jobs.iter().zip(&record.measurements);
    ended
        .filter(|(job, _)| job.on_done == OnDone::EndRun)
        .any(|(_, measurement)| severity(measurement.ended) == SOUND)
}

/// False where what went wrong in a phase concerns only jobs that fail alone.
fn ends_run(phase: &Phase, record: &PhaseRecord) -> bool {
    let failed_only = record
        .measurements
        .iter()
        .all(|measurement| matches!(severity(measurement.ended), SOUND | FAILED));
    phase.on_failure == OnFailure::EndRun || !failed_only || interrupted().load(Relaxed)
}

/// Why a run should not go on after this phase, in a sentence: the worst that happened in it.
pub fn cut_short(record: &PhaseRecord) -> Option<String> {
    let name = &record.name;
    let worst = record.measurements.iter().max_by_key(|measurement| severity(measurement.ended));
    match worst.map(|measurement| (measurement.ended, measurement)) {
        Some((Ended::Failed, measurement)) => Some(failure(name, measurement)),
        Some((Ended::Stalled, _)) => {
            Some(format!("`{name}` made no progress for a minute and was given up"))
        }
        Some((Ended::Interrupted, _)) => Some(interruption(name)),
        _ => interrupted().load(Relaxed).then(|| interruption(name)),
    }
}

const SOUND: u32 = 0;
const FAILED: u32 = 3;

fn severity(ended: Ended) -> u32 {
    match ended {
        Ended::Failed => FAILED,
        Ended::Stalled => 2,
        Ended::Interrupted => 1,
        Ended::Done | Ended::Time | Ended::Steady => SOUND,
    }
}

fn interruption(phase: &str) -> String {
    format!("the run was interrupted during `{phase}`")
}

fn failure(phase: &str, measurement: &candor_record::Measurement) -> String {
    if let Some(error) = measurement.errors.first() {
        let op = error.op.as_deref().unwrap_or("flush");
        let (path, offset, message) = (&error.path, error.offset, &error.message);
        return format!("`{phase}` ended: {op} of `{path}` at offset {offset} failed: {message}");
    }
    let mismatch = measurement.verify.as_ref().and_then(|verify| verify.first.first());
    match mismatch {
        Some(found) => format!(
            "`{phase}` ended: the block of `{}` at offset {} is not what was written: it {}",
            found.path, found.offset, found.detail
        ),
        None => format!("`{phase}` ended because a worker failed"),
    }
}

/// The best asynchronous engine of this host: io_uring where it is there and allowed.
pub fn best_async_engine() -> Engine {
    match candor_blocks::engines::uring::is_available() {
        true => Engine::IO_URING,
        false => Engine::LIBAIO,
    }
}

/// True if files in a directory, or that file or device itself, can be opened with `O_DIRECT`.
pub fn takes_direct(path: &Path) -> bool {
    let mut made = made::Made::default();
    if !path.is_dir() {
        return opens_direct(path);
    }
    made.create_probe(path).is_ok_and(|probe| opens_direct(&probe))
}

fn opens_direct(path: &Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = std::fs::OpenOptions::new();
    options.read(true).custom_flags(libc::O_DIRECT | libc::O_NONBLOCK).open(path).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_end_is_the_one_that_is_told() {
        let all = [Ended::Done, Ended::Interrupted, Ended::Stalled, Ended::Failed];
        let mut report = PhaseRecord { name: "p".into(), ..PhaseRecord::default() };
        let mut told = Vec::new();
        for ended in all {
            let measurement = candor_record::Measurement { ended, ..Default::default() };
            report.measurements.insert(0, measurement.clone());
            report.measurements.push(measurement);
            told.push(cut_short(&report));
        }
        assert_eq!(told[0], None);
        for (sentence, word) in told[1..].iter().zip(["interrupted", "no progress", "failed"]) {
            assert!(sentence.as_ref().is_some_and(|told| told.contains(word)), "{sentence:?}");
        }
    }

    #[test]
    fn only_a_job_that_ends_well_and_is_told_to_ends_the_run() {
        let case = |on_done, ended| {
            let jobs = vec![candor_plan::Job { on_done, ..Default::default() }];
            let measurement = candor_record::Measurement { ended, ..Default::default() };
            let report = PhaseRecord { measurements: vec![measurement], ..PhaseRecord::default() };
            is_last(&Phase { jobs, ..Phase::default() }, &report)
        };
        assert!(case(OnDone::EndRun, Ended::Done) && case(OnDone::EndRun, Ended::Time));
        assert!(!case(OnDone::EndRun, Ended::Failed) && !case(OnDone::EndPhase, Ended::Done));
    }

    #[test]
    fn asking_for_direct_leaves_nothing_behind() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        takes_direct(dir.path());
        assert_eq!(std::fs::read_dir(dir.path()).expect("listed").count(), 0);
    }
}
