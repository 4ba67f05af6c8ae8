//! Limits of a result, and what a result measures instead of its target.

use std::fmt::{self, Display, Formatter};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fmt as number;

/// A limit of a result, with the numbers and names that belong to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Limit {
    /// The page cache answered reads.
    PageCache,
    /// Memory answered direct reads.
    Memory,
    /// The page cache took the writes.
    PageCacheWrites,
    /// Later passes came from the page cache.
    LaterPasses,
    /// Reads hit holes.
    Holes,
    /// Reads hit unwritten blocks.
    UnwrittenBlocks,
    /// Reads hit blocks that hold nothing.
    BlankBlocks,
    /// The page cache of a loop device's backing file.
    LoopPageCache,
    /// Holes of a loop device's backing file.
    LoopHoles,
    /// The cache of the NFS client.
    NfsClientCache,
    /// The target is memory.
    HostMemory,
    /// Bandwidth of memory.
    MemoryBandwidth,
    /// The rate that the plan sets.
    PlanRate {
        /// Bytes per second, where it is set in bytes.
        bytes_per_s: Option<f64>,
        /// Operations per second, where it is set in operations.
        ops_per_s: Option<f64>,
    },
    /// The plan's think time.
    ThinkTime,
    /// A limit of the control group.
    ControlGroup {
        /// Bytes per second, where it is set in bytes.
        bytes_per_s: Option<f64>,
        /// Operations per second, where it is set in operations.
        ops_per_s: Option<f64>,
    },
    /// The CPU quota of the control group.
    CpuQuota {
        /// CPUs' worth of time.
        cpus: f64,
    },
    /// A limiter that set in when an allowance was used up.
    BurstLimiter {
        /// The rate from then on.
        ops_per_s: f64,
    },
    /// Perhaps a limit below this host, at a round rate.
    UnseenLimiter {
        /// Bytes per second, where they are round.
        bytes_per_s: Option<f64>,
        /// Operations per second, where they are round.
        ops_per_s: Option<f64>,
    },
    /// A drive that slows down because it is hot.
    Temperature {
        /// The drive.
        device: String,
    },
    /// CPU time of the workers.
    ThreadCpu {
        /// Workers that used a CPU up.
        threads: u64,
    },
    /// More threads moved more, with as much in flight.
    Threads {
        /// Workers.
        workers: u64,
    },
    /// Workers waited for a CPU.
    CpuStarvation {
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// All CPUs of the host were busy.
    HostCpus {
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// A CPU was busy with interrupts.
    InterruptCpu,
    /// One operation at a time.
    Latency,
    /// An engine that keeps one operation per thread.
    SynchronousEngine {
        /// Threads.
        workers: u64,
    },
    /// Submission that blocks.
    BlockingSubmission,
    /// The workers did not keep enough in flight.
    LoadGenerator {
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// Operations wait between the workers and the device.
    PathToDevice {
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// More load moved more.
    Load {
        /// The load that was tried.
        doubled: Doubled,
        /// Rate over that of the phase.
        times: f64,
    },
    /// Blocks that the filesystem had to allocate.
    BlockAllocation {
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// Files that workers share.
    SharedFiles,
    /// Metadata operations.
    Metadata {
        /// The operation.
        operation: String,
    },
    /// A link.
    Link {
        /// The link, such as `SATA link of sda`.
        link: String,
    },
    /// A link that several devices share.
    SharedLink {
        /// Kind, such as `PCIe`.
        link: String,
        /// Devices behind it.
        devices: u64,
    },
    /// A transport that takes one command at a time.
    SerialCommands {
        /// The device.
        device: String,
    },
    /// The network.
    Network {
        /// The interface.
        interface: String,
    },
    /// The network to a device.
    NetworkToDevice {
        /// The device.
        device: String,
    },
    /// Most of the work fell on one member of an array.
    ArrayMember {
        /// The array.
        array: String,
        /// The member.
        member: String,
    },
    /// One member of an array is slower than the others.
    SlowMember {
        /// The array.
        array: String,
        /// The member.
        member: String,
    },
    /// Operations wait above the members of an array.
    PathToMembers {
        /// The array.
        array: String,
    },
    /// Reads that an array makes before it writes parity.
    ParityReads {
        /// The array.
        array: String,
    },
    /// The device's own queue.
    DeviceQueue {
        /// Commands that it takes.
        depth: f64,
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// The kernel's queue of requests to the device.
    RequestQueue {
        /// Requests that it takes.
        requests: f64,
        /// Nothing shows what more of it gives: no trial was made.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untried: bool,
    },
    /// Latency of flushes.
    FlushLatency,
    /// Latency of fsync, most of it for writing data and the journal.
    SyncLatency,
    /// The device or the depth: nothing else was left, and the device had the requested operations
    /// in flight.
    Device {
        /// Operations that were asked for at a time.
        depth: f64,
        /// Operations in the device.
        in_flight: f64,
        /// Operations of others are among them.
        with_others: bool,
        /// Mean latency, in ns.
        mean_latency_ns: f64,
    },
    /// The device: more load moved no more.
    DeviceFlat {
        /// Operations that were asked for at a time.
        depth: f64,
        /// The greatest load that was tried.
        doubled: Doubled,
        /// Best rate of all that were tried over that of the phase.
        times: f64,
    },
    /// A rate that a server enforces by refusing requests.
    ServerRate {
        /// Requests per second that it served.
        requests_per_s: f64,
    },
    /// More requests in flight would have done more.
    RequestsInFlight {
        /// Requests in flight.
        requests: f64,
    },
    /// The connections' window, buffer or loss.
    Tcp {
        /// The limit.
        by: TcpLimit,
    },
    /// The server or the depth: nothing else was left, and all requests were in flight.
    Server {
        /// Requests in flight.
        depth: f64,
        /// Mean latency, in ns.
        mean_latency_ns: f64,
    },
    /// The server: more load moved no more.
    ServerFlat {
        /// Requests in flight.
        depth: f64,
        /// The greatest load that was tried.
        doubled: Doubled,
        /// Best rate of all that were tried over the rate of the phase.
        times: f64,
    },
    /// Other work of candor inside the measured time.
    OwnWork {
        /// Content was made.
        filling: bool,
        /// Content was checked.
        checking: bool,
    },
    /// No byte was moved.
    Candor,
}

/// Limits of TCP connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TcpLimit {
    /// The receive window of the server.
    ReceiveWindow,
    /// The send buffer of this host.
    SendBuffer,
    /// Packets were lost and sent again.
    Loss,
}

/// A load that was doubled once or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doubled {
    /// Operations in flight per worker, so many now.
    Depth(u32),
    /// Workers, so many now.
    Workers(u32),
}

/// Class of a limit, for groups and charts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitClass {
    /// Memory of this host, caches included.
    Memory,
    /// The plan.
    Plan,
    /// A limiter or a throttle.
    Throttle,
    /// CPUs of this host.
    Cpu,
    /// The load: too little in flight.
    Load,
    /// The filesystem.
    Filesystem,
    /// A link or a network.
    Link,
    /// An array.
    Array,
    /// The device.
    Device,
    /// The server of an object store.
    Server,
    /// candor itself.
    Candor,
}

impl Limit {
    /// Class of the limit.
    pub fn class(&self) -> LimitClass {
        use Limit::*;
        match self {
            PageCache | Memory | PageCacheWrites | LaterPasses | Holes | UnwrittenBlocks
            | BlankBlocks | LoopPageCache | LoopHoles | NfsClientCache | HostMemory
            | MemoryBandwidth => LimitClass::Memory,
            PlanRate { .. } | ThinkTime => LimitClass::Plan,
            ControlGroup { .. }
            | CpuQuota { .. }
            | BurstLimiter { .. }
            | UnseenLimiter { .. }
            | ServerRate { .. }
            | Temperature { .. } => LimitClass::Throttle,
            ThreadCpu { .. }
            | Threads { .. }
            | CpuStarvation { .. }
            | HostCpus { .. }
            | InterruptCpu => LimitClass::Cpu,
            Latency
            | SynchronousEngine { .. }
            | BlockingSubmission
            | LoadGenerator { .. }
            | PathToDevice { .. }
            | RequestsInFlight { .. }
            | Load { .. } => LimitClass::Load,
            BlockAllocation { .. } | SharedFiles | Metadata { .. } => LimitClass::Filesystem,
            Link { .. }
            | SharedLink { .. }
            | SerialCommands { .. }
            | Network { .. }
            | Tcp { .. }
            | NetworkToDevice { .. } => LimitClass::Link,
            ArrayMember { .. } | SlowMember { .. } | PathToMembers { .. } | ParityReads { .. } => {
                LimitClass::Array
            }
            DeviceQueue { .. }
            | RequestQueue { .. }
            | FlushLatency
            | SyncLatency
            | Device { .. }
            | DeviceFlat { .. } => LimitClass::Device,
            Server { .. } | ServerFlat { .. } => LimitClass::Server,
            OwnWork { .. } | Candor => LimitClass::Candor,
        }
    }
}

/// A few words that follow "limited by".
impl Display for Limit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Limit::*;
        match self {
            PageCache => f.write_str("the page cache"),
            Memory => f.write_str("memory"),
            PageCacheWrites => f.write_str("memory: the page cache took the writes"),
            LaterPasses => f.write_str("the page cache, after the first pass"),
            Holes => f.write_str("memory: the reads hit holes"),
            UnwrittenBlocks => f.write_str("memory: the reads hit unwritten blocks"),
            BlankBlocks => f.write_str("blank blocks"),
            LoopPageCache => f.write_str("the page cache of the loop's backing file"),
            LoopHoles => f.write_str("memory: the reads hit holes of the backing file"),
            NfsClientCache => f.write_str("the cache of the NFS client"),
            HostMemory => f.write_str("memory and CPU of this host"),
            MemoryBandwidth => f.write_str("the speed of memory"),
            PlanRate { bytes_per_s, ops_per_s } => {
                write!(f, "the plan's rate ({})", rate(*bytes_per_s, *ops_per_s))
            }
            ThinkTime => f.write_str("the plan's think time"),
            ControlGroup { bytes_per_s, ops_per_s } => {
                write!(f, "the control group's limit of {}", rate(*bytes_per_s, *ops_per_s))
            }
            CpuQuota { cpus } => {
                let cpus = number::plural(*cpus, "CPU", "CPUs");
                write!(f, "the control group's CPU quota of {cpus}")
            }
            BurstLimiter { ops_per_s } => write!(f, "a limiter at {}", number::iops(*ops_per_s)),
            UnseenLimiter { bytes_per_s, ops_per_s } => {
                let rate = round_rate(*bytes_per_s, *ops_per_s);
                write!(f, "perhaps a limit below this host ({rate})")
            }
            Temperature { device } => write!(f, "the temperature of {device}"),
            _ => self.of_work_or_path(f),
        }
    }
}

impl Limit {
    /// The limits that lie between the workers and the device.
    fn of_work_or_path(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Limit::*;
        match self {
            ThreadCpu { threads: 1 } => f.write_str("one CPU thread"),
            ThreadCpu { threads } => write!(f, "{threads} CPU threads"),
            Threads { workers: 1 } => f.write_str("one thread"),
            Threads { .. } => f.write_str("the number of threads"),
            CpuStarvation { untried } => write!(f, "CPU starvation{}", more_load(*untried)),
            HostCpus { untried } => write!(f, "the CPUs of this host{}", more_load(*untried)),
            InterruptCpu => f.write_str("the CPU that serves the interrupts"),
            Latency => f.write_str("latency: one request at a time"),
            SynchronousEngine { workers: 0 | 1 } => f.write_str("one request at a time"),
            SynchronousEngine { workers } => {
                write!(f, "one request at a time in each of {workers} threads")
            }
            BlockingSubmission => f.write_str("one request at a time: submission blocks"),
            LoadGenerator { untried } => write!(f, "the load generator{}", more_load(*untried)),
            PathToDevice { untried } => write!(
                f,
                "the path to the device: CPU, filesystem or a throttle{}",
                more_load(*untried)
            ),
            Load { doubled, times } => {
                write!(f, "the load: {doubled} moved {} times as much", number::number(*times))
            }
            BlockAllocation { untried } => write!(
                f,
                "the allocation of blocks by the filesystem{}",
                if *untried { " (the same places were not written again)" } else { "" }
            ),
            SharedFiles => f.write_str("workers that share files"),
            Metadata { operation } => write!(f, "metadata ({operation})"),
            OwnWork { filling: true, checking: true } => {
                f.write_str("generating and checking content")
            }
            OwnWork { filling: true, .. } => f.write_str("generating content"),
            OwnWork { .. } => f.write_str("checking content"),
            Candor => f.write_str("candor itself: no byte was moved"),
            _ => self.of_device(f),
        }
    }

    /// The limits of links, arrays and devices.
    fn of_device(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Limit::*;
        match self {
            Link { link } => write!(f, "the {link}"),
            SharedLink { link, devices } => {
                write!(f, "the {link} link shared by {devices} devices")
            }
            SerialCommands { device } => write!(f, "one command at a time to {device}"),
            Network { interface } => write!(f, "the network ({interface})"),
            NetworkToDevice { device } => write!(f, "the network to {device}"),
            ArrayMember { array, member } => write!(f, "one member of {array} ({member})"),
            SlowMember { array, member } => write!(f, "one slow member of {array} ({member})"),
            PathToMembers { array } => {
                write!(f, "the path between the process and {array}")
            }
            ParityReads { array } => write!(f, "reads before each write to {array}"),
            DeviceQueue { depth, untried } => {
                let depth = number::count(*depth);
                let untried = if *untried { " (one request at a time was not tried)" } else { "" };
                write!(f, "the device's own queue of {depth}{untried}")
            }
            RequestQueue { requests, untried } => {
                let takes = number::plural(*requests, "request", "requests");
                let untried = if *untried { "; one request at a time was not tried" } else { "" };
                write!(f, "the kernel's queue of {takes} (nr_requests{untried})")
            }
            FlushLatency => f.write_str("flush latency"),
            SyncLatency => f.write_str("sync latency: writing data and the journal"),
            Device { depth, in_flight, with_others, mean_latency_ns } => write!(
                f,
                "the device or depth {} ({} in flight{}, mean latency {}; a higher depth \
                 was not tried)",
                number::count(*depth),
                number::number(*in_flight),
                if *with_others { " including other users" } else { "" },
                number::time(*mean_latency_ns)
            ),
            DeviceFlat { depth, doubled, times } => write!(
                f,
                "the device at depth {}: up to {doubled} moved at most {} times as much",
                number::count(*depth),
                number::number(*times)
            ),
            _ => self.of_server(f),
        }
    }

    /// The limits of servers and of the connections to them.
    fn of_server(&self, f: &mut Formatter<'_>) -> fmt::Result {
        use Limit::*;
        match self {
            ServerRate { requests_per_s } => {
                write!(f, "the server's rate limit ({} requests/s)", number::count(*requests_per_s))
            }
            RequestsInFlight { requests } => {
                let requests = number::plural(*requests, "request", "requests");
                write!(f, "the load: {requests} in flight")
            }
            Tcp { by: TcpLimit::ReceiveWindow } => f.write_str("the server's TCP receive window"),
            Tcp { by: TcpLimit::SendBuffer } => f.write_str("the TCP send buffer of this host"),
            Tcp { by: TcpLimit::Loss } => f.write_str("lost packets on the network"),
            Server { depth, mean_latency_ns } => write!(
                f,
                "the server at depth {} (mean latency {}; a higher depth was not tried)",
                number::count(*depth),
                number::time(*mean_latency_ns)
            ),
            ServerFlat { depth, doubled, times } => write!(
                f,
                "the server at depth {}: up to {doubled} moved at most {} times as much",
                number::count(*depth),
                number::number(*times)
            ),
            _ => Ok(()),
        }
    }
}

impl Display for Doubled {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Doubled::Depth(depth) => {
                write!(f, "depth {}", number::count(f64::from(depth)))
            }
            Doubled::Workers(workers) => {
                write!(f, "{}", number::plural(f64::from(workers), "worker", "workers"))
            }
        }
    }
}

fn more_load(untried: bool) -> &'static str {
    if untried { " (more load was not tried)" } else { "" }
}

fn rate(bytes_per_s: Option<f64>, ops_per_s: Option<f64>) -> String {
    match bytes_per_s {
        Some(bytes) => number::rate(bytes),
        None => number::iops(ops_per_s.unwrap_or(0.0)),
    }
}

/// A rate in the family of units in which it is round.
pub fn round_rate(bytes_per_s: Option<f64>, ops_per_s: Option<f64>) -> String {
    match (ops_per_s, bytes_per_s) {
        (Some(ops), _) => number::iops(ops),
        (None, Some(bytes)) if bytes % 1_048_576.0 == 0.0 => {
            format!("{} MiB/s", number::number(bytes / 1_048_576.0))
        }
        (None, bytes) => number::rate_decimal(bytes.unwrap_or(0.0)),
    }
}

/// Object of a number that is not that of the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MeasuredInstead {
    /// The page cache.
    PageCache,
    /// Memory, although the I/O was direct.
    Memory,
    /// The page cache for a part of the bytes.
    PageCacheAndDevice,
    /// Memory for a part of the bytes.
    MemoryAndDevice,
    /// The page cache, which took the writes.
    PageCacheWrites,
    /// Memory, which took changes of names.
    NameChanges,
    /// The caches of names and inodes.
    NameCaches,
    /// Cached blocks of the filesystem's own records.
    CachedRecords,
    /// The page cache, after the first pass.
    LaterPasses,
    /// Zeros for holes.
    Holes,
    /// Zeros for unwritten blocks.
    UnwrittenBlocks,
    /// Blocks that hold nothing.
    BlankBlocks,
    /// Compressed data.
    CompressedData,
    /// The page cache of a loop device's backing file.
    LoopPageCache,
    /// Holes of a loop device's backing file.
    LoopHoles,
    /// The cache of the NFS client.
    NfsClientCache,
    /// Memory of this host.
    HostMemory,
    /// A cache on this side of the link.
    NearCache,
    /// Writes that no flush made durable.
    UnflushedWrites,
    /// The cache of an object store's servers.
    ServerCache,
    /// A cache between client and server.
    CacheBetween,
    /// Requests that moved nothing.
    IdleRequests,
}

/// A few words that follow "measures".
impl Display for MeasuredInstead {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MeasuredInstead::PageCache => "the page cache",
            MeasuredInstead::Memory => "memory",
            MeasuredInstead::PageCacheAndDevice => "a mix of page cache and device",
            MeasuredInstead::MemoryAndDevice => "a mix of memory and device",
            MeasuredInstead::PageCacheWrites => "memory, not the device",
            MeasuredInstead::NameChanges => "memory, not the journal",
            MeasuredInstead::NameCaches => "the dentry and inode caches",
            MeasuredInstead::CachedRecords => "cached blocks of the filesystem",
            MeasuredInstead::LaterPasses => "the page cache, after the first pass",
            MeasuredInstead::Holes => "holes: zeros made in memory",
            MeasuredInstead::UnwrittenBlocks => "unwritten blocks: zeros made in memory",
            MeasuredInstead::BlankBlocks => "blank blocks",
            MeasuredInstead::CompressedData => "compressed data",
            MeasuredInstead::LoopPageCache => "the page cache of the loop's backing file",
            MeasuredInstead::LoopHoles => "holes of the loop's backing file",
            MeasuredInstead::NfsClientCache => "the cache of the NFS client",
            MeasuredInstead::HostMemory => "this host's memory",
            MeasuredInstead::NearCache => "a cache on this side of the link",
            MeasuredInstead::UnflushedWrites => "writes that are not durable",
            MeasuredInstead::ServerCache => "the server's cache",
            MeasuredInstead::CacheBetween => "a cache between client and server",
            MeasuredInstead::IdleRequests => "requests that moved nothing",
        })
    }
}
