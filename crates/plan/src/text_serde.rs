//! Values that people write as text, read and written by serde.

/// A value that people write as text, or as a bare number where that is unambiguous.
macro_rules! text_serde {
    ($type:ty, $expecting:literal, $from_number:expr) => {
        const _: () = {
            use std::borrow::Cow;
            use std::fmt;

            use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
            use serde::de::{self, Visitor};
            use serde::{Deserialize, Deserializer, Serialize, Serializer};

            impl Serialize for $type {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl JsonSchema for $type {
                fn schema_name() -> Cow<'static, str> {
                    stringify!($type).rsplit("::").next().unwrap_or_default().trim().into()
                }

                fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                    let make: fn(u64) -> Option<$type> = $from_number;
                    let mut schema = json_schema!({ "type": "string", "description": $expecting });
                    // Only readers accept numbers.
                    if generator.contract().is_deserialize() && make(0).is_some() {
                        schema.insert("type".into(), vec!["string", "integer"].into());
                        schema.insert("minimum".into(), 0.into());
                        if make(1).is_none() {
                            schema.insert("maximum".into(), 0.into());
                        }
                    }
                    schema
                }
            }

            impl<'de> Deserialize<'de> for $type {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    struct TextVisitor;
                    impl Visitor<'_> for TextVisitor {
                        type Value = $type;
                        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                            f.write_str($expecting)
                        }
                        fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                            text.parse().map_err(E::custom)
                        }
                        fn visit_u64<E: de::Error>(self, number: u64) -> Result<$type, E> {
                            let make: fn(u64) -> Option<$type> = $from_number;
                            make(number).ok_or_else(|| {
                                E::invalid_value(de::Unexpected::Unsigned(number), &self)
                            })
                        }
                        fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
                            u64::try_from(number)
                                .map_err(|_| {
                                    E::invalid_value(de::Unexpected::Signed(number), &self)
                                })
                                .and_then(|number| self.visit_u64(number))
                        }
                    }
                    deserializer.deserialize_any(TextVisitor)
                }
            }
        };
    };
}

pub(crate) use text_serde;
