//! Moments as people write them.

use jiff::Timestamp;

/// Units of an age, in ms.
const UNITS: [(char, i64); 5] =
    [('m', 60_000), ('h', 3_600_000), ('d', 86_400_000), ('w', 604_800_000), ('y', 31_557_600_000)];

/// A moment in ms since 1970: a day or a time in UTC, such as `2026-11-01` or
/// `2026-11-01T12:30:00Z`, or an age before `now_unix_ms`, such as `30d`.
///
/// # Errors
/// A sentence with the text.
pub fn moment(text: &str, now_unix_ms: i64) -> Result<i64, String> {
    let age = || {
        let (_, length_ms) = UNITS.iter().find(|(unit, _)| text.ends_with(*unit))?;
        let number: i64 = text[..text.len() - 1].parse().ok().filter(|number| *number >= 0)?;
        now_unix_ms.checked_sub(number.checked_mul(*length_ms)?)
    };
    let at = |text: &str| text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond);
    let day = || at(&format!("{text}T00:00:00Z"));
    let minute = || at(&format!("{text}Z"));
    age().or_else(|| at(text)).or_else(day).or_else(minute).ok_or_else(|| {
        format!(
            "`{text}` is no time: 2026-11-01, 2026-11-01T12:30 (UTC), or an age such as 30d, 12h"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_times_and_ages() {
        let now = 1_000 * 86_400_000;
        for (text, days) in [("1970-01-03", 2.0), ("1970-01-03T12:00", 2.5), ("10d", 990.0)] {
            assert_eq!(moment(text, now), Ok((days * 86_400_000.0) as i64), "{text}");
        }
        assert_eq!(moment("1970-01-01T02:00:00+02:00", now), Ok(0));
        assert_eq!(moment("2w", now), moment("14d", now));
        for wrong in ["", "d", "-1d", "soon", "2026-13-01", "99999999999999999999d", "9999999999y"]
        {
            assert!(moment(wrong, now).is_err_and(|why| why.contains("is no time")), "{wrong}");
        }
    }
}
