//! Groups, hidden figures, mixed directions, errors.

use super::*;

fn grouped(number: u32) -> FioJob {
    FioJob { group_reporting: true, ..job("mix", number) }
}

#[test]
fn a_groups_figures_are_the_groups() {
    let report = report(vec![measurement(20_000, 8000), measurement(10_000, 2000)]);
    let together = json(&report, &[grouped(1), grouped(2)]);
    let apart = json(&report, &[job("mix", 1), job("mix", 2)]);
    assert_eq!(together["jobs"].as_array().unwrap().len(), 1);
    let (group, one, two) = (&together["jobs"][0], &apart["jobs"][0], &apart["jobs"][1]);
    for path in [
        "/read/io_bytes",
        "/read/total_ios",
        "/read/iops_mean",
        "/read/bw_mean",
        "/read/clat_ns/N",
        "/write/iops_min",
        "/sync/total_ios",
        "/ctx",
        "/job_runtime",
    ] {
        let number = |job: &serde_json::Value| job.pointer(path).unwrap().as_f64().unwrap();
        assert!((number(group) - number(one) - number(two)).abs() < 2.0, "{path}");
    }
    assert_eq!(group["read"]["runtime"], one["read"]["runtime"]);
    assert_eq!(group["usr_cpu"], one["usr_cpu"], "an average over the jobs");
    // A job of another group stays alone.
    let mut other = grouped(2);
    other.group_id = 1;
    assert_eq!(json(&report, &[grouped(1), other])["jobs"].as_array().unwrap().len(), 2);
}

#[test]
fn means_of_submission_and_completion_add_up() {
    let mut whole = measurement(0, 0);
    let (mut slat, mut clat, mut lat) = (Histogram::new(), Histogram::new(), Histogram::new());
    for i in 0..10_000u64 {
        let (before, after) = (i * 7919 % 5000, i * 104_729 % 900_000);
        slat.record(before);
        clat.record(after);
        lat.record(before + after);
    }
    let read = OpStats {
        ops: 10_000,
        submission: Latency::from_histogram(slat),
        completion: Latency::from_histogram(clat),
        latency: Latency::from_histogram(lat),
        ..OpStats::default()
    };
    whole.put(Direction::Read, read);
    let document = json(&report(vec![whole]), &[job("mix", 1)]);
    let read = &document["jobs"][0]["read"];
    let mean = |key: &str| read[key]["mean"].as_f64().unwrap();
    assert!((mean("slat_ns") + mean("clat_ns") - mean("lat_ns")).abs() < 1.0);
}

#[test]
fn one_call_has_no_submission_latency() {
    let mut plain = measurement(1000, 0);
    plain.depths = None;
    let read = plain.of_mut(Direction::Read);
    (read.submission, read.completion) = (None, None);
    let mut sync = job("mix", 1);
    sync.shape.engine = "psync".into();
    let report = report(vec![plain]);
    let document = json(&report, &[sync.clone()]);
    let read = &document["jobs"][0]["read"];
    assert_eq!(read["slat_ns"]["N"], 0);
    assert_eq!(read["clat_ns"]["mean"], read["lat_ns"]["mean"]);
    // Nobody counted depths.
    assert_eq!(document["jobs"][0]["iodepth_level"]["1"], 0.0);
    assert!(!text(&report, &[sync], &[]).contains("slat"));
}

#[test]
fn what_is_turned_off_is_not_shown() {
    let report = report(vec![measurement(1000, 500)]);
    let mut bare = job("mix", 1);
    bare.reporting = Reporting {
        lat: false,
        clat: false,
        slat: false,
        bandwidth: false,
        disk_util: false,
        ..Reporting::default()
    };
    let text = text(&report, &[bare.clone()], &[]);
    for word in ["slat", "clat", "lat (", "bw (", "Disk stats"] {
        assert!(!text.contains(word), "{word} in {text}");
    }
    let document = json(&report, &[bare]);
    assert_eq!(document["jobs"][0]["read"]["clat_ns"]["N"], 0);
    assert!(document.get("disk_util").is_none());
    let silent = Reporting { stats: false, ..Reporting::default() };
    let silent = FioJob { reporting: silent, ..job("mix", 1) };
    assert!(json(&report, &[silent])["jobs"].as_array().unwrap().is_empty());
}

#[test]
fn directions_may_be_mixed() {
    let report = report(vec![measurement(1000, 500)]);
    let mixed = |unified_rw| FioJob {
        reporting: Reporting { unified_rw, ..Reporting::default() },
        ..job("mix", 1)
    };
    let document = json(&report, &[mixed(1)]);
    let keys = document["jobs"][0].as_object().unwrap();
    assert!(keys.contains_key("mixed") && !keys.contains_key("read") && !keys.contains_key("sync"));
    assert_eq!(keys["mixed"]["total_ios"], 1500);
    let both = text(&report, &[mixed(2)], &[]);
    assert!(both.contains("  read: IOPS=") && both.contains("  mixed: IOPS=749,"), "{both}");
    assert!(both.contains("  MIXED: bw="), "{both}");
}

#[test]
fn errors_have_number_and_text() {
    let mut failed = measurement(10, 0);
    failed.errors = vec![IoFailure {
        op: Some("read".into()),
        path: "/data".into(),
        offset: 0,
        errno: 5,
        message: "Input/output error".into(),
        count: 3,
    }];
    let mut counted = job("mix", 1);
    counted.counts_errors = true;
    let text = text(&report(vec![failed.clone()]), &[counted.clone()], &[]);
    assert!(text.contains("err= 5 (func=read, error=Input/output error): pid="), "{text}");
    assert!(text.contains("     errors    : total=3, first_error=5/<Input/output error>\n"));
    let document = json(&report(vec![failed]), &[counted]);
    assert_eq!(document["jobs"][0]["error"], 5);
    assert_eq!(document["jobs"][0]["total_err"], 3);
    let mut torn = measurement(10, 0);
    torn.verify = Some(VerifyStats { torn: 2, ..VerifyStats::default() });
    assert_eq!(json(&report(vec![torn]), &[job("mix", 1)])["jobs"][0]["error"], 84);
}

#[test]
fn a_job_that_did_nothing_is_silent() {
    let idle = Measurement { workers: 1, ..Measurement::default() };
    let text = text(&report(vec![idle]), &[job("idle", 1)], &[]);
    assert!(text.starts_with("\n\nRun status group 0 (all jobs):\n"), "{text}");
    // A job whose phase never came about has its keys all the same.
    let late = FioJob { phase: 7, ..job("late", 1) };
    let document = json(&report(Vec::new()), &[late]);
    assert_eq!(document["jobs"][0]["read"]["total_ios"], 0);
}

#[test]
fn members_of_a_disk_follow_it_with_their_mean() {
    let document = json(&report(vec![measurement(100, 50)]), &[job("mix", 1)]);
    let disks = document["disk_util"].as_array().unwrap();
    let names: Vec<_> = disks.iter().map(|disk| disk["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["md0", "sda", "sdb"]);
    assert_eq!(disks[0]["aggr_read_ios"], 7000);
    assert_eq!(disks[1]["read_ios"], 3500);
    assert_eq!(disks[0]["aggr_util"], disks[2]["util"]);
    assert!(disks[1].get("aggr_util").is_none());
}

#[test]
fn reading_back_beside_the_work_takes_the_time_of_the_work() {
    let mut measured = measurement(1000, 1000);
    let back =
        |elapsed_ns| ReadBack { elapsed_ns, reads: stats(1000, 90_000), ..ReadBack::default() };
    measured.read_back = Some(back(2_500_000_000));
    let beside = FioJob { checks_beside: true, ..job("mix", 1) };
    let message = |job: FioJob| json(&report(vec![measured.clone()]), &[job])["jobs"][0].clone();
    let (after, beside) = (message(job("mix", 1)), message(beside));
    assert_eq!(
        (after["read"]["runtime"].as_u64(), after["job_runtime"].as_u64()),
        (Some(4500), Some(4500))
    );
    assert_eq!(
        (beside["read"]["runtime"].as_u64(), beside["job_runtime"].as_u64()),
        (Some(2500), Some(2500))
    );
    assert_eq!(beside["read"]["total_ios"], after["read"]["total_ios"]);
    assert_eq!(beside["write"]["runtime"], 2000);
}
