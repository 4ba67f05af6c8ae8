//! Live screens in a terminal: events of a run, and activity of devices.
//!
//! A [`Screen`] receives changes, draws itself into a buffer of characters and handles keys; it
//! knows no terminal. A [`Session`] shows a screen on the terminal of the process: a thread draws
//! it a few times a second. The terminal is restored after every end: a normal one, a panic, or a
//! signal ([`restore`], [`suspend`]). A slow terminal never delays a run: if it does not take a
//! frame within a second, one line replaces the screen.
//!
//! ```text
//! let session = Session::start(RunScreen::new(…), color, 1.0, |action| …)?;
//! session.change(|screen, now_ns| screen.on(&event, now_ns));
//! drop(session);                                  // the terminal is as before
//! ```
//!
//! | module | content |
//! | --- | --- |
//! | `run` | the screen of a run, also of a replayed one |
//! | `watch` | the screen of `candor watch` |
//! | `session`, `terminal` | the terminal: taken and restored |
//! | `paint` | a buffer as bytes: the difference from the last frame |
//! | `page`, `marks`, `units` | sections, sparklines and bars, units |

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
    cells
        .map(|cells| {
            cells.iter().map(ratatui_core::buffer::Cell::symbol).chain(["\n"]).collect::<String>()
        })
        .collect()
}
