//! Requests on objects of buckets: put, get, list, delete and others.
//!
//! [`ObjectsFamily`] takes a job whose work is [`candor_plan::Objects`]. A worker has objects in
//! lanes; each lane has its next request, and each request in flight its own connection. Keys and
//! sizes are computed from numbers, named by the plan, or listed by the server.
//!
//! | module | content |
//! | --- | --- |
//! | `keys`, `order` | objects by number and rank; order and amount |
//! | `lanes`, `uploads`, `source` | requests of objects in progress; uploads that workers share |
//! | `wire`, `contents` | requests and answers; bytes of objects |
//! | `admin` | requests outside of a measurement |
//! | `made`, `buckets` | objects of this run; checks before and removal after it |
//!
//! A job that this family runs:
//!
//! ```toml
//! [[bucket]]
//! name = "data"
//! bucket = "training"
//! endpoints = ["http://127.0.0.1:9000"]
//! keys.tree = { items = 1000, file_size = "1m" }
//!
//! [[phase.job]]
//! work.objects = { buckets = ["data"], op = "put", depth = 16 }
//! ```

mod admin;
mod board;
mod buckets;
mod contents;
mod keys;
mod lanes;
mod made;
mod order;
mod ready;
mod source;
mod uploads;
mod wire;

use candor_engine::EngineError;
use candor_engine::family::{Family, JobContext, JobWork};
use candor_engine::operation::Op;
use candor_plan::objects::{ObjectOp, PUT_PART};

pub use crate::buckets::{Buckets, Refused};
pub use candor_s3::reach::Refusal;

/// The family of objects.
pub struct ObjectsFamily;

impl Family for ObjectsFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        match context.job.objects() {
            Some(objects) => Ok(Box::new(ready::ReadyObjects::new(objects, context)?)),
            None => Err(context.unfit("has no objects", "give it objects")),
        }
    }
}

/// True for requests that send bytes of an object.
fn uploads_bytes(op: Op) -> bool {
    op == Op(ObjectOp::Put as u8) || op == Op(PUT_PART)
}
