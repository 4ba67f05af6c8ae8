//! A16: the target is memory.

use candor_record::fmt;
use candor_record::{Confidence, Finding, Limit, LimitClass, MeasuredInstead, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::setup::SetupFacts;
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "A16",
        title: "the target is memory",
        explanation: "tmpfs, ramfs, zram, brd and pmem keep their data in this host's memory. A \
            loop device over a file on any of them does the same. Such targets accept every flag \
            and appear as storage; the number is the speed of memory and processor. Findings of \
            other rules follow from this and are left out. Choose a path on a device.",
    },
    stage: Stage::Target,
    limit: Some(LimitClass::Memory),
    before: Some(before),
    after,
};

fn before(setup: &SetupFacts) -> Outcome {
    match reasons(setup) {
        reasons if reasons.is_empty() => Outcome::Nothing,
        reasons => {
            let sentence = format!("The target is memory: {}.", reasons.join("; "));
            Outcome::one(finding(sentence, &reasons))
        }
    }
}

fn after(observed: &Observed) -> Outcome {
    let reasons = reasons(&observed.setup);
    if reasons.is_empty() {
        return Outcome::Nothing;
    }
    let rate = if observed.ran.is_empty() {
        "The number".into()
    } else {
        fmt::rate(observed.bytes_per_s(observed.main_op()))
    };
    let sentence = format!(
        "The target is memory: {}. {rate} is the speed of this host's memory and processor.",
        reasons.join("; ")
    );
    Outcome::one(finding(sentence, &reasons))
}

fn reasons(setup: &SetupFacts) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for reason in setup.targets().into_iter().filter_map(|t| setup.memory_of(t)) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    reasons
}

fn finding(sentence: String, reasons: &[String]) -> Finding {
    FindingBuilder::new("A16", Severity::Wrong, sentence)
        .confidence(Confidence::Certain)
        .measures(MeasuredInstead::HostMemory)
        .limits(Limit::HostMemory)
        .evidence("kind of target", reasons.join("; "), "statfs and /sys/class/block")
        .advice("Choose a path on the device to be measured.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::facts::Filesystem;

    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn zram_is_memory_and_nothing_else_is_said() {
        let case = TestCase::direct(4096, 32, 1, 250_000.0).on_zram();
        let judgement = case.judge();
        assert_eq!(judgement.rules(), ["A16"]);
        assert!(judgement.findings[0].sentence.contains("zram0 is compressed memory (zram)"));
    }

    #[test]
    fn tmpfs_and_loops_over_it_are_memory() {
        let mut case = TestCase::buffered_read();
        let target = &mut case.host.facts.targets[0];
        target.device = None;
        let fs = target.filesystem.as_mut().unwrap();
        (fs.kind, fs.in_memory) = ("tmpfs".into(), true);
        assert_eq!(case.judge().rules(), ["A16"]);
        let mut case = TestCase::direct(4096, 1, 1, 200_000.0).on_loop(false);
        case.host.facts.devices[0].loop_backing.as_mut().unwrap().filesystem = Some("tmpfs".into());
        assert!(case.judge().finding("A16").is_some());
        assert!(case.preflight().iter().all(|finding| finding.rule == "A16"));
    }

    #[test]
    fn the_layer_of_an_overlay_that_holds_the_file_is_asked() {
        let mut case = TestCase::direct(4096, 1, 1, 210_000.0);
        let target = &mut case.host.facts.targets[0];
        target.device = None;
        let fs = |kind: &str| Filesystem { kind: kind.into(), ..Filesystem::default() };
        target.filesystem = Some(fs("overlay"));
        target.held_on = Some(Filesystem { in_memory: true, ..fs("tmpfs") });
        let found = case.judge();
        let sentence = &found.finding("A16").unwrap().sentence;
        assert!(sentence.contains("/data/file lives on tmpfs"), "{sentence}");
        case.host.facts.targets[0].held_on = Some(fs("ext4"));
        assert!(case.judge().finding("A16").is_none());
    }

    #[test]
    fn names_in_memory_are_no_names_on_a_device() {
        let mut case = TestCase::on_names(candor_plan::entries::Step::Create, 1000, 90_000.0);
        assert_eq!(case.found(&RULE), []);
        case.host.facts.targets[0].filesystem.as_mut().unwrap().in_memory = true;
        assert_eq!(case.found(&RULE)[0].severity, Severity::Wrong);
    }

    #[test]
    fn a_disk_is_not() {
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).found(&RULE), []);
        assert_eq!(TestCase::direct(4096, 1, 1, 10_000.0).on_loop(true).found(&RULE), []);
    }
}
