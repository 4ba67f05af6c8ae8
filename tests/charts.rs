//! `candor chart`: pictures of reports and of other tools' results, and what it refuses.

use std::fs;

use crate::support::{Scratch, candor};

/// Reads of a file at three depths, for a second each.
fn swept(scratch: &Scratch) -> String {
    let (report, file) = (scratch.path("sweep.json"), scratch.path("file"));
    let words = "run --rw randread --bs 4k --size 4m --engine io_uring --depth 1,2,4 --seconds 1";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.extend(["--target", &file, "--json", &report, "--quiet"]);
    let ran = candor(&words);
    assert!(fs::metadata(&report).is_ok(), "{}", ran.err);
    report
}

#[test]
fn a_sweep_is_a_picture_against_depth_that_names_its_verdict() {
    let scratch = Scratch::new();
    let report = swept(&scratch);
    let svg = scratch.path("sweep.svg");
    let ran = candor(&["chart", &report, "-o", &svg]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let text = fs::read_to_string(&svg).expect("a picture");
    for word in ["<svg ", "role=\"img\"", "IOPS", "Operations in flight", "candor 0.", "/file"] {
        assert!(text.contains(word), "no {word} in {text}");
    }
    // The file is in the page cache, or its device cannot be seen: no picture hides that.
    let verdict = fs::read_to_string(&report).expect("a report");
    let is_sound = verdict.contains("\"verdict\": \"ok\"");
    assert!(is_sound || text.contains("class=\"caution") || text.contains("with caution"));
    let printed = candor(&["chart", &report, "-o", "-", "--kind", "percentiles"]);
    assert!(printed.out.contains("99") && printed.out.ends_with("</svg>\n"), "{}", printed.err);
}

#[test]
fn a_png_has_pixels_or_a_sentence_says_what_lacks() {
    let scratch = Scratch::new();
    let png = scratch.path("fio.png");
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../readers/tests/results/fio-plus.json");
    let ran = candor(&["chart", results, "-o", &png, "--width", "640"]);
    match ran.code {
        Some(0) => {
            let bytes = fs::read(&png).expect("a picture");
            assert_eq!(&bytes[1..4], b"PNG");
            // Twice 640, in the header.
            assert_eq!(&bytes[16..20], &1280u32.to_be_bytes());
        }
        _ => assert!(ran.err.contains("font") || ran.err.contains("feature"), "{}", ran.err),
    }
}

#[test]
fn changes_are_drawn_as_they_are_compared() {
    let scratch = Scratch::new();
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../readers/tests/results/fio-plus.json");
    let [other, svg] = ["other.json", "changes.svg"].map(|name| scratch.path(name));
    let text = fs::read_to_string(results).expect("results");
    fs::write(&other, text.replace(r#""bs" : "4k""#, r#""bs" : "64k""#)).expect("written");
    let words = ["chart", results, results, &other, "--kind", "changes", "-o", &svg];
    let ran = candor(&words);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let text = fs::read_to_string(&svg).expect("a picture");
    for word in [">3 runs: changes<", "Change from A (", ") to B (", ">0 %, ", "Unfair comparison"]
    {
        assert!(text.contains(word), "no {word} in {text}");
    }
    let ran = candor(&[&words[..], &["--across", "plan,host,storage"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let text = fs::read_to_string(&svg).expect("a picture");
    assert!(!text.contains("Unfair comparison"), "{text}");
}

#[test]
fn what_cannot_be_drawn_is_a_sentence() {
    let scratch = Scratch::new();
    let results = concat!(env!("CARGO_MANIFEST_DIR"), "/../readers/tests/results/fio-status.json");
    let out = scratch.path("x.svg");
    for (words, code, word) in [
        (&["chart", results, "-o", "x.gif"][..], 2, ".svg or .png"),
        (&["chart", results, "-o", &out, "--kind", "pie"], 2, "`pie` is none of timeline"),
        (&["chart", results, "-o", &out, "--width", "9"], 2, "no width from 320 to 4000"),
        (&["chart", results, "-o", &out, "--kind", "heatmap"], 1, "several values of two"),
        (&["chart", results, "-o", &out, "--kind", "changes"], 1, "compare with the first"),
        (&["chart", results, "-o", &out, "--across", "depth"], 2, "give --kind changes"),
        (&["chart", "/nonexistent.json", "-o", &out], 1, "cannot be read"),
    ] {
        let ran = candor(words);
        assert_eq!(ran.code, Some(code), "{words:?}: {}", ran.err);
        assert!(ran.err.contains(word), "{words:?}: {}", ran.err);
    }
}
