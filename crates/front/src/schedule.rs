//! The order of phases, if one phase decides over a later one.

use candor_plan::{Plan, Stop};
use candor_record::PhaseRecord;

use super::session::FileText;

/// The phases of a plan that run, in their order.
pub trait Schedule: Send {
    /// Returns the next phase; none at the end.
    fn next(&mut self, plan: &Plan) -> Option<NextPhase>;

    /// Takes the record of the phase, and the bytes of its files if they are known.
    fn ran(&mut self, record: &PhaseRecord, file_bytes: Option<u64>) -> Option<Kept>;
}

/// A phase that begins.
#[derive(Clone, Debug, PartialEq)]
pub struct NextPhase {
    /// Index in the plan.
    pub index: usize,
    /// Stop of its jobs, if it differs from the plan.
    pub stop: Option<Stop>,
}

/// State that a later run reads: without it the run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Name of the content, for messages.
    pub content: &'static str,
    /// The file.
    pub file: FileText,
}
