//! Work on the host's memory.

use super::Found;
use crate::memory::{Memory, MemoryAccess};
use crate::{Bytes, PlanPath};

/// Fewer bytes than that say nothing of memory: a first-level cache holds them.
const SIZE_MIN: Bytes = Bytes(4096);
/// More than any host has.
const SIZE_MAX: Bytes = Bytes(1 << 44);

pub(super) fn check(memory: &Memory, at: &PlanPath, out: &mut Found) {
    let (size, piece) = (memory.size, memory.piece);
    if size < SIZE_MIN || size > SIZE_MAX {
        let message = format!("size is {size}, not between {SIZE_MIN} and {SIZE_MAX}");
        let remedy = "set more than the caches of the processor hold";
        out.error("memory-size", at.key("size"), message, remedy);
    }
    let buffers = if memory.access == MemoryAccess::Copy { 2 } else { 1 };
    let fits = piece.0 >= 8 && piece.0.saturating_mul(buffers) <= size.0;
    if memory.access != MemoryAccess::Chase && (!fits || !piece.0.is_multiple_of(8)) {
        let message = format!("pieces of {piece} do not fit into buffers of {size}");
        let remedy = "set piece to a multiple of 8 bytes, at most half of size for a copy";
        out.error("memory-piece", at.key("piece"), message, remedy);
    }
}
