//! Stops of the whole process: time in which no thread of it could run.
//!
//! SIGSTOP, Ctrl-Z, a frozen control group, a debugger and a suspended machine look the same to the
//! process: a thread that waited for a moment wakes much later, and neither ran nor waited for a
//! CPU meanwhile. A thread that is starved of CPU time wakes late too, but the kernel counts that
//! time as its wait for a CPU.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use candor_record::StoppedBy;

use crate::clock::{Clock, Ticks};
use crate::host::placement::Usage;

/// SIGCONT signals that the process has received.
static CONTINUED: AtomicU64 = AtomicU64::new(0);

/// Shortest stop that is separated from other delays.
const STOP_NS_MIN: u64 = 50_000_000;
/// Shortest stop that neither a signal nor the clocks show: a virtual CPU that its host did not
/// schedule for a moment looks like a stop, too.
const SILENT_STOP_NS_MIN: u64 = 200_000_000;

/// Counts a SIGCONT: called in a signal handler.
pub fn continued() {
    CONTINUED.fetch_add(1, Relaxed);
}

/// A stop that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// Length, in ns.
    pub ns: u64,
    /// Cause, if known.
    pub by: StoppedBy,
}

/// State of the calling thread at one time.
#[derive(Clone, Copy, Debug, Default)]
struct Look {
    at: Ticks,
    continued: u64,
    /// Time in which the machine was suspended.
    suspended_ns: u64,
    cpu_ns: u64,
    /// Time in which the thread waited for a CPU.
    run_wait_ns: Option<u64>,
    major_faults: u64,
    /// Operations that the workers have completed.
    progress: u64,
}

impl Look {
    fn now(at: Ticks, progress: u64) -> Look {
        let usage = Usage::of_this_thread();
        Look {
            at,
            continued: CONTINUED.load(Relaxed),
            suspended_ns: suspended_ns(),
            cpu_ns: usage.user_ns + usage.system_ns,
            run_wait_ns: usage.run_wait_ns,
            major_faults: usage.major,
            progress,
        }
    }
}

/// Total time for which the machine was suspended since boot.
fn suspended_ns() -> u64 {
    let running = clock_ns(rustix::time::ClockId::Monotonic);
    clock_ns(rustix::time::ClockId::Boottime).saturating_sub(running)
}

fn clock_ns(id: rustix::time::ClockId) -> u64 {
    let time = rustix::time::clock_gettime(id);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// A wait of the watching thread: actual and maximum expected duration.
#[derive(Clone, Copy, Debug)]
struct Waited {
    ns: u64,
    most_ns: u64,
    /// Operations that workers complete in a second.
    ops_per_s: f64,
}

/// Watch over the stops of a phase, by a thread that waits for short times.
pub struct StopWatch {
    before: Look,
    started: Look,
    /// End of the last wait.
    waited: Ticks,
}

impl StopWatch {
    /// Begins to watch.
    pub fn new(clock: &Clock) -> StopWatch {
        let now = Look::now(clock.now(), 0);
        StopWatch { before: now, started: now, waited: now.at }
    }

    /// The stop during a wait from `begun` that should have taken at most `most_ns`. `progress` is
    /// the number of operations that the workers have completed.
    pub fn stop(
        &mut self,
        clock: &Clock,
        begun: Ticks,
        most_ns: u64,
        progress: impl Fn() -> u64,
    ) -> Option<Stop> {
        let now = clock.now();
        let last = std::mem::replace(&mut self.waited, now);
        // SIGCONT shows a stop that was before the wait.
        let was_continued = CONTINUED.load(Relaxed) != self.before.continued;
        let begun = if was_continued { last } else { begun };
        let waited_ns = clock.ns(now.saturating_sub(begun));
        let is_late = waited_ns > most_ns + STOP_NS_MIN;
        // CPU time before the wait counts as used in the wait, so the stop is never overestimated.
        let is_old = clock.ns(now.saturating_sub(self.before.at)) > 1_000_000_000;
        if !is_late && !is_old {
            return None;
        }
        let after = Look::now(now, progress());
        let before = std::mem::replace(&mut self.before, after);
        let elapsed_s = clock.ns(begun.saturating_sub(self.started.at)) as f64 / 1e9;
        let ops_per_s = if elapsed_s > 0.0 { before.progress as f64 / elapsed_s } else { 0.0 };
        is_late.then(|| between(&before, &after, Waited { ns: waited_ns, most_ns, ops_per_s }))?
    }
}

/// The stop between two looks, if there was one.
fn between(before: &Look, after: &Look, waited: Waited) -> Option<Stop> {
    let was_continued = after.continued != before.continued;
    let suspended_ns = after.suspended_ns.saturating_sub(before.suspended_ns);
    let used_ns = after.cpu_ns.saturating_sub(before.cpu_ns);
    let run_wait_ns = match after.run_wait_ns.zip(before.run_wait_ns) {
        Some((after, before)) => after.saturating_sub(before),
        // Without the wait time, a stop looks like a wait for a CPU.
        None if !was_continued && suspended_ns < STOP_NS_MIN => return None,
        None => 0,
    };
    let ns = waited.ns.saturating_sub(waited.most_ns + used_ns + run_wait_ns);
    if ns < STOP_NS_MIN {
        return None;
    }
    if suspended_ns >= ns / 2 {
        return Some(Stop { ns, by: StoppedBy::Suspend });
    }
    if was_continued {
        return Some(Stop { ns, by: StoppedBy::Signal });
    }
    // The thread may have waited for a page; workers that continue were not stopped.
    let is_paging = after.major_faults != before.major_faults;
    let expected = waited.ops_per_s * ns as f64 / 1e9;
    let done = after.progress.saturating_sub(before.progress) as f64;
    let continues = expected >= 20.0 && done > expected / 2.0;
    let is_long = ns >= SILENT_STOP_NS_MIN;
    (is_long && !is_paging && !continues).then_some(Stop { ns, by: StoppedBy::Other })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn look() -> Look {
        Look { run_wait_ns: Some(0), ..Look::default() }
    }

    fn waited(ns: u64) -> Waited {
        Waited { ns, most_ns: 20 * MS, ops_per_s: 1000.0 }
    }

    fn stop(after: Look) -> Option<Stop> {
        between(&look(), &after, waited(1020 * MS))
    }

    #[test]
    fn a_stop_is_reported_with_its_cause() {
        let ns = 1000 * MS;
        assert_eq!(stop(look()), Some(Stop { ns, by: StoppedBy::Other }), "a freezer");
        let continued = Look { continued: 1, ..look() };
        assert_eq!(stop(continued), Some(Stop { ns, by: StoppedBy::Signal }));
        let blind = Look { run_wait_ns: None, ..continued };
        assert_eq!(stop(blind), Some(Stop { ns, by: StoppedBy::Signal }));
        let suspended = Look { suspended_ns: ns, ..look() };
        assert_eq!(stop(suspended), Some(Stop { ns, by: StoppedBy::Suspend }));
        let partly = Look { run_wait_ns: Some(400 * MS), ..look() };
        assert_eq!(stop(partly).map(|stop| stop.ns), Some(600 * MS));
    }

    #[test]
    fn a_busy_host_is_not_called_stopped() {
        assert_eq!(stop(Look { run_wait_ns: Some(980 * MS), ..look() }), None);
        assert_eq!(stop(Look { cpu_ns: 500 * MS, run_wait_ns: Some(470 * MS), ..look() }), None);
        assert_eq!(stop(Look { run_wait_ns: None, ..look() }), None, "nothing tells");
        assert_eq!(stop(Look { major_faults: 1, ..look() }), None, "it waited for a page");
        assert_eq!(stop(Look { progress: 900, ..look() }), None, "workers went on");
        assert_eq!(between(&look(), &look(), waited(200 * MS)), None, "its host left it out");
        assert_eq!(between(&look(), &look(), waited(60 * MS)), None, "a short delay");
    }

    /// A thread of the lowest class waits next to threads that burn the same CPU.
    #[test]
    fn a_thread_that_is_starved_sees_no_stop() {
        use std::sync::atomic::AtomicBool;
        use std::time::Duration;
        // SAFETY: plain system calls on the calling thread, with values that live long enough.
        let pin = || unsafe {
            let mut cpus: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(0, &mut cpus);
            libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const cpus) == 0
        };
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    pin();
                    while !ended.load(Relaxed) {
                        std::hint::spin_loop();
                    }
                });
            }
            let watching = scope.spawn(|| {
                let is_pinned = pin();
                crate::host::idle::run_only_when_idle().expect("a class for everybody");
                let clock = Clock::calibrated();
                let mut watch = StopWatch::new(&clock);
                let stops = (0..20).filter_map(|_| {
                    let begun = clock.now();
                    std::thread::sleep(Duration::from_millis(5));
                    watch.stop(&clock, begun, 5 * MS, || 0)
                });
                let stops: Vec<Stop> = stops.collect();
                ended.store(true, Relaxed);
                (is_pinned, stops)
            });
            let (is_pinned, stops) = watching.join().expect("it ends");
            if is_pinned { assert_eq!(stops, []) } else { eprintln!("skipped: CPU 0 is not ours") }
        });
    }
}
