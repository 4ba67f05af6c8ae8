//! Watching what goes on on devices, again and again, without any load of our own.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_judge::activity;
use candor_observe::trace::{BlockTracer, Budget};
use candor_observe::{Roots, Sampler, SnapshotDetail, diskstats};
use candor_record::facts::Missing;
use candor_record::requests::RequestStats;
use candor_record::{Facts, REPORT_VERSION, Snapshot, Watched};

use crate::{RunError, inspected};

/// The share of one CPU that tracing requests may take.
const SHARE: f64 = 0.01;

/// What is looked at.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// What is on the devices under these; where nothing is named, on all devices of the host.
    pub paths: Vec<PathBuf>,
    /// Names of groups, and the paths under whose devices what happened is added up.
    pub groups: Vec<(String, Vec<PathBuf>)>,
    /// The partitions of disks too.
    pub partitions: bool,
}

/// Looks at devices: those under some paths, or all of the host.
pub struct Watching {
    roots: Roots,
    asked: Asked,
    /// Kernel names of all devices of the host, where all are looked at.
    all: Option<Vec<String>>,
    watch: Watch,
}

/// What is open, and the last look.
struct Watch {
    facts: Facts,
    groups: Vec<(String, Vec<String>)>,
    sampler: Sampler,
    tracer: Result<BlockTracer, Missing>,
    before: (Snapshot, RequestStats),
}

impl Watching {
    /// Begins to look.
    ///
    /// # Errors
    /// A path does not exist, or no block device is below any.
    pub fn new(asked: &Asked) -> Result<Watching, RunError> {
        let roots = Roots::default();
        let mut targets = inspected::named(&asked.paths)?;
        for (_, paths) in &asked.groups {
            targets.extend(inspected::named(paths)?);
        }
        let all = targets.is_empty().then(|| names(&roots));
        targets.extend(all.iter().flatten().map(|name| node(name, &roots)));
        let mut facts = devices_under(&targets, &roots)?;
        let mut groups = Vec::new();
        for (name, paths) in &asked.groups {
            groups.push((name.clone(), members(paths, &facts)?));
        }
        if asked.partitions {
            let disks = facts.devices.iter().flat_map(|device| {
                let parts = candor_observe::partitions(&device.name, &roots);
                std::iter::once(device.name.clone()).chain(parts)
            });
            let targets: Vec<_> = disks.map(|name| node(&name, &roots)).collect();
            facts = candor_observe::inspect(&targets, &roots);
        }
        let watch = Watch::new(facts, groups, &roots);
        Ok(Watching { watch, asked: asked.clone(), all, roots })
    }

    /// What happened since the last look, or since it began.
    pub fn look(&mut self) -> Watched {
        let watched = self.watch.look();
        if self.all.as_ref().is_some_and(|known| *known != names(&self.roots)) {
            // Devices came or went. If nothing is left to look at, the old ones are kept.
            if let Ok(anew) = Watching::new(&self.asked) {
                *self = anew;
            }
        }
        watched
    }
}

impl Watch {
    fn new(facts: Facts, groups: Vec<(String, Vec<String>)>, roots: &Roots) -> Watch {
        let tracer = BlockTracer::start(&facts, Budget::Share(SHARE), roots);
        let mut sampler = Sampler::new(&facts, &[], roots);
        let before = (sampler.snapshot(SnapshotDetail::Light), traced(&tracer));
        Watch { facts, groups, sampler, tracer, before }
    }

    fn look(&mut self) -> Watched {
        let now = (self.sampler.snapshot(SnapshotDetail::Light), traced(&self.tracer));
        let trace = now.1.since(&self.before.1).beside(&self.before.0, &now.0).named(process);
        let (facts, before) = (&self.facts, &self.before.0);
        let mut devices = activity::between(facts, before, &now.0, &trace);
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

/// The name of a process, which its threads may not bear.
pub(crate) fn process(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

/// Kernel names of the devices that paths are or lie on, each once.
fn members(paths: &[PathBuf], facts: &Facts) -> Result<Vec<String>, RunError> {
    let mut members: Vec<String> = Vec::new();
    for path in paths {
        let name = path.display().to_string();
        let target = facts.targets.iter().find(|target| target.target == name);
        let device = target.and_then(|target| target.device.as_ref());
        let device = device.ok_or_else(|| RunError::NoDevice(vec![name]))?.value.clone();
        if !members.contains(&device) {
            members.push(device);
        }
    }
    Ok(members)
}

/// What lies under some paths, each with its name.
///
/// # Errors
/// No block device is below any.
pub(crate) fn devices_under(
    targets: &[(String, PathBuf)],
    roots: &Roots,
) -> Result<Facts, RunError> {
    let facts = candor_observe::inspect(targets, roots);
    match facts.devices.is_empty() {
        true => Err(RunError::NoDevice(targets.iter().map(|(name, _)| name.clone()).collect())),
        false => Ok(facts),
    }
}

/// The requests traced so far; none where the tracer cannot run.
pub(crate) fn traced(tracer: &Result<BlockTracer, Missing>) -> RequestStats {
    tracer.as_ref().map(BlockTracer::stats).unwrap_or_default()
}

/// The devices of the host that can hold anything, with their nodes.
pub(crate) fn all(roots: &Roots) -> Vec<(String, PathBuf)> {
    names(roots).iter().map(|name| node(name, roots)).collect()
}

/// Devices of the host that can hold anything, partitions aside.
pub(crate) fn names(roots: &Roots) -> Vec<String> {
    let has_size = |name: &String| {
        let size = std::fs::read_to_string(roots.sys.join("class/block").join(name).join("size"));
        size.is_ok_and(|size| size.trim() != "0") && node(name, roots).1.exists()
    };
    let disks = diskstats(roots).unwrap_or_default().into_iter();
    let whole = disks.filter(|disk| disk.partition_of.is_none()).map(|disk| disk.name);
    whole.filter(has_size).collect()
}

pub(crate) fn node(name: &str, roots: &Roots) -> (String, PathBuf) {
    (name.to_owned(), roots.dev.join(name.replace('!', "/")))
}
