//! Contents of buffers, and their memory.

use crate::job_options::{DedupeMode, MemoryKind};
use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    row("zero_buffers", Kind::Flag, |s, v| s.buffers.zero = v.bool(), "write zeros")
        .exact("blocks.content.fill", "1"),
    row("refill_buffers", Kind::Flag, |s, v| s.buffers.refill = v.bool(),
        "new random bytes for every write")
        .exact("blocks.content.fill", "1"),
    row("scramble_buffers", Kind::Bool, |s, v| s.buffers.scramble = v.bool(),
        "change a few bytes of each block, so that no two are alike")
        .default("1").exact("blocks.content.fill", "0"),
    row("buffer_pattern", Kind::Text, |s, v| s.buffers.pattern = Some(v.text()),
        "fill blocks with this: \"text\", 0x…, a number, 'FILE'")
        .exact("blocks.content.pattern", "0xdeadbeef"),
    bare("buffer_compress_percentage", Kind::Own("PERCENT", &[], own::compress),
        "percent of each block that compresses away")
        .exact("blocks.content.compressible_percent", "50"),
    row("buffer_compress_chunk", Kind::Size(0), |s, v| s.buffers.compress_chunk = v.int(),
        "stretch within which that share holds")
        .under("buffer_compress_percentage").when(|s| s.buffers.compress.unwrap_or(0) > 0)
        .default("512").exact("blocks.content.compressible_piece", "4k"),
    bare("dedupe_percentage", Kind::Own("PERCENT", &[], own::dedupe),
        "percent of blocks that repeat another")
        .exact("blocks.content.duplicate_percent", "50"),
    row("dedupe_mode", Kind::Choice(DedupeMode::CHOICES),
        |s, v| s.buffers.dedupe_mode = v.of(DedupeMode::ALL), "which block a repeat repeats")
        .under("dedupe_percentage").when(|s| s.buffers.dedupe.unwrap_or(0) > 0).default("repeat")
        .exact("blocks.content.duplicates", "working_set"),
    row("dedupe_working_set_percentage", Kind::Int(0, 100), |s, v| s.buffers.dedupe_set = v.int(),
        "size of that set, in percent of the file")
        .under("dedupe_percentage").when(|s| s.buffers.dedupe.unwrap_or(0) > 0).default("5")
        .exact("blocks.content.duplicates", "10"),
    row("dedupe_global", Kind::Bool, |s, v| s.buffers.dedupe_global = v.bool(),
        "jobs repeat each other's blocks")
        .default("0").exact("blocks.content.duplicates", "1"),
];

#[rustfmt::skip]
pub(in crate::options) const MEMORY: &[Row] = &[
    bare("mem", Kind::Own("KIND[:FILE]", MemoryKind::CHOICES, own::memory),
        "where buffers come from")
        .alias(&["iomem"]).default("malloc").exact("blocks.buffers", "shm"),
    row("iomem_align", Kind::Size(0), |s, v| s.memory.align = v.int(),
        "offset of buffers from the start of a page")
        .alias(&["mem_align"]).under("mem").default("0").exact("blocks.buffers.offset", "512"),
    bare("hugepage-size", Kind::Size(0), "size of huge pages").default("2097152").idle(
        "4m",
        "fio rounds the length of buffers up to it; candor knows the pages of the host",
    ),
    row("lockmem", Kind::Size(0), |s, v| s.memory.lock = v.int(),
        "memory to lock, so that less is left for the cache")
        .default("0").exact("blocks.buffers.lock", "16m"),
];
