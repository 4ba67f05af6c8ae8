//! fio: job files and command lines into a plan, a report into fio's output.

pub mod flags;
pub mod help;
pub mod job;
pub mod lower;
pub mod options;
pub mod settings;
pub mod show_command;
pub mod state;
pub mod trace;
pub mod values;
pub mod words;
pub mod write;
