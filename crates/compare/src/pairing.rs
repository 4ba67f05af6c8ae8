//! Phases, jobs and operations of two runs, each with its partner.

use candor_plan::work::Figure;
use candor_record::Verdict;
use candor_record::results::{DisturbanceKind, JobResults, OpResults, PhaseResults, Results};
use candor_stats::mean;

/// A phase with all its repeats.
#[derive(Clone, Debug)]
pub struct Repeated<'a> {
    /// Name of the phase.
    pub name: &'a str,
    /// Number among the phases of that name, from 0.
    nth: usize,
    /// The repeats that count.
    pub kept: Vec<&'a PhaseResults>,
    /// Number of repeats that do not: they can be believed less than the others.
    pub left_out: usize,
}

/// A job on both sides, with the phases that it ran in.
#[derive(Clone, Debug)]
pub struct Pair<'a> {
    /// The phase of the baseline.
    pub baseline: Repeated<'a>,
    /// The phase of the other run.
    pub run: Repeated<'a>,
    /// Names of the job on either side.
    pub jobs: [&'a str; 2],
}

impl<'a> Repeated<'a> {
    /// True for the same phase of one run.
    pub fn is_same_phase(&self, other: &Repeated<'_>) -> bool {
        (self.name, self.nth) == (other.name, other.nth)
    }

    /// The job of that name in each repeat that has it.
    pub fn job(&self, name: &str) -> Vec<&'a JobResults> {
        let of = |phase: &&'a PhaseResults| phase.jobs.iter().find(|job| job.job == name);
        self.kept.iter().filter_map(of).collect()
    }

    /// The share of a disturbance on average, where it was looked for in all repeats.
    pub fn disturbance(&self, kind: DisturbanceKind) -> Option<f64> {
        let shares: Option<Vec<f64>> =
            self.kept.iter().map(|phase| phase.disturbance(kind)).collect();
        let shares = shares.filter(|shares| !shares.is_empty())?;
        Some(mean(&shares))
    }

    /// The verdict on what counts, where somebody judged it, with its line.
    pub fn verdict(&self) -> Option<(Verdict, &'a str)> {
        let judged = self.kept.iter().filter_map(|of| Some((of.verdict?, of.headline.as_str())));
        judged.max_by_key(|(verdict, _)| *verdict)
    }
}

impl<'a> Pair<'a> {
    /// The job on both sides, in each repeat.
    pub fn measured(&self) -> [Vec<&'a JobResults>; 2] {
        [self.baseline.job(self.jobs[0]), self.run.job(self.jobs[1])]
    }

    /// Operations that each repeat of both sides did, by name, without those made up of others.
    pub fn operations(&self) -> Vec<&'a str> {
        let [mine, theirs] = self.measured();
        let counts = |op: &&'a OpResults| {
            !matches!(op.figure, Figure::Item | Figure::ReadBack | Figure::Opening)
        };
        let first = mine.first().map_or(&[][..], |job| &job.operations);
        let names = first.iter().filter(counts).map(|op| op.operation.as_str());
        let all: Vec<_> = mine.iter().chain(&theirs).collect();
        names.filter(|name| all.iter().all(|job| job.operation(name).is_some())).collect()
    }
}

/// The phases of a run, repeats together, in the order of their first results.
pub fn phases(results: &Results) -> Vec<Repeated<'_>> {
    let mut groups: Vec<(usize, Vec<&PhaseResults>)> = Vec::new();
    for (at, phase) in results.phases.iter().enumerate() {
        let same = |of: &&PhaseResults| of.name == phase.name && of.repeat == phase.repeat;
        // Phases of one name are told apart by their order.
        let nth = results.phases[..at].iter().filter(same).count();
        let group = groups.iter_mut().find(|(of, all)| *of == nth && all[0].name == phase.name);
        match group {
            Some((_, all)) => all.push(phase),
            None => groups.push((nth, vec![phase])),
        }
    }
    groups.into_iter().map(|(nth, all)| repeated(nth, &all)).collect()
}

fn repeated<'a>(nth: usize, all: &[&'a PhaseResults]) -> Repeated<'a> {
    // A number of the storage and one of the page cache have no mean.
    let class = |phase: &&PhaseResults| phase.verdict.map(|of| of.max(Verdict::Caution));
    let best = all.iter().map(&class).min().flatten();
    let kept: Vec<_> = all.iter().copied().filter(|phase| class(phase) == best).collect();
    let left_out = all.len() - kept.len();
    Repeated { name: &all[0].name, nth, kept, left_out }
}

/// Jobs of both runs that belong together, and each that has no partner, with the run that has it:
/// `A: WRITE`.
pub fn pairs<'a>(
    baseline: (&str, &'a Results),
    run: (&str, &'a Results),
) -> (Vec<Pair<'a>>, Vec<String>) {
    let (mine, theirs) = (phases(baseline.1), phases(run.1));
    let mut unmatched = Vec::new();
    let mut pairs = Vec::new();
    for phase in &mine {
        match partner(&mine, phase, &theirs) {
            Some(other) => of_jobs((baseline.0, phase), (run.0, other), &mut pairs, &mut unmatched),
            None => unmatched.push(format!("{}: {}", baseline.0, phase.name)),
        }
    }
    let alone = theirs.iter().filter(|phase| partner(&theirs, phase, &mine).is_none());
    unmatched.extend(alone.map(|phase| format!("{}: {}", run.0, phase.name)));
    (pairs, unmatched)
}

/// The phase that belongs to one: by name, or by being the only one as it is.
fn partner<'a, 'b>(
    mine: &[Repeated<'a>],
    phase: &Repeated<'a>,
    theirs: &'b [Repeated<'a>],
) -> Option<&'b Repeated<'a>> {
    let only = theirs.first().filter(|_| mine.len() == 1 && theirs.len() == 1);
    theirs.iter().find(|of| of.name == phase.name && of.nth == phase.nth).or(only)
}

fn of_jobs<'a>(
    baseline: (&str, &Repeated<'a>),
    run: (&str, &Repeated<'a>),
    pairs: &mut Vec<Pair<'a>>,
    unmatched: &mut Vec<String>,
) {
    let names = |phase: &Repeated<'a>| -> Vec<&'a str> {
        let first = phase.kept.first();
        first.map_or(Vec::new(), |of| of.jobs.iter().map(|job| job.job.as_str()).collect())
    };
    let (mine, theirs) = (names(baseline.1), names(run.1));
    let other = |name: &str, of: &[&'a str], all: &[&'a str]| {
        let only = all.first().copied().filter(|_| of.len() == 1 && all.len() == 1);
        all.iter().copied().find(|other| *other == name).or(only)
    };
    for name in &mine {
        let Some(partner) = other(name, &mine, &theirs) else {
            unmatched.push(format!("{}: job {name} of {}", baseline.0, baseline.1.name));
            continue;
        };
        let jobs = [*name, partner];
        pairs.push(Pair { baseline: baseline.1.clone(), run: run.1.clone(), jobs });
    }
    let alone = theirs.iter().filter(|name| other(name, &theirs, &mine).is_none());
    let alone = alone.map(|name| format!("{}: job {name} of {}", run.0, run.1.name));
    unmatched.extend(alone);
}
