//! Files with the time of each operation, from the logs of the phases.

use std::collections::HashMap;

use candor_front::session::{LogLine, LogRows, LogToFiles, Row};
use candor_ior_family::results::exponent;
use candor_plan::path_of;

use crate::plan::{BenchPhase, Lowered, Part, Stage, log_file};
use crate::setup::Setup;

/// First row of each file.
const HEADER: &str = "time,runtime\n";

/// Conversions of the logs of all phases.
pub fn latency_logs(lowered: &Lowered) -> Vec<LogToFiles> {
    let output = &lowered.setup.asked.output;
    let Some(prefix) = &output.latency_prefix else { return Vec::new() };
    let phases = lowered.phases.iter().filter(|bench| bench.part == Part::Objects);
    phases
        .map(|bench| LogToFiles {
            log: path_of(&log_file(prefix, bench)),
            rows: Box::new(LatencyRows {
                timed: timed(&lowered.setup, bench, prefix),
                of_all_workers: output.latency_all,
                begun: HashMap::new(),
            }),
        })
        .collect()
}

/// Rows of the times of operations.
struct LatencyRows {
    timed: Vec<Timed>,
    /// Rows of all workers instead of the first.
    of_all_workers: bool,
    /// Operation in progress of each worker.
    begun: HashMap<u64, Begun>,
}

/// An operation in progress.
#[derive(Clone, Copy)]
struct Begun {
    /// Index in the list of operations.
    nth: usize,
    at_ns: u64,
}

impl LogRows for LatencyRows {
    fn begin(&mut self) -> Vec<Row> {
        let header = |timed: &Timed| Row { file: timed.file.clone(), text: HEADER.into() };
        self.timed.iter().map(header).collect()
    }

    fn line(&mut self, line: LogLine) -> Option<Row> {
        let LogLine { elapsed_ns, worker_rank, op_name, is_finished, .. } = line;
        if worker_rank > 0 && !self.of_all_workers {
            return None;
        }
        if let Some(nth) =
            self.timed.iter().position(|of| of.calls[0] == op_name).filter(|_| !is_finished)
        {
            self.begun.insert(worker_rank, Begun { nth, at_ns: elapsed_ns });
        }
        let Begun { nth, at_ns } = *self.begun.get(&worker_rank)?;
        let Timed { file, calls } = &self.timed[nth];
        if !is_finished || calls[1] != op_name {
            return None;
        }
        self.begun.remove(&worker_rank);
        let text = latency_line(at_ns, elapsed_ns.saturating_sub(at_ns));
        Some(Row { file: file.clone(), text })
    }
}

/// Operations of a phase with a file of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timed {
    /// The file.
    pub(super) file: String,
    /// Names of the first and of the last call of an operation.
    pub(super) calls: [&'static str; 2],
}

/// Operations of a phase whose times go to files, with a prefix.
pub(super) fn timed(setup: &Setup, bench: &BenchPhase, prefix: &str) -> Vec<Timed> {
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

/// A line: begin of the operation since that of its phase, and its time, in s.
pub(super) fn latency_line(began_ns: u64, took_ns: u64) -> String {
    format!("{:.7},{}\n", began_ns as f64 / 1e9, exponent(took_ns as f64 / 1e9, 4))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(elapsed_ns: u64, worker_rank: u64, op: &str, is_finished: bool) -> LogLine {
        let (op_name, entry_name) = (op.to_owned(), "f".to_owned());
        LogLine { elapsed_ns, worker_rank, op_name, entry_name, is_finished }
    }

    #[test]
    fn an_object_is_read_from_its_open_to_its_close() {
        let lines = [
            line(1000, 0, "open", false),
            line(1500, 1, "open", false),
            line(2000, 0, "open", true),
            line(2100, 0, "read", false),
            line(2200, 0, "read", true),
            line(3000, 0, "close", false),
            line(4000, 0, "close", true),
            line(4100, 1, "close", true),
            line(5000, 0, "create", false),
            line(6000, 0, "close", true),
        ];
        let row = |file: &str, text: &str| Row { file: file.into(), text: text.into() };
        let first = row("r", "0.0000010,3.0000e-06\n");
        let second = row("r", "0.0000015,2.6000e-06\n");
        let created = row("c", "0.0000050,1.0000e-06\n");
        for (of_all_workers, expected) in [
            (false, vec![first.clone(), created.clone()]),
            (true, vec![first.clone(), second.clone(), created.clone()]),
        ] {
            let timed = [("r", ["open", "close"]), ("c", ["create", "close"])]
                .map(|(file, calls)| Timed { file: file.into(), calls });
            let mut rows =
                LatencyRows { timed: timed.into(), of_all_workers, begun: HashMap::new() };
            assert_eq!(rows.begin(), [row("r", HEADER), row("c", HEADER)]);
            let rows: Vec<Row> = lines.iter().filter_map(|of| rows.line(of.clone())).collect();
            assert_eq!(rows, expected);
        }
    }
}
