//! Rates, rests, goals, floors, errors that are survived, jobs that end others.

use candor_plan::blocks::ThinkCount;
use candor_plan::units::{Direction, PerDirection};
use candor_plan::{
    BytesPerSec, Engine, Nanos, OnDone, OnFailure, OpsPerSec, Steady, SteadyFigure, SteadyFit,
    Tolerated,
};

use super::{blocks, diagnostics, job, lowered};

const MS: u64 = 1_000_000;

fn one(lines: &str) -> candor_plan::Blocks {
    blocks(&lowered(&format!("[a]\nsize=1m\ndirectory=/tmp\n{lines}\n")), 0, 0).clone()
}

fn stop(lines: &str) -> candor_plan::Stop {
    let lowered = lowered(&format!("[a]\nsize=1m\ndirectory=/tmp\n{lines}\n"));
    job(&lowered, 0, 0).stop.clone().expect("a stop of its own")
}

#[test]
fn a_rate_is_of_each_direction() {
    let mixed = one("rw=randrw\nrate=1m,512k\nrate_iops=,100").pace;
    let bytes = PerDirection { read: 1 << 20, write: 512 << 10, trim: 0 }.map(BytesPerSec);
    assert_eq!(mixed.bytes_per_direction, Some(bytes));
    assert_eq!(mixed.per_direction.map(|rates| rates.write), Some(OpsPerSec(100)));
    assert_eq!((mixed.ops, mixed.bytes), (None, None));
    let written = one("rw=write\nrate=1m,512k").pace;
    assert_eq!((written.bytes, written.bytes_per_direction), (Some(BytesPerSec(512 << 10)), None));
}

#[test]
fn rests_by_number_by_time_and_burning_the_cpu() {
    let think = |lines: &str| one(&format!("thinktime=10ms\n{lines}")).pace.think.expect("rests");
    let plain = think("");
    assert_eq!((plain.every, plain.every_time, plain.count), (1, None, ThinkCount::Completed));
    let timed = think("thinktime_iotime=2s");
    assert_eq!((timed.every, timed.every_time), (u32::MAX, Some(Nanos::from_secs(2))));
    assert_eq!(think("thinktime_iotime=2s\nthinktime_blocks=8").every, 8);
    let spins = think("thinktime_spin=3ms\nthinktime_blocks_type=issue");
    assert_eq!((spins.spin, spins.spin_first), (false, Nanos(3 * MS)));
    assert_eq!(spins.count, ThinkCount::Issued);
    assert!(think("thinktime_spin=10ms").spin);
}

#[test]
fn goals_floors_and_flows() {
    let pace = one("latency_target=2ms\nlatency_window=1s\nlatency_percentile=99\nflow=3\n\
                    flow_id=7\nrate_min=1m\nrate_cycle=500")
    .pace;
    let goal = pace.goal.expect("a goal");
    assert_eq!((goal.latency, goal.percentile, goal.goes_on), (Nanos(2 * MS), 99.0, false));
    let flow = pace.flow.expect("a flow");
    assert_eq!((flow.id, flow.weight), (7, 3));
    let floor = pace.floor.expect("a floor");
    assert_eq!((floor.bytes.read, floor.cycle), (BytesPerSec(1 << 20), Nanos(500 * MS)));
    assert_eq!(stop("max_latency=5ms").latency_max.read, Nanos(5 * MS));
}

#[test]
fn steadiness_by_fios_criteria() {
    let lines = "runtime=60s\ntime_based\nss=bw_slope:0.3%\nss_dur=10s\nss_ramp=5s";
    let expected = Steady::Hold {
        figure: SteadyFigure::Bytes,
        fit: SteadyFit::Slope,
        limit: 0.3,
        percent: true,
        window: Nanos::from_secs(1),
        windows: 10,
        ramp: Nanos::from_secs(5),
    };
    assert_eq!(stop(lines).steady, Some(expected));
    assert_eq!(stop("runtime=60s\ntime_based\nss=iops:5%").steady, None, "no duration is set");
}

#[test]
fn errors_are_survived_by_kind_and_number() {
    let of = |op, errnos: &[i32]| -> Vec<Tolerated> {
        errnos.iter().map(|errno| Tolerated { op, errno: *errno }).collect()
    };
    assert_eq!(stop("").tolerate, []);
    assert_eq!(stop("continue_on_error=read").tolerate, of(Direction::Read, &[5, 84]));
    let listed = stop("continue_on_error=io\nignore_error=EAGAIN,ENOSPC:122").tolerate;
    let writes = [of(Direction::Write, &[28, 122]), of(Direction::Trim, &[28, 122])].concat();
    assert_eq!(listed, [of(Direction::Read, &[11]), writes].concat());
    let wrong = diagnostics("[a]\nsize=1m\nignore_error=ENONSENSE\n");
    assert!(wrong[0].contains("`ENONSENSE` is no error"), "{wrong:?}");
}

#[test]
fn jobs_end_others_on_request() {
    let text = |more: &str| format!("[global]\nsize=1m\ndirectory=/tmp\n[a]\n{more}\n[b]\n");
    let done = |more: &str| job(&lowered(&text(more)), 0, 0).on_done;
    assert_eq!(done(""), OnDone::GoOn);
    assert_eq!(done("exitall"), OnDone::EndPhase);
    assert_eq!(done("exitall\nexit_what=all"), OnDone::EndRun);
    let failed = |more: &str| lowered(&text(more)).plan.phases[0].on_failure;
    assert_eq!(failed(""), OnFailure::EndJob);
    assert_eq!(failed("exitall_on_error"), OnFailure::EndPhase);
}

#[test]
fn queues_run_down_and_are_served_by_threads() {
    let deep = one("ioengine=libaio\ndirect=1\niodepth=8\niodepth_low=2\nserialize_overlap=1");
    assert_eq!((deep.depth_low, deep.serialize_overlap), (Some(2), true));
    let offloaded = one("ioengine=psync\niodepth=8\nio_submit_mode=offload");
    assert_eq!((offloaded.engine, offloaded.depth), (Engine::Threads, 8));
    let ring = one("ioengine=io_uring\niodepth=8\nio_submit_mode=offload");
    assert_eq!((ring.engine, ring.depth), (Engine::Threads, 8));
    let mapped = diagnostics("[a]\nsize=1m\nioengine=mmap\nio_submit_mode=offload\n");
    assert!(mapped[0].contains("reading and writing calls"), "{mapped:?}");
}
