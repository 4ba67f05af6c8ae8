//! The run as given with another setting, for whoever wants to try what a finding advises.

use candor_plan::blocks::{Advice, Engine, OpenSync};
use candor_plan::units::{PerDirection, SizeSpec};
use candor_plan::{Blocks, Bytes, Nanos, Plan, Stop};
use candor_record::Setting;

use crate::direct_io;
use crate::setup::{Planned, SetupFacts};

/// Shortest run that a command proposes.
const SECONDS_MIN: u64 = 30;

/// The run as given, with changes of one of its jobs.
#[derive(Clone)]
pub struct Command<'a> {
    planned: Planned<'a>,
    /// Place of the phase in the plan.
    phase: String,
    changes: Vec<Setting>,
    /// No settings give what is proposed.
    is_out_of_reach: bool,
}

impl<'a> Command<'a> {
    /// The run as given; absent where the plan does not have the job.
    pub fn of(plan: &'a Plan, planned: &Planned<'a>) -> Option<Command<'a>> {
        plan.phases.get(planned.phase_index)?;
        let phase = format!("phase[{}]", planned.phase_index);
        Some(Command { planned: *planned, phase, changes: Vec::new(), is_out_of_reach: false })
    }

    /// Bypass the page cache, where the targets can.
    pub fn direct(mut self, setup: &SetupFacts) -> Command<'a> {
        let is_so = self.blocks().direct;
        self.is_out_of_reach |= !is_so && !direct_io::fits(setup, &self.planned);
        self.block("direct", "true", is_so)
    }

    /// Read nothing ahead.
    pub fn advise_random(self) -> Command<'a> {
        let is_so = self.blocks().hints.advice.0.contains(&Advice::Random);
        self.block("hints.advice", "random", is_so)
    }

    /// Drop the files from the cache beforehand.
    pub fn evict(self) -> Command<'a> {
        let is_so = self.blocks().hints.evict;
        self.block("hints.evict", "true", is_so)
    }

    /// Drop the pages of each file whenever a pass over it begins.
    pub fn invalidate(self) -> Command<'a> {
        let is_so = self.blocks().hints.invalidate;
        self.block("hints.invalidate", "true", is_so)
    }

    /// Many operations in flight: by io_uring where the engine has no more than one, and with
    /// direct I/O, which that needs.
    pub fn deep(mut self, setup: &SetupFacts, depth: u32) -> Command<'a> {
        let engine = self.blocks().engine;
        if !engine.is_async() {
            // Options of an engine have no counterpart in another one, nor have its commands.
            self.is_out_of_reach |= !Engine::ALL.contains(&engine) || engine.is_passthrough();
            self = self.block("engine", Engine::IO_URING.name(), false);
        }
        self.direct(setup).depth(depth)
    }

    /// That many operations in flight per worker.
    pub fn depth(self, depth: u32) -> Command<'a> {
        let depth = depth.max(1);
        let is_so = self.blocks().depth == depth;
        self.block("depth", &depth.to_string(), is_so)
    }

    /// That many workers.
    pub fn workers(self, workers: u32) -> Command<'a> {
        let workers = workers.max(1);
        let is_so = self.planned.job.workers == workers;
        let key = format!("{}.workers", self.job());
        self.with(key, workers.to_string(), is_so)
    }

    /// That many bytes per operation.
    pub fn bs(self, bytes: u64) -> Command<'a> {
        let is_so = self.blocks().size == PerDirection::all(SizeSpec::Fixed(Bytes(bytes)));
        self.block("size", &short(Bytes(bytes)), is_so)
    }

    /// At least that long.
    pub fn seconds(mut self, seconds: u64) -> Command<'a> {
        let planned = self.planned;
        let (stop, place) = match &planned.job.stop {
            Some(own) => (own, self.job()),
            None => (&planned.phase.stop, self.phase.clone()),
        };
        let is_long = stop.time.is_some_and(|time| time >= Nanos::from_secs(seconds));
        // Where another bound ends the run, more time does not make it longer.
        self.is_out_of_reach |= *stop != endless(stop);
        let seconds = seconds.max(SECONDS_MIN);
        self.with(format!("{place}.stop.time"), format!("{seconds}s"), is_long)
    }

    /// Buffers from huge pages.
    pub fn huge_pages(self) -> Command<'a> {
        let is_so = self.blocks().hints.huge_pages == Some(true);
        self.block("hints.huge_pages", "true", is_so)
    }

    /// Flush at the end.
    pub fn fsync_end(self) -> Command<'a> {
        let is_so = self.blocks().durability.fsync_at_end;
        self.block("durability.fsync_at_end", "true", is_so)
    }

    /// Flush after every n writes, by the call that the run uses, and not with each of them.
    pub fn flush_every(mut self, writes: u64) -> Command<'a> {
        let durability = self.blocks().durability;
        let by_file = durability.open != OpenSync::None;
        // Calls that flush by a flag of the engine go on doing so.
        self.is_out_of_reach |= self.planned.durable_each() && !by_file;
        self = self.block("durability.open", "none", !by_file);
        let (key, every) = if durability.fdatasync_every > 0 {
            ("durability.fdatasync_every", durability.fdatasync_every)
        } else {
            ("durability.fsync_every", durability.fsync_every)
        };
        self.block(key, &writes.to_string(), every == writes)
    }

    /// Trace as many requests as the tracer's budget allows.
    pub fn block_trace_auto(self) -> Command<'a> {
        self.with("--block-trace".into(), "auto".into(), false)
    }

    /// Settings give what is proposed.
    pub fn is_possible(&self) -> bool {
        !self.is_out_of_reach
    }

    /// The changes; none where the run as given has them all, or cannot have them.
    pub fn changes(self) -> Vec<Setting> {
        if self.is_out_of_reach { Vec::new() } else { self.changes }
    }

    fn blocks(&self) -> &'a Blocks {
        self.planned.blocks
    }

    fn job(&self) -> String {
        format!("{}.job[{}]", self.phase, self.planned.index)
    }

    fn block(self, key: &str, value: &str, is_so: bool) -> Command<'a> {
        let key = format!("{}.work.blocks.{key}", self.job());
        self.with(key, value.to_owned(), is_so)
    }

    fn with(mut self, key: String, value: String, is_so: bool) -> Command<'a> {
        self.changes.retain(|change| change.key != key);
        if !is_so {
            self.changes.push(Setting { key, value });
        }
        self
    }
}

/// The end of a run that only time ends; what does not end it stays.
fn endless(stop: &Stop) -> Stop {
    Stop { bytes: None, ops: None, passes: None, at_least: None, steady: None, ..stop.clone() }
}

/// A size as people type it.
fn short(bytes: Bytes) -> String {
    let text = bytes.to_string();
    match text.strip_suffix("iB") {
        Some(number) => number.to_lowercase(),
        None => text.trim_end_matches('B').into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testcase::TestCase;

    fn changes(case: &TestCase, change: impl Fn(Command) -> Command) -> Vec<String> {
        let setup = case.setup();
        let changes = change(Command::of(&case.plan, &setup.jobs[0]).unwrap()).changes();
        changes.iter().map(|setting| format!("{}={}", setting.key, setting.value)).collect()
    }

    #[test]
    fn a_change_names_the_keys_of_its_job() {
        let case = TestCase::buffered_read();
        let blocks = "phase[0].job[0].work.blocks";
        assert_eq!(
            changes(&case, |command| command.deep(&case.setup(), 32)),
            [
                format!("{blocks}.engine=io_uring"),
                format!("{blocks}.direct=true"),
                format!("{blocks}.depth=32")
            ]
        );
        assert_eq!(changes(&case, |command| command.bs(131_072)), [format!("{blocks}.size=128k")]);
    }

    #[test]
    fn what_the_run_has_is_no_change() {
        let case = TestCase::direct(4096, 32, 1, 10_000.0);
        assert!(changes(&case, |command| command.deep(&case.setup(), 32)).is_empty());
        assert!(changes(&case, |command| command.workers(2).workers(1)).is_empty());
    }

    #[test]
    fn writes_that_are_flushed_together_are_not_flushed_one_by_one() {
        let mut case = TestCase::direct_write();
        let durability = "phase[0].job[0].work.blocks.durability";
        let changes = |case: &TestCase| changes(case, |command| command.flush_every(16));
        let sixteen = format!("{durability}.fsync_every=16");
        assert_eq!(changes(&case).join(" "), sixteen);
        case.blocks().durability.open = OpenSync::Dsync;
        assert_eq!(changes(&case), [format!("{durability}.open=none"), sixteen]);
    }

    #[test]
    fn time_lengthens_only_what_time_ends() {
        let mut case = TestCase::direct(4096, 1, 1, 10_000.0);
        assert_eq!(
            changes(&case, |command| command.seconds(60)),
            ["phase[0].stop.time=60s".to_owned()]
        );
        case.plan.phases[0].stop.ops = Some(1000);
        assert!(changes(&case, |command| command.seconds(60)).is_empty());
    }
}
