//! Everything that is done instead of running jobs.

use candor_fio::flags::{DebugKind, Flags, Instead};
use candor_fio::help;

use super::{WRONG, complaints, cpus, crctest, printed};
use crate::screen;

/// Does it, and gives the exit code.
pub fn main(flags: &Flags) -> u8 {
    let said = match &flags.instead {
        Some(Instead::Help) => Ok(help::usage(env!("CARGO_PKG_VERSION"))),
        Some(Instead::Version) => Ok(format!("{}\n", help::VERSION)),
        Some(Instead::CommandHelp(option)) => return of_option(option.as_deref()),
        Some(Instead::CrcTest(kinds)) => return crctest(kinds.as_deref()),
        Some(Instead::ClockTest) => return cpus::clock_test(),
        Some(Instead::IdleCalibration) => cpus::calibration(),
        Some(Instead::DebugHelp) => Ok(DebugKind::names()),
        Some(Instead::EngineHelp(engine)) => help::of_engine(engine.as_deref()),
        Some(Instead::InflateLog(file)) => super::logs::inflated(file),
        // These are about jobs.
        Some(Instead::ParseOnly | Instead::ShowCommand | Instead::MergeOnly) | None => {
            Ok(String::new())
        }
    };
    match said {
        Ok(text) => printed(&text),
        Err(sentence) => {
            complaints(flags).sentence(&sentence);
            WRONG
        }
    }
}

/// Explains an option. As in fio, a name that is none is told and the nearest explained, which is
/// no failure.
fn of_option(name: Option<&str>) -> u8 {
    let named = help::of_option(name).or_else(|sentence| {
        screen::tell(&format!("fio: {sentence}\n"));
        help::of_nearest_option(name.unwrap_or_default())
    });
    printed(&named.unwrap_or_default())
}

/// Measures checksums, or lists them.
fn crctest(kinds: Option<&str>) -> u8 {
    let measured = match kinds {
        Some("help") => Err(None),
        kinds => crctest::measure(kinds, |line| {
            printed(line);
        })
        .map_err(Some),
    };
    let Err(sentence) = measured else { return 0 };
    if let Some(sentence) = sentence {
        screen::error(&sentence);
    }
    printed(&crctest::names());
    WRONG
}
