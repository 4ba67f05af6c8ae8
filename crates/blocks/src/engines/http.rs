//! Engine of HTTP requests on objects: a read is a GET, a write a PUT, a trim a DELETE. Flushes do
//! nothing, because an answered PUT is durable.

use std::cell::Cell;
use std::fmt::Write;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use candor_engine::EngineError;
use candor_engine::clock::Ticks;
use candor_engine::family::Seat;
use candor_engine::issue::Io;
use candor_engine::operation::{Buffer, Done, Op, Outcome, Slot};
use candor_engine::source::{Next, Source, Turn};
use candor_http::{Answer, Buffers, Request};
use candor_plan::blocks::{Blocks, Engine, Http as Options, ObjectMode};
use candor_plan::objects::{Payload, Retry};
use candor_plan::work::BlocksOp;
use candor_plan::{Job, Plan};
use candor_record::http::{FailureClass, RequestForm};
use candor_record::{HttpStats, Measurement};
use candor_s3::answers;
use candor_s3::carrier::{Carrier, End, Failure, Finished, Settings, Work, address};
use candor_s3::planned;
use candor_s3::reach::{Reach, Refusal};
use candor_s3::requests::{self, ByteRange, Object};
use candor_s3::{Headers, Integrity, Login, errno_of, explain};

use crate::slot::BlocksSlot;

/// Status of an answer with a range.
const PARTIAL: u16 = 206;

/// Objects of a job's targets, and the counts of its workers.
pub struct Objects {
    reach: Reach,
    options: Options,
    /// Key of each file; in block mode, offset and length follow.
    keys: Vec<String>,
    put_headers: Headers,
    other_headers: Headers,
    integrity: Integrity,
    connect_first: bool,
    expect_continue: bool,
    form: RequestForm,
    stats: Mutex<HttpStats>,
}

impl Objects {
    /// The objects of a job; none unless its engine is http.
    ///
    /// # Errors
    /// A bucket that cannot be accessed.
    pub fn of(plan: &Plan, job: &Job, blocks: &Blocks) -> Result<Option<Objects>, Refusal> {
        let Engine::Http(options) = blocks.engine else { return Ok(None) };
        let bucket = blocks.bucket.as_deref().and_then(|name| plan.bucket(name));
        let buckets: Vec<_> = bucket.into_iter().collect();
        let reach = Reach::of(&buckets)?;
        let customer = planned::customer_key(&blocks.headers, plan.seed);
        let mut other_headers = Headers::new();
        if let Some(key) = &customer {
            other_headers.customer_key(key)?;
        }
        let integrity = planned::integrity(Payload::Auto, None, &reach)?;
        let expect_continue = buckets.iter().any(|bucket| bucket.connections.expect_continue);
        let targets = job.targets.iter().filter_map(|name| plan.target(name));
        let (prefix, name) =
            bucket.map_or(("", ""), |bucket| (&bucket.prefix.before, &bucket.bucket));
        let keys = targets.flat_map(|target| {
            let keys = (0..target.files_named()).map(|nth| target.key_of(nth, name));
            keys.map(|key| format!("{prefix}{key}"))
        });
        Ok(Some(Objects {
            options,
            keys: keys.collect(),
            put_headers: planned::upload_headers(&blocks.headers, customer.as_ref())?,
            other_headers,
            connect_first: buckets.iter().all(|bucket| bucket.connections.connect_first),
            expect_continue,
            form: RequestForm {
                expect_continue,
                ..planned::form(&blocks.headers, &integrity, &reach)
            },
            integrity,
            reach,
            stats: Mutex::default(),
        }))
    }

    /// The engine of a worker.
    ///
    /// # Errors
    /// The kernel has no descriptor left.
    pub fn engine(&self, seat: &Seat, depth: usize, job: &str) -> Result<Http<'_>, EngineError> {
        let rank = seat.ranks.rank(seat.rank);
        let first_connection = rank * depth as u64;
        let carrier = Carrier::new(Settings {
            transport: &self.reach.transport,
            slots: depth,
            first_connection,
            login: self.reach.login(rank),
            retry: Retry::default(),
            table: BlocksOp::TABLE,
            seed: seat.seed_for(rank),
        });
        let mut carrier = carrier.map_err(|error| EngineError::Unfit {
            job: job.to_owned(),
            message: error.to_string(),
            remedy: "raise the limit of open files (ulimit -n)".into(),
        })?;
        if self.connect_first {
            carrier.connect_all();
        }
        let endpoints = (0..depth as u64).map(|slot| self.reach.endpoint(first_connection + slot));
        let requests = endpoints.map(Current::new).collect();
        Ok(Http {
            carrier,
            wire: Wire { objects: self, requests },
            pending: Vec::with_capacity(depth),
            idle: Vec::with_capacity(depth),
            finished: Vec::with_capacity(depth),
            has_begun: Rc::default(),
        })
    }

    /// Adds the counts of a worker.
    pub fn collect(&self, engine: &Http<'_>) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.merge(engine.carrier.stats());
    }

    /// Moves the counts of all workers to the measurement.
    pub fn finish(&self, measurement: &mut Measurement) {
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        let http = HttpStats { form: self.form.clone(), ..std::mem::take(&mut *stats) };
        explain(measurement, &http);
        measurement.http = Some(Box::new(http));
    }
}

/// Request of a slot.
struct Current {
    endpoint: usize,
    op: Op,
    is: BlocksOp,
    key: String,
    offset: u64,
    length: u64,
    buffer: Buffer,
}

impl Current {
    fn new(endpoint: usize) -> Current {
        Current {
            endpoint,
            op: Op(0),
            is: BlocksOp::Read,
            key: String::new(),
            offset: 0,
            length: 0,
            buffer: Buffer::None,
        }
    }
}

/// Builds the requests of slots and reads their answers.
struct Wire<'a> {
    objects: &'a Objects,
    requests: Vec<Current>,
}

impl Wire<'_> {
    fn enter(&mut self, index: usize, slot: &Slot) {
        let Slot { op, offset, length, buffer, .. } = *slot;
        let key = &self.objects.keys[slot.handle as usize];
        let mode = self.objects.options.object_mode;
        let current = &mut self.requests[index];
        (current.op, current.is, current.buffer) = (op, slot.issued(), buffer);
        (current.offset, current.length) = (offset, length);
        current.key.clear();
        current.key.push_str(key);
        if mode == ObjectMode::Block {
            write!(current.key, "_{offset}_{length}").expect("a string takes all text");
        }
    }
}

impl Buffers for Wire<'_> {
    fn bytes(&self, slot: usize) -> &[u8] {
        let Current { buffer, length, .. } = self.requests[slot];
        match buffer {
            Buffer::None => &[],
            // SAFETY: the buffer has room for the operation, belongs to the slot while its request
            // is in flight, and only this thread uses it.
            Buffer::Host(at) => unsafe { std::slice::from_raw_parts(at.as_ptr(), length as usize) },
        }
    }

    fn room(&mut self, slot: usize) -> &mut [u8] {
        let Current { buffer, length, .. } = self.requests[slot];
        match buffer {
            Buffer::None => &mut [],
            // SAFETY: as above.
            Buffer::Host(at) => unsafe {
                std::slice::from_raw_parts_mut(at.as_ptr(), length as usize)
            },
        }
    }
}

impl Work for Wire<'_> {
    fn row(&self, slot: usize) -> usize {
        self.requests[slot].op.index()
    }

    fn prefix(&self, slot: usize) -> &str {
        self.requests[slot].key.rsplit_once('/').map_or("", |(begin, _)| begin)
    }

    fn build(&mut self, slot: usize, request: &mut Request, login: &mut Login, unix_s: u64) {
        let (objects, current) = (self.objects, &self.requests[slot]);
        let place = &objects.reach.places[current.endpoint][0];
        let object = Object { place, key: &current.key, version: None };
        match (current.is, objects.options.object_mode) {
            (BlocksOp::Write, _) => {
                requests::put(request, &object, &objects.put_headers);
                if objects.expect_continue {
                    request.header("expect", "100-continue");
                }
                login.upload(request, place, &objects.integrity, self.bytes(slot), unix_s);
                return address(request, place);
            }
            (BlocksOp::Trim, _) => requests::delete(request, &object, &Headers::new()),
            (_, ObjectMode::Block) => requests::get(request, &object, &objects.other_headers),
            (_, ObjectMode::Range) => {
                let range = ByteRange { first: current.offset, bytes: current.length };
                requests::get_range(request, &object, range, &objects.other_headers);
            }
        }
        login.finish(request, place, unix_s);
        address(request, place);
    }

    fn read(&mut self, slot: usize, answer: &Answer) -> Result<u64, Box<Failure>> {
        answers::check(answer)?;
        let current = &self.requests[slot];
        if current.is != BlocksOp::Read {
            return Ok(current.length);
        }
        let is_range = self.objects.options.object_mode == ObjectMode::Range;
        if is_range && answer.status != PARTIAL {
            let (status, key) = (answer.status, &current.key);
            let message = format!(
                "GET of {} bytes at {} of {key} was answered with status {status} instead of 206: \
                 the server ignores ranges; use object_mode = \"block\"",
                current.length, current.offset
            );
            return Err(Failure::of_client(FailureClass::Malformed, message));
        }
        Ok(answer.body_bytes)
    }

    fn permits(&self, slot: usize, failure: &Failure) -> bool {
        let is = self.requests[slot].is;
        let permitted =
            is == BlocksOp::Trim || (is == BlocksOp::Read && self.objects.options.holes);
        permitted && failure.class == FailureClass::Missing
    }
}

/// Engine of a worker: requests over one connection per operation in flight.
pub struct Http<'a> {
    carrier: Carrier,
    wire: Wire<'a>,
    /// Slots that were built and not sent.
    pending: Vec<u32>,
    /// Slots without a request.
    idle: Vec<u32>,
    finished: Vec<Finished>,
    has_begun: Rc<Cell<bool>>,
}

impl Http<'_> {
    /// A source that reports the begin of the measured part to this engine.
    pub fn begins(&self, inner: Box<dyn Source>) -> Begins {
        Begins { inner, has_begun: self.has_begun.clone() }
    }

    fn outcome(&mut self, finished: &Finished) -> Outcome {
        let Current { is, length, .. } = self.wire.requests[finished.slot];
        match finished.end {
            End::Done(bytes) => Outcome::Done(bytes),
            End::Permitted => {
                if is == BlocksOp::Read {
                    self.wire.room(finished.slot).fill(0);
                }
                Outcome::Done(length)
            }
            End::Failed(class) => Outcome::error(errno_of(class)),
            End::GivenUp => Outcome::Over,
        }
    }
}

impl Io for Http<'_> {
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for &index in batch {
            let slot = &slots[index as usize];
            match slot.issued() {
                BlocksOp::Read | BlocksOp::Write | BlocksOp::Trim => {
                    self.wire.enter(index as usize, slot);
                    self.carrier.build(index as usize, &mut self.wire);
                    self.pending.push(index);
                }
                _ => self.idle.push(index),
            }
        }
    }

    fn turn(
        &mut self,
        _: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        if self.has_begun.take() {
            self.carrier.begin();
        }
        for index in self.pending.drain(..) {
            self.carrier.start(index as usize, &mut self.wire);
        }
        let min = min.saturating_sub(self.idle.len());
        for index in self.idle.drain(..) {
            done.push(index, Outcome::Done(0));
        }
        let wait = wait_ns.map(Duration::from_nanos);
        self.carrier.turn(&mut self.wire, min, wait, &mut self.finished);
        let mut finished = std::mem::take(&mut self.finished);
        for one in finished.drain(..) {
            let outcome = self.outcome(&one);
            done.push(one.slot as u32, outcome);
        }
        self.finished = finished;
        None
    }

    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Source that reports the begin of the measured part.
pub struct Begins {
    inner: Box<dyn Source>,
    has_begun: Rc<Cell<bool>>,
}

impl Source for Begins {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        self.inner.next(slot, turn)
    }

    fn inner(&mut self) -> Option<&mut dyn Source> {
        Some(&mut *self.inner)
    }

    fn begin(&mut self) {
        self.has_begun.set(true);
        self.inner.begin();
    }
}
