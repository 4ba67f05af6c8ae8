//! B5: the device takes fewer commands than asked for.

use candor_record::facts::{Fact, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Change, Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::command::Command;
use crate::follow_ups;
use crate::observed::{Observed, busiest};
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, DEVICE_FULL, MORE_IN_DEVICE, SATURATED};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B5",
        title: "the device's queue is full",
        explanation: "Every device accepts a limited number of commands at once: 31 or 32 on SATA, \
            one over plain USB storage, some hundreds on NVMe (device/queue_depth, mq/*/nr_tags). \
            Further operations wait in the kernel for a free slot; this wait adds to the latency \
            and iostat does not show it. candor compares the mean queue of the devices with this \
            number and with the kernel's queue before the device (queue/nr_requests, for each \
            hardware queue). From 85 % on, the queue is full. The rate is correct, and more depth \
            only increases the latency. candor names the queue as the limit, unless a request \
            takes twice as long in the device as a request alone. In this case requests wait for \
            each other in the device, and a longer queue would not increase the rate.",
    },
    stage: Stage::DeviceQueue,
    limit: Some(LimitClass::Device),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    match full_at(observed) {
        Some(full) => Outcome::one(finding(observed, &full)),
        None => Outcome::Nothing,
    }
}

/// A queue that is smaller than what was asked for, and filled.
pub struct Full {
    depth: f64,
    from: String,
    /// The kernel's queue, not the device's own.
    in_kernel: bool,
}

/// The queue that is full: that of the devices at the bottom, or the kernel's before those on top.
pub fn full_at(observed: &Observed) -> Option<Full> {
    let applies =
        !observed.paced() && observed.all_direct() && observed.app_all().bytes >= BYTES_MIN.value;
    let (queue, _) = observed.queue().filter(|_| applies)?;
    let is_full = |full: &Full| {
        let most = if full.in_kernel { MORE_IN_DEVICE.value * full.depth } else { f64::MAX };
        full.depth > 0.0
            && full.depth < observed.concurrency()
            && (DEVICE_FULL.value * full.depth..=most).contains(&queue)
    };
    own_queue(observed).filter(is_full).or_else(|| kernel_queue(observed).filter(is_full))
}

/// Commands that the devices at the bottom take.
fn own_queue(observed: &Observed) -> Option<Full> {
    let depths = observed.leaves().into_iter().map(|leaf| leaf.queue.device_depth.as_ref());
    full(depths, |_, depth| depth as f64, false)
}

/// Requests that the kernel queues for the devices on top. Each worker submits on one CPU, and so
/// to one hardware queue.
fn kernel_queue(observed: &Observed) -> Option<Full> {
    let workers: u32 = observed.ran.iter().map(|ran| ran.job.workers).sum();
    let tops = observed.tops();
    let queues: Vec<u64> = tops
        .iter()
        .map(|top| value(&top.queue.hw_queues).copied().unwrap_or(1).min(u64::from(workers)))
        .collect();
    let requests = tops.into_iter().map(|top| top.queue.nr_requests.as_ref());
    full(requests, |at, requests| (requests * queues[at]) as f64, true)
}

/// The depths of all devices together; none where one of them is not known.
fn full<'a>(
    depths: impl Iterator<Item = Option<&'a Fact<u64>>>,
    each: impl Fn(usize, u64) -> f64,
    in_kernel: bool,
) -> Option<Full> {
    let depths: Vec<&Fact<u64>> = depths.collect::<Option<_>>()?;
    let from = depths.first()?.from.clone();
    let depth = depths.iter().enumerate().map(|(at, fact)| each(at, fact.value)).sum();
    Some(Full { depth, from, in_kernel })
}

/// Requests wait for each other in the device: a longer queue would only wait longer.
fn is_saturated(observed: &Observed) -> bool {
    let alone = follow_ups::beside(observed, Change::OneAtATime);
    let median = alone.and_then(|alone| {
        let (_, stats) = busiest(&alone.follow_up.measurement);
        stats.latency.as_ref()?.percentile_ns(50.0)
    });
    let (Some(median_ns), Some(queue), Some(top)) = (median, observed.queue(), observed.top) else {
        return false;
    };
    let in_device_ns = ratio(queue.0 * observed.window_s() * 1e9, top.requests());
    in_device_ns >= SATURATED.value * median_ns as f64
}

fn finding(observed: &Observed, full: &Full) -> Finding {
    let (requested, depth) = (observed.concurrency(), full.depth);
    let (device, waited) = (observed.device_names(), fmt::count(requested - depth));
    let requested_text = fmt::count(requested);
    let untried = follow_ups::beside(observed, Change::OneAtATime).is_none();
    let (sentence, limit, advice) = if full.in_kernel {
        let takes = fmt::plural(depth, "request", "requests");
        (
            format!(
                "The kernel queues {takes} for {device} (nr_requests); {waited} of \
                 {requested_text} requested operations waited for a slot."
            ),
            Limit::RequestQueue { requests: depth, untried },
            format!(
                "Raise queue/nr_requests of {device}, or request no more than {} in flight.",
                fmt::count(depth)
            ),
        )
    } else {
        let takes = fmt::plural(depth, "command", "commands");
        (
            format!(
                "{device} accepts {takes}; {waited} of {requested_text} requested operations \
                 waited for a slot, a wait that iostat does not show."
            ),
            Limit::DeviceQueue { depth, untried },
            format!("Request no more than {} in flight.", fmt::count(depth)),
        )
    };
    let queue = observed.queue().map_or(0.0, |(queue, _)| queue);
    let stat = "/sys/class/block/*/stat: weighted time ÷ time";
    let command = observed.main_job().and_then(|job| {
        let workers = f64::from(job.job.workers.max(1)).min(depth);
        let command = Command::of(observed.plan, &job.planned)?.workers(workers as u32);
        Some(command.depth((depth / workers).floor() as u32))
    });
    let takes = if full.in_kernel { "requests queued" } else { "queue depth of the device" };
    let draft = FindingBuilder::new("B5", Severity::Explains, sentence);
    let draft = if is_saturated(observed) { draft } else { draft.limits(limit) };
    draft
        .confidence(Confidence::Likely)
        .evidence(takes, Quantity::count(depth), full.from.as_str())
        .evidence("in the device", Quantity::ratio(queue), stat)
        .evidence("in flight as requested", Quantity::count(requested), "plan")
        .advice(advice, command)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact, proposes};

    /// The figures of a disk of depth 8 under 32 requests.
    fn depth_8() -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 570.0);
        case.disk().queue.device_depth = fact(8);
        case.after_top().weighted_ms = 70_000;
        case
    }

    #[test]
    fn a_device_of_depth_8_is_the_limit_itself() {
        let case = depth_8();
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("accepts 8 commands; 24 of 32"));
        assert!(proposes(&found[0], "blocks.depth=8"));
        let judgement = case.judge();
        assert_eq!(
            judgement.limit().as_deref(),
            Some("the device's own queue of 8 (one request at a time was not tried)")
        );
        assert!(judgement.finding("B4").is_none());
    }

    /// Seen on Linux 6.18: a loop device with 128 places moved 44.8k reads per second, and 50.2k
    /// with 64 of them taken; one alone took 140 µs.
    #[test]
    fn a_queue_in_which_requests_wait_for_each_other_is_not_the_limit() {
        fn with(alone: f64) -> Option<Limit> {
            let mut case = TestCase::direct(4096, 256, 1, 44_800.0);
            case.disk().queue.device_depth = fact(128);
            case.after_top().weighted_ms = 1_270_000;
            case.follow_up(Change::OneAtATime, 1, 1, alone);
            case.found(&RULE)[0].limits.clone()
        }
        assert_eq!(with(7000.0), None);
        assert_eq!(with(400.0), Some(Limit::DeviceQueue { depth: 128.0, untried: false }));
    }

    #[test]
    fn more_workers_than_the_device_takes_get_the_advice_of_fewer() {
        // Eight workers on a device that takes four at once, in the lab.
        let mut case = TestCase::direct(4096, 1, 8, 1239.0);
        case.disk().queue.device_depth = fact(4);
        case.after_top().weighted_ms = 38_000;
        let found = case.found(&RULE);
        assert!(proposes(&found[0], "workers=4") && found[0].changes.len() == 1, "{found:?}");
    }

    /// A scheduler's queue that was made short: 3.6 of 4 used, and 32 asked for.
    #[test]
    fn a_full_queue_of_the_kernel_is_no_way_to_the_device() {
        fn short(queues: u64, workers: u32) -> TestCase {
            let mut case = TestCase::direct(4096, 32 / workers, workers, 9000.0);
            let queue = &mut case.disk().queue;
            (queue.device_depth, queue.nr_requests) = (fact(256), fact(4));
            queue.hw_queues = fact(queues);
            case.after_top().weighted_ms = 36_000;
            case
        }
        let judgement = short(1, 1).judge();
        assert_eq!(
            judgement.finding("B5").expect("it is full").sentence,
            "The kernel queues 4 requests for vda (nr_requests); 28 of 32 requested operations \
             waited for a slot."
        );
        assert_eq!(
            judgement.limit().as_deref(),
            Some(
                "the kernel's queue of 4 requests (nr_requests; one request at a time was not \
                 tried)"
            )
        );
        assert!(judgement.finding("B4").is_none());
        assert_eq!(short(2, 1).found(&RULE).len(), 1, "one worker uses one of two");
        assert_eq!(short(2, 2).found(&RULE), [], "two of them take 8");
        let mut room = short(1, 1);
        room.disk().queue.nr_requests = fact(3);
        assert_eq!(room.found(&RULE), [], "more is in there than it takes: it is another one");
    }

    #[test]
    fn a_device_with_room_and_a_shallow_job_are_not_concerned() {
        let mut case = depth_8();
        case.after_top().weighted_ms = 30_000;
        assert_eq!(case.found(&RULE), []);
        let mut case = depth_8();
        case.blocks().depth = 8;
        assert_eq!(case.found(&RULE), []);
        let mut case = depth_8();
        case.disk().queue.device_depth = None;
        assert_eq!(case.found(&RULE), []);
    }
}
