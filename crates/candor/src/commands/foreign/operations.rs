//! Lines of a log of operations, for tools that write times of their own from it.

use serde_json::Value;

/// Begin or end of an operation.
pub struct Line {
    /// Time since the begin of the phase, in ns.
    pub elapsed_ns: u64,
    /// Number of the worker.
    pub worker_rank: u64,
    /// Name of the operation.
    pub op_name: String,
    /// Name of the file.
    pub entry_name: String,
    /// True for an end.
    pub is_finished: bool,
}

impl Line {
    /// Reads a line; none for one that was cut off.
    pub fn read(line: &str) -> Option<Line> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |key: &str| Some(value[key].as_str()?.to_owned());
        Some(Line {
            elapsed_ns: value["elapsed_ns"].as_u64()?,
            worker_rank: value["worker_rank"].as_u64()?,
            op_name: text("op_name")?,
            entry_name: text("entry_name")?,
            is_finished: value["is_finished"].as_bool()?,
        })
    }
}
