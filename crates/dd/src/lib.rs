//! GNU dd: operands, conversions and messages.
//!
//! [`options::read`] reads a command line, [`convert::Conversion`] maps input blocks to output
//! blocks, [`lines`] prints the messages, and [`meaning`] states what the rate of a copy measures.
//! Facts are from the manual of coreutils 9. The crate `copy` moves the bytes.
//!
//! ```
//! let request = candor_dd::options::read(&["dd".into(), "bs=1M".into(), "count=4".into()]);
//! assert!(request.is_ok());
//! ```

pub mod convert;
mod ebcdic;
pub mod lines;
pub mod meaning;
mod number;
pub mod options;
pub mod quoting;
mod symbols;
