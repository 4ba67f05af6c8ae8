//! Requests to reports, one request after the other: memory depends on the length of the run, on
//! its threads and on its hosts, and not on the number of requests.

mod series;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use candor_record::Histogram;

use self::series::{Budget, Series};
use super::options::Analysis;
use super::report::{HostReport, Report, Results, TOTAL, rate_within};
use super::timing::Timing;

/// Most operations, hosts, clients or threads that a file may have.
const NAMES_MAX: usize = 1 << 20;

/// Most messages of failures to keep.
const ERRORS_MAX: usize = 10;

/// A request as a file has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request<'a> {
    /// Number of the thread.
    pub thread: u32,
    /// Operation, such as `GET`.
    pub op: &'a str,
    /// Name of the client; may be empty.
    pub client: &'a str,
    /// Objects.
    pub objects: u64,
    /// Bytes.
    pub bytes: u64,
    /// The host, as a URL.
    pub endpoint: &'a str,
    /// Key of the object; may be empty.
    pub file: &'a str,
    /// Message of the failure; empty for success.
    pub error: &'a str,
    /// Start in ns since 1970.
    pub start_ns: i64,
    /// First byte of the answer.
    pub first_byte_ns: Option<i64>,
    /// Last byte of the body.
    pub last_byte_ns: Option<i64>,
    /// End, not before the start.
    pub end_ns: i64,
    /// Category, a number of the tool.
    pub category: &'a str,
}

impl Request<'_> {
    fn latency_ns(&self) -> u64 {
        self.start_ns.abs_diff(self.end_ns)
    }

    /// Time to the first byte. The server answers an upload after its last byte.
    fn first_byte_after(&self) -> Option<u64> {
        let is_upload = matches!(self.op, "PUT" | "PUTPART" | "POST");
        let from = if is_upload { self.last_byte_ns? } else { self.start_ns };
        let first = self.first_byte_ns?;
        u64::try_from(first.checked_sub(from)?).ok()
    }
}

/// Requests to read, and the length of segments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Length of a segment in ns; more than 0.
    pub segment_ns: u64,
    /// The only operation; none for all.
    pub op: Option<String>,
    /// The only host; none for all.
    pub host: Option<String>,
    /// Time after the first request of the file to skip, in ns.
    pub skip_ns: u64,
    /// Most requests; 0 for all.
    pub limit: u64,
    /// Requests at the start to skip.
    pub offset: u64,
}

impl From<&Analysis> for Settings {
    fn from(analysis: &Analysis) -> Settings {
        let Analysis { segment_ns, op, host, skip_ns, limit, offset, .. } = analysis.clone();
        Settings { segment_ns, op, host, skip_ns, limit, offset }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        let (op, host) = (None, None);
        Settings { segment_ns: 1_000_000_000, op, host, skip_ns: 0, limit: 0, offset: 0 }
    }
}

/// Reports in the making.
pub struct Aggregate {
    settings: Settings,
    seen: u64,
    first_start_ns: Option<i64>,
    ops: BTreeMap<String, Op>,
    total: Op,
    budget: Budget,
}

/// One operation in the making.
#[derive(Default)]
struct Op {
    requests: u64,
    objects: u64,
    bytes: u64,
    errors: u64,
    first_errors: Vec<String>,
    clients: HashMap<String, u32>,
    threads: HashMap<ThreadKey, Span>,
    series: Series,
    latency: Histogram,
    first_byte: Histogram,
    hosts: BTreeMap<String, Host>,
}

#[derive(Default)]
struct Host {
    series: Series,
    latency: Histogram,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ThreadKey {
    client: u32,
    thread: u32,
}

/// The first start and the last end of a thread.
struct Span {
    first_start_ns: i64,
    last_end_ns: i64,
}

impl Aggregate {
    /// No requests yet.
    pub fn new(settings: Settings) -> Aggregate {
        assert!(settings.segment_ns > 0, "a segment has a length");
        Aggregate {
            settings,
            seen: 0,
            first_start_ns: None,
            ops: BTreeMap::new(),
            total: Op::default(),
            budget: Budget::default(),
        }
    }

    /// Adds a request.
    ///
    /// # Errors
    /// The file has more names or more segments than memory is meant for.
    pub fn add(&mut self, request: &Request<'_>) -> Result<(), String> {
        let Settings { op, host, skip_ns, limit, offset, segment_ns } = &self.settings;
        let first = *self.first_start_ns.get_or_insert(request.start_ns);
        let nth = self.seen;
        self.seen += 1;
        let is_other = op.as_ref().is_some_and(|op| op != request.op)
            || host.as_ref().is_some_and(|host| !is_host(request.endpoint, host));
        let is_early = i128::from(request.start_ns) < i128::from(first) + i128::from(*skip_ns);
        let is_outside = nth < *offset || (*limit > 0 && nth - offset >= *limit);
        if is_other || is_early || is_outside {
            return Ok(());
        }
        let segment_ns = *segment_ns;
        if !self.ops.contains_key(request.op) {
            room(self.ops.len(), "operations")?;
            self.ops.insert(request.op.to_owned(), Op::default());
        }
        if let Some(op) = self.ops.get_mut(request.op) {
            op.add(request, segment_ns, &mut self.budget)?;
        }
        self.total.add(request, segment_ns, &mut self.budget)
    }

    /// True if no request was added, not even one that the settings leave out.
    pub fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// The reports.
    pub fn finish(self, command_line: String) -> Results {
        let segment_ns = self.settings.segment_ns;
        let ops = self.ops.into_iter().map(|(name, op)| op.report(name, segment_ns));
        Results {
            command_line,
            ops: ops.collect(),
            total: self.total.report(TOTAL.to_owned(), segment_ns),
            remarks: Vec::new(),
        }
    }
}

/// True if the endpoint is that host, with or without its scheme.
pub fn is_host(endpoint: &str, host: &str) -> bool {
    without_scheme(endpoint) == without_scheme(host)
}

fn without_scheme(name: &str) -> &str {
    name.split_once("://").map_or(name, |(_, bare)| bare)
}

fn room(count: usize, kind: &str) -> Result<(), String> {
    if count < NAMES_MAX {
        return Ok(());
    }
    Err(format!("has more than {NAMES_MAX} {kind}; read one host or operation with --analyze.host"))
}

impl Op {
    fn add(
        &mut self,
        request: &Request<'_>,
        segment_ns: u64,
        budget: &mut Budget,
    ) -> Result<(), String> {
        self.requests += 1;
        self.thread(request)?;
        if !request.endpoint.is_empty() && !self.hosts.contains_key(request.endpoint) {
            room(self.hosts.len(), "hosts")?;
            self.hosts.insert(request.endpoint.to_owned(), Host::default());
        }
        self.series.add(request, segment_ns, budget)?;
        let host = self.hosts.get_mut(request.endpoint);
        if let Some(host) = host {
            host.series.add(request, segment_ns, budget)?;
            if request.error.is_empty() {
                host.latency.record(request.latency_ns());
            }
        }
        if !request.error.is_empty() {
            self.errors += 1;
            if self.first_errors.len() < ERRORS_MAX {
                self.first_errors.push(request.error.to_owned());
            }
            return Ok(());
        }
        self.objects = self.objects.saturating_add(request.objects);
        self.bytes = self.bytes.saturating_add(request.bytes);
        self.latency.record(request.latency_ns());
        if let Some(ns) = request.first_byte_after() {
            self.first_byte.record(ns);
        }
        Ok(())
    }

    fn thread(&mut self, request: &Request<'_>) -> Result<(), String> {
        let client = match self.clients.get(request.client) {
            Some(client) => *client,
            None => {
                room(self.clients.len(), "clients")?;
                let number = self.clients.len() as u32;
                self.clients.insert(request.client.to_owned(), number);
                number
            }
        };
        let key = ThreadKey { client, thread: request.thread };
        if let Some(span) = self.threads.get_mut(&key) {
            span.first_start_ns = span.first_start_ns.min(request.start_ns);
            span.last_end_ns = span.last_end_ns.max(request.end_ns);
            return Ok(());
        }
        room(self.threads.len(), "threads")?;
        let span = Span { first_start_ns: request.start_ns, last_end_ns: request.end_ns };
        self.threads.insert(key, span);
        Ok(())
    }

    fn report(self, op: String, segment_ns: u64) -> Report {
        let starts = self.threads.values().map(|span| span.first_start_ns);
        let ends = self.threads.values().map(|span| span.last_end_ns);
        // Before the last first start and after the first last end, some threads do nothing.
        let from = starts.clone().max().unwrap_or_default();
        let to = ends.clone().min().unwrap_or_default();
        let segments = self.series.segments(from, to, segment_ns);
        let duration_ns = segment_ns.saturating_mul(segments.len() as u64);
        let hosts = self.hosts.into_iter().map(|(name, host)| {
            let segments = host.series.segments(from, to, segment_ns);
            let rate = rate_within(&segments, duration_ns).unwrap_or_default();
            (name, HostReport { rate, segments, latency: timing(host.latency) })
        });
        let hosts = hosts.collect();
        let clients: BTreeSet<String> =
            self.clients.into_keys().filter(|name| !name.is_empty()).collect();
        Report {
            op,
            concurrency: self.threads.len() as u64,
            start_ns: starts.min().unwrap_or_default(),
            end_ns: ends.max().unwrap_or_default(),
            requests: self.requests,
            objects: self.objects,
            bytes: self.bytes,
            errors: self.errors,
            first_errors: self.first_errors,
            clients,
            segment_ns,
            segments,
            latency: timing(self.latency),
            first_byte: timing(self.first_byte),
            sizes: Vec::new(),
            hosts,
        }
    }
}

fn timing(histogram: Histogram) -> Timing {
    if histogram.count() == 0 { Timing::Absent } else { Timing::Requests(histogram) }
}
