//! Conditions of results: plan and environment by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One condition of a run or of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Part of the run that it belongs to.
    pub area: Area,
    /// Name, such as `pace.ops` or `scheduler`.
    pub name: String,
    /// Value as people read it.
    pub value: String,
    /// Results under another value answer another question.
    pub matters: bool,
}

/// Part of a run that a condition belongs to.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// The requested work.
    #[default]
    Plan,
    /// The tool and its version.
    Tool,
    /// Host, kernel, CPUs, memory.
    Host,
    /// Filesystem, mount, device, queue, links.
    Storage,
}
