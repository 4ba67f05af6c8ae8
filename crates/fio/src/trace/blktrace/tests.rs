use std::io::Cursor;
use std::path::PathBuf;

use super::*;
use crate::options::Skip;
use crate::options::defaults;

/// Classes of events that only tests need.
const READ: u32 = 1;
const QUEUED: u32 = 1 << 4;

/// An event's bytes, with `behind` after it.
pub fn event(endian: Endian, event: &Event, behind: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut put = |value: u64, width: usize| match endian {
        Endian::Little => bytes.extend(&value.to_le_bytes()[..width]),
        Endian::Big => bytes.extend(&value.to_be_bytes()[8 - width..]),
    };
    put(u64::from(MAGIC | VERSION), 4);
    put(0, 4);
    put(event.time_ns, 8);
    put(event.sector, 8);
    for word in [event.bytes, event.action, event.pid, event.device, event.cpu] {
        put(word.into(), 4);
    }
    put(event.error.into(), 2);
    put(behind.len() as u64, 2);
    bytes.extend(behind);
    bytes
}

/// An event of device 8:0.
pub fn made(time_ns: u64, sector: u64, bytes: u32, kind: u32, classes: u32) -> Event {
    let action = kind | (classes | QUEUED) << 16;
    Event { time_ns, sector, bytes, action, device: 8 << 20, pid: 7, cpu: 0, error: 0 }
}

fn read_as(given: &TraceOptions, bytes: Vec<u8>) -> Result<Recorded, String> {
    let read = super::super::read("t.bin", Box::new(Cursor::new(bytes)), given, &|major, minor| {
        ((major, minor) == (8, 0)).then(|| PathBuf::from("/dev/a"))
    });
    read.map_err(|fault| format!("{fault}; {}", fault.remedy))
}

fn some(endian: Endian) -> Vec<u8> {
    let notify = made(0, 0, 0, 0, NOTIFY);
    let list = [
        event(endian, &notify, b"a process"),
        event(endian, &made(1_000_000, 8, 4096, QUEUE, WRITE), b""),
        event(endian, &made(1_500_000, 8, 4096, 7, WRITE), b""),
        event(endian, &made(2_000_000, 16, 8192, QUEUE, READ), b"behind"),
        event(endian, &made(2_100_000, 24, 512, BACK_MERGE, READ), b""),
        event(endian, &made(3_000_000, 8, 4096, COMPLETE, WRITE), b""),
        event(endian, &made(4_000_000, 24, 4096, QUEUE, WRITE | FLUSH), b""),
        event(endian, &made(5_000_000, 0, 0, QUEUE, WRITE | FLUSH), b""),
        event(endian, &made(6_000_000, 32, 4096, QUEUE, WRITE | DISCARD), b""),
        event(endian, &made(7_000_000, 32, 4096, QUEUE, COMMAND), b""),
    ];
    list.concat()
}

#[test]
fn what_was_queued_is_done_in_either_order_of_bytes() {
    for endian in [Endian::Little, Endian::Big] {
        let recorded = read_as(&defaults().trace, some(endian)).expect("a trace");
        assert_eq!(recorded.files, ["/dev/a"]);
        assert_eq!(recorded.depth, Some(1));
        let steps: Vec<_> = recorded
            .steps
            .iter()
            .map(|s| (s.at_ns / 1000, s.action.name(), s.offset, s.length))
            .collect();
        assert_eq!(
            steps,
            [
                (0, "write", 4096, 4096),
                (1000, "read", 8192, 8192),
                (3000, "fsync", 0, 0),
                (3000, "write", 12288, 4096),
                (4000, "fsync", 0, 0),
                (5000, "trim", 16384, 4096),
            ]
        );
    }
}

#[test]
fn options_hold_for_block_traces_too() {
    let skip = Skip { flush: true, trim: true, ..Skip::default() };
    let given = TraceOptions { skip, scale: 3, align: 1024, no_stall: true, ..defaults().trace };
    let recorded = read_as(&given, some(Endian::Little)).expect("a trace");
    let steps: Vec<_> = recorded.steps.iter().map(|s| (s.at_ns, s.offset)).collect();
    assert_eq!(steps, [(0, 1024), (0, 2048), (0, 4096)]);
}

#[test]
fn devices_are_found_or_redirected() {
    let elsewhere = Event { device: 9 << 20 | 3, ..made(0, 0, 512, QUEUE, READ) };
    let bytes = event(Endian::Little, &elsewhere, b"");
    let error = read_as(&defaults().trace, bytes.clone()).expect_err("unknown");
    assert_eq!(error, "t.bin:byte 0: there is no device 9:3 here; name one with replay_redirect");
    let given = TraceOptions { redirect: Some("/dev/b".into()), ..defaults().trace };
    assert_eq!(read_as(&given, bytes).expect("a trace").files, ["/dev/b"]);
}

#[test]
fn damage_is_reported_and_a_cut_end_is_left_out() {
    let mut bytes = some(Endian::Little);
    bytes.extend(event(Endian::Little, &made(9, 0, 512, QUEUE, READ), b"")[..40].iter());
    assert_eq!(read_as(&defaults().trace, bytes.clone()).expect("a trace").steps.len(), 6);
    bytes.truncate(48);
    bytes.extend([0x61; 60]);
    bytes[46] = 0;
    let error = read_as(&defaults().trace, bytes).expect_err("damaged");
    assert!(
        error.starts_with("t.bin:byte 48: 0x61616161 is not the mark of an event; "),
        "{error}"
    );
    let far = event(Endian::Big, &made(0, u64::MAX, 512, QUEUE, READ), b"");
    let error = read_as(&defaults().trace, far).expect_err("beyond all devices");
    assert!(error.contains("lies beyond all devices"), "{error}");
}

#[test]
fn depth_without_completions_is_bounded() {
    let list: Vec<u8> = (0..3000)
        .flat_map(|nth| event(Endian::Little, &made(nth, nth, 512, QUEUE, READ), b""))
        .collect();
    assert_eq!(read_as(&defaults().trace, list).expect("a trace").depth, Some(1024));
}
