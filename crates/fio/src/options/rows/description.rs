//! Name and description of a job, and the units of its options.

use crate::job_options::{KbBase, UnitBase};
use crate::options::kind::{Kind, Row};
use candor_front::row;

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("description", Kind::Text, |s, v| s.about.description = Some(v.text()),
        "a sentence about the job, shown in its results")
        .exact("output: desc", "what this is for"),
    row("name", Kind::Text, |s, v| s.about.name = Some(v.text()),
        "the job's name, instead of its section's")
        .exact("phase.job.name", "other"),
    row("wait_for", Kind::Text, |s, v| s.about.wait_for = Some(v.text()),
        "start when all clones of that job, defined above, have ended")
        .exact("job.after", "first"),
    row("comm", Kind::Text, |s, v| s.about.comm = Some(v.text()), "name of the process in ps")
        .near("job.threads.name", "worker",
            "workers are threads of one process: the threads get it"),
];

#[rustfmt::skip]
pub(in crate::options) const UNITS: &[Row] = &[
    row("kb_base", Kind::Choice(KbBase::CHOICES), |s, v| s.statistics.kb_base = v.of(KbBase::ALL),
        "which of kB and KiB is 1024 bytes")
        .default("1024").exact("sizes; output", "1000"),
    row("unit_base", Kind::Choice(UnitBase::CHOICES),
        |s, v| s.statistics.unit_base = v.of(UnitBase::ALL), "results in bytes or in bits")
        .default("0").exact("output", "1"),
];
