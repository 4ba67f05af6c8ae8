//! Work that is no I/O: running a program, burning CPU.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::Nanos;
use crate::omit::is_default;

/// Burning CPU: each operation computes for a while, then rests.
#[derive(Clone, Copy, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Burn {
    /// Time for which one operation computes.
    #[default(Nanos(50_000_000))]
    pub chunk: Nanos,
    /// Think time after each operation.
    #[serde(skip_serializing_if = "is_default")]
    pub rest: Nanos,
    /// Sort numbers instead of spinning, which takes more power.
    pub sort: bool,
}

/// Running a program: the job lasts as long as it is to last, or as the program does.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Program {
    /// Name, looked for along `PATH` where it has no slash, and its arguments.
    pub command: Vec<String>,
    /// File that gets its standard output, overwritten; absent passes it on.
    #[serde(with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub output: Option<PathBuf>,
    /// The same for its standard error.
    #[serde(with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub errors: Option<PathBuf>,
    /// Time from SIGTERM to SIGKILL at the end of the job.
    #[default(Nanos::from_secs(1))]
    pub grace: Nanos,
    /// The job ends with it; else it lasts as long as the job is to last.
    pub until_end: bool,
    /// A program that cannot be started does nothing instead of failing, and the reason goes where
    /// its standard error would have gone.
    pub optional: bool,
}
