//! Rates of names side by side: what was done to them in columns, their trees in rows.

use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Job, Target, TargetKind};

use crate::fmt::ratio;
use crate::{MeasuredInstead, Measurement, PhaseJudgement, PhaseRecord, Report, Verdict};

/// Phases that did the same things to the names of several trees, one thing each.
#[derive(Clone, Debug, PartialEq)]
pub struct NameTable<'a> {
    /// Things that were done, in their order.
    pub columns: Vec<&'static str>,
    /// The trees, each with a rate for every column.
    pub rows: Vec<(&'a str, Vec<NameRate>)>,
    /// Indexes in the report of the phases that it stands for.
    pub phases: Vec<usize>,
}

/// Names per second of a phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NameRate {
    /// Names that something was done to, per second; with the final sync, where there was one.
    pub names_per_s: f64,
    /// Whether to believe it.
    pub verdict: Verdict,
    /// The cache that was wanted and answered.
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
    /// The table of a report; none unless several trees had the same done to them.
    pub fn of(report: &'a Report) -> Option<NameTable<'a>> {
        let phases = report.phases.iter().enumerate();
        let judged = phases.filter_map(|(at, phase)| Some((at, phase, report.judgement.of(at)?)));
        let cells: Vec<Cell<'a>> =
            judged.filter_map(|(at, phase, judged)| Cell::of(report, at, phase, judged)).collect();
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
        let rate = |tree: &str, column: &str| {
            cells.iter().find(|cell| cell.tree == tree && cell.column == column).map(|of| of.rate)
        };
        let row = |tree: &'a str| {
            let rates: Option<Vec<_>> = columns.iter().map(|column| rate(tree, column)).collect();
            Some((tree, rates?))
        };
        let rows: Option<Vec<_>> = trees.into_iter().map(row).collect();
        let phases = cells.iter().map(|cell| cell.phase).collect();
        Some(NameTable { rows: rows?, columns, phases })
    }
}

impl<'a> Cell<'a> {
    fn of(
        report: &'a Report,
        at: usize,
        phase: &PhaseRecord,
        judged: &PhaseJudgement,
    ) -> Option<Cell<'a>> {
        let planned = report.plan.phases.get(phase.phase)?;
        let ([job], [measured]) = (&planned.jobs[..], &phase.measurements[..]) else { return None };
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

/// The thing that is done to each name, in a word, and whether the sync at its end is within the
/// rate; none where that is several things.
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
    // A list is of all names in a directory.
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

    use super::*;
    use crate::{Judgement, OpStats};

    /// A phase of a step on each name of a tree, a thousand times within a second.
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
        let target = |name: &&str| Target {
            name: (*name).into(),
            kind: TargetKind::Tree,
            tree: Some(Tree {
                depth: 1,
                width: 4,
                items: 50,
                leaves_only: true,
                ..Tree::default()
            }),
            ..Target::default()
        };
        let plan = Plan { targets: trees.iter().map(target).collect(), ..Plan::default() };
        let judgement = Judgement::default();
        Report { plan, judgement, ..Report::default() }
    }

    #[test]
    fn two_trees_with_the_same_steps_stand_side_by_side() {
        let mut report = report(&["own", "one"]);
        for tree in ["own", "one"] {
            add(&mut report, tree, Step::Stat, Over::Items);
            add(&mut report, tree, Step::List, Over::Directories);
        }
        let table = NameTable::of(&report).expect("a table");
        assert_eq!((table.columns, table.phases), (vec!["stat", "list"], vec![0, 1, 2, 3]));
        let rates: Vec<_> = table.rows[1].1.iter().map(|rate| rate.names_per_s).collect();
        assert_eq!((table.rows[1].0, rates), ("one", vec![1000.0, 40_000.0]));
    }

    #[test]
    fn what_is_not_alike_is_no_table() {
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
