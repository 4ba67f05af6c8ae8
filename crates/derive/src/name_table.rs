//! Rates of names in a table: one column per step, one row per tree.

use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Job, Target, TargetKind};
use candor_record::fmt::ratio;
use candor_record::{MeasuredInstead, Measurement, PhaseJudgement, PhaseRecord, Report, Verdict};

/// Phases that each execute one step on the names of a tree, with the same steps for each tree.
#[derive(Clone, Debug, PartialEq)]
pub struct NameTable<'a> {
    /// Names of the steps in their order.
    pub columns: Vec<&'static str>,
    /// One row per tree.
    pub rows: Vec<NameRow<'a>>,
    /// Indexes in the report of the phases in the table.
    pub phases: Vec<usize>,
}

/// Rates of one tree.
#[derive(Clone, Debug, PartialEq)]
pub struct NameRow<'a> {
    /// Name of the tree.
    pub tree: &'a str,
    /// One rate per column.
    pub rates: Vec<NameRate>,
}

/// Names per second of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameRate {
    /// Names per second; if the phase ends with a sync, its time is included.
    pub names_per_s: f64,
    /// Verdict on the phase.
    pub verdict: Verdict,
    /// The cache that the plan wants and that answered.
    pub answered_by: Option<MeasuredInstead>,
}

/// A phase on one tree.
struct Cell<'a> {
    phase: usize,
    tree: &'a str,
    column: &'static str,
    rate: NameRate,
}

impl<'a> NameTable<'a> {
    /// The table of a report; absent unless several trees have the same steps.
    pub fn of(report: &'a Report) -> Option<NameTable<'a>> {
        let cells: Vec<Cell<'a>> =
            (0..report.phases.len()).filter_map(|at| Cell::of(report, at)).collect();
        let (mut columns, mut trees) = (Vec::new(), Vec::new());
        for cell in &cells {
            if !columns.contains(&cell.column) {
                columns.push(cell.column);
            }
            if !trees.contains(&cell.tree) {
                trees.push(cell.tree);
            }
        }
        let is_full = columns.len() * trees.len() == cells.len();
        if trees.len() < 2 || columns.len() < 2 || !is_full {
            return None;
        }
        let rows: Option<Vec<_>> =
            trees.into_iter().map(|tree| NameRow::of(&cells, tree, &columns)).collect();
        let phases = cells.iter().map(|cell| cell.phase).collect();
        Some(NameTable { rows: rows?, columns, phases })
    }
}

impl<'a> NameRow<'a> {
    fn of(cells: &[Cell<'a>], tree: &'a str, columns: &[&str]) -> Option<NameRow<'a>> {
        let rates = columns.iter().map(|column| {
            let mut of_tree = cells.iter().filter(|cell| cell.tree == tree);
            of_tree.find(|cell| cell.column == *column).map(|cell| cell.rate)
        });
        Some(NameRow { tree, rates: rates.collect::<Option<_>>()? })
    }
}

impl<'a> Cell<'a> {
    fn of(report: &'a Report, at: usize) -> Option<Cell<'a>> {
        let record: &PhaseRecord = report.phases.get(at)?;
        let judged: &PhaseJudgement = report.judgement.of(at)?;
        let planned = report.plan.phases.get(record.phase)?;
        let ([job], [measured]) = (&planned.jobs[..], &record.measurements[..]) else {
            return None;
        };
        let entries = job.entries()?;
        let [target] = &job.targets[..] else { return None };
        let target = report.plan.target(target).filter(|target| target.kind == TargetKind::Tree)?;
        let rate = NameRate {
            names_per_s: names_per_s(job, entries, target, measured)?,
            verdict: judged.verdict,
            answered_by: judged.answered_by,
        };
        let column = column(entries, measured.elapsed_with_flush_ns.is_some())?;
        Some(Cell { phase: at, tree: &target.name, column, rate })
    }
}

/// Name of the step that a phase executes, with the sync if the rate includes it; absent if a phase
/// has several steps.
fn column(entries: &Entries, with_sync: bool) -> Option<&'static str> {
    let mut main = [Step::Create, Step::Read, Step::Write].into_iter();
    let step = main.find(|step| entries.has(*step)).or_else(|| entries.single())?;
    Some(match step {
        Step::Create if with_sync => "create+sync",
        Step::Unlink => "delete",
        step => step.name(),
    })
}

fn names_per_s(
    job: &Job,
    entries: &Entries,
    target: &Target,
    measured: &Measurement,
) -> Option<f64> {
    let ops = match entries.single() {
        Some(step) => measured.operation(step.name()).ops,
        None => measured.operation("item").ops,
    };
    // One list returns all names of a directory.
    let each = match (entries.single(), entries.over) {
        (Some(Step::List), Over::Directories) => {
            let totals = target.tree.as_ref()?.totals(job.workers.into());
            ratio(totals.items as f64, totals.directories as f64)
        }
        (Some(Step::List), _) => return None,
        _ => 1.0,
    };
    let elapsed_ns = measured.elapsed_with_flush_ns.unwrap_or(measured.elapsed_ns);
    (elapsed_ns > 0).then(|| ops as f64 * each * 1e9 / elapsed_ns as f64)
}

#[cfg(test)]
mod tests {
    use candor_plan::{Phase, Plan, Tree};
    use candor_record::OpStats;

    use super::*;

    /// Adds a phase that executes a step 1000 times within a second.
    fn add(report: &mut Report, tree: &str, step: Step, over: Over) {
        let entries = Entries { steps: vec![step], over, ..Entries::default() };
        let targets = vec![tree.to_owned()];
        let job = Job { targets, work: entries.into(), ..Job::default() };
        let phase = report.plan.phases.len();
        report.plan.phases.push(Phase { jobs: vec![job], ..Phase::default() });
        let mut measured = Measurement { elapsed_ns: 1_000_000_000, ..Measurement::default() };
        *measured.operation_mut(step.operation()) =
            OpStats { ops: 1000, ..OpStats::of(step.operation()) };
        let record = PhaseRecord { phase, measurements: vec![measured], ..PhaseRecord::default() };
        report.phases.push(record);
        report.judgement.phases.push(Some(PhaseJudgement::default()));
    }

    fn report(trees: &[&str]) -> Report {
        let tree = Tree { depth: 1, width: 4, items: 50, leaves_only: true, ..Tree::default() };
        let targets = trees.iter().map(|name| Target {
            name: (*name).into(),
            kind: TargetKind::Tree,
            tree: Some(tree.clone()),
            ..Target::default()
        });
        let plan = Plan { targets: targets.collect(), ..Plan::default() };
        Report { plan, ..Report::default() }
    }

    #[test]
    fn two_trees_with_the_same_steps_make_a_table() {
        let mut report = report(&["own", "one"]);
        for tree in ["own", "one"] {
            add(&mut report, tree, Step::Stat, Over::Items);
            add(&mut report, tree, Step::List, Over::Directories);
        }
        let table = NameTable::of(&report).expect("a table");
        assert_eq!((table.columns, table.phases), (vec!["stat", "list"], vec![0, 1, 2, 3]));
        let NameRow { tree, rates } = &table.rows[1];
        let rates: Vec<f64> = rates.iter().map(|rate| rate.names_per_s).collect();
        assert_eq!((*tree, rates), ("one", vec![1000.0, 40_000.0]));
    }

    #[test]
    fn one_tree_and_a_missing_phase_make_no_table() {
        let mut alone = report(&["own"]);
        add(&mut alone, "own", Step::Stat, Over::Items);
        add(&mut alone, "own", Step::Unlink, Over::Items);
        assert_eq!(NameTable::of(&alone), None);
        let mut gap = report(&["own", "one"]);
        add(&mut gap, "own", Step::Stat, Over::Items);
        add(&mut gap, "own", Step::Unlink, Over::Items);
        add(&mut gap, "one", Step::Stat, Over::Items);
        assert_eq!(NameTable::of(&gap), None);
    }
}
