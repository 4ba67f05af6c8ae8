//! How written data is checked when it is read.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::Bytes;
use crate::content::Pattern;
use crate::omit::is_default;

/// Data in written blocks by which reads are checked, and which reads are.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Verify {
    /// Bytes covered by one header; every size must be a multiple of it.
    #[default(Bytes(4096))]
    pub interval: Bytes,
    /// Kind of the data by which a block is checked.
    pub format: Format,
    /// Version of headers of the format `acca` that are written; all are read.
    pub header_version: HeaderVersion,
    /// Offset of a header of the format `acca` in its block; the data of this offset is at the
    /// start of the block instead.
    pub header_at: Bytes,
    /// Continue after a mismatch, and count it.
    pub continue_on_mismatch: bool,
    /// End the phase after N mismatching blocks; until then, none of them is read or written again.
    /// Absent means that `continue_on_mismatch` decides.
    pub mismatches_max: Option<u64>,
    /// Read and check each block with a known last write before its next write, and do not write a
    /// mismatching block. Such reads count as read-back.
    #[serde(skip_serializing_if = "is_default")]
    pub read_before_write: bool,
    /// Blocks of which neither this run nor its journal knows a write.
    #[serde(skip_serializing_if = "is_default")]
    pub unknown: UnknownBlocks,
    /// Store the time of the last write in headers, and the time of the last use of each block in
    /// memory; a mismatch reports both.
    #[serde(skip_serializing_if = "is_default")]
    pub times: bool,
    /// Record of all writes on other storage, from which a later run knows what must be there.
    pub journal: Option<Journal>,
    /// Seed written into headers; blocks of another seed are stale data of another run. Absent
    /// means the plan's.
    pub seed: Option<u64>,
    /// Reads of the workload itself are checked, not only those that read back.
    #[default(true)]
    pub reads: bool,
    /// A block written in this run must have the content of its last write.
    #[default(true)]
    pub generations: bool,
    /// Blocks that were trimmed must read as zeros when they are read back.
    pub zeros_after_trim: bool,
    /// Written blocks are read again.
    pub read_back: Option<ReadBack>,
    /// Directory for the bytes of blocks that do not match: `FILE.OFFSET.received`, and
    /// `FILE.OFFSET.expected` where these are known; `FILE.OFFSET.hdr_fail` for a bad header.
    #[serde(with = "crate::path_text::as_text_or_none")]
    #[schemars(with = "Option<PathBuf>")]
    pub dump: Option<PathBuf>,
    /// Number of last completed writes to each file in the report; 0 means none. A later reader
    /// knows from them where writing ended.
    pub last_writes: u32,
    /// End of the writing that reads are checked against; later blocks are not read.
    pub written: Option<Written>,
    /// Replay all writes without I/O before their blocks are read (`read_back.only`), to find the
    /// last write to each block. Work that only reads replays its first pass in the same manner,
    /// like a pass of writes.
    pub dry_run: Option<LastWrite>,
}

/// The fields of a header by which the last write to its block is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum LastWrite {
    /// The seed, in headers that candor wrote.
    Seed,
    /// The sequence number.
    Number,
    /// Both.
    Both,
}

impl LastWrite {
    /// True if seeds are compared.
    pub fn by_seed(self) -> bool {
        self != LastWrite::Number
    }

    /// True if sequence numbers are compared.
    pub fn by_number(self) -> bool {
        self != LastWrite::Seed
    }
}

impl Verify {
    /// With the seed that headers get: its own, else the plan's.
    #[must_use]
    pub fn with_seed_of(self, plan_seed: u64) -> Verify {
        Verify { seed: Some(self.seed.unwrap_or(plan_seed)), ..self }
    }

    /// True where a block is checked only if a write to it is known.
    pub fn known_only(&self) -> bool {
        matches!(self.unknown, UnknownBlocks::Ignore | UnknownBlocks::Skip)
            || self.journal.is_some()
    }

    /// True where the plan vouches for blocks of which no write is known. Words need no header: the
    /// plan knows every byte of them.
    pub fn vouches(&self) -> bool {
        let is_words = self.format == Format::Words;
        !self.known_only() && (self.unknown == UnknownBlocks::Check || is_words)
    }

    /// True where reads are added to the work to check what was written.
    pub fn adds_reads(&self) -> bool {
        self.read_back.is_some() || self.read_before_write
    }

    /// Bytes of each block that its header takes.
    pub fn header_bytes(&self) -> u64 {
        match self.format {
            Format::Own => 40,
            Format::Acca(sum) => self.header_version.header_bytes() + sum.room_bytes(),
            Format::Pattern | Format::Words | Format::Nothing => 0,
        }
    }
}

/// Treatment of blocks of which neither this run nor its journal knows a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum UnknownBlocks {
    /// A read checks a block against its own header, if that header is of the same seed, offset and
    /// length. A block without such a header is counted as unknown and never as a mismatch. With a
    /// journal, all these blocks count as unknown.
    #[default]
    ByHeader,
    /// Every block must have been written with the same seed: the plan vouches for it. A block
    /// without a header is a mismatch. With a journal, all these blocks count as unknown.
    Check,
    /// Reads do not check them; they count as unknown.
    Ignore,
    /// Do not read them.
    Skip,
}

/// A journal of verified writes: a directory with the key of each block (the number of its last
/// write) and a log of writes since these keys were stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Journal {
    /// Directory of its files, made if it is missing. Use other storage than the verified one.
    #[serde(with = "crate::path_text::as_text")]
    #[schemars(with = "PathBuf")]
    pub directory: PathBuf,
    /// How writes are logged.
    pub log: JournalLog,
    /// Continue the journal in the directory: blocks must match it. By default a new journal
    /// replaces it.
    pub recover: bool,
    /// Treat blocks that an interrupted run was writing as unknown.
    pub ignore_pending: bool,
}

/// How a journal logs writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum JournalLog {
    /// A record is durable before each write begins, another one before its worker continues.
    #[default]
    Flushed,
    /// The same records are left to the page cache: they outlive the run, but not the host.
    Unflushed,
    /// None: keys are stored at the start and at the end of each phase only.
    Nothing,
}

/// Data in a block by which it is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// candor's own: offset, seed, generation and length with a CRC-32C over the whole block, and a
    /// stamp in each sector, so that damage, torn writes and misplaced writes are distinct.
    #[default]
    Own,
    /// The header with the magic number 0xacca that other tools write and read: length, seed,
    /// offset, time, sequence number and a CRC-32C of itself; after it a checksum of the rest of
    /// the block.
    Acca(Sum),
    /// No header: every byte equals `content.pattern`.
    Pattern,
    /// No header: every byte equals `content.words`. A block is a whole operation.
    Words,
    /// Nothing: blocks are read and not checked.
    Nothing,
}

impl Format {
    /// True if parts of a block can be checked, with that pattern as content.
    pub fn checks_parts(self, pattern: Option<&Pattern>) -> bool {
        match self {
            Format::Pattern => pattern.is_some_and(Pattern::is_of_file),
            Format::Nothing => true,
            Format::Own | Format::Acca(_) | Format::Words => false,
        }
    }
}

/// Version of headers of the format [`Format::Acca`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum HeaderVersion {
    /// 40 bytes without a version, with a sequence number of 16 bits, as fio 3.33 writes them.
    Unversioned,
    /// 48 bytes with the version 1 and a sequence number of 64 bits, as fio 3.42 writes them.
    #[default]
    V1,
}

impl HeaderVersion {
    /// Bytes of a header, without the checksum after it.
    pub const fn header_bytes(self) -> u64 {
        match self {
            HeaderVersion::Unversioned => 40,
            HeaderVersion::V1 => 48,
        }
    }

    /// A sequence number as headers of this version hold it.
    pub const fn number(self, number: u64) -> u64 {
        match self {
            HeaderVersion::Unversioned => number & u16::MAX as u64,
            HeaderVersion::V1 => number,
        }
    }
}

/// The checksum after a [`Format::Acca`] header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names of the checksums describe them")]
pub enum Sum {
    /// None: only the header is checked, and `content.pattern` if there is one.
    None,
    Md5,
    Crc7,
    Crc16,
    Crc32,
    Crc32c,
    Crc64,
    Xxhash,
    Sha1,
    Sha256,
    Sha512,
    #[serde(rename = "sha3-224")]
    Sha3_224,
    #[serde(rename = "sha3-256")]
    Sha3_256,
    #[serde(rename = "sha3-384")]
    Sha3_384,
    #[serde(rename = "sha3-512")]
    Sha3_512,
    /// None: the rest of the block must be `content.pattern`.
    Pattern,
}

impl Sum {
    /// Every sum.
    pub const ALL: [Sum; 16] = [
        Sum::None,
        Sum::Md5,
        Sum::Crc7,
        Sum::Crc16,
        Sum::Crc32,
        Sum::Crc32c,
        Sum::Crc64,
        Sum::Xxhash,
        Sum::Sha1,
        Sum::Sha256,
        Sum::Sha512,
        Sum::Sha3_224,
        Sum::Sha3_256,
        Sum::Sha3_384,
        Sum::Sha3_512,
        Sum::Pattern,
    ];

    /// Bytes that the header keeps for it; the sums of the SHA-2 family have more than they need.
    pub fn room_bytes(self) -> u64 {
        match self {
            Sum::None | Sum::Pattern => 0,
            Sum::Crc7 => 1,
            Sum::Crc16 => 2,
            Sum::Crc32 | Sum::Crc32c | Sum::Xxhash => 4,
            Sum::Crc64 => 8,
            Sum::Md5 => 16,
            Sum::Sha1 => 20,
            Sum::Sha3_224 => 28,
            Sum::Sha3_256 => 32,
            Sum::Sha3_384 => 48,
            Sum::Sha256 | Sum::Sha3_512 => 64,
            Sum::Sha512 => 128,
        }
    }
}

/// How what was written is read again. Each operation that wrote is repeated as a read, in the
/// same order, unless all it wrote has been read back since; these reads have counters of their
/// own.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct ReadBack {
    /// Write nothing: reads replace the writes.
    pub only: bool,
    /// After every N writes of a worker, and the rest at the end; 0 means all at the end, after a
    /// flush and with dropped pages.
    pub every: u64,
    /// Operations read back each time; 0 means as many as `every`.
    pub batch: u64,
    /// Also where time ended the writes: what is left is read back after it.
    #[serde(skip_serializing_if = "is_default")]
    pub after_time: bool,
    /// Some of what was written is trimmed before it is read back.
    pub trims: Option<TrimWritten>,
}

/// Writes that are trimmed after later writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct TrimWritten {
    /// Share of the writes, in percent, drawn by chance.
    pub percent: u8,
    /// After every N writes of a worker.
    pub every: u64,
    /// Trims each time at most; 0 means as many as `every`.
    #[serde(default)]
    pub batch: u64,
}

/// Where the writing ended that reads repeat, operation by operation, in the same order. Reads end
/// before the first operation of which it is not known that it finished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Written {
    /// Writes that were issued.
    pub ops: u64,
    /// Number of last writes of which only those in `finished` completed; all earlier ones
    /// completed.
    pub window: u64,
    /// Completed ones of the last writes.
    pub finished: Vec<Finished>,
}

/// A write that finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Finished {
    /// Index of the file in the job, from 0.
    pub file: u32,
    /// Offset in the file.
    pub offset: Bytes,
}

impl Written {
    /// True if the operation after `before` others is to be repeated.
    pub fn holds(&self, before: u64, file: u32, offset: u64) -> bool {
        let finished = Finished { file, offset: Bytes(offset) };
        let last = before < self.ops && self.finished.contains(&finished);
        before + self.window < self.ops || last
    }
}
