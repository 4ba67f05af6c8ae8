//! Options of engines that send commands past the block layer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::options::engine_options;
use super::ring::ring_engine;
use crate::Bytes;
use crate::omit::{is_default, is_one};

ring_engine! {
    /// Options of the io_uring_cmd engine. Absent switches mean: use it where the kernel has it.
    UringCmd {
        /// Reads come from the media, not from the controller's cache (force unit access).
        #[serde(skip_serializing_if = "is_default")]
        fua_reads: bool = false,
        /// Each write is on the media when it completes (force unit access).
        #[serde(skip_serializing_if = "is_default")]
        fua_writes: bool = false,
        /// Ranges of each trim, 1 to 256, each with the size of trims.
        #[serde(skip_serializing_if = "is_one")]
        trim_ranges: u32 = 1,
        /// Command that writes.
        #[serde(skip_serializing_if = "is_default")]
        write: NvmeWrite = NvmeWrite::Write,
        /// Blocks that are written with zeros are deallocated too, where the controller does that.
        #[serde(skip_serializing_if = "is_default")]
        deallocate: bool = false,
        /// Protection information, of namespaces that have it.
        #[serde(skip_serializing_if = "is_default")]
        protection: Protection = Protection::DEFAULT,
        /// Memory for the metadata of an operation, where that is apart from its blocks; absent
        /// means as much as the longest operation has.
        metadata_bytes: Option<Bytes> = None,
    }
}

impl UringCmd {
    /// Most ranges that a trim names.
    pub const TRIM_RANGES_MAX: u32 = 256;
}

engine_options! {
    /// Protection information of a namespace that has it: a guard (a checksum), an application tag
    /// and a reference tag (the block's place). The controller makes it when blocks are written,
    /// and checks and takes it off when they are read.
    Protection {
        /// The host makes it on writes, the controller checks it, and the host checks it on reads
        /// instead of the controller.
        #[serde(skip_serializing_if = "is_default")]
        made_by_host: bool = false,
        /// The checksum of each block that is read is checked.
        check_guard: bool = false,
        /// Check that each block read was written to its address.
        check_reference: bool = false,
        /// The tag of each block that is read is checked.
        check_tag: bool = false,
        /// Tag of blocks that are written, and of those that are checked (the application tag).
        tag: u16 = 0x1234,
        /// Bits of the tag that are checked.
        tag_mask: u16 = 0xffff,
    }
}

impl Protection {
    /// True where anything is checked.
    pub fn checks(&self) -> bool {
        self.check_guard || self.check_reference || self.check_tag
    }
}

/// NVMe command that writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum NvmeWrite {
    /// Write.
    #[default]
    Write,
    /// Write Uncorrectable: reads of the blocks fail until they are written. No byte moves.
    Uncorrectable,
    /// Write Zeroes. No byte moves.
    Zeroes,
    /// Verify: the controller reads the blocks for itself. Nothing is written.
    Verify,
}

engine_options! {
    /// Options of the sg engine.
    Sg {
        /// Reads come from the media, not from the disk's cache (force unit access).
        #[serde(skip_serializing_if = "is_default")]
        fua_reads: bool = false,
        /// Each write is on the media when it completes (force unit access).
        #[serde(skip_serializing_if = "is_default")]
        fua_writes: bool = false,
        /// Request polling from the driver for reads and writes (`SGV4_FLAG_HIPRI`); drivers
        /// without support, such as Linux's own, wait as usual.
        #[serde(skip_serializing_if = "is_default")]
        hipri: bool = false,
        /// Command that writes.
        #[serde(skip_serializing_if = "is_default")]
        write: ScsiWrite = ScsiWrite::Write,
        /// Stream that is written to; 0 means one that each worker opens for itself, and closes.
        #[serde(skip_serializing_if = "is_default")]
        stream: u16 = 0,
    }
}

/// SCSI command that writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum ScsiWrite {
    /// `WRITE`.
    #[default]
    Write,
    /// `WRITE AND VERIFY`: the disk reads the medium again, without comparing.
    WriteAndVerify,
    /// `WRITE SAME`: the first block of the bytes, over and over.
    WriteSame,
    /// `WRITE SAME` without data: what the disk takes for such, such as zeros. No byte moves.
    WriteSameWithoutData,
    /// `WRITE STREAM`.
    Stream,
    /// `VERIFY`: the disk reads the medium. Nothing is written, and no byte moves.
    Verify,
    /// `VERIFY` against the bytes of all blocks, which the disk compares. Nothing is written.
    VerifyData,
    /// `VERIFY` of each block against the first one of the bytes. Nothing is written.
    VerifySame,
}

/// Bytes that a command that writes takes from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carries {
    /// The bytes of all blocks.
    All,
    /// The bytes of one block.
    OneBlock,
    /// None.
    Nothing,
}

impl ScsiWrite {
    /// Bytes that it takes from the host.
    pub fn carries(self) -> Carries {
        match self {
            ScsiWrite::WriteSame | ScsiWrite::VerifySame => Carries::OneBlock,
            ScsiWrite::WriteSameWithoutData | ScsiWrite::Verify => Carries::Nothing,
            _ => Carries::All,
        }
    }

    /// True where the disk then holds what the host gave it.
    pub fn stores(self) -> bool {
        matches!(self, ScsiWrite::Write | ScsiWrite::WriteAndVerify | ScsiWrite::Stream)
    }

    /// True where it has a bit for force unit access.
    pub fn has_fua(self) -> bool {
        matches!(self, ScsiWrite::Write | ScsiWrite::Stream)
    }
}
