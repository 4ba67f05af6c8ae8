//! B21: the CPU is emulated.

use candor_record::facts::Fact;
use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "B21",
        title: "the CPU is emulated",
        explanation: "An emulator executes each instruction of the program by many instructions of \
            the host. Operations take longer before and after the device, and rates are lower than \
            the storage's, by an unknown share. candor reads the name of the CPU (QEMU TCG CPU: the \
            whole machine is emulated), and compares its own architecture with the kernel's \
            (/proc/sys/kernel/arch: this program alone is emulated). Counters of bytes and requests \
            stay valid. Run on a CPU of this architecture, or with virtualisation by hardware (KVM).",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    match &observed.facts.host.emulator {
        Some(emulator) => Outcome::one(finding(emulator)),
        None => Outcome::Nothing,
    }
}

fn finding(emulator: &Fact<String>) -> Finding {
    let sentence = "The CPU is emulated: every instruction of candor takes longer, and the storage \
                    does more.";
    FindingBuilder::new("B21", Severity::Caution, sentence.to_owned())
        .confidence(Confidence::Certain)
        .evidence("emulator", emulator.value.clone(), emulator.from.clone())
        .advice("Run on a CPU of this architecture, or with KVM.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::{TestCase, fact};

    #[test]
    fn an_emulated_cpu_is_a_caution() {
        let mut case = TestCase::direct(4096, 1, 1, 6_759.0);
        assert_eq!(case.found(&RULE), []);
        case.host.facts.host.emulator = fact("QEMU, for the whole machine".into());
        assert_eq!(case.found(&RULE).len(), 1);
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }
}
