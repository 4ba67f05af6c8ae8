//! Contents of pages and their order, without a browser.

#[path = "browser/reports.rs"]
mod reports;

use candor_record::http::{HttpOp, HttpStats};
use candor_record::{Histogram, Latency, Limit};

/// The page of a recorded report.
fn page(name: &str) -> String {
    reports::page(&reports::recorded(name))
}

/// The place of a piece of the page, which has to be there.
fn at(page: &str, piece: &str) -> usize {
    page.find(piece).unwrap_or_else(|| panic!("{piece} is not there"))
}

#[test]
fn the_answer_comes_first_and_sections_follow_a_readers_questions() {
    let page = page("lab-6.1-parity");
    let pieces = [
        "<title>random write 4 KiB, depth 4: The storage&#39;s number</title>",
        "</span>The storage&#39;s number</h1>",
        "Limited by <b>reads before each write to md5</b>.",
        "<span class=\"name\">median latency</span>",
        "<section id=\"results\"",
        "<section id=\"timeline\"",
        "<section id=\"latency\"",
        "<section id=\"path\"",
        "<section id=\"findings\"",
        "<section id=\"environment\"",
        "<section id=\"plan\"",
        "<section id=\"data\"",
    ];
    let places: Vec<usize> = pieces.iter().map(|piece| at(&page, piece)).collect();
    assert!(places.is_sorted(), "{places:?}");
    assert!(!page.contains("<section id=\"sweep\""), "a run of one load has no sweep");
}

#[test]
fn the_path_names_every_part_and_where_the_limit_is() {
    let sata = page("lab-6.1-sata");
    for part in [
        "<dt>Workers</dt><dd>1 worker, depth 4</dd>",
        "<dt>SATA link (link1)</dt><dd>1.5 Gbps; 150 MB/s at most</dd>",
        "<dt>sda</dt><dd>ATA, 67.1 MB; QEMU HARDDISK</dd>",
    ] {
        at(&sata, part);
    }
    let array = page("lab-6.1-parity");
    at(&array, "<dt>md5</dt><dd>md array, raid5, 132 MB; limits the result</dd>");
    // One tag: only the part that limits has it.
    assert_eq!(array.matches("class=\"tag\"").count(), 1);
    let cached = page("cached-read");
    at(&cached, "<g class=\"node cache limit\">");
}

#[test]
fn numbers_of_something_else_do_not_look_like_results() {
    let page = page("cached-read");
    at(&page, "</span>Not the storage&#39;s number (the page cache)</h1>");
    at(&page, "<ul class=\"tiles doubtful\"");
    at(&page, "<td class=\"words bad\">wrong</td>");
    // The picture says it as well.
    at(&page, "<section id=\"timeline\"");
    assert!(page.matches("ot the storage&#39;s number").count() > 4);
}

#[test]
fn http_requests_have_a_section() {
    let mut first_byte = Histogram::new();
    (1..=2000).for_each(|nth| first_byte.record(nth * 1000));
    let op = HttpOp {
        name: "get".into(),
        attempts: 2000,
        first_byte: Latency::from_histogram(first_byte),
        ..HttpOp::default()
    };
    let mut report = reports::recorded("direct-read");
    let http = HttpStats { operations: vec![op], ..HttpStats::default() };
    report.phases[0].measurements[0].http = Some(Box::new(http));
    let page = candor_html::report(&report, "{}", "");
    at(&page, "<section id=\"http\"");
    at(&page, "first byte</th>");
    at(&page, "id=\"first-byte-");
}

#[test]
fn equal_reports_give_equal_pages() {
    assert_eq!(page("zram-traced"), page("zram-traced"));
}

#[test]
fn limits_beyond_four_are_folded() {
    let all = [
        Limit::PageCache,
        Limit::Holes,
        Limit::Memory,
        Limit::HostMemory,
        Limit::LoopHoles,
        Limit::BlankBlocks,
    ];
    let mut report = reports::recorded("direct-read");
    for nth in 1..all.len() {
        let mut phase = report.phases[0].clone();
        phase.name = format!("phase {nth}");
        report.phases.push(phase);
        report.judgement.phases.push(report.judgement.phases[0].clone());
    }
    for (judged, limit) in report.judgement.phases.iter_mut().flatten().zip(&all) {
        judged.limited_by = Some(limit.clone());
    }
    let page = reports::page(&report);
    let mut pieces: Vec<String> = all.iter().map(|limit| format!("<dt>{limit}</dt>")).collect();
    pieces.insert(4, ">2 more limits</summary>".to_owned());
    let places: Vec<usize> = pieces.iter().map(|piece| at(&page, piece)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn tiles_of_several_operations_have_the_rate_and_latency_of_each() {
    let mut report = reports::recorded("xfs-files-cold");
    report.phases.remove(0);
    report.judgement.phases.remove(0);
    let page = reports::page(&report);
    let tiles = &page[at(&page, "aria-label=\"Key numbers\"")..];
    let tiles = &tiles[..at(tiles, "</ul>")];
    let names: Vec<&str> = tiles
        .split("<span class=\"name\">")
        .skip(1)
        .filter_map(|tile| tile.split_once("</span>").map(|(name, _)| name))
        .collect();
    assert_eq!(names, ["open", "open, p99", "close", "close, p99", "read", "read, p99"]);
}
