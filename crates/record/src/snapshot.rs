//! Counters of the kernel at a moment. Differences of two snapshots are what happened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod state;

pub use state::{
    ArrayState, CacheHits, CpuThrottled, ErrorCount, InodesInUse, InterfaceBytes, LoopFile,
    MountBytes, State, Temperature, ZramPages,
};

/// The kernel's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// `CLOCK_MONOTONIC` in ns.
    pub at_ns: u64,
    /// Counters of every device in [`crate::Facts::devices`], by name (`/sys/class/block/X/stat`).
    pub devices: Vec<(String, DiskCounters)>,
    /// This process (`/proc/self/io`).
    pub process_io: Option<ProcessIo>,
    /// Pages of the targets' files in the cache, summed; absent in the samples of every second
    /// where that would cost too much.
    pub cache: Option<CacheState>,
    /// Dirty and written-back pages of the whole host (`/proc/vmstat`).
    pub vmstat: Option<VmStat>,
    /// Time of all CPUs, and of each (`/proc/stat`).
    pub cpu: Option<CpuTimes>,
    /// Time of each CPU.
    pub cpus: Vec<CpuTimes>,
    /// Pressure (`/proc/pressure/*`): total stall time of some task, in ns.
    pub pressure: Option<Pressure>,
    /// Completions run in softirq context for block devices (`/proc/softirqs` BLOCK), per CPU.
    pub softirq_block: Vec<u64>,
    /// Interrupts of each device's driver per CPU, by name of the device; of those whose
    /// interrupts can be told apart (`/proc/interrupts`: virtio, NVMe). Not in the samples of
    /// every second.
    #[serde(default)]
    pub interrupts: Vec<(String, Vec<u64>)>,
    /// Threads of this process that the kernel made for io_uring to wait in
    /// (`/proc/self/task/*/comm`: `iou-wrk-…`); absent where there are too many threads to ask.
    #[serde(default)]
    pub uring_workers: Option<u32>,
    /// Bytes that these threads read from and wrote to storage (`/proc/self/task/*/io`): none by
    /// flushes and by reads of cached pages, however many of them the threads did.
    #[serde(default)]
    pub uring_worker_bytes: Option<u64>,
    /// Arrays, temperatures, errors, networks: read before and after a phase only.
    #[serde(default, skip_serializing_if = "State::is_empty")]
    pub state: State,
}

impl Snapshot {
    /// Counters of a device.
    pub fn device(&self, name: &str) -> Option<&DiskCounters> {
        self.devices.iter().find(|(n, _)| n == name).map(|(_, counters)| counters)
    }

    /// The counts of a device from `self` to `later`.
    pub fn device_delta(&self, later: &Snapshot, name: &str) -> Option<DiskCounters> {
        Some(later.device(name)?.since(self.device(name)?))
    }
}

/// The 17 counters of one block device. Sectors have 512 bytes, always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskCounters {
    /// Completed reads.
    pub reads: u64,
    /// Reads merged into another one before they were issued.
    pub read_merges: u64,
    /// Sectors read.
    pub read_sectors: u64,
    /// Latencies of all reads together, in ms.
    pub read_ms: u64,
    /// Completed writes.
    pub writes: u64,
    /// Writes merged into another one before they were issued.
    pub write_merges: u64,
    /// Sectors written.
    pub write_sectors: u64,
    /// Latencies of all writes together, in ms.
    pub write_ms: u64,
    /// Requests issued and not completed yet, at that moment.
    pub in_flight: u64,
    /// Time in which at least one request was in flight, in ms.
    pub busy_ms: u64,
    /// Latencies of all requests together, those in flight included, in ms.
    pub weighted_ms: u64,
    /// Completed discards.
    pub discards: u64,
    /// Discards merged into another one before they were issued.
    pub discard_merges: u64,
    /// Sectors discarded.
    pub discard_sectors: u64,
    /// Latencies of all discards together, in ms.
    pub discard_ms: u64,
    /// Completed flushes.
    pub flushes: u64,
    /// Latencies of all flushes together, in ms.
    pub flush_ms: u64,
}

impl DiskCounters {
    /// The difference to an earlier moment; `in_flight` is that of `self`.
    #[must_use]
    pub fn since(&self, earlier: &DiskCounters) -> DiskCounters {
        let since = self.each(earlier, u64::wrapping_sub);
        DiskCounters { in_flight: self.in_flight, ..since }
    }

    /// The results of a function of each counter and its counterpart.
    #[must_use]
    pub fn each(&self, other: &DiskCounters, f: fn(u64, u64) -> u64) -> DiskCounters {
        let (a, b) = (self, other);
        DiskCounters {
            reads: f(a.reads, b.reads),
            read_merges: f(a.read_merges, b.read_merges),
            read_sectors: f(a.read_sectors, b.read_sectors),
            read_ms: f(a.read_ms, b.read_ms),
            writes: f(a.writes, b.writes),
            write_merges: f(a.write_merges, b.write_merges),
            write_sectors: f(a.write_sectors, b.write_sectors),
            write_ms: f(a.write_ms, b.write_ms),
            in_flight: f(a.in_flight, b.in_flight),
            busy_ms: f(a.busy_ms, b.busy_ms),
            weighted_ms: f(a.weighted_ms, b.weighted_ms),
            discards: f(a.discards, b.discards),
            discard_merges: f(a.discard_merges, b.discard_merges),
            discard_sectors: f(a.discard_sectors, b.discard_sectors),
            discard_ms: f(a.discard_ms, b.discard_ms),
            flushes: f(a.flushes, b.flushes),
            flush_ms: f(a.flush_ms, b.flush_ms),
        }
    }

    /// Bytes read.
    pub fn bytes_read(&self) -> u64 {
        self.read_sectors * 512
    }

    /// Bytes written.
    pub fn bytes_written(&self) -> u64 {
        self.write_sectors * 512
    }
}

/// I/O that this process caused, from `/proc/self/io`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessIo {
    /// Bytes of read-like system calls.
    pub rchar: u64,
    /// Bytes of write-like system calls.
    pub wchar: u64,
    /// Bytes really fetched from storage.
    pub read_bytes: u64,
    /// Bytes really dirtied or sent to storage.
    pub write_bytes: u64,
    /// Dirty bytes that were dropped before they were written.
    pub cancelled_write_bytes: u64,
}

/// Pages of a set of files in the page cache, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheState {
    /// Length of the files together.
    pub size_bytes: u64,
    /// Resident.
    pub resident_bytes: u64,
    /// Of these, dirty; absent where only `mincore` could be asked.
    pub dirty_bytes: Option<u64>,
    /// Of these, being written; absent where only `mincore` could be asked.
    pub writeback_bytes: Option<u64>,
}

/// Dirty pages of the whole host, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VmStat {
    /// Dirty.
    pub dirty_bytes: u64,
    /// Being written.
    pub writeback_bytes: u64,
    /// Above this the kernel throttles writers.
    pub dirty_threshold_bytes: u64,
    /// Pages that were made dirty since boot, each time anew.
    #[serde(default)]
    pub dirtied_bytes: Option<u64>,
}

/// CPU time in ns since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuTimes {
    /// Code of processes, in ns.
    pub user_ns: u64,
    /// Code of processes with a positive nice value, in ns.
    pub nice_ns: u64,
    /// The kernel, in ns.
    pub system_ns: u64,
    /// Nothing to run, in ns.
    pub idle_ns: u64,
    /// Nothing to run while a task of the CPU waited for I/O, in ns.
    pub iowait_ns: u64,
    /// Hard interrupts, in ns.
    pub irq_ns: u64,
    /// Soft interrupts, in ns.
    pub softirq_ns: u64,
    /// The hypervisor ran something else, in ns.
    pub steal_ns: u64,
}

/// Time in which some task was stalled, in ns since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// Waits for a CPU, in ns.
    pub cpu_some_ns: u64,
    /// Waits for I/O, in ns.
    pub io_some_ns: u64,
    /// Waits for memory, in ns.
    pub memory_some_ns: u64,
}
