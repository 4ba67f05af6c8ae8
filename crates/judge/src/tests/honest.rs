//! Honest runs must not be blamed: engines × direct or cold × devices × depths × sizes.

use candor_plan::blocks::Engine;
use candor_plan::objects::ObjectOp;
use candor_plan::units::Direction;
use candor_record::{Severity, Verdict};

use crate::testcase::{MIB, TestCase, Workload, fact};

/// Workloads of honest runs, with and without ramp.
fn workloads() -> Vec<Workload> {
    let mut workloads = Vec::new();
    for op in [Direction::Read, Direction::Write] {
        for engine in [Engine::Psync, Engine::PVSYNC, Engine::LIBAIO, Engine::IO_URING] {
            for (bs, ops_per_s) in [(4096, 20_000.0), (65_536, 5000.0), (MIB, 700.0)] {
                for (depth, workers) in [(1, 1), (1, 4), (32, 1), (32, 4)] {
                    let depth = if engine.is_async() { depth } else { 1 };
                    for ramp_s in [0, 2] {
                        let seconds = 10;
                        let direct = true;
                        workloads.push(Workload {
                            op,
                            bs,
                            depth,
                            workers,
                            engine,
                            direct,
                            ops_per_s,
                            seconds,
                            ramp_s,
                        });
                    }
                }
            }
        }
    }
    workloads
}

/// The same run on each kind of device that deserves no word.
fn devices(case: &TestCase) -> Vec<(&'static str, TestCase)> {
    vec![
        ("virtio", case.clone()),
        ("loop", case.clone().on_loop(true)),
        ("sata", case.clone().sata(2_000_000_000)),
    ]
}

fn through(mut case: TestCase) -> TestCase {
    case.disk().queue.write_cache = fact("write through".into());
    case
}

#[test]
fn honest_direct_runs_are_believable() {
    for workload in workloads() {
        for (device, case) in devices(&through(workload.case())) {
            let judgement = case.judge();
            assert_eq!(judgement.verdict, Verdict::Ok, "{device} {workload:?} {judgement:#?}");
            assert!(judgement.limited_by.is_some(), "{device} {workload:?}");
            assert_eq!(case.preflight(), [], "{device} {workload:?}");
        }
    }
}

#[test]
fn operations_in_flight_at_the_start_do_not_look_cached() {
    for workload in workloads().into_iter().filter(|workload| workload.ramp_s > 0) {
        let mut case = through(workload.case());
        let in_flight = u64::from(workload.depth * workload.workers) * workload.bs;
        let io = case.host.after.process_io.as_mut().unwrap();
        io.read_bytes = io.read_bytes.saturating_sub(in_flight);
        io.write_bytes = io.write_bytes.saturating_sub(in_flight);
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Ok, "{workload:?} {judgement:#?}");
    }
}

#[test]
fn a_little_metadata_traffic_is_no_finding() {
    for workload in workloads() {
        let mut case = through(workload.case());
        let top = case.after_top();
        (top.writes, top.write_sectors) = (top.writes + 40, top.write_sectors + 40 * 8);
        (top.reads, top.read_sectors) = (top.reads + 4, top.read_sectors + 4 * 8);
        let judgement = case.judge();
        assert_eq!(judgement.verdict, Verdict::Ok, "{workload:?} {judgement:#?}");
    }
}

#[test]
fn honest_buffered_runs_are_believable() {
    let mut workload = Workload { engine: Engine::Psync, direct: false, ..Workload::default() };
    assert_eq!(workload.case().judge().verdict, Verdict::Ok);
    (workload.op, workload.ops_per_s) = (Direction::Write, 600.0);
    let mut case = workload.case();
    case.blocks().durability.fsync_every = 1;
    assert_eq!(case.judge().verdict, Verdict::Ok);
}

#[test]
fn mapped_reads_are_counted_by_their_faults() {
    let workload = Workload { engine: Engine::MMAP, direct: false, ..Workload::default() };
    let mut case = workload.case();
    case.host.after.process_io.as_mut().unwrap().rchar = 0;
    assert_eq!(case.judge().verdict, Verdict::Ok);
}

#[test]
fn an_honest_run_on_zram_is_memory_and_nothing_else() {
    for workload in workloads() {
        let mut case = workload.case().on_zram();
        case.after_top().weighted_ms = 900;
        case.measured().per_worker[0].cpu_system_ns = 10_000_000_000;
        let judgement = case.judge();
        let mut rules = judgement.rules();
        rules.retain(|rule| !rule.starts_with('G'));
        assert_eq!(rules, ["A16"], "{workload:?}");
        assert_eq!(
            judgement.findings[0].measures.as_ref().map(ToString::to_string).as_deref(),
            Some("this host's memory")
        );
        let preflight = case.preflight();
        assert_eq!(preflight.iter().map(|f| f.rule.as_str()).collect::<Vec<_>>(), ["A16"]);
    }
}

#[test]
fn a_loop_over_the_cache_is_the_only_thing_said_of_it() {
    for workload in workloads() {
        let case = through(workload.case()).on_loop(false);
        let judgement = case.judge();
        let heavy: Vec<_> =
            judgement.findings.iter().filter(|f| f.severity > Severity::Explains).collect();
        assert_eq!(heavy.iter().map(|f| f.rule.as_str()).collect::<Vec<_>>(), ["A13"]);
    }
}

#[test]
fn a_partition_is_judged_by_the_limits_of_its_disk() {
    let mut case = TestCase::direct(4096, 32, 1, 60_000.0).on_loop(true);
    case.host.facts.devices[0].name = "vda1".into();
    case.host.facts.devices[0].kind = candor_record::facts::DeviceKind::Partition;
    case.host.facts.devices[0].loop_backing = None;
    case.host.facts.devices[0].queue = Default::default();
    case.host.facts.targets[0].device = fact("vda1".into());
    for snapshot in [&mut case.host.before, &mut case.host.after] {
        snapshot.devices[0].0 = "vda1".into();
    }
    assert_eq!(case.judge().verdict, Verdict::Ok);
}

#[test]
fn honest_requests_for_objects_are_believable() {
    for op in [ObjectOp::Get, ObjectOp::Put, ObjectOp::Head, ObjectOp::Delete, ObjectOp::List] {
        for (bytes, ops_per_s) in [(4096, 4000.0), (MIB, 300.0), (8 * MIB, 60.0)] {
            for depth in [1, 8, 64] {
                let judgement = TestCase::on_objects(op, bytes, depth, ops_per_s).judge();
                let what = format!("{op:?} {bytes} {depth} {judgement:#?}");
                assert_eq!(judgement.verdict, Verdict::Ok, "{what}");
                assert!(judgement.limited_by.is_some(), "{what}");
                let of_devices = judgement.findings.iter().map(|finding| &finding.rule);
                let mut of_devices = of_devices.filter(|rule| !rule.starts_with(['S', 'G']));
                assert_eq!(of_devices.next(), None, "{what}");
                let mut lacked = judgement.not_evaluated.iter().map(|lacked| &lacked.rule);
                assert!(lacked.all(|rule| rule == "B13"), "{what}");
            }
        }
    }
}
