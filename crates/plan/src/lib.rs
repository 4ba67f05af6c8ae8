//! The workload model of candor: the work, its targets, its pace and its end.
//!
//! A [`Plan`] is an ordered list of [`Phase`]s. A phase is a set of [`Job`]s that start and end
//! together. A job is a number of identical workers that do one kind of [`Work`]: [`Blocks`]
//! (reads, writes and trims of bytes), [`Entries`] (operations on named files and directories),
//! [`Objects`] (requests on objects of buckets), programs, CPU time or memory. The languages of all
//! other tools are translated into these types, so nothing here is named after a tool.
//!
//! A plan is read from text, checked once before anything is opened, and not changed afterwards.
//! Everything that depends on a worker's number follows from (rank, ranks, host, hosts), so a plan
//! is the same on every host.
//!
//! ```
//! let toml = "version = 2\n\
//!     [[target]]\nname = \"data\"\npath = \"/srv/data\"\nkind = \"file\"\nsize = \"1g\"\n\
//!     [[phase]]\nname = \"read\"\nstop.time = \"20s\"\n\
//!     [[phase.job]]\ntargets = [\"data\"]\n\
//!     work.blocks = { access = \"random\", size = \"4k\" }\n";
//! let Ok((plan, _)) = candor_plan::text::read("a.toml", toml) else { panic!("not a plan") };
//! assert_eq!(plan.phases[0].jobs.len(), 1);
//! assert!(candor_plan::check::can_run(&candor_plan::check::check(&plan)));
//! ```

mod access;
mod advice;
pub mod blocks;
pub mod bucket;
pub mod check;
mod content;
pub mod engine;
pub mod entries;
mod file_name;
pub mod listing;
mod measure;
pub mod memory;
mod model;
mod nearest;
pub mod objects;
mod omit;
mod operation;
mod pace;
pub mod path_text;
mod pattern;
pub mod permutation;
pub mod problem;
mod program;
pub mod rank;
mod rank_order;
pub mod shell;
mod spread;
mod target;
#[cfg(test)]
mod tests;
pub mod text;
mod text_serde;
mod threads;
pub mod trace;
pub mod tree;
pub mod units;
mod upload_headers;
pub mod values;
mod verify;
pub mod visible;
pub mod work;
mod zones;

pub use blocks::{Blocks, Engine};
pub use bucket::Bucket;
pub use entries::Entries;
pub use file_name::FileName;
pub use listing::{List, ListError, Listing};
pub use measure::{LogPlan, Measure, OperationsLog};
pub use memory::{Memory, MemoryAccess};
pub use model::{
    Hook, Hooks, Job, OnDone, OnFailure, PLAN_VERSION, Phase, Placement, Plan, RampAmount,
    RankPart, Sharing, Steady, SteadyFigure, SteadyFit, Stonewall, Stop, Tolerated,
};
pub use nearest::nearest;
pub use objects::Objects;
pub use path_text::{PathText, path_of};
pub use problem::{PathStep, PlanPath, Problem, Severity, Source};
pub use program::{Burn, Program};
pub use rank_order::{DataOf, RankOrder};
pub use target::{Create, Layout, Member, Target, TargetKind, files_below};
pub use threads::{ControlGroup, MemoryPolicy, Threads};
pub use tree::Tree;
pub use units::{Bytes, BytesPerSec, Nanos, OpsPerSec};
pub use work::Work;
