//! A context of the kernel's aio: submitting, and reaping completions from its ring in user space.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

use candor_engine::EngineError;
use candor_engine::operation::{Done, Outcome, Slot};
use rustix::fs::MemfdFlags;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;
const IOCB_CMD_PREADV: u16 = 7;
const IOCB_CMD_PWRITEV: u16 = 8;
/// Flag of a control block that sets an I/O priority.
const IOCB_FLAG_IOPRIO: u32 = 1 << 1;
/// Magic number of a completion ring with the layout below.
const RING_MAGIC: u32 = 0xa10a_10a1;

#[repr(C)]
struct Ring {
    id: u32,
    capacity: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compat_features: u32,
    incompat_features: u32,
    header_bytes: u32,
}

/// An operation for `io_submit` (`struct iocb`, which not every C library declares).
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct ControlBlock {
    data: u64,
    #[cfg(target_endian = "big")]
    call_flags: i32,
    key: u32,
    #[cfg(target_endian = "little")]
    call_flags: i32,
    command: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    length: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

const _: () = assert!(mem::size_of::<ControlBlock>() == 64);

impl ControlBlock {
    /// Sets flags of `preadv2` and `pwritev2`.
    #[inline(always)]
    pub fn set_call_flags(&mut self, flags: i32) {
        self.call_flags = flags;
    }

    /// Sets the I/O priority; 0 keeps the thread's priority.
    #[inline(always)]
    pub fn set_priority(&mut self, priority: u16) {
        self.flags = if priority == 0 { 0 } else { IOCB_FLAG_IOPRIO };
        self.priority = priority as i16;
    }

    /// Moves the bytes of a vector, which must live until the completion is taken.
    #[inline(always)]
    pub fn set_vector(&mut self, vector: &mut libc::iovec) {
        let reads = self.command == IOCB_CMD_PREAD;
        self.command = if reads { IOCB_CMD_PREADV } else { IOCB_CMD_PWRITEV };
        (self.buffer, self.length) = (ptr::from_mut(vector) as u64, 1);
    }
}

/// A flush of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Data and metadata (`fsync`).
    All,
    /// Data (`fdatasync`).
    Data,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

/// A context of the kernel's aio. Dropping it waits for the operations in flight.
pub struct Aio {
    context: libc::c_ulong,
    blocks: Box<[ControlBlock]>,
    /// Control blocks to submit, in order; filled from the front.
    pending: Box<[*mut ControlBlock]>,
    pending_count: usize,
    in_kernel: usize,
    events: Box<[Event]>,
    user_ring: bool,
}

/// True if this kernel has aio and lets this process use it.
pub fn is_available() -> bool {
    Aio::new(1).is_ok()
}

impl Aio {
    /// Sets up a context of `depth` operations.
    ///
    /// # Errors
    /// The kernel's, for instance when `/proc/sys/fs/aio-max-nr` is reached.
    pub fn new(depth: usize) -> Result<Aio, EngineError> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the call writes one number to a variable that outlives it.
        let result = unsafe { libc::syscall(libc::SYS_io_setup, depth, &raw mut context) };
        if result != 0 {
            let what = format!("set up aio for {depth} operations in flight");
            return Err(EngineError::system(what)(io::Error::last_os_error()));
        }
        let event = Event { data: 0, object: 0, result: 0, result2: 0 };
        // SAFETY: the kernel maps the ring's header at the address it returned as the context.
        let user_ring = unsafe { (*(context as *const Ring)).magic } == RING_MAGIC;
        Ok(Aio {
            context,
            blocks: vec![ControlBlock::default(); depth].into(),
            pending: vec![ptr::null_mut(); depth].into(),
            pending_count: 0,
            in_kernel: 0,
            events: vec![event; depth].into(),
            user_ring,
        })
    }

    /// Queues a read or write of a slot's bytes; the block may be changed until it is submitted.
    /// The slot's buffer must live until its completion is taken.
    #[inline(always)]
    pub fn queue(&mut self, index: u32, slot: &Slot, fd: RawFd, writes: bool) -> &mut ControlBlock {
        let block = &mut self.blocks[index as usize];
        block.data = u64::from(index);
        block.command = if writes { IOCB_CMD_PWRITE } else { IOCB_CMD_PREAD };
        block.file = fd as u32;
        block.buffer = slot.buffer.host() as u64;
        block.length = slot.length;
        block.offset = slot.offset as i64;
        self.pending[self.pending_count] = block;
        self.pending_count += 1;
        block
    }

    /// Queues a flush of a file; the command has no bytes, offset or flags.
    pub fn queue_flush(&mut self, index: u32, flush: Flush, fd: RawFd) {
        let command = match flush {
            Flush::All => IOCB_CMD_FSYNC,
            Flush::Data => IOCB_CMD_FDSYNC,
        };
        let block = &mut self.blocks[index as usize];
        *block = ControlBlock {
            data: u64::from(index),
            command,
            file: fd as u32,
            ..ControlBlock::default()
        };
        self.pending[self.pending_count] = block;
        self.pending_count += 1;
    }

    /// True if this kernel flushes by aio (Linux 4.18 and later). Tests it on a file in memory.
    pub fn can_flush(&mut self) -> bool {
        let Ok(file) = rustix::fs::memfd_create("candor-flush", MemfdFlags::CLOEXEC) else {
            return false;
        };
        let mut done = Done::new(1, 1);
        self.queue_flush(0, Flush::All, file.as_raw_fd());
        self.submit(&mut done);
        self.reap(1, None, &mut done);
        done.as_slice().first().is_some_and(|end| end.is_whole(0))
    }

    /// True if operations are pending.
    #[inline(always)]
    pub fn has_pending(&self) -> bool {
        self.pending_count > 0
    }

    /// Takes all available completions; waits until there are at least `min`.
    #[inline(always)]
    pub fn reap(&mut self, min: usize, wait_ns: Option<u64>, done: &mut Done) {
        if self.user_ring {
            self.reap_ring(done);
        }
        let missing = min.saturating_sub(done.len()).min(self.in_kernel);
        if missing > 0 {
            self.reap_call(missing, wait_ns, done);
        }
    }

    /// Method of taking completions, for the report.
    pub fn feature(&self) -> Option<String> {
        self.user_ring.then(|| "user-space-reap".to_owned())
    }

    /// Submits the pending operations. An operation that the kernel rejects becomes a failed
    /// completion; an operation that the kernel cannot accept now stays pending.
    #[inline(always)]
    pub fn submit(&mut self, done: &mut Done) {
        let mut first = 0;
        while first < self.pending_count {
            let count = self.pending_count - first;
            let blocks = self.pending[first..].as_mut_ptr();
            // SAFETY: the pointers are to blocks that live as long as this engine.
            let taken = unsafe { libc::syscall(libc::SYS_io_submit, self.context, count, blocks) };
            if taken > 0 {
                first += taken as usize;
                self.in_kernel += taken as usize;
            } else if self.refused(first, done) {
                first += 1;
            } else {
                break;
            }
        }
        self.pending.copy_within(first..self.pending_count, 0);
        self.pending_count -= first;
    }

    /// Handles a call that submitted nothing. True if the first operation became a failed
    /// completion; false if it can be tried again after completions are reaped.
    #[cold]
    fn refused(&mut self, first: usize, done: &mut Done) -> bool {
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
        if errno == libc::EINTR || errno == libc::EAGAIN {
            return false;
        }
        // SAFETY: pending pointers are to blocks of this engine.
        let index = unsafe { (*self.pending[first]).data } as u32;
        done.push(index, Outcome::error(errno));
        true
    }

    /// Reaps completions from the ring, without a system call.
    #[inline(always)]
    fn reap_ring(&mut self, done: &mut Done) {
        // SAFETY: the ring is mapped as long as the context exists; `new` checked its layout.
        let ring = unsafe { &*(self.context as *const Ring) };
        let events = (self.context as usize + size_of::<Ring>()) as *const Event;
        let mut head = ring.head.load(Ordering::Relaxed);
        let tail = ring.tail.load(Ordering::Acquire);
        let mut wanted = done.wanted();
        while head != tail && wanted > 0 {
            wanted -= 1;
            // SAFETY: indices between head and tail are below the capacity and filled.
            let event = unsafe { *events.add(head as usize) };
            done.push(event.data as u32, Outcome::of_kernel(event.result));
            self.in_kernel -= 1;
            head += 1;
            if head >= ring.capacity {
                head = 0;
            }
        }
        ring.head.store(head, Ordering::Release);
    }

    /// Waits in the kernel for at least `min` completions.
    fn reap_call(&mut self, min: usize, wait_ns: Option<u64>, done: &mut Done) {
        let room = done.wanted();
        let timeout = wait_ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        });
        let timeout = timeout.as_ref().map_or(ptr::null(), |t| t as *const libc::timespec);
        // SAFETY: the array has room for the requested events; the timeout outlives the call.
        let got = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context,
                min,
                room,
                self.events.as_mut_ptr(),
                timeout,
            )
        };
        self.in_kernel -= got.max(0) as usize;
        for event in &self.events[..got.max(0) as usize] {
            done.push(event.data as u32, Outcome::of_kernel(event.result));
        }
    }
}

impl Drop for Aio {
    fn drop(&mut self) {
        // SAFETY: this value owns the context; the call returns after all operations ended, so no
        // buffer is written afterwards.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}
