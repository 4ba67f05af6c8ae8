//! G17: several agents ran on one kernel.

use candor_record::fmt;
use candor_record::{Finding, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::parts::listed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G17",
        title: "several agents, one kernel",
        explanation: "Agents in containers or on several ports of one machine are several hosts in \
            the plan. Such agents share one page cache, one set of CPUs and one link. Data that \
            one agent wrote or read is in the memory of all, and another agent adds no bandwidth. \
            candor compares the boot identity of the hosts' kernels, counts their devices and \
            links once, and lists the agents. Run agents on separate machines, or give all workers \
            to one agent.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let shared = observed.hosts.iter().filter(|on| on.places.len() > 1);
    shared.map(|on| finding(observed, on.places)).collect::<Vec<_>>().into()
}

fn finding(observed: &Observed, places: &[usize]) -> Finding {
    let names = observed.record.host_names();
    let own: Vec<&str> = places.iter().map(|at| names[*at].as_str()).collect();
    let sentence = format!(
        "{} share one kernel: one page cache, one set of CPUs and links, so {} of them adds none.",
        listed(&own),
        if own.len() == 2 {
            "the second".to_owned()
        } else {
            format!("each but one of {}", own.len())
        }
    );
    let kernels = observed.hosts.len() as f64;
    FindingBuilder::new("G17", Severity::Caution, sentence)
        .evidence("agents on that kernel", Quantity::count(own.len() as f64), "boot_id")
        .evidence("kernels", Quantity::count(kernels), "boot_id")
        .advice(
            format!(
                "Run each of the {} on a separate machine.",
                fmt::counted(own.len() as u64, "agent")
            ),
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, together};

    fn three() -> TestCase {
        let one = || TestCase::direct(4096, 8, 1, 1e4);
        together(&[one(), one(), one()])
    }

    #[test]
    fn agents_of_one_kernel_are_named() {
        let mut case = three();
        case.member(2).kernel_of = 0;
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "node-a and node-c share one kernel: one page cache, one set of CPUs and links, so the \
             second of them adds none."
        );
        case.member(1).kernel_of = 0;
        assert_eq!(case.found(&RULE).len(), 1, "a fleet on one kernel is told of, too");
    }

    #[test]
    fn hosts_of_their_own_are_not() {
        assert_eq!(three().found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 8, 1, 1e4).found(&RULE), []);
    }
}
