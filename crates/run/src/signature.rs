//! Signatures of devices: membership in an array, a volume group, a filesystem.
//!
//! A filesystem is one device's own, and to overwrite it is what consent is about. A member of an
//! array, a pool or a volume group takes others' data with it, even while nobody has assembled
//! them.

use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const SECTOR: u64 = 512;
const KIB: u64 = 1024;

/// The set that a device is a member of, in words; absent where it bears no such signature, or
/// cannot be read.
pub fn membership(device: &Path) -> Option<&'static str> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(device).ok()?;
    let size = (&file).seek(SeekFrom::End(0)).ok()?;
    let found = find(&file, size);
    // Pages read here would only be in the way of a measurement.
    let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    found
}

fn find(file: &File, size: u64) -> Option<&'static str> {
    if at(file, 0, b"LUKS\xba\xbe") {
        return Some("an encrypted volume (LUKS)");
    }
    if (0..4).any(|sector| lvm(file, sector * SECTOR)) {
        return Some("a physical volume of LVM");
    }
    if raid_places(size).into_iter().any(|place| raid(file, place)) {
        return Some("a member of an md array");
    }
    if zfs(file) {
        return Some("a member of a ZFS pool");
    }
    None
}

/// True if these bytes are there.
fn at<const N: usize>(file: &File, offset: u64, bytes: &[u8; N]) -> bool {
    let mut found = [0; N];
    file.read_exact_at(&mut found, offset).is_ok() && found == *bytes
}

fn lvm(file: &File, offset: u64) -> bool {
    at(file, offset, b"LABELONE") && at(file, offset + 24, b"LVM2 001")
}

/// Where the superblock of an md array may be: format 1.1, 1.2, 1.0, 0.90.
fn raid_places(size: u64) -> [u64; 4] {
    let near_end = (size.saturating_sub(8 * KIB)) / (4 * KIB) * (4 * KIB);
    let old = (size / (64 * KIB) * (64 * KIB)).saturating_sub(64 * KIB);
    [0, 4 * KIB, near_end, old]
}

fn raid(file: &File, offset: u64) -> bool {
    const MAGIC: u32 = 0xa92b_4efc;
    // Format 0.90 is in the order of its host.
    at(file, offset, &MAGIC.to_le_bytes()) || at(file, offset, &MAGIC.to_be_bytes())
}

/// True if the first label has an uberblock.
fn zfs(file: &File) -> bool {
    const MAGIC: u64 = 0x00ba_b10c;
    let mut ring = vec![0; 128 * KIB as usize];
    file.read_exact_at(&mut ring, 128 * KIB).is_ok()
        && ring.chunks_exact(KIB as usize).any(|block| {
            block.starts_with(&MAGIC.to_le_bytes()) || block.starts_with(&MAGIC.to_be_bytes())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The membership of a file of 1 MiB with these bytes in it.
    fn taken(signs: &[(u64, &[u8])]) -> Option<&'static str> {
        let file = tempfile::NamedTempFile::new().expect("a scratch file");
        file.as_file().set_len(KIB * KIB).expect("sized");
        for (offset, bytes) in signs {
            file.as_file().write_all_at(bytes, *offset).expect("written");
        }
        membership(file.path())
    }

    #[test]
    fn members_are_recognised() {
        let md = 0xa92b_4efc_u32.to_le_bytes();
        let uberblock = 0x00ba_b10c_u64.to_le_bytes();
        assert_eq!(taken(&[(0, b"LUKS\xba\xbe")]), Some("an encrypted volume (LUKS)"));
        let label: &[(u64, &[u8])] = &[(512, b"LABELONE"), (536, b"LVM2 001")];
        assert_eq!(taken(label), Some("a physical volume of LVM"));
        for place in [0, 4096, KIB * KIB - 8 * KIB, KIB * KIB - 64 * KIB] {
            assert_eq!(taken(&[(place, &md)]), Some("a member of an md array"), "{place}");
        }
        assert_eq!(taken(&[(160 * KIB, &uberblock)]), Some("a member of a ZFS pool"));
    }

    #[test]
    fn filesystems_and_empty_devices_are_no_members() {
        assert_eq!(taken(&[]), None);
        // ext4.
        assert_eq!(taken(&[(1080, &[0x53, 0xef])]), None);
        let short = tempfile::NamedTempFile::new().expect("a scratch file");
        assert_eq!(membership(short.path()), None);
    }
}
