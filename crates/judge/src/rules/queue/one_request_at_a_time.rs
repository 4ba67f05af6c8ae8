//! C6: one request at a time.

use candor_plan::units::Direction;
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::coverage;
use crate::observed::{Observed, Ran, busiest};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, IN_FLIGHT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C6",
        title: "latency-bound: one at a time",
        explanation: "With one operation in flight the rate is the inverse of the latency, \
            regardless of the parallelism of the device: 16 KiB every 0.12 ms are 134 MB/s. The \
            number is correct: it measures latency. Use more depth or larger operations to measure \
            the throughput of the device.",
    },
    stage: Stage::Queue,
    limit: Some(LimitClass::Load),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    match observed.ran.as_slice() {
        [ran] if applies(observed, ran) => finding(observed, ran),
        _ => Outcome::Nothing,
    }
}

/// One operation in flight, always, and nothing reads ahead or writes behind it.
fn applies(observed: &Observed, ran: &Ran) -> bool {
    let uncached = || {
        let random_read = ran.blocks.access.is_random() && !ran.does(Direction::Write);
        ran.blocks.direct || (random_read && coverage::of_reads(observed).is_full())
    };
    ran.concurrency() == 1.0
        && !ran.paced()
        && observed.occupancy() + waited(observed) >= IN_FLIGHT.value
        && observed.app_all().bytes >= BYTES_MIN.value
        && uncached()
}

/// Share of the time in which the worker had nothing in flight because it waited for a CPU: all of
/// its waiting, but no more than it was without an operation.
fn waited(observed: &Observed) -> f64 {
    let without = (1.0 - observed.occupancy()).max(0.0);
    observed.waited_for_cpu().unwrap_or(0.0).min(without)
}

fn finding(observed: &Observed, ran: &Ran) -> Outcome {
    let (op, stats) = busiest(ran.measured);
    let Some(latency) = stats.latency.as_ref() else {
        return Outcome::lacks("the mean latency");
    };
    Outcome::one(sentence(observed, ran, op, latency.mean_ns))
}

fn sentence(observed: &Observed, ran: &Ran, op: Direction, mean_ns: f64) -> Finding {
    let app = observed.app(op);
    let size = fmt::size(candor_record::fmt::ratio(app.bytes, app.ops));
    let (time, rate) = (fmt::time(mean_ns), fmt::rate(observed.bytes_per_s(op)));
    let waited = waited(observed);
    let sentence = if waited > 1.0 - IN_FLIGHT.value {
        format!(
            "Latency-bound, one request at a time, and none for {} of the time while the worker \
             waited for a CPU: {size} in {time} each gave {rate}.",
            fmt::percent(waited)
        )
    } else {
        format!("Latency-bound, one request at a time: {size} ÷ {time} = {rate}.")
    };
    let command = Command::of(observed.plan, &ran.planned);
    FindingBuilder::new("C6", Severity::Explains, sentence)
        .job(&ran.job.name)
        .confidence(Confidence::Certain)
        .limits(Limit::Latency)
        .evidence("in flight", Quantity::ratio(observed.occupancy()), "candor")
        .evidence("mean latency", Quantity::ns(mean_ns), "candor")
        .advice(
            "Request more in flight to measure the device in parallel.",
            command.map(|command| command.deep(observed, 32)),
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, Workload};
    use candor_plan::blocks::Engine;

    #[test]
    fn depth_one_is_explained_not_remarked() {
        let case = Workload { bs: 16384, ops_per_s: 8179.0, ..Workload::default() }.case();
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Latency-bound, one request at a time: 16 KiB ÷ 122 µs = 134 MB/s (128 MiB/s)."
        );
        let judgement = case.judge();
        assert_eq!(judgement.verdict, candor_record::Verdict::Ok);
        assert_eq!(judgement.limit().as_deref(), Some("latency: one request at a time"));
    }

    #[test]
    fn parallel_work_and_cached_reads_are_not() {
        assert_eq!(TestCase::direct(4096, 2, 1, 10_000.0).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 2, 10_000.0).found(&RULE), []);
        assert_eq!(TestCase::buffered_read().found(&RULE), []);
    }

    #[test]
    fn a_worker_that_waits_for_a_cpu_is_still_one_at_a_time() {
        let mut case = Workload { ops_per_s: 900.0, ..Workload::default() }.case();
        let measured = case.measured();
        (measured.occupancy, measured.per_worker[0].run_wait_ns) = (0.1, Some(9_000_000_000));
        case.after_top().weighted_ms = 800;
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.contains("and none for 90 % of the time"), "{sentence}");
        let judgement = case.judge();
        assert!(judgement.finding("C6").is_none(), "it follows from the waiting");
        assert_eq!(judgement.limit().as_deref(), Some("CPU starvation (more load was not tried)"));
    }

    #[test]
    fn a_cold_buffered_random_read_is() {
        let workload = Workload { engine: Engine::Psync, direct: false, ..Workload::default() };
        assert_eq!(workload.case().found(&RULE).len(), 1);
    }
}
