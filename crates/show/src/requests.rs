//! Traced block requests: sizes, offsets, order, latencies and issuers.

use candor_plan::shell::quoted;
use candor_record::facts::Missing;
use candor_record::fmt::column::{share, size, time_between};
use candor_record::fmt::{counted, exact, plural, time};
use candor_record::requests::{
    AlignmentReport, IssuedPart, LatencyStep, RequestOp, RequestStats, Requests, TracedProcesses,
    latency_percentile, percentile, share_of,
};
use candor_record::{HostRecord, PhaseRecord, Report};

use crate::layout::{Page, width};
use crate::style::Style;

/// Steps of a histogram that are told by themselves.
const STEPS_MAX: usize = 5;
/// Pieces of I/O, or I/Os in a request, from which on it is told.
const PIECES_SHOWN: f64 = 1.05;
/// Processes that are told by name.
const ISSUERS_MAX: usize = 4;

/// The page of `candor align`.
pub fn text(report: &AlignmentReport, style: &Style) -> String {
    let mut page = Page::new(style);
    if let Some(of) = &report.processes {
        page.paragraph("", &of_processes(report, of));
    }
    let is_empty = report.processes.is_some() && report.trace.requests.is_empty();
    for sentence in report.verdict.lines().filter(|_| !is_empty) {
        page.paragraph("", sentence);
    }
    section(&mut page, &report.trace);
    untraced(&mut page, report.untraced.as_ref());
    page.finish()
}

/// The requests of some processes, in a few sentences.
fn of_processes(report: &AlignmentReport, of: &TracedProcesses) -> String {
    let words: Vec<String> = of.command.iter().map(|word| quoted(word)).collect();
    let who = if words.is_empty() {
        "The selected processes".to_owned()
    } else {
        format!("`{}`", words.join(" "))
    };
    let seconds = time(report.elapsed_s * 1e9);
    let bytes = |direction| {
        let moved = report.trace.requests.iter().filter(move |of| of.direction == direction);
        size(moved.map(|of| of.bytes).sum())
    };
    let lost: u64 = report.trace.requests.iter().map(Requests::in_flight).sum();
    let all = report.trace.requests.iter().map(|of| of.count).sum::<u64>() + lost;
    let gap = match lost {
        0 => String::new(),
        lost => format!("; the completion of {lost} of them was not traced. Without these"),
    };
    let sent = match all {
        0 => format!(
            "{who} sent no request to a device in {seconds}: the page cache answered reads or \
             still holds writes."
        ),
        all => format!(
            "{who} sent {} to devices in {seconds}{gap}: {} read, {} written, by {}.",
            counted(all, "request"),
            bytes(RequestOp::Read),
            bytes(RequestOp::Write),
            plural(of.pids.len() as f64, "process", "processes")
        ),
    };
    match of.by_kernel.count {
        0 => sent,
        count => format!(
            "{sent} Kernel threads sent {} ({}) in this time, including cached writes of any \
             process.",
            counted(count, "request"),
            size(of.by_kernel.bytes)
        ),
    }
}

/// Why single requests could not be traced.
pub(crate) fn untraced(page: &mut Page, missing: Option<&Missing>) {
    if let Some(Missing { what, why, enable }) = missing {
        page.aside("", &format!("Not traced: {what}: {why}; needs {enable}."));
    }
}

/// One block for each device and direction.
pub(crate) fn section(page: &mut Page, trace: &RequestStats) {
    for of in &trace.requests {
        page.blank();
        page.paragraph("", &headline(of));
        for (label, text) in details(of) {
            page.paragraph(&format!("  {label:<10}"), &text);
        }
    }
    page.blank();
    page.aside("", &format!("Traced by {}{}.", trace.method, lost(trace)));
}

/// Events and completions that the tracer missed.
fn lost(trace: &RequestStats) -> String {
    let mut text = String::new();
    if trace.events_lost > 0 {
        text = format!("; the kernel dropped {}", counted(trace.events_lost, "event"));
    }
    let in_flight: u64 = trace.requests.iter().map(Requests::in_flight).sum();
    if in_flight > 0 {
        text =
            format!("{text}; the completion of {} was not traced", counted(in_flight, "request"));
    }
    text
}

/// The same of each phase in a line for each device and direction with traffic to speak of.
pub(crate) fn brief(page: &mut Page, report: &Report) {
    let phases = by_phase(report);
    if phases.is_empty() {
        return;
    }
    page.heading("Requests that reached the devices");
    let told = || phases.iter().filter(|(_, lines)| !lines.is_empty());
    let wide = told().map(|(name, _)| width(name)).max().unwrap_or(0);
    let mut last = "";
    for (name, line) in
        told().flat_map(|(name, lines)| lines.iter().map(move |line| (name.as_str(), line)))
    {
        let shown = if name == last { "" } else { name };
        last = name;
        page.paragraph(&format!("  {shown:<wide$}  "), line);
    }
    let untold = phases.iter().filter(|(_, lines)| lines.is_empty());
    let untold: Vec<&str> = untold.map(|(name, _)| name.as_str()).collect();
    if !untold.is_empty() {
        page.aside("  ", &format!("No request was traced in {}.", untold.join(", ")));
    }
}

/// The traced requests of each result by its name, a line for each device and direction; empty
/// where nothing was traced.
pub fn by_phase(report: &Report) -> Vec<(String, Vec<String>)> {
    if !report.results().flat_map(|record| &record.hosts).any(|host| host.requests.is_some()) {
        return Vec::new();
    }
    let results = report.phases.iter().enumerate().filter(|(_, record)| !record.search_step);
    let name = |record: &PhaseRecord| match record.repeat {
        0 => record.name.clone(),
        n => format!("{} #{}", record.name, n + 1),
    };
    results
        .map(|(index, record)| {
            let others = report.judgement.of(index).is_some_and(|judged| judged.tells("F10"));
            (name(record), lines(record, others))
        })
        .collect()
}

/// The traced requests of a phase; `others` used its devices.
fn lines(record: &PhaseRecord, others: bool) -> Vec<String> {
    let traced = |(host, name): (&HostRecord, String)| -> Vec<String> {
        let Some(trace) = &host.requests else { return Vec::new() };
        let lines = trace.main().flat_map(|of| told_apart(trace, of, others));
        match record.hosts.len() {
            1 => lines.collect(),
            _ => lines.map(|line| format!("{name}:{line}")).collect(),
        }
    };
    record.hosts.iter().zip(record.host_names()).flat_map(traced).collect()
}

/// One line, or one for ours and one for those of others where these are many: only ours have
/// sizes, places and latencies of their own.
fn told_apart(trace: &RequestStats, of: &Requests, others: bool) -> Vec<String> {
    let issued = trace.issued(of);
    let lead = |whose: &str| {
        let traced = of.traced_share().map(|part| format!(" ({} traced)", share(part)));
        let (device, direction) = (&of.device, of.direction.name());
        format!("{device} {direction}{whose}{}: ", traced.unwrap_or_default())
    };
    let own = of.own().filter(|_| issued.own.count > 0);
    let shapes = |of: &Requests| {
        let mut parts = shape(of);
        parts.extend(latency(&of.latency_ns));
        parts.join("; ")
    };
    let is_known = own.is_some() && others && issued.shaped_by_kernel();
    if issued.shaped_by_others() || is_known {
        let who = of.issuers.iter().find(|who| trace.is_other(who));
        let who =
            who.map_or(String::new(), |who| format!(", most by {} ({})", who.command, who.pid));
        let parts = [
            (" by candor", issued.own, ""),
            (" by kernel threads", issued.kernel, ""),
            (" by others", issued.others, who.as_str()),
        ];
        let parts = parts.into_iter().filter(|(_, part, _)| part.count > 0);
        let line = |(whose, part, who): (&str, IssuedPart, &str)| {
            format!("{}{}{who}", lead(whose), amount(part.count, part.size_mean_bytes()))
        };
        let ours = own.map(|own| format!("{}{}", lead(" by candor"), shapes(own)));
        let known = usize::from(ours.is_some());
        return ours.into_iter().chain(parts.map(line).skip(known)).collect();
    }
    if others && issued.shaped_by_kernel() {
        let all = amount(of.count, of.size_mean_bytes());
        return vec![format!("{}{all}, including requests of others (F10)", lead(""))];
    }
    let mut parts = shape(of);
    parts.extend(pieces(of));
    parts.extend(latency(&of.latency_ns));
    vec![format!("{}{}", lead(""), parts.join("; "))]
}

/// `5,190 requests, 1 MiB on average`.
fn amount(count: u64, size_mean_bytes: u64) -> String {
    format!("{}, {} on average", counted(count, "request"), size(size_mean_bytes))
}

/// The traced requests of one direction, in a few lines of text.
pub(crate) fn in_words(of: &Requests) -> String {
    let mut parts = Vec::from_iter(latency(&of.latency_ns));
    if of.bytes > 0 {
        parts.extend(shape(of));
    }
    let by = issuers(of);
    if !by.is_empty() {
        parts.push(format!("by {by}"));
    }
    parts.extend(of.traced_share().map(|part| format!("{} of requests traced", share(part))));
    parts.join("; ")
}

/// Sizes, places and order.
fn shape(of: &Requests) -> Vec<String> {
    let place = match of.starts_in_4k[..] {
        [(0, _)] => "all start on a 4 KiB boundary".to_owned(),
        _ => place(of),
    };
    let mut parts = vec![steps(&of.sizes(), size), place];
    parts.extend(of.sequential_share().map(|part| format!("{} sequential", share(part))));
    parts
}

fn headline(of: &Requests) -> String {
    let what = counted(of.count, "request");
    let bytes = match of.bytes {
        0 => String::new(),
        bytes => format!(", {}, {} on average", size(bytes), size(of.size_mean_bytes())),
    };
    let part = match of.traced_share() {
        Some(part) => format!(" traced ({} of all)", share(part)),
        None => String::new(),
    };
    format!("{} {}: {what}{part}{bytes}", of.device, of.direction.name())
}

fn details(of: &Requests) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    if of.bytes > 0 {
        lines.push(("size", steps(&of.sizes(), size)));
        lines.push(("start", place(of)));
    }
    lines.extend(of.sequential_share().map(|part| ("order", order(of, part))));
    lines.push(("pieces", pieces(of).join("; ")));
    let in_device = latency(&of.device_latency_ns);
    match latency(&of.latency_ns) {
        Some(text) => {
            lines.push(("latency", text));
            lines.push(("in device", in_device.unwrap_or_default()));
        }
        // Some methods know nothing of the time before.
        None => {
            let alone = in_device.map(|text| format!("{text} in the device"));
            lines.push(("latency", alone.unwrap_or_default()));
        }
    }
    let flags =
        of.flags.iter().map(|(name, n)| format!("{name} {}", share(share_of(*n, of.count))));
    let flags: Vec<String> = flags.collect();
    lines.push(("flags", flags.join(", ")));
    lines.push(("issued by", issuers(of)));
    lines.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

/// The largest steps, by their share, and how many others.
fn steps(steps: &[(u64, u64)], name: impl Fn(u64) -> String) -> String {
    // Requests without bytes, such as empty flushes, are in no step.
    let all: u64 = steps.iter().map(|(_, n)| n).sum();
    let mut largest: Vec<_> = steps.to_vec();
    largest.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let parts = largest.iter().take(STEPS_MAX);
    let mut parts: Vec<String> =
        parts.map(|(key, n)| format!("{} {}", name(*key), share(share_of(*n, all)))).collect();
    let rest: u64 = largest.iter().skip(STEPS_MAX).map(|(_, n)| n).sum();
    if rest > 0 {
        parts.push(format!("others {}", share(share_of(rest, all))));
    }
    parts.join(", ")
}

fn place(of: &Requests) -> String {
    let mut text = steps(&of.starts_in_4k, |bytes| match bytes {
        0 => "on 4 KiB".to_owned(),
        bytes => format!("{} after a 4 KiB boundary", size(bytes)),
    });
    for (off, what) in [
        (of.off_physical_sector, "off a physical sector"),
        (of.off_optimal, "off the device's optimal size"),
        (of.length_off_4k, "with a length that is not a multiple of 4 KiB"),
    ] {
        if off > 0 {
            text = format!("{text}; {} of {} {what}", exact(off), exact(of.count));
        }
    }
    text
}

fn order(of: &Requests, part: f64) -> String {
    let sequential = share(part);
    match percentile(&of.seeks, 0.5) {
        Some(bytes) => {
            format!("{sequential} sequential, half of the others {} away or more", size(bytes))
        }
        None => format!("{sequential} sequential"),
    }
}

/// Changes to I/O on its way to requests: cut in two, or joined.
fn pieces(of: &Requests) -> Vec<String> {
    let mut parts = Vec::new();
    let worth = |factor: &f64| *factor >= PIECES_SHOWN;
    if let Some(factor) = of.split_factor().filter(worth) {
        let cuts = counted(of.splits, "cut");
        parts.push(format!("{cuts} of I/O too large for the device, {factor:.1} requests each"));
    }
    if let (Some(merged), Some(factor)) = (of.merged, of.merge_factor().filter(worth)) {
        parts.push(format!("{} merged while waiting, {factor:.1} in a request", exact(merged)));
    }
    parts
}

fn latency(steps: &[(u64, u64)]) -> Option<String> {
    let parts: Vec<String> = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)]
        .into_iter()
        .filter_map(|(name, share)| {
            let LatencyStep { from_ns, below_ns } = latency_percentile(steps, share)?;
            Some(format!("{name} {}", time_between(from_ns, below_ns)))
        })
        .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn issuers(of: &Requests) -> String {
    let all: u64 = of.issuers.iter().map(|issuer| issuer.count).sum();
    // Many short processes of one name are told together.
    let mut by_name: Vec<(&str, Vec<u32>, u64)> = Vec::new();
    for issuer in &of.issuers {
        let known = by_name.iter_mut().find(|(command, ..)| *command == issuer.command);
        match known.filter(|_| of.issuers.len() > ISSUERS_MAX) {
            Some((_, pids, count)) => {
                pids.push(issuer.pid);
                *count += issuer.count;
            }
            None => by_name.push((&issuer.command, vec![issuer.pid], issuer.count)),
        }
    }
    by_name.sort_by_key(|(.., count)| std::cmp::Reverse(*count));
    let text = |(command, pids, count): &(&str, Vec<u32>, u64)| {
        let who = match pids[..] {
            [pid] => pid.to_string(),
            _ => format!("{} processes", pids.len()),
        };
        format!("{command} ({who}) {}", share(share_of(*count, all)))
    };
    by_name.iter().take(ISSUERS_MAX).map(text).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use candor_record::HostRecord;
    use candor_record::requests::Issuer;

    use super::*;
    use crate::sample;

    #[test]
    fn the_page_tells_sizes_places_order_and_issuers() {
        let report = AlignmentReport {
            verdict: "sdb: of 20,000 reads and writes, 5 start off a 4 KiB boundary.".into(),
            trace: sample::requests(),
            ..AlignmentReport::default()
        };
        insta::assert_snapshot!(text(&report, &Style::default()), @r"
        sdb: of 20,000 reads and writes, 5 start off a 4 KiB boundary.

        sdb read: 20,000 requests traced (10 % of all), 78.1 MiB, 4 KiB on average
          size      4 KiB 100 %
          start     on 4 KiB 100 %, 512 B after a 4 KiB boundary <0.1 %; 5 of 20,000 off a physical sector;
                    4 of 20,000 off the device's optimal size; 3 of 20,000 with a length that is not a
                    multiple of 4 KiB
          order     1.0 % sequential, half of the others 1 GiB away or more
          pieces    4,000 cuts of I/O too large for the device, 1.2 requests each; 50,000 merged while
                    waiting, 1.2 in a request
          latency   p50 81.9–98.3 µs, p99 164–197 µs, p99.9 164–197 µs
          in device p50 65.5–81.9 µs, p99 65.5–81.9 µs, p99.9 65.5–81.9 µs
          flags     sync 100 %
          issued by candor (4711) 100 %

        sdb flush: 1 request
          latency   p50 2.10–2.62 ms

        Traced by BPF on raw tracepoints.
        ");
    }

    fn issuer(pid: u32, command: &str, count: u64) -> Issuer {
        Issuer { pid, command: command.into(), count, bytes: count * 4096 }
    }

    /// Lines on a phase whose requests were issued by these.
    fn issued_by(issuers: Vec<Issuer>, others: bool) -> Vec<String> {
        lines_of(issuers, None, others)
    }

    /// The same, where the sizes of our own are known.
    fn lines_of(issuers: Vec<Issuer>, own: Option<Requests>, others: bool) -> Vec<String> {
        let mut trace = sample::requests();
        trace.requests[0].issuers = issuers;
        trace.requests[0].own = own.map(Box::new);
        let hosts = vec![HostRecord { requests: Some(trace), ..HostRecord::default() }];
        lines(&PhaseRecord { hosts, ..PhaseRecord::default() }, others)
    }

    #[test]
    fn requests_of_others_have_a_line_of_their_own() {
        let own = || issuer(4711, "candor", 5_000);
        let alone = issued_by(vec![own(), issuer(9, "dd", 200)], true);
        assert!(alone.len() == 1 && alone[0].contains("4 KiB 100 %; on 4 KiB"), "{alone:?}");
        let threads = issuer(4, "kworker/0:1", 40);
        let beside =
            issued_by(vec![issuer(9, "dd", 14_000), own(), issuer(8, "cp", 960), threads], true);
        assert_eq!(
            beside,
            [
                "sdb read by candor (10 % traced): 5,000 requests, 4 KiB on average",
                "sdb read by kernel threads (10 % traced): 40 requests, 4 KiB on average",
                "sdb read by others (10 % traced): 14,960 requests, 4 KiB on average, \
                 most by dd (9)",
            ]
        );
    }

    #[test]
    fn our_own_requests_have_their_own_shapes() {
        let mut own = sample::requests().requests.remove(0);
        own.count = 5_000;
        (own.sizes_log2, own.sizes_4k) = (vec![(1 << 20, 5_000)], vec![(1 << 20, 5_000)]);
        own.starts_in_4k = vec![(0, 5_000)];
        (own.sequential, own.seeks) = (0, vec![(1 << 30, 5_000)]);
        let issuers = vec![issuer(9, "dd", 14_000), issuer(4711, "candor", 5_000)];
        assert_eq!(
            lines_of(issuers, Some(own), true),
            [
                "sdb read by candor (10 % traced): 1 MiB 100 %; all start on a 4 KiB boundary; 0 % \
                 sequential; p50 81.9–98.3 µs, p99 164–197 µs, p99.9 164–197 µs",
                "sdb read by others (10 % traced): 14,000 requests, 4 KiB on average, \
                 most by dd (9)",
            ]
        );
        let own = sample::requests().requests.remove(0);
        let threads = vec![issuer(4, "kworker/0:1", 9_000), issuer(4711, "candor", 5_000)];
        let lines = lines_of(threads, Some(own), true);
        assert!(lines[0].contains("by candor (10 % traced): 4 KiB 100 %"), "{lines:?}");
        assert!(lines[1].contains("by kernel threads"), "{lines:?}");
    }

    #[test]
    fn shapes_of_requests_that_may_be_those_of_others_are_not_claimed() {
        let threads = || vec![issuer(4, "kworker/0:1", 20_000)];
        let line = "sdb read (10 % traced): 20,000 requests, 4 KiB on average, including requests \
            of others (F10)";
        assert_eq!(issued_by(threads(), true), [line]);
        assert_eq!(issued_by(Vec::new(), true), [line], "nobody is known");
        assert!(issued_by(threads(), false)[0].contains("4 KiB 100 %; on 4 KiB"));
    }

    #[test]
    fn phases_without_a_traced_request_are_named() {
        let mut report = sample::report("", vec![]);
        let named = |name: &str, requests| PhaseRecord {
            name: name.into(),
            hosts: vec![HostRecord { requests, ..HostRecord::default() }],
            ..PhaseRecord::default()
        };
        let told = |report: &Report| {
            let style = Style::default();
            let mut page = Page::new(&style);
            brief(&mut page, report);
            page.finish()
        };
        report.phases = vec![named("cached", Some(RequestStats::default())), named("off", None)];
        assert!(
            told(&report).ends_with("No request was traced in cached, off.\n"),
            "{}",
            told(&report)
        );
        report.phases.push(named("read", Some(sample::requests())));
        assert!(
            told(&report).contains("  read  sdb read (10 % traced): 4 KiB 100 %"),
            "{}",
            told(&report)
        );
        report.phases = vec![named("off", None)];
        assert_eq!(told(&report).trim(), "");
    }

    #[test]
    fn many_processes_of_one_name_are_told_together() {
        let mut of = sample::requests().requests.remove(0);
        of.issuers = (1..=9).map(|pid| issuer(pid, "cc", 10)).collect();
        of.issuers.push(issuer(10, "ld", 10));
        assert_eq!(issuers(&of), "cc (9 processes) 90 %, ld (10) 10 %");
        of.issuers.truncate(2);
        assert_eq!(issuers(&of), "cc (1) 50 %, cc (2) 50 %");
    }

    #[test]
    fn a_command_is_told_what_it_sent() {
        let processes = TracedProcesses {
            command: vec!["make".into(), "-C".into(), "/a b".into()],
            pids: vec![4711],
            by_kernel: IssuedPart { count: 2, bytes: 8192 },
        };
        let mut report = AlignmentReport {
            elapsed_s: 3.2,
            trace: sample::requests(),
            processes: Some(processes),
            ..AlignmentReport::default()
        };
        let lines = |report: &AlignmentReport| {
            text(report, &Style::default()).split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let told = "`make -C '/a b'` sent 20,001 requests to devices in 3.2 s: 78.1 MiB read, 0 B \
                    written, by 1 process. Kernel threads sent 2 requests (8 KiB) in this time,";
        assert!(lines(&report).starts_with(told), "{}", lines(&report));
        report.trace.requests[0].placed = report.trace.requests[0].count + 300;
        let told = "`make -C '/a b'` sent 20,301 requests to devices in 3.2 s; the completion of \
                    300 of them was not traced. Without these: 78.1 MiB read, 0 B written, by 1 \
                    process.";
        assert!(lines(&report).starts_with(told), "{}", lines(&report));
        report.trace.requests.clear();
        assert!(lines(&report).contains("sent no request to a device in 3.2 s:"));
    }

    #[test]
    fn one_line_tells_why_requests_were_not_traced() {
        let requests =
            vec![Requests { device: "sdb".into(), count: 2, bytes: 8192, ..Requests::default() }];
        let report = AlignmentReport {
            verdict: "sdb: 2 reads and writes.".into(),
            trace: RequestStats {
                method: "the kernel's counters".into(),
                requests,
                ..RequestStats::default()
            },
            untraced: Some(Missing {
                what: "single requests".into(),
                why: "no rights".into(),
                enable: "root".into(),
            }),
            ..AlignmentReport::default()
        };
        assert_eq!(
            text(&report, &Style::default()),
            "sdb: 2 reads and writes.\n\nsdb read: 2 requests, 8 KiB, 4 KiB on average\n\n\
             Traced by the kernel's counters.\nNot traced: single requests: no rights; needs root.\n"
        );
    }
}
