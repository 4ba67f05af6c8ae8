//! Families of work: which crate does which kind.

use candor_blocks::BlocksFamily;
use candor_compute::ComputeFamily;
use candor_engine::family::Family;
use candor_entries::EntriesFamily;
use candor_memory::MemoryFamily;
use candor_objects::ObjectsFamily;
use candor_plan::Work;

/// The family of a kind of work; a new family is a line here.
pub fn of(work: &Work) -> &'static dyn Family {
    match work {
        Work::Blocks(_) => &BlocksFamily,
        Work::Entries(_) => &EntriesFamily,
        Work::Memory(_) => &MemoryFamily,
        Work::Objects(_) => &ObjectsFamily,
        Work::Program(_) | Work::Burn(_) => &ComputeFamily,
    }
}
