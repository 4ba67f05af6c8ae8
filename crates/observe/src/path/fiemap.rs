//! Where a file's bytes lie: the extents that its filesystem reports.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;

use candor_record::facts::Extents;

/// `FS_IOC_FIEMAP`, from `linux/fs.h`.
const FS_IOC_FIEMAP: rustix::ioctl::Opcode = rustix::ioctl::opcode::read_write::<Header>(b'f', 11);

/// The extent is the file's last.
const LAST: u32 = 0x1;
/// Extent whose place is not known (yet).
const UNKNOWN: u32 = 0x2;
/// Extent that is still only in memory.
const DELALLOC: u32 = 0x4;
/// Extent that the filesystem compressed or encrypted.
const ENCODED: u32 = 0x8;
/// Extent in the file's metadata.
const INLINE: u32 = 0x200;
/// Extent that is allocated but was never written; reading it needs no device.
const UNWRITTEN: u32 = 0x800;

/// Extent that others share its place with, of this file or another.
const SHARED: u32 = 0x2000;

/// Extents asked for at once: 28 KiB of memory.
const BATCH: usize = 512;

/// `struct fiemap` of `linux/fiemap.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Header {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
}

/// `struct fiemap_extent` of `linux/fiemap.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct RawExtent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// The argument: the header and the room that it announces.
#[repr(C)]
struct Request {
    header: Header,
    extents: [RawExtent; BATCH],
}

/// One extent of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Bytes of the file that it covers.
    pub(crate) bytes: Range<u64>,
    /// Place of the first byte on the device, where it has one.
    physical: u64,
    flags: u32,
}

impl Extent {
    /// A plain read of it must fetch exactly its bytes from a device.
    pub(crate) fn is_plainly_stored(&self) -> bool {
        self.flags & (UNKNOWN | DELALLOC | ENCODED | INLINE | UNWRITTEN) == 0
    }

    /// The bytes are stored, but not one by one.
    pub(crate) fn is_encoded(&self) -> bool {
        self.flags & ENCODED != 0
    }

    fn clipped_length(&self, size: u64) -> u64 {
        self.bytes.end.min(size).saturating_sub(self.bytes.start)
    }
}

/// All extents of a file, in order. Nothing is flushed for it: what is only in memory is reported
/// as such, because looking must not change what is looked at.
pub(crate) fn extents(file: &File) -> io::Result<Vec<Extent>> {
    let mut found = Vec::new();
    let mut start = 0;
    loop {
        let batch = batch(file, start)?;
        found.extend(batch.iter().map(extent));
        let Some(last) = batch.last() else { return Ok(found) };
        let next = last.logical.saturating_add(last.length);
        // A filesystem that does not advance would be asked for ever.
        if last.flags & LAST != 0 || next <= start {
            return Ok(found);
        }
        start = next;
    }
}

fn extent(raw: &RawExtent) -> Extent {
    let bytes = raw.logical..raw.logical.saturating_add(raw.length);
    Extent { bytes, physical: raw.physical, flags: raw.flags }
}

fn batch(file: &File, start: u64) -> io::Result<Vec<RawExtent>> {
    let header =
        Header { start, length: u64::MAX - start, extent_count: BATCH as u32, ..Header::default() };
    let mut request = Box::new(Request { header, extents: [RawExtent::default(); BATCH] });
    // SAFETY: the argument is a `struct fiemap` followed by room for as many extents as its
    // `extent_count` announces; the kernel writes no further, and it outlives the call.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut *request) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    let mapped = (request.header.mapped_extents as usize).min(BATCH);
    Ok(request.extents[..mapped].to_vec())
}

/// Sums over the extents within a file's length.
pub(crate) fn sums(extents: &[Extent], size: u64) -> Extents {
    let within = || extents.iter().filter(|extent| extent.bytes.start < size);
    let bytes = |flag: u32| {
        let matching = within().filter(|extent| flag == 0 || extent.flags & flag != 0);
        matching.map(|extent| extent.clipped_length(size)).sum()
    };
    Extents {
        count: within().count() as u64,
        mapped_bytes: bytes(0),
        unwritten_bytes: bytes(UNWRITTEN),
        encoded_bytes: bytes(ENCODED),
        repeated_bytes: repeated(within(), size),
    }
}

/// Bytes of files that lie where those of an earlier one do; what a file shares with itself is not
/// among them. Each file comes with its extents and its length, all on one filesystem.
pub(crate) fn shared_between(files: &[(Vec<Extent>, u64)]) -> u64 {
    let clip = |(extents, size): &(Vec<Extent>, u64)| -> Vec<Extent> {
        let within = extents.iter().filter(|extent| extent.bytes.start < *size);
        within
            .map(|extent| Extent {
                bytes: extent.bytes.start..extent.bytes.end.min(*size),
                ..extent.clone()
            })
            .collect()
    };
    let files: Vec<Vec<Extent>> = files.iter().map(clip).collect();
    let within: u64 = files.iter().map(|file| repeated(file.iter(), u64::MAX)).sum();
    repeated(files.iter().flatten(), u64::MAX).saturating_sub(within)
}

/// Bytes of extents that lie where others of them do.
fn repeated<'a>(extents: impl Iterator<Item = &'a Extent>, size: u64) -> u64 {
    let shared = extents.filter(|extent| extent.flags & SHARED != 0 && extent.is_plainly_stored());
    let mut places: Vec<(u64, u64)> =
        shared.map(|extent| (extent.physical, extent.clipped_length(size))).collect();
    places.sort_unstable();
    let (mut end, mut again) = (0, 0);
    for (start, length) in places {
        again += end.min(start.saturating_add(length)).saturating_sub(start);
        end = end.max(start.saturating_add(length));
    }
    again
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_those_of_the_kernel() {
        assert_eq!(size_of::<Header>(), 32);
        assert_eq!(size_of::<RawExtent>(), 56);
        assert_eq!(FS_IOC_FIEMAP as u64, 0xC020_660B);
    }

    #[test]
    fn sums_end_with_the_file() {
        let extent = |bytes, flags| Extent { bytes, physical: 0, flags };
        let extents = [extent(0..4096, 0), extent(8192..16384, UNWRITTEN), extent(20000..30000, 0)];
        let sums = sums(&extents, 10_000);
        assert_eq!((sums.count, sums.mapped_bytes, sums.unwritten_bytes), (2, 5904, 1808));
        assert!(extents[0].is_plainly_stored() && !extents[1].is_plainly_stored());
    }

    #[test]
    fn places_that_a_file_shares_with_itself_repeat() {
        let extent =
            |start, physical, flags| Extent { bytes: start..start + 4096, physical, flags };
        let file = [
            extent(0, 1 << 20, SHARED),
            extent(4096, 1 << 20, SHARED),
            extent(8192, (1 << 20) + 1024, SHARED),
            extent(12_288, 1 << 21, SHARED),
            extent(16_384, 1 << 22, 0),
        ];
        assert_eq!(sums(&file, 20_480).repeated_bytes, 4096 + 3072);
        assert_eq!(sums(&file[3..], 20_480).repeated_bytes, 0, "shared with another file");
        let other = [extent(0, 1 << 20, SHARED), extent(4096, 1 << 21, SHARED)];
        let files = [(file.to_vec(), 20_480), (other.to_vec(), 6144)];
        assert_eq!(shared_between(&files), 4096 + 2048);
        assert_eq!(shared_between(&files[..1]), 0, "what it shares with itself counts as repeated");
    }
}
