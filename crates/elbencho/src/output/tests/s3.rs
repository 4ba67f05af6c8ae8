//! Results of object stores.

use candor_plan::objects::{OBJECT, OPERATIONS as ROWS, ObjectOp, PUT_PART};

use super::*;
use crate::output::live::Live;
use crate::setup::{Store, StorePhase};

/// A benchmark of objects of this size, with blocks of 4 KiB, in two buckets.
fn store(object_bytes: u64) -> Setup {
    let mut setup = Setup { file_bytes: object_bytes, ..setup(PathKind::Directory) };
    let buckets = vec!["a".into(), "b".into()];
    setup.store = Some(Store { buckets, members: None, object_bytes_max: object_bytes });
    setup.block_bytes = setup.block_bytes.min(object_bytes);
    setup.asked.s3.is_on = true;
    setup.asked.output.latency = true;
    setup
}

fn object_row() -> &'static candor_plan::work::Operation {
    &ROWS[usize::from(OBJECT)]
}

fn part_row() -> &'static candor_plan::work::Operation {
    &ROWS[usize::from(PUT_PART)]
}

fn table(setup: &Setup, kind: PhaseKind, name: &str, record: &PhaseRecord) -> String {
    let phase = phase(kind, name);
    let result = PhaseResult::of(setup, &phase, record);
    format!("{}{}", result.table(), noted(&result))
}

#[test]
fn objects_in_parts_have_both_rates() {
    let operations: [Op; 4] = [
        (ObjectOp::CreateUpload.operation(), [20, 24], [0, 0]),
        (part_row(), [38, 48], [38 << 12, 48 << 12]),
        (ObjectOp::CompleteUpload.operation(), [19, 24], [0, 0]),
        (object_row(), [19, 24], [0, 0]),
    ];
    let record = record(vec![job([1500, 2000], &operations)]);
    insta::assert_snapshot!(table(&store(8192), PhaseKind::Write, "WRITE", &record), @r"
    WRITE       Elapsed time     :      1.500s      2.000s
                Objects/s        :          12          12
                IOPS             :          25          24
                Throughput MiB/s :           0           0
                Total MiB        :           0           0
                Objects total    :          19          24
                Objects latency  : [ min=61us avg=63us max=64us ]
                IO latency       : [ min=61us avg=63us max=67us ]
    ---
    Note: latencies of writes leave out the time to fill blocks; elbencho's contain it.
    ");
}

#[test]
fn whole_objects_are_requests() {
    let operations: [Op; 1] = [(ObjectOp::Get.operation(), [38, 48], [38 << 12, 48 << 12])];
    let record = record(vec![job([1500, 2000], &operations)]);
    let mut setup = store(4096);
    setup.asked.s3.requests.ignore_errors = true;
    setup.asked.s3.access.insecure = true;
    insta::assert_snapshot!(table(&setup, PhaseKind::Read, "READ", &record), @r"
    READ        Elapsed time     :      1.500s      2.000s
                Objects/s        :          25          24
                Throughput MiB/s :           0           0
                Total MiB        :           0           0
                Objects total    :          38          48
                Objects latency  : [ min=61us avg=63us max=67us ]
                IO latency       : [ min=61us avg=63us max=67us ]
    ---
    Note: with --s3ignoreerrors, failed requests are in no count; elbencho counts them.
    Note: certificates of servers were not verified.
    ");
}

#[test]
fn lists_count_keys_and_requests() {
    let operations: [Op; 1] = [(ObjectOp::List.operation(), [3, 4], [0, 0])];
    let mut job = job([1500, 2000], &operations);
    let objects = http::ObjectStats { keys: 4000, ..http::ObjectStats::default() };
    job.http = Some(Box::new(HttpStats { objects, ..HttpStats::default() }));
    let kind = PhaseKind::OfStore(StorePhase::List);
    insta::assert_snapshot!(table(&store(4096), kind, "LISTOBJ", &record(vec![job])), @r"
    LISTOBJ     Elapsed time     :      2.000s      2.000s
                Objects/s        :        2000        2000
                IOPS             :           2           2
                Objects total    :        4000        4000
                IO latency       : [ min=61us avg=61us max=61us ]
    ---
    Note: IOPS and IO latency of lists and deletions count requests, each with many keys.
    Note: counts at the first thread's end are not known: FIRST DONE repeats the last.
    ");
}

#[test]
fn buckets_have_their_own_rows() {
    let mut setup = store(4096);
    setup.asked.output.latency = false;
    setup.asked.s3.phases.bucket_tags.wanted = true;
    setup.asked.s3.phases.versioning.wanted = true;
    let made: [Op; 1] = [(ObjectOp::CreateBucket.operation(), [1, 2], [0, 0])];
    let made = record(vec![job([1500, 2000], &made)]);
    let put = [ObjectOp::PutBucketTags, ObjectOp::EnableVersioning];
    let put = put.map(|op| job([1500, 2000], &[(op.operation(), [1, 2], [0, 0])]));
    let kind = PhaseKind::OfStore(StorePhase::PutBucketSettings);
    let text = table(&setup, PhaseKind::MakeDirs, "MKBUCKETS", &made)
        + &table(&setup, kind, "PUTBUCKETMD", &record(put.into()));
    insta::assert_snapshot!(text, @r"
    MKBUCKETS   Elapsed time     :      1.500s      2.000s
                Buckets/s        :           0           1
                Buckets total    :           1           2
    ---
    PUTBUCKETMD Elapsed time     :      1.500s      2.000s
                Buckets/s        :           0           1
                Buckets total    :           1           2
    ---
    ");
}

#[test]
fn readers_and_writers_of_objects_are_apart() {
    let mut setup = store(4096);
    setup.asked.mix.read_threads = Some(1);
    setup.asked.output.latency = false;
    let write: [Op; 1] = [(ObjectOp::Put.operation(), [10, 20], [10 << 12, 20 << 12])];
    let read: [Op; 1] = [(ObjectOp::Get.operation(), [30, 60], [30 << 12, 60 << 12])];
    let readers = Measurement { job: READERS.into(), ..job([1000, 2000], &read) };
    let record = record(vec![job([1000, 2000], &write), readers]);
    insta::assert_snapshot!(table(&setup, PhaseKind::Write, "MIX-T1", &record), @r"
    MIX-T1      Elapsed time     :      1.000s      2.000s
                Objects/s write  :          10          10
                Objects/s read   :          30          30
                Objects/s total  :          40          40
                MiB/s write      :           0           0
                MiB/s read       :           0           0
                MiB/s total      :           0           0
                MiB write        :           0           0
                MiB read         :           0           0
                Objects write    :          10          20
                Objects read     :          30          60
    ---
    ");
}

#[test]
fn files_of_results_call_the_paths_directories() {
    let setup = store(4096);
    let write = phase(PhaseKind::Write, "WRITE");
    let operations: [Op; 1] = [(ObjectOp::Put.operation(), [38, 48], [38 << 12, 48 << 12])];
    let record = record(vec![job([1500, 2000], &operations)]);
    let result = PhaseResult::of(&setup, &write, &record);
    let (csv, json) = (result.csv(&moment()), result.json(&moment()));
    assert!(csv.contains(",dir,1,1,2,1,1,4096,4096,"), "{csv}");
    assert!(
        json.contains("\"path_type\":\"dir\"") && json.contains("\"entries\":\"48\""),
        "{json}"
    );
}

#[test]
fn live_lines_name_objects() {
    let setup = store(4096);
    for (kind, part) in [
        (PhaseKind::Read, "0 objects/s; "),
        (PhaseKind::RemoveDirs, "0 buckets/s; "),
        (PhaseKind::OfStore(StorePhase::List), "0 IOPS; "),
    ] {
        let phase = phase(kind, "X");
        let line = Live::new(&setup, &phase).line(&Default::default());
        assert!(line.contains(part), "{line}");
    }
}
