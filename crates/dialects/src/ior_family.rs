//! Parts that mdtest and md-workbench, siblings of IOR, have in common: the words of a command
//! line, the back ends, forms of results.

pub mod back_ends;
pub mod results;
pub mod words;
