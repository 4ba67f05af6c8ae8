//! candor: a storage benchmark that tells you whether to believe it.
//!
//! The binary: command line in, exit code out. `commands/` has one file per command. A command
//! takes its options from a table of [`flag::Flag`]s, from which help and documents are made. A
//! command turns them into a plan or a question, gives it to `candor-run`, `candor-explore` or
//! `candor-fleet`, and prints the result. stdout is for data, stderr for everything else.
//!
//! ```text
//! candor run --target /data/file --rw randread --bs 4k     a plan from flags
//! candor fio job.fio                                       a plan in fio's language
//! candor show report.json                                  a stored report
//! ```
//!
//! If the program is called by the name of a tool (a link named `fio`), the command of that tool
//! runs.

mod cli;
mod commands;
#[cfg(test)]
mod docs;
mod exit;
mod expectations;
mod exporter;
mod flag;
mod foreign_words;
mod history;
mod hosts;
mod live;
mod output;
mod parse;
mod picture;
mod run_dir;
#[cfg(test)]
mod same_numbers;
mod screen;
mod ssh;
mod stored;
mod streamer;
mod version;

use std::process::ExitCode;

fn main() -> ExitCode {
    candor_run::survive_file_size_limit();
    if let Err(sentence) = candor_run::raise_stack_limit() {
        screen::error(&sentence);
        return ExitCode::from(exit::TROUBLE);
    }
    ExitCode::from(cli::main(&std::env::args_os().collect::<Vec<_>>()))
}
