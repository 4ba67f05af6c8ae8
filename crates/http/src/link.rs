//! One connection at a time: its socket, its TLS session, and the steps until it is ready.

use std::io::IoSlice;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use crate::answer::{Answer, Fault, FaultKind, Moments};
use crate::parser::Parser;
use crate::request::Into;
use crate::session::Session;
use crate::socket::Socket;
use crate::transport::{Server, Transport};

/// State of a client that all its connections use.
pub struct Shared {
    /// Settings and addresses.
    pub transport: Arc<Transport>,
    /// The client's events.
    pub epoll: OwnedFd,
}

/// Step towards readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Closed,
    Connecting,
    Tunnel,
    Handshake,
    Ready,
}

/// Result of one receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Bytes arrived.
    Bytes(usize),
    /// No byte is there.
    Blocked,
    /// The peer sends no more.
    End,
}

/// The connection of a slot.
pub struct Link {
    /// Number of the slot, for events.
    slot: usize,
    /// Number of the connection, for endpoint and address.
    number: u64,
    stage: Stage,
    socket: Option<Socket>,
    tls: Option<Box<Session>>,
    tunnel: Option<Box<Tunnel>>,
    readable: bool,
    writable: bool,
    /// The peer sends no more, by an event or by TLS.
    peer_closed: bool,
    peer: Option<SocketAddr>,
    /// Added to the number of the address: addresses before it were not reachable.
    address_offset: u64,
    /// Addresses that failed since the last success.
    failed: usize,
    deadline: Instant,
    connects: u64,
}

/// The exchange with a proxy that connects to the server.
#[derive(Default)]
struct Tunnel {
    unsent: Vec<u8>,
    parser: Parser,
    answer: Answer,
}

impl Link {
    /// A closed link.
    pub fn new(slot: usize, number: u64) -> Link {
        Link {
            slot,
            number,
            stage: Stage::Closed,
            socket: None,
            tls: None,
            tunnel: None,
            readable: false,
            writable: false,
            peer_closed: false,
            peer: None,
            address_offset: 0,
            failed: 0,
            deadline: Instant::now(),
            connects: 0,
        }
    }

    /// Number of the connection.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Requests may be sent.
    pub fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }

    /// No connection exists.
    pub fn is_closed(&self) -> bool {
        self.stage == Stage::Closed
    }

    /// Address of the server or proxy.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Connections made so far.
    pub fn connects(&self) -> u64 {
        self.connects
    }

    /// The socket, if one exists.
    pub fn socket(&self) -> Option<&Socket> {
        self.socket.as_ref()
    }

    /// Limit of the current step towards readiness.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// More bytes may be there.
    pub fn is_readable(&self) -> bool {
        self.readable
    }

    /// The kernel may take more bytes.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// Notes an event of the socket.
    pub fn note(&mut self, flags: EventFlags) {
        let ends = EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR;
        self.readable |= flags.intersects(EventFlags::IN | ends);
        self.writable |= flags.intersects(EventFlags::OUT | EventFlags::HUP | EventFlags::ERR);
        self.peer_closed |= flags.intersects(ends);
    }

    /// Tries a receive, although no event arrived.
    pub fn expect_bytes(&mut self) {
        self.readable = true;
    }

    /// All bytes of an answer were received; later bytes raise an event.
    pub fn expect_silence(&mut self) {
        self.readable = self.peer_closed;
    }

    /// Closes the connection.
    pub fn close(&mut self) {
        self.stage = Stage::Closed;
        self.tls = None;
        self.tunnel = None;
        self.socket = None;
        self.readable = false;
        self.writable = false;
        self.peer_closed = false;
    }

    /// An idle connection is of use: the server neither closed it nor sent bytes.
    pub fn is_alive(&mut self) -> bool {
        let Some(socket) = self.socket.as_ref().filter(|_| !self.peer_closed) else {
            return false;
        };
        if self.tls.is_none() {
            return !self.readable && socket.is_quiet();
        }
        // Tickets of a TLS session may arrive at any time.
        self.readable = true;
        while self.readable {
            let Ok(Received::Bytes(bytes)) = self.receive_records(false) else { break };
            let mut is_silent = true;
            let decrypted = self.decrypt(bytes, &mut |_| {
                is_silent = false;
                Ok(())
            });
            if decrypted != Ok(false) || !is_silent {
                return false;
            }
        }
        !self.readable
    }

    /// Takes steps until the connection is ready, or a step has to wait (false).
    pub fn establish(
        &mut self,
        shared: &Shared,
        started: Instant,
        moments: &mut Moments,
        input: &mut [u8],
    ) -> Result<bool, Fault> {
        let server = shared.transport.server(self.number);
        loop {
            let is_done = match self.stage {
                Stage::Closed => self.open(shared, server, started, moments)?,
                Stage::Connecting if !self.writable => false,
                Stage::Connecting => {
                    match self.socket.as_ref().expect("a socket is connecting").error() {
                        Ok(()) => {
                            moments.connect_ns = Some(nanoseconds(started));
                            self.connected(shared, server)?;
                        }
                        Err(error) => self.connect_failed(server, error)?,
                    }
                    true
                }
                Stage::Tunnel => self.step_tunnel(server, input)?,
                Stage::Handshake => {
                    let is_done = self.step_handshake()?;
                    if is_done {
                        moments.tls_ns = Some(nanoseconds(started));
                        self.stage = Stage::Ready;
                    }
                    is_done
                }
                Stage::Ready => return Ok(true),
            };
            if !is_done {
                return Ok(false);
            }
        }
    }

    /// Handles a step that took too long: the next address, or a fault.
    pub fn expire(&mut self, shared: &Shared) -> Result<(), Fault> {
        let step = match self.stage {
            Stage::Tunnel => "the proxy's answer to CONNECT",
            Stage::Handshake => "the TLS handshake",
            _ => {
                let server = shared.transport.server(self.number);
                return self.connect_failed(server, Errno::TIMEDOUT);
            }
        };
        let limit = shared.transport.settings().connect_timeout;
        Err(Fault::new(FaultKind::Timeout, format!("{step} took longer than {limit:?}")))
    }

    /// Starts a connect to the next address.
    fn open(
        &mut self,
        shared: &Shared,
        server: &Server,
        started: Instant,
        moments: &mut Moments,
    ) -> Result<bool, Fault> {
        let settings = shared.transport.settings();
        let number = shared.transport.address_number(self.number) + self.address_offset;
        let choice = server.addresses.choose(number)?;
        if choice.looked_up {
            moments.lookup_ns = Some(nanoseconds(started));
        }
        self.close();
        self.peer = Some(choice.address);
        self.deadline = Instant::now() + settings.connect_timeout;
        self.stage = Stage::Connecting;
        let socket = match Socket::connect(&choice.address, settings) {
            Ok(socket) => socket,
            Err(error) => {
                self.connect_failed(server, error)?;
                return Ok(true);
            }
        };
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&shared.epoll, &socket, EventData::new_u64(self.slot as u64), flags)
            .map_err(|error| Fault::kernel(FaultKind::Connect, "epoll_ctl", error))?;
        self.socket = Some(socket);
        Ok(true)
    }

    /// Closes, and passes to the next address; a fault once all were tried.
    fn connect_failed(&mut self, server: &Server, error: Errno) -> Result<(), Fault> {
        self.close();
        server.addresses.doubt();
        self.address_offset += 1;
        self.failed += 1;
        let known = server.addresses.all()?.len();
        if self.failed < known {
            return Ok(());
        }
        self.failed = 0;
        let peer = self.peer.map_or(String::new(), |peer| peer.to_string());
        Err(Fault::kernel(FaultKind::Connect, &format!("connect to {peer}"), error))
    }

    fn connected(&mut self, shared: &Shared, server: &Server) -> Result<(), Fault> {
        self.connects += 1;
        self.failed = 0;
        self.deadline = Instant::now() + shared.transport.settings().connect_timeout;
        self.stage = match &server.tls {
            None => Stage::Ready,
            Some(_) if shared.transport.settings().proxy.is_some() => {
                let to = server.endpoint.host_and_port();
                let text = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n");
                let mut tunnel = Tunnel { unsent: text.into_bytes(), ..Tunnel::default() };
                tunnel.parser.begin(Into::Nothing, true);
                self.tunnel = Some(Box::new(tunnel));
                Stage::Tunnel
            }
            Some(_) => self.begin_tls(server)?,
        };
        Ok(())
    }

    fn begin_tls(&mut self, server: &Server) -> Result<Stage, Fault> {
        let tls = server.tls.as_ref().expect("the endpoint has TLS");
        self.tls = Some(Box::new(Session::new(tls)?));
        Ok(Stage::Handshake)
    }

    /// Sends `CONNECT` and reads the proxy's answer. True once the next stage has begun.
    fn step_tunnel(&mut self, server: &Server, input: &mut [u8]) -> Result<bool, Fault> {
        let mut tunnel = self.tunnel.take().expect("a tunnel is under construction");
        while !tunnel.unsent.is_empty() && self.writable {
            let sent = self.write(&[IoSlice::new(&tunnel.unsent)]);
            let sent = sent.map_err(|error| Fault::kernel(FaultKind::Reset, "send", error))?;
            tunnel.unsent.drain(..sent);
        }
        while self.readable {
            let received = self.receive(input, false);
            match received.map_err(|error| Fault::kernel(FaultKind::Reset, "receive", error))? {
                Received::Blocked => break,
                Received::End => tunnel.parser.end_of_input(&tunnel.answer)?,
                Received::Bytes(bytes) => {
                    tunnel.parser.feed(&input[..bytes], &mut tunnel.answer, &mut [])?;
                }
            };
            if tunnel.parser.is_done() {
                let status = tunnel.answer.status;
                if !(200..300).contains(&status) {
                    let to = server.endpoint.host_and_port();
                    let message = format!("the proxy answered CONNECT {to} with status {status}");
                    return Err(Fault::new(FaultKind::Connect, message));
                }
                self.stage = self.begin_tls(server)?;
                return Ok(true);
            }
        }
        self.tunnel = Some(tunnel);
        Ok(false)
    }

    /// Exchanges TLS records. True once the handshake is done.
    fn step_handshake(&mut self) -> Result<bool, Fault> {
        loop {
            let flushed = self.flush();
            flushed.map_err(|error| Fault::kernel(FaultKind::Tls, "send a handshake", error))?;
            let session = self.tls.as_ref().expect("a TLS session exists");
            if session.can_write() {
                return Ok(self.is_flushed());
            }
            if !self.readable {
                return Ok(false);
            }
            let received = self.receive_records(false);
            match received.map_err(|error| Fault::kernel(FaultKind::Tls, "handshake", error))? {
                Received::Blocked => return Ok(false),
                Received::End => {
                    let message = "the server closed the connection within the TLS handshake";
                    return Err(Fault::new(FaultKind::Tls, message.to_owned()));
                }
                Received::Bytes(bytes) => {
                    let decrypted = self.decrypt(bytes, &mut |_| Ok(()));
                    if decrypted.is_err() {
                        // The server learns the reason from an alert, if the kernel takes it.
                        let _ = self.flush();
                    }
                    decrypted?;
                }
            }
        }
    }

    /// Sends bytes; 0 if the kernel takes none now. With TLS, the bytes may wait in the session.
    pub fn write(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        if self.tls.is_some() {
            return self.write_encrypted(slices);
        }
        let wanted: usize = slices.iter().map(|slice| slice.len()).sum();
        let socket = self.socket.as_ref().expect("a ready link has a socket");
        match socket.send(slices) {
            Ok(sent) => {
                // A socket that takes a part is full, and raises an event once it has room.
                self.writable = sent == wanted;
                Ok(sent)
            }
            Err(Errno::AGAIN) => {
                self.writable = false;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    fn write_encrypted(&mut self, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
        self.flush()?;
        if !self.is_flushed() {
            return Ok(0);
        }
        let session = self.tls.as_mut().expect("the link has TLS");
        // A session that refuses has ended, and its peer's reason is in the received bytes.
        let taken = session.encrypt(slices).map_err(|_| Errno::PIPE)?;
        self.flush()?;
        Ok(taken)
    }

    /// Passes encrypted bytes to the kernel, if it takes them.
    pub fn flush(&mut self) -> Result<(), Errno> {
        let (Some(session), Some(socket)) = (&mut self.tls, &self.socket) else {
            return Ok(());
        };
        while self.writable && !session.unsent().is_empty() {
            match socket.send(&[IoSlice::new(session.unsent())]) {
                Ok(sent) => session.note_sent(sent),
                Err(Errno::AGAIN) => self.writable = false,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The kernel has all bytes that were written.
    pub fn is_flushed(&self) -> bool {
        self.tls.as_ref().is_none_or(|session| session.unsent().is_empty())
    }

    /// The connection is encrypted.
    pub fn has_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Version and cipher suite of TLS.
    pub fn tls_version(&self) -> Option<String> {
        self.tls.as_ref()?.version()
    }

    /// Receives bytes from the kernel, before decryption.
    pub fn receive(&mut self, buffer: &mut [u8], quick_ack: bool) -> Result<Received, Errno> {
        let wanted = buffer.len();
        self.receive_by(wanted, quick_ack, |socket| socket.receive(buffer))
    }

    /// Drops bytes in the kernel, at most `length`.
    pub fn discard(&mut self, length: usize, quick_ack: bool) -> Result<Received, Errno> {
        self.receive_by(length, quick_ack, |socket| socket.discard(length))
    }

    fn receive_by(
        &mut self,
        wanted: usize,
        quick_ack: bool,
        call: impl FnOnce(&Socket) -> Result<usize, Errno>,
    ) -> Result<Received, Errno> {
        let socket = self.socket.as_ref().expect("an open link has a socket");
        if quick_ack {
            socket.set_quick_ack();
        }
        match call(socket) {
            Ok(0) => Ok(Received::End),
            Ok(bytes) => {
                // A receive of fewer bytes empties the socket; later bytes raise an event. The
                // peer's end has raised its event already.
                self.readable = bytes == wanted || self.peer_closed;
                Ok(Received::Bytes(bytes))
            }
            Err(Errno::AGAIN) => {
                self.readable = false;
                Ok(Received::Blocked)
            }
            Err(error) => Err(error),
        }
    }

    /// Receives TLS records, for [`Link::decrypt`].
    pub fn receive_records(&mut self, quick_ack: bool) -> Result<Received, Errno> {
        let mut session = self.tls.take().expect("the link has TLS");
        let received = self.receive(session.room(), quick_ack);
        self.tls = Some(session);
        received
    }

    /// Decrypts bytes that were just received. Returns true after the peer's close alert.
    pub fn decrypt(
        &mut self,
        bytes: usize,
        deliver: &mut dyn FnMut(&[u8]) -> Result<(), Fault>,
    ) -> Result<bool, Fault> {
        let session = self.tls.as_mut().expect("the link has TLS");
        let is_closed = session.received(bytes, deliver)?;
        self.peer_closed |= is_closed;
        Ok(is_closed)
    }
}

/// Time since the start of an attempt.
pub fn nanoseconds(started: Instant) -> u64 {
    started.elapsed().as_nanos() as u64
}
