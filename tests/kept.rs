//! Documents that earlier versions wrote are read by this one.

use std::fs;

use crate::support::{Scratch, candor};

#[test]
fn reports_of_earlier_versions_are_judged_compared_drawn_and_repeated() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/kept");
    let scratch = Scratch::new();
    let mut read = 0;
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let report = entry.path().display().to_string();
        let picture = scratch.outside("picture.svg");
        for (words, part) in [
            (vec!["show", &report], "6637 reads/s"),
            (vec!["judge", &report], "6637 reads/s"),
            (vec!["compare", &report, &report], "0 %"),
            (vec!["run", &report, "--dry-run"], "size = \"32MiB\""),
            (vec!["chart", &report, "--kind", "percentiles", "--out", &picture], ""),
        ] {
            let ran = candor(&words);
            assert_eq!(ran.code, Some(0), "{words:?}: {}", ran.err);
            assert!(ran.out.contains(part), "{words:?}: {}", ran.out);
        }
        read += 1;
    }
    assert!(read > 0);
}
