//! Counts of a worker's attempts.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use candor_http::{Answer, Client, Connected, TcpInfo, Transport};
use candor_plan::work::Operation;
use candor_record::http::{
    AttemptFailure, Between, ClockSkew, ConnectionRates, ConnectionStats, EndpointFacts, HttpOp,
    Peer, TcpStats,
};
use candor_record::{Histogram, HttpStats, Latency};

use super::Failure;
use crate::answers::server_time;

/// Most kinds of failures that a worker keeps apart.
const FAILURES_MAX: usize = 64;
/// Answers after the first ones are examined for proxies and clocks once per this many.
const EXAMINED_EVERY: u64 = 64;
/// Longest part of a key that a failure names.
const PREFIX_MAX: usize = 64;

/// Attempts of one operation.
#[derive(Default)]
struct Op {
    counts: HttpOp,
    wait: Histogram,
    send: Histogram,
    first_byte: Histogram,
    transfer: Histogram,
    attempt: Histogram,
}

/// A server's attempts.
struct PeerCounts {
    address: SocketAddr,
    counts: Peer,
    first_byte: Histogram,
}

/// Counts of a worker's attempts.
pub struct Recorder {
    table: &'static [Operation],
    ops: Vec<Option<Box<Op>>>,
    peers: Vec<PeerCounts>,
    /// Server of each slot's last attempt.
    peer_of: Vec<usize>,
    /// Attempts and bytes of each slot.
    slot_bytes: Vec<u64>,
    connections: ConnectionStats,
    lookup: Histogram,
    connect: Histogram,
    tls: Histogram,
    paid_ns: u64,
    failures: Vec<AttemptFailure>,
    between: Between,
    clock: Option<ClockSkew>,
    answers: u64,
    hash_ns: u64,
    in_flight: i64,
    in_flight_seen: i64,
    in_flight_ns: u64,
    changed: Instant,
    begun: Instant,
    endpoints: Vec<EndpointFacts>,
}

impl Recorder {
    pub fn new(transport: &Transport, slots: usize, table: &'static [Operation]) -> Recorder {
        let urls = transport.settings().endpoints.iter().map(ToString::to_string);
        let endpoints = urls.zip(transport.peers()).map(|(url, addresses)| EndpointFacts {
            url,
            addresses: addresses.unwrap_or_default().iter().map(ToString::to_string).collect(),
        });
        Recorder {
            table,
            ops: table.iter().map(|_| None).collect(),
            peers: Vec::new(),
            peer_of: vec![0; slots],
            slot_bytes: vec![0; slots],
            connections: ConnectionStats {
                unverified: transport.settings().insecure,
                ..ConnectionStats::default()
            },
            lookup: Histogram::new(),
            connect: Histogram::new(),
            tls: Histogram::new(),
            paid_ns: 0,
            failures: Vec::new(),
            between: Between {
                proxy: transport.settings().proxy.as_ref().map(ToString::to_string),
                ..Between::default()
            },
            clock: None,
            answers: 0,
            hash_ns: 0,
            in_flight: 0,
            in_flight_seen: 0,
            in_flight_ns: 0,
            changed: Instant::now(),
            begun: Instant::now(),
            endpoints: endpoints.collect(),
        }
    }

    /// Forgets all attempts; connections stay counted as made before.
    pub fn begin(&mut self) {
        self.ops.iter_mut().for_each(|op| *op = None);
        for peer in &mut self.peers {
            (peer.counts.attempts, peer.counts.failed, peer.counts.bytes) = (0, 0, 0);
            peer.first_byte = Histogram::new();
        }
        self.slot_bytes.fill(0);
        self.failures.clear();
        self.connections.opened_before += std::mem::take(&mut self.connections.opened);
        (self.connections.paid, self.paid_ns, self.hash_ns) = (0, 0, 0);
        (self.in_flight_ns, self.in_flight_seen) = (0, self.in_flight);
        self.changed = Instant::now();
        self.begun = self.changed;
    }

    /// Counts a connection that was made before the clock started.
    pub fn connected(&mut self, connected: &Connected) {
        if connected.fault.is_none() {
            self.connections.opened_before += 1;
            let moments = &connected.moments;
            self.handshakes(moments.lookup_ns, moments.connect_ns, moments.tls_ns);
        }
    }

    fn handshakes(&mut self, lookup: Option<u64>, connect: Option<u64>, tls: Option<u64>) {
        lookup.into_iter().for_each(|ns| self.lookup.record(ns));
        let since = lookup.unwrap_or(0);
        connect.into_iter().for_each(|ns| self.connect.record(ns.saturating_sub(since)));
        let since = connect.unwrap_or(since);
        tls.into_iter().for_each(|ns| self.tls.record(ns.saturating_sub(since)));
    }

    /// Adds the time in which a request was built and signed.
    pub fn built(&mut self, time: Duration) {
        self.hash_ns += time.as_nanos() as u64;
    }

    /// Counts an operation that began (1) or ended (-1).
    pub fn started(&mut self, change: i64) {
        let now = Instant::now();
        let ns = now.duration_since(self.changed).as_nanos() as u64;
        self.in_flight_ns += ns.saturating_mul(self.in_flight.max(0) as u64);
        self.changed = now;
        self.in_flight += change;
        self.in_flight_seen = self.in_flight_seen.max(self.in_flight);
    }

    /// Counts an attempt. `bytes` of its body belong to a successful operation.
    pub fn attempt(&mut self, slot: usize, row: usize, attempt: u32, answer: &Answer, bytes: u64) {
        let moments = &answer.moments;
        let op = self.ops[row].get_or_insert_default();
        op.counts.attempts += 1;
        op.counts.retries += u64::from(attempt > 1);
        op.counts.good_bytes += bytes;
        op.counts.sent_bytes += answer.sent_bytes;
        op.counts.received_bytes += answer.received_bytes;
        if answer.status > 0 {
            op.counts.answered(answer.status, 1);
        }
        let end = moments.end_ns;
        op.wait.record(moments.ready_ns);
        let sent = moments.body_sent_ns.or(moments.head_sent_ns);
        if let Some(sent) = sent {
            op.send.record(sent.saturating_sub(moments.ready_ns));
        }
        let first_byte = moments.first_byte_ns.zip(sent);
        let first_byte = first_byte.map(|(first, sent)| first.saturating_sub(sent));
        if let Some(ns) = first_byte {
            op.first_byte.record(ns);
            op.transfer.record(end.saturating_sub(moments.first_byte_ns.unwrap_or(end)));
        }
        op.attempt.record(end);
        op.counts.near_40_ms += u64::from(end.abs_diff(40_000_000) <= 5_000_000);
        op.counts.near_1_s += u64::from(end.abs_diff(1_000_000_000) <= 50_000_000);
        if moments.connect_ns.is_some() {
            self.connections.opened += 1;
            self.connections.paid += 1;
            self.paid_ns += end;
            self.handshakes(moments.lookup_ns, moments.connect_ns, moments.tls_ns);
        }
        self.connections.stale += u64::from(answer.reconnects);
        self.slot_bytes[slot] += answer.sent_bytes + answer.received_bytes;
        self.of_peer(slot, answer, first_byte);
        self.answers += 1;
        if self.answers.is_multiple_of(EXAMINED_EVERY) || self.answers < EXAMINED_EVERY {
            self.examine(slot, answer);
        }
    }

    fn of_peer(&mut self, slot: usize, answer: &Answer, first_byte: Option<u64>) {
        let Some(address) = answer.peer else { return };
        let known = self.peers.get(self.peer_of[slot]);
        if known.is_none_or(|peer| peer.address != address) {
            let at = self.peers.iter().position(|peer| peer.address == address);
            self.peer_of[slot] = at.unwrap_or_else(|| {
                self.peers.push(PeerCounts::of(address));
                self.peers.len() - 1
            });
        }
        let peer = &mut self.peers[self.peer_of[slot]];
        peer.counts.attempts += 1;
        peer.counts.failed += u64::from(!(200..300).contains(&answer.status));
        peer.counts.bytes += answer.sent_bytes + answer.received_bytes;
        first_byte.into_iter().for_each(|ns| peer.first_byte.record(ns));
    }

    /// Looks for signs of proxies and caches, the server's name and its clock.
    fn examine(&mut self, slot: usize, answer: &Answer) {
        let hit = ["x-cache", "cf-cache-status", "x-cache-status"].into_iter().find_map(|name| {
            let value = answer.header(name)?;
            value.to_ascii_lowercase().contains("hit").then_some((name, value))
        });
        let via = answer.header("via").map(|value| ("via", value));
        let age = answer.header("age").filter(|value| *value != "0").map(|value| ("age", value));
        self.between.via += u64::from(via.is_some());
        self.between.aged += u64::from(age.is_some());
        self.between.cache_hits += u64::from(hit.is_some());
        if let (None, Some((name, value))) = (&self.between.example, hit.or(via).or(age)) {
            self.between.example = Some(format!("{name}: {value}"));
        }
        if let (Some(peer), Some(server)) =
            (self.peers.get_mut(self.peer_of[slot]), answer.header("server"))
            && !peer.counts.servers.iter().any(|known| known == server)
        {
            peer.counts.servers.push(server.to_owned());
        }
        if let Some(server_s) = server_time(answer) {
            let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let middle = Duration::from_nanos(answer.moments.end_ns / 2);
            let here = since.unwrap_or_default().saturating_sub(middle).as_secs_f64();
            // The server drops the part of a second: half of it is added.
            let skew = server_s as f64 + 0.5 - here;
            let one = ClockSkew { answers: 1, min_s: skew, max_s: skew };
            self.clock = ClockSkew::joined(self.clock, Some(one));
        }
    }

    /// Counts a failed attempt.
    pub fn failed(
        &mut self,
        row: usize,
        prefix: &str,
        failure: &Failure,
        permitted: bool,
        is_final: bool,
    ) {
        let end = prefix.char_indices().map(|(at, _)| at).take_while(|at| *at <= PREFIX_MAX).last();
        let one = AttemptFailure {
            op: self.table[row].name.to_owned(),
            class: failure.class,
            status: Some(failure.status).filter(|status| *status > 0),
            code: failure.code.clone(),
            message: failure.to_string(),
            prefix: prefix[..end.unwrap_or(0)].to_owned(),
            request_id: Some(failure.request_id.clone()).filter(|id| !id.is_empty()),
            retry_after_s: failure.retry_after.map(|rest| rest.as_secs()),
            attempts: 1,
            final_attempts: u64::from(is_final && !permitted),
            permitted: u64::from(permitted),
        };
        if self.failures.len() < FAILURES_MAX {
            return one.add_to(&mut self.failures);
        }
        let known = self.failures.iter_mut().find(|of| (&of.op, of.class) == (&one.op, one.class));
        if let Some(known) = known {
            known.attempts += 1;
            known.final_attempts += one.final_attempts;
            known.permitted += one.permitted;
        }
    }

    /// All counts.
    pub fn stats(&self, client: &Client) -> HttpStats {
        let slots = 0..self.slot_bytes.len();
        let of_slots = slots.clone().map(|slot| client.stats(slot));
        let elapsed_s = self.changed.duration_since(self.begun).as_secs_f64();
        HttpStats {
            operations: self.operations(),
            peers: self.peers.iter().map(|peer| self.peer(peer, client)).collect(),
            endpoints: self.endpoints.clone(),
            connections: ConnectionStats {
                paid_mean_ns: self.paid_ns as f64 / self.connections.paid.max(1) as f64,
                closed_by_server: of_slots.map(|of| of.closed_by_server).sum(),
                tls_version: slots.clone().find_map(|slot| client.tls_version(slot)),
                lookup: Latency::from_histogram(self.lookup.clone()),
                connect: Latency::from_histogram(self.connect.clone()),
                tls: Latency::from_histogram(self.tls.clone()),
                rates: rates(&self.slot_bytes, elapsed_s),
                ..self.connections.clone()
            },
            failures: self.failures.clone(),
            between: self.between.clone(),
            clock: self.clock,
            tcp: tcp(slots.filter_map(|slot| client.tcp_info(slot))),
            hash_ns: self.hash_ns,
            in_flight_ns: self.in_flight_ns,
            in_flight_max: self.slot_bytes.len() as u64,
            in_flight_seen: self.in_flight_seen.max(0) as u64,
            ..HttpStats::default()
        }
    }

    fn operations(&self) -> Vec<HttpOp> {
        let present = self.table.iter().zip(&self.ops);
        let present = present.filter_map(|(row, op)| Some((row, op.as_ref()?)));
        let stats = present.map(|(row, op)| HttpOp {
            name: row.name.to_owned(),
            wait: Latency::from_histogram(op.wait.clone()),
            send: Latency::from_histogram(op.send.clone()),
            first_byte: Latency::from_histogram(op.first_byte.clone()),
            transfer: Latency::from_histogram(op.transfer.clone()),
            attempt: Latency::from_histogram(op.attempt.clone()),
            ..op.counts.clone()
        });
        stats.collect()
    }

    fn peer(&self, peer: &PeerCounts, client: &Client) -> Peer {
        let number = self.peers.iter().position(|other| other.address == peer.address);
        let slots = self.peer_of.iter().enumerate().filter(|(_, of)| Some(**of) == number);
        let locals = slots.clone().filter_map(|(slot, _)| client.tcp_info(slot)?.local);
        let endpoint = slots.clone().map(|(slot, _)| client.endpoint_of(slot).to_string()).next();
        Peer {
            endpoint: endpoint.unwrap_or_default(),
            connections: slots.count() as u64,
            first_byte: Latency::from_histogram(peer.first_byte.clone()),
            is_local: peer.address.ip().is_loopback()
                || locals.clone().any(|local| local.ip() == peer.address.ip()),
            ..peer.counts.clone()
        }
    }
}

impl PeerCounts {
    fn of(address: SocketAddr) -> PeerCounts {
        let counts = Peer { address: address.to_string(), ..Peer::default() };
        PeerCounts { address, counts, first_byte: Histogram::new() }
    }
}

/// Mean rate of connections that moved bytes, and its deviation.
fn rates(slot_bytes: &[u64], elapsed_s: f64) -> Option<ConnectionRates> {
    let busy = slot_bytes.iter().filter(|bytes| **bytes > 0);
    let rates: Vec<f64> = busy.map(|bytes| *bytes as f64 / elapsed_s.max(1e-9)).collect();
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count.max(1.0);
    let squares = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    let stddev = (squares / count.max(1.0)).sqrt();
    (!rates.is_empty()).then_some(ConnectionRates { connections: rates.len() as u64, mean, stddev })
}

/// Sums of the kernel's counters over connections.
fn tcp(all: impl Iterator<Item = TcpInfo>) -> Option<TcpStats> {
    all.fold(None, |sum, info| TcpStats::joined(sum, Some(tcp_of(&info))))
}

fn tcp_of(info: &TcpInfo) -> TcpStats {
    let segment = f64::from(info.snd_mss.unwrap_or(0));
    TcpStats {
        connections: 1,
        busy_us: info.busy_time_us.unwrap_or(0),
        receive_window_limited_us: info.rwnd_limited_us.unwrap_or(0),
        send_buffer_limited_us: info.sndbuf_limited_us.unwrap_or(0),
        bytes_acked: info.bytes_acked.unwrap_or(0),
        bytes_received: info.bytes_received.unwrap_or(0),
        bytes_sent: info.bytes_sent.unwrap_or(0),
        bytes_retransmitted: info.bytes_retrans.unwrap_or(0),
        rtt_us: f64::from(info.rtt_us.unwrap_or(0)),
        rtt_min_us: f64::from(info.min_rtt_us.unwrap_or(0)),
        congestion_window_bytes: f64::from(info.snd_cwnd.unwrap_or(0)) * segment,
        send_window_bytes: f64::from(info.snd_wnd.unwrap_or(0)),
        reordered: u64::from(info.reord_seen.unwrap_or(0) > 0),
        ..TcpStats::default()
    }
}
