//! C12: the software's share of a latency.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, SOFTWARE_SHARE};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C12",
        title: "latency above the driver",
        explanation: "With one operation in flight the latency is the sum of what the device \
            takes and what the way there and back takes: system call, filesystem, interrupt, \
            waking the thread. The kernel counts the device's part; where the rest is more than \
            30 %, the number is that of the host as much as of the device. Deeper queues hide \
            that part and are told by B4. Polling, fewer layers or a faster CPU lower it.",
    },
    stage: Stage::Queue,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let plain = observed.ran.iter().all(|ran| ran.blocks.direct && !ran.durable());
    let moved = observed.app_all().bytes >= BYTES_MIN.value;
    if observed.concurrency() != 1.0
        || !plain
        || observed.paced()
        || !moved
        || observed.occupancy() <= 0.0
    {
        return Outcome::Nothing;
    }
    let (Some(seen), Some(mean_ns)) = (observed.queue_ops(), observed.mean_latency_ns()) else {
        return Outcome::lacks("the time that requests took in the device");
    };
    let share = 1.0 - ratio(seen, observed.occupancy());
    match share > SOFTWARE_SHARE.value {
        true => Outcome::one(finding(observed, share, mean_ns)),
        false => Outcome::Nothing,
    }
}

fn finding(observed: &Observed, share: f64, mean_ns: f64) -> Finding {
    let device_ns = (1.0 - share) * mean_ns;
    let sentence = format!(
        "{} of the latency passed above the driver: of {} the device took {}.",
        fmt::percent(share.min(1.0)),
        fmt::time(mean_ns),
        fmt::time(device_ns)
    );
    FindingBuilder::new("C12", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("mean latency", Quantity::ns(mean_ns), "candor")
        .evidence("of it in the device", Quantity::ns(device_ns), stat_of(observed))
        .advice("Try polling, or the raw device, to see what the way there costs.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;

    use super::*;
    use crate::testcase::{TestCase, Workload};

    #[test]
    fn a_device_that_answers_in_half_the_time_is_reported() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        case.after_top().weighted_ms = 5900;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "41 % of the latency passed above the driver: of 100 µs the device took 59 µs."
        );
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn a_device_that_takes_the_time_and_deeper_queues_are_silent() {
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
        let mut deep = Workload { depth: 32, ..Workload::default() }.case();
        deep.after_top().weighted_ms = 5900;
        assert_eq!(deep.found(&RULE), []);
        let mut short = Workload { seconds: 0, ..Workload::default() }.case();
        short.measured().of_mut(Direction::Read).bytes = 1 << 21;
        assert!(short.lacked(&RULE).is_some());
    }
}
