//! Phases, jobs and operations of two runs, each with its partner.

use candor_plan::work::Figure;
use candor_record::Verdict;
use candor_record::results::{DisturbanceKind, JobResults, PhaseResults, Results};
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

/// Results of a run with its label.
#[derive(Clone, Copy)]
pub struct Labelled<'a> {
    /// Label, such as `A`.
    pub label: &'a str,
    /// Results.
    pub results: &'a Results,
}

impl<'a> Repeated<'a> {
    /// True for the same phase of one run.
    pub fn is_same_phase(&self, other: &Repeated<'_>) -> bool {
        (self.name, self.nth) == (other.name, other.nth)
    }

    /// The job of that name in each repeat that has it.
    pub fn job(&self, name: &str) -> Vec<&'a JobResults> {
        self.kept.iter().filter_map(|phase| phase.jobs.iter().find(|job| job.job == name)).collect()
    }

    fn job_names(&self) -> Vec<&'a str> {
        let jobs = self.kept.first().map_or(&[][..], |first| &first.jobs);
        jobs.iter().map(|job| job.job.as_str()).collect()
    }

    /// The mean share of a disturbance, if all repeats were checked for it.
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
        let first = mine.first().map_or(&[][..], |job| &job.operations);
        first
            .iter()
            .filter(|op| !matches!(op.figure, Figure::Item | Figure::ReadBack | Figure::Opening))
            .map(|op| op.operation.as_str())
            .filter(|name| mine.iter().chain(&theirs).all(|job| job.operation(name).is_some()))
            .collect()
    }
}

/// The phases of a run, repeats together, in the order of their first results.
pub fn phases(results: &Results) -> Vec<Repeated<'_>> {
    let mut groups: Vec<(usize, Vec<&PhaseResults>)> = Vec::new();
    for (at, phase) in results.phases.iter().enumerate() {
        // The order distinguishes phases of one name.
        let before = results.phases[..at].iter();
        let nth = before.filter(|of| of.name == phase.name && of.repeat == phase.repeat).count();
        let group = groups.iter_mut().find(|(of, all)| *of == nth && all[0].name == phase.name);
        match group {
            Some((_, all)) => all.push(phase),
            None => groups.push((nth, vec![phase])),
        }
    }
    groups.into_iter().map(|(nth, all)| repeated(nth, &all)).collect()
}

fn repeated<'a>(nth: usize, all: &[&'a PhaseResults]) -> Repeated<'a> {
    let best = all.iter().map(|phase| class(phase)).min().flatten();
    let kept: Vec<_> = all.iter().copied().filter(|phase| class(phase) == best).collect();
    let left_out = all.len() - kept.len();
    Repeated { name: &all[0].name, nth, kept, left_out }
}

/// Class of verdicts that share a mean: numbers of the storage are not averaged with others.
fn class(phase: &PhaseResults) -> Option<Verdict> {
    phase.verdict.map(|of| of.max(Verdict::Caution))
}

/// Pairs of jobs of both runs, and each phase or job without a partner after the label of its run:
/// `A: WRITE`.
pub fn pairs<'a>(baseline: Labelled<'a>, run: Labelled<'a>) -> (Vec<Pair<'a>>, Vec<String>) {
    let (mine, theirs) = (phases(baseline.results), phases(run.results));
    let mut unmatched = Vec::new();
    let mut pairs = Vec::new();
    for phase in &mine {
        match partner(&mine, phase, &theirs) {
            Some(other) => {
                pair_jobs(phase, other, &mut pairs);
                unmatched.extend(unmatched_jobs(baseline.label, phase, other));
                unmatched.extend(unmatched_jobs(run.label, other, phase));
            }
            None => unmatched.push(format!("{}: {}", baseline.label, phase.name)),
        }
    }
    let alone = theirs.iter().filter(|phase| partner(&theirs, phase, &mine).is_none());
    unmatched.extend(alone.map(|phase| format!("{}: {}", run.label, phase.name)));
    (pairs, unmatched)
}

/// The phase with the same name, or the only phase if each side has one.
fn partner<'a, 'b>(
    mine: &[Repeated<'a>],
    phase: &Repeated<'a>,
    theirs: &'b [Repeated<'a>],
) -> Option<&'b Repeated<'a>> {
    let only = theirs.first().filter(|_| mine.len() == 1 && theirs.len() == 1);
    theirs.iter().find(|of| of.name == phase.name && of.nth == phase.nth).or(only)
}

/// Adds the pairs of jobs of two phases.
fn pair_jobs<'a>(baseline: &Repeated<'a>, run: &Repeated<'a>, pairs: &mut Vec<Pair<'a>>) {
    let (mine, theirs) = (baseline.job_names(), run.job_names());
    for name in &mine {
        if let Some(partner) = partner_of_job(name, &mine, &theirs) {
            let jobs = [*name, partner];
            pairs.push(Pair { baseline: baseline.clone(), run: run.clone(), jobs });
        }
    }
}

/// Jobs of a phase without a partner in the other phase.
fn unmatched_jobs(label: &str, phase: &Repeated<'_>, other: &Repeated<'_>) -> Vec<String> {
    let (mine, theirs) = (phase.job_names(), other.job_names());
    let alone = mine.iter().filter(|name| partner_of_job(name, &mine, &theirs).is_none());
    alone.map(|name| format!("{label}: job {name} of {}", phase.name)).collect()
}

/// The job with the same name, or the only job if each side has one.
fn partner_of_job<'a>(name: &str, mine: &[&str], theirs: &[&'a str]) -> Option<&'a str> {
    let only = theirs.first().filter(|_| mine.len() == 1 && theirs.len() == 1);
    theirs.iter().find(|other| **other == name).or(only).copied()
}
