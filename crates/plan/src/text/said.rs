//! Values that do not fit a plan, in words for people.

use crate::values::Mistake;
use crate::{PlanPath, Problem, nearest};

use super::tree::Node;

/// A mistake in a text.
pub(super) struct Complaint<'a> {
    /// The mistake.
    pub mistake: Mistake,
    /// Where in the plan.
    pub place: &'a PlanPath,
    /// Where in the text.
    pub node: &'a Node,
    /// Text of the node's value.
    pub found: &'a str,
}

impl Complaint<'_> {
    /// The problem in plain words.
    pub fn problem(&self) -> Problem {
        let name = quoted(self.name());
        match &self.mistake {
            Mistake::UnknownKey { key, known } => {
                self.unknown("unknown-key", format!("unknown key `{}`", cut(key)), key, known)
            }
            Mistake::UnknownChoice { word, known } => {
                let message = format!("{name} cannot be `{}`", cut(word));
                self.unknown("unknown-choice", message, word, known)
            }
            Mistake::MissingKey(key) => {
                let remedy = match *key {
                    "work" => "add a section such as [phase.job.work.blocks]".to_owned(),
                    _ => format!("add {key} = …"),
                };
                self.error("missing", format!("{name} needs `{key}`"), remedy)
            }
            Mistake::NoSettings => {
                let choice = self.found.trim_matches(['"', '\'']);
                let message =
                    format!("{} = {} needs the settings of {choice}", self.name(), self.found);
                self.error("missing", message, format!("write {{ {choice} = {{ … }} }}"))
            }
            Mistake::NotAChoice => {
                self.one_choice(format!("{name} is a word or a table, not {}", self.got()))
            }
            Mistake::NoSuchSettings => self.one_choice(format!("{name} has no settings")),
            Mistake::SeveralChoices => self.one_choice(format!("{name} is given more than once")),
            Mistake::NoChoice => self.one_choice(format!("{name} is empty")),
            Mistake::WrongType { expected } => self.wrong_type(expected),
            Mistake::Refused(sentence) => self.refused(sentence),
        }
    }

    fn one_choice(&self, message: String) -> Problem {
        self.error("type", message, "name one choice".into())
    }

    /// True if this can be the mere consequence of something having been struck out below.
    pub fn may_be_echo(&self) -> bool {
        match &self.mistake {
            Mistake::MissingKey(_) | Mistake::NoChoice => true,
            Mistake::Refused(sentence) => sentence.contains("the table is empty"),
            _ => false,
        }
    }

    fn error(&self, rule: &'static str, message: String, remedy: String) -> Problem {
        Problem::error(rule, self.place.clone(), message, remedy)
    }

    /// The last key on the way to the node: what the user would call it.
    fn name(&self) -> &str {
        last_key(self.place)
    }

    /// A word that is not among the known ones.
    fn unknown(&self, rule: &'static str, message: String, word: &str, known: &[&str]) -> Problem {
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
        self.error(rule, message, remedy)
    }

    fn wrong_type(&self, expected: &str) -> Problem {
        let subject = match self.node.key {
            Some(_) => quoted(self.name()),
            None => format!("an entry of {}", quoted(self.name())),
        };
        let message = format!("{subject} is {}, not {}", expectation(expected), self.got());
        self.error("type", message, self.type_remedy(expected))
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
            e if is_table(e) && self.node.key.is_none() => "write { … }".into(),
            e if is_table(e) => format!("write {name} = {{ … }}"),
            e if e.starts_with("a time") && self.node.kind.is_none() && !in_quotes => {
                format!("write {name} = \"{}s\" if it means seconds", cut(found))
            }
            _ => "write it in quotes, as in the example".into(),
        }
    }

    /// Sentences of the types: what is wrong, and what to do.
    fn refused(&self, sentence: &str) -> Problem {
        let (wrong, remedy) =
            sentence.rsplit_once("; ").unwrap_or((sentence, "see the description of plans"));
        self.error("value", format!("{}: {wrong}", self.name()), remedy.to_owned())
    }

    /// The value that was found instead.
    fn got(&self) -> String {
        match self.node.kind {
            Some(kind) => kind.to_owned(),
            None => cut(self.found),
        }
    }
}

/// True for the name that serde gives a table.
fn is_table(expected: &str) -> bool {
    expected == "a table" || expected.starts_with("struct ")
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
        other if is_table(other) => "a table",
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
