//! Cursor of one worker over zones: moves its operations to offsets that the zones allow.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard};

use candor_plan::Stop;
use candor_plan::blocks::{Access, Blocks, Zones};
use candor_plan::units::{Direction, PerDirection};
use candor_plan::work::BlocksOp;

use super::{Map, State};
use crate::slot::BlocksSlot;
use crate::stream::Stream;
use crate::targets::files::{Files, OpenFile};
use candor_engine::operation::Slot;

/// Result of admitting an operation to its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The operation has its offset and counts as in flight.
    Admitted,
    /// An operation in its zone must complete first.
    Wait,
    /// The zone's data must be read back before the reset.
    ReadBackFirst,
    /// No zone is left that the operation could use.
    NoZone,
    /// A reset failed, with that error number.
    Failed(i32),
}

/// State of a worker, the same for all files.
struct WorkerState {
    /// Number that identifies the worker's zones.
    id: u32,
    plan: Zones,
    /// Shortest operation of each direction.
    least: PerDirection<u64>,
    is_random: bool,
    /// True where reads that find no data start over.
    wraps: bool,
    /// True where the first operation must write, so that reads find data.
    writes_first: bool,
    /// True where written data is still to be read back.
    holds: bool,
    /// Writes since the last reset that the plan requested, counted while the written share is
    /// above the plan's limit.
    writes_above: u32,
    resets: u64,
    /// Unit of the positions that verification knows.
    unit: u64,
}

impl WorkerState {
    /// True where the plan requests a reset before the next write, if the written share is above
    /// the limit.
    fn is_turn(&self) -> bool {
        self.plan.reset.is_some_and(|reset| self.writes_above + 1 >= reset.every)
    }
}

/// Cursor of one worker over the zones of its job's files.
pub struct ZoneCursor {
    worker: WorkerState,
    /// Range of a file that the last reset cleared.
    emptied: Option<(u32, Range<u64>)>,
    files: Arc<Files>,
    maps: Box<[Arc<Map>]>,
    /// Zones of each file that the worker may use.
    ranges: Box<[Range<u32>]>,
    /// True where a moved operation moves the whole access along.
    leads: bool,
}

static NEXT_ID: AtomicU32 = AtomicU32::new(0);

impl ZoneCursor {
    /// Cursor of a worker in those zones of its job's files; none without zones.
    pub fn new(
        blocks: &Blocks,
        stop: &Stop,
        files: &Arc<Files>,
        maps: &[Arc<Map>],
        ranges: Box<[Range<u32>]>,
    ) -> Option<ZoneCursor> {
        let plan = blocks.zones.clone()?;
        let least = |op: Direction| blocks.size.of(op).min().0.max(1);
        let least = PerDirection {
            read: least(Direction::Read),
            write: blocks.short_write_unit().unwrap_or_else(|| least(Direction::Write)),
            trim: least(Direction::Trim),
        };
        Some(ZoneCursor {
            worker: WorkerState {
                id: NEXT_ID.fetch_add(1, Relaxed),
                least,
                is_random: blocks.access.is_random(),
                wraps: stop.time.is_some(),
                writes_first: blocks.mix.write > 0 && !plan.read_unwritten,
                holds: false,
                writes_above: 0,
                resets: 0,
                unit: blocks.verify.as_ref().map_or(1, |verify| verify.interval.0.max(1)),
                plan,
            },
            emptied: None,
            files: files.clone(),
            maps: maps.into(),
            ranges,
            leads: blocks.access == Access::Sequential,
        })
    }

    /// Number of resets that writes needed.
    pub fn resets(&self) -> u64 {
        self.worker.resets
    }

    /// Clears the count of resets.
    pub fn forget_resets(&mut self) {
        self.worker.resets = 0;
    }

    /// Counts an operation that keeps its offset: a read that reads back.
    pub fn keep(&mut self, slot: &Slot) {
        let map = &self.maps[slot.handle as usize];
        map.lock().zone((slot.offset / map.length) as u32).in_flight += 1;
    }

    /// Range of a file that a reset has cleared since the last call.
    pub fn emptied(&mut self) -> Option<(u32, Range<u64>)> {
        self.emptied.take()
    }

    /// Moves an operation to an offset that the zones allow. `holds` tells that written data is
    /// still to be read back. A moved operation must be submitted, or reported as completed.
    pub fn admit(&mut self, slot: &mut Slot, stream: &mut Stream, holds: bool) -> Admission {
        self.worker.holds = holds;
        if self.worker.writes_first && slot.issued() == BlocksOp::Read {
            slot.set(BlocksOp::Write);
        }
        let Some(op) = slot.direction() else { return Admission::Admitted };
        let file = slot.handle as usize;
        let map = &*self.maps[file];
        let resets = self.worker.resets;
        let mut access = ZoneAccess {
            worker: &mut self.worker,
            state: map.lock(),
            map,
            range: self.ranges[file].clone(),
            file: self.files.get(slot.handle),
        };
        let drawn = (slot.offset, slot.length);
        let admission = match op {
            Direction::Read => access.read(slot),
            Direction::Write => access.write(slot),
            Direction::Trim => access.trim(slot),
        };
        if admission != Admission::Admitted {
            return admission;
        }
        let number = access.number(slot.offset);
        access.state.zone(number).in_flight += 1;
        let next = access.next(number, slot);
        let start = access.start(number);
        drop(access);
        self.worker.writes_first &= op != Direction::Write;
        if self.worker.resets > resets && map.backend.is_strict() {
            self.emptied = Some((slot.handle, start..start + map.length));
        }
        if slot.length < drawn.1 {
            let used = drawn.0 + slot.length;
            stream.give_back(slot.handle, used..drawn.0 + drawn.1);
        }
        if self.leads && next != drawn.0 + drawn.1 {
            stream.continue_at(slot.handle, op, next);
        }
        Admission::Admitted
    }

    /// Accounts for the completion of a moved operation; `is_whole` tells that all of it was done.
    pub fn completed(&mut self, slot: &Slot, is_whole: bool) {
        if slot.direction().is_none() {
            return;
        }
        let map = &self.maps[slot.handle as usize];
        let number = (slot.offset / map.length) as u32;
        let start = u64::from(number) * map.length;
        let file = self.files.get(slot.handle);
        let mut state = map.lock();
        if !is_whole && slot.issued() == BlocksOp::Write && self.worker.plan.recover_pointers {
            // A pointer that cannot be read stays as it was planned; the next write fails then.
            if let Ok(Some(pointer)) = map.backend.written(file, start) {
                state.recover(number, slot.offset - start, pointer, self.worker.unit);
            }
        }
        let zone = state.zone(number);
        zone.in_flight -= 1;
        if zone.finish_due && zone.in_flight == 0 {
            zone.finish_due = false;
            // A zone that cannot be finished stays open; the device then fails a later open.
            let _ = map.backend.finish(file, start, map.length);
        }
    }
}

/// Closes the zones that the worker opened, so that others may open zones.
impl Drop for ZoneCursor {
    fn drop(&mut self) {
        for map in &self.maps {
            let mut state = map.lock();
            let state = &mut *state;
            let (open, zones, id) = (&mut state.open, &mut state.zones, self.worker.id);
            open.retain(|number| zones[*number as usize].owner != Some(id));
            zones.iter_mut().filter(|zone| zone.owner == Some(id)).for_each(|z| z.owner = None);
        }
    }
}

/// A worker's access to the zones of one file, under the map's lock.
struct ZoneAccess<'v> {
    worker: &'v mut WorkerState,
    map: &'v Map,
    state: MutexGuard<'v, State>,
    range: Range<u32>,
    file: &'v OpenFile,
}

impl ZoneAccess<'_> {
    /// Zone of a byte, or the nearest one of the range.
    fn number(&self, offset: u64) -> u32 {
        let number = u32::try_from(offset / self.map.length).unwrap_or(u32::MAX);
        number.clamp(self.range.start, self.range.end.saturating_sub(1))
    }

    fn start(&self, number: u32) -> u64 {
        u64::from(number) * self.map.length
    }

    /// Moves a write to the write pointer of the drawn zone. Where no more zones may be opened, an
    /// open zone takes its place.
    fn write(&mut self, slot: &mut Slot) -> Admission {
        let Some(number) = self.zone_to_write(slot.offset) else { return Admission::Wait };
        let least = self.worker.least.write;
        if let Some(behind) = self.behind_shifted(number, least) {
            slot.offset = behind;
            return self.write(slot);
        }
        let above = self.is_above();
        let due = above && self.worker.is_turn();
        let zone = self.state.zone(number);
        if zone.conventional {
            return Admission::Admitted;
        }
        let must_reset = zone.room() < least || (due && zone.written > 0);
        if zone.in_flight > 0 && (must_reset || self.map.backend.is_strict()) {
            return Admission::Wait;
        }
        if must_reset && self.worker.holds && zone.written > 0 {
            return Admission::ReadBackFirst;
        }
        if must_reset && let Err(errno) = self.reset(number) {
            return Admission::Failed(errno);
        }
        let start = self.start(number);
        self.state.open(number, self.worker.id);
        let zone = self.state.zone(number);
        let room = zone.room();
        let length = slot.length.min(room / least * least);
        if length == 0 {
            self.state.close(number);
            return Admission::NoZone;
        }
        (slot.offset, slot.length) = (start + zone.written, length);
        zone.written += length;
        let full = room - length < least;
        zone.finish_due = full && room > length;
        self.state.written += length;
        if full {
            self.state.close(number);
        }
        if above {
            self.worker.writes_above = if due { 0 } else { self.worker.writes_above + 1 };
        }
        Admission::Admitted
    }

    /// Start of the next zone, where writes in sequence have no more room in one in which a failed
    /// write left the pointer inside a block: it is not reset while the pass goes on.
    fn behind_shifted(&mut self, number: u32, least: u64) -> Option<u64> {
        let is_last = number + 1 >= self.range.end;
        let zone = self.state.zone(number);
        let is_used_up = zone.is_shifted && zone.room() < least;
        (is_used_up && !is_last && !self.worker.is_random).then(|| self.start(number + 1))
    }

    fn zone_to_write(&mut self, offset: u64) -> Option<u32> {
        let drawn = self.number(offset);
        let zone = self.state.zone(drawn);
        let (plan, id, owner) = (&self.worker.plan, self.worker.id, zone.owner);
        if zone.conventional || owner == Some(id) {
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
        let mut open = all
            .filter(|number| self.range.contains(number))
            .filter(|number| !has_most || zones[*number as usize].owner == Some(id));
        // The drawn offset selects among the open zones, so that all get the same share of writes.
        let count = open.clone().count() as u64;
        let (from, to) = (self.start(self.range.start), self.start(self.range.end));
        let into = u128::from(offset.saturating_sub(from)) * u128::from(count);
        open.nth((into / u128::from(to - from)) as usize)
    }

    /// True where the written share is above the limit from which the plan requests resets.
    fn is_above(&self) -> bool {
        let Some(reset) = self.worker.plan.reset else { return false };
        let range = self.start(self.range.end) - self.start(self.range.start);
        let above = reset.above_percent / 100.0 * range as f64;
        self.state.written as f64 >= above
    }

    fn reset(&mut self, number: u32) -> Result<(), i32> {
        if self.state.zone(number).written == 0 {
            return Ok(());
        }
        let done = self.map.backend.reset(self.file, self.start(number), self.map.length);
        done.map_err(|error| error.raw_os_error().unwrap_or(libc::EIO))?;
        self.state.empty(number);
        self.worker.resets += 1;
        Ok(())
    }

    /// Moves a read to written data: sequential reads go forward, others to the nearest zone.
    fn read(&mut self, slot: &mut Slot) -> Admission {
        let (drawn, least) = (self.number(slot.offset), self.worker.least.read);
        if self.worker.plan.read_unwritten || self.state.zone(drawn).conventional {
            return Admission::Admitted;
        }
        let start = self.start(drawn);
        let into = slot.offset.saturating_sub(start);
        let (number, into) = if self.worker.is_random {
            let Some(number) = self.nearest(drawn, least) else { return Admission::NoZone };
            let written = self.state.zone(number).written;
            (number, into % (written - least).max(1))
        } else if into + least <= self.state.zone(drawn).written {
            (drawn, into)
        } else {
            let Some(number) = self.ahead(drawn, least) else { return Admission::NoZone };
            (number, 0)
        };
        let left = self.state.zone(number).written - into;
        // An offset less than one operation from the pointer moves back to one operation before it.
        let into = if left < least { self.state.zone(number).written - least } else { into };
        let left = (self.state.zone(number).written - into) / least * least;
        slot.offset = self.start(number) + into;
        slot.length = slot.length.min(left);
        Admission::Admitted
    }

    /// Nearest zone with that many written bytes.
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

    /// Next zone behind `drawn` with that many written bytes.
    fn ahead(&self, drawn: u32, bytes: u64) -> Option<u32> {
        let again = if self.worker.wraps { self.range.start..drawn + 1 } else { 0..0 };
        (drawn + 1..self.range.end)
            .chain(again)
            .find(|number| self.state.zones[*number as usize].written >= bytes)
    }

    /// Moves a trim to a whole zone that holds data.
    fn trim(&mut self, slot: &mut Slot) -> Admission {
        let drawn = self.number(slot.offset);
        let number = if self.worker.is_random { self.nearest(drawn, 1) } else { Some(drawn) };
        let Some(number) = number else { return Admission::NoZone };
        let zone = self.state.zone(number);
        if zone.in_flight > 0 {
            return Admission::Wait;
        }
        self.state.close(number);
        self.state.empty(number);
        slot.offset = self.start(number);
        slot.length = self.map.length;
        Admission::Admitted
    }

    /// Offset at which a sequential access continues.
    fn next(&self, number: u32, slot: &Slot) -> u64 {
        let end = slot.offset + slot.length;
        let zone = &self.state.zones[number as usize];
        let used_up = end >= self.start(number) + zone.capacity;
        let apart = zone.capacity < self.map.length || self.worker.plan.gap.0 > 0;
        if used_up && apart && !zone.conventional && !self.worker.plan.read_unwritten {
            self.start(number + 1) + self.worker.plan.gap.0
        } else {
            end
        }
    }
}
