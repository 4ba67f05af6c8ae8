//! The history as a table: one row per figure of each operation, job, repeat, phase and run.

use std::collections::HashMap;
use std::io::Write;

use candor_derive::trend::Series;
use candor_record::Verdict;
use candor_record::results::FigureKind;

use crate::entry::{Figures, started};
use crate::index::{self, Index};
use crate::{Error, Filter};

mod parquet;

/// One row.
#[derive(Default)]
struct Row {
    run: i64,
    start_unix_ms: i64,
    tool: String,
    name: String,
    tags: String,
    verdict: Option<Verdict>,
    is_whole: bool,
    series: Series,
    repeat: i64,
    phase_verdict: Option<Verdict>,
    figure: Option<FigureKind>,
    value: f64,
}

/// A value of a row.
enum Cell {
    Text(String),
    Integer(Option<i64>),
    Real(f64),
}

/// A column: its name, and its value in a row.
type Column = (&'static str, fn(&Row) -> Cell);

/// The columns of every format.
const COLUMNS: [Column; 22] = [
    ("run", |row| Cell::Integer(Some(row.run))),
    ("started", |row| Cell::Text(started(row.start_unix_ms))),
    ("start_unix_ms", |row| Cell::Integer(Some(row.start_unix_ms))),
    ("tool", |row| Cell::Text(row.tool.clone())),
    ("name", |row| Cell::Text(row.name.clone())),
    ("tags", |row| Cell::Text(row.tags.clone())),
    ("run_verdict", |row| Cell::Text(word(row.verdict))),
    ("is_whole", |row| Cell::Integer(Some(i64::from(row.is_whole)))),
    ("host", |row| Cell::Text(row.series.host.clone())),
    ("targets", |row| Cell::Text(row.series.targets.join(" "))),
    ("phase", |row| Cell::Text(row.series.phase.clone())),
    ("repeat", |row| Cell::Integer(Some(row.repeat))),
    ("verdict", |row| Cell::Text(word(row.phase_verdict))),
    ("job", |row| Cell::Text(row.series.job.clone())),
    ("access", |row| Cell::Text(row.series.load.access.clone().unwrap_or_default())),
    // No block has more bytes than that.
    ("block_bytes", |row| {
        Cell::Integer(row.series.load.block_bytes.and_then(|bytes| i64::try_from(bytes).ok()))
    }),
    ("depth", |row| Cell::Integer(row.series.load.depth.map(i64::from))),
    ("workers", |row| Cell::Integer(row.series.load.workers.map(i64::from))),
    ("operation", |row| Cell::Text(row.series.operation.clone())),
    ("figure", |row| Cell::Text(row.figure.map(|of| of.to_string()).unwrap_or_default())),
    ("unit", |row| Cell::Text(row.figure.map(unit).unwrap_or_default().to_owned())),
    ("value", |row| Cell::Real(row.value)),
];

/// The verdict as the documents for machines write it; empty where nobody judged.
fn word(verdict: Option<Verdict>) -> String {
    let word = verdict.and_then(|verdict| serde_json::to_value(verdict).ok());
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn unit(figure: FigureKind) -> &'static str {
    match figure {
        FigureKind::OpsPerS => "1/s",
        FigureKind::BytesPerS => "B/s",
        FigureKind::LatencyMean | FigureKind::LatencyPercentile(_) => "ns",
    }
}

impl Index {
    /// Writes all figures of the runs that match as comma-separated values, oldest run first.
    ///
    /// # Errors
    /// The index cannot be read, or the table cannot be written.
    pub fn export_csv(&self, filter: &Filter, into: impl Write) -> Result<u64, Error> {
        let failed = |why: csv::Error| Error::Export(why.to_string());
        let mut table = csv::Writer::from_writer(into);
        table.write_record(COLUMNS.iter().map(|(name, _)| *name)).map_err(failed)?;
        let count = self.rows(filter, |row| {
            let cells = COLUMNS.iter().map(|(_, cell)| match cell(&row) {
                Cell::Text(text) => text,
                Cell::Integer(number) => {
                    number.map(|number| number.to_string()).unwrap_or_default()
                }
                Cell::Real(number) => number.to_string(),
            });
            table.write_record(cells).map_err(failed)
        })?;
        table.flush().map_err(|why| Error::Export(why.to_string()))?;
        Ok(count)
    }

    /// Gives every row to `take`, and tells how many there were.
    fn rows(
        &self,
        filter: &Filter,
        mut take: impl FnMut(Row) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let (condition, values) = filter.sql();
        let query = format!(
            "SELECT r.id, r.start_unix_ms, r.tool, r.name, \
             coalesce((SELECT group_concat(tag, ' ') FROM tags WHERE run = r.id), ''), \
             r.verdict, r.is_whole, f.series, f.repeat, f.verdict, {} \
             FROM runs r JOIN results f ON f.run = r.id \
             WHERE {condition} ORDER BY r.start_unix_ms, r.id, f.place",
            index::FIGURES
        );
        let series: HashMap<i64, Series> = self.series()?.into_iter().collect();
        let mut query = self.connection.prepare(&query).map_err(|why| self.error(why))?;
        let rows = query.query(rusqlite::params_from_iter(&values));
        let mut rows = rows.map_err(|why| self.error(why))?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(|why| self.error(why))? {
            for row in of_result(row, &series, filter.figure).map_err(|why| self.error(why))? {
                take(row)?;
                count += 1;
            }
        }
        Ok(count)
    }
}

/// The rows of one operation.
fn of_result(
    row: &rusqlite::Row,
    series: &HashMap<i64, Series>,
    wanted: Option<FigureKind>,
) -> rusqlite::Result<impl Iterator<Item = Row> + use<>> {
    let series = series.get(&row.get(7)?).cloned().unwrap_or_default();
    let (run, start_unix_ms, repeat) = (row.get(0)?, row.get(1)?, row.get(8)?);
    let (tool, name, tags): (String, String, String) = (row.get(2)?, row.get(3)?, row.get(4)?);
    let (verdict, is_whole) = (index::verdict(row.get(5)?), row.get(6)?);
    let phase_verdict = index::verdict(row.get(9)?);
    let figures: Figures = index::figures(row, 10)?;
    let wanted = move |(kind, _): &(FigureKind, f64)| wanted.is_none_or(|wanted| wanted == *kind);
    Ok(figures.all().into_iter().filter(wanted).map(move |(figure, value)| Row {
        run,
        start_unix_ms,
        tool: tool.clone(),
        name: name.clone(),
        tags: tags.clone(),
        verdict,
        is_whole,
        series: series.clone(),
        repeat,
        phase_verdict,
        figure: Some(figure),
        value,
    }))
}
