//! `fsd=`: file systems, trees of directories and files.

use std::ops::RangeInclusive;

use smart_default::SmartDefault;

use super::open_flags::{OpenFlags, open_flags};
use super::shared::{count, count_row, open_flags_row};
use super::{Defined, Definition, numbered, put, put_some};
use crate::kind::{Parameter, known, parameter, whole};
use crate::values::{self, Unit};
use candor_front::{Group, Refused, Row, Table};

/// A file system definition.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Fsd {
    /// Directory of the tree.
    pub anchor: Option<String>,
    /// Levels of directories.
    #[default(1)]
    pub depth: u32,
    /// Directories in each directory.
    #[default(1)]
    pub width: u32,
    /// Files in each directory that has files.
    #[default(10)]
    pub files: u64,
    /// Sizes of files.
    #[default(FileSizes::Fixed(4096))]
    pub sizes: FileSizes,
    /// Directories that have files.
    pub placement: FilePlacement,
    /// Maximum of bytes of all files.
    pub total_size: Option<f64>,
    /// Bytes of randomly selected files in use.
    pub working_set: Option<f64>,
    /// Several hosts use the tree.
    pub shared: bool,
    /// First number and number of copies of this definition.
    pub count: Option<(u64, u64)>,
    /// Open flags of files.
    pub open_flags: OpenFlags,
    /// Log each read and write.
    pub log: bool,
    /// Directory of the validation's journal.
    pub journal: Option<String>,
}

/// Directories that have files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilePlacement {
    /// Directories without subdirectories.
    #[default]
    Bottom,
    /// All.
    All,
}

/// Sizes of files.
#[derive(Clone, Debug, PartialEq)]
pub enum FileSizes {
    /// One size.
    Fixed(u64),
    /// Sizes with their percentages.
    Mixed(Vec<(u64, f64)>),
    /// Sizes around this mean.
    Around(u64),
}

/// Maximum of files per directory.
const FILES_MAX: u64 = 10_000_000;

/// Reads sizes of files.
///
/// # Errors
/// The numbers are neither one size nor pairs whose percentages add up to 100.
pub fn file_sizes(text: &str) -> Result<FileSizes, Refused> {
    let numbers = values::numbers(text, Unit::Size)?;
    let refused = |message: String, remedy: &str| Err(Refused::whole(text, message, remedy));
    if numbers.iter().step_by(2).any(|size| *size < 0.0 || *size > 1e18) {
        return refused(
            format!("`{text}` has a size that no file can have"),
            "use 4k, for example",
        );
    }
    match numbers[..] {
        [size] => Ok(FileSizes::Fixed(size as u64)),
        [mean, 0.0] => Ok(FileSizes::Around(mean as u64)),
        ref list if list.len() % 2 == 1 => {
            let remedy = "write sizes and percent in pairs, such as (4k,60,64k,40)";
            refused(format!("`{text}` has {} numbers", list.len()), remedy)
        }
        ref list => {
            let total: f64 = list.chunks(2).map(|pair| pair[1]).sum();
            if total as i64 == 100 && list.chunks(2).all(|pair| pair[1] >= 0.0) {
                let pairs = list.chunks(2).map(|pair| (pair[0] as u64, pair[1]));
                Ok(FileSizes::Mixed(pairs.collect()))
            } else {
                let message = format!("the shares of the sizes are {total} %, not 100 %");
                refused(message, "change them")
            }
        }
    }
}

fn placement(text: &str) -> Result<FilePlacement, Refused> {
    match values::word(text)?.as_str() {
        "bottom" => Ok(FilePlacement::Bottom),
        "all" => Ok(FilePlacement::All),
        word => Err(values::no_choice(text, word, &["bottom", "all"])),
    }
}

fn total(text: &str) -> Result<f64, Refused> {
    let total = values::divided(text, Unit::Size)?;
    if total > 0.0 {
        Ok(total)
    } else {
        let message = "a file system has no total that this could be a share of";
        Err(Refused::whole(text, message, "give a size; rd=…,totalsize= takes a share"))
    }
}

fn number(text: &str, bounds: RangeInclusive<u64>) -> Result<u32, Refused> {
    values::whole(text, Unit::Size, bounds).map(|number| number as u32)
}

/// Expands `count=` into one definition per number.
pub fn counted(all: &mut Vec<Definition<Fsd>>) {
    super::counted(
        all,
        |fsd| fsd.count.take(),
        |fsd, number| {
            let anchor = fsd.anchor.as_deref().map(|anchor| numbered(anchor, number));
            fsd.anchor = anchor;
        },
    );
}

type FsdRow = Row<Parameter<Fsd>>;

#[rustfmt::skip]
const ROWS: &[FsdRow] = &[
    parameter("anchor", "DIRECTORY",
        |fsd: &mut Fsd, text| put_some(&mut fsd.anchor, values::word(text)),
        "directory of the tree").exact("target.path", "/mnt/tree"),
    parameter("journal", "DIRECTORY|DEVICE",
        |fsd: &mut Fsd, text| put_some(&mut fsd.journal, values::word(text)),
        "location of the validation's journal").exact("entries.verify.journal.directory", "/tmp"),
    known("host", "NAME", "hosts").alias(&["hd"])
        .refused("h1", "a workload names its hosts (fwd=…,host=), as in vdbench"),
    parameter("width", "N", |fsd: &mut Fsd, text| put(&mut fsd.width, number(text, 1..=1 << 20)),
        "directories in each directory").default("1").exact("target.tree", "4"),
    parameter("depth", "N", |fsd: &mut Fsd, text| put(&mut fsd.depth, number(text, 1..=64)),
        "levels of directories").default("1").exact("target.tree", "3"),
    parameter("sizes", "SIZE|(SIZE,PERCENT,…)|(SIZE,0)",
        |fsd: &mut Fsd, text| put(&mut fsd.sizes, file_sizes(text)),
        "sizes of files; (SIZE,0) draws sizes around SIZE").default("4k")
        .exact("target.tree", "128k"),
    parameter("shared", "yes|no", |fsd: &mut Fsd, text| put(&mut fsd.shared, values::yes(text)),
        "several hosts use the tree").default("no").exact("job", "yes"),
    parameter("wss", "SIZE",
        |fsd: &mut Fsd, text| put_some(&mut fsd.working_set, values::divided(text, Unit::Size)),
        "bytes of randomly selected files to use").alias(&["workingsetsize"])
        .exact("entries", "1g"),
    parameter("total_size", "SIZE",
        |fsd: &mut Fsd, text| put_some(&mut fsd.total_size, total(text)), "most bytes of all files")
        .alias(&["totalsize"]).exact("target.tree", "1g"),
    parameter("files", "N",
        |fsd: &mut Fsd, text| put(&mut fsd.files, values::whole(text, Unit::Size, 1..=FILES_MAX)),
        "files in each directory that has files").default("10").exact("target.tree", "100"),
    parameter("distribution", "bottom|all",
        |fsd: &mut Fsd, text| put(&mut fsd.placement, placement(text)),
        "directories that have files").default("bottom").exact("target.tree", "all"),
    known("cleanup", "yes|no", "remove an old tree")
        .refused("yes", "vdbench does not know it any more; use format=yes"),
    open_flags_row(|fsd: &mut Fsd, text| put(&mut fsd.open_flags, open_flags(text)),
        |fsd| fsd.open_flags.is_sync(),
        "o_direct, o_dsync, o_sync, fsync, or their number", "entries"),
    whole("log", "yes|no", |fsd: &mut Fsd, text| put(&mut fsd.log, values::yes(text)),
        "log each read and write, with data validation").default("no").refused("yes",
            "`candor convert` makes a plan of this file, whose jobs take operations_log"),
    count_row(|fsd: &mut Fsd, text| put_some(&mut fsd.count, count(text)),
        "N definitions with numbers after the names of fsd and anchor"),
    whole("dedupratio", "RATIO", |_: &mut Fsd, _| Ok(()), "deduplication of one file system")
        .refused("2", "deduplication is a general parameter for file systems, as in vdbench"),
];

impl Defined for Fsd {
    const WORD: &'static str = "fsd";
    const WHAT: &'static str = "file system definition";
    const TABLE: Table<Parameter<Fsd>> =
        Table(&[Group { title: "File systems (fsd=)", rows: ROWS }]);
}
