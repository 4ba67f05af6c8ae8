//! Memory of the host as the measured device: bandwidth and latency.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use crate::Bytes;
use crate::operation::{Figure, Operation};

/// Moving bytes within the host's memory. Each worker has its own buffers: several jobs of one
/// phase measure the latency of memory under the load of the others.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Memory {
    /// Kind of access.
    pub access: MemoryAccess,
    /// Bytes of a worker's buffers; a copy has one half to read and one to write.
    #[default(Bytes(256 << 20))]
    pub size: Bytes,
    /// Bytes per operation; a chase takes single loads instead.
    #[default(Bytes(1 << 20))]
    pub piece: Bytes,
    /// Use huge pages where the kernel has some, so that address translation costs little.
    #[default(true)]
    pub huge_pages: bool,
}

/// Ways to use memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum MemoryAccess {
    /// Reading, in order.
    Load = 0,
    /// Writing, in order.
    Store = 1,
    /// Reading one buffer and writing it to another, in order. Bytes count once.
    #[default]
    Copy = 2,
    /// Dependent loads at random addresses: latency.
    Chase = 3,
}

impl MemoryAccess {
    /// Row in the table of operations.
    pub fn operation(self) -> &'static Operation {
        &OPERATIONS[self as usize]
    }
}

/// The table of operations, in the order of [`MemoryAccess`].
pub const OPERATIONS: &[Operation] = &[
    Operation::of("load", Figure::Memory).moving(),
    Operation::of("store", Figure::Memory).moving(),
    Operation::of("copy", Figure::Memory).moving(),
    Operation::of("chase", Figure::Memory).moving(),
];
