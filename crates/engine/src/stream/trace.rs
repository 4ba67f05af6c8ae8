//! Traces: operations in the order of a file, one `op offset size` a line.

use std::path::Path;
use std::sync::Arc;

use candor_plan::Bytes;
use candor_plan::units::Op;

use super::space::Rank;

/// One operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its direction.
    pub op: Op,
    /// Its offset.
    pub offset: u64,
    /// Its length.
    pub length: u32,
}

/// Reads a trace whose operations must lie within `size` bytes.
///
/// Empty lines and lines that start with `#` are passed over.
///
/// # Errors
/// A sentence with file and line.
pub fn load(path: &Path, size: u64) -> Result<Arc<[Line]>, String> {
    let name = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|cause| format!("cannot read the trace `{name}`: {cause}"))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !is_blank(line));
    let lines: Vec<Line> = lines
        .map(|(index, line)| {
            let place = format!("{name}:{}", index + 1);
            parse(line, size).map_err(|why| format!("{place}: {why}"))
        })
        .collect::<Result<_, _>>()?;
    match lines.is_empty() {
        true => Err(format!("the trace `{name}` has no operation")),
        false => Ok(lines.into()),
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn parse(line: &str, size: u64) -> Result<Line, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [op, offset, length] = words[..] else {
        return Err(format!("`{line}` is not `op offset size`"));
    };
    let op = Op::ALL.into_iter().find(|known| known.name() == op);
    let op = op.ok_or_else(|| format!("`{}` is not read, write or trim", words[0]))?;
    let offset: Bytes = offset.parse().map_err(|error| format!("{error}"))?;
    let length: Bytes = length.parse().map_err(|error| format!("{error}"))?;
    let end = offset.0.checked_add(length.0);
    if length.0 == 0 || length.0 > 1 << 30 {
        return Err(format!("size {length} is not between 1 byte and 1 GiB"));
    }
    if end.is_none_or(|end| end > size) {
        return Err(format!("{offset} + {length} lies beyond the target's {}", Bytes(size)));
    }
    Ok(Line { op, offset: offset.0, length: length.0 as u32 })
}

/// A worker's way through a trace: every `of`-th line, beginning with its rank's.
pub struct Cursor {
    lines: Arc<[Line]>,
    at: usize,
    step: usize,
}

impl Cursor {
    /// The way of one rank.
    pub fn new(lines: Arc<[Line]>, rank: Rank) -> Cursor {
        let at = rank.rank as usize % lines.len();
        Cursor { lines, at, step: rank.of as usize }
    }

    /// The next operation.
    pub fn next_line(&mut self) -> Line {
        let line = self.lines[self.at];
        self.at = (self.at + self.step) % self.lines.len();
        line
    }
}
