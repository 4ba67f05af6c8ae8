//! The kernel's counters at the moments of a phase that count, and the phase's events.

use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use candor_engine::{LoggedOperations, Watch};
use candor_observe::{Roots, Sampler, SnapshotDetail, read_again};
use candor_record::requests::RequestStats;
use candor_record::{
    Event, HostRecord, HostSample, JobSample, LaterFacts, Measurement, Note, Snapshot, Thinned,
};

use crate::control::Control;
use crate::events::Channels;
use crate::operations_log::OperationsWriter;
use crate::peers::Peers;
use crate::runner::Collected;
use crate::tracer::TraceReader;

/// Least time between the last reading of the counters and an agreed start: agents on the same CPUs
/// read at the same time, and who is late with it starts late.
const LEAD_MIN: Duration = Duration::from_millis(20);
/// Most bytes of a report that the counters of a phase's intervals take.
const SNAPSHOTS_BYTES_MAX: u64 = 16 << 20;
/// Least time between two readings of facts, in ns: a reading of many files and devices takes some
/// milliseconds.
const FACTS_EVERY_NS: u64 = 3_900_000_000;
/// Changes of facts that a phase keeps.
const CHANGES_MAX: usize = 16;
/// Longest sleep between two looks at the control.
const STEP: Duration = Duration::from_millis(20);

/// Fills the record of a host while a phase runs.
pub struct PhaseSnapshots {
    /// Commands in, events out.
    pub channels: Channels,
    /// The other hosts.
    pub peers: Peers,
    /// Name of the phase.
    pub phase: String,
    /// A follow-up has neither samples nor events.
    pub follow_up: bool,
    /// The moment of the start, if it is not at once.
    pub start_at: Option<Instant>,
    /// Reads the counters.
    pub sampler: Sampler,
    /// Reads facts again.
    pub roots: Roots,
    /// The phase writes nothing, so that a change of its files is another process's.
    pub only_reads: bool,
    /// Reads the requests.
    pub tracer: TraceReader,
    /// Takes interim results.
    pub interims: Sender<Collected>,
    /// Takes operations that are logged.
    pub operations: Option<OperationsWriter>,
    /// The record, with facts.
    pub host: HostRecord,
    /// The counters at the end of the last interval.
    pub last: Snapshot,
    /// Number of intervals so far, the ramp left out.
    pub intervals: u64,
    /// The counters at the end of each of them.
    pub during: Thinned<Snapshot>,
    /// Number of intervals of which each kept sample is.
    pub joined: u64,
    /// Requests until counting began.
    pub requests_before: Option<RequestStats>,
    /// Moment at which facts were read last, in ns since the start.
    pub facts_read_ns: u64,
}

impl PhaseSnapshots {
    /// Says that intervals were joined.
    pub fn note(&self) -> Option<Note> {
        let joined = self.joined.max(self.during.stride());
        (joined > 1).then(|| joined_note(&self.phase))
    }

    /// Reads facts again and keeps them where they changed.
    fn read_facts(&mut self, detail: SnapshotDetail, now: u64) {
        let with_files = self.only_reads && detail == SnapshotDetail::Full;
        let HostRecord { facts, later_facts, before, .. } = &mut self.host;
        let known = later_facts.last().map_or(&*facts, |later| &later.facts);
        let facts = read_again(known, detail, with_files, &self.roots);
        let at_ns = now.saturating_sub(before.at_ns);
        if facts != *known && later_facts.len() < CHANGES_MAX {
            later_facts.push(LaterFacts { unchanged_at_ns: self.facts_read_ns, at_ns, facts });
        }
        self.facts_read_ns = at_ns;
    }

    fn begin(&mut self) {
        self.host.before = self.sampler.snapshot(SnapshotDetail::Full);
        self.requests_before = self.tracer.stats();
        self.last = self.host.before.clone();
    }
}

/// Intervals of a phase were joined.
pub fn joined_note(phase: &str) -> Note {
    Note {
        asked: format!("a sample of each interval of `{phase}`"),
        did: "joined neighbouring intervals; their counts are exact, their percentiles are missing"
            .into(),
        why: "the report stays below the size that candor reads, however long a run takes".into(),
        place: None,
    }
}

impl Watch for PhaseSnapshots {
    fn about_to_start(&mut self) {
        let begun = Instant::now();
        self.begin();
        if let Some(at) = self.start_at {
            // Read again as late as possible: others go on while this waits.
            let lead = LEAD_MIN.max(2 * begun.elapsed());
            wait_until(at.checked_sub(lead).unwrap_or(at), &self.channels.control);
            self.begin();
            wait_until(at, &self.channels.control);
            let late_ns = Instant::now().saturating_duration_since(at).as_nanos();
            self.host.member.get_or_insert_default().started_late_ns = Some(late_ns as i64);
        }
    }

    fn counting(&mut self) {
        self.begin();
    }

    fn sampled(&mut self, samples: Vec<JobSample>, in_ramp: bool) {
        if self.follow_up {
            return;
        }
        let now = self.sampler.snapshot(SnapshotDetail::Light);
        let hosts = vec![HostSample::between(&self.host.host, &self.last, &now)];
        self.last = now;
        if !in_ramp {
            let (now, start) = (self.last.at_ns, self.host.before.at_ns);
            if now.saturating_sub(start) >= self.facts_read_ns + FACTS_EVERY_NS {
                self.read_facts(SnapshotDetail::Light, now);
            }
            self.during.put(self.intervals, self.last.clone());
            self.intervals += 1;
            if self.during.bytes() > SNAPSHOTS_BYTES_MAX {
                self.during.halve();
            }
        }
        let phase = self.phase.clone();
        self.channels.events.send(Event::Sampled { phase, in_ramp, samples, hosts });
    }

    fn has_command(&mut self) -> bool {
        self.channels.control.has_command()
    }

    fn takes_interim(&mut self) -> bool {
        !self.follow_up && self.channels.control.takes_interim()
    }

    fn interim(&mut self, measurements: Vec<Measurement>) {
        let after = self.sampler.snapshot(SnapshotDetail::Full);
        let during = self.during.iter().cloned().collect();
        let hosts = vec![HostRecord { after, during, ..self.host.clone() }];
        // The run may have given up on this phase.
        let _ = self.interims.send(Collected { measurements, hosts, notes: Vec::new() });
    }

    fn is_ended(&mut self) -> bool {
        self.channels.control.is_ended()
    }

    fn is_time_up(&mut self) -> bool {
        self.channels.control.ends_phase()
    }

    fn first_done(&mut self, job: usize) {
        self.peers.first_done(job);
    }

    fn is_first_done(&mut self, job: usize) -> bool {
        self.peers.is_first_done(job)
    }

    fn furthest(&mut self, job: usize, ops: u64) -> Option<u64> {
        self.peers.furthest(job, ops)
    }

    fn worker_done(&mut self, job: &str, rank: u32) {
        if !self.follow_up {
            let (phase, job) = (self.phase.clone(), job.into());
            self.channels.events.send(Event::WorkerDone { phase, job, rank });
        }
    }

    fn takes_operations(&mut self) -> bool {
        self.operations.as_mut().is_none_or(OperationsWriter::has_room)
    }

    fn operations(&mut self, operations: LoggedOperations) {
        if let Some(writer) = &mut self.operations {
            writer.take(operations);
        }
    }

    fn joined(&mut self, intervals: u64) {
        self.joined = intervals;
    }

    fn ended(&mut self) {
        self.host.during = self.during.iter().cloned().collect();
        self.host.after = self.sampler.snapshot(SnapshotDetail::Full);
        // A tracer that has started meanwhile saw nothing but this phase.
        let earlier = self.requests_before.take().unwrap_or_default();
        let HostRecord { before, after, requests, .. } = &mut self.host;
        *requests = self.tracer.stats().map(|now| now.since(&earlier).beside(before, after));
        if !self.follow_up {
            self.read_facts(SnapshotDetail::Full, self.host.after.at_ns);
        }
    }

    fn flushed(&mut self) {
        self.host.after_flush = Some(self.sampler.snapshot(SnapshotDetail::Full));
    }
}

/// Waits until a moment, but not longer than until the user stops the run.
pub fn wait_until(at: Instant, control: &Control) {
    while !control.is_stopped() {
        match at.saturating_duration_since(Instant::now()) {
            Duration::ZERO => return,
            left => thread::sleep(left.min(STEP)),
        }
    }
}
