//! NVMe commands, and the properties of a namespace.

mod metadata;
mod zones;

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

use candor_engine::operation::Slot;
use candor_plan::blocks::{NvmeWrite, Protection, UringCmd};

use crate::stream::region::Extent;

pub use self::metadata::{Metadata, Tags, WrongTag};
pub use self::zones::{ReportedZone, ZoneAction};

/// A command, in the kernel's format for both `ioctl` and io_uring.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Command {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    /// Words 10 to 15; their meaning depends on the command.
    words: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

impl Command {
    /// Size of the kernel's structure.
    pub const BYTES: usize = size_of::<Command>();

    fn with_tags(mut self, metadata: Metadata, start: u64, extra: Extra) -> Command {
        if let Some(tags) = metadata.tags {
            let [low, high] = tags.reference_words(start);
            let makes = if metadata.is_by_host { 0 } else { extra.flags & MAKES_PROTECTION };
            self.words[2] |= extra.flags & !MAKES_PROTECTION | makes;
            (self.words[4], self.words[5]) = (low, extra.tags);
            self.words_2_and_3 = [0, high];
        }
        self
    }

    fn with_metadata(self, address: *mut u8, bytes: u64) -> Command {
        match bytes {
            0 => self,
            _ => Command { metadata: address as u64, metadata_bytes: bytes as u32, ..self },
        }
    }

    /// The bytes of the structure.
    pub fn bytes(&self) -> [u8; Command::BYTES] {
        // SAFETY: the structure has no padding, and any bytes are valid.
        unsafe { std::mem::transmute::<Command, [u8; Command::BYTES]>(*self) }
    }
}

/// Opcodes of commands to a namespace.
pub mod opcode {
    /// Flushes the controller's cache.
    pub const FLUSH: u8 = 0x00;
    /// Writes blocks.
    pub const WRITE: u8 = 0x01;
    /// Reads blocks.
    pub const READ: u8 = 0x02;
    /// Makes reads of blocks fail.
    pub const WRITE_UNCORRECTABLE: u8 = 0x04;
    /// Writes zeros.
    pub const WRITE_ZEROES: u8 = 0x08;
    /// Reads blocks for the controller alone.
    pub const VERIFY: u8 = 0x0c;
    /// Dataset management, of which deallocation is used.
    pub const DATASET: u8 = 0x09;
    /// Changes the state of a zone.
    pub const ZONE_SEND: u8 = 0x79;
    /// Reports zones.
    pub const ZONE_RECEIVE: u8 = 0x7a;
}

/// Force unit access, in word 12 of a transfer.
const FUA: u32 = 1 << 30;
/// The controller inserts or strips protection information (PRACT); in word 12 of a transfer.
const MAKES_PROTECTION: u32 = 1 << 29;
/// Blocks that are written with zeros may be deallocated; in word 12.
const MAY_DEALLOCATE: u32 = 1 << 25;
/// Checks of the guard, the application tag and the reference tag, in word 12 of a transfer.
const CHECKS: [u32; 3] = [1 << 28, 1 << 27, 1 << 26];
/// Deallocation, in word 11 of dataset management.
const DEALLOCATE: u32 = 1 << 2;
/// Flags of word 12 other than protection information.
const COMMON: u32 = FUA | MAY_DEALLOCATE;
/// Command of io_uring that carries an NVMe command.
pub const URING_CMD_IO: u32 = 0xc048_4e80;

const IOCTL_ID: libc::Ioctl = 0x4e40;
const IOCTL_ADMIN: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
const IOCTL_IO: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;

/// Additional words of a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extra {
    /// Flags of word 12; protection flags apply only to blocks with protection information.
    flags: u32,
    /// Word 15: the application tag, and its mask.
    tags: u32,
}

impl Extra {
    /// Words of reads. The controller checks tags that it inserted. The host checks its own tags,
    /// so that it can report which tag is wrong.
    pub fn of_reads(fua: bool, protection: Protection) -> Extra {
        Extra::of(fua, protection, !protection.made_by_host)
    }

    /// Words of writes. The controller checks the host's tags.
    pub fn of_writes(fua: bool, protection: Protection) -> Extra {
        Extra::of(fua, protection, protection.made_by_host)
    }

    /// Words of the engine's write command.
    pub fn of_write_command(options: &UringCmd) -> Extra {
        let (fua, protection) = (options.fua_writes, options.protection);
        match options.write {
            NvmeWrite::Write => Extra::of_writes(fua, protection),
            NvmeWrite::Uncorrectable => Extra { flags: 0, tags: 0 },
            NvmeWrite::Zeroes => {
                let extra = Extra::of_writes(fua, protection);
                let more = if options.deallocate { MAY_DEALLOCATE } else { 0 };
                Extra { flags: extra.flags | more, ..extra }
            }
            // The controller checks only; it inserts and strips no tags.
            NvmeWrite::Verify => {
                let extra = Extra::of(fua, protection, true);
                Extra { flags: extra.flags & !MAKES_PROTECTION, ..extra }
            }
        }
    }

    fn of(fua: bool, protection: Protection, checks: bool) -> Extra {
        let Protection { check_guard, check_tag, check_reference, made_by_host, .. } = protection;
        let on = [check_guard, check_tag, check_reference].map(|on| on && checks);
        let checks = on.into_iter().zip(CHECKS).filter(|(on, _)| *on);
        let usual = if fua { FUA } else { 0 } | if made_by_host { 0 } else { MAKES_PROTECTION };
        let flags = checks.fold(usual, |flags, (_, check)| flags | check);
        let tags = u32::from(protection.tag) | u32::from(protection.tag_mask) << 16;
        Extra { flags, tags }
    }
}

impl Default for Extra {
    fn default() -> Self {
        Extra::of_writes(false, Protection::DEFAULT)
    }
}

/// Memory of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Address of the blocks.
    pub address: *mut u8,
    /// Distance from the blocks to their metadata, if metadata is separate.
    pub metadata_at: usize,
}

/// Maximum number of ranges of a command.
pub const RANGES_MAX: u32 = 256;

/// A range of blocks to deallocate.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    attributes: u32,
    blocks: u32,
    start: u64,
}

/// A namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// Namespace ID.
    pub number: u32,
    /// Bytes of a logical block, without metadata.
    pub block_bytes: u32,
    /// Logical blocks.
    pub blocks: u64,
    /// Index of its LBA format.
    pub format: u8,
    /// Maximum bytes of one command; none if the controller sets no limit.
    pub most_bytes: Option<u64>,
    /// Metadata of its blocks, if any.
    pub metadata: Option<Metadata>,
}

impl Namespace {
    fn of(&self, opcode: u8) -> Command {
        Command { opcode, namespace: self.number, ..Command::default() }
    }

    /// Bytes of a block in a command, including metadata that follows the block.
    #[inline(always)]
    pub fn unit(&self) -> u64 {
        let extended = self.metadata.filter(|metadata| metadata.is_extended && metadata.is_moved);
        u64::from(self.block_bytes) + extended.map_or(0, |metadata| u64::from(metadata.bytes))
    }

    /// Protection information that commands carry, if any.
    pub fn moved_tags(&self) -> Option<Tags> {
        self.metadata.filter(|metadata| metadata.is_moved)?.tags
    }

    /// Bytes of separate metadata for `length` bytes of data.
    #[inline(always)]
    pub fn metadata_apart(&self, length: u64) -> u64 {
        match self.metadata {
            Some(Metadata { bytes, is_extended: false, is_moved: true, .. }) => {
                length / u64::from(self.block_bytes) * u64::from(bytes)
            }
            _ => 0,
        }
    }

    /// True for whole blocks.
    #[inline(always)]
    pub fn is_whole(&self, extent: Extent) -> bool {
        let Extent { base: offset, size: length } = extent;
        match self.metadata {
            None => (offset | length) & (u64::from(self.block_bytes) - 1) == 0,
            Some(_) => offset.is_multiple_of(self.unit()) && length.is_multiple_of(self.unit()),
        }
    }

    /// A read or write of whole blocks.
    #[inline(always)]
    pub fn transfer(&self, opcode: u8, extent: Extent, memory: Memory, extra: Extra) -> Command {
        let (unit, length) = (self.unit(), extent.size);
        let start = extent.base / unit;
        // The command holds the number of blocks minus one.
        let count = (length / unit).wrapping_sub(1) as u32 & 0xffff;
        let command = Command {
            address: memory.address as u64,
            data_bytes: length as u32,
            words: [start as u32, (start >> 32) as u32, count | extra.flags & COMMON, 0, 0, 0],
            ..self.of(opcode)
        };
        match self.metadata {
            None => command,
            Some(metadata) => {
                let bytes = self.metadata_apart(length);
                let address = memory.address.wrapping_add(memory.metadata_at);
                command.with_tags(metadata, start, extra).with_metadata(address, bytes)
            }
        }
    }

    /// A command to whole blocks without data.
    pub fn without_bytes(&self, opcode: u8, extent: Extent, extra: Extra) -> Command {
        let none = Memory { address: std::ptr::null_mut(), metadata_at: 0 };
        let command = self.transfer(opcode, extent, none, extra);
        Command { data_bytes: 0, metadata: 0, metadata_bytes: 0, ..command }
    }

    /// Blocks of an operation that carry protection information: number, data, metadata and tags of
    /// each block.
    ///
    /// # Safety
    /// The slot's buffer is not in use elsewhere, and has room for its blocks and, `metadata_at`
    /// bytes after its start, for their metadata.
    pub unsafe fn blocks_in<'a>(
        &self,
        slot: &Slot,
        metadata_at: usize,
    ) -> impl Iterator<Item = (u64, &'a mut [u8], &'a mut [u8], Tags)> + use<'a> {
        let (unit, block_bytes) = (self.unit(), self.block_bytes as usize);
        let (first, address) = (slot.offset / unit, slot.buffer.host());
        let moved = self.metadata.filter(|metadata| metadata.is_moved);
        let parts = moved.and_then(|metadata| Some((metadata, metadata.tags?)));
        let count = if parts.is_some() { slot.length / unit } else { 0 };
        (0..count).zip(std::iter::repeat(parts)).filter_map(move |(nth, parts)| {
            let (metadata, tags) = parts?;
            let (nth_byte, bytes) = (nth as usize * unit as usize, metadata.bytes as usize);
            let behind = if metadata.is_extended {
                nth_byte + block_bytes
            } else {
                metadata_at + nth as usize * bytes
            };
            // SAFETY: both slices are in the slot's buffer and overlap neither each other nor other
            // blocks; the caller guarantees that the buffer is not used elsewhere.
            let (data, metadata) = unsafe {
                (
                    std::slice::from_raw_parts_mut(address.add(nth_byte), block_bytes),
                    std::slice::from_raw_parts_mut(address.add(behind), bytes),
                )
            };
            Some((first + nth, data, metadata, tags))
        })
    }

    /// A deallocation of `count` ranges; their list must outlive the command.
    pub fn deallocation(&self, list: *const Range, count: u32) -> Command {
        Command {
            address: list as u64,
            data_bytes: size_of::<Range>() as u32 * count,
            // The command holds the number of ranges minus one.
            words: [count.wrapping_sub(1) & 0xff, DEALLOCATE, 0, 0, 0, 0],
            ..self.of(opcode::DATASET)
        }
    }

    /// The range of blocks between two offsets.
    pub fn range(&self, offset: u64, length: u64) -> Range {
        let unit = self.unit();
        Range { attributes: 0, blocks: (length / unit) as u32, start: offset / unit }
    }

    /// A flush of the namespace.
    pub fn flushing(&self) -> Command {
        self.of(opcode::FLUSH)
    }

    pub(super) fn flush(&self, file: &File) -> io::Result<()> {
        call(file, IOCTL_IO, self.flushing())
    }

    /// Reads all whole blocks that fit, from the block that contains the offset.
    pub(super) fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<u64> {
        let unit = self.unit();
        let length = buffer.len() as u64 / unit * unit;
        let extent = Extent { base: offset / unit * unit, size: length };
        let mut metadata = vec![0_u8; self.metadata_apart(length) as usize];
        let address = buffer.as_mut_ptr();
        let metadata_at = (metadata.as_mut_ptr() as usize).wrapping_sub(address as usize);
        let memory = Memory { address, metadata_at };
        let command = self.transfer(opcode::READ, extent, memory, Extra::default());
        call(file, IOCTL_IO, command).map(|()| length)
    }
}

/// Executes a command.
fn call(file: &File, request: libc::Ioctl, mut command: Command) -> io::Result<()> {
    // SAFETY: the kernel reads the command and writes its result into it; the memory that the
    // command refers to belongs to the caller until the call returns.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), request, &raw mut command) };
    match returned {
        0 => Ok(()),
        -1 => Err(io::Error::last_os_error()),
        status => Err(io::Error::from_raw_os_error(errno(status as u32))),
    }
}

/// Length of an Identify page.
const PAGE_BYTES: usize = 4096;

/// CNS value of a namespace's page for a command set.
const OF_COMMAND_SET: u32 = 5;

/// An Identify page: `kind` is the CNS value, `command_set` the CSI value.
fn page(file: &File, namespace: u32, kind: u32, command_set: u32) -> io::Result<Vec<u8>> {
    const IDENTIFY: u8 = 0x06;
    let mut page = vec![0; PAGE_BYTES];
    let command = Command {
        opcode: IDENTIFY,
        namespace,
        address: page.as_mut_ptr() as u64,
        data_bytes: PAGE_BYTES as u32,
        words: [kind, command_set << 24, 0, 0, 0, 0],
        ..Command::default()
    };
    call(file, IOCTL_ADMIN, command).map(|()| page)
}

/// Queries a namespace for its size and format, and its controller for its limit. `by_host` is true
/// if the host makes the protection information.
pub(super) fn identify(file: &File, by_host: bool) -> io::Result<Namespace> {
    const OF_NAMESPACE: u32 = 0;
    const OF_CONTROLLER: u32 = 1;
    // Block devices answer too, but accept no commands by io_uring.
    if !file.metadata()?.file_type().is_char_device() {
        return Err(io::Error::from_raw_os_error(libc::ENOTTY));
    }
    // SAFETY: the call takes no argument.
    let number = unsafe { libc::ioctl(file.as_raw_fd(), IOCTL_ID, 0) };
    if number <= 0 {
        return Err(io::Error::last_os_error());
    }
    let number = number as u32;
    let namespace = page(file, number, OF_NAMESPACE, 0)?;
    let controller = page(file, 0, OF_CONTROLLER, 0)?;
    // Controllers with several formats of protection information report the format.
    let extends = controller[97] & 0x80 != 0;
    let extensions = extends.then(|| page(file, number, OF_COMMAND_SET, 0)).transpose()?;
    read(number, &namespace, &controller, extensions.as_deref(), by_host)
}

/// Offset of a format in the page of a namespace.
fn format_at(format: usize) -> usize {
    128 + 4 * format
}

/// Reads the pages.
fn read(
    number: u32,
    namespace: &[u8],
    controller: &[u8],
    extensions: Option<&[u8]>,
    by_host: bool,
) -> io::Result<Namespace> {
    let chosen = namespace[26];
    let format = usize::from(chosen & 0xf | (chosen & 0x60) >> 1);
    let shift = namespace[format_at(format) + 2];
    if !(9..=24).contains(&shift) {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "its format is unknown"));
    }
    let blocks = namespace[..8].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    // In units of the controller's smallest page, 4 KiB.
    let limit = match controller[77] {
        0 => None,
        power => Some((PAGE_BYTES as u64) << u32::from(power).min(48)),
    };
    Ok(Namespace {
        number,
        block_bytes: 1 << shift,
        blocks,
        format: format as u8,
        // The number of blocks in a command has 16 bits.
        most_bytes: Some(limit.unwrap_or(u64::MAX).min(1 << (16 + u32::from(shift)))),
        metadata: Metadata::of(namespace, extensions, format, by_host)?,
    })
}

/// The error number of a command's status, as in the kernel's block layer.
pub fn errno(status: u32) -> i32 {
    // Higher bits are retry hints.
    match status & 0x7ff {
        0x81 => libc::ENOSPC,
        0x80 | 0x82 | 0x21 => libc::EREMOTEIO,
        0x01 | 0x02 | 0x0b | 0x180 => libc::EOPNOTSUPP,
        0x182 | 0x20 => libc::EROFS,
        0x280 | 0x281 | 0x285 | 0x286 | 0x287 => libc::ENODATA,
        0x282..=0x284 => libc::EILSEQ,
        0x83 => libc::EBADE,
        0x1bd => libc::ETOOMANYREFS,
        0x1be => libc::EOVERFLOW,
        0x07 | 0x08 => libc::ECANCELED,
        _ => libc::EIO,
    }
}

#[cfg(test)]
impl Namespace {
    /// A namespace with extended blocks, whose protection information the host makes.
    pub fn extended(block_bytes: u32, metadata: u8) -> Namespace {
        let (mut namespace, controller) = (vec![0; PAGE_BYTES], vec![0; PAGE_BYTES]);
        (namespace[26], namespace[29], namespace[128]) = (0x10, 1, metadata);
        namespace[130] = block_bytes.ilog2() as u8;
        read(1, &namespace, &controller, None, true).expect("usable")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages() -> (Vec<u8>, Vec<u8>) {
        let (mut namespace, mut controller) = (vec![0; PAGE_BYTES], vec![0; PAGE_BYTES]);
        namespace[..8].copy_from_slice(&0x0102_0304_u64.to_le_bytes());
        namespace[26] = 3;
        namespace[128 + 14] = 12;
        controller[77] = 5;
        (namespace, controller)
    }

    #[test]
    fn a_namespace_by_its_pages() {
        let (namespace, controller) = pages();
        let found = read(7, &namespace, &controller, None, false).expect("usable");
        let whole = Namespace {
            number: 7,
            block_bytes: 4096,
            blocks: 0x0102_0304,
            format: 3,
            most_bytes: Some(128 << 10),
            metadata: None,
        };
        assert_eq!(found, whole);
        let mut odd = namespace.clone();
        odd[128 + 14] = 0;
        assert!(read(7, &odd, &controller, None, false).is_err());
    }

    /// A namespace whose blocks have that much metadata; DPS, and whether the host makes it.
    fn with_metadata(bytes: u8, dps: u8, is_extended: bool, by_host: bool) -> Namespace {
        let (mut namespace, controller) = pages();
        (namespace[128 + 12], namespace[29]) = (bytes, dps);
        namespace[26] |= if is_extended { 0x10 } else { 0 };
        read(1, &namespace, &controller, None, by_host).expect("usable")
    }

    #[test]
    fn commands_as_the_kernel_reads_them() {
        let (namespace, controller) = pages();
        let namespace = read(1, &namespace, &controller, None, false).expect("usable");
        let start = (1_u64 << 33) + 5;
        let place = extent(start << 12, 3 << 12);
        let fua = Extra::of_writes(true, Protection::DEFAULT);
        let command = namespace.transfer(opcode::WRITE, place, MEMORY, fua);
        let bytes = command.bytes();
        assert_eq!((bytes.len(), bytes[0], bytes[4]), (72, 1, 1));
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        assert_eq!([word(36), word(40), word(44), word(48)], [3 << 12, 5, 2, 2 | FUA]);
        let range = namespace.range(8192, 4096);
        assert_eq!(range, Range { attributes: 0, blocks: 1, start: 2 });
        let command = namespace.deallocation(&raw const range, 1);
        assert_eq!((command.words[..2].to_vec(), command.data_bytes), (vec![0, 4], 16));
        let many = namespace.deallocation(&raw const range, RANGES_MAX);
        assert_eq!((many.words[0], many.data_bytes), (255, 4096));
    }

    const CHECKED: Protection =
        Protection { check_guard: true, check_reference: true, tag: 0x17, ..Protection::DEFAULT };
    const MEMORY: Memory = Memory { address: std::ptr::dangling_mut(), metadata_at: 8191 };

    fn extent(base: u64, size: u64) -> Extent {
        Extent { base, size }
    }

    #[test]
    fn the_controller_makes_and_checks_protection_information() {
        let found = with_metadata(8, 1, false, false);
        assert_eq!((found.unit(), found.metadata_apart(4096), found.moved_tags()), (4096, 0, None));
        let place = extent(9 << 12, 4096);
        let command = found.transfer(opcode::READ, place, MEMORY, Extra::of_reads(false, CHECKED));
        assert_eq!(command.words[2], 1 << 29 | 1 << 28 | 1 << 26);
        assert_eq!((command.words[4], command.words[5]), (9, 0xffff_0017));
        let of_writes = |fua| Extra::of_writes(fua, CHECKED);
        let written = found.transfer(opcode::WRITE, place, MEMORY, of_writes(false));
        assert_eq!((written.words[2], written.words[4]), (1 << 29, 9));
        let bare = Namespace { metadata: None, ..found };
        let plain = bare.transfer(opcode::WRITE, place, MEMORY, of_writes(true));
        assert_eq!((plain.words[2], plain.words[4], plain.words[5]), (FUA, 0, 0));
        let unplaced = with_metadata(8, 3, false, false);
        assert!(unplaced.metadata.and_then(|m| m.tags).is_some_and(|tags| !tags.is_placed));
    }

    #[test]
    fn commands_that_carry_no_bytes() {
        let namespace = with_metadata(8, 1, false, false);
        let of = |write, deallocate| {
            let options = UringCmd { write, deallocate, protection: CHECKED, ..UringCmd::DEFAULT };
            let extra = Extra::of_write_command(&options);
            let command =
                namespace.without_bytes(opcode::WRITE_ZEROES, extent(9 << 12, 8192), extra);
            assert_eq!((command.address, command.data_bytes, command.metadata_bytes), (0, 0, 0));
            assert_eq!(command.words[0], 9);
            (command.words[2], command.words[4])
        };
        assert_eq!(of(NvmeWrite::Zeroes, true), (1 | 1 << 25 | 1 << 29, 9));
        assert_eq!(of(NvmeWrite::Zeroes, false).0, 1 | 1 << 29);
        assert_eq!(of(NvmeWrite::Verify, false).0, 1 | 1 << 28 | 1 << 26);
        assert_eq!(of(NvmeWrite::Uncorrectable, false).0, 1);
    }

    #[test]
    fn the_host_transfers_metadata() {
        let by_host = Protection { made_by_host: true, ..CHECKED };
        // Separate metadata: eight bytes for each of two blocks.
        let apart = with_metadata(8, 1, false, true);
        assert_eq!((apart.unit(), apart.metadata_apart(8192)), (4096, 16));
        let place = extent(9 << 12, 8192);
        let written =
            apart.transfer(opcode::WRITE, place, MEMORY, Extra::of_writes(false, by_host));
        assert_eq!((written.metadata, written.metadata_bytes), (8192, 16));
        assert_eq!((written.data_bytes, written.words[2]), (8192, 1 | 1 << 28 | 1 << 26));
        // A read without options for tags checks none.
        let plain = apart.transfer(opcode::READ, place, MEMORY, Extra::default());
        assert_eq!((plain.metadata_bytes, plain.words[2]), (16, 1));
        // The controller returns the tags; the host checks them.
        let read = apart.transfer(opcode::READ, place, MEMORY, Extra::of_reads(false, by_host));
        assert_eq!((read.metadata_bytes, read.words[2]), (16, 1));
        // Metadata after each block: a block is longer.
        let extended = with_metadata(16, 1, true, true);
        assert_eq!((extended.unit(), extended.metadata_apart(8224)), (4112, 0));
        assert!(extended.is_whole(extent(4112 * 9, 8224)));
        assert!(!extended.is_whole(extent(4096 * 9, 8224)));
        let place = extent(9 * 4112, 8224);
        let written =
            extended.transfer(opcode::WRITE, place, MEMORY, Extra::of_writes(false, by_host));
        assert_eq!((written.metadata_bytes, written.data_bytes), (0, 8224));
        assert_eq!((written.words[0], written.words[2] & 0xffff, written.words[4]), (9, 1, 9));
        // Metadata other than the controller's tags belongs to the host.
        let beside = with_metadata(16, 1, false, false);
        let written = beside.transfer(opcode::WRITE, extent(0, 4096), MEMORY, Extra::default());
        assert_eq!((written.metadata_bytes, written.words[2]), (16, 1 << 29));
    }

    #[test]
    fn a_status_has_the_error_number_of_blocks() {
        for (status, number) in
            [(0x2281, libc::ENODATA), (0x4282, libc::EILSEQ), (0x01, libc::EOPNOTSUPP), (0x6, 5)]
        {
            assert_eq!(errno(status), number, "{status:#x}");
        }
    }
}
