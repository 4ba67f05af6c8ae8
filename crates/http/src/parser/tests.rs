//! Answers in all splits, and bytes that are no answer.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Size of the slot's buffer.
const ROOM: usize = 40_000;

/// Result of reading all bytes.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: u16,
    head: String,
    body: Vec<u8>,
    body_bytes: u64,
    received_bytes: u64,
    room: Vec<u8>,
    is_done: bool,
    keep_alive: bool,
    fault: Option<Fault>,
}

/// Reads bytes in takes of these sizes, the last one repeatedly. `end`: the connection then ends.
fn read_in(bytes: &[u8], into: Into, takes: &[usize], end: bool) -> Outcome {
    let mut parser = Parser::default();
    parser.begin(into, false);
    let mut answer = Answer::default();
    let mut room = vec![0; ROOM];
    let mut at = 0;
    let mut fault = None;
    let mut takes = takes.iter().copied().chain(std::iter::repeat(*takes.last().unwrap()));
    while at < bytes.len() && !parser.is_done() && fault.is_none() {
        let rest = &bytes[at..];
        let take = takes.next().unwrap().min(rest.len());
        let fed = match parser.direct(&answer, room.len()) {
            Direct::Nothing => parser.feed(&rest[..take], &mut answer, &mut room),
            Direct::Slot(range) => {
                let got = take.min(range.len());
                room[range.start..range.start + got].copy_from_slice(&rest[..got]);
                parser.received(got as u64, &mut answer);
                Ok(got)
            }
            Direct::Drop(most) => {
                let got = usize::try_from(most).map_or(take, |most| most.min(take));
                parser.received(got as u64, &mut answer);
                Ok(got)
            }
        };
        match fed {
            Ok(used) => at += used,
            Err(error) => fault = Some(error),
        }
    }
    if end && fault.is_none() && !parser.is_done() {
        fault = parser.end_of_input(&answer).err();
    }
    Outcome {
        status: answer.status,
        head: String::from_utf8_lossy(&answer.head).into_owned(),
        body: answer.body,
        body_bytes: answer.body_bytes,
        received_bytes: answer.received_bytes,
        room,
        is_done: parser.is_done(),
        keep_alive: parser.keep_alive(),
        fault,
    }
}

/// Reads text into the answer, at once.
fn read(text: &str) -> Outcome {
    read_in(text.as_bytes(), Into::Answer, &[text.len().max(1)], true)
}

fn message(text: &str) -> String {
    let outcome = read(text);
    outcome.fault.unwrap_or_else(|| panic!("{text:?} is accepted")).message
}

#[test]
fn framings_end_bodies() {
    for (text, body, keep_alive) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello", "hello", true),
        ("HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", "", true),
        ("HTTP/1.1 200\r\ncontent-length:5\r\n\r\nhello", "hello", true),
        ("HTTP/1.1 204 No Content\r\n\r\n", "", true),
        ("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", "", true),
        ("HTTP/1.1 200 OK\r\n\r\nhello", "hello", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", false),
        (
            "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 5\r\n\r\nhello",
            "hello",
            true,
        ),
        ("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello", "hello", false),
        ("\r\nHTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "hello", true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
             3\r\nhel\r\n2;a=b\r\nlo\r\n00\r\nX: y\r\nZ: q\r\n\r\n",
            "hello",
            true,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n\
             5\r\nhello\r\n0\r\n\r\n",
            "hello",
            false,
        ),
        (
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 \r\n\r\nHTTP/1.1 103 Early\r\nA: b\r\n\r\n\
             HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "hello",
            true,
        ),
    ] {
        let outcome = read(text);
        assert_eq!(outcome.fault, None, "{text:?}");
        assert!(outcome.is_done, "{text:?}");
        assert_eq!(String::from_utf8_lossy(&outcome.body), body, "{text:?}");
        assert_eq!(outcome.keep_alive, keep_alive, "{text:?}");
        assert_eq!(outcome.received_bytes, text.len() as u64, "{text:?}");
        for split in 1..text.len() {
            let again = read_in(text.as_bytes(), Into::Answer, &[split, text.len()], true);
            assert_eq!(again, outcome, "{text:?} split at {split}");
        }
    }
}

#[test]
fn the_answer_keeps_the_lines_of_the_final_head() {
    let outcome = read(
        "HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 404 Not Found\r\nX: y\r\n\
         Content-Length: 2\r\n\r\nno",
    );
    assert_eq!(outcome.head, "X: y\r\nContent-Length: 2\r\n\r\n");
    assert_eq!((outcome.status, outcome.body.as_slice()), (404, b"no".as_slice()));
}

#[test]
fn violations_are_named() {
    for (text, rule) in [
        ("SSH-2.0-OpenSSH\r\n", "begins with \"SSH-2.0-OpenSSH\\r\""),
        ("HTTP/2 200\r\n", "begins with"),
        ("\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n\r\n", "begins with empty lines"),
        ("\u{15}\u{3}", "write https://"),
        ("HTTP/1.1 2x0 OK\r\n\r\n", "the answer's head"),
        ("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "the answer's head"),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "\"-1\" is not a number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "\"+1\" is not a number"),
        ("HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "\"\" is not a number"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "two different"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "\"gzip\""),
        ("HTTP/1.1 101 Switching\r\n\r\n", "status 101"),
        ("HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n", "holds 67108864"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx", "not hexadecimal"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc", "longer than its size"),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n11111111111111111\r\n",
            "above 2^64",
        ),
    ] {
        let message = message(text);
        assert!(message.contains(rule), "{text:?}: {message}");
    }
}

#[test]
fn an_early_end_names_the_bytes() {
    for (text, kind, rule) in [
        ("", FaultKind::Reset, "before the answer"),
        ("HTTP/1.1 200", FaultKind::Reset, "within the answer's head, after 12 bytes"),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
            FaultKind::ShortBody,
            "after 3 of 5 bytes",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            FaultKind::ShortBody,
            "before the last chunk",
        ),
    ] {
        let fault = read(text).fault.unwrap();
        assert!(fault.kind == kind && fault.message.contains(rule), "{text:?}: {fault:?}");
    }
}

#[test]
fn limits_hold() {
    let long_head = format!("HTTP/1.1 200 OK\r\nA: {}", "b".repeat(HEAD_LIMIT));
    assert!(message(&long_head).contains("longer than 65536 bytes"));
    let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(200));
    assert!(message(&many_headers).contains("the answer's head"));
    assert!(message(&"HTTP/1.1 100 \r\n\r\n".repeat(101)).contains("more than 100 interim"));
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let trailer = format!("{chunked}0\r\nA: {}", "b".repeat(HEAD_LIMIT));
    assert!(message(&trailer).contains("a trailer above 64 KiB"));
    let extension = format!("{chunked}1;{}", "b".repeat(HEAD_LIMIT + 2));
    assert!(message(&extension).contains("an extension above 64 KiB"));
}

#[test]
fn only_the_start_of_an_errors_body_is_collected() {
    let body = "x".repeat(ERROR_LIMIT + 9);
    let text = format!("HTTP/1.1 500 Oops\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    for into in [Into::Answer, Into::Slot, Into::Nothing] {
        let outcome = read_in(text.as_bytes(), into, &[1000], true);
        assert_eq!((outcome.fault, outcome.body.len()), (None, ERROR_LIMIT));
        assert_eq!(outcome.body_bytes, body.len() as u64);
    }
}

#[test]
fn a_body_longer_than_the_slot_is_a_fault() {
    let announced = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", ROOM + 1);
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(ROOM + 1));
    for text in [announced, endless] {
        let fault = read_in(text.as_bytes(), Into::Slot, &[7000], true).fault.unwrap();
        assert_eq!(fault.kind, FaultKind::Malformed);
        assert!(fault.message.contains("at least 40001 bytes; its destination holds 40000"));
    }
}

#[test]
fn bytes_after_an_answer_stay() {
    let text = b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\n";
    let outcome = read_in(text, Into::Answer, &[text.len()], false);
    assert!(outcome.is_done);
    assert_eq!(outcome.received_bytes, 27);
}

#[test]
fn answers_to_head_requests_have_no_body() {
    let mut parser = Parser::default();
    parser.begin(Into::Answer, true);
    let mut answer = Answer::default();
    let text = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(parser.feed(text, &mut answer, &mut []), Ok(text.len()));
    assert!(parser.is_done() && parser.keep_alive());
    assert_eq!(answer.header("content-length"), Some("5"));
}

#[derive(Clone, Copy, Debug)]
enum Coding {
    Length,
    Chunks(usize),
    Close,
}

/// An answer with this body, after interim answers.
fn encode(body: &[u8], coding: Coding, status: u16, interim: usize) -> Vec<u8> {
    let mut text = b"HTTP/1.1 100 \r\n\r\n".repeat(interim);
    text.extend_from_slice(format!("HTTP/1.1 {status} Text\r\nX-Id: 7\r\n").as_bytes());
    match coding {
        Coding::Length => {
            text.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
            text.extend_from_slice(body);
        }
        Coding::Chunks(size) => {
            text.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            for chunk in body.chunks(size) {
                text.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                text.extend_from_slice(chunk);
                text.extend_from_slice(b"\r\n");
            }
            text.extend_from_slice(b"0\r\nX-Sum: 1\r\n\r\n");
        }
        Coding::Close => {
            text.extend_from_slice(b"\r\n");
            text.extend_from_slice(body);
        }
    }
    text
}

fn codings() -> impl Strategy<Value = Coding> {
    prop_oneof![
        Just(Coding::Length),
        (1_usize..30_000).prop_map(Coding::Chunks),
        Just(Coding::Close)
    ]
}

fn destinations() -> impl Strategy<Value = Into> {
    prop_oneof![Just(Into::Answer), Just(Into::Slot), Just(Into::Nothing)]
}

proptest! {
    #[test]
    fn any_split_gives_the_same_answer(
        body in vec(any::<u8>(), 0..40_000),
        coding in codings(),
        into in destinations(),
        interim in 0_usize..3,
        takes in vec(1_usize..20_000, 1..20),
    ) {
        let bytes = encode(&body, coding, 200, interim);
        let outcome = read_in(&bytes, into, &takes, true);
        prop_assert_eq!(&outcome.fault, &None);
        prop_assert!(outcome.is_done);
        prop_assert_eq!(outcome.status, 200);
        prop_assert_eq!(outcome.body_bytes, body.len() as u64);
        prop_assert_eq!(outcome.received_bytes, bytes.len() as u64);
        prop_assert!(outcome.head.starts_with("X-Id: 7\r\n"));
        match into {
            Into::Answer => prop_assert!(outcome.body == body),
            Into::Slot => prop_assert!(outcome.room[..body.len()] == body),
            Into::Nothing => prop_assert!(outcome.body.is_empty()),
        }
    }

    #[test]
    fn single_bytes_give_the_same_answer(
        body in vec(any::<u8>(), 0..300),
        coding in codings(),
        status in prop_oneof![Just(200_u16), Just(404)],
        interim in 0_usize..3,
    ) {
        let bytes = encode(&body, coding, status, interim);
        let one = read_in(&bytes, Into::Answer, &[1], true);
        prop_assert_eq!(&one.body, &body);
        prop_assert_eq!(one, read_in(&bytes, Into::Answer, &[bytes.len()], true));
    }

    #[test]
    fn changed_bytes_never_panic(
        body in vec(any::<u8>(), 0..100),
        coding in codings(),
        into in destinations(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        take in 1_usize..200,
    ) {
        let mut bytes = encode(&body, coding, 200, 1);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let outcome = read_in(&bytes, into, &[take], true);
        prop_assert!(outcome.is_done || outcome.fault.is_some());
        let at_once = read_in(&bytes, into, &[bytes.len()], true);
        prop_assert_eq!(outcome.fault.is_some(), at_once.fault.is_some());
    }

    #[test]
    fn garbage_never_panics(bytes in vec(any::<u8>(), 0..2000), take in 1_usize..50) {
        let outcome = read_in(&bytes, Into::Answer, &[take], true);
        prop_assert!(outcome.is_done || outcome.fault.is_some());
    }
}
