//! The host of an agent: a runner that does what requests say, on a thread of its own.
//!
//! Words to a phase that runs do not wait for that thread: they are the control's and the peers'.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_plan::{Phase, Plan, path_of};
use candor_record::{Event, FleetMember, HostRecord, HostWork};
use candor_run::{
    Collected, Command, Control, HostOptions, Local, PeerNews, Peers, Ready, RunError, Runner,
    Survey, Task, consumed,
};
use candor_s3::vault;

use crate::allow::Allowed;
use crate::caller::Log;
use crate::guest;
use crate::message::{
    Failure, FromAgent, Join, PhaseTask, Reply, Request, SurveyReply, ToAgent, Word,
};
use crate::probe::Probes;

/// Something for the thread of the runner.
enum Order {
    Do(u64, Request),
    /// The agreed moment of the start.
    Start(Instant),
    Discard,
}

/// This host, as a child of its node.
pub struct Host {
    orders: Option<Sender<Order>>,
    control: Control,
    peers: Peers,
    /// Requests for interim results that wait for the next.
    interims: Arc<Mutex<Vec<u64>>>,
    now_ns: fn() -> u64,
    thread: Option<JoinHandle<()>>,
}

/// Takes the host's messages.
pub type Answer = Arc<dyn Fn(FromAgent) + Send + Sync>;

impl Host {
    /// A host that has no place yet.
    ///
    /// # Errors
    /// The kernel has no thread left.
    pub fn new(
        allowed: Allowed,
        now_ns: fn() -> u64,
        answer: Answer,
        log: Log,
    ) -> std::io::Result<Host> {
        let (orders, received) = mpsc::channel();
        let control = Control::default();
        let peers = {
            let answer = answer.clone();
            Peers::new(move |news| {
                answer(match news {
                    PeerNews::FirstDone { job } => FromAgent::FirstDone { job },
                    PeerNews::Furthest { job, ops } => FromAgent::Furthest { job, ops },
                    PeerNews::Ended => FromAgent::Ended,
                });
            })
        };
        let interims = Arc::<Mutex<Vec<u64>>>::default();
        let executor = Executor {
            allowed,
            orders: received,
            control: control.clone(),
            peers: peers.clone(),
            interims: interims.clone(),
            answer,
            log,
        };
        let thread = thread::Builder::new().name("candor/host".into());
        let run = move || {
            let mut place = Place::default();
            let ran = catch_unwind(AssertUnwindSafe(|| executor.run(&mut place)));
            if ran.is_err() {
                // Whoever waits for an answer is to learn that none will come.
                let failures = place.failed("its runner has panicked".into(), 1).failures;
                (executor.answer)(FromAgent::Lost(failures));
            }
        };
        let thread = Some(thread.spawn(run)?);
        Ok(Host { orders: Some(orders), control, peers, interims, now_ns, thread })
    }

    /// Takes a message from the node.
    pub fn take(&self, message: ToAgent) {
        match message {
            ToAgent::Request { id, request: Request::Interim } => {
                self.interims.lock().unwrap_or_else(PoisonError::into_inner).push(id);
                self.control.send(Command::Interim);
            }
            ToAgent::Request { id, request } => self.order(Order::Do(id, request)),
            ToAgent::Start { at_ns } => {
                let wait = Duration::from_nanos(at_ns.saturating_sub((self.now_ns)()));
                // Translated now: the order may lie for a while.
                self.order(Order::Start(Instant::now() + wait));
            }
            ToAgent::Discard => self.order(Order::Discard),
            ToAgent::Word(word) => drop(self.control.send(match word {
                Word::Stop => Command::Stop,
                Word::End => Command::End,
                Word::EndPhase => Command::EndPhase,
            })),
            ToAgent::FirstDone { job } => self.peers.set_first_done(job),
            ToAgent::Furthest { job, ops } => self.peers.set_furthest(job, ops),
            ToAgent::AllEnded => self.peers.set_all_ended(),
            ToAgent::Ping { .. } => {}
        }
    }

    fn order(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // Its thread ends when this is dropped, or panicked and told so.
            let _ = orders.send(order);
        }
    }

    /// Stops what runs and cleans up.
    pub fn end(mut self) {
        self.control.send(Command::Stop);
        self.peers.give_up();
        self.orders = None;
        // A panic of its runner has been told.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// The thread of a host.
struct Executor {
    allowed: Allowed,
    orders: Receiver<Order>,
    control: Control,
    peers: Peers,
    interims: Arc<Mutex<Vec<u64>>>,
    answer: Answer,
    /// Gets what is refused.
    log: Log,
}

/// A host's part in a run.
#[derive(Default)]
struct Place {
    join: Join,
    probes: Option<Probes>,
    /// For each target the lowest number of a host that sees the same files.
    storage_of: Vec<u32>,
    /// The plan as this host has it.
    plan: Plan,
}

impl Place {
    fn member(&self) -> FleetMember {
        let host = self.join.host;
        FleetMember {
            index: host,
            address: self.join.address.clone(),
            storage_of: self.storage_of.iter().copied().min().unwrap_or(host),
            ..FleetMember::default()
        }
    }

    fn guests(&self) -> Vec<bool> {
        self.storage_of.iter().map(|of| *of != self.join.host).collect()
    }

    /// The plan as this host has it.
    fn own(&self, plan: &Plan) -> Plan {
        guest::plan(plan, self.join.host, &self.guests())
    }

    /// Round in which this host acts: those that find what others make come later.
    fn round(&self) -> u32 {
        u32::from(self.guests().contains(&true))
    }

    fn failed(&self, why: String, exit_code: u8) -> Reply {
        let (host, address) = (self.join.host, self.join.address.clone());
        Reply::failed(Failure { host, address, why, exit_code, ..Failure::default() })
    }

    fn refused(&self, error: &RunError) -> Reply {
        self.failed(error.to_string(), error.exit_code())
    }

    /// Records as others see them.
    fn records(&self, hosts: Vec<HostRecord>) -> Vec<HostRecord> {
        let with_member = |mut host: HostRecord| {
            let late = host.member.take().and_then(|member| member.started_late_ns);
            host.member = Some(FleetMember { started_late_ns: late, ..self.member() });
            host
        };
        hosts.into_iter().map(with_member).collect()
    }

    /// Results of this host, as a part of those of all.
    fn collected(&self, collected: Collected) -> Reply {
        let Collected { measurements, hosts, notes } = collected;
        let mut hosts = self.records(hosts);
        if let Some(host) = hosts.first_mut() {
            host.measurements.clone_from(&measurements);
        }
        Reply { measurements, hosts, notes, ..Reply::default() }
    }
}

impl Executor {
    fn run(&self, place: &mut Place) {
        // Until the place is known, nothing is there that could be measured.
        while let Ok(order) = self.orders.recv() {
            if let Order::Do(id, Request::Join(join)) = order {
                place.join = join;
                if let Err(why) = self.allowed.force(&place.join.force) {
                    self.reply(id, self.refused(place, why));
                    continue;
                }
                let kernels = vec![(place.join.host, kernel())];
                self.reply(id, Reply { hosts: vec![named(place)], kernels, ..Reply::default() });
                break;
            }
        }
        self.peers.set_host(place.join.host);
        let options = HostOptions {
            force: place.join.force.clone(),
            at_once: place.join.at_once,
            block_trace: place.join.block_trace,
            ..HostOptions::default()
        };
        let answer = self.answer.clone();
        let take = move |event: &Event| {
            if passes(event) {
                answer(FromAgent::Event(Box::new(with_work(event.clone()))));
            }
        };
        consumed(&self.control, take, |channels| {
            let mut local =
                Local::new(&options, channels).among(self.peers.clone(), place.join.name());
            while let Ok(order) = self.orders.recv() {
                if let Order::Do(id, request) = order {
                    self.request(&mut local, place, id, request);
                }
            }
            local.close();
        });
    }

    fn reply(&self, id: u64, reply: Reply) {
        (self.answer)(FromAgent::Reply { id, reply });
    }

    /// An answer that this agent does not serve something, which its log tells too.
    fn refused(&self, place: &Place, why: String) -> Reply {
        (self.log)(&format!("refused: {why}"));
        place.failed(why, 3)
    }

    fn request(&self, local: &mut Local, place: &mut Place, id: u64, request: Request) {
        let reply = match request {
            Request::Probe { paths, name } => {
                let paths: Vec<_> = paths.iter().map(|path| path_of(path)).collect();
                self.probe(place, &paths, &name)
            }
            Request::Seen => {
                place.storage_of = place.probes.as_ref().map(Probes::seen).unwrap_or_default();
                let seen = vec![(place.join.host, place.storage_of.clone())];
                Reply { seen, ..Reply::default() }
            }
            Request::Survey { path } => match self.allowed.path(&path) {
                Err(why) => self.refused(place, why),
                Ok(()) => match local.survey(&path) {
                    Ok(survey) => Reply { surveys: vec![told(survey)], ..Reply::default() },
                    Err(error) => place.refused(&error),
                },
            },
            Request::Open { plan, keys, round } if round == place.round() => {
                // All have looked by now.
                place.probes = None;
                match vault::receive(&keys) {
                    Ok(()) => self.open(local, place, &plan),
                    Err(error) => place.failed(error.to_string(), 1),
                }
            }
            Request::Prepare { task, round } if round == place.round() => {
                return self.prepare(local, place, id, *task);
            }
            Request::MeasureMemory => {
                let mut hosts = local.hosts().to_vec();
                local.measure_memory(&mut hosts);
                Reply { hosts: place.records(hosts), ..Reply::default() }
            }
            Request::Close => {
                place.probes = None;
                Reply { notes: local.close(), ..Reply::default() }
            }
            // Another round's.
            Request::Open { .. } | Request::Prepare { .. } => Reply::default(),
            Request::Collect => {
                // Nothing runs here: the others are not to wait for its end.
                (self.answer)(FromAgent::Ended);
                Reply::default()
            }
            Request::Join(_) | Request::Interim => {
                place.failed("it received a request to join or to report out of turn".into(), 1)
            }
        };
        self.reply(id, reply);
    }

    fn probe(&self, place: &mut Place, paths: &[std::path::PathBuf], name: &str) -> Reply {
        if let Some(why) = paths.iter().find_map(|path| self.allowed.path(path).err()) {
            return self.refused(place, why);
        }
        match Probes::put(paths, name, place.join.host) {
            Ok(probes) => {
                place.probes = Some(probes);
                Reply::default()
            }
            Err(why) => place.failed(why, 1),
        }
    }

    fn open(&self, local: &mut Local, place: &mut Place, plan: &Plan) -> Reply {
        if let Err(why) = self.allowed.check(plan) {
            return self.refused(place, why);
        }
        place.plan = place.own(plan);
        match local.open(&place.plan) {
            Ok(()) => Reply { hosts: place.records(local.hosts().to_vec()), ..Reply::default() },
            Err(error) => place.refused(&error),
        }
    }

    /// Makes a phase ready and, once that was told, sees it to its end.
    fn prepare(&self, local: &mut Local, place: &mut Place, id: u64, task: PhaseTask) {
        if let Some(plan) = &task.plan {
            if let Err(why) = self.allowed.check(plan) {
                return self.reply(id, self.refused(place, why));
            }
            place.plan = place.own(plan);
        }
        let PhaseTask { phase, index, repeat, follow_up, .. } = task;
        let alone = Plan { phases: vec![phase], ..place.plan.clone() };
        if let Err(why) = self.allowed.check(&alone) {
            return self.reply(id, self.refused(place, why));
        }
        // A phase of the plan is that one itself: what others before it make is told by its place.
        let alone = place.own(&alone);
        let of_plan = index.and_then(|index| place.plan.phases.get(index));
        let phase: &Phase = of_plan.unwrap_or(&alone.phases[0]);
        // Who makes the files of another phase is told by that one.
        let added = Plan { targets: alone.targets.clone(), ..place.plan.clone() };
        let plan = if of_plan.is_some() { &place.plan } else { &added };
        let run_task = Task { plan, phase, index, repeat, follow_up };
        match local.prepare(&run_task) {
            Err(error) => self.reply(id, place.refused(&error)),
            Ok(ready) => {
                self.reply(id, Reply::default());
                self.started(place, ready);
            }
        }
    }

    fn started<'a>(&self, place: &Place, ready: Box<dyn Ready<'a> + 'a>) {
        let Some(at) = self.start() else { return };
        self.control.begin_phase();
        let running = ready.start(Some(at));
        let id = match self.orders.recv() {
            Ok(Order::Do(id, Request::Collect)) => id,
            // It is stopped by being dropped.
            _ => return,
        };
        let collected = running.collect(&mut |interim| {
            let ids = std::mem::take(&mut *self.waiting());
            ids.into_iter().for_each(|id| self.reply(id, place.collected(interim.clone())));
        });
        // Whoever asked too late gets the end.
        let ids = std::mem::take(&mut *self.waiting());
        ids.into_iter().for_each(|id| self.reply(id, place.collected(collected.clone())));
        self.reply(id, place.collected(collected));
    }

    /// The agreed moment; none for a phase that is not to begin.
    fn start(&self) -> Option<Instant> {
        loop {
            match self.orders.recv() {
                Ok(Order::Start(at)) => return Some(at),
                // Others are made ready in a later round.
                Ok(Order::Do(id, Request::Prepare { .. })) => self.reply(id, Reply::default()),
                Ok(Order::Do(id, _)) => {
                    let why = "it received another request instead of start".to_owned();
                    let failure = Failure { why, exit_code: 1, ..Failure::default() };
                    self.reply(id, Reply::failed(failure));
                }
                Ok(Order::Discard) | Err(_) => return None,
            }
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<u64>> {
        self.interims.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Events that the coordinator shows; results have a way of their own.
fn passes(event: &Event) -> bool {
    matches!(
        event,
        Event::Preparing { .. }
            | Event::Sampled { .. }
            | Event::WorkerDone { .. }
            | Event::Warned { .. }
            | Event::Noted { .. }
    )
}

/// An event with what this host has done in it: joined with others', it does not tell any more.
fn with_work(mut event: Event) -> Event {
    if let Event::Sampled { samples, hosts, .. } = &mut event
        && let [host] = &mut hosts[..]
    {
        host.work = samples.iter().map(HostWork::of).collect();
    }
    event
}

/// The number that this kernel drew when it booted; nothing where it tells none.
fn kernel() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

/// A host before anything was inspected.
fn named(place: &Place) -> HostRecord {
    let host = place.join.name().to_owned();
    HostRecord { host, member: Some(place.member()), ..HostRecord::default() }
}

fn told(survey: Survey) -> SurveyReply {
    let Survey { path, kind, length_bytes, takes_direct, engine, space } = survey;
    let space = space.map(|space| {
        (space.filesystem, space.total_bytes, space.available_bytes, space.available_inodes)
    });
    SurveyReply { path, kind, length_bytes, takes_direct, engine, space }
}
