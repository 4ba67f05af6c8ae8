//! Scheduling, memory policy, user and group of the threads of a job.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::engine::IoPriority;

/// Scheduling, memory policy, user and group of the threads of a job.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Threads {
    /// Their name, up to 15 bytes, as `ps -L` shows it.
    pub name: Option<String>,
    /// Niceness, -20 (first) to 19 (last); absent keeps the niceness of the process.
    pub nice: Option<i8>,
    /// I/O priority of operations without their own priority.
    pub io_priority: Option<IoPriority>,
    /// NUMA policy of their memory.
    pub memory: Option<MemoryPolicy>,
    /// User id for opening files and running.
    pub user: Option<u32>,
    /// Group id.
    pub group: Option<u32>,
    /// Control group that they join.
    pub control_group: Option<ControlGroup>,
}

impl Threads {
    /// Bytes of a name that the kernel keeps.
    pub const NAME_MAX: usize = 15;

    /// True if nothing is requested.
    pub fn is_plain(&self) -> bool {
        *self == Threads::default()
    }
}

/// Where memory comes from, by NUMA node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum MemoryPolicy {
    /// No memory policy.
    Default,
    /// From the node of the CPU that touches it.
    Local,
    /// From this node first.
    Prefer(u32),
    /// From these nodes only.
    Bind(Vec<u32>),
    /// From these nodes in turns.
    Interleave(Vec<u32>),
}

impl MemoryPolicy {
    /// The nodes it names.
    pub fn nodes(&self) -> &[u32] {
        match self {
            MemoryPolicy::Default | MemoryPolicy::Local => &[],
            MemoryPolicy::Prefer(node) => std::slice::from_ref(node),
            MemoryPolicy::Bind(nodes) | MemoryPolicy::Interleave(nodes) => nodes,
        }
    }
}

/// A control group of the block layer (version 1, controller `blkio`).
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct ControlGroup {
    /// Name below the controller; it is made where it is not there.
    pub name: String,
    /// Weight, 100 to 1000; absent leaves it as it is.
    pub weight: Option<u32>,
    /// A group that was made stays.
    pub keep: bool,
}
