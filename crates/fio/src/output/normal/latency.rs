//! Lines of latencies: statistics, percentiles, and the table of bounds.

use super::super::number::{Step, short};
use crate::job::Reporting;
use crate::output::figures::spread::{STEPS, Spread, Table};

/// Units of latencies and their divisors.
const UNITS: [(&str, u64); 3] = [("nsec", 1), ("usec", 1000), ("msec", 1_000_000)];

/// A line such as `clat (usec): min=2, max=4421, avg=230.44, stdev=369.21`; none for no latency.
pub(super) fn line(name: &str, spread: &Spread, text: &mut String) {
    if spread.is_empty() {
        return;
    }
    let (min, max, deviation) = (spread.min(), spread.max(), spread.deviation());
    // The next unit is used if all values stay readable in it.
    let large =
        |unit: u64| min > 2000 * unit && max > 99_999 * unit && deviation > 1000.0 * unit as f64;
    let (unit, ns) = UNITS[usize::from(large(1)) + usize::from(large(1) && large(1000))];
    let whole = |value: u64| short(value / ns, 6, Step::Decimal, "");
    *text += &format!(
        "    {name:>4} ({unit}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        whole(min),
        whole(max),
        spread.mean() / ns as f64,
        deviation / ns as f64
    );
}

/// The table of percentiles, a few to a line; none for no latency.
pub(super) fn percentiles(name: &str, spread: &Spread, reporting: &Reporting, text: &mut String) {
    let percents = &reporting.percentiles;
    if spread.is_empty() || percents.is_empty() {
        return;
    }
    let values: Vec<u64> = percents.iter().map(|percent| spread.percentile(*percent)).collect();
    let (min, max) = values.iter().fold((u64::MAX, 0), |(min, max), v| (min.min(*v), max.max(*v)));
    let large = |unit: u64| min > 2000 * unit && max > 99_999 * unit;
    let (unit, ns) = UNITS[usize::from(large(1)) + usize::from(large(1) && large(1000))];
    let shown: Vec<String> = values.iter().map(|value| value.div_ceil(ns).to_string()).collect();
    let width = shown.iter().map(String::len).max().unwrap_or(0).max(5);
    let places = percents.iter().map(|percent| places(*percent)).max().unwrap_or(0);
    let places = places.max(reporting.percentile_places);
    // Entries per line in 80 columns.
    let per_line = (73 / (places + 10 + width)).max(1);
    *text += &format!("    {name} percentiles ({unit}):\n");
    for (at, (percent, value)) in percents.iter().zip(&shown).enumerate() {
        if at % per_line == 0 {
            *text += "     | ";
        }
        let last = at + 1 == percents.len();
        *text += &format!("{percent:w$.places$}th=[{value:>width$}]", w = places + 3);
        *text += match (last, (at + 1) % per_line == 0) {
            (true, _) => "\n",
            (false, true) => ",\n",
            (false, false) => ", ",
        };
    }
}

/// Decimals that a percentile was written with.
fn places(percent: f64) -> usize {
    let text = format!("{percent:.6}");
    let significant = text.trim_end_matches('0');
    significant.len() - significant.find('.').map_or(significant.len(), |dot| dot + 1)
}

/// The table of latencies by bounds, five per line, without zeros.
pub(super) fn table(table: &Table, text: &mut String) {
    for (unit, shares) in [("nsec", &table.ns[..]), ("usec", &table.us), ("msec", &table.ms)] {
        let filled: Vec<String> = shares
            .iter()
            .enumerate()
            .filter(|(_, share)| **share > 0.0)
            .map(|(at, share)| match STEPS.get(at) {
                Some(step) => format!("{step}={share:.2}%"),
                None => format!(">=2000={share:.2}%"),
            })
            .collect();
        for line in filled.chunks(5) {
            *text += &format!("  lat ({unit})   : {}\n", line.join(", "));
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_record::{Histogram, Latency};

    use super::*;

    fn spread(latencies: &[u64]) -> Spread {
        let mut histogram = Histogram::new();
        latencies.iter().for_each(|ns| histogram.record(*ns));
        Spread::of(Latency::from_histogram(histogram).as_ref())
    }

    fn line_of(name: &str, latencies: &[u64]) -> String {
        let mut text = String::new();
        line(name, &spread(latencies), &mut text);
        text
    }

    #[test]
    fn a_line_takes_the_unit_that_its_figures_need() {
        assert_eq!(
            line_of("slat", &[10, 30]),
            "    slat (nsec): min=10, max=30, avg=20.00, stdev=14.14\n"
        );
        let least_is_short = line_of("clat", &[1342, 4_489_300]);
        assert!(least_is_short.starts_with("    clat (nsec): min=1342, max=4489.3k, avg="));
        let usec = line_of("lat", &[2_100, 4_400_000]);
        assert!(usec.starts_with("     lat (usec): min=2, max=4400, avg="), "{usec}");
        let msec = line_of("lat", &[2_100_000, 440_000_000]);
        assert!(msec.starts_with("     lat (msec): min=2, max=440, avg="), "{msec}");
        assert_eq!(line_of("clat", &[]), "");
        assert!(line_of("clat", &[5]).ends_with("avg= 5.00, stdev= 0.00\n"));
    }

    #[test]
    fn percentiles_stand_as_in_fio() {
        // 1048, 1816 and 4489216 ns are values that fio 3.33 printed in this very shape.
        let mut text = String::new();
        let latencies: Vec<u64> = [vec![1048; 98], vec![1816; 1], vec![4_489_216; 1]].concat();
        percentiles("clat", &spread(&latencies), &of(&[50.0, 98.12345, 99.999999]), &mut text);
        assert_eq!(
            text,
            "    clat percentiles (nsec):\n     | 50.000000th=[   1048], 98.123450th=[   1816], \
             99.999999th=[4489216]\n"
        );
        text.clear();
        percentiles("lat", &spread(&[572, 1080]), &of(&[50.0, 90.0]), &mut text);
        assert_eq!(text, "    lat percentiles (nsec):\n     |  50th=[  572],  90th=[ 1080]\n");
        text.clear();
        percentiles("clat", &spread(&[900_000, 4_100_000]), &of(&[1.0, 99.5]), &mut text);
        assert_eq!(text, "    clat percentiles (usec):\n     |  1.0th=[  898], 99.5th=[ 4113]\n");
        text.clear();
        let written = Reporting { percentile_places: 2, ..of(&[25.0]) };
        percentiles("clat", &spread(&[572]), &written, &mut text);
        assert_eq!(text, "    clat percentiles (nsec):\n     | 25.00th=[  572]\n");
    }

    fn of(percents: &[f64]) -> Reporting {
        Reporting { percentiles: percents.to_vec(), ..Reporting::default() }
    }

    #[test]
    fn rows_of_the_table_hold_five_steps() {
        let mut all = Table { ns: [1.0; 10], ..Table::default() };
        all.ms[11] = 0.5;
        let mut text = String::new();
        table(&all, &mut text);
        assert_eq!(
            text,
            "  lat (nsec)   : 2=1.00%, 4=1.00%, 10=1.00%, 20=1.00%, 50=1.00%\n\
             \x20 lat (nsec)   : 100=1.00%, 250=1.00%, 500=1.00%, 750=1.00%, 1000=1.00%\n\
             \x20 lat (msec)   : >=2000=0.50%\n"
        );
    }
}
