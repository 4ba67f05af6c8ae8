//! Dates of signatures and of headers, from and to seconds since 1970.

use std::fmt::Write;
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use jiff::tz::Offset;

/// Length of `20130524`.
pub const DAY_LENGTH: usize = 8;

/// Appends the time in the form `20130524T000000Z`.
///
/// # Panics
/// Panics if the time is after the year 9999.
pub fn stamp(to: &mut String, unix_s: u64) {
    let time = timestamp(unix_s).expect("a year of four digits");
    let time = Offset::UTC.to_datetime(time);
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second) = (time.hour(), time.minute(), time.second());
    write!(to, "{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
        .expect("a string takes all text");
}

/// The time in the form `2013-05-24T00:00:00Z`; none after the year 9999.
pub fn iso(unix_s: u64) -> Option<String> {
    timestamp(unix_s).map(|time| time.to_string())
}

/// Seconds of a `Date` header in one of the three forms of RFC 9110; none before 1970.
pub fn parse_http(text: &str) -> Option<u64> {
    let time = httpdate::parse_http_date(text).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

fn timestamp(unix_s: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(unix_s).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 24 May 2013, 00:00:00 UTC.
    const MAY: u64 = 1_369_353_600;

    #[test]
    fn the_forms_of_one_second() {
        let mut text = String::new();
        stamp(&mut text, MAY);
        assert_eq!(text, "20130524T000000Z");
        assert_eq!(iso(MAY).as_deref(), Some("2013-05-24T00:00:00Z"));
        assert_eq!(parse_http("Fri, 24 May 2013 00:00:00 GMT"), Some(MAY));
        assert_eq!(parse_http("Friday, 24-May-13 00:00:00 GMT"), Some(MAY));
        assert_eq!(parse_http("Fri May 24 00:00:00 2013"), Some(MAY));
    }

    #[test]
    fn other_texts_are_no_dates() {
        for text in ["", "yesterday", "Fri, 31 Feb 2013 00:00:00", "Thu, 01 Jan 1969 00:00:00 GMT"]
        {
            assert_eq!(parse_http(text), None, "{text}");
        }
        assert_eq!(iso(u64::MAX), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>(), near in "[A-Z][a-z]{2}, [0-9 A-Za-z:]{20,25}") {
            let _ = (parse_http(&text), parse_http(&near));
        }

        #[test]
        fn http_dates_are_read_back(unix_s in 0u64..253_402_300_799) {
            let time = UNIX_EPOCH + std::time::Duration::from_secs(unix_s);
            prop_assert_eq!(parse_http(&httpdate::fmt_http_date(time)), Some(unix_s));
        }
    }
}
