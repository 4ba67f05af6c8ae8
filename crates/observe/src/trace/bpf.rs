//! `bpf(2)`: maps, programs, and where they are attached.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::asm::Insn;
use super::perf;

const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const MAP_UPDATE: libc::c_int = 2;
const MAP_DELETE: libc::c_int = 3;
const MAP_NEXT_KEY: libc::c_int = 4;
const PROG_LOAD: libc::c_int = 5;
const PROG_TEST_RUN: libc::c_int = 10;
const INFO_BY_FD: libc::c_int = 15;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;

/// Kinds of programs.
pub const TRACEPOINT: u32 = 5;
pub const RAW_TRACEPOINT: u32 = 17;

/// A program that the kernel took.
pub type Program = OwnedFd;

/// Attachment point of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// A tracepoint by its name, which hands over the kernel's structures.
    Raw(&'static str),
    /// A tracepoint by its number, which hands over a record.
    Event(u64),
}

/// Programs that read the kernel's memory and clock must declare a licence that it accepts; that
/// of this project allows this one.
const LICENCE: &std::ffi::CStr = c"Dual MIT/GPL";

/// Kind of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Hash = 1,
    Array = 2,
    /// An array of which each CPU has its own.
    PerCpuArray = 6,
    /// A hash that drops what was not used for long when it is full.
    LruHash = 9,
}

/// The beginning of `union bpf_attr` for the making of maps.
#[repr(C)]
struct MapAttr {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
    flags: u32,
}

/// For entries of maps.
#[repr(C)]
struct EntryAttr {
    map: u32,
    padding: u32,
    key: u64,
    value_or_next: u64,
    flags: u64,
}

/// For programs.
#[repr(C)]
struct ProgramAttr {
    kind: u32,
    insns: u32,
    code: u64,
    licence: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel: u32,
    flags: u32,
}

/// For one run of a program.
#[repr(C)]
#[derive(Default)]
struct RunAttr {
    program: u32,
    result: u32,
    unused: [u64; 8],
}

/// For what is known of a program.
#[repr(C)]
struct InfoAttr {
    program: u32,
    bytes: u32,
    info: u64,
}

/// For raw tracepoints.
#[repr(C)]
struct TracepointAttr {
    name: u64,
    program: u32,
    padding: u32,
}

/// A map. It lives as long as this or a program that uses it.
#[derive(Debug)]
pub struct Map {
    fd: OwnedFd,
    key_bytes: usize,
    /// Bytes that one lookup writes: for every possible CPU, where each has its own.
    value_bytes: usize,
}

impl Map {
    /// Makes one. `cpus` are the possible CPUs of the host.
    pub fn new(kind: Kind, key: usize, value: usize, entries: u32, cpus: usize) -> io::Result<Map> {
        let attr = MapAttr {
            kind: kind as u32,
            key_bytes: key as u32,
            value_bytes: value as u32,
            entries,
            flags: 0,
        };
        let fd = call_fd(MAP_CREATE, &attr)?;
        let copies = if kind == Kind::PerCpuArray { cpus } else { 1 };
        Ok(Map { fd, key_bytes: key, value_bytes: value.next_multiple_of(8) * copies })
    }

    /// The number, for programs.
    pub fn number(&self) -> i32 {
        self.fd.as_raw_fd()
    }

    /// An entry, or none. Of a map per CPU, the values one behind the other.
    pub fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        assert_eq!(key.len(), self.key_bytes);
        let mut value = vec![0; self.value_bytes];
        let attr = self.entry(key.as_ptr() as u64, value.as_mut_ptr() as u64);
        call(MAP_LOOKUP, &attr).ok().map(|_| value)
    }

    /// Sets an entry.
    pub fn set(&self, key: &[u8], value: &[u8]) -> io::Result<()> {
        assert_eq!((key.len(), value.len()), (self.key_bytes, self.value_bytes));
        let attr = self.entry(key.as_ptr() as u64, value.as_ptr() as u64);
        call(MAP_UPDATE, &attr).map(drop)
    }

    /// Removes all entries of a hash.
    pub fn clear(&self) {
        for key in self.keys() {
            // One that is gone already is gone.
            let _ = call(MAP_DELETE, &self.entry(key.as_ptr() as u64, 0));
        }
    }

    /// All keys of a hash, as far as they stay while they are read.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        // A key that vanishes meanwhile makes the kernel begin again: no more than were there.
        while keys.len() < KEYS_MAX {
            let last = keys.last().map_or(0, |key| key.as_ptr() as u64);
            let mut next = vec![0; self.key_bytes];
            let attr = self.entry(last, next.as_mut_ptr() as u64);
            if call(MAP_NEXT_KEY, &attr).is_err() {
                break;
            }
            keys.push(next);
        }
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    fn entry(&self, key: u64, value_or_next: u64) -> EntryAttr {
        EntryAttr { map: self.number() as u32, padding: 0, key, value_or_next, flags: 0 }
    }
}

/// More keys than any map of the tracer has entries.
const KEYS_MAX: usize = 1 << 14;

/// Loads a program of a kind. If the kernel refuses it, the error has what the kernel
/// said last.
pub fn load(kind: u32, code: &[Insn]) -> io::Result<Program> {
    let mut attr = ProgramAttr {
        kind,
        insns: code.len() as u32,
        code: code.as_ptr() as u64,
        licence: LICENCE.as_ptr() as u64,
        log_level: 0,
        log_bytes: 0,
        log: 0,
        kernel: 0,
        flags: 0,
    };
    let error = match call_fd(PROG_LOAD, &attr) {
        Err(error) if error.raw_os_error() != Some(libc::EPERM) => error,
        done => return done,
    };
    let mut log = vec![0_u8; 1 << 20];
    (attr.log_level, attr.log_bytes, attr.log) = (1, log.len() as u32, log.as_mut_ptr() as u64);
    match call_fd(PROG_LOAD, &attr) {
        Ok(fd) => Ok(fd),
        Err(_) => {
            let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
            let text = String::from_utf8_lossy(text);
            let mut lines = text.lines().rev().filter(|line| !line.starts_with("processed "));
            let said = lines.next().unwrap_or_default();
            Err(io::Error::new(error.kind(), format!("{error}: {said}")))
        }
    }
}

/// Attaches a program; it stays until the result is dropped.
pub fn attach(program: &Program, hook: Hook) -> io::Result<OwnedFd> {
    match hook {
        Hook::Raw(name) => {
            let name = std::ffi::CString::new(name)?;
            let (name, program) = (name.as_ptr() as u64, program.as_raw_fd() as u32);
            call_fd(RAW_TRACEPOINT_OPEN, &TracepointAttr { name, program, padding: 0 })
        }
        Hook::Event(id) => {
            // The program runs on all CPUs, whichever the event is of.
            let event = perf::open(&perf::Attr::tracepoint(id), 0)?;
            perf::set_program(&event, program)?;
            Ok(event)
        }
    }
}

/// How often the kernel left a program out because it ran on that CPU already; 0 where the kernel
/// does not count that (before Linux 5.12).
pub fn events_lost(program: &OwnedFd) -> u64 {
    // `struct bpf_prog_info` has `recursion_misses` here.
    const LEFT_OUT: usize = 26;
    let mut info = [0_u64; LEFT_OUT + 1];
    let bytes = std::mem::size_of_val(&info) as u32;
    let program = program.as_raw_fd() as u32;
    let attr = InfoAttr { program, bytes, info: info.as_mut_ptr() as u64 };
    call(INFO_BY_FD, &attr).map_or(0, |_| info[LEFT_OUT])
}

/// Runs a program for raw tracepoints in this thread (Linux 5.10); its result.
pub fn run_once(program: &Program) -> io::Result<u32> {
    let mut attr = RunAttr { program: program.as_raw_fd() as u32, ..RunAttr::default() };
    // SAFETY: `attr` has the layout of the command, which has no addresses here, and the kernel
    // writes nothing but its result.
    let done = unsafe {
        libc::syscall(libc::SYS_bpf, PROG_TEST_RUN, &raw mut attr, size_of::<RunAttr>() as u32)
    };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(attr.result) }
}

fn call<T>(command: libc::c_int, attr: &T) -> io::Result<libc::c_long> {
    // SAFETY: `attr` has the layout that the command is defined with, and the kernel takes the
    // rest as zeros; all addresses in it are of memory of the length it says, alive until here.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, attr, std::mem::size_of::<T>() as u32) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn call_fd<T>(command: libc::c_int, attr: &T) -> io::Result<OwnedFd> {
    let fd = call(command, attr)?;
    // SAFETY: these commands return a descriptor that is open and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Numbers of 8 bytes, as maps hold them.
pub fn numbers(bytes: &[u8]) -> Vec<u64> {
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    bytes.chunks_exact(8).map(number).collect()
}
