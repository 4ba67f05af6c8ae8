//! Numbers as people read them. Nothing here ever prints `NaN` or `inf`.

/// A number with about three significant digits.
pub fn number(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".into();
    }
    let digits = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        _ => 2,
    };
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// The largest unit that the value reaches.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let reached = |(size, _): &&(f64, &str)| value.abs() >= *size;
    match units.iter().find(reached).or(units.last()) {
        Some((size, unit)) => format!("{} {unit}", number(value / size)),
        None => number(value),
    }
}

const DECIMAL: [(f64, &str); 5] =
    [(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")];
const BINARY: [(f64, &str); 5] = [
    (1_099_511_627_776.0, "TiB/s"),
    (1_073_741_824.0, "GiB/s"),
    (1_048_576.0, "MiB/s"),
    (1024.0, "KiB/s"),
    (1.0, "B/s"),
];
const SIZES: [(f64, &str); 5] = [
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
    (1.0, "bytes"),
];
const TIMES: [(f64, &str); 4] = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];

/// Bytes per second in both families of units: `544 MB/s (519 MiB/s)`.
pub fn rate(bytes_per_s: f64) -> String {
    if bytes_per_s.abs() < 1000.0 {
        return rate_decimal(bytes_per_s);
    }
    format!("{} ({})", rate_decimal(bytes_per_s), rate_binary(bytes_per_s))
}

/// Bytes per second in powers of 1000: `544 MB/s`.
pub fn rate_decimal(bytes_per_s: f64) -> String {
    scaled(bytes_per_s, &DECIMAL)
}

/// Bytes per second in powers of 1024: `519 MiB/s`.
pub fn rate_binary(bytes_per_s: f64) -> String {
    scaled(bytes_per_s, &BINARY)
}

/// A number of bytes: `64 MiB`.
pub fn size(bytes: f64) -> String {
    scaled(bytes, &SIZES)
}

/// A length of time: `326 µs`.
pub fn time(ns: f64) -> String {
    scaled(ns, &TIMES)
}

/// A number of things, shortened from ten thousand on: `146k`.
pub fn count(value: f64) -> String {
    match value.abs() {
        v if v >= 1e9 => format!("{}G", number(value / 1e9)),
        v if v >= 1e6 => format!("{}M", number(value / 1e6)),
        v if v >= 1e4 => format!("{}k", number(value / 1e3)),
        _ => number(value),
    }
}

/// Operations per second: `146k IOPS`.
pub fn iops(ops_per_s: f64) -> String {
    format!("{} IOPS", count(ops_per_s))
}

/// A share as a percentage: `97 %`. What is not quite all or nothing never reads as if it were.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    if !value.is_finite() {
        return "an unknown share".into();
    }
    match value {
        v if v > 0.0 && v < 0.1 => "less than 0.1 %".into(),
        v if v > 99.9 && v < 100.0 => "more than 99.9 %".into(),
        v if v.abs() < 10.0 || (v > 99.0 && v < 100.0) => format!("{} %", trimmed(v)),
        v => format!("{v:.0} %"),
    }
}

/// One digit after the point, none where that is zero.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// `1 worker`, `4 workers`.
pub fn plural(count: f64, one: &str, many: &str) -> String {
    format!("{} {}", self::count(count), if count == 1.0 { one } else { many })
}

/// The text as a sentence begins.
pub fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `a ÷ b`, zero where that has no value.
pub fn ratio(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    if ratio.is_finite() { ratio } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_come_in_both_families() {
        assert_eq!(rate(531_712.0 * 1024.0), "544 MB/s (519 MiB/s)");
        assert_eq!(rate(5.433e9), "5.43 GB/s (5.06 GiB/s)");
        assert_eq!(rate(0.0), "0 B/s");
    }

    #[test]
    fn sizes_times_counts() {
        assert_eq!(size(64.0 * 1_048_576.0), "64 MiB");
        assert_eq!(time(326_000.0), "326 µs");
        assert_eq!(time(0.5), "0.5 ns");
        assert_eq!(count(146_484.0), "146k");
        assert_eq!(iops(1010.0), "1010 IOPS");
        assert_eq!(plural(1.0, "worker", "workers"), "1 worker");
    }

    #[test]
    fn percentages_are_never_rounded_to_all_or_nothing() {
        assert_eq!(percent(0.9999), "more than 99.9 %");
        assert_eq!(percent(0.996), "99.6 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.0001), "less than 0.1 %");
        assert_eq!(percent(0.0), "0 %");
        assert_eq!(percent(0.43), "43 %");
    }

    #[test]
    fn garbage_is_words_not_nan() {
        for text in [number(f64::NAN), rate(f64::INFINITY), percent(f64::NAN), time(f64::NAN)] {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        assert_eq!(ratio(1.0, 0.0), 0.0);
    }
}
