//! How the rate grows with the load: follow-ups with more and more in flight, a search, or phases
//! of a sweep.

use candor_record::fmt::ratio;
use candor_record::{Change, Doubled, FollowUp};

use crate::follow_ups::{self, Beside};
use crate::observed::{Observed, Ran};
use crate::thresholds::{LEVEL_STEPS, LOAD_GAINS, LOAD_PAYS, UNDISTURBED};
use crate::trials::{self, Trial};

/// One load, however often it was tried.
#[derive(Clone, Copy, Debug)]
struct Step {
    load: Doubled,
    /// Operations per second of the fastest trial; zero where none lasted.
    ops_per_s: f64,
    /// That is more than in any full second of the phase.
    apart: bool,
    trials: usize,
}

/// How the rate grew with the load.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    /// The load that moved most, with its rate over that of the phase.
    pub best: Option<(Doubled, f64)>,
    /// The greatest load that was tried and not disturbed.
    pub most: Option<Doubled>,
    /// The best rate is above that of any full second of the phase.
    apart: bool,
    /// Trials in a row, to the last one, that gained nothing.
    flat: usize,
    /// How often the last load was tried, where each trial was disturbed.
    disturbed: usize,
}

impl Growth {
    /// More load moved much more, and not by chance.
    pub fn pays(&self) -> bool {
        self.apart && self.times() >= LOAD_PAYS.value
    }

    /// Doubling went on until it gained nothing, and had not gained much before.
    pub fn levelled(&self) -> bool {
        self.is_flat() && self.times() < LOAD_PAYS.value
    }

    /// Rate of the best load over that of the phase.
    pub fn times(&self) -> f64 {
        self.best.map_or(0.0, |(_, times)| times)
    }

    fn is_flat(&self) -> bool {
        self.flat as f64 >= LEVEL_STEPS.value
    }

    /// Adds the next load to the series.
    fn add(&mut self, before: f64, step: &Step) {
        let times = ratio(step.ops_per_s, before);
        let best = self.times().max(1.0);
        if times < UNDISTURBED.value * best {
            self.disturbed = step.trials;
            return;
        }
        self.disturbed = 0;
        self.most = Some(step.load);
        self.flat = if times >= LOAD_GAINS.value * best { 0 } else { self.flat + 1 };
        if times > self.times() {
            (self.best, self.apart) = (Some((step.load, times)), step.apart);
        }
    }
}

/// The growth that follow-ups showed, the search of which the phase is the result, or other phases;
/// none where no more load was tried.
pub fn of(observed: &Observed, ran: &Ran) -> Option<Growth> {
    by_follow_ups(observed)
        .or_else(|| by_search(observed, ran))
        .or_else(|| by_phases(observed, ran))
}

/// More load was not tried, or the phase had several jobs, whose trials would tell of none.
pub fn is_untried(observed: &Observed) -> bool {
    match observed.ran.as_slice() {
        [ran] => of(observed, ran).is_none(),
        _ => true,
    }
}

/// Workers and depth of the next trial; none where the series has its answer, or was disturbed
/// twice at the same load.
pub fn next(observed: &Observed, ran: &Ran, change: Change) -> Option<(u32, u32)> {
    let growth = of(observed, ran).unwrap_or_default();
    let last = follow_ups_of(observed).last().map(|last| (last.workers, last.depth));
    let (workers, depth) = last.unwrap_or((ran.job.workers, ran.blocks.depth));
    match (growth.is_flat(), growth.disturbed, change) {
        (true, ..) | (_, 2.., _) => None,
        (_, 1, _) => Some((workers, depth)),
        (_, _, Change::MoreWorkers) => Some((workers.checked_mul(2)?, depth)),
        _ => Some((workers, depth.checked_mul(2)?)),
    }
}

fn follow_ups_of<'a>(observed: &Observed<'a>) -> impl Iterator<Item = &'a FollowUp> + use<'a> {
    let of = |f: &&FollowUp| matches!(f.change, Change::MoreDepth | Change::MoreWorkers);
    observed.record.follow_ups.iter().filter(of)
}

fn by_follow_ups(observed: &Observed) -> Option<Growth> {
    let [ran] = observed.ran.as_slice() else { return None };
    let before = follow_ups::rate(ran.measured);
    let tried: Vec<_> = follow_ups_of(observed).collect();
    let mut growth = Growth::default();
    for group in tried.chunk_by(|a, b| (a.workers, a.depth) == (b.workers, b.depth)) {
        let beside = group.iter().filter_map(|follow_up| follow_ups::of(observed, follow_up));
        let fastest = beside.max_by(|a: &Beside, b| a.now.total_cmp(&b.now));
        let (ops_per_s, apart) = fastest.map_or((0.0, false), |beside| (beside.now, beside.apart));
        let load = follow_ups::load(group[0])?;
        growth.add(before, &Step { load, ops_per_s, apart, trials: group.len() });
    }
    (!tried.is_empty()).then_some(growth)
}

/// The steps of the search beyond the load of the phase, next to the step with that very load: the
/// phase itself ran at another moment. A search repeats steps that were disturbed: of those with
/// the same load the fastest counts.
fn by_search(observed: &Observed, ran: &Ran) -> Option<Growth> {
    let mut steps = trials::others(observed, ran);
    steps.retain(|trial| trial.search_step && trial.in_flight >= ran.concurrency());
    let steps = ascending(steps);
    let (first, more) = steps.split_first()?;
    let is_same = first.in_flight == ran.concurrency() && !more.is_empty();
    is_same.then(|| growth(first.ops_per_s, more, ran.job.workers))
}

/// Other phases with more in flight, such as rows of a sweep.
fn by_phases(observed: &Observed, ran: &Ran) -> Option<Growth> {
    let here = Trial::here(observed, ran)?;
    let mut phases = trials::others(observed, ran);
    phases.retain(|trial| !trial.search_step && trial.in_flight > here.in_flight);
    beyond(here.ops_per_s, phases, ran.job.workers)
}

/// The growth from a rate of that many workers on, by phases with more in flight; absent without
/// any.
pub fn beyond(before: f64, more: Vec<Trial>, workers: u32) -> Option<Growth> {
    let more = ascending(more);
    (!more.is_empty()).then(|| growth(before, &more, workers))
}

/// One trial for each load, the fastest, from the least load on.
fn ascending(mut trials: Vec<Trial>) -> Vec<Trial> {
    trials.sort_by(|a, b| {
        a.in_flight.total_cmp(&b.in_flight).then(b.ops_per_s.total_cmp(&a.ops_per_s))
    });
    trials.dedup_by_key(|trial| trial.in_flight);
    trials
}

fn growth(before: f64, more: &[Trial], workers: u32) -> Growth {
    let mut growth = Growth::default();
    for trial in more {
        let load = if trial.workers == workers {
            Doubled::Depth(trial.depth)
        } else {
            Doubled::Workers(trial.workers)
        };
        let ops_per_s = trial.ops_per_s;
        growth.add(before, &Step { load, ops_per_s, apart: true, trials: 1 });
    }
    growth
}
