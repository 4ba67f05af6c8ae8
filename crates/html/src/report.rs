//! The sections of a report, in the order of a reader's questions.

mod charts;

use candor_record::fmt::REQUESTS_PER_S;
use candor_record::{Report, Verdict};
use candor_show::charts::{Kind, Run, chart, requests as drawn};
use candor_show::report::parts as shown;
use candor_show::report::parts::{Folded, HttpPart, ResultRow};
use candor_show::{Align, Cell, Style, Tone, facts, requests};

use crate::markup::Markup;
use crate::page::{Frame, Section, page};
use crate::pictures::{Heading, figure};
use crate::{parts, topology};

use charts::Pictures;

/// Base64 of the report and its samples that a page may carry; larger ones are left to the files.
const DATA_BYTES_MAX: usize = 1 << 20;
/// Limits that stand on the page; further ones are folded, so that numbers come into sight.
const LIMITS_MAX: usize = 4;
/// Key numbers of one result.
const TILES_MAX: usize = 6;

/// A report as a page; `json` is the report for machines, which the page carries.
pub fn report(report: &Report, json: &str, csv: &str) -> String {
    let frame = Frame { title: title(report), head: head(report), colophon: shown::ran(report) };
    let pictures = Pictures::of(report);
    let sections = [
        section("results", "Results", "Results", results(report)),
        section("expectations", "Expectations", "Expectations", expectations(report)),
        section("timeline", "Timeline", "Timeline", pictures.timeline()),
        section("latency", "Latency distribution", "Latency", pictures.latency()),
        section("http", "HTTP requests", "HTTP", http_requests(report)),
        section(
            "requests",
            "Requests that reached the devices",
            "Requests",
            block_requests(report),
        ),
        section("path", "Path to the devices", "Path", path(report)),
        section("sweep", "Sweep", "Sweep", sweep(report, &pictures)),
        section("search", "Load search", "Search", pictures.search()),
        section("findings", "Findings", "Findings", findings(report)),
        section("notes", "Differs from the request", "Notes", notes(report)),
        section("environment", "Environment", "Environment", environment(report)),
        section("plan", "The plan", "Plan", plan(report)),
        section("data", "Data", "Data", data(json, csv)),
    ];
    let sections: Vec<Section> =
        sections.into_iter().filter(|section| !section.body.is_empty()).collect();
    page(&frame, &sections)
}

/// Conditions of the user, a line each.
fn expectations(report: &Report) -> Markup {
    let mut body = Markup::new();
    let lines: Vec<String> = report
        .expectations
        .iter()
        .map(|of| format!("{}: {}. {}", of.result.label(), of.condition, of.sentence))
        .collect();
    if !lines.is_empty() {
        parts::list(&mut body, &lines);
    }
    body
}

fn section(id: &'static str, title: &str, short: &'static str, body: Markup) -> Section {
    Section { id, title: title.to_owned(), short, body }
}

fn title(report: &Report) -> String {
    format!("{}: {}", name(report), report.judgement.verdict.label())
}

/// The plan's name, or the command that ran it.
fn name(report: &Report) -> String {
    if report.plan.name.is_empty() {
        format!("candor {}", report.command.get(1).map_or("run", String::as_str))
    } else {
        report.plan.name.clone()
    }
}

/// Verdict, limit, key numbers, targets.
fn head(report: &Report) -> Markup {
    let mut head = Markup::new();
    head.within("p", &[("class", "which")], |line| {
        line.element("b", &[], &name(report));
        line.text(" ");
        line.element("span", &[], &report.started.replace('T', " ").replace('Z', " UTC"));
    });
    let (verdict, tone) = shown::verdict(report);
    let label = label(report);
    let about = deciding_sentence(report).unwrap_or(verdict);
    head.within("div", &[("class", &format!("verdict {}", parts::class(tone)))], |block| {
        block.within("h1", &[], |line| {
            line.element("span", &[("class", "badge"), ("aria-hidden", "true")], sign(tone));
            line.text(&label);
        });
        block.element("p", &[("class", "lead")], &candor_record::fmt::capital(&about));
        if let Some(sentence) = shown::cut_short(report) {
            block.element("p", &[("class", "lead")], &format!("Cut short: {sentence}"));
        }
        limits(block, report);
    });
    tiles(&mut head, report);
    for line in shown::targets(report) {
        head.element("p", &[("class", "target")], &line);
    }
    head
}

/// The sentence of the finding that decides a single result. The verdict line repeats the label,
/// which is the title of the page.
fn deciding_sentence(report: &Report) -> Option<String> {
    let [(phase, judged)] = report.judged().collect::<Vec<_>>()[..] else { return None };
    let is_decided = matches!(judged.verdict, Verdict::Unverified | Verdict::Wrong);
    let has_result = phase.measurements.iter().any(|job| job.ops_done() > 0);
    let finding = judged.findings.first().filter(|_| is_decided && has_result)?;
    Some(finding.sentence.clone())
}

/// The verdict, with the object that a single result measured instead of the storage.
fn label(report: &Report) -> String {
    let label = report.judgement.verdict.label();
    let judged: Vec<_> = report.judged().map(|(_, judged)| judged).collect();
    let measures = match judged[..] {
        [one] => one.findings.first().and_then(|finding| finding.measures),
        _ => None,
    };
    match measures.filter(|_| report.judgement.verdict == Verdict::Wrong) {
        Some(what) => format!("{label} ({what})"),
        None => label.to_owned(),
    }
}

/// The sign beside a verdict; colours never carry meaning alone.
fn sign(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "\u{2713}",
        Tone::Bad => "\u{2715}",
        Tone::Strong | Tone::Dim | Tone::Caution => "!",
    }
}

/// The limiting factor: in a sentence where all results have one, else which results have which.
fn limits(head: &mut Markup, report: &Report) {
    let mut by_limit: Vec<(String, Vec<String>)> = Vec::new();
    for (phase, judged) in report.judged() {
        let Some(limit) = judged.limit() else { continue };
        let name = parts::phase_name(phase);
        match by_limit.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, names)) => names.push(name),
            None => by_limit.push((limit, vec![name])),
        }
    }
    match &by_limit[..] {
        [] => {}
        [(limit, _)] => head.within("p", &[("class", "limit")], |line| {
            line.text("Limited by ");
            line.element("b", &[], limit);
            line.text(".");
        }),
        several => head.within("div", &[("class", "limits")], |block| {
            block.element("p", &[], "Limited by");
            let (first, more) = several.split_at(several.len().min(LIMITS_MAX));
            limit_list(block, first);
            if !more.is_empty() {
                let summary = format!("{} more limits", more.len());
                parts::folded(block, &summary, |inside| limit_list(inside, more));
            }
        }),
    }
}

/// Limits, each with the results that it held.
fn limit_list(into: &mut Markup, limits: &[(String, Vec<String>)]) {
    into.within("dl", &[], |list| {
        for (limit, names) in limits {
            list.element("dt", &[], limit);
            list.element("dd", &[], &names.join("; "));
        }
    });
}

/// The numbers by which people compare storage; of a single result, its own.
fn tiles(head: &mut Markup, report: &Report) {
    let key_numbers = shown::key_numbers(report);
    let (heads, rows) = shown::results(report);
    let mut tiles: Vec<(String, String)> = match key_numbers.len() {
        0 | 1 => own_numbers(&heads, &rows),
        _ => key_numbers.into_iter().map(|of| (of.name.to_owned(), of.value)).collect(),
    };
    tiles.retain(|(_, value)| !value.is_empty());
    if tiles.is_empty() {
        return;
    }
    // Numbers of something else should not look like results.
    let is_else = report.judgement.verdict >= Verdict::Wrong;
    let class = if is_else { "tiles doubtful" } else { "tiles" };
    head.within("ul", &[("class", class), ("aria-label", "Key numbers")], |list| {
        for (name, value) in &tiles {
            list.within("li", &[], |tile| {
                tile.element("span", &[("class", "name")], name);
                tile.text(" ");
                let (number, unit) = value.split_once(' ').unwrap_or((value, ""));
                tile.within("span", &[("class", "value")], |value| {
                    value.text(number);
                    value.text(" ");
                    value.element("small", &[], unit);
                });
            });
        }
    });
}

/// Rate, latency and expectation of a report with one result; of several operations in it, the
/// rate and latency of each.
fn own_numbers(heads: &[String], rows: &[ResultRow]) -> Vec<(String, String)> {
    if rows.iter().filter(|row| row.about.is_some()).count() != 1 {
        return Vec::new();
    }
    let Some(row) = rows.first() else { return Vec::new() };
    if !row.numbers.iter().any(Cell::holds_value) {
        // A title, with a row for each operation below.
        let of = |row: &ResultRow| {
            let iops = operations(row, heads)?;
            let name = row.name.trim();
            let p99 = number(row, heads, "p99").map(|text| (format!("{name}, p99"), text));
            Some(std::iter::once((name.to_owned(), iops)).chain(p99))
        };
        return rows.iter().filter_map(of).flatten().take(TILES_MAX).collect();
    }
    let about = row.about.as_ref();
    let used = about.filter(|about| !about.used.is_empty());
    let used = used.map(|about| (format!("of {} at most", about.at_most), about.used.clone()));
    let tiles = [
        ("operations", operations(row, heads)),
        ("throughput", with_unit(row, heads, "MB/s")),
        ("median latency", number(row, heads, "p50")),
        ("p99 latency", number(row, heads, "p99")),
    ];
    let named = |(name, value): (&str, Option<String>)| Some((name.to_owned(), value?));
    tiles.into_iter().filter_map(named).chain(used).collect()
}

/// The number of a row below a head.
fn number(row: &ResultRow, heads: &[String], head: &str) -> Option<String> {
    let at = heads.iter().position(|name| name == head)?;
    row.numbers.get(at).filter(|cell| cell.holds_value()).map(|cell| cell.text.clone())
}

/// The rate of operations: of requests, if the work is on objects.
fn operations(row: &ResultRow, heads: &[String]) -> Option<String> {
    with_unit(row, heads, "IOPS").or_else(|| with_unit(row, heads, REQUESTS_PER_S))
}

fn with_unit(row: &ResultRow, heads: &[String], head: &str) -> Option<String> {
    number(row, heads, head).map(|text| format!("{text} {head}"))
}

/// Tables of rates and latencies, and notes about them.
fn results(report: &Report) -> Markup {
    let mut body = Markup::new();
    let (heads, rows) = shown::results(report);
    if !rows.is_empty() {
        rates(&mut body, &heads, &rows);
        latencies(&mut body, &heads, &rows);
    }
    for (name, table) in shown::hosts(report) {
        let caption = format!("Hosts, {name}");
        body.element("h3", &[], &caption);
        parts::table(&mut body, &caption, &table);
    }
    if let Some((table, answered)) = shown::names(report) {
        body.element("h3", &[], "Names per second");
        parts::table(&mut body, "Names per second", &table);
        // Its rates are lower than those of the single operations above, and have other units.
        let what = "Names per second over a whole pass, including the final sync, if any.";
        body.element("p", &[("class", "dim")], what);
        answered.iter().for_each(|line| body.element("p", &[("class", "dim")], line));
    }
    if let Some((table, lines)) = shown::repeats(report) {
        body.element("h3", &[], "Repeats");
        parts::table(&mut body, "Repeats", &table);
        lines.iter().for_each(|line| body.element("p", &[("class", "dim")], line));
    }
    for (heading, lines) in shown::troubles(report) {
        body.element("h3", &[], heading);
        parts::list(&mut body, &lines);
    }
    let remarks = shown::remarks(report);
    if !remarks.is_empty() {
        parts::folded(&mut body, "Trials before and after", |inside| parts::list(inside, &remarks));
    }
    body
}

fn is_rate(head: &str) -> bool {
    ["IOPS", REQUESTS_PER_S, "objects/s", "keys/s", "MB/s", "MiB/s"].contains(&head)
}

/// Columns that a narrow screen leaves out.
const SPARE: [&str; 3] = ["MiB/s", "p90", "p95"];

fn spare(head: &str) -> &'static str {
    if SPARE.contains(&head) { "spare" } else { "" }
}

/// The heads of a table of results: its name, and numbers.
fn heads_of(row: &mut Markup, heads: &[String], shown: &[usize]) {
    head_of(row, "Result", Align::Left);
    for head in shown.iter().map(|at| &heads[*at]) {
        let class = format!("number {}", spare(head));
        row.element("th", &[("scope", "col"), ("class", class.trim())], head);
    }
}

/// The name and the numbers of a result.
fn cells_of(cells: &mut Markup, row: &ResultRow, heads: &[String], shown: &[usize]) {
    parts::cell_of(cells, &Cell::from(row.name.as_str()), Align::Left, true);
    for at in shown {
        let number = &row.numbers[*at];
        let tone = number.tone.map_or("", parts::class);
        let class = format!("number {tone} {}", spare(&heads[*at]));
        cells.element("td", &[("class", class.trim())], &number.text);
    }
}

/// Rates beside what they could be, with a remark below each phase.
fn rates(body: &mut Markup, heads: &[String], rows: &[ResultRow]) {
    let with_ceilings = rows.iter().flat_map(|row| &row.about).any(|of| !of.at_most.is_empty());
    let shown: Vec<usize> = (0..heads.len()).filter(|at| is_rate(&heads[*at])).collect();
    parts::scrolling(body, "Rates", |table| {
        table.element("caption", &[("class", "unseen")], "Rates");
        table.within("thead", &[], |head| {
            head.within("tr", &[], |row| {
                heads_of(row, heads, &shown);
                if with_ceilings {
                    head_of(row, "At most", Align::Right);
                    head_of(row, "Used", Align::Right);
                }
                head_of(row, "Trust", Align::Left);
            });
        });
        let columns = shown.len() + 2 + 2 * usize::from(with_ceilings);
        table.within("tbody", &[], |body| {
            for row in rows {
                body.within("tr", &[("class", row_class(row))], |cells| {
                    cells_of(cells, row, heads, &shown);
                    beside(cells, row, with_ceilings);
                });
                let remark = row.about.as_ref().map_or("", |about| about.remark.as_str());
                if !remark.is_empty() {
                    body.within("tr", &[("class", "remark")], |cells| {
                        let remark = candor_record::fmt::capital(remark);
                        let all = columns.to_string();
                        cells.within("td", &[("colspan", &all)], |cell| {
                            cell.element("span", &[], &remark);
                        });
                    });
                }
            }
        });
    });
}

/// The cells about a phase.
fn beside(cells: &mut Markup, row: &ResultRow, with_ceilings: bool) {
    let none = Cell::default();
    let about = row.about.as_ref();
    if with_ceilings {
        let at_most = about.map_or_else(Cell::default, |about| about.at_most.as_str().into());
        let used = about.map_or_else(Cell::default, |about| about.used.as_str().into());
        parts::cell_of(cells, &at_most, Align::Right, false);
        parts::cell_of(cells, &used, Align::Right, false);
    }
    parts::cell_of(cells, about.map_or(&none, |about| &about.mark), Align::Left, false);
}

fn latencies(body: &mut Markup, heads: &[String], rows: &[ResultRow]) {
    let shown: Vec<usize> = (0..heads.len()).filter(|at| !is_rate(&heads[*at])).collect();
    let has_time = |row: &&ResultRow| shown.iter().any(|at| row.numbers[*at].holds_value());
    if !rows.iter().any(|row| has_time(&row)) {
        return;
    }
    body.element("h3", &[("class", "more")], "Latency");
    parts::scrolling(body, "Latency", |table| {
        table.element("caption", &[("class", "unseen")], "Latency");
        table.within("thead", &[], |head| {
            head.within("tr", &[], |row| {
                heads_of(row, heads, &shown);
            });
        });
        table.within("tbody", &[], |body| {
            for row in rows.iter().filter(|row| has_time(row) || row.about.is_some()) {
                body.within("tr", &[("class", row_class(row))], |cells| {
                    cells_of(cells, row, heads, &shown);
                });
            }
        });
    });
}

fn head_of(row: &mut Markup, name: &str, align: Align) {
    row.element("th", &[("scope", "col"), ("class", parts::side(align))], name);
}

/// Operations of a phase stand in from its name.
fn row_class(row: &ResultRow) -> &'static str {
    if row.about.is_some() { "phase" } else { "part" }
}

/// The way to the devices, drawn, and each element in words.
fn path(report: &Report) -> Markup {
    let mut body = Markup::new();
    let Some(picture) = topology::picture(report) else { return body };
    // A single chain leaves room for its words beside it.
    let class = if picture.width < BESIDE_PIXELS { "topology chain" } else { "topology" };
    body.within("figure", &[("class", class)], |figure| {
        let plot =
            [("class", "plot"), ("tabindex", "0"), ("role", "group"), ("aria-label", "Path")];
        figure.within("div", &plot, |plot| plot.add(&picture.svg));
        figure.within("div", &[], |words| {
            parts::named(words, &picture.words);
            let ceilings = shown::ceilings(report);
            if !ceilings.is_empty() {
                words.element("h3", &[], "At most");
                parts::named(words, &ceilings);
            }
        });
    });
    body
}

/// Narrower than this, a picture of the path has its words beside it.
const BESIDE_PIXELS: usize = 520;

/// Sizes, places and latencies of the requests that the block layer made.
fn block_requests(report: &Report) -> Markup {
    let mut body = Markup::new();
    let phases = report.results().zip(requests::by_phase(report));
    let several = report.results().count() > 1;
    for (nth, (record, (name, lines))) in phases.enumerate() {
        body.element("h3", &[], &name);
        if lines.is_empty() {
            body.element("p", &[("class", "dim")], "No request was traced.");
            continue;
        }
        parts::list(&mut body, &lines);
        let drawn = [("sizes", drawn::sizes(record)), ("starts", drawn::starts(record))];
        let draw = |inside: &mut Markup| {
            for (id, chart) in drawn.iter().filter_map(|(id, chart)| Some((id, chart.as_ref()?))) {
                figure(inside, &format!("{id}-{nth}"), chart, Heading::Named);
            }
        };
        if several {
            parts::folded(&mut body, "Sizes and alignment, drawn", draw);
        } else {
            draw(&mut body);
        }
    }
    body
}

/// Steps, servers and facts of HTTP requests, and the times to the first byte as a histogram.
fn http_requests(report: &Report) -> Markup {
    let mut body = Markup::new();
    let all = shown::http(report);
    if all.is_empty() {
        return body;
    }
    let about = "Medians, each followed by the 99th percentile where p99 is next to it. An attempt \
        includes all its steps.";
    body.element("p", &[("class", "dim")], about);
    for HttpPart { name, steps, servers, facts } in &all {
        body.element("h3", &[], name);
        parts::table(&mut body, &format!("Steps of requests, {name}"), steps);
        if let Some(servers) = servers {
            parts::table(&mut body, &format!("Servers, {name}"), servers);
        }
        parts::named(&mut body, facts);
    }
    let results = shown::first_bytes(report);
    let run = Run { name: "", results: &results, report: None };
    if let Ok(drawn) = chart(Kind::Histogram, &[run]) {
        figure(&mut body, "first-byte", &drawn, Heading::Own);
    }
    body
}

/// Where more no longer paid, drawn and as a table.
fn sweep(report: &Report, pictures: &Pictures<'_>) -> Markup {
    let mut body = Markup::new();
    if let Some((table, knees)) = shown::sweep(report) {
        knees.iter().for_each(|sentence| body.element("p", &[], sentence));
        body.add(&pictures.sweep());
        parts::table(&mut body, "Sweep", &table);
    }
    body
}

fn findings(report: &Report) -> Markup {
    let mut body = Markup::new();
    let several = report.judged().count() > 1;
    for folded in shown::findings(report) {
        finding(&mut body, &folded, several);
    }
    let (_, unapplied) = shown::unseen(report);
    if !unapplied.is_empty() {
        parts::folded(&mut body, "Rules that could not be applied", |inside| {
            parts::list(inside, &unapplied);
        });
    }
    body
}

/// One diagnosis with its evidence and the command that tries its advice.
fn finding(body: &mut Markup, folded: &Folded<'_>, several: bool) {
    let finding = folded.finding;
    let (meaning, confidence) = folded.meaning();
    let class = format!("finding {}", parts::class(folded.tone()));
    body.within(
        "article",
        &[("class", &class), ("id", &format!("rule-{}", finding.rule))],
        |card| {
            card.within("h3", &[], |line| {
                line.element("span", &[("class", "rule")], &finding.rule);
                line.text(" ");
                line.text(&candor_record::fmt::capital(&finding.title));
            });
            card.within("p", &[("class", "meaning")], |line| {
                line.element("b", &[], &candor_record::fmt::capital(&meaning));
                line.text(&format!(" ({confidence})"));
            });
            card.element("p", &[], &finding.sentence);
            if several {
                card.element("p", &[("class", "dim")], &folded.phases());
            }
            evidence(card, folded);
            if !finding.advice.is_empty() {
                card.element("p", &[], &finding.advice);
            }
            if let Some(command) = &finding.next {
                parts::copyable(card, command);
            }
        },
    );
}

fn evidence(card: &mut Markup, folded: &Folded<'_>) {
    let rows = folded.evidence();
    if rows.is_empty() {
        return;
    }
    parts::scrolling(card, "Evidence", |table| {
        table.element("caption", &[("class", "unseen")], "Evidence");
        table.within("tbody", &[("class", "evidence")], |body| {
            for [quantity, value, source] in &rows {
                body.within("tr", &[], |row| {
                    row.element("th", &[("scope", "row")], quantity);
                    row.element("td", &[], value);
                    row.element("td", &[("class", "dim")], source);
                });
            }
        });
    });
}

fn notes(report: &Report) -> Markup {
    let mut body = Markup::new();
    if let Some(table) = shown::notes(report) {
        parts::table(&mut body, "Requested and executed", &table);
    }
    body
}

/// The host, what could not be read, and the whole page of `candor inspect`.
fn environment(report: &Report) -> Markup {
    let mut body = Markup::new();
    for lines in host_lines(report) {
        parts::named(&mut body, &lines);
    }
    let (missing, _) = shown::unseen(report);
    if !missing.is_empty() {
        body.element("h3", &[], "Could not be read");
        parts::list(&mut body, &missing);
    }
    parts::folded(&mut body, "All facts of host, targets and devices", |inside| {
        let text = facts::of_hosts(report, &Style::default());
        inside.element("pre", &[("tabindex", "0")], text.trim_end());
    });
    body
}

/// Names with a text each.
type NamedLines = Vec<(&'static str, String)>;

/// Facts of each host, those of hosts that are alike once, under their names where they are
/// several.
fn host_lines(report: &Report) -> Vec<NamedLines> {
    let hosts = facts::hosts(report);
    let mut all: Vec<(Vec<String>, NamedLines)> = Vec::new();
    for (name, facts) in &hosts {
        let lines = facts::host_lines(&facts.host);
        match all.iter_mut().find(|(_, known)| *known == lines) {
            Some((names, _)) => names.push(name.clone()),
            None => all.push((vec![name.clone()], lines)),
        }
    }
    all.into_iter()
        .map(|(names, lines)| {
            let names = (hosts.len() > 1).then(|| ("Hosts", names.join(", ")));
            names.into_iter().chain(lines).collect()
        })
        .collect()
}

/// The command line, and the plan as text.
fn plan(report: &Report) -> Markup {
    let mut body = Markup::new();
    if !report.command.is_empty() {
        body.element("p", &[], "Started by");
        parts::copyable(&mut body, &command_line(&report.command));
    }
    body.element("p", &[], "To repeat this run, save the plan and run: candor run FILE.toml");
    let text = candor_plan::text::write(&report.plan);
    parts::folded(&mut body, "plan.toml", |inside| parts::copyable(inside, text.trim_end()));
    parts::download(&mut body, "plan.toml", "application/toml", text.as_bytes());
    body
}

/// The report and its samples as files, as far as the page stays small.
fn data(json: &str, csv: &str) -> Markup {
    let mut body = Markup::new();
    body.element(
        "p",
        &[],
        "Files for other programs: the report (for candor show and candor judge), and its results \
         and samples as tables.",
    );
    let files = [
        ("report.json.gz", "--json FILE", parts::gzip(json)),
        ("samples.csv.gz", "--csv FILE", parts::gzip(csv)),
    ];
    let mut left = DATA_BYTES_MAX;
    for (name, option, file) in files {
        let bytes = file.len().div_ceil(3) * 4;
        match left.checked_sub(bytes) {
            Some(rest) => {
                left = rest;
                parts::download(&mut body, name, "application/gzip", &file);
            }
            None => {
                let text = format!("{name} is too large for this page; {option} writes it.");
                body.element("p", &[("class", "dim")], &text);
            }
        }
    }
    body
}

/// The words as a shell takes them.
fn command_line(words: &[String]) -> String {
    words.iter().map(|word| candor_plan::shell::quoted(word)).collect::<Vec<_>>().join(" ")
}
