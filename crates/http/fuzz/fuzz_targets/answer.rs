//! Any bytes are read without panic, and in two splits with the same result.
//!
//! `cargo +nightly fuzz run answer`, in the folder above.
#![no_main]

use candor_http::{Answer, Fault, Into, Parser};
use libfuzzer_sys::fuzz_target;

/// Feeds pieces of this size.
fn read(bytes: &[u8], size: usize) -> (Answer, Result<(), Fault>) {
    let mut parser = Parser::default();
    parser.begin(Into::Answer, false);
    let mut answer = Answer::default();
    for piece in bytes.chunks(size) {
        if let Err(fault) = parser.feed(piece, &mut answer, &mut []) {
            return (answer, Err(fault));
        }
        if parser.is_done() {
            break;
        }
    }
    let end = if parser.is_done() { Ok(()) } else { parser.end_of_input(&answer) };
    (answer, end)
}

fuzz_target!(|bytes: &[u8]| {
    let (at_once, result) = read(bytes, bytes.len().max(1));
    let (by_bytes, same_result) = read(bytes, 1);
    assert_eq!(result.is_ok(), same_result.is_ok());
    if result.is_ok() {
        assert_eq!((at_once.status, at_once.body), (by_bytes.status, by_bytes.body));
    }
});
