//! A benchmark as it runs: the request, and facts about the paths.

mod s3;

use candor_plan::listing::{Deal, Listing};
use candor_plan::{Bytes, path_of};

use super::options::{Bind, FileLock, Options, Reading};
use candor_front::{Diagnostics, Found, Host, Scope};

pub use s3::{Store, StorePhase};

/// Smallest unit of direct I/O.
pub(super) const SECTOR: u64 = 512;

/// Name of the job of workers that read in a phase of writes.
pub const READERS: &str = "readers";

/// Kind of the paths of a benchmark; all paths have the same kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PathKind {
    /// Directories of small files.
    #[default]
    Directory,
    /// Files that exist or will be created.
    File,
    /// Block devices.
    BlockDevice,
}

impl PathKind {
    /// Name in result files.
    pub fn word(self) -> &'static str {
        match self {
            PathKind::Directory => "dir",
            PathKind::File => "file",
            PathKind::BlockDevice => "blockdev",
        }
    }
}

/// A list of directories and files, with its totals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listed {
    /// The list as part of the plan.
    pub listing: Listing,
    /// Directories.
    pub dirs: u64,
    /// Files.
    pub files: u64,
    /// Files that all workers share.
    pub shared_files: u64,
    /// Bytes of all files.
    pub bytes: u64,
}

/// A benchmark as it runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setup {
    /// The options as given.
    pub asked: Options,
    /// Kind of the paths.
    pub path_kind: PathKind,
    /// The list of directories and files, or of objects, if one replaces the tree.
    pub listed: Option<Listed>,
    /// Buckets, if the paths are in an object store.
    pub store: Option<Store>,
    /// Bytes used of each file or device: a multiple of the block for direct, random and strided
    /// access. If files differ, the size of the first file; 0 for a list.
    pub file_bytes: u64,
    /// Bytes used of each path; empty for directories.
    pub bytes_of_paths: Vec<u64>,
    /// Bytes per I/O: the requested size, or the file size if smaller.
    pub block_bytes: u64,
    /// Bytes at random offsets of all workers of a data set; 0 without random access.
    pub random_bytes: u64,
}

impl Setup {
    /// Directories that all workers create or remove, without directories of ranks; each worker
    /// handles all shared directories. In an object store, buckets.
    pub fn dirs(&self) -> u64 {
        if let Some(store) = &self.store {
            return store.buckets.len() as u64;
        }
        let data_sets = self.asked.hosts.data_sets();
        let of_shape = || self.asked.tree.dirs.saturating_mul(self.asked.threads_of_all());
        self.listed.as_ref().map_or_else(of_shape, |listed| listed.dirs * data_sets)
    }

    /// Directories of ranks, which contain the other directories.
    pub fn dirs_of_ranks(&self) -> u64 {
        let has_ranks = self.listed.is_none() && self.store.is_none() && self.asked.tree.dirs > 0;
        if has_ranks { self.asked.threads_of_all() } else { 0 }
    }

    /// Small files of all workers.
    pub fn small_files(&self) -> u64 {
        let of_worker = self.asked.tree.dirs.max(1).saturating_mul(self.asked.tree.files);
        let of_shape = || of_worker.saturating_mul(self.asked.threads_of_all());
        let data_sets = self.asked.hosts.data_sets();
        self.listed.as_ref().map_or_else(of_shape, |listed| listed.files * data_sets)
    }

    /// Bytes of all small files.
    pub fn small_files_bytes(&self) -> u64 {
        let of_shape = || self.small_files().saturating_mul(self.file_bytes);
        let data_sets = self.asked.hosts.data_sets();
        self.listed.as_ref().map_or_else(of_shape, |listed| listed.bytes * data_sets)
    }

    /// True if files in directories have bytes.
    pub fn has_bytes(&self) -> bool {
        self.small_files_bytes() > 0
    }

    /// Bytes of the largest object; 0 outside of object stores.
    pub fn object_bytes_max(&self) -> u64 {
        self.store.as_ref().map_or(0, |store| store.object_bytes_max)
    }

    /// True if an object is larger than a block: uploads have parts, and reads have ranges.
    pub fn cuts_objects(&self) -> bool {
        self.object_bytes_max() > self.block_bytes
    }

    /// Bytes used of all paths; 0 for directories.
    pub fn bytes_in_all(&self) -> u64 {
        self.bytes_of_paths.iter().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes))
    }
}

/// Operation of a phase. In an object store, directories are buckets and files are objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhaseKind {
    /// All filesystems are synced.
    Sync,
    /// Caches of the kernel are dropped.
    DropCaches,
    /// Directories are made.
    MakeDirs,
    /// Files are written, or read and written.
    Write,
    /// Files are checked with stat.
    Stat,
    /// Files are read.
    Read,
    /// Files are removed.
    RemoveFiles,
    /// Directories are removed.
    RemoveDirs,
    /// Another phase of an object store.
    OfStore(StorePhase),
}

impl PhaseKind {
    /// True if each entry is a directory or a bucket.
    pub fn is_of_dirs(self) -> bool {
        match self {
            PhaseKind::MakeDirs | PhaseKind::RemoveDirs => true,
            PhaseKind::OfStore(phase) => phase.is_of_buckets(),
            _ => false,
        }
    }

    /// True if entries are the keys that requests list or delete, many each.
    pub fn is_of_keys(self) -> bool {
        use StorePhase::{DeleteMany, List, ListParallel};
        matches!(self, PhaseKind::OfStore(List | ListParallel | DeleteMany))
    }
}

/// A phase of a benchmark, in run order; each is one phase of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchPhase {
    /// The operation.
    pub kind: PhaseKind,
    /// The name in tables and result files: `MKDIRS`, `WRITE`, `RWMIX70`, `MIX-T4`, `READ+s`.
    pub name: String,
}

/// Reads the kinds and sizes of the paths, and settles the options; errors go to the diagnostics.
pub fn settle(reading: &Reading, host: &dyn Host, out: &mut Diagnostics) -> Setup {
    let mut setup = Setup { asked: reading.options.clone(), ..Setup::default() };
    let mut settling = Settling { reading, setup: &mut setup, out };
    settling.settle(host);
    setup
}

struct Settling<'a> {
    reading: &'a Reading,
    setup: &'a mut Setup,
    out: &'a mut Diagnostics,
}

impl Settling<'_> {
    fn wrong(&mut self, option: &str, message: impl Into<String>, remedy: &str) {
        self.out.wrong(self.reading, option, message.into(), remedy);
    }

    fn settle(&mut self, host: &dyn Host) {
        if self.setup.asked.paths.is_empty() {
            return self.wrong("path", "no path is given", "name a directory, files or a device");
        }
        if self.setup.asked.s3.is_on {
            self.store(host);
        } else if let Some(found) = self.kinds(host) {
            self.phases_of_kind();
            self.list(host);
            self.sizes(&found);
            self.random();
            self.data();
            self.mixes();
            self.engine();
        }
    }

    /// The kind of the paths; `None` if they differ or cannot be used.
    fn kinds(&mut self, host: &dyn Host) -> Option<Vec<Found>> {
        let paths = self.setup.asked.paths.clone();
        let found: Vec<Found> = paths.iter().map(|path| host.found(&path_of(path))).collect();
        let mut kinds = Vec::new();
        for (path, found) in paths.iter().zip(&found) {
            let among_devices = || host.is_among_devices(&path_of(path));
            kinds.push(match found {
                Found::Directory => PathKind::Directory,
                Found::Device(Some(_)) => PathKind::BlockDevice,
                Found::File(_) => PathKind::File,
                Found::Nothing if !among_devices() => PathKind::File,
                Found::Nothing => {
                    let message = format!("`{path}` does not exist, and is no name for a file");
                    self.wrong("path", message, "name a device that exists");
                    return None;
                }
                Found::Device(None) | Found::Character | Found::Other => {
                    let message = format!("`{path}` is no directory, file or block device");
                    self.wrong("path", message, "name one of these");
                    return None;
                }
            });
        }
        self.setup.path_kind = kinds[0];
        if let Some(at) = kinds.iter().position(|kind| *kind != kinds[0]) {
            let kinds = [kinds[0], kinds[at]].map(PathKind::word);
            let message = format!(
                "`{}` is of the kind {}, and `{}` of the kind {}",
                paths[0], kinds[0], paths[at], kinds[1]
            );
            self.wrong("path", message, "give directories alone, or files, or devices");
            return None;
        }
        Some(found)
    }

    /// Refuses phases and options that do not fit the kind of the paths.
    fn phases_of_kind(&mut self) {
        let kind = self.setup.path_kind;
        let word = kind.word();
        let (refused, unused): (&[&str], &[&str]) = match kind {
            PathKind::Directory => (&["strided"], &["randamount"]),
            PathKind::File => {
                let unused = &["dirsharing", "dirstats", "statinline", "rankoffset"];
                (&["mkdirs", "deldirs", "stat"], unused)
            }
            PathKind::BlockDevice => {
                let unused = &["dirsharing", "dirstats", "statinline", "rankoffset", "trunc"];
                (&["mkdirs", "deldirs", "stat", "delfiles"], unused)
            }
        };
        for option in self.set_among(refused) {
            let message = format!("--{option} does not apply to a path of the kind {word}");
            self.wrong(option, message, "remove it, or name a path of another kind");
        }
        for option in self.set_among(unused) {
            let why = format!("it does not apply to a path of the kind {word}");
            self.out.note(self.reading, option, "nothing", &why);
        }
    }

    /// Reads the list of directories and files.
    fn list(&mut self, host: &dyn Host) {
        const OF_LISTS: [&str; 4] = ["sharesize", "treeroundup", "treerand", "treeroundrob"];
        let asked = self.setup.asked.list.clone();
        let Some(file) = asked.tree_file else {
            for option in self.set_among(&OF_LISTS) {
                let why = "it needs a list of files, and --treefile names none";
                self.out.note(self.reading, option, "nothing", why);
            }
            return;
        };
        let kind = self.setup.path_kind;
        if kind != PathKind::Directory {
            let message = format!("a list is of a directory, and the path is a {}", kind.word());
            return self.wrong("treefile", message, "name a directory that exists");
        }
        let [root] = &self.setup.asked.paths[..] else {
            return self.wrong("treefile", "a list is of one directory", "give one path");
        };
        let share = asked.share_bytes.filter(|bytes| *bytes > 0);
        let share = share.unwrap_or(self.setup.asked.access.block_bytes.saturating_mul(32));
        // A file of exactly this size is shared, too.
        let above = share.saturating_sub(1);
        let mut listing = Listing {
            file: Some(path_of(&file)),
            share_above: Some(Bytes(above)),
            round_up: Bytes(asked.round_up_bytes),
            deal: if asked.round_robin { Deal::InTurn } else { Deal::ByBytes },
            shuffled: asked.shuffled,
        };
        let list = match host.list(&path_of(root), &listing) {
            Ok(list) => list,
            Err(error) => return self.wrong("treefile", error.message, error.remedy),
        };
        let (dirs, files, bytes) = (list.directories(), list.files(), list.bytes());
        let shared_files = list.files_above(above);
        listing.share_above = listing.share_above.filter(|_| shared_files > 0);
        let shared = shared_files > 0;
        if shared && self.setup.asked.io.truncate && self.setup.asked.phases.write {
            let why = "a worker would empty what others wrote to their parts of large files";
            self.out.refuse(self.reading, "trunc", why);
        }
        let of_shape = ["size", "dirs", "files", "dirsharing", "rankoffset"];
        for option in of_shape {
            if self.is_set(option) {
                let did = "directories, files and sizes come from the list";
                self.out.note(self.reading, option, did, "--treefile is given");
            }
        }
        self.setup.listed = Some(Listed { listing, dirs, files, shared_files, bytes });
    }

    /// Given options among these whose value is not the default.
    fn set_among(&self, options: &[&'static str]) -> Vec<&'static str> {
        options.iter().copied().filter(|option| self.is_set(option)).collect()
    }

    /// True for a given option whose value is not the default.
    fn is_set(&self, option: &str) -> bool {
        self.reading.given().get(option).is_some_and(|given| !given.is_default)
    }

    /// Size of all files, by default the size of the first file, and block size.
    fn sizes(&mut self, found: &[Found]) {
        let Options { access, io, phases, .. } = self.setup.asked.clone();
        let moves = phases.write || phases.read;
        let is_tree = self.setup.path_kind == PathKind::Directory;
        let listed = self.setup.listed.is_some();
        let mut bytes = if listed { 0 } else { access.file_bytes.unwrap_or(0) };
        if !is_tree {
            let Some(size) = self.size_of_paths(bytes, found) else { return };
            bytes = size;
        }
        let mut block = access.block_bytes;
        if block == 0 && bytes > 0 && moves {
            return self.wrong("block", "the block has 0 bytes", "give a block with -b");
        }
        if block > bytes && !listed {
            block = bytes;
        }
        let whole_blocks = io.direct || access.random || access.strided;
        if whole_blocks && moves && block > 0 && !bytes.is_multiple_of(block) {
            let cut = bytes / block * block;
            let did = format!("{cut} bytes of the file are used");
            let why = "direct, random and strided access take whole blocks";
            self.out.note(self.reading, "size", &did, why);
            bytes = cut;
        }
        let checks = io.direct && bytes > 0 && moves && !io.no_alignment_check;
        if checks && access.random && access.random_unaligned {
            let (did, why) = ("offsets are multiples of the block", "direct I/O needs them to be");
            self.out.note(self.reading, "norandalign", did, why);
            self.setup.asked.access.random_unaligned = false;
        }
        if checks && !block.is_multiple_of(SECTOR) {
            let message =
                format!("direct I/O of blocks of {block} bytes is not aligned to {SECTOR}");
            self.wrong("direct", message, "give a block in multiples of 512, or --nodiocheck");
        }
        (self.setup.file_bytes, self.setup.block_bytes) = (bytes, block);
        if !is_tree {
            self.setup.bytes_of_paths = vec![bytes; found.len()];
            self.blocks_for_all(bytes, block);
        }
    }

    /// The given size, or the size of the first file or device; `None` if one is too small.
    fn size_of_paths(&mut self, given: u64, found: &[Found]) -> Option<u64> {
        let phases = self.setup.asked.phases;
        let mut bytes = given;
        for (path, found) in self.setup.asked.paths.clone().iter().zip(found) {
            let there = found.bytes();
            if there.is_none() && !phases.write {
                let message = format!("`{path}` does not exist, and no phase writes it");
                self.wrong("path", message, "name a file that exists, or add -w");
                return None;
            }
            let has = there.unwrap_or(0);
            if bytes == 0 && has == 0 && (phases.write || phases.read) {
                let message = format!("`{path}` has no bytes to use, and no size is given");
                self.wrong("size", message, "give a size with -s");
                return None;
            }
            bytes = if bytes == 0 { has } else { bytes };
            let grows = phases.write && !matches!(found, Found::Device(_));
            if bytes > has && !grows {
                let message = format!("`{path}` has {has} bytes, less than the {bytes} to use");
                self.wrong("size", message, "give a smaller size, or none");
                return None;
            }
        }
        Some(bytes)
    }

    /// Each worker needs at least one block.
    fn blocks_for_all(&mut self, bytes: u64, block: u64) {
        let phases = self.setup.asked.phases;
        let threads = self.setup.asked.threads_of_data_set();
        let blocks = bytes.checked_div(block).unwrap_or(0);
        let blocks = blocks + u64::from(block > 0 && !bytes.is_multiple_of(block));
        let blocks = blocks.saturating_mul(self.setup.asked.paths.len() as u64);
        if block > 0 && blocks < threads && (phases.write || phases.read) {
            let message = format!("{threads} workers share {blocks} blocks of {block} bytes");
            self.wrong("threads", message, "use fewer workers, larger files or smaller blocks");
        }
    }

    /// Bytes at random offsets, as blocks of all workers of a data set.
    fn random(&mut self) {
        let threads = self.setup.asked.threads_of_data_set();
        let access = &self.setup.asked.access;
        if !access.random || self.setup.path_kind == PathKind::Directory {
            return;
        }
        let whole = self.setup.bytes_in_all();
        let asked = access.random_bytes.filter(|bytes| *bytes > 0).unwrap_or(whole);
        let turn = self.setup.block_bytes.saturating_mul(threads).max(1);
        if asked < turn && !self.setup.asked.run.infinite_loop {
            let message = format!("{asked} bytes are less than a block of each worker");
            return self.wrong("randamount", message, "give more, or use fewer workers");
        }
        let cut = if access.random_unaligned { asked } else { asked / turn * turn };
        if cut != asked {
            let did = format!("{cut} bytes are read or written");
            let why = "the amount is a multiple of the block and the number of workers";
            self.out.note(self.reading, "randamount", &did, why);
        }
        self.setup.random_bytes = cut;
    }

    /// Checks content, verification and the order of offsets.
    fn data(&mut self) {
        let Options { access, data, phases, mix, io, .. } = self.setup.asked.clone();
        let verifies = data.verify_salt > 0;
        if [access.random, access.strided, access.backward].into_iter().filter(|is| *is).count() > 1
        {
            let message = "random, strided and backward offsets exclude each other";
            let option = if access.random { "rand" } else { "strided" };
            self.wrong(option, message, "give one of them");
        }
        if data.verify_direct && !(verifies && phases.write) {
            let message = "--verifydirect reads back what --verify has written";
            self.wrong("verifydirect", message, "add --verify and -w, or remove it");
        }
        let reads_back = [
            ("verifydirect", data.verify_direct),
            ("readinline", self.setup.asked.tree.read_inline),
        ];
        for (option, _) in reads_back.into_iter().filter(|(_, is)| *is && io.depth > 1) {
            let message =
                format!("--{option} has one I/O in flight, and --iodepth is {}", io.depth);
            self.wrong(option, message, "remove one of the two, or use more workers with -t");
        }
        if verifies && phases.write && access.random {
            let message = "words are not verified where they are written at random places";
            self.wrong("verify", message, "write in sequence, and read with --rand");
        }
        if verifies && mix.read_percent.is_some_and(|percent| percent > 0) {
            let message = "reads during writes may find blocks that are not written yet";
            self.wrong("verify", message, "verify in a separate phase");
        }
        let is_odd = |bytes: &u64| !bytes.is_multiple_of(8);
        let is_odd =
            is_odd(&self.setup.block_bytes) || self.setup.bytes_of_paths.iter().any(is_odd);
        if verifies && is_odd {
            let message = "files are verified in words of 8 bytes";
            self.wrong("verify", message, "give sizes in multiples of 8");
        }
    }

    /// Checks reads during writes.
    fn mixes(&mut self) {
        let Options { phases, mix, io, .. } = self.setup.asked.clone();
        let threads = self.setup.asked.run.threads;
        if mix.read_percent.is_some() && mix.read_threads.is_some() {
            let message = "--rwmixpct mixes blocks and --rwmixthr workers";
            self.wrong("rwmixthr", message, "give one of them");
        }
        let is_limited = io.read_limit_bytes_per_s > 0 || io.write_limit_bytes_per_s > 0;
        if mix.read_threads_percent > 0 && is_limited {
            let message = "--rwmixthrpct balances workers, and a limit holds them back";
            self.wrong("rwmixthrpct", message, "remove the limit, or the balance");
        }
        if mix.read_threads.is_some_and(|readers| readers > threads) {
            let did = format!("{threads} workers read");
            self.out.note(self.reading, "rwmixthr", &did, "there are no more workers");
            self.setup.asked.mix.read_threads = Some(threads);
        }
        if mix.read_threads.is_some() && self.setup.asked.hosts.hosts() > 1 {
            let message = "readers and writers have separate ranks on one host only";
            self.wrong("rwmixthr", message, "use --rwmixpct, or one host");
        }
        for option in ["rwmixpct", "rwmixthr"] {
            if self.is_set(option) && !phases.write {
                let why = "reads are mixed into the phase that writes, and none does";
                self.out.note(self.reading, option, "nothing", why);
            }
        }
        self.balance();
    }

    /// Checks the readers' share of bytes.
    fn balance(&mut self) {
        let asked = &self.setup.asked;
        if asked.mix.read_threads_percent == 0 {
            return;
        }
        if asked.mix.read_threads.unwrap_or(0) == 0 {
            let why = "--rwmixthr names no readers to balance";
            self.out.note(self.reading, "rwmixthrpct", "nothing", why);
            self.setup.asked.mix.read_threads_percent = 0;
        } else if !asked.run.infinite_loop {
            let message = "workers that end once would leave the others waiting for balance";
            self.wrong("rwmixthrpct", message, "add --infloop, or remove it");
        }
    }

    /// Checks placement of workers and ways of I/O.
    fn engine(&mut self) {
        let Options { io, phases, run, output, .. } = self.setup.asked.clone();
        let bound = [("cores", run.cores == Bind::All), ("zones", run.zones == Bind::All)];
        for (option, _) in bound.into_iter().filter(|(_, all)| *all) {
            if self.setup.asked.hosts.hosts() > 1 {
                let message = format!("--{option} all has other numbers on each host");
                self.wrong(option, message, "list the numbers, which then apply to each host");
            }
        }
        if output.operations_log_locked && output.operations_log.is_none() {
            let why = "--opslog names no file to lock";
            self.out.note(self.reading, "opsloglock", "nothing", why);
        }
        if io.mmap && io.depth > 1 {
            let message = format!("--mmap has one I/O in flight, and --iodepth is {}", io.depth);
            self.wrong("mmap", message, "remove one of the two, or use more workers with -t");
        }
        if io.mmap && io.direct {
            let why = "--mmap works on the page cache";
            self.out.note(self.reading, "direct", "the cache is not bypassed", why);
        }
        if !io.mmap && !io.map_advice.is_empty() {
            let why = "no file is mapped without --mmap";
            self.out.note(self.reading, "madv", "no such advice is given", why);
        }
        if io.lock != FileLock::None && io.depth > 1 {
            if io.lock == FileLock::Full && phases.write {
                let message = "a lock of the whole file leaves one write in flight";
                return self.wrong("flock", message, "use range, or remove --iodepth");
            }
            let why = "each I/O waits for its lock";
            self.out.note(self.reading, "iodepth", "one I/O of each worker is in flight", why);
        }
    }
}
