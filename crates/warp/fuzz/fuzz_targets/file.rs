//! Any file is read without panic, plain or compressed, and its results can be printed and stored.
//!
//! `cargo +nightly fuzz run file`, in the folder above.
#![no_main]

use candor_warp::aggregate::Settings;
use candor_warp::{compare, file, text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(results) = file::read("fuzz", input, &Settings::default()) else { return };
    assert!(!text::results(&results, true).is_empty());
    let _ = (text::segments(&results), compare::text(&results, &results));
    let mut stored = Vec::new();
    file::json::write(&results, &mut stored).expect("memory takes all bytes");
});
