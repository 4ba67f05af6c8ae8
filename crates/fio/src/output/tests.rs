use candor_plan::units::{Direction, PerDirection};
use candor_plan::work::BlocksOp;
use candor_record::facts::{DeviceFacts, DeviceKind, Fact, TargetFacts};
use candor_record::*;
use jiff::tz::TimeZone;

use super::*;
use crate::job::{Format, Reporting, Shape, SteadyGoal};

mod clients;
mod forms;
mod groups;
mod installed;

/// A distribution around a value, a few of them ten times slower.
fn latency(count: u64, middle_ns: u64) -> Option<Latency> {
    let mut histogram = Histogram::new();
    for i in 0..count {
        let usual = middle_ns + i % 40 * middle_ns / 400;
        histogram.record(if i % 80 == 79 { middle_ns * 10 } else { usual });
    }
    Latency::from_histogram(histogram)
}

fn stats(ops: u64, middle_ns: u64) -> OpStats {
    OpStats {
        ops,
        bytes: ops * 4096,
        latency: latency(ops, middle_ns + 2000),
        submission: latency(ops, 2000),
        completion: latency(ops, middle_ns),
        ..OpStats::default()
    }
}

/// Two seconds of reads and writes with libaio.
fn measurement(reads: u64, writes: u64) -> Measurement {
    let sample = |second: u64, reads: u64| {
        let (at_ns, length_ns) = (second * 1_000_000_000, 1_000_000_000);
        let mut sample = Sample { at_ns, length_ns, ..Sample::default() };
        let read = sample.of_mut(Direction::Read);
        (read.ops, read.bytes) = (reads, reads * 4096);
        let write = sample.of_mut(Direction::Write);
        (write.ops, write.bytes) = (writes / 2, writes * 2048);
        sample
    };
    let worker = WorkerStats {
        elapsed_ns: 2_000_400_000,
        cpu_user_ns: 200_000_000,
        cpu_system_ns: 600_000_000,
        switches_voluntary: 1000,
        switches_involuntary: 7,
        faults_minor: 12,
        thread_id: Some(4711),
        ..WorkerStats::default()
    };
    let mut measured = Measurement {
        job: "mix".into(),
        workers: 1,
        elapsed_ns: 2_000_400_000,
        operations: vec![OpStats {
            ops: 40,
            latency: latency(40, 1_500_000),
            ..OpStats::of(BlocksOp::Fsync.operation())
        }],
        samples: vec![sample(1, reads / 2), sample(2, (reads / 2).saturating_sub(100))],
        per_worker: vec![worker],
        depths: Some(Depths {
            // Flushes have a depth as well.
            in_flight: [1, 2, 4, reads + writes + 40 - 7, 0, 0, 0],
            submitted: [0, reads + writes, 0, 0, 0, 0, 0],
            reaped: [1, reads + writes, 3, 0, 0, 0, 0],
        }),
        steady: Some(SteadyState {
            attained: true,
            mean: 100.0,
            deviation_max: 2.0,
            slope: -3.0,
            windows: [98.0, 102.0]
                .map(|ops_per_s| SteadyWindow { ops_per_s, ..SteadyWindow::default() })
                .to_vec(),
        }),
        start_unix_ms: Some(1_795_260_000_123),
        ended: Ended::Time,
        ..Measurement::default()
    };
    measured.put(Direction::Read, stats(reads, 150_000));
    measured.put(Direction::Write, stats(writes, 90_000));
    measured
}

fn job(name: &str, number: u32) -> FioJob {
    FioJob {
        name: name.into(),
        job: number as usize - 1,
        number,
        options: Some(vec![("rw".into(), "randrw".into()), ("fsync".into(), "16".into())]),
        shape: Shape {
            rw: "randrw".into(),
            sizes: PerDirection::all((4096, 4096)),
            engine: "libaio".into(),
            depth: 8,
            ..Shape::default()
        },
        ..FioJob::default()
    }
}

fn finding() -> Finding {
    Finding {
        rule: "A3".into(),
        title: "writes stayed in memory".into(),
        severity: Severity::Wrong,
        confidence: Confidence::Certain,
        when: None,
        job: Some("mix".into()),
        limits: None,
        measures: Some(MeasuredInstead::PageCache),
        sentence: "The device read 12 % of the 1010 IOPS that were claimed.".into(),
        lost_share_max: None,
        evidence: Vec::new(),
        consequences: Vec::new(),
        advice: "Bypass the page cache.".into(),
        changes: Vec::new(),
        next: Some("candor run --direct --engine libaio /data".into()),
    }
}

/// A disk of a RAID and the RAID itself.
fn facts() -> Facts {
    let device = |name: &str, kind, below: &[&str]| DeviceFacts {
        name: name.into(),
        kind,
        below: below.iter().map(|b| (*b).into()).collect(),
        ..DeviceFacts::default()
    };
    let target =
        TargetFacts { device: Some(Fact::new("md0".into(), "")), ..TargetFacts::default() };
    let devices = vec![
        device("md0", DeviceKind::Md, &["sda1", "sdb"]),
        device("sda1", DeviceKind::Partition, &["sda"]),
        device("sda", DeviceKind::Scsi, &[]),
        device("sdb", DeviceKind::Scsi, &[]),
    ];
    Facts { targets: vec![target], devices, ..Facts::default() }
}

fn snapshot(at_ns: u64, times: u64) -> Snapshot {
    let counters = |n: u64| DiskCounters {
        reads: 700 * n * times,
        read_sectors: 5600 * n * times,
        write_sectors: 2400 * n * times,
        read_merges: 3 * n * times,
        read_ms: 40 * n * times,
        writes: 300 * n * times,
        write_ms: 170 * n * times,
        busy_ms: 60 * n * times,
        weighted_ms: 210 * n * times,
        ..DiskCounters::default()
    };
    let devices = vec![
        ("md0".into(), counters(4)),
        ("sda".into(), counters(1)),
        ("sdb".into(), counters(3)),
        ("sda1".into(), counters(1)),
    ];
    Snapshot { at_ns, devices, ..Snapshot::default() }
}

fn report(measurements: Vec<Measurement>) -> Report {
    let host = HostRecord {
        facts: facts(),
        before: snapshot(1_000_000_000, 1),
        after: snapshot(3_000_000_000, 6),
        ..HostRecord::default()
    };
    let phase = PhaseRecord {
        name: "mix".into(),
        measurements,
        hosts: vec![host],
        ..PhaseRecord::default()
    };
    let judged = PhaseJudgement {
        findings: vec![finding()],
        limited_by: Some(Limit::Latency),
        verdict: Verdict::Wrong,
        ..PhaseJudgement::default()
    };
    Report {
        candor_version: "0.1.0".into(),
        elapsed_s: 2.3,
        phases: vec![phase],
        judgement: Judgement {
            phases: vec![Some(judged)],
            verdict: Verdict::Wrong,
            headline: "Not the device: 1010 IOPS of the page cache.".into(),
            ..Judgement::default()
        },
        notes: vec![Note {
            asked: "iodepth=8".into(),
            did: "kept 4 in flight".into(),
            why: "the engine has no more".into(),
            place: Some("a.fio:3:1".into()),
        }],
        ..Report::default()
    }
}

fn now() -> Moment {
    Moment::of("2026-11-21T11:20:08.485Z".parse().unwrap(), TimeZone::UTC)
}

fn text(report: &Report, jobs: &[FioJob], formats: &[Format]) -> String {
    let output = Output {
        formats: formats.to_vec(),
        global_options: Some(vec![("ioengine".into(), "libaio".into())]),
        ..Output::default()
    };
    write_at(report, jobs, &output, &now())
}

fn json(report: &Report, jobs: &[FioJob]) -> serde_json::Value {
    serde_json::from_str(&text(report, jobs, &[Format::Json])).unwrap()
}
