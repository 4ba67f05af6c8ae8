//! The block layer request by request: sizes, places, order, latencies, and whose they are.
//!
//! Small programs on the kernel's tracepoints count inside the kernel; nothing is copied for each
//! request. They are written here instruction by instruction ([`programs`]) with the offsets that
//! the running kernel's description of its types gives ([`btf`], [`layout`]), so that neither a
//! compiler nor a table of kernels is needed. It takes CAP_BPF and CAP_PERFMON, or root.

mod asm;
mod bpf;
mod btf;
mod layout;
mod lid;
mod programs;
mod tally;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;

use candor_record::facts::{DeviceFacts, DeviceKind, Facts, Missing, value};
use candor_record::requests::{Direction, Issuer, Requests, Trace};

use crate::Roots;
use bpf::{Kind, Map};
use btf::Btf;
use layout::Layout;
use lid::Lid;
use programs::{Device, ENDS, ISSUER_BYTES, Maps};

/// How much it may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// A share of the time of one CPU; where there are too many requests for it, they are looked
    /// at for a moment now and then.
    Share(f64),
    /// Every request is looked at, whatever it costs.
    Unbounded,
}

/// Devices that are looked at, at most; their numbers take 30 KiB each on every CPU.
const DEVICES_MAX: usize = 64;
/// Processes that are told apart.
const ISSUERS_MAX: u32 = 1024;

const WAY: &str = "BPF on raw tracepoints";

/// Programs in the kernel that count until this is dropped.
#[derive(Debug)]
pub struct Eye {
    /// Names of devices by their slot.
    devices: Vec<String>,
    tallies: Map,
    issuers: Map,
    /// Keeps the programs where they are, as long as they should be.
    _lid: Lid,
}

impl Eye {
    /// Begins to look at all devices of `facts`.
    ///
    /// # Errors
    /// What keeps it from looking and what would enable it, in words.
    pub fn open(facts: &Facts, budget: Budget, roots: &Roots) -> Result<Eye, Missing> {
        let devices: Vec<_> = facts.devices.iter().filter_map(watched).take(DEVICES_MAX).collect();
        if devices.is_empty() {
            return Err(missing("there is no block device below the targets", "nothing"));
        }
        let path = roots.sys.join("kernel/btf/vmlinux");
        let types = std::fs::read(&path).map_err(|error| {
            let why = format!("{}: {error}", path.display());
            missing(&why, "a kernel built with CONFIG_DEBUG_INFO_BTF")
        })?;
        let lacks = |what: String| missing(&format!("this kernel lacks {what}"), "another kernel");
        let layout = Btf::parse(&types).ok_or_else(|| lacks("a description of its types".into()));
        let layout = layout.and_then(|btf| Layout::of(&btf).map_err(lacks))?;
        open(&devices, &layout, budget, cpus(roots)).map_err(|error| refused(&error))
    }

    /// What has been counted since it was opened.
    pub fn look(&self) -> Trace {
        let mut issuers = self.issuers();
        let mut requests = Vec::new();
        for (slot, device) in self.devices.iter().enumerate() {
            for direction in Direction::ALL {
                let place = (slot * 4 + direction.number()) as u32;
                let mut seen = tally::read(device, direction, &self.numbers(place));
                seen.issuers = issuers.remove(&place).unwrap_or_default();
                seen.issuers.sort_by_key(|issuer| std::cmp::Reverse(issuer.count));
                requests.push(seen);
            }
        }
        requests.retain(|of: &Requests| !of.is_empty());
        Trace { way: WAY.to_owned(), own_pid: std::process::id(), requests }
    }

    /// The numbers of one place, of all CPUs together.
    fn numbers(&self, place: u32) -> [u64; tally::NUMBERS] {
        let mut sums = [0_u64; tally::NUMBERS];
        let value = self.tallies.get(&place.to_ne_bytes()).unwrap_or_default();
        for of_cpu in value.chunks_exact(tally::NUMBERS * 8) {
            for (sum, number) in sums.iter_mut().zip(numbers(of_cpu)) {
                *sum = sum.wrapping_add(number);
            }
        }
        sums
    }

    fn issuers(&self) -> BTreeMap<u32, Vec<Issuer>> {
        let mut found: BTreeMap<u32, Vec<Issuer>> = BTreeMap::new();
        for key in self.issuers.keys() {
            // One that vanished meanwhile was the least used.
            let Some(value) = self.issuers.get(&key) else { continue };
            let (key, counts) = (numbers(&key)[0], numbers(&value[..16]));
            let name = value[16..].split(|byte| *byte == 0).next().unwrap_or_default();
            found.entry((key >> 32) as u32).or_default().push(Issuer {
                pid: key as u32,
                command: String::from_utf8_lossy(name).into_owned(),
                count: counts[0],
                bytes: counts[1],
            });
        }
        found
    }
}

/// A device as the programs know it; none for partitions, whose requests are those of their disk.
fn watched(device: &DeviceFacts) -> Option<(String, [u32; 2], Device)> {
    if device.kind == DeviceKind::Partition {
        return None;
    }
    let (major, minor) = device.number.split_once(':')?;
    let queue = &device.queue;
    let optimal = [&queue.chunk_bytes, &queue.optimal_io_bytes];
    let optimal = optimal.into_iter().filter_map(value).find(|bytes| **bytes > 0);
    let entry = Device {
        slot: 0,
        bio_based: value(&device.bio_based).copied().unwrap_or(false).into(),
        physical_bytes: value(&queue.physical_block_bytes).copied().unwrap_or(512).max(512),
        optimal_bytes: optimal.copied().unwrap_or(0),
    };
    Some((device.name.clone(), [major.parse().ok()?, minor.parse().ok()?], entry))
}

fn open(
    devices: &[(String, [u32; 2], Device)],
    layout: &Layout,
    budget: Budget,
    cpus: usize,
) -> io::Result<Eye> {
    // Kernels before 5.11 take the memory of maps from what may be locked; if the limit cannot be
    // raised, making them says so.
    let unlimited = rustix::process::Rlimit { current: None, maximum: None };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Memlock, unlimited);
    let places = devices.len() as u32 * 4;
    let numbers = Map::new(Kind::PerCpuArray, 4, tally::NUMBERS * 8, places, cpus)?;
    let ends = Map::new(Kind::Array, 4, ENDS * 8, places, cpus)?;
    let known = Map::new(Kind::Hash, 8, size_of::<Device>(), devices.len() as u32, cpus)?;
    let issuers = Map::new(Kind::LruHash, 8, ISSUER_BYTES, ISSUERS_MAX, cpus)?;
    let events = Map::new(Kind::PerCpuArray, 4, 8, 1, cpus)?;
    for place in 0..places {
        // No request starts at this sector.
        ends.set(&place.to_ne_bytes(), &[0xff; ENDS * 8])?;
    }
    for (slot, (_, [major, minor], device)) in devices.iter().enumerate() {
        let key = [major.to_ne_bytes(), minor.to_ne_bytes()].concat();
        known.set(&key, &Device { slot: slot as u32, ..*device }.bytes())?;
    }
    let maps = Maps {
        devices: known.number(),
        tallies: numbers.number(),
        ends: ends.number(),
        issuers: issuers.number(),
        events: events.number(),
    };
    let programs = load(devices, &maps, layout)?;
    Ok(Eye {
        devices: devices.iter().map(|(name, ..)| name.clone()).collect(),
        _lid: Lid::open(programs, events, budget)?,
        tallies: numbers,
        issuers,
    })
}

/// The programs that these devices need, and where each belongs.
fn load(
    devices: &[(String, [u32; 2], Device)],
    maps: &Maps,
    layout: &Layout,
) -> io::Result<Vec<(OwnedFd, &'static str)>> {
    let mut loaded = Vec::new();
    if devices.iter().any(|(.., device)| device.bio_based == 0) {
        loaded.push((bpf::load(&programs::issue(maps, layout))?, "block_rq_issue"));
        loaded.push((bpf::load(&programs::complete(maps, layout))?, "block_rq_complete"));
    }
    if devices.iter().any(|(.., device)| device.bio_based == 1) {
        loaded.push((bpf::load(&programs::queue(maps, layout))?, "block_bio_queue"));
    }
    Ok(loaded)
}

impl Device {
    /// As it stands in the map.
    fn bytes(&self) -> Vec<u8> {
        let halves = [self.slot.to_ne_bytes(), self.bio_based.to_ne_bytes()].concat();
        let whole = [self.physical_bytes.to_ne_bytes(), self.optimal_bytes.to_ne_bytes()];
        [halves, whole.concat()].concat()
    }
}

fn numbers(bytes: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    bytes.chunks_exact(8).map(number).collect()
}

/// CPUs that there could be: the kernel keeps numbers for each of them.
fn cpus(roots: &Roots) -> usize {
    let text = std::fs::read_to_string(roots.sys.join("devices/system/cpu/possible"));
    let last = |text: String| text.trim().rsplit(['-', ',']).next()?.parse::<usize>().ok();
    text.ok().and_then(last).unwrap_or(0) + 1
}

fn refused(error: &io::Error) -> Missing {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            missing("this takes more than the rights of a user", "root, or CAP_BPF and CAP_PERFMON")
        }
        _ => missing(&format!("the kernel refuses the program: {error}"), "another kernel"),
    }
}

fn missing(why: &str, enable: &str) -> Missing {
    Missing {
        what: "the sizes and places of requests, one by one".to_owned(),
        why: why.to_owned(),
        enable: enable.to_owned(),
    }
}
