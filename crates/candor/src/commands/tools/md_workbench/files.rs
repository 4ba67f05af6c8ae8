//! Files beside the results, and the directory of the sets.

use std::fs;
use std::io;
use std::path::Path;

use candor_md_workbench::output::Results;
use candor_md_workbench::plan::Lowered;
use candor_plan::{PathText, path_of};

use crate::commands::foreign::ranks::RankHosts;
use crate::commands::foreign::removal::Removal;

/// Opens the files that results are to be written to, before anything runs. The error is a
/// sentence.
pub fn check(lowered: &Lowered) -> Result<(), String> {
    let asked = &lowered.setup.asked;
    let status = Some(&asked.run.run_info_file).filter(|_| !asked.run.cleanup);
    let files = asked.output.summary_file.iter().chain(status);
    files.into_iter().try_for_each(|file| {
        // The file of an earlier run keeps its number until there is another one.
        let path = &path_of(file);
        candor_files::prepare(path).map_err(|error| sentence(path, "written", &error))
    })
}

/// Writes the number of the oldest object, unless all objects are gone.
pub fn write_position(lowered: &Lowered, results: &Results) -> Result<(), String> {
    let run = &lowered.setup.asked.run;
    if run.cleanup {
        Ok(())
    } else {
        write(&run.run_info_file, &format!("pos: {}\n", results.position(&lowered.setup)))
    }
}

/// Removes the directory of the sets; false where others have something in it, or it stays for
/// another reason.
pub fn remove_directory(lowered: &Lowered) -> bool {
    fs::remove_dir(&lowered.setup.asked.objects.prefix).is_ok()
}

/// The same of hosts that this one need not be among.
pub fn removal<'a>(lowered: &Lowered, hosts: &'a RankHosts) -> Result<Removal<'a>, String> {
    let asked = &lowered.setup.asked;
    let directory = asked.run.cleanup.then(|| asked.objects.prefix.clone().into());
    Removal::new(hosts, directory, [])
}

/// Writes a file. The error is a sentence.
pub fn write(file: &str, text: &str) -> Result<(), String> {
    let path = &path_of(file);
    candor_files::replace(path, text).map_err(|error| sentence(path, "written", &error))
}

fn sentence(path: &Path, done: &str, error: &io::Error) -> String {
    format!("{} cannot be {done}: {error}", path.text())
}
