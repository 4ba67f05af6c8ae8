//! Machine, filesystem and time to print with results.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The machine in the format of `uname`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Name of the system.
    pub system: String,
    /// Name of the host.
    pub node: String,
    /// Release and version of the kernel, and the hardware.
    pub details: String,
}

impl Machine {
    /// Name of the platform: host name without trailing digits, and system.
    pub fn platform(&self) -> String {
        let node = self.node.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let node = if node.is_empty() { &self.node[..] } else { node };
        format!("{node}({})", self.system)
    }
}

/// Usage of a test's filesystem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filesystem {
    /// Bytes.
    pub bytes: u64,
    /// Free bytes.
    pub bytes_free: u64,
    /// Inodes.
    pub inodes: u64,
    /// Free inodes.
    pub inodes_free: u64,
}

impl Filesystem {
    /// Size with unit: `467.9 GiB`.
    pub(super) fn size(&self) -> String {
        let gib = self.bytes as f64 / (1_u64 << 30) as f64;
        if gib > 1024.0 { format!("{:.1} TiB", gib / 1024.0) } else { format!("{gib:.1} GiB") }
    }

    /// Used share in percent.
    pub(super) fn used_percent(&self) -> f64 {
        share(self.bytes, self.bytes_free)
    }

    /// Millions of inodes.
    pub(super) fn inodes_mi(&self) -> f64 {
        self.inodes as f64 / (1_u64 << 20) as f64
    }

    /// Used share of inodes in percent.
    pub(super) fn inodes_used_percent(&self) -> f64 {
        share(self.inodes, self.inodes_free)
    }
}

fn share(whole: u64, free: u64) -> f64 {
    if whole == 0 { 0.0 } else { (1.0 - free as f64 / whole as f64) * 100.0 }
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
        assert_eq!(of("gpfs01").platform(), "gpfs(Linux)");
        assert_eq!(
            (of("77").platform(), of("a.b").platform()),
            ("77(Linux)".into(), "a.b(Linux)".into())
        );
    }

    #[test]
    fn filesystems_tell_how_full_they_are() {
        let of = Filesystem {
            bytes: 4 << 30,
            bytes_free: 1 << 30,
            inodes: 3 << 20,
            inodes_free: 3 << 20,
        };
        assert_eq!((of.size(), of.used_percent()), ("4.0 GiB".into(), 75.0));
        assert_eq!((of.inodes_mi(), of.inodes_used_percent()), (3.0, 0.0));
        assert_eq!(Filesystem { bytes: 3 << 40, ..of }.size(), "3.0 TiB");
        assert_eq!(Filesystem::default().used_percent(), 0.0);
    }
}
