//! The screen of a run: the state that its events told, and how the user wants to see it.

mod draw;
mod state;

use candor_record::Event;
use ratatui_core::buffer::Buffer;

use crate::keys::Key;
use crate::page::Scroll;
use crate::session::{Action, Screen};
use crate::units::{Sort, Units};

use self::state::State;

/// The screen of a run.
#[derive(Debug, Default)]
pub struct RunScreen {
    state: State,
    /// The state that is shown, where the user has frozen it.
    frozen: Option<Box<State>>,
    view: View,
    units: Units,
    sort: Sort,
    /// First line of a view that has more than fit.
    scroll: Scroll,
    /// The user asked for the end.
    ending: bool,
    /// The events are those of a stored report.
    replay: bool,
}

/// Part of a run that fills the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum View {
    #[default]
    Overview,
    Jobs,
    Workers,
    Devices,
    Findings,
}

impl View {
    const ALL: [(View, &str); 5] = [
        (View::Overview, "overview"),
        (View::Jobs, "jobs"),
        (View::Workers, "workers"),
        (View::Devices, "devices"),
        (View::Findings, "findings"),
    ];

    fn name(self) -> &'static str {
        View::ALL[self as usize].1
    }
}

impl RunScreen {
    /// The screen of a stored run that is played again.
    pub fn of_replay() -> RunScreen {
        RunScreen { replay: true, ..RunScreen::default() }
    }

    /// Takes an event that came at that time.
    pub fn on(&mut self, event: &Event, now_ns: u64) {
        self.state.on(event, now_ns);
    }

    fn shown(&self) -> &State {
        self.frozen.as_deref().unwrap_or(&self.state)
    }
}

impl Screen for RunScreen {
    fn draw(&self, now_ns: u64, buffer: &mut Buffer) {
        draw::screen(self, now_ns, buffer);
    }

    fn key(&mut self, key: Key) -> Option<Action> {
        let before = self.view;
        match key {
            Key::Char('v' | '\t') => {
                self.view = View::ALL[(self.view as usize + 1) % View::ALL.len()].0;
            }
            Key::Char(digit @ '1'..='5') => self.view = View::ALL[digit as usize - '1' as usize].0,
            Key::Char('u') => self.units = self.units.other(),
            Key::Char('s') => self.sort = self.sort.next(),
            Key::Char(' ') => {
                let state = &self.state;
                self.frozen = match self.frozen {
                    Some(_) => None,
                    None => Some(Box::new(state.clone())),
                };
            }
            Key::Char('q') => {
                self.ending = true;
                return Some(Action::End);
            }
            key => self.scroll.key(key),
        }
        if self.view != before {
            self.scroll.to_top();
        }
        None
    }

    fn line(&self, now_ns: u64, columns: usize) -> String {
        candor_show::cut(&draw::line(self.shown(), now_ns), columns)
    }
}

#[cfg(test)]
mod tests;
