//! Facts about the host and the targets: read before a run, true for its length.
//!
//! Every value is a [`Fact`]: it says where it was read and whether that needed a privilege. A
//! fact that cannot be read is absent, never guessed; [`Facts::missing`] says why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod path;

pub use path::{ArrayFacts, Link, Mapping, NvmeFacts, Remote, ScsiFacts};

/// A value, where it was read, and whether reading it needed a privilege.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fact<T> {
    /// The value.
    pub value: T,
    /// Path or call it came from.
    pub from: String,
    /// Reading it needed root or an equivalent capability.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub privileged: bool,
}

impl<T> Fact<T> {
    /// A value that anyone may read.
    pub fn new(value: T, from: impl Into<String>) -> Self {
        Fact { value, from: from.into(), privileged: false }
    }
}

/// The value of an optional fact.
pub fn value<T>(fact: &Option<Fact<T>>) -> Option<&T> {
    fact.as_ref().map(|fact| &fact.value)
}

/// Everything known about the host and the targets before a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Facts {
    /// The host.
    pub host: HostFacts,
    /// One entry per target of the plan, in its order.
    pub targets: Vec<TargetFacts>,
    /// All block devices that any target resolves to, top devices and leaves, each once.
    pub devices: Vec<DeviceFacts>,
    /// Facts that could not be read, and what would enable it.
    pub missing: Vec<Missing>,
}

impl Facts {
    /// The device of that kernel name.
    pub fn device(&self, name: &str) -> Option<&DeviceFacts> {
        self.devices.iter().find(|device| device.name == name)
    }

    /// The leaves under a device: the devices at the end of every chain of `below`, the device
    /// itself if it has none.
    pub fn leaves<'a>(&'a self, name: &str) -> Vec<&'a DeviceFacts> {
        let Some(device) = self.device(name) else { return Vec::new() };
        if device.below.is_empty() {
            return vec![device];
        }
        let mut leaves: Vec<&DeviceFacts> = Vec::new();
        for leaf in device.below.iter().flat_map(|below| self.leaves(below)) {
            if !leaves.iter().any(|seen| seen.name == leaf.name) {
                leaves.push(leaf);
            }
        }
        leaves
    }
}

/// A fact that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// Fact that it would have given.
    pub what: String,
    /// Why it could not be read.
    pub why: String,
    /// Means by which it could be read.
    pub enable: String,
}

/// The host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Kernel release.
    pub kernel: Option<Fact<String>>,
    /// Processor model.
    pub cpu_model: Option<Fact<String>>,
    /// CPUs this process may run on.
    pub cpus: Option<Fact<u32>>,
    /// NUMA nodes.
    pub numa_nodes: Option<Fact<u32>>,
    /// Memory of the host.
    pub memory_bytes: Option<Fact<u64>>,
    /// Memory that could be had without swapping.
    pub memory_available_bytes: Option<Fact<u64>>,
    /// Memory that the run keeps occupied, of which the kernel says no longer that it is available.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_occupied: Option<MemoryOccupied>,
    /// Bytes per page.
    pub page_bytes: u64,
    /// The kernel's clock source.
    pub clocksource: Option<Fact<String>>,
    /// Mean cost of reading the monotonic clock.
    pub clock_cost_ns: Option<Fact<f64>>,
    /// True in a virtual machine.
    pub hypervisor: Option<Fact<bool>>,
    /// Kernel lockdown mode.
    pub lockdown: Option<Fact<String>>,
    /// Frequency governor of CPU 0.
    pub cpu_governor: Option<Fact<String>>,
    /// Time that CPU 0 takes to leave the deepest idle state that is allowed, in ns
    /// (`cpuidle/state*/latency`).
    #[serde(default)]
    pub cpu_idle_exit_ns: Option<Fact<u64>>,
    /// CPUs of each NUMA node, as the kernel lists them (`0-7,16-23`), where there are several
    /// nodes.
    #[serde(default)]
    pub numa_cpus: Vec<(i32, Fact<String>)>,
    /// Process that traces this one by ptrace, which stops it at each system call (strace) or at
    /// signals (a debugger).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced_by: Option<Fact<String>>,
    /// The emulator that executes the program's instructions, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emulator: Option<Fact<String>>,
    /// Limits of the control group this process runs in.
    pub cgroup: CgroupFacts,
}

/// Memory that a run keeps occupied while its phases run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryOccupied {
    /// Bytes, each page of them written once.
    pub bytes: u64,
    /// They are locked: the kernel cannot swap them out.
    pub locked: bool,
}

/// Limits of the control group this process runs in, ancestors included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CgroupFacts {
    /// Largest memory use.
    pub memory_max_bytes: Option<Fact<u64>>,
    /// CPUs' worth of time it may use.
    pub cpu_max: Option<Fact<f64>>,
    /// Limits of I/O per device.
    pub io: Vec<Fact<IoLimit>>,
}

/// A limit that a control group puts on one device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoLimit {
    /// `major:minor` of the device.
    pub device: String,
    /// Bytes read per second.
    pub read_bytes_per_s: Option<u64>,
    /// Bytes written per second.
    pub write_bytes_per_s: Option<u64>,
    /// Reads per second.
    pub read_ops_per_s: Option<u64>,
    /// Writes per second.
    pub write_ops_per_s: Option<u64>,
}

/// Kind of a target's path, and what lies under it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetFacts {
    /// The target's name in the plan.
    pub target: String,
    /// The path as given.
    pub path: String,
    /// Kind of the path.
    pub kind: PathKind,
    /// The filesystem it lives on; absent for a device.
    pub filesystem: Option<Filesystem>,
    /// The filesystem that holds its bytes, where the one that it lives on stacks on others, as an
    /// overlay does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_on: Option<Filesystem>,
    /// Kernel name of the block device it lives on or is; absent where there is none.
    pub device: Option<Fact<String>>,
    /// Kernel names of the other devices that hold its bytes, where the filesystem lies on several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_devices: Vec<String>,
    /// Search that found the device, where the filesystem names none (its layers are not visible
    /// here, as in most containers).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_search: Option<DeviceSearch>,
    /// The other end of a network filesystem.
    #[serde(default)]
    pub remote: Option<Remote>,
    /// Files, after they were laid out; of a large set the first few, which stand for all.
    pub files: Vec<FileFacts>,
    /// Number of its files in all.
    #[serde(default)]
    pub files_in_all: Option<u64>,
    /// Bytes of `files` that lie where those of an earlier one do (reflinks between files).
    #[serde(default)]
    pub shared_bytes: Option<Fact<u64>>,
    /// Result of the accounting probe.
    pub accounting_probe: Option<AccountingProbe>,
    /// Names in its directory before a phase that works on names, counted up to a hundred
    /// thousand.
    #[serde(default)]
    pub names_in_directory: Option<Fact<u64>>,
}

impl TargetFacts {
    /// The filesystem that holds its bytes.
    pub fn holding(&self) -> Option<&Filesystem> {
        self.held_on.as_ref().or(self.filesystem.as_ref())
    }

    /// Kernel names of all devices that hold its bytes.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        let first = value(&self.device).into_iter();
        first.chain(&self.other_devices).map(String::as_str)
    }

    /// Reason why each write is durable whatever the flags of open, as a sentence.
    pub fn synchronous(&self) -> Option<&'static str> {
        if self.holding().is_some_and(|on| on.options.split(',').any(|option| option == "sync")) {
            return Some("The filesystem is mounted with sync.");
        }
        let set = self.files.iter().any(|file| file.synchronous);
        set.then_some("The file has the attribute S (lsattr).")
    }

    /// Files of the set that each of `files` stands for.
    pub fn files_each(&self) -> f64 {
        match (self.files_in_all, self.files.len()) {
            (Some(all), known @ 1..) => (all as f64 / known as f64).max(1.0),
            _ => 1.0,
        }
    }

    /// Bytes of all its files.
    pub fn files_bytes(&self) -> f64 {
        let known: f64 = self.files.iter().map(|file| file.size_bytes as f64).sum();
        known * self.files_each()
    }
}

/// Kind of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// Nothing is there yet.
    #[default]
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block device, or the generic device that takes its commands.
    Device,
    /// A character device, a pipe, a socket.
    Other,
}

/// A mounted filesystem.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Filesystem {
    /// Type, such as `ext4`.
    pub kind: String,
    /// Source of the mount: a device node or a remote path.
    pub source: String,
    /// Where.
    pub mount_point: String,
    /// Mount options and super-block options, comma-separated.
    pub options: String,
    /// Size.
    pub size_bytes: u64,
    /// Free for unprivileged users.
    pub available_bytes: u64,
    /// Block size.
    pub block_bytes: u64,
    /// True for tmpfs, ramfs and the like.
    pub in_memory: bool,
    /// True for network filesystems.
    pub remote: bool,
}

impl Filesystem {
    /// A process of this host does its I/O (FUSE), so that the kernel charges nobody else for it.
    pub fn is_served_by_process(&self) -> bool {
        self.kind.starts_with("fuse")
    }

    /// Files may be stored compressed, of which neither mount options nor extents inform.
    pub fn may_compress(&self) -> bool {
        const KINDS: [&str; 9] =
            ["bcachefs", "cramfs", "erofs", "f2fs", "jffs2", "ntfs3", "squashfs", "ubifs", "zfs"];
        KINDS.contains(&self.kind.as_str())
    }
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileFacts {
    /// Path.
    pub path: String,
    /// Length in bytes.
    pub size_bytes: u64,
    /// Bytes of blocks that the filesystem says it has (`st_blocks`).
    pub allocated_bytes: u64,
    /// Where its bytes lie.
    pub extents: Option<Fact<Extents>>,
    /// Requirements of direct I/O.
    pub direct: DirectIo,
    /// Number of the file on its filesystem: another one is another file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inode: Option<u64>,
    /// Each write to it is durable (attribute `S`, `chattr +S`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synchronous: bool,
}

impl FileFacts {
    /// Bytes that were written, where extents are known.
    pub fn data_bytes(&self) -> Option<u64> {
        let extents = value(&self.extents)?;
        Some(extents.mapped_bytes.saturating_sub(extents.unwritten_bytes))
    }
}

/// Where a file's bytes lie, as sums over its extents within its length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extents {
    /// Number of extents.
    pub count: u64,
    /// Bytes that any extent covers; the rest are holes.
    pub mapped_bytes: u64,
    /// Of these, allocated but never written.
    pub unwritten_bytes: u64,
    /// Of these, stored encoded (compressed).
    pub encoded_bytes: u64,
    /// Of these, stored where an earlier part of the file is (reflinks within it).
    #[serde(default)]
    pub repeated_bytes: u64,
}

/// Requirements of direct I/O on a file or device, from `statx`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DirectIo {
    /// The kernel does not say.
    #[default]
    Unknown,
    /// The filesystem says it does not do direct I/O on this file (it may accept the flag).
    Unsupported,
    /// Alignments in bytes.
    Aligned {
        /// Of buffers.
        memory: u32,
        /// Of offsets and lengths.
        offset: u32,
    },
}

/// A direct read of known size, and what the block layer counted for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccountingProbe {
    /// File or device that was read.
    pub path: String,
    /// Bytes read in all.
    pub bytes: u64,
    /// Read by a command past the block layer, as the work on the target is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub passthrough: bool,
    /// Whether the page cache was bypassed; without it a cached page proves nothing.
    pub direct: bool,
    /// Per device (top first, then leaves): bytes that it counted meanwhile.
    pub counted: Vec<(String, u64)>,
    /// The conclusion.
    pub outcome: AccountingOutcome,
}

impl AccountingProbe {
    /// Commands past the block layer, which no counter was seen to count.
    pub fn is_uncounted_command(&self) -> bool {
        use AccountingOutcome::{Counted, CountedBelow};
        self.passthrough && !matches!(self.outcome, Counted | CountedBelow)
    }
}

/// Direct reads of differing sizes beside the counters of all block devices, until one device had
/// counted several of them to the byte and none short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceSearch {
    /// File that was read.
    pub path: String,
    /// Reads made.
    pub reads: u32,
    /// Of these, reads that the device counted to the byte; others' traffic is in the rest.
    pub exact: u32,
    /// Bytes read in all.
    pub bytes: u64,
    /// Block devices that were looked at.
    pub devices: u32,
}

/// Result of the accounting probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AccountingOutcome {
    /// No probe could be made; the report says why among what is missing.
    #[default]
    NotMade,
    /// The devices counted it: their counters vouch for this target.
    Counted,
    /// The top device counted nothing, but its leaves did.
    CountedBelow,
    /// Nobody counted it: the block layer cannot vouch for this target.
    NotCounted,
    /// The read needed no device (hole, unwritten extent, memory), so it proves nothing.
    NothingToRead,
}

/// One block device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceFacts {
    /// Kernel name, such as `nvme0n1`.
    pub name: String,
    /// `major:minor`.
    pub number: String,
    /// Driver of the device.
    pub kind: DeviceKind,
    /// Size.
    pub size_bytes: u64,
    /// Kernel names of the devices directly below it: members, backing device, whole disk.
    pub below: Vec<String>,
    /// Model as the device tells it.
    pub model: Option<Fact<String>>,
    /// First byte of a partition on its disk.
    pub partition_start_bytes: Option<Fact<u64>>,
    /// True for devices without a request queue of their own (md, dm, zram, brd, NVMe heads).
    pub bio_based: Option<Fact<bool>>,
    /// Whether the kernel counts I/O on it (`queue/iostats`).
    pub counts_io: Option<Fact<bool>>,
    /// Limits of its queue.
    pub queue: QueueFacts,
    /// For a loop device.
    pub loop_backing: Option<LoopBacking>,
    /// The narrowest link on the way to it.
    pub link: Option<Link>,
    /// Every link on the way to it, from the host's end to the device's.
    #[serde(default)]
    pub way: Vec<Link>,
    /// The kernel driver that speaks to it, where it tells something (`usb-storage`, `uas`).
    #[serde(default)]
    pub driver: Option<Fact<String>>,
    /// For an md array.
    #[serde(default)]
    pub array: Option<ArrayFacts>,
    /// For a device-mapper device.
    #[serde(default)]
    pub mapping: Option<Mapping>,
    /// For an NVMe namespace or one of its paths.
    #[serde(default)]
    pub nvme: Option<NvmeFacts>,
    /// For a SCSI disk.
    #[serde(default)]
    pub scsi: Option<ScsiFacts>,
    /// The host at the other end, where the device is reached over a network.
    #[serde(default)]
    pub remote: Option<Remote>,
    /// NUMA node of its controller.
    pub numa_node: Option<Fact<i32>>,
    /// Who else holds it: mount points, `swap`, names of devices built on it.
    pub held_by: Vec<String>,
}

impl DeviceFacts {
    /// The level of an array, such as `raid5`.
    pub fn array_level(&self) -> Option<&str> {
        value(&self.array.as_ref()?.level).map(String::as_str)
    }

    /// Who made a device-mapper device, such as `LVM`.
    pub fn mapping_maker(&self) -> Option<&str> {
        value(&self.mapping.as_ref()?.maker).map(String::as_str)
    }
}

/// Driver of a block device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the kernel's own names")]
pub enum DeviceKind {
    Partition,
    Loop,
    Dm,
    Md,
    Bcache,
    Zram,
    Brd,
    Pmem,
    Virtio,
    Nvme,
    NvmeFabric,
    Ata,
    Scsi,
    Usb,
    Nbd,
    NullBlk,
    #[default]
    Other,
}

impl DeviceKind {
    /// True where the medium is this host's memory.
    pub fn is_memory(self) -> bool {
        matches!(self, DeviceKind::Zram | DeviceKind::Brd | DeviceKind::Pmem)
    }
}

/// Limits of a request queue, from `queue/` and the driver. Sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QueueFacts {
    /// Smallest unit that can be addressed.
    pub logical_block_bytes: Option<Fact<u64>>,
    /// Smallest unit that can be written without reading first.
    pub physical_block_bytes: Option<Fact<u64>>,
    /// Smallest preferred size: the chunk of a striped volume.
    #[serde(default)]
    pub minimum_io_bytes: Option<Fact<u64>>,
    /// Preferred size.
    pub optimal_io_bytes: Option<Fact<u64>>,
    /// Largest request the kernel makes (`max_sectors_kb`).
    pub max_request_bytes: Option<Fact<u64>>,
    /// Largest request the hardware takes.
    pub max_hw_request_bytes: Option<Fact<u64>>,
    /// Largest number of segments of a request.
    pub max_segments: Option<Fact<u64>>,
    /// Chunk that requests may not cross (striping).
    pub chunk_bytes: Option<Fact<u64>>,
    /// Requests the kernel queues, in each hardware queue.
    pub nr_requests: Option<Fact<u64>>,
    /// Hardware queues (entries of `mq/`).
    #[serde(default)]
    pub hw_queues: Option<Fact<u64>>,
    /// Commands the device takes at once (`device/queue_depth` or tags).
    pub device_depth: Option<Fact<u64>>,
    /// The scheduler in use.
    pub scheduler: Option<Fact<String>>,
    /// Bytes read ahead for buffered reads.
    pub read_ahead_bytes: Option<Fact<u64>>,
    /// `write back` or `write through`.
    pub write_cache: Option<Fact<String>>,
    /// Cache of the device as its driver tells it, whatever the queue was set to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_cache: Option<Fact<String>>,
    /// Whether writes can be forced to media one by one.
    pub fua: Option<Fact<bool>>,
    /// Whether the kernel takes it for a rotating disk (also set on many virtual disks).
    pub rotational: Option<Fact<bool>>,
    /// Latency of reads above which write-back from the page cache is held back, in ns; 0 where
    /// that is switched off (`wbt_lat_usec`).
    #[serde(default)]
    pub writeback_latency_ns: Option<Fact<u64>>,
    /// Whether commands past the block layer are counted; absent where the kernel has no switch for
    /// it (before Linux 6.13).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts_commands: Option<Fact<bool>>,
    /// Whether completions can be polled for.
    pub io_poll: Option<Fact<bool>>,
    /// Zone model, `none` for ordinary devices.
    pub zoned: Option<Fact<String>>,
    /// Distance of the first byte from the physical alignment.
    pub alignment_offset_bytes: Option<Fact<u64>>,
}

/// Backing file of a loop device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoopBacking {
    /// The backing file.
    pub file: Fact<String>,
    /// Whether the loop bypasses the page cache for it.
    pub direct: Option<Fact<bool>>,
    /// Type of the filesystem of the backing file.
    pub filesystem: Option<String>,
    /// Length, blocks and extents of the backing file; absent where its path leads to none, and
    /// for a device.
    #[serde(default)]
    pub stored: Option<FileFacts>,
    /// Place of the loop's first byte in the backing file.
    #[serde(default)]
    pub offset_bytes: Option<Fact<u64>>,
}

impl Default for Fact<String> {
    fn default() -> Self {
        Fact::new(String::new(), "")
    }
}
