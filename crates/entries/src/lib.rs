//! Operations on named files and directories: create, stat, read, rename, remove and others.
//!
//! [`EntriesFamily`] takes a job whose work is [`candor_plan::Entries`]: items of a tree, and steps
//! for each item. A worker does one item after another, or several at once. Names and sizes of a
//! tree are computed from numbers, so memory does not grow with it; [`Lists`] are trees whose names
//! come from a file or a scan. Contents of files come from `candor-blocks`.
//!
//! | module | content |
//! | --- | --- |
//! | `items`, `taker` | order, budget and steps; items by their state |
//! | `places`, `listed` | names by number; items of a list by rank |
//! | `walk` | one item after another, or several in progress |
//! | `calls`, `ring`, `aio`, `copying` | system calls, io_uring, libaio, whole copies |
//! | `contents`, `generations`, `journaled` | bytes of files, versions of blocks, journals |
//!
//! A job that this family runs:
//!
//! ```toml
//! [[phase.job]]
//! workers = 4
//! targets = ["files"]
//! work.entries = { steps = ["create", "write", "close"] }
//! ```

mod aio;
mod calls;
mod catalog;
mod contents;
mod copying;
mod generations;
mod items;
mod journaled;
mod listed;
mod lists;
mod modes;
mod places;
mod probe;
mod reached;
mod ring;
mod roots;
mod taker;
mod trees;
mod walk;

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use candor_bytes::content::{Content, Origin, Pool, pool};
use candor_bytes::journal::lock;
use candor_bytes::session::{Mismatches, SharedBytes};
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::gates::flow::{Flows, JobFlow};
use candor_engine::gates::limits::{Limited, Limits};
use candor_engine::gates::pace::Pacer;
use candor_engine::gates::paced::Paced;
use candor_engine::gates::wear_out::{Furthest, WornOut};
use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use candor_engine::issue::OneAtATime;
use candor_engine::names::Names;
use candor_engine::operation::{Op, Ops};
use candor_engine::random::{Random, mix};
use candor_engine::source::Source;
use candor_engine::worker::{self, Buffers};
use candor_engine::worker_end::WorkerEnd;
use candor_engine::{EngineError, Failures};
use candor_plan::blocks::{Fill, Format, UnknownBlocks, Verify};
use candor_plan::check::OPERATION_MAX;
use candor_plan::entries::{Entries, EntriesEngine, OPERATIONS, Over, Step};
use candor_plan::units::Mix;
use candor_plan::{Job, Stop, TargetKind, Work};
use candor_record::{Measurement, VerifyStats};

use crate::aio::AioCalls;
use crate::calls::Calls;
use crate::catalog::{Catalog, Catalogs};
use crate::contents::{Contents, Tracked};
use crate::items::{Bounds, Budget, Items, shared_paths};
use crate::journaled::{TreeJournal, TreeLogs, begin_use};
use crate::listed::Dealt;
use crate::places::{ListThings, Places, TreeThings, WindowItems, WorkerNames};
use crate::probe::Chosen;
use crate::reached::Reached;
use crate::ring::RingCalls;
use crate::taker::{Stock, Taker, of_host, part_of};
use crate::trees::Trees;
use crate::walk::{Lanes, Walk};

pub use crate::lists::Lists;

/// Choices of a worker's seed: the order of its names.
const ORDER: u64 = 0x6f72_6465;
/// Choices of a worker's seed: gaps between operations.
const PACE: u64 = 0x7061_6365;

/// The family of entries.
pub struct EntriesFamily;

impl Family for EntriesFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        let Some(entries) = context.job.entries() else {
            return Err(context.unfit("has no entries", "name steps"));
        };
        let reached = context.session.of::<Reached>().clone();
        let key = context.job.targets.clone();
        let first = if entries.as_reached {
            entries.first.into_iter().chain(reached.of(&key)).min()
        } else {
            entries.first
        };
        let entries = &Entries { first, ..entries.clone() };
        let places = places(entries, reached.left(&key), context)?;
        if places.handle_max(context.job.workers) > u64::from(u32::MAX) {
            let message = "has more than 4 billion names on one host";
            return Err(context.unfit(message, "use fewer items, or more hosts"));
        }
        let unit = entries.operations_per_item(places.bytes_max()).unwrap_or(1).max(1);
        let (bytes_max, places) = (bytes_max(entries, &places), Arc::new(places));
        let budget = Budget::of(context.stop);
        let stock = stock(entries, context, &places, budget)?;
        if bytes_max as u64 > OPERATION_MAX.0 {
            let message = "reads or writes files at once that are longer than the kernel moves";
            return Err(context.unfit(message, "give a size of each operation"));
        }
        let verification = Verification::of(entries, context, &places, stock.as_ref())?;
        Ok(Box::new(ReadyEntries {
            chosen: probe::choose(entries, &places, bytes_max),
            bytes_max,
            entries: entries.clone(),
            budget,
            stock,
            pool: entries.has(Step::Write).then(|| pool(context.seed)),
            furthest: Furthest::of(
                context.stop,
                context.ranks,
                // A window moves in all its directories.
                if entries.window.is_some() { unit * places.item_directories() } else { unit },
            ),
            reached: (reached, key, unit),
            flow: entries.pace.flow.map(|flow| JobFlow::join(context.phase.of::<Flows>(), flow)),
            verification,
            seeds: [context.seed, context.plan.seed],
            roots: if entries.syncfs_at_end { roots(context) } else { Vec::new() },
            places,
        }))
    }
}

/// State for taking items by their state, if the job takes items. Otherwise, if the job changes
/// names, the tables of its trees become invalid.
fn stock(
    entries: &Entries,
    context: &mut JobContext<'_>,
    places: &Arc<Places>,
    budget: Budget,
) -> Result<Option<Stock>, EngineError> {
    let Some(take) = &entries.take else {
        for root in roots(context).iter().filter(|_| entries.changes()) {
            let catalog = context.session.of::<Catalogs>().remove(root);
            abandon(catalog, context)?;
        }
        return Ok(None);
    };
    let is_shared = take.host_part.is_some();
    let of_job = context.job.targets.first();
    let found = of_job.map(|name| catalog(context, name, is_shared)).transpose()?.flatten();
    let Some(catalog) = found else {
        return Err(context.unfit("has no tree whose items could be taken", "set its shape"));
    };
    let to = match &take.to {
        None => None,
        Some(name) => Some(catalog_of_other(context, name, is_shared)?),
    };
    let (path, catalog) = catalog;
    let mut chosen: Option<Arc<[u32]>> = None;
    for bytes in &take.parts {
        chosen = part_of(chosen.as_deref(), places.count(0), bytes.0, |nth| places.bytes_of(nth));
        if chosen.is_none() {
            let message = format!("takes a part of {bytes}, more than the files make up");
            return Err(context.unfit(message, "use a smaller part, or more or larger files"));
        }
    }
    if let Some(part) = take.host_part.filter(|part| part.of > 1) {
        chosen = Some(of_host(chosen.as_deref(), places.count(0), part));
    }
    if entries.visit.is_some() {
        catalog.positions();
    }
    let count = chosen.as_ref().map_or_else(|| places.count(0), |chosen| chosen.len() as u64);
    let picks = budget.picks(count, take.once);
    let shared = context.phase.of::<Cursors>();
    let cursor = match picks {
        // Workers with unlimited passes over a tree share one position.
        u64::MAX => {
            shared.entry((path.clone(), entries.over == Over::Directories)).or_default().clone()
        }
        _ => Arc::default(),
    };
    Ok(Some(Stock { path, catalog, to, places: places.clone(), chosen, cursor, picks }))
}

/// Verification of a job's files.
#[derive(Default)]
struct Verification {
    plan: Option<Verify>,
    /// Last writes to the blocks of the tree, if checks use them.
    tracked: Option<Tracked>,
    /// Journals of the job's tree and of the destination tree.
    journals: Trees<TreeJournal>,
    /// Blocks that a journal knows and that are missing in their files.
    lost: VerifyStats,
}

impl Verification {
    fn of(
        entries: &Entries,
        context: &mut JobContext<'_>,
        places: &Places,
        stock: Option<&Stock>,
    ) -> Result<Verification, EngineError> {
        let tracks = entries.verify.as_ref().filter(|verify| verify.generations);
        let kept = stock.and_then(|stock| stock.catalog.generations());
        if !kept.is_none_or(|kept| match tracks {
            Some(verify) => kept.interval() == verify.interval.0,
            None => !entries.has(Step::Write),
        }) {
            let message = "writes or verifies files otherwise than an earlier phase or job";
            return Err(context.unfit(message, "use generations of one interval for all of them"));
        }
        let mut found = Verification::default();
        let mut seed = context.session.of::<SharedBytes>().seed();
        let (journal, journal_to) = match tracks {
            Some(verify) => (verify.journal.as_ref(), verify.journal_to.as_ref()),
            None => (None, None),
        };
        let here = stock.map(|stock| (&stock.path, &stock.catalog));
        let other = stock.and_then(|stock| stock.to.as_ref());
        let trees = [(journal, here), (journal_to, other.map(|(path, catalog)| (path, catalog)))];
        for (at, (journal, tree)) in trees.into_iter().enumerate() {
            let Some((path, catalog)) = tree else { continue };
            if let Some(verify) = tracks.filter(|_| at == 0 || journal.is_some()) {
                let generations =
                    catalog.keep_generations(verify.interval.0, |nth| places.bytes_of(nth));
                if verify.times {
                    generations.keep_uses();
                }
            }
            let known = context.session.of::<SharedBytes>();
            let opened = match journal {
                Some(journal) => known.journal(journal, context.plan.seed).map(Some),
                // Another job uses the journal of the tree that this job changes.
                None => Ok(journaled::kept(catalog)),
            };
            let used = opened.and_then(|opened| {
                let Some(opened) = opened else { return Ok(None) };
                if at == 0 {
                    seed = lock(&opened).seed();
                }
                begin_use(opened, path, catalog, places, &mut found.lost).map(Some)
            });
            let used = used.map_err(|(message, remedy)| context.unfit(message, remedy))?;
            match at {
                0 => found.journals.own = used,
                _ => found.journals.other = used,
            }
        }
        let Some((verify, stock)) = tracks.zip(stock) else {
            found.plan = untracked(entries, context);
            return Ok(found);
        };
        // Blocks of an earlier run, or of another tree, never match by chance.
        let root = std::path::absolute(&stock.path).unwrap_or(stock.path.clone());
        let bytes = root.as_os_str().as_bytes().iter();
        let seed = bytes.fold(seed, |seed, byte| mix(seed, (*byte).into()));
        let Mismatches(mismatches) = context.phase.of::<Mismatches>().clone();
        mismatches.fetch_add(found.lost.mismatches(), Relaxed);
        if entries.moves_bytes() {
            found.plan = Some(verify.as_of_blocks(seed));
            found.tracked = Some(Tracked { catalog: stock.catalog.clone(), mismatches });
        }
        Ok(found)
    }
}

/// Verification of a job without tracked writes.
fn untracked(entries: &Entries, context: &JobContext<'_>) -> Option<Verify> {
    let unknown =
        if wrote_items(entries, context) { UnknownBlocks::Check } else { UnknownBlocks::ByHeader };
    let of_blocks = entries.verify.as_ref()?.as_of_blocks(context.plan.seed);
    Some(Verify { unknown, ..of_blocks })
}

/// True if the run wrote the files that a job reads, or if their format does not identify the
/// writer: their content is then known.
fn wrote_items(entries: &Entries, context: &JobContext<'_>) -> bool {
    if entries.verify.as_ref().is_some_and(|verify| verify.format != Format::Own) {
        return true;
    }
    let (job, phases) = (context.job, &context.plan.phases);
    let before = phases.iter().take_while(|phase| !phase.jobs.contains(job));
    let writes = |other: &Job| match &other.work {
        Work::Entries(entries) => entries.verify.is_some() && entries.has(Step::Write),
        _ => false,
    };
    let shares = |other: &Job| other.targets.iter().any(|target| job.targets.contains(target));
    writes(job) || before.flat_map(|phase| &phase.jobs).any(|other| writes(other) && shares(other))
}

/// Positions in the orders of files and directories of trees, shared by the jobs of a phase.
type Cursors = HashMap<(PathBuf, bool), Arc<AtomicU64>>;

/// Trees that other hosts change too; their tables are valid for one phase.
type Rescanned = HashSet<PathBuf>;

/// Path and table of a target; none if the target is no tree with a shape. A tree that hosts share
/// gets a new table in each phase.
fn catalog(
    context: &mut JobContext<'_>,
    name: &str,
    is_shared: bool,
) -> Result<Option<(PathBuf, Arc<Catalog>)>, EngineError> {
    let target = context.plan.targets.iter().find(|target| target.name == name);
    let Some((target, tree)) = target.and_then(|target| Some((target, target.tree.as_ref()?)))
    else {
        return Ok(None);
    };
    let is_old = is_shared && context.phase.of::<Rescanned>().insert(target.path.clone());
    let known = context.session.of::<Catalogs>();
    let kept = known.get(&target.path).filter(|kept| kept.is_of(tree) && !is_old).cloned();
    if let Some(kept) = kept {
        return Ok(Some((target.path.clone(), kept)));
    }
    let new = Arc::new(Catalog::scan(&target.path, tree));
    let other = known.insert(target.path.clone(), new.clone());
    abandon(other, context)?;
    Ok(Some((target.path.clone(), new)))
}

/// Forgets a journal's known files of a table that is invalid.
fn abandon(catalog: Option<Arc<Catalog>>, context: &JobContext<'_>) -> Result<(), EngineError> {
    let abandoned = catalog.map_or(Ok(()), |catalog| journaled::abandon(&catalog));
    abandoned.map_err(|(message, remedy)| context.unfit(message, remedy))
}

/// Path and table of the destination tree.
fn catalog_of_other(
    context: &mut JobContext<'_>,
    name: &str,
    is_shared: bool,
) -> Result<(PathBuf, Arc<Catalog>), EngineError> {
    let found = catalog(context, name, is_shared)?;
    found.ok_or_else(|| {
        let message = format!("copies or renames to {name}, which is no tree of a shape");
        context.unfit(message, "name the target of a tree of the same shape")
    })
}

/// Paths of a job's targets.
fn roots(context: &JobContext<'_>) -> Vec<PathBuf> {
    let known = context.plan.targets_by_name();
    let targets = context.job.targets.iter().filter_map(|name| known.get(name.as_str()));
    targets.map(|target| target.path.clone()).collect()
}

/// Syncs the filesystem of a path, or of its nearest existing parent.
fn sync_filesystem(path: &Path) -> io::Result<()> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for path in path.ancestors() {
        // The parent of a name without a slash.
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match File::open(path) {
            Ok(file) => return Ok(rustix::fs::syncfs(&file)?),
            Err(error) => failed = error,
        }
        if failed.kind() != io::ErrorKind::NotFound {
            break;
        }
    }
    Err(failed)
}

/// The names of a job.
fn places(
    entries: &Entries,
    left: Option<u64>,
    context: &mut JobContext<'_>,
) -> Result<Places, EngineError> {
    let (plan, job, ranks) = (context.plan, context.job, context.ranks);
    let known = plan.targets_by_name();
    let targets = job.targets.iter().filter_map(|name| known.get(name.as_str()));
    if entries.over.is_of_targets() {
        let names = Names::of(targets.copied());
        return Ok(Places::of_targets(names, entries.division, ranks));
    }
    if let Some((target, listing)) =
        targets.clone().find_map(|target| Some((target, target.listing.as_ref()?)))
    {
        let list = context.session.of::<Lists>().take(target);
        let list = list.map_err(|error| context.unfit(error.message, error.remedy))?;
        let list = list.ok_or_else(|| context.unfit("lists what is no tree", "set its kind"))?;
        let dealt = Dealt::of(entries, list, listing, plan.seed, ranks.ranks);
        let directories = entries.over == Over::Directories;
        let root = directories && !entries.makes_or_removes_directories();
        let things = ListThings { path: target.path.clone(), dealt, root };
        return Ok(Places::of_list(things, job.workers, ranks, job.rank_shift));
    }
    let trees = || targets.clone().filter(|target| target.kind == TargetKind::Tree);
    let Some(tree) = trees().find_map(|target| target.tree.clone()) else {
        return Err(context.unfit("has no tree", "give it a target of that kind"));
    };
    let paths = trees().map(|target| target.path.clone()).collect();
    let window = entries.window.as_ref().map(|window| {
        let all = tree.part(0, ranks.ranks).items();
        let enter = window.moves().then(|| entries.first.unwrap_or(all));
        WindowItems { left: left.unwrap_or(window.start), enter, rank_step: window.rank_step }
    });
    let things = TreeThings { window, ..TreeThings::of(entries, paths, tree, plan.seed) };
    if entries.take.is_some() {
        return Ok(Places::of_whole_tree(TreeThings { root: false, ..things }));
    }
    let division = entries.division;
    Ok(Places::of_tree(things, division, job.workers, context.ranks, job.rank_shift))
}

/// Maximum length of a read or write: the planned length, or the largest file; 0 if no step reads
/// or writes.
fn bytes_max(entries: &Entries, places: &Places) -> usize {
    let size = match (entries.moves_bytes(), entries.size_max()) {
        (false, _) => 0,
        (true, Some(size)) => size.0.min(places.bytes_max()),
        (true, None) => places.bytes_max(),
    };
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// True if a later step closes files that this step opens.
fn closes(entries: &Entries, step: Step) -> bool {
    entries.has(step) && entries.has(Step::Close)
}

/// Steps that a pace counts.
fn counted(steps: &[Step]) -> Ops {
    match steps {
        [] => Ops::ALL,
        steps => Ops::of(steps.iter().map(|step| Op(*step as u8))),
    }
}

/// A prepared job of entries, without its workers.
struct ReadyEntries {
    places: Arc<Places>,
    entries: Entries,
    budget: Budget,
    /// Table and rules of workers that take items by their state.
    stock: Option<Stock>,
    /// Maximum length of a read or write; 0 if no step reads or writes.
    bytes_max: usize,
    chosen: Chosen,
    /// Bytes of writes, if files are written.
    pool: Option<Pool>,
    /// Counts of the workers at the end of the time, if all workers continue to the highest count.
    furthest: Option<Arc<Furthest>>,
    /// Counts that phases have reached, with the targets, and operations per item.
    reached: (Reached, Vec<String>, u64),
    /// The job's share of a flow of its phase.
    flow: Option<JobFlow>,
    verification: Verification,
    /// Seed of the job's choices, and seed of the plan.
    seeds: [u64; 2],
    /// Paths whose filesystems are synced at the end.
    roots: Vec<PathBuf>,
}

impl JobWork for ReadyEntries {
    fn recorded(&self) -> Recorded {
        let entries = &self.entries;
        let recorded = Recorded::of(OPERATIONS, |row| match row.name {
            "item" => entries.has_spans(),
            "first_byte" => entries.has_spans() && entries.reads(),
            "open_to_close" => entries.window.is_some() && closes(entries, Step::Open),
            "create_to_close" => entries.window.is_some() && closes(entries, Step::Create),
            "read" => entries.reads(),
            "read_back" => entries.adds_reads(),
            "make_root" => entries.roots_apart && entries.has(Step::Mkdir),
            "remove_root" => entries.roots_apart && entries.has(Step::Rmdir),
            name => entries.all_steps().any(|step| step.name() == name),
        });
        Recorded { intended: entries.pace.is_rated(), ..recorded }
    }

    /// The name of a single step, or of the engine.
    fn engine_name(&self) -> &'static str {
        match (self.chosen.engine, self.entries.single()) {
            (EntriesEngine::Calls, Some(step)) => step.name(),
            (engine, _) => engine.name(),
        }
    }

    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError> {
        let bytes = self.bytes_max.next_multiple_of(PAGE_BYTES);
        let shape = self.chosen.shape(&self.entries);
        let what = format!("allocate {} buffers of {bytes} bytes", shape.depth);
        let mut memory = match self.bytes_max {
            0 => None,
            _ => Some(
                Mapping::new(bytes * shape.depth, Pages::Contiguous)
                    .map_err(EngineError::system(what))?,
            ),
        };
        let contents = self.contents(&seat, memory.as_mut());
        let buffers = memory.as_ref().map_or(Buffers::None, |all| Buffers::Host(all, bytes));
        let lanes = self.chosen.lanes(&self.entries);
        let (paths, seed) = (shared_paths(lanes as usize), seat.seed_for(ORDER));
        let names = WorkerNames::new(self.places.clone(), seat.rank);
        let calls = Calls::new(&self.entries, paths.clone());
        let longest = self.bytes_max as u64;
        let bounds = Bounds { budget: self.budget, bytes: longest };
        let mut items = Items::new(&self.entries, names, bounds, paths, seed);
        if let Some(stock) = &self.stock {
            items = items.taking(Taker::new(stock.clone(), &self.entries, seed));
        }
        let pacer = self.pacer(&seat);
        let mut end = match (self.chosen.engine, pacer) {
            (engine, None) if !engine.takes_many() && self.is_plain() => {
                worker::run_calls(seat, shape, &buffers, calls, Walk::new(items, contents))
            }
            (engine, pacer) => {
                let lanes = match (Lanes::new(items, lanes, contents), self.entries.reads_back()) {
                    (lanes, true) => lanes.reading_back(shape.depth),
                    (lanes, false) => lanes,
                };
                let lanes = match &self.stock {
                    Some(stock) => lanes.keeping(stock.catalogs(), self.logs(shape.depth)?),
                    None => lanes,
                };
                let counted = counted(&self.entries.paced_steps);
                let mut source: Box<dyn Source> = match pacer {
                    Some(pacer) => Box::new(Paced::new(lanes, pacer).counting(counted)),
                    None => Box::new(lanes),
                };
                let share = self.flow.as_ref().map(|flow| flow.share(longest));
                if let Some(limits) = Limits::new(shape.depth, None, &Stop::default(), share) {
                    source = Box::new(Limited::new(source, limits.counting(counted)));
                }
                if let Some(furthest) = &self.furthest {
                    source = Box::new(WornOut::new(source, furthest.clone()));
                }
                match engine {
                    EntriesEngine::Calls | EntriesEngine::Mmap => {
                        let mut calls = OneAtATime::new(calls);
                        worker::run_gated(seat, shape, &buffers, &mut calls, source)
                    }
                    EntriesEngine::IoUring => {
                        let mut ring = RingCalls::new(shape.depth, &self.entries, calls)?;
                        worker::run_gated(seat, shape, &buffers, &mut ring, source)
                    }
                    EntriesEngine::Libaio => {
                        let mut aio = AioCalls::new(shape.depth, calls)?;
                        worker::run_gated(seat, shape, &buffers, &mut aio, source)
                    }
                }
            }
        };
        end.features.extend(self.chosen.why.clone());
        Ok(end)
    }

    fn furthest(&self) -> Option<&Furthest> {
        self.furthest.as_deref()
    }

    fn finish(&self, measurement: &mut Measurement) {
        if self.verification.lost.blocks > 0 {
            let stats = measurement.verify.get_or_insert_default();
            stats.merge(self.verification.lost.clone());
        }
        measurement.wear_out = self.furthest.as_ref().and_then(|furthest| furthest.counts());
        let (reached, key, unit) = &self.reached;
        if let Some(ops) = self.furthest.as_ref().and_then(|furthest| furthest.ops()) {
            reached.note(key, ops / unit);
        }
        let moved = self.places.window().and_then(|window| Some((window.left, window.enter?)));
        if let Some((left, enter)) = moved {
            let ops = self.furthest.as_ref().and_then(|furthest| furthest.ops());
            reached.note_left(key, left + ops.map_or(enter, |ops| ops / unit));
        }
    }

    fn flushes_at_end(&self) -> bool {
        !self.roots.is_empty()
    }

    fn flush(&self) -> Failures {
        let mut failures = Failures::default();
        for root in &self.roots {
            if let Err(error) = sync_filesystem(root) {
                failures.add_flush(root, &error);
            }
        }
        failures
    }

    fn name_of(&self, handle: u32) -> String {
        self.places.path_of(handle)
    }

    fn verifies(&self) -> bool {
        self.verification.plan.is_some()
    }

    fn reads_back(&self) -> Option<bool> {
        self.entries.adds_reads().then_some(true)
    }
}

impl ReadyEntries {
    /// True if one item after another needs only its operations.
    fn is_plain(&self) -> bool {
        let is_free = self.furthest.is_none() && self.flow.is_none();
        is_free && self.verification.plan.is_none() && self.stock.is_none()
    }

    /// A worker's logs in the journals of its trees.
    fn logs(&self, depth: usize) -> Result<Option<TreeLogs>, EngineError> {
        let interval = self.verification.plan.as_ref().map_or(1, |plan| plan.interval.0.max(1));
        let blocks = (self.bytes_max as u64).div_ceil(interval) as usize + 1;
        TreeLogs::of(&self.verification.journals, depth * blocks * 2)
    }

    fn pacer(&self, seat: &Seat) -> Option<Pacer> {
        let random = Random::new(seat.seed_for(PACE), 0);
        Pacer::new(&self.entries.pace, Mix::READ, seat.rank, seat.workers, random)
    }

    /// Contents of a worker's files, with filled buffers; none if no file is written or checked.
    fn contents(&self, seat: &Seat, memory: Option<&mut Mapping>) -> Option<Contents> {
        let (memory, [seed, plan_seed]) = (memory?, self.seeds);
        let rank = seat.ranks.rank(seat.rank);
        let origin = Origin {
            seed,
            plan_seed,
            rank,
            reads: self.entries.reads() || self.verification.plan.is_some(),
            blocks: 1,
        };
        let pool = match (&self.pool, &self.verification.plan) {
            (Some(pool), _) => pool.clone(),
            (None, Some(_)) => pool(seed),
            (None, None) => return None,
        };
        let mut content = Content::new(self.entries.content.clone(), pool, &origin);
        content.prepare(memory.as_mut_slice());
        let checks =
            self.verification.plan.as_ref().is_some_and(|verify| verify.format == Format::Words);
        let is_of_words = checks || self.entries.content.fill == Fill::Words;
        let words = self.entries.content.words.filter(|_| is_of_words);
        let Verification { plan, tracked, .. } = &self.verification;
        let contents = Contents::new(content, plan.clone(), tracked.clone(), seat.rank);
        Some(contents.with_words(words))
    }
}
