//! From a job of a plan to workers that only wait for the barrier.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use candor_plan::blocks::{Access, Blocks, Engine, FileOrder, Format, IoPriority, Pace, Think};
use candor_plan::entries::Step;
use candor_plan::rank::{self, Seat};
use candor_plan::trace::{Action, Trace};
use candor_plan::units::{Direction, PerDirection, SizeSpec};
use candor_plan::{Bytes, BytesPerSec, Job, Plan, Stop, Work};
use candor_record::Progress;

use crate::clock::Clock;
use crate::data::content::{self, Content, Origin, Pool};
use crate::data::verifier::Verifier;
use crate::data::verify::Map;
use crate::engines::Context;
use crate::engines::{
    cpu::Cpu,
    fallocate::Fallocate,
    ftruncate::Ftruncate,
    libaio::Libaio,
    locked::{Held, Locked, Locks},
    mmap::Mmap,
    named::Names,
    null::Null,
    program::Program,
    psync::Psync,
    pvsync::Pvsync,
    splice::Splice,
    sync::Sync,
    threads::Threads,
    uring,
    uring::Uring,
    vsync::Vsync,
};
use crate::error::EngineError;
use crate::gates::flow::{FlowShare, FlowSum};
use crate::gates::issue_gate::IssueGate;
use crate::gates::pace::Pacer;
use crate::host::memory::{Mapping, PAGE_BYTES};
use crate::host::placement;
use crate::host::priority::{self, Priorities};
use crate::host::thread_attributes::{self, Group};
use crate::operations::ring::Ring;
use crate::operations::slots::Kind;
use crate::operations::stats::{Live, Recorded};
use crate::phase::session::Session;
use crate::phase::shared::{Gate, Shared};
use crate::random::{Random, mix};
use crate::stream::offsets::{Offsets, Own, Shapes, fixed_size};
use crate::stream::region::{Rank, Region};
use crate::stream::trace;
use crate::stream::{self, Budget, Stream};
use crate::targets::files::{Files, OpenFile};
use crate::targets::zones::{self, Visit};
use crate::worker::{Parts, ReadBack, Trims, Worker, WorkerEnd};

/// Offsets nearer to each other than a sector would take more memory than what they say is worth.
const STEP_MIN: u64 = 512;
/// Blocks of a file that are kept in mind at most: 64 GiB of memory.
const BLOCKS_MAX: u64 = 1 << 34;

/// A job, ready but for its threads.
pub struct ReadyJob {
    /// Its words.
    pub job: Job,
    /// Its work.
    pub blocks: Blocks,
    /// When it ends.
    pub stop: Stop,
    /// Its files.
    pub files: Arc<Files>,
    /// Counters of its workers.
    pub live: Arc<[Live]>,
    /// Operations that are counted, by the indices of their counters.
    pub recorded: [bool; Kind::COUNTED],
    /// Shared with its workers.
    pub shared: Arc<Shared>,
    /// What all had done when the first of them ended.
    pub first_done: Arc<Mutex<Option<Progress>>>,
    /// Where its workers log their operations; empty where that is not asked for.
    pub rings: Vec<Arc<Ring>>,
    /// Where they log what they hand over, likewise.
    pub hand_overs: Vec<Arc<Ring>>,
    flow: Option<Arc<FlowSum>>,
    held: Option<Held>,
    clock: Clock,
    seed: u64,
    plan_seed: u64,
    pool: Option<Pool>,
    maps: Vec<Arc<Map>>,
    zones: Vec<Arc<zones::Map>>,
    trace: Option<Arc<Trace>>,
    /// Trims are queued like other operations.
    queues_trims: bool,
    shapes: Shapes,
    /// Kept for as long as its threads are in it.
    _group: Option<Group>,
}

impl ReadyJob {
    /// Opens the files, reads the trace, allocates the counters.
    ///
    /// # Errors
    /// A file that cannot be opened or does not fit the work.
    pub fn new(
        session: &mut Session,
        plan: &Plan,
        job: &Job,
        stop: &Stop,
        seed: u64,
    ) -> Result<ReadyJob, EngineError> {
        let unfit = |message: String, remedy: &str| EngineError::Unfit {
            job: job.name.clone(),
            message,
            remedy: remedy.into(),
        };
        let Some((mut blocks, files)) = opened(plan, job)? else {
            return Err(unfit("has no work".into(), "give it blocks"));
        };
        let files = Arc::new(files);
        let group = job.threads.control_group.as_ref().map(Group::prepare).transpose()?;
        blocks.verify = blocks.verify.map(|verify| verify.with_seed_of(plan.seed));
        let trace = match &blocks.access {
            Access::Trace(said) => {
                Some(trace::load(said).map_err(|why| unfit(why, "mend the trace file"))?)
            }
            _ => None,
        };
        let zones = blocks.zones.iter();
        let zones = zones.flat_map(|plan| files.all().iter().map(move |file| (file, plan)));
        let zones = zones.map(|(file, plan)| session.zones(file, plan)).collect::<Result<_, _>>();
        let zones = zones.map_err(|(message, remedy)| unfit(message, remedy))?;
        let recorded = recorded(&blocks, trace.as_deref(), usual_priority(job));
        let live = (0..job.workers).map(|_| Live::new(&recorded)).collect();
        // Blocks with headers can be made again by whoever knows the seed of the headers.
        let of_headers = blocks.verify.as_ref().and_then(|verify| verify.seed);
        let fills = blocks.mix.write > 0 && job.blocks().is_some();
        let pool = fills.then(|| content::pool(of_headers.unwrap_or(seed)));
        let mut ready = ReadyJob {
            recorded: recorded.kinds,
            _group: group,
            shapes: Shapes::new(files.all().iter().map(OpenFile::extent)),
            job: job.clone(),
            stop: stop.clone(),
            live,
            shared: Arc::default(),
            rings: rings(blocks.measure.log.each, job.workers),
            hand_overs: rings(blocks.measure.log.trace, job.workers),
            first_done: Arc::default(),
            flow: None,
            held: None,
            clock: session.clock(),
            seed,
            plan_seed: plan.seed,
            pool,
            maps: Vec::new(),
            zones,
            trace,
            queues_trims: uring::queues_trims(&files, &blocks),
            files,
            blocks,
        };
        ready.check_fit().map_err(|(message, remedy)| unfit(message, remedy))?;
        ready.maps = ready.verified_maps(session);
        Ok(ready)
    }

    /// What is known about the verified blocks of each file; nothing where nothing is verified.
    fn verified_maps(&self, session: &mut Session) -> Vec<Arc<Map>> {
        if self.blocks.verify.is_none() {
            return Vec::new();
        }
        let step = self.verified_step();
        let from = |file: &OpenFile| self.verified_from(file);
        let map = |file: &OpenFile| session.map(&file.path, file.reach(), step, from(file));
        self.files.all().iter().map(map).collect()
    }

    /// What the text of the plan alone does not tell: whether everything fits its files.
    fn check_fit(&self) -> Result<(), (String, &'static str)> {
        self.check_sizes()?;
        self.check_trace()?;
        self.check_zones()?;
        self.check_verify()
    }

    /// A trace lies within the files, and its directions are those of the mix, for which files are
    /// opened and buffers filled.
    fn check_trace(&self) -> Result<(), (String, &'static str)> {
        let Some(trace) = &self.trace else { return Ok(()) };
        let sizes: Vec<u64> = self.files.all().iter().map(|file| file.size).collect();
        trace::check_fit(trace, &sizes).map_err(|why| (why, "set a larger size, or mend it"))?;
        let ops = trace.steps().iter().filter_map(|step| step.action.op());
        match ops.into_iter().find(|op| self.blocks.mix.of(*op) == 0) {
            None => Ok(()),
            Some(op) => {
                let message = format!("the trace has {}s, but the mix has none", op.name());
                Err((message, "give each direction of the trace a share of the mix"))
            }
        }
    }

    /// Every worker has a zone in each of its files, in which every operation fits.
    fn check_zones(&self) -> Result<(), (String, &'static str)> {
        for (file, map) in self.files.all().iter().zip(&self.zones) {
            let shown = file.path.display();
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

    /// The zones of a file that a worker may use.
    fn zones_of(&self, rank: u32, file: &OpenFile, map: &zones::Map) -> std::ops::Range<u32> {
        let space = Region::new(&self.blocks, file.extent(), self.seat(rank).1);
        map.between(space.start(), space.limit())
    }

    fn visit(&self, rank: u32) -> Option<Visit> {
        let each = self.files.all().iter().zip(&self.zones);
        let ranges = each.map(|(file, map)| self.zones_of(rank, file, map)).collect();
        Visit::new(&self.blocks, &self.stop, &self.files, &self.zones, ranges)
    }

    /// Operations begin and end at places that are few enough to keep a record of each.
    fn check_verify(&self) -> Result<(), (String, &'static str)> {
        let Some(verify) = &self.blocks.verify else { return Ok(()) };
        let interval = verify.interval.0;
        let step = self.verified_step();
        if let Some(file) = self.files.all().iter().find(|file| file.reach() / step > BLOCKS_MAX) {
            let of = Bytes(file.reach());
            let message =
                format!("to verify {of} in blocks of {} takes too much memory", Bytes(interval));
            return Err((message, "verify larger blocks, or less"));
        }
        if step >= interval.min(STEP_MIN) {
            return Ok(());
        }
        let at = self.places().find(|at| at % interval != 0).unwrap_or(0);
        let interval = Bytes(interval);
        let message = format!("{} is no multiple of the {interval} verified", Bytes(at));
        Err((message, "start and leave out whole verified blocks"))
    }

    /// Every operation begins and ends at a multiple of it behind the first place of its file:
    /// the verified interval, or less where work begins within one.
    fn verified_step(&self) -> u64 {
        let interval = self.blocks.verify.as_ref().map_or(1, |verify| verify.interval.0.max(1));
        self.places().fold(interval, gcd)
    }

    /// The first place of a file, less whole intervals: headers that other tools know stand
    /// wherever operations begin, candor's own at multiples of the interval.
    fn verified_from(&self, file: &OpenFile) -> u64 {
        match &self.blocks.verify {
            Some(verify) if verify.format != Format::Own && self.trace.is_none() => {
                let all = Rank { rank: 0, of: 1 };
                let start = Region::new(&self.blocks, file.extent(), all).offset(0);
                start % verify.interval.0.max(1)
            }
            _ => 0,
        }
    }

    /// Where work begins, what it leaves out, and what a trace touches.
    fn places(&self) -> impl Iterator<Item = u64> {
        let hole = match self.blocks.access {
            Access::Holes { hole } => hole.0,
            Access::Back { step } => step.0,
            _ => 0,
        };
        let traced = self.trace.iter().flat_map(|trace| trace.steps());
        let traced = traced.flat_map(|step| [step.offset, u64::from(step.length)]);
        let from = |file| self.verified_from(file);
        let starts = self.shares().map(move |(file, _, space)| space.offset(0) - from(file));
        starts.chain(traced).chain([hole])
    }

    /// Every worker's share of every size of files, with an example of such a file.
    fn shares(&self) -> impl Iterator<Item = (&OpenFile, Rank, Region)> {
        let files = self.files.all();
        let mut examples = vec![0; self.shapes.extents.len()];
        for index in (0..files.len()).rev() {
            examples[self.shapes.index(index as u32)] = index;
        }
        (0..self.job.workers).flat_map(move |worker| {
            let (own, rank) = self.seat(worker);
            let one = || vec![own.first as usize; own.count.min(1) as usize];
            let all = own.count as usize == files.len();
            let indices = if all { examples.clone() } else { one() };
            indices.into_iter().map(move |index| {
                let file = &files[index];
                (file, rank, Region::new(&self.blocks, file.extent(), rank))
            })
        })
    }

    /// Every worker's share holds at least one operation of each direction.
    fn check_sizes(&self) -> Result<(), (String, &'static str)> {
        if self.trace.is_some() {
            return Ok(());
        }
        let length = self.length_needed();
        for (open, rank, space) in self.shares() {
            if !space.holds(length) || space.end() > space.limit() {
                let message = format!(
                    "`{}` has {} in its range; worker {} of {} takes {} of it up to {}, in \
                     operations of {}",
                    open.path.display(),
                    Bytes(space.limit().saturating_sub(space.start())),
                    rank.rank + 1,
                    rank.of,
                    Bytes(space.length()),
                    Bytes(space.end()),
                    Bytes(u64::from(length)),
                );
                return Err((message, "set a larger size, or smaller operations"));
            }
        }
        Ok(())
    }

    /// True where what was written is flushed after the last operation.
    pub fn flushes_at_end(&self) -> bool {
        let durability = &self.blocks.durability;
        (durability.fsync_at_end || durability.syncfs_at_end) && self.blocks.mix.write > 0
    }

    /// What must fit everywhere: the least length of any direction.
    fn length_needed(&self) -> u32 {
        let used = self.blocks.size.iter().filter(|(op, _)| self.blocks.mix.of(*op) > 0);
        let specs = used.map(|(_, size)| size).chain(&self.blocks.jump_size);
        specs.map(|size| size.min().0).max().unwrap_or(0).min(u64::from(u32::MAX)) as u32
    }

    /// The longest operation.
    pub(crate) fn length_max(&self) -> u32 {
        if let Some(trace) = &self.trace {
            return trace.length_max();
        }
        let used = self.blocks.size.iter().filter(|(op, _)| self.blocks.mix.of(*op) > 0);
        let specs = used.map(|(_, size)| size).chain(&self.blocks.jump_size);
        specs.map(|size| size.max().0).max().unwrap_or(0).min(u64::from(u32::MAX)) as u32
    }

    fn flow_share(&self) -> Option<FlowShare> {
        let (sum, flow) = self.flow.as_ref().zip(self.blocks.pace.flow.as_ref())?;
        Some(FlowShare::new(sum.clone(), flow))
    }

    /// Finds the flow that its workers take part in.
    pub fn join_flow(&mut self, flows: &mut HashMap<u32, Arc<FlowSum>>) {
        let flow = self.blocks.pace.flow.as_ref();
        self.flow = flow.map(|flow| flows.entry(flow.id).or_default().clone());
    }

    /// Finds the locks of its files.
    pub fn join_locks(&mut self, locks: &mut Locks) {
        self.held = Held::join(self.blocks.lock, &self.files, locks);
    }

    /// Operations in flight: one for engines that cannot have more.
    fn depth(&self) -> usize {
        // Trims may block their thread, so that one is in flight at a time whatever was asked for.
        let one = !self.takes_many() || (self.blocks.mix.trim == 100 && !self.queues_trims);
        if one { 1 } else { self.blocks.depth.max(1) as usize }
    }

    /// True where more than one operation is handed over at a time. Operations at random places
    /// have no neighbours that could become one call.
    fn takes_many(&self) -> bool {
        let merges = self.blocks.engine == Engine::Vsync && !self.blocks.access.is_random();
        self.blocks.engine.is_async() || merges
    }

    /// The files of a worker, and its rank among those who use the same ones.
    fn seat(&self, rank: u32) -> (Own, Rank) {
        let (workers, files) = (u64::from(self.job.workers), self.files.all().len() as u64);
        if self.job.entries().is_some() {
            return (Own::dealt(rank, self.job.workers, files as u32), Rank { rank: 0, of: 1 });
        }
        let data_rank = rank::data_rank(u64::from(rank), workers, self.job.rank_shift);
        let seat = Seat::of(self.job.sharing, data_rank, workers, files);
        let own = match seat.file {
            Some(file) => Own { first: file as u32, step: 1, count: 1 },
            None => Own { first: 0, step: 1, count: files as u32 },
        };
        (own, Rank { rank: seat.seat, of: seat.seats })
    }

    /// The files of a worker.
    fn own_files(&self, rank: u32) -> Box<[u32]> {
        self.seat(rank).0.files().collect()
    }

    fn stream(&self, rank: u32) -> Stream {
        let (own, seat) = self.seat(rank);
        let seed = mix(self.seed, u64::from(rank));
        let rank = Rank { rank: u64::from(rank), of: u64::from(self.job.workers) };
        Stream::new(stream::Parts {
            blocks: &self.blocks,
            random: Random::new(self.seed, rank.rank),
            seed,
            places: Offsets::new(&self.blocks, &self.shapes, own, seat, seed),
            wraps: self.stop.time.is_some() && self.stop.passes.is_none(),
            trace: self.cursor(rank),
        })
    }

    fn cursor(&self, rank: Rank) -> Option<trace::Cursor> {
        self.trace.clone().map(|trace| trace::Cursor::new(trace, rank))
    }

    /// The longest time for which the trace wants nothing to be issued.
    pub fn longest_gap_ns(&self) -> u64 {
        self.trace.as_ref().map_or(0, |trace| trace.longest_gap_ns())
    }

    /// What bounds a worker's stream, beside time.
    fn budget(&self, rank: u32) -> Budget {
        let stop = &self.stop;
        let timed = stop.time.is_some() || stop.steady.is_some();
        let unbounded = timed || stop.bytes.is_some() || stop.ops.is_some();
        let bounded = stop.passes.is_some() || stop.at_least.is_some();
        let mut budget = Budget {
            ops: stop.ops.unwrap_or(u64::MAX),
            bytes: stop.bytes.map_or(u64::MAX, |bytes| bytes.0),
            ..Budget::NONE
        };
        if unbounded && !bounded {
            return budget;
        }
        let passes = u64::from(stop.passes.unwrap_or(1)) / self.rounds();
        if let Some(trace) = &self.trace {
            let steps = trace.steps().len().div_ceil(self.job.workers.max(1) as usize) as u64;
            budget.ops = budget.ops.min(passes.saturating_mul(steps));
            return budget;
        }
        let whole = Bytes(self.share_bytes(rank));
        budget.passes = passes;
        budget.at_least = stop.at_least.map_or(0, |extent| extent.of(whole).0);
        if !self.ends() {
            // What has no end of its own ends when as much was moved as there is.
            budget.pass_bytes = self.whole_operations(rank);
        }
        budget
    }

    /// True where a pass uses up all files.
    fn ends(&self) -> bool {
        let skewed = !matches!(
            self.blocks.rotation.order,
            FileOrder::RoundRobin | FileOrder::Random | FileOrder::Sequential
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
        let (own, rank) = self.seat(rank);
        let files = own.files().map(|file| self.files.get(file));
        let share = |file: &OpenFile| part(Region::new(&self.blocks, file.extent(), rank).length());
        files.map(share).sum()
    }

    fn worker(
        &self,
        rank: u32,
        content: Option<Content>,
        buffers: &Mapping,
        bytes: usize,
    ) -> Worker {
        let blocks = &self.blocks;
        let depth = self.depth();
        let batch = blocks.batch_submit.map_or(depth, |batch| batch as usize).clamp(1, depth);
        let parts = Parts {
            rank,
            stream: self.stream(rank),
            content,
            verifier: self.verifier(rank),
            read_back: self.read_back(rank),
            pacer: self.pacer(rank),
            issue_gate: IssueGate::new(blocks, &self.stop, self.flow_share(), depth),
            zones: self.visit(rank),
            tolerated: self.stop.tolerate.iter().map(|t| (t.op.into(), t.errno)).collect(),
            durability: blocks.durability,
            priority: usual_priority(&self.job),
            priorities: Priorities::new(
                mix(self.seed, u64::from(rank)),
                &blocks.priorities,
                usual_priority(&self.job),
            ),
            own_files: self.own_files(rank),
            budget: self.budget(rank),
            first_done: self.first_done.clone(),
            trims: trims_written(blocks) || (blocks.mix.trim > 0 && !self.queues_trims),
            flushes: self.trace.as_deref().is_some_and(has_flushes),
            depth,
            batch,
            reap_max: blocks.batch_reap_max.map_or(depth, |most| most.max(1) as usize).min(depth),
            reap: (blocks.batch_reap.max(1) as usize).min(depth),
            until_full: self.stop.until_full,
            continue_on_error: self.stop.continue_on_error,
            measure: blocks.measure,
            ring: self.rings.get(rank as usize).cloned(),
            hand_overs: self.hand_overs.get(rank as usize).cloned(),
            files: self.files.clone(),
            live: self.live.clone(),
            shared: self.shared.clone(),
            clock: self.clock,
        };
        Worker::new(parts, buffers, bytes)
    }

    fn pacer(&self, rank: u32) -> Option<Pacer> {
        let (blocks, workers) = (&self.blocks, self.job.workers);
        let random = Random::new(self.seed, 0x7061_6365 ^ u64::from(rank) << 32);
        let pacer = Pacer::new(&blocks.pace, blocks.mix, rank, workers, random);
        let timed = self.trace.as_ref().is_some_and(|trace| trace.is_timed());
        match self.cursor(Rank { rank: u64::from(rank), of: u64::from(workers) }) {
            Some(cursor) if timed => Some(Pacer::following(pacer, cursor)),
            _ => pacer,
        }
    }

    /// Buffers of that many bytes, and what a worker pins beside them.
    fn memory(&self, bytes: usize) -> Result<(Mapping, Option<Mapping>), EngineError> {
        let (memory, huge_pages) = (&self.blocks.buffers, self.blocks.hints.huge_pages);
        let what = format!("allocate {} buffers of {bytes} bytes", self.depth());
        let buffers = Mapping::of(memory, bytes * self.depth(), huge_pages)
            .map_err(EngineError::system(what))?;
        let pinned = memory.lock.map(|bytes| {
            let what = format!("pin {bytes} of memory");
            Mapping::pinned(bytes.0 as usize).map_err(EngineError::system(what))
        });
        Ok((buffers, pinned.transpose()?))
    }

    fn verifier(&self, rank: u32) -> Option<Verifier> {
        let verify = self.blocks.verify.clone()?;
        let content = self.blocks.content.clone();
        Some(Verifier::new(verify, content, self.maps.clone(), self.clock, rank))
    }

    fn read_back(&self, rank: u32) -> Option<ReadBack> {
        let plan = self.blocks.verify.as_ref()?.read_back?;
        let random = || Random::new(self.seed, 0x7472_696d ^ u64::from(rank) << 32);
        let trims = plan.trims.map(|plan| Trims::new(plan, self.stream(rank), random()));
        let drawn = self.blocks.zones.is_none().then(|| self.stream(rank));
        Some(ReadBack::new(plan, drawn, self.rounds(), trims))
    }

    /// How often a worker does its work, where it is read back each time.
    fn rounds(&self) -> u64 {
        let stop = &self.stop;
        let by_passes = reads_back(&self.blocks) && stop.bytes.is_none() && stop.ops.is_none();
        if by_passes { stop.passes.map_or(1, u64::from) } else { 1 }
    }

    fn origin(&self, rank: u32) -> Origin {
        let size = self.files.all().iter().map(|file| file.size).sum::<u64>();
        Origin {
            seed: self.seed,
            plan_seed: self.plan_seed,
            rank,
            reads: self.blocks.mix.read > 0 || reads_back(&self.blocks),
            blocks: size / u64::from(self.length_max().max(1)),
        }
    }

    /// What a worker writes; what it reads into is touched, so that no page is faulted in during
    /// the measurement.
    fn content(&self, rank: u32, buffers: &mut Mapping) -> Option<Content> {
        let pool = self.pool.clone();
        let plan = || self.blocks.content.clone();
        let mut content = pool.map(|pool| Content::new(plan(), pool, &self.origin(rank)));
        match &mut content {
            Some(content) => content.prepare(buffers.as_mut_slice()),
            None => touch(buffers.as_mut_slice()),
        }
        content
    }

    /// A worker's whole life, in its own thread: sets up, says so, waits at the gate, runs.
    ///
    /// # Errors
    /// What could not be set up; then the thread has not waited at the gate.
    pub fn live(
        &self,
        rank: u32,
        gate: &Gate,
        ready: impl FnOnce(),
    ) -> Result<WorkerEnd, EngineError> {
        placement::settle(&self.job.placement, rank)?;
        thread_attributes::take(&self.job.threads)?;
        let bytes = (self.length_max() as usize).next_multiple_of(PAGE_BYTES);
        // Declared before the engine, so that it outlives whatever the engine has in flight.
        let (mut buffers, _pinned) = self.memory(bytes)?;
        let content = self.content(rank, &mut buffers);
        let context = Context {
            files: &self.files,
            depth: self.depth(),
            buffers: &buffers,
            buffer_bytes: bytes,
            clock: self.clock,
            split: self.blocks.measure.submission,
            seed: mix(self.seed, u64::from(rank)),
        };
        // One worker for all engines below: one in each arm would take its own place on the stack.
        let worker = self.worker(rank, content, &buffers, bytes);
        macro_rules! run {
            ($engine:expr) => {{
                let mut engine = $engine;
                ready();
                gate.pass();
                Ok(worker.run(&mut engine))
            }};
        }
        macro_rules! run_calls {
            ($engine:expr) => {{
                let engine = $engine;
                ready();
                gate.pass();
                Ok(match &self.held {
                    None => worker.run_calls(engine),
                    Some(held) => worker.run_calls(Locked::new(engine, held.clone())),
                })
            }};
        }
        let blocks = &self.blocks;
        match &self.job.work {
            Work::Blocks(_) => {}
            Work::Entries(entries) => {
                // The plan was checked: there is one step.
                let step = entries.single().unwrap_or(Step::Stat);
                return run_calls!(Names::new(&self.files, step)?);
            }
            Work::Program(program) => return run_calls!(Program::new(program)),
            Work::Burn(burn) => return run_calls!(Cpu::new(&context, *burn)),
        }
        match blocks.engine {
            Engine::Psync => run_calls!(Psync::new(&context)),
            Engine::Sync => run_calls!(Sync::new(&context)?),
            Engine::Vsync => run!(Vsync::new(&context)?),
            Engine::Pvsync(options) => run_calls!(Pvsync::new(&context, options)),
            Engine::Libaio(_) => run!(Libaio::new(&context, blocks)?),
            Engine::Threads => run!(Threads::new(&context)?),
            Engine::IoUring(_) => run!(Uring::new(&context, blocks)?),
            Engine::Mmap(_) => run_calls!(Mmap::new(&context, blocks)?),
            Engine::Splice => run_calls!(Splice::new(&context)?),
            Engine::Fallocate => run_calls!(Fallocate::new(&context)),
            Engine::Ftruncate => run_calls!(Ftruncate::new(&context)),
            Engine::Null => run!(Null::new(&context)),
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The work of a job and its files, opened as the user it names; none where it has no work.
fn opened(plan: &Plan, job: &Job) -> Result<Option<(Blocks, Files)>, EngineError> {
    Ok(match &job.work {
        Work::Blocks(blocks) => {
            let open = || Files::open(plan, job, blocks);
            Some((Blocks::clone(blocks), thread_attributes::as_user(&job.threads, open)?))
        }
        Work::Entries(entries) if entries.single().is_none() => None,
        Work::Entries(_) => Some((without_bytes(Pace::default()), Files::unopened(plan, job))),
        Work::Program(_) => Some((without_bytes(Pace::default()), Files::nothing())),
        Work::Burn(burn) => {
            let think = (burn.rest.0 > 0).then(|| Think::after_each(burn.rest));
            Some((without_bytes(Pace { think, ..Pace::default() }), Files::nothing()))
        }
    })
}

/// Work that moves no bytes as the loop sees it: an operation is a read of one byte.
fn without_bytes(pace: Pace) -> Blocks {
    let size = PerDirection::all(SizeSpec::Fixed(Bytes(1)));
    Blocks { size, pace, engine: Engine::Null, ..Blocks::default() }
}

/// A ring for each worker, where they are asked for.
fn rings(wanted: bool, workers: u32) -> Vec<Arc<Ring>> {
    let workers = if wanted { workers } else { 0 };
    (0..workers).map(|_| Arc::new(Ring::for_one_of(workers))).collect()
}

fn touch(buffers: &mut [u8]) {
    buffers.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
}

fn reads_back(blocks: &Blocks) -> bool {
    blocks.verify.as_ref().is_some_and(|verify| verify.read_back.is_some())
}

/// True where some of what was written is trimmed again.
fn trims_written(blocks: &Blocks) -> bool {
    blocks.verify.as_ref().and_then(|verify| verify.read_back).is_some_and(|b| b.trims.is_some())
}

/// The longest gap between operations of one worker that a rate asks for, 0 without a rate.
pub fn longest_gap_ns(pace: &Pace, blocks: &Blocks, workers: u32) -> u64 {
    let gap = |per_s: u64| 1_000_000_000u64.saturating_mul(u64::from(workers)) / per_s.max(1);
    let size = blocks.size.iter().map(|(_, size)| size.max().0).max().unwrap_or(0);
    let of_bytes = |rate: BytesPerSec| gap(rate.0).saturating_mul(size);
    let used = |op: Direction| blocks.mix.of(op) > 0;
    let ops = pace.per_direction.iter().flat_map(PerDirection::iter);
    let ops = ops.filter(|(op, rate)| used(*op) && rate.0 > 0).map(|(_, rate)| gap(rate.0));
    let bytes = pace.bytes_per_direction.iter().flat_map(PerDirection::iter);
    let bytes = bytes.filter(|(op, rate)| used(*op) && rate.0 > 0).map(|(_, r)| of_bytes(*r));
    let whole = [pace.ops.map(|rate| gap(rate.0)), pace.bytes.map(of_bytes)];
    whole.into_iter().flatten().chain(ops).chain(bytes).max().unwrap_or(0)
}

fn has_flushes(trace: &Trace) -> bool {
    trace.steps().iter().any(|step| matches!(step.action, Action::Fsync | Action::Fdatasync))
}

/// The I/O priority of operations that have none of their own, in the kernel's form.
fn usual_priority(job: &Job) -> u16 {
    job.threads.io_priority.map_or(0, IoPriority::bits)
}

fn recorded(blocks: &Blocks, trace: Option<&Trace>, usual: u16) -> Recorded {
    let durability = &blocks.durability;
    let flushes = trace.is_some_and(has_flushes);
    let mut kinds = [false; Kind::COUNTED];
    for op in Direction::ALL {
        kinds[Kind::from(op).counted()] = blocks.mix.of(op) > 0;
    }
    kinds[Kind::from(Direction::Trim).counted()] |= trims_written(blocks);
    kinds[Kind::Fsync.counted()] = durability.fsync_every > 0 || flushes;
    kinds[Kind::Fdatasync.counted()] = durability.fdatasync_every > 0 || flushes;
    kinds[Kind::SYNC_FILE_RANGE] = durability.range.is_some();
    kinds[Kind::READ_BACK] = reads_back(blocks);
    Recorded {
        kinds,
        submission: blocks.engine.is_kind_of(Engine::LIBAIO)
            || (blocks.measure.submission && blocks.engine.is_async()),
        intended: blocks.pace.is_rated() || trace.is_some_and(Trace::is_timed),
        peaks: blocks.measure.log.peaks,
        priorities: PerDirection {
            read: priority::occurring(Direction::Read, &blocks.priorities, usual),
            write: priority::occurring(Direction::Write, &blocks.priorities, usual),
            trim: Box::default(),
        },
    }
}
