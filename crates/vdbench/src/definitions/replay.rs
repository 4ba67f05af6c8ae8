//! `rg=`: replay groups.

use super::{Defined, put};
use crate::kind::{Parameter, parameter};
use crate::values::{self, Unit};
use candor_front::{Group, Table};

/// A replay group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayGroup {
    /// Numbers of traced devices.
    pub devices: Vec<f64>,
}

/// Reason to refuse replay.
pub const REFUSED: &str = "traces of Swat are not replayed; `candor fio --read_iolog` replays \
                           traces of blktrace and of fio";

const ROWS: &[candor_front::Row<Parameter<ReplayGroup>>] = &[parameter(
    "devices",
    "N,…",
    |group: &mut ReplayGroup, text| put(&mut group.devices, values::numbers(text, Unit::Size)),
    "numbers of traced devices",
)
.refused("(1,2)", REFUSED)];

impl Defined for ReplayGroup {
    const WORD: &'static str = "rg";
    const WHAT: &'static str = "replay group";
    const TABLE: Table<Parameter<ReplayGroup>> =
        Table(&[Group { title: "Replay groups (rg=)", rows: ROWS }]);
}
