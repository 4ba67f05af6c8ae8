//! The command line that tries something else: candor's own, made from the plan's job.

use candor_plan::blocks::{Access, Engine};
use candor_plan::shell::quoted;
use candor_plan::units::Direction;
use candor_plan::{Blocks, Bytes, Plan};

use crate::setup::Planned;

/// Shortest run that a command proposes.
const SECONDS_MIN: u64 = 30;

/// A `candor run` command in the making.
#[derive(Clone, Debug)]
pub struct Command {
    target: String,
    rw: &'static str,
    bs: Bytes,
    depth: u32,
    workers: u32,
    engine: Engine,
    direct: bool,
    seconds: u64,
    fsync_every: u64,
    fsync_end: bool,
    evict: bool,
    size: Option<Bytes>,
}

impl Command {
    /// The flags that describe the job, as far as flags can.
    pub fn of(plan: &Plan, planned: &Planned) -> Option<Command> {
        let (job, blocks) = (planned.job, planned.blocks);
        let target = plan.target(job.targets.first()?)?;
        let main =
            if blocks.mix.write > blocks.mix.read { Direction::Write } else { Direction::Read };
        Some(Command {
            target: target.path.to_string_lossy().into_owned(),
            rw: rw(blocks),
            bs: blocks.size.of(main).max(),
            depth: blocks.depth.max(1),
            workers: job.workers.max(1),
            engine: blocks.engine,
            direct: blocks.direct,
            seconds: seconds(planned),
            fsync_every: blocks.durability.fsync_every,
            fsync_end: blocks.durability.fsync_at_end,
            evict: blocks.hints.evict,
            size: target.size,
        })
    }

    /// Bypass the page cache.
    pub fn direct(mut self) -> Command {
        self.direct = true;
        self
    }

    /// Drop the files from the cache beforehand.
    pub fn evict(mut self) -> Command {
        self.evict = true;
        self
    }

    /// Many operations in flight: by io_uring, which needs direct I/O for it.
    pub fn deep(mut self, depth: u32) -> Command {
        self.engine = Engine::IO_URING;
        self.direct = true;
        self.depth = depth.max(1);
        self
    }

    /// That many operations in flight per worker.
    pub fn depth(mut self, depth: u32) -> Command {
        self.depth = depth.max(1);
        self
    }

    /// That many workers.
    pub fn workers(mut self, workers: u32) -> Command {
        self.workers = workers.max(1);
        self
    }

    /// That many bytes per operation.
    pub fn bs(mut self, bytes: u64) -> Command {
        self.bs = Bytes(bytes);
        self
    }

    /// At least that long.
    pub fn seconds(mut self, seconds: u64) -> Command {
        self.seconds = self.seconds.max(seconds);
        self
    }

    /// Flush at the end.
    pub fn fsync_end(mut self) -> Command {
        self.fsync_end = true;
        self
    }

    /// Flush after every n writes.
    pub fn fsync_every(mut self, writes: u64) -> Command {
        self.fsync_every = writes;
        self
    }

    /// The command line.
    pub fn text(&self) -> String {
        let mut words = vec![
            format!("candor run --target {}", quoted(&self.target)),
            format!("--rw {} --bs {}", self.rw, short(self.bs)),
            format!("--depth {} --workers {}", self.depth, self.workers),
            format!("--engine {}", self.engine.name()),
        ];
        let mut add = |given: bool, word: String| given.then(|| words.push(word));
        add(self.direct, "--direct".into());
        add(self.evict, "--evict".into());
        add(self.fsync_every > 0, format!("--fsync-every {}", self.fsync_every));
        add(self.fsync_end, "--fsync-end".into());
        if let Some(size) = self.size {
            add(true, format!("--size {}", short(size)));
        }
        add(true, format!("--seconds {}", self.seconds));
        words.join(" ")
    }
}

fn rw(blocks: &Blocks) -> &'static str {
    let random = blocks.access.is_random() || matches!(blocks.access, Access::Trace { .. });
    if blocks.mix.trim == 100 {
        return if random { "randtrim" } else { "trim" };
    }
    match (random, blocks.mix.read > 0, blocks.mix.write > 0) {
        (false, true, true) => "rw",
        (false, _, true) => "write",
        (false, _, false) => "read",
        (true, true, true) => "randrw",
        (true, _, true) => "randwrite",
        (true, _, false) => "randread",
    }
}

/// As long as the phase that contains the job, but not too short to mean something.
fn seconds(planned: &Planned) -> u64 {
    let own = planned.job.stop.as_ref().and_then(|stop| stop.time);
    let time = own.or(planned.phase.stop.time);
    time.map_or(SECONDS_MIN, |time| (time.0 / 1_000_000_000).max(SECONDS_MIN))
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

    #[test]
    fn a_command_says_the_job_and_the_change() {
        let case = TestCase::buffered_read();
        let setup = case.setup();
        let command = Command::of(&case.plan, &setup.jobs[0]).unwrap().deep(32);
        assert_eq!(
            command.text(),
            "candor run --target /data/file --rw randread --bs 4k --depth 32 --workers 1 \
             --engine io_uring --direct --seconds 30"
        );
    }

    #[test]
    fn paths_are_quoted_where_a_shell_needs_it() {
        assert_eq!(quoted("/data/file"), "/data/file");
        assert_eq!(quoted("/a b/it's"), r"'/a b/it'\''s'");
    }
}
