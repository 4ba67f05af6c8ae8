//! The page of plan keys, from the JSON Schema of a plan: a row for each key.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

const HEAD: &str = "# Plan keys

This page is reference: every key of a plan, one a row. [The plan file](plan.md) explains the structure.

Derived from [plan-schema.json](../plan-schema.json); a test keeps the page up to date. A key with an empty default is off or absent.
";

/// The page for a schema.
pub fn page(schema: &Value) -> String {
    let mut keys = Keys { schema, text: HEAD.to_owned(), done: BTreeSet::new() };
    keys.table("Top level", "", schema);
    keys.text
}

struct Keys<'a> {
    schema: &'a Value,
    text: String,
    /// Definitions that have a section.
    done: BTreeSet<&'a str>,
}

impl<'a> Keys<'a> {
    /// A section for a table at `path`, then sections for the definitions that its keys use.
    fn table(&mut self, title: &str, path: &str, definition: &'a Value) {
        let Some(properties) = properties(definition) else { return };
        self.text.push_str(&format!("\n## {title}\n\n"));
        self.text.push_str("| key | value | default | meaning |\n| --- | --- | --- | --- |\n");
        self.rows("", properties);
        for (key, property) in properties {
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            self.definitions(&path, property);
        }
    }

    /// A row for each property.
    fn rows(&mut self, prefix: &str, properties: &Map<String, Value>) {
        for (key, property) in properties {
            let default = match property.get("default") {
                None | Some(Value::Null) => String::new(),
                Some(Value::String(text)) if text.is_empty() => String::new(),
                Some(Value::String(text)) => format!("`{text}`"),
                Some(Value::Object(_) | Value::Array(_)) => String::new(),
                Some(value) => format!("`{value}`"),
            };
            let (value, meaning) = (self.value(property), meaning(property));
            self.text.push_str(&format!("| `{prefix}{key}` | {value} | {default} | {meaning} |\n"));
        }
    }

    /// Kind of a property's value, in a few words.
    fn value(&self, property: &Value) -> String {
        if let Some(name) = reference(property) {
            return self.named(name);
        }
        if let Some(variants) = property.get("anyOf").and_then(Value::as_array) {
            let variants = variants.iter().filter(|variant| variant["type"] != "null");
            let kinds: Vec<String> = variants.map(|variant| self.value(variant)).collect();
            return kinds.join(" or ");
        }
        if let Some(items) = property.get("items") {
            return format!("list of {}", self.value(items));
        }
        if let Some(constant) = property.get("const") {
            return format!("`{}`", constant.as_str().unwrap_or_default());
        }
        let kind = match &property["type"] {
            Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null"),
            kind => Some(kind),
        };
        match kind.and_then(Value::as_str) {
            Some("boolean") => "`true`, `false`".into(),
            Some("integer") => "number".into(),
            Some("number") => "decimal".into(),
            Some("string") => "text".into(),
            _ => "table".into(),
        }
    }

    /// The same for a definition by its name.
    fn named(&self, name: &str) -> String {
        if let Some(of) = name.strip_prefix("PerDirection_for_") {
            let one = match of {
                "uint8" | "double" => "number".into(),
                "Array_of_Zone" => "list of tables".into(),
                of => self.named(of),
            };
            return format!("{one}, or one per direction");
        }
        if let Some(of) = name.strip_prefix("Pieces_of_") {
            return format!("{}, or a list", self.named(of));
        }
        let definition = self.definition(name);
        match name {
            "Bytes" => "size".into(),
            "Extent" => "size or share".into(),
            "Nanos" => "time".into(),
            "SizeSpec" => "sizes".into(),
            "OpsPerSec" => "operations/s".into(),
            "BytesPerSec" => "bytes/s".into(),
            "FileName" | "EntryName" => "name".into(),
            _ if properties(definition).is_some() => "table".into(),
            _ => choices(definition).unwrap_or_else(|| "text".into()),
        }
    }

    fn definition(&self, name: &str) -> &'a Value {
        &self.schema["$defs"][name]
    }

    /// Sections for the definitions that a property uses, each once.
    fn definitions(&mut self, path: &str, property: &'a Value) {
        if let Some(name) = reference(property) {
            if self.done.insert(name) {
                let definition = self.definition(name);
                self.table(&format!("`{path}`"), path, definition);
                self.values(path, definition);
                let parts = definition.get("anyOf").into_iter().filter_map(Value::as_array);
                parts.flatten().for_each(|part| self.definitions(path, part));
            }
            return;
        }
        let parts = property.get("anyOf").and_then(Value::as_array);
        parts.into_iter().flatten().for_each(|part| self.definitions(path, part));
        property.get("items").into_iter().for_each(|items| self.definitions(path, items));
    }

    /// A section for the values of a choice, where they have a meaning, and for their tables.
    fn values(&mut self, path: &str, definition: &'a Value) {
        let Some(variants) = definition.get("oneOf").and_then(Value::as_array) else { return };
        self.text.push_str(&format!("\n## Values of `{path}`\n\n"));
        self.text.push_str("| value | content | default | meaning |\n| --- | --- | --- | --- |\n");
        for variant in variants {
            let meaning = meaning(variant);
            if let Some(constant) = variant.get("const").and_then(Value::as_str) {
                self.text.push_str(&format!("| `{constant}` | | | {meaning} |\n"));
            }
            for constant in variant.get("enum").and_then(Value::as_array).into_iter().flatten() {
                let constant = constant.as_str().unwrap_or_default();
                self.text.push_str(&format!("| `{constant}` | | | {meaning} |\n"));
            }
            for (key, property) in properties(variant).into_iter().flatten() {
                let value = self.value(property);
                self.text.push_str(&format!("| `{key}` | {value} | | {meaning} |\n"));
                if let Some(inner) = properties(property) {
                    self.rows(&format!("{key}."), inner);
                }
            }
        }
        for (key, property) in variants.iter().filter_map(properties).flatten() {
            let path = format!("{path}.{key}");
            self.definitions(&path, property);
            for (key, property) in properties(property).into_iter().flatten() {
                self.definitions(&format!("{path}.{key}"), property);
            }
        }
    }
}

fn properties(value: &Value) -> Option<&Map<String, Value>> {
    value.get("properties").and_then(Value::as_object)
}

/// The name of the definition that a property refers to.
fn reference(property: &Value) -> Option<&str> {
    property.get("$ref").and_then(Value::as_str)?.strip_prefix("#/$defs/")
}

/// The constants of a choice and the keys of its tables.
fn choices(definition: &Value) -> Option<String> {
    let variants = match (definition.get("oneOf"), definition.get("enum")) {
        (Some(Value::Array(variants)), _) => variants.clone(),
        (None, Some(list)) => vec![serde_json::json!({ "enum": list })],
        _ => return None,
    };
    let mut all = Vec::new();
    for variant in &variants {
        all.extend(variant.get("const").and_then(Value::as_str).map(str::to_owned));
        let list = variant.get("enum").and_then(Value::as_array).into_iter().flatten();
        all.extend(list.filter_map(Value::as_str).map(str::to_owned));
        all.extend(properties(variant).into_iter().flatten().map(|(key, _)| key.clone()));
    }
    let all: Vec<String> = all.iter().map(|name| format!("`{name}`")).collect();
    Some(all.join(", "))
}

/// The description of a property in one cell.
fn meaning(property: &Value) -> String {
    let text = property.get("description").and_then(Value::as_str).unwrap_or_default();
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
