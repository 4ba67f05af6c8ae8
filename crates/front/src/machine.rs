//! The machine of a run, and the space of its file systems.

/// Names of a machine, as `uname` prints them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Name of the system.
    pub system: String,
    /// Name of the host.
    pub node: String,
    /// Release and version of the kernel, and the hardware.
    pub details: String,
}

/// Space and inodes of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All bytes.
    pub bytes: u64,
    /// Free bytes.
    pub bytes_free: u64,
    /// All inodes.
    pub inodes: u64,
    /// Free inodes.
    pub inodes_free: u64,
}

impl Space {
    /// Size with its unit: `467.9 GiB`.
    pub fn size(&self) -> String {
        let gib = self.bytes as f64 / (1_u64 << 30) as f64;
        if gib > 1024.0 { format!("{:.1} TiB", gib / 1024.0) } else { format!("{gib:.1} GiB") }
    }

    /// Used share of the bytes, in percent.
    pub fn used_percent(&self) -> f64 {
        used_percent(self.bytes, self.bytes_free)
    }

    /// Millions of inodes.
    pub fn inodes_mi(&self) -> f64 {
        self.inodes as f64 / (1_u64 << 20) as f64
    }

    /// Used share of the inodes, in percent.
    pub fn inodes_used_percent(&self) -> f64 {
        used_percent(self.inodes, self.inodes_free)
    }
}

fn used_percent(all: u64, free: u64) -> f64 {
    if all == 0 { 0.0 } else { (1.0 - free as f64 / all as f64) * 100.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_has_units_and_used_shares() {
        let of =
            Space { bytes: 4 << 30, bytes_free: 1 << 30, inodes: 3 << 20, inodes_free: 3 << 20 };
        assert_eq!((of.size(), of.used_percent()), ("4.0 GiB".into(), 75.0));
        assert_eq!((of.inodes_mi(), of.inodes_used_percent()), (3.0, 0.0));
        assert_eq!(Space { bytes: 3 << 40, ..of }.size(), "3.0 TiB");
        assert_eq!(Space::default().used_percent(), 0.0);
    }
}
