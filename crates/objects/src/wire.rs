//! Requests of slots, and answers to them.

mod build;
mod read;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use candor_engine::clock::Ticks;
use candor_engine::family::Ending;
use candor_engine::issue::Io;
use candor_engine::operation::{Buffer, Done, Op, Outcome, Slot};
use candor_http::{Answer, Buffers, Request};
use candor_plan::objects::Objects;
use candor_record::http::FailureClass;
use candor_s3::carrier::{Carrier, End, Failure, Finished, Work};
use candor_s3::{Headers, Integrity, Login, Place, Site, Tag, errno_of};

use crate::board::Board;

pub use build::COPY_SUFFIX;

/// Values that all requests of a job share.
pub struct Context {
    /// Work of the plan.
    pub objects: Arc<Objects>,
    /// Sites, by endpoint.
    pub sites: Vec<Site>,
    /// Buckets, by endpoint and number.
    pub places: Vec<Vec<Place>>,
    /// Names of the buckets at the server.
    pub buckets: Vec<String>,
    /// Headers of uploads.
    pub put_headers: Headers,
    /// Headers of parts.
    pub part_headers: Headers,
    /// Headers of reads.
    pub get_headers: Headers,
    /// Headers of all other requests on objects.
    pub object_headers: Headers,
    /// Headers of requests that set an ACL.
    pub acl_headers: Headers,
    /// Headers of new buckets.
    pub bucket_headers: Headers,
    /// Tags of objects and buckets.
    pub tags: Vec<Tag>,
    /// Protection of uploads.
    pub integrity: Integrity,
    /// Uploads wait for `100 Continue`.
    pub expect_continue: bool,
    /// Keys that lists must have, by bucket, in ascending order; empty if no list is checked.
    pub listed: Vec<Vec<String>>,
}

/// Endpoint of each slot, as a number.
pub type SlotEndpoints = Vec<usize>;

/// A slot's request.
#[derive(Clone, Copy, Debug)]
struct Current {
    op: Op,
    lane: u32,
    offset: u64,
    length: u64,
    buffer: Buffer,
}

/// Builds the requests of slots and reads their answers.
pub struct Wire {
    context: Arc<Context>,
    board: Rc<RefCell<Board>>,
    slots: Vec<Current>,
    endpoints: SlotEndpoints,
    /// Bytes in each slot's buffer.
    room: usize,
    /// Keys of the failures of the current lanes, for counts.
    prefixes: Vec<String>,
}

/// Engine of a worker: its requests over its connections.
pub struct Requests {
    carrier: Carrier,
    wire: Wire,
    /// Slots that were built and not sent.
    pending: Vec<u32>,
    finished: Vec<Finished>,
    ending: Ending,
}

impl Wire {
    /// A wire of `slots` slots with `room` bytes each.
    pub fn new(
        context: Arc<Context>,
        board: Rc<RefCell<Board>>,
        endpoints: SlotEndpoints,
        room: usize,
    ) -> Wire {
        let none = Current { op: Op(0), lane: 0, offset: 0, length: 0, buffer: Buffer::None };
        Wire {
            context,
            board,
            slots: vec![none; endpoints.len()],
            prefixes: vec![String::new(); endpoints.len()],
            endpoints,
            room,
        }
    }
}

impl Buffers for Wire {
    fn bytes(&self, slot: usize) -> &[u8] {
        let Current { buffer, length, .. } = self.slots[slot];
        match buffer {
            Buffer::None => &[],
            // SAFETY: the buffer belongs to the slot while its request is in flight, has room for
            // the request's length, and only this thread uses it.
            Buffer::Host(at) => unsafe { std::slice::from_raw_parts(at.as_ptr(), length as usize) },
        }
    }

    fn room(&mut self, slot: usize) -> &mut [u8] {
        match self.slots[slot].buffer {
            Buffer::None => &mut [],
            // SAFETY: each slot's buffer has `room` bytes, belongs to the slot while its request is
            // in flight, and only this thread uses it.
            Buffer::Host(at) => unsafe { std::slice::from_raw_parts_mut(at.as_ptr(), self.room) },
        }
    }
}

impl Work for Wire {
    fn row(&self, slot: usize) -> usize {
        self.slots[slot].op.index()
    }

    fn prefix(&self, slot: usize) -> &str {
        &self.prefixes[slot]
    }

    fn build(&mut self, slot: usize, request: &mut Request, login: &mut Login, unix_s: u64) {
        build::request(self, slot, &mut build::Unsent { request, login, unix_s });
    }

    fn read(&mut self, slot: usize, answer: &Answer) -> Result<u64, Box<Failure>> {
        let result = read::answer(self, slot, answer);
        if result.is_err() {
            let board = self.board.borrow();
            let lane = board.lanes[self.slots[slot].lane as usize].as_ref();
            let key = lane.map_or("", |lane| lane.key.as_str());
            self.prefixes[slot].clear();
            self.prefixes[slot].push_str(key.rsplit_once('/').map_or("", |(begin, _)| begin));
        }
        result
    }

    fn permits(&self, _slot: usize, failure: &Failure) -> bool {
        self.context.objects.missing_ok && failure.class == FailureClass::Missing
    }
}

impl Requests {
    /// An engine over connections.
    pub fn new(carrier: Carrier, wire: Wire, ending: Ending) -> Requests {
        let slots = wire.slots.len();
        Requests {
            carrier,
            wire,
            pending: Vec::with_capacity(slots),
            finished: Vec::with_capacity(slots),
            ending,
        }
    }

    /// The connections, for counts and for requests after the loop.
    pub fn carrier(&mut self) -> &mut Carrier {
        &mut self.carrier
    }
}

impl Io for Requests {
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for index in batch {
            let slot = &slots[*index as usize];
            let (op, lane, offset, length) = (slot.op, slot.tag, slot.offset, slot.length);
            let current = Current { op, lane, offset, length, buffer: slot.buffer };
            self.wire.slots[*index as usize] = current;
            self.carrier.build(*index as usize, &mut self.wire);
            self.pending.push(*index);
        }
    }

    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        if std::mem::take(&mut self.wire.board.borrow_mut().has_begun) {
            self.carrier.begin();
        }
        for index in self.pending.drain(..) {
            self.carrier.start(index as usize, &mut self.wire);
        }
        let wait = wait_ns.map(std::time::Duration::from_nanos);
        self.carrier.turn(&mut self.wire, min, wait, &mut self.finished);
        if self.ending.has_begun() {
            self.carrier.give_up(&mut self.finished);
        }
        for Finished { slot, end } in self.finished.drain(..) {
            let Slot { tag, length, .. } = slots[slot];
            let outcome = match end {
                End::Done(bytes) => Outcome::Done(bytes),
                End::Permitted => {
                    let mut board = self.wire.board.borrow_mut();
                    board.lane(tag).is_missing = true;
                    board.missing_bytes += length;
                    Outcome::Done(length)
                }
                End::Failed(class) => Outcome::error(errno_of(class)),
                // Neither done nor failed; the worker issues nothing more.
                End::GivenUp => Outcome::Over,
            };
            done.push(slot as u32, outcome);
        }
        None
    }

    fn features(&self) -> Vec<String> {
        Vec::new()
    }
}
