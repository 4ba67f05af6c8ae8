//! G23: another process traced this one.

use candor_record::facts::Fact;
use candor_record::{Confidence, Finding, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "G23",
        title: "a tracer stopped the calls",
        explanation: "strace, ltrace and debuggers use ptrace, which stops a traced thread at each \
            system call, twice, until the tracer lets it continue. Each operation takes tens of \
            microseconds longer, on CPUs that the workers need. candor reads the tracer of its \
            process from /proc/self/status (TracerPid). The rate is lower than the storage's, by an \
            unknown share. Run again without the tracer; perf trace and bpftrace watch calls without \
            stops.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let later = observed.host.later_facts.iter().map(|later| &later.facts);
    let mut all = std::iter::once(observed.facts).chain(later);
    match all.find_map(|facts| facts.host.traced_by.as_ref()) {
        Some(tracer) => Outcome::one(finding(tracer)),
        None => Outcome::Nothing,
    }
}

fn finding(tracer: &Fact<String>) -> Finding {
    let sentence = format!(
        "{} traced this process: each system call may have stopped twice; the storage does more.",
        tracer.value
    );
    FindingBuilder::new("G23", Severity::Caution, sentence)
        .confidence(Confidence::Certain)
        .evidence("tracer", tracer.value.clone(), tracer.from.clone())
        .advice("Run again without the tracer (strace, a debugger).", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::{LaterFacts, Verdict};

    use super::*;
    use crate::testcase::{TestCase, fact};

    #[test]
    fn a_traced_process_is_a_caution_also_where_the_tracer_came_later() {
        let mut case = TestCase::direct(4096, 1, 1, 6_759.0);
        assert_eq!(case.found(&RULE), []);
        let mut facts = case.host.facts.clone();
        facts.host.traced_by = fact("strace (4711)".into());
        case.host.later_facts = vec![LaterFacts { facts: facts.clone(), ..LaterFacts::default() }];
        assert_eq!(case.found(&RULE).len(), 1);
        case.host.later_facts.clear();
        case.host.facts = facts;
        let found = case.found(&RULE);
        assert!(found[0].sentence.starts_with("strace (4711) traced this process"), "{found:?}");
        assert_eq!(case.judge().verdict, Verdict::Caution);
    }
}
