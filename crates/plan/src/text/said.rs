//! Messages of serde about a value, in words for people.
//!
//! Serde gives its complaints as English only. They are taken apart here and nowhere else; the
//! snapshots in `text/tests.rs` change should a new serde word them differently, and a complaint
//! that is not understood is passed on as it is.

use crate::{PlanPath, Problem, nearest};

use super::tree::Node;

/// A complaint about a node.
pub(super) struct Complaint<'a> {
    /// Serde's message.
    pub message: &'a str,
    /// Node that the message is about.
    pub node: &'a Node,
    /// The message is about the node's key, not its value.
    pub about_key: bool,
    /// Text that stands at the node's value.
    pub found: &'a str,
}

impl Complaint<'_> {
    /// The problem in plain words.
    pub fn problem(&self) -> Problem {
        self.unknown_word()
            .or_else(|| self.missing())
            .or_else(|| self.bare_choice())
            .or_else(|| self.choice_form())
            .or_else(|| self.wrong_type())
            .unwrap_or_else(|| self.bad_value())
    }

    /// True if this can be the mere consequence of something having been struck out below.
    pub fn may_be_echo(&self) -> bool {
        let message = self.message;
        message.starts_with("missing field")
            || message.contains("found 0 elements")
            || message.contains("the table is empty")
    }

    fn error(&self, rule: &'static str, message: String, remedy: String) -> Problem {
        Problem::error(rule, self.node.place.clone(), message, remedy)
    }

    /// The last key on the way to the node: what the user would call it.
    fn name(&self) -> &str {
        last_key(&self.node.place)
    }

    /// ``unknown field `dept`, expected one of `depth`, `direct` `` and the same for variants.
    fn unknown_word(&self) -> Option<Problem> {
        let rest = self.message.strip_prefix("unknown ")?;
        let is_choice = rest.strip_prefix("variant `").is_some();
        let rest = rest.strip_prefix("variant `").or(rest.strip_prefix("field `"))?;
        let (word, expected) = rest
            .rsplit_once("`, expected ")
            .or_else(|| rest.rsplit_once("`, there are no ").map(|(word, _)| (word, "")))?;
        let known: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
        let (rule, message) = match is_choice && !self.about_key {
            true => {
                ("unknown-choice", format!("{} cannot be `{}`", quoted(self.name()), cut(word)))
            }
            false => ("unknown-key", format!("unknown key `{}`", cut(word))),
        };
        let meant = nearest(word, known.iter().copied());
        let message = match meant {
            Some(meant) => format!("{message}; did you mean `{meant}`?"),
            None => message,
        };
        let remedy = match (meant, known.is_empty()) {
            (Some(meant), _) => format!("write {meant}"),
            (None, false) => format!("known here: {}", known.join(", ")),
            (None, true) => "remove it".to_owned(),
        };
        Some(self.error(rule, message, remedy))
    }

    fn missing(&self) -> Option<Problem> {
        let key = self.message.strip_prefix("missing field `")?.strip_suffix('`')?;
        let message = format!("{} needs `{key}`", quoted(self.name()));
        let remedy = match key {
            "work" => "add a section such as [phase.job.work.blocks]".to_owned(),
            _ => format!("add {key} = …"),
        };
        Some(self.error("missing", message, remedy))
    }

    /// `access = "zipf"`, a choice without its settings.
    fn bare_choice(&self) -> Option<Problem> {
        let prefix = "invalid type: unit variant, expected ";
        self.message.strip_prefix(prefix)?;
        let choice = self.found.trim_matches(['"', '\'']);
        let message = format!("{} = {} needs the settings of {choice}", self.name(), self.found);
        Some(self.error("missing", message, format!("write {{ {choice} = {{ … }} }}")))
    }

    /// A choice that is neither a word nor a table of one word.
    fn choice_form(&self) -> Option<Problem> {
        let name = quoted(self.name());
        let message = match self.message {
            "wanted string or table" => format!("{name} is a word or a table, not {}", self.got()),
            "expected empty table" => format!("{name} has no settings"),
            m if m.contains("more than 1 element") => format!("{name} is given more than once"),
            m if m.contains("found 0 elements") => format!("{name} is empty"),
            _ => return None,
        };
        Some(self.error("type", message, "name one choice".to_owned()))
    }

    /// `invalid type: …, expected …` and `invalid value: …, expected …`.
    fn wrong_type(&self) -> Option<Problem> {
        let rest = self.message.strip_prefix("invalid ")?;
        let (_, expected) = rest.split_once(", expected ")?;
        let subject = match self.node.key {
            Some(_) => quoted(self.name()),
            None => format!("an entry of {}", quoted(self.name())),
        };
        let message = format!("{subject} is {}, not {}", expectation(expected), self.got());
        Some(self.error("type", message, self.type_remedy(expected)))
    }

    /// The remedy for a value of another type.
    fn type_remedy(&self, expected: &str) -> String {
        let (name, found) = (self.name(), self.found);
        let in_quotes = found.starts_with(['"', '\'']);
        match expected {
            "u8" | "u32" | "u64" | "i64" | "f64" if in_quotes => "write it without quotes".into(),
            "u8" | "u32" | "u64" if found.starts_with('-') => "write 0 or more".into(),
            "u8" | "u32" | "u64" | "i64" if found.contains('.') => "write a whole number".into(),
            "u8" | "u32" | "u64" | "i64" | "f64" if self.node.kind.is_none() => {
                "write a smaller number".into()
            }
            "a boolean" => "write true or false".into(),
            "a string" | "path string" => "put it in quotes".into(),
            "a sequence" if self.node.kind == Some("a table") && found.starts_with('[') => {
                format!("write [{}], with two brackets", cut(found))
            }
            "a sequence" => format!("write {name} = [ … ]"),
            e if e.starts_with("struct ") && self.node.key.is_none() => "write { … }".into(),
            e if e.starts_with("struct ") => format!("write {name} = {{ … }}"),
            e if e.starts_with("a time") && self.node.kind.is_none() && !in_quotes => {
                format!("write {name} = \"{}s\" if it means seconds", cut(found))
            }
            _ => "write it in quotes, as in the example".into(),
        }
    }

    /// Messages of our own types, `what is wrong; what to do`, and those not understood.
    fn bad_value(&self) -> Problem {
        match self.message.rsplit_once("; ") {
            Some((wrong, remedy)) => {
                let message = format!("{}: {wrong}", self.name());
                self.error("value", message, remedy.to_owned())
            }
            None => {
                let message = format!("{}: {}", self.name(), self.message);
                self.error("value", message, "see the description of plans".to_owned())
            }
        }
    }

    /// The value that was found instead.
    fn got(&self) -> String {
        match self.node.kind {
            Some(kind) => kind.to_owned(),
            None => cut(self.found),
        }
    }
}

/// The complaint about a list where a table is meant, which serde lets pass.
pub(super) fn list_for_table(place: &PlanPath) -> Problem {
    let name = last_key(place);
    let message = format!("{} is a table, not a list", quoted(name));
    Problem::error("type", place.clone(), message, format!("write {name} = {{ … }}"))
}

/// The expectation of serde, in plain words.
fn expectation(expected: &str) -> String {
    let words = match expected {
        "u8" => "a whole number from 0 to 255",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number of 0 or more",
        "i64" => "a whole number",
        "f64" => "a number",
        "a boolean" => "true or false",
        "a string" | "path string" => "a text in quotes",
        "a sequence" => "a list",
        "string or table" => "a word or a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    words.to_owned()
}

/// `plan` for the root, else the last key on the way to the place.
fn last_key(place: &PlanPath) -> &str {
    let path = place.as_str();
    let path = match path.rfind('[') {
        Some(bracket) if path.ends_with(']') => &path[..bracket],
        _ => path,
    };
    match path.rsplit('.').next() {
        Some(key) if !key.is_empty() => key,
        _ => "plan",
    }
}

fn quoted(name: &str) -> String {
    format!("`{}`", cut(name))
}

/// One line of at most 40 characters.
fn cut(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}
