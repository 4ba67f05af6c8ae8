//! The screens on a real terminal: a pseudo-terminal whose other end these tests hold.

use std::fs::File;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, Termios, Winsize, tcflow, tcgetattr, tcsetwinsize};

use crate::support::{Scratch, candor};

/// Nothing here takes so long; what does hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// Candor on a terminal. Killed when dropped.
struct OnTerminal {
    master: OwnedFd,
    /// Kept open, so that the terminal is there after candor's end, and to look at its settings.
    slave: OwnedFd,
    found: Termios,
    parser: vt100::Parser,
    /// All that was written.
    bytes: Vec<u8>,
    child: Child,
}

impl OnTerminal {
    fn start(words: &[&str], term: &str, size: (u16, u16)) -> OnTerminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("its other end");
        fcntl_setfl(&master, OFlags::NONBLOCK).expect("reads that do not wait");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let open = || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::open(&name, flags, Mode::empty()).expect("the terminal opens")
        };
        let slave = open();
        let found = tcgetattr(&slave).expect("its settings");
        let stdio = || Stdio::from(File::from(open()));
        let mut terminal = OnTerminal {
            parser: parser_of(size),
            bytes: Vec::new(),
            // Becomes the session's leader, and its stdin the terminal of the session.
            child: {
                resize(&master, size);
                let mut command = Command::new("setsid");
                command.arg("--ctty").arg(env!("CARGO_BIN_EXE_candor")).args(words);
                command.env("TERM", term).env_remove("NO_COLOR");
                command.stdin(stdio()).stdout(stdio()).stderr(stdio());
                command.spawn().expect("setsid, of util-linux, starts")
            },
            master,
            slave,
            found,
        };
        terminal.read();
        terminal
    }

    fn read(&mut self) {
        let mut bytes = [0; 16 << 10];
        while let Ok(read @ 1..) = rustix::io::read(&self.master, &mut bytes) {
            self.parser.process(&bytes[..read]);
            self.bytes.extend(&bytes[..read]);
        }
    }

    fn shown(&self) -> String {
        self.parser.screen().contents()
    }

    /// Waits until the terminal shows something.
    fn until(&mut self, what: &str) {
        let begun = Instant::now();
        loop {
            self.read();
            if self.shown().contains(what) {
                return;
            }
            assert!(begun.elapsed() < LIMIT, "never shows {what}:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn press(&self, keys: &str) {
        rustix::io::write(&self.master, keys.as_bytes()).expect("keys are pressed");
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("candor still runs");
    }

    fn resize(&mut self, size: (u16, u16)) {
        resize(&self.master, size);
        let [rows, columns] = rows_and_columns(size);
        self.parser.screen_mut().set_size(rows, columns);
    }

    /// Waits for the end; the terminal must be as it was found. Gives the exit code.
    fn end(&mut self) -> Option<i32> {
        let begun = Instant::now();
        let ended = loop {
            self.read();
            if let Some(ended) = self.child.try_wait().expect("candor can be waited for") {
                break ended;
            }
            assert!(begun.elapsed() < LIMIT, "it does not end:\n{}", self.shown());
            std::thread::sleep(Duration::from_millis(10));
        };
        self.read();
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "the screen was not left:\n{}", self.shown());
        assert!(!screen.hide_cursor(), "no cursor:\n{}", self.shown());
        let now = tcgetattr(&self.slave).expect("its settings");
        let modes = |of: &Termios| {
            (of.local_modes, of.input_modes, of.output_modes, format!("{:?}", of.special_codes))
        };
        assert_eq!(modes(&now), modes(&self.found), "settings of the terminal");
        ended.code()
    }

    fn had_a_screen(&self) -> bool {
        self.bytes.windows(8).any(|bytes| bytes == b"\x1b[?1049h")
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn rows_and_columns((columns, rows): (u16, u16)) -> [NonZero<u16>; 2] {
    [rows, columns].map(|count| NonZero::new(count).expect("a size"))
}

fn parser_of(size: (u16, u16)) -> vt100::Parser {
    let [rows, columns] = rows_and_columns(size);
    vt100::Parser::new(rows, columns, 0)
}

fn resize(master: &OwnedFd, (ws_col, ws_row): (u16, u16)) {
    let size = Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, size).expect("a size");
}

/// A run on a small file for so long.
fn run_of<'a>(file: &'a str, seconds: &'a str) -> Vec<&'a str> {
    let words = ["run", "--target", file, "--rw", "randread", "--bs", "4k", "--seconds", seconds];
    [&words[..], &["--rate-iops", "2000", "--workers", "2", "--no-follow-ups"]].concat()
}

#[test]
fn a_run_is_watched_resized_and_leaves_the_terminal_as_it_was() {
    let scratch = Scratch::new();
    let file = scratch.random_file("file", 4 << 20);
    let report = scratch.outside("report.json");
    let words = [&run_of(&file, "2")[..], &["--json", &report]].concat();
    let mut terminal = OnTerminal::start(&words, "xterm", (80, 24));
    terminal.until("IOPS");
    assert!(terminal.parser.screen().alternate_screen(), "{}", terminal.shown());
    assert!(terminal.parser.screen().hide_cursor());
    assert!(terminal.shown().contains("q end (partial result)"), "{}", terminal.shown());
    terminal.resize((120, 40));
    terminal.press("3");
    terminal.until("workers · ");
    let header = terminal.shown().lines().next().unwrap_or_default().to_owned();
    assert!(header.chars().count() > 100, "it fills the wider terminal: {header}");
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.shown().contains("random read"), "{}", terminal.shown());
    played_again(&report);
}

/// The run's report on the screen, ten times as fast.
fn played_again(report: &str) {
    let words = ["show", report, "--live", "--speed", "10"];
    let mut terminal = OnTerminal::start(&words, "xterm", (90, 30));
    terminal.until("a stored run");
    terminal.until("it is over");
    assert!(terminal.shown().contains("results so far"), "{}", terminal.shown());
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    let text = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let (_, printed) = text.rsplit_once("\x1b[?1049l").expect("the screen was left");
    assert!(printed.contains("random read"), "the report follows: {printed}");
    let nowhere = candor(&words);
    assert_eq!(nowhere.code, Some(1));
    assert!(nowhere.err.contains("--live draws on a terminal of 80 columns"), "{}", nowhere.err);
}

#[test]
fn keys_and_signals_end_a_run_with_a_partial_result_and_a_second_one_at_once() {
    let scratch = Scratch::new();
    let file = scratch.random_file("file", 4 << 20);
    let words = run_of(&file, "60");
    let on_terminal = || {
        let mut terminal = OnTerminal::start(&words, "xterm", (80, 24));
        terminal.until("IOPS");
        terminal
    };
    let mut by_key = on_terminal();
    by_key.press("q");
    let mut by_signal = on_terminal();
    by_signal.signal(Signal::TERM);
    let mut by_control_c = on_terminal();
    by_control_c.press("\x03");
    assert_eq!(by_key.end(), Some(130));
    assert_eq!(by_signal.end(), Some(143));
    assert_eq!(by_control_c.end(), Some(130));
    for ended in [by_key, by_signal, by_control_c] {
        assert!(ended.shown().contains("interrupted"), "{}", ended.shown());
    }
    // Two at a time: the second may come before the first has ended the run, or after.
    let mut twice = on_terminal();
    twice.press("qq");
    assert_eq!(twice.end(), Some(130));
}

#[test]
fn a_terminal_that_takes_nothing_holds_no_run_up() {
    let scratch = Scratch::new();
    let file = scratch.random_file("file", 4 << 20);
    let report = scratch.outside("report.json");
    let words = [&run_of(&file, "3")[..], &["--json", &report]].concat();
    let mut terminal = OnTerminal::start(&words, "xterm", (80, 24));
    terminal.until("IOPS");
    tcflow(&terminal.slave, Action::OOff).expect("output stops");
    let begun = Instant::now();
    while !std::fs::read_to_string(&report).is_ok_and(|text| !text.is_empty()) {
        assert!(begun.elapsed() < LIMIT, "the run waits for its terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
    tcflow(&terminal.slave, Action::OOn).expect("output goes on");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn without_room_or_by_wish_there_is_a_line() {
    let scratch = Scratch::new();
    let file = scratch.random_file("file", 4 << 20);
    let run = run_of(&file, "1");
    let by_wish = [&run[..], &["--no-live"]].concat();
    let cases = [
        (&run, "xterm", (79, 24)),
        (&run, "xterm", (80, 23)),
        (&run, "dumb", (80, 24)),
        (&by_wish, "xterm", (80, 24)),
    ];
    let all = cases.map(|(words, term, size)| OnTerminal::start(words, term, size));
    for mut terminal in all {
        assert_eq!(terminal.end(), Some(0));
        assert!(!terminal.had_a_screen());
        let text = String::from_utf8_lossy(&terminal.bytes);
        assert!(text.contains(" left"), "no line of progress: {text}");
    }
}

#[test]
fn devices_are_watched_on_a_screen() {
    let mut terminal = OnTerminal::start(&["watch", "--interval", "0.2"], "xterm", (80, 24));
    terminal.until("candor watch");
    terminal.press("i");
    terminal.until("hide idle");
    terminal.press(" ");
    terminal.until("PAUSED");
    terminal.press("v");
    terminal.until("command");
    terminal.press("q");
    assert_eq!(terminal.end(), Some(0));
    assert!(terminal.had_a_screen());
    assert!(terminal.shown().contains(", the last 0."), "the last look: {}", terminal.shown());
    let mut ended =
        OnTerminal::start(&["watch", "--count", "1", "--interval", "0.1"], "xterm", (80, 24));
    assert_eq!(ended.end(), Some(0));
}
