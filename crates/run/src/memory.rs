//! How fast memory copies, as a phase of the memory family: the ceiling of I/O that copies.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use candor_engine::{Prepared, Session, Task};
use candor_observe::Roots;
use candor_observe::memory::{CopyBuffers, copy_buffers};
use candor_plan::{Bytes, Job, Memory, MemoryAccess, Nanos, Phase, Plan, Stop};
use candor_record::MemoryCopy;
use candor_record::facts::HostFacts;

/// How long is copied.
const TIME: Nanos = Nanos(100_000_000);

/// Copies between buffers that no cache holds, on all CPUs; none where there is not memory enough.
pub fn copy(
    session: &mut Session,
    host: &HostFacts,
    roots: &Roots,
    stop: &AtomicBool,
) -> Option<MemoryCopy> {
    let began = Instant::now();
    let CopyBuffers { threads, bytes_each } = copy_buffers(host, roots)?;
    let access = MemoryAccess::Copy;
    let memory = Memory { access, size: Bytes(bytes_each), huge_pages: false, ..Memory::default() };
    let job = Job { workers: threads, work: memory.into(), ..Job::default() };
    let until = Stop { time: Some(TIME), ..Stop::default() };
    let phase = Phase { name: "memory".into(), stop: until, jobs: vec![job], ..Phase::default() };
    let plan = Plan { phases: vec![phase], ..Plan::default() };
    let prepared = Prepared::new(session, &Task::of(&plan, 0)).ok()?;
    let measured = prepared.run(stop, &mut ()).pop()?;
    let copied = measured.operation(access.operation().name);
    (copied.bytes_per_s > 0.0).then_some(MemoryCopy {
        bytes_per_s: copied.bytes_per_s,
        threads,
        buffer_bytes: u64::from(threads) * bytes_each,
        cost_s: began.elapsed().as_secs_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_copies_and_says_how() {
        let mut session = Session::new(crate::families::of);
        let stop = AtomicBool::new(false);
        let copy = copy(&mut session, &HostFacts::default(), &Roots::default(), &stop);
        let Some(copy) = copy else {
            println!("skipped: too little memory beside the caches of this host");
            return;
        };
        assert!(copy.bytes_per_s > 1e8, "{copy:?}");
        assert!(copy.threads > 0 && copy.cost_s >= 0.1, "{copy:?}");
    }
}
