//! A ring of io_uring: set-up, registration, submitting and waiting, whatever its entries are.

use std::io;
use std::os::fd::RawFd;

use candor_engine::EngineError;
use candor_engine::clock::{Clock, Ticks};
use candor_engine::host::memory::Mapping;
use candor_plan::blocks::RingOptions as Options;
use io_uring::{IoUring, cqueue, squeue, types};

/// Time that the kernel's submission thread spins before it sleeps.
const SQPOLL_IDLE_MS: u32 = 2000;
/// Flag of the submitting call that also collects completions.
const ENTER_GETEVENTS: u32 = 1;
/// Length limit of a registered buffer.
const FIXED_BUFFER_BYTES_MAX: usize = 1 << 30;

/// A ring, with what is registered.
pub struct Ring<S: squeue::EntryMarker, C: cqueue::EntryMarker> {
    /// The kernel's ring.
    pub inner: IoUring<S, C>,
    /// Clock for the end of submission, where submitting is a call of its own.
    clock: Option<Clock>,
    /// True where files are registered.
    pub fixed_files: bool,
    /// True where the buffers are registered, all as one.
    pub fixed_buffers: bool,
    /// Names of the features in use.
    pub features: Vec<String>,
}

/// A ring that was tried, with the names of its features.
type Attempt<S, C> = (io::Result<IoUring<S, C>>, Vec<&'static str>);

/// Set-ups to try, best first; each drops a feature that older kernels lack.
fn setups<S: squeue::EntryMarker, C: cqueue::EntryMarker>(
    options: &Options,
    entries: u32,
) -> Vec<Attempt<S, C>> {
    let builder = || {
        let mut builder = IoUring::<S, C>::builder();
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

impl<S: squeue::EntryMarker, C: cqueue::EntryMarker> Ring<S, C> {
    /// Sets up a ring in the thread that will use it, for so many operations in flight. With a
    /// clock, submitting is a call of its own, and its end is timed.
    ///
    /// # Errors
    /// The kernel's, with the likely cause: io_uring missing, forbidden, or out of memory.
    pub fn new(
        depth: usize,
        clock: Option<Clock>,
        options: &Options,
    ) -> Result<Ring<S, C>, EngineError> {
        // The kernel's submission thread may show a completion before it frees the entry.
        let spare = if options.sqpoll { 2 } else { 1 };
        let entries = (depth as u32).next_power_of_two() * spare;
        let mut error = None;
        let mut built = None;
        for (result, names) in setups(options, entries) {
            match result {
                Ok(ring) => built = Some((ring, names)),
                Err(cause) => error = Some(cause),
            }
        }
        let Some((inner, names)) = built else {
            let cause = error.unwrap_or_else(|| io::Error::from_raw_os_error(libc::ENOSYS));
            return Err(EngineError::system(setup_failure(&cause))(cause));
        };
        let mut features: Vec<String> = names.into_iter().map(str::to_owned).collect();
        let feature = |on: bool, name: &str| on.then(|| name.to_owned());
        features.extend(feature(options.sqpoll, "sqpoll"));
        features.extend(feature(options.iopoll, "iopoll"));
        Ok(Ring { inner, clock, fixed_files: false, fixed_buffers: false, features })
    }

    /// Registers open files, buffers and the ring itself, as far as plan and kernel allow.
    /// Operations on vectors (`vectored`) cannot use registered buffers.
    ///
    /// # Errors
    /// The kernel's, where the plan requires it.
    pub fn register(
        &mut self,
        descriptors: Option<&[RawFd]>,
        buffers: &Mapping,
        options: &Options,
        vectored: bool,
    ) -> Result<(), EngineError> {
        let submitter = self.inner.submitter();
        if let Some(descriptors) = descriptors
            && registers(options.fixed_files, "files", || submitter.register_files(descriptors))?
        {
            self.fixed_files = true;
            self.features.push("fixed-files".into());
        }
        let bytes = buffers.len();
        let fits = bytes <= FIXED_BUFFER_BYTES_MAX && !vectored;
        if fits || options.fixed_buffers == Some(true) {
            let vector = libc::iovec { iov_base: buffers.as_ptr().cast(), iov_len: bytes };
            // SAFETY: the buffers outlive the ring: the worker drops its engine first.
            if registers(options.fixed_buffers, "buffers", || unsafe {
                submitter.register_buffers(&[vector])
            })? {
                self.fixed_buffers = true;
                self.features.push("fixed-buffers".into());
            }
        }
        if self.inner.submitter().register_ring_fd().is_ok() {
            self.features.push("fixed-ring".into());
        }
        Ok(())
    }

    /// Submits the queued entries and waits until at least `min` have completed or `wait_ns` has
    /// passed. Returns the tick of the submitting call's return, where that is one of its own.
    #[inline(always)]
    pub fn turn(&mut self, min: usize, wait_ns: Option<u64>) -> Option<Ticks> {
        let (submitted, enough) = match self.clock {
            Some(clock) => self.submit(&clock, min),
            None => (None, false),
        };
        match wait_ns {
            _ if enough => {}
            None => {
                // An interrupted or refused call leaves its entries in the queue; the next turn
                // submits them.
                let _ = self.inner.submitter().submit_and_wait(min);
            }
            Some(ns) => self.wait_limited(min, ns),
        }
        submitted
    }

    /// Submits the queued operations without waiting. Returns the tick of the call's return, and
    /// whether enough have completed by then that no wait is needed.
    #[inline(never)]
    fn submit(&mut self, clock: &Clock, min: usize) -> (Option<Ticks>, bool) {
        let queued = self.inner.submission().len();
        if queued == 0 {
            return (None, false);
        }
        // Entries that were not submitted stay in the queue for the call that waits.
        let submitter = self.inner.submitter();
        let _ = if self.inner.params().is_setup_sqpoll() {
            submitter.submit()
        } else {
            // SAFETY: `queued` entries are in the queue, and there is no argument. With the flag,
            // the kernel shows completions at once, instead of at the next wait.
            unsafe { submitter.enter::<libc::sigset_t>(queued as u32, 0, ENTER_GETEVENTS, None) }
        };
        let now = clock.now();
        let all = self.inner.submission().is_empty();
        (Some(now), all && self.inner.completion().len() >= min)
    }

    #[cold]
    fn wait_limited(&mut self, min: usize, ns: u64) {
        let time = types::Timespec::new().sec(ns / 1_000_000_000).nsec((ns % 1_000_000_000) as u32);
        let arguments = types::SubmitArgs::new().timespec(&time);
        // ETIME and EINTR mean that fewer completed, which the caller sees. On EBUSY and EAGAIN the
        // next turn tries again.
        let _ = self.inner.submitter().submit_with_args(min, &arguments);
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
