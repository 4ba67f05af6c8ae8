//! The tree of keys of a JSON document: paths and types, whatever the values.

use std::collections::BTreeSet;

use serde_json::Value;

/// Paths with the type of what stands there; elements of a list are taken together.
pub fn tree(value: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    walk(value, "", &mut paths);
    paths
}

fn walk(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(map) => {
            for (key, value) in map {
                walk(value, &format!("{path}.{key}"), paths);
            }
            "object"
        }
        Value::Array(list) => {
            for value in list {
                walk(value, &format!("{path}[]"), paths);
            }
            "list"
        }
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Null => "null",
    };
    paths.insert(format!("{path} {kind}"));
}
