//! md-workbench: options, the window of objects, the plan, and the output.
//!
//! [`options::Options`] is the command line; [`setup::Setup`] adds the position of the window,
//! which an earlier run may have stored; [`plan::lower`] makes the plan; [`output`] prints lines,
//! documents and latency files; `session` is a run. Nothing here opens a target or runs a program.
//!
//! ```
//! let coverage = candor_md_workbench::options::TABLE.coverage();
//! assert!(coverage.works > 20 && coverage.works <= coverage.listed);
//! ```

pub mod options;
pub mod output;
mod page;
pub mod plan;
mod session;
pub mod setup;

pub use session::MdWorkbench;
