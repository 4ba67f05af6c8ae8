//! Limits between a workload and its device: depth, CPU, splits, small blocks, control
//! groups, other people's traffic. Each is set here, and candor has to name it.

use crate::support::{
    Cgroup, Loop, Report, Running, Scratch, Spinners, Zram, candor, quiet_host, run, skip, spawn,
};

const MIB: u64 = 1 << 20;

#[test]
fn t03_depth_of_a_synchronous_engine_is_reported_when_planned_and_when_run() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 32 * MIB);
    let words = "--rw randread --direct --engine psync --depth 32 --seconds 1";
    let mut dry = vec!["run", "--target", &file, "--dry-run"];
    dry.extend(words.split(' '));
    let dry = candor(&dry);
    assert_eq!(dry.code, Some(0), "{}", dry.err);
    for word in ["psync", "--depth 32", "32"] {
        assert!(dry.err.contains(word), "{}", dry.err);
    }
    let report = run(&scratch, &file, words);
    report.named("B1");
    assert!(report.number("/phases/0/measurements/0/occupancy") <= 1.0, "{}", report.told());
}

#[test]
fn t04_buffered_libaio_is_reported_to_be_synchronous() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 128 * MIB);
    let words = "--rw randread --engine libaio --depth 32 --evict --seconds 1";
    run(&scratch, &file, words).named("B2");
}

#[test]
fn direct_libaio_is_not() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 64 * MIB);
    let words = "--rw randread --engine libaio --depth 32 --direct --seconds 1";
    let report = run(&scratch, &file, words);
    assert!(report.finding("B2").is_none(), "{}", report.told());
    assert!(report.finding("B1").is_none(), "{}", report.told());
}

#[test]
fn split_requests_are_reported_with_factor_piece_and_cause() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(mut device) = Loop::direct(&scratch, 64 * MIB) else { return };
    if !device.set("queue/max_sectors_kb", "256") {
        return skip("the loop device takes no max_sectors_kb");
    }
    let report = run(&scratch, &device.node, "--rw read --bs 1m --direct --seconds 1");
    let sentence = report.sentence("C1");
    for word in ["1 MiB", "4 × 256 KiB", "max_sectors_kb"] {
        assert!(sentence.contains(word), "{sentence}");
    }
    let report = run(&scratch, &device.node, "--rw read --bs 128k --direct --seconds 1");
    assert!(report.finding("C1").is_none(), "{}", report.told());
}

#[test]
fn blocks_smaller_than_a_physical_sector_are_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 32 * MIB);
    let report = run(&scratch, &file, "--rw randread --direct --seconds 1 --bs 4k");
    let blocks =
        |what: &str| report.at("/phases/0/hosts/0/facts/devices/0/queue")[what]["value"].as_u64();
    let (logical, physical) = (blocks("logical_block_bytes"), blocks("physical_block_bytes"));
    assert!(report.finding("C4").is_none(), "{}", report.told());
    if (logical, physical) != (Some(512), Some(4096)) {
        return skip("the disk has no 4 KiB sectors that can be read in parts");
    }
    for words in ["--rw randread --bs 512", "--rw randwrite --overwrite --bs 512"] {
        let report = run(&scratch, &file, &format!("{words} --direct --seconds 1"));
        let finding = report.named("C4");
        let sentence = finding["sentence"].to_string();
        assert!(sentence.contains("512") && sentence.contains("4 KiB"), "{sentence}");
    }
}

#[test]
fn flushes_are_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    for how in ["--fsync-every 1", "--open-sync dsync"] {
        let words = format!("--rw randwrite --overwrite --direct {how} --seconds 1");
        let report = run(&scratch, &device.node, &words);
        report.named("C9");
        // That flushes take no time may be told, but not that there were none.
        assert!(!report.heavy().contains(&"C10".to_owned()), "{}", report.told());
        // The empty flush is a request too, but splits nothing.
        assert!(report.finding("C1").is_none(), "{}", report.told());
    }
    let cache = std::fs::read_to_string(device.sys("queue/write_cache")).unwrap_or_default();
    if cache.trim() == "write back" {
        let words = "--rw randwrite --overwrite --direct --seconds 1";
        run(&scratch, &device.node, words).named("C10");
    }
}

#[test]
fn extra_a_control_group_is_reported_with_its_limit() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let Some(group) = Cgroup::reads_per_second(&device.numbers(), 80) else { return };
    let json = scratch.outside("report.json");
    let words = "--rw randread --direct --engine io_uring --depth 8 --seconds";
    let mut all = vec!["run", "--target", &device.node, "--json", &json];
    all.extend(words.split(' ').chain(["8"]));
    let ran = Running::start(&mut group.candor(&all), std::process::Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = Report::read(&json).expect("a report");
    let sentence = report.sentence("F4");
    assert!(sentence.contains("80"), "{sentence}");
    let limited = report.limited_by(0);
    assert!(limited.contains("control group"), "{limited}");
    // The limit is kept over seconds; nothing of it takes longer to show where there is none.
    let free = run(&scratch, &device.node, &format!("{words} 3"));
    assert!(free.finding("F4").is_none(), "{}", free.told());
}

#[test]
fn a_quota_of_cpu_time_is_reported_and_not_the_machine() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let Some(group) = Cgroup::cpu(20) else { return };
    let json = scratch.outside("report.json");
    let words = "--rw randread --direct --engine io_uring --depth 4 --seconds 3";
    let mut all = vec!["run", "--target", &device.node, "--json", &json];
    all.extend(words.split(' '));
    let ran = Running::start(&mut group.candor(&all), std::process::Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report = Report::read(&json).expect("a report");
    if report.finding("F4").is_none() && report.finding("B8").is_some() {
        return skip("others keep this machine so busy that the quota was not used up");
    }
    let sentence = report.sentence("F4");
    assert!(sentence.contains("a quota of 0.02 CPUs"), "{sentence}");
    for rule in ["B8", "B9"] {
        assert!(report.finding(rule).is_none(), "it follows: {}", report.told());
    }
    let free = run(&scratch, &device.node, words);
    assert!(free.finding("F4").is_none(), "{}", free.told());
}

#[test]
fn a_full_queue_of_the_kernel_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(mut device) = Loop::direct(&scratch, 64 * MIB) else { return };
    if !device.set("queue/nr_requests", "4") {
        return skip("the length of the kernel's queue cannot be set here");
    }
    let words = "--rw randread --direct --engine io_uring --depth 16 --bs 256k --seconds 2";
    let report = run(&scratch, &device.node, words);
    if report.finding("B5").is_none() && report.finding("B8").is_some() {
        return skip("others keep this machine busy, so that the queue is not always full");
    }
    assert!(report.sentence("B5").contains("queues 4 requests"), "{}", report.told());
    let limit =
        "the kernel's queue of 4 requests (nr_requests; one request at a time was not tried)";
    assert_eq!(report.limited_by(0), limit, "two seconds have no trial");
}

#[test]
fn extra_starvation_of_cpu_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Zram::random(32 * MIB) else { return };
    let Some(_spinners) = Spinners::on(0, 2) else { return };
    let words = "--rw randread --direct --seconds 2 --cpus 0";
    let finding = run(&scratch, &device.node, words).named("B8").clone();
    assert_eq!(finding["severity"], "caution", "{finding}");
}

#[test]
fn traffic_of_others_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    let words = ["run", "--target", &device.node, "--direct", "--rw", "randread"];
    let mut other = spawn(&[&words[..], &["--bs", "64k", "--seconds", "20"]].concat());
    other.wait_for(", 20 s");
    let report = run(&scratch, &device.node, "--rw randread --direct --seconds 3");
    let sentence = report.sentence("F10");
    assert!(sentence.contains(device.name()), "{sentence}");
    drop(other);
}

#[test]
fn a_rate_limit_is_no_weakness_of_the_device() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 32 * MIB);
    let words = "--rw randread --direct --engine io_uring --depth 16 --rate-iops 200 --seconds 3";
    let report = run(&scratch, &file, words);
    let limited = report.limited_by(0);
    assert!(limited.contains("rate"), "{limited}");
}

/// A plan of one reader of a file with a latency goal at the median.
fn with_goal(scratch: &Scratch, file: &str, latency: &str) -> String {
    let text = format!(
        "[[target]]\nname = \"t\"\npath = \"{file}\"\n[[phase]]\nname = \"goal\"\nstop = {{ \
         time = \"3s\" }}\njob = [{{ targets = [\"t\"], work.blocks = {{ engine = \"io_uring\", \
         mix = \"read\", access = \"random\", direct = true, depth = 8, pace = {{ goal = {{ \
         latency = \"{latency}\", percentile = 50.0, window = \"100ms\" }} }} }} }}]\n"
    );
    scratch.file(&format!("{latency}.toml"), &text)
}

#[test]
fn a_latency_goal_is_told_and_an_unmet_one_has_its_exit_code() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 32 * MIB);
    let met = candor(&["run", &with_goal(&scratch, &file, "20s")]);
    assert_eq!(met.code, Some(0), "{}", met.err);
    assert!(met.out.contains("Depth 8 is the maximum that met the goal of 50 %"), "{}", met.out);
    let unmet = candor(&["run", &with_goal(&scratch, &file, "10ns")]);
    assert_eq!(unmet.code, Some(4), "{}", unmet.err);
    assert!(unmet.out.contains("No depth met the goal of 50 % within 10 ns"), "{}", unmet.out);
}

#[test]
fn the_advice_to_lay_a_file_out_does_something() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    if !scratch.on_disk() {
        return;
    }
    fn mapped(report: &Report) -> f64 {
        report.number("/phases/0/hosts/0/facts/targets/0/files/0/extents/value/mapped_bytes")
    }
    let size = (16 * MIB) as f64;
    // A new file whose writer makes all bytes itself, and a sparse one.
    let new = scratch.path("new");
    let words = "--rw write --bs 1m --direct --engine io_uring --depth 8 --size 16m --seconds 1";
    assert!(mapped(&run(&scratch, &new, words)) < size, "it is not needed");
    assert_eq!(mapped(&run(&scratch, &new, &format!("{words} --layout write"))), size);
    let sparse = scratch.path("sparse");
    let file = std::fs::File::create(&sparse).expect("a scratch file");
    file.set_len(16 * MIB).expect("a sparse file");
    let words = "--rw randwrite --direct --overwrite --seconds 1 --layout write";
    let report = run(&scratch, &sparse, words);
    assert_eq!(mapped(&report), size);
    assert!(report.finding("B18").is_none(), "{}", report.told());
}
