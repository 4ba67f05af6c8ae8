//! B4: fewer operations in flight than asked for.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::more_load;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::depth::device_queue_full;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, IN_FLIGHT, QUEUE_SEEN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B4",
        title: "the device saw less depth",
        explanation: "Little's law holds at every level: operations in flight are rate times \
            latency. candor compares the requested depth with the workers' operations in flight \
            and with the device's mean queue (requests of one operation counted as one). The limit \
            is at the first loss in this chain. A loss before the workers means a slow load \
            generator. A loss between workers and device means the CPU, the filesystem or a \
            throttle. Rule B5 reports a device that is full at its own depth. The finding is an \
            explanation: the number is correct.",
    },
    stage: Stage::Queue,
    limit: Some(LimitClass::Load),
    before: None,
    after,
};

/// Operations in flight at each level.
struct Chain {
    requested: f64,
    workers: f64,
    device: Option<f64>,
}

fn after(observed: &Observed) -> Outcome {
    // Buffered I/O has readahead and write-back between the two ends of the chain.
    let applies =
        !observed.paced() && observed.all_direct() && observed.app_all().bytes >= BYTES_MIN.value;
    if observed.ran.is_empty() || !applies {
        return Outcome::Nothing;
    }
    let chain = Chain {
        requested: observed.concurrency(),
        workers: observed.occupancy(),
        device: observed.queue_ops(),
    };
    if chain.workers <= 0.0 {
        return Outcome::lacks("the mean number of operations in flight");
    }
    match (loss(observed, &chain), chain.device) {
        (Some(finding), _) => Outcome::one(finding),
        (None, None) if chain.requested > 1.0 && observed.top.is_none() => {
            Outcome::lacks("the queue of the device (/sys/class/block/*/stat)")
        }
        (None, _) => Outcome::Nothing,
    }
}

/// Where the chain loses, from the device up.
fn loss(observed: &Observed, chain: &Chain) -> Option<Finding> {
    if device_queue_full::full_at(observed).is_some() {
        return None;
    }
    if chain.workers < IN_FLIGHT.value * chain.requested {
        return Some(generator(observed, chain));
    }
    let seen = chain.device?;
    let lost = chain.requested > 1.0 && seen < QUEUE_SEEN.value * chain.requested;
    lost.then(|| above_driver(observed, chain, seen))
}

fn generator(observed: &Observed, chain: &Chain) -> Finding {
    let sentence = format!(
        "Of {} requested in flight, the workers kept {} on average: other work took their time.",
        fmt::count(chain.requested),
        fmt::number(chain.workers)
    );
    let command = observed.main_job().and_then(|job| {
        let workers = job.job.workers.saturating_mul(2);
        Some(Command::of(observed.plan, &job.planned)?.workers(workers))
    });
    draft(chain, sentence)
        .limits(Limit::LoadGenerator { untried: more_load::is_untried(observed) })
        .advice("Use more workers, or leave out verifying and filling while measuring.", command)
        .done()
}

fn above_driver(observed: &Observed, chain: &Chain, seen: f64) -> Finding {
    let sentence = format!(
        "Of {} requested in flight, {} saw {}: the rest waited above the driver.",
        fmt::count(chain.requested),
        observed.device_names(),
        fmt::number(seen)
    );
    let command = observed.main_job().and_then(|job| {
        let workers = job.job.workers.saturating_mul(2);
        Some(Command::of(observed.plan, &job.planned)?.workers(workers))
    });
    draft(chain, sentence)
        .limits(Limit::PathToDevice { untried: more_load::is_untried(observed) })
        .advice("Use more workers on more CPUs, and check whether the rate follows.", command)
        .done()
}

fn draft(chain: &Chain, sentence: String) -> FindingBuilder {
    let device = chain.device.map(|device| {
        let from = "/sys/class/block/*/stat: weighted time ÷ time, requests of one operation \
            counted as one";
        ("in the device".into(), Quantity::ratio(device), from.into())
    });
    FindingBuilder::new("B4", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("in flight as requested", Quantity::count(chain.requested), "plan")
        .evidence("in flight in the workers", Quantity::ratio(chain.workers), "candor")
        .evidence_if(device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candor_record::LaterFacts;

    use crate::testcase::{MIB, TestCase, fact};

    #[test]
    fn a_queue_that_stays_empty_is_explained() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.after_top().weighted_ms = 19_000;
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(found[0].sentence.starts_with("Of 32 requested in flight, vda saw 1.9"));
    }

    /// Only the disk below a loop device counted: its queue does not show the loop's queue.
    #[test]
    fn a_device_whose_counting_was_off_has_no_queue() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.after_top().weighted_ms = 19_000;
        let mut later = case.host.facts.clone();
        case.host.facts.devices[0].counts_io = fact(false);
        assert_eq!(case.found(&RULE), []);
        case.host.facts.devices[0].counts_io = fact(true);
        assert_eq!(case.found(&RULE).len(), 1);
        later.devices[0].counts_io = fact(false);
        case.host.later_facts = vec![LaterFacts { facts: later, ..LaterFacts::default() }];
        assert_eq!(case.found(&RULE), [], "switched off meanwhile");
    }

    #[test]
    fn a_generator_that_is_late_is_explained() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.measured().occupancy = 12.0;
        assert_eq!(
            case.found(&RULE)[0].limits.as_ref().map(ToString::to_string).as_deref(),
            Some("the load generator (more load was not tried)")
        );
    }

    #[test]
    fn a_full_queue_is_silent_also_with_split_requests() {
        assert_eq!(TestCase::direct(4096, 32, 4, 60_000.0).found(&RULE), []);
        let mut case = TestCase::direct(MIB, 1, 1, 500.0);
        let top = case.after_top();
        (top.reads, top.weighted_ms) = (20_000, 18_000);
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn rates_on_purpose_and_buffered_runs_are_silent() {
        let mut case = TestCase::direct(4096, 32, 1, 60_000.0);
        case.measured().occupancy = 2.0;
        case.blocks().pace.ops = Some(candor_plan::OpsPerSec(60_000));
        assert_eq!(case.found(&RULE), []);
        assert_eq!(TestCase::buffered_read().found(&RULE), []);
    }
}
