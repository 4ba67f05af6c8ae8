//! G20: a host was silent for a while.

use candor_record::{Finding, HostRecord, HostStall, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::SILENT_S;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G20",
        title: "a host was silent",
        explanation: "Each host answers a sign of life four times a second, on a thread that waits \
            neither for the workers nor for the disk. Silence of more than 2 s means that the \
            network, the virtual machine or the whole host was stopped. The run continues until \
            --host-timeout, and the report has the time and the length of each silence. If the \
            host was stopped, its workers were stopped, too: its rate and its longest latencies \
            include the pause. Check the host's network, memory pressure and hypervisor, and run \
            again.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let record = observed.record;
    let names = record.host_names();
    let silent = record.hosts.iter().zip(&names).filter_map(|(host, name)| finding(name, host));
    silent.collect::<Vec<_>>().into()
}

fn finding(name: &str, host: &HostRecord) -> Option<Finding> {
    let stalls = &host.member.as_ref()?.stalls;
    let HostStall { at_ns, silent_ns } = *stalls.iter().max_by_key(|stall| stall.silent_ns)?;
    if silent_ns as f64 <= SILENT_S.value * 1e9 {
        return None;
    }
    let others = match stalls.len() - 1 {
        0 => String::new(),
        more => format!(", the longest of {} times", more + 1),
    };
    let sentence = format!(
        "{name} was silent for {:.1} s, {:.1} s after the start{others}: its network or the whole \
         host was stopped.",
        silent_ns as f64 / 1e9,
        at_ns as f64 / 1e9
    );
    let all_ns: u64 = stalls.iter().map(|stall| stall.silent_ns).sum();
    let finding = FindingBuilder::new("G20", Severity::Caution, sentence)
        .evidence("longest silence", Quantity::ns(silent_ns as f64), name)
        .evidence("silence in all", Quantity::ns(all_ns as f64), name)
        .at_s(at_ns as f64 / 1e9)
        .advice("Check the network and the load of this host, and run again.", None);
    Some(finding.done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, together};

    fn silent(lengths_s: &[f64]) -> Vec<Finding> {
        let one = || TestCase::direct(4096, 8, 1, 1e4);
        let mut case = together(&[one(), one()]);
        case.member(1).stalls = lengths_s
            .iter()
            .map(|silent_s| HostStall { at_ns: 3_100_000_000, silent_ns: (silent_s * 1e9) as u64 })
            .collect();
        case.found(&RULE)
    }

    #[test]
    fn a_silent_host_is_named_with_the_length_of_its_silence() {
        let found = silent(&[7.2]);
        assert_eq!(
            found[0].sentence,
            "node-b was silent for 7.2 s, 3.1 s after the start: its network or the whole host was \
             stopped."
        );
        assert_eq!(found.len(), 1);
        let found = silent(&[1.5, 2.4, 1.1]);
        assert!(found[0].sentence.contains("2.4 s, 3.1 s after the start, the longest of 3 times"));
    }

    #[test]
    fn short_silence_and_none_are_not() {
        assert_eq!(silent(&[]), []);
        assert_eq!(silent(&[1.2, 1.9]), []);
    }
}
