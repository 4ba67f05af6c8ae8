//! Zones with write pointers.

use super::sizes::distinct;
use super::{Found, View};
use crate::blocks::{Access, Share, Zones};
use crate::units::{Op, SizeSpec};
use crate::{Bytes, Place};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    let Some(zones) = &view.blocks.zones else { return };
    let at = view.key("zones");
    lengths(zones, &at, out);
    operations(view, zones, &at, out);
    limits(zones, &at, out);
    beside(view, &at, out);
}

fn lengths(zones: &Zones, at: &Place, out: &mut Found) {
    let of = [("length", zones.length), ("capacity", zones.capacity)];
    for (key, _) in of.into_iter().filter(|(_, size)| *size == Some(Bytes(0))) {
        let remedy = format!("give {key} a size, or remove it");
        out.error("zones", at.key(key), format!("{key} is 0"), remedy);
    }
    let Some(length) = zones.length.filter(|length| length.0 > 0) else { return };
    if let Some(capacity) = zones.capacity.filter(|capacity| *capacity > length) {
        let message = format!("a zone of {length} cannot hold {capacity}");
        out.error("zones", at.key("capacity"), message, "set it to the length at most");
    }
    if !zones.gap.0.is_multiple_of(length.0) {
        let message = format!("gap is {}, no multiple of a zone of {length}", zones.gap);
        out.error("zones", at.key("gap"), message, "leave out whole zones");
    }
}

/// An operation lies in one zone; a trim is all of it.
fn operations(view: &View<'_>, zones: &Zones, at: &Place, out: &mut Found) {
    let Some(length) = zones.length.filter(|length| length.0 > 0) else { return };
    let holds = zones.capacity.unwrap_or(length).min(length);
    let sizes = distinct(view.blocks).into_iter().filter(|(op, _)| *op != Op::Trim);
    let jumps = view.blocks.jump_size.as_ref().map(SizeSpec::max);
    let largest = sizes.map(|(_, size)| size.max()).chain(jumps).max();
    if let Some(size) = largest.filter(|size| *size > holds && holds.0 > 0) {
        let message = format!("an operation of {size} does not fit into a zone of {holds}");
        out.error("zones", at.key("length"), message, "make zones longer, or sizes smaller");
    }
    let trims = view.blocks.mix.trim > 0;
    if trims && view.blocks.size.trim != SizeSpec::Fixed(length) {
        let message = format!("a trim resets a zone, which has {length}, but size says otherwise");
        out.error("zones", view.key("size"), message, format!("set size.trim = \"{length}\""));
    }
}

fn limits(zones: &Zones, at: &Place, out: &mut Found) {
    for (key, limit) in
        [("open_max", zones.open_max), ("open_max_per_worker", zones.open_max_per_worker)]
    {
        if limit == Some(0) {
            let remedy = format!("set it to 1 or more, or remove {key}");
            out.error("zones", at.key(key), format!("{key} is 0"), remedy);
        }
    }
    if let Some(reset) = zones.reset {
        let at = at.key("reset");
        out.percent("percent", at.key("above_percent"), reset.above_percent, 0.0);
        out.count("zones", at.key("every"), reset.every.into(), u32::MAX.into());
    }
}

/// What does not go together with zones.
fn beside(view: &View<'_>, at: &Place, out: &mut Found) {
    let blocks = view.blocks;
    let mut refuse = |message: &str, remedy: &str| {
        out.error("zones", at.clone(), message.to_owned(), remedy.to_owned());
    };
    if matches!(blocks.access, Access::Trace { .. }) {
        refuse("a trace says itself where each operation goes", "remove zones");
    }
    if blocks.windows.is_some() {
        refuse("windows and zones both say where the access goes on", "remove one of them");
    }
    if blocks.share != Share::Whole {
        refuse("workers share zones, not parts of them", "set share = \"whole\"");
    }
    if blocks.verify.is_some() {
        let message = "verification does not know yet where writes go that zones have moved";
        refuse(message, "remove verify or zones");
    }
}
