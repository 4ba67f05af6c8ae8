//! Sources of operations on items: one item after another, or several in progress.

use std::sync::Arc;

use candor_bytes::verify::Left;
use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Outcome, Slot};
use candor_engine::source::{Bare, Next, Source, Spans, Turn, Wait};
use candor_engine::worker_end::WorkerEnd;
use candor_plan::entries::{READ_BACK, Step};
use candor_record::{Ended, SeenBy};

use crate::catalog::Catalog;
use crate::contents::{Contents, Of, Read};
use crate::items::{Begun, Items, Lane, Replaced, Unread};
use crate::journaled::TreeLogs;
use crate::trees::Trees;

/// One item after another.
pub struct Walk {
    items: Items,
    lane: Option<Lane>,
    contents: Option<Contents>,
}

impl Walk {
    /// Walk over a worker's items; `contents` is set if files are written.
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
                Begun::Item(lane) => lane,
                // A walk takes no items by their state.
                Begun::Wait | Begun::Over => return false,
            },
        };
        self.items.draw(0, &mut lane, slot);
        if let Some(contents) = self.contents.as_mut().filter(|_| is(slot, Step::Write)) {
            contents.write(slot, &lane.of(slot));
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
    fn spans_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool, spans: &mut Spans<'_>) {
        let Some(lane) = &mut self.lane else { return };
        spans.end(self.items.ended(lane, slot, started, is_done));
    }

    fn give_up(&mut self, _: &Slot) {
        self.lane.iter_mut().for_each(Lane::give_up);
    }

    fn begin(&mut self) {
        self.items.begin();
    }
}

/// True if the slot has that step.
#[inline(always)]
fn is(slot: &Slot, step: Step) -> bool {
    slot.op == Op(step as u8)
}

/// Several items in progress, each with one operation in flight, or with several reads or writes
/// of one step.
pub struct Lanes {
    items: Items,
    /// The items; none if the last item has ended and the next has not begun.
    lanes: Box<[Option<Lane>]>,
    /// Lanes in which an operation or an item may start; the next lane is last.
    ready: Vec<u32>,
    /// Written blocks to be read back; none if blocks are not read back.
    unread: Option<Vec<Unread>>,
    contents: Option<Contents>,
    /// Tables of the trees whose generations are recorded.
    catalogs: Trees<Arc<Catalog>>,
    /// Logs in the journals of the trees.
    logs: Option<TreeLogs>,
    checking: Ticks,
    /// True if no item was suitable at the last check, and other workers may change that.
    waits: bool,
}

/// Interval between two checks for a suitable item, in ns.
const TAKE_AGAIN_NS: u64 = 50_000;

impl Lanes {
    /// Up to `lanes` items in progress; `contents` is set if bytes are written or checked.
    pub fn new(items: Items, lanes: u32, contents: Option<Contents>) -> Lanes {
        Lanes {
            items,
            lanes: vec![None; lanes as usize].into(),
            ready: (0..lanes).rev().collect(),
            unread: None,
            contents,
            catalogs: Trees::default(),
            logs: None,
            checking: Ticks(0),
            waits: false,
        }
    }

    /// Records generations in these tables, and logs them if the trees have journals.
    pub fn keeping(mut self, catalogs: Trees<Arc<Catalog>>, logs: Option<TreeLogs>) -> Lanes {
        (self.catalogs, self.logs) = (catalogs, logs);
        self
    }

    /// Reads back each written block; at most `depth` writes are in flight.
    pub fn reading_back(mut self, depth: usize) -> Lanes {
        self.unread = Some(Vec::with_capacity(depth));
        self
    }

    /// Puts the read of a written block into the slot; false if no block waits.
    fn draw_back(&mut self, slot: &mut Slot) -> bool {
        let Some(unread) = self.unread.as_mut().and_then(Vec::pop) else { return false };
        let lane = self.lanes[unread.lane as usize].as_mut();
        lane.is_some_and(|lane| {
            lane.draw_back(&unread, slot);
            true
        })
    }

    /// Puts the next operation of any item into the slot; false if none may start.
    pub fn draw(&mut self, slot: &mut Slot) -> bool {
        self.waits = false;
        while let Some(number) = self.ready.last().copied() {
            let lane = &mut self.lanes[number as usize];
            if lane.is_none() {
                match self.items.begin_item(number) {
                    Begun::Item(item) => *lane = Some(item),
                    Begun::Over => {}
                    Begun::Wait => {
                        self.waits = true;
                        return false;
                    }
                }
            }
            // After the last item, no item begins in this lane.
            let Some(lane) = lane else {
                self.ready.pop();
                continue;
            };
            let is_checked = lane.draw_held(number, slot);
            if !is_checked {
                self.items.draw(number, lane, slot);
            }
            if !self.items.may_draw(lane) {
                self.ready.pop();
            }
            if self.contents.as_ref().is_some_and(|contents| leaves_out(contents, lane, slot)) {
                lane.leave_out();
                self.go_on(slot);
                continue;
            }
            if let Some(contents) = self.contents.as_mut().filter(|_| is(slot, Step::Write)) {
                if !is_checked && contents.reads_first(&lane.part(slot)) {
                    lane.read_first(slot);
                } else {
                    contents.write(slot, &lane.of(slot));
                    self.logs.iter_mut().for_each(|logs| logs.before(&lane.part(slot)));
                }
            }
            if let Some(Replaced { nth, own, other }) = self.items.replaced(lane, slot) {
                if own {
                    self.forget(nth, false);
                }
                if other {
                    self.forget(nth, true);
                }
            }
            return true;
        }
        false
    }
}

/// True if the operation in the slot has a block that is skipped.
#[inline(always)]
fn leaves_out(contents: &Contents, lane: &Lane, slot: &Slot) -> bool {
    let moves = is(slot, Step::Write) || is(slot, Step::Read);
    moves && contents.leaves_out(&lane.part(slot))
}

impl Lanes {
    /// Forgets the blocks of a file that the next operation removes or replaces, so that any result
    /// of an interrupted operation is valid.
    fn forget(&mut self, nth: u64, in_other: bool) {
        let catalog = self.catalogs.get_mut(in_other);
        let Some(generations) = catalog.and_then(|catalog| catalog.generations()) else { return };
        generations.forget(nth);
        self.logs.iter_mut().for_each(|logs| logs.forget(nth, in_other));
    }

    /// Lets the next operation of a lane start after an operation has ended; returns the item's
    /// file.
    fn go_on(&mut self, slot: &Slot) -> Option<Of> {
        let place = &mut self.lanes[slot.tag as usize];
        let lane = place.as_mut()?;
        let of = lane.of(slot);
        if lane.rests() && lane.begins_step() {
            if self.items.is_drawn(lane) {
                *place = None;
            }
            self.ready.push(slot.tag);
        }
        Some(of)
    }

    /// Records the end of a write, if the slot has one.
    #[inline(always)]
    fn end_write(&mut self, slot: &Slot, left: Left) {
        let lane = self.lanes[slot.tag as usize].as_ref();
        let contents = self.contents.as_ref().filter(|_| is(slot, Step::Write));
        let Some((contents, lane)) = contents.zip(lane) else { return };
        let part = lane.part(slot);
        let Some(left) = contents.left_by(&part, left) else { return };
        // Logged before the claim ends. A write that never started stays pending until the keys are
        // stored.
        if let Some(logs) = self.logs.as_mut().filter(|_| left != Left::Untouched) {
            logs.after(&part, left);
        }
        contents.written(&part, left);
    }

    /// True if the slot has the read before a write.
    fn reads_first(&self, slot: &Slot) -> bool {
        let lane = self.lanes[slot.tag as usize].as_ref();
        slot.op == Op(READ_BACK) && lane.is_some_and(Lane::reads_first)
    }

    /// Counts an operation as ended, without a measurement.
    pub fn ended(&mut self, slot: &Slot) {
        self.item_ended(slot, Ticks(0), true);
        self.go_on(slot);
    }

    /// Start time of the item that this operation has ended, if any.
    fn item_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool) -> Option<(Op, Ticks)> {
        self.items.ended(self.lanes[slot.tag as usize].as_mut()?, slot, started, is_done)
    }
}

impl Source for Lanes {
    fn is_over(&mut self) -> bool {
        self.items.is_spent() && self.unread.is_none()
    }

    fn next(&mut self, slot: &mut Slot, turn: &mut Turn) -> Next {
        if self.draw_back(slot) || (!self.items.is_spent() && self.draw(slot)) {
            turn.commits |= self.logs.as_ref().is_some_and(TreeLogs::waits);
            return Next::Ready;
        }
        let is_over = self.items.is_spent() && self.unread.is_none();
        if self.waits && turn.in_flight == 0 && !is_over {
            return Next::Wait(Wait::Others(TAKE_AGAIN_NS));
        }
        if turn.in_flight > 0 && !is_over {
            Next::Wait(Wait::InFlight)
        } else {
            Next::End(Ended::Done)
        }
    }

    fn spans_ended(&mut self, slot: &Slot, started: Ticks, is_done: bool, spans: &mut Spans<'_>) {
        spans.end(self.item_ended(slot, started, is_done));
    }

    fn completed(&mut self, slot: &Slot, outcome: Outcome, turn: &mut Turn) {
        let is_whole = outcome == Outcome::Done(slot.length);
        self.end_write(slot, if is_whole { Left::Written } else { Left::Unsure });
        turn.commits |= self.logs.as_ref().is_some_and(TreeLogs::waits);
        if let (Some(unread), Some(lane), true) = (
            &mut self.unread,
            &mut self.lanes[slot.tag as usize],
            is_whole && is(slot, Step::Write),
        ) {
            unread.push(lane.is_to_be_read(slot));
        }
        let Some(of) = self.go_on(slot) else { return };
        let is_read = is_whole && (is(slot, Step::Read) || slot.op == Op(READ_BACK));
        let is_before_write = self.reads_first(slot);
        let seen_by = match slot.op == Op(READ_BACK) {
            _ if is_before_write => SeenBy::ReadBeforeWrite,
            true => SeenBy::ReadBack,
            false => SeenBy::Read,
        };
        let mut is_intact = is_read;
        if let Some(contents) = self.contents.as_mut().filter(|_| is_read) {
            let before = turn.clock.now();
            let checked = contents.check(&Read { slot, of: &of, seen_by }, || turn.name(slot));
            self.checking += turn.clock.now() - before;
            is_intact = checked.is_intact;
            if !checked.continues {
                turn.end(Ended::Failed);
            }
        }
        if let Some(lane) = self.lanes[slot.tag as usize].as_mut().filter(|_| is_before_write) {
            lane.end_read_first(is_intact);
        }
    }

    fn commit(&mut self, turn: &mut Turn) -> bool {
        self.logs.as_mut().is_none_or(|logs| logs.commit(turn))
    }

    fn give_up(&mut self, slot: &Slot) {
        self.end_write(slot, Left::Untouched);
        self.lanes[slot.tag as usize].iter_mut().for_each(Lane::give_up);
    }

    fn begin(&mut self) {
        self.checking = Ticks(0);
        self.items.begin();
    }

    fn tell(&mut self, end: &mut WorkerEnd, turn: &Turn) {
        end.passed_over = self.items.passed();
        let Some(contents) = &self.contents else { return };
        end.verify = contents.stats().cloned();
        if let (Some(stats), Some(logs)) = (&mut end.verify, &self.logs) {
            stats.journal = Some(logs.stats(turn));
        }
        end.stats.verify_ns = turn.clock.ns(self.checking);
        end.stats.fill_ns = turn.clock.ns(turn.fill);
    }
}

/// Gives back the items in progress at the end of the time.
impl Drop for Lanes {
    fn drop(&mut self) {
        for lane in self.lanes.iter_mut().flatten() {
            self.items.give_back(lane);
        }
    }
}
