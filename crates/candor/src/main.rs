//! candor: a storage benchmark that tells you whether to believe it.
//!
//! The binary: words in, exit code out. One file per command under `commands/`; each takes its
//! options from a table of [`flag::Flag`]s, from which the help is made as well. stdout is for
//! data, stderr for everything else.

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
