//! A phase that ran, with everything known about it.

use std::sync::LazyLock;

use candor_plan::{Phase, Plan};
use candor_record::{HostRecord, PhaseJudgement, PhaseRecord};

/// A phase that ran, and everything known about it.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The plan that the phase belongs to.
    pub plan: &'a Plan,
    /// The measurements of the phase.
    pub record: &'a PhaseRecord,
    /// The host whose facts and counters are looked at. Whether an eviction worked shows in the
    /// page cache of `host.before`.
    pub host: &'a HostRecord,
    /// The phases that ran before, in order.
    pub earlier: &'a [PhaseRecord],
    /// Judgements on those, at the same indices.
    pub judged: &'a [Option<PhaseJudgement>],
    /// Believable phases that ran after it; none while the run continues.
    pub later: &'a [&'a PhaseRecord],
}

/// The phase of a record that names none of its plan.
static NO_PHASE: LazyLock<Phase> = LazyLock::new(Phase::default);

impl<'a> Case<'a> {
    /// The case of a phase that ran after those of `earlier`, as its first host saw it.
    pub fn new(
        plan: &'a Plan,
        record: &'a PhaseRecord,
        earlier: &'a [PhaseRecord],
        judged: &'a [Option<PhaseJudgement>],
    ) -> Case<'a> {
        Case { plan, record, host: record.host(), earlier, judged, later: &[] }
    }

    /// The phase as the plan states it.
    pub fn phase(&self) -> &'a Phase {
        self.plan.phases.get(self.record.phase).unwrap_or(&NO_PHASE)
    }
}
