use candor_plan::units::Direction;
use candor_record::*;
use jiff::tz::TimeZone;

use super::*;
use crate::options::{Api, Format};

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;

fn moment(second: u32) -> Moment {
    let text = format!("2026-07-18T16:11:{second:02}Z");
    Moment::of(text.parse().expect("a moment"), TimeZone::UTC)
}

fn span(begin_us: u64, end_us: u64) -> StageSpan {
    StageSpan { begin_ns: begin_us * 1000, end_ns: end_us * 1000 }
}

fn stages(open: [u64; 2], transfer: [u64; 2], close: [u64; 2]) -> Stages {
    let of = |[begin, end]: [u64; 2]| span(begin, end);
    Stages { open: of(open), transfer: of(transfer), close: of(close) }
}

/// Two tasks, each with 10 MiB in transfers of 1 MiB.
fn measured(direction: Direction, slower: u64) -> Measurement {
    let worker = |rank: u32, stages: Stages| WorkerStats {
        rank,
        ops: 10,
        bytes: 10 * MIB,
        stages: Some(stages),
        ..WorkerStats::default()
    };
    let first =
        stages([10, 1_115], [1_120, 300_000 + slower], [300_010 + slower, 300_154 + slower]);
    let second = stages([12, 900], [910, 352_189 + slower], [352_190 + slower, 352_302 + slower]);
    let mut all = first;
    all.merge(&second);
    let mut measured = Measurement {
        workers: 2,
        elapsed_ns: 352 * MS,
        stages: Some(all),
        per_worker: vec![worker(0, first), worker(1, second)],
        ..Measurement::default()
    };
    measured.put(direction, OpStats { ops: 20, bytes: 20 * MIB, ..OpStats::default() });
    measured
}

fn removed() -> Measurement {
    Measurement { elapsed_ns: 1_194_000, ..Measurement::default() }
}

fn record(phase: usize, measurement: Measurement) -> PhaseRecord {
    PhaseRecord { phase, measurements: vec![measurement], ..PhaseRecord::default() }
}

fn setup(change: impl FnOnce(&mut TestSetup)) -> Setup {
    let mut test = TestSetup {
        tasks: 2,
        nodes: 1,
        tasks_on_node0: 2,
        signature: 1000,
        ..TestSetup::default()
    };
    let options = &mut test.options;
    (options.run.write, options.run.read) = (true, true);
    (options.layout.block_bytes, options.layout.transfer_bytes) = (10 * MIB, MIB);
    options.layout.test_file = "/data/f".into();
    change(&mut test);
    Setup {
        command: ["ior", "-t", "1m", "-b", "10m"].map(String::from).into(),
        output: test.options.output.clone(),
        tests: vec![test],
        seed: 1,
    }
}

const PHASES: &[PhaseKind] =
    &[PhaseKind::Write, PhaseKind::Check, PhaseKind::Read, PhaseKind::Remove];

fn phases(repetitions: u32) -> Vec<TestPhase> {
    let of =
        |repetition| PHASES.iter().map(move |kind| TestPhase { test: 0, repetition, kind: *kind });
    (0..repetitions).flat_map(of).collect()
}

fn machine() -> Machine {
    Machine { system: "Linux".into(), node: "node7".into(), details: "6.1 #1 x86_64".into() }
}

fn space() -> Space {
    Space { bytes: 468 << 30, bytes_free: 66 << 30, inodes: 30 << 20, inodes_free: 24 << 20 }
}

/// Runs two repetitions, and returns the lines and the results.
fn ran<'a>(setup: &'a Setup, phases: &'a [TestPhase], errors: u64) -> (String, Results<'a>) {
    let mut results = Results::new(setup, phases, machine(), &[Some(space())], moment(5));
    let mut text = results.head();
    for (nth, phase) in phases.iter().enumerate() {
        text += &results.started(nth, &moment(6));
        let slower = u64::from(phase.repetition) * 100_000;
        let mut measurement = match phase.kind {
            PhaseKind::Fill | PhaseKind::Write => measured(Direction::Write, slower),
            PhaseKind::Check | PhaseKind::Read => measured(Direction::Read, slower),
            PhaseKind::Clear | PhaseKind::Remove => removed(),
        };
        if phase.kind == PhaseKind::Read && errors > 0 {
            measurement.verify =
                Some(VerifyStats { blocks: 20, flipped: errors, ..VerifyStats::default() });
        }
        if phase.kind == PhaseKind::Write && setup.tests[0].options.ends.wear_out {
            measurement.wear_out =
                Some(WearOut { ops: 10, ops_least: 6, ops_sum: 16, at_ns: 200 * MS });
        }
        text += &results.ended(&record(nth, measurement), "");
    }
    text += &results.tail(&moment(9));
    (text, results)
}

#[test]
fn the_tables_stand_as_scripts_expect() {
    let (setup, phases) = (setup(|_| {}), phases(1));
    insta::assert_snapshot!(ran(&setup, &phases, 0).0);
}

#[test]
fn verbose_tables_have_maxima_removals_and_times() {
    let setup = setup(|test| {
        test.options.output.verbose = 3;
        test.options.run.repetitions = 2;
        test.options.order.constant = true;
        test.options.layout.file_per_process = true;
        test.warnings
            .push("The file \"/data/f.00000000\" exists already and will be deleted".into());
    });
    insta::assert_snapshot!(ran(&setup, &phases(2), 0).0);
}

#[test]
fn errors_outliers_and_a_stonewall_have_lines() {
    let setup = setup(|test| {
        test.options.output.verbose = 1;
        test.options.output.summary_always = true;
        test.options.output.reference = 42;
        test.options.ends.deadline_s = 1;
        test.options.ends.wear_out = true;
        test.options.order.random = 1;
        test.options.io.api = Api::Aio;
    });
    let phases = phases(1);
    let (text, results) = ran(&setup, &phases, 3);
    assert_eq!(results.errors(), 3);
    insta::assert_snapshot!(text);
}

/// A row of a real IOR: equal numbers give equal columns.
#[test]
fn a_row_is_that_of_ior() {
    let setup = setup(|test| {
        test.tasks = 10;
        test.tasks_on_node0 = 10;
    });
    let figures = Figures {
        access: Access::Write,
        repetition: 0,
        bytes: 100 * MIB,
        transfers: 100,
        open_s: 0.001105,
        transfer_s: 0.351069,
        close_s: 0.000144,
        total_s: 0.351902,
        latency_s: 0.035106,
        stonewall: None,
        tasks: Vec::new(),
    };
    assert_eq!(
        text::row(&setup.tests[0], &figures),
        "write     284.17     284.84     0.035106    10240      1024.00    0.001105   0.351069   \
         0.000144   0.351902   0   \n"
    );
    let mut test = Results::new(&setup, &[], machine(), &[], moment(1)).tests.remove(0);
    test.rows.push(figures);
    let tail = text::tail(&[test], &moment(5));
    let row = tail.lines().find(|line| line.starts_with("write")).expect("a row");
    assert_eq!(
        row,
        concat!(
            "write         284.17     284.17     284.17       0.00     284.17     284.17     ",
            "284.17       0.00    0.35190         NA            NA     0     10  10    1   0     ",
            "0        1         0    0      1 10485760  1048576     100.0 POSIX      0",
        )
    );
    let removal = setup_verbose();
    assert_eq!(
        text::removal(&removal.tests[0], 0, 0.001194),
        concat!(
            "remove    -          -          -           -          -          -          ",
            "-          -          0.001194   0   \n",
        )
    );
}

fn setup_verbose() -> Setup {
    setup(|test| test.options.output.verbose = 1)
}

#[test]
fn json_is_one_document() {
    let setup = setup(|test| {
        test.options.run.repetitions = 2;
        test.options.output.format = Format::Json;
        test.options.order.seed = -3;
    });
    let phases = phases(2);
    let text = ran(&setup, &phases, 3).1.json(&moment(9), None);
    let document: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    assert_eq!(document["tests"][0]["Results"].as_array().map(Vec::len), Some(4));
    assert_eq!(document["tests"][0]["Results"][0]["openTime"], 0.001105);
    assert_eq!(document["summary"].as_array().map(Vec::len), Some(2));
    assert_eq!(document["tests"][0]["errors"], 6);
    insta::assert_snapshot!(text);
    let report = Report::default();
    let text = ran(&setup, &phases, 0).1.json(&moment(9), Some(&report));
    let document: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
    assert!(document["candor"]["verdict"].is_string());
}

#[test]
fn bytes_and_files_that_differ_from_the_test_are_warned_of() {
    let (setup, phases) = (setup(|_| {}), phases(1));
    let results = Results::new(&setup, &phases, machine(), &[], moment(5));
    let write = record(0, measured(Direction::Write, 0));
    let bytes = setup.tests[0].aggregate_bytes();
    assert_eq!(results.size_warning(&write, bytes), "");
    let warning = results.size_warning(&write, bytes + 1);
    let stat = format!("WARNING: Stat() of aggregate file size      = {}\n", bytes + 1);
    assert!(warning.contains(&stat) && warning.lines().count() == 3, "{warning}");
    let mut less = write.clone();
    let half = OpStats { ops: 10, bytes: bytes / 2, ..OpStats::default() };
    less.measurements[0].put(Direction::Write, half);
    assert!(!results.size_warning(&less, bytes).is_empty(), "half of the bytes were moved");
    assert_eq!(results.size_warning(&record(3, removed()), 0), "", "no data phase");
}

#[test]
fn csv_has_rows_alone() {
    let (setup, phases) = (setup(|_| {}), phases(2));
    insta::assert_snapshot!(ran(&setup, &phases, 0).1.csv());
}

#[test]
fn each_task_has_a_row() {
    let setup = setup(|test| test.options.output.rank_csv = Some("ranks.csv".into()));
    let phases = phases(1);
    let mut results = Results::new(&setup, &phases, machine(), &[], moment(5));
    let of_write = record(0, measured(Direction::Write, 0));
    results.ended(&of_write, "");
    let (file, rows) = results.task_rows(&of_write).expect("rows");
    assert_eq!(file, "ranks.csv");
    insta::assert_snapshot!(rows);
    assert_eq!(results.task_rows(&record(3, removed())), None);
}

#[test]
fn figures_come_from_stages() {
    let (setup, phases) = (setup(|_| {}), phases(1));
    let of = |measured: &Measurement| Figures::of(&setup.tests[0], &phases[0], measured);
    let figures = of(&measured(Direction::Write, 0));
    // The minimum of the tasks' means, not the mean of all transfers.
    assert!((figures.latency_s - 0.298_88 / 10.0).abs() < 1e-9, "{figures:?}");
    assert!(
        (figures.open_s - 0.001_105).abs() < 1e-9 && (figures.total_s - 0.352_292).abs() < 1e-9
    );
    assert!((figures.mib_per_s() - 20.0 / 0.352_292).abs() < 1e-6);
    assert!((figures.transfers_per_s() - 20.0 / (0.352_189 - 0.000_910)).abs() < 1e-6);
    let plain = Measurement { stages: None, ..measured(Direction::Write, 0) };
    let plain = of(&Measurement { elapsed_with_flush_ns: Some(400 * MS), ..plain });
    assert_eq!((plain.open_s, plain.close_s, plain.total_s), (0.0, 0.0, 0.4));
    let empty = of(&Measurement::default());
    assert_eq!((empty.mib_per_s(), empty.latency_s), (0.0, 0.0));
}

#[test]
fn a_dry_run_names_the_phases() {
    let setup = setup(|test| test.options.output.dry_run = true);
    let phases = phases(1);
    let mut results = Results::new(&setup, &phases, machine(), &[], moment(5));
    let text = results.dry_run(&moment(6));
    assert!(
        text.contains(
            "\nphase 0: test 0, repetition 0: write 2 tasks, 10 transfers of 1 MiB each\n"
        )
    );
    assert!(text.ends_with("phase 3: test 0, repetition 0: remove files\n"), "{text}");
}

#[test]
fn transfers_go_to_the_files_of_their_tasks() {
    use candor_plan::{Job, Phase, Plan, Sharing};
    let setup = setup(|test| test.options.output.operations_csv = Some("ops".into()));
    let phases = [TestPhase { test: 0, repetition: 1, kind: PhaseKind::Read }];
    let files = |sharing: Sharing, shift: i64| {
        let job = Job { workers: 2, sharing, rank_shift: shift, ..Job::default() };
        let plan =
            Plan { phases: vec![Phase { jobs: vec![job], ..Phase::default() }], ..Plan::default() };
        let op = |file: u32, offset: u64, at_ms: u64| LoggedOp {
            at_ns: at_ms * MS,
            op: Direction::Read,
            priority: 0,
            file,
            bytes: 1 << 20,
            offset,
            latency_ns: MS,
            completion_ns: MS,
        };
        let ops = vec![op(0, 0, 2), op(1, 10 * MIB, 4)];
        let log = Some(Box::new(Log { ops, ..Log::default() }));
        let record = record(0, Measurement { log, ..Measurement::default() });
        operation_files(&setup, &phases, &plan, &record)
    };
    let own = files(Sharing::Own, 0);
    assert_eq!(
        own[0],
        (
            "ops-1-00000.csv".into(),
            "time,runtime,tp\n1.00000000e-03,1.00000000e-03,1.048576e+09\n".into()
        )
    );
    assert!(own[1].1.contains("3.00000000e-03"));
    let shifted = files(Sharing::Own, 1);
    assert!(shifted[1].1.contains("1.00000000e-03"), "task 1 reads the file of task 0");
    let shared = files(Sharing::Shared, 0);
    assert!(shared[1].1.contains("3.00000000e-03"), "its block");
    assert_eq!(without_header(&shared[1].1).lines().count(), 1);
}
