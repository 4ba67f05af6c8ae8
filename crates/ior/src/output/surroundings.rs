//! Platform and time to print with results.

use candor_front::Machine;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Name of the platform: the host without digits at its end, and the system.
pub(super) fn platform(Machine { system, node, .. }: &Machine) -> String {
    let letters = node.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let name = if letters.is_empty() { node } else { letters };
    format!("{name}({system})")
}

/// A local time: `Fri Jul 18 16:11:05 2025`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moment(String);

impl Moment {
    /// The current time, in the zone of this host.
    pub fn now() -> Moment {
        Moment::of(Timestamp::now(), TimeZone::system())
    }

    pub(super) fn of(timestamp: Timestamp, zone: TimeZone) -> Moment {
        Moment(timestamp.to_zoned(zone).strftime("%a %b %e %H:%M:%S %Y").to_string())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_lose_the_number_of_their_node() {
        let of = |node: &str| Machine {
            system: "Linux".into(),
            node: node.into(),
            ..Machine::default()
        };
        assert_eq!(platform(&of("gpfs01")), "gpfs(Linux)");
        assert_eq!(
            (platform(&of("77")), platform(&of("a.b"))),
            ("77(Linux)".into(), "a.b(Linux)".into())
        );
    }
}
