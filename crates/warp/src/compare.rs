//! `warp cmp`: two results, like with like.

use serde_json::{Value, json};

use super::report::{Rate, Report, Results};
use super::text::{elapsed, mib_per_s, remarks};
use super::timing::{Summary, Timing};

/// An operation that both results have.
struct Pair<'a> {
    before: &'a Report,
    after: &'a Report,
}

/// Rates of both results: means, or fastest, median or slowest segments.
struct Rates {
    name: &'static str,
    before: Rate,
    after: Rate,
}

/// Times of both results.
struct Times {
    name: &'static str,
    before_ns: f64,
    after_ns: f64,
}

/// The comparison as text.
pub fn text(before: &Results, after: &Results) -> String {
    let blocks: Vec<String> = pairs(before, after).iter().map(Pair::text).collect();
    let mut text = blocks.join("\n");
    for (file, other, name) in [(before, after, "before"), (after, before, "after")] {
        for op in file.ops.iter().filter(|op| find(other, &op.op).is_none()) {
            text.push_str(&format!("Only the file {name} has {}.\n", op.op));
        }
    }
    text + &remarks(before) + &remarks(after)
}

/// The comparison as JSON.
pub fn json(before: &Results, after: &Results) -> Value {
    let pairs = pairs(before, after);
    json!({
        "operations": pairs.iter().map(Pair::json).collect::<Vec<_>>(),
        "only_before": only(before, after),
        "only_after": only(after, before),
    })
}

fn pairs<'a>(before: &'a Results, after: &'a Results) -> Vec<Pair<'a>> {
    let pair =
        before.ops.iter().filter_map(|op| Some(Pair { before: op, after: find(after, &op.op)? }));
    let mut pairs: Vec<Pair<'a>> = pair.collect();
    if pairs.len() > 1 && before.is_mixed() && after.is_mixed() {
        pairs.push(Pair { before: &before.total, after: &after.total });
    }
    pairs
}

fn find<'a>(results: &'a Results, op: &str) -> Option<&'a Report> {
    results.ops.iter().find(|report| report.op == op)
}

fn only<'a>(file: &'a Results, other: &Results) -> Vec<&'a str> {
    let ops = file.ops.iter().map(|report| report.op.as_str());
    ops.filter(|op| find(other, op).is_none()).collect()
}

impl Pair<'_> {
    fn text(&self) -> String {
        let Pair { before, after } = self;
        let mut text = format!("Operation: {}\n", before.op);
        text.push_str(&format!("Operations: {} -> {}\n", before.requests, after.requests));
        text.push_str(&differing("Concurrency", &before.concurrency, &after.concurrency));
        text.push_str(&differing("Endpoints", &before.hosts.len(), &after.hosts.len()));
        let ran = [before, after].map(|report| elapsed(report.duration_ns() as f64));
        text.push_str(&differing("Duration", &ran[0], &ran[1]));
        text.push_str(&differing("Errors", &before.errors, &after.errors));
        let segments = [before, after].map(|report| elapsed(report.segment_ns as f64));
        text.push_str(&differing("Segments", &segments[0], &segments[1]));
        let rates = self.rates();
        let Some((average, others)) = rates.split_first() else {
            return text + " * Rates are not compared: a file has too few samples\n";
        };
        text.push_str(&average.text());
        text.push_str(&self.times_text("Reqs", &before.latency, &after.latency));
        text.push_str(&self.times_text("TTFB", &before.first_byte, &after.first_byte));
        others.iter().for_each(|rates| text.push_str(&rates.text()));
        text
    }

    /// Means, then the fastest, the median and the slowest segment; none without segments. The
    /// extremes of segments of different lengths are not comparable.
    fn rates(&self) -> Vec<Rates> {
        let Pair { before, after } = self;
        let Some((one, other)) = before.rate().zip(after.rate()) else { return Vec::new() };
        let mut rates = vec![Rates { name: "Average", before: one, after: other }];
        let spreads = before.spread().zip(after.spread());
        if let Some((one, other)) = spreads.filter(|_| before.segment_ns == after.segment_ns) {
            rates.push(Rates { name: "Fastest", before: one.fastest, after: other.fastest });
            rates.push(Rates { name: "50% Median", before: one.median, after: other.median });
            rates.push(Rates { name: "Slowest", before: one.slowest, after: other.slowest });
        }
        rates
    }

    fn times_text(&self, name: &str, before: &Timing, after: &Timing) -> String {
        let Some((before, after)) = before.summary().zip(after.summary()) else {
            return String::new();
        };
        let times: Vec<String> = times(&before, &after).iter().map(Times::text).collect();
        let mut text = format!(" * {name}: {}\n", times.join(", "));
        if before.is_averaged() != after.is_averaged() {
            text.push_str(
                "   Percentiles are not compared: one file has means of pieces only (S31)\n",
            );
        } else if before.is_averaged() {
            text.push_str("   Percentiles are means of pieces of the runs (S31)\n");
        }
        text
    }

    fn json(&self) -> Value {
        let Pair { before, after } = self;
        let mut changes = serde_json::Map::new();
        for rates in self.rates() {
            let Rates { name, before, after } = rates;
            changes.insert(
                name.to_lowercase().replace("50% ", ""),
                json!({
                    "bytes_per_sec": { "before": before.bytes, "after": after.bytes },
                    "obj_per_sec": { "before": before.objects, "after": after.objects },
                }),
            );
        }
        json!({
            "op": before.op,
            "requests": { "before": before.requests, "after": after.requests },
            "errors": { "before": before.errors, "after": after.errors },
            "concurrency": { "before": before.concurrency, "after": after.concurrency },
            "throughput": changes,
            "requests_millis": times_json(&before.latency, &after.latency),
            "first_byte_millis": times_json(&before.first_byte, &after.first_byte),
        })
    }
}

/// Times that both have in the same form: percentiles of all requests are not compared with means
/// of percentiles.
fn times(before: &Summary, after: &Summary) -> Vec<Times> {
    let is_alike = before.is_averaged() == after.is_averaged();
    let (before, after) = (values(before), values(after));
    let times = before.into_iter().zip(after).map(|((name, before_ns), (_, after_ns))| Times {
        name,
        before_ns,
        after_ns,
    });
    times.filter(|times| is_alike || !times.name.ends_with('%')).collect()
}

/// Each value with its name.
fn values(of: &Summary) -> [(&'static str, f64); 7] {
    [
        ("Avg", of.mean),
        ("50%", of.p50),
        ("90%", of.p90),
        ("99%", of.p99),
        ("Fastest", of.fastest),
        ("Slowest", of.slowest),
        ("StdDev", of.std_dev),
    ]
}

fn times_json(before: &Timing, after: &Timing) -> Value {
    let Some((before, after)) = before.summary().zip(after.summary()) else { return Value::Null };
    let rows = times(&before, &after).into_iter().map(|of| {
        let (before, after) = (of.before_ns / 1e6, of.after_ns / 1e6);
        (of.name.to_lowercase(), json!({ "before": before, "after": after }))
    });
    Value::Object(rows.collect())
}

impl Times {
    fn text(&self) -> String {
        let Times { name, before_ns, after_ns } = self;
        let difference = without_noise(after_ns - before_ns, 0.5);
        let sign = if difference < 0.0 { '-' } else { '+' };
        let percent = percent(*before_ns, *after_ns);
        format!("{name}: {percent} ({sign}{})", elapsed(difference.abs()))
    }
}

impl Rates {
    fn text(&self) -> String {
        let Rates { name, before, after } = self;
        let objects = without_noise(after.objects - before.objects, 0.005);
        let objects = format!("{} ({objects:+.2}) obj/s", percent(before.objects, after.objects));
        if before.bytes == 0.0 && after.bytes == 0.0 {
            return format!(" * {name}: {objects}\n");
        }
        let bytes = without_noise(after.bytes - before.bytes, 5000.0);
        let sign = if bytes < 0.0 { '-' } else { '+' };
        let bytes = mib_per_s(bytes.abs());
        let percent = percent(before.bytes, after.bytes);
        format!(" * {name}: {percent} ({sign}{bytes}) throughput, {objects}\n")
    }
}

fn percent(before: f64, after: f64) -> String {
    match before {
        0.0 => "from 0".to_owned(),
        _ => format!("{:+.1}%", without_noise((after / before - 1.0) * 100.0, 0.05)),
    }
}

/// The value, or 0 if it is printed as 0, so that no 0 has a minus.
fn without_noise(value: f64, least: f64) -> f64 {
    if value.abs() < least { 0.0 } else { value }
}

fn differing<T: PartialEq + std::fmt::Display>(name: &str, before: &T, after: &T) -> String {
    if before == after { String::new() } else { format!("{name}: {before} -> {after}\n") }
}
