//! PCIe: every hop from the device up to the root, because any of them may be the narrow one.

use std::path::{Path, PathBuf};

use candor_record::facts::{Fact, Link};

use super::{megabytes, name_of, tenths};
use crate::source::Roots;
use crate::source::node::Node;
use crate::source::parse::quantity;

/// Speed and width of a hop, as one of its ends tells it.
#[derive(Clone, Debug, PartialEq)]
struct Rate {
    /// GT/s.
    speed: f64,
    /// Lanes.
    width: u64,
}

impl Rate {
    /// From a pair of attributes such as `current_link_speed` and `current_link_width`.
    fn read(directory: &Path, which: &str, roots: &Roots) -> Option<Rate> {
        let attribute = |what: &str| roots.text(&directory.join(format!("{which}_link_{what}")));
        let speed = quantity(&attribute("speed")?)?;
        // Integrated functions claim no lanes, or 255 of them.
        let width = attribute("width")?.parse().ok().filter(|width| (1..=32).contains(width))?;
        Some(Rate { speed, width })
    }

    /// Of two ends, what both can do.
    fn both(&self, other: &Rate) -> Rate {
        Rate { speed: self.speed.min(other.speed), width: self.width.min(other.width) }
    }

    fn words(&self) -> String {
        format!("{:.1} GT/s x{}", self.speed, self.width)
    }

    /// The bandwidth of all lanes.
    fn bytes_per_s(&self) -> Option<u64> {
        Some(megabytes(self.lane()?.0.saturating_mul(self.width)))
    }

    /// Megabytes per second of one lane, and the code that makes them.
    fn lane(&self) -> Option<(u64, &'static str)> {
        match tenths(self.speed) {
            25 => Some((250, "8/10")),
            50 => Some((500, "8/10")),
            80 => Some((985, "128/130")),
            160 => Some((1969, "128/130")),
            320 => Some((3938, "128/130")),
            640 => Some((7563, "242/256")),
            _ => None,
        }
    }
}

/// One end of a hop, with its current rate.
struct End {
    directory: PathBuf,
    rate: Rate,
}

impl End {
    fn read(directory: &Path, roots: &Roots) -> Option<End> {
        let rate = Rate::read(directory, "current", roots)?;
        Some(End { directory: directory.to_path_buf(), rate })
    }
}

/// The hops on the way from the device to the root, the device's own first.
pub(super) fn of(node: &Node) -> Vec<Link> {
    let ends: Vec<End> = node.above().filter_map(|path| End::read(path, &node.roots)).collect();
    hops(&ends).filter_map(|(end, port)| hop(end, port, &node.roots)).collect()
}

/// The ends in pairs. Going up they alternate: a device's or switch's end, the port above it. Two
/// neighbours that disagree are not of one hop.
fn hops(ends: &[End]) -> impl Iterator<Item = (&End, Option<&Path>)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let end = ends.get(at)?;
        let port = ends.get(at + 1).filter(|port| port.rate == end.rate);
        at += if port.is_some() { 2 } else { 1 };
        Some((end, port.map(|port| port.directory.as_path())))
    })
}

fn hop(end: &End, port: Option<&Path>, roots: &Roots) -> Option<Link> {
    let End { directory, rate } = end;
    let (lane_mb_per_s, code) = rate.lane()?;
    let (speed, width) = (rate.speed, rate.width);
    let mb_per_s = lane_mb_per_s.saturating_mul(width);
    let lane = format!("{speed:.1} GT/s × {code} ÷ 8 = {lane_mb_per_s} MB/s per lane");
    let could = |end: &Path| Rate::read(end, "max", roots).map(|rate| fact(&rate, end, "max"));
    let possible = possible(directory, port, roots);
    Some(Link {
        kind: "PCIe".into(),
        at: name_of(directory),
        negotiated: fact(rate, directory, "current"),
        possible_bytes_per_s: possible.as_ref().and_then(Rate::bytes_per_s),
        possible: possible.map(|both| fact(&both, directory, "max")),
        lower_could: could(directory),
        upper_could: port.and_then(could),
        ceiling_bytes_per_s: megabytes(mb_per_s),
        arithmetic: format!("{lane}, × {width} = {mb_per_s} MB/s"),
    })
}

/// The speed that both ends of a hop could do. Without the other end's word nothing is known: a
/// device that could do more may sit in a slot that cannot.
fn possible(directory: &Path, port: Option<&Path>, roots: &Roots) -> Option<Rate> {
    Some(Rate::read(directory, "max", roots)?.both(&Rate::read(port?, "max", roots)?))
}

fn fact(rate: &Rate, directory: &Path, which: &str) -> Fact<String> {
    let from = directory.join(format!("{which}_link_{{speed,width}}"));
    Fact::new(rate.words(), from.display().to_string())
}
