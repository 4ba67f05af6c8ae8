//! Rates, latencies, caches and devices over time.

use candor_chart::{Axis, Chart, Level, Mark, MarkKind, Panel, Series, Shape, Weight};
use candor_record::results::{DeviceInterval, DeviceResults, Interval, PhaseResults};
use candor_record::{
    Ceiling, Finding, PhaseJudgement, PhaseRecord, Report, Severity, Snapshot, TimeRange, Unit,
};

use super::curve::{self, Curve, Part};
use super::{Run, SERIES_MAX, frame};

/// Ceilings of a phase that are drawn: those that are nearest to the rate.
const CEILINGS_MAX: usize = 3;

/// Rates, latencies, caches and devices over time; several runs lie over each other.
///
/// # Errors
/// A sentence: no run has intervals.
pub fn timeline(runs: &[Run<'_>]) -> Result<Chart, String> {
    let lines = Lines::of(runs);
    let mut panels = Vec::new();
    let bytes = lines.series(|interval| interval.bytes_per_s.filter(|rate| *rate > 0.0));
    if !bytes.is_empty() {
        // An interval of nothing between others is a rate of 0, not a gap.
        let mut bytes = lines.series(|interval| interval.bytes_per_s);
        // Operations that move nothing, such as `stat`, would fill the legend.
        let moves = |points: &[(f64, f64)]| points.iter().any(|(_, rate)| *rate > 0.0);
        bytes.retain(|of| matches!(&of.shape, Shape::Line(points) if moves(points)));
        let levels = ceilings(runs, |ceiling| ceiling.bytes_per_s);
        let axis = Axis::linear("Throughput", Unit::BytesPerS);
        panels.push(Panel { levels, ..Panel::new(axis, bytes) });
    }
    let ops = lines.series(|interval| interval.ops_per_s);
    if !ops.is_empty() {
        let levels = ceilings(runs, |ceiling| ceiling.ops_per_s);
        let axis = Axis::linear(curve::rate_label(&lines.curves), Unit::OpsPerS);
        panels.push(Panel { levels, ..Panel::new(axis, ops) });
    }
    panels.extend(lines.latency());
    if let [run] = runs {
        panels.extend(run.report.and_then(|report| cache(report, &lines.offsets[0])));
        panels.extend(devices(run, &lines.offsets[0]));
    }
    let chart = finished(panels, marks(runs, &lines), "performance over time", runs)?;
    Ok(frame::first_of(chart, lines.slots.len()))
}

/// Whether a timeline says something: intervals of the work, or of devices where there is no work.
pub fn has_intervals(runs: &[Run<'_>]) -> bool {
    let curves = curve::all(runs);
    let mut phases = runs.iter().flat_map(|run| &run.results.phases);
    if curves.is_empty() {
        phases.any(|phase| phase.devices.iter().any(|of| !of.intervals.is_empty()))
    } else {
        curves.iter().any(|curve| curve.op.intervals.len() > 1)
    }
}

/// Latencies over time alone, on a logarithmic axis.
///
/// # Errors
/// A sentence: no run has latencies of its intervals.
pub fn latency(runs: &[Run<'_>]) -> Result<Chart, String> {
    let lines = Lines::of(runs);
    let panels = lines.latency().into_iter().collect();
    let chart = finished(panels, marks(runs, &lines), "latency over time", runs)?;
    Ok(frame::first_of(chart, lines.slots.len()))
}

fn finished(
    panels: Vec<Panel>,
    marks: Vec<Mark>,
    what: &str,
    runs: &[Run<'_>],
) -> Result<Chart, String> {
    let chart = Chart { x: Axis::elapsed(), panels, marks, ..Chart::default() };
    if chart.is_empty() {
        Err("no timeline: no interval of the runs was recorded".into())
    } else {
        Ok(frame::framed(chart, what, runs))
    }
}

/// Marks along the time of a single run; several runs have no phases in common.
pub fn marks(runs: &[Run<'_>], lines: &Lines<'_>) -> Vec<Mark> {
    if let [run] = runs { phases(run, &lines.offsets[0]) } else { Vec::new() }
}

/// Curves with the times of their phases.
pub struct Lines<'a> {
    curves: Vec<Curve<'a>>,
    names: Vec<String>,
    /// Each name once, in the order of first use.
    pub slots: Vec<String>,
    /// Start of each phase of each run since the start of its first, in ns.
    offsets: Vec<Vec<f64>>,
}

impl<'a> Lines<'a> {
    /// Of all operations that are work.
    pub fn of(runs: &[Run<'a>]) -> Lines<'a> {
        let curves = curve::all(runs);
        let mut names = curve::names(&curves, runs, &[Part::Run, Part::Job, Part::Op]);
        let mut slots = curve::slots(&names);
        // A series of phases whose jobs have a name each: the phases are marked along the axis.
        if slots.len() > SERIES_MAX
            && runs.iter().flat_map(|of| &of.results.phases).all(|phase| phase.jobs.len() <= 1)
        {
            names = curve::names(&curves, runs, &[Part::Run, Part::Op]);
            slots = curve::slots(&names);
        }
        let offsets = runs.iter().map(|run| offsets(&run.results.phases)).collect();
        Lines { curves, names, slots, offsets }
    }

    /// The intervals of a name, phase by phase, each with the start of its phase in ns.
    pub fn named(&self, name: &str) -> impl Iterator<Item = (f64, &'a [Interval])> {
        let all = self.curves.iter().zip(&self.names).filter(move |(_, of)| *of == name);
        all.map(|(curve, _)| (self.offsets[curve.run][curve.at], &curve.op.intervals[..]))
    }

    /// End of the last interval in ns.
    pub fn end_ns(&self) -> f64 {
        let ends =
            self.slots.iter().flat_map(|name| self.named(name)).filter_map(|(offset, all)| {
                let last = all.last()?;
                Some(offset + last.start_ns as f64 + last.length_ns as f64)
            });
        ends.fold(0.0, f64::max)
    }

    /// One series for each name, with a gap between two phases; none where nothing is known.
    fn series(&self, value: impl Fn(&Interval) -> Option<f64>) -> Vec<Series> {
        let of_name = |(slot, name): (usize, &String)| {
            let mut points = Vec::new();
            for (offset, intervals) in self.named(name) {
                points.extend(intervals.iter().map(|interval| {
                    (middle(offset, interval), value(interval).unwrap_or(f64::NAN))
                }));
                points.push((offset, f64::NAN));
            }
            points.pop();
            let is_known = points.iter().any(|(_, value)| value.is_finite());
            is_known.then(|| Series::new(name.clone(), slot, Shape::Line(points)))
        };
        self.slots.iter().enumerate().take(SERIES_MAX).filter_map(of_name).collect()
    }

    /// The median with the band up to p99, or the mean where only that is known.
    fn latency(&self) -> Option<Panel> {
        let medians = self.series(|interval| interval.latency_ns_p50.map(|ns| ns as f64));
        let means = self.series(|interval| interval.latency_ns_mean);
        let mut all: Vec<Series> = Vec::new();
        for (slot, name) in self.slots.iter().enumerate().take(SERIES_MAX) {
            let find = |list: &[Series]| list.iter().find(|of| of.slot == slot).cloned();
            let Some(median) = find(&medians) else {
                all.extend(find(&means).map(|of| Series { name: format!("{name} mean"), ..of }));
                continue;
            };
            let band = self.band(name);
            let label = if band.is_empty() { "p50" } else { "p50 to p99" };
            if !band.is_empty() {
                all.push(Series::new(String::new(), slot, Shape::Band(band)));
            }
            all.push(Series { name: format!("{name} {label}"), ..median });
        }
        (!all.is_empty()).then(|| Panel::new(Axis::log("Latency", Unit::Ns), all))
    }

    fn band(&self, name: &str) -> Vec<(f64, f64, f64)> {
        let mut spans = Vec::new();
        for (offset, intervals) in self.named(name) {
            spans.extend(intervals.iter().map(|interval| {
                let (low, high) = interval.latency_ns_p50.zip(interval.latency_ns_p99).unzip();
                let ns = |of: Option<u64>| of.map_or(f64::NAN, |ns| ns as f64);
                (middle(offset, interval), ns(low), ns(high))
            }));
            spans.push((offset, f64::NAN, f64::NAN));
        }
        if spans.iter().any(|(_, low, _)| low.is_finite()) { spans } else { Vec::new() }
    }
}

fn middle(offset: f64, interval: &Interval) -> f64 {
    offset + interval.start_ns as f64 + interval.length_ns as f64 / 2.0
}

/// Start of each phase since that of the first: by the wall clock where it is known of all, else
/// as if one followed the other at once.
fn offsets(phases: &[PhaseResults]) -> Vec<f64> {
    let starts: Option<Vec<u64>> = phases.iter().map(|phase| phase.start_unix_ms).collect();
    if let Some(starts) = starts.filter(|starts| starts.is_sorted()) {
        let first = starts.first().copied().unwrap_or(0);
        return starts.iter().map(|start| (start - first) as f64 * 1e6).collect();
    }
    let mut next = 0.0;
    let start = |phase: &PhaseResults| {
        let start = next;
        next += length(phase);
        start
    };
    phases.iter().map(start).collect()
}

fn length(phase: &PhaseResults) -> f64 {
    let jobs = phase.jobs.iter().map(|job| job.elapsed_ns);
    let devices = phase.devices.iter().filter_map(|of| of.intervals.last());
    let ends = devices.map(|last| last.start_ns + last.length_ns);
    jobs.chain(ends).max().unwrap_or(0) as f64
}

/// The phases of a run as ranges, with the rules whose findings weigh on them, and the findings
/// that have a moment, each at it.
fn phases(run: &Run<'_>, offsets: &[f64]) -> Vec<Mark> {
    let judged: Vec<&PhaseJudgement> =
        run.report.map_or(Vec::new(), |report| report.judged().map(|(_, of)| of).collect());
    let weighty = |at: usize| {
        let findings = judged.get(at).into_iter().flat_map(|of| &of.findings);
        findings.filter(|finding| finding.severity >= Severity::Caution)
    };
    let rules = |at: usize| {
        let without_moment = weighty(at).filter(|finding| finding.when.is_none());
        without_moment.map(|finding| finding.rule.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mark = |(at, phase): (usize, &PhaseResults)| {
        let repeat =
            if phase.repeat > 0 { format!(" #{}", phase.repeat + 1) } else { String::new() };
        let rules = rules(at);
        let rules = if rules.is_empty() { rules } else { format!(" ({rules})") };
        Mark {
            at: offsets[at],
            until: Some(offsets[at] + length(phase)),
            label: format!("{}{repeat}{rules}", phase.name),
            kind: MarkKind::Phase,
        }
    };
    let phases = &run.results.phases;
    // The title names the only phase already.
    let mut marks: Vec<Mark> = if phases.len() == 1 && rules(0).is_empty() {
        Vec::new()
    } else {
        phases.iter().enumerate().map(mark).collect()
    };
    for (at, offset) in offsets.iter().enumerate() {
        let with_moment = weighty(at).filter_map(|finding| Some((finding, finding.when?)));
        marks.extend(with_moment.flat_map(|(finding, when)| moments_of(finding, when, *offset)));
    }
    marks
}

/// A finding at its moment; where it has an end, that too.
fn moments_of(finding: &Finding, when: TimeRange, offset: f64) -> Vec<Mark> {
    let name = format!("{} {}", finding.rule, finding.title);
    let mark = |ns: u64, label: String| Mark {
        at: offset + ns as f64,
        until: None,
        label,
        kind: MarkKind::Finding,
    };
    let end = when.until_ns.map(|ns| mark(ns, format!("{} ends", finding.rule)));
    std::iter::once(mark(when.from_ns, name)).chain(end).collect()
}

/// The ceilings that lie nearest to the rates, of those that hold for every phase: a line goes
/// through all of them, and must not stand below what another phase did.
fn ceilings(runs: &[Run<'_>], rate: fn(&Ceiling) -> Option<f64>) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    let judged = || runs.iter().filter_map(|run| run.report).flat_map(Report::judged);
    for ceiling in judged().flat_map(|(_, judged)| &judged.ceilings) {
        let Some(value) = rate(ceiling) else { continue };
        let same = |of: &Ceiling| of.element == ceiling.element && rate(of) == Some(value);
        if !judged().all(|(_, judged)| judged.ceilings.iter().any(same)) {
            continue;
        }
        if !levels.iter().any(|level| level.label == ceiling.element && level.value == value) {
            levels.push(Level { value, label: ceiling.element.clone() });
        }
    }
    levels.sort_by(|a, b| a.value.total_cmp(&b.value));
    levels.truncate(CEILINGS_MAX);
    levels
}

/// Pages of the targets in the cache, and dirty pages of the host.
fn cache(report: &Report, offsets: &[f64]) -> Option<Panel> {
    type Bytes = fn(&Snapshot) -> Option<u64>;
    let values: [(&str, Bytes); 3] = [
        ("targets in the page cache", |at| Some(at.cache?.resident_bytes)),
        ("dirty pages of the host", |at| Some(at.vmstat?.dirty_bytes)),
        ("pages being written", |at| Some(at.vmstat?.writeback_bytes)),
    ];
    let series = values.iter().enumerate().filter_map(|(slot, (name, value))| {
        let mut points = Vec::new();
        for ((record, _), offset) in report.judged().zip(offsets) {
            points.extend(
                moments(record)
                    .filter_map(|(at, snapshot)| Some((offset + at, value(snapshot)? as f64))),
            );
            points.push((*offset, f64::NAN));
        }
        points.pop();
        let is_shown = points.iter().any(|(_, bytes)| *bytes > 0.0);
        is_shown.then(|| Series::new(*name, slot, Shape::Line(points)))
    });
    let series: Vec<Series> = series.collect();
    let panel = Panel::new(Axis::linear("Memory", Unit::Bytes), series);
    (!panel.series.is_empty()).then_some(Panel { weight: Weight::Low, ..panel })
}

/// The snapshots of a phase with their times since its start.
fn moments(record: &PhaseRecord) -> impl Iterator<Item = (f64, &Snapshot)> {
    let host = record.host();
    let start = host.before.at_ns;
    let all = std::iter::once(&host.before).chain(&host.during).chain([&host.after]);
    all.map(move |at| (at.at_ns.saturating_sub(start) as f64, at))
}

/// Rates and utilisation of each device, whoever used it.
fn devices(run: &Run<'_>, offsets: &[f64]) -> Vec<Panel> {
    let all = || run.results.phases.iter().flat_map(|phase| &phase.devices);
    let are_several = all().any(|device| all().any(|other| other.host != device.host));
    let name_of = |device: &DeviceResults| {
        if are_several {
            format!("{}:{}", device.host, device.device)
        } else {
            device.device.clone()
        }
    };
    let of = |value: fn(&DeviceInterval) -> Option<f64>, what: &str| -> Vec<Series> {
        let mut names: Vec<String> = Vec::new();
        for device in run.results.phases.iter().flat_map(|phase| &phase.devices) {
            let name = name_of(device);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let series = names.iter().filter_map(|name| {
            let mut points = Vec::new();
            for (phase, offset) in run.results.phases.iter().zip(offsets) {
                let same = phase.devices.iter().filter(|device| name_of(device) == **name);
                for at in same.flat_map(|device| &device.intervals) {
                    let value = value(at).unwrap_or(f64::NAN);
                    let start = offset + at.start_ns as f64;
                    points.extend([(start, value), (start + at.length_ns as f64, value)]);
                }
                points.push((*offset, f64::NAN));
            }
            points.pop();
            let is_shown = points.iter().any(|(_, value)| *value > 0.0);
            let name = if what.is_empty() { (*name).clone() } else { format!("{name} {what}") };
            is_shown.then(|| Series::new(name, 0, Shape::Line(points)))
        });
        series.collect()
    };
    let reads = of(|at| at.bytes_read_per_s, "reads");
    let rates: Vec<Series> =
        reads.into_iter().chain(of(|at| at.bytes_written_per_s, "writes")).collect();
    let busy = of(|at| at.utilisation, "");
    let panel = |axis: Axis, series: Vec<Series>| {
        let with_slot = |(slot, series): (usize, Series)| Series { slot, ..series };
        let series = series.into_iter().take(SERIES_MAX).enumerate().map(with_slot).collect();
        Panel { weight: Weight::Low, ..Panel::new(axis, series) }
    };
    let panels = [
        panel(Axis::linear("Devices", Unit::BytesPerS), rates),
        panel(Axis::linear("Devices in use", Unit::Share), busy),
    ];
    panels.into_iter().filter(|panel| !panel.series.is_empty()).collect()
}
