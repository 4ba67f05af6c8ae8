//! The way in which SQLite keeps changes of the index apart until they are whole.

use std::path::Path;

/// Filesystems whose files other hosts may change, or whose driver cannot be known to share memory
/// between processes, by the number that `statfs` gives them.
const NETWORK: [(u64, &str); 20] = [
    (0x6969, "NFS"),
    (0x517b, "SMB"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x6573_5546, "FUSE"),
    (0x00c3_6400, "Ceph"),
    (0x0bd0_0bd0, "Lustre"),
    (0x4750_4653, "GPFS"),
    (0x1983_0326, "BeeGFS"),
    (0xaad7_aaea, "PanFS"),
    (0x5346_414f, "AFS"),
    (0x6b41_4653, "kAFS"),
    (0x7375_7245, "Coda"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
    (0x2003_0528, "OrangeFS"),
    (0x564c, "NCP"),
    (0x786f_4256, "vboxsf"),
    (0xbacb_acbc, "VMware shared folders"),
];

/// The way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// A log beside the index, with an index of its own in memory that all processes share: the
    /// fastest, and on one host only.
    Wal,
    /// A copy of the pages as they were: needs no more than locks of ranges of a file.
    Rollback,
}

impl Journal {
    /// The way that works for a file in that directory.
    pub fn of(dir: &Path) -> Journal {
        let found = rustix::fs::statfs(dir);
        // `f_type` has another width on each architecture, and the numbers have 32 bits.
        found.map_or(Journal::Wal, |stat| Journal::on(u64::from(stat.f_type as u32)))
    }

    fn on(filesystem: u64) -> Journal {
        if NETWORK.iter().any(|(number, _)| *number == filesystem) {
            Journal::Rollback
        } else {
            Journal::Wal
        }
    }

    /// Word of SQLite.
    pub fn word(self) -> &'static str {
        match self {
            Journal::Wal => "WAL",
            Journal::Rollback => "DELETE",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_for_filesystems_of_one_host() {
        // ext, XFS, btrfs, tmpfs, ZFS, overlay.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x2fc1_2fc1, 0x794c_7630] {
            assert_eq!(Journal::on(local), Journal::Wal, "{local:x}");
        }
        for (network, name) in NETWORK {
            assert_eq!(Journal::on(network), Journal::Rollback, "{name}");
        }
        assert_eq!(Journal::of(Path::new("/proc")), Journal::Wal);
        assert_eq!(Journal::of(Path::new("/not/there")), Journal::Wal);
    }
}
