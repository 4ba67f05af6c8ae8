//! One worker's way through zones: where its operations go.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard};

use candor_plan::Stop;
use candor_plan::blocks::{Access, Blocks, Zones};
use candor_plan::units::{Direction, PerDirection};

use super::{Map, State};
use crate::kind::{BlocksSlot, Kind};
use crate::stream::Stream;
use crate::targets::files::{Files, OpenFile};
use candor_engine::operation::Slot;

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// It has its place and counts as under way.
    There,
    /// Something in its zone must end first.
    Wait,
    /// What was written must be read back before its zone can be reset.
    ReadBackFirst,
    /// Nothing is left that it could be done to.
    Nowhere,
    /// A reset failed, with that error number.
    Failed(i32),
}

/// What a worker brings along to all files.
struct Own {
    /// Tells it from all others.
    id: u32,
    plan: Zones,
    /// The shortest operation of each direction.
    least: PerDirection<u64>,
    is_random: bool,
    /// Reads that find nothing begin again at the start.
    wraps: bool,
    /// The first operation must write, so that reads find something.
    writes_first: bool,
    /// What was written is still to be read back.
    holds: bool,
    /// Writes since the last reset that the plan wanted, while so much was written that it wants
    /// resets.
    writes_above: u32,
    resets: u64,
}

impl Own {
    /// True where the plan wants a reset before the next write, if so much is written.
    fn is_turn(&self) -> bool {
        self.plan.reset.is_some_and(|reset| self.writes_above + 1 >= reset.every)
    }
}

/// One worker's way through the zones of its job's files.
pub struct Visit {
    own: Own,
    /// What the last place has cost: a file's bytes that are gone, from the first to the last.
    emptied: Option<(u32, Range<u64>)>,
    files: Arc<Files>,
    maps: Box<[Arc<Map>]>,
    /// The zones of each file that it may use.
    ranges: Box<[Range<u32>]>,
    /// A new place moves the access along.
    leads: bool,
}

static VISITS: AtomicU32 = AtomicU32::new(0);

impl Visit {
    /// Of a worker, in those zones of its job's files; none without zones.
    pub fn new(
        blocks: &Blocks,
        stop: &Stop,
        files: &Arc<Files>,
        maps: &[Arc<Map>],
        ranges: Box<[Range<u32>]>,
    ) -> Option<Visit> {
        let plan = blocks.zones.clone()?;
        let least = |op: Direction| blocks.size.of(op).min().0.max(1);
        let least = PerDirection {
            read: least(Direction::Read),
            write: least(Direction::Write),
            trim: least(Direction::Trim),
        };
        Some(Visit {
            own: Own {
                id: VISITS.fetch_add(1, Relaxed),
                least,
                is_random: blocks.access.is_random(),
                wraps: stop.time.is_some(),
                writes_first: blocks.mix.write > 0 && !plan.read_unwritten,
                holds: false,
                writes_above: 0,
                resets: 0,
                plan,
            },
            emptied: None,
            files: files.clone(),
            maps: maps.into(),
            ranges,
            leads: blocks.access == Access::Sequential,
        })
    }

    /// Zones that it reset so that they could be written.
    pub fn resets(&self) -> u64 {
        self.own.resets
    }

    /// Resets count from now on.
    pub fn forget_resets(&mut self) {
        self.own.resets = 0;
    }

    /// Takes note of an operation whose place is known: it reads back.
    pub fn keep(&mut self, slot: &Slot) {
        let map = &self.maps[slot.handle as usize];
        map.lock().zone((slot.offset / map.length) as u32).in_flight += 1;
    }

    /// Bytes of a file that a reset has taken since the last question.
    pub fn emptied(&mut self) -> Option<(u32, Range<u64>)> {
        self.emptied.take()
    }

    /// Moves an operation to where it may go; `holds` where something written is still to be read
    /// back. What is placed must be handed over, or be told of as completed.
    pub fn place(&mut self, slot: &mut Slot, stream: &mut Stream, holds: bool) -> Placed {
        self.own.holds = holds;
        if self.own.writes_first && slot.kind() == Kind::Read {
            slot.set(Kind::Write);
        }
        let Some(op) = slot.kind().direction() else { return Placed::There };
        let file = slot.handle as usize;
        let map = &*self.maps[file];
        let resets = self.own.resets;
        let mut desk = Desk {
            own: &mut self.own,
            state: map.lock(),
            map,
            range: self.ranges[file].clone(),
            file: self.files.get(slot.handle),
        };
        let drawn = (slot.offset, slot.length);
        let placed = match op {
            Direction::Read => desk.read(slot),
            Direction::Write => desk.write(slot),
            Direction::Trim => desk.trim(slot),
        };
        if placed != Placed::There {
            return placed;
        }
        let number = desk.number(slot.offset);
        desk.state.zone(number).in_flight += 1;
        let next = desk.next(number, slot);
        let start = desk.start(number);
        drop(desk);
        self.own.writes_first &= op != Direction::Write;
        if self.own.resets > resets && map.ground.is_strict() {
            self.emptied = Some((slot.handle, start..start + map.length));
        }
        if slot.length < drawn.1 {
            let used = drawn.0 + slot.length;
            stream.less(slot.handle, used..drawn.0 + drawn.1);
        }
        if self.leads && next != drawn.0 + drawn.1 {
            stream.go_on_at(slot.handle, op, next);
        }
        Placed::There
    }

    /// An operation that was placed has ended.
    pub fn completed(&mut self, slot: &Slot) {
        if slot.kind().direction().is_none() {
            return;
        }
        let map = &self.maps[slot.handle as usize];
        let number = (slot.offset / map.length) as u32;
        let mut state = map.lock();
        let zone = state.zone(number);
        zone.in_flight -= 1;
        if zone.left && zone.in_flight == 0 {
            zone.left = false;
            let start = u64::from(number) * map.length;
            // A zone that cannot be finished stays open, and the device says so when it matters.
            let _ = map.ground.finish(self.files.get(slot.handle), start, map.length);
        }
    }
}

/// What a worker opened is closed when it goes: others may open zones in its stead.
impl Drop for Visit {
    fn drop(&mut self) {
        for map in &self.maps {
            let mut state = map.lock();
            let state = &mut *state;
            let (open, zones, id) = (&mut state.open, &mut state.zones, self.own.id);
            open.retain(|number| zones[*number as usize].owner != Some(id));
            zones.iter_mut().filter(|zone| zone.owner == Some(id)).for_each(|z| z.owner = None);
        }
    }
}

/// A worker before the zones of one file.
struct Desk<'v> {
    own: &'v mut Own,
    map: &'v Map,
    state: MutexGuard<'v, State>,
    range: Range<u32>,
    file: &'v OpenFile,
}

impl Desk<'_> {
    /// The zone of a byte, or the nearest one of the range.
    fn number(&self, offset: u64) -> u32 {
        let number = u32::try_from(offset / self.map.length).unwrap_or(u32::MAX);
        number.clamp(self.range.start, self.range.end.saturating_sub(1))
    }

    fn start(&self, number: u32) -> u64 {
        u64::from(number) * self.map.length
    }

    /// To the write pointer of the zone that was drawn or, where no more may be opened, of one
    /// that is open.
    fn write(&mut self, slot: &mut Slot) -> Placed {
        let Some(number) = self.zone_to_write(slot.offset) else { return Placed::Wait };
        let least = self.own.least.write;
        let above = self.is_above();
        let due = above && self.own.is_turn();
        let zone = self.state.zone(number);
        if zone.free {
            return Placed::There;
        }
        let must_reset = zone.room() < least || (due && zone.written > 0);
        if zone.in_flight > 0 && (must_reset || self.map.ground.is_strict()) {
            return Placed::Wait;
        }
        if must_reset && self.own.holds && zone.written > 0 {
            return Placed::ReadBackFirst;
        }
        if must_reset && let Err(errno) = self.reset(number) {
            return Placed::Failed(errno);
        }
        let start = self.start(number);
        self.state.open(number, self.own.id);
        let zone = self.state.zone(number);
        let room = zone.room();
        let length = slot.length.min(room / least * least);
        if length == 0 {
            self.state.close(number);
            return Placed::Nowhere;
        }
        (slot.offset, slot.length) = (start + zone.written, length);
        zone.written += length;
        let full = room - length < least;
        zone.left = full && room > length;
        self.state.written += length;
        if full {
            self.state.close(number);
        }
        if above {
            self.own.writes_above = if due { 0 } else { self.own.writes_above + 1 };
        }
        Placed::There
    }

    fn zone_to_write(&mut self, offset: u64) -> Option<u32> {
        let drawn = self.number(offset);
        let zone = self.state.zone(drawn);
        let (plan, id, owner) = (&self.own.plan, self.own.id, zone.owner);
        if zone.free || owner == Some(id) {
            return Some(drawn);
        }
        let all = self.state.open.iter().copied();
        let zones = &self.state.zones;
        let own = all.clone().filter(|number| zones[*number as usize].owner == Some(id));
        let has_most = plan.open_max_per_worker.is_some_and(|most| own.count() >= most as usize);
        let may_open = plan.open_max.is_none_or(|most| all.len() < most as usize);
        if !has_most && (may_open || owner.is_some()) {
            return Some(drawn);
        }
        let is_own = |number: &u32| !has_most || zones[*number as usize].owner == Some(id);
        let mut open = all.filter(|number| self.range.contains(number)).filter(is_own);
        // Whoever draws all over the range writes to all of the open zones alike.
        let count = open.clone().count() as u64;
        let (from, to) = (self.start(self.range.start), self.start(self.range.end));
        let into = u128::from(offset.saturating_sub(from)) * u128::from(count);
        open.nth((into / u128::from(to - from)) as usize)
    }

    /// True where so much is written that the plan wants resets.
    fn is_above(&self) -> bool {
        let Some(reset) = self.own.plan.reset else { return false };
        let range = self.start(self.range.end) - self.start(self.range.start);
        let above = reset.above_percent / 100.0 * range as f64;
        self.state.written as f64 >= above
    }

    fn reset(&mut self, number: u32) -> Result<(), i32> {
        if self.state.zone(number).written == 0 {
            return Ok(());
        }
        let done = self.map.ground.reset(self.file, self.start(number), self.map.length);
        done.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        self.state.empty(number);
        self.own.resets += 1;
        Ok(())
    }

    /// To where something was written: ordered reads go forward, others stay near.
    fn read(&mut self, slot: &mut Slot) -> Placed {
        let (drawn, least) = (self.number(slot.offset), self.own.least.read);
        if self.own.plan.read_unwritten || self.state.zone(drawn).free {
            return Placed::There;
        }
        let start = self.start(drawn);
        let into = slot.offset.saturating_sub(start);
        let (number, into) = match self.own.is_random {
            true => match self.nearest(drawn, least) {
                Some(number) => {
                    let written = self.state.zone(number).written;
                    (number, into % (written - least).max(1))
                }
                None => return Placed::Nowhere,
            },
            false if into + least <= self.state.zone(drawn).written => (drawn, into),
            false => match self.ahead(drawn, least) {
                Some(number) => (number, 0),
                None => return Placed::Nowhere,
            },
        };
        let left = self.state.zone(number).written - into;
        // A place within the last operation's length of the pointer begins with that operation.
        let into = if left < least { self.state.zone(number).written - least } else { into };
        let left = (self.state.zone(number).written - into) / least * least;
        slot.offset = self.start(number) + into;
        slot.length = slot.length.min(left);
        Placed::There
    }

    /// The nearest zone with so many bytes.
    fn nearest(&self, drawn: u32, bytes: u64) -> Option<u32> {
        let holds = |number: &u32| self.state.zones[*number as usize].written >= bytes;
        let up = drawn..self.range.end;
        let down = (self.range.start..drawn).rev();
        let (up, down) = (up.into_iter().find(holds), down.into_iter().find(holds));
        match (up, down) {
            (Some(up), Some(down)) if drawn - down < up - drawn => Some(down),
            (up, down) => up.or(down),
        }
    }

    /// The next zone with so many bytes behind one.
    fn ahead(&self, drawn: u32, bytes: u64) -> Option<u32> {
        let holds = |number: &u32| self.state.zones[*number as usize].written >= bytes;
        let again = if self.own.wraps { self.range.start..drawn + 1 } else { 0..0 };
        (drawn + 1..self.range.end).chain(again).find(holds)
    }

    /// All of a zone that holds something.
    fn trim(&mut self, slot: &mut Slot) -> Placed {
        let drawn = self.number(slot.offset);
        let number = match self.own.is_random {
            true => self.nearest(drawn, 1),
            false => Some(drawn),
        };
        let Some(number) = number else { return Placed::Nowhere };
        let zone = self.state.zone(number);
        if zone.in_flight > 0 {
            return Placed::Wait;
        }
        self.state.close(number);
        self.state.empty(number);
        slot.offset = self.start(number);
        slot.length = self.map.length;
        Placed::There
    }

    /// Where a sequential access goes on.
    fn next(&self, number: u32, slot: &Slot) -> u64 {
        let end = slot.offset + slot.length;
        let zone = &self.state.zones[number as usize];
        let used_up = end >= self.start(number) + zone.capacity;
        let apart = zone.capacity < self.map.length || self.own.plan.gap.0 > 0;
        match used_up && apart && !zone.free && !self.own.plan.read_unwritten {
            true => self.start(number + 1) + self.own.plan.gap.0,
            false => end,
        }
    }
}
