//! Writes the log files that jobs ask for, and where their writing ended.

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use candor_files::Use;
use candor_fio::job::FioJob;
use candor_fio::output::logs::{self, aggregate, iolog};
use candor_fio::state;
use candor_plan::{PathText, path_of};
use candor_record::Report;

use crate::screen;

/// Saves where the writing of each job ended, of which that is asked; a sentence for the first file
/// that cannot be written.
pub fn states(report: &Report, jobs: &[FioJob]) -> Result<(), String> {
    let mut result = Ok(());
    for (path, bytes) in state::files(report, jobs) {
        let complaint = |error| format!("{} cannot be written: {error}", path.text());
        result = result.and(candor_files::replace(path, bytes).map_err(complaint));
    }
    result
}

/// Claims the files that are written after the run; a sentence for the first that is refused.
pub fn claim(jobs: &[FioJob], aggregate: Option<&str>) -> Result<(), String> {
    let logs = logs::files(jobs).into_iter().map(|file| path_of(&file.name));
    let traces = iolog::files(jobs).into_iter().map(|(name, _)| path_of(name));
    let states = jobs.iter().filter_map(|job| Some(job.state.as_ref()?.path.clone()));
    let sums = aggregate.into_iter().flat_map(aggregate::names).map(|name| path_of(&name));
    let others = logs.chain(traces).chain(sums);
    let others = others.map(|file| (candor_files::claim(&file), file));
    // A job that writes on from a saved state saves the new one in the same file.
    let states = states.map(|file| (candor_files::claim_onto(&file, Use::State), file));
    others.chain(states).try_for_each(|(claimed, file)| {
        claimed.map_err(|refusal| format!("{} cannot be written: {refusal}", file.text()))
    })
}

/// Writes all of them; a sentence for the first that cannot be written.
pub fn write(report: &Report, jobs: &[FioJob]) -> Result<(), String> {
    let mut result = Ok(());
    for file in logs::files(jobs) {
        let ast = candor_files::create(&path_of(&file.name)).and_then(|mut out| {
            file.write(report, &mut out)?;
            out.commit()
        });
        // The others may well be written.
        let complaint = ast.map_err(|error| format!("{} cannot be written: {error}", file.name));
        result = result.and(complaint);
    }
    tell_lost(report);
    result.and(traces(report, jobs))
}

/// Adds the traces of jobs to their files.
fn traces(report: &Report, jobs: &[FioJob]) -> Result<(), String> {
    let mut result = Ok(());
    for (name, jobs) in iolog::files(jobs) {
        let open = candor_files::append(&path_of(name));
        let ast = open.and_then(|open| {
            let mut out = BufWriter::new(open);
            jobs.iter().try_for_each(|job| iolog::write(report, job, &mut out))?;
            out.flush()
        });
        result = result.and(ast.map_err(|error| format!("{name} cannot be written: {error}")));
    }
    result
}

/// Writes the traces that were merged.
pub fn merged(files: &[(PathBuf, Vec<u8>)]) -> Result<(), String> {
    files.iter().try_for_each(|(path, bytes)| {
        candor_files::replace(path, bytes)
            .map_err(|error| format!("{} cannot be written: {error}", path.text()))
    })
}

/// A log that does not hold everything says so.
fn tell_lost(report: &Report) {
    for measured in report.phases.iter().flat_map(|phase| &phase.measurements) {
        let lost = measured.log.as_ref().map_or(0, |log| log.lost);
        if lost > 0 {
            let name = &measured.job;
            screen::tell(&format!("fio: {name}: {lost} operations found no room in the logs\n"));
        }
    }
}

/// The lines of a compressed log.
pub fn inflated(file: &Path) -> Result<String, String> {
    let wrong = |why: String| format!("{} cannot be read: {why}", file.text());
    let stored = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    logs::inflate(&stored).map_err(wrong)
}

/// Writes the bandwidth of all jobs together into files whose names begin so; a sentence for the
/// first log that cannot be written.
pub fn write_aggregate(report: &Report, name: &str) -> Result<(), String> {
    for (name, text) in aggregate::files(report, name) {
        candor_files::replace(&path_of(&name), text)
            .map_err(|error| format!("{name} cannot be written: {error}"))?;
    }
    Ok(())
}
