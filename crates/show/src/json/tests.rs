//! The schema in the documentation is that of the types, and a document that breaks it is noticed.

use std::collections::BTreeSet;

use candor_plan::{PLAN_VERSION, Plan};
use candor_record::comparison::{COMPARISON_VERSION, Comparison};
use candor_record::stream::{STREAM_VERSION, StreamLine};
use candor_record::{Event, REPORT_VERSION, Report, Verdict};
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::schema::{COMPARISON, PLAN, SCHEMA, STREAM, violations, violations_of};
use crate::sample;

/// Keywords of JSON Schema that `schema::violations` checks.
const CHECKED: [&str; 16] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "enum",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "oneOf",
    "prefixItems",
    "properties",
    "required",
    "type",
    "$defs",
];

/// Set it to write the schema instead of comparing it.
const BLESS: &str = "CANDOR_BLESS";

fn json(report: &Report) -> Value {
    serde_json::from_str(&crate::json::report(report).unwrap()).unwrap()
}

/// The schema of the report as it is written, from its types.
fn generated() -> Value {
    let about = format!(
        "Version {REPORT_VERSION}. Keys may be added within a version; docs/report.md says what \
         each means."
    );
    schema_of::<Report>("candor report", about)
}

/// The same of the comparison.
fn generated_comparison() -> Value {
    let about = format!("Version {COMPARISON_VERSION}. Keys may be added within a version.");
    schema_of::<Comparison>("candor comparison", about)
}

/// The same of a line of a stream.
fn generated_stream() -> Value {
    let about = format!(
        "A line of --json-stream. Version {STREAM_VERSION}. Keys may be added within a version."
    );
    schema_of::<StreamLine>("candor stream", about)
}

/// The schema of a plan as it is read.
fn generated_plan() -> Value {
    let about = format!(
        "Version {PLAN_VERSION}, as TOML or JSON; docs/reference/plan.md explains each key."
    );
    schema_by::<Plan>(SchemaSettings::draft2020_12(), "candor plan", about)
}

fn schema_of<T: JsonSchema>(title: &str, about: String) -> Value {
    schema_by::<T>(SchemaSettings::draft2020_12().for_serialize(), title, about)
}

fn schema_by<T: JsonSchema>(settings: SchemaSettings, title: &str, about: String) -> Value {
    let settings = settings.with_transform(plain_text);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), title.into());
    schema.insert("description".into(), about.into());
    schema.to_value()
}

/// Doc comments as plain sentences: on one line, without the links of rustdoc.
fn plain_text(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|part| part.replace('\n', " "));
        let joined = paragraphs.collect::<Vec<_>>().join("\n\n");
        *text = joined.replace("[`", "`").replace("`]", "`").replace("`crate::", "`");
    }
    transform_subschemas(&mut plain_text, schema);
}

#[test]
fn the_documented_schemas_are_those_of_the_types() {
    let pages = [
        ("report", generated(), SCHEMA, "REPORT_VERSION"),
        ("comparison", generated_comparison(), COMPARISON, "COMPARISON_VERSION"),
        ("json-stream", generated_stream(), STREAM, "STREAM_VERSION"),
        ("plan", generated_plan(), PLAN, "PLAN_VERSION"),
    ];
    for (name, generated, documented, version) in pages {
        let text = crate::json::pretty::print(&generated.to_string());
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
        if std::env::var_os(BLESS).is_some() {
            std::fs::write(format!("{docs}/{name}-schema.json"), &text).unwrap();
            continue;
        }
        assert!(
            text == documented,
            "the {name} has changed: look whether {version} must be raised, then run \
             `{BLESS}=1 cargo test -p candor-show` and describe the change in docs"
        );
    }
}

#[test]
fn a_plan_is_valid() {
    let plan = candor_plan::text::to_json(&Plan::default());
    let plan: Value = serde_json::from_str(&plan).unwrap();
    assert_eq!(violations_of(PLAN, &plan), [""; 0]);
    let wrong = json!({"version": "two", "phase": {}});
    assert!(!violations_of(PLAN, &wrong).is_empty());
}

#[test]
fn lines_of_a_stream_are_valid() {
    let event = Event::PhaseJudged {
        phase: "main".into(),
        verdict: Verdict::Ok,
        headline: "Believable.".into(),
    };
    let of_event = StreamLine::of(&event, "0.1.0", 7).expect("it has a line");
    let end = StreamLine::End { unix_ms: 7, verdict: None, interrupted: true, error: None };
    for line in [of_event, end] {
        let text = crate::json::stream_line(&line).unwrap();
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let mut line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(violations_of(STREAM, &line), [""; 0]);
        line["unix_ms"] = json!("now");
        assert!(!violations_of(STREAM, &line).is_empty());
    }
}

#[test]
fn reports_are_valid() {
    let series = sample::report("correct.", sample::series());
    for report in [sample::full(), series, Report::default()] {
        assert_eq!(violations(&json(&report)), Vec::<String>::new());
    }
}

/// Reports of real runs, from several kernels. Those of an older candor lack the keys that were
/// added since, and have them when they were read and written again.
#[test]
fn recorded_reports_are_valid() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../judge/tests/recorded");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut read = 0;
    for file in files.filter(|path| path.extension().is_some_and(|kind| kind == "json")) {
        let text = std::fs::read_to_string(&file).unwrap();
        let stored = violations(&serde_json::from_str(&text).unwrap());
        let wrong: Vec<_> = stored.iter().filter(|found| !found.contains(" lacks `")).collect();
        assert_eq!(wrong, Vec::<&String>::new(), "{file:?}");
        let report: Report = serde_json::from_str(&text).unwrap();
        assert_eq!(violations(&json(&report)), Vec::<String>::new(), "{file:?}");
        read += 1;
    }
    assert!(read > 0, "no report in {folder}");
}

/// A report is read without what may be absent, and with lists that are empty; the schema has to
/// allow the same.
#[test]
fn whatever_may_be_absent_or_empty_is_allowed() {
    let mut document = json(&sample::full());
    shorten(&mut document);
    let places = places(&document, "");
    // The slowest test of all: two threads share it.
    let wrong: BTreeSet<String> = std::thread::scope(|scope| {
        let parts = places.chunks(places.len().div_ceil(2));
        let parts: Vec<_> =
            parts.map(|part| scope.spawn(|| wrongly_refused(&document, part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("it ends")).collect()
    });
    assert_eq!(wrong, BTreeSet::new());
}

/// Takes away all but the beginning of each list: the rest is only read again and again.
fn shorten(value: &mut Value) {
    match value {
        Value::Array(list) => {
            list.truncate(3);
            list.iter_mut().for_each(shorten);
        }
        Value::Object(object) => object.values_mut().for_each(shorten),
        _ => {}
    }
}

/// Violations of the schema by documents that lack one of these places, and can be read.
fn wrongly_refused(document: &Value, places: &[String]) -> BTreeSet<String> {
    let (mut document, mut wrong) = (document.clone(), BTreeSet::new());
    for place in places {
        let at = document.pointer_mut(place).unwrap();
        let nothing = if at.is_array() { &[Value::Null, json!([])][..] } else { &[Value::Null] };
        let was = at.take();
        for nothing in nothing {
            *document.pointer_mut(place).unwrap() = nothing.clone();
            if Report::deserialize(&document).is_ok() {
                wrong.extend(violations(&document));
            }
        }
        *document.pointer_mut(place).unwrap() = was;
    }
    wrong
}

/// Pointers to everything in a document; of each list, to its beginning.
fn places(value: &Value, at: &str) -> Vec<String> {
    let inner: Vec<(String, &Value)> = match value {
        // One bucket is like another.
        Value::Array(_) if at.ends_with("/buckets") => Vec::new(),
        Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(list) => (0..3).zip(list).map(|(i, value)| (i.to_string(), value)).collect(),
        _ => Vec::new(),
    };
    let inner = inner.into_iter().map(|(key, value)| (format!("{at}/{key}"), value));
    inner.flat_map(|(place, value)| [places(value, &place), vec![place]].concat()).collect()
}

/// Every part of the schema, with its place: all values of `properties`, `items` and the like.
fn parts<'a>(schema: &'a Value, at: &str, found: &mut Vec<(String, &'a Value)>) {
    found.push((at.to_owned(), schema));
    let Some(object) = schema.as_object() else { return };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.iter().for_each(|(name, part)| parts(part, &format!("{at}.{name}"), found));
            }
            ("items" | "additionalProperties", part) => parts(part, &format!("{at}[]"), found),
            ("anyOf" | "oneOf" | "prefixItems", Value::Array(list)) => {
                list.iter().for_each(|part| parts(part, at, found));
            }
            _ => {}
        }
    }
}

/// A keyword that is not checked would let wrong documents pass.
#[test]
fn every_keyword_is_checked_or_a_remark() {
    const REMARKS: [&str; 5] = ["$schema", "title", "description", "format", "default"];
    let schema = generated();
    let mut all = Vec::new();
    parts(&schema, "", &mut all);
    let keywords = all.iter().filter_map(|(_, part)| part.as_object()).flat_map(Map::keys);
    let unknown = keywords.map(String::as_str);
    let unknown: BTreeSet<&str> =
        unknown.filter(|word| !CHECKED.contains(word) && !REMARKS.contains(word)).collect();
    assert_eq!(unknown, BTreeSet::new());
    assert!(all.len() > 1000, "{} parts", all.len());
}

/// A reader of the schema needs no source: each key says what it holds, units included.
#[test]
fn every_key_is_described() {
    let (report, comparison) = (generated(), generated_comparison());
    let mut all = Vec::new();
    parts(&report, "", &mut all);
    parts(&comparison, "", &mut all);
    // The word of an enumeration is described by the object around it, and is its only key.
    let own = all.iter().filter(|(_, part)| {
        let only = part["properties"].as_object().is_some_and(|keys| keys.len() == 1);
        !only && part["description"] != "by direction"
    });
    let keys = own.filter_map(|(at, part)| Some((at, part["properties"].as_object()?)));
    let keys = keys.flat_map(|(at, keys)| keys.iter().map(move |(key, part)| (at, key, part)));
    let silent = keys.filter(|(_, _, part)| {
        part["description"].is_null() && part["$ref"].is_null() && part["const"].is_null()
    });
    let silent: Vec<String> = silent.map(|(at, key, _)| format!("{at}.{key}")).collect();
    assert_eq!(silent, Vec::<String>::new());
}

#[test]
fn violations_are_reported_with_their_place() {
    let mut document = json(&sample::full());
    document["report_version"] = json!("1");
    document["judgement"]["verdict"] = json!("perhaps");
    document["phases"][0]["measurements"][0].as_object_mut().unwrap().remove("job");
    document["phases"][0]["repeat"] = json!(-1);
    document["phases"][0]["surprise"] = json!(1);
    document["plan"]["phase"][0]["job"][0]["workers"] = json!("many");
    assert_eq!(
        violations(&document),
        [
            "report_version is string, not integer",
            "plan.phase[0].job[0].workers is string, not integer",
            "phases[0].repeat is -1, which is out of range",
            "phases[0].measurements[0] lacks `job`",
            "phases[0].surprise is not described",
            "judgement.verdict is \"perhaps\", which is none of the words it can be",
        ]
    );
}

/// Of several kinds of limit, the check is against the one that the document names.
#[test]
fn the_kind_that_is_meant_is_checked() {
    let mut document = json(&sample::full());
    let limit = document.pointer_mut("/judgement/phases/0/limited_by").unwrap();
    *limit = json!({ "kind": "plan_rate", "bytes_per_s": "much", "ops_per_s": null });
    let place = "judgement.phases[0].limited_by.bytes_per_s";
    assert_eq!(violations(&document), [format!("{place} is string, not number or null")]);
}

/// A report that was written is read back the same.
#[test]
fn a_report_survives_its_json() {
    let report = sample::full();
    let read: Report = serde_json::from_str(&crate::json::report(&report).unwrap()).unwrap();
    assert_eq!(read, report);
}
