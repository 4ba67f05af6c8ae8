//! Results of a report.

use candor_plan::blocks::{Arrival, Pace};
use candor_plan::work::Figure;
use candor_plan::{Job, PathText, Phase, Plan, Work};

use super::{
    DeviceInterval, DeviceResults, Disturbance, DisturbanceKind, Interval, JobResults,
    LatencyResults, Load, OpResults, PhaseResults, Results, conditions,
};
use crate::fmt::ratio;
use crate::{
    DiskCounters, Finding, HostRecord, HostSample, Measurement, OpSample, OpStats, PhaseJudgement,
    PhaseRecord, Report, Sample, Snapshot, Value,
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
            conditions: conditions::of(report),
            phases: report.judged().map(judged).collect(),
        }
    }
}

impl Results {
    /// The trials of data with which a run searched for a load; they are not judged.
    pub fn of_search(report: &Report) -> Results {
        let trial = |record: &PhaseRecord| {
            let tried = record.tried.as_ref()?;
            let is_data = tried.jobs.iter().any(|job| matches!(job.work, Work::Blocks(_)));
            is_data.then(|| phase_results(&report.plan, Some(tried), record))
        };
        let trials = report.phases.iter().filter(|record| record.search_step);
        Results {
            tool: format!("candor {}", report.candor_version),
            started: Some(report.started.clone()),
            command: report.command.clone(),
            phases: trials.filter_map(trial).collect(),
            ..Results::default()
        }
    }
}

fn phase(plan: &Plan, record: &PhaseRecord, judged: &PhaseJudgement) -> PhaseResults {
    PhaseResults {
        disturbances: disturbances(record, judged),
        verdict: Some(judged.verdict),
        headline: judged.headline.clone(),
        ..phase_results(plan, plan.phases.get(record.phase), record)
    }
}

/// Results without a judgement.
fn phase_results(plan: &Plan, planned: Option<&Phase>, record: &PhaseRecord) -> PhaseResults {
    let start = record.measurements.iter().filter_map(|measured| measured.start_unix_ms).min();
    PhaseResults {
        name: record.name.clone(),
        repeat: record.repeat,
        start_unix_ms: start,
        jobs: record.measurements.iter().map(|measured| job(plan, planned, measured)).collect(),
        devices: record.kernels().flat_map(devices).collect(),
        ..PhaseResults::default()
    }
}

fn job(plan: &Plan, phase: Option<&Phase>, measured: &Measurement) -> JobResults {
    let mut jobs = phase.iter().flat_map(|phase| &phase.jobs);
    let planned = jobs.find(|job| job.name == measured.job);
    let features = &measured.engine.features;
    let of_plan = |phase| conditions::of_job(phase, &measured.job, features);
    let occurred = |op: &&OpStats| op.ops > 0 || op.failed > 0;
    let targets = planned.iter().flat_map(|job| &job.targets);
    let path = |name: &String| Some(plan.target(name)?.path.text());
    let mut operations: Vec<OpResults> = measured
        .operations
        .iter()
        .filter(occurred)
        .map(|op| operation(op, &measured.samples))
        .collect();
    add_bytes_to_commits(&mut operations);
    JobResults {
        job: measured.job.clone(),
        load: planned.map(Load::from).unwrap_or_default(),
        conditions: phase.map(of_plan).unwrap_or_default(),
        targets: targets.filter_map(path).collect(),
        elapsed_ns: measured.elapsed_ns,
        operations,
    }
}

/// Gives commits the bytes of their writes, which are counted once in a report.
fn add_bytes_to_commits(operations: &mut [OpResults]) {
    let of = |figure| operations.iter().position(|op| op.figure == figure);
    let (Some(writes), Some(commits)) = (of(Figure::Write), of(Figure::Commit)) else { return };
    let writes = operations[writes].clone();
    let commits = &mut operations[commits];
    (commits.bytes, commits.bytes_per_s) = (writes.bytes, writes.bytes_per_s);
    for (commit, write) in commits.intervals.iter_mut().zip(&writes.intervals) {
        commit.bytes_per_s = write.bytes_per_s;
    }
}

impl From<&Job> for Load {
    fn from(job: &Job) -> Load {
        let workers = Some(job.workers);
        match &job.work {
            Work::Blocks(blocks) => Load {
                access: Some(blocks.access_word()),
                block_bytes: blocks.size.iter().map(|(_, size)| size.max().0).max(),
                depth: Some(blocks.depth),
                workers,
                is_paced: blocks.pace.is_rated() || blocks.pace.think.is_some(),
                held_ops_per_s: even(&blocks.pace).and_then(|pace| Some(pace.ops?.0 as f64)),
                held_bytes_per_s: even(&blocks.pace).and_then(|pace| Some(pace.bytes?.0 as f64)),
            },
            Work::Entries(entries) => {
                let steps: Vec<_> = entries.steps.iter().map(|step| step.name()).collect();
                Load { access: Some(steps.join(",")), workers, ..Load::default() }
            }
            _ => Load { workers, ..Load::default() },
        }
    }
}

/// The pace, where its gaps are even.
fn even(pace: &Pace) -> Option<&Pace> {
    Some(pace).filter(|pace| pace.arrival == Arrival::Fixed && pace.steps.is_empty())
}

/// Shares of the CPUs, of the workers' time and of the device's traffic that were not ours.
fn disturbances(record: &PhaseRecord, judged: &PhaseJudgement) -> Vec<Disturbance> {
    let host = record.host();
    let moment = HostSample::between(&host.host, &host.before, &host.after);
    let workers = || record.measurements.iter().flat_map(|measured| &measured.per_worker);
    let own_ns: u64 = workers().map(|worker| worker.cpu_user_ns + worker.cpu_system_ns).sum();
    let own = ratio(own_ns as f64, moment.length_ns as f64 * moment.cpus_busy.len() as f64);
    let waited: Option<u64> = workers().map(|worker| worker.run_wait_ns).sum();
    let worked: u64 = workers().map(|worker| worker.elapsed_ns).sum();
    let stopped = record.measurements.iter().map(|measured| {
        let ns = measured.stopped.map_or(0, |stopped| stopped.ns);
        ratio(ns as f64, measured.elapsed_ns.saturating_add(ns) as f64)
    });
    let could_not = judged.not_evaluated.iter().any(|rule| rule.rule == OTHER_USERS);
    let traffic = judged.finding(OTHER_USERS).map_or(0.0, foreign_share);
    let shares = [
        (DisturbanceKind::CpuOfOthers, moment.cpu_busy.map(|busy| (busy - own).max(0.0))),
        (DisturbanceKind::WaitedForCpu, waited.map(|ns| ratio(ns as f64, worked as f64))),
        (DisturbanceKind::TrafficOfOthers, (!could_not).then_some(traffic)),
        (DisturbanceKind::Stopped, Some(stopped.fold(0.0, f64::max))),
    ];
    let known = shares.into_iter();
    known.filter_map(|(kind, share)| Some(Disturbance { kind, share: share? })).collect()
}

/// The rule that finds traffic of others.
const OTHER_USERS: &str = "F10";

fn foreign_share(finding: &Finding) -> f64 {
    let value = |quantity: &str| {
        let found = finding.evidence.iter().find(|evidence| evidence.quantity == quantity);
        found.map_or(0.0, |evidence| match evidence.value {
            Value::Number(number) => number,
            Value::Text(_) => 0.0,
        })
    };
    ratio(value("bytes of others"), value("bytes of all"))
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
            latency_counts: op.latency_counts.clone(),
        }
    }
}

/// A snapshot nearer to the last one begins no interval: counters of so little time are zeros and
/// leaps.
const APART_NS: u64 = 20_000_000;

/// Activity of each device of a host, from one snapshot of a phase to the next.
fn devices(host: &HostRecord) -> Vec<DeviceResults> {
    let is_apart = |at: &&Snapshot| host.after.at_ns.abs_diff(at.at_ns) >= APART_NS;
    let during = host.during.iter().filter(is_apart);
    let moments: Vec<&Snapshot> =
        std::iter::once(&host.before).chain(during).chain([&host.after]).collect();
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
    let per_s = |count: f64| Some(ratio(count * 1e9, length_ns as f64));
    // The kernel adds up whole milliseconds: a sum of none says nothing.
    let wait = |count: u64, ms: u64| (count > 0 && ms > 0).then(|| ms as f64 * 1e6 / count as f64);
    Some(DeviceInterval {
        start_ns: before.at_ns.saturating_sub(origin_ns),
        length_ns,
        requests_per_s: None,
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
        let mut host = HostRecord {
            before: moment(10, counters(0, 0, 0)),
            during: vec![moment(11, counters(100, 50, 500))],
            after: moment(13, counters(100, 50, 500)),
            ..HostRecord::default()
        };
        // A last look at the end of the phase makes no interval of its own.
        host.during.push(Snapshot { at_ns: 13 * second - 1_000_000, ..host.after.clone() });
        let [device] = &devices(&host)[..] else { panic!("one device") };
        let [first, idle] = &device.intervals[..] else { panic!("two intervals") };
        assert_eq!((first.start_ns, idle.start_ns), (0, second));
        assert_eq!((first.reads_per_s, first.bytes_read_per_s), (Some(100.0), Some(409_600.0)));
        assert_eq!((first.read_wait_ns_mean, first.utilisation), (Some(500_000.0), Some(0.5)));
        assert_eq!((idle.reads_per_s, idle.read_wait_ns_mean), (Some(0.0), None));
    }
}
