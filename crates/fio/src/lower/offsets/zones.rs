//! Zones with write pointers, and amounts that count zones.

use candor_plan::Bytes;
use candor_plan::blocks::{ZoneReset, Zones};

use crate::lower::instance::Instance;
use crate::lower::{engines, names};
use crate::options;
use crate::options::{Amount, ContinueOn, Method, ZoneMode};
use candor_front::Diagnostics;

/// Smallest transfer of a device.
const SECTOR_BYTES: u64 = 512;

/// Zone size of a clone's first file: as given, or the device's.
pub(in crate::lower) fn length(from: &Instance<'_>) -> Option<u64> {
    let options = from.options.zones.size;
    if options > 0 || from.options.zones.mode != ZoneMode::Zbd {
        return Some(options).filter(|options| *options > 0);
    }
    from.host.zoned(&names::first(from)?).map(|device| device.zone_bytes)
}

/// An amount that counts zones, in bytes; others as they are.
pub(in crate::lower) fn in_bytes(
    from: &Instance<'_>,
    amount: Amount,
    option: &str,
    diagnostics: &mut Diagnostics,
) -> Amount {
    let Amount::Zones(number) = amount else { return amount };
    match length(from) {
        Some(length) => Amount::Bytes(number.saturating_mul(length)),
        None => {
            let message = "zones are counted, but their length is not set".to_owned();
            diagnostics.wrong(from, option, message, "set zonesize, and a zonemode");
            Amount::Bytes(0)
        }
    }
}

/// The zones of a clone; none without write pointers.
pub(in crate::lower) fn lower(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Option<Zones> {
    let options = &from.options.zones;
    if options.mode != ZoneMode::Zbd {
        return None;
    }
    let gap = match in_bytes(from, options.skip, "zoneskip", diagnostics) {
        Amount::Bytes(bytes) => bytes,
        _ => {
            diagnostics.refuse(from, "zoneskip", "only bytes and zones can be left out");
            0
        }
    };
    let number = |number: u64| u32::try_from(number).ok().filter(|number| *number > 0);
    let (open_max, own) = (number(options.open), number(options.open_of_job));
    if own.is_some() && open_max.is_none() {
        let message = "a limit for each job needs one for all of them".to_owned();
        diagnostics.wrong(from, "job_max_open_zones", message, "set max_open_zones too");
    }
    let Some(length) = length(from) else {
        let message = "zones of an ordinary file or device need a length".to_owned();
        let known_as = "Specifying the zone size is mandatory for regular file/block device with \
                        --zonemode=zbd";
        diagnostics.wrong_known_as(from, "zonemode", message, known_as, "set zonesize");
        return None;
    };
    lengths(from, length, gap, diagnostics);
    let every = |often: f64| (1.0 / often).min(f64::from(u32::MAX)) as u32;
    let reset = options.reset_frequency.filter(|often| *often > 0.0).map(|often| ZoneReset {
        above_percent: options.reset_threshold.unwrap_or(0.0) * 100.0,
        every: every(often),
    });
    Some(Zones {
        length: Some(Bytes(length)),
        capacity: Some(Bytes(options.capacity)).filter(|capacity| capacity.0 > 0),
        gap: Bytes(gap),
        open_max,
        open_max_per_worker: own,
        read_unwritten: options.read_beyond,
        short_writes: options.write_remainder,
        recover_pointers: recovers(from, diagnostics),
        reset,
    })
}

/// True if write pointers are read after errors. An error that ends the job leaves nothing to
/// recover. fio fills zones up to later writes in flight, which would break verified data. candor
/// has one write at a time per zone, but keeps fio's refusal for scripts.
fn recovers(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> bool {
    let options = from.options;
    if !options.zones.recover || !options.rw.direction.writes() {
        return false;
    }
    let engine = options::engine(&options.issue.engine).map_or("", |engine| engine.name);
    let is_async = engines::engine(engine).is_async();
    let continue_on = options.errors.continue_on;
    if continue_on == ContinueOn::None && options.errors.ignore.is_none() {
        let message = "the first write that fails ends the job, and no pointer is recovered";
        let remedy = "set continue_on_error=io";
        diagnostics.wrong(from, "recover_zbd_write_error", message.to_owned(), remedy);
    }
    if is_async && options.verify.method != Method::None {
        let message = format!("with ioengine={engine}, fio breaks what verify is to find");
        let remedy = "take ioengine=psync, or leave out verify";
        diagnostics.wrong(from, "recover_zbd_write_error", message, remedy);
    }
    matches!(continue_on, ContinueOn::Write | ContinueOn::Io | ContinueOn::All)
}

/// A zone must be long enough for the job's operations.
fn lengths(from: &Instance<'_>, length: u64, gap: u64, diagnostics: &mut Diagnostics) {
    let mut wrong = |option: &str, message: String, known_as: &str, remedy: &str| {
        diagnostics.wrong_known_as(from, option, message, known_as, remedy);
    };
    if length < SECTOR_BYTES {
        let message = format!("a zone of {length} bytes is shorter than a sector");
        let known_as = "zone size must be at least 512 bytes for --zonemode=zbd";
        wrong("zonesize", message, known_as, "give 512 or more");
    } else if !gap.is_multiple_of(length) {
        let message = format!("{gap} bytes are no whole zones of {length}");
        let known_as = format!("zoneskip {gap} is not a multiple of the device zone size {length}");
        wrong("zoneskip", message, &known_as, "leave out whole zones");
    }
}
