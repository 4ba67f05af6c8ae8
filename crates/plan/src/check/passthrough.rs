//! Engines that send commands past the page cache and past the block layer, and what these commands
//! have no words for.

use super::{Found, View};
use crate::blocks::{Access, Advice, Engine, OpenSync, UringCmd};
use crate::units::Mix;

const RULE: &str = "passthrough";

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    if !view.blocks.engine.is_passthrough() {
        return;
    }
    let name = view.blocks.engine.name();
    if !view.blocks.direct {
        let message = format!("{name} goes past the page cache, but direct is false");
        out.error(RULE, view.key("direct"), message, "set direct = true");
    }
    durability(view, name, out);
    page_cache(view, name, out);
    trim_ranges(view, out);
    if view.blocks.zones.is_some() {
        let message = format!("{name} does not follow write pointers");
        out.error(
            RULE,
            view.key("zones"),
            message,
            "remove zones, or use io_uring on the block device",
        );
    }
    if view.targets.iter().any(|target| target.scheduler.is_some()) {
        let message = format!("commands of {name} pass no I/O scheduler");
        out.error(RULE, view.key("engine"), message, "remove scheduler from the target");
    }
}

/// Trims of several ranges have no single place that others could be compared with.
fn trim_ranges(view: &View<'_>, out: &mut Found) {
    let Engine::UringCmd(UringCmd { trim_ranges, .. }) = view.blocks.engine else { return };
    let at = view.key("engine").key(view.blocks.engine.name()).key("trim_ranges");
    out.count(RULE, at.clone(), trim_ranges.into(), UringCmd::TRIM_RANGES_MAX.into());
    if trim_ranges < 2 {
        return;
    }
    let beside = [
        (view.blocks.mix != Mix::TRIM, "the mix is not of trims alone", "set mix = \"trim\""),
        (
            matches!(view.blocks.access, Access::Trace(_)),
            "a trace says itself what each trim is",
            "set trim_ranges = 1",
        ),
        (
            view.blocks.serialize_overlap,
            "serialize_overlap knows one range of each operation",
            "remove one of the two",
        ),
    ];
    for (_, why, remedy) in beside.into_iter().filter(|(is_set, ..)| *is_set) {
        out.error(RULE, at.clone(), format!("trim_ranges is {trim_ranges}, and {why}"), remedy);
    }
}

fn durability(view: &View<'_>, name: &str, out: &mut Found) {
    let (durability, at) = (view.blocks.durability, view.key("durability"));
    if durability.open != OpenSync::None {
        let message = format!("commands of {name} do not know how a device was opened");
        let remedy = format!("set engine.{name}.fua_writes = true instead");
        out.error(RULE, at.key("open"), message, remedy);
    }
    let of_cache =
        [("range", durability.range.is_some()), ("syncfs_at_end", durability.syncfs_at_end)];
    for (key, _) in of_cache.into_iter().filter(|(_, is_set)| *is_set) {
        let message = format!("{key} writes the page cache back, and {name} leaves nothing there");
        out.error(RULE, at.key(key), message, "use fsync_every or fsync_at_end");
    }
}

fn page_cache(view: &View<'_>, name: &str, out: &mut Found) {
    let (hints, at) = (&view.blocks.hints, view.key("hints"));
    let hints = [
        ("evict", hints.evict),
        ("invalidate", hints.invalidate),
        ("pre_read", hints.pre_read),
        ("advice", hints.advice != Advice::None),
        ("write_life", hints.write_life.is_some()),
    ];
    for (key, _) in hints.into_iter().filter(|(_, is_set)| *is_set) {
        let message = format!("{key} is about the page cache, and {name} goes past it");
        out.error(RULE, at.key(key), message, format!("remove {key}"));
    }
}
