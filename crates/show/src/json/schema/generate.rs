//! The schema that some sample documents imply.

use std::collections::BTreeSet;

use candor_plan::units::Op;
use candor_record::facts::{CanaryOutcome, DeviceKind, PathKind};
use candor_record::{Change, Confidence, Ended, MismatchKind, REPORT_VERSION, Verdict, Weight};
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
    Some(match path {
        "verdict" | "phases[].verdict" => json!([
            Verdict::Believable,
            Verdict::WithRemarks,
            Verdict::NotVerifiable,
            Verdict::MeasuresElse
        ]),
        "phases[].findings[].weight" => {
            json!([Weight::Explains, Weight::Remark, Weight::NotVerifiable, Weight::MeasuresElse])
        }
        "phases[].findings[].confidence" => {
            json!([Confidence::Possible, Confidence::Likely, Confidence::Certain])
        }
        "phases[].slices[].change" => json!([
            Change::OtherPlaces,
            Change::SamePlaces,
            Change::TwiceTheDepth,
            Change::TwiceTheWorkers,
            Change::TwiceTheThreads,
            Change::OneAtATime,
            Change::FilesOfTheirOwn
        ]),
        "phases[].measurements[].ended" | "phases[].slices[].measurement.ended" => json!([
            Ended::Done,
            Ended::Time,
            Ended::Steady,
            Ended::Interrupted,
            Ended::Failed,
            Ended::Stalled
        ]),
        "phases[].measurements[].errors[].op" => json!(Op::ALL),
        "phases[].measurements[].verify.first[].kind" => json!([
            MismatchKind::Flipped,
            MismatchKind::Torn,
            MismatchKind::Misdirected,
            MismatchKind::Stale,
            MismatchKind::Foreign
        ]),
        "facts.targets[].kind" => json!([
            PathKind::Missing,
            PathKind::File,
            PathKind::Directory,
            PathKind::Device,
            PathKind::Other
        ]),
        "facts.targets[].canary.outcome" => json!([
            CanaryOutcome::NotMade,
            CanaryOutcome::Counted,
            CanaryOutcome::CountedBelow,
            CanaryOutcome::NotCounted,
            CanaryOutcome::NothingToRead
        ]),
        "facts.devices[].kind" => device_kinds(),
        _ => return None,
    })
}

fn device_kinds() -> Value {
    json!([
        DeviceKind::Partition,
        DeviceKind::Loop,
        DeviceKind::Dm,
        DeviceKind::Md,
        DeviceKind::Zram,
        DeviceKind::Brd,
        DeviceKind::Pmem,
        DeviceKind::Virtio,
        DeviceKind::Nvme,
        DeviceKind::NvmeFabric,
        DeviceKind::Ata,
        DeviceKind::Scsi,
        DeviceKind::Usb,
        DeviceKind::Nbd,
        DeviceKind::NullBlk,
        DeviceKind::Other
    ])
}
