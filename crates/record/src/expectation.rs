//! Conditions that a user expects results to meet.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Unit;

/// A condition of `--expect`, and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// The condition, such as `load/db: commit p99 < 10ms`.
    pub condition: String,
    /// Result over all figures that the condition selects: the most severe.
    pub result: ExpectationResult,
    /// The figure that decides, in its unit; absent where no figure is known.
    pub value: Option<f64>,
    /// The limit, in the same unit.
    pub limit: f64,
    /// Unit of both.
    pub unit: Unit,
    /// Phase of the figure that decides; empty where no phase has it.
    pub phase: String,
    /// Job of the figure that decides.
    pub job: String,
    /// Operation of the figure that decides.
    pub operation: String,
    /// The figure and the reason, in a sentence.
    pub sentence: String,
}

/// Result of an expectation, from the least to the most severe.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ExpectationResult {
    /// Every figure is within the limit, and each is a result of the storage.
    Met,
    /// A figure is missing, or is not a result of the storage.
    #[default]
    CannotTell,
    /// A figure of the storage is beyond the limit.
    NotMet,
}

impl ExpectationResult {
    /// The result in words.
    pub fn label(self) -> &'static str {
        match self {
            ExpectationResult::Met => "met",
            ExpectationResult::CannotTell => "undecided",
            ExpectationResult::NotMet => "not met",
        }
    }
}
