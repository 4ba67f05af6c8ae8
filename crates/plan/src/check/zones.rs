//! Zones with write pointers.

use super::{Found, View};
use crate::blocks::{Access, Share, Zones};
use crate::units::{Direction, SizeSpec};
use crate::{Bytes, Job, PlanPath, Stop};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    let Some(zones) = &view.blocks.zones else { return };
    let at = view.key("zones");
    lengths(zones, &at, out);
    operations(view, zones, &at, out);
    limits(zones, &at, out);
    beside(view, &at, out);
}

fn lengths(zones: &Zones, at: &PlanPath, out: &mut Found) {
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

/// A write lies in one zone; a trim is all of it. Longer reads find no place, which is no mistake
/// where a zone is shorter than what a program reads at a time.
fn operations(view: &View<'_>, zones: &Zones, at: &PlanPath, out: &mut Found) {
    let Some(length) = zones.length.filter(|length| length.0 > 0) else { return };
    let holds = zones.capacity.unwrap_or(length).min(length);
    let jumps = view.blocks.jump_size.as_ref().map(SizeSpec::max);
    let largest = view.blocks.size.write.max().max(jumps.unwrap_or_default());
    if view.blocks.mix.write > 0 && largest > holds && holds.0 > 0 {
        let message = format!("a write of {largest} does not fit into a zone of {holds}");
        out.error("zones", at.key("length"), message, "make zones longer, or sizes smaller");
    }
    let trims = view.blocks.mix.trim > 0;
    if trims && view.blocks.size.trim != SizeSpec::Fixed(length) {
        let message = format!("a trim resets a zone of {length}, but size differs");
        out.error("zones", view.key("size"), message, format!("set size.trim = \"{length}\""));
    }
}

fn limits(zones: &Zones, at: &PlanPath, out: &mut Found) {
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

/// Options that do not go together with zones.
fn beside(view: &View<'_>, at: &PlanPath, out: &mut Found) {
    let blocks = view.blocks;
    if matches!(blocks.access, Access::Trace { .. }) {
        out.error("zones", at.clone(), "a trace has the offset of each operation", "remove zones");
    }
    if blocks.windows.is_some() {
        let message = "windows and zones both set where the access continues";
        out.error("zones", at.clone(), message, "remove one of them");
    }
    if blocks.share != Share::Whole {
        let message = "workers share zones, not parts of them";
        out.error("zones", at.clone(), message, "set share = \"whole\"");
    }
    let read_back = blocks.verify.as_ref().and_then(|verify| verify.read_back);
    if read_back.is_some_and(|read_back| read_back.only) {
        let message = "only a run that wrote knows where zones have moved its writes";
        out.error("zones", at.clone(), message, "remove only");
    }
    if read_back.is_some_and(|read_back| read_back.trims.is_some()) {
        let message = "a trim resets a zone, and would take what is still to be read";
        out.error("zones", at.clone(), message, "remove trims");
    }
}

/// Pointers are recovered if a job continues after errors of its writes.
pub(super) fn check_recovery(job: &Job, stop: &Stop, at: &PlanPath, out: &mut Found) {
    let Some(blocks) = job.blocks() else { return };
    let recovers = blocks.zones.as_ref().is_some_and(|zones| zones.recover_pointers);
    let continues = stop.continue_on_error
        || stop.tolerate.iter().any(|tolerated| tolerated.op == Direction::Write);
    if recovers && blocks.mix.write > 0 && !continues {
        let at = at.key("work").key(job.work.name()).key("zones").key("recover_pointers");
        let message = "the first write that fails ends the job, and no pointer is recovered";
        let remedy = "set stop.continue_on_error, or tolerate errors of writes in stop.tolerate";
        out.error("zones", at, message, remedy);
    }
}
