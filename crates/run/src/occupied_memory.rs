//! Memory that a run keeps occupied while its phases run, so that less is left to the page cache.

use std::io;

use candor_engine::host::memory::{Mapping, PAGE_BYTES, Pages};
use candor_plan::units::Extent;
use candor_plan::{Bytes, PlanPath, Problem};
use candor_record::facts::{Fact, HostFacts, MemoryOccupied};
use candor_record::{Event, PrepareStep};

use crate::error::RunError;
use crate::events::Channels;

/// Bytes that are written between two looks at the user's stop.
const CHUNK_BYTES: usize = 64 << 20;

/// Memory that is given back when it is dropped.
#[derive(Debug)]
pub struct OccupiedMemory {
    _mapping: Mapping,
    /// Size of the memory, and whether the kernel may swap it out.
    pub known: MemoryOccupied,
}

impl OccupiedMemory {
    /// Maps that much memory of a host, writes to each page, and locks it where that is allowed.
    ///
    /// # Errors
    /// More than is available, or the user's stop.
    pub fn occupy(
        extent: Extent,
        host: &HostFacts,
        channels: &Channels,
    ) -> Result<OccupiedMemory, RunError> {
        let bytes = amount(extent, host)?;
        let what = Bytes(bytes).to_string();
        let mapping = Mapping::new(bytes as usize, Pages::Ordinary);
        let mut mapping = mapping.map_err(|cause| refused(&what, &cause))?;
        let mut done = 0;
        for chunk in mapping.as_mut_slice().chunks_mut(CHUNK_BYTES) {
            if channels.control.is_stopped() {
                return Err(RunError::Interrupted);
            }
            chunk.iter_mut().step_by(PAGE_BYTES).for_each(|byte| *byte = 1);
            done += chunk.len() as u64;
            channels.events.send(Event::Preparing {
                phase: String::new(),
                step: PrepareStep::OccupyMemory,
                what: what.clone(),
                bytes_done: done,
                bytes_total: bytes,
            });
        }
        let locked = mapping.lock().is_ok();
        Ok(OccupiedMemory { _mapping: mapping, known: MemoryOccupied { bytes, locked } })
    }
}

/// The amount in bytes, where the host has so much to give.
fn amount(extent: Extent, host: &HostFacts) -> Result<u64, RunError> {
    let value = |fact: &Option<Fact<u64>>| fact.as_ref().map(|fact| fact.value);
    let Some(all) = value(&host.memory_bytes) else {
        let why = "the kernel does not report the host's memory size".to_owned();
        return Err(problem(why, "mount /proc, or remove occupy_memory"));
    };
    let bytes = extent.of(Bytes(all)).0 / PAGE_BYTES as u64 * PAGE_BYTES as u64;
    let known = [value(&host.memory_available_bytes), value(&host.cgroup.memory_max_bytes)];
    let available = known.into_iter().flatten().min().unwrap_or(all);
    if bytes > available || usize::try_from(bytes).is_err() {
        let why = format!(
            "{} of memory are to be occupied, and {} are available",
            Bytes(bytes),
            Bytes(available)
        );
        return Err(problem(why, "set a smaller occupy_memory, or free some memory"));
    }
    Ok(bytes.max(PAGE_BYTES as u64))
}

fn refused(what: &str, cause: &io::Error) -> RunError {
    problem(format!("{what} of memory cannot be occupied: {cause}"), "set a smaller occupy_memory")
}

fn problem(message: String, remedy: &str) -> RunError {
    let place = PlanPath::root().key("occupy_memory");
    RunError::BadPlan(vec![Problem::error("occupy-memory", place, message, remedy)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(all: u64, available: u64) -> HostFacts {
        let fact = |value| Some(Fact::new(value, "test"));
        HostFacts {
            memory_bytes: fact(all),
            memory_available_bytes: fact(available),
            ..HostFacts::default()
        }
    }

    #[test]
    fn a_share_is_of_all_memory_and_bounded_by_what_is_available() {
        let of = |extent| amount(extent, &host(1 << 30, 1 << 29)).map_err(|e| e.to_string());
        assert_eq!(of(Extent::Percent(25.0)), Ok(1 << 28));
        assert_eq!(of(Extent::Bytes(Bytes(1 << 20))), Ok(1 << 20));
        let refused = of(Extent::Percent(75.0)).expect_err("more than is available");
        assert_eq!(
            refused,
            "768MiB of memory are to be occupied, and 512MiB are available; set a smaller \
             occupy_memory, or free some memory"
        );
        let unknown = amount(Extent::Percent(1.0), &HostFacts::default());
        assert!(unknown.is_err_and(|error| error.exit_code() == 2));
    }

    #[test]
    fn memory_is_really_there() {
        let extent = Extent::Bytes(Bytes(128 << 20));
        let channels = Channels::default();
        let occupied = OccupiedMemory::occupy(extent, &host(1 << 40, 1 << 40), &channels);
        let mut occupied = occupied.expect("so little is there");
        assert_eq!(occupied.known.bytes, 128 << 20);
        let address = occupied._mapping.as_mut_slice().as_ptr() as u64;
        assert!(resident_around(address) >= 128 << 20);
    }

    /// Bytes in memory of the mapping that contains an address.
    fn resident_around(address: u64) -> u64 {
        let text = std::fs::read_to_string("/proc/self/smaps").expect("read");
        let hex = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let begins_there = |line: &&str| {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let range = range.and_then(|(from, to)| Some(hex(from)?..hex(to)?));
            range.is_some_and(|range| range.contains(&address))
        };
        let mut lines = text.lines().skip_while(|line| !begins_there(line));
        let resident = lines.find_map(|line| line.strip_prefix("Rss:")).expect("a mapping");
        let kib = resident.trim().trim_end_matches(" kB").parse::<u64>().expect("a number");
        kib << 10
    }
}
