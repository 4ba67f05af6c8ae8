//! `candor scenario run io500`: phases of IO500's shape, on what the first of them wrote.

use std::path::PathBuf;

use candor_explore::Io500Options;
use candor_front::ranks::RANKS_MAX;
use candor_plan::{Nanos, PathText, path_of};
use candor_run::HostOptions;
use clap::ArgMatches;

use crate::commands::foreign::host::cpus_online;
use crate::commands::run;
use crate::flag::{self, CommandLine, Flag, Group, Takes, put_some};
use crate::hosts::{self, Hosts};
use crate::output;
use crate::parse::{number, seconds};
use crate::{commands, exit, screen};

/// Name of the scenario.
pub const NAME: &str = "io500";
/// Page on it.
pub const PAGE: &str = include_str!("io500.txt");

/// Ranks and times of the series.
#[derive(Debug, Default)]
struct Given {
    directory: Option<PathBuf>,
    stonewall: Option<Nanos>,
    ranks: Option<u32>,
}

/// Flags of this scenario alone.
const GROUPS: &[Group<Given>] = &[Group {
    title: "Scenario io500",
    flags: &[
        Flag {
            long: "datadir",
            takes: Takes::One("DIRECTORY"),
            help: "Directory for its files, instead of an argument after the name",
            fields: &[],
            set: |given, text| put_some(&mut given.directory, Ok(path_of(text))),
        },
        Flag {
            long: "stonewall",
            takes: Takes::One("SECONDS"),
            help: "Time of each phase that writes [default: 300]",
            fields: &[],
            set: |given, text| put_some(&mut given.stonewall, seconds(text)),
        },
        Flag {
            long: "ranks",
            takes: Takes::One("N"),
            help: "Ranks of all hosts, each a worker [default: one for each CPU of this host, on \
                   each host]",
            fields: &[],
            set: |given, text| match number(text)? {
                ranks if (1..=u64::from(RANKS_MAX)).contains(&ranks) => {
                    put_some(&mut given.ranks, Ok(ranks as u32))
                }
                _ => Err(format!("`{text}` is no number of ranks from 1 to {RANKS_MAX}")),
            },
        },
    ],
}];

/// The flags, as the parser wants them.
pub fn args() -> Vec<clap::Arg> {
    flag::args(GROUPS)
}

/// Names of its flags that were given.
pub fn given(matches: &ArgMatches) -> Vec<&'static str> {
    flag::given(GROUPS, matches)
}

/// Runs the series, and gives the exit code.
pub fn main(directory: Option<&str>, matches: &ArgMatches, mut line: CommandLine) -> u8 {
    let (mut given, mut hosts) = (Given::default(), Hosts::default());
    let output = match commands::flags(output::OF_RUNS, GROUPS, matches, &mut line, &mut given) {
        Ok(output) => output,
        Err(code) => return code,
    };
    let problems = flag::apply(hosts::FLAGS, matches, &mut line, &mut hosts);
    if !problems.is_empty() {
        screen::problems(&problems, &line.source, output.color);
        return exit::USAGE;
    }
    let (place, _led) = match commands::place(&hosts, HostOptions::default()) {
        Ok(place) => place,
        Err(code) => return code,
    };
    let options = match options(given, directory, matches, place.hosts()) {
        Ok(options) => options,
        Err(sentence) => {
            screen::error(&sentence);
            return exit::USAGE;
        }
    };
    let run = candor_run::Options { command: line.words().to_vec(), ..Default::default() };
    commands::run_and_finish(&output, &line.source, |control, consumer| {
        candor_run::consumed(control, consumer, |channels| {
            candor_explore::io500(&options, place.runner(channels)?, &run, channels)
        })
    })
}

/// Options of the series. The error is a sentence.
fn options(
    given: Given,
    directory: Option<&str>,
    matches: &ArgMatches,
    hosts: Option<u32>,
) -> Result<Io500Options, String> {
    let others = flag::given(run::HOW, matches).into_iter().chain(super::given(matches));
    if let Some(other) = others.into_iter().next() {
        return Err(format!(
            "--{other} does not go with io500, whose plan follows from its results"
        ));
    }
    let directory = match (given.directory, directory) {
        (Some(_), Some(word)) => {
            return Err(format!("both {word} and --datadir name a directory; give one"));
        }
        (directory, word) => directory.or_else(|| word.map(path_of)),
    };
    let directory = directory.ok_or("no directory is given: add --datadir DIRECTORY")?;
    if hosts.is_none() && !directory.is_dir() {
        let shown = directory.text();
        return Err(format!("{shown} is no directory; make it, or name another"));
    }
    let stonewall = given.stonewall.unwrap_or(candor_derive::io500::WRITE_TIME_MIN);
    if stonewall == Nanos(0) {
        return Err("--stonewall 0 writes nothing; give seconds".to_owned());
    }
    let cpus = cpus_online().clamp(1, RANKS_MAX.into()) as u32;
    let hosts = hosts.unwrap_or(1);
    let ranks = given.ranks.unwrap_or_else(|| cpus.saturating_mul(hosts));
    if !ranks.is_multiple_of(hosts) {
        return Err(format!(
            "{ranks} ranks cannot be dealt to {hosts} hosts alike; give a multiple"
        ));
    }
    Ok(Io500Options { directory, ranks, hosts, stonewall })
}
