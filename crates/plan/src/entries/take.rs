//! Items that workers take one by one from a common table, by what is there at that moment.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::Step;
use crate::Bytes;
use crate::omit::is_default;

/// Taking of items by their state: all workers of a phase that take items of one target share a
/// table of existing items and of items in progress. In sequential order, they share the position.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Take {
    /// Steps for missing items; `steps` is for existing ones. An item without steps for its state
    /// is skipped.
    #[serde(skip_serializing_if = "is_default")]
    pub absent: Vec<Step>,
    /// Steps for files shorter than planned; absent means `steps`. Sequential writes continue at
    /// the end of the file.
    pub short: Option<Vec<Step>>,
    /// Several workers may have the same file in progress.
    #[serde(skip_serializing_if = "is_default")]
    pub concurrent: bool,
    /// Take each item once, then end.
    #[serde(skip_serializing_if = "is_default")]
    pub once: bool,
    /// Random sections of the items, in bytes: the first of all items, each further one of the
    /// previous section.
    #[serde(skip_serializing_if = "is_default")]
    pub parts: Vec<Bytes>,
    /// Another target with a tree of the same shape, the destination of `copy` and `rename`.
    pub to: Option<String>,
    /// Part of the items that is the job's, where jobs of other hosts have the rest.
    pub host_part: Option<HostPart>,
}

/// Part of the items of a tree that hosts share: every `of`-th one, beginning with `number`. Other
/// hosts change the items meanwhile, and each phase reads the tree again before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct HostPart {
    /// Number of the share, from 0.
    pub number: u32,
    /// Number of shares.
    pub of: u32,
}

impl HostPart {
    /// True for the number of an item of this part.
    pub fn has(self, item: u64) -> bool {
        item % u64::from(self.of.max(1)) == u64::from(self.number)
    }
}

impl Take {
    /// Lists of steps for items that are absent, and for those that are short.
    pub fn lists(&self) -> impl Iterator<Item = &[Step]> {
        let absent = (!self.absent.is_empty()).then_some(&self.absent[..]);
        absent.into_iter().chain(self.short.as_deref().filter(|steps| !steps.is_empty()))
    }
}

/// Reads and writes of a file before the next one follows. In order, the next visit of the file
/// continues where the previous visit ended, and at the start after the end of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Visit {
    /// Number of operations.
    Operations(u64),
    /// Bytes, in percent of the file's length.
    Percent(u64),
}
