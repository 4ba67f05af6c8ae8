//! Questions to the kernel and their answers, as a text that people and tests can read.
//!
//! One line per question: `what path answer`, or `no what path` where there was no answer. In
//! paths, blanks are written as `\040`, as the kernel does in its mount table. Answers of several
//! lines follow their question, each line after a bar. `#` begins a comment.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use candor_plan::{PathText, path_of};

use crate::source::parse::{escape, unescape};

/// First words of a bundle, with the version of its form.
const TITLE: &str = "candor inspect --record, form 1";

const COMMENTS: &str = "\
# What the kernel answered when `candor inspect` asked, and the facts that came out of it.
# `candor inspect --replay` shows this host elsewhere. It names paths, mounts with their options,
# servers and interfaces; serial numbers, the host's name and contents of files are not in it.
";

/// Question about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ask {
    /// The text of a file, without blanks around it.
    Text,
    /// Whether a file can be read.
    Reads,
    /// Whether anything is there.
    There,
    /// The names in a directory, each on a line.
    Names,
    /// Where a symbolic link points.
    Link,
    /// The path without any links.
    Real,
    /// Result of `statx`.
    Stat,
    /// Result of `statvfs`.
    Space,
    /// Where a device ends.
    End,
    /// Result of FIEMAP.
    Extents,
    /// Attributes of a file, as `chattr` sets them.
    Attributes,
    /// Mapping of a device of the device mapper, target by target.
    Table,
    /// An answer of this process or its libraries, about no path.
    Own,
}

impl Ask {
    const ALL: [(Ask, &'static str); 13] = [
        (Ask::Text, "text"),
        (Ask::Reads, "reads"),
        (Ask::There, "there"),
        (Ask::Names, "names"),
        (Ask::Link, "link"),
        (Ask::Real, "real"),
        (Ask::Stat, "about"),
        (Ask::Space, "space"),
        (Ask::End, "end"),
        (Ask::Extents, "extents"),
        (Ask::Attributes, "attributes"),
        (Ask::Table, "table"),
        (Ask::Own, "own"),
    ];

    fn word(self) -> &'static str {
        Ask::ALL.iter().find(|(ask, _)| *ask == self).map_or("", |(_, word)| word)
    }

    fn of_word(word: &str) -> Option<Ask> {
        Ask::ALL.iter().find(|(_, name)| *name == word).map(|(ask, _)| *ask)
    }
}

/// An answer, as text.
pub(crate) type Answer = String;

/// A question with the number of lines of its answer that were read.
type Question = ((PathBuf, Ask), usize);

/// Everything that was asked for one inspection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    /// The version of candor that asked.
    pub candor: String,
    /// Kernel release.
    pub kernel: String,
    /// The targets: name and path.
    pub targets: Vec<(String, PathBuf)>,
    answers: BTreeMap<(PathBuf, Ask), Option<Answer>>,
    /// The facts that came out of it, as JSON.
    pub facts: String,
}

impl Bundle {
    /// The answer; absent if that was not asked.
    pub(crate) fn answer(&self, ask: Ask, about: &Path) -> Option<Option<Answer>> {
        self.answers.get(&(about.to_path_buf(), ask)).cloned()
    }

    pub(crate) fn record(&mut self, ask: Ask, about: &Path, answer: Option<Answer>) {
        self.answers.insert((about.to_path_buf(), ask), answer);
    }

    /// Reads a bundle.
    ///
    /// # Errors
    /// A sentence about the first line that is none of a bundle.
    pub fn read(text: &str) -> Result<Bundle, String> {
        let mut lines = text.split('\n').enumerate();
        let title = lines.next().map_or("", |(_, line)| line);
        if title != TITLE {
            return Err(format!("line 1 is `{}`, and a bundle begins with `{TITLE}`", cut(title)));
        }
        let mut bundle = Bundle::default();
        let mut last = None;
        while let Some((index, line)) = lines.next() {
            if line == "facts" {
                bundle.facts = lines.map(|(_, line)| line).collect::<Vec<_>>().join("\n");
                return Ok(bundle);
            }
            bundle
                .line(line, &mut last)
                .map_err(|why| format!("line {} is `{}`, and {why}", index + 1, cut(line)))?;
        }
        Err("it ends before its facts: the line `facts` is missing".to_owned())
    }

    /// One line; `last` is the question that lines after a bar answer, and how many did.
    fn line(&mut self, line: &str, last: &mut Option<Question>) -> Result<(), &'static str> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        if let Some(more) = line.strip_prefix('|') {
            let (key, lines) = last.as_mut().ok_or("no question precedes it")?;
            let answer = self.answers.entry(key.clone()).or_default().get_or_insert_default();
            if *lines > 0 {
                answer.push('\n');
            }
            *lines += 1;
            answer.push_str(more.strip_prefix(' ').unwrap_or(more));
            return Ok(());
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let (first, answer) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            "candor" => self.candor = rest.to_owned(),
            "kernel" => self.kernel = rest.to_owned(),
            "target" => self.targets.push((unescape(first), path_of(&unescape(answer)))),
            "no" => {
                let ask = Ask::of_word(first).ok_or(UNKNOWN)?;
                self.answers.insert((path_of(&unescape(answer)), ask), None);
            }
            _ => {
                let key = (path_of(&unescape(first)), Ask::of_word(word).ok_or(UNKNOWN)?);
                self.answers.insert(key.clone(), Some(answer.to_owned()));
                *last = Some((key, 0));
            }
        }
        Ok(())
    }
}

const UNKNOWN: &str = "this version of candor knows no such question";

fn cut(line: &str) -> String {
    line.chars().take(60).collect()
}

impl std::fmt::Display for Bundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{TITLE}\n{COMMENTS}candor {}\nkernel {}\n", self.candor, self.kernel)?;
        for (name, path) in &self.targets {
            writeln!(f, "target {} {}", escape(name), escaped(path))?;
        }
        for ((about, ask), answer) in &self.answers {
            f.write_str(&answered(*ask, &escaped(about), answer.as_deref()))?;
        }
        write!(f, "facts\n{}", self.facts)
    }
}

fn escaped(path: &Path) -> String {
    escape(&path.text())
}

fn answered(ask: Ask, about: &str, answer: Option<&str>) -> String {
    let word = ask.word();
    match answer {
        None => format!("no {word} {about}\n"),
        Some("") => format!("{word} {about}\n"),
        Some(text) if !text.contains('\n') => format!("{word} {about} {text}\n"),
        Some(text) => {
            let mut lines = format!("{word} {about}\n");
            for line in text.split('\n') {
                let blank = if line.is_empty() { "" } else { " " };
                // Writing into a string cannot fail.
                let _ = writeln!(lines, "|{blank}{line}");
            }
            lines
        }
    }
}
