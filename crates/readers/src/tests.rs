//! Files that the real tools wrote (elbencho's without a version are by `candor elbencho`),
//! against the numbers in the tools' own texts.

use std::path::PathBuf;

use candor_record::results::{JobResults, OpResults};

use super::*;

fn bytes(file: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/results");
    std::fs::read(folder.join(file)).expect(file)
}

fn results(file: &str) -> Results {
    read(file, &bytes(file)).unwrap_or_else(|why| panic!("{why}"))
}

fn logs(files: &[&str]) -> Results {
    let files: Vec<_> = files.iter().map(|file| ((*file).to_owned(), bytes(file))).collect();
    read_logs(&files).unwrap_or_else(|why| panic!("{why}"))
}

fn op<'a>(job: &'a JobResults, name: &str) -> &'a OpResults {
    job.operation(name).unwrap_or_else(|| panic!("no {name} in {}", job.job))
}

/// Rates in operations and KiB per second; latency in µs: mean, greatest, a percentile, which fio's
/// text rounds up.
fn figures(op: &OpResults, percentile: f64) -> [f64; 5] {
    let latency = op.latency.clone().unwrap_or_default();
    let us = |ns: Option<u64>| (ns.unwrap_or(0) as f64 / 1e3).round();
    [
        op.ops_per_s.unwrap_or(-1.0).floor(),
        (op.bytes_per_s.unwrap_or(-1.0) / 1024.0).round(),
        (latency.mean_ns.unwrap_or(-1.0) / 10.0).round() / 100.0,
        us(latency.max_ns),
        us(latency.percentile_ns(percentile)),
    ]
}

fn value<'a>(results: &'a Results, condition: &str) -> Option<&'a str> {
    let found = results.conditions.iter().find(|of| of.name == condition);
    found.map(|of| of.value.as_str())
}

#[test]
fn fio_text_before_its_json_is_skipped_and_figures_are_those_of_the_text() {
    let results = results("fio.txt");
    assert_eq!((results.tool.as_str(), results.name.as_str()), ("fio-3.33", "fio"));
    // The document was written at 18:08:48.523, 5 s after fio began.
    assert_eq!(results.started.as_deref(), Some("2026-11-23T18:08:43.523Z"));
    let [first, second] = &results.phases[..] else { panic!("two phases: {:?}", results.phases) };
    assert_eq!((first.name.as_str(), second.name.as_str()), ("reader", "mixed"));
    let [reader] = &first.jobs[..] else { panic!("one job") };
    let read = op(reader, "read");
    assert_eq!(figures(read, 95.0), [199.0, 800.0, 503.63, 4500.0, 3457.0]);
    assert_eq!((read.ops, read.bytes), (Some(400), Some(1_638_400)));
    assert_eq!(reader.elapsed_ns, 2_001_000_000);
    assert_eq!(reader.operations.len(), 1);
    let load = (reader.load.access.as_deref(), reader.load.block_bytes, reader.load.depth);
    assert_eq!(load, (Some("randread"), Some(4096), Some(1)));
    assert_eq!(reader.targets, ["/tmp/readers/data"]);
    let [one, two] = &second.jobs[..] else { panic!("two clones") };
    assert_eq!((one.job.as_str(), two.job.as_str()), ("mixed.0", "mixed.1"));
    assert_eq!((one.load.workers, one.load.block_bytes), (Some(1), Some(16_384)));
    assert_eq!(one.load.access.as_deref(), Some("randrw read:70,write:30"));
    assert_eq!(figures(op(one, "write"), 99.0), [49.0, 800.0, 550.86, 8099.0, 6193.0]);
    assert_eq!(figures(op(one, "fsync"), 99.0)[2..], [1554.77, 6057.0, 6062.0]);
    assert_eq!(op(one, "fsync").figure, candor_plan::work::Figure::Flush);
    assert_eq!(value(&results, "latency"), Some("fio's clat"));
    let [disk] = &first.devices[..] else { panic!("one disk") };
    assert_eq!((disk.device.as_str(), disk.intervals[0].reads_per_s), ("vda", None));
    let utilisation = disk.intervals[0].utilisation.expect("util");
    assert!((utilisation - 0.0683).abs() < 0.0001, "{utilisation}");
}

#[test]
fn fio_json_plus_has_buckets_and_a_group_has_all_its_workers() {
    let results = results("fio-plus.json");
    let [mixed] = &results.phases[1].jobs[..] else { panic!("one entry for the group") };
    assert_eq!((mixed.job.as_str(), mixed.load.workers), ("mixed", Some(2)));
    let read = op(mixed, "read");
    assert_eq!(figures(read, 99.0), [99.0, 798.0, 663.75, 8037.0, 4489.0]);
    let buckets = &read.latency.as_ref().expect("latency").buckets;
    assert_eq!(buckets.iter().map(|(_, count)| count).sum::<u64>(), 200);
    assert!(buckets.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

#[test]
fn the_last_document_of_fio_counts_unless_the_run_was_killed_in_it() {
    let ops = |results: &Results| op(&results.phases[0].jobs[0], "read").ops;
    let whole = results("fio-status.json");
    assert_eq!((ops(&whole), value(&whole, "documents")), (Some(100), Some("the last of 3")));
    let bytes = bytes("fio-status.json");
    let killed = read("killed.json", &bytes[..bytes.len() - 40]).expect("two whole documents");
    assert_eq!(ops(&killed), Some(95));
    let first = bytes.len() / 4;
    let fault = read("cut.json", &bytes[..first]).expect_err("no whole document");
    assert!(fault.starts_with("cut.json:") && fault.contains("in the middle"), "{fault}");
}

#[test]
fn fio_errors_and_old_units_are_told() {
    let text = |version: &str| {
        format!(
            "{{\"fio version\": \"{version}\", \"jobs\": [{{\"jobname\": \"a\", \"error\": 5,\n\
             \"total_err\": 3, \"read\": {{\"total_ios\": 1, \"lat_ns\": {{\"min\": 1, \"max\": 1,\n\
             \"mean\": 1.0, \"stddev\": 0, \"N\": 1}}}}}}]}}"
        )
    };
    let results = read("a.json", text("fio-3.33").as_bytes()).expect("JSON of fio");
    assert!(value(&results, "error of job a").is_some_and(|error| error.contains("os error 5")));
    assert_eq!(value(&results, "failed operations of job a"), Some("3"));
    assert_eq!(value(&results, "latency"), Some("fio's lat"));
    assert_eq!(results.phases[0].jobs[0].load, candor_record::results::Load::default());
    assert!(read("a.json", text("fio-2.19").as_bytes()).expect_err("old").contains("other units"));
}

#[test]
fn logs_of_windows_are_one_job_with_all_its_intervals() {
    let all: Vec<String> = log_set("rd_bw.1.log");
    assert!(all.contains(&"rd_clat_hist.1.log".to_owned()) && all.len() == 6, "{all:?}");
    let results = logs(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let [job] = &results.phases[0].jobs[..] else { panic!("one job") };
    assert_eq!((job.job.as_str(), results.phases[0].name.as_str()), ("rd.1", "rd"));
    let read = op(job, "read");
    // fio's own text: bw avg=399.75 KiB/s and iops avg=99.75 of 8 samples.
    assert_eq!(read.intervals.len(), 8);
    assert!((read.bytes_per_s.expect("bw") / 1024.0 - 399.75).abs() < 0.01);
    assert!((read.ops_per_s.expect("iops") - 99.75).abs() < 0.01);
    let mean_us = read.latency.as_ref().and_then(|l| l.mean_ns).expect("mean") / 1e3;
    assert!((mean_us / 1285.93 - 1.0).abs() < 0.01, "clat avg=1285.93: {mean_us}");
    let p50_us = read.latency.as_ref().and_then(|l| l.percentile_ns(50.0)).expect("p50") / 1000;
    assert!(p50_us.abs_diff(229) < 29, "50.00th=[  229] in bins of an eighth: {p50_us}");
    let last = &read.intervals[7];
    assert_eq!((last.ops_per_s, last.latency_ns_mean), (Some(102.0), Some(1_477_971.0)));
    assert!(last.length_ns.abs_diff(500_600_000) < 1_000_000, "{last:?}");
    assert!(last.latency_ns_p50.is_some() && last.latency_ns_p99 > last.latency_ns_p50);
    let counted: u64 = last.latency_counts.filled().map(|(.., count)| count).sum();
    assert!((40..60).contains(&counted), "half a second at 100 a second: {counted}");
    let alone = read_logs(&[("rd_iops.1.log".into(), bytes("rd_iops.1.log"))]).expect("a log");
    assert_eq!(op(&alone.phases[0].jobs[0], "write").bytes_per_s, None);
}

#[test]
fn logs_of_single_operations_are_added_up() {
    let results = logs(&["one_clat.1.log", "one_bw.1.log", "one_slat.1.log"]);
    let read = op(&results.phases[0].jobs[0], "read");
    assert_eq!((read.ops, read.bytes), (Some(100), Some(409_600)));
    assert_eq!(figures(read, 50.0)[2..4], [3167.26, 64_821.0]);
    let p90_us = read.latency.as_ref().and_then(|l| l.percentile_ns(90.0)).expect("p90") / 1000;
    assert!(p90_us.abs_diff(3949) <= 3949 / 128, "90.00th=[ 3949]: {p90_us}");
    assert!((read.ops_per_s.expect("iops") - 100.0 / 1.98).abs() < 0.01);
    assert_eq!(read.intervals.len(), 19, "a tenth of a second each, the last one is not whole");
    let sum: f64 = read.intervals.iter().filter_map(|of| of.ops_per_s).sum();
    assert!((95.0..=100.0).contains(&(sum / 10.0)), "{sum}");
}

#[test]
fn windows_without_a_line_are_rates_of_nothing() {
    let text = "1000, 50, 0, 0, 0\n2001, 52, 0, 0, 0\n2999, 48, 0, 0, 0\n8000, 50, 0, 0, 0\n";
    let results = read("gap_iops.1.log", text.as_bytes()).expect("a log");
    let read = op(&results.phases[0].jobs[0], "read");
    let seen: Vec<_> = read.intervals.iter().map(|of| of.ops_per_s).collect();
    assert_eq!(seen, [50.0, 52.0, 48.0, 0.0, 50.0].map(Some));
    let gap = &read.intervals[3];
    assert!(gap.length_ns.abs_diff(4_000_000_000) < 10_000_000, "{gap:?}");
    assert!((read.ops_per_s.expect("a rate") - 25.0).abs() < 0.1);
    let epoch = "1795456001000, 5, 0, 0, 0\n1795456002000, 7, 0, 0, 0\n";
    let results = super::read("run/e_iops.log", epoch.as_bytes()).expect("a log");
    assert_eq!(results.started.as_deref(), Some("2026-11-23T17:46:40Z"));
    assert_eq!(op(&results.phases[0].jobs[0], "read").intervals[0].start_ns, 0);
}

#[test]
fn elbencho_csv_and_json_have_the_figures_of_its_table() {
    for (file, exact) in [("elbencho.csv", false), ("elbencho.json", true)] {
        let results = results(file);
        let names: Vec<&str> = results.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["WRITE", "READ", "RWMIX30", "MKDIRS", "WRITE (2)"], "{file}");
        assert_eq!(results.tool, "elbencho 3.1-10");
        let job = |nth: usize| &results.phases[nth].jobs[0];
        let write = op(job(0), "write");
        assert_eq!((write.ops_per_s, write.bytes), (Some(161.0), Some(8 << 20)), "{file}");
        let mib_per_s = write.bytes_per_s.expect("bytes") / 1_048_576.0;
        assert_eq!(mib_per_s.floor(), 10.0);
        assert_eq!(mib_per_s.fract() > 0.0, exact, "CSV has whole MiB/s");
        assert_eq!(value(&results, "precision").is_none(), exact);
        let latency = write.latency.as_ref().expect("latency");
        assert_eq!((latency.mean_ns, latency.max_ns), (Some(53_300.0), Some(233_000)));
        assert_eq!(!latency.buckets.is_empty(), exact);
        assert_eq!((job(0).elapsed_ns, job(0).load.workers), (791_000_000, Some(2)));
        assert_eq!(job(0).load.access.as_deref(), Some("write"));
        let mix = job(2);
        assert_eq!(mix.load.access.as_deref(), Some("randrw read:30,write:70"));
        assert_eq!(op(mix, "write").ops_per_s, Some(5973.0));
        assert_eq!(op(mix, "read").ops_per_s, Some(2160.0));
        let mean = |op: &OpResults| op.latency.as_ref().and_then(|latency| latency.mean_ns);
        assert_eq!(mean(op(mix, "read")), Some(6500.0));
        assert_eq!(op(job(3), "mkdir").ops_per_s, Some(1281.0));
        assert_eq!((job(4).job.as_str(), mean(op(job(4), "item"))), ("tree", Some(132_000.0)));
        assert_eq!(op(job(4), "item").ops, Some(40));
        assert!(results.started.is_some_and(|at| at.starts_with("2026-11-23T18:09:4")));
    }
}

/// Files of elbencho 3.1-10: booleans are words, and reads of a mix stand within its writes.
#[test]
fn results_of_the_real_elbencho_are_read() {
    for (file, exact) in [("elbencho-3.1-10.csv", false), ("elbencho-3.1-10.json", true)] {
        let results = results(file);
        let names: Vec<&str> = results.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(names, ["WRITE", "READ", "RWMIX30", "MKDIRS", "WRITE (2)"], "{file}");
        assert_eq!((results.tool.as_str(), results.command.len()), ("elbencho 3.1-10", 17));
        assert_eq!((results.command[0].as_str(), results.command[16].as_str()), ("elbencho", "x"));
        let job = |nth: usize| &results.phases[nth].jobs[0];
        assert_eq!(job(0).load.access.as_deref(), Some("write"));
        assert_eq!(job(2).load.access.as_deref(), Some("randrw read:30,write:70"));
        let mean = |op: &OpResults| op.latency.as_ref().and_then(|latency| latency.mean_ns);
        assert_eq!(mean(op(job(2), "write")), Some(52_000.0));
        assert_eq!(mean(op(job(2), "read")), Some(5000.0), "{file}");
        assert_eq!(op(job(2), "read").ops_per_s, Some(18_148.0));
        let buckets = op(job(0), "write").latency.as_ref().map(|latency| latency.buckets.len());
        assert_eq!(buckets, Some(if exact { 6 } else { 0 }));
        assert_eq!((job(4).job.as_str(), op(job(4), "item").ops), ("tree", Some(4)));
    }
    let fault = read("live.csv", &bytes("elbencho-no-interval.csv")).expect_err("no interval");
    assert!(fault.starts_with("live.csv: it holds no interval"), "{fault}");
}

#[test]
fn a_phase_again_under_the_same_load_is_a_repeat() {
    let text = String::from_utf8(bytes("elbencho.csv")).expect("text");
    let again = format!("{text}{}\n", text.lines().nth(1).expect("a line"));
    let results = read("again.csv", again.as_bytes()).expect("CSV");
    let last = results.phases.last().expect("phases");
    assert_eq!((last.name.as_str(), last.repeat), ("WRITE", 1));
    // A file may lack its head.
    let (_, unlabelled) = text.split_once('\n').expect("a head");
    assert_eq!(
        read("elbencho.csv", unlabelled.as_bytes()),
        Ok(super::tests::results("elbencho.csv"))
    );
    let odd = text.replacen(",161,161,", ",161,x,", 1);
    let fault = read("odd.csv", odd.as_bytes()).expect_err("no number");
    assert!(fault.starts_with("odd.csv:2: `x` in column `IOPS [last]`"), "{fault}");
}

#[test]
fn live_csv_of_elbencho_is_intervals() {
    let results = results("elbencho-live.csv");
    let [write, read] = &results.phases[..] else { panic!("two phases") };
    assert_eq!((write.name.as_str(), read.name.as_str()), ("WRITE", "READ"));
    let op = op(&write.jobs[0], "write");
    let seen: Vec<_> = op.intervals.iter().map(|of| (of.start_ns, of.ops_per_s)).collect();
    let at = |ms: u64, rate: f64| (ms * 1_000_000, Some(rate));
    assert_eq!(seen, [at(0, 159.0), at(200, 167.0), at(403, 162.0), at(600, 149.0)]);
    assert_eq!((op.bytes, op.bytes_per_s), (Some(8 << 20), Some(10.0 * 1_048_576.0)));
    assert_eq!(write.jobs[0].load.workers, Some(2));
    assert_eq!(op.intervals[0].latency_ns_mean, Some(48_000.0));
}

#[test]
fn iostat_leaves_out_the_time_since_the_boot() {
    let full = results("iostat-x.json");
    assert_eq!(full.started.as_deref(), Some("2026-11-23T18:09:17Z"));
    let [device] = &full.phases[0].devices[..] else { panic!("one device") };
    assert_eq!((device.host.as_str(), device.device.as_str()), ("vm", "vda"));
    let starts: Vec<u64> = device.intervals.iter().map(|of| of.start_ns / 1_000_000_000).collect();
    assert_eq!(starts, [0, 1, 2]);
    let second = device.intervals[1];
    assert_eq!((second.reads_per_s, second.writes_per_s), (Some(1130.0), Some(224.0)));
    assert_eq!(second.bytes_read_per_s, Some(12_580.0 * 1024.0));
    assert_eq!((second.read_wait_ns_mean, second.queue_mean), (Some(1.68e6), Some(1.99)));
    assert_eq!((second.utilisation, second.requests_per_s), (Some(0.06), None));
    assert_eq!(value(&full, "length of intervals"), None);
    assert_eq!(value(&full, "kernel"), Some("Linux 6.18.44"));
    let plain = results("iostat.json");
    let device = &plain.phases[0].devices[0];
    assert_eq!((device.intervals.len(), device.intervals[1].requests_per_s), (2, Some(613.0)));
    assert_eq!(device.intervals[1].reads_per_s, None);
    assert!(value(&plain, "length of intervals").is_some_and(|of| of.starts_with("unknown")));
}

#[test]
fn sar_has_requests_of_all_kinds_and_lengths() {
    let results = results("sadf.json");
    assert_eq!(
        (results.tool.as_str(), results.started.as_deref()),
        ("sar", Some("2026-11-23T18:09:22Z"))
    );
    let device = &results.phases[0].devices[0];
    let seen: Vec<_> = device.intervals.iter().map(|of| of.requests_per_s).collect();
    assert_eq!(seen, [400.0, 437.0, 400.0].map(Some));
    let second = device.intervals[1];
    assert_eq!((second.start_ns, second.length_ns), (1_000_000_000, 1_000_000_000));
    assert_eq!(second.bytes_written_per_s, Some(43_752.0 * 1024.0));
    assert_eq!((second.queue_mean, second.utilisation), (Some(0.48), Some(0.04)));
    let without = "{\"sysstat\": {\"hosts\": [{\"statistics\": [{\"cpu-load\": []}]}]}}";
    assert!(read("cpu.json", without.as_bytes()).expect_err("no disks").contains("sadf -j -- -d"));
}

#[test]
fn times_of_day_are_read_in_both_clocks() {
    let at = |text| sysstat::seconds(text);
    assert_eq!(at("11/23/26 17:46:47"), Some(64_007));
    assert_eq!(at("11/23/2026 05:46:47 PM"), Some(64_007));
    assert_eq!(at("11/23/2026 12:00:01 AM"), Some(1));
    assert_eq!(at("2026-11-23T17:46:47+0000"), Some(1_795_456_007));
    assert_eq!((at("11/23/26"), at("1:2"), at("99:00:00")), (None, None, None));
}

#[test]
fn other_files_are_named_with_what_is_read() {
    let fault = |name: &str, text: &[u8]| read(name, text).expect_err(name);
    assert!(fault("a.txt", b"hello\n").starts_with("a.txt holds no results that candor reads: "));
    assert!(fault("a.txt", b"").contains("no results"));
    assert_eq!(fault("b", b"a\nb\xff"), "b:2: holds bytes that are no text (UTF-8)");
    let unnamed = fault("numbers.log", b"500, 1, 0, 0, 0\n");
    assert!(unnamed.contains("name it as fio does"), "{unnamed}");
    assert_eq!(fault("rd_slat.1.log", b""), "rd_slat.1.log has no entries");
    let typed = fault("a.json", b"{\"fio version\": \"fio-3.33\",\n \"jobs\": [{\"jobname\": 5}]}");
    assert_eq!(typed, "a.json: `jobs[0].jobname` is not a string");
}
