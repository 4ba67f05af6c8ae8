//! Bytes, times, rates and the small languages in which people write them.
//!
//! A size is a number with an optional suffix. A bare letter (`k m g t p`, either case) and the
//! `KiB` family mean powers of 1024; the `kB` family means powers of 1000. Fractions are taken
//! where they come out whole: `1.5k` is 1536 bytes. A time takes `ns us ms s m h d` and sums of
//! them (`1m30s`); it must name its unit.

use std::fmt;

use crate::text_serde::text_serde;

mod cpus;
mod mix;
mod number;
mod per_direction;
mod spec;

pub use cpus::cpu_list;
pub use mix::{Direction, Mix};
pub use per_direction::PerDirection;
pub use spec::{Extent, SizeSpec};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub struct Bytes(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub struct Nanos(pub u64);

/// Bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub struct BytesPerSec(pub u64);

/// Operations per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub struct OpsPerSec(pub u64);

impl Nanos {
    /// The time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// A whole number of seconds; what is beyond 584 years becomes the longest time.
    pub const fn from_secs(secs: u64) -> Self {
        Nanos(secs.saturating_mul(1_000_000_000))
    }
}

/// A text that is not what it should be: what is wrong with the text in it, then `; `, then what
/// to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

impl UnitError {
    /// About `text`: what is wrong with it, and what to write instead.
    pub(crate) fn new(text: &str, wrong: &str, how: &str) -> UnitError {
        UnitError(format!("{} {wrong}; {how}", number::quote(text)))
    }
}

const BINARY: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

impl fmt::Display for Bytes {
    /// The largest binary unit that divides it: `4KiB`, `1000B`. Parsing reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in BINARY {
            if self.0 != 0 && self.0.trailing_zeros() >= shift {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{}B", self.0)
    }
}

impl fmt::Display for Nanos {
    /// The largest of `s ms us ns` that divides it. Parsing reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)] {
            if self.0.is_multiple_of(size) {
                return write!(f, "{}{unit}", self.0 / size);
            }
        }
        write!(f, "{}ns", self.0)
    }
}

impl fmt::Display for BytesPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", Bytes(self.0))
    }
}

impl fmt::Display for OpsPerSec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

text_serde!(Bytes, "a size such as \"4k\"", |n| Some(Bytes(n)));
text_serde!(Nanos, "a time with its unit, such as \"30s\"", |n| (n == 0).then_some(Nanos(0)));
text_serde!(BytesPerSec, "bytes per second, such as \"100MB\"", |n| Some(BytesPerSec(n)));
text_serde!(OpsPerSec, "operations per second, such as \"20k\"", |n| Some(OpsPerSec(n)));
text_serde!(Extent, "a size or a share, such as \"1g\" or \"50%\"", |n| Some(Extent::Bytes(
    Bytes(n)
)));
text_serde!(
    SizeSpec,
    "a size, a range or weights, such as \"4k\", \"4k-64k\", \"4k:60,64k:40\"",
    |n| Some(SizeSpec::Fixed(Bytes(n)))
);
text_serde!(Mix, "a mix such as \"read\" or \"read:70,write:30\"", |_| None);

#[cfg(test)]
mod tests;
