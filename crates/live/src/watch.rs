//! The screen of `candor watch`: activity of devices, whoever causes it.

use std::collections::BTreeMap;

use candor_record::fmt::column;
use candor_record::{Activity, Watched};
use candor_show::Style as TextStyle;
use ratatui_core::buffer::Buffer;
use ratatui_core::style::Style;
use ratatui_core::text::{Line, Span};

use crate::keys::Key;
use crate::marks::{Timeline, bar};
use crate::page::{self, Scroll, dim, drawn, strong};
use crate::session::{Action, Screen};
use crate::units::{Sort, Units};

/// The screen of `candor watch`.
#[derive(Debug)]
pub struct WatchScreen {
    now: Look,
    /// The look that is shown, where the user has paused.
    paused: Option<Box<Look>>,
    view: View,
    units: Units,
    sort: Sort,
    /// Devices that did nothing are shown too.
    idle: bool,
    /// First line of those that are shown.
    scroll: Scroll,
}

/// One look, and the history until then.
#[derive(Clone, Debug, Default)]
struct Look {
    /// Time of the look.
    title: String,
    watched: Watched,
    /// Bytes per second of each device over time.
    timelines: BTreeMap<String, Timeline>,
}

/// Part of a look that fills the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum View {
    Devices,
    Processes,
    Details,
}

impl View {
    const ALL: [(View, &str); 3] =
        [(View::Devices, "devices"), (View::Processes, "processes"), (View::Details, "details")];

    fn name(self) -> &'static str {
        View::ALL[self as usize].1
    }
}

impl WatchScreen {
    /// Before the first look. Devices that did nothing are shown where `idle` is set.
    pub fn new(idle: bool) -> WatchScreen {
        WatchScreen {
            now: Look::default(),
            paused: None,
            view: View::Devices,
            units: Units::default(),
            sort: Sort::default(),
            idle,
            scroll: Scroll::default(),
        }
    }

    /// Takes a look, with the words that stand above it.
    pub fn look(&mut self, watched: Watched, title: String) {
        let Look { timelines, .. } = &mut self.now;
        for device in &watched.devices {
            let timeline = timelines.entry(device.device.clone()).or_default();
            timeline.push(Some(device.bytes_per_s()));
        }
        timelines.retain(|name, _| watched.devices.iter().any(|device| device.device == *name));
        (self.now.watched, self.now.title) = (watched, title);
    }

    fn shown(&self) -> &Look {
        self.paused.as_deref().unwrap_or(&self.now)
    }

    fn lines(&self, columns: usize) -> Vec<Line<'static>> {
        match self.view {
            View::Devices => self.devices(columns),
            View::Processes => self.processes(),
            View::Details => self.details(columns),
        }
    }

    /// The devices, each with its history and its ceilings.
    fn devices(&self, columns: usize) -> Vec<Line<'static>> {
        let look = self.shown();
        let row = |cells: [&str; 7]| {
            let [device, reads, read, writes, written, queue, busy] = cells;
            let device = candor_show::cut(device, 12);
            format!(
                "{device:<12} {reads:>7} {read:>11} {writes:>8} {written:>11} {queue:>6} {busy:>5}"
            )
        };
        let mut devices: Vec<&Activity> =
            look.watched.devices.iter().filter(|device| self.idle || !device.is_idle()).collect();
        if devices.is_empty() {
            return vec![Line::raw("nothing reached any device")];
        }
        self.sort.apply(&mut devices, |device| device.bytes_per_s());
        let title = ["device", "reads/s", "read", "writes/s", "written", "queue", "busy"];
        let mut lines = vec![Line::styled(row(title), dim())];
        let none = Timeline::default();
        for device in devices {
            let text = row([
                &device.device,
                &column::iops(device.read.per_s),
                &self.units.rate(device.read.bytes_per_s),
                &column::iops(device.write.per_s),
                &self.units.rate(device.write.bytes_per_s),
                &format!("{:.1}", device.queue_mean),
                &column::share(device.busy),
            ]);
            let timeline = look.timelines.get(&device.device).unwrap_or(&none);
            let picture = timeline.sparkline(columns.saturating_sub(68).min(60));
            lines.push(Line::from(vec![
                Span::raw(format!("{text}  ")),
                Span::styled(picture, drawn()),
            ]));
            lines.extend(device.ceilings.iter().filter_map(|ceiling| {
                let used = ceiling.used?;
                let text = format!(" {} of {}", column::share(used), ceiling.element);
                Some(Line::from(vec![
                    Span::styled("  ceiling   ", dim()),
                    Span::styled(bar(used, &[1.0], 30), drawn()),
                    Span::styled(text, Style::new()),
                ]))
            }));
        }
        lines
    }

    /// The processes behind the requests.
    fn processes(&self) -> Vec<Line<'static>> {
        let watched = &self.shown().watched;
        let row = |cells: [&str; 7]| {
            let [pid, command, device, op, per_s, rate, share] = cells;
            let (command, device) = (candor_show::cut(command, 20), candor_show::cut(device, 12));
            format!("{pid:>8} {command:<20} {device:<12} {op:<8} {per_s:>7} {rate:>11} {share:>6}")
        };
        let title = ["process", "command", "device", "op", "per s", "rate", "share"];
        let mut lines = vec![Line::styled(row(title), dim())];
        let mut processes = watched.processes();
        self.sort.apply(&mut processes, |process| process.bytes_per_s);
        for process in &processes {
            lines.push(Line::raw(row([
                &process.pid.to_string(),
                process.command,
                process.device,
                process.direction.name(),
                &column::iops(process.per_s),
                &self.units.rate(process.bytes_per_s),
                &column::share(process.share),
            ])));
        }
        let why =
            watched.untraced.as_ref().map(|missing| format!("{}: {}", missing.what, missing.why));
        match (processes.is_empty(), why) {
            (true, Some(why)) => lines.push(Line::raw(why)),
            (true, None) => lines.push(Line::raw("no process issued a request")),
            (false, _) => {}
        }
        lines
    }

    /// All figures, as they are printed where there is no screen.
    fn details(&self, columns: usize) -> Vec<Line<'static>> {
        let look = self.shown();
        let style = TextStyle { width: columns, ..TextStyle::default() };
        let text = candor_show::watch::text(&look.watched, &look.title, self.idle, &style);
        text.lines().skip(1).map(|line| Line::raw(line.to_owned())).collect()
    }
}

impl Screen for WatchScreen {
    fn draw(&self, _now_ns: u64, buffer: &mut Buffer) {
        let (columns, rows) = (usize::from(buffer.area.width), buffer.area.height);
        let title = format!("candor watch · {}", self.shown().title);
        let paused = if self.paused.is_some() { "PAUSED · " } else { "" };
        let view = format!("{paused}{}", self.view.name());
        page::ends(buffer, 0, &Span::styled(title, strong()), &Span::styled(view, dim()));
        page::scrolled(buffer, 2..rows - 1, &self.lines(columns), &self.scroll);
        let pause = if self.paused.is_some() { "resume" } else { "pause" };
        let idle = if self.idle { "hide" } else { "show" };
        let sort = self.sort.name();
        let keys = format!(
            "v view · u units · s {sort} · i {idle} idle · space {pause} · ↑↓ scroll · q end"
        );
        page::line(buffer, rows - 1, &Line::styled(keys, dim()));
    }

    fn key(&mut self, key: Key) -> Option<Action> {
        match key {
            Key::Char('v' | '\t') => {
                self.view = View::ALL[(self.view as usize + 1) % View::ALL.len()].0;
                self.scroll.to_top();
            }
            Key::Char(digit @ '1'..='3') => {
                self.view = View::ALL[digit as usize - '1' as usize].0;
                self.scroll.to_top();
            }
            Key::Char('u') => self.units = self.units.other(),
            Key::Char('s') => self.sort = self.sort.next(),
            Key::Char('i') => self.idle = !self.idle,
            Key::Char(' ') => {
                self.paused = match self.paused {
                    Some(_) => None,
                    None => Some(Box::new(self.now.clone())),
                };
            }
            Key::Char('q') => return Some(Action::End),
            key => self.scroll.key(key),
        }
        None
    }

    fn line(&self, _now_ns: u64, columns: usize) -> String {
        let look = self.shown();
        let busy = look.watched.devices.iter().filter(|device| !device.is_idle());
        let each = busy
            .map(|device| format!("{} {}", device.device, self.units.rate(device.bytes_per_s())));
        let each: Vec<String> = each.collect();
        let text =
            if each.is_empty() { "nothing reached any device".into() } else { each.join(" · ") };
        candor_show::cut(&text, columns)
    }
}

#[cfg(test)]
mod tests;
