//! Refusals and notes of options that candor does not do, or not quite.

use candor_record::Note;

use super::{Diagnostic, Given, GivenOption, Row, Support, Table, Texts, ValueKind};

/// Text instead of a secret.
const HIDDEN: &str = "***";

impl<K: ValueKind> Row<K> {
    /// A value for output: hidden if it is a secret.
    pub fn shown<'a>(&self, value: &'a str) -> &'a str {
        if self.is_secret { HIDDEN } else { value }
    }
}

/// `name=value`, as it was given.
fn as_written<K: ValueKind>(row: &Row<K>, given: &GivenOption) -> String {
    match given.value.as_deref().map(|value| row.shown(value)) {
        Some(value) => format!("{}={value}", row.name),
        None => row.name.to_owned(),
    }
}

/// The reason for the note on an option that means nothing next to the others.
fn without_effect<K: ValueKind>(row: &Row<K>) -> String {
    match row.parent {
        "" => "the other options leave it without effect".to_owned(),
        parent => format!("with {parent} as it is set, the option has no effect"),
    }
}

impl<K: ValueKind> Table<K> {
    /// The options that are set to something of their own, in the order of the table.
    fn set<'a>(
        &self,
        given: &'a Given,
    ) -> impl Iterator<Item = (&'static Row<K>, &'a GivenOption)> {
        self.rows().filter_map(|row| {
            let option = given.get(row.name)?;
            (!option.is_default).then_some((row, option))
        })
    }

    /// The words of a command line, with secrets hidden.
    pub fn without_secrets(&self, words: impl IntoIterator<Item = String>) -> Vec<String> {
        let mut follows = false;
        let words = words.into_iter().map(|word| {
            if std::mem::take(&mut follows) {
                return HIDDEN.to_owned();
            }
            let option = word.trim_start_matches('-');
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            let is_secret = self.find(name).is_some_and(|row| row.is_secret);
            if option.len() == word.len() || !is_secret {
                return word;
            }
            follows = name == option;
            word.strip_suffix(value)
                .filter(|_| !follows)
                .map_or(word.clone(), |begin| format!("{begin}{HIDDEN}"))
        });
        words.collect()
    }

    /// An error for each option that candor cannot do. Rows for which `spared` holds are refused
    /// elsewhere.
    pub fn refusals(
        &self,
        options: &K::Options,
        given: &Given,
        spared: impl Fn(&Row<K>) -> bool,
    ) -> Vec<Diagnostic> {
        let meant = self.set(given).filter(|(row, _)| (row.when)(options));
        let refused = meant.filter_map(|(row, option)| match row.support {
            Support::Refused(why) if !spared(row) => Some((row, option, why)),
            _ => None,
        });
        let diagnostic = |(row, option, why): (&Row<K>, &GivenOption, &str)| {
            let message = format!("{} is not done: {why}", as_written(row, option));
            Diagnostic::new(option.name_at, "unsupported", row.name, message).remedy("remove it")
        };
        refused.map(diagnostic).collect()
    }

    /// A note for each option that is done a little differently, or that the others leave without
    /// effect.
    pub fn notes(&self, options: &K::Options, given: &Given, texts: &Texts) -> Vec<Note> {
        let note = |(row, option): (&'static Row<K>, &GivenOption)| {
            let (did, why) = match row.support {
                Support::Idle(_) | Support::Refused(_) => return None,
                _ if !(row.when)(options) => ("nothing".to_owned(), without_effect(row)),
                Support::Approximate(_) if !(row.differs)(options) => return None,
                Support::Approximate(why) => (row.plan.to_owned(), why.to_owned()),
                Support::Exact => return None,
            };
            let place = Some(texts.location(option.name_at));
            Some(Note { asked: as_written(row, option), did, why, place })
        };
        self.set(given).filter_map(note).collect()
    }

    /// A refusal of an option for a reason that its row cannot know: the value, or what stands
    /// beside it.
    pub fn refusal(&self, given: &Given, name: &str, why: &str) -> Diagnostic {
        match given.get(name).zip(self.find(name)) {
            Some((option, row)) => {
                let message = format!("{} is not done: {why}", as_written(row, option));
                Diagnostic::new(option.at, "unsupported", name, message)
            }
            None => Diagnostic::nowhere("unsupported", format!("{name} is not done: {why}")),
        }
    }

    /// A note on an option for a reason that its row cannot know.
    pub fn note(&self, given: &Given, texts: &Texts, name: &str, did: &str, why: &str) -> Note {
        let option = given.get(name);
        let asked = match option.zip(self.find(name)) {
            Some((option, row)) => as_written(row, option),
            None => name.to_owned(),
        };
        let place = option.map(|option| texts.location(option.name_at));
        Note { asked, did: did.to_owned(), why: why.to_owned(), place }
    }
}
