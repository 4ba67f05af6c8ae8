//! Sizes of operations and parts of targets.

use std::fmt;
use std::str::FromStr;

use super::number::quote;
use super::{Bytes, UnitError};

/// A part of something: absolute, or a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub enum Extent {
    /// A number of bytes.
    Bytes(Bytes),
    /// Percent of the whole, 0 to 100.
    Percent(#[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::percent))] f64),
}

impl Extent {
    /// The length within a whole of `whole` bytes, rounded down.
    pub fn of(self, whole: Bytes) -> Bytes {
        match self {
            Extent::Bytes(bytes) => bytes,
            // The product may round up beyond a whole that a float cannot hold exactly.
            Extent::Percent(percent) => {
                Bytes(((whole.0 as f64 * percent / 100.0) as u64).min(whole.0))
            }
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extent::Bytes(bytes) => bytes.fmt(f),
            Extent::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Extent {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match text.trim().strip_suffix('%') {
            None => text.parse().map(Extent::Bytes),
            Some(number) => match number.trim().parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Extent::Percent(percent)),
                _ => Err(UnitError(format!(
                    "{} is not a share; write a percentage from 0% to 100%",
                    quote(text)
                ))),
            },
        }
    }
}

/// Bytes per operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
pub enum SizeSpec {
    /// Always the same.
    Fixed(Bytes),
    /// Uniform between the two, in steps of the smaller.
    Range(Bytes, Bytes),
    /// Uniform between the two, in steps of the third.
    Stepped(Bytes, Bytes, Bytes),
    /// Drawn with the given weights, in percent, that add up to 100.
    Weighted(
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::weights))] Vec<(Bytes, u8)>,
    ),
}

impl SizeSpec {
    /// The smallest size that can occur.
    pub fn min(&self) -> Bytes {
        match self {
            SizeSpec::Fixed(size) | SizeSpec::Range(size, _) | SizeSpec::Stepped(size, ..) => *size,
            SizeSpec::Weighted(list) => list.iter().map(|w| w.0).min().unwrap_or_default(),
        }
    }

    /// The greatest number of bytes of which every size is a multiple.
    pub fn unit(&self) -> Bytes {
        fn gcd(a: u64, b: u64) -> u64 {
            if b == 0 { a } else { gcd(b, a % b) }
        }
        Bytes(match self {
            SizeSpec::Fixed(size) | SizeSpec::Range(size, _) => size.0,
            SizeSpec::Stepped(size, _, step) => gcd(size.0, step.0),
            SizeSpec::Weighted(list) => list.iter().map(|(size, _)| size.0).fold(0, gcd),
        })
    }

    /// A size by 64 random bits.
    pub fn drawn(&self, bits: u64) -> Bytes {
        match self {
            SizeSpec::Fixed(size) => *size,
            SizeSpec::Range(low, high) => stepped(bits, *low, *high, *low),
            SizeSpec::Stepped(low, high, step) => stepped(bits, *low, *high, *step),
            SizeSpec::Weighted(list) => {
                let mut left = below(bits, 100);
                let of = list.iter().find(|(_, percent)| {
                    let is_it = left < u64::from(*percent);
                    left = left.saturating_sub(u64::from(*percent));
                    is_it
                });
                of.or(list.last()).map_or(Bytes(0), |(size, _)| *size)
            }
        }
    }

    /// The largest size that can occur.
    pub fn max(&self) -> Bytes {
        match self {
            SizeSpec::Fixed(size) | SizeSpec::Range(_, size) | SizeSpec::Stepped(_, size, _) => {
                *size
            }
            SizeSpec::Weighted(list) => list.iter().map(|w| w.0).max().unwrap_or_default(),
        }
    }
}

/// A number below a bound, by 64 random bits.
fn below(bits: u64, bound: u64) -> u64 {
    ((u128::from(bits) * u128::from(bound)) >> 64) as u64
}

/// A size between two, in steps of a third, by 64 random bits.
fn stepped(bits: u64, low: Bytes, high: Bytes, step: Bytes) -> Bytes {
    let step = step.0.max(1);
    Bytes(low.0 + step * below(bits, high.0.saturating_sub(low.0) / step + 1))
}

impl fmt::Display for SizeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeSpec::Fixed(size) => size.fmt(f),
            SizeSpec::Range(low, high) => write!(f, "{low}-{high}"),
            SizeSpec::Stepped(low, high, step) => write!(f, "{low}-{high}/{step}"),
            SizeSpec::Weighted(list) => {
                let parts: Vec<_> =
                    list.iter().map(|(size, pct)| format!("{size}:{pct}")).collect();
                f.write_str(&parts.join(","))
            }
        }
    }
}

const SIZES_HOW: &str = "write one size (4k), two with a dash (4k-64k, or 4k-64k/512 for its \
                         steps), or sizes with percent that add up to 100 (4k:60,64k:40)";

impl FromStr for SizeSpec {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        match (text.split_once('-'), text.contains(':')) {
            (Some(_), true) => {
                Err(UnitError(format!("{} mixes ranges and weights; {SIZES_HOW}", quote(text))))
            }
            (Some((low, high)), false) => parse_range(text, low, high),
            (None, true) => text
                .split(',')
                .map(parse_weighted)
                .collect::<Result<_, _>>()
                .map(SizeSpec::Weighted),
            (None, false) if text.contains(',') => {
                Err(UnitError(format!("{} gives no weights; {SIZES_HOW}", quote(text))))
            }
            (None, false) => text.parse().map(SizeSpec::Fixed),
        }
    }
}

fn parse_range(text: &str, low: &str, high: &str) -> Result<SizeSpec, UnitError> {
    if low.trim().is_empty() || high.trim().is_empty() {
        return Err(UnitError(format!(
            "one end of the range {} is missing; {SIZES_HOW}",
            quote(text)
        )));
    }
    match high.split_once('/') {
        None => Ok(SizeSpec::Range(low.parse()?, high.parse()?)),
        Some((high, step)) => Ok(SizeSpec::Stepped(low.parse()?, high.parse()?, step.parse()?)),
    }
}

fn parse_weighted(part: &str) -> Result<(Bytes, u8), UnitError> {
    let (size, percent) = part.split_once(':').ok_or_else(|| {
        UnitError(format!("{} has no weight; write SIZE:PERCENT, such as 4k:60", quote(part)))
    })?;
    Ok((size.parse()?, parse_percent(percent)?))
}

/// A whole percentage, with or without its sign.
pub(super) fn parse_percent(text: &str) -> Result<u8, UnitError> {
    let number = text.trim();
    let number = number.strip_suffix('%').unwrap_or(number).trim_end();
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    number.parse().ok().filter(|percent| digits && *percent <= 100).ok_or_else(|| {
        UnitError(format!(
            "{} is not a percentage; write a whole number from 0 to 100",
            quote(text)
        ))
    })
}
