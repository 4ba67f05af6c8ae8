//! warp, the benchmark of object stores: its command lines, its result files, and their analysis.
//!
//! [`options::read`] reads a command line, [`plan::lower`] lowers a benchmark to a plan, and
//! [`results::of`] has its results. [`file`] reads and writes `.csv.zst` and `.json.zst`,
//! [`report::Report`] is the result of one operation, and [`text`] prints it as warp does. Nothing
//! here opens a file or a socket.
//!
//! ```
//! let coverage = candor_warp::options::coverage();
//! assert!(coverage.works > 50 && coverage.works <= coverage.listed);
//! ```

pub mod aggregate;
pub mod autoterm;
pub mod compare;
pub mod file;
pub mod merge;
pub mod options;
mod page;
pub mod plan;
pub mod report;
pub mod results;
pub mod text;
pub mod timing;
pub mod values;

pub use page::ABOUT;
