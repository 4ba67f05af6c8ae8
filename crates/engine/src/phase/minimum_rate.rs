//! Minimum rates: a job fails below them.

use candor_plan::blocks::Floor;
use candor_plan::units::{Direction, PerDirection};
use candor_plan::{Bytes, BytesPerSec, OpsPerSec};

use crate::counters::Totals;

/// Time that a job may settle before its rates are checked.
const SETTLE_NS: u64 = 2_000_000_000;
/// Interval between checks of a cycle that is over, until one of its operations completes.
const RECHECK_NS: u64 = 1_000_000;

/// Check of a job's rates, cycle by cycle, each direction by itself. A cycle ends with a
/// completion, so that rates of less than one operation per cycle can be checked too. Times are ns
/// since counting began.
#[derive(Debug)]
pub struct MinimumRateWatch {
    floor: Floor,
    cycles: PerDirection<Cycle>,
    due_ns: u64,
}

/// Counts and time at the begin of the present cycle.
#[derive(Clone, Copy, Debug, Default)]
struct Cycle {
    ops: u64,
    bytes: u64,
    from_ns: u64,
}

impl MinimumRateWatch {
    /// Check of a job that begins to count.
    pub fn new(floor: Floor) -> MinimumRateWatch {
        let due_ns = floor.cycle.0.max(SETTLE_NS);
        MinimumRateWatch { floor, cycles: PerDirection::default(), due_ns }
    }

    /// Time of the next check.
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// Checks the cycles that end now; returns a sentence for a rate that was missed.
    pub fn check(&mut self, totals: &Totals, now_ns: u64) -> Option<String> {
        if now_ns < self.due_ns {
            return None;
        }
        self.due_ns = now_ns + RECHECK_NS;
        Direction::ALL.into_iter().find_map(|op| self.check_direction(op, totals, now_ns))
    }

    fn check_direction(&mut self, op: Direction, totals: &Totals, now_ns: u64) -> Option<String> {
        let done = totals.figure(op.into());
        let now = Cycle { ops: done.ops, bytes: done.bytes, from_ns: now_ns };
        let last = *self.cycles.of(op);
        let length_ns = now_ns - last.from_ns;
        if now.ops == last.ops || length_ns < self.floor.cycle.0 {
            return None;
        }
        *self.cycles.of_mut(op) = now;
        // The time before the first cycle is the time to settle.
        if last.from_ns == 0 {
            return None;
        }
        let bytes = per_second(now.bytes - last.bytes, length_ns);
        self.missed(op, bytes, per_second(now.ops - last.ops, length_ns))
    }

    fn missed(&self, op: Direction, bytes: u64, ops: u64) -> Option<String> {
        let name = op.name();
        let (least_bytes, least_ops) = (*self.floor.bytes.of(op), *self.floor.ops.of(op));
        if bytes < least_bytes.0 {
            let got = BytesPerSec(bytes);
            return Some(format!("{name} rate of {} not met, got {got}", least(least_bytes)));
        }
        (ops < least_ops.0).then(|| {
            format!("{name} rate of {least_ops} operations not met, got {}", OpsPerSec(ops))
        })
    }
}

fn least(rate: BytesPerSec) -> String {
    format!("{}/s", Bytes(rate.0))
}

fn per_second(count: u64, length_ns: u64) -> u64 {
    (u128::from(count) * 1_000_000_000 / u128::from(length_ns.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;
    use crate::counters::OpTotals;

    const SECOND: u64 = 1_000_000_000;

    fn totals(reads: u64) -> Totals {
        Totals::of_reads(OpTotals { ops: reads, bytes: reads * 4096, latency_sum_ns: 0 })
    }

    fn floor(ops: u64, bytes: u64) -> MinimumRateWatch {
        let ops = PerDirection { read: OpsPerSec(ops), ..PerDirection::all(OpsPerSec(0)) };
        let bytes = PerDirection { read: BytesPerSec(bytes), ..PerDirection::all(BytesPerSec(0)) };
        MinimumRateWatch::new(Floor { ops, bytes, cycle: Nanos(SECOND) })
    }

    #[test]
    fn the_first_two_seconds_may_be_slow() {
        let mut watch = floor(100, 0);
        assert_eq!(watch.check(&totals(1), SECOND), None);
        assert_eq!(watch.check(&totals(2), 2 * SECOND), None);
        assert_eq!(watch.check(&totals(102), 3 * SECOND), None);
        let missed = watch.check(&totals(201), 4 * SECOND).expect("99 are less than 100");
        assert!(missed.contains("read rate of 100/s operations not met, got 99/s"), "{missed}");
    }

    #[test]
    fn a_rate_of_less_than_one_operation_per_cycle_is_one() {
        let mut watch = floor(0, 1024);
        // 4 KiB in four seconds are 1 KiB/s, however short the cycle.
        for (reads, second) in [(1, 2), (1, 3), (1, 5), (2, 6), (2, 9), (3, 10)] {
            assert_eq!(watch.check(&totals(reads), second * SECOND), None, "{second}");
        }
        let missed = watch.check(&totals(4), 15 * SECOND).expect("4 KiB in five seconds");
        assert!(missed.contains("1KiB/s not met"), "{missed}");
    }

    #[test]
    fn bytes_count_too() {
        let mut watch = floor(0, 1 << 20);
        watch.check(&totals(1), 2 * SECOND);
        assert_eq!(watch.check(&totals(257), 3 * SECOND), None);
        let missed = watch.check(&totals(258), 4 * SECOND).expect("4 KiB are less than 1 MiB");
        assert!(missed.contains("1MiB/s not met, got 4KiB/s"), "{missed}");
    }
}
