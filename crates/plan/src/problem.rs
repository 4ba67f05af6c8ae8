//! Problems of a plan, each with its place in the user's text.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

/// A text that a plan came from, with the place of every value in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// File name, or `command line`.
    pub name: String,
    /// The text.
    pub text: String,
    /// Byte ranges of `text` by place.
    pub spans: BTreeMap<PlanPath, Range<usize>>,
}

impl Source {
    /// The narrowest range known for `place`: its own, else its nearest ancestor's.
    pub fn span(&self, place: &PlanPath) -> Option<Range<usize>> {
        let mut place = place.clone();
        loop {
            if let Some(span) = self.spans.get(&place) {
                return Some(span.clone());
            }
            place = place.parent()?;
        }
    }

    /// Line and column of a byte offset, both counted from 1, columns in characters.
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let before = &self.text[..self.text.floor_char_boundary(offset)];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// The source of a plan that was given as words of a command line, and the range of each word
    /// in its text. The reader of the words adds the place of each range to `spans`.
    pub fn command_line<S: AsRef<str>>(
        words: impl IntoIterator<Item = S>,
    ) -> (Self, Vec<Range<usize>>) {
        let mut source = Source { name: "command line".to_owned(), ..Source::default() };
        let mut ranges = Vec::new();
        for word in words {
            if !source.text.is_empty() {
                source.text.push(' ');
            }
            let start = source.text.len();
            // A line break within a word would make two lines of one command line.
            source.text.push_str(&word.as_ref().replace('\n', " "));
            ranges.push(start..source.text.len());
        }
        (source, ranges)
    }
}

/// A place in a plan, as a path of keys and indices: `phase[0].job[1].work.blocks.depth`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlanPath(String);

impl PlanPath {
    /// The plan itself.
    pub fn root() -> Self {
        PlanPath::default()
    }

    /// The value of `key` in the table at this place.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        if self.0.is_empty() {
            PlanPath(key.to_owned())
        } else {
            PlanPath(format!("{}.{key}", self.0))
        }
    }

    /// The `index`-th element of the array at this place.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        PlanPath(format!("{}[{index}]", self.0))
    }

    /// The place that contains this one.
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        let cut = self.0.rfind(['.', '[']).unwrap_or(0);
        Some(PlanPath(self.0[..cut].to_owned()))
    }

    /// The steps from the plan to this place.
    pub fn steps(&self) -> impl Iterator<Item = PathStep<'_>> {
        let parts = self.0.split(['.', '[']).filter(|_| !self.0.is_empty());
        parts.map(|part| {
            let index = part.strip_suffix(']').and_then(|index| index.parse().ok());
            index.map_or(PathStep::Key(part), PathStep::Index)
        })
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One step on the way to a place of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// To the value of a key.
    Key(&'a str),
    /// To an element of a list.
    Index(usize),
}

impl From<&str> for PlanPath {
    fn from(path: &str) -> Self {
        PlanPath(path.to_owned())
    }
}

impl fmt::Display for PlanPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The plan runs, but not as the user may think.
    Warning,
    /// The plan cannot run.
    Error,
}

/// One thing wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// How bad it is.
    pub severity: Severity,
    /// Stable short name of the rule that was broken, such as `depth-sync`.
    pub rule: &'static str,
    /// Where in the plan.
    pub place: PlanPath,
    /// The problem, with the value.
    pub message: String,
    /// The remedy.
    pub remedy: String,
}

impl Problem {
    /// A problem that keeps the plan from running.
    pub fn error(
        rule: &'static str,
        place: PlanPath,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Problem {
            severity: Severity::Error,
            rule,
            place,
            message: message.into(),
            remedy: remedy.into(),
        }
    }

    /// A problem that lets the plan run.
    pub fn warning(
        rule: &'static str,
        place: PlanPath,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Problem { severity: Severity::Warning, ..Problem::error(rule, place, message, remedy) }
    }

    /// True where the plan cannot run because of it.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_as_it_was_made() {
        use PathStep::{Index, Key};
        let place = PlanPath::root().key("phase").index(10).key("stop").key("time");
        let steps: Vec<PathStep> = place.steps().collect();
        assert_eq!(steps, [Key("phase"), Index(10), Key("stop"), Key("time")]);
        assert_eq!(PlanPath::root().steps().next(), None);
        let odd = PlanPath::from("job[x].a");
        assert_eq!(odd.steps().collect::<Vec<_>>(), [Key("job"), Key("x]"), Key("a")]);
    }

    impl Source {
        /// Line and column where `place`, or its nearest known ancestor, begins.
        pub(crate) fn position(&self, place: &PlanPath) -> Option<(usize, usize)> {
            self.span(place).map(|span| self.line_column(span.start))
        }

        /// A problem on one line: `file:line:column: message`.
        pub(crate) fn describe(&self, problem: &Problem) -> String {
            match self.position(&problem.place) {
                Some((line, column)) => {
                    format!("{}:{line}:{column}: {}", self.name, problem.message)
                }
                None => format!("{}: {}", self.name, problem.message),
            }
        }
    }

    #[test]
    fn lines_and_columns_count_from_one_in_characters() {
        let source = Source { text: "aµb\ncd".into(), ..Source::default() };
        for (offset, expected) in
            [(0, (1, 1)), (1, (1, 2)), (2, (1, 2)), (3, (1, 3)), (5, (2, 1)), (99, (2, 3))]
        {
            assert_eq!(source.line_column(offset), expected, "{offset}");
        }
    }

    #[test]
    fn a_place_without_a_range_takes_its_ancestors() {
        let mut source = Source { text: "one two".into(), ..Source::default() };
        source.spans.insert(PlanPath::from("phase[0]"), 4..7);
        let place = PlanPath::root().key("phase").index(0).key("job").index(1).key("blocks");
        assert_eq!(source.span(&place), Some(4..7));
        assert_eq!(source.position(&place), Some((1, 5)));
        assert_eq!(source.span(&PlanPath::from("target[0]")), None);
    }

    #[test]
    fn a_command_line_knows_its_words() {
        let (mut source, ranges) = Source::command_line(["--size", "4q"]);
        source.spans.insert(PlanPath::from("phase[0].job[0].work.blocks.size"), ranges[1].clone());
        let place = PlanPath::from("phase[0].job[0].work.blocks.size");
        let problem = Problem::error("value", place, "`4q` is not a size", "write 4k");
        assert_eq!(source.describe(&problem), "command line:1:8: `4q` is not a size");
    }
}
