//! The schema that some sample documents imply.

use std::collections::BTreeSet;

use candor_plan::units::Direction;
use candor_plan::work::Figure;
use candor_record::facts::{AccountingOutcome, DeviceKind, PathKind};
use candor_record::{
    Change, Confidence, Ended, MeasuredInstead, MismatchKind, REPORT_VERSION, Severity, Unit,
    Verdict,
};
use serde::de::value::Error as Nothing;
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde_json::{Map, Value, json};

use super::type_of;

/// The schema of the report, from documents that between them have every key and every type.
pub(super) fn schema(samples: &[Value]) -> Value {
    let body = infer(&samples.iter().collect::<Vec<_>>(), "");
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "candor report",
        "description": format!(
            "Version {REPORT_VERSION}. Keys may be added within a version; docs/report.md says \
             what each means."
        ),
    });
    merge(&mut schema, body);
    schema
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}

fn infer(values: &[&Value], path: &str) -> Value {
    // The plan has a documentation of its own, and its defaults may be left out.
    if path == "plan" {
        return json!({ "type": "object", "description": "the plan; see docs/guide.md" });
    }
    // Each kind of limit has keys of its own.
    if path.ends_with("findings[].limits") || path.ends_with("limited_by") {
        return json!({ "type": ["object", "null"], "description": "a limit; see docs/report.md" });
    }
    // The operations of a work, by their names in its table.
    if path.ends_with(".operations") {
        let each = values.iter().filter_map(|value| value.as_object()).flat_map(Map::values);
        let each: Vec<&Value> = each.collect();
        let of_each = infer(&each, &format!("{path}[]"));
        return json!({ "type": "object", "additionalProperties": of_each });
    }
    let mut schema = json!({ "type": types(values) });
    let objects: Vec<&Map<String, Value>> = values.iter().filter_map(|v| v.as_object()).collect();
    if !objects.is_empty() {
        merge(&mut schema, object(&objects, path));
    }
    let elements: Vec<&Value> = values.iter().filter_map(|v| v.as_array()).flatten().collect();
    if !elements.is_empty() {
        merge(&mut schema, json!({ "items": infer(&elements, &format!("{path}[]")) }));
    }
    if let Some(mut words) = words(path) {
        if let Some(words) = words.as_array_mut().filter(|_| values.contains(&&Value::Null)) {
            words.push(Value::Null);
        }
        merge(&mut schema, json!({ "enum": words }));
    }
    schema
}

fn types(values: &[&Value]) -> Value {
    let mut types: BTreeSet<&str> = values.iter().map(|value| type_of(value)).collect();
    if types.contains("number") {
        types.remove("integer");
    }
    match types.into_iter().collect::<Vec<_>>()[..] {
        [only] => json!(only),
        ref all => json!(all),
    }
}

fn object(objects: &[&Map<String, Value>], path: &str) -> Value {
    // In the order of the document, which is the order in which people look for them.
    let mut keys: Vec<&String> = Vec::new();
    for key in objects.iter().flat_map(|object| object.keys()) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let property = |key: &&String| {
        let values: Vec<&Value> = objects.iter().filter_map(|object| object.get(*key)).collect();
        let path = if path.is_empty() { (*key).clone() } else { format!("{path}.{key}") };
        ((*key).clone(), infer(&values, &path))
    };
    let mut properties: Map<String, Value> = keys.iter().map(property).collect();
    // Any fact may have needed a privilege, also where no sample did.
    let of_fact = |key: &&&String| ["value", "from", "privileged"].contains(&key.as_str());
    if properties.contains_key("from") && keys.iter().all(|key| of_fact(&key)) {
        properties.insert("privileged".to_owned(), json!({ "type": "boolean" }));
    }
    let always = |key: &&&String| objects.iter().all(|object| object.contains_key(**key));
    let required: Vec<&&String> =
        keys.iter().filter(always).filter(|key| **key != "privileged").collect();
    json!({ "properties": properties, "required": required })
}

/// The words that a text can be, where they are fixed.
fn words(path: &str) -> Option<Value> {
    let words = match path {
        "judgement.verdict" | "judgement.phases[].verdict" => Words::of::<Verdict>(),
        "judgement.phases[].findings[].severity" => Words::of::<Severity>(),
        "judgement.phases[].findings[].confidence" => Words::of::<Confidence>(),
        "judgement.phases[].findings[].measures" => Words::of::<MeasuredInstead>(),
        "judgement.phases[].findings[].evidence[].unit" => Words::of::<Unit>(),
        "phases[].follow_ups[].change" => Words::of::<Change>(),
        "phases[].measurements[].ended" | "phases[].follow_ups[].measurement.ended" => {
            Words::of::<Ended>()
        }
        path if path.ends_with(".operations[].figure")
            || path.ends_with("read_back.reads.figure") =>
        {
            Words::of::<Figure>()
        }
        "phases[].measurements[].errors[].op" => Words::of::<Direction>(),
        "phases[].measurements[].verify.first[].kind" => Words::of::<MismatchKind>(),
        "phases[].hosts[].facts.targets[].kind" => Words::of::<PathKind>(),
        "phases[].hosts[].facts.targets[].accounting_probe.outcome" => {
            Words::of::<AccountingOutcome>()
        }
        "phases[].hosts[].facts.devices[].kind" => Words::of::<DeviceKind>(),
        _ => return None,
    };
    Some(json!(words))
}

/// Notes the words that an enumeration is read from, so that none can be forgotten here.
struct Words<'a>(&'a mut &'static [&'static str]);

impl Words<'_> {
    fn of<T: DeserializeOwned>() -> &'static [&'static str] {
        let mut words: &[&str] = &[];
        // It always fails: nothing is there to read.
        let _ = T::deserialize(Words(&mut words));
        words
    }
}

impl<'de> Deserializer<'de> for Words<'_> {
    type Error = Nothing;

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        _visitor: V,
    ) -> Result<V::Value, Nothing> {
        *self.0 = variants;
        Err(Error::custom("noted"))
    }

    fn deserialize_any<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Nothing> {
        Err(Error::custom("no enumeration"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
