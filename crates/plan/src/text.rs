//! Plans as text: TOML for people, JSON for machines.
//!
//! TOML is read with the place of every value, so that each problem can point at the user's line
//! and column, and with all problems at once: see [`read`].

mod keys;
mod read;
mod said;
mod set;
mod syntax;
mod tree;
mod write;

use crate::{PLAN_VERSION, Plan, PlanPath, Problem};

pub use keys::short_name;
pub use read::read;
pub use set::set;
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
    // Maps have text as keys, so nothing is left that could fail.
    serde_json::to_string(plan).unwrap_or_default()
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
