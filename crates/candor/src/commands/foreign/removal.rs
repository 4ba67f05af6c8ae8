//! Removal of directories on hosts that this one need not be among, once a run has left nothing in
//! them: a run of its own, which nobody reports.

use std::path::PathBuf;

use candor_front::Found;
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Create, Job, Layout, OnFailure, PathText, Phase, Plan, Target, TargetKind};
use candor_run::{Channels, Control, Options, Run};

use super::Place;
use super::ranks::RankHosts;

/// Directories that the first host removes.
pub struct Removal<'a> {
    hosts: &'a RankHosts,
    /// Directories in the order in which they go.
    directories: Vec<PathBuf>,
}

impl<'a> Removal<'a> {
    /// Of directories that go whoever made them, and behind these of such as are not there yet.
    ///
    /// # Errors
    /// A host cannot look, in a sentence.
    pub fn new(
        hosts: &'a RankHosts,
        always: impl IntoIterator<Item = PathBuf>,
        if_made: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Removal<'a>, String> {
        let mut removal = Removal { hosts, directories: if_made.into_iter().collect() };
        let there = removal.there()?;
        removal.directories.retain(|path| !there.contains(path));
        removal.directories = always.into_iter().chain(removal.directories).collect();
        Ok(removal)
    }

    /// Directories that are there.
    fn there(&self) -> Result<Vec<PathBuf>, String> {
        let Some(paths) = self.hosts.paths()?.filter(|_| !self.directories.is_empty()) else {
            return Ok(Vec::new());
        };
        let is_there = |path: &&PathBuf| paths.found(path) != Found::Nothing;
        let there = self.directories.iter().filter(is_there).cloned().collect();
        paths.looked().map(|()| there)
    }

    /// Removes those that are there.
    ///
    /// # Errors
    /// One cannot be removed, in a sentence.
    pub fn run(&self) -> Result<(), String> {
        let there = self.there()?;
        if there.is_empty() {
            return Ok(());
        }
        let plan = plan(&there, self.hosts.count());
        let place = Place::Fleet(self.hosts.identity.clone(), self.hosts.options.clone());
        let runner = |channels: &Channels| place.runner(channels);
        let (options, control) = (Options::default(), Control::default());
        let ran =
            candor_run::execute_on(runner, &plan, &options, &control, |_| {}, Run::whole_plan);
        let report = ran.map_err(|error| error.to_string())?;
        let jobs = report.phases.iter().flat_map(|phase| &phase.measurements);
        match jobs.flat_map(|job| &job.errors).next() {
            Some(error) => Err(format!("{} cannot be removed: {}", error.path, error.message)),
            None => report.cut_short.map_or(Ok(()), Err),
        }
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
