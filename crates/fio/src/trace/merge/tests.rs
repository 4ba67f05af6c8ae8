use std::io::Cursor;

use super::super::blktrace::Endian;
use super::super::blktrace::tests::{event, made};
use super::*;
use crate::options::Trace as TraceOptions;
use crate::options::defaults;

fn part<'a>(name: &'a str, endian: Endian, times: &[u64], percent: f64, repeats: u64) -> Part<'a> {
    let bytes: Vec<u8> = times
        .iter()
        .flat_map(|time| event(endian, &made(time * 1000, *time, 512, 1, 2), b"behind"))
        .collect();
    Part { name, bytes: Box::new(Cursor::new(bytes)), percent, times: repeats }
}

/// Times in µs and sectors of what traces come to.
fn merged(parts: Vec<Part<'_>>) -> Vec<(u64, u64)> {
    let bytes = merge(parts).expect("merged");
    assert_eq!(bytes.len() % EVENT_BYTES, 0);
    let given = TraceOptions { redirect: Some("x".into()), ..defaults().trace };
    let read = super::super::read("z", Box::new(Cursor::new(bytes)), &given, &|_, _| None);
    let steps = read.expect("a trace").steps;
    steps.iter().map(|step| (step.at_ns / 1000, step.offset / 512)).collect()
}

#[test]
fn events_come_in_the_order_of_their_times() {
    let parts = vec![
        part("a", Endian::Little, &[10, 30, 50], 100.0, 1),
        part("b", Endian::Big, &[20, 30, 40], 100.0, 1),
    ];
    assert_eq!(merged(parts), [(0, 10), (10, 20), (20, 30), (20, 30), (30, 40), (40, 50)]);
}

#[test]
fn parts_are_stretched_and_repeated() {
    let parts = vec![
        part("a", Endian::Little, &[10, 30], 50.0, 2),
        part("b", Endian::Little, &[16], 100.0, 1),
    ];
    // Half as long: 5 and 15, then 20 and 30; the other one at 16.
    assert_eq!(merged(parts), [(0, 10), (10, 30), (11, 16), (15, 10), (25, 30)]);
}

#[test]
fn what_is_no_block_trace_is_reported() {
    let bytes = Box::new(Cursor::new(b"fio version 3 iolog\n".to_vec()));
    let part = Part { name: "t.log", bytes, percent: 100.0, times: 1 };
    let fault = merge(vec![part]).expect_err("it is text");
    assert_eq!(fault.to_string(), "t.log:byte 0: it is no block trace, and only those are merged");
}
