//! Results as pictures: what `candor chart`, the HTML report and the history draw.
//!
//! | module | picture |
//! | --- | --- |
//! | [`timeline`] | rates, latencies, caches and devices over time |
//! | [`distribution`] | percentile curves and histograms of latency |
//! | [`latency_heat`] | latencies over time, as a heat map |
//! | [`load`] | rates and latency against depth, workers or size, as lines and as a heat map |
//! | [`requests`] | sizes and places of the requests that the devices saw |
//! | [`bars`] | figures of several results beside each other |
//! | [`changes`] | changes of a comparison, with their intervals |
//! | `frame` | titles, corners and cautions, alike for all |
//! | `curve` | operations of all runs, named by what tells them apart |

pub mod bars;
pub mod changes;
mod curve;
pub mod distribution;
mod frame;
pub mod latency_heat;
pub mod load;
pub mod requests;
pub mod timeline;

#[cfg(test)]
mod tests;

use candor_chart::Chart;
use candor_record::Report;
use candor_record::results::Results;

/// Series that one picture has, at most: there are as many colours.
const SERIES_MAX: usize = 8;
/// Rows of bars that one picture has.
const ROWS_MAX: usize = 40;

/// One run of a picture.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    /// Name that tells it from the other runs of the picture.
    pub name: &'a str,
    /// Results.
    pub results: &'a Results,
    /// The report they are from, for ceilings, findings, knees and caches; absent for the results
    /// of other tools.
    pub report: Option<&'a Report>,
}

/// Kind of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Rates, latencies, caches and devices over time.
    Timeline,
    /// Latencies over time alone, on a logarithmic axis.
    LatencyOverTime,
    /// Shares of operations by latency, from one span of time to the next.
    LatencyHeatmap,
    /// Percentile curves of latency.
    Percentiles,
    /// Shares of operations by latency.
    Histogram,
    /// Rates and latency against depth, workers or size.
    Depth,
    /// Rates and latency of the trials of a search, against depth or workers.
    Search,
    /// Rates by two of depth, workers, size and access.
    Heatmap,
    /// Figures beside each other.
    Bars,
}

impl Kind {
    /// All kinds, each with its word.
    pub const WORDS: [(&'static str, Kind); 9] = [
        ("timeline", Kind::Timeline),
        ("latency-over-time", Kind::LatencyOverTime),
        ("latency-heatmap", Kind::LatencyHeatmap),
        ("percentiles", Kind::Percentiles),
        ("histogram", Kind::Histogram),
        ("depth", Kind::Depth),
        ("search", Kind::Search),
        ("heatmap", Kind::Heatmap),
        ("bars", Kind::Bars),
    ];

    /// The kind that says most of these runs: load where it differs, time where it was sampled,
    /// bars where there are several runs.
    pub fn fitting(runs: &[Run<'_>]) -> Kind {
        let tries = match runs {
            [_] if load::is_of_unlike_work(runs) => &[Kind::Depth, Kind::Heatmap][..],
            [_] => &[Kind::Depth, Kind::Heatmap, Kind::Timeline, Kind::Percentiles],
            _ => &[Kind::Depth, Kind::Heatmap],
        };
        let is_told = |kind: &&Kind| match kind {
            // Two values of a load are two bars, not a curve.
            Kind::Depth => load::has_curve(runs),
            Kind::Heatmap => load::has_grid(runs),
            Kind::Timeline => timeline::has_intervals(runs),
            kind => chart(**kind, runs).is_ok(),
        };
        tries.iter().find(is_told).copied().unwrap_or(Kind::Bars)
    }
}

/// The picture of that kind of these runs.
///
/// # Errors
/// A sentence: the runs do not have what the picture shows.
pub fn chart(kind: Kind, runs: &[Run<'_>]) -> Result<Chart, String> {
    match kind {
        Kind::Timeline => timeline::timeline(runs),
        Kind::LatencyOverTime => timeline::latency(runs),
        Kind::LatencyHeatmap => latency_heat::over_time(runs),
        Kind::Percentiles => distribution::percentiles(runs),
        Kind::Histogram => distribution::histogram(runs),
        Kind::Depth => load::lines(runs),
        Kind::Search => load::search(runs),
        Kind::Heatmap => load::heatmap(runs),
        Kind::Bars => bars::bars(runs),
    }
}
