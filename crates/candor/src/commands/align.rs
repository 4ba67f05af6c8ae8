//! `candor align PATH…`: who sends which request sizes, at which alignment, to these devices.

use std::time::Duration;

use candor_plan::Nanos;
use candor_run::{Processes, TraceMethod};
use candor_show::{json, requests};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes, put};
use crate::output;
use crate::{commands, exit, parse, screen};

const ABOUT: &str =
    "Show the requests that reach a device: sizes, alignment, order, issuing process";

const LONG_ABOUT: &str = "\
Show the requests that reach the devices under a path: sizes, alignment, order, latencies, and \
the issuing processes.

candor itself reads and writes nothing; it counts the requests of other processes, for a time or \
until an interrupt. With root, or CAP_BPF and CAP_PERFMON, each request is traced; otherwise the \
kernel's counters give means.";

/// Options of the command.
struct AlignOptions {
    time: Nanos,
    by: Option<TraceMethod>,
    pids: Vec<u32>,
}

const GROUPS: &[Group<AlignOptions>] = &[Group {
    title: "Tracing",
    flags: &[
        Flag {
            long: "seconds",
            takes: Takes::One("N"),
            help: "Trace for N seconds, or for a time such as 5m [default: 10]",
            fields: &[],
            set: |options, text| put(&mut options.time, parse::some_seconds(text)),
        },
        Flag {
            long: "by",
            takes: Takes::One("auto|raw|tracepoint|perf|blktrace"),
            help: "How requests are traced; auto takes the first of raw, tracepoint and perf that \
                   the kernel allows [default: auto]",
            fields: &[],
            set: |options, text| put(&mut options.by, parse::one_of(text, METHODS)),
        },
        Flag {
            long: "pid",
            takes: Takes::Many("N"),
            help: "Show only requests of process N and of all that it starts, until it ends; PATH \
                   may be left out; may be given several times",
            fields: &[],
            set: |options, text| {
                options.pids.push(parse::process(text)?);
                Ok(())
            },
        },
    ],
}];

const METHODS: &[(&str, Option<TraceMethod>)] = &[
    ("auto", None),
    ("raw", Some(TraceMethod::Raw)),
    ("tracepoint", Some(TraceMethod::Tracepoint)),
    ("perf", Some(TraceMethod::Perf)),
    ("blktrace", Some(TraceMethod::Blktrace)),
];

/// The command line.
pub fn command() -> Command {
    let path = Arg::new("PATH").required(true).action(ArgAction::Append);
    Command::new("align")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(path.num_args(1..).help("Files, directories or block devices, also by name: sda"))
        .args(flag::args(GROUPS))
        .args(flag::args(output::OF_LOOKS))
        .mut_arg("PATH", |arg| arg.required(false).required_unless_present("pid"))
        .mut_arg("pid", |arg| arg.conflicts_with("by"))
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut options = AlignOptions { time: Nanos::from_secs(10), by: None, pids: Vec::new() };
    let output = match commands::flags(output::OF_LOOKS, GROUPS, matches, &mut line, &mut options) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let control = candor_run::interrupts();
    let (seconds, time) = (options.time.as_secs_f64(), Duration::from_nanos(options.time.0));
    let began = |method: &str| {
        screen::tell(&format!("Tracing for {seconds} s by {method}; Ctrl-C ends it.\n"));
    };
    let paths = commands::paths(matches);
    let report = match &options.pids[..] {
        [] => candor_run::align(&paths, time, options.by, &control, began),
        pids => {
            let tracing = candor_run::trace_processes(&paths, &Processes::These(pids.to_vec()));
            tracing.map(|tracing| {
                began(tracing.method());
                tracing.wait(time, || {
                    control.is_stopped() || pids.iter().all(|pid| !parse::is_process(*pid))
                });
                tracing.end(Vec::new())
            })
        }
    };
    let report = match report {
        Ok(report) => report,
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    let shown = output.show(|| json::alignment(&report), |style| requests::text(&report, style));
    commands::exit_code(shown)
}
