//! Questions to the index: runs by filters, and the figures of one kind of work.

use std::collections::HashMap;

use candor_derive::trend::{HISTORY_VERSION, ListedResult, ListedRun, RunList, Series, TrendPoint};
use candor_plan::values::from_json;
use candor_record::Verdict;
use candor_record::results::FigureKind;
use rusqlite::types::Value;

use crate::Error;
use crate::entry::{Figures, started};
use crate::error::RunId;
use crate::index::{self, Index};

/// Runs that a command is about: those that have all of this.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// A path, or one below it, or the kernel name of a device.
    pub target: Option<String>,
    /// A part of the name.
    pub name: Option<String>,
    /// A tag.
    pub tag: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The tool, without its version.
    pub tool: Option<String>,
    /// The verdict.
    pub verdict: Option<Verdict>,
    /// Started at this moment or later, in ms since 1970.
    pub since_unix_ms: Option<i64>,
    /// Started before this moment, in ms since 1970.
    pub until_unix_ms: Option<i64>,
    /// A figure that is reported.
    pub figure: Option<FigureKind>,
}

impl Filter {
    /// Conditions on `runs r`, and the values of their parameters in order.
    pub(crate) fn sql(&self) -> (String, Vec<Value>) {
        let mut sql = String::from("1");
        let mut values: Vec<Value> = Vec::new();
        let mut add = |condition: &str, of: Vec<Value>| {
            sql.push_str(" AND ");
            sql.push_str(condition);
            values.extend(of);
        };
        if let Some(target) = &self.target {
            let path = target.strip_suffix('/').filter(|path| !path.is_empty()).unwrap_or(target);
            let device = target.strip_prefix("/dev/").unwrap_or(target).to_owned();
            // '0' is the character behind '/': all between are paths below.
            let (below, end) = match path {
                "/" => ("/".to_owned(), "0".to_owned()),
                path => (format!("{path}/"), format!("{path}0")),
            };
            add(
                "r.id IN (SELECT run FROM targets WHERE (path = ? AND NOT is_device) \
                 OR (path > ? AND path < ? AND NOT is_device) OR (path = ? AND is_device))",
                vec![path.to_owned().into(), below.into(), end.into(), device.into()],
            );
        }
        if let Some(tag) = &self.tag {
            add("r.id IN (SELECT run FROM tags WHERE tag = ?)", vec![tag.clone().into()]);
        }
        if let Some(name) = &self.name {
            add("instr(lower(r.name), lower(?))", vec![name.clone().into()]);
        }
        if let Some(host) = &self.host {
            add("r.host = ?", vec![host.clone().into()]);
        }
        if let Some(tool) = &self.tool {
            let with = |end: &str| Value::from(format!("{tool}{end}"));
            add(
                "(r.tool = ? OR substr(r.tool, 1, length(?)) = ? \
                 OR substr(r.tool, 1, length(?)) = ?)",
                vec![with(""), with(" "), with(" "), with("-"), with("-")],
            );
        }
        if let Some(verdict) = self.verdict {
            add("r.verdict = ?", vec![i64::from(index::code(verdict)).into()]);
        }
        if let Some(since) = self.since_unix_ms {
            add("r.start_unix_ms >= ?", vec![since.into()]);
        }
        if let Some(until) = self.until_unix_ms {
            add("r.start_unix_ms < ?", vec![until.into()]);
        }
        if let Some(figure) = self.figure {
            let reported = "EXISTS (SELECT 1 FROM results f WHERE f.run = r.id AND ";
            match figure {
                FigureKind::OpsPerS => add(&format!("{reported} f.ops_per_s > 0)"), vec![]),
                FigureKind::BytesPerS => add(&format!("{reported} f.bytes_per_s > 0)"), vec![]),
                FigureKind::LatencyMean => {
                    add(&format!("{reported} f.latency_mean_ns > 0)"), vec![]);
                }
                FigureKind::LatencyPercentile(p) => {
                    let found = format!("{reported} instr(f.percentiles, ?))");
                    add(&found, vec![format!(",{p}=").into()]);
                }
            }
        }
        (sql, values)
    }
}

/// Figures of one repeat of the same work in one run.
pub(crate) struct Measured {
    pub run: RunId,
    pub start_unix_ms: i64,
    pub is_whole: bool,
    pub verdict: Option<Verdict>,
    pub figures: Figures,
}

impl Index {
    /// The newest runs of those that match, at most so many.
    ///
    /// # Errors
    /// The index cannot be read.
    pub fn list(&self, filter: &Filter, at_most: u64) -> Result<RunList, Error> {
        self.listed(filter, at_most).map_err(|why| self.error(why))
    }

    fn listed(&self, filter: &Filter, at_most: u64) -> rusqlite::Result<RunList> {
        let (condition, values) = filter.sql();
        let in_all =
            self.connection.query_row("SELECT count(*) FROM runs", [], |row| row.get(0))?;
        let matching = self.connection.query_row(
            &format!("SELECT count(*) FROM runs r WHERE {condition}"),
            rusqlite::params_from_iter(&values),
            |row| row.get(0),
        )?;
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let mut query = self.connection.prepare(&format!(
            "SELECT id, start_unix_ms, tool, name, command, host, verdict, headline, is_whole, \
             imported_from FROM runs r WHERE {condition} \
             ORDER BY start_unix_ms DESC, id DESC LIMIT {at_most}"
        ))?;
        let runs = query.query_map(rusqlite::params_from_iter(&values), |row| {
            Ok(ListedRun {
                run: row.get(0)?,
                started: started(row.get(1)?),
                tool: row.get(2)?,
                name: row.get(3)?,
                command: row.get(4)?,
                host: row.get(5)?,
                verdict: index::verdict(row.get(6)?),
                headline: row.get(7)?,
                is_whole: row.get(8)?,
                imported_from: row.get(9)?,
                ..ListedRun::default()
            })
        })?;
        let mut runs = runs.collect::<rusqlite::Result<Vec<_>>>()?;
        for run in &mut runs {
            self.complete(run, filter.figure)?;
        }
        Ok(RunList { history_version: HISTORY_VERSION, in_all, matching, runs })
    }

    /// Adds the targets, tags and results of a run.
    fn complete(&self, run: &mut ListedRun, figure: Option<FigureKind>) -> rusqlite::Result<()> {
        let words = |sql: &str| {
            let mut query = self.connection.prepare_cached(sql)?;
            let words = query.query_map([run.run], |row| row.get(0))?;
            words.collect::<rusqlite::Result<Vec<String>>>()
        };
        let targets = words("SELECT path FROM targets WHERE run = ?1 AND NOT is_device")?;
        let tags = words("SELECT tag FROM tags WHERE run = ?1 ORDER BY tag")?;
        let mut query = self.connection.prepare_cached(&format!(
            "SELECT s.id, s.work, f.verdict, f.is_work, {} FROM results f \
             JOIN series s ON s.id = f.series WHERE f.run = ?1 ORDER BY f.place",
            index::FIGURES
        ))?;
        let rows = query.query_map([run.run], |row| {
            let of: (i64, String) = (row.get(0)?, row.get(1)?);
            Ok((of, index::verdict(row.get(2)?), row.get(3)?, index::figures(row, 4)?))
        })?;
        type Repeats = Vec<(Option<Verdict>, Figures)>;
        let mut works: Vec<((i64, String), bool, Repeats)> = Vec::new();
        for row in rows {
            let (of, verdict, is_work, figures) = row?;
            match works.iter_mut().find(|(known, ..)| known.0 == of.0) {
                Some((.., repeats)) => repeats.push((verdict, figures)),
                None => works.push((of, is_work, vec![(verdict, figures)])),
            }
        }
        // Flushes and items are shown where their figure was asked for and nothing else has it.
        let results = |is_work: bool| {
            works.iter().filter(move |work| work.1 == is_work).filter_map(|((_, work), _, of)| {
                let series: Series = from_json(work.as_bytes()).unwrap_or_default();
                listed_result(&series, figure, of)
            })
        };
        let work: Vec<ListedResult> = results(true).collect();
        let results = if work.is_empty() { results(false).collect() } else { work };
        (run.targets, run.tags, run.results) = (targets, tags, results);
        Ok(())
    }

    /// Runs that match and have no tag, but the newest so many of these.
    pub(crate) fn untagged(&self, filter: &Filter, but: u64) -> Result<Vec<RunId>, Error> {
        let all = || {
            let (condition, values) = filter.sql();
            let but = i64::try_from(but).unwrap_or(i64::MAX);
            let mut query = self.connection.prepare(&format!(
                "SELECT id FROM (SELECT id, start_unix_ms FROM runs r WHERE {condition} \
                 ORDER BY start_unix_ms DESC, id DESC LIMIT -1 OFFSET {but}) \
                 WHERE id NOT IN (SELECT run FROM tags) ORDER BY start_unix_ms, id"
            ))?;
            let rows = query.query_map(rusqlite::params_from_iter(&values), |row| row.get(0))?;
            rows.collect::<rusqlite::Result<Vec<RunId>>>()
        };
        all().map_err(|why| self.error(why))
    }

    /// All kinds of work of the index, with their numbers.
    pub(crate) fn series(&self) -> Result<Vec<(i64, Series)>, Error> {
        let all = || {
            let mut query = self.connection.prepare("SELECT id, work FROM series")?;
            let rows = query.query_map([], |row| {
                let work: String = row.get(1)?;
                Ok((row.get(0)?, from_json(work.as_bytes()).unwrap_or_default()))
            })?;
            rows.collect::<rusqlite::Result<Vec<(i64, Series)>>>()
        };
        all().map_err(|why| self.error(why))
    }

    /// Figures of these kinds of work in all runs that match, oldest first; percentiles only where
    /// the filter is about one.
    ///
    /// One pass over the results, which lie by kind of work: to look up those of each run takes
    /// ten times as long where many runs match.
    pub(crate) fn measured(
        &self,
        series: &[i64],
        filter: &Filter,
    ) -> Result<HashMap<i64, Vec<Measured>>, Error> {
        let all = || {
            let runs = self.matching(filter)?;
            let series: Vec<String> = series.iter().map(i64::to_string).collect();
            let is_percentile = matches!(filter.figure, Some(FigureKind::LatencyPercentile(_)));
            let mut query = self.connection.prepare(&format!(
                "SELECT f.run, f.verdict, f.series, {} FROM results f WHERE f.series IN ({})",
                if is_percentile { index::FIGURES } else { index::FIGURES_BUT_PERCENTILES },
                series.join(",")
            ))?;
            let mut rows = query.query([])?;
            let mut measured: HashMap<i64, Vec<Measured>> = HashMap::new();
            while let Some(row) = rows.next()? {
                let run = row.get(0)?;
                let Some((start_unix_ms, is_whole)) = runs.get(&run).copied() else { continue };
                let verdict = index::verdict(row.get(1)?);
                let figures = index::figures(row, 3)?;
                let of_run = Measured { run, start_unix_ms, is_whole, verdict, figures };
                measured.entry(row.get(2)?).or_default().push(of_run);
            }
            for runs in measured.values_mut() {
                runs.sort_by_key(|of| (of.start_unix_ms, of.run));
            }
            Ok(measured)
        };
        all().map_err(|why| self.error(why))
    }

    /// Start in ms since 1970 of the runs that match, and whether they came to their end.
    fn matching(&self, filter: &Filter) -> rusqlite::Result<HashMap<RunId, (i64, bool)>> {
        let (condition, values) = filter.sql();
        let query = format!("SELECT id, start_unix_ms, is_whole FROM runs r WHERE {condition}");
        let mut query = self.connection.prepare(&query)?;
        let rows = query.query_map(rusqlite::params_from_iter(&values), |row| {
            Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))
        })?;
        rows.collect()
    }
}

fn listed_result(
    series: &Series,
    figure: Option<FigureKind>,
    repeats: &[(Option<Verdict>, Figures)],
) -> Option<ListedResult> {
    let kinds = figure.map_or_else(|| series.usual_figures().to_vec(), |figure| vec![figure]);
    let found = kinds.into_iter().find_map(|kind| {
        let values = repeats.iter().map(|(verdict, of)| (*verdict, of.value(kind)));
        Some((kind, of_repeats(values)?.0))
    });
    let (figure, value) = found?;
    let (phase, operation) = (series.phase.clone(), series.operation.clone());
    Some(ListedResult { phase, operation, figure, value })
}

/// The mean of the repeats that can be believed best, and their verdict, as in the report.
pub(crate) fn of_repeats(
    repeats: impl Iterator<Item = (Option<Verdict>, Option<f64>)>,
) -> Option<(f64, Option<Verdict>)> {
    let class = |verdict: Option<Verdict>| verdict.unwrap_or_default().max(Verdict::Caution);
    let all: Vec<_> = repeats.filter_map(|(verdict, value)| Some((verdict, value?))).collect();
    let best = all.iter().map(|(verdict, _)| class(*verdict)).min()?;
    let kept = || all.iter().filter(|(verdict, _)| class(*verdict) == best);
    let sum: f64 = kept().map(|(_, value)| value).sum();
    let worst = kept().map(|(verdict, _)| *verdict).max()?;
    Some((sum / kept().count() as f64, worst))
}

/// One point per run.
pub(crate) fn points(measured: &[Measured], kind: FigureKind) -> Vec<TrendPoint> {
    let of_run = |repeats: &[Measured]| {
        let first = repeats.first()?;
        let values = repeats.iter().map(|of| (of.verdict, of.figures.value(kind)));
        let (value, verdict) = of_repeats(values)?;
        Some(TrendPoint {
            run: first.run,
            started: started(first.start_unix_ms),
            start_unix_ms: first.start_unix_ms,
            value,
            verdict,
            is_whole: first.is_whole,
        })
    };
    measured.chunk_by(|a, b| a.run == b.run).filter_map(of_run).collect()
}
