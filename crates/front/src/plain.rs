//! A plain kind of values: each setter reads its own text.

use std::marker::PhantomData;

use super::{Applied, Choice, Refused, Row, Takes, ValueKind, row};

/// Reads the text of a value and stores it; the text of an option without a value is empty.
pub type Set<O> = fn(&mut O, &str) -> Result<(), Refused>;

/// Stores a value that needs no reading.
///
/// # Errors
/// None; setters return a result.
pub fn store<T>(place: &mut T, value: T) -> Result<(), Refused> {
    *place = value;
    Ok(())
}

/// Stores a text that is absent without the option.
///
/// # Errors
/// None; setters return a result.
pub fn store_text(place: &mut Option<String>, text: &str) -> Result<(), Refused> {
    store(place, Some(text.to_owned()))
}

/// Values that setters read themselves, for options that are gathered in an `O`.
pub struct Plain<O> {
    takes: Takes,
    choices: &'static [Choice],
    of: PhantomData<fn(&mut O)>,
}

impl<O> Plain<O> {
    /// A switch.
    pub const SWITCH: Self = Plain::new(Takes::Nothing, &[]);

    /// A value of this name.
    pub const fn value(name: &'static str) -> Self {
        Plain::new(Takes::One(name), &[])
    }

    /// A value of this name, or none.
    pub const fn maybe(name: &'static str) -> Self {
        Plain::new(Takes::Maybe(name), &[])
    }

    const fn new(takes: Takes, choices: &'static [Choice]) -> Self {
        Plain { takes, choices, of: PhantomData }
    }
}

impl<O: 'static> Row<Plain<O>> {
    /// An option with a value. A name of one letter is also its letter.
    pub const fn value(
        name: &'static str,
        form: &'static str,
        set: Set<O>,
        help: &'static str,
    ) -> Self {
        row(name, Plain::value(form), set, help).lettered()
    }

    /// An option whose value may be left out. A name of one letter is also its letter.
    pub const fn flag(
        name: &'static str,
        form: &'static str,
        set: Set<O>,
        help: &'static str,
    ) -> Self {
        row(name, Plain::maybe(form), set, help).lettered()
    }

    const fn lettered(self) -> Self {
        match self.name.as_bytes() {
            [letter] => self.letter(*letter as char),
            _ => self,
        }
    }
}

impl<O> Clone for Plain<O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Plain<O> {}

impl<O: 'static> ValueKind for Plain<O> {
    type Options = O;
    type Setter = Set<O>;
    const NOTHING: Set<O> = |_, _| Ok(());

    fn form(&self) -> String {
        match (self.takes, self.choices) {
            (_, [_, ..]) => {
                self.choices.iter().map(|choice| choice.word).collect::<Vec<_>>().join(", ")
            }
            (Takes::Nothing, _) => "nothing".to_owned(),
            (Takes::One(name), _) => name.to_owned(),
            (Takes::Maybe(name) | Takes::MaybeNext(name), _) => format!("{name}, or nothing"),
        }
    }

    fn choices(&self) -> &'static [Choice] {
        self.choices
    }

    fn takes(&self) -> Takes {
        self.takes
    }

    fn apply(row: &Row<Self>, options: &mut O, text: Option<&str>) -> Result<Applied, Refused> {
        (row.set)(options, text.unwrap_or_default())?;
        Ok(Applied { remark: None, is_default: text.is_some_and(|text| text == row.default) })
    }
}
