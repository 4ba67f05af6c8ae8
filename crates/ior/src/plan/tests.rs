//! Tests from command lines to plans.

mod rows;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_plan::blocks::{Access, Fill, Format, Opening, SegmentDeal, Share};
use candor_plan::entries::{Over, Step};
use candor_plan::rank::Seat;
use candor_plan::units::Mix;
use candor_plan::{
    Create, Engine, Job, Phase, PlanPath, RankOrder, Sharing, Stonewall, TargetKind, check,
};

use proptest::prelude::*;

use super::*;
use crate::options::{Reading, read};
use candor_front::evidence::{Surroundings, sentences};
use candor_front::{Found, ReadAs};

/// A host with these files, at second 1000.
#[derive(Default)]
struct Things(HashMap<&'static str, Found>, &'static [(&'static str, &'static str)]);

impl Host for Things {
    fn found(&self, path: &Path) -> Found {
        let path = path.to_str().unwrap_or_default();
        self.0.get(path).copied().unwrap_or(Found::Nothing)
    }

    fn now(&self) -> Duration {
        Duration::from_secs(1000)
    }

    fn first_bytes(&self, path: &Path, _: ReadAs, _: usize) -> io::Result<Vec<u8>> {
        let found = self.1.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn variables(&self, begin: &str) -> Vec<String> {
        ["IOR_HINT__MPI__x"]
            .iter()
            .filter(|name| name.starts_with(begin))
            .map(|n| (*n).into())
            .collect()
    }
}

const MIB: u64 = 1 << 20;

fn things() -> Things {
    let found = HashMap::from([
        ("/old", Found::File(MIB)),
        ("/set.00000001", Found::File(MIB)),
        ("/d", Found::Directory),
        ("/pipe", Found::Other),
        ("/dev/x", Found::Device(Some(1 << 40))),
    ]);
    Things(found, &[("count", "12\n"), ("odd", "many")])
}

/// The reading of a line, with files and variables of these names.
fn reading_in(line: &str, around: &[(&str, &str)]) -> Reading {
    let argv: Vec<_> = std::iter::once("ior").chain(line.split(' ')).map(Into::into).collect();
    read(&argv, &mut Surroundings { files: around, variables: around })
}

fn lowered_in(line: &str, around: &[(&str, &str)]) -> Result<Lowered, Vec<String>> {
    let reading = reading_in(line, around);
    if !reading.errors.is_empty() {
        return Err(sentences(&reading.errors, &reading.texts));
    }
    lower(&reading, &things()).map_err(|errors| sentences(&errors, &reading.texts))
}

fn lowered(line: &str) -> Lowered {
    let lowered = lowered_in(line, &[]).unwrap_or_else(|errors| panic!("{line}: {errors:?}"));
    let problems: Vec<_> = check::check(&lowered.plan)
        .into_iter()
        .filter(|problem| problem.is_error() && !problem.rule.starts_with("not-yet"))
        .collect();
    assert_eq!(problems, [], "{line}");
    lowered
}

/// The engine of the write, whether it bypasses the cache, and the notes on that.
fn issued(line: &str) -> (Engine, bool, Vec<String>) {
    let lowered = lowered(line);
    let blocks = lowered.plan.phases[0].jobs[0].blocks().expect("blocks");
    let notes = lowered
        .notes
        .iter()
        .filter(|note| note.did.contains("cache") || note.did == "pread and pwrite");
    (blocks.engine, blocks.direct, notes.map(|note| note.asked.clone()).collect())
}

#[test]
fn back_ends_have_engines() {
    assert_eq!(issued("-w -a MPIIO -c"), (Engine::Psync, false, vec!["api=MPIIO".into()]));
    let direct = vec!["api=MPIIO".into(), "posix.odirect".into()];
    assert_eq!(issued("-w -a MPIIO --posix.odirect"), (Engine::Psync, false, direct));
    let mapped = issued("-w -a MMAP -O useO_DIRECT=1");
    assert_eq!(mapped, (Engine::MMAP, false, vec!["useO_DIRECT=1".into()]));
    assert_eq!(issued("-w --posix.odirect"), (Engine::Psync, true, Vec::new()));
}

#[test]
fn waits_come_before_phases() {
    let delays = |line: &str| -> Vec<u64> {
        lowered(line).plan.phases.iter().map(|phase| phase.delay.0 / 1000).collect()
    };
    assert_eq!(delays("-w -r -k -d 0.5"), [500_000, 500_000]);
    let dummy = "--dummy.delay-create=300 --dummy.delay-close=20";
    assert_eq!(delays(&format!("-w -r -a DUMMY {dummy}")), [320, 20]);
    assert_eq!(delays(&format!("-w -r -k {dummy}")), [0, 0], "other back ends have no such pause");
}

fn refused(line: &str) -> String {
    lowered_in(line, &[]).err().unwrap_or_else(|| panic!("{line} is accepted")).join("\n")
}

/// A phase on one line, without default values.
fn shown(phase: &Phase) -> String {
    let job = &phase.jobs[0];
    let mut words = vec![format!("{}: {}", phase.name, job.workers)];
    if let Some(entries) = job.entries() {
        assert_eq!((entries.over, &entries.steps[..]), (Over::TargetFiles, &[Step::Unlink][..]));
        words.push(format!("unlink {}", job.targets.join(" ")));
        return words.join(" ");
    }
    let blocks = job.blocks().expect("blocks");
    words.push(match job.sharing {
        Sharing::Own => "own".into(),
        Sharing::Shared => "shared".into(),
    });
    words.push(format!("{}", blocks.size.read));
    words.push(match &blocks.share {
        Share::Segments { block, count, deal } => {
            let scattered = if *deal == SegmentDeal::Scattered { " scattered" } else { "" };
            format!("of {block} x {count}{scattered}")
        }
        other => format!("{other:?}"),
    });
    if blocks.access != Access::Sequential {
        words.push(format!("{:?}", blocks.access));
    }
    match job.rank_order {
        RankOrder::InOrder if job.rank_shift == 0 => {}
        RankOrder::InOrder => words.push(format!("+{}", job.rank_shift)),
        RankOrder::Random { seed, distance, repeats } => {
            words.push(format!("random({seed}, {distance}, {repeats})"));
        }
    }
    let sync = blocks.durability;
    let of_engine = [
        (blocks.engine != Engine::Psync, blocks.engine.name().to_owned()),
        (blocks.depth > 1, format!("depth {}/{}", blocks.depth, blocks.batch_submit.unwrap_or(0))),
        (blocks.direct, "direct".into()),
        (sync.fsync_at_end, "fsync".into()),
        (sync.fsync_every > 0, format!("fsync/{}", sync.fsync_every)),
        (blocks.opening == Opening::InStages, "stages".into()),
        (blocks.opening == Opening::Before, "open before".into()),
        (blocks.verify.is_some(), "verify".into()),
        (phase.delay.0 > 0, format!("delay {}", phase.delay)),
    ];
    words.extend(of_engine.into_iter().filter(|(is, _)| *is).map(|(_, word)| word));
    let stop = job.stop.clone().unwrap_or_default();
    words.extend(stop.time.map(|time| format!("time {time}")));
    words.extend(stop.ops.map(|ops| format!("ops {ops}")));
    if stop.stonewall == Stonewall::WearOut {
        words.push("wear out".into());
    }
    words.join(" ")
}

fn phases(line: &str) -> Vec<String> {
    lowered(line).plan.phases.iter().map(shown).collect()
}

/// Command lines of guides, papers and IO500, and their phases.
const LINES: &[(&str, &[&str])] = &[
    (
        "-o /f",
        &[
            "write: 1 shared 256k of 1m x 1",
            "read: 1 shared 256k of 1m x 1",
            "remove: 1 unlink /f, as found",
        ],
    ),
    (
        "--ranks 4 -t 1m -b 16m -s 16 -o /f",
        &[
            "write: 4 shared 1m of 16m x 16",
            "read: 4 shared 1m of 16m x 16",
            "remove: 1 unlink /f, as found",
        ],
    ),
    (
        "--ranks 4 -t 1m -b 16m -s 16 -F -o /f",
        &[
            "write: 4 own 1m of 16m x 16",
            "read: 4 own 1m of 16m x 16",
            "remove: 4 unlink /f, as found",
        ],
    ),
    (
        "--ranks 4 -t 1m -b 16m -s 16 -F -C -k -o /f",
        &["write: 4 own 1m of 16m x 16", "read: 4 own 1m of 16m x 16"],
    ),
    (
        "--ranks 4 -t 1m -b 16m -s 16 -F -C -e -k -o /f",
        &["write: 4 own 1m of 16m x 16 fsync", "read: 4 own 1m of 16m x 16"],
    ),
    ("--ranks 4 -w -k -Y -t 4k -b 4k -s 1000 -o /f", &["write: 4 shared 4k of 4k x 1000 fsync/1"]),
    ("-w -k -o /f", &["write: 1 shared 256k of 1m x 1"]),
    ("-w -o /f", &["write: 1 shared 256k of 1m x 1", "remove: 1 unlink /f, as found"]),
    ("-r -k -o /old", &["read: 1 shared 256k of 1m x 1"]),
    ("-r -o /old", &["read: 1 shared 256k of 1m x 1", "remove: 1 unlink /old, as found"]),
    ("-w -k -o /old", &["delete: 1 unlink old files", "write: 1 shared 256k of 1m x 1"]),
    ("-w -k -E -o /old", &["write: 1 shared 256k of 1m x 1"]),
    ("--ranks 2 -w -k -F -o /set", &["delete: 2 unlink old files", "write: 2 own 256k of 1m x 1"]),
    (
        "-w -k -i 2 -o /f",
        &[
            "write: 1 shared 256k of 1m x 1",
            "delete, repetition 1: 1 unlink old files, repetition 1",
            "write, repetition 1: 1 shared 256k of 1m x 1",
        ],
    ),
    (
        "-w -k -i 2 -m -o /f",
        &["write: 1 shared 256k of 1m x 1", "write, repetition 1: 1 shared 256k of 1m x 1"],
    ),
    (
        "-w -i 2 -d 3 -o /f",
        &[
            "write: 1 shared 256k of 1m x 1 delay 3s",
            "remove: 1 unlink /f, as found",
            "write, repetition 1: 1 shared 256k of 1m x 1 delay 3s",
            "remove, repetition 1: 1 unlink /f, as found",
        ],
    ),
    ("--ranks 8 -N 3 -w -k -o /f", &["write: 3 shared 256k of 1m x 1"]),
    ("--ranks 2 -N 3 -w -k -o /f", &["write: 2 shared 256k of 1m x 1"]),
    (
        "-w -W -r -R -k -o /f",
        &[
            "write: 1 shared 256k of 1m x 1",
            "check: 1 shared 256k of 1m x 1 verify",
            "read: 1 shared 256k of 1m x 1 verify",
        ],
    ),
    ("-R -G 7 -k -o /old", &["read: 1 shared 256k of 1m x 1 verify"]),
    ("--ranks 2 -w -k -z -F -t 64k -o /f", &["write: 2 own 64k of 1m x 1 Permutation"]),
    ("--ranks 2 -w -k -z -t 64k -o /f", &["write: 2 shared 64k of 1m x 1 scattered"]),
    ("--ranks 2 -r -k -z -z -F -b 1m -s 4 -t 64k -o /f", &["read: 2 own 64k Whole Random ops 64"]),
    ("--ranks 2 -r -k -z -z -b 1m -s 4 -t 64k -o /f", &["read: 2 shared 64k Whole Random ops 64"]),
    ("--ranks 4 -r -k -Z -X 7 -F -o /f", &["read: 4 own 256k of 1m x 1 random(7, 0, true)"]),
    ("--ranks 4 -r -k -Z -Z -X 7 -F -o /f", &["read: 4 own 256k of 1m x 1 random(7, 0, false)"]),
    (
        "--ranks 2 -r -k -i 2 -Z -X -7 -F -o /f",
        &[
            "read: 2 own 256k of 1m x 1 random(7, 0, true)",
            "read, repetition 1: 2 own 256k of 1m x 1 random(8, 0, true)",
        ],
    ),
    ("-w -k -D 60 -o /f", &["write: 1 shared 256k of 1m x 1 time 60s"]),
    (
        "-w -k -D 60 -O stoneWallingWearOut=1 -o /f",
        &["write: 1 shared 256k of 1m x 1 time 60s wear out"],
    ),
    ("-r -k -O stoneWallingWearOutIterations=3 -o /f", &["read: 1 shared 256k of 1m x 1 ops 3"]),
    ("-r -k -O stoneWallingStatusFile=count -o /f", &["read: 1 shared 256k of 1m x 1 ops 12"]),
    ("-w -k -g --posix.odirect -o /f", &["write: 1 shared 256k of 1m x 1 direct stages"]),
    ("-w -k -B -o /f", &["write: 1 shared 256k of 1m x 1 direct"]),
    ("-w -k -O useO_DIRECT=1 -o /f", &["write: 1 shared 256k of 1m x 1 direct"]),
    ("-w -k --posix.rangelocks -o /f", &["write: 1 shared 256k of 1m x 1 open before"]),
    ("-a MMAP -w -k -o /f", &["write: 1 shared 256k of 1m x 1 mmap"]),
    (
        "-a AIO -w -k --posix.odirect -o /f",
        &["write: 1 shared 256k of 1m x 1 libaio depth 128/16 direct"],
    ),
    (
        "-a AIO --aio.max-pending=8 --aio.granularity=64 -w -k -o /f",
        &["write: 1 shared 256k of 1m x 1 libaio depth 8/8"],
    ),
    (
        "-a io_uring --io_uring.max-pending=32 -w -k -o /f",
        &["write: 1 shared 256k of 1m x 1 io_uring depth 32/16"],
    ),
    (
        "--ranks 3 -a DUMMY -o /f",
        &["write: 3 shared 256k of 1m x 1 null", "read: 3 shared 256k of 1m x 1 null"],
    ),
    // IO500's easy and hard writes and reads.
    (
        "--ranks 2 -C -Q 1 -g -G 271 -k -e -o /e/ior_file_easy -O stoneWallingStatusFile=s -O \
      stoneWallingWearOut=1 -D 300 -t 2m -b 9920000m -F -w -a POSIX",
        &["write: 2 own 2m of 9920000m x 1 fsync stages time 300s wear out"],
    ),
    (
        "--ranks 2 -C -Q 1 -g -G 27 -k -e -t 47008 -b 47008 -s 10000000 -w -D 300 -a POSIX -O \
      stoneWallingWearOut=1 -o /h/IOR_file",
        &["write: 2 shared 47008B of 47008B x 10000000 fsync stages time 300s wear out"],
    ),
    ("-w -k -o /dev/x", &["write: 1 shared 256k of 1m x 1"]),
];

#[test]
fn command_lines_become_phases() {
    assert!(LINES.len() >= 40);
    let plain = |text: &str| text.replace("MiB", "m").replace("KiB", "k");
    let mut wrong = Vec::new();
    for (line, wanted) in LINES {
        let got: Vec<String> = phases(line).iter().map(|phase| plain(phase)).collect();
        if got != *wanted {
            wrong.push(format!("{line}: {got:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn job(lowered: &Lowered, phase: &str) -> Job {
    let found = lowered.plan.phases.iter().find(|of| of.name == phase);
    found.unwrap_or_else(|| panic!("no phase {phase}")).jobs[0].clone()
}

#[test]
fn files_have_iors_names() {
    let names = |line: &str| {
        let lowered = lowered(line);
        let of_writes =
            lowered.plan.phases.iter().filter(|phase| {
                phase.jobs[0].blocks().is_some_and(|blocks| blocks.mix == Mix::WRITE)
            });
        let mut paths: Vec<PathBuf> = Vec::new();
        for name in of_writes.flat_map(|phase| &phase.jobs[0].targets) {
            let target = lowered.plan.target(name).expect("a target");
            match target.kind {
                TargetKind::FileSet => {
                    paths.extend((0..target.files_named()).map(|nth| target.file_of_set(nth).0));
                }
                _ => paths.push(target.path.clone()),
            }
        }
        paths.into_iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("-w"), ["testFile"]);
    assert_eq!(names("-w -i 2 -m -o /d/f"), ["/d/f.0", "/d/f.1"]);
    assert_eq!(names("--ranks 2 -w -F"), ["testFile.00000000", "testFile.00000001"]);
    assert_eq!(names("--ranks 2 -w -F -u -o /d/f"), { ["/d/0/f.00000000", "/d/1/f.00000001"] });
    assert_eq!(names("-w -F -i 2 -m -u -o f{1}"), ["f0/{1}.00000000.0", "f0/{1}.00000000.1"]);
    assert_eq!(names("--ranks 3 -w -F -o /a/f@/b/g"), {
        ["/a/f.00000000", "/b/g.00000001", "/a/f.00000002"]
    });
    let unique = lowered("--ranks 2 -w -F -u -o /d/f");
    let made: Vec<Create> = unique.plan.targets.iter().map(|target| target.create).collect();
    assert_eq!(made, [Create::Parents, Create::Nothing]);
    assert!(unique.plan.targets.iter().all(|target| target.keep && target.overwrite));
}

/// Position of each byte: `s·n·b + r·b + j·t` in a shared file, `s·b + j·t` in a task's own file.
#[test]
fn segments_lie_by_the_formula() {
    const RANKS: u64 = 10_000;
    let shared = Seat::of(Sharing::Shared, 6789, RANKS, 1).dealt(47008 * 4);
    for (segment, transfer) in [(0, 0), (0, 3), (7, 2), (1 << 20, 1)] {
        let wanted = segment * RANKS * 47008 * 4 + 6789 * 47008 * 4 + transfer * 47008;
        assert_eq!(shared.start() + shared.offset(segment * 47008 * 4 + transfer * 47008), wanted);
    }
}

#[test]
fn distances_count_nodes() {
    let shifts = |line: &str, variables: &[(&str, &str)]| {
        let lowered = lowered_in(line, variables).unwrap_or_else(|errors| panic!("{errors:?}"));
        let of = |kind| {
            let found = lowered.phases.iter().position(|phase| phase.kind == kind);
            found.map(|nth| lowered.plan.phases[nth].jobs[0].rank_shift)
        };
        [of(PhaseKind::Write), of(PhaseKind::Check), of(PhaseKind::Read)]
    };
    let nodes = &[("IOR_FAKE_NODES", "4"), ("IOR_FAKE_TASK_PER_NODES", "2")];
    let line = "--ranks 8 -C -w -W -r -F -o /f";
    assert_eq!(shifts(line, &[]), [Some(0), Some(0), Some(0)], "one node");
    assert_eq!(shifts(line, nodes), [Some(0), Some(4), Some(2)]);
    assert_eq!(shifts(&format!("{line} -Q 3"), nodes), [Some(0), Some(4), Some(6)]);
    assert_eq!(shifts("--ranks 8 -w -W -r -F -o /f", nodes), [Some(0), Some(0), Some(0)]);
    let random = lowered_in("--ranks 8 -Z -r -F -k -o /f", nodes).expect("good");
    let order = job(&random, "read").rank_order;
    assert_eq!(order, RankOrder::Random { seed: 0, distance: 2, repeats: true });
}

#[test]
fn the_cache_is_named_where_reordering_cannot_avoid_it() {
    let notes = |line: &str, variables: &[(&str, &str)]| {
        let lowered = lowered_in(line, variables).unwrap_or_else(|errors| panic!("{errors:?}"));
        let about = lowered.notes.iter().filter(|note| note.asked.starts_with("reorderTasks"));
        about.map(|note| format!("{}; {}", note.did, note.why)).collect::<Vec<_>>().join(" | ")
    };
    let own = notes("--ranks 4 -C -F -o /f", &[]);
    assert!(own.starts_with("each task reads what it wrote itself"), "{own}");
    assert!(own.contains("cannot avoid the cache here"), "{own}");
    let nodes = &[("IOR_FAKE_NODES", "2"), ("IOR_FAKE_TASK_PER_NODES", "2")];
    let fake = notes("--ranks 4 -C -F -o /f", nodes);
    assert!(fake.starts_with("tasks read what other tasks of this host wrote"), "{fake}");
    assert!(fake.contains("cannot avoid the cache here"), "{fake}");
    assert!(!notes("--ranks 4 -C -F --posix.odirect -o /f", &[]).contains("cannot avoid"));
    let real = Reading { on_several_hosts: true, ..reading_in("--ranks 4 -C -F -o /f", nodes) };
    let lowered = lower(&real, &things()).expect("a plan");
    assert!(!lowered.notes.iter().any(|note| note.asked.starts_with("reorderTasks")));
    assert_eq!(notes("--ranks 4 -w -C -F -o /f", &[]), "", "nothing is read");
}

#[test]
fn content_is_words_with_the_signature() {
    let words = |line: &str, phase: &str| {
        let blocks = job(&lowered(line), phase).blocks().expect("blocks").clone();
        assert_eq!(blocks.content.fill, Fill::Words);
        let verify = blocks.verify.map(|verify| {
            assert_eq!(verify.format, Format::Words);
            (verify.interval.0, verify.continue_on_mismatch)
        });
        (blocks.content.words.expect("words"), verify)
    };
    let (write, none) = words("-w -l o -G 5 -o /f", "write");
    assert_eq!((write.seed, format!("{:?}", write.kind), none), (5, "Offset".into(), None));
    assert_eq!(words("-w -o /f", "write").0.seed, 1000, "the time");
    let (read, verify) = words("-r -R -G -5 -t 64k -q -k -o /f", "read");
    assert_eq!((read.seed, verify), (-5, Some((65536, false))));
    assert_eq!(words("-w -W -l random -o /f", "check").1, Some((256 << 10, true)));
    let anybody = words("--ranks 2 -r -R -G 1 -z -z --random-offset-seed=3 -k -o /f", "read").0;
    assert_eq!(anybody.rank_block, Some(Bytes(MIB)));
}

#[test]
fn tests_of_a_script_share_one_plan() {
    let script = "IOR START\ntestFile=/f\nkeepFile=1\nwriteFile=1\nRUN\nwriteFile=0,readFile=1\n\
                  RUN\nIOR STOP\n";
    let lowered = lowered_in("--ranks 2 -f s", &[("s", script)]).expect("good");
    let names: Vec<&str> = lowered.plan.phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["test 0, write", "test 1, read"]);
    assert_eq!(lowered.phases[1], TestPhase { test: 1, repetition: 0, kind: PhaseKind::Read });
    let again = "IOR START\ntestFile=/f\nkeepFile=1,writeFile=1\nRUN\nRUN\nIOR STOP\n";
    let lowered = lowered_in("-f s", &[("s", again)]).expect("good");
    let names: Vec<&str> = lowered.plan.phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["test 0, write", "test 1, delete", "test 1, write"]);
}

#[test]
fn memory_is_occupied_by_the_run() {
    let of = |line: &str| lowered(line).plan.occupy_memory;
    assert_eq!(of("-w -o /f"), None);
    assert_eq!(of("-w -M 2g -o /f"), Some(Extent::Bytes(Bytes(2 << 30))));
    assert_eq!(of("-w -M 75% -o /f"), Some(Extent::Percent(75.0)));
    assert_eq!(of("--ranks 4 -w -O memoryPerTask=1m -o /f"), Some(Extent::Bytes(Bytes(4 << 20))));
}

#[test]
fn problems_of_the_plan_point_at_words() {
    let lowered = lowered("-w -t 64k -o /f");
    let size = PlanPath::root().key("phase").index(0).key("job").index(0);
    let size = size.key("work").key("blocks").key("size");
    let at = lowered.origins.at(&size).expect("an origin");
    assert_eq!((at.start, at.end), (10, 13));
}

#[test]
fn combinations_without_sense_are_refused() {
    for (line, part) in [
        ("-t 0", "a transfer of 0 bytes never ends"),
        ("-t 12 -b 24", "a transfer of 12 bytes is no multiple of 8"),
        ("-t 8 -b 12", "a block of 12 bytes is no multiple of 8"),
        ("-t 1m -b 64k", "a block of 65536 bytes has no room for a transfer of 1048576"),
        (
            "-t 48k -b 1m",
            "no multiple of a transfer of 49152; give -b a multiple of -t (IOR: block \
                          size must be a multiple of transfer size)",
        ),
        ("-z -t 1m", "-z shuffles the transfers of a block, and each block has one only"),
        ("-C -Z -F", "-C and -Z exclude each other"),
        ("-z -C", "-z on a shared file and -C exclude each other"),
        ("-z -Z", "-z on a shared file and -Z exclude each other"),
        ("-R", "can be verified by its signature only; give -G the number that the write had"),
        ("-W", "can be verified by its signature only"),
        ("-w -R -z -F", "-R of random offsets needs their seed"),
        ("-w -W -z -z", "blocks that were written at random places cannot be verified"),
        ("-O stoneWallingWearOut=1", "continues after a deadline, and there is none"),
        ("-r -O stoneWallingStatusFile=s", "is for a later read, and the files are removed"),
        ("-w -k -O stoneWallingStatusFile=s", "tasks write different amounts"),
        ("-o /a@/b", "several paths are dealt among the files of tasks"),
        ("-F -u -o /a@/b", "-u and several paths exclude each other"),
        ("-a MPIIO -c -z -t 64k", "collective calls of MPI-IO have no random offsets"),
        ("-a DUMMY -w -W", "DUMMY moves no bytes"),
        ("-a AIO --posix.rangelocks", "locks are for one transfer at a time"),
        ("-w -z -O savePerOpDataCSV=p", "does not identify its task"),
        ("-o /d", "`/d` is a directory; name a file in it"),
        ("-o /pipe", "`/pipe` is no file and no block device"),
        ("-w -o /old --warningAsErrors", "exists already and will be deleted"),
        ("-w -k -E -i 5000", "there are more than 4096 phases; repeat the command line instead"),
        ("--ranks 2 -N 4 --warningAsErrors", "More tasks requested (4) than available (2)"),
    ] {
        let error = refused(line);
        assert!(error.contains(part), "{line}: {error}");
    }
    let script = "IOR START\nmemoryPerNode=1g\nRUN\nmemoryPerNode=2g\nRUN\n";
    let errors = lowered_in("-f s", &[("s", script)]).expect_err("two amounts").join("\n");
    assert!(errors.contains("one run occupies one amount of memory"), "{errors}");
    let script = "IOR START\nrandomOffset=1,filePerProc=1,random-offset-seed=1\nRUN\n\
                  random-offset-seed=2\nRUN\n";
    let errors = lowered_in("-f s", &[("s", script)]).expect_err("two seeds").join("\n");
    assert!(errors.contains("tests of one script share the seed"), "{errors}");
}

#[test]
fn differences_are_noted() {
    for (line, option, part) in [
        ("-w -Y -o /f", "fsyncPerWrite", "IOR makes two"),
        ("-w -B -o /f", "useO_DIRECT", "current IOR refuses -B"),
        ("-r -o /old", "keepFile", "IOR removes the files that it has read"),
        ("-w -W -o /f", "dataPacketType", "a block in the place of another one"),
        ("-w -l i -o /f", "dataPacketType", "compresses 400 to 1"),
        ("-w -c -o /f", "collective", "no collective calls"),
        ("-w -Q 2 -o /f", "taskPerNodeOffset", "neither is given"),
        ("-w -o /dev/x", "testFile", "would delete the node of the device"),
        ("-r -k -O stoneWallingStatusFile=odd -o /f", "stoneWallingStatusFile", "no count"),
        ("-a DUMMY --dummy.delay-xfer=10", "dummy.delay-xfer", "not part of its latency"),
        ("-w -o /f", "IOR_HINT__MPI__x", "hints are for MPI-IO"),
    ] {
        let notes = lowered(line).notes;
        let found = notes.iter().find(|note| note.asked.starts_with(option));
        let found = found.unwrap_or_else(|| panic!("{line}: {notes:?}"));
        assert!(found.why.contains(part) || found.did.contains(part), "{line}: {found:?}");
    }
    let kept = lowered("-r -k -o /old").notes;
    assert!(kept.iter().all(|note| !note.asked.starts_with("keepFile")), "{kept:?}");
}

/// Words of a line, some of them invalid.
fn odd_line() -> impl Strategy<Value = String> {
    let names: Vec<&'static str> = TABLE.names().collect();
    let letters = "abcdefgijklmnopqrstuvwxyzABCDEFGHIJKMNOPQRSTUVWXYZ?";
    let value = prop::sample::select(vec![
        "",
        "0",
        "1",
        "-1",
        "8",
        "12",
        "4k",
        "1m",
        "9000p",
        "1.5g",
        "-9223372036854775808",
        "75%",
        "x",
        "/old",
        "/dev/x",
        "a@b",
        "/set",
        "POSIX",
        "AIO",
        "MMAP",
        "DUMMY",
        "random",
        "i",
        ",",
        "=",
        "18446744073709551616",
        "keepFile=1,",
        "blockSize=4k,transferSize=4k",
    ]);
    let long = (prop::sample::select(names), value.clone())
        .prop_map(|(name, value)| format!("--{name}={value}"));
    let letter = (0..letters.len(), value)
        .prop_map(move |(nth, value)| format!("-{}{value}", &letters[nth..=nth]));
    let word =
        prop_oneof![long, letter, "-[a-zA-Z]{1,4}", "[ -~]{1,6}".prop_map(|w| w.replace(' ', "_"))];
    prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "))
}

proptest! {
    /// Any line gives a valid plan or sentences.
    #[test]
    fn odd_words_end_in_a_plan_or_in_sentences(line in odd_line()) {
        match lowered_in(&line, &[("script", "IOR START\nRUN\n")]) {
            Ok(lowered) => {
                let problems = check::check(&lowered.plan);
                prop_assert!(problems.iter().all(|problem| !problem.message.is_empty()));
                prop_assert_eq!(lowered.phases.len(), lowered.plan.phases.len());
            }
            Err(sentences) => prop_assert!(sentences.iter().all(|sentence| !sentence.is_empty())),
        }
    }

    /// Any script gives a valid plan or sentences.
    #[test]
    fn odd_scripts_end_in_tests_or_in_sentences(lines in prop::collection::vec(
        prop::sample::select(vec![
            "IOR START", "ior stop", "RUN", "run", "", "# x", "blockSize=4k", "transferSize = 4k,x",
            "testFile=/old", "writeFile=1,readFile=0", "api=MPIIO", "=", ",", "\u{0}",
            "repetitions=3",
            "--posix.odirect=1", "keepFile", "multiFile=1", "randomOffset=2",
        ]), 0..8))
    {
        let script = format!("IOR START\n{}", lines.join("\n"));
        if let Err(sentences) = lowered_in("-f s", &[("s", &script)]) {
            prop_assert!(!sentences.is_empty() && sentences.iter().all(|one| !one.is_empty()));
        }
    }
}
