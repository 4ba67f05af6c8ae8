//! A clone of a section, as each topic of lowering sees it.

use crate::options::JobOptions;
use crate::options::{self, Kind};
use candor_front::{Given, Host, Scope, Span, Table, Texts};

/// A clone of a section, on its way into the plan.
pub struct Instance<'a> {
    /// The options of its section.
    pub options: &'a JobOptions,
    /// The name in the output.
    pub name: &'a str,
    /// The name of its section, after which its files are named.
    pub section: &'a str,
    /// Which clone of its section it is, from 0.
    pub clone: u64,
    /// Which job of all it is, from 0.
    pub number: u64,
    /// Where its section begins.
    pub at: Span,
    /// The texts that places point into.
    pub texts: &'a Texts,
    /// Where files of state are, if not in the working directory.
    pub aux_path: Option<&'a str>,
    /// The host, for sizes and kinds of files.
    pub host: &'a dyn Host,
}

impl Instance<'_> {
    /// The number in names of files and in steps of offsets. fio gives out the numbers of clones
    /// from the greatest down.
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
