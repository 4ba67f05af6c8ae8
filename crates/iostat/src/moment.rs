//! Dates and times in iostat's format.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Format of dates and times. iostat uses the language of the environment; candor uses the C
/// locale, or ISO 8601 (`S_TIME_FORMAT=ISO`).
#[derive(Clone, Debug)]
pub struct Clock {
    iso: bool,
    zone: TimeZone,
}

impl Clock {
    /// A clock in this host's zone; `format` is the value of `S_TIME_FORMAT`.
    pub fn new(format: Option<&str>) -> Clock {
        Clock { iso: format == Some("ISO"), zone: TimeZone::system() }
    }

    /// Today.
    pub fn date(&self) -> String {
        self.written(Timestamp::now(), if self.iso { "%Y-%m-%d" } else { "%m/%d/%y" })
    }

    /// Now.
    pub fn moment(&self) -> String {
        self.moment_of(Timestamp::now())
    }

    fn moment_of(&self, at: Timestamp) -> String {
        self.written(at, if self.iso { "%Y-%m-%dT%H:%M:%S%z" } else { "%m/%d/%y %H:%M:%S" })
    }

    fn written(&self, at: Timestamp, format: &str) -> String {
        at.to_zoned(self.zone.clone()).strftime(format).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats() {
        let at: Timestamp = "2026-11-21T21:50:44Z".parse().unwrap();
        let moment = |iso| Clock { iso, zone: TimeZone::UTC }.moment_of(at);
        assert_eq!(moment(false), "11/21/26 21:50:44");
        assert_eq!(moment(true), "2026-11-21T21:50:44+0000");
    }
}
