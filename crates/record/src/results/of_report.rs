//! Results of a report.

use candor_plan::{Job, Plan, Work};

use super::{
    DeviceInterval, DeviceResults, Interval, JobResults, LatencyResults, Load, OpResults,
    PhaseResults, Results,
};
use crate::fmt::ratio;
use crate::{
    DiskCounters, HostRecord, Measurement, OpSample, OpStats, PhaseJudgement, PhaseRecord, Report,
    Sample, Snapshot,
};

impl From<&Report> for Results {
    fn from(report: &Report) -> Results {
        let judged = |(record, judged)| phase(&report.plan, record, judged);
        Results {
            tool: format!("candor {}", report.candor_version),
            name: report.plan.name.clone(),
            started: Some(report.started.clone()),
            command: report.command.clone(),
            verdict: Some(report.judgement.verdict),
            headline: report.judgement.headline.clone(),
            conditions: super::conditions::of(report),
            phases: report.judged().map(judged).collect(),
        }
    }
}

fn phase(plan: &Plan, record: &PhaseRecord, judged: &PhaseJudgement) -> PhaseResults {
    let jobs = plan.phases.get(record.phase).map_or(&[][..], |phase| &phase.jobs);
    let start = record.measurements.iter().filter_map(|measured| measured.start_unix_ms).min();
    PhaseResults {
        name: record.name.clone(),
        repeat: record.repeat,
        start_unix_ms: start,
        verdict: Some(judged.verdict),
        headline: judged.headline.clone(),
        jobs: record
            .measurements
            .iter()
            .map(|measured| {
                let planned = jobs.iter().find(|job| job.name == measured.job);
                job(plan, planned, measured)
            })
            .collect(),
        devices: record.hosts.iter().flat_map(devices).collect(),
    }
}

fn job(plan: &Plan, planned: Option<&Job>, measured: &Measurement) -> JobResults {
    let occurred = |op: &&OpStats| op.ops > 0 || op.failed > 0;
    let targets = planned.iter().flat_map(|job| &job.targets);
    let path = |name: &String| Some(plan.target(name)?.path.display().to_string());
    JobResults {
        job: measured.job.clone(),
        load: planned.map(load).unwrap_or_default(),
        targets: targets.filter_map(path).collect(),
        elapsed_ns: measured.elapsed_ns,
        operations: measured
            .operations
            .iter()
            .filter(occurred)
            .map(|op| operation(op, &measured.samples))
            .collect(),
    }
}

fn load(job: &Job) -> Load {
    let workers = Some(job.workers);
    match &job.work {
        Work::Blocks(blocks) => Load {
            access: Some(blocks.access_word()),
            block_bytes: blocks.size.iter().map(|(_, size)| size.max().0).max(),
            depth: Some(blocks.depth),
            workers,
        },
        Work::Entries(entries) => {
            let steps: Vec<_> = entries.steps.iter().map(|step| step.name()).collect();
            Load { access: Some(steps.join(",")), workers, ..Load::default() }
        }
        _ => Load { workers, ..Load::default() },
    }
}

fn operation(stats: &OpStats, samples: &[Sample]) -> OpResults {
    let intervals = samples.iter().filter_map(|sample| {
        let of = sample.operations.iter().find(|op| op.name == stats.name);
        // An interval in which nothing completed is a rate of 0, not a gap.
        Some(sample.interval(&of.cloned().unwrap_or_default()))
            .filter(|interval| interval.length_ns > 0)
    });
    OpResults {
        operation: stats.name.clone(),
        figure: stats.figure,
        ops: Some(stats.ops),
        bytes: Some(stats.bytes),
        failed: Some(stats.failed),
        ops_per_s: Some(stats.ops_per_s),
        bytes_per_s: Some(stats.bytes_per_s),
        latency: stats.latency.as_ref().map(LatencyResults::from),
        intervals: intervals.collect(),
    }
}

impl Sample {
    /// Rates and latencies of one of its operations: the only place where they are computed.
    pub fn interval(&self, op: &OpSample) -> Interval {
        let per_s = |count: u64| ratio(count as f64 * 1e9, self.length_ns as f64);
        Interval {
            start_ns: self.at_ns.saturating_sub(self.length_ns),
            length_ns: self.length_ns,
            ops_per_s: Some(per_s(op.ops)),
            bytes_per_s: Some(per_s(op.bytes)),
            // A job that takes no latencies has a sum of none.
            latency_ns_mean: Some(ratio(op.latency_sum_ns as f64, op.ops as f64))
                .filter(|mean| *mean > 0.0),
            latency_ns_p50: op.latency_ns_p50,
            latency_ns_p99: op.latency_ns_p99,
        }
    }
}

/// Activity of each device of a host, from one snapshot of a phase to the next.
fn devices(host: &HostRecord) -> Vec<DeviceResults> {
    let moments: Vec<&Snapshot> =
        std::iter::once(&host.before).chain(&host.during).chain([&host.after]).collect();
    let pairs = || moments.windows(2).filter(|pair| pair[1].at_ns > pair[0].at_ns);
    let intervals = |device: &str| {
        pairs().filter_map(|pair| device_interval(device, host.before.at_ns, pair)).collect()
    };
    host.before
        .devices
        .iter()
        .map(|(device, _)| DeviceResults {
            host: host.host.clone(),
            device: device.clone(),
            intervals: intervals(device),
        })
        .collect()
}

fn device_interval(device: &str, origin_ns: u64, pair: &[&Snapshot]) -> Option<DeviceInterval> {
    let (before, after) = (pair[0], pair[1]);
    let did: DiskCounters = before.device_delta(after, device)?;
    let length_ns = after.at_ns - before.at_ns;
    let per_s = |count: f64| ratio(count * 1e9, length_ns as f64);
    // The kernel adds up whole milliseconds: a sum of none says nothing.
    let wait = |count: u64, ms: u64| (count > 0 && ms > 0).then(|| ms as f64 * 1e6 / count as f64);
    Some(DeviceInterval {
        start_ns: before.at_ns.saturating_sub(origin_ns),
        length_ns,
        reads_per_s: per_s(did.reads as f64),
        writes_per_s: per_s(did.writes as f64),
        bytes_read_per_s: per_s(did.bytes_read() as f64),
        bytes_written_per_s: per_s(did.bytes_written() as f64),
        read_wait_ns_mean: wait(did.reads, did.read_ms),
        write_wait_ns_mean: wait(did.writes, did.write_ms),
        queue_mean: Some(ratio(did.weighted_ms as f64 * 1e6, length_ns as f64)),
        // The kernel counts in ticks, which may end after the interval.
        utilisation: Some(ratio(did.busy_ms as f64 * 1e6, length_ns as f64).min(1.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_rates_and_a_device_its_waits() {
        let second = 1_000_000_000;
        let op = OpSample { ops: 500, bytes: 2000, latency_sum_ns: 1000, ..OpSample::default() };
        let sample = Sample { at_ns: 3 * second, length_ns: second / 2, operations: vec![] };
        let interval = sample.interval(&op);
        assert_eq!(interval.start_ns, 5 * second / 2);
        assert_eq!((interval.ops_per_s, interval.bytes_per_s), (Some(1000.0), Some(4000.0)));
        assert_eq!(interval.latency_ns_mean, Some(2.0));

        let counters = |reads, read_ms, busy_ms| DiskCounters {
            reads,
            read_sectors: reads * 8,
            read_ms,
            busy_ms,
            ..DiskCounters::default()
        };
        let moment = |at_s: u64, did| Snapshot {
            at_ns: at_s * second,
            devices: vec![("sda".into(), did)],
            ..Snapshot::default()
        };
        let host = HostRecord {
            before: moment(10, counters(0, 0, 0)),
            during: vec![moment(11, counters(100, 50, 500))],
            after: moment(13, counters(100, 50, 500)),
            ..HostRecord::default()
        };
        let [device] = &devices(&host)[..] else { panic!("one device") };
        let [first, idle] = &device.intervals[..] else { panic!("two intervals") };
        assert_eq!((first.start_ns, idle.start_ns), (0, second));
        assert_eq!((first.reads_per_s, first.bytes_read_per_s), (100.0, 409_600.0));
        assert_eq!((first.read_wait_ns_mean, first.utilisation), (Some(500_000.0), Some(0.5)));
        assert_eq!((idle.reads_per_s, idle.read_wait_ns_mean), (0.0, None));
    }
}
