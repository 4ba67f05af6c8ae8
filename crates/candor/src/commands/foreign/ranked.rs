//! The command of a tool that MPI launches.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::Path;

use candor_front::{Answer, Nodes, Running, Tool, Work};
use candor_plan::{PathText, TargetKind};
use candor_run::Run;

use super::conversion::{Converted, Converter, refused};
use super::host::{HostEnvironment, ThisHost};
use super::ranks::{self, RankHosts, Ranked};
use super::tool::{self, Entry, Page};
use super::{Complaints, Driver, Invocation, Place, force, scheduled};
use crate::commands;

/// Exit code of every failure.
const FAILED: u8 = 1;

/// The entry of a tool in the list of tools.
pub const fn tool<T: Tool>() -> tool::Tool {
    tool::Tool {
        about: T::ABOUT,
        entry: Entry::Ranked,
        main: main::<T>,
        page: Page::Derived,
        converter: Some(Converter { of_file: T::of_file, read: convert::<T> }),
        writer: None,
        has_report: true,
    }
}

const fn complaints<T: Tool>() -> Complaints<'static> {
    Complaints { tool: T::ABOUT.name, file: None, exit_code: FAILED }
}

/// Runs a command line, the program's name first, and returns the exit code.
fn main<T: Tool>(argv: &[OsString]) -> u8 {
    let complaints = complaints::<T>();
    let Ranked { argv, hosts } = match ranks::ranked(argv, complaints) {
        Ok(ranked) => ranked,
        Err(code) => return code,
    };
    let nodes = hosts.as_ref().map(RankHosts::nodes);
    let reading = match T::read(&argv, &mut HostEnvironment, nodes.as_ref()) {
        Ok(reading) => reading,
        Err(Answer::Text(help)) => return commands::printed(&(help + &ranks::help())),
        Err(refused) => return answered(complaints, refused),
    };
    let work = match lowered::<T>(reading, hosts.as_ref()) {
        Ok(Ok(work)) => work,
        Ok(Err(answer)) => return answered(complaints, answer),
        Err(sentence) => return complaints.sentence(&sentence),
    };
    run(&work, complaints, hosts.as_ref(), nodes.as_ref())
}

fn answered(complaints: Complaints<'_>, answer: Answer) -> u8 {
    match answer {
        Answer::Text(text) => commands::printed(&text),
        Answer::Refused(diagnostics, texts) => complaints.diagnostics(&diagnostics, &texts),
    }
}

/// The work on this host, or on the hosts that have the files. The error is a sentence about a host
/// that cannot be reached, or refuses.
fn lowered<T: Tool>(
    reading: T::Reading,
    hosts: Option<&RankHosts>,
) -> Result<Result<T::Work, Answer>, String> {
    match hosts.map_or(Ok(None), RankHosts::paths)? {
        None => Ok(T::lower(reading, &ThisHost::default())),
        Some(paths) => {
            let there = ThisHost::with_paths_of(paths);
            let lowered = T::lower(reading, &there);
            there.looked().map(|()| lowered)
        }
    }
}

fn run(
    work: &impl Work,
    complaints: Complaints<'_>,
    hosts: Option<&RankHosts>,
    nodes: Option<&Nodes>,
) -> u8 {
    let host = &ThisHost::default();
    if let Some(text) = work.instead(host, nodes) {
        return commands::printed(&text);
    }
    let Running { mut session, schedule } = work.run(host, nodes);
    let driver: Driver = match schedule {
        None => Box::new(Run::whole_plan),
        Some(schedule) => Box::new(|run| scheduled::drive(run, schedule)),
    };
    let devices = work.plan().targets.iter().filter(|target| target.kind == TargetKind::Device);
    let devices = devices.map(|target| target.path.text());
    let force = if force::is_set() { devices.collect() } else { Vec::new() };
    let invocation = Invocation {
        place: Place::new(force, None),
        driver,
        ..Invocation::new(
            Complaints { file: work.results_file(), ..complaints },
            Cow::Borrowed(work.plan()),
            work.command(),
        )
    };
    match invocation.on(hosts) {
        Ok(invocation) => invocation.run(&mut *session),
        Err(sentence) => complaints.sentence(&sentence),
    }
}

/// Makes a plan of a command line, the program's name first.
fn convert<T: Tool>(argv: &[OsString], _: Option<&Path>) -> Result<Converted, u8> {
    let reading = T::read(argv, &mut HostEnvironment, None);
    match reading.and_then(|reading| T::lower(reading, &ThisHost::default())) {
        Ok(work) => Ok(Converted { plan: work.plan().clone(), comments: work.comments() }),
        Err(Answer::Refused(diagnostics, texts)) => Err(refused(&diagnostics, &texts)),
        Err(Answer::Text(text)) => Err(commands::printed(&text)),
    }
}
