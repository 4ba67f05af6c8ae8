//! Options given so far, and the plan that they make.

use std::path::PathBuf;

use candor_plan::entries::{Entries, EntriesEngine, Over, Select, Step, VerifyItems};
use candor_plan::{
    Bytes, BytesPerSec, Create, Job, Listing, Nanos, OpsPerSec, PathText, Phase, Plan, Stop,
    Target, TargetKind, Tree, path_of,
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

impl PhaseKind {
    /// True for a phase that changes nothing.
    fn only_looks(self) -> bool {
        matches!(self, PhaseKind::Stat | PhaseKind::List | PhaseKind::Read)
    }
}

/// A tree under construction, and what is done to it.
#[derive(Debug)]
pub struct Draft {
    pub target: Target,
    pub tree: Tree,
    /// Files in each directory of the tree, where given.
    pub items: Option<u64>,
    /// File with the names, in place of a shape.
    pub list: Option<PathBuf>,
    /// The names are those that are there.
    pub existing: bool,
    /// Longer files of a list are cut among all workers.
    pub share_above: Option<Bytes>,
    /// The phases that were asked for; none for the usual ones.
    pub phases: Option<Vec<PhaseKind>>,
    pub workers: u32,
    /// Workers of later phases work on what others made.
    pub rank_shift: i64,
    pub select: Select,
    pub block: Option<Bytes>,
    pub direct: bool,
    pub depth: u32,
    pub engine: Option<EntriesEngine>,
    pub fsync: bool,
    /// Create and delete end with a sync of the filesystem.
    pub syncs: bool,
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
        let path = path_of(directory);
        let target = Target { path, name: "tree".into(), ..Target::default() };
        Draft {
            target: Target { kind: TargetKind::Tree, ..target },
            tree: Tree { per_rank: true, ..Tree::default() },
            items: None,
            list: None,
            existing: false,
            share_above: None,
            phases: None,
            workers: 1,
            rank_shift: 0,
            select: Select::Sequential,
            block: None,
            direct: false,
            depth: 1,
            engine: None,
            fsync: false,
            syncs: true,
            verify: false,
            ops_per_s: None,
            bytes_per_s: None,
            time: None,
            continue_on_error: false,
            repeats: None,
            seed: None,
        }
    }

    /// The phases: what is there is looked at and read, unless more is asked for.
    fn phases(&self) -> Vec<PhaseKind> {
        let all = PHASES.into_iter().map(|(_, phase)| phase);
        let has_directories = self.list.is_some() || self.tree.depth > 0;
        let usual = all.filter(|phase| {
            let is_of_directories = matches!(phase, PhaseKind::Make | PhaseKind::Remove);
            phase.only_looks() || !self.existing && (has_directories || !is_of_directories)
        });
        self.phases.clone().unwrap_or_else(|| usual.collect())
    }

    /// The list of names, where they are no shape's.
    fn listing(&self) -> Option<Listing> {
        let is_listed = self.existing || self.list.is_some();
        is_listed.then(|| Listing {
            file: self.list.clone(),
            share_above: self.share_above,
            ..Listing::default()
        })
    }

    /// The plan.
    pub fn plan(mut self) -> Plan {
        let phases = self.phases();
        // Without that phase the tree of an earlier run is meant.
        if self.existing || !phases.contains(&PhaseKind::Create) {
            (self.target.create, self.target.keep) = (Create::Nothing, true);
        }
        let usual_items = if self.tree.depth == 0 { 20_000 } else { 1000 };
        self.tree.items = self.items.unwrap_or(usual_items);
        let listing = self.listing();
        let tree = listing.is_none().then(|| self.tree.clone());
        let targets = vec![Target { tree, listing, ..self.target.clone() }];
        let phases = phases.into_iter().map(|phase| self.phase(phase)).collect();
        let usual = Plan::default();
        Plan {
            name: format!("tree {}", self.target.path.text()),
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
        let ends = kind.only_looks();
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
            wants_cache: self.wants_cache(kind, &entries),
            work: entries.into(),
            ..Job::default()
        };
        Phase { name: name.to_owned(), stop, jobs: vec![job], ..Phase::default() }
    }

    /// True where the tree is made before it is looked at.
    fn is_own(&self) -> bool {
        self.phases().contains(&PhaseKind::Create)
    }

    /// Directories around the files are set-up, and names that were just made are in memory.
    fn wants_cache(&self, kind: PhaseKind, entries: &Entries) -> bool {
        match kind {
            PhaseKind::Make | PhaseKind::Remove => true,
            PhaseKind::Create | PhaseKind::Delete => false,
            PhaseKind::Stat | PhaseKind::List => self.is_own(),
            PhaseKind::Read => self.is_own() && !entries.moves_bytes(),
        }
    }

    fn entries(&self, kind: PhaseKind) -> Entries {
        let is_empty = self.listing().is_none() && self.tree.file_size.max() == Bytes(0);
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
        let changes = matches!(kind, PhaseKind::Create | PhaseKind::Delete);
        entries.syncfs_at_end = self.syncs && changes;
        entries.evict = self.is_own() && kind == PhaseKind::Read && !is_empty && !self.direct;
        (entries.pace.ops, entries.pace.bytes) = (self.ops_per_s, None);
        if entries.moves_bytes() {
            entries.pace.bytes = self.bytes_per_s;
            (entries.size, entries.direct) = (self.block, self.direct);
            entries.verify = self.verify.then(VerifyItems::default);
        }
        entries
    }
}
