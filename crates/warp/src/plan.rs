//! Lowering of a benchmark to a plan: objects are uploaded, then requested.
//!
//! All keys of a run begin with the user's prefix and a part of the run's own, so that no object of
//! others is replaced or deleted. The run itself removes its objects at the end.

mod bucket;
mod objects;
#[cfg(test)]
mod tests;

use candor_plan::{Job, Nanos, Objects, Phase, Plan, Stop};
use candor_record::Note;
use jiff::civil::Time;

use super::options::{Command, Options, SyncStart};

/// Name of the phase whose results are printed.
pub const BENCHMARK: &str = "benchmark";

/// Length of the intervals that `--autoterm` compares.
const SECOND_NS: u64 = 1_000_000_000;

/// Facts of a run that its command line does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Number of the run: part of its keys, and the seed of its choices.
    pub run: u32,
    /// Time until the first upload, in ns.
    pub delay_ns: u64,
}

/// A plan, and differences between plan and request.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan.
    pub plan: Plan,
    /// Differences.
    pub notes: Vec<Note>,
}

/// Numbers of workers and objects of a run.
#[derive(Clone, Copy, Debug)]
struct Scale {
    /// Workers of each client.
    workers: u32,
    /// Workers of all clients.
    ranks: u32,
    /// Objects of each worker before the benchmark.
    each: u64,
}

impl Scale {
    fn of(options: &Options) -> Scale {
        let workers = u32::try_from(options.load.concurrent).unwrap_or(u32::MAX);
        let clients = u32::try_from(options.connection.clients.len().max(1)).unwrap_or(u32::MAX);
        let each = options.work.objects.div_ceil(workers.into());
        Scale { workers, ranks: workers.saturating_mul(clients), each }
    }

    /// Objects that each worker may put: their numbers on a host have 32 bits.
    fn most(&self) -> u64 {
        u64::from(u32::MAX / self.workers)
    }
}

impl Start {
    /// A run that begins at the time of day of the options.
    pub fn of(options: &Options, run: u32, now: Time) -> Start {
        const DAY_S: i64 = 24 * 60 * 60;
        let Some(SyncStart { hour, minute }) = options.load.sync_start else {
            return Start { run, delay_ns: 0 };
        };
        let minute_now = i64::from(now.hour()) * 60 + i64::from(now.minute());
        let now_s = minute_now * 60 + i64::from(now.second());
        let start_s = (i64::from(hour) * 60 + i64::from(minute)) * 60;
        let delay_ns = (start_s - now_s).rem_euclid(DAY_S).unsigned_abs() * SECOND_NS;
        Start {
            run,
            delay_ns: delay_ns.saturating_sub(now.subsec_nanosecond().unsigned_abs().into()),
        }
    }
}

/// Lowers the options of a benchmark.
///
/// # Errors
/// A sentence: options that do not fit together, or that candor cannot do.
///
/// # Panics
/// The command is not a benchmark.
pub fn lower(options: &Options, start: Start) -> Result<Lowered, String> {
    assert!(options.command.is_benchmark(), "only a benchmark has a plan");
    check(options)?;
    let scale = Scale::of(options);
    let mut phases: Vec<Phase> = objects::prepare(options, &scale)?
        .map(|uploads| phase("prepare", &scale, uploads, Stop::default()))
        .into_iter()
        .collect();
    let work = objects::benchmark(options, &scale)?;
    phases.push(Phase {
        ramp: Nanos(options.analysis.skip_ns),
        interval: Nanos(segment_ns(options)),
        ..phase(BENCHMARK, &scale, work, stop(options))
    });
    phases[0].delay = Nanos(start.delay_ns);
    let plan = Plan {
        name: format!("warp-{}", options.command.word()),
        seed: start.run.into(),
        hosts: scale.ranks / scale.workers,
        buckets: bucket::buckets(options, &scale, start)?,
        phases,
        ..Plan::default()
    };
    let mut notes = options.notes.clone();
    notes.extend(rounded(options, &scale));
    Ok(Lowered { plan, notes })
}

/// Length of a segment in ns. `--autoterm` compares seconds.
pub fn segment_ns(options: &Options) -> u64 {
    if options.ending.autoterm { SECOND_NS } else { options.analysis.segment_ns }
}

fn phase(name: &str, scale: &Scale, work: Objects, stop: Stop) -> Phase {
    let job =
        Job { name: name.to_owned(), workers: scale.workers, work: work.into(), ..Job::default() };
    Phase { name: name.to_owned(), stop, jobs: vec![job], ..Phase::default() }
}

/// End of the benchmark: its time, or the last object to delete.
fn stop(options: &Options) -> Stop {
    let time_ns = options.load.duration_ns.saturating_sub(options.analysis.skip_ns);
    Stop {
        time: Some(Nanos(time_ns)),
        passes: (options.command == Command::Delete).then_some(1),
        continue_on_error: true,
        ..Stop::default()
    }
}

/// Each worker has equally many objects.
fn rounded(options: &Options, scale: &Scale) -> Option<Note> {
    let objects = scale.each.saturating_mul(scale.workers.into());
    (objects != options.work.objects && !options.work.list_existing).then(|| Note {
        place: None,
        asked: format!("--objects={}", options.work.objects),
        did: format!("{objects} objects"),
        why: "each of the concurrent workers has the same number".to_owned(),
    })
}

fn check(options: &Options) -> Result<(), String> {
    let (work, analysis) = (&options.work, &options.analysis);
    let clients = options.connection.clients.len();
    let refusal = match options.command {
        Command::Delete if work.list_existing => {
            "delete --list-existing would delete objects of others; leave out --list-existing, and \
             candor deletes objects that it uploads"
        }
        Command::List if options.connection.no_prefix => {
            "list needs a prefix for each worker; leave out --noprefix"
        }
        Command::Multipart if clients > 1 => {
            "multipart uploads its object from one client; name one with --warp-client"
        }
        _ if work.range && work.range_bytes == 0 => {
            "--range draws lengths that candor does not have; add --range-size"
        }
        _ if analysis.host.is_some() || analysis.limit > 0 || analysis.offset > 0 => {
            "--analyze.host, --analyze.limit and --analyze.offset select requests of a file; leave \
             them out, and use them with `warp analyze`"
        }
        _ if analysis.skip_ns >= options.load.duration_ns => {
            "--analyze.skip is as long as the run; give a longer --duration"
        }
        _ => return Ok(()),
    };
    Err(refusal.to_owned())
}
