//! One file: its length, what of it is really there, what direct I/O on it needs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use candor_record::facts::{DirectIo, Extents, Fact, FileFacts};
use rustix::fs::{AtFlags, CWD, Statx, StatxFlags};

use crate::attributes::text;
use crate::fiemap;
use crate::parse::sectors;

/// Facts of a file or block device: length and blocks from `statx`, extents from FIEMAP (absent
/// for devices and where the filesystem has none), alignment of direct I/O from `statx`. All
/// sizes in bytes. A device counts as allocated throughout. Data still only in the page cache is
/// not flushed for it, so a file that was just written should be synced first.
pub fn file_facts(path: &Path) -> io::Result<FileFacts> {
    let wanted = StatxFlags::BASIC_STATS | StatxFlags::DIOALIGN;
    let about = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted)?;
    let is_device = fs::metadata(path)?.file_type().is_block_device();
    let size_bytes = if is_device { device_size(path, &about)? } else { about.stx_size };
    let blocks_bytes = about.stx_blocks.saturating_mul(512);
    Ok(FileFacts {
        path: path.display().to_string(),
        size_bytes,
        allocated_bytes: if is_device { size_bytes } else { blocks_bytes },
        extents: if is_device { None } else { extents(path, size_bytes) },
        direct: direct(&about),
    })
}

/// Length of an open file or block device.
pub(crate) fn size(mut file: &File) -> io::Result<u64> {
    // The metadata of a device node has no length; the end of a device is where a seek ends.
    file.seek(SeekFrom::End(0))
}

/// Length of a device; for those who may not open it, as sysfs tells everybody.
fn device_size(path: &Path, about: &Statx) -> io::Result<u64> {
    open(path).and_then(|device| size(&device)).or_else(|error| {
        let number = format!("{}:{}", about.stx_rdev_major, about.stx_rdev_minor);
        let told = text(&Path::new("/sys/dev/block").join(number).join("size"));
        told.and_then(|text| sectors(&text)).ok_or(error)
    })
}

/// Opens for reading, without waiting for whoever holds the other end of a pipe.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)
}

fn extents(path: &Path, size: u64) -> Option<Fact<Extents>> {
    let file = open(path).ok()?;
    let extents = fiemap::extents(&file).ok()?;
    Some(Fact::new(fiemap::sums(&extents, size), format!("FIEMAP of {}", path.display())))
}

/// The alignments are told only where the mask says so; told as zero, there is no direct I/O.
fn direct(about: &Statx) -> DirectIo {
    if about.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return DirectIo::Unknown;
    }
    match (about.stx_dio_mem_align, about.stx_dio_offset_align) {
        (0, 0) => DirectIo::Unsupported,
        (memory, offset) => DirectIo::Aligned { memory, offset },
    }
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
