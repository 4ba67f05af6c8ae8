//! F4: a control group limits the rate.

use candor_record::fmt::{self, ratio};
use candor_record::{Ceiling, Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::changes::{self, Span};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::rules::depth::io_uring_thread_pool::moved_by_threads;
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, CGROUP_NEAR, CPU_THROTTLED, PART_MOST};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F4",
        title: "control group limits the rate",
        explanation: "Containers and services may have a limit of bytes or operations per second \
            on a device (io.max, blkio.throttle). The kernel then holds operations back above the \
            driver: the rate is flat, latency is depth divided by limit, and the device is idle \
            most of the time. candor reads the limits of its control group and compares: within 5 \
            % of the limit, the limit decides the rate. The kernel charges operations that \
            io_uring passes to a thread twice. A quota of CPU time (cpu.max, cpu.cfs_quota_us) \
            also holds the workers back. candor reads the throttled time (cpu.stat) and reports a \
            share of a tenth or more. candor reads limits every second; a limit set during a run \
            counts from that moment. Raise the limit, or report the result as the container's \
            rate.",
    },
    stage: Stage::Throttle,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let cpu = cpu_quota(observed).into_iter().chain(in_parts(observed));
    if observed.app_all().bytes < BYTES_MIN.value {
        return cpu.collect::<Vec<_>>().into();
    }
    // The kernel charges an operation when it is tried without waiting, and again in the thread
    // that io_uring then hands it to.
    let twice = moved_by_threads(observed).unwrap_or(0.0);
    let reached = ceilings::bounds(observed).into_iter().filter_map(|bound| {
        let used = bound.ceiling.used.filter(|_| bound.kind == Kind::Cgroup)?;
        let near = |used: f64| (used - 1.0).abs() <= CGROUP_NEAR.value;
        let by = [0.0, twice].into_iter().find(|twice| near(used * (1.0 + twice)))?;
        Some(finding(observed, &bound, by))
    });
    reached.chain(cpu).collect::<Vec<_>>().into()
}

/// Limits that held in a part of the phase only, and were reached there.
fn in_parts(observed: &Observed) -> Vec<Finding> {
    let spans = changes::spans(observed);
    let mut found = Vec::new();
    for span in spans.iter().filter(|_| spans.len() > 1) {
        for bound in ceilings::of_span(observed, span) {
            if bound.ceiling.used.is_some_and(|used| (used - 1.0).abs() <= CGROUP_NEAR.value)
                && !is_everywhere(observed, &bound)
            {
                found.push(in_part(observed, span, &bound.ceiling));
            }
        }
    }
    found
}

/// The limit is one of the whole phase.
fn is_everywhere(observed: &Observed, bound: &Bound) -> bool {
    let all = ceilings::bounds(observed);
    all.iter().any(|other| {
        let (one, other) = (&bound.ceiling, &other.ceiling);
        (&one.element, &one.arithmetic) == (&other.element, &other.arithmetic)
    })
}

fn in_part(observed: &Observed, span: &Span, ceiling: &Ceiling) -> Finding {
    let cap = cap(ceiling);
    let limit =
        Limit::ControlGroup { bytes_per_s: ceiling.bytes_per_s, ops_per_s: ceiling.ops_per_s };
    let (from, until) = (span.from_ns as f64, span.until_ns as f64);
    let whole = observed.window_s() * 1e9;
    let when = match (from <= 0.0, until >= whole) {
        (true, _) => format!("the first {}", fmt::time(until)),
        (_, true) => format!("the last {}", fmt::time(until - from)),
        _ => format!("{} of the time", fmt::time(until - from)),
    };
    let sentence = format!(
        "The control group of this process was capped at {cap} in {when} of {}, and reached this \
         limit: the result is a mean of two conditions.",
        fmt::time(whole)
    );
    let draft = FindingBuilder::new("F4", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("limit", cap, ceiling.arithmetic.clone())
        .evidence("used in this period", Quantity::share(ceiling.used.unwrap_or(0.0)), "candor")
        .advice("Keep the limit constant during the run, or report both rates.", None);
    if span.share(observed) >= PART_MOST.value { draft.limits(limit).done() } else { draft.done() }
}

fn cap(ceiling: &Ceiling) -> Quantity {
    match (ceiling.bytes_per_s, ceiling.ops_per_s) {
        (Some(bytes), _) => Quantity::bytes_per_s(bytes),
        (None, ops) => Quantity::ops_per_s(ops.unwrap_or(0.0)),
    }
}

/// The CPU quota, where it held threads back for much of the time.
fn cpu_quota(observed: &Observed) -> Option<Finding> {
    // The quota may have been set in the course of the phase.
    let spans = changes::spans(observed);
    let quota = spans.iter().find_map(|span| span.facts.host.cgroup.cpu_max.as_ref())?;
    let (before, after) =
        (observed.host.before.state.cpu_throttled?, observed.host.after.state.cpu_throttled?);
    let held_ns = after.throttled_ns.checked_sub(before.throttled_ns)? as f64;
    let share = ratio(held_ns / 1e9, observed.window_s());
    let periods = after.throttled.saturating_sub(before.throttled);
    let cpus = quota.value;
    let sentence = format!(
        "The control group of this process has a quota of {}; the quota ran out in {} and the \
         kernel throttled the group for {} in {}.",
        fmt::plural(cpus, "CPU", "CPUs"),
        fmt::plural(periods as f64, "period", "periods"),
        fmt::time(held_ns),
        fmt::time(observed.window_s() * 1e9),
    );
    let draft = FindingBuilder::new("F4", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("CPUs' worth of time", Quantity::ratio(cpus), quota.from.as_str())
        .evidence("throttled time, on all CPUs", Quantity::ns(held_ns), "cpu.stat")
        .advice("Raise or remove the quota, or report the result as the container's rate.", None);
    let draft = if observed.device_fed() { draft } else { draft.limits(Limit::CpuQuota { cpus }) };
    (share >= CPU_THROTTLED.value && periods > 0).then(|| draft.done())
}

/// The limit, reached by operations of which so large a share was charged twice.
fn finding(observed: &Observed, bound: &Bound, twice: f64) -> Finding {
    let ceiling = &bound.ceiling;
    let cap = cap(ceiling);
    let limit =
        Limit::ControlGroup { bytes_per_s: ceiling.bytes_per_s, ops_per_s: ceiling.ops_per_s };
    let rest = observed.queue_ops().map_or(String::new(), |queue| {
        let requested = observed.concurrency();
        format!("; the device had {} of {} in flight", fmt::number(queue), fmt::count(requested))
    });
    let charged = if twice > 0.0 {
        format!(
            ", and the kernel charges operations of io_uring threads twice ({} of the bytes)",
            fmt::percent(twice)
        )
    } else {
        String::new()
    };
    let sentence = format!("The control group of this process is capped at {cap}{charged}{rest}.");
    FindingBuilder::new("F4", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .limits(limit)
        .evidence("limit", cap, ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(ceiling.used.unwrap_or(0.0)), "candor")
        .advice("Raise or remove the limit, or report the result as the container's rate.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;
    use candor_record::facts::{Fact, IoLimit};
    use candor_record::{CpuThrottled, LaterFacts};

    fn limited(ops_per_s: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, ops_per_s);
        let limit =
            IoLimit { device: "253:0".into(), read_ops_per_s: Some(1000), ..IoLimit::default() };
        case.host.facts.host.cgroup.io.push(Fact::new(limit, "/sys/fs/cgroup/io.max"));
        case.after_top().weighted_ms = 12_000;
        case
    }

    #[test]
    fn a_thousand_of_a_thousand_is_the_limit() {
        let case = limited(1010.0);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The control group of this process is capped at 1000 IOPS; the device had 1.2 of 32 in \
             flight."
        );
        let judgement = case.judge();
        assert_eq!(judgement.rules().first(), Some(&"F4"));
        assert!(judgement.limit().unwrap().contains("control group"));
        assert!(judgement.findings.iter().all(|finding| finding.rule != "B4"));
    }

    /// Seen on Linux 6.18: 41 reads/s of 80, 93 % of the bytes moved by a thread.
    #[test]
    fn operations_that_were_tried_twice_were_charged_twice() {
        let mut case = limited(515.0);
        assert_eq!(case.found(&RULE), []);
        let bytes = case.observed().app_all().bytes;
        case.host.after.uring_worker_bytes = Some((0.93 * bytes) as u64);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The control group of this process is capped at 1000 IOPS, and the kernel charges \
             operations of io_uring threads twice (93 % of the bytes); the device had 1.2 of 32 in \
             flight."
        );
    }

    /// Half a CPU, and threads that were held back for such a share of 10 s.
    fn quota(share: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 4, 1, 9000.0);
        case.host.facts.host.cgroup.cpu_max = Some(Fact::new(0.5, "/sys/fs/cgroup/a/cpu.max"));
        let throttled_ns = (share * 1e10) as u64;
        case.host.before.state.cpu_throttled = Some(CpuThrottled::default());
        case.host.after.state.cpu_throttled =
            Some(CpuThrottled { periods: 100, throttled: 90, throttled_ns });
        case.after_top().weighted_ms = 9000;
        for worker in &mut case.measured().per_worker {
            worker.run_wait_ns = Some(throttled_ns);
        }
        case
    }

    #[test]
    fn a_quota_of_cpu_time_is_named() {
        let case = quota(0.45);
        assert_eq!(
            case.found(&RULE)[0].sentence,
            "The control group of this process has a quota of 0.5 CPUs; the quota ran out in 90 \
             periods and the kernel throttled the group for 4.5 s in 10 s."
        );
        let judgement = case.judge();
        assert_eq!(judgement.limit().as_deref(), Some("the control group's CPU quota of 0.5 CPUs"));
        assert!(judgement.finding("B8").is_none(), "the quota is why they waited");
        assert_eq!(quota(0.05).found(&RULE), []);
        let mut free = quota(0.45);
        free.host.facts.host.cgroup.cpu_max = None;
        assert_eq!(free.found(&RULE), []);
    }

    /// Seen on Linux 6.18: 41k reads per second, and 3000 from the sixth second on.
    fn set_later(last: f64) -> TestCase {
        let mut case = TestCase::direct(4096, 32, 1, 10_000.0)
            .seconds(17, |i| if i < 5 { 41_000.0 } else { last });
        case.host.after.at_ns = case.host.before.at_ns + 17_000_000_000;
        let mut facts = case.host.facts.clone();
        let limit =
            IoLimit { device: "253:0".into(), read_ops_per_s: Some(3000), ..IoLimit::default() };
        facts.host.cgroup.io.push(Fact::new(limit, "/sys/fs/cgroup/io.max"));
        let later = LaterFacts { unchanged_at_ns: 5_000_000_000, at_ns: 6_000_000_000, facts };
        case.host.later_facts.push(later);
        case
    }

    #[test]
    fn a_limit_that_was_set_meanwhile_is_named_with_its_time() {
        let case = set_later(3000.0);
        let judgement = case.judge();
        let found = judgement.finding("F4").expect("found");
        assert_eq!(
            found.sentence,
            "The control group of this process was capped at 3000 IOPS in the last 11 s of 17 s, \
             and reached this limit: the result is a mean of two conditions."
        );
        assert!(judgement.limit().unwrap().contains("control group"), "{:?}", judgement.limit());
        let follows = |rule: &str| found.consequences.iter().any(|of| of.rule == rule);
        assert!(follows("F15"), "{found:#?}");
        assert!(judgement.finding("F3").is_none());
    }

    #[test]
    fn a_limit_that_was_set_meanwhile_and_not_reached_is_a_setting_that_changed() {
        let judgement = set_later(1200.0).judge();
        assert!(judgement.finding("F4").is_none() && judgement.finding("F15").is_some());
    }

    #[test]
    fn another_rate_or_another_device_is_not() {
        assert_eq!(limited(700.0).found(&RULE), []);
        let mut case = limited(1010.0);
        case.host.facts.host.cgroup.io[0].value.device = "8:0".into();
        assert_eq!(case.found(&RULE), []);
    }
}
