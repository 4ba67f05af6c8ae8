//! F4: a control group limits the rate.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::{Bound, Kind};
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{BYTES_MIN, CGROUP_NEAR};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F4",
        title: "control group limits the rate",
        explanation: "Containers and services may be given so many bytes or operations per second \
            on a device (io.max, blkio.throttle). The kernel then holds operations back above the \
            driver: the rate is flat, latency is depth over limit, and the device is idle most of \
            the time. candor reads the limits of its own control group and compares: within 5 % \
            the limit is the limit. Raise it, or quote the result as the container's.",
    },
    stage: Stage::Throttle,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.app_all().bytes < BYTES_MIN.value {
        return Outcome::Nothing;
    }
    let reached = ceilings::bounds(observed).into_iter().filter(|bound| {
        let used = bound.ceiling.used.unwrap_or(0.0);
        bound.kind == Kind::Cgroup && (used - 1.0).abs() <= CGROUP_NEAR.value
    });
    reached.map(|bound| finding(observed, &bound)).collect::<Vec<_>>().into()
}

fn finding(observed: &Observed, bound: &Bound) -> Finding {
    let ceiling = &bound.ceiling;
    let cap = match (ceiling.bytes_per_s, ceiling.ops_per_s) {
        (Some(bytes), _) => Quantity::bytes_per_s(bytes),
        (None, ops) => Quantity::ops_per_s(ops.unwrap_or(0.0)),
    };
    let limit =
        Limit::ControlGroup { bytes_per_s: ceiling.bytes_per_s, ops_per_s: ceiling.ops_per_s };
    let rest = observed.queue_ops().map_or(String::new(), |queue| {
        let requested = observed.concurrency();
        format!("; the device had {} of {} in flight", fmt::number(queue), fmt::count(requested))
    });
    let sentence = format!("The control group of this process is capped at {cap}{rest}.");
    FindingBuilder::new("F4", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .limits(limit)
        .evidence("limit", cap, ceiling.arithmetic.clone())
        .evidence("used", Quantity::share(ceiling.used.unwrap_or(0.0)), "candor")
        .advice("Raise or remove the limit, or quote the result as the container's.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;
    use candor_record::facts::{Fact, IoLimit};

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

    #[test]
    fn another_rate_or_another_device_is_not() {
        assert_eq!(limited(700.0).found(&RULE), []);
        let mut case = limited(1010.0);
        case.host.facts.host.cgroup.io[0].value.device = "8:0".into();
        assert_eq!(case.found(&RULE), []);
    }
}
