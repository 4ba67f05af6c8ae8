//! vdbench: parameter files, the runs that they define, a phase for each run, and the output
//! pages.
//!
//! [`file::read`] makes typed definitions; [`runs::expand`] lists the runs of all loops and
//! curves; [`lower::lower`] makes a phase of each run; [`output`] writes the pages. Nothing here
//! opens a target or runs a program.
//!
//! ```
//! assert_eq!(candor_vdbench::values::words("(a,b)").unwrap(), ["a", "b"]);
//! ```

pub mod definitions;
pub mod file;
mod kind;
pub mod lines;
pub mod lower;
pub mod options;
pub mod output;
mod page;
mod parameters;
pub mod runs;
pub mod values;

pub use kind::{Parameter, meant};
pub use page::ABOUT;
pub use parameters::Written;
