//! `--html`: pages that commands write. Browsers look at pages in the tests of `crates/html`.

use std::fs;

use crate::support::{Scratch, candor};

#[test]
fn a_run_a_stored_report_and_a_comparison_are_pages() {
    let scratch = Scratch::new();
    let [file, json, page] = ["file", "report.json", "run.html"].map(|name| scratch.path(name));
    let words = ["run", "--target", &file, "--size", "8M", "--rw", "randread", "--seconds", "1"];
    let ran = candor(&[&words[..], &["--json", &json, "--html", &page]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains(&format!("The HTML page is in {page}.")), "{}", ran.err);
    let [shown, judged, compared] =
        ["shown.html", "judged.html", "compared.html"].map(|name| scratch.path(name));
    assert_eq!(candor(&["show", &json, "--html", &shown]).code, Some(0));
    assert_eq!(candor(&["judge", &json, "--html", &judged]).code, Some(0));
    assert_eq!(candor(&["compare", &json, &json, "--html", &compared]).code, Some(0));
    let read = |page: &str| fs::read_to_string(page).unwrap();
    assert_eq!(read(&page), read(&shown));
    for page in [&page, &judged, &compared] {
        let text = read(page);
        assert!(text.starts_with("<!doctype html>") && text.ends_with("</html>\n"), "{page}");
        assert!(text.contains("default-src &#39;none&#39;"), "{page}");
    }
    let text = read(&page);
    for part in ["id=\"timeline\"", "id=\"latency\"", "id=\"path\"", "report.json.gz", "plan.toml"]
    {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn a_page_needs_a_file_that_can_be_made() {
    let scratch = Scratch::new();
    for (place, word) in [("-", "takes a FILE"), ("/nowhere/x.html", "can be made")] {
        let ran = candor(&["run", "--target", &scratch.path("f"), "--html", place]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(word), "{}", ran.err);
    }
}
