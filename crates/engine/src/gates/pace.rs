//! Pacing: the time at which the next operation may start.
//!
//! The plan and a seed fix the schedule; completions never change it. A late operation does not
//! move the intended starts of those behind it. All times are ns since the start, so tests need no
//! clock.

use candor_plan::blocks::{Arrival, Pace, RateStep, Think, ThinkCount};
use candor_plan::units::{Direction, Mix};

use crate::random::Random;

/// Intended starts of operations that are known one by one, as in a trace.
pub trait Timetable {
    /// Intended start of the next operation, in ns since the start.
    fn due_ns(&self) -> u64;

    /// Moves on to the next operation: the present one was issued.
    fn step(&mut self);
}

/// One worker's schedule.
pub struct Pacer {
    /// One lane for all operations, or one per direction that has a rate.
    lanes: Vec<Lane>,
    /// Lane that is due next.
    due: usize,
    /// True where reads and writes are both due: the mix chooses between them.
    open: bool,
    poisson: Option<Random>,
    /// Rates that follow each other, where the rate changes.
    steps: Option<Steps>,
    rests: Option<Rests>,
    /// True where operations that fall into a rest are skipped.
    shifts: bool,
    /// Trace whose intended starts are kept too.
    trace: Option<Box<dyn Timetable>>,
}

/// Schedule of operations of one kind.
#[derive(Clone, Debug)]
struct Lane {
    /// Direction of the lane; none for all directions.
    op: Option<Direction>,
    /// Gap per operation in ns; 0 for no limit.
    gap_op_ns: f64,
    /// Gap per byte in ns; 0 for no limit.
    gap_byte_ns: f64,
    /// Intended start of the next operation under the rate.
    next_ns: f64,
}

impl Lane {
    /// True for a lane without a rate beside others that have one.
    fn is_free(&self) -> bool {
        self.gap_op_ns == 0.0 && self.gap_byte_ns == 0.0
    }
}

/// Rates that follow each other. An operation starts once as many are due as came before it, so
/// that no gap reaches from one rate into another.
#[derive(Clone, Debug)]
struct Steps {
    /// Of each step its begin in ns, the operations due by then, and those due in each ns.
    steps: Box<[[f64; 3]]>,
    /// Length of all steps in ns, and the operations due in them.
    whole: [f64; 2],
    bursts: bool,
    /// Operations so far; with parts of one, where gaps differ by chance.
    done: f64,
}

impl Steps {
    /// A worker's part; none for a rate that does not change.
    fn new(pace: &Pace, ranks: u32) -> Option<Steps> {
        let mut whole = [0.0, 0.0];
        let step = |step: &RateStep| {
            let per_ns = step.ops.0 as f64 / f64::from(ranks.max(1)) / 1e9;
            let begin = [whole[0], whole[1], per_ns];
            whole = [whole[0] + step.time.0 as f64, whole[1] + per_ns * step.time.0 as f64];
            begin
        };
        let steps: Box<[_]> = pace.steps.iter().map(step).collect();
        let (bursts, done) = (pace.bursts, 0.0);
        (whole[1] > 0.0).then_some(Steps { steps, whole, bursts, done })
    }

    /// Start of the next operation, in ns.
    fn next_ns(&self) -> f64 {
        let [length_ns, ops] = self.whole;
        let (rounds, due) = ((self.done / ops).floor(), self.done % ops);
        // The last step that begins by then: steps without operations before it are over.
        let at = self.steps.partition_point(|[_, before, _]| *before <= due).max(1) - 1;
        let [begin_ns, before, per_ns] = self.steps[at];
        let within_ns = if per_ns > 0.0 { (due - before) / per_ns } else { 0.0 };
        let start_ns = rounds * length_ns + begin_ns + within_ns;
        // A hundredth of an operation is lost in numbers of that size.
        let late_ns = if per_ns > 0.0 { 0.01 / per_ns } else { 0.0 };
        if self.bursts { ((start_ns + late_ns) / 1e9).floor() * 1e9 } else { start_ns }
    }
}

/// Think time: when to rest, and for how long.
#[derive(Clone, Debug)]
struct Rests {
    think: Think,
    counted: u32,
    /// Latencies of the operations since the last rest.
    took_ns: u64,
    /// True where a rest is due; it begins once everything in flight has completed.
    due: bool,
    from_ns: u64,
    /// Time before which no operation starts.
    until_ns: u64,
}

impl Pacer {
    /// Schedule of worker `rank` of `ranks`, who share the job's rate; none if the plan sets no
    /// pace.
    pub fn new(pace: &Pace, mix: Mix, rank: u32, ranks: u32, mut random: Random) -> Option<Pacer> {
        if !pace.is_rated() && pace.think.is_none() {
            return None;
        }
        // Workers start apart, so that their sum is even too.
        let mut first_share = match pace.arrival {
            Arrival::Fixed => f64::from(rank) / f64::from(ranks.max(1)),
            Arrival::Poisson => random.unit(),
        };
        let gap = |rate: u64| if rate == 0 { 0.0 } else { f64::from(ranks) * 1e9 / rate as f64 };
        let lane = |op, ops: u64, bytes: u64| {
            let next_ns = gap(ops) * first_share;
            Lane { op, gap_op_ns: gap(ops), gap_byte_ns: gap(bytes), next_ns }
        };
        let mut lanes = match (&pace.per_direction, &pace.bytes_per_direction) {
            (None, None) => {
                let (ops, bytes) = (pace.ops.map(|rate| rate.0), pace.bytes.map(|rate| rate.0));
                vec![lane(None, ops.unwrap_or(0), bytes.unwrap_or(0))]
            }
            (ops, bytes) => Direction::ALL
                .into_iter()
                .filter(|op| mix.of(*op) > 0)
                .map(|op| {
                    let ops = ops.map_or(0, |rates| rates.of(op).0);
                    lane(Some(op), ops, bytes.map_or(0, |rates| rates.of(op).0))
                })
                .collect(),
        };
        let mut steps = Steps::new(pace, ranks);
        if let Some(steps) = &mut steps {
            if pace.bursts {
                first_share = 0.0;
            }
            steps.done = first_share;
            lanes.iter_mut().for_each(|lane| lane.next_ns = steps.next_ns());
        }
        let poisson = (pace.arrival == Arrival::Poisson && !pace.bursts).then_some(random);
        let rests = pace.think.map(|think| Rests {
            think,
            counted: 0,
            took_ns: 0,
            due: false,
            from_ns: 0,
            until_ns: 0,
        });
        let shifts = pace.think_shifts;
        let (due, open, trace) = (0, false, None);
        let mut pacer = Pacer { lanes, due, open, poisson, steps, rests, shifts, trace };
        pacer.find_due(0);
        Some(pacer)
    }

    /// Adds the schedule of a trace to a pacer, or makes one of it alone.
    pub fn following(pacer: Option<Pacer>, trace: Box<dyn Timetable>) -> Pacer {
        let free = Lane { op: None, gap_op_ns: 0.0, gap_byte_ns: 0.0, next_ns: 0.0 };
        let pacer = pacer.unwrap_or_else(|| Pacer {
            lanes: vec![free],
            due: 0,
            open: false,
            poisson: None,
            steps: None,
            rests: None,
            shifts: false,
            trace: None,
        });
        Pacer { trace: Some(trace), ..pacer }
    }

    /// Finds the lane that is next: the earliest one, or one without a rate while none is due.
    fn find_due(&mut self, now_ns: u64) {
        let lanes = self.lanes.iter().enumerate().filter(|(_, lane)| !lane.is_free());
        let first = lanes.min_by(|(_, a), (_, b)| a.next_ns.total_cmp(&b.next_ns));
        let free = || self.lanes.iter().position(Lane::is_free);
        self.due = match first {
            Some((index, lane)) if lane.next_ns <= now_ns as f64 => index,
            Some((index, _)) => free().unwrap_or(index),
            None => 0,
        };
    }

    /// Chooses the direction that starts next at that time, where directions have rates of their
    /// own. Called before each operation.
    #[inline]
    pub fn choose(&mut self, now_ns: u64) {
        if self.lanes.len() > 1 {
            self.find_due(now_ns);
            let trims = self.lanes.iter().any(|lane| lane.op == Some(Direction::Trim));
            // The mix keeps its proportion of reads to writes also at a rate that cannot be
            // reached.
            self.open = !trims
                && self.lanes.iter().all(|lane| !lane.is_free() && lane.next_ns <= now_ns as f64);
        }
    }

    /// Sets the direction that the mix drew, where the mix chooses.
    #[inline]
    pub fn drew(&mut self, op: Direction) {
        if self.open {
            self.open = false;
            self.due = self.lanes.iter().position(|lane| lane.op == Some(op)).unwrap_or(self.due);
        }
    }

    /// Earliest start of the next operation, in ns since the start of the phase.
    pub fn next_ns(&self) -> u64 {
        self.intended_ns().max(self.rests.as_ref().map_or(0, |rests| rests.until_ns))
    }

    /// Intended start of the next operation by rate and trace alone; now, where there is neither.
    pub fn intended_ns(&self) -> u64 {
        let due_ns = self.trace.as_ref().map_or(0, |trace| trace.due_ns());
        due_ns.max(self.lanes[self.due].next_ns as u64)
    }

    /// Direction of the next operation, where the schedule sets it.
    pub fn direction(&self) -> Option<Direction> {
        self.lanes[self.due].op.filter(|_| !self.open)
    }

    /// True where the mix chooses, because reads and writes with rates of their own are both due.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Time until which waiting burns the CPU.
    pub fn spins_until_ns(&self) -> u64 {
        let Some(rests) = &self.rests else { return 0 };
        if rests.think.spin {
            rests.until_ns
        } else {
            rests.until_ns.min(rests.from_ns + rests.think.spin_first.0)
        }
    }

    /// Checks whether a rest is due. The rest begins once everything in flight has completed.
    pub fn check_rest(&mut self, now_ns: u64) -> bool {
        let Some(rests) = &mut self.rests else { return false };
        rests.due = rests.counted >= rests.think.every
            || rests.think.every_time.is_some_and(|time| now_ns >= rests.until_ns + time.0);
        rests.due
    }

    /// Begins the rest.
    pub fn begin_rest(&mut self, now_ns: u64) {
        let Some(rests) = &mut self.rests else { return };
        (rests.counted, rests.due) = (0, false);
        let longer_ns = (rests.think.relative * rests.took_ns as f64) as u64;
        let time_ns = rests.think.time.0.saturating_add(longer_ns);
        rests.took_ns = 0;
        (rests.from_ns, rests.until_ns) = (now_ns, now_ns.saturating_add(time_ns));
        if self.shifts {
            let time_ns = time_ns as f64;
            self.lanes.iter_mut().for_each(|lane| lane.next_ns += time_ns);
        }
    }

    /// Accounts for the operation that was due: it was issued with that many bytes.
    pub fn issued(&mut self, bytes: u64) {
        let lane = &mut self.lanes[self.due];
        if let Some(steps) = &mut self.steps {
            steps.done += match &mut self.poisson {
                Some(random) => -(1.0 - random.unit()).ln(),
                None => 1.0,
            };
            lane.next_ns = steps.next_ns();
            return self.count(ThinkCount::Issued, 1);
        }
        let mean = lane.gap_op_ns.max(lane.gap_byte_ns * bytes as f64);
        lane.next_ns += match &mut self.poisson {
            Some(random) => -mean * (1.0 - random.unit()).ln(),
            None => mean,
        };
        if self.lanes.len() > 1 {
            // The next operation's start chooses its lane; until then, the earliest lane stands in.
            self.find_due(0);
        }
        self.count(ThinkCount::Issued, 1);
    }

    /// Moves the trace to its next step, where there is a trace.
    pub fn stepped(&mut self) {
        if let Some(trace) = &mut self.trace {
            trace.step();
        }
    }

    /// Counts completed operations towards the next rest.
    pub fn completed(&mut self, ops: u32) {
        self.count(ThinkCount::Completed, ops);
    }

    /// Adds the latency of an operation to those by which the next rest is longer.
    pub fn took(&mut self, latency_ns: u64) {
        if let Some(rests) = &mut self.rests {
            rests.took_ns = rests.took_ns.saturating_add(latency_ns);
        }
    }

    fn count(&mut self, what: ThinkCount, ops: u32) {
        if let Some(rests) = self.rests.as_mut().filter(|rests| rests.think.count == what) {
            rests.counted = rests.counted.saturating_add(ops);
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::units::PerDirection;
    use candor_plan::{BytesPerSec, Nanos, OpsPerSec};

    use super::*;

    /// Intended starts in ms.
    struct Times(Vec<u64>);

    impl Timetable for Times {
        fn due_ns(&self) -> u64 {
            self.0[0] * 1_000_000
        }

        fn step(&mut self) {
            self.0.rotate_left(1);
        }
    }

    /// Runs a pacer for `seconds` of simulated time on a device that takes `service_ns`; returns
    /// the intended starts.
    fn simulate(pace: &Pace, seconds: u64, service_ns: u64, bytes: u64) -> Vec<u64> {
        let mut pacer = Pacer::new(pace, Mix::READ, 0, 1, Random::new(5, 0)).unwrap();
        let (mut now, mut intended) = (0, Vec::new());
        while pacer.next_ns() < seconds * 1_000_000_000 {
            now = now.max(pacer.next_ns());
            pacer.choose(now);
            intended.push(pacer.intended_ns());
            pacer.issued(bytes);
            now += service_ns;
            pacer.completed(1);
            if pacer.check_rest(now) {
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
    fn rates_follow_each_other() {
        let step = |ops, seconds| RateStep { ops: OpsPerSec(ops), time: Nanos::from_secs(seconds) };
        let steps = vec![step(100, 2), step(0, 3), step(1000, 1)];
        let pace = Pace { steps, ..Pace::default() };
        let per_second = |pace: &Pace| {
            let mut counts = [0_u32; 12];
            for start in simulate(pace, 12, 0, 4096) {
                counts[(start / 1_000_000_000) as usize] += 1;
            }
            counts
        };
        let each = [100, 100, 0, 0, 0, 1000, 100, 100, 0, 0, 0, 1000];
        assert_eq!(per_second(&pace), each);
        let bursts = Pace { bursts: true, ..pace.clone() };
        assert_eq!(per_second(&bursts), each);
        let starts = simulate(&bursts, 12, 0, 4096);
        assert!(starts.iter().all(|start| start % 1_000_000_000 == 0), "{starts:?}");
        assert_eq!(simulate(&bursts, 12, 5_000_000, 4096), starts, "however slow the device is");
        let poisson = Pace { arrival: Arrival::Poisson, ..pace };
        let counts = per_second(&poisson);
        assert_eq!([counts[2], counts[3], counts[4], counts[9]], [0; 4]);
        assert!(counts[5].abs_diff(1000) < 150 && counts[0].abs_diff(100) < 50, "{counts:?}");
        assert_ne!(counts, each);
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
        let think = Think { every: 4, ..Think::after_each(Nanos(1_000_000)) };
        let pace = Pace { think: Some(think), ..Pace::default() };
        // Each cycle: four operations of 1 µs, then 1 ms of rest from the end of the fourth.
        let count = simulate(&pace, 1, 1000, 4096).len();
        assert!((3980..=3988).contains(&count), "{count}");
        // A slow device does not shorten the rest.
        let slow = simulate(&pace, 1, 5_000_000, 4096).len();
        assert!((188..=192).contains(&slow), "{slow}");
    }

    #[test]
    fn rests_may_be_as_long_as_the_operations_before() {
        let think = Think { every: 2, relative: 0.5, ..Think::after_each(Nanos(100)) };
        let pace = Pace { think: Some(think), ..Pace::default() };
        let mut pacer = Pacer::new(&pace, Mix::READ, 0, 1, Random::new(5, 0)).unwrap();
        for (latencies, rest) in [([1000, 3000], 2100), ([10, 10], 110)] {
            let now = pacer.next_ns();
            latencies.iter().for_each(|latency| {
                pacer.issued(0);
                pacer.took(*latency);
            });
            assert!(pacer.check_rest(now));
            pacer.begin_rest(now);
            assert_eq!(pacer.next_ns(), now + rest);
        }
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
        let rates =
            PerDirection { read: OpsPerSec(900), write: OpsPerSec(100), trim: OpsPerSec(0) };
        let pace = Pace { per_direction: Some(rates), ..Pace::default() };
        let mix = Mix { read: 50, write: 50, trim: 0 };
        let mut pacer = Pacer::new(&pace, mix, 0, 1, Random::new(1, 0)).unwrap();
        let mut counts = [0; 3];
        while pacer.next_ns() < 10_000_000_000 {
            counts[pacer.direction().unwrap() as usize] += 1;
            pacer.issued(4096);
        }
        // A sum of gaps may end just before the tenth second.
        assert!((9000..=9001).contains(&counts[0]) && (1000..=1001).contains(&counts[1]));
        assert_eq!(counts[2], 0);
    }

    #[test]
    fn bytes_per_second_are_kept_per_direction() {
        let rates = PerDirection { read: 4 << 20, write: 1 << 20, trim: 0 }.map(BytesPerSec);
        let pace = Pace { bytes_per_direction: Some(rates), ..Pace::default() };
        let mix = Mix { read: 50, write: 50, trim: 0 };
        let mut pacer = Pacer::new(&pace, mix, 0, 1, Random::new(1, 0)).unwrap();
        let (mut now, mut bytes) = (0, [0u64; 3]);
        while pacer.next_ns() < 10_000_000_000 {
            now = pacer.next_ns().max(now);
            pacer.choose(now);
            let op = pacer.direction().unwrap_or(Direction::Read);
            pacer.drew(op);
            bytes[op as usize] += 65536;
            pacer.issued(65536);
        }
        assert!(bytes[0].abs_diff(40 << 20) <= 65536, "{bytes:?}");
        assert!(bytes[1].abs_diff(10 << 20) <= 65536, "{bytes:?}");
    }

    #[test]
    fn rates_that_cannot_be_kept_leave_the_directions_to_the_mix() {
        let rates = PerDirection { read: 100_000, write: 100_000, trim: 0 }.map(OpsPerSec);
        let pace = Pace { per_direction: Some(rates), ..Pace::default() };
        let mix = Mix { read: 75, write: 25, trim: 0 };
        let mut pacer = Pacer::new(&pace, mix, 0, 1, Random::new(1, 0)).unwrap();
        let mut counts = [0u64; 3];
        for nth in 1..=10_000 {
            pacer.choose(nth * 1_000_000);
            // Every fourth draw is a write.
            let drawn = if nth % 4 == 0 { Direction::Write } else { Direction::Read };
            let op = pacer.direction().unwrap_or(drawn);
            pacer.drew(op);
            counts[op as usize] += 1;
            pacer.issued(4096);
        }
        assert_eq!(counts, [7500, 2500, 0]);
    }

    #[test]
    fn a_direction_without_a_rate_goes_while_the_other_is_not_due() {
        let rates = PerDirection { read: 100, write: 0, trim: 0 }.map(OpsPerSec);
        let pace = Pace { per_direction: Some(rates), ..Pace::default() };
        let mix = Mix { read: 50, write: 50, trim: 0 };
        let mut pacer = Pacer::new(&pace, mix, 0, 1, Random::new(1, 0)).unwrap();
        let (mut now, mut counts) = (0u64, [0u64; 3]);
        while now < 1_000_000_000 {
            now = now.max(pacer.next_ns());
            pacer.choose(now);
            counts[pacer.direction().unwrap() as usize] += 1;
            pacer.issued(4096);
            now += 100_000;
        }
        assert!((99..=101).contains(&counts[0]), "{counts:?}");
        assert!((9890..=9910).contains(&counts[1]), "{counts:?}");
    }

    #[test]
    fn a_rate_makes_up_for_rests_unless_they_shift_it() {
        let think = Think { every: 100, ..Think::after_each(Nanos(100_000_000)) };
        let pace = Pace { ops: Some(OpsPerSec(1000)), think: Some(think), ..Pace::default() };
        // Each cycle: 100 operations at full speed, 100 ms of rest, then the operations due
        // meanwhile at once.
        assert!((880..=1001).contains(&simulate(&pace, 1, 10_000, 4096).len()));
        let shifted = Pace { think_shifts: true, ..pace };
        let count = simulate(&shifted, 1, 10_000, 4096).len();
        assert!((490..=510).contains(&count), "half the time is rest: {count}");
    }

    #[test]
    fn a_trace_has_its_own_times_and_a_rate_may_be_slower() {
        let starts = |pacer: Option<Pacer>| {
            let mut pacer = Pacer::following(pacer, Box::new(Times(vec![1, 1, 9])));
            let mut due = || {
                let due_ns = pacer.next_ns();
                pacer.issued(1);
                pacer.stepped();
                due_ns
            };
            [due(), due(), due()]
        };
        assert_eq!(starts(None), [1_000_000, 1_000_000, 9_000_000]);
        let pace = Pace { ops: Some(OpsPerSec(500)), ..Pace::default() };
        let rated = Pacer::new(&pace, Mix::READ, 0, 1, Random::new(1, 0));
        assert_eq!(starts(rated), [1_000_000, 2_000_000, 9_000_000]);
    }

    #[test]
    fn rests_come_after_a_time_of_work_too() {
        let think = Think {
            every: u32::MAX,
            every_time: Some(Nanos(90_000_000)),
            ..Think::after_each(Nanos(10_000_000))
        };
        let pace = Pace { think: Some(think), ..Pace::default() };
        // Operations of 1 ms take nine tenths of a second.
        let count = simulate(&pace, 1, 1_000_000, 4096).len();
        assert!((895..=910).contains(&count), "{count}");
    }

    #[test]
    fn a_rest_spins_first_as_long_as_planned() {
        let think = Think { spin_first: Nanos(300), ..Think::after_each(Nanos(1000)) };
        let pace = Pace { think: Some(think), ..Pace::default() };
        let mut pacer = Pacer::new(&pace, Mix::READ, 0, 1, Random::new(1, 0)).unwrap();
        pacer.issued(4096);
        assert!(pacer.check_rest(5000));
        pacer.begin_rest(5000);
        assert_eq!((pacer.spins_until_ns(), pacer.next_ns()), (5300, 6000));
    }
}
