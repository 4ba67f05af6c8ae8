//! Watching the block layer for a time, without any load of our own.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use candor_observe::eye::{Budget, Eye, Way};
use candor_observe::{Look, Roots, Sampler};
use candor_record::facts::DeviceKind;
use candor_record::requests::{RequestOp, RequestStats, Requests, Seen};
use candor_record::{Facts, REPORT_VERSION, Snapshot};

use crate::stop::interrupted;
use crate::{RunError, inspected, watching};

/// How it is told that single requests are not seen.
const MEANS: &str = "the kernel's counters, which know means only";

/// How often an interrupt is looked for.
const STEP: Duration = Duration::from_millis(50);

/// Looks at the devices under the paths for a time, or until it is interrupted; in one way, or in
/// the best that the kernel allows. `began` is told how, once it looks.
///
/// # Errors
/// A path does not exist, no block device is below any, or the kernel does not allow the one way
/// that was asked for.
pub fn align(
    paths: &[PathBuf],
    time: Duration,
    by: Option<Way>,
    began: impl FnOnce(&str),
) -> Result<Seen, RunError> {
    let roots = Roots::default();
    let facts = watching::devices_under(&inspected::named(paths)?, &roots)?;
    let eye = match by {
        Some(way) => Ok(Eye::by(way, &facts, Budget::Unbounded, &roots).map_err(RunError::Blind)?),
        None => Eye::open(&facts, Budget::Unbounded, &roots),
    };
    let mut sampler = Sampler::new(&facts, &[], &roots);
    let before = (sampler.snapshot(Look::Light), watching::look(&eye));
    let begin = Instant::now();
    began(eye.as_ref().map_or(MEANS, |eye| eye.way().name()));
    while begin.elapsed() < time && !interrupted().load(Relaxed) {
        thread::sleep(STEP.min(time.saturating_sub(begin.elapsed())));
    }
    let after = sampler.snapshot(Look::Light);
    let trace = match &eye {
        Ok(eye) => eye.look().since(&before.1).beside(&before.0, &after).named(watching::process),
        Err(_) => means(&facts, &before.0, &after),
    };
    Ok(Seen {
        report_version: REPORT_VERSION,
        verdict: candor_judge::align::friendliness(&trace),
        elapsed_s: begin.elapsed().as_secs_f64(),
        trace,
        blind: eye.err(),
        facts,
    })
}

/// What the kernel's counters tell of each device: how many requests, and their bytes.
fn means(facts: &Facts, before: &Snapshot, after: &Snapshot) -> RequestStats {
    let disks = facts.devices.iter().filter(|device| device.kind != DeviceKind::Partition);
    let mut requests = Vec::new();
    for device in disks {
        let Some(did) = before.device_delta(after, &device.name) else { continue };
        for (direction, count, sectors) in [
            (RequestOp::Read, did.reads, did.read_sectors),
            (RequestOp::Write, did.writes, did.write_sectors),
            (RequestOp::Discard, did.discards, did.discard_sectors),
            (RequestOp::Flush, did.flushes, 0),
        ] {
            let device = device.name.clone();
            let bytes = sectors.saturating_mul(512);
            requests.push(Requests { device, direction, count, bytes, ..Requests::default() });
        }
    }
    requests.retain(|of| of.count > 0);
    RequestStats { way: MEANS.to_owned(), requests, ..RequestStats::default() }
}
