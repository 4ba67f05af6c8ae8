//! State that is read before and after a phase only, because it changes rarely or costs more.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CacheState;

/// State of what lies under the targets. What cannot be read is absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct State {
    /// md arrays.
    pub arrays: Vec<ArrayState>,
    /// Sensors of drives.
    pub temperatures: Vec<Temperature>,
    /// Errors that drives and slots have counted.
    pub errors: Vec<ErrorCount>,
    /// Network interfaces on the way to targets.
    pub interfaces: Vec<InterfaceBytes>,
    /// Network filesystems of targets.
    pub mounts: Vec<MountBytes>,
    /// TCP segments that this host sent again (`/proc/net/snmp`).
    pub tcp_retransmits: Option<u64>,
    /// Pages of zram devices.
    pub zram: Vec<ZramPages>,
    /// Caches between filesystems and disks: bcache devices, ZFS's own (`ARC`).
    #[serde(default)]
    pub caches: Vec<CacheHits>,
    /// Times at which the CPU quota of the control group held its threads back.
    #[serde(default)]
    pub cpu_throttled: Option<CpuThrottled>,
    /// Pages of the files behind loop devices in the page cache.
    #[serde(default)]
    pub loop_files: Vec<LoopFile>,
    /// ext4 is initialising inode tables in the background (thread `ext4lazyinit`).
    pub ext4_lazy_init: Option<bool>,
    /// Names that the kernel holds in memory, over all filesystems (`/proc/sys/fs/dentry-state`).
    #[serde(default)]
    pub dentries: Option<u64>,
    /// Inodes in use on the local filesystems of targets.
    #[serde(default)]
    pub inodes: Vec<InodesInUse>,
}

impl State {
    /// Nothing was looked at, or nothing was there.
    pub fn is_empty(&self) -> bool {
        *self == State::default()
    }
}

/// Counters of a control group's CPU quota (`cpu.stat`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CpuThrottled {
    /// Periods of the quota in which the group ran.
    pub periods: u64,
    /// Periods in which it used its quota up.
    pub throttled: u64,
    /// Time that its threads were held back, on all CPUs together.
    pub throttled_ns: u64,
}

/// An md array at a moment (`/sys/class/block/mdN/md`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArrayState {
    /// Kernel name of the array.
    pub device: String,
    /// `clean`, `active`, ….
    pub state: Option<String>,
    /// Members that are missing.
    pub degraded: Option<u64>,
    /// `idle`, `resync`, `recover`, `check`, …; absent where the level has no redundancy.
    pub action: Option<String>,
}

/// A drive's sensor (`hwmon*/temp1_*`), in thousandths of a degree Celsius.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Temperature {
    /// Kernel name of the drive.
    pub device: String,
    /// Now.
    pub now_mc: i64,
    /// Where the drive begins to slow down (`temp1_max`).
    pub max_mc: Option<i64>,
    /// Temperature that it must not reach (`temp1_crit`).
    pub critical_mc: Option<i64>,
}

/// A counter of errors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorCount {
    /// Kernel name of the drive.
    pub device: String,
    /// Quantity that it counts: `commands timed out`, `commands failed`, `PCIe errors corrected`,
    /// ….
    pub what: String,
    /// How many since boot.
    pub count: u64,
    /// File it was read from.
    pub from: String,
}

/// Bytes that passed a network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InterfaceBytes {
    /// Name of the interface.
    pub interface: String,
    /// Received.
    pub received_bytes: u64,
    /// Sent.
    pub sent_bytes: u64,
}

/// Bytes that passed an NFS mount (`/proc/self/mountstats`, line `bytes`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MountBytes {
    /// Mount point.
    pub mount_point: String,
    /// Read by applications, directly or not.
    pub app_read_bytes: u64,
    /// Written by applications.
    pub app_written_bytes: u64,
    /// Read from the server.
    pub server_read_bytes: u64,
    /// Written to the server.
    pub server_written_bytes: u64,
}

/// Inodes in use on a filesystem (`statvfs`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InodesInUse {
    /// Mount point.
    pub mount_point: String,
    /// Inodes in use: those of files that are gone count until the filesystem has freed them.
    pub count: u64,
}

/// Pages of a zram device (`mm_stat`), in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ZramPages {
    /// Kernel name.
    pub device: String,
    /// Bytes that were ever written and are held.
    pub stored_bytes: u64,
    /// Of these, pages filled with one repeated word, which need no memory.
    pub same_filled_bytes: u64,
}

/// Pages of the file behind a loop device in the page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopFile {
    /// Kernel name of the loop device.
    pub device: String,
    /// Pages of its backing file.
    pub cache: CacheState,
}

/// Answers of a cache below the page cache.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CacheHits {
    /// Kernel name of the device, or `ARC`.
    pub name: String,
    /// Requests that it answered.
    pub hits: u64,
    /// Requests that went on to the slower tier.
    pub misses: u64,
    /// File or ioctl from which it was read.
    pub from: String,
}
