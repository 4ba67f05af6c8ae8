//! Requests on objects of buckets.

mod keys;

use candor_engine::EngineError;
use candor_engine::family::{Family, JobContext, JobWork};

/// The family of objects.
pub struct ObjectsFamily;

impl Family for ObjectsFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        Err(context.unfit("has work on objects", "wait for the family"))
    }
}
