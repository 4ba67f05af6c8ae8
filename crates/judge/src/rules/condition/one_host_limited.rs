//! F16: the control group of one of several hosts with one kernel limits that host.

use candor_plan::units::Direction;
use candor_record::facts::IoLimit;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, HostRecord, Limit, LimitClass, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::CGROUP_NEAR;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F16",
        title: "control group limits one host",
        explanation: "Agents on one machine share its kernel and devices, but each agent has a \
            separate control group. candor compares the rate of each agent with the limits of its \
            group. Within 5 % of a limit, the limit decides the rate of the agent, and the sum is \
            not a device rate. Raise the limit, or leave the agent out.",
    },
    stage: Stage::Throttle,
    limit: Some(LimitClass::Throttle),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let shares_kernel =
        |at: usize| observed.hosts.iter().any(|on| on.places.len() > 1 && on.places.contains(&at));
    let names = observed.record.host_names();
    let hosts = observed.record.hosts.iter().enumerate();
    let limited = hosts.filter(|(at, _)| shares_kernel(*at)).filter_map(|(at, host)| {
        let (cap, rate) = reached(host)?;
        Some(finding(&names[at], host, &cap, rate))
    });
    limited.collect::<Vec<Finding>>().into()
}

/// A limit that the host's own rate came near to, with that rate.
fn reached(host: &HostRecord) -> Option<(Limit, f64)> {
    let devices =
        |limit: &&IoLimit| host.facts.devices.iter().any(|device| device.number == limit.device);
    let limits = host.facts.host.cgroup.io.iter().map(|fact| &fact.value).filter(devices);
    let mut all = limits.flat_map(|limit| {
        [
            (Direction::Read, limit.read_bytes_per_s, true),
            (Direction::Read, limit.read_ops_per_s, false),
            (Direction::Write, limit.write_bytes_per_s, true),
            (Direction::Write, limit.write_ops_per_s, false),
        ]
    });
    all.find_map(|(op, most, of_bytes)| {
        let (most, rate) = (most? as f64, rate(host, op, of_bytes));
        let limit = Limit::ControlGroup {
            bytes_per_s: of_bytes.then_some(most),
            ops_per_s: (!of_bytes).then_some(most),
        };
        ((ratio(rate, most) - 1.0).abs() <= CGROUP_NEAR.value).then_some((limit, rate))
    })
}

fn rate(host: &HostRecord, op: Direction, of_bytes: bool) -> f64 {
    let of_job = |measured: &candor_record::Measurement| {
        let side = measured.of(op);
        let done = if of_bytes { side.bytes } else { side.ops };
        ratio(done as f64, measured.elapsed_ns as f64 / 1e9)
    };
    host.measurements.iter().map(of_job).sum()
}

fn finding(name: &str, host: &HostRecord, limit: &Limit, rate: f64) -> Finding {
    let (cap, of_bytes) = match limit {
        Limit::ControlGroup { bytes_per_s: Some(bytes), .. } => (fmt::rate_decimal(*bytes), true),
        Limit::ControlGroup { ops_per_s, .. } => (fmt::iops(ops_per_s.unwrap_or(0.0)), false),
        _ => (String::new(), false),
    };
    let did = if of_bytes { Quantity::bytes_per_s(rate) } else { Quantity::ops_per_s(rate) };
    let sentence = format!("The control group of {name} is capped at {cap}; {name} did {did}.");
    let from = host.facts.host.cgroup.io.first().map_or("", |limit| limit.from.as_str());
    FindingBuilder::new("F16", Severity::Caution, sentence)
        .confidence(Confidence::Likely)
        .evidence("limit", cap, from)
        .evidence(format!("rate of {name}"), did, "candor")
        .advice("Raise or remove the limit, or leave that host out.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::facts::{Fact, IoLimit};

    use crate::testcase::{TestCase, together};

    /// Two agents of one kernel, as seen on Linux 6.18: 5900 and 810 reads per second, the second
    /// one capped at such a rate.
    fn agents(cap: u64) -> TestCase {
        let of = |ops_per_s| TestCase::direct(4096, 4, 1, ops_per_s);
        let mut case = together(&[of(5900.0), of(810.0)]);
        case.member(1).kernel_of = 0;
        let host = &mut case.record.hosts[1];
        let device = host.facts.devices[0].number.clone();
        let limit = IoLimit { device, read_ops_per_s: Some(cap), ..IoLimit::default() };
        host.facts.host.cgroup.io.push(Fact::new(limit, "blkio.throttle.read_iops_device"));
        case
    }

    #[test]
    fn an_agent_at_its_limit_is_named() {
        let judged = agents(800).judge();
        assert_eq!(
            judged.finding("F16").expect("found").sentence,
            "The control group of node-b is capped at 800 IOPS; node-b did 810 IOPS."
        );
    }

    #[test]
    fn an_agent_below_its_limit_is_silent() {
        assert!(agents(2000).judge().finding("F16").is_none());
    }
}
