//! Phases of the shape of IO500's, in its order: files of each rank and one of all, directories of
//! each rank and one of all, written for a time and then read, looked up and removed.
//!
//! Each phase that writes ends by time with all ranks at the count of the furthest one, and what it
//! has written is what later phases work on. These work on the data of the next rank and drop the
//! files' pages first, for on one host nothing else keeps the page cache from answering.

use std::path::PathBuf;

use candor_derive::io500::PLAN_NAME;
use candor_plan::blocks::{
    Access, Content, Durability, Fill, Format, Hints, Opening, Share, UnknownBlocks, Verify,
    WordKind, Words,
};
use candor_plan::entries::{Entries, Over, Step as NameStep};
use candor_plan::units::{Direction, Mix, PerDirection, SizeSpec};
use candor_plan::{
    Blocks, Bytes, FileName, Job, Layout, Nanos, Phase, Plan, Sharing, Stonewall, Stop, Target,
    TargetKind, Tree, Work,
};
use candor_record::{Measurement, Report};
use candor_run::{Channels, Options, Run, RunError, Runner, Space, Step, Stopped};

/// Files of each rank.
const EASY: &str = "ior-easy";
/// One file of all ranks.
const HARD: &str = "ior-hard";
/// Directories of each rank.
const NAMES_EASY: &str = "mdtest-easy";
/// One directory of all ranks.
const NAMES_HARD: &str = "mdtest-hard";

const EASY_TRANSFER: Bytes = Bytes(2 << 20);
const EASY_BLOCK: Bytes = Bytes(9_920_000 << 20);
/// No multiple of a sector or a page.
const HARD_TRANSFER: Bytes = Bytes(47_008);
const HARD_SEGMENTS: u64 = 10_000_000;
const NAMES: u64 = 1_000_000;
const HARD_FILE: Bytes = Bytes(3901);
const RANDOM_READ: Bytes = Bytes(4096);

/// Phases of the series.
const PHASES: usize = 13;

/// Options of the series.
#[derive(Clone, Debug)]
pub struct Io500Options {
    /// Directory that files are made in.
    pub directory: PathBuf,
    /// Ranks of all hosts, each a worker.
    pub ranks: u32,
    /// Hosts that share the directory, each with as many ranks.
    pub hosts: u32,
    /// Time of each phase that writes.
    pub stonewall: Nanos,
}

/// Amounts at most, for the space that there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Amounts {
    /// Bytes of each rank's file.
    easy_bytes: u64,
    /// Bytes of the file of all.
    hard_bytes: u64,
    /// Names of each rank in its own directory.
    easy_names: u64,
    /// Names of each rank in the one of all.
    hard_names: u64,
}

impl Amounts {
    /// Half of what is free for the easy files, a fifth for the hard one, a tenth for small files;
    /// a fifth of the free inodes for each of the trees. The rest is left to others.
    fn of(space: Option<Space>, ranks: u64) -> Amounts {
        let (bytes, inodes) =
            space.map_or((u64::MAX, u64::MAX), |of| (of.available_bytes, of.available_inodes));
        let whole = |bytes: u64, unit: Bytes| (bytes / unit.0).max(1) * unit.0;
        let segments = (bytes / 5 / HARD_TRANSFER.0 / ranks).clamp(1, HARD_SEGMENTS);
        let names = |most: u64| most.min(inodes / 5 / ranks).clamp(1, NAMES);
        // A small file takes a block of its own, and about as much for its records.
        let small = bytes / 10 / (2 * HARD_FILE.0.next_power_of_two()) / ranks;
        Amounts {
            easy_bytes: whole((bytes / 2 / ranks).min(EASY_BLOCK.0), EASY_TRANSFER),
            hard_bytes: segments * ranks * HARD_TRANSFER.0,
            easy_names: names(NAMES),
            hard_names: names(small),
        }
    }
}

/// A series under way.
struct Io500 {
    ranks: u32,
    ranks_per_host: u32,
    stonewall: Nanos,
}

/// Runs the series on the hosts of a runner.
///
/// # Errors
/// The directory does not exist, or the series is refused. What goes wrong later is in the report.
pub fn io500(
    options: &Io500Options,
    runner: Box<dyn Runner>,
    run: &Options,
    channels: &Channels,
) -> Result<Report, RunError> {
    let mut run = Run::new(runner, run, channels);
    let survey = run.survey(&options.directory)?;
    let ranks = options.ranks.max(1);
    let amounts = Amounts::of(survey.space, ranks.into());
    let plan = Plan {
        name: PLAN_NAME.into(),
        targets: targets(&survey.path, ranks, amounts),
        seed: u64::from(std::process::id()),
        hosts: options.hosts,
        ..Plan::default()
    };
    // Reading back takes about as long as writing.
    let expected = Nanos(options.stonewall.0.saturating_mul(9));
    run.open(plan, Some((PHASES, expected)))?;
    let ranks_per_host = ranks / options.hosts.max(1);
    let ended = Io500 { ranks, ranks_per_host, stonewall: options.stonewall }.steps(&mut run);
    run.finish(ended)
}

fn targets(directory: &std::path::Path, ranks: u32, amounts: Amounts) -> Vec<Target> {
    let own = |name: &str| format!("candor-io500.{}.{name}", std::process::id());
    let of_bytes = |name: &str, size: u64| Target {
        name: name.into(),
        size: Some(Bytes(size)),
        // Files grow as they are written, so that nothing is laid out beforehand.
        layout: Layout::Never,
        ..Target::default()
    };
    let of_names = |name: &str, tree: Tree| Target {
        name: name.into(),
        path: directory.join(own(name)),
        kind: TargetKind::Tree,
        tree: Some(tree),
        ..Target::default()
    };
    vec![
        Target {
            path: directory.to_owned(),
            kind: TargetKind::FileSet,
            files: ranks,
            file_name: Some(FileName::joined([own(EASY) + ".", String::new()])),
            ..of_bytes(EASY, amounts.easy_bytes)
        },
        Target {
            path: directory.join(own(HARD)),
            kind: TargetKind::File,
            ..of_bytes(HARD, amounts.hard_bytes)
        },
        of_names(NAMES_EASY, easy_tree(amounts.easy_names)),
        of_names(NAMES_HARD, hard_tree(amounts.hard_names)),
    ]
}

fn easy_tree(names: u64) -> Tree {
    Tree { items: names, per_rank: true, ..Tree::default() }
}

fn hard_tree(names: u64) -> Tree {
    let file_size = SizeSpec::Fixed(HARD_FILE);
    Tree { items: names, items_per_rank: true, file_size, ..Tree::default() }
}

impl Io500 {
    fn steps(&self, run: &mut Run) -> Result<(), Stopped> {
        self.write(run)?;
        self.find(run)?;
        self.bytes(run, "ior-easy-read", EASY, reading(easy(Mix::READ)))?;
        self.names(run, "mdtest-easy-stat", NAMES_EASY, vec![NameStep::Stat])?;
        self.bytes(run, "ior-hard-read", HARD, verified(reading(hard(Mix::READ))))?;
        self.names(run, "mdtest-hard-stat", NAMES_HARD, vec![NameStep::Stat])?;
        self.names(run, "mdtest-easy-delete", NAMES_EASY, vec![NameStep::Unlink])?;
        let read = vec![NameStep::Open, NameStep::Read, NameStep::Close];
        self.names(run, "mdtest-hard-read", NAMES_HARD, read)?;
        self.names(run, "mdtest-hard-delete", NAMES_HARD, vec![NameStep::Unlink])?;
        let random = Blocks {
            access: Access::Random,
            size: PerDirection::all(SizeSpec::Fixed(RANDOM_READ)),
            opening: Opening::InPhase,
            ..reading(easy(Mix::READ))
        };
        let stop = Stop { time: Some(self.stonewall), ..Stop::default() };
        self.phase(
            run,
            "ior-rnd4K-easy-read",
            stop,
            vec![self.job(EASY, self.shift(), random.into())],
        )?;
        Ok(())
    }

    /// The phases that write; targets keep what each has come to.
    fn write(&self, run: &mut Run) -> Result<(), Stopped> {
        let wear_out =
            Stop { time: Some(self.stonewall), stonewall: Stonewall::WearOut, ..Stop::default() };
        let wear_out = Stop { passes: Some(1), ..wear_out };
        let ranks = u64::from(self.ranks);
        let written = |measured: &Measurement| measured.of(Direction::Write).bytes;
        let made = |measured: &Measurement| measured.operation("create").ops / ranks;
        let write = |run: &mut Run, name: &str, target: &str, work: Work| {
            self.phase(run, name, wear_out.clone(), vec![self.job(target, 0, work)])
        };
        let easy = write(run, "ior-easy-write", EASY, easy(Mix::WRITE).into())?;
        run.resize(EASY, Bytes(written(&easy) / ranks));
        let steps = vec![NameStep::Create, NameStep::Close];
        let names = write(run, "mdtest-easy-write", NAMES_EASY, of_steps(steps).into())?;
        run.reshape(NAMES_EASY, easy_tree(made(&names)));
        let hard = write(run, "ior-hard-write", HARD, hard(Mix::WRITE).into())?;
        run.resize(HARD, Bytes(written(&hard)));
        let steps = vec![NameStep::Create, NameStep::Write, NameStep::Close];
        let names = write(run, "mdtest-hard-write", NAMES_HARD, of_steps(steps).into())?;
        run.reshape(NAMES_HARD, hard_tree(made(&names)));
        Ok(())
    }

    /// Every directory is listed, and every name looked up.
    fn find(&self, run: &mut Run) -> Result<(), Stopped> {
        let mut jobs: Vec<Job> = Vec::new();
        for target in [NAMES_EASY, NAMES_HARD] {
            let list = Entries { over: Over::Directories, ..of_steps(vec![NameStep::List]) };
            let look = of_steps(vec![NameStep::Stat]);
            for (what, entries) in [("list", list), ("stat", look)] {
                let name = format!("{what} {target}");
                let after = jobs.last().map(|job| job.name.clone()).into_iter().collect();
                jobs.push(Job { name, after, ..self.job(target, self.shift(), entries.into()) });
            }
        }
        self.phase(run, "find", once(), jobs).map(|_| ())
    }

    fn bytes(
        &self,
        run: &mut Run,
        name: &str,
        target: &str,
        blocks: Blocks,
    ) -> Result<(), Stopped> {
        self.phase(run, name, once(), vec![self.job(target, self.shift(), blocks.into())])
            .map(|_| ())
    }

    fn names(
        &self,
        run: &mut Run,
        name: &str,
        target: &str,
        steps: Vec<NameStep>,
    ) -> Result<(), Stopped> {
        let job = self.job(target, self.shift(), of_steps(steps).into());
        self.phase(run, name, once(), vec![job]).map(|_| ())
    }

    /// Ranks between one and that on whose data it works later: those of a host, where there are
    /// several, for its own kernel knows what it wrote.
    fn shift(&self) -> i64 {
        if self.ranks_per_host < self.ranks { self.ranks_per_host.into() } else { 1 }
    }

    fn job(&self, target: &str, rank_shift: i64, work: Work) -> Job {
        let sharing = if target == EASY { Sharing::Own } else { Sharing::Shared };
        Job {
            name: "ranks".into(),
            workers: self.ranks_per_host,
            targets: vec![target.into()],
            sharing,
            rank_shift,
            work,
            ..Job::default()
        }
    }

    fn phase(
        &self,
        run: &mut Run,
        name: &str,
        stop: Stop,
        jobs: Vec<Job>,
    ) -> Result<Measurement, Stopped> {
        let phase = Phase { name: name.into(), stop, jobs, ..Phase::default() };
        let record = run.phase(Step::Added(&phase))?;
        Ok(record.measurements.first().cloned().unwrap_or_default())
    }
}

/// Once over all.
fn once() -> Stop {
    Stop { passes: Some(1), ..Stop::default() }
}

fn of_steps(steps: Vec<NameStep>) -> Entries {
    Entries { steps, ..Entries::default() }
}

/// With barriers between opens, transfers and closes.
fn easy(mix: Mix) -> Blocks {
    let opening = Opening::InStages;
    Blocks { opening, ..blocks(mix, EASY_TRANSFER, Share::Whole) }
}

/// One transfer of each rank after another, in words that tell the rank.
fn hard(mix: Mix) -> Blocks {
    let words = Some(Words { kind: WordKind::Timestamp, ..Words::default() });
    Blocks {
        opening: Opening::InPhase,
        content: Content { fill: Fill::Words, words, ..Content::default() },
        ..blocks(mix, HARD_TRANSFER, Share::Interleave)
    }
}

/// The same reads, each compared with what was written.
fn verified(blocks: Blocks) -> Blocks {
    let verify = Verify {
        interval: HARD_TRANSFER,
        format: Format::Words,
        generations: false,
        unknown: UnknownBlocks::Check,
        ..Verify::default()
    };
    Blocks { verify: Some(verify), ..blocks }
}

/// Transfers through the page cache, as the tools' own are, made durable at the end.
fn blocks(mix: Mix, size: Bytes, share: Share) -> Blocks {
    Blocks {
        mix,
        size: PerDirection::all(SizeSpec::Fixed(size)),
        share,
        durability: Durability { fsync_at_end: mix.write > 0, ..Durability::default() },
        ..Blocks::default()
    }
}

/// The same, of files without pages in the cache.
fn reading(blocks: Blocks) -> Blocks {
    Blocks { hints: Hints { evict: true, ..Hints::default() }, ..blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space(available_bytes: u64, available_inodes: u64) -> Option<Space> {
        let total_bytes = available_bytes;
        Some(Space { filesystem: 1, total_bytes, available_bytes, available_inodes })
    }

    #[test]
    fn amounts_leave_room_to_others() {
        let of = Amounts::of(space(100 << 30, 1_000_000), 4);
        assert_eq!(of.easy_bytes, (100 << 30) / 8 / EASY_TRANSFER.0 * EASY_TRANSFER.0);
        assert!(of.hard_bytes.is_multiple_of(4 * HARD_TRANSFER.0) && of.hard_bytes < 20 << 30);
        assert_eq!((of.easy_names, of.hard_names), (50_000, 50_000));
        let all = 4 * of.easy_bytes + of.hard_bytes + 4 * of.hard_names * 8192;
        assert!(all < 80 << 30, "{all}");
        // Without bounds the amounts are IO500's own.
        let of = Amounts::of(None, 2);
        assert_eq!((of.easy_bytes, of.easy_names), (EASY_BLOCK.0, NAMES));
        assert_eq!(of.hard_bytes, 2 * HARD_SEGMENTS * HARD_TRANSFER.0);
        // One of each, however little there is: the run itself then tells that it does not fit.
        let least = Amounts::of(space(1 << 20, 3), 64);
        assert_eq!((least.easy_bytes, least.hard_bytes), (EASY_TRANSFER.0, 64 * HARD_TRANSFER.0));
        assert_eq!((least.easy_names, least.hard_names), (1, 1));
    }
}
