//! Numbers as people read them: three significant digits, the unit beside them.
//!
//! The functions here are for sentences, which drop zeros at the end (`1.5 GiB`); those of
//! [`column`] keep them, so that digits stand below each other. Rates are given in powers of 1000
//! (`MB/s`) and of 1024 (`MiB/s`), each named as what it is. Nothing prints `NaN` or `inf`.

pub mod axis;
pub mod column;

pub use candor_plan::visible::{
    is_hidden, visible, visible_json, visible_lines, visible_with_codes,
};

use crate::{Unit, Value};

/// Unit of the rate of requests on objects.
pub const REQUESTS_PER_S: &str = "req/s";

/// Units with their sizes, the smallest first.
type Units = [(f64, &'static str)];

const COUNTS: [(f64, &str); 4] = [(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")];

const DECIMAL: [(f64, &str); 6] =
    [(1.0, " B"), (1e3, " kB"), (1e6, " MB"), (1e9, " GB"), (1e12, " TB"), (1e15, " PB")];

const BINARY: [(f64, &str); 6] = [
    (1.0, " B"),
    (1024.0, " KiB"),
    (1_048_576.0, " MiB"),
    (1_073_741_824.0, " GiB"),
    (1_099_511_627_776.0, " TiB"),
    (1_125_899_906_842_624.0, " PiB"),
];

const TIMES: [(f64, &str); 4] = [(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")];

/// Three significant digits; whole numbers from 100 on, none of them rounded further.
fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "unknown".into();
    }
    // Decided on the rounded value, so that 99.97 becomes 100 and not 100.0.
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    match text.as_str() {
        "0.00" | "-0.00" if value != 0.0 => "<0.01".to_owned(),
        "0.00" | "-0.00" => "0".to_owned(),
        _ => text,
    }
}

/// The value in the largest unit that leaves at least 1, or in the smallest.
fn scaled(value: f64, units: &Units, digits: fn(f64) -> String) -> String {
    // 999.5 would round up into the next unit.
    let (scale, unit) =
        units.iter().rev().find(|(scale, _)| value.abs() / scale >= 0.999_5).unwrap_or(&units[0]);
    format!("{}{unit}", digits(value / scale))
}

/// A number with three significant digits, without zeros at the end.
pub fn number(value: f64) -> String {
    let text = significant(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Bytes per second in both families of units: `544 MB/s (519 MiB/s)`.
pub fn rate(bytes_per_s: f64) -> String {
    if bytes_per_s.abs() < 1000.0 {
        return rate_decimal(bytes_per_s);
    }
    format!("{} ({})", rate_decimal(bytes_per_s), rate_binary(bytes_per_s))
}

/// Bytes per second in powers of 1000: `544 MB/s`.
pub fn rate_decimal(bytes_per_s: f64) -> String {
    format!("{}/s", scaled(bytes_per_s, &DECIMAL, number))
}

/// Bytes per second in powers of 1024: `519 MiB/s`.
pub fn rate_binary(bytes_per_s: f64) -> String {
    format!("{}/s", scaled(bytes_per_s, &BINARY, number))
}

/// A number of bytes: `64 MiB`, `512 bytes`.
pub fn size(bytes: f64) -> String {
    scaled(bytes, &BINARY, number).replace(" B", " bytes")
}

/// A length of time: `326 µs`.
pub fn time(ns: f64) -> String {
    scaled(ns, &TIMES, number)
}

/// A number of things, shortened from ten thousand on: `146k`.
pub fn count(value: f64) -> String {
    if value.abs() < 1e4 { number(value) } else { scaled(value, &COUNTS, number) }
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

/// A change as a share of what was: `-3.1 %`, `+12 %`; from eleven times on `×12`.
pub fn change(share: f64) -> String {
    let value = share * 100.0;
    if !value.is_finite() {
        return "an unknown change".into();
    }
    match value {
        v if v >= 1000.0 => format!("×{}", number(1.0 + share)),
        v if v.abs() < 0.005 => "0 %".into(),
        v if v.abs() < 0.095 => format!("{v:+.2} %"),
        v if v.abs() < 9.95 => format!("{v:+.1} %"),
        // What is not quite all never reads as if it were.
        v if v > -100.0 && v < -99.5 => format!("{v:+.2} %"),
        v => format!("{v:+.0} %"),
    }
}

/// One digit after the point, none where that is zero.
fn trimmed(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// A length of time that one waits for, in whole seconds: `4 s`, `1 min 20 s`, `2 h 5 min`.
pub fn wait(ns: u64) -> String {
    // Rounded up: "0 s left" is only right when nothing is left.
    let seconds = ns.div_ceil(1_000_000_000);
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// An exact count with its thousands apart: `1,234,567`.
pub fn exact(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// An exact count and its noun: `1 block`, `2,000 blocks`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", exact(n), if n == 1 { "" } else { "s" })
}

/// `1 worker`, `4 workers`.
pub fn plural(count: f64, one: &str, many: &str) -> String {
    format!("{} {}", self::count(count), if count == 1.0 { one } else { many })
}

/// The text as a sentence begins; names such as `io_uring` stay as they are.
pub fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    if first.contains('_') {
        return text.to_owned();
    }
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// `a ÷ b`, zero where that has no value.
pub fn ratio(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    if ratio.is_finite() { ratio } else { 0.0 }
}

/// A value as people read it, with its unit.
pub fn value(value: &Value, unit: Unit) -> String {
    let of = match value {
        Value::Number(number) => *number,
        Value::Text(text) => return text.clone(),
    };
    match unit {
        Unit::Bytes => size(of),
        Unit::BytesPerS => rate(of),
        Unit::OpsPerS => iops(of),
        Unit::Ns => time(of),
        Unit::Share => percent(of),
        Unit::Change => change(of),
        Unit::Celsius => format!("{} °C", number(of)),
        Unit::Count => count(of),
        Unit::Ratio | Unit::Text => number(of),
    }
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
    fn rounding_up_reaches_the_next_unit() {
        assert_eq!(rate_decimal(999_600_000.0), "1 GB/s");
        assert_eq!((time(999_600.0), count(999_600.0)), ("1 ms".into(), "1M".into()));
        assert_eq!([0.0, 0.004, 9.996, 99.97].map(number), ["0", "<0.01", "10", "100"]);
    }

    #[test]
    fn waits_and_exact_counts() {
        let waits = [0, 1, 4_000_000_000, 80_000_000_000, 120_000_000_000].map(wait);
        assert_eq!(waits, ["0 s", "1 s", "4 s", "1 min 20 s", "2 min"]);
        assert_eq!(wait(7_500_000_000_000), "2 h 5 min");
        assert_eq!([0, 999, 1000, 1_234_567].map(exact), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "block"), "1 block");
        assert_eq!(counted(2000, "block"), "2,000 blocks");
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
    fn changes_have_a_sign() {
        let texts = [-0.0314, 0.12, 0.000_7, 0.000_01, -0.998, 10.9, -1.0].map(change);
        assert_eq!(texts, ["-3.1 %", "+12 %", "+0.07 %", "0 %", "-99.80 %", "×11.9", "-100 %"]);
    }

    #[test]
    fn garbage_is_words_not_nan() {
        for text in [number(f64::NAN), rate(f64::INFINITY), percent(f64::NAN), time(f64::NAN)] {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
        }
        assert_eq!(ratio(1.0, 0.0), 0.0);
    }
}
