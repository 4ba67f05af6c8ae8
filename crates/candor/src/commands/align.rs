//! `candor align PATH…`: who sends which request sizes, at which alignment, to these devices.

use std::time::Duration;

use candor_run::TraceMethod;
use candor_show::{json, requests};
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::flag::{self, CommandLine, Flag, Group, Takes, put};
use crate::output;
use crate::{commands, exit, parse, screen};

const ABOUT: &str =
    "Show the requests that reach a device: sizes, alignment, order, who sends them";

const LONG_ABOUT: &str = "\
Show the requests that reach the devices under a path: sizes, alignment, order, latencies, and who \
sends them.

candor itself reads and writes nothing; it counts what others do, for a time or until it is \
interrupted. Each request is seen where small programs may be put into the kernel (root, or CAP_BPF \
and CAP_PERFMON); elsewhere the kernel's counters give means.";

/// Options of the command.
struct Draft {
    seconds: u64,
    by: Option<TraceMethod>,
}

const GROUPS: &[Group<Draft>] = &[Group {
    title: "Tracing",
    flags: &[
        Flag {
            long: "seconds",
            takes: Takes::One("N"),
            help: "How long to trace [default: 10]",
            fields: &[],
            set: |draft, text| {
                draft.seconds = parse::number(text)?;
                match draft.seconds {
                    0 => Err("in 0 seconds nothing happens".to_owned()),
                    _ => Ok(()),
                }
            },
        },
        Flag {
            long: "by",
            takes: Takes::One("auto|raw|tracepoint|perf|blktrace"),
            help: "How requests are traced; auto takes the first of raw, tracepoint and perf that \
                   the kernel allows [default: auto]",
            fields: &[],
            set: |draft, text| put(&mut draft.by, parse::one_of(text, METHODS)),
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
        .after_help(exit::HELP)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let mut draft = Draft { seconds: 10, by: None };
    let output = match commands::flags(output::OF_LOOKS, GROUPS, matches, &mut line, &mut draft) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let control = candor_run::interrupts();
    let (seconds, time) = (draft.seconds, Duration::from_secs(draft.seconds));
    let began = |method: &str| {
        screen::tell(&format!("Tracing for {seconds} s by {method}; Ctrl-C ends it.\n"));
    };
    let report = match candor_run::align(&commands::paths(matches), time, draft.by, &control, began)
    {
        Ok(report) => report,
        Err(error) => return commands::fail(&error, &line.source, &output),
    };
    let shown = output.show(|| json::alignment(&report), |style| requests::text(&report, style));
    commands::exit_code(shown)
}
