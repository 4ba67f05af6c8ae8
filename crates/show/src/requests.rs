//! Traced block requests: sizes, offsets, order, latencies and issuers.

use candor_record::Report;
use candor_record::facts::Missing;
use candor_record::fmt::column::{share, size, time};
use candor_record::fmt::{counted, exact};
use candor_record::requests::{AlignmentReport, RequestStats, Requests, percentile, share_of};

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
    for sentence in report.verdict.lines() {
        page.paragraph("", sentence);
    }
    section(&mut page, &report.trace);
    untraced(&mut page, report.untraced.as_ref());
    page.finish()
}

/// Why single requests could not be traced.
pub(crate) fn untraced(page: &mut Page, missing: Option<&Missing>) {
    if let Some(Missing { what, why, enable }) = missing {
        page.aside("", &format!("Not traced: {what}: {why}; it takes {enable}."));
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
    let traced = report.results().filter_map(|p| Some((&p.name, p.host().requests.as_ref()?)));
    let traced: Vec<_> = traced.collect();
    let lines: Vec<_> =
        traced.iter().flat_map(|(name, trace)| trace.main().map(move |of| (*name, of))).collect();
    if lines.is_empty() {
        return;
    }
    page.heading("Requests that reached the devices");
    let wide = lines.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
    let mut last = "";
    for (name, of) in lines {
        let shown = if name == last { "" } else { name.as_str() };
        last = name;
        page.paragraph(&format!("  {shown:<wide$}  "), &in_a_line(of));
    }
}

fn in_a_line(of: &Requests) -> String {
    let mut parts = shape(of);
    parts.extend(pieces(of));
    parts.extend(latency(&of.latency_ns));
    let traced = of.traced_share().map(|part| format!(" ({} traced)", share(part)));
    let (device, direction) = (&of.device, of.direction.name());
    format!("{device} {direction}{}: {}", traced.unwrap_or_default(), parts.join("; "))
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
        [(0, _)] => "all begin on 4 KiB".to_owned(),
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
            let of_it = in_device.map(|text| format!("{text} in the device"));
            lines.push(("of these", of_it.unwrap_or_default()));
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
        bytes => format!("{} behind 4 KiB", size(bytes)),
    });
    for (off, what) in [
        (of.off_physical_sector, "off a physical sector"),
        (of.off_optimal, "off the device's optimal size"),
        (of.length_off_4k, "of a length that is no multiple of 4 KiB"),
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
        parts.push(format!("{cuts} through I/O too large for the device, {factor:.1} pieces each"));
    }
    if let (Some(merged), Some(factor)) = (of.merged, of.merge_factor().filter(worth)) {
        parts.push(format!("{} joined while waiting, {factor:.1} in a request", exact(merged)));
    }
    parts
}

fn latency(steps: &[(u64, u64)]) -> Option<String> {
    let at = |(name, share)| percentile(steps, share).map(|ns| format!("{name} {}", time(ns)));
    let parts: Vec<String> =
        [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].into_iter().filter_map(at).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn issuers(of: &Requests) -> String {
    let all: u64 = of.issuers.iter().map(|issuer| issuer.count).sum();
    let parts = of.issuers.iter().take(ISSUERS_MAX);
    let parts = parts.map(|issuer| {
        format!("{} ({}) {}", issuer.command, issuer.pid, share(share_of(issuer.count, all)))
    });
    parts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn the_page_tells_sizes_places_order_and_issuers() {
        let report = AlignmentReport {
            verdict: "sdb: of 20,000 reads and writes 5 begin off 4 KiB.".into(),
            trace: sample::requests(),
            ..AlignmentReport::default()
        };
        insta::assert_snapshot!(text(&report, &Style::default()), @r"
        sdb: of 20,000 reads and writes 5 begin off 4 KiB.

        sdb read: 20,000 requests traced (10 % of all), 78.1 MiB, 4 KiB on average
          size      4 KiB 100 %
          start     on 4 KiB 100 %, 512 B behind 4 KiB <0.1 %; 5 of 20,000 off a physical sector; 4 of
                    20,000 off the device's optimal size; 3 of 20,000 of a length that is no multiple of
                    4 KiB
          order     1.0 % sequential, half of the others 1 GiB away or more
          pieces    4,000 cuts through I/O too large for the device, 1.2 pieces each; 50,000 joined while
                    waiting, 1.2 in a request
          latency   p50 81.9 µs, p99 164 µs, p99.9 164 µs
          of these  p50 65.5 µs, p99 65.5 µs, p99.9 65.5 µs in the device
          flags     sync 100 %
          issued by candor (4711) 100 %

        sdb flush: 1 request
          latency   p50 2.10 ms

        Traced by BPF on raw tracepoints.
        ");
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
             Traced by the kernel's counters.\nNot traced: single requests: no rights; it takes root.\n"
        );
    }
}
