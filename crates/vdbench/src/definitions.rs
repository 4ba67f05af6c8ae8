//! Definitions of a parameter file: general parameters, hosts, replay groups, storage, workloads,
//! file systems and runs. Each is a struct with the table of its parameters.

pub mod commands;
pub mod dedup;
pub mod fsd;
pub mod fwd;
pub mod general;
pub mod host;
pub mod open_flags;
pub mod rate;
pub mod rd;
pub mod replay;
pub mod sd;
mod shared;
pub mod transfer;
pub mod validation;
pub mod wd;

use super::kind::Parameter;
use candor_front::{Given, Refused, Scope, Span, Table, Texts, Word};

/// Parameters of one kind of definition.
pub trait Defined: Clone + Default + 'static {
    /// The keyword that begins a definition; general parameters have none.
    const WORD: &'static str;
    /// Kind of definition, in a few words.
    const WHAT: &'static str;
    /// All parameters, in the order in which vdbench compares keywords.
    const TABLE: Table<Parameter<Self>>;
}

/// A definition as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition<O> {
    /// Name after the keyword.
    pub name: Word,
    /// The parameters.
    pub options: O,
    /// Parameters that were given, directly or as defaults.
    pub given: Given,
}

impl<O: Defined> Definition<O> {
    /// Combines the definition with the texts of its positions.
    pub fn in_texts<'a>(&'a self, texts: &'a Texts) -> Written<'a, O> {
        Written { definition: self, texts }
    }

    /// Position of a parameter, or of the definition if it was not given.
    pub fn at(&self, parameter: &str) -> Span {
        self.given.at(parameter).unwrap_or(self.name.at)
    }
}

/// A definition and the texts that it was written in.
pub struct Written<'a, O> {
    definition: &'a Definition<O>,
    texts: &'a Texts,
}

impl<O: Defined> Scope for Written<'_, O> {
    type Kind = Parameter<O>;
    const TOOL: &'static str = "vdbench";
    const TABLE: Table<Parameter<O>> = O::TABLE;

    fn given(&self) -> &Given {
        &self.definition.given
    }

    fn at(&self) -> Span {
        self.definition.name.at
    }

    fn name(&self) -> &str {
        &self.definition.name.text
    }

    fn texts(&self) -> &Texts {
        self.texts
    }
}

/// Stores a value that was read.
fn put<T>(place: &mut T, value: Result<T, Refused>) -> Result<(), Refused> {
    *place = value?;
    Ok(())
}

/// Stores a value that is absent without its parameter.
fn put_some<T>(place: &mut Option<T>, value: Result<T, Refused>) -> Result<(), Refused> {
    *place = Some(value?);
    Ok(())
}

/// Replaces definitions with `count=` by one per number, after all others, as vdbench does.
/// `change` sets the number of a copy.
fn counted<O: Clone>(
    all: &mut Vec<Definition<O>>,
    count: fn(&mut O) -> Option<(u64, u64)>,
    change: fn(&mut O, u64),
) {
    let mut copies = Vec::new();
    all.retain_mut(|definition| {
        let Some((first, number)) = count(&mut definition.options) else { return true };
        copies.extend((first..first + number).map(|number| {
            let mut copy = definition.clone();
            copy.name.text = numbered(&copy.name.text, number);
            change(&mut copy.options, number);
            copy
        }));
        false
    });
    all.extend(copies);
}

/// Adds a number to a name: in place of `*` or `%d`, or at its end.
fn numbered(name: &str, number: u64) -> String {
    if let Some((front, rest)) = name.split_once('%')
        && let Some((width, back)) = rest.split_once('d')
        && width.chars().all(|c| c.is_ascii_digit())
    {
        let digits: usize = width.parse().unwrap_or(0);
        return if width.starts_with('0') {
            format!("{front}{number:0digits$}{back}", digits = digits.min(20))
        } else {
            format!("{front}{number:digits$}{back}", digits = digits.min(20))
        };
    }
    if name.contains('*') {
        name.replace('*', &number.to_string())
    } else {
        format!("{name}{number}")
    }
}

#[cfg(test)]
mod tests;
