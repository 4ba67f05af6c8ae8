//! When phases and jobs end.

use super::whole::time_limit;
use super::{Found, TIME_MAX, WINDOWS_MAX};
use crate::blocks::{Access, Blocks};
use crate::units::Extent;
use crate::{Job, Nanos, PlanPath, Steady, Stonewall, Stop};

pub(super) fn check(stop: &Stop, at: &PlanPath, out: &mut Found) {
    bounds(stop, at, out);
    if let Some(time) = stop.time {
        time_limit(time, at.key("time"), out);
    }
    if let Some(time) = stop.min_time {
        time_limit(time, at.key("min_time"), out);
    }
    if let Some(steady) = &stop.steady {
        check_steady(steady, &at.key("steady"), out);
    }
    if stop.stonewall == Stonewall::WearOut {
        wear_out(stop, at.key("stonewall"), out);
    }
}

/// A minimum time repeats an amount of blocks, in which no write depends on the writes before it.
pub(super) fn check_min_time(job: &Job, stop: &Stop, at: &PlanPath, out: &mut Found) {
    if stop.min_time.is_none() {
        return;
    }
    let blocks = job.blocks();
    let what = match blocks {
        None => "only blocks repeat their amount",
        Some(Blocks { access: Access::Trace(_), .. }) => "a trace runs once",
        Some(Blocks { verify: Some(verify), .. })
            if verify.read_back.is_some() || verify.dry_run.is_some() =>
        {
            "verification counts the writes of one amount"
        }
        Some(_) if !stop.is_bounded() => "only an amount repeats, and time alone ends this job",
        Some(_) => return,
    };
    let message = format!("stop.min_time does not fit: {what}");
    out.error(
        "min-time",
        at.key("stop").key("min_time"),
        message,
        "remove min_time, or set stop.time",
    );
}

/// A bound of nothing ends the run before it starts.
fn bounds(stop: &Stop, at: &PlanPath, out: &mut Found) {
    let bounds = [
        ("time", stop.time.map(|time| time.0)),
        ("bytes", stop.bytes.map(|bytes| bytes.0)),
        ("ops", stop.ops),
        ("passes", stop.passes.map(u64::from)),
        ("at_least", stop.at_least.map(whole)),
        ("min_time", stop.min_time.map(|time| time.0)),
    ];
    for (key, bound) in bounds {
        if bound == Some(0) {
            let remedy = format!("give a {key} above 0, or remove {key}");
            out.error("stop-zero", at.key(key), format!("stop.{key} is 0: nothing runs"), remedy);
        }
    }
}

/// Bytes, or percent rounded up: 0 only for nothing.
fn whole(extent: Extent) -> u64 {
    match extent {
        Extent::Bytes(bytes) => bytes.0,
        Extent::Percent(percent) => percent.ceil() as u64,
    }
}

fn check_steady(steady: &Steady, at: &PlanPath, out: &mut Found) {
    let (windows, window) = (steady.windows(), steady.window());
    let at = match steady {
        Steady::Snia { .. } => at.key("snia"),
        Steady::Agree { percent, .. } => {
            let at = at.key("agree");
            // Half a per mille of nothing never agrees; zero would never end.
            if !(*percent > 0.0 && *percent <= 100.0) {
                let message = format!("percent is {percent}, not above 0 and up to 100");
                out.error("steady", at.key("percent"), message, "use 1 to 20");
            }
            at
        }
        Steady::Hold { limit, ramp, .. } => {
            let at = at.key("hold");
            if !(*limit >= 0.0 && limit.is_finite()) {
                let message = format!("limit is {limit}, no number from 0 on");
                out.error("steady", at.key("limit"), message, "give a limit of 0 or more");
            }
            time_limit(*ramp, at.key("ramp"), out);
            at
        }
    };
    if !(2..=WINDOWS_MAX).contains(&windows) {
        let message = format!("windows is {windows}, not 2 to {WINDOWS_MAX}");
        out.error("steady", at.key("windows"), message, "SNIA uses 5");
    }
    if window == Nanos(0) || window > TIME_MAX {
        let message = format!("window is {window}, not above 0 and up to a year");
        out.error("steady", at.key("window"), message, "use a window of a second or more");
    }
}

fn wear_out(stop: &Stop, place: PlanPath, out: &mut Found) {
    if stop.time.is_none() {
        let message = "stonewall is wear_out, but no time is set after which it would begin";
        out.error("wear-out-time", place, message, "set stop.time as well");
    }
}
