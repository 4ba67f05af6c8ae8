//! Objects that jobs of this run put on this host: later jobs read them, and the end of the run
//! removes them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::keys::Catalog;

/// Objects that a job put.
pub struct MadeBy {
    /// Names of the plan's buckets.
    pub buckets: Vec<String>,
    /// Objects of the job.
    pub catalog: Arc<Catalog>,
    /// Objects of each worker, from the first one, of which the last ones may be missing.
    pub counts: Vec<u64>,
    /// Objects of each worker that all exist, from the first one.
    pub whole: Vec<u64>,
    /// End of the keys, in addition to the catalog's: copies have one.
    pub suffix: &'static str,
    /// The job's time was up before its work was done.
    pub cut: bool,
    /// First and last moment of the job.
    pub times: [Instant; 2],
}

impl MadeBy {
    /// True if the objects are in these buckets, with the catalog's keys.
    fn has_objects_of(&self, buckets: &[String]) -> bool {
        self.buckets == buckets && self.suffix.is_empty()
    }
}

/// An upload that the server did not abort.
pub struct LeftUpload {
    /// Name of the plan's bucket.
    pub bucket: String,
    /// Key of its object.
    pub key: String,
    /// Identity at the server.
    pub id: String,
}

/// Objects that all jobs put so far, and uploads that they left. Clones share them.
#[derive(Clone, Default)]
pub struct Made(Arc<Mutex<All>>);

#[derive(Default)]
struct All {
    jobs: Vec<MadeBy>,
    left: Vec<LeftUpload>,
}

impl Made {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the objects of a job.
    pub fn add(&self, made: MadeBy) {
        self.all().jobs.push(made);
    }

    /// Adds an upload that is still open.
    pub fn leave(&self, left: LeftUpload) {
        self.all().left.push(left);
    }

    /// Objects of each worker that the last job on these buckets put; none without such a job, or
    /// if that job did all of its work.
    pub fn reached(&self, buckets: &[String]) -> Option<Vec<u64>> {
        let all = self.all();
        let last = all.jobs.iter().rev().find(|made| made.has_objects_of(buckets))?;
        last.cut.then(|| last.whole.clone())
    }

    /// Objects of each worker that the last job on these buckets put.
    pub fn counts(&self, buckets: &[String]) -> Option<Vec<u64>> {
        let all = self.all();
        let last = all.jobs.iter().rev().find(|made| made.has_objects_of(buckets))?;
        Some(last.whole.clone())
    }

    /// First and last moment at which jobs put objects into these buckets.
    pub fn times(&self, buckets: &[String]) -> Option<[Instant; 2]> {
        let all = self.all();
        let jobs = all.jobs.iter().filter(|made| made.has_objects_of(buckets));
        let times = jobs.map(|made| made.times);
        times.reduce(|[from, to], [first, last]| [from.min(first), to.max(last)])
    }

    /// Takes all of them, to remove the objects.
    pub fn take(&self) -> Vec<MadeBy> {
        std::mem::take(&mut self.all().jobs)
    }

    /// Takes the uploads that are still open.
    pub fn take_left(&self) -> Vec<LeftUpload> {
        std::mem::take(&mut self.all().left)
    }
}
