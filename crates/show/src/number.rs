//! Numbers as people read them: three significant digits, the unit always beside them.
//!
//! Rates are given in powers of 1000 (`MB/s`) and of 1024 (`MiB/s`), each named as what it is;
//! half of the arguments about storage speed are about these two being mixed up.

/// Three significant digits; whole numbers from 100 on, none of them rounded further.
fn significant(value: f64) -> String {
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
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    // 999.5 would round up into the next unit.
    let fits = |(scale, _): &&(f64, &str)| value.abs() / scale >= 0.999_5;
    let (scale, unit) = units.iter().rev().find(fits).unwrap_or(&units[0]);
    let number = value / scale;
    // A round number was set by somebody, and should look like it.
    match number.fract() == 0.0 && number.abs() < 1e6 {
        true => format!("{number:.0}{unit}"),
        false => format!("{}{unit}", significant(number)),
    }
}

/// Operations per second: `85`, `12.3k`, `1.2M`.
pub fn iops(per_second: f64) -> String {
    scaled(per_second, &[(1.0, ""), (1e3, "k"), (1e6, "M"), (1e9, "G")])
}

/// A rate in MB/s, without its unit, for a column that names it.
pub fn mb_per_s(bytes_per_second: f64) -> String {
    significant(bytes_per_second / 1e6)
}

/// A rate in MiB/s, without its unit, for a column that names it.
pub fn mib_per_s(bytes_per_second: f64) -> String {
    significant(bytes_per_second / f64::from(1 << 20))
}

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

/// A rate with its unit: `50.4 MB/s`, `5.43 GB/s`.
pub fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", scaled(bytes_per_second, &DECIMAL))
}

/// An amount of data as software counts it, in powers of 1024: `4 KiB`, `1.5 GiB`.
pub fn size(bytes: u64) -> String {
    scaled(bytes as f64, &BINARY)
}

/// The size of a device as its label tells it, in powers of 1000: `500 GB`.
pub fn device_size(bytes: u64) -> String {
    scaled(bytes as f64, &DECIMAL)
}

/// A short time: `850 ns`, `105 µs`, `1.24 ms`, `3.1 s`.
pub fn time_ns(ns: u64) -> String {
    let (scale, unit) = match ns {
        0..1_000 => return format!("{ns} ns"),
        1_000..999_500 => (1e3, "µs"),
        999_500..999_500_000 => (1e6, "ms"),
        _ => (1e9, "s"),
    };
    format!("{} {unit}", significant(ns as f64 / scale))
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

/// A share: `90 %`, `6.2 %`, and from twice on as a factor: `9.1×`.
pub fn share(part: f64) -> String {
    match part {
        p if p >= 2.0 => format!("{}×", significant(p)),
        p if p >= 0.0995 => format!("{:.0} %", p * 100.0),
        p if p >= 0.000_5 => format!("{:.1} %", p * 100.0),
        p if p > 0.0 => "<0.1 %".to_owned(),
        _ => "0 %".to_owned(),
    }
}

/// A count with its thousands apart: `1,234,567`.
pub fn count(n: u64) -> String {
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

/// A count and its noun: `1 block`, `2 blocks`.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_per_second() {
        let told = [0.0, 0.4, 7.25, 85.0, 999.4, 999.6, 12_345.0, 146_484.0, 1_234_567.0].map(iops);
        assert_eq!(told, ["0", "0.40", "7.25", "85", "999", "1.00k", "12.3k", "146k", "1.23M"]);
    }

    #[test]
    fn rates_name_both_units() {
        // 531,712 kB/s of iostat and 519.25 MiB/s of fio are one number.
        let bytes = 531_712.0 * 1024.0;
        assert_eq!((mb_per_s(bytes), mib_per_s(bytes)), ("544".into(), "519".into()));
        assert_eq!(rate(bytes), "544 MB/s");
        assert_eq!(rate(5_433e6), "5.43 GB/s");
        assert_eq!(mb_per_s(5_433e6), "5433");
        assert_eq!(mb_per_s(800.0), "<0.01");
    }

    #[test]
    fn sizes() {
        let told = [0, 512, 4096, 1 << 20, 3 << 29, 10_000_000_000].map(size);
        assert_eq!(told, ["0 B", "512 B", "4 KiB", "1 MiB", "1.50 GiB", "9.31 GiB"]);
        assert_eq!(device_size(500_107_862_016), "500 GB");
    }

    #[test]
    fn times() {
        let told = [850, 1_000, 105_320, 1_240_000, 99_970_000, 3_100_000_000].map(time_ns);
        assert_eq!(told, ["850 ns", "1.00 µs", "105 µs", "1.24 ms", "100 ms", "3.10 s"]);
        let told = [0, 1, 4_000_000_000, 80_000_000_000, 120_000_000_000].map(wait);
        assert_eq!(told, ["0 s", "1 s", "4 s", "1 min 20 s", "2 min"]);
        assert_eq!(wait(7_500_000_000_000), "2 h 5 min");
    }

    #[test]
    fn shares_and_counts() {
        let told = [0.0, 0.0001, 0.062, 0.0999, 0.9, 1.02, 9.05].map(share);
        assert_eq!(told, ["0 %", "<0.1 %", "6.2 %", "10 %", "90 %", "102 %", "9.05×"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "block"), "1 block");
        assert_eq!(counted(2000, "block"), "2,000 blocks");
    }
}
