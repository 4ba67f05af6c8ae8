//! `candor check [PATH]`: what this storage is, what it should do, what it did, and whether to
//! believe it.

mod on_bucket;

use candor_explore::CheckOptions;
use candor_plan::{Bytes, Nanos, path_of};
use candor_run::HostOptions;
use clap::{Arg, ArgMatches, Command};

use crate::commands::bucket::{self, Url};
use crate::flag::{self, CommandLine, Flag, Group, Takes, put, put_some};
use crate::hosts::{self, Hosts};
use crate::output;
use crate::{commands, exit, parse, screen};

const ABOUT: &str =
    "Measure a directory, file, device or bucket; report whether to believe the result";

const LONG_ABOUT: &str = "\
Measure a directory, file, block device or bucket, and report whether to believe the result.

Without PATH, that is the current directory. Inspects what is there, states what it should be \
able to do, runs a short honest series (large blocks in sequence, 4 KiB at random one at a time \
and many at once, durable writes; in a directory many small files as well), and reports what \
each number means. In a directory it works in new files and removes them; an existing file or a \
block device is only read, unless --write consents to its contents being destroyed.

PATH may be s3://BUCKET/PREFIX. The series then puts, gets, lists and deletes new objects of \
4 KiB, 8 MiB and 64 MiB (in parts) below the prefix, over 1, 16 and 64 connections, and removes \
them.

With --hosts all of them do it at once: in a shared directory each host has its own file, small \
files count over all hosts, and all hosts take turns on a file or device.";

/// Options of the series.
#[derive(Debug)]
struct Given {
    time: Nanos,
    size: Option<Bytes>,
    write: bool,
    keep: bool,
    force: Option<String>,
}

impl Default for Given {
    fn default() -> Given {
        Given { time: Nanos::from_secs(90), size: None, write: false, keep: false, force: None }
    }
}

const GROUPS: &[Group<Given>] = &[Group {
    title: "Series",
    flags: &[
        Flag {
            long: "seconds",
            takes: Takes::One("N"),
            help: "Take about N seconds in all, or a time such as 5m [default: 90]",
            fields: &[],
            set: |given, text| {
                given.time = parse::some_seconds(text)?;
                Ok(())
            },
        },
        Flag {
            long: "size",
            takes: Takes::One("SIZE"),
            help: "How much of the storage to use, such as 4g; by default as much as makes \
                   sense, and 1 GiB each of large objects and of objects in parts",
            fields: &[],
            set: |given, text| put_some(&mut given.size, parse::unit(text)),
        },
        Flag {
            long: "write",
            takes: Takes::Nothing,
            help: "Consent to destroy what is on PATH, if it is a file or a block device",
            fields: &[],
            set: |given, _| put(&mut given.write, Ok(true)),
        },
        Flag {
            long: "keep",
            takes: Takes::Nothing,
            help: "Keep the large file made in a directory, or the objects",
            fields: &[],
            set: |given, _| put(&mut given.keep, Ok(true)),
        },
        Flag {
            long: "force",
            takes: Takes::One("DEVICE"),
            help: "Write to PATH although it is held (mounted, swap, …); DEVICE names it again",
            fields: &[],
            set: |given, text| put_some(&mut given.force, Ok(commands::device_name(text))),
        },
    ],
}];

/// The command line.
pub fn command() -> Command {
    let check = Command::new("check")
        .about(ABOUT)
        .long_about(LONG_ABOUT)
        .arg(Arg::new("PATH").default_value(".").help("Directory, file, device or s3://BUCKET"))
        .args(flag::args(GROUPS))
        .args(flag::args(hosts::FLAGS))
        .args(flag::args(output::OF_RUNS))
        .after_help(exit::HELP);
    bucket::with_servers(check)
}

/// Runs it.
pub fn main(matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let text = matches.get_one::<String>("PATH").map_or("", String::as_str);
    if let Some(url) = Url::read(text) {
        return on_bucket::main(url, matches, line);
    }
    if let Some(flag) = flag::given(bucket::SERVERS, matches).first() {
        screen::error(&format!("--{flag} is for buckets, and {text} is none; leave it out"));
        return exit::USAGE;
    }
    let mut given = Given::default();
    let output = match commands::flags(output::OF_RUNS, GROUPS, matches, &mut line, &mut given) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let mut hosts = Hosts::default();
    let problems = flag::apply(hosts::FLAGS, matches, &mut line, &mut hosts);
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, output.color);
        return exit::USAGE;
    }
    let path = path_of(text);
    let Given { time, size, write, keep, force } = given;
    // Only the hosts know whether the path is a directory on them.
    let is_dir = path.metadata().map_or(true, |at| at.is_dir());
    let in_directory = is_dir || hosts.is_given();
    if let Err(sentence) = output.fits_check(&candor_explore::results(in_directory, write)) {
        screen::error(&sentence);
        return exit::USAGE;
    }
    let host = HostOptions {
        force: force.into_iter().collect(),
        try_submission: true,
        ..HostOptions::default()
    };
    let (place, _led) = match commands::place(&hosts, host) {
        Ok(place) => place,
        Err(code) => return code,
    };
    let hosts = place.hosts().unwrap_or(1);
    let options = CheckOptions { path, time, size, write, keep, hosts };
    // The series is a search of its own.
    let run = candor_run::Options { command: line.words().to_vec(), ..Default::default() };
    commands::run_and_finish(&output, &line.source, |control, consumer| {
        candor_run::consumed(control, consumer, |channels| {
            candor_explore::check(&options, place.runner(channels)?, &run, channels)
        })
    })
}
