//! One value for every direction of I/O.

use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Op;

/// A value for each direction: written once for all, or as a table `{ read = …, write = … }`, in
/// which directions that are not given take the value of the first one that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerOp<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T: Default> Default for PerOp<T> {
    fn default() -> Self {
        PerOp { read: T::default(), write: T::default(), trim: T::default() }
    }
}

impl<T> PerOp<T> {
    /// The same for every direction.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        PerOp { read: value.clone(), write: value.clone(), trim: value }
    }

    /// The value for a direction.
    pub fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Trim => &self.trim,
        }
    }

    /// The value for a direction, to change it.
    pub fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Trim => &mut self.trim,
        }
    }

    /// Another value made of each.
    pub fn map<U>(self, make: impl Fn(T) -> U) -> PerOp<U> {
        PerOp { read: make(self.read), write: make(self.write), trim: make(self.trim) }
    }

    /// Values with their directions.
    pub fn iter(&self) -> impl Iterator<Item = (Op, &T)> {
        Op::ALL.into_iter().map(|op| (op, self.of(op)))
    }
}

impl<T: Serialize + PartialEq> Serialize for PerOp<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.read == self.write && self.write == self.trim {
            return self.read.serialize(serializer);
        }
        // Directions that are not given take the first one's value when this is read.
        let needed = self.iter().filter(|(op, value)| *op == Op::Read || **value != self.read);
        serializer.collect_map(needed.map(|(op, value)| (op.name(), value)))
    }
}

/// Writes every direction by name, for programs: `#[serde(serialize_with = "spelt_out")]`.
///
/// In a plan one value may stand for all directions; people write plans. Who reads a report
/// should not have to know that rule.
pub fn spelt_out<T: Serialize, S: Serializer>(
    per_op: &PerOp<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(per_op.iter().map(|(op, value)| (op.name(), value)))
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for PerOp<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PerOpVisitor(std::marker::PhantomData))
    }
}

struct PerOpVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de> + Clone> Visitor<'de> for PerOpVisitor<T> {
    type Value = PerOp<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value, or a table of read, write and trim")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(de::value::StrDeserializer::new(text)).map(PerOp::all)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        T::deserialize(de::value::U64Deserializer::new(number)).map(PerOp::all)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(de::value::I64Deserializer::new(number)).map(PerOp::all)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        T::deserialize(de::value::SeqAccessDeserializer::new(list)).map(PerOp::all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut given: PerOp<Option<T>> = PerOp::all(None);
        while let Some(op) = map.next_key::<Op>()? {
            *given.of_mut(op) = Some(map.next_value()?);
        }
        let first = given.read.clone().or(given.write.clone()).or(given.trim.clone());
        let first = first.ok_or_else(|| {
            de::Error::custom("the table is empty; give read, write or trim a value")
        })?;
        let or_first = |value: Option<T>| value.unwrap_or_else(|| first.clone());
        Ok(PerOp {
            read: or_first(given.read),
            write: or_first(given.write),
            trim: or_first(given.trim),
        })
    }
}
