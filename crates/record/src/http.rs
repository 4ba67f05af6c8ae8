//! HTTP requests of one job: attempts, answers, connections and servers, as the client saw them.

use std::collections::BTreeMap;

use candor_plan::work::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Latency;
use crate::by_name::Named;

/// HTTP requests of the workers of one job, merged over them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HttpStats {
    /// Attempts of each operation that occurred, in the order of the work's table. An operation
    /// has several attempts if failed ones are repeated.
    #[serde(with = "crate::by_name")]
    #[schemars(with = "BTreeMap<String, HttpOp>")]
    pub operations: Vec<HttpOp>,
    /// Servers that answered.
    pub peers: Vec<Peer>,
    /// Endpoints of the plan, and addresses that their names had.
    pub endpoints: Vec<EndpointFacts>,
    /// Interfaces on the way to the servers.
    pub links: Vec<ServerLink>,
    /// Connections.
    pub connections: ConnectionStats,
    /// Failed attempts by class.
    pub failures: Vec<AttemptFailure>,
    /// Answers that something between client and server gave or passed on.
    pub between: Between,
    /// Clock of the servers.
    pub clock: Option<ClockSkew>,
    /// Counters of the kernel for all connections; absent if the kernel reports none.
    pub tcp: Option<TcpStats>,
    /// Time in which workers computed signatures and checksums, in ns.
    pub hash_ns: u64,
    /// Time in which workers encrypted and decrypted, in ns.
    pub tls_ns: u64,
    /// Rates of this host's CPU, measured before the run; absent if nothing needed them.
    pub cpu_rates: Option<CpuRates>,
    /// Time with requests in flight, multiplied by their number, while work remained: the mean
    /// number in flight is this value divided by the time.
    pub in_flight_ns: u64,
    /// Requests in flight that the plan allows, over all workers.
    pub in_flight_max: u64,
    /// Largest number of requests in flight at once.
    pub in_flight_seen: u64,
    /// Objects.
    pub objects: ObjectStats,
    /// Form of requests that affects the result.
    pub form: RequestForm,
}

/// Attempts of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HttpOp {
    /// Name in the work's table; the key under which it is written.
    #[serde(skip)]
    pub name: String,
    /// Attempts.
    pub attempts: u64,
    /// Attempts after the first one of their operation.
    pub retries: u64,
    /// Answers by status.
    pub statuses: Vec<StatusCount>,
    /// Bytes of bodies that belong to successful operations.
    pub good_bytes: u64,
    /// Bytes sent, heads and failed attempts included.
    pub sent_bytes: u64,
    /// Bytes received, heads and failed attempts included.
    pub received_bytes: u64,
    /// From the wish for a connection to a connection that is ready.
    pub wait: Option<Latency>,
    /// From a ready connection to the last byte of the request.
    pub send: Option<Latency>,
    /// To the first byte of the answer: from the last byte of the request.
    pub first_byte: Option<Latency>,
    /// From the first byte of the answer to the last one.
    pub transfer: Option<Latency>,
    /// Whole attempts, failed ones included.
    pub attempt: Option<Latency>,
    /// Operations with a latency within 2.5 ms of 40 ms, where a delayed acknowledgement meets a
    /// server that waits for it.
    pub near_40_ms: u64,
    /// Operations with a latency within 5 % of 1 s, where a client waits for `100 Continue`.
    pub near_1_s: u64,
}

/// Answers with one status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusCount {
    /// Status.
    pub status: u16,
    /// Answers.
    pub answers: u64,
}

/// A server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Address and port.
    pub address: String,
    /// Endpoint of the plan.
    pub endpoint: String,
    /// Connections to it.
    pub connections: u64,
    /// Attempts.
    pub attempts: u64,
    /// Attempts that failed.
    pub failed: u64,
    /// Bytes sent and received.
    pub bytes: u64,
    /// To the first byte of the answer.
    pub first_byte: Option<Latency>,
    /// The address is of this host.
    pub is_local: bool,
    /// Names that the server gave itself (`Server`).
    pub servers: Vec<String>,
}

/// An endpoint, and the addresses of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointFacts {
    /// URL.
    pub url: String,
    /// Addresses that the name had during the run.
    pub addresses: Vec<String>,
}

/// An interface on the way to servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLink {
    /// Name of the interface.
    pub interface: String,
    /// Bytes per second of data that its speed permits in one direction; absent if the kernel
    /// reports no speed.
    pub ceiling_bytes_per_s: Option<u64>,
    /// Arithmetic of the ceiling, such as `10000 Mb/s ÷ 8 × 1448/1538`.
    pub arithmetic: String,
}

/// Connections of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionStats {
    /// Connections made before the clock started.
    pub opened_before: u64,
    /// Connections made during the phase.
    pub opened: u64,
    /// Attempts that paid for a name lookup, a connection or a TLS handshake.
    pub paid: u64,
    /// Mean latency of these attempts, in ns.
    pub paid_mean_ns: f64,
    /// Answers after which the server closed the connection.
    pub closed_by_server: u64,
    /// Kept connections that the server had closed without announcement.
    pub stale: u64,
    /// Name lookups.
    pub lookup: Option<Latency>,
    /// TCP handshakes.
    pub connect: Option<Latency>,
    /// TLS handshakes.
    pub tls: Option<Latency>,
    /// Rates in bytes per second of the slowest and of the fastest busy connection, and their
    /// number.
    pub rates: Option<ConnectionRates>,
    /// Version and cipher of TLS; absent without TLS.
    pub tls_version: Option<String>,
    /// Certificates were not verified.
    pub unverified: bool,
}

/// Rates of busy connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionRates {
    /// Connections that moved bytes.
    pub connections: u64,
    /// Mean rate, in bytes per second.
    pub mean: f64,
    /// Standard deviation.
    pub stddev: f64,
}

/// Failed attempts of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptFailure {
    /// Operation.
    pub op: String,
    /// Class.
    pub class: FailureClass,
    /// Status of the answer; absent without an answer.
    pub status: Option<u16>,
    /// Code of the error document, such as `SlowDown`; empty without one.
    pub code: String,
    /// Text of the first one.
    pub message: String,
    /// First part of the first key.
    pub prefix: String,
    /// Request id of the first one, for the server's operator.
    pub request_id: Option<String>,
    /// Longest `Retry-After`, in seconds.
    pub retry_after_s: Option<u64>,
    /// Attempts.
    pub attempts: u64,
    /// Of these, attempts after which the operation failed.
    pub final_attempts: u64,
    /// Of these, operations that count as done nevertheless, because the plan permits the failure.
    pub permitted: u64,
}

/// Classes of failed attempts.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The server limits the rate: 503 `SlowDown`, 429, 509.
    Throttled,
    /// Another error of the server: 5xx.
    Server,
    /// An object or bucket is missing: 404.
    Missing,
    /// No permission: 401, 403.
    Denied,
    /// The clocks of client and server differ too much.
    Clock,
    /// Another region or server is responsible: 301, 302, 307.
    Redirect,
    /// A condition was not met: 412, 409.
    Condition,
    /// Another error of the request: 4xx.
    #[default]
    Request,
    /// An error document in an answer with status 200.
    InsideSuccess,
    /// The name of the server has no address.
    Lookup,
    /// No connection.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// No progress within the time limit.
    Timeout,
    /// The connection was reset or closed.
    Reset,
    /// The body ended early.
    ShortBody,
    /// The answer violates HTTP or the protocol.
    Malformed,
    /// The bytes differ from the checksum of the answer.
    Checksum,
}

impl FailureClass {
    /// The name in documents for programs.
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::Throttled => "throttled",
            FailureClass::Server => "server",
            FailureClass::Missing => "missing",
            FailureClass::Denied => "denied",
            FailureClass::Clock => "clock",
            FailureClass::Redirect => "redirect",
            FailureClass::Condition => "condition",
            FailureClass::Request => "request",
            FailureClass::InsideSuccess => "inside_success",
            FailureClass::Lookup => "lookup",
            FailureClass::Connect => "connect",
            FailureClass::Tls => "tls",
            FailureClass::Timeout => "timeout",
            FailureClass::Reset => "reset",
            FailureClass::ShortBody => "short_body",
            FailureClass::Malformed => "malformed",
            FailureClass::Checksum => "checksum",
        }
    }
}

/// Signs of something between client and server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Between {
    /// Answers with `Via`.
    pub via: u64,
    /// Answers with `Age` above 0.
    pub aged: u64,
    /// Answers that a cache marked as a hit.
    pub cache_hits: u64,
    /// First such header, as `name: value`.
    pub example: Option<String>,
    /// Proxy in use.
    pub proxy: Option<String>,
}

/// Clock of the servers against this host's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockSkew {
    /// Answers with a `Date`.
    pub answers: u64,
    /// Least difference in seconds, server minus this host; one second of it is resolution.
    pub min_s: f64,
    /// Greatest difference in seconds.
    pub max_s: f64,
}

/// Sums of the kernel's counters over all connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TcpStats {
    /// Connections that were read.
    pub connections: u64,
    /// Time with data to send or in flight, in µs.
    pub busy_us: u64,
    /// Time in which the receiver's window limited, in µs.
    pub receive_window_limited_us: u64,
    /// Time in which the send buffer limited, in µs.
    pub send_buffer_limited_us: u64,
    /// Bytes that were sent and acknowledged.
    pub bytes_acked: u64,
    /// Bytes that were received.
    pub bytes_received: u64,
    /// Bytes that were sent, retransmissions included.
    pub bytes_sent: u64,
    /// Bytes that were sent again.
    pub bytes_retransmitted: u64,
    /// Mean smoothed round-trip time, in µs.
    pub rtt_us: f64,
    /// Least round-trip time, in µs.
    pub rtt_min_us: f64,
    /// Mean window of congestion control, in bytes.
    pub congestion_window_bytes: f64,
    /// Mean window of the peer, in bytes.
    pub send_window_bytes: f64,
    /// Mean send buffer of the sockets, in bytes; 0 if it is unknown.
    pub send_buffer_bytes: f64,
    /// Connections that saw reordered segments.
    pub reordered: u64,
    /// Delayed acknowledgements of this host in the phase (`TcpExt DelayedACKs`).
    pub delayed_acks: Option<u64>,
    /// Sockets in TIME_WAIT at the end of the phase, of this host.
    pub time_wait: Option<u64>,
}

/// Rates of this host's CPU, in bytes per second of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuRates {
    /// SHA-256.
    pub sha256: f64,
    /// MD5.
    pub md5: f64,
    /// The checksum of uploads.
    pub checksum: f64,
    /// Encryption of TLS.
    pub tls: f64,
}

/// Objects of a job's operations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ObjectStats {
    /// Objects read.
    pub reads: u64,
    /// Distinct objects read.
    pub distinct_reads: u64,
    /// Latency of the first read of an object.
    pub first_read: Option<Latency>,
    /// Latency of further reads of an object.
    pub later_reads: Option<Latency>,
    /// Age of the youngest and of the oldest object at its first read in this run, in seconds;
    /// from the run's own puts or from `Last-Modified`; absent if neither is known.
    pub age_s: Option<AgeRange>,
    /// Bytes of distinct objects.
    pub distinct_bytes: u64,
    /// Reads of objects without bytes.
    pub empty_reads: u64,
    /// Deletes of objects that were missing.
    pub missing_deletes: Option<u64>,
    /// Pages of lists.
    pub pages: u64,
    /// Keys of lists.
    pub keys: u64,
    /// Keys that the plan expects in lists.
    pub keys_expected: Option<u64>,
    /// Keys that lists had twice.
    pub keys_twice: u64,
    /// Keys that were not in order.
    pub keys_unordered: u64,
    /// Pages that were shorter than requested although more followed.
    pub short_pages: u64,
    /// Keys in requests that delete several.
    pub keys_deleted: u64,
    /// Distinct first parts of keys.
    pub prefixes: u64,
    /// ETags of different keys that were equal, and ETags that were compared.
    pub equal_etags: u64,
    /// ETags that were compared.
    pub etags: u64,
    /// Ranges that touch two parts of the object's upload, of `ranges`.
    pub ranges_across_parts: u64,
    /// Ranges of objects whose parts are known.
    pub ranges: u64,
    /// Part size of uploads, as the server reports it; 0 if objects have no parts.
    pub part_bytes: Option<u64>,
    /// Reads whose bytes were compared with a checksum, an ETag or the plan's content.
    pub checked_reads: u64,
    /// Checks that failed.
    pub mismatches: u64,
    /// Open uploads that the phase left at the server.
    pub open_uploads: Option<u64>,
    /// Objects that the bucket had below the prefix before the run.
    pub foreign_objects: Option<u64>,
    /// Uploads that were aborted.
    pub aborted_uploads: u64,
}

/// Ages of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgeRange {
    /// Youngest, in seconds.
    pub min_s: f64,
    /// Oldest, in seconds.
    pub max_s: f64,
}

/// Form of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RequestForm {
    /// Value of `x-amz-content-sha256` of uploads, or `-` without a signature.
    pub payload: String,
    /// Checksum of uploads and its position, such as `crc64nvme in a trailer`.
    pub checksum: Option<String>,
    /// Requests waited for `100 Continue`.
    pub expect_continue: bool,
    /// Versioning of the bucket, as the server reports it.
    pub versioning: Option<String>,
    /// Object lock of the bucket is on.
    pub object_lock: Option<bool>,
    /// Encryption that answers named, such as `AES256`.
    pub encryption: Option<String>,
    /// Encryption that the plan requested.
    pub encryption_requested: Option<String>,
    /// Storage class that answers named.
    pub storage_class: Option<String>,
    /// Storage class that the plan requested.
    pub storage_class_requested: Option<String>,
    /// Region that answers named.
    pub region: Option<String>,
}

impl Named for HttpOp {
    fn name(&self) -> &str {
        &self.name
    }

    fn rename(&mut self, name: String) {
        self.name = name;
    }
}

impl HttpOp {
    /// No attempts yet, of that row of a work's table.
    pub fn of(operation: &Operation) -> HttpOp {
        HttpOp { name: operation.name.into(), ..HttpOp::default() }
    }

    /// Adds answers with a status.
    pub fn answered(&mut self, status: u16, answers: u64) {
        match self.statuses.iter_mut().find(|of| of.status == status) {
            Some(known) => known.answers += answers,
            None => self.statuses.push(StatusCount { status, answers }),
        }
    }

    /// Adds another host's or worker's attempts.
    pub fn merge(&mut self, other: &HttpOp) {
        self.attempts += other.attempts;
        self.retries += other.retries;
        for StatusCount { status, answers } in &other.statuses {
            self.answered(*status, *answers);
        }
        self.good_bytes += other.good_bytes;
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        Latency::merge(&mut self.wait, other.wait.as_ref());
        Latency::merge(&mut self.send, other.send.as_ref());
        Latency::merge(&mut self.first_byte, other.first_byte.as_ref());
        Latency::merge(&mut self.transfer, other.transfer.as_ref());
        Latency::merge(&mut self.attempt, other.attempt.as_ref());
        self.near_40_ms += other.near_40_ms;
        self.near_1_s += other.near_1_s;
    }
}

impl FailureClass {
    /// The class in words.
    pub fn words(self) -> &'static str {
        match self {
            FailureClass::Throttled => "rate limit of the server",
            FailureClass::Server => "error of the server",
            FailureClass::Missing => "missing object or bucket",
            FailureClass::Denied => "no permission",
            FailureClass::Clock => "clocks differ too much",
            FailureClass::Redirect => "another region or server",
            FailureClass::Condition => "condition not met",
            FailureClass::Request => "invalid request",
            FailureClass::InsideSuccess => "error inside a successful answer",
            FailureClass::Lookup => "name without an address",
            FailureClass::Connect => "no connection",
            FailureClass::Tls => "failed TLS handshake",
            FailureClass::Timeout => "timeout",
            FailureClass::Reset => "closed connection",
            FailureClass::ShortBody => "short body",
            FailureClass::Malformed => "malformed answer",
            FailureClass::Checksum => "wrong checksum",
        }
    }
}

impl HttpStats {
    /// Attempts of all operations.
    pub fn attempts(&self) -> u64 {
        self.operations.iter().fold(0, |sum, op| sum.saturating_add(op.attempts))
    }

    /// Failed attempts of a class.
    pub fn failed(&self, class: FailureClass) -> u64 {
        let of_class = self.failures.iter().filter(|failure| failure.class == class);
        of_class.fold(0, |sum, failure| sum.saturating_add(failure.attempts))
    }

    /// The attempts of an operation, to be changed; added if absent.
    pub fn operation_mut(&mut self, operation: &Operation) -> &mut HttpOp {
        let known = self.operations.iter().position(|op| op.name == operation.name);
        let at = known.unwrap_or_else(|| {
            self.operations.push(HttpOp::of(operation));
            self.operations.len() - 1
        });
        &mut self.operations[at]
    }

    /// Adds the requests of another host or worker, which ran at the same time.
    pub fn merge(&mut self, other: HttpStats) {
        for theirs in other.operations {
            match self.operations.iter_mut().find(|mine| mine.name == theirs.name) {
                Some(mine) => mine.merge(&theirs),
                None => self.operations.push(theirs),
            }
        }
        other.peers.into_iter().for_each(|peer| peer.add_to(&mut self.peers));
        for endpoint in other.endpoints {
            endpoint.add_to(&mut self.endpoints);
        }
        for link in other.links {
            if !self.links.contains(&link) {
                self.links.push(link);
            }
        }
        self.connections.merge(&other.connections);
        other.failures.into_iter().for_each(|failure| failure.add_to(&mut self.failures));
        self.between.merge(other.between);
        self.clock = ClockSkew::joined(self.clock, other.clock);
        self.tcp = TcpStats::joined(self.tcp, other.tcp);
        self.hash_ns += other.hash_ns;
        self.tls_ns += other.tls_ns;
        self.cpu_rates = self.cpu_rates.or(other.cpu_rates);
        self.in_flight_ns += other.in_flight_ns;
        self.in_flight_max += other.in_flight_max;
        self.in_flight_seen += other.in_flight_seen;
        self.objects.merge(&other.objects);
        if self.form == RequestForm::default() {
            self.form = other.form;
        }
    }
}

impl Peer {
    fn add_to(self, peers: &mut Vec<Peer>) {
        let known = peers.iter_mut().find(|peer| peer.address == self.address);
        let Some(known) = known else { return peers.push(self) };
        known.connections += self.connections;
        known.attempts += self.attempts;
        known.failed += self.failed;
        known.bytes += self.bytes;
        Latency::merge(&mut known.first_byte, self.first_byte.as_ref());
        known.is_local |= self.is_local;
        for server in self.servers {
            if !known.servers.contains(&server) {
                known.servers.push(server);
            }
        }
    }
}

impl EndpointFacts {
    fn add_to(self, endpoints: &mut Vec<EndpointFacts>) {
        let known = endpoints.iter_mut().find(|endpoint| endpoint.url == self.url);
        let Some(known) = known else { return endpoints.push(self) };
        for address in self.addresses {
            if !known.addresses.contains(&address) {
                known.addresses.push(address);
            }
        }
    }
}

impl ConnectionStats {
    /// Adds the connections of another host or worker.
    pub fn merge(&mut self, other: &ConnectionStats) {
        let paid_ns = self.paid_mean_ns * self.paid as f64 + other.paid_mean_ns * other.paid as f64;
        self.opened_before += other.opened_before;
        self.opened += other.opened;
        self.paid += other.paid;
        self.paid_mean_ns = if self.paid == 0 { 0.0 } else { paid_ns / self.paid as f64 };
        self.closed_by_server += other.closed_by_server;
        self.stale += other.stale;
        Latency::merge(&mut self.lookup, other.lookup.as_ref());
        Latency::merge(&mut self.connect, other.connect.as_ref());
        Latency::merge(&mut self.tls, other.tls.as_ref());
        self.rates = ConnectionRates::joined(self.rates, other.rates);
        self.tls_version = self.tls_version.take().or_else(|| other.tls_version.clone());
        self.unverified |= other.unverified;
    }
}

impl ConnectionRates {
    /// Rates of both groups of connections together.
    fn joined(
        mine: Option<ConnectionRates>,
        theirs: Option<ConnectionRates>,
    ) -> Option<ConnectionRates> {
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return mine.or(theirs) };
        let (a, b) = (mine.connections as f64, theirs.connections as f64);
        let mean = (mine.mean * a + theirs.mean * b) / (a + b);
        let squares = a * (mine.stddev.powi(2) + mine.mean.powi(2))
            + b * (theirs.stddev.powi(2) + theirs.mean.powi(2));
        let stddev = (squares / (a + b) - mean.powi(2)).max(0.0).sqrt();
        Some(ConnectionRates { connections: mine.connections + theirs.connections, mean, stddev })
    }
}

impl AttemptFailure {
    /// Adds it to a list, with others of its kind.
    pub fn add_to(self, failures: &mut Vec<AttemptFailure>) {
        let known = failures.iter_mut().find(|of| {
            (&of.op, of.class, of.status, &of.code, &of.prefix)
                == (&self.op, self.class, self.status, &self.code, &self.prefix)
        });
        let Some(known) = known else { return failures.push(self) };
        known.attempts += self.attempts;
        known.final_attempts += self.final_attempts;
        known.permitted += self.permitted;
        known.retry_after_s = known.retry_after_s.max(self.retry_after_s);
    }
}

impl Between {
    fn merge(&mut self, other: Between) {
        self.via += other.via;
        self.aged += other.aged;
        self.cache_hits += other.cache_hits;
        self.example = self.example.take().or(other.example);
        self.proxy = self.proxy.take().or(other.proxy);
    }
}

impl ClockSkew {
    /// The range of both.
    pub fn joined(mine: Option<ClockSkew>, theirs: Option<ClockSkew>) -> Option<ClockSkew> {
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return mine.or(theirs) };
        Some(ClockSkew {
            answers: mine.answers + theirs.answers,
            min_s: mine.min_s.min(theirs.min_s),
            max_s: mine.max_s.max(theirs.max_s),
        })
    }
}

impl TcpStats {
    /// Sums and means of both groups of connections.
    pub fn joined(mine: Option<TcpStats>, theirs: Option<TcpStats>) -> Option<TcpStats> {
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return mine.or(theirs) };
        let (a, b) = (mine.connections as f64, theirs.connections as f64);
        let weights = (a / (a + b).max(1.0), b / (a + b).max(1.0));
        Some(TcpStats {
            connections: mine.connections + theirs.connections,
            busy_us: mine.busy_us + theirs.busy_us,
            receive_window_limited_us: mine.receive_window_limited_us
                + theirs.receive_window_limited_us,
            send_buffer_limited_us: mine.send_buffer_limited_us + theirs.send_buffer_limited_us,
            bytes_acked: mine.bytes_acked + theirs.bytes_acked,
            bytes_received: mine.bytes_received + theirs.bytes_received,
            bytes_sent: mine.bytes_sent + theirs.bytes_sent,
            bytes_retransmitted: mine.bytes_retransmitted + theirs.bytes_retransmitted,
            rtt_us: mine.rtt_us * weights.0 + theirs.rtt_us * weights.1,
            rtt_min_us: mine.rtt_min_us.min(theirs.rtt_min_us),
            congestion_window_bytes: mine.congestion_window_bytes * weights.0
                + theirs.congestion_window_bytes * weights.1,
            send_window_bytes: mine.send_window_bytes * weights.0
                + theirs.send_window_bytes * weights.1,
            send_buffer_bytes: mine.send_buffer_bytes * weights.0
                + theirs.send_buffer_bytes * weights.1,
            reordered: mine.reordered + theirs.reordered,
            delayed_acks: mine.delayed_acks.max(theirs.delayed_acks),
            time_wait: mine.time_wait.max(theirs.time_wait),
        })
    }
}

impl ObjectStats {
    /// Adds the objects of another host or worker.
    pub fn merge(&mut self, other: &ObjectStats) {
        self.reads += other.reads;
        self.distinct_reads += other.distinct_reads;
        Latency::merge(&mut self.first_read, other.first_read.as_ref());
        Latency::merge(&mut self.later_reads, other.later_reads.as_ref());
        self.age_s = AgeRange::joined(self.age_s, other.age_s);
        self.distinct_bytes += other.distinct_bytes;
        self.empty_reads += other.empty_reads;
        self.missing_deletes = sum(self.missing_deletes, other.missing_deletes);
        self.pages += other.pages;
        self.keys += other.keys;
        self.keys_expected = sum(self.keys_expected, other.keys_expected);
        self.keys_twice += other.keys_twice;
        self.keys_unordered += other.keys_unordered;
        self.short_pages += other.short_pages;
        self.keys_deleted += other.keys_deleted;
        self.prefixes = self.prefixes.max(other.prefixes);
        self.equal_etags += other.equal_etags;
        self.etags += other.etags;
        self.ranges_across_parts += other.ranges_across_parts;
        self.ranges += other.ranges;
        self.part_bytes = self.part_bytes.max(other.part_bytes);
        self.checked_reads += other.checked_reads;
        self.mismatches += other.mismatches;
        self.open_uploads = self.open_uploads.max(other.open_uploads);
        self.foreign_objects = self.foreign_objects.max(other.foreign_objects);
        self.aborted_uploads += other.aborted_uploads;
    }
}

impl AgeRange {
    fn joined(mine: Option<AgeRange>, theirs: Option<AgeRange>) -> Option<AgeRange> {
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return mine.or(theirs) };
        let (min_s, max_s) = (mine.min_s.min(theirs.min_s), mine.max_s.max(theirs.max_s));
        Some(AgeRange { min_s, max_s })
    }
}

/// Sum of two counts, of which one may be unknown.
fn sum(mine: Option<u64>, theirs: Option<u64>) -> Option<u64> {
    match (mine, theirs) {
        (Some(mine), Some(theirs)) => Some(mine + theirs),
        _ => mine.or(theirs),
    }
}
