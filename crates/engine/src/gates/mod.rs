//! Gates: whether a worker's next operation may be issued now, beside what its source says.

pub mod depth_search;
pub mod flow;
pub mod issue_gate;
pub mod pace;
