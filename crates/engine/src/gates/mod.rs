//! Gates: sources that wrap another source and may hold its operations back.

pub mod depth_search;
pub mod flow;
pub mod limits;
pub mod low_water;
pub mod overlap;
pub mod pace;
pub mod paced;
pub mod wear_out;
