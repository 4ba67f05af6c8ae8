//! Uploads in parts: state that the workers of a host share.

use candor_s3::checksum::Sum;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A part that the server has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Number, from 1.
    pub number: u32,
    /// ETag, with its quotes.
    pub etag: String,
    /// Checksum, if the upload announced one.
    pub sum: Option<Sum>,
}

/// Progress of an upload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Not started.
    #[default]
    New,
    /// A worker starts it.
    Starting,
    /// The server accepts parts.
    Open,
    /// A part failed: the upload is to be aborted.
    Failed,
    /// A worker completes or aborts it, or has done so.
    Ending,
}

/// An upload in parts.
#[derive(Debug, Default)]
pub struct Upload {
    /// Progress.
    pub state: State,
    /// Identity at the server; empty before the start and after the end.
    pub id: String,
    /// Number of the object's bucket, once started.
    pub bucket: u32,
    /// Key of the object, once started.
    pub key: String,
    /// Parts that the server has.
    pub parts: Vec<Part>,
    /// Parts that the server does not have yet, of all ranks of this host.
    pub left: u64,
    /// Parts in flight.
    pub in_flight: u64,
}

impl Upload {
    /// True if the server has it.
    pub fn is_open(&self) -> bool {
        !self.id.is_empty()
    }
}

/// An upload that several lanes use.
pub type SharedUpload = Arc<Mutex<Upload>>;

/// The upload, locked. Parts are megabytes long, so the lock is free most of the time.
pub fn lock(upload: &SharedUpload) -> MutexGuard<'_, Upload> {
    upload.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Uploads of objects that several ranks share, by the object's number.
#[derive(Clone, Default)]
pub struct Uploads(Arc<Mutex<HashMap<u64, SharedUpload>>>);

impl Uploads {
    /// The upload of an object with `parts` parts; made at the first request.
    pub fn of(&self, object: u64, parts: u64) -> SharedUpload {
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let upload = uploads.entry(object);
        upload.or_insert_with(|| new(parts)).clone()
    }

    /// Uploads that the server has.
    pub fn open(&self) -> Vec<SharedUpload> {
        let uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.values().filter(|upload| lock(upload).is_open()).cloned().collect()
    }

    /// Adds an upload that another host started.
    pub fn found(&self, object: u64, id: String) {
        let upload = Upload { state: State::Open, id, left: u64::MAX, ..Upload::default() };
        let mut uploads = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        uploads.insert(object, Arc::new(Mutex::new(upload)));
    }
}

/// An upload of `parts` parts that no server knows.
pub fn new(parts: u64) -> SharedUpload {
    Arc::new(Mutex::new(Upload { left: parts, ..Upload::default() }))
}
