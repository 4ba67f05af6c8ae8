//! `perf_event_open(2)`: tracepoints as events, for programs to be attached to and as samples.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

const TRACEPOINT: u32 = 2;
const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_RAW: u64 = 1 << 10;
const DISABLED: u64 = 1;
const USE_CLOCK_ID: u64 = 1 << 25;
const RECORD_SAMPLE: u32 = 9;

const SET_OUTPUT: libc::c_ulong = 0x2405;
const SET_BPF: libc::c_ulong = 0x4004_2408;
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;
const CLOSE_ON_EXEC: libc::c_ulong = 8;

/// `struct perf_event_attr`, as far as Linux 4.1 has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Attr {
    kind: u32,
    bytes: u32,
    config: u64,
    period: u64,
    sample: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branches: u64,
    registers: u64,
    stack: u32,
    clock: i32,
    interrupts: u64,
}

impl Attr {
    /// A tracepoint by its number.
    pub fn tracepoint(id: u64) -> Attr {
        let bytes = std::mem::size_of::<Attr>() as u32;
        Attr { kind: TRACEPOINT, bytes, config: id, period: 1, ..Attr::default() }
    }

    /// The same, each event as a sample with process, time and record; not yet counting.
    pub fn sampled(id: u64) -> Attr {
        let sample = SAMPLE_TID | SAMPLE_TIME | SAMPLE_RAW;
        let clock = libc::CLOCK_MONOTONIC;
        Attr { sample, clock, flags: DISABLED | USE_CLOCK_ID, ..Attr::tracepoint(id) }
    }
}

/// Opens an event on one CPU, for all processes.
pub fn open(attr: &Attr, cpu: u32) -> io::Result<OwnedFd> {
    // SAFETY: `attr` says its own size, and the kernel only reads it.
    let fd = unsafe {
        libc::syscall(libc::SYS_perf_event_open, attr, -1, cpu as libc::c_int, -1, CLOSE_ON_EXEC)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call returns a descriptor that is open and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Lets a program run at each such event.
pub fn set_program(event: &OwnedFd, program: &OwnedFd) -> io::Result<()> {
    control(event, SET_BPF, program.as_raw_fd())?;
    control(event, ENABLE, 0)
}

/// Begins or ends the samples of an event.
pub fn enable(event: &OwnedFd, on: bool) -> io::Result<()> {
    control(event, if on { ENABLE } else { DISABLE }, 0)
}

/// How often an event came, as the kernel counts it; 0 if it does not say.
fn count(event: &OwnedFd) -> u64 {
    let mut value = [0; 8];
    match rustix::io::read(event, &mut value) {
        Ok(8) => u64::from_ne_bytes(value),
        _ => 0,
    }
}

fn control(event: &OwnedFd, request: libc::c_ulong, argument: libc::c_int) -> io::Result<()> {
    // SAFETY: these requests take a number or a descriptor, and touch no memory of ours.
    match unsafe { libc::ioctl(event.as_raw_fd(), request as _, argument) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Where the head and the tail of a ring stand in its first page (`perf_event_mmap_page`).
const HEAD: usize = 1024;
const TAIL: usize = 1032;
/// Pages of samples of each ring: a power of two.
const PAGES: usize = 512;

/// The samples of one CPU.
#[derive(Debug)]
pub struct Ring {
    /// The first page and the samples behind it.
    at: *mut u8,
    page: usize,
    /// All events that write into it, the first of which it belongs to.
    events: Vec<OwnedFd>,
    /// Samples taken out so far.
    taken: u64,
    /// Events when samples were taken out last: by now, their samples are all there.
    counted: u64,
    /// Events without a sample, as far as told.
    reported: u64,
}

// SAFETY: the memory belongs to this alone, and is read by whoever holds it exclusively.
unsafe impl Send for Ring {}

/// One event of a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub at_ns: u64,
    pub pid: u32,
    pub record: Vec<u8>,
}

impl Ring {
    /// Opens some tracepoints on a CPU, all into one ring.
    pub fn open(ids: &[u64], cpu: u32) -> io::Result<Ring> {
        let events = ids.iter().map(|id| open(&Attr::sampled(*id), cpu));
        let events = events.collect::<io::Result<Vec<_>>>()?;
        let first = events.first().ok_or(io::ErrorKind::InvalidInput)?;
        let page = rustix::param::page_size();
        // SAFETY: a new mapping, which nothing else uses; its length is what the kernel asks for.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page * (PAGES + 1),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                first.as_raw_fd(),
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let into = first.as_raw_fd();
        let ring = Ring { at: at.cast(), page, events, taken: 0, counted: 0, reported: 0 };
        ring.events[1..].iter().try_for_each(|event| control(event, SET_OUTPUT, into))?;
        Ok(ring)
    }

    /// Begins or ends to take samples.
    pub fn enable(&self, on: bool) -> io::Result<()> {
        self.events.iter().try_for_each(|event| enable(event, on))
    }

    fn cursor(&self, offset: usize) -> &AtomicU64 {
        // SAFETY: the first page is mapped as long as this lives, and both cursors are aligned.
        unsafe { &*self.at.add(offset).cast::<AtomicU64>() }
    }

    /// Takes all samples out; the result is of how many more events the kernel made no sample: for
    /// lack of room, or for reasons of its own (on an idle CPU, Linux 6.18 does so with most).
    pub fn drain(&mut self, samples: &mut Vec<Sample>) -> u64 {
        let counted = self.events.iter().map(count).sum();
        let head = self.cursor(HEAD).load(Ordering::Acquire);
        let mut tail = self.cursor(TAIL).load(Ordering::Relaxed);
        let mut bytes = Vec::new();
        while tail < head {
            self.copy(tail, 8, &mut bytes);
            let size = usize::from(u16::from_ne_bytes([bytes[6], bytes[7]]));
            let kind = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            if size < 8 {
                break;
            }
            self.copy(tail, size, &mut bytes);
            if kind == RECORD_SAMPLE {
                samples.extend(sample(&bytes));
                self.taken += 1;
            }
            tail += size as u64;
        }
        self.cursor(TAIL).store(head, Ordering::Release);
        let lost = self.counted.saturating_sub(self.taken + self.reported);
        self.reported += lost;
        self.counted = counted;
        lost
    }

    /// Copies bytes of the ring, which may begin anew within them.
    fn copy(&self, from: u64, bytes: usize, to: &mut Vec<u8>) {
        let all = self.page * PAGES;
        let begin = (from % all as u64) as usize;
        let first = bytes.min(all - begin);
        to.clear();
        // SAFETY: both parts lie within the pages behind the first one; the kernel writes no
        // samples between tail and head.
        unsafe {
            let samples = self.at.add(self.page);
            to.extend_from_slice(std::slice::from_raw_parts(samples.add(begin), first));
            to.extend_from_slice(std::slice::from_raw_parts(samples, bytes - first));
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this length, and nothing points into it any more.
        unsafe { libc::munmap(self.at.cast(), self.page * (PAGES + 1)) };
    }
}

/// Header, process and thread, time, length of the record, record.
fn sample(bytes: &[u8]) -> Option<Sample> {
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let record = bytes.get(28..28 + word(24)? as usize)?.to_vec();
    Some(Sample { pid: word(8)?, at_ns: number(bytes, 16)?, record })
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_taken_apart() {
        let mut bytes = vec![9, 0, 0, 0, 0, 0, 32, 0];
        bytes.extend(7_u32.to_ne_bytes());
        bytes.extend(8_u32.to_ne_bytes());
        bytes.extend(99_u64.to_ne_bytes());
        bytes.extend(2_u32.to_ne_bytes());
        bytes.extend([5, 6]);
        assert_eq!(sample(&bytes), Some(Sample { at_ns: 99, pid: 7, record: vec![5, 6] }));
        assert_eq!(sample(&bytes[..29]), None);
    }
}
