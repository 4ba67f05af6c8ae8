//! H9: workers that wait for one directory.

use candor_plan::entries::Over;
use candor_plan::{Job, Tree};
use candor_record::fmt::{self, ratio};
use candor_record::{Confidence, Finding, PhaseRecord, Quantity, Severity};

use crate::builder::FindingBuilder;
use crate::entry_jobs::{self, EntryJob};
use crate::observed::Observed;
use crate::rule::{Outcome, Rule, RuleText};
use crate::stage::Stage;
use crate::thresholds::{NAMES_MIN, SHARED_SLOWER};

pub const RULE: Rule = Rule {
    text: RuleText {
        id: "H9",
        title: "workers share one directory",
        explanation: "A name is created, renamed or removed under the lock of its directory, so \
            workers in one directory take turns, regardless of their number. candor reports the \
            finding only if the run has both: shared and separate directories, with the same \
            operation and the same number of workers, and separate ones more than 1.3 times as \
            fast. Without such a phase candor does not guess. Give each worker a separate \
            directory.",
    },
    stage: Stage::Apart,
    limit: None,
    before: None,
    after,
};

fn after(observed: &Observed) -> Outcome {
    let on_names = entry_jobs::ran(observed);
    let shared = on_names.iter().filter(|names| {
        let tree = tree_of(observed, names.job);
        names.changes() && names.ranks() > 1 && tree.is_some_and(|tree| is_shared(names, tree))
    });
    let found = shared.filter_map(|names| {
        let (own, times) = own_directories(observed, names)?;
        (times > SHARED_SLOWER.value).then(|| finding(names, own, times))
    });
    found.collect::<Vec<_>>().into()
}

fn tree_of<'a>(observed: &Observed<'a>, job: &Job) -> Option<&'a Tree> {
    observed.plan.target(job.targets.first()?)?.tree.as_ref()
}

/// All workers have their files in the same one directory.
fn is_shared(names: &EntryJob, tree: &Tree) -> bool {
    names.entries.over == Over::Items && !tree.per_rank && tree.item_directories() == 1
}

/// An earlier phase in which as many workers did the same in directories of their own, and its rate
/// over the present one.
fn own_directories<'a>(
    observed: &Observed<'a>,
    names: &EntryJob,
) -> Option<(&'a PhaseRecord, f64)> {
    let rate = |report: &'a PhaseRecord| {
        let job = observed.only_job_of(report)?;
        let entries = job.entries()?;
        let own = tree_of(observed, job).is_some_and(|tree| tree.per_rank);
        let same = entries.steps == names.entries.steps && entries.over == names.entries.over;
        let alike = own && same && job.workers == names.job.workers;
        let measured = report.measurements.first().filter(|_| alike)?;
        let ops = measured.operation(names.step.name()).ops as f64;
        let enough = ops.min(names.ops()) >= NAMES_MIN.value;
        let own = ratio(ops, measured.elapsed_ns as f64 / 1e9);
        enough.then(|| (report, ratio(own, names.ops_per_s())))
    };
    observed.judged_before().filter_map(rate).max_by(|a, b| a.1.total_cmp(&b.1))
}

fn finding(names: &EntryJob, own: &PhaseRecord, times: f64) -> Finding {
    let sentence = format!(
        "{} workers take turns at the lock of one directory: phase {} did {} times as much with \
         separate directories.",
        names.ranks(),
        own.name,
        fmt::number(times)
    );
    FindingBuilder::new("H9", Severity::Explains, sentence)
        .job(&names.job.name)
        .confidence(Confidence::Likely)
        .evidence("rate in separate directories over this rate", Quantity::ratio(times), "candor")
        .advice("Give each worker a separate directory.", None)
        .done()
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Step;

    use super::*;
    use crate::testcase::TestCase;

    /// Four workers in one directory, after four in directories of their own.
    fn shared_after_own(own_per_s: f64) -> TestCase {
        let mut case = TestCase::on_names(Step::Create, 5000, 20_000.0);
        let (mut own, mut shared) = (case.plan.targets[0].clone(), case.plan.targets[0].clone());
        own.name = "own".into();
        (own.tree, shared.tree) =
            (Some(Tree { per_rank: true, ..Tree::default() }), Some(Tree::default()));
        case.plan.targets = vec![shared, own];
        let mut job = case.plan.phases[0].jobs[0].clone();
        if let candor_plan::Work::Entries(entries) = &mut job.work {
            entries.over = Over::Items;
        }
        job.workers = 4;
        case.plan.phases[0].jobs = vec![job.clone()];
        job.targets = vec!["own".into()];
        let mut before = case.plan.phases[0].clone();
        before.jobs = vec![job];
        let mut first = TestCase::on_names(Step::Create, 5000, own_per_s).recorded();
        (first.name, first.tried) = ("own directories".into(), Some(before));
        case.earlier = vec![first];
        case
    }

    #[test]
    fn own_directories_that_were_faster_tell_of_the_lock() {
        let found = shared_after_own(61_000.0).found(&RULE);
        assert_eq!(
            found[0].sentence,
            "4 workers take turns at the lock of one directory: phase own directories did 3.05 \
             times as much with separate directories."
        );
        assert_eq!(found[0].severity, Severity::Explains);
    }

    #[test]
    fn like_rates_single_workers_and_runs_without_the_other_are_silent() {
        assert_eq!(shared_after_own(24_000.0).found(&RULE), []);
        let mut alone = shared_after_own(61_000.0);
        alone.plan.phases[0].jobs[0].workers = 1;
        assert_eq!(alone.found(&RULE), []);
        let mut without = shared_after_own(61_000.0);
        without.earlier.clear();
        assert_eq!(without.found(&RULE), []);
    }
}
