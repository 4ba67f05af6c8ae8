//! Sizes and places of the requests that the devices saw.

use candor_chart::{Axis, Bar, Chart, Panel, Series, Shape};
use candor_record::requests::{Requests, share_of};
use candor_record::{PhaseRecord, Unit, fmt};

use super::SERIES_MAX;

/// Rows of one picture; the least of more are left out, and counted.
const ROWS_MAX: usize = 16;
/// A share from which on a value has a row: no bar shows less.
const SHARE_MIN: f64 = 0.001;

/// Requests of a value, such as a size: `(value, requests)`.
type Counts = Vec<(u64, u64)>;

/// Shares of the traced requests of a phase by their sizes; none where none were traced.
pub fn sizes(record: &PhaseRecord) -> Option<Chart> {
    by_value(record, "Sizes of requests", "Share of requests", Requests::sizes, |bytes| {
        fmt::column::size(bytes)
    })
}

/// Shares of the traced requests of a phase by where they begin within 4 KiB; none where all begin
/// on a multiple of that.
pub fn starts(record: &PhaseRecord) -> Option<Chart> {
    let name = |bytes: u64| match bytes {
        0 => "on 4 KiB".to_owned(),
        behind => format!("{} after", fmt::column::size(behind)),
    };
    let starts = |of: &Requests| of.starts_in_4k.clone();
    by_value(record, "Alignment of requests", "Share of requests", starts, name)
        .filter(|chart| chart.x != Axis::categories("", [name(0)]))
}

fn by_value(
    record: &PhaseRecord,
    title: &str,
    label: &str,
    counts: impl Fn(&Requests) -> Counts,
    name: impl Fn(u64) -> String,
) -> Option<Chart> {
    let trace = record.host().requests.as_ref()?;
    let traced: Vec<(String, Counts)> = trace
        .main()
        .map(|of| {
            // Not every method tells sizes and places of our own requests apart.
            let own = of.own().map(&counts).filter(|counts| !counts.is_empty());
            let all = counts(of);
            // The text has the shares of all requests.
            let whose = if own.as_ref().is_some_and(|own| *own != all) { " by candor" } else { "" };
            let name = format!("{} {}{whose}", of.device, of.direction.name());
            (name, own.unwrap_or(all))
        })
        .filter(|(_, counts)| !counts.is_empty())
        .take(SERIES_MAX)
        .collect();
    let (values, left_out) = values(&traced);
    let series = traced.iter().enumerate().map(|(slot, (name, counts))| {
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        let shown = counts.iter().filter_map(|(value, count)| {
            let row = values.iter().position(|known| known == value)?;
            Some(Bar { row, value: share_of(*count, all), ..Bar::default() })
        });
        Series::new(name.clone(), slot, Shape::Bars(shown.collect()))
    });
    let series: Vec<Series> = series.collect();
    let subtitle = match left_out {
        0 => String::new(),
        more => format!(
            "the {} most frequent; {} left out",
            values.len(),
            fmt::counted(more, "rarer value")
        ),
    };
    let chart = Chart {
        title: title.into(),
        subtitle,
        description: format!("{title} of {}.", record.name),
        x: Axis::categories("", values.into_iter().map(name)),
        panels: vec![Panel::new(Axis::linear(label, Unit::Share), series)],
        ..Chart::default()
    };
    (!chart.is_empty()).then_some(chart)
}

/// The values with most requests, ascending, and how many were left out.
fn values(traced: &[(String, Counts)]) -> (Vec<u64>, u64) {
    let mut all: Vec<(u64, u64)> = Vec::new();
    let mut shown: Vec<u64> = Vec::new();
    for (_, counts) in traced {
        let sum: u64 = counts.iter().map(|(_, count)| count).sum();
        let is_seen = |(_, count): &&(u64, u64)| share_of(*count, sum) >= SHARE_MIN;
        shown.extend(counts.iter().filter(is_seen).map(|(value, _)| value));
    }
    for (value, count) in traced.iter().flat_map(|(_, counts)| counts) {
        match all.iter_mut().find(|(known, _)| known == value) {
            Some((_, sum)) => *sum += count,
            None => all.push((*value, *count)),
        }
    }
    all.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), *value));
    let known = all.len();
    let values = all.into_iter().map(|(value, _)| value).filter(|value| shown.contains(value));
    let mut values: Vec<u64> = values.take(ROWS_MAX).collect();
    values.sort_unstable();
    let left_out = (known - values.len()) as u64;
    (values, left_out)
}

#[cfg(test)]
mod tests {
    use candor_record::HostRecord;

    use super::*;
    use crate::sample;

    #[test]
    fn requests_are_drawn_by_size_and_by_place_where_that_differs() {
        let mut record = PhaseRecord { name: "read".into(), ..PhaseRecord::default() };
        assert_eq!((sizes(&record), starts(&record)), (None, None));
        let requests = Some(sample::requests());
        record.hosts = vec![HostRecord { requests, ..HostRecord::default() }];
        let chart = sizes(&record).expect("sizes");
        let Shape::Bars(bars) = &chart.panels[0].series[0].shape else { panic!("no bars") };
        let all: f64 = bars.iter().map(|bar| bar.value).sum();
        assert!((all - 1.0).abs() < 1e-9 && !bars.is_empty(), "{bars:?}");
        let begin = |record: &mut PhaseRecord, starts_in_4k: &[(u64, u64)]| {
            let trace = record.hosts[0].requests.as_mut().expect("a trace");
            trace.requests.iter_mut().for_each(|of| of.starts_in_4k = starts_in_4k.to_vec());
        };
        begin(&mut record, &[(0, 9)]);
        assert_eq!(starts(&record), None);
        begin(&mut record, &[(0, 9), (512, 1)]);
        let starts = starts(&record).expect("places");
        assert_eq!(starts.x, Axis::categories("", ["on 4 KiB", "512 B after"].map(String::from)));
    }

    #[test]
    fn the_rarest_values_are_left_out_and_counted() {
        let counts: Counts = (1..=20).map(|nth| (nth * 4096, nth)).collect();
        let (values, left_out) = values(&[("sda read".into(), counts)]);
        assert_eq!((values.len(), values[0], left_out), (ROWS_MAX, 5 * 4096, 4));
        let counts: Counts = vec![(4096, 9990), (8192, 9), (12288, 1)];
        let (values, left_out) = self::values(&[("sda read".into(), counts)]);
        assert_eq!((values, left_out), (vec![4096], 2), "no bar shows less than a thousandth");
    }
}
