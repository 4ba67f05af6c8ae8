//! One key of a plan set to another value, as a word of a command line says it.

use serde_json::{Map, Value};

use crate::{PathStep, Plan, PlanPath, Problem};

use super::{keys, read, tree, write};

/// The plan with a key set, and the place of that key. `name` is its path, or as much of its end
/// as no other key of the plan shares; `value` is TOML, or a text without its quotes.
///
/// The plan is well-formed, not yet sensible, as after [`read`].
///
/// # Errors No key has that name, or several have it, or the value does not fit.
pub fn set(plan: &Plan, name: &str, value: &str) -> Result<(Plan, PlanPath), Problem> {
    let tree = write::tree(plan);
    let place = keys::find(&tree, name)?;
    let written = tree::value_of(value);
    let as_text = Value::String(value.to_owned());
    let first = with(&tree, &place, written.clone().unwrap_or_else(|| as_text.clone()));
    match (first, written) {
        (Ok(plan), _) => Ok((plan, place)),
        // A name may look like a number.
        (Err(problem), Some(_)) => match with(&tree, &place, as_text) {
            Ok(plan) => Ok((plan, place)),
            Err(_) => Err(problem),
        },
        // The text had no quotes that could be left out.
        (Err(problem), None) if problem.rule == "type" => {
            Err(Problem { remedy: "write a value of that kind".to_owned(), ..problem })
        }
        (Err(problem), None) => Err(problem),
    }
}

fn with(tree: &Value, place: &PlanPath, value: Value) -> Result<Plan, Problem> {
    let mut tree = tree.clone();
    put(&mut tree, &place.steps().collect::<Vec<_>>(), value);
    let (problems, _) = match read("", &write::text_of(tree)) {
        Ok((plan, _)) => return Ok(plan),
        Err(problems) => problems,
    };
    let problem = problems.into_iter().next();
    let problem = problem.unwrap_or_else(|| {
        Problem::error("value", place.clone(), "the value makes no plan", "write another one")
    });
    Err(Problem { place: place.clone(), ..problem })
}

fn put(node: &mut Value, steps: &[PathStep<'_>], value: Value) {
    let Some((first, rest)) = steps.split_first() else { return *node = value };
    match first {
        PathStep::Index(index) => {
            // Only entries that are there are named.
            if let Some(element) = node.get_mut(*index) {
                put(element, rest, value);
            }
        }
        PathStep::Key(key) => {
            make_table(node, key);
            if let Some(entries) = node.as_object_mut() {
                put(entries.entry(*key).or_insert(Value::Null), rest, value);
            }
        }
    }
}

/// Makes a node a table, where one of its keys is set: a choice by its word alone becomes the same
/// choice with settings, and one value for all directions one for each.
fn make_table(node: &mut Value, key: &str) {
    const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];
    if node.is_object() {
        return;
    }
    let held = std::mem::take(node);
    let by_direction = DIRECTIONS.contains(&key) && !held.is_null() && !held.is_array();
    let directions = DIRECTIONS.into_iter().filter(|_| by_direction);
    let entries: Map<String, Value> =
        directions.map(|direction| (direction.to_owned(), held.clone())).collect();
    *node = Value::Object(entries);
}

#[cfg(test)]
mod tests;
