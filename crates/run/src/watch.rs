//! The engine's watcher: takes snapshots at the moments that count, and passes events on.

use candor_engine::Watch;
use candor_observe::{Sampler, SnapshotDetail};
use candor_record::requests::RequestStats;
use candor_record::{Event, HostRecord, Measurement, PhaseRecord, Sample, Snapshot};

use crate::{Events, Local};

/// Snapshots of a phase.
pub struct Watcher<'a, 'e> {
    local: &'a Local,
    phase: &'a PhaseRecord,
    sampler: &'a mut Sampler,
    events: &'a mut Events<'e>,
    /// When counting began.
    pub before: Snapshot,
    /// When the last operation had completed.
    pub after: Snapshot,
    /// After the final flush.
    pub after_flush: Option<Snapshot>,
    /// Every interval in between.
    pub during: Vec<Snapshot>,
    /// Requests until counting began; from the end on, those since then.
    pub requests: Option<RequestStats>,
    /// The interval whose snapshot was taken: the sampled jobs of one interval share it.
    sampled_at_ns: u64,
}

impl<'a, 'e> Watcher<'a, 'e> {
    /// Of a phase.
    pub fn new(
        local: &'a Local,
        phase: &'a PhaseRecord,
        sampler: &'a mut Sampler,
        events: &'a mut Events<'e>,
    ) -> Self {
        Watcher {
            local,
            phase,
            sampler,
            events,
            before: Snapshot::default(),
            after: Snapshot::default(),
            after_flush: None,
            during: Vec::new(),
            requests: None,
            sampled_at_ns: 0,
        }
    }
}

impl Watch for Watcher<'_, '_> {
    fn about_to_start(&mut self) {
        self.before = self.sampler.snapshot(SnapshotDetail::Full);
        self.requests = self.local.tracer().stats();
    }

    fn counting(&mut self) {
        self.before = self.sampler.snapshot(SnapshotDetail::Full);
        self.requests = self.local.tracer().stats();
    }

    fn sampled(&mut self, job: &str, in_ramp: bool, sample: &Sample) {
        if !in_ramp && sample.at_ns != self.sampled_at_ns {
            self.sampled_at_ns = sample.at_ns;
            self.during.push(self.sampler.snapshot(SnapshotDetail::Light));
        }
        (self.events)(&Event::Sampled {
            phase: self.phase.name.clone(),
            job: job.into(),
            in_ramp,
            sample: sample.clone(),
        });
    }

    fn asks_how_far(&mut self) -> bool {
        self.local.asks_how_far()
    }

    fn interim(&mut self, measurements: Vec<Measurement>) {
        let host = HostRecord {
            before: self.before.clone(),
            during: self.during.clone(),
            after: self.sampler.snapshot(SnapshotDetail::Full),
            ..self.local.host(None)
        };
        let phase = PhaseRecord { measurements, hosts: vec![host], ..self.phase.clone() };
        (self.events)(&Event::Interim { report: Box::new(self.local.interim(phase)) });
    }

    fn calls_off(&mut self) -> bool {
        self.local.is_called_off()
    }

    fn worker_done(&mut self, job: &str, rank: u32) {
        (self.events)(&Event::WorkerDone { phase: self.phase.name.clone(), job: job.into(), rank });
    }

    fn ended(&mut self) {
        self.after = self.sampler.snapshot(SnapshotDetail::Full);
        // It may have come to be open meanwhile: what it saw then is all that it saw.
        let earlier = self.requests.take().unwrap_or_default();
        self.requests = self.local.tracer().stats().map(|now| now.since(&earlier));
    }

    fn flushed(&mut self) {
        self.after_flush = Some(self.sampler.snapshot(SnapshotDetail::Full));
    }
}
