//! Bytes of operations: contents of writes, headers in them, and their verification.

pub mod content;
pub mod verifier;
pub mod verify;
pub mod words;
