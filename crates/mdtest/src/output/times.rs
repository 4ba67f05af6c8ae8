//! Files with the time of each item, from the logs of the phases.

use std::collections::HashMap;

use candor_front::session::{LogLine, LogRows, LogToFiles, Row};
use candor_ior_family::results::exponent;
use candor_plan::path_of;

use crate::plan::{Lowered, log_file};
use crate::setup::Test;

/// First row of each file.
const HEADER: &str = "time,runtime,tp\n";

/// Conversions of the logs of all phases on files.
pub fn time_logs(lowered: &Lowered) -> Vec<LogToFiles> {
    let asked = &lowered.setup.asked;
    let Some(prefix) = &asked.output.per_op_prefix else { return Vec::new() };
    let conversion = |test: Test| {
        let bytes = match test {
            Test::FileRead => asked.data.read_bytes,
            Test::FileStat => 1,
            _ => asked.data.write_bytes,
        };
        let front = format!("{prefix}-{}", test.name());
        LogToFiles {
            log: path_of(&log_file(prefix, test)),
            rows: Box::new(TimeRows { front, bytes: bytes.max(1), items: HashMap::new() }),
        }
    };
    [Test::FileCreate, Test::FileStat, Test::FileRead, Test::FileRemove].map(conversion).into()
}

/// Rows of the times of items, a file for each task.
struct TimeRows {
    /// Start of the names of the files.
    front: String,
    /// Bytes of each item; 1 if items count.
    bytes: u64,
    /// Last item of each task.
    items: HashMap<u64, Item>,
}

/// An item in progress.
struct Item {
    name: String,
    began_ns: u64,
    ended_ns: u64,
}

impl TimeRows {
    fn row(&self, task: u64, text: String) -> Row {
        Row { file: format!("{}-{task:05}.csv", self.front), text }
    }

    /// Begin and time of an item in s, and bytes, or items, per second.
    fn of(&self, task: u64, item: &Item) -> Row {
        let at = item.began_ns as f64 / 1e9;
        let time = item.ended_ns.saturating_sub(item.began_ns) as f64 / 1e9;
        let rate = if time > 0.0 { self.bytes as f64 / time } else { 0.0 };
        let [at, time] = [at, time].map(|value| exponent(value, 8));
        self.row(task, format!("{at},{time},{}\n", exponent(rate, 6)))
    }
}

impl LogRows for TimeRows {
    fn line(&mut self, line: LogLine) -> Option<Row> {
        let LogLine { elapsed_ns, worker_rank: task, entry_name: name, is_finished, .. } = line;
        if let Some(item) = self.items.get_mut(&task).filter(|item| item.name == name) {
            if is_finished {
                item.ended_ns = elapsed_ns;
            }
            return None;
        }
        let next = Item { name, began_ns: elapsed_ns, ended_ns: elapsed_ns };
        Some(match self.items.insert(task, next) {
            Some(item) => self.of(task, &item),
            None => self.row(task, HEADER.to_owned()),
        })
    }

    fn end(&mut self) -> Vec<Row> {
        self.items.iter().map(|(task, item)| self.of(*task, item)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(elapsed_ns: u64, worker_rank: u64, name: &str, is_finished: bool) -> LogLine {
        let (op_name, entry_name) = ("create".to_owned(), name.to_owned());
        LogLine { elapsed_ns, worker_rank, op_name, entry_name, is_finished }
    }

    #[test]
    fn operations_of_an_item_are_one_line() {
        let lines = [
            line(1000, 0, "a", false),
            line(2000, 1, "x", false),
            line(3000, 0, "a", true),
            line(4000, 0, "a", false),
            line(6000, 0, "a", true),
            line(7000, 0, "b", false),
            line(8000, 0, "b", true),
            line(9000, 1, "x", true),
        ];
        let front = "p-File creation".to_owned();
        let mut rows = TimeRows { front, bytes: 1, items: HashMap::new() };
        let mut made: Vec<Row> = lines.into_iter().filter_map(|line| rows.line(line)).collect();
        made.extend(rows.end());
        let of = |file: &str| {
            let rows = made.iter().filter(|row| row.file == file).map(|row| row.text.as_str());
            rows.collect::<String>()
        };
        assert_eq!(
            of("p-File creation-00000.csv"),
            "time,runtime,tp\n1.00000000e-06,5.00000000e-06,2.000000e+05\n\
             7.00000000e-06,1.00000000e-06,1.000000e+06\n"
        );
        assert_eq!(of("p-File creation-00001.csv").lines().count(), 2);
    }
}
