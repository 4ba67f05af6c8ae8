//! A diagnostic: what is wrong, where, and what to do about it.

use std::borrow::Cow;

use candor_plan::visible::visible;

use super::{Span, Texts};

/// The weight of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Nothing runs.
    Error,
    /// The text is read as the tool reads it, but perhaps not as meant.
    Warning,
}

/// One thing to say about what was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// The weight.
    pub severity: Severity,
    /// The place; `None` where no word stands for it.
    pub at: Option<Span>,
    /// Stable short name of the rule that was broken, such as `size`.
    pub rule: &'static str,
    /// The offending word as written; empty where there is none.
    pub word: String,
    /// The fault, with the value, in one sentence without a full stop.
    pub message: String,
    /// The valid word nearest to the offending one.
    pub nearest: Option<String>,
    /// The remedy; may be empty.
    pub remedy: String,
    /// The tool and its own words, where scripts are known to look for them; else empty.
    pub known_as: String,
    /// A likely cause, shown in parentheses; may be empty.
    pub hint: String,
}

impl Diagnostic {
    /// An error at a place.
    pub fn new(at: Span, rule: &'static str, word: &str, message: impl Into<String>) -> Self {
        let word = word.to_owned();
        Diagnostic { at: Some(at), word, ..Diagnostic::nowhere(rule, message) }
    }

    /// An error that has no place, such as a command line that names no job.
    pub fn nowhere(rule: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Error,
            at: None,
            rule,
            word: String::new(),
            message: message.into(),
            nearest: None,
            remedy: String::new(),
            known_as: String::new(),
            hint: String::new(),
        }
    }

    /// A warning at a place.
    pub fn warning(at: Span, rule: &'static str, message: impl Into<String>) -> Self {
        let severity = Severity::Warning;
        Diagnostic { severity, at: Some(at), ..Diagnostic::nowhere(rule, message) }
    }

    /// With a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// With the tool's own words, unless they are empty.
    #[must_use]
    pub fn known_as(mut self, tool: &str, words: &str) -> Self {
        if !words.is_empty() {
            self.known_as = format!("{tool}: {words}");
        }
        self
    }

    /// With the nearest valid word, where one is near enough.
    #[must_use]
    pub fn nearest<'a>(mut self, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        self.nearest = candor_plan::nearest(&self.word, candidates).map(str::to_owned);
        self
    }

    /// On one line, as compilers write it:
    /// `file:line:column: message; did you mean `x`? remedy`.
    pub fn describe(&self, texts: &Texts) -> String {
        let mut line = match self.at {
            Some(at) => format!("{}: {}", texts.location(at), self.message),
            None => self.message.clone(),
        };
        if let Some(near) = &self.nearest {
            line.push_str(&format!("; did you mean `{near}`?"));
        }
        match (&self.nearest, self.remedy.as_str()) {
            (_, "") => {}
            (Some(_), remedy) => line.push_str(&format!(" {remedy}")),
            (None, remedy) => line.push_str(&format!("; {remedy}")),
        }
        for aside in [&self.known_as, &self.hint] {
            if !aside.is_empty() {
                line.push_str(&format!(" ({aside})"));
            }
        }
        visible(&bounded(&line)).into_owned()
    }
}

/// Most characters of a diagnostic: a file that is no text may be one line of millions.
const SHOWN_MAX: usize = 2000;

/// The line, cut in its middle where it is too long: both ends say what is wrong.
fn bounded(line: &str) -> Cow<'_, str> {
    let count = line.chars().count();
    if count <= SHOWN_MAX {
        return Cow::Borrowed(line);
    }
    let head: String = line.chars().take(SHOWN_MAX / 2).collect();
    let tail: String = line.chars().skip(count - SHOWN_MAX / 2).collect();
    Cow::Owned(format!("{head}… {} more characters …{tail}", count - SHOWN_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_in_its_middle() {
        let line = format!("begin{}end", "é".repeat(1 << 20));
        let shown = bounded(&line);
        assert!(shown.starts_with("beginé") && shown.ends_with("éend"));
        assert!(shown.chars().count() < 2 * SHOWN_MAX, "{}", shown.len());
        assert_eq!(bounded("short"), "short");
    }

    #[test]
    fn a_mistake_is_reported_on_one_line() {
        let mut texts = Texts::default();
        texts.add("command line", "fio --nmae=x");
        let at = Span { text: 0, start: 4, end: 10 };
        let plain = Diagnostic::new(at, "option", "nmae", "`nmae` is no option");
        assert_eq!(plain.describe(&texts), "command line:1:5: `nmae` is no option");
        let full = plain.nearest(["name", "rw"]).remedy("see --cmdhelp");
        assert_eq!(
            full.describe(&texts),
            "command line:1:5: `nmae` is no option; did you mean `name`? see --cmdhelp"
        );
        let bell = Diagnostic::new(at, "option", "\u{7}", "`\u{7}\n` is no option");
        assert_eq!(bell.describe(&texts), "command line:1:5: `\\u{7}\\n` is no option");
        let nowhere = Diagnostic::nowhere("no-job", "no job").remedy("give one");
        assert_eq!(nowhere.describe(&texts), "no job; give one");
        let known = nowhere.known_as("fio", "No job(s) defined");
        let known = Diagnostic { hint: "is it set?".to_owned(), ..known };
        assert_eq!(
            known.describe(&texts),
            "no job; give one (fio: No job(s) defined) (is it set?)"
        );
    }
}
