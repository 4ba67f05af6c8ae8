//! Pacing: when the next operation may start.
//!
//! The schedule is fixed by the plan and a seed, never by when operations end: a late operation
//! does not move the intended start of those behind it. All times are ns since the start, so
//! tests run it without a clock.

use candor_plan::blocks::{Arrival, Pace, Think};

use crate::random::Random;

/// One worker's schedule.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// ns per operation, 0 for no limit.
    gap_op_ns: f64,
    /// ns per byte, 0 for no limit.
    gap_byte_ns: f64,
    poisson: Option<Random>,
    think: Option<Think>,
    since_think: u32,
    /// Intended start of the next operation under the rate.
    next_ns: f64,
    /// No operation starts before, because of think time.
    rest_until_ns: u64,
}

impl Pacer {
    /// The schedule of worker `rank` of `ranks`, who share the job's rate; none if the plan sets
    /// no pace.
    pub fn new(pace: &Pace, rank: u32, ranks: u32, mut random: Random) -> Option<Pacer> {
        if pace.ops.is_none() && pace.bytes.is_none() && pace.think.is_none() {
            return None;
        }
        let per_worker = |rate: u64| f64::from(ranks) * 1e9 / rate.max(1) as f64;
        let gap_op_ns = pace.ops.map_or(0.0, |rate| per_worker(rate.0));
        let gap_byte_ns = pace.bytes.map_or(0.0, |rate| per_worker(rate.0));
        // Workers start apart, so that their sum is even as well.
        let first_share = match pace.arrival {
            Arrival::Fixed => f64::from(rank) / f64::from(ranks.max(1)),
            Arrival::Poisson => random.unit(),
        };
        Some(Pacer {
            gap_op_ns,
            gap_byte_ns,
            poisson: (pace.arrival == Arrival::Poisson).then_some(random),
            think: pace.think,
            since_think: 0,
            next_ns: gap_op_ns * first_share,
            rest_until_ns: 0,
        })
    }

    /// True where a rate was asked for, so that latency counts from the intended start.
    pub fn has_rate(&self) -> bool {
        self.gap_op_ns > 0.0 || self.gap_byte_ns > 0.0
    }

    /// Earliest start of the next operation, in ns since the start of the phase.
    pub fn next_ns(&self) -> u64 {
        (self.next_ns as u64).max(self.rest_until_ns)
    }

    /// Intended start of the next operation under the rate alone.
    pub fn intended_ns(&self) -> u64 {
        self.next_ns as u64
    }

    /// True where waiting is to burn the CPU.
    pub fn spins(&self) -> bool {
        self.think.is_some_and(|think| think.spin)
    }

    /// The operation that was due was issued, at `now_ns`, with that many bytes.
    pub fn issued(&mut self, now_ns: u64, bytes: u32) {
        let mean = self.gap_op_ns.max(self.gap_byte_ns * f64::from(bytes));
        self.next_ns += match &mut self.poisson {
            Some(random) => -mean * (1.0 - random.unit()).ln(),
            None => mean,
        };
        if let Some(think) = self.think {
            self.since_think += 1;
            if self.since_think >= think.every {
                self.since_think = 0;
                self.rest_until_ns = now_ns + think.time.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::{BytesPerSec, Nanos, OpsPerSec};

    use super::*;

    /// Runs a pacer for `seconds` of simulated time against a device that takes `service_ns`;
    /// returns the intended starts.
    fn simulate(pace: &Pace, seconds: u64, service_ns: u64, bytes: u32) -> Vec<u64> {
        let mut pacer = Pacer::new(pace, 0, 1, Random::new(5, 0)).unwrap();
        let (mut now, mut intended) = (0, Vec::new());
        while pacer.next_ns() < seconds * 1_000_000_000 {
            now = now.max(pacer.next_ns());
            intended.push(pacer.intended_ns());
            pacer.issued(now, bytes);
            now += service_ns;
        }
        intended
    }

    #[test]
    fn a_fixed_rate_is_kept_and_even() {
        let pace = Pace { ops: Some(OpsPerSec(1000)), ..Pace::default() };
        let starts = simulate(&pace, 10, 100_000, 4096);
        assert_eq!(starts.len(), 10_000);
        assert!(starts.windows(2).all(|w| w[1] - w[0] == 1_000_000));
    }

    #[test]
    fn a_slow_device_does_not_move_the_schedule() {
        let pace = Pace { ops: Some(OpsPerSec(1000)), ..Pace::default() };
        let slow = simulate(&pace, 1, 5_000_000, 4096);
        assert_eq!(slow, simulate(&pace, 1, 10, 4096));
    }

    #[test]
    fn poisson_gaps_have_their_mean_and_deviation() {
        let pace =
            Pace { ops: Some(OpsPerSec(1000)), arrival: Arrival::Poisson, ..Pace::default() };
        let starts = simulate(&pace, 100, 0, 4096);
        assert!((starts.len() as f64 / 100_000.0 - 1.0).abs() < 0.02, "{}", starts.len());
        let gaps: Vec<f64> = starts.windows(2).map(|w| (w[1] - w[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((variance.sqrt() / mean - 1.0).abs() < 0.03);
    }

    #[test]
    fn bytes_per_second_follow_the_sizes() {
        let pace = Pace { bytes: Some(BytesPerSec(1 << 20)), ..Pace::default() };
        assert_eq!(simulate(&pace, 10, 0, 65536).len(), 160);
    }

    #[test]
    fn think_time_comes_after_every_n() {
        let think = Think { time: Nanos(1_000_000), every: 4, spin: false };
        let pace = Pace { think: Some(think), ..Pace::default() };
        // Four operations of 1 µs, then 1 ms of rest, counted from the start of the fourth.
        let count = simulate(&pace, 1, 1000, 4096).len();
        assert!((3980..=3996).contains(&count), "{count}");
    }

    #[test]
    fn workers_share_the_rate_and_start_apart() {
        let pace = Pace { ops: Some(OpsPerSec(1000)), ..Pace::default() };
        let first: Vec<u64> = (0..4)
            .map(|rank| Pacer::new(&pace, rank, 4, Random::new(1, 0)).unwrap().next_ns())
            .collect();
        assert_eq!(first, [0, 1_000_000, 2_000_000, 3_000_000]);
    }
}
