//! Values of options. Every error is a sentence with the value in it.

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

/// A number of seconds, which may have decimals.
pub fn seconds(text: &str) -> Result<Nanos, String> {
    // As a time with its unit, so that `1.5` is exact and `1e9` is not taken; `5m` has one already.
    let is_number = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let read = is_number.then(|| format!("{text}s").parse().ok()).flatten();
    read.ok_or_else(|| no_seconds(text, "number"))
}

/// A whole number of seconds.
pub fn whole_seconds(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| no_seconds(text, "whole number"))
}

fn no_seconds(text: &str, kind: &str) -> String {
    match text.parse::<Nanos>() {
        Ok(time) => {
            format!("`{text}` has a unit, and seconds are a number alone: {}", time.0 as f64 / 1e9)
        }
        Err(_) => format!("`{text}` is not a {kind} of seconds"),
    }
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
            100.0 => Err("p100 is the maximum, which has a column of its own".into()),
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
    let cpus = match text.is_empty() {
        true => Err(text),
        false => cpu_list(text),
    };
    cpus.map_err(|part| format!("`{part}` is not a CPU or a range of CPUs, such as 0-3"))
}

/// The parts of `name:a,b` behind the name, as many as asked for.
pub fn arguments<'a, const N: usize>(
    text: &'a str,
    arguments: Option<&'a str>,
) -> Result<[&'a str; N], String> {
    let parts: Vec<&str> = arguments.map(|text| text.split(',').collect()).unwrap_or_default();
    let found = parts.len();
    parts.try_into().map_err(|_| format!("`{text}` has {found} values behind its name, not {N}"))
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
    fn seconds_are_a_number_without_a_unit() {
        assert_eq!(
            (seconds("1.5"), seconds("30")),
            (Ok(Nanos(1_500_000_000)), Ok(Nanos(30_000_000_000)))
        );
        assert_eq!((whole_seconds("5"), whole_seconds("5m").is_err()), (Ok(5), true));
        for (wrong, told) in [("5m", "alone: 300"), ("30s", "alone: 30"), ("1m30", "not a number")]
        {
            let error = seconds(wrong).unwrap_err();
            assert!(error.contains(told), "{wrong}: {error}");
        }
        assert!(seconds("1e9").is_err() && seconds("").is_err() && seconds("5u").is_err());
    }

    #[test]
    fn percentages() {
        assert_eq!((percent("30%"), percent("0")), (Ok(30), Ok(0)));
        assert!(percent("101").is_err() && percent("-1").is_err() && decimal("nan").is_err());
    }
}
