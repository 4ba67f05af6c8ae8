//! Parameters that several definitions have, each with its setter.

use super::open_flags::SYNC_NOTE;
use crate::kind::{Parameter, parameter};
use crate::values::{self, Unit};
use candor_front::{Refused, Row, Set};

/// Maximum of definitions that `count=` makes.
const COUNT_MAX: f64 = 10_240.0;

/// Maximum of threads of a workload, or operations in flight of a lun.
pub(super) const THREADS_MAX: u64 = 65_536;

/// Reads a percentage.
pub(super) fn percent(text: &str) -> Result<f64, Refused> {
    // A percent sign is optional.
    let number = values::number(text, Unit::Size)?;
    let percent = if text.trim_matches(['(', ')']).ends_with('%') { -number } else { number };
    if (0.0..=100.0).contains(&percent) {
        Ok(percent)
    } else {
        Err(Refused::whole(text, format!("{text} is no share"), "give 0 to 100"))
    }
}

/// Reads `count=`: first number and number of definitions.
pub(super) fn count(text: &str) -> Result<(u64, u64), Refused> {
    let [first, number] = values::pair(text, Unit::Size)?;
    if first >= 0.0 && (1.0..=COUNT_MAX).contains(&number) {
        Ok((first as u64, number as u64))
    } else {
        let message = format!("`{text}` makes no definitions");
        Err(Refused::whole(text, message, "write (first,number), such as (1,8)"))
    }
}

/// Threads of a workload.
pub(super) fn threads(text: &str) -> Result<u32, Refused> {
    values::whole(text, Unit::Size, 1..=THREADS_MAX).map(|threads| threads as u32)
}

/// `count=`.
pub(super) const fn count_row<O: 'static>(set: Set<O>, help: &'static str) -> Row<Parameter<O>> {
    parameter("count", "(FIRST,N)", set, help).exact("target", "(1,4)")
}

/// `host=`, or `hd=`.
pub(super) const fn host_row<O: 'static>(set: Set<O>, help: &'static str) -> Row<Parameter<O>> {
    parameter("host", "NAME,…", set, help).alias(&["hd"]).exact("job", "localhost")
}

/// `skew=`, which sets `field` of the plan.
pub(super) const fn skew_row<O: 'static>(set: Set<O>, field: &'static str) -> Row<Parameter<O>> {
    let help = "percent of the run's rate; workloads without skew share the rest";
    parameter("skew", "PERCENT", set, help).exact(field, "30")
}

/// `openflags=`, which sets these fields of the plan; `is_sync` is true for `o_sync`.
pub(super) const fn open_flags_row<O: 'static>(
    set: Set<O>,
    is_sync: fn(&O) -> bool,
    help: &'static str,
    fields: &'static str,
) -> Row<Parameter<O>> {
    parameter("openflags", "FLAG,…", set, help).near(fields, "o_sync", SYNC_NOTE).differing(is_sync)
}
