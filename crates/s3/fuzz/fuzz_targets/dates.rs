//! Any head of an answer is read without panic: dates, wait times, checksums.
//!
//! `cargo +nightly fuzz run dates`, in the folder above.
#![no_main]

use candor_http::Answer;
use candor_s3::answers::{AnswerError, server_time};
use candor_s3::checksum;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for head in [
        text.to_owned(),
        format!("Date: {text}\r\n"),
        format!("Date: Fri, 24 May 2013 00:00:00 GMT\r\nRetry-After: {text}\r\n"),
        format!("x-amz-checksum-crc32: {text}\r\n"),
    ] {
        let answer = Answer { status: 503, head: head.into_bytes(), ..Answer::default() };
        let _ = server_time(&answer);
        let _ = AnswerError::of(&answer).retry_after;
        let _ = checksum::check(&answer, b"");
    }
});
