//! One value for every direction of I/O.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Direction;

/// A value for each direction: written once for all, or as a table `{ read = …, write = … }`, in
/// which directions that are not given take the value of the first one that is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub struct PerDirection<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T> PerDirection<T> {
    /// The same for every direction.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        PerDirection { read: value.clone(), write: value.clone(), trim: value }
    }

    /// The value for a direction.
    pub fn of(&self, op: Direction) -> &T {
        match op {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
            Direction::Trim => &self.trim,
        }
    }

    /// The value for a direction, to change it.
    pub fn of_mut(&mut self, op: Direction) -> &mut T {
        match op {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
            Direction::Trim => &mut self.trim,
        }
    }

    /// Another value made of each.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> PerDirection<U> {
        PerDirection { read: make(self.read), write: make(self.write), trim: make(self.trim) }
    }

    /// Values with their directions.
    pub fn iter(&self) -> impl Iterator<Item = (Direction, &T)> {
        Direction::ALL.into_iter().map(|op| (op, self.of(op)))
    }
}

impl<T: Serialize + PartialEq> Serialize for PerDirection<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.read == self.write && self.write == self.trim {
            return self.read.serialize(serializer);
        }
        // Directions that are not given take the first one's value when this is read.
        let needed =
            self.iter().filter(|(op, value)| *op == Direction::Read || **value != self.read);
        serializer.collect_map(needed.map(|(op, value)| (op.name(), value)))
    }
}

impl<T: JsonSchema> JsonSchema for PerDirection<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("PerDirection_for_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({
            "description": "one value for all directions, or a table of directions, in which those \
                            that are not given have the value of the first one",
            "anyOf": [
                value,
                {
                    "type": "object",
                    "description": "by direction",
                    "properties": { "read": value, "write": value, "trim": value },
                    "additionalProperties": false,
                },
            ],
        })
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for PerDirection<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PerOpVisitor(std::marker::PhantomData))
    }
}

struct PerOpVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de> + Clone> Visitor<'de> for PerOpVisitor<T> {
    type Value = PerDirection<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value, or a table of read, write and trim")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(de::value::StrDeserializer::new(text)).map(PerDirection::all)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        T::deserialize(de::value::U64Deserializer::new(number)).map(PerDirection::all)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(de::value::I64Deserializer::new(number)).map(PerDirection::all)
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Self::Value, E> {
        T::deserialize(de::value::F64Deserializer::new(number)).map(PerDirection::all)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::deserialize(de::value::SeqAccessDeserializer::new(list)).map(PerDirection::all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut given: PerDirection<Option<T>> = PerDirection::all(None);
        while let Some(op) = map.next_key::<Direction>()? {
            *given.of_mut(op) = Some(map.next_value()?);
        }
        let first = given.read.clone().or(given.write.clone()).or(given.trim.clone());
        let first = first.ok_or_else(|| {
            de::Error::custom("the table is empty; give read, write or trim a value")
        })?;
        Ok(given.map(|value| value.unwrap_or_else(|| first.clone())))
    }
}
