//! Files: their names, how they are made, opened, closed and removed.

use candor_front::choices;

choices! {
    /// `fallocate`: how space is set aside for a file that is laid out.
    pub enum Fallocate {
        None = "no space is set aside": "none" | "0",
        #[default]
        Native = "as the platform does it best": "native",
        Posix = "posix_fallocate": "posix" | "1",
        Keep = "fallocate that keeps the size": "keep",
        Truncate = "the size is set, no space": "truncate",
    }
}

choices! {
    /// `fadvise_hint`.
    pub enum Advice {
        None = "no advice": "0",
        #[default]
        ByPattern = "after the order of the job's offsets": "1",
        Random = "POSIX_FADV_RANDOM": "random",
        Sequential = "POSIX_FADV_SEQUENTIAL": "sequential",
        Noreuse = "POSIX_FADV_NOREUSE": "noreuse",
    }
}

choices! {
    /// `lockfile`.
    pub enum Lock {
        #[default]
        None = "files are not locked": "none",
        Exclusive = "one operation at a time": "exclusive",
        ReadWrite = "many reads, or one write": "readwrite",
    }
}

choices! {
    /// `filetype`.
    pub enum FileType {
        #[default]
        Found = "what is found at the path": "none",
        File = "regular files": "file",
        Block = "block devices": "block",
        Char = "character devices": "char",
    }
}

choices! {
    /// `file_service_type`, without its numbers.
    pub enum Service {
        Random = "any file, all alike": "random",
        Zipf = "files by a zipf distribution": "zipf",
        Pareto = "files by a pareto distribution": "pareto",
        Normal = "files by a normal distribution": "normal" | "gauss",
        #[default]
        RoundRobin = "one file after the other, for each operation": "roundrobin",
        Sequential = "one file to its end, then the next": "sequential",
    }
}

/// The choice of the next file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileService {
    /// The rule.
    pub rule: Service,
    /// The parameter of zipf, pareto or normal.
    pub parameter: Option<f64>,
    /// So many operations on one file before the next.
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
    /// After so many writes; 0 is never.
    pub every: u64,
}

/// A file of `filename`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedFile {
    /// The name as written.
    pub name: String,
    /// The first directory of `directory` when `filename` was read: the file lies below it, and not
    /// below what `directory` says later.
    pub beneath: Option<String>,
}

/// Which files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    /// `filename`, taken apart at its colons: those of the defaults first, then the section's own.
    pub names: Vec<NamedFile>,
    /// `directory`, taken apart at its colons.
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
    /// `filesize`, from and to.
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

/// `filename_format` where none is given.
pub const FORMAT: &str = "$jobname.$jobnum.$filenum";

choices! {
    /// `write_hint`: how long what is written is expected to live.
    pub enum WriteHint {
        #[default]
        Unset = "no hint is given": "",
        None = "no hint, explicitly": "none",
        Short = "short": "short",
        Medium = "medium": "medium",
        Long = "long": "long",
        Extreme = "for ever": "extreme",
    }
}

/// Making and removing files.
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

/// When what is written is made durable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Durability {
    /// `fsync`: after so many writes; 0 is never.
    pub fsync: u64,
    /// `fdatasync`: after so many writes; 0 is never.
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
