//! Contents of buffers, and verification.

use candor_front::choices;

choices! {
    /// `dedupe_mode`.
    pub enum DedupeMode {
        #[default]
        Repeat = "the block before is written again": "repeat",
        WorkingSet = "one of a set of blocks is written": "working_set",
    }
}

/// Contents of buffers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buffers {
    /// `zero_buffers`.
    pub zero: bool,
    /// `refill_buffers`.
    pub refill: bool,
    /// `scramble_buffers`.
    pub scramble: bool,
    /// `buffer_pattern`, as written.
    pub pattern: Option<String>,
    /// `buffer_compress_percentage`.
    pub compress: Option<u64>,
    /// `buffer_compress_chunk`.
    pub compress_chunk: u64,
    /// `dedupe_percentage`.
    pub dedupe: Option<u64>,
    /// `dedupe_mode`.
    pub dedupe_mode: DedupeMode,
    /// `dedupe_working_set_percentage`.
    pub dedupe_set: u64,
    /// `dedupe_global`.
    pub dedupe_global: bool,
}

choices! {
    /// `verify_policy`: which writes a saved state holds.
    pub enum VerifyPolicy {
        #[default]
        Completed = "all that completed": "completed",
        Fsynced = "those that completed before a sync that succeeded": "fsynced",
    }
}

choices! {
    /// `verify`: what stands in the header of each block.
    pub enum Method {
        #[default]
        None = "nothing is verified": "0",
        Md5 = "header with md5": "md5",
        Crc64 = "header with crc64": "crc64",
        Crc32 = "header with crc32": "crc32",
        Crc32c = "header with crc32c": "crc32c" | "crc32c-intel",
        Crc16 = "header with crc16": "crc16",
        Crc7 = "header with crc7": "crc7",
        Sha1 = "header with sha1": "sha1",
        Sha256 = "header with sha256": "sha256",
        Sha512 = "header with sha512": "sha512",
        Sha3_224 = "header with sha3-224": "sha3-224",
        Sha3_256 = "header with sha3-256": "sha3-256",
        Sha3_384 = "header with sha3-384": "sha3-384",
        Sha3_512 = "header with sha3-512": "sha3-512",
        Xxhash = "header with xxhash": "xxhash",
        Meta = "header only (an old word: every header has it)": "meta",
        Pattern = "a pattern without header": "pattern",
        PatternHeader = "a pattern with header": "pattern_hdr",
        Null = "header is written, nothing is looked at": "null",
    }
}

/// Verification.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verify {
    /// `verify`.
    pub method: Method,
    /// `do_verify`.
    pub read_back: bool,
    /// `verify_only`.
    pub only: bool,
    /// `verify_interval`.
    pub interval: Option<u64>,
    /// `verify_offset`.
    pub offset: Option<u64>,
    /// `verify_pattern`, as written.
    pub pattern: Option<String>,
    /// `verify_pattern_interval`.
    pub pattern_interval: u64,
    /// `verify_fatal`.
    pub fatal: bool,
    /// `verify_policy`.
    pub policy: VerifyPolicy,
    /// `verify_dump`.
    pub dump: bool,
    /// `verify_async_cpus`.
    pub cpus: Vec<u32>,
    /// `verify_backlog`.
    pub backlog: Option<u64>,
    /// `verify_backlog_batch`.
    pub backlog_batch: Option<u64>,
    /// `verify_state_load`.
    pub state_load: bool,
    /// `verify_state_save`.
    pub state_save: bool,
    /// `verify_write_sequence`.
    pub write_sequence: bool,
    /// `verify_header_seed`.
    pub header_seed: bool,
    /// `trim_percentage`.
    pub trim_percent: u64,
    /// `trim_verify_zero`.
    pub trim_zero: bool,
    /// `trim_backlog`.
    pub trim_backlog: Option<u64>,
    /// `trim_backlog_batch`.
    pub trim_backlog_batch: Option<u64>,
}

/// Which operations of a trace are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Skip {
    /// Reads.
    pub read: bool,
    /// Writes.
    pub write: bool,
    /// Trims.
    pub trim: bool,
    /// Flushes.
    pub flush: bool,
}

/// Traces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// `write_iolog`.
    pub write: Option<String>,
    /// `read_iolog`, taken apart at its colons.
    pub read: Vec<String>,
    /// `replay_no_stall`.
    pub no_stall: bool,
    /// `replay_redirect`.
    pub redirect: Option<String>,
    /// `replay_scale`.
    pub scale: u64,
    /// `replay_align`.
    pub align: u64,
    /// `replay_time_scale`.
    pub time_scale: u64,
    /// `replay_skip`.
    pub skip: Skip,
    /// `merge_blktrace_file`.
    pub merge: Option<String>,
    /// `merge_blktrace_scalars`.
    pub merge_scalars: Vec<f64>,
    /// `merge_blktrace_iters`.
    pub merge_iterations: Vec<f64>,
}
