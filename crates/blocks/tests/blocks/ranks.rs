//! Ranks that open their own files, write where the formula of segments puts them, and check each
//! other's words.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use candor_engine::{Prepared, Session, Task};
use candor_plan::blocks::{
    Access, Blocks, Content, Durability, Engine, Fill, Format, Opening, SegmentDeal, Share, Stay,
    UnknownBlocks, Verify, WordKind, Words,
};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::{
    Bytes, Job, Layout, Nanos, Phase, Plan, RankOrder, Sharing, Stonewall, Stop, Target, TargetKind,
};
use candor_record::{Ended, Measurement, MismatchKind};

use crate::common::scratch;

const SIZE: u64 = 4096;
const SEED: i32 = 1234;

/// The only family of these tests.
fn families(_: &candor_plan::Work) -> &'static dyn candor_engine::family::Family {
    &candor_blocks::BlocksFamily
}

/// A job of so many ranks on one file, or on one of each.
fn plan(path: &Path, ranks: u32, sharing: Sharing, bytes: u64, blocks: Blocks) -> Plan {
    let own = sharing == Sharing::Own;
    let target = Target {
        path: path.into(),
        kind: if own { TargetKind::FileSet } else { TargetKind::File },
        files: if own { ranks } else { 1 },
        size: Some(Bytes(bytes)),
        layout: Layout::Never,
        ..Target::default()
    };
    let targets = vec![target.name.clone()];
    let job = Job { workers: ranks, targets, sharing, work: blocks.into(), ..Job::default() };
    let phase = Phase { jobs: vec![job], ..Phase::default() };
    Plan { targets: vec![target], phases: vec![phase], ..Plan::default() }
}

fn prepared(plan: &Plan) -> Result<Prepared, candor_engine::EngineError> {
    let problems = candor_plan::check::check(plan);
    assert!(candor_plan::check::can_run(&problems), "{problems:?}");
    Prepared::new(&mut Session::new(families), &Task::of(plan, 0))
}

fn run(plan: &Plan) -> Measurement {
    prepared(plan).expect("prepared").run(&AtomicBool::new(false), &mut ()).remove(0)
}

fn done(plan: &Plan) -> Measurement {
    let measured = run(plan);
    let first = measured.verify.as_ref().and_then(|verify| verify.first.first());
    assert_eq!(measured.ended, Ended::Done, "{:?} {first:?}", measured.errors);
    measured
}

/// Writes of words in segments, by ranks that open their files in the phase.
fn writes(kind: WordKind, block: u64, count: u32) -> Blocks {
    let words = Some(Words { kind, seed: SEED, rank_block: None });
    let deal = SegmentDeal::ByRank;
    Blocks {
        mix: Mix::WRITE,
        size: PerDirection::all(SizeSpec::Fixed(Bytes(SIZE))),
        share: Share::Segments { block: Bytes(block), count, deal },
        content: Content { fill: Fill::Words, words, ..Content::default() },
        opening: Opening::InPhase,
        ..Blocks::default()
    }
}

/// The same as reads that check the words.
fn reads(writes: &Blocks) -> Blocks {
    let verify = Verify {
        format: Format::Words,
        interval: Bytes(SIZE),
        continue_on_mismatch: true,
        unknown: UnknownBlocks::Check,
        ..Verify::default()
    };
    Blocks { mix: Mix::READ, verify: Some(verify), ..writes.clone() }
}

fn scattered(mut blocks: Blocks) -> Blocks {
    if let Share::Segments { deal, .. } = &mut blocks.share {
        *deal = SegmentDeal::Scattered;
    }
    blocks
}

fn set(plan: &mut Plan, change: impl FnOnce(&mut Job)) {
    change(&mut plan.phases[0].jobs[0]);
}

fn checked(measured: &Measurement) -> (u64, u64) {
    let verify = measured.verify.as_ref().expect("verified");
    (verify.blocks, verify.mismatches())
}

#[test]
fn workers_make_open_sync_and_close_their_files() {
    let dir = scratch();
    for engine in [Engine::Psync, Engine::LIBAIO, Engine::IO_URING, Engine::MMAP] {
        for opening in [Opening::InPhase, Opening::InStages] {
            let path = dir.path().join(format!("{}-{opening:?}", engine.name()));
            std::fs::create_dir(&path).expect("made");
            let durability = Durability { fsync_at_end: true, ..Durability::default() };
            let depth = if engine.is_async() { 8 } else { 1 };
            let write = Blocks {
                opening,
                engine,
                depth,
                durability,
                ..writes(WordKind::Offset, 16 * SIZE, 2)
            };
            let measured = done(&plan(&path, 3, Sharing::Own, 32 * SIZE, write.clone()));
            let ops = |name: &str| measured.operation(name).ops;
            assert_eq!(["open", "write", "fsync", "close"].map(ops), [3, 96, 3, 3], "{engine:?}");
            assert_eq!((measured.ops_done(), measured.last_done.ops), (96, 96));
            assert_eq!(measured.operation("open").latency.as_ref().map(|l| l.count), Some(3));
            assert_eq!(measured.elapsed_with_flush_ns, Some(measured.elapsed_ns));
            let stages = measured.stages.expect("each opened its file");
            for stage in [stages.open, stages.transfer, stages.close] {
                assert!(stage.begin_ns < stage.end_ns && stage.end_ns <= measured.elapsed_ns);
            }
            for own in measured.per_worker.iter().map(|worker| worker.stages.expect("its own")) {
                assert!(own.open.end_ns <= own.transfer.begin_ns);
                assert!(own.transfer.end_ns <= own.close.begin_ns && own.close.length_ns() > 0);
            }
            if opening == Opening::InStages {
                assert!(stages.open.end_ns <= stages.transfer.begin_ns, "{stages:?}");
                assert!(stages.transfer.end_ns <= stages.close.begin_ns, "{stages:?}");
            }
            let names = std::fs::read_dir(&path).expect("listed").count();
            assert_eq!(names, 3, "and nothing else");
            let read = Blocks { durability: Durability::default(), ..reads(&write) };
            let measured = done(&plan(&path, 3, Sharing::Own, 32 * SIZE, read));
            assert_eq!(checked(&measured), (96, 0), "{engine:?}");
            let ops = |name: &str| measured.operation(name).ops;
            assert_eq!(["open", "read", "fsync", "close"].map(ops), [3, 96, 0, 3], "{engine:?}");
        }
    }
}

#[test]
fn nothing_is_opened_where_no_byte_moves() {
    let blocks = Blocks {
        engine: Engine::Null,
        opening: Opening::InStages,
        share: Share::Slice,
        ..Blocks::default()
    };
    let mut plan = plan(Path::new("/nowhere"), 2, Sharing::Shared, 1 << 20, blocks);
    plan.targets[0].kind = TargetKind::Null;
    let measured = done(&plan);
    assert_eq!((measured.operation("open").ops, measured.ops_done()), (2, 256));
}

#[test]
fn a_file_that_cannot_be_opened_is_a_failure_of_opening() {
    let dir = scratch();
    let path = dir.path().join("file");
    let read = Blocks { opening: Opening::InStages, share: Share::Slice, ..Blocks::default() };
    let plan = plan(&path, 3, Sharing::Shared, 64 * SIZE, read);
    let refused = prepared(&plan).err().expect("it is not there");
    assert!(refused.to_string().contains("No such file"), "{refused}");
    std::fs::write(&path, vec![0; 64 * SIZE as usize]).expect("written");
    let ready = prepared(&plan).expect("it is there");
    std::fs::remove_file(&path).expect("removed");
    let measured = ready.run(&AtomicBool::new(false), &mut ()).remove(0);
    assert_eq!(measured.ended, Ended::Failed);
    let failure = &measured.errors[0];
    assert_eq!((failure.op.as_deref(), failure.errno), (Some("open"), libc::ENOENT));
    assert_eq!((failure.path.as_str(), measured.ops_done()), (path.to_str().expect("text"), 0));
}

#[test]
fn a_stonewall_that_wears_out_leaves_its_count() {
    let dir = scratch();
    let path = dir.path().join("set");
    std::fs::create_dir(&path).expect("made");
    let blocks = writes(WordKind::Random, 64 << 20, 1);
    let mut plan = plan(&path, 3, Sharing::Own, 64 << 20, blocks.clone());
    let time = Some(Nanos(20_000_000));
    plan.phases[0].stop = Stop { time, stonewall: Stonewall::WearOut, ..Stop::default() };
    let measured = run(&plan);
    let count = measured.wear_out.expect("it wore out");
    assert!(count.ops >= count.ops_least && count.ops > 0 && count.ops_sum <= 3 * count.ops);
    assert!(measured.per_worker.iter().all(|worker| worker.ops == count.ops), "{measured:?}");
    let stages = measured.stages.expect("opened in the phase");
    assert!(stages.transfer.length_ns() >= 20_000_000, "time is that of the transfer");
    assert_eq!(measured.operation("close").ops, 3);
    set(&mut plan, |job| job.work = reads(&blocks).into());
    plan.phases[0].stop = Stop { ops: Some(count.ops), ..Stop::default() };
    let measured = done(&plan);
    assert_eq!(checked(&measured), (3 * count.ops, 0));
}

/// Words of the rank that wrote a place, by the formulas of words and segments alone.
fn expected(ranks: u64, block: u64, segments: u64) -> Vec<u8> {
    let mut file = vec![0; (ranks * block * segments) as usize];
    for (rank, segment, transfer) in (0..ranks).flat_map(|rank| {
        (0..segments).flat_map(move |s| (0..block / SIZE).map(move |j| (rank, s, j)))
    }) {
        let offset = segment * ranks * block + rank * block + transfer * SIZE;
        for index in 0..SIZE / 8 {
            let word = match index % 512 {
                0 => rank << 32 | u64::from((offset as u32).wrapping_mul(index as u32 / 512 + 1)),
                _ => rank << 32 | (SEED as u64 + index),
            };
            let at = (offset + index * 8) as usize;
            file[at..at + 8].copy_from_slice(&word.to_ne_bytes());
        }
    }
    file
}

/// 64 ranks, segmented (one block of each) and interleaved (as many as there are operations).
#[test]
fn sixty_four_ranks_write_where_the_formula_says() {
    let dir = scratch();
    for (name, block, segments) in
        [("segmented", 16 * SIZE, 1), ("interleaved", SIZE, 16), ("both", 4 * SIZE, 4)]
    {
        let wanted = expected(64, block, segments);
        let write = writes(WordKind::Offset, block, segments as u32);
        for (access, deals) in
            [(Access::Sequential, false), (Access::Permutation, false), (Access::Sequential, true)]
        {
            let path = dir.path().join(format!("{name}-{access:?}-{deals}"));
            let write = Blocks { access, ..write.clone() };
            let write = if deals { scattered(write) } else { write };
            let plan = |blocks| plan(&path, 64, Sharing::Shared, wanted.len() as u64, blocks);
            let measured = done(&plan(write.clone()));
            assert_eq!(measured.bytes_moved(), wanted.len() as u64, "each byte once");
            let found = std::fs::read(&path).expect("read");
            if deals {
                assert!(found != wanted && found.len() == wanted.len());
            } else {
                assert!(found == wanted, "{name}: a byte is not where it belongs");
            }
            let mut reading = plan(reads(&write));
            assert_eq!(checked(&done(&reading)), (1024, 0), "{name}");
            set(&mut reading, |job| job.rank_shift = 5);
            assert_eq!(checked(&done(&reading)), (1024, 0), "{name}, shifted");
        }
    }
}

#[test]
fn random_ranks_and_random_blocks_know_whose_words_they_read() {
    let dir = scratch();
    let path = dir.path().join("file");
    let write = writes(WordKind::Incompressible, 4 * SIZE, 3);
    let plan = |blocks| plan(&path, 8, Sharing::Shared, 3 * 8 * 4 * SIZE, blocks);
    done(&plan(write.clone()));
    for repeats in [false, true] {
        let mut reading = plan(reads(&write));
        let distance = u64::from(repeats);
        set(&mut reading, |job| {
            job.rank_order = RankOrder::Random { seed: 3, distance, repeats };
        });
        assert_eq!(checked(&done(&reading)), (96, 0));
    }
    let mut anywhere = reads(&write);
    anywhere.share = Share::Whole;
    anywhere.access = Access::Random;
    anywhere.align = Some(PerDirection::all(Bytes(4 * SIZE)));
    anywhere.stay = Stay { run: 4, ..Stay::default() };
    if let Some(words) = &mut anywhere.content.words {
        words.rank_block = Some(Bytes(4 * SIZE));
    }
    let mut reading = plan(anywhere);
    reading.phases[0].stop = Stop { bytes: Some(Bytes(12 * SIZE)), ..Stop::default() };
    assert_eq!(checked(&done(&reading)), (8 * 12, 0));
}

/// Each kind of damage is found where it is, once per operation, and nothing else is.
#[test]
fn damage_is_found_where_it_is() {
    let dir = scratch();
    for kind in [WordKind::Offset, WordKind::Incompressible, WordKind::Random] {
        let path = dir.path().join(format!("{kind:?}"));
        let write = writes(kind, 8 * SIZE, 1);
        let plan = |blocks| plan(&path, 4, Sharing::Shared, 32 * SIZE, blocks);
        let mut stale = write.clone();
        stale.content.words = Some(Words { kind, seed: 77, rank_block: None });
        done(&plan(stale));
        let file = std::fs::File::options().read(true).write(true).open(&path).expect("opened");
        let block = |number: u64| {
            let mut bytes = vec![0; SIZE as usize];
            file.read_exact_at(&mut bytes, number * SIZE).expect("read");
            bytes
        };
        let put = |number: u64, bytes: &[u8]| {
            file.write_all_at(bytes, number * SIZE).expect("written");
        };
        let (older, older_torn) = (block(9), block(17));
        done(&plan(write.clone()));
        assert_eq!(checked(&done(&plan(reads(&write)))), (32, 0), "{kind:?}");
        let mut flipped = block(3);
        flipped[1001] ^= 4;
        let mut torn = block(17);
        torn[1024..].copy_from_slice(&older_torn[1024..]);
        let misdirected = block(30);
        put(3, &flipped);
        put(9, &older);
        put(17, &torn);
        put(25, &misdirected);
        let measured = done(&plan(reads(&write)));
        assert_eq!(checked(&measured), (32, 4), "{kind:?}");
        let mut found: Vec<_> = measured.verify.iter().flat_map(|verify| &verify.first).collect();
        found.sort_by_key(|mismatch| mismatch.offset);
        let places: Vec<u64> = found.iter().map(|mismatch| mismatch.offset / SIZE).collect();
        assert_eq!(places, [3, 9, 17, 25], "{kind:?}");
        assert_eq!(found[0].kind, MismatchKind::Flipped);
        assert!(found[0].detail.contains("the first wrong byte is 1001"), "{:?}", found[0]);
        assert_eq!((found[2].kind, found[3].kind), (MismatchKind::Torn, MismatchKind::Misdirected));
        let mut ending = reads(&write);
        ending.verify.as_mut().expect("it verifies").continue_on_mismatch = false;
        assert_eq!(run(&plan(ending)).ended, Ended::Failed);
    }
}
