//! Which options were given, and where.

use std::collections::BTreeMap;

use crate::fio::ast::Span;

/// An option as it was given last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenOption {
    /// Its value; `None` for a bare option.
    pub value: Option<String>,
    /// Where its name stands.
    pub name_at: Span,
    /// Where its value stands, or its name where there is none.
    pub at: Span,
    /// It says what holds without it.
    pub is_default: bool,
}

/// The options that were given to a section, by their first names.
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
