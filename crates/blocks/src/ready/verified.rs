//! Verified blocks of a job: their maps, and the last writes to them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use candor_engine::EngineError;
use candor_engine::family::JobContext;
use candor_engine::operation::{Buffer, Slot};
use candor_engine::random::mix;
use candor_plan::blocks::{Access, Blocks, Engine, Format, LastWrite, Verify, Written};
use candor_plan::rank::Seat as FileSeat;
use candor_plan::units::Direction;
use candor_plan::{Bytes, Job};

use super::{ReadyBlocks, gcd};
use crate::known::{Known, Scheme};
use crate::slot::BlocksSlot;
use crate::sources::verified::Logged;
use crate::stream::Budget;
use crate::stream::region::Region;
use crate::targets::files::{Files, OpenFile};
use crate::verifier::last_numbers::LastNumbers;
use crate::verifier::{SharedBlocks, Verifier};
use candor_bytes::journal::{self, JournalUse, Refusal, SharedJournal};
use candor_bytes::session::SharedBytes;
use candor_bytes::verify::Map;

/// Minimum distance between two entries of a map: below a sector, the map needs too much memory.
const STEP_MIN: u64 = 512;
/// Maximum number of blocks of a file in a map: 64 GiB of memory.
const BLOCKS_MAX: u64 = 1 << 34;

/// True once a job of the phase has been prepared whose plan verifies blocks.
#[derive(Default)]
struct PhaseBegun(bool);

/// True for a job that verifies blocks.
fn verifies(job: &Job) -> bool {
    job.blocks().is_some_and(|blocks| blocks.verify.is_some())
}

/// Maps that dry runs of this phase count in, by their addresses.
pub(super) type DryRuns = HashSet<usize>;

/// The journal of a job, if it has one; the journal's seed is the seed in the job's headers. If
/// only this session knows which blocks were written, the headers have the session's seed.
///
/// # Errors
/// The journal cannot be opened.
pub(super) fn journal(
    blocks: &mut Blocks,
    shared: &mut SharedBytes,
    plan_seed: u64,
) -> Result<Option<SharedJournal>, Refusal> {
    let Some(verify) = &mut blocks.verify else { return Ok(None) };
    let given = verify.seed.unwrap_or(plan_seed);
    let Some(plan) = &verify.journal else {
        let is_own = verify.seed.is_none() && verify.known_only();
        verify.seed = Some(if is_own { shared.seed() } else { given });
        return Ok(None);
    };
    let journal = shared.journal(plan, given)?;
    verify.seed = Some(journal::lock(&journal).seed());
    Ok(Some(journal))
}

/// Seed in the headers of each file: the same in all files, unless only known blocks are checked.
/// Then each file has a separate seed, so that a block of another file is detected.
pub(super) fn header_seeds(blocks: &Blocks, files: &Files) -> Arc<[u64]> {
    let Some(verify) = &blocks.verify else { return Arc::default() };
    let seed = verify.seed.unwrap_or_default();
    if !verify.known_only() {
        return vec![seed; files.all().len()].into();
    }
    let seeds = files.all().iter().map(|file| {
        let path = std::path::absolute(&file.path).unwrap_or(file.path.clone());
        path.as_os_str().as_encoded_bytes().iter().fold(seed, |n, b| mix(n, u64::from(*b)))
    });
    seeds.collect()
}

impl ReadyBlocks {
    /// Begins to use a journal, and adds the job's files and their known blocks.
    ///
    /// # Errors
    /// Blocks that do not fit the journal, or the kernel's.
    pub(super) fn use_journal(&self, journal: SharedJournal) -> Result<JournalUse, Refusal> {
        let mut open = journal::lock(&journal);
        let files = self.files.all().iter().zip(&self.maps);
        let numbers = files.map(|(file, map)| open.adopt(&file.path, 0, map));
        let numbers = numbers.collect::<Result<_, _>>()?;
        open.begin_use()?;
        drop(open);
        Ok(JournalUse { journal, numbers })
    }

    /// A worker's log; none without a journal, or if the journal logs no writes.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn logged(&self) -> Result<Option<Logged>, EngineError> {
        let Some(JournalUse { journal, numbers }) = &self.journal else { return Ok(None) };
        let interval = self.blocks.verify.as_ref().map_or(1, |verify| verify.interval.0.max(1));
        let blocks = u64::from(self.length_max()).div_ceil(interval) + 1;
        let room = self.depth() * blocks as usize * 2;
        let mut journal = journal::lock(journal);
        let log = journal.worker_log(room);
        let log = log.map_err(EngineError::file("make a log of", journal.directory()))?;
        Ok(log.map(|log| Logged::new(log, numbers.clone(), journal.pending())))
    }

    /// Maps of the verified blocks of each file; none without verification. Other jobs' maps record
    /// the bytes that this job may write.
    pub(super) fn verified_maps(&self, context: &mut JobContext<'_>) -> Vec<Arc<Map>> {
        let mut jobs = context.plan.phases.iter().flat_map(|phase| &phase.jobs);
        if self.blocks.verify.is_none() && !jobs.any(verifies) {
            return Vec::new();
        }
        let is_first = !std::mem::replace(&mut context.phase.of::<PhaseBegun>().0, true);
        let known = context.session.of::<Known>();
        if is_first {
            known.begin_phase();
        }
        let maps: Vec<Arc<Map>> = match &self.blocks.verify {
            None => Vec::new(),
            Some(verify) => {
                let scheme = Scheme::new(verify, &self.blocks.content);
                let scheme = scheme.of_file(self.verified_step(), 0, 0);
                let files = 0..self.files.all().len();
                files.map(|file| self.map_of(file, verify, &scheme, context)).collect()
            }
        };
        let writes = self.blocks.mix.write > 0 || self.blocks.mix.trim > 0;
        if !writes || self.blocks.engine == Engine::Null {
            return maps;
        }
        let (known, truncates) = (context.session.of::<Known>(), self.blocks.truncate_at_open);
        for (nth, file) in self.files.all().iter().enumerate() {
            let bytes = if truncates { 0..u64::MAX } else { self.bytes_of(file) };
            if let Some(own) = maps.get(nth).filter(|_| truncates) {
                own.forget(bytes.clone());
            }
            known.writes(&file.path, bytes, maps.get(nth));
        }
        maps
    }

    /// Bytes of a file that the job may write.
    fn bytes_of(&self, file: &OpenFile) -> Range<u64> {
        if self.trace.is_some() {
            return file.base..file.size;
        }
        let all = Region::new(&self.blocks, file.extent(), FileSeat::ALONE);
        all.start()..all.limit()
    }

    fn map_of(
        &self,
        file: usize,
        verify: &Verify,
        scheme: &Scheme,
        context: &mut JobContext<'_>,
    ) -> Arc<Map> {
        let seed = self.header_seeds.get(file).copied().unwrap_or_default();
        let file = &self.files.all()[file];
        let scheme = scheme.of_file(scheme.step, self.verified_from(file), seed);
        // Jobs that use different lengths of a file share its map.
        let targets = context.plan.targets.iter().filter(|target| target.path == file.path);
        let sizes = targets.filter_map(|target| target.size).map(|size| size.0);
        let size = file.reach_of(sizes.fold(file.size, u64::max));
        let known = context.session.of::<Known>();
        let map = known.map(&file.path, size, scheme, verify);
        if verify.times {
            map.keep_uses();
        }
        map
    }

    /// Checks that the map of verified blocks, one entry per possible offset, is not too large.
    pub(super) fn check_verify(&self) -> Result<(), (String, &'static str)> {
        let Some(verify) = &self.blocks.verify else { return Ok(()) };
        let interval = verify.interval.0;
        let counts = verify.dry_run.is_some() && verify.written.is_none();
        if counts && (0..self.job.workers).any(|rank| self.is_endless(rank)) {
            let message = "only time ends these writes, so a dry run of them has no end".into();
            return Err((message, "bound them by passes, bytes or operations, or remove dry_run"));
        }
        let step = self.verified_step();
        if let Some(file) = self.files.all().iter().find(|file| file.reach() / step > BLOCKS_MAX) {
            let of = Bytes(file.reach());
            let message =
                format!("to verify {of} in blocks of {} takes too much memory", Bytes(interval));
            return Err((message, "verify larger blocks, or less"));
        }
        if verify.journal.is_some() && step != interval {
            let message = format!(
                "operations begin at multiples of {}, and a journal knows whole blocks of {}",
                Bytes(step),
                Bytes(interval)
            );
            return Err((message, "align them to the verified interval, or make that smaller"));
        }
        if step >= interval.min(STEP_MIN) {
            return Ok(());
        }
        let at = self.boundaries().find(|at| at % interval != 0).unwrap_or(0);
        let interval = Bytes(interval);
        let message = format!("{} is no multiple of the {interval} verified", Bytes(at));
        Err((message, "start and leave out whole verified blocks"))
    }

    /// Greatest common divisor of the start and end offsets of all operations, relative to the
    /// first offset of their file, and of the verified interval.
    fn verified_step(&self) -> u64 {
        let interval = self.blocks.verify.as_ref().map_or(1, |verify| verify.interval.0.max(1));
        self.boundaries().fold(interval, gcd)
    }

    /// First offset of a file, modulo the interval. Headers in other tools' formats begin with
    /// operations; headers in candor's format begin at multiples of the interval.
    fn verified_from(&self, file: &OpenFile) -> u64 {
        match &self.blocks.verify {
            Some(verify) if verify.format != Format::Own && self.trace.is_none() => {
                let all = FileSeat::ALONE;
                let start = Region::new(&self.blocks, file.extent(), all).offset(0);
                start % verify.interval.0.max(1)
            }
            _ => 0,
        }
    }

    /// Offsets and lengths that determine the step: the start of the work, its gaps, and the steps
    /// of a trace.
    fn boundaries(&self) -> impl Iterator<Item = u64> {
        let hole = match self.blocks.access {
            Access::Holes { hole } => hole.0,
            Access::Back { step } => step.0,
            _ => 0,
        };
        let traced = self.trace.iter().flat_map(|trace| trace.steps());
        let traced = traced.flat_map(|step| [step.offset, u64::from(step.length)]);
        let starts =
            self.shares().map(move |(file, _, region)| region.offset(0) - self.verified_from(file));
        starts.chain(traced).chain([hole])
    }

    pub(super) fn verifier(&self, rank: u32) -> Option<Verifier> {
        let verify = self.blocks.verify.clone()?;
        let content = self.blocks.content.clone();
        let last = self.last.get(rank as usize).cloned().flatten();
        let shared = SharedBlocks {
            maps: self.maps.clone(),
            seeds: self.header_seeds.clone(),
            mismatches: self.mismatches.clone(),
        };
        let words = self.words(rank).filter(|_| verify.format == Format::Words);
        let verifier = Verifier::new(verify, content, shared, self.clock, rank);
        let verifier = verifier.with_last(last);
        Some(words.into_iter().fold(verifier, Verifier::with_words))
    }

    /// Iterates over the writes of each worker without I/O. Blocks that this session has written
    /// need no dry run.
    pub(super) fn dry_runs(&self, counted: &mut DryRuns) -> Vec<Option<Arc<LastNumbers>>> {
        let Some((verify, by)) = self.blocks.verify.as_ref().and_then(|v| Some((v, v.dry_run?)))
        else {
            return Vec::new();
        };
        if self.maps.iter().any(|map| map.is_written()) {
            return Vec::new();
        }
        for map in &self.maps {
            if counted.insert(Arc::as_ptr(map) as usize) {
                map.clear();
            }
        }
        (0..self.job.workers).map(|rank| self.dry_run(verify, by, rank).map(Arc::new)).collect()
    }

    /// True if only time ends a worker's stream.
    fn is_endless(&self, rank: u32) -> bool {
        let budget = self.budget(rank);
        [budget.ops, budget.bytes, budget.passes].iter().all(|bound| *bound == u64::MAX)
    }

    /// Iterates over the writes of a worker, or over the first pass of a worker that only reads.
    fn dry_run(&self, verify: &Verify, by: LastWrite, rank: u32) -> Option<LastNumbers> {
        let maps = self.maps.iter().map(|map| &**map);
        let mut numbers = by.by_number().then(|| LastNumbers::new(maps));
        let op = if self.blocks.mix.write > 0 { Direction::Write } else { Direction::Read };
        let mut stream = self.stream(rank);
        let (mut budget, mut rounds) = (self.budget(rank), self.rounds());
        if op == Direction::Read {
            budget.passes = budget.passes.min(1);
        }
        if verify.written.is_some() {
            // Continue with passes until the known number of writes is reached.
            let pass_bytes = budget.pass_bytes;
            budget = Budget { passes: 1, at_least: u64::MAX, pass_bytes, ..Budget::NONE };
            rounds = 1;
        }
        let mut slot = Slot::empty(Buffer::None);
        let mut last_ones = HashSet::new();
        let mut number = 0;
        for _ in 0..rounds {
            stream.bound(budget);
            if budget.bytes == 0 {
                break;
            }
            while stream.next(&mut slot) {
                if slot.direction() != Some(op) {
                    continue;
                }
                let Some(sure) = is_written(verify.written.as_ref(), number, &slot, &mut last_ones)
                else {
                    return numbers;
                };
                let map = &self.maps[slot.handle as usize];
                map.count(slot.offset, slot.length, sure);
                if let Some(numbers) = &mut numbers {
                    numbers.count(map, &slot, number, sure);
                }
                number += 1;
            }
            budget = budget.less(stream.given_bytes());
        }
        numbers
    }
}

/// True if a write with `before` earlier writes is in the file; none beyond the end of writing.
/// False for a write among the last ones that may be unfinished, or whose block was written twice.
fn is_written(
    written: Option<&Written>,
    before: u64,
    slot: &Slot,
    last_ones: &mut HashSet<(u32, u64)>,
) -> Option<bool> {
    let Some(written) = written else { return Some(true) };
    if before >= written.ops {
        return None;
    }
    let is_alone =
        before + written.window < written.ops || last_ones.insert((slot.handle, slot.offset));
    Some(is_alone && written.holds(before, slot.handle, slot.offset))
}
