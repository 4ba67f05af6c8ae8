//! Units, and values without their unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Unit of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Bytes per second.
    BytesPerS,
    /// Operations per second.
    OpsPerS,
    /// Nanoseconds.
    Ns,
    /// Share of a whole, from 0 to 1.
    Share,
    /// Change as a share of what was: -0.03 is three percent less.
    Change,
    /// Degrees Celsius.
    Celsius,
    /// Number of things.
    Count,
    /// Quotient, or a mean number of things.
    Ratio,
    /// No number.
    Text,
}

/// A number, or a text where there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A finite number.
    Number(f64),
    /// A text.
    Text(String),
}
