//! The driver of a schedule.

use std::path::Path;

use candor_front::Schedule;
use candor_front::schedule::{Kept, NextPhase};
use candor_plan::{PathText, Plan, Target, TargetKind};
use candor_run::{Run, Step, Stopped};

/// Runs the phases of a schedule.
///
/// # Errors
/// The reason why the run ends early.
pub fn drive(run: &mut Run, mut schedule: Box<dyn Schedule>) -> Result<(), Stopped> {
    while let Some(NextPhase { index, stop }) = schedule.next(run.plan()) {
        if let Some(stop) = stop {
            run.end_jobs(index, &stop);
        }
        let record = run.phase(Step::Planned { index, repeat: 0 })?.clone();
        if let Some(kept) = schedule.ran(&record, file_bytes(run.plan(), index)) {
            keep(&kept).map_err(Stopped::Early)?;
        }
    }
    Ok(())
}

/// Writes state for a later run. The error is a sentence.
fn keep(Kept { content, file }: &Kept) -> Result<(), String> {
    candor_files::replace(&file.path, &file.text)
        .map_err(|error| format!("{content} cannot be kept in {}: {error}", file.path.text()))
}

/// Bytes of the files of a phase, as stat reports them. Null targets have files without bytes;
/// files that are not regular, or are on other hosts, have no size.
fn file_bytes(plan: &Plan, phase: usize) -> Option<u64> {
    let names = &plan.phases[phase].jobs.first()?.targets;
    names.iter().map(|name| target_bytes(plan.target(name)?)).sum()
}

fn target_bytes(target: &Target) -> Option<u64> {
    match target.kind {
        TargetKind::Null => Some(0),
        TargetKind::FileSet => {
            (0..target.files_named()).map(|nth| bytes_of(&target.file_of_set(nth).0)).sum()
        }
        _ => bytes_of(&target.path),
    }
}

fn bytes_of(path: &Path) -> Option<u64> {
    let facts = std::fs::metadata(path).ok()?;
    facts.is_file().then_some(facts.len())
}
