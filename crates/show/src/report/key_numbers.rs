//! The numbers by which people compare storage, each from the result that measured it.

use candor_plan::blocks::{Access, Blocks};
use candor_plan::units::Direction;
use candor_record::fmt::column;
use candor_record::{PhaseJudgement, PhaseRecord, RepeatedOp, Report, Verdict};

/// Operations of that many bytes and more are quoted as bandwidth.
const LARGE_BYTES: u64 = 128 << 10;

/// A number by which people compare storage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyNumber {
    /// Quantity, such as `random read`.
    pub name: &'static str,
    /// Value as people read it, with its unit.
    pub value: String,
}

/// One line; absent where fewer than two of the numbers were measured, or can be believed.
pub(super) fn key_numbers(report: &Report) -> Option<String> {
    let named = |KeyNumber { name, value }: KeyNumber| format!("{name} {value}");
    let parts: Vec<String> = all(report).into_iter().map(named).collect();
    (parts.len() > 1).then(|| format!("{}.", candor_record::fmt::capital(&parts.join(", "))))
}

/// Those that were measured and can be believed.
pub(super) fn all(report: &Report) -> Vec<KeyNumber> {
    let results: Vec<Shown<'_>> =
        report.judged().filter_map(|(phase, judged)| Shown::new(report, phase, judged)).collect();
    let best_by = |rate: &dyn Fn(&Shown) -> f64, is: &dyn Fn(&Shown) -> bool| {
        let fit = results.iter().filter(|result| is(result));
        fit.max_by(|a, b| rate(a).total_cmp(&rate(b)))
    };
    let best = |is: &dyn Fn(&Shown) -> bool| best_by(&|result| result.ops_per_s, is);
    let large = |direction| {
        let is = |result: &Shown| result.is_large() && result.direction == direction;
        best_by(&|result| result.bytes_per_s, &is)
    };
    let deep = |direction| {
        best(&|result| result.is_random() && result.in_flight > 1 && result.direction == direction)
    };
    let rate = |result: &Shown| column::rate(result.bytes_per_s);
    let iops = |result: &Shown| format!("{} IOPS", column::iops(result.ops_per_s));
    let single = best(&|result| {
        result.is_random() && result.in_flight == 1 && result.direction == Direction::Read
    });
    let median = single.and_then(|result| result.latency_ns_p50);
    let durable = best(&|result| result.is_durable());
    let parts = [
        ("read", large(Direction::Read).map(rate)),
        ("write", large(Direction::Write).map(rate)),
        ("random read", deep(Direction::Read).map(iops)),
        ("random write", deep(Direction::Write).map(iops)),
        ("latency", median.map(column::time)),
        ("durable", durable.map(|result| format!("{} writes/s", column::iops(result.ops_per_s)))),
    ];
    parts.into_iter().filter_map(|(name, value)| Some(KeyNumber { name, value: value? })).collect()
}

/// A believable result of one job in one direction; the mean, where it ran several times.
struct Shown<'a> {
    blocks: &'a Blocks,
    direction: Direction,
    in_flight: u64,
    ops_per_s: f64,
    bytes_per_s: f64,
    latency_ns_p50: Option<u64>,
}

impl<'a> Shown<'a> {
    fn new(
        report: &'a Report,
        phase: &'a PhaseRecord,
        judged: &PhaseJudgement,
    ) -> Option<Shown<'a>> {
        let planned = report.plan.phases.get(phase.phase)?;
        let ([job], [measured]) = (&planned.jobs[..], &phase.measurements[..]) else { return None };
        let blocks = job.blocks()?;
        let direction = Direction::ALL.into_iter().find(|op| blocks.mix.of(*op) == 100)?;
        let in_flight = u64::from(job.workers) * u64::from(blocks.depth);
        let durable = measured.durable_writes().filter(|_| direction == Direction::Write);
        let stats = durable.as_ref().unwrap_or_else(|| measured.of(direction));
        let believable = judged.verdict <= Verdict::Caution && stats.ops > 0;
        let single = Shown {
            blocks,
            direction,
            in_flight,
            ops_per_s: stats.ops_per_s,
            bytes_per_s: stats.bytes_per_s,
            latency_ns_p50: stats.latency.as_ref().and_then(|of| of.percentile_ns(50.0)),
        };
        // One of several repeats alone is no result.
        let result = match report.judgement.repeats.iter().find(|of| of.phase == phase.phase) {
            Some(repeated) => {
                single.averaged(repeated.results.iter().find(|of| of.figure == stats.figure)?)
            }
            None => single,
        };
        believable.then_some(result)
    }

    /// The same with the means over its repeats.
    fn averaged(self, of: &RepeatedOp) -> Shown<'a> {
        Shown {
            ops_per_s: of.ops_per_s.mean,
            bytes_per_s: of.bytes_per_s.map_or(self.bytes_per_s, |rate| rate.mean),
            latency_ns_p50: of.latency_ns_p50.map(|ns| ns.mean.round() as u64),
            ..self
        }
    }

    fn is_large(&self) -> bool {
        self.blocks.size.of(self.direction).min().0 >= LARGE_BYTES
    }

    fn is_random(&self) -> bool {
        let durability = &self.blocks.durability;
        let flushes = durability.fsync_every > 0 || durability.fdatasync_every > 0;
        !matches!(self.blocks.access, Access::Sequential) && !self.is_large() && !flushes
    }

    /// Each write was flushed by itself.
    fn is_durable(&self) -> bool {
        let durability = &self.blocks.durability;
        durability.fsync_every == 1 || durability.fdatasync_every == 1
    }
}
