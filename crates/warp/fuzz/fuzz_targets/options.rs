//! Any command line is read without panic; mistakes have sentences.
//!
//! `cargo +nightly fuzz run options`, in the folder above.
#![no_main]

use std::ffi::OsString;

use candor_front::Answer;
use candor_front::evidence::Surroundings;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| {
    let words = std::iter::once("warp").chain(input.lines());
    let argv: Vec<OsString> = words.map(Into::into).collect();
    let mut files = Surroundings { files: &[("list", "a:1,b{1...3}:2")], variables: &[] };
    match candor_warp::options::read(&argv, &mut files) {
        Ok(options) => assert!(options.connection.hosts.len() <= 1 << 16),
        Err(Answer::Text(text)) => assert!(!text.is_empty()),
        Err(Answer::Refused(errors, texts)) => {
            assert!(!errors.is_empty());
            errors.iter().for_each(|error| assert!(!error.describe(&texts).is_empty()));
        }
    }
});
