//! Tests from command lines to plans.

mod rows;
mod s3;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use candor_plan::blocks::{
    Access, Advice, FileOrder, Fill, Format, Lock, MapAdvice, Pieces, Share,
};
use candor_plan::entries::{Division, EntriesEngine, Over, Step};
use candor_plan::listing::{Deal, List, ListError, Listing};
use candor_plan::{Bytes, Create, Job, Layout, MemoryPolicy, OnDone, Plan, RankPart, Work, check};

use super::*;
use crate::options::read;
use candor_front::Found;
use candor_front::evidence::{Surroundings, sentences};

/// A host with these files and devices.
#[derive(Default)]
struct Things(HashMap<&'static str, Found>);

impl Host for Things {
    fn found(&self, path: &Path) -> Found {
        let path = path.to_str().unwrap_or_default();
        self.0.get(path).copied().unwrap_or(Found::Nothing)
    }

    fn is_among_devices(&self, path: &Path) -> bool {
        path.parent() == Some(Path::new("/dev"))
    }

    fn cpus(&self) -> Option<Vec<u32>> {
        Some(vec![0, 1, 2, 3])
    }

    fn nodes(&self) -> Option<Vec<u32>> {
        Some(vec![0, 1])
    }

    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        (node < 2).then(|| vec![2 * node, 2 * node + 1])
    }

    fn now(&self) -> Duration {
        Duration::from_millis(1_000_250)
    }

    fn list(&self, root: &Path, listing: &Listing) -> Result<List, ListError> {
        assert!([Path::new("/d"), Path::new("b")].contains(&root));
        match listing.file.as_deref().and_then(Path::to_str) {
            Some("/list") => List::read(&b"d a\nf 10 a/b\nf 100000 c\nf 9000 d\n"[..]),
            _ => List::read(&b"f 1 ../x\n"[..]),
        }
    }
}

const GIB: u64 = 1 << 30;

fn host() -> Things {
    let device = Found::Device(Some(GIB));
    Things(HashMap::from([
        ("/d", Found::Directory),
        ("/e", Found::Directory),
        ("/f", Found::File(GIB)),
        ("/g", Found::File(1000)),
        ("/dev/x", device),
        ("/pipe", Found::Other),
    ]))
}

fn lowered(line: &str) -> Result<Lowered, Vec<String>> {
    let argv: Vec<_> = std::iter::once("elbencho").chain(line.split(' ')).map(Into::into).collect();
    let reading = read(&argv, &mut Surroundings::default());
    assert_eq!(reading.errors, [], "{line}");
    lower(&reading, &host()).map_err(|errors| sentences(&errors, &reading.texts))
}

/// The plan of a valid line.
fn plan(line: &str) -> Plan {
    let lowered = lowered(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}"));
    let problems = check::check(&lowered.plan);
    assert!(check::can_run(&problems), "{line}: {problems:?}");
    assert_eq!(lowered.plan.phases.len(), lowered.phases.len());
    lowered.plan
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.phases.iter().map(|phase| phase.name.as_str()).collect()
}

fn job<'p>(plan: &'p Plan, name: &str) -> &'p Job {
    &plan.phases.iter().find(|phase| phase.name == name).expect("a phase of that name").jobs[0]
}

fn refused(line: &str) -> String {
    lowered(line).map(|_| ()).expect_err("refused").join("\n")
}

#[test]
fn phases_come_in_their_order_with_house_keeping_between() {
    let all = plan("-D -F -r --stat -w -d -t 4 -n 3 -N 10 -s 8k /d");
    assert_eq!(names(&all), ["MKDIRS", "WRITE", "STAT", "READ", "RMFILES", "RMDIRS"]);
    let kept = plan("-w -r --sync --dropcache -i 3 --phasedelay 2 -s 8k /d");
    let chores = ["SYNC", "DROPCACHE"];
    let wanted = [&chores[..], &["WRITE"], &chores, &["READ"], &chores].concat();
    assert_eq!((names(&kept), kept.repeats), (wanted, 3));
    assert_eq!(kept.phases[0].delay, Nanos(0));
    assert_eq!(kept.phases[1].delay, Nanos::from_secs(2));
    assert_eq!(names(&plan("-w --rwmixpct 70 -s 1m /new")), ["RWMIX70"]);
    assert_eq!(names(&plan("-w --rwmixthr 1 -t 4 -s 8m /new")), ["MIX-T1"]);
    assert_eq!(names(&plan("-w -r --statinline --readinline -s 4k /d")), ["WRITE+s+r", "READ+s"]);
}

/// Names of the first and the last file of a worker.
fn item_names(plan: &Plan, rank: u64, ranks: u64) -> [String; 2] {
    let tree = plan.targets[0].tree.as_ref().expect("a tree");
    let (part, names) = (tree.part(rank, ranks), tree.names());
    [0, part.items() - 1].map(|nth| {
        let (place, mut path) = (part.item(nth), Vec::new());
        names.write_directory(&place, &mut path);
        names.write_item(&place, &mut path);
        String::from_utf8(path).expect("text")
    })
}

#[test]
fn names_match_elbencho() {
    for (line, rank, wanted) in [
        ("-w -t 4 -n 3 -N 10 -s 8k /d", 2, ["/r2/d0/r2-f0", "/r2/d2/r2-f9"]),
        ("-w -t 4 -n 0 -N 10 -s 8k /d", 3, ["/r3-f0", "/r3-f9"]),
        ("-w -t 4 -n 3 -N 10 --dirsharing -s 8k /d", 1, ["/r0/d0/r1-f0", "/r0/d2/r1-f9"]),
        ("-w -t 4 -n 1 -N 2 --rankoffset 8 -s 8k /d", 1, ["/r9/d0/r9-f0", "/r9/d0/r9-f1"]),
    ] {
        assert_eq!(item_names(&plan(line), rank, 4), wanted, "{line}");
    }
}

#[test]
fn directories_are_dealt_among_the_paths() {
    let plan = plan("-d -w -F -D -t 2 -n 3 -N 1 -s 8k /d /e");
    let wanted = ["files in /d", "files in /e"];
    assert_eq!(job(&plan, "WRITE").targets, wanted);
    let paths: Vec<_> = wanted.map(|name| plan.target(name).map(|of| of.path.clone())).into();
    assert_eq!(paths, [Some("/d".into()), Some("/e".into())]);
    let tree = plan.targets[0].tree.as_ref().expect("a tree");
    let homes = |rank| {
        let part = tree.part(rank, 2);
        (0..part.items()).map(|nth| tree.home(&part.item(nth), 2)).collect::<Vec<_>>()
    };
    assert_eq!((homes(0), homes(1)), (vec![0, 1, 0], vec![1, 0, 1]));
}

#[test]
fn a_tree_is_made_by_its_phase_alone() {
    let plan = plan("-d -w -r -F -D -t 4 -n 3 -N 10 -s 8k -b 1m --direct --nodelerr /d");
    let entries = |name: &str| job(&plan, name).entries().expect("entries").clone();
    let created = |name: &str| plan.target(&job(&plan, name).targets[0]).map(|of| of.create);
    assert_eq!(created("MKDIRS"), Some(Create::Files));
    assert_eq!(
        (created("WRITE"), created("RMDIRS")),
        (Some(Create::Nothing), Some(Create::Nothing))
    );
    assert!(plan.targets.iter().all(|target| target.keep && target.overwrite));
    assert_eq!(entries("WRITE").steps, [Step::Create, Step::Write, Step::Close]);
    assert_eq!(entries("WRITE").size, Some(Bytes(8192)), "no block is larger than its file");
    assert!(entries("WRITE").direct && !entries("RMFILES").direct);
    assert_eq!((entries("MKDIRS").over, entries("RMFILES").over), (Over::Directories, Over::Items));
    for (name, idempotent) in
        [("MKDIRS", true), ("RMFILES", true), ("RMDIRS", true), ("READ", false)]
    {
        assert_eq!(entries(name).idempotent, idempotent, "{name}");
        let stop = job(&plan, name).stop.clone().expect("an end");
        assert!(!stop.continue_on_error, "{name} stops at any other error");
    }
    let strict = self::plan("-F -D -t 4 -n 3 -N 10 /d");
    for name in ["RMFILES", "RMDIRS"] {
        assert!(!job(&strict, name).entries().expect("entries").idempotent, "{name}");
    }
}

#[test]
fn every_worker_creates_and_removes_shared_directories() {
    let shared = plan("-d -w -F -D -t 3 -n 2 -N 1 -s 4k --dirsharing /d");
    let division = |plan: &Plan, name: &str| {
        let entries = job(plan, name).entries().expect("entries").clone();
        (entries.division, entries.idempotent)
    };
    assert_eq!(division(&shared, "MKDIRS"), (Division::Every, true));
    assert_eq!(division(&shared, "RMDIRS"), (Division::Every, true));
    assert_eq!(division(&shared, "RMFILES"), (Division::Own, false));
    let files = plan("-F -t 2 /g /f");
    assert_eq!(division(&files, "RMFILES"), (Division::Every, true));
}

#[test]
fn small_files_have_depth_limits_and_verified_words() {
    let plan = plan("-w --stat -r -t 4 --iodepth 8 --limitwrite 1m --verify 5 -s 24k -b 16k /d");
    let entries = |name: &str| job(&plan, name).entries().expect("entries").clone();
    let write = entries("WRITE");
    assert_eq!((write.depth, write.items_at_once), (8, Some(1)));
    assert_eq!(write.pace.bytes.map(|rate| rate.0), Some(4 << 20));
    assert_eq!(write.content.pattern.as_ref().map(ToString::to_string).as_deref(), Some("%o+5/8"));
    let verify = entries("READ").verify.expect("verified");
    assert_eq!((verify.format, verify.interval), (Format::Pattern, Bytes(8192)));
    assert_eq!((entries("STAT").depth, entries("STAT").verify), (1, None));
    assert_eq!(entries("READ").pace.bytes, None);
}

#[test]
fn lists_take_the_place_of_a_shape() {
    let line = "-d -w --stat -r -F -D -t 4 -b 1k --treefile /list --treerand --verify 3 /d";
    let plan = plan(line);
    let listing = plan.targets[0].listing.as_ref().expect("a list");
    let above = Some(Bytes((32 << 10) - 1));
    assert_eq!((&plan.targets[0].tree, listing.share_above), (&None, above));
    assert_eq!((listing.deal, listing.shuffled), (Deal::ByBytes, true));
    assert!(plan.targets.iter().all(|target| target.listing.as_ref() == Some(listing)));
    let write = job(&plan, "WRITE").entries().expect("entries");
    assert_eq!((write.size, write.steps.contains(&Step::Write)), (Some(Bytes(1024)), true));
    assert_eq!(write.verify.as_ref().map(|verify| verify.interval), Some(Bytes(1024)));
    let small = self::plan("-w --treefile /list --trunc --trunctosize --mmap /d");
    assert_eq!(small.targets[0].listing.as_ref().map(|listing| listing.share_above), Some(None));
    let other = "-w --treefile /list --sharesize 8k --treeroundup 4k --treeroundrob -n 7 -s 1m /d";
    let other = lowered(other).expect("good");
    let listed = other.setup.listed.as_ref().expect("a list");
    assert_eq!((listed.dirs, listed.files, listed.shared_files), (1, 3, 2));
    assert_eq!(listed.listing.round_up, Bytes(4096));
    assert_eq!(listed.listing.deal, Deal::InTurn);
    let noted: Vec<_> = other.notes.iter().map(|note| note.asked.as_str()).collect();
    assert!(noted.iter().any(|asked| asked.starts_with("size")), "{noted:?}");
    assert!(noted.iter().any(|asked| asked.starts_with("dirs")), "{noted:?}");
    let text = totals(&other);
    assert!(text.contains("* Entries total:      3 | 0 K | 0 M\n"), "{text}");
    assert!(text.contains("* Bytes total:        109010 | 0 MiB | 0 GiB\n"), "{text}");
}

#[test]
fn small_files_support_options_of_large_files() {
    let entries =
        |line: &str, name: &str| job(&plan(line), name).entries().expect("entries").clone();
    let line =
        "-w -r --mmap --fadv seq,dontneed --madv rand,hugepage --flock range -s 24k -b 4k /d";
    for phase in ["WRITE", "READ"] {
        let mapped = entries(line, phase);
        assert_eq!((mapped.engine, mapped.lock), (Some(EntriesEngine::Mmap), Lock::PosixRange));
        assert_eq!(mapped.advice.0, [Advice::Sequential, Advice::Dontneed]);
        let of_maps = mapped.map_advice.map(|pieces| pieces.0);
        assert_eq!(of_maps, Some(vec![MapAdvice::Random, MapAdvice::Hugepage]));
    }
    let made = "-w -r --trunc --trunctosize --preallocfile --statinline --rand -s 24k -b 4k /d";
    let (write, read) = (entries(made, "WRITE+s"), entries(made, "READ+s"));
    assert!(write.truncate_at_open && !read.truncate_at_open);
    let steps =
        [Step::Create, Step::Ftruncate, Step::Fallocate, Step::Stat, Step::Write, Step::Close];
    assert_eq!(write.steps, steps);
    assert_eq!((write.access, read.access), (Access::Permutation, Access::Random));
    assert_eq!(entries("-r --backward -s 24k -b 4k /d", "READ").access, Access::Backward);
    let deep = entries("-w --direct --iodepth 8 -s 24k -b 4k /d", "WRITE");
    assert_eq!((deep.engine, deep.items_at_once), (Some(EntriesEngine::Libaio), Some(1)));
    let back = entries("-w --direct --verify 3 --verifydirect -s 24k -b 4k /d", "WRITE");
    assert_eq!(back.verify.map(|verify| verify.read_back), Some(true));
    let empty = entries("-w --mmap --flock full --fadv rand -s 0 /d", "WRITE");
    assert_eq!((empty.engine, empty.lock, empty.advice.0), {
        (None, Lock::None, vec![Advice::Random])
    });
    assert_eq!(entries("-w --rwmixpct 70 -s 24k -b 4k /d", "RWMIX70").read_percent, 70);
}

#[test]
fn the_first_workers_read_their_own_small_files() {
    let plan = plan("-w --rwmixthr 1 -t 4 -n 2 -N 3 -s 8k --rankoffset 8 /d /e");
    let mix = &plan.phases[0];
    let of = |name: &str| mix.jobs.iter().find(|job| job.name == name).expect("a job");
    let (readers, writers) = (of("readers"), of("writers"));
    assert_eq!((readers.workers, writers.workers), (1, 3));
    let steps = |job: &Job| job.entries().map(|entries| entries.steps.clone());
    assert_eq!(steps(readers), Some(vec![Step::Open, Step::Read, Step::Close]));
    assert_eq!(steps(writers), Some(vec![Step::Create, Step::Write, Step::Close]));
    let part = |first| Some(RankPart { first, of: 4 });
    assert_eq!((readers.part, writers.part), (part(0), part(1)));
    assert!(
        plan.targets.iter().all(|target| target.tree.as_ref().expect("a tree").first_rank == 8)
    );
}

#[test]
fn readers_and_writers_of_large_files_have_slices_of_their_own() {
    let plan = plan("-w --rwmixthr 1 -t 3 -s 3m -b 64k --rand /new");
    let parts: Vec<_> = plan.phases[0].jobs.iter().map(|job| (job.workers, job.part)).collect();
    let part = |first| Some(RankPart { first, of: 3 });
    assert_eq!(parts, [(2, part(1)), (1, part(0))]);
    let bytes = |job: &Job| job.stop.as_ref().and_then(|stop| stop.bytes);
    assert!(plan.phases[0].jobs.iter().all(|job| bytes(job) == Some(Bytes(1 << 20))));
    let all = self::plan("-w --rwmixthr 3 -t 3 -s 3m -b 64k /f");
    assert_eq!(all.phases[0].jobs.len(), 1, "nobody is left to write");
    let more = lowered("-w --rwmixthr 9 -t 3 -s 3m -b 64k /f").expect("good");
    assert_eq!(more.phases[0].name, "MIX-T3");
}

#[test]
fn a_share_of_reads_is_exact_and_finds_the_whole_file() {
    let plan = plan("-w --rwmixpct 30 --rand -t 2 -s 4m -b 16k /new");
    let blocks = job(&plan, "RWMIX30").blocks().expect("blocks");
    assert_eq!((blocks.mix.read, blocks.mix_by_number), (30, true));
    assert_eq!(plan.target("/new").map(|target| target.layout), Some(Layout::Sparse));
    let plain = self::plan("-w -s 4m /new");
    assert!(!job(&plain, "WRITE").blocks().expect("blocks").mix_by_number);
    assert_eq!(names(&self::plan("-w --rwmixpct 0 -s 1m /new")), ["RWMIX0"]);
}

#[test]
fn blocks_are_read_back_without_words_too() {
    let plan = plan("-w --readinline -s 4m -b 64k /new");
    let verify = job(&plan, "WRITE").blocks().and_then(|blocks| blocks.verify.clone());
    let verify = verify.expect("it is read back");
    assert_eq!((verify.format, verify.read_back.is_some()), (Format::Nothing, true));
    let small = self::plan("-w --readinline -s 64k -b 4k /d");
    let entries = job(&small, "WRITE+r").entries().expect("entries").clone();
    assert_eq!(entries.steps, [Step::Create, Step::Write, Step::Close]);
    assert_eq!(entries.verify.map(|of| (of.format, of.read_back)), Some((Format::Nothing, true)));
}

#[test]
fn a_part_of_each_block_is_new() {
    let plan = plan("-w --blockvarpct 30 -s 4m /new");
    let content = job(&plan, "WRITE").blocks().expect("blocks").content.clone();
    assert_eq!((content.fill, content.compressible_percent), (Fill::Pool, 70));
    assert_eq!(content.compressible_piece, Some(Bytes(0)), "the part is one piece of the block");
}

/// Options that elbencho accepts without effect.
#[test]
fn options_without_their_partner_are_noted() {
    for (line, option) in [
        ("-w --treerand /d", "treerand"),
        ("-w --sharesize 4k -s 4k /d", "sharesize"),
        ("-w --treeroundup 4k -s 4k /d", "treeroundup"),
        ("-w --rwmixthrpct 50 --infloop -t 4 -s 8m /new", "rwmixthrpct"),
        ("-w --dirstats -s 8m /new", "dirstats"),
        ("-w --dirsharing -s 8m /new", "dirsharing"),
        ("-w --rankoffset 1 -s 8m /new", "rankoffset"),
        ("-r --opsloglock /f", "opsloglock"),
        ("-r --randamount 1m --rand -s 4k /d", "randamount"),
        ("-w --trunc /dev/x", "trunc"),
        ("-w --mmap --direct -s 4k /d", "direct"),
    ] {
        let notes = lowered(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}")).notes;
        assert!(notes.iter().any(|note| note.asked.starts_with(option)), "{line}: {notes:?}");
    }
    for line in [
        "-w --norandalign --rand -s 64k -b 4k /d",
        "-w --sendbuf 64k --respsize 1 -s 8m /new",
        "-w --rwmixpct 30 --limitwrite 50m -s 8m --trunctosize /new",
        "-w --flock range --iodepth 4 -s 4m -b 64k /new",
        "-r --numhosts 3 /f",
        "-r --start 1 --dryrun /f",
    ] {
        plan(line);
    }
    let unaligned = plan("-w --norandalign --rand -s 64k -b 4k /d");
    let small = job(&unaligned, "WRITE").entries().expect("entries").clone();
    assert_eq!((small.access, small.align), (Access::Random, Some(Bytes(1))));
    let checked = plan("-r --norandalign --rand --verify 1 -b 4k /f");
    let verify = job(&checked, "READ").blocks().and_then(|blocks| blocks.verify.clone());
    assert_eq!(verify.map(|verify| verify.interval), Some(Bytes(4096)));
    let align = job(&checked, "READ").blocks().and_then(|blocks| blocks.align);
    assert_eq!(align.map(|align| align.read), Some(Bytes(1)), "words are checked at any offset");
    let cut = plan("-r --rand --norandalign --randamount 22000 -t 3 -b 4k /f");
    let read = job(&cut, "READ");
    assert_eq!(read.stop.as_ref().and_then(|stop| stop.bytes), Some(Bytes(7333)));
    assert!(read.blocks().is_some_and(|blocks| blocks.short_last));
    plan("-w --rwmixpct 30 --readinline -s 64k -b 4k /d");
    let locked = plan("-w --flock range --iodepth 4 -s 4m -b 64k /new");
    assert_eq!(job(&locked, "WRITE").blocks().expect("blocks").depth, 1, "each waits for its lock");
}

/// All files have the size of the first file, like in elbencho.
#[test]
fn the_first_file_sets_the_size() {
    let of = |line: &str| lowered(line).expect("good").setup;
    assert_eq!(of("-w -b 4k /f /g").bytes_of_paths, [GIB, GIB]);
    assert_eq!(of("-d -w --direct -s 10000 -b 4k /d").file_bytes, 8192);
    assert_eq!(of("-w --rand --direct --norandalign -s 64k -b 4k /f").file_bytes, 64 << 10);
    assert!(refused("-r -b 4k /f /g").contains("has 1000 bytes, less than the"));
    assert!(refused("-r -s 2g /f").contains("less than the"));
}

#[test]
fn large_files_are_locked_advised_and_emptied() {
    let blocks = |line: &str, name: &str| job(&plan(line), name).blocks().expect("blocks").clone();
    let line = "-w -r --trunc --flock full --fadv noreuse,willneed --madv seq -b 4k /f";
    let (write, read) = (blocks(line, "WRITE"), blocks(line, "READ"));
    assert_eq!((write.truncate_at_open, read.truncate_at_open), (true, false));
    assert_eq!((write.lock, read.lock), (Lock::PosixFile, Lock::PosixFile));
    assert_eq!(write.hints.advice.0, [Advice::Noreuse, Advice::Willneed]);
    assert_eq!(write.hints.map_advice, None, "nothing is mapped");
    let notes = lowered(line).expect("good").notes;
    assert!(notes.iter().any(|note| note.asked.starts_with("madv")), "{notes:?}");
    let mapped = blocks("-r --mmap --fadv rand -b 4k /dev/x", "READ");
    assert_eq!(mapped.hints.map_advice, Some(Pieces::default()), "advice about files alone");
}

#[test]
fn files_are_one_range() {
    let plan = plan("-w -r -t 4 -s 100000 -b 64k /new1 /new2");
    let write = job(&plan, "WRITE").blocks().expect("blocks");
    assert_eq!((&write.share, write.short_last), (&Share::Span, true));
    assert_eq!(write.rotation.order, FileOrder::Sequential);
    assert_eq!(job(&plan, "WRITE").targets, ["/new1", "/new2"]);
    let found = &job(&plan, "READ").targets[0];
    let found = plan.target(found).expect("a target");
    assert_eq!((found.create, found.layout), (Create::Nothing, Layout::Never));
    let backward = self::plan("-r --backward -t 2 -b 4k -s 1000 /f /g");
    assert_eq!(job(&backward, "READ").targets, ["/g, as found", "/f, as found"]);
}

#[test]
fn random_access_has_an_amount_and_writes_touch_each_block_once() {
    let of = |line: &str, phase: &str| {
        let plan = plan(line);
        let (job, blocks) = (job(&plan, phase).clone(), job(&plan, phase).blocks().cloned());
        (job.stop.expect("an end"), blocks.expect("blocks"))
    };
    let (stop, read) = of("-r --rand --randamount 64m -t 4 -b 4k /f", "READ");
    assert_eq!((stop.bytes, &read.access), (Some(Bytes(16 << 20)), &Access::Random));
    assert_eq!(read.rotation.order, FileOrder::ByBytes);
    let (stop, write) = of("-w --rand -t 4 -b 4k /f", "WRITE");
    assert_eq!((stop.bytes, write.access), (Some(Bytes(GIB / 4)), Access::Permutation));
    assert_eq!(of("-w --rand --randalgo fast -b 4k /f", "WRITE").1.access, Access::Random);
    let (stop, _) = of("-r --rand --infloop --timelimit 5 -t 2 -b 4k /f", "READ");
    assert_eq!(
        (stop.bytes, stop.time, stop.passes),
        (None, Some(Nanos::from_secs(5)), Some(u32::MAX))
    );
    let cut = lowered("-r --rand -t 3 -b 4k /f").expect("good");
    assert_eq!(cut.setup.random_bytes, GIB / 12288 * 12288);
    assert!(cut.notes.iter().any(|note| note.asked.starts_with("randamount")), "{:?}", cut.notes);
}

#[test]
fn limits_engine_and_content() {
    let plan =
        plan("-w -r -t 4 --limitread 8m --iodepth 16 --direct --timelimit 9 --verify 7 -b 64k /f");
    let (read, write) = (job(&plan, "READ"), job(&plan, "WRITE").blocks().expect("blocks"));
    assert_eq!(read.on_done, OnDone::EndRunByTime);
    let Work::Blocks(blocks) = &read.work else { panic!("blocks") };
    assert_eq!((blocks.pace.bytes.map(|rate| rate.0), blocks.depth), (Some(32 << 20), 16));
    assert_eq!((blocks.engine.name(), blocks.direct), ("libaio", true));
    assert_eq!(write.pace.bytes, None);
    assert_eq!(write.content.pattern.as_ref().map(ToString::to_string).as_deref(), Some("%o+7/8"));
    let verify = blocks.verify.as_ref().expect("verified");
    assert_eq!((verify.format, verify.interval), (Format::Pattern, Bytes(64 << 10)));
    let plain = self::plan("-w --blockvarpct 0 --mmap -s 1m /new");
    let plain = job(&plain, "WRITE").blocks().expect("blocks");
    assert_eq!((plain.content.fill, plain.engine.name()), (Fill::Once, "mmap"));
}

#[test]
fn workers_have_places_and_a_start() {
    let cores = plan("-r --cores [2-3] --start 1003 -b 4k /f");
    assert_eq!(job(&cores, "READ").placement.cpus, [2, 3]);
    assert_eq!(cores.phases[0].delay, Nanos(2_750_000_000));
    assert_eq!(job(&plan("-r --zones all -b 4k /f"), "READ").placement.cpus, [0, 2, 1, 3]);
    assert_eq!(job(&plan("-r --zones 1 -b 4k /f"), "READ").placement.numa_node, Some(1));
    let both = plan("-r --cores 0,3 --zones 1 -b 4k /f");
    let both = job(&both, "READ");
    assert_eq!((&both.placement.cpus[..], both.placement.split), (&[0, 3][..], true));
    assert_eq!(both.threads.memory, Some(MemoryPolicy::Prefer(1)), "as elbencho's workers do");
}

#[test]
fn readers_and_writers_share_bytes() {
    for path in ["/new", "/d"] {
        let plan = plan(&format!("-w -t 4 --rwmixthr 1 --rwmixthrpct 70 --infloop -s 8m {path}"));
        let shares = plan.phases[0].jobs.iter().map(|job| {
            let of_blocks = job.blocks().map(|blocks| blocks.pace.clone());
            let pace = of_blocks.or_else(|| job.entries().map(|entries| entries.pace.clone()));
            let flow = pace.and_then(|pace| pace.flow).expect("a flow");
            (job.name.as_str(), job.workers, flow.weight, flow.bytes && flow.together)
        });
        let shares: Vec<_> = shares.collect();
        assert_eq!(shares, [("writers", 3, 30, true), ("readers", 1, 70, true)], "{path}");
    }
}

#[test]
fn each_job_with_operations_logs_them() {
    let plan = plan("-w -F --sync --dropcache -s 8m --opslog /ops --opsloglock /new");
    for phase in &plan.phases {
        let log = phase.jobs[0].operations_log.as_ref();
        let is_program = matches!(phase.jobs[0].work, Work::Program(_));
        assert_eq!(log.map(|log| (log.file.as_path(), log.lock)), {
            (!is_program).then_some((Path::new("/ops"), true))
        });
    }
}

#[test]
fn a_mix_without_writes_is_noted() {
    let lowered = lowered("-r --rwmixpct 70 /f").expect("good");
    assert!(lowered.notes.iter().any(|note| note.did == "nothing"), "{:?}", lowered.notes);
}

#[test]
fn mistakes_are_sentences() {
    for (line, part) in [
        ("-r /none", "`/none` does not exist, and no phase writes it"),
        ("-w /new", "has no bytes to use, and no size is given"),
        ("-w -s 4k /dev/none", "is no name for a file"),
        ("-r /d /f", "`/d` is of the kind dir, and `/f` of the kind file"),
        ("-r /pipe", "is no directory, file or block device"),
        ("-d /new", "--mkdirs does not apply to a path of the kind file"),
        ("-w --stat -s 4k /new", "--stat does not apply to a path of the kind file"),
        ("-w --strided -s 4k /d", "--strided does not apply to a path of the kind dir"),
        ("-F /dev/x", "--delfiles does not apply to a path of the kind blockdev"),
        ("-r -s 2g /dev/x", "less than the"),
        ("-r --mmap --iodepth 4 /f", "--mmap has one I/O in flight, and --iodepth is 4"),
        ("-w --flock full --iodepth 4 -s 4k /d", "leaves one write in flight"),
        ("-w -t 3 -s 128k -b 64k /new", "3 workers share 2 blocks of 65536 bytes"),
        ("-w --rand --backward -s 1m /new", "exclude each other"),
        ("-r --strided --backward /f", "exclude each other"),
        ("-w --readinline --iodepth 4 -s 1m /new", "--readinline has one I/O in flight"),
        ("-w --rwmixthr 1 -t 2 --rwmixthrpct 50 --infloop --limitread 1m -s 8m /new", "a limit"),
        ("-r --direct -b 1000 /f", "is not aligned to 512"),
        ("-w --rand --verify 1 /f", "are not verified where they are written at random places"),
        ("-w --verifydirect -s 4k /new", "reads back what --verify has written"),
        ("-r --start 999 /f", "the second 999 has passed"),
        ("-r --zones 0,7 /f", "there is no NUMA node 7"),
        ("-r --cores 0 --zones 0,1 /f", "all workers use the memory of one NUMA node"),
        ("-w --treefile /list /d /e", "a list is of one directory"),
        ("-w --treefile /list --trunc -b 1k /d", "would empty what others wrote to their parts"),
        ("-w --treefile /list -s 1m /new", "a list is of a directory, and the path is a file"),
        ("-w --treefile /odd /d", "`../x` leads out of the tree"),
        ("-w --rwmixthr 1 -t 4 --rwmixpct 50 -s 8m /new", "--rwmixthr workers"),
        ("-w --rwmixthr 1 -t 4 --rwmixthrpct 50 -s 8m /new", "add --infloop, or"),
    ] {
        let error = refused(line);
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn a_dry_run_prints_totals() {
    let of = |line: &str| totals(&lowered(line).expect("good"));
    let wanted = "\
Phase: MKDIRS
* Entries per thread: 3 | 0 K | 0 M
* Entries total:      12 | 0 K | 0 M
Phase: WRITE
* Entries per thread: 3000 | 3 K | 0 M
* Entries total:      12000 | 12 K | 0 M
* Bytes per thread:   24576000 | 23 MiB | 0 GiB
* Bytes total:        98304000 | 93 MiB | 0 GiB
";
    assert_eq!(of("-d -w -t 4 -n 3 -N 1000 -s 8k /d"), wanted);
    let file = of("-r -F -t 2 -b 4k /f");
    assert!(file.contains("* Bytes per thread:   536870912 | 512 MiB | 0 GiB\n"), "{file}");
    let removed = "Phase: RMFILES\n* Entries per thread: 1 | 0 K | 0 M\n\
                   * Entries total:      2 | 0 K | 0 M\n";
    assert!(file.ends_with(removed), "{file}");
}
