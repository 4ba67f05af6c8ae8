//! Files with operation times.

use crate::plan::{BenchPhase, Stage};
use crate::setup::Setup;
use candor_ior_family::results::exponent;

/// Operations of a phase with a file of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The file.
    pub file: String,
    /// Names of the first and the last call of an operation.
    pub calls: [&'static str; 2],
}

/// Operations of a phase whose times go to files with this prefix.
pub fn timed(setup: &Setup, bench: &BenchPhase, prefix: &str) -> Vec<Timed> {
    let (create, delete) = (["create", "close"], ["unlink", "unlink"]);
    let (read, stat) = (["open", "close"], ["stat", "stat"]);
    let operations = match bench.stage {
        Stage::Precreate => vec![("precreate", create)],
        Stage::Cleanup => vec![("cleanup", delete)],
        Stage::Benchmark if setup.asked.run.read_only => vec![("read", read), ("stat", stat)],
        Stage::Benchmark => {
            vec![("read", read), ("stat", stat), ("create", create), ("delete", delete)]
        }
    };
    let all = if setup.asked.output.latency_all { "-all" } else { "" };
    let BenchPhase { waiting, iteration, .. } = bench;
    let file = |name| format!("{prefix}-{waiting:.2}-{iteration}-{name}{all}.csv");
    operations.into_iter().map(|(name, calls)| Timed { file: file(name), calls }).collect()
}

/// A line: start of the operation since the start of its phase, and its time, in s.
pub fn latency_line(began_ns: u64, took_ns: u64) -> String {
    format!("{:.7},{}\n", began_ns as f64 / 1e9, exponent(took_ns as f64 / 1e9, 4))
}
