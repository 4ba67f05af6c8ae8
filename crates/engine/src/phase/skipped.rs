//! Jobs of a phase that do not run: they could not be prepared, or nothing was to run.

use candor_plan::{Job, PathText};
use candor_record::{Ended, IoFailure, Measurement};

use crate::error::EngineError;

/// A job that does not run, with its measurement.
#[derive(Clone, Debug)]
pub struct SkippedJob {
    /// Index of the job in the phase.
    pub job: usize,
    /// Measurement that is reported for the job.
    pub measurement: Measurement,
}

impl SkippedJob {
    /// A job that could not be prepared.
    pub fn failed(at: usize, job: &Job, failure: IoFailure) -> SkippedJob {
        let mut skipped = SkippedJob::prepared(at, job);
        skipped.measurement.ended = Ended::Failed;
        skipped.measurement.errors.push(failure);
        skipped
    }

    /// A job that was only to be prepared, with success.
    pub fn prepared(at: usize, job: &Job) -> SkippedJob {
        let measurement = Measurement {
            job: job.name.clone(),
            workers: job.workers,
            ended: Ended::Done,
            ..Measurement::default()
        };
        SkippedJob { job: at, measurement }
    }

    /// A job whose workers are another host's.
    pub fn elsewhere(at: usize, job: &Job) -> SkippedJob {
        let mut skipped = SkippedJob::prepared(at, job);
        skipped.measurement.workers = 0;
        skipped
    }
}

/// Merges the measurements of skipped jobs with those of jobs that ran, in the order of the jobs.
pub fn merge(ran: Vec<Measurement>, mut skipped: Vec<SkippedJob>) -> Vec<Measurement> {
    skipped.sort_by_key(|skipped| skipped.job);
    let mut all = ran;
    for skipped in skipped {
        all.insert(skipped.job.min(all.len()), skipped.measurement);
    }
    all
}

impl EngineError {
    /// Failure of set-up made from the error, for a job that fails alone.
    pub fn failure(&self) -> IoFailure {
        let (path, cause) = match self {
            EngineError::File { path, cause, .. } => (path.text(), Some(cause)),
            EngineError::System { cause, .. } => (String::new(), Some(cause)),
            EngineError::Unfit { .. } => (String::new(), None),
        };
        IoFailure {
            op: None,
            path,
            offset: 0,
            errno: cause.and_then(std::io::Error::raw_os_error).unwrap_or(libc::EINVAL),
            message: match self {
                // The failure carries the path in a field of its own.
                EngineError::File { what, cause, .. } => format!("cannot {what}: {cause}"),
                _ => self.to_string(),
            },
            count: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Job {
        Job { name: name.into(), ..Job::default() }
    }

    #[test]
    fn measurements_keep_the_order_of_the_jobs() {
        let ran = ["b", "d"].map(|name| SkippedJob::prepared(0, &named(name)).measurement);
        let skipped = [(4, "e"), (0, "a"), (2, "c")]
            .map(|(at, name)| SkippedJob::prepared(at, &named(name)))
            .into();
        let all = merge(ran.into(), skipped);
        let names: Vec<&str> = all.iter().map(|measurement| measurement.job.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
    }
}
