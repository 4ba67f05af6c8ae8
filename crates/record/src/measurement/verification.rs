//! Results of verification: how many blocks are not what was written, and in what way.

use candor_plan::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Result of verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VerifyStats {
    /// Blocks checked.
    pub blocks: u64,
    /// Contents do not match the checksum, header intact and own.
    pub flipped: u64,
    /// Parts of one block come from different writes.
    pub torn: u64,
    /// A valid block that belongs elsewhere.
    pub misdirected: u64,
    /// A valid block of an earlier write than the last one.
    pub stale: u64,
    /// No header of ours at all.
    pub foreign: u64,
    /// Blocks read and not checked: neither this run nor a journal nor the block's own header
    /// tells what was written there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: u64,
    /// The first few, with place and difference.
    pub first: Vec<Mismatch>,
    /// Where writing ended, where that is to be reported.
    #[serde(default)]
    pub last_writes: Option<LastWrites>,
    /// The journal's part, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal: Option<JournalStats>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Work of a journal. Its time lies outside of the latencies and inside of the elapsed time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JournalStats {
    /// Records of single blocks, before and after their writes.
    pub records: u64,
    /// Writes of the log, each of which may hold several records.
    pub writes: u64,
    /// Time that workers spent on these writes, all together.
    pub elapsed_ns: u64,
    /// Blocks that an interrupted run was writing, when the journal was taken up.
    pub pending: u64,
}

impl JournalStats {
    /// Adds those of another worker.
    pub fn merge(&mut self, other: JournalStats) {
        self.records += other.records;
        self.writes += other.writes;
        self.elapsed_ns += other.elapsed_ns;
        self.pending = self.pending.max(other.pending);
    }
}

/// Mismatches kept with all details: other tools have a line for each, which scripts count.
pub const MISMATCHES_KEPT: usize = 1024;

impl VerifyStats {
    /// Adds a block that is not what was written.
    pub fn add(&mut self, mismatch: Mismatch) {
        *match mismatch.kind {
            MismatchKind::Flipped => &mut self.flipped,
            MismatchKind::Torn => &mut self.torn,
            MismatchKind::Misdirected => &mut self.misdirected,
            MismatchKind::Stale => &mut self.stale,
            MismatchKind::Foreign => &mut self.foreign,
        } += 1;
        if self.first.len() < MISMATCHES_KEPT {
            self.first.push(mismatch);
        }
    }

    /// Adds findings of another worker.
    pub fn merge(&mut self, found: VerifyStats) {
        self.blocks += found.blocks;
        self.flipped += found.flipped;
        self.torn += found.torn;
        self.misdirected += found.misdirected;
        self.stale += found.stale;
        self.foreign += found.foreign;
        self.unknown += found.unknown;
        if let Some(last) = found.last_writes {
            let sum = self.last_writes.get_or_insert_default();
            sum.issued += last.issued;
            sum.files = sum.files.max(last.files);
            sum.finished.extend(last.finished);
            sum.synced_issued += last.synced_issued;
            sum.synced.extend(last.synced);
        }
        if let Some(journal) = found.journal {
            self.journal.get_or_insert_default().merge(journal);
        }
        let room = MISMATCHES_KEPT.saturating_sub(self.first.len());
        self.first.extend(found.first.into_iter().take(room));
    }

    /// Blocks that are not what was written, whatever is wrong with them.
    pub fn mismatches(&self) -> u64 {
        let kinds = [self.flipped, self.torn, self.misdirected, self.stale, self.foreign];
        kinds.into_iter().fold(0, u64::saturating_add)
    }
}

/// Where a job's writing ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastWrites {
    /// Writes that were issued.
    pub issued: u64,
    /// Files of the job.
    pub files: u32,
    /// The writes that finished last, of each file as many as were asked for, the latest first.
    pub finished: Vec<FinishedWrite>,
    /// Writes that were issued before the last sync of each file; 0 where one was never synced.
    #[serde(default)]
    pub synced_issued: u64,
    /// The writes that finished last before that sync.
    #[serde(default)]
    pub synced: Vec<FinishedWrite>,
}

/// A write that finished.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FinishedWrite {
    /// Which of the job's files, from 0.
    pub file: u32,
    /// Where in it.
    pub offset: u64,
}

/// One block that is not what was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mismatch {
    /// The file or device.
    pub path: String,
    /// Offset of the block.
    pub offset: u64,
    /// Length in bytes.
    pub length: Bytes,
    /// Which kind.
    pub kind: MismatchKind,
    /// Expected and found, in words.
    pub detail: String,
    /// Offset of the read that showed it.
    #[serde(default)]
    pub read_offset: u64,
    /// Length of that read.
    #[serde(default)]
    pub read_length: Bytes,
    /// Purpose of that read.
    #[serde(default)]
    pub seen_by: SeenBy,
    /// The block that was written there last, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<BlockIdentity>,
    /// The block that is there, as its header names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<BlockIdentity>,
    /// Sectors of the block that are wrong, where they can be told from the others; none where all
    /// may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sectors: Vec<BadSector>,
    /// The first wrong byte, if every byte of the block has an expected value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrong_byte: Option<WrongByte>,
    /// Last read or write of the block before that read, where such times are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_use: Option<LastUse>,
}

/// A byte that is not what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrongByte {
    /// Position in its block.
    pub at: u64,
    /// Value that was written.
    pub expected: u8,
    /// Value that was read.
    pub found: u8,
}

/// Purpose of a read that is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeenBy {
    /// A read of the workload.
    #[default]
    Read,
    /// The read before its block is written again.
    ReadBeforeWrite,
    /// A read of what was written before.
    ReadBack,
}

/// Which block it is: its place, the run, and which write to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlockIdentity {
    /// Offset in its file.
    pub offset: u64,
    /// Number of the write to that block, its key; absent where any is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
    /// Seed of the headers of a run.
    pub seed: u64,
    /// Time of the write, in s since 1970, where the header holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_unix_s: Option<u64>,
}

/// A sector of 512 bytes that is not what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BadSector {
    /// Number within the block, from 0.
    pub sector: u32,
    /// Key of the write that it is of, where its stamp tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<u32>,
    /// The flipped bit, counted from the start of the sector, where it is a single one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bit: Option<u32>,
}

/// When and how a block was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LastUse {
    /// Time at which the operation ended, in ms since 1970.
    pub unix_ms: u64,
    /// True for a write.
    pub is_write: bool,
}

/// In what way a block is not what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "described at VerifyStats")]
pub enum MismatchKind {
    #[default]
    Flipped,
    Torn,
    Misdirected,
    Stale,
    Foreign,
}
