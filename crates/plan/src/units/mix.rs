//! Directions of I/O and their shares.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::UnitError;
use super::number::quote;
use super::spec::parse_percent;

/// A direction of I/O.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Bytes to the host.
    Read,
    /// Bytes to the target.
    Write,
    /// Blocks given back (discard, hole punching).
    Trim,
}

impl Direction {
    /// All directions, in the order of reports.
    pub const ALL: [Direction; 3] = [Direction::Read, Direction::Write, Direction::Trim];

    /// The name used in plans and reports.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
            Direction::Trim => "trim",
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
    pub fn of(self, op: Direction) -> u8 {
        match op {
            Direction::Read => self.read,
            Direction::Write => self.write,
            Direction::Trim => self.trim,
        }
    }

    fn of_mut(&mut self, op: Direction) -> &mut u8 {
        match op {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
            Direction::Trim => &mut self.trim,
        }
    }

    /// The sum of the shares: 100 in a mix that was read from text.
    pub fn total(self) -> u32 {
        Direction::ALL.into_iter().map(|op| u32::from(self.of(op))).sum()
    }

    /// True if anything on the target changes.
    pub fn destroys(self) -> bool {
        self.write > 0 || self.trim > 0
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = Direction::ALL.into_iter().filter(|op| self.of(*op) > 0).collect();
        if let [only] = parts[..] {
            return f.write_str(only.name());
        }
        let parts: Vec<_> =
            parts.into_iter().map(|op| format!("{}:{}", op.name(), self.of(op))).collect();
        f.write_str(&parts.join(","))
    }
}

const MIX_HOW: &str = "write read, write or trim, or shares that add up to 100, such as \
                       read:70,write:30";

impl FromStr for Mix {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let parts: Vec<_> = text.split(',').collect();
        if parts.len() > Direction::ALL.len() {
            return Err(UnitError(format!("{} has too many parts; {MIX_HOW}", quote(text))));
        }
        let mut mix = Mix { read: 0, write: 0, trim: 0 };
        for part in &parts {
            let (op, percent) = parse_part(part, parts.len() == 1)?;
            match mix.of_mut(op) {
                share if *share == 0 => *share = percent,
                _ => {
                    let name = op.name();
                    return Err(UnitError(format!("`{name}` is given twice; {MIX_HOW}")));
                }
            }
        }
        match mix.total() {
            100 => Ok(mix),
            total => Err(UnitError(format!(
                "{} adds up to {total} %, not to 100 %; {MIX_HOW}",
                quote(text)
            ))),
        }
    }
}

/// One part of a mix, `read:70`, or, where it is the only one, `read`.
fn parse_part(part: &str, only: bool) -> Result<(Direction, u8), UnitError> {
    let (name, percent) = match part.split_once(':') {
        Some((name, percent)) => (name, parse_percent(percent)?),
        None if only => (part, 100),
        None => {
            return Err(UnitError(format!("{} has no share; {MIX_HOW}", quote(part))));
        }
    };
    let op = Direction::ALL.into_iter().find(|op| op.name() == name.trim());
    let op = op.ok_or_else(|| {
        UnitError(format!("{} is not read, write or trim; {MIX_HOW}", quote(name)))
    })?;
    Ok((op, percent))
}
