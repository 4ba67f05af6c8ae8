//! Facts known before a phase runs: its jobs that move real bytes, their targets, the devices
//! under them.

use candor_plan::blocks::OpenSync;
use candor_plan::units::Direction;
use candor_plan::{Blocks, Job, Phase, Plan, TargetKind};
use candor_record::facts::{
    DeviceFacts, DeviceKind, DirectIo, Fact, FileFacts, TargetFacts, value,
};
use candor_record::{Facts, Snapshot};

use crate::case::Case;

/// A job that moves real bytes.
#[derive(Clone, Copy)]
pub struct Planned<'a> {
    /// The phase that it belongs to.
    pub phase: &'a Phase,
    /// Index of the phase in the plan.
    pub phase_index: usize,
    /// Place among the jobs of the phase.
    pub index: usize,
    /// The job.
    pub job: &'a Job,
    /// Work.
    pub blocks: &'a Blocks,
    /// Reason why each write to a target is durable, whatever the plan says.
    pub synchronous: Option<&'static str>,
}

impl<'a> Planned<'a> {
    /// The job on targets with these facts.
    fn on(self, facts: &Facts) -> Planned<'a> {
        let mut targets = facts.targets.iter().filter(|t| self.job.targets.contains(&t.target));
        Planned { synchronous: targets.find_map(TargetFacts::synchronous), ..self }
    }
}

impl Planned<'_> {
    /// Operations that can really be in flight: a synchronous engine has one per worker.
    pub fn concurrency(&self) -> f64 {
        in_flight(self.job, self.blocks)
    }

    /// Operations that the plan asks for.
    pub fn in_flight_requested(&self) -> f64 {
        f64::from(self.job.workers) * f64::from(self.blocks.depth)
    }

    /// Some of its operations go in that direction.
    pub fn does(&self, op: Direction) -> bool {
        self.blocks.mix.of(op) > 0
    }

    /// The job's writes are made durable while it runs.
    pub fn durable(&self) -> bool {
        let durability = &self.blocks.durability;
        durability.fsync_every > 0 || durability.fdatasync_every > 0 || self.durable_each()
    }

    /// Each of its writes is durable when it completes.
    pub fn durable_each(&self) -> bool {
        self.blocks.durability.open != OpenSync::None
            || self.blocks.engine.call_flags().is_some_and(|flags| flags.dsync)
            || self.synchronous.is_some()
    }

    /// The job polls for completions, so that a busy CPU says nothing.
    pub fn polls(&self) -> bool {
        self.blocks.engine.polls()
    }

    /// The job is slowed down on purpose.
    pub fn paced(&self) -> bool {
        let pace = &self.blocks.pace;
        *pace != candor_plan::blocks::Pace::default()
    }
}

/// Facts known before a phase runs.
pub struct SetupFacts<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The phase.
    pub phase: &'a Phase,
    /// Index of the phase in the plan.
    pub phase_index: usize,
    /// The host and the targets.
    pub facts: &'a Facts,
    /// The kernel's counters at its start.
    pub before: &'a Snapshot,
    /// Jobs that move real bytes.
    pub jobs: Vec<Planned<'a>>,
}

impl<'a> SetupFacts<'a> {
    /// Collects the jobs that move real bytes.
    pub fn new(case: &Case<'a>) -> SetupFacts<'a> {
        let (plan, phase) = (case.plan, case.phase());
        let jobs = phase.jobs.iter().enumerate();
        let (phase_index, facts, before) = (case.record.phase, &case.host.facts, &case.host.before);
        let jobs = jobs
            .filter(|(_, job)| moves_bytes(plan, job))
            .filter_map(|(index, job)| {
                let blocks = job.blocks()?;
                Some(Planned { phase, phase_index, index, job, blocks, synchronous: None })
            })
            .map(|planned| planned.on(facts))
            .collect();
        SetupFacts { plan, phase, phase_index, facts, before, jobs }
    }

    /// The same with the facts of another moment.
    pub fn with(&self, facts: &'a Facts) -> SetupFacts<'a> {
        SetupFacts { facts, jobs: self.jobs.clone(), ..*self }
    }

    /// Targets of the jobs that pass the test.
    pub fn targets_of(&self, test: impl Fn(&Planned) -> bool) -> Vec<&'a TargetFacts> {
        let jobs: Vec<_> = self.jobs.iter().filter(|job| test(job)).collect();
        let used = |name: &String| jobs.iter().any(|j| j.job.targets.contains(name));
        self.facts.targets.iter().filter(|target| used(&target.target)).collect()
    }

    /// Targets of all jobs that work on some, be it on data or on names, each once.
    pub fn targets(&self) -> Vec<&'a TargetFacts> {
        let on_names = self.phase.jobs.iter().filter(|job| job.entries().is_some());
        let jobs: Vec<&Job> = self.jobs.iter().map(|planned| planned.job).chain(on_names).collect();
        let is_used =
            |target: &&TargetFacts| jobs.iter().any(|job| job.targets.contains(&target.target));
        self.facts.targets.iter().filter(is_used).collect()
    }

    /// A device and all devices under it, each once.
    pub fn chain(&self, name: &str) -> Vec<&'a DeviceFacts> {
        let mut chain: Vec<&'a DeviceFacts> = Vec::new();
        let mut next = vec![name];
        while let Some(name) = next.pop() {
            let seen = chain.iter().any(|device| device.name == name);
            if let (false, Some(device)) = (seen, self.facts.device(name)) {
                chain.push(device);
                next.extend(device.below.iter().map(String::as_str));
            }
        }
        chain
    }

    /// The devices that the targets live on, each once; none that lies under another of them,
    /// because the upper one already counts what passes to the lower.
    pub fn tops(&self) -> Vec<&'a DeviceFacts> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.targets().into_iter().flat_map(TargetFacts::devices) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let under = |name: &str, top: &str| {
            name != top && self.chain(top).iter().any(|device| device.name == name)
        };
        let is_top = |name: &&&str| !names.iter().any(|top| under(name, top));
        names.iter().filter(is_top).filter_map(|name| self.facts.device(name)).collect()
    }

    /// All devices under the targets, from the top down, each once.
    pub fn devices(&self) -> Vec<&'a DeviceFacts> {
        let mut all: Vec<&'a DeviceFacts> = Vec::new();
        for device in self.tops().into_iter().flat_map(|top| self.chain(&top.name)) {
            if !all.iter().any(|seen| seen.name == device.name) {
                all.push(device);
            }
        }
        all
    }

    /// The device spreads what it gets over all that lie below it: an array with stripes, or a
    /// mapped volume that is striped. Where root did not look, that is one which names the width
    /// of several chunks as its best size, wider than that of any of its members.
    pub fn is_striped(&self, device: &DeviceFacts) -> bool {
        const LEVELS: [&str; 5] = ["raid0", "raid4", "raid5", "raid6", "raid10"];
        if device.array_level().is_some_and(|level| LEVELS.contains(&level)) {
            return true;
        }
        let by_table = device.mapping.as_ref().and_then(|mapping| mapping.is("striped"));
        let raid = device.mapping.as_ref().is_some_and(|mapping| mapping.is("raid") == Some(true));
        if let Some(striped) = by_table.filter(|_| !raid) {
            return striped && device.below.len() > 1;
        }
        let best = |device: &DeviceFacts| value(&device.queue.optimal_io_bytes).copied();
        let chunk = value(&device.queue.minimum_io_bytes).copied().unwrap_or(0);
        let members = device.below.iter().filter_map(|name| self.facts.device(name));
        let widest = members.filter_map(best).max().unwrap_or(0);
        device.kind == DeviceKind::Dm
            && device.below.len() > 1
            && best(device).is_some_and(|width| width > widest && width / 2 >= chunk)
    }

    /// The chunk size of a striped device. Mapped ones name it as their smallest good size.
    pub fn chunk<'d>(&self, array: &'d DeviceFacts) -> Option<&'d Fact<u64>> {
        let mapped = array.kind == DeviceKind::Dm && self.is_striped(array);
        let least = array.queue.minimum_io_bytes.as_ref().filter(|_| mapped);
        array.queue.chunk_bytes.as_ref().or(least)
    }

    /// The devices at the end of every chain.
    pub fn leaves(&self) -> Vec<&'a DeviceFacts> {
        let ends = |d: &&DeviceFacts| d.below.iter().all(|b| self.facts.device(b).is_none());
        self.devices().into_iter().filter(ends).collect()
    }

    /// Files of targets.
    pub fn files(&self, targets: &[&'a TargetFacts]) -> Vec<&'a FileFacts> {
        targets.iter().flat_map(|target| target.files.iter()).collect()
    }

    /// Bytes of a page of memory.
    pub fn page_bytes(&self) -> u64 {
        if self.facts.host.page_bytes == 0 { 4096 } else { self.facts.host.page_bytes }
    }

    /// Some job goes in that direction.
    pub fn does(&self, op: Direction) -> bool {
        self.jobs.iter().any(|job| job.does(op))
    }

    /// Every job wants the caches of this host to answer.
    pub fn wants_cache(&self) -> bool {
        !self.phase.jobs.is_empty() && self.phase.jobs.iter().all(|job| job.wants_cache)
    }

    /// Every job bypasses the page cache, as far as it was asked to.
    pub fn all_direct(&self) -> bool {
        self.jobs.iter().all(|job| job.blocks.direct)
    }

    /// The reason why a target is memory, in words.
    pub fn memory_of(&self, target: &TargetFacts) -> Option<String> {
        if let Some(fs) = target.holding().filter(|fs| fs.in_memory) {
            return Some(format!("{} lives on {}, a filesystem in memory", target.path, fs.kind));
        }
        let chain = self.chain(value(&target.device)?);
        chain.iter().find_map(|device| memory_device(device))
    }

    /// Every target is memory.
    pub fn all_memory(&self) -> bool {
        let targets = self.targets();
        !targets.is_empty() && targets.iter().all(|target| self.memory_of(target).is_some())
    }

    /// An earlier phase of the plan that writes to a target of this one.
    pub fn written_by(&self) -> Option<&'a str> {
        let earlier = self.plan.phases.iter().take(self.phase_index);
        let ours = |name: &String| self.jobs.iter().any(|j| j.job.targets.contains(name));
        let mut earlier = earlier.filter(|phase| {
            phase.jobs.iter().any(|job| {
                job.blocks().is_some_and(|b| b.mix.write > 0) && job.targets.iter().any(ours)
            })
        });
        earlier.next_back().map(|phase| phase.name.as_str())
    }

    /// The filesystem says of a file of these targets that it does no direct I/O.
    pub fn refuses_direct(&self, targets: &[&'a TargetFacts]) -> bool {
        self.files(targets).iter().any(|file| file.direct == DirectIo::Unsupported)
    }

    /// Names of the top devices, for sentences.
    pub fn device_names(&self) -> String {
        let names: Vec<_> = self.tops().iter().map(|device| device.name.as_str()).collect();
        if names.is_empty() { "the device".into() } else { names.join(", ") }
    }

    /// Files with the counters of the top devices.
    pub fn stat_of_tops(&self) -> String {
        let tops = self.tops().into_iter();
        let paths = tops.map(|device| format!("/sys/class/block/{}/stat", device.name));
        paths.collect::<Vec<_>>().join(", ")
    }

    /// Paths of the targets, for sentences.
    pub fn target_paths(&self) -> String {
        let paths: Vec<_> = self.targets().iter().map(|target| target.path.as_str()).collect();
        paths.join(", ")
    }
}

/// Operations of a job that can really be in flight.
pub fn in_flight(job: &Job, blocks: &Blocks) -> f64 {
    f64::from(job.workers) * f64::from(depth_used(blocks, blocks.depth))
}

/// Operations of a worker that can really be in flight: a synchronous engine has one.
pub fn depth_used(blocks: &Blocks, requested: u32) -> u32 {
    if blocks.engine.is_async() { requested } else { 1 }
}

/// True for a job that moves real bytes: not the null engine, not no-ops, not a target that is
/// nothing.
fn moves_bytes(plan: &Plan, job: &Job) -> bool {
    let mut targets = job.targets.iter().filter_map(|name| plan.target(name));
    job.blocks().is_some_and(Blocks::moves_bytes)
        && targets.all(|target| target.kind != TargetKind::Null)
}

/// The reason why a device is memory, in words.
pub fn memory_device(device: &DeviceFacts) -> Option<String> {
    if device.kind.is_memory() {
        let kind = match device.kind {
            DeviceKind::Zram => "compressed memory (zram)",
            DeviceKind::Pmem => "persistent memory",
            _ => "a disk in memory (brd)",
        };
        return Some(format!("{} is {kind}", device.name));
    }
    let backing = device.loop_backing.as_ref()?;
    let kind = backing.filesystem.as_deref().filter(|fs| matches!(*fs, "tmpfs" | "ramfs"))?;
    Some(format!("{} is backed by {} on {kind}", device.name, backing.file.value))
}
