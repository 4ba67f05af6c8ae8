//! Hosts of a fleet as the runner of a run.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use candor_plan::{Engine, Phase, Plan};
use candor_record::{Event, FleetMember, HostRecord, JobSample, LostHost, Note};
use candor_run::{
    Channels, Collected, Command, Ready, RunError, Runner, Running, Space, Survey, Task,
};

use crate::clock::now_ns;
use crate::coordinator::{Asked, Coordinator};
use crate::identity::Identity;
use crate::link::{Arrived, Links};
use crate::message::{
    Failure, Join, PhaseTask, Reply, Request, SurveyReply, ToAgent, Word, host_of,
};
use crate::network::{Arrival, Network};

/// Options of a fleet.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// Addresses of the agents, in the order of their numbers.
    pub hosts: Vec<String>,
    /// Devices that are written although they are held, where agents consent to it.
    pub force: Vec<String>,
    /// Leave out what makes a run slower to start.
    pub at_once: bool,
    /// Agents that are not there yet are waited for so long.
    pub wait: Duration,
}

/// Time for which agents are waited for, where nothing else is said.
pub const WAIT: Duration = Duration::from_secs(5);

impl Default for FleetOptions {
    fn default() -> Self {
        FleetOptions { hosts: Vec::new(), force: Vec::new(), at_once: false, wait: WAIT }
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
    coordinator: RefCell<Coordinator<Sockets>>,
    channels: Channels,
    /// Names and facts.
    hosts: Vec<HostRecord>,
    /// For each host, the lowest number of one with the same kernel.
    kernel_of: Vec<u32>,
    /// For each host, the lowest number of one that sees the same files.
    storage_of: Vec<u32>,
    notes: Vec<Note>,
    /// Work of each host in the phase under way, as far as events told it: by job.
    done: HashMap<String, Vec<(u64, u64)>>,
    /// Sentences that were said.
    warned: HashSet<String>,
}

impl Fleet {
    /// Reaches all hosts and gives them their places.
    ///
    /// # Errors
    /// One of them cannot be reached, refuses, or has another version.
    pub fn join(
        identity: Identity,
        options: &FleetOptions,
        channels: &Channels,
    ) -> Result<Fleet, RunError> {
        let sockets = Sockets::new(identity).map_err(|cause| RunError::Thread { cause })?;
        let mut coordinator = Coordinator::new(sockets);
        let distinct: HashSet<&str> = options.hosts.iter().map(|host| host_of(host)).collect();
        let reply = coordinator.join(Join {
            names_without_ports: distinct.len() == options.hosts.len(),
            run: run_name(),
            hosts: options.hosts.len() as u32,
            below: options.hosts.clone(),
            force: options.force.clone(),
            at_once: options.at_once,
            wait_ms: options.wait.as_millis() as u64,
            ..Join::default()
        });
        whole(&coordinator, &reply)?;
        let kernels: HashMap<u32, String> = reply.kernels.into_iter().collect();
        let same = |host: u32| {
            let mine = kernels.get(&host).filter(|kernel| !kernel.is_empty());
            (0..host).find(|other| mine.is_some() && kernels.get(other) == mine).unwrap_or(host)
        };
        let count = options.hosts.len() as u32;
        Ok(Fleet {
            coordinator: RefCell::new(coordinator),
            channels: channels.clone(),
            hosts: reply.hosts,
            kernel_of: (0..count).map(same).collect(),
            storage_of: (0..count).collect(),
            notes: Vec::new(),
            done: HashMap::new(),
            warned: HashSet::new(),
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

    /// Adds an interval to what each host has done. Workers of all hosts are in it, host by host;
    /// once one is lost, nobody asks for more.
    fn count(&mut self, JobSample { job, workers, .. }: &JobSample) {
        let hosts = self.hosts.len();
        if hosts == 0 || workers.is_empty() || !workers.len().is_multiple_of(hosts) {
            return;
        }
        let done = self.done.entry(job.clone()).or_default();
        done.resize(hosts, (0, 0));
        for (done, workers) in done.iter_mut().zip(workers.chunks(workers.len() / hosts)) {
            done.0 += workers.iter().map(|worker| worker.ops).sum::<u64>();
            done.1 += workers.iter().map(|worker| worker.bytes).sum::<u64>();
        }
    }

    /// Passes on what hosts told since the last call.
    fn pass_events(&mut self) {
        let events = self.coordinator.borrow_mut().take_events();
        for event in events {
            if let Event::Sampled { samples, in_ramp: false, .. } = &event {
                samples.iter().for_each(|sample| self.count(sample));
            }
            self.pass(event);
        }
    }

    /// Passes an event on; what several hosts say in the same words is said once.
    fn pass(&mut self, event: Event) {
        let is_new = match &event {
            Event::Warned { sentence } => self.warned.insert(sentence.clone()),
            _ => true,
        };
        if is_new {
            self.channels.events.send(event);
        }
    }

    /// Commands of the user, passed on once each.
    fn pass_words(&self, told: &mut Vec<Word>) {
        let control = &self.channels.control;
        let words = [
            (Word::Stop, control.is_stopped()),
            (Word::End, control.is_ended()),
            (Word::EndPhase, control.ends_phase()),
        ];
        for (word, is_said) in words {
            if is_said && !told.contains(&word) {
                told.push(word);
                self.coordinator.borrow_mut().word(word);
            }
        }
    }

    /// Asks all hosts, passing on what they tell and what the user commands meanwhile.
    fn ask(&mut self, begin: impl FnOnce(&mut Coordinator<Sockets>) -> Asked) -> Reply {
        let asked = begin(self.coordinator.get_mut());
        let mut told = Vec::new();
        loop {
            if let Some(reply) = self.coordinator.get_mut().answer(asked) {
                return reply;
            }
            let until_ns = now_ns() + 50_000_000;
            self.coordinator.get_mut().pump(until_ns);
            self.pass_words(&mut told);
            self.pass_events();
        }
    }
}

/// Ends with an error where a host failed or is lost.
fn whole<N: Network>(coordinator: &Coordinator<N>, reply: &Reply) -> Result<(), RunError> {
    let lost = coordinator.lost().iter().map(|(failure, _)| failure);
    let failures: Vec<&Failure> = reply.failures.iter().chain(lost).collect();
    let Some(first) = failures.first() else { return Ok(()) };
    let others = match failures.len() - 1 {
        0 => String::new(),
        1 => "; one other host failed, too".into(),
        others => format!("; {others} other hosts failed, too"),
    };
    let Failure { host, address, why, exit_code } = first;
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
        let paths = plan.targets.iter().map(|target| target.path.clone()).collect();
        let name = format!("candor-probe-{}", run_name());
        let coordinator = self.coordinator.get_mut();
        let seen = coordinator.probe(paths, name);
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
        let ready = whole(coordinator, &reply);
        self.pass_events();
        self.notes.extend(reply.notes);
        if self.channels.control.is_stopped() || ready.is_err() {
            // Those that are ready are not to wait.
            self.coordinator.get_mut().discard();
        }
        ready?;
        match self.channels.control.is_stopped() {
            true => Err(RunError::Interrupted),
            false => Ok(Box::new(FleetPhase { fleet: self, task: *task, started: None })),
        }
    }

    fn owns(&self, _plan: &Plan, _phase: &Phase) -> bool {
        // A follow-up on one of several hosts would disturb the others' files.
        false
    }

    fn measure_memory(&mut self, hosts: &mut [HostRecord]) {
        let reply = self.ask(|coordinator| coordinator.begin(Request::MeasureMemory));
        for (host, measured) in hosts.iter_mut().zip(reply.hosts) {
            host.memory_copy = measured.memory_copy;
        }
    }

    fn close(&mut self) -> Vec<Note> {
        let reply = self.ask(|coordinator| coordinator.begin(Request::Close));
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
        self.fleet.done.clear();
        self.started = Some(self.fleet.coordinator.get_mut().start());
        self
    }
}

impl FleetPhase<'_> {
    fn collected(&self, reply: Reply, start_ns: u64) -> Collected {
        let mut hosts = self.fleet.with_groups(reply.hosts);
        for (failure, at_ns) in self.fleet.coordinator.borrow().lost() {
            hosts.push(self.lost(failure, at_ns.checked_sub(start_ns)));
        }
        hosts.sort_by_key(|host| host.member.as_ref().map(|member| member.index));
        Collected { measurements: reply.measurements, hosts, notes: reply.notes }
    }

    /// Record of a host that was lost: all that was told of it.
    fn lost(&self, failure: &Failure, at_ns: Option<u64>) -> HostRecord {
        let index = failure.host as usize;
        let known = self.fleet.hosts.get(index).cloned().unwrap_or_default();
        let of_job = |job: &candor_plan::Job| {
            let done = self.fleet.done.get(&job.name).and_then(|done| done.get(index));
            let (ops, bytes) = done.copied().unwrap_or_default();
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
        let (mut told, mut interim_asked) = (Vec::new(), None);
        let reply = loop {
            let coordinator = self.fleet.coordinator.get_mut();
            if let Some(reply) = coordinator.follow(asked) {
                break reply;
            }
            if interim_asked.is_none() && self.fleet.channels.control.takes_interim() {
                interim_asked = Some(coordinator.begin(Request::Interim));
            }
            let so_far = interim_asked.and_then(|asked| coordinator.answer(asked));
            if let Some(reply) = so_far {
                interim_asked = None;
                interim(self.collected(reply, start_ns));
            }
            self.fleet.pass_events();
            self.fleet.pass_words(&mut told);
        };
        self.fleet.pass_events();
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
                self.fleet.channels.control.send(Command::Stop);
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
        engine: if one.engine == other.engine { one.engine } else { Engine::LIBAIO },
        space,
        ..one
    }
}
