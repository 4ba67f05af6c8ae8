//! fio's own traces, versions 2 and 3.
//!
//! The first line is `fio version N iolog`. Then a line is `[time] file action [offset length]`,
//! with a time in µs in version 3 alone. Files are added, opened and closed by name; `wait` of
//! version 2 holds everything back until its offset, in ms since the start.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use candor_plan::path_text::text_of;
use candor_plan::trace::Action;
use candor_plan::units::Direction;

use super::{Fault, Recorded, Steps, meant, unreadable};
use crate::options::Trace as TraceOptions;

/// Longest line: a path and some numbers.
const LINE_MAX: u64 = 16 << 10;
const ACTIONS: &[&str] =
    &["add", "open", "close", "wait", "read", "write", "sync", "datasync", "trim"];
/// Actions that have no offset and no length.
const OF_FILES: &[&str] = &["add", "open", "close"];
const FORM: [&str; 2] =
    ["`file action offset length`, or `file action`", "`time file action offset length`"];

/// The first line of a version.
fn header(version: u8) -> String {
    format!("fio version {version} iolog")
}

/// Reads a trace.
pub(super) fn read(
    name: &str,
    bytes: impl BufRead,
    given: &TraceOptions,
) -> Result<Recorded, Fault> {
    let mut lines = Lines { name, bytes, number: 0, line: Vec::new() };
    let version = lines.version()?;
    let mut reader = Reader {
        version,
        steps: Steps::new(given),
        files: HashMap::new(),
        clock: Clock::default(),
        paths: Vec::new(),
    };
    while let Some((text, ended)) = lines.next()? {
        match reader.line(&text) {
            Ok(None) => {}
            Ok(Some((did, why))) => {
                let place = format!("{name}:{}", lines.number);
                reader.steps.remark(place, did, why);
            }
            // The writer was interrupted.
            Err(_) if !ended => {
                let place = format!("{name}:{}", lines.number);
                reader.steps.remark(place, "it is left out", "the last line is cut off");
            }
            Err(wrong) => return Err(lines.fault(wrong)),
        }
    }
    Ok(reader.steps.recorded)
}

/// A fault in a line: byte, problem and remedy.
struct Wrong {
    at: usize,
    message: String,
    remedy: String,
}

fn wrong(at: usize, message: impl Into<String>, remedy: impl Into<String>) -> Wrong {
    Wrong { at, message: message.into(), remedy: remedy.into() }
}

/// The lines of a trace.
struct Lines<'a, B> {
    name: &'a str,
    bytes: B,
    number: u64,
    line: Vec<u8>,
}

impl<B: BufRead> Lines<'_, B> {
    /// The next line, and whether it ends like one.
    fn next(&mut self) -> Result<Option<(String, bool)>, Fault> {
        self.line.clear();
        let mut limited = self.bytes.by_ref().take(LINE_MAX);
        let read: io::Result<usize> = limited.read_until(b'\n', &mut self.line);
        let count = read.map_err(|error| unreadable(self.name, &error))?;
        self.number += 1;
        if count as u64 == LINE_MAX {
            let message = format!("the line has more than {LINE_MAX} bytes");
            return Err(self.fault(wrong(0, message, "give a trace of fio or of blkparse -d")));
        }
        let ended = self.line.last() == Some(&b'\n');
        let text = text_of(&self.line);
        Ok((count > 0).then(|| (text.trim_end().to_owned(), ended)))
    }

    /// The form that the first line names.
    fn version(&mut self) -> Result<u8, Fault> {
        let remedy = format!("begin it with `{}`", header(3));
        let Some((line, _)) = self.next()? else {
            return Err(self.fault(wrong(0, "the trace is empty", remedy)));
        };
        let found = [2, 3].into_iter().find(|version| line == header(*version));
        found.ok_or_else(|| {
            let is_first = line.split(',').count() == 3;
            let message = if is_first {
                format!("`{line}` is of version 1 of fio's traces, which fio dropped")
            } else {
                format!("`{line}` is not the first line of a trace")
            };
            self.fault(wrong(0, message, remedy))
        })
    }

    fn fault(&self, wrong: Wrong) -> Fault {
        let place = format!("{}:{}:{}", self.name, self.number, wrong.at + 1);
        Fault { place, message: wrong.message, remedy: wrong.remedy }
    }
}

/// A trace, as far as it was read.
struct Reader<'a> {
    version: u8,
    steps: Steps<'a>,
    /// Files that were added, by name, as indices into `paths`.
    files: HashMap<String, usize>,
    /// Indices of open files among the replayed ones.
    paths: Vec<Option<u32>>,
    clock: Clock,
}

/// When a line is due.
#[derive(Default)]
struct Clock {
    /// The time of the line before.
    last_us: Option<u64>,
    /// Since the first line.
    now_ns: u64,
}

impl Clock {
    /// The next line has that time. Time never goes back.
    fn line(&mut self, at_us: u64) {
        let since_us = at_us.saturating_sub(self.last_us.unwrap_or(at_us));
        self.last_us = Some(at_us);
        self.now_ns = self.now_ns.saturating_add(since_us.saturating_mul(1000));
    }
}

/// A word and its start.
type Word<'a> = (usize, &'a str);

/// Lines that were read in an odd way, and why.
type Odd = Option<(&'static str, &'static str)>;

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Result<Odd, Wrong> {
        let mut words = words(line);
        if words.is_empty() || line.trim_start().starts_with('#') {
            return Ok(None);
        }
        if line == header(self.version) {
            // Jobs that share a file write one trace after another.
            self.clock.last_us = None;
            return Ok(Some((
                "the trace continues there",
                "another trace begins in the same file",
            )));
        }
        if self.version == 3 {
            let (at, word) = words.remove(0);
            self.clock.line(number(at, word, "time in microseconds")?);
        }
        let (name, action, rest) = parts(line, &words, self.version)?;
        if OF_FILES.contains(&action.1) {
            self.of_file(name, action).map(|()| None)
        } else {
            self.operation(name, action, rest)
        }
    }

    /// A file is added, opened or closed.
    fn of_file(&mut self, name: Word<'_>, action: Word<'_>) -> Result<(), Wrong> {
        if action.1 == "add" {
            let index = self.paths.len();
            if *self.files.entry(name.1.to_owned()).or_insert(index) == index {
                self.paths.push(None);
            }
            return Ok(());
        }
        let index = self.known(name)?;
        self.paths[index] = (action.1 == "open").then(|| self.steps.file(name.1));
        Ok(())
    }

    fn known(&self, name: Word<'_>) -> Result<usize, Wrong> {
        let known: Vec<&str> = self.files.keys().map(String::as_str).collect();
        self.files.get(name.1).copied().ok_or_else(|| {
            let message = format!("`{}` was not added{}", name.1, meant(name.1, &known));
            wrong(name.0, message, format!("put a line `{} add` in front", name.1))
        })
    }

    fn operation(
        &mut self,
        name: Word<'_>,
        action: Word<'_>,
        rest: &[Word<'_>],
    ) -> Result<Odd, Wrong> {
        let kind = match action.1 {
            "wait" => return self.wait(action, rest),
            "read" => Action::Move(Direction::Read),
            "write" => Action::Move(Direction::Write),
            "trim" => Action::Move(Direction::Trim),
            "sync" => Action::Fsync,
            _ => Action::Fdatasync,
        };
        let index = self.known(name)?;
        let Some(file) = self.paths[index] else {
            let message = format!("`{}` is not open", name.1);
            return Err(wrong(name.0, message, format!("put a line `{} open` in front", name.1)));
        };
        let [offset, length] = match (kind.op(), rest) {
            (None, _) => [0, 0],
            (Some(_), [(at, offset), (after, length), ..]) => [
                number(*at, offset, "offset in bytes")?,
                number(*after, length, "length in bytes")?,
            ],
            (Some(_), _) => {
                let message = format!("`{}` has no offset and length", action.1);
                return Err(wrong(action.0, message, "write both after it, in bytes"));
            }
        };
        if kind.op().is_some() && length == 0 {
            return Ok(Some(("they are left out", "operations of no bytes do nothing")));
        }
        let at = rest.first().map_or(action.0, |(at, _)| *at);
        let added = self.steps.add(self.clock.now_ns, file, kind, offset, length);
        added.map_err(|why| wrong(at, why, "correct the trace"))?;
        Ok(None)
    }

    /// Delays later operations. Version 3 has times instead.
    fn wait(&mut self, action: Word<'_>, rest: &[Word<'_>]) -> Result<Odd, Wrong> {
        let Some((at, offset)) = rest.first() else {
            return Err(wrong(action.0, "`wait` has no time", "write it after the name"));
        };
        let until_ms = number(*at, offset, "time in ms")?;
        if self.version == 3 {
            return Ok(Some(("`wait` is passed over", "lines of version 3 have times instead")));
        }
        let until_ns = until_ms.saturating_mul(1_000_000);
        // The time scale applies only to times of lines.
        let scale = u128::from(self.steps.given.time_scale.max(1));
        let until_ns = u64::try_from(u128::from(until_ns) * scale / 100).unwrap_or(u64::MAX);
        self.clock.now_ns = self.clock.now_ns.max(until_ns);
        Ok(Some((
            "`wait` waits until N ms after the start",
            "fio does it so; its manual has microseconds since the last one",
        )))
    }
}

/// The words of a line with their positions.
fn words(line: &str) -> Vec<Word<'_>> {
    let place = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    line.split_ascii_whitespace().map(|word| (place(word), word)).collect()
}

/// Name, action, and the rest. Names may contain spaces: unless the second word is an action, the
/// last word that is one ends the name.
fn parts<'l, 'w>(
    line: &'l str,
    words: &'w [Word<'l>],
    version: u8,
) -> Result<(Word<'l>, Word<'l>, &'w [Word<'l>]), Wrong> {
    let is_action = |word: &Word<'_>| ACTIONS.contains(&word.1);
    let second = words.get(1).is_some_and(is_action).then_some(1);
    let nth = second.or_else(|| words.iter().rposition(is_action).filter(|nth| *nth > 0));
    match (nth, words) {
        (Some(nth), [(begin, _), ..]) => {
            let (last, word) = words[nth - 1];
            let name = &line[*begin..last + word.len()];
            Ok(((*begin, name), words[nth], &words[nth + 1..]))
        }
        (_, [_, (at, word), ..]) => {
            let message = format!("`{word}` is no action{}", meant(word, ACTIONS));
            Err(wrong(*at, message, format!("use one of {}", ACTIONS.join(", "))))
        }
        _ => {
            let form = FORM[usize::from(version == 3)];
            let message = format!("`{line}` has no file and action");
            Err(wrong(0, message, format!("a line is {form}")))
        }
    }
}

fn number(at: usize, word: &str, what: &str) -> Result<u64, Wrong> {
    let plain = word.bytes().all(|byte| byte.is_ascii_digit());
    let number = word.parse().ok().filter(|_| plain);
    number.ok_or_else(|| {
        let message = format!("`{word}` is no {what}");
        wrong(at, message, "write a plain number without a unit")
    })
}

#[cfg(test)]
mod tests;
