//! Options of single engines.

use candor_plan::blocks::Protection;
use candor_plan::units::PerDirection;

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, word};
use crate::values::TimeUnit::Micros;
use crate::values::{self, Units};
use candor_front::{Choice, Refused, bare, choices, choose, row};

choices! {
    /// `cpumode`.
    pub enum CpuMode {
        #[default]
        Noop = "an empty loop": "noop",
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

/// Options of single engines.
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
    /// `nonvectored`; `None` leaves the choice to the kernel's features.
    pub nonvectored: Option<u64>,
    /// `force_async`: every Nth operation; 0 is never.
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
    /// `md_per_io_size`; 0 is the required size.
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
    /// `cmdprio_class`, as a number.
    pub class: PerDirection<u64>,
    /// `cmdprio`.
    pub level: PerDirection<u64>,
    /// `cmdprio_hint`.
    pub hint: PerDirection<u64>,
    /// `cmdprio_bssplit`.
    pub splits: PerDirection<Vec<PrioritySplit>>,
}

/// Priority of operations of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrioritySplit {
    /// Size in bytes.
    pub size: u64,
    /// Percent of operations.
    pub percent: u64,
    /// Class, if not the general one.
    pub class: Option<u64>,
    /// Level, if not the general one.
    pub level: Option<u64>,
}

const URING: &[&str] = &["io_uring", "io_uring_cmd"];
const PRIORITIES: &[&str] = &["io_uring", "libaio", "io_uring_cmd"];
const PROTECTED: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const MODE: &str = "blocks are read by plain reads, and compared by the host";
const SCSI: &str = "io_uring carries NVMe commands only; sg sends SCSI commands";

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    row("hipri", Kind::Flag, |s, v| s.engine.hipri = v.bool(), "poll for completions")
        .of(&["pvsync2", "io_uring", "io_uring_cmd", "sg", "libblkio", "xnvme"])
        .exact(
            "blocks.engine.pvsync.hipri, blocks.engine.io_uring.iopoll, blocks.engine.sg.hipri",
            "1",
        ),
    row("hipri_percentage", Kind::Int(0, 100), |s, v| s.engine.hipri_percent = v.int(),
        "percent of polled operations")
        .of(&["pvsync2"]).default("100").exact("blocks.engine.pvsync.hipri_percent", "50"),
    row("uncached", Kind::Int(0, 1), |s, v| s.engine.uncached = v.int() == 1,
        "drop data from the cache after I/O (RWF_DONTCACHE)")
        .of(&["pvsync2", "io_uring", "io_uring_cmd"]).default("0")
        .exact("blocks.engine.io_uring.flags.dontcache", "1"),
    row("nowait", Kind::Bool, |s, v| s.engine.nowait = v.bool(),
        "fail instead of waiting (RWF_NOWAIT)")
        .of(&["pvsync2", "libaio", "io_uring", "io_uring_cmd"]).default("0")
        .exact("blocks.engine.io_uring.flags.nowait", "1"),
    row("atomic", Kind::Bool, |s, v| s.engine.atomic = v.bool(),
        "atomic writes (RWF_ATOMIC)")
        .of(&["pvsync2", "libaio", "io_uring"]).default("0")
        .exact("blocks.engine.io_uring.flags.atomic", "1"),
    bare("userspace_reap", Kind::Flag, "reap completions without a system call")
        .of(&["libaio"]).idle("1", "candor always takes them so where the kernel lets it"),
    row("libaio_vectored", Kind::Bool, |s, v| s.engine.vectored = v.bool(), "vectored calls")
        .of(&["libaio"]).default("0").exact("blocks.engine.libaio.vectored", "1"),
    row("cmdprio_percentage", Kind::Ints(0, 100), |s, v| v.ints(&mut s.engine.priorities.percent),
        "percent of operations with cmdprio")
        .of(PRIORITIES).default("0").exact("blocks.priorities", "20"),
    row("cmdprio_class", Kind::Ints(0, 3), |s, v| v.ints(&mut s.engine.priorities.class),
        "class of cmdprio")
        .of(PRIORITIES).default("1").exact("blocks.priorities", "2"),
    row("cmdprio_hint", Kind::Ints(0, 1023), |s, v| v.ints(&mut s.engine.priorities.hint),
        "hint of cmdprio")
        .of(PRIORITIES).exact("blocks.priorities", "1"),
    row("cmdprio", Kind::Ints(0, 7), |s, v| v.ints(&mut s.engine.priorities.level),
        "priority of these operations")
        .of(PRIORITIES).exact("blocks.priorities", "1"),
    bare("cmdprio_bssplit", Kind::Own("SIZE/PERCENT[/CLASS/LEVEL][:…]", &[], priority_split),
        "priorities by block size")
        .of(PRIORITIES).exact("blocks.priorities", "4k/50"),
    row("fixedbufs", Kind::Flag, |s, v| s.engine.fixed_buffers = v.bool(),
        "register buffers with the ring")
        .of(URING).exact("blocks.engine.io_uring.fixed_buffers", "1"),
    row("registerfiles", Kind::Flag, |s, v| s.engine.fixed_files = v.bool(),
        "register files with the ring")
        .of(URING).exact("blocks.engine.io_uring.fixed_files", "1"),
    row("sqthread_poll", Kind::Flag, |s, v| s.engine.sqpoll = v.bool(),
        "submit by a kernel thread (SQPOLL)")
        .of(&["io_uring", "io_uring_cmd", "xnvme"]).exact("blocks.engine.io_uring.sqpoll", "1"),
    row(
        "sqthread_poll_cpu",
        Kind::Int(0, MANY),
        |s, v| {
            s.engine.sqpoll_cpu = Some(v.int());
            s.engine.sqpoll = true;
        },
        "CPU of the SQPOLL thread",
    )
    .of(URING)
    .exact("blocks.engine.io_uring.sqpoll_cpu", "0"),
    row("nonvectored", Kind::Int(0, 1), |s, v| s.engine.nonvectored = Some(v.int()),
        "use read and write instead of readv and writev")
        .of(URING).exact("blocks.engine.io_uring.vectored", "0"),
    row("force_async", Kind::Int(0, MANY), |s, v| s.engine.force_async = v.int(),
        "run every Nth operation in a kernel thread")
        .of(URING).default("0").exact("blocks.engine.io_uring.force_async_every", "4"),
    bare("thp", Kind::Bool, "use huge pages for the mapping")
        .of(&["mmap"]).default("0")
        .refused("1", "huge pages in the mapping of a file are not built yet"),
    bare("cmd_type", Kind::Text, "kind of command")
        .of(&["io_uring_cmd"]).default("nvme").refused("other", SCSI),
    row("write_mode", Kind::Choice(NvmeWrite::CHOICES),
        |s, v| s.engine.nvme_write = v.of(NvmeWrite::ALL), "NVMe command that writes")
        .of(&["io_uring_cmd"]).default("write").exact("blocks.engine.io_uring_cmd.write", "zeroes"),
    bare("read_mode", Kind::Text, "command that reads")
        .of(&["io_uring_cmd"]).default("read").refused("verify", MODE),
    bare("verify_mode", Kind::Text, "command that verifies")
        .of(&["io_uring_cmd"]).default("read").refused("compare", MODE),
    bare("verify_bytchk", Kind::Int(0, 3), "comparison of a verify command")
        .of(&["io_uring_cmd"]).refused("1", SCSI),
    bare("cdb_len", Kind::Int(0, 32), "length of a SCSI command")
        .of(&["io_uring_cmd"]).refused("16", SCSI),
    row("deac", Kind::Bool, |s, v| s.engine.deallocates = v.bool(),
        "also deallocate blocks written with zeros")
        .of(&["io_uring_cmd"]).default("0")
        .exact("blocks.engine.io_uring_cmd.deallocate", "1"),
    row("md_per_io_size", Kind::Size(0), |s, v| s.engine.metadata_bytes = v.int(),
        "bytes of separate metadata per operation")
        .of(PROTECTED).default("0").exact("blocks.engine.io_uring_cmd.metadata_bytes", "64"),
    row("pi_act", Kind::Bool, |s, v| s.engine.protection.made_by_host = !v.bool(),
        "let the controller insert and strip protection information")
        .of(PROTECTED).default("1")
        .exact("blocks.engine.io_uring_cmd.protection.made_by_host", "0"),
    bare("pi_chk", Kind::Own("GUARD|REFTAG|APPTAG[,…]", PROTECTION, protection),
        "protection information to check")
        .of(PROTECTED).exact("blocks.engine.io_uring_cmd.protection", "GUARD"),
    row("apptag", Kind::Int(0, 65535), |s, v| s.engine.protection.tag = v.int() as u16,
        "application tag of protection information")
        .of(PROTECTED).default("4660").exact("blocks.engine.io_uring_cmd.protection.tag", "1"),
    row("apptag_mask", Kind::Int(0, 65535), |s, v| s.engine.protection.tag_mask = v.int() as u16,
        "bits of apptag to check")
        .of(PROTECTED).default("65535")
        .exact("blocks.engine.io_uring_cmd.protection.tag_mask", "1"),
    row("readfua", Kind::Bool, |s, v| s.engine.fua_reads = v.bool(), "force unit access for reads")
        .of(&["io_uring_cmd", "sg"]).default("0")
        .exact("blocks.engine.io_uring_cmd.fua_reads, blocks.engine.sg.fua_reads", "1"),
    row("writefua", Kind::Bool, |s, v| s.engine.fua_writes = v.bool(),
        "force unit access for writes")
        .of(&["io_uring_cmd", "sg"]).default("0")
        .exact("blocks.engine.io_uring_cmd.fua_writes, blocks.engine.sg.fua_writes", "1"),
    row("sg_write_mode", Kind::Choice(SgWrite::CHOICES),
        |s, v| s.engine.sg_write = v.of(SgWrite::ALL), "SCSI command that writes")
        .of(&["sg"]).default("write").exact("blocks.engine.sg.write", "write_and_verify"),
    row("stream_id", Kind::Int(0, 65535), |s, v| s.engine.stream = v.int() as u16,
        "stream of sg_write_mode=write_stream; 0 opens one")
        .of(&["sg"]).default("0").exact("blocks.engine.sg.stream", "1"),
];

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Row] = &[
    row("cpuload", Kind::Int(0, 100), |s, v| s.engine.cpu_load = v.int(),
        "percent of a CPU to use")
        .of(&["cpuio"]).exact("blocks.pace.think", "50"),
    row("cpuchunks", Kind::Time(Micros), |s, v| s.engine.cpu_chunks_us = v.time().0 / 1000,
        "length of one busy phase")
        .of(&["cpuio"]).under("cpuload").default("50000").exact("burn.chunk", "1ms"),
    row("cpumode", Kind::Choice(CpuMode::CHOICES), |s, v| s.engine.cpu_mode = v.of(CpuMode::ALL),
        "work of the busy phase")
        .of(&["cpuio"]).under("cpuload").default("noop").exact("burn.sort", "qsort"),
    bare("exit_on_io_done", Kind::Bool, "end after all I/O jobs")
        .of(&["cpuio"]).default("0")
        .idle("1", "such a job always ends with the others, as with fio"),
    row("stat_type", Kind::Choice(StatType::CHOICES), |s, v| s.engine.stat = v.of(StatType::ALL),
        "system call that looks up a file")
        .of(&["filestat", "dirstat"]).default("stat").exact("entries.steps", "statx"),
    row("program", Kind::Text, |s, v| s.engine.program = Some(v.text()),
        "program to run, found along PATH")
        .of(&["exec"]).exact("program.command", "false"),
    row("arguments", Kind::Text, |s, v| s.engine.arguments = Some(v.text()),
        "arguments of program; %r is the runtime in seconds, %n the job's name")
        .of(&["exec"]).exact("program.command", "x"),
    row("grace_time", Kind::Int(0, MANY), |s, v| s.engine.grace_s = v.int(),
        "seconds between SIGTERM and SIGKILL")
        .of(&["exec"]).default("1").exact("program.grace", "2"),
    row("std_redirect", Kind::Bool, |s, v| s.engine.redirect = v.bool(),
        "write output to NAME.stdout and NAME.stderr")
        .of(&["exec"]).default("1").exact("program.output", "0"),
];

/// Choices of `pi_chk`.
const PROTECTION: &[Choice] = &[
    word("GUARD", "the checksum"),
    word("REFTAG", "the reference tag"),
    word("APPTAG", "the application tag"),
];

fn protection(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let checked = &mut s.engine.protection;
    for name in text.split(',') {
        match choose(name.trim(), PROTECTION)? {
            0 => checked.check_guard = true,
            1 => checked.check_reference = true,
            _ => checked.check_tag = true,
        }
    }
    Ok(None)
}

/// `4k/20:8k/50/2/3`, per direction; class and level default to the general ones.
fn priority_split(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let directions: Vec<&str> = text.split(',').collect();
    if directions.len() > 3 {
        let message = format!("`{text}` has {} directions", directions.len());
        return Err(Refused::whole(text, message, "give values of reads and of writes"));
    }
    let lists = directions.iter().map(|list| {
        let parts = list.split(':').filter(|part| !part.trim().is_empty());
        parts.map(|part| priority_share(part.trim(), units)).collect::<Result<Vec<_>, _>>()
    });
    let lists = lists.collect::<Result<Vec<_>, _>>()?;
    let (Some(first), Some(last)) = (lists.first(), lists.get(1).or(lists.first())) else {
        return Ok(None);
    };
    s.engine.priorities.splits.read = first.clone();
    s.engine.priorities.splits.write = last.clone();
    Ok(None)
}

fn priority_share(text: &str, units: Units) -> Result<PrioritySplit, Refused> {
    let wrong = |message: String| {
        Refused::whole(text, message, "write SIZE/PERCENT or SIZE/PERCENT/CLASS/LEVEL")
    };
    let words: Vec<&str> = text.split('/').collect();
    let number = |word: &str, max: u64| {
        let read = word.trim().parse().ok().filter(|number| *number <= max);
        read.ok_or_else(|| wrong(format!("`{word}` is not a number from 0 to {max}")))
    };
    let size = values::bytes(words[0].trim(), units)?.value;
    let (percent, own) = match words[..] {
        [_, percent] => (percent, None),
        [_, percent, class, level] => (percent, Some((number(class, 3)?, number(level, 7)?))),
        _ => return Err(wrong(format!("`{text}` has {} parts", words.len()))),
    };
    let percent = number(percent, 100)?;
    let (class, level) = own.unzip();
    Ok(PrioritySplit { size, percent, class, level })
}
