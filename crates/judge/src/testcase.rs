//! Cases for tests: an honest run on a virtual disk, with the numbers that a real kernel gave,
//! and the ways in which it can go wrong.

use candor_plan::blocks::Engine;
use candor_plan::units::Direction;
use candor_plan::{Blocks, Plan};
use candor_record::facts::*;
use candor_record::*;

use crate::case::Case;
use crate::observed::Observed;
use crate::setup::SetupFacts;

mod below;
mod hosts;
mod objects;
mod workload;

pub use hosts::together;
pub use workload::{MIB, Workload, fact, latency, moved};

/// True where a finding proposes a setting; its key goes by its last words.
pub fn proposes(finding: &Finding, setting: &str) -> bool {
    let is_it = |change: &Setting| format!("{}={}", change.key, change.value).ends_with(setting);
    finding.changes.iter().any(is_it)
}

/// Everything that [`crate::judge`] looks at, owned.
#[derive(Clone, Debug)]
pub struct TestCase {
    pub plan: Plan,
    pub record: PhaseRecord,
    pub host: HostRecord,
    pub earlier: Vec<PhaseRecord>,
    judged: Vec<Option<PhaseJudgement>>,
}

impl TestCase {
    /// Honest direct random reads by io_uring.
    pub fn direct(bs: u64, depth: u32, workers: u32, ops_per_s: f64) -> TestCase {
        Workload { bs, depth, workers, ops_per_s, ..Workload::default() }.case()
    }

    /// Buffered reads of a cached file: the process fetched nothing, the device read nothing.
    pub fn buffered_read() -> TestCase {
        let workload = Workload {
            engine: Engine::Psync,
            direct: false,
            ops_per_s: 1_300_000.0,
            ..Workload::default()
        };
        let mut case = workload.case();
        case.after_disk(DiskCounters::default());
        case.process_read(0);
        case
    }

    /// Random buffered reads of 4 KiB within 10 s, for which the disk answered these requests.
    pub fn fetched(reads: u64, requests: u64, bytes: u64) -> TestCase {
        let workload = Workload {
            engine: Engine::Psync,
            direct: false,
            ops_per_s: reads as f64 / 10.0,
            ..Workload::default()
        };
        let mut case = workload.case();
        case.process_read(bytes);
        case.after_disk(moved(Direction::Read, requests, bytes));
        case
    }

    /// Honest direct writes without any flush, on a device that writes through.
    pub fn direct_write() -> TestCase {
        let mut case = Workload { op: Direction::Write, depth: 8, ..Workload::default() }.case();
        case.disk().queue.write_cache = fact("write through".into());
        case
    }

    /// Buffered writes that stayed in memory: all dirty, nothing on the device.
    pub fn buffered_write() -> TestCase {
        let workload = Workload {
            op: Direction::Write,
            engine: Engine::Psync,
            direct: false,
            ops_per_s: 578_000.0,
            ..Workload::default()
        };
        let mut case = workload.case();
        let bytes = case.record.measurements[0].of(Direction::Write).bytes;
        case.after_disk(moved(Direction::Write, 100, bytes / 9));
        let cache = case.host.after.cache.as_mut().unwrap();
        (cache.resident_bytes, cache.dirty_bytes) = (1024 * MIB, Some(bytes / 10 * 8));
        case
    }

    /// The only job wants the caches of the host to answer.
    pub fn wanting_cache(mut self) -> TestCase {
        self.plan.phases[0].jobs[0].wants_cache = true;
        self
    }

    /// The same on compressed memory.
    pub fn on_zram(mut self) -> TestCase {
        self.rename("vda", "zram0");
        let disk = self.disk();
        disk.kind = DeviceKind::Zram;
        disk.bio_based = fact(true);
        disk.queue.write_cache = None;
        self.on_device("/dev/zram0")
    }

    /// The same on a SATA disk behind a link of so many bytes per second.
    pub fn sata(mut self, ceiling_bytes_per_s: u64) -> TestCase {
        self.rename("vda", "sda");
        let gbits = ceiling_bytes_per_s as f64 / 1e8;
        self.disk().kind = DeviceKind::Ata;
        self.disk().link = Some(Link {
            kind: "SATA".into(),
            negotiated: Fact::new(format!("{gbits} Gbps"), "/sys/class/ata_link/link1/sata_spd"),
            possible: None,
            ceiling_bytes_per_s,
            arithmetic: format!("{gbits} Gb/s ÷ 10 = {} MB/s", ceiling_bytes_per_s / 1_000_000),
            ..Link::default()
        });
        self
    }

    /// The same on a loop device over a file on the disk, which does the bytes once more.
    pub fn on_loop(mut self, direct: bool) -> TestCase {
        let counters = self.host.after.devices[0].1;
        let loop0 = DeviceFacts {
            name: "loop0".into(),
            number: "7:0".into(),
            kind: DeviceKind::Loop,
            below: vec!["vda".into()],
            counts_io: fact(true),
            queue: QueueFacts {
                logical_block_bytes: fact(512),
                physical_block_bytes: fact(512),
                max_request_bytes: fact(1280 * 1024),
                max_segments: fact(128),
                write_cache: fact("write back".into()),
                ..QueueFacts::default()
            },
            loop_backing: Some(LoopBacking {
                file: Fact::new("/data/image".into(), "/sys/block/loop0/loop/backing_file"),
                direct: Some(Fact::new(direct, "/sys/block/loop0/loop/dio")),
                filesystem: Some("ext4".into()),
                ..LoopBacking::default()
            }),
            ..DeviceFacts::default()
        };
        self.host.facts.devices.insert(0, loop0);
        self.host.facts.targets[0].device = fact("loop0".into());
        self.host.before.devices.insert(0, ("loop0".into(), DiskCounters::default()));
        self.host.after.devices.insert(0, ("loop0".into(), counters));
        self.on_device("/dev/loop0")
    }

    fn on_device(mut self, path: &str) -> TestCase {
        self.plan.targets[0].path = path.into();
        let target = &mut self.host.facts.targets[0];
        target.path = path.into();
        target.kind = PathKind::Device;
        target.filesystem = None;
        target.files.clear();
        self
    }

    fn rename(&mut self, from: &str, to: &str) {
        self.host.facts.targets[0].device = fact(to.into());
        for device in self.host.facts.devices.iter_mut().filter(|device| device.name == from) {
            device.name = to.into();
        }
        let snapshots = [&mut self.host.before, &mut self.host.after];
        for (name, _) in snapshots.into_iter().flat_map(|snapshot| &mut snapshot.devices) {
            if name == from {
                *name = to.into();
            }
        }
    }

    /// The disk at the bottom.
    pub fn disk(&mut self) -> &mut DeviceFacts {
        self.host.facts.devices.last_mut().unwrap()
    }

    pub fn file(&mut self) -> &mut FileFacts {
        &mut self.host.facts.targets[0].files[0]
    }

    pub fn blocks(&mut self) -> &mut Blocks {
        self.plan.phases[0].jobs[0].blocks_mut().unwrap()
    }

    /// The options of io_uring, which is its engine.
    pub fn uring(&mut self) -> &mut candor_plan::blocks::Uring {
        match &mut self.blocks().engine {
            Engine::IoUring(options) => options,
            other => panic!("{other:?}"),
        }
    }

    pub fn measured(&mut self) -> &mut Measurement {
        &mut self.record.measurements[0]
    }

    /// Sets the counters of the disk at the bottom at the end.
    pub fn after_disk(&mut self, counters: DiskCounters) {
        self.host.after.devices.last_mut().unwrap().1 = counters;
    }

    pub fn after_top(&mut self) -> &mut DiskCounters {
        &mut self.host.after.devices[0].1
    }

    pub fn process_read(&mut self, bytes: u64) {
        self.host.after.process_io.as_mut().unwrap().read_bytes = bytes;
    }

    /// Adds a follow-up of half a second.
    pub fn follow_up(&mut self, change: Change, workers: u32, depth: u32, ops_per_s: f64) {
        let main = match self.record.measurements[0].of(Direction::Write).ops {
            0 => Direction::Read,
            _ => Direction::Write,
        };
        let bs = self.blocks().size.of(main).max().0;
        let mut of =
            Workload { op: main, bs, depth, workers, ops_per_s, ..Workload::default() }.case();
        let mut measurement = of.measured().clone();
        measurement.elapsed_ns /= 20;
        let stats = measurement.of_mut(main);
        (stats.ops, stats.bytes) = (stats.ops / 20, stats.bytes / 20);
        self.record.follow_ups.push(FollowUp {
            change,
            why: "nothing tells".into(),
            workers,
            depth,
            cost_s: 0.6,
            measurement,
            ..FollowUp::default()
        });
    }

    /// The same after phases that can be believed.
    pub fn after(&mut self, earlier: Vec<PhaseRecord>) {
        self.judged = vec![Some(PhaseJudgement::default()); earlier.len()];
        self.earlier = earlier;
    }

    /// As it would stand in a report.
    pub fn recorded(self) -> PhaseRecord {
        PhaseRecord { hosts: vec![self.host], ..self.record }
    }

    pub fn case(&self) -> Case<'_> {
        let TestCase { plan, record, host, earlier, judged } = self;
        Case { plan, record, host, earlier, judged, later: &[] }
    }

    pub fn observed(&self) -> Observed<'_> {
        Observed::new(&self.case())
    }

    pub fn setup(&self) -> SetupFacts<'_> {
        SetupFacts::new(&self.case())
    }

    pub fn judge(&self) -> PhaseJudgement {
        crate::judge(&self.case())
    }

    /// The findings before the phase runs.
    pub fn preflight(&self) -> Vec<Finding> {
        crate::preflight::preflight(&self.case())
    }

    /// The findings of one rule on its own, before anything is folded.
    pub fn found(&self, rule: &crate::rule::Rule) -> Vec<Finding> {
        match self.evaluated(rule) {
            crate::rule::Outcome::Found(found) => found,
            _ => Vec::new(),
        }
    }

    /// The facts that one rule lacked.
    pub fn lacked(&self, rule: &crate::rule::Rule) -> Option<String> {
        match self.evaluated(rule) {
            crate::rule::Outcome::NotEvaluated(lacked) => Some(lacked),
            _ => None,
        }
    }

    fn evaluated(&self, rule: &crate::rule::Rule) -> crate::rule::Outcome {
        let case = self.case();
        let parts = crate::parts::of(&case);
        rule.evaluate(&Observed::of_hosts(&case, &parts))
    }
}
