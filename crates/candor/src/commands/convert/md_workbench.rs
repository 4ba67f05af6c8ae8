//! Command lines of md-workbench.

use std::ffi::OsString;
use std::path::Path;

use candor_dialects::md_workbench::{options, plan};
use candor_plan::PlanPath;

use super::{deliver, refused};
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::md_workbench::ThisHost;

/// Converts a command line of md-workbench, the program's name first, and gives the exit code.
pub fn convert(argv: &[OsString], save: Option<&Path>) -> u8 {
    let reading = options::read(argv, &mut HostEnvironment);
    if !reading.errors.is_empty() {
        return refused(&reading.errors, &reading.texts);
    }
    let lowered = match plan::lower(&reading, &ThisHost) {
        Ok(lowered) => lowered,
        Err(errors) => return refused(&errors, &reading.texts),
    };
    let comment = |note: &candor_record::Note| {
        (PlanPath::root(), format!("{}: {}, {}", note.asked, note.did, note.why))
    };
    let comments: Vec<_> = lowered.notes.iter().map(comment).collect();
    deliver(&lowered.plan, &comments, save)
}
