//! Values that follow from records: pure functions of the types of `candor-record`.
//!
//! - Of a report: [`results()`] (the form that results of all tools share), [`repeats`],
//!   [`NameTable`], [`host_rows`], [`io500`], [`replay`] (its events), [`summary`] (the verdict in
//!   one line).
//! - Of samples and events: [`Rates`], [`DeviceRates`], [`RunProgress`].
//! - Of the history: [`trend`], the documents about several runs.
//!
//! `candor-judge` stores repeats and the summary in the judgement of a report.
//!
//! ```
//! use candor_derive::{per_second, spread};
//!
//! assert_eq!(per_second(50, 500_000_000), 100.0);
//! let repeats = spread(&[98.0, 100.0, 102.0]).unwrap();
//! assert_eq!((repeats.mean, repeats.stddev), (100.0, 2.0));
//! ```

mod hosts;
pub mod io500;
mod name_table;
mod rates;
mod repeats;
mod replay;
mod results;
mod run_progress;
pub mod summary;
pub mod trend;

pub use hosts::{HostRow, host_rows};
pub use name_table::{NameRate, NameRow, NameTable};
pub use rates::{DeviceRates, Rates, per_second};
pub use repeats::{repeats, spread};
pub use replay::replay;
pub use results::{load, results, search_results};
pub use run_progress::{Left, RunProgress};
