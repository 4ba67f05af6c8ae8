//! Items that come and go: the oldest one leaves as a new one enters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Step;
use crate::omit::is_default;

/// Window over the items of each rank, in the order of their numbers: the window has as many items
/// as the tree. A phase begins where the previous phase of the run on the same targets ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Window {
    /// Items of each rank that had left the window before the run began.
    #[serde(skip_serializing_if = "is_default")]
    pub start: u64,
    /// Steps for the entering item, after `steps` for the leaving one: the window then has moved by
    /// one. Empty means that it does not move, and `steps` apply to the items in it.
    #[serde(skip_serializing_if = "is_default")]
    pub enter: Vec<Step>,
    /// The leaving item is of the rank N before the worker's, the entering one of the rank N after
    /// it, modulo ranks: times the number of the item's directory, from 1.
    #[serde(skip_serializing_if = "is_default")]
    pub rank_step: u32,
}

impl Window {
    /// True where items enter.
    pub fn moves(&self) -> bool {
        !self.enter.is_empty()
    }
}
