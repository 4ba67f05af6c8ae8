use candor_plan::blocks::{Access, ZoneReset, Zones};
use candor_plan::units::Extent;

use super::*;

fn host() -> Nowhere {
    Nowhere::default()
        .with("file", Found::File(1 << 20))
        .with("/dev/zoned", Found::Device(Some(1 << 30)))
}

fn blocks(text: &str) -> Blocks {
    let text = format!("[a]\nfilename=file\nzonemode=zbd\nzonesize=64k\n{text}");
    let lowered =
        lowered_on(&text, &host()).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
    lowered.plan.phases[0].jobs[0].blocks().cloned().expect("blocks")
}

fn refused(text: &str, part: &str) {
    let text = format!("[a]\nzonemode=zbd\n{text}");
    let diagnostics = lowered_on(&text, &host()).expect_err(part);
    assert!(diagnostics.iter().any(|diagnostic| diagnostic.contains(part)), "{diagnostics:#?}");
}

#[test]
fn zones_are_lowered() {
    let all = "rw=randwrite\nzonecapacity=48k\nzoneskip=2z\nmax_open_zones=4\n\
               job_max_open_zones=2\nread_beyond_wp=1\nzone_reset_threshold=0.5\n\
               zone_reset_frequency=0.1\nwrite_zone_remainder=1\n\
               recover_zbd_write_error=1\ncontinue_on_error=io\n";
    let zones = Zones {
        length: Some(Bytes(64 << 10)),
        capacity: Some(Bytes(48 << 10)),
        gap: Bytes(128 << 10),
        open_max: Some(4),
        open_max_per_worker: Some(2),
        read_unwritten: true,
        short_writes: true,
        recover_pointers: true,
        reset: Some(ZoneReset { above_percent: 50.0, every: 10 }),
    };
    assert_eq!(blocks(all).zones, Some(zones));
    // Blocks that are cut come twice.
    assert_eq!(blocks(all).access, Access::Random);
}

#[test]
fn only_whole_zones_are_used() {
    let range = |text: &str| {
        let range = blocks(text).range;
        let bytes = |extent| if let Extent::Bytes(bytes) = extent { bytes.0 >> 10 } else { 0 };
        (bytes(range.start), range.length.map(bytes))
    };
    assert_eq!(range("offset=32k\nsize=512k\n"), (64, Some(448)));
    assert_eq!(range("offset=2z\nsize=3z\n"), (128, Some(192)));
    assert_eq!(range("size=50%\n"), (0, Some(512)));
    assert_eq!(range("size=100m\n"), (0, Some(1024)));
    assert_eq!(range("rw=read\n"), (0, Some(1024)));
}

#[test]
fn what_makes_no_zones_is_refused() {
    let (file, device) = ("filename=file\nsize=1m\n", "filename=/dev/zoned\nrw=write\n");
    refused(file, "need a length");
    refused(&format!("{file}zonesize=2m\n"), "fewer than a zone");
    refused("filename=absent\nsize=1m\nzonesize=64k\n", "has 0 bytes");
    refused(&format!("{file}zonesize=64k\nsize=32k\n"), "no whole zone");
    refused(&format!("{file}zonesize=64k\njob_max_open_zones=1\n"), "one for all");
    refused(&format!("{file}zonesize=64k\nrw=trim\n"), "a trim resets a zone");
    let verified = format!("{file}zonesize=64k\nrw=write\nverify=crc32c\n");
    refused(&format!("{verified}bs=48k\n"), "(fio: block size 49152 is not a divisor of");
    refused(&format!("{verified}verify_only=1\n"), "where zones have moved its writes");
    refused(&format!("{file}zonesize=64k\nrw=write\nbs=128k\n"), "(fio: buflen exceeds zone size)");
    refused(&format!("{file}zonesize=64\n"), "shorter than a sector");
    refused(&format!("{file}zonesize=64k\nzoneskip=1k\n"), "no whole zones");
    refused(device, "past the page cache");
    refused(&format!("{device}direct=1\nzonesize=1m\n"), "have 67108864 bytes");
    refused(&format!("{device}direct=1\nmax_open_zones=15\n"), "14 zones be open");
}

#[test]
fn pointers_are_recovered_where_the_job_goes_on() {
    let recovers = |text: &str| {
        let zones = blocks(&format!("recover_zbd_write_error=1\n{text}")).zones;
        zones.is_some_and(|zones| zones.recover_pointers)
    };
    assert!(recovers("rw=write\ncontinue_on_error=write\n"));
    assert!(recovers("rw=write\ncontinue_on_error=all\nverify=crc32c\n"));
    assert!(!recovers("rw=write\ncontinue_on_error=read\n"));
    assert!(!recovers("rw=read\n"));
    let file = "filename=file\nsize=1m\nzonesize=64k\nrw=write\nrecover_zbd_write_error=1\n";
    refused(file, "the first write that fails ends the job");
    let queued = format!("{file}continue_on_error=io\nverify=crc32c\n");
    refused(&format!("{queued}ioengine=libaio\n"), "fio breaks what verify is to find");
}

#[test]
fn a_zoned_device_knows_its_zones() {
    let text = "[a]\nfilename=/dev/zoned\nzonemode=zbd\nrw=write\ndirect=1\n";
    let zones = |text: &str| {
        let lowered =
            lowered_on(text, &host()).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"));
        lowered.plan.phases[0].jobs[0].blocks().cloned().and_then(|blocks| blocks.zones)
    };
    let own = Zones { length: Some(Bytes(64 << 20)), open_max: Some(14), ..Zones::default() };
    assert_eq!(zones(text), Some(own.clone()));
    let ignored = format!("{text}ignore_zone_limits=1\n");
    assert_eq!(zones(&ignored), Some(Zones { open_max: None, ..own }));
}
