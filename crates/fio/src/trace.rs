//! Replayed traces: fio's text of versions 2 and 3, and files of blktrace.
//!
//! Reading goes line by line (or event by event), so that only the steps are held in memory.

mod blktrace;
mod iolog;
pub mod merge;

use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::PathBuf;

use candor_plan::trace::{Action, STEP_MAX, Step};
use candor_plan::units::Direction;
use candor_plan::{Bytes, nearest};

use crate::options::Trace as TraceOptions;

/// Maximum number of steps of a trace: 2 GiB of memory.
const STEPS_MAX: usize = 1 << 26;

/// A trace as read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Paths of the files that are opened, in the order of first use.
    pub files: Vec<String>,
    /// The steps; times count from the first line or event.
    pub steps: Vec<Step>,
    /// Operations in flight, if the trace shows them.
    pub depth: Option<u32>,
    /// Lines that were passed over, or read in an odd way.
    pub remarks: Vec<Remark>,
}

/// Lines that were passed over, or read in an odd way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// First position.
    pub place: String,
    /// The reading that was chosen.
    pub did: &'static str,
    /// Why.
    pub why: &'static str,
    /// The number of such lines.
    pub times: u64,
}

/// A fault of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// `file:line:column`, or as much of it as there is.
    pub place: String,
    /// The fault, with its word.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// Finds the path of a block device by its major and minor number.
pub type FindDevice<'a> = &'a dyn Fn(u32, u32) -> Option<PathBuf>;

/// Reads a trace of either kind; sentences use `name`.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn read(
    name: &str,
    bytes: Box<dyn BufRead + '_>,
    given: &TraceOptions,
    device: FindDevice<'_>,
) -> Result<Recorded, Fault> {
    let recorded = match begin(name, bytes)? {
        (Some(endian), bytes) => blktrace::read(name, bytes, endian, given, device)?,
        (None, bytes) => iolog::read(name, bytes, given)?,
    };
    if recorded.steps.is_empty() {
        return Err(Fault {
            place: name.to_owned(),
            message: "the trace has no operation that is replayed".to_owned(),
            remedy: "record one, or skip less with replay_skip".to_owned(),
        });
    }
    Ok(recorded)
}

/// The order of bytes of a block trace, none for other files; and all bytes of the file.
fn begin<'a>(
    name: &str,
    mut bytes: Box<dyn BufRead + 'a>,
) -> Result<(Option<blktrace::Endian>, impl BufRead + use<'a>), Fault> {
    let mut head = Vec::new();
    let read = bytes.by_ref().take(4).read_to_end(&mut head);
    read.map_err(|error| unreadable(name, &error))?;
    Ok((blktrace::endian(&head), io::Cursor::new(head).chain(bytes)))
}

/// The file cannot be read.
pub fn unreadable(name: &str, error: &io::Error) -> Fault {
    Fault {
        place: name.to_owned(),
        message: format!("the trace cannot be read: {error}"),
        remedy: "name a file that write_iolog or blkparse -d made, or - for stdin".to_owned(),
    }
}

/// Steps under construction, with the options of the replay.
struct Steps<'a> {
    given: &'a TraceOptions,
    recorded: Recorded,
}

impl<'a> Steps<'a> {
    fn new(given: &'a TraceOptions) -> Steps<'a> {
        Steps { given, recorded: Recorded::default() }
    }

    /// The index of a file, which is now opened.
    fn file(&mut self, path: &str) -> u32 {
        let path = self.given.redirect.as_deref().unwrap_or(path);
        let files = &mut self.recorded.files;
        let known = files.iter().position(|known| known == path);
        let index = known.unwrap_or_else(|| {
            files.push(path.to_owned());
            files.len() - 1
        });
        index as u32
    }

    /// Adds an operation, due N ns after the first one in the trace's time, unless it is skipped.
    fn add(&mut self, at_ns: u64, file: u32, action: Action, offset: u64, length: u64) -> Added {
        let skip = self.given.skip;
        let skipped = match action {
            Action::Move(Direction::Read) => skip.read,
            Action::Move(Direction::Write) => skip.write,
            Action::Move(Direction::Trim) => skip.trim,
            Action::Fsync | Action::Fdatasync => skip.flush,
        };
        let moves = action.op().is_some();
        if skipped {
            return Ok(());
        }
        if self.recorded.steps.len() >= STEPS_MAX {
            return Err(format!("the trace has more than {STEPS_MAX} operations"));
        }
        if length > STEP_MAX.0 {
            return Err(format!("{} are more than the {STEP_MAX} of one operation", Bytes(length)));
        }
        let offset = self.placed(offset);
        if offset.checked_add(length).is_none_or(|end| end > i64::MAX as u64) {
            return Err(format!("{offset} lies beyond all files"));
        }
        let (offset, length) = if moves { (offset, length as u32) } else { (0, 0) };
        let at_ns = self.scaled(at_ns);
        self.recorded.steps.push(Step { at_ns, offset, length, file, action });
        Ok(())
    }

    fn placed(&self, offset: u64) -> u64 {
        let offset = offset / self.given.scale.max(1);
        offset - offset % self.given.align.max(1)
    }

    fn scaled(&self, at_ns: u64) -> u64 {
        if self.given.no_stall {
            return 0;
        }
        let scaled = u128::from(at_ns) * 100 / u128::from(self.given.time_scale.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// Adds a note once, with its first position.
    fn remark(&mut self, place: String, did: &'static str, why: &'static str) {
        let known = self.recorded.remarks.iter_mut().find(|remark| remark.did == did);
        match known {
            Some(remark) => remark.times += 1,
            None => self.recorded.remarks.push(Remark { place, did, why, times: 1 }),
        }
    }
}

/// An operation was added, or a sentence why it cannot be.
type Added = Result<(), String>;

/// ` (did you mean `x`?)`, if a known word is near.
fn meant(word: &str, known: &[&str]) -> String {
    nearest(word, known.iter().copied())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

#[cfg(test)]
pub(super) mod samples {
    use super::blktrace::Endian;
    use super::blktrace::tests::{event, made};

    /// A block trace of writes at these times in ms.
    pub fn block_trace(times: &[u64]) -> Vec<u8> {
        times
            .iter()
            .flat_map(|time| event(Endian::Little, &made(time * 1_000_000, *time, 512, 1, 2), b""))
            .collect()
    }
}
