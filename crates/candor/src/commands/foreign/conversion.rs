//! Plans of the command lines of a tool, with comments on every difference.

use std::ffi::OsString;
use std::path::Path;

use candor_front::{Diagnostic, Host, Texts};
use candor_plan::{Plan, PlanPath};

use crate::{exit, screen};

/// Makes plans of the command lines of a tool.
pub struct Converter {
    /// The command line for a file, from its path and the start of its content; none for a file of
    /// another tool.
    pub of_file: fn(&str, &str) -> Option<Vec<OsString>>,
    /// Reads a command line, the tool's name first. Files that the plan needs are written next to
    /// the path at which it is saved. An error is printed, and is the exit code.
    pub read: fn(&[OsString], Option<&Path>) -> Result<Converted, u8>,
}

/// A plan, and comments on its differences from the request.
pub struct Converted {
    /// The plan.
    pub plan: Plan,
    /// Comments, each at a position of the plan.
    pub comments: Vec<(PlanPath, String)>,
}

/// Writes a plan as a job file of a tool, if that is exactly the same work; else the differences.
pub type Writer = fn(&Plan, &dyn Host) -> Result<String, Vec<String>>;

/// Shows why there is no plan, and gives the exit code.
pub fn refused(diagnostics: &[Diagnostic], texts: &Texts) -> u8 {
    diagnostics.iter().for_each(|diagnostic| screen::error(&diagnostic.describe(texts)));
    exit::USAGE
}
