//! Signals as commands: the first interrupt ends the run cleanly with a partial report, the second
//! ends the process at once. Either way the files that the run made are removed.
//!
//! A signal that is sent more than once for one reason is no second interrupt: SIGHUP (a closed
//! terminal and its shell), SIGXCPU (once per second), and any signal within half a second of the
//! first one (a terminal and a launcher both pass Ctrl-C on).

use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64};

use crate::control::{Command, Control};
use crate::owned_files;

/// The control that the handlers send to.
static CONTROL: OnceLock<Control> = OnceLock::new();
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// Time of the first interrupt on the monotonic clock, in nanoseconds.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);
/// Interrupts so far.
static COUNT: AtomicU32 = AtomicU32::new(0);
/// SIGUSR1 requests an interim report; otherwise it is an interrupt.
static INTERIMS: AtomicBool = AtomicBool::new(false);

/// Interrupts by users, batch systems and limits.
const INTERRUPTS: [libc::c_int; 7] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGXCPU,
    libc::SIGALRM,
];
/// Interrupts of which a second one ends the process at once.
const COUNTED: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGQUIT];
/// Within this time, further signals belong to the first interrupt.
const ONE_INTERRUPT_NS: u64 = 500_000_000;
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

/// The control of this process, driven by signals: each of [`INTERRUPTS`] sends
/// [`Command::Stop`], except those other than SIGINT and SIGTERM that are ignored, as SIGHUP is
/// under `nohup`.
pub fn interrupts() -> Control {
    let control = CONTROL.get_or_init(Control::default).clone();
    // Phases take the time of a stop off the clock.
    handle(libc::SIGCONT, on_continue, libc::SA_RESTART);
    for signal in INTERRUPTS {
        if matches!(signal, libc::SIGINT | libc::SIGTERM) || !is_ignored(signal) {
            // Without SA_RESTART, a blocked call returns.
            handle(signal, on_interrupt, 0);
        }
    }
    control
}

/// Has writes beyond the limit of file sizes fail with EFBIG. A handler, unlike SIG_IGN, is not
/// passed on to programs.
pub fn survive_file_size_limit() {
    handle(libc::SIGXFSZ, on_nothing, libc::SA_RESTART);
}

extern "C" fn on_nothing(_: libc::c_int) {}

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
    INTERIMS.store(true, Relaxed);
    interrupts()
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
    candor_engine::stops::continued();
    AROUND_STOP.get().inspect(|[_, after]| after());
}

extern "C" fn on_interrupt(signal: libc::c_int) {
    if signal == libc::SIGUSR1 && INTERIMS.load(Relaxed) {
        CONTROL.get().map(|control| control.send(Command::Interim));
        return;
    }
    let now_ns = now_ns();
    COUNT.fetch_add(1, SeqCst);
    let first = FIRST_NS.compare_exchange(0, now_ns, Relaxed, Relaxed);
    if is_of_first(first.err(), now_ns) {
        // Threads can take signals of one moment in any order.
        let _ = SIGNAL.fetch_update(Relaxed, Relaxed, |held| {
            (cause_rank(signal) > cause_rank(held)).then_some(signal)
        });
    }
    let is_stopped = CONTROL.get().is_some_and(|control| control.send(Command::Stop));
    // Another thread can stop the run for a later signal before the thread of the first one does.
    let is_overtaken = first.is_ok() && COUNT.load(SeqCst) > 1;
    if is_stopped && !is_overtaken && is_second(signal, first.err(), now_ns) {
        owned_files::remove_from_signal_handler();
        if let Some(function) = BEFORE_EXIT.get() {
            function();
        }
        // SAFETY: ends the process without running anything else; allowed in a handler.
        unsafe { libc::_exit(128 + signal) };
    }
}

/// True for a signal that ends the process at once, `first_ns` being the time of the one before.
/// Without one, the run was stopped by other means, and the user has waited.
fn is_second(signal: libc::c_int, first_ns: Option<u64>, now_ns: u64) -> bool {
    let is_apart = first_ns.is_none() || !is_of_first(first_ns, now_ns);
    COUNTED.contains(&signal) && is_apart
}

/// True for a signal that belongs to the first interrupt, `first_ns` being the time of the one
/// before, if any.
fn is_of_first(first_ns: Option<u64>, now_ns: u64) -> bool {
    first_ns.is_none_or(|first| now_ns.saturating_sub(first) < ONE_INTERRUPT_NS)
}

/// How much a signal tells about why the run ended: of signals that come together, the one that
/// tells most gives the exit code. Launchers add SIGINT and SIGTERM to any other.
fn cause_rank(signal: libc::c_int) -> u8 {
    match signal {
        0 => 0,
        libc::SIGINT | libc::SIGTERM => 1,
        _ => 2,
    }
}

/// The monotonic clock, never 0.
fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to a timespec that outlives the call; allowed in a handler.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    (now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launchers_signal_does_not_hide_the_cause() {
        assert!(cause_rank(libc::SIGXCPU) > cause_rank(libc::SIGINT));
        assert!(cause_rank(libc::SIGTERM) > cause_rank(0));
        assert!(is_of_first(None, 5) && is_of_first(Some(1), ONE_INTERRUPT_NS));
        assert!(!is_of_first(Some(1), 1 + ONE_INTERRUPT_NS));
    }

    #[test]
    fn signals_of_one_reason_are_one_interrupt() {
        let later = 1 + ONE_INTERRUPT_NS;
        for (signal, first_ns, now_ns, second) in [
            (libc::SIGINT, Some(1), 2, false),
            (libc::SIGINT, Some(1), later, true),
            (libc::SIGTERM, Some(1), later, true),
            (libc::SIGQUIT, Some(1), later, true),
            (libc::SIGINT, None, 1, true),
            (libc::SIGXCPU, Some(1), later, false),
            (libc::SIGHUP, Some(1), later, false),
            (libc::SIGUSR1, Some(1), later, false),
            (libc::SIGALRM, None, later, false),
        ] {
            assert_eq!(is_second(signal, first_ns, now_ns), second, "{signal} {first_ns:?}");
        }
    }
}
