//! B11: workers far from the device.

use candor_plan::units::cpu_list;
use candor_record::facts::{DeviceFacts, value};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::FAR;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B11",
        title: "workers far from the device",
        explanation: "In a host with several NUMA nodes a device is attached to one node. Workers \
            and memory on another node reach the device over the link between the processors. The \
            link costs 10 to 40 % and varies with the scheduler's placement. candor compares the \
            node of each controller with the last CPU of each worker, and reports more than 20 % \
            of the workers on other nodes. Pin the workers (placement = { numa_node = N } in a \
            plan), or measure both placements and report both.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    if observed.facts.host.numa_cpus.len() < 2 {
        return Outcome::Nothing;
    }
    let node = |device: &&DeviceFacts| value(&device.numa_node).copied();
    let leaves = observed.leaves();
    let nodes: Vec<i32> = leaves.iter().filter_map(node).collect();
    // Devices on several nodes are far from somebody in any case.
    let Some(&home) = nodes.first().filter(|first| nodes.iter().all(|node| node == *first)) else {
        return Outcome::Nothing;
    };
    let workers = observed.ran.iter().flat_map(|ran| &ran.measured.per_worker);
    let at: Vec<i32> = workers.filter_map(|worker| node_of(observed, worker.cpu?)).collect();
    let far = at.iter().filter(|node| **node != home).count();
    if ratio(far as f64, at.len() as f64) > FAR.value {
        Outcome::one(finding(observed, home, far, at.len()))
    } else {
        Outcome::Nothing
    }
}

fn node_of(observed: &Observed, cpu: u32) -> Option<i32> {
    let has = |list: &str| cpu_list(list).is_ok_and(|cpus| cpus.contains(&cpu));
    let nodes = &observed.facts.host.numa_cpus;
    nodes.iter().find(|(_, list)| has(&list.value)).map(|(node, _)| *node)
}

fn finding(observed: &Observed, home: i32, far: usize, all: usize) -> Finding {
    let names: Vec<_> = observed.leaves().iter().map(|leaf| leaf.name.as_str()).collect();
    let sentence = format!(
        "{} is attached to NUMA node {home}; {far} of {} ran on other nodes.",
        names.join(", "),
        fmt::plural(all as f64, "worker", "workers")
    );
    FindingBuilder::new("B11", Severity::Explains, sentence)
        .confidence(Confidence::Likely)
        .evidence("node of the device", Quantity::count(home as f64), "numa_node of its controller")
        .evidence("workers on other nodes at the end", Quantity::count(far as f64), "getcpu")
        .advice("Pin the workers to the node of the device, or report both placements.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, fact};
    use candor_record::facts::Fact;

    /// Workers on these CPUs; CPUs 0 to 7 are node 0, 8 to 15 node 1, the device hangs off node 1.
    fn on(cpus: &[u32]) -> TestCase {
        let mut case = TestCase::direct(4096, 1, cpus.len() as u32, 10_000.0);
        case.disk().numa_node = fact(1);
        let node = |node, list: &str| (node, Fact::new(list.to_owned(), "/sys"));
        case.host.facts.host.numa_cpus = vec![node(0, "0-3,4-7"), node(1, "8-15")];
        for (worker, cpu) in case.measured().per_worker.iter_mut().zip(cpus) {
            worker.cpu = Some(*cpu);
        }
        case
    }

    #[test]
    fn most_workers_on_the_other_node() {
        assert_eq!(
            on(&[0, 1, 4, 9]).found(&RULE)[0].sentence,
            "vda is attached to NUMA node 1; 3 of 4 workers ran on other nodes."
        );
    }

    #[test]
    fn workers_at_home_one_node_and_an_unknown_node_are_silent() {
        assert_eq!(on(&[8, 9, 10, 15]).found(&RULE), []);
        let mut unknown = on(&[0, 1]);
        unknown.disk().numa_node = None;
        assert_eq!(unknown.found(&RULE), []);
        let mut single = on(&[0, 1]);
        single.host.facts.host.numa_cpus.truncate(1);
        assert_eq!(single.found(&RULE), []);
    }
}
