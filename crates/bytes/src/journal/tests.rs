use std::collections::HashMap;
use std::path::PathBuf;

use candor_engine::random::Random;
use proptest::prelude::*;

use super::format::{
    Keys, Kind, LOG_HEADER_BYTES, RECORD_BYTES, Record, log_header, put_record, read_keys,
    read_log, write_keys,
};
use super::*;
use crate::verify::{BlockChange, Left, NOTHING, map};

fn plan(directory: &Path, recover: bool) -> Plan {
    Plan { directory: directory.into(), recover, ..Plan::default() }
}

fn bytes_of(keys: &Keys) -> Vec<u8> {
    let mut bytes = Vec::new();
    let heads: Vec<FileHead> = keys.files.iter().map(|(head, _)| head.clone()).collect();
    let entry = |file: usize, block: usize| keys.files[file].1[block];
    write_keys(&mut bytes, &keys.head, &heads, entry, &keys.pending).expect("in memory");
    bytes
}

fn arbitrary_keys() -> impl Strategy<Value = Keys> {
    // Runs of equal keys, and single ones.
    let run = (0u32..9, 1usize..5000);
    let file = (".{0,20}", 1u64..9, proptest::collection::vec(run, 0..4));
    let head = (any::<u64>(), any::<u64>(), any::<bool>(), any::<bool>());
    (head, proptest::collection::vec(file, 0..4)).prop_map(|(head, files)| {
        let (epoch, seed, is_logged, is_clean) = head;
        let mut keys = Keys { head: Head { epoch, seed, is_logged, is_clean }, ..Keys::default() };
        for (number, (path, interval, runs)) in (0..).zip(files) {
            let entries: Vec<u32> =
                runs.iter().flat_map(|(key, count)| std::iter::repeat_n(*key, *count)).collect();
            let (path, blocks) = (PathBuf::from(path), entries.len());
            if blocks > 0 {
                keys.pending.push(PendingWrite { file: number, block: blocks as u64 - 1, old: 3 });
            }
            keys.files.push((
                FileHead { path, interval, origin: interval / 2, blocks, layout: interval ^ 5 },
                entries,
            ));
        }
        keys
    })
}

fn arbitrary_record() -> impl Strategy<Value = Record> {
    let numbers = (any::<u64>(), any::<u32>(), any::<u64>(), any::<u32>(), any::<u32>());
    (numbers, any::<bool>()).prop_map(|((sequence, file, block, old, new), before)| {
        let kind = if before { Kind::Before } else { Kind::After };
        Record { sequence, file, block, kind, old, new }
    })
}

/// A log of records in batches of these sizes.
fn log_of(epoch: u64, batches: &[Vec<Record>]) -> Vec<u8> {
    let mut bytes = log_header(epoch).to_vec();
    let mut written = 0;
    for batch in batches {
        batch.iter().for_each(|record| put_record(&mut bytes, epoch, written, record));
        written += batch.len() as u32;
    }
    bytes
}

proptest! {
    #[test]
    fn keys_are_read_as_they_were_written(keys in arbitrary_keys()) {
        prop_assert_eq!(read_keys(&bytes_of(&keys)), Ok(keys));
    }

    /// No byte of the keys can change, and none can be missing.
    #[test]
    fn damaged_keys_are_refused(keys in arbitrary_keys(), at: usize, bit in 0u8..8, cut: bool) {
        let mut bytes = bytes_of(&keys);
        let at = at % bytes.len();
        if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
        prop_assert!(read_keys(&bytes).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes: Vec<u8>, epoch: u64) {
        let _ = read_keys(&bytes);
        let _ = read_keys(&[b"candorK2", &bytes[..]].concat());
        let _ = read_log(&bytes, epoch);
        let _ = read_log(&[&log_header(epoch)[..], &bytes].concat(), epoch);
    }

    /// Whole records in front of a torn end are read; a hole before later batches is damage.
    #[test]
    fn a_torn_end_is_not_damage(
        batches in proptest::collection::vec(
            proptest::collection::vec(arbitrary_record(), 1..6), 1..8),
        epoch: u64,
        at: usize,
        zeros in 0usize..200,
    ) {
        let whole = log_of(epoch, &batches);
        let records: Vec<Record> = batches.concat();
        let ahead = [&whole[..], &vec![0; zeros]].concat();
        prop_assert_eq!(read_log(&ahead, epoch), Ok(records.clone()));
        prop_assert_eq!(read_log(&ahead, epoch ^ 1), Ok(Vec::new()), "of another epoch");

        let cut = LOG_HEADER_BYTES + at % (whole.len() - LOG_HEADER_BYTES);
        let left = (cut - LOG_HEADER_BYTES) / RECORD_BYTES;
        prop_assert_eq!(read_log(&whole[..cut], epoch), Ok(records[..left].to_vec()));

        let mut holed = whole.clone();
        holed[cut] ^= 0x40;
        let last = records.len() - batches.last().map_or(0, Vec::len);
        match read_log(&holed, epoch) {
            Ok(read) => {
                prop_assert!(left >= last, "record {} of {}", left, records.len());
                prop_assert_eq!(read, records[..left].to_vec());
            }
            Err(_) => prop_assert!(left < last),
        }
    }
}

fn change(block: usize, old: u32, new: u32) -> BlockChange {
    BlockChange { block, old, new }
}

fn key(generation: u32, is_pending: bool) -> BlockKey {
    BlockKey { generation, is_pending }
}

#[test]
fn a_journal_tells_what_was_written_and_what_may_have_been() {
    let dir = tempfile::tempdir().expect("a directory");
    let place = dir.path().join("journal");
    let data = dir.path().join("data");
    let map = Map::new(64 * 4096, 4096, NOTHING);
    let mut journal = Journal::open(&plan(&place, false), 5).expect("begun");
    let seed = journal.seed();
    let busy = Journal::open(&plan(&place, true), 5).err().expect("in use");
    assert!(busy.0.contains("another run uses"), "{}", busy.0);
    assert_eq!(journal.adopt(&data, 0, &map), Ok(0));
    journal.begin_use().expect("stored");
    let mut logs = [0, 1].map(|_| journal.worker_log(4).expect("made").expect("logged"));
    // Block 1 is written twice, by two workers; the second write of block 2 does not end, nor does
    // the first one of block 3; block 4 was left in an unknown state.
    logs[0].add(Kind::Before, 0, change(1, NOTHING, 1));
    logs[0].add(Kind::Before, 0, change(2, NOTHING, 1));
    logs[0].add(Kind::After, 0, change(1, NOTHING, 1));
    logs[1].add(Kind::Before, 0, change(1, 1, 2));
    logs[0].add(Kind::After, 0, change(2, NOTHING, 1));
    logs[1].add(Kind::Before, 0, change(2, 1, 2));
    logs[1].add(Kind::After, 0, change(1, 1, 2));
    logs[0].add(Kind::Before, 0, change(3, NOTHING, 1));
    logs[0].add(Kind::Before, 0, change(4, NOTHING, 1));
    logs[0].add(Kind::After, 0, change(4, NOTHING, NOTHING));
    logs.iter_mut().for_each(|log| log.commit().expect("written"));
    let spent = logs[0].stats(3);
    assert_eq!((spent.records, spent.writes, spent.elapsed_ns), (7, 1, 3));
    // The process ends here: neither the use nor the epoch does.
    drop((logs, journal));

    // Twice: what is taken up and not ended is there again.
    for _ in 0..2 {
        let mut journal = Journal::open(&plan(&place, true), 9).expect("taken up");
        assert_eq!((journal.seed(), journal.pending()), (seed, 2));
        let map = Map::new(64 * 4096, 4096, NOTHING);
        assert_eq!(journal.adopt(&data, 0, &map), Ok(0));
        let keys: Vec<_> = (0..6).map(|block| map.key(block)).collect();
        let none = BlockKey::NOTHING;
        let expected = [none, key(2, false), key(2, true), key(1, true), none, none];
        assert_eq!(keys, expected);
        assert_eq!((map.older(2 * 4096), map.older(3 * 4096)), (1, NOTHING));
        journal.begin_use().expect("stored");
    }

    // A regular end stores all keys, and needs no logs.
    let mut journal = Journal::open(&plan(&place, true), 9).expect("taken up");
    let map = Map::new(70 * 4096, 4096, NOTHING);
    journal.adopt(&data, 0, &map).expect("a longer file fits");
    journal.begin_use().expect("stored");
    map.settle(2 * 4096, 2, 1, false);
    journal.end_use();
    drop(journal);
    let left: Vec<_> =
        fs::read_dir(&place).expect("there").flatten().map(|e| e.file_name()).collect();
    assert_eq!(left, [KEYS]);
    let journal = Journal::open(&plan(&place, true), 9).expect("taken up");
    assert_eq!((journal.files[0].entry(2), journal.pending()), (1, 1));
    let ignoring = Plan { ignore_pending: true, ..plan(&place, true) };
    drop(journal);
    let journal = Journal::open(&ignoring, 9).expect("taken up");
    assert_eq!((journal.files[0].entry(3), journal.pending()), (NOTHING, 0));
}

#[test]
fn files_of_a_tree_are_forgotten_before_they_go() {
    let dir = tempfile::tempdir().expect("a directory");
    let tree = Path::new("/tree");
    let mut journal = Journal::open(&plan(dir.path(), false), 5).expect("begun");
    let map = Map::new(8 * 4096, 4096, NOTHING);
    journal.adopt(tree, 7, &map).expect("adopted");
    journal.begin_use().expect("stored");
    let mut log = journal.worker_log(20).expect("made").expect("logged");
    for block in 0..8 {
        log.add(Kind::Before, 0, change(block, NOTHING, 1));
        if block != 3 {
            log.add(Kind::After, 0, change(block, NOTHING, 1));
        }
    }
    log.add(Kind::Forgotten, 0, change(2, 3, NOTHING));
    log.add(Kind::Before, 0, change(4, NOTHING, 1));
    log.commit().expect("written");
    drop((log, journal));
    let mut journal = Journal::open(&plan(dir.path(), true), 9).expect("taken up");
    let of_another = journal.adopt(tree, 8, &map).expect_err("another shape").0;
    assert!(of_another.contains("another shape"), "{of_another}");
    let map = Map::new(8 * 4096, 4096, NOTHING);
    journal.adopt(tree, 7, &map).expect("the same");
    let keys: Vec<_> = (0..8).map(|block| map.key(block)).collect();
    let (written, none) = (key(1, false), BlockKey::NOTHING);
    let expected = [written, written, none, none, key(1, true), written, written, written];
    assert_eq!((&keys[..], journal.pending()), (&expected[..], 1));
    // Of a tree of which nothing is known any more, another shape takes the place.
    (0..8).for_each(|block| map.set_key(block, BlockKey::NOTHING));
    journal.begin_use().expect("stored");
    journal.end_use();
    drop(journal);
    let mut journal = Journal::open(&plan(dir.path(), true), 9).expect("taken up");
    assert_eq!(journal.adopt(tree, 8, &Map::new(4096, 4096, NOTHING)), Ok(0));
    let beyond = format::Record {
        sequence: 0,
        file: 0,
        block: 7,
        kind: Kind::Forgotten,
        old: 2,
        new: NOTHING,
    };
    assert!(!replay::tests::of(&[1; 8]).apply(&beyond), "a file that ends behind its tree");
}

#[test]
fn what_a_journal_cannot_tell_is_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let refused = |plan: &Plan| Journal::open(plan, 1).err().expect("refused").0;
    assert!(refused(&plan(dir.path(), true)).contains("there is no journal in"));
    let keys_only = Plan { log: JournalLog::Nothing, ..plan(dir.path(), false) };
    let map = Map::new(8 * 4096, 4096, NOTHING);
    let mut journal = Journal::open(&keys_only, 1).expect("begun");
    journal.adopt(Path::new("/data"), 0, &map).expect("adopted");
    journal.begin_use().expect("stored");
    assert!(journal.worker_log(1).expect("nothing to make").is_none());
    drop(journal);
    assert!(refused(&plan(dir.path(), true)).contains("did not end by itself"));

    let mut journal = Journal::open(&keys_only, 1).expect("begun anew");
    journal.adopt(Path::new("/data"), 0, &map).expect("adopted");
    journal.begin_use().expect("stored");
    assert!(map.begin_write(0, 4096));
    map.end_write(0, 4096, Left::Written);
    journal.end_use();
    drop(journal);
    let mut journal = Journal::open(&plan(dir.path(), true), 1).expect("clean");
    assert_eq!(journal.files[0].entry(0), 1);
    for (map, why) in [
        (Map::new(8 * 4096, 512, NOTHING), "knows blocks of 4096 bytes"),
        (Map::new(7 * 4096, 4096, NOTHING), "knows 8 blocks of `/data`, which has 7"),
    ] {
        let refusal = journal.adopt(Path::new("/data"), 0, &map).expect_err("refused").0;
        assert!(refusal.contains(why), "{refusal}");
    }
    drop(journal);
    let path = dir.path().join(KEYS);
    let mut bytes = fs::read(&path).expect("there");
    bytes[20] ^= 1;
    fs::write(&path, bytes).expect("written");
    assert!(refused(&plan(dir.path(), true)).contains("is damaged"));
}

/// Replays of random histories, cut anywhere, agree with what happened.
#[test]
fn a_log_that_is_cut_anywhere_admits_what_is_there() {
    let mut random = Random::new(7, 0);
    for _ in 0..200 {
        let mut blocks = [NOTHING; 4];
        let mut admitted: Vec<HashMap<usize, Vec<u32>>> = Vec::new();
        let mut records = Vec::new();
        let known = |blocks: &[u32; 4]| {
            blocks.iter().enumerate().map(|(at, key)| (at, vec![*key])).collect::<HashMap<_, _>>()
        };
        admitted.push(known(&blocks));
        for sequence in (0..40).step_by(2) {
            let block = random.below(4) as usize;
            let old = blocks[block];
            let new = map::next(old);
            let record =
                |kind, sequence| Record { sequence, file: 0, block: block as u64, kind, old, new };
            records.push(record(Kind::Before, sequence));
            let mut during = known(&blocks);
            during.insert(block, vec![old, new]);
            admitted.push(during);
            blocks[block] = new;
            records.push(record(Kind::After, sequence + 1));
            admitted.push(known(&blocks));
        }
        for (count, admitted) in admitted.iter().enumerate() {
            let map = Map::new(4 * 512, 512, NOTHING);
            let mut keys = replay::tests::of(&[NOTHING; 4]);
            records[..count].iter().for_each(|record| assert!(keys.apply(record)));
            keys.fill(&map);
            for (block, right) in admitted {
                let BlockKey { generation, is_pending } = map.key(*block);
                let older = is_pending.then(|| map.older(*block as u64 * 512));
                let found: Vec<u32> = older.into_iter().chain([generation]).collect();
                assert_eq!(&found, right, "block {block} after {count} records");
            }
        }
    }
}
