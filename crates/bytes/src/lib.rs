//! Bytes of files: content, verification, journals, and the kernel's ways to move them.
//!
//! The families `blocks` and `entries` build on it. A block is named by a file and an offset; the
//! crate opens no target and knows no plan of work.
//!
//! | module | content |
//! | --- | --- |
//! | [`content`], [`words`] | bytes that are written |
//! | [`verify`] | headers and checksums in blocks, and the map of generations |
//! | [`journal`] | keys of written blocks, which outlive a crash |
//! | [`session`] | journals and the seed that all jobs of a session share |
//! | [`ring`], [`aio`], [`mapped`] | io_uring, the kernel's aio, a mapped file |
//! | [`posix_lock`], [`advice`] | locks and advice |
//!
//! ```
//! use candor_bytes::posix_lock::Span;
//!
//! assert_ne!(Span::WHOLE, Span::of(0, 4096));
//! ```

pub mod advice;
pub mod aio;
pub mod content;
pub mod journal;
pub mod mapped;
pub mod mismatch;
pub mod posix_lock;
pub mod ring;
pub mod session;
pub mod verify;
pub mod words;
