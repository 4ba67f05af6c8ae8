//! Pacing: when the next operation may start.
//!
//! The schedule is fixed by the plan and a seed, never by when operations end: a late operation
//! does not move the intended start of those behind it. All times are ns since the start, so
//! tests run it without a clock.

use candor_plan::blocks::{Arrival, Pace, Think};
use candor_plan::units::{Mix, Op};

use crate::random::Random;

/// One worker's schedule.
#[derive(Clone, Debug)]
pub struct Pacer {
    /// One for all operations, or one per direction that has a rate.
    lanes: Vec<Lane>,
    /// The lane that is due next.
    due: usize,
    poisson: Option<Random>,
    think: Option<Think>,
    since_think: u32,
    /// No operation starts before, because of think time.
    rest_until_ns: u64,
}

/// A schedule of operations alike.
#[derive(Clone, Debug)]
struct Lane {
    /// The direction; absent where it is for all of them.
    op: Option<Op>,
    /// ns per operation, 0 for no limit.
    gap_op_ns: f64,
    /// ns per byte, 0 for no limit.
    gap_byte_ns: f64,
    /// Intended start of the next operation under the rate.
    next_ns: f64,
}

impl Pacer {
    /// The schedule of worker `rank` of `ranks`, who share the job's rate; none if the plan sets
    /// no pace.
    pub fn new(pace: &Pace, mix: Mix, rank: u32, ranks: u32, mut random: Random) -> Option<Pacer> {
        let rated = pace.ops.is_some() || pace.bytes.is_some() || pace.per_direction.is_some();
        if !rated && pace.think.is_none() {
            return None;
        }
        // Workers start apart, so that their sum is even as well.
        let first_share = match pace.arrival {
            Arrival::Fixed => f64::from(rank) / f64::from(ranks.max(1)),
            Arrival::Poisson => random.unit(),
        };
        let gap = |rate: u64| f64::from(ranks) * 1e9 / rate.max(1) as f64;
        let lane = |op, gap_op_ns: f64, gap_byte_ns| {
            let next_ns = gap_op_ns * first_share;
            Lane { op, gap_op_ns, gap_byte_ns, next_ns }
        };
        let lanes = match &pace.per_direction {
            None => {
                let (ops, bytes) = (pace.ops.map(|r| gap(r.0)), pace.bytes.map(|r| gap(r.0)));
                vec![lane(None, ops.unwrap_or(0.0), bytes.unwrap_or(0.0))]
            }
            Some(rates) => rates
                .iter()
                .filter(|(op, _)| mix.of(*op) > 0)
                .map(|(op, rate)| lane(Some(op), gap(rate.0), 0.0))
                .collect(),
        };
        let poisson = (pace.arrival == Arrival::Poisson).then_some(random);
        let think = pace.think;
        let mut pacer = Pacer { lanes, due: 0, poisson, think, since_think: 0, rest_until_ns: 0 };
        pacer.find_due();
        Some(pacer)
    }

    fn find_due(&mut self) {
        let lanes = self.lanes.iter().enumerate();
        let first = lanes.min_by(|(_, a), (_, b)| a.next_ns.total_cmp(&b.next_ns));
        self.due = first.map_or(0, |(index, _)| index);
    }

    /// Earliest start of the next operation, in ns since the start of the phase.
    pub fn next_ns(&self) -> u64 {
        self.intended_ns().max(self.rest_until_ns)
    }

    /// Intended start of the next operation under the rate alone.
    pub fn intended_ns(&self) -> u64 {
        self.lanes[self.due].next_ns as u64
    }

    /// The direction of the next operation, where the schedule decides it.
    pub fn direction(&self) -> Option<Op> {
        self.lanes[self.due].op
    }

    /// True where waiting is to burn the CPU.
    pub fn spins(&self) -> bool {
        self.think.is_some_and(|think| think.spin)
    }

    /// True once a rest is due: it begins when everything in flight has completed.
    pub fn wants_rest(&self) -> bool {
        self.think.is_some_and(|think| self.since_think >= think.every)
    }

    /// The rest begins.
    pub fn begin_rest(&mut self, now_ns: u64) {
        self.since_think = 0;
        self.rest_until_ns = now_ns + self.think.map_or(0, |think| think.time.0);
    }

    /// The operation that was due was issued, with that many bytes.
    pub fn issued(&mut self, bytes: u32) {
        let lane = &mut self.lanes[self.due];
        let mean = lane.gap_op_ns.max(lane.gap_byte_ns * f64::from(bytes));
        lane.next_ns += match &mut self.poisson {
            Some(random) => -mean * (1.0 - random.unit()).ln(),
            None => mean,
        };
        if self.lanes.len() > 1 {
            self.find_due();
        }
        self.since_think += u32::from(self.think.is_some());
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::units::PerOp;
    use candor_plan::{BytesPerSec, Nanos, OpsPerSec};

    use super::*;

    /// Runs a pacer for `seconds` of simulated time against a device that takes `service_ns`;
    /// returns the intended starts.
    fn simulate(pace: &Pace, seconds: u64, service_ns: u64, bytes: u32) -> Vec<u64> {
        let mut pacer = Pacer::new(pace, Mix::READ, 0, 1, Random::new(5, 0)).unwrap();
        let (mut now, mut intended) = (0, Vec::new());
        while pacer.next_ns() < seconds * 1_000_000_000 {
            now = now.max(pacer.next_ns());
            intended.push(pacer.intended_ns());
            pacer.issued(bytes);
            now += service_ns;
            if pacer.wants_rest() {
                pacer.begin_rest(now);
            }
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
        // Four operations of 1 µs, then 1 ms of rest from the end of the fourth.
        let count = simulate(&pace, 1, 1000, 4096).len();
        assert!((3980..=3988).contains(&count), "{count}");
        // A slow device leaves the rest as long as it was asked for.
        let slow = simulate(&pace, 1, 5_000_000, 4096).len();
        assert!((188..=192).contains(&slow), "{slow}");
    }

    #[test]
    fn workers_share_the_rate_and_start_apart() {
        let pace = Pace { ops: Some(OpsPerSec(1000)), ..Pace::default() };
        let first: Vec<u64> = (0..4)
            .map(|rank| Pacer::new(&pace, Mix::READ, rank, 4, Random::new(1, 0)).unwrap().next_ns())
            .collect();
        assert_eq!(first, [0, 1_000_000, 2_000_000, 3_000_000]);
    }

    #[test]
    fn directions_have_rates_of_their_own() {
        let rates = PerOp { read: OpsPerSec(900), write: OpsPerSec(100), trim: OpsPerSec(0) };
        let pace = Pace { per_direction: Some(rates), ..Pace::default() };
        let mix = Mix { read: 50, write: 50, trim: 0 };
        let mut pacer = Pacer::new(&pace, mix, 0, 1, Random::new(1, 0)).unwrap();
        let mut counts = [0; 3];
        while pacer.next_ns() < 10_000_000_000 {
            counts[pacer.direction().unwrap() as usize] += 1;
            pacer.issued(4096);
        }
        // A sum of gaps may end a hair before the tenth second.
        assert!((9000..=9001).contains(&counts[0]) && (1000..=1001).contains(&counts[1]));
        assert_eq!(counts[2], 0);
    }
}
