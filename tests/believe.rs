//! Known traps: each is set here, and candor has to name it.

use std::fs::File;

use rustix::fs::{FallocateFlags, fallocate};

use crate::cache::mapping;
use crate::honest::believable;
use crate::support::{
    Loop, Mount, Report, Scratch, candor, fingerprint, measured, quiet_host, random_file, root,
    run, skip,
};

const MIB: u64 = 1 << 20;

/// `candor run` for a second of this on this.
fn second(scratch: &Scratch, target: &str, words: &str) -> Report {
    run(scratch, target, &format!("--seconds 1 {words}"))
}

#[test]
fn t06_the_same_file_three_ways() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    if !scratch.on_disk() {
        return;
    }
    let file = scratch.random_file("file", 64 * MIB);
    believable(&scratch, &file, "--direct --rw randread --depth 8 --engine io_uring");
    fingerprint(&file);
    let reread = second(&scratch, &file, "--rw randread --buffered");
    let finding = reread.denies("A1");
    assert_eq!(finding["measures"], "page_cache", "{finding}");
    assert!(reread.words("/judgement/headline").contains("page cache"), "{}", reread.told());
    let write = second(&scratch, &file, "--rw randwrite --buffered --overwrite");
    let finding = write.denies("A3");
    assert_eq!(finding["measures"], "page_cache_writes", "{finding}");
}

#[test]
fn the_page_cache_is_reported_whatever_the_engine() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 32 * MIB);
    fingerprint(&file);
    for engine in ["psync", "pvsync", "io_uring", "libaio", "mmap"] {
        let words = ["run", "--target", &file, "--rw", "read", "--bs", "64k", "--passes", "4"];
        let (ran, report) = measured(&scratch, &[&words[..], &["--engine", engine]].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        report.denies("A1");
    }
}

/// A slow machine comes nowhere near its memory, a small one has none to spare.
#[test]
fn how_fast_memory_copies_is_reported_after_fast_phases() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 64 * MIB);
    fingerprint(&file);
    let run = |more: &[&str]| {
        let words = ["run", "--target", &file, "--rw", "read", "--bs", "1m", "--workers", "2"];
        let words = [&words[..], &["--buffered", "--seconds", "2.2"], more].concat();
        let (ran, report) = measured(&scratch, &words);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let rate = report.number("/phases/0/measurements/0/operations/read/bytes_per_s");
        (report, rate)
    };
    let (report, rate) = run(&[]);
    let copy = report.at("/phases/0/hosts/0/memory_copy");
    let Some(copied) = copy["bytes_per_s"].as_f64() else {
        return skip(&format!("{rate} bytes per second, and no look at memory"));
    };
    assert!(rate > 0.9e9 && copied > 0.0 && copy["threads"].as_u64() > Some(0), "{rate}: {copy}");
    assert!(copy["buffer_bytes"].as_u64() >= Some(64 * MIB), "{copy}");
    let ceilings = report.list("/judgement/phases/0/ceilings");
    let memory = ceilings.iter().find(|ceiling| ceiling["element"] == "memory");
    let used = memory.map_or(rate / copied, |memory| memory["used"].as_f64().expect("a share"));
    assert!((used * copied / rate - 1.0).abs() < 0.01, "{used} of {copied}: {rate}");
    assert_eq!(memory.is_none(), used > 1.02, "what caches of the processor beat is no ceiling");
    if used > 0.5 {
        assert!(report.tells("B15").contains(" this memory can copy ("), "{}", report.told());
    }
    let (plain, _) = run(&["--no-follow-ups"]);
    assert!(plain.at("/phases/0/hosts/0/memory_copy").is_null(), "it was not to be measured");
}

#[test]
fn the_text_leads_with_what_was_measured() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 16 * MIB);
    fingerprint(&file);
    let ran = candor(&["run", "--target", &file, "--rw", "randread", "--seconds", "1"]);
    let first = ran.out.lines().next().unwrap_or_default();
    assert!(first.starts_with("Not the storage's number"), "{}", ran.out);
    assert!(ran.out.contains("A1") && ran.out.contains("--direct"), "{}", ran.out);
}

#[test]
fn reading_what_was_just_written_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let plan = format!(
        r#"
[[target]]
name = "data"
path = "{}"
size = "64m"
[[phase]]
name = "save"
job = [{{ targets = ["data"], work.blocks = {{ mix = "write", size = "1m",
    durability = {{ fsync_at_end = true }} }} }}]
[[phase]]
name = "restore"
job = [{{ targets = ["data"], work.blocks = {{ mix = "read", size = "1m" }} }}]
"#,
        scratch.path("checkpoint")
    );
    let plan = scratch.file("plan.toml", &plan);
    let (ran, report) = measured(&scratch, &["run", &plan]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = report.tells("A2");
    assert!(told.contains("from phase save, which wrote it on this host"), "{told}");
    assert_eq!(report.words("/judgement/phases/1/verdict"), "wrong", "{}", report.told());
}

#[test]
fn extra_unwritten_extents_are_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let path = scratch.path("reserved");
    let file = File::create(&path).unwrap();
    if let Err(error) = fallocate(&file, FallocateFlags::empty(), 0, 64 * MIB) {
        return skip(&format!("the filesystem does not reserve: {error}"));
    }
    file.sync_all().unwrap();
    let report = second(&scratch, &path, "--rw randread --direct");
    report.denies("A9");
    let laid_out = scratch.path("laid-out");
    let report = second(&scratch, &laid_out, "--rw randread --direct --size 32m --layout allocate");
    report.denies("A9");
}

#[test]
fn extra_holes_are_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let path = scratch.path("sparse");
    File::create(&path).unwrap().set_len(64 * MIB).unwrap();
    let report = second(&scratch, &path, "--rw randread --direct");
    report.denies("A8");
    assert!(report.finding("A9").is_none(), "{}", report.told());
}

#[test]
fn half_a_hole_is_reported_with_its_share() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let path = scratch.random_file("half", 32 * MIB);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_len(64 * MIB).unwrap();
    file.sync_all().unwrap();
    let report = second(&scratch, &path, "--rw randread --direct");
    let sentence = report.sentence("A8");
    assert!(sentence.contains("50 %"), "{sentence}");
    assert_ne!(report.verdict(), "ok", "{}", report.told());
}

#[test]
fn tmpfs_is_reported_to_be_memory() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(mount) = Mount::tmpfs(&scratch, "64m") else { return };
    let file = mount.path("file");
    for how in ["--direct", "--buffered"] {
        let report = second(&scratch, &file, &format!("--rw randread --size 32m {how}"));
        report.denies("A16");
    }
    let report = second(&scratch, &file, "--rw randwrite --size 32m");
    report.denies("A16");
}

#[test]
fn extra_a_loop_on_a_cached_file_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::new(&scratch, 64 * MIB, &["--direct-io=off"]) else { return };
    fingerprint(&device.backing);
    let report = second(&scratch, &device.node, "--rw randread --direct");
    let finding = report.denies("A13");
    assert_eq!(finding["measures"], "loop_page_cache", "{finding}");
    assert!(report.finding("A1").is_none(), "{}", report.told());
}

#[test]
fn a_loop_over_holes_is_no_page_cache() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    for how in ["--direct-io=off", "--direct-io=on"] {
        let Some(device) = Loop::over_holes(&scratch, 64 * MIB, &[how]) else { return };
        let report = second(&scratch, &device.node, "--rw randread --direct");
        let finding = report.denies("A13");
        assert_eq!(finding["measures"], "loop_holes", "{how}: {finding}");
    }
}

#[test]
fn extra_direct_that_is_not_is_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 96 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "data=journal") else { return };
    // A small file: slow reads meet each block many times, too.
    let words = "--rw randread --direct --size 2m --evict";
    let report = second(&scratch, &mount.path("file"), words);
    report.named("A5");
    assert_eq!(report.verdict(), "wrong", "{}", report.told());
}

#[test]
fn pages_that_others_hold_are_reported() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", 32 * MIB);
    fingerprint(&file);
    let holder = mapping(&scratch, &file);
    let report = second(&scratch, &file, "--rw randread --evict");
    report.tells("A6");
    drop(holder);
}

#[test]
fn a_device_that_does_not_count_cannot_vouch() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(mut device) = Loop::direct(&scratch, 32 * MIB) else { return };
    if !device.set("queue/iostats", "0") {
        return skip("this kernel always counts on a loop device");
    }
    let report = second(&scratch, &device.node, "--rw randread --direct");
    report.named("A17");
    assert!(report.finding("A1").is_none(), "{}", report.told());
}

#[test]
fn zeros_written_are_no_news_to_a_reader() {
    // The layout that candor makes on its own is written and incompressible: no A-rule.
    let (_host, scratch) = (quiet_host(), Scratch::new());
    if !root() {
        return;
    }
    let report = second(&scratch, &scratch.path("own"), "--rw randread --direct --size 32m");
    let about_ground = report.heavy().into_iter().filter(|rule| rule.starts_with('A'));
    assert_eq!(about_ground.collect::<Vec<_>>(), [""; 0], "{}", report.told());
}

/// Writes and reads of new files on an overlay over this layer.
fn on_overlay(scratch: &Scratch, layers: &Mount, words: &str) -> Option<Report> {
    let overlay = Mount::overlay(scratch, layers, &layers.path("empty"))?;
    Some(second(scratch, &overlay.path("file"), words))
}

#[test]
fn an_overlay_is_judged_by_the_layer_that_holds_the_file() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(memory) = Mount::tmpfs(&scratch, "96m") else { return };
    for words in ["--direct --rw randwrite", "--direct --rw randread --bs 64k"] {
        let words = format!("{words} --size 32m");
        let Some(report) = on_overlay(&scratch, &memory, &words) else { return };
        assert!(report.denies("A16").to_string().contains("tmpfs"), "{}", report.told());
    }
    let Some(device) = Loop::direct(&scratch, 96 * MIB) else { return };
    let name = device.name().to_owned();
    let Some(disk) = Mount::ext4(&scratch, device, "noatime") else { return };
    let words = "--direct --rw randread --size 32m";
    let Some(report) = on_overlay(&scratch, &disk, words) else { return };
    assert_eq!(report.words("/phases/0/hosts/0/facts/targets/0/device/value"), name);
    assert!(["ok", "caution"].contains(&report.verdict()), "{}", report.told());
}

#[test]
fn an_overlay_whose_layers_are_invisible_is_judged_by_the_device_that_counts() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 96 * MIB) else { return };
    let name = device.name().to_owned();
    let Some(mut disk) = Mount::ext4(&scratch, device, "noatime") else { return };
    let Some(overlay) = Mount::overlay(&scratch, &disk, &disk.path("empty")) else { return };
    disk.hide();
    let path = overlay.path("file");
    for words in ["--direct --rw randwrite --bs 64k", "--direct --rw randread"] {
        let report = second(&scratch, &path, &format!("{words} --size 32m --keep --overwrite"));
        assert_eq!(report.words("/phases/0/hosts/0/facts/targets/0/device/value"), name);
        let exact = report.number("/phases/0/hosts/0/facts/targets/0/device_search/exact");
        assert!(exact >= 5.0, "{exact}");
        assert!(["ok", "caution"].contains(&report.verdict()), "{}", report.told());
    }
    let ran = candor(&["inspect", &path]);
    assert!(ran.out.contains(&format!("{name} was found by probe")), "{}", ran.out);
}

#[test]
fn a_file_of_a_lower_layer_is_read_there_and_written_above() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(upper) = Mount::tmpfs(&scratch, "96m") else { return };
    let Some(device) = Loop::direct(&scratch, 96 * MIB) else { return };
    let name = device.name().to_owned();
    let Some(lower) = Mount::ext4(&scratch, device, "noatime") else { return };
    random_file(&lower.path("file"), 32 * MIB);
    let Some(overlay) = Mount::overlay(&scratch, &upper, &lower.dir) else { return };
    let file = overlay.path("file");
    let read = second(&scratch, &file, "--direct --rw randread");
    assert_eq!(read.words("/phases/0/hosts/0/facts/targets/0/device/value"), name);
    assert!(["ok", "caution"].contains(&read.verdict()), "{}", read.told());
    second(&scratch, &file, "--direct --rw randwrite --overwrite").denies("A16");
    second(&scratch, &file, "--direct --rw randread").denies("A16");
}

#[test]
fn a_loop_on_a_file_that_has_no_path_is_not_verifiable() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 64 * MIB) else { return };
    std::fs::remove_file(&device.backing).expect("it is ours");
    let report = second(&scratch, &device.node, "--rw randread --direct");
    report.named("A19");
    assert_eq!(report.verdict(), "unverified", "{}", report.told());
}

#[test]
fn writing_the_same_pages_again_and_again_is_memory_whatever_is_flushed() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    if !scratch.on_disk() {
        return;
    }
    let words = "--buffered --rw write --bs 1m --size 32m --fsync-end";
    let report = second(&scratch, &scratch.path("file"), words);
    let told = report.denies("A3").to_string();
    assert!(told.contains("ever reached"), "{told}");
}

#[test]
fn fsync_on_a_mount_without_barriers_is_not_durable() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 96 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "barrier=0") else { return };
    let words = "--rw randwrite --bs 4k --size 16m --fsync-every 1";
    let report = second(&scratch, &mount.path("file"), words);
    let told = report.denies("C13").to_string();
    assert!(told.contains("is mounted with nobarrier"), "{told}");
    assert!(report.finding("C9").is_none(), "{}", report.told());
}

#[test]
fn a_cache_that_is_switched_to_write_through_stays_volatile() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(mut device) = Loop::direct(&scratch, 96 * MIB) else { return };
    if !device.set("queue/write_cache", "write through") {
        return skip("this kernel does not let caches of loop devices be switched");
    }
    let Some(mount) = Mount::ext4(&scratch, device, "noatime") else { return };
    let words = "--rw randwrite --bs 4k --size 16m --fsync-every 1";
    let report = second(&scratch, &mount.path("file"), words);
    let told = report.denies("C13").to_string();
    assert!(told.contains("is set to write through"), "{told}");
}
