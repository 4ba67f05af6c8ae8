//! `fwd=`: workloads on file systems.

use smart_default::SmartDefault;

use super::open_flags::{OpenFlags, open_flags};
use super::shared::{host_row, open_flags_row, percent, skew_row, threads};
use super::transfer::{TransferSize, transfer_size};
use super::{Defined, put, put_some};
use crate::kind::{Parameter, parameter, whole};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Row, Table, choices};

choices! {
    /// An operation on files or directories.
    pub enum FileOperation {
        #[default] Read = "read a file": "read",
        Write = "write a file": "write",
        Mkdir = "make a directory": "mkdir",
        Rmdir = "remove a directory": "rmdir",
        Create = "make a file and write it full": "create",
        Delete = "remove a file": "delete",
        Open = "open a file": "open",
        Close = "close a file": "close",
        Getattr = "read attributes": "getattr",
        Setattr = "set attributes": "setattr",
        Access = "check that a file may be accessed": "access",
        Copy = "copy a file": "copy",
        Move = "move a file": "move",
    }
}

impl FileOperation {
    /// Finds the operation of a name.
    ///
    /// # Errors
    /// The name is unknown; `text` is the whole value.
    pub fn read(text: &str, name: &str) -> Result<FileOperation, Refused> {
        let lower = name.to_ascii_lowercase();
        let at = Self::CHOICES.iter().position(|choice| choice.word == lower);
        let words: Vec<&str> = Self::CHOICES.iter().map(|choice| choice.word).collect();
        at.map(|at| Self::ALL[at]).ok_or_else(|| values::no_choice(text, name, &words))
    }
}

/// Order of offsets in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileIo {
    /// Random offsets; else sequential.
    pub random: bool,
    /// Several threads use a file at the same time.
    pub shared: bool,
    /// Remove a file before it is written.
    pub delete_first: bool,
}

/// Order of the files.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileSelect {
    /// Random files; else one after another.
    pub random: bool,
    /// Use each file once, then end the run.
    pub once: bool,
    /// Midpoint of the Poisson distribution that prefers files at the start.
    pub poisson: Option<f64>,
}

/// Operations on a file before the next file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StopAfter {
    /// A number of operations.
    Operations(u64),
    /// Percent of the file's size.
    Percent(f64),
}

/// A workload on files.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Fwd {
    /// File systems, by name or wildcard.
    pub fsds: Vec<String>,
    /// Hosts that run the workload.
    pub hosts: Vec<String>,
    /// Destination file system of copy and move.
    pub target: Option<String>,
    /// Operation.
    pub operation: FileOperation,
    /// Percent of reads among reads and writes.
    pub read_percent: Option<f64>,
    /// Bytes per read or write.
    pub transfer_size: TransferSize,
    /// Order of offsets in a file.
    pub file_io: FileIo,
    /// Order of files.
    pub file_select: FileSelect,
    /// Operations on a file before the next file.
    pub stop_after: Option<StopAfter>,
    /// Threads.
    #[default(1)]
    pub threads: u32,
    /// Percent of the run's rate.
    pub skew: Option<f64>,
    /// Open flags of files.
    pub open_flags: Option<OpenFlags>,
}

fn operation(text: &str) -> Result<FileOperation, Refused> {
    FileOperation::read(text, &values::word(text)?)
}

fn file_io(text: &str) -> Result<FileIo, Refused> {
    const WORDS: &[&str] = &["random", "sequential"];
    let mut io = FileIo::default();
    for (nth, item) in values::items(text, false)?.iter().enumerate() {
        let words = match (nth, io.random) {
            (0, _) => WORDS,
            (_, true) => &["shared"],
            (_, false) => &["delete"],
        };
        match values::abbreviated(&item.text, words) {
            Some("random") => io.random = true,
            Some("sequential") => {}
            Some("shared") => io.shared = true,
            Some("delete") => io.delete_first = true,
            _ => return Err(values::no_choice(text, &item.text, words)),
        }
    }
    Ok(io)
}

/// Default midpoint.
const POISSON_MIDPOINT: f64 = 3.0;

fn file_select(text: &str) -> Result<FileSelect, Refused> {
    const WORDS: &[&str] = &["random", "sequential", "once", "poisson", "skewed"];
    let mut select = FileSelect::default();
    for item in values::items(text, false)? {
        let midpoint = item.text.strip_prefix("midpoint=").unwrap_or(&item.text);
        match (values::abbreviated(&item.text, WORDS), midpoint.parse::<f64>()) {
            (Some("random"), _) => select.random = true,
            (Some("sequential"), _) => select.random = false,
            (Some("once"), _) if item.text == "once" => select.once = true,
            (Some("poisson" | "skewed"), _) => {
                (select.random, select.poisson) = (true, Some(POISSON_MIDPOINT));
            }
            (_, Ok(number)) if number > 0.0 => {
                (select.random, select.poisson) = (true, Some(number));
            }
            _ => return Err(values::no_choice(text, &item.text, WORDS)),
        }
    }
    Ok(select)
}

fn stop_after(text: &str) -> Result<StopAfter, Refused> {
    match values::number(text, Unit::Size)? {
        percent if (-100.0..0.0).contains(&percent) => Ok(StopAfter::Percent(-percent)),
        number if (1.0..=1e18).contains(&number) => Ok(StopAfter::Operations(number as u64)),
        _ => Err(Refused::whole(text, format!("{text} stops after nothing"), "give 1 or more")),
    }
}

type FwdRow = Row<Parameter<Fwd>>;

#[rustfmt::skip]
const ROWS: &[FwdRow] = &[
    whole("fsd", "NAME,…", |fwd: &mut Fwd, text| put(&mut fwd.fsds, values::names(text)),
        "file systems: names, ranges, or a prefix with *").exact("job.targets", "fsd*"),
    parameter("readpct", "PERCENT",
        |fwd: &mut Fwd, text| put_some(&mut fwd.read_percent, percent(text)),
        "percent of reads, with operation=read or write").alias(&["rdpct"]).exact("entries", "70"),
    parameter("stopafter", "N|PERCENT",
        |fwd: &mut Fwd, text| put_some(&mut fwd.stop_after, stop_after(text)),
        "operations per file before the next one, or percent of its size").exact("entries", "50"),
    parameter("operation", "NAME", |fwd: &mut Fwd, text| put(&mut fwd.operation, operation(text)),
        "read, write, mkdir, rmdir, create, delete, open, close, getattr, setattr, access, copy, \
         move")
        .alias(&["operations"]).default("read").exact("entries.steps", "write"),
    parameter("fileselect", "sequential|random|once|poisson",
        |fwd: &mut Fwd, text| put(&mut fwd.file_select, file_select(text)), "order of files")
        .default("sequential").exact("entries", "random"),
    whole("fileio", "sequential|random", |fwd: &mut Fwd, text| put(&mut fwd.file_io, file_io(text)),
        "order of offsets in a file; (random,shared), (sequential,delete)").default("sequential")
        .exact("entries", "random"),
    parameter("xfersizes", "SIZE|(SIZE,PERCENT,…)",
        |fwd: &mut Fwd, text| put(&mut fwd.transfer_size, transfer_size(text)),
        "bytes per read or write").default("4k").exact("entries", "64k"),
    skew_row(|fwd: &mut Fwd, text| put_some(&mut fwd.skew, percent(text)), "entries"),
    parameter("threads", "N", |fwd: &mut Fwd, text| put(&mut fwd.threads, threads(text)), "threads")
        .default("1").exact("job.workers", "8"),
    parameter("target", "NAME", |fwd: &mut Fwd, text| put_some(&mut fwd.target, values::word(text)),
        "destination file system of copy and move").exact("entries", "fsd2"),
    host_row(|fwd: &mut Fwd, text| put(&mut fwd.hosts, values::words(text)),
        "hosts that run the workload"),
    open_flags_row(|fwd: &mut Fwd, text| put_some(&mut fwd.open_flags, open_flags(text)),
        |fwd| fwd.open_flags.is_some_and(OpenFlags::is_sync),
        "open flags of files, overriding fsd=", "entries"),
];

impl Defined for Fwd {
    const WORD: &'static str = "fwd";
    const WHAT: &'static str = "file system workload";
    const TABLE: Table<Parameter<Fwd>> =
        Table(&[Group { title: "File system workloads (fwd=)", rows: ROWS }]);
}
