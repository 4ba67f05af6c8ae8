//! Zones with write pointers: the state of a file's zones, shared by all of its users.
//!
//! A [`Map`] outlives phases. Its lock is held while a [`ZoneCursor`] moves an operation. The only
//! device command under the lock is a reset, which no other operation of the zone may overlap.

pub mod backend;
mod cursor;

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use candor_plan::PathText;
use candor_plan::blocks::Zones;

use self::backend::{Backend, Reported};
use crate::targets::files::OpenFile;

pub use self::cursor::{Admission, ZoneCursor};

/// One zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Usable bytes, from the start of the zone.
    capacity: u64,
    /// Bytes from the start of the zone to its write pointer.
    written: u64,
    /// Bytes at the end of the zone that are not written to until it is reset.
    lost: u64,
    /// True where a write stopped inside a block: later blocks need not end where the zone does.
    is_shifted: bool,
    /// True for a zone without a write pointer: operations are not moved.
    conventional: bool,
    /// Operations in flight in the zone.
    in_flight: u32,
    /// Cursor that opened the zone for writing; none where it is closed.
    owner: Option<u32>,
    /// True where the zone is full but for a remainder that no write fits into; the device is to
    /// finish it.
    finish_due: bool,
}

impl Zone {
    fn empty(capacity: u64) -> Zone {
        Zone {
            capacity,
            written: 0,
            lost: 0,
            is_shifted: false,
            conventional: false,
            in_flight: 0,
            owner: None,
            finish_due: false,
        }
    }

    /// Bytes that can still be written.
    fn room(&self) -> u64 {
        self.capacity - self.written - self.lost
    }
}

/// State of the zones of a file.
#[derive(Debug, Default)]
struct State {
    zones: Vec<Zone>,
    /// Open zones, in the order in which they were opened.
    open: Vec<u32>,
    /// Bytes below all write pointers.
    written: u64,
}

/// The zones of one file.
pub struct Map {
    length: u64,
    capacity: u64,
    backend: Box<dyn Backend>,
    state: Mutex<State>,
}

impl Map {
    /// Zones of a file that a plan uses in zones.
    ///
    /// # Errors
    /// Reason why the file cannot be used in zones, and the remedy.
    pub fn of(file: &OpenFile, plan: &Zones) -> Result<Map, (String, &'static str)> {
        let path = file.path.text();
        let Reported { backend, length, zones } = backend::of(file).map_err(|error| {
            (format!("cannot learn the zones of `{path}`: {error}"), "see dmesg")
        })?;
        let length = match (length, plan.length.map(|length| length.0)) {
            (Some(own), Some(planned)) if own != planned => {
                let message = format!("zones of `{path}` have {own} bytes, not {planned}");
                return Err((message, "remove the length of zones"));
            }
            (Some(length), _) | (None, Some(length)) => length.max(1),
            (None, None) => {
                let message = format!("`{path}` has no zones");
                return Err((message, "set the length of zones"));
            }
        };
        let capacity = plan.capacity.map_or(length, |capacity| capacity.0.min(length));
        let written = zones.iter().map(|zone| zone.written).sum();
        let state = Mutex::new(State { zones, open: Vec::new(), written });
        Ok(Map { length, capacity, backend, state })
    }

    /// True if the plan gives zones the same length and capacity.
    pub fn agrees(&self, plan: &Zones) -> bool {
        let length = plan.length.is_none_or(|length| length.0 == self.length);
        let capacity = plan.capacity.map_or(self.length, |capacity| capacity.0);
        length && (self.backend.is_strict() || capacity.min(self.length) == self.capacity)
    }

    /// Extends the map to that byte of its file.
    pub fn reach(&self, end: u64) {
        let (zones, capacity) = ((end / self.length) as usize, self.capacity);
        let mut state = self.lock();
        if !self.backend.is_strict() && zones > state.zones.len() {
            state.zones.resize(zones, Zone::empty(capacity));
        }
    }

    /// Whole zones between two bytes of the file.
    pub fn between(&self, start: u64, end: u64) -> Range<u32> {
        let last = (end / self.length).min(self.lock().zones.len() as u64);
        let first = start.div_ceil(self.length).min(last);
        u32::try_from(first).unwrap_or(u32::MAX)..u32::try_from(last).unwrap_or(u32::MAX)
    }

    /// Bytes from the start of a zone to the start of the next.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Capacity of the smallest zone that has any.
    pub fn least_capacity(&self) -> u64 {
        let state = self.lock();
        let used = state.zones.iter().filter(|zone| !zone.conventional && zone.capacity > 0);
        used.map(|zone| zone.capacity).min().unwrap_or(self.length)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A thread that panicked left the numbers consistent.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn zone(&mut self, number: u32) -> &mut Zone {
        &mut self.zones[number as usize]
    }

    /// Adds a zone to the open ones.
    fn open(&mut self, number: u32, owner: u32) {
        if self.zone(number).owner.is_none() {
            self.zone(number).owner = Some(owner);
            self.open.push(number);
        }
    }

    /// Removes a zone from the open ones.
    fn close(&mut self, number: u32) {
        if self.zone(number).owner.take().is_some() {
            self.open.retain(|open| *open != number);
        }
    }

    /// Resets a zone's write pointer to the start.
    fn empty(&mut self, number: u32) {
        self.written -= std::mem::take(&mut self.zone(number).written);
        let zone = self.zone(number);
        (zone.lost, zone.is_shifted, zone.finish_due) = (0, false, false);
    }

    /// Sets a zone's write pointer to where its device has it, after a write to `into` of the zone
    /// failed. Verification knows positions in a `unit`: a pointer between two of them ends the
    /// writing to the zone.
    fn recover(&mut self, number: u32, into: u64, pointer: u64, unit: u64) {
        let zone = self.zone(number);
        let before = zone.written;
        let is_known = pointer.is_multiple_of(unit);
        zone.written = pointer.min(zone.capacity) / unit * unit;
        zone.lost = if is_known { 0 } else { zone.capacity - zone.written };
        zone.is_shifted |= pointer != into;
        zone.finish_due = !is_known && pointer < zone.capacity;
        let written = zone.written;
        self.written = self.written - before + written;
        if !is_known {
            self.close(number);
        }
    }
}

#[cfg(test)]
mod tests;
