//! Command lines of mdtest.

use std::ffi::OsString;
use std::path::Path;

use candor_dialects::mdtest::{options, plan};
use candor_plan::PlanPath;

use super::{Converted, refused};
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::mdtest::ThisHost;

/// Reads a command line of mdtest, the program's name first.
pub fn read(argv: &[OsString], _: Option<&Path>) -> Result<Converted, u8> {
    let reading = options::read(argv, &mut HostEnvironment);
    if !reading.errors.is_empty() {
        return Err(refused(&reading.errors, &reading.texts));
    }
    let lowered = match plan::lower(&reading, &ThisHost) {
        Ok(lowered) => lowered,
        Err(errors) => return Err(refused(&errors, &reading.texts)),
    };
    let comment = |note: &candor_record::Note| {
        (PlanPath::root(), format!("{}: {}, {}", note.asked, note.did, note.why))
    };
    let comments = lowered.notes.iter().map(comment).collect();
    Ok(Converted { plan: lowered.plan, comments })
}
