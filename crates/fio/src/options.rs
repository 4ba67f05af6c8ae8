//! Options of a job: typed fields, and the table with one row per option.
//!
//! Reading, refusals, notes, help and the support matrix come from the rows. Each topic has one
//! file with its fields, rows and readers of values. A default is in its row only ([`defaults`]).

mod absent;
mod apply;
mod area;
mod blocks;
mod buffers;
mod description;
mod engine_names;
mod engines;
mod files;
mod http;
mod io;
mod kind;
mod logs;
mod own;
mod pace;
mod processes;
mod random;
mod read;
mod runtime;
#[cfg(test)]
mod tests;
mod trace;
mod value;
mod verify;
mod zones;

pub use apply::defaults;
pub use area::Area;
pub use blocks::BlockSizes;
pub use buffers::{Buffers, DedupeMode, Memory, MemoryKind};
pub use description::About;
pub use engine_names::{ENGINES, EngineName, engine};
pub use engines::{
    CpuMode, EngineOptions, NvmeWrite, Priorities, PrioritySplit, SgWrite, StatType,
};
pub use files::{
    Advice, Durability, FORMAT, Fallocate, FileService, FileType, Files, Lock, Making, NamedFile,
    Service, SyncFileRange, WriteHint,
};
pub use http::{Http, HttpMode, Https, ObjectMode};
pub use io::{Issue, OpenSync, Rw, RwMode, Sequencer, SubmitMode};
pub use kind::{Kind, Parsed, Row};
pub use logs::{
    ContinueOn, Errors, KbBase, LogName, LogValue, Logs, Statistics, Unified, UnitBase,
};
pub use pace::{Flow, Goals, Rate, RateProcess, Think, ThinkBlocks};
pub use processes::{CpuPolicy, ExitWhat, MemoryPolicy, Place, Process};
pub use random::{Distribution, Generator, Precondition, Random};
pub use read::{Reading, notes, read, refusals};
pub use runtime::{Runtime, Steady, SteadyOf};
pub use trace::{Skip, Trace};
pub use verify::{Method, Verify, VerifyPolicy};
pub use zones::{ZoneMode, Zones};

pub use crate::values::Amount;
use candor_front::{Given, Group, Table};

/// Options of one section. The default of each is in its row of [`TABLE`].
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
    /// Names and use of files.
    pub files: Files,
    /// Creation and removal of files.
    pub making: Making,
    /// Durability of writes.
    pub durability: Durability,
    /// Contents of buffers.
    pub buffers: Buffers,
    /// Memory of buffers.
    pub memory: Memory,
    /// Rates.
    pub rate: Rate,
    /// Think time.
    pub think: Think,
    /// Latency goals.
    pub goals: Goals,
    /// Flow between jobs.
    pub flow: Flow,
    /// Verification.
    pub verify: Verify,
    /// Traces.
    pub trace: Trace,
    /// Order and end of jobs.
    pub process: Process,
    /// CPUs, nodes, user and priority.
    pub place: Place,
    /// Zones.
    pub zones: Zones,
    /// Log files.
    pub logs: Logs,
    /// Statistics in the results.
    pub statistics: Statistics,
    /// Errors.
    pub errors: Errors,
    /// Options of single engines.
    pub engine: EngineOptions,
    /// Options of the engine `http`.
    pub http: Http,
    /// Options that were given, with their positions.
    pub given: Given,
}

const fn group(title: &'static str, rows: &'static [Row]) -> Group<Kind> {
    Group { title, rows }
}

/// All options, in the order of the matrix.
pub const TABLE: Table<Kind> = Table(&[
    group("Description of the job", description::ROWS),
    group("Units", logs::UNITS),
    group("Run time", runtime::ROWS),
    group("Direction, engine and depth", io::ROWS),
    group("Block sizes", blocks::ROWS),
    group("Sizes and offsets", area::ROWS),
    group("Random offsets", random::ROWS),
    group("Files", files::ROWS),
    group("Making and removing files", files::MAKING),
    group("Durability", files::DURABILITY),
    group("Contents of buffers", buffers::ROWS),
    group("Memory of buffers", buffers::MEMORY),
    group("Rates", pace::ROWS),
    group("Think time", pace::THINK),
    group("Latency goals", pace::GOALS),
    group("Flow between jobs", pace::FLOW),
    group("Verification", verify::ROWS),
    group("Traces", trace::ROWS),
    group("Processes and their order", processes::ROWS),
    group("User, host and directory of jobs", processes::PLACEMENT),
    group("Zones", zones::ROWS),
    group("Data placement", zones::DATA_PLACEMENT),
    group("Log files", logs::ROWS),
    group("Statistics", logs::STATISTICS),
    group("Errors", logs::ERRORS),
    group("Options of single engines", engines::ROWS),
    group("Options of single engines", engines::PROGRAMS),
    group("Options of single engines", http::ROWS),
    group("Options of single engines", absent::LACKING),
    group("Profiles", absent::PROFILES),
]);
