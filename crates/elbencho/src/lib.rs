//! elbencho: options, the plan of a command line, and the output.
//!
//! [`options::read`] gives typed [`options::Options`]; [`setup::Setup`] adds the kinds of the
//! paths; [`plan::lower`] makes the plan; [`output`] prints the table, CSV, JSON and live lines of
//! its phases. Nothing here opens a target or runs a program.
//!
//! ```
//! let coverage = candor_elbencho::options::TABLE.coverage();
//! assert!(coverage.works > 100 && coverage.works <= coverage.listed);
//! ```

mod grammar;
pub mod options;
pub mod output;
mod page;
mod paths;
pub mod plan;
pub mod setup;

pub use page::ABOUT;
