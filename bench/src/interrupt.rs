//! Ctrl-C and its kin: remembered, so that the run unwinds and cleans up after itself.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn remember(_signal: libc::c_int) {
    ASKED.store(true, Ordering::SeqCst);
}

/// From now on SIGINT, SIGTERM and SIGHUP do not end the process but are remembered.
pub fn catch() {
    let handler = remember as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic, which is safe in a signal handler.
        unsafe { libc::signal(signal, handler) };
    }
}

/// True once one of them has come.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
