//! Series of phases that choose their next step from the last result.
//!
//! A series drives a [`candor_run::Run`] on any [`candor_run::Runner`]: it knows nothing of hosts
//! or engines.

mod check;
#[cfg(test)]
mod fake;
mod io500;
mod saturate;
mod small_files;

pub use check::{CheckOptions, check, is_result, results};
pub use io500::{Io500Options, io500};
