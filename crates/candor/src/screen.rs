//! The terminal: what goes to stdout, what to stderr, how wide, in colour or not.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use candor_plan::path_text::bytes_of;
use candor_plan::{Problem, Source};
use candor_record::fmt::{visible_json, visible_lines, visible_with_codes};
use candor_show::{Style, problems, progress};

/// Width where there is no terminal to ask.
const COLUMNS: usize = 100;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set or the terminal is a dumb one.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Colours are used, where there is a terminal or is none.
    pub fn on(self, terminal: bool) -> bool {
        let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => terminal && !set("NO_COLOR") && !dumb,
        }
    }
}

/// How text on stdout is dressed.
pub fn style(color: Color) -> Style {
    let terminal = io::stdout().is_terminal();
    let width = columns(rustix::termios::tcgetwinsize(io::stdout()), terminal);
    let color = color.on(terminal);
    HAS_COLORS.store(color, Relaxed);
    Style { color, width, is_screen: terminal }
}

/// Rows and columns of the terminal on stdout; none if there is no terminal, or a dumb one.
pub fn room() -> Option<(usize, usize)> {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    let room = (usize::from(size.ws_row), usize::from(size.ws_col));
    (io::stdout().is_terminal() && !dumb && room.0 > 0 && room.1 > 0).then_some(room)
}

/// The line of progress on stderr, for a terminal or for a log.
pub fn progress_line() -> progress::Line {
    let terminal = io::stderr().is_terminal();
    let columns = columns(rustix::termios::tcgetwinsize(io::stderr()), terminal);
    progress::Line::new(terminal, columns)
}

fn columns(size: rustix::io::Result<rustix::termios::Winsize>, terminal: bool) -> usize {
    let known = size.ok().filter(|_| terminal).map(|size| usize::from(size.ws_col));
    known.filter(|columns| *columns > 0).unwrap_or(COLUMNS)
}

/// Text on stdout has colours.
static HAS_COLORS: AtomicBool = AtomicBool::new(false);

/// Writes text to stdout, with names as a terminal may show them. A reader that stops early
/// (`| head`) is no error.
pub fn data(text: &str) -> Result<(), String> {
    let shown = match HAS_COLORS.load(Relaxed) {
        _ if is_json(text) => visible_json(text),
        true => visible_with_codes(text),
        false => visible_lines(text),
    };
    stream(&*shown).map(|_| ())
}

/// Writes data for programs to stdout: as it is, unless a person sees it.
pub fn machine(text: &str) -> Result<(), String> {
    if is_json(text) || io::stdout().is_terminal() { data(text) } else { stream(text).map(|_| ()) }
}

/// True for a document of JSON, whose strings have a spelling of their own for such characters.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Writes text to stdout that may write a line of the terminal over again.
pub fn renewed(text: &str) -> Result<(), String> {
    stream(&*visible_with_codes(text)).map(|_| ())
}

/// Writes words of another tool to stdout, with the bytes of names unless a person sees them.
pub fn words(text: &str) -> Result<(), String> {
    if io::stdout().is_terminal() { data(text) } else { stream(bytes_of(text)).map(|_| ()) }
}

/// Writes data to stdout as it is; false if the reader is gone.
pub fn stream(text: impl AsRef<[u8]>) -> Result<bool, String> {
    catch_up();
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_ref()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("stdout cannot be written: {error}"))
        }
        written => Ok(written.is_ok()),
    }
}

/// Writes to stderr, with names as a terminal may show them; if that fails, no reader is
/// left.
pub fn tell(text: &str) {
    tell_raw(&visible_lines(text));
}

/// Writes text to stderr that may write a line of the terminal over again.
pub fn tell_renewed(text: &str) {
    tell_raw(&visible_with_codes(text));
}

fn tell_raw(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// True where stderr is a terminal.
pub fn is_read_by_a_person() -> bool {
    io::stderr().is_terminal()
}

/// Sentences that wait until something is printed.
static LATER: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Tells a sentence before whatever is printed next: a terminal that takes nothing holds up what is
/// printed, and nothing before it.
pub fn tell_later(sentence: String) {
    LATER.lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
}

/// Takes a screen off a terminal that took nothing when it ended, and tells what was to be told.
fn catch_up() {
    candor_live::settle();
    let later = std::mem::take(&mut *LATER.lock().unwrap_or_else(PoisonError::into_inner));
    later.iter().for_each(|sentence| tell(&format!("candor: {sentence}\n")));
}

/// Tells an error in a sentence.
pub fn error(sentence: &str) {
    catch_up();
    tell_raw(&format!("{}error: {}\n", fresh_line(), visible_lines(sentence)));
}

/// Tells on a line what ended a run before its time.
pub fn cut_short(sentence: &str) {
    catch_up();
    let sentence = sentence.replace('\n', " ");
    tell_raw(&format!("{}candor: {}\n", fresh_line(), visible_lines(&sentence)));
}

/// The codes that wipe a line of progress off the terminal.
fn fresh_line() -> &'static str {
    if io::stderr().is_terminal() { "\r\x1b[K" } else { "" }
}

/// Tells what is wrong with a plan.
pub fn problems(found: &[Problem], source: &Source, color: Color) {
    catch_up();
    let text = problems::text(found, source, color.on(io::stderr().is_terminal()));
    tell_renewed(&format!("{}{text}", fresh_line()));
}
