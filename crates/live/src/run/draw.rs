//! The screen of a run, drawn.

use candor_derive::per_second;
use candor_record::fmt::{self, column};
use candor_record::{Ceiling, Finding, Severity, Verdict};
use candor_show::progress;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use super::state::{HostRow, OpRow, PhaseResult, State, WORKER_VALUES};
use super::{RunScreen, View};
use crate::marks::{Timeline, bar};
use crate::page::{self, Section, bad, caution, dim, drawn, strong};
use crate::units::{Units, time};

/// Columns of a figure beside its timeline.
const FIGURE_COLUMNS: usize = 42;
/// Columns of the names of a job and of an operation.
const JOB_AND_OP_COLUMNS: usize = 28;
/// Columns of the name of an operation.
const OP_COLUMNS: usize = 9;
/// The same, if a name is longer.
const OP_COLUMNS_LONG: usize = 15;
/// Columns of a row of workers, of which several stand side by side.
const WORKER_COLUMNS: usize = 40;

/// Draws the screen.
pub fn screen(screen: &RunScreen, now_ns: u64, buffer: &mut Buffer) {
    let state = screen.shown();
    head(screen, state, now_ns, buffer);
    let rows = 4..buffer.area.height - 1;
    let columns = usize::from(buffer.area.width);
    match screen.view {
        View::Overview => page::sections(buffer, rows, overview(screen, state, columns)),
        _ => page::scrolled(buffer, rows, &lines(screen, columns), &screen.scroll),
    }
    page::line(buffer, buffer.area.height - 1, &keys(screen));
}

/// The run in a line.
pub fn line(state: &State, now_ns: u64) -> String {
    if let Some(preparing) = preparing(state) {
        return preparing;
    }
    let rates = progress::rates(&state.rates);
    let left = state.progress.left(now_ns).map(|left| progress::time_left(&left));
    let parts = [Some(progress::head(&state.progress)), Some(rates), left];
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

fn preparing(state: &State) -> Option<String> {
    let preparing = state.preparing.as_ref()?;
    let amount = match preparing.bytes {
        (_, 0) => String::new(),
        (done, total) => format!(", {} of {}", column::size(done), column::size(total)),
    };
    Some(format!("{} {}{amount}", progress::preparing(preparing.step), preparing.what))
}

/// Run, phase and how far they are.
fn head(screen: &RunScreen, state: &State, now_ns: u64, buffer: &mut Buffer) {
    let what = if screen.replay { "candor, a stored run" } else { "candor" };
    let title = format!("{what} · {}", state.progress.run());
    let frozen = if screen.frozen.is_some() { "FROZEN · " } else { "" };
    let right = format!("{frozen}{} · {}", screen.view.name(), fmt::wait(now_ns));
    page::ends(buffer, 0, &Span::styled(title, strong()), &Span::styled(right, dim()));
    let columns = usize::from(buffer.area.width);
    if let Some(preparing) = preparing(state) {
        page::ends(buffer, 1, &preparing.into(), &"".into());
        let (done, total) = state.preparing.as_ref().map_or((0, 0), |preparing| preparing.bytes);
        if total > 0 {
            let share = fmt::ratio(done as f64, total as f64);
            page::line(buffer, 2, &Line::styled(bar(share, &[], columns), dim()));
        }
        return;
    }
    let ramp = if state.in_ramp { " (ramp: not counted)" } else { "" };
    let phase = format!("{}{ramp}", progress::head(&state.progress));
    let left = if state.over {
        "it is over".to_owned()
    } else {
        state.progress.left(now_ns).map_or_else(String::new, |left| progress::time_left(&left))
    };
    page::ends(buffer, 1, &Span::styled(phase, strong()), &left.into());
    if let Some(share) = state.progress.share(now_ns) {
        page::line(buffer, 2, &Line::styled(bar(share, &[], columns), drawn()));
    }
}

fn keys(screen: &RunScreen) -> Line<'static> {
    if screen.ending && !screen.replay {
        let text = "it ends with a partial result · q again: at once, without a result";
        return Line::styled(text, strong());
    }
    let end = if screen.replay { "q end" } else { "q end (partial result)" };
    let scroll = if screen.view == View::Overview { "" } else { " · ↑↓" };
    let freeze = if screen.frozen.is_some() { "resume" } else { "freeze" };
    let sort = screen.sort.name();
    Line::styled(format!("v view · u units · s {sort} · space {freeze}{scroll} · {end}"), dim())
}

/// The lines of a view that is one list.
fn lines(screen: &RunScreen, columns: usize) -> Vec<Line<'static>> {
    let state = screen.shown();
    let lines = match screen.view {
        View::Overview => Vec::new(),
        View::Jobs => jobs(screen, state).lines,
        View::Workers => workers(screen, state, columns).lines,
        View::Devices => {
            let hosts = hosts(state, columns).lines;
            hosts.into_iter().chain(devices(screen, state, columns).lines).collect()
        }
        View::Findings => findings(state, columns),
    };
    if lines.is_empty() {
        vec![Line::styled("nothing yet: a phase's first interval is not over", dim())]
    } else {
        lines
    }
}

fn overview(screen: &RunScreen, state: &State, columns: usize) -> Vec<Section> {
    let mut jobs = jobs(screen, state);
    let mut hosts = hosts(state, columns);
    hosts.least = hosts.lines.len().min(3);
    let mut devices = devices(screen, state, columns);
    // One of each in any case, and more of both before the rest gets any.
    jobs.least = jobs.lines.len().min(4);
    devices.least = devices.lines.len().min(3);
    let figures = figures(screen.units, state, columns);
    let mut found = messages(state, columns);
    found.least = found.lines.len().min(2);
    let mut results = results(screen.units, state);
    results.least = results.lines.len().min(3);
    vec![figures, jobs, hosts, devices, found, results]
}

/// Rates, latencies and CPUs over time, and the ceilings of the rates.
fn figures(units: Units, state: &State, columns: usize) -> Section {
    let picture_columns = columns.saturating_sub(FIGURE_COLUMNS);
    let timelines = &state.timelines;
    let row = |label: &str, number: String, of: &Timeline, most: &dyn Fn(f64) -> String| {
        let most = of
            .greatest(picture_columns)
            .map_or_else(String::new, |value| format!("max {}", most(value)));
        page::figure(label, &number, of.sparkline(picture_columns), &most)
    };
    let count = |value: f64| column::iops(value);
    let ns = |value: f64| column::time(value as u64);
    let several = state.ops.iter().filter(|row| row.is_work()).count() > 1;
    let highest = |of: fn(&OpRow) -> Option<u64>| {
        time(state.ops.iter().filter(|row| row.is_work()).filter_map(of).max())
    };
    let [p50, p99] = if several { ["p50, worst", "p99, worst"] } else { ["p50", "p99"] };
    let mut lines = Vec::new();
    let unknown = || "-".to_owned();
    let ops_per_s = state.rates.ops_per_s();
    // The line stays while a phase begins, lest all others move for a moment.
    if ops_per_s.is_some() || !state.is_sampled() {
        let label = state.rates.unit();
        lines.push(row(label, ops_per_s.map_or_else(unknown, count), &timelines.ops_per_s, &count));
    }
    let rate = |value: f64| units.rate(value);
    let throughput = if state.is_sampled() { rate(state.rates.bytes_per_s) } else { unknown() };
    lines.push(row("throughput", throughput, &timelines.bytes_per_s, &rate));
    lines.push(row(p50, highest(|row| row.op.latency_ns_p50), &timelines.p50, &ns));
    lines.push(row(p99, highest(|row| row.op.latency_ns_p99), &timelines.p99, &ns));
    if let Some(busy) = state.cpu_busy {
        lines.push(row("CPUs busy", column::share(busy), &timelines.cpu, &|v| column::share(v)));
    }
    lines.extend(ceilings(units, state, columns));
    let least = lines.len();
    Section { lines, least }
}

/// A bar of each rate that has ceilings, with a mark at each of them.
fn ceilings(units: Units, state: &State, columns: usize) -> Vec<Line<'static>> {
    // A ceiling in both units is one, and its bytes are what it was given in.
    let only_ops = |c: &Ceiling| c.ops_per_s.filter(|_| c.bytes_per_s.is_none());
    let ops_per_s = state.rates.ops_per_s().unwrap_or(0.0);
    let bars: Vec<CeilingBar> = [
        CeilingBar::of(state, |c| c.bytes_per_s, state.rates.bytes_per_s, &|v| units.rate(v)),
        CeilingBar::of(state, only_ops, ops_per_s, &column::iops),
    ]
    .into_iter()
    .flatten()
    .collect();
    let legend = bars.iter().map(|of| of.lowest.chars().count()).max().unwrap_or(0);
    let columns = columns.saturating_sub(14 + legend).clamp(10, 60);
    bars.iter().map(|of| of.line(columns)).collect()
}

/// A rate beside its ceilings.
struct CeilingBar {
    /// Rate, as a share of the bar.
    share: f64,
    /// Ceilings, as shares of the bar.
    marks: Vec<f64>,
    /// The lowest ceiling, in words.
    lowest: String,
}

impl CeilingBar {
    /// None where no ceiling is in that unit.
    fn of(
        state: &State,
        most: impl Fn(&Ceiling) -> Option<f64>,
        now: f64,
        number: &dyn Fn(f64) -> String,
    ) -> Option<CeilingBar> {
        let of = |ceiling| most(ceiling).map(|most| (most, ceiling));
        let all: Vec<(f64, &Ceiling)> = state.ceilings.iter().filter_map(of).collect();
        let (lowest, ceiling) = *all.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
        // Those far above would leave no room for what is looked at; a rate above its ceiling
        // still fits, and the mark shows that it is above.
        let near = all.iter().map(|(most, _)| *most).filter(|most| *most <= 4.0 * lowest);
        let whole = near.fold(now, f64::max);
        Some(CeilingBar {
            share: fmt::ratio(now, whole),
            marks: all.iter().map(|(most, _)| fmt::ratio(*most, whole)).collect(),
            lowest: format!("{} {}", ceiling.element, number(lowest)),
        })
    }

    fn line(&self, columns: usize) -> Line<'static> {
        Line::from(vec![
            Span::styled(format!("{:<10}", "ceiling"), dim()),
            Span::styled(bar(self.share, &self.marks, columns), drawn()),
            Span::raw(format!("  {}", self.lowest)),
        ])
    }
}

/// A row for each kind of operation of each job.
fn jobs(screen: &RunScreen, state: &State) -> Section {
    if state.ops.is_empty() {
        return Section::default();
    }
    // Names of requests on objects, such as `complete_upload`, take room from names of jobs.
    let is_long = state.ops.iter().any(|row| row.op.name.len() > OP_COLUMNS);
    let ops = if is_long { OP_COLUMNS_LONG } else { OP_COLUMNS };
    let jobs = JOB_AND_OP_COLUMNS - ops;
    let row = |cells: [&str; 7]| {
        let [job, op, per_s, rate, mean, p50, p99] = cells;
        let job = candor_show::cut(job, jobs);
        let op = candor_show::cut(op, ops);
        format!("{job:<jobs$} {op:<ops$} {per_s:>7} {rate:>11} {mean:>9} {p50:>9} {p99:>9}")
    };
    let mut section =
        Section::titled(row(["job", "operation", "per s", "rate", "mean", "p50", "p99"]));
    let mut rows: Vec<&OpRow> = state.ops.iter().collect();
    screen.sort.apply(&mut rows, |row| per_second(row.op.ops, row.length_ns));
    for OpRow { job, length_ns, op } in rows {
        let rate = moved(screen.units, per_second(op.bytes, *length_ns));
        let [mean, p50, p99] =
            [op.latency_sum_ns.checked_div(op.ops), op.latency_ns_p50, op.latency_ns_p99].map(time);
        let per_s = column::iops(per_second(op.ops, *length_ns));
        section.add(row([job, &op.name, &per_s, &rate, &mean, &p50, &p99]));
    }
    section
}

/// The workers, several side by side.
fn workers(screen: &RunScreen, state: &State, columns: usize) -> Section {
    let beside = (columns / WORKER_COLUMNS).max(1);
    if state.workers.is_empty() {
        return Section::default();
    }
    let several = state.workers.windows(2).any(|two| two[0].job != two[1].job);
    let mut rows: Vec<_> = state.workers.iter().collect();
    if rows.iter().all(|row| row.timeline.greatest(usize::MAX).is_none()) {
        let mut section = Section::titled("workers".to_owned());
        section.add("nothing is known of single workers in an interval".to_owned());
        return section;
    }
    screen.sort.apply(&mut rows, |row| row.ops_per_s);
    let title = format!("{:<10} {:>7} {:>11} {:<7}", "worker", "per s", "rate", "");
    let mut section = Section::titled(vec![title; beside].join("  "));
    for rows in rows.chunks(beside) {
        let cells = rows.iter().map(|row| {
            let name = if several {
                format!("{} {}", candor_show::cut(&row.job, 6), row.rank)
            } else {
                row.rank.to_string()
            };
            let name = if row.is_done { format!("{name} done") } else { name };
            let (per_s, rate) = (column::iops(row.ops_per_s), screen.units.rate(row.bytes_per_s));
            let picture = row.timeline.sparkline(WORKER_VALUES);
            format!("{:<10} {per_s:>7} {rate:>11} {picture}", candor_show::cut(&name, 10))
        });
        section.add(cells.collect::<Vec<_>>().join("  "));
    }
    section
}

/// A row for each of several hosts.
fn hosts(state: &State, columns: usize) -> Section {
    if state.hosts.is_empty() {
        return Section::default();
    }
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), column::share);
    let row = |cells: [&str; 4]| {
        let [host, busy, one_cpu, device] = cells;
        let host = candor_show::cut(host, 19);
        let device = candor_show::cut(device, 24);
        format!("{host:<19} {busy:>9} {one_cpu:>11} {device:>24}")
    };
    let title = ["host", "CPUs busy", "busiest CPU", "busiest device"];
    let mut section = Section::titled(row(title));
    let picture_columns = columns.saturating_sub(68).min(60);
    for HostRow { host, cpu_busy, busiest_cpu, busiest_device, timeline } in &state.hosts {
        let device = busiest_device.as_ref();
        let device = device.map(|(name, busy)| format!("{name} {}", column::share(*busy)));
        let device = device.unwrap_or_else(|| "-".to_owned());
        let text = row([host, &share(*cpu_busy), &share(*busiest_cpu), &device]);
        let picture = Span::styled(timeline.sparkline(picture_columns), drawn());
        section.lines.push(Line::from(vec![Span::raw(format!("{text}  ")), picture]));
    }
    section
}

/// A row for each device below the targets, whoever uses it.
fn devices(screen: &RunScreen, state: &State, columns: usize) -> Section {
    if state.devices.is_empty() {
        return Section::default();
    }
    let row = |cells: [&str; 7]| {
        let [device, reads, read, writes, written, in_flight, busy] = cells;
        let device = candor_show::cut(device, 14);
        format!(
            "{device:<14} {reads:>7} {read:>11} {writes:>8} {written:>11} {in_flight:>9} {busy:>5}"
        )
    };
    let title = ["device", "reads/s", "read", "writes/s", "written", "in flight", "busy"];
    let mut section = Section::titled(row(title));
    let mut rows: Vec<_> = state.devices.iter().collect();
    screen.sort.apply(&mut rows, |row| row.rates.bytes_per_s);
    let picture_columns = columns.saturating_sub(73).min(60);
    for device in rows {
        let rates = &device.rates;
        let text = row([
            &device.device,
            &column::iops(rates.reads_per_s),
            &screen.units.rate(rates.bytes_read_per_s),
            &column::iops(rates.writes_per_s),
            &screen.units.rate(rates.bytes_written_per_s),
            &device.in_flight.to_string(),
            &column::share(device.utilisation),
        ]);
        let picture = device.timeline.sparkline(picture_columns);
        section
            .lines
            .push(Line::from(vec![Span::raw(format!("{text}  ")), Span::styled(picture, drawn())]));
    }
    section
}

/// Findings and warnings in a line each, the latest first; a rule that found several, in the
/// phases of a series, has one line.
fn messages(state: &State, columns: usize) -> Section {
    let count = state.found.len() + state.told.len();
    if count == 0 {
        return Section::default();
    }
    let mut section = Section::titled("findings".to_owned());
    let mut rules: Vec<(&Finding, usize)> = Vec::new();
    for (_, finding) in state.found.iter().rev() {
        match rules.iter_mut().find(|(known, _)| known.rule == finding.rule) {
            Some((_, times)) => *times += 1,
            None => rules.push((finding, 1)),
        }
    }
    for (finding, times) in rules {
        let times = if times > 1 { format!(", {times} times") } else { String::new() };
        let Finding { rule, title, sentence, .. } = finding;
        let text = candor_show::cut(&format!("{rule} {title}{times}: {sentence}"), columns);
        section.lines.push(Line::styled(text, tone(finding.severity)));
    }
    for sentence in state.told.iter().rev() {
        section.lines.push(Line::styled(candor_show::cut(sentence, columns), caution()));
    }
    section
}

/// Colour of a finding, whose words say the same.
fn tone(severity: Severity) -> Style {
    match severity {
        Severity::Explains => Style::new(),
        Severity::Caution | Severity::Unverified => caution(),
        Severity::Wrong => bad(),
    }
}

/// Findings and warnings in full.
fn findings(state: &State, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut add = |text: &str, indent: &str, style: Style| {
        for line in candor_show::wrap(text, columns - indent.len()) {
            lines.push(Line::styled(format!("{indent}{line}"), style));
        }
    };
    for (phase, finding) in state.found.iter().rev() {
        let style = tone(finding.severity).patch(strong());
        add(&format!("{} {}, in {phase}", finding.rule, finding.title), "", style);
        add(&finding.sentence, "   ", Style::new());
        add(&finding.advice, "   ", dim());
    }
    for sentence in state.told.iter().rev() {
        add(sentence, "", caution());
    }
    if lines.is_empty() {
        lines.push(Line::styled("no findings so far; a phase is judged when it is over", dim()));
    }
    lines
}

/// A rate, or a dash for work that moves no bytes.
fn moved(units: Units, bytes_per_s: f64) -> String {
    if bytes_per_s > 0.0 { units.rate(bytes_per_s) } else { "-".to_owned() }
}

/// Rates of the phases that are over, the latest first.
fn results(units: Units, state: &State) -> Section {
    if state.results.is_empty() {
        return Section::default();
    }
    let mut section = Section::titled("results so far".to_owned());
    for PhaseResult { phase, rates, verdict } in state.results.iter().rev() {
        let ops = rates.ops_per_s().map_or_else(|| "-".to_owned(), column::iops);
        let rate = moved(units, rates.bytes_per_s);
        let phase = candor_show::cut(phase, 34);
        let verdict = verdict.map_or("", Verdict::name);
        section.add(format!("{phase:<34} {ops:>7} {rate:>11}  {verdict}"));
    }
    section
}
