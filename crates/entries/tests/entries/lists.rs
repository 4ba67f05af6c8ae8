//! Jobs over trees whose names are listed.

use std::fs;
use std::path::Path;

use candor_plan::blocks::Access;
use candor_plan::entries::{Entries, EntriesEngine, Over, Step, VerifyItems};
use candor_plan::{Bytes, Create, Job, Listing, Phase, Plan, Target, TargetKind};
use candor_record::{Ended, Measurement};

use crate::common::run_plan;

/// Runs entries over a listed tree, by three workers.
fn run_listed(root: &Path, listing: &Listing, entries: Entries) -> Measurement {
    let target = Target {
        path: root.into(),
        kind: TargetKind::Tree,
        create: Create::Nothing,
        keep: true,
        overwrite: true,
        listing: Some(listing.clone()),
        ..Target::default()
    };
    let targets = vec![target.name.clone()];
    let job = Job { workers: 3, targets, work: entries.into(), ..Job::default() };
    let phase = Phase { jobs: vec![job], ..Phase::default() };
    let plan = Plan { targets: vec![target], phases: vec![phase], ..Plan::default() };
    run_plan(&plan)
}

#[test]
fn listed_names_are_made_and_removed_and_shared_files_are_one_item() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (root, list) = (dir.path().join("root"), dir.path().join("list"));
    fs::create_dir(&root).expect("made");
    let text = "d a\nd a/b c\nd d\nf 0 a/empty\nf 1000000 a/b c/large\nf 5000 d/ü\nf 70000 d/e\n";
    fs::write(&list, text).expect("written");
    let listing =
        Listing { file: Some(list), share_above: Some(Bytes(60_000)), ..Listing::default() };
    let seen = Listing { file: None, ..listing.clone() };
    let verify = Some(VerifyItems::default());
    let of = |listing: &Listing, over, steps: &[Step], depth: u32| {
        let moves = steps.contains(&Step::Close);
        let engine = (depth > 1).then_some(EntriesEngine::IoUring);
        let size = moves.then_some(Bytes(8192));
        let verify = verify.clone().filter(|_| moves);
        let steps = steps.to_vec();
        let entries = Entries { over, steps, size, verify, depth, engine, ..Entries::default() };
        let measured = run_listed(&root, listing, entries);
        assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
        measured
    };
    let count = |measured: &Measurement, name: &str| {
        let stats = measured.operation(name);
        (stats.ops, stats.bytes)
    };
    for depth in [1, 4] {
        let made = of(&listing, Over::Directories, &[Step::Mkdir], 1);
        assert_eq!(count(&made, "mkdir"), (3, 0));
        let written = of(&listing, Over::Items, &[Step::Create, Step::Write, Step::Close], depth);
        // Each worker has a part of the large file, and one of them the end of it with all of `e`.
        assert_eq!(count(&written, "item"), (4, 0), "shared files count once");
        assert_eq!(count(&written, "create"), (6, 0), "each part is opened");
        assert_eq!(written.operation("write").bytes, 1_075_000);
        assert_eq!(root.join("a/b c/large").metadata().expect("made").len(), 1_000_000);
        assert_eq!(root.join("a/empty").metadata().expect("made").len(), 0);
        for listing in [&listing, &seen] {
            let read = of(listing, Over::Items, &[Step::Open, Step::Read, Step::Close], depth);
            assert_eq!(count(&read, "item").0, 4);
            assert_eq!(read.operation("read").bytes, 1_075_000);
            assert!(read.verify.as_ref().is_some_and(|found| found.blocks > 250), "{read:?}");
            assert_eq!(count(&of(listing, Over::Items, &[Step::Stat], 1), "stat").0, 4);
        }
        // The root is listed as well.
        assert_eq!(count(&of(&seen, Over::Directories, &[Step::List], 1), "list").0, 4);
        assert_eq!(count(&of(&seen, Over::Items, &[Step::Unlink], depth), "unlink").0, 4);
        assert_eq!(count(&of(&listing, Over::Directories, &[Step::Rmdir], 1), "rmdir").0, 3);
        assert_eq!(fs::read_dir(&root).expect("read").count(), 0);
    }
}

#[test]
fn parts_are_mapped_made_long_and_written_in_any_order() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (root, list) = (dir.path().join("root"), dir.path().join("list"));
    fs::create_dir(&root).expect("made");
    fs::write(&list, "f 400100 x\nf 300000 y\nf 0 z\n").expect("written");
    let share_above = Some(Bytes(0));
    let listing = Listing { file: Some(list), share_above, ..Listing::default() };
    let of = |steps: &[Step], access, engine| {
        let (steps, verify) = (steps.to_vec(), Some(VerifyItems::default()));
        let depth = if engine == EntriesEngine::Libaio { 8 } else { 1 };
        let (size, engine) = (Some(Bytes(4096)), Some(engine));
        let entries = Entries { steps, verify, size, access, engine, depth, ..Entries::default() };
        let measured = run_listed(&root, &listing, entries);
        assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
        measured
    };
    let (access, made) = (Access::Permutation, [Step::Create, Step::Write, Step::Close]);
    for engine in EntriesEngine::ALL {
        let long = [Step::Create, Step::Ftruncate, Step::Fallocate, Step::Write, Step::Close];
        let ring = engine == EntriesEngine::IoUring;
        let written = of(if ring { &made } else { &long }, access.clone(), engine);
        assert_eq!(written.operation("write").bytes, 700_100, "{engine:?}");
        let lengths = ["x", "y", "z"].map(|name| root.join(name).metadata().expect("made").len());
        assert_eq!(lengths, [400_100, 300_000, 0]);
        for access in [Access::Backward, Access::Permutation, Access::Sequential] {
            let read = of(&[Step::Open, Step::Read, Step::Close], access, engine);
            assert_eq!(read.operation("read").bytes, 700_100, "{engine:?}");
            assert_eq!(read.operation("item").ops, 3);
        }
        for name in ["x", "y", "z"] {
            fs::remove_file(root.join(name)).expect("removed");
        }
    }
}

#[test]
fn a_flipped_byte_of_a_shared_file_and_a_missing_one_are_found() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let (root, list) = (dir.path().join("root"), dir.path().join("list"));
    fs::create_dir(&root).expect("made");
    fs::write(&list, "f 400000 x\nf 400000 y\n").expect("written");
    let share_above = Some(Bytes(0));
    let listing = Listing { file: Some(list), share_above, ..Listing::default() };
    let of = |steps: &[Step]| {
        let (steps, verify) = (steps.to_vec(), Some(VerifyItems::default()));
        let size = Some(Bytes(4096));
        run_listed(&root, &listing, Entries { steps, verify, size, ..Entries::default() })
    };
    assert_eq!(of(&[Step::Create, Step::Write, Step::Close]).ended, Ended::Done);
    let mut bytes = fs::read(root.join("y")).expect("read");
    bytes[300_000] ^= 1;
    fs::write(root.join("y"), &bytes).expect("written");
    let read = of(&[Step::Open, Step::Read, Step::Close]);
    assert_eq!(read.ended, Ended::Failed);
    let verified = read.verify.expect("verified");
    let found = &verified.first;
    assert!(found[0].path.ends_with("root/y") && found[0].offset == 300_000 / 4096 * 4096);
    // Whole again, it ends no job before the other file is opened.
    bytes[300_000] ^= 1;
    fs::write(root.join("y"), bytes).expect("written");
    fs::remove_file(root.join("x")).expect("removed");
    let read = of(&[Step::Open, Step::Read, Step::Close]);
    assert_eq!((read.ended, read.errors[0].errno), (Ended::Failed, libc::ENOENT));
    assert!(read.errors[0].path.ends_with("root/x"), "{:?}", read.errors);
}
