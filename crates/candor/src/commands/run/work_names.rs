//! Names of work, for jobs and phases.

use candor_plan::blocks::Access;
use candor_plan::units::{Direction, Mix, SizeSpec};
use candor_record::fmt::column;

/// Order and directions of operations: `random read`.
pub fn kind(mix: Mix, access: &Access) -> String {
    let order = match access {
        Access::Sequential => "sequential",
        Access::Backward => "backward",
        Access::Holes { .. } => "with holes",
        Access::Trace(_) => "traced",
        _ => "random",
    };
    format!("{order} {}", directions(mix))
}

/// `read`, or `read/write 70/30`.
fn directions(mix: Mix) -> String {
    let used: Vec<Direction> = Direction::ALL.into_iter().filter(|op| mix.of(*op) > 0).collect();
    let names = used.iter().map(|op| op.name()).collect::<Vec<_>>().join("/");
    let shares: Vec<_> = used.iter().map(|op| mix.of(*op).to_string()).collect();
    match used.len() {
        1 => names,
        _ => format!("{names} {}", shares.join("/")),
    }
}

/// Size of operations: `4 KiB`.
pub fn size(size: &SizeSpec) -> String {
    match size {
        SizeSpec::Fixed(bytes) => column::size(bytes.0),
        other => other.to_string(),
    }
}
