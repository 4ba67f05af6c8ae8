//! Shipped scenarios run, each small and short, and leave nothing.

use crate::support::{Scratch, candor, measured, quiet_host, shared_host};

#[test]
fn every_scenario_runs_and_leaves_nothing() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let listed = candor(&["scenario", "list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.err);
    let names: Vec<&str> =
        listed.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.len(), 14, "{}", listed.out);
    for name in names {
        let shown = candor(&["scenario", "show", name]);
        assert!(shown.out.contains("# Results: "), "{name}: {}", shown.out);
        // io500 and scenarios on buckets have separate tests.
        if name == "io500" || shown.out.contains("[[bucket]]") {
            continue;
        }
        let small = ["scenario", "run", name, &scratch.dir(), "--scale", "0.02", "--seconds", "1"];
        let (ran, report) = measured(&scratch, &[&small[..], &["--no-follow-ups"]].concat());
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(report.list("/phases").len() > 1, "{name}");
        // A plan that counts on a cache says so beforehand.
        assert_ne!(report.verdict(), "wrong", "{name}: {}", report.told());
        assert_eq!(scratch.entries(), [""; 0], "{name}");
    }
}

#[test]
fn a_cache_that_is_wanted_is_the_result_of_the_second_pass() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let words = ["scenario", "run", "reread", &scratch.dir(), "--scale", "0.1"];
    let (ran, report) = measured(&scratch, &words);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let of = |at: usize| report.at(&format!("/judgement/phases/{at}"));
    assert_eq!(of(1)["answered_by"], "later_passes", "{}", report.told());
    let verdict = of(1)["verdict"].as_str().unwrap_or_default();
    assert!(matches!(verdict, "ok" | "caution"), "{verdict}: {}", report.told());
    assert!(of(0)["answered_by"].is_null(), "{}", report.told());
    // The first pass reads all of it once.
    assert_ne!(of(0)["verdict"], "wrong", "{}", report.told());
    assert!(!ran.err.contains("through the page cache"), "{}", ran.err);
}

#[test]
fn phases_of_io500_work_on_what_was_written_and_tell_results_and_score() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let words = ["scenario", "run", "io500", "--datadir", &scratch.dir(), "--stonewall", "0.3"];
    let (ran, report) = measured(&scratch, &[&words[..], &["--ranks", "2"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(scratch.entries(), [""; 0], "nothing is left");
    let results = ran.out.lines().filter(|line| line.starts_with("[RESULT] "));
    let results: Vec<Vec<&str>> =
        results.map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    assert_eq!(results.len(), 13, "{}", ran.out);
    for result in &results {
        let [_, name, value, unit, ":", "time", seconds, "seconds", ..] = result[..] else {
            panic!("{result:?}");
        };
        let is_of_bytes = name.starts_with("ior-");
        assert_eq!(unit, if is_of_bytes { "GiB/s" } else { "kIOPS" }, "{name}");
        let number = |text: &str| text.parse::<f64>().unwrap_or(-1.0);
        // A few looks at names take less than the millisecond that is printed.
        assert!(number(value) > 0.0 && number(seconds) >= 0.0, "{result:?}");
        let writes = name.ends_with("-write");
        assert_eq!(result.last() == Some(&"[INVALID]"), writes, "{name}: 0.3 s are no 300");
    }
    assert!(ran.out.contains("not a submission") && ran.out.contains("[SCORE ] Bandwidth "));
    let sum = |at: usize, pointer: &str| {
        let measured = report.list(&format!("/phases/{at}/measurements"));
        measured.iter().filter_map(|of| of.pointer(pointer)?.as_u64()).sum::<u64>()
    };
    let words = report.list("/phases/7/measurements");
    let checked = words[0].pointer("/verify/blocks").and_then(serde_json::Value::as_u64);
    assert_eq!(checked.map(|blocks| blocks * 47008), Some(sum(2, "/operations/write/bytes")));
    // Written bytes are read, made names looked up and removed: all of them, once.
    assert_eq!(sum(5, "/operations/read/bytes"), sum(0, "/operations/write/bytes"));
    assert_eq!(sum(7, "/operations/read/bytes"), sum(2, "/operations/write/bytes"));
    for (made, at, step) in
        [(1, 6, "stat"), (1, 9, "unlink"), (3, 8, "stat"), (3, 10, "read"), (3, 11, "unlink")]
    {
        let names = sum(made, "/operations/create/ops");
        assert!(names > 0 && names.is_multiple_of(2), "ranks come to one count: {names}");
        assert_eq!(sum(at, &format!("/operations/{step}/ops")), names, "{step} of phase {at}");
    }
    let found = sum(1, "/operations/create/ops") + sum(3, "/operations/create/ops");
    assert_eq!(sum(4, "/operations/stat/ops"), found);
}

#[test]
fn words_that_name_no_scenario_are_refused() {
    for (words, part) in [
        (&["scenario", "run"][..], "name a scenario: small-files"),
        (&["scenario", "show", "none"], "there is no scenario `none`"),
        (&["scenario", "run", "mail"], "name one after the scenario"),
        (&["scenario", "run", "mail", "/none"], "/none is no directory"),
        (&["scenario", "run", "mail", "/", "--scale", "0"], "no factor above 0"),
        (&["scenario", "run", "mail", "/", "--stonewall", "3"], "--stonewall is a flag of io500"),
        (&["scenario", "run", "io500"], "no directory is given: add --datadir DIRECTORY"),
        (&["scenario", "run", "io500", "/", "--datadir", "/"], "give one"),
        (&["scenario", "run", "io500", "/", "--scale", "2"], "--scale does not go with io500"),
        (&["scenario", "run", "io500", "/", "--dry-run"], "--dry-run does not go with io500"),
        (&["scenario", "run", "io500", "/", "--ranks", "0"], "no number of ranks"),
        (&["scenario", "run", "io500", "/none"], "/none is no directory"),
    ] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.err.contains(part)), (Some(2), true), "{}", ran.err);
    }
}
