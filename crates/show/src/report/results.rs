//! The table of results, expectation beside measurement.

pub(super) mod names;
pub(super) mod repeats;
pub(super) mod rows;
mod table;

use candor_derive::NameTable;
use candor_record::fmt::{self, column};
use candor_record::{
    Ceiling, Limit, LimitClass, Measurement, PhaseJudgement, PhaseRecord, Repeats, Report,
    Severity, StageSpan, Stages,
};

use crate::layout::Page;
use crate::style::{Style, Tone};
use crate::words;

/// The table, and how each ceiling in it comes about.
pub(super) fn section(page: &mut Page, report: &Report) {
    let rows = rows::all(report);
    if !rows.is_empty() {
        page.blank();
        for line in table::whole(page.style, &rows) {
            page.line(&line);
        }
        table::latencies(page, report, &rows);
    }
    if let Some(table) = NameTable::of(report) {
        page.blank();
        names::lines(page.style, &table).iter().for_each(|line| page.line(line));
    }
    repeats::section(page, &report.judgement.repeats);
    search_steps(page, report);
    submissions(page, report);
    stages(page, report);
    follow_ups(page, report);
    ceilings(page, report);
}

/// The table in so many lines at most, without what is said about its rows. Phases that ran several
/// times have a row with their means.
pub(super) fn brief(style: &Style, report: &Report, lines_max: usize) -> Vec<String> {
    let means: Vec<Repeats> =
        report.judgement.repeats.iter().filter(|of| !of.results.is_empty()).cloned().collect();
    let has_mean = |phase: &PhaseRecord| means.iter().any(|of| of.phase == phase.phase);
    let mut rows = Vec::new();
    let of_names = NameTable::of(report);
    let names = of_names.as_ref().map(|table| names::lines(style, table)).unwrap_or_default();
    let lines_max = lines_max.saturating_sub(names.len());
    let in_names = |at: usize| of_names.as_ref().is_some_and(|of| of.phases.contains(&at));
    for (at, phase) in report.phases.iter().enumerate().filter(|(at, _)| !in_names(*at)) {
        let judged = report.judgement.of(at).filter(|_| !has_mean(phase));
        rows.extend(judged.into_iter().flat_map(|judged| rows::of_phase(report, phase, judged)));
    }
    if of_names.is_some() {
        // What only adds to a row gives way to the second table.
        rows.retain(|row| row.phase.is_some() || row.operation.is_some());
    }
    let mut lines =
        if means.is_empty() { Vec::new() } else { repeats::brief(style, &means, lines_max) };
    lines.extend(table::brief(style, report, rows, lines_max.saturating_sub(lines.len())));
    lines.extend(names);
    lines
}

/// The steps of a search, in one line: they chose what was measured, and are no results.
fn search_steps(page: &mut Page, report: &Report) {
    if let Some(line) = search_line(report) {
        page.blank();
        page.aside("", &line);
    }
}

/// The steps of a search, in one line.
pub(super) fn search_line(report: &Report) -> Option<String> {
    let step = |phase: &PhaseRecord| {
        let all = phase.measurements.iter().flat_map(Measurement::work_operations);
        let rates = all.filter(|stats| stats.ops > 0).map(|stats| column::iops(stats.ops_per_s));
        format!("{}: {} IOPS", phase.name, rates.collect::<Vec<_>>().join(" and "))
    };
    let steps: Vec<_> = report.phases.iter().filter(|phase| phase.search_step).map(step).collect();
    (!steps.is_empty()).then(|| format!("Short trials, not judged: {}.", steps.join("; ")))
}

/// How operations were handed over in phases before which both ways were tried.
fn submissions(page: &mut Page, report: &Report) {
    if let Some(line) = submission_line(report) {
        page.blank();
        page.aside("", &line);
    }
}

/// Opening, transfer and closing of jobs whose workers opened their files in the phase, and how far
/// workers were where a stonewall wore out.
fn stages(page: &mut Page, report: &Report) {
    let lines = stage_lines(report);
    if !lines.is_empty() {
        page.blank();
        lines.iter().for_each(|line| page.aside("", line));
    }
}

/// The same, a line for each.
fn stage_lines(report: &Report) -> Vec<String> {
    let time = |ns: u64| fmt::time(ns as f64);
    let span = |name: &str, stage: &StageSpan| {
        format!("{name} {} to {}", time(stage.begin_ns), time(stage.end_ns))
    };
    let of_job = |phase: &PhaseRecord, measured: &Measurement| {
        let name = match phase.measurements.len() {
            1 => phase.name.clone(),
            _ => format!("{}, {}", phase.name, measured.job),
        };
        let stages = measured.stages.map(|Stages { open, transfer, close }| {
            let spans = [span("open", &open), span("transfer", &transfer), span("close", &close)];
            format!("Stages of {name}, first begin to last end: {}.", spans.join(", "))
        });
        let wear_out = measured.wear_out.map(|counts| {
            let (most, least) = (counts.ops, counts.ops_least);
            format!(
                "At the end of the time of {name}, the furthest worker had done {most} operations \
                 and the last worker {least}; all workers continued to the furthest count."
            )
        });
        [stages, wear_out].into_iter().flatten()
    };
    let phases = report.phases.iter();
    phases.flat_map(|phase| phase.measurements.iter().flat_map(|m| of_job(phase, m))).collect()
}

/// How operations were handed over, in one line.
pub(super) fn submission_line(report: &Report) -> Option<String> {
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
    (!phases.is_empty()).then(|| {
        format!("Submission method, from a short test before the clock: {}.", phases.join("; "))
    })
}

/// Results and costs of the follow-ups of a phase, a sentence or two for each.
fn follow_ups(page: &mut Page, report: &Report) {
    let lines = follow_up_lines(report);
    if lines.is_empty() {
        return;
    }
    page.blank();
    page.line(&page.style.paint(Tone::Strong, "Short trials afterwards, to find the limit"));
    lines.iter().for_each(|line| page.aside("  ", line));
}

/// Results and costs of the follow-ups of all phases.
pub(super) fn follow_up_lines(report: &Report) -> Vec<String> {
    let several = report.phases.iter().filter(|phase| !phase.follow_ups.is_empty()).count() > 1;
    let lines = report.judged().flat_map(|(phase, judged)| {
        let of = move |line: &String| {
            if several { format!("{}: {line}", phase.name) } else { line.clone() }
        };
        judged.follow_ups.iter().map(of)
    });
    lines.collect()
}

/// Whether anything completed in a phase.
pub(super) fn measured(phase: &PhaseRecord) -> bool {
    phase.measurements.iter().any(|measurement| measurement.ops_done() > 0)
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
        .find(|finding| finding.severity == Severity::Wrong)
        .and_then(|finding| finding.measures.as_ref())
        .map(|what| format!("measures {what}"));
    let answered = judged.answered_by.map(|cache| format!("answered by {cache}"));
    let goals = joined(phase.measurements.iter().map(|measured| goal(report, phase, measured)));
    let is_other = |limit: &&Limit| answered.is_none() || limit.class() != LimitClass::Memory;
    let limited = judged.limited_by.as_ref().filter(is_other);
    let limited = limited.map(|what| format!("limited by {what}"));
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
    [ended, goals, measures, answered, limited, resets, load, rules]
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
        depth => format!("{name}depth {depth} is the maximum that met the goal of {goal}"),
    })
}

/// How each ceiling comes about, each once.
fn ceilings(page: &mut Page, report: &Report) {
    let lines = ceiling_lines(report);
    if lines.is_empty() {
        return;
    }
    page.blank();
    page.line(&page.style.paint(Tone::Strong, "At most"));
    for (element, text) in lines {
        page.aside("  ", &format!("{element}: {text}"));
    }
}

/// Each element that has a ceiling, and how that comes about.
pub(super) fn ceiling_lines(report: &Report) -> Vec<(&str, String)> {
    let mut lines: Vec<(&str, String)> = Vec::new();
    for ceiling in report.judged().flat_map(|(_, judged)| &judged.ceilings) {
        let value = at_most(ceiling);
        // The arithmetic may end in the same value, rounded in its own way.
        let unit = value.rsplit(' ').next().unwrap_or_default();
        let ends_in_it = ceiling.arithmetic.contains(" = ") && ceiling.arithmetic.ends_with(unit);
        let text = if ends_in_it || ceiling.arithmetic.contains(&value) {
            ceiling.arithmetic.clone()
        } else {
            format!("{value} = {}", ceiling.arithmetic)
        };
        if !lines.iter().any(|(element, lines)| *element == ceiling.element && *lines == text) {
            lines.push((&ceiling.element, text));
        }
    }
    lines
}
