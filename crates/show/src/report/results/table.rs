//! The table of results in the shape that fits the page.

use candor_record::{Report, fmt, samples_needed};

use super::rows::{About, Column, NAME_COLUMNS_MAX, NAME_COLUMNS_MIN, Row};
use crate::layout::{Align, Cell, Page, Table, cut, width, wrap};
use crate::style::Style;

/// How much stands beside the numbers, and how much below them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Everything in one line.
    Wide,
    /// The remark below.
    Medium,
    /// Ceiling and remark below.
    Narrow,
    /// No remark and no ceiling.
    Brief,
}

/// Numbers of the whole page after the rates of operations; all latencies have a table of their own
/// there.
const OF_PAGE: [Column; 4] = [Column::MbPerS, Column::MibPerS, Column::P50, Column::P99];
/// Percentiles of the table of latencies, unless others are asked for.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 99.99];

/// The table with what is said about its rows, in the widest shape that fits.
pub(super) fn whole(style: &Style, rows: &[Row]) -> Vec<String> {
    let columns: Vec<Column> = Column::rates(rows).into_iter().chain(OF_PAGE).collect();
    for shape in [Shape::Wide, Shape::Medium] {
        let table = table(rows, shape, &columns, NAME_COLUMNS_MAX);
        if table.width() <= style.columns() {
            return with_remarks(style, rows, &table, shape);
        }
    }
    let names = names(style, rows, Shape::Narrow, &columns);
    with_remarks(style, rows, &table(rows, Shape::Narrow, &columns, names), Shape::Narrow)
}

/// The table in so many lines at most, without what is said about its rows.
pub(super) fn brief(
    style: &Style,
    report: &Report,
    mut rows: Vec<Row>,
    lines_max: usize,
) -> Vec<String> {
    let all = rows.len();
    if all == 0 {
        return Vec::new();
    }
    let columns = fitting(style, &report.percentiles, &rows);
    let unshown = unshown(&report.percentiles, &columns, &rows);
    let unshown = unshown.map(|text| cut(&text, style.columns()));
    let lines_max = lines_max.saturating_sub(usize::from(unshown.is_some()));
    if all >= lines_max {
        rows.truncate(lines_max.saturating_sub(2));
    }
    let names = names(style, &rows, Shape::Brief, &columns);
    let table = table(&rows, Shape::Brief, &columns, names);
    let more = (all > rows.len()).then(|| format!("… and {} more rows", all - rows.len()));
    table.lines(style).into_iter().chain(more).chain(unshown).collect()
}

/// The percentiles that were asked for, or the usual two, and as many further columns as there is
/// room for beside whole names.
fn fitting(style: &Style, asked: &[f64], rows: &[Row]) -> Vec<Column> {
    let fits = |columns: &[Column], names| {
        table(rows, Shape::Brief, columns, names).width() <= style.columns()
    };
    let mut columns = Column::rates(rows);
    columns.push(Column::MbPerS);
    let mut add = |column, names| {
        let at = columns.partition_point(|known| *known < column);
        columns.insert(at, column);
        if !fits(&columns, names) {
            columns.remove(at);
        }
    };
    let asked: Vec<Column> = asked.iter().map(|p| Column::Percentile(*p)).collect();
    let (needed, further) = if asked.is_empty() {
        (vec![Column::P50, Column::P99], vec![Column::P99_9, Column::Max, Column::Mean])
    } else {
        (asked, vec![Column::Max, Column::Mean])
    };
    needed.into_iter().for_each(|column| add(column, NAME_COLUMNS_MIN));
    let further = further.into_iter().filter(|column| is_known(rows, *column));
    further.for_each(|column| add(column, NAME_COLUMNS_MAX));
    columns
}

fn is_known(rows: &[Row], column: Column) -> bool {
    rows.iter().any(|row| row.cell(column).holds_value())
}

/// Percentiles that were asked for and do not stand in the table, with the reason.
fn unshown(asked: &[f64], columns: &[Column], rows: &[Row]) -> Option<String> {
    let (fit, unfit): (Vec<f64>, Vec<f64>) =
        asked.iter().partition(|p| columns.contains(&Column::Percentile(**p)));
    let unfit: Vec<String> = unfit.iter().map(|p| Column::Percentile(*p).name()).collect();
    let unfit =
        (!unfit.is_empty()).then(|| format!("No space for {} (see --verbose)", unfit.join(", ")));
    let all: Vec<String> =
        unfit.into_iter().chain(fit.into_iter().filter_map(|p| too_few(p, rows))).collect();
    (!all.is_empty()).then(|| format!("{}.", all.join("; ")))
}

/// Operations that a percentile takes, where a row has too few.
fn too_few(percentile: f64, rows: &[Row]) -> Option<String> {
    let needed = samples_needed(percentile);
    let lacks = rows.iter().any(|row| (1..needed).contains(&row.samples));
    lacks.then(|| format!("p{percentile} needs {}", fmt::counted(needed, "operation")))
}

/// All latencies, in as many tables as the page is narrow.
pub(super) fn latencies(page: &mut Page, report: &Report, rows: &[Row]) {
    let asked = &report.percentiles;
    let percentiles = if asked.is_empty() { &PERCENTILES[..] } else { asked };
    let percentiles = percentiles.iter().map(|p| Column::Percentile(*p));
    let columns = std::iter::once(Column::Mean).chain(percentiles).chain([Column::Max]);
    let columns: Vec<Column> = columns.filter(|column| is_known(rows, *column)).collect();
    let too_few: Vec<_> = asked.iter().filter_map(|p| too_few(*p, rows)).collect();
    if columns.is_empty() {
        return;
    }
    page.heading("Latency");
    let mut rest = &columns[..];
    while !rest.is_empty() {
        let count = (1..=rest.len())
            .rev()
            .find(|count| numbers(rows, &rest[..*count]).width() + 2 <= page.style.columns())
            .unwrap_or(1);
        for line in numbers(rows, &rest[..count]).lines(page.style) {
            page.line(&format!("  {line}"));
        }
        rest = &rest[count..];
    }
    if !too_few.is_empty() {
        page.aside("  ", &format!("{}.", too_few.join("; ")));
    }
}

/// Names and numbers of the rows that have such, or lend their name to those that follow.
fn numbers(rows: &[Row], columns: &[Column]) -> Table {
    let heads = columns.iter().map(|column| (column.name(), Align::Right));
    let heads: Vec<_> = std::iter::once((String::new(), Align::Left)).chain(heads).collect();
    let mut table = Table::new(&heads);
    let is_title = |at: usize| {
        rows[at].phase.is_some() && rows.get(at + 1).is_some_and(|next| next.phase.is_none())
    };
    for (_, row) in rows.iter().enumerate().filter(|(at, row)| row.samples > 0 || is_title(*at)) {
        let name = Cell::from(cut(&row.name, NAME_COLUMNS_MAX));
        let cells = columns.iter().map(|column| row.cell(*column));
        table.row(std::iter::once(name).chain(cells).collect());
    }
    table
}

/// Columns that are left for names.
fn names(style: &Style, rows: &[Row], shape: Shape, columns: &[Column]) -> usize {
    let too_wide = table(rows, shape, columns, NAME_COLUMNS_MAX).width();
    let names = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let names = (names + style.columns()).saturating_sub(too_wide).max(NAME_COLUMNS_MIN);
    names.min(NAME_COLUMNS_MAX)
}

fn table(rows: &[Row], shape: Shape, columns: &[Column], names: usize) -> Table {
    let mut heads = vec![(String::new(), Align::Left)];
    heads.extend(columns.iter().map(|column| (column.name(), Align::Right)));
    let mut phases = rows.iter().filter_map(|row| row.phase.as_ref());
    let has_room = matches!(shape, Shape::Wide | Shape::Medium);
    let with_ceilings = has_room && phases.any(|about| !about.at_most.is_empty());
    if with_ceilings {
        heads.extend([("at most".into(), Align::Right), ("used".into(), Align::Right)]);
    }
    heads.push(("trust".into(), Align::Left));
    if shape == Shape::Wide {
        heads.push(("why".into(), Align::Left));
    }
    let mut table = Table::new(&heads);
    for row in rows {
        let mut cells = vec![Cell::from(cut(&row.name, names))];
        cells.extend(columns.iter().map(|column| row.cell(*column)));
        if let Some(about) = &row.phase {
            if with_ceilings {
                cells.extend([about.at_most.as_str().into(), about.used.as_str().into()]);
            }
            cells.push(about.mark.clone());
            if shape == Shape::Wide {
                cells.push(about.remark.as_str().into());
            }
        }
        table.row(cells);
    }
    table
}

/// The lines of the table, and below the last row of each phase what found no room beside it.
fn with_remarks(style: &Style, rows: &[Row], table: &Table, shape: Shape) -> Vec<String> {
    let mut lines = Vec::new();
    let mut remark = String::new();
    for (i, line) in table.lines(style).into_iter().enumerate() {
        // The first line holds the names of the columns.
        if let Some(about) = i.checked_sub(1).and_then(|i| rows[i].phase.as_ref()) {
            lines.extend(below(style, &remark));
            remark = about.below(shape);
        }
        lines.push(line);
    }
    lines.extend(below(style, &remark));
    lines
}

fn below(style: &Style, remark: &str) -> Vec<String> {
    let lines = wrap(remark, style.columns() - 6).into_iter();
    lines.filter(|line| !line.is_empty()).map(|line| format!("    {line}")).collect()
}

impl About {
    /// The lines below the row.
    fn below(&self, shape: Shape) -> String {
        let ceiling = match (self.used.is_empty(), self.at_most.is_empty()) {
            (_, true) => String::new(),
            (true, _) => format!("at most {}", self.at_most),
            (false, _) => format!("{} of the {} at most", self.used, self.at_most),
        };
        match shape {
            Shape::Wide | Shape::Brief => String::new(),
            Shape::Medium => self.remark.clone(),
            Shape::Narrow if ceiling.is_empty() || self.remark.is_empty() => {
                format!("{ceiling}{}", self.remark)
            }
            Shape::Narrow => format!("{ceiling}; {}", self.remark),
        }
    }
}
