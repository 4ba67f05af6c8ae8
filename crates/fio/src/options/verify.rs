//! Verification, and trims of verified blocks.

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::Done;
use crate::values::{self, Units};
use candor_front::{bare, choices, row};

choices! {
    /// `verify_policy`: writes in a saved state.
    pub enum VerifyPolicy {
        #[default]
        Completed = "all completed writes": "completed",
        Fsynced = "writes completed before a successful sync": "fsynced",
    }
}

choices! {
    /// `verify`: content of each block's header.
    pub enum Method {
        #[default]
        None = "no verification": "0",
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
        Meta = "header only (old name; every header includes it)": "meta",
        Pattern = "a pattern without header": "pattern",
        PatternHeader = "a pattern with header": "pattern_hdr",
        Null = "write headers, skip the comparison": "null",
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

/// True if blocks are verified.
fn verifying(s: &JobOptions) -> bool {
    s.verify.method != Method::None
}

/// True if written blocks are trimmed.
fn trimming(s: &JobOptions) -> bool {
    verifying(s) && s.verify.trim_percent > 0
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("verify", Kind::Choice(Method::CHOICES), |s, v| s.verify.method = v.of(Method::ALL),
        "checksum or pattern of written blocks")
        .default("0").exact("blocks.verify.format", "crc32c"),
    row("do_verify", Kind::Bool, |s, v| s.verify.read_back = v.bool(),
        "read back all data after writing")
        .under("verify").when(verifying).default("1").exact("blocks.verify.read_back", "0"),
    row("verify_only", Kind::Flag, |s, v| s.verify.only = v.bool(),
        "verify data of an earlier run without writing")
        .exact("blocks.verify.read_back.only", "1"),
    bare("verifysort", Kind::Deprecated, "no longer used").idle("1", "fio has dropped it"),
    bare("verifysort_nr", Kind::Deprecated, "no longer used").idle("1024", "fio has dropped it"),
    row("verify_interval", Kind::Size(80), |s, v| s.verify.interval = Some(v.int()),
        "bytes per header, if not the block size")
        .under("verify").when(verifying).exact("blocks.verify.interval", "512"),
    row("verify_offset", Kind::Size(40), |s, v| s.verify.offset = Some(v.int()),
        "position of the header in a block")
        .under("verify").when(verifying).exact("blocks.verify.header_at", "64"),
    row("verify_pattern", Kind::Text, |s, v| s.verify.pattern = Some(v.text()),
        "pattern around the header: \"text\", 0x…, a number, %o, 'FILE'")
        .under("verify").exact("blocks.content.pattern", "0xff"),
    row("verify_pattern_interval", Kind::Size(0), |s, v| s.verify.pattern_interval = v.int(),
        "restart the pattern after N bytes")
        .under("verify").when(verifying).default("0").exact("blocks.content.pattern", "512"),
    row("verify_fatal", Kind::Bool, |s, v| s.verify.fatal = v.bool(),
        "end at the first mismatch")
        .under("verify").when(verifying).default("0")
        .exact("blocks.verify.continue_on_mismatch", "1"),
    row("verify_dump", Kind::Bool, |s, v| s.verify.dump = v.bool(),
        "save mismatched and expected blocks to files")
        .under("verify").when(verifying).default("0").exact("blocks.verify.dump", "1"),
    bare("verify_async", Kind::Int(0, MANY), "number of verify threads")
        .under("verify").when(verifying).default("0").near("blocks.verify", "2",
            "blocks are checked by the thread that read them; what is found is the same"),
    bare("verify_async_cpus", Kind::Own("CPU[-CPU][,…]", &[], verify_cpus),
        "CPUs of verify threads")
        .under("verify_async").when(verifying).near("blocks.verify", "0",
            "blocks are checked by the thread that read them; what is found is the same"),
    row("verify_backlog", Kind::Size(0), |s, v| s.verify.backlog = Some(v.int()),
        "verify after N blocks instead of at the end")
        .under("verify").when(verifying).exact("blocks.verify.read_back.every", "16"),
    row("verify_backlog_batch", Kind::Int(0, MANY), |s, v| s.verify.backlog_batch = Some(v.int()),
        "verify N blocks at a time")
        .under("verify").when(verifying).exact("blocks.verify.read_back.batch", "8"),
    bare("experimental_verify", Kind::Bool, "generate blocks again instead of storing them")
        .under("verify").when(verifying).default("0")
        .idle("1", "blocks are always drawn again instead of being remembered"),
    row("verify_state_load", Kind::Bool, |s, v| s.verify.state_load = v.bool(),
        "stop verification at the last write of the saved state")
        .under("verify").when(verifying).default("0").exact("blocks.verify.written", "1"),
    row("verify_state_save", Kind::Bool, |s, v| s.verify.state_save = v.bool(),
        "save the write state at the end of the job")
        .under("verify").when(verifying).default("1").exact("blocks.verify.last_writes", "0"),
    row("verify_write_sequence", Kind::Bool, |s, v| s.verify.write_sequence = v.bool(),
        "check write sequence numbers")
        .under("verify").when(verifying).default("1").exact("blocks.verify.generations", "0"),
    row("verify_header_seed", Kind::Bool, |s, v| s.verify.header_seed = v.bool(),
        "check seeds in headers")
        .under("verify").when(verifying).default("1").exact("blocks.verify.generations", "0"),
    row("verify_policy", Kind::Choice(VerifyPolicy::CHOICES),
        |s, v| s.verify.policy = v.of(VerifyPolicy::ALL), "writes in a saved state")
        .under("verify").when(verifying).default("completed").near("output", "fsynced",
            "a job reads back all its writes, also those after its last fsync"),
    row("trim_percentage", Kind::Int(0, 100), |s, v| s.verify.trim_percent = v.int(),
        "trim N percent of written blocks before verification")
        .under("verify").when(verifying).default("0").exact("blocks.verify.read_back.trims", "10"),
    row("trim_verify_zero", Kind::Bool, |s, v| s.verify.trim_zero = v.bool(),
        "check that trimmed blocks read as zeros")
        .under("trim_percentage").when(trimming).default("1")
        .exact("blocks.verify.zeros_after_trim", "0"),
    row("trim_backlog", Kind::Size(0), |s, v| s.verify.trim_backlog = Some(v.int()),
        "trim after N blocks; unset disables trims")
        .under("trim_percentage").when(trimming).exact("blocks.verify.read_back.trims", "16"),
    row("trim_backlog_batch", Kind::Int(0, MANY),
        |s, v| s.verify.trim_backlog_batch = Some(v.int()), "trim N blocks at a time")
        .under("trim_percentage").when(trimming).exact("blocks.verify.read_back.trims", "8"),
];

fn verify_cpus(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let read = values::cpus(text)?;
    s.verify.cpus = read.value;
    Ok(read.remark)
}
