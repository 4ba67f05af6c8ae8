//! Figures of a worker, at its end or in between.

use std::sync::atomic::Ordering::Relaxed;

use candor_record::{Depths, Ended, WorkerStats};

use super::Worker;
use crate::clock::Ticks;
use crate::counters::Live;
use crate::host::placement::Usage;
use crate::source::Source;
use crate::worker_end::WorkerEnd;

impl<S: Source> Worker<S> {
    pub(super) fn finish(mut self, live: &Live, features: Vec<String>) -> WorkerEnd {
        if live.bank(true).totals().work().ops > 0 {
            self.seat.first_done.mark(&self.seat.live, &self.seat.clock);
        }
        let (shared, last) = (self.seat.shared.clone(), self.turn.last_completion);
        let mut end = self.figures(live, last, features);
        // An interrupted worker was at work, or in planned think time, until now.
        let until = match self.ended {
            Ended::Interrupted if end.read_back.is_none() => self.seat.clock.now(),
            Ended::Time => last.max(shared.deadline.load(Relaxed)),
            _ => last,
        };
        end.stats.elapsed_ns = self.elapsed_ns(until, &end);
        end
    }

    /// Time until that tick, less the time that does not count as the work's.
    fn elapsed_ns(&self, until: Ticks, end: &WorkerEnd) -> u64 {
        let from = self.seat.shared.count_from.load(Relaxed);
        let apart = end.read_back.unwrap_or_default().ticks;
        self.seat.clock.ns(until.saturating_sub(from + apart))
    }

    /// Figures until that tick.
    pub(super) fn figures(
        &mut self,
        live: &Live,
        until: Ticks,
        features: Vec<String>,
    ) -> WorkerEnd {
        let clock = self.seat.clock;
        let mut end = WorkerEnd {
            ended: self.ended,
            failures: self.turn.failures.clone(),
            features,
            ..WorkerEnd::default()
        };
        self.source.tell(&mut end, &self.turn);
        let apart = end.read_back.unwrap_or_default();
        let (before, after) = (self.usage_before, Usage::of_this_thread());
        let wait = |u: Usage| u.run_wait_ns;
        let done = live.bank(true).totals().work();
        end.stats = WorkerStats {
            rank: self.seat.rank,
            ops: done.ops,
            bytes: done.bytes,
            elapsed_ns: self.elapsed_ns(until, &end),
            cpu_user_ns: after.user_ns - before.user_ns - apart.user_ns,
            cpu_system_ns: after.system_ns - before.system_ns - apart.system_ns,
            run_wait_ns: wait(after).zip(wait(before)).map(|(a, b)| a - b),
            switches_voluntary: after.voluntary - before.voluntary,
            switches_involuntary: after.involuntary - before.involuntary,
            faults_minor: after.minor - before.minor,
            faults_major: after.major - before.major,
            fill_ns: end.stats.fill_ns,
            verify_ns: end.stats.verify_ns,
            paced_ns: clock.ns(self.paced),
            cpu: u32::try_from(rustix::thread::sched_getcpu()).ok(),
            stages: end.stats.stages,
            thread_id: u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok(),
        };
        end.depths = self
            .measure
            .depths
            .then(|| self.depths.unwrap_or_else(|| Depths::one_at_a_time(live.bank(true).tried())));
        end
    }
}
