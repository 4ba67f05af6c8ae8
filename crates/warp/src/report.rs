//! Results of a run, by operation.

use std::collections::{BTreeMap, BTreeSet};

use super::timing::Timing;

/// Name of the results of all operations together.
pub const TOTAL: &str = "Total";

/// Results of a run or of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The command line without secrets; empty if unknown.
    pub command_line: String,
    /// Each operation, by name.
    pub ops: Vec<Report>,
    /// All operations together.
    pub total: Report,
    /// Sentences on the reading of the file.
    pub remarks: Vec<String>,
}

impl Results {
    /// True if several operations ran at the same time, so that their total is a result. Objects
    /// that are uploaded before a run are an operation before the others.
    pub fn is_mixed(&self) -> bool {
        let last_start = self.ops.iter().map(|op| op.start_ns).max();
        let first_end = self.ops.iter().map(|op| op.end_ns).min();
        self.ops.len() > 1 && last_start < first_end
    }
}

/// Results of one operation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Name, such as `GET`, or [`TOTAL`].
    pub op: String,
    /// Requests in flight on all clients.
    pub concurrency: u64,
    /// Start of the first request, in ns since 1970.
    pub start_ns: i64,
    /// End of the last request, in ns since 1970.
    pub end_ns: i64,
    /// Requests, including failed ones.
    pub requests: u64,
    /// Objects of requests that succeeded.
    pub objects: u64,
    /// Bytes of requests that succeeded.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Messages of the first failures.
    pub first_errors: Vec<String>,
    /// Names of the clients.
    pub clients: BTreeSet<String>,
    /// Length of a segment in ns; more than 0.
    pub segment_ns: u64,
    /// Whole segments in which all threads were active, in order of time.
    pub segments: Vec<Segment>,
    /// Time from the start of a request to its end.
    pub latency: Timing,
    /// Time to the first byte of the answer; of an upload from the last byte of the body.
    pub first_byte: Timing,
    /// Classes of sizes, for files that have no times but rates by size.
    pub sizes: Vec<SizeClass>,
    /// Results by host.
    pub hosts: BTreeMap<String, HostReport>,
}

/// Results of one host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostReport {
    /// Mean rate over the segments of the operation.
    pub rate: Rate,
    /// Segments of the operation in which this host got requests; empty if unknown.
    pub segments: Vec<Segment>,
    /// Time of requests.
    pub latency: Timing,
}

/// A part of a run. A request belongs to the segments that it overlaps, in proportion to its time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Segment {
    /// Start in ns since 1970.
    pub start_ns: i64,
    /// Bytes.
    pub bytes: f64,
    /// Objects.
    pub objects: f64,
    /// Requests that failed in it.
    pub errors: u64,
    /// Counts of requests; absent if the file does not have them.
    pub counts: Option<SegmentCounts>,
}

/// Requests of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentCounts {
    /// Requests that start and end in it.
    pub full: u64,
    /// Other requests that overlap it.
    pub partial: u64,
    /// Requests that start in it.
    pub started: u64,
    /// Requests that end in it.
    pub ended: u64,
}

/// Rates of objects of similar sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeClass {
    /// Smallest size in bytes.
    pub min_bytes: u64,
    /// Largest size in bytes.
    pub max_bytes: u64,
    /// Number of requests, at least 1.
    pub requests: u64,
    /// Mean rate of a request in bytes/s.
    pub average: f64,
    /// Median.
    pub median: f64,
    /// Fastest.
    pub fastest: f64,
    /// Slowest.
    pub slowest: f64,
}

impl SizeClass {
    /// True for the same sizes.
    pub fn is_like(&self, other: &SizeClass) -> bool {
        self.min_bytes == other.min_bytes && self.max_bytes == other.max_bytes
    }

    /// Adds requests of the same sizes; the median becomes a mean of medians.
    pub fn add(&mut self, other: &SizeClass) {
        let requests = self.requests.saturating_add(other.requests);
        let share = other.requests as f64 / requests.max(1) as f64;
        self.average += (other.average - self.average) * share;
        self.median += (other.median - self.median) * share;
        self.fastest = self.fastest.max(other.fastest);
        self.slowest = self.slowest.min(other.slowest);
        self.requests = requests;
    }
}

/// A rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// Bytes per second.
    pub bytes: f64,
    /// Objects per second.
    pub objects: f64,
}

impl Rate {
    /// The number that decides which of two rates is higher.
    pub fn rank(&self) -> f64 {
        if self.bytes > 0.0 { self.bytes } else { self.objects }
    }
}

/// Extremes and median of the segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Fastest segment.
    pub fastest: Rate,
    /// Median segment.
    pub median: Rate,
    /// Slowest segment.
    pub slowest: Rate,
}

impl Report {
    /// Time that rates and segments cover, in ns.
    pub fn duration_ns(&self) -> u64 {
        self.segment_ns.saturating_mul(self.segments.len() as u64)
    }

    /// Mean rate of the segments; none without segments.
    pub fn rate(&self) -> Option<Rate> {
        rate_within(&self.segments, self.duration_ns())
    }

    /// Rates of the fastest, the median and the slowest segment; none without segments.
    pub fn spread(&self) -> Option<Spread> {
        spread(&self.segments, self.segment_ns)
    }
}

/// Rates of the fastest, the median and the slowest segment; none without segments.
pub fn spread(segments: &[Segment], segment_ns: u64) -> Option<Spread> {
    let mut rates: Vec<Rate> = segments.iter().map(|segment| segment.rate(segment_ns)).collect();
    rates.sort_by(|one, other| one.rank().total_cmp(&other.rank()));
    let (slowest, fastest) = (*rates.first()?, *rates.last()?);
    Some(Spread { fastest, median: rates[rates.len() / 2], slowest })
}

/// Rate of the bytes and objects of segments within a time in ns; none if the time is 0.
pub fn rate_within(segments: &[Segment], duration_ns: u64) -> Option<Rate> {
    let seconds = duration_ns as f64 / 1e9;
    let bytes: f64 = segments.iter().map(|segment| segment.bytes).sum();
    let objects: f64 = segments.iter().map(|segment| segment.objects).sum();
    (seconds > 0.0).then(|| Rate { bytes: bytes / seconds, objects: objects / seconds })
}

impl Segment {
    /// The rate of a segment of this length.
    pub fn rate(&self, segment_ns: u64) -> Rate {
        let seconds = segment_ns as f64 / 1e9;
        Rate { bytes: self.bytes / seconds, objects: self.objects / seconds }
    }
}
