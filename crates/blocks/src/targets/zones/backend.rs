//! What zones stand on: a zoned device that is told of every reset, or books alone.

use std::io;

use super::Zone;
use candor_engine::operation::Outcome;

use crate::targets::files::OpenFile;

/// What zones stand on.
pub trait Backend: Send + Sync {
    /// Sets the write pointer of a zone back to its start. `file` is the caller's own.
    ///
    /// # Errors
    /// The kernel's.
    fn reset(&self, file: &OpenFile, start: u64, length: u64) -> io::Result<()>;

    /// Ends writing to a zone that still has room, so that it no longer counts as open.
    ///
    /// # Errors
    /// The kernel's.
    fn finish(&self, file: &OpenFile, start: u64, length: u64) -> io::Result<()>;

    /// True where a write that does not begin at the write pointer fails.
    fn is_strict(&self) -> bool;
}

/// An ordinary file or device: all there is stands in the map.
struct Books;

impl Backend for Books {
    fn reset(&self, _: &OpenFile, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn finish(&self, _: &OpenFile, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn is_strict(&self) -> bool {
        false
    }
}

/// A zoned block device.
struct Device;

impl Backend for Device {
    fn reset(&self, file: &OpenFile, start: u64, length: u64) -> io::Result<()> {
        change(file, BLKRESETZONE, start, length)
    }

    fn finish(&self, file: &OpenFile, start: u64, length: u64) -> io::Result<()> {
        change(file, BLKFINISHZONE, start, length)
    }

    fn is_strict(&self) -> bool {
        true
    }
}

/// What is known of the zones of a file before anything is written.
pub struct Reported {
    /// What they stand on.
    pub ground: Box<dyn Backend>,
    /// The device's own length of zones.
    pub length: Option<u64>,
    /// The device's zones.
    pub zones: Vec<Zone>,
}

const SECTOR: u64 = 512;
const BLKREPORTZONE: libc::Ioctl = 0xc010_1282_u32 as libc::Ioctl;
const BLKRESETZONE: libc::Ioctl = 0x4010_1283;
const BLKGETZONESZ: libc::Ioctl = 0x8004_1284_u32 as libc::Ioctl;
const BLKFINISHZONE: libc::Ioctl = 0x4010_1288;

/// A zone as the kernel reports it; positions and lengths in sectors.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawZone {
    start: u64,
    length: u64,
    pointer: u64,
    kind: u8,
    condition: u8,
    sequential_not: u8,
    wants_reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    reserved_more: [u8; 24],
}

/// Zones reported at a time.
const AT_ONCE: usize = 256;

#[repr(C)]
struct RawReport {
    sector: u64,
    zones: u32,
    flags: u32,
    list: [RawZone; AT_ONCE],
}

/// What a file's zones stand on, and what its device reports of them.
///
/// # Errors
/// The kernel's.
pub fn of(file: &OpenFile) -> io::Result<Reported> {
    let Some(length) = zone_bytes(file) else {
        return Ok(Reported { ground: Box::new(Books), length: None, zones: Vec::new() });
    };
    let mut zones = Vec::new();
    loop {
        let from = zones.len() as u64 * length / SECTOR;
        let list = [RawZone::default(); AT_ONCE];
        let mut report =
            Box::new(RawReport { sector: from, zones: AT_ONCE as u32, flags: 0, list });
        // SAFETY: the report has room for as many zones as it says, and outlives the call.
        let returned = unsafe { libc::ioctl(file.raw(), BLKREPORTZONE, &raw mut *report) };
        if returned < 0 {
            return Err(io::Error::last_os_error());
        }
        let told = &report.list[..(report.zones as usize).min(AT_ONCE)];
        let has_capacity = report.flags & 1 != 0;
        zones.extend(told.iter().map(|raw| zone(raw, has_capacity)));
        if told.len() < AT_ONCE {
            return Ok(Reported { ground: Box::new(Device), length: Some(length), zones });
        }
    }
}

/// Bytes per zone of a zoned device; none for anything else.
pub fn zone_bytes(file: &OpenFile) -> Option<u64> {
    if !file.is_device {
        return None;
    }
    let mut sectors = 0_u32;
    // SAFETY: the ioctl writes one 32-bit number, which outlives the call.
    let returned = unsafe { libc::ioctl(file.raw(), BLKGETZONESZ, &raw mut sectors) };
    (returned == 0 && sectors > 0).then(|| u64::from(sectors) * SECTOR)
}

fn zone(raw: &RawZone, has_capacity: bool) -> Zone {
    const CONVENTIONAL: u8 = 1;
    const READ_ONLY: u8 = 0xd;
    const FULL: u8 = 0xe;
    const OFFLINE: u8 = 0xf;
    let capacity = if has_capacity { raw.capacity } else { raw.length }.saturating_mul(SECTOR);
    let written = match raw.condition {
        FULL => capacity,
        // Nothing can be written, and there is nothing to read.
        READ_ONLY | OFFLINE => 0,
        _ => raw.pointer.saturating_sub(raw.start).saturating_mul(SECTOR).min(capacity),
    };
    let is_dead = matches!(raw.condition, READ_ONLY | OFFLINE);
    let free = raw.kind == CONVENTIONAL;
    let capacity = if is_dead { 0 } else { capacity };
    Zone { written: if free { 0 } else { written }, free, ..Zone::empty(capacity) }
}

fn change(file: &OpenFile, how: libc::Ioctl, start: u64, length: u64) -> io::Result<()> {
    let range = [start / SECTOR, length / SECTOR];
    // SAFETY: the ioctl reads two 64-bit numbers, which outlive the call.
    match unsafe { libc::ioctl(file.raw(), how, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A trim of a whole zone: a reset on a zoned device, and nothing but books on an ordinary one.
pub fn trim(file: &OpenFile, start: u64, length: u64) -> Outcome {
    if zone_bytes(file).is_none() {
        return Outcome::Done(length);
    }
    match change(file, BLKRESETZONE, start, length) {
        Ok(()) => Outcome::Done(length),
        Err(error) => Outcome::error(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}
