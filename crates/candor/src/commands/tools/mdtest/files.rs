//! Files beside the results, and the directories around the trees.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use candor_mdtest::output::{self, Results};
use candor_mdtest::plan::Lowered;
use candor_mdtest::setup::Setup;
use candor_plan::{PathText, path_of};

use crate::commands::foreign::ranks::RankHosts;
use crate::commands::foreign::removal::Removal;

/// The directories of `-d` that are not there when the test begins: removed at its end where it
/// removes what it made.
pub fn missing(setup: &Setup) -> Vec<PathBuf> {
    let paths = setup.asked.tree.paths.iter().map(|text| path_of(text));
    paths.filter(|path| path.symlink_metadata().is_err()).collect()
}

/// The same directories, and those of the tests, of hosts that this one need not be among.
pub fn removal<'a>(setup: &Setup, hosts: &'a RankHosts) -> Result<Removal<'a>, String> {
    let removes = setup.asked.phases.remove;
    let if_made = setup.asked.tree.paths.iter().filter(|_| removes).map(|text| path_of(text));
    Removal::new(hosts, test_directories(setup).filter(|_| removes), if_made)
}

fn test_directories(setup: &Setup) -> impl Iterator<Item = PathBuf> + '_ {
    let iterations = 0..setup.asked.run.iterations;
    iterations.flat_map(|nth| setup.test_dirs(nth)).map(|text| path_of(&text))
}

/// Opens the files that results are to be written to, before anything runs. The error is a
/// sentence.
pub fn check(lowered: &Lowered) -> Result<(), String> {
    let asked = &lowered.setup.asked;
    let creates = asked.phases.create && asked.run.stonewall_s > 0;
    let status = asked.run.stonewall_file.as_ref().filter(|_| creates);
    let of_results = [&asked.output.rank_file, &asked.output.summary_file];
    let files = of_results.into_iter().flatten().chain(status);
    files.into_iter().try_for_each(|file| {
        let path = &path_of(file);
        candor_files::prepare(path).map_err(|error| sentence(path, "written", &error))
    })
}

/// Removes the test directories, and the directories of `-d` that the test has made; the error is
/// a sentence about one that could not be removed.
pub fn remove_directories(setup: &Setup, made: &[PathBuf]) -> Result<(), String> {
    if !setup.asked.phases.remove {
        return Ok(());
    }
    let mut wrong = None;
    for path in test_directories(setup).chain(made.iter().cloned()) {
        match fs::remove_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                wrong.get_or_insert_with(|| sentence(&path, "removed", &error));
            }
            _ => {}
        }
    }
    wrong.map_or(Ok(()), Err)
}

/// Writes the rates of tasks, and the number of files that were made in time.
pub fn write_results(lowered: &Lowered, results: &Results) -> Result<(), String> {
    let asked = &lowered.setup.asked;
    if let Some(file) = &asked.output.rank_file {
        write(file, &output::rank_file(&lowered.setup, &results.runs))?;
    }
    let made = results.files_made().filter(|_| asked.run.stonewall_s > 0);
    match (&asked.run.stonewall_file, made) {
        (Some(file), Some(made)) => write(file, &made.to_string()),
        _ => Ok(()),
    }
}

/// Writes a file. The error is a sentence.
pub fn write(file: &str, text: &str) -> Result<(), String> {
    let path = &path_of(file);
    candor_files::replace(path, text).map_err(|error| sentence(path, "written", &error))
}

fn sentence(path: &Path, done: &str, error: &io::Error) -> String {
    format!("{} cannot be {done}: {error}", path.text())
}
