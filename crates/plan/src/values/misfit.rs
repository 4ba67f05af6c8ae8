//! Values that do not fit their types.

use std::fmt;

use serde::de::{Expected, Unexpected};

use crate::PlanPath;

/// A value that does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The place; none until a reader on the way has named it.
    pub place: Option<PlanPath>,
    /// The mistake.
    pub mistake: Mistake,
}

/// A mistake in a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// No such key here.
    UnknownKey {
        /// The key.
        key: String,
        /// Keys that can be here.
        known: &'static [&'static str],
    },
    /// No such choice.
    UnknownChoice {
        /// The word.
        word: String,
        /// Words that can be here.
        known: &'static [&'static str],
    },
    /// The table has no such key, and needs it.
    MissingKey(&'static str),
    /// The choice has no settings, and needs them.
    NoSettings,
    /// The choice has settings, and takes none.
    NoSuchSettings,
    /// Neither a word nor a table of one word.
    NotAChoice,
    /// A table without a word, where a choice is needed.
    NoChoice,
    /// A table of several words, where one choice is needed.
    SeveralChoices,
    /// A value of another type, or out of range.
    WrongType {
        /// The name of the type that is needed, or words for it.
        expected: String,
    },
    /// A sentence of the type that refuses the value.
    Refused(String),
}

impl Misfit {
    /// The mistake at a place, unless it has one.
    pub(super) fn at(mut self: Box<Self>, place: impl FnOnce() -> PlanPath) -> Box<Self> {
        self.place.get_or_insert_with(place);
        self
    }

    /// The mistake of a key at a place.
    pub(super) fn of_key(mut self: Box<Self>, place: PlanPath) -> Box<Self> {
        self.place = Some(place);
        if let Mistake::UnknownChoice { word, known } = self.mistake {
            self.mistake = Mistake::UnknownKey { key: word, known };
        }
        self
    }
}

impl From<Mistake> for Box<Misfit> {
    fn from(mistake: Mistake) -> Self {
        Box::new(Misfit { place: None, mistake })
    }
}

impl serde::de::Error for Box<Misfit> {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Mistake::Refused(message.to_string()).into()
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Mistake::WrongType { expected: expected.to_string() }.into()
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Mistake::WrongType { expected: expected.to_string() }.into()
    }

    fn unknown_variant(word: &str, known: &'static [&'static str]) -> Self {
        Mistake::UnknownChoice { word: word.to_owned(), known }.into()
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Mistake::UnknownKey { key: key.to_owned(), known }.into()
    }

    fn missing_field(key: &'static str) -> Self {
        Mistake::MissingKey(key).into()
    }
}

impl std::error::Error for Misfit {}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) if *place != PlanPath::root() => write!(f, "`{place}` {}", self.mistake),
            _ => write!(f, "the document {}", self.mistake),
        }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mistake::UnknownKey { .. } => f.write_str("is an unknown key"),
            Mistake::UnknownChoice { word, .. } => write!(f, "cannot be `{word}`"),
            Mistake::MissingKey(key) => write!(f, "needs `{key}`"),
            Mistake::NoSettings => f.write_str("needs the settings of its choice"),
            Mistake::NoSuchSettings => f.write_str("has no settings"),
            Mistake::NotAChoice => f.write_str("is not a word or a table of one word"),
            Mistake::NoChoice => f.write_str("is empty"),
            Mistake::SeveralChoices => f.write_str("is given more than once"),
            Mistake::WrongType { expected } => write!(f, "is not {expected}"),
            Mistake::Refused(sentence) => write!(f, "is refused: {sentence}"),
        }
    }
}
