//! B6: latency that depth costs.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::observed::{Observed, Ran};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{AS_GOOD, KNEE};
use crate::trials::{self, Trial};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B6",
        title: "depth costs latency",
        explanation: "Beyond some depth the rate is constant and the latency grows. candor reports \
            the least tried depth within 5 % of the best rate: from an earlier phase of the same \
            work, from the search of `candor check`, or from a follow-up. If no lower depth was \
            tried, rate times the latency of one operation alone is a lower bound of the depth \
            needed. Operations share the device, so the real depth is often far higher. candor \
            reports this bound if the latency is three times the latency of one operation alone. \
            The rate is correct. Request a lower depth if latency matters.",
    },
    stage: Stage::Queue,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let [ran] = observed.ran.as_slice() else { return Outcome::Nothing };
    if observed.paced() || !observed.all_direct() || ran.concurrency() <= 1.0 {
        return Outcome::Nothing;
    }
    let Some(here) = Trial::here(observed, ran) else { return Outcome::Nothing };
    let others = trials::others(observed, ran);
    let finding = match enough(&others, &here) {
        Some(enough) => Some(as_good(observed, ran, enough, &here, best(&others, &here))),
        None => bound(&others, &here).map(|bound| at_least(observed, ran, &bound, &here)),
    };
    finding.map_or(Outcome::Nothing, Outcome::one)
}

fn best(others: &[Trial], here: &Trial) -> f64 {
    others.iter().map(|trial| trial.ops_per_s).fold(here.ops_per_s, f64::max)
}

/// The least load tried that was as good as the best, where the phase had more in flight.
fn enough<'t>(others: &'t [Trial], here: &Trial) -> Option<&'t Trial> {
    let good = AS_GOOD.value * best(others, here);
    let less = others.iter().filter(|t| t.in_flight < here.in_flight && t.ops_per_s >= good);
    less.min_by(|a, b| a.in_flight.total_cmp(&b.in_flight))
}

/// The least number in flight that the rate can need.
struct Bound<'t> {
    /// One operation at a time.
    alone: &'t Trial,
    in_flight: f64,
}

/// The bound where nothing between one operation and the depth of the phase was tried, and the
/// depth is far beyond it.
fn bound<'t>(others: &'t [Trial], here: &Trial) -> Option<Bound<'t>> {
    let between = |trial: &Trial| trial.in_flight > 1.0 && trial.in_flight < here.in_flight;
    let alone = others.iter().find(|trial| trial.in_flight == 1.0)?;
    let in_flight = (here.ops_per_s * alone.mean_ns / 1e9).max(1.0);
    let far = here.in_flight > KNEE.value * in_flight && !others.iter().any(between);
    far.then_some(Bound { alone, in_flight: in_flight.ceil() })
}

fn as_good(observed: &Observed, ran: &Ran, enough: &Trial, here: &Trial, best: f64) -> Finding {
    let (least, requested) = (fmt::count(enough.in_flight), fmt::count(here.in_flight));
    let sentence = format!(
        "The least tried load within 5 % of the best rate ({}) had {least} in flight; with \
         {requested} an operation took {} instead of {}.",
        fmt::iops(best),
        fmt::time(here.mean_ns),
        fmt::time(enough.mean_ns)
    );
    draft(ran, sentence, here)
        .evidence(
            format!("rate with {least} in flight"),
            Quantity::ops_per_s(enough.ops_per_s),
            &enough.from,
        )
        .evidence("best rate tried", Quantity::ops_per_s(best), "candor")
        .advice(
            "If latency matters, request this depth.",
            with_in_flight(observed, ran, enough.in_flight),
        )
        .done()
}

fn at_least(observed: &Observed, ran: &Ran, bound: &Bound, here: &Trial) -> Finding {
    let requested = fmt::count(here.in_flight);
    let sentence = format!(
        "With {requested} in flight an operation took {}, alone {}: this rate needs at least {} in \
         flight, and no load between 1 and {requested} was tried.",
        fmt::time(here.mean_ns),
        fmt::time(bound.alone.mean_ns),
        fmt::count(bound.in_flight),
    );
    draft(ran, sentence, here)
        .evidence(
            "latency, one at a time",
            Quantity::ns(bound.alone.mean_ns),
            bound.alone.from.as_str(),
        )
        .advice(
            "If latency matters, try half the depth, and check whether the rate stays the same.",
            with_in_flight(observed, ran, here.in_flight / 2.0),
        )
        .done()
}

fn draft(ran: &Ran, sentence: String, here: &Trial) -> FindingBuilder {
    FindingBuilder::new("B6", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence("latency at this depth", Quantity::ns(here.mean_ns), "candor")
        .evidence("in flight as requested", Quantity::count(here.in_flight), "plan")
}

/// The same work with so many in flight.
fn with_in_flight<'a>(
    observed: &Observed<'a>,
    ran: &Ran<'a>,
    in_flight: f64,
) -> Option<Command<'a>> {
    let command = Command::of(observed.plan, &ran.planned)?;
    let workers = f64::from(ran.job.workers.max(1)).min(in_flight);
    let depth = (in_flight / workers).ceil() as u32;
    Some(command.workers(workers as u32).depth(depth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, proposes};
    use candor_record::{Change, PhaseRecord};

    /// A run at some depth after one that did the same one at a time.
    fn after_one(depth: u32, ops_per_s: f64, alone_ops_per_s: f64) -> TestCase {
        let mut case = TestCase::direct(16384, depth, 1, ops_per_s);
        let mut phase = case.plan.phases[0].clone();
        phase.jobs[0].blocks_mut().unwrap().depth = 1;
        case.plan.phases.insert(0, phase);
        let alone = TestCase::direct(16384, 1, 1, alone_ops_per_s).recorded();
        case.record.phase = 1;
        case.after(vec![PhaseRecord { phase: 0, name: "alone".into(), ..alone }]);
        case
    }

    /// The same with the steps of a search in between.
    fn after_search(depth: u32, ops_per_s: f64, steps: &[(u32, f64)]) -> TestCase {
        let mut case = after_one(depth, ops_per_s, 9346.0);
        let mut earlier = std::mem::take(&mut case.earlier);
        for (depth, ops_per_s) in steps {
            let step = TestCase::direct(16384, *depth, 1, *ops_per_s);
            let tried = Some(step.plan.phases[0].clone());
            let name = format!("searching at depth {depth}");
            let step = step.recorded();
            earlier.push(PhaseRecord { phase: 1, name, search_step: true, tried, ..step });
        }
        case.after(earlier);
        case
    }

    #[test]
    fn the_latency_alone_is_a_lower_bound_and_no_promise() {
        let found = after_one(32, 15_940.0, 9346.0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "With 32 in flight an operation took 2.01 ms, alone 107 µs: this rate needs at least 2 \
             in flight, and no load between 1 and 32 was tried."
        );
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(proposes(&found[0], "blocks.depth=16"));
    }

    #[test]
    fn the_least_depth_tried_that_is_as_good_is_named() {
        let steps = [(2, 15_300.0), (4, 15_900.0), (8, 16_000.0)];
        let found = after_search(32, 15_940.0, &steps).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The least tried load within 5 % of the best rate (16k IOPS) had 2 in flight; with 32 \
             an operation took 2.01 ms instead of 131 µs."
        );
        assert_eq!(found[0].evidence[2].source, "search step `searching at depth 2`");
        assert!(proposes(&found[0], "blocks.depth=2"));
    }

    /// 8 in flight are what rate and latency alone come to, and a search has shown what they move.
    #[test]
    fn a_depth_that_was_tried_and_moved_less_is_not_enough() {
        let steps = [(8, 37_800.0), (32, 51_000.0), (128, 65_900.0)];
        assert_eq!(after_search(128, 65_900.0, &steps).found(&RULE), []);
        // A rate that only a greater depth reached was not reached by a lesser one.
        let steps = [(4, 37_800.0), (8, 38_000.0), (128, 65_900.0)];
        assert_eq!(after_search(64, 38_000.0, &steps).found(&RULE), []);
    }

    #[test]
    fn a_follow_up_decides_as_well_as_a_phase_and_beside_a_full_queue() {
        let mut case = TestCase::direct(4096, 512, 1, 15_940.0);
        assert_eq!(case.found(&RULE), []);
        case.follow_up(Change::OneAtATime, 1, 1, 9346.0);
        case.disk().queue.device_depth = crate::testcase::fact(128);
        case.after_top().weighted_ms = 1_240_000;
        let judgement = case.judge();
        let found = judgement.finding("B6").expect("beside B5");
        assert!(found.sentence.contains("needs at least 2 in flight"), "{}", found.sentence);
        assert_eq!(found.evidence[2].source, "a follow-up of the phase");
        assert!(judgement.finding("B5").is_some());
        let limit = judgement.limit();
        assert!(limit.as_ref().is_none_or(|limit| !limit.contains("queue")), "{limit:?}");
        let mut pays = TestCase::direct(4096, 512, 1, 2_000_000.0);
        pays.follow_up(Change::OneAtATime, 1, 1, 9346.0);
        assert_eq!(pays.found(&RULE), []);
    }

    #[test]
    fn depth_that_pays_is_silent() {
        assert_eq!(after_one(32, 150_000.0, 9346.0).found(&RULE), []);
        assert_eq!(after_one(2, 15_940.0, 9346.0).found(&RULE), []);
        let mut case = after_one(32, 15_940.0, 9346.0);
        case.earlier.clear();
        assert_eq!(case.found(&RULE), []);
    }
}
