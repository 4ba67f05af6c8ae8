//! Items that a worker takes by their state: the next suitable item in order, marked as taken in
//! the table.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use candor_engine::permutation::Permutation;
use candor_engine::random::{Random, mix};
use candor_plan::entries::{Entries, HostPart, Over, Select, Step};

use crate::catalog::{Catalog, Changes, Known, Passed};
use crate::places::Places;
use crate::trees::Trees;

/// Number of items that the worker tries before it yields to other workers.
const TRIES: u32 = 64;
/// Seed of the parts of items, so that all phases use the same parts.
const PARTS: u64 = 0x7061_7274;

/// Shared state for the workers of a job that take items.
#[derive(Clone)]
pub struct Stock {
    /// Path of the job's tree.
    pub path: PathBuf,
    /// The table of the job's tree.
    pub catalog: Arc<Catalog>,
    /// Path and table of the destination tree, if any.
    pub to: Option<(PathBuf, Arc<Catalog>)>,
    /// Names by number, as used by the workers.
    pub places: Arc<Places>,
    /// Numbers of the items of a part; none for all.
    pub chosen: Option<Arc<[u32]>>,
    /// Items picked so far by all workers that share the order.
    pub cursor: Arc<AtomicU64>,
    /// Total number of items to pick.
    pub picks: u64,
}

impl Stock {
    /// Tables of the job's tree and of the destination tree.
    pub fn catalogs(&self) -> Trees<Arc<Catalog>> {
        let other = self.to.as_ref().map(|(_, catalog)| catalog.clone());
        Trees { own: Some(self.catalog.clone()), other }
    }
}

/// Random items with a total of `bytes` bytes, in order; none if all items together are smaller.
pub fn part_of(
    all: Option<&[u32]>,
    count: u64,
    bytes: u64,
    size_of: impl Fn(u64) -> u64,
) -> Option<Arc<[u32]>> {
    let count = all.map_or(count, |all| all.len() as u64);
    let order = Permutation::new(count, mix(PARTS, 0));
    let (mut chosen, mut sum) = (Vec::new(), 0_u64);
    for turn in 0..count {
        if sum >= bytes {
            break;
        }
        let at = order.at(turn);
        let item = all.map_or(at, |all| u64::from(all[at as usize]));
        sum = sum.saturating_add(size_of(item));
        // Item numbers fit 32 bits, like handles.
        chosen.push(item as u32);
    }
    chosen.sort_unstable();
    (sum >= bytes && !chosen.is_empty()).then(|| chosen.into())
}

/// Numbers of the items of a host's part, in order.
pub fn of_host(all: Option<&[u32]>, count: u64, part: HostPart) -> Arc<[u32]> {
    match all {
        Some(all) => all.iter().copied().filter(|item| part.has((*item).into())).collect(),
        None => (0..count as u32).filter(|item| part.has((*item).into())).collect(),
    }
}

/// Order in which items are picked.
enum Pick {
    Forward,
    /// Children before their parents.
    Backward,
    /// Each item once per pass, by the key of the pass.
    Shuffled(u64),
    Random(Random),
    /// Exponentially distributed, with a share of all items as the mean.
    Exponential(Random, f64),
}

impl Pick {
    fn of(entries: &Entries, once: bool, seed: u64) -> Pick {
        match entries.select {
            Select::Sequential if entries.removes_directories() => Pick::Backward,
            Select::Sequential => Pick::Forward,
            Select::Shuffled => Pick::Shuffled(PARTS),
            Select::Random | Select::Exponential { .. } if once => Pick::Shuffled(PARTS),
            Select::Random => Pick::Random(Random::new(seed, PARTS)),
            Select::Exponential { midpoint } => {
                Pick::Exponential(Random::new(seed, PARTS), 1.0 / midpoint)
            }
        }
    }

    /// Number of the n-th picked item.
    fn at(&mut self, turn: u64, count: u64) -> u64 {
        match self {
            Pick::Forward => turn % count,
            Pick::Backward => count - 1 - turn % count,
            Pick::Shuffled(key) => {
                Permutation::new(count, mix(*key, turn / count)).at(turn % count)
            }
            Pick::Random(random) => random.below(count),
            Pick::Exponential(random, mean) => {
                let drawn = -(1.0 - random.unit()).ln() * *mean * count as f64;
                drawn as u64 % count
            }
        }
    }
}

/// An item that a worker has taken.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// Number of the item.
    pub nth: u64,
    /// List of steps for its state.
    pub list: u32,
    /// State at the time of taking.
    pub found: Known,
    /// True if no other worker has the item in progress.
    alone: bool,
    /// True if its directory is held for it.
    holds_parent: bool,
    /// True if nothing must be returned: the directory is only listed.
    is_free: bool,
    /// State of the item in the destination tree, if any.
    pub other: Option<Known>,
}

/// Result of taking the next item.
pub enum Next {
    /// An item.
    Taken(Taken),
    /// No item is suitable now; other workers may change that.
    Wait,
    /// No item follows.
    Over,
}

/// Numbers of the lists of steps, by the state of an item.
struct ByState {
    present: Option<u32>,
    absent: Option<u32>,
    /// None if short files are treated like other files.
    short: Option<Option<u32>>,
    /// Steps of each list.
    steps: Box<[Box<[Step]>]>,
}

impl ByState {
    fn of(entries: &Entries) -> ByState {
        let take = entries.take.clone().unwrap_or_default();
        let absent = !take.absent.is_empty();
        let short = |steps: Vec<Step>| (!steps.is_empty()).then_some(1 + u32::from(absent));
        ByState {
            present: (!entries.steps.is_empty()).then_some(0),
            absent: absent.then_some(1),
            short: take.short.map(short),
            steps: entries.lists().map(Box::from).collect(),
        }
    }

    fn steps(&self, list: u32) -> &[Step] {
        &self.steps[list as usize]
    }
}

/// One worker's selection of items.
pub struct Taker {
    stock: Stock,
    by_state: ByState,
    pick: Pick,
    count: u64,
    concurrent: bool,
    directories: bool,
    once: bool,
    changes: Changes,
    /// Number of table changes after which the worker counts as waiting.
    waits_at: Option<u64>,
    /// The item to try again.
    again: Option<u64>,
    /// Items skipped since the last suitable item.
    in_a_row: u64,
    /// False once no item follows.
    is_alive: bool,
    passed: [u64; Passed::ALL.len()],
}

impl Taker {
    /// A worker's selection from the items of a stock.
    pub fn new(stock: Stock, entries: &Entries, seed: u64) -> Taker {
        let all = stock.places.count(0);
        let count = stock.chosen.as_ref().map_or(all, |chosen| chosen.len() as u64);
        let once = stock.picks != u64::MAX;
        let changes = Changes {
            makes: [Step::Create, Step::Mkdir, Step::Write].iter().any(|step| entries.has(*step)),
            removes: [Step::Unlink, Step::Rmdir, Step::Rename].iter().any(|s| entries.has(*s)),
        };
        stock.catalog.begin(changes);
        Taker {
            by_state: ByState::of(entries),
            pick: Pick::of(entries, once, seed),
            count,
            concurrent: entries.take.as_ref().is_some_and(|take| take.concurrent),
            directories: entries.over == Over::Directories,
            once,
            changes,
            waits_at: None,
            again: None,
            in_a_row: 0,
            is_alive: true,
            passed: [0; Passed::ALL.len()],
            stock,
        }
    }

    /// Takes the next suitable item.
    pub fn next(&mut self) -> Next {
        for _ in 0..TRIES {
            // Read first: every later change by other workers counts as a change.
            let changes = self.stock.catalog.changes();
            let again = self.again.take();
            let Some(nth) = again.or_else(|| self.pick()) else { return self.over() };
            match self.take(nth) {
                Ok(taken) => {
                    self.go_on();
                    return Next::Taken(taken);
                }
                Err(why) if self.once && why.may_pass() && !self.is_stuck(changes, &[why]) => {
                    self.passed[why as usize] += u64::from(again.is_none());
                    self.again = Some(nth);
                    return Next::Wait;
                }
                Err(why) => {
                    self.passed[why as usize] += 1;
                    self.in_a_row += 1;
                }
            }
            // Twice the number of items, so that a random order visits most of them.
            if !self.once && self.in_a_row >= 2 * self.count {
                self.in_a_row = 0;
                if self.has_none_left() {
                    return self.over();
                }
                return Next::Wait;
            }
        }
        Next::Wait
    }

    /// Items skipped, by reason.
    pub fn passed(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let reasons = Passed::ALL.into_iter().zip(self.passed);
        reasons.filter(|(_, count)| *count > 0).map(|(why, count)| (why.name(), count))
    }

    fn pick(&mut self) -> Option<u64> {
        let turn = self.stock.cursor.fetch_add(1, Ordering::Relaxed);
        if turn >= self.stock.picks || self.count == 0 {
            return None;
        }
        let at = self.pick.at(turn, self.count);
        Some(self.item(at))
    }

    fn item(&self, at: u64) -> u64 {
        self.stock.chosen.as_ref().map_or(at, |chosen| chosen[at as usize].into())
    }

    /// The worker has an item, and no longer waits.
    fn go_on(&mut self) {
        self.in_a_row = 0;
        if let Some(changes) = self.waits_at.take() {
            self.stock.catalog.go_on(changes, self.changes);
        }
    }

    /// The worker ends: other workers do not wait for it.
    fn over(&mut self) -> Next {
        self.go_on();
        if std::mem::take(&mut self.is_alive) {
            self.stock.catalog.end(self.changes);
        }
        Next::Over
    }

    /// True if no skipped item can become suitable any more, given the reasons and the number of
    /// table changes. The worker counts as waiting from then on.
    fn is_stuck(&mut self, changes: u64, reasons: &[Passed]) -> bool {
        let catalog = &self.stock.catalog;
        if self.waits_at != Some(changes) && !reasons.contains(&Passed::Busy) {
            self.waits_at = catalog.wait(changes, self.changes).then_some(changes);
        }
        reasons.iter().all(|why| catalog.is_stuck(changes, *why))
    }

    /// True if no item is suitable now or later.
    fn has_none_left(&mut self) -> bool {
        let changes = self.stock.catalog.changes();
        let mut reasons: Vec<Passed> = Vec::with_capacity(Passed::ALL.len());
        for at in 0..self.count {
            match self.suits(self.item(at)) {
                Ok(_) => return false,
                Err(why) if reasons.contains(&why) => {}
                Err(why) => reasons.push(why),
            }
        }
        self.is_stuck(changes, &reasons)
    }

    /// List of steps for an item in its current state, and that state.
    fn suits(&self, nth: u64) -> Result<(u32, Known), Passed> {
        let catalog = &self.stock.catalog;
        let state = if self.directories { catalog.directory(nth + 1) } else { catalog.file(nth) };
        if !state.present {
            let list = self.by_state.absent.ok_or(Passed::Absent)?;
            if self.directories {
                catalog.has_parent_directory(nth + 1)?;
            } else {
                catalog.has_parent(nth)?;
            }
            return Ok((list, state));
        }
        if self.directories && self.by_state.present.is_some() && self.changes.removes {
            catalog.is_empty(nth + 1)?;
        }
        let list = match self.by_state.short {
            Some(short) if state.length < self.stock.places.bytes_of(nth) => {
                short.ok_or(Passed::Present)?
            }
            Some(_) => self.by_state.present.ok_or(Passed::Whole)?,
            None => self.by_state.present.ok_or(Passed::Present)?,
        };
        let steps = self.by_state.steps(list);
        let only_reads = steps.contains(&Step::Read) && !steps.contains(&Step::Write);
        if only_reads && state.length == 0 { Err(Passed::Empty) } else { Ok((list, state)) }
    }

    /// Takes an item if its state is suitable and no other worker has it.
    fn take(&self, nth: u64) -> Result<Taken, Passed> {
        let (list, found) = self.suits(nth)?;
        let steps = self.by_state.steps(list);
        let has = |step: Step| steps.contains(&step);
        let mut taken = Taken {
            nth,
            list,
            found,
            alone: true,
            holds_parent: false,
            is_free: false,
            other: None,
        };
        let catalog = &self.stock.catalog;
        if self.directories {
            match (has(Step::Mkdir), has(Step::Rmdir)) {
                (true, _) => catalog.take_to_make(nth + 1)?,
                (_, true) => catalog.take_to_remove(nth + 1)?,
                _ => taken.is_free = true,
            }
            return Ok(taken);
        }
        let changes = [Step::Create, Step::Unlink, Step::Rename].into_iter().any(has);
        taken.alone = !self.concurrent || changes;
        catalog.take_file(nth, found, taken.alone)?;
        if !found.present {
            if let Err(why) = catalog.hold_parent(nth) {
                catalog.give_file(nth, found, taken.alone);
                return Err(why);
            }
            taken.holds_parent = true;
        }
        self.take_other(&mut taken)?;
        Ok(taken)
    }

    /// Takes the item's position in the destination tree.
    fn take_other(&self, taken: &mut Taken) -> Result<(), Passed> {
        let Some((_, to)) = &self.stock.to else { return Ok(()) };
        let state = to.file(taken.nth);
        let held = || if state.present { Ok(()) } else { to.hold_parent(taken.nth) };
        let result = to
            .take_file(taken.nth, state, true)
            .and_then(|()| held().inspect_err(|_| to.give_file(taken.nth, state, true)));
        match result {
            Ok(()) => {
                taken.other = Some(state);
                Ok(())
            }
            Err(why) => {
                self.give_back(taken, taken.found, None);
                Err(why)
            }
        }
    }

    /// Returns an item in its state after the steps.
    pub fn give_back(&self, taken: &Taken, now: Known, other_now: Option<Known>) {
        let (catalog, nth) = (&self.stock.catalog, taken.nth);
        match (self.directories, taken.is_free) {
            (true, true) => return,
            (true, false) => return catalog.give_directory(nth + 1, now.present),
            (false, _) => {}
        }
        catalog.give_file(nth, now, taken.alone);
        if !now.present && (taken.found.present || taken.holds_parent) {
            catalog.leave_parent(nth);
        }
        if let (Some((_, to)), Some(found)) = (&self.stock.to, taken.other) {
            let now = other_now.unwrap_or(found);
            to.give_file(nth, now, true);
            if !now.present {
                to.leave_parent(nth);
            }
        }
    }

    /// Offset at which the next visit of an item continues.
    pub fn position(&self, nth: u64) -> u64 {
        self.stock.catalog.position(nth)
    }

    /// Sets the offset at which the next visit continues.
    pub fn set_position(&self, nth: u64, position: u64) {
        self.stock.catalog.set_position(nth, position);
    }

    /// Path of the destination tree.
    pub fn to(&self) -> Option<&PathBuf> {
        self.stock.to.as_ref().map(|(path, _)| path)
    }
}

impl Drop for Taker {
    fn drop(&mut self) {
        self.over();
    }
}
