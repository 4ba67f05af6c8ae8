//! A clone of a section, as each topic of lowering sees it.

use crate::options::JobOptions;
use crate::options::{self, Kind};
use candor_front::{Given, Host, Scope, Span, Table, Texts};

/// A clone of a section, on its way into the plan.
pub struct Instance<'a> {
    /// Options of the clone's section.
    pub options: &'a JobOptions,
    /// The name in the output.
    pub name: &'a str,
    /// Name of the section, which names its files.
    pub section: &'a str,
    /// Number of the clone in its section, from 0.
    pub clone: u64,
    /// Number of the job among all jobs, from 0.
    pub number: u64,
    /// Position of the section.
    pub at: Span,
    /// Texts of positions.
    pub texts: &'a Texts,
    /// Directory of state files, if not the working directory.
    pub aux_path: Option<&'a str>,
    /// The host, for sizes and kinds of files.
    pub host: &'a dyn Host,
}

impl Instance<'_> {
    /// Number in file names and in multiples of offset_increment. fio numbers clones from the
    /// highest down.
    pub fn job_number(&self) -> u64 {
        match self.clone {
            0 => 0,
            clone => self.options.runtime.clones - clone,
        }
    }
}

/// Bits of a number thrown together (the finalizer of splitmix64).
pub(super) fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl Scope for Instance<'_> {
    type Kind = Kind;
    const TOOL: &'static str = "fio";
    const TABLE: Table<Kind> = options::TABLE;

    fn given(&self) -> &Given {
        &self.options.given
    }

    fn at(&self) -> Span {
        self.at
    }

    fn name(&self) -> &str {
        self.name
    }

    fn texts(&self) -> &Texts {
        self.texts
    }
}
