//! H2: names that were in memory.

use candor_plan::entries::Step;
use candor_plan::units::Direction;
use candor_record::fmt::{self, ratio};
use candor_record::{
    Confidence, Finding, MeasuredInstead, PhaseRecord, Quantity, Severity, Snapshot,
};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::evidence::{self, Passed};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{DENTRIES_NEW, NAME_BYTES, NAMES_AGAIN, NAMES_MIN};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H2",
        title: "names came from memory",
        explanation: "Linux keeps known names and inodes in memory; another lookup costs a \
            microsecond instead of a read. candor has used every file that it laid out or created. \
            An inode takes 256 bytes or more on disk. If a phase looked up names and the device \
            supplied less than half of this for each name, memory answered. The number of names in \
            the kernel's cache shows the cache that answered. Without growth, the dentry and inode \
            caches answered; with growth, the page cache held the blocks of the inodes. On a \
            network share, the attribute cache of the client answered. A pass more than twice as \
            fast as the first pass also has a caution. Drop the caches between layout and lookup \
            (root: `sync`, then twice `echo 3 > /proc/sys/vm/drop_caches`, because the journal of \
            ext4 keeps blocks after the first), or remount the filesystem.",
    },
    stage: Stage::PageCache,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let looks: Vec<&EntryJob> = on_names.iter().filter(|names| names.looks()).collect();
    // Where the end of the path is not known, A19 says so.
    let Some(seen) = evidence::seen(observed, Direction::Read).filter(|_| !looks.is_empty()) else {
        return Outcome::Nothing;
    };
    // Jobs share what was read, so that it has to do for all of them.
    let unique: f64 = looks.iter().map(|names| names.names_done(observed)).sum();
    if seen.bytes < unique * NAME_BYTES.value {
        let names = looks.iter().map(|names| from_memory(observed, names, unique, &seen));
        return names.collect::<Vec<_>>().into();
    }
    looks.iter().filter_map(|names| again(observed, names)).collect::<Vec<_>>().into()
}

/// The cache that answered, and its name in a sentence.
fn answered(observed: &Observed, names: &EntryJob, unique: f64) -> (MeasuredInstead, &'static str) {
    if names.targets(observed).iter().any(|target| target.device.is_none()) {
        return (MeasuredInstead::NfsClientCache, "the attribute cache of the NFS client");
    }
    let of_blocks = (MeasuredInstead::CachedRecords, "the cache of the filesystem's blocks");
    // A list reads blocks of the directory, and looks no name up.
    if names.entries.has(Step::List) {
        return of_blocks;
    }
    match new_dentries(observed) {
        // The kernel may hold these names since then: the new ones may be those of others.
        Some(new) if new >= DENTRIES_NEW.value * unique && were_kept(observed, names, unique) => {
            (MeasuredInstead::Memory, "memory")
        }
        Some(new) if new >= DENTRIES_NEW.value * unique => of_blocks,
        Some(_) => (MeasuredInstead::NameCaches, "the dentry and inode caches"),
        None => (MeasuredInstead::Memory, "memory"),
    }
}

/// True where an earlier phase of the run had operations on names of the same targets, and the
/// kernel dropped no such number of names between.
fn were_kept(observed: &Observed, names: &EntryJob, unique: f64) -> bool {
    let Some(last) = observed.judged_before().rfind(|report| {
        let jobs = observed.phase_of(report).into_iter().flat_map(|phase| &phase.jobs);
        let targets = jobs.filter(|job| job.entries().is_some()).flat_map(|job| &job.targets);
        targets.clone().any(|target| names.job.targets.contains(target))
    }) else {
        return false;
    };
    let held = |snapshot: &Snapshot| snapshot.state.dentries.map(|count| count as f64);
    let dropped = held(&last.host().after).zip(held(&observed.host.before));
    dropped.is_none_or(|(then, now)| then - now < DENTRIES_NEW.value * unique)
}

fn from_memory(observed: &Observed, names: &EntryJob, unique: f64, seen: &Passed) -> Finding {
    let step = names.step.name();
    let (measures, who) = answered(observed, names, unique);
    let things = if names.entries.is_of_directories() {
        ("directory", "directories")
    } else {
        ("name", "names")
    };
    let read = match seen.bytes {
        bytes if bytes > 0.0 => fmt::size(bytes),
        _ => "nothing".into(),
    };
    let sentence = format!(
        "{} of {} read {read} from {by}: {who} answered, and {}/s is not the rate of {by}.",
        fmt::capital(step),
        fmt::plural(names.names_done(observed), things.0, things.1),
        fmt::count(names.ops_per_s()),
        by = seen.by
    );
    let new = new_dentries(observed).map(|new| {
        let from = "/proc/sys/fs/dentry-state";
        ("names new in the dentry cache".into(), Quantity::count(new), from.into())
    });
    FindingBuilder::new("H2", Severity::Wrong, sentence)
        .job(&names.job.name)
        .confidence(if seen.bytes > 0.0 { Confidence::Likely } else { Confidence::Certain })
        .measures(measures)
        .evidence(format!("read from {}", seen.by), Quantity::bytes(seen.bytes), seen.from.clone())
        .evidence("names", Quantity::count(unique), "plan")
        .evidence_if(new)
        .advice("Drop the caches before the phase, as root, or remount the filesystem.", None)
        .changes(names.uncached(observed))
        .done()
}

/// Names that the kernel came to hold meanwhile.
fn new_dentries(observed: &Observed) -> Option<f64> {
    let count = |snapshot: &Snapshot| snapshot.state.dentries.map(|count| count as f64);
    Some((count(&observed.host.after)? - count(&observed.host.before)?).max(0.0))
}

/// The same looks were slower before.
fn again(observed: &Observed, names: &EntryJob) -> Option<Finding> {
    let (first, times) = first_pass(observed, names)?;
    if times <= NAMES_AGAIN.value || names.ops() < NAMES_MIN.value {
        return None;
    }
    let sentence = format!(
        "Some names were already in memory: {} times as fast as {}, the first phase with these \
         names.",
        fmt::number(times),
        first.name
    );
    let finding = FindingBuilder::new("H2", Severity::Caution, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Likely)
        .evidence("rate over the rate of the first pass", Quantity::share(times), "candor")
        .advice("Drop the caches before the phase, or remount the filesystem.", None)
        .changes(names.uncached(observed));
    Some(finding.done())
}

/// The first of the same looks in this run, and how many times faster these are.
fn first_pass<'a>(observed: &Observed<'a>, names: &EntryJob) -> Option<(&'a PhaseRecord, f64)> {
    observed.judged_before().find_map(|report| {
        let phase = observed.phase_of(report)?;
        let job = phase.jobs.iter().find(|job| {
            job.work == names.job.work
                && job.targets == names.job.targets
                && job.workers == names.job.workers
        })?;
        let measured = report.measurements.iter().find(|m| m.job == job.name)?;
        let ops = measured.operation(names.step.name()).ops;
        let rate = ratio(ops as f64 * 1e9, measured.elapsed_ns as f64);
        (rate > 0.0).then(|| (report, ratio(names.ops_per_s(), rate)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::{TestCase, proposes};

    fn looking(fetched: u64) -> TestCase {
        let mut case = TestCase::on_names(Step::Stat, 5000, 100_000.0);
        case.process_read(fetched);
        case.after_top().read_sectors = fetched / 512;
        case
    }

    /// With so many names new in the dentry cache.
    fn with_new_names(mut case: TestCase, new: u64) -> TestCase {
        case.host.before.state.dentries = Some(400_000);
        case.host.after.state.dentries = Some(400_000 + new);
        case
    }

    fn measured(case: &TestCase) -> String {
        let found = case.found(&RULE);
        assert_eq!(found[0].severity, Severity::Wrong, "{found:?}");
        found[0].measures.as_ref().expect("a cache").to_string()
    }

    #[test]
    fn lookups_that_fetch_nothing_are_memory() {
        let case = with_new_names(looking(0), 3);
        let found = case.found(&RULE);
        assert_eq!(
            found[0].sentence,
            "Stat of 5000 names read nothing from vda: the dentry and inode caches answered, and \
             100k/s is not the rate of vda."
        );
        assert!(proposes(
            &found[0],
            "hooks.before.command=sync; for i in 1 2; do echo 3 > /proc/sys/vm/drop_caches; done"
        ));
        let judged = case.judge();
        assert_eq!(judged.verdict, candor_record::Verdict::Wrong);
        assert!(judged.headline.contains("(the dentry and inode caches)"), "{}", judged.headline);
        assert_eq!(measured(&looking(0)), "memory", "nobody counted the names");
    }

    #[test]
    fn names_that_are_new_to_the_kernel_came_from_cached_blocks() {
        assert_eq!(
            measured(&with_new_names(looking(4096), 4990)),
            "cached blocks of the filesystem"
        );
        let mut list = looking(0);
        let work = &mut list.plan.phases[0].jobs[0].work;
        let candor_plan::Work::Entries(entries) = work else { panic!("names") };
        entries.over = candor_plan::entries::Over::TargetDirectories;
        entries.steps = vec![Step::List];
        list.measured().operations[0].name = "list".into();
        assert_eq!(measured(&list), "cached blocks of the filesystem");
    }

    #[test]
    fn new_names_beside_names_that_were_seen_may_be_those_of_others() {
        let mut case = with_new_names(looking(0), 4990);
        assert_eq!(measured(&case), "cached blocks of the filesystem");
        case.earlier = vec![TestCase::on_names(Step::Stat, 5000, 100_000.0).recorded()];
        assert_eq!(measured(&case), "memory");
    }

    #[test]
    fn a_second_pass_that_is_faster_is_remarked() {
        let mut case = looking(5000 * 300);
        let mut first = TestCase::on_names(Step::Stat, 5000, 9000.0).recorded();
        first.name = "cold".into();
        case.earlier = vec![first];
        let found = case.found(&RULE);
        assert!(
            found[0]
                .sentence
                .ends_with("11.1 times as fast as cold, the first phase with these names."),
            "{found:?}"
        );
        assert_eq!(found[0].severity, Severity::Caution);
    }

    #[test]
    fn a_share_that_answered_nothing_is_the_client() {
        let mut case = looking(0).on_nfs(10_000);
        assert_eq!(measured(&case), "the cache of the NFS client");
        case.host.after.state.interfaces[0].received_bytes = 5000 * 200;
        assert_eq!(case.found(&RULE), []);
    }

    #[test]
    fn cold_names_made_names_and_names_in_memory_are_silent() {
        assert_eq!(looking(5000 * 300).found(&RULE), []);
        let mut making = TestCase::on_names(Step::Create, 5000, 9000.0);
        making.process_read(0);
        assert_eq!(making.found(&RULE), []);
        let mut tmpfs = looking(0);
        tmpfs.host.facts.targets[0].filesystem.as_mut().unwrap().in_memory = true;
        assert_eq!(tmpfs.judge().finding("H2"), None, "A16 says it");
    }
}
