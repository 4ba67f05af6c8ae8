//! F9: ext4 is still initialising itself.

use candor_record::{Confidence, Severity};

use crate::builder::FindingBuilder;
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "F9",
        title: "ext4 still initialises inodes",
        explanation: "A fresh ext4 is made in a second because its inode tables are written \
            later, by a kernel thread, while the filesystem is in use. These writes run beside a \
            test that begins at once. candor looks for the thread (ext4lazyinit) before and after \
            a phase on ext4; it may belong to another ext4 of this host. Wait for its end, or \
            make the filesystem with lazy_itable_init=0 and lazy_journal_init=0.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let snapshots = [&observed.host.before, &observed.host.after];
    if !snapshots.iter().any(|snapshot| snapshot.state.ext4_lazy_init == Some(true)) {
        return Outcome::Nothing;
    }
    let on_ext4 = |target: &&candor_record::facts::TargetFacts| {
        target.filesystem.as_ref().is_some_and(|on| on.kind == "ext4")
    };
    if !observed.targets().iter().any(on_ext4) {
        return Outcome::Nothing;
    }
    // The thread serves every ext4 of the host; where it writes to this one, F10 remarks on it.
    let sentence = "ext4 was initialising inode tables in the background (ext4lazyinit).";
    let draft = FindingBuilder::new("F9", Severity::Explains, sentence)
        .confidence(Confidence::Possible)
        .evidence("kernel thread", "ext4lazyinit", "/proc/*/comm")
        .advice("Wait for its end, or make the filesystem with lazy_itable_init=0.", None);
    Outcome::one(draft.done())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    #[test]
    fn the_thread_is_seen_at_either_end() {
        let mut case = TestCase::direct_write();
        case.host.before.state.ext4_lazy_init = Some(true);
        case.host.after.state.ext4_lazy_init = Some(false);
        assert_eq!(case.found(&RULE)[0].severity, Severity::Explains);
        case.host.facts.targets[0].filesystem.as_mut().unwrap().kind = "xfs".into();
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn without_it_there_is_nothing_to_say() {
        let mut case = TestCase::direct_write();
        assert_eq!(case.found(&RULE), []);
        case.host.before.state.ext4_lazy_init = Some(false);
        assert_eq!(case.found(&RULE), []);
    }
}
