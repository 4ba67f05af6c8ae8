//! Moments, as pages have them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A moment.
#[derive(Clone, Debug, Default)]
pub struct Now {
    /// `HH:MM:SS.mmm`.
    pub tod: String,
    /// `Mon dd, yyyy`.
    pub date: String,
    /// `MM/dd/yyyy-HH:mm:ss-zone`.
    pub stamp: String,
    /// `HH:MM:SS Mon dd yyyy zone`.
    pub created: String,
    /// `EEE Mon dd yyyy HH:MM:SS.mmm zone`, as reports of corruptions have it.
    pub full: String,
    /// ms since 1970.
    pub unix_ms: u64,
    /// `yyMMdd.HHmmss`, as names of directories have it.
    pub name: String,
}

impl Now {
    /// The current time.
    pub fn here() -> Now {
        Now::of(Timestamp::now(), TimeZone::system())
    }

    /// Converts ms since 1970 to a time.
    pub fn at(unix_ms: u64) -> Now {
        let at = i64::try_from(unix_ms).ok().and_then(|ms| Timestamp::from_millisecond(ms).ok());
        at.map_or_else(Now::default, |at| Now::of(at, TimeZone::system()))
    }

    /// A moment in a zone.
    pub fn of(at: Timestamp, zone: TimeZone) -> Now {
        let unix_ms = u64::try_from(at.as_millisecond()).unwrap_or(0);
        let at = at.to_zoned(zone);
        let text = |format: &str| at.strftime(format).to_string();
        Now {
            tod: text("%H:%M:%S.%3f"),
            date: text("%b %d, %Y"),
            stamp: text("%m/%d/%Y-%H:%M:%S-%Z"),
            created: text("%H:%M:%S %b %d %Y %Z"),
            full: text("%a %b %d %Y %H:%M:%S.%3f %Z"),
            unix_ms,
            name: text("%y%m%d.%H%M%S"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_their_forms() {
        let at = Timestamp::from_millisecond(1_543_242_481_007).expect("a time");
        let now = Now::of(at, TimeZone::UTC);
        assert_eq!(now.tod, "14:28:01.007");
        assert_eq!((now.date.as_str(), now.name.as_str()), ("Nov 26, 2018", "181126.142801"));
        assert_eq!(now.stamp, "11/26/2018-14:28:01-UTC");
        assert_eq!(now.created, "14:28:01 Nov 26 2018 UTC");
        assert_eq!(now.full, "Mon Nov 26 2018 14:28:01.007 UTC");
        assert_eq!((now.unix_ms, Now::at(now.unix_ms).unix_ms), (1_543_242_481_007, now.unix_ms));
    }
}
