//! Deduplication of written data.

use crate::values::{self, Unit};
use candor_front::Refused;

/// Which blocks change with each rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlipFlop {
    /// None: a block has the same bytes for ever.
    #[default]
    No,
    /// All.
    Yes,
    /// Those of hot sets.
    Hot,
}

/// Deduplication, as general parameters or those of a storage definition ask for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dedup {
    /// Bytes written per byte kept.
    pub ratio: Option<f64>,
    /// Bytes of a block.
    pub unit: Option<u64>,
    /// Number of different blocks that are repeated; a negative number is a share of all blocks,
    /// in percent.
    pub sets: Option<f64>,
    /// Sets and how many blocks each has, in pairs.
    pub hot_sets: Vec<(u64, u64)>,
    /// Which blocks change.
    pub flip_flop: FlipFlop,
    /// Unique blocks are unique over all luns.
    pub across: Option<bool>,
    /// Greatest number of versions of a block.
    pub max_key: Option<u64>,
}

/// Share of blocks that repeat in sets without a number of their own, in percent.
pub const SETS_PERCENT: f64 = 5.0;

impl Dedup {
    /// True where any parameter of it is given.
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

/// Reads the bytes of a block.
///
/// # Errors
/// The number is no multiple of 512.
pub fn unit(text: &str) -> Result<u64, Refused> {
    let bytes = values::whole(text, Unit::Size, [512, 1 << 30])?;
    match bytes % 512 {
        0 => Ok(bytes),
        _ => Err(Refused::whole(text, format!("{bytes} is no multiple of 512"), "use 4k or 128k")),
    }
}

/// Reads a number of sets, or their share.
///
/// # Errors
/// The number is 0, or the share above 100 %.
pub fn sets(text: &str) -> Result<f64, Refused> {
    let sets = values::number(text, Unit::Size)?;
    if sets != 0.0 && sets >= -100.0 {
        Ok(sets)
    } else {
        Err(Refused::whole(text, format!("{text} sets are none"), "use 1 or more, or 5%"))
    }
}

/// Reads pairs of sets and blocks in each.
///
/// # Errors
/// Numbers are not in pairs, or 0.
pub fn hot_sets(text: &str) -> Result<Vec<(u64, u64)>, Refused> {
    let numbers = values::numbers(text, Unit::Size)?;
    let is_count = |number: &f64| (1.0..=1e6).contains(number);
    if numbers.len().is_multiple_of(2) && numbers.iter().all(is_count) {
        Ok(numbers.chunks(2).map(|pair| (pair[0] as u64, pair[1] as u64)).collect())
    } else {
        let remedy = "write sets and blocks in pairs, such as (10,2,20,3)";
        Err(Refused::whole(text, format!("`{text}` are no sets"), remedy))
    }
}

/// Reads which blocks change.
///
/// # Errors
/// The word is none of the choices.
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
    values::whole(text, Unit::Size, [1, 126])
}
