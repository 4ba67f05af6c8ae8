//! Parts that mdtest and md-workbench, siblings of IOR, have in common: the words of a command
//! line, their reading, the back ends, forms of results.

pub mod back_ends;
pub mod reading;
pub mod results;
pub mod words;
