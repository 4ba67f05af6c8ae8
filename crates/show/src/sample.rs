//! Hand-built records for the tests of every screen.

pub(crate) mod below;
pub(crate) mod objects;

use candor_plan::units::Direction;
use candor_plan::work::{BlocksOp, Figure, Operation};
use candor_plan::{Blocks, Bytes, Job, Nanos, Phase, Plan, Stop, Target};
use candor_record::facts::*;
use candor_record::requests::*;
use candor_record::*;

/// The third block of a file, as of that write.
fn block_identity(key: u32) -> BlockIdentity {
    let written_unix_s = Some(1_700_000_000);
    BlockIdentity { offset: 8192, key: Some(key), seed: 1, written_unix_s }
}

/// A block that is not what was written, with all that is known of it.
fn mismatch() -> Mismatch {
    Mismatch {
        path: "/data/candor.0".into(),
        offset: 4096,
        length: Bytes(4096),
        kind: MismatchKind::Torn,
        detail: "two generations".into(),
        read_offset: 0,
        read_length: Bytes(65536),
        seen_by: SeenBy::ReadBack,
        expected: Some(BlockIdentity { written_unix_s: None, ..block_identity(7) }),
        found: Some(block_identity(6)),
        sectors: vec![BadSector { sector: 4, key: Some(6), bit: Some(9) }],
        last_use: Some(LastUse { unix_ms: 1_700_000_000_123, is_write: true }),
        wrong_byte: None,
    }
}

/// A latency distribution: `count` samples around `median_ns`, a few of them ten times slower.
pub(crate) fn latency(count: u64, median_ns: u64) -> Option<Latency> {
    let mut histogram = Histogram::new();
    for i in 0..count {
        let spread = median_ns + (i % 40) * median_ns / 400;
        histogram.record(if i % 80 == 79 { median_ns * 10 } else { spread });
    }
    Latency::from_histogram(histogram)
}

/// The counts of `ops_per_s` operations of `size` bytes over ten seconds.
pub(crate) fn stats(ops_per_s: f64, size: u64, median_ns: u64) -> OpStats {
    let ops = (ops_per_s * 10.0) as u64;
    OpStats {
        ops,
        bytes: ops * size,
        ops_per_s,
        bytes_per_s: ops_per_s * size as f64,
        latency: latency(4000, median_ns),
        ..OpStats::default()
    }
}

/// A job that went in one direction.
pub(crate) fn measurement(op: Direction, stats: OpStats) -> Measurement {
    let mut measured = Measurement {
        job: "job".into(),
        workers: 1,
        elapsed_ns: 10_000_000_000,
        engine: EngineUsed {
            name: "io_uring".into(),
            features: vec!["fixed-buffers".into(), "defer-taskrun".into()],
            clock: "tsc".into(),
            clock_cost_ns: 12.5,
        },
        occupancy: 1.0,
        ended: Ended::Time,
        ..Measurement::default()
    };
    measured.put(op, stats);
    measured
}

/// A phase with one job.
pub(crate) fn phase(name: &str, measurement: Measurement) -> Judged {
    let host = HostRecord { facts: facts(), ..HostRecord::default() };
    let record = PhaseRecord {
        name: name.into(),
        measurements: vec![measurement],
        hosts: vec![host],
        ..PhaseRecord::default()
    };
    let ceilings = vec![link_ceiling(None)];
    Judged { record, judged: PhaseJudgement { ceilings, ..PhaseJudgement::default() } }
}

/// A phase with its judgement.
#[derive(Clone)]
pub(crate) struct Judged {
    pub(crate) record: PhaseRecord,
    pub(crate) judged: PhaseJudgement,
}

/// The ceiling of the SATA link of [`facts`].
pub(crate) fn link_ceiling(used: Option<f64>) -> Ceiling {
    Ceiling {
        element: "SATA link of sda".into(),
        bytes_per_s: Some(600e6),
        ops_per_s: None,
        arithmetic: "6.0 Gb/s × 8/10 ÷ 8 bits".into(),
        used,
    }
}

/// A link as the limit.
pub(crate) fn sata() -> Limit {
    Limit::Link { link: "SATA link".into() }
}

/// A finding with everything in it.
pub(crate) fn finding(rule: &str, severity: Severity, sentence: &str) -> Finding {
    Finding {
        rule: rule.into(),
        title: "title of the rule".into(),
        severity,
        confidence: Confidence::Certain,
        when: None,
        job: None,
        limits: None,
        measures: None,
        sentence: sentence.into(),
        lost_share_max: None,
        evidence: vec![],
        consequences: vec![],
        advice: String::new(),
        changes: Vec::new(),
        next: None,
    }
}

/// The page cache, told by its rule.
pub(crate) fn page_cache() -> Finding {
    Finding {
        title: "reads were served from memory".into(),
        measures: Some(MeasuredInstead::PageCache),
        evidence: vec![
            Evidence::new("bytes read by the engine", Quantity::bytes(54.3e9), "own counters"),
            Evidence::new(
                "bytes fetched from storage",
                "1.63 GB (3 %)",
                "/proc/self/io read_bytes",
            ),
            Evidence::new(
                "bytes counted on sda",
                Quantity::bytes(1.63e9),
                "/sys/class/block/sda/stat",
            ),
        ],
        advice: "Bypass the page cache, or evict the file and check the eviction.".into(),
        changes: vec![Setting {
            key: "phase[0].job[0].work.blocks.direct".into(),
            value: "true".into(),
        }],
        next: Some("candor run --target /data/file --rw read --bs 1m --direct".into()),
        ..finding(
            "A1",
            Severity::Wrong,
            "97 % of the bytes came from this machine's memory; 5.43 GB/s is the speed of the page \
             cache, not of the disk.",
        )
    }
}

fn queue() -> QueueFacts {
    let file = |name: &str| format!("/sys/block/sda/queue/{name}");
    let number = |n: u64, name: &str| Some(Fact::new(n, file(name)));
    QueueFacts {
        logical_block_bytes: number(512, "logical_block_size"),
        physical_block_bytes: number(4096, "physical_block_size"),
        minimum_io_bytes: number(4096, "minimum_io_size"),
        optimal_io_bytes: number(0, "optimal_io_size"),
        max_request_bytes: number(1280 << 10, "max_sectors_kb"),
        max_hw_request_bytes: number(32 << 20, "max_hw_sectors_kb"),
        max_segments: number(168, "max_segments"),
        chunk_bytes: number(0, "chunk_sectors"),
        nr_requests: number(64, "nr_requests"),
        hw_queues: number(1, "../mq"),
        device_depth: number(32, "../device/queue_depth"),
        scheduler: Some(Fact::new("mq-deadline".into(), file("scheduler"))),
        read_ahead_bytes: number(128 << 10, "read_ahead_kb"),
        write_cache: Some(Fact::new("write back".into(), file("write_cache"))),
        device_cache: None,
        fua: Some(Fact::new(false, file("fua"))),
        rotational: Some(Fact::new(false, file("rotational"))),
        writeback_latency_ns: number(75_000_000, "wbt_lat_usec"),
        counts_commands: None,
        io_poll: Some(Fact::new(false, file("io_poll"))),
        zoned: Some(Fact::new("none".into(), file("zoned"))),
        alignment_offset_bytes: number(0, "../alignment_offset"),
    }
}

fn devices() -> Vec<DeviceFacts> {
    let link = Link {
        kind: "SATA".into(),
        negotiated: Fact::new("6.0 Gbps".into(), "/sys/class/ata_link/link1/sata_spd"),
        possible: Some(Fact::new("6.0 Gbps".into(), "/sys/class/ata_link/link1/hw_sata_spd_limit")),
        ceiling_bytes_per_s: 600_000_000,
        arithmetic: "6.0 Gb/s × 8/10 ÷ 8 bits".into(),
        ..Link::default()
    };
    let disk = DeviceFacts {
        name: "sda".into(),
        number: "8:0".into(),
        kind: DeviceKind::Ata,
        size_bytes: 500_107_862_016,
        model: Some(Fact::new("Example SSD 860".into(), "/sys/block/sda/device/model")),
        bio_based: Some(Fact::new(false, "/sys/block/sda/mq")),
        counts_io: Some(Fact::new(true, "/sys/block/sda/queue/iostats")),
        queue: queue(),
        link: Some(link),
        numa_node: Some(Fact::new(0, "/sys/block/sda/device/numa_node")),
        held_by: vec!["/data".into()],
        ..DeviceFacts::default()
    };
    let partition = DeviceFacts {
        name: "sda1".into(),
        number: "8:1".into(),
        kind: DeviceKind::Partition,
        size_bytes: 500_000_000_000,
        below: vec!["sda".into()],
        partition_start_bytes: Some(Fact::new(1 << 20, "/sys/class/block/sda1/start")),
        ..DeviceFacts::default()
    };
    vec![partition, disk]
}

/// A directory on ext4 on a partition of a SATA disk.
pub(crate) fn facts() -> Facts {
    let host = HostFacts {
        kernel: Some(Fact::new("6.12.9".into(), "uname")),
        cpu_model: Some(Fact::new("Example CPU 7000".into(), "/proc/cpuinfo")),
        cpus: Some(Fact::new(8, "sched_getaffinity")),
        numa_nodes: Some(Fact::new(1, "/sys/devices/system/node")),
        memory_bytes: Some(Fact::new(32 << 30, "/proc/meminfo MemTotal")),
        memory_available_bytes: Some(Fact::new(20 << 30, "/proc/meminfo MemAvailable")),
        memory_occupied: None,
        page_bytes: 4096,
        clocksource: Some(Fact::new("tsc".into(), "/sys/devices/system/clocksource")),
        clock_cost_ns: Some(Fact::new(24.0, "clock_gettime")),
        hypervisor: Some(Fact::new(false, "/proc/cpuinfo flags")),
        lockdown: Some(Fact::new("none".into(), "/sys/kernel/security/lockdown")),
        cpu_governor: Some(Fact::new("performance".into(), "/sys/devices/system/cpu/cpu0")),
        cpu_idle_exit_ns: Some(Fact::new(133_000, "/sys/devices/system/cpu/cpu0/cpuidle")),
        numa_cpus: vec![(0, Fact::new("0-7".into(), "/sys/devices/system/node/node0/cpulist"))],
        traced_by: None,
        emulator: None,
        cgroup: CgroupFacts {
            memory_max_bytes: Some(Fact::new(4 << 30, "/sys/fs/cgroup/memory.max")),
            cpu_max: Some(Fact::new(2.0, "/sys/fs/cgroup/cpu.max")),
            io: vec![Fact::new(
                IoLimit { device: "8:0".into(), read_ops_per_s: Some(1000), ..IoLimit::default() },
                "/sys/fs/cgroup/io.max",
            )],
        },
    };
    Facts { host, targets: vec![target()], devices: devices(), missing: vec![missing()] }
}

fn missing() -> Missing {
    Missing {
        what: "temperature and wear of sda".into(),
        why: "the device node may not be opened (permission denied)".into(),
        enable: "run as root, or with read access to /dev/sda".into(),
    }
}

fn target() -> TargetFacts {
    TargetFacts {
        target: "target".into(),
        path: "/data".into(),
        kind: PathKind::Directory,
        filesystem: Some(Filesystem {
            kind: "ext4".into(),
            source: "/dev/sda1".into(),
            mount_point: "/data".into(),
            options: "rw,relatime".into(),
            size_bytes: 490 << 30,
            available_bytes: 120 << 30,
            block_bytes: 4096,
            in_memory: false,
            remote: false,
        }),
        held_on: None,
        device: Some(Fact::new("sda1".into(), "/proc/self/mountinfo")),
        other_devices: Vec::new(),
        device_search: None,
        remote: None,
        files: vec![FileFacts {
            path: "/data/candor.0".into(),
            size_bytes: 1 << 30,
            allocated_bytes: 1 << 30,
            extents: Some(Fact::new(
                Extents { count: 8, mapped_bytes: 1 << 30, ..Extents::default() },
                "FIEMAP",
            )),
            direct: DirectIo::Aligned { memory: 512, offset: 4096 },
            inode: Some(12),
            synchronous: false,
        }],
        files_in_all: None,
        shared_bytes: None,
        accounting_probe: Some(AccountingProbe {
            path: "/data/candor.0".into(),
            bytes: 65536,
            passthrough: false,
            direct: true,
            counted: vec![("sda1".into(), 65536), ("sda".into(), 65536)],
            outcome: AccountingOutcome::Counted,
        }),
        names_in_directory: Some(Fact::new(12, "getdents of /data")),
    }
}

fn plan() -> Plan {
    let blocks = Blocks { direct: true, ..Blocks::default() };
    let job = Job { work: blocks.into(), targets: vec!["target".into()], ..Job::default() };
    let stop = Stop { time: Some(Nanos::from_secs(10)), ..Stop::default() };
    Plan {
        name: "check".into(),
        targets: vec![Target {
            path: "/data".into(),
            size: Some(Bytes(1 << 30)),
            ..Target::default()
        }],
        phases: vec![Phase { stop, jobs: vec![job], ..Phase::default() }],
        ..Plan::default()
    }
}

/// A report of these phases; the verdict is the worst of theirs.
pub(crate) fn report(headline: &str, phases: Vec<Judged>) -> Report {
    let verdict = phases.iter().map(|phase| phase.judged.verdict).max().unwrap_or_default();
    let split = |phase: Judged| (!phase.record.search_step).then_some(phase.judged);
    let records = phases.iter().map(|phase| phase.record.clone()).collect();
    let mut judged: Vec<Option<PhaseJudgement>> = phases.into_iter().map(split).collect();
    if let [Some(only)] = &mut judged[..]
        && only.headline.is_empty()
    {
        only.headline = headline.into();
    }
    let judgement = Judgement {
        judgement_version: JUDGEMENT_VERSION,
        candor_version: "0.1.0".into(),
        phases: judged,
        verdict,
        headline: headline.into(),
        repeats: vec![],
        sweep: None,
    };
    Report {
        report_version: REPORT_VERSION,
        candor_version: "0.1.0".into(),
        started: "2026-01-02T03:04:05Z".into(),
        elapsed_s: 58.2,
        command: ["candor", "check", "/data"].map(String::from).to_vec(),
        plan: plan(),
        phases: records,
        notes: vec![],
        judgement,
        cut_short: None,
        interrupted: false,
        percentiles: vec![],
        expectations: vec![],
    }
}

/// The honest series of `candor check`, in which nothing is wrong.
pub(crate) fn series() -> Vec<Judged> {
    let named = [
        ("sequential write 1 MiB, depth 8", Direction::Write, 498.0, 1 << 20, 15_900_000, sata()),
        ("sequential read 1 MiB, depth 8", Direction::Read, 535.0, 1 << 20, 14_900_000, sata()),
        ("random read 4 KiB, depth 1", Direction::Read, 9_120.0, 4096, 105_000, Limit::Latency),
        (
            "random read 4 KiB, depth 32",
            Direction::Read,
            91_400.0,
            4096,
            346_000,
            Limit::DeviceQueue { depth: 32.0, untried: false },
        ),
        ("random write 4 KiB, depth 1", Direction::Write, 22_800.0, 4096, 41_000, Limit::Latency),
    ];
    let mut phases: Vec<Judged> = named
        .into_iter()
        .map(|(name, op, iops, size, median_ns, limit)| {
            let stats = stats(iops, size, median_ns);
            let used = stats.bytes_per_s / 600e6;
            let judged = PhaseJudgement {
                ceilings: vec![link_ceiling(Some(used))],
                limited_by: Some(limit),
                ..PhaseJudgement::default()
            };
            Judged { judged, ..phase(name, measurement(op, stats)) }
        })
        .collect();
    let mut durable = measurement(Direction::Write, stats(640.0, 4096, 48_000));
    let fsync = durable.operation_mut(BlocksOp::Fsync.operation());
    *fsync = OpStats { name: "fsync".into(), figure: Figure::Flush, ..stats(640.0, 0, 1_500_000) };
    let mut durable = phase("durable write 4 KiB", durable);
    durable.judged.limited_by = Some(Limit::FlushLatency);
    phases.push(durable);
    phases
}

/// A report with something in every place.
pub(crate) fn full() -> Report {
    let mut facts = facts();
    facts.devices[0].loop_backing = Some(LoopBacking {
        file: Fact::new("/srv/image".into(), "loop/backing_file"),
        direct: Some(Fact { privileged: true, ..Fact::new(false, "loop/dio") }),
        filesystem: Some("xfs".into()),
        stored: Some(facts.targets[0].files[0].clone()),
        offset_bytes: Some(Fact::new(512, "loop/offset")),
    });
    facts.devices.push(below::device());
    facts.targets[0].remote = Some(below::remote("NFS"));
    let limit = &mut facts.host.cgroup.io[0].value;
    limit.read_bytes_per_s = Some(1_000_000);
    limit.write_bytes_per_s = Some(1_000_000);
    limit.write_ops_per_s = Some(1000);
    let note = Note {
        asked: "registered buffers".into(),
        did: "without them".into(),
        why: "the limit of locked memory is 64 KiB".into(),
        place: Some("job.toml:12:3".into()),
    };
    let mut phase = full_phase();
    phase.record.hosts[0].facts = facts;
    let expectation = Expectation {
        condition: "read p99 < 10ms".into(),
        result: ExpectationResult::NotMet,
        value: Some(12e6),
        limit: 10e6,
        unit: Unit::Ns,
        phase: phase.record.name.clone(),
        job: "job".into(),
        operation: "read".into(),
        sentence: "P99 latency of read is 12 ms, limit 10 ms.".into(),
    };
    Report {
        notes: vec![note],
        cut_short: Some("interrupted in phase 1 of 1.".into()),
        interrupted: true,
        expectations: vec![expectation],
        ..report("correct.", vec![phase])
    }
}

fn full_phase() -> Judged {
    let consequence = Consequence {
        rule: "A2".into(),
        title: "data cached before the phase".into(),
        sentence: "62 % of the files were cached.".into(),
        is_reason: true,
    };
    let finding = Finding {
        job: Some("job".into()),
        limits: Some(Limit::PageCache),
        consequences: vec![consequence],
        ..page_cache()
    };
    let idle = IdleWindow { before: full_snapshot(), after: full_snapshot() };
    let host = HostRecord {
        host: "host".into(),
        facts: Facts::default(),
        later_facts: vec![LaterFacts { at_ns: 2_000_000_000, ..LaterFacts::default() }],
        idle: Some(idle),
        before: full_snapshot(),
        during: vec![full_snapshot()],
        after: full_snapshot(),
        after_flush: Some(full_snapshot()),
        requests: Some(requests()),
        submission: Some(SubmissionTrial {
            one_at_a_time: true,
            ops_per_s_at_once: 35_900.0,
            ops_per_s_one_at_a_time: 40_100.0,
        }),
        memory_copy: Some(MemoryCopy { bytes_per_s: 8.4e9, threads: 2, ..MemoryCopy::default() }),
        member: None,
        measurements: Vec::new(),
    };
    let mut phase = phase("write", full_measurement());
    phase.record.hosts = vec![host];
    phase.record.follow_ups = vec![follow_up()];
    phase.judged = PhaseJudgement {
        findings: vec![finding],
        not_evaluated: vec![NotEvaluated { rule: "B8".into(), lacked: "run-queue waits".into() }],
        ceilings: vec![Ceiling { ops_per_s: Some(146_484.0), ..link_ceiling(Some(0.87)) }],
        limited_by: Some(sata()),
        follow_ups: vec![FLAT.into()],
        ..PhaseJudgement::default()
    };
    phase
}

/// Result of [`follow_up`].
pub(crate) const FLAT: &str = "Depth 64: 92.4k IOPS, 1.01 times the phase's 91.4k IOPS: no gain. \
    Cost: 1.1 s, read 361 MiB.";

/// A follow-up that doubled the depth, for nothing.
pub(crate) fn follow_up() -> FollowUp {
    FollowUp {
        change: Change::MoreDepth,
        why: "no counter shows whether the device can do more".into(),
        workers: 1,
        depth: 64,
        cost_s: 1.1,
        measurement: full_measurement(),
        before: full_snapshot(),
        after: full_snapshot(),
    }
}

/// Counters of every operation that blocks can do.
fn full_operations() -> Vec<OpStats> {
    let stats = OpStats {
        submission: latency(4000, 1000),
        completion: latency(4000, 79_000),
        from_intended: latency(4000, 90_000),
        by_priority: vec![OfPriority {
            latency: latency(4000, 80_000),
            completion: latency(4000, 79_000),
            ..OfPriority::default()
        }],
        ..stats(900.0, 4096, 80_000)
    };
    let operation = |row: &Operation| {
        let (name, figure) = (row.name.into(), row.figure);
        OpStats { name, figure, ..stats.clone() }
    };
    BlocksOp::TABLE.iter().map(operation).collect()
}

/// Counts of reads alone.
fn first_done(Progress { at_ns, ops, bytes }: Progress) -> FirstDone {
    let reads = OpCount { ops, bytes, ..OpCount::of(BlocksOp::Read.operation()) };
    FirstDone { at_ns, ops, bytes, operations: vec![reads], ..FirstDone::default() }
}

fn full_measurement() -> Measurement {
    let progress = Progress { at_ns: 9_000_000_000, ops: 8_900, bytes: 36_454_400 };
    Measurement {
        elapsed_with_flush_ns: Some(11_000_000_000),
        operations: full_operations(),
        first_done: Some(first_done(progress)),
        last_done: progress,
        samples: vec![Sample {
            at_ns: 1_000_000_000,
            operations: vec![
                OpSample {
                    ops: 900,
                    latency_ns_p50: Some(80_000),
                    latency_ns_p99: Some(90_000),
                    ..OpSample::of(BlocksOp::Read.operation())
                },
                OpSample::of(BlocksOp::Write.operation()),
            ],
            ..Sample::default()
        }],
        per_worker: vec![WorkerStats {
            run_wait_ns: Some(1000),
            thread_id: Some(4711),
            cpu: Some(3),
            ..WorkerStats::default()
        }],
        depths: Some(Depths::default()),
        depth_reached: Some(12),
        steady: Some(SteadyState {
            windows: vec![SteadyWindow::default()],
            ..SteadyState::default()
        }),
        start_unix_ms: Some(1_795_260_000_000),
        errors: vec![IoFailure {
            op: Some("write".into()),
            path: "/data/candor.0".into(),
            offset: 4096,
            errno: 28,
            message: "No space left on device".into(),
            count: 1,
        }],
        verify: Some(VerifyStats {
            blocks: 1000,
            first: vec![mismatch()],
            journal: Some(JournalStats { records: 8, writes: 4, elapsed_ns: 1000, pending: 1 }),
            last_writes: Some(LastWrites {
                synced_issued: 0,
                synced: Vec::new(),
                issued: 1000,
                files: 1,
                finished: vec![FinishedWrite { file: 0, offset: 61440 }],
            }),
            ..VerifyStats::default()
        }),
        read_back: Some(ReadBack {
            reads: full_operations().swap_remove(BlocksOp::ReadBack as usize),
            elapsed_ns: 500_000_000,
            cpu_user_ns: 1_000_000,
            cpu_system_ns: 2_000_000,
        }),
        ..measurement(Direction::Write, stats(900.0, 4096, 80_000))
    }
}

fn full_snapshot() -> Snapshot {
    let cache = CacheState {
        size_bytes: 1 << 30,
        resident_bytes: 4096,
        dirty_bytes: Some(0),
        writeback_bytes: Some(0),
    };
    Snapshot {
        at_ns: 1,
        devices: vec![("sda".into(), DiskCounters::default())],
        process_io: Some(ProcessIo::default()),
        cache: Some(cache),
        vmstat: Some(VmStat::default()),
        cpu: Some(CpuTimes::default()),
        cpus: vec![CpuTimes::default()],
        pressure: Some(Pressure::default()),
        softirq_block: vec![0],
        interrupts: vec![("sda".into(), vec![7])],
        uring_workers: Some(0),
        uring_worker_bytes: Some(0),
        state: below::state(),
    }
}

/// The traced requests of random reads with some writes of the filesystem's own.
pub(crate) fn requests() -> RequestStats {
    let reads = Requests {
        device: "sdb".into(),
        direction: RequestOp::Read,
        count: 20_000,
        bytes: 20_000 * 4096,
        counted: Some(200_000),
        splits: 4_000,
        merged: Some(50_000),
        sizes_log2: vec![(4096, 20_000)],
        sizes_4k: vec![(4096, 20_000)],
        starts_in_4k: vec![(0, 19_995), (512, 5)],
        off_physical_sector: 5,
        off_optimal: 4,
        length_off_4k: 3,
        flags: vec![("sync".into(), 20_000)],
        placed: 20_000,
        sequential: 200,
        seeks: vec![(1 << 20, 9_800), (1 << 30, 10_000)],
        latency_ns: vec![(81_920, 19_000), (163_840, 1_000)],
        latency_ns_sum: 1_800_000_000,
        device_latency_ns: vec![(65_536, 20_000)],
        issuers: vec![Issuer {
            pid: 4711,
            command: "candor".into(),
            count: 20_000,
            bytes: 81_920_000,
        }],
        own: Some(Box::new(Requests { count: 20_000, bytes: 81_920_000, ..Requests::default() })),
    };
    let flushes = Requests {
        device: "sdb".into(),
        direction: RequestOp::Flush,
        count: 1,
        counted: Some(1),
        latency_ns: vec![(2_097_152, 1)],
        ..Requests::default()
    };
    RequestStats {
        method: "BPF on raw tracepoints".into(),
        own_pid: 4711,
        requests: vec![reads, flushes],
        ..RequestStats::default()
    }
}

/// A run of three hosts: a fast one, one that is late and slow, one that was lost.
pub(crate) fn of_hosts() -> Report {
    let host = |index: u32, name: &str, ops_per_s: f64| {
        let stats = stats(ops_per_s, 4096, 100_000 + 300_000 * u64::from(index));
        let measured = Measurement { workers: 4, ..measurement(Direction::Read, stats) };
        let member = FleetMember {
            index,
            kernel_of: index,
            started_late_ns: Some(1_200_000_000 * i64::from(index == 1)),
            ..FleetMember::default()
        };
        let mut host = HostRecord {
            host: name.into(),
            facts: facts(),
            member: Some(member),
            measurements: vec![measured],
            ..HostRecord::default()
        };
        host.facts.targets[0].remote = Some(below::remote("NFS"));
        let busy = |user_ns| CpuTimes { user_ns, ..CpuTimes::default() };
        let cpu = |user_ns, idle_ns| Some(CpuTimes { idle_ns, ..busy(user_ns) });
        (host.before.at_ns, host.before.cpu) = (0, cpu(0, 0));
        (host.after.at_ns, host.after.cpu) = (10_000_000_000, cpu(3_000_000_000, 7_000_000_000));
        host
    };
    let mut hosts =
        vec![host(0, "node-a", 50_000.0), host(1, "node-b", 21_000.0), host(2, "node-c", 9000.0)];
    hosts[2].facts.missing.clear();
    let why = "silent for 2.0 s".to_owned();
    if let Some(member) = &mut hosts[2].member {
        member.lost = Some(LostHost { at_ns: Some(4_100_000_000), why });
    }
    let mut whole = hosts[0].measurements[0].clone();
    hosts[1..].iter().for_each(|host| whole.merge(host.measurements[0].clone()));
    let mut phase = phase("random read 4 KiB", whole);
    phase.record.hosts = hosts;
    let lost = finding(
        "G18",
        Severity::Unverified,
        "node-c was lost 4.1 s after the start (silent for 2.0 s), with 90k operations complete. \
         The numbers are partial, without a verdict on the whole run.",
    );
    let late = finding(
        "G14",
        Severity::Caution,
        "node-b started 1.2 s late, 12 % of the time of the phase after node-a.",
    );
    let judged =
        |host: &str, verdict, limited_by| HostJudgement { host: host.into(), verdict, limited_by };
    phase.judged.findings = vec![lost, late];
    phase.judged.verdict = Verdict::Unverified;
    phase.judged.hosts = vec![
        judged("node-a", Verdict::Ok, Some(Limit::Latency)),
        judged("node-b", Verdict::Caution, Some(Limit::CpuStarvation { untried: false })),
    ];
    let mut report = report("node-c was lost.", vec![phase]);
    report.judgement.verdict = Verdict::Unverified;
    report
}
