//! The coordinator of a run: asks all hosts, one request at a time, and waits for their answers.
//!
//! It knows its hosts by a [`Network`] only, so that a simulation runs the same code as sockets do.

use std::collections::BTreeMap;
use std::path::PathBuf;

use candor_plan::{Bucket, PathText, Plan};
use candor_s3::vault;

use crate::client::Client;
use crate::message::{Failure, FromAgent, PhaseTask, Reply, Request, Stall, ToAgent, Word};
use crate::network::{Arrival, Network};
use crate::node::{Effect, Node, START_LEAD_NS};

/// Longest time between two looks at who is silent, in ns.
const TICK_NS: u64 = 20_000_000;

/// A request whose answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked(u64);

/// A host that was lost.
#[derive(Clone, Debug)]
pub struct Lost {
    /// The loss.
    pub failure: Failure,
    /// Moment at which the host was last heard.
    pub heard_ns: u64,
    /// Moment at which this was noticed.
    pub noticed_ns: u64,
}

/// A host that was silent and is heard again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stalled {
    /// The silence.
    pub stall: Stall,
    /// Moment at which the host was heard again.
    pub heard_ns: u64,
}

/// Coordinator of hosts that a network reaches.
pub struct Coordinator<N, C> {
    node: Node,
    network: N,
    client: C,
    next_id: u64,
    replies: BTreeMap<u64, Reply>,
    /// Hosts that were lost.
    lost: Vec<Lost>,
    /// Hosts that were silent for a while.
    stalls: Vec<Stalled>,
    rounds: u32,
    /// The plan that all hosts have.
    sent: Option<Plan>,
    /// All were told to stop, since one is lost.
    is_stopped: bool,
}

impl<N: Network, C: Client> Coordinator<N, C> {
    /// Of a network without links.
    pub fn new(network: N, client: C) -> Coordinator<N, C> {
        Coordinator {
            node: Node::root(),
            network,
            client,
            next_id: 0,
            replies: BTreeMap::new(),
            lost: Vec::new(),
            stalls: Vec::new(),
            rounds: 1,
            sent: None,
            is_stopped: false,
        }
    }

    /// The monotonic clock, in ns.
    pub fn now_ns(&self) -> u64 {
        self.network.now_ns()
    }

    /// Whom it works for.
    pub fn client(&self) -> &C {
        &self.client
    }

    /// The same, to tell it something.
    pub fn client_mut(&mut self) -> &mut C {
        &mut self.client
    }

    /// Finds out which hosts see the same files at some paths, and in how many rounds they are to
    /// act therefore. A reply with failures tells what went wrong.
    pub fn probe(&mut self, paths: &[PathBuf], name: String) -> Reply {
        let paths = paths.iter().map(|path| path.text()).collect();
        let put = self.ask(Request::Probe { paths, name });
        if !put.failures.is_empty() {
            return put;
        }
        let seen = self.ask(Request::Seen);
        self.rounds =
            1 + u32::from(seen.seen.iter().any(|(host, of)| of.iter().any(|of| of != host)));
        seen
    }

    /// Has a plan admitted by all hosts.
    pub fn open(&mut self, plan: &Plan) -> Reply {
        self.sent = Some(plan.clone());
        let given = plan.buckets.iter().flat_map(Bucket::given_keys).map(String::as_str);
        let keys = vault::sent(given.chain([vault::CUSTOMER_KEY]));
        self.in_rounds(|round| Request::Open {
            plan: Box::new(plan.clone()),
            keys: keys.clone(),
            round,
        })
    }

    /// Has a phase made ready by all hosts.
    pub fn prepare(&mut self, plan: &Plan, task: &PhaseTask) -> Reply {
        let is_known = self.sent.as_ref() == Some(plan);
        let plan = (!is_known).then(|| plan.clone());
        let task = PhaseTask { plan: plan.clone(), ..task.clone() };
        self.sent = plan.or(self.sent.take());
        self.in_rounds(|round| Request::Prepare { task: Box::new(task.clone()), round })
    }

    /// Asks in as many rounds as there are; the first that fails is the last.
    fn in_rounds(&mut self, request: impl Fn(u32) -> Request) -> Reply {
        let mut all = Reply::default();
        for round in 0..self.rounds {
            all.join(self.ask(request(round)));
            if !all.failures.is_empty() || !self.lost.is_empty() {
                break;
            }
        }
        all.hosts.sort_by_key(|host| host.member.as_ref().map(|member| member.index));
        all
    }

    /// Starts the phase that is ready, and asks for its results. Returns the agreed moment.
    pub fn start(&mut self) -> (u64, Asked) {
        // Time for the message to reach the last leaf, and to be slow once.
        let lead_ns = START_LEAD_NS + 8 * self.node.round_trip_ns_max();
        let at_ns = self.now_ns() + lead_ns;
        self.tell(ToAgent::Start { at_ns });
        (at_ns, self.begin(Request::Collect))
    }

    /// The phase that is ready will not begin.
    pub fn discard(&mut self) {
        self.tell(ToAgent::Discard);
    }

    /// Sends a command to all hosts.
    pub fn word(&mut self, word: Word) {
        self.tell(ToAgent::Word(word));
    }

    /// Asks all hosts and waits for their answers.
    pub fn ask(&mut self, request: Request) -> Reply {
        let asked = self.begin(request);
        loop {
            if let Some(reply) = self.answer(asked) {
                return reply;
            }
            self.pump();
        }
    }

    /// Asks all hosts.
    pub fn begin(&mut self, request: Request) -> Asked {
        let id = self.next_id;
        self.next_id += 1;
        self.tell(ToAgent::Request { id, request });
        Asked(id)
    }

    /// The answer of all hosts, once it is there.
    pub fn answer(&mut self, asked: Asked) -> Option<Reply> {
        self.replies.remove(&asked.0)
    }

    /// Hosts that were lost so far.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Hosts that were silent for a while so far.
    pub fn stalls(&self) -> &[Stalled] {
        &self.stalls
    }

    /// Takes what arrives first, or nothing for a moment, and passes commands on. Once a host is
    /// lost, all others are stopped: what is left of the run is not what the plan asked for.
    pub fn pump(&mut self) {
        let arrived = self.network.next(self.now_ns() + TICK_NS);
        let (now_ns, mut effects) = (self.now_ns(), Vec::new());
        match arrived {
            Some((child, Arrival::Message(message))) => {
                self.node.take_from_child(now_ns, child, *message, &mut effects);
            }
            Some((child, Arrival::Broken(broken))) => {
                self.node.child_lost(now_ns, child, &broken, &mut effects);
            }
            None => {}
        }
        self.node.tick(now_ns, &mut effects);
        self.apply(effects);
        if !self.lost.is_empty() && !std::mem::replace(&mut self.is_stopped, true) {
            self.word(Word::Stop);
        }
        while let Some(word) = self.client.next_word() {
            self.word(word);
        }
    }

    fn tell(&mut self, message: ToAgent) {
        let (now_ns, mut effects) = (self.now_ns(), Vec::new());
        self.node.take_from_above(now_ns, message, &mut effects);
        self.apply(effects);
    }

    fn apply(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Up(FromAgent::Reply { id, reply }) => drop(self.replies.insert(id, reply)),
                Effect::Up(FromAgent::Event(event)) => self.client.take(*event),
                Effect::Up(FromAgent::Lost(lost)) => {
                    let noticed_ns = self.now_ns();
                    let is_new = |failure: &Failure| {
                        self.lost.iter().all(|known| known.failure.host != failure.host)
                    };
                    let lost: Vec<_> = lost.into_iter().filter(is_new).collect();
                    self.lost.extend(lost.into_iter().map(|failure| {
                        let heard_ns = noticed_ns.saturating_sub(failure.heard_ago_ns);
                        Lost { failure, heard_ns, noticed_ns }
                    }));
                }
                Effect::Up(FromAgent::Stalled(stall)) => {
                    let heard_ns = self.now_ns();
                    self.stalls.push(Stalled { stall, heard_ns });
                }
                // The root agrees by itself and has no one to tell.
                Effect::Up(_) | Effect::Orphaned => {}
                Effect::Down(child, message) => self.network.send(child, message),
                Effect::Connect(child, address, wait_ms) => {
                    self.network.connect(child, &address, wait_ms);
                }
                Effect::Close(child) => self.network.close(child),
            }
        }
    }
}
