//! Explanation of a rule of the catalogue, for people.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::LimitClass;

/// A rule: what it finds, how, and from which numbers on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Name, such as `A1`.
    pub rule: String,
    /// Title of the finding, in five words or fewer.
    pub title: String,
    /// How it comes about, how the rule recognises it, and what helps: one paragraph.
    pub text: String,
    /// The rule can report before anything has run.
    pub preflight: bool,
    /// The kind of limit that it may name.
    pub limit: Option<LimitClass>,
    /// Rules that may take its finding in, because it follows from theirs or explains it.
    pub causes: Vec<String>,
    /// The numbers from which on it speaks; none where it needs no number.
    pub thresholds: Vec<Threshold>,
}

/// A number that separates a finding from none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Threshold {
    /// Quantity that it bounds, with its unit; shares are from 0 to 1.
    pub name: String,
    /// The number.
    pub value: f64,
    /// Origin of the value.
    pub source: String,
    /// Why it is what it is.
    pub reason: String,
}
