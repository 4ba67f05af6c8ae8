//! Work that is no I/O: running a program, burning CPU.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Nanos;
use crate::engine::is_default;

/// Burning CPU: each operation computes for a while, then rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Burn {
    /// Time for which one operation computes.
    pub chunk: Nanos,
    /// Think time after each operation.
    #[serde(skip_serializing_if = "is_default")]
    pub rest: Nanos,
    /// Sort numbers instead of spinning, which takes more power.
    pub sort: bool,
}

impl Default for Burn {
    fn default() -> Self {
        Burn { chunk: Nanos(50_000_000), rest: Nanos(0), sort: false }
    }
}

/// Running a program: the job lasts as long as it is to last, or as the program does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Program {
    /// Name, looked for along `PATH` where it has no slash, and its arguments.
    pub command: Vec<String>,
    /// File that gets its standard output, overwritten; absent passes it on.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub output: Option<PathBuf>,
    /// The same for its standard error.
    #[serde(skip_serializing_if = "Option::is_none", with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub errors: Option<PathBuf>,
    /// Time from SIGTERM to SIGKILL at the end of the job.
    pub grace: Nanos,
    /// The job ends with it; else it lasts as long as the job is to last.
    pub until_end: bool,
    /// A program that cannot be started does nothing instead of failing, and the reason goes where
    /// its standard error would have gone.
    pub optional: bool,
}

impl Default for Program {
    fn default() -> Self {
        let grace = Nanos::from_secs(1);
        Program {
            command: Vec::new(),
            output: None,
            errors: None,
            grace,
            until_end: false,
            optional: false,
        }
    }
}
