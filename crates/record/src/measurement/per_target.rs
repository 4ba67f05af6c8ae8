//! Counts and latencies of each target of a job apart.

use std::collections::BTreeMap;

use candor_plan::work::{Figure, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Latency, Measurement};
use crate::Histogram;
use crate::by_name::Named;

/// Work of a job on one of its targets or, where it has a single one, on one of its files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetStats {
    /// Name of the target.
    pub target: String,
    /// Path of the target, or of the file.
    pub path: String,
    /// Counts and latencies of each operation that was to occur, in the order of the work's table.
    #[serde(with = "crate::by_name")]
    #[schemars(with = "BTreeMap<String, TargetOp>")]
    pub operations: Vec<TargetOp>,
}

/// Counts and latencies of one operation on one target. What failed there is among the job's
/// errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetOp {
    /// Name in the work's table; the key under which it is written.
    #[serde(skip)]
    pub name: String,
    /// Figure under which it is grouped.
    pub figure: Figure,
    /// Operations that completed.
    pub ops: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Operations per second over the job's time.
    pub ops_per_s: f64,
    /// Bytes per second over the job's time.
    pub bytes_per_s: f64,
    /// From submission to completion as the worker saw it.
    pub latency: Option<Latency>,
}

impl Named for TargetOp {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }
}

impl TargetOp {
    /// Counts of that row of a work's table.
    pub fn of(operation: &Operation, ops: u64, bytes: u64, latency: Histogram) -> TargetOp {
        TargetOp {
            name: operation.name.into(),
            figure: operation.figure,
            ops,
            bytes,
            latency: Latency::from_histogram(latency),
            ..TargetOp::default()
        }
    }

    fn add(&mut self, other: &TargetOp) {
        self.ops += other.ops;
        self.bytes += other.bytes;
        Latency::merge(&mut self.latency, other.latency.as_ref());
    }

    /// Computes the rates over that time.
    fn derive(&mut self, elapsed_ns: u64) {
        let per_second = |count: u64| match elapsed_ns {
            0 => 0.0,
            ns => count as f64 * 1e9 / ns as f64,
        };
        (self.ops_per_s, self.bytes_per_s) = (per_second(self.ops), per_second(self.bytes));
    }
}

impl Measurement {
    /// Adds what another worker or host did on each target. Rates follow with
    /// [`Measurement::derive`].
    pub fn add_targets(&mut self, theirs: Vec<TargetStats>) {
        for other in theirs {
            match self
                .per_target
                .iter_mut()
                .find(|mine| (&mine.target, &mine.path) == (&other.target, &other.path))
            {
                Some(mine) => {
                    super::merge::add_by_name(
                        &mut mine.operations,
                        other.operations,
                        TargetOp::add,
                    );
                }
                None => self.per_target.push(other),
            }
        }
    }

    pub(super) fn derive_targets(&mut self) {
        let times = self.times();
        let all = self.per_target.iter_mut().flat_map(|target| &mut target.operations);
        all.for_each(|op| op.derive(times.of_ns(op.figure)));
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;

    use super::*;

    #[test]
    fn targets_add_up_by_name_and_path() {
        let of = |path: &str, ns: &[u64]| {
            let mut latency = Histogram::new();
            ns.iter().for_each(|ns| latency.record(*ns));
            let ops = ns.len() as u64;
            let read = TargetOp::of(BlocksOp::Read.operation(), ops, ops * 4096, latency);
            TargetStats { target: "data".into(), path: path.into(), operations: vec![read] }
        };
        let mut all = Measurement { elapsed_ns: 2_000_000_000, ..Measurement::default() };
        all.add_targets(vec![of("/a", &[10, 20]), of("/b", &[30])]);
        all.add_targets(vec![of("/b", &[50, 70])]);
        all.derive();
        let seen = |target: &TargetStats| {
            let read = &target.operations[0];
            let max_ns = read.latency.as_ref().map(|latency| latency.max_ns);
            (target.path.clone(), read.ops, read.ops_per_s, read.bytes_per_s, max_ns)
        };
        let seen: Vec<_> = all.per_target.iter().map(seen).collect();
        assert_eq!(
            seen,
            [
                ("/a".to_owned(), 2, 1.0, 4096.0, Some(20)),
                ("/b".to_owned(), 3, 1.5, 6144.0, Some(70))
            ]
        );
    }
}
