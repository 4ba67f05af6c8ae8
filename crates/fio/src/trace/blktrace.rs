//! The kernel's block trace, as `blkparse -d` writes it: a stream of events, each a header of 48
//! bytes with additional data of the given length.
//!
//! Only events that queue an operation count as operations. Events that merge or complete one give
//! the depth.

use std::collections::HashMap;
use std::io::{self, Read};

use candor_plan::PathText;
use candor_plan::trace::Action;
use candor_plan::units::Direction;

use super::{Fault, FindDevice, Recorded, Steps, unreadable};
use crate::options::Trace as TraceOptions;

/// Upper three bytes of an event's first word; the last byte is the version.
pub(super) const MAGIC: u32 = 0x6561_7400;
/// The version of the format that the kernel writes.
pub(super) const VERSION: u32 = 7;
/// Bytes of an event.
pub(super) const EVENT_BYTES: usize = 48;
const SECTOR: u64 = 512;
/// Maximum depth; without completions the count only grows.
const DEPTH_MAX: u32 = 1024;

/// Kinds of events, the lower half of `action`.
const QUEUE: u32 = 1;
const BACK_MERGE: u32 = 2;
const FRONT_MERGE: u32 = 3;
const COMPLETE: u32 = 8;
/// Classes of events, bits of the upper half of `action`.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;

/// The order of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endian {
    Little,
    Big,
}

/// Byte order of a block trace, by its first bytes; `None` for other files.
pub(super) fn endian(head: &[u8]) -> Option<Endian> {
    let head: [u8; 4] = head.try_into().ok()?;
    let is_magic = |word: u32| word & !0xff == MAGIC;
    if is_magic(u32::from_le_bytes(head)) {
        return Some(Endian::Little);
    }
    is_magic(u32::from_be_bytes(head)).then_some(Endian::Big)
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub time_ns: u64,
    pub sector: u64,
    pub bytes: u32,
    pub action: u32,
    pub device: u32,
    /// Process, CPU and error, which merged traces keep.
    pub pid: u32,
    pub cpu: u32,
    pub error: u16,
}

impl Event {
    pub fn is(&self, class: u32) -> bool {
        self.action >> 16 & class != 0
    }

    /// The event queues an operation.
    pub fn queues(&self) -> bool {
        self.action & 0xffff == QUEUE && !self.is(NOTIFY)
    }
}

/// The events of a trace.
pub(super) struct Events<'a, R> {
    name: &'a str,
    bytes: R,
    endian: Endian,
    at: u64,
}

impl<'a, R: Read> Events<'a, R> {
    pub fn new(name: &'a str, bytes: R, endian: Endian) -> Self {
        Events { name, bytes, endian, at: 0 }
    }

    /// The next event; `None` at the end or if the event is truncated.
    pub fn next(&mut self) -> Result<Option<Event>, Fault> {
        let mut raw = [0; EVENT_BYTES];
        match self.bytes.read_exact(&mut raw) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(unreadable(self.name, &error)),
        }
        let begin = self.at;
        let word = |at: usize| {
            let word = std::array::from_fn(|byte| raw[at + byte]);
            match self.endian {
                Endian::Little => u32::from_le_bytes(word),
                Endian::Big => u32::from_be_bytes(word),
            }
        };
        let pair = |at: usize| match self.endian {
            Endian::Little => u64::from(word(at)) | u64::from(word(at + 4)) << 32,
            Endian::Big => u64::from(word(at + 4)) | u64::from(word(at)) << 32,
        };
        let (error, extra) = match self.endian {
            Endian::Little => (word(44) as u16, word(44) >> 16),
            Endian::Big => ((word(44) >> 16) as u16, word(44) & 0xffff),
        };
        if word(0) != MAGIC | VERSION {
            return Err(self.fault(begin, format!("{:#010x} is not the mark of an event", word(0))));
        }
        let event = Event {
            time_ns: pair(8),
            sector: pair(16),
            bytes: word(24),
            action: word(28),
            pid: word(32),
            device: word(36),
            cpu: word(40),
            error,
        };
        let mut behind = self.bytes.by_ref().take(u64::from(extra));
        io::copy(&mut behind, &mut io::sink()).map_err(|error| unreadable(self.name, &error))?;
        self.at += EVENT_BYTES as u64 + u64::from(extra);
        Ok(Some(event))
    }

    fn fault(&self, at: u64, message: String) -> Fault {
        let place = format!("{}:byte {at}", self.name);
        let remedy = "make the file again with `blkparse DEVICE -o /dev/null -d FILE`".to_owned();
        Fault { place, message, remedy }
    }
}

/// Reads a trace.
pub(super) fn read(
    name: &str,
    bytes: impl Read,
    endian: Endian,
    given: &TraceOptions,
    device: FindDevice<'_>,
) -> Result<Recorded, Fault> {
    let mut events = Events::new(name, bytes, endian);
    let mut replay =
        Replay { steps: Steps::new(given), files: HashMap::new(), first_ns: None, device };
    let mut depth = Depth::default();
    loop {
        let at = events.at;
        let Some(event) = events.next()? else { break };
        depth.event(&event);
        if event.queues() && !event.is(COMMAND) {
            replay.event(&event).map_err(|(message, remedy)| {
                let mut fault = events.fault(at, message);
                fault.remedy = remedy.map_or(fault.remedy, str::to_owned);
                fault
            })?;
        }
    }
    let mut recorded = replay.steps.recorded;
    recorded.depth = Some(depth.found());
    Ok(recorded)
}

/// Steps in the making.
struct Replay<'a> {
    steps: Steps<'a>,
    /// Indices of files by the numbers of devices.
    files: HashMap<u32, u32>,
    first_ns: Option<u64>,
    device: FindDevice<'a>,
}

impl Replay<'_> {
    fn event(&mut self, event: &Event) -> Result<(), (String, Option<&'static str>)> {
        let first_ns = *self.first_ns.get_or_insert(event.time_ns);
        let at_ns = event.time_ns.saturating_sub(first_ns);
        let file = self.file(event.device)?;
        let offset = event.sector.checked_mul(SECTOR);
        let Some(offset) = offset else {
            return Err((format!("sector {} lies beyond all devices", event.sector), None));
        };
        let mut add = |action, length: u32| {
            self.steps
                .add(at_ns, file, action, offset, u64::from(length))
                .map_err(|why| (why, None))
        };
        if event.is(FLUSH) {
            // A write may request a flush before it.
            add(Action::Fsync, 0)?;
        }
        if event.bytes == 0 {
            return Ok(());
        }
        let op = match (event.is(DISCARD), event.is(WRITE)) {
            (true, _) => Direction::Trim,
            (false, true) => Direction::Write,
            (false, false) => Direction::Read,
        };
        add(Action::Move(op), event.bytes)
    }

    fn file(&mut self, device: u32) -> Result<u32, (String, Option<&'static str>)> {
        if let Some(index) = self.files.get(&device) {
            return Ok(*index);
        }
        // Format of the kernel's device numbers.
        let (major, minor) = (device >> 20, device & 0xf_ffff);
        let path = match self.steps.given.redirect {
            Some(_) => Some(String::new()),
            None => (self.device)(major, minor).map(|path| path.text()),
        };
        let path = path.ok_or_else(|| {
            let message = format!("there is no device {major}:{minor} here");
            (message, Some("name one with replay_redirect"))
        })?;
        let index = self.steps.file(&path);
        self.files.insert(device, index);
        Ok(index)
    }
}

/// Operations under way.
#[derive(Default)]
struct Depth {
    now: u32,
    most: u32,
    completed: bool,
}

impl Depth {
    fn event(&mut self, event: &Event) {
        if event.is(NOTIFY) || event.is(COMMAND) {
            return;
        }
        match event.action & 0xffff {
            QUEUE => self.now = self.now.saturating_add(1),
            BACK_MERGE | FRONT_MERGE => self.now = self.now.saturating_sub(1),
            COMPLETE => {
                self.most = self.most.max(self.now);
                self.now = self.now.saturating_sub(1);
                self.completed = true;
            }
            _ => {}
        }
    }

    /// The maximum depth, if plausible.
    fn found(&self) -> u32 {
        if self.completed && (1..=DEPTH_MAX).contains(&self.most) { self.most } else { DEPTH_MAX }
    }
}

#[cfg(test)]
pub(super) mod tests;
