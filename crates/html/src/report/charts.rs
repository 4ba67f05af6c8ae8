//! The pictures of a report, each with the values that it shows.

use candor_record::Report;
use candor_record::results::{PhaseResults, Results};
use candor_show::charts::{Kind, Run, chart};

use crate::markup::Markup;
use crate::parts::folded;
use crate::pictures::{Heading, figure};

/// Curves that one picture of latencies has, at most; more of them hide each other.
const CURVES_MAX: usize = 5;

/// A picture of the latencies of some phases, named by them; none where they have none.
fn distribution(body: &mut Markup, kind: Kind, id: &str, name: &str, results: &Results) {
    if let Ok(chart) = chart(kind, &[Run { name, results, report: None }]) {
        figure(body, id, &chart, Heading::Own);
    }
}

/// The first and the last phase, which tell one part of a series from another.
fn span(part: &Results) -> String {
    match &part.phases[..] {
        [] => String::new(),
        [first] => first.name.clone(),
        [first, .., last] if first.name == last.name => first.name.clone(),
        [first, .., last] => format!("{} to {}", first.name, last.name),
    }
}

/// Results of a report, and the report they are from.
pub struct Pictures<'a> {
    report: &'a Report,
    results: Results,
}

impl<'a> Pictures<'a> {
    /// Of a report.
    pub fn of(report: &'a Report) -> Pictures<'a> {
        Pictures { report, results: candor_derive::results(report) }
    }

    /// Rates, latencies, caches and devices over time.
    pub fn timeline(&self) -> Markup {
        let mut body = Markup::new();
        self.add(&mut body, Kind::Timeline, "timeline-picture", Heading::Section);
        body
    }

    /// Percentile curves and histograms, as many phases in one picture as can be told apart, and
    /// latencies over time.
    pub fn latency(&self) -> Markup {
        let mut body = Markup::new();
        let parts = self.parts();
        for (nth, part) in parts.iter().enumerate() {
            let name = if parts.len() > 1 { span(part) } else { String::new() };
            distribution(&mut body, Kind::Percentiles, &format!("percentiles-{nth}"), &name, part);
            let id = format!("histogram-{nth}");
            match parts.len() {
                1 => distribution(&mut body, Kind::Histogram, &id, &name, part),
                _ => folded(&mut body, "The same data as a histogram", |inside| {
                    distribution(inside, Kind::Histogram, &id, &name, part);
                }),
            }
        }
        self.add(&mut body, Kind::LatencyHeatmap, "latency-heatmap", Heading::Own);
        body
    }

    /// Rates and latency against what a sweep has several values of.
    pub fn sweep(&self) -> Markup {
        let mut body = Markup::new();
        for (kind, id) in [(Kind::Depth, "load"), (Kind::Heatmap, "heatmap")] {
            self.add(&mut body, kind, id, Heading::Section);
        }
        body
    }

    /// Rates and latency of the trials of a search; nothing where there was none.
    pub fn search(&self) -> Markup {
        let mut body = Markup::new();
        self.add(&mut body, Kind::Search, "search", Heading::Section);
        body
    }

    fn add(&self, body: &mut Markup, kind: Kind, id: &str, heading: Heading) {
        let run = Run { name: "", results: &self.results, report: Some(self.report) };
        // A run without samples has no timeline: the section is left out.
        if let Ok(chart) = chart(kind, &[run]) {
            figure(body, id, &chart, heading);
        }
    }

    /// The results in parts of so many curves that one picture shows them.
    fn parts(&self) -> Vec<Results> {
        let curves = |phase: &PhaseResults| {
            let work = phase.jobs.iter().flat_map(candor_record::results::JobResults::work);
            work.filter(|op| op.latency.is_some()).count()
        };
        let mut parts: Vec<(usize, Vec<PhaseResults>)> = Vec::new();
        for phase in &self.results.phases {
            let count = curves(phase);
            match parts.last_mut() {
                Some((known, phases)) if *known + count <= CURVES_MAX => {
                    *known += count;
                    phases.push(phase.clone());
                }
                _ => parts.push((count, vec![phase.clone()])),
            }
        }
        parts.into_iter().map(|(_, phases)| Results { phases, ..self.results.clone() }).collect()
    }
}
