//! mdtest: options, the numbers of items, the plan, and the output.
//!
//! [`options::Options`] is the command line; [`setup::Setup`] adds the numbers of items and tasks;
//! [`plan::lower`] makes the plan; [`output`] prints the block of rates, CSV and JSON. Nothing
//! here opens a target or runs a program.
//!
//! ```
//! let coverage = candor_mdtest::options::TABLE.coverage();
//! assert!(coverage.works > 30 && coverage.works <= coverage.listed);
//! ```

pub mod options;
pub mod output;
mod page;
pub mod plan;
mod session;
pub mod setup;

pub use session::Mdtest;
