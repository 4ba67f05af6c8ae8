//! Steps over names, and bytes of files.

mod bytes;
mod common;
mod lists;
mod names;
mod trees;
