//! The search for the concurrency that saturates: double the depth until that gains nothing.

use std::fmt;

use candor_record::Measurement;
use candor_stats::knee;

/// A number of workers, each with a number of operations in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Concurrency {
    /// Workers.
    pub workers: u32,
    /// Operations in flight per worker.
    pub depth: u32,
}

impl fmt::Display for Concurrency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.workers {
            1 => write!(f, "depth {}", self.depth),
            workers => write!(f, "{workers} workers of depth {}", self.depth),
        }
    }
}

/// Rate and CPU use of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trial {
    /// Operations per second.
    pub ops_per_s: f64,
    /// CPU time of the busiest worker ÷ elapsed.
    pub busiest: f64,
}

impl From<&Measurement> for Trial {
    fn from(measurement: &Measurement) -> Trial {
        let busy = measurement.per_worker.iter().map(|w| w.cpu_user_ns + w.cpu_system_ns);
        let elapsed_ns = measurement.elapsed_ns.max(1) as f64;
        Trial {
            ops_per_s: measurement.ops_done() as f64 * 1e9 / elapsed_ns,
            busiest: busy.max().unwrap_or(0) as f64 / elapsed_ns,
        }
    }
}

const DEPTHS: [u32; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// A step up gains something if it is this much better.
const GAIN: f64 = 1.05;
/// A depth is as good as the best if it reaches this share of it.
const AS_GOOD: f64 = 0.95;
/// A worker this busy may be the limit itself, so more of them are tried.
const BUSY: f64 = 0.85;
/// Workers are doubled up to this many.
const WORKERS_MAX: u32 = 16;
/// Trials that a search takes at most: all depths, and every doubling of workers.
const TRIALS: usize = DEPTHS.len() + WORKERS_MAX.ilog2() as usize;

/// Finds the least concurrency that is as good as the best, on a host with `cpus` CPUs. `trial`
/// measures one, given its share of the search's time.
///
/// # Errors
/// The first one of a trial.
pub fn saturate<E>(
    cpus: u32,
    trial: &mut dyn FnMut(Concurrency, f64) -> Result<Trial, E>,
) -> Result<Concurrency, E> {
    let share = 1.0 / TRIALS as f64;
    let mut seen = Vec::new();
    let (mut best, mut flat) = (0.0, 0);
    for depth in DEPTHS {
        let at = Concurrency { workers: 1, depth };
        let result = trial(at, share)?;
        seen.push((at, result));
        flat = if result.ops_per_s > best * GAIN { 0 } else { flat + 1 };
        best = result.ops_per_s.max(best);
        if flat == 2 {
            break;
        }
    }
    let rates: Vec<f64> = seen.iter().map(|(_, result)| result.ops_per_s).collect();
    let least = knee(&rates, AS_GOOD).unwrap_or(0);
    let mut chosen = seen[least];
    while chosen.1.busiest > BUSY && chosen.0.workers * 2 <= cpus.min(WORKERS_MAX) {
        let at = Concurrency { workers: chosen.0.workers * 2, depth: chosen.0.depth };
        let result = trial(at, share)?;
        if result.ops_per_s < chosen.1.ops_per_s * GAIN {
            break;
        }
        chosen = (at, result);
    }
    Ok(chosen.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A device that serves `channels` requests at a time, each in 100 µs.
    fn device(channels: u32, busiest: f64) -> impl FnMut(Concurrency, f64) -> Result<Trial, ()> {
        move |at, _| {
            let served = (at.workers * at.depth).min(channels);
            Ok(Trial { ops_per_s: f64::from(served) * 10_000.0, busiest })
        }
    }

    #[test]
    fn finds_the_knee() {
        let found = saturate(4, &mut device(16, 0.2));
        assert_eq!(found, Ok(Concurrency { workers: 1, depth: 16 }));
        let found = saturate(4, &mut device(1, 0.2));
        assert_eq!(found, Ok(Concurrency { workers: 1, depth: 2 }));
    }

    #[test]
    fn adds_workers_where_one_is_the_limit() {
        let mut bound_by_cpu = |at: Concurrency, _: f64| -> Result<Trial, ()> {
            Ok(Trial { ops_per_s: f64::from(at.workers) * 500_000.0, busiest: 1.0 })
        };
        let found = saturate(4, &mut bound_by_cpu);
        assert_eq!(found, Ok(Concurrency { workers: 4, depth: 2 }));
    }

    #[test]
    fn the_longest_search_takes_all_its_time_and_no_more() {
        let (mut trials, mut time) = (0, 0.0);
        let mut endless = |at: Concurrency, share: f64| -> Result<Trial, ()> {
            trials += 1;
            time += share;
            Ok(Trial { ops_per_s: f64::from(at.workers * at.depth), busiest: 1.0 })
        };
        let found = saturate(64, &mut endless);
        assert_eq!(found, Ok(Concurrency { workers: 16, depth: 256 }));
        assert!(trials == TRIALS && (0.999..1.001).contains(&time), "{trials}, {time}");
    }
}
