//! The limit of each job of a phase that has several.

use candor_plan::Plan;
use candor_record::{Finding, HostRecord, Limit, Measurement, PhaseRecord, Snapshot};

use crate::case::Case;
use crate::causes::{self, stage_of};
use crate::limit;
use crate::observed::Observed;
use crate::rules;
use crate::setup::SetupFacts;
use crate::stage::Stage;

/// The limit of each measurement's job, where the phase has several jobs; `findings` are those of
/// the phase. Counters that jobs share tell of none of them alone: a limit that the phase meets as
/// a whole is that of each job, unless one has a deeper one or its own pace.
pub fn of(case: &Case, findings: &[Finding]) -> Vec<Option<Limit>> {
    if case.phase().jobs.len() < 2 {
        return Vec::new();
    }
    let host = own_counters(case);
    let mut plan = case.plan.clone();
    let shared = shared(findings);
    let measured = case.record.measurements.iter().enumerate();
    measured.map(|(at, measured)| of_job(case, &mut plan, &host, at, measured, shared)).collect()
}

/// The limit of the phase as a whole: that of all its jobs, where they have the same. A phase whose
/// jobs have limits of their own has none.
pub fn together(phase: Option<Limit>, jobs: &[Option<Limit>]) -> Option<Limit> {
    match jobs.iter().flatten().next() {
        None => phase,
        first => first.filter(|_| jobs.iter().all(|job| job.as_ref() == first)).cloned(),
    }
}

/// Takes the word "limit" from findings that are not about the limit of the phase, or of their job.
pub fn keep_one(
    findings: &mut [Finding],
    record: &PhaseRecord,
    phase: Option<&Limit>,
    jobs: &[Option<Limit>],
) {
    for finding in findings.iter_mut().filter(|finding| finding.limits.is_some()) {
        let own = finding.job.as_ref().and_then(|name| {
            let at = record.measurements.iter().position(|measured| measured.job == *name)?;
            jobs.get(at)
        });
        let is_limit = match own {
            Some(limit) => *limit == finding.limits,
            None => phase == finding.limits.as_ref() || jobs.contains(&finding.limits),
        };
        if !is_limit {
            finding.limits = None;
        }
    }
}

/// The deepest limit that the phase meets as a whole.
fn shared(findings: &[Finding]) -> Option<(Stage, &Limit)> {
    let whole = findings.iter().filter(|f| f.job.is_none() && stage_of(f) < Stage::Queue);
    let limits = whole.filter_map(|f| Some((stage_of(f), f.limits.as_ref()?)));
    limits.min_by_key(|(stage, _)| *stage)
}

fn of_job(
    case: &Case,
    plan: &mut Plan,
    host: &HostRecord,
    at: usize,
    measured: &Measurement,
    shared: Option<(Stage, &Limit)>,
) -> Option<Limit> {
    let jobs = &case.phase().jobs;
    let named = |at: &usize| jobs.get(*at).is_some_and(|job| job.name == measured.job);
    let place = Some(at).filter(named).or_else(|| jobs.iter().position(|j| j.name == measured.job));
    if measured.ops_done() == 0 {
        return None;
    }
    plan.phases.get_mut(case.record.phase)?.jobs = vec![jobs.get(place?)?.clone()];
    let record = PhaseRecord {
        measurements: vec![measured.clone()],
        hosts: Vec::new(),
        ..case.record.clone()
    };
    let alone = Case { plan, record: &record, host, ..*case };
    let observed = Observed::new(&alone);
    let (findings, _) = rules::evaluate(&observed);
    let findings = causes::join(&observed, findings);
    let own = limit::limited_by(&observed, &findings);
    let paced = matches!(own, Some(Limit::PlanRate { .. } | Limit::ThinkTime));
    let named = findings.iter().filter(|finding| finding.limits == own).map(stage_of).min();
    let is_deeper = |stage: Stage| own.is_some() && named.is_some_and(|own| own < stage);
    match shared {
        Some((stage, limit)) if !paced && !is_deeper(stage) => Some(limit.clone()),
        _ => own,
    }
}

/// The host without the counters that several jobs move: those of the process, of the page cache,
/// and of devices that lie under more than one job.
fn own_counters(case: &Case) -> HostRecord {
    let setup = SetupFacts::new(case);
    let under = |index: usize| {
        let targets = setup.targets_of(|job| job.index == index).into_iter();
        let tops = targets.filter_map(|t| t.device.as_ref().map(|device| device.value.as_str()));
        let chains = tops.flat_map(|top| setup.chain(top));
        let mut names: Vec<&str> = chains.map(|device| device.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    };
    let mut all: Vec<&str> = setup.jobs.iter().flat_map(|job| under(job.index)).collect();
    all.sort_unstable();
    let shared: Vec<&str> =
        all.chunk_by(|a, b| a == b).filter(|n| n.len() > 1).map(|n| n[0]).collect();
    let own = |snapshot: &Snapshot| {
        let mut own = Snapshot { process_io: None, cache: None, ..snapshot.clone() };
        own.devices.retain(|(name, _)| !shared.contains(&name.as_str()));
        own
    };
    let HostRecord { facts, before, after, .. } = case.host;
    HostRecord {
        facts: facts.clone(),
        before: own(before),
        after: own(after),
        ..HostRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::OpsPerSec;
    use candor_record::Severity;

    use super::*;
    use crate::testcase::TestCase;

    /// Two jobs on one file: a deep reader whose thread is busy, and one under a rate.
    fn two() -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 300_000.0);
        case.measured().per_worker[0].cpu_system_ns = 9_500_000_000;
        let mut paced = TestCase::direct(4096, 1, 1, 1000.0);
        let mut job = paced.plan.phases[0].jobs[0].clone();
        job.name = "paced".into();
        job.blocks_mut().unwrap().pace.ops = Some(OpsPerSec(1000));
        case.plan.phases[0].jobs[0].name = "job".into();
        case.plan.phases[0].jobs.push(job);
        let measured = Measurement { job: "paced".into(), ..paced.measured().clone() };
        case.record.measurements.push(measured);
        case
    }

    #[test]
    fn each_job_has_a_limit_of_its_own() {
        let judgement = two().judge();
        let limits: Vec<_> = judgement.job_limits.iter().flatten().map(Limit::to_string).collect();
        assert_eq!(limits, ["one CPU thread", "the plan's rate (1000 IOPS)"]);
        assert_eq!(judgement.limited_by, None, "the phase has no limit of its own");
        assert!(judgement.finding("B7").is_some_and(|found| found.limits.is_some()));
    }

    #[test]
    fn what_limits_the_phase_as_a_whole_limits_its_jobs() {
        let mut case = two().sata(1_300_000_000);
        case.measured().per_worker[0].cpu_system_ns = 1_000_000_000;
        let judgement = case.judge();
        let limits: Vec<_> = judgement.job_limits.iter().flatten().map(Limit::to_string).collect();
        assert_eq!(limits, ["the SATA link of sda", "the plan's rate (1000 IOPS)"]);
    }

    #[test]
    fn one_job_is_the_phase() {
        let judgement = TestCase::direct(4096, 1, 1, 10_000.0).judge();
        assert_eq!(judgement.job_limits, []);
        assert_eq!(judgement.limited_by, Some(Limit::Latency));
    }

    /// A worker that waits for a CPU before a full queue: the queue is the deeper of the two.
    #[test]
    fn no_finding_names_another_limit() {
        let mut case = TestCase::direct(4096, 32, 1, 570.0);
        case.disk().queue.device_depth = crate::testcase::fact(8);
        case.after_top().weighted_ms = 70_000;
        case.measured().per_worker[0].run_wait_ns = Some(3_000_000_000);
        let judgement = case.judge();
        let naming = judgement.findings.iter().filter(|finding| finding.limits.is_some());
        assert_eq!(naming.map(|finding| finding.rule.as_str()).collect::<Vec<_>>(), ["B5"]);
        let starved = judgement.finding("B8").expect("a remark");
        assert_eq!(starved.severity, Severity::Caution);
    }
}
