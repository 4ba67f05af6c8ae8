//! Values of options: switches, numbers, sizes, durations, and lists of hosts.

use candor_front::Refused;

/// Most hosts that a list may name.
const HOSTS_MAX: usize = 1 << 16;

/// Sizes of objects.
#[derive(Clone, Debug, PartialEq)]
pub enum ObjectSize {
    /// All objects have this size in bytes.
    Fixed(u64),
    /// Sizes between both bounds in bytes, each equally likely.
    Range {
        /// Smallest size.
        min: u64,
        /// Largest size.
        max: u64,
    },
    /// Sizes by weight.
    Weighted(Vec<WeightedSize>),
}

impl Default for ObjectSize {
    fn default() -> ObjectSize {
        ObjectSize::Fixed(0)
    }
}

impl ObjectSize {
    /// The smallest size in bytes.
    pub fn smallest(&self) -> u64 {
        match self {
            ObjectSize::Fixed(bytes) => *bytes,
            ObjectSize::Range { min, .. } => *min,
            ObjectSize::Weighted(sizes) => sizes.iter().map(|size| size.bytes).min().unwrap_or(0),
        }
    }
}

/// A size and its share of the objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightedSize {
    /// Size in bytes.
    pub bytes: u64,
    /// Weight, relative to the sum of all weights; more than 0.
    pub weight: f64,
}

/// An entry of a list of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostEntry {
    /// `HOST[:PORT]`.
    Host(String),
    /// A file with a host on each line (`file:NAME`).
    File(String),
}

/// A switch: no text means true.
///
/// # Errors
/// The text is no truth value.
pub fn switch(text: &str) -> Result<bool, Refused> {
    match text {
        "" | "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err(Refused::whole(text, format!("`{text}` is not true or false"), "write true")),
    }
}

/// A whole number.
///
/// # Errors
/// The text is no number below 2^64.
pub fn count(text: &str) -> Result<u64, Refused> {
    text.parse().map_err(|_| {
        let message = format!("`{text}` is not a whole number");
        Refused::whole(text, message, "write digits, such as 20")
    })
}

/// A whole number from 1 on.
///
/// # Errors
/// The text is no such number.
pub fn positive(text: &str) -> Result<u64, Refused> {
    match count(text)? {
        0 => Err(Refused::whole(text, "0 is too small", "write 1 or more")),
        count => Ok(count),
    }
}

/// A number that is not negative.
///
/// # Errors
/// The text is no finite number, or negative.
pub fn number(text: &str) -> Result<f64, Refused> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| {
        let message = format!("`{text}` is not a number of 0 or more");
        Refused::whole(text, message, "write a number, such as 7.5")
    })
}

/// A text, as it is.
///
/// # Errors
/// None; parsers return a result.
pub fn text(text: &str) -> Result<String, Refused> {
    Ok(text.to_owned())
}

/// A text that is absent without the option.
///
/// # Errors
/// None; parsers return a result.
pub fn some_text(text: &str) -> Result<Option<String>, Refused> {
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

const UNITS: &[(&str, f64)] = &[
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("k", 1e3),
    ("m", 1e6),
    ("g", 1e9),
    ("t", 1e12),
    ("b", 1.0),
    ("", 1.0),
];

/// A size in bytes, such as `10MiB`; `KB` and `K` are 1000 bytes.
///
/// # Errors
/// The text is no size below 2^63 bytes.
pub fn size(text: &str) -> Result<u64, Refused> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor);
    let bytes = number.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    let bytes = bytes.filter(|bytes| *bytes < 9.2e18);
    bytes.map(|bytes| bytes as u64).ok_or_else(|| {
        let message = format!("`{text}` is not a size");
        Refused::whole(text, message, "write bytes with a unit, such as 10MiB")
    })
}

/// Sizes of objects: `SIZE`, `MIN,MAX` or `SIZE:WEIGHT,…`.
///
/// # Errors
/// A part is no size or no weight, or the bounds are in the wrong order.
pub fn object_size(text: &str) -> Result<ObjectSize, Refused> {
    if text.contains(':') {
        let mut start = 0;
        let mut sizes = Vec::new();
        for part in text.split(',') {
            sizes.push(weighted(part).map_err(|refused| refused.behind(start))?);
            start += part.len() + 1;
        }
        return Ok(ObjectSize::Weighted(sizes));
    }
    let Some((min, max)) = text.split_once(',') else { return size(text).map(ObjectSize::Fixed) };
    let behind = min.len() + 1;
    let (min, max) = (size(min)?, size(max).map_err(|refused| refused.behind(behind))?);
    if min > max {
        let message = format!("the smallest size of `{text}` is larger than the largest");
        return Err(Refused::whole(text, message, "write MIN,MAX"));
    }
    Ok(ObjectSize::Range { min, max })
}

fn weighted(part: &str) -> Result<WeightedSize, Refused> {
    let Some((bytes, weight)) = part.split_once(':') else {
        let message = format!("`{part}` has no weight, but other sizes have one");
        return Err(Refused::whole(part, message, "write SIZE:WEIGHT"));
    };
    let behind = bytes.len() + 1;
    let bytes = size(bytes)?;
    let read = number(weight).map_err(|refused| refused.behind(behind))?;
    if read == 0.0 {
        let refused = Refused::whole(weight, "a weight of 0 selects no object", "remove the size");
        return Err(refused.behind(behind));
    }
    Ok(WeightedSize { bytes, weight: read })
}

const TIME_UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

/// A duration in ns, such as `5m30s`.
///
/// # Errors
/// The text is no duration, or one of more than 290 years.
pub fn duration(text: &str) -> Result<u64, Refused> {
    let mut rest = text;
    let mut sum = 0.0;
    while !rest.is_empty() && rest != "0" {
        let Some(part) = first_part(rest) else {
            let remedy = "write numbers with ns, us, ms, s, m or h, such as 5m30s";
            return Err(Refused::whole(text, format!("`{text}` is not a duration"), remedy));
        };
        sum += part.ns;
        rest = part.rest;
    }
    if text.is_empty() || sum > 9.2e18 {
        let message = format!("`{text}` is not a duration below 290 years");
        return Err(Refused::whole(text, message, "write a time such as 5m30s"));
    }
    Ok(sum.round() as u64)
}

/// A duration of more than 0 ns.
///
/// # Errors
/// The text is no such duration.
pub fn time(text: &str) -> Result<u64, Refused> {
    match duration(text)? {
        0 => Err(Refused::whole(text, format!("`{text}` is no time"), "write a time such as 1s")),
        ns => Ok(ns),
    }
}

struct TimePart<'a> {
    ns: f64,
    rest: &'a str,
}

fn first_part(text: &str) -> Option<TimePart<'_>> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, behind) = text.split_at(digits);
    let end = behind.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(behind.len());
    let (unit, rest) = behind.split_at(end);
    let factor = TIME_UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor)?;
    Some(TimePart { ns: number.parse::<f64>().ok()? * factor, rest })
}

/// A list of hosts: names with commas, ranges such as `node{1...10}:9000`, and `file:NAME`.
///
/// # Errors
/// The list is empty or has an empty entry, a range is wrong, or the list names too many hosts.
pub fn hosts(text: &str) -> Result<Vec<HostEntry>, Refused> {
    let mut entries = Vec::new();
    let mut start = 0;
    for part in text.split(',') {
        let name = part.trim();
        match name.strip_prefix("file:") {
            _ if name.is_empty() => {
                let message = format!("`{text}` has an entry without a name");
                return Err(Refused::whole(text, message, "write HOST:PORT,HOST:PORT"));
            }
            Some(file) => entries.push(HostEntry::File(file.to_owned())),
            None => {
                let names = expand(name).map_err(|refused| refused.behind(start))?;
                entries.extend(names.into_iter().map(HostEntry::Host));
            }
        }
        start += part.len() + 1;
        if entries.len() > HOSTS_MAX {
            return Err(too_many(text));
        }
    }
    Ok(entries)
}

fn too_many(text: &str) -> Refused {
    Refused::whole(text, format!("the list names more than {HOSTS_MAX} hosts"), "name fewer hosts")
}

/// The names of a pattern with ranges in braces.
fn expand(pattern: &str) -> Result<Vec<String>, Refused> {
    let Some((before, rest)) = pattern.split_once('{') else {
        return Ok(vec![pattern.to_owned()]);
    };
    let remedy = "write a range as {1...10}";
    let Some((range, after)) = rest.split_once('}') else {
        let message = format!("the brace of `{pattern}` has no end");
        return Err(Refused::whole(pattern, message, remedy));
    };
    let bounds = range.split_once("...").and_then(|(first, last)| {
        Some(Bounds { first: first.parse().ok()?, last: last.parse().ok()?, width: width(first) })
    });
    let Some(Bounds { first, last, width }) = bounds.filter(|bounds| bounds.first <= bounds.last)
    else {
        let message = format!("`{{{range}}}` is not a range");
        return Err(Refused::whole(pattern, message, remedy));
    };
    let behind = expand(after)?;
    let count = u64::from(last - first) + 1;
    if count.saturating_mul(behind.len() as u64) > HOSTS_MAX as u64 {
        return Err(too_many(pattern));
    }
    let numbers = (first..=last).map(|number| format!("{before}{number:0width$}"));
    Ok(numbers.flat_map(|head| behind.iter().map(move |tail| format!("{head}{tail}"))).collect())
}

struct Bounds {
    first: u32,
    last: u32,
    width: usize,
}

/// Digits of each number of a range: a first number with a leading 0 fixes them.
fn width(first: &str) -> usize {
    if first.starts_with('0') { first.len().min(10) } else { 0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sizes_have_binary_and_decimal_units() {
        for (text, bytes) in [
            ("10MiB", 10 << 20),
            ("1KB", 1000),
            ("1.5kib", 1536),
            ("7", 7),
            ("2 GiB", 2 << 30),
            ("1TiB", 1 << 40),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in ["", "x", "1XB", "-1", "1..2", "1e9", "99999999999TiB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn objects_have_one_size_a_range_or_weights() {
        assert_eq!(object_size("1KiB"), Ok(ObjectSize::Fixed(1024)));
        assert_eq!(object_size("1,2KB"), Ok(ObjectSize::Range { min: 1, max: 2000 }));
        let weighted = object_size("4096:60,1MiB:40").expect("weights");
        let sizes = vec![
            WeightedSize { bytes: 4096, weight: 60.0 },
            WeightedSize { bytes: 1 << 20, weight: 40.0 },
        ];
        assert_eq!(weighted, ObjectSize::Weighted(sizes));
        assert_eq!(weighted.smallest(), 4096);
        for text in ["2,1", "1:0", "1:1,2", "1,2,3", "1:x", ","] {
            assert!(object_size(text).is_err(), "{text}");
        }
        assert_eq!(object_size("1:1,1MiB:y").map_err(|refused| refused.part), Err(9..10));
    }

    #[test]
    fn durations_are_sums_of_units() {
        for (text, ns) in [
            ("5m30s", 330_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("100ms", 100_000_000),
            ("1µs2ns", 1002),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Ok(ns), "{text}");
        }
        for text in ["", "5", "s", "5m30", "1d", "-1s", "9999999999999h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    fn names(text: &str) -> Vec<String> {
        let entries = hosts(text).expect("a list").into_iter();
        let names = entries.map(|entry| match entry {
            HostEntry::Host(name) => name,
            HostEntry::File(name) => format!("<{name}>"),
        });
        names.collect()
    }

    #[test]
    fn lists_of_hosts_have_ranges_and_files() {
        assert_eq!(
            names("a:9000,b{1...3}:90{0...1}0,file:list"),
            ["a:9000", "b1:9000", "b1:9010", "b2:9000", "b2:9010", "b3:9000", "b3:9010", "<list>"]
        );
        assert_eq!(names("n{08...10}"), ["n08", "n09", "n10"]);
        for text in ["", "a,,b", "a{1...", "a{3...1}", "a{1..3}", "a{x...y}", "a{0...99999}"] {
            assert!(hosts(text).is_err(), "{text}");
        }
        assert!(hosts("a{1...9999}{1...9999}{1...9999}").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", odd in "[0-9a-zµ.:,{}]*") {
            for text in [&text, &odd] {
                let _ = (switch(text), count(text), number(text), size(text), duration(text));
                let _ = (object_size(text), hosts(text));
            }
        }
    }
}
