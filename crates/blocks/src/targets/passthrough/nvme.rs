//! NVMe commands, and what a namespace says of itself.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileTypeExt;

use candor_plan::blocks::Protection;

/// A command, as the kernel takes it by `ioctl` and by io_uring alike.
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
    /// Words 10 to 15, whose meaning is the command's.
    words: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

impl Command {
    /// Size of the kernel's structure.
    pub const BYTES: usize = size_of::<Command>();

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
    /// Dataset management, of which deallocation is used.
    pub const DATASET: u8 = 0x09;
}

/// Force unit access, in word 12 of a transfer.
const FUA: u32 = 1 << 30;
/// The controller makes protection information, or takes it off; in word 12 of a transfer.
const MAKES_PROTECTION: u32 = 1 << 29;
/// Checks of the checksum, the tag and the place, in word 12 of a read.
const CHECKS: [u32; 3] = [1 << 28, 1 << 27, 1 << 26];
/// Deallocation, in word 11 of dataset management.
const DEALLOCATE: u32 = 1 << 2;
/// Command of io_uring that carries an NVMe command.
pub const URING_CMD_IO: u32 = 0xc048_4e80;

const IOCTL_ID: libc::Ioctl = 0x4e40;
const IOCTL_ADMIN: libc::Ioctl = 0xc048_4e41_u32 as libc::Ioctl;
const IOCTL_IO: libc::Ioctl = 0xc048_4e43_u32 as libc::Ioctl;

/// Words of a transfer beside its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extra {
    /// Flags of word 12.
    flags: u32,
    /// Word 15: the tag of protection information, and the bits of it that are checked.
    tags: u32,
}

impl Extra {
    /// Words of reads, with the checks of protection information.
    pub fn of_reads(fua: bool, protection: Protection) -> Extra {
        let Protection { check_guard, check_tag, check_reference, .. } = protection;
        let checks = [check_guard, check_tag, check_reference];
        let checks = checks.into_iter().zip(CHECKS).filter(|(on, _)| *on);
        let extra = Extra::of_writes(fua, protection);
        Extra { flags: checks.fold(extra.flags, |flags, (_, check)| flags | check), ..extra }
    }

    /// Words of writes.
    pub fn of_writes(fua: bool, protection: Protection) -> Extra {
        let tags = u32::from(protection.tag) | u32::from(protection.tag_mask) << 16;
        Extra { flags: if fua { FUA } else { 0 }, tags }
    }
}

/// Kind of protection information of a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protected {
    /// Blocks know their place.
    Placed,
    /// Blocks do not (type 3).
    Anywhere,
}

/// Most ranges of a command.
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
    /// Number by which its controller knows it.
    pub number: u32,
    /// Bytes of a logical block, without metadata.
    pub block_bytes: u32,
    /// Logical blocks.
    pub blocks: u64,
    /// Most bytes of one command; none where the controller sets no limit.
    pub most_bytes: Option<u64>,
    /// Protection information of its blocks, where they have any.
    pub protected: Option<Protected>,
}

impl Namespace {
    fn of(&self, opcode: u8) -> Command {
        Command { opcode, namespace: self.number, ..Command::default() }
    }

    /// True for whole blocks.
    #[inline(always)]
    pub fn is_whole(&self, (offset, length): (u64, u64)) -> bool {
        (offset | length) & (u64::from(self.block_bytes) - 1) == 0
    }

    /// A read or write of whole blocks.
    #[inline(always)]
    pub fn transfer(
        &self,
        opcode: u8,
        place: (u64, u64),
        address: *mut u8,
        extra: Extra,
    ) -> Command {
        let (offset, length) = place;
        let unit = u64::from(self.block_bytes);
        let start = offset / unit;
        // The number of blocks is one less than it says.
        let count = (length / unit).wrapping_sub(1) as u32 & 0xffff;
        let (makes, reference, tags) = match self.protected {
            None => (0, 0, 0),
            Some(Protected::Placed) => (MAKES_PROTECTION, start as u32, extra.tags),
            Some(Protected::Anywhere) => (MAKES_PROTECTION, 0, extra.tags),
        };
        let more = count | makes | extra.flags;
        Command {
            address: address as u64,
            data_bytes: length as u32,
            words: [start as u32, (start >> 32) as u32, more, 0, reference, tags],
            ..self.of(opcode)
        }
    }

    /// A deallocation of that many ranges, whose list has to outlive the command.
    pub fn deallocation(&self, list: *const Range, count: u32) -> Command {
        Command {
            address: list as u64,
            data_bytes: size_of::<Range>() as u32 * count,
            // The number of ranges is one less than it says.
            words: [count.wrapping_sub(1) & 0xff, DEALLOCATE, 0, 0, 0, 0],
            ..self.of(opcode::DATASET)
        }
    }

    /// The range of blocks between two offsets.
    pub fn range(&self, offset: u64, length: u64) -> Range {
        let unit = u64::from(self.block_bytes);
        Range { attributes: 0, blocks: (length / unit) as u32, start: offset / unit }
    }

    /// A flush of all that was written to the namespace.
    pub fn flushing(&self) -> Command {
        self.of(opcode::FLUSH)
    }

    pub(super) fn flush(&self, file: &File) -> io::Result<()> {
        call(file, IOCTL_IO, self.flushing())
    }

    pub(super) fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<u64> {
        let length = buffer.len() as u64;
        let command =
            self.transfer(opcode::READ, (offset, length), buffer.as_mut_ptr(), Extra::default());
        call(file, IOCTL_IO, command).map(|()| length)
    }
}

/// Carries a command out.
fn call(file: &File, request: libc::Ioctl, mut command: Command) -> io::Result<()> {
    // SAFETY: the kernel reads the command and writes its result into it; the memory that the
    // command names belongs to the caller, who holds it until the call returns.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), request, &raw mut command) };
    match returned {
        0 => Ok(()),
        -1 => Err(io::Error::last_os_error()),
        status => Err(io::Error::from_raw_os_error(errno(status as u32))),
    }
}

/// Bytes of a page of identification.
const PAGE_BYTES: usize = 4096;

/// A page of identification.
fn page(file: &File, namespace: u32, which: u32) -> io::Result<Vec<u8>> {
    const IDENTIFY: u8 = 0x06;
    let mut page = vec![0; PAGE_BYTES];
    let command = Command {
        opcode: IDENTIFY,
        namespace,
        address: page.as_mut_ptr() as u64,
        data_bytes: PAGE_BYTES as u32,
        words: [which, 0, 0, 0, 0, 0],
        ..Command::default()
    };
    call(file, IOCTL_ADMIN, command).map(|()| page)
}

/// Asks a namespace for its size and format, and its controller for its limit.
pub(super) fn identify(file: &File) -> io::Result<Namespace> {
    const OF_NAMESPACE: u32 = 0;
    const OF_CONTROLLER: u32 = 1;
    // Block devices answer as well, and take no commands by io_uring.
    if !file.metadata()?.file_type().is_char_device() {
        return Err(io::Error::from_raw_os_error(libc::ENOTTY));
    }
    // SAFETY: the call takes no argument.
    let number = unsafe { libc::ioctl(file.as_raw_fd(), IOCTL_ID, 0) };
    if number <= 0 {
        return Err(io::Error::last_os_error());
    }
    let number = number as u32;
    let namespace = page(file, number, OF_NAMESPACE)?;
    let controller = page(file, 0, OF_CONTROLLER)?;
    read(number, &namespace, &controller)
}

/// Reads both pages.
fn read(number: u32, namespace: &[u8], controller: &[u8]) -> io::Result<Namespace> {
    let unusable = |why: &str| io::Error::new(io::ErrorKind::Unsupported, why.to_owned());
    let number_at = |at: usize, bytes: usize| -> u64 {
        namespace[at..at + bytes].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let chosen = namespace[26];
    let format = 128 + 4 * usize::from(chosen & 0xf | (chosen & 0x60) >> 1);
    let (metadata, shift) = (number_at(format, 2), namespace[format + 2]);
    if !(9..=24).contains(&shift) {
        return Err(unusable("its format is unknown"));
    }
    let protected = match (metadata, namespace[29] & 7) {
        (0, _) => None,
        // Metadata of that length is protection information and nothing else, so that the
        // controller transfers none.
        (8, 1 | 2) => Some(Protected::Placed),
        (8, 3) => Some(Protected::Anywhere),
        _ => return Err(unusable("its blocks have metadata, which is not transferred")),
    };
    // In units of the smallest page of the controller, which are 4 KiB.
    let limit = match controller[77] {
        0 => None,
        power => Some((PAGE_BYTES as u64) << u32::from(power).min(48)),
    };
    Ok(Namespace {
        number,
        block_bytes: 1 << shift,
        blocks: number_at(0, 8),
        // The number of blocks has 16 bits.
        most_bytes: Some(limit.unwrap_or(u64::MAX).min(1 << (16 + u32::from(shift)))),
        protected,
    })
}

/// The error number for a command's status, as the kernel has it for I/O by blocks.
pub fn errno(status: u32) -> i32 {
    // Bits above tell whether to try again.
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
        let found = read(7, &namespace, &controller).expect("usable");
        let whole = Namespace {
            number: 7,
            block_bytes: 4096,
            blocks: 0x0102_0304,
            most_bytes: Some(128 << 10),
            protected: None,
        };
        assert_eq!(found, whole);
        let mut odd = namespace.clone();
        odd[128 + 14] = 0;
        assert!(read(7, &odd, &controller).is_err());
        let mut with_metadata = namespace;
        with_metadata[128 + 12] = 8;
        let refused = read(7, &with_metadata, &controller).expect_err("no metadata");
        assert!(refused.to_string().contains("metadata"), "{refused}");
    }

    #[test]
    fn commands_as_the_kernel_reads_them() {
        let (namespace, controller) = pages();
        let namespace = read(1, &namespace, &controller).expect("usable");
        let start = (1_u64 << 33) + 5;
        let place = (start << 12, 3 << 12);
        let fua = Extra::of_writes(true, Protection::DEFAULT);
        let command = namespace.transfer(opcode::WRITE, place, std::ptr::dangling_mut(), fua);
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

    #[test]
    fn the_controller_makes_and_checks_protection_information() {
        let (mut namespace, controller) = pages();
        (namespace[128 + 12], namespace[29]) = (8, 1);
        let mut found = read(1, &namespace, &controller).expect("usable");
        assert_eq!(found.protected, Some(Protected::Placed));
        let protection = Protection {
            check_guard: true,
            check_reference: true,
            tag: 0x17,
            ..Protection::DEFAULT
        };
        let (at, address) = ((9 << 12, 4096), std::ptr::dangling_mut());
        let extra = Extra::of_reads(false, protection);
        let command = found.transfer(opcode::READ, at, address, extra);
        assert_eq!(command.words[2], 1 << 29 | 1 << 28 | 1 << 26);
        assert_eq!((command.words[4], command.words[5]), (9, 0xffff_0017));
        let written =
            found.transfer(opcode::WRITE, at, address, Extra::of_writes(false, protection));
        assert_eq!((written.words[2], written.words[4]), (1 << 29, 9));
        found.protected = None;
        let plain = found.transfer(opcode::WRITE, at, address, Extra::of_writes(true, protection));
        assert_eq!((plain.words[2], plain.words[4], plain.words[5]), (FUA, 0, 0));
        namespace[29] = 3;
        let found = read(1, &namespace, &controller).expect("usable");
        assert_eq!(found.protected, Some(Protected::Anywhere));
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
