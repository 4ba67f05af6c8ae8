//! One slot: its connection, its request and its answer.

use std::io::IoSlice;
use std::time::{Duration, Instant};

use rustix::event::epoll::EventFlags;
use rustix::io::Errno;

use crate::answer::{Answer, Fault, FaultKind};
use crate::buffers::Buffers;
use crate::cursor::{Cursor, Outgoing};
use crate::link::{Link, Received, Shared, nanoseconds};
use crate::parser::{Direct, Parser};
use crate::request::{Method, Request};

/// Time to wait for `100 Continue` before the body is sent without it.
const CONTINUE_WAIT: Duration = Duration::from_secs(1);
/// Bytes that one slot receives before other slots have their turn.
const FAIR_BYTES: usize = 4 * 1024 * 1024;
/// Slices of one send.
const SLICES: usize = 16;
/// Bytes that one call drops, at most.
const LARGEST_DROP: u64 = 1 << 30;
/// Idle time after which a kept connection is checked before its use.
const IDLE: Duration = Duration::from_millis(1);

/// Counts of a slot's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionStats {
    /// Connections made.
    pub connects: u64,
    /// Requests that were started.
    pub requests: u64,
    /// Kept connections that the server closed, or announced to close.
    pub closed_by_server: u64,
}

/// Work of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Idle,
    Connect,
    Exchange,
}

/// Progress of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// An event must arrive first.
    Waiting,
    /// More bytes are there; other slots have their turn first.
    Again,
    /// The request has its answer or its fault.
    Finished,
}

/// A slot.
pub struct Connection {
    /// The next request, or the current one.
    pub request: Request,
    /// The last answer.
    pub answer: Answer,
    /// The slot is in the client's list of ready slots.
    pub is_queued: bool,
    link: Link,
    goal: Goal,
    parser: Parser,
    /// Request line and headers of the current request.
    head: Vec<u8>,
    cursor: Cursor,
    started: Instant,
    deadline: Instant,
    /// Time of the last progress since the start.
    progress_ns: u64,
    /// Interim answers that were noted.
    seen_interim: u32,
    /// Bytes followed the answer.
    has_stray: bool,
    /// The body waits for `100 Continue` until then.
    hold: Option<Instant>,
    send_error: Option<Errno>,
    /// The connection was ready before the request.
    is_kept: bool,
    /// The server closed the kept connection since the last request.
    was_closed: bool,
    earlier_requests: u64,
    last_end: Instant,
    stats: ConnectionStats,
}

impl Connection {
    /// A slot without a connection.
    pub fn new(slot: usize, number: u64) -> Connection {
        let now = Instant::now();
        Connection {
            request: Request::default(),
            answer: Answer::default(),
            is_queued: false,
            link: Link::new(slot, number),
            goal: Goal::Idle,
            parser: Parser::default(),
            head: Vec::new(),
            cursor: Cursor::default(),
            started: now,
            deadline: now,
            progress_ns: 0,
            seen_interim: 0,
            has_stray: false,
            hold: None,
            send_error: None,
            is_kept: false,
            was_closed: false,
            earlier_requests: 0,
            last_end: now,
            stats: ConnectionStats::default(),
        }
    }

    /// The link, for its addresses and its socket.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Counts.
    pub fn stats(&self) -> ConnectionStats {
        ConnectionStats { connects: self.link.connects(), ..self.stats }
    }

    /// A request or a connect is under way.
    pub fn is_active(&self) -> bool {
        self.goal != Goal::Idle
    }

    /// Time of the next limit.
    pub fn deadline(&self) -> Instant {
        if !self.link.is_ready() {
            return self.link.deadline();
        }
        self.hold.map_or(self.deadline, |hold| hold.min(self.deadline))
    }

    /// Starts to connect without a request, unless a connection is kept and alive.
    pub fn begin_connect(&mut self) {
        assert!(!self.is_active(), "the slot has a request already");
        if self.link.is_ready() && !self.link.is_alive() {
            self.closed_idle();
        }
        self.was_closed = false;
        self.started = Instant::now();
        self.progress_ns = 0;
        self.answer.clear();
        self.goal = Goal::Connect;
    }

    /// Starts the request.
    pub fn begin(&mut self, shared: &Shared) {
        assert!(!self.is_active(), "the slot has a request already");
        self.started = Instant::now();
        self.progress_ns = 0;
        self.stats.requests += 1;
        self.answer.clear();
        self.write_head(shared);
        if self.link.is_ready() && !self.is_usable() {
            self.closed_idle();
        }
        self.is_kept = self.link.is_ready();
        self.answer.reconnects = u32::from(self.was_closed);
        self.was_closed = false;
        self.goal = Goal::Exchange;
        self.rewind(shared);
    }

    /// The server neither closed the kept connection nor sent bytes on it.
    fn is_usable(&mut self) -> bool {
        let is_fresh = self.started.duration_since(self.last_end) < IDLE;
        (is_fresh && !self.link.is_readable()) || self.link.is_alive()
    }

    fn closed_idle(&mut self) {
        self.link.close();
        self.stats.closed_by_server += 1;
        self.was_closed = true;
    }

    /// Prepares the request's first byte.
    fn rewind(&mut self, shared: &Shared) {
        let without_body = self.request.method == Method::Head;
        self.parser.begin(self.request.into, without_body);
        self.cursor = Cursor::default();
        self.send_error = None;
        self.seen_interim = 0;
        self.has_stray = false;
        self.answer.sent_bytes = 0;
        self.deadline = self.started + shared.transport.settings().answer_timeout;
        let has_body = self.request.length() > 0;
        let holds = has_body && expects_continue(&self.request.headers);
        self.hold = holds.then_some(self.started + CONTINUE_WAIT);
        if !self.is_kept {
            self.earlier_requests = 0;
        }
        self.answer.earlier_requests = self.earlier_requests;
    }

    fn write_head(&mut self, shared: &Shared) {
        let settings = shared.transport.settings();
        let server = shared.transport.server(self.link.number());
        self.head.clear();
        self.head.extend_from_slice(self.request.method.name().as_bytes());
        self.head.push(b' ');
        if let Some(prefix) = &server.absolute {
            self.head.extend_from_slice(prefix.as_bytes());
        }
        self.head.extend_from_slice(self.request.target.as_bytes());
        self.head.extend_from_slice(b" HTTP/1.1\r\n");
        self.head.extend_from_slice(self.request.headers.as_bytes());
        if !settings.keep_alive {
            self.head.extend_from_slice(b"Connection: close\r\n");
        }
        self.head.extend_from_slice(b"\r\n");
    }

    /// Notes an event of the socket.
    pub fn note(&mut self, flags: EventFlags) {
        self.link.note(flags);
    }

    /// Ends the request without an answer.
    pub fn cancel(&mut self) {
        self.goal = Goal::Idle;
        self.link.close();
    }

    /// Advances as far as the socket allows.
    pub fn drive(
        &mut self,
        slot: usize,
        shared: &Shared,
        input: &mut [u8],
        buffers: &mut impl Buffers,
    ) -> Progress {
        if self.goal == Goal::Idle {
            if self.link.is_readable() && !self.link.is_closed() && !self.link.is_alive() {
                self.closed_idle();
            }
            return Progress::Waiting;
        }
        loop {
            match self.advance(slot, shared, input, buffers) {
                Ok(Progress::Finished) => self.finish(shared),
                Ok(progress) => return progress,
                Err(fault) if self.may_reconnect(&fault) => {
                    self.link.close();
                    self.stats.closed_by_server += 1;
                    self.answer.reconnects += 1;
                    self.is_kept = false;
                    self.rewind(shared);
                    self.answer.moments = Default::default();
                    continue;
                }
                Err(fault) => self.fail(fault),
            }
            return Progress::Finished;
        }
    }

    /// Handles a limit that has passed.
    pub fn expire(&mut self, shared: &Shared) -> Result<(), Fault> {
        if !self.link.is_ready() {
            return self.link.expire(shared);
        }
        let now = Instant::now();
        if self.deadline <= now {
            let step = match (self.is_sent(), self.parser.has_head()) {
                (_, true) => "no further byte of the answer arrived",
                (true, false) => "no answer arrived",
                (false, false) => "the server took no further byte of the request",
            };
            let limit = shared.transport.settings().answer_timeout;
            let message = format!("{step} within {limit:?}");
            return Err(Fault::new(FaultKind::Timeout, message));
        }
        self.hold = self.hold.filter(|hold| *hold > now);
        Ok(())
    }

    /// Ends the request with a fault.
    pub fn fail(&mut self, fault: Fault) {
        self.answer.fault = Some(fault);
        self.link.close();
        self.progress_ns = nanoseconds(self.started);
        self.end();
    }

    /// The connection was kept, and the server closed it before it saw the request.
    fn may_reconnect(&self, fault: &Fault) -> bool {
        let is_untouched = self.answer.received_bytes == 0 && self.parser.interim() == 0;
        self.is_kept && fault.kind == FaultKind::Reset && is_untouched
    }

    fn finish(&mut self, shared: &Shared) {
        let was_connect = self.goal == Goal::Connect;
        self.end();
        if was_connect {
            return;
        }
        self.earlier_requests += 1;
        if !shared.transport.settings().keep_alive || !self.is_sent() || self.has_stray {
            self.link.close();
        } else if !self.parser.keep_alive() {
            self.stats.closed_by_server += 1;
            self.link.close();
        } else {
            self.link.expect_silence();
        }
    }

    fn end(&mut self) {
        self.goal = Goal::Idle;
        self.answer.peer = self.link.peer();
        self.answer.moments.end_ns = self.progress_ns;
        self.last_end = self.started + Duration::from_nanos(self.progress_ns);
    }

    fn is_sent(&self) -> bool {
        self.cursor.is_done(&self.head, &self.request) && self.link.is_flushed()
    }

    fn advance(
        &mut self,
        slot: usize,
        shared: &Shared,
        input: &mut [u8],
        buffers: &mut impl Buffers,
    ) -> Result<Progress, Fault> {
        if !self.link.is_ready() {
            let moments = &mut self.answer.moments;
            if !self.link.establish(shared, self.started, moments, input)? {
                return Ok(Progress::Waiting);
            }
            let now = nanoseconds(self.started);
            moments.ready_ns = now;
            self.touch(shared, now);
        }
        if self.goal == Goal::Connect {
            return Ok(Progress::Finished);
        }
        self.send(shared, buffers.bytes(slot));
        let progress = self.receive(shared, input, buffers.room(slot))?;
        if progress == Progress::Waiting && self.link.is_writable() && !self.is_sent() {
            // An interim answer has released the body.
            self.send(shared, buffers.bytes(slot));
        }
        Ok(progress)
    }

    /// Notes progress at this time since the start.
    fn touch(&mut self, shared: &Shared, at_ns: u64) {
        let limit = shared.transport.settings().answer_timeout;
        self.progress_ns = at_ns;
        self.deadline = self.started + Duration::from_nanos(at_ns) + limit;
    }

    /// Sends bytes as far as the kernel takes them. An error is kept: the answer may be there.
    fn send(&mut self, shared: &Shared, slot: &[u8]) {
        if self.send_error.is_some() || self.is_sent() {
            return;
        }
        if let Err(error) = self.send_bytes(shared, slot) {
            self.send_error = Some(error);
            self.link.expect_bytes();
        }
    }

    fn send_bytes(&mut self, shared: &Shared, slot: &[u8]) -> Result<(), Errno> {
        if !self.link.is_flushed() && self.link.is_writable() {
            self.link.flush()?;
            self.note_sent(shared);
        }
        while self.link.is_writable() {
            let from = Outgoing { head: &self.head, request: &self.request, slot };
            let mut slices = [IoSlice::new(&[]); SLICES];
            let used = self.cursor.fill(from, self.hold.is_none(), &mut slices);
            if used == 0 {
                break;
            }
            let sent = self.link.write(&slices[..used])?;
            self.cursor.advance(from, sent);
            self.answer.sent_bytes += sent as u64;
            if sent > 0 {
                self.note_sent(shared);
            }
        }
        Ok(())
    }

    fn note_sent(&mut self, shared: &Shared) {
        let now = nanoseconds(self.started);
        self.touch(shared, now);
        if !self.link.is_flushed() || !self.cursor.head_is_sent(&self.head) {
            return;
        }
        let moments = &mut self.answer.moments;
        moments.head_sent_ns.get_or_insert(now);
        let has_body = !self.request.pieces.is_empty();
        if has_body && self.cursor.is_done(&self.head, &self.request) {
            moments.body_sent_ns = Some(now);
        }
    }

    /// Receives bytes until none is there, or the answer is complete.
    fn receive(
        &mut self,
        shared: &Shared,
        input: &mut [u8],
        room: &mut [u8],
    ) -> Result<Progress, Fault> {
        let mut received = 0;
        while self.link.is_readable() {
            if received >= FAIR_BYTES {
                return Ok(Progress::Again);
            }
            received += if self.link.has_tls() {
                self.receive_encrypted(shared, room)?
            } else {
                self.receive_plain(shared, input, room)?
            };
            if self.parser.is_done() {
                return Ok(Progress::Finished);
            }
        }
        Ok(Progress::Waiting)
    }

    fn receive_plain(
        &mut self,
        shared: &Shared,
        input: &mut [u8],
        room: &mut [u8],
    ) -> Result<usize, Fault> {
        let quick_ack = shared.transport.settings().quick_ack;
        let direct = self.parser.direct(&self.answer, room.len());
        let received = match &direct {
            Direct::Nothing => self.link.receive(&mut *input, quick_ack),
            Direct::Slot(range) => self.link.receive(&mut room[range.clone()], quick_ack),
            Direct::Drop(bytes) => {
                self.link.discard((*bytes).min(LARGEST_DROP) as usize, quick_ack)
            }
        };
        match received.map_err(receive_fault)? {
            Received::Blocked => Ok(0),
            Received::End => {
                self.parser.end_of_input(&self.answer)?;
                self.touch(shared, nanoseconds(self.started));
                Ok(0)
            }
            Received::Bytes(bytes) => {
                let now = nanoseconds(self.started);
                if direct == Direct::Nothing {
                    let used = self.parser.feed(&input[..bytes], &mut self.answer, room)?;
                    self.has_stray |= used < bytes;
                } else {
                    self.parser.received(bytes as u64, &mut self.answer);
                }
                self.note_received(shared, now);
                Ok(bytes)
            }
        }
    }

    fn receive_encrypted(&mut self, shared: &Shared, room: &mut [u8]) -> Result<usize, Fault> {
        let received = self.link.receive_records(shared.transport.settings().quick_ack);
        let bytes = match received.map_err(receive_fault)? {
            Received::Blocked => return Ok(0),
            Received::End => {
                self.parser.cut_off(&self.answer)?;
                return Ok(0);
            }
            Received::Bytes(bytes) => bytes,
        };
        let now = nanoseconds(self.started);
        let (parser, answer, has_stray) = (&mut self.parser, &mut self.answer, &mut self.has_stray);
        let has_closed = self.link.decrypt(bytes, &mut |plain| {
            let used = parser.feed(plain, answer, room)?;
            *has_stray |= used < plain.len();
            Ok(())
        })?;
        self.note_received(shared, now);
        if has_closed && !self.parser.is_done() {
            self.parser.end_of_input(&self.answer)?;
        }
        Ok(bytes)
    }

    fn note_received(&mut self, shared: &Shared, now: u64) {
        self.touch(shared, now);
        let moments = &mut self.answer.moments;
        if self.parser.interim() > self.seen_interim {
            self.seen_interim = self.parser.interim();
            self.hold = None;
            moments.first_byte_ns = None;
        }
        if self.parser.has_head() {
            moments.head_ns.get_or_insert(now);
        }
        if self.parser.has_head() || !self.answer.head.is_empty() {
            moments.first_byte_ns.get_or_insert(now);
        }
        if self.answer.body_bytes > 0 {
            moments.first_body_ns.get_or_insert(now);
        }
    }
}

fn receive_fault(error: Errno) -> Fault {
    let kind = if error == Errno::TIMEDOUT { FaultKind::Timeout } else { FaultKind::Reset };
    Fault::kernel(kind, "receive", error)
}

/// The request waits for `100 Continue` before its body.
fn expects_continue(headers: &str) -> bool {
    headers.lines().filter_map(|line| line.split_once(':')).any(|(name, value)| {
        name.eq_ignore_ascii_case("expect") && value.trim().eq_ignore_ascii_case("100-continue")
    })
}
