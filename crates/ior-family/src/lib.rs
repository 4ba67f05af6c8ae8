//! Command lines and forms of results that mdtest and md-workbench share with IOR.
//!
//! [`words`] reads words and numbers, [`reading`] makes options of them, [`back_ends`] names the
//! supported back ends, and [`results`] has the common forms of results.
//!
//! ```
//! assert_eq!(candor_ior_family::words::number("64k").unwrap(), 65_536);
//! assert!(candor_ior_family::words::number("64q").is_err());
//! ```

pub mod back_ends;
pub mod reading;
pub mod results;
pub mod words;
