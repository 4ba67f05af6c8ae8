//! Lists of things with names, written as a map: `{"read": {…}, "fsync": {…}}`.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Something with a name that is its key when it is written.
pub trait Named {
    /// The name.
    fn name(&self) -> &str;
    /// Gives it a name.
    fn rename(&mut self, name: String);
}

/// Writes a list as a map, in the list's order.
///
/// # Errors
/// The serializer's.
pub fn serialize<T: Named + Serialize, S: Serializer>(
    list: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(list.len()))?;
    list.iter().try_for_each(|item| map.serialize_entry(item.name(), item))?;
    map.end()
}

/// Reads a map as a list, in the map's order.
///
/// # Errors
/// The deserializer's.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    T: Named + Deserialize<'de>,
    D: Deserializer<'de>,
{
    struct List<T>(PhantomData<T>);

    impl<'de, T: Named + Deserialize<'de>> Visitor<'de> for List<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<T>, A::Error> {
            let mut list = Vec::new();
            while let Some((name, mut item)) = map.next_entry::<String, T>()? {
                item.rename(name);
                list.push(item);
            }
            Ok(list)
        }
    }

    deserializer.deserialize_map(List(PhantomData))
}
