//! H7: names that were changed in memory.

use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, MeasuredInstead, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::evidence::{self, Passed};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{JOURNAL_EXT_S, JOURNAL_S, JOURNALS, NAME_BYTES};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H7",
        title: "changed names stayed in memory",
        explanation: "Creating, renaming and removing a name changes the filesystem's metadata in \
            memory. The journal writes the changes later, every 5 s on ext4 and every 30 s on XFS. \
            Each changed name takes an inode of 256 bytes or more on the device. If the device had \
            written less than half of this for each name when the clock stopped, the rate is the \
            speed of memory. With more, the last names may still be in memory. The severity is \
            then caution for a phase of many journal intervals; for a shorter phase the number of \
            written names is unknown. A final syncfs inside the job (`syncfs_at_end`) also \
            measures the rate to the device; an fsync of each file, or a mount \
            with dirsync, makes each change durable.",
    },
    stage: Stage::WriteCache,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let changing: Vec<&EntryJob> = on_names.iter().filter(|names| names.changes()).collect();
    let Some(most) = changing.iter().max_by(|a, b| a.ops().total_cmp(&b.ops())) else {
        return Outcome::Nothing;
    };
    // Where the end of the path is not known, A19 says so.
    let Some(seen) = evidence::seen(observed, Direction::Write) else { return Outcome::Nothing };
    let changed: f64 = changing.iter().map(|names| names.names_done(observed)).sum();
    let least = changed * NAME_BYTES.value + observed.moved(Direction::Write).bytes;
    let of = Changes { names: most, changed, seen };
    let is_small = of.seen.bytes < least;
    let each = changing.iter().all(|names| names.durable_each()) || made_durable(observed);
    let found = match (with_sync(&changing), each) {
        (Some(seconds), _) if !is_small => Some(both_rates(&of, seconds)),
        (_, true) if !is_small => None,
        _ if is_small => Some(in_memory(observed, &of)),
        _ => Some(partly(observed, &of)),
    };
    found.map_or(Outcome::Nothing, Outcome::one)
}

/// Changes of names, and what the device wrote by then.
struct Changes<'a> {
    names: &'a EntryJob<'a>,
    changed: f64,
    seen: Passed,
}

/// Seconds including the final sync, where every job made one.
fn with_sync(changing: &[&EntryJob]) -> Option<f64> {
    let times = changing.iter().map(|names| names.measured.elapsed_with_flush_ns);
    let times: Option<Vec<u64>> = times.collect();
    Some(times?.into_iter().max()? as f64 / 1e9)
}

/// The filesystems make each change of a name durable, whatever the program does.
fn made_durable(observed: &Observed) -> bool {
    observed.targets().into_iter().all(|target| {
        target.holding().is_some_and(|on| {
            on.options.split(',').any(|option| matches!(option, "dirsync" | "sync"))
        })
    })
}

/// Longest time for which the filesystem of a target keeps changes in memory, in s.
fn journal_s(observed: &Observed) -> f64 {
    fn of(on: &candor_record::facts::Filesystem) -> Option<f64> {
        let set = on.options.split(',').find_map(|option| option.strip_prefix("commit="));
        let ext = on.kind.starts_with("ext").then_some(JOURNAL_EXT_S.value);
        set.and_then(|seconds| seconds.parse().ok()).or(ext)
    }
    let on = observed.targets().into_iter().filter_map(|target| target.holding());
    on.map(|on| of(on).unwrap_or(JOURNAL_S.value)).fold(0.0, f64::max)
}

fn in_memory(observed: &Observed, of: &Changes) -> Finding {
    let (step, by) = (of.names.step.name(), &of.seen.by);
    let flushed = observed.host.after_flush.is_some();
    let wrote = match of.seen.bytes {
        bytes if bytes > 0.0 => format!("only {}", fmt::size(bytes)),
        _ => "nothing".into(),
    };
    let sentence = format!(
        "{by} had written {wrote} {}: {} {} changed ({step}) in memory, and {}/s is the speed of \
         memory.",
        if flushed { "after the final sync" } else { "when the clock stopped" },
        fmt::plural(of.changed, "name", "names"),
        if of.changed == 1.0 { "was" } else { "were" },
        fmt::count(of.names.ops_per_s()),
    );
    draft(of, Severity::Wrong, sentence)
        .measures(MeasuredInstead::NameChanges)
        .advice("Sync the filesystem at the end, which also reports the rate to the device.", None)
        .changes(of.names.synced(observed))
        .done()
}

fn both_rates(of: &Changes, seconds: f64) -> Finding {
    let media = format!("{}/s", fmt::count(ratio(of.names.ops(), seconds)));
    let sentence = format!(
        "With its final sync the job did {media} ({}); {}/s is the rate to memory, and {} was \
         written in total.",
        of.names.step.name(),
        fmt::count(of.names.ops_per_s()),
        fmt::size(of.seen.bytes)
    );
    let quote = format!("Report {media}, the rate with the sync.");
    draft(of, Severity::Explains, sentence).advice(quote, None).done()
}

/// The device wrote meanwhile, but nothing made sure that it was all.
fn partly(observed: &Observed, of: &Changes) -> Finding {
    let (seconds, every) = (observed.elapsed_s(), journal_s(observed));
    let wrote = format!("{} wrote {} during the phase", of.seen.by, fmt::size(of.seen.bytes));
    let (severity, sentence) = if seconds >= JOURNALS.value * every {
        (
            Severity::Caution,
            format!(
                "{wrote}; the names of the last {} s may have been in memory only when the clock \
                 stopped.",
                fmt::number(every)
            ),
        )
    } else {
        (
            Severity::Unverified,
            format!(
                "{wrote}, but the number of written names out of {} changed names is unknown: the \
                 journal may wait {} s, and the phase took {}.",
                fmt::count(of.changed),
                fmt::number(every),
                fmt::time(seconds * 1e9)
            ),
        )
    };
    draft(of, severity, sentence)
        .advice("Sync the filesystem at the end, or run for many journal intervals.", None)
        .changes(of.names.synced(observed))
        .done()
}

fn draft(of: &Changes, severity: Severity, sentence: String) -> FindingBuilder {
    FindingBuilder::new("H7", severity, sentence)
        .job(&of.names.job.name)
        .confidence(Confidence::Likely)
        .evidence("names changed", Quantity::count(of.changed), "candor and plan")
        .evidence(
            format!("written by {}", of.seen.by),
            Quantity::bytes(of.seen.bytes),
            of.seen.from.clone(),
        )
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;
    use candor_record::Verdict;

    use super::*;
    use crate::testcase::{TestCase, proposes};

    /// Ten seconds of 5000 names, during which the device wrote so many bytes.
    fn making(written: u64) -> TestCase {
        let mut case = TestCase::on_names(Step::Create, 5000, 9000.0);
        case.after_top().write_sectors = written / 512;
        case
    }

    fn entries(case: &mut TestCase) -> &mut candor_plan::Entries {
        match &mut case.plan.phases[0].jobs[0].work {
            candor_plan::Work::Entries(entries) => entries,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_that_no_device_saw_are_memory() {
        let found = making(0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "vda had written nothing when the clock stopped: 5000 names were changed (create) in \
             memory, and 9000/s is the speed of memory."
        );
        assert!(proposes(&found[0], "work.entries.syncfs_at_end=true"));
        let judged = making(8192).judge();
        assert_eq!(judged.verdict, Verdict::Wrong);
        assert!(judged.headline.contains("(memory, not the journal)"), "{}", judged.headline);
    }

    #[test]
    fn some_of_the_journal_vouches_for_a_long_phase_only() {
        let found = making(4 << 20).found(&RULE);
        assert_eq!(found[0].severity, Severity::Unverified, "{found:?}");
        let mut long = making(4 << 20);
        long.host.facts.targets[0].filesystem.as_mut().unwrap().options = "rw,commit=1".into();
        assert_eq!(long.found(&RULE)[0].severity, Severity::Caution);
    }

    #[test]
    fn a_final_sync_gives_both_rates() {
        let mut case = making(0);
        entries(&mut case).syncfs_at_end = true;
        case.measured().elapsed_with_flush_ns = Some(20_000_000_000);
        let mut end = case.host.after.clone();
        case.host.after_flush = Some(end.clone());
        assert!(case.found(&RULE)[0].sentence.contains("nothing after the final sync"));
        end.devices[0].1.write_sectors = (4 << 20) / 512;
        case.host.after_flush = Some(end);
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Explains);
        assert!(found[0].sentence.starts_with("With its final sync the job did 4500/s (create)"));
    }

    #[test]
    fn durable_names_looks_and_memory_are_silent() {
        let mut each = making(64 << 20);
        entries(&mut each).steps = vec![Step::Create, Step::Fsync, Step::Close];
        assert_eq!(each.found(&RULE), []);
        for (written, findings) in [(64 << 20, 0), (0, 1)] {
            let mut dirsync = making(written);
            let on = dirsync.host.facts.targets[0].filesystem.as_mut().unwrap();
            on.options = "rw,dirsync".into();
            assert_eq!(dirsync.found(&RULE).len(), findings);
        }
        assert_eq!(TestCase::on_names(Step::Stat, 5000, 9000.0).found(&RULE), []);
        let mut tmpfs = making(0);
        tmpfs.host.facts.targets[0].filesystem.as_mut().unwrap().in_memory = true;
        assert_eq!(tmpfs.judge().finding("H7"), None);
        assert_eq!(TestCase::direct_write().found(&RULE), []);
    }
}
