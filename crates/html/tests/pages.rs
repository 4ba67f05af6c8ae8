//! Contents of pages and their order, without a browser.

#[path = "browser/reports.rs"]
mod reports;

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
        "<title>random write 4 KiB, depth 4: Believable with remarks</title>",
        "</span>Believable with remarks</h1>",
        "Limited by <b>reading before each write to md5</b>.",
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
    at(&page, "</span>Measures something else (the page cache)</h1>");
    at(&page, "<ul class=\"tiles doubtful\"");
    at(&page, "<td class=\"words bad\">no</td>");
    // The picture says it as well.
    at(&page, "<section id=\"timeline\"");
    assert!(page.matches("Measures something else").count() > 4);
}

#[test]
fn equal_reports_give_equal_pages() {
    assert_eq!(page("zram-traced"), page("zram-traced"));
}
