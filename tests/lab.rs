//! Cases on devices that this host lacks: a Debian kernel in two emulated machines that share
//! them, each booted once. Speeds mean nothing there; findings, facts and relations do.
//!
//! | case | devices | asserted |
//! | --- | --- | --- |
//! | T5 | null_blk that takes 64 at once | queue near what was asked for; Little's law |
//! | T8 | null_blk that takes 4 at once | by slices: the load, then the device is the limit |
//! | T9 | AHCI | link and ceiling; more than the link carries is told (D9) |
//! | T11 | NVMe over TCP to itself, two paths | remote, speed unknown, no claim of a limit; D7 |
//! | T12 | AHCI with 4 KiB sectors | C4, then one in flight, then many |
//! | T13 | NVMe | sizes and alignments, as the generator wrote them down |
//! | T18 | md raid0 | E2 (16 pieces), E8, E1 |
//! | extra | two paths to one namespace | A17, D7 |
//! | extra | md raid1, raid5 | each write on both; C7: parity reads before it writes |
//! | extra | dm striped, bcache | E2; both tiers |
//! | extra | LVM on two disks: striped, and cached | leaves, kinds, tiers; A15 |
//! | extra | dm-multipath over two hosts of scsi_debug | each byte once; D7 by groups only |
//! | extra | dm-cache | E6 by its table, A15 by its status, no E1 |
//! | extra | partitions, watched | the rows of a disk and of its partitions agree |
//! | extra | md raid0, raid1 of a fast and a slow disk | E7 names it; like ones are silent |
//! | extra | a zoned null_blk | written in order |
//! | extra | all of them | a bundle recorded there is shown here |
//! | extra | scsi_debug with max_queue=8 | B5 |
//! | extra | null_blk with mbps=30 | more depth gives no more; B6 |
//! | extra | scsi_debug, misaligned | C5 |
//! | extra | null_blk without accounting, brd | A17, A16 |
//! | extra | NVMe and SCSI by commands | what is written is there; A17: nothing counts it |
//! | extra | NVMe namespace with zones, by commands | filled, read back, reset |
//! | extra | USB | D4 |
//! | extra | blktrace beside the block tracer | the same histogram |
//! | extra | NVMe | the same reads by all four methods of the block tracer |
//! | extra | links with tbf and netem | elbencho's services: sums, round trips, clocks |
//! | extra | lockdown | the block tracer works, blktrace is refused |

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use candor_lab::{CaseResult, Lab, LabError, Results};
use serde_json::Value;

// Both test binaries read reports with this file, and this one needs half of it. A crate of its own
// for one file would be more than that.
#[path = "support/report.rs"]
#[allow(dead_code, reason = "the other test binary uses all of it")]
mod report;

#[path = "support/today.rs"]
mod today;

use report::{Report, check_sums, counted, histogram};

/// Days that it takes to run every case: half of them take two minutes.
const DAYS: u64 = 2;

/// Machines beside each other, each of which takes a CPU.
const MACHINES: usize = 2;

/// Boots once for all tests.
fn lab() -> Result<&'static Results, &'static LabError> {
    static LAB: OnceLock<Result<Results, LabError>> = OnceLock::new();
    LAB.get_or_init(|| {
        let candor = PathBuf::from(env!("CARGO_BIN_EXE_candor"));
        let target = candor.ancestors().nth(2).map_or("target".into(), PathBuf::from);
        let lab = Lab {
            candor,
            kernel_package: None,
            cases: of_today().clone(),
            cache: target.join("lab"),
            machines: MACHINES,
        };
        let results = lab.boot()?;
        println!("{}", results.console);
        Ok(results)
    })
    .as_ref()
}

/// Names of the cases that run today, the day on which the tests began.
fn of_today() -> &'static Vec<String> {
    static TODAY: OnceLock<Vec<String>> = OnceLock::new();
    TODAY.get_or_init(|| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../lab/guest/cases");
        let entries = fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("a case"));
        let stem = |path: PathBuf| Some(path.file_stem()?.to_string_lossy().into_owned());
        let names = entries.filter_map(|entry| stem(entry.path()));
        names.filter(|name| today::is_of_today(name, DAYS)).collect()
    })
}

/// The result of a case; none, with the reason printed, where the lab cannot run or the case runs
/// on another day.
fn case(name: &str) -> Option<CaseResult> {
    if !of_today().iter().any(|of| of == name) {
        println!("{name} runs on another day; CANDOR_CASES= in the environment runs all");
        return None;
    }
    let results = match lab() {
        Ok(results) => results,
        Err(LabError::Missing(what)) => {
            println!("skipped: {name}: {what} is not here, and the lab needs it");
            return None;
        }
        Err(failed) => panic!("{failed}"),
    };
    let case = results.case(name).unwrap_or_else(|| panic!("{name} did not run"));
    assert_eq!(case.status, 0, "{name}:\n{}", case.said);
    Some(case)
}

/// A report that a case wrote.
fn report(case: &CaseResult, file: &str) -> Report {
    let text = case.text(file).unwrap_or_else(|| panic!("no {file}; it said\n{}", case.said));
    let report = Report::of(&text);
    assert_eq!(report.violations(), Vec::<String>::new());
    report
}

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "`{part}` is not in\n{text}");
}

/// The traced requests that read a device.
fn reads<'a>(requests: &'a Value, device: &str) -> &'a Value {
    let all = requests.as_array().unwrap_or_else(|| panic!("no requests in {requests}"));
    all.iter()
        .find(|seen| seen["device"] == device && seen["direction"] == "read")
        .unwrap_or_else(|| panic!("no reads of {device} in {requests}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Mean operations in flight by Little's law, from rate and mean latency of the reads.
fn in_flight(report: &Report) -> f64 {
    let reads = report.at("/phases/0/measurements/0/operations/read");
    number(&reads["ops_per_s"]) * number(&reads["latency"]["mean_ns"]) * 1e-9
}

/// The count of a device during the only phase of a report.
fn moved(report: &Report, device: &str, what: &str) -> f64 {
    let of = |at: &str| {
        let devices = report.list(at).iter();
        let counters = devices.filter(|pair| pair[0] == device);
        counters.map(|pair| number(&pair[1][what])).sum::<f64>()
    };
    of("/phases/0/hosts/0/after/devices") - of("/phases/0/hosts/0/before/devices")
}

#[test]
fn t05_a_deep_queue_reaches_the_device() {
    let Some(case) = case("t05") else { return };
    let report = report(&case, "report.json");
    let (asked, flight) = (32.0, in_flight(&report));
    assert!((0.8 * asked..=1.01 * asked).contains(&flight), "{flight} in flight");
    assert_eq!(report.finding("B4").map(Value::to_string), None);
    let limit = report.limited_by(0);
    assert!(limit.starts_with("the device ") && limit.contains("depth 32"), "{limit}");
}

/// Trials of doubled workers: the most workers whose trial was not disturbed, how many
/// doublings in a row to the last gained less than 5 % over the best before, and the best rate over
/// that of the phase.
fn doublings(report: &Report) -> (u64, u32, f64) {
    let rate = |of: &Value| number(&of["measurement"]["operations"]["read"]["ops_per_s"]);
    let before = number(report.at("/phases/0/measurements/0/operations/read/ops_per_s"));
    let mut fastest = BTreeMap::<u64, f64>::new();
    for trial in report.list("/phases/0/follow_ups").iter().filter(|f| f["workers"] != 4) {
        let times = fastest.entry(trial["workers"].as_u64().expect("a count")).or_default();
        *times = times.max(rate(trial) / before);
    }
    let start = (4, 0, 1.0);
    fastest.into_iter().fold(start, |(most, flat, best), (workers, times)| match times / best {
        ..0.9 => (most, flat, best),
        ..1.05 => (workers, flat + 1, best.max(times)),
        _ => (workers, 0, times),
    })
}

#[test]
fn t08_more_load_until_the_device_is_full() {
    let Some(case) = case("t08") else { return };
    let one = report(&case, "1.json");
    let rate =
        |report: &Report| number(report.at("/phases/0/measurements/0/operations/read/ops_per_s"));
    has(&one.limited_by(0), "the load: ");
    let four = report(&case, "4.json");
    let limit = four.limited_by(0);
    match doublings(&four) {
        (most, 2.., best) if best < 1.2 => {
            has(&limit, &format!("the device at depth 4: up to {most} workers moved at most"));
        }
        // An emulator's noise can look like a gain, or slow trials down so that they show nothing.
        (_, _, best) => {
            assert!(!limit.starts_with("the device at depth 4"), "{limit}");
            assert!(best >= 1.2 || !limit.starts_with("the load"), "{limit}");
        }
    }
    let eight = report(&case, "8.json");
    has(&eight.limited_by(0), "the device's own queue of 4");
    assert!(rate(&four) > 2.0 * rate(&one) && rate(&eight) < 1.5 * rate(&four));
}

#[test]
fn t09_a_sata_link() {
    let Some(case) = case("t09") else { return };
    let report = report(&case, "report.json");
    let sata = &report.list("/phases/0/hosts/0/facts/devices")[0];
    assert_eq!(sata["kind"], "ata", "{sata}");
    has(&sata["link"].to_string(), "1.5 Gbps");
    has(&case.said, "SATA 1.5 Gbps, 150 MB/s at most");
    // The emulated disk is as fast as this host, which the link of the real one would not allow.
    let reads = report.at("/phases/0/measurements/0/operations/read");
    let beyond = number(&reads["bytes_per_s"]) > 1.02 * 150e6;
    assert_eq!(report.finding("D9").is_some(), beyond, "{}", report.told());
    has(report.sentence("C1"), "128 KiB");
}

#[test]
fn t11_a_remote_device_of_unknown_speed() {
    let Some(case) = case("t11") else { return };
    let report = report(&case, "report.json");
    has(report.sentence("D6"), "NVMe/tcp to 127.0.0.1 through lo, speed unknown");
    assert!(report.finding("D5").is_none() && report.finding("D9").is_none(), "{}", report.told());
    has(&case.said, "speed unknown");
    assert_eq!(report.list("/phases/0/hosts/0/facts/devices/0/below").len(), 2, "{}", case.said);
    has(report.sentence("D7"), "one of 2 working paths");
}

#[test]
fn t12_small_then_one_at_a_time_then_deep() {
    let Some(case) = case("t12") else { return };
    let small = report(&case, "512.json");
    has(small.sentence("C4"), "512 bytes I/O on 4 KiB sectors");
    let one = report(&case, "16k.json");
    assert!(one.finding("C4").is_none(), "{}", one.told());
    // Where the emulator is slow, candor's own work between requests keeps C6 from being said.
    assert!(in_flight(&one) <= 1.01, "{}", one.told());
    let deep = report(&case, "deep.json");
    assert!(deep.finding("C6").is_none(), "{}", deep.told());
    assert!(in_flight(&deep) > 4.0 * in_flight(&one));
}

#[test]
fn t13_sizes_and_alignments_as_the_generator_logged_them() {
    let Some(case) = case("t13") else { return };
    let log = case.text("log").expect("the generator keeps a log");
    let lines = log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut sent: Vec<(u64, u64)> = lines
        .filter_map(|words| match words[..] {
            [.., "read", start, length] => Some((start.parse().ok()?, length.parse().ok()?)),
            _ => None,
        })
        .collect();
    assert_eq!(sent.len(), 2740, "{}", case.said);
    // The generator is candor, whose accounting probe of 64 KiB is in no log.
    sent.push((0, 65536));
    let seen: Value = serde_json::from_str(&case.text("align.json").expect("a report")).unwrap();
    let devices = seen["trace"]["requests"].as_array().expect("devices");
    let seen = reads(&seen["trace"]["requests"], devices[0]["device"].as_str().unwrap());
    assert_eq!((&seen["count"], &seen["counted"]), (&Value::from(2741), &Value::from(2741)));
    let starts = counted(sent.iter().map(|(start, _)| start % 4096));
    assert_eq!(histogram(&seen["starts_in_4k"]), starts);
    let odd = sent.iter().filter(|(_, length)| length % 4096 != 0).count();
    assert_eq!(seen["length_off_4k"].as_u64(), Some(odd as u64));
    let sizes = counted(sent.iter().map(|(_, length)| 1 << length.ilog2()));
    assert_eq!(histogram(&seen["sizes_log2"]), sizes);
    has(&case.said, "start off a 4 KiB boundary");
}

#[test]
fn t18_an_array_of_unlike_members() {
    let Some(case) = case("t18") else { return };
    let large = report(&case, "report.json");
    has(large.sentence("E2"), "Each 1 MiB read became 16 requests over 2 of 2 members of md18");
    has(large.sentence("E8"), "md18 has no queue;");
    let chunk = report(&case, "chunk.json");
    has(chunk.sentence("E1"), "100 % of the bytes of md18 went to");
}

#[test]
fn extra_parity_reads_before_it_writes() {
    let Some(case) = case("raid5") else { return };
    let report = report(&case, "report.json");
    has(report.sentence("C7"), "became about 1 read and 2 writes of its members");
    assert_eq!(report.limited_by(0), "reads before each write to md5");
}

#[test]
fn extra_a_mirror_writes_twice() {
    let Some(case) = case("raid1") else { return };
    let report = report(&case, "report.json");
    has(report.sentence("E8"), "queue numbers are from one1, two1");
    let written = |name: &str| moved(&report, name, "write_sectors");
    let sectors = number(report.at("/phases/0/measurements/0/operations/write/bytes")) / 512.0;
    for name in ["md1", "one1", "two1"] {
        // The array notes now and then on its members what it is doing.
        let (least, most) = (sectors, 1.2 * sectors + 4096.0);
        assert!((least..most).contains(&written(name)), "{name}: {} {least}", written(name));
    }
}

#[test]
fn extra_a_striped_volume() {
    let Some(case) = case("stripe") else { return };
    let report = report(&case, "report.json");
    has(&case.said, "mapping   striped");
    let told = report.sentence("E2");
    has(told, "Each 256 KiB read became 4 requests over 2 of 2 members of dm-0 (chunk");
    // It counts, although its queue/iostats says 0.
    assert!(report.finding("A17").is_none(), "{}", report.told());
}

#[test]
fn extra_two_tiers() {
    let Some(case) = case("bcache") else { return };
    let report = report(&case, "report.json");
    assert_eq!(
        report.at("/phases/0/hosts/0/facts/devices/0/below").to_string(),
        r#"["bslow","bfast"]"#
    );
    has(report.sentence("E6"), "of the bytes of bcache0 were moved by bfast, its fast tier");
}

#[test]
fn extra_a_mapped_cache_has_two_tiers() {
    let Some(case) = case("tiers") else { return };
    let report = report(&case, "report.json");
    has(&case.said, "mapping   tiers, cache");
    // The slow one first, which nothing but the table tells here.
    let below = report.at("/phases/0/hosts/0/facts/devices/0/below").to_string();
    assert_eq!(below, r#"["tslow","tfast","tnotes"]"#);
    has(report.sentence("A15"), "were answered by its caching device");
    has(&report.named("A15").to_string(), "were moved by tfast, its fast tier");
    assert!(report.finding("E1").is_none(), "{}", report.told());
}

#[test]
fn extra_volumes_of_lvm() {
    let Some(case) = case("lvm") else { return };
    if case.said.starts_with("skipped") {
        println!("{}", case.said.trim_end());
        return;
    }
    fn names(report: &Report) -> Vec<String> {
        let devices = report.list("/phases/0/hosts/0/facts/devices").iter();
        let name = |of: &Value| of["mapping"]["name"]["value"].as_str().map(str::to_owned);
        devices.map(|of| name(of).unwrap_or(of["name"].to_string())).collect()
    }
    let striped = report(&case, "striped.json");
    assert_eq!(names(&striped), ["lab-striped", "\"lfast\"", "\"lslow\""]);
    has(&case.said, "mapping   lab-striped, striped, made by LVM");
    for disk in ["lfast", "lslow"] {
        assert!(moved(&striped, disk, "reads") > 0.0, "{disk}: {}", striped.told());
    }
    let cached = report(&case, "cached.json");
    let parts = ["lab-cached", "lab-cached_corig", "lab-tier_cvol-cdata", "lab-tier_cvol-cmeta"];
    assert_eq!(names(&cached)[..4], parts);
    assert_eq!(names(&cached)[4..].len(), 3, "the volume below the tier, and the disks");
    has(cached.sentence("A15"), "were answered by its caching device");
    assert!(cached.finding("E1").is_none() && cached.finding("E4").is_none(), "{}", cached.told());
}

#[test]
fn extra_paths_mapped_as_one() {
    let Some(case) = case("mpath") else { return };
    let (turns, groups) = (report(&case, "turns.json"), report(&case, "groups.json"));
    has(&case.said, "mapping   both, multipath, made by mpath");
    for report in [&turns, &groups] {
        let devices = report.list("/phases/0/hosts/0/facts/devices").iter();
        let names: Vec<&str> = devices.map(|of| of["name"].as_str().expect("a name")).collect();
        let [map, one, two] = names[..] else { panic!("{names:?}") };
        let read = |name: &str| moved(report, name, "read_sectors") * 512.0;
        let asked = number(report.at("/phases/0/measurements/0/operations/read/bytes"));
        assert_eq!((read(map), read(one) + read(two)), (asked, asked), "each byte once");
    }
    assert!(turns.finding("D7").is_none(), "{}", turns.told());
    has(groups.sentence("D7"), "used path");
}

#[test]
fn extra_rows_of_partitions() {
    let Some(case) = case("parts") else { return };
    let text = case.text("watched.json").expect("one look");
    let look: Value = serde_json::from_str(&text).expect("JSON");
    let [disk, first, second] = &look["devices"].as_array().expect("rows")[..] else {
        panic!("{look}")
    };
    let name = |row: &Value| row["device"].as_str().expect("a name").to_owned();
    assert_eq!([name(first), name(second)], [1, 2].map(|n| format!("{}{n}", name(disk))));
    // What was asked for, and the accounting probe of 64 KiB.
    let reads = number(&look["elapsed_s"]) * number(&second["read"]["per_s"]);
    assert_eq!(reads.round(), 201.0, "{look}");
    assert_eq!(number(&first["read"]["per_s"]), 0.0);
    let rates = |row: &Value| ["per_s", "bytes_per_s"].map(|of| number(&row["read"][of]));
    assert_eq!(rates(second), rates(disk));
    assert!(number(&second["busy"]) > 0.0 && number(&second["queue_mean"]) > 0.0, "{look}");
}

#[test]
fn extra_a_slow_member() {
    let Some(case) = case("slow") else { return };
    let stripe = report(&case, "report.json");
    has(stripe.sentence("E7"), "Requests to mslow took");
    assert_eq!(stripe.named("E7")["limits"]["member"], "mslow");
    let mirror = report(&case, "mirror.json");
    has(mirror.sentence("E7"), "as long as requests to mfast");
    let alike = report(&case, "alike.json");
    assert!(!alike.told().contains("slow member"), "{}", alike.told());
}

#[test]
fn extra_a_zoned_device_is_written_in_order() {
    let Some(case) = case("zoned") else { return };
    let report = report(&case, "report.json");
    has(&case.said, "zoned: host-managed");
    let unaware = self::report(&case, "unaware.json");
    has(
        unaware.sentence("F12"),
        "the device refused a write that was not at the zone's write pointer",
    );
    assert!(number(report.at("/phases/0/measurements/0/operations/write/ops")) > 0.0);
    assert_eq!(report.at("/phases/0/measurements/0/operations/write/failed"), 0);
}

#[test]
fn extra_a_bundle_shows_the_guest_here() {
    let Some(case) = case("bundle") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("bundle");
    std::fs::write(&path, case.text("bundle.txt").expect("a bundle")).expect("a file");
    let candor = Command::new(env!("CARGO_BIN_EXE_candor"));
    let replayed = { candor }.arg("inspect").arg("--replay").arg(&path).output().expect("it runs");
    let replayed = String::from_utf8_lossy(&replayed.stdout).into_owned();
    let mapped = "mapping   linear, linear";
    for line in
        [mapped, "SATA 1.5 Gbps", "SAS 3.0 Gbit", "PCIe 2.5 GT/s x1", "paths chosen by numa"]
    {
        has(&replayed, line);
        has(&case.said, line);
    }
}

#[test]
fn extra_two_paths_to_one_namespace() {
    let Some(case) = case("multipath") else { return };
    let report = report(&case, "report.json");
    let head = report.words("/phases/0/hosts/0/facts/devices/0/name");
    has(report.sentence("A17"), &format!("Linux does not count I/O on {head}; the devices below"));
    has(report.sentence("D7"), "one of 2 working paths (iopolicy = numa)");
    assert_eq!(report.list("/phases/0/hosts/0/facts/devices/0/below").len(), 2);
}

#[test]
fn extra_a_device_that_takes_eight() {
    let Some(case) = case("depth8") else { return };
    let report = report(&case, "report.json");
    has(
        report.sentence("B5"),
        "accepts 8 commands; 24 of 32 requested operations waited for a slot",
    );
    has(&report.limited_by(0), "the device's own queue of 8");
}

#[test]
fn extra_a_device_that_is_held_to_a_rate() {
    let Some(case) = case("cap") else { return };
    let report = report(&case, "report.json");
    let limit = report.limited_by(0);
    assert!(in_flight(&report) > 0.8 * 32.0);
    if report.finding("F5").is_none() {
        has(&limit, "the device at depth 32: twice the depth (64) moved");
        println!("skipped: extra_a_device_that_is_held_to_a_rate: a busy host let the rate vary");
        return;
    }
    has(report.sentence("F5"), "The rate held 1000 IOPS to within");
    has(&limit, "perhaps a limit below this host (1000 IOPS)");
}

#[test]
fn extra_a_misaligned_device() {
    let Some(case) = case("misaligned") else { return };
    let report = report(&case, "report.json");
    has(report.sentence("C5"), "starts 3.5 KiB off a sector boundary");
}

#[test]
fn extra_what_the_kernel_does_not_count() {
    let Some(off) = case("unaccounted") else { return };
    let off = report(&off, "report.json");
    has(off.sentence("A17"), "no counter can verify");
    assert_eq!(off.verdict(), "unverified");
    let Some(memory) = case("brd") else { return };
    let memory = report(&memory, "report.json");
    has(memory.sentence("A16"), "is a disk in memory (brd)");
    assert_eq!(memory.verdict(), "wrong");
}

/// Checks that nothing vouches for commands, and that nothing is said of a cache.
fn nobody_counts(case: &CaseResult, device: &str) {
    let report = report(case, "report.json");
    has(report.sentence("A17"), "that bypass the block layer, so no counter can verify");
    assert_eq!(report.verdict(), "unverified");
    assert!(report.finding("A1").is_none(), "{}", report.told());
    let reads = report.at("/phases/0/measurements/0/operations/read");
    assert!(number(&reads["ops"]) > 100.0 && reads["errors"].is_null(), "{reads}");
    assert_eq!(moved(&report, device, "read_sectors"), 0.0, "{}", case.said);
    let missing = report.at("/phases/0/hosts/0/facts/missing").to_string();
    has(&missing, "commands of io_uring_cmd and sg pass the block layer by");
    assert!(report.at("/phases/0/hosts/0/requests").is_null(), "{}", case.said);
}

/// Operations of a direction that candor reports as fio does, none of which failed.
fn done_as_fio(case: &CaseResult, file: &str, direction: &str) -> f64 {
    let text = case.text(file).unwrap_or_else(|| panic!("no {file}; it said\n{}", case.said));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["jobs"][0]["error"], 0, "{report}");
    number(&report["jobs"][0][direction]["total_ios"])
}

#[test]
fn extra_nvme_commands() {
    let Some(case) = case("nvme-commands") else { return };
    let device = report(&case, "report.json");
    let device = device.words("/phases/0/hosts/0/facts/devices/0/name").to_owned();
    nobody_counts(&case, &device);
    assert_eq!(done_as_fio(&case, "fio.json", "write"), 32.0);
    assert_eq!(done_as_fio(&case, "fio.json", "read"), 32.0);
    assert_eq!(done_as_fio(&case, "trim.json", "trim"), 8.0);
    let bytes = |file: &str| case.text(file).and_then(|text| text.trim().parse::<u64>().ok());
    assert_eq!(done_as_fio(&case, "verify.json", "write"), 32.0);
    assert_eq!(done_as_fio(&case, "zeroes.json", "write"), 4.0);
    assert!(bytes("verified") > Some(2 << 20 >> 1) && bytes("zeroed") == Some(0));
    // Four ranges of 256 KiB, two in a command.
    assert_eq!(done_as_fio(&case, "ranges.json", "trim"), 2.0);
    assert!(bytes("held") > Some(2 << 20 >> 1) && bytes("left") == Some(0), "{:?}", bytes("held"));
    let said = |file: &str| case.text(file).unwrap_or_default();
    has(&said("taken"), "is in use by dm-");
    has(&said("asked"), &format!("takes the commands of /dev/{device}"));
    has(&said("long"), "moves 512KiB at most");
}

#[test]
fn extra_protection_information() {
    let Some(case) = case("protection") else { return };
    assert_eq!(done_as_fio(&case, "fio.json", "write"), 16.0);
    assert_eq!(done_as_fio(&case, "fio.json", "read"), 16.0);
    let said = |file: &str| case.text(file).unwrap_or_default();
    // The kernel has this number for protection information that does not fit.
    has(&said("other"), "err=84");
    has(&said("plain"), "have no such protection information");
    for (file, op, count) in [
        ("made.json", "write", 16.0),
        ("made.json", "read", 16.0),
        ("wide.json", "write", 32.0),
        ("wide-back.json", "read", 32.0),
        ("taken-off.json", "read", 16.0),
    ] {
        assert_eq!(done_as_fio(&case, file, op), count, "{file}");
    }
    has(&said("tag"), "the application tag of LBA 0 is 0x13, and 0x14 was expected");
    has(&said("both"), "the guards check each block");
}

#[test]
fn extra_nvme_zones() {
    let Some(case) = case("nvme-zones") else { return };
    // Three zones hold 12 writes of 256 KiB each.
    assert_eq!(done_as_fio(&case, "fio.json", "write"), 36.0);
    assert_eq!(done_as_fio(&case, "fio.json", "read"), 36.0);
    // All zones were full, and the controller takes no write to such.
    assert_eq!(done_as_fio(&case, "again.json", "write"), 16.0);
    assert_eq!(done_as_fio(&case, "trim.json", "trim"), 2.0);
    assert_eq!(case.text("left").unwrap_or_default().trim(), "0");
}

#[test]
fn extra_scsi_commands() {
    let Some(case) = case("sg") else { return };
    let device = report(&case, "report.json");
    nobody_counts(&case, device.words("/phases/0/hosts/0/facts/devices/0/name"));
    assert_eq!(done_as_fio(&case, "fio.json", "write"), 16.0);
    assert_eq!(done_as_fio(&case, "fio.json", "read"), 16.0);
    assert_eq!(done_as_fio(&case, "trim.json", "trim"), 4.0);
    for mode in ["write_same", "verify_bytchk_00"] {
        assert_eq!(done_as_fio(&case, &format!("{mode}.json"), "write"), 16.0);
    }
    let said = |file: &str| case.text(file).unwrap_or_default();
    has(&said("compared"), "the device does not know the command, or one of its options");
    has(&said("stream"), "open a stream of writes");
    assert!(case.text("same").and_then(|text| text.trim().parse().ok()) > Some(1_u64 << 19));
    has(&case.text("part").unwrap_or_default(), "would reach the whole disk");
}

#[test]
fn extra_one_command_at_a_time() {
    let Some(case) = case("usb") else { return };
    let report = report(&case, "report.json");
    has(report.sentence("D4"), "uses usb-storage, one command at a time");
}

#[test]
fn extra_a_slow_clock() {
    let Some(case) = case("inspect") else { return };
    has(&case.said, "Clock       hpet");
}

#[test]
fn extra_blktrace_saw_the_same_sizes() {
    let Some(case) = case("bitesize") else { return };
    let report = report(&case, "report.json");
    let parsed = case.text("parsed").expect("what blkparse printed");
    let lines = parsed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let traced = lines.filter_map(|words| match words[..] {
        ["C", kind, _start, length, ..] if kind.starts_with('R') => length.parse::<u64>().ok(),
        _ => None,
    });
    let traced = counted(traced.map(|length| 1 << length.ilog2()));
    let name = report.words("/phases/0/hosts/0/facts/devices/0/name").to_owned();
    let mut seen =
        histogram(&reads(report.at("/phases/0/hosts/0/requests/requests"), &name)["sizes_log2"]);
    // The accounting probe of 64 KiB comes before the tracer starts.
    *seen.entry(65536).or_insert(0) += 1;
    assert_eq!(seen, traced, "{parsed}");
}

#[test]
fn extra_each_trace_method_sees_the_same() {
    let Some(case) = case("trace-methods") else { return };
    for method in ["raw", "tracepoint", "perf", "blktrace"] {
        let text = case.text(&format!("{method}.json")).expect("a report of each method");
        let seen: Value = serde_json::from_str(&text).expect("JSON");
        let requests = &seen["trace"]["requests"];
        let device = requests[0]["device"].as_str().unwrap_or_default();
        let sizes = histogram(&reads(requests, device)["sizes_log2"]);
        // What was sent, and the accounting probe of who sent it.
        assert_eq!(sizes, BTreeMap::from([(4096, 300), (65536, 1)]), "{method}: {seen}");
    }
}

/// All nodes have one clock: however unlike the ways to a node and back are, its error has to be
/// within what is told of it.
#[test]
fn extra_services_behind_slow_far_and_lossy_links() {
    /// Least delay of each node, there and back.
    const DELAYS_MS: [u64; 8] = [0, 20, 20, 5, 5, 0, 0, 0];
    const NODES: u64 = DELAYS_MS.len() as u64;
    const BYTES: u64 = 4 << 20;
    let Some(case) = case("links") else { return };
    if case.said.starts_with("skipped: ") {
        return println!("{}", case.said);
    }
    let report = report(&case, "report.json");
    assert_eq!(check_sums(&report), 2 * BYTES / (64 << 10));
    for phase in report.list("/phases") {
        let hosts = phase["hosts"].as_array().expect("hosts");
        assert_eq!(hosts.len() as u64, NODES);
        for (host, (node, delay)) in hosts.iter().zip((1..).zip(DELAYS_MS)) {
            let done = host["measurements"][0]["last_done"]["bytes"].as_u64();
            assert_eq!(done, Some(BYTES / NODES), "node {node}");
            let member = &host["member"];
            let ns = |key: &str| member[key].as_u64().expect("a time");
            assert!(ns("round_trip_ns") >= delay * 1_000_000, "{node}: {member}");
            let offset = member["clock_offset_ns"].as_i64().expect("an offset");
            assert!(offset.unsigned_abs() <= ns("clock_error_ns"), "{node}: {member}");
        }
    }
    for node in 1..=NODES {
        let log = case.text(&format!("log{node}")).expect("its log");
        has(&log, "exit status: 0");
    }
}

#[test]
fn extra_the_eye_works_under_lockdown() {
    let Some(case) = case("z-lockdown") else { return };
    has(&case.said, "[integrity]");
    has(&case.said, "the kernel is locked down (integrity)");
    let report = report(&case, "report.json");
    let name = report.words("/phases/0/hosts/0/facts/devices/0/name").to_owned();
    let seen = reads(report.at("/phases/0/hosts/0/requests/requests"), &name);
    assert_eq!(seen["count"], report.at("/phases/0/measurements/0/operations/read/ops").clone());
}
