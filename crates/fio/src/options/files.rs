//! Files: names, creation, opening, closing and removal.

use super::JobOptions;
use super::kind::{Kind, MANY, Row};
use super::own::{Done, bounded, head, some_paths, word};
use crate::values::{self, Units};
use candor_front::{Choice, Refused, bare, choices, choose, row};

choices! {
    /// `fallocate`: how space is allocated for a file.
    pub enum Fallocate {
        None = "no allocation": "none" | "0",
        #[default]
        Native = "best method of the platform": "native",
        Posix = "posix_fallocate": "posix" | "1",
        Keep = "fallocate without a change of size": "keep",
        Truncate = "set the size, allocate no space": "truncate",
    }
}

choices! {
    /// `fadvise_hint`.
    pub enum Advice {
        None = "no advice": "0",
        #[default]
        ByPattern = "advice by the order of the job's offsets": "1",
        Random = "POSIX_FADV_RANDOM": "random",
        Sequential = "POSIX_FADV_SEQUENTIAL": "sequential",
        Noreuse = "POSIX_FADV_NOREUSE": "noreuse",
    }
}

choices! {
    /// `lockfile`.
    pub enum Lock {
        #[default]
        None = "no lock": "none",
        Exclusive = "one operation at a time": "exclusive",
        ReadWrite = "many reads, or one write": "readwrite",
    }
}

choices! {
    /// `filetype`.
    pub enum FileType {
        #[default]
        Found = "type of the existing path": "none",
        File = "regular files": "file",
        Block = "block devices": "block",
        Char = "character devices": "char",
    }
}

choices! {
    /// `file_service_type`, without its numbers.
    pub enum Service {
        Random = "uniformly random files": "random",
        Zipf = "files by a zipf distribution": "zipf",
        Pareto = "files by a pareto distribution": "pareto",
        Normal = "files by a normal distribution": "normal" | "gauss",
        #[default]
        RoundRobin = "next file for each operation": "roundrobin",
        Sequential = "next file at the end of a file": "sequential",
    }
}

/// Choice of the next file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileService {
    /// Rule.
    pub rule: Service,
    /// Parameter of zipf, pareto or normal.
    pub parameter: Option<f64>,
    /// Operations per file before the next file.
    pub every: Option<u64>,
}

/// `sync_file_range`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// `SYNC_FILE_RANGE_WAIT_BEFORE`.
    pub wait_before: bool,
    /// `SYNC_FILE_RANGE_WRITE`.
    pub write: bool,
    /// `SYNC_FILE_RANGE_WAIT_AFTER`.
    pub wait_after: bool,
    /// Sync after N writes; 0 is never.
    pub every: u64,
}

/// A file of `filename`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFile {
    /// Name as written.
    pub name: String,
    /// First `directory` when `filename` was read; a later `directory` does not apply to the
    /// file.
    pub beneath: Option<String>,
}

/// Names and use of files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    /// `filename`, split at its colons: first the defaults', then the section's.
    pub names: Vec<NamedFile>,
    /// `directory`, split at its colons.
    pub directories: Vec<String>,
    /// `filename_format`.
    pub format: String,
    /// `unique_filename`.
    pub unique: bool,
    /// `opendir`.
    pub opendir: Option<String>,
    /// `nrfiles`.
    pub number: u64,
    /// `openfiles`.
    pub open: Option<u64>,
    /// `file_service_type`.
    pub service: FileService,
    /// `filesize`: minimum and maximum.
    pub size: Option<(u64, u64)>,
    /// `file_append`.
    pub append: bool,
    /// `filetype`.
    pub kind: FileType,
    /// `lockfile`.
    pub lock: Lock,
    /// `fadvise_hint`.
    pub advice: Advice,
    /// `write_hint`, as written.
    pub write_hint: WriteHint,
    /// `ioscheduler`.
    pub scheduler: Option<String>,
}

/// Default of `filename_format`.
pub const FORMAT: &str = "$jobname.$jobnum.$filenum";

choices! {
    /// `write_hint`: expected lifetime of written data.
    pub enum WriteHint {
        #[default]
        Unset = "no hint is given": "",
        None = "explicit no hint": "none",
        Short = "short": "short",
        Medium = "medium": "medium",
        Long = "long": "long",
        Extreme = "extreme": "extreme",
    }
}

/// Creation and removal of files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Making {
    /// `fallocate`.
    pub fallocate: Fallocate,
    /// `create_on_open`.
    pub on_open: bool,
    /// `create_only`.
    pub only: bool,
    /// `allow_file_create`.
    pub allowed: bool,
    /// `allow_mounted_write`.
    pub mounted_write: bool,
    /// `overwrite`.
    pub overwrite: bool,
    /// `pre_read`.
    pub pre_read: bool,
    /// `unlink`.
    pub unlink: bool,
}

/// Durability of writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durability {
    /// `fsync` after N writes; 0 is never.
    pub fsync: u64,
    /// `fdatasync` after N writes; 0 is never.
    pub fdatasync: u64,
    /// `sync_file_range`.
    pub sync_file_range: SyncFileRange,
    /// `end_fsync`.
    pub at_end: bool,
    /// `end_syncfs`.
    pub syncfs_at_end: bool,
    /// `fsync_on_close`.
    pub on_close: bool,
}

/// True if a clone has several files to choose from.
fn several(s: &JobOptions) -> bool {
    s.files.number > 1 || s.files.names.len() > 1 || s.files.opendir.is_some()
}

#[rustfmt::skip]
pub(super) const ROWS: &[Row] = &[
    bare("filename", Kind::Own("PATH[:PATH…]", &[], filename),
        "files or devices, separated by colons; write a colon as \\:")
        .exact("target.path", "/tmp/candor-a"),
    bare("directory", Kind::Own("PATH[:PATH…]", &[], directory),
        "directories of files; clones use them in turns")
        .exact("target.path", "/tmp"),
    row("filename_format", Kind::Text, |s, v| s.files.format = v.text(),
        "file names from $jobname, $jobnum, $filenum and $clientuid")
        .default(FORMAT).exact("target.path", "f.$jobnum.$filenum"),
    row("unique_filename", Kind::Bool, |s, v| s.files.unique = v.bool(),
        "use unique names per client")
        .default("1").idle("0", "it counts where --client sends the jobs; here names are the same"),
    row("opendir", Kind::Text, |s, v| s.files.opendir = Some(v.text()),
        "add all files below this directory")
        .exact("target.path", "/tmp"),
    row("lockfile", Kind::Choice(Lock::CHOICES), |s, v| s.files.lock = v.of(Lock::ALL),
        "lock files during I/O")
        .under("filename").default("none").exact("blocks.lock", "exclusive"),
    row("filetype", Kind::Choice(FileType::CHOICES), |s, v| s.files.kind = v.of(FileType::ALL),
        "type of the paths")
        .default("none").exact("target.kind", "block"),
    row("nrfiles", Kind::Int(0, MANY), |s, v| s.files.number = v.int(),
        "number of files per clone")
        .alias(&["nr_files"]).default("1").exact("target", "3"),
    row("openfiles", Kind::Int(0, MANY), |s, v| s.files.open = Some(v.int()),
        "maximum of open files")
        .near("blocks.rotation", "2",
            "as many take part at a time; all of them are open while the job runs"),
    bare(
        "file_service_type",
        Kind::Own("RULE[:NUMBER]", Service::CHOICES, service),
        "choice of the next file",
    )
    .under("nrfiles")
    .default("roundrobin")
    .when(several)
    .exact("blocks.rotation", "sequential"),
    row("ioscheduler", Kind::Text, |s, v| s.files.scheduler = Some(v.text()),
        "I/O scheduler of the device during the job")
        .near("target.scheduler", "none",
            "the device gets its scheduler back when the jobs have ended"),
    bare("filesize", Kind::Own("SIZE or SIZE-SIZE", &[], filesize),
        "size of each file, or a range to draw from")
        .exact("target.size", "512k"),
    row("file_append", Kind::Bool, |s, v| s.files.append = v.bool(),
        "append to each file")
        .default("0").exact("target.append", "1"),
    row("fadvise_hint", Kind::Choice(Advice::CHOICES), |s, v| s.files.advice = v.of(Advice::ALL),
        "fadvise hint for the order of offsets")
        .default("1").exact("blocks.hints.advice", "noreuse"),
    row("write_hint", Kind::Choice(WriteHint::CHOICES),
        |s, v| s.files.write_hint = v.of(WriteHint::ALL),
        "expected lifetime of written data")
        .exact("blocks.hints.write_life", "short"),
];

#[rustfmt::skip]
pub(super) const MAKING: &[Row] = &[
    row("fallocate", Kind::Choice(Fallocate::CHOICES),
        |s, v| s.making.fallocate = v.of(Fallocate::ALL), "method to allocate space for files")
        .default("native").exact("target.layout", "none"),
    bare("create_serialize", Kind::Bool, "create files of jobs one after another")
        .default("1").idle("0", "files are made before any job starts, one after another"),
    bare("create_fsync", Kind::Bool, "fsync files after creation")
        .default("1").near("target.layout", "0", "files that are laid out are always flushed"),
    row("create_on_open", Kind::Bool, |s, v| s.making.on_open = v.bool(),
        "create files when the job opens them")
        .default("0").exact("target.layout", "1"),
    row("create_only", Kind::Bool, |s, v| s.making.only = v.bool(),
        "create files and skip the I/O")
        .default("0").exact("job.prepare_only", "1"),
    row("allow_file_create", Kind::Bool, |s, v| s.making.allowed = v.bool(),
        "create missing files")
        .default("1").exact("target.layout", "0"),
    row("allow_mounted_write", Kind::Bool, |s, v| s.making.mounted_write = v.bool(),
        "allow writes to mounted devices")
        .default("0").exact("run: force", "1"),
    row("pre_read", Kind::Bool, |s, v| s.making.pre_read = v.bool(),
        "load files into the cache before the job")
        .default("0").exact("blocks.hints.pre_read", "1"),
    row("overwrite", Kind::Bool, |s, v| s.making.overwrite = v.bool(),
        "lay out files before they are written")
        .default("0").exact("target.layout", "1"),
    row("unlink", Kind::Bool, |s, v| s.making.unlink = v.bool(),
        "remove files after the job")
        .default("0").exact("target.remove", "1"),
    bare("unlink_each_loop", Kind::Bool, "remove files after each loop but the last")
        .default("0").when(|s| s.runtime.loops > 1)
        .near("target.layout", "1", "from loop to loop files stay and are written over"),
];

#[rustfmt::skip]
pub(super) const DURABILITY: &[Row] = &[
    row("fsync", Kind::Int(0, MANY), |s, v| s.durability.fsync = v.int(),
        "fsync after N writes")
        .default("0").exact("blocks.durability.fsync_every", "32"),
    row("fdatasync", Kind::Int(0, MANY), |s, v| s.durability.fdatasync = v.int(),
        "fdatasync after N writes")
        .default("0").exact("blocks.durability.fdatasync_every", "32"),
    bare("write_barrier", Kind::Int(0, MANY), "make every Nth write a barrier")
        .default("0").idle("8", "fio marks such writes, and none of its engines passes the mark to \
                                 the kernel"),
    bare(
        "sync_file_range",
        Kind::Own(
            "[wait_before][,write][,wait_after][:N]",
            SYNC_FILE_RANGE,
            sync_file_range,
        ),
        "call sync_file_range on written ranges after N writes",
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

/// Choices of `sync_file_range`.
const SYNC_FILE_RANGE: &[Choice] = &[
    word("wait_before", "SYNC_FILE_RANGE_WAIT_BEFORE"),
    word("write", "SYNC_FILE_RANGE_WRITE"),
    word("wait_after", "SYNC_FILE_RANGE_WAIT_AFTER"),
];

/// Adds files: each `filename` appends to earlier ones, also of the section's defaults. A file
/// that is named twice counts twice.
fn filename(s: &mut JobOptions, text: &str, _: Units) -> Done {
    let beneath = s.files.directories.first().cloned();
    s.files.names.extend(
        some_paths(text)?.into_iter().map(|name| NamedFile { name, beneath: beneath.clone() }),
    );
    Ok(None)
}

fn directory(s: &mut JobOptions, text: &str, _: Units) -> Done {
    s.files.directories = some_paths(text)?;
    Ok(None)
}

fn service(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (name, rest) = head(text);
    let rest = rest.filter(|rest| !rest.trim().is_empty());
    let rule = Service::ALL[choose(name, Service::CHOICES)?];
    let mut service = FileService { rule, ..FileService::default() };
    match (rule, rest) {
        (_, None) => {}
        (Service::Zipf | Service::Pareto | Service::Normal, Some(rest)) => {
            let value = values::decimal(rest)?.value;
            let fits = match rule {
                Service::Zipf => value > 0.0 && value != 1.0,
                Service::Pareto => value > 0.0 && value < 1.0,
                _ => (0.0..100.0).contains(&value),
            };
            service.parameter = Some(bounded(text, value, fits, "within the rule's bounds")?);
        }
        (_, Some(rest)) => service.every = Some(values::bytes(rest, units)?.value),
    }
    s.files.service = service;
    Ok(None)
}

fn filesize(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let read = match values::bytes(text, units) {
        Ok(read) => read.map(|size| (size, size)),
        Err(_) if text.contains(['-', ':']) => values::range(text, units)?,
        Err(refused) => return Err(refused),
    };
    if read.value.0 == 0 {
        return Err(Refused::whole(text, "a file of 0 bytes", "give a size of 1 or more"));
    }
    s.files.size = Some(read.value);
    Ok(read.remark)
}

fn sync_file_range(s: &mut JobOptions, text: &str, units: Units) -> Done {
    let (words, every) = head(text);
    let mut range = SyncFileRange { every: 1, ..SyncFileRange::default() };
    for name in words.split(',') {
        match choose(name, SYNC_FILE_RANGE)? {
            0 => range.wait_before = true,
            1 => range.write = true,
            _ => range.wait_after = true,
        }
    }
    if let Some(every) = every {
        range.every = values::bytes(every, units)?.value;
    }
    s.durability.sync_file_range = range;
    Ok(None)
}
