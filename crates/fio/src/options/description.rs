//! Name and description of a job.

use super::kind::{Kind, Row};
use candor_front::row;

/// Name and description of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// `name`, if not the section's.
    pub name: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// `wait_for`.
    pub wait_for: Option<String>,
    /// `comm`.
    pub comm: Option<String>,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("description", Kind::Text, |s, v| s.about.description = Some(v.text()),
        "description of the job in the results")
        .exact("output: desc", "what this is for"),
    row("name", Kind::Text, |s, v| s.about.name = Some(v.text()),
        "name of the job, instead of its section's")
        .exact("phase.job.name", "other"),
    row("wait_for", Kind::Text, |s, v| s.about.wait_for = Some(v.text()),
        "start after all clones of an earlier job")
        .exact("job.after", "first"),
    row("comm", Kind::Text, |s, v| s.about.comm = Some(v.text()), "process name in ps")
        .near("job.threads.name", "worker",
            "workers are threads of one process: the threads get it"),
];
