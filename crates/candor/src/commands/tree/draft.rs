//! Options given so far, and the plan that they make.

use std::path::Path;

use candor_plan::entries::{Entries, EntriesEngine, Over, Select, Step, VerifyItems};
use candor_plan::{
    Bytes, BytesPerSec, Create, Job, Nanos, OpsPerSec, Phase, Plan, Stop, Target, TargetKind, Tree,
};

/// Phases in their order, each with its name in `--phases`.
pub const PHASES: [(&str, PhaseKind); 7] = [
    ("make", PhaseKind::Make),
    ("create", PhaseKind::Create),
    ("stat", PhaseKind::Stat),
    ("list", PhaseKind::List),
    ("read", PhaseKind::Read),
    ("delete", PhaseKind::Delete),
    ("remove", PhaseKind::Remove),
];

/// A phase of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    Make,
    Create,
    Stat,
    List,
    Read,
    Delete,
    Remove,
}

/// A tree under construction, and what is done to it.
#[derive(Debug)]
pub struct Draft {
    pub target: Target,
    pub tree: Tree,
    pub phases: Vec<PhaseKind>,
    pub workers: u32,
    /// Workers of later phases work on what others made.
    pub rank_shift: i64,
    pub select: Select,
    pub block: Option<Bytes>,
    pub direct: bool,
    pub depth: u32,
    pub engine: Option<EntriesEngine>,
    pub fsync: bool,
    /// Phases that change names end with a sync of the filesystem.
    pub syncfs: bool,
    pub verify: bool,
    pub ops_per_s: Option<OpsPerSec>,
    pub bytes_per_s: Option<BytesPerSec>,
    pub time: Option<Nanos>,
    pub continue_on_error: bool,
    pub repeats: Option<u32>,
    pub seed: Option<u64>,
}

impl Draft {
    /// The usual work below a directory: a tree for each worker.
    pub fn of(directory: &str) -> Draft {
        let path = Path::new(directory).to_owned();
        let target = Target { path, name: "tree".into(), ..Target::default() };
        Draft {
            target: Target { kind: TargetKind::Tree, ..target },
            tree: Tree { items: 1000, per_rank: true, ..Tree::default() },
            phases: PHASES.map(|(_, phase)| phase).to_vec(),
            workers: 1,
            rank_shift: 0,
            select: Select::Sequential,
            block: None,
            direct: false,
            depth: 1,
            engine: None,
            fsync: false,
            syncfs: false,
            verify: false,
            ops_per_s: None,
            bytes_per_s: None,
            time: None,
            continue_on_error: false,
            repeats: None,
            seed: None,
        }
    }

    /// The plan.
    pub fn plan(mut self) -> Plan {
        // Without that phase the tree of an earlier run is meant.
        if !self.phases.contains(&PhaseKind::Create) {
            (self.target.create, self.target.keep) = (Create::Nothing, true);
        }
        let targets = vec![Target { tree: Some(self.tree.clone()), ..self.target.clone() }];
        let phases = self.phases.iter().map(|phase| self.phase(*phase)).collect();
        let usual = Plan::default();
        Plan {
            name: format!("tree {}", self.target.path.display()),
            targets,
            phases,
            seed: self.seed.unwrap_or(usual.seed),
            repeats: self.repeats.unwrap_or(usual.repeats),
            ..usual
        }
    }

    fn phase(&self, kind: PhaseKind) -> Phase {
        let name =
            PHASES.into_iter().find(|(_, phase)| *phase == kind).map_or("", |(name, _)| name);
        let entries = self.entries(kind);
        let is_later = !matches!(kind, PhaseKind::Make | PhaseKind::Create);
        // A tree that was made in part could not be read or removed whole.
        let ends = matches!(kind, PhaseKind::Stat | PhaseKind::List | PhaseKind::Read);
        let stop = Stop {
            time: self.time.filter(|_| ends),
            continue_on_error: self.continue_on_error,
            ..Stop::default()
        };
        let job = Job {
            name: name.to_owned(),
            workers: self.workers,
            targets: vec![self.target.name.clone()],
            rank_shift: if is_later { self.rank_shift } else { 0 },
            work: entries.into(),
            ..Job::default()
        };
        Phase { name: name.to_owned(), stop, jobs: vec![job], ..Phase::default() }
    }

    fn entries(&self, kind: PhaseKind) -> Entries {
        let is_empty = self.tree.file_size.max() == Bytes(0);
        let steps: &[Step] = match kind {
            PhaseKind::Make => &[Step::Mkdir],
            PhaseKind::Create if is_empty => &[Step::Create, Step::Close],
            PhaseKind::Create if self.fsync => {
                &[Step::Create, Step::Write, Step::Fsync, Step::Close]
            }
            PhaseKind::Create => &[Step::Create, Step::Write, Step::Close],
            PhaseKind::Stat => &[Step::Stat],
            PhaseKind::List => &[Step::List],
            PhaseKind::Read if is_empty => &[Step::Open, Step::Close],
            PhaseKind::Read => &[Step::Open, Step::Read, Step::Close],
            PhaseKind::Delete => &[Step::Unlink],
            PhaseKind::Remove => &[Step::Rmdir],
        };
        let over = match kind {
            PhaseKind::Make | PhaseKind::List | PhaseKind::Remove => Over::Directories,
            _ => Over::Items,
        };
        let steps = steps.to_vec();
        let mut entries = Entries { over, steps, ..Entries::default() };
        if over == Over::Items {
            let is_made = kind == PhaseKind::Create;
            entries.select = if is_made { Select::Sequential } else { self.select };
            (entries.depth, entries.engine) = (self.depth, self.engine);
            let is_of_bytes = self.engine.is_some_and(EntriesEngine::is_of_bytes);
            if is_of_bytes && !entries.moves_bytes() {
                (entries.depth, entries.engine) = (1, None);
            }
        }
        let changes = !matches!(kind, PhaseKind::Stat | PhaseKind::List | PhaseKind::Read);
        entries.syncfs_at_end = self.syncfs && changes;
        (entries.pace.ops, entries.pace.bytes) = (self.ops_per_s, None);
        if entries.moves_bytes() {
            entries.pace.bytes = self.bytes_per_s;
            (entries.size, entries.direct) = (self.block, self.direct);
            entries.verify = self.verify.then(VerifyItems::default);
        }
        entries
    }
}
