//! A program on a terminal of our own, and what that terminal shows at a moment, as SVG.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::num::NonZeroU16;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use vt100::{Cell, Color, Parser, Screen};

use crate::Outcome;

/// Columns and rows.
type Room = (u16, u16);

/// Width and height of a cell in the picture.
const CELL: (f64, f64) = (8.4, 18.0);
/// Space around the cells.
const MARGIN: f64 = 16.0;

/// The colours of candor's dark charts.
const BACKGROUND: &str = "#15181c";
const FOREGROUND: &str = "#e8eaed";
const DIM: &str = "#a3abb4";
/// From black to white, as terminals count them.
const COLORS: [&str; 8] =
    [BACKGROUND, "#ff8c4a", "#3ecfa0", "#efc04a", "#4da6e0", "#e6a0c8", "#8fd0f5", FOREGROUND];

/// Whatever a program wrote to its terminal, piece by piece.
pub struct Recording {
    pieces: Vec<Vec<u8>>,
    room: Room,
}

impl Recording {
    /// Runs a program to its end.
    pub fn of(program: &Command, room: Room) -> Outcome<Recording> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let (ws_col, ws_row) = room;
        tcsetwinsize(&master, Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 })?;
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
        let name = ptsname(&master, Vec::new())?;
        let slave = File::from(rustix::fs::open(name, flags, Mode::empty())?);
        let mut session = in_a_session(program);
        session.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        session.stdin(slave.try_clone()?).stdout(slave.try_clone()?).stderr(slave);
        let mut child = session.spawn()?;
        // They hold the other end open, whose end ends the reading.
        drop(session);

        let mut reader = File::from(master);
        let mut pieces = Vec::new();
        let mut buffer = [0; 65536];
        // The last writer's end is an error.
        while let Ok(bytes @ 1..) = reader.read(&mut buffer) {
            pieces.push(buffer[..bytes].to_vec());
        }
        let recording = Recording { pieces, room };
        let ended = child.wait()?;
        if ended.success() {
            Ok(recording)
        } else {
            Err(format!("{program:?}: {ended}\n{}", recording.end().contents()).into())
        }
    }

    /// The alternate screen when it showed all of these texts for the last time.
    pub fn last_with(&self, texts: &[&str]) -> Option<Screen> {
        let mut parser = self.parser();
        let mut last = None;
        for bytes in &self.pieces {
            parser.process(bytes);
            let screen = parser.screen();
            let contents = screen.contents();
            if screen.alternate_screen() && texts.iter().all(|text| contents.contains(text)) {
                last = Some(screen.clone());
            }
        }
        last
    }

    fn end(&self) -> Screen {
        let mut parser = self.parser();
        self.pieces.iter().for_each(|bytes| parser.process(bytes));
        parser.screen().clone()
    }

    fn parser(&self) -> Parser {
        let count = |count: u16| NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN);
        Parser::new(count(self.room.1), count(self.room.0), 0)
    }
}

/// The program as the leader of a session, whose terminal is its stdin.
fn in_a_session(program: &Command) -> Command {
    let mut session = Command::new("setsid");
    session.args(["--wait", "--ctty"]).arg(program.get_program()).args(program.get_args());
    if let Some(dir) = program.get_current_dir() {
        session.current_dir(dir);
    }
    let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    session.envs(set);
    session
}

/// The screen as a picture: one text for cells beside each other that look alike.
pub fn svg(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let width = f64::from(columns) * CELL.0 + 2.0 * MARGIN;
    let height = f64::from(rows) * CELL.1 + 2.0 * MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-size=\"14\" \
         font-family=\"ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace\">\n\
         <rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n"
    );
    for row in 0..rows {
        let mut column = 0;
        while let Some(run) = Run::at(screen, row, column) {
            column += run.texts.len() as u16;
            run.draw(&mut svg);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Cells beside each other that look alike: their texts.
struct Run {
    x: f64,
    y: f64,
    look: Look,
    texts: Vec<String>,
}

/// Looks of a cell.
#[derive(Clone, PartialEq)]
struct Look {
    ink: &'static str,
    back: &'static str,
    is_bold: bool,
    /// A part of the cell, filled, in place of a letter.
    is_block: bool,
}

impl Run {
    fn at(screen: &Screen, row: u16, column: u16) -> Option<Run> {
        let look = Look::of(screen.cell(row, column)?);
        let mut texts = Vec::new();
        while let Some(cell) = screen.cell(row, column + texts.len() as u16)
            && Look::of(cell) == look
        {
            let text = cell.contents();
            texts.push(if text.is_empty() { " ".to_owned() } else { text.to_owned() });
        }
        let x = MARGIN + f64::from(column) * CELL.0;
        Some(Run { x, y: MARGIN + f64::from(row) * CELL.1, look, texts })
    }

    fn draw(&self, svg: &mut String) {
        let Run { x, y, look, texts } = self;
        let Look { ink, back, is_bold, is_block } = look;
        let width = texts.len() as f64 * CELL.0;
        // Writing to a text cannot fail.
        if *back != BACKGROUND {
            let height = CELL.1;
            let _ = writeln!(
                svg,
                "<path fill=\"{back}\" d=\"M{x:.1} {y:.1}h{width:.1}v{height}h-{width:.1}z\"/>"
            );
        }
        if *is_block {
            let blocks = texts.iter().enumerate().map(|(at, text)| {
                let (wide, high) = filled(text).unwrap_or_default();
                let (x, y) = (x + at as f64 * CELL.0, y + (1.0 - high) * CELL.1);
                let (wide, high) = (wide * CELL.0, high * CELL.1);
                format!("M{x:.1} {y:.1}h{wide:.1}v{high:.1}h-{wide:.1}z")
            });
            let _ = writeln!(svg, "<path fill=\"{ink}\" d=\"{}\"/>", blocks.collect::<String>());
            return;
        }
        let text = texts.concat();
        let (text, blank) = (text.trim_end(), text.len() - text.trim_start().len());
        if text.is_empty() {
            return;
        }
        let (x, y) = (x + blank as f64 * CELL.0, y + CELL.1 * 0.75);
        let width = (text.chars().count() - blank) as f64 * CELL.0;
        let weight = if *is_bold { " font-weight=\"700\"" } else { "" };
        let text = text.trim_start().replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{ink}\"{weight} textLength=\"{width:.1}\" \
             xml:space=\"preserve\">{text}</text>"
        );
    }
}

impl Look {
    fn of(cell: &Cell) -> Look {
        let plain = if cell.dim() { DIM } else { FOREGROUND };
        let (ink, back) = (color(cell.fgcolor(), plain), color(cell.bgcolor(), BACKGROUND));
        let (ink, back) = if cell.inverse() { (back, ink) } else { (ink, back) };
        let is_block = filled(cell.contents()).is_some();
        Look { ink, back, is_bold: cell.bold(), is_block }
    }
}

/// Share of the cell's width and height that a block element fills: fonts leave gaps between them.
fn filled(text: &str) -> Option<(f64, f64)> {
    let mut chars = text.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    match u32::from(c) {
        at @ 0x2581..=0x2588 => Some((1.0, f64::from(at - 0x2580) / 8.0)),
        at @ 0x2589..=0x258f => Some((f64::from(0x2590 - at) / 8.0, 1.0)),
        _ => None,
    }
}

/// One of the eight colours of every terminal; candor uses no others.
fn color(color: Color, default: &'static str) -> &'static str {
    match color {
        Color::Idx(at) => COLORS[usize::from(at % 8)],
        Color::Default | Color::Rgb(..) => default,
    }
}
