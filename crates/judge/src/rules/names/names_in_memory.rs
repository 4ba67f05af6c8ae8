//! H2: names that were in memory.

use candor_record::facts::TargetFacts;
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, PhaseRecord, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{NAME_BYTES, NAMES_AGAIN, NAMES_MIN};
use candor_plan::units::Direction;

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H2",
        title: "names came from memory",
        explanation: "Linux keeps names and inodes that it has seen in memory, and looking them up \
            again costs a microsecond instead of a read. candor has seen every file that it laid \
            out. An inode takes 256 bytes and more on disk; where a phase looked at names and \
            this process fetched less than half of that for each, they came from memory. A second \
            pass that is more than twice as fast as the first tells the same. Drop what is cached \
            between laying out and looking (root: `sync; echo 3 > /proc/sys/vm/drop_caches`), or \
            mount the filesystem anew.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let looks = on_names.iter().filter(|names| names.looks() && names.ops() >= NAMES_MIN.value);
    let looks: Vec<&EntryJob> = looks.filter(|names| is_local(&names.targets(observed))).collect();
    if looks.is_empty() {
        return Outcome::Nothing;
    }
    let fetched = observed.process(Direction::Read);
    let found = looks.iter().filter_map(|names| of(observed, names, fetched));
    let found: Vec<Finding> = found.collect();
    match (found.is_empty(), fetched) {
        (true, None) => Outcome::lacks("what this process fetched (/proc/self/io)"),
        _ => found.into(),
    }
}

/// On filesystems whose reads from storage are charged to the process.
fn is_local(targets: &[&TargetFacts]) -> bool {
    let local = |target: &&TargetFacts| {
        target.device.is_some() && target.filesystem.as_ref().is_none_or(|on| !on.in_memory)
    };
    !targets.is_empty() && targets.iter().all(local)
}

fn of(observed: &Observed, names: &EntryJob, fetched: Option<f64>) -> Option<Finding> {
    let unique = names.names(observed).min(names.ops());
    let from_memory = fetched.is_some_and(|bytes| bytes < unique * NAME_BYTES.value);
    let faster = first_pass(observed, names);
    let again_faster = faster.filter(|(_, times)| *times > NAMES_AGAIN.value);
    (from_memory || again_faster.is_some()).then(|| finding(names, unique, fetched, again_faster))
}

/// The first of the same looks in this run, and how many times faster these are.
fn first_pass<'a>(observed: &Observed<'a>, names: &EntryJob) -> Option<(&'a PhaseRecord, f64)> {
    observed.judged_before().find_map(|report| {
        let phase = observed.phase_of(report)?;
        let alike = |job: &&candor_plan::Job| {
            job.work == names.job.work
                && job.targets == names.job.targets
                && job.workers == names.job.workers
        };
        let job = phase.jobs.iter().find(alike)?;
        let measured = report.measurements.iter().find(|m| m.job == job.name)?;
        let rate = ratio(measured.ops_done() as f64 * 1e9, measured.elapsed_ns as f64);
        (rate > 0.0).then(|| (report, ratio(names.ops_per_s(), rate)))
    })
}

fn finding(
    names: &EntryJob,
    unique: f64,
    fetched: Option<f64>,
    again_faster: Option<(&PhaseRecord, f64)>,
) -> Finding {
    let again = again_faster.map_or(String::new(), |(report, times)| {
        format!("; {} times as fast as {}, which saw them first", fmt::number(times), report.name)
    });
    let sentence = format!(
        "The names were already in memory: {} of {} names{again}.",
        fmt::plural(names.ops(), "lookup", "lookups"),
        fmt::count(unique)
    );
    let fetched = fetched.map(|bytes| {
        ("fetched from storage".into(), Quantity::bytes(bytes), "/proc/self/io read_bytes".into())
    });
    FindingBuilder::new("H2", Severity::Remark, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Likely)
        .evidence_if(fetched)
        .evidence("names", Quantity::count(unique), "plan")
        .advice(
            "Drop what is cached before the phase (a hook `before` of the job can), or mount anew.",
            None,
        )
        .done()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;
    use candor_plan::entries::Step;

    fn looking(fetched: u64) -> TestCase {
        let mut case = TestCase::on_names(Step::Stat, 5000, 100_000.0);
        case.process_read(fetched);
        case
    }

    #[test]
    fn lookups_that_fetch_nothing_are_memory() {
        let found = looking(4096).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "The names were already in memory: 1M lookups of 5000 names."
        );
        assert_eq!(found[0].severity, Severity::Remark);
    }

    #[test]
    fn a_second_pass_that_is_faster_tells_too() {
        let mut case = looking(5000 * 300);
        let mut first = TestCase::on_names(Step::Stat, 5000, 9000.0).recorded();
        first.name = "cold".into();
        case.earlier = vec![first];
        let sentence = &case.found(&RULE)[0].sentence;
        assert!(sentence.ends_with("11.1 times as fast as cold, which saw them first."));
    }

    #[test]
    fn cold_names_made_names_and_names_in_memory_are_silent() {
        assert_eq!(looking(5000 * 300).found(&RULE), []);
        let mut making = TestCase::on_names(Step::Create, 5000, 9000.0);
        making.process_read(0);
        assert_eq!(making.found(&RULE), []);
        let mut tmpfs = looking(0);
        tmpfs.host.facts.targets[0].filesystem.as_mut().unwrap().in_memory = true;
        assert_eq!(tmpfs.found(&RULE), []);
        let mut unknown = looking(0);
        unknown.host.after.process_io = None;
        assert!(unknown.lacked(&RULE).is_some());
    }
}
