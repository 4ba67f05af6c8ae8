//! The coordinator and its tree against simulated agents, in simulated time, from a seed.
//!
//! Links are streams: what the network loses, delays, doubles or brings out of order arrives late
//! and in order, as TCP has it, or the link breaks. Each agent is a real [`Node`] with a host that
//! is a formula, and a clock of its own.

mod tests;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use candor_plan::{Phase, Plan};
use candor_record::{FleetMember, HostRecord, Measurement};

use crate::client::Client;
use crate::coordinator::Coordinator;
use crate::message::{FromAgent, Join, PhaseTask, Reply, Request, Stall, ToAgent, Word};
use crate::network::{Arrival, Network};
use crate::node::{Effect, HOST_TIMEOUT_NS, Node};

const MS: u64 = 1_000_000;
/// Time between two looks of an agent at who is silent.
const TICK_NS: u64 = 200 * MS;
/// Reason of a link that broke.
const BROKE: &str = "the connection was reset";

/// Numbers from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn one_in(&mut self, times: u64) -> bool {
        times > 0 && self.below(times) == 0
    }
}

/// Adversities of a simulation.
#[derive(Clone, Copy, Debug)]
struct Weather {
    latency_ns: u64,
    /// Latency varies by so much.
    jitter_ns: u64,
    /// One in so many packets is lost, and sent again 200 ms later; 0 for none.
    loss: u64,
    /// One in so many is delivered twice.
    doubling: u64,
    /// One in so many hosts is a hundred times slower.
    slow_hosts: u64,
    /// Clocks differ by so much.
    clocks_ns: u64,
    /// Length of the phase.
    phase_ns: u64,
}

const CALM: Weather = Weather {
    latency_ns: MS,
    jitter_ns: 0,
    loss: 0,
    doubling: 0,
    slow_hosts: 0,
    clocks_ns: 3_600_000 * MS,
    phase_ns: 500 * MS,
};

/// Something that happens to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The process is killed: the link breaks.
    Killed,
    /// Nothing more is heard or said.
    Frozen,
    /// The same for N ms; messages that arrive meanwhile are taken after that.
    Stalled(u64),
    /// A new start: the link breaks, and a new process knows nothing.
    Restarted,
    /// The clock jumps.
    ClockStep,
    /// The thread of its runner panics: the agent goes on, and answers nothing by itself.
    Panicked,
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Root,
    Agent(usize),
}

enum Event {
    Down {
        agent: usize,
        life: u32,
        message: Box<ToAgent>,
    },
    Up {
        to: Place,
        child: usize,
        message: Box<FromAgent>,
    },
    Broken {
        to: Place,
        child: usize,
    },
    /// Nobody holds the other end any more.
    Cut {
        agent: usize,
        life: u32,
    },
    Host {
        agent: usize,
        life: u32,
        step: Step,
    },
    Tick {
        agent: usize,
    },
    Fault {
        agent: usize,
        fault: Fault,
    },
}

/// Something that a host does by itself.
enum Step {
    Reply(u64, Box<Reply>),
    Begin { phase: u32 },
    End { phase: u32 },
}

struct Agent {
    node: Node,
    /// Clock of the agent minus that of the world.
    clock_ns: i64,
    /// Grows when it starts again: messages to an earlier life are lost.
    life: u32,
    parent: Option<(Place, usize)>,
    /// Agents at its children, by their number.
    children: Vec<Option<usize>>,
    is_dead: bool,
    is_frozen: bool,
    /// The host takes nothing before that moment of the world.
    stalled_until_ns: u64,
    has_panicked: bool,
    is_slow: bool,
    had_step: bool,
    host: u32,
    is_prepared: bool,
    phase: u32,
    is_running: bool,
    begun_ns: Option<u64>,
    collect: Option<u64>,
    all_ended: bool,
    in_run: bool,
    /// Earliest arrival of the next packet in each direction: streams keep their order.
    down_ns: u64,
    up_ns: u64,
}

impl Agent {
    /// True as long as its own host can do something.
    fn can_answer(&self) -> bool {
        !self.is_dead && !self.is_frozen && !self.has_panicked
    }
}

struct Scheduled(u64, u64, Event);

impl PartialEq for Scheduled {
    fn eq(&self, other: &Self) -> bool {
        (self.0, self.1) == (other.0, other.1)
    }
}
impl Eq for Scheduled {}
impl PartialOrd for Scheduled {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Scheduled {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.0, self.1).cmp(&(other.0, other.1))
    }
}

struct World {
    now_ns: u64,
    random: Random,
    weather: Weather,
    queue: BinaryHeap<Reverse<Scheduled>>,
    sequence: u64,
    agents: Vec<Agent>,
    /// Agents at the root's children.
    root_children: Vec<Option<usize>>,
    for_root: std::collections::VecDeque<(usize, Arrival)>,
    /// Messages that were carried, and their bytes where they are counted.
    messages: u64,
    root_messages: u64,
}

/// Operations that a host does in a phase: told apart from those of every other set of hosts.
fn ops_of(host: u32) -> u64 {
    1 + u64::from(host) * 1_000_003 % 999_983
}

impl World {
    fn new(agents: usize, seed: u64, weather: Weather) -> World {
        let mut random = Random(seed);
        let mut made = Vec::with_capacity(agents);
        for _ in 0..agents {
            let clock_ns = random.below(weather.clocks_ns) as i64;
            made.push(Agent {
                node: Node::agent(0),
                clock_ns,
                life: 0,
                parent: None,
                children: Vec::new(),
                is_dead: false,
                is_frozen: false,
                stalled_until_ns: 0,
                has_panicked: false,
                is_slow: random.one_in(weather.slow_hosts),
                had_step: false,
                host: 0,
                is_prepared: false,
                phase: 0,
                is_running: false,
                begun_ns: None,
                collect: None,
                all_ended: false,
                in_run: false,
                down_ns: 0,
                up_ns: 0,
            });
        }
        World {
            now_ns: 0,
            random,
            weather,
            queue: BinaryHeap::new(),
            sequence: 0,
            agents: made,
            root_children: Vec::new(),
            for_root: std::collections::VecDeque::new(),
            messages: 0,
            root_messages: 0,
        }
    }

    fn schedule(&mut self, at_ns: u64, event: Event) {
        self.sequence += 1;
        self.queue.push(Reverse(Scheduled(at_ns, self.sequence, event)));
    }

    /// When a packet that is sent now arrives, behind those before it.
    fn arrival(&mut self, before_ns: u64) -> u64 {
        let Weather { latency_ns, jitter_ns, loss, .. } = self.weather;
        let mut at_ns = self.now_ns + latency_ns + self.random.below(jitter_ns + 1);
        while self.random.one_in(loss) {
            at_ns += 200 * MS;
        }
        at_ns.max(before_ns)
    }

    /// A stream takes a packet once, however often it arrives.
    fn carried(&mut self) {
        let doubled = self.random.one_in(self.weather.doubling);
        self.messages += 1 + u64::from(doubled);
    }

    fn clock(&self, agent: usize) -> u64 {
        self.now_ns.saturating_add_signed(self.agents[agent].clock_ns)
    }

    fn connect(&mut self, from: Place, child: usize, address: &str) {
        let agent: usize = address.parse().expect("addresses are numbers");
        let children = match from {
            Place::Root => &mut self.root_children,
            Place::Agent(at) => &mut self.agents[at].children,
        };
        children.resize(children.len().max(child + 1), None);
        children[child] = Some(agent);
        if self.agents[agent].is_dead {
            let at_ns = self.arrival(0);
            return self.schedule(at_ns, Event::Broken { to: from, child });
        }
        let now_ns = self.clock(agent);
        let of = &mut self.agents[agent];
        (of.parent, of.in_run, of.node) = (Some((from, child)), true, Node::agent(now_ns));
        (of.is_prepared, of.is_running, of.phase) = (false, false, 0);
        let at_ns = self.now_ns + TICK_NS;
        self.schedule(at_ns, Event::Tick { agent });
    }

    fn send_down(&mut self, from: Place, child: usize, message: ToAgent) {
        self.root_messages += u64::from(from == Place::Root);
        let children = match from {
            Place::Root => &self.root_children,
            Place::Agent(at) => &self.agents[at].children,
        };
        let Some(agent) = children.get(child).copied().flatten() else { return };
        self.carried();
        let at_ns = self.arrival(self.agents[agent].down_ns);
        self.agents[agent].down_ns = at_ns;
        let life = self.agents[agent].life;
        self.schedule(at_ns, Event::Down { agent, life, message: Box::new(message) });
    }

    fn send_up(&mut self, agent: usize, message: FromAgent) {
        let Some((to, child)) = self.agents[agent].parent else { return };
        self.root_messages += u64::from(to == Place::Root);
        self.carried();
        let at_ns = self.arrival(self.agents[agent].up_ns);
        self.agents[agent].up_ns = at_ns;
        self.schedule(at_ns, Event::Up { to, child, message: Box::new(message) });
    }

    fn close(&mut self, from: Place, child: usize) {
        let children = match from {
            Place::Root => &mut self.root_children,
            Place::Agent(at) => &mut self.agents[at].children,
        };
        let Some(agent) = children.get_mut(child).and_then(Option::take) else { return };
        let (at_ns, life) = (self.arrival(0), self.agents[agent].life);
        self.schedule(at_ns, Event::Cut { agent, life });
    }

    fn apply(&mut self, agent: usize, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Up(message) => self.send_up(agent, message),
                Effect::Down(0, message) => self.host(agent, message),
                Effect::Down(child, message) => {
                    self.send_down(Place::Agent(agent), child, message);
                }
                Effect::Connect(child, address, _) => {
                    self.connect(Place::Agent(agent), child, &address);
                }
                Effect::Close(child) => self.close(Place::Agent(agent), child),
                Effect::Orphaned => self.leave(agent),
            }
        }
    }

    /// An agent's run ends, and with it those below.
    fn leave(&mut self, agent: usize) {
        self.agents[agent].in_run = false;
        self.agents[agent].is_running = false;
        for child in 0..self.agents[agent].children.len() {
            self.close(Place::Agent(agent), child);
        }
    }

    fn host_later(&mut self, agent: usize, delay_ns: u64, step: Step) {
        let slow = if self.agents[agent].is_slow { 100 } else { 1 };
        let (at_ns, life) = (self.now_ns + delay_ns * slow, self.agents[agent].life);
        self.schedule(at_ns, Event::Host { agent, life, step });
    }

    /// The host of an agent takes a message.
    fn host(&mut self, agent: usize, message: ToAgent) {
        if self.agents[agent].has_panicked {
            return;
        }
        let delay_ns = 100_000 + self.random.below(400_000);
        match message {
            ToAgent::Request { id, request } => {
                let of = &mut self.agents[agent];
                let mut reply = Reply::default();
                match request {
                    Request::Join(join) => {
                        of.host = join.host;
                        reply.hosts = vec![record(join.host)];
                    }
                    // All share one storage, so that there are two rounds.
                    Request::Seen => reply.seen = vec![(of.host, vec![0])],
                    Request::Prepare { round, .. } => {
                        of.is_prepared |= round == u32::from(of.host > 0);
                        of.all_ended = false;
                    }
                    Request::Collect => {
                        of.collect = Some(id);
                        return self.collect(agent);
                    }
                    Request::Close => of.in_run = true,
                    _ => {}
                }
                self.host_later(agent, delay_ns, Step::Reply(id, Box::new(reply)));
            }
            ToAgent::Start { at_ns } => {
                let wait_ns = at_ns.saturating_sub(self.clock(agent));
                self.agents[agent].phase += 1;
                let (phase, life) = (self.agents[agent].phase, self.agents[agent].life);
                let at_ns = self.now_ns + wait_ns;
                self.schedule(at_ns, Event::Host { agent, life, step: Step::Begin { phase } });
            }
            ToAgent::Word(Word::Stop) => {
                let phase = self.agents[agent].phase;
                self.host_later(agent, delay_ns, Step::End { phase });
            }
            ToAgent::AllEnded => {
                self.agents[agent].all_ended = true;
                self.collect(agent);
            }
            _ => {}
        }
    }

    fn collect(&mut self, agent: usize) {
        let of = &mut self.agents[agent];
        if !of.all_ended {
            return;
        }
        let Some(id) = of.collect.take() else { return };
        let ops = ops_of(of.host);
        let mut measurement = Measurement { workers: 1, ..Measurement::default() };
        measurement.last_done.ops = ops;
        let host = HostRecord { measurements: vec![measurement.clone()], ..record(of.host) };
        let (hosts, measurements) = (vec![host], vec![measurement]);
        let reply = Reply { hosts, measurements, ..Reply::default() };
        self.host_later(agent, 100_000, Step::Reply(id, Box::new(reply)));
    }

    fn step(&mut self, agent: usize, step: Step) {
        if self.agents[agent].has_panicked {
            return;
        }
        let mut effects = Vec::new();
        let now_ns = self.clock(agent);
        let from_host = |message, node: &mut Node, effects: &mut Vec<Effect>| {
            node.take_from_child(now_ns, 0, message, effects);
        };
        match step {
            Step::Reply(id, reply) => {
                let message = FromAgent::Reply { id, reply: *reply };
                from_host(message, &mut self.agents[agent].node, &mut effects);
            }
            Step::Begin { phase } if phase == self.agents[agent].phase => {
                let unready = self
                    .agents
                    .iter()
                    .position(|of| of.in_run && of.can_answer() && !of.is_prepared);
                assert_eq!(unready, None, "a phase begins before all are ready");
                let of = &mut self.agents[agent];
                (of.is_running, of.begun_ns) = (true, Some(self.now_ns));
                let length_ns = self.weather.phase_ns;
                self.host_later(agent, length_ns, Step::End { phase });
            }
            Step::End { phase } if phase == self.agents[agent].phase => {
                let of = &mut self.agents[agent];
                if std::mem::take(&mut of.is_running) {
                    from_host(FromAgent::FirstDone { job: 0 }, &mut of.node, &mut effects);
                    from_host(FromAgent::Ended, &mut of.node, &mut effects);
                }
            }
            Step::Begin { .. } | Step::End { .. } => {}
        }
        self.apply(agent, effects);
    }

    fn fault(&mut self, agent: usize, fault: Fault) {
        let of = &mut self.agents[agent];
        match fault {
            Fault::ClockStep => {
                of.clock_ns += 2000 * MS as i64;
                of.had_step = true;
            }
            Fault::Frozen => of.is_frozen = true,
            Fault::Stalled(ms) => of.stalled_until_ns = self.now_ns + ms * MS,
            Fault::Panicked if of.in_run && of.node.has_place() => {
                (of.has_panicked, of.is_running) = (true, false);
                let mut effects = Vec::new();
                let (now_ns, why) = (self.clock(agent), "its runner has panicked".into());
                self.agents[agent].node.child_lost(now_ns, 0, &why, &mut effects);
                self.apply(agent, effects);
            }
            Fault::Killed | Fault::Restarted | Fault::Panicked => {
                (of.life, of.is_dead) = (of.life + 1, fault == Fault::Killed);
                of.is_running = false;
                let parent = of.parent.take();
                self.leave(agent);
                if let Some((to, child)) = parent {
                    let at_ns = self.arrival(0);
                    self.schedule(at_ns, Event::Broken { to, child });
                }
            }
        }
    }

    /// Lets the next thing happen, unless that is later.
    fn advance(&mut self, until_ns: u64) -> bool {
        let is_due = self.queue.peek().is_some_and(|Reverse(next)| next.0 <= until_ns);
        let Some(Reverse(Scheduled(at_ns, _, event))) = is_due.then(|| self.queue.pop()).flatten()
        else {
            self.now_ns = self.now_ns.max(until_ns);
            return false;
        };
        self.now_ns = self.now_ns.max(at_ns);
        if let Some(later_ns) = self.stalled_until(&event) {
            self.schedule(later_ns, event);
            return true;
        }
        let mut effects = Vec::new();
        match event {
            Event::Down { agent, life, message } if self.hears(agent, life) => {
                let now_ns = self.clock(agent);
                if let ToAgent::Ping { sent_ns } = *message {
                    // The thread that reads the link answers.
                    self.send_up(agent, FromAgent::Pong { sent_ns, received_ns: now_ns });
                }
                self.agents[agent].node.take_from_above(now_ns, *message, &mut effects);
                self.apply(agent, effects);
            }
            Event::Up { to: Place::Root, child, message } => {
                self.for_root.push_back((child, Arrival::Message(message)));
            }
            Event::Up { to: Place::Agent(agent), child, message } if self.lives(agent) => {
                let now_ns = self.clock(agent);
                self.agents[agent].node.take_from_child(now_ns, child, *message, &mut effects);
                self.apply(agent, effects);
            }
            Event::Broken { to: Place::Root, child } => {
                self.for_root.push_back((child, Arrival::Broken(BROKE.into())));
            }
            Event::Broken { to: Place::Agent(agent), child } if self.lives(agent) => {
                let now_ns = self.clock(agent);
                let node = &mut self.agents[agent].node;
                node.child_lost(now_ns, child, &BROKE.into(), &mut effects);
                self.apply(agent, effects);
            }
            Event::Cut { agent, life } if self.hears(agent, life) => self.leave(agent),
            Event::Host { agent, life, step } if self.hears(agent, life) => self.step(agent, step),
            Event::Tick { agent } if self.lives(agent) => {
                let now_ns = self.clock(agent);
                self.agents[agent].node.tick(now_ns, &mut effects);
                self.apply(agent, effects);
                let at_ns = self.now_ns + TICK_NS;
                self.schedule(at_ns, Event::Tick { agent });
            }
            Event::Fault { agent, fault } => self.fault(agent, fault),
            _ => {}
        }
        true
    }

    /// The moment at which a stalled agent takes what is for it; none where none is stalled.
    fn stalled_until(&self, event: &Event) -> Option<u64> {
        let agent = match event {
            Event::Down { agent, .. }
            | Event::Up { to: Place::Agent(agent), .. }
            | Event::Broken { to: Place::Agent(agent), .. }
            | Event::Cut { agent, .. }
            | Event::Host { agent, .. }
            | Event::Tick { agent } => *agent,
            Event::Up { .. } | Event::Broken { .. } | Event::Fault { .. } => return None,
        };
        let until_ns = self.agents[agent].stalled_until_ns;
        (until_ns > self.now_ns).then_some(until_ns)
    }

    fn lives(&self, agent: usize) -> bool {
        let of = &self.agents[agent];
        of.in_run && !of.is_dead && !of.is_frozen
    }

    fn hears(&self, agent: usize, life: u32) -> bool {
        self.lives(agent) && self.agents[agent].life == life
    }
}

fn record(host: u32) -> HostRecord {
    let member = FleetMember { index: host, ..FleetMember::default() };
    HostRecord { member: Some(member), ..HostRecord::default() }
}

/// The root's links into the world.
struct Simulated(Rc<RefCell<World>>);

impl Network for Simulated {
    fn now_ns(&self) -> u64 {
        self.0.borrow().now_ns
    }

    fn connect(&mut self, child: usize, address: &str, _wait_ms: u64) {
        self.0.borrow_mut().connect(Place::Root, child, address);
    }

    fn send(&mut self, child: usize, message: ToAgent) {
        self.0.borrow_mut().send_down(Place::Root, child, message);
    }

    fn close(&mut self, child: usize) {
        self.0.borrow_mut().close(Place::Root, child);
    }

    fn next(&mut self, until_ns: u64) -> Option<(usize, Arrival)> {
        let mut world = self.0.borrow_mut();
        loop {
            if let Some(arrived) = world.for_root.pop_front() {
                return Some(arrived);
            }
            if !world.advance(until_ns) {
                return None;
            }
        }
    }
}

/// A client that commands nothing.
struct Nobody;

impl Client for Nobody {
    fn take(&mut self, _event: candor_record::Event) {}

    fn next_word(&mut self) -> Option<Word> {
        None
    }
}

/// Outcome of a simulated run.
struct Ran {
    world: Rc<RefCell<World>>,
    reply: Reply,
    lost: Vec<u32>,
    stalls: Vec<Stall>,
    /// From the first message to the moment at which all are ready, and to the agreed start.
    ready_ns: u64,
    started_ns: u64,
    /// From the first fault, or the start, to the end.
    ended_ns: u64,
    errors_ns: u64,
}

/// Runs one phase on so many agents, with faults at moments.
fn run(agents: usize, seed: u64, weather: Weather, faults: &[(u64, usize, Fault)]) -> Ran {
    let world = Rc::new(RefCell::new(World::new(agents, seed, weather)));
    for (at_ns, agent, fault) in faults {
        world.borrow_mut().schedule(*at_ns, Event::Fault { agent: *agent, fault: *fault });
    }
    let mut coordinator = Coordinator::new(Simulated(world.clone()), Nobody);
    let below = (0..agents).map(|agent| agent.to_string()).collect();
    let host_timeout_ms = HOST_TIMEOUT_NS / MS;
    let join = Join { hosts: agents as u32, below, host_timeout_ms, ..Join::default() };
    let joined = coordinator.ask(Request::Join(join));
    let phase = Phase::default();
    let plan = Plan { hosts: agents as u32, phases: vec![phase.clone()], ..Plan::default() };
    let task = PhaseTask { plan: None, phase, index: Some(0), repeat: 0, follow_up: false };
    let mut reply = joined;
    let (mut ready_ns, mut started_ns) = (0, 0);
    if coordinator.lost().is_empty() {
        coordinator.probe(&["/data".into()], "probe".into());
    }
    if coordinator.lost().is_empty() {
        coordinator.open(&plan);
    }
    if coordinator.lost().is_empty() {
        coordinator.prepare(&plan, &task);
        ready_ns = coordinator.now_ns();
    }
    if coordinator.lost().is_empty() {
        let (at_ns, asked) = coordinator.start();
        started_ns = at_ns;
        reply = loop {
            if let Some(reply) = coordinator.answer(asked) {
                break reply;
            }
            coordinator.pump();
        };
    }
    coordinator.ask(Request::Close);
    let ended_ns = coordinator.now_ns();
    let lost = coordinator.lost().iter().map(|lost| lost.failure.host).collect();
    let stalls = coordinator.stalls().iter().map(|stalled| stalled.stall).collect();
    let errors = reply.hosts.iter().filter_map(|host| host.member.as_ref());
    let errors_ns = errors.map(|member| member.clock_error_ns).max().unwrap_or(0);
    drop(coordinator);
    // The links of the root are gone with it.
    let children = world.borrow().root_children.len();
    (0..children).for_each(|child| world.borrow_mut().close(Place::Root, child));
    Ran { world, reply, lost, stalls, ready_ns, started_ns, ended_ns, errors_ns }
}
