//! GNU `dd`: its operands, its conversions, and its lines.
//!
//! Nothing here copies: [`options::read`] gives what is asked for, [`convert::Conversion`] is what
//! happens to bytes between input and output blocks, [`lines`] are the words about a copy, and
//! [`meaning`] says what the rate of a copy measures. Facts are those of the manual of coreutils 9.

pub mod convert;
mod ebcdic;
pub mod lines;
pub mod meaning;
mod number;
pub mod options;
pub mod quoting;
mod symbols;
