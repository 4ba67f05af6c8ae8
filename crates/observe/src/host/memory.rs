//! Sizes of the processor's caches, and of buffers that they cannot hold.

use std::collections::BTreeMap;
use std::thread;

use candor_record::facts::{HostFacts, value};

use crate::host::meminfo;
use crate::source::Roots;

/// Buffers are made of whole pieces: bytes that are copied at a time.
const PIECE: u64 = 1 << 20;
/// Buffers of all threads together.
const BYTES_MIN: u64 = 128 << 20;
const BYTES_MAX: u64 = 768 << 20;
/// The buffers must not take more than this part of the memory that there is.
const PART: u64 = 16;

/// Threads and buffers with which a copy tells how fast memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyBuffers {
    /// One thread for each CPU that this process may use.
    pub threads: u32,
    /// Buffers of each of them, source and destination, in bytes.
    pub bytes_each: u64,
}

/// Buffers that no cache holds; none where there is not memory enough for that.
pub fn copy_buffers(host: &HostFacts, roots: &Roots) -> Option<CopyBuffers> {
    let available = roots.fact(&roots.proc.join("meminfo"), |text| meminfo(text, "MemAvailable"));
    let most = value(&host.cgroup.memory_max_bytes).copied().unwrap_or(u64::MAX);
    let most = available?.value.min(most) / PART;
    let cpus = thread::available_parallelism().ok()?.get() as u64;
    let bytes = buffer_bytes(caches(cpus, roots), most)?;
    let threads = cpus.min(bytes / (2 * PIECE));
    let bytes_each = bytes / threads / (2 * PIECE) * (2 * PIECE);
    Some(CopyBuffers { threads: threads as u32, bytes_each })
}

/// Twice what the caches hold; where that is too much, so much more that they hold little of it.
fn buffer_bytes(caches: u64, most: u64) -> Option<u64> {
    let bytes = (2 * caches).clamp(BYTES_MIN, BYTES_MAX).min(most);
    (bytes >= BYTES_MIN && bytes >= caches + caches / 4).then_some(bytes)
}

/// Bytes that the caches of so many CPUs can hold: all there are, but not more than each CPU can
/// reach. 0 where the kernel does not tell.
fn caches(cpus: u64, roots: &Roots) -> u64 {
    let directory = roots.sys.join("devices/system/cpu");
    let mut sizes = BTreeMap::new();
    for cpu in roots.names(&directory) {
        let caches = directory.join(cpu).join("cache");
        for cache in roots.names(&caches) {
            let text = |name: &str| roots.text(&caches.join(&cache).join(name));
            // Several CPUs name the same one.
            let (Some(size), Some(of)) = (text("size"), text("shared_cpu_list")) else { continue };
            let bytes = size.strip_suffix('K').and_then(crate::source::parse::kib).unwrap_or(0);
            sizes.insert((cache, of), bytes);
        }
    }
    let reach = sizes.values().max().copied().unwrap_or(0).saturating_mul(2 * cpus);
    sizes.values().sum::<u64>().min(reach)
}

#[cfg(test)]
mod tests {
    use candor_record::facts::{CgroupFacts, Fact};

    use super::*;
    use crate::fake::Fake;

    const MIB: u64 = 1 << 20;

    fn host(fake: &Fake, available_kib: u64) {
        fake.write("proc/meminfo", &format!("MemAvailable: {available_kib} kB\n"));
    }

    #[test]
    fn where_memory_is_scarce_there_are_no_buffers() {
        let fake = Fake::new();
        assert_eq!(
            copy_buffers(&HostFacts::default(), &fake.roots),
            None,
            "nobody knows how much there is"
        );
        host(&fake, 2 << 20);
        let buffers = copy_buffers(&HostFacts::default(), &fake.roots).expect("it is not much");
        let all = u64::from(buffers.threads) * buffers.bytes_each;
        assert!((BYTES_MIN / 2..=BYTES_MIN).contains(&all), "{buffers:?}");
        host(&fake, 1 << 20);
        assert_eq!(copy_buffers(&HostFacts::default(), &fake.roots), None);
        host(&fake, 64 << 20);
        let most = Some(Fact::new(1 << 30, "memory.max"));
        let cgroup = CgroupFacts { memory_max_bytes: most, ..CgroupFacts::default() };
        assert_eq!(copy_buffers(&HostFacts { cgroup, ..HostFacts::default() }, &fake.roots), None);
    }

    #[test]
    fn buffers_are_larger_than_the_caches() {
        assert_eq!(buffer_bytes(0, u64::MAX), Some(BYTES_MIN));
        assert_eq!(buffer_bytes(100 * MIB, u64::MAX), Some(200 * MIB));
        assert_eq!(buffer_bytes(600 * MIB, u64::MAX), Some(BYTES_MAX));
        assert_eq!(buffer_bytes(700 * MIB, u64::MAX), None);
        assert_eq!(buffer_bytes(100 * MIB, 120 * MIB), None);
    }

    #[test]
    fn a_cache_that_is_shared_counts_once() {
        let fake = Fake::new();
        for cpu in 0..4 {
            let own = [("size", "1024K\n".to_owned()), ("shared_cpu_list", format!("{cpu}\n"))];
            let shared = ["0-1\n", "2-3\n"][cpu / 2];
            let shared = [("size", "8192K\n".to_owned()), ("shared_cpu_list", shared.to_owned())];
            for (index, files) in [("index2", own), ("index3", shared)] {
                let directory = format!("sys/devices/system/cpu/cpu{cpu}/cache/{index}");
                files
                    .iter()
                    .for_each(|(name, text)| fake.write(&format!("{directory}/{name}"), text));
            }
        }
        assert_eq!(caches(4, &fake.roots), 20 * MIB);
        assert_eq!(caches(1, &fake.roots), 16 * MIB, "one CPU does not fill those of the others");
        assert_eq!(caches(4, &Fake::new().roots), 0);
    }
}
