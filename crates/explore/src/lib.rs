//! Series: sequences of phases that choose the next phase from the last result.
//!
//! [`check()`] is `candor check`: one large file, a search for the lowest depth with the full rate,
//! then small files. [`io500()`] is `candor scenario run io500`: phases in the order of IO500,
//! where the size that was written is the size that is read. A series drives a [`candor_run::Run`]
//! on any [`candor_run::Runner`], so it does not depend on hosts or engines.
//!
//! ```
//! let names = candor_explore::results(true, true);
//! assert!(names.iter().any(|name| name == "sequential write"));
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `check` | the steps of `candor check` and their share of the time |
//! | `saturate` | search for the lowest concurrency with the full rate |
//! | `small_files` | trees of small files |
//! | `io500` | the phases of IO500 |
//! | `objects` | the phases of `candor check` on a bucket |

mod check;
#[cfg(test)]
mod fake;
mod io500;
mod objects;
mod saturate;
mod small_files;

pub use check::{CheckOptions, check, results};
pub use io500::{Io500Options, io500};
pub use objects::{ObjectCheck, object_check};
