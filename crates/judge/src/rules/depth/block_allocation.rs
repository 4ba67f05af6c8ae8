//! B18: the filesystem lets one writer at a time allocate blocks.

use candor_plan::units::Direction;
use candor_record::facts::{FileFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{
    Change, Confidence, Finding, Limit, LimitClass, Quantity, Severity, WorkerStats,
};

use crate::builder::FindingBuilder;
use crate::follow_ups::{self, Beside};
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::cache::direct_was_buffered;
use crate::stage::Stage;
use crate::thresholds::{
    ALLOCATION_SURE, BYTES_MIN, MAPPED, NEARLY_BUSY, ONE_AT_A_TIME, QUEUE_SEEN, THREAD_BUSY,
    WORKERS_BUSY,
};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B18",
        title: "writes waited for block allocation",
        explanation: "Writes into holes or beyond the end of a file need new blocks. ext4 and \
            others allocate blocks under a lock of the file. Direct writes to a new file therefore \
            run one at a time, whatever depth was requested (17.8k instead of 53.1k IOPS with four \
            threads). candor reports the finding under three conditions. First, a file written \
            directly was not fully allocated at the start. Second, the device saw far fewer \
            operations in flight than requested (but not two or more at a time all the time). \
            Third, the workers were neither busy on their CPUs nor waiting for a CPU. If a short \
            follow-up wrote the same offsets again, with all blocks allocated, its rate decides; \
            the finding is certain if the follow-up was twice as fast. Lay the file out first, or \
            give each worker a separate file.",
    },
    stage: Stage::Submission,
    limit: Some(LimitClass::Filesystem),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let direct = !observed.ran.is_empty() && observed.all_direct() && !observed.paced();
    let [ran] = observed.ran.as_slice() else { return Outcome::Nothing };
    let many = ran.does(Direction::Write) && ran.concurrency() > 1.0;
    if !direct
        || !many
        || observed.written_before()
        || direct_was_buffered::dirtied(observed).is_some()
        || observed.app(Direction::Write).bytes < BYTES_MIN.value
    {
        return Outcome::Nothing;
    }
    let files = observed.files(&observed.targets());
    let Some(mapped) = files.iter().map(|file| mapped(file)).collect::<Option<Vec<f64>>>() else {
        return Outcome::lacks("the extents of the files (FIEMAP)");
    };
    let least = mapped.into_iter().fold(1.0, f64::min);
    let seen = observed.queue_ops();
    let again = follow_ups::beside(observed, Change::SamePlaces);
    let faster = again.filter(Beside::pays);
    let refuted = again.is_some_and(|again| again.is_flat());
    if refuted || (faster.is_none() && bound_by_cpu(observed, ran)) {
        return Outcome::Nothing;
    }
    let few = |seen: &f64| *seen < QUEUE_SEEN.value * ran.concurrency();
    let busy = |seen: f64| seen >= ONE_AT_A_TIME.value && is_busy(observed);
    match seen.filter(|seen| few(seen) && !busy(*seen)) {
        Some(seen) if least < MAPPED.value => {
            Outcome::one(finding(observed, ran, least, seen, faster))
        }
        _ => Outcome::Nothing,
    }
}

/// A device on top had something to do nearly all the time.
fn is_busy(observed: &Observed) -> bool {
    let (before, after) = (&observed.host.before, &observed.host.after);
    let tops = observed.tops().into_iter();
    let mut busy = tops.filter_map(|top| before.device_delta(after, &top.name));
    busy.any(|did| ratio(did.busy_ms as f64 / 1e3, observed.window_s()) >= NEARLY_BUSY.value)
}

/// One worker is busy all the time, or together they keep busy, or wait for, nearly all the CPUs
/// that they could use: what they wait for is not each other.
fn bound_by_cpu(observed: &Observed, ran: &Ran) -> bool {
    let workers = &ran.measured.per_worker;
    let share = |ns: u64, worker: &WorkerStats| ratio(ns as f64, worker.elapsed_ns as f64);
    let cpu = |of: &WorkerStats| share(of.cpu_user_ns, of) + share(of.cpu_system_ns, of);
    let waits = |worker: &WorkerStats| share(worker.run_wait_ns.unwrap_or(0), worker);
    let busiest = workers.iter().map(cpu).fold(0.0, f64::max);
    let together: f64 = workers.iter().map(|worker| cpu(worker) + waits(worker)).sum();
    let cpus = value(&observed.facts.host.cpus).map_or(f64::MAX, |cpus| f64::from(*cpus));
    busiest >= THREAD_BUSY.value || together >= WORKERS_BUSY.value * cpus.min(workers.len() as f64)
}

/// Share of a file that had blocks at the start; none of an empty one.
pub fn mapped(file: &FileFacts) -> Option<f64> {
    match file.size_bytes {
        0 => Some(0.0),
        size => value(&file.extents).map(|e| ratio(e.mapped_bytes as f64, size as f64)),
    }
}

fn finding(
    observed: &Observed,
    ran: &Ran,
    mapped: f64,
    seen: f64,
    again: Option<Beside>,
) -> Finding {
    let sentence = format!(
        "Writes to {} had to allocate blocks first, one at a time: {} saw {} of the {} in flight.",
        observed.target_paths(),
        observed.device_names(),
        fmt::number(seen),
        fmt::count(ran.concurrency())
    );
    let twice = again.is_some_and(|again| again.faster(ALLOCATION_SURE.value));
    let sure = if twice { Confidence::Certain } else { Confidence::Likely };
    let untried = follow_ups::beside(observed, Change::SamePlaces).is_none();
    let draft = FindingBuilder::new("B18", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(sure)
        .limits(Limit::BlockAllocation { untried })
        .evidence("allocated share of the file at the start", Quantity::share(mapped), "FIEMAP")
        .evidence("in the device", Quantity::ratio(seen), "/sys/class/block/*/stat");
    let draft = match &again {
        Some(again) => follow_ups::evidence(draft, again),
        None => draft,
    };
    draft.advice("Lay the file out first (--layout write), or use a file per worker.", None).done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, Workload};

    /// Four writers on a file of which so much was there, with so little in the device.
    fn writing(mapped_mib: u64, weighted_ms: u64) -> TestCase {
        let workload = Workload {
            op: Direction::Write,
            workers: 4,
            ops_per_s: 17_800.0,
            ..Workload::default()
        };
        let mut case = workload.case();
        case.file().extents.as_mut().unwrap().value.mapped_bytes = mapped_mib * MIB;
        case.after_top().weighted_ms = weighted_ms;
        for worker in &mut case.measured().per_worker {
            (worker.cpu_user_ns, worker.cpu_system_ns) = (300_000_000, 1_200_000_000);
        }
        case
    }

    #[test]
    fn a_sparse_file_serialises_its_writers() {
        let case = writing(0, 11_000);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Writes to /data/file had to allocate blocks first, one at a time: vda saw 1.1 of the \
             4 in flight."
        );
        let judgement = case.judge();
        assert!(judgement.finding("B4").is_none());
        let limit = judgement.limit().unwrap();
        let untried = "the allocation of blocks by the filesystem (the same places were not \
                       written again)";
        assert_eq!(limit, untried);
    }

    #[test]
    fn workers_that_are_busy_side_by_side_do_not_go_one_at_a_time() {
        let mut case = writing(0, 11_000);
        for worker in &mut case.measured().per_worker {
            worker.cpu_system_ns = 4_500_000_000;
        }
        assert_eq!(case.found(&RULE), [], "two CPUs' worth of work");
        let mut one = writing(0, 11_000);
        one.measured().per_worker[2].cpu_system_ns = 9_500_000_000;
        assert_eq!(one.found(&RULE), []);
        let mut waits = writing(0, 11_000);
        for worker in &mut waits.measured().per_worker {
            worker.run_wait_ns = Some(3_000_000_000);
        }
        assert_eq!(waits.found(&RULE), [], "they wait for a CPU");
    }

    #[test]
    fn the_same_places_once_more_decide() {
        let mut case = writing(0, 11_000);
        case.follow_up(Change::SamePlaces, 4, 1, 53_100.0);
        let found = case.found(&RULE);
        assert_eq!(found[0].confidence, Confidence::Certain);
        assert!(case.judge().follow_ups[0].starts_with("The same offsets again: 53.1k IOPS"));
        let mut alike = writing(0, 11_000);
        alike.follow_up(Change::SamePlaces, 4, 1, 18_000.0);
        assert_eq!(alike.found(&RULE), []);
    }

    /// A device with ten requests at a time, never idle, under writers that asked for 32.
    #[test]
    fn writers_that_keep_the_device_busy_do_not_wait_for_each_other() {
        let mut case = writing(0, 100_000);
        case.blocks().depth = 8;
        case.after_top().busy_ms = 9700;
        assert_eq!(case.found(&RULE), [], "ten at a time are not one at a time");
        case.after_top().weighted_ms = 11_000;
        assert_eq!(case.found(&RULE).len(), 1, "one at a time, without a pause");
        (case.after_top().weighted_ms, case.after_top().busy_ms) = (32_000, 6900);
        assert_eq!(case.found(&RULE).len(), 1, "a third of the time nothing was in the device");
    }

    #[test]
    fn a_gain_that_noise_makes_is_not_certain() {
        let mut case = writing(0, 11_000);
        case.follow_up(Change::SamePlaces, 4, 1, 17_800.0 * 1.6);
        assert_eq!(case.found(&RULE)[0].confidence, Confidence::Likely);
    }

    #[test]
    fn a_file_that_is_there_and_a_device_that_is_fed_are_silent() {
        assert_eq!(writing(1024, 11_000).found(&RULE), []);
        assert_eq!(writing(0, 39_000).found(&RULE), []);
        let mut unknown = writing(0, 11_000);
        unknown.file().extents = None;
        assert!(unknown.lacked(&RULE).is_some());
    }
}
