//! C12: the software's share of a latency.

use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::coverage::stat_of;
use crate::foreign;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, SOFTWARE_SHARE, SPLIT};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "C12",
        title: "latency above the driver",
        explanation: "With one operation in flight, the latency is the sum of the time in the \
            device and the time above the driver: system call, filesystem, interrupt, thread \
            wake-up. The kernel counts the device time of all requests together. If other \
            processes also use the device, candor uses the device time of candor's requests, if \
            the block tracer has it. If the time above the driver is more than 30 %, the number \
            depends on the host as much as on the device. Deeper queues hide this time; rule B4 \
            reports it. Polling, fewer layers or a faster CPU reduce it.",
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
    let own = own_ns(observed).filter(|_| foreign::matters(observed));
    let (share, from) = match own {
        Some(ns) => (1.0 - ratio(ns, mean_ns), "requests that candor issued, by the block tracer"),
        None => (1.0 - ratio(seen, observed.occupancy()), &*stat_of(observed)),
    };
    if share > SOFTWARE_SHARE.value {
        Outcome::one(finding(share, mean_ns, from))
    } else {
        Outcome::Nothing
    }
}

/// Mean latency of our own requests on the only device on top, where each operation is one.
fn own_ns(observed: &Observed) -> Option<f64> {
    let [device] = observed.tops()[..] else { return None };
    let op = observed.main_op();
    let own = foreign::own_shapes(observed, &device.name, op)?;
    let app = observed.app(op);
    let whole = own.size_mean_bytes() as f64 * SPLIT.value > ratio(app.bytes, app.ops);
    own.latency_ns_mean().filter(|_| whole)
}

fn finding(share: f64, mean_ns: f64, from: &str) -> Finding {
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
        .evidence("time in the device", Quantity::ns(device_ns), from)
        .advice("Try polling, or the raw device, to measure the time above the driver.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Direction;
    use candor_record::requests::{RequestStats, Requests};

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

    /// A device that is busy with requests of others took as long for each of ours as before.
    #[test]
    fn beside_others_the_latency_of_our_own_requests_counts() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        let top = case.after_top();
        (top.reads, top.read_sectors) = (top.reads + 100_000, top.read_sectors * 2);
        top.weighted_ms = 30_000;
        assert_eq!(case.found(&RULE), [], "the time of all");
        let mut seen = Requests { device: "vda".into(), ..Requests::default() };
        seen.own = Some(Box::new(Requests {
            count: 1000,
            bytes: 1000 << 12,
            latency_ns: vec![(57_344, 1000)],
            latency_ns_sum: 59_000_000,
            ..Requests::default()
        }));
        case.host.requests = Some(RequestStats { requests: vec![seen], ..RequestStats::default() });
        let found = &case.found(&RULE)[0];
        assert!(found.sentence.contains("of 100 µs the device took 59 µs"), "{}", found.sentence);
        assert!(found.evidence[1].source.contains("block tracer"), "{:?}", found.evidence);
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
