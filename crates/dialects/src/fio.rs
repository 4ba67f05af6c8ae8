//! fio: job files and command lines into a plan, a report into fio's output.

pub mod flags;
pub mod job;
pub mod values;
pub mod words;
