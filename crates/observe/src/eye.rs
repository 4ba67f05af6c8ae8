//! The block layer request by request: sizes, places, order, latencies, and whose they are.
//!
//! Small programs on the kernel's tracepoints count inside the kernel; nothing is copied for each
//! request. They are written here instruction by instruction ([`programs`]) with the offsets that
//! the running kernel's description of its types gives ([`btf`], [`layout`]), or that tracefs gives
//! ([`tracefs`]), so that neither a compiler nor a table of kernels is needed. Kernels that take no
//! programs can hand out events, which are counted here ([`sampling`], [`blktrace`]). Each way
//! takes CAP_BPF and CAP_PERFMON, or root.

mod asm;
mod blktrace;
mod bpf;
mod btf;
mod counter;
mod kernel;
mod layout;
mod lid;
mod perf;
mod programs;
mod sampling;
mod tally;
#[cfg(test)]
mod tests;
mod tracefs;

use std::io;
use std::path::Path;

use candor_record::facts::{DeviceFacts, DeviceKind, Facts, Missing, value};
use candor_record::requests::{Cost, RequestOp, RequestStats, Requests};

use crate::Roots;
use btf::Btf;
use kernel::{Counting, Source};
use layout::Layout;
use programs::Device;
use sampling::Sampling;
use tracefs::Formats;

/// How much it may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// A share of the time of one CPU; where there are too many requests for it, they are looked
    /// at for a moment now and then.
    Share(f64),
    /// Every request is looked at, whatever it costs.
    Unbounded,
}

/// How requests come to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Programs on raw tracepoints, which read the kernel's structures. Needs BTF and Linux 4.17.
    Raw,
    /// Programs on tracepoints, which read records. Needs tracefs, which is mounted for the moment
    /// where it is not. Knows no time before a request went to its driver.
    Tracepoint,
    /// Samples of tracepoints, counted here: three times as dear. Needs tracefs and no programs.
    Perf,
    /// What blktrace reads, from debugfs, counted here. Only one can trace a device so at a time.
    Blktrace,
}

impl Way {
    /// What is tried of itself, in this order.
    const OF_ITSELF: [Way; 3] = [Way::Raw, Way::Tracepoint, Way::Perf];

    /// As a report tells it.
    pub fn name(self) -> &'static str {
        match self {
            Way::Raw => "BPF on raw tracepoints",
            Way::Tracepoint => "BPF on tracepoints",
            Way::Perf => "perf samples of tracepoints",
            Way::Blktrace => "blktrace",
        }
    }
}

/// Devices that are looked at, at most; their numbers take 30 KiB each on every CPU.
const DEVICES_MAX: usize = 64;

/// What looks, until this is dropped.
#[derive(Debug)]
pub struct Eye {
    /// Names of devices by their slot.
    devices: Vec<String>,
    way: Way,
    means: Means,
}

/// Where the sums are.
#[derive(Debug)]
enum Means {
    Kernel(Box<Counting>),
    Here(Sampling),
}

impl Eye {
    /// Begins to look at all devices of `facts`, in the first way that this kernel allows.
    ///
    /// # Errors
    /// What keeps it from looking and what would enable it, in words.
    pub fn open(facts: &Facts, budget: Budget, roots: &Roots) -> Result<Eye, Missing> {
        let mut first = None;
        for way in Way::OF_ITSELF {
            match Eye::by(way, facts, budget, roots) {
                Ok(eye) => return Ok(eye),
                Err(missing) => first = first.or(Some(missing)),
            }
        }
        Err(first.unwrap_or_else(|| missing("there is no way", "nothing")))
    }

    /// The same in one way, or not at all.
    ///
    /// # Errors
    /// As [`Eye::open`].
    pub fn by(way: Way, facts: &Facts, budget: Budget, roots: &Roots) -> Result<Eye, Missing> {
        let watched = Watched::of(facts, roots);
        if watched.names.is_empty() {
            return Err(missing("there is no block device below the targets", "nothing"));
        }
        let count = |source: Source<'_>| {
            let counting = Counting::open(&watched, source, budget, cpus(roots));
            counting.map(|counting| Means::Kernel(Box::new(counting))).map_err(|e| refused(&e))
        };
        let means = match way {
            Way::Raw => layout(&roots.sys).and_then(|layout| count(Source::Structures(&layout)))?,
            Way::Tracepoint => {
                let formats = Formats::read(&roots.sys).map_err(|error| refused(&error))?;
                count(Source::Records(&formats))?
            }
            Way::Perf => {
                let (of_thread, sys, cpus) = (watched.clone(), roots.sys.clone(), online(roots));
                let make = move || sampling::rings(&of_thread, &sys, &cpus);
                let opened = Sampling::open(&watched, budget, make);
                Means::Here(opened.map_err(|error| refused(&error))?)
            }
            Way::Blktrace => {
                let (of_thread, roots) = (watched.clone(), roots.clone());
                let make = move || blktrace::relays(&of_thread, &roots);
                let opened = Sampling::open(&watched, budget, make);
                Means::Here(opened.map_err(|refusal: blktrace::Refusal| refusal.0)?)
            }
        };
        Ok(Eye { devices: watched.names, way, means })
    }

    /// How it sees requests.
    pub fn way(&self) -> Way {
        self.way
    }

    /// What has been counted since it was opened.
    pub fn look(&self) -> RequestStats {
        let numbers;
        let (mut issuers, left_out) = match &self.means {
            Means::Kernel(counting) => {
                numbers = self.each(|place| counting.numbers(place));
                (counting.issuers(), counting.left_out())
            }
            Means::Here(sampling) => {
                let (all, issuers, lost) = sampling.look(|counter, lost| {
                    (self.each(|place| counter.numbers(place)), counter.issuers(), lost)
                });
                numbers = all;
                (issuers, lost)
            }
        };
        let mut requests = Vec::new();
        for (place, numbers) in numbers.iter().enumerate() {
            let direction = RequestOp::ALL[place % 4];
            let mut seen = tally::read(&self.devices[place / 4], direction, numbers);
            seen.issuers = issuers.remove(&(place as u32)).unwrap_or_default();
            seen.issuers.sort_by_key(|issuer| std::cmp::Reverse(issuer.count));
            requests.push(seen);
        }
        requests.retain(|of: &Requests| !of.is_empty());
        let (way, cost) = (self.way.name().to_owned(), self.cost());
        RequestStats { way, own_pid: std::process::id(), left_out, cost, requests }
    }

    /// What looking took since it was opened.
    fn cost(&self) -> Cost {
        match &self.means {
            Means::Kernel(counting) => counting.cost(),
            Means::Here(sampling) => sampling.cost(),
        }
    }

    /// Something of each place: each device in each direction.
    fn each<T>(&self, of: impl Fn(u32) -> T) -> Vec<T> {
        (0..self.devices.len() as u32 * 4).map(of).collect()
    }
}

/// The devices that are looked at.
#[derive(Clone, Debug)]
struct Watched {
    /// By their slots.
    names: Vec<String>,
    /// By major and minor number; partitions have the slot of their disk, since I/O for devices
    /// without a queue may still bear their number.
    devices: Vec<([u32; 2], Device)>,
}

impl Watched {
    fn of(facts: &Facts, roots: &Roots) -> Watched {
        let disks = facts.devices.iter().filter(|device| device.kind != DeviceKind::Partition);
        let (mut names, mut devices) = (Vec::new(), Vec::new());
        for disk in disks.take(DEVICES_MAX) {
            let Some(number) = numbers_of(&disk.number) else { continue };
            let device = known(disk, names.len() as u32);
            devices.push((number, device));
            if device.bio_based == 1 {
                let parts = crate::partitions(&disk.name, roots).into_iter();
                let number =
                    |part: String| numbers_of(&roots.text(&roots.block(&part).join("dev"))?);
                devices.extend(parts.filter_map(number).map(|number| (number, device)));
            }
            names.push(disk.name.clone());
        }
        Watched { names, devices }
    }

    /// Whether there is one with a queue (0) or without (1).
    fn has(&self, bio_based: u32) -> bool {
        self.devices.iter().any(|(_, device)| device.bio_based == bio_based)
    }
}

/// A device as programs know it.
fn known(disk: &DeviceFacts, slot: u32) -> Device {
    let queue = &disk.queue;
    let optimal = [&queue.chunk_bytes, &queue.optimal_io_bytes];
    let optimal = optimal.into_iter().filter_map(value).find(|bytes| **bytes > 0);
    Device {
        slot,
        bio_based: value(&disk.bio_based).copied().unwrap_or(false).into(),
        physical_bytes: value(&queue.physical_block_bytes).copied().unwrap_or(512).max(512),
        optimal_bytes: optimal.copied().unwrap_or(0),
    }
}

fn numbers_of(text: &str) -> Option<[u32; 2]> {
    let (major, minor) = text.trim().split_once(':')?;
    Some([major.parse().ok()?, minor.parse().ok()?])
}

/// Where the running kernel keeps what the programs read.
fn layout(sys: &Path) -> Result<Layout, Missing> {
    let path = sys.join("kernel/btf/vmlinux");
    let types = std::fs::read(&path).map_err(|error| {
        let why = format!("{}: {error}", path.display());
        missing(&why, "a kernel built with CONFIG_DEBUG_INFO_BTF")
    })?;
    let lacks = |what: String| missing(&format!("this kernel lacks {what}"), "another kernel");
    let btf = Btf::parse(&types).ok_or_else(|| lacks("a description of its types".into()))?;
    Layout::of(&btf).map_err(lacks)
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

/// CPUs that run.
fn online(roots: &Roots) -> Vec<u32> {
    let text = std::fs::read_to_string(roots.sys.join("devices/system/cpu/online"));
    let span = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.parse::<u32>().ok()?..=to.parse::<u32>().ok()?)
    };
    text.unwrap_or_default().trim().split(',').filter_map(span).flatten().collect()
}

fn refused(error: &io::Error) -> Missing {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            missing("this takes more than the rights of a user", "root, or CAP_BPF and CAP_PERFMON")
        }
        _ => missing(&format!("the kernel refuses it: {error}"), "another kernel"),
    }
}

fn missing(why: &str, enable: &str) -> Missing {
    Missing {
        what: "the sizes and places of requests, one by one".to_owned(),
        why: why.to_owned(),
        enable: enable.to_owned(),
    }
}
