//! What is measured and logged beside the usual.

use candor_plan::Blocks;

use super::{Instance, Told};

/// Logs, latency goals and steady state are refused by their rows so far.
pub(super) fn lower(_: &Instance<'_>, _: &mut Blocks, _: &mut Told) {}
