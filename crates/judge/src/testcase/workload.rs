//! An honest run on a virtual disk, from a few figures.

use candor_plan::blocks::{Access, Engine};
use candor_plan::units::{Direction, Mix, PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Job, Nanos, Phase, Plan, Stop, Target};
use candor_record::facts::*;
use candor_record::*;

use super::TestCase;

/// Work of an honest run.
#[derive(Clone, Debug)]
pub struct Workload {
    pub op: Direction,
    pub bs: u64,
    pub depth: u32,
    pub workers: u32,
    pub engine: Engine,
    pub direct: bool,
    pub ops_per_s: f64,
    pub seconds: u64,
    pub ramp_s: u64,
}

impl Default for Workload {
    fn default() -> Self {
        Workload {
            op: Direction::Read,
            bs: 4096,
            depth: 1,
            workers: 1,
            engine: Engine::IO_URING,
            direct: true,
            ops_per_s: 10_000.0,
            seconds: 10,
            ramp_s: 0,
        }
    }
}

pub const MIB: u64 = 1 << 20;

impl Workload {
    /// The run, on a written file on ext4 on a virtual disk.
    pub fn case(&self) -> TestCase {
        let mut case = TestCase {
            plan: self.plan(),
            record: PhaseRecord { name: "phase".into(), ..PhaseRecord::default() },
            host: HostRecord { facts: facts(), ..HostRecord::default() },
            earlier: Vec::new(),
            judged: Vec::new(),
        };
        case.record.measurements = vec![self.measurement()];
        case.host.before = snapshot(1_000_000_000, DiskCounters::default());
        case.host.after = self.after();
        case
    }

    fn ops(&self) -> u64 {
        (self.ops_per_s * self.seconds as f64) as u64
    }

    fn bytes(&self) -> u64 {
        self.ops() * self.bs
    }

    fn in_flight(&self) -> f64 {
        f64::from(if self.engine.is_async() { self.depth } else { 1 }) * f64::from(self.workers)
    }

    fn plan(&self) -> Plan {
        let blocks = Blocks {
            mix: if self.op == Direction::Read { Mix::READ } else { Mix::WRITE },
            access: Access::Random,
            size: PerDirection::all(SizeSpec::Fixed(Bytes(self.bs))),
            depth: self.depth,
            engine: self.engine,
            direct: self.direct,
            ..Blocks::default()
        };
        let job = Job {
            workers: self.workers,
            targets: vec!["target".into()],
            work: blocks.into(),
            ..Job::default()
        };
        let stop = Stop { time: Some(Nanos::from_secs(self.seconds)), ..Stop::default() };
        let ramp = Nanos::from_secs(self.ramp_s);
        let phase = Phase { stop, ramp, jobs: vec![job], ..Phase::default() };
        let target = Target { path: "/data/file".into(), ..Target::default() };
        Plan { targets: vec![target], phases: vec![phase], ..Plan::default() }
    }

    fn measurement(&self) -> Measurement {
        let mean_ns = self.in_flight() * 1e9 / self.ops_per_s;
        let stats = OpStats {
            ops: self.ops(),
            bytes: self.bytes(),
            ops_per_s: self.ops_per_s,
            bytes_per_s: self.ops_per_s * self.bs as f64,
            latency: Some(latency(self.ops(), mean_ns)),
            ..OpStats::default()
        };
        let mut measured = Measurement {
            job: "job".into(),
            workers: self.workers,
            elapsed_ns: self.seconds * 1_000_000_000,
            samples: self.samples(),
            per_worker: self.worker_stats(),
            engine: EngineUsed {
                name: self.engine.name().into(),
                clock: "tsc".into(),
                clock_cost_ns: 20.0,
                ..EngineUsed::default()
            },
            occupancy: self.in_flight(),
            ended: Ended::Time,
            ..Measurement::default()
        };
        measured.put(self.op, stats);
        measured
    }

    fn samples(&self) -> Vec<Sample> {
        let second = |i: u64| {
            // A quiet second differs from the next by a few percent.
            let ops = self.ops_per_s * (1.0 + 0.03 * if i.is_multiple_of(2) { 1.0 } else { -1.0 });
            let mut sample = Sample {
                at_ns: (i + 1) * 1_000_000_000,
                length_ns: 1_000_000_000,
                ..Sample::default()
            };
            let side = sample.of_mut(self.op);
            (side.ops, side.bytes) = (ops as u64, ops as u64 * self.bs);
            sample
        };
        (0..self.seconds).map(second).collect()
    }

    fn worker_stats(&self) -> Vec<WorkerStats> {
        let elapsed_ns = self.seconds * 1_000_000_000;
        let worker = |rank| WorkerStats {
            rank,
            ops: self.ops() / u64::from(self.workers),
            bytes: self.bytes() / u64::from(self.workers),
            elapsed_ns,
            cpu_user_ns: elapsed_ns / 10,
            cpu_system_ns: elapsed_ns / 5,
            run_wait_ns: Some(elapsed_ns / 50),
            ..WorkerStats::default()
        };
        (0..self.workers).map(worker).collect()
    }

    /// The device counted everything; its queue is a little below the application's.
    fn after(&self) -> Snapshot {
        let weighted_ms = (self.in_flight() * 0.95 * self.seconds as f64 * 1000.0) as u64;
        let counters = DiskCounters { weighted_ms, ..moved(self.op, self.ops(), self.bytes()) };
        let mut after = snapshot(1_000_000_000 * (self.seconds + 1), counters);
        let io = after.process_io.as_mut().unwrap();
        match self.op {
            Direction::Read => (io.rchar, io.read_bytes) = (self.bytes(), self.bytes()),
            _ => (io.wchar, io.write_bytes) = (self.bytes(), self.bytes()),
        }
        after
    }
}

/// Counters of a device that did so much.
pub fn moved(op: Direction, requests: u64, bytes: u64) -> DiskCounters {
    let mut counters = DiskCounters::default();
    match op {
        Direction::Read => (counters.reads, counters.read_sectors) = (requests, bytes / 512),
        _ => (counters.writes, counters.write_sectors) = (requests, bytes / 512),
    }
    counters
}

pub fn latency(count: u64, mean_ns: f64) -> Latency {
    let quoted = PERCENTILES.into_iter().filter(|p| count as f64 * (1.0 - p / 100.0) >= 10.0);
    Latency {
        count,
        min_ns: mean_ns as u64 / 2,
        mean_ns,
        stddev_ns: mean_ns / 10.0,
        max_ns: mean_ns as u64 * 3,
        stop_ns: None,
        percentiles: quoted.map(|p| (p, mean_ns as u64)).collect(),
        histogram: Histogram::new(),
    }
}

fn snapshot(at_ns: u64, counters: DiskCounters) -> Snapshot {
    Snapshot {
        at_ns,
        devices: vec![("vda".into(), counters)],
        process_io: Some(ProcessIo::default()),
        cache: Some(CacheState {
            size_bytes: 1024 * MIB,
            resident_bytes: 0,
            dirty_bytes: Some(0),
            writeback_bytes: Some(0),
        }),
        vmstat: Some(VmStat::default()),
        ..Snapshot::default()
    }
}

pub fn fact<T>(value: T) -> Option<Fact<T>> {
    Some(Fact::new(value, "/sys"))
}

/// The virtual disk of the evidence book, with ext4 and a fully written file on it.
fn facts() -> Facts {
    let queue = QueueFacts {
        logical_block_bytes: fact(512),
        physical_block_bytes: fact(4096),
        max_request_bytes: fact(4096 * 1024),
        max_segments: fact(254),
        write_cache: fact("write back".into()),
        scheduler: fact("mq-deadline".into()),
        ..QueueFacts::default()
    };
    let device = DeviceFacts {
        name: "vda".into(),
        number: "253:0".into(),
        kind: DeviceKind::Virtio,
        size_bytes: 100 << 30,
        counts_io: fact(true),
        queue,
        ..DeviceFacts::default()
    };
    Facts {
        host: HostFacts { cpus: fact(2), page_bytes: 4096, ..HostFacts::default() },
        targets: vec![target_facts()],
        devices: vec![device],
        missing: Vec::new(),
    }
}

fn target_facts() -> TargetFacts {
    let size_bytes = 1024 * MIB;
    let extents = Extents { count: 8, mapped_bytes: size_bytes, ..Extents::default() };
    TargetFacts {
        other_devices: Vec::new(),
        target: "target".into(),
        path: "/data/file".into(),
        kind: PathKind::File,
        filesystem: Some(Filesystem { kind: "ext4".into(), ..Filesystem::default() }),
        held_on: None,
        device: fact("vda".into()),
        device_search: None,
        remote: None,
        files: vec![FileFacts {
            path: "/data/file".into(),
            size_bytes,
            allocated_bytes: size_bytes,
            extents: fact(extents),
            direct: DirectIo::Aligned { memory: 4, offset: 512 },
            inode: Some(12),
            synchronous: false,
        }],
        files_in_all: None,
        shared_bytes: None,
        accounting_probe: Some(AccountingProbe {
            direct: true,
            bytes: MIB,
            outcome: AccountingOutcome::Counted,
            ..AccountingProbe::default()
        }),
        names_in_directory: None,
    }
}
