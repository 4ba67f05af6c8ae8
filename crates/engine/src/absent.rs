//! Jobs of a phase that do not run: they could not be made ready, or nothing was to run.

use candor_plan::Job;
use candor_record::{Ended, IoFailure, Measurement};

use crate::error::EngineError;

/// A job that does not run, with what is told of it.
#[derive(Clone, Debug)]
pub struct Absent {
    /// Its place in the phase.
    pub job: usize,
    /// What is told of it.
    pub measurement: Measurement,
}

impl Absent {
    /// A job that could not be made ready.
    pub fn failed(at: usize, job: &Job, failure: IoFailure) -> Absent {
        let mut absent = Absent::prepared(at, job);
        absent.measurement.ended = Ended::Failed;
        absent.measurement.errors.push(failure);
        absent
    }

    /// A job that was only to be made ready, and was.
    pub fn prepared(at: usize, job: &Job) -> Absent {
        let measurement = Measurement {
            job: job.name.clone(),
            workers: job.workers,
            ended: Ended::Done,
            ..Measurement::default()
        };
        Absent { job: at, measurement }
    }
}

/// Puts the measurements of jobs that did not run where they belong among those that ran.
pub fn merge(ran: Vec<Measurement>, mut absent: Vec<Absent>) -> Vec<Measurement> {
    absent.sort_by_key(|absent| absent.job);
    let mut all = ran;
    for absent in absent {
        all.insert(absent.job.min(all.len()), absent.measurement);
    }
    all
}

impl EngineError {
    /// The error as a failure of set-up, for a job that fails alone.
    pub fn failure(&self) -> IoFailure {
        let (path, cause) = match self {
            EngineError::File { path, cause, .. } => (path.display().to_string(), Some(cause)),
            EngineError::System { cause, .. } => (String::new(), Some(cause)),
            EngineError::Unfit { .. } => (String::new(), None),
        };
        IoFailure {
            op: None,
            path,
            offset: 0,
            errno: cause.and_then(std::io::Error::raw_os_error).unwrap_or(libc::EINVAL),
            message: match self {
                // The file is named beside it.
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

    #[test]
    fn measurements_keep_the_order_of_the_jobs() {
        let named = |name: &str| Job { name: name.into(), ..Job::default() };
        let ran = ["b", "d"].map(|name| Absent::prepared(0, &named(name)).measurement);
        let absent = [(4, "e"), (0, "a"), (2, "c")]
            .map(|(at, name)| Absent::prepared(at, &named(name)))
            .into();
        let all = merge(ran.into(), absent);
        let names: Vec<&str> = all.iter().map(|measurement| measurement.job.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e"]);
    }
}
