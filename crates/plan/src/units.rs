//! Bytes, times, rates and the small languages in which people write them.
//!
//! A size is a number with an optional suffix. A bare letter (`k m g t p`, either case) and the
//! `KiB` family mean powers of 1024; the `kB` family means powers of 1000. Fractions are taken
//! where they come out whole: `1.5k` is 1536 bytes. A time takes `ns us ms s m h d` and sums of
//! them (`1m30s`); it must name its unit.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// Bytes per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BytesPerSec(pub u64);

/// Operations per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpsPerSec(pub u64);

impl Nanos {
    /// The time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// A whole number of seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Nanos(secs * 1_000_000_000)
    }
}

/// A text that is not what it should be, as a sentence fragment with the text in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnitError(String);

const BINARY: [(&str, u32); 5] = [("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];

impl fmt::Display for Bytes {
    /// The largest binary unit that divides it: `4KiB`, `1000B`. [`Bytes::from_str`] reads it back.
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
    /// The largest of `s ms us ns` that divides it. [`Nanos::from_str`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)] {
            if self.0 % size == 0 {
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

/// Splits `1.5k` into its decimal number, as digits and number of fractional digits, and the rest.
fn split_number(text: &str) -> Option<(u128, u32, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || number.ends_with('.') || fraction.len() > 9 || whole.len() > 20 {
        return None;
    }
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, fraction.len() as u32, rest))
}

/// `digits / 10^places * scale`, where that is a whole number that fits.
fn scaled(digits: u128, places: u32, scale: u64) -> Option<u64> {
    let product = digits.checked_mul(u128::from(scale))?;
    let divisor = 10u128.pow(places);
    (product % divisor == 0).then(|| u64::try_from(product / divisor).ok()).flatten()
}

fn size_scale(suffix: &str) -> Option<u64> {
    let lower = suffix.to_ascii_lowercase();
    let power = |letter: char| "kmgtp".find(letter).map(|i| i as u32 + 1);
    let mut letters = lower.chars();
    match (letters.next(), letters.as_str()) {
        (None, _) | (Some('b'), "") => Some(1),
        (Some(letter), "" | "i" | "ib") => Some(1 << (10 * power(letter)?)),
        (Some(letter), "b") => Some(1000u64.pow(power(letter)?)),
        _ => None,
    }
}

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        split_number(text.trim())
            .and_then(|(digits, places, suffix)| {
                scaled(digits, places, size_scale(suffix.trim_start())?)
            })
            .map(Bytes)
            .ok_or_else(|| {
                UnitError(format!(
                    "`{text}` is not a size; write a number and k, m, g, t or p (powers of 1024), \
                     or kB, MB, … (powers of 1000), giving whole bytes"
                ))
            })
    }
}

fn time_scale(suffix: &str) -> Option<u64> {
    Some(match suffix {
        "ns" => 1,
        "us" | "µs" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    })
}

fn parse_time(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let mut rest = text;
    let mut total = 0u64;
    while !rest.is_empty() {
        let (digits, places, after) = split_number(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        total = total.checked_add(scaled(digits, places, time_scale(&after[..end])?)?)?;
        rest = &after[end..];
    }
    (!text.is_empty()).then_some(total)
}

impl FromStr for Nanos {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        parse_time(text.trim()).map(Nanos).ok_or_else(|| {
            UnitError(format!(
                "`{text}` is not a time; write a number with ns, us, ms, s, m, h or d, such as 30s"
            ))
        })
    }
}

impl FromStr for BytesPerSec {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        text.strip_suffix("/s").unwrap_or(text).parse().map(|b: Bytes| BytesPerSec(b.0))
    }
}

impl FromStr for OpsPerSec {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        split_number(text.strip_suffix("/s").unwrap_or(text).trim())
            .and_then(|(digits, places, suffix)| {
                let scale = match suffix {
                    "" => 1,
                    "k" => 1000,
                    "m" | "M" => 1_000_000,
                    _ => return None,
                };
                scaled(digits, places, scale)
            })
            .map(OpsPerSec)
            .ok_or_else(|| {
                UnitError(format!("`{text}` is not a rate; write operations per second, as 20k"))
            })
    }
}

/// A value that people write as text, or as a bare number where that is unambiguous.
macro_rules! text_serde {
    ($type:ty, $expecting:literal, $from_number:expr) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct TextVisitor;
                impl Visitor<'_> for TextVisitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expecting)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_u64<E: de::Error>(self, number: u64) -> Result<$type, E> {
                        let make: fn(u64) -> Option<$type> = $from_number;
                        make(number).ok_or_else(|| {
                            E::invalid_value(de::Unexpected::Unsigned(number), &self)
                        })
                    }
                    fn visit_i64<E: de::Error>(self, number: i64) -> Result<$type, E> {
                        u64::try_from(number)
                            .map_err(|_| E::invalid_value(de::Unexpected::Signed(number), &self))
                            .and_then(|number| self.visit_u64(number))
                    }
                }
                deserializer.deserialize_any(TextVisitor)
            }
        }
    };
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

/// A part of something: absolute, or a share of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// So many bytes.
    Bytes(Bytes),
    /// Percent of the whole, 0 to 100.
    Percent(f64),
}

impl Extent {
    /// Its length within a whole of `whole` bytes, rounded down.
    pub fn of(self, whole: Bytes) -> Bytes {
        match self {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(percent) => Bytes((whole.0 as f64 * percent / 100.0) as u64),
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
                _ => Err(UnitError(format!("`{text}` is not a share between 0% and 100%"))),
            },
        }
    }
}

/// Bytes per operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeSpec {
    /// Always the same.
    Fixed(Bytes),
    /// Uniform between the two, in steps of the smaller.
    Range(Bytes, Bytes),
    /// Drawn with the given weights, in percent, that add up to 100.
    Weighted(Vec<(Bytes, u8)>),
}

impl SizeSpec {
    /// The smallest size that can occur.
    pub fn min(&self) -> Bytes {
        match self {
            SizeSpec::Fixed(size) | SizeSpec::Range(size, _) => *size,
            SizeSpec::Weighted(list) => list.iter().map(|w| w.0).min().unwrap_or_default(),
        }
    }

    /// The largest size that can occur.
    pub fn max(&self) -> Bytes {
        match self {
            SizeSpec::Fixed(size) | SizeSpec::Range(_, size) => *size,
            SizeSpec::Weighted(list) => list.iter().map(|w| w.0).max().unwrap_or_default(),
        }
    }
}

impl fmt::Display for SizeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SizeSpec::Fixed(size) => size.fmt(f),
            SizeSpec::Range(low, high) => write!(f, "{low}-{high}"),
            SizeSpec::Weighted(list) => {
                let parts: Vec<_> =
                    list.iter().map(|(size, pct)| format!("{size}:{pct}")).collect();
                f.write_str(&parts.join(","))
            }
        }
    }
}

impl FromStr for SizeSpec {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        if let Some((low, high)) = text.split_once('-') {
            return Ok(SizeSpec::Range(low.parse()?, high.parse()?));
        }
        if !text.contains(':') {
            return text.parse().map(SizeSpec::Fixed);
        }
        let weighted = |part: &str| {
            let (size, percent) = part.split_once(':').ok_or_else(|| {
                UnitError(format!("`{part}` has no weight; write SIZE:PERCENT, such as 4k:60"))
            })?;
            Ok((size.parse()?, parse_percent(percent)?))
        };
        text.split(',').map(weighted).collect::<Result<_, _>>().map(SizeSpec::Weighted)
    }
}

fn parse_percent(text: &str) -> Result<u8, UnitError> {
    text.trim()
        .trim_end_matches('%')
        .parse()
        .ok()
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| UnitError(format!("`{text}` is not a whole percentage between 0 and 100")))
}

/// A direction of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    /// Bytes to the host.
    Read,
    /// Bytes to the target.
    Write,
    /// Blocks given back (discard, hole punching).
    Trim,
}

impl Op {
    /// All directions, in the order of reports.
    pub const ALL: [Op; 3] = [Op::Read, Op::Write, Op::Trim];

    /// The name used in plans and reports.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
        }
    }
}

/// Share of reads, writes and trims in percent; they add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mix {
    /// Percent of reads.
    pub read: u8,
    /// Percent of writes.
    pub write: u8,
    /// Percent of trims.
    pub trim: u8,
}

impl Mix {
    /// Reads only.
    pub const READ: Mix = Mix { read: 100, write: 0, trim: 0 };
    /// Writes only.
    pub const WRITE: Mix = Mix { read: 0, write: 100, trim: 0 };
    /// Trims only.
    pub const TRIM: Mix = Mix { read: 0, write: 0, trim: 100 };

    /// The share of a direction, in percent.
    pub fn of(self, op: Op) -> u8 {
        match op {
            Op::Read => self.read,
            Op::Write => self.write,
            Op::Trim => self.trim,
        }
    }

    /// True if anything on the target changes.
    pub fn destroys(self) -> bool {
        self.write > 0 || self.trim > 0
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = Op::ALL.into_iter().filter(|op| self.of(*op) > 0).collect();
        if let [only] = parts[..] {
            return f.write_str(only.name());
        }
        let parts: Vec<_> =
            parts.into_iter().map(|op| format!("{}:{}", op.name(), self.of(op))).collect();
        f.write_str(&parts.join(","))
    }
}

impl FromStr for Mix {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let mut mix = Mix { read: 0, write: 0, trim: 0 };
        let mut total = 0;
        for part in text.split(',') {
            let (op, percent) = part.split_once(':').unwrap_or((part, "100"));
            let percent = parse_percent(percent)?;
            total += u32::from(percent);
            match op.trim() {
                "read" => mix.read += percent.min(100 - mix.read),
                "write" => mix.write += percent.min(100 - mix.write),
                "trim" => mix.trim += percent.min(100 - mix.trim),
                _ => return Err(UnitError(format!("`{op}` is not read, write or trim"))),
            }
        }
        match total {
            100 => Ok(mix),
            _ => Err(UnitError(format!("`{text}` adds up to {total}, not to 100 percent"))),
        }
    }
}

/// A value for each direction: written once for all, or as a table `{ read = …, write = … }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerOp<T> {
    /// For reads.
    pub read: T,
    /// For writes.
    pub write: T,
    /// For trims.
    pub trim: T,
}

impl<T: Default> Default for PerOp<T> {
    fn default() -> Self {
        PerOp { read: T::default(), write: T::default(), trim: T::default() }
    }
}

impl<T> PerOp<T> {
    /// The same for every direction.
    pub fn all(value: T) -> Self
    where
        T: Clone,
    {
        PerOp { read: value.clone(), write: value.clone(), trim: value }
    }

    /// The value for a direction.
    pub fn of(&self, op: Op) -> &T {
        match op {
            Op::Read => &self.read,
            Op::Write => &self.write,
            Op::Trim => &self.trim,
        }
    }

    /// The value for a direction, to change it.
    pub fn of_mut(&mut self, op: Op) -> &mut T {
        match op {
            Op::Read => &mut self.read,
            Op::Write => &mut self.write,
            Op::Trim => &mut self.trim,
        }
    }

    /// Values with their directions.
    pub fn iter(&self) -> impl Iterator<Item = (Op, &T)> {
        Op::ALL.into_iter().map(|op| (op, self.of(op)))
    }
}

impl<T: Serialize + PartialEq> Serialize for PerOp<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.read == self.write && self.write == self.trim {
            return self.read.serialize(serializer);
        }
        serializer.collect_map(self.iter().map(|(op, value)| (op.name(), value)))
    }
}

impl<'de, T: Deserialize<'de> + Clone> Deserialize<'de> for PerOp<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PerOpVisitor(std::marker::PhantomData))
    }
}

struct PerOpVisitor<T>(std::marker::PhantomData<T>);

impl<'de, T: Deserialize<'de> + Clone> Visitor<'de> for PerOpVisitor<T> {
    type Value = PerOp<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value, or a table of read, write and trim")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        T::deserialize(de::value::StrDeserializer::new(text)).map(PerOp::all)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        T::deserialize(de::value::U64Deserializer::new(number)).map(PerOp::all)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(de::value::I64Deserializer::new(number)).map(PerOp::all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut given: PerOp<Option<T>> = PerOp::all(None);
        while let Some(op) = map.next_key::<Op>()? {
            *given.of_mut(op) = Some(map.next_value()?);
        }
        let first = given.read.clone().or(given.write.clone()).or(given.trim.clone());
        let first = first.ok_or_else(|| de::Error::custom("the table is empty"))?;
        let or_first = |value: Option<T>| value.unwrap_or_else(|| first.clone());
        Ok(PerOp {
            read: or_first(given.read),
            write: or_first(given.write),
            trim: or_first(given.trim),
        })
    }
}

#[cfg(test)]
mod tests;
