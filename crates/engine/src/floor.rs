//! Rates below which a job fails.

use candor_plan::blocks::Floor;
use candor_plan::units::{Op, PerOp};
use candor_plan::{Bytes, BytesPerSec, OpsPerSec};

use crate::stats::Totals;

/// A job may settle for this long before it is judged.
const SETTLE_NS: u64 = 2_000_000_000;

/// A job's rates, cycle by cycle. Times are ns since counting began.
#[derive(Debug)]
pub struct FloorWatch {
    floor: Floor,
    last: Totals,
    from_ns: u64,
}

impl FloorWatch {
    /// Of a job that begins to count.
    pub fn new(floor: Floor) -> FloorWatch {
        FloorWatch { floor, last: Totals::default(), from_ns: 0 }
    }

    /// When the cycle ends.
    pub fn due_ns(&self) -> u64 {
        let settled_ns = if self.from_ns == 0 { SETTLE_NS } else { 0 };
        self.from_ns.saturating_add(self.floor.cycle.0.max(settled_ns))
    }

    /// Judges the cycle that ends now; what was not reached, in a sentence.
    pub fn look(&mut self, totals: &Totals, now_ns: u64) -> Option<String> {
        if now_ns < self.due_ns() {
            return None;
        }
        let settled = self.from_ns > 0;
        let length_ns = now_ns - self.from_ns;
        let missed = Op::ALL.into_iter().find_map(|op| {
            let bytes = per_second(&self.last.bytes, &totals.bytes, op, length_ns);
            let ops = per_second(&self.last.ops, &totals.ops, op, length_ns);
            self.missed(op, bytes, ops)
        });
        (self.last, self.from_ns) = (*totals, now_ns);
        missed.filter(|_| settled)
    }

    fn missed(&self, op: Op, bytes: u64, ops: u64) -> Option<String> {
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

fn per_second(before: &PerOp<u64>, now: &PerOp<u64>, op: Op, length_ns: u64) -> u64 {
    let count = now.of(op).saturating_sub(*before.of(op));
    (u128::from(count) * 1_000_000_000 / u128::from(length_ns.max(1))) as u64
}

#[cfg(test)]
mod tests {
    use candor_plan::Nanos;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn totals(reads: u64) -> Totals {
        let of = |read| PerOp { read, ..PerOp::default() };
        Totals { ops: of(reads), bytes: of(reads * 4096), latency_sum_ns: 0 }
    }

    fn floor(ops: u64, bytes: u64) -> FloorWatch {
        let ops = PerOp { read: OpsPerSec(ops), ..PerOp::all(OpsPerSec(0)) };
        let bytes = PerOp { read: BytesPerSec(bytes), ..PerOp::all(BytesPerSec(0)) };
        FloorWatch::new(Floor { ops, bytes, cycle: Nanos(SECOND) })
    }

    #[test]
    fn the_first_two_seconds_may_be_slow() {
        let mut watch = floor(100, 0);
        assert_eq!(watch.look(&totals(1), SECOND), None);
        assert_eq!(watch.look(&totals(2), 2 * SECOND), None);
        assert_eq!(watch.look(&totals(102), 3 * SECOND), None);
        let missed = watch.look(&totals(201), 4 * SECOND).expect("99 are less than 100");
        assert!(missed.contains("read rate of 100/s operations not met, got 99/s"), "{missed}");
    }

    #[test]
    fn bytes_count_too() {
        let mut watch = floor(0, 1 << 20);
        watch.look(&totals(0), 2 * SECOND);
        assert_eq!(watch.look(&totals(256), 3 * SECOND), None);
        let missed = watch.look(&totals(257), 4 * SECOND).expect("4 KiB are less than 1 MiB");
        assert!(missed.contains("1MiB/s not met, got 4KiB/s"), "{missed}");
    }
}
