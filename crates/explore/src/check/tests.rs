//! The series on devices that are formulas: which steps it chooses, and with what.

use candor_compare::is_phase;
use candor_record::PhaseRecord;
use candor_record::facts::PathKind;
use candor_run::{Channels, Command, Space};

use super::*;
use crate::fake::{Device, Fake, Ran};

const GIB: u64 = 1 << 30;

fn options(write: bool) -> CheckOptions {
    CheckOptions {
        path: "/fake".into(),
        time: Nanos::from_secs(90),
        size: None,
        write,
        keep: false,
        hosts: 1,
    }
}

/// Runs the series on a fake; the report and the phases that ran.
fn checked(fake: Fake, options: &CheckOptions) -> (Result<Report, RunError>, Vec<Ran>) {
    let history = fake.history.clone();
    let channels = Channels::default();
    let report = check(options, Box::new(fake), &Options::default(), &channels);
    (report, history.all())
}

/// Names of the phases that are no search steps.
fn names(report: &Report) -> Vec<&str> {
    let steps = report.phases.iter().filter(|phase| !phase.search_step);
    steps.map(|phase| phase.name.as_str()).collect()
}

#[test]
fn the_series_finds_the_concurrency_that_saturates_each_device() {
    let cpu_bound = Device { worker_ops_per_s: 400_000.0, ..Device::new(1024, 10e-6) };
    let models = [
        ("a disk", Device::new(1, 5e-3), "depth 2"),
        ("a SATA SSD", Device::new(32, 100e-6), "depth 32"),
        ("an NVMe SSD", Device::new(128, 80e-6), "depth 128"),
        ("an array without end", Device::new(4096, 1e-3), "depth 256"),
        ("one that outruns a CPU", cpu_bound, "4 workers of depth 4"),
        ("the same on two CPUs", Device { cpus: 2, ..cpu_bound }, "2 workers of depth 4"),
        ("the same on one CPU", Device { cpus: 1, ..cpu_bound }, "depth 4"),
    ];
    for (model, device, best) in models {
        let (report, _) = checked(Fake::new(device), &options(false));
        let report = report.expect(model);
        let expected = [
            "sequential write",
            "sequential read",
            "random read, depth 1",
            &format!("random read, {best}"),
            "random write, depth 1",
            &format!("random write, {best}"),
            "durable write",
        ];
        assert_eq!(names(&report)[..7], expected, "{model}");
        let known = results(true, true);
        let planned = report.phases.iter().filter(|phase| !phase.search_step);
        assert!(
            planned.clone().all(|phase| known.iter().any(|name| is_phase(name, &phase.name))),
            "{known:?}"
        );
        assert!(known.iter().all(|name| {
            let has = |phase: &PhaseRecord| is_phase(name, &phase.name);
            planned.clone().any(has)
        }));
        assert_eq!((report.cut_short, report.plan.phases.len()), (None, 17), "{model}");
        let judged = report.judgement.phases.iter().map(Option::is_some);
        let planned = report.phases.iter().map(|phase| !phase.search_step);
        assert!(judged.eq(planned), "{model}: all but search steps are judged");
    }
}

#[test]
fn a_trial_that_is_slower_than_one_at_a_time_runs_once_more() {
    let disturbed = ("searching at depth 4", 1);
    let fake = Fake { disturbed, ..Fake::new(Device::new(32, 1e-4)) };
    let (report, ran) = checked(fake, &options(false));
    assert!(names(&report.expect("it runs")).contains(&"random read, depth 32"));
    let tried = |name: &str| ran.iter().filter(|ran| ran.phase.name == name).count();
    assert_eq!((tried(disturbed.0), tried("searching at depth 4, again")), (1, 1));
}

#[test]
fn a_deep_step_that_is_slower_than_one_at_a_time_is_searched_for_again() {
    let disturbed = ("random read, depth 32", 1);
    let fake = Fake { disturbed, ..Fake::new(Device::new(32, 1e-4)) };
    let (report, ran) = checked(fake, &options(false));
    let names = names(&report.expect("it runs")).join("; ");
    assert!(names.contains("random read, depth 32; random read, depth 32, again; "), "{names}");
    let times = ["searching at depth 2", "searching once more at depth 2"]
        .map(|name| ran.iter().filter(|ran| ran.phase.name == name).count());
    assert_eq!(times, [1, 1]);
}

/// The judge says nothing of the length of a check's own steps on one file, and of files that are
/// made and read no more than that they are a first look.
#[test]
fn steps_are_long_enough_by_default() {
    for (kind, write) in [(PathKind::Directory, false), (PathKind::Device, true)] {
        let fake = Fake { kind, ..Fake::new(Device::new(32, 1e-4)) };
        let (report, _) = checked(fake, &options(write));
        let report = report.expect("it runs");
        let seconds = |is_one: &dyn Fn(&Job) -> bool| {
            let phases = report.results().zip(&report.plan.phases);
            let phases = phases.filter(|(_, planned)| is_one(&planned.jobs[0]));
            phases.flat_map(|(phase, _)| &phase.measurements).map(|m| m.elapsed_ns).min()
        };
        let least = seconds(&|job| job.blocks().is_some()).expect("steps");
        assert!(least >= 8_000_000_000, "{least}");
        let least = seconds(&|job| job.entries().is_some_and(candor_plan::Entries::moves_bytes));
        assert!(least.is_none_or(|least| least >= 3_000_000_000), "{least:?}");
    }
}

#[test]
fn small_files_take_as_many_as_there_is_time_for() {
    let files = |latency_s: f64| {
        let (report, ran) = checked(Fake::new(Device::new(1, latency_s)), &options(false));
        let report = report.expect("it runs");
        let made = |tree: &str| {
            let name = format!("create, {tree}");
            let phase = report.phases.iter().find(|phase| phase.name == name).expect("it ran");
            phase.measurements[0].operation("create").ops
        };
        let wants = ran.iter().filter(|ran| ran.phase.jobs[0].wants_cache);
        let wants: Vec<_> = wants.map(|ran| ran.phase.name.as_str()).collect();
        let looks = ["stat", "list"].map(|step| format!("{step}, own directories"));
        assert_eq!(wants[..2], looks, "looks at names that were just made are the kernel's");
        [made("own directories"), made("one directory")]
    };
    let [own, one] = files(1e-4);
    assert!((25_000..40_000).contains(&one) && own.abs_diff(one) < 40, "{own} {one}");
    assert_eq!(files(1.0), [64, 64], "a few at least");
}

#[test]
fn hosts_have_files_of_their_own_and_take_turns_on_what_is_there() {
    let on = |kind, write| {
        let fake = Fake { kind, length_bytes: Some(GIB), ..Fake::new(Device::new(8, 1e-4)) };
        let (report, ran) = checked(fake, &CheckOptions { hosts: 3, ..options(write) });
        (report.expect("it runs").plan, ran)
    };
    let of_blocks = |ran: &[Ran]| -> Vec<(Sharing, Share, Access)> {
        ran.iter()
            .filter_map(|ran| {
                let job = &ran.phase.jobs[0];
                let blocks = job.blocks()?;
                Some((job.sharing, blocks.share.clone(), blocks.access.clone()))
            })
            .collect()
    };
    let (plan, ran) = on(PathKind::Directory, false);
    assert_eq!((plan.hosts, plan.targets[0].files), (3, 3));
    let own = of_blocks(&ran);
    assert!(own.iter().all(|of| (of.0, &of.1) == (Sharing::Own, &Share::Whole)), "{own:?}");
    let trees = plan.targets.iter().filter_map(|target| target.tree.as_ref());
    assert!(trees.filter(|tree| tree.per_rank).all(|tree| tree.items > 0));
    let (plan, ran) = on(PathKind::Device, true);
    assert_eq!((plan.hosts, plan.targets[0].files), (3, 1));
    for (sharing, share, access) in of_blocks(&ran) {
        let in_turn = if access == Access::Sequential { Share::Interleave } else { Share::Whole };
        assert_eq!((sharing, share), (Sharing::Shared, in_turn));
    }
}

#[test]
fn small_files_leave_room_to_others() {
    let space = |available_bytes, available_inodes| {
        let (filesystem, total_bytes) = (1, 100 * GIB);
        let space = Space { filesystem, total_bytes, available_bytes, available_inodes };
        small_files::room(Some(space))
    };
    assert_eq!(space(64 << 20, 16_000), 2048);
    assert_eq!(space(64 << 20, 400), 100);
    assert_eq!(small_files::room(None), u64::MAX);
}

#[test]
fn what_is_there_is_only_read_unless_the_user_consents() {
    for (kind, write) in [(PathKind::File, false), (PathKind::Device, false)] {
        let fake = Fake { kind, length_bytes: Some(GIB), ..Fake::new(Device::new(8, 1e-4)) };
        let (report, ran) = checked(fake, &options(write));
        let report = report.expect("it runs");
        let expected = ["sequential read", "random read, depth 1", "random read, depth 8"];
        assert_eq!(names(&report), expected);
        let blocks = ran.iter().filter_map(|ran| ran.phase.jobs[0].blocks());
        assert!(blocks.clone().count() > 3 && blocks.clone().all(|blocks| blocks.mix.write == 0));
    }
    let file =
        Fake { kind: PathKind::File, length_bytes: Some(GIB), ..Fake::new(Device::new(8, 1e-4)) };
    let (report, _) = checked(file, &options(true));
    assert_eq!(names(&report.expect("it runs"))[0], "sequential write");
}

#[test]
fn steps_take_the_time_that_the_user_gives() {
    for (seconds, write) in [(90, true), (90, false), (600, true), (8, false)] {
        let fake = Fake { kind: PathKind::Device, ..Fake::new(Device::new(4096, 1e-3)) };
        let options = CheckOptions { time: Nanos::from_secs(seconds), ..options(write) };
        let (_, ran) = checked(fake, &options);
        let all: f64 =
            ran.iter().map(|ran| ran.phase.stop.time.map_or(0, |time| time.0) as f64 / 1e9).sum();
        let given = seconds as f64;
        assert!(all < given && all > 0.8 * given - 20.0 * OVERHEAD_SECONDS, "{all} s of {given} s");
    }
}

#[test]
fn later_steps_work_on_what_the_first_one_wrote() {
    // 8 in flight of 1 MiB in 10 ms each: 800 MiB/s for 8 s.
    let fast = Fake::new(Device::new(8, 10e-3));
    let (_, ran) = checked(fast, &options(false));
    assert_eq!((ran[0].size, ran[1].size), (Some(Bytes(SIZE_MAX)), Some(Bytes(SIZE_MAX))));
    let slow = Fake::new(Device::new(1, 10e-3));
    let (_, ran) = checked(slow, &options(false));
    let written = ran[1].size.expect("it is known").0;
    assert!(written < GIB && written > 700 << 20 && written.is_multiple_of(LARGE.0), "{written}");
    assert!(ran[1..].iter().all(|ran| ran.size == Some(Bytes(written))));
    let full = Fake { available_bytes: GIB, ..Fake::new(Device::new(8, 10e-3)) };
    let (_, ran) = checked(full, &options(false));
    assert_eq!(ran[0].size, Some(Bytes(GIB / 4)), "a quarter of what is free");
}

#[test]
fn a_step_that_fails_ends_the_series_with_a_report() {
    let fails = Fake { fails: Some("sequential read"), ..Fake::new(Device::new(8, 1e-4)) };
    let (report, ran) = checked(fails, &options(false));
    let report = report.expect("two steps ran");
    assert_eq!((names(&report).len(), ran.len()), (2, 2));
    assert!(report.cut_short.is_some_and(|why| why.contains("worn out")));
    let refuses = Fake { refuses: Some("sequential read"), ..Fake::new(Device::new(8, 1e-4)) };
    let (report, ran) = checked(refuses, &options(false));
    let report = report.expect("one step ran");
    assert_eq!((ran.len(), report.cut_short.as_deref()), (1, Some("it is refused")));
    assert_eq!(report.phases[1].host().host, "fake", "the report keeps what is known");
}

#[test]
fn commands_end_the_series() {
    for (command, interrupted) in [(Command::End, false), (Command::Stop, true)] {
        let fake = Fake::new(Device::new(8, 1e-4));
        let channels = Channels::default();
        channels.control.send(command);
        let report = check(&options(false), Box::new(fake), &Options::default(), &channels);
        let report = report.expect("one step ran");
        assert_eq!(names(&report), ["sequential write"]);
        assert_eq!((report.interrupted, report.cut_short.is_some()), (interrupted, interrupted));
    }
}

#[test]
fn no_more_is_used_than_there_is() {
    let sized = |size| {
        let survey = Survey {
            path: "/fake".into(),
            kind: PathKind::File,
            length_bytes: Some(9000),
            takes_direct: true,
            engine: Engine::Psync,
            space: None,
        };
        target(&CheckOptions { size, ..options(false) }, &survey).size
    };
    assert_eq!(sized(Some(Bytes(10 << 30))), Some(Bytes(9000)));
    assert_eq!(sized(Some(Bytes(4096))), Some(Bytes(4096)));
    assert_eq!(sized(None), None);
}

#[test]
fn only_what_was_written_is_used() {
    let size = 100 * LARGE.0;
    assert_eq!(written_part(size, size), Bytes(size));
    assert_eq!(written_part(3 * size, size + 5), Bytes(size + 5));
    assert_eq!(written_part(7 * LARGE.0 + 1, size), Bytes(7 * LARGE.0));
    assert_eq!(written_part(0, size), LARGE);
}

#[test]
fn steps_share_the_time_that_is_left() {
    let clock = |seconds_ago: u64, spent: f64| Clock {
        begun: Instant::now() - std::time::Duration::from_secs(seconds_ago),
        seconds: 90.0,
        total: 86.0,
        spent: Cell::new(spent),
        taken: Cell::new(0.0),
        overhead: 4.0,
    };
    let near = |scale: f64, expected: f64| assert!((scale - expected).abs() < 0.01, "{scale}");
    near(clock(0, 0.0).scale(), 1.0);
    near(clock(45, 43.0).scale(), 1.0);
    // 58 s are left for steps of 43 s, with 2 s between them.
    near(clock(30, 43.0).scale(), 58.0 / 43.0);
    // 28 s are left for steps of 43 s, with 2 s between them.
    near(clock(60, 43.0).scale(), 28.0 / 43.0);
    near(clock(89, 43.0).scale(), LEAST_SHARE);
    let steps = clock(0, 0.0);
    assert!(steps.take(8.5).as_secs_f64() < 8.6);
    assert_eq!(steps.spent.get(), 8.5);
}
