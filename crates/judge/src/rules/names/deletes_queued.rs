//! H8: deleted files that the filesystem had not freed yet.

use candor_plan::entries::Step;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, Quantity, Severity, Snapshot};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::DELETES_LEFT;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H8",
        title: "deletes were only queued",
        explanation: "A file is deleted when its name is removed; its inode and blocks are freed \
            later. XFS frees them in the background, in batches per CPU, so a run of deletes ends \
            before its work is done. candor reads the number of inodes in use before and after a \
            phase that only deletes. If more than 5 % of the deleted files still have their \
            inodes, candor reports them. Delete many more files than a batch, or count the time \
            until the inodes are free.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    fn only_deletes(names: &EntryJob) -> bool {
        // The other name of a file may be a link, which frees nothing.
        names.entries.all_steps().all(|step| matches!(step, Step::Unlink | Step::Rmdir))
            && !names.entries.on_alias
    }
    if on_names.is_empty() || !on_names.iter().all(only_deletes) || !observed.ran.is_empty() {
        return Outcome::Nothing;
    }
    let deleted: f64 = on_names.iter().map(EntryJob::ops).sum();
    let (Some(before), Some(after)) =
        (in_use(observed, &observed.host.before), in_use(observed, &observed.host.after))
    else {
        return Outcome::lacks("the number of inodes in use on the filesystem");
    };
    let left = deleted - (before - after);
    if ratio(left, deleted) > DELETES_LEFT.value && left >= 1.0 {
        Outcome::one(finding(&on_names[0], left.min(deleted), deleted))
    } else {
        Outcome::Nothing
    }
}

/// Inodes in use on the filesystems of all targets.
fn in_use(observed: &Observed, at: &Snapshot) -> Option<f64> {
    let mut points: Vec<&str> = Vec::new();
    for target in observed.targets() {
        points.push(&target.holding()?.mount_point);
    }
    points.sort_unstable();
    points.dedup();
    let count = |point: &&str| {
        let of = at.state.inodes.iter().find(|of| of.mount_point == *point)?;
        Some(of.count as f64)
    };
    let counts: Option<Vec<f64>> = points.iter().map(count).collect();
    Some(counts.filter(|counts| !counts.is_empty())?.into_iter().sum())
}

fn finding(names: &EntryJob, left: f64, deleted: f64) -> Finding {
    let sentence = format!(
        "{} of {} deleted files still had their inodes when the clock stopped: the deletes were \
         queued, and {}/s excludes their work.",
        fmt::count(left),
        fmt::count(deleted),
        fmt::count(names.ops_per_s())
    );
    FindingBuilder::new("H8", Severity::Caution, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Likely)
        .evidence("deleted", Quantity::count(deleted), "candor")
        .evidence("inodes still in use", Quantity::count(left), "statvfs")
        .advice("Delete many more files to reduce the effect of the queue.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_record::InodesInUse;

    use super::*;
    use crate::testcase::TestCase;

    /// So many deletes, with inodes in use before and after, as XFS on a loop device counted.
    fn deleting(count: f64, before: u64, after: u64) -> TestCase {
        let mut case = TestCase::on_names(Step::Unlink, 5000, count / 10.0);
        let in_use = |count| vec![InodesInUse { mount_point: "/data".into(), count }];
        case.host.facts.targets[0].filesystem.as_mut().unwrap().mount_point = "/data".into();
        case.host.before.state.inodes = in_use(before);
        case.host.after.state.inodes = in_use(after);
        case
    }

    #[test]
    fn inodes_of_deleted_files_that_are_left_are_remarked() {
        let found = deleting(5000.0, 5005, 259).found(&RULE);
        assert!(
            found[0].sentence.starts_with("254 of 5000 deleted files still had their inodes"),
            "{found:?}"
        );
        let all = deleting(200.0, 205, 205).found(&RULE);
        assert!(all[0].sentence.starts_with("200 of 200 deleted"), "{all:?}");
    }

    #[test]
    fn freed_inodes_other_steps_and_links_are_silent() {
        assert_eq!(deleting(5000.0, 5013, 13).found(&RULE), []);
        assert_eq!(deleting(5000.0, 5013, 200).found(&RULE), [], "a few");
        let mut case = deleting(5000.0, 5005, 5005);
        let candor_plan::Work::Entries(entries) = &mut case.plan.phases[0].jobs[0].work else {
            panic!("names")
        };
        entries.on_alias = true;
        assert_eq!(case.found(&RULE), []);
        let mut unknown = deleting(5000.0, 5013, 13);
        unknown.host.after.state.inodes.clear();
        assert!(unknown.lacked(&RULE).is_some());
    }
}
