//! Objects in progress. A lane has one object and its next request.

use candor_engine::clock::Ticks;
use candor_engine::operation::Op;
use candor_engine::random::{Random, mix};
use candor_plan::objects::{ABORT_UPLOAD, LIST_PARTS, ObjectOp, PUT_PART, Uploads as Ends};
use candor_plan::permutation::Permutation;

use crate::keys::Object;
use crate::uploads::{Part, SharedUpload, State, lock};

/// A request of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Row of the table.
    pub op: Op,
    /// First byte in the object.
    pub offset: u64,
    /// Bytes of the object.
    pub length: u64,
}

/// Answer of a lane to the question for its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// This request.
    Request(Next),
    /// None until a request in flight has ended.
    Later,
    /// None until another worker has started the upload.
    Others,
    /// None.
    Nothing,
}

/// An object in progress.
pub struct Lane {
    /// The object.
    pub object: Object,
    /// Number among the worker's objects.
    pub nth: u64,
    /// Handle of the object.
    pub handle: u32,
    /// Key of the object, or the begin of the keys that a list covers.
    pub key: String,
    /// Operation that the plan requests.
    pub op: ObjectOp,
    /// Keys of a request that deletes several.
    pub keys: Vec<String>,
    /// Requests in flight.
    pub in_flight: u32,
    /// Start of the first request.
    pub began: Ticks,
    /// A request of the lane failed.
    pub failed: bool,
    /// A read found no object, and the plan permits this.
    pub is_missing: bool,
    /// State of a list.
    pub list: ListState,
    task: Task,
}

/// State of a list of keys, or of parts.
#[derive(Clone, Debug, Default)]
pub struct ListState {
    /// Token of the next page.
    pub token: String,
    /// No page follows.
    pub is_over: bool,
    /// Keys so far.
    pub keys: u64,
    /// Last key so far.
    pub last: String,
    /// Identity of the upload whose parts are listed.
    pub upload: String,
    /// Parts so far.
    pub parts: Vec<Part>,
}

/// Requests of an object.
pub enum Task {
    /// One request.
    Single {
        /// Bytes that it moves.
        length: u64,
        /// The request was issued.
        issued: bool,
    },
    /// Ranges of a read.
    Ranges(Ranges),
    /// An upload in parts.
    Upload(PartsLeft),
    /// A list, page by page.
    List,
    /// A list of the parts of an upload, and its completion.
    Complete {
        /// The completion was issued.
        issued: bool,
    },
}

/// Ranges of an object in their order.
pub struct Ranges {
    /// Bytes of a range.
    pub unit: u64,
    /// Ranges of the object.
    pub count: u64,
    /// Ranges issued.
    pub turn: u64,
    /// Ranges to issue.
    pub turns: u64,
    /// Order.
    pub order: RangeOrder,
}

/// Order of ranges within an object.
pub enum RangeOrder {
    /// From the first one.
    Forward,
    /// From the last one.
    Backward,
    /// Drawn; ranges may repeat.
    Random(Random),
    /// Each once.
    Shuffled(Permutation),
}

/// Parts of a lane's upload.
pub struct PartsLeft {
    /// The upload, which other lanes may share.
    pub upload: SharedUpload,
    /// Bytes of a part.
    pub unit: u64,
    /// First byte that was not issued.
    pub next: u64,
    /// Starts and ends of the upload.
    pub ends: Ends,
}

impl RangeOrder {
    /// Order of `count` ranges of an object.
    pub fn of(access: &candor_plan::blocks::Access, count: u64, seed: u64, object: u64) -> Self {
        use candor_plan::blocks::Access;
        match access {
            Access::Backward => RangeOrder::Backward,
            Access::Random => RangeOrder::Random(Random::new(mix(seed, object), 0)),
            Access::Permutation => RangeOrder::Shuffled(Permutation::new(count, mix(seed, object))),
            _ => RangeOrder::Forward,
        }
    }
}

impl Ranges {
    fn next(&mut self, object: &Object, op: ObjectOp) -> Offer {
        if self.turn == self.turns {
            return Offer::Nothing;
        }
        let turn = self.turn % self.count.max(1);
        let range = match &mut self.order {
            RangeOrder::Forward => turn,
            RangeOrder::Backward => self.count - 1 - turn,
            RangeOrder::Random(random) => random.below(self.count),
            RangeOrder::Shuffled(permutation) => permutation.at(turn),
        };
        self.turn += 1;
        let offset = object.start + range * self.unit;
        let length = self.unit.min(object.end.saturating_sub(offset));
        Offer::Request(Next { op: Op(op as u8), offset, length })
    }
}

/// A request on an upload as a whole.
fn on_upload(op: Op) -> Offer {
    Offer::Request(Next { op, offset: 0, length: 0 })
}

impl PartsLeft {
    fn next(&mut self, object: &Object, in_flight: u32) -> Offer {
        let mut upload = lock(&self.upload);
        match upload.state {
            State::New => {
                upload.state = State::Starting;
                on_upload(Op(ObjectOp::CreateUpload as u8))
            }
            State::Starting if in_flight > 0 => Offer::Later,
            State::Starting => Offer::Others,
            State::Open if self.next < object.end => {
                let (offset, length) = (self.next, self.unit.min(object.end - self.next));
                self.next += length;
                upload.in_flight += 1;
                Offer::Request(Next { op: Op(PUT_PART), offset, length })
            }
            State::Open if upload.left == 0 && self.ends == Ends::WithParts => {
                upload.state = State::Ending;
                on_upload(Op(ObjectOp::CompleteUpload as u8))
            }
            State::Failed if upload.in_flight == 0 => {
                upload.state = State::Ending;
                on_upload(Op(ABORT_UPLOAD))
            }
            State::Failed | State::Open if in_flight > 0 => Offer::Later,
            State::Failed | State::Open | State::Ending => Offer::Nothing,
        }
    }
}

impl Lane {
    /// An object that begins.
    pub fn new(object: Object, op: ObjectOp, task: Task) -> Lane {
        Lane {
            object,
            nth: 0,
            handle: 0,
            key: String::new(),
            op,
            keys: Vec::new(),
            in_flight: 0,
            began: Ticks::MAX,
            failed: false,
            is_missing: false,
            list: ListState::default(),
            task,
        }
    }

    /// The next request. The caller counts it as in flight.
    pub fn next(&mut self) -> Offer {
        let (op, in_flight) = (self.op, self.in_flight);
        match &mut self.task {
            Task::Single { issued: true, .. } => Offer::Nothing,
            Task::Single { length, issued } => {
                *issued = true;
                Offer::Request(Next {
                    op: Op(op as u8),
                    offset: self.object.start,
                    length: *length,
                })
            }
            Task::Ranges(_) if self.failed => Offer::Nothing,
            Task::Ranges(ranges) => ranges.next(&self.object, op),
            Task::Upload(parts) => parts.next(&self.object, in_flight),
            Task::List if in_flight > 0 => Offer::Later,
            Task::List if self.list.is_over || self.failed => Offer::Nothing,
            Task::List => Offer::Request(Next { op: Op(op as u8), offset: 0, length: 0 }),
            Task::Complete { .. } if in_flight > 0 => Offer::Later,
            Task::Complete { issued: true } => Offer::Nothing,
            Task::Complete { .. } if self.failed => Offer::Nothing,
            Task::Complete { issued } => {
                *issued = self.list.is_over;
                let op = if *issued { ObjectOp::CompleteUpload as u8 } else { LIST_PARTS };
                Offer::Request(Next { op: Op(op), offset: 0, length: 0 })
            }
        }
    }

    /// The lane's upload.
    pub fn upload(&self) -> Option<&SharedUpload> {
        match &self.task {
            Task::Upload(parts) => Some(&parts.upload),
            _ => None,
        }
    }

    /// True if the end of the lane's last request is the end of its object. Of several ranks that
    /// share the object, one has its end.
    pub fn ends_object(&self, op: Op) -> bool {
        match &self.task {
            Task::Upload(parts) if parts.ends == Ends::WithParts => {
                op == Op(ObjectOp::CompleteUpload as u8)
            }
            _ => self.object.is_first(),
        }
    }

    /// Records the end of a request; true if it was the last one.
    pub fn ended(&mut self, op: Op, is_done: bool) -> bool {
        self.in_flight -= 1;
        self.failed |= !is_done;
        if let Task::Upload(parts) = &self.task {
            let mut upload = lock(&parts.upload);
            if op == Op(PUT_PART) {
                upload.in_flight -= 1;
                upload.left = upload.left.saturating_sub(u64::from(is_done));
            }
            let completes = op == Op(ObjectOp::CompleteUpload as u8);
            if is_done && (completes || op == Op(ABORT_UPLOAD)) {
                upload.id.clear();
            }
            let is_part = op == Op(PUT_PART) || op == Op(ObjectOp::CreateUpload as u8);
            if !is_done && (completes || is_part && upload.state != State::Ending) {
                upload.state = if upload.id.is_empty() { State::Ending } else { State::Failed };
            }
        }
        self.in_flight == 0 && self.is_over()
    }

    /// True if no request follows, once nothing is in flight.
    pub fn is_over(&self) -> bool {
        match &self.task {
            Task::Single { issued, .. } => *issued,
            Task::Ranges(ranges) => self.failed || ranges.turn == ranges.turns,
            Task::List => self.failed || self.list.is_over,
            Task::Complete { issued } => self.failed || *issued,
            Task::Upload(parts) => {
                let upload = lock(&parts.upload);
                let is_last = upload.left == 0 && parts.ends == Ends::WithParts;
                match upload.state {
                    State::Ending => true,
                    State::Open => parts.next >= self.object.end && !is_last,
                    State::New | State::Starting => false,
                    State::Failed => upload.in_flight > 0,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uploads;

    fn object(bytes: u64, start: u64, end: u64) -> Object {
        Object::part(bytes, start, end)
    }

    fn lane(of: Object, upload: &SharedUpload) -> Lane {
        let parts =
            PartsLeft { upload: upload.clone(), unit: 10, next: of.start, ends: Ends::WithParts };
        Lane::new(of, ObjectOp::Put, Task::Upload(parts))
    }

    /// Issues the next request, which has this row.
    fn issue(lane: &mut Lane, op: u8) -> Next {
        match lane.next() {
            Offer::Request(next) => {
                assert_eq!(next.op, Op(op));
                lane.in_flight += 1;
                next
            }
            other => panic!("{other:?}"),
        }
    }

    const CREATE: u8 = ObjectOp::CreateUpload as u8;
    const COMPLETE: u8 = ObjectOp::CompleteUpload as u8;

    fn open(lane: &mut Lane) {
        issue(lane, CREATE);
        let upload = lane.upload().expect("an upload").clone();
        (lock(&upload).state, lock(&upload).id) = (State::Open, "id".into());
        assert!(!lane.ended(Op(CREATE), true));
    }

    #[test]
    fn an_upload_is_started_filled_and_completed() {
        let mut lane = lane(object(25, 0, 25), &uploads::new(3));
        open(&mut lane);
        let lengths: Vec<u64> = (0..3).map(|_| issue(&mut lane, PUT_PART).length).collect();
        assert_eq!(lengths, [10, 10, 5]);
        assert_eq!(lane.next(), Offer::Later);
        assert!(!(0..3).any(|_| lane.ended(Op(PUT_PART), true)));
        issue(&mut lane, COMPLETE);
        assert!(lane.ended(Op(COMPLETE), true));
    }

    #[test]
    fn the_worker_of_the_last_part_completes_a_shared_upload() {
        let upload = uploads::new(2);
        let (mut a, mut b) = (lane(object(20, 0, 10), &upload), lane(object(20, 10, 20), &upload));
        open(&mut a);
        assert_eq!(issue(&mut b, PUT_PART).offset, 10);
        issue(&mut a, PUT_PART);
        assert!(b.ended(Op(PUT_PART), true), "the other worker has the last part");
        assert!(!a.ended(Op(PUT_PART), true));
        issue(&mut a, COMPLETE);
        assert!(a.ended(Op(COMPLETE), true));
        assert!(a.ends_object(Op(COMPLETE)) && !b.ends_object(Op(PUT_PART)));
    }

    #[test]
    fn a_failed_part_aborts_the_upload_after_the_others() {
        let mut lane = lane(object(20, 0, 20), &uploads::new(2));
        open(&mut lane);
        issue(&mut lane, PUT_PART);
        issue(&mut lane, PUT_PART);
        assert!(!lane.ended(Op(PUT_PART), false));
        assert_eq!(lane.next(), Offer::Later);
        assert!(!lane.ended(Op(PUT_PART), true));
        issue(&mut lane, ABORT_UPLOAD);
        assert!(lane.ended(Op(ABORT_UPLOAD), true));
    }

    #[test]
    fn an_upload_that_cannot_be_completed_is_aborted() {
        let mut lane = lane(object(5, 0, 5), &uploads::new(1));
        open(&mut lane);
        issue(&mut lane, PUT_PART);
        assert!(!lane.ended(Op(PUT_PART), true));
        issue(&mut lane, COMPLETE);
        assert!(!lane.ended(Op(COMPLETE), false));
        issue(&mut lane, ABORT_UPLOAD);
        assert!(lane.ended(Op(ABORT_UPLOAD), true));
        assert!(!lock(lane.upload().expect("an upload")).is_open());
    }

    #[test]
    fn an_upload_that_cannot_start_ends() {
        let mut lane = lane(object(20, 0, 20), &uploads::new(2));
        issue(&mut lane, CREATE);
        assert!(lane.ended(Op(CREATE), false));
    }

    #[test]
    fn ranges_end_at_the_end_of_the_object() {
        let of = object(25, 0, 25);
        let order = RangeOrder::Backward;
        let ranges = Ranges { unit: 10, count: 3, turn: 0, turns: 3, order };
        let mut lane = Lane::new(of, ObjectOp::Get, Task::Ranges(ranges));
        let all: Vec<_> = (0..3).map(|_| issue(&mut lane, 0)).collect();
        assert_eq!(
            all.iter().map(|next| (next.offset, next.length)).collect::<Vec<_>>(),
            [(20, 5), (10, 10), (0, 10)]
        );
        assert_eq!(lane.next(), Offer::Nothing);
        let over: Vec<bool> = (0..3).map(|_| lane.ended(Op(0), true)).collect();
        assert_eq!(over, [false, false, true]);
    }
}
