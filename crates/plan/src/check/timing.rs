//! Pace and durability.

use super::whole::time_limit;
use super::{Found, INTERVAL_MIN, View};
use crate::blocks::{Arrival, Durability, OpenSync, Pace};
use crate::units::PerOp;
use crate::{BytesPerSec, Nanos, OpsPerSec};

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    pace(view, out);
    log(view, out);
    durability(view, out);
}

fn pace(view: &View<'_>, out: &mut Found) {
    let Pace { ops, bytes, per_direction, arrival, think } = &view.blocks.pace;
    let at = view.key("pace");
    let remedy = "give a rate above 0, or remove it for full speed";
    if *ops == Some(OpsPerSec(0)) {
        out.error("pace", at.key("ops"), "the rate is 0 operations per second", remedy);
    }
    if *bytes == Some(BytesPerSec(0)) {
        out.error("pace", at.key("bytes"), "the rate is 0 bytes per second", remedy);
    }
    let total = ops.is_some() || bytes.is_some();
    if *arrival == Arrival::Poisson && !total && per_direction.is_none() {
        let message = "arrival is poisson, but no rate is set";
        out.error("arrival", at.key("arrival"), message, "set pace.ops or pace.bytes");
    }
    if let Some(rates) = per_direction {
        per_direction_fits(view, rates, total, out);
    }
    if let Some(think) = think {
        let at = at.key("think");
        if think.every == 0 {
            let message = "think.every is 0: after how many operations is the rest?";
            out.error("think", at.key("every"), message, "set every = 1");
        }
        if think.time == Nanos(0) {
            let message = "think.time is 0, so there is no rest";
            out.warning("think", at.key("time"), message, "give a time, or remove think");
        }
        time_limit(think.time, at.key("time"), out);
    }
}

fn per_direction_fits(view: &View<'_>, rates: &PerOp<OpsPerSec>, total: bool, out: &mut Found) {
    let at = view.key("pace").key("per_direction");
    if total {
        let message = "a rate of the whole job and rates per direction exclude each other";
        out.error("pace", at.clone(), message, "remove one of the two");
    }
    for (op, rate) in rates.iter() {
        let used = view.blocks.mix.of(op) > 0;
        if used && rate.0 == 0 {
            let message = format!("the mix has {}s, but their rate is 0", op.name());
            out.error("pace", at.key(op.name()), message, "give a rate above 0");
        }
    }
}

/// Intervals that a log can keep.
fn log(view: &View<'_>, out: &mut Found) {
    let log = &view.blocks.measure.log;
    let at = view.key("measure").key("log");
    for (key, length) in [("window", log.window), ("histogram", log.histogram)] {
        let Some(length) = length else { continue };
        time_limit(length, at.key(key), out);
        if length < INTERVAL_MIN {
            let message = format!("{key} is {length}, shorter than {INTERVAL_MIN}");
            out.error("interval", at.key(key), message, format!("set {key} = \"1s\""));
        }
    }
    if log.peaks && log.window.is_none() {
        let message = "the greatest latency of each window is asked for, but no window is set";
        out.error("log-peaks", at.key("peaks"), message, "set measure.log.window as well");
    }
}

fn durability(view: &View<'_>, out: &mut Found) {
    let Durability { open, fsync_every, fdatasync_every, fsync_at_end } = view.blocks.durability;
    let at = view.key("durability");
    if fsync_every > 0 && fdatasync_every > 0 {
        let message = format!(
            "fsync_every is {fsync_every} and fdatasync_every {fdatasync_every}; only one is done"
        );
        out.error("two-syncs", at.key("fdatasync_every"), message, "remove one of the two");
    }
    let syncs = fsync_every > 0 || fdatasync_every > 0 || fsync_at_end || open != OpenSync::None;
    if syncs && !view.blocks.mix.destroys() {
        let message = "durability is set, but nothing is written";
        out.warning("fsync-reads", at, message, "remove it, or write");
    }
}
