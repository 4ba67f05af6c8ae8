//! Which options were given, and where.

use std::collections::BTreeMap;

use super::{Diagnostic, Refused, Row, Span, Table, ValueKind, Word};

/// An option as it was given last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenOption {
    /// The value; `None` for a bare option.
    pub value: Option<String>,
    /// Where its name stands.
    pub name_at: Span,
    /// Where its value stands, or its name where there is none.
    pub at: Span,
    /// The value says what holds without it.
    pub is_default: bool,
}

/// The options that were given in a scope, by their first names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    options: BTreeMap<&'static str, GivenOption>,
}

impl Given {
    /// The option of that name, where it was given.
    pub fn get(&self, name: &str) -> Option<&GivenOption> {
        self.options.get(name)
    }

    /// True where it was given.
    pub fn has(&self, name: &str) -> bool {
        self.options.contains_key(name)
    }

    /// Where its value stands.
    pub fn at(&self, name: &str) -> Option<Span> {
        self.get(name).map(|option| option.at)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &GivenOption)> {
        self.options.iter().map(|(name, option)| (*name, option))
    }

    /// Remembers an option; what was given before is replaced.
    pub fn insert(&mut self, name: &'static str, option: GivenOption) {
        self.options.insert(name, option);
    }
}

/// `name=value`, or a bare `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The option, as written: it may be an alias, an abbreviation, or unknown.
    pub name: Word,
    /// The value; `None` for a bare option, an empty word for `name=`.
    pub value: Option<Word>,
}

impl Assignment {
    /// The place of the value, or of the name where there is none.
    pub fn value_at(&self) -> Span {
        self.value.as_ref().map_or(self.name.at, |value| value.at)
    }

    /// The value as text.
    pub fn text(&self) -> Option<&str> {
        self.value.as_ref().map(|value| value.text.as_str())
    }

    /// The diagnostic of a value that cannot be read, at the part that is at fault.
    pub fn refused(&self, name: &str, refused: &Refused) -> Diagnostic {
        let at = self.value_at();
        let text = self.text().unwrap_or_default();
        let part = &refused.part;
        // Only a word that stands as it is meant can be pointed into.
        let is_literal = at.range().len() == text.len() && part.end <= text.len();
        let at = if is_literal && !part.is_empty() {
            Span { start: at.start + part.start, end: at.start + part.end, ..at }
        } else {
            at
        };
        let word = text.get(part.clone()).unwrap_or(text);
        let message = format!("{name}: {}", refused.message);
        Diagnostic::new(at, "value", word, message).remedy(refused.remedy.clone())
    }
}

/// The result of an assignment.
pub struct Assigned<K: ValueKind> {
    /// The option.
    pub row: &'static Row<K>,
    /// The option as given.
    pub given: GivenOption,
    /// A remark on a value that is read as the tool does, but perhaps not as meant.
    pub remark: Option<Diagnostic>,
}

impl<K: ValueKind> Table<K> {
    /// Reads an assignment into the options; `list` says where all options are listed.
    ///
    /// # Errors
    /// There is no such option, or its value cannot be read.
    pub fn assign(
        &self,
        assignment: &Assignment,
        options: &mut K::Options,
        list: &str,
    ) -> Result<Assigned<K>, Box<Diagnostic>> {
        let Assignment { name, value } = assignment;
        let Some(row) = self.find(&name.text) else {
            let message = format!("there is no option `{}`", name.text);
            let unknown = Diagnostic::new(name.at, "unknown-option", &name.text, message);
            return Err(Box::new(unknown.nearest(self.names()).remedy(list)));
        };
        let applied = row
            .apply(options, assignment.text())
            .map_err(|refused| Box::new(assignment.refused(row.name, &refused)))?;
        let at = assignment.value_at();
        let given = GivenOption {
            value: value.as_ref().map(|value| value.text.clone()),
            name_at: name.at,
            at,
            is_default: applied.is_default,
        };
        let remark = applied.remark.map(|remark| Diagnostic::warning(at, "remark", remark));
        Ok(Assigned { row, given, remark })
    }
}
