//! The terminal of the process: taken for a screen, and given back as it was after every end.
//!
//! The terminal is opened once more, without blocking: a file description of our own, so that no
//! write waits for a slow terminal and nobody else's writes change.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::panic;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::SeqCst};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios,
};
use rustix::{process, termios};

/// The alternate screen, without a cursor.
const ENTER: &[u8] = b"\x1b[?1049h\x1b[?25l\x1b[0m\x1b[H\x1b[2J";
/// Cleared before it is left, for terminals that have one screen only.
const LEAVE: &[u8] = b"\x1b[0m\x1b[H\x1b[2J\x1b[?25h\x1b[?1049l";
/// Longest wait of a leave for a terminal that takes nothing.
const LEAVE_WAIT: Duration = Duration::from_millis(300);

/// A terminal, as it was found.
pub struct Terminal {
    fd: OwnedFd,
    found: Termios,
    /// A screen is on it.
    taken: AtomicBool,
    /// True where it took nothing when it was given back, so that it still shows the screen.
    owed: AtomicBool,
    /// One of [`NO_STOP`], [`STOPS`] and [`GOES_ON`].
    stop: AtomicU8,
}

/// The process has not been stopped since a screen was put on the terminal.
const NO_STOP: u8 = 0;
/// The process is about to be stopped.
const STOPS: u8 = 1;
/// The process has been stopped and goes on: the terminal may show anything.
const GOES_ON: u8 = 2;

/// The terminal of this process; it has one.
static TERMINAL: OnceLock<Terminal> = OnceLock::new();

/// Gives the terminal back, if a screen is on it. May be called from a signal handler, and by
/// anyone, any number of times.
pub fn restore() {
    if let Some(terminal) = TERMINAL.get() {
        terminal.leave();
    }
}

/// Gives the terminal back while the process is stopped. May be called from a signal handler.
pub fn suspend() {
    if let Some(terminal) = TERMINAL.get() {
        terminal.stop.store(STOPS, SeqCst);
        terminal.leave();
    }
}

/// The process goes on: a screen takes the terminal again. May be called from a signal handler.
pub fn resume() {
    if let Some(terminal) = TERMINAL.get() {
        terminal.stop.store(GOES_ON, SeqCst);
    }
}

/// Takes a screen off the terminal that was given back while it took nothing; waits for it, as
/// whatever is printed next would.
pub fn settle() {
    const PATIENCE: Duration = Duration::from_secs(24 * 3600);
    if let Some(terminal) = TERMINAL.get() {
        // A terminal that is gone shows no screen.
        let _ = terminal.settle(PATIENCE);
    }
}

impl Terminal {
    /// The terminal on stdout, if this process may draw on it.
    pub fn of_process() -> Option<&'static Terminal> {
        if TERMINAL.get().is_none() {
            if !termios::isatty(rustix::stdio::stdout()) {
                return None;
            }
            let terminal = Terminal::open("/proc/self/fd/1").ok()?;
            // Somebody else's is as good: there is one terminal.
            let _ = TERMINAL.set(terminal);
            TERMINAL.get().into_iter().for_each(give_back_on_panic);
        }
        TERMINAL.get()
    }

    /// A terminal by its path.
    fn open(path: &str) -> io::Result<Terminal> {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::open(path, flags, Mode::empty())?;
        let found = termios::tcgetattr(&fd)?;
        let [taken, owed] = [false, false].map(AtomicBool::new);
        Ok(Terminal { fd, found, taken, owed, stop: AtomicU8::new(NO_STOP) })
    }

    /// True where this process is the one that the terminal listens to. Others must not touch it.
    pub fn is_ours(&self) -> bool {
        let foreground = termios::tcgetpgrp(&self.fd);
        foreground.is_ok_and(|group| group == process::getpgrp())
    }

    /// Columns and rows.
    pub fn size(&self) -> (u16, u16) {
        let size = termios::tcgetwinsize(&self.fd);
        size.map_or((0, 0), |size| (size.ws_col, size.ws_row))
    }

    /// Takes it for a screen: keys come one by one and are not echoed. Ctrl-C interrupts and Ctrl-Z
    /// stops as ever; Ctrl-\ would leave the screen behind and becomes a key.
    pub fn enter(&self) -> io::Result<()> {
        let mut taken = self.found.clone();
        taken.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        taken.input_modes.remove(InputModes::IXON);
        taken.special_codes[SpecialCodeIndex::VQUIT] = 0;
        self.stop.store(NO_STOP, SeqCst);
        self.taken.store(true, SeqCst);
        let entered = termios::tcsetattr(&self.fd, OptionalActions::Now, &taken);
        let entered = entered.map_err(io::Error::from).and_then(|()| self.write(ENTER, LEAVE_WAIT));
        if entered.is_err() {
            self.leave();
        }
        entered
    }

    /// True while a screen is on it.
    pub fn is_taken(&self) -> bool {
        self.taken.load(SeqCst)
    }

    /// True from a stop of the process until the screen is on it again.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(SeqCst) != NO_STOP
    }

    /// True where the process has been stopped, goes on and has the terminal.
    pub fn is_back(&self) -> bool {
        self.stop.load(SeqCst) == GOES_ON && self.is_ours()
    }

    /// Gives it back as it was found, unless another process has it by now.
    pub fn leave(&self) {
        let is_others = || termios::tcgetpgrp(&self.fd).is_ok_and(|of| of != process::getpgrp());
        if !self.taken.swap(false, SeqCst) || is_others() {
            return;
        }
        self.owed.store(true, SeqCst);
        if self.settle(LEAVE_WAIT).is_err() {
            // Full of what it never showed: the last frames are worth less than a clean end.
            let _ = termios::tcflush(&self.fd, QueueSelector::OFlush);
            let _ = self.settle(LEAVE_WAIT);
        }
        let _ = termios::tcsetattr(&self.fd, OptionalActions::Now, &self.found);
    }

    /// Takes the screen off it where that is still owed.
    ///
    /// # Errors
    /// The terminal took longer than that, or is gone.
    fn settle(&self, within: Duration) -> io::Result<()> {
        if self.owed.load(SeqCst) {
            self.put(LEAVE, within, || true)?;
            self.owed.store(false, SeqCst);
        }
        Ok(())
    }

    /// Writes all of it, as long as a screen is on it.
    ///
    /// # Errors
    /// The terminal took longer than that, or is gone, or was given back meanwhile.
    pub fn write(&self, bytes: &[u8], within: Duration) -> io::Result<()> {
        self.put(bytes, within, || self.is_taken() && !self.is_stopped())
    }

    /// Writes all of it, whether or not a screen is on it.
    ///
    /// # Errors
    /// The terminal took longer than that, or is gone.
    pub fn print(&self, bytes: &[u8], within: Duration) -> io::Result<()> {
        self.settle(within)?;
        self.put(bytes, within, || true)
    }

    fn put(
        &self,
        mut bytes: &[u8],
        within: Duration,
        goes_on: impl Fn() -> bool,
    ) -> io::Result<()> {
        let begun = Instant::now();
        while !bytes.is_empty() {
            if !goes_on() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match rustix::io::write(&self.fd, bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let left = within.saturating_sub(begun.elapsed());
                    if left.is_zero() || !wait(&mut [PollFd::new(&self.fd, PollFlags::OUT)], left) {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Bytes of keys that were pressed: waits for them, or until `wake` has something to read, but
    /// not longer than that. In the background only the latter, since keys are somebody else's.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn keys(&self, wake: impl AsFd, within: Duration) -> io::Result<Vec<u8>> {
        let mut bytes = [0; 256];
        let waking = PollFd::new(&wake, PollFlags::IN);
        if !self.is_ours() {
            wait(&mut [waking], within);
            return Ok(Vec::new());
        }
        wait(&mut [PollFd::new(&self.fd, PollFlags::IN), waking], within);
        match rustix::io::read(&self.fd, &mut bytes) {
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => Ok(bytes[..read].to_vec()),
            Err(Errno::AGAIN | Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits until `wake` has something to read, but not longer than that.
pub fn nap(wake: impl AsFd, within: Duration) {
    wait(&mut [PollFd::new(&wake, PollFlags::IN)], within);
}

/// Has any panic give the terminal back before it is told.
fn give_back_on_panic(terminal: &'static Terminal) {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        terminal.leave();
        before(panic);
    }));
}

/// Waits until one of these can be used; false if none could within that time. Takes no memory, for
/// a signal handler may be here.
fn wait(fds: &mut [PollFd<'_>], within: Duration) -> bool {
    let within = Timespec::try_from(within).ok();
    poll(fds, within.as_ref()).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    fn pseudo_terminal() -> (OwnedFd, Terminal) {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let master = openpt(flags).expect("a pseudo-terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let terminal = Terminal::open(name.to_str().expect("a path")).expect("it opens");
        (master, terminal)
    }

    fn modes(terminal: &Terminal) -> (LocalModes, InputModes) {
        let now = termios::tcgetattr(&terminal.fd).expect("its settings");
        (now.local_modes, now.input_modes)
    }

    fn read(master: &OwnedFd) -> Vec<u8> {
        let mut bytes = [0; 4096];
        let read = rustix::io::read(master, &mut bytes).expect("what was written");
        bytes[..read].to_vec()
    }

    #[test]
    fn a_panic_anywhere_gives_the_terminal_back() {
        let (master, terminal) = pseudo_terminal();
        let terminal: &'static Terminal = Box::leak(Box::new(terminal));
        give_back_on_panic(terminal);
        let found = modes(terminal);
        terminal.enter().expect("it is taken");
        assert_ne!(modes(terminal), found);
        assert_eq!(read(&master), ENTER);
        let panicked = std::thread::spawn(|| panic!("on purpose")).join();
        assert!(panicked.is_err() && !terminal.is_taken());
        assert_eq!(modes(terminal), found);
        assert_eq!(read(&master), LEAVE);
        // Given back once: later frames and ends write nothing.
        assert!(terminal.write(b"a frame", LEAVE_WAIT).is_err());
        terminal.leave();
        terminal.print(b"x", LEAVE_WAIT).expect("room");
        assert_eq!(read(&master), b"x");
    }

    #[test]
    fn a_terminal_that_takes_nothing_is_given_up() {
        let (_master, terminal) = pseudo_terminal();
        terminal.enter().expect("it is taken");
        termios::tcflow(&terminal.fd, termios::Action::OOff).expect("output stops");
        let begun = Instant::now();
        let within = Duration::from_millis(50);
        let written = terminal.write(b"a frame", within);
        assert!(written.is_err_and(|error| error.kind() == io::ErrorKind::TimedOut));
        assert!(begun.elapsed() >= within);
        terminal.leave();
        assert!(begun.elapsed() < Duration::from_secs(5), "leaving does not wait for long either");
    }
}
