//! A screen on the terminal: drawn by a thread of its own, a few times a second, so that whoever
//! brings news never waits for a terminal.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::Style;
use rustix::event::{EventfdFlags, eventfd};

use crate::keys::{self, Key};
use crate::paint::Painter;
use crate::terminal::{self, Terminal};

/// Columns and rows that a screen needs.
pub const ROOM: (u16, u16) = (80, 24);
/// Time between two frames, at least.
const FRAME: Duration = Duration::from_millis(100);
/// Time between two frames while nothing happens: clocks go on.
const IDLE_FRAME: Duration = Duration::from_millis(500);
/// A terminal that takes longer for one frame gets a line instead of a screen.
const SLOW: Duration = Duration::from_secs(1);

/// Content of a terminal. Times are ns since it was put there.
pub trait Screen: Send {
    /// Draws it, as of that time, on all of a buffer of at least [`ROOM`].
    fn draw(&self, now_ns: u64, buffer: &mut Buffer);
    /// Takes a key.
    fn key(&mut self, key: Key) -> Option<Action>;
    /// The same in a line of at most so many columns, for where there is no room.
    fn line(&self, now_ns: u64, columns: usize) -> String;
}

/// A wish of who sits at the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// End it.
    End,
}

/// A screen that is on the terminal.
pub struct Session<S> {
    shared: Arc<Shared<S>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<S> {
    screen: Mutex<S>,
    /// Raised with each change of the screen.
    changes: AtomicU64,
    over: AtomicBool,
    wake: OwnedFd,
    /// Nanoseconds of the screen's clock that pass in one of the wall's.
    speed: f64,
    begun: Instant,
}

impl<S> Shared<S> {
    fn screen(&self) -> MutexGuard<'_, S> {
        self.screen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ns(&self) -> u64 {
        (self.begun.elapsed().as_nanos() as f64 * self.speed) as u64
    }
}

impl<S: Screen + 'static> Session<S> {
    /// Puts a screen on the terminal of this process; gives it back where there is none to draw on:
    /// stdout is no terminal, or one without the room, or the process is in the background. `act`
    /// takes what the user wishes. The screen's clock runs `speed` times as fast as the wall's.
    ///
    /// # Errors
    /// The screen.
    pub fn start(
        screen: S,
        color: bool,
        speed: f64,
        act: impl FnMut(Action) + Send + 'static,
    ) -> Result<Session<S>, S> {
        let terminal = Terminal::of_process().filter(|terminal| {
            let (columns, rows) = terminal.size();
            terminal.is_ours() && columns >= ROOM.0 && rows >= ROOM.1
        });
        let Some((terminal, wake)) = terminal.zip(eventfd(0, EventfdFlags::CLOEXEC).ok()) else {
            return Err(screen);
        };
        let shared = Arc::new(Shared {
            screen: Mutex::new(screen),
            changes: AtomicU64::new(1),
            over: AtomicBool::new(false),
            wake,
            speed,
            begun: Instant::now(),
        });
        let drawn = Artist { terminal, shared: shared.clone(), act, painter: Painter::new(color) };
        let thread = thread::Builder::new().name("candor/screen".into()).spawn(|| drawn.run());
        match (thread, shared) {
            (Ok(thread), shared) => Ok(Session { shared, thread: Some(thread) }),
            (Err(_), shared) => match Arc::try_unwrap(shared) {
                Ok(shared) => {
                    Err(shared.screen.into_inner().unwrap_or_else(PoisonError::into_inner))
                }
                Err(shared) => Ok(Session { shared, thread: None }),
            },
        }
    }

    /// Changes the screen; `change` gets its time too.
    pub fn change(&self, change: impl FnOnce(&mut S, u64)) {
        let now_ns = self.shared.now_ns();
        change(&mut self.shared.screen(), now_ns);
        self.shared.changes.fetch_add(1, SeqCst);
    }

    /// Time of the screen's clock, in ns.
    pub fn now_ns(&self) -> u64 {
        self.shared.now_ns()
    }
}

/// Gives the terminal back as it was.
impl<S> Drop for Session<S> {
    fn drop(&mut self) {
        self.shared.over.store(true, SeqCst);
        // Without it the thread looks a frame later.
        let _ = rustix::io::write(&self.shared.wake, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            // Its panic has given the terminal back and was told.
            let _ = thread.join();
        }
    }
}

/// Draws a screen and takes keys.
struct Artist<S, A> {
    terminal: &'static Terminal,
    shared: Arc<Shared<S>>,
    act: A,
    painter: Painter,
}

impl<S: Screen, A: FnMut(Action)> Artist<S, A> {
    fn run(mut self) {
        let is_well = loop {
            let drawn = self.draw_on();
            if drawn.is_ok() || !self.terminal.is_stopped() {
                break drawn.is_ok();
            }
            while !self.shared.over.load(SeqCst) && !self.terminal.is_back() {
                terminal::nap(&self.shared.wake, FRAME);
            }
            if !self.terminal.is_back() {
                break true;
            }
        };
        self.terminal.leave();
        if !is_well {
            self.lines();
        }
    }

    /// Takes the terminal and draws until it is over.
    ///
    /// # Errors
    /// The terminal took too long, is gone, or was given back by a panic or for a stop.
    fn draw_on(&mut self) -> io::Result<()> {
        self.painter.forget();
        self.terminal.enter()?;
        let mut drawn = (0, (0, 0));
        let mut at: Option<Instant> = None;
        while !self.shared.over.load(SeqCst) {
            if !self.terminal.is_taken() || self.terminal.is_stopped() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let now = (self.shared.changes.load(SeqCst), self.terminal.size());
            let since = at.map_or(IDLE_FRAME, |at| at.elapsed());
            let is_due = since >= IDLE_FRAME || now != drawn && since >= FRAME;
            if is_due && self.terminal.is_ours() {
                (drawn, at) = (now, Some(Instant::now()));
                self.draw(now.1.0, now.1.1)?;
            }
            let pause = if is_due { FRAME } else { FRAME.saturating_sub(since).max(FRAME / 4) };
            for key in keys::of_bytes(&self.terminal.keys(&self.shared.wake, pause)?) {
                self.key(key);
            }
        }
        Ok(())
    }

    fn draw(&mut self, columns: u16, rows: u16) -> io::Result<()> {
        let mut buffer = Buffer::empty(Rect::new(0, 0, columns, rows));
        let now_ns = self.shared.now_ns();
        let screen = self.shared.screen();
        if columns >= ROOM.0 && rows >= ROOM.1 {
            screen.draw(now_ns, &mut buffer);
        } else {
            let line = screen.line(now_ns, usize::from(columns));
            let room = format!("a screen needs {} columns and {} rows", ROOM.0, ROOM.1);
            for (y, text) in [line, room].iter().take(usize::from(rows)).enumerate() {
                buffer.set_stringn(0, y as u16, text, usize::from(columns), Style::new());
            }
        }
        drop(screen);
        self.terminal.write(&self.painter.paint(buffer), SLOW)
    }

    fn key(&mut self, key: Key) {
        let action = self.shared.screen().key(key);
        self.shared.changes.fetch_add(1, SeqCst);
        if let Some(action) = action {
            (self.act)(action);
        }
    }

    /// One line instead of the screen, as often as a slow terminal takes it.
    fn lines(&self) {
        let mut last = String::new();
        while !self.shared.over.load(SeqCst) {
            let columns = usize::from(self.terminal.size().0).max(20);
            let line = self.shared.screen().line(self.shared.now_ns(), columns - 1);
            if self.terminal.is_ours() && line != last {
                // A line that finds no room is followed by a newer one.
                let text = format!("\r{line}\x1b[K");
                if self.terminal.print(text.as_bytes(), FRAME).is_ok() {
                    last = line;
                }
            }
            terminal::nap(&self.shared.wake, IDLE_FRAME);
        }
        let _ = self.terminal.print(b"\r\x1b[K", FRAME);
    }
}
