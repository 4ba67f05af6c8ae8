//! D6: the device is reached over a network.

use candor_record::facts::{DeviceFacts, Remote, value};
use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, Quantity, Severity};

use crate::bound::Kind;
use crate::builder::FindingBuilder;
use crate::ceilings;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "D6",
        title: "remote device",
        explanation: "NVMe over TCP or RDMA and iSCSI disks appear as local devices, but are no \
            faster than the network to their target. candor reads the target's address from sysfs, \
            the interface from the address or from the routing table, and the speed from the \
            interface. At 85 % of this speed and above, the network is the limit. Below 85 %, \
            candor still reports the path, because its latency is included in every operation. An \
            interface without a reported speed gives no ceiling. More queues or more paths spread \
            the load over more links.",
    },
    stage: Stage::Link,
    limit: Some(LimitClass::Link),
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.ran.is_empty() {
        return Outcome::Nothing;
    }
    let remote = |device: &'_ DeviceFacts| device.remote.is_some();
    let found: Vec<Finding> = observed
        .devices()
        .into_iter()
        .filter(|device| remote(device))
        .filter_map(|device| Some(finding(observed, device, device.remote.as_ref()?)))
        .collect();
    found.into()
}

fn finding(observed: &Observed, device: &DeviceFacts, remote: &Remote) -> Finding {
    let element = format!("network link of {}", device.name);
    let bounds = ceilings::bounds(observed).into_iter();
    let mut bounds = bounds.filter(|b| b.kind == Kind::Network && b.ceiling.element == element);
    let bound = bounds.next().filter(|_| observed.working_top().is_some());
    let near = bound.and_then(|bound| bound.reached());
    let through = match (value(&remote.interface), &remote.link) {
        (Some(name), Some(link)) => format!(
            " through {name}, {} = {}",
            link.negotiated.value,
            fmt::rate_decimal(link.ceiling_bytes_per_s as f64)
        ),
        (Some(name), None) => format!(" through {name}, speed unknown"),
        _ => String::new(),
    };
    let limit = near.map(|used| {
        format!("; {} of this speed is used, the network is the limit", fmt::percent(used))
    });
    let sentence = format!(
        "{} is remote: {} to {}{through}{}.",
        device.name,
        remote.protocol,
        remote.server.value,
        limit.unwrap_or_default()
    );
    let queues = device.nvme.as_ref().and_then(|nvme| nvme.queues.as_ref());
    let draft = FindingBuilder::new("D6", Severity::Explains, sentence)
        .confidence(Confidence::Certain)
        .evidence("server", remote.server.value.clone(), remote.server.from.clone())
        .evidence_if(
            queues.map(|q| ("queues".into(), Quantity::count(q.value as f64), q.from.clone())),
        )
        .advice(
            "If the network is the limit, use more queues, more paths or a faster network.",
            None,
        );
    match near {
        Some(_) => draft.limits(Limit::NetworkToDevice { device: device.name.clone() }).done(),
        None => draft.done(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{MIB, TestCase, fact};
    use candor_record::facts::Fact;

    fn remote(mut case: TestCase, ceiling: Option<u64>) -> TestCase {
        case = match ceiling {
            Some(ceiling) => case.behind("network", ceiling, ceiling),
            None => case,
        };
        let disk = case.disk();
        disk.remote = Some(Remote {
            protocol: "NVMe/tcp".into(),
            server: Fact::new("10.0.0.9".into(), "device/address"),
            interface: fact("eth2".into()),
            link: disk.link.clone(),
            ..Remote::default()
        });
        case
    }

    #[test]
    fn most_of_the_network_is_the_limit() {
        let case = remote(TestCase::direct(MIB, 8, 1, 2800.0), Some(3_093_000_000));
        let found = case.found(&RULE);
        assert!(found[0].sentence.contains("NVMe/tcp to 10.0.0.9 through eth2"));
        assert!(found[0].sentence.contains("95 % of this speed is used"), "{}", found[0].sentence);
        assert_eq!(case.judge().limit().as_deref(), Some("the network to vda"));
    }

    #[test]
    fn an_unknown_speed_is_named_and_limits_nothing() {
        let case = remote(TestCase::direct(MIB, 8, 1, 2800.0), None);
        let found = case.found(&RULE);
        assert!(found[0].sentence.ends_with("through eth2, speed unknown."));
        assert_eq!(found[0].limits, None);
        assert_eq!(TestCase::direct(MIB, 8, 1, 2800.0).found(&RULE), []);
    }
}
