//! Reading `blktrace`: every step of every request, as the kernel writes it into files of
//! debugfs. Only on request, since one can trace a device so at a time, and kernels that are locked
//! down forbid it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use candor_record::facts::Missing;
use candor_record::requests::RequestOp;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::counter::{Event, Moment};
use super::devices::TracedDevices;
use super::refusal::{missing, refused};
use super::sampling::Tap;
use super::tally;
use super::tracefs::mount_privately;
use crate::source::Roots;

const SETUP: libc::c_ulong = 0xc048_1273;
const START: libc::c_ulong = 0x1274;
const STOP: libc::c_ulong = 0x1275;
const TEARDOWN: libc::c_ulong = 0x1276;

/// `struct blk_user_trace_setup`.
#[repr(C)]
#[derive(Default)]
struct Setup {
    name: [u8; 32],
    actions: u16,
    buffer_bytes: u32,
    buffers: u32,
    from_sector: u64,
    to_sector: u64,
    pid: u32,
}

/// Sub-buffers of each CPU and their size.
const BUFFERS: u32 = 8;
const BUFFER_BYTES: u32 = 256 << 10;

/// Bytes of `struct blk_io_trace`, behind which more may follow.
const HEADER: usize = 48;
const MAGIC: u32 = 0x6561_7400;

/// Reason of the failure.
pub struct Refusal(pub Missing);

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        Refusal(refused(&error))
    }
}

/// A device that is traced; dropped, it is not any more.
struct Traced {
    device: File,
    /// How many events had no room, so far.
    dropped: PathBuf,
    dropped_before: u64,
    streams: Vec<Stream>,
}

/// Output of one CPU.
struct Stream {
    cpu: usize,
    file: File,
    /// Bytes that were read and are not yet a whole event.
    rest: Vec<u8>,
}

/// All devices that are traced.
struct Relays {
    traced: Vec<Traced>,
    /// Names of processes as they were told.
    names: HashMap<u32, String>,
}

/// Begins to trace devices. Mounts debugfs for the calling thread alone where it is not mounted.
pub fn relays(traced: &TracedDevices, roots: &Roots) -> Result<Box<dyn Tap>, Refusal> {
    let debug = roots.sys.join("kernel/debug");
    may(roots)?;
    if !debug.join("block").is_dir() {
        mount_privately("debugfs", &debug)?;
    }
    let trace = |name: &String| Traced::begin(name, &debug, roots);
    let traced = traced.names.iter().map(trace).collect::<Result<_, _>>()?;
    Ok(Box::new(Relays { traced, names: HashMap::new() }))
}

/// Whether the kernel lets debugfs be read.
fn may(roots: &Roots) -> Result<(), Refusal> {
    let security = roots.sys.join("kernel/security");
    let file = security.join("lockdown");
    let mut said = fs::read_to_string(&file);
    if said.is_err() && mount_privately("securityfs", &security).is_ok() {
        said = fs::read_to_string(&file);
    }
    // `none [integrity] confidentiality`; kernels without it lock nothing down.
    let mode =
        said.ok().and_then(|text| Some(text.split_once('[')?.1.split_once(']')?.0.to_owned()));
    match mode.as_deref() {
        None | Some("none") => Ok(()),
        Some(mode) => Err(Refusal(missing(
            &format!("the kernel is locked down ({mode}), and hands out no traces of blktrace"),
            "another way (--by raw), or a kernel that is not locked down",
        ))),
    }
}

impl Traced {
    fn begin(name: &str, debug: &Path, roots: &Roots) -> Result<Traced, Refusal> {
        let node = roots.dev.join(name.replace('!', "/"));
        let device = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&node)?;
        let mut setup = Setup { buffer_bytes: BUFFER_BYTES, buffers: BUFFERS, ..Setup::default() };
        setup.actions = u16::MAX;
        // SAFETY: the request reads and writes a structure of just this layout.
        if unsafe { libc::ioctl(device.as_raw_fd(), SETUP as _, &raw mut setup) } != 0 {
            let error = io::Error::last_os_error();
            return Err(match error.raw_os_error() {
                Some(libc::EBUSY) => Refusal(missing(
                    &format!("another process already traces {name}"),
                    "the end of the other blktrace",
                )),
                _ => error.into(),
            });
        }
        let end = setup.name.iter().position(|byte| *byte == 0).unwrap_or(setup.name.len());
        let folder = debug.join("block").join(&*String::from_utf8_lossy(&setup.name[..end]));
        // From here on dropping it ends the trace.
        let mut traced = Traced {
            device,
            dropped: folder.join("dropped"),
            dropped_before: 0,
            streams: Vec::new(),
        };
        for entry in fs::read_dir(&folder)?.flatten() {
            let path = entry.path();
            let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix("trace"));
            if let Some(cpu) = number.and_then(|number| number.parse().ok()) {
                let mut options = OpenOptions::new();
                let file = options.read(true).custom_flags(libc::O_NONBLOCK).open(&path)?;
                traced.streams.push(Stream { cpu, file, rest: Vec::new() });
            }
        }
        Ok(traced)
    }

    fn ask(&self, request: libc::c_ulong) -> io::Result<()> {
        // SAFETY: these requests have no argument.
        match unsafe { libc::ioctl(self.device.as_raw_fd(), request as _) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Events that had no room since this was last asked.
    fn lost(&mut self) -> u64 {
        let text = fs::read_to_string(&self.dropped).unwrap_or_default();
        let now = text.trim().parse().unwrap_or(self.dropped_before);
        let lost = now.saturating_sub(self.dropped_before);
        self.dropped_before = now;
        lost
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        // Both do nothing where it is not running, or gone.
        let _ = self.ask(STOP);
        let _ = self.ask(TEARDOWN);
    }
}

impl Tap for Relays {
    fn turn(&mut self, on: bool) -> io::Result<()> {
        self.traced.iter().try_for_each(|traced| traced.ask(if on { START } else { STOP }))
    }

    fn drain(&mut self, events: &mut Vec<Event>) -> u64 {
        let home = sched_getaffinity(None);
        let mut lost = 0;
        for traced in &mut self.traced {
            lost += traced.lost();
            for stream in &mut traced.streams {
                stream.fetch();
                let took = take(&stream.rest, &mut self.names, events);
                stream.rest.drain(..took.bytes);
                lost += u64::from(took.torn);
            }
        }
        if let Ok(home) = home {
            // It was allowed before; if not, this thread stays on the last CPU.
            let _ = sched_setaffinity(None, &home);
        }
        lost
    }
}

impl Stream {
    /// Reads what its CPU wrote, on that CPU: from another one, an event can be read half written
    /// (the kernel writes each with interrupts off, behind an offset that it moves first).
    fn fetch(&mut self) {
        let mut here = CpuSet::new();
        if self.cpu < CpuSet::MAX_CPU {
            here.set(self.cpu);
            // Where that CPU is not ours, an event may be torn, and is counted as lost.
            let _ = sched_setaffinity(None, &here);
        }
        // What cannot be read now is read next time.
        let _ = self.file.read_to_end(&mut self.rest);
    }
}

/// Whole events at the begin of some bytes.
#[derive(Debug, PartialEq, Eq)]
struct Took {
    bytes: usize,
    /// The bytes behind them are no event: at least one was lost.
    torn: bool,
}

/// Takes whole events off the bytes.
fn take(bytes: &[u8], names: &mut HashMap<u32, String>, events: &mut Vec<Event>) -> Took {
    let mut used = 0;
    while let Some(head) = bytes.get(used..used + HEADER) {
        let more = usize::from(u16::from_ne_bytes([head[46], head[47]]));
        if word(head, 0) & !0xff != MAGIC {
            // Nothing tells where the next one begins.
            return Took { bytes: bytes.len(), torn: true };
        }
        let Some(data) = bytes.get(used + HEADER..used + HEADER + more) else { break };
        used += HEADER + more;
        let (what, pid, length) = (word(head, 28), word(head, 32), word(head, 24));
        if what & NOTE != 0 {
            let name = data.split(|byte| *byte == 0).next().unwrap_or_default();
            names.insert(pid, String::from_utf8_lossy(name).into_owned());
            continue;
        }
        let Some(moment) = moment(what & 0xff) else { continue };
        if what & OF_DRIVER != 0 {
            continue;
        }
        events.push(Event {
            moment,
            at_ns: long(head, 8),
            device: [word(head, 36) >> 20, word(head, 36) & ((1 << 20) - 1)],
            sector: long(head, 16),
            bytes: length.into(),
            direction: direction(what, length),
            flags: flags(what),
            pid,
            command: names.get(&pid).cloned().unwrap_or_default(),
        });
    }
    Took { bytes: used, torn: false }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([0, 1, 2, 3].map(|i| bytes[at + i]))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

// Bits of what happened, in its upper half.
const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const SYNC: u32 = 1 << 19;
const OF_DRIVER: u32 = 1 << 25;
const NOTE: u32 = 1 << 26;
const AHEAD: u32 = 1 << 27;
const META: u32 = 1 << 28;
const DISCARD: u32 = 1 << 29;
const FUA: u32 = 1 << 31;

fn moment(action: u32) -> Option<Moment> {
    Some(match action {
        1 => Moment::Queued,
        6 => Moment::Requeued,
        7 => Moment::Issued,
        8 => Moment::Completed,
        13 => Moment::Split,
        _ => return None,
    })
}

fn direction(what: u32, bytes: u32) -> RequestOp {
    match what {
        _ if what & DISCARD != 0 => RequestOp::Discard,
        _ if what & WRITE != 0 => RequestOp::Write,
        _ if what & FLUSH != 0 && bytes == 0 => RequestOp::Flush,
        _ => RequestOp::Read,
    }
}

/// One bit for each of [`tally::FLAGS`].
fn flags(what: u32) -> u32 {
    let of = |name: &str| match name {
        "sync" => SYNC,
        "meta" => META,
        "fua" => FUA,
        "preflush" => FLUSH,
        "readahead" => AHEAD,
        _ => 0,
    };
    let set = |(at, (name, _)): (usize, &(&str, &str))| u32::from(what & of(name) != 0) << at;
    tally::FLAGS.iter().enumerate().map(set).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(what: u32, bytes: u32, data: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        text.extend((MAGIC | 7).to_ne_bytes());
        text.extend(1_u32.to_ne_bytes());
        text.extend(5_u64.to_ne_bytes());
        text.extend(9_u64.to_ne_bytes());
        for word in [bytes, what, 77, 8 << 20 | 16, 0] {
            text.extend(word.to_ne_bytes());
        }
        text.extend([0, 0]);
        text.extend((data.len() as u16).to_ne_bytes());
        text.extend(data);
        text
    }

    #[test]
    fn events_are_read_as_the_kernel_writes_them() {
        let mut text = event(NOTE, 0, b"dd\0");
        text.extend(event(WRITE | SYNC | FUA | 7, 4096, b""));
        text.extend(event(FLUSH | 8, 0, b""));
        text.extend(event(OF_DRIVER | 7, 36, b"command"));
        let whole = text.len();
        text.extend(&event(8, 512, b"")[..20]);
        let (mut names, mut events) = (HashMap::new(), Vec::new());
        let took = take(&text, &mut names, &mut events);
        assert_eq!(took, Took { bytes: whole, torn: false });
        let [write, flush] = &events[..] else { panic!("{events:?}") };
        assert_eq!((write.moment, write.bytes, write.flags), (Moment::Issued, 4096, 0b101));
        assert_eq!((write.device, write.sector, &*write.command), ([8, 16], 9, "dd"));
        assert_eq!((flush.moment, flush.direction), (Moment::Completed, RequestOp::Flush));
        let torn = take(&[b'x'; 60], &mut names, &mut events);
        assert_eq!(torn, Took { bytes: 60, torn: true });
    }
}
