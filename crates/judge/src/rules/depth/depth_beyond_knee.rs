//! B6: more in flight than does any good.

use candor_record::fmt::{self, ratio};
use candor_record::{Change, Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::expect;
use crate::follow_ups;
use crate::observed::{Observed, Ran, busiest, finite};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::KNEE;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B6",
        title: "more depth than needed",
        explanation: "Rate times the latency of one operation alone is the number in flight that \
            would carry the same rate without any waiting. What is asked beyond that waits in \
            line: the rate stays, the latency grows. candor takes the latency alone from an \
            earlier phase of the same run that did the same work one at a time, as `candor check` \
            has one, or from a follow-up of the phase, and speaks where three times the \
            needed number was asked for. The rate stands; the latency is mostly queueing. Ask for \
            less where latency matters.",
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
    let Some((from, alone_ns)) = alone(observed, ran) else { return Outcome::Nothing };
    let ops_per_s: f64 = ran.measured.directions().map(|(_, stats)| finite(stats.ops_per_s)).sum();
    let needed = (ops_per_s * alone_ns / 1e9).max(1.0);
    match (observed.mean_latency_ns(), ran.concurrency() > KNEE.value * needed) {
        (Some(mean_ns), true) => {
            Outcome::one(finding(observed, ran, &Knee { from, alone_ns, mean_ns, needed }))
        }
        _ => Outcome::Nothing,
    }
}

/// Mean latency of one operation alone, and what did the same one at a time.
fn alone(observed: &Observed, ran: &Ran) -> Option<(String, f64)> {
    let by_follow_up = || {
        let follow_up = follow_ups::beside(observed, Change::OneAtATime)?.follow_up;
        let (_, stats) = busiest(&follow_up.measurement);
        let mean_ns = finite(stats.latency.as_ref()?.mean_ns);
        (mean_ns > 0.0).then(|| ("a follow-up of the phase".into(), mean_ns))
    };
    let earlier = expect::one_at_a_time(observed, ran);
    earlier.map(|(phase, mean_ns)| (format!("phase {phase}"), mean_ns)).or_else(by_follow_up)
}

/// Where more depth stops doing good.
struct Knee {
    /// Phase or follow-up that did the same one at a time.
    from: String,
    /// Mean latency.
    alone_ns: f64,
    /// Mean latency of the phase at hand.
    mean_ns: f64,
    /// Operations in flight that carry the rate.
    needed: f64,
}

fn finding(observed: &Observed, ran: &Ran, knee: &Knee) -> Finding {
    let requested = ran.concurrency();
    let needed = knee.needed.ceil();
    let waiting = (1.0 - ratio(knee.alone_ns, knee.mean_ns)).max(0.0);
    let sentence = format!(
        "About {} in flight would carry the same rate; with {} an operation took {} instead of \
         {}, {} of it waiting in line.",
        fmt::count(needed),
        fmt::count(requested),
        fmt::time(knee.mean_ns),
        fmt::time(knee.alone_ns),
        fmt::percent(waiting)
    );
    let workers = f64::from(ran.job.workers.max(1));
    let command = Command::of(observed.plan, &ran.planned);
    FindingBuilder::new("B6", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Likely)
        .evidence("latency, one at a time", Quantity::ns(knee.alone_ns), &knee.from)
        .evidence("latency here", Quantity::ns(knee.mean_ns), "candor")
        .evidence("in flight as asked", Quantity::count(requested), "plan")
        .advice(
            "Where latency matters, ask for that much.",
            command.map(|command| command.depth((needed / workers).ceil() as u32)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, proposes};
    use candor_record::PhaseRecord;

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

    #[test]
    fn thirty_two_where_two_would_do() {
        let found = after_one(32, 15_940.0, 9346.0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "About 2 in flight would carry the same rate; with 32 an operation took 2.01 ms \
             instead of 107 µs, 95 % of it waiting in line."
        );
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(proposes(&found[0], "blocks.depth=2"));
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
        assert!(found.sentence.starts_with("About 2 in flight"), "{}", found.sentence);
        assert_eq!(found.evidence[0].source, "a follow-up of the phase");
        assert!(judgement.finding("B5").is_some());
        assert_eq!(judgement.limit().as_deref(), Some("the device's own queue of 128"));
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
