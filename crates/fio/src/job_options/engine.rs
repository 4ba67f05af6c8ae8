//! Options that only some engines have.

use candor_plan::blocks::Protection;
use candor_plan::units::PerDirection;

use candor_front::choices;

choices! {
    /// `cpumode`.
    pub enum CpuMode {
        #[default]
        Noop = "a loop that does nothing": "noop",
        Qsort = "sorting": "qsort",
    }
}

choices! {
    /// `stat_type`.
    pub enum StatType {
        #[default]
        Stat = "stat": "stat",
        Lstat = "lstat": "lstat",
        Statx = "statx": "statx",
    }
}

choices! {
    /// `write_mode`.
    pub enum NvmeWrite {
        #[default]
        Write = "Write": "write",
        Uncorrectable = "Write Uncorrectable": "uncor",
        Zeroes = "Write Zeroes": "zeroes",
        Verify = "Verify": "verify",
    }
}

choices! {
    /// `sg_write_mode`. `verify` is an old name.
    pub enum SgWrite {
        #[default]
        Write = "WRITE": "write",
        WriteAndVerify = "WRITE AND VERIFY": "write_and_verify" | "verify",
        WriteSame = "WRITE SAME of one block": "write_same" | "same",
        WriteSameNdob = "WRITE SAME without data": "write_same_ndob",
        WriteStream = "WRITE STREAM": "write_stream",
        Verify00 = "VERIFY without a comparison": "verify_bytchk_00",
        Verify01 = "VERIFY against data": "verify_bytchk_01",
        Verify11 = "VERIFY against one block": "verify_bytchk_11",
    }
}

/// Options that only some engines have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// `hipri`.
    pub hipri: bool,
    /// `hipri_percentage`.
    pub hipri_percent: u64,
    /// `uncached`.
    pub uncached: bool,
    /// `atomic`.
    pub atomic: bool,
    /// `nowait`.
    pub nowait: bool,
    /// `libaio_vectored`.
    pub vectored: bool,
    /// `fixedbufs`.
    pub fixed_buffers: bool,
    /// `registerfiles`.
    pub fixed_files: bool,
    /// `sqthread_poll`.
    pub sqpoll: bool,
    /// `sqthread_poll_cpu`.
    pub sqpoll_cpu: Option<u64>,
    /// `nonvectored`; `None` is what the kernel can do.
    pub nonvectored: Option<u64>,
    /// `force_async`: every so many operations; 0 is never.
    pub force_async: u64,
    /// `readfua`.
    pub fua_reads: bool,
    /// `writefua`.
    pub fua_writes: bool,
    /// `sg_write_mode`.
    pub sg_write: SgWrite,
    /// `stream_id`.
    pub stream: u16,
    /// `write_mode`.
    pub nvme_write: NvmeWrite,
    /// `deac`.
    pub deallocates: bool,
    /// `pi_act`, `pi_chk`, `apptag`, `apptag_mask`.
    pub protection: Protection,
    /// `md_per_io_size`; 0 is as much as is needed.
    pub metadata_bytes: u64,
    /// `cpuload` in percent.
    pub cpu_load: u64,
    /// `cpuchunks` in microseconds.
    pub cpu_chunks_us: u64,
    /// `cpumode`.
    pub cpu_mode: CpuMode,
    /// `stat_type`.
    pub stat: StatType,
    /// `cmdprio_*`.
    pub priorities: Priorities,
    /// `program`.
    pub program: Option<String>,
    /// `arguments`.
    pub arguments: Option<String>,
    /// `grace_time` in seconds.
    pub grace_s: u64,
    /// `std_redirect`.
    pub redirect: bool,
}

/// Priorities of single operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Priorities {
    /// `cmdprio_percentage`.
    pub percent: PerDirection<u64>,
    /// `cmdprio_class`, by its number.
    pub class: PerDirection<u64>,
    /// `cmdprio`.
    pub level: PerDirection<u64>,
    /// `cmdprio_hint`.
    pub hint: PerDirection<u64>,
    /// `cmdprio_bssplit`.
    pub splits: PerDirection<Vec<PrioritySplit>>,
}

/// Operations of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrioritySplit {
    /// Their size.
    pub size: u64,
    /// The share of operations, in percent.
    pub percent: u64,
    /// Their class, where it is not that of all.
    pub class: Option<u64>,
    /// Their level, where it is not that of all.
    pub level: Option<u64>,
}
