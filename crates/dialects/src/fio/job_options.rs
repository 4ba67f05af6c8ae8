//! What a section means after its options are read: typed, with fio's defaults, one struct per
//! topic. Nothing of the host is known here; what depends on it stays as it was said.

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
pub use crate::kit::{Choice, Given, GivenOption};
pub use engine::*;
pub use files::*;
pub use logs::*;
pub use pace::*;
pub use process::*;
pub use runtime::*;
pub use verify::*;
pub use work::*;
pub use zones::*;

/// Everything that a section says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// What the job is called.
    pub about: About,
    /// How long and how often.
    pub runtime: Runtime,
    /// Directions and mix.
    pub rw: Rw,
    /// Block sizes.
    pub blocks: BlockSizes,
    /// How much, and where.
    pub area: Area,
    /// Random offsets.
    pub random: Random,
    /// How operations are issued.
    pub issue: Issue,
    /// Which files.
    pub files: Files,
    /// How files come and go.
    pub making: Making,
    /// When writes are made durable.
    pub durability: Durability,
    /// What is written.
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
    /// What is reported.
    pub statistics: Statistics,
    /// Errors.
    pub errors: Errors,
    /// Options that only some engines have.
    pub engine: EngineOptions,
    /// Which options were given, and where.
    pub given: Given,
}
