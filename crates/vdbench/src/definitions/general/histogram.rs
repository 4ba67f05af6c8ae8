//! `histogram=`: buckets of response times.

use crate::values;
use candor_front::Refused;

/// Maximum number of buckets.
const BUCKETS_MAX: usize = 64;

/// Upper bounds of the buckets of response times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buckets {
    /// Upper bounds in µs, ascending; the last bucket is unbounded.
    pub ends_us: Vec<u64>,
    /// Hide empty buckets at both ends.
    pub suppress: bool,
}

impl Default for Buckets {
    fn default() -> Buckets {
        let ends_us = [
            20, 40, 60, 80, 100, 200, 400, 600, 800, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000,
            20_000, 40_000, 60_000, 80_000, 100_000, 200_000, 400_000, 600_000, 800_000, 1_000_000,
            2_000_000,
        ];
        Buckets { ends_us: ends_us.to_vec(), suppress: false }
    }
}

/// Reads `(default,END,…)`: ascending bounds; a smaller number is the step to the next bound.
///
/// # Errors
/// A word is not a number, or there are too many buckets.
pub(super) fn buckets(text: &str) -> Result<Buckets, Refused> {
    let items = values::items(text, false)?;
    let mut found = Buckets { ends_us: Vec::new(), suppress: false };
    let (mut last, mut step) = (None::<u64>, 0);
    for item in &items[1..] {
        if values::abbreviated(&item.text, &["suppress"]).is_some() {
            found.suppress = true;
            continue;
        }
        let number = microseconds(&item.text).ok_or_else(|| {
            let message = format!("`{}` is no time", item.text);
            item.refused(text, message, "give µs, or a number with m for ms or s for seconds")
        })?;
        if last.is_some_and(|last| number <= last) {
            step = number;
            continue;
        }
        if let (Some(last), 1..) = (last, step) {
            let between = (last + step..number).step_by(step as usize);
            found.ends_us.extend(between.take(BUCKETS_MAX + 1));
            step = 0;
        }
        found.ends_us.push(number);
        last = Some(number);
    }
    if found.ends_us.len() >= BUCKETS_MAX || found.ends_us.first() == Some(&0) {
        let message = format!("`{text}` makes no buckets: 1 to {BUCKETS_MAX}, each above 0");
        return Err(Refused::whole(text, message, "use larger steps"));
    }
    if found.ends_us.is_empty() {
        Ok(Buckets { suppress: found.suppress, ..Buckets::default() })
    } else {
        Ok(found)
    }
}

fn microseconds(text: &str) -> Option<u64> {
    let (digits, factor) = match text.as_bytes().last()? {
        b'u' => (&text[..text.len() - 1], 1),
        b'm' => (&text[..text.len() - 1], 1_000),
        b's' => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_go_upwards_in_steps() {
        let of = |text| buckets(text).ok().map(|found| (found.ends_us, found.suppress));
        assert_eq!(of("(default,100,1m,2s)"), Some((vec![100, 1000, 2_000_000], false)));
        assert_eq!(of("(default,100,100,500)"), Some((vec![100, 200, 300, 400, 500], false)));
        assert_eq!(of("(default,suppress)"), Some((Buckets::default().ends_us, true)));
        for text in ["(default,x)", "(default,0)", "(default,1,1,100)"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
