//! The options of one job, typed: what a section *has* set, one struct per topic. Nothing of the
//! host is known here; what depends on it stays as it was said.

mod engine;
mod files;
mod logs;
mod pace;
mod process;
mod runtime;
mod verify;
mod work;
mod zones;

pub use super::values::Amount;
pub use candor_front::{Choice, Given, GivenOption};
pub use engine::*;
pub use files::*;
pub use logs::*;
pub use pace::*;
pub use process::*;
pub use runtime::*;
pub use verify::*;
pub use work::*;
pub use zones::*;

/// Everything that a section says. The default of each is in its row of the table of options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// Name and description.
    pub about: About,
    /// Run time and repeats.
    pub runtime: Runtime,
    /// Directions and mix.
    pub rw: Rw,
    /// Block sizes.
    pub blocks: BlockSizes,
    /// Amounts and offsets.
    pub area: Area,
    /// Random offsets.
    pub random: Random,
    /// Engine and depth.
    pub issue: Issue,
    /// Which files.
    pub files: Files,
    /// Making and removing files.
    pub making: Making,
    /// When writes are made durable.
    pub durability: Durability,
    /// Contents of buffers.
    pub buffers: Buffers,
    /// Memory of the buffers.
    pub memory: Memory,
    /// Rates.
    pub rate: Rate,
    /// Think time.
    pub think: Think,
    /// Latency goals.
    pub goals: Goals,
    /// Shares between jobs.
    pub flow: Flow,
    /// Verification.
    pub verify: Verify,
    /// Traces.
    pub trace: Trace,
    /// Groups and ends.
    pub process: Process,
    /// Where and as whom.
    pub place: Place,
    /// Zones.
    pub zones: Zones,
    /// Log files.
    pub logs: Logs,
    /// Statistics that are reported.
    pub statistics: Statistics,
    /// Errors.
    pub errors: Errors,
    /// Options that only some engines have.
    pub engine: EngineOptions,
    /// Which options were given, and where.
    pub given: Given,
}
