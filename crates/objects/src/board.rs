//! State that the source of a worker and its requests share: objects in progress, and counts.

use std::collections::HashSet;

use candor_plan::objects::ObjectOp;
use candor_record::http::{ObjectStats, RequestForm};
use candor_record::{Histogram, Latency};

use crate::contents::number_of;
use crate::lanes::Lane;

/// Most ETags and key prefixes that a worker remembers.
const REMEMBERED_MAX: usize = 4096;

/// Keys of a page that are not in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Disorder {
    /// Keys that came twice in a row.
    pub twice: u64,
    /// Keys below an earlier one.
    pub below: u64,
}

/// Objects in progress, and counts of a worker's objects.
pub struct Board {
    /// Lanes; none if no object is in progress.
    pub lanes: Vec<Option<Lane>>,
    /// Counts.
    pub stats: ObjectStats,
    /// Form of requests, as answers show it.
    pub form: RequestForm,
    /// Objects that were put, from the worker's first one.
    pub put_count: u64,
    /// Bytes of reads that count as done although their objects are missing.
    pub missing_bytes: u64,
    /// The measured part has begun, and the connections have not forgotten the ramp yet.
    pub has_begun: bool,
    first_read: Histogram,
    later_reads: Histogram,
    /// A bit for each of the worker's objects that was read.
    was_read: Vec<u64>,
    etags: HashSet<u64>,
    prefixes: HashSet<u64>,
}

/// A read of an object, or of a range.
#[derive(Clone, Copy, Debug)]
pub struct ReadOf {
    /// Number of the object among the worker's.
    pub nth: u64,
    /// Bytes of the object.
    pub object_bytes: u64,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Latency of the request.
    pub latency_ns: u64,
}

impl Board {
    /// A board of `lanes` lanes.
    pub fn new(lanes: u32) -> Board {
        Board {
            lanes: (0..lanes).map(|_| None).collect(),
            stats: ObjectStats::default(),
            form: RequestForm::default(),
            put_count: 0,
            missing_bytes: 0,
            has_begun: false,
            first_read: Histogram::new(),
            later_reads: Histogram::new(),
            was_read: Vec::new(),
            etags: HashSet::new(),
            prefixes: HashSet::new(),
        }
    }

    /// A lane with an object.
    pub fn lane(&mut self, number: u32) -> &mut Lane {
        let lane = self.lanes[number as usize].as_mut();
        lane.expect("requests belong to an object in progress")
    }

    /// Counts a read.
    pub fn read(&mut self, read: ReadOf) {
        let word = (read.nth / 64) as usize;
        if self.was_read.len() <= word {
            self.was_read.resize(word + 1, 0);
        }
        let bit = 1 << (read.nth % 64);
        let is_first = self.was_read[word] & bit == 0;
        // Ranges of an object are no repeated reads: the first range decides.
        if read.offset == 0 || is_first {
            self.stats.reads += 1;
            let latencies = if is_first { &mut self.first_read } else { &mut self.later_reads };
            latencies.record(read.latency_ns);
            self.stats.distinct_reads += u64::from(is_first);
        }
        if is_first {
            self.was_read[word] |= bit;
            self.stats.distinct_bytes += read.object_bytes;
        }
        self.stats.empty_reads += u64::from(read.length == 0);
        if let Some(part) = self.stats.part_bytes.filter(|part| *part > 0 && read.length > 0) {
            self.stats.ranges += 1;
            let last = read.offset + read.length - 1;
            self.stats.ranges_across_parts += u64::from(read.offset / part != last / part);
        }
    }

    /// Counts an ETag of an object.
    pub fn etag(&mut self, etag: &str) {
        if self.etags.len() < REMEMBERED_MAX && !etag.is_empty() {
            self.stats.etags += 1;
            self.stats.equal_etags += u64::from(!self.etags.insert(number_of(etag)));
        }
    }

    /// Counts the first part of a key.
    pub fn prefix(&mut self, key: &str) {
        if self.prefixes.len() < REMEMBERED_MAX
            && let Some((first, _)) = key.split_once('/')
        {
            self.prefixes.insert(number_of(first));
        }
    }

    /// Ends the object of a lane.
    pub fn ended(&mut self, number: u32) {
        let Some(lane) = self.lanes[number as usize].take() else { return };
        if matches!(lane.op, ObjectOp::Put | ObjectOp::Copy) {
            self.put_count = self.put_count.max(lane.nth + 1);
        }
    }

    /// Objects that exist, from the worker's first one: an object in progress ends them.
    pub fn whole_count(&self) -> u64 {
        let puts = self.lanes.iter().flatten().filter(|lane| lane.op == ObjectOp::Put);
        puts.map(|lane| lane.nth).min().unwrap_or(u64::MAX).min(self.put_count)
    }

    /// Counts a page of a list.
    pub fn page(&mut self, keys: u64, is_short: bool, disorder: Disorder) {
        self.stats.pages += 1;
        self.stats.keys += keys;
        self.stats.short_pages += u64::from(is_short);
        self.stats.keys_twice += disorder.twice;
        self.stats.keys_unordered += disorder.below;
    }

    /// Forgets the counts of the ramp.
    pub fn begin(&mut self) {
        let kept = ObjectStats { part_bytes: self.stats.part_bytes, ..ObjectStats::default() };
        self.stats = kept;
        self.has_begun = true;
        self.missing_bytes = 0;
        (self.first_read, self.later_reads) = (Histogram::new(), Histogram::new());
    }

    /// Counts so far.
    pub fn stats(&self) -> ObjectStats {
        ObjectStats {
            first_read: Latency::from_histogram(self.first_read.clone()),
            later_reads: Latency::from_histogram(self.later_reads.clone()),
            prefixes: self.prefixes.len() as u64,
            ..self.stats.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_reads_and_ranges_are_distinguished() {
        let mut board = Board::new(1);
        board.stats.part_bytes = Some(8);
        let read = ReadOf { nth: 70, object_bytes: 20, offset: 0, length: 8, latency_ns: 10 };
        board.read(read);
        board.read(ReadOf { offset: 4, ..read });
        board.read(ReadOf { latency_ns: 5, ..read });
        board.read(ReadOf { nth: 3, length: 0, ..read });
        let stats = board.stats();
        assert_eq!((stats.reads, stats.distinct_reads, stats.empty_reads), (3, 2, 1));
        assert_eq!((stats.ranges, stats.ranges_across_parts), (3, 1));
        assert_eq!(stats.distinct_bytes, 40);
        assert_eq!(stats.later_reads.map(|latency| latency.max_ns), Some(5));
    }

    #[test]
    fn equal_etags_are_counted() {
        let mut board = Board::new(1);
        for etag in ["a", "b", "a", ""] {
            board.etag(etag);
        }
        assert_eq!((board.stats.etags, board.stats.equal_etags), (3, 1));
    }
}
