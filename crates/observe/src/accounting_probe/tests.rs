use candor_record::facts::{DeviceFacts, Fact, Filesystem, TargetFacts};

use super::*;
use crate::fake::Fake;

fn device(name: &str, below: &[&str]) -> DeviceFacts {
    let below = below.iter().map(|name| (*name).to_owned()).collect();
    DeviceFacts { name: name.into(), below, ..DeviceFacts::default() }
}

fn facts(devices: Vec<DeviceFacts>) -> Facts {
    let top = devices.first().map(|device| Fact::new(device.name.clone(), "test"));
    let target = TargetFacts { device: top, ..TargetFacts::default() };
    Facts { targets: vec![target], devices, ..Facts::default() }
}

fn trial(bytes: u64, counted: &[(&str, u64)], leaves: &[&str]) -> Trial {
    Trial {
        bytes,
        requested: 4096,
        counted: counted.iter().map(|(name, bytes)| ((*name).to_owned(), *bytes)).collect(),
        tops: 1,
        leaves: leaves.iter().map(|name| (*name).to_owned()).collect(),
        direct: true,
    }
}

#[test]
fn what_a_trial_shows() {
    use AccountingOutcome::{Counted, CountedBelow, NotCounted, NotMade, NothingToRead};
    let exact = trial(4096, &[("sda", 4096)], &["sda"]);
    assert_eq!((exact.outcome(), exact.is_exact()), (Counted, true));
    let foreign = trial(4096, &[("sda", 8192)], &["sda"]);
    assert_eq!((foreign.outcome(), foreign.is_exact()), (Counted, false));
    let short = trial(100, &[("sda", 512)], &["sda"]);
    assert_eq!((short.outcome(), short.is_exact()), (Counted, true));
    let head = trial(4096, &[("nvme0n1", 0), ("a", 4096), ("b", 0)], &["a", "b"]);
    assert_eq!((head.outcome(), head.is_exact()), (CountedBelow, true));
    let cached_image = trial(4096, &[("loop0", 4096), ("vda", 0)], &["vda"]);
    assert_eq!(cached_image.outcome(), Counted);
    assert_eq!(trial(4096, &[("sda", 512)], &["sda"]).outcome(), NotCounted);
    assert_eq!(trial(4096, &[], &[]).outcome(), NotCounted);
    assert_eq!(trial(0, &[("sda", 4096)], &["sda"]).outcome(), NothingToRead);
    let buffered = Trial { direct: false, ..trial(4096, &[("sda", 0)], &["sda"]) };
    assert_eq!(buffered.outcome(), NotMade);
}

#[test]
fn the_top_comes_first_and_the_leaves_last() {
    let devices = vec![
        device("dm-0", &["sda1", "md0"]),
        device("sda1", &["sda"]),
        device("md0", &["sdb", "sda"]),
        device("sda", &[]),
        device("sdb", &[]),
    ];
    assert_eq!(stack(&facts(devices), &["dm-0"]), ["dm-0", "sda1", "md0", "sda", "sdb"]);
    assert_eq!(stack(&facts(vec![]), &["gone"]), ["gone"]);
}

#[test]
fn units_are_pages_first() {
    let about = |offset| FileFacts {
        direct: DirectIo::Aligned { memory: 4, offset },
        ..FileFacts::default()
    };
    assert_eq!(units(&about(512), Some(512)), Units { preferred: 4096, least: 512 });
    assert_eq!(units(&about(512), Some(4096)), Units { preferred: 4096, least: 4096 });
    assert_eq!(units(&about(16_384), None), Units { preferred: 16_384, least: 16_384 });
    assert_eq!(units(&FileFacts::default(), None), Units { preferred: 4096, least: 4096 });
    assert_eq!(units(&about(0), Some(7)), Units { preferred: 4096, least: 4096 });
}

/// A target on a fake disk whose counters never move.
fn on_a_silent_disk() -> (Fake, Facts) {
    let fake = Fake::new();
    fake.disk("sda", "8:0", "pci0000:00/block/sda");
    fake.write("sys/class/block/sda/stat", "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
    (fake, facts(vec![device("sda", &[])]))
}

fn outcome(fake: &Fake, facts: &Facts, path: &Path) -> (AccountingOutcome, Option<String>) {
    let (probe, missing) = probe(facts, 0, path, None, &fake.roots);
    (probe.outcome, missing.map(|missing| missing.why))
}

#[test]
fn a_disk_that_does_not_count() {
    let (fake, facts) = on_a_silent_disk();
    let file = fake.path("data").join("f");
    std::fs::write(&file, vec![7; 300_000]).expect("written");
    File::open(&file).and_then(|file| file.sync_all()).expect("synced");
    let (probe, missing) = probe(&facts, 0, &file, None, &fake.roots);
    if probe.outcome == AccountingOutcome::NotMade {
        return eprintln!("skipped: {}", missing.map_or_else(String::new, |m| m.why));
    }
    assert_eq!((probe.outcome, missing), (AccountingOutcome::NotCounted, None));
    assert_eq!((probe.bytes, probe.counted), (65_536, vec![("sda".to_owned(), 0)]));
}

#[test]
fn what_needs_no_device_proves_nothing() {
    let (fake, mut facts) = on_a_silent_disk();
    let hole = fake.path("data").join("hole");
    File::create(&hole).and_then(|file| file.set_len(1 << 20)).expect("a hole");
    let empty = fake.path("data").join("empty");
    File::create(&empty).expect("empty");
    if file_facts(&hole).is_ok_and(|facts| facts.extents.is_some()) {
        assert_eq!(outcome(&fake, &facts, &hole).0, AccountingOutcome::NothingToRead);
    }
    assert_eq!(outcome(&fake, &facts, &empty).0, AccountingOutcome::NothingToRead);
    let absent = fake.path("data").join("absent");
    assert_eq!(outcome(&fake, &facts, &absent).0, AccountingOutcome::NothingToRead);
    facts.targets[0].filesystem =
        Some(Filesystem { kind: "tmpfs".into(), in_memory: true, ..Filesystem::default() });
    let (found, why) = outcome(&fake, &facts, &hole);
    assert_eq!(found, AccountingOutcome::NothingToRead);
    assert_eq!(why.as_deref(), Some("tmpfs keeps its files in memory"));
}

#[test]
fn what_cannot_be_read_is_not_made() {
    let (fake, facts) = on_a_silent_disk();
    assert_eq!(outcome(&fake, &facts, &fake.path("data")).0, AccountingOutcome::NotMade);
    let missing = probe(&facts, 9, Path::new("/x"), None, &fake.roots).1.expect("a reason");
    assert_eq!(missing.what, "accounting probe of /x");
    assert_eq!(
        probe(&facts, 9, Path::new("/x"), None, &fake.roots).0.outcome,
        AccountingOutcome::NotMade
    );
}

#[test]
fn a_device_that_a_container_lacks_is_no_matter_of_the_user() {
    let enable = |errno| refused(&io::Error::from_raw_os_error(errno)).1.enable;
    assert!(enable(libc::EACCES).contains("root"));
    let by_rule = enable(libc::EPERM);
    assert!(by_rule.contains("--device") && !by_rule.contains("root"), "{by_rule}");
}
