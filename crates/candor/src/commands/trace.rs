//! `candor trace -- COMMAND`: the requests that a command and all its processes send to devices.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command as Process, ExitStatus};
use std::thread;
use std::time::Duration;

use candor_plan::path_of;
use candor_run::{Control, Processes};
use candor_show::{Style, json, requests};
use clap::{Arg, ArgAction, ArgMatches, Command};
use rustix::process::{Pid, Signal, kill_process};

use crate::flag::{self, CommandLine, Flag, Group, Takes};
use crate::output;
use crate::{commands, exit, screen};

const ABOUT: &str = "Run a command and show the requests that it sends to devices";

const LONG_ABOUT: &str = "\
Run a command and show the requests that it sends to devices.

The command keeps its input and output. After its end, stderr has the sizes, alignment, order \
and latency of the requests of the command and of all processes that it started, for each device \
and direction. Writes that stay in the page cache until later are not among them: the kernel \
sends them for all processes. candor align --pid traces a process that runs already. Tracing \
needs root, or CAP_BPF and CAP_PERFMON.";

/// Sleep between two looks at whether the command has ended.
const STEP: Duration = Duration::from_millis(5);
/// The command does not exist, as shells report it.
const NOT_FOUND: u8 = 127;
/// The command cannot be run.
const NOT_RUN: u8 = 126;

/// Options of the command.
#[derive(Default)]
struct TraceOptions {
    on: Vec<PathBuf>,
}

const GROUPS: &[Group<TraceOptions>] = &[Group {
    title: "Tracing",
    flags: &[Flag {
        long: "on",
        takes: Takes::Many("PATH"),
        help: "Trace only the devices under PATH: a file, a directory or a device such as sda; may \
               be given several times [default: all devices]",
        fields: &[],
        set: |options, text| {
            options.on.push(path_of(text));
            Ok(())
        },
    }],
}];

const EXIT_CODES: &str = "\
Exit codes:
  N    exit code of COMMAND; 128 and the signal if a signal ended it
  1    requests cannot be traced; COMMAND was not run
  2    the command line is invalid
  126  COMMAND cannot be run
  127  COMMAND does not exist";

/// The command line.
pub fn command() -> Command {
    let command = Arg::new("COMMAND").required(true).last(true).action(ArgAction::Append);
    Command::new("trace")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(command.num_args(1..).help("The command with its arguments, after --"))
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_LOOKS))
        .after_help(EXIT_CODES)
}

/// Runs it, and gives the exit code of the command.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = TraceOptions::default();
    let output = match commands::flags(output::OF_LOOKS, GROUPS, matches, &mut line, &mut options) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let words: Vec<String> =
        matches.get_many::<String>("COMMAND").into_iter().flatten().cloned().collect();
    let Some((program, arguments)) = words.split_first() else { return exit::USAGE };
    let control = candor_run::interrupts();
    let tracing = match candor_run::trace_processes(&options.on, &Processes::Children) {
        Ok(tracing) => tracing,
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    let started =
        Process::new(path_of(program)).args(arguments.iter().map(|word| path_of(word))).spawn();
    let status = started
        .map_err(|error| (program, error))
        .and_then(|child| ended(child, &control).map_err(|error| (program, error)));
    let status = match status {
        Ok(status) => status,
        Err((program, error)) => {
            screen::error(&format!("cannot run `{program}`: {error}"));
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            return if is_missing { NOT_FOUND } else { NOT_RUN };
        }
    };
    let report = tracing.end(words);
    // stdout is the command's.
    let written = output.write_json(|| json::alignment(&report));
    screen::tell(&requests::text(&report, &Style::default()));
    match commands::exit_code(written) {
        exit::RAN => code(status),
        code => code,
    }
}

/// Waits for the end of the command. It gets the signals that end candor; a terminal has sent it
/// those of its keys.
fn ended(mut child: Child, control: &Control) -> std::io::Result<ExitStatus> {
    let mut is_told = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        let signal = candor_run::interrupt_exit_code().map(|code| i32::from(code) - 128);
        if control.is_stopped() && !is_told {
            is_told = true;
            let signal = signal.and_then(Signal::from_named_raw).filter(|of| *of != Signal::INT);
            if let Some(signal) = signal {
                // The process may have ended just now.
                let _ = kill_process(Pid::from_child(&child), signal);
            }
        }
        thread::sleep(STEP);
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(exit::TROUBLE)
}
