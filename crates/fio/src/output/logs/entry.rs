//! One entry of a log, as a line of text or as fio stores it in compressed logs.

use std::io::{self, Write};

use candor_plan::units::Direction;

/// Priority class real-time, which the log's last column marks.
const HIGH_PRIORITY: u16 = 1;
/// Flag in the direction of a stored entry with an offset.
const WITH_OFFSET: u32 = 1 << 31;
/// Flag in the direction of a stored entry with a full priority.
const WITH_PRIORITY: u32 = 1 << 30;
/// Bytes of a stored entry without its offset.
const STORED_BYTES: usize = 32;

/// One entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// When, in ms.
    pub time_ms: u64,
    /// The value.
    pub value: u64,
    /// Maximum in addition to a mean.
    pub max: Option<u64>,
    /// The direction's number.
    pub direction: u8,
    /// Bytes of the operation; 0 for a window.
    pub bytes: u64,
    /// Offset, if logged.
    pub offset: Option<u64>,
    /// I/O priority.
    pub priority: u16,
    /// True if the full priority is logged, not only whether it is high.
    pub full_priority: bool,
    /// Time of submission in ns, if logged.
    pub issued_ns: Option<u64>,
}

impl Entry {
    /// Writes it as a line.
    pub fn line(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{}, {}", self.time_ms, self.value)?;
        if let Some(max) = self.max {
            write!(out, ", {max}")?;
        }
        write!(out, ", {}, {}", self.direction, self.bytes)?;
        if let Some(offset) = self.offset {
            write!(out, ", {offset}")?;
        }
        if self.full_priority {
            write!(out, ", {:#06x}", self.priority)?;
        } else {
            write!(out, ", {}", u8::from(self.priority >> 13 == HIGH_PRIORITY))?;
        }
        if let Some(issued_ns) = self.issued_ns {
            write!(out, ", {issued_ns}")?;
        }
        out.write_all(b"\n")
    }

    /// Appends the stored form: little endian, with a gap after the priority.
    pub fn store(&self, to: &mut Vec<u8>) {
        let with_offset = self.offset.map_or(0, |_| WITH_OFFSET);
        let with_priority = if self.full_priority { WITH_PRIORITY } else { 0 };
        let direction = u32::from(self.direction) | with_offset | with_priority;
        to.extend(self.time_ms.to_le_bytes());
        to.extend(self.value.to_le_bytes());
        to.extend(direction.to_le_bytes());
        to.extend(self.priority.to_le_bytes());
        to.extend([0; 2]);
        to.extend(self.bytes.to_le_bytes());
        to.extend(self.offset.map(u64::to_le_bytes).into_iter().flatten());
    }

    /// The first stored entry and the rest; `None` if truncated.
    pub fn stored(from: &[u8]) -> Option<(Entry, &[u8])> {
        let word = |at: usize| Some(u64::from_le_bytes(from.get(at..at + 8)?.try_into().ok()?));
        let flags = word(16)?;
        let (direction, priority) = (flags as u32, (flags >> 32) as u16);
        let offset = match direction & WITH_OFFSET {
            0 => None,
            _ => Some(word(STORED_BYTES)?),
        };
        let entry = Entry {
            time_ms: word(0)?,
            value: word(8)?,
            direction: direction as u8,
            bytes: word(24)?,
            offset,
            priority,
            full_priority: direction & WITH_PRIORITY != 0,
            ..Entry::default()
        };
        Some((entry, &from[STORED_BYTES + offset.map_or(0, |_| 8)..]))
    }
}

/// The number of a direction.
pub(super) fn direction(op: Direction) -> u8 {
    match op {
        Direction::Read => 0,
        Direction::Write => 1,
        Direction::Trim => 2,
    }
}
