//! IOR: options and scripts, the plan of their tests, and the output.
//!
//! [`options::read`] makes tests from a command line and the script that it names;
//! [`setup::TestSetup`] is a test on a known host; [`plan::lower`] makes one plan of all tests;
//! [`output`] prints tables, CSV and JSON; `session` is a run. Nothing here opens a target or runs
//! a program.
//!
//! ```
//! let coverage = candor_ior::options::TABLE.coverage();
//! assert!(coverage.works > 50 && coverage.works <= coverage.listed);
//! ```

mod grammar;
pub mod options;
pub mod output;
mod page;
pub mod plan;
mod schedule;
mod session;
pub mod setup;

pub use session::Ior;
