//! Engines that bypass the page cache and the block layer.

use candor_plan::blocks::{self, Protection, ScsiWrite, Sg, UringCmd};
use candor_plan::{Blocks, Bytes, Engine};

use crate::lower::instance::Instance;
use crate::options::{Method, NvmeWrite, OpenSync, SgWrite, WriteHint, ZoneMode};
use candor_front::Diagnostics;

/// Options of these engines; refuses unsupported ones.
pub(super) fn lower(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    trim_ranges(from, blocks, diagnostics);
    match &mut blocks.engine {
        Engine::UringCmd(options) => *options = uring_cmd(from, diagnostics),
        Engine::Sg(options) => *options = sg(from, diagnostics),
        Engine::IoUring(_) => return protected_reads(from, diagnostics),
        _ => return,
    }
    // fio ignores `direct` for commands.
    blocks.direct = true;
    (blocks.hints.invalidate, blocks.hints.pre_read) = (false, false);
    let options = from.options;
    let is_scsi = matches!(blocks.engine, Engine::Sg(_));
    let of_cache = [
        ("sync", options.issue.sync != OpenSync::None),
        ("pre_read", options.making.pre_read),
        ("write_hint", options.files.write_hint != WriteHint::Unset),
        ("ioscheduler", options.files.scheduler.is_some()),
        ("sync_file_range", options.durability.sync_file_range.every > 0),
        ("end_syncfs", options.durability.syncfs_at_end),
        ("zonemode", options.zones.mode == ZoneMode::Zbd && is_scsi),
    ];
    for (option, _) in of_cache.into_iter().filter(|(_, is_set)| *is_set) {
        let why = "commands go to the device past the page cache and the block layer";
        diagnostics.refuse(from, option, why);
    }
}

/// Several ranges are of trims alone, and of commands that have a list of them.
fn trim_ranges(from: &Instance<'_>, blocks: &Blocks, diagnostics: &mut Diagnostics) {
    if from.options.blocks.trim_ranges < 2 {
        return;
    }
    let rw = from.options.rw.direction;
    if !rw.trims() {
        let why = format!("rw={} has no trims", rw.word());
        return diagnostics.note(from, "num_range", "nothing", &why);
    }
    if !matches!(blocks.engine, Engine::UringCmd(_)) {
        diagnostics.refuse(from, "num_range", "only commands of io_uring_cmd have several ranges");
    } else if rw.reads() || rw.writes() {
        diagnostics.refuse(from, "num_range", "reads and writes have one range each");
    }
}

/// Refuses protection information of io_uring, which only commands support.
fn protected_reads(from: &Instance<'_>, diagnostics: &mut Diagnostics) {
    let (given, usual) = (from.options.engine.protection, Protection::DEFAULT);
    let set = [
        ("md_per_io_size", from.options.engine.metadata_bytes > 0),
        ("pi_act", given.made_by_host),
        ("pi_chk", given.checks()),
        ("apptag", given.tag != usual.tag),
        ("apptag_mask", given.tag_mask != usual.tag_mask),
    ];
    for (option, _) in set.into_iter().filter(|(_, is_set)| *is_set) {
        diagnostics.refuse(from, option, "only io_uring_cmd names protection information");
    }
}

fn uring_cmd(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> UringCmd {
    let given = &from.options.engine;
    let of_calls = [
        ("nowait", given.nowait),
        ("uncached", given.uncached),
        ("cmdprio_percentage", given.priorities.percent.iter().any(|(_, percent)| *percent > 0)),
        ("cmdprio_bssplit", given.priorities.splits.iter().any(|(_, splits)| !splits.is_empty())),
        ("nonvectored", given.nonvectored == Some(0)),
    ];
    for (option, _) in of_calls.into_iter().filter(|(_, is_set)| *is_set) {
        diagnostics.refuse(from, option, "an NVMe command has no such flag");
    }
    if from.options.verify.method != Method::None && given.nvme_write != NvmeWrite::Write {
        diagnostics.refuse(from, "verify", "what this write_mode leaves cannot be read back");
    }
    let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    UringCmd {
        fua_reads: given.fua_reads,
        fua_writes: given.fua_writes,
        trim_ranges: small(from.options.blocks.trim_ranges.max(1)),
        write: match given.nvme_write {
            NvmeWrite::Write => blocks::NvmeWrite::Write,
            NvmeWrite::Uncorrectable => blocks::NvmeWrite::Uncorrectable,
            NvmeWrite::Zeroes => blocks::NvmeWrite::Zeroes,
            NvmeWrite::Verify => blocks::NvmeWrite::Verify,
        },
        // Other commands have another meaning for that bit.
        deallocate: given.deallocates && given.nvme_write == NvmeWrite::Zeroes,
        protection: given.protection,
        metadata_bytes: Some(Bytes(given.metadata_bytes)).filter(|bytes| bytes.0 > 0),
        ..UringCmd::DEFAULT
    }
    .with_ring(super::uring(given).ring())
}

fn sg(from: &Instance<'_>, diagnostics: &mut Diagnostics) -> Sg {
    let given = &from.options.engine;
    let write = match given.sg_write {
        SgWrite::Write => ScsiWrite::Write,
        SgWrite::WriteAndVerify => ScsiWrite::WriteAndVerify,
        SgWrite::WriteSame => ScsiWrite::WriteSame,
        SgWrite::WriteSameNdob => ScsiWrite::WriteSameWithoutData,
        SgWrite::WriteStream => ScsiWrite::Stream,
        SgWrite::Verify00 => ScsiWrite::Verify,
        SgWrite::Verify01 => ScsiWrite::VerifyData,
        SgWrite::Verify11 => ScsiWrite::VerifySame,
    };
    if from.options.verify.method != Method::None && !write.stores() {
        diagnostics.refuse(from, "verify", "what this sg_write_mode leaves cannot be read back");
    }
    // Commands that verify have another meaning for that bit.
    let fua_writes = given.fua_writes && write.has_fua();
    let stream = if write == ScsiWrite::Stream { given.stream } else { 0 };
    if from.options.issue.depth > 1 {
        let did = "one command at a time";
        diagnostics.note(from, "iodepth", did, "each is waited for, whatever the depth");
    }
    Sg { fua_reads: given.fua_reads, fua_writes, hipri: given.hipri, write, stream }
}
