//! SCSI commands by `SG_IO`, and what a disk says of itself.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::FileTypeExt;

use candor_plan::blocks::ScsiWrite;

use crate::stream::region::Extent;

/// Longest command that is used.
const COMMAND_BYTES: usize = 16;
const SENSE_BYTES: usize = 32;
const SG_IO: libc::Ioctl = 0x2285;
/// A command that takes longer has failed.
const TIMEOUT_MS: u32 = 60_000;
/// Times that a command is sent again to a disk that says that it was reset.
const TRIES_MAX: u32 = 4;

/// A request of the kernel's `sg` interface, version 3.
#[repr(C)]
struct Request {
    interface: libc::c_int,
    direction: libc::c_int,
    command_bytes: u8,
    sense_bytes_max: u8,
    vectors: u16,
    data_bytes: u32,
    data: *mut libc::c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    id: libc::c_int,
    user: *mut libc::c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_bytes: u8,
    host_status: u16,
    driver_status: u16,
    residual: libc::c_int,
    duration_ms: u32,
    info: u32,
}

/// Memory that a command reads or fills.
#[derive(Clone, Copy, Debug)]
pub enum Data {
    /// None.
    None,
    /// Goes to the disk.
    Out(*mut u8, u32),
    /// Comes from the disk.
    In(*mut u8, u32),
}

/// Bytes of a command; the first byte determines the length.
pub type Command = [u8; COMMAND_BYTES];

/// Bytes of a command, by its group.
fn length_of(command: &Command) -> u8 {
    match command[0] >> 5 {
        0 => 6,
        1 | 2 => 10,
        5 => 12,
        _ => 16,
    }
}

/// Executes a command; returns the bytes moved, or an error number.
///
/// # Safety
/// The data belongs to the caller, and has the given length.
pub unsafe fn call(fd: RawFd, command: &Command, data: Data) -> Result<u32, i32> {
    // SAFETY: the caller guarantees the same for this call.
    unsafe { call_with(fd, command, data, 0) }
}

/// Executes a command with flags of the driver.
///
/// # Safety
/// The same as for [`call`].
pub unsafe fn call_with(fd: RawFd, command: &Command, data: Data, flags: u32) -> Result<u32, i32> {
    let mut sense = [0; SENSE_BYTES];
    let (direction, address, bytes) = match data {
        Data::None => (-1, std::ptr::null_mut(), 0),
        Data::Out(address, bytes) => (-2, address, bytes),
        Data::In(address, bytes) => (-3, address, bytes),
    };
    let mut request = Request {
        interface: libc::c_int::from(b'S'),
        direction,
        command_bytes: length_of(command),
        sense_bytes_max: SENSE_BYTES as u8,
        vectors: 0,
        data_bytes: bytes,
        data: address.cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: TIMEOUT_MS,
        flags,
        id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_bytes: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: command and sense outlive the call, and so does the data, as the caller says.
    if unsafe { libc::ioctl(fd, SG_IO, &raw mut request) } != 0 {
        return Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO));
    }
    match (request.status, request.host_status) {
        (0, 0) => {}
        (CHECK_CONDITION, 0) if request.sense_bytes > 0 => match errno(&sense) {
            0 => {}
            errno => return Err(errno),
        },
        (BUSY | TASK_SET_FULL, 0) => return Err(libc::EBUSY),
        (RESERVATION_CONFLICT, 0) => return Err(libc::EBADE),
        _ => return Err(libc::EIO),
    }
    Ok(bytes.saturating_sub(u32::try_from(request.residual).unwrap_or(0)))
}

const CHECK_CONDITION: u8 = 0x02;
const BUSY: u8 = 0x08;
const RESERVATION_CONFLICT: u8 = 0x18;
const TASK_SET_FULL: u8 = 0x28;

/// The error number for a disk's sense, as the kernel has it for I/O by blocks; 0 for a success
/// that is remarked on.
fn errno(sense: &[u8; SENSE_BYTES]) -> i32 {
    let by_descriptors = sense[0] & 0x7f >= 0x72;
    let (key, code) =
        if by_descriptors { (sense[1] & 0xf, sense[2]) } else { (sense[2] & 0xf, sense[12]) };
    match (key, code) {
        // No sense, and recovered.
        (0 | 1, _) => 0,
        (2, _) => libc::EAGAIN,
        (3, _) => libc::ENODATA,
        // Unknown command or field.
        (5, 0x20 | 0x24 | 0x26) => libc::EOPNOTSUPP,
        (4 | 5, _) => libc::EREMOTEIO,
        // The disk was reset, or is another one.
        (6, _) => libc::ESTALE,
        (7, _) => libc::EROFS,
        // Protection information does not fit.
        (0xb, 0x10) | (0xe, _) => libc::EILSEQ,
        _ => libc::EIO,
    }
}

/// A disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Bytes of a logical block.
    pub block_bytes: u32,
    /// Logical blocks.
    pub blocks: u64,
    /// Maximum bytes of one command; none if the kernel reports no limit.
    pub most_bytes: Option<u64>,
}

/// Opcodes of commands with 10 and with 16 bytes.
pub mod opcode {
    /// Reads blocks.
    pub const READ: [u8; 2] = [0x28, 0x88];
    /// Writes blocks.
    pub const WRITE: [u8; 2] = [0x2a, 0x8a];
    /// Writes blocks, and reads the medium again.
    pub const WRITE_AND_VERIFY: [u8; 2] = [0x2e, 0x8e];
    /// Writes one block to many.
    pub const WRITE_SAME: [u8; 2] = [0x41, 0x93];
    /// Reads blocks for the disk alone, or compares them.
    pub const VERIFY: [u8; 2] = [0x2f, 0x8f];
    /// Writes blocks of a stream; there is none with 10 bytes.
    pub const WRITE_STREAM: u8 = 0x9a;
    /// Flushes the disk's cache.
    pub const SYNCHRONIZE_CACHE: [u8; 2] = [0x35, 0x91];
}

/// Force unit access, in the second byte of a read or write.
pub const FUA: u8 = 1 << 3;
/// No data comes from the host, in the second byte of the long form of `WRITE SAME`.
const WITHOUT_DATA: u8 = 1;
/// Compare all blocks with the host's data, in the second byte of `VERIFY`.
const COMPARES_ALL: u8 = 1 << 1;
/// Compare all blocks with one block of the host's data.
const COMPARES_ONE: u8 = 3 << 1;
/// Makes the driver poll for a command.
pub const POLLED: u32 = 0x800;
/// Bytes of the list of one range to unmap.
pub const UNMAP_BYTES: usize = 24;

impl Disk {
    /// True for whole blocks.
    #[inline(always)]
    pub fn is_whole(&self, offset: u64, length: u64) -> bool {
        (offset | length) & (u64::from(self.block_bytes) - 1) == 0
    }

    /// A command to a range of blocks. `more` is the second byte.
    #[inline(always)]
    pub fn command(&self, opcodes: [u8; 2], offset: u64, length: u64, more: u8) -> Command {
        let unit = u64::from(self.block_bytes);
        let (start, count) = (offset / unit, length / unit);
        let mut command = [0; COMMAND_BYTES];
        command[1] = more;
        match (u32::try_from(start), u16::try_from(count)) {
            (Ok(start), Ok(count)) => {
                command[0] = opcodes[0];
                command[2..6].copy_from_slice(&start.to_be_bytes());
                command[7..9].copy_from_slice(&count.to_be_bytes());
            }
            _ => return self.long(opcodes[1], offset, length, more),
        }
        command
    }

    /// The command that writes a range of blocks; `stream` is the number of an open stream.
    #[inline(always)]
    pub fn writing(&self, write: ScsiWrite, extent: Extent, fua: bool, stream: u16) -> Command {
        let Extent { base: offset, size: length } = extent;
        let more = if fua && write.has_fua() { FUA } else { 0 };
        match write {
            ScsiWrite::Write => self.command(opcode::WRITE, offset, length, more),
            ScsiWrite::WriteAndVerify => {
                self.command(opcode::WRITE_AND_VERIFY, offset, length, more)
            }
            ScsiWrite::WriteSame => self.command(opcode::WRITE_SAME, offset, length, more),
            ScsiWrite::WriteSameWithoutData => {
                self.long(opcode::WRITE_SAME[1], offset, length, WITHOUT_DATA)
            }
            ScsiWrite::Stream => {
                let mut command = self.long(opcode::WRITE_STREAM, offset, 0, more);
                let count = (length / u64::from(self.block_bytes)) as u16;
                command[10..12].copy_from_slice(&stream.to_be_bytes());
                command[12..14].copy_from_slice(&count.to_be_bytes());
                command
            }
            ScsiWrite::Verify => self.command(opcode::VERIFY, offset, length, 0),
            ScsiWrite::VerifyData => self.command(opcode::VERIFY, offset, length, COMPARES_ALL),
            ScsiWrite::VerifySame => self.command(opcode::VERIFY, offset, length, COMPARES_ONE),
        }
    }

    /// A command of 16 bytes to a range of blocks.
    fn long(&self, opcode: u8, offset: u64, length: u64, more: u8) -> Command {
        let unit = u64::from(self.block_bytes);
        let mut command = [0; COMMAND_BYTES];
        (command[0], command[1]) = (opcode, more);
        command[2..10].copy_from_slice(&(offset / unit).to_be_bytes());
        command[10..14].copy_from_slice(&((length / unit) as u32).to_be_bytes());
        command
    }

    /// A command that unmaps a range of blocks, with the list that it sends.
    pub fn unmapping(&self, offset: u64, length: u64) -> (Command, [u8; UNMAP_BYTES]) {
        let unit = u64::from(self.block_bytes);
        let mut command = [0; COMMAND_BYTES];
        (command[0], command[8]) = (0x42, UNMAP_BYTES as u8);
        let mut list = [0; UNMAP_BYTES];
        (list[1], list[3]) = (UNMAP_BYTES as u8 - 2, UNMAP_BYTES as u8 - 8);
        list[8..16].copy_from_slice(&(offset / unit).to_be_bytes());
        list[16..20].copy_from_slice(&((length / unit) as u32).to_be_bytes());
        (command, list)
    }

    /// A flush of the disk's cache.
    pub fn flushing(&self) -> Command {
        self.command(opcode::SYNCHRONIZE_CACHE, 0, 0, 0)
    }

    pub(super) fn flush(&self, file: &File) -> io::Result<()> {
        // SAFETY: the command has no data.
        let done = unsafe { call(file.as_raw_fd(), &self.flushing(), Data::None) };
        done.map(drop).map_err(io::Error::from_raw_os_error)
    }

    pub(super) fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<u64> {
        let command = self.command(opcode::READ, offset, buffer.len() as u64, 0);
        asked(file, &command, buffer)
    }
}

/// Opens a stream of the disk; its number.
///
/// # Errors
/// The disk's, for instance because it knows no streams.
pub fn open_stream(file: &File) -> io::Result<u16> {
    let mut answer = [0; 8];
    asked(file, &stream_control(STREAM_OPEN, 0), &mut answer)?;
    Ok(u16::from_be_bytes([answer[4], answer[5]]))
}

/// Closes a stream that was opened.
///
/// # Errors
/// The disk's.
pub fn close_stream(file: &File, stream: u16) -> io::Result<()> {
    let mut answer = [0; 8];
    asked(file, &stream_control(STREAM_CLOSE, stream), &mut answer).map(drop)
}

const STREAM_OPEN: u8 = 1;
const STREAM_CLOSE: u8 = 2;

/// `STREAM CONTROL`, which answers with 8 bytes.
fn stream_control(control: u8, stream: u16) -> Command {
    let mut command = [0; COMMAND_BYTES];
    (command[0], command[1], command[13]) = (0x9e, 0x14 | control << 5, 8);
    command[4..6].copy_from_slice(&stream.to_be_bytes());
    command
}

/// Executes a command that fills a buffer; repeats it if the disk reports a reset.
fn asked(file: &File, command: &Command, buffer: &mut [u8]) -> io::Result<u64> {
    let data = Data::In(buffer.as_mut_ptr(), buffer.len() as u32);
    let mut last = libc::EIO;
    for _ in 0..TRIES_MAX {
        // SAFETY: the buffer is borrowed for the length of the call.
        match unsafe { call(file.as_raw_fd(), command, data) } {
            Ok(bytes) => return Ok(u64::from(bytes)),
            Err(errno) => last = errno,
        }
        if last != libc::ESTALE {
            break;
        }
    }
    Err(io::Error::from_raw_os_error(last))
}

/// Queries a disk for its size, and the kernel for the limit of a command.
pub(super) fn identify(file: &File) -> io::Result<Disk> {
    const DIRECT_ACCESS: u8 = 0;
    let mut page = [0; 36];
    let mut inquiry = [0; COMMAND_BYTES];
    (inquiry[0], inquiry[4]) = (0x12, 36);
    asked(file, &inquiry, &mut page)?;
    if page[0] & 0x1f != DIRECT_ACCESS {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "it is no disk"));
    }
    let (blocks, block_bytes) = capacity(file)?;
    refuse_part(file, blocks.saturating_mul(block_bytes.into()))?;
    if !block_bytes.is_power_of_two() || block_bytes < 256 {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "its blocks have an odd length"));
    }
    Ok(Disk { block_bytes, blocks, most_bytes: limit(file) })
}

/// Commands to a partition, or to a part that is mapped, would reach the whole disk, elsewhere.
fn refuse_part(file: &File, disk_bytes: u64) -> io::Result<()> {
    if !file.metadata()?.file_type().is_block_device() {
        return Ok(());
    }
    let bytes = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))?;
    let why = "commands to it would reach the whole disk, of which it is a part";
    if bytes == disk_bytes { Ok(()) } else { Err(io::Error::new(io::ErrorKind::Unsupported, why)) }
}

/// Blocks, and bytes of each: old disks know the short command only.
fn capacity(file: &File) -> io::Result<(u64, u32)> {
    let mut page = [0; 32];
    let mut long = [0; COMMAND_BYTES];
    (long[0], long[1], long[13]) = (0x9e, 0x10, 32);
    if asked(file, &long, &mut page).is_ok() {
        let last = u64::from_be_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|at| page[at]));
        return Ok((last.saturating_add(1), four(&page, 8)));
    }
    let mut short = [0; COMMAND_BYTES];
    short[0] = 0x25;
    asked(file, &short, &mut page[..8])?;
    Ok((u64::from(four(&page, 0)) + 1, four(&page, 4)))
}

fn four(page: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([0, 1, 2, 3].map(|byte| page[at + byte]))
}

/// Most bytes of a command to a generic device. Of a disk the kernel tells the limit of its own
/// requests only, which is lower.
fn limit(file: &File) -> Option<u64> {
    const BLKSECTGET: libc::Ioctl = 0x1267;
    file.metadata().ok().filter(|metadata| metadata.file_type().is_char_device())?;
    let mut bytes: libc::c_int = 0;
    // SAFETY: a generic device writes one int, which outlives the call.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), BLKSECTGET, &raw mut bytes) };
    u64::try_from(bytes).ok().filter(|bytes| returned == 0 && *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: Disk = Disk { block_bytes: 512, blocks: 1 << 40, most_bytes: None };

    #[test]
    fn commands_are_as_long_as_their_numbers_need() {
        let short = DISK.command(opcode::READ, 0x0102_0304 * 512, 7 * 512, FUA);
        assert_eq!(short[..10], [0x28, FUA, 1, 2, 3, 4, 0, 0, 7, 0]);
        assert_eq!(length_of(&short), 10);
        let far = DISK.command(opcode::WRITE, (1 << 32) * 512, 512, 0);
        assert_eq!((far[0], &far[2..10], far[13]), (0x8a, &[0, 0, 0, 1, 0, 0, 0, 0][..], 1));
        assert_eq!(length_of(&far), 16);
        let long = DISK.command(opcode::WRITE_AND_VERIFY, 0, 0x1_0000 * 512, 0);
        assert_eq!((long[0], &long[10..14]), (0x8e, &[0, 1, 0, 0][..]));
        assert_eq!(DISK.flushing()[..10], [0x35, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn each_way_to_write_has_its_bytes() {
        let extent = Extent { base: 5 * 512, size: 3 * 512 };
        let of = |write, fua| DISK.writing(write, extent, fua, 0x0102);
        let short = |command: Command| (command[0], command[1], command[5], command[8]);
        assert_eq!(short(of(ScsiWrite::Write, true)), (0x2a, FUA, 5, 3));
        assert_eq!(short(of(ScsiWrite::WriteAndVerify, true)), (0x2e, 0, 5, 3));
        assert_eq!(short(of(ScsiWrite::WriteSame, true)), (0x41, 0, 5, 3));
        assert_eq!(short(of(ScsiWrite::Verify, false)), (0x2f, 0, 5, 3));
        assert_eq!(short(of(ScsiWrite::VerifyData, false)), (0x2f, 2, 5, 3));
        assert_eq!(short(of(ScsiWrite::VerifySame, false)), (0x2f, 6, 5, 3));
        let without = of(ScsiWrite::WriteSameWithoutData, false);
        assert_eq!((without[0], without[1], without[9], without[13]), (0x93, 1, 5, 3));
        assert_eq!(length_of(&without), 16);
        let stream = of(ScsiWrite::Stream, true);
        assert_eq!((stream[0], stream[1], stream[9]), (0x9a, FUA, 5));
        assert_eq!(stream[10..14], [1, 2, 0, 3]);
        assert_eq!(length_of(&stream), 16);
        let far = DISK.writing(
            ScsiWrite::VerifyData,
            Extent { base: (1 << 32) * 512, size: 512 },
            false,
            0,
        );
        assert_eq!((far[0], far[1], far[5]), (0x8f, 2, 1));
    }

    #[test]
    fn streams_are_opened_and_closed() {
        let opening = stream_control(STREAM_OPEN, 0);
        assert_eq!((opening[0], opening[1], opening[13]), (0x9e, 0x34, 8));
        let closing = stream_control(STREAM_CLOSE, 0x0102);
        assert_eq!((closing[1], &closing[4..6]), (0x54, &[1, 2][..]));
        assert_eq!(length_of(&closing), 16);
    }

    #[test]
    fn one_range_is_unmapped() {
        let (command, list) = DISK.unmapping(512 * 3, 512 * 9);
        assert_eq!((command[0], command[8], length_of(&command)), (0x42, 24, 10));
        assert_eq!((list[1], list[3], list[15], list[19]), (22, 16, 3, 9));
    }

    #[test]
    fn sense_in_both_forms() {
        let fixed = |key, code| {
            let mut sense = [0; SENSE_BYTES];
            (sense[0], sense[2], sense[12]) = (0xf0, key, code);
            errno(&sense)
        };
        let described = |key, code| {
            let mut sense = [0; SENSE_BYTES];
            (sense[0], sense[1], sense[2]) = (0x72, key, code);
            errno(&sense)
        };
        for (key, code, number) in [
            (1, 0x17, 0),
            (3, 0x11, libc::ENODATA),
            (5, 0x20, libc::EOPNOTSUPP),
            (5, 0x21, libc::EREMOTEIO),
            (6, 0x29, libc::ESTALE),
            (0xb, 0x10, libc::EILSEQ),
        ] {
            assert_eq!((fixed(key, code), described(key, code)), (number, number), "{key} {code}");
        }
    }

    #[test]
    fn what_is_no_disk_takes_no_commands() {
        let null = File::open("/dev/null").expect("it is there");
        assert!(identify(&null).is_err());
    }
}
