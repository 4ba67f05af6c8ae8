//! JSON as fio lays it out: `"key" : value`, two spaces per level, six decimals.

use std::fmt::Write;

use candor_front::{Object, Tree};

/// The document; its outer braces have separate lines.
pub(super) fn document(object: Object) -> String {
    let mut text = String::new();
    print(&Tree::Object(object), 0, &mut text);
    text.push('\n');
    text
}

fn print(tree: &Tree, depth: usize, text: &mut String) {
    match tree {
        Tree::Int(value) => write!(text, "{value}").expect("memory"),
        Tree::Signed(value) => write!(text, "{value}").expect("memory"),
        // JSON has no value for NaN and infinity. Nothing here divides by zero, but a sum of
        // squares may overflow.
        Tree::Float(value) if !value.is_finite() => text.push_str("0.000000"),
        Tree::Float(value) => write!(text, "{value:.6}").expect("memory"),
        Tree::Text(value) => print_text(value, text),
        Tree::List(values) => {
            let entries = values.iter().map(|value| (None, value));
            print_all('[', ']', entries, depth, text);
        }
        Tree::Object(object) => {
            let entries = object.entries().map(|(key, value)| (Some(key), value));
            print_all('{', '}', entries, depth, text);
        }
    }
}

fn print_all<'a>(
    open: char,
    close: char,
    entries: impl Iterator<Item = (Option<&'a str>, &'a Tree)>,
    depth: usize,
    text: &mut String,
) {
    let indent = |text: &mut String, depth: usize| text.extend(std::iter::repeat_n("  ", depth));
    text.push(open);
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
    text.push(close);
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
        let object = Object::default()
            .with("fio version", "fio-3.42")
            .with("jobs", vec![inner])
            .with("none", Object::default());
        let expected = [
            "{",
            "  \"fio version\" : \"fio-3.42\",",
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
        assert_eq!(document(object), expected.join("\n"));
    }

    #[test]
    fn what_is_no_number_does_not_spoil_the_document() {
        let text = document(Object::default().with("x", f64::NAN).with("y", f64::INFINITY));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap()["x"], 0.0);
    }

    proptest! {
        #[test]
        fn any_text_survives(key: String, value: String) {
            let text = document(Object::default().with(key.clone(), value.clone()));
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read[&key].as_str(), Some(value.as_str()));
            let braces = text.starts_with("{\n") && text.ends_with("\n}\n");
            prop_assert!(braces, "{}", text);
        }
    }
}
