//! Results of a report, in the form that results of all tools share.

mod conditions;

use candor_plan::blocks::{Arrival, Pace};
use candor_plan::work::Figure;
use candor_plan::{Job, Objects, PathText, Phase, Plan, Work};

use candor_record::fmt::ratio;
use candor_record::results::{
    DeviceInterval, DeviceResults, Disturbance, DisturbanceKind, JobResults, LatencyResults, Load,
    OpResults, PhaseResults, Results,
};
use candor_record::{
    DiskCounters, Finding, HostRecord, HostSample, Measurement, OpStats, PhaseJudgement,
    PhaseRecord, Report, Sample, Snapshot, Value,
};

use crate::rates::per_second;

/// The results of a report with their verdicts; search steps are left out.
pub fn results(report: &Report) -> Results {
    let judged = report.judged();
    Results {
        name: report.plan.name.clone(),
        verdict: Some(report.judgement.verdict),
        headline: report.judgement.headline.clone(),
        conditions: conditions::of(report),
        phases: judged.map(|(record, judged)| phase(&report.plan, record, judged)).collect(),
        ..run(report)
    }
}

/// The results of the search steps of a run that moved data, without a verdict.
pub fn search_results(report: &Report) -> Results {
    let steps = report.phases.iter().filter(|record| record.search_step);
    let phases = steps.filter_map(|record| {
        let tried = record.tried.as_ref()?;
        let is_data = tried.jobs.iter().any(|job| matches!(job.work, Work::Blocks(_)));
        is_data.then(|| phase_results(&report.plan, Some(tried), record))
    });
    Results { phases: phases.collect(), ..run(report) }
}

/// The run as a whole, without results.
fn run(report: &Report) -> Results {
    Results {
        tool: format!("candor {}", report.candor_version),
        started: Some(report.started.clone()),
        command: report.command.clone(),
        ..Results::default()
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
    let paths = planned.iter().flat_map(|job| &job.targets);
    let paths = paths.filter_map(|name| Some(plan.target(name)?.path.text()));
    let buckets = planned.iter().flat_map(|job| buckets(plan, job));
    let occurred = measured.operations.iter().filter(|op| op.ops > 0 || op.failed > 0);
    let mut operations: Vec<OpResults> =
        occurred.map(|op| operation(op, &measured.samples)).collect();
    add_bytes_to_commits(&mut operations);
    JobResults {
        job: measured.job.clone(),
        load: planned.map(load).unwrap_or_default(),
        conditions: phase
            .map(|phase| conditions::of_job(phase, &measured.job, features))
            .unwrap_or_default()
            .into_iter()
            .chain(measured.http.iter().flat_map(|http| conditions::of_http(http)))
            .collect(),
        targets: paths.chain(buckets).collect(),
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

/// The load that a job puts on its targets.
pub fn load(job: &Job) -> Load {
    let workers = Some(job.workers);
    match &job.work {
        Work::Blocks(blocks) => {
            let even = even(&blocks.pace);
            Load {
                access: Some(blocks.access_word()),
                block_bytes: blocks.size.iter().map(|(_, size)| size.max().0).max(),
                depth: Some(blocks.depth),
                workers,
                is_paced: blocks.pace.is_rated() || blocks.pace.think.is_some(),
                held_ops_per_s: even.and_then(|pace| Some(pace.ops?.0 as f64)),
                held_bytes_per_s: even.and_then(|pace| Some(pace.bytes?.0 as f64)),
            }
        }
        Work::Entries(entries) => {
            let steps: Vec<_> = entries.steps.iter().map(|step| step.name()).collect();
            Load { access: Some(steps.join(",")), workers, ..Load::default() }
        }
        Work::Objects(objects) => of_objects(objects, workers),
        _ => Load { workers, ..Load::default() },
    }
}

/// The load of requests on objects.
fn of_objects(objects: &Objects, workers: Option<u32>) -> Load {
    let ops: Vec<_> = objects.ops().map(|op| op.operation().name).collect();
    let even = even(&objects.pace);
    Load {
        access: Some(ops.join(",")),
        block_bytes: objects.range.or(objects.part).map(|bytes| bytes.0),
        depth: Some(objects.depth),
        workers,
        is_paced: objects.pace.is_rated() || objects.pace.think.is_some(),
        held_ops_per_s: even.and_then(|pace| Some(pace.ops?.0 as f64)),
        held_bytes_per_s: even.and_then(|pace| Some(pace.bytes?.0 as f64)),
    }
}

/// URLs of the buckets of a job.
fn buckets(plan: &Plan, job: &Job) -> Vec<String> {
    let names = job.work.objects().map_or(&[][..], |objects| &objects.buckets);
    let known = names.iter().filter_map(|name| plan.bucket(name));
    known.map(|bucket| format!("s3://{}/{}", bucket.bucket, bucket.prefix)).collect()
}

/// The pace, if its gaps are even.
fn even(pace: &Pace) -> Option<&Pace> {
    Some(pace).filter(|pace| pace.arrival == Arrival::Fixed && pace.steps.is_empty())
}

/// Shares of the CPUs, of the workers' time and of the device's traffic that other processes had.
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
    shares
        .into_iter()
        .filter_map(|(kind, share)| Some(Disturbance { kind, share: share? }))
        .collect()
}

/// The rule that finds traffic of others.
const OTHER_USERS: &str = "F10";

fn foreign_share(finding: &Finding) -> f64 {
    let [others, all] = ["bytes of others", "bytes of all"].map(|quantity| {
        let found = finding.evidence.iter().find(|evidence| evidence.quantity == quantity);
        found.map_or(0.0, |evidence| match evidence.value {
            Value::Number(number) => number,
            Value::Text(_) => 0.0,
        })
    });
    ratio(others, all)
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

/// Least distance of a snapshot from the last one. Counters of a shorter time are zeros and jumps.
const APART_NS: u64 = 20_000_000;

/// Activity of each device of a host, from one snapshot of a phase to the next.
fn devices(host: &HostRecord) -> Vec<DeviceResults> {
    let during = host.during.iter().filter(|at| host.after.at_ns.abs_diff(at.at_ns) >= APART_NS);
    let moments: Vec<&Snapshot> =
        std::iter::once(&host.before).chain(during).chain([&host.after]).collect();
    let mut devices = Vec::new();
    for (device, _) in &host.before.devices {
        let pairs = moments.windows(2).filter(|pair| pair[1].at_ns > pair[0].at_ns);
        devices.push(DeviceResults {
            host: host.host.clone(),
            device: device.clone(),
            intervals: pairs
                .filter_map(|pair| device_interval(device, host.before.at_ns, pair))
                .collect(),
        });
    }
    devices
}

fn device_interval(device: &str, origin_ns: u64, pair: &[&Snapshot]) -> Option<DeviceInterval> {
    let (before, after) = (pair[0], pair[1]);
    let did: DiskCounters = before.device_delta(after, device)?;
    let length_ns = after.at_ns - before.at_ns;
    Some(DeviceInterval {
        start_ns: before.at_ns.saturating_sub(origin_ns),
        length_ns,
        requests_per_s: None,
        reads_per_s: Some(per_second(did.reads, length_ns)),
        writes_per_s: Some(per_second(did.writes, length_ns)),
        bytes_read_per_s: Some(per_second(did.bytes_read(), length_ns)),
        bytes_written_per_s: Some(per_second(did.bytes_written(), length_ns)),
        read_wait_ns_mean: mean_wait_ns(did.reads, did.read_ms),
        write_wait_ns_mean: mean_wait_ns(did.writes, did.write_ms),
        queue_mean: Some(ratio(did.weighted_ms as f64 * 1e6, length_ns as f64)),
        // The kernel counts in ticks, which may end after the interval.
        utilisation: Some(ratio(did.busy_ms as f64 * 1e6, length_ns as f64).min(1.0)),
    })
}

/// The mean wait of requests. The kernel adds whole milliseconds, so a sum of 0 is unknown.
fn mean_wait_ns(count: u64, ms: u64) -> Option<f64> {
    (count > 0 && ms > 0).then(|| ms as f64 * 1e6 / count as f64)
}

#[cfg(test)]
mod tests {
    use candor_record::OpSample;

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
