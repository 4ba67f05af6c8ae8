//! Plans as text: TOML for people, JSON for machines.
//!
//! TOML is read with the place of every value, so that each problem can point at the user's line
//! and column, and with all problems at once: see [`read`].

mod node;
mod read;
mod said;
mod syntax;
mod tree;
mod write;

use crate::{PLAN_VERSION, Plan, PlanPath, Problem};

pub use read::read;
pub use write::{write, write_commented};

/// Longest text that is read.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// Most problems that are reported for one text.
pub const PROBLEMS_MAX: usize = 50;

/// The plan as canonical JSON: keys in the order of the types, no white space.
///
/// Equal plans give equal texts. A number that is not finite becomes `null`; [`crate::check`]
/// refuses such a plan.
pub fn to_json(plan: &Plan) -> String {
    // Maps have text as keys and paths were made text, so nothing is left that could fail.
    serde_json::to_string(&write::printable(plan)).unwrap_or_default()
}

/// The plan in a JSON text.
pub fn from_json(text: &str) -> Result<Plan, Problem> {
    let remedy = "give a plan as candor wrote it";
    let wrong = |error: serde_json::Error| {
        let message = format!("the JSON text is not a plan: {error}");
        Problem::error("json", PlanPath::root(), message, remedy)
    };
    let value: serde_json::Value = serde_json::from_str(text).map_err(wrong)?;
    if !value.is_object() {
        let message = "the JSON text is not a plan: it is not an object";
        return Err(Problem::error("json", PlanPath::root(), message, remedy));
    }
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version > u64::from(PLAN_VERSION) => Err(too_new(version)),
        // Again from the text, for its error messages know line and column.
        _ => serde_json::from_str(text).map_err(wrong),
    }
}

/// The sentence with which a plan of a later version is refused.
fn too_new(version: u64) -> Problem {
    Problem::error(
        "version",
        PlanPath::root().key("version"),
        format!(
            "the plan is of version {version}, and this candor reads versions up to {PLAN_VERSION}"
        ),
        "run it with the candor that wrote it, or a newer one",
    )
}

#[cfg(test)]
mod tests;
