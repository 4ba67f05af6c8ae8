//! Mix and order of offsets.

use super::sizes::{at_most, check_spec, distinct};
use super::{Found, LISTED_MAX, OPERATION_MAX, REGIONS_MAX, View, WEIGHTS_MAX};
use crate::blocks::{Access, FileOrder, Position, Zone};
use crate::units::{Direction, Extent, PerDirection, SizeSpec};
use crate::{Bytes, PlanPath};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    mix(view, out);
    mix_by_number(view, out);
    pairs(view, out);
    random_percent(view, out);
    stay(view, out);
    jump_size(view, out);
    windows(view, out);
    rotation(view, out);
    order(view, out);
}

fn order(view: &View<'_>, out: &mut Found) {
    let at = view.key("access");
    match &view.blocks.access {
        Access::Sequential | Access::Backward | Access::Random => {}
        Access::Holes { hole } if *hole == Bytes(0) => {
            let place = at.key("holes").key("hole");
            out.error("hole", place, "hole is 0", "give a size, or access = \"sequential\"");
        }
        Access::Holes { .. } => {}
        Access::Back { step } if *step == Bytes(0) => {
            let place = at.key("back").key("step");
            out.error("back", place, "step is 0", "give a size, or access = \"sequential\"");
        }
        Access::Back { .. } => {}
        Access::HitArea { bytes, hit_percent, .. } => {
            hit_area(view, *bytes, hit_percent, &at.key("hit_area"), out);
        }
        Access::Permutation => permutation(view, out),
        Access::Zipf { theta, center_percent } => {
            zipf(*theta, at.key("zipf").key("theta"), out);
            center(*center_percent, &at.key("zipf"), out);
        }
        Access::Pareto { h, center_percent } => {
            pareto(*h, at.key("pareto").key("h"), out);
            center(*center_percent, &at.key("pareto"), out);
        }
        Access::Normal { deviation_percent, center_percent } => {
            normal(*deviation_percent, at.key("normal").key("deviation_percent"), out);
            center(*center_percent, &at.key("normal"), out);
        }
        Access::Zoned { zones } => {
            let place = at.key("zoned").key("zones");
            let alike = zones.read == zones.write && zones.write == zones.trim;
            for (op, zones) in zones.iter().filter(|(op, _)| does(view, *op)) {
                let place = if alike { place.clone() } else { place.key(op.name()) };
                zoned(zones, &place, out);
                if alike {
                    break;
                }
            }
        }
        Access::HotBand { hit_percent, start_percent, length_percent } => {
            hot_band(*hit_percent, *start_percent, *length_percent, &at.key("hot_band"), out);
        }
        Access::Precondition { regions, spare_percent, .. } => {
            precondition(view, *regions, *spare_percent, &at.key("precondition"), out);
        }
        Access::List { blocks, .. } => list(blocks, at.key("list").key("blocks"), out),
        Access::Trace(trace) => trace_file(&trace.file, at.key("trace").key("file"), out),
    }
}

/// An area at the start of one stretch, which holds an operation.
fn hit_area(
    view: &View<'_>,
    bytes: Bytes,
    hit_percent: &PerDirection<f64>,
    at: &PlanPath,
    out: &mut Found,
) {
    let largest =
        distinct(view.blocks).into_iter().map(|(_, size)| size.max()).max().unwrap_or_default();
    if bytes < largest {
        let message = format!("the area of {bytes} does not hold an operation of {largest}");
        out.error("hit-area", at.key("bytes"), message, format!("give at least {largest}"));
    }
    for (op, percent) in hit_percent.iter().filter(|(op, _)| does(view, *op)) {
        if !(0.0..=100.0).contains(percent) {
            let message = format!("hit_percent of {} is {percent}, not 0 to 100", op.name());
            out.error("hit-area", at.key("hit_percent"), message, "give 0 to 100");
        }
    }
    let blocks = view.blocks;
    let per_direction = blocks.position == Position::PerDirection;
    if blocks.windows.is_some() || per_direction || blocks.zones.is_some() {
        let message = "hits and misses have separate positions";
        out.error("hit-area", at.clone(), message, "remove windows, position and zones");
    }
}

/// Preconditioning is writing alone, in blocks of one size.
fn precondition(view: &View<'_>, regions: u32, spare_percent: f64, at: &PlanPath, out: &mut Found) {
    out.count("precondition", at.key("regions"), regions.into(), REGIONS_MAX);
    // NaN is not above 0.
    if !(spare_percent > 0.0 && spare_percent < 100.0) {
        let message = format!("spare_percent is {spare_percent}, not above 0 and below 100");
        out.error("precondition", at.key("spare_percent"), message, "7 to 28 is usual");
    }
    let blocks = view.blocks;
    let is_fixed = matches!(blocks.size.write, SizeSpec::Fixed(_)) && blocks.jump_size.is_none();
    if blocks.mix.write != 100 || !is_fixed || blocks.windows.is_some() || !blocks.stay.is_never() {
        let message =
            "preconditioning writes blocks of one size all over the range, and nothing else";
        let remedy = "set mix = \"write\" and one size, without windows or stay";
        out.error("precondition", at.clone(), message, remedy);
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
    if highest > 0 && (access.is_random() || matches!(access, Access::Trace(_))) {
        let message = format!("random_percent is {highest}, but the access has no order to leave");
        out.error("random-percent", place, message, "set access = \"sequential\", or remove it");
    }
}

/// Pairs are of two directions, half and half.
fn mix_by_number(view: &View<'_>, out: &mut Found) {
    let mix = view.blocks.mix;
    let is_mix = Direction::ALL.into_iter().all(|op| mix.of(op) < 100);
    if view.blocks.mix_by_number && (!is_mix || view.blocks.pairs) {
        let message = "mix_by_number is set, but the mix or the pairs leave no choice";
        out.error("word-unused", view.key("mix_by_number"), message, "remove mix_by_number");
    }
}

fn pairs(view: &View<'_>, out: &mut Found) {
    let mix = view.blocks.mix;
    if view.blocks.pairs && Direction::ALL.into_iter().filter(|op| mix.of(*op) == 50).count() != 2 {
        let message = format!("pairs are of two directions, half and half, but the mix is {mix}");
        let remedy = "write mix = \"write:50,trim:50\", for example, or remove pairs";
        out.error("pairs", view.key("pairs"), message, remedy);
    }
}

fn stay(view: &View<'_>, out: &mut Found) {
    let (stay, at) = (&view.blocks.stay, view.key("stay"));
    out.count("stay", at.key("run"), stay.run.into(), u32::MAX.into());
    let used = stay.percent.iter().filter(|(op, _)| does(view, *op));
    let highest = used.map(|(_, percent)| *percent).max().unwrap_or(0);
    if highest > 100 {
        out.percent("percent", at.key("percent"), highest.into(), 0.0);
    }
    if !stay.is_never() && !view.blocks.access.is_random() {
        let message = "stay is set, but operations of an ordered access follow each other anyway";
        out.error("stay", at, message, "set access = \"random\", or remove stay");
    }
}

fn jump_size(view: &View<'_>, out: &mut Found) {
    let Some(size) = &view.blocks.jump_size else { return };
    check_spec(size, &view.key("jump_size"), None, out);
    at_most(size, OPERATION_MAX, &view.key("jump_size"), out);
    let jumps = view.blocks.random_percent.iter().any(|(_, percent)| *percent > 0);
    if !jumps && view.blocks.stay.is_never() {
        let message = "jump_size is set, but either all operations jump or none";
        let remedy = "set random_percent or stay, or give all their size by size";
        out.error("jump-size", view.key("jump_size"), message, remedy);
    }
}

fn windows(view: &View<'_>, out: &mut Found) {
    let Some(windows) = view.blocks.windows else { return };
    let at = view.key("windows");
    for (key, value) in [("length", windows.length), ("bytes", windows.bytes)] {
        if value == Bytes(0) {
            let remedy = format!("give {key} a size, or remove windows");
            out.error("windows", at.key(key), format!("{key} is 0"), remedy);
        }
    }
    let smallest = distinct(view.blocks).into_iter().map(|(_, size)| size.min()).max();
    if let Some(size) = smallest.filter(|size| *size > windows.length && windows.length.0 > 0) {
        let message = format!("an operation of {size} does not fit into {}", windows.length);
        out.error("windows", at.key("length"), message, "make windows longer, or sizes smaller");
    }
    if matches!(view.blocks.access, Access::Trace(_)) {
        let message = "a trace has the offset of each operation, so windows have no effect";
        out.error("windows", at, message, "remove windows");
    }
}

fn rotation(view: &View<'_>, out: &mut Found) {
    let (rotation, at) = (&view.blocks.rotation, view.key("rotation"));
    out.count("rotation", at.key("every"), rotation.every.into(), u32::MAX.into());
    if rotation.at_once == Some(0) {
        out.error("rotation", at.key("at_once"), "at_once is 0", "set it to 1 or more");
    }
    let at = at.key("order");
    match rotation.order {
        FileOrder::RoundRobin | FileOrder::Random | FileOrder::ByBytes | FileOrder::Sequential => {}
        FileOrder::Zipf { theta } => zipf(theta, at.key("zipf").key("theta"), out),
        FileOrder::Pareto { h } => pareto(h, at.key("pareto").key("h"), out),
        FileOrder::Normal { deviation_percent } => {
            normal(deviation_percent, at.key("normal").key("deviation_percent"), out);
        }
    }
}

/// Blocks that are each taken once must not overlap.
fn permutation(view: &View<'_>, out: &mut Found) {
    let Some(align) = &view.blocks.align else { return };
    for (op, spec) in distinct(view.blocks) {
        let (size, align) = (spec.min(), *align.of(op));
        if align < size && align > Bytes(0) {
            let message = format!("blocks of {size} aligned to {align} overlap in a permutation");
            out.error("permutation-align", view.key("align"), message, "remove align");
            return;
        }
    }
}

fn center(percent: Option<f64>, at: &PlanPath, out: &mut Found) {
    if let Some(percent) = percent {
        out.percent("percent", at.key("center_percent"), percent, 0.0);
    }
}

fn zipf(theta: f64, place: PlanPath, out: &mut Found) {
    // Around 1 the generator's sums lose all their digits.
    const NEAR: f64 = 1e-6;
    if !(theta > 0.0 && theta <= 100.0) || (theta - 1.0).abs() < NEAR {
        let message = format!("theta is {theta}, not above 0 and other than 1");
        out.error("zipf", place, message, "use 0.8, 0.99 or 1.2, for example");
    }
}

fn pareto(h: f64, place: PlanPath, out: &mut Found) {
    if !(h > 0.0 && h < 1.0) {
        let message = format!("h is {h}, not between 0 and 1");
        out.error("pareto", place, message, "use 0.2 for 80 % of accesses on 20 % of the space");
    }
}

fn normal(deviation: f64, place: PlanPath, out: &mut Found) {
    if !(deviation > 0.0 && deviation <= 100.0) {
        let message = format!("deviation_percent is {deviation}, not above 0 and up to 100");
        out.error("normal", place, message, "use 10, for example");
    }
}

fn zoned(zones: &[Zone], at: &PlanPath, out: &mut Found) {
    if zones.is_empty() || zones.len() > WEIGHTS_MAX {
        let message = format!("there are {} zones, not 1 to {WEIGHTS_MAX}", zones.len());
        out.error("zoned", at.clone(), message, "give some zones");
        return;
    }
    for (i, zone) in zones.iter().enumerate() {
        out.percent("zoned", at.index(i).key("access_percent"), zone.access_percent, 0.0);
        let size = at.index(i).key("size");
        if let Extent::Percent(percent) = zone.size {
            out.percent("zoned", size.clone(), percent, 0.0);
        }
        let is_empty = matches!(zone.size, Extent::Bytes(Bytes(0)) | Extent::Percent(0.0));
        if zone.access_percent > 0.0 && is_empty {
            let message = format!("{} % of the accesses fall on nothing", zone.access_percent);
            out.error("zoned", size, message, "give the zone a size");
        }
    }
    adds_up(zones.iter().map(|zone| zone.access_percent).sum(), "accesses", at, out);
    let percents = zones.iter().filter_map(|zone| match zone.size {
        Extent::Percent(percent) => Some(percent),
        Extent::Bytes(_) => None,
    });
    match percents.clone().count() {
        0 => {}
        count if count < zones.len() => {
            let message = "some zones have sizes in percent and others in bytes";
            out.error("zoned", at.clone(), message, "use one of them for all zones");
        }
        _ => adds_up(percents.sum(), "sizes", at, out),
    }
}

fn adds_up(sum: f64, what: &str, at: &PlanPath, out: &mut Found) {
    // People write thirds as 33.3.
    const SLACK: f64 = 0.5;
    if (sum - 100.0).abs() > SLACK || sum.is_nan() {
        let message = format!("the {what} of the zones add up to {sum:.1} %, not to 100 %");
        out.error("zoned", at.clone(), message, "change the shares");
    }
}

fn hot_band(hit: f64, start: f64, length: f64, at: &PlanPath, out: &mut Found) {
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

fn list(blocks: &[u64], place: PlanPath, out: &mut Found) {
    if blocks.is_empty() || blocks.len() > LISTED_MAX {
        let message = format!("the list has {} blocks, not 1 to {LISTED_MAX}", blocks.len());
        out.error("list", place, message, "name some blocks, or follow a trace");
    }
}

fn trace_file(file: &std::path::Path, place: PlanPath, out: &mut Found) {
    if file.as_os_str().is_empty() {
        out.error("trace-file", place, "the trace has no file", "set file to its path");
    }
}

/// True if the job does anything in that direction.
pub(super) fn does(view: &View<'_>, op: Direction) -> bool {
    view.blocks.mix.of(op) > 0
}
