//! Sources of operations on items: one item after another, or several in progress.

use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Outcome, Slot};
use candor_engine::source::{Bare, Next, Source, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::entries::{READ_BACK, Step};
use candor_record::Ended;

use crate::contents::Contents;
use crate::items::{Items, Lane, Unread};
use crate::places::FileKey;

/// One item after another.
pub struct Walk {
    items: Items,
    lane: Option<Lane>,
    contents: Option<Contents>,
}

impl Walk {
    /// Walk over a worker's items; `contents` is given where files are written.
    pub fn new(items: Items, contents: Option<Contents>) -> Walk {
        Walk { items, lane: None, contents }
    }
}

impl Bare for Walk {
    #[inline(always)]
    fn draw(&mut self, slot: &mut Slot) -> bool {
        if self.items.is_spent() {
            return false;
        }
        let mut lane = match self.lane.take() {
            Some(lane) if !self.items.is_drawn(&lane) => lane,
            _ => match self.items.begin_item(0) {
                Some(lane) => lane,
                None => return false,
            },
        };
        self.items.draw(0, &mut lane, slot);
        if let Some(contents) = self.contents.as_mut().filter(|_| is(slot, Step::Write)) {
            contents.write(slot, &lane.key);
        }
        self.lane = Some(lane);
        true
    }
}

impl Source for Walk {
    fn next(&mut self, slot: &mut Slot, _: &mut Turn) -> Next {
        if self.draw(slot) { Next::Ready } else { Next::End(Ended::Done) }
    }

    #[inline(always)]
    fn span_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool) -> Option<(Op, Ticks)> {
        self.items.ended(self.lane.as_mut()?, slot, (started, is_done))
    }

    fn give_up(&mut self, _: &Slot) {
        self.lane.iter_mut().for_each(Lane::give_up);
    }

    fn begin(&mut self) {
        self.items.begin();
    }
}

/// True where the slot has that step.
#[inline(always)]
fn is(slot: &Slot, step: Step) -> bool {
    slot.op == Op(step as u8)
}

/// Several items in progress, each with one operation in flight, or with several reads or writes
/// of one step.
pub struct Lanes {
    items: Items,
    /// The items; none where one is over and the next has not begun.
    lanes: Box<[Option<Lane>]>,
    /// Lanes of which an operation may start, or an item begin: the next one last.
    ready: Vec<u32>,
    /// Blocks that were written, where they are read back; none where they are not.
    unread: Option<Vec<Unread>>,
    contents: Option<Contents>,
    checking: Ticks,
}

impl Lanes {
    /// So many items in progress; `contents` is given where bytes are written or checked.
    pub fn new(items: Items, lanes: u32, contents: Option<Contents>) -> Lanes {
        Lanes {
            items,
            lanes: vec![None; lanes as usize].into(),
            ready: (0..lanes).rev().collect(),
            unread: None,
            contents,
            checking: Ticks(0),
        }
    }

    /// Reads each block back that was written; at most so many writes are in flight.
    pub fn reading_back(mut self, depth: usize) -> Lanes {
        self.unread = Some(Vec::with_capacity(depth));
        self
    }

    /// Puts the reading back of a block into the slot; false where none waits for it.
    fn draw_back(&mut self, slot: &mut Slot) -> bool {
        let Some(unread) = self.unread.as_mut().and_then(Vec::pop) else { return false };
        let lane = self.lanes[unread.lane as usize].as_mut();
        lane.is_some_and(|lane| {
            lane.draw_back(&unread, slot);
            true
        })
    }

    /// Puts the next operation of some item into the slot; false where none may start.
    pub fn draw(&mut self, slot: &mut Slot) -> bool {
        while let Some(number) = self.ready.last().copied() {
            let lane = &mut self.lanes[number as usize];
            if lane.is_none() {
                *lane = self.items.begin_item(number);
            }
            // After the last item nothing begins here any more.
            let Some(lane) = lane else {
                self.ready.pop();
                continue;
            };
            self.items.draw(number, lane, slot);
            if !self.items.may_draw(lane) {
                self.ready.pop();
            }
            if let Some(contents) = self.contents.as_mut().filter(|_| is(slot, Step::Write)) {
                contents.write(slot, &lane.key);
            }
            return true;
        }
        false
    }
}

impl Lanes {
    /// Lets the next operation of a lane start, now that one has ended; returns the item's key.
    fn go_on(&mut self, slot: &Slot) -> Option<FileKey> {
        let place = &mut self.lanes[slot.tag as usize];
        let lane = place.as_mut()?;
        let key = lane.key;
        if lane.rests() && lane.begins_step() {
            if self.items.is_drawn(lane) {
                *place = None;
            }
            self.ready.push(slot.tag);
        }
        Some(key)
    }

    /// Counts an operation as ended, apart from any measurement.
    pub fn ended(&mut self, slot: &Slot) {
        self.span_ended(slot, Ticks(0), true);
        self.go_on(slot);
    }
}

impl Source for Lanes {
    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.draw_back(slot) || (!self.items.is_spent() && self.draw(slot)) {
            return Next::Ready;
        }
        let is_over = self.items.is_spent() && self.unread.is_none();
        match turn.in_flight > 0 && !is_over {
            true => Next::Wait(Wait::InFlight),
            false => Next::End(Ended::Done),
        }
    }

    fn span_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool) -> Option<(Op, Ticks)> {
        self.items.ended(self.lanes[slot.tag as usize].as_mut()?, slot, (started, is_done))
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let is_whole = outcome == Outcome::Done(slot.length);
        if let (Some(unread), Some(lane), true) = (
            &mut self.unread,
            &mut self.lanes[slot.tag as usize],
            is_whole && is(slot, Step::Write),
        ) {
            unread.push(lane.is_to_be_read(slot));
        }
        let Some(key) = self.go_on(slot) else { return };
        let is_read = is_whole && (is(slot, Step::Read) || slot.op == Op(READ_BACK));
        let Some(contents) = self.contents.as_mut().filter(|_| is_read) else { return };
        let before = turn.clock.now();
        let is_intact = contents.check(slot, &key, || turn.name(slot));
        self.checking += turn.clock.now() - before;
        if !is_intact {
            turn.end(Ended::Failed);
        }
    }

    fn give_up(&mut self, slot: &Slot) {
        self.lanes[slot.tag as usize].iter_mut().for_each(Lane::give_up);
    }

    fn begin(&mut self) {
        self.checking = Ticks(0);
        self.items.begin();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        let Some(contents) = &self.contents else { return };
        end.verify = contents.stats().cloned();
        end.stats.verify_ns = turn.clock.ns(self.checking);
        end.stats.fill_ns = turn.clock.ns(turn.fill);
    }
}
