//! Counting in the kernel: the maps, the programs that fill them, and the reading of sums.

use std::collections::BTreeMap;
use std::io;

use candor_record::requests::{Issuer, TracerCost};

use super::bpf::{self, Hook, Kind, Map, numbers};
use super::budget::Budget;
use super::devices::{Device, TracedDevices};
use super::duty_cycle::{DutyCycle, Programs};
use super::layout::Layout;
use super::programs::{
    ENDS, EVENTS, ISSUER_BYTES, MEMBER, Maps, OWN_REQUESTS, OWN_REQUESTS_BYTES, PENDING_BYTES,
    RECORD_KEY_BYTES, raw, record,
};
use super::tally::{self, Owners};
use super::tracefs::Formats;

/// Processes that are told apart.
const ISSUERS_MAX: u32 = 1024;
/// Requests that are followed to their ends at the same time, where the kernel notes no times.
const PENDING_MAX: u32 = 8192;

/// Requests between their making and the driver whose makers are known.
const MAKERS_MAX: u32 = 1 << 14;
/// Processes that are followed.
const MEMBERS_MAX: u32 = 1 << 16;

/// Processes whose requests are counted apart.
#[derive(Clone, Debug)]
pub struct Own {
    /// Our own process, as the kernel numbers it.
    pub pid: u32,
    /// Processes that are counted apart instead of ours, each [`MEMBER`] or
    /// [`super::programs::PARENT`], and their descendants.
    pub members: Option<Vec<(u32, u64)>>,
}

/// Programs in the kernel that count until this is dropped.
#[derive(Debug)]
pub struct Counting {
    tallies: Map,
    issuers: Map,
    /// Processes whose requests are counted apart, where these are not ours.
    members: Option<Map>,
    /// Attaches and detaches the programs.
    duty_cycle: DutyCycle,
}

/// Where the programs learn of requests.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// From the kernel's own structures.
    Structures(&'a Layout),
    /// From records of tracepoints.
    Records(&'a Formats),
}

/// The traced processes with their roles; none where only our own process is traced.
fn members_map(own: &Own, cpus: usize) -> io::Result<Option<Map>> {
    let Some(members) = &own.members else { return Ok(None) };
    let map = Map::new(Kind::Hash, 8, 8, MEMBERS_MAX, cpus)?;
    for (pid, role) in members {
        map.set(&u64::from(*pid).to_ne_bytes(), &role.to_ne_bytes())?;
    }
    Ok(Some(map))
}

impl Counting {
    /// Begins to count.
    pub fn open(
        traced: &TracedDevices,
        source: Source<'_>,
        budget: Budget,
        cpus: usize,
        own: &Own,
    ) -> io::Result<Counting> {
        // Kernels before 5.11 take the memory of maps from what may be locked; if the limit cannot
        // be raised, making them says so.
        let unlimited = rustix::process::Rlimit { current: None, maximum: None };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Memlock, unlimited);
        let places = traced.names.len() as u32 * 4;
        let key_bytes = match source {
            Source::Structures(_) => 8,
            Source::Records(_) => RECORD_KEY_BYTES,
        };
        // One for requests of ours, and one for those of others.
        let owned = places * 2;
        let tallies = Map::new(Kind::PerCpuArray, 4, tally::NUMBERS * 8, owned, cpus)?;
        let ends = Map::new(Kind::Array, 4, ENDS * 8, owned, cpus)?;
        let own_requests = Map::new(Kind::Array, 4, OWN_REQUESTS_BYTES, OWN_REQUESTS, cpus)?;
        let devices = traced.devices.len() as u32;
        let devices = Map::new(Kind::Hash, 8, size_of::<Device>(), devices, cpus)?;
        let issuers = Map::new(Kind::LruHash, 8, ISSUER_BYTES, ISSUERS_MAX, cpus)?;
        let kept = Programs {
            programs: Vec::new(),
            events: Map::new(Kind::PerCpuArray, 4, EVENTS * 8, 1, cpus)?,
            window: Map::new(Kind::Array, 4, 16, 1, cpus)?,
            pending: Map::new(Kind::Hash, key_bytes, PENDING_BYTES, PENDING_MAX, cpus)?,
        };
        for place in 0..owned {
            // No request starts at this sector.
            ends.set(&place.to_ne_bytes(), &[0xff; ENDS * 8])?;
        }
        for ([major, minor], device) in &traced.devices {
            devices.set(&[major.to_ne_bytes(), minor.to_ne_bytes()].concat(), &device.bytes())?;
        }
        let members = members_map(own, cpus)?;
        let makers = members.as_ref().map(|_| Map::new(Kind::LruHash, 8, 8, MAKERS_MAX, cpus));
        let makers = makers.transpose()?;
        let maps = Maps {
            devices: devices.number(),
            tallies: tallies.number(),
            ends: ends.number(),
            issuers: issuers.number(),
            events: kept.events.number(),
            window: kept.window.number(),
            pending: kept.pending.number(),
            own_requests: own_requests.number(),
            own_pid: if own.members.is_none() { own.pid } else { 0 },
            members: members.as_ref().map(Map::number),
            makers: makers.as_ref().map(Map::number),
        };
        let programs = match source {
            Source::Structures(layout) => by_structures(traced, &maps, layout)?,
            Source::Records(formats) => by_records(traced, &maps, formats)?,
        };
        let duty_cycle = DutyCycle::start(Programs { programs, ..kept }, budget)?;
        Ok(Counting { tallies, issuers, members, duty_cycle })
    }

    /// Processes whose requests are counted apart, those that have ended among them; none where
    /// these are our own.
    pub fn members(&self) -> Option<Vec<u32>> {
        let members = self.members.as_ref()?;
        let keys = members
            .keys()
            .into_iter()
            .filter(|key| members.get(key).is_some_and(|role| numbers(&role)[0] == MEMBER));
        Some(keys.map(|key| numbers(&key)[0] as u32).collect())
    }

    /// The numbers of one place, of all CPUs together.
    pub fn numbers(&self, place: u32) -> Owners<[u64; tally::NUMBERS]> {
        Owners { others: self.sums(place * 2), own: self.sums(place * 2 + 1) }
    }

    fn sums(&self, tally: u32) -> [u64; tally::NUMBERS] {
        let mut sums = [0_u64; tally::NUMBERS];
        let value = self.tallies.get(&tally.to_ne_bytes()).unwrap_or_default();
        // A CPU without requests costs one comparison.
        let used = |of_cpu: &&[u8]| *of_cpu != [0; tally::NUMBERS * 8];
        for of_cpu in value.chunks_exact(tally::NUMBERS * 8).filter(used) {
            for (sum, number) in sums.iter_mut().zip(numbers(of_cpu)) {
                *sum = sum.wrapping_add(number);
            }
        }
        sums
    }

    /// Who issued the requests of each place.
    pub fn issuers(&self) -> BTreeMap<u32, Vec<Issuer>> {
        let mut found: BTreeMap<u32, Vec<Issuer>> = BTreeMap::new();
        for key in self.issuers.keys() {
            // One that vanished meanwhile was the least used.
            let Some(value) = self.issuers.get(&key) else { continue };
            let (key, counts) = (numbers(&key)[0], numbers(&value[..16]));
            // All that it made was merged into requests of others.
            if counts[0] == 0 {
                continue;
            }
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

    /// Events that the kernel dropped because the program ran on that CPU already.
    pub fn events_lost(&self) -> u64 {
        self.duty_cycle.events_lost()
    }

    /// CPU time that tracing took so far.
    pub fn cost(&self) -> TracerCost {
        self.duty_cycle.cost()
    }
}

/// The programs that these devices need, and where each belongs.
fn by_structures(
    traced: &TracedDevices,
    maps: &Maps,
    layout: &Layout,
) -> io::Result<Vec<(bpf::Program, Hook)>> {
    let mut wanted = Vec::new();
    if traced.has(0) {
        wanted.push((raw::issue(maps, layout), "block_rq_issue"));
        wanted.push((raw::complete(maps, layout), "block_rq_complete"));
        if let (Some(makers), Some((event, argument))) = (maps.makers, layout.made) {
            wanted.push((raw::made(maps, layout, makers, argument), event));
        }
        if let Some(argument) = layout.requeue_argument {
            wanted.push((raw::requeue(maps, layout, argument), "block_rq_requeue"));
        }
    }
    if traced.has(1) {
        wanted.push((raw::queue(maps, layout), "block_bio_queue"));
        wanted.push((raw::bio_complete(maps, layout), "block_bio_complete"));
    }
    if let Some(argument) = layout.split_argument {
        wanted.push((raw::split(maps, layout, argument), "block_split"));
    }
    if let (Some(members), Some(fork)) = (maps.members, layout.fork) {
        wanted.push((raw::fork(maps, members, fork), "sched_process_fork"));
    }
    wanted
        .into_iter()
        .map(|(code, name)| Ok((bpf::load(bpf::RAW_TRACEPOINT, &code)?, Hook::Raw(name))))
        .collect()
}

/// The same for records of tracepoints.
fn by_records(
    traced: &TracedDevices,
    maps: &Maps,
    formats: &Formats,
) -> io::Result<Vec<(bpf::Program, Hook)>> {
    let mut wanted = Vec::new();
    if traced.has(0) {
        wanted.push((record::issue(maps, &formats.issue), formats.issue.id));
        wanted.push((record::complete(maps, &formats.complete), formats.complete.id));
        wanted.push((record::requeue(maps, &formats.requeue), formats.requeue.id));
    }
    if traced.has(1) {
        wanted.push((record::queue(maps, &formats.queue), formats.queue.id));
    }
    if let Some(split) = &formats.split {
        wanted.push((record::split(maps, split), split.id));
    }
    wanted
        .into_iter()
        .map(|(code, id)| Ok((bpf::load(bpf::TRACEPOINT, &code)?, Hook::Event(id))))
        .collect()
}
