//! Jobs on memory, alone and together.

use std::sync::atomic::AtomicBool;

use candor_engine::family::Family;
use candor_engine::{Prepared, Session, Task};
use candor_plan::{Bytes, Job, Memory, MemoryAccess, Nanos, Phase, Plan, Stop, Work, check};
use candor_record::{Ended, Measurement};

/// The only family of these tests.
fn families(_: &Work) -> &'static dyn Family {
    &candor_memory::MemoryFamily
}

fn job(access: MemoryAccess, workers: u32) -> Job {
    let memory = Memory { access, size: Bytes(8 << 20), piece: Bytes(64 << 10), huge_pages: false };
    let name = access.operation().name.to_owned();
    Job { name, workers, work: memory.into(), ..Job::default() }
}

fn run(jobs: Vec<Job>, stop: Stop) -> Vec<Measurement> {
    let phase = Phase { stop, jobs, ..Phase::default() };
    let plan = Plan { phases: vec![phase], ..Plan::default() };
    let problems = check::check(&plan);
    assert!(!problems.iter().any(candor_plan::Problem::is_error), "{problems:#?}");
    let prepared = Prepared::new(&mut Session::new(families), &Task::of(&plan, 0));
    prepared.expect("prepared").run(&AtomicBool::new(false), &mut ())
}

#[test]
fn every_access_goes_through_its_buffers_once() {
    for access in [MemoryAccess::Load, MemoryAccess::Store, MemoryAccess::Copy, MemoryAccess::Chase]
    {
        let measured = run(vec![job(access, 2)], Stop::default()).remove(0);
        let stats = measured.operation(access.operation().name);
        assert_eq!(measured.ended, Ended::Done);
        assert_eq!(stats.bytes, 2 * (8 << 20), "{access:?}");
        assert!(stats.latency.as_ref().is_some_and(|latency| latency.count == stats.ops));
        assert_eq!(measured.load_latency_ns.is_some(), access == MemoryAccess::Chase);
    }
}

#[test]
fn latency_is_that_of_one_load_alone_and_beside_others() {
    let stop = Stop { time: Some(Nanos(100_000_000)), ..Stop::default() };
    let alone = run(vec![job(MemoryAccess::Chase, 1)], stop.clone()).remove(0);
    let beside = run(vec![job(MemoryAccess::Chase, 1), job(MemoryAccess::Copy, 1)], stop);
    for measured in [&alone, &beside[0]] {
        let ns = measured.load_latency_ns.expect("chased");
        assert!((0.5..20_000.0).contains(&ns), "{ns} ns per load");
        assert_eq!(measured.ended, Ended::Time);
    }
    assert!(beside[1].operation("copy").bytes_per_s > 1e7, "{:?}", beside[1]);
}
