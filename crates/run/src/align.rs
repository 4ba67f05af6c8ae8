//! Tracing the block layer for a time, without any load of our own.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use candor_observe::trace::{BlockTracer, Budget, Processes, TraceMethod};
use candor_observe::{Roots, Sampler, SnapshotDetail};
use candor_record::facts::{DeviceKind, Missing};
use candor_record::requests::{
    AlignmentReport, RequestOp, RequestStats, Requests, TracedProcesses,
};
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
    let tracing = Tracing::begin(facts, tracer, &roots);
    began(tracing.method());
    tracing.wait(time, || control.is_stopped());
    Ok(tracing.end())
}

/// Traces the requests of some processes, and of all that these start, on the devices under the
/// paths: on all devices where there is no path.
///
/// # Errors
/// A path does not exist, no block device is below any, or the kernel does not allow it.
pub fn trace_processes(
    paths: &[PathBuf],
    processes: &Processes,
) -> Result<ProcessTracing, RunError> {
    let roots = Roots::default();
    let named = match paths {
        [] => devices::all(&roots),
        paths => devices::named(paths)?,
    };
    let facts = devices::below(&named, &roots)?;
    let tracer = BlockTracer::start_for(processes, &facts, &roots).map_err(RunError::Untraced)?;
    Ok(ProcessTracing(Tracing::begin(facts, Ok(tracer), &roots)))
}

/// Requests of some processes while they are traced.
pub struct ProcessTracing(Tracing);

impl ProcessTracing {
    /// The method in words.
    pub fn method(&self) -> &'static str {
        self.0.method()
    }

    /// Waits that long, or until something else ends it.
    pub fn wait(&self, time: Duration, is_over: impl FnMut() -> bool) {
        self.0.wait(time, is_over);
    }

    /// The requests so far; `command` is what ran, empty for processes that ran already.
    pub fn end(self, command: Vec<String>) -> AlignmentReport {
        let members = self.0.tracer.as_ref().map(BlockTracer::members).unwrap_or_default();
        let all = self.0.end();
        let trace = all.trace.of_processes(&members);
        let issuers = trace.requests.iter().flat_map(|of| &of.issuers);
        let mut pids: Vec<u32> = issuers.map(|issuer| issuer.pid).collect();
        pids.sort_unstable();
        pids.dedup();
        let by_kernel = all.trace.by_kernel();
        AlignmentReport {
            verdict: candor_judge::align::friendliness(&trace),
            trace,
            processes: Some(TracedProcesses { command, pids, by_kernel }),
            ..all
        }
    }
}

/// A tracer at work.
struct Tracing {
    facts: Facts,
    tracer: Result<BlockTracer, Missing>,
    sampler: Sampler,
    before: (Snapshot, RequestStats),
    begin: Instant,
}

impl Tracing {
    fn begin(facts: Facts, tracer: Result<BlockTracer, Missing>, roots: &Roots) -> Tracing {
        let mut sampler = Sampler::new(&facts, Vec::new(), roots);
        let before = (sampler.snapshot(SnapshotDetail::Light), devices::traced(&tracer));
        Tracing { facts, tracer, sampler, before, begin: Instant::now() }
    }

    fn method(&self) -> &'static str {
        self.tracer.as_ref().map_or(MEANS, |tracer| tracer.method().name())
    }

    fn wait(&self, time: Duration, mut is_over: impl FnMut() -> bool) {
        while self.begin.elapsed() < time && !is_over() {
            thread::sleep(STEP.min(time.saturating_sub(self.begin.elapsed())));
        }
    }

    fn end(mut self) -> AlignmentReport {
        let after = self.sampler.snapshot(SnapshotDetail::Light);
        let trace = match &self.tracer {
            Ok(tracer) => {
                let stats = tracer.stats().since(&self.before.1).beside(&self.before.0, &after);
                devices::with_names(stats)
            }
            Err(_) => means(&self.facts, &self.before.0, &after),
        };
        AlignmentReport {
            report_version: REPORT_VERSION,
            verdict: candor_judge::align::friendliness(&trace),
            elapsed_s: self.begin.elapsed().as_secs_f64(),
            trace,
            untraced: self.tracer.err(),
            processes: None,
            facts: self.facts,
        }
    }
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
