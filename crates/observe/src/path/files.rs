//! One file: its length, what of it is really there, what direct I/O on it needs.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use candor_plan::PathText;
use candor_record::facts::{Extents, Fact, FileFacts};

use crate::path::fiemap::{self, Extent};
use crate::path::generic;
use crate::source::Roots;
use crate::source::bundle::Ask;
use crate::source::parse::sectors;
use crate::source::stat::{FileStat, FileType};

/// Facts of a file or block device: length and blocks from `statx`, extents from FIEMAP (absent
/// for devices and where the filesystem has none), alignment of direct I/O from `statx`. All
/// sizes in bytes. A device counts as allocated throughout. Data still only in the page cache is
/// not flushed for it, so a file that was just written should be synced first.
pub fn file_facts(path: &Path) -> io::Result<FileFacts> {
    let stat = FileStat::of(path)?;
    let roots = Roots::default();
    let size_bytes = match stat.file_type {
        FileType::Device => end(path).or_else(|error| reported_size(&stat, &roots).ok_or(error))?,
        FileType::Other => size_behind(path, &roots).unwrap_or(stat.size_bytes),
        FileType::File | FileType::Directory => stat.size_bytes,
    };
    Ok(of(path, &stat, size_bytes, &roots))
}

/// As [`file_facts`], of whatever host answers; absent where there are none.
pub(crate) fn facts(path: &Path, roots: &Roots) -> Option<FileFacts> {
    let stat = roots.stat(path)?;
    let size_bytes = match stat.file_type {
        FileType::Device => roots
            .number(Ask::End, path, || end(path).ok())
            .or_else(|| reported_size(&stat, roots))?,
        FileType::Other => size_behind(path, roots).unwrap_or(stat.size_bytes),
        FileType::File | FileType::Directory => stat.size_bytes,
    };
    Some(of(path, &stat, size_bytes, roots))
}

fn of(path: &Path, stat: &FileStat, size_bytes: u64, roots: &Roots) -> FileFacts {
    let is_device = matches!(stat.file_type, FileType::Device | FileType::Other);
    FileFacts {
        path: path.text(),
        size_bytes,
        allocated_bytes: if is_device { size_bytes } else { stat.blocks_bytes },
        extents: if is_device { None } else { extents(path, size_bytes, roots) },
        direct: stat.direct,
        inode: stat.inode.filter(|_| !is_device),
        synchronous: !is_device && is_synchronous(path, roots),
    }
}

/// Bytes of some files that lie where those of an earlier one of them do, as FIEMAP tells; absent
/// where it does not for one of them. Files of different filesystems share nothing.
pub fn shared_bytes(paths: &[PathBuf]) -> Option<Fact<u64>> {
    let mut by_filesystem: BTreeMap<u64, Vec<(Vec<Extent>, u64)>> = BTreeMap::new();
    for path in paths {
        let file = open(path).ok()?;
        let about = file.metadata().ok()?;
        let extents = fiemap::extents(&file).ok()?;
        by_filesystem.entry(about.dev()).or_default().push((extents, about.len()));
    }
    let shared = by_filesystem.values().map(|files| fiemap::shared_between(files)).sum();
    Some(Fact::new(shared, format!("FIEMAP of {} files", paths.len())))
}

/// Names in a directory, counted up to a hundred thousand, which takes some 30 ms.
pub fn names_in(directory: &Path) -> Option<Fact<u64>> {
    const NAMES_MAX: usize = 100_000;
    let count = std::fs::read_dir(directory).ok()?.take(NAMES_MAX).count() as u64;
    Some(Fact::new(count, format!("getdents of {}", directory.text())))
}

/// `FS_IOC_GETFLAGS` of `linux/fs.h`; filesystems write an `int`, whatever its number says.
const FS_IOC_GETFLAGS: rustix::ioctl::Opcode = rustix::ioctl::opcode::read::<libc::c_long>(b'f', 1);
/// `FS_SYNC_FL`: each write is durable.
const SYNC: u64 = 0x8;

/// A file with the attribute `S`; false where the filesystem has no attributes.
fn is_synchronous(path: &Path, roots: &Roots) -> bool {
    let attributes = roots.number(Ask::Attributes, path, || {
        let file = open(path).ok()?;
        let mut attributes: libc::c_long = 0;
        // SAFETY: the request writes an integer of at most the size of its argument; the
        // descriptor is open.
        let done =
            unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_GETFLAGS as _, &raw mut attributes) };
        (done == 0).then_some(attributes as u32 as u64)
    });
    attributes.is_some_and(|attributes: u64| attributes & SYNC != 0)
}

/// Length of an open file or block device.
pub(crate) fn size(mut file: &File) -> io::Result<u64> {
    // The metadata of a device node has no length; the end of a device is where a seek ends.
    file.seek(SeekFrom::End(0))
}

/// Length of a device.
fn end(path: &Path) -> io::Result<u64> {
    open(path).and_then(|device| size(&device))
}

/// Length of a device for those who may not open it, as sysfs tells everybody.
fn reported_size(stat: &FileStat, roots: &Roots) -> Option<u64> {
    sectors(&roots.text(&roots.sys.join("dev/block").join(&stat.is).join("size"))?)
}

/// Length of the block device behind a generic device.
fn size_behind(path: &Path, roots: &Roots) -> Option<u64> {
    let name = generic::block_device_of_commands(path, roots)?;
    sectors(&roots.text(&roots.block(&name).join("size"))?)
}

/// Opens for reading, without waiting for whoever holds the other end of a pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

fn extents(path: &Path, size: u64, roots: &Roots) -> Option<Fact<Extents>> {
    let sums = roots.numbers(Ask::Extents, path, || {
        let file = open(path).ok()?;
        let sums = fiemap::sums(&fiemap::extents(&file).ok()?, size);
        let [count, mapped, unwritten] = [sums.count, sums.mapped_bytes, sums.unwritten_bytes];
        Some(vec![count, mapped, unwritten, sums.encoded_bytes, sums.repeated_bytes])
    })?;
    // Hosts that were recorded earlier told four numbers.
    let (&[count, mapped_bytes, unwritten_bytes, encoded_bytes], rest) =
        sums.split_first_chunk()?;
    let repeated_bytes = rest.first().copied().unwrap_or(0);
    let extents = Extents { count, mapped_bytes, unwritten_bytes, encoded_bytes, repeated_bytes };
    Some(Fact::new(extents, format!("FIEMAP of {}", path.text())))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_written_file_and_a_hole() {
        let mut written = tempfile::NamedTempFile::new().expect("a file");
        written.write_all(&[7; 100_000]).expect("written");
        written.as_file().sync_all().expect("synced");
        let facts = file_facts(written.path()).expect("facts");
        assert_eq!(facts.size_bytes, 100_000);
        assert!(facts.allocated_bytes >= 100_000);
        if let Some(extents) = facts.extents {
            assert_eq!(extents.value.mapped_bytes, 100_000);
            assert_eq!(extents.value.unwritten_bytes, 0);
        }
        let hole = tempfile::NamedTempFile::new().expect("a file");
        hole.as_file().set_len(1 << 20).expect("a hole");
        let facts = file_facts(hole.path()).expect("facts");
        assert_eq!((facts.size_bytes, facts.allocated_bytes), (1 << 20, 0));
        assert!(facts.extents.is_none_or(|extents| extents.value.mapped_bytes == 0));
    }

    #[test]
    fn a_file_whose_writes_are_durable_says_it() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        assert!(!file_facts(file.path()).expect("facts").synchronous);
        let set = std::process::Command::new("chattr").arg("+S").arg(file.path()).status();
        if !set.is_ok_and(|status| status.success()) {
            return eprintln!("skipped: no attributes here");
        }
        assert!(file_facts(file.path()).expect("facts").synchronous);
    }

    #[test]
    fn names_are_counted() {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["a", "b", "c"] {
            std::fs::write(directory.path().join(name), name).expect("a file");
        }
        assert_eq!(names_in(directory.path()).map(|fact| fact.value), Some(3));
        assert_eq!(names_in(&directory.path().join("a")), None);
    }

    #[test]
    fn preallocated_bytes_are_unwritten() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let flags = rustix::fs::FallocateFlags::empty();
        if rustix::fs::fallocate(file.as_file(), flags, 0, 1 << 20).is_err() {
            eprintln!("skipped: this filesystem does not preallocate");
            return;
        }
        let facts = file_facts(file.path()).expect("facts");
        let Some(extents) = facts.extents else { return eprintln!("skipped: no FIEMAP here") };
        assert_eq!(extents.value.unwritten_bytes, 1 << 20);
        assert_eq!(extents.value.mapped_bytes, 1 << 20);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(file_facts(Path::new("/nowhere/at/all")).is_err());
    }
}
