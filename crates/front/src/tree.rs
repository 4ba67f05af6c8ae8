//! Documents of keys and values whose order is kept, for each tool to print in its own layout.

use serde::{Serialize, Serializer};

/// A value. Keys keep their order, which consumers that read line by line rely on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Tree {
    /// A whole number.
    Int(u64),
    /// A whole number that may be negative.
    Signed(i64),
    /// A number with decimals.
    Float(f64),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Tree>),
    /// Keys and values.
    Object(Object),
}

/// Keys and values in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Object(Vec<(String, Tree)>);

impl Object {
    /// Adds a key.
    pub fn put(&mut self, key: impl Into<String>, value: impl Into<Tree>) {
        self.0.push((key.into(), value.into()));
    }

    /// With one key more.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<Tree>) -> Object {
        self.put(key, value);
        self
    }

    /// True without a key.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The keys and values.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Tree)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries())
    }
}

impl From<u64> for Tree {
    fn from(value: u64) -> Tree {
        Tree::Int(value)
    }
}

impl From<i64> for Tree {
    fn from(value: i64) -> Tree {
        Tree::Signed(value)
    }
}

impl From<u32> for Tree {
    fn from(value: u32) -> Tree {
        Tree::Int(value.into())
    }
}

impl From<f64> for Tree {
    fn from(value: f64) -> Tree {
        Tree::Float(value)
    }
}

impl From<&str> for Tree {
    fn from(value: &str) -> Tree {
        Tree::Text(value.into())
    }
}

impl From<String> for Tree {
    fn from(value: String) -> Tree {
        Tree::Text(value)
    }
}

impl From<Object> for Tree {
    fn from(value: Object) -> Tree {
        Tree::Object(value)
    }
}

impl<T: Into<Tree>> From<Vec<T>> for Tree {
    fn from(values: Vec<T>) -> Tree {
        Tree::List(values.into_iter().map(Into::into).collect())
    }
}
