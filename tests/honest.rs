//! Honest runs: candor has to believe them, and to name nothing that is not there.

use crate::support::{Loop, Mount, Report, Scratch, Zram, alone, fingerprint, measured, skip};

const MIB: u64 = 1 << 20;

/// What a busy machine does to any run: starvation of CPU, time stolen by the host, traffic of
/// others, unsteady seconds.
const BUSY: [&str; 5] = ["B8", "B13", "F10", "G2", "G3"];

/// Runs honest work for 3 s and expects nothing heavier than an explanation, `besides` excepted.
///
/// Where others keep the machine busy it tries again; what they cannot cause fails at once.
pub fn honest(scratch: &Scratch, target: &str, words: &str, besides: &[&str]) -> Option<Report> {
    let mut all = vec!["run", "--target", target];
    all.extend(words.split(' '));
    if !words.contains("--passes") {
        all.extend(["--seconds", "3"]);
    }
    let mut noise = String::new();
    for _ in 0..2 {
        let (ran, report) = measured(scratch, &all);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let mut heavy = report.heavy();
        heavy.retain(|rule| !besides.contains(&rule.as_str()));
        if heavy.is_empty() {
            return Some(report);
        }
        let others = heavy.iter().all(|rule| BUSY.contains(&rule.as_str()));
        assert!(others, "{words} is honest, but {}", report.told());
        noise = report.told();
    }
    skip(&format!("others keep this machine busy: {noise}"));
    None
}

/// Runs honest work and expects to be told that it can be believed.
pub fn believable(scratch: &Scratch, target: &str, words: &str) {
    if let Some(report) = honest(scratch, target, words, &[]) {
        assert_eq!(report.verdict(), "believable", "{}", report.told());
        assert!(report.words("/headline").starts_with("Believable"), "{}", report.told());
    }
}

#[test]
fn direct_reads_of_a_loop_device() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 128 * MIB) else { return };
    believable(&scratch, &device.node, "--direct --rw randread --engine io_uring --depth 16");
    believable(&scratch, &device.node, "--direct --rw randread --engine libaio --depth 4");
    believable(&scratch, &device.node, "--direct --rw read --bs 128k --workers 2 --share slice");
}

#[test]
fn direct_writes_of_a_loop_device() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 128 * MIB) else { return };
    let consent = "--direct --overwrite";
    // That direct does not mean durable is worth a remark, and true.
    honest(&scratch, &device.node, &format!("{consent} --rw randwrite --fsync-end"), &["C10"]);
    honest(&scratch, &device.node, &format!("{consent} --rw write --bs 128k"), &["C10"]);
    honest(&scratch, &device.node, &format!("{consent} --rw randwrite --fsync-every 1"), &[]);
}

#[test]
fn direct_work_on_ext4() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 160 * MIB) else { return };
    let Some(mount) = Mount::ext4(&scratch, device, "defaults") else { return };
    let size = "--direct --size 96m";
    let file = mount.path("own");
    believable(&scratch, &file, &format!("{size} --rw randread --engine io_uring --depth 8"));
    honest(&scratch, &file, &format!("{size} --rw randwrite --fsync-end"), &["C10"]);
    assert_eq!(mount.entries(), [""; 0], "files of candor's are left");
}

#[test]
fn a_cold_buffered_read_is_not_the_page_cache() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let file = scratch.random_file("file", 128 * MIB);
    fingerprint(&file);
    // One pass is over in no time, which may be remarked upon.
    let words = "--rw read --bs 128k --evict --passes 1";
    honest(&scratch, &file, words, &["G1"]);
}

#[test]
fn zram_is_memory_and_nothing_else() {
    let _alone = alone();
    let scratch = Scratch::new();
    let Some(device) = Zram::random(128 * MIB) else { return };
    for words in
        ["--direct --rw randread --engine io_uring --depth 32", "--direct --rw read --bs 64k"]
    {
        let Some(report) = honest(&scratch, &device.node, words, &["A16"]) else { return };
        report.denies("A16");
        // Nobody else uses this device.
        assert!(report.finding("F10").is_none(), "{}", report.told());
    }
}
