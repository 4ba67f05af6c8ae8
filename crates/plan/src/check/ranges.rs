//! The part of a target that is used, and how workers divide it.

use super::sizes::{distinct, fixed, largest, needed, odd, unaligned};
use super::{Found, SEGMENTS_MAX, View};
use crate::blocks::{Access, Range, SegmentDeal, Share};
use crate::units::Extent;
use crate::{Blocks, Bytes, PlanPath, Target};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    percentages(view, out);
    direct(view, out);
    share_form(view, out);
    for target in view.targets.iter().copied() {
        if let Some(size) = target.size.filter(|size| size.0 > 0) {
            within(view, target, size, out);
        }
    }
}

/// Shares of a range are numbers between 0 and 100 that do not reach beyond the end.
fn percentages(view: &View<'_>, out: &mut Found) {
    let Range { start, length, .. } = &view.blocks.range;
    let at = view.key("range");
    let mut sum = 0.0;
    for (key, extent) in [("start", Some(*start)), ("length", *length)] {
        if let Some(Extent::Percent(percent)) = extent {
            out.percent("percent", at.key(key), percent, 0.0);
            sum += percent;
        }
    }
    if sum > 100.0 {
        let message = format!("start and length add up to {sum} %, beyond the end");
        out.error("range-end", at.clone(), message, "make them add up to 100 % at most");
    }
    let empty = length.is_some_and(|length| matches!(length, Extent::Bytes(Bytes(0))));
    if empty || length.is_some_and(|length| length == Extent::Percent(0.0)) {
        let remedy = "give a length, or remove it for all up to the end";
        out.error("range-length", at.key("length"), "the length of the range is 0", remedy);
    }
}

fn direct(view: &View<'_>, out: &mut Found) {
    if !view.blocks.direct {
        return;
    }
    let at = view.key("range");
    if let Extent::Bytes(start) = view.blocks.range.start {
        odd(start).into_iter().for_each(|s| unaligned("start", s, at.key("start"), out));
    }
    let (gone, name) = match view.blocks.access {
        Access::Holes { hole } => (hole, "holes.hole"),
        Access::Back { step } => (step, "back.step"),
        _ => return,
    };
    if let Some(gone) = odd(gone) {
        let (table, key) = name.split_once('.').unwrap_or_default();
        unaligned(key, gone, view.key("access").key(table).key(key), out);
    }
}

/// Interleaved and segmented shares are computed from one size of all operations.
fn share_form(view: &View<'_>, out: &mut Found) {
    let at = view.key("share");
    if matches!(view.blocks.access, Access::Trace(_)) && view.blocks.share != Share::Whole {
        let message = "a trace has the offset of each operation, so share has no effect";
        out.error("trace-share", at.clone(), message, "remove share");
    }
    let needs_fixed = matches!(view.blocks.share, Share::Interleave | Share::Segments { .. });
    if needs_fixed && fixed(view.blocks).is_none() && !distinct(view.blocks).is_empty() {
        let message = format!("this share needs one size of all operations, not {}", sizes(view));
        out.error("share-size", at.clone(), message, "give one size, or share = \"slice\"");
    }
    let all = Range::default();
    if view.blocks.share == Share::Span && view.blocks.range != all {
        let message = "a span is of whole files, not of a range of each";
        out.error("share-range", at.clone(), message, "remove range, or set share = \"slice\"");
    }
    if let Share::Segments { block, count, .. } = view.blocks.share {
        segment_order(view, &at.key("segments"), out);
        let at = at.key("segments");
        out.count("segments", at.key("count"), count.into(), SEGMENTS_MAX.into());
        let size = fixed(view.blocks).filter(|size| size.0 > 0);
        if block == Bytes(0) {
            out.error("segments", at.key("block"), "block is 0", "give a block of a size or more");
        } else if let Some(size) = size.filter(|size| !block.0.is_multiple_of(size.0)) {
            let message = format!("a block of {block} is not a multiple of the size {size}");
            let remedy = "make the size divide the block";
            out.error("segment-block", at.key("block"), message, remedy);
        }
    }
}

/// An order within each segment has nothing else that decides where an operation goes.
fn segment_order(view: &View<'_>, at: &PlanPath, out: &mut Found) {
    let blocks = view.blocks;
    let Share::Segments { deal, .. } = blocks.share else { return };
    let is_scattered = deal == SegmentDeal::Scattered;
    if is_scattered && blocks.access != Access::Sequential {
        let message = "scattered transfers are in a random order by themselves";
        out.error("deal", at.key("deal"), message, "set access = \"sequential\"");
    }
    let is_ordered = is_scattered || blocks.access == Access::Permutation;
    let jumps = blocks.random_percent.iter().any(|(_, percent)| *percent > 0);
    if is_ordered && (blocks.windows.is_some() || !blocks.stay.is_never() || jumps) {
        let message = "each segment has its transfers in one random order";
        out.error("deal", at.clone(), message, "remove windows, stay and random_percent");
    }
}

fn sizes(view: &View<'_>) -> String {
    let specs: Vec<_> = distinct(view.blocks).iter().map(|(_, s)| format!("\"{s}\"")).collect();
    specs.join(" and ")
}

/// A target of known size must hold the sizes that the job asks for.
fn within(view: &View<'_>, target: &Target, size: Bytes, out: &mut Found) {
    let at = view.key("range");
    let name = &target.name;
    let Range { start, length, .. } = view.blocks.range;
    let begin = start.of(size);
    if begin >= size {
        let message = format!("the range starts at {begin}, but target {name} has {size}");
        out.error("range-start", at.key("start"), message, "start before the end, or raise size");
        return;
    }
    let rest = Bytes(size.0 - begin.0);
    let length = length.map_or(rest, |length| length.of(size));
    // Percentages that add up to 100 may exceed the rest by the rounding of one byte.
    let exact = matches!(view.blocks.range.length, Some(Extent::Bytes(_)));
    if length > rest && exact {
        let message =
            format!("the range of {length} from {begin} ends beyond target {name} of {size}");
        out.error("range-end", at.key("length"), message, "shorten it, or raise size");
        return;
    }
    let length = length.min(rest);
    if length > Bytes(0) {
        operations(view, target, length, out);
        share(view, target, length, out);
    }
}

fn operations(view: &View<'_>, target: &Target, length: Bytes, out: &mut Found) {
    let needed = needed(view.blocks);
    if needed > length && !matches!(view.blocks.access, Access::Trace(_)) {
        let message = format!(
            "operations of {needed} do not fit into the {length} that are used of target {}",
            target.name
        );
        let (place, remedy) = (view.key("size"), "use smaller sizes or a larger target");
        if view.alone {
            // The host says so again, and ends that job.
            out.warning("size-target", place, message, remedy);
        } else {
            out.error("size-target", place, message, remedy);
        }
    } else if let Some(end) = view.blocks.listed_end().filter(|end| *end > length) {
        let number = view.blocks.access.last_listed().unwrap_or(0);
        let message = format!(
            "block {number} of the list ends at {end}, but {length} are used of target {}",
            target.name
        );
        let place = view.key("access").key("list").key("blocks");
        out.error("list", place, message, "name lower blocks, or use a larger target");
    }
}

/// Every worker gets something to do, and nothing beyond the end.
fn share(view: &View<'_>, target: &Target, length: Bytes, out: &mut Found) {
    let seats = u128::from(view.seats_max());
    let largest = largest(view.blocks);
    let (needed, what) = match view.blocks.share {
        Share::Whole | Share::Span => return,
        Share::Slice => {
            let slice = slice_min(view.blocks);
            (seats * u128::from(slice.0), format!("{seats} slices of {slice}"))
        }
        Share::Interleave => {
            (seats * u128::from(largest.0), format!("{seats} blocks of {largest}"))
        }
        Share::Segments { block, count, .. } => (
            // No overflow: 32 bits times 64 bits, and at most 4096 or so seats.
            u128::from(block.0).saturating_mul(u128::from(count) * seats),
            format!("{count} segments of {seats} blocks of {block}"),
        ),
    };
    if needed > u128::from(length.0) && (largest <= length || seats > 1) {
        let message =
            format!("{what} do not fit into the {length} that are used of target {}", target.name);
        let enough = u64::try_from(needed).map(Bytes);
        let remedy = match enough {
            Ok(enough) => format!("use fewer or smaller ones, or a size of at least {enough}"),
            Err(_) => "use fewer or smaller ones".to_owned(),
        };
        out.error(share_rule(&view.blocks.share), view.key("share"), message, remedy);
    }
}

/// The smallest slice that holds any operation: slices begin at aligned places.
fn slice_min(blocks: &Blocks) -> Bytes {
    let unit = blocks.alignment_max().0;
    Bytes(needed(blocks).0.div_ceil(unit).saturating_mul(unit))
}

fn share_rule(share: &Share) -> &'static str {
    match share {
        Share::Segments { .. } => "segments",
        _ => "share-target",
    }
}
