//! A worker's items: order, budget, and items in progress.

mod lane;

use std::cell::RefCell;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use candor_engine::clock::Ticks;
use candor_engine::operation::{Op, Slot};
use candor_engine::permutation::Permutation;
use candor_engine::random::{Random, mix};
use candor_plan::Stop;
use candor_plan::blocks::Access;
use candor_plan::entries::{
    ALIAS, Entries, FIRST_BYTE, ITEM, MAKE_ROOT, READ_BACK, REMOVE_ROOT, Select, Step, Take, Visit,
};
use candor_plan::units::SizeSpec;

pub use lane::{Lane, Unread};

use crate::places::{Item, Prefix, WorkerNames};
use crate::roots::{From, NameAt};
use crate::taker::{Next, Taken, Taker};

/// Choices of a worker's seed: which list of steps an item gets.
const LISTS: u64 = 0x6c69_7374;
/// Choices of a worker's seed: order of the bytes within files.
const WITHIN: u64 = 0x7769_7468;
/// Choices of a worker's seed: sizes of reads and writes.
const SIZES: u64 = 0x7369_7a65;
/// Choices of a worker's seed: which writes read instead.
const READS: u64 = 0x7265_6164;

/// Step of an operation.
#[inline(always)]
pub fn step_of(slot: &Slot) -> Option<Step> {
    match slot.op.index() {
        index if index == READ_BACK as usize => Some(Step::Read),
        index if index == MAKE_ROOT as usize => Some(Step::Mkdir),
        index if index == REMOVE_ROOT as usize => Some(Step::Rmdir),
        index => Step::ALL.get(index).copied(),
    }
}

/// Bounds of a worker's work, except time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    ops: u64,
    bytes: u64,
    passes: u64,
}

impl Budget {
    const NONE: Budget = Budget { ops: u64::MAX, bytes: u64::MAX, passes: u64::MAX };

    /// Budget of one pass with at most `ops` operations.
    pub fn of_trial(ops: u64) -> Budget {
        Budget { ops, passes: 1, ..Budget::NONE }
    }

    /// Budget of a job's stop: one pass if nothing else bounds it.
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

    /// Total picks of all workers from `count` shared items.
    pub fn picks(&self, count: u64, once: bool) -> u64 {
        match (once, self.passes) {
            (true, _) => count,
            (false, u64::MAX) => u64::MAX,
            (false, passes) => count.saturating_mul(passes),
        }
    }
}

/// Bounds of a worker's items.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Budget of the measured part.
    pub budget: Budget,
    /// Maximum length of a read or write.
    pub bytes: u64,
}

/// Order of a worker's names.
enum Order {
    Forward,
    /// Children before their parents.
    Backward,
    /// Each name once per pass, in a new order for each pass.
    Shuffled(Permutation, u64),
    Random(Random),
}

impl Order {
    fn of(entries: &Entries, count: u64, seed: u64) -> Order {
        match entries.select {
            // The taker implements this order.
            Select::Exponential { .. } => Order::Random(Random::new(seed, 0)),
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

/// The names of an item in progress, each with a zero byte after it. Written outside of measured
/// time, and used by the calls.
#[derive(Default)]
pub struct Paths {
    /// The name that steps work on.
    pub path: Vec<u8>,
    /// The other name, if steps have one.
    pub other: Vec<u8>,
    /// Directory from which both are looked up.
    pub from: From,
    /// Planned length of the file, if steps need it.
    pub size: u64,
    prefix: Prefix,
    /// Prefix of the other name, if it belongs to another item.
    other_prefix: Prefix,
}

impl Paths {
    /// The name that steps work on.
    #[inline(always)]
    pub fn name(&self) -> NameAt {
        self.from.name(&self.path)
    }

    /// The other name, in the same directory; empty if steps have none.
    #[inline(always)]
    pub fn other_name(&self) -> NameAt {
        self.from.name(&self.other)
    }
}

/// Changes a name, with a zero byte after it, to the alias of the item.
fn append_alias(name: &mut Vec<u8>) {
    name.pop();
    name.extend_from_slice(ALIAS.as_bytes());
    name.push(0);
}

impl WorkerNames {
    /// Writes the new name of an item in a chain of renames: each item takes the name of the
    /// previous item. The first item takes its alias, and finally the name before the last.
    fn write_link(&self, nth: u64, paths: &mut Paths) {
        let Paths { path, other, from, prefix, other_prefix, .. } = paths;
        if nth == 0 {
            // The alias of the item is already written.
            return;
        }
        self.write(nth - 1, false, other, other_prefix);
        if nth + 1 == self.count() {
            self.write(0, false, path, prefix);
            append_alias(path);
        }
        *from = self.looked_up_from(path);
    }
}

/// Paths of all items in progress, shared by the worker and its calls.
pub type SharedPaths = Rc<RefCell<Box<[Paths]>>>;

/// Paths for `lanes` items in progress.
pub fn shared_paths(lanes: usize) -> SharedPaths {
    Rc::new(RefCell::new((0..lanes).map(|_| Paths::default()).collect()))
}

/// Order of reads or writes within a file, all of equal length except the last.
enum Within {
    Forward,
    Backward,
    Random(Random),
    /// At random multiples of a distance.
    Aligned(Random, u64),
    /// Each block once, in an order from a key of the worker.
    Once(u64),
}

impl Within {
    fn of(entries: &Entries, seed: u64) -> Within {
        let random = || Random::new(seed, WITHIN);
        match (&entries.access, entries.align) {
            (Access::Backward, _) => Within::Backward,
            (Access::Random, None) => Within::Random(random()),
            (Access::Random, Some(align)) => Within::Aligned(random(), align.0.max(1)),
            (Access::Permutation, _) => Within::Once(mix(seed, WITHIN)),
            _ => Within::Forward,
        }
    }

    /// Offset of the block of `bytes` bytes that replaces the block at `offset` in the lane's file.
    #[inline(always)]
    fn offset(&mut self, offset: u64, bytes: u64, lane: &Lane) -> u64 {
        let (nth, count) = (offset / bytes, lane.file.div_ceil(bytes));
        match self {
            Within::Forward => offset,
            Within::Backward => (count - 1 - nth) * bytes,
            Within::Random(random) => random.below(count) * bytes,
            Within::Aligned(random, align) => {
                random.below(lane.file.saturating_sub(bytes) / *align + 1) * *align
            }
            Within::Once(seed) => {
                Permutation::new(count, mix(*seed, lane.key.number)).at(nth) * bytes
            }
        }
    }
}

/// Writes that read instead: the first of each hundred in a row, or random ones.
struct Reads {
    percent: u64,
    /// Number of the next operation, starting at the worker's rank.
    number: u64,
    chance: Option<Random>,
}

impl Reads {
    fn of(entries: &Entries, rank: u64, seed: u64) -> Reads {
        let chance = entries.read_by_chance.then(|| Random::new(seed, READS));
        Reads { percent: entries.read_percent.into(), number: rank, chance }
    }

    fn next(&mut self) -> bool {
        if let Some(random) = &mut self.chance {
            return random.below(100) < self.percent;
        }
        let number = self.number;
        self.number += 1;
        number % 100 < self.percent
    }
}

/// Lists of steps; each item gets one list.
struct Lists {
    /// Each list, with the sum of the weights up to it.
    lists: Box<[(u64, Box<[Step]>)]>,
    random: Random,
}

impl Lists {
    fn of(entries: &Entries, seed: u64) -> Lists {
        let weights = entries.mix.iter().map(|weighted| u64::from(weighted.weight));
        let weights = weights.chain(entries.mix.is_empty().then_some(1));
        // Lists for a state are never drawn.
        let by_state = entries.take.iter().flat_map(Take::lists).map(|_| 0);
        let sums = weights.chain(by_state).scan(0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        });
        // An item that enters a window is paired with an item that leaves it.
        let enter = entries.window.as_ref().map_or(&[][..], |window| &window.enter[..]);
        let lists =
            sums.zip(entries.lists().map(|steps| Box::from([steps, enter].concat()))).collect();
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

/// A file that an operation creates, removes or replaces.
#[derive(Clone, Copy, Debug)]
pub struct Replaced {
    /// Number of the file.
    pub nth: u64,
    /// True for the file in the job's tree.
    pub own: bool,
    /// True for the file in the destination tree.
    pub other: bool,
}

/// Start of an item.
#[expect(clippy::large_enum_variant, reason = "a box would be allocated for each item")]
pub enum Begun {
    /// The item is in progress.
    Item(Lane),
    /// No item is suitable now, but other workers may change that.
    Wait,
    /// The last item of the last pass has begun.
    Over,
}

/// A worker's items.
pub struct Items {
    names: WorkerNames,
    order: Order,
    /// Selection of items by state, instead of the order.
    taker: Option<Taker>,
    visit: Option<Visit>,
    sizes: Option<(SizeSpec, Random)>,
    seed: u64,
    lists: Lists,
    has_alias: bool,
    on_alias: bool,
    /// True if each item takes the name of the previous item.
    chains: bool,
    /// Number of the first names that are roots and count separately.
    roots: u64,
    /// Number of steps of an item that leaves a window, if another item enters then.
    enters_at: Option<usize>,
    /// True if the items are in a window.
    in_window: bool,
    /// Longest read or write.
    bytes: u64,
    /// Planned length, the unit of parts of files; 1 for whole files.
    unit: u64,
    uses_length: bool,
    within: Within,
    reads: Reads,
    budget: Budget,
    left: Budget,
    /// Items begun in this pass.
    turn: u64,
    paths: SharedPaths,
    has_spans: bool,
}

impl Items {
    /// Items whose budget applies once counting begins.
    pub fn new(
        entries: &Entries,
        names: WorkerNames,
        bounds: Bounds,
        paths: SharedPaths,
        seed: u64,
    ) -> Items {
        let (rank, Bounds { budget, bytes }) = (names.rank(), bounds);
        Items {
            order: Order::of(entries, names.count(), seed),
            taker: None,
            visit: entries.visit,
            sizes: entries.size_mix.clone().map(|sizes| (sizes, Random::new(seed, SIZES))),
            lists: Lists::of(entries, seed),
            seed,
            has_alias: entries.uses_alias(),
            on_alias: entries.on_alias,
            chains: entries.rename_chain,
            roots: if entries.roots_apart { names.roots() } else { 0 },
            enters_at: entries.moves_window().then_some(entries.steps.len()),
            in_window: entries.window.is_some(),
            bytes,
            unit: entries.size_max().map_or(1, |size| size.0.max(1)),
            uses_length: entries.uses_length(),
            within: Within::of(entries, seed),
            reads: Reads::of(entries, rank, seed),
            budget,
            left: Budget::NONE,
            turn: 0,
            paths,
            has_spans: entries.has_spans(),
            names,
        }
    }

    /// Items that the worker takes by their state.
    pub fn taking(self, taker: Taker) -> Items {
        // Items in a destination tree have their other name there.
        let has_alias = self.has_alias && taker.to().is_none();
        Items { taker: Some(taker), has_alias, ..self }
    }

    /// Items that were skipped, by reason.
    pub fn passed(&self) -> Vec<(&'static str, u64)> {
        self.taker.iter().flat_map(Taker::passed).collect()
    }

    /// True if no further operation may be drawn.
    #[inline(always)]
    pub fn is_spent(&self) -> bool {
        self.left.ops == 0 || self.left.bytes == 0 || self.names.count() == 0
    }

    /// Begins the next item in a lane.
    #[inline(always)]
    pub fn begin_item(&mut self, lane: u32) -> Begun {
        if self.taker.is_some() {
            return self.begin_taken(lane);
        }
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
            return Begun::Over;
        }
        let nth = self.order.nth(self.turn, count);
        self.turn += 1;
        let list = self.lists.draw();
        Begun::Item(self.name_item(nth, lane, list))
    }

    /// Begins the next item with a suitable state.
    #[cold]
    fn begin_taken(&mut self, number: u32) -> Begun {
        let Some(taker) = &mut self.taker else { return Begun::Over };
        let taken = match taker.next() {
            Next::Taken(taken) => taken,
            Next::Wait => return Begun::Wait,
            Next::Over => return Begun::Over,
        };
        let mut lane = self.name_item(taken.nth, number, taken.list);
        self.visit_of(&mut lane, &taken);
        (lane.taken, lane.now) = (Some(taken), taken.found);
        if let Some(to) = self.taker.as_ref().and_then(Taker::to) {
            let mut paths = self.paths.borrow_mut();
            let Paths { path, other, .. } = &mut paths[number as usize];
            other.clear();
            other.extend_from_slice(to.as_os_str().as_bytes());
            other.extend_from_slice(path.get(self.names.root_length()..).unwrap_or_default());
        }
        Begun::Item(lane)
    }

    /// Sets start and amount of the reads or writes of this visit of a file.
    fn visit_of(&self, lane: &mut Lane, taken: &Taken) {
        let steps = self.lists.steps(taken.list);
        let writes = steps.contains(&Step::Write);
        let (planned, length) = (lane.size, taken.found.length);
        lane.planned = planned;
        lane.file = if writes { planned } else { length.min(planned) };
        let in_order = matches!(self.within, Within::Forward);
        let position = || self.taker.as_ref().map_or(0, |taker| taker.position(taken.nth));
        lane.from = match self.visit {
            _ if !in_order => 0,
            // Continue a short file at its last whole block.
            None if writes && taken.found.present && length < planned && taken.list > 0 => {
                length / self.bytes.max(1) * self.bytes
            }
            None => 0,
            Some(_) if writes && length < planned => length,
            Some(_) => Some(position()).filter(|at| *at < lane.file).unwrap_or(0),
        };
        let rest = lane.file - lane.from.min(lane.file);
        let (amount, moves) = match self.visit {
            None => (lane.file, u64::MAX),
            Some(Visit::Operations(count)) => (u64::MAX, count),
            Some(Visit::Percent(percent)) => {
                let bytes = u128::from(lane.file) * u128::from(percent) / 100;
                let bytes = u64::try_from(bytes).unwrap_or(u64::MAX).max(1);
                // End with a whole read or write, so that the next visit starts with one.
                (bytes.checked_next_multiple_of(self.unit).unwrap_or(bytes), u64::MAX)
            }
        };
        // An empty file has nothing to read or write in any order.
        let most = if in_order || lane.file == 0 { rest } else { u64::MAX };
        (lane.size, lane.moves_left) = (amount.min(most), moves);
    }

    /// Writes the names of an item, and returns its lane before the first step.
    #[inline(always)]
    fn name_item(&mut self, nth: u64, lane: u32, list: u32) -> Lane {
        let mut paths = self.paths.borrow_mut();
        let Paths { path, other, from, size: bytes, prefix, .. } = &mut paths[lane as usize];
        let item = self.names.write(nth, self.uses_length, path, prefix);
        (*bytes, *from) = (item.file_bytes, self.names.looked_up_from(path));
        // In a chain, only the first item has an alias; later items have the name of the previous
        // item, whose prefix is already written.
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
        let handle = self.names.handle(nth);
        let Item { start, bytes: size, key, .. } = item;
        let moves_left = u64::MAX;
        Lane { handle, nth, list, start, size, file: size, moves_left, key, ..Lane::default() }
    }

    /// Continues with the item that enters a window, after all steps of the item that leaves it.
    #[cold]
    fn enter(&mut self, number: u32, lane: &mut Lane) {
        let entering = self.name_item(lane.nth + self.names.count(), number, lane.list);
        *lane = Lane { step: lane.step, enters: true, ..entering };
    }

    /// True if all steps of the item have been drawn.
    #[inline(always)]
    pub fn is_drawn(&self, lane: &Lane) -> bool {
        lane.step == self.lists.steps(lane.list).len() && lane.held.is_none()
    }

    /// True if the next operation of the item may start: a step waits for the previous step, but
    /// several reads or writes of one step may be in flight.
    #[inline(always)]
    pub fn may_draw(&self, lane: &Lane) -> bool {
        !self.is_drawn(lane) && (lane.rests() || lane.offset > 0)
    }

    /// Bytes that the step has yet to move.
    #[inline(always)]
    fn bytes_left(step: Step, lane: &Lane) -> u64 {
        let moves = step.moves_bytes() && lane.moves_left > 0;
        let size = if moves { lane.size } else { 0 };
        size - lane.offset.min(size)
    }

    /// Maximum length of the next read or write.
    #[inline(always)]
    fn next_bytes(&mut self) -> u64 {
        match &mut self.sizes {
            None => self.bytes,
            Some((sizes, random)) => sizes.drawn(random.bits()).0.clamp(1, self.bytes),
        }
    }

    /// Puts the next operation of the item into the slot.
    #[inline(always)]
    pub fn draw(&mut self, number: u32, lane: &mut Lane, slot: &mut Slot) {
        if self.enters_at == Some(lane.step) && !lane.enters {
            self.enter(number, lane);
        }
        let steps = self.lists.steps(lane.list);
        while lane.size == 0 && steps[lane.step].moves_bytes() {
            // An empty file has nothing to read or write; a step that closes it follows.
            lane.step += 1;
        }
        let step = steps[lane.step];
        let bytes = if step.moves_bytes() { self.next_bytes() } else { 0 };
        let length = Items::bytes_left(step, lane).min(bytes);
        slot.op = match step {
            Step::Mkdir if lane.nth < self.roots => Op(MAKE_ROOT),
            Step::Rmdir if lane.nth < self.roots => Op(REMOVE_ROOT),
            _ => Op(step as u8),
        };
        (slot.handle, slot.tag) = (lane.handle, number);
        (slot.offset, slot.length) = (lane.offset, length);
        lane.offset += length;
        if length > 0 {
            lane.moves_left -= 1;
            self.place(step, bytes, lane, slot);
            slot.offset += lane.start + lane.from;
        }
        let length = slot.length;
        if Items::bytes_left(step, lane) == 0 {
            (lane.step, lane.offset) = (lane.step + 1, 0);
        }
        lane.in_flight += 1;
        self.left.ops -= 1;
        self.left.bytes = self.left.bytes.saturating_sub(length);
    }

    /// Sets the offset of a read or write by the order within files, and turns a write into a read
    /// if the plan mixes them.
    #[inline(always)]
    fn place(&mut self, step: Step, bytes: u64, lane: &Lane, slot: &mut Slot) {
        if !matches!(self.within, Within::Forward) {
            slot.offset = self.within.offset(slot.offset, bytes, lane);
            slot.length = (lane.file - slot.offset).min(bytes);
        }
        if self.reads.percent > 0 && step == Step::Write && self.reads.next() {
            slot.op = Op(Step::Read as u8);
        }
    }

    /// Counts an operation of the item as ended, and returns the start of the span that ended.
    #[inline(always)]
    pub fn ended(
        &self,
        lane: &mut Lane,
        slot: &Slot,
        started: Ticks,
        is_done: bool,
    ) -> Option<(Op, Ticks)> {
        lane.in_flight -= 1;
        if self.taker.is_some() {
            self.keep_state(lane, slot, is_done);
        }
        if self.in_window {
            return lane.open_ended(slot, started, is_done);
        }
        // A file in parts counts as one item, for the worker of its first byte.
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

    /// Records the effect of an operation on a taken item; returns the item after its last
    /// operation.
    fn keep_state(&self, lane: &mut Lane, slot: &Slot, is_done: bool) {
        if is_done && slot.op != Op(READ_BACK) {
            lane.changed_by(slot);
        }
        if lane.in_flight == 0 && self.is_drawn(lane) {
            self.give_back(lane);
        }
    }

    /// The taken file that an operation creates, removes or replaces.
    pub fn replaced(&self, lane: &Lane, slot: &Slot) -> Option<Replaced> {
        let taken = lane.taken.as_ref()?;
        let (own, other) = match step_of(slot)? {
            Step::Create | Step::Unlink | Step::Truncate => (true, false),
            Step::Copy => (false, true),
            Step::Rename => (true, taken.other.is_some()),
            _ => return None,
        };
        Some(Replaced { nth: taken.nth, own, other })
    }

    /// Returns a taken item in its current state.
    pub fn give_back(&self, lane: &mut Lane) {
        let (Some(taker), Some(taken)) = (&self.taker, lane.taken.take()) else { return };
        if self.visit.is_some() {
            let end = lane.from + lane.moved;
            taker.set_position(taken.nth, if end < lane.file { end } else { 0 });
        }
        taker.give_back(&taken, lane.now, lane.other_now);
    }

    /// Begins the measured part; restarts passes if they are counted.
    pub fn begin(&mut self) {
        if self.budget.passes != u64::MAX {
            self.turn = 0;
        }
        self.left = self.budget;
    }
}
