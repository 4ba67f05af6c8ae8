//! Sizes of operations, their alignment, and the memory they take.

use super::{BUFFERS_MAX, Found, OPERATION_MAX, SECTOR, TRIM_MAX, View, WEIGHTS_MAX};
use crate::units::{Direction, PerDirection, SizeSpec};
use crate::{Blocks, Bytes, PlanPath};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    let place = view.key("size");
    for (op, spec) in distinct(view.blocks) {
        let alone = Some(op).filter(|_| !same_for_all(view.blocks));
        check_spec(spec, &place, alone, out);
        let (moves, trims) = (view.blocks.mix.trim < 100, op == Direction::Trim);
        let most = if trims && (alone.is_some() || !moves) { TRIM_MAX } else { OPERATION_MAX };
        at_most(spec, most, &alone.map_or_else(|| place.clone(), |op| place.key(op.name())), out);
    }
    align(view, out);
    direct(view, out);
    buffers(view, out);
}

/// The sizes of the directions that occur, each only once.
pub(super) fn distinct(blocks: &Blocks) -> Vec<(Direction, &SizeSpec)> {
    let mut specs: Vec<(Direction, &SizeSpec)> = Vec::new();
    for (op, spec) in blocks.size.iter().filter(|(op, _)| blocks.mix.of(*op) > 0) {
        if specs.iter().all(|(_, known)| *known != spec) {
            specs.push((op, spec));
        }
    }
    specs
}

/// The one size of all operations, where there is just one.
pub(super) fn fixed(blocks: &Blocks) -> Option<Bytes> {
    match distinct(blocks)[..] {
        [(_, SizeSpec::Fixed(size))] => Some(*size),
        _ => None,
    }
}

/// The largest size that occurs.
pub(super) fn largest(blocks: &Blocks) -> Bytes {
    let specs = distinct(blocks).into_iter().map(|(_, spec)| spec);
    specs.chain(&blocks.jump_size).map(SizeSpec::max).max().unwrap_or_default()
}

/// The largest size of what moves bytes, and needs a buffer for them.
fn largest_moved(blocks: &Blocks) -> Bytes {
    let moved =
        blocks.size.iter().filter(|(op, _)| *op != Direction::Trim && blocks.mix.of(*op) > 0);
    moved
        .map(|(_, spec)| spec)
        .chain(&blocks.jump_size)
        .map(SizeSpec::max)
        .max()
        .unwrap_or_default()
}

/// The size that must fit everywhere: where sizes are drawn, those that do not fit are drawn
/// again.
pub(super) fn needed(blocks: &Blocks) -> Bytes {
    let specs = distinct(blocks).into_iter().map(|(_, spec)| spec);
    specs.chain(&blocks.jump_size).map(SizeSpec::min).max().unwrap_or_default()
}

fn same_for_all(blocks: &Blocks) -> bool {
    blocks.size.read == blocks.size.write && blocks.size.write == blocks.size.trim
}

/// One specification; `op` where it holds for one direction only.
pub(super) fn check_spec(
    spec: &SizeSpec,
    place: &PlanPath,
    op: Option<Direction>,
    out: &mut Found,
) {
    let place = op.map_or_else(|| place.clone(), |op| place.key(op.name()));
    match spec {
        SizeSpec::Fixed(_) => {}
        SizeSpec::Range(low, high) => range(*low, *high, *low, &place, out),
        SizeSpec::Stepped(low, high, step) => range(*low, *high, *step, &place, out),
        SizeSpec::Weighted(list) => weights(list, &place, out),
    }
    if spec.min() == Bytes(0) && !matches!(spec, SizeSpec::Weighted(list) if list.is_empty()) {
        let message = format!("the size {spec} has operations of 0 bytes");
        out.error("size", place, message, "use sizes of 512 bytes or more");
    }
}

/// No operation is larger than that.
pub(super) fn at_most(spec: &SizeSpec, most: Bytes, place: &PlanPath, out: &mut Found) {
    if spec.max() > most {
        let message = format!("the size {} is more than {most} in one operation", spec.max());
        out.error("size", place.clone(), message, format!("use at most {most}"));
    }
}

fn range(low: Bytes, high: Bytes, step: Bytes, place: &PlanPath, out: &mut Found) {
    if step == Bytes(0) && low > Bytes(0) {
        let message = format!("the sizes {low}-{high} go up in steps of 0");
        out.error("size-range", place.clone(), message, "give a step of 1 or more");
    } else if low > high {
        let message = format!("the range of sizes {low}-{high} goes downwards");
        out.error("size-range", place.clone(), message, format!("write {high}-{low}"));
    } else if low.0 > 0 && !(high.0 - low.0).is_multiple_of(step.0) {
        let top = Bytes(low.0 + (high.0 - low.0) / step.0 * step.0);
        let message = format!("sizes go up in steps of {step}, so {high} never occurs, but {top}");
        out.warning("size-range", place.clone(), message, format!("write {low}-{top}"));
    }
}

fn weights(list: &[(Bytes, u8)], place: &PlanPath, out: &mut Found) {
    let total: u64 = list.iter().map(|(_, percent)| u64::from(*percent)).sum();
    if total != 100 {
        let message = format!("the weights of the sizes add up to {total} %, not to 100 %");
        out.error("weights", place.clone(), message, "change the weights");
    }
    if list.len() > WEIGHTS_MAX {
        let message = format!("{} sizes with weights are more than {WEIGHTS_MAX}", list.len());
        out.error("weights", place.clone(), message, "use fewer");
    }
}

fn align(view: &View<'_>, out: &mut Found) {
    let aligns = view.blocks.align.iter().flat_map(PerDirection::iter);
    if aligns.filter(|(op, _)| view.blocks.mix.of(*op) > 0).any(|(_, align)| *align == Bytes(0)) {
        let remedy = "give an alignment such as \"4k\", or remove it";
        out.error("align", view.key("align"), "align is 0", remedy);
    }
}

/// With direct I/O everything is a multiple of the sector, except on filesystems in memory, and in
/// commands to blocks with metadata. The host refuses what its files do not allow.
fn direct(view: &View<'_>, out: &mut Found) {
    if !view.blocks.direct || view.blocks.engine.is_passthrough() {
        return;
    }
    for (op, spec) in distinct(view.blocks) {
        let odd = match spec {
            SizeSpec::Fixed(size) => odd(*size),
            SizeSpec::Range(low, _) => odd(*low),
            SizeSpec::Stepped(low, _, step) => odd(*low).or(odd(*step)),
            SizeSpec::Weighted(list) => list.iter().find_map(|(size, _)| odd(*size)),
        };
        if let Some(size) = odd {
            let place = view.key("size");
            let place = if same_for_all(view.blocks) { place } else { place.key(op.name()) };
            unaligned("size", size, place, out);
        }
    }
    let aligns = view.blocks.align.iter().flat_map(PerDirection::iter);
    let used = aligns.filter(|(op, _)| view.blocks.mix.of(*op) > 0);
    if let Some(align) = used.filter_map(|(_, align)| odd(*align)).next() {
        unaligned("align", align, view.key("align"), out);
    }
}

/// The size, if direct I/O cannot have it on a device.
pub(super) fn odd(size: Bytes) -> Option<Bytes> {
    Some(size).filter(|size| !size.0.is_multiple_of(SECTOR.0))
}

pub(super) fn unaligned(what: &str, value: Bytes, place: PlanPath, out: &mut Found) {
    let message = format!(
        "{what} {value} is not a multiple of 512 bytes, as direct I/O needs on most filesystems"
    );
    let remedy = "use a multiple of 512 (better 4k), or direct = false";
    out.warning("direct-alignment", place, message, remedy);
}

fn buffers(view: &View<'_>, out: &mut Found) {
    let each = u128::from(largest_moved(view.blocks).0);
    let (workers, depth) = (view.job.workers, view.blocks.depth);
    let bytes = each * u128::from(workers) * u128::from(depth);
    if bytes > u128::from(BUFFERS_MAX.0) {
        let message = format!(
            "{workers} workers × depth {depth} × {} need more than {BUFFERS_MAX} of buffers",
            largest_moved(view.blocks)
        );
        out.error("buffers", view.key("depth"), message, "use less depth or smaller sizes");
    }
}
