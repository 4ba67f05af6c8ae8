//! Content of written blocks, and whether it can be verified.

use super::access::does;
use super::sizes::distinct;
use super::{Found, SECTOR, View, words};
use crate::blocks::{Access, Content, Duplicates, Fill, Format, Journal, Share, Sum, Verify};
use crate::units::{Direction, PerDirection, SizeSpec};
use crate::{Bytes, PlanPath};

/// Shares and patterns of a content, of blocks or of items.
pub(super) fn check_content(content: &Content, at: &PlanPath, out: &mut Found) {
    let Content { fill, compressible_percent, duplicate_percent, .. } = *content;
    let percents =
        [("compressible_percent", compressible_percent), ("duplicate_percent", duplicate_percent)];
    for (key, percent) in percents {
        out.percent("percent", at.key(key), percent.into(), 0.0);
    }
    if let Duplicates::WorkingSet { percent, .. } = content.duplicates {
        let at = at.key("duplicates").key("working_set").key("percent");
        out.percent("percent", at, percent.into(), 1.0);
    }
    if fill == Fill::Zero && (compressible_percent > 0 || duplicate_percent > 0) {
        let message = "zeros are compressible and alike by themselves";
        let remedy = "set fill = \"pool\", or remove the percentages";
        out.warning("zero-content", at.clone(), message, remedy);
    }
    check_hot_sets(content, at, out);
    words::check_content(content, at, out);
    if fill == Fill::Pattern && content.pattern.is_none() {
        let message = "fill = \"pattern\", and there is no pattern";
        out.error("no-pattern", at.key("fill"), message, "add pattern = \"deadbeef\"");
    }
}

/// Most blocks of hot sets: 4 bytes of memory of each worker for each.
const HOT_BLOCKS_MAX: u64 = 1 << 20;

fn check_hot_sets(content: &Content, at: &PlanPath, out: &mut Found) {
    let Some(hot) = &content.hot_sets else { return };
    let (message, remedy) = if !matches!(content.fill, Fill::Pool | Fill::Fresh) {
        ("only random bytes come from a set", "set fill = \"pool\", or remove hot_sets")
    } else if hot.unit.0 == 0 || !hot.unit.0.is_multiple_of(SECTOR.0) {
        ("blocks of hot sets are whole sectors of 512 bytes", "set unit = \"128k\", for example")
    } else if !(1..=HOT_BLOCKS_MAX).contains(&hot.blocks()) {
        ("hot sets have 1 to 1048576 blocks in all", "change the number of sets or blocks")
    } else {
        return;
    };
    out.error("hot-sets", at.key("hot_sets"), message, remedy);
}

pub(super) fn check(view: &View<'_>, out: &mut Found) {
    check_content(&view.blocks.content, &view.key("content"), out);
    if let Some(verify) = &view.blocks.verify {
        verify_header(&view.blocks.content, &view.key("verify"), verify, out);
        verify_sizes(view, verify, out);
        verify_content(view, verify, out);
        verify_read_back(view, verify, out);
        verify_dry_run(view, verify, out);
        verify_before_write(view, verify, out);
        verify_journal(view, verify, out);
        verify_races(view, out);
    }
}

/// The header finds room in its block, and there is a pattern where blocks are to hold one.
pub(super) fn verify_header(content: &Content, at: &PlanPath, verify: &Verify, out: &mut Found) {
    let (interval, header) = (verify.interval.0, verify.header_bytes());
    let start = verify.header_at.0;
    if interval < header.max(1) {
        let message = format!("the interval of {} is shorter than its header", verify.interval);
        let remedy = format!("give it at least {}", Bytes(header.max(1)));
        out.error("verify-interval", at.key("interval"), message, remedy);
    } else if start > 0 && !matches!(verify.format, Format::Acca(_)) {
        let message = "only headers of the format acca can be moved";
        out.error("verify-header", at.key("header_at"), message, "remove header_at");
    } else if start > 0 && (start < header || start.saturating_add(header) > interval) {
        let message = format!("a header of {} does not fit at {}", Bytes(header), verify.header_at);
        let remedy = format!("use {} to {}", Bytes(header), Bytes(interval - header));
        out.error("verify-header", at.key("header_at"), message, remedy);
    }
    let needs_pattern = matches!(verify.format, Format::Pattern | Format::Acca(Sum::Pattern));
    if needs_pattern && content.pattern.is_none() {
        let message = "blocks are to hold a pattern, and there is none";
        let remedy = "add content = { fill = \"pattern\", pattern = \"deadbeef\" }";
        out.error("no-pattern", at.key("format"), message, remedy);
    }
}

/// Blocks that are read back must have been written, in an order that can be followed again.
fn verify_read_back(view: &View<'_>, verify: &Verify, out: &mut Found) {
    if verify.read_back.is_none() {
        return;
    }
    let at = view.key("verify").key("read_back");
    if let Some(trims) = verify.read_back.and_then(|back| back.trims) {
        let at = at.key("trims");
        out.percent("percent", at.key("percent"), trims.percent.into(), 1.0);
        if trims.every == 0 {
            out.error("read-back", at.key("every"), "every is 0", "trim after 1 write or more");
        }
    }
    if view.blocks.mix.write == 0 {
        let message = "nothing is written that could be read back";
        out.error("read-back", at, message, "remove read_back");
    } else if view.blocks.pace.per_direction.is_some() && view.blocks.mix.write < 100 {
        let message = "where rates per direction decide what comes next, it cannot be repeated";
        out.error("read-back", at, message, "give one rate for all, or remove read_back");
    }
}

/// A dry run replays earlier writes, whose headers identify the last one.
fn verify_dry_run(view: &View<'_>, verify: &Verify, out: &mut Found) {
    if verify.dry_run.is_none() {
        return;
    }
    let at = view.key("verify").key("dry_run");
    if !matches!(verify.format, Format::Acca(_)) {
        let message = "only headers of the format acca identify the last write";
        out.error("dry-run", at, message, "remove dry_run, or use another format");
    } else if view.blocks.mix.write > 0 && !verify.read_back.is_some_and(|back| back.only) {
        let message = "these writes are done, and need no dry run";
        out.error("dry-run", at, message, "remove dry_run, or set read_back.only");
    }
}

/// Writes that wait for a read of their blocks, and an end by the number of mismatches.
fn verify_before_write(view: &View<'_>, verify: &Verify, out: &mut Found) {
    let at = view.key("verify");
    if verify.mismatches_max == Some(0) {
        let message = "the run would end before it began";
        let remedy = "give 1 or more, or remove mismatches_max";
        out.error("mismatches", at.key("mismatches_max"), message, remedy);
    }
    if !verify.read_before_write {
        return;
    }
    let why = if view.blocks.zones.is_some() {
        "zones decide where a write goes, and it is never to a block that is known"
    } else if verify.read_back.is_some_and(|back| back.only) {
        "nothing is written where reads take the place of writes"
    } else if verify.format == Format::Nothing {
        "blocks without a format cannot be compared"
    } else {
        return;
    };
    out.error("before-write", at.key("read_before_write"), why, "remove read_before_write");
}

/// A journal knows whole blocks, by the numbers of their writes.
fn verify_journal(view: &View<'_>, verify: &Verify, out: &mut Found) {
    let Some(journal) = &verify.journal else { return };
    let at = view.key("verify").key("journal");
    check_journal(journal, &at, out);
    let (what, remedy) = if verify.format != Format::Own {
        ("only candor's own headers number the writes", "set format = \"own\"")
    } else if !verify.generations {
        ("without generations, writes cannot be distinguished", "remove generations = false")
    } else if view.blocks.mix.trim > 0 || verify.read_back.is_some_and(|back| back.trims.is_some())
    {
        ("a journal knows reads and writes, and no trims", "remove the trims")
    } else if view.blocks.zones.is_some() {
        ("a journal does not know write pointers of zones", "remove zones, or the journal")
    } else {
        return;
    };
    out.error("journal", at, what, remedy);
}

/// A journal's own keys.
pub(super) fn check_journal(journal: &Journal, at: &PlanPath, out: &mut Found) {
    if journal.directory.as_os_str().is_empty() {
        let remedy = "add directory = \"/path\", on storage that is not verified";
        out.error("journal", at.key("directory"), "the journal has no directory", remedy);
    }
    if journal.ignore_pending && !journal.recover {
        let message = "only a journal that is taken up has pending writes";
        let remedy = "set recover = true, or remove ignore_pending";
        out.error("journal", at.key("ignore_pending"), message, remedy);
    }
}

fn verify_sizes(view: &View<'_>, verify: &Verify, out: &mut Found) {
    let place = view.key("verify").key("interval");
    let interval = verify.interval;
    let odd = interval < SECTOR || !interval.0.is_multiple_of(SECTOR.0);
    if odd && verify.format == Format::Own {
        let message = format!("the interval of {interval} is not a multiple of {SECTOR}");
        out.error("verify-interval", place, message, "use 512 or 4k");
        return;
    }
    if interval.0 == 0 {
        return;
    }
    for (_, spec) in distinct(view.blocks) {
        let size = match spec {
            // Sizes in a range are multiples of the least.
            SizeSpec::Fixed(size) | SizeSpec::Range(size, _) => first_undivided(&[*size], interval),
            SizeSpec::Stepped(low, _, step) => first_undivided(&[*low, *step], interval),
            SizeSpec::Weighted(list) => {
                let sizes: Vec<_> = list.iter().map(|(size, _)| *size).collect();
                first_undivided(&sizes, interval)
            }
        };
        if let Some(size) = size {
            let message = format!("the interval of {interval} does not divide the size {size}");
            out.error("verify-interval", place.clone(), message, "use a smaller interval");
        }
    }
    if verify.format.checks_parts(view.blocks.content.pattern.as_ref()) {
        return;
    }
    let aligns =
        view.blocks.align.iter().flat_map(PerDirection::iter).filter(|(op, _)| does(view, *op));
    let aligns: Vec<Bytes> = aligns.map(|(_, align)| *align).collect();
    if let Some(align) = first_undivided(&aligns, interval) {
        let message = format!("the interval of {interval} does not divide the alignment {align}");
        out.error("verify-interval", place, message, "use a smaller interval");
    }
}

fn first_undivided(sizes: &[Bytes], interval: Bytes) -> Option<Bytes> {
    sizes.iter().copied().find(|size| !size.0.is_multiple_of(interval.0))
}

/// Contents without a header cannot be distinguished from stale data.
fn verify_content(view: &View<'_>, verify: &Verify, out: &mut Found) {
    let content = &view.blocks.content;
    let reason = if verify.format != Format::Own {
        ""
    } else if content.fill == Fill::Zero {
        "zeros"
    } else if content.fill == Fill::Once || content.fill == Fill::Pattern {
        "bytes that repeat"
    } else if content.compressible_percent > 0 && !verify.known_only() {
        // Where only blocks that were written are checked, their headers suffice.
        "compressible contents"
    } else if content.duplicate_percent > 0 || content.hot_sets.is_some() {
        "duplicates"
    } else {
        ""
    };
    if !reason.is_empty() {
        let message = format!("verify checks the random bytes that candor writes, not {reason}");
        let remedy = "remove verify, or leave content as it is by default";
        out.error("verify-content", view.key("verify"), message, remedy);
    }
    if !view.blocks.moves_bytes() && verify.format != Format::Nothing {
        let message = "no byte moves, so there is nothing to verify";
        out.error("verify-nothing", view.key("verify"), message, "remove verify");
    }
}

/// A block that is read while it is being written looks damaged and is not.
fn verify_races(view: &View<'_>, out: &mut Found) {
    let both = does(view, Direction::Read) && view.blocks.mix.destroys();
    let shared = view.seats_max() > 1 && view.blocks.share == Share::Whole;
    let in_flight = view.blocks.engine.is_async() && view.blocks.depth > 1;
    let meets = view.blocks.access.is_random() && view.blocks.access != Access::Permutation;
    if both && (shared || (in_flight && meets)) {
        let message = "blocks may be read while they are written, which looks like a mismatch";
        let remedy = "write in one phase and verify in the next, or share = \"slice\" and depth 1";
        out.warning("verify-race", view.key("verify"), message, remedy);
    }
}
