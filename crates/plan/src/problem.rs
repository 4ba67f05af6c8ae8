//! What is wrong with a plan, and where in the user's text.

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
    pub spans: BTreeMap<Place, Range<usize>>,
}

impl Source {
    /// The narrowest range known for `place`: its own, else its nearest ancestor's.
    pub fn span(&self, place: &Place) -> Option<Range<usize>> {
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
}

/// A place in a plan, as a path of keys and indices: `phase[0].job[1].blocks.depth`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(String);

impl Place {
    /// The plan itself.
    pub fn root() -> Self {
        Place::default()
    }

    /// The value of `key` in the table at this place.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        match self.0.is_empty() {
            true => Place(key.to_owned()),
            false => Place(format!("{}.{key}", self.0)),
        }
    }

    /// The `index`-th element of the array at this place.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        Place(format!("{}[{index}]", self.0))
    }

    /// The place that contains this one.
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        let cut = self.0.rfind(['.', '[']).unwrap_or(0);
        Some(Place(self.0[..cut].to_owned()))
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Place {
    fn from(path: &str) -> Self {
        Place(path.to_owned())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How bad a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It runs, but not as the user may think.
    Warning,
    /// It cannot run.
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
    pub place: Place,
    /// What is wrong, with the value.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl Problem {
    /// A problem that keeps the plan from running.
    pub fn error(
        rule: &'static str,
        place: Place,
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
        place: Place,
        message: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Problem { severity: Severity::Warning, ..Problem::error(rule, place, message, remedy) }
    }
}
