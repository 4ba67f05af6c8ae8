//! Counts of a job at the moment when its first worker ended.

use std::collections::BTreeMap;

use candor_plan::work::{Figure, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Progress;
use crate::by_name::Named;

/// All workers' counts when the first of them that had work ended; IOR calls it stonewall.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FirstDone {
    /// Since the release of the barrier (after the ramp).
    pub at_ns: u64,
    /// Operations, flushes apart.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
    /// Counts of each operation that was to occur, in the order of the work's table.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "crate::by_name")]
    #[schemars(with = "BTreeMap<String, OpCount>")]
    pub operations: Vec<OpCount>,
    /// Operations of each worker, flushes apart, by its number within the job.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worker_ops: Vec<u64>,
}

impl FirstDone {
    /// The counts of the work together.
    pub fn progress(&self) -> Progress {
        Progress { at_ns: self.at_ns, ops: self.ops, bytes: self.bytes }
    }

    /// The counts of the operation of that name; zero where there is none.
    pub fn operation(&self, name: &str) -> OpCount {
        let found = self.operations.iter().find(|op| op.name == name);
        found.cloned().unwrap_or_default()
    }
}

/// Number and bytes of the operations of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OpCount {
    /// Name in the work's table; the key under which it is written.
    #[serde(skip)]
    pub name: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations.
    pub ops: u64,
    /// Bytes.
    pub bytes: u64,
}

impl OpCount {
    /// None done, of that row of a work's table.
    pub fn of(operation: &Operation) -> OpCount {
        OpCount { name: operation.name.into(), figure: operation.figure, ..OpCount::default() }
    }
}

impl Named for OpCount {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }
}
