//! Removal of empty directories after a run, on this host or on other hosts: there as a run without
//! a report.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use candor_front::Found;
use candor_front::session::{Leftovers, Removed};
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Create, Job, Layout, OnFailure, PathText, Phase, Plan, Target, TargetKind};
use candor_run::{Channels, Control, Options, Run};

use super::place::Place;
use super::ranks::RankHosts;

/// Removal of the directories that a run leaves behind.
pub struct Removal<'a> {
    /// Hosts of the directories; none for this host.
    hosts: Option<&'a RankHosts>,
    /// Directories that existed before the run.
    existing: Vec<PathBuf>,
}

impl<'a> Removal<'a> {
    /// Notes which directories exist.
    ///
    /// # Errors
    /// A host cannot look, in a sentence.
    pub fn before_run(
        hosts: Option<&'a RankHosts>,
        leftovers: &Leftovers,
    ) -> Result<Removal<'a>, String> {
        let hosts = hosts.filter(|hosts| hosts.first_elsewhere().is_some());
        let existing = match hosts {
            None => leftovers.if_made.iter().filter(|path| exists(path)).cloned().collect(),
            Some(hosts) => existing_on(hosts, &leftovers.if_made)?,
        };
        Ok(Removal { hosts, existing })
    }

    /// Removes the directories.
    pub fn run(&self, leftovers: &Leftovers) -> Removed {
        let made = leftovers.if_made.iter().filter(|path| !self.existing.contains(path));
        let directories: Vec<PathBuf> = leftovers.always.iter().chain(made).cloned().collect();
        match self.hosts {
            None => remove(&directories),
            Some(hosts) => {
                remove_on(hosts, &directories).map_or_else(Removed::Failed, |()| Removed::All)
            }
        }
    }
}

fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Removes directories of this host, as many as possible.
fn remove(directories: &[PathBuf]) -> Removed {
    let mut removed = Removed::All;
    for path in directories {
        let Err(error) = fs::remove_dir(path) else { continue };
        match (&removed, error.kind()) {
            (Removed::Failed(_), _) => {}
            (_, ErrorKind::NotFound) => removed = Removed::Missing,
            _ => removed = Removed::Failed(format!("{} cannot be removed: {error}", path.text())),
        }
    }
    removed
}

/// Directories that exist on hosts.
fn existing_on(hosts: &RankHosts, directories: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    if directories.is_empty() {
        return Ok(Vec::new());
    }
    let Some(paths) = hosts.paths()? else { return Ok(Vec::new()) };
    let exists = directories.iter().filter(|path| paths.found(path) != Found::Nothing);
    let existing = exists.cloned().collect();
    paths.looked().map(|()| existing)
}

/// Removes directories that exist on hosts. The error is a sentence.
fn remove_on(hosts: &RankHosts, directories: &[PathBuf]) -> Result<(), String> {
    let existing = existing_on(hosts, directories)?;
    if existing.is_empty() {
        return Ok(());
    }
    let plan = plan(&existing, hosts.count());
    let place = Place::Fleet(hosts.identity.clone(), hosts.options.clone());
    let runner = |channels: &Channels| place.runner(channels);
    let (options, control) = (Options::default(), Control::default());
    let ran = candor_run::execute_on(runner, &plan, &options, &control, |_| {}, Run::whole_plan);
    let report = ran.map_err(|error| error.to_string())?;
    let jobs = report.phases.iter().flat_map(|phase| &phase.measurements);
    match jobs.flat_map(|job| &job.errors).next() {
        Some(error) => Err(format!("{} cannot be removed: {}", error.path, error.message)),
        None => report.cut_short.map_or(Ok(()), Err),
    }
}

fn plan(directories: &[PathBuf], hosts: u32) -> Plan {
    let target = |path: &PathBuf| Target {
        name: path.text(),
        path: path.clone(),
        kind: TargetKind::File,
        create: Create::Nothing,
        layout: Layout::Never,
        keep: true,
        overwrite: true,
        ..Target::default()
    };
    let targets: Vec<Target> = directories.iter().map(target).collect();
    let entries =
        Entries { over: Over::TargetDirectories, steps: vec![Step::Rmdir], ..Entries::default() };
    let job = Job {
        name: "remove directories".into(),
        only_on: Some(0),
        targets: targets.iter().map(|target| target.name.clone()).collect(),
        work: entries.into(),
        ..Job::default()
    };
    let phase = Phase {
        name: job.name.clone(),
        on_failure: OnFailure::EndJob,
        jobs: vec![job],
        ..Phase::default()
    };
    Plan { name: phase.name.clone(), hosts, targets, phases: vec![phase], ..Plan::default() }
}
