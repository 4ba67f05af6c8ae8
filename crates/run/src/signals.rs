//! Signals as commands: the first interrupt ends the run cleanly with a partial report, the second
//! ends the process at once. Either way the files that the run made are removed. A terminal that is
//! closed sends SIGHUP more than once (its shell does too), so that only the first one counts.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::control::{Command, Control};
use crate::owned_files;

/// The control that the handlers send to.
static CONTROL: OnceLock<Control> = OnceLock::new();
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Called before a second interrupt ends the process.
static BEFORE_EXIT: OnceLock<fn()> = OnceLock::new();
/// Called before the process stops, and when it goes on.
static AROUND_STOP: OnceLock<[fn(); 2]> = OnceLock::new();

/// Has a function called before a second interrupt ends the process at once: in a signal handler,
/// so it makes async-signal-safe calls only. The first one given stands.
pub fn before_exit(function: fn()) {
    let _ = BEFORE_EXIT.set(function);
}

/// Has one function called before SIGTSTP stops the process, and another one when the process goes
/// on after any stop: in a signal handler, so both make async-signal-safe calls only. The first two
/// given stand; where SIGTSTP is ignored, as below a shell without job control, it stays so.
pub fn around_stop(before: fn(), after: fn()) {
    let _ = AROUND_STOP.set([before, after]);
    if !is_ignored(libc::SIGTSTP) {
        handle(libc::SIGTSTP, on_stop, STOP_FLAGS);
    }
    handle(libc::SIGCONT, on_continue, libc::SA_RESTART);
}

/// The handler sends the signal once more, to its default action.
const STOP_FLAGS: libc::c_int = libc::SA_RESTART | libc::SA_RESETHAND | libc::SA_NODEFER;

/// The exit code of an interrupted run: 128 and the signal's number; none if there was none.
pub fn interrupt_exit_code() -> Option<u8> {
    match SIGNAL.load(Relaxed) {
        0 => None,
        signal => Some(128 + signal as u8),
    }
}

/// The control of this process, driven by signals: SIGINT, SIGTERM and, unless it is ignored as
/// under `nohup`, SIGHUP send [`Command::Stop`].
pub fn interrupts() -> Control {
    let control = CONTROL.get_or_init(Control::default).clone();
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        if signal != libc::SIGHUP || !is_ignored(signal) {
            // Without SA_RESTART, a blocked call returns.
            handle(signal, on_interrupt, 0);
        }
    }
    control
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: an all-zero sigaction is valid, and reading the present one changes nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    }
}

/// The same, where SIGUSR1 sends [`Command::Interim`] besides.
pub fn interrupts_and_interims() -> Control {
    let control = interrupts();
    handle(libc::SIGUSR1, on_interim, libc::SA_RESTART);
    control
}

fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int), flags: libc::c_int) {
    // SAFETY: an all-zero sigaction is valid; the handlers read an initialised cell, store to
    // atomics and make async-signal-safe calls only, which [`before_exit`] and [`around_stop`] ask
    // of their functions.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = flags;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

extern "C" fn on_interim(_: libc::c_int) {
    CONTROL.get().map(|control| control.send(Command::Interim));
}

extern "C" fn on_stop(signal: libc::c_int) {
    let functions = AROUND_STOP.get();
    functions.inspect(|[before, _]| before());
    // SAFETY: allowed in a handler; the signal's action is the default one by now.
    unsafe { libc::raise(signal) };
    handle(signal, on_stop, STOP_FLAGS);
    // A process that nobody could let go on is not stopped, and gets no SIGCONT either.
    functions.inspect(|[_, after]| after());
}

extern "C" fn on_continue(_: libc::c_int) {
    AROUND_STOP.get().inspect(|[_, after]| after());
}

extern "C" fn on_interrupt(signal: libc::c_int) {
    SIGNAL.store(signal, Relaxed);
    let is_second = CONTROL.get().is_some_and(|control| control.send(Command::Stop));
    if is_second && signal != libc::SIGHUP {
        owned_files::remove_from_signal_handler();
        if let Some(function) = BEFORE_EXIT.get() {
            function();
        }
        // SAFETY: ends the process without running anything else; allowed in a handler.
        unsafe { libc::_exit(128 + signal) };
    }
}
