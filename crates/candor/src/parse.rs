//! Values of options. Every error is a sentence with the value in it.

use std::path::Path;
use std::str::FromStr;

use candor_plan::Nanos;
use candor_plan::units::cpu_list;

/// A value that knows how it is written: a size, a time, a rate.
pub fn unit<T: FromStr>(text: &str) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    text.parse().map_err(|error: T::Err| error.to_string())
}

/// A whole number.
pub fn number<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a whole number, or is too large"))
}

/// A time: a number alone is in seconds and may have decimals, others have units: `1.5`, `90s`,
/// `5m`.
pub fn seconds(text: &str) -> Result<Nanos, String> {
    let is_number = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    // With its unit, so that `1.5` is exact and `1e9` is not taken.
    let read = if is_number { format!("{text}s").parse() } else { text.parse() };
    read.map_err(|_| format!("`{text}` is no time; write seconds, such as 30, or 90s, 1m30s, 5m"))
}

/// A time above 0.
pub fn some_seconds(text: &str) -> Result<Nanos, String> {
    match seconds(text)? {
        Nanos(0) => Err(format!("`{text}` is no time in which anything happens")),
        time => Ok(time),
    }
}

/// The number of a process that runs.
pub fn process(text: &str) -> Result<u32, String> {
    match number(text)? {
        pid if is_process(pid) => Ok(pid),
        pid => Err(format!("there is no process {pid}")),
    }
}

/// True for a process that runs.
pub fn is_process(pid: u32) -> bool {
    Path::new("/proc").join(pid.to_string()).exists()
}

/// A percentage.
pub fn percent(text: &str) -> Result<u8, String> {
    let number = text.strip_suffix('%').unwrap_or(text).parse().ok();
    number
        .filter(|percent| *percent <= 100)
        .ok_or_else(|| format!("`{text}` is not a whole percentage between 0 and 100"))
}

/// A number with decimals.
pub fn decimal(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| format!("`{text}` is not a number"))
}

/// One of some words.
pub fn one_of<T: Clone>(text: &str, words: &[(&str, T)]) -> Result<T, String> {
    if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
        return Ok(value.clone());
    }
    let names = || words.iter().map(|(word, _)| *word);
    Err(match candor_plan::nearest(text, names()) {
        Some(near) => format!("`{text}` is not known; did you mean {near}?"),
        None => {
            let names: Vec<_> = names().collect();
            format!("`{text}` is none of {}", names.join(", "))
        }
    })
}

/// A list of percentiles, such as `50,95,99.9`, ascending and each once.
pub fn percentiles(text: &str) -> Result<Vec<f64>, String> {
    let percentile = |text: &str| {
        let number = decimal(text.trim())?;
        match number {
            100.0 => Err("p100 is the maximum, which has its own column".into()),
            n if n > 0.0 && n < 100.0 => Ok(n),
            _ => Err(format!("`{text}` is not a percentile between 0 and 100")),
        }
    };
    let mut all = text.split(',').map(percentile).collect::<Result<Vec<f64>, String>>()?;
    all.sort_by(f64::total_cmp);
    all.dedup();
    Ok(all)
}

/// A list of CPUs, such as `0-3,8`.
pub fn cpus(text: &str) -> Result<Vec<u32>, String> {
    let cpus = if text.is_empty() { Err(text) } else { cpu_list(text) };
    cpus.map_err(|part| format!("`{part}` is not a CPU or a range of CPUs, such as 0-3"))
}

/// The parts of `name:a,b` behind the name, as many as asked for.
pub fn arguments<'a, const N: usize>(
    text: &'a str,
    arguments: Option<&'a str>,
) -> Result<[&'a str; N], String> {
    let parts: Vec<&str> = arguments.map(|text| text.split(',').collect()).unwrap_or_default();
    let found = parts.len();
    parts.try_into().map_err(|_| format!("`{text}` has {found} values after its name, not {N}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_single_or_ranges() {
        assert_eq!(cpus("0-3,8"), Ok(vec![0, 1, 2, 3, 8]));
        for wrong in ["", "3-1", "x", "0-99999999", "1,"] {
            assert!(cpus(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn words_are_suggested() {
        let words = [("write", 1), ("allocate", 2)];
        assert_eq!(one_of("write", &words), Ok(1));
        assert_eq!(
            one_of("alocate", &words).unwrap_err(),
            "`alocate` is not known; did you mean allocate?"
        );
        assert_eq!(one_of("x", &words).unwrap_err(), "`x` is none of write, allocate");
    }

    #[test]
    fn percentiles_are_ascending_and_below_100() {
        assert_eq!(percentiles("99.9, 50,95,50"), Ok(vec![50.0, 95.0, 99.9]));
        for wrong in ["", "50,", "0", "-1", "101", "p50", "nan"] {
            assert!(percentiles(wrong).is_err(), "{wrong}");
        }
        assert!(percentiles("100").unwrap_err().contains("maximum"));
    }

    /// `5m` was read as five milliseconds.
    #[test]
    fn a_time_is_in_seconds_unless_it_has_a_unit() {
        for (text, ns) in [
            ("1.5", 1_500_000_000),
            ("30", 30_000_000_000),
            ("30s", 30_000_000_000),
            ("5m", 300_000_000_000),
            ("1m30s", 90_000_000_000),
            ("250ms", 250_000_000),
            ("0", 0),
        ] {
            assert_eq!(seconds(text), Ok(Nanos(ns)), "{text}");
        }
        for wrong in ["1m30", "1e9", "", "5u", "-1", "1.5.2", "s"] {
            let error = seconds(wrong).unwrap_err();
            assert!(error.contains("write seconds, such as 30, or 90s"), "{wrong}: {error}");
        }
        assert!(some_seconds("0").is_err() && some_seconds("0s").is_err());
    }

    #[test]
    fn percentages() {
        assert_eq!((percent("30%"), percent("0")), (Ok(30), Ok(0)));
        assert!(percent("101").is_err() && percent("-1").is_err() && decimal("nan").is_err());
    }
}
