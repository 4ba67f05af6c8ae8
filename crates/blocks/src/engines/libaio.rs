//! The kernel's aio. Completions are reaped from its ring in user space.
//!
//! Submitting is a call of its own, and blocks for buffered files. Its time is reported.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::MemfdFlags;

use super::{Context, Flushes, blocking_call};
use candor_engine::clock::{Clock, Ticks};
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Outcome, Slot};
use candor_plan::Blocks;
use candor_plan::blocks::Libaio as Options;
use candor_plan::work::BlocksOp;

use super::flags::CallFlags;

use crate::slot::BlocksSlot;
use crate::targets::files::Files;
use candor_engine::EngineError;

const IOCB_CMD_PREAD: u16 = 0;
const IOCB_CMD_PWRITE: u16 = 1;
const IOCB_CMD_FSYNC: u16 = 2;
const IOCB_CMD_FDSYNC: u16 = 3;
const IOCB_CMD_PREADV: u16 = 7;
const IOCB_CMD_PWRITEV: u16 = 8;
/// Flag of a control block with an I/O priority of its own.
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

/// An operation as `io_submit` takes it (`struct iocb`, which not every C library declares).
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
    pub fn queue(
        &mut self,
        index: u32,
        slot: &Slot,
        (fd, writes): (RawFd, bool),
    ) -> &mut ControlBlock {
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

    /// Queues a flush of a file: the command has neither bytes nor place nor flags.
    fn queue_flush(&mut self, index: u32, command: u16, fd: RawFd) {
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

    /// True if this kernel flushes by aio, as Linux does from 4.18 on. It flushes a file in memory.
    fn can_flush(&mut self) -> bool {
        let Ok(file) = rustix::fs::memfd_create("candor-flush", MemfdFlags::CLOEXEC) else {
            return false;
        };
        let mut done = Done::new(1, 1);
        self.queue_flush(0, IOCB_CMD_FSYNC, file.as_raw_fd());
        self.submit(&mut done);
        self.reap(1, None, &mut done);
        done.as_slice().first().is_some_and(|end| end.is_whole(0))
    }

    /// True where operations wait to be submitted.
    #[inline(always)]
    pub fn has_pending(&self) -> bool {
        self.pending_count > 0
    }

    /// Takes completions: those that are there, and as many as are missing of `min` once they come.
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

    /// The way in which completions are taken, for the report.
    pub fn feature(&self) -> Option<String> {
        self.user_ring.then(|| "user-space-reap".to_owned())
    }

    /// Submits the pending operations. An operation that the kernel refuses for good becomes a
    /// failed completion; one that it cannot take now stays pending.
    #[inline(always)]
    pub fn submit(&mut self, done: &mut Done) {
        let mut first = 0;
        while first < self.pending_count {
            let count = self.pending_count - first;
            let blocks = self.pending[first..].as_mut_ptr();
            // SAFETY: the pointers lead to blocks that live as long as this engine.
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
        // SAFETY: pending pointers lead to blocks of this engine.
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
        // SAFETY: the array has room for as many events as are asked for; the timeout outlives
        // the call.
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
        // SAFETY: the context is this value's; the call returns after all operations ended, so no
        // buffer is written to afterwards.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

/// Engine of the kernel's aio.
pub struct Libaio {
    aio: Aio,
    files: Arc<Files>,
    clock: Clock,
    /// Vector of each operation's buffer; empty where operations name their buffers themselves.
    vectors: Box<[libc::iovec]>,
    /// Trims, and flushes on kernels without them, which the calling thread does at the next turn.
    blocking: Vec<u32>,
    flushes: Flushes,
    flags: CallFlags,
    /// True where operations have priorities of their own.
    priorities: bool,
}

impl Libaio {
    /// Sets up a context of `depth` operations.
    ///
    /// # Errors
    /// The kernel's, for instance when `/proc/sys/fs/aio-max-nr` is reached.
    pub fn new(
        from: &Context<'_>,
        blocks: &Blocks,
        options: Options,
    ) -> Result<Libaio, EngineError> {
        let vector = libc::iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        let vectors = if options.vectored { from.depth } else { 0 };
        let mut aio = Aio::new(from.depth)?;
        let flushes = if !blocks.flushes() {
            Flushes::None
        } else if aio.can_flush() {
            Flushes::Queued
        } else {
            Flushes::Calls
        };
        Ok(Libaio {
            aio,
            flushes,
            files: from.files.clone(),
            clock: from.clock,
            vectors: vec![vector; vectors].into(),
            blocking: Vec::with_capacity(from.depth),
            flags: CallFlags::new(options.flags),
            priorities: !blocks.priorities.is_empty(),
        })
    }

    #[inline(always)]
    fn queue_one(&mut self, index: u32, slot: &Slot) {
        let (writes, flags) = match slot.issued() {
            BlocksOp::Read => (false, self.flags.read),
            BlocksOp::Write => (true, self.flags.write),
            BlocksOp::Fsync if self.flushes == Flushes::Queued => {
                let fd = self.files.get(slot.handle).raw();
                return self.aio.queue_flush(index, IOCB_CMD_FSYNC, fd);
            }
            BlocksOp::Fdatasync if self.flushes == Flushes::Queued => {
                let fd = self.files.get(slot.handle).raw();
                return self.aio.queue_flush(index, IOCB_CMD_FDSYNC, fd);
            }
            _ => return self.blocking.push(index),
        };
        let block = self.aio.queue(index, slot, (self.files.get(slot.handle).raw(), writes));
        block.call_flags = flags;
        if self.priorities {
            block.flags = if slot.priority == 0 { 0 } else { IOCB_FLAG_IOPRIO };
            block.priority = slot.priority as i16;
        }
        if let Some(vector) = self.vectors.get_mut(index as usize) {
            (vector.iov_base, vector.iov_len) = (slot.buffer.host().cast(), slot.length as usize);
            block.command = vectored(block.command);
            (block.buffer, block.length) = (ptr::from_mut(vector) as u64, 1);
        }
    }
}

/// The command that names its buffer by a vector.
fn vectored(command: u16) -> u16 {
    if command == IOCB_CMD_PREAD { IOCB_CMD_PREADV } else { IOCB_CMD_PWRITEV }
}

impl Io for Libaio {
    #[inline(always)]
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        for &index in batch {
            self.queue_one(index, &slots[index as usize]);
        }
    }

    #[inline(always)]
    fn turn(
        &mut self,
        slots: &[Slot],
        min: usize,
        wait_ns: Option<u64>,
        done: &mut Done,
    ) -> Option<Ticks> {
        let mut submitted = None;
        if self.aio.has_pending() {
            self.aio.submit(done);
            submitted = Some(self.clock.now());
        }
        while let Some(index) = self.blocking.pop() {
            done.push(index, blocking_call(&self.files, &slots[index as usize]));
        }
        self.aio.reap(min, wait_ns, done);
        submitted
    }

    fn features(&self) -> Vec<String> {
        let vectored = (!self.vectors.is_empty()).then(|| "vectored".to_owned());
        let flushes = self.flushes.feature().map(str::to_owned);
        let own = self.aio.feature().into_iter().chain(vectored).chain(flushes);
        own.chain(self.flags.names.clone()).collect()
    }
}
