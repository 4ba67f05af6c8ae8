//! Hosts of a fleet as the runner of a run.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use candor_plan::{Engine, Phase, Plan};
use candor_record::{FleetMember, HostRecord, HostStall, LostHost, Note};
use candor_run::{
    BlockTraceMode, Channels, Collected, Command, Control, Ready, RunError, Runner, Running, Space,
    Survey, Task,
};

use crate::client::RunClient;
use crate::clock::now_ns;
use crate::coordinator::{Asked, Coordinator, Stalled};
use crate::identity::Identity;
use crate::link::{Arrived, Links};
use crate::message::{
    Failure, Join, PhaseTask, Reply, Request, SurveyReply, ToAgent, Word, host_of,
};
use crate::network::{Arrival, Network};
use crate::node::HOST_TIMEOUT_NS;
use crate::probe::PREFIX;

/// Options of a fleet.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Addresses of the agents, in the order of their numbers.
    pub hosts: Vec<String>,
    /// Devices that are written although they are held, where agents consent to it.
    pub force: Vec<String>,
    /// Leave out what makes a run slower to start.
    pub at_once: bool,
    /// How many requests of the devices are traced.
    pub block_trace: BlockTraceMode,
    /// Longest wait for agents that are not there yet, or have another run.
    pub wait: Duration,
    /// Silence after which a host is lost.
    pub host_timeout: Duration,
}

/// Longest wait for agents, unless the user names another.
pub const WAIT: Duration = Duration::from_secs(5);
/// Silence after which a host is lost, unless the user names another.
pub const HOST_TIMEOUT: Duration = Duration::from_nanos(HOST_TIMEOUT_NS);
/// Longest pause before the next try to have all hosts, where another coordinator has one.
const PAUSE_MAX: Duration = Duration::from_millis(500);
/// Time between two looks whether the user has interrupted a pause.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Default for FleetOptions {
    fn default() -> Self {
        let block_trace = BlockTraceMode::default();
        let (wait, host_timeout) = (WAIT, HOST_TIMEOUT);
        let (hosts, force) = (Vec::new(), Vec::new());
        FleetOptions { hosts, force, at_once: false, block_trace, wait, host_timeout }
    }
}

/// Sockets to the agents below the coordinator.
pub struct Sockets {
    links: Links,
    arrived: Receiver<Arrived>,
}

impl Sockets {
    fn new(identity: Identity) -> io::Result<Sockets> {
        let (sender, arrived) = mpsc::channel();
        // This end takes everything until it is dropped.
        let links = Links::new(identity, move |arrival| drop(sender.send(arrival)))?;
        Ok(Sockets { links, arrived })
    }
}

impl Network for Sockets {
    fn now_ns(&self) -> u64 {
        now_ns()
    }

    fn connect(&mut self, child: usize, address: &str, wait_ms: u64) {
        self.links.connect(child, address, wait_ms);
    }

    fn send(&mut self, child: usize, message: ToAgent) {
        self.links.send(child, message);
    }

    fn close(&mut self, child: usize) {
        self.links.close(child);
    }

    fn next(&mut self, until_ns: u64) -> Option<(usize, Arrival)> {
        let wait = Duration::from_nanos(until_ns.saturating_sub(now_ns()));
        let Arrived { child, arrival, .. } = self.arrived.recv_timeout(wait).ok()?;
        Some((child, arrival))
    }
}

/// Many hosts that run phases together.
pub struct Fleet {
    coordinator: RefCell<Coordinator<Sockets, RunClient>>,
    control: Control,
    /// Names and facts.
    hosts: Vec<HostRecord>,
    /// For each host, the lowest number of one with the same kernel.
    kernel_of: Vec<u32>,
    /// For each host, the lowest number of one that sees the same files.
    storage_of: Vec<u32>,
    notes: Vec<Note>,
}

impl Fleet {
    /// Reaches all hosts and gives them their places.
    ///
    /// # Errors
    /// One of them cannot be reached, refuses, or has another version.
    pub fn join(
        identity: &Identity,
        options: &FleetOptions,
        channels: &Channels,
    ) -> Result<Fleet, RunError> {
        let (began, mut random) = (Instant::now(), std::process::id());
        let (coordinator, reply) = loop {
            let wait = options.wait.saturating_sub(began.elapsed());
            let (coordinator, reply) = try_join(identity.clone(), options, wait, channels)?;
            if !is_busy(&coordinator) || began.elapsed() >= options.wait {
                break (coordinator, reply);
            }
            // Two coordinators that have some hosts each let go of them, and do not meet again.
            drop(coordinator);
            random = random.wrapping_mul(1_664_525).wrapping_add(now_ns() as u32 | 1);
            pause(PAUSE_MAX.mul_f64(f64::from(random >> 8) / f64::from(1 << 24)), channels)?;
        };
        whole(&coordinator, &reply)?;
        let kernels: HashMap<u32, String> = reply.kernels.into_iter().collect();
        let same = |host: u32| {
            let mine = kernels.get(&host).filter(|kernel| !kernel.is_empty());
            (0..host).find(|other| mine.is_some() && kernels.get(other) == mine).unwrap_or(host)
        };
        let count = options.hosts.len() as u32;
        Ok(Fleet {
            coordinator: RefCell::new(coordinator),
            control: channels.control.clone(),
            hosts: reply.hosts,
            kernel_of: (0..count).map(same).collect(),
            storage_of: (0..count).collect(),
            notes: Vec::new(),
        })
    }

    fn take(&mut self, reply: Reply) {
        if !reply.hosts.is_empty() {
            self.hosts = self.with_groups(reply.hosts);
        }
        self.notes.extend(reply.notes);
    }

    /// Records with what only the coordinator knows of their hosts.
    fn with_groups(&self, mut hosts: Vec<HostRecord>) -> Vec<HostRecord> {
        for member in hosts.iter_mut().filter_map(|host| host.member.as_mut()) {
            let index = member.index as usize;
            member.kernel_of = self.kernel_of.get(index).copied().unwrap_or(member.index);
            member.storage_of = self.storage_of.get(index).copied().unwrap_or(member.index);
        }
        hosts
    }
}

/// Reaches all hosts once and gives them their places; the answer tells who is lost.
fn try_join(
    identity: Identity,
    options: &FleetOptions,
    wait: Duration,
    channels: &Channels,
) -> Result<(Coordinator<Sockets, RunClient>, Reply), RunError> {
    let sockets = Sockets::new(identity).map_err(|cause| RunError::Thread { cause })?;
    let mut coordinator = Coordinator::new(sockets, RunClient::new(channels.clone()));
    let distinct: HashSet<&str> = options.hosts.iter().map(|host| host_of(host)).collect();
    let asked = coordinator.begin(Request::Join(Join {
        names_without_ports: distinct.len() == options.hosts.len(),
        run: run_name(),
        hosts: options.hosts.len() as u32,
        below: options.hosts.clone(),
        force: options.force.clone(),
        at_once: options.at_once,
        block_trace: options.block_trace,
        wait_ms: wait.as_millis() as u64,
        host_timeout_ms: options.host_timeout.as_millis() as u64,
        ..Join::default()
    }));
    loop {
        if let Some(reply) = coordinator.answer(asked) {
            return Ok((coordinator, reply));
        }
        // Nothing has to be cleaned up yet, and some agents may not be there.
        if channels.control.is_over() {
            return Err(RunError::Interrupted);
        }
        coordinator.pump();
    }
}

/// True where another coordinator has hosts, and nothing else is wrong.
fn is_busy(coordinator: &Coordinator<Sockets, RunClient>) -> bool {
    let lost = coordinator.lost();
    !lost.is_empty() && lost.iter().all(|lost| lost.failure.is_busy)
}

/// Waits, unless the user interrupts.
fn pause(time: Duration, channels: &Channels) -> Result<(), RunError> {
    let until = Instant::now() + time;
    while Instant::now() < until {
        if channels.control.is_over() {
            return Err(RunError::Interrupted);
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}

/// Ends with an error where a host failed or is lost.
fn whole(coordinator: &Coordinator<Sockets, RunClient>, reply: &Reply) -> Result<(), RunError> {
    // Others fail for being stopped once one is lost.
    let lost = coordinator.lost().iter().map(|lost| &lost.failure);
    let failures: Vec<&Failure> = lost.chain(&reply.failures).collect();
    let Some(first) = failures.first() else { return Ok(()) };
    if coordinator.lost().is_empty() && coordinator.client().is_stopped() {
        return Err(RunError::Interrupted);
    }
    let others = match failures.len() - 1 {
        0 => String::new(),
        1 => "; one other host failed, too".into(),
        others => format!("; {others} other hosts failed, too"),
    };
    let Failure { host, address, why, exit_code, .. } = first;
    Err(RunError::Host {
        sentence: format!("host {host} ({address}): {why}{others}"),
        exit_code: (*exit_code).max(1),
    })
}

/// A name for this run that no other has at the same time.
fn run_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", now.as_nanos(), std::process::id())
}

impl Runner for Fleet {
    fn survey(&self, path: &Path) -> Result<Survey, RunError> {
        let mut coordinator = self.coordinator.borrow_mut();
        let reply = coordinator.ask(Request::Survey { path: path.to_owned() });
        whole(&coordinator, &reply)?;
        let mut surveys = reply.surveys.into_iter().map(survey);
        let first = surveys.next().ok_or(RunError::Interrupted)?;
        Ok(surveys.fold(first, |one, other| narrowest(one, &other)))
    }

    fn open(&mut self, plan: &Plan) -> Result<(), RunError> {
        let paths: Vec<_> = plan.targets.iter().map(|target| target.path.clone()).collect();
        let name = format!("{PREFIX}{}", run_name());
        let coordinator = self.coordinator.get_mut();
        let seen = coordinator.probe(&paths, name);
        whole(coordinator, &seen)?;
        for (host, of) in &seen.seen {
            if let (Some(lowest), Some(known)) =
                (of.iter().min(), self.storage_of.get_mut(*host as usize))
            {
                *known = *lowest;
            }
        }
        let opened = coordinator.open(plan);
        whole(coordinator, &opened)?;
        self.take(opened);
        Ok(())
    }

    fn hosts(&self) -> &[HostRecord] {
        &self.hosts
    }

    fn prepare<'a>(&'a mut self, task: &Task<'a>) -> Result<Box<dyn Ready<'a> + 'a>, RunError> {
        let message = PhaseTask {
            plan: None,
            phase: task.phase.clone(),
            index: task.index,
            repeat: task.repeat,
            follow_up: task.follow_up,
        };
        let coordinator = self.coordinator.get_mut();
        let reply = coordinator.prepare(task.plan, &message);
        let is_stopped = self.control.is_stopped();
        let ready =
            if is_stopped { Err(RunError::Interrupted) } else { whole(coordinator, &reply) };
        if ready.is_err() {
            // Those that are ready are not to wait.
            coordinator.discard();
        }
        self.notes.extend(reply.notes);
        ready.map(|()| Box::new(FleetPhase { fleet: self, task: *task, started: None }) as _)
    }

    fn owns(&self, _plan: &Plan, _phase: &Phase) -> bool {
        // A follow-up on one of several hosts would disturb the others' files.
        false
    }

    fn measure_memory(&mut self, hosts: &mut [HostRecord]) {
        let reply = self.coordinator.get_mut().ask(Request::MeasureMemory);
        for (host, measured) in hosts.iter_mut().zip(reply.hosts) {
            host.memory_copy = measured.memory_copy;
        }
    }

    fn close(&mut self) -> Vec<Note> {
        let reply = self.coordinator.get_mut().ask(Request::Close);
        self.notes.extend(reply.notes);
        std::mem::take(&mut self.notes)
    }
}

/// A phase that waits at its barrier on all hosts, and then runs.
struct FleetPhase<'a> {
    fleet: &'a mut Fleet,
    task: Task<'a>,
    started: Option<(u64, Asked)>,
}

impl<'a> Ready<'a> for FleetPhase<'a> {
    fn start(mut self: Box<Self>, _at: Option<Instant>) -> Box<dyn Running + 'a> {
        let coordinator = self.fleet.coordinator.get_mut();
        coordinator.client_mut().begin_phase();
        self.started = Some(coordinator.start());
        self
    }
}

impl FleetPhase<'_> {
    fn collected(&self, reply: Reply, start_ns: u64) -> Collected {
        let mut hosts = self.fleet.with_groups(reply.hosts);
        let coordinator = self.fleet.coordinator.borrow();
        for Stalled { stall, heard_ns } in coordinator.stalls() {
            let member = hosts.iter_mut().filter_map(|host| host.member.as_mut());
            let mut member = member.filter(|member| member.index == stall.host);
            let began_ns = heard_ns.saturating_sub(stall.silent_ns).max(start_ns);
            if let (Some(member), true) = (member.next(), *heard_ns > began_ns) {
                let (at_ns, silent_ns) = (began_ns - start_ns, heard_ns - began_ns);
                member.stalls.push(HostStall { at_ns, silent_ns });
            }
        }
        for lost in coordinator.lost() {
            // The last word may have come just before the start of the phase.
            let in_phase = lost.noticed_ns >= start_ns;
            let at_ns = in_phase.then(|| lost.heard_ns.saturating_sub(start_ns));
            hosts.push(self.lost(coordinator.client(), &lost.failure, at_ns));
        }
        hosts.sort_by_key(|host| host.member.as_ref().map(|member| member.index));
        Collected { measurements: reply.measurements, hosts, notes: reply.notes }
    }

    /// Record of a host that was lost: all that was told of it.
    fn lost(&self, told: &RunClient, failure: &Failure, at_ns: Option<u64>) -> HostRecord {
        let index = failure.host as usize;
        let known = self.fleet.hosts.get(index).cloned().unwrap_or_default();
        let of_job = |job: &candor_plan::Job| {
            let (ops, bytes) = told.done(&known.host, &job.name);
            let mut lost = candor_record::Measurement {
                job: job.name.clone(),
                workers: job.workers,
                ended: candor_record::Ended::Interrupted,
                ..Default::default()
            };
            (lost.last_done.ops, lost.last_done.bytes) = (ops, bytes);
            lost.last_done.at_ns = at_ns.unwrap_or(0);
            lost
        };
        let member = FleetMember {
            index: failure.host,
            address: failure.address.clone(),
            lost: Some(LostHost { at_ns, why: failure.why.clone() }),
            ..known.member.clone().unwrap_or_default()
        };
        let measurements = self.task.phase.jobs.iter().map(of_job).collect();
        HostRecord { member: Some(member), measurements, ..known }
    }
}

impl Running for FleetPhase<'_> {
    fn collect(mut self: Box<Self>, interim: &mut dyn FnMut(Collected)) -> Collected {
        let Some((start_ns, asked)) = self.started.take() else { return Collected::default() };
        let mut interim_asked = None;
        let reply = loop {
            let coordinator = self.fleet.coordinator.get_mut();
            if let Some(reply) = coordinator.answer(asked) {
                break reply;
            }
            coordinator.pump();
            if interim_asked.is_none() && self.fleet.control.takes_interim() {
                interim_asked = Some(coordinator.begin(Request::Interim));
            }
            let so_far = interim_asked.and_then(|asked| coordinator.answer(asked));
            if let Some(reply) = so_far {
                interim_asked = None;
                interim(self.collected(reply, start_ns));
            }
        };
        self.collected(reply, start_ns)
    }
}

impl Drop for FleetPhase<'_> {
    fn drop(&mut self) {
        let coordinator = self.fleet.coordinator.get_mut();
        match self.started.take() {
            // It was never started, or has been collected: hosts that wait for nothing ignore it.
            None => coordinator.discard(),
            Some(_) => {
                self.fleet.control.send(Command::Stop);
                coordinator.word(Word::Stop);
            }
        }
    }
}

fn survey(told: SurveyReply) -> Survey {
    let SurveyReply { path, kind, length_bytes, takes_direct, engine, space } = told;
    let space = space.map(|(filesystem, total_bytes, available_bytes, available_inodes)| Space {
        filesystem,
        total_bytes,
        available_bytes,
        available_inodes,
    });
    Survey { path, kind, length_bytes, takes_direct, engine, space }
}

/// The survey that holds on both hosts.
fn narrowest(one: Survey, other: &Survey) -> Survey {
    let space = match (one.space, other.space) {
        (Some(one), Some(other)) if one.available_bytes > other.available_bytes => Some(other),
        (one, other) => one.or(other),
    };
    let lengths = [one.length_bytes, other.length_bytes];
    Survey {
        takes_direct: one.takes_direct && other.takes_direct,
        length_bytes: lengths.into_iter().flatten().min(),
        // The best that all have.
        engine: match [one.engine, other.engine] {
            [one, other] if one == other => one,
            engines if engines.contains(&Engine::Threads) => Engine::Threads,
            _ => Engine::LIBAIO,
        },
        space,
        ..one
    }
}
