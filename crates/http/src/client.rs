//! Slots with one connection each, driven by one thread.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;

use crate::answer::{Answer, Fault, Moments};
use crate::buffers::{Buffers, NoBuffers};
use crate::connection::{Connection, ConnectionStats, Progress};
use crate::endpoint::Endpoint;
use crate::link::Shared;
use crate::problem::Problem;
use crate::request::Request;
use crate::tcp_info::{self, TcpInfo};
use crate::transport::Transport;

/// Bytes that are received together with a head, and copied; all slots share the buffer.
const INPUT_BYTES: usize = 16 * 1024;
/// Events of one wait, at most.
const EVENTS: usize = 256;
/// Longest wait of one call; older kernels refuse waits above 24 days.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);
/// Shorter waits are not rounded up to ms.
const PRECISE_BELOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Connections of one worker: one per slot, each for one request at a time.
///
/// After the first requests, plain HTTP allocates nothing unless a buffer has to grow; TLS
/// allocates once per received record.
pub struct Client {
    shared: Shared,
    slots: Vec<Connection>,
    input: Box<[u8]>,
    events: Vec<Event>,
    /// Slots with more to receive.
    ready: Vec<usize>,
    /// Ready slots of the current turn.
    driven: Vec<usize>,
    /// Finished slots that were not reported.
    finished: Vec<usize>,
    /// Started slots that have not finished.
    in_flight: usize,
    /// No limit passes earlier.
    next_limit: Option<Instant>,
}

/// Result of a connect before the first request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// Times.
    pub moments: Moments,
    /// Address of the server, if one was tried.
    pub peer: Option<SocketAddr>,
    /// Failure.
    pub fault: Option<Fault>,
}

impl Client {
    /// A client without connections. `first_connection`: number of slot 0's connection among all
    /// clients; it decides endpoint and address.
    pub fn new(
        transport: &Arc<Transport>,
        slots: usize,
        first_connection: u64,
    ) -> Result<Client, Problem> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)
            .map_err(|error| Problem::Kernel { call: "epoll_create1", reason: error.into() })?;
        let shared = Shared { transport: Arc::clone(transport), epoll };
        let numbers = (0..slots).map(|slot| Connection::new(slot, first_connection + slot as u64));
        Ok(Client {
            shared,
            slots: numbers.collect(),
            input: vec![0; INPUT_BYTES].into_boxed_slice(),
            events: Vec::with_capacity(slots.clamp(1, EVENTS)),
            ready: Vec::with_capacity(slots),
            driven: Vec::with_capacity(slots),
            finished: Vec::with_capacity(slots),
            in_flight: 0,
            next_limit: None,
        })
    }

    /// The endpoint of a slot, the same for the life of the client.
    pub fn endpoint_of(&self, slot: usize) -> &Endpoint {
        &self.shared.transport.server(self.slots[slot].link().number()).endpoint
    }

    /// Connects all slots without a connection, and waits for them. Results are in the order of
    /// the slots; the result of a kept connection has no times.
    pub fn connect_all(&mut self) -> Vec<Connected> {
        assert_eq!(self.in_flight, 0, "connections are made before requests");
        for slot in 0..self.slots.len() {
            self.slots[slot].begin_connect();
            self.in_flight += 1;
            self.drive(slot, &mut NoBuffers);
        }
        let mut done = Vec::with_capacity(self.slots.len());
        self.turn(&mut NoBuffers, self.slots.len(), None, &mut done);
        let answers = self.slots.iter().map(|connection| &connection.answer);
        let results = answers.map(|answer| Connected {
            moments: answer.moments,
            peer: answer.peer,
            fault: answer.fault.clone(),
        });
        results.collect()
    }

    /// The request of a slot without one in flight, to be filled before [`Client::start`].
    pub fn request(&mut self, slot: usize) -> &mut Request {
        assert!(!self.slots[slot].is_active(), "the slot's request is in flight");
        &mut self.slots[slot].request
    }

    /// Starts the request of a slot, and sends as many bytes as the kernel takes.
    pub fn start(&mut self, slot: usize, buffers: &mut impl Buffers) {
        self.slots[slot].begin(&self.shared);
        self.in_flight += 1;
        self.drive(slot, buffers);
    }

    /// Number of requests in flight: started, and not reported by [`Client::turn`].
    pub fn in_flight(&self) -> usize {
        self.in_flight + self.finished.len()
    }

    /// Advances all slots until `min` of them finished or `wait` passed, and adds finished slots to
    /// `done`. Without a `wait`, only `min` ends the turn. A `min` above the requests in flight
    /// waits for all of them.
    pub fn turn(
        &mut self,
        buffers: &mut impl Buffers,
        min: usize,
        wait: Option<Duration>,
        done: &mut Vec<usize>,
    ) {
        let min = min.min(self.in_flight());
        let until = wait.and_then(|wait| Instant::now().checked_add(wait));
        loop {
            let is_last = self.finished.len() >= min || wait == Some(Duration::ZERO);
            let limit = if is_last || !self.ready.is_empty() {
                Some(Duration::ZERO)
            } else {
                self.next_limit.into_iter().chain(until).min().map(time_until)
            };
            if self.in_flight > 0 {
                self.poll(limit, buffers);
            }
            let is_over = until.is_some_and(|until| until <= Instant::now());
            if is_last || self.finished.len() >= min || is_over {
                break;
            }
        }
        done.append(&mut self.finished);
    }

    /// The last answer of a slot.
    pub fn answer(&self, slot: usize) -> &Answer {
        &self.slots[slot].answer
    }

    /// Gives up the request of a slot: its connection is closed, and no turn reports it.
    pub fn cancel(&mut self, slot: usize) {
        if self.slots[slot].is_active() {
            self.in_flight -= 1;
        }
        self.slots[slot].cancel();
        self.finished.retain(|finished| *finished != slot);
    }

    /// Sends one request on slot 0 and waits for its answer. No request may be in flight.
    pub fn exchange(&mut self, request: &Request, buffers: &mut impl Buffers) -> &Answer {
        assert_eq!(self.in_flight(), 0, "an exchange is alone");
        self.slots[0].request.clone_from(request);
        self.start(0, buffers);
        let mut done = Vec::with_capacity(1);
        self.turn(buffers, 1, None, &mut done);
        assert_eq!(done, [0]);
        self.answer(0)
    }

    /// Counts of a slot's connections.
    pub fn stats(&self, slot: usize) -> ConnectionStats {
        self.slots[slot].stats()
    }

    /// Version and cipher suite of TLS of a slot's connection, if one exists and is encrypted.
    pub fn tls_version(&self, slot: usize) -> Option<String> {
        self.slots[slot].link().tls_version()
    }

    /// The kernel's view of a slot's connection, if one exists.
    pub fn tcp_info(&self, slot: usize) -> Option<TcpInfo> {
        let link = self.slots[slot].link();
        tcp_info::read(link.socket()?, link.peer()?)
    }

    /// Waits for events once, and advances slots.
    fn poll(&mut self, limit: Option<Duration>, buffers: &mut impl Buffers) {
        self.wait(limit);
        for index in 0..self.events.len() {
            let Event { flags, data, .. } = self.events[index];
            let slot = data.u64() as usize;
            self.slots[slot].note(flags);
            self.enqueue(slot);
        }
        std::mem::swap(&mut self.ready, &mut self.driven);
        for index in 0..self.driven.len() {
            let slot = self.driven[index];
            self.slots[slot].is_queued = false;
            self.drive(slot, buffers);
        }
        self.driven.clear();
        if self.next_limit.is_some_and(|limit| limit <= Instant::now()) {
            self.check_limits(buffers);
        }
    }

    /// Adds a slot to the ready ones, once.
    fn enqueue(&mut self, slot: usize) {
        if !self.slots[slot].is_queued {
            self.slots[slot].is_queued = true;
            self.ready.push(slot);
        }
    }

    fn wait(&mut self, limit: Option<Duration>) {
        let mut limit = limit.map(|limit| timespec(limit.min(LONGEST_WAIT)));
        let epoll = &self.shared.epoll;
        if limit.is_some_and(|limit| limit != Timespec::default() && limit < PRECISE_BELOW) {
            // epoll_wait counts in ms. An error is one of epoll_wait as well.
            let _ = poll(&mut [PollFd::new(epoll, PollFlags::IN)], limit.as_ref());
            limit = Some(Timespec::default());
        }
        self.events.clear();
        match epoll::wait(epoll, spare_capacity(&mut self.events), limit.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => panic!("epoll_wait: {error}"),
        }
    }

    /// Advances a slot.
    fn drive(&mut self, slot: usize, buffers: &mut impl Buffers) {
        let connection = &mut self.slots[slot];
        match connection.drive(slot, &self.shared, &mut self.input, buffers) {
            Progress::Finished => self.report(slot),
            Progress::Again => {
                self.enqueue(slot);
                self.limit(slot);
            }
            Progress::Waiting => self.limit(slot),
        }
    }

    fn report(&mut self, slot: usize) {
        self.in_flight -= 1;
        self.finished.push(slot);
    }

    /// Notes the slot's limit if it is the earliest.
    fn limit(&mut self, slot: usize) {
        let connection = &self.slots[slot];
        if connection.is_active() {
            let deadline = connection.deadline();
            let earliest = self.next_limit.map_or(deadline, |limit| limit.min(deadline));
            self.next_limit = Some(earliest);
        }
    }

    /// Ends requests that are past their limit, and finds the next limit.
    fn check_limits(&mut self, buffers: &mut impl Buffers) {
        self.next_limit = None;
        let now = Instant::now();
        for slot in 0..self.slots.len() {
            let connection = &mut self.slots[slot];
            if !connection.is_active() {
                continue;
            }
            if connection.deadline() > now {
                self.limit(slot);
                continue;
            }
            match connection.expire(&self.shared) {
                Ok(()) => self.drive(slot, buffers),
                Err(fault) => {
                    connection.fail(fault);
                    self.report(slot);
                }
            }
        }
    }
}

fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs() as i64, tv_nsec: duration.subsec_nanos().into() }
}

fn time_until(limit: Instant) -> Duration {
    limit.saturating_duration_since(Instant::now())
}
