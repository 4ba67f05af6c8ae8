//! Contents of buffers, and their memory.

use super::JobOptions;
use super::kind::{Kind, Row};
use super::own::{Done, head, percent};
use crate::values::Units;
use candor_front::{bare, choices, choose, row};

choices! {
    /// `dedupe_mode`.
    pub enum DedupeMode {
        #[default]
        Repeat = "repeat the previous block": "repeat",
        WorkingSet = "write one of a set of blocks": "working_set",
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
    /// `mem`, without its file.
    pub enum MemoryKind {
        #[default]
        Malloc = "ordinary memory": "malloc",
        Shm = "System V shared memory": "shm",
        ShmHuge = "System V shared memory of huge pages": "shmhuge",
        Mmap = "a private mapping, optionally of a file": "mmap",
        MmapShared = "a shared mapping": "mmapshared",
        MmapHuge = "a mapping of huge pages": "mmaphuge",
        Cuda = "memory of a GPU": "cudamalloc",
    }
}

/// Memory of the buffers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Memory {
    /// `mem`.
    pub kind: MemoryKind,
    /// File of `mem=mmap:FILE`.
    pub file: Option<String>,
    /// `iomem_align`.
    pub align: u64,
    /// `lockmem`.
    pub lock: u64,
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("zero_buffers", Kind::Flag, |s, v| s.buffers.zero = v.bool(), "write zeros")
        .exact("blocks.content.fill", "1"),
    row("refill_buffers", Kind::Flag, |s, v| s.buffers.refill = v.bool(),
        "fill buffers with new random data for every write")
        .exact("blocks.content.fill", "1"),
    row("scramble_buffers", Kind::Bool, |s, v| s.buffers.scramble = v.bool(),
        "change a few bytes of each block to make blocks unique")
        .default("1").exact("blocks.content.fill", "0"),
    row("buffer_pattern", Kind::Text, |s, v| s.buffers.pattern = Some(v.text()),
        "fill blocks with a pattern: \"text\", 0x…, a number, 'FILE'")
        .exact("blocks.content.pattern", "0xdeadbeef"),
    bare("buffer_compress_percentage", Kind::Own("PERCENT", &[], compress),
        "compressible percent of each block")
        .exact("blocks.content.compressible_percent", "50"),
    row("buffer_compress_chunk", Kind::Size(0), |s, v| s.buffers.compress_chunk = v.int(),
        "bytes within which that percentage holds")
        .under("buffer_compress_percentage").when(|s| s.buffers.compress.unwrap_or(0) > 0)
        .default("512").exact("blocks.content.compressible_piece", "4k"),
    bare("dedupe_percentage", Kind::Own("PERCENT", &[], dedupe),
        "percent of duplicate blocks")
        .exact("blocks.content.duplicate_percent", "50"),
    row("dedupe_mode", Kind::Choice(DedupeMode::CHOICES),
        |s, v| s.buffers.dedupe_mode = v.of(DedupeMode::ALL), "source of duplicate blocks")
        .under("dedupe_percentage").when(|s| s.buffers.dedupe.unwrap_or(0) > 0).default("repeat")
        .exact("blocks.content.duplicates", "working_set"),
    row("dedupe_working_set_percentage", Kind::Int(0, 100), |s, v| s.buffers.dedupe_set = v.int(),
        "size of the working set, in percent of the file")
        .under("dedupe_percentage").when(|s| s.buffers.dedupe.unwrap_or(0) > 0).default("5")
        .exact("blocks.content.duplicates", "10"),
    row("dedupe_global", Kind::Bool, |s, v| s.buffers.dedupe_global = v.bool(),
        "share duplicate blocks between jobs")
        .default("0").exact("blocks.content.duplicates", "1"),
];

#[rustfmt::skip]
pub(super) const MEMORY: &[Row] = &[
    bare("mem", Kind::Own("KIND[:FILE]", MemoryKind::CHOICES, memory),
        "memory of buffers")
        .alias(&["iomem"]).default("malloc").exact("blocks.buffers", "shm"),
    row("iomem_align", Kind::Size(0), |s, v| s.memory.align = v.int(),
        "offset of buffers within a page")
        .alias(&["mem_align"]).under("mem").default("0").exact("blocks.buffers.offset", "512"),
    bare("hugepage-size", Kind::Size(0), "size of huge pages").default("2097152").idle(
        "4m",
        "fio rounds the length of buffers up to it; candor knows the pages of the host",
    ),
    row("lockmem", Kind::Size(0), |s, v| s.memory.lock = v.int(),
        "lock SIZE of memory to shrink the page cache")
        .default("0").exact("blocks.buffers.lock", "16m"),
];

fn compress(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.buffers.compress = Some(percent(text)?);
    Ok(None)
}

fn dedupe(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.buffers.dedupe = Some(percent(text)?);
    Ok(None)
}

fn memory(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let (name, file) = head(text);
    s.memory.kind = MemoryKind::ALL[choose(name, MemoryKind::CHOICES)?];
    s.memory.file = file.map(str::to_owned);
    Ok(None)
}
