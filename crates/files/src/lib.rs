//! Files of a command: the list of files in use, and the one writer of results.
//!
//! A command first names the files that it uses ([`uses`], [`uses_tree`]) and the files that it
//! will write ([`claim`], [`prepare`]). Both are compared by device and inode, so a result never
//! replaces a target, an input or a journal, also through a link. A refusal is a [`Refusal`] with a
//! remedy.
//!
//! [`replace`] and [`create`] write a regular file completely or not: a new file, fsync, rename.
//! [`append`] and [`stream`] write in place, after the same check. No other crate creates or
//! truncates a user's file; `xtask tidy` lists the exceptions.
//!
//! ```no_run
//! candor_files::uses("/data/file".as_ref(), candor_files::Use::Target)?;
//! candor_files::replace("rates.txt".as_ref(), "81.4k IOPS\n")?;
//! # Ok::<(), std::io::Error>(())
//! ```

mod identity;
mod in_use;
mod output;

pub use identity::is_same;
pub use in_use::{
    REMEDY, Refusal, Use, claim, claim_onto, has_refused, passes, refusal_of, uses, uses_tree,
};
pub use output::{Replacement, append, create, prepare, replace, stream};
