//! A copying process: streams and signals that it inherits, and signals that it takes.
//!
//! The runtime opens `/dev/null` in the place of a closed standard stream and ignores SIGPIPE,
//! both before `main`. A copy must not write into that: what was there is noted before the runtime.

use std::io;
use std::os::fd::{IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

/// Standard streams that were closed.
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
static IGNORED_SIGPIPE: AtomicBool = AtomicBool::new(false);
/// SIGUSR1 has come.
static INFO: AtomicBool = AtomicBool::new(false);
/// The signal that ends the copy; 0 for none.
static INTERRUPT: AtomicI32 = AtomicI32::new(0);

// SAFETY: the loader calls each function of this section once, before `main` and any thread.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_START: extern "C" fn() = note_inherited;

extern "C" fn note_inherited() {
    for (fd, closed) in (0..).zip(&CLOSED) {
        // SAFETY: the call reads flags of a descriptor, open or not.
        closed.store(unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0, Relaxed);
    }
    IGNORED_SIGPIPE.store(is_ignored(libc::SIGPIPE), Relaxed);
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is valid, and reading the present one changes nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

/// True where that standard stream was closed when the process began.
pub fn was_closed(stream: usize) -> bool {
    CLOSED.get(stream).is_some_and(|closed| closed.load(Relaxed))
}

/// Takes SIGUSR1, unless `takes_info` says no, and SIGINT, unless it is ignored; puts SIGPIPE back
/// to what the process inherited.
pub fn take_signals(takes_info: bool) {
    if takes_info {
        handle(libc::SIGUSR1, on_info as *const () as usize);
    }
    if !is_ignored(libc::SIGINT) {
        handle(libc::SIGINT, on_interrupt as *const () as usize);
    }
    if !IGNORED_SIGPIPE.load(Relaxed) {
        handle(libc::SIGPIPE, libc::SIG_DFL);
    }
}

fn handle(signal: libc::c_int, action: usize) {
    // SAFETY: an all-zero sigaction is valid; the handlers only store to atomics. Without
    // SA_RESTART a blocked call returns, so that a signal is answered at once.
    unsafe {
        let mut of: libc::sigaction = std::mem::zeroed();
        of.sa_sigaction = action;
        libc::sigaction(signal, &raw const of, ptr::null_mut());
    }
}

extern "C" fn on_info(_: libc::c_int) {
    INFO.store(true, Relaxed);
}

extern "C" fn on_interrupt(signal: libc::c_int) {
    INTERRUPT.store(signal, Relaxed);
}

/// True once for SIGUSR1.
pub fn takes_info() -> bool {
    INFO.load(Relaxed) && INFO.swap(false, Relaxed)
}

/// The signal that is to end the process.
pub fn interrupt() -> Option<i32> {
    Some(INTERRUPT.load(Relaxed)).filter(|signal| *signal != 0)
}

/// Ends the process by a signal, as if it had never been handled.
pub fn end_by(signal: i32) -> ! {
    handle(signal, libc::SIG_DFL);
    // SAFETY: the signal goes to this process and ends it; `_exit` follows where it is blocked.
    unsafe {
        libc::raise(signal);
        libc::_exit(128 + signal)
    }
}

/// Closes a file, with the error that a filesystem may have kept until then.
///
/// # Errors
/// The kernel's; the descriptor is gone all the same.
pub fn close(fd: OwnedFd) -> io::Result<()> {
    // SAFETY: the descriptor is owned, so nobody else closes or uses it.
    match unsafe { libc::close(fd.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
