//! What is done instead of running jobs.

use candor_dialects::fio::flags::{Flags, Instead};
use candor_dialects::fio::help;

use super::{WRONG, complain};
use crate::screen;

/// Does it, and gives the exit code.
pub fn main(flags: &Flags) -> u8 {
    let said = match &flags.instead {
        Some(Instead::Help) => Ok(help::usage(env!("CARGO_PKG_VERSION"))),
        Some(Instead::Version) => Ok(format!("{}\n", help::VERSION)),
        Some(Instead::CommandHelp(option)) => help::of_option(option.as_deref()),
        Some(Instead::EngineHelp(engine)) => help::of_engine(engine.as_deref()),
        Some(Instead::InflateLog(file)) => super::logs::inflated(file),
        // These are about jobs.
        Some(Instead::ParseOnly | Instead::ShowCommand) | None => Ok(String::new()),
    };
    match said {
        Ok(text) => printed(&text),
        Err(sentence) => {
            complain(&[sentence], flags);
            WRONG
        }
    }
}

/// Prints data, and turns success into an exit code.
pub fn printed(text: &str) -> u8 {
    match screen::data(text) {
        Ok(()) => 0,
        Err(sentence) => {
            screen::error(&sentence);
            WRONG
        }
    }
}
