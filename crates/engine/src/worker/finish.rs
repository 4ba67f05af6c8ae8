//! What a worker leaves behind.

use super::*;

impl Worker {
    pub(super) fn finish(mut self, live: &Live, features: Vec<String>) -> WorkerEnd {
        self.end_alone();
        // A worker that something else has ended was at work, or at rest as asked, until then.
        let end = match self.ended {
            Ended::Interrupted if self.parts.read_back.is_none() => self.parts.clock.now(),
            Ended::Time => self.last_completion.max(self.parts.shared.deadline.load(Relaxed)),
            _ => self.last_completion,
        };
        let told = self.interim(live, end, features);
        mark_first_done(&self.parts, told.stats.ops, told.stats.elapsed_ns);
        told
    }

    /// What it did until that tick.
    pub(super) fn interim(&self, live: &Live, end: u64, features: Vec<String>) -> WorkerEnd {
        let clock = self.parts.clock;
        let read_back = self.parts.read_back.as_ref().map(|back| back.spent(self.last_completion));
        let apart = read_back.unwrap_or_default();
        let after = Usage::of_this_thread();
        let before = self.usage_before;
        let wait = |u: Usage| u.run_wait_ns;
        let from = self.parts.shared.count_from.load(Relaxed);
        let counters = live.bank(true).all();
        let tried =
            |c: &crate::operations::stats::Counters| c.ops.load(Relaxed) + c.failed.load(Relaxed);
        let sum = |read: fn(&crate::operations::stats::Counters) -> u64| {
            counters[..3].iter().map(read).sum()
        };
        let elapsed_ns = clock.ns(end.saturating_sub(from + apart.ticks));
        WorkerEnd {
            stats: WorkerStats {
                rank: self.parts.rank,
                ops: sum(|c| c.ops.load(Relaxed)),
                bytes: sum(|c| c.bytes.load(Relaxed)),
                elapsed_ns,
                cpu_user_ns: after.user_ns - before.user_ns - apart.user_ns,
                cpu_system_ns: after.system_ns - before.system_ns - apart.system_ns,
                run_wait_ns: wait(after).zip(wait(before)).map(|(a, b)| a - b),
                switches_voluntary: after.voluntary - before.voluntary,
                switches_involuntary: after.involuntary - before.involuntary,
                faults_minor: after.minor - before.minor,
                faults_major: after.major - before.major,
                fill_ns: clock.ns(self.fill_ticks),
                verify_ns: clock.ns(self.verify_ticks),
                paced_ns: clock.ns(self.paced_ticks),
                cpu: u32::try_from(rustix::thread::sched_getcpu()).ok(),
                thread_id: u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).ok(),
            },
            ended: self.ended,
            failures: self.failures.clone(),
            verify: self.parts.verifier.as_ref().map(Verifier::stats),
            read_back,
            zone_resets: self.parts.zones.as_ref().map_or(0, Visit::resets),
            depths: match self.parts.measure.depths {
                true => self.depths.or_else(|| Some(Depths::one_at_a_time(sum(tried)))),
                false => None,
            },
            depth_reached: self.parts.issue_gate.as_ref().and_then(IssueGate::depth_reached),
            features,
        }
    }
}

/// The first worker to end takes a snapshot of what all have done by then, before it gives
/// anything back.
fn mark_first_done(parts: &Parts, ops: u64, elapsed_ns: u64) {
    let mut first = parts.first_done.lock().unwrap_or_else(PoisonError::into_inner);
    if first.is_none() && ops > 0 {
        *first = Some(Totals::of(parts.live.iter(), true).progress(elapsed_ns));
    }
}
