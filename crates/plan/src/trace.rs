//! Traces: operations one after another, each with its file, place and time.
//!
//! The text of an operation is a line `op offset size [file [time]]`: `read 4k 64k 0 1500us`. `op`
//! is read, write, trim, fsync or fdatasync; `file` is the number of a file of the job, from 0;
//! `time` is when the operation is due, counted from the start. Flushes have offset and size 0.
//! Empty lines and lines that begin with `#` are passed over.

use std::fmt::{self, Write};

use crate::units::Direction;
use crate::{Bytes, Nanos};

/// Action of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads, writes or trims.
    Move(Direction),
    /// `fsync`, once all that was issued before has ended.
    Fsync,
    /// `fdatasync`, likewise.
    Fdatasync,
}

impl Action {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Action::Move(op) => op.name(),
            Action::Fsync => "fsync",
            Action::Fdatasync => "fdatasync",
        }
    }

    /// The action of that name.
    pub fn named(name: &str) -> Option<Action> {
        let moves = Direction::ALL.into_iter().map(Action::Move);
        moves.chain([Action::Fsync, Action::Fdatasync]).find(|action| action.name() == name)
    }

    /// The direction; none for flushes.
    pub fn op(self) -> Option<Direction> {
        match self {
            Action::Move(op) => Some(op),
            Action::Fsync | Action::Fdatasync => None,
        }
    }
}

/// One operation of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Due time, in ns since the start.
    pub at_ns: u64,
    /// Where, in bytes.
    pub offset: u64,
    /// How many bytes; 0 for flushes.
    pub length: u32,
    /// The file, as an index into the files of the job.
    pub file: u32,
    /// Action of the step.
    pub action: Action,
}

impl Step {
    /// End of the step's bytes; `u64::MAX` where that is beyond all numbers.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(u64::from(self.length))
    }
}

/// The operations of a trace, in order. Their times never decrease.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Trace(Vec<Step>);

/// A trace may be long.
impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Trace({} steps)", self.0.len())
    }
}

/// Longest operation.
pub const STEP_MAX: Bytes = Bytes(1 << 30);

impl Trace {
    /// A trace of these steps. A step that is due before its predecessor is due with it.
    pub fn new(mut steps: Vec<Step>) -> Trace {
        let mut last_ns = 0;
        for step in &mut steps {
            step.at_ns = step.at_ns.max(last_ns);
            last_ns = step.at_ns;
        }
        Trace(steps)
    }

    /// The steps.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// True where steps wait for their time.
    pub fn is_timed(&self) -> bool {
        self.0.last().is_some_and(|step| step.at_ns > 0)
    }

    /// Bytes of the longest operation.
    pub fn length_max(&self) -> u32 {
        self.0.iter().map(|step| step.length).max().unwrap_or(0)
    }

    /// The longest time without a step, in ns.
    pub fn longest_gap_ns(&self) -> u64 {
        let first = self.0.first().map_or(0, |step| step.at_ns);
        let between = self.0.windows(2).map(|pair| pair[1].at_ns - pair[0].at_ns);
        between.max().unwrap_or(0).max(first)
    }

    /// Reads the text of a trace called `name`.
    ///
    /// # Errors
    /// A sentence with name and line.
    pub fn read(name: &str, text: &str) -> Result<Trace, String> {
        let lines = text.lines().enumerate().filter(|(_, line)| !is_blank(line));
        let steps = lines
            .map(|(index, line)| step(line).map_err(|why| format!("{name}:{}: {why}", index + 1)));
        let steps: Vec<Step> = steps.collect::<Result<_, _>>()?;
        if steps.is_empty() {
            Err(format!("the trace `{name}` has no operation"))
        } else {
            Ok(Trace::new(steps))
        }
    }

    /// The text, which [`Trace::read`] reads back.
    pub fn text(&self) -> String {
        let mut text = String::from("# op offset size file time\n");
        for step in &self.0 {
            let (length, at) = (Bytes(u64::from(step.length)), Nanos(step.at_ns));
            let (name, offset) = (step.action.name(), Bytes(step.offset));
            // A String takes all that is written to it.
            let _ = writeln!(text, "{name} {offset} {length} {} {at}", step.file);
        }
        text
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty() || line.trim_start().starts_with('#')
}

fn step(line: &str) -> Result<Step, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (op, offset, length, file, at) = match words[..] {
        [op, offset, length] => (op, offset, length, "0", "0s"),
        [op, offset, length, file] => (op, offset, length, file, "0s"),
        [op, offset, length, file, at] => (op, offset, length, file, at),
        _ => return Err(format!("`{line}` is not `op offset size [file [time]]`")),
    };
    let action = Action::named(op)
        .ok_or_else(|| format!("`{op}` is not read, write, trim, fsync or fdatasync"))?;
    let offset: Bytes = offset.parse().map_err(|error| format!("{error}"))?;
    let length: Bytes = length.parse().map_err(|error| format!("{error}"))?;
    let at: Nanos = at.parse().map_err(|error| format!("{error}"))?;
    let file = file.parse().map_err(|_| format!("`{file}` is not the number of a file"))?;
    if action.op().is_some() && (length.0 == 0 || length > STEP_MAX) {
        return Err(format!("size {length} is not between 1 byte and {STEP_MAX}"));
    }
    if action.op().is_none() && (offset.0 > 0 || length.0 > 0) {
        return Err(format!("{op} is of the whole file: write `{op} 0 0`"));
    }
    if offset.0.checked_add(length.0).is_none() {
        return Err(format!("{offset} + {length} lies beyond all files"));
    }
    Ok(Step { at_ns: at.0, offset: offset.0, length: length.0 as u32, file, action })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_become_steps() {
        let trace = Trace::read("t", "read 0 4k\n# rest\n\nwrite 8k 4k 1 2ms\nfsync 0 0 1 1ms\n");
        let trace = trace.expect("a trace");
        let expected = [
            (0, 0, 4096, 0, Action::Move(Direction::Read)),
            (2_000_000, 8192, 4096, 1, Action::Move(Direction::Write)),
            (2_000_000, 0, 0, 1, Action::Fsync),
        ]
        .map(|(at_ns, offset, length, file, action)| Step {
            at_ns,
            offset,
            length,
            file,
            action,
        });
        assert_eq!(trace.steps(), expected);
        assert!(trace.is_timed());
        assert_eq!((trace.length_max(), trace.longest_gap_ns()), (4096, 2_000_000));
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        for (text, message) in [
            ("", "the trace `t` has no operation"),
            ("read 0", "t:1: `read 0` is not `op offset size [file [time]]`"),
            ("\nraed 0 4k", "t:2: `raed` is not read, write, trim, fsync or fdatasync"),
            ("read x 4k", "t:1: "),
            ("read 0 0", "t:1: size 0B is not between 1 byte and 1GiB"),
            ("read 0 2g", "t:1: size 2GiB is not between"),
            ("fsync 4k 0", "t:1: fsync is of the whole file: write `fsync 0 0`"),
            ("read 0 4k one", "t:1: `one` is not the number of a file"),
            ("read 0 4k 0 soon", "t:1: "),
            ("read 18446744073709551615 4k", "t:1: "),
        ] {
            let error = Trace::read("t", text).expect_err(text);
            assert!(error.starts_with(message), "{error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            steps in proptest::collection::vec(
                (0..u64::MAX >> 1, 0..u64::MAX >> 1, 1..=1u32 << 30, any::<u32>(), 0..5usize),
                1..20,
            ),
        ) {
            let actions = ["read", "write", "trim", "fsync", "fdatasync"];
            let steps = steps.into_iter().map(|(at_ns, offset, length, file, action)| {
                let action = Action::named(actions[action]).expect("a name");
                let moves = action.op().is_some();
                let (offset, length) = if moves { (offset, length) } else { (0, 0) };
                Step { at_ns, offset, length, file, action }
            });
            let trace = Trace::new(steps.collect());
            prop_assert_eq!(Trace::read("t", &trace.text()), Ok(trace));
        }

        #[test]
        fn no_text_is_too_much(text in "\\PC*") {
            let _ = Trace::read("t", &text);
        }
    }
}
