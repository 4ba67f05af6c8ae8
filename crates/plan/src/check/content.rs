//! What is written, and whether it can be verified.

use super::access::does;
use super::sizes::distinct;
use super::{Found, SECTOR, View};
use crate::Bytes;
use crate::blocks::{Access, Content, Fill, Share, Verify};
use crate::units::{Op, SizeSpec};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    let Content { fill, compressible_percent, duplicate_percent } = view.blocks.content;
    let at = view.key("content");
    let percents =
        [("compressible_percent", compressible_percent), ("duplicate_percent", duplicate_percent)];
    for (key, percent) in percents {
        out.percent("percent", at.key(key), percent.into(), 0.0);
    }
    if fill == Fill::Zero && (compressible_percent > 0 || duplicate_percent > 0) {
        let message = "zeros are compressible and alike by themselves";
        let remedy = "set fill = \"pool\", or remove the percentages";
        out.warning("zero-content", at.clone(), message, remedy);
    }
    if let Some(verify) = &view.blocks.verify {
        verify_sizes(view, verify, out);
        verify_content(view, out);
        verify_races(view, out);
    }
}

fn verify_sizes(view: &View<'_>, verify: &Verify, out: &mut Found) {
    let place = view.key("verify").key("interval");
    let interval = verify.interval;
    if interval < SECTOR || !interval.0.is_multiple_of(SECTOR.0) {
        let message = format!("the interval of {interval} is not a multiple of {SECTOR}");
        out.error("verify-interval", place, message, "use 512 or 4k");
        return;
    }
    for (_, spec) in distinct(view.blocks) {
        let size = match spec {
            SizeSpec::Range(..) => {
                let message = format!("sizes in a range ({spec}) cannot be verified");
                out.error("verify-size", view.key("size"), message, "give one size, or weights");
                continue;
            }
            SizeSpec::Fixed(size) => first_undivided(&[*size], interval),
            SizeSpec::Weighted(list) => {
                let sizes: Vec<_> = list.iter().map(|(size, _)| *size).collect();
                first_undivided(&sizes, interval)
            }
        };
        if let Some(size) = size {
            let message = format!("the interval of {interval} does not divide the size {size}");
            out.error("verify-interval", place.clone(), message, "use a smaller interval");
        }
    }
    let align = view.blocks.align.filter(|align| first_undivided(&[*align], interval).is_some());
    if let Some(align) = align {
        let message = format!("the interval of {interval} does not divide the alignment {align}");
        out.error("verify-interval", place, message, "use a smaller interval");
    }
}

fn first_undivided(sizes: &[Bytes], interval: Bytes) -> Option<Bytes> {
    sizes.iter().copied().find(|size| !size.0.is_multiple_of(interval.0))
}

/// Contents that hold no header of their own cannot be told from stale data.
fn verify_content(view: &View<'_>, out: &mut Found) {
    let content = &view.blocks.content;
    let reason = if content.fill == Fill::Zero {
        "zeros"
    } else if content.compressible_percent > 0 {
        "compressible contents"
    } else if content.duplicate_percent > 0 {
        "duplicates"
    } else {
        ""
    };
    if !reason.is_empty() {
        let message = format!("verify checks the random bytes that candor writes, not {reason}");
        let remedy = "remove verify, or leave content as it is by default";
        out.error("verify-content", view.key("verify"), message, remedy);
    }
    if !view.blocks.moves_bytes() {
        let message = "no byte moves, so there is nothing to verify";
        out.error("verify-nothing", view.key("verify"), message, "remove verify");
    }
}

/// A block that is read while it is being written looks damaged and is not.
fn verify_races(view: &View<'_>, out: &mut Found) {
    let both = does(view, Op::Read) && view.blocks.mix.destroys();
    let shared = view.seats_max() > 1 && view.blocks.share == Share::Whole;
    let in_flight = view.blocks.engine.is_async() && view.blocks.depth > 1;
    let meets = view.blocks.access.is_random() && view.blocks.access != Access::Permutation;
    if both && (shared || (in_flight && meets)) {
        let message = "blocks may be read while they are written, which looks like a mismatch";
        let remedy = "write in one phase and verify in the next, or share = \"slice\" and depth 1";
        out.warning("verify-race", view.key("verify"), message, remedy);
    }
}
