//! `candor check s3://BUCKET/PREFIX`: a fixed series of requests on new objects.
//!
//! Small objects (4 KiB), large objects (8 MiB) and objects uploaded in parts (64 MiB) have a
//! prefix each. A put is bounded by its time: it puts the same objects again once all exist.

use candor_plan::bucket::{Bucket, KeyPrefix, Keys};
use candor_plan::entries::Select;
use candor_plan::objects::{ObjectOp, Objects};
use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Job, Nanos, Phase, Plan, Stop, Tree};

/// Options of the series.
#[derive(Clone, Debug)]
pub struct ObjectCheck {
    /// The bucket: servers, and the begin of keys of all objects.
    pub bucket: Bucket,
    /// About how long it may take.
    pub time: Nanos,
    /// Most bytes of large objects, and of objects in parts.
    pub size: Bytes,
}

impl ObjectCheck {
    /// Most bytes of large objects, unless the user sets a size.
    pub const SIZE: Bytes = Bytes(1 << 30);
}

/// Objects of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    Small,
    Large,
    Parts,
}

impl Set {
    const ALL: [Set; 3] = [Set::Small, Set::Large, Set::Parts];
    /// Most small objects.
    const SMALL_MAX: u64 = 20_000;

    fn name(self) -> &'static str {
        match self {
            Set::Small => "small",
            Set::Large => "large",
            Set::Parts => "parts",
        }
    }

    fn bytes(self) -> u64 {
        match self {
            Set::Small => 4 << 10,
            Set::Large => 8 << 20,
            Set::Parts => 64 << 20,
        }
    }

    /// Number of objects.
    fn items(self, size: Bytes) -> u64 {
        let most = if self == Set::Small { Set::SMALL_MAX } else { u64::MAX };
        (size.0 / self.bytes()).clamp(1, most)
    }

    fn bucket(self, options: &ObjectCheck) -> Bucket {
        let file_size = SizeSpec::Fixed(Bytes(self.bytes()));
        let tree = Tree { items: self.items(options.size), file_size, ..Tree::default() };
        let before = format!("{}{}/", options.bucket.prefix.before, self.name());
        Bucket {
            name: self.name().into(),
            prefix: KeyPrefix { before, ..options.bucket.prefix.clone() },
            keys: Keys::Tree(Box::new(tree)),
            ..options.bucket.clone()
        }
    }
}

/// A phase of the series.
struct Step {
    name: &'static str,
    set: Set,
    op: ObjectOp,
    /// Connections.
    depth: u32,
    /// Share of the time.
    share: f64,
}

const fn step(name: &'static str, set: Set, op: ObjectOp, depth: u32, share: f64) -> Step {
    Step { name, set, op, depth, share }
}

/// Bytes of a range, and of a part.
const RANGE: Bytes = Bytes(1 << 20);
const PART: Bytes = Bytes(8 << 20);
/// Name of the phase that reads ranges.
const RANGES: &str = "get 1 MiB ranges, 16 connections";

/// The series, in its order: each put is before the reads of its objects.
const STEPS: [Step; 15] = [
    step("put 4 KiB, 1 connection", Set::Small, ObjectOp::Put, 1, 1.0),
    step("put 4 KiB, 64 connections", Set::Small, ObjectOp::Put, 64, 1.0),
    step("get 4 KiB, 1 connection", Set::Small, ObjectOp::Get, 1, 1.0),
    step("get 4 KiB, 64 connections", Set::Small, ObjectOp::Get, 64, 1.0),
    step("head, 16 connections", Set::Small, ObjectOp::Head, 16, 0.5),
    step("list", Set::Small, ObjectOp::List, 1, 0.5),
    step("delete, 16 connections", Set::Small, ObjectOp::Delete, 16, 1.0),
    step("put 8 MiB, 1 connection", Set::Large, ObjectOp::Put, 1, 1.0),
    step("put 8 MiB, 16 connections", Set::Large, ObjectOp::Put, 16, 1.0),
    step("get 8 MiB, 1 connection", Set::Large, ObjectOp::Get, 1, 1.0),
    step("get 8 MiB, 16 connections", Set::Large, ObjectOp::Get, 16, 1.0),
    step(RANGES, Set::Large, ObjectOp::Get, 16, 1.0),
    step("put 64 MiB in parts, 1 connection", Set::Parts, ObjectOp::Put, 1, 1.0),
    step("put 64 MiB in parts, 16 connections", Set::Parts, ObjectOp::Put, 16, 1.0),
    step("get 64 MiB by parts, 16 connections", Set::Parts, ObjectOp::Get, 16, 1.0),
];

/// The plan of the series.
pub fn object_check(options: &ObjectCheck) -> Plan {
    let all: f64 = STEPS.iter().map(|step| step.share).sum();
    let seconds = options.time.as_secs_f64() / all;
    Plan {
        name: format!("check of s3://{}/{}", options.bucket.bucket, options.bucket.prefix),
        seed: u64::from(std::process::id()),
        buckets: Set::ALL.map(|set| set.bucket(options)).into(),
        phases: STEPS.iter().map(|step| step.phase(seconds)).collect(),
        ..Plan::default()
    }
}

impl Step {
    fn phase(&self, seconds: f64) -> Phase {
        let time = Some(Nanos((seconds * self.share * 1e9) as u64));
        // Each object can be deleted once.
        let passes = (self.op == ObjectOp::Delete).then_some(1);
        let job = Job { name: self.name.into(), work: self.work().into(), ..Job::default() };
        let stop = Stop { time, passes, ..Stop::default() };
        Phase { name: self.name.into(), stop, jobs: vec![job], ..Phase::default() }
    }

    fn work(&self) -> Objects {
        let puts = self.op == ObjectOp::Put;
        let in_parts = self.set == Set::Parts;
        let by_range = if in_parts { Some(PART) } else { Some(RANGE) };
        let ranged = self.op == ObjectOp::Get && (in_parts || self.name == RANGES);
        let reads = matches!(self.op, ObjectOp::Get | ObjectOp::Head);
        Objects {
            buckets: vec![self.set.name().into()],
            op: self.op,
            depth: self.depth,
            select: if reads { Select::Shuffled } else { Select::Sequential },
            as_reached: !puts,
            range: by_range.filter(|_| ranged),
            part: Some(PART).filter(|_| puts && in_parts),
            // Some objects are whole before the time ends.
            objects_at_once: Some(2.min(self.depth)).filter(|_| puts && in_parts),
            ..Objects::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::check;

    use super::*;

    #[test]
    fn the_series_is_a_good_plan_that_puts_objects_before_it_reads_them() {
        let bucket =
            Bucket { bucket: "data".into(), prefix: KeyPrefix::literal("a/"), ..Bucket::default() };
        let (time, size) = (Nanos::from_secs(90), ObjectCheck::SIZE);
        let plan = object_check(&ObjectCheck { bucket, time, size });
        let found = check::check(&plan);
        assert!(found.is_empty(), "{found:#?}");
        assert_eq!(plan.buckets[1].prefix.to_string(), "a/large/");
        let mut present = Vec::new();
        for work in plan.phases.iter().filter_map(|phase| phase.jobs[0].objects()) {
            if work.op == ObjectOp::Put {
                present.push(work.buckets[0].clone());
            } else {
                assert!(present.contains(&work.buckets[0]), "{work:?}");
            }
        }
        let times = plan.phases.iter().filter_map(|phase| phase.stop.time);
        let all: f64 = times.map(Nanos::as_secs_f64).sum();
        assert!((all - 90.0).abs() < 0.1, "{all}");
    }

    #[test]
    fn a_size_bounds_the_objects() {
        let items = |size| Set::ALL.map(|set| set.items(Bytes(size)));
        assert_eq!(items(1 << 30), [20_000, 128, 16]);
        assert_eq!(items(4096), [1, 1, 1]);
    }
}
