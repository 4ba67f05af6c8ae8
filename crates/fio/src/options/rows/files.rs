//! Files: their names, how they are made, opened, closed and removed.

use crate::job_options::{Advice, Fallocate, FileType, JobOptions, Lock, Service, WriteHint};
use crate::options::kind::{Kind, Row};
use crate::options::own;
use candor_front::{bare, row};

const MANY: u64 = u32::MAX as u64;

/// A clone has more than one file, so that one of them must be chosen.
fn several(s: &JobOptions) -> bool {
    s.files.number > 1 || s.files.names.len() > 1 || s.files.opendir.is_some()
}

#[rustfmt::skip]
pub(in crate::options) const ROWS: &[Row] = &[
    bare("filename", Kind::Own("PATH[:PATH…]", &[], own::filename),
        "files or devices, with colons between; a colon in a name is written \\:")
        .exact("target.path", "/tmp/candor-a"),
    bare("directory", Kind::Own("PATH[:PATH…]", &[], own::directory),
        "directories for files that are named by jobs; clones take them in turns")
        .exact("target.path", "/tmp"),
    row("filename_format", Kind::Text, |s, v| s.files.format = v.text(),
        "names of files, of $jobname, $jobnum, $filenum and $clientuid")
        .default("$jobname.$jobnum.$filenum").exact("target.path", "f.$jobnum.$filenum"),
    row("unique_filename", Kind::Bool, |s, v| s.files.unique = v.bool(),
        "clients of a server get unique names")
        .default("1").idle("0", "it counts where --client sends the jobs; here names are the same"),
    row("opendir", Kind::Text, |s, v| s.files.opendir = Some(v.text()),
        "all files below this directory, in addition to named files")
        .exact("target.path", "/tmp"),
    row("lockfile", Kind::Choice(Lock::CHOICES), |s, v| s.files.lock = v.of(Lock::ALL),
        "lock a file while it is read or written")
        .under("filename").default("none").exact("blocks.lock", "exclusive"),
    row("filetype", Kind::Choice(FileType::CHOICES), |s, v| s.files.kind = v.of(FileType::ALL),
        "kind of the paths")
        .default("none").exact("target.kind", "block"),
    row("nrfiles", Kind::Int(0, MANY), |s, v| s.files.number = v.int(),
        "number of files of a clone, which share its size")
        .alias(&["nr_files"]).default("1").exact("target", "3"),
    row("openfiles", Kind::Int(0, MANY), |s, v| s.files.open = Some(v.int()),
        "files that are open at a time, at most")
        .near("blocks.rotation", "2",
            "as many take part at a time; all of them are open while the job runs"),
    bare(
        "file_service_type",
        Kind::Own("RULE[:NUMBER]", Service::CHOICES, own::service),
        "which file comes next",
    )
    .under("nrfiles")
    .default("roundrobin")
    .when(several)
    .exact("blocks.rotation", "sequential"),
    row("ioscheduler", Kind::Text, |s, v| s.files.scheduler = Some(v.text()),
        "switch the device to this scheduler while the job runs")
        .near("target.scheduler", "none",
            "the device gets its scheduler back when the jobs have ended"),
    bare("filesize", Kind::Own("SIZE or SIZE-SIZE", &[], own::filesize),
        "size of each file; of a range, each draws its own")
        .exact("target.size", "512k"),
    row("file_append", Kind::Bool, |s, v| s.files.append = v.bool(),
        "begin after the end of each file")
        .default("0").exact("target.append", "1"),
    row("fadvise_hint", Kind::Choice(Advice::CHOICES), |s, v| s.files.advice = v.of(Advice::ALL),
        "advice to the kernel about the order of offsets")
        .default("1").exact("blocks.hints.advice", "noreuse"),
    row("write_hint", Kind::Choice(WriteHint::CHOICES),
        |s, v| s.files.write_hint = v.of(WriteHint::ALL),
        "how long written data is expected to live")
        .exact("blocks.hints.write_life", "short"),
];

#[rustfmt::skip]
pub(in crate::options) const MAKING: &[Row] = &[
    row("fallocate", Kind::Choice(Fallocate::CHOICES),
        |s, v| s.making.fallocate = v.of(Fallocate::ALL), "how space is set aside for files")
        .default("native").exact("target.layout", "none"),
    bare("create_serialize", Kind::Bool, "jobs make their files one after another")
        .default("1").idle("0", "files are made before any job starts, one after another"),
    bare("create_fsync", Kind::Bool, "files are flushed when they are made")
        .default("1").near("target.layout", "0", "files that are laid out are always flushed"),
    row("create_on_open", Kind::Bool, |s, v| s.making.on_open = v.bool(),
        "files are made when the job opens them, not laid out before")
        .default("0").exact("target.layout", "1"),
    row("create_only", Kind::Bool, |s, v| s.making.only = v.bool(),
        "make the files and do nothing else")
        .default("0").exact("job.prepare_only", "1"),
    row("allow_file_create", Kind::Bool, |s, v| s.making.allowed = v.bool(),
        "files that are missing are made")
        .default("1").exact("target.layout", "0"),
    row("allow_mounted_write", Kind::Bool, |s, v| s.making.mounted_write = v.bool(),
        "devices are written to although they are mounted")
        .default("0").exact("run: force", "1"),
    row("pre_read", Kind::Bool, |s, v| s.making.pre_read = v.bool(),
        "read the files once before the job, so that they are in the cache")
        .default("0").exact("blocks.hints.pre_read", "1"),
    row("overwrite", Kind::Bool, |s, v| s.making.overwrite = v.bool(),
        "lay files out before they are written")
        .default("0").exact("target.layout", "1"),
    row("unlink", Kind::Bool, |s, v| s.making.unlink = v.bool(),
        "remove the files when the job has ended")
        .default("0").exact("target.remove", "1"),
    bare("unlink_each_loop", Kind::Bool, "remove the files after each loop but the last")
        .default("0").when(|s| s.runtime.loops > 1)
        .near("target.layout", "1", "from loop to loop files stay and are written over"),
];

#[rustfmt::skip]
pub(in crate::options) const DURABILITY: &[Row] = &[
    row("fsync", Kind::Int(0, MANY), |s, v| s.durability.fsync = v.int(),
        "fsync after N writes")
        .default("0").exact("blocks.durability.fsync_every", "32"),
    row("fdatasync", Kind::Int(0, MANY), |s, v| s.durability.fdatasync = v.int(),
        "fdatasync after N writes")
        .default("0").exact("blocks.durability.fdatasync_every", "32"),
    bare("write_barrier", Kind::Int(0, MANY), "every Nth write is a barrier")
        .default("0").idle("8", "fio marks such writes, and none of its engines passes the mark to \
                                 the kernel"),
    bare(
        "sync_file_range",
        Kind::Own(
            "[wait_before][,write][,wait_after][:N]",
            own::SYNC_FILE_RANGE,
            own::sync_file_range,
        ),
        "sync_file_range over written ranges, after N writes",
    )
    .exact("blocks.durability.range", "write:8"),
    row("end_fsync", Kind::Bool, |s, v| s.durability.at_end = v.bool(),
        "fsync at the end, within the job's time")
        .default("0").exact("blocks.durability.fsync_at_end", "1"),
    row("end_syncfs", Kind::Bool, |s, v| s.durability.syncfs_at_end = v.bool(),
        "syncfs at the end, within the job's time")
        .default("0").exact("blocks.durability.syncfs_at_end", "1"),
    row("fsync_on_close", Kind::Bool, |s, v| s.durability.on_close = v.bool(),
        "fsync when a file is closed")
        .default("0").near("blocks.durability.fsync_at_end", "1",
            "the flush is counted in the job's time, as with end_fsync"),
];
