//! Tracing the block layer for a time, without any load of our own.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use candor_observe::trace::{BlockTracer, Budget, TraceMethod};
use candor_observe::{Roots, Sampler, SnapshotDetail};
use candor_record::facts::DeviceKind;
use candor_record::requests::{AlignmentReport, RequestOp, RequestStats, Requests};
use candor_record::{Facts, REPORT_VERSION, Snapshot};

use crate::control::Control;
use crate::devices;
use crate::error::RunError;

/// The method that is reported where single requests cannot be traced.
const MEANS: &str = "the kernel's counters, which know means only";

/// Longest sleep between two looks at the control.
const STEP: Duration = Duration::from_millis(50);

/// Traces the devices under the paths for a time, or until an interrupt; by one method, or by the
/// best that the kernel allows. `began` is called with its name once the tracer runs.
///
/// # Errors
/// A path does not exist, no block device is below any, or the kernel does not allow the
/// requested method.
pub fn align(
    paths: &[PathBuf],
    time: Duration,
    by: Option<TraceMethod>,
    control: &Control,
    began: impl FnOnce(&str),
) -> Result<AlignmentReport, RunError> {
    let roots = Roots::default();
    let facts = devices::below(&devices::named(paths)?, &roots)?;
    let tracer = match by {
        Some(method) => Ok(BlockTracer::start_by(method, &facts, Budget::Unbounded, &roots)
            .map_err(RunError::Untraced)?),
        None => BlockTracer::start(&facts, Budget::Unbounded, &roots),
    };
    let mut sampler = Sampler::new(&facts, Vec::new(), &roots);
    let before = (sampler.snapshot(SnapshotDetail::Light), devices::traced(&tracer));
    let begin = Instant::now();
    began(tracer.as_ref().map_or(MEANS, |tracer| tracer.method().name()));
    while begin.elapsed() < time && !control.is_stopped() {
        thread::sleep(STEP.min(time.saturating_sub(begin.elapsed())));
    }
    let after = sampler.snapshot(SnapshotDetail::Light);
    let trace = match &tracer {
        Ok(tracer) => {
            let stats = tracer.stats().since(&before.1).beside(&before.0, &after);
            devices::with_names(stats)
        }
        Err(_) => means(&facts, &before.0, &after),
    };
    Ok(AlignmentReport {
        report_version: REPORT_VERSION,
        verdict: candor_judge::align::friendliness(&trace),
        elapsed_s: begin.elapsed().as_secs_f64(),
        trace,
        untraced: tracer.err(),
        facts,
    })
}

/// The requests and bytes that the kernel's counters have for each device.
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
    RequestStats { method: MEANS.to_owned(), requests, ..RequestStats::default() }
}
