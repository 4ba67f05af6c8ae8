//! Phases that ran several times: mean and spread, a row for each operation.

use candor_plan::work::{Figure, is_request};
use candor_record::fmt::{REQUESTS_PER_S, column};
use candor_record::{RepeatedOp, Repeats, Spread};

use super::rows::{NAME_COLUMNS_MAX, NAME_COLUMNS_MIN};
use crate::layout::{Align, Cell, Page, Table, cut};
use crate::style::Style;
use crate::words;

/// Meaning of the columns.
pub(in super::super) const INTERVAL: &str = "± is half the 95 % interval of the mean (Student's \
    t), for independent repeats; min and max are rates.";

/// The means with their spread in so many lines at most.
pub(super) fn brief(style: &Style, repeats: &[Repeats], lines_max: usize) -> Vec<String> {
    let mut lines = fitting(style, repeats, false);
    let cut_off = lines.len().saturating_sub(lines_max);
    if cut_off > 0 {
        lines.truncate(lines_max.saturating_sub(1));
        lines.push(format!("… and {} more rows", cut_off + 1));
    }
    lines
}

/// The means with their spread, and the repeats that are left out.
pub(super) fn section(page: &mut Page, repeats: &[Repeats]) {
    if repeats.is_empty() {
        return;
    }
    page.heading("Repeats");
    for line in fitting(page.style, repeats, true) {
        page.line(&format!("  {line}"));
    }
    page.aside("  ", INTERVAL);
    left_out(repeats).iter().for_each(|line| page.paragraph("  ", line));
}

/// The repeats that have no part in the means, a sentence for each phase.
pub(in super::super) fn left_out(repeats: &[Repeats]) -> Vec<String> {
    let line = |repeated: &Repeats| {
        let left_out = repeated.left_out.iter().map(|nth| format!("#{}", nth + 1));
        let left_out = left_out.collect::<Vec<_>>().join(", ");
        let why = "lower verdict than the others, or failed";
        format!("Left out of {}: {left_out} ({why}).", repeated.name)
    };
    repeats.iter().filter(|repeated| !repeated.left_out.is_empty()).map(line).collect()
}

/// The table with names as long as there is room for.
fn fitting(style: &Style, repeats: &[Repeats], is_whole: bool) -> Vec<String> {
    let room = style.columns() - if is_whole { 2 } else { 0 };
    let too_wide = table(repeats, is_whole, 0).width();
    let names = room.saturating_sub(too_wide).clamp(NAME_COLUMNS_MIN, NAME_COLUMNS_MAX);
    table(repeats, is_whole, names).lines(style)
}

/// The means with their spread; all of them where the page is whole.
pub(in super::super) fn table(repeats: &[Repeats], is_whole: bool, names: usize) -> Table {
    let usual = [rate_name(repeats), "MB/s", "±", "min", "max", "p50"];
    let latency: &[&str] = if is_whole { &["±", "p99", "±"] } else { &["p99"] };
    let heads = usual.iter().chain(latency).map(|name| ((*name).to_owned(), Align::Right));
    let heads = std::iter::once((cut(&mean_of(repeats), names), Align::Left)).chain(heads);
    let heads: Vec<_> = heads.chain([("trust".to_owned(), Align::Left)]).collect();
    let mut table = Table::new(&heads);
    for repeated in repeats {
        for (nth, result) in repeated.results.iter().enumerate() {
            let mut cells = vec![Cell::from(cut(&name(repeated, nth, result), names))];
            cells.extend(numbers(result, is_whole).into_iter().map(Cell::from));
            let verdict = repeated.verdict;
            if nth == 0 {
                cells.push(Cell::toned(verdict.name(), words::tone(verdict)));
            }
            table.row(cells);
        }
    }
    table
}

/// Unit of the rates of operations: of requests if all are on objects.
fn rate_name(repeats: &[Repeats]) -> &'static str {
    let results: Vec<&RepeatedOp> = repeats.iter().flat_map(|of| &of.results).collect();
    let is_http = results.iter().all(|of| is_request(&of.operation));
    if is_http && !results.is_empty() { REQUESTS_PER_S } else { "IOPS" }
}

/// `mean of 5 repeats`, where all phases have as many.
fn mean_of(repeats: &[Repeats]) -> String {
    let counted = |repeated: &Repeats| repeated.count as usize - repeated.left_out.len();
    let first = repeats.first().map(counted);
    match first.filter(|_| repeats.iter().all(|repeated| Some(counted(repeated)) == first)) {
        Some(count) => format!("mean of {count} repeats"),
        None => "mean of repeats".into(),
    }
}

/// The phase in its first row, and what tells rows of a phase apart.
fn name(repeated: &Repeats, nth: usize, result: &RepeatedOp) -> String {
    let jobs = repeated.results.iter().any(|other| other.job != result.job);
    let own = if jobs {
        format!("{} {}", result.job, result.operation)
    } else {
        result.operation.clone()
    };
    match (repeated.results.len(), nth) {
        (1, _) => repeated.name.clone(),
        (_, 0) => format!("{}: {own}", repeated.name),
        _ => format!("  {own}"),
    }
}

fn numbers(result: &RepeatedOp, is_whole: bool) -> Vec<String> {
    let rate = result.rate();
    let is_io = result.figure != Figure::Memory;
    let shown = if is_io { column::iops } else { column::mb_per_s };
    let bytes = result.bytes_per_s.map(|bytes| column::mb_per_s(bytes.mean));
    let iops = is_io.then(|| column::iops(rate.mean));
    let mut all: Vec<String> = [iops, bytes].map(|text| text.unwrap_or_else(|| "-".into())).into();
    all.extend([interval(Some(rate)), shown(rate.min), shown(rate.max)]);
    all.push(time(result.latency_ns_p50));
    all.extend(is_whole.then(|| interval(result.latency_ns_p50)));
    all.push(time(result.latency_ns_p99));
    all.extend(is_whole.then(|| interval(result.latency_ns_p99)));
    all
}

fn time(spread: Option<Spread>) -> String {
    spread.map_or("-".into(), |spread| column::time(spread.mean.round() as u64))
}

fn interval(spread: Option<Spread>) -> String {
    spread.map_or("-".into(), |spread| column::share(spread.interval_share()))
}
