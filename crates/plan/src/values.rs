//! Values of a parsed text as types: the one way from TOML and JSON to plans, facts and reports.
//!
//! A reader for each format would be compiled for each type. This one reads the tree of values
//! that both formats have, and its mistakes are data with a place, from which sentences are made.

mod misfit;

use std::collections::BTreeSet;
use std::iter::Enumerate;
use std::slice;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Value, map};

use crate::{PathStep, PlanPath};

pub use misfit::{Misfit, Mistake};

/// A JSON text as a value of a type.
///
/// # Errors
/// A sentence: the text is not JSON, or a value in it does not fit, with its place.
pub fn from_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    let tree: Value = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    from_tree(&tree).map_err(|misfit| misfit.to_string())
}

/// A tree of values as a value of a type.
///
/// # Errors
/// The first value that does not fit.
pub fn from_tree<T: DeserializeOwned>(tree: &Value) -> Result<T, Box<Misfit>> {
    from_rest(tree, &BTreeSet::new())
}

/// A tree without the entries in `struck`, as a value of a type.
///
/// # Errors
/// The first value that does not fit.
pub(crate) fn from_rest<T: DeserializeOwned>(
    tree: &Value,
    struck: &BTreeSet<PlanPath>,
) -> Result<T, Box<Misfit>> {
    T::deserialize(Reader { value: tree, at: &At { step: None, struck } })
}

/// The way to a value. It becomes a path only where a mistake needs one.
#[derive(Clone, Copy)]
struct At<'a> {
    /// The last step and the way before it; none at the root.
    step: Option<(PathStep<'a>, &'a At<'a>)>,
    struck: &'a BTreeSet<PlanPath>,
}

impl<'a> At<'a> {
    fn below(&'a self, step: PathStep<'a>) -> At<'a> {
        At { step: Some((step, self)), struck: self.struck }
    }

    fn path(&self) -> PlanPath {
        match self.step {
            None => PlanPath::root(),
            Some((PathStep::Key(key), parent)) => parent.path().key(key),
            Some((PathStep::Index(index), parent)) => parent.path().index(index),
        }
    }

    fn is_struck(&self) -> bool {
        !self.struck.is_empty() && self.struck.contains(&self.path())
    }
}

/// Reads one value.
#[derive(Clone, Copy)]
struct Reader<'t, 'a> {
    value: &'t Value,
    at: &'a At<'a>,
}

impl<'t> Reader<'t, '_> {
    /// Gives a mistake the place of this value, unless a value below has named its own.
    fn place<T>(self, read: Result<T, Box<Misfit>>) -> Result<T, Box<Misfit>> {
        read.map_err(|misfit| misfit.at(|| self.at.path()))
    }

    fn misfit(self, mistake: Mistake) -> Box<Misfit> {
        Box::new(Misfit { place: Some(self.at.path()), mistake })
    }
}

impl<'t> Deserializer<'t> for Reader<'t, '_> {
    type Error = Box<Misfit>;

    fn deserialize_any<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Box<Misfit>> {
        self.place(match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => visitor.visit_u64(number),
                (None, Some(number)) => visitor.visit_i64(number),
                (None, None) => visitor.visit_f64(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_str(text),
            Value::Array(elements) => {
                visitor.visit_seq(Elements { rest: elements.iter().enumerate(), at: self.at })
            }
            Value::Object(entries) => {
                visitor.visit_map(Entries { rest: entries.iter(), at: self.at, entry: None })
            }
        })
    }

    fn deserialize_option<V: Visitor<'t>>(self, visitor: V) -> Result<V::Value, Box<Misfit>> {
        if self.value.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Box<Misfit>> {
        self.place(visitor.visit_newtype_struct(self))
    }

    /// A table. A list, whose elements could be the fields in their order, is a mistake.
    fn deserialize_struct<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Misfit>> {
        if self.value.is_array() {
            return Err(self.misfit(Mistake::WrongType { expected: "a table".to_owned() }));
        }
        self.deserialize_any(visitor)
    }

    fn deserialize_enum<V: Visitor<'t>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Misfit>> {
        let (word, settings) = match self.value {
            Value::String(word) => (word, None),
            Value::Object(entries) => {
                let mut kept = entries
                    .iter()
                    .filter(|(key, _)| !self.at.below(PathStep::Key(key)).is_struck());
                match (kept.next(), kept.next()) {
                    (None, _) => return Err(self.misfit(Mistake::NoChoice)),
                    (Some((word, settings)), None) => (word, Some(settings)),
                    (Some(_), Some(_)) => return Err(self.misfit(Mistake::SeveralChoices)),
                }
            }
            _ => return Err(self.misfit(Mistake::NotAChoice)),
        };
        self.place(visitor.visit_enum(Choice { reader: self, word, settings }))
    }

    forward_to_deserialize_any! {
        <V: Visitor<'t>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

/// Elements of a list that were not struck out.
struct Elements<'t, 'a> {
    rest: Enumerate<slice::Iter<'t, Value>>,
    at: &'a At<'a>,
}

impl<'t> SeqAccess<'t> for Elements<'t, '_> {
    type Error = Box<Misfit>;

    fn next_element_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Box<Misfit>> {
        for (index, value) in &mut self.rest {
            let at = self.at.below(PathStep::Index(index));
            if !at.is_struck() {
                return seed.deserialize(Reader { value, at: &at }).map(Some);
            }
        }
        Ok(None)
    }

    fn size_hint(&self) -> Option<usize> {
        self.rest.size_hint().1
    }
}

/// Entries of a table that were not struck out.
struct Entries<'t, 'a> {
    rest: map::Iter<'t>,
    at: &'a At<'a>,
    /// The entry whose key was read last.
    entry: Option<(&'t str, &'t Value)>,
}

impl<'t> MapAccess<'t> for Entries<'t, '_> {
    type Error = Box<Misfit>;

    fn next_key_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Box<Misfit>> {
        for (key, value) in &mut self.rest {
            let at = self.at.below(PathStep::Key(key));
            if !at.is_struck() {
                self.entry = Some((key, value));
                return read_key(seed, key, &at).map(Some);
            }
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'t>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Box<Misfit>> {
        let Some((key, value)) = self.entry.take() else {
            return Err(Error::custom("a value was requested before its key"));
        };
        seed.deserialize(Reader { value, at: &self.at.below(PathStep::Key(key)) })
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

fn read_key<'t, S: DeserializeSeed<'t>>(
    seed: S,
    key: &str,
    at: &At<'_>,
) -> Result<S::Value, Box<Misfit>> {
    seed.deserialize(StrDeserializer::new(key))
        .map_err(|misfit: Box<Misfit>| misfit.of_key(at.path()))
}

/// One of several choices: a word, or a table of one word and its settings.
struct Choice<'t, 'a> {
    reader: Reader<'t, 'a>,
    word: &'t str,
    settings: Option<&'t Value>,
}

impl<'t, 'a> EnumAccess<'t> for Choice<'t, 'a> {
    type Error = Box<Misfit>;
    type Variant = Settings<'t, 'a>;

    fn variant_seed<S: DeserializeSeed<'t>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Settings<'t, 'a>), Box<Misfit>> {
        let at = self.reader.at;
        let variant = match self.settings {
            None => seed.deserialize(StrDeserializer::<Box<Misfit>>::new(self.word))?,
            Some(_) => read_key(seed, self.word, &at.below(PathStep::Key(self.word)))?,
        };
        Ok((variant, Settings { at, word: self.word, value: self.settings }))
    }
}

/// The settings of a choice.
struct Settings<'t, 'a> {
    at: &'a At<'a>,
    word: &'t str,
    value: Option<&'t Value>,
}

impl<'t> Settings<'t, '_> {
    fn read<T>(
        self,
        read: impl FnOnce(Reader<'t, '_>) -> Result<T, Box<Misfit>>,
    ) -> Result<T, Box<Misfit>> {
        let Some(value) = self.value else {
            return Err(Mistake::NoSettings.into());
        };
        read(Reader { value, at: &self.at.below(PathStep::Key(self.word)) })
    }
}

impl<'t> VariantAccess<'t> for Settings<'t, '_> {
    type Error = Box<Misfit>;

    fn unit_variant(self) -> Result<(), Box<Misfit>> {
        match self.value {
            None | Some(Value::Null) => Ok(()),
            Some(Value::Object(entries)) if entries.is_empty() => Ok(()),
            Some(_) => self.read(|reader| Err(reader.misfit(Mistake::NoSuchSettings))),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'t>>(
        self,
        seed: S,
    ) -> Result<S::Value, Box<Misfit>> {
        self.read(|reader| seed.deserialize(reader))
    }

    fn tuple_variant<V: Visitor<'t>>(self, _: usize, visitor: V) -> Result<V::Value, Box<Misfit>> {
        self.read(|reader| reader.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'t>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Box<Misfit>> {
        self.read(|reader| reader.deserialize_struct("", fields, visitor))
    }
}

#[cfg(test)]
mod tests;
