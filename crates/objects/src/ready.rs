//! A job of objects, prepared but for its workers.

mod context;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use candor_bytes::content::{Content, Origin, Pool, pool};
use candor_engine::EngineError;
use candor_engine::counters::Recorded;
use candor_engine::family::{JobContext, JobWork, Seat};
use candor_engine::gates::flow::{Flows, JobFlow};
use candor_engine::gates::limits::{Limited, Limits};
use candor_engine::gates::pace::Pacer;
use candor_engine::gates::paced::Paced;
use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use candor_engine::random::Random;
use candor_engine::source::Source;
use candor_engine::worker::{self, Buffers, Shape};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::bucket::{Bucket, Keys};
use candor_plan::objects::{OPERATIONS, ObjectOp, Objects, Uploads as Ends};
use candor_plan::units::Mix;
use candor_plan::{Job, Stop};
use candor_record::http::{AgeRange, RequestForm};
use candor_record::{Ended, HttpStats, Measurement};
use candor_s3::carrier::{Carrier, Settings as CarrierSettings};
use candor_s3::explain;
use candor_s3::reach::{Reach, Refusal};

use crate::admin::{Admin, refusal};
use crate::board::Board;
use crate::buckets::Foreign;
use crate::contents::Contents;
use crate::keys::{Catalog, Listed, Users};
use crate::made::{LeftUpload, Made, MadeBy};
use crate::order::Budget;
use crate::source::{Lanes, Settings};
use crate::uploads::{SharedUpload, Uploads, lock};
use crate::wire::{COPY_SUFFIX, Context, Requests, Wire};

/// Choices of a worker's seed: gaps between requests.
const PACE: u64 = 0x7061_6365;
/// Choices of a worker's seed: order of objects.
const ORDER: u64 = 0x6f72_6465;

/// A job of objects, prepared but for its workers.
pub struct ReadyObjects {
    job: Job,
    stop: Stop,
    objects: Arc<Objects>,
    catalog: Arc<Catalog>,
    reach: Arc<Reach>,
    context: Arc<Context>,
    uploads: Uploads,
    connect_first: bool,
    /// Objects of each worker that exist at the start.
    existing: Vec<u64>,
    /// Bytes of each slot's buffer; 0 if no bytes move.
    room: usize,
    pool: Option<Pool>,
    flow: Option<JobFlow>,
    /// Seed of the job's choices, and seed of the plan.
    seeds: [u64; 2],
    made: Made,
    began: Instant,
    part_bytes: Option<u64>,
    form: RequestForm,
    /// Objects and uploads of others below the prefixes.
    foreign: Option<u64>,
    foreign_uploads: u64,
    done: Mutex<Done>,
}

/// Results of the workers.
#[derive(Default)]
struct Done {
    http: HttpStats,
    /// Objects that each worker put, from the first one.
    counts: Vec<u64>,
    /// Of these, objects that all exist, from the first one.
    whole: Vec<u64>,
    cut: bool,
    /// Bytes of permitted reads of missing objects.
    missing_bytes: u64,
    /// Uploads that the workers left open.
    left: Vec<SharedUpload>,
}

impl ReadyObjects {
    /// Opens buckets, lists objects and allocates.
    ///
    /// # Errors
    /// A bucket that cannot be accessed, or work that does not fit.
    pub fn new(
        objects: &Objects,
        context: &mut JobContext<'_>,
    ) -> Result<ReadyObjects, EngineError> {
        let (plan, job) = (context.plan, context.job);
        let buckets: Vec<&Bucket> =
            objects.buckets.iter().filter_map(|name| plan.bucket(name)).collect();
        let reach = Arc::new(Reach::of(&buckets).map_err(|refusal| unfit(job, refusal))?);
        let made: Made = context.session.of::<Made>().clone();
        let reached = made.reached(&objects.buckets).filter(|_| objects.as_reached);
        let first = reached.as_ref().and_then(|counts| counts.iter().copied().min());
        let first = objects.first.into_iter().chain(first).min();
        let objects = Arc::new(Objects { first, ..objects.clone() });
        let mut admin = Admin::new(&reach).map_err(|refusal| unfit(job, refusal))?;
        let listed = listed(&buckets, &mut admin).map_err(|refusal| unfit(job, refusal))?;
        let users = Users { ranks: context.ranks, workers: job.workers, data_of: job.data_of() };
        let catalog = Arc::new(Catalog::of(&objects, &buckets, listed, users, context.plan.seed));
        if catalog.handle_max(job.workers) > u64::from(u32::MAX) {
            let message = "has more than 4 billion objects on one host";
            return Err(context.unfit(message, "use fewer objects, or more hosts"));
        }
        let uploads = Uploads::default();
        let apart = objects.uploads == Ends::Apart && objects.has(ObjectOp::Put);
        if apart || objects.has(ObjectOp::CompleteUpload) {
            find_uploads(&catalog, job.workers, &mut admin, &uploads)
                .map_err(|refusal| unfit(job, refusal))?;
        }
        let mut shared = context::of(&objects, &buckets, &reach, context.plan.seed)
            .map_err(|refusal| unfit(job, refusal))?;
        if objects.check_list {
            shared.listed = catalog.sorted_keys();
        }
        let part_bytes = part_bytes(&objects, &catalog, &mut admin);
        let form = RequestForm {
            versioning: versioning(&reach, &mut admin),
            ..context::form(&objects, &shared, &reach)
        };
        let counts = made.counts(&objects.buckets);
        let existing = (0..job.workers).map(|worker| {
            let known = counts.as_ref().and_then(|counts| counts.get(worker as usize));
            known.copied().unwrap_or_else(|| existing_at_start(&objects, &catalog, worker))
        });
        Ok(ReadyObjects {
            existing: existing.collect(),
            room: room(&objects, &catalog),
            pool: objects.has(ObjectOp::Put).then(|| pool(context.seed)),
            flow: objects.pace.flow.map(|flow| JobFlow::join(context.phase.of::<Flows>(), flow)),
            seeds: [context.seed, context.plan.seed],
            connect_first: buckets.iter().all(|bucket| bucket.connections.connect_first),
            job: job.clone(),
            stop: context.stop.clone(),
            context: Arc::new(shared),
            began: Instant::now(),
            foreign: context.session.of::<Foreign>().objects(&objects.buckets),
            foreign_uploads: context.session.of::<Foreign>().uploads(&objects.buckets),
            done: Mutex::default(),
            objects,
            catalog,
            reach,
            uploads,
            made,
            part_bytes,
            form,
        })
    }

    /// True if objects are uploaded in parts.
    fn in_parts(&self) -> bool {
        self.objects.has(ObjectOp::Put) && self.objects.part.is_some()
    }

    fn rows(&self, name: &str) -> bool {
        let objects = &self.objects;
        let in_parts = self.in_parts();
        let with_ends = in_parts && objects.uploads != Ends::Apart;
        match name {
            "object" => objects.part.is_some() || objects.range.is_some(),
            "put_part" => in_parts,
            "abort_upload" => with_ends,
            "create_upload" | "complete_upload" if with_ends => true,
            "list_parts" => objects.has(ObjectOp::CompleteUpload),
            name => objects.ops().any(|op| op.operation().name == name),
        }
    }

    fn content(&self, seat: &Seat, memory: Option<&mut Mapping>) -> Option<Contents> {
        let memory = memory?;
        let [seed, plan_seed] = self.seeds;
        let verify = self.objects.verify.as_ref().map(|verify| verify.as_of_blocks(plan_seed));
        let pool = match (&self.pool, &verify) {
            (Some(pool), _) => pool.clone(),
            (None, Some(_)) => pool(seed),
            (None, None) => return None,
        };
        let rank = seat.ranks.rank(seat.rank);
        let reads = self.objects.has(ObjectOp::Get);
        let origin = Origin { seed, plan_seed, rank, reads, blocks: 1 };
        let mut content = Content::new(self.objects.content.clone(), pool, &origin);
        content.prepare(memory.as_mut_slice());
        Some(Contents::new(content, verify, rank))
    }

    fn source(&self, lanes: Lanes, seat: &Seat) -> Box<dyn Source> {
        let random = Random::new(seat.seed_for(PACE), 0);
        let pace = &self.objects.pace;
        let pacer = Pacer::new(pace, Mix::READ, seat.rank, seat.workers, random);
        let source: Box<dyn Source> = match pacer {
            Some(pacer) => Box::new(Paced::new(lanes, pacer)),
            None => Box::new(lanes),
        };
        let share = self.flow.as_ref().map(|flow| flow.share(self.room as u64));
        let depth = self.objects.depth as usize;
        match Limits::new(depth, None, &Stop::default(), share) {
            Some(limits) => Box::new(Limited::new(source, limits)),
            None => source,
        }
    }

    /// The connections of a worker.
    fn carrier(&self, seat: &Seat) -> Result<Carrier, EngineError> {
        let rank = seat.ranks.rank(seat.rank);
        let slots = self.objects.depth as usize;
        let carrier = Carrier::new(CarrierSettings {
            transport: &self.reach.transport,
            slots,
            first_connection: rank * slots as u64,
            login: self.reach.login(rank),
            retry: self.objects.retry,
            table: OPERATIONS,
            seed: seat.seed_for(ORDER),
        });
        let mut carrier = carrier.map_err(|error| EngineError::Unfit {
            job: self.job.name.clone(),
            message: error.to_string(),
            remedy: "raise the limit of open files (ulimit -n)".into(),
        })?;
        if self.connect_first {
            carrier.connect_all();
        }
        Ok(carrier)
    }

    /// Adds a worker's counts, and the uploads that it left open.
    fn collect(&self, requests: &mut Requests, board: &Board, seat_rank: u32, end: &WorkerEnd) {
        let mut http = requests.carrier().stats();
        http.objects = board.stats();
        http.form = board.form.clone();
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.http.merge(http);
        let rank = seat_rank as usize;
        if done.counts.len() <= rank {
            done.counts.resize(rank + 1, 0);
            done.whole.resize(rank + 1, 0);
        }
        (done.counts[rank], done.whole[rank]) = (board.put_count, board.whole_count());
        done.cut |= end.ended != Ended::Done;
        done.missing_bytes += board.missing_bytes;
        done.left.extend(board.lanes.iter().flatten().filter_map(|lane| lane.upload().cloned()));
    }

    /// Aborts uploads that no worker completed; returns their number. The end of the run tries
    /// again with uploads that the server does not abort.
    fn abort_left(&self, mut left: Vec<SharedUpload>) -> u64 {
        if !self.in_parts() || self.objects.uploads != Ends::WithParts {
            return 0;
        }
        // Workers that have left a shared upload no longer name it.
        left.extend(self.uploads.open());
        left.retain(|upload| lock(upload).is_open());
        if left.is_empty() {
            return 0;
        }
        let (mut admin, mut aborted) = (Admin::new(&self.reach).ok(), 0);
        for upload in left {
            let mut upload = lock(&upload);
            // Lanes of several workers may name one upload.
            let id = std::mem::take(&mut upload.id);
            let (bucket, key) = (upload.bucket as usize, std::mem::take(&mut upload.key));
            if id.is_empty() {
                continue;
            }
            let is_aborted =
                admin.as_mut().is_some_and(|admin| admin.abort(bucket, &key, &id).is_ok());
            if is_aborted {
                aborted += 1;
            } else {
                let bucket = self.objects.buckets[bucket].clone();
                self.made.leave(LeftUpload { bucket, key, id });
            }
        }
        aborted
    }
}

/// A refusal as an error of a job.
fn unfit(job: &Job, Refusal { message, remedy, .. }: Refusal) -> EngineError {
    EngineError::Unfit { job: job.name.clone(), message, remedy }
}

/// Objects that the server lists, if the plan leaves the keys to the server.
fn listed(buckets: &[&Bucket], admin: &mut Admin<'_>) -> Result<Option<Arc<Vec<Listed>>>, Refusal> {
    let mut all = Vec::new();
    for (number, bucket) in buckets.iter().enumerate() {
        let Keys::Existing(existing) = &bucket.keys else { return Ok(None) };
        let first = existing.first.unwrap_or(u64::MAX);
        let prefix = bucket.prefix.to_string();
        let found = admin.list(number, &prefix, first);
        let found = found.map_err(|failure| refusal("list", &bucket.bucket, &failure))?;
        let flat = existing.flat;
        all.extend(found.into_iter().filter(|listed| {
            !flat || !listed.key[prefix.len().min(listed.key.len())..].contains('/')
        }));
    }
    if all.is_empty() {
        let name = buckets.first().map_or("", |bucket| bucket.bucket.as_str());
        let message = format!("bucket {name} has no objects below the prefix");
        return Err(Refusal::new(message, "put objects first, or give another prefix"));
    }
    Ok(Some(Arc::new(all)))
}

/// Finds the uploads of shared objects, which another phase started.
fn find_uploads(
    catalog: &Catalog,
    workers: u32,
    admin: &mut Admin<'_>,
    uploads: &Uploads,
) -> Result<(), Refusal> {
    let mut key = String::new();
    for worker in 0..workers {
        for nth in 0..catalog.count(worker) {
            let object = catalog.object(worker, nth);
            catalog.write_key(&object, &mut key);
            let open = admin.uploads(object.bucket as usize, &key);
            let open = open.map_err(|failure| refusal("list uploads of", &key, &failure))?;
            let Some(upload) = open.into_iter().rev().find(|upload| upload.key == key) else {
                let message = format!("no upload of {key} is open");
                return Err(Refusal::new(message, "run a phase with create_upload first"));
            };
            uploads.found(object.number(), upload.id);
        }
    }
    Ok(())
}

/// Part size of the objects that ranges are read from, as the server reports it.
fn part_bytes(objects: &Objects, catalog: &Catalog, admin: &mut Admin<'_>) -> Option<u64> {
    if !objects.has(ObjectOp::Get) || objects.range.is_none() || catalog.count(0) == 0 {
        return None;
    }
    let object = catalog.object(0, 0);
    let mut key = String::new();
    catalog.write_key(&object, &mut key);
    admin.part_bytes(object.bucket as usize, &key).ok()
}

fn versioning(reach: &Reach, admin: &mut Admin<'_>) -> Option<String> {
    if !reach.signs() {
        return None;
    }
    admin.versioning(0).ok().map(|state| format!("{state:?}").to_lowercase())
}

/// Objects of a worker that exist at the start, if no earlier job of this run put any.
fn existing_at_start(objects: &Objects, catalog: &Catalog, worker: u32) -> u64 {
    let moves = !objects.mix.is_empty() && objects.has(ObjectOp::Put);
    if moves { 0 } else { catalog.count(worker) }
}

/// Bytes of a slot's buffer.
fn room(objects: &Objects, catalog: &Catalog) -> usize {
    let longest = catalog.bytes_max();
    let put = objects.part.map_or(longest, |part| part.0.min(longest));
    let unit = objects.range.or(objects.part.filter(|_| objects.by_part_number));
    let get = unit.map_or(longest, |unit| unit.0.min(longest));
    let puts = if objects.has(ObjectOp::Put) { put } else { 0 };
    let gets = if objects.has(ObjectOp::Get) && !objects.discard { get } else { 0 };
    puts.max(gets) as usize
}

impl JobWork for ReadyObjects {
    fn recorded(&self) -> Recorded {
        let recorded = Recorded::of(OPERATIONS, |row| self.rows(row.name));
        Recorded { intended: self.objects.pace.is_rated(), ..recorded }
    }

    fn engine_name(&self) -> &'static str {
        "http"
    }

    fn work(&self, seat: Seat) -> Result<WorkerEnd, EngineError> {
        let depth = self.objects.depth as usize;
        let bytes = self.room.next_multiple_of(PAGE_BYTES);
        let what = format!("allocate {depth} buffers of {bytes} bytes");
        let mut memory = match self.room {
            0 => None,
            _ => Some(
                Mapping::new(bytes * depth, Pages::Contiguous)
                    .map_err(EngineError::system(what))?,
            ),
        };
        let contents = self.content(&seat, memory.as_mut());
        let buffers = memory.as_ref().map_or(Buffers::None, |all| Buffers::Host(all, bytes));
        let board = Rc::new(RefCell::new(Board::new(self.objects.lanes())));
        board.borrow_mut().stats.part_bytes = self.part_bytes;
        let carrier = self.carrier(&seat)?;
        let first = seat.ranks.rank(seat.rank) * depth as u64;
        let endpoints = (0..depth as u64).map(|slot| self.reach.endpoint(first + slot)).collect();
        let wire = Wire::new(self.context.clone(), board.clone(), endpoints, bytes);
        let mut requests = Requests::new(carrier, wire, seat.ending());
        let settings = Settings {
            objects: self.objects.clone(),
            catalog: self.catalog.clone(),
            uploads: self.uploads.clone(),
            worker: seat.rank,
            existing: self.existing[seat.rank as usize],
            budget: Budget::of(&self.stop),
            seed: seat.seed_for(ORDER),
        };
        let source = self.source(Lanes::new(settings, board.clone(), contents), &seat);
        let shape = Shape {
            depth,
            batch: depth,
            reap: 1,
            reap_max: depth,
            fills_first: false,
            priority: 0,
        };
        let rank = seat.rank;
        let end = worker::run_gated(seat, shape, &buffers, &mut requests, source);
        self.collect(&mut requests, &board.borrow(), rank, &end);
        Ok(end)
    }

    fn name_of(&self, handle: u32) -> String {
        self.catalog.key_of(handle)
    }

    fn verifies(&self) -> bool {
        self.objects.verify.is_some() && self.objects.has(ObjectOp::Get)
    }

    fn finish(&self, measurement: &mut Measurement) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        let mut http = std::mem::take(&mut done.http);
        http.objects.aborted_uploads += self.abort_left(std::mem::take(&mut done.left));
        let answered = std::mem::take(&mut http.form);
        http.form = RequestForm {
            encryption: answered.encryption,
            storage_class: answered.storage_class,
            object_lock: answered.object_lock,
            versioning: answered.versioning.or(self.form.versioning.clone()),
            ..self.form.clone()
        };
        http.objects.part_bytes = self.part_bytes;
        http.objects.foreign_objects = self.foreign;
        self.add_age(&mut http);
        self.add_open_uploads(&mut http);
        explain(measurement, &http);
        remove_bytes(measurement, done.missing_bytes);
        measurement.http = Some(Box::new(http));
        if self.objects.has(ObjectOp::Put) || self.objects.has(ObjectOp::Copy) {
            self.made.add(MadeBy {
                buckets: self.objects.buckets.clone(),
                catalog: self.catalog.clone(),
                counts: std::mem::take(&mut done.counts),
                whole: std::mem::take(&mut done.whole),
                suffix: if self.objects.has(ObjectOp::Copy) { COPY_SUFFIX } else { "" },
                cut: done.cut,
                times: [self.began, Instant::now()],
            });
        }
    }
}

impl ReadyObjects {
    /// Ages of objects that this run put, at their reads in this job.
    fn add_age(&self, http: &mut HttpStats) {
        let times = self.made.times(&self.objects.buckets);
        if let Some([from, to]) = times.filter(|_| http.objects.reads > 0) {
            http.objects.age_s = Some(AgeRange {
                min_s: self.began.saturating_duration_since(to).as_secs_f64(),
                max_s: from.elapsed().as_secs_f64(),
            });
        }
    }

    /// Uploads that are open after the job, if the server lists them.
    fn add_open_uploads(&self, http: &mut HttpStats) {
        if !self.in_parts() || self.objects.uploads != Ends::WithParts {
            return;
        }
        let Ok(mut admin) = Admin::new(&self.reach) else { return };
        let mut prefix = String::new();
        let mut open = None;
        for bucket in 0..self.objects.buckets.len() {
            self.catalog.write_prefix(bucket as u32, &mut prefix);
            let found = admin.uploads(bucket, &prefix).ok().map(|uploads| uploads.len() as u64);
            open = found.map(|found| open.unwrap_or(0) + found).or(open);
        }
        http.objects.open_uploads = open.map(|open| open.saturating_sub(self.foreign_uploads));
    }
}

/// Removes bytes of reads that moved none: their objects are missing, and the plan permits this.
fn remove_bytes(measurement: &mut Measurement, bytes: u64) {
    let name = ObjectOp::Get.operation().name;
    let mut reads = measurement.operations.iter_mut().filter(|_| bytes > 0);
    if let Some(get) = reads.find(|op| op.name == name) {
        get.bytes = get.bytes.saturating_sub(bytes);
        measurement.derive();
    }
}
