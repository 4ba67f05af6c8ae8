//! Entries: operations on named things, in a tree or of the targets' own names.

mod take;
mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use smart_default::SmartDefault;

use crate::access::Access;
use crate::advice::{Advice, MapAdvice, Pieces};
use crate::blocks::OpenSync;
use crate::content::Content;
use crate::engine::Lock;
use crate::omit::is_default;
use crate::operation::{Figure, Operation};
use crate::pace::Pace;
use crate::units::SizeSpec;
use crate::verify::{Format, Journal, Verify};
use crate::{Bytes, Nanos, Target};

pub use take::{HostPart, Take, Visit};
pub use window::Window;

/// Operations on the items of a tree, as one worker issues them.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct Entries {
    /// Objects of the steps.
    pub over: Over,
    /// Steps done to each of them, in order: `["open", "read", "close"]`.
    pub steps: Vec<Step>,
    /// Several lists of steps instead of one; each item gets one at random.
    #[serde(skip_serializing_if = "is_default")]
    pub mix: Vec<Weighted>,
    /// Order in which they are taken.
    pub select: Select,
    /// Assignment of ranks to items of a tree.
    #[serde(skip_serializing_if = "is_default")]
    pub division: Division,
    /// Only the first N items of each rank; absent means all.
    pub first: Option<u64>,
    /// Only the items that an earlier phase on the same targets reached, if its time ended early
    /// and its workers continued to the furthest count.
    #[serde(skip_serializing_if = "is_default")]
    pub as_reached: bool,
    /// The items of each rank are a window over their numbers, which moves as the oldest one leaves
    /// and a new one enters: once per item, or `first` times.
    pub window: Option<Window>,
    /// `mkdir` of a directory that exists succeeds, and so does `unlink` or `rmdir` of a missing
    /// name: each of these operations counts.
    #[serde(skip_serializing_if = "is_default")]
    pub idempotent: bool,
    /// Roots of trees are among the directories that are made and removed, instead of being made
    /// before the work and removed after it.
    #[serde(skip_serializing_if = "is_default")]
    pub with_roots: bool,
    /// Operations on these roots count apart, as `make_root` and `remove_root`, and each of the
    /// job's targets has its roots.
    #[serde(skip_serializing_if = "is_default")]
    pub roots_apart: bool,
    /// `rename` gives each item the name of the previous one; the first gets its other name, and
    /// then the last but one name. The same names exist in the end. A worker with one item renames
    /// nothing.
    #[serde(skip_serializing_if = "is_default")]
    pub rename_chain: bool,
    /// Bytes per read or write call within a file; absent means the whole file at once.
    pub size: Option<Bytes>,
    /// Random sizes of the read and write calls, instead of `size`.
    pub size_mix: Option<SizeSpec>,
    /// Order of the reads or writes within a file: `sequential`, `backward`, `random` (offsets may
    /// repeat) or `permutation` (each once).
    #[serde(skip_serializing_if = "is_default")]
    pub access: Access,
    /// Distance of which offsets of `random` are multiples; absent means the length of a read or
    /// write.
    pub align: Option<Bytes>,
    /// Share of the operations of `write` that read instead, in percent: of each worker's hundred
    /// in a row the first ones, where the count begins at its rank.
    #[serde(skip_serializing_if = "is_default")]
    pub read_percent: u8,
    /// Decide at random for each write whether it reads instead, not by its number.
    #[serde(skip_serializing_if = "is_default")]
    pub read_by_chance: bool,
    /// Reads and writes of a file before the next one follows; absent means the whole file, once.
    pub visit: Option<Visit>,
    /// Workers take items from one shared table by their current state, instead of separate shares.
    pub take: Option<Take>,
    /// Bypass the page cache.
    pub direct: bool,
    /// Drop the files from the page cache before the phase.
    #[serde(skip_serializing_if = "is_default")]
    pub evict: bool,
    /// Flag with which files are opened, so that each write is durable.
    #[serde(skip_serializing_if = "is_default")]
    pub open_sync: OpenSync,
    /// Empty each file as it is opened (`O_TRUNC`).
    #[serde(skip_serializing_if = "is_default")]
    pub truncate_at_open: bool,
    /// POSIX lock of the kernel around each read and write: `posix_range` or `posix_file`.
    #[serde(skip_serializing_if = "is_default")]
    pub lock: Lock,
    /// `posix_fadvise` after each open: one piece, or several in turn.
    #[serde(skip_serializing_if = "is_default")]
    pub advice: Pieces<Advice>,
    /// `madvise` on each mapping of mmap; absent means the same as `advice`.
    pub map_advice: Option<Pieces<MapAdvice>>,
    /// Operations in flight per worker.
    #[default(1)]
    pub depth: u32,
    /// Items that a worker has in progress at most, each with one operation in flight, or with
    /// several reads or writes; absent means as many as operations.
    pub items_at_once: Option<u32>,
    /// Method of issuing operations. Absent means single calls at depth 1, and above it calls or
    /// io_uring, by the faster one in a probe.
    pub engine: Option<EntriesEngine>,
    /// Rate of operations or bytes, and rests between them: `ops`, `bytes`, `arrival`, `think`;
    /// and shares of a `flow`.
    #[serde(skip_serializing_if = "is_default")]
    pub pace: Pace,
    /// Steps that the pace counts; empty means all.
    #[serde(skip_serializing_if = "is_default")]
    pub paced_steps: Vec<Step>,
    /// Content of what is written.
    pub content: Content,
    /// Checks of what is read, by data that writes put into each block.
    pub verify: Option<VerifyItems>,
    /// Apply the steps to the other name of each item, with the suffix `ALIAS`, that `rename`,
    /// `link` or `symlink` gave; these three then restore the first name.
    pub on_alias: bool,
    /// One syncfs of each target's filesystem after the last step, with a separate time
    /// (`elapsed_with_flush_ns`): new and removed names are durable only then.
    #[serde(skip_serializing_if = "is_default")]
    pub syncfs_at_end: bool,
    /// Consume batches at a fixed pace from a queue, like a training job.
    pub loader: Option<Loader>,
}

/// A list of steps, and how often it is drawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Weighted {
    /// Share among all lists of the mix.
    pub weight: u32,
    /// Steps done to the item, in order.
    pub steps: Vec<Step>,
}

/// Ways in which operations on names are issued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum EntriesEngine {
    /// System calls, one after another.
    Calls,
    /// `io_uring`, as many at once as the depth.
    IoUring,
    /// Reads and writes by the kernel's aio, as many at once as the depth; all else by system
    /// calls, one after another.
    Libaio,
    /// Loads and stores on a mapping of each open file, which writes first extend to its length;
    /// other operations by system calls. One after another.
    Mmap,
}

impl EntriesEngine {
    /// Every one.
    pub const ALL: [EntriesEngine; 4] =
        [EntriesEngine::Calls, EntriesEngine::IoUring, EntriesEngine::Libaio, EntriesEngine::Mmap];

    /// True if only reads and writes differ from system calls.
    pub fn is_of_bytes(self) -> bool {
        matches!(self, EntriesEngine::Libaio | EntriesEngine::Mmap)
    }

    /// True where a worker can have several operations in flight.
    pub fn takes_many(self) -> bool {
        matches!(self, EntriesEngine::IoUring | EntriesEngine::Libaio)
    }

    /// Name in plans and reports.
    pub fn name(self) -> &'static str {
        match self {
            EntriesEngine::Calls => "calls",
            EntriesEngine::IoUring => "io_uring",
            EntriesEngine::Libaio => "libaio",
            EntriesEngine::Mmap => "mmap",
        }
    }
}

/// Data in the blocks of written files by which reads are checked.
#[skip_serializing_none]
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(default, deny_unknown_fields)]
pub struct VerifyItems {
    /// Bytes covered by one header. The end of a file that has no room for a header is not checked.
    #[default(Bytes(4096))]
    pub interval: Bytes,
    /// Kind of the data by which a block is checked.
    pub format: Format,
    /// Continue after a mismatch, and count it.
    pub continue_on_mismatch: bool,
    /// Read each block back as soon as it is written, and check it.
    #[serde(skip_serializing_if = "is_default")]
    pub read_back: bool,
    /// A block must have the content of its last write in this run; blocks that this run has not
    /// written are not checked. Headers have the seed of the run. For items taken by their state;
    /// uses 4 bytes of memory per block.
    #[serde(skip_serializing_if = "is_default")]
    pub generations: bool,
    /// With generations: read and check each block with a known last write before its next write,
    /// and do not write a mismatching block.
    #[serde(skip_serializing_if = "is_default")]
    pub read_before_write: bool,
    /// With generations: end the phase after N mismatching blocks, and leave them unchanged until
    /// then. Absent means that `continue_on_mismatch` decides.
    pub mismatches_max: Option<u64>,
    /// With generations: a mismatch names the times of the last write and of the last use.
    #[serde(skip_serializing_if = "is_default")]
    pub times: bool,
    /// With generations: a journal outlives the run, so that a later run knows the expected
    /// content. Jobs that only make or remove files record them in it.
    pub journal: Option<Journal>,
    /// Journal of the tree to which items are copied or renamed.
    pub journal_to: Option<Journal>,
    /// Seed of the headers; blocks of another seed are of another file or run. Absent means the
    /// plan's.
    pub seed: Option<u64>,
}

impl VerifyItems {
    /// Journals of the job's tree, and of that to which items go, with their keys.
    pub fn journals(&self) -> impl Iterator<Item = (&'static str, &Journal)> {
        let all = [("journal", &self.journal), ("journal_to", &self.journal_to)];
        all.into_iter().filter_map(|(key, journal)| Some((key, journal.as_ref()?)))
    }

    /// The same for blocks, whose headers have that seed where none was given.
    pub fn as_of_blocks(&self, seed: u64) -> Verify {
        Verify {
            interval: self.interval,
            format: self.format,
            continue_on_mismatch: self.continue_on_mismatch,
            mismatches_max: self.mismatches_max,
            read_before_write: self.read_before_write,
            times: self.times,
            generations: self.generations,
            seed: Some(self.seed.unwrap_or(seed)),
            ..Verify::default()
        }
    }
}

/// End of the other name of a thing.
pub const ALIAS: &str = ".alias";

impl Entries {
    /// Lists of steps, of which each item gets one; then the lists for absent and short items.
    pub fn lists(&self) -> impl Iterator<Item = &[Step]> {
        let only = self.mix.is_empty().then_some(&self.steps[..]);
        let drawn = only.into_iter().chain(self.mix.iter().map(|weighted| &weighted.steps[..]));
        drawn.chain(self.take.iter().flat_map(Take::lists))
    }

    /// Size of the longest read or write; none for a file at once.
    pub fn size_max(&self) -> Option<Bytes> {
        self.size_mix.as_ref().map(SizeSpec::max).or(self.size)
    }

    /// Steps of all lists, and of items that enter a window.
    pub fn all_steps(&self) -> impl Iterator<Item = Step> {
        let enter = self.window.iter().flat_map(|window| &window.enter);
        self.lists().flatten().chain(enter).copied()
    }

    /// True where items leave a window and others enter it.
    pub fn moves_window(&self) -> bool {
        self.window.as_ref().is_some_and(Window::moves)
    }

    /// True where a list has that step.
    pub fn has(&self, step: Step) -> bool {
        self.all_steps().any(|of| of == step)
    }

    /// True where written blocks are read back at once.
    pub fn reads_back(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.read_back) && self.has(Step::Write)
    }

    /// True where reads are added to the work to check what was written.
    pub fn adds_reads(&self) -> bool {
        let before = self.verify.as_ref().is_some_and(|verify| verify.read_before_write);
        self.reads_back() || (before && self.has(Step::Write))
    }

    /// True where a step reads, or a share of the writes does.
    pub fn reads(&self) -> bool {
        self.has(Step::Read) || (self.read_percent > 0 && self.has(Step::Write))
    }

    /// True where steps take the length that the plan gives a file.
    pub fn uses_length(&self) -> bool {
        self.moves_bytes() || self.has(Step::Ftruncate) || self.has(Step::Fallocate)
    }

    /// True where bytes of items are read or written.
    pub fn moves_bytes(&self) -> bool {
        self.has(Step::Read) || self.has(Step::Write)
    }

    /// Items that a worker has in progress at most.
    pub fn lanes(&self) -> u32 {
        self.items_at_once.unwrap_or(self.depth).clamp(1, self.depth.max(1))
    }

    /// The only step; none where each thing has several.
    pub fn single(&self) -> Option<Step> {
        match self.steps[..] {
            [step] if self.mix.is_empty() && self.take.is_none() && !self.moves_window() => {
                Some(step)
            }
            _ => None,
        }
    }

    /// True where an item takes several operations, whose time is counted together. In a window,
    /// it is the times in which files are open that are.
    pub fn has_spans(&self) -> bool {
        if self.window.is_some() {
            return false;
        }
        let in_calls = self.moves_bytes() && self.size_max().is_some();
        in_calls || self.lists().any(|steps| steps.len() > 1)
    }

    /// Number of names of a target for this number of ranks; none if only a list knows it.
    pub fn names_of(&self, target: &Target, ranks: u64) -> Option<u64> {
        let totals = target.tree.as_ref().map(|tree| tree.totals(ranks));
        Some(match (self.over, totals) {
            (Over::Items, Some(totals)) if self.division == Division::Every => {
                totals.items.saturating_mul(ranks)
            }
            (Over::Items, Some(totals)) => totals.items,
            (Over::Directories, Some(_)) if self.division == Division::Every => {
                let all = target.tree.as_ref().map_or(0, |tree| tree.part(0, 1).directories());
                (all + u64::from(self.with_roots)).saturating_mul(ranks)
            }
            // Roots are made before the work and removed after it.
            (Over::Directories, Some(totals))
                if self.makes_or_removes_directories() && !self.with_roots =>
            {
                totals.directories - totals.trees
            }
            (Over::Directories, Some(totals)) => totals.directories,
            (over, None) if !over.is_of_targets() => return None,
            _ if self.division == Division::Every => target.files_named().saturating_mul(ranks),
            _ => target.files_named(),
        })
    }

    /// Unit in which files of a list are cut, so that reads and writes of a part begin where those
    /// of the whole file would, and no verified block is cut.
    pub fn part_unit(&self) -> u64 {
        let verified = self.verify.as_ref().map_or(1, |verify| verify.interval.0.max(1));
        self.size.map_or((1_u64 << 20).next_multiple_of(verified), |size| size.0).max(1)
    }

    /// Most names of a target in one directory; none if their names do not show it.
    pub fn names_in_one_directory(&self, target: &Target, ranks: u64) -> Option<u64> {
        match (self.over, &target.tree) {
            (Over::Items, Some(tree)) => {
                let owners = if tree.items_per_rank && !tree.per_rank { ranks } else { 1 };
                Some(tree.items.saturating_mul(owners))
            }
            (Over::Directories, Some(tree)) => Some(tree.width.into()),
            (over, None) if !over.is_of_targets() => None,
            _ => target.is_flat().then(|| target.files_named()),
        }
    }

    /// True where a step leaves something to be written out.
    pub fn changes(&self) -> bool {
        self.all_steps().any(|step| step.changes_names() || step == Step::Write)
    }

    /// True where the names must be there beforehand.
    pub fn needs_names(&self) -> bool {
        // Items that enter a window make their own.
        let mut steps = self.lists().flatten();
        !steps.any(|step| matches!(step, Step::Create | Step::Mkdir | Step::Mknod))
    }

    /// True where the things are directories, not files.
    pub fn is_of_directories(&self) -> bool {
        let mut steps = self.all_steps();
        matches!(self.over, Over::Directories | Over::TargetDirectories)
            || steps.any(|step| matches!(step, Step::Mkdir | Step::Rmdir | Step::List))
    }

    /// True where directories are removed: children go before their parents.
    pub fn removes_directories(&self) -> bool {
        self.over == Over::Directories && self.has(Step::Rmdir)
    }

    /// True where directories of a tree come or go.
    pub fn makes_or_removes_directories(&self) -> bool {
        self.removes_directories() || (self.over == Over::Directories && self.has(Step::Mkdir))
    }

    /// True where a step has another name than the thing's own as well.
    pub fn uses_alias(&self) -> bool {
        self.on_alias || self.all_steps().any(Step::gives_alias)
    }

    /// Operations that each thing takes, where all take as many.
    pub fn operations_per_item(&self, bytes: u64) -> Option<u64> {
        let moves = self.size.map_or(1, |size| bytes.div_ceil(size.0.max(1)));
        let moves = if bytes == 0 { 0 } else { moves };
        let enter = self.window.iter().flat_map(|window| &window.enter);
        let steps = self.steps.iter().chain(enter);
        let operations = steps.map(|step| if step.moves_bytes() { moves } else { 1 }).sum();
        self.mix.is_empty().then_some(operations)
    }
}

/// Objects of the steps of [`Entries`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Over {
    /// Items of the tree. A worker uses its own, or its share of shared ones; with a rank shift,
    /// the items of another rank.
    #[default]
    Items,
    /// The directories of the tree, its root included, parents before their children, or after
    /// them where they are removed.
    Directories,
    /// The files that the job's targets name, there or not; a worker takes every n-th.
    TargetFiles,
    /// The same, of directories.
    TargetDirectories,
}

impl Over {
    /// True where the targets' own names are meant, not a tree.
    pub fn is_of_targets(self) -> bool {
        matches!(self, Over::TargetFiles | Over::TargetDirectories)
    }
}

/// One operation on a named thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are the system calls'")]
pub enum Step {
    Mkdir,
    Rmdir,
    List,
    Create,
    Open,
    Close,
    Read,
    Write,
    Fsync,
    Stat,
    Lstat,
    Statx,
    Truncate,
    Rename,
    Link,
    Unlink,
    Symlink,
    Readlink,
    Setxattr,
    Getxattr,
    Removexattr,
    Syncfs,
    Ftruncate,
    Fallocate,
    Mknod,
    Access,
    Utimens,
    Copy,
}

/// The table of operations: one row per step, in the order of [`Step`]; then the times that several
/// operations make up.
pub const OPERATIONS: &[Operation] = &[
    Operation::of("mkdir", Figure::Names),
    Operation::of("rmdir", Figure::Names).destroying(),
    Operation::of("list", Figure::Names),
    Operation::of("create", Figure::Names),
    Operation::of("open", Figure::Names),
    Operation::of("close", Figure::Names),
    Operation::of("read", Figure::Read).moving(),
    Operation::of("write", Figure::Write).moving().destroying(),
    Operation::of("fsync", Figure::Flush),
    Operation::of("stat", Figure::Names),
    Operation::of("lstat", Figure::Names),
    Operation::of("statx", Figure::Names),
    Operation::of("truncate", Figure::Names).destroying(),
    Operation::of("rename", Figure::Names).destroying(),
    Operation::of("link", Figure::Names),
    Operation::of("unlink", Figure::Names).destroying(),
    Operation::of("symlink", Figure::Names),
    Operation::of("readlink", Figure::Names),
    Operation::of("setxattr", Figure::Names).destroying(),
    Operation::of("getxattr", Figure::Names),
    Operation::of("removexattr", Figure::Names).destroying(),
    Operation::of("syncfs", Figure::Flush),
    Operation::of("ftruncate", Figure::Names).destroying(),
    Operation::of("fallocate", Figure::Names),
    Operation::of("mknod", Figure::Names),
    Operation::of("access", Figure::Names),
    Operation::of("utimens", Figure::Names).destroying(),
    Operation::of("copy", Figure::Names).destroying(),
    Operation::of("first_byte", Figure::Item),
    Operation::of("item", Figure::Item),
    Operation::of("read_back", Figure::ReadBack).moving(),
    Operation::of("open_to_close", Figure::Item),
    Operation::of("create_to_close", Figure::Item),
    Operation::of("make_root", Figure::Names),
    Operation::of("remove_root", Figure::Names).destroying(),
];

/// Index of the time from the begin of an item to the end of its first read.
pub const FIRST_BYTE: u8 = Step::ALL.len() as u8;
/// Index of the time of all operations on an item.
pub const ITEM: u8 = FIRST_BYTE + 1;

/// Index of reads of blocks that were just written.
pub const READ_BACK: u8 = ITEM + 1;

/// Index of the time from the open of a file in a window to its close.
pub const OPEN_TO_CLOSE: u8 = READ_BACK + 1;
/// Index of the time from the creation of a file in a window to its close.
pub const CREATE_TO_CLOSE: u8 = OPEN_TO_CLOSE + 1;

/// Index of `mkdir` of a root that counts apart.
pub const MAKE_ROOT: u8 = CREATE_TO_CLOSE + 1;
/// Index of `rmdir` of a root that counts apart.
pub const REMOVE_ROOT: u8 = MAKE_ROOT + 1;

const _: () = assert!(OPERATIONS.len() == REMOVE_ROOT as usize + 1);

impl Step {
    /// Every step, in the order of their numbers.
    pub const ALL: [Step; 28] = [
        Step::Mkdir,
        Step::Rmdir,
        Step::List,
        Step::Create,
        Step::Open,
        Step::Close,
        Step::Read,
        Step::Write,
        Step::Fsync,
        Step::Stat,
        Step::Lstat,
        Step::Statx,
        Step::Truncate,
        Step::Rename,
        Step::Link,
        Step::Unlink,
        Step::Symlink,
        Step::Readlink,
        Step::Setxattr,
        Step::Getxattr,
        Step::Removexattr,
        Step::Syncfs,
        Step::Ftruncate,
        Step::Fallocate,
        Step::Mknod,
        Step::Access,
        Step::Utimens,
        Step::Copy,
    ];

    /// The row in the table of operations.
    pub fn operation(self) -> &'static Operation {
        &OPERATIONS[self as usize]
    }

    /// The name used in reports: the system call's.
    pub fn name(self) -> &'static str {
        self.operation().name
    }

    /// True where it reads or writes bytes of a file.
    pub fn moves_bytes(self) -> bool {
        matches!(self, Step::Read | Step::Write)
    }

    /// True where several workers may do it to their parts of one file.
    pub fn suits_parts(self) -> bool {
        use Step::*;
        self.needs_open() || matches!(self, Create | Open | Stat | Lstat | Statx)
    }

    /// True where it is done to a file that is open.
    pub fn needs_open(self) -> bool {
        use Step::*;
        matches!(self, Read | Write | Fsync | Ftruncate | Fallocate | Close)
    }

    /// True where io_uring has an operation for it; others hold the ring up.
    pub fn is_queued(self) -> bool {
        use Step::*;
        !matches!(self, List | Truncate | Readlink | Removexattr | Syncfs | Ftruncate)
            && !matches!(self, Mknod | Access | Utimens | Copy)
    }

    /// True where it asks a filesystem about a name, or what a directory holds.
    pub fn looks_up(self) -> bool {
        use Step::*;
        matches!(self, List | Open | Stat | Lstat | Statx | Readlink | Getxattr | Access)
    }

    /// True where it changes the records that a filesystem has of names.
    pub fn changes_names(self) -> bool {
        use Step::*;
        matches!(self, Mkdir | Rmdir | Create | Truncate | Rename | Link | Unlink | Symlink)
            || matches!(
                self,
                Setxattr | Removexattr | Ftruncate | Fallocate | Mknod | Utimens | Copy
            )
    }

    /// True where it makes what was changed durable.
    pub fn makes_durable(self) -> bool {
        matches!(self, Step::Fsync | Step::Syncfs)
    }

    /// True where it gives a thing its other name.
    pub fn gives_alias(self) -> bool {
        matches!(self, Step::Rename | Step::Link | Step::Symlink)
    }

    /// True where it can be done to such things.
    pub fn suits(self, over: Over) -> bool {
        match self {
            Step::Stat | Step::Lstat | Step::Statx | Step::Rename | Step::Syncfs => true,
            Step::Symlink | Step::Readlink | Step::Access | Step::Utimens => true,
            Step::Setxattr | Step::Getxattr | Step::Removexattr => true,
            Step::Mkdir | Step::Rmdir | Step::List => over != Over::TargetFiles,
            Step::Create
            | Step::Open
            | Step::Close
            | Step::Read
            | Step::Write
            | Step::Fsync
            | Step::Ftruncate
            | Step::Fallocate
            | Step::Truncate
            | Step::Link
            | Step::Mknod
            | Step::Copy
            | Step::Unlink => {
                matches!(over, Over::Items | Over::TargetFiles)
            }
        }
    }
}

/// Order in which a worker takes the items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Select {
    /// In the tree's order.
    #[default]
    Sequential,
    /// Every item once per pass, in an order keyed by seed and pass.
    Shuffled,
    /// Uniform, items may repeat.
    Random,
    /// An exponential distribution over the tree's order, items may repeat: the mean is the number
    /// of items divided by `midpoint`, and numbers beyond the last item wrap around.
    Exponential {
        /// Number of times that the mean fits into all items.
        #[cfg_attr(test, arbitrary(with = crate::tests::arbitrary::finite))]
        midpoint: f64,
    },
}

/// Assignment of ranks to items of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(rename_all = "snake_case")]
pub enum Division {
    /// Each rank uses its own items, or its share of shared ones.
    #[default]
    Own,
    /// The first rank uses the items of all ranks, one rank after another; the others have no work.
    First,
    /// Every rank uses all shared items.
    Every,
}

/// Consumption of items in batches at a fixed pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(arbitrary::Arbitrary))]
#[serde(deny_unknown_fields)]
pub struct Loader {
    /// Items per batch.
    pub batch: u32,
    /// Batches that may be ready ahead of the consumer.
    pub prefetch: u32,
    /// Time the consumer needs per batch.
    pub compute: Nanos,
}
