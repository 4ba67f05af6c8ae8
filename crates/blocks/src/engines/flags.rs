//! Flags of single calls (`RWF_…`), for the engines that can pass them.

use candor_plan::blocks;

/// Flag that polls for the completion.
pub const HIPRI: i32 = 0x01;
const DSYNC: i32 = 0x02;
const NOWAIT: i32 = 0x08;
const ATOMIC: i32 = 0x40;
const DONTCACHE: i32 = 0x80;

/// Flags of reads and of writes, and their names for the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallFlags {
    /// Flags of reads.
    pub read: i32,
    /// Flags of writes.
    pub write: i32,
    /// Names of the flags in use.
    pub names: Vec<String>,
}

impl CallFlags {
    /// Flags that a plan requests; `dsync` and `atomic` concern writes only.
    pub fn new(plan: blocks::CallFlags) -> CallFlags {
        CallFlags::polled(plan, false)
    }

    /// Flags that a plan requests; `hipri` polls for each completion.
    pub fn polled(plan: blocks::CallFlags, hipri: bool) -> CallFlags {
        let known = [
            (hipri, HIPRI, true, "rwf-hipri"),
            (plan.nowait, NOWAIT, true, "rwf-nowait"),
            (plan.dontcache, DONTCACHE, true, "rwf-dontcache"),
            (plan.dsync, DSYNC, false, "rwf-dsync"),
            (plan.atomic, ATOMIC, false, "rwf-atomic"),
        ];
        let mut flags = CallFlags::default();
        for (_, flag, reads, name) in known.into_iter().filter(|(on, ..)| *on) {
            flags.write |= flag;
            flags.read |= if reads { flag } else { 0 };
            flags.names.push(name.into());
        }
        flags
    }

    /// True where calls carry no flags.
    pub fn is_empty(&self) -> bool {
        self.read | self.write == 0
    }
}
