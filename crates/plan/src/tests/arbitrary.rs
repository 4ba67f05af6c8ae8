//! Arbitrary plans. Types derive `arbitrary::Arbitrary`; this file has the types with constraints.

use arbitrary::{Arbitrary, Result, Unstructured};
use proptest::prelude::*;

use crate::blocks::Pattern;
use crate::bucket::KeyPrefix;
use crate::tree::EntryName;
use crate::units::{Mix, PerDirection};
use crate::{Bytes, FileName, LogPlan};

/// Values made from drawn bytes, about `length` at most; missing bytes are zeros.
pub fn values<T: for<'b> Arbitrary<'b> + std::fmt::Debug>(
    length: usize,
) -> impl Strategy<Value = T> {
    prop::collection::vec(runs(), 0..length / 4).prop_map(|runs| {
        T::arbitrary(&mut Unstructured::new(&runs.concat())).expect("no value needs bytes")
    })
}

/// Any bytes, or one byte several times, so that smallest and largest numbers occur.
fn runs() -> impl Strategy<Value = Vec<u8>> {
    let edges = prop::sample::select(vec![0, 1, 0x7f, 0x80, 0xff]);
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 1..8),
        1 => (edges, 1..12_usize).prop_map(|(byte, length)| vec![byte; length]),
    ]
}

/// A list of up to three elements; half of all derived lists are empty.
pub fn few<'b, T: Arbitrary<'b>>(from: &mut Unstructured<'b>) -> Result<Vec<T>> {
    (0..from.int_in_range(0..=3)?).map(|_| from.arbitrary()).collect()
}

/// A number with the drawn bits; 0 replaces numbers that are not finite.
pub fn finite(from: &mut Unstructured) -> Result<f64> {
    f64::arbitrary(from).map(|number| if number.is_finite() { number } else { 0.0 })
}

pub fn finite_or_none(from: &mut Unstructured) -> Result<Option<f64>> {
    if from.arbitrary()? { finite(from).map(Some) } else { Ok(None) }
}

pub fn finite_per_direction(from: &mut Unstructured) -> Result<PerDirection<f64>> {
    Ok(PerDirection { read: finite(from)?, write: finite(from)?, trim: finite(from)? })
}

/// A share of 0 to 100 %.
pub fn percent(from: &mut Unstructured) -> Result<f64> {
    Ok(f64::from(u32::arbitrary(from)?) / f64::from(u32::MAX) * 100.0)
}

/// At least one size, each with a share of 0 to 100 %.
pub fn weights(from: &mut Unstructured) -> Result<Vec<(Bytes, u8)>> {
    let length = from.int_in_range(1..=4)?;
    (0..length).map(|_| Ok((from.arbitrary()?, from.int_in_range(0..=100)?))).collect()
}

/// A log that is not off, or the default: the settings of a log that is off are not printed.
pub fn log(from: &mut Unstructured) -> Result<LogPlan> {
    LogPlan::arbitrary(from).map(|log| if log.is_off() { LogPlan::default() } else { log })
}

impl Arbitrary<'_> for Mix {
    fn arbitrary(from: &mut Unstructured) -> Result<Mix> {
        let read = from.int_in_range(0..=100)?;
        let write = from.int_in_range(0..=100 - read)?;
        Ok(Mix { read, write, trim: 100 - read - write })
    }
}

impl Arbitrary<'_> for FileName {
    fn arbitrary(from: &mut Unstructured) -> Result<FileName> {
        Ok(FileName::joined(Vec::<String>::arbitrary(from)?))
    }
}

impl Arbitrary<'_> for EntryName {
    fn arbitrary(from: &mut Unstructured) -> Result<EntryName> {
        let names = ["r{rank}", "t", "d{child}", "{directory:04}", "{{{item}", "r{rank}-f{number}"];
        Ok(from.choose(&names)?.parse().expect("a name"))
    }
}

impl Arbitrary<'_> for Pattern {
    fn arbitrary(from: &mut Unstructured) -> Result<Pattern> {
        let pattern = Pattern::empty().then(&u64::arbitrary(from)?.to_be_bytes());
        let pattern = if from.arbitrary()? { pattern.then_offset() } else { pattern };
        let every = from.arbitrary()?;
        Ok(match from.int_in_range(0..=2)? {
            0 => pattern,
            1 => pattern.at_each(every),
            _ => pattern.anew_every(every),
        })
    }
}

impl<'b> Arbitrary<'b> for KeyPrefix {
    fn arbitrary(from: &mut Unstructured<'b>) -> Result<KeyPrefix> {
        let digits = from.int_in_range(0..=16)?;
        let after = if digits == 0 { String::new() } else { from.arbitrary()? };
        Ok(KeyPrefix { before: from.arbitrary()?, digits, after })
    }
}
