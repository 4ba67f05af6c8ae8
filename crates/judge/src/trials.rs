//! The same work with other numbers in flight: other phases, steps of a search, follow-ups.

use candor_record::fmt::ratio;
use candor_record::{Change, FollowUp, Measurement, PhaseRecord};

use crate::expect;
use crate::observed::{Observed, Ran, mean};
use crate::setup::depth_used;
use crate::thresholds::{SLICE_OPS, SLICE_S};

/// Some work with a number of operations in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Phase, search step or follow-up that did it.
    pub from: String,
    /// A search step did it.
    pub search_step: bool,
    /// Workers.
    pub workers: u32,
    /// Operations in flight of each.
    pub depth: u32,
    /// Operations in flight that were asked for.
    pub in_flight: f64,
    /// Operations per second.
    pub ops_per_s: f64,
    /// Mean latency.
    pub mean_ns: f64,
}

impl Trial {
    /// Figures of some work; absent if it was too short for any.
    pub fn of(from: String, workers: u32, depth: u32, measured: &Measurement) -> Option<Trial> {
        let elapsed_s = measured.elapsed_ns as f64 / 1e9;
        let ops = measured.ops_done() as f64;
        let mean_ns = mean(measured.work_operations().filter_map(|s| s.latency.as_ref()))?;
        let lasted = elapsed_s >= SLICE_S.value && ops >= SLICE_OPS.value && mean_ns > 0.0;
        let (in_flight, ops_per_s) = (f64::from(workers) * f64::from(depth), ratio(ops, elapsed_s));
        let search_step = false;
        lasted.then_some(Trial { from, search_step, workers, depth, in_flight, ops_per_s, mean_ns })
    }

    /// The phase itself.
    pub fn here(observed: &Observed, ran: &Ran) -> Option<Trial> {
        let depth = depth_used(ran.blocks, ran.blocks.depth);
        Trial::of(observed.record.name.clone(), ran.job.workers, depth, ran.measured)
    }
}

/// The same work with other numbers in flight, the latest phases first.
pub fn others(observed: &Observed, ran: &Ran) -> Vec<Trial> {
    let has_one = |record: &&PhaseRecord| record.measurements.len() == 1;
    let steps = observed.earlier.iter().filter(|record| record.tried.is_some());
    let earlier = observed.believed_before().filter(|record| !record.search_step);
    let phases = earlier.chain(steps.chain(observed.later.iter().copied()).filter(has_one)).rev();
    let phases = phases.filter_map(|record| of_record(observed, ran, record));
    let follow_ups = observed.record.follow_ups.iter();
    phases.chain(follow_ups.filter_map(|follow_up| of_follow_up(ran, follow_up))).collect()
}

fn of_record<'a>(observed: &Observed<'a>, ran: &Ran, record: &'a PhaseRecord) -> Option<Trial> {
    let job = observed.only_job_of(record)?;
    let blocks = expect::same_work(job, ran)?;
    let from = if record.search_step {
        format!("search step `{}`", record.name)
    } else {
        format!("phase {}", record.name)
    };
    let depth = depth_used(blocks, blocks.depth);
    let trial = Trial::of(from, job.workers, depth, &record.measurements[0])?;
    Some(Trial { search_step: record.search_step, ..trial })
}

fn of_follow_up(ran: &Ran, follow_up: &FollowUp) -> Option<Trial> {
    match follow_up.change {
        Change::MoreDepth | Change::MoreWorkers | Change::OneAtATime => {
            let depth = depth_used(ran.blocks, follow_up.depth);
            let from = "a follow-up of the phase".into();
            Trial::of(from, follow_up.workers, depth, &follow_up.measurement)
        }
        _ => None,
    }
}
