//! The least value of a series beyond which more no longer paid.

use candor_record::fmt::{self, ratio};
use candor_record::{Knee, SweepKey, Verdict};
use candor_stats::{dip, knee};

use super::{Point, Value};
use crate::thresholds::{AS_GOOD, UNDISTURBED};

/// The knee of a series from the least value to the greatest, or why it does not show one; none of
/// a single value.
pub(super) fn of(key: SweepKey, series: &[Point]) -> Option<Knee> {
    let [first, .., last] = series else { return None };
    let (value, sentence) = match (doubtful(series), dip(&rates(key, series), UNDISTURBED.value)) {
        (0, None) => shown(key, first, last, series),
        (0, Some(point)) => (None, by_disturbance(key, point, series)),
        (some, _) => (None, format!("no knee is reported: {} not trusted", counted(some, series))),
    };
    let outer: Vec<String> = first.outer().iter().map(Value::phrase).collect();
    let series = fmt::capital(&outer.join(", "));
    let lead = if series.is_empty() { String::new() } else { format!("{series}: ") };
    Some(Knee { series, value, sentence: fmt::capital(&format!("{lead}{sentence}.")) })
}

/// Results that do not stand.
fn doubtful(series: &[Point]) -> usize {
    series.iter().filter(|point| point.row.verdict > Verdict::Caution).count()
}

/// `1 of 4 results is`, `2 of 4 results are`.
fn counted(some: usize, series: &[Point]) -> String {
    let verb = if some == 1 { "is" } else { "are" };
    format!("{some} of {} results {verb}", series.len())
}

fn rates(key: SweepKey, series: &[Point]) -> Vec<f64> {
    series.iter().map(|point| point.rate(key)).collect()
}

fn by_disturbance(key: SweepKey, nth: usize, series: &[Point]) -> String {
    let (point, before) = (&series[nth], &series[nth - 1]);
    format!(
        "no knee is reported: {} did {}, less than {} with {}, and the rate rose again with a \
         greater value; a disturbance is likely, run the sweep again",
        point.at(),
        rate(key, point),
        before.at(),
        rate(key, before)
    )
}

/// The least value as good as the best, and the sentence that says so.
fn shown(key: SweepKey, first: &Point, last: &Point, series: &[Point]) -> (Option<String>, String) {
    let best = series.iter().max_by(|a, b| a.rate(key).total_cmp(&b.rate(key))).unwrap_or(last);
    let least = knee(&rates(key, series), AS_GOOD.value).map_or(best, |at| &series[at]);
    let (is_first, is_last) = (least.values == first.values, least.values == last.values);
    if is_last {
        let before = &series[series.len() - 2];
        let times = fmt::number(ratio(last.rate(key), before.rate(key)));
        let (at, from) = (last.at(), before.at());
        let rate = rate(key, last);
        return (
            None,
            format!("no knee up to {at}: the rate was {rate}, {times}× the rate at {from}"),
        );
    }
    let of_best = if least.values == best.values {
        "the best tried".to_owned()
    } else {
        format!("within 5 % of the best ({} with {})", rate(key, best), best.at())
    };
    let (at, did) = (least.at(), rate(key, least));
    let mut sentence = match (is_first, least.values == best.values) {
        (true, _) => format!("no knee: {at}, the least tried, did {did}, {of_best}"),
        (false, true) => format!("the knee is {at}: {did}, {of_best}"),
        (false, false) => format!("the knee is {at}: {did}, the least tried {of_best}"),
    };
    sentence.push_str(&latencies(least, last));
    let value = least.row.values.last().filter(|_| !is_first).cloned();
    (value, sentence)
}

/// Mean latency there and at the greatest value.
fn latencies(least: &Point, last: &Point) -> String {
    match (least.row.latency_ns_mean, last.row.latency_ns_mean) {
        (Some(here), Some(there)) => format!(
            "; an operation took {} there, {} with {}",
            fmt::time(here),
            fmt::time(there),
            last.at()
        ),
        _ => String::new(),
    }
}

fn rate(key: SweepKey, point: &Point) -> String {
    match key {
        SweepKey::Bs => fmt::rate_decimal(point.row.bytes_per_s),
        _ => fmt::iops(point.row.ops_per_s),
    }
}
