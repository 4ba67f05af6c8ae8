mod s3;

use candor_plan::entries::{ITEM, MAKE_ROOT, OPERATIONS, REMOVE_ROOT, Step};
use candor_plan::work::BlocksOp;
use candor_record::*;

use super::*;
use crate::setup::{PathKind, PhaseKind, READERS};

const MS: u64 = 1_000_000;

fn latency(count: u64, middle_ns: u64) -> Option<Latency> {
    let mut histogram = Histogram::new();
    (0..count).for_each(|i| histogram.record(middle_ns + i % 40 * middle_ns / 400));
    Latency::from_histogram(histogram)
}

/// An operation: name, then ops and bytes at the first and at the last end.
type Op = (&'static candor_plan::work::Operation, [u64; 2], [u64; 2]);

fn job(ends_ms: [u64; 2], operations: &[Op]) -> Measurement {
    let stats = |(row, ops, bytes): &Op| OpStats {
        ops: ops[1],
        bytes: bytes[1],
        latency: latency(ops[1], 61_400),
        ..OpStats::of(row)
    };
    let count =
        |(row, ops, bytes): &Op| OpCount { ops: ops[0], bytes: bytes[0], ..OpCount::of(row) };
    let worker = |(rank, ms): (usize, u64)| WorkerStats {
        rank: rank as u32,
        elapsed_ns: ms * MS,
        ..WorkerStats::default()
    };
    let [first_ms, last_ms] = ends_ms;
    let sum = |of: &dyn Fn(&Op) -> u64| operations.iter().map(of).sum();
    Measurement {
        workers: 2,
        elapsed_ns: last_ms * MS,
        operations: operations.iter().map(stats).collect(),
        first_done: Some(FirstDone {
            at_ns: first_ms * MS,
            ops: sum(&|op| op.1[0]),
            bytes: sum(&|op| op.2[0]),
            operations: operations.iter().map(count).collect(),
            ..FirstDone::default()
        }),
        start_unix_ms: Some(1_770_653_909_000),
        per_worker: [last_ms, first_ms].into_iter().enumerate().map(worker).collect(),
        ..Measurement::default()
    }
}

/// Counters of half-busy CPUs.
fn host() -> HostRecord {
    let at = |seconds: u64| Snapshot {
        at_ns: seconds * 1000 * MS,
        cpu: Some(CpuTimes {
            user_ns: seconds * 500 * MS,
            idle_ns: seconds * 500 * MS,
            ..CpuTimes::default()
        }),
        ..Snapshot::default()
    };
    HostRecord { before: at(0), during: vec![at(1)], after: at(2), ..HostRecord::default() }
}

fn record(measurements: Vec<Measurement>) -> PhaseRecord {
    PhaseRecord { measurements, hosts: vec![host()], ..PhaseRecord::default() }
}

fn setup(path_kind: PathKind) -> Setup {
    let mut setup = Setup { path_kind, file_bytes: 8192, block_bytes: 4096, ..Setup::default() };
    setup.asked.run.threads = 2;
    setup.asked.paths = vec!["/data/t".into()];
    setup.asked.command = ["elbencho", "-w", "--label", "a,b", "/data/t"].map(String::from).into();
    setup
}

fn phase(kind: PhaseKind, name: &str) -> BenchPhase {
    BenchPhase { kind, name: name.into() }
}

fn moment() -> Moment {
    let at = "2026-02-09T16:18:30.170Z".parse().expect("a time");
    Moment::of(at, TimeZone::fixed(jiff::tz::offset(-5)), [0x0123_4567_89ab_cdef, u64::MAX])
}

fn row(step: Step) -> &'static candor_plan::work::Operation {
    step.operation()
}

/// Writes of small files: 2 threads, 3 directories, 4 files of two blocks.
fn small_files() -> PhaseRecord {
    let operations: [Op; 4] = [
        (row(Step::Create), [20, 24], [0, 0]),
        (row(Step::Write), [38, 48], [38 * 4096, 48 * 4096]),
        (row(Step::Close), [20, 24], [0, 0]),
        (&OPERATIONS[usize::from(ITEM)], [19, 24], [0, 0]),
    ];
    record(vec![job([1500, 2000], &operations)])
}

fn noted(result: &PhaseResult<'_>) -> String {
    let mut notes = Notes::default();
    notes.add(result);
    notes.text()
}

#[test]
fn the_table_of_small_files() {
    let mut setup = setup(PathKind::Directory);
    (setup.asked.tree.dirs, setup.asked.tree.files) = (3, 4);
    let output = &mut setup.asked.output;
    (output.cpu, output.all_elapsed, output.latency) = (true, true, true);
    (output.percentiles, output.percentile_nines, output.histogram) = (true, 1, true);
    let write = phase(PhaseKind::Write, "WRITE");
    let result = PhaseResult::of(&setup, &write, &small_files());
    insta::assert_snapshot!(format!("{HEADER}{}{}", result.table(), noted(&result)), @r"
    OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
    =========== ================    ==========   =========
    WRITE       Elapsed time     :      1.500s      2.000s
                Files/s          :          12          12
                IOPS             :          25          24
                Throughput MiB/s :           0           0
                Total MiB        :           0           0
                Files total      :          19          24
                CPU util %       :          50          50
                Time ms each     : [ 2000 1500 ]
                Files latency    : [ min=61us avg=63us max=64us ]
                Files lat % us   : [ 1%<=62 50%<=64 75%<=65 99%<=65 99.9%<=65 ]
                Files lat hist   : [ 64: 17, 76: 7 ]
                IO latency       : [ min=61us avg=63us max=67us ]
                IO lat % us      : [ 1%<=62 50%<=64 75%<=67 99%<=68 99.9%<=68 ]
                IO lat hist      : [ 64: 25, 76: 23 ]
    ---
    Note: latencies of writes leave out the time to fill blocks; elbencho's contain it.
    ");
}

#[test]
fn completed_directories_follow_from_the_files_in_them() {
    let mut setup = setup(PathKind::Directory);
    (setup.asked.tree.dirs, setup.asked.tree.files) = (3, 4);
    setup.asked.tree.dir_stats = true;
    let write = phase(PhaseKind::Write, "WRITE");
    let result = PhaseResult::of(&setup, &write, &small_files());
    insta::assert_snapshot!(result.table(), @r"
    WRITE       Elapsed time     :      1.500s      2.000s
                Files/s          :          12          12
                Dirs/s           :           3           3
                IOPS             :          25          24
                Throughput MiB/s :           0           0
                Total MiB        :           0           0
                Files total      :          19          24
                Dirs total       :           4           6
    ---
    ");
    let line: serde_json::Value = serde_json::from_str(&result.json(&moment())).expect("JSON");
    assert_eq!(line["last_done"].get("dirs"), None, "the table alone has them");
    let make = phase(PhaseKind::MakeDirs, "MKDIRS");
    assert_eq!(PhaseResult::of(&setup, &make, &small_files()).figures.files_per_dir, None);
}

#[test]
fn directories_of_ranks_are_not_counted() {
    let mut setup = setup(PathKind::Directory);
    setup.asked.tree.dirs = 3;
    let make = phase(PhaseKind::MakeDirs, "MKDIRS");
    let record = record(vec![job(
        [61, 63],
        &[
            (row(Step::Mkdir), [5, 6], [0, 0]),
            (&OPERATIONS[usize::from(MAKE_ROOT)], [2, 2], [0, 0]),
        ],
    )]);
    let table = PhaseResult::of(&setup, &make, &record).table();
    insta::assert_snapshot!(table, @r"
    MKDIRS      Elapsed time     :        61ms        63ms
                Dirs/s           :          81          95
                Dirs total       :           5           6
    ---
    ");
    let remove = phase(PhaseKind::RemoveDirs, "RMDIRS");
    let removed = PhaseRecord {
        measurements: vec![job(
            [61, 63],
            &[
                (row(Step::Rmdir), [5, 6], [0, 0]),
                (&OPERATIONS[usize::from(REMOVE_ROOT)], [1, 2], [0, 0]),
            ],
        )],
        ..record
    };
    insta::assert_snapshot!(PhaseResult::of(&setup, &remove, &removed).table(), @r"
    RMDIRS      Elapsed time     :        61ms        63ms
                Dirs/s           :          81          95
                Dirs total       :           5           6
    ---
    ");
}

/// Reads during writes of a file.
fn mix() -> PhaseRecord {
    let operations: [Op; 2] = [
        (BlocksOp::Read.operation(), [300, 350], [300 * 4096, 350 * 4096]),
        (BlocksOp::Write.operation(), [100, 150], [100 * 4096, 150 * 4096]),
    ];
    record(vec![job([1000, 2000], &operations)])
}

#[test]
fn a_mix_has_reads_and_writes_apart() {
    let mut setup = setup(PathKind::File);
    (setup.asked.output.latency, setup.asked.output.base10) = (true, true);
    let write = phase(PhaseKind::Write, "RWMIX70");
    let result = PhaseResult::of(&setup, &write, &mix());
    insta::assert_snapshot!(result.table(), @r"
    RWMIX70     Elapsed time     :      1.000s      2.000s
                IOPS write       :         100          75
                IOPS read        :         300         175
                IOPS total       :         400         250
                MB/s write       :           0           0
                MB/s read        :           1           0
                MB/s total       :           1           1
                MiB write        :           0           0
                MiB read         :           1           1
                IO wr latency    : [ min=61us avg=64us max=67us ]
                IO rd latency    : [ min=61us avg=64us max=67us ]
    ---
    ");
}

#[test]
fn blocks_are_counted_where_more_is_requested() {
    let mut setup = setup(PathKind::File);
    setup.asked.run.log_level = 1;
    let total = |name: &str, record: &PhaseRecord, row: &str| {
        let table = PhaseResult::of(&setup, &phase(PhaseKind::Write, name), record).table();
        let row = table.lines().find(|line| line.contains(row)).map(str::to_owned);
        row.unwrap_or(table).split_whitespace().skip(3).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(total("RWMIX70", &mix(), "IOs write"), ["100", "150"]);
    assert_eq!(total("RWMIX70", &mix(), "IOs read"), ["300", "350"]);
    assert_eq!(total("WRITE", &small_files(), "IOs total"), ["38", "48"]);
}

/// Writers and readers of the same phase.
fn readers(operations: [&[Op]; 2]) -> PhaseRecord {
    let [writers, readers] = operations;
    let named = Measurement { job: READERS.into(), ..job([500, 1500], readers) };
    record(vec![job([1000, 2000], writers), named])
}

#[test]
fn readers_of_a_mix_by_threads_are_a_side_of_their_own() {
    let mut setup = setup(PathKind::File);
    setup.asked.mix.read_threads = Some(2);
    let reads: Op = (BlocksOp::Read.operation(), [300, 350], [300 * 4096, 350 * 4096]);
    let writes: Op = (BlocksOp::Write.operation(), [100, 150], [100 * 4096, 150 * 4096]);
    let write = phase(PhaseKind::Write, "MIX-T2");
    let figures = PhaseResult::of(&setup, &write, &readers([&[writes], &[reads]])).figures;
    assert_eq!((figures.first.elapsed_ns, figures.last.elapsed_ns), (500 * MS, 2000 * MS));
    let rates = |side: &figures::Side| side.ios_per_s() as u64;
    assert_eq!((rates(&figures.first.main), rates(&figures.first.read)), (100, 600));
    assert_eq!((rates(&figures.last.main), rates(&figures.last.read)), (75, 175));
}

#[test]
fn files_of_a_mix_by_threads_have_rows_for_both_sides() {
    let mut setup = setup(PathKind::Directory);
    (setup.asked.tree.dirs, setup.asked.tree.files) = (1, 2);
    setup.asked.mix.read_threads = Some(1);
    (setup.asked.tree.dir_stats, setup.asked.output.latency) = (true, true);
    let item = &OPERATIONS[usize::from(ITEM)];
    let reads: [Op; 2] = [(row(Step::Read), [2, 4], [8192, 16384]), (item, [1, 2], [0, 0])];
    let writes: [Op; 2] = [(row(Step::Write), [4, 8], [16384, 32768]), (item, [2, 4], [0, 0])];
    let write = phase(PhaseKind::Write, "MIX-T1");
    let result = PhaseResult::of(&setup, &write, &readers([&writes, &reads]));
    insta::assert_snapshot!(result.table(), @r"
    MIX-T1      Elapsed time     :       500ms      2.000s
                Files/s write    :           2           2
                Dirs/s write     :           1           1
                Files/s read     :           2           1
                Files/s total    :           4           3
                Dirs/s read      :           1           0
                IOPS write       :           4           4
                IOPS read        :           4           2
                IOPS total       :           8           6
                MiB/s write      :           0           0
                MiB/s read       :           0           0
                MiB/s total      :           0           0
                MiB write        :           0           0
                MiB read         :           0           0
                Files write      :           2           4
                Dirs write       :           1           2
                Files read       :           1           2
                Dirs read        :           0           1
                Files wr latency : [ min=61us avg=61us max=61us ]
                Files rd latency : [ min=61us avg=61us max=61us ]
                IO wr latency    : [ min=61us avg=61us max=62us ]
                IO rd latency    : [ min=61us avg=61us max=61us ]
    ---
    ");
    // Readers of empty files have file counts only.
    let files: [Op; 1] = [(item, [1, 2], [0, 0])];
    let empty = PhaseResult::of(&setup, &write, &readers([&files, &files]));
    assert!(empty.table().contains("Files read"), "{}", empty.table());
}

#[test]
fn a_phase_without_a_count_has_no_row_and_no_value_of_it() {
    let mut setup = setup(PathKind::Directory);
    setup.asked.tree.dirs = 1;
    let item = &OPERATIONS[usize::from(ITEM)];
    let empty = record(vec![job([10, 20], &[(item, [1, 2], [0, 0])])]);
    let write = phase(PhaseKind::Write, "WRITE");
    let result = PhaseResult::of(&setup, &write, &empty);
    insta::assert_snapshot!(result.table(), @r"
    WRITE       Elapsed time     :        10ms        20ms
                Files/s          :         100         100
                Files total      :           1           2
    ---
    ");
    let line: serde_json::Value = serde_json::from_str(&result.json(&moment())).expect("JSON");
    let keys: Vec<_> = line["last_done"].as_object().expect("a column").keys().collect();
    assert_eq!(keys, ["elapsed_time_ms", "entries/s", "entries", "cpu%"]);
    let csv = result.csv(&moment());
    let header = head_for("f", "", true).expect("a new file");
    for name in ["IOPS [last]", "MiB/s [first]", "MiB [last]", "shared paths"] {
        assert_eq!(by_name(&header, &csv, name), "", "{name}");
    }
}

/// Fields of a line by column name.
fn by_name<'a>(header: &'a str, line: &'a str, name: &str) -> &'a str {
    let at = header.trim_end().split(',').position(|column| column == name).expect(name);
    line.trim_end_matches('\n').split(',').nth(at).expect("a field")
}

#[test]
fn columns_of_csv_are_found_by_name_and_by_number() {
    let mut setup = setup(PathKind::Directory);
    (setup.asked.tree.dirs, setup.asked.tree.files) = (3, 4);
    setup.asked.run.label = "first, with a comma".into();
    let write = phase(PhaseKind::Write, "WRITE");
    let line = PhaseResult::of(&setup, &write, &small_files()).csv(&moment());
    let header = head_for("f", "", true).expect("a new file");
    assert_eq!((header.split(',').count(), line.split(',').count()), (55, 55));
    let numbered: [(usize, &str, &str); 18] = [
        (1, "ISO date", "2026-02-09T11:18:29.000-0500"),
        (2, "label", "first  with a comma"),
        (3, "path type", "dir"),
        (7, "dirs", "3"),
        (13, "random aligned", ""),
        (17, "operation", "WRITE"),
        (18, "time ms [first]", "1500"),
        (21, "entries/s [last]", "12"),
        (22, "IOPS [first]", "25"),
        (27, "CPU% [last]", "50"),
        (29, "entries [last]", "24"),
        (15, "shared paths", ""),
        (16, "truncate", "0"),
        (32, "Ent lat us [min]", "61"),
        (35, "IO lat us [min]", "61"),
        (38, "rwmix read entries/s [first]", ""),
        (54, "version", VERSION),
        (55, "command", "\"elbencho\" \"-w\" \"--label\" \"a b\" \"/data/t\" "),
    ];
    for (number, name, value) in numbered {
        assert_eq!(by_name(&header, &line, name), value, "{name}");
        assert_eq!(line.trim_end_matches('\n').split(',').nth(number - 1), Some(value), "{name}");
    }
    let mix = phase(PhaseKind::Write, "RWMIX70");
    let line = PhaseResult::of(&setup, &mix, &self::mix()).csv(&moment());
    assert_eq!(by_name(&header, &line, "rwmix read IOPS [first]"), "300");
    assert_eq!(by_name(&header, &line, "IOPS [first]"), "100");
}

#[test]
fn a_file_of_results_has_one_header_and_takes_no_other_columns() {
    let header = head_for("f.csv", "", true).expect("a new file");
    assert_eq!(head_for("f.csv", "", false), Ok(String::new()));
    assert_eq!(head_for("f.csv", &header, true), Ok(String::new()));
    let wrong = head_for("f.csv", "a,b,c\n", true).expect_err("other columns");
    assert!(wrong.starts_with("f.csv has 3 columns and results have 55: "), "{wrong}");
}

#[test]
fn every_value_of_json_is_a_text() {
    let mut setup = setup(PathKind::File);
    setup.asked.run.label = "with \"quotes\"".into();
    let output = &mut setup.asked.output;
    (output.latency, output.percentiles, output.histogram) = (true, true, true);
    setup.asked.io.direct = true;
    let write = phase(PhaseKind::Write, "RWMIX70");
    let line = PhaseResult::of(&setup, &write, &mix()).json(&moment());
    assert!(line.ends_with("}\n") && line.lines().count() == 1, "{line}");
    let document: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    fn leaves(value: &serde_json::Value) -> bool {
        match value {
            serde_json::Value::Object(object) => object.values().all(leaves),
            serde_json::Value::Array(items) => items.iter().all(leaves),
            value => value.is_string(),
        }
    }
    assert!(leaves(&document), "{line}");
    let at = |path: &str| document.pointer(path).and_then(|value| value.as_str());
    assert_eq!(at("/phase_type"), Some("RWMIX70"));
    assert_eq!(at("/phase_id"), Some("01234567-89ab-4def-bfff-ffffffffffff"));
    assert_eq!(at("/iso_start_date"), Some("2026-02-09T11:18:29.000-0500"));
    assert_eq!(at("/config/path_type"), Some("file"));
    assert_eq!(at("/first_done/elapsed_time_ms"), Some("1000"));
    assert_eq!(at("/first_done/iops"), Some("100"));
    assert_eq!(at("/last_done/rwmix_read/bytes~1s"), Some("716800"));
    assert_eq!(at("/last_done/cpu%"), Some("50"));
    assert_eq!(at("/config/direct_io"), Some("true"));
    assert_eq!(at("/config/random_offsets"), Some("false"));
    assert_eq!(at("/config/truncate_files"), Some("false"));
    assert_eq!((at("/config/random_aligned"), at("/config/shared_service_paths")), (None, None));
    assert_eq!(at("/last_done/latency/IO/min_us"), Some("61"));
    assert_eq!(at("/last_done/latency/IO/rwmix_read/max_us"), Some("67"));
    assert_eq!(document.pointer("/last_done/latency/IO/percentiles_us"), None);
    assert_eq!(at("/last_done/latency/IO/histogram/buckets/0/range"), Some("54-64us"));
    assert_eq!(document.pointer("/first_done/latency"), None);
    let buckets = document.pointer("/last_done/latency/IO/histogram/buckets").expect("buckets");
    let count = |bucket: &serde_json::Value| bucket["count"].as_str()?.parse::<u64>().ok();
    assert_eq!(buckets.as_array().expect("a list").iter().filter_map(count).sum::<u64>(), 150);
    // Latencies and labels are absent unless requested.
    setup.asked.output = Default::default();
    setup.asked.run.label = String::new();
    let line = PhaseResult::of(&setup, &write, &mix()).json(&moment());
    assert!(!line.contains("latency") && !line.contains("\"label\""), "{line}");
}

#[test]
fn a_file_of_tables_has_date_label_and_command_line() {
    let mut setup = setup(PathKind::File);
    setup.asked.run.label = "mine".into();
    assert_eq!(
        PhaseResult::head(&setup, &moment()),
        format!(
            "ISO DATE: 2026-02-09T11:18:30-0500\nLABEL: mine\nCOMMAND LINE: \"elbencho\" \"-w\" \
             \"--label\" \"a,b\" \"/data/t\" \n\n{HEADER}"
        )
    );
}

#[test]
fn notes_stand_only_where_they_apply() {
    let mut setup = setup(PathKind::File);
    let record = record(vec![job([10, 20], &[(row(Step::Unlink), [6, 13], [0, 0])])]);
    let notes = |setup: &Setup, kind| {
        let phase = phase(kind, "X");
        noted(&PhaseResult::of(setup, &phase, &record))
    };
    assert!(notes(&setup, PhaseKind::RemoveFiles).contains("once for each thread"));
    assert_eq!(notes(&setup, PhaseKind::Stat), "");
    setup.asked.run.threads = 1;
    assert_eq!(notes(&setup, PhaseKind::RemoveFiles), "");
    setup.asked.tree.no_delete_errors = true;
    assert!(notes(&setup, PhaseKind::RemoveFiles).contains("were missing"));
}
