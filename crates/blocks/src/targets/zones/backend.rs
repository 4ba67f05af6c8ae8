//! Backends of zones: a zoned device, which carries out resets, or the map alone.

use std::io;

use super::Zone;
use candor_engine::operation::Outcome;

use crate::targets::files::OpenFile;
use crate::targets::passthrough;
use crate::targets::passthrough::nvme::{self, ReportedZone, ZoneAction};

/// Backend of a file's zones.
pub trait Backend: Send + Sync {
    /// Resets the write pointer of a zone to its start. `file` is the caller's own.
    ///
    /// # Errors
    /// The kernel's.
    fn reset(&self, file: &OpenFile, start: u64, length: u64) -> io::Result<()>;

    /// Ends writing to a zone that still has room, so that it no longer counts as open.
    ///
    /// # Errors
    /// The kernel's.
    fn finish(&self, file: &OpenFile, start: u64, length: u64) -> io::Result<()>;

    /// Bytes from the start of a zone to its write pointer, as the device says now; none where only
    /// the map knows.
    ///
    /// # Errors
    /// The kernel's.
    fn written(&self, file: &OpenFile, start: u64) -> io::Result<Option<u64>>;

    /// True where a write that does not begin at the write pointer fails.
    fn is_strict(&self) -> bool;
}

/// An ordinary file or device: all state is in the map.
struct MapOnly;

impl Backend for MapOnly {
    fn reset(&self, _: &OpenFile, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn finish(&self, _: &OpenFile, _: u64, _: u64) -> io::Result<()> {
        Ok(())
    }

    fn written(&self, _: &OpenFile, _: u64) -> io::Result<Option<u64>> {
        Ok(None)
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

    fn written(&self, file: &OpenFile, start: u64) -> io::Result<Option<u64>> {
        let report = report::<1>(file, start / SECTOR)?;
        Ok(report.zones().next().map(|zone| zone.written))
    }

    fn is_strict(&self) -> bool {
        true
    }
}

/// A namespace with zones that takes commands past the block layer.
struct Commands(nvme::Namespace);

impl Commands {
    fn change(&self, file: &OpenFile, start: u64, action: ZoneAction) -> io::Result<()> {
        let handle = file.handle().ok_or(io::ErrorKind::NotFound)?;
        self.0.change_zone(handle, start, action)
    }
}

impl Backend for Commands {
    fn reset(&self, file: &OpenFile, start: u64, _: u64) -> io::Result<()> {
        self.change(file, start, ZoneAction::Reset)
    }

    fn finish(&self, file: &OpenFile, start: u64, _: u64) -> io::Result<()> {
        self.change(file, start, ZoneAction::Finish)
    }

    fn written(&self, file: &OpenFile, start: u64) -> io::Result<Option<u64>> {
        let handle = file.handle().ok_or(io::ErrorKind::NotFound)?;
        let zone = self.0.zone_at(handle, start)?;
        Ok(zone.map(|zone| of_commands(&self.0, &zone).written))
    }

    fn is_strict(&self) -> bool {
        true
    }
}

/// State of a file's zones before the first write.
pub struct Reported {
    /// Backend of the zones.
    pub backend: Box<dyn Backend>,
    /// Length of the device's zones.
    pub length: Option<u64>,
    /// Zones of the device.
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

/// Zones per report of the kernel, where all are asked for.
const AT_ONCE: usize = 256;

#[repr(C)]
struct RawReport<const MOST: usize> {
    sector: u64,
    zones: u32,
    flags: u32,
    list: [RawZone; MOST],
}

impl<const MOST: usize> RawReport<MOST> {
    /// The zones that the kernel reported.
    fn zones(&self) -> impl Iterator<Item = Zone> {
        let has_capacity = self.flags & 1 != 0;
        self.list.iter().take(self.zones as usize).map(move |raw| zone(raw, has_capacity))
    }
}

/// Report of up to `MOST` zones from a sector on.
fn report<const MOST: usize>(file: &OpenFile, sector: u64) -> io::Result<Box<RawReport<MOST>>> {
    let list = [RawZone::default(); MOST];
    let mut report = Box::new(RawReport { sector, zones: MOST as u32, flags: 0, list });
    // SAFETY: the report has room for as many zones as it says, and outlives the call.
    match unsafe { libc::ioctl(file.raw(), BLKREPORTZONE, &raw mut *report) } {
        returned if returned < 0 => Err(io::Error::last_os_error()),
        _ => Ok(report),
    }
}

/// Backend of a file's zones, and the zones that its device reports.
///
/// # Errors
/// The kernel's.
pub fn of(file: &OpenFile) -> io::Result<Reported> {
    if let Some(passthrough::Device::Nvme(namespace)) = file.device {
        return of_namespace(file, namespace);
    }
    let Some(length) = zone_bytes(file) else {
        return Ok(Reported { backend: Box::new(MapOnly), length: None, zones: Vec::new() });
    };
    let mut zones = Vec::new();
    loop {
        let from = zones.len() as u64 * length / SECTOR;
        let before = zones.len();
        zones.extend(report::<AT_ONCE>(file, from)?.zones());
        if zones.len() - before < AT_ONCE {
            return Ok(Reported { backend: Box::new(Device), length: Some(length), zones });
        }
    }
}

/// Zones of a namespace, by its own commands.
fn of_namespace(file: &OpenFile, namespace: nvme::Namespace) -> io::Result<Reported> {
    let handle = file.handle().ok_or(io::ErrorKind::NotFound)?;
    let length = namespace.zone_blocks(handle)?;
    let reported = namespace.report_zones(handle, length)?;
    let zones = reported.iter().map(|zone| of_commands(&namespace, zone)).collect();
    let length = Some(length.saturating_mul(namespace.unit()));
    Ok(Reported { backend: Box::new(Commands(namespace)), length, zones })
}

fn of_commands(namespace: &nvme::Namespace, zone: &ReportedZone) -> Zone {
    let bytes = |blocks: u64| blocks.saturating_mul(namespace.unit());
    let written = bytes(zone.pointer.saturating_sub(zone.start));
    sequential(zone.condition, written, bytes(zone.capacity))
}

/// Length of the zones of a zoned device; none for other files.
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
    let capacity = if has_capacity { raw.capacity } else { raw.length }.saturating_mul(SECTOR);
    let written = raw.pointer.saturating_sub(raw.start).saturating_mul(SECTOR);
    let zone = sequential(raw.condition, written, capacity);
    match raw.kind {
        CONVENTIONAL => Zone { written: 0, conventional: true, ..zone },
        _ => zone,
    }
}

/// A zone by its state, the bytes to its write pointer, and those that it holds.
fn sequential(condition: u8, written: u64, capacity: u64) -> Zone {
    const READ_ONLY: u8 = 0xd;
    const FULL: u8 = 0xe;
    const OFFLINE: u8 = 0xf;
    match condition {
        FULL => Zone { written: capacity, ..Zone::empty(capacity) },
        // Such a zone takes no writes and has nothing to read.
        READ_ONLY | OFFLINE => Zone::empty(0),
        _ => Zone { written: written.min(capacity), ..Zone::empty(capacity) },
    }
}

fn change(file: &OpenFile, how: libc::Ioctl, start: u64, length: u64) -> io::Result<()> {
    let range = [start / SECTOR, length / SECTOR];
    // SAFETY: the ioctl reads two 64-bit numbers, which outlive the call.
    match unsafe { libc::ioctl(file.raw(), how, range.as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Trim of a whole zone: a reset on a zoned device, nothing on an ordinary file.
pub fn trim(file: &OpenFile, start: u64, length: u64) -> Outcome {
    if zone_bytes(file).is_none() {
        return Outcome::Done(length);
    }
    match change(file, BLKRESETZONE, start, length) {
        Ok(()) => Outcome::Done(length),
        Err(error) => Outcome::error(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}
