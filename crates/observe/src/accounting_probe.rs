//! The accounting probe: does the block layer count what this target does?
//!
//! One direct read of known size is made, and the counters of every device of the target's stack
//! are compared before and after. If they do not move, no coverage computed from them means
//! anything: accounting may be switched off, or the bytes may never pass the block layer.
//!
//! Where no device of the target is known, [`device_behind`] finds the one that counts what is
//! read.

mod location;
mod search;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use candor_plan::PathText;
use candor_record::facts::{AccountingOutcome, AccountingProbe, DirectIo, FileFacts, Missing};
use candor_record::{DiskCounters, Facts};

use crate::cache;
use crate::counters;
use crate::path::files::file_facts;
use crate::source::Roots;
use location::{Chance, Spot, Units};

pub use search::{NotFound, device_behind};

/// Reads made at most: others' traffic in between makes the counters move too far.
const TRIES_MAX: u32 = 3;

/// Alignment of the buffer: no device asks for more than a page.
const MEMORY_ALIGN: usize = 4096;

/// Makes one direct read of up to 64 KiB somewhere in the written data of `path` (a file or
/// device of that target), and reports the bytes that each device of its stack counted meanwhile
/// in `/sys/class/block/X/stat` or `/proc/diskstats`, with the reason where the counters could not
/// be proven.
///
/// Where the work on the target goes past the block layer, the read does so too, by `command`.
///
/// The read is repeated up to three times where traffic of others got into the count; the try
/// with the least of it is reported.
pub fn probe(
    facts: &Facts,
    target_index: usize,
    path: &Path,
    command: Option<&ByCommand<'_>>,
    roots: &Roots,
) -> (AccountingProbe, Option<Missing>) {
    let (shown, passthrough) = (path.text(), command.is_some());
    let plain = AccountingProbe { path: shown, passthrough, ..AccountingProbe::default() };
    match attempt(facts, target_index, path, command, roots) {
        Ok(trial) => {
            let outcome = trial.outcome();
            let Trial { bytes, counted, direct, .. } = trial;
            let why = (outcome == AccountingOutcome::NotMade).then(|| {
                stopped("the read went through the page cache although direct I/O was requested").1
            });
            let probe = AccountingProbe { bytes, counted, direct, outcome, ..plain };
            (probe, why.map(|missing| named(missing, path)))
        }
        Err((outcome, missing)) => {
            (AccountingProbe { outcome, ..plain }, Some(named(missing, path)))
        }
    }
}

/// Reads a part of a device past the block layer; the bytes that were read.
pub type ByCommand<'a> = dyn Fn(&mut [u8], u64) -> io::Result<u64> + 'a;

/// Why no read was made, and what that means.
type Stop = (AccountingOutcome, Missing);

fn stopped(why: impl Into<String>) -> Stop {
    let enable = "a written file on a filesystem that does direct I/O, or the device itself";
    (AccountingOutcome::NotMade, missing(why, enable))
}

fn nothing(why: impl Into<String>) -> Stop {
    (AccountingOutcome::NothingToRead, missing(why, "data that was written to a device"))
}

fn missing(why: impl Into<String>, enable: impl Into<String>) -> Missing {
    Missing { what: String::new(), why: why.into(), enable: enable.into() }
}

fn named(missing: Missing, path: &Path) -> Missing {
    Missing { what: format!("accounting probe of {}", path.text()), ..missing }
}

fn attempt(
    facts: &Facts,
    index: usize,
    path: &Path,
    command: Option<&ByCommand<'_>>,
    roots: &Roots,
) -> Result<Trial, Stop> {
    let target = facts.targets.get(index).ok_or_else(|| stopped("there is no such target"))?;
    if let Some(memory) = target.holding().filter(|fs| fs.in_memory) {
        return Err(nothing(format!("{} keeps its files in memory", memory.kind)));
    }
    let about = file_facts(path).map_err(|error| refused(&error))?;
    if about.direct == DirectIo::Unsupported {
        return Err(stopped("the filesystem does not do direct I/O on this file"));
    }
    let open = if command.is_some() { open_plain } else { open_direct };
    let file = open(path).map_err(|error| refused(&error))?;
    let top = target.device.as_ref().map(|fact| fact.value.as_str());
    let units = units(&about, top.and_then(|name| logical_block(facts, name)));
    let spots = location::candidates(&file, &about, units)?;
    let tops: Vec<&str> = target.devices().collect();
    let devices = stack(facts, &tops);
    let mut leaves: Vec<&str> = Vec::new();
    for leaf in tops.iter().flat_map(|top| facts.leaves(top)) {
        if !leaves.contains(&leaf.name.as_str()) {
            leaves.push(&leaf.name);
        }
    }
    let tops = tops.len();
    let mut probe = Probe { file, command, devices, tops, leaves, roots, chance: Chance::new() };
    probe.best_trial(&spots)
}

fn open_direct(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path)
}

/// The kernel knows the flag: a library may have taken it from the call.
fn is_direct(file: &File) -> bool {
    rustix::fs::fcntl_getfl(file).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::DIRECT))
}

fn open_plain(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

/// A sentence for an error of opening or reading.
fn refused(error: &io::Error) -> Stop {
    if error.raw_os_error() == Some(libc::EPERM) {
        // A user without rights gets EACCES.
        let why = "the kernel forbids this process to open it, whichever user it is: a container's \
                   device rules, or a security policy, do not have the device";
        let enable = "a container that has the device (docker run --device), or the host";
        return (AccountingOutcome::NotMade, missing(why, enable));
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => {
            let enable = "root, or membership in the group that may read the device";
            (AccountingOutcome::NotMade, missing("reading it is not permitted", enable))
        }
        io::ErrorKind::NotFound => nothing("there is no such file"),
        io::ErrorKind::InvalidInput => stopped("direct I/O on it was refused"),
        _ => stopped(format!("it could not be read: {error}")),
    }
}

fn logical_block(facts: &Facts, name: &str) -> Option<u64> {
    let fact = facts.device(name)?.queue.logical_block_bytes.as_ref()?;
    Some(fact.value)
}

/// Units in which to read. Pages suit everything, but a small file on a small unit may have no
/// whole page.
fn units(about: &FileFacts, logical_block_bytes: Option<u64>) -> Units {
    const PAGE: u64 = 4096;
    let aligned = match about.direct {
        DirectIo::Aligned { offset, .. } => Some(u64::from(offset)),
        _ => None,
    };
    let known = [aligned, logical_block_bytes].into_iter().flatten().max();
    // Beyond a megabyte it is garbage; and only powers of two are units.
    let least = known.filter(|unit| unit.is_power_of_two() && *unit <= 1 << 20).unwrap_or(PAGE);
    Units { preferred: least.max(PAGE), least: least.max(512) }
}

/// All devices of stacks: the tops, what lies between, the leaves.
fn stack<'a>(facts: &'a Facts, tops: &[&'a str]) -> Vec<&'a str> {
    let mut found = tops.to_vec();
    let mut at = 0;
    while let Some(&name) = found.get(at) {
        for below in facts.device(name).iter().flat_map(|device| &device.below) {
            if !found.contains(&below.as_str()) {
                found.push(below);
            }
        }
        at += 1;
    }
    let lower = found.split_off(tops.len());
    let (leaves, upper): (Vec<&str>, Vec<&str>) = lower
        .into_iter()
        .partition(|name| facts.device(name).is_none_or(|device| device.below.is_empty()));
    found.into_iter().chain(upper).chain(leaves).collect()
}

/// Parameters that all tries share.
struct Probe<'a> {
    file: File,
    /// Way to read past the block layer.
    command: Option<&'a ByCommand<'a>>,
    /// Tops first, leaves last.
    devices: Vec<&'a str>,
    /// Number of devices on top.
    tops: usize,
    leaves: Vec<&'a str>,
    roots: &'a Roots,
    chance: Chance,
}

impl Probe<'_> {
    /// Tries until the count is exact. Of inexact tries the one with the lowest count is kept: if
    /// nothing counts, others' traffic must not look like ours.
    fn best_trial(&mut self, spots: &[Spot]) -> Result<Trial, Stop> {
        let mut best: Option<Trial> = None;
        for _ in 0..TRIES_MAX {
            let spot = self.chance.choose(spots);
            let mut trial = self.trial(&spot).map_err(|error| refused(&error))?;
            if let Some(best) = &best {
                trial.direct &= best.direct;
            }
            if trial.is_exact() {
                return Ok(trial);
            }
            best = match best {
                Some(best) if best.moved() <= trial.moved() => {
                    Some(Trial { direct: trial.direct, ..best })
                }
                _ => Some(trial),
            };
        }
        best.ok_or_else(|| stopped("no read was made"))
    }

    /// Bytes of a spot in the page cache, where commands leave nothing.
    fn cached_bytes(&self, spot: &Spot) -> Option<u64> {
        if self.command.is_some() {
            return None;
        }
        let page = rustix::param::page_size() as u64;
        let start = spot.offset - spot.offset % page;
        let length = (spot.offset + spot.length - start).next_multiple_of(page);
        cache::of_range(&self.file, start, length).map(|state| state.resident_bytes)
    }

    fn trial(&self, spot: &Spot) -> io::Result<Trial> {
        let cached_before = self.cached_bytes(spot);
        let before = self.counters();
        let bytes = match self.command {
            Some(command) => read_by(spot, |buffer| command(buffer, spot.offset)),
            None => read_once(&self.file, spot),
        }?;
        let after = self.counters();
        let grown = match (cached_before, self.cached_bytes(spot)) {
            (Some(before), Some(after)) => after > before,
            _ => false,
        };
        let counted = self.devices.iter().zip(before.iter().zip(&after));
        Ok(Trial {
            bytes,
            requested: spot.length,
            counted: counted.map(|(name, (a, b))| ((*name).to_owned(), moved(a, b))).collect(),
            tops: self.tops,
            leaves: self.leaves.iter().map(|name| (*name).to_owned()).collect(),
            direct: !grown && (self.command.is_some() || is_direct(&self.file)),
        })
    }

    fn counters(&self) -> Vec<Option<DiskCounters>> {
        self.devices.iter().map(|name| counters::of_device(name, self.roots)).collect()
    }
}

/// Bytes that a device read from one moment to the other; 0 if it does not count.
fn moved(before: &Option<DiskCounters>, after: &Option<DiskCounters>) -> u64 {
    match (before, after) {
        (Some(before), Some(after)) => after.since(before).read_sectors.saturating_mul(512),
        _ => 0,
    }
}

/// Reads a spot; at the end of a file less than asked for comes.
fn read_once(file: &File, spot: &Spot) -> io::Result<u64> {
    read_by(spot, |buffer| {
        loop {
            match file.read_at(buffer, spot.offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result.map(|bytes| bytes as u64),
            }
        }
    })
}

/// Reads a spot into memory aligned for it.
fn read_by(spot: &Spot, read: impl FnOnce(&mut [u8]) -> io::Result<u64>) -> io::Result<u64> {
    let length = usize::try_from(spot.length).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut memory = vec![0u8; length + MEMORY_ALIGN];
    let start = memory.as_ptr().align_offset(MEMORY_ALIGN).min(MEMORY_ALIGN);
    read(&mut memory[start..start + length])
}

/// One read and what was counted for it.
#[derive(Debug, Default)]
struct Trial {
    /// Read.
    bytes: u64,
    /// Asked for; more than read only at the end of a file, whose last block is fetched whole.
    requested: u64,
    counted: Vec<(String, u64)>,
    tops: usize,
    leaves: Vec<String>,
    direct: bool,
}

impl Trial {
    /// The tops together: a filesystem may spread even one read over its devices.
    fn top(&self) -> u64 {
        self.counted.iter().take(self.tops).fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// The leaves together: an array may spread even one read.
    fn below(&self) -> u64 {
        let leaves = self.counted.iter().filter(|(name, _)| self.leaves.contains(name));
        leaves.map(|(_, bytes)| bytes).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// The counts of the device that counts.
    fn moved(&self) -> u64 {
        if self.top() > 0 { self.top() } else { self.below() }
    }

    fn is_exact(&self) -> bool {
        self.bytes > 0 && (self.bytes..=self.requested).contains(&self.moved())
    }

    fn outcome(&self) -> AccountingOutcome {
        let enough = |counted: u64| self.bytes > 0 && counted >= self.bytes;
        match (enough(self.top()), enough(self.below())) {
            (true, _) => AccountingOutcome::Counted,
            (false, true) => AccountingOutcome::CountedBelow,
            _ if self.bytes == 0 => AccountingOutcome::NothingToRead,
            // A page that was cached proves nothing about the counters.
            _ if !self.direct => AccountingOutcome::NotMade,
            _ => AccountingOutcome::NotCounted,
        }
    }
}

#[cfg(test)]
#[path = "accounting_probe/tests.rs"]
mod tests;
