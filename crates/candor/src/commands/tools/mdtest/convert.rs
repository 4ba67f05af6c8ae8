//! Command lines of mdtest.

use std::ffi::OsString;
use std::path::Path;

use crate::commands::foreign::conversion::{Converted, of_the_whole, refused};
use crate::commands::foreign::host::HostEnvironment;
use crate::commands::foreign::host::ThisHost;
use candor_mdtest::{options, plan};

/// Reads a command line of mdtest, the program's name first.
pub fn read(argv: &[OsString], _: Option<&Path>) -> Result<Converted, u8> {
    let reading = options::read(argv, &mut HostEnvironment);
    if !reading.errors.is_empty() {
        return Err(refused(&reading.errors, &reading.texts));
    }
    let lowered = match plan::lower(&reading, &ThisHost::default()) {
        Ok(lowered) => lowered,
        Err(errors) => return Err(refused(&errors, &reading.texts)),
    };
    Ok(Converted { comments: of_the_whole(&lowered.notes), plan: lowered.plan })
}
