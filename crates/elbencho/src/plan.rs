//! Lowering of a benchmark to a plan.

mod blocks;
mod buckets;
mod content;
mod objects;
mod phases;
mod place;
mod tree;

use candor_plan::{Nanos, OnDone, OperationsLog, Phase, Plan, Stop, Work, path_of};
use candor_record::Note;

pub(crate) use objects::operations;

use super::options::{Reading, TABLE};
use super::setup::{self, BenchPhase, PathKind, PhaseKind, Setup};
use candor_front::{Diagnostic, Diagnostics, Host};

/// A plan, and data for the output that its report does not have.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// The phases of the plan.
    pub phases: Vec<BenchPhase>,
    /// The options, and facts about the paths.
    pub setup: Setup,
    /// Differences between plan and request.
    pub notes: Vec<Note>,
}

/// Lowers a command line to a plan.
///
/// # Errors
/// All errors.
pub fn lower(reading: &Reading, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut out = Diagnostics::default();
    let setup = setup::settle(reading, host, &mut out);
    let (placement, threads) = place::placement(reading, &setup, host, &mut out);
    let start_delay = place::start_delay(reading, host, &mut out);
    let notes = TABLE.notes(&setup.asked, &reading.given, &reading.texts);
    notes.into_iter().for_each(|note| out.add_note(note));
    let context = Context { reading, setup: &setup, placement, threads };
    let wanted = match setup.store {
        Some(_) => objects::phases(&setup),
        None => phases::of_files(&setup),
    };
    let benched = phases::order(&setup, wanted);
    let targets = match setup.path_kind {
        PathKind::Directory if setup.store.is_some() => Vec::new(),
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
    let plan = Plan {
        name,
        repeats,
        hosts,
        hosts_apart,
        targets,
        buckets: buckets::buckets(&setup),
        phases: planned,
        ..Plan::default()
    };
    Ok(Lowered { plan, phases: benched, notes: out.notes, setup })
}

/// Rotates hosts: in phase n, rank r works on the data of the rank n times `rotate` hosts later.
fn rotate(setup: &Setup, phases: &mut [Phase]) {
    let by = i64::from(setup.asked.hosts.rotate) * i64::from(setup.asked.run.threads);
    for (nth, phase) in phases.iter_mut().enumerate() {
        phase.jobs.iter_mut().for_each(|job| job.rank_shift = by * nth as i64);
    }
}

/// Entries and bytes of each phase, for a dry run.
pub fn totals(lowered: &Lowered) -> String {
    let Lowered { setup, phases, .. } = lowered;
    let (unit, units) = match setup.asked.hosts.list.len() {
        0 => ("thread", setup.asked.threads_of_all()),
        hosts => ("service", hosts as u64),
    };
    let mut text = String::new();
    // The order of elbencho's output.
    let order = [
        PhaseKind::MakeDirs,
        PhaseKind::RemoveDirs,
        PhaseKind::Write,
        PhaseKind::Read,
        PhaseKind::RemoveFiles,
        PhaseKind::Stat,
    ];
    let of = |kind| phases.iter().find(move |phase| phase.kind == kind);
    for phase in order.into_iter().filter_map(of) {
        let (entries, bytes) = each(setup, phase.kind);
        // With several hosts, the numbers are per host: all its workers.
        let workers = if unit == "thread" { 1 } else { u64::from(setup.asked.run.threads) };
        let (entries, bytes) = (entries.saturating_mul(workers), bytes.saturating_mul(workers));
        text += &format!("Phase: {}\n", phase.name);
        let line = |name: &str, count: u64, [large, larger]: [(&str, u64); 2]| {
            let of = |(unit, size): (&str, u64)| format!("{} {unit}", count / size);
            format!("* {name:<19} {count} | {} | {}\n", of(large), of(larger))
        };
        let thousands = [("K", 1000), ("M", 1_000_000)];
        text += &line(&format!("Entries per {unit}:"), entries, thousands);
        let total = if setup.store.is_some() && phase.kind.is_of_dirs() {
            setup.dirs()
        } else {
            entries.saturating_mul(units)
        };
        text += &line("Entries total:", total, thousands);
        if matches!(phase.kind, PhaseKind::Write | PhaseKind::Read) {
            let binary = [("MiB", 1 << 20), ("GiB", 1 << 30)];
            text += &line(&format!("Bytes per {unit}:"), bytes, binary);
            text += &line("Bytes total:", bytes.saturating_mul(units), binary);
        }
    }
    text
}

/// Entries and bytes of each worker in a phase.
fn each(setup: &Setup, kind: PhaseKind) -> (u64, u64) {
    let (threads, tree) = (setup.asked.threads_of_data_set().max(1), &setup.asked.tree);
    let of_dirs = matches!(kind, PhaseKind::MakeDirs | PhaseKind::RemoveDirs);
    if setup.path_kind != PathKind::Directory {
        let random = setup.asked.access.random;
        let bytes = if random { setup.random_bytes } else { setup.bytes_in_all() };
        return (setup.asked.paths.len() as u64, bytes / threads);
    }
    match &setup.listed {
        _ if of_dirs && setup.store.is_some() => (setup.dirs() / threads, 0),
        Some(listed) if of_dirs => (listed.dirs / threads, 0),
        Some(listed) => (listed.files / threads, listed.bytes / threads),
        None if of_dirs => (tree.dirs, 0),
        None if kind == PhaseKind::Read && setup.random_bytes > 0 => {
            let bytes = setup.random_bytes / threads;
            (bytes / setup.block_bytes.max(1), bytes)
        }
        None => {
            let files = tree.dirs.max(1).saturating_mul(tree.files);
            (files, files.saturating_mul(setup.file_bytes))
        }
    }
}

fn pause(setup: &Setup) -> Nanos {
    Nanos::from_secs(setup.asked.run.phase_delay_s)
}

/// Settings that all phases of a benchmark share.
struct Context<'a> {
    reading: &'a Reading,
    setup: &'a Setup,
    placement: candor_plan::Placement,
    threads: candor_plan::Threads,
}

impl Context<'_> {
    fn phase(&self, bench: &BenchPhase) -> Phase {
        let jobs = match (bench.kind, self.setup.path_kind) {
            (PhaseKind::Sync | PhaseKind::DropCaches, _) => phases::chore(self, bench.kind),
            (kind, _) if self.setup.store.is_some() => objects::jobs(self, kind),
            (_, PathKind::Directory) => tree::jobs(self, bench.kind),
            (_, _) => blocks::jobs(self, bench.kind),
        };
        let on_done = match self.setup.asked.run.time_limit_s {
            0 => OnDone::GoOn,
            _ => OnDone::EndRunByTime,
        };
        let mut phase = Phase { name: bench.name.clone(), jobs, ..Phase::default() };
        let asked = &self.setup.asked.output;
        let log = asked.operations_log.as_ref().map(|file| OperationsLog {
            file: path_of(file),
            lock: asked.operations_log_locked,
            calls: true,
        });
        for job in &mut phase.jobs {
            job.on_done = on_done;
            // Programs have no operations.
            job.operations_log = log.clone().filter(|_| !matches!(job.work, Work::Program(_)));
        }
        if asked.live_csv_file.is_some() || asked.live_lines || self.reading.given.has("liveint") {
            phase.interval = Nanos(self.setup.asked.output.live_interval_ms * 1_000_000);
        }
        phase
    }

    /// End of a job: one pass or endless passes, within the time limit.
    fn stop(&self) -> Stop {
        let run = &self.setup.asked.run;
        let time = (run.time_limit_s > 0).then(|| Nanos::from_secs(run.time_limit_s));
        let passes = if run.infinite_loop { u32::MAX } else { 1 };
        let continue_on_error = self.setup.asked.s3.requests.ignore_errors;
        Stop { time, passes: Some(passes), continue_on_error, ..Stop::default() }
    }
}

#[cfg(test)]
mod tests;
