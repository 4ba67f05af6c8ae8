//! Interrupts: the first ends the run cleanly with a partial report, the second ends it at once.
//!
//! Either way the files that candor made are removed.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::Relaxed};

use crate::made;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// Set once the user has interrupted the run.
pub fn interrupted() -> &'static AtomicBool {
    &INTERRUPTED
}

/// The exit code of an interrupted run: 128 and the signal's number; none if there was none.
pub fn interrupt_exit_code() -> Option<u8> {
    match SIGNAL.load(Relaxed) {
        0 => None,
        signal => Some(128 + signal as u8),
    }
}

static ASKED: AtomicBool = AtomicBool::new(false);

/// True once for each SIGUSR1, after [`install_report_handler`].
pub fn asked_by_signal() -> bool {
    ASKED.load(Relaxed) && ASKED.swap(false, Relaxed)
}

extern "C" fn on_report_signal(_: libc::c_int) {
    ASKED.store(true, Relaxed);
}

/// Takes over SIGUSR1, with which people ask for what is done so far.
pub fn install_report_handler() {
    // SAFETY: an all-zero sigaction is valid; the handler only stores to an atomic. Calls that it
    // meets go on: SA_RESTART.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_report_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_signal(signal: libc::c_int) {
    SIGNAL.store(signal, Relaxed);
    if INTERRUPTED.swap(true, Relaxed) {
        made::remove_from_signal_handler();
        // SAFETY: ends the process without running anything else; allowed in a handler.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// Takes over SIGINT, SIGTERM and, unless it is ignored as under `nohup`, SIGHUP.
pub fn install_interrupt_handlers() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: an all-zero sigaction is valid; the handler stores to atomics and, the second
        // time, makes only async-signal-safe calls. Without SA_RESTART, a blocked call returns.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &raw mut action);
            if signal == libc::SIGHUP && action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}
