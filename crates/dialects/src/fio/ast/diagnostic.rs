//! What is wrong with words, and what to do about it.

use super::text::{Span, Texts};

/// One thing wrong with what was written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Diagnostic {
    /// Where; `None` where no word stands for it.
    pub at: Option<Span>,
    /// Stable short name of the rule that was broken, such as `size`.
    pub rule: &'static str,
    /// The offending word as written; empty where there is none.
    pub word: String,
    /// What is wrong, with the value, in one sentence without a full stop.
    pub message: String,
    /// The valid word nearest to the offending one.
    pub nearest: Option<String>,
    /// What to do about it; may be empty.
    pub remedy: String,
    /// What fio says of it, where scripts are known to look for that; else empty.
    pub known_as: String,
}

impl Diagnostic {
    /// A diagnostic at a place.
    pub fn new(at: Span, rule: &'static str, word: &str, message: impl Into<String>) -> Self {
        Diagnostic {
            at: Some(at),
            rule,
            word: word.to_owned(),
            message: message.into(),
            nearest: None,
            remedy: String::new(),
            known_as: String::new(),
        }
    }

    /// A diagnostic that has no place, such as a command line that names no job.
    pub fn nowhere(rule: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            at: None,
            rule,
            word: String::new(),
            message: message.into(),
            nearest: None,
            remedy: String::new(),
            known_as: String::new(),
        }
    }

    /// With what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// With what fio says of it.
    #[must_use]
    pub fn known_as(mut self, words: impl Into<String>) -> Self {
        self.known_as = words.into();
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
        if !self.known_as.is_empty() {
            line.push_str(&format!(" (fio: {})", self.known_as));
        }
        let snippet = self.at.map_or("", |at| texts.snippet(at));
        if self.word.is_empty() && snippet.contains("${") {
            line.push_str(&format!(" (`{snippet}` stands there: is it set?)"));
        }
        // Control characters would end up on a terminal.
        let escaped = |c: char| match c.is_control() {
            true => c.escape_default().collect(),
            false => c.to_string(),
        };
        line.chars().map(escaped).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_told_on_one_line() {
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
        let nothing = texts.add("a.fio", "rw=${RW}");
        let unset =
            Diagnostic::new(Span { text: nothing, start: 3, end: 8 }, "value", "", "no value");
        let told = "a.fio:1:4: no value (`${RW}` stands there: is it set?)";
        assert_eq!(unset.describe(&texts), told);
        let nowhere = Diagnostic::nowhere("no-job", "no job").remedy("give one");
        assert_eq!(nowhere.describe(&texts), "no job; give one");
        let known = nowhere.known_as("No job(s) defined");
        assert_eq!(known.describe(&texts), "no job; give one (fio: No job(s) defined)");
    }
}
