//! Choice between single calls and io_uring, by a probe on temporary files.
//!
//! The faster engine depends on the filesystem and the device: io_uring moves blocking operations
//! to a kernel thread, which helps if they block and costs time if they do not.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use candor_engine::issue::{Io, OneAtATime};
use candor_engine::operation::{Buffer, Done, Outcome, Slot};
use candor_engine::worker::Shape;
use candor_plan::entries::{Entries, EntriesEngine, Over, Select, Step};
use candor_plan::rank::HostIndex;
use candor_plan::units::SizeSpec;
use candor_plan::{Bytes, Tree};

use crate::calls::Calls;
use crate::items::{Bounds, Budget, Items, shared_paths};
use crate::places::{Places, TreeThings, WorkerNames};
use crate::ring::RingCalls;
use crate::walk::Lanes;

/// Minimum number of files per engine.
const FILES_MIN: u64 = 64;
/// Maximum length of a probe's file: the probe measures operations on names.
const BYTES_MAX: usize = 64 << 10;
/// Minimum ratio of a job's items to items of the probe.
const SHARE_MIN: u64 = 100;

/// The engine of a job, and the reason.
pub struct Chosen {
    /// The engine.
    pub engine: EntriesEngine,
    /// Result of the probe as text; none if the plan names the engine.
    pub why: Option<String>,
}

impl Chosen {
    /// Number of items in progress per worker.
    pub fn lanes(&self, entries: &Entries) -> u32 {
        if self.engine.takes_many() { entries.lanes() } else { 1 }
    }

    /// Depth and batches of a worker.
    pub fn shape(&self, entries: &Entries) -> Shape {
        let depth = entries.depth.max(1) as usize;
        if self.engine.takes_many() {
            Shape { depth, batch: depth, reap: 1, reap_max: depth, ..Shape::ONE }
        } else {
            Shape::ONE
        }
    }
}

/// The plan's engine; otherwise single calls at depth 1, and the faster engine at higher depths.
pub fn choose(entries: &Entries, places: &Arc<Places>, bytes_max: usize) -> Chosen {
    if let Some(engine) = entries.engine {
        return Chosen { engine, why: None };
    }
    if entries.depth <= 1 {
        return Chosen { engine: EntriesEngine::Calls, why: None };
    }
    let tried = if entries.all_steps().any(|step| {
        let step_makes = matches!(step, Step::Create | Step::Link | Step::Symlink);
        step_makes || step.operation().destroys
    }) {
        Scratch::beside(&places.directory())
            .and_then(|scratch| each(|engine| scratch.try_engine(engine, entries, bytes_max)))
            .map_err(|error| error.to_string())
    } else {
        by_own_items(entries, places, bytes_max)
    };
    match tried {
        Ok([calls, ring]) => {
            let us = |time: Duration| time.as_nanos() as f64 / 1e3;
            let (calls_us, ring_us) = (us(calls), us(ring));
            let depth = entries.depth;
            let why = format!(
                "probe: {calls_us:.1} us per item by calls, {ring_us:.1} by io_uring, {depth} deep"
            );
            let engine = if ring < calls { EntriesEngine::IoUring } else { EntriesEngine::Calls };
            Chosen { engine, why: Some(why) }
        }
        // The plan requests the depth, and no measurement contradicts it.
        Err(why) => {
            Chosen { engine: EntriesEngine::IoUring, why: Some(format!("no probe: {why}")) }
        }
    }
}

/// Time per item of both engines.
fn each<E>(
    mut time_of: impl FnMut(EntriesEngine) -> Result<Duration, E>,
) -> Result<[Duration; 2], E> {
    Ok([time_of(EntriesEngine::Calls)?, time_of(EntriesEngine::IoUring)?])
}

/// Time per item of both engines, on random items of the job; the probe changes nothing.
fn by_own_items(
    entries: &Entries,
    places: &Arc<Places>,
    bytes_max: usize,
) -> Result<[Duration; 2], String> {
    let files = files(entries);
    let count = places.count(0);
    if count < files * SHARE_MIN {
        return Err(format!("{count} items are few; it would warm the caches for the work"));
    }
    let drawn = Entries { select: Select::Random, ..entries.clone() };
    each(|engine| Trial { engine, entries: &drawn, bytes_max, files }.time_per_item(places))
        .map_err(|error| error.to_string())
}

/// Number of files per engine.
fn files(entries: &Entries) -> u64 {
    FILES_MIN.max(4 * u64::from(entries.depth))
}

/// A trial of an engine on the items of a worker.
struct Trial<'a> {
    engine: EntriesEngine,
    entries: &'a Entries,
    bytes_max: usize,
    files: u64,
}

impl Trial<'_> {
    fn time_per_item(&self, places: &Arc<Places>) -> io::Result<Duration> {
        let entries = self.entries;
        let lanes = if self.engine.takes_many() { entries.lanes() } else { 1 };
        let depth = if lanes == 1 { 1 } else { entries.depth as usize };
        let paths = shared_paths(lanes as usize);
        let names = WorkerNames::new(places.clone(), 0);
        let calls = Calls::new(entries, paths.clone());
        let seed = self.engine as u64;
        let bytes = self.bytes_max as u64;
        let steps = entries.lists().map(<[Step]>::len).max().unwrap_or(1) as u64;
        let budget = Budget::of_trial(self.files * steps);
        let mut items = Items::new(entries, names, Bounds { budget, bytes }, paths, seed);
        items.begin();
        let memory =
            Mapping::new(self.bytes_max.next_multiple_of(PAGE_BYTES) * depth, Pages::Ordinary)?;
        let source = Lanes::new(items, lanes, None);
        let time = match self.engine {
            EntriesEngine::IoUring => {
                let ring = RingCalls::new(depth, entries, calls);
                let mut ring = ring.map_err(|error| io::Error::other(error.to_string()))?;
                drive(&mut ring, source, &memory, depth)
            }
            _ => drive(&mut OneAtATime::new(calls), source, &memory, depth),
        };
        time.map(|time| time / self.files as u32)
    }
}

/// Time for all operations of a source with an engine.
///
/// # Errors
/// The first operation that failed.
fn drive(
    engine: &mut impl Io,
    mut source: Lanes,
    memory: &Mapping,
    depth: usize,
) -> io::Result<Duration> {
    let bytes = memory.len() / depth;
    let slot = |index| match bytes {
        0 => Slot::empty(Buffer::None),
        _ => Slot::empty(Buffer::Host(memory.part(index, bytes))),
    };
    let mut slots: Vec<Slot> = (0..depth).map(slot).collect();
    let mut free: Vec<u32> = (0..depth as u32).collect();
    let (mut batch, mut done) = (Vec::new(), Done::new(depth, depth));
    let (mut in_flight, begin) = (0, Instant::now());
    loop {
        while let Some(index) = free.pop() {
            if !source.draw(&mut slots[index as usize]) {
                free.push(index);
                break;
            }
            batch.push(index);
        }
        in_flight += batch.len();
        if in_flight == 0 {
            return Ok(begin.elapsed());
        }
        engine.queue(&slots, &batch);
        batch.clear();
        engine.turn(&slots, 1, None, &mut done);
        for completion in done.as_slice() {
            let slot = &slots[completion.slot as usize];
            if let Outcome::Failed(failure) = completion.outcome() {
                return Err(io::Error::from_raw_os_error(failure.errno()));
            }
            source.ended(slot);
            free.push(completion.slot);
        }
        in_flight -= done.len();
        done.clear();
    }
}

/// A temporary directory for the files of a probe.
struct Scratch(PathBuf);

impl Scratch {
    /// Creates a directory in `directory`, or in its nearest existing parent.
    fn beside(directory: &Path) -> io::Result<Scratch> {
        let there = directory.ancestors().find(|above| above.is_dir());
        let there = there.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let path = there.join(format!(".candor-probe.{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Scratch(path))
    }

    /// Time per item of an engine, on temporary files.
    fn try_engine(
        &self,
        engine: EntriesEngine,
        entries: &Entries,
        bytes_max: usize,
    ) -> io::Result<Duration> {
        let path = self.0.join(engine.name());
        fs::create_dir(&path)?;
        let (files, bytes_max) = (files(entries), bytes_max.min(BYTES_MAX));
        let file_size = SizeSpec::Fixed(Bytes(bytes_max as u64));
        let tree = Tree { items: files, file_size, ..Tree::default() };
        let entries = Entries {
            over: Over::Items,
            select: Select::Sequential,
            first: None,
            ..entries.clone()
        };
        let things = TreeThings::of(&entries, vec![path], tree, 0);
        let alone = HostIndex::ALONE.ranks(1);
        let places = Arc::new(Places::of_tree(things, entries.division, 1, alone, 0));
        if entries.needs_names() {
            for nth in 0..files {
                let bytes = if entries.has(Step::Read) { bytes_max } else { 0 };
                let path = candor_plan::path_of(&places.path_of(places.handle(0, nth)));
                fs::write(path, vec![0; bytes])?;
            }
        }
        Trial { engine, entries: &entries, bytes_max, files }.time_per_item(&places)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The name contains the number of this process: only this probe uses the directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
