//! The items that a worker takes, in order and within its budget, and the items it has in progress.

use std::cell::RefCell;
use std::os::fd::RawFd;
use std::rc::Rc;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Slot};
use candor_engine::permutation::Permutation;
use candor_engine::random::{Random, mix};
use candor_plan::Stop;
use candor_plan::blocks::Access;
use candor_plan::entries::{ALIAS, Entries, FIRST_BYTE, ITEM, READ_BACK, Select, Step};

use crate::places::{FileKey, Item, Prefix, WorkerNames};
use crate::roots::From;

/// Choices of a worker's seed: which list of steps an item gets.
const LISTS: u64 = 0x6c69_7374;
/// Choices of a worker's seed: order of the bytes within files.
const WITHIN: u64 = 0x7769_7468;

/// Bounds of a worker's work, beside time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    ops: u64,
    bytes: u64,
    passes: u64,
}

impl Budget {
    const NONE: Budget = Budget { ops: u64::MAX, bytes: u64::MAX, passes: u64::MAX };

    /// Budget of one pass, of so many operations at most.
    pub fn of_trial(ops: u64) -> Budget {
        Budget { ops, passes: 1, ..Budget::NONE }
    }

    /// Budget that a job's stop sets: one pass, where nothing else bounds it.
    pub fn of(stop: &Stop) -> Budget {
        let timed = stop.time.is_some() || stop.steady.is_some();
        let bounded = timed || stop.bytes.is_some() || stop.ops.is_some();
        let passes = stop.passes.map(u64::from);
        Budget {
            ops: stop.ops.unwrap_or(u64::MAX),
            bytes: stop.bytes.map_or(u64::MAX, |bytes| bytes.0),
            passes: passes.unwrap_or(if bounded { u64::MAX } else { 1 }),
        }
    }
}

/// Order in which a worker takes its names.
enum Order {
    Forward,
    /// Children before their parents.
    Backward,
    /// Each once per pass, in an order of that pass.
    Shuffled(Permutation, u64),
    Random(Random),
}

impl Order {
    fn of(entries: &Entries, count: u64, seed: u64) -> Order {
        match entries.select {
            Select::Shuffled => Order::Shuffled(Permutation::new(count, mix(seed, 0)), 0),
            Select::Random => Order::Random(Random::new(seed, 0)),
            Select::Sequential if entries.removes_directories() => Order::Backward,
            Select::Sequential => Order::Forward,
        }
    }

    fn nth(&mut self, turn: u64, count: u64) -> u64 {
        match self {
            Order::Forward => turn,
            Order::Backward => count - 1 - turn,
            Order::Shuffled(permutation, _) => permutation.at(turn),
            Order::Random(random) => random.below(count),
        }
    }

    fn next_pass(&mut self, count: u64, seed: u64) {
        if let Order::Shuffled(permutation, pass) = self {
            *pass += 1;
            *permutation = Permutation::new(count, mix(seed, *pass));
        }
    }
}

/// The names of an item in progress, each with a zero byte behind it: written outside of the time
/// of any operation, and used by the calls.
#[derive(Default)]
pub struct Paths {
    /// The name that steps work on.
    pub path: Vec<u8>,
    /// The other name, where steps have one.
    pub other: Vec<u8>,
    /// Place from which both are looked up.
    pub from: From,
    /// Bytes that the plan gives the file, where steps need them.
    pub size: u64,
    prefix: Prefix,
    /// Beginning of the other name, where that is of another thing.
    other_prefix: Prefix,
}

impl Paths {
    /// The directory from which names are looked up, and both names as seen from there.
    #[inline(always)]
    pub fn names(&self) -> (RawFd, *const libc::c_char, *const libc::c_char) {
        let From { directory, skipped } = self.from;
        // The other name is only there where steps need it, and then it is the longer one.
        let seen = |name: &[u8]| name.get(skipped..).unwrap_or_default().as_ptr().cast();
        (directory, seen(&self.path), seen(&self.other))
    }
}

/// Makes a name, with a zero byte behind it, that of the thing's alias.
fn append_alias(name: &mut Vec<u8>) {
    name.pop();
    name.extend_from_slice(ALIAS.as_bytes());
    name.push(0);
}

impl WorkerNames {
    /// Writes the new name of a thing that takes the name of the one before it: the first one takes
    /// its other name, and goes from there to the last place but one, while the last stays.
    fn write_link(&self, nth: u64, paths: &mut Paths) {
        let Paths { path, other, from, prefix, other_prefix, .. } = paths;
        if nth == 0 {
            // The alias of the thing is written already.
            return;
        }
        self.write(nth - 1, false, (other, other_prefix));
        if nth + 1 == self.count() {
            self.write(0, false, (path, prefix));
            append_alias(path);
        }
        *from = self.looked_up_from(path);
    }
}

/// Paths of all items in progress, which the worker and its calls share.
pub type SharedPaths = Rc<RefCell<Box<[Paths]>>>;

/// Paths for so many items in progress.
pub fn shared_paths(lanes: usize) -> SharedPaths {
    Rc::new(RefCell::new((0..lanes).map(|_| Paths::default()).collect()))
}

/// Order of the reads or writes within a file, each of as many bytes but for the last of the file.
enum Within {
    Forward,
    Backward,
    Random(Random),
    /// Each once, by a key of the worker.
    Once(u64),
}

impl Within {
    fn of(entries: &Entries, seed: u64) -> Within {
        match entries.access {
            Access::Backward => Within::Backward,
            Access::Random => Within::Random(Random::new(seed, WITHIN)),
            Access::Permutation => Within::Once(mix(seed, WITHIN)),
            _ => Within::Forward,
        }
    }

    /// Number of the block that comes as the n-th of so many.
    fn nth(&mut self, nth: u64, count: u64, key: u64) -> u64 {
        match self {
            Within::Forward => nth,
            Within::Backward => count - 1 - nth,
            Within::Random(random) => random.below(count),
            Within::Once(seed) => Permutation::new(count, mix(*seed, key)).at(nth),
        }
    }
}

/// Operations of writes that read instead: of a hundred in a row, the first ones.
struct Reads {
    percent: u64,
    /// Number of the next operation, which begins at the worker's rank.
    number: u64,
}

impl Reads {
    fn next(&mut self) -> bool {
        let number = self.number;
        self.number += 1;
        number % 100 < self.percent
    }
}

/// Lists of steps, of which each item gets one.
struct Lists {
    /// Each list, with the sum of the weights up to it.
    lists: Box<[(u64, Box<[Step]>)]>,
    random: Random,
}

impl Lists {
    fn of(entries: &Entries, seed: u64) -> Lists {
        let weights = entries.mix.iter().map(|weighted| u64::from(weighted.weight));
        let weights = weights.chain(entries.mix.is_empty().then_some(1));
        let sums = weights.scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        let lists = sums.zip(entries.lists().map(Box::from)).collect();
        Lists { lists, random: Random::new(seed, LISTS) }
    }

    #[inline(always)]
    fn draw(&mut self) -> u32 {
        match &self.lists[..] {
            [_] => 0,
            lists => {
                let sum = lists.last().map_or(1, |(sum, _)| *sum);
                let drawn = self.random.below(sum.max(1));
                lists.partition_point(|(sum, _)| *sum <= drawn) as u32
            }
        }
    }

    #[inline(always)]
    fn steps(&self, list: u32) -> &[Step] {
        &self.lists[list as usize].1
    }
}

/// An item in progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lane {
    handle: u32,
    list: u32,
    /// Index of the next step.
    step: usize,
    /// Offset of its next read or write; 0 where the step has not begun.
    offset: u64,
    /// First byte of the part of the file that is worked on, and bytes of that part.
    start: u64,
    size: u64,
    /// The item's file among all others.
    pub key: FileKey,
    in_flight: u32,
    /// Blocks that were written, and wait for being read back.
    unread: u32,
    /// Begin of the first operation.
    began: Option<Ticks>,
    has_read: bool,
    has_failed: bool,
}

/// A worker's items.
pub struct Items {
    names: WorkerNames,
    order: Order,
    seed: u64,
    lists: Lists,
    has_alias: bool,
    on_alias: bool,
    /// Each thing takes the name of the one before it.
    chains: bool,
    /// Longest read or write.
    bytes: u64,
    uses_length: bool,
    within: Within,
    reads: Reads,
    budget: Budget,
    left: Budget,
    /// Items that were begun in this pass.
    turn: u64,
    paths: SharedPaths,
    has_spans: bool,
}

impl Items {
    /// Items without bounds at first; a read or write moves `bytes` at most.
    pub fn new(
        entries: &Entries,
        names: WorkerNames,
        budget: Budget,
        bytes: u64,
        (paths, seed): (SharedPaths, u64),
    ) -> Items {
        let rank = names.rank();
        Items {
            order: Order::of(entries, names.count(), seed),
            lists: Lists::of(entries, seed),
            seed,
            names,
            has_alias: entries.uses_alias(),
            on_alias: entries.on_alias,
            chains: entries.rename_chain,
            bytes,
            uses_length: entries.uses_length(),
            within: Within::of(entries, seed),
            reads: Reads { percent: entries.read_percent.into(), number: rank },
            budget,
            left: Budget::NONE,
            turn: 0,
            paths,
            has_spans: entries.has_spans(),
        }
    }

    /// True once no operation may be drawn any more.
    #[inline(always)]
    pub fn is_spent(&self) -> bool {
        self.left.ops == 0 || self.left.bytes == 0 || self.names.count() == 0
    }

    /// Begins the next item, as the one in progress with that number; none after the last one of
    /// the last pass.
    #[inline(always)]
    pub fn begin_item(&mut self, lane: u32) -> Option<Lane> {
        let count = match self.names.count() {
            1 if self.chains => 0,
            count => count,
        };
        if self.turn == count {
            self.turn = 0;
            self.order.next_pass(count, self.seed);
            self.left.passes = self.left.passes.saturating_sub(1);
        }
        if self.left.passes == 0 || count == 0 {
            self.left.passes = 0;
            return None;
        }
        let nth = self.order.nth(self.turn, count);
        self.turn += 1;
        let mut paths = self.paths.borrow_mut();
        let Paths { path, other, from, size: bytes, prefix, .. } = &mut paths[lane as usize];
        let item = self.names.write(nth, self.uses_length, (path, prefix));
        (*bytes, *from) = (item.file_bytes, self.names.looked_up_from(path));
        // Of a chain, only the first thing has its other name; those behind it have the name of the
        // thing before, of which a part stands there already.
        if self.has_alias && !(self.chains && nth > 0) {
            other.clear();
            other.extend_from_slice(path);
            append_alias(other);
            if self.on_alias {
                std::mem::swap(path, other);
            }
        }
        if self.chains {
            self.names.write_link(nth, &mut paths[lane as usize]);
        }
        let (handle, list) = (self.names.handle(nth), self.lists.draw());
        let Item { start, bytes: size, key, .. } = item;
        Some(Lane { handle, list, start, size, key, ..Lane::default() })
    }

    /// True where all steps of the item have been drawn.
    #[inline(always)]
    pub fn is_drawn(&self, lane: &Lane) -> bool {
        lane.step == self.lists.steps(lane.list).len()
    }

    /// True where the next operation of the item may start: a step waits for the one before it, but
    /// several reads or writes of one step may be in flight.
    #[inline(always)]
    pub fn may_draw(&self, lane: &Lane) -> bool {
        let rests = lane.in_flight == 0 && lane.unread == 0;
        !self.is_drawn(lane) && (rests || lane.offset > 0)
    }

    /// Bytes that the next operation of the step moves.
    #[inline(always)]
    fn bytes_at(&self, step: Step, lane: &Lane) -> u64 {
        let size = if step.moves_bytes() { lane.size } else { 0 };
        (size - lane.offset.min(size)).min(self.bytes)
    }

    /// Puts the next operation of the item into the slot.
    #[inline(always)]
    pub fn draw(&mut self, number: u32, lane: &mut Lane, slot: &mut Slot) {
        let steps = self.lists.steps(lane.list);
        while lane.size == 0 && steps[lane.step].moves_bytes() {
            // An empty file has nothing to read or write; a step that closes it follows.
            lane.step += 1;
        }
        let step = steps[lane.step];
        let length = self.bytes_at(step, lane);
        slot.op = Op(step as u8);
        (slot.handle, slot.tag) = (lane.handle, number);
        (slot.offset, slot.length) = (lane.offset, length);
        lane.offset += length;
        if length > 0 {
            self.place(step, lane, slot);
            slot.offset += lane.start;
        }
        let length = slot.length;
        if self.bytes_at(step, lane) == 0 {
            (lane.step, lane.offset) = (lane.step + 1, 0);
        }
        lane.in_flight += 1;
        self.left.ops -= 1;
        self.left.bytes = self.left.bytes.saturating_sub(length);
    }

    /// Puts a read or write where the order within files has it, and makes a read of a write where
    /// the plan mixes them.
    #[inline(always)]
    fn place(&mut self, step: Step, lane: &Lane, slot: &mut Slot) {
        if !matches!(self.within, Within::Forward) {
            let count = lane.size.div_ceil(self.bytes);
            slot.offset =
                self.within.nth(slot.offset / self.bytes, count, lane.key.number) * self.bytes;
            slot.length = (lane.size - slot.offset).min(self.bytes);
        }
        if self.reads.percent > 0 && step == Step::Write && self.reads.next() {
            slot.op = Op(Step::Read as u8);
        }
    }

    /// Counts an operation of the item as ended, and gives the time that ended with it.
    #[inline(always)]
    pub fn ended(
        &self,
        lane: &mut Lane,
        slot: &Slot,
        (started, is_done): (Ticks, bool),
    ) -> Option<(Op, Ticks)> {
        lane.in_flight -= 1;
        // A file in parts is one item: that of the worker with its first byte.
        if !self.has_spans || lane.start > 0 {
            return None;
        }
        let began = *lane.began.get_or_insert(started);
        lane.has_failed |= !is_done;
        if slot.op == Op(Step::Read as u8) && !lane.has_read {
            lane.has_read = true;
            // A close follows: no item ends with a read.
            return is_done.then_some((Op(FIRST_BYTE), began));
        }
        let is_over = lane.in_flight == 0 && self.is_drawn(lane);
        (is_over && !lane.has_failed).then_some((Op(ITEM), began))
    }

    /// Begins the measured part; where passes are counted, they begin anew.
    pub fn begin(&mut self) {
        if self.budget.passes != u64::MAX {
            self.turn = 0;
        }
        self.left = self.budget;
    }
}

/// A block that was written and is to be read back.
pub struct Unread {
    /// The item in progress.
    pub lane: u32,
    handle: u32,
    offset: u64,
    length: u64,
}

impl Lane {
    /// True where nothing of the item is in flight, and nothing is still to be read back.
    pub fn rests(&self) -> bool {
        self.in_flight == 0 && self.unread == 0
    }

    /// Notes a block that was written and is to be read back.
    pub fn is_to_be_read(&mut self, written: &Slot) -> Unread {
        self.unread += 1;
        let Slot { tag, handle, offset, length, .. } = *written;
        Unread { lane: tag, handle, offset, length }
    }

    /// Puts the reading back of a block into the slot.
    pub fn draw_back(&mut self, unread: &Unread, slot: &mut Slot) {
        slot.op = Op(READ_BACK);
        (slot.handle, slot.tag) = (unread.handle, unread.lane);
        (slot.offset, slot.length) = (unread.offset, unread.length);
        self.unread -= 1;
        self.in_flight += 1;
    }

    /// True where the next operation is the first of its step.
    pub fn begins_step(&self) -> bool {
        self.offset == 0
    }

    /// Takes back an operation that was drawn, but is not issued.
    pub fn give_up(&mut self) {
        self.in_flight -= 1;
        self.has_failed = true;
    }
}
