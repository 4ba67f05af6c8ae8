//! Source of a worker's requests: objects in lanes, each with its next request.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Outcome, Slot};
use candor_engine::random::mix;
use candor_engine::source::{Next as Answer, Source, Spans, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::objects::{OBJECT, ObjectOp, Objects};
use candor_record::Ended;

use crate::board::Board;
use crate::contents::Contents;
use crate::keys::{Catalog, Object};
use crate::lanes::{Lane, Next, Offer, PartsLeft, RangeOrder, Ranges, Task};
use crate::order::{Budget, Order};
use crate::uploads::{self, Uploads};

/// Interval between two checks of an upload that another worker starts, in ns.
const OTHERS_NS: u64 = 100_000;

/// Settings of a source.
pub struct Settings {
    /// Work of the plan.
    pub objects: Arc<Objects>,
    /// Objects of the job.
    pub catalog: Arc<Catalog>,
    /// Uploads that workers share.
    pub uploads: Uploads,
    /// Number of the worker on this host.
    pub worker: u32,
    /// Objects of the worker that exist at the start.
    pub existing: u64,
    /// Amount of work.
    pub budget: Budget,
    /// Seed of the worker's choices.
    pub seed: u64,
}

/// Source of a worker's requests.
pub struct Lanes {
    settings: Settings,
    order: Order,
    board: Rc<RefCell<Board>>,
    /// Lanes in which a request may start; the next one is last.
    ready: Vec<u32>,
    contents: Option<Contents>,
    left: Budget,
    /// No object begins any more.
    draining: bool,
    checking: Ticks,
}

impl Lanes {
    /// A source without objects in progress.
    pub fn new(settings: Settings, board: Rc<RefCell<Board>>, contents: Option<Contents>) -> Lanes {
        let count = settings.count();
        let order = Order::new(&settings.objects, count, settings.existing, settings.seed);
        let lanes = settings.objects.lanes();
        Lanes {
            order,
            board,
            ready: (0..lanes).rev().collect(),
            contents,
            left: Budget { ops: u64::MAX, bytes: u64::MAX, passes: u64::MAX },
            draining: false,
            checking: Ticks(0),
            settings,
        }
    }

    /// Begins the next object in a lane; false if none follows.
    fn begin_object(&mut self, lane: u32) -> bool {
        if self.draining || self.left.ops == 0 || self.left.bytes == 0 {
            return false;
        }
        let mut board = self.board.borrow_mut();
        loop {
            let chosen =
                self.order.next(|nth| board.lanes.iter().flatten().any(|lane| lane.nth == nth));
            let Some(chosen) = chosen else { return false };
            if let Some(new) = self.settings.lane(chosen.nth, chosen.op, &mut self.order) {
                board.lanes[lane as usize] = Some(new);
                return true;
            }
        }
    }

    /// The next request of any lane.
    fn draw(&mut self) -> Drawn {
        let mut waits = None;
        let mut at = self.ready.len();
        while at > 0 {
            at -= 1;
            let number = self.ready[at];
            let is_free = self.board.borrow().lanes[number as usize].is_none();
            if is_free && !self.begin_object(number) {
                self.ready.remove(at);
                continue;
            }
            let mut board = self.board.borrow_mut();
            let lane = board.lane(number);
            match lane.next() {
                Offer::Request(next) => {
                    lane.in_flight += 1;
                    return Drawn::Request(number, next);
                }
                Offer::Others => waits = Some(Wait::Others(OTHERS_NS)),
                Offer::Later => {
                    self.ready.remove(at);
                }
                Offer::Nothing if lane.in_flight > 0 => {
                    self.ready.remove(at);
                }
                // Nothing of the object is this worker's, or other workers end it.
                Offer::Nothing => {
                    board.ended(number);
                    at += 1;
                }
            }
        }
        Drawn::Wait(waits)
    }

    /// Charges a request to the budget.
    fn charge(&mut self, next: &Next) {
        self.left.ops = self.left.ops.saturating_sub(1);
        self.left.bytes = self.left.bytes.saturating_sub(next.length);
    }
}

enum Drawn {
    Request(u32, Next),
    Wait(Option<Wait>),
}

impl Settings {
    /// Number of the worker's objects, buckets or lists.
    fn count(&self) -> u64 {
        let objects = &self.objects;
        let lists = objects.has(ObjectOp::List) || objects.has(ObjectOp::ListVersions);
        if lists && objects.list_directories {
            return self.catalog.directories(self.worker);
        }
        if lists || objects.ops().all(ObjectOp::is_on_bucket) {
            return self.catalog.buckets_of(self.worker);
        }
        self.catalog.count(self.worker)
    }

    /// The lane of a chosen object; none if nothing of it is this worker's.
    fn lane(&self, nth: u64, op: ObjectOp, order: &mut Order) -> Option<Lane> {
        let lists = matches!(op, ObjectOp::List | ObjectOp::ListVersions);
        let mut lane = if lists && self.objects.list_directories {
            let mut lane = Lane::new(Object::default(), op, Task::List);
            lane.object.bucket = self.catalog.directory(self.worker, nth, &mut lane.key);
            lane
        } else if lists || op.is_on_bucket() {
            let task = if lists { Task::List } else { Task::Single { length: 0, issued: false } };
            let mut lane = Lane::new(Object::default(), op, task);
            lane.object.bucket = self.catalog.bucket_of(self.worker, nth);
            self.catalog.write_prefix(lane.object.bucket, &mut lane.key);
            lane
        } else {
            let object = self.catalog.object(self.worker, nth);
            let mut lane = Lane::new(object, op, self.task(&object, op, order.turn())?);
            self.catalog.write_key(&object, &mut lane.key);
            lane.handle = self.catalog.handle(self.worker, nth);
            lane
        };
        lane.nth = nth;
        if op == ObjectOp::CompleteUpload {
            let upload = self.uploads.of(lane.object.number(), 0);
            lane.list.upload.clone_from(&uploads::lock(&upload).id);
        }
        if op == ObjectOp::DeleteMany {
            self.batch(&mut lane, order);
        }
        Some(lane)
    }

    /// Adds the keys of the next objects of the same bucket, up to the plan's number.
    fn batch(&self, lane: &mut Lane, order: &mut Order) {
        lane.keys.push(lane.key.clone());
        while lane.keys.len() < self.objects.batch as usize {
            let Some(nth) = order
                .next_in(|nth| self.catalog.object(self.worker, nth).bucket == lane.object.bucket)
            else {
                break;
            };
            let mut key = String::new();
            self.catalog.write_key(&self.catalog.object(self.worker, nth), &mut key);
            lane.keys.push(key);
        }
    }

    /// Requests of an object in a turn; none if nothing of it is this worker's.
    fn task(&self, object: &Object, op: ObjectOp, turn: u64) -> Option<Task> {
        let objects = &self.objects;
        let bytes = object.end - object.start;
        match op {
            ObjectOp::Put => match objects.part {
                Some(part) if object.bytes > part.0 => {
                    (bytes > 0).then(|| Task::Upload(self.parts(object, part.0)))
                }
                _ => single(object, object.bytes),
            },
            ObjectOp::Get => {
                let unit = objects.range.or(objects.part.filter(|_| objects.by_part_number));
                match unit.filter(|unit| bytes > unit.0 || object.is_shared()) {
                    Some(unit) => {
                        (bytes > 0).then(|| Task::Ranges(self.ranges(object, unit.0, turn)))
                    }
                    None => single(object, object.bytes),
                }
            }
            ObjectOp::CompleteUpload => {
                object.is_first().then_some(Task::Complete { issued: false })
            }
            _ => single(object, 0),
        }
    }

    fn parts(&self, object: &Object, unit: u64) -> PartsLeft {
        let count = object.bytes.div_ceil(unit);
        let shares =
            object.is_shared() || self.objects.uploads == candor_plan::objects::Uploads::Apart;
        let upload =
            if shares { self.uploads.of(object.number(), count) } else { uploads::new(count) };
        PartsLeft { upload, unit, next: object.start, ends: self.objects.uploads }
    }

    /// Ranges of an object; each turn has its own order.
    fn ranges(&self, object: &Object, unit: u64, turn: u64) -> Ranges {
        let count = (object.end - object.start).div_ceil(unit);
        let turns = self.objects.ranges.map_or(count, u64::from);
        let order =
            RangeOrder::of(&self.objects.access, count, mix(self.seed, turn), object.number());
        Ranges { unit, count, turn: 0, turns, order }
    }
}

/// One request for an object as a whole, by the one rank that issues it.
fn single(object: &Object, length: u64) -> Option<Task> {
    object.is_first().then_some(Task::Single { length, issued: false })
}

impl Source for Lanes {
    fn is_over(&mut self) -> bool {
        self.order.is_over() && self.board.borrow().lanes.iter().all(Option::is_none)
    }

    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Answer {
        let (number, next) = match self.draw() {
            Drawn::Request(number, next) => (number, next),
            Drawn::Wait(_) if turn.in_flight > 0 => return Answer::Wait(Wait::InFlight),
            Drawn::Wait(Some(wait)) => return Answer::Wait(wait),
            Drawn::Wait(None) => return Answer::End(Ended::Done),
        };
        self.charge(&next);
        let mut board = self.board.borrow_mut();
        let lane = board.lane(number);
        (slot.op, slot.offset, slot.length) = (next.op, next.offset, next.length);
        (slot.tag, slot.handle) = (number, lane.handle);
        if let Some(contents) = self.contents.as_mut().filter(|_| crate::uploads_bytes(next.op)) {
            contents.write(slot, &lane.key);
        }
        Answer::Ready
    }

    fn spans_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool, spans: &mut Spans<'_>) {
        let mut board = self.board.borrow_mut();
        let lane = board.lane(slot.tag);
        lane.began = lane.began.min(started);
        let is_over = lane.ended(slot.op, is_done);
        let has_several = self.settings.objects.part.or(self.settings.objects.range).is_some();
        if is_over && !lane.failed && has_several && lane.ends_object(slot.op) {
            spans.end(Some((Op(OBJECT), lane.began)));
        }
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let is_whole = outcome == Outcome::Done(slot.length);
        let mut board = self.board.borrow_mut();
        if let Some(contents) =
            self.contents.as_mut().filter(|_| is_whole && slot.op == Op(ObjectOp::Get as u8))
        {
            let before = turn.clock.now();
            let lane = board.lane(slot.tag);
            let continues = lane.is_missing || contents.check(slot, &lane.key);
            self.checking += turn.clock.now() - before;
            if !continues {
                turn.end(Ended::Failed);
            }
        }
        let lane = board.lane(slot.tag);
        if lane.in_flight == 0 && lane.is_over() {
            board.ended(slot.tag);
        }
        if !self.ready.contains(&slot.tag) {
            self.ready.push(slot.tag);
        }
    }

    fn give_up(&mut self, slot: &Slot) {
        self.board.borrow_mut().lane(slot.tag).in_flight -= 1;
    }

    fn begin(&mut self) {
        self.checking = Ticks(0);
        self.left = self.settings.budget;
        self.board.borrow_mut().begin();
        self.order.begin(self.settings.budget);
    }

    fn drain(&mut self) {
        self.draining = true;
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        let Some(contents) = &self.contents else { return };
        let reads = self.settings.objects.has(ObjectOp::Get);
        end.verify = contents.stats().filter(|_| reads);
        end.stats.verify_ns = turn.clock.ns(self.checking);
        end.stats.fill_ns = turn.clock.ns(turn.fill);
    }
}
