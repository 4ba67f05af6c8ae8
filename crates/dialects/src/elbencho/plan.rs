//! From a benchmark to a plan.

mod blocks;
mod content;
mod phases;
mod place;
mod tree;

pub use tree::operations_per_file;

use candor_plan::{Nanos, OnDone, OperationsLog, Phase, Plan, Stop, Work};
use candor_record::Note;

use super::options::{Draft, Reading, TABLE};
use super::setup::{self, BenchPhase, Host, PathKind, PhaseKind, Setup};
use crate::kit::{Diagnostic, Diagnostics};

/// A plan, and all that its report cannot tell.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The phases of the plan.
    pub phases: Vec<BenchPhase>,
    /// The options, and facts about the paths.
    pub setup: Setup,
    /// Places where the plan is not exactly what was asked.
    pub notes: Vec<Note>,
}

/// Makes a plan of a command line.
///
/// # Errors
/// Everything that is wrong.
pub fn lower(reading: &Reading, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    let setup = setup::settle(reading, host, &mut out);
    let placement = place::placement(reading, &setup, host, &mut out);
    let start_delay = place::start_delay(reading, host, &mut out);
    let draft = Draft::of(setup.asked.clone());
    let notes = TABLE.notes(&draft, &reading.given, &reading.texts);
    notes.into_iter().for_each(|note| out.add_note(note));
    let context = Context { reading, setup: &setup, placement };
    let benched = phases::order(&setup);
    let targets = match setup.path_kind {
        PathKind::Directory => tree::targets(&setup),
        _ => blocks::targets(&setup),
    };
    let mut planned: Vec<Phase> = Vec::new();
    for (nth, bench) in benched.iter().enumerate() {
        let delay = if nth == 0 { start_delay } else { pause(&setup) };
        planned.push(Phase { delay, ..context.phase(bench) });
    }
    if !out.errors.is_empty() {
        return Err(out.errors);
    }
    let run = &setup.asked.run;
    let name = if run.label.is_empty() { "elbencho".to_owned() } else { run.label.clone() };
    let hosts = setup.asked.hosts.hosts();
    rotate(&setup, &mut planned);
    let repeats = run.iterations;
    let hosts_apart = hosts > 1 && setup.asked.hosts.own_data;
    let plan =
        Plan { name, repeats, hosts, hosts_apart, targets, phases: planned, ..Plan::default() };
    Ok(Lowered { plan, phases: benched, notes: out.notes, setup })
}

/// Gives each phase to other hosts than the one before it: in the n-th, rank r works on the data of
/// the rank that is so many hosts further on, n times.
fn rotate(setup: &Setup, phases: &mut [Phase]) {
    let by = i64::from(setup.asked.hosts.rotate) * i64::from(setup.asked.run.threads);
    for (nth, phase) in phases.iter_mut().enumerate() {
        phase.jobs.iter_mut().for_each(|job| job.rank_shift = by * nth as i64);
    }
}

/// The totals that a benchmark would reach, for a dry run.
pub fn totals(setup: &Setup) -> String {
    let (threads, tree) = (setup.asked.threads_of_all(), &setup.asked.tree);
    let data_sets = setup.asked.hosts.data_sets();
    let mut text = String::new();
    let mut line = |what: &str, each: u64, all: u64| {
        text.push_str(&format!("{what} per thread: {each}; all threads: {all}\n"));
    };
    if let Some(listed) = &setup.listed {
        for (what, all) in
            [("Directories", listed.dirs), ("Files", listed.files), ("Bytes", listed.bytes)]
        {
            line(what, all * data_sets / threads, all * data_sets);
        }
        return text;
    }
    if setup.path_kind == PathKind::Directory {
        let files = tree.dirs.max(1).saturating_mul(tree.files);
        let all_dirs = if tree.dir_sharing { data_sets } else { threads };
        line("Directories", tree.dirs, tree.dirs.saturating_mul(all_dirs));
        line("Files", files, files.saturating_mul(threads));
        let bytes = files.saturating_mul(setup.file_bytes);
        line("Bytes", bytes, bytes.saturating_mul(threads));
        return text;
    }
    let whole = setup.bytes_in_all();
    let bytes = if setup.asked.access.random { setup.random_bytes } else { whole };
    let blocks = bytes.div_ceil(setup.block_bytes.max(1)) * data_sets;
    let bytes = bytes * data_sets;
    line("Blocks", blocks / threads, blocks);
    line("Bytes", bytes / threads, bytes);
    text
}

fn pause(setup: &Setup) -> Nanos {
    Nanos::from_secs(setup.asked.run.phase_delay_s)
}

/// Settings that all phases of a benchmark share.
struct Context<'a> {
    reading: &'a Reading,
    setup: &'a Setup,
    placement: candor_plan::Placement,
}

impl Context<'_> {
    fn phase(&self, bench: &BenchPhase) -> Phase {
        let jobs = match (bench.kind, self.setup.path_kind) {
            (PhaseKind::Sync | PhaseKind::DropCaches, _) => phases::chore(self, bench.kind),
            (_, PathKind::Directory) => tree::jobs(self, bench.kind),
            (_, _) => blocks::jobs(self, bench.kind),
        };
        let on_done = match self.setup.asked.run.time_limit_s {
            0 => OnDone::GoOn,
            _ => OnDone::EndRunByTime,
        };
        let mut phase = Phase { name: bench.name.clone(), jobs, ..Phase::default() };
        let asked = &self.setup.asked.output;
        let log = asked
            .operations_log
            .as_ref()
            .map(|file| OperationsLog { file: file.into(), lock: asked.operations_log_locked });
        for job in &mut phase.jobs {
            job.on_done = on_done;
            // Programs have no operations.
            job.operations_log = log.clone().filter(|_| !matches!(job.work, Work::Program(_)));
        }
        let to_files =
            [&asked.live_csv_file, &asked.live_json_file].into_iter().any(Option::is_some);
        if to_files || asked.live_lines || self.reading.given.has("liveint") {
            phase.interval = Nanos(self.setup.asked.output.live_interval_ms * 1_000_000);
        }
        phase
    }

    /// The end of a job: once through its work, or over and over; never longer than the limit.
    fn stop(&self) -> Stop {
        let run = &self.setup.asked.run;
        let time = (run.time_limit_s > 0).then(|| Nanos::from_secs(run.time_limit_s));
        let passes = if run.infinite_loop { u32::MAX } else { 1 };
        Stop { time, passes: Some(passes), ..Stop::default() }
    }
}

#[cfg(test)]
mod tests;
