//! Activity of devices, read again and again, without any load of our own.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_judge::activity;
use candor_observe::trace::{BlockTracer, Budget, Processes};
use candor_observe::{Roots, Sampler, SnapshotDetail};
use candor_plan::PathText;
use candor_record::facts::Missing;
use candor_record::requests::RequestStats;
use candor_record::{Facts, REPORT_VERSION, Snapshot, Watched};

use crate::devices::{self, traced};
use crate::error::RunError;

/// The share of one CPU that tracing requests may take.
const SHARE: f64 = 0.01;

/// Devices to watch.
#[derive(Clone, Debug, Default)]
pub struct DeviceSelection {
    /// The devices under these; where nothing is named, on all devices of the host.
    pub paths: Vec<PathBuf>,
    /// Names of groups, and the paths whose devices are summed up under each.
    pub groups: Vec<(String, Vec<PathBuf>)>,
    /// The partitions of disks too.
    pub partitions: bool,
    /// Only requests of these processes, and of all that they start; of all processes where none
    /// is named.
    pub pids: Vec<u32>,
}

/// Watches devices: those under some paths, or all of the host.
pub struct DeviceWatch {
    roots: Roots,
    selection: DeviceSelection,
    /// Kernel names of all devices of the host, where all are watched.
    all: Option<Vec<String>>,
    interval: Interval,
}

/// Open counters and tracer, and their last values.
struct Interval {
    facts: Facts,
    groups: Vec<(String, Vec<String>)>,
    sampler: Sampler,
    tracer: Result<BlockTracer, Missing>,
    /// The tracer counts the requests of some processes apart, and these alone are shown.
    of_processes: bool,
    before: (Snapshot, RequestStats),
}

impl DeviceWatch {
    /// Begins to watch.
    ///
    /// # Errors
    /// A path does not exist, or no block device is below any.
    pub fn new(selection: &DeviceSelection) -> Result<DeviceWatch, RunError> {
        let roots = Roots::default();
        let mut targets = devices::named(&selection.paths)?;
        for (_, paths) in &selection.groups {
            targets.extend(devices::named(paths)?);
        }
        let all = targets.is_empty().then(|| devices::names(&roots));
        targets.extend(all.iter().flatten().map(|name| devices::node(name, &roots)));
        let mut facts = devices::below(&targets, &roots)?;
        let mut groups = Vec::new();
        for (name, paths) in &selection.groups {
            groups.push((name.clone(), members(paths, &facts)?));
        }
        if selection.partitions {
            let disks = facts.devices.iter().flat_map(|device| {
                let parts = candor_observe::partitions(&device.name, &roots);
                std::iter::once(device.name.clone()).chain(parts)
            });
            let targets: Vec<_> = disks.map(|name| devices::node(&name, &roots)).collect();
            facts = candor_observe::inspect(&targets, &roots);
        }
        let interval = Interval::new(facts, groups, &selection.pids, &roots)?;
        Ok(DeviceWatch { interval, selection: selection.clone(), all, roots })
    }

    /// Activity since the last look, or since the watch began.
    pub fn look(&mut self) -> Watched {
        let watched = self.interval.look();
        if self.all.as_ref().is_some_and(|known| *known != devices::names(&self.roots)) {
            // Devices came or went. If nothing is left to watch, the old ones are kept.
            if let Ok(anew) = DeviceWatch::new(&self.selection) {
                *self = anew;
            }
        }
        watched
    }
}

impl Interval {
    fn new(
        facts: Facts,
        groups: Vec<(String, Vec<String>)>,
        pids: &[u32],
        roots: &Roots,
    ) -> Result<Interval, RunError> {
        let tracer = match pids {
            [] => BlockTracer::start(&facts, Budget::Share(SHARE), roots),
            // Without single requests nothing is known of a process.
            pids => Ok(BlockTracer::start_for(&Processes::These(pids.to_vec()), &facts, roots)
                .map_err(RunError::Untraced)?),
        };
        let mut sampler = Sampler::new(&facts, Vec::new(), roots);
        let before = (sampler.snapshot(SnapshotDetail::Light), traced(&tracer));
        let of_processes = !pids.is_empty();
        Ok(Interval { facts, groups, sampler, tracer, of_processes, before })
    }

    fn look(&mut self) -> Watched {
        let now = (self.sampler.snapshot(SnapshotDetail::Light), traced(&self.tracer));
        let trace = now.1.since(&self.before.1).beside(&self.before.0, &now.0);
        let trace = devices::with_names(trace);
        let (facts, before) = (&self.facts, &self.before.0);
        let mut devices = match (&self.tracer, self.of_processes) {
            (Ok(tracer), true) => {
                let trace = trace.of_processes(&tracer.members());
                activity::of_processes(facts, before, &now.0, &trace)
            }
            _ => activity::between(facts, before, &now.0, &trace),
        };
        devices.extend(
            self.groups
                .iter()
                .map(|(name, members)| activity::together(name, members, facts, before, &now.0)),
        );
        let elapsed_ns = now.0.at_ns.saturating_sub(self.before.0.at_ns);
        self.before = now;
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Watched {
            report_version: REPORT_VERSION,
            unix_ms: u64::try_from(unix.as_millis()).unwrap_or(u64::MAX),
            elapsed_s: elapsed_ns as f64 / 1e9,
            devices,
            untraced: self.tracer.as_ref().err().cloned(),
        }
    }
}

/// Kernel names of the devices that paths are or lie on, each once.
fn members(paths: &[PathBuf], facts: &Facts) -> Result<Vec<String>, RunError> {
    let mut members: Vec<String> = Vec::new();
    for path in paths {
        let name = path.text();
        let target = facts.targets.iter().find(|target| target.target == name);
        let device = target.and_then(|target| target.device.as_ref());
        let device = device.ok_or_else(|| RunError::NoDevice(vec![name]))?.value.clone();
        if !members.contains(&device) {
            members.push(device);
        }
    }
    Ok(members)
}
