//! fio: job files and command lines into a plan, a report into fio's output.

pub mod ast;
pub mod flags;
pub mod help;
pub mod job;
pub mod job_options;
pub mod lower;
pub mod options;
pub mod output;
pub mod show_command;
pub mod state;
pub mod trace;
pub mod values;
