//! The time of the results in fio's format.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A moment, for the lines that carry one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    /// Since 1970, in ms.
    pub unix_ms: u64,
    /// In local time: `Sat Nov 21 11:20:08 2026`.
    pub text: String,
}

impl Moment {
    /// The present, in the zone of this host.
    pub fn now() -> Moment {
        Moment::of(Timestamp::now(), TimeZone::system())
    }

    pub(super) fn of(timestamp: Timestamp, zone: TimeZone) -> Moment {
        Moment {
            unix_ms: u64::try_from(timestamp.as_millisecond()).unwrap_or(0),
            text: timestamp.to_zoned(zone).strftime("%a %b %e %H:%M:%S %Y").to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_in_words() {
        let moment = |text: &str| Moment::of(text.parse().unwrap(), TimeZone::UTC);
        assert_eq!(moment("2026-11-21T11:20:08.485Z").text, "Sat Nov 21 11:20:08 2026");
        assert_eq!(moment("2026-11-21T11:20:08.485Z").unix_ms, 1_795_260_008_485);
        assert_eq!(moment("2026-06-03T01:02:03Z").text, "Wed Jun  3 01:02:03 2026");
    }
}
