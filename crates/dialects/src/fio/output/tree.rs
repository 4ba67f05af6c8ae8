//! JSON as fio lays it out: `"key" : value`, two spaces per level, six decimals.

use std::fmt::Write;

/// A value. Keys keep their order, which consumers that read line by line rely on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    /// A whole number.
    Int(u64),
    /// A number that fio prints with six decimals.
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
pub(super) struct Object(Vec<(String, Tree)>);

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

    /// The document: its braces stand alone on the first and on the last line.
    pub fn document(self) -> String {
        let mut text = String::new();
        print(&Tree::Object(self), 0, &mut text);
        text.push('\n');
        text
    }
}

impl From<u64> for Tree {
    fn from(value: u64) -> Tree {
        Tree::Int(value)
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

fn print(tree: &Tree, depth: usize, text: &mut String) {
    match tree {
        Tree::Int(value) => write!(text, "{value}").expect("memory"),
        // JSON has no word for what is no number; nothing here divides by zero, but a sum of
        // squares may overflow.
        Tree::Float(value) if !value.is_finite() => text.push_str("0.000000"),
        Tree::Float(value) => write!(text, "{value:.6}").expect("memory"),
        Tree::Text(value) => print_text(value, text),
        Tree::List(values) => {
            let entries = values.iter().map(|value| (None, value));
            print_all(('[', ']'), entries, depth, text);
        }
        Tree::Object(Object(entries)) => {
            let entries = entries.iter().map(|(key, value)| (Some(key.as_str()), value));
            print_all(('{', '}'), entries, depth, text);
        }
    }
}

fn print_all<'a>(
    brackets: (char, char),
    entries: impl Iterator<Item = (Option<&'a str>, &'a Tree)>,
    depth: usize,
    text: &mut String,
) {
    let indent = |text: &mut String, depth: usize| text.extend(std::iter::repeat_n("  ", depth));
    text.push(brackets.0);
    for (at, (key, value)) in entries.enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        indent(text, depth + 1);
        if let Some(key) = key {
            print_text(key, text);
            text.push_str(" : ");
        }
        print(value, depth + 1, text);
    }
    text.push('\n');
    indent(text, depth);
    text.push(brackets.1);
}

fn print_text(value: &str, text: &mut String) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\r' => text.push_str("\\r"),
            c if c.is_control() => write!(text, "\\u{:04x}", u32::from(c)).expect("memory"),
            c => text.push(c),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_layout_is_fios() {
        let inner = Object::default().with("N", 3u64).with("mean", 1.5);
        let document = Object::default()
            .with("fio version", "fio-3.33")
            .with("jobs", vec![inner])
            .with("none", Object::default())
            .document();
        let expected = [
            "{",
            "  \"fio version\" : \"fio-3.33\",",
            "  \"jobs\" : [",
            "    {",
            "      \"N\" : 3,",
            "      \"mean\" : 1.500000",
            "    }",
            "  ],",
            "  \"none\" : {",
            "  }",
            "}",
            "",
        ];
        assert_eq!(document, expected.join("\n"));
    }

    #[test]
    fn what_is_no_number_does_not_spoil_the_document() {
        let text = Object::default().with("x", f64::NAN).with("y", f64::INFINITY).document();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["x"], 0.0);
    }

    proptest! {
        #[test]
        fn any_text_survives(key: String, value: String) {
            let text = Object::default().with(key.clone(), value.clone()).document();
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read[&key].as_str(), Some(value.as_str()));
            let braces = text.starts_with("{\n") && text.ends_with("\n}\n");
            prop_assert!(braces, "{}", text);
        }
    }
}
