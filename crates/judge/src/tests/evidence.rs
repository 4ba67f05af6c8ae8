//! Whatever is done to a run, it is believable only where counters at the end of its path saw the
//! bytes.

use candor_plan::blocks::Engine;
use candor_plan::units::{Direction, Mix};
use candor_record::facts::Filesystem;
use candor_record::{DiskCounters, Snapshot, Verdict};
use proptest::prelude::*;

use crate::testcase::{MIB, TestCase, Workload};

/// Bytes that devices without others below them moved, and what this process read, as far as they
/// are known.
fn seen(case: &TestCase, op: Direction) -> Option<u64> {
    let host = &case.host;
    if host.facts.targets[0].device.is_none() {
        let of = |snapshot: &Snapshot| {
            let interface = snapshot.state.interfaces.first()?;
            let received = op == Direction::Read;
            Some(if received { interface.received_bytes } else { interface.sent_bytes })
        };
        return of(&host.after)?.checked_sub(of(&host.before)?);
    }
    let ends = host.facts.devices.iter().filter(|device| device.below.is_empty());
    let last = host.after_flush.as_ref().filter(|_| op == Direction::Write).unwrap_or(&host.after);
    let moved = ends.map(|end| {
        let delta = host.before.device_delta(last, &end.name)?;
        Some(if op == Direction::Read { delta.bytes_read() } else { delta.bytes_written() })
    });
    let moved: u64 = moved.collect::<Option<Vec<u64>>>()?.into_iter().sum();
    let (before, after) = (host.before.process_io?, host.after.process_io?);
    let own = after.read_bytes.saturating_sub(before.read_bytes);
    Some(if op == Direction::Read { moved.min(own) } else { moved })
}

fn workloads() -> impl Strategy<Value = Workload> {
    let engines = prop_oneof![Just(Engine::IO_URING), Just(Engine::Psync)];
    let ops = prop_oneof![Just(Direction::Read), Just(Direction::Write)];
    let rates = prop_oneof![Just(2.0), Just(900.0), Just(40_000.0), Just(700_000.0)];
    let sizes = prop_oneof![Just(512), Just(4096), Just(MIB)];
    let shape = (ops, sizes, 1u32..40, 1u32..4, engines, any::<bool>(), rates);
    shape.prop_map(|(op, bs, depth, workers, engine, direct, ops_per_s)| {
        let rest = Workload::default();
        Workload { op, bs, depth, workers, engine, direct, ops_per_s, ..rest }
    })
}

/// Kind of device or server below the target.
#[derive(Clone, Copy, Debug)]
enum Place {
    Disk,
    DirectLoop,
    BufferedLoop,
    Array,
    Zram,
    Nfs,
}

fn places() -> impl Strategy<Value = Place> {
    use Place::*;
    prop::sample::select(vec![Disk, DirectLoop, BufferedLoop, Array, Zram, Nfs])
}

fn placed(workload: &Workload, place: Place) -> TestCase {
    let case = workload.case();
    match place {
        Place::Disk => case,
        Place::DirectLoop => case.on_loop(true),
        Place::BufferedLoop => case.on_loop(false),
        Place::Array => case.on_array("raid0", &[0.5, 0.5]),
        Place::Zram => case.on_zram(),
        Place::Nfs => case.on_nfs(10_000),
    }
}

/// One thing that is not as it should be.
#[derive(Clone, Debug)]
enum Fault {
    /// The devices counted another share.
    Counted(f64),
    /// The process was charged another share.
    Charged(f64),
    /// Pages stayed dirty.
    Dirty(f64),
    /// The device below is not known.
    NothingBelow,
    /// No device is known.
    NoDevice,
    /// A process serves the filesystem.
    Served,
    /// The filesystem stacks on one in memory, or on one that is not known.
    Stacked(bool),
    /// The counters were not read.
    NoCounters,
    /// Writes are flushed at the end.
    Flushed,
    /// Writes are flushed now and then.
    FlushedOften,
    /// As many bytes went the other way, of which the devices counted a share.
    OtherWay(f64),
}

fn faults() -> impl Strategy<Value = Vec<Fault>> {
    let shares = || prop_oneof![Just(0.0), 0.0..1.0, 0.9..1.1, Just(1.0), Just(30.0)];
    let one = prop_oneof![
        shares().prop_map(Fault::Counted),
        shares().prop_map(Fault::Charged),
        shares().prop_map(Fault::Dirty),
        Just(Fault::NothingBelow),
        Just(Fault::NoDevice),
        Just(Fault::Served),
        any::<bool>().prop_map(Fault::Stacked),
        Just(Fault::NoCounters),
        Just(Fault::Flushed),
        Just(Fault::FlushedOften),
        shares().prop_map(Fault::OtherWay),
    ];
    prop::collection::vec(one, 0..4)
}

fn scaled(count: u64, share: f64) -> u64 {
    (count as f64 * share) as u64
}

fn put(case: &mut TestCase, fault: &Fault) {
    let target = &mut case.host.facts.targets[0];
    let named = |kind: &str, in_memory| {
        Some(Filesystem { kind: kind.into(), in_memory, ..Filesystem::default() })
    };
    match *fault {
        Fault::Counted(share) => {
            let count = |c: &mut DiskCounters| {
                c.read_sectors = scaled(c.read_sectors, share);
                c.write_sectors = scaled(c.write_sectors, share);
            };
            let ends = [Some(&mut case.host.after), case.host.after_flush.as_mut()];
            let devices = ends.into_iter().flatten().flat_map(|end| &mut end.devices);
            devices.for_each(|(_, counters)| count(counters));
        }
        Fault::Charged(share) => {
            if let Some(io) = case.host.after.process_io.as_mut() {
                io.read_bytes = scaled(io.read_bytes, share);
                io.write_bytes = scaled(io.write_bytes, share);
            }
        }
        Fault::Dirty(share) => {
            let cache = case.host.after.cache.as_mut().unwrap();
            cache.dirty_bytes = Some(scaled(cache.size_bytes, share));
        }
        Fault::NothingBelow => {
            if let Some(device) = case.host.facts.devices.first_mut() {
                device.below.clear();
            }
        }
        Fault::NoDevice => target.device = None,
        Fault::Served => target.filesystem = named("fuse.any", false),
        Fault::Stacked(in_memory) => {
            target.filesystem = named("overlay", false);
            target.held_on = named("tmpfs", true).filter(|_| in_memory);
            target.device = None;
        }
        Fault::NoCounters => case.host.after.devices.clear(),
        Fault::Flushed => {
            case.blocks().durability.fsync_at_end = true;
            case.measured().elapsed_with_flush_ns = Some(11_000_000_000);
            case.host.after_flush = Some(case.host.after.clone());
        }
        Fault::FlushedOften => case.blocks().durability.fsync_every = 100,
        Fault::OtherWay(share) => go_the_other_way(case, share),
    }
}

fn go_the_other_way(case: &mut TestCase, share: f64) {
    case.blocks().mix = Mix { read: 50, write: 50, trim: 0 };
    let measured = case.measured();
    let (read, write) = (Direction::Read, Direction::Write);
    let other = if measured.of(read).bytes > 0 { write } else { read };
    let main = if other == read { write } else { read };
    let stats = measured.of(main).clone();
    let bytes = scaled(stats.bytes, share);
    measured.put(other, stats);
    let ends = [Some(&mut case.host.after), case.host.after_flush.as_mut()];
    for (_, counters) in ends.into_iter().flatten().flat_map(|end| &mut end.devices) {
        let sectors = match other {
            Direction::Read => &mut counters.read_sectors,
            _ => &mut counters.write_sectors,
        };
        *sectors = sectors.saturating_add(bytes / 512);
    }
    if let Some(io) = case.host.after.process_io.as_mut() {
        let charged = if other == read { &mut io.read_bytes } else { &mut io.write_bytes };
        *charged = charged.saturating_add(bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn nothing_is_believed_that_no_counter_saw(
        workload in workloads(),
        place in places(),
        faults in faults(),
    ) {
        let mut case = placed(&workload, place);
        faults.iter().for_each(|fault| put(&mut case, fault));
        let judged = case.judge();
        if judged.verdict <= Verdict::Caution {
            let measured = &case.record.measurements[0];
            for op in [Direction::Read, Direction::Write] {
                let app = measured.of(op).bytes;
                let seen = seen(&case, op).unwrap_or(0);
                let enough = seen as f64 >= 0.93 * app as f64;
                prop_assert!(enough, "{seen} of {app} seen: {faults:?} {}", judged.headline);
            }
            let target = &case.host.facts.targets[0];
            prop_assert!(!target.holding().is_some_and(Filesystem::is_served_by_process));
            prop_assert!(target.device.is_some() || target.remote.is_some());
            let first = &case.host.facts.devices.first();
            let blind = first.is_some_and(|d| d.loop_backing.is_some() && d.below.is_empty());
            prop_assert!(!blind, "nobody knows what is below: {faults:?}");
        }
    }

    #[test]
    fn an_honest_run_is_not_denied(workload in workloads()) {
        let judged = workload.case().judge();
        let alarms = ["A1", "A3", "A13", "A16", "A17", "A19"];
        let found = judged.findings.iter().find(|f| alarms.contains(&f.rule.as_str()));
        prop_assert!(found.is_none(), "{found:?}");
    }
}
