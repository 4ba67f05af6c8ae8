//! Rows of mdtest and md-workbench, and their setters.

use std::ops::RangeInclusive;

use candor_front::{Plain, Refused, Row, bare, store};

use super::back_ends::{HINTS, LOCKS, STRIPES};
use super::words::{FLAG, flag, within};

/// Name of the option that prints the help.
pub(crate) const HELP: &str = "help";
/// Largest number of 31 bits.
pub const NUMBER_MAX: u64 = i32::MAX as u64;

/// The option that prints the help.
pub const fn help<O: 'static>() -> Row<Plain<O>> {
    bare(HELP, Plain::maybe(FLAG), "Print this help").letter('h').exact("", "1")
}

/// Sets a switch.
///
/// # Errors
/// The word is no number.
pub fn put_flag(place: &mut bool, text: &str) -> Result<(), Refused> {
    store(place, flag(text, u32::from(*place))? > 0)
}

/// Counts a flag, or sets its number.
///
/// # Errors
/// The word is no number.
pub fn count_flag(place: &mut u32, text: &str) -> Result<(), Refused> {
    store(place, flag(text, *place)?)
}

/// Sets a number.
///
/// # Errors
/// The word is no number, or out of bounds.
pub fn put<T: TryFrom<u64>>(
    place: &mut T,
    text: &str,
    bounds: RangeInclusive<u64>,
) -> Result<(), Refused> {
    store(place, within(text, bounds)?)
}

/// Sets a number that is absent without the option.
///
/// # Errors
/// The word is no number, or out of bounds.
pub fn put_some(place: &mut Option<u64>, text: &str) -> Result<(), Refused> {
    store(place, Some(within(text, 0..=NUMBER_MAX)?))
}

/// Rows that both tools share.
pub struct Shared<O>(std::marker::PhantomData<O>);

impl<O: 'static> Shared<O> {
    /// Options of filesystems that candor does not have.
    #[rustfmt::skip]
    pub const FILESYSTEMS: &'static [Row<Plain<O>>] = &[
        bare("posix.rangelocks", Plain::maybe(FLAG), "Lock each range").refused("1", LOCKS),
        bare("posix.lustre.stripecount", Plain::value("N"), "Set the number of stripes per file")
            .refused("1", STRIPES),
        bare("posix.lustre.stripesize", Plain::value("BYTES"), "Set the bytes per stripe")
            .refused("1m", STRIPES),
        bare("posix.lustre.startost", Plain::value("N"), "Set the first storage target")
            .refused("1", STRIPES),
        bare("posix.lustre.ignorelocks", Plain::maybe(FLAG), "Ignore Lustre's locks")
            .refused("1", STRIPES),
        bare("posix.gpfs.createsharing", Plain::maybe(FLAG), "Give a hint to GPFS")
            .refused("1", HINTS),
        bare("posix.beegfs.NumTargets", Plain::value("N"), "Set the number of BeeGFS targets")
            .refused("1", HINTS),
        bare("posix.beegfs.ChunkSize", Plain::value("BYTES"), "Set the chunk size of BeeGFS")
            .refused("64k", HINTS),
    ];
}
