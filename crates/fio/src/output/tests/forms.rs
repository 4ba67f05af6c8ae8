//! Each form of the results, from a made-up report.

use candor_plan::SteadyFigure;
use candor_plan::work::Figure;

use super::*;

#[test]
fn text_for_people() {
    let report = report(vec![measurement(20_000, 8000)]);
    let described = FioJob { description: Some("hello".into()), ..job("mix", 1) };
    insta::assert_snapshot!(text(&report, &[described], &[]));
}

#[test]
fn json_with_all_keys() {
    let report = report(vec![measurement(200, 80)]);
    let steady = SteadyGoal {
        figure: SteadyFigure::Ops,
        slope: true,
        limit: 10.0,
        percent: true,
        duration_s: 2,
        windows: 2,
    };
    let job = FioJob { steady: Some(steady), counts_errors: true, ..job("mix", 1) };
    let text = text(&report, &[job], &[Format::Json]);
    assert!(text.starts_with("{\n  \"fio version\"") && text.ends_with("\n}\n"));
    insta::assert_snapshot!(text);
}

#[test]
fn bins_stand_beside_percentiles_in_json_plus() {
    let report = report(vec![measurement(200, 80)]);
    let document = text(&report, &[job("mix", 1)], &[Format::JsonPlus]);
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    let read = &document["jobs"][0]["read"];
    let sum: u64 =
        read["clat_ns"]["bins"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
    assert_eq!(sum, 200);
    assert!(read["slat_ns"].get("bins").is_none(), "no percentiles of submission were asked for");
}

#[test]
fn terse_lines_have_the_counted_fields() {
    let mut report = report(vec![measurement(200, 80)]);
    let lines = |report: &Report, version, job: FioJob| {
        let output =
            Output { formats: vec![Format::Terse], terse_version: version, ..Output::default() };
        write_at(report, &[job], &output, &now())
    };
    insta::assert_snapshot!(lines(&report, 3, job("mix", 1)));
    let fields =
        |report: &Report, version| lines(report, version, job("mix", 1)).split(';').count();
    // Three disks of nine fields each follow from version 3 on.
    assert_eq!([2, 3, 4, 5].map(|v| fields(&report, v)), [161, 121 + 27, 162 + 27, 180 + 27]);
    report.phases[0].hosts.clear();
    assert_eq!([0, 2, 3, 4, 5].map(|v| fields(&report, v)), [121, 161, 121, 162, 180]);
    let described = || FioJob { description: Some("hey you".into()), ..job("mix", 1) };
    assert!(lines(&report, 2, described()).ends_with("%\n;hey you\n"));
    assert!(lines(&report, 3, described()).ends_with("%;hey you\n"));
}

#[test]
fn several_forms_come_in_fios_order() {
    let report = report(vec![measurement(200, 80)]);
    let all = text(&report, &[job("mix", 1)], &[Format::Normal, Format::Json, Format::Terse]);
    let json = all.find("\n{\n").unwrap();
    let normal = all.find("\n}\n\nmix: (groupid=0, jobs=1): err= 0: pid=4711: Sat Nov 21").unwrap();
    assert!(all.starts_with("3;fio-3.42;mix;0;0;") && json < normal);
    let appended = Output { append_terse: true, ..Output::default() };
    let text = write_at(&report, &[job("mix", 1)], &appended, &now());
    assert!(text.starts_with("3;fio-3.42;mix;0;0;") && text.contains("\nmix: (groupid=0"));
}

#[test]
fn first_lines_of_fio() {
    let clone = |clone, number| FioJob { clone, ..job("mix", number) };
    let mut jobs = vec![clone(0, 1), clone(1, 2), clone(2, 3), job("wr", 4)];
    jobs[3].group_id = 1;
    jobs[3].shape.thread = true;
    jobs[3].shape.sizes.write = (512, 1 << 20);
    assert_eq!(
        preamble(&jobs, &Output::default()),
        "mix: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
         ioengine=libaio, iodepth=8\n...\n\
         wr: (g=1): rw=randrw, bs=(R) 4096B-4096B, (W) 512B-1024KiB, (T) 4096B-4096B, \
         ioengine=libaio, iodepth=8\nfio-3.42\nStarting 1 thread and 3 processes\n"
    );
    let only_json = Output { formats: vec![Format::Json], ..Output::default() };
    assert_eq!(preamble(&jobs, &only_json), "");
    assert_eq!(laying_out("x", 3, 3 << 20), "x: Laying out IO files (3 files / total 3MiB)\n");
    assert_eq!(laying_out("x", 1, 3 << 20), "x: Laying out IO file (1 file / 3MiB)\n");
}

#[test]
fn text_has_the_verdict_for_people_only() {
    let report = report(vec![measurement(200, 80)]);
    let with = |verdict| {
        write_at(&report, &[job("mix", 1)], &Output { verdict, ..Output::default() }, &now())
    };
    let absent = with(VerdictPlace::Absent);
    let own = verdict(&report);
    assert!(absent.len() > own.len() && !absent.contains("candor: "), "{absent}");
    assert_eq!(with(VerdictPlace::AtEnd), format!("{absent}{own}"));
    assert_eq!(with(VerdictPlace::Document), absent);
}

#[test]
fn the_verdict_cannot_be_taken_for_a_figure() {
    let report = report(vec![measurement(200, 80)]);
    let text = text(&report, &[job("mix", 1)], &[]);
    let verdict = &text[text.find("\ncandor: ").unwrap()..];
    assert!(verdict.contains("1010 I/O per second"), "{verdict}");
    for word in ["IOPS", "BW=", "bw=", "READ:", "WRITE:"] {
        assert!(!verdict.contains(word), "{word} in {verdict}");
    }
    assert!(text.lines().filter(|line| line.contains("IOPS=")).count() == 2, "{text}");
}

#[test]
fn resets_of_zones_are_those_of_jobs_on_zones() {
    let measured = Measurement { zone_resets: 7, ..measurement(200, 80) };
    let report = report(vec![measured]);
    for (counts_zone_resets, lines) in [(false, 0), (true, 2)] {
        let job = FioJob { counts_zone_resets, ..job("mix", 1) };
        let [people, json] = [Format::Normal, Format::Json]
            .map(|format| text(&report, std::slice::from_ref(&job), &[format]));
        assert_eq!(people.matches("; 7 zone resets\n").count(), lines, "{people}");
        assert_eq!(json.contains("\"zone_resets\" : 7"), counts_zone_resets, "{json}");
    }
}

#[test]
fn threads_that_operations_are_handed_to_have_one_each() {
    let depths = Depths { in_flight: [0, 0, 0, 0, 10, 0, 0], ..Depths::default() };
    let mut measured = Measurement { depths: Some(depths), ..measurement(200, 80) };
    measured.operations.retain(|op| op.figure != Figure::Flush);
    let report = report(vec![measured]);
    let mut job = job("mix", 1);
    let shown = |job: &FioJob| text(&report, std::slice::from_ref(job), &[Format::Normal]);
    assert!(shown(&job).contains("IO depths    : 1=0.0%, 2=0.0%, 4=0.0%, 8=0.0%, 16=100.0%"));
    job.shape.offloads = true;
    assert!(shown(&job).contains("IO depths    : 1=100.0%"), "{}", shown(&job));
}
