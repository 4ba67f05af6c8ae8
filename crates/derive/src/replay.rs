//! The events of a stored report, recreated from its samples and snapshots.

use candor_record::{
    Event, HostRecord, HostSample, JobSample, Measurement, PhaseJudgement, PhaseRecord, Report,
    Sample,
};

/// Time between two phases whose start is unknown.
const GAP_NS: u64 = 1_000_000_000;

/// The events of a report in order, with their times in ns since the start of the first phase.
/// Counts of single workers per interval, ramps and preparation are not stored, so they are absent.
pub fn replay(report: &Report) -> Vec<(u64, Event)> {
    let started = Event::RunStarted {
        name: report.plan.name.clone(),
        phases: report.results().count(),
        expected_ns: None,
    };
    let notes = report.notes.iter().map(|note| Event::Noted { note: note.clone() });
    let mut events: Vec<(u64, Event)> =
        std::iter::once(started).chain(notes).map(|event| (0, event)).collect();
    let (mut at_ns, mut last): (u64, Option<&PhaseRecord>) = (0, None);
    for (index, record) in report.phases.iter().enumerate() {
        at_ns += last.map_or(0, |last| between_ns(last, record));
        last = Some(record);
        events.extend(phase(record, report.judgement.of(index), at_ns));
    }
    let end_ns = at_ns + last.map_or(0, length_ns);
    let verdict = report.judgement.verdict;
    events.push((end_ns, Event::RunDone { verdict, interrupted: report.interrupted }));
    expect_all(&mut events, end_ns);
    events
}

/// Sets the expected length of the run.
fn expect_all(events: &mut [(u64, Event)], end_ns: u64) {
    if let Some((_, Event::RunStarted { expected_ns, .. })) = events.first_mut() {
        *expected_ns = Some(end_ns);
    }
}

/// Time from the start of a phase to the start of the next phase.
fn between_ns(before: &PhaseRecord, after: &PhaseRecord) -> u64 {
    let [from, to] = [before, after].map(|record| record.host().before.at_ns);
    let length_ns = length_ns(before);
    to.checked_sub(from).filter(|ns| *ns >= length_ns).unwrap_or(length_ns + GAP_NS)
}

/// Length of a phase without ramp and preparation.
fn length_ns(record: &PhaseRecord) -> u64 {
    record.measurements.iter().map(|measured| measured.elapsed_ns).max().unwrap_or(0)
}

fn phase(
    record: &PhaseRecord,
    judged: Option<&PhaseJudgement>,
    begin_ns: u64,
) -> Vec<(u64, Event)> {
    let (phase, length_ns) = (record.name.clone(), length_ns(record));
    let started = Event::PhaseStarted {
        phase: phase.clone(),
        index: record.phase,
        search_step: record.search_step,
        expected_ns: Some(length_ns),
        ceilings: judged.map(|judged| judged.ceilings.clone()).unwrap_or_default(),
    };
    let mut events = vec![(begin_ns, started)];
    let hosts: Vec<Vec<HostSample>> = record.hosts.iter().map(host_samples).collect();
    let intervals = intervals(&record.measurements);
    let last = intervals.len().saturating_sub(1);
    for (at, samples) in intervals.into_iter().enumerate() {
        let at_ns = samples.iter().map(|of| of.sample.at_ns).max().unwrap_or(0);
        // The last interval ends with the phase, and the last host sample contains its counters.
        let hosts = hosts.iter().filter_map(|host| {
            if at == last { host.last().cloned() } else { host.get(at).cloned() }
        });
        let hosts = hosts.collect();
        let sampled = Event::Sampled { phase: phase.clone(), in_ramp: false, samples, hosts };
        events.push((begin_ns + at_ns, sampled));
    }
    for measured in &record.measurements {
        events.extend(measured.per_worker.iter().map(|worker| {
            let (phase, job) = (phase.clone(), measured.job.clone());
            (begin_ns + worker.elapsed_ns, Event::WorkerDone { phase, job, rank: worker.rank })
        }));
    }
    events.sort_by_key(|(at_ns, _)| *at_ns);
    let end_ns = begin_ns + length_ns;
    if let Some(judged) = judged {
        let (verdict, headline) = (judged.verdict, judged.headline.clone());
        events.push((end_ns, Event::PhaseJudged { phase: phase.clone(), verdict, headline }));
    }
    let found = judged.iter().flat_map(|judged| &judged.findings);
    events.extend(found.map(|finding| {
        let finding = Box::new(finding.clone());
        (end_ns, Event::Found { phase: phase.clone(), finding })
    }));
    events.push((end_ns, Event::PhaseDone { record: Box::new(record.clone()) }));
    // A worker may end after the phase, by the time of a final flush.
    let latest = events.iter().map(|(at_ns, _)| *at_ns).max().unwrap_or(end_ns);
    events.iter_mut().rev().take_while(|(_, event)| is_of_end(event)).for_each(|(at_ns, _)| {
        *at_ns = latest;
    });
    events
}

fn is_of_end(event: &Event) -> bool {
    matches!(event, Event::PhaseJudged { .. } | Event::Found { .. } | Event::PhaseDone { .. })
}

/// Samples of all jobs by interval. The last sample of a job that ended within an interval is
/// earlier than the samples of the others.
fn intervals(measurements: &[Measurement]) -> Vec<Vec<JobSample>> {
    let mut all: Vec<(&str, &Sample)> = measurements
        .iter()
        .flat_map(|measured| measured.samples.iter().map(|of| (measured.job.as_str(), of)))
        .collect();
    all.sort_by_key(|(_, sample)| sample.at_ns);
    let mut intervals: Vec<Vec<JobSample>> = Vec::new();
    for (job, sample) in all {
        let of = JobSample { job: job.into(), sample: sample.clone(), workers: Vec::new() };
        match intervals.last_mut().filter(|interval| belongs_to(&of, interval)) {
            Some(interval) => interval.push(of),
            None => intervals.push(vec![of]),
        }
    }
    intervals
}

/// Whether a later sample belongs to an interval: it is near the first sample, and its job has no
/// sample in the interval.
fn belongs_to(of: &JobSample, interval: &[JobSample]) -> bool {
    let (first, sample) = (&interval[0].sample, &of.sample);
    let is_near = sample.at_ns - first.at_ns <= first.length_ns.min(sample.length_ns) / 2;
    is_near && interval.iter().all(|other| other.job != of.job)
}

/// Work of the host between each two of its snapshots.
fn host_samples(host: &HostRecord) -> Vec<HostSample> {
    let HostRecord { before, during, after, .. } = host;
    let ends = during.iter().chain([after]);
    let begins = std::iter::once(before).chain(during);
    let both = begins.zip(ends).filter(|(begin, end)| begin.at_ns < end.at_ns);
    both.map(|(begin, end)| HostSample::between(&host.host, begin, end)).collect()
}

#[cfg(test)]
mod tests {
    use candor_plan::work::BlocksOp;

    use super::*;
    use candor_record::{DiskCounters, Judgement, OpSample, Snapshot, Verdict, WorkerStats};

    const SECOND: u64 = 1_000_000_000;

    fn sample(at_ns: u64, ops: u64) -> Sample {
        let read = OpSample { ops, ..OpSample::of(BlocksOp::Read.operation()) };
        Sample { at_ns, length_ns: SECOND, operations: vec![read] }
    }

    fn measurement(job: &str, samples: Vec<Sample>) -> Measurement {
        let elapsed_ns = samples.last().map_or(0, |sample| sample.at_ns);
        let per_worker = vec![WorkerStats { elapsed_ns, ..WorkerStats::default() }];
        Measurement { job: job.into(), elapsed_ns, samples, per_worker, ..Default::default() }
    }

    fn snapshot(at_ns: u64, reads: u64) -> Snapshot {
        let disk = DiskCounters { reads, ..DiskCounters::default() };
        Snapshot { at_ns, devices: vec![("sda".into(), disk)], ..Snapshot::default() }
    }

    /// A phase on two hosts; the second has a different clock and counts twice as much.
    fn record(name: &str, at_ns: u64) -> PhaseRecord {
        let all = (1..=3).map(|s| sample(s * SECOND, 10)).collect();
        let short = vec![sample(SECOND, 1), sample(2 * SECOND - SECOND / 10, 1)];
        let host = |at_ns: u64, times: u64| HostRecord {
            before: snapshot(at_ns, 100),
            during: [(1, 10), (2, 30)]
                .map(|(s, reads)| snapshot(at_ns + s * SECOND, 100 + times * reads))
                .into(),
            after: snapshot(at_ns + 3 * SECOND, 100 + times * 60),
            ..HostRecord::default()
        };
        PhaseRecord {
            name: name.into(),
            measurements: vec![measurement("long", all), measurement("short", short)],
            hosts: vec![host(at_ns, 1), host(at_ns + 7, 2)],
            ..PhaseRecord::default()
        }
    }

    #[test]
    fn events_of_a_stored_report_are_recreated() {
        let judged = PhaseJudgement::default();
        let report = Report {
            phases: vec![record("a", 50 * SECOND), record("b", 60 * SECOND)],
            judgement: Judgement { phases: vec![Some(judged), None], ..Judgement::default() },
            ..Report::default()
        };
        let told = |(at_ns, event): &(u64, Event)| {
            let at = *at_ns as f64 / 1e9;
            match event {
                Event::RunStarted { phases, expected_ns, .. } => {
                    format!("{at}: run of {phases}, {expected_ns:?}")
                }
                Event::PhaseStarted { phase, .. } => format!("{at}: {phase}"),
                Event::Sampled { samples, hosts, .. } => {
                    let jobs: Vec<&str> = samples.iter().map(|of| of.job.as_str()).collect();
                    let reads: Vec<u64> = hosts.iter().map(|of| of.devices[0].reads).collect();
                    format!("{at}: {jobs:?}, reads {reads:?}")
                }
                Event::WorkerDone { job, rank, .. } => format!("{at}: {job} {rank} ended"),
                Event::PhaseJudged { phase, verdict, .. } => format!("{at}: {phase} {verdict:?}"),
                Event::PhaseDone { record } => format!("{at}: {} ended", record.name),
                Event::RunDone { verdict: Verdict::Ok, .. } => format!("{at}: over"),
                other => format!("{other:?}"),
            }
        };
        let told: Vec<String> = replay(&report).iter().map(told).collect();
        let expected = [
            "0: run of 2, Some(13000000000)",
            "0: a",
            r#"1: ["long", "short"], reads [10, 20]"#,
            "1.9: short 0 ended",
            r#"2: ["short", "long"], reads [20, 40]"#,
            r#"3: ["long"], reads [30, 60]"#,
            "3: long 0 ended",
            "3: a Ok",
            "3: a ended",
            "10: b",
        ];
        assert_eq!(told[..10], expected, "{told:#?}");
        assert_eq!(told.last().map(String::as_str), Some("13: over"));
    }

    #[test]
    fn reports_without_phases_or_snapshots_have_events() {
        assert_eq!(replay(&Report::default()).len(), 2);
        let bare = |name| PhaseRecord { hosts: Vec::new(), ..record(name, 0) };
        let report = Report { phases: vec![bare("a"), bare("b")], ..Report::default() };
        let events = replay(&report);
        let times: Vec<u64> = events.iter().map(|(at_ns, _)| *at_ns).collect();
        assert!(times.is_sorted(), "{times:?}");
        let second = events
            .iter()
            .find(|(_, event)| matches!(event, Event::PhaseStarted { phase, .. } if phase == "b"));
        assert_eq!(second.map(|(at_ns, _)| *at_ns), Some(3 * SECOND + GAP_NS));
    }
}
