//! Bytes within files: each engine and order, locks, mixes, lengths.

use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_plan::Bytes;
use candor_plan::blocks::{Access, Advice, Lock, MapAdvice, Pieces};
use candor_plan::entries::{Entries, EntriesEngine, Over, Step, VerifyItems};
use candor_record::{Ended, Measurement};

use crate::common::{FILE_BYTES, FILES, run};

const WRITES: &[Step] = &[Step::Create, Step::Write, Step::Close];
const READS: &[Step] = &[Step::Open, Step::Read, Step::Close];

/// Steps by an engine, ten operations in each file.
fn by(engine: EntriesEngine, steps: &[Step]) -> Entries {
    Entries {
        over: Over::TargetFiles,
        steps: steps.to_vec(),
        size: Some(Bytes(1024)),
        depth: if engine.takes_many() { 8 } else { 1 },
        items_at_once: engine.takes_many().then_some(2),
        engine: Some(engine),
        ..Entries::default()
    }
}

fn well(directory: &Path, entries: Entries) -> Measurement {
    let measured = run(directory, entries);
    assert_eq!(measured.ended, Ended::Done, "{:?}", measured.errors);
    assert_eq!(measured.errors, [], "{:?}", measured.operations);
    measured
}

/// The files, in their order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(directory).expect("read").flatten().collect();
    all.sort_by_key(fs::DirEntry::file_name);
    all.iter().map(fs::DirEntry::path).collect()
}

fn lengths(directory: &Path) -> Vec<u64> {
    files(directory).iter().map(|file| file.metadata().expect("there").len()).collect()
}

#[test]
fn each_engine_writes_and_reads_the_same_bytes_in_any_order() {
    let orders = [Access::Sequential, Access::Backward, Access::Permutation];
    let verify = Some(VerifyItems { interval: Bytes(512), ..VerifyItems::default() });
    for engine in EntriesEngine::ALL {
        for access in &orders {
            let dir = tempfile::tempdir().expect("a scratch directory");
            let with = |steps| Entries {
                access: access.clone(),
                verify: verify.clone(),
                ..by(engine, steps)
            };
            let made = well(dir.path(), with(WRITES));
            assert_eq!(made.engine.name, engine.name());
            let written = made.operation("write");
            assert_eq!(written.ops, u64::from(FILES) * 10, "{engine:?} {access:?}");
            assert_eq!(written.bytes, u64::from(FILES) * FILE_BYTES);
            assert_eq!(lengths(dir.path()), [FILE_BYTES; FILES as usize]);
            let read = well(dir.path(), with(READS)).verify.expect("verified");
            // Nineteen whole blocks in each, and one of 272 bytes.
            let blocks = u64::from(FILES) * 20;
            assert_eq!((read.blocks, read.mismatches()), (blocks, 0), "{engine:?} {access:?}");
            // Another way to read finds the same bytes.
            let plain = Entries { verify: verify.clone(), ..by(EntriesEngine::Calls, READS) };
            let read = well(dir.path(), plain).verify.expect("verified");
            assert_eq!((read.blocks, read.mismatches()), (blocks, 0), "{engine:?} {access:?}");
        }
    }
}

#[test]
fn random_reads_are_as_many_as_the_file_has_and_may_repeat() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let verify = Some(VerifyItems { interval: Bytes(512), ..VerifyItems::default() });
    well(dir.path(), Entries { verify: verify.clone(), ..by(EntriesEngine::Calls, WRITES) });
    let read = Entries { access: Access::Random, verify, ..by(EntriesEngine::Calls, READS) };
    let read = well(dir.path(), read);
    let (ops, bytes) = (read.operation("read").ops, read.operation("read").bytes);
    assert_eq!(ops, u64::from(FILES) * 10);
    assert!(bytes <= ops * 1024 && bytes > ops * 900, "{bytes} bytes by {ops} reads");
    assert_eq!(read.verify.map(|verify| verify.mismatches()), Some(0));
}

#[test]
fn aligned_reads_begin_anywhere_within_the_file() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let by = |steps| by(EntriesEngine::Calls, steps);
    well(dir.path(), by(WRITES));
    let access = Access::Random;
    let read = Entries { access, align: Some(Bytes(1)), ..by(READS) };
    let read = well(dir.path(), read);
    // No read is cut: the last begins at its length before the end.
    let ops = u64::from(FILES) * 10;
    assert_eq!((read.operation("read").ops, read.operation("read").bytes), (ops, ops * 1024));
}

#[test]
fn written_blocks_are_read_back_at_once() {
    for engine in EntriesEngine::ALL {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let verify =
            VerifyItems { interval: Bytes(512), read_back: true, ..VerifyItems::default() };
        let made = well(dir.path(), Entries { verify: Some(verify), ..by(engine, WRITES) });
        let back = made.read_back.as_ref().expect("read back");
        assert_eq!(back.reads.ops, u64::from(FILES) * 10, "{engine:?}");
        assert_eq!(back.reads.bytes, u64::from(FILES) * FILE_BYTES);
        assert_eq!((made.operation("read").ops, made.operation("item").ops), (0, FILES.into()));
        let verified = made.verify.expect("verified");
        assert_eq!((verified.blocks, verified.mismatches()), (u64::from(FILES) * 20, 0));
    }
}

#[test]
fn a_share_of_the_writes_reads() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    well(dir.path(), by(EntriesEngine::Calls, WRITES));
    let mixed = well(dir.path(), Entries { read_percent: 70, ..by(EntriesEngine::Calls, WRITES) });
    // Workers have every third name, and count from their rank.
    let reads = [(0, 17), (1, 17), (2, 16)].map(|(rank, names)| {
        (rank..rank + names * 10).filter(|number| number % 100 < 70).count() as u64
    });
    let reads: u64 = reads.into_iter().sum();
    assert_eq!(mixed.operation("read").ops, reads);
    assert_eq!(mixed.operation("write").ops, u64::from(FILES) * 10 - reads);
}

#[test]
fn a_mapped_file_that_was_shortened_is_a_failure_and_no_crash() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    well(dir.path(), by(EntriesEngine::Mmap, WRITES));
    let shortened = files(dir.path()).swap_remove(7);
    File::options().write(true).open(&shortened).and_then(|file| file.set_len(4096)).expect("cut");
    let advice = Pieces(vec![Advice::Sequential, Advice::Willneed]);
    let map_advice = Some(Pieces(vec![MapAdvice::Random, MapAdvice::Nohugepage]));
    let read = run(dir.path(), Entries { advice, map_advice, ..by(EntriesEngine::Mmap, READS) });
    // The page at 4096 is gone, and the one behind it.
    let stats = read.operation("read");
    assert_eq!((stats.ops, stats.failed), (u64::from(FILES) * 10 - 6, 6), "{:?}", read.errors);
    let path = shortened.display().to_string();
    assert!(read.errors.iter().all(|error| error.errno == libc::EIO && error.path == path));
    fs::remove_file(&shortened).expect("removed");
    fs::create_dir(&shortened).expect("a directory");
    let read = run(dir.path(), by(EntriesEngine::Mmap, READS));
    assert_eq!(read.operation("open").failed, 1, "it cannot be mapped: {:?}", read.errors);
}

#[test]
fn files_get_their_length_and_lose_it() {
    let dir = tempfile::tempdir().expect("a scratch directory");
    let of = |engine, steps: &[Step]| Entries {
        over: Over::TargetFiles,
        steps: steps.to_vec(),
        engine: Some(engine),
        ..Entries::default()
    };
    let calls = EntriesEngine::Calls;
    let made = well(dir.path(), of(calls, &[Step::Create, Step::Ftruncate, Step::Close]));
    assert_eq!(made.operation("ftruncate").ops, u64::from(FILES));
    assert_eq!(lengths(dir.path()), [FILE_BYTES; FILES as usize]);
    for engine in [EntriesEngine::IoUring, calls] {
        let open = &[Step::Open, Step::Close];
        well(dir.path(), Entries { truncate_at_open: true, ..of(engine, open) });
        assert_eq!(lengths(dir.path()), [0; FILES as usize], "{engine:?}");
        let steps = &[Step::Open, Step::Fallocate, Step::Close];
        let allocated = well(dir.path(), of(engine, steps)).operation("fallocate").ops;
        assert_eq!(allocated, u64::from(FILES));
        assert_eq!(lengths(dir.path()), [FILE_BYTES; FILES as usize], "{engine:?}");
    }
}

/// Locks bytes of a file from there on, against all but this open file, or unlocks them.
fn lock(file: &File, kind: libc::c_int, from: i64) {
    // SAFETY: a struct of integers; the kernel reads it, and it outlives the call.
    let done = unsafe {
        let mut lock: libc::flock = std::mem::zeroed();
        lock.l_type = kind as libc::c_short;
        lock.l_start = from;
        libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock)
    };
    assert_eq!(done, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn operations_wait_for_locks_of_others_on_their_bytes() {
    for engine in [EntriesEngine::Calls, EntriesEngine::Mmap] {
        for (kind, from, waits) in [
            (Lock::PosixRange, 5000, true),
            (Lock::PosixRange, FILE_BYTES as i64, false),
            (Lock::PosixFile, FILE_BYTES as i64, true),
            (Lock::None, 0, false),
        ] {
            let dir = tempfile::tempdir().expect("a scratch directory");
            well(dir.path(), by(EntriesEngine::Calls, WRITES));
            let open = File::options().read(true).write(true).open(&files(dir.path())[3]);
            let held = open.expect("the file");
            lock(&held, libc::F_WRLCK, from);
            let at = dir.path().to_owned();
            let entries = Entries { lock: kind, ..by(engine, WRITES) };
            let job = std::thread::spawn(move || well(&at, entries));
            std::thread::sleep(Duration::from_millis(if waits { 150 } else { 0 }));
            assert!(!waits || !job.is_finished(), "{kind:?} from {from}");
            if waits {
                // Workers have copies of the descriptor, so that closing it would unlock nothing.
                lock(&held, libc::F_UNLCK, from);
            }
            let written = job.join().expect("ended");
            assert_eq!(written.operation("write").ops, u64::from(FILES) * 10);
        }
    }
}
