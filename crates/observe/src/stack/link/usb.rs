//! USB: what is left of the line rate after the protocol, from experience.

use candor_record::facts::{Fact, Link};

use super::{megabytes, name_of};
use crate::source::node::Node;
use crate::source::parse::quantity;

/// The USB hops on the way, the drive's own first, then those of the hubs above it.
pub(super) fn of(node: &Node) -> Vec<Link> {
    let hops = node.above().filter(|path| node.roots.there(&path.join("busnum")));
    let links = hops.filter_map(|path| {
        let file = path.join("speed");
        let text = node.roots.text(&file)?;
        let mb_per_s = practical(quantity(&text)? as u64)?;
        Some(Link {
            kind: "USB".into(),
            arithmetic: format!("{text} Mb/s carry about {mb_per_s} MB/s in practice"),
            negotiated: Fact::new(format!("{text} Mb/s"), file.display().to_string()),
            at: name_of(path),
            ceiling_bytes_per_s: megabytes(mb_per_s),
            ..Link::default()
        })
    });
    links.collect()
}

/// Megabytes per second that a drive gets through a line of that many Mb/s.
fn practical(mbit_per_s: u64) -> Option<u64> {
    match mbit_per_s {
        12 => Some(1),
        480 => Some(40),
        5000 => Some(440),
        10_000 => Some(1000),
        20_000 => Some(2000),
        _ => None,
    }
}
