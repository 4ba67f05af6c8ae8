//! Screens of a terminal: events of a run, and looks at devices, as they come.
//!
//! A [`Screen`] takes what is told, draws itself into a buffer of characters and takes keys; it
//! knows no terminal. A [`Session`] puts one on the terminal of the process, draws it a few times
//! a second in a thread of its own, and gives the terminal back as it was after every end: at its
//! own, after a panic, and by [`restore`] and [`suspend`] from a signal handler. Nothing waits for
//! a terminal: events change the screen, and a frame that a slow terminal has not taken within a
//! second makes a line of the screen.
//!
//! | module | for |
//! | --- | --- |
//! | `run` | the screen of a run, and of a stored one that is played again |
//! | `watch` | the screen of `candor watch` |
//! | `session`, `terminal` | the terminal, taken and given back |
//! | `paint` | a buffer as bytes: what differs from the last frame |
//! | `page`, `marks`, `units` | sections of lines, sparklines and bars, units and order |

mod keys;
mod marks;
mod page;
mod paint;
mod run;
mod session;
mod terminal;
mod units;
mod watch;

pub use run::RunScreen;
pub use session::{Action, Screen, Session};
pub use terminal::{restore, resume, settle, suspend};
pub use watch::WatchScreen;

/// The characters of a screen, a line each.
#[cfg(test)]
fn text(buffer: &ratatui_core::buffer::Buffer) -> String {
    let cells = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
    let line = |cells: &[ratatui_core::buffer::Cell]| {
        cells.iter().map(ratatui_core::buffer::Cell::symbol).chain(["\n"]).collect::<String>()
    };
    cells.map(line).collect()
}
