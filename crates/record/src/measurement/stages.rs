//! Stages of a job whose workers open their files within the phase, and how far workers were when
//! their time was up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stage, in ns since the release of the barrier (after the ramp); 0 and 0 where none came so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StageSpan {
    /// Begin of the first operation.
    pub begin_ns: u64,
    /// End of the last operation.
    pub end_ns: u64,
}

impl StageSpan {
    /// Length in ns.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.begin_ns)
    }

    /// Reaches over both; one that never was adds nothing.
    pub fn merge(&mut self, other: &StageSpan) {
        if self.end_ns == 0 {
            *self = *other;
        } else if other.end_ns > 0 {
            self.begin_ns = self.begin_ns.min(other.begin_ns);
            self.end_ns = self.end_ns.max(other.end_ns);
        }
    }
}

/// Opening, transfer and closing: of one worker, or the first begin and the last end over all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stages {
    /// Files are opened.
    pub open: StageSpan,
    /// Reads and writes, with the sync at their end.
    pub transfer: StageSpan,
    /// Files are closed.
    pub close: StageSpan,
}

impl Stages {
    /// Reaches over the stages of both.
    pub fn merge(&mut self, other: &Stages) {
        self.open.merge(&other.open);
        self.transfer.merge(&other.transfer);
        self.close.merge(&other.close);
    }
}

/// How far the workers were when their time was up, where all of them then went on to the count of
/// the furthest one. Operations are those of the work, by worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WearOut {
    /// Operations of the furthest worker, to which all came: as `stop.ops` it has later reads end
    /// there.
    pub ops: u64,
    /// Operations of the worker that was least far.
    pub ops_least: u64,
    /// Operations of all workers.
    pub ops_sum: u64,
    /// When the last worker's time was up, since the release of the barrier (after the ramp).
    pub at_ns: u64,
}

impl WearOut {
    /// Adds the workers of another host; the furthest one is that of both.
    pub fn merge(&mut self, other: &WearOut) {
        self.ops = self.ops.max(other.ops);
        self.ops_least = self.ops_least.min(other.ops_least);
        self.ops_sum += other.ops_sum;
        self.at_ns = self.at_ns.max(other.at_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_never_was_adds_nothing() {
        let span = |begin_ns, end_ns| StageSpan { begin_ns, end_ns };
        let mut all = StageSpan::default();
        for part in [span(0, 0), span(5, 9), span(3, 4), span(0, 0), span(8, 12)] {
            all.merge(&part);
        }
        assert_eq!((all, all.length_ns()), (span(3, 12), 9));
    }

    #[test]
    fn hosts_wear_out_together() {
        let of =
            |ops, ops_least, at_ns| WearOut { ops, ops_least, ops_sum: ops + ops_least, at_ns };
        let mut all = of(7, 3, 100);
        all.merge(&of(6, 2, 110));
        assert_eq!(all, WearOut { ops: 7, ops_least: 2, ops_sum: 18, at_ns: 110 });
    }
}
