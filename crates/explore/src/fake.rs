//! A runner whose host is a formula: no file is opened and no time passes.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use candor_plan::units::{Direction, SizeSpec};
use candor_plan::{Blocks, Bytes, Engine, Entries, Job, Nanos, Phase, Plan, Target};
use candor_record::facts::{Fact, Filesystem, PathKind, TargetFacts};
use candor_record::{Ended, HostRecord, IoFailure, Measurement, Note, OpStats, WorkerStats};
use candor_run::{Collected, Ready, RunError, Runner, Running, Survey, Task};

/// A device that serves some requests at a time, each in the same time.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    /// Requests served at the same time.
    pub channels: u32,
    /// Time that each takes.
    pub latency_s: f64,
    /// Operations per second that keep the CPU of one worker busy.
    pub worker_ops_per_s: f64,
    /// CPUs of the host.
    pub cpus: u32,
}

impl Device {
    /// A device that no CPU limits.
    pub fn new(channels: u32, latency_s: f64) -> Device {
        Device { channels, latency_s, worker_ops_per_s: f64::INFINITY, cpus: 4 }
    }

    /// Operations per second: requests in flight by Little's law, as far as the workers' CPUs go.
    fn ops_per_s(&self, workers: u32, depth: u32) -> f64 {
        let served = f64::from((workers * depth).min(self.channels)) / self.latency_s;
        served.min(f64::from(workers) * self.worker_ops_per_s)
    }

    /// Files take one request each, and so do looks at names.
    fn measure_names(
        &self,
        job: &Job,
        entries: &Entries,
        target: &Target,
        time: Option<f64>,
    ) -> Measurement {
        let ops_per_s = self.ops_per_s(job.workers, entries.depth);
        let all = entries.names_of(target, job.workers.into()).expect("a shape") as f64;
        let seconds = time.unwrap_or(f64::INFINITY).min(all / ops_per_s);
        let mut measurement = Measurement {
            job: job.name.clone(),
            workers: job.workers,
            elapsed_ns: (seconds * 1e9) as u64,
            ended: Ended::Done,
            ..Measurement::default()
        };
        let ops = (ops_per_s * seconds) as u64;
        let of_each = ops * entries.all_steps().count() as u64 / u64::from(job.workers);
        let worker = WorkerStats { ops: of_each, ..WorkerStats::default() };
        measurement.per_worker = vec![worker; job.workers as usize];
        for step in entries.all_steps() {
            let stats = OpStats { ops, ops_per_s, ..OpStats::of(step.operation()) };
            *measurement.operation_mut(step.operation()) = stats;
        }
        measurement
    }

    fn measure(&self, job: &Job, blocks: &Blocks, seconds: f64) -> Measurement {
        let ops_per_s = self.ops_per_s(job.workers, blocks.depth);
        let SizeSpec::Fixed(Bytes(size)) = blocks.size.read else { panic!("sizes are fixed") };
        let ops = (ops_per_s * seconds) as u64;
        let direction = if blocks.mix.write > 0 { Direction::Write } else { Direction::Read };
        let busy = ops_per_s / f64::from(job.workers) / self.worker_ops_per_s;
        let elapsed_ns = (seconds * 1e9) as u64;
        let worker = WorkerStats {
            cpu_user_ns: (busy * seconds * 1e9) as u64,
            bytes: ops * size / u64::from(job.workers),
            ..WorkerStats::default()
        };
        let mut measurement = Measurement {
            job: job.name.clone(),
            workers: job.workers,
            elapsed_ns,
            ended: Ended::Time,
            per_worker: vec![worker; job.workers as usize],
            ..Measurement::default()
        };
        let (bytes, bytes_per_s) = (ops * size, ops_per_s * size as f64);
        let stats = OpStats { ops, bytes, ops_per_s, bytes_per_s, ..OpStats::default() };
        measurement.put(direction, stats);
        measurement
    }
}

/// A phase that ran, and the size that its target had.
#[derive(Clone, Debug)]
pub struct Ran {
    pub phase: Phase,
    pub size: Option<Bytes>,
}

/// The phases that ran so far, in order.
#[derive(Clone, Debug, Default)]
pub struct History(Arc<Mutex<Vec<Ran>>>);

impl History {
    /// All of them.
    pub fn all(&self) -> Vec<Ran> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn add(&self, ran: Ran) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(ran);
    }
}

/// Runs phases on such a device.
pub struct Fake {
    pub device: Device,
    /// Kind and length of whatever path is surveyed first; later ones are missing.
    pub kind: PathKind,
    pub length_bytes: Option<u64>,
    /// Free space of the filesystem.
    pub available_bytes: u64,
    /// A phase of that name cannot be prepared.
    pub refuses: Option<&'static str>,
    /// A phase of that name fails.
    pub fails: Option<&'static str>,
    /// Phases that begin with that are slowed down to a hundredth, the first so many of them.
    pub disturbed: (&'static str, usize),
    pub history: History,
    /// The host, once the runner is open.
    pub hosts: Vec<HostRecord>,
}

impl Fake {
    /// Of a directory on such a device.
    pub fn new(device: Device) -> Fake {
        Fake {
            device,
            kind: PathKind::Directory,
            length_bytes: None,
            available_bytes: 1 << 40,
            refuses: None,
            fails: None,
            disturbed: ("", 0),
            history: History::default(),
            hosts: Vec::new(),
        }
    }
}

impl Runner for Fake {
    fn survey(&self, path: &Path) -> Result<Survey, RunError> {
        if !self.hosts.is_empty() {
            let cause = std::io::Error::from_raw_os_error(2);
            return Err(RunError::File { what: "find", path: path.to_owned(), cause });
        }
        Ok(Survey {
            path: path.to_owned(),
            kind: self.kind,
            length_bytes: self.length_bytes,
            takes_direct: true,
            engine: Engine::IO_URING,
            space: None,
        })
    }

    fn open(&mut self, plan: &Plan) -> Result<(), RunError> {
        let mut host = HostRecord { host: "fake".into(), ..HostRecord::default() };
        host.facts.host.cpus = Some(Fact::new(self.device.cpus, "the test"));
        let available_bytes = self.available_bytes;
        let filesystem = Some(Filesystem { available_bytes, ..Filesystem::default() });
        let facts = |name: &String| TargetFacts {
            target: name.clone(),
            filesystem: filesystem.clone(),
            ..TargetFacts::default()
        };
        host.facts.targets = plan.targets.iter().map(|target| facts(&target.name)).collect();
        self.hosts = vec![host];
        Ok(())
    }

    fn hosts(&self) -> &[HostRecord] {
        &self.hosts
    }

    fn prepare<'a>(&'a mut self, task: &Task<'a>) -> Result<Box<dyn Ready<'a> + 'a>, RunError> {
        if self.refuses == Some(task.phase.name.as_str()) {
            return Err(RunError::Hook("it is refused".into()));
        }
        let time = task.phase.stop.time.map(Nanos::as_secs_f64);
        let job = &task.phase.jobs[0];
        let (disturbed, times) = self.disturbed;
        let slow = times > 0 && task.phase.name.starts_with(disturbed);
        self.disturbed.1 -= usize::from(slow);
        let latency_s = self.device.latency_s * if slow { 100.0 } else { 1.0 };
        let device = Device { latency_s, ..self.device };
        let target = task.plan.target(&job.targets[0]).expect("it is planned");
        let mut measurement = match (job.blocks(), job.entries()) {
            (Some(blocks), _) => {
                device.measure(job, blocks, time.expect("every step has its time"))
            }
            (None, Some(entries)) => device.measure_names(job, entries, target, time),
            (None, None) => panic!("it reads, writes, or works on names"),
        };
        if self.fails == Some(task.phase.name.as_str()) {
            measurement.ended = Ended::Failed;
            let (path, message) = ("/fake".into(), "the medium is worn out".into());
            let (op, offset, errno, count) = (Some("write".to_owned()), 0, 5, 1);
            measurement.errors = vec![IoFailure { op, path, offset, errno, message, count }];
        }
        let (phase, size) = (task.phase.clone(), task.plan.targets[0].size);
        self.history.add(Ran { phase, size });
        let (measurements, hosts) = (vec![measurement], self.hosts.clone());
        Ok(Box::new(Done(Collected { measurements, hosts, notes: Vec::new() })))
    }

    fn owns(&self, _: &Plan, _: &Phase) -> bool {
        false
    }

    fn measure_memory(&mut self, _: &mut [HostRecord]) {}

    fn close(&mut self) -> Vec<Note> {
        Vec::new()
    }
}

/// A phase that takes no time.
struct Done(Collected);

impl<'a> Ready<'a> for Done {
    fn start(self: Box<Self>, _: Option<Instant>) -> Box<dyn Running + 'a> {
        self
    }
}

impl Running for Done {
    fn collect(self: Box<Self>, _: &mut dyn FnMut(Collected)) -> Collected {
        self.0
    }
}
