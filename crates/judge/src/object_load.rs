//! How the rate of requests grows with their number in flight, by other phases with the same work;
//! and the limits that follow from the load.

use candor_plan::Objects;
use candor_record::fmt::ratio;
use candor_record::{Limit, PhaseRecord};

use crate::more_load::{self, Growth};
use crate::object_jobs::ObjectJob;
use crate::observed::Observed;
use crate::thresholds::{PACED, QUEUE_SEEN};
use crate::trials::Trial;

/// Other phases with the same work and another number of requests in flight.
pub fn trials(observed: &Observed, job: &ObjectJob) -> Vec<Trial> {
    let earlier = observed.believed_before();
    let later = observed.later.iter().copied();
    let later = later.filter(|record| record.measurements.len() == 1 && !record.search_step);
    earlier.chain(later).filter_map(|record| of_record(observed, job, record)).collect()
}

fn of_record<'a>(
    observed: &Observed<'a>,
    job: &ObjectJob,
    record: &'a PhaseRecord,
) -> Option<Trial> {
    let other = observed.only_job_of(record)?;
    let objects = other.objects()?;
    let Objects { depth, objects_at_once, .. } = *job.objects;
    let is_same = Objects { depth, objects_at_once, ..objects.clone() } == *job.objects;
    let from = format!("phase {}", record.name);
    let measured = &record.measurements[0];
    is_same.then(|| Trial::of(from, other.workers, objects.depth, measured)).flatten()
}

/// The growth of the rate beyond the phase's load; absent if no phase had more in flight.
fn growth(observed: &Observed, job: &ObjectJob) -> Option<Growth> {
    let mut more = trials(observed, job);
    more.retain(|trial| trial.in_flight > job.depth());
    more_load::beyond(job.ops_per_s(), more, job.job.workers)
}

/// The plan's rate or think time.
pub fn pace(job: &ObjectJob) -> Option<Limit> {
    let pace = &job.objects.pace;
    let ops_per_s = pace.mean_ops();
    let bytes_per_s = pace.bytes.map(|rate| rate.0 as f64);
    let by_ops = ops_per_s.map(|most| ratio(job.ops_per_s(), most));
    let by_bytes = bytes_per_s.map(|most| ratio(ratio(job.good_bytes(), job.seconds()), most));
    let is_reached = [by_ops, by_bytes].into_iter().flatten().any(|used| used >= PACED.value);
    let thinks = pace.think.is_some().then_some(Limit::ThinkTime);
    is_reached.then_some(Limit::PlanRate { bytes_per_s, ops_per_s }).or(thinks)
}

/// The load, if more of it moved much more in another phase.
pub fn load(observed: &Observed, job: &ObjectJob) -> Option<Limit> {
    let growth = growth(observed, job).filter(Growth::pays)?;
    growth.best.map(|(doubled, times)| Limit::Load { doubled, times })
}

/// The server, if all requests were in flight.
pub fn server(observed: &Observed, job: &ObjectJob) -> Option<Limit> {
    if job.share_in_flight() < QUEUE_SEEN.value {
        return None;
    }
    let depth = job.depth();
    match growth(observed, job) {
        None => Some(Limit::Server { depth, mean_latency_ns: job.mean_latency_ns()? }),
        Some(growth) if growth.levelled() => {
            Some(Limit::ServerFlat { depth, doubled: growth.most?, times: growth.times() })
        }
        Some(_) => None,
    }
}
