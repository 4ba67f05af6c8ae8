//! Engines that send commands past the page cache and past the block layer, and what these commands
//! have no words for.

use super::{Found, View};
use crate::blocks::{Access, Engine, NvmeWrite, OpenSync, ScsiWrite, UringCmd};
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
    writes(view, out);
    zones(view, name, out);
    if view.targets.iter().any(|target| target.scheduler.is_some()) {
        let message = format!("commands of {name} pass no I/O scheduler");
        out.error(RULE, view.key("engine"), message, "remove scheduler from the target");
    }
}

/// Zones need plain NVMe writes, and trims of one range.
fn zones(view: &View<'_>, name: &str, out: &mut Found) {
    if view.blocks.zones.is_none() {
        return;
    }
    let why = match view.blocks.engine {
        Engine::Sg(_) => "does not follow write pointers",
        Engine::UringCmd(options) if options.trim_ranges > 1 => "resets one zone at a time",
        Engine::UringCmd(options) if options.write != NvmeWrite::Write => {
            "moves write pointers by plain writes only"
        }
        _ => return,
    };
    let remedy = "remove zones, or use io_uring on the block device";
    out.error(RULE, view.key("zones"), format!("{name} {why}"), remedy);
}

/// Commands that write, and what only some of them have.
fn writes(view: &View<'_>, out: &mut Found) {
    let engine = &view.blocks.engine;
    let at = view.key("engine").key(engine.name());
    let does_write = view.blocks.mix.write > 0;
    if does_write && !engine.stores_writes() && view.blocks.verify.is_some() {
        let message = "what this command leaves is not what could be read back";
        out.error(RULE, at.key("write"), message, "write by another command, or remove verify");
    }
    match *engine {
        Engine::UringCmd(options) => {
            if options.deallocate && options.write != NvmeWrite::Zeroes {
                let message = "deallocate is set, and only Write Zeroes deallocates";
                out.error(RULE, at.key("deallocate"), message, "set write = \"zeroes\"");
            }
            if does_write && options.protection.made_by_host && !engine.writes_bytes() {
                let message = "the host makes tags of bytes, and this command writes none";
                let place = at.key("protection").key("made_by_host");
                out.error(RULE, place, message, "leave it to the controller");
            }
        }
        Engine::Sg(options) => {
            if options.fua_writes && !options.write.has_fua() {
                let message = "the command that writes has no force unit access";
                out.error(RULE, at.key("fua_writes"), message, "remove it, or use fsync_every");
            }
            if options.stream > 0 && options.write != ScsiWrite::Stream {
                let message = format!("stream is {}, and writes go to none", options.stream);
                out.error(RULE, at.key("stream"), message, "set write = \"stream\"");
            }
        }
        _ => {}
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
            "a trace has the range of each trim",
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
        ("advice", !hints.advice.is_none()),
        ("write_life", hints.write_life.is_some()),
    ];
    for (key, _) in hints.into_iter().filter(|(_, is_set)| *is_set) {
        let message = format!("{key} is about the page cache, and {name} goes past it");
        out.error(RULE, at.key(key), message, format!("remove {key}"));
    }
}
