//! Trends of the kinds of work that a filter leaves.

use candor_derive::trend::{
    Difference, HISTORY_VERSION, Series, Trend, TrendChange, TrendPoint, Trends,
};
use candor_record::results::{Condition, FigureKind};
use candor_stats::{levels, median};

use crate::entry::Read;
use crate::error::RunId;
use crate::files::Files;
use crate::query::points;
use crate::{Error, Filter, Index};

/// Kinds of work that a trend is about, besides what their runs are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Work {
    /// Name of the phase.
    pub phase: Option<String>,
    /// Name of the job.
    pub job: Option<String>,
    /// Name of the operation.
    pub operation: Option<String>,
}

impl Work {
    fn holds(&self, series: &Series) -> bool {
        let is = |wanted: &Option<String>, name: &str| {
            wanted.as_deref().is_none_or(|wanted| wanted == name)
        };
        is(&self.phase, &series.phase)
            && is(&self.job, &series.job)
            && is(&self.operation, &series.operation)
    }
}

impl Files {
    /// One trend per kind of work that ran more than once, the one with the most runs first.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(crate) fn trends(
        &self,
        index: &Index,
        filter: &Filter,
        work: &Work,
    ) -> Result<Trends, Error> {
        let mut all = Trends { history_version: HISTORY_VERSION, ..Trends::default() };
        let mut series = index.series()?;
        series.retain(|(_, series)| work.holds(series));
        let ids: Vec<i64> = series.iter().map(|(id, _)| *id).collect();
        let measured = index.measured(&ids, filter)?;
        for (id, series) in series {
            let Some(measured) = measured.get(&id) else { continue };
            let kinds = match filter.figure {
                Some(figure) => vec![figure],
                None => series.usual_figures().to_vec(),
            };
            let found = kinds.into_iter().map(|kind| (kind, points(measured, kind)));
            let Some((figure, points)) = found.into_iter().find(|(_, points)| !points.is_empty())
            else {
                continue;
            };
            match points.len() {
                1 => all.single += 1,
                _ => all.trends.push(self.trend(series, figure, points)),
            }
        }
        // Stable, so that equal ones stay in the order in which they first ran.
        all.trends.sort_by_key(|trend| std::cmp::Reverse(trend.points.len()));
        let apart: Vec<Vec<Condition>> =
            all.trends.iter().map(|trend| apart(&trend.series, &all.trends)).collect();
        all.trends.iter_mut().zip(apart).for_each(|(trend, apart)| trend.apart = apart);
        Ok(all)
    }

    fn trend(&self, series: Series, figure: FigureKind, points: Vec<TrendPoint>) -> Trend {
        let counting: Vec<&TrendPoint> = points.iter().filter(|point| point.counts()).collect();
        let values: Vec<f64> = counting.iter().map(|point| point.value).collect();
        let found = levels(&values);
        let ends: Vec<usize> =
            std::iter::once(0).chain(found.changes.iter().copied()).chain([values.len()]).collect();
        let level = |from: usize, to: usize| median(&values[from..to]).unwrap_or(0.0);
        let change = |part: &[usize]| {
            let [begin, at, end] = [part[0], part[1], part[2]];
            let (before, after) = (level(begin, at), level(at, end));
            let (run, run_before) = (counting[at].run, counting[at - 1].run);
            TrendChange {
                run,
                started: counting[at].started.clone(),
                run_before,
                before,
                after,
                change_share: after / before - 1.0,
                runs_before: (at - begin) as u64,
                runs_after: (end - at) as u64,
                differences: self.differences(run_before, run),
            }
        };
        let changes = ends.windows(3).map(change).collect();
        let last = ends.len().checked_sub(2).map(|at| level(ends[at], ends[at + 1]));
        let level = last.filter(|_| !values.is_empty());
        let (apart, noise_share) = (Vec::new(), found.noise_share);
        Trend { series, apart, figure, level, noise_share, changes, points }
    }

    /// Conditions that differ between two runs, as far as their documents can be read.
    fn differences(&self, before: RunId, after: RunId) -> Vec<Difference> {
        let conditions = |run| {
            let (kind, text) = self.read(run).ok()?;
            Some(Read::document(kind, &text).ok()?.results.conditions)
        };
        let both = conditions(before).zip(conditions(after));
        both.map(|(before, after)| differences(&before, &after)).unwrap_or_default()
    }
}

/// The conditions of a series that another trend of the same work does not share.
fn apart(series: &Series, trends: &[Trend]) -> Vec<Condition> {
    let work = |of: &Series| Series { conditions: Vec::new(), ..of.clone() };
    let own = work(series);
    let others: Vec<&Series> =
        trends.iter().map(|trend| &trend.series).filter(|of| work(of) == own).collect();
    let is_apart = |of: &&Condition| others.iter().any(|other| !other.conditions.contains(of));
    series.conditions.iter().filter(is_apart).cloned().collect()
}

/// Conditions that matter and are not the same.
fn differences(before: &[Condition], after: &[Condition]) -> Vec<Difference> {
    let value = |all: &[Condition], of: &Condition| {
        let found = all.iter().find(|other| (other.area, &other.name) == (of.area, &of.name));
        found.map(|found| found.value.clone()).unwrap_or_default()
    };
    let mut found: Vec<Difference> = Vec::new();
    for of in before.iter().chain(after).filter(|of| of.matters) {
        let difference = Difference {
            area: of.area,
            name: of.name.clone(),
            before: value(before, of),
            after: value(after, of),
        };
        if difference.before != difference.after && !found.contains(&difference) {
            found.push(difference);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_differ_are_named_once() {
        let condition = |name: &str, value: &str| Condition {
            name: name.into(),
            value: value.into(),
            matters: name != "seed",
            ..Condition::default()
        };
        let before = [condition("kernel", "6.1"), condition("cpus", "2"), condition("seed", "1")];
        let after = [condition("kernel", "6.12"), condition("cpus", "2"), condition("seed", "2")];
        let found = differences(&before, &[&after[..], &[condition("cap", "on")]].concat());
        let told: Vec<_> =
            found.iter().map(|of| (of.name.as_str(), of.before.as_str(), &*of.after)).collect();
        assert_eq!(told, [("kernel", "6.1", "6.12"), ("cap", "", "on")]);
    }
}
