//! io_uring, used the way its authors recommend: one issuer, completion work deferred to the
//! waiter, registered files and buffers, and one system call that both submits and waits.

mod entry;

use std::io;

use super::{Context, blocking_call};
use candor_engine::clock::{Clock, Ticks};
use candor_engine::issue::Io;
use candor_engine::operation::{Done, Outcome, Slot};
use candor_plan::Blocks;
use candor_plan::blocks::Uring as Options;
use candor_plan::work::BlocksOp;
use io_uring::{IoUring, types};

use crate::slot::BlocksSlot;
use crate::targets::files::{Files, OpenFile};
use candor_engine::EngineError;
use entry::{SqeBuilder, SqeOptions, discard};

/// Time that the kernel's submission thread spins before it sleeps.
const SQPOLL_IDLE_MS: u32 = 2000;
/// Flag of the submitting call that also collects completions.
const ENTER_GETEVENTS: u32 = 1;
/// Length limit of a registered buffer.
const FIXED_BUFFER_BYTES_MAX: usize = 1 << 30;

/// Engine of io_uring.
pub struct Uring {
    ring: IoUring,
    sqe_builder: SqeBuilder,
    /// Options of entries beside the usual, where the plan has any.
    sqe_options: Option<Box<SqeOptions>>,
    /// Trims, which io_uring cannot queue on many kernels, and flushes where it polls.
    blocking: Vec<u32>,
    /// Operations for which the queue had no room.
    refused: Vec<u32>,
    polls: bool,
    /// Clock for the end of submission, where submitting is a call of its own.
    clock: Option<Clock>,
    /// True where trims go through the ring.
    trims: bool,
    features: Vec<String>,
}

/// True where trims go through the ring. All rings but polling ones can punch holes into files;
/// newer kernels can discard on devices.
pub fn queues_trims(files: &Files, blocks: &Blocks) -> bool {
    let Some(options) = blocks.engine.uring() else { return false };
    let may = blocks.zones.is_none() && blocks.mix.trim > 0 && blocks.moves_bytes();
    let devices = || files.all().iter().filter(|file| file.is_device);
    may && !options.iopoll && (devices().next().is_none() || devices().all(can_discard))
}

/// Asks the device to discard zero bytes: a kernel that knows the command reports a wrong length.
fn can_discard(device: &OpenFile) -> bool {
    let Ok(mut ring) = IoUring::new(2) else { return false };
    let entry = discard(types::Fd(device.raw()), 0, 0);
    // SAFETY: the command refers to no memory, and the descriptor is open.
    let queued = unsafe { ring.submission().push(&entry) };
    queued.is_ok()
        && ring.submit_and_wait(1).is_ok()
        && ring.completion().next().is_some_and(|end| end.result() == -libc::EINVAL)
}

/// True if this kernel has io_uring and lets this process use it.
pub fn is_available() -> bool {
    IoUring::new(2).is_ok()
}

/// Set-ups to try, best first; each drops a feature that older kernels lack.
fn setups(options: &Options, entries: u32) -> Vec<(io::Result<IoUring>, Vec<&'static str>)> {
    let builder = || {
        let mut builder = IoUring::builder();
        if options.iopoll {
            builder.setup_iopoll();
        }
        if options.sqpoll {
            builder.setup_sqpoll(SQPOLL_IDLE_MS);
        }
        if let Some(cpu) = options.sqpoll_cpu {
            builder.setup_sqpoll_cpu(cpu);
        }
        builder
    };
    let mut tries = Vec::new();
    let defer = options.defer_taskrun.unwrap_or(true) && !options.sqpoll;
    let insists = options.defer_taskrun == Some(true);
    if defer {
        // With this flag the kernel tells a call that only submits of completions to collect.
        let mut builder = builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag();
        let build = builder.build(entries);
        tries.push((build, vec!["single-issuer", "defer-taskrun"]));
    }
    if insists {
        return tries;
    }
    if tries.iter().all(|(built, _)| built.is_err()) && !options.sqpoll {
        let build = builder().setup_coop_taskrun().setup_taskrun_flag().build(entries);
        tries.push((build, vec!["coop-taskrun"]));
    }
    if tries.iter().all(|(built, _)| built.is_err()) {
        tries.push((builder().build(entries), Vec::new()));
    }
    tries
}

impl Uring {
    /// Sets up a ring in the thread that will use it, and registers files and buffers.
    ///
    /// # Errors
    /// The kernel's, with the likely cause: io_uring missing, forbidden, or out of memory.
    pub fn new(context: &Context<'_>, blocks: &Blocks) -> Result<Uring, EngineError> {
        let options = &blocks.engine.uring().copied().unwrap_or_default();
        // The kernel's submission thread may show a completion before it frees the entry.
        let spare = if options.sqpoll { 2 } else { 1 };
        let entries = (context.depth as u32).next_power_of_two() * spare;
        let mut error = None;
        let mut built = None;
        for (result, names) in setups(options, entries) {
            match result {
                Ok(ring) => built = Some((ring, names)),
                Err(cause) => error = Some(cause),
            }
        }
        let Some((ring, names)) = built else {
            let cause = error.unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS));
            return Err(EngineError::system(setup_failure(&cause))(cause));
        };
        let mut uring = Uring {
            ring,
            sqe_builder: SqeBuilder {
                files: context.files.clone(),
                fixed_files: false,
                fixed_buffers: false,
                no_ops: options.nop,
            },
            sqe_options: SqeOptions::new(context, blocks),
            trims: queues_trims(context.files, blocks),
            blocking: Vec::with_capacity(context.depth),
            refused: Vec::with_capacity(context.depth),
            polls: options.iopoll,
            clock: context.split.then_some(context.clock),
            features: names.into_iter().map(str::to_owned).collect(),
        };
        uring.register(context, options)?;
        Ok(uring)
    }

    fn register(&mut self, context: &Context<'_>, options: &Options) -> Result<(), EngineError> {
        let feature = |on: bool, name: &str| on.then(|| name.to_owned());
        self.features.extend(feature(options.sqpoll, "sqpoll"));
        self.features.extend(feature(options.iopoll, "iopoll"));
        self.features.extend(feature(options.nop, "no-ops"));
        self.features.extend(feature(self.trims, "queued-trims"));
        self.features.extend(self.sqe_options.iter().flat_map(|options| options.features()));
        let submitter = self.ring.submitter();
        let register = || submitter.register_files(&context.files.raw());
        if registers(options.fixed_files, "files", register)? {
            self.sqe_builder.fixed_files = true;
            self.features.push("fixed-files".into());
        }
        let bytes = context.buffers.len();
        let fits = bytes <= FIXED_BUFFER_BYTES_MAX && !options.vectored;
        if fits || options.fixed_buffers == Some(true) {
            let vector = libc::iovec { iov_base: context.buffers.as_ptr().cast(), iov_len: bytes };
            // SAFETY: the buffers outlive the ring: the worker drops its engine first.
            let register = || unsafe { submitter.register_buffers(&[vector]) };
            if registers(options.fixed_buffers, "buffers", register)? {
                self.sqe_builder.fixed_buffers = true;
                self.features.push("fixed-buffers".into());
            }
        }
        if self.ring.submitter().register_ring_fd().is_ok() {
            self.features.push("fixed-ring".into());
        }
        Ok(())
    }

    /// Does the operations that the ring does not queue: after it is submitted, in this thread.
    #[cold]
    fn aside(&mut self, slots: &[Slot], done: &mut Done) {
        let _ = self.ring.submitter().submit();
        while let Some(index) = self.refused.pop() {
            done.push(index, Outcome::error(libc::EBUSY));
        }
        while let Some(index) = self.blocking.pop() {
            done.push(index, blocking_call(&self.sqe_builder.files, &slots[index as usize]));
        }
    }

    /// Submits the queued operations without waiting. Returns the tick of the call's return, and
    /// whether enough have completed by then that no wait is needed.
    #[inline(never)]
    fn submit(&mut self, clock: &Clock, min: usize) -> (Option<Ticks>, bool) {
        let queued = self.ring.submission().len();
        if queued == 0 {
            return (None, false);
        }
        // Entries that were not submitted stay in the queue for the call that waits.
        let submitter = self.ring.submitter();
        let _ = match self.ring.params().is_setup_sqpoll() {
            true => submitter.submit(),
            // SAFETY: as many entries are in the queue, and there is no argument. The flag has the
            // kernel show what is done, which it would put off until it is asked.
            false => unsafe {
                submitter.enter::<libc::sigset_t>(queued as u32, 0, ENTER_GETEVENTS, None)
            },
        };
        let now = clock.now();
        let all = self.ring.submission().is_empty();
        (Some(now), all && self.ring.completion().len() >= min)
    }

    #[cold]
    fn wait_limited(&mut self, min: usize, ns: u64) {
        let time = types::Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
        let arguments = types::SubmitArgs::new().timespec(&time);
        // ETIME and EINTR mean that fewer completed, which the caller sees. On EBUSY and EAGAIN the
        // next turn tries again.
        let _ = self.ring.submitter().submit_with_args(min, &arguments);
    }
}

/// Message for a ring that could not be set up, with the likely cause.
fn setup_failure(cause: &io::Error) -> String {
    let hint = match cause.raw_os_error() {
        Some(libc::ENOSYS) => "; this kernel has no io_uring",
        Some(libc::EPERM) => "; it is forbidden here, see /proc/sys/kernel/io_uring_disabled",
        Some(libc::ENOMEM) => "; the limit of locked memory (ulimit -l) may be too low",
        _ => "",
    };
    format!("set up io_uring{hint}")
}

/// Registers unless the plan forbids it. A failure is an error only where the plan requires it.
fn registers(
    requested: Option<bool>,
    what: &str,
    register: impl FnOnce() -> io::Result<()>,
) -> Result<bool, EngineError> {
    match (requested, requested.unwrap_or(true).then(register)) {
        (_, None) => Ok(false),
        (_, Some(Ok(()))) => Ok(true),
        (Some(true), Some(Err(cause))) => {
            Err(EngineError::system(format!("register {what} with io_uring"))(cause))
        }
        (_, Some(Err(_))) => Ok(false),
    }
}

impl Io for Uring {
    #[inline(always)]
    fn queue(&mut self, slots: &[Slot], batch: &[u32]) {
        let Uring { ring, blocking, refused, sqe_builder, sqe_options, polls, trims, .. } = self;
        let mut queue = ring.submission();
        for &index in batch {
            let slot = &slots[index as usize];
            let aside = match slot.issued() {
                BlocksOp::Read | BlocksOp::ReadBack | BlocksOp::Write => false,
                BlocksOp::Fsync | BlocksOp::Fdatasync => *polls,
                BlocksOp::Trim => !*trims,
                BlocksOp::SyncFileRange => true,
            };
            if aside {
                blocking.push(index);
                continue;
            }
            let entry = match sqe_options {
                None => sqe_builder.entry(slot),
                Some(options) => options.entry(sqe_builder, slot, index),
            };
            let entry = entry.user_data(u64::from(index));
            // SAFETY: the slot's buffer and file live until its completion is reaped.
            if unsafe { queue.push(&entry) }.is_err() {
                refused.push(index);
            }
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
        if !self.blocking.is_empty() || !self.refused.is_empty() {
            self.aside(slots, done);
        }
        let min = min.saturating_sub(done.len());
        let (submitted, enough) = match self.clock {
            Some(clock) => self.submit(&clock, min),
            None => (None, false),
        };
        match wait_ns {
            _ if enough => {}
            None => {
                // An interrupted or refused call leaves its entries in the queue; the next turn
                // submits them.
                let _ = self.ring.submitter().submit_and_wait(min);
            }
            Some(ns) => self.wait_limited(min, ns),
        }
        let translated = self.sqe_builder.no_ops || self.trims;
        for completion in self.ring.completion().take(done.wanted()) {
            let (index, result) = (completion.user_data() as u32, completion.result());
            let mut outcome = Outcome::of_kernel(i64::from(result));
            if translated && result == 0 {
                // No-ops and trims complete with 0 for the whole length.
                let slot = &slots[index as usize];
                if self.sqe_builder.no_ops || slot.issued() == BlocksOp::Trim {
                    outcome = Outcome::Done(slot.length);
                }
            }
            done.push(index, outcome);
        }
        submitted
    }

    fn features(&self) -> Vec<String> {
        self.features.clone()
    }
}
