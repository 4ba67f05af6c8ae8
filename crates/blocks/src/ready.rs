//! Preparation of a job of blocks, up to workers that wait for the barrier.

mod buffers;
mod chain;
mod engines;
mod gaps;
mod units;
mod verified;

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use candor_engine::clock::Clock;
use candor_engine::counters::Recorded;
use candor_engine::family::{Family, JobContext, JobWork, Seat};
use candor_engine::gates::flow::{FlowShare, Flows, JobFlow};
use candor_engine::gates::pace::Pacer;
use candor_engine::gates::wear_out::Furthest;
use candor_engine::host::memory::{PAGE_BYTES, Pages};
use candor_engine::host::thread_attributes;
use candor_engine::operation::Buffer;
use candor_engine::random::{Random, mix};
use candor_engine::worker::Shape;
use candor_engine::worker_end::WorkerEnd;
use candor_engine::{EngineError, Failures};
use candor_plan::blocks::{
    Access, Blocks, Engine, FileOrder, Floor, IoPriority, Opening, Pace, Share, Think, Verify,
};
use candor_plan::rank::{Ranks, Seat as FileSeat};
use candor_plan::trace::{Action, Trace};
use candor_plan::units::{Direction, PerDirection};
use candor_plan::work::{BlocksOp, Figure};
use candor_plan::{Bytes, Job, LogPlan, Measure, Nanos, PathText, Stop};
use candor_record::{EngineUsed, Measurement};

use crate::engines::Context;
use crate::engines::{
    http::Objects,
    locked::{Held, Locks},
    uring,
};
use crate::known::Known;
use crate::sources::commits::counts_commits;
use crate::sources::opened::StageGates;
use crate::sources::per_target::Targets;
use crate::sources::prioritised;
use crate::stream::offsets::{Offsets, Shapes, fixed_size};
use crate::stream::precondition::Precondition;
use crate::stream::region::{Extent, Region, Span};
use crate::stream::{self, Budget, Stream, trace};
use crate::targets::files::{Files, OpenFile};
use crate::targets::passthrough;
use crate::targets::zones::{self, ZoneCursor};
use crate::verifier::last_numbers::LastNumbers;
use candor_bytes::content::{self, Pool};
use candor_bytes::journal::JournalUse;
use candor_bytes::session::{Mismatches, SharedBytes};
use candor_bytes::verify::Map;

/// Separates the order within segments from other choices of a plan's seed.
const SEGMENTS: u64 = 0x7365_676d_656e_7473;

/// The part of a file that lies in a span; all of it without one.
fn part(span: Option<&Span>, file: u32, whole: Extent) -> Extent {
    span.map_or(whole, |span| span.part(file, whole))
}

/// The family of blocks.
pub struct BlocksFamily;

impl Family for BlocksFamily {
    fn prepare(&self, context: &mut JobContext<'_>) -> Result<Box<dyn JobWork>, EngineError> {
        match context.job.blocks() {
            Some(blocks) => Ok(Box::new(ReadyBlocks::new(blocks, context)?)),
            None => Err(context.unfit("has no blocks", "give it blocks")),
        }
    }
}

/// A job of blocks, prepared but for its workers.
pub struct ReadyBlocks {
    job: Job,
    ranks: Ranks,
    blocks: Blocks,
    stop: Stop,
    files: Arc<Files>,
    flow: Option<JobFlow>,
    /// Counts of the workers when time is up, where all go on to the furthest one's.
    furthest: Option<Arc<Furthest>>,
    /// Gates between the stages of the workers, where they wait for each other.
    stage_gates: Option<Arc<StageGates>>,
    held: Option<Held>,
    clock: Clock,
    seed: u64,
    plan_seed: u64,
    pool: Option<Pool>,
    maps: Vec<Arc<Map>>,
    /// Seed in the headers of each file.
    header_seeds: Arc<[u64]>,
    /// Blocks that did not match, over all jobs that count them.
    mismatches: Arc<AtomicU64>,
    /// Use of the journal, where there is one.
    journal: Option<JournalUse>,
    /// Last writes by number, of each worker, where a dry run has counted them.
    last: Vec<Option<Arc<LastNumbers>>>,
    zones: Vec<Arc<zones::Map>>,
    trace: Option<Arc<Trace>>,
    /// Targets that are counted apart, where they are.
    targets: Option<Arc<Targets>>,
    /// True where trims are queued like other operations.
    queues_trims: bool,
    /// Objects that hold the bytes of the files, instead of files.
    objects: Option<Objects>,
    shapes: Shapes,
}

impl ReadyBlocks {
    /// Opens the files, reads the trace, and finds the maps and zones of the files.
    ///
    /// # Errors
    /// A file that cannot be opened or does not fit the work.
    fn new(blocks: &Blocks, context: &mut JobContext<'_>) -> Result<ReadyBlocks, EngineError> {
        let (plan, job, mut blocks) = (context.plan, context.job, blocks.clone());
        let open = || Files::open(plan, job, &blocks, context.stop);
        let files = Arc::new(thread_attributes::as_user(&job.threads, open)?);
        let trace = match &blocks.access {
            Access::Trace(given) => Some(trace::load(given)),
            _ => None,
        };
        let trace =
            trace.transpose().map_err(|why| context.unfit(why, "correct the trace file"))?;
        let known = context.session.of::<Known>();
        let zones = blocks.zones.iter();
        let zones = zones.flat_map(|plan| files.all().iter().map(move |file| (file, plan)));
        let zones = zones.map(|(file, plan)| known.zones(file, plan)).collect::<Result<_, _>>();
        let shared = context.session.of::<SharedBytes>();
        let journal = verified::journal(&mut blocks, shared, plan.seed);
        let Mismatches(mismatches) = context.phase.of::<Mismatches>().clone();
        let zones = zones.map_err(|(message, remedy)| context.unfit(message, remedy))?;
        let journal = journal.map_err(|(message, remedy)| context.unfit(message, remedy))?;
        // The seed of the headers makes the bytes of their blocks again.
        let of_headers = blocks.verify.as_ref().and_then(|verify| verify.seed);
        let pool = || content::pool(of_headers.unwrap_or(context.seed));
        let flows = context.phase.of::<Flows>();
        let flow = blocks.pace.flow.map(|flow| JobFlow::join(flows, flow));
        let targets = blocks.measure.per_target.then(|| Targets::new(plan, job, &files));
        let targets = targets.transpose();
        let targets = targets.map_err(|(message, remedy)| context.unfit(message, remedy))?;
        let objects = Objects::of(plan, job, &blocks);
        let objects = objects.map_err(|why| context.unfit(why.message, &why.remedy))?;
        let mut ready = ReadyBlocks {
            targets: targets.map(Arc::new),
            shapes: Shapes::new(files.all().iter().map(OpenFile::extent)),
            job: job.clone(),
            ranks: context.ranks,
            stop: context.stop.clone(),
            flow,
            furthest: Furthest::of(context.stop, context.ranks, 1),
            stage_gates: (blocks.opening == Opening::InStages)
                .then(|| Arc::new(StageGates::new(job.workers))),
            held: Held::join(blocks.lock, &files, context.phase.of::<Locks>()),
            clock: context.clock,
            seed: context.seed,
            plan_seed: plan.seed,
            pool: (blocks.mix.write > 0 && blocks.engine.writes_bytes()).then(pool),
            maps: Vec::new(),
            header_seeds: verified::header_seeds(&blocks, &files),
            mismatches,
            journal: None,
            last: Vec::new(),
            zones,
            trace,
            queues_trims: objects.is_some() || uring::queues_trims(&files, &blocks),
            objects,
            files,
            blocks,
        };
        ready.check_fit().map_err(|(message, remedy)| context.unfit(message, remedy))?;
        ready.maps = ready.verified_maps(context);
        let used = journal.map(|journal| ready.use_journal(journal)).transpose();
        ready.journal = used.map_err(|(message, remedy)| context.unfit(message, remedy))?;
        ready.last = ready.dry_runs(context.phase.of());
        Ok(ready)
    }

    /// Checks that the job fits its files, which the plan alone does not show.
    fn check_fit(&self) -> Result<(), (String, &'static str)> {
        self.check_sizes()?;
        self.check_direct()?;
        self.check_commands()?;
        self.check_trace()?;
        self.check_zones()?;
        self.check_verify()
    }

    /// Checks that the trace lies within the files. Its directions must be in the mix, for which
    /// files are opened and buffers filled.
    fn check_trace(&self) -> Result<(), (String, &'static str)> {
        let Some(trace) = &self.trace else { return Ok(()) };
        let sizes: Vec<u64> = self.files.all().iter().map(|file| file.size).collect();
        trace::check_fit(trace, &sizes).map_err(|why| (why, "set a larger size, or correct it"))?;
        let ops = trace.steps().iter().filter_map(|step| step.action.op());
        match ops.into_iter().find(|op| self.blocks.mix.of(*op) == 0) {
            None => Ok(()),
            Some(op) => {
                let message = format!("the trace has {}s, but the mix has none", op.name());
                Err((message, "give each direction of the trace a share of the mix"))
            }
        }
    }

    /// Checks that every worker has a zone in each of its files, and that every operation fits
    /// there.
    fn check_zones(&self) -> Result<(), (String, &'static str)> {
        for (file, map) in self.files.all().iter().zip(&self.zones) {
            let shown = file.path.text();
            if self.zones_of(0, file, map).is_empty() {
                let message =
                    format!("no whole zone of {} of `{shown}` is in range", Bytes(map.length()));
                return Err((message, "set a larger size, or shorter zones"));
            }
            let (least, most) = (Bytes(map.least_capacity()), self.blocks.size.write.max());
            if self.blocks.mix.write > 0 && least < most {
                let message = format!("a zone of `{shown}` holds {least}, a write {most}");
                return Err((message, "make zones longer, or sizes smaller"));
            }
        }
        Ok(())
    }

    /// Zones of a file that a worker may use.
    fn zones_of(&self, rank: u32, file: &OpenFile, map: &zones::Map) -> Range<u32> {
        let region = Region::new(&self.blocks, file.extent(), self.seat(rank).1);
        map.between(region.start(), region.limit())
    }

    fn zone_cursor(&self, rank: u32) -> Option<ZoneCursor> {
        let each = self.files.all().iter().zip(&self.zones);
        let ranges = each.map(|(file, map)| self.zones_of(rank, file, map)).collect();
        ZoneCursor::new(&self.blocks, &self.stop, &self.files, &self.zones, ranges)
    }

    /// Every worker's share of every size of files, with an example of such a file.
    fn shares(&self) -> impl Iterator<Item = (&OpenFile, FileSeat, Region)> {
        let files = self.files.all();
        let mut examples = vec![0; self.shapes.extents.len()];
        for index in (0..files.len()).rev() {
            examples[self.shapes.index(index as u32)] = index;
        }
        (0..self.job.workers).flat_map(move |worker| {
            let (own, rank) = self.seat(worker);
            let span = self.span(worker);
            let one = || vec![own.start as usize; own.len().min(1)];
            let indices = match &span {
                Some(span) => span.files.clone().map(|file| file as usize).collect(),
                None if own.len() == files.len() => examples.clone(),
                None => one(),
            };
            indices.into_iter().map(move |index| {
                let file = &files[index];
                let extent = part(span.as_ref(), index as u32, file.extent());
                (file, rank, Region::new(&self.blocks, extent, rank))
            })
        })
    }

    /// Checks that every worker's share holds at least one operation of each direction.
    fn check_sizes(&self) -> Result<(), (String, &'static str)> {
        if self.trace.is_some() {
            return Ok(());
        }
        let length = self.length_needed();
        // Reads of so many operations may go less far than their share.
        let ends_before = self.stop.ops.is_some() && self.blocks.mix.write == 0;
        for (open, rank, region) in self.shares() {
            let hits = match self.blocks.access {
                Access::HitArea { bytes, .. } => bytes.0,
                _ => 0,
            };
            let holds = region.holds(if self.blocks.short_last { 1 } else { length });
            let holds = holds && region.length() >= hits.saturating_add(u64::from(length));
            if !holds || (region.end() > region.limit() && !ends_before) {
                let message = format!(
                    "`{}` has {} in its range; worker {} of {} takes {} of it up to {}, in \
                     operations of {}",
                    open.path.text(),
                    Bytes(region.limit().saturating_sub(region.start())),
                    rank.seat + 1,
                    rank.seats,
                    Bytes(region.length()),
                    Bytes(region.end()),
                    Bytes(u64::from(length)),
                );
                return Err((message, "set a larger size, or smaller operations"));
            }
            self.check_regions(open, &region, length)?;
            let end = self.blocks.listed_end().map_or(0, |end| end.0);
            if end > region.length() {
                let (path, length) = (open.path.text(), Bytes(region.length()));
                let message = format!(
                    "the list names a block that ends at {}, and `{path}` has {length}",
                    Bytes(end)
                );
                return Err((message, "name lower blocks, or set a larger size"));
            }
        }
        Ok(())
    }

    /// Checks that each region of a preconditioning pass holds a block.
    fn check_regions(
        &self,
        file: &OpenFile,
        region: &Region,
        length: u32,
    ) -> Result<(), (String, &'static str)> {
        let Access::Precondition { regions, spare_percent, .. } = self.blocks.access else {
            return Ok(());
        };
        let step = region.step(length, self.blocks.alignment_max().0);
        let blocks = (region.length() - u64::from(length)) / step + 1;
        if Precondition::region_blocks(blocks, regions, spare_percent) > 0 {
            return Ok(());
        }
        let path = file.path.text();
        let message =
            format!("{regions} regions are more than the {blocks} blocks of `{path}` fill");
        Err((message, "set fewer regions, smaller blocks or a larger size"))
    }

    /// Length that must fit everywhere: the greatest of the directions' least lengths.
    fn length_needed(&self) -> u32 {
        let used = self.blocks.size.iter().filter(|(op, _)| self.blocks.mix.of(*op) > 0);
        let specs = used.map(|(_, size)| size).chain(&self.blocks.jump_size);
        specs.map(|size| size.min().0).max().unwrap_or(0).min(u64::from(u32::MAX)) as u32
    }

    /// Length of the longest operation.
    fn length_max(&self) -> u32 {
        self.longest(|_| true)
    }

    /// Length of the longest operation that moves bytes, for which there are buffers.
    fn length_moved(&self) -> u32 {
        let writes = self.blocks.engine.writes_bytes();
        self.longest(|op| op == Direction::Read || (op == Direction::Write && writes))
    }

    /// Length of the longest operation of these directions.
    fn longest(&self, counts: impl Fn(Direction) -> bool) -> u32 {
        if let Some(trace) = &self.trace {
            return trace.length_max();
        }
        let used = self.blocks.size.iter();
        let used = used.filter(|(op, _)| self.blocks.mix.of(*op) > 0 && counts(*op));
        let ranges = |op| if op == Direction::Trim { self.trim_ranges() } else { 1 };
        let lengths = used.map(|(op, size)| size.max().0.saturating_mul(ranges(op).into()));
        let jumps = self.blocks.jump_size.iter().map(|size| size.max().0);
        lengths.chain(jumps).max().unwrap_or(0).min(u64::from(u32::MAX)) as u32
    }

    fn flow_share(&self) -> Option<FlowShare> {
        Some(self.flow.as_ref()?.share(self.length_max().into()))
    }

    /// Operations in flight; one for engines that cannot have more.
    fn depth(&self) -> usize {
        // Trims may block their thread, so one is in flight at a time, at any depth.
        let one = !self.takes_many() || (self.blocks.mix.trim == 100 && !self.queues_trims);
        if one { 1 } else { self.blocks.depth.max(1) as usize }
    }

    /// True where more than one operation is submitted at a time. Random operations have no
    /// neighbours to merge into one call.
    fn takes_many(&self) -> bool {
        let merges = self.blocks.engine == Engine::Vsync && !self.blocks.access.is_random();
        self.blocks.engine.is_async() || merges
    }

    /// Files of a worker, and its seat among the workers that use the same files.
    fn seat(&self, rank: u32) -> (Range<u32>, FileSeat) {
        let files = self.files.all().len() as u64;
        let seat = self.ranks.seat(self.job.sharing, self.job.data_of(), files, rank);
        let own = match (seat.file, self.span_of(seat)) {
            (Some(file), _) => file as u32..file as u32 + 1,
            (None, Some(span)) => span.files,
            (None, None) => 0..files as u32,
        };
        (own, seat)
    }

    /// A seat's slice of all files, where they are one range.
    fn span_of(&self, seat: FileSeat) -> Option<Span> {
        let lengths = self.files.all().iter().map(|file| file.extent().size);
        let block = u64::from(self.length_max());
        (self.blocks.share == Share::Span).then(|| Span::new(lengths, block, seat))
    }

    /// A worker's slice of all files, where they are one range.
    fn span(&self, rank: u32) -> Option<Span> {
        self.span_of(self.seat(rank).1)
    }

    /// Used parts of the job's files, as a worker has them.
    fn shapes_of(&self, rank: u32) -> Shapes {
        let Some(span) = self.span(rank) else { return self.shapes.clone() };
        let files = (0..).zip(self.files.all());
        Shapes::new(files.map(|(number, file)| span.part(number, file.extent())))
    }

    /// Numbers of a worker's files.
    fn own_files(&self, rank: u32) -> Box<[u32]> {
        self.seat(rank).0.collect()
    }

    fn stream(&self, rank: u32) -> Stream {
        let (own, seat) = self.seat(rank);
        let seed = mix(self.seed, self.ranks.rank(rank));
        Stream::new(stream::Parts {
            blocks: &self.blocks,
            random: Random::new(self.seed, self.ranks.rank(rank)),
            seed,
            offsets: Offsets::new(
                &self.blocks,
                &self.shapes_of(rank),
                own,
                seat,
                seed,
                mix(self.plan_seed, SEGMENTS),
            ),
            wraps: self.stop.time.is_some() && self.stop.passes.is_none(),
            rank: self.ranks.rank(rank),
            trace: self.cursor(rank),
        })
    }

    fn cursor(&self, rank: u32) -> Option<trace::Cursor> {
        let seat = FileSeat::one_of(self.ranks.rank(rank), self.ranks.ranks);
        self.trace.clone().map(|trace| trace::Cursor::new(trace, seat))
    }

    /// Bounds of a worker's stream, beside time.
    fn budget(&self, rank: u32) -> Budget {
        let stop = &self.stop;
        let timed = stop.time.is_some() || stop.steady.is_some();
        let unbounded = timed || stop.bytes.is_some() || stop.ops.is_some();
        let bounded = stop.passes.is_some() || stop.at_least.is_some();
        let mut budget = Budget {
            // The stream draws each range.
            ops: stop.ops.map_or(u64::MAX, |ops| ops.saturating_mul(self.trim_ranges().into())),
            bytes: stop.bytes.map_or(u64::MAX, |bytes| bytes.0),
            min_ns: stop.min_time.map_or(0, |time| time.0),
            ..Budget::NONE
        };
        if unbounded && !bounded {
            return budget;
        }
        let passes = u64::from(stop.passes.unwrap_or(1)) / self.rounds();
        if let Some(trace) = &self.trace {
            let steps = (trace.steps().len() as u64).div_ceil(self.ranks.ranks.max(1));
            budget.ops = budget.ops.min(passes.saturating_mul(steps));
            return budget;
        }
        let whole = Bytes(self.share_bytes(rank));
        budget.passes = passes;
        budget.at_least = stop.at_least.map_or(0, |extent| extent.of(whole).0);
        if !self.ends() {
            // An access without an end of its own ends once it has moved as many bytes as there
            // are.
            budget.pass_bytes = self.whole_operations(rank);
        }
        budget
    }

    /// True where a pass uses up all files.
    fn ends(&self) -> bool {
        let skewed = !matches!(
            self.blocks.rotation.order,
            FileOrder::RoundRobin | FileOrder::Random | FileOrder::ByBytes | FileOrder::Sequential
        );
        self.blocks.access.is_finite() && !(skewed && self.files.all().len() > 1)
    }

    /// Bytes of a worker's shares, in whole operations where all have one length.
    fn whole_operations(&self, rank: u32) -> u64 {
        let length = fixed_size(&self.blocks).map_or(1, u64::from).max(1);
        self.sum_of_shares(rank, |bytes| bytes / length * length)
    }

    fn share_bytes(&self, rank: u32) -> u64 {
        self.sum_of_shares(rank, |bytes| bytes)
    }

    fn sum_of_shares(&self, rank: u32, part: impl Fn(u64) -> u64) -> u64 {
        let ((own, seat), span) = (self.seat(rank), self.span(rank));
        own.map(|file| {
            let extent = self::part(span.as_ref(), file, self.files.get(file).extent());
            part(Region::new(&self.blocks, extent, seat).length())
        })
        .sum()
    }

    fn shape(&self) -> Shape {
        let (blocks, depth) = (&self.blocks, self.depth());
        Shape {
            depth,
            batch: blocks.batch_submit.map_or(depth, |batch| batch as usize).clamp(1, depth),
            reap: (blocks.batch_reap.max(1) as usize).min(depth),
            reap_max: blocks.batch_reap_max.map_or(depth, |most| most.max(1) as usize).min(depth),
            fills_first: blocks.batch_reap_max.is_some() || blocks.depth_low.is_some(),
            priority: usual_priority(&self.job),
        }
    }

    fn pacer(&self, rank: u32) -> Option<Pacer> {
        let (blocks, workers) = (&self.blocks, self.job.workers);
        let random = Random::new(self.seed, 0x7061_6365 ^ self.ranks.rank(rank) << 32);
        let pace = Pace { think: self.rest(), ..blocks.pace.clone() };
        let pacer = Pacer::new(&pace, blocks.mix, rank, workers, random);
        let timed = self.trace.as_ref().is_some_and(|trace| trace.is_timed());
        match self.cursor(rank) {
            Some(cursor) if timed => Some(Pacer::following(pacer, Box::new(cursor))),
            _ => pacer,
        }
    }

    /// The rests of the work, their cycles as time of this host.
    fn rest(&self) -> Option<Think> {
        let think = self.blocks.pace.think?;
        if think.spin_cycles == 0 {
            return Some(think);
        }
        Some(think.with_cycles_as(Nanos(self.clock.cycles_ns(think.spin_cycles))))
    }

    /// Number of times that a worker does its work, where each round is read back.
    fn rounds(&self) -> u64 {
        let stop = &self.stop;
        let is_cut = stop.ops.is_some() || (stop.bytes.is_some() && stop.at_least.is_some());
        let by_passes = reads_back(&self.blocks) && !is_cut;
        if by_passes { stop.passes.map_or(1, u64::from) } else { 1 }
    }

    /// True where workers sync their files after their last operation, before they close them.
    fn syncs_in_phase(&self) -> bool {
        let Blocks { opening, durability, mix, .. } = &self.blocks;
        opening.is_in_phase() && durability.fsync_at_end && mix.write > 0
    }
}

impl JobWork for ReadyBlocks {
    fn recorded(&self) -> Recorded {
        let (blocks, usual) = (&self.blocks, usual_priority(&self.job));
        let trace = self.trace.as_deref();
        let occurring = |direction| prioritised::occurring(direction, &blocks.priorities, usual);
        let occurs = |at| occurs(blocks, trace, at);
        Recorded {
            table: BlocksOp::TABLE,
            occurs: (0..BlocksOp::COUNT).map(occurs).collect(),
            submission: blocks.engine.is_kind_of(Engine::LIBAIO)
                || (blocks.measure.submission && blocks.engine.is_async()),
            intended: blocks.pace.is_rated() || trace.is_some_and(Trace::is_timed),
            peaks: blocks.measure.log.peaks,
            priorities: PerDirection {
                read: occurring(Direction::Read),
                write: occurring(Direction::Write),
                trim: Box::default(),
            },
        }
    }

    fn engine_name(&self) -> &'static str {
        self.blocks.engine.name()
    }

    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError> {
        let rank = seat.rank;
        let metadata_at = self.metadata_at();
        let bytes = (metadata_at + self.metadata_bytes()).next_multiple_of(PAGE_BYTES);
        // The buffers are declared before the engine, so that they outlive its operations in
        // flight.
        let (depth, spares) = (self.depth(), self.spare_buffers(rank, bytes));
        let (mut buffers, _pinned) = self.memory(bytes, depth + spares)?;
        let mut content = self.content(rank, &mut buffers, bytes);
        if let Some(content) = &mut content {
            let spares = (depth..depth + spares).map(|nth| buffers.part(nth, bytes));
            content.take_turns(spares.map(Buffer::Host));
        }
        let opens = self.blocks.opening.is_in_phase();
        let own = opens.then(|| Arc::new(self.files.unopened()));
        let context = Context {
            files: own.as_ref().unwrap_or(&self.files),
            opens,
            depth,
            buffers: &buffers,
            buffer_bytes: bytes,
            metadata_at,
            clock: self.clock,
            split: self.blocks.measure.submission,
            seed: seat.seed_for(self.ranks.rank(rank)),
        };
        let source = self.source(rank, content)?;
        let is_huge = rank == 0 && self.pages(bytes) != Pages::Ordinary && buffers.is_huge();
        let mut end = self.run(seat, &context, source)?;
        end.features.extend(is_huge.then(|| EngineUsed::HUGE_PAGES.into()));
        Ok(end)
    }

    fn name_of(&self, handle: u32) -> String {
        self.files.get(handle).path.text()
    }

    fn measure(&self) -> Measure {
        self.blocks.measure
    }

    fn log(&self) -> (LogPlan, u64) {
        (self.blocks.measure.log, u64::from(self.length_max()))
    }

    fn floor(&self) -> Option<Floor> {
        self.blocks.pace.floor
    }

    /// Gaps of a Poisson process rarely exceed thirty times their mean.
    fn pause_ns_max(&self) -> u64 {
        let pace = &self.blocks.pace;
        let think = self.rest().map_or(0, |think| think.time.0);
        let gap = gaps::longest_gap_ns(pace, &self.blocks, self.job.workers).saturating_mul(30);
        let of_trace = self.trace.as_ref().map_or(0, |trace| trace.longest_gap_ns());
        let sync = if self.syncs_in_phase() { SYNC_NS_MAX } else { 0 };
        think.saturating_add(gap).saturating_add(of_trace).saturating_add(sync)
    }

    fn flushes_at_end(&self) -> bool {
        let durability = &self.blocks.durability;
        let at_end = durability.fsync_at_end || durability.syncfs_at_end;
        at_end && self.blocks.mix.write > 0 && !self.blocks.opening.is_in_phase()
    }

    fn flush(&self) -> Failures {
        let (durability, mut failures) = (&self.blocks.durability, Failures::default());
        for file in self.files.all() {
            let synced = file.handle().filter(|_| durability.syncfs_at_end);
            let synced = synced.map(|file| rustix::fs::syncfs(file).map_err(io::Error::from));
            let flushed = durability.fsync_at_end.then(|| file.flush()).flatten();
            for error in [synced, flushed].into_iter().flatten().filter_map(Result::err) {
                failures.add_flush(&file.path, &error);
            }
        }
        failures
    }

    fn furthest(&self) -> Option<&Furthest> {
        self.furthest.as_deref()
    }

    /// Says what numbers of failed commands mean, and what is known of the job as a whole.
    fn finish(&self, measurement: &mut Measurement) {
        if self.syncs_in_phase() {
            measurement.elapsed_with_flush_ns = Some(measurement.elapsed_ns);
        }
        if let Some(objects) = &self.objects {
            objects.finish(measurement);
        }
        measurement.wear_out = self.furthest.as_ref().and_then(|furthest| furthest.counts());
        for failure in measurement.errors.iter_mut().filter(|failure| failure.op.is_some()) {
            if let Some(why) = passthrough::meaning(&self.blocks.engine, failure.errno) {
                failure.message += &format!("; {why}");
            }
        }
    }

    fn verifies(&self) -> bool {
        self.blocks.verify.is_some()
    }

    fn reads_back(&self) -> Option<bool> {
        let plan = self.blocks.verify.as_ref().filter(|plan| plan.adds_reads())?;
        let is_beside = plan.read_back.is_some_and(|back| back.every > 0 || back.only);
        Some(is_beside || plan.read_before_write)
    }
}

/// Time that a worker's last sync may take, in which nothing completes: all that the host's memory
/// holds goes to a slow device.
const SYNC_NS_MAX: u64 = 1_800_000_000_000;

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn touch(buffers: &mut [u8]) {
    buffers.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
}

fn reads_back(blocks: &Blocks) -> bool {
    blocks.verify.as_ref().is_some_and(|verify| verify.read_back.is_some())
}

/// True where a share of the writes is trimmed again.
fn trims_written(blocks: &Blocks) -> bool {
    blocks.verify.as_ref().and_then(|verify| verify.read_back).is_some_and(|b| b.trims.is_some())
}

fn has_flushes(trace: &Trace) -> bool {
    trace.steps().iter().any(|step| matches!(step.action, Action::Fsync | Action::Fdatasync))
}

/// I/O priority of operations without one of their own, in the kernel's form.
fn usual_priority(job: &Job) -> u16 {
    job.threads.io_priority.map_or(0, IoPriority::bits)
}

/// True if the operation with that index in the table occurs.
fn occurs(blocks: &Blocks, trace: Option<&Trace>, at: usize) -> bool {
    const FSYNC: usize = BlocksOp::Fsync as usize;
    const FDATASYNC: usize = BlocksOp::Fdatasync as usize;
    let (durability, flushes) = (&blocks.durability, trace.is_some_and(has_flushes));
    match (at, BlocksOp::TABLE[at].figure) {
        (_, Figure::Opening) => blocks.opening.is_in_phase(),
        (FSYNC, _) => {
            let at_end = blocks.opening.is_in_phase() && durability.fsync_at_end;
            durability.fsync_every > 0 || flushes || (at_end && blocks.mix.write > 0)
        }
        (FDATASYNC, _) => durability.fdatasync_every > 0 || flushes,
        (_, Figure::Flush) => durability.range.is_some(),
        (_, Figure::Commit) => blocks.mix.write > 0 && counts_commits(durability),
        (_, Figure::ReadBack) => blocks.verify.as_ref().is_some_and(Verify::adds_reads),
        (_, figure) => {
            let mixed = figure.direction().is_some_and(|op| blocks.mix.of(op) > 0);
            mixed || (figure == Figure::Trim && trims_written(blocks))
        }
    }
}
