//! A12: a cache below this host.

use candor_plan::units::Direction;
use candor_record::facts::value;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Measurement, PhaseRecord, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::follow_ups;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::series;
use crate::stage::Stage;
use crate::thresholds::{AGAIN, COVERED, SPREAD_SECONDS};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A12",
        title: "the second pass was faster",
        explanation: "Direct I/O bypasses only this host's page cache. The host of a virtual \
            machine, a RAID controller and an array have other caches, and a cached range is read \
            at the speed of the cache. candor compares a direct pass with an earlier pass of the \
            same run over the same blocks. A lower layer caches the data if the later pass is 1.5 \
            times as fast, and no second of the earlier pass is as fast as most seconds of the \
            later. Without a second pass, a short follow-up reads the first blocks of the phase \
            again. The follow-up counts under three conditions: other blocks, read for the same \
            short time, are slower; some CPU was free; and CPU wait time does not explain the \
            difference. Use a range far larger than the cache, or turn the cache off (cache=none).",
    },
    stage: Stage::Storage,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let [ran] = observed.ran.as_slice() else { return Outcome::Nothing };
    let reads = ran.does(Direction::Read)
        && !ran.does(Direction::Write)
        && ran.blocks.direct
        && !ran.paced();
    if !reads || observed.working_top().is_none() || observed.all_memory() {
        return Outcome::Nothing;
    }
    let Some(first) = observed.judged_before().find(|report| is_same(observed, report, ran)) else {
        return by_follow_up(observed).map_or(Outcome::Nothing, Outcome::one);
    };
    let found = first.measurements.first().and_then(|before| of(observed, ran, first, before));
    found.map_or(Outcome::Nothing, Outcome::one)
}

/// The same work on the same targets, with nothing but repeats of it since.
fn is_same(observed: &Observed, report: &PhaseRecord, ran: &Ran) -> bool {
    let Some(job) = observed.only_job_of(report) else { return false };
    let alike = job.targets == ran.job.targets
        && job.workers == ran.job.workers
        && job.blocks() == Some(ran.blocks);
    alike && !observed.written_before()
}

fn of(
    observed: &Observed,
    ran: &Ran,
    first: &PhaseRecord,
    before: &Measurement,
) -> Option<Finding> {
    fn rates(measured: &Measurement) -> Vec<f64> {
        series::seconds(measured, |op| op == Direction::Read)
            .iter()
            .map(|s| s.bytes_per_s)
            .collect()
    }
    let (then, now) = (rates(before), rates(ran.measured));
    let times = ratio(candor_stats::mean(&now), candor_stats::mean(&then));
    let enough = then.len().min(now.len()) as f64 >= SPREAD_SECONDS.value;
    let apart = candor_stats::quantile(&now, 0.25) > candor_stats::quantile(&then, 1.0);
    (enough && apart && times > AGAIN.value && covered(observed, ran, before)).then(|| {
        finding(observed, first, times, candor_stats::mean(&then), candor_stats::mean(&now))
    })
}

/// The first pass read most of what there is, so that the second met the same blocks.
fn covered(observed: &Observed, ran: &Ran, before: &Measurement) -> bool {
    let targets = observed.targets_of(|other| other.index == ran.index);
    let files: f64 = targets.iter().map(|target| target.files_bytes()).sum();
    files > 0.0 && before.of(Direction::Read).bytes as f64 >= COVERED.value * files
}

/// A follow-up read the same blocks faster than the phase did, and than other blocks.
fn by_follow_up(observed: &Observed) -> Option<Finding> {
    let (same, times) = follow_ups::again(observed)?;
    if !same.faster(AGAIN.value) || times <= AGAIN.value {
        return None;
    }
    let sentence = format!(
        "A second read of the first blocks of the phase was {}× as fast: a cache below this host \
         holds the data.",
        fmt::number(times)
    );
    Some(follow_ups::evidence(draft(observed, sentence), &same).done())
}

fn finding(observed: &Observed, first: &PhaseRecord, times: f64, then: f64, now: f64) -> Finding {
    let sentence = format!(
        "A second pass over the same blocks ran {}× as fast as {}: a cache below this host holds \
         the data.",
        fmt::number(times),
        if first.name.is_empty() { "the first" } else { &first.name }
    );
    draft(observed, sentence)
        .evidence("rate of the first pass", Quantity::bytes_per_s(then), "candor")
        .evidence("rate of this pass", Quantity::bytes_per_s(now), "candor")
        .done()
}

fn draft(observed: &Observed, sentence: String) -> FindingBuilder {
    let guest = observed.facts.host.hypervisor.as_ref().filter(|fact| fact.value);
    FindingBuilder::new("A12", Severity::Caution, sentence)
        .confidence(if guest.is_some() { Confidence::Likely } else { Confidence::Possible })
        .evidence_if(guest.map(|g| ("virtual machine".into(), "yes", g.from.clone())))
        .evidence_if(
            value(&observed.facts.host.hypervisor)
                .is_none()
                .then(|| ("virtual machine".into(), "unknown", "/proc/cpuinfo".into())),
        )
        .advice("Use a range far larger than the cache, or turn the cache off.", None)
}

#[cfg(test)]
mod tests {
    use candor_record::Change;

    use super::*;
    use crate::testcase::{MIB, TestCase};

    fn again(faster: f64) -> TestCase {
        let mut case = TestCase::direct(MIB, 4, 1, 500.0 * faster);
        case.earlier = vec![TestCase::direct(MIB, 4, 1, 500.0).recorded()];
        case.earlier[0].name = "first".into();
        case
    }

    #[test]
    fn a_second_pass_that_is_much_faster() {
        let found = again(1.7).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "A second pass over the same blocks ran 1.7× as fast as first: a cache below this host \
             holds the data."
        );
        assert_eq!(found[0].severity, Severity::Caution);
    }

    /// Slices over the same places and over others, so much faster than the phase.
    fn followed_up(same: f64, other: Option<f64>) -> TestCase {
        let mut case = TestCase::direct(MIB, 4, 1, 500.0);
        case.follow_up(Change::SamePlaces, 1, 4, 500.0 * same);
        if let Some(other) = other {
            case.follow_up(Change::OtherPlaces, 1, 4, 500.0 * other);
        }
        case
    }

    #[test]
    fn a_follow_up_over_the_same_blocks_decides_where_others_were_slow() {
        let found = followed_up(3.0, Some(1.2)).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "A second read of the first blocks of the phase was 2.5× as fast: a cache below this \
             host holds the data."
        );
        let sentence = |case: TestCase| case.judge().follow_ups[0].clone();
        assert!(
            sentence(followed_up(3.0, Some(1.2))).contains("below this host held the data. Cost:")
        );
        assert!(sentence(followed_up(3.0, Some(2.8))).contains("conditions changed"));
        assert!(
            sentence(followed_up(1.1, None)).contains("no cache below this host held the data")
        );
        assert_eq!(followed_up(3.0, None).found(&RULE), [], "nothing rules the moment out");
        assert_eq!(followed_up(3.0, Some(2.8)).found(&RULE), [], "conditions changed");
        assert_eq!(followed_up(1.3, Some(1.0)).found(&RULE), []);
        let mut noisy = followed_up(3.0, Some(1.0));
        noisy.measured().samples[3].of_mut(Direction::Read).ops *= 4;
        assert_eq!(noisy.found(&RULE), [], "one second of the phase was as fast");
    }

    /// 1.71 times in one trial while loads took all CPUs; repeated, it was 0.1 and 1.06 times.
    #[test]
    fn a_short_trial_beside_busy_cpus_shows_nothing() {
        let mut busy = followed_up(3.4, Some(1.0));
        assert_eq!(busy.found(&RULE).len(), 1);
        let all = |idle_ns, user_ns| {
            Some(candor_record::CpuTimes { idle_ns, user_ns, ..Default::default() })
        };
        (busy.host.before.cpu, busy.host.after.cpu) = (all(0, 0), all(20_000, 1_980_000));
        assert_eq!(busy.found(&RULE), []);
        assert!(busy.judge().follow_ups[0].contains("the CPUs were busy"));
        let mut waiting = followed_up(2.8, Some(1.0));
        let worker = &mut waiting.measured().per_worker[0];
        worker.run_wait_ns = Some(worker.elapsed_ns / 2);
        assert_eq!(waiting.found(&RULE), [], "free CPUs alone may gain 2 times");
    }

    #[test]
    fn passes_that_are_alike_or_differ_in_work_are_silent() {
        assert_eq!(again(1.2).found(&RULE), []);
        let mut noisy = again(1.7);
        noisy.earlier[0].measurements[0].samples[3].of_mut(Direction::Read).bytes *= 2;
        assert_eq!(noisy.found(&RULE), [], "one second of the first was as fast");
        let mut partial = again(1.7);
        partial.earlier[0].measurements[0].of_mut(Direction::Read).bytes = 100 * MIB;
        assert_eq!(partial.found(&RULE), [], "the first pass met other blocks");
        assert_eq!(TestCase::direct(MIB, 4, 1, 500.0).found(&RULE), []);
        let mut buffered = again(1.7);
        buffered.blocks().direct = false;
        assert_eq!(buffered.found(&RULE), []);
    }
}
