use candor_plan::work::{BlocksOp, Figure};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::measurement::*;
use crate::{Histogram, Latency};

const SECOND_NS: u64 = 1_000_000_000;
const OPS: [BlocksOp; 3] = [BlocksOp::Read, BlocksOp::Write, BlocksOp::Fsync];

/// Operations of one host: which, the interval in which it completed, and its latency.
type Done = Vec<(usize, u64, u64)>;

fn latency(done: &Done, op: usize) -> Option<Latency> {
    let mut histogram = Histogram::new();
    done.iter().filter(|(at, ..)| *at == op).for_each(|(.., ns)| histogram.record(*ns));
    Latency::from_histogram(histogram)
}

fn sample(done: &Done, interval: u64, late_ns: u64) -> Sample {
    let within = |op: usize| done.iter().filter(move |d| (d.0, d.1) == (op, interval));
    let of = |(op, row): (usize, &BlocksOp)| OpSample {
        ops: within(op).count() as u64,
        bytes: 4096 * within(op).count() as u64,
        latency_sum_ns: within(op).map(|(.., ns)| ns).sum(),
        ..OpSample::of(row.operation())
    };
    Sample {
        at_ns: (interval + 1) * SECOND_NS + late_ns,
        length_ns: SECOND_NS,
        operations: OPS.iter().enumerate().map(of).collect(),
    }
}

/// Measurement of a host whose workers did that.
fn host(done: &Done, workers: u32, late_ns: u64) -> Measurement {
    let count = |op: usize| done.iter().filter(|(at, ..)| *at == op).count() as u64;
    let stats = |(op, row): (usize, &BlocksOp)| OpStats {
        ops: count(op),
        bytes: 4096 * count(op),
        failed: count(op) / 3,
        elapsed_ns: 7 * SECOND_NS,
        latency: latency(done, op),
        ..OpStats::of(row.operation())
    };
    let errno = done.len() as i32 % 3;
    let failure = IoFailure {
        op: Some("read".into()),
        path: "/d".into(),
        offset: 0,
        errno,
        message: String::new(),
        count: 2,
    };
    let ops = done.len() as u64;
    let mut measurement = Measurement {
        workers,
        elapsed_ns: 7 * SECOND_NS + late_ns,
        operations: OPS.iter().enumerate().map(stats).collect(),
        last_done: Progress { at_ns: 7 * SECOND_NS + late_ns, ops, bytes: 4096 * ops },
        samples: (0..7).map(|interval| sample(done, interval, late_ns)).collect(),
        per_worker: (0..workers).map(|rank| WorkerStats { rank, ..Default::default() }).collect(),
        errors: vec![failure],
        verify: Some(VerifyStats { blocks: ops, ..VerifyStats::default() }),
        depths: Some(Depths::one_at_a_time(ops)),
        ended: if late_ns > SECOND_NS / 20 { Ended::Interrupted } else { Ended::Time },
        depth_reached: Some(workers),
        start_unix_ms: Some(late_ns),
        ..Measurement::default()
    };
    measurement.derive();
    measurement
}

fn merged(hosts: impl IntoIterator<Item = Measurement>) -> Measurement {
    let mut hosts = hosts.into_iter();
    let mut sum = hosts.next().expect("a host");
    hosts.for_each(|next| sum.merge(next));
    sum
}

fn done() -> impl Strategy<Value = Done> {
    vec((0..OPS.len(), 0..7_u64, 1..1_000_000_000_u64), 0..60)
}

fn hosts() -> impl Strategy<Value = Vec<(Done, u32, u64)>> {
    vec((done(), 1..5_u32, 0..SECOND_NS / 10), 1..6)
}

proptest! {
    /// Hosts that did parts of it come to the same as one that did all.
    #[test]
    fn parts_add_up_to_the_whole(parts in hosts()) {
        let sum = merged(parts.iter().map(|(done, workers, late)| host(done, *workers, *late)));
        let all: Done = parts.iter().flat_map(|(done, ..)| done.clone()).collect();
        let workers = parts.iter().map(|(_, workers, _)| workers).sum();
        let late = parts.iter().map(|(.., late)| *late).max().unwrap();
        let whole = host(&all, workers, late);
        for (mine, theirs) in sum.operations.iter().zip(&whole.operations) {
            prop_assert_eq!(&mine.latency, &theirs.latency);
            prop_assert_eq!((mine.ops, mine.bytes), (theirs.ops, theirs.bytes));
            prop_assert_eq!(mine.ops_per_s, theirs.ops_per_s);
            prop_assert_eq!(mine.bytes_per_s, theirs.bytes_per_s);
        }
        for (mine, theirs) in sum.samples.iter().zip(&whole.samples) {
            prop_assert_eq!(&mine.operations, &theirs.operations);
        }
        prop_assert_eq!(sum.samples.len(), whole.samples.len());
        prop_assert_eq!(sum.occupancy, whole.occupancy);
        prop_assert_eq!(sum.per_worker, whole.per_worker);
        prop_assert_eq!((sum.last_done, sum.elapsed_ns), (whole.last_done, whole.elapsed_ns));
        prop_assert_eq!((sum.verify, sum.depths), (whole.verify, whole.depths));
        prop_assert_eq!(sum.errors.iter().map(|e| e.count).sum::<u64>(), 2 * parts.len() as u64);
    }

    /// Those of several hosts may be merged before, as a tree of coordinators does.
    #[test]
    fn groups_of_hosts_merge_like_single_ones(parts in hosts(), at in 0..6_usize) {
        let of = |(done, workers, late): &(Done, u32, u64)| host(done, *workers, *late);
        let all: Vec<_> = parts.iter().map(of).collect();
        let (first, rest) = all.split_at(at.min(all.len()));
        let groups = [first, rest].into_iter().filter(|group| !group.is_empty());
        let groups = merged(groups.map(|group| merged(group.iter().cloned())));
        prop_assert_eq!(groups, merged(all));
    }
}

/// A host whose workers had done that when the first worker of all hosts ended.
fn counted_at_first(done: &Done, workers: u32, at_ns: u64) -> Measurement {
    let mut one = host(done, workers, 0);
    let reads = done.iter().filter(|(op, ..)| *op == 0).count() as u64;
    let read =
        OpCount { ops: reads, bytes: 4096 * reads, ..OpCount::of(BlocksOp::Read.operation()) };
    one.first_done = Some(FirstDone {
        at_ns,
        ops: reads,
        bytes: 4096 * reads,
        operations: vec![read],
        worker_ops: (0..workers).map(|rank| reads * u64::from(rank == 0)).collect(),
    });
    one
}

#[test]
fn counts_at_the_end_of_the_first_worker_add_up_to_the_latest_moment() {
    let done = vec![(0, 0, 500), (0, 0, 700)];
    let [early, late] = [counted_at_first(&done, 2, 100), counted_at_first(&done, 1, 130)];
    let sum = merged([early.clone(), late.clone()]).first_done.expect("both know it");
    assert_eq!((sum.at_ns, sum.ops, sum.bytes), (130, 4, 4 * 4096));
    assert_eq!((sum.operation("read").ops, sum.worker_ops), (4, vec![2, 0, 2]));
    // A host without work completed nothing, whether it was first or not.
    let idle = host(&Vec::new(), 2, 0);
    let sum = merged([idle.clone(), late.clone()]).first_done.expect("one had work");
    assert_eq!((sum.ops, sum.worker_ops), (2, vec![0, 0, 2]));
    assert_eq!(merged([late.clone(), idle.clone()]).first_done.expect("as before").ops, 2);
    assert_eq!(merged([idle.clone(), idle]).first_done, None);
    let unknown = host(&done, 1, 0);
    let sum = merged([early.clone(), unknown.clone(), late.clone()]);
    assert_eq!(sum.first_done, None, "nobody knows what one of them had done");
    assert_eq!(merged([unknown, early, late]).first_done, None);
}

#[test]
fn what_parts_do_not_hold_is_absent() {
    let one = |p99| {
        let mut one = host(&vec![(0, 0, 500), (0, 0, 700)], 1, 0);
        one.samples[0].operations[0].latency_ns_p99 = Some(p99);
        one.samples[0].operations[1].latency_ns_p99 = Some(p99);
        one.engine = EngineUsed {
            features: vec!["direct".into(), format!("f{p99}")],
            clock: format!("c{p99}"),
            clock_cost_ns: p99 as f64,
            ..EngineUsed::default()
        };
        one
    };
    let mut idle = one(5);
    idle.samples[0].operations[0].ops = 0;
    let sum = merged([one(1), one(2)]);
    assert_eq!(sum.samples[0].operations[0].latency_ns_p99, None);
    assert_eq!(sum.engine.features, ["direct"]);
    assert_eq!(sum.engine.clock, "c2");
    let read = &merged([idle, one(3)]).samples[0].operations[0];
    assert_eq!((read.ops, read.latency_ns_p99), (2, Some(3)), "only one host read");
    assert_eq!(sum.figure(Figure::Read).ops, 4);
}

#[test]
fn load_latencies_weigh_by_loads() {
    let chase = |ops: usize, ns| Measurement {
        load_latency_ns: Some(ns),
        ..host(&vec![(0, 0, 500); ops], 1, 0)
    };
    assert_eq!(merged([chase(30, 100.0), chase(10, 200.0)]).load_latency_ns, Some(125.0));
}
