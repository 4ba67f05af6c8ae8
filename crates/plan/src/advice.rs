//! Advice to the kernel about files and mappings.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{SeqAccessDeserializer, StrDeserializer};
use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Advice about a file (`posix_fadvise`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// Read ahead more.
    Sequential,
    /// Read nothing ahead.
    Random,
    /// Used once.
    Noreuse,
    /// Read all of it soon.
    Willneed,
    /// Drop the pages that are clean.
    Dontneed,
}

/// Advice about a mapping (`madvise`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum MapAdvice {
    /// Read ahead more.
    Sequential,
    /// Read nothing ahead.
    Random,
    /// Read all of it soon.
    Willneed,
    /// Drop the pages from the mapping.
    Dontneed,
    /// Map huge pages where the filesystem has them.
    Hugepage,
    /// Map ordinary pages only.
    Nohugepage,
}

impl Advice {
    /// The same about a mapping of the file, where there is such.
    pub fn of_map(self) -> Option<MapAdvice> {
        match self {
            Advice::Sequential => Some(MapAdvice::Sequential),
            Advice::Random => Some(MapAdvice::Random),
            Advice::Willneed => Some(MapAdvice::Willneed),
            Advice::Dontneed => Some(MapAdvice::Dontneed),
            Advice::Noreuse => None,
        }
    }
}

/// Pieces of advice, given in turn: `"random"`, `["random", "willneed"]`, or `"none"`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub struct Pieces<T>(pub Vec<T>);

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces(Vec::new())
    }
}

impl<T> Pieces<T> {
    /// One piece.
    pub fn one(piece: T) -> Pieces<T> {
        Pieces(vec![piece])
    }

    /// True where none is given.
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl Pieces<Advice> {
    /// The same about a mapping of the file.
    pub fn of_maps(&self) -> Vec<MapAdvice> {
        self.0.iter().filter_map(|piece| piece.of_map()).collect()
    }
}

/// The word for no advice.
const NONE: &str = "none";

impl<T: Serialize> Serialize for Pieces<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [] => serializer.serialize_str(NONE),
            [one] => one.serialize(serializer),
            all => all.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for Pieces<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("Pieces_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let piece = generator.subschema_for::<T>();
        json_schema!({
            "description": "none, one piece of advice, or a list of them, given in turn",
            "anyOf": [
                { "const": NONE },
                piece,
                { "type": "array", "items": piece },
            ],
        })
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pieces<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PiecesVisitor(PhantomData))
    }
}

struct PiecesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for PiecesVisitor<T> {
    type Value = Pieces<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a piece of advice, or a list of them")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        match text {
            NONE => Ok(Pieces::default()),
            piece => T::deserialize(StrDeserializer::new(piece)).map(Pieces::one),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_read_as_they_are_written() {
        for (text, pieces) in [
            ("\"none\"", vec![]),
            ("\"random\"", vec![Advice::Random]),
            ("[\"random\",\"willneed\"]", vec![Advice::Random, Advice::Willneed]),
        ] {
            let read: Pieces<Advice> = serde_json::from_str(text).expect("advice");
            assert_eq!(read.0, pieces);
            assert_eq!(serde_json::to_string(&read).expect("text"), text);
        }
        assert!(serde_json::from_str::<Pieces<Advice>>("\"hugepage\"").is_err());
        assert!(serde_json::from_str::<Pieces<Advice>>("true").is_err());
    }
}
