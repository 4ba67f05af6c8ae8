//! The table of results, expectation beside measurement.

use candor_plan::work::Figure;
use candor_record::fmt::{self, column};
use candor_record::{
    Ceiling, Latency, Measurement, OpStats, PhaseJudgement, PhaseRecord, Report, Severity, Verdict,
};

use crate::layout::{Align, Cell, Page, Table, cut, width, wrap};
use crate::style::{Style, Tone};
use crate::words;

/// Longest name of a row; the JSON report has it in full.
const NAME_COLUMNS_MAX: usize = 44;
/// Room that names keep however narrow the terminal is.
const NAME_COLUMNS_MIN: usize = 12;

/// One line of the table, and what is said about it.
#[derive(Default)]
struct Row {
    name: String,
    /// Operation that it counts; absent where it only adds to the row above.
    operation: Option<String>,
    /// IOPS, MB/s, MiB/s, median and 99th percentile.
    numbers: [Cell; 5],
    /// Set in the first row of a phase.
    phase: Option<About>,
}

/// Facts printed once for a phase.
struct About {
    /// The ceiling it came nearest to.
    at_most: String,
    /// Share of that ceiling.
    used: String,
    mark: Cell,
    /// Limit of the phase or what it measured instead, and the findings that say so.
    remark: String,
}

/// How much stands beside the numbers, and how much below them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Everything in one line.
    Wide,
    /// The remark below.
    Medium,
    /// Ceiling and remark below.
    Narrow,
    /// Neither remark nor ceiling nor MiB/s.
    Brief,
}

impl Shape {
    /// The columns of numbers that there is room for.
    fn of<T: Clone>(self, numbers: &[T; 5]) -> Vec<T> {
        let binary = |nth: usize| self == Shape::Brief && nth == 2;
        let kept = numbers.iter().enumerate().filter(|(nth, _)| !binary(*nth));
        kept.map(|(_, cell)| cell.clone()).collect()
    }
}

/// The table, and how each ceiling in it comes about.
pub(super) fn section(page: &mut Page, report: &Report) {
    let rows: Vec<Row> =
        report.judged().flat_map(|(phase, judged)| phase_rows(report, phase, judged)).collect();
    if !rows.is_empty() {
        page.blank();
        for line in draw(page.style, &rows) {
            page.line(&line);
        }
    }
    search_steps(page, report);
    submissions(page, report);
    follow_ups(page, report);
    ceilings(page, report);
}

/// The table in so many lines at most, without what is said about its rows.
pub(super) fn brief(style: &Style, report: &Report, lines_max: usize) -> Vec<String> {
    let mut rows: Vec<Row> =
        report.judged().flat_map(|(phase, judged)| phase_rows(report, phase, judged)).collect();
    let all = rows.len();
    if all == 0 {
        return Vec::new();
    }
    if all >= lines_max {
        rows.truncate(lines_max.saturating_sub(2));
    }
    let too_wide = table(&rows, Shape::Brief, NAME_COLUMNS_MAX).width();
    let names = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let names = (names + style.columns()).saturating_sub(too_wide).max(NAME_COLUMNS_MIN);
    let table = table(&rows, Shape::Brief, names.min(NAME_COLUMNS_MAX));
    let more = (all > rows.len()).then(|| format!("… and {} more rows", all - rows.len()));
    table.lines(style).into_iter().chain(more).collect()
}

/// The steps of a search, in one line: they chose what was measured, and are no results.
fn search_steps(page: &mut Page, report: &Report) {
    let step = |phase: &PhaseRecord| {
        let all = phase.measurements.iter().flat_map(Measurement::work_operations);
        let rates = all.filter(|stats| stats.ops > 0).map(|stats| column::iops(stats.ops_per_s));
        format!("{}: {} IOPS", phase.name, rates.collect::<Vec<_>>().join(" and "))
    };
    let steps: Vec<_> = report.phases.iter().filter(|phase| phase.search_step).map(step).collect();
    if !steps.is_empty() {
        page.blank();
        page.aside("", &format!("Short trials, not judged: {}.", steps.join("; ")));
    }
}

/// How operations were handed over in phases before which both ways were tried.
fn submissions(page: &mut Page, report: &Report) {
    let phase = |phase: &PhaseRecord| {
        let trial = phase.host().submission?;
        let ways = [
            ("all at once", trial.ops_per_s_at_once),
            ("one at a time", trial.ops_per_s_one_at_a_time),
        ];
        let [(used, rate), (other, others)] =
            if trial.one_at_a_time { [ways[1], ways[0]] } else { ways };
        let [rate, others] = [rate, others].map(column::iops);
        Some(format!("{used} for {} ({rate} IOPS; {other} {others})", phase.name))
    };
    let phases: Vec<_> = report.phases.iter().filter_map(phase).collect();
    if !phases.is_empty() {
        page.blank();
        let phases = phases.join("; ");
        page.aside("", &format!("Submission, tried for a moment before the clock: {phases}."));
    }
}

/// Results and costs of the follow-ups of a phase, a sentence or two for each.
fn follow_ups(page: &mut Page, report: &Report) {
    let several = report.phases.iter().filter(|phase| !phase.follow_ups.is_empty()).count() > 1;
    let mut lines = report.judged().flat_map(|(phase, judged)| {
        let of = move |line: &String| match several {
            true => format!("{}: {line}", phase.name),
            false => line.clone(),
        };
        judged.follow_ups.iter().map(of)
    });
    let Some(first) = lines.next() else { return };
    page.blank();
    page.line(&page.style.paint(Tone::Strong, "Short trials afterwards, to tell what limited it"));
    for line in std::iter::once(first).chain(lines) {
        page.aside("  ", &line);
    }
}

/// The table in the widest shape that fits.
fn draw(style: &Style, rows: &[Row]) -> Vec<String> {
    for shape in [Shape::Wide, Shape::Medium] {
        let table = table(rows, shape, NAME_COLUMNS_MAX);
        if table.width() <= style.columns() {
            return with_remarks(style, rows, &table, shape);
        }
    }
    let too_wide = table(rows, Shape::Narrow, NAME_COLUMNS_MAX).width();
    let names = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
    let names = (names + style.columns()).saturating_sub(too_wide).max(NAME_COLUMNS_MIN);
    let table = table(rows, Shape::Narrow, names.min(NAME_COLUMNS_MAX));
    with_remarks(style, rows, &table, Shape::Narrow)
}

fn table(rows: &[Row], shape: Shape, names: usize) -> Table {
    use Align::{Left, Right};
    let numbers =
        [("IOPS", Right), ("MB/s", Right), ("MiB/s", Right), ("p50", Right), ("p99", Right)];
    let mut columns = [&[("", Left)], &shape.of(&numbers)[..]].concat();
    let mut phases = rows.iter().filter_map(|row| row.phase.as_ref());
    let has_room = matches!(shape, Shape::Wide | Shape::Medium);
    let with_ceilings = has_room && phases.any(|about| !about.at_most.is_empty());
    if with_ceilings {
        columns.extend([("at most", Right), ("used", Right)]);
    }
    columns.push(("believe", Left));
    if shape == Shape::Wide {
        columns.push(("why", Left));
    }
    let mut table = Table::new(&columns);
    for row in rows {
        let mut cells =
            [&[Cell::from(cut(&row.name, names))], &shape.of(&row.numbers)[..]].concat();
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
    fn of(report: &Report, phase: &PhaseRecord, judged: &PhaseJudgement) -> About {
        let [at_most, used] = nearest_ceiling(judged);
        let mark = match measured(phase) {
            true => Cell::toned(words::mark(judged.verdict), words::tone(judged.verdict)),
            false => Cell::from("-"),
        };
        About { at_most, used, mark, remark: remark(report, phase, judged) }
    }

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

/// Whether anything completed in a phase.
pub(super) fn measured(phase: &PhaseRecord) -> bool {
    phase.measurements.iter().any(|measurement| measurement.ops_done() > 0)
}

/// The rows of a phase: one if it did one kind of thing, else a title and one for each.
fn phase_rows(report: &Report, phase: &PhaseRecord, judged: &PhaseJudgement) -> Vec<Row> {
    let many_jobs = phase.measurements.len() > 1;
    let rows: Vec<Row> = phase
        .measurements
        .iter()
        .flat_map(|measurement| job_rows(measurement, many_jobs, judged.verdict))
        .collect();
    let mut rows = match rows.iter().filter(|row| row.operation.is_some()).count() {
        // The first row is the phase; what follows (flushes, intended starts) belongs to it.
        1 => rows,
        _ => std::iter::once(Row::default()).chain(rows).collect(),
    };
    let first = &mut rows[0];
    first.name = title(phase, first.operation.as_deref());
    first.phase = Some(About::of(report, phase, judged));
    rows
}

/// The name of a phase, with what tells its only row from others.
fn title(phase: &PhaseRecord, operation: Option<&str>) -> String {
    let unnamed = |name: &&str| !phase.name.to_lowercase().contains(*name);
    let operation = operation.filter(unnamed).map(|name| format!(", {name}"));
    let repeat = (phase.repeat > 0).then(|| format!(" #{}", phase.repeat + 1));
    let after = [operation, repeat].into_iter().flatten().collect::<String>();
    // The end stays: it is what differs.
    format!("{}{after}", cut(&phase.name, NAME_COLUMNS_MAX - width(&after)))
}

/// One row per operation that a job did, each followed by what belongs to it.
fn job_rows(measurement: &Measurement, named: bool, verdict: Verdict) -> Vec<Row> {
    let prefix = if named { format!("  {} ", measurement.job) } else { "  ".to_owned() };
    let row = |name: &str, numbers, operation| Row {
        name: format!("{prefix}{name}"),
        numbers,
        operation,
        ..Row::default()
    };
    let mut rows = Vec::new();
    for stats in measurement.work_operations().filter(|op| op.ops > 0 || op.failed > 0) {
        let name = Some(stats.name.clone());
        rows.push(row(&stats.name, numbers(stats, stats.latency.as_ref(), verdict), name));
        if let Some(latency) = &stats.from_intended {
            let [.., p50, p99] = numbers(stats, Some(latency), verdict);
            let numbers = [Cell::default(), Cell::default(), Cell::default(), p50, p99];
            rows.push(row(&format!("{} from intended start", stats.name), numbers, None));
        }
    }
    let flushes = measurement.figure(Figure::Flush);
    if flushes.ops > 0 {
        let [iops, _, _, p50, p99] = numbers(&flushes, flushes.latency.as_ref(), verdict);
        rows.push(row("flush", [iops, Cell::default(), Cell::default(), p50, p99], None));
    }
    rows
}

fn numbers(stats: &OpStats, latency: Option<&Latency>, verdict: Verdict) -> [Cell; 5] {
    let percentile = |p| latency.and_then(|latency| latency.percentile_ns(p)).map(column::time);
    let cell = |text: Option<String>| match text {
        None => Cell::from("-"),
        // A number that measures something else should not look like a result.
        Some(text) if verdict == Verdict::MeasuresElse => Cell::toned(text, Tone::Dim),
        Some(text) => Cell::from(text),
    };
    // A piece of memory is no I/O, and its size is candor's choice.
    let is_io = stats.figure != Figure::Memory;
    let percentile = |p| percentile(p).filter(|_| is_io);
    [
        cell(is_io.then(|| column::iops(stats.ops_per_s))),
        cell((stats.bytes > 0).then(|| column::mb_per_s(stats.bytes_per_s))),
        cell((stats.bytes > 0).then(|| column::mib_per_s(stats.bytes_per_s))),
        cell(percentile(50.0)),
        cell(percentile(99.0)),
    ]
}

/// The ceiling that a phase came nearest to, and its share of it.
fn nearest_ceiling(judged: &PhaseJudgement) -> [String; 2] {
    let nearest = judged
        .ceilings
        .iter()
        .max_by(|a, b| a.used.unwrap_or(-1.0).total_cmp(&b.used.unwrap_or(-1.0)));
    let Some(ceiling) = nearest else { return Default::default() };
    [at_most(ceiling), ceiling.used.map(column::share).unwrap_or_default()]
}

fn at_most(ceiling: &Ceiling) -> String {
    match (ceiling.bytes_per_s, ceiling.ops_per_s) {
        (Some(bytes), _) => column::rate(bytes),
        (None, Some(ops)) => format!("{} IOPS", column::iops(ops)),
        (None, None) => String::new(),
    }
}

/// The limit of a phase or what it measured instead, and the findings that say so.
fn remark(report: &Report, phase: &PhaseRecord, judged: &PhaseJudgement) -> String {
    let measures = judged
        .findings
        .iter()
        .find(|finding| finding.severity == Severity::MeasuresElse)
        .and_then(|finding| finding.measures.as_ref())
        .map(|what| format!("measures {what}"));
    let goals = joined(phase.measurements.iter().map(|measured| goal(report, phase, measured)));
    let limited = judged.limited_by.as_ref().map(|what| format!("limited by {what}"));
    let limited = limited.or_else(|| joined(job_limits(phase, judged)));
    let mut rules: Vec<&str> = judged
        .findings
        .iter()
        .filter(|finding| finding.severity > Severity::Explains)
        .map(|finding| finding.rule.as_str())
        .collect();
    rules.dedup();
    let rules = (!rules.is_empty()).then(|| format!("see {}", rules.join(", ")));
    let ended = phase
        .measurements
        .iter()
        .find_map(|measurement| words::ended_early(measurement.ended))
        .map(str::to_owned);
    let resets = phase.measurements.iter().map(|measurement| measurement.zone_resets).sum();
    let resets = (resets > 0).then(|| fmt::counted(resets, "zone reset"));
    let load_ns = phase.measurements.iter().find_map(|measurement| measurement.load_latency_ns);
    let load = load_ns.map(|ns| format!("{} per load", column::time(ns.round() as u64)));
    [ended, goals, measures, limited, resets, load, rules]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// Those that are there, in one text.
fn joined(texts: impl Iterator<Item = Option<String>>) -> Option<String> {
    let texts: Vec<String> = texts.flatten().collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// The limit of each job of a phase that has several.
fn job_limits<'a>(
    phase: &'a PhaseRecord,
    judged: &'a PhaseJudgement,
) -> impl Iterator<Item = Option<String>> + use<'a> {
    let jobs = phase.measurements.iter().zip(&judged.job_limits);
    jobs.map(|(measured, limit)| Some(format!("{} limited by {}", measured.job, limit.as_ref()?)))
}

/// Results of the searches for the greatest depth that meets a latency goal, a line each.
pub(super) fn goals(report: &Report) -> Vec<String> {
    let several = report.judged().count() > 1;
    let of = |phase: &PhaseRecord| {
        let goals = joined(phase.measurements.iter().map(|measured| goal(report, phase, measured)));
        let goals = fmt::capital(&format!("{}.", goals?));
        Some(if several { format!("{}: {goals}", phase.name) } else { goals })
    };
    report.judged().filter_map(|(phase, _)| of(phase)).collect()
}

/// The result of the search for the greatest depth that meets a job's latency goal.
fn goal(report: &Report, phase: &PhaseRecord, measured: &Measurement) -> Option<String> {
    let jobs = &report.plan.phases.get(phase.phase)?.jobs;
    let job = jobs.iter().find(|job| job.name == measured.job).or_else(|| jobs.first())?;
    let goal = job.blocks()?.pace.goal?;
    let goal = format!(
        "{} within {}",
        fmt::percent(goal.percentile / 100.0),
        fmt::time(goal.latency.0 as f64)
    );
    let name = if jobs.len() > 1 { format!("{}: ", measured.job) } else { String::new() };
    Some(match measured.depth_reached? {
        0 => format!("{name}no depth met the goal of {goal}"),
        depth => format!("{name}depth {depth} is the greatest that met the goal of {goal}"),
    })
}

/// How each ceiling comes about, each once.
fn ceilings(page: &mut Page, report: &Report) {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for ceiling in report.judged().flat_map(|(_, judged)| &judged.ceilings) {
        let value = at_most(ceiling);
        // The arithmetic may end in the same value, rounded in its own way.
        let unit = value.rsplit(' ').next().unwrap_or_default();
        let ends_in_it = ceiling.arithmetic.contains(" = ") && ceiling.arithmetic.ends_with(unit);
        let text = match ends_in_it || ceiling.arithmetic.contains(&value) {
            true => ceiling.arithmetic.clone(),
            false => format!("{value} = {}", ceiling.arithmetic),
        };
        if !lines.iter().any(|(element, lines)| *element == ceiling.element && *lines == text) {
            lines.push((&ceiling.element, text));
        }
    }
    if lines.is_empty() {
        return;
    }
    page.blank();
    page.line(&page.style.paint(Tone::Strong, "At most"));
    for (element, text) in lines {
        page.aside("  ", &format!("{element}: {text}"));
    }
}
