//! Command lines and result formats that mdtest and md-workbench share with IOR.
//!
//! [`words`] reads words and numbers, [`reading`] makes options of them, [`rows`] has common rows,
//! [`back_ends`] names the supported back ends, [`content`] fills files, and [`results`] has the
//! common result formats.
//!
//! ```
//! assert_eq!(candor_ior_family::words::number("64k").unwrap(), 65_536);
//! assert!(candor_ior_family::words::number("64q").is_err());
//! ```

pub mod back_ends;
pub mod content;
pub mod reading;
pub mod results;
pub mod rows;
pub mod words;
