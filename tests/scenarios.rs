//! Shipped scenarios run, each small and short, and leave nothing.

use crate::support::{Scratch, alone, candor, measured};

#[test]
fn every_scenario_runs_and_leaves_nothing() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let listed = candor(&["scenario", "list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let names: Vec<&str> =
        listed.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.len(), 9, "{}", listed.out);
    for name in names {
        let shown = candor(&["scenario", "show", name]);
        assert!(shown.out.contains("# Read it so: "), "{name}: {}", shown.out);
        let small = ["scenario", "run", name, &scratch.dir(), "--scale", "0.02", "--seconds", "1"];
        let (ran, report) = measured(&scratch, &[&small[..], &["--no-follow-ups"]].concat());
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(report.list("/phases").len() > 1, "{name}");
        assert_eq!(scratch.entries(), [""; 0], "{name}");
    }
}

#[test]
fn a_cache_that_is_wanted_is_the_result_of_the_second_pass() {
    let (_alone, scratch) = (alone(), Scratch::new());
    let words = ["scenario", "run", "reread", &scratch.dir(), "--scale", "0.1"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let of = |at: usize| report.at(&format!("/judgement/phases/{at}"));
    assert_eq!(of(1)["answered_by"], "later_passes", "{}", report.told());
    let verdict = of(1)["verdict"].as_str().unwrap_or_default();
    assert!(matches!(verdict, "believable" | "with_remarks"), "{verdict}: {}", report.told());
    assert!(of(0)["answered_by"].is_null(), "{}", report.told());
    // The first pass reads all of it once.
    assert_ne!(of(0)["verdict"], "measures_else", "{}", report.told());
    assert!(!ran.err.contains("through the page cache"), "{}", ran.err);
}

#[test]
fn words_that_name_no_scenario_are_refused() {
    for (words, part) in [
        (&["scenario", "run"][..], "name a scenario: small-files"),
        (&["scenario", "show", "none"], "there is no scenario `none`"),
        (&["scenario", "run", "mail"], "name a directory"),
        (&["scenario", "run", "mail", "/none"], "/none is no directory"),
        (&["scenario", "run", "mail", "/", "--scale", "0"], "no factor above 0"),
    ] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.err.contains(part)), (Some(2), true), "{}", ran.err);
    }
}
