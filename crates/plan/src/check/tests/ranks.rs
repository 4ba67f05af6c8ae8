//! Rules about ranks, segments, words, and files that are opened in the phase.

use super::*;

/// Errors about blocks: rule, place, lines.
#[rustfmt::skip]
const BLOCKS: &[(&str, &str, &str)] = &[
    ("opening", "opening", "opening = \"in_phase\"\nengine = \"pvsync\""),
    ("opening", "opening", "opening = \"in_stages\"\nlock = \"exclusive\""),
    ("opening", "opening", "opening = \"in_phase\"\nhints.invalidate = true"),
    ("opening", "opening",
     "opening = \"in_phase\"\nengine.io_uring.fixed_files = true"),
    ("no-words", "content.fill", "mix = \"write\"\ncontent.fill = \"words\""),
    ("no-words", "verify.format", "verify.format = \"words\""),
    ("words", "size", "mix = \"write\"\nsize = 4100\ncontent = { fill = \"words\", words = {} }"),
    ("words", "content",
     "mix = \"write\"\ncontent = { fill = \"words\", words = {}, compressible_percent = 10 }"),
    ("words", "verify.format",
     "mix = \"write\"\nverify = {}\ncontent = { fill = \"words\", words = {} }"),
    ("words", "content.fill", "mix = \"write\"\nverify.format = \"words\"\ncontent.words = {}"),
    ("words", "content.words.rank_block",
     "verify.format = \"words\"\ncontent.words = { rank_block = 1000 }"),
    ("verify-interval", "verify.interval",
     "size = \"8k\"\nverify.format = \"words\"\ncontent.words = {}"),
    ("deal", "share.segments",
     "share = { segments = { block = \"64k\", count = 2 } }\naccess = \"permutation\"\n\
      stay.run = 2"),
    ("deal", "share.segments.deal",
     "share = { segments = { block = \"64k\", count = 2, deal = \"scattered\" } }\n\
      access = \"random\""),
];

#[test]
fn errors_in_blocks_of_ranks() {
    for (rule, place, lines) in BLOCKS {
        speaks(rule, Severity::Error, place, B, lines);
    }
}

#[test]
fn orders_of_ranks() {
    #[rustfmt::skip]
    let cases = [
        ("rank-order", "rank_order", J,
         "rank_shift = 1\nworkers = 3\nsharing = \"own\"\nrank_order.random = { seed = 1 }"),
        ("rank-order", "rank_order.random.distance", J,
         "workers = 3\nrank_order.random = { seed = 1, distance = 1 }"),
        ("rank-order", "rank_order.random.distance", J,
         "workers = 3\nrank_order.random = { seed = 1, distance = 3, repeats = true }"),
    ];
    for (rule, place, section, lines) in cases {
        speaks(rule, Severity::Error, place, section, lines);
    }
    let lines = "workers = 4\nrank_order.random = { seed = 1 }";
    speaks("rank-order", Severity::Warning, "rank_order", J, lines);
}

#[test]
fn ranks_of_all_hosts_count() {
    for (lines, one, four) in [
        ("workers = 2\nsharing = \"own\"\nrank_shift = 2", &["rank-shift"][..], &[][..]),
        ("workers = 2\nsharing = \"own\"\nrank_shift = 8", &["rank-shift"], &["rank-shift"]),
        (
            "workers = 2\nsharing = \"own\"\n\
             rank_order.random = { seed = 1, distance = 2, repeats = true }",
            &["rank-order"],
            &[],
        ),
    ] {
        for (hosts, expected) in [(1, one), (4, four)] {
            let text = format!("hosts = {hosts}\n{}", plan("", lines, ""));
            assert_eq!(rules(&text), expected, "{text}");
        }
    }
}

#[test]
fn sound_plans_of_ranks_are_left_in_peace() {
    for (job, blocks) in [
        (
            "workers = 4\nrank_order.random = { seed = 1, distance = 1, repeats = true }",
            "share = { segments = { block = \"64k\", count = 4, deal = \"scattered\" } }",
        ),
        ("", "share = { segments = { block = \"64k\", count = 4 } }\naccess = \"permutation\""),
        (
            "",
            "opening = \"in_stages\"\nengine = \"mmap\"\nmix = \"write\"\n\
             durability.fsync_at_end = true",
        ),
        (
            "",
            "verify.format = \"words\"\nshare = \"whole\"\naccess = \"random\"\n\
             content.words = { kind = \"offset\", seed = -3, rank_block = \"64k\" }",
        ),
    ] {
        let problems = found(&plan("", job, blocks));
        assert_eq!(problems, [], "{job}\n{blocks}");
    }
}

#[test]
fn files_are_not_opened_in_a_ramp() {
    let found = found(&plan("ramp = \"1s\"", "", "opening = \"in_phase\""));
    let said: Vec<_> = found.iter().map(|p| (p.rule, p.place.as_str())).collect();
    assert_eq!(said, [("opening", "phase[0].job[0].work.blocks.opening")]);
}

#[test]
fn memory_that_is_occupied_is_some_and_not_all() {
    for (extent, expected) in [
        ("0", &["occupy-memory"][..]),
        ("\"0%\"", &["occupy-memory"]),
        ("\"100%\"", &["occupy-memory"]),
        ("\"1g\"", &[]),
        ("\"80%\"", &[]),
    ] {
        let text = format!("occupy_memory = {extent}\n{}", plan("", "", ""));
        assert_eq!(rules(&text), expected, "{extent}");
    }
}
