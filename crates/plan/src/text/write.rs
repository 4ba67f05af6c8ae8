//! Writing plans as TOML that people like to read: defaults left out, small tables on one line.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use crate::Tree;
use crate::blocks::{Blocks, Journal, Pace, ReadBack, Think, Verify, Written};
use crate::visible::{visible_json, visible_lines};
use crate::{
    Bucket, Burn, Job, Listing, Memory, Nanos, Phase, Plan, PlanPath, Program, Stop, Target, Work,
};

/// Options whose mere presence means something: kept even where they hold nothing but defaults.
const PRESENT: [&str; 16] = [
    "target.tree",
    "target.listing",
    "bucket.keys",
    "bucket.keys.tree",
    "bucket.keys.members",
    "bucket.keys.existing",
    "phase.job.stop",
    "phase.job.work.blocks",
    "phase.job.work.entries",
    "phase.job.work.objects",
    "phase.job.work.objects.verify",
    "phase.job.work.blocks.verify",
    "phase.job.work.blocks.verify.journal",
    "phase.job.work.blocks.verify.read_back",
    "phase.job.work.blocks.verify.written",
    "phase.job.work.blocks.pace.think",
];

/// Keys that help a reader even where they hold the default, or that have none.
const ALWAYS: [&str; 7] = [
    "version",
    "target.name",
    "bucket.name",
    "phase.name",
    "phase.job.name",
    "phase.job.work.blocks.pace.think.time",
    "phase.job.work.blocks.pace.think.every",
];

/// Tables that get their own section; all others are written on one line.
const SECTIONS: [&str; 14] = [
    "target",
    "target.tree",
    "target.listing",
    "bucket",
    "bucket.keys",
    "bucket.keys.tree",
    "phase",
    "phase.job",
    "phase.job.work",
    "phase.job.work.blocks",
    "phase.job.work.entries",
    "phase.job.work.objects",
    "phase.job.work.program",
    "phase.job.work.burn",
];

/// Longer lines are broken, if they hold a list.
const LINE_CHARS_MAX: usize = 96;

/// The plan as TOML. [`super::read`] gives back an equal plan.
pub fn write(plan: &Plan) -> String {
    write_commented(plan, &[])
}

/// The same with comments, each above the line of its place, or of the nearest that contains it:
/// what is a default is not written. A comment is one line.
pub fn write_commented(plan: &Plan, comments: &[(PlanPath, String)]) -> String {
    let lines = lines_of(tree(plan));
    let nth: HashMap<_, _> =
        lines.iter().enumerate().map(|(nth, line)| (&line.place, nth)).collect();
    let mut above: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (place, comment) in comments {
        let mut place = place.clone();
        while let (None, Some(parent)) = (nth.get(&place), place.parent()) {
            place = parent;
        }
        above.entry(nth.get(&place).copied().unwrap_or(0)).or_default().push(comment);
    }
    let mut text = String::new();
    for (nth, line) in lines.iter().enumerate() {
        if line.text.starts_with('[') {
            text.push('\n');
        }
        for comment in above.get(&nth).into_iter().flatten() {
            text += &format!("# {comment}\n");
        }
        text += &line.text;
    }
    text
}

/// A tree of values as TOML, defaults left out.
pub(super) fn text_of(tree: Value) -> String {
    lines_of(tree).into_iter().map(|line| line.text).collect()
}

fn lines_of(mut tree: Value) -> Vec<Line> {
    prune(&mut tree, Some(&defaults()), "");
    let mut lines = vec![Line { place: PlanPath::root(), text: String::new() }];
    section(&mut lines, &tree, "", &PlanPath::root());
    lines
}

/// Text of a key or of the head of a section.
struct Line {
    place: PlanPath,
    text: String,
}

/// The plan as plain values.
pub(super) fn tree(plan: &Plan) -> Value {
    // By way of JSON, which keeps the order of fields; text that serde wrote is readable.
    serde_json::from_str(&super::to_json(plan)).unwrap_or(Value::Null)
}

/// One of everything, all with default values: a plan cannot have two kinds of work in one job, the
/// tree of its values can.
fn defaults() -> Value {
    let work = [
        blocks_template().into(),
        Work::Entries(Box::default()),
        Work::Objects(Box::default()),
        Work::Program(Program::default()),
        Work::Burn(Burn::default()),
        Work::Memory(Memory::default()),
    ];
    let mut trees = work.map(|work| tree(&template(work))).into_iter();
    let mut all = trees.next().unwrap_or(Value::Null);
    trees.for_each(|other| add(&mut all, &other));
    all
}

/// Adds the missing keys of a table from another one, at every depth; lists go by their first
/// elements.
fn add(value: &mut Value, other: &Value) {
    match (value, other) {
        (Value::Object(entries), Value::Object(others)) => {
            for (key, other) in others {
                match entries.get_mut(key) {
                    Some(known) => add(known, other),
                    None => drop(entries.insert(key.clone(), other.clone())),
                }
            }
        }
        (Value::Array(elements), Value::Array(others)) => {
            elements.iter_mut().zip(others).for_each(|(element, other)| add(element, other));
        }
        _ => {}
    }
}

fn blocks_template() -> Blocks {
    let think = Think { every: 0, ..Think::after_each(Nanos(0)) };
    Blocks {
        pace: Pace { think: Some(think), ..Pace::default() },
        verify: Some(Verify {
            read_back: Some(ReadBack::default()),
            journal: Some(Journal::default()),
            written: Some(Written::default()),
            ..Verify::default()
        }),
        ..Blocks::default()
    }
}

fn template(work: Work) -> Plan {
    let job = Job { stop: Some(Stop::default()), work, ..Job::default() };
    Plan {
        targets: vec![Target {
            tree: Some(Tree::default()),
            listing: Some(Listing::default()),
            ..Target::default()
        }],
        buckets: vec![Bucket::default()],
        phases: vec![Phase { jobs: vec![job], ..Phase::default() }],
        ..Plan::default()
    }
}

fn child(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Leaves out what equals the default.
fn prune(node: &mut Value, default: Option<&Value>, path: &str) {
    match node {
        Value::Object(entries) => entries.retain(|key, value| {
            keep(value, default.and_then(|default| default.get(key)), &child(path, key))
        }),
        Value::Array(elements) if is_list_section(path) => {
            let default = default.and_then(|default| default.get(0));
            elements.iter_mut().for_each(|element| prune(element, default, path));
        }
        _ => {}
    }
}

/// Prunes a value; false where nothing of it needs to be written.
fn keep(value: &mut Value, default: Option<&Value>, path: &str) -> bool {
    if is_list_section(path) {
        prune(value, default, path);
        return *value != Value::Array(Vec::new());
    }
    let needed = ALWAYS.contains(&path) || PRESENT.contains(&path);
    let differs = match (&*value, default) {
        // Pruning its options shows whether a table differs: a table of `PRESENT` stays even if it
        // equals the template's.
        (Value::Object(_), Some(Value::Object(_))) => {
            prune(value, default, path);
            value.as_object().is_some_and(|table| !table.is_empty())
        }
        _ => Some(&*value) != default,
    };
    needed || differs
}

/// True for lists of sections, whose elements have their own defaults.
fn is_list_section(path: &str) -> bool {
    matches!(path, "target" | "bucket" | "phase" | "phase.job")
}

/// True for a table that is written as a section.
fn is_section(path: &str, key: &str) -> bool {
    SECTIONS.contains(&child(path, key).as_str())
}

/// The entries of a table: first those on one line, then the sections below it.
fn section(lines: &mut Vec<Line>, node: &Value, path: &str, place: &PlanPath) {
    let Value::Object(entries) = node else { return };
    for (key, value) in entries.iter().filter(|(key, _)| !is_section(path, key)) {
        lines.push(Line { place: place.key(key), text: line(key, value) });
    }
    for (key, value) in entries.iter().filter(|(key, _)| is_section(path, key)) {
        let (path, place) = (child(path, key), place.key(key));
        match value {
            Value::Array(elements) => {
                for (nth, element) in elements.iter().enumerate() {
                    let place = place.index(nth);
                    lines.push(Line { place: place.clone(), text: format!("[[{path}]]\n") });
                    section(lines, element, &path, &place);
                }
            }
            value => {
                // A table of sections only needs no header.
                let is_bare = matches!(value, Value::Object(entries) if !entries.is_empty()
                    && entries.iter().all(|(key, _)| is_section(&path, key)));
                if !is_bare {
                    lines.push(Line { place: place.clone(), text: format!("[{path}]\n") });
                }
                section(lines, value, &path, &place);
            }
        }
    }
}

fn line(key: &str, value: &Value) -> String {
    let line = format!("{key} = {}\n", inline(value));
    match value {
        Value::Array(elements) if line.chars().count() > LINE_CHARS_MAX => {
            let lines: Vec<_> = elements.iter().map(|e| format!("    {},\n", inline(e))).collect();
            format!("{key} = [\n{}]\n", lines.concat())
        }
        _ => line,
    }
}

/// The value on one line. Keys are the types' field names and need no quotes.
fn inline(node: &Value) -> String {
    match node {
        // A number that is not finite was lost on the way; it reads back as one.
        Value::Null => "nan".to_owned(),
        Value::Number(value) => match value.as_f64().filter(|_| value.is_f64()) {
            Some(float) => toml::Value::from(float).to_string(),
            None => value.to_string(),
        },
        // Whatever a terminal would obey is spelled out, so that a shown plan is a plan.
        Value::String(value) if visible_lines(value) != *value => {
            visible_json(&node.to_string()).into_owned()
        }
        Value::String(value) => toml::Value::from(value.as_str()).to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Array(elements) => {
            let parts: Vec<_> = elements.iter().map(inline).collect();
            format!("[{}]", parts.join(", "))
        }
        Value::Object(entries) if entries.is_empty() => "{}".to_owned(),
        Value::Object(entries) => {
            let parts: Vec<_> =
                entries.iter().map(|(k, v)| format!("{k} = {}", inline(v))).collect();
            format!("{{ {} }}", parts.join(", "))
        }
    }
}
