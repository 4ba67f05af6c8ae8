//! Deduplication of written data.

use crate::values::{self, Unit};
use candor_front::Refused;

/// Blocks that change with each rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlipFlop {
    /// None: a block keeps its bytes.
    #[default]
    No,
    /// All.
    Yes,
    /// Blocks of hot sets.
    Hot,
}

/// Deduplication settings of general parameters or of a storage definition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dedup {
    /// Deduplication ratio.
    pub ratio: Option<f64>,
    /// Block size in bytes.
    pub unit: Option<u64>,
    /// Number of different repeated blocks; a negative number is percent of all blocks.
    pub sets: Option<f64>,
    /// Pairs of a number of sets and the blocks in each.
    pub hot_sets: Vec<(u64, u64)>,
    /// Blocks that change.
    pub flip_flop: FlipFlop,
    /// Unique blocks are unique across all luns.
    pub across: Option<bool>,
    /// Maximum of versions of a block.
    pub max_key: Option<u64>,
}

/// Default of `dedupsets`, in percent.
pub const SETS_PERCENT: f64 = 5.0;

impl Dedup {
    /// True if any parameter is given.
    pub fn is_given(&self) -> bool {
        *self != Dedup::default()
    }
}

/// Reads a ratio.
///
/// # Errors
/// The number is below 1.
pub fn ratio(text: &str) -> Result<f64, Refused> {
    let ratio = values::number(text, Unit::Size)?;
    if (1.0..=1e6).contains(&ratio) {
        Ok(ratio)
    } else {
        Err(Refused::whole(text, format!("a ratio of {ratio} is below 1"), "use 1 or more"))
    }
}

/// Reads a block size.
///
/// # Errors
/// The size is not a multiple of 512.
pub fn unit(text: &str) -> Result<u64, Refused> {
    let bytes = values::whole(text, Unit::Size, 512..=1 << 30)?;
    match bytes % 512 {
        0 => Ok(bytes),
        _ => Err(Refused::whole(text, format!("{bytes} is no multiple of 512"), "use 4k or 128k")),
    }
}

/// Reads a number of sets, or their percentage.
///
/// # Errors
/// The number is 0, or the percentage exceeds 100.
pub fn sets(text: &str) -> Result<f64, Refused> {
    let sets = values::number(text, Unit::Size)?;
    if sets != 0.0 && sets >= -100.0 {
        Ok(sets)
    } else {
        Err(Refused::whole(text, format!("{text} sets are none"), "use 1 or more, or 5%"))
    }
}

/// Reads pairs of a number of sets and the blocks in each.
///
/// # Errors
/// A number is 0, or one of a pair is missing.
pub fn hot_sets(text: &str) -> Result<Vec<(u64, u64)>, Refused> {
    let numbers = values::numbers(text, Unit::Size)?;
    if numbers.len().is_multiple_of(2) && numbers.iter().all(|number| (1.0..=1e6).contains(number))
    {
        Ok(numbers.chunks(2).map(|pair| (pair[0] as u64, pair[1] as u64)).collect())
    } else {
        let remedy = "write sets and blocks in pairs, such as (10,2,20,3)";
        Err(Refused::whole(text, format!("`{text}` are no sets"), remedy))
    }
}

/// Reads `dedupflipflop=`.
///
/// # Errors
/// The word is unknown.
pub fn flip_flop(text: &str) -> Result<FlipFlop, Refused> {
    let word = values::word(text)?.to_ascii_lowercase();
    match word.as_bytes() {
        [b'y', ..] => Ok(FlipFlop::Yes),
        [b'n', ..] => Ok(FlipFlop::No),
        _ if word.starts_with("hot") => Ok(FlipFlop::Hot),
        _ => Err(values::no_choice(text, &word, &["yes", "no", "hotsets"])),
    }
}

/// Reads `dedupmaxkey=`.
///
/// # Errors
/// The number is not within 1 to 126.
pub fn max_key(text: &str) -> Result<u64, Refused> {
    values::whole(text, Unit::Size, 1..=126)
}
