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

use crate::support::{Report, Scratch, candor};

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
        let program = [&[env!("CARGO_BIN_EXE_candor")], words].concat();
        OnTerminal::start_program(&program, term, size)
    }

    /// A shell that reads lines and has job control.
    fn start_shell() -> OnTerminal {
        let shell = ["bash", "--norc", "--noprofile", "--noediting", "-i"];
        OnTerminal::start_program(&shell, "xterm", (80, 24))
    }

    fn start_program(program: &[&str], term: &str, size: (u16, u16)) -> OnTerminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)
            .expect("a pseudo-terminal");
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
                command.arg("--ctty").args(program);
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

    /// Waits until the terminal shows something no longer.
    fn until_not(&mut self, what: &str) {
        let begun = Instant::now();
        while self.shown().contains(what) {
            self.read();
            assert!(begun.elapsed() < LIMIT, "always shows {what}:\n{}", self.shown());
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
        self.is_as_found();
        ended.code()
    }

    /// The terminal must be as it was found.
    fn is_as_found(&mut self) {
        self.read();
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "the screen was not left:\n{}", self.shown());
        assert!(!screen.hide_cursor(), "no cursor:\n{}", self.shown());
        let now = tcgetattr(&self.slave).expect("its settings");
        let modes = |of: &Termios| {
            (of.local_modes, of.input_modes, of.output_modes, format!("{:?}", of.special_codes))
        };
        assert_eq!(modes(&now), modes(&self.found), "settings of the terminal");
    }

    /// The process of candor below a shell.
    fn candor(&self) -> Pid {
        let pid = self.child.id();
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        let child = children.expect("children").trim().parse().ok().and_then(Pid::from_raw);
        child.expect("one child, which is candor")
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
    terminal.resize((10, 3));
    terminal.until("a screen n");
    assert!(terminal.shown().lines().count() == 2, "{}", terminal.shown());
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
fn a_stopped_run_leaves_the_terminal_to_the_shell_and_takes_it_again() {
    let scratch = Scratch::new();
    let file = scratch.random_file("file", 4 << 20);
    let mut shell = OnTerminal::start_shell();
    let is_on_screen = |shell: &mut OnTerminal| {
        shell.until("IOPS");
        assert!(shell.parser.screen().alternate_screen(), "{}", shell.shown());
        assert!(!shell.shown().contains("Stopped"), "drawn anew: {}", shell.shown());
    };
    let words = run_of(&file, "60").join(" ");
    shell.press(&format!("{} {words}\n", env!("CARGO_BIN_EXE_candor")));
    is_on_screen(&mut shell);
    shell.press("\x1a");
    shell.until("Stopped");
    shell.is_as_found();
    shell.press("clear; fg\n");
    is_on_screen(&mut shell);
    // The same signal from elsewhere.
    kill_process(shell.candor(), Signal::TSTP).expect("candor still runs");
    shell.until("Stopped");
    shell.is_as_found();
    shell.press("clear; fg\n");
    is_on_screen(&mut shell);
    // Nothing can be done before this one; the screen is whole again behind it.
    kill_process(shell.candor(), Signal::STOP).expect("candor still runs");
    shell.until("Stopped");
    shell.press("fg\n");
    shell.until_not("Stopped");
    is_on_screen(&mut shell);
    shell.press("q");
    shell.until("Cut short");
    shell.press("exit $?\n");
    assert_eq!(shell.end(), Some(130));
}

#[test]
fn a_run_whose_terminal_is_closed_ends_with_its_report() {
    let scratch = Scratch::new();
    let file = scratch.random_file("file", 4 << 20);
    let report = scratch.outside("report.json");
    let words = [&run_of(&file, "60")[..], &["--json", &report]].concat();
    let mut terminal = OnTerminal::start(&words, "xterm", (80, 24));
    terminal.until("IOPS");
    let nowhere = || File::open("/dev/null").expect("it is there").into();
    (terminal.master, terminal.slave) = (nowhere(), nowhere());
    // The shell of a terminal that is closed sends its jobs the signal that the kernel has sent.
    terminal.signal(Signal::HUP);
    let begun = Instant::now();
    let ended = loop {
        if let Some(ended) = terminal.child.try_wait().expect("candor can be waited for") {
            break ended;
        }
        assert!(begun.elapsed() < LIMIT, "it goes on without its terminal");
        std::thread::sleep(Duration::from_millis(20));
    };
    // The text cannot be written, unless a child of another test still holds the terminal open.
    assert!(matches!(ended.code(), Some(1 | 129)), "{ended}");
    let report = Report::read(&report).expect("the report so far");
    assert_eq!(report.at("/interrupted"), true);
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
    while !std::fs::read_to_string(&report).is_ok_and(|text| text.ends_with("}\n")) {
        assert!(begun.elapsed() < LIMIT, "the run waits for its terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
    let done = Report::read(&report).expect("a report");
    let ops = done.number("/phases/0/measurements/0/operations/read/ops");
    assert!(ops >= 0.9 * 3.0 * 2000.0, "the run is slowed: {ops} operations in 3 s at 2000/s");
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
    let text = String::from_utf8_lossy(&terminal.bytes).into_owned();
    let (_, last) = text.rsplit_once("\x1b[?1049l").expect("the screen was left");
    assert!(last.contains(", the last 0."), "the last look: {last}");
    let mut ended =
        OnTerminal::start(&["watch", "--count", "1", "--interval", "0.1"], "xterm", (80, 24));
    assert_eq!(ended.end(), Some(0));
}
