//! Numbers that stand below each other: zeros at the end are kept, but for round numbers.

use super::{BINARY, COUNTS, DECIMAL, TIMES, scaled, significant};

/// A round number was set by somebody, and should look like it.
fn round_or_significant(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e6 {
        format!("{number:.0}")
    } else {
        significant(number)
    }
}

/// Operations per second: `85`, `12.3k`, `1.2M`.
pub fn iops(per_second: f64) -> String {
    scaled(per_second, &COUNTS, round_or_significant)
}

/// A rate in MB/s, without its unit, for a column that names it.
pub fn mb_per_s(bytes_per_second: f64) -> String {
    significant(bytes_per_second / 1e6)
}

/// A rate in MiB/s, without its unit, for a column that names it.
pub fn mib_per_s(bytes_per_second: f64) -> String {
    significant(bytes_per_second / f64::from(1 << 20))
}

/// A rate with its unit: `50.4 MB/s`, `5.43 GB/s`.
pub fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", scaled(bytes_per_second, &DECIMAL, round_or_significant))
}

/// A rate in powers of 1024 with its unit: `48.1 MiB/s`.
pub fn rate_binary(bytes_per_second: f64) -> String {
    format!("{}/s", scaled(bytes_per_second, &BINARY, round_or_significant))
}

/// An amount of data as software counts it, in powers of 1024: `4 KiB`, `1.50 GiB`.
pub fn size(bytes: u64) -> String {
    scaled(bytes as f64, &BINARY, round_or_significant)
}

/// The size of a device as its label gives it, in powers of 1000: `500 GB`.
pub fn device_size(bytes: u64) -> String {
    scaled(bytes as f64, &DECIMAL, round_or_significant)
}

/// A short time: `850 ns`, `105 µs`, `1.24 ms`, `3.10 s`.
pub fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        _ => scaled(ns as f64, &TIMES, significant),
    }
}

/// A time that is known to lie between two: `131–164 µs`, `983 µs–1.18 ms`.
pub fn time_between(from_ns: u64, below_ns: u64) -> String {
    let (from, below) = (time(from_ns), time(below_ns));
    match (from.split_once(' '), below.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number}–{below}"),
        _ => format!("{from}–{below}"),
    }
}

/// A share: `90 %`, `6.2 %`, and from twice on as a factor: `9.05×`.
pub fn share(part: f64) -> String {
    match part {
        p if p >= 2.0 => format!("{}×", significant(p)),
        p if p >= 0.0995 => format!("{:.0} %", p * 100.0),
        p if p >= 0.000_5 => format!("{:.1} %", p * 100.0),
        p if p > 0.0 => "<0.1 %".to_owned(),
        _ => "0 %".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_per_second() {
        let rates = [0.0, 0.4, 7.25, 85.0, 999.4, 999.6, 12_345.0, 146_484.0, 1_234_567.0];
        let printed = rates.map(iops);
        assert_eq!(printed, ["0", "0.40", "7.25", "85", "999", "1.00k", "12.3k", "146k", "1.23M"]);
    }

    #[test]
    fn rates_name_both_units() {
        // 531,712 kB/s of iostat and 519.25 MiB/s of fio are one number.
        let bytes = 531_712.0 * 1024.0;
        assert_eq!((mb_per_s(bytes), mib_per_s(bytes)), ("544".into(), "519".into()));
        assert_eq!(rate(bytes), "544 MB/s");
        assert_eq!(rate_binary(bytes), "519 MiB/s");
        assert_eq!(rate(5_433e6), "5.43 GB/s");
        assert_eq!(mb_per_s(5_433e6), "5433");
        assert_eq!(mb_per_s(800.0), "<0.01");
    }

    #[test]
    fn sizes() {
        let printed = [0, 512, 4096, 1 << 20, 3 << 29, 10_000_000_000].map(size);
        assert_eq!(printed, ["0 B", "512 B", "4 KiB", "1 MiB", "1.50 GiB", "9.31 GiB"]);
        assert_eq!(device_size(500_107_862_016), "500 GB");
    }

    #[test]
    fn times() {
        let printed = [850, 1_000, 105_320, 1_240_000, 99_970_000, 3_100_000_000].map(time);
        assert_eq!(printed, ["850 ns", "1.00 µs", "105 µs", "1.24 ms", "100 ms", "3.10 s"]);
    }

    #[test]
    fn times_between_two() {
        assert_eq!(time_between(131_072, 163_840), "131–164 µs");
        assert_eq!(time_between(983_040, 1_048_576), "983 µs–1.05 ms");
        assert_eq!(time_between(896, 1024), "896 ns–1.02 µs");
        assert_eq!(time_between(939_524_096, 1_073_741_824), "940 ms–1.07 s");
        assert_eq!(time_between(1_073_741_824, 1_342_177_280), "1.07–1.34 s");
        assert_eq!(time_between(0, 1), "0–1 ns");
    }

    #[test]
    fn shares() {
        let printed = [0.0, 0.0001, 0.062, 0.0999, 0.9, 1.02, 9.05].map(share);
        assert_eq!(printed, ["0 %", "<0.1 %", "6.2 %", "10 %", "90 %", "102 %", "9.05×"]);
    }
}
