//! When writes are durable, what the cache does, and what is written.

use candor_plan::blocks::{Advice, Fill, OpenSync, Pieces, ReadBack, UnknownBlocks, Verify};

use crate::commands::run::draft::Draft;
use crate::flag::{Flag, Takes, put};
use crate::parse::{number, one_of, percent, unit};

/// When writes are durable, and what the cache does.
pub const FLAGS: &[Flag<Draft>] = &[
    Flag {
        long: "fsync-every",
        takes: Takes::One("N"),
        help: "fsync the written files after every N writes of a worker",
        fields: &["phase[0].job[0].work.blocks.durability.fsync_every"],
        set: |draft, text| put(&mut draft.blocks.durability.fsync_every, number(text)),
    },
    Flag {
        long: "fdatasync-every",
        takes: Takes::One("N"),
        help: "fdatasync the written files after every N writes of a worker",
        fields: &["phase[0].job[0].work.blocks.durability.fdatasync_every"],
        set: |draft, text| put(&mut draft.blocks.durability.fdatasync_every, number(text)),
    },
    Flag {
        long: "fsync-end",
        takes: Takes::Nothing,
        help: "fsync after the last write, counted in the time to media",
        fields: &["phase[0].job[0].work.blocks.durability.fsync_at_end"],
        set: |draft, _| put(&mut draft.blocks.durability.fsync_at_end, Ok(true)),
    },
    Flag {
        long: "open-sync",
        takes: Takes::One("dsync|sync"),
        help: "Open files with O_DSYNC or O_SYNC",
        fields: &["phase[0].job[0].work.blocks.durability.open"],
        set: |draft, text| {
            let words = [("dsync", OpenSync::Dsync), ("sync", OpenSync::Sync)];
            put(&mut draft.blocks.durability.open, one_of(text, &words))
        },
    },
    Flag {
        long: "evict",
        takes: Takes::Nothing,
        help: "Flush the files and drop their cached pages before the run, verified",
        fields: &["phase[0].job[0].work.blocks.hints.evict"],
        set: |draft, _| put(&mut draft.blocks.hints.evict, Ok(true)),
    },
    Flag {
        long: "wants-cache",
        takes: Takes::Nothing,
        help: "The page cache is meant to answer; that it did is then the result, not a fault",
        fields: &["phase[0].job[0].wants_cache"],
        set: |draft, _| put(&mut draft.job.wants_cache, Ok(true)),
    },
    Flag {
        long: "advice",
        takes: Takes::One("LIST"),
        help: "Advice to the kernel about the files: sequential, random, noreuse, willneed, \
               dontneed, given in turn",
        fields: &["phase[0].job[0].work.blocks.hints.advice"],
        set: |draft, text| {
            let words = [
                ("sequential", Advice::Sequential),
                ("random", Advice::Random),
                ("noreuse", Advice::Noreuse),
                ("willneed", Advice::Willneed),
                ("dontneed", Advice::Dontneed),
            ];
            let pieces = text.split(',').map(|piece| one_of(piece, &words));
            put(&mut draft.blocks.hints.advice, pieces.collect::<Result<_, _>>().map(Pieces))
        },
    },
];

/// Content of written blocks, and whether it is checked.
pub const CONTENT: &[Flag<Draft>] = &[
    Flag {
        long: "content",
        takes: Takes::One("pool|fresh|zero"),
        help: "Where written bytes come from [default: pool, which is incompressible]",
        fields: &["phase[0].job[0].work.blocks.content.fill"],
        set: |draft, text| {
            let words = [("pool", Fill::Pool), ("fresh", Fill::Fresh), ("zero", Fill::Zero)];
            put(&mut draft.blocks.content.fill, one_of(text, &words))
        },
    },
    Flag {
        long: "compressible",
        takes: Takes::One("PCT"),
        help: "Share of each 512 bytes that is zero",
        fields: &["phase[0].job[0].work.blocks.content.compressible_percent"],
        set: |draft, text| put(&mut draft.blocks.content.compressible_percent, percent(text)),
    },
    Flag {
        long: "duplicate",
        takes: Takes::One("PCT"),
        help: "Share of blocks that repeat an earlier one",
        fields: &["phase[0].job[0].work.blocks.content.duplicate_percent"],
        set: |draft, text| put(&mut draft.blocks.content.duplicate_percent, percent(text)),
    },
    Flag {
        long: "verify",
        takes: Takes::Maybe("INTERVAL"),
        help: "Put headers into written blocks and check them on reads [default interval: 4k]",
        fields: &[
            "phase[0].job[0].work.blocks.verify",
            "phase[0].job[0].work.blocks.verify.interval",
        ],
        set: |draft, text| {
            let verify = draft.blocks.verify.get_or_insert_with(Verify::default);
            match text {
                "" => Ok(()),
                _ => put(&mut verify.interval, unit(text)),
            }
        },
    },
    Flag {
        long: "verify-after",
        takes: Takes::Nothing,
        help: "Verify, and read back all that was written once it is flushed and out of the cache",
        fields: &["phase[0].job[0].work.blocks.verify.read_back"],
        set: |draft, _| {
            let verify = draft.blocks.verify.get_or_insert_with(Verify::default);
            let after = ReadBack { after_time: true, ..ReadBack::default() };
            put(&mut verify.read_back, Ok(Some(after)))
        },
    },
    Flag {
        long: "verify-all",
        takes: Takes::Nothing,
        help: "Verify, and report blocks without a header of this seed as corrupt",
        fields: &["phase[0].job[0].work.blocks.verify.unknown"],
        set: |draft, _| {
            let verify = draft.blocks.verify.get_or_insert_with(Verify::default);
            put(&mut verify.unknown, Ok(UnknownBlocks::Check))
        },
    },
    Flag {
        long: "verify-continue",
        takes: Takes::Nothing,
        help: "Verify; count a mismatch and continue",
        fields: &["phase[0].job[0].work.blocks.verify.continue_on_mismatch"],
        set: |draft, _| {
            let verify = draft.blocks.verify.get_or_insert_with(Verify::default);
            put(&mut verify.continue_on_mismatch, Ok(true))
        },
    },
];
