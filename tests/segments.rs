//! Ranks on one shared file, from a plan's text to the report: opened in the phase, read by others,
//! checked by their words.

use crate::support::{Report, Scratch, candor};

fn plan(path: &str, phases: &str) -> String {
    format!(
        "occupy_memory = \"16m\"\n[[target]]\nname = \"shared\"\npath = \"{path}\"\n\
         kind = \"file\"\nsize = \"8m\"\nlayout = \"never\"\n{phases}"
    )
}

/// A phase of eight ranks, with lines of its job and of its blocks.
fn phase(name: &str, job: &str, blocks: &str) -> String {
    format!(
        "[[phase]]\nname = \"{name}\"\n[[phase.job]]\nworkers = 8\ntargets = [\"shared\"]\n{job}\n\
         [phase.job.work.blocks]\nsize = \"64k\"\nopening = \"in_stages\"\n\
         share = {{ segments = {{ block = \"256k\", count = 4 }} }}\n{blocks}\n"
    )
}

const WORDS: &str = "content = { fill = \"words\", words = { kind = \"offset\", seed = 42 } }";
const VERIFY: &str = "verify = { format = \"words\", interval = \"64k\" }";

#[test]
fn ranks_read_what_others_wrote() {
    let scratch = Scratch::new();
    let writes =
        phase("write", "", &format!("mix = \"write\"\n{WORDS}\ndurability.fsync_at_end = true"));
    let random = "rank_order.random = { seed = 7, distance = 1, repeats = true }";
    let reads = phase("read", random, &format!("access = \"permutation\"\n{WORDS}\n{VERIFY}"));
    let file = scratch.file("ranks.toml", &plan(&scratch.path("file"), &(writes + &reads)));
    let (json, csv) = (scratch.outside("ranks.json"), scratch.outside("ranks.csv"));
    let ran = candor(&["run", &file, "--json", &json, "--csv", &csv, "--no-history", "--verbose"]);
    assert_eq!(ran.code, Some(0), "{}{}", ran.err, ran.out);
    assert!(ran.out.contains("Stages of write, first begin to last end: open "), "{}", ran.out);
    assert!(ran.out.contains(" of it occupied by this run"), "{}", ran.out);
    assert_eq!(scratch.entries(), [""; 0], "what the workers made is removed");
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.violations(), [""; 0]);
    for (phase, op) in [(0, "write"), (1, "read")] {
        let of = |rest: &str| report.number(&format!("/phases/{phase}/measurements/0/{rest}"));
        assert_eq!(of(&format!("operations/{op}/ops")), 128.0);
        assert_eq!((of("operations/open/ops"), of("operations/close/ops")), (8.0, 8.0));
        let ends = ["open", "transfer", "close"].map(|stage| of(&format!("stages/{stage}/end_ns")));
        assert!(ends.is_sorted() && ends[2] <= of("elapsed_ns"), "{ends:?}");
        assert_eq!(of("last_done/ops"), 128.0, "no rate counts opening");
    }
    assert_eq!(report.number("/phases/1/measurements/0/verify/blocks"), 128.0);
    assert_eq!(report.number("/phases/0/measurements/0/operations/fsync/ops"), 8.0);
}

#[test]
fn words_of_another_seed_end_the_run() {
    let scratch = Scratch::new();
    let writes = phase("write", "", &format!("mix = \"write\"\n{WORDS}"));
    let other = WORDS.replace("42", "43");
    let reads = phase("read", "", &format!("{other}\n{VERIFY}"));
    let file = scratch.file("ranks.toml", &plan(&scratch.path("file"), &(writes + &reads)));
    let json = scratch.outside("ranks.json");
    let ran = candor(&["run", &file, "--json", &json, "--no-history"]);
    assert_ne!(ran.code, Some(0), "{}", ran.out);
    let report = Report::read(&json).expect("a report");
    assert_eq!(report.verdict(), "corrupt", "{}", ran.out);
    let first = report.at("/phases/1/measurements/0/verify/first/0");
    assert_eq!(first["kind"], "stale");
    let detail = first["detail"].as_str().expect("words");
    assert!(
        detail.contains("expected 0x") && detail.contains("the first wrong byte is 8;"),
        "{detail}"
    );
}
