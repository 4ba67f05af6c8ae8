use candor_engine::operation::Buffer;
use std::collections::HashSet;
use std::sync::Mutex;

use candor_plan::blocks::{Access, Blocks, Engine, ZoneReset, Zones};
use candor_plan::units::{Mix, PerDirection, SizeSpec};
use candor_plan::work::BlocksOp;
use candor_plan::{Bytes, Job, Plan, Stop, Target, TargetKind};
use proptest::prelude::*;

use super::*;
use crate::slot::BlocksSlot;
use crate::stream::offsets::{Offsets, Shapes};
use crate::stream::{self, Budget, Stream};
use crate::targets::files::Files;
use candor_engine::operation::Slot;
use candor_engine::random::Random;
use candor_plan::rank::Seat;
use std::sync::Arc;

const LENGTH: u64 = 16 << 10;

/// A file of so many zones, without a backing file.
fn files(zones: u64) -> Arc<Files> {
    let size = Some(Bytes(zones * LENGTH));
    let target = Target { kind: TargetKind::Null, size, ..Target::default() };
    let job = Job { targets: vec![target.name.clone()], ..Job::default() };
    let plan = Plan { targets: vec![target], ..Plan::default() };
    let blocks = Blocks { engine: Engine::Null, ..Blocks::default() };
    Arc::new(Files::open(&plan, &job, &blocks, &Stop::default()).expect("null opens"))
}

fn map(files: &Files, plan: &Zones) -> Arc<Map> {
    let map = Map::of(files.get(0), plan).expect("zones");
    map.reach(files.get(0).size);
    Arc::new(map)
}

fn plan() -> Zones {
    Zones { length: Some(Bytes(LENGTH)), ..Zones::default() }
}

/// A worker with its operations.
struct Worker {
    cursor: ZoneCursor,
    stream: Stream,
    in_flight: Vec<Slot>,
}

impl Worker {
    fn new(blocks: &Blocks, files: &Arc<Files>, map: &Arc<Map>, seed: u64) -> Worker {
        let shapes = Shapes::new(files.all().iter().map(OpenFile::extent));
        let rank = Seat::ALONE;
        let offsets = Offsets::new(blocks, &shapes, 0..1, rank, seed, 0);
        let random = Random::new(seed, 0);
        let parts =
            stream::Parts { blocks, random, seed, offsets, wraps: true, rank: 0, trace: None };
        let mut stream = Stream::new(parts);
        stream.bound(Budget::NONE);
        let ranges = vec![map.between(0, files.get(0).size)].into();
        let maps = [map.clone()];
        let cursor =
            ZoneCursor::new(blocks, &Stop::default(), files, &maps, ranges).expect("zones");
        Worker { cursor, stream, in_flight: Vec::new() }
    }

    /// Next operation, moved or not.
    fn next(&mut self) -> (Admission, Slot) {
        let mut slot = Slot::empty(Buffer::None);
        assert!(self.stream.next(&mut slot), "it has no end");
        let admission = self.cursor.admit(&mut slot, &mut self.stream, false);
        if admission == Admission::Admitted {
            self.in_flight.push(slot);
        }
        (admission, slot)
    }

    fn complete(&mut self) {
        for slot in self.in_flight.drain(..) {
            self.cursor.completed(&slot, true);
        }
    }
}

fn blocks(access: Access, mix: Mix, bytes: u64, zones: Zones) -> Blocks {
    let size = PerDirection::all(SizeSpec::Fixed(Bytes(bytes)));
    Blocks { access, mix, size, zones: Some(zones), ..Blocks::default() }
}

/// Offsets in KiB of so many operations, each of which completes before the next begins.
fn walk(worker: &mut Worker, ops: usize) -> Vec<u64> {
    let mut list = Vec::new();
    for _ in 0..ops {
        let (admission, slot) = worker.next();
        if admission == Admission::NoZone {
            break;
        }
        assert_eq!(admission, Admission::Admitted);
        list.push(slot.offset >> 10);
        worker.complete();
    }
    list
}

#[test]
fn sequential_writes_fill_what_zones_hold() {
    let files = files(3);
    let zones = Zones { capacity: Some(Bytes(8 << 10)), ..plan() };
    let map = map(&files, &zones);
    let mut worker =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, 4096, zones), &files, &map, 1);
    assert_eq!(walk(&mut worker, 8), [0, 4, 16, 20, 32, 36, 0, 4]);
    assert_eq!(worker.cursor.resets(), 1);
}

#[test]
fn short_writes_fill_the_rest_of_a_zone() {
    let files = files(3);
    let zones = Zones { short_writes: true, ..plan() };
    for (access, seed) in [(Access::Sequential, 1), (Access::Random, 2)] {
        let map = map(&files, &zones);
        let blocks = blocks(access.clone(), Mix::WRITE, 6 << 10, zones.clone());
        let mut worker = Worker::new(&blocks, &files, &map, seed);
        let mut lengths = [[0; 3]; 3];
        let mut writes = [0; 3];
        while worker.cursor.resets() == 0 {
            let (admission, slot) = worker.next();
            assert_eq!(admission, Admission::Admitted);
            let zone = (slot.offset / LENGTH) as usize;
            if worker.cursor.resets() == 0 {
                lengths[zone][writes[zone]] = slot.length >> 10;
                writes[zone] += 1;
            }
            worker.complete();
        }
        let full = lengths.iter().filter(|zone| **zone == [6, 6, 4]).count();
        let all = if access == Access::Sequential { 3 } else { 1 };
        assert!(full >= all, "{access:?}: {lengths:?}");
    }
}

#[test]
fn what_does_not_fit_resets_the_zone_again() {
    let files = files(3);
    let map = map(&files, &plan());
    let mut worker =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, 6 << 10, plan()), &files, &map, 1);
    assert_eq!(walk(&mut worker, 5), [0, 6, 0, 6, 0]);
    assert_eq!(worker.cursor.resets(), 2);
}

#[test]
fn zones_are_left_out_between_zones() {
    let files = files(4);
    let zones = Zones { gap: Bytes(LENGTH), ..plan() };
    let map = map(&files, &zones);
    let mut worker =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, 8 << 10, zones), &files, &map, 1);
    assert_eq!(walk(&mut worker, 6), [0, 8, 32, 40, 0, 8]);
}

#[test]
fn reads_find_what_was_written_and_nothing_else() {
    let files = files(8);
    let map = map(&files, &plan());
    let read = |access| blocks(access, Mix::READ, 4096, plan());
    let mut reader = Worker::new(&read(Access::Sequential), &files, &map, 1);
    assert_eq!(reader.next().0, Admission::NoZone, "nothing was written");
    let mut writer =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, 4096, plan()), &files, &map, 1);
    assert_eq!(walk(&mut writer, 6), [0, 4, 8, 12, 16, 20]);
    let mut reader = Worker::new(&read(Access::Sequential), &files, &map, 1);
    assert_eq!(walk(&mut reader, 9), [0, 4, 8, 12, 16, 20]);
    let mut reader = Worker::new(&read(Access::Random), &files, &map, 1);
    let places: HashSet<u64> = walk(&mut reader, 500).into_iter().collect();
    assert!(places.is_subset(&HashSet::from([0, 4, 8, 12, 16, 20])), "{places:?}");
    let beyond = Zones { read_unwritten: true, ..plan() };
    let mut reader = Worker::new(&blocks(Access::Random, Mix::READ, 4096, beyond), &files, &map, 1);
    let places: HashSet<u64> = walk(&mut reader, 500).into_iter().collect();
    assert_eq!(places.len(), 32);
}

#[test]
fn random_trims_empty_what_holds_something() {
    let files = files(8);
    let map = map(&files, &plan());
    let mut writer =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, 8192, plan()), &files, &map, 1);
    walk(&mut writer, 5);
    let trims = blocks(Access::Random, Mix::TRIM, LENGTH, plan());
    let mut trimmer = Worker::new(&trims, &files, &map, 1);
    let mut trimmed = walk(&mut trimmer, 10);
    trimmed.sort_unstable();
    assert_eq!(trimmed, [0, 16, 32]);
    assert_eq!(map.lock().written, 0);
}

#[test]
fn a_reset_waits_for_what_is_under_way() {
    let files = files(1);
    let map = map(&files, &plan());
    let mut worker =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, LENGTH, plan()), &files, &map, 1);
    assert_eq!(worker.next().0, Admission::Admitted);
    assert_eq!(worker.next().0, Admission::Wait);
    worker.complete();
    assert_eq!(worker.next().0, Admission::Admitted);
}

#[test]
fn resets_begin_above_a_share_of_data() {
    let files = files(4);
    let reset = Some(ZoneReset { above_percent: 50.0, every: 3 });
    let zones = Zones { reset, ..plan() };
    let map = map(&files, &zones);
    let mut worker =
        Worker::new(&blocks(Access::Sequential, Mix::WRITE, 4096, zones), &files, &map, 1);
    // From the ninth write on half of the range is written; the third write from there resets its
    // zone.
    assert_eq!(walk(&mut worker, 14), [0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 32, 36, 40, 32]);
}

#[test]
fn a_worker_that_goes_closes_its_zones() {
    let files = files(4);
    let zones = Zones { open_max: Some(1), ..plan() };
    let map = map(&files, &zones);
    let writes = blocks(Access::Random, Mix::WRITE, 4096, zones);
    let mut first = Worker::new(&writes, &files, &map, 1);
    assert_eq!(first.next().0, Admission::Admitted);
    assert_eq!(map.lock().open.len(), 1);
    first.complete();
    drop(first);
    assert_eq!(map.lock().open.len(), 0);
}

/// A device whose zones have write pointers of their own, which a write that failed left there.
#[derive(Default)]
struct FakeDevice {
    pointers: Arc<Mutex<Vec<u64>>>,
    finished: Arc<Mutex<Vec<u64>>>,
}

impl Backend for FakeDevice {
    fn reset(&self, _: &OpenFile, start: u64, _: u64) -> std::io::Result<()> {
        self.pointers.lock().expect("lock")[(start / LENGTH) as usize] = 0;
        Ok(())
    }

    fn finish(&self, _: &OpenFile, start: u64, _: u64) -> std::io::Result<()> {
        self.finished.lock().expect("lock").push(start / LENGTH);
        Ok(())
    }

    fn written(&self, _: &OpenFile, start: u64) -> std::io::Result<Option<u64>> {
        Ok(Some(self.pointers.lock().expect("lock")[(start / LENGTH) as usize]))
    }

    fn is_strict(&self) -> bool {
        true
    }
}

/// Runs sequential writes of 4 KiB on a fake device of three zones: the write with that number
/// fails after so many bytes, and writes that do not begin at the pointer fail. Offsets of writes
/// that failed and of those that did not, in KiB; zones that were finished.
fn writes_with_an_error(
    blocks: &Blocks,
    fails: usize,
    after: u64,
) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let files = files(3);
    let device = FakeDevice { pointers: Arc::new(Mutex::new(vec![0; 3])), ..FakeDevice::default() };
    let (pointers, finished) = (device.pointers.clone(), device.finished.clone());
    let zones = vec![Zone::empty(LENGTH); 3];
    let state = Mutex::new(State { zones, ..State::default() });
    let map = Map { length: LENGTH, capacity: LENGTH, backend: Box::new(device), state };
    let mut worker = Worker::new(blocks, &files, &Arc::new(map), 1);
    let (mut failed, mut done) = (Vec::new(), Vec::new());
    for number in 0..9 {
        let (admission, slot) = worker.next();
        assert_eq!(admission, Admission::Admitted);
        let (zone, into) = ((slot.offset / LENGTH) as usize, slot.offset % LENGTH);
        let mut pointers = pointers.lock().expect("lock");
        let bytes = if number == fails {
            after
        } else if into == pointers[zone] {
            slot.length
        } else {
            0
        };
        pointers[zone] += bytes;
        drop(pointers);
        let is_whole = bytes == slot.length;
        if is_whole { &mut done } else { &mut failed }.push(slot.offset >> 10);
        worker.cursor.completed(&slot, is_whole);
        worker.in_flight.clear();
    }
    let finished = finished.lock().expect("lock").clone();
    (failed, done, finished)
}

#[test]
fn writing_goes_on_at_the_pointer_of_the_device() {
    let recovered = Zones { recover_pointers: true, ..plan() };
    let writes = blocks(Access::Sequential, Mix::WRITE, 4096, recovered);
    // Without it, all writes to the zone fail after the first that did.
    let (failed, done, _) =
        writes_with_an_error(&blocks(Access::Sequential, Mix::WRITE, 4096, plan()), 1, 0);
    assert_eq!((failed, done), (vec![4, 8, 12], vec![0, 16, 20, 24, 28, 32]));
    let (failed, done, _) = writes_with_an_error(&writes, 1, 0);
    assert_eq!((failed, done), (vec![4], vec![0, 4, 8, 12, 16, 20, 24, 28]));
    // Half of the block was written: the last block of the zone no longer fits into it.
    let (failed, done, finished) = writes_with_an_error(&writes, 1, 2048);
    assert_eq!((failed, done), (vec![4], vec![0, 6, 10, 16, 20, 24, 28, 32]));
    assert_eq!(finished, [0]);
    // The last write of a zone fails: its rest is left to the next pass.
    let (failed, done, finished) = writes_with_an_error(&writes, 3, 0);
    assert_eq!((failed, done), (vec![12], vec![0, 4, 8, 16, 20, 24, 28, 32]));
    assert_eq!(finished, [0; 0]);
}

#[test]
fn a_pointer_inside_a_block_that_is_verified_ends_the_zone() {
    let recovered = Zones { recover_pointers: true, ..plan() };
    let mut writes = blocks(Access::Sequential, Mix::WRITE, 4096, recovered);
    let interval = Bytes(4096);
    writes.verify = Some(candor_plan::blocks::Verify { interval, ..Default::default() });
    let (failed, done, finished) = writes_with_an_error(&writes, 1, 2048);
    assert_eq!((failed, done), (vec![4], vec![0, 16, 20, 24, 28, 32, 36, 40]));
    assert_eq!(finished, [0]);
}

/// State of a zone as an independent observer tracks it.
#[derive(Clone, Default)]
struct ObservedZone {
    pointer: u64,
    in_flight: u32,
    open: bool,
}

/// Checks an operation against the state before it.
fn check(
    observed: &mut [ObservedZone],
    slot: &Slot,
    capacity: u64,
    least: u64,
) -> Result<(), TestCaseError> {
    let zone = &mut observed[(slot.offset / LENGTH) as usize];
    let (into, length) = (slot.offset % LENGTH, slot.length);
    prop_assert!(length > 0);
    match slot.issued() {
        BlocksOp::Write => {
            if into != zone.pointer {
                prop_assert_eq!((into, zone.in_flight), (0, 0), "a reset beside others");
                (zone.pointer, zone.open) = (0, false);
            }
            prop_assert!(into + length <= capacity);
            zone.pointer = into + length;
            zone.open = capacity - zone.pointer >= least;
        }
        BlocksOp::Read => prop_assert!(into + length <= zone.pointer, "above the pointer"),
        _ => {
            prop_assert_eq!((into, length, zone.in_flight), (0, LENGTH, 0));
            (zone.pointer, zone.open) = (0, false);
        }
    }
    zone.in_flight += 1;
    Ok(())
}

fn mixes() -> impl Strategy<Value = Mix> {
    let mix = |read, write| Mix { read, write, trim: 100 - read - write };
    prop::sample::select(vec![mix(0, 100), mix(50, 50), mix(40, 50)])
}

proptest! {
    /// In any interleaving, writes begin at the pointer or reset a zone without operations in
    /// flight, reads stay below the pointer, and no more zones are open than allowed.
    #[test]
    fn pointers_and_limits_hold(
        zones in 1_u64..12,
        capacity in 4_u64..=16,
        sizes in prop::collection::vec((1_u64..=4, any::<bool>(), mixes()), 1..4),
        open_max in prop::option::of(1_u32..4),
        open_max_per_worker in prop::option::of(1_u32..3),
        every in 0_u32..6,
        turns in prop::collection::vec((0_usize..3, any::<bool>()), 1..300),
    ) {
        let reset = (every > 0).then_some(ZoneReset { above_percent: 20.0, every });
        let capacity = capacity << 10;
        let plan = Zones {
            capacity: Some(Bytes(capacity)), open_max, open_max_per_worker, reset, ..plan()
        };
        let files = files(zones);
        let map = map(&files, &plan);
        let mut least = u64::MAX;
        let worker = |(nth, (size, random, mix)): (usize, &(u64, bool, Mix))| {
            let access = if *random { Access::Random } else { Access::Sequential };
            let mut blocks = blocks(access, *mix, size << 10, plan.clone());
            blocks.size.trim = SizeSpec::Fixed(Bytes(LENGTH));
            least = least.min(size << 10);
            (size << 10, Worker::new(&blocks, &files, &map, nth as u64))
        };
        let mut workers: Vec<_> = sizes.iter().enumerate().map(worker).collect();
        let mut observed = vec![ObservedZone::default(); zones as usize];
        for (who, lands) in turns {
            let who = who % workers.len();
            let (size, worker) = &mut workers[who];
            if lands {
                for slot in &worker.in_flight {
                    observed[(slot.offset / LENGTH) as usize].in_flight -= 1;
                }
                worker.complete();
            }
            let (admission, slot) = worker.next();
            if admission == Admission::Admitted {
                check(&mut observed, &slot, capacity, *size)?;
            }
            let open = observed.iter().filter(|zone| zone.open).count();
            prop_assert!(open_max.is_none_or(|most| open <= most as usize), "{open} are open");
            let state = map.lock();
            let owned = |id: u32| state.zones.iter().filter(|z| z.owner == Some(id)).count();
            let most = state.zones.iter().filter_map(|z| z.owner).map(owned).max().unwrap_or(0);
            prop_assert!(open_max_per_worker.is_none_or(|limit| most <= limit as usize));
            let open: HashSet<u32> = state.open.iter().copied().collect();
            prop_assert_eq!(open.len(), state.open.len());
            for (number, zone) in state.zones.iter().enumerate() {
                prop_assert_eq!(zone.owner.is_some(), open.contains(&(number as u32)));
                prop_assert_eq!((zone.written, zone.in_flight),
                    (observed[number].pointer, observed[number].in_flight));
            }
            let written: u64 = state.zones.iter().map(|zone| zone.written).sum();
            prop_assert_eq!(written, state.written);
        }
    }
}
