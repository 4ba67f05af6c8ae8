//! B19: workers get in each other's way in a file that they share.

use candor_plan::units::Direction;
use candor_plan::{Blocks, Job, Sharing};
use candor_record::fmt::{self, ratio};
use candor_record::{
    Change, Confidence, Finding, Limit, LimitClass, PhaseRecord, Quantity, Severity,
};

use crate::builder::FindingBuilder;
use crate::follow_ups;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::SHARING_COSTS;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B19",
        title: "sharing files costs",
        explanation: "Several workers in one file wait for its locks: local filesystem locks, or, \
            on cluster filesystems, the locks that move ranges of the file between hosts. The \
            cluster locks have cost a factor of eighty. candor compares two phases of a run that \
            differ only in sharing: the workers share their files, or have one each. With enough \
            files, candor also compares a phase with shared files with a short follow-up on \
            separate files. candor reports a factor of more than two. candor compares only direct \
            work and writes, because one phase may cache the reads of the other. Give each worker \
            a separate file, or align and stripe the shared file.",
    },
    stage: Stage::Engine,
    limit: Some(LimitClass::Filesystem),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let [ran] = observed.ran.as_slice() else { return Outcome::Nothing };
    let compared = ran.blocks.direct || (ran.does(Direction::Write) && !ran.does(Direction::Read));
    if !compared || ran.paced() || ran.job.workers < 2 {
        return Outcome::Nothing;
    }
    let found = by_follow_up(observed, ran).or_else(|| by_phase(observed, ran));
    found.map_or(Outcome::Nothing, Outcome::one)
}

/// Rates with shared files and with files of their own.
struct Rates {
    shared: f64,
    own: f64,
    /// The work at hand is what shared.
    here: bool,
    /// Trial or phase that it is compared with.
    other: String,
}

fn by_follow_up(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let beside = follow_ups::beside(observed, Change::FilesOfTheirOwn)?;
    let other = "a follow-up of the phase".into();
    let rates = Rates { shared: beside.before, own: beside.now, here: true, other };
    beside.faster(SHARING_COSTS.value).then(|| finding(ran, &rates))
}

fn by_phase(observed: &Observed, ran: &Ran) -> Option<Finding> {
    let here = ways(observed, ran.job)?;
    let other = |report: &&PhaseRecord| {
        let job = observed.only_job_of(report)?;
        let alike =
            job.workers == ran.job.workers && job.blocks().is_some_and(|blocks| same(ran, blocks));
        (alike && ways(observed, job)? != here).then(|| rate(report))?
    };
    let earlier = observed.judged_before().filter(|report| report.repeat == 0);
    let (report, then) = earlier.rev().find_map(|report| Some((report, other(&report)?)))?;
    let now = rate(observed.record)?;
    let (shared, own) = if here == Way::Shared { (now, then) } else { (then, now) };
    let other = format!("phase {}", report.name);
    let rates = Rates { shared, own, here: here == Way::Shared, other };
    (ratio(own, shared) > SHARING_COSTS.value).then(|| finding(ran, &rates))
}

/// The same work, whatever the files. Slices of one file are files of their own in another dress.
fn same(ran: &Ran, theirs: &Blocks) -> bool {
    let ours = ran.blocks;
    let (share, range) = (ours.share.clone(), ours.range.clone());
    Blocks { share, range, ..theirs.clone() } == *ours
}

/// Operations per second of a phase with one job.
fn rate(report: &PhaseRecord) -> Option<f64> {
    let [measured] = report.measurements.as_slice() else { return None };
    let rate = ratio(measured.ops_done() as f64, measured.elapsed_ns as f64 / 1e9);
    (rate > 0.0 && measured.errors.is_empty()).then_some(rate)
}

/// How workers and files go together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Shared,
    Own,
}

/// None where it is neither: some workers share, some do not.
fn ways(observed: &Observed, job: &Job) -> Option<Way> {
    let named = job.targets.iter().map(|name| observed.plan.target(name));
    let files: u64 = named.map(|t| t.map_or(0, candor_plan::Target::files_named)).sum();
    match job.sharing {
        Sharing::Own if files >= u64::from(job.workers) => Some(Way::Own),
        Sharing::Own if files > 1 => None,
        Sharing::Own | Sharing::Shared => Some(Way::Shared),
    }
}

fn finding(ran: &Ran, rates: &Rates) -> Finding {
    let workers = fmt::count(f64::from(ran.job.workers));
    let sentence = format!(
        "Sharing files cost {}×: {workers} workers did {} together and {} in separate files.",
        fmt::number(ratio(rates.own, rates.shared)),
        fmt::iops(rates.shared),
        fmt::iops(rates.own),
    );
    let (shared, own) = if rates.here {
        ("candor", rates.other.as_str())
    } else {
        (rates.other.as_str(), "candor")
    };
    let draft = FindingBuilder::new("B19", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence("rate with shared files", Quantity::ops_per_s(rates.shared), shared)
        .evidence("rate with separate files", Quantity::ops_per_s(rates.own), own)
        .advice("Give each worker a separate file, or align and stripe the shared file.", None);
    if rates.here { draft.limits(Limit::SharedFiles).done() } else { draft.done() }
}

#[cfg(test)]
mod tests {
    use candor_plan::Target;

    use super::*;
    use crate::testcase::{TestCase, Workload};

    struct Load {
        sharing: Sharing,
        ops_per_s: f64,
    }

    const fn own(ops_per_s: f64) -> Load {
        Load { sharing: Sharing::Own, ops_per_s }
    }

    const fn shared(ops_per_s: f64) -> Load {
        Load { sharing: Sharing::Shared, ops_per_s }
    }

    /// Eight writers in one file and then in eight, or the other way round.
    fn two(first: Load, second: Load) -> TestCase {
        let of = |Load { sharing, ops_per_s }: Load| {
            let workload =
                Workload { op: Direction::Write, workers: 8, ops_per_s, ..Workload::default() };
            let mut case = workload.case();
            let job = &mut case.plan.phases[0].jobs[0];
            job.sharing = sharing;
            if sharing == Sharing::Own {
                job.targets = vec!["own".into()];
            }
            case
        };
        let (earlier, mut case) = (of(first), of(second));
        case.plan.targets.push(Target { name: "own".into(), files: 8, ..Target::default() });
        case.plan.phases.insert(0, earlier.plan.phases[0].clone());
        case.record.phase = 1;
        case.earlier = vec![PhaseRecord { name: "before".into(), ..earlier.recorded() }];
        case
    }

    #[test]
    fn a_shared_file_that_is_much_slower() {
        let case = two(own(33_645.0), shared(427.0));
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Sharing files cost 78.8×: 8 workers did 427 IOPS together and 33.6k IOPS in separate \
             files."
        );
        assert_eq!(found[0].severity, Severity::Explains);
        assert_eq!(case.judge().limit().as_deref(), Some("workers that share files"));
        let turned = two(shared(427.0), own(33_645.0)).found(&RULE);
        assert_eq!((turned.len(), &turned[0].limits), (1, &None), "the other was limited by it");
    }

    #[test]
    fn files_that_make_no_difference_and_other_work_are_silent() {
        let none = |case: TestCase| assert_eq!(case.found(&RULE), []);
        none(two(own(800.0), shared(427.0)));
        none(two(shared(900.0), shared(427.0)));
        let mut other = two(own(33_645.0), shared(427.0));
        other.plan.phases[0].jobs[0].blocks_mut().unwrap().depth = 32;
        none(other);
        let mut fewer = two(own(33_645.0), shared(427.0));
        fewer.plan.targets[1].files = 4;
        none(fewer);
    }

    #[test]
    fn a_follow_up_shows_that_files_were_shared() {
        let workload = Workload { workers: 8, ops_per_s: 10_000.0, ..Workload::default() };
        let mut case = workload.case();
        case.plan.targets[0].files = 8;
        case.follow_up(Change::FilesOfTheirOwn, 8, 1, 31_000.0);
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("Sharing files cost 3.1×"), "{found:?}");
        case.record.follow_ups[0].measurement.of_mut(Direction::Read).ops /= 2;
        assert_eq!(case.found(&RULE), []);
    }
}
