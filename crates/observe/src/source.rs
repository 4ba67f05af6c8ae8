//! The kernel's files and answers, live or replayed: the ground of every other module here.

pub(crate) mod attributes;
pub(crate) mod bundle;
pub(crate) mod missing;
pub(crate) mod node;
pub(crate) mod parse;
mod redact;
mod roots;
pub(crate) mod stat;

pub use bundle::Bundle;
pub use roots::Roots;
