//! The schema of the report, and a check of documents against it.
//!
//! The schema is generated from hand-built reports (one with everything in it, one with nothing
//! that may be absent) and kept in `docs/`, so that it cannot say anything but what is written. A
//! test fails when the two differ.

use serde_json::Value;

/// The schema, as it stands in the documentation.
pub const SCHEMA: &str = include_str!("../../../../docs/report-schema.json");

/// What in a document is not as the schema wants it; empty where all is well. Knows the parts of
/// JSON Schema that [`SCHEMA`] uses: `type`, `required`, `properties`, `items`, `enum`.
///
/// Stricter than the schema in one point: keys that it does not name are told as well.
pub fn violations(document: &Value) -> Result<Vec<String>, serde_json::Error> {
    let schema: Value = serde_json::from_str(SCHEMA)?;
    let mut found = Vec::new();
    check(&schema, document, "", &mut found);
    Ok(found)
}

fn check(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    let here = if path.is_empty() { "the document" } else { path };
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    if !types.is_empty() && !types.iter().any(|wanted| is_of(value, wanted)) {
        found.push(format!("{here} is {}, not {}", type_of(value), types.join(" or ")));
        return;
    }
    if let Value::Array(words) = &schema["enum"]
        && !words.contains(value)
    {
        found.push(format!("{here} is {value}, which is none of the words it can be"));
    }
    for key in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.as_object().is_some_and(|object| !object.contains_key(key)) {
            found.push(format!("{here} lacks `{key}`"));
        }
    }
    if let (Some(known), Some(object)) = (schema["properties"].as_object(), value.as_object()) {
        for (key, value) in object {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            match known.get(key) {
                Some(schema) => check(schema, value, &path, found),
                None => found.push(format!("{path} is not described")),
            }
        }
    }
    if let (Value::Object(_), Some(object)) = (&schema["additionalProperties"], value.as_object()) {
        for (key, value) in object {
            check(&schema["additionalProperties"], value, &format!("{path}.{key}"), found);
        }
    }
    if let (Value::Object(_), Some(elements)) = (&schema["items"], value.as_array()) {
        for (i, element) in elements.iter().enumerate() {
            check(&schema["items"], element, &format!("{path}[{i}]"), found);
        }
    }
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

#[cfg(test)]
mod generate;
#[cfg(test)]
mod tests;
