//! Mix and order of offsets.

use super::ranges::one_size;
use super::sizes::fixed;
use super::{Found, View, WEIGHTS_MAX};
use crate::blocks::{Access, Zone};
use crate::units::Op;
use crate::{Bytes, Place};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    mix(view, out);
    random_percent(view, out);
    let at = view.key("access");
    match &view.blocks.access {
        Access::Sequential | Access::Backward | Access::Random => {}
        Access::Holes { hole } if *hole == Bytes(0) => {
            let place = at.key("holes").key("hole");
            out.error("hole", place, "hole is 0", "give a size, or access = \"sequential\"");
        }
        Access::Holes { .. } => {}
        Access::Permutation => permutation(view, out),
        Access::Zipf { theta } => zipf(*theta, at.key("zipf").key("theta"), out),
        Access::Pareto { h } => pareto(*h, at.key("pareto").key("h"), out),
        Access::Normal { deviation_percent } => {
            normal(*deviation_percent, at.key("normal").key("deviation_percent"), out);
        }
        Access::Zoned { zones } => zoned(zones, &at.key("zoned").key("zones"), out),
        Access::HotBand { hit_percent, start_percent, length_percent } => {
            let band = [*hit_percent, *start_percent, *length_percent];
            hot_band(band, &at.key("hot_band"), out);
        }
        Access::Trace { file } => trace(file, at.key("trace").key("file"), out),
    }
}

fn mix(view: &View<'_>, out: &mut Found) {
    let total = view.blocks.mix.total();
    if total != 100 {
        let message = format!("the mix adds up to {total} %, not to 100 %");
        out.error("mix", view.key("mix"), message, "write \"read\" or \"read:70,write:30\"");
    }
}

fn random_percent(view: &View<'_>, out: &mut Found) {
    let percent = &view.blocks.random_percent;
    let place = view.key("random_percent");
    let used = percent.iter().filter(|(op, _)| view.blocks.mix.of(*op) > 0);
    let highest = used.map(|(_, percent)| *percent).max().unwrap_or(0);
    if highest > 100 {
        out.percent("percent", place.clone(), highest.into(), 0.0);
    }
    let access = &view.blocks.access;
    if highest > 0 && (access.is_random() || matches!(access, Access::Trace { .. })) {
        let message = format!("random_percent is {highest}, but the access has no order to leave");
        out.error("random-percent", place, message, "set access = \"sequential\", or remove it");
    }
}

/// Every block exactly once needs blocks that are all alike.
fn permutation(view: &View<'_>, out: &mut Found) {
    if !one_size(view) {
        let message = "a permutation takes every block once, so all must have one fixed size";
        let remedy = "give one size, or access = \"random\"";
        out.error("permutation-size", view.key("size"), message, remedy);
    }
    if let (Some(size), Some(align)) = (fixed(view.blocks), view.blocks.align)
        && align < size
        && align > Bytes(0)
    {
        let message = format!("blocks of {size} aligned to {align} overlap in a permutation");
        out.error("permutation-align", view.key("align"), message, "remove align");
    }
}

fn zipf(theta: f64, place: Place, out: &mut Found) {
    // Around 1 the generator's sums lose all their digits.
    const NEAR: f64 = 1e-6;
    if !(theta > 0.0 && theta <= 100.0) || (theta - 1.0).abs() < NEAR {
        let message = format!("theta is {theta}, not above 0 and other than 1");
        out.error("zipf", place, message, "use 0.8, 0.99 or 1.2, for example");
    }
}

fn pareto(h: f64, place: Place, out: &mut Found) {
    if !(h > 0.0 && h < 1.0) {
        let message = format!("h is {h}, not between 0 and 1");
        out.error("pareto", place, message, "use 0.2 for 80 % of accesses on 20 % of the space");
    }
}

fn normal(deviation: f64, place: Place, out: &mut Found) {
    if !(deviation > 0.0 && deviation <= 100.0) {
        let message = format!("deviation_percent is {deviation}, not above 0 and up to 100");
        out.error("normal", place, message, "use 10, for example");
    }
}

fn zoned(zones: &[Zone], at: &Place, out: &mut Found) {
    if zones.is_empty() || zones.len() > WEIGHTS_MAX {
        let message = format!("there are {} zones, not 1 to {WEIGHTS_MAX}", zones.len());
        out.error("zoned", at.clone(), message, "give some zones");
        return;
    }
    for (i, zone) in zones.iter().enumerate() {
        out.percent("zoned", at.index(i).key("access_percent"), zone.access_percent, 0.0);
        out.percent("zoned", at.index(i).key("size_percent"), zone.size_percent, 0.0);
        if zone.access_percent > 0.0 && zone.size_percent == 0.0 {
            let message = format!("{} % of the accesses fall on nothing", zone.access_percent);
            let remedy = "give the zone a size";
            out.error("zoned", at.index(i).key("size_percent"), message, remedy);
        }
    }
    adds_up(zones.iter().map(|zone| zone.access_percent).sum(), "accesses", at, out);
    adds_up(zones.iter().map(|zone| zone.size_percent).sum(), "sizes", at, out);
}

fn adds_up(sum: f64, what: &str, at: &Place, out: &mut Found) {
    // People write thirds as 33.3.
    const SLACK: f64 = 0.5;
    if (sum - 100.0).abs() > SLACK || sum.is_nan() {
        let message = format!("the {what} of the zones add up to {sum:.1} %, not to 100 %");
        out.error("zoned", at.clone(), message, "change the shares");
    }
}

fn hot_band([hit, start, length]: [f64; 3], at: &Place, out: &mut Found) {
    out.percent("hot-band", at.key("hit_percent"), hit, 0.0);
    out.percent("hot-band", at.key("start_percent"), start, 0.0);
    out.percent("hot-band", at.key("length_percent"), length, 0.0);
    if length == 0.0 {
        let message = "the hot band has a length of 0 %";
        out.error("hot-band", at.key("length_percent"), message, "give it a length");
    }
    if start + length > 100.0 && start <= 100.0 && length <= 100.0 {
        let message = format!("the hot band ends at {} % of the range", start + length);
        out.error("hot-band", at.clone(), message, "let start and length add up to 100 at most");
    }
}

fn trace(file: &std::path::Path, place: Place, out: &mut Found) {
    if file.as_os_str().is_empty() {
        out.error("trace-file", place, "the trace has no file", "set file to its path");
    } else if file.to_str().is_none() {
        let message = format!("the path {} is not valid UTF-8", file.display());
        out.error("path-text", place, message, "use a link with a plain name");
    }
}

/// True if the job does anything in that direction.
pub(super) fn does(view: &View<'_>, op: Op) -> bool {
    view.blocks.mix.of(op) > 0
}
