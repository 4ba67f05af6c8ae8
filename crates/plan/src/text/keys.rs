//! Keys of a plan by their names: the whole path, or as much of it as no other key shares.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::{PathStep, Plan, PlanPath, Problem, nearest};

/// Keys that a message lists at most.
const LISTED_MAX: usize = 6;

/// The published schema of plans; a test keeps it equal to the types.
static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
    let text = include_str!("../../../../docs/plan-schema.json");
    serde_json::from_str(text).expect("a JSON document")
});

/// The shortest name that means the key at this place of a plan, and no other.
pub fn short_name(plan: &Plan, place: &PlanPath) -> String {
    let tree = super::write::tree(plan);
    let keys = keys_of(&tree);
    let steps = steps(place);
    let plain: Vec<&str> = steps.iter().map(|step| step.key).collect();
    let tails = (1..=plain.len()).map(|length| plain[plain.len() - length..].join("."));
    let mut tails = tails.filter(|name| find_among(&keys, &tree, name).as_ref() == Ok(place));
    tails.next().unwrap_or_else(|| place.as_str().to_owned())
}

/// The place of the key that a name means: `depth`, `phase.stop.time`, `job[1].depth`.
///
/// # Errors
/// No key has that name, or several have.
pub(super) fn find(tree: &Value, name: &str) -> Result<PlanPath, Problem> {
    find_among(&keys_of(tree), tree, name)
}

fn find_among(keys: &[PlanPath], tree: &Value, name: &str) -> Result<PlanPath, Problem> {
    let named = PlanPath::from(name);
    let wanted = steps(&named);
    let last = last_key(&named);
    // Most keys end otherwise, and need not be taken apart.
    let alike = keys.iter().filter(|key| key.as_str().contains(last));
    let matching: Vec<&PlanPath> = alike.filter(|key| is_named(&steps(key), &wanted)).collect();
    let whole: Vec<&PlanPath> =
        matching.iter().copied().filter(|key| steps(key).len() == wanted.len()).collect();
    match (&matching[..], &whole[..]) {
        // A key by all of its path needs no numbers where lists have one entry.
        ([one], _) | (_, [one]) => Ok((*one).clone()),
        ([], _) => literal(tree, &named)?.ok_or_else(|| unknown(name, keys)),
        (several, _) => Err(ambiguous(name, several)),
    }
}

/// All keys that a plan has or could have, without the keys of missing tables.
fn keys_of(tree: &Value) -> Vec<PlanPath> {
    let mut keys = Vec::new();
    list(&SCHEMA, tree, &PlanPath::root(), &mut keys);
    keys
}

/// A key on the way to a place, with its number in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StepTo<'a> {
    key: &'a str,
    index: Option<usize>,
}

impl StepTo<'_> {
    fn goes_by(&self, name: &StepTo<'_>) -> bool {
        self.key == name.key && (name.index.is_none() || self.index == name.index)
    }
}

fn steps(path: &PlanPath) -> Vec<StepTo<'_>> {
    let mut steps: Vec<StepTo> = Vec::new();
    for step in path.steps() {
        match (step, steps.last_mut()) {
            (PathStep::Key(key), _) => steps.push(StepTo { key, index: None }),
            (PathStep::Index(index), Some(list)) if list.index.is_none() => {
                list.index = Some(index);
            }
            // A list of lists, which plans do not have.
            (PathStep::Index(_), _) => steps.push(StepTo { key: "", index: None }),
        }
    }
    steps
}

/// Whether a key goes by a name: it ends alike, and has the rest of the name on its way.
fn is_named(key: &[StepTo<'_>], name: &[StepTo<'_>]) -> bool {
    let (Some((last, way)), Some((name_last, rest))) = (key.split_last(), name.split_last()) else {
        return false;
    };
    let mut way = way.iter();
    last.goes_by(name_last) && rest.iter().all(|wanted| way.any(|step| step.goes_by(wanted)))
}

/// Every key below a node that the schema knows. Tables that the plan does not have are named and
/// not entered, nor are the choices that it did not make.
fn list(schema: &Value, node: &Value, place: &PlanPath, keys: &mut Vec<PlanPath>) {
    match node {
        Value::Array(elements) => {
            let items = alternatives(schema).into_iter().find_map(|schema| schema.get("items"));
            for (index, element) in elements.iter().enumerate().filter(|(_, e)| e.is_object()) {
                list(items.unwrap_or(&Value::Null), element, &place.index(index), keys);
            }
        }
        Value::Object(entries) => {
            let known: BTreeMap<_, _> =
                alternatives(schema).into_iter().flat_map(properties).collect();
            for (key, schema) in known {
                let place = place.key(key);
                let below = entries.get(key);
                let first = below.and_then(|value| value.get(0));
                if !first.is_some_and(Value::is_object) {
                    keys.push(place.clone());
                }
                list(schema, below.unwrap_or(&Value::Null), &place, keys);
            }
        }
        _ => {}
    }
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// The schemas that a value may follow: references resolved, choices laid out.
fn alternatives(schema: &Value) -> Vec<&Value> {
    let referred = schema.get("$ref").and_then(Value::as_str);
    let referred = referred.and_then(|path| SCHEMA.pointer(path.strip_prefix('#')?));
    let choices = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|word| schema.get(word));
    let choices = choices.filter_map(Value::as_array).flatten();
    let below = referred.into_iter().chain(choices).flat_map(alternatives);
    std::iter::once(schema).chain(below).collect()
}

/// The place that a path describes which begins at the top, with the numbers that lists of one
/// entry need not have. Its tables need not exist, entries of lists must.
fn literal(tree: &Value, name: &PlanPath) -> Result<Option<PlanPath>, Problem> {
    let steps = steps(name);
    let mut top_keys = properties(&SCHEMA).map(|(key, _)| key);
    let Some(first) = steps.first() else { return Ok(None) };
    if !steps.iter().all(|step| is_key(step.key)) || !top_keys.any(|key| key == first.key) {
        return Ok(None);
    }
    let (mut place, mut node) = (PlanPath::root(), Some(tree));
    for (nth, step) in steps.iter().enumerate() {
        place = place.key(step.key);
        node = node.and_then(|node| node.get(step.key));
        let is_last = nth + 1 == steps.len();
        let index = match (step.index, node.and_then(Value::as_array)) {
            (None, None) => continue,
            (None, Some(_)) if is_last => continue,
            (None, Some(elements)) => (elements.len() == 1).then_some(0),
            (Some(index), _) => Some(index),
        };
        let element = index.and_then(|index| Some((index, node?.get(index)?)));
        let Some((index, element)) = element else { return Err(no_entry(&place, node)) };
        (place, node) = (place.index(index), Some(element));
    }
    Ok(Some(place))
}

fn is_key(word: &str) -> bool {
    let mut letters = word.bytes();
    !word.is_empty() && letters.all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// A list has no entry of that number, or several where no number is given.
fn no_entry(list: &PlanPath, node: Option<&Value>) -> Problem {
    let entries = node.and_then(Value::as_array).map_or(0, Vec::len);
    let message = match entries {
        1 => format!("`{list}` has one entry"),
        n => format!("`{list}` has {n} entries"),
    };
    let remedy = match entries {
        0 => "set another key".to_owned(),
        1 => format!("write {list}[0]"),
        n => format!("write one of {list}[0] to {list}[{}]", n - 1),
    };
    Problem::error("unknown-key", PlanPath::root(), message, remedy)
}

fn last_key(path: &PlanPath) -> &str {
    steps(path).last().map_or("", |step| step.key)
}

fn unknown(name: &str, keys: &[PlanPath]) -> Problem {
    let named = PlanPath::from(name);
    let meant = nearest(last_key(&named), keys.iter().map(last_key));
    let near = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    let message = format!("no key of this plan is called `{name}`{near}");
    let remedy = match meant {
        Some(meant) => format!("write {meant}"),
        None => "give a key as candor run --dry-run prints it, or its whole path, such as \
                 phase.job.work.blocks.depth"
            .to_owned(),
    };
    Problem::error("unknown-key", PlanPath::root(), message, remedy)
}

fn ambiguous(name: &str, keys: &[&PlanPath]) -> Problem {
    let mut names: Vec<&str> = keys.iter().map(|key| key.as_str()).collect();
    let more = names.len().saturating_sub(LISTED_MAX);
    names.truncate(LISTED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("`{name}` can be {}{more}", names.join(", "));
    let remedy = "write as much of the path as only one of them has".to_owned();
    Problem::error("ambiguous-key", PlanPath::root(), message, remedy)
}
