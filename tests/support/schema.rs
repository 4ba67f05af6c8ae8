//! The schemas of the report and of the comparison, and a check of documents against them.
//!
//! `schemars` derives them from the types of `plan` and `record`; descriptions are the doc comments
//! of their fields. They are kept in `docs/`, and a test fails when types and schema differ.

use std::sync::LazyLock;

use serde_json::{Map, Value};

/// The schema of the report, as documented.
pub const SCHEMA: &str = include_str!("../../docs/report-schema.json");
/// The schema of the comparison, as documented.
pub const COMPARISON: &str = include_str!("../../docs/comparison-schema.json");
/// The schema of a line of `--json-stream`, as documented.
pub const STREAM: &str = include_str!("../../docs/json-stream-schema.json");
/// The schema of a plan, as documented.
pub const PLAN: &str = include_str!("../../docs/plan-schema.json");

/// Violations of the report's schema by a document; empty where it fits.
///
/// Stricter than the schema in one point: keys that it does not name are violations as well.
pub fn violations(document: &Value) -> Vec<String> {
    static ROOT: LazyLock<Value> = LazyLock::new(|| parsed(SCHEMA));
    Checker { definitions: &ROOT["$defs"] }.check(&ROOT, document, "")
}

/// The same of another schema.
pub fn violations_of(schema: &str, document: &Value) -> Vec<String> {
    let root = parsed(schema);
    Checker { definitions: &root["$defs"] }.check(&root, document, "")
}

fn parsed(schema: &str) -> Value {
    serde_json::from_str(schema).expect("the documented schema is JSON")
}

struct Checker<'a> {
    definitions: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let here = if path.is_empty() { "the document" } else { path };
        if let Some(name) = schema["$ref"].as_str() {
            return match self.definition(name) {
                Some(schema) => self.check(schema, value, path),
                None => vec![format!("{here} is of type {name}, which the schema lacks")],
            };
        }
        if !admits(schema, value) {
            return vec![format!(
                "{here} is {}, not {}",
                type_of(value),
                types(schema).join(" or ")
            )];
        }
        let mut found = Vec::new();
        let is_word = schema["const"].is_null() || schema["const"] == *value;
        if !is_word || schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
            found.push(format!("{here} is {value}, which is none of the words it can be"));
        }
        if !in_range(schema, value) {
            found.push(format!("{here} is {value}, which is out of range"));
        }
        found.extend(self.alternatives(schema, value, path));
        if let Value::Object(object) = value {
            found.extend(self.object(schema, object, path));
        }
        if let Value::Array(list) = value {
            found.extend(self.list(schema, list, path));
        }
        found
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.definitions.get(name.strip_prefix("#/$defs/")?)
    }

    /// Violations of the alternative that is meant; none where one fits or there are none.
    fn alternatives(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let all = [&schema["anyOf"], &schema["oneOf"]].map(Value::as_array);
        let all: Vec<&Value> = all.into_iter().flatten().flatten().collect();
        let named = |schema: &Value| self.definition(schema["$ref"].as_str()?);
        let chosen = or_all(all, |schema| admits(named(schema).unwrap_or(schema), value));
        let chosen = or_all(chosen, |schema| is_meant(schema, value));
        let tried = chosen.into_iter().map(|schema| self.check(schema, value, path));
        tried.min_by_key(Vec::len).unwrap_or_default()
    }

    fn object(&self, schema: &Value, object: &Map<String, Value>, path: &str) -> Vec<String> {
        let here = if path.is_empty() { "the document" } else { path };
        let mut found = Vec::new();
        for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(key) {
                found.push(format!("{here} lacks `{key}`"));
            }
        }
        let (known, others) = (&schema["properties"], &schema["additionalProperties"]);
        for (key, value) in object {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match known.get(key).unwrap_or(others) {
                Value::Object(_) if known.get(key).is_none() => {
                    found.extend(self.check(others, value, &path));
                }
                Value::Null | Value::Bool(false) if known.is_object() => {
                    found.push(format!("{path} is not described"));
                }
                schema => found.extend(self.check(schema, value, &path)),
            }
        }
        found
    }

    fn list(&self, schema: &Value, list: &[Value], path: &str) -> Vec<String> {
        let first = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
        let element = |(i, value)| {
            let schema = first.get(i).unwrap_or(&schema["items"]);
            self.check(schema, value, &format!("{path}[{i}]"))
        };
        let found = list.iter().enumerate().flat_map(element).collect();
        let bound = |key: &str| schema[key].as_u64().map(|bound| bound as usize);
        let short = bound("minItems").is_some_and(|min| list.len() < min);
        if short || bound("maxItems").is_some_and(|max| list.len() > max) {
            [found, vec![format!("{path} has {} elements", list.len())]].concat()
        } else {
            found
        }
    }
}

/// The alternatives that pass, or all where none does.
fn or_all(all: Vec<&Value>, passes: impl Fn(&Value) -> bool) -> Vec<&Value> {
    let passing: Vec<&Value> = all.iter().copied().filter(|schema| passes(schema)).collect();
    if passing.is_empty() { all } else { passing }
}

/// True where an object has the keys that the schema requires, and the words that it fixes.
fn is_meant(schema: &Value, value: &Value) -> bool {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required.into_iter().all(|key| {
        let fixed = &schema["properties"][key]["const"];
        value.get(key).is_some_and(|value| fixed.is_null() || fixed == value)
    })
}

/// True where the schema names the type of the value, or none.
fn admits(schema: &Value, value: &Value) -> bool {
    let types = types(schema);
    types.is_empty() || types.iter().any(|wanted| is_of(value, wanted))
}

fn types(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    }
}

fn in_range(schema: &Value, value: &Value) -> bool {
    let Some(number) = value.as_f64() else { return true };
    schema["minimum"].as_f64().is_none_or(|min| number >= min)
        && schema["maximum"].as_f64().is_none_or(|max| number <= max)
}

fn is_of(value: &Value, wanted: &str) -> bool {
    match wanted {
        "number" => value.is_number(),
        _ => type_of(value) == wanted,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
