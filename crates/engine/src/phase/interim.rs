//! Interim results of a phase: each worker reports its results; for late workers only the counters
//! are read.

use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use candor_record::{Ended, Measurement, WorkerStats};

use crate::clock::Clock;
use crate::counters::{Live, Totals};
use crate::phase::job_monitor::JobMonitor;
use crate::phase::logged::PhaseRelease;
use crate::worker_end::WorkerEnd;

/// Maximum time for a report. For workers in a long call only the counters are read.
const REPORT_TIMEOUT: Duration = Duration::from_millis(50);
/// Interval between two checks for reports.
const CHECK_INTERVAL: Duration = Duration::from_micros(100);

/// Measurements of all jobs so far.
pub fn measurements(monitors: &[JobMonitor], release: PhaseRelease) -> Vec<Measurement> {
    let clock = release.clock;
    let requested: Vec<bool> =
        monitors.iter().map(|monitor| monitor.left > 0 && clock.now() >= monitor.zero()).collect();
    for (monitor, _) in monitors.iter().zip(&requested).filter(|(_, requested)| **requested) {
        // A late report for an earlier request must not count for this request.
        monitor.job.live.iter().for_each(|live| drop(live.take_interim()));
        monitor.job.shared.command.request_interim();
    }
    let until = Instant::now() + REPORT_TIMEOUT;
    let measured = monitors.iter().zip(requested).map(|(monitor, requested)| {
        let mut ends = monitor.ends.clone();
        if requested {
            let mut reports = reports(monitor, clock, until);
            reports.iter_mut().for_each(|end| monitor.leave_out_stops(end));
            ends.extend(reports);
        }
        monitor.measured(ends, false, release)
    });
    measured.collect()
}

/// Reports of a job's workers that have not ended.
fn reports(monitor: &JobMonitor, clock: Clock, until: Instant) -> Vec<WorkerEnd> {
    let ended: Vec<u32> = monitor.ends.iter().map(|end| end.stats.rank).collect();
    let still = monitor.job.live.iter().zip(0..).filter(|(_, rank)| !ended.contains(rank));
    still.map(|(live, rank)| answer(live, rank, monitor, clock, until)).collect()
}

fn answer(live: &Live, rank: u32, monitor: &JobMonitor, clock: Clock, until: Instant) -> WorkerEnd {
    loop {
        if let Some(interim) = live.take_interim() {
            return interim;
        }
        if Instant::now() >= until {
            return counted(live, rank, monitor, clock);
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

/// Results of a worker that does not report, from its counters.
fn counted(live: &Live, rank: u32, monitor: &JobMonitor, clock: Clock) -> WorkerEnd {
    let from = monitor.job.shared.count_from.load(Relaxed);
    let elapsed_ns = clock.ns(clock.now().saturating_sub(from));
    let done = Totals::of([live].into_iter(), true).progress(elapsed_ns);
    let stats =
        WorkerStats { rank, ops: done.ops, bytes: done.bytes, elapsed_ns, ..Default::default() };
    WorkerEnd { stats, ended: Ended::Interrupted, ..WorkerEnd::default() }
}
