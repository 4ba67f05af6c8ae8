//! One node of the tree that leads from the coordinator to all agents, without sockets and clocks.
//!
//! A [`Node`] takes messages and moments and gives messages to send. The coordinator is the root;
//! each agent is a node with its own host as first child. A node passes what comes from above to
//! all of its children, and what these answer upwards as one answer. A child whose link breaks is
//! lost at once, a silent one after the timeout of hosts: it counts as having answered from then
//! on. A child that is heard again before that has stalled, which is reported.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use candor_record::{Event, HostRecord};

use crate::clock::{Measured, Offset};
use crate::message::{Failure, FromAgent, Join, Reply, Request, Stall, ToAgent};
use crate::network::Broken;
use crate::samples::Samples;

/// Children of a node: more hosts are led by those.
pub const CHILDREN_MAX: usize = 64;
/// Time between two pings, in ns.
pub const PING_NS: u64 = 250_000_000;
/// Pings that follow each other at once when a link is new, so that clocks are known early.
const FIRST_PINGS: u32 = 8;
/// Silence after which a host is lost, unless the user names another, in ns.
pub const HOST_TIMEOUT_NS: u64 = 20_000_000_000;
/// Least silence of a child before its first word that makes it lost, in ns: the link is still
/// made.
pub const FIRST_SILENCE_NS: u64 = 6_000_000_000;
/// Silence from which a child has stalled, in ns: four answers are missing.
pub const STALL_NS: u64 = 1_000_000_000;
/// Time between two looks of a node at who is silent, above which it was asleep itself, in ns.
const ASLEEP_NS: u64 = 1_000_000_000;
/// Shortest time between a start and the moment for which it is agreed, in ns: hosts read their
/// counters twice meanwhile.
pub const START_LEAD_NS: u64 = 100_000_000;

/// A message for someone.
#[derive(Clone, Debug)]
pub enum Effect {
    /// To whoever leads this node; the root's are for the run.
    Up(FromAgent),
    /// To a child.
    Down(usize, ToAgent),
    /// A child has a new address: open a link to it, and wait so many ms for it to be there.
    Connect(usize, String, u64),
    /// A child is lost: close the link to it.
    Close(usize),
    /// Nobody leads this node any more: it ends once it has cleaned up.
    Orphaned,
}

/// One end of a link downwards.
#[derive(Debug, Default)]
struct Child {
    /// The host of this node itself.
    is_here: bool,
    /// Numbers of its hosts: the first, and how many.
    hosts: (u32, u32),
    addresses: Vec<String>,
    is_lost: bool,
    /// Something came from it.
    has_spoken: bool,
    /// The host is silent for longer than a stall.
    is_stalled: bool,
    /// Silence after which it is lost, before it has spoken.
    first_silence_ns: u64,
    /// Last message, later by the time for which this node was asleep itself.
    heard_ns: u64,
    /// Last message.
    last_heard_ns: u64,
    pinged_ns: u64,
    pings: u32,
    clock: Measured,
}

/// Answers to a request that have come so far.
#[derive(Debug)]
struct Pending {
    replies: Vec<Option<Reply>>,
}

/// Agreement on the phase under way.
#[derive(Debug, Default)]
struct Agreement {
    ended: BTreeSet<usize>,
    has_ended: bool,
    first_done: BTreeSet<usize>,
    furthest: BTreeMap<usize, Counts>,
    agreed: BTreeSet<usize>,
}

/// Greatest count of a job, and the children that have told theirs.
#[derive(Debug, Default)]
struct Counts {
    ops_max: u64,
    told: BTreeSet<usize>,
}

/// A node of the tree.
#[derive(Debug)]
pub struct Node {
    is_root: bool,
    children: Vec<Child>,
    pending: HashMap<u64, Pending>,
    agreement: Agreement,
    samples: Samples,
    /// A phase runs.
    is_started: bool,
    /// Silence after which a child is lost, in ns.
    host_timeout_ns: u64,
    /// Last sign of life from above.
    led_ns: u64,
    /// Last look at who is silent.
    ticked_ns: u64,
    is_orphaned: bool,
}

impl Node {
    /// The coordinator.
    pub fn root() -> Node {
        Node::new(true, 0)
    }

    /// An agent, at that moment.
    pub fn agent(now_ns: u64) -> Node {
        Node::new(false, now_ns)
    }

    fn new(is_root: bool, now_ns: u64) -> Node {
        Node {
            is_root,
            children: Vec::new(),
            pending: HashMap::new(),
            agreement: Agreement::default(),
            samples: Samples::default(),
            is_started: false,
            host_timeout_ns: HOST_TIMEOUT_NS,
            led_ns: now_ns,
            ticked_ns: now_ns,
            is_orphaned: false,
        }
    }

    /// Offset of a child's clock; none before it was measured.
    pub fn offset(&self, child: usize) -> Option<Offset> {
        let child = self.children.get(child)?;
        if child.is_here { Some(Offset::default()) } else { child.clock.best() }
    }

    /// Slowest way to a child and back, in ns.
    pub fn round_trip_ns_max(&self) -> u64 {
        let children = self.children.iter().filter(|child| !child.is_lost);
        let trips = children.filter_map(|child| Some(child.clock.best()?.round_trip_ns));
        trips.max().unwrap_or(0)
    }

    /// Children that are not lost.
    fn live(&self) -> impl Iterator<Item = usize> + '_ {
        let children = self.children.iter().enumerate();
        children.filter(|(_, child)| !child.is_lost).map(|(at, _)| at)
    }

    fn all_live(&self, told: &BTreeSet<usize>) -> bool {
        self.live().all(|at| told.contains(&at))
    }

    /// A message from above.
    pub fn take_from_above(&mut self, now_ns: u64, message: ToAgent, out: &mut Vec<Effect>) {
        self.led_ns = now_ns;
        match message {
            // Whatever reads the link answers it.
            ToAgent::Ping { .. } => {}
            ToAgent::Request { id, request: Request::Join(join) } => {
                self.join(now_ns, id, &join, out);
            }
            ToAgent::Request { id, request } => self.request(id, &request, out),
            ToAgent::Start { at_ns } => self.start(at_ns, out),
            ToAgent::Furthest { job, ops } => {
                self.agreement.agreed.insert(job);
                self.to_all(&ToAgent::Furthest { job, ops }, out);
            }
            ToAgent::FirstDone { job } => {
                self.agreement.first_done.insert(job);
                self.to_all(&ToAgent::FirstDone { job }, out);
            }
            message @ (ToAgent::AllEnded | ToAgent::Discard | ToAgent::Word(_)) => {
                self.to_all(&message, out);
            }
        }
    }

    fn to_all(&self, message: &ToAgent, out: &mut Vec<Effect>) {
        out.extend(self.live().map(|at| Effect::Down(at, message.clone())));
    }

    fn request(&mut self, id: u64, request: &Request, out: &mut Vec<Effect>) {
        let replies = self.children.iter().map(|child| child.is_lost.then(Reply::default));
        self.pending.insert(id, Pending { replies: replies.collect() });
        self.to_all(&ToAgent::Request { id, request: request.clone() }, out);
        self.answer(id, out);
    }

    /// The moment is one of this node's clock.
    fn start(&mut self, at_ns: u64, out: &mut Vec<Effect>) {
        (self.agreement, self.is_started) = (Agreement::default(), true);
        for at in self.live() {
            let offset = self.offset(at).unwrap_or_default();
            out.push(Effect::Down(at, ToAgent::Start { at_ns: offset.there(at_ns) }));
        }
    }

    /// Takes a place: an agent's own host comes first, then those that it leads.
    fn join(&mut self, now_ns: u64, id: u64, join: &Join, out: &mut Vec<Effect>) {
        self.children.clear();
        self.ticked_ns = now_ns;
        self.host_timeout_ns = join.host_timeout_ms.saturating_mul(1_000_000);
        let first_ns = self.host_timeout_ns.max(FIRST_SILENCE_NS);
        let mut joins = Vec::new();
        if !self.is_root {
            let hosts = (join.host, 1);
            let addresses = vec![join.address.clone()];
            self.children.push(Child { is_here: true, hosts, addresses, ..Child::default() });
            joins.push(Join { below: Vec::new(), ..join.clone() });
        }
        let first = join.host + joins.len() as u32;
        for (begins, addresses) in chunks(&join.below) {
            let host = first + begins as u32;
            let hosts = (host, addresses.len() as u32);
            out.push(Effect::Connect(self.children.len(), addresses[0].clone(), join.wait_ms));
            let (address, below) = (addresses[0].clone(), addresses[1..].to_vec());
            joins.push(Join { host, address, below, ..join.clone() });
            let addresses = addresses.to_vec();
            self.children.push(Child {
                hosts,
                addresses,
                heard_ns: now_ns,
                last_heard_ns: now_ns,
                first_silence_ns: first_ns.saturating_add(join.wait_ms * 1_000_000),
                ..Child::default()
            });
        }
        self.pending.insert(id, Pending { replies: joins.iter().map(|_| None).collect() });
        let requests = joins.into_iter().enumerate().map(|(at, join)| {
            Effect::Down(at, ToAgent::Request { id, request: Request::Join(join) })
        });
        out.extend(requests);
        self.tick(now_ns, out);
    }

    /// A message from a child.
    pub fn take_from_child(
        &mut self,
        now_ns: u64,
        at: usize,
        message: FromAgent,
        out: &mut Vec<Effect>,
    ) {
        self.forgive_own_sleep(now_ns);
        let Some(child) = self.children.get_mut(at).filter(|child| !child.is_lost) else { return };
        let silent_ns = now_ns.saturating_sub(child.heard_ns);
        (child.heard_ns, child.last_heard_ns, child.has_spoken) = (now_ns, now_ns, true);
        if std::mem::take(&mut child.is_stalled) {
            let host = child.hosts.0;
            out.push(Effect::Up(FromAgent::Stalled(Stall { host, silent_ns })));
            let (address, silent_s) = (&child.addresses[0], silent_ns as f64 / 1e9);
            out.push(warned(format!("host {address} is heard again after {silent_s:.1} s")));
        }
        match message {
            FromAgent::Pong { sent_ns, received_ns } => {
                child.clock.add(sent_ns, received_ns, now_ns);
                if child.pings < FIRST_PINGS {
                    self.ping(now_ns, at, out);
                }
            }
            FromAgent::Reply { id, mut reply } => {
                let address = self.children[at].addresses[0].clone();
                let offset = self.offset(at).unwrap_or_default();
                let is_here = self.children[at].is_here;
                for host in &mut reply.hosts {
                    follow(host, offset, is_here.then_some(&address));
                }
                if let Some(pending) = self.pending.get_mut(&id) {
                    pending.replies[at].get_or_insert(reply);
                }
                self.answer(id, out);
            }
            FromAgent::FirstDone { job } => self.first_done(job, out),
            FromAgent::Furthest { job, ops } => {
                let counts = self.agreement.furthest.entry(job).or_default();
                counts.ops_max = counts.ops_max.max(ops);
                counts.told.insert(at);
                self.agree(out);
            }
            FromAgent::Ended => {
                self.agreement.ended.insert(at);
                self.agree(out);
            }
            FromAgent::Event(event) => {
                if let Some(event) = self.samples.take(at, *event) {
                    out.push(Effect::Up(FromAgent::Event(Box::new(event))));
                }
                self.pass_samples(false, out);
            }
            message @ (FromAgent::Lost(_) | FromAgent::Stalled(_)) => {
                out.push(Effect::Up(message));
            }
        }
    }

    /// True once its place in a run is known.
    pub fn has_place(&self) -> bool {
        !self.children.is_empty()
    }

    /// A link to a child broke, or could not be opened.
    pub fn child_lost(&mut self, now_ns: u64, at: usize, broken: &Broken, out: &mut Vec<Effect>) {
        let Some(child) = self.children.get_mut(at).filter(|child| !child.is_lost) else { return };
        child.is_lost = true;
        let ((first, _), Broken { why, is_busy }) = (child.hosts, broken);
        let heard_ago_ns = now_ns.saturating_sub(child.last_heard_ns);
        let failure = |(nth, address): (usize, &String)| Failure {
            host: first + nth as u32,
            address: address.clone(),
            why: match nth {
                0 => why.clone(),
                _ => format!("{}, which leads to it, is lost: {why}", child.addresses[0]),
            },
            exit_code: 1,
            is_busy: *is_busy,
            heard_ago_ns,
        };
        let lost: Vec<Failure> = child.addresses.iter().enumerate().map(failure).collect();
        out.push(Effect::Close(at));
        out.push(Effect::Up(FromAgent::Lost(lost)));
        let ids: Vec<u64> = self.pending.keys().copied().collect();
        for id in ids {
            let pending = self.pending.get_mut(&id);
            let reply = pending.and_then(|pending| pending.replies.get_mut(at));
            if let Some(reply) = reply {
                reply.get_or_insert_default();
            }
            self.answer(id, out);
        }
        self.agree(out);
    }

    /// Sends what is due at that moment, and gives up who was silent for too long.
    pub fn tick(&mut self, now_ns: u64, out: &mut Vec<Effect>) {
        self.forgive_own_sleep(now_ns);
        for at in 0..self.children.len() {
            let child = &self.children[at];
            if child.is_here || child.is_lost {
                continue;
            }
            let silent_ns = now_ns.saturating_sub(child.heard_ns);
            let idle_ns = now_ns.saturating_sub(child.pinged_ns);
            let silence_ns =
                if child.has_spoken { self.host_timeout_ns } else { child.first_silence_ns };
            if silent_ns >= silence_ns {
                let why = format!("silent for {:.1} s", silent_ns as f64 / 1e9);
                self.child_lost(now_ns, at, &why.into(), out);
                continue;
            }
            if child.has_spoken && !child.is_stalled && silent_ns >= STALL_NS {
                self.stalled(at, out);
            }
            // The pings on their way to a silent child find it once it hears again.
            let child = &self.children[at];
            let is_due = child.has_spoken && !child.is_stalled && idle_ns >= PING_NS;
            if child.pings == 0 || is_due {
                self.ping(now_ns, at, out);
            }
        }
        let orphaned_ns = orphaned_ns(self.host_timeout_ns);
        let is_led = self.is_root || now_ns.saturating_sub(self.led_ns) < orphaned_ns;
        if !is_led && !std::mem::replace(&mut self.is_orphaned, true) {
            out.push(Effect::Orphaned);
        }
    }

    /// Notes that a child is silent, and warns.
    fn stalled(&mut self, at: usize, out: &mut Vec<Effect>) {
        let child = &mut self.children[at];
        child.is_stalled = true;
        let (address, most_s) = (&child.addresses[0], self.host_timeout_ns / 1_000_000_000);
        out.push(warned(format!("host {address} is silent; the run ends after {most_s} s of it")));
    }

    /// A node that was stopped itself, or whose clock jumped, has heard nobody meanwhile: that is
    /// not their silence.
    fn forgive_own_sleep(&mut self, now_ns: u64) {
        let asleep_ns = now_ns.saturating_sub(self.ticked_ns);
        self.ticked_ns = now_ns;
        if asleep_ns >= ASLEEP_NS {
            self.led_ns += asleep_ns;
            self.children.iter_mut().for_each(|child| child.heard_ns += asleep_ns);
        }
    }

    fn ping(&mut self, now_ns: u64, at: usize, out: &mut Vec<Effect>) {
        let child = &mut self.children[at];
        child.pinged_ns = now_ns;
        child.pings = child.pings.saturating_add(1);
        out.push(Effect::Down(at, ToAgent::Ping { sent_ns: now_ns }));
    }

    /// Passes an answer on once all children have given theirs.
    fn answer(&mut self, id: u64, out: &mut Vec<Effect>) {
        if !self.pending.get(&id).is_some_and(|pending| pending.replies.iter().all(Option::is_some))
        {
            return;
        }
        let replies = self.pending.remove(&id).into_iter().flat_map(|pending| pending.replies);
        let mut all = Reply::default();
        replies.flatten().for_each(|reply| all.join(reply));
        out.push(Effect::Up(FromAgent::Reply { id, reply: all }));
    }

    /// Passes on the intervals of all children that belong together.
    fn pass_samples(&mut self, at_end: bool, out: &mut Vec<Effect>) {
        let live: Vec<usize> = self.live().collect();
        while let Some(event) = self.samples.next(&live, at_end) {
            out.push(Effect::Up(FromAgent::Event(Box::new(event))));
        }
    }

    fn first_done(&mut self, job: usize, out: &mut Vec<Effect>) {
        if !self.is_started || !self.agreement.first_done.insert(job) {
            return;
        }
        if self.is_root {
            self.to_all(&ToAgent::FirstDone { job }, out);
        } else {
            out.push(Effect::Up(FromAgent::FirstDone { job }));
        }
    }

    /// Tells what all children have come to, once all have told.
    fn agree(&mut self, out: &mut Vec<Effect>) {
        if !self.is_started {
            return;
        }
        let furthest = self.agreement.furthest.iter();
        let known = furthest.filter(|(job, _)| !self.agreement.agreed.contains(job));
        let agreed: Vec<(usize, u64)> = known
            .filter(|(_, counts)| self.all_live(&counts.told))
            .map(|(job, counts)| (*job, counts.ops_max))
            .collect();
        for (job, ops) in agreed {
            self.agreement.agreed.insert(job);
            if self.is_root {
                self.to_all(&ToAgent::Furthest { job, ops }, out);
            } else {
                out.push(Effect::Up(FromAgent::Furthest { job, ops }));
            }
        }
        let all_ended = !self.agreement.has_ended && self.all_live(&self.agreement.ended);
        if all_ended {
            (self.agreement.has_ended, self.is_started) = (true, false);
            self.pass_samples(true, out);
            if self.is_root {
                self.to_all(&ToAgent::AllEnded, out);
            } else {
                out.push(Effect::Up(FromAgent::Ended));
            }
        }
    }
}

fn warned(sentence: String) -> Effect {
    Effect::Up(FromAgent::Event(Box::new(Event::Warned { sentence })))
}

/// Silence after which a node gives up the node that leads it, in ns: longer than the limit for
/// a child, so that a leader that was only slow finds its children.
pub fn orphaned_ns(host_timeout_ns: u64) -> u64 {
    host_timeout_ns.saturating_add(host_timeout_ns / 2)
}

/// Adds a link to what is known of a host behind it.
fn follow(host: &mut HostRecord, link: Offset, address: Option<&String>) {
    let member = host.member.get_or_insert_default();
    member.clock_offset_ns += link.ns;
    member.clock_error_ns += link.error_ns();
    member.round_trip_ns += link.round_trip_ns;
    if let Some(address) = address {
        member.address.clone_from(address);
    }
}

/// Addresses by the child that leads them, and the place of the first of each.
fn chunks(below: &[String]) -> impl Iterator<Item = (usize, &[String])> {
    let children = below.len().min(CHILDREN_MAX);
    let begin = move |nth: usize| below.len() * nth / children.max(1);
    (0..children).map(move |nth| (begin(nth), &below[begin(nth)..begin(nth + 1)]))
}
