//! The pictures of README and pages, from real runs: `pictures CANDOR DIRECTORY [PICTURE…]`.
//!
//! Each shoot runs candor on files of its own in DIRECTORY, whose path the pictures show, and
//! writes pictures into `docs/pictures`. Reports are kept in `target/pictures` and not made again,
//! so that a new style can be drawn from old runs. Screens come from a pseudo-terminal, pages from
//! Chromium. Root, for a loop device and a control group of version 1. At the end all pictures
//! together are weighed.

mod limit;
mod pixels;
mod stack;
mod terminal;

use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use limit::Limit;
use stack::Stack;
use terminal::Recording;

/// Size of all pictures together; `xtask tidy` holds the repository to it.
const BYTES_MAX: u64 = 500_000;

/// Columns and rows of the terminal.
const ROOM: (u16, u16) = (100, 30);

/// Name of the file that shoots share, and `--keep` leaves until the last has ended.
const FILE: &str = "file";

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Runs, and the pictures that they give.
type Shoot = fn(&Studio) -> Outcome<()>;

const SHOOTS: &[(&str, Shoot)] = &[
    ("live", Studio::live),
    ("watch", Studio::watch),
    ("run", Studio::run),
    ("depth", Studio::depth),
    ("heatmap", Studio::heatmap),
    ("compare", Studio::compare),
    ("trend", Studio::trend),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let made = match &words[..] {
        [candor, directory, wanted @ ..] => pictures(candor, directory, wanted),
        _ => Err("usage: pictures CANDOR DIRECTORY [PICTURE…]".into()),
    };
    match made {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn pictures(candor: &str, directory: &str, wanted: &[String]) -> Outcome<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let studio = Studio {
        candor: Path::new(candor).canonicalize()?,
        dir: Path::new(directory).canonicalize()?,
        out: root.join("docs/pictures"),
        work: root.join("target/pictures"),
    };
    if let Some(unknown) = wanted.iter().find(|name| SHOOTS.iter().all(|(n, _)| n != name)) {
        let names: Vec<&str> = SHOOTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("`{unknown}` is none of {}", names.join(", ")).into());
    }
    if studio.dir.join(FILE).exists() {
        return Err(format!("{} is there already", studio.target(FILE)).into());
    }
    fs::create_dir_all(&studio.out)?;
    fs::create_dir_all(&studio.work)?;
    for (name, shoot) in SHOOTS {
        if wanted.is_empty() || wanted.iter().any(|one| one == name) {
            shoot(&studio)?;
        }
    }
    weigh(&studio.out)
}

/// Candor, where it works, and where pictures go.
struct Studio {
    candor: PathBuf,
    /// Of the targets.
    dir: PathBuf,
    out: PathBuf,
    /// Of reports; candor's working directory, so that pictures name them without a path.
    work: PathBuf,
}

/// Reads of 4 KiB past the page cache, of a file of 1 GiB.
const READS: [&str; 7] = ["--size", "1g", "--rw", "randread", "--bs", "4k", "--direct"];

impl Studio {
    /// The screen of a check, and its report as a page.
    fn live(&self) -> Outcome<()> {
        let dir = text(&self.dir);
        let words = ["check", &dir, "--no-history", "--html", "check.html"];
        let recording = Recording::of(&self.command(&words), ROOM)?;
        // The rest of a phase is too short for percentiles, so not its last moment.
        self.screen(&recording, &["[7/", " 1 s left"], "live.svg")?;
        self.page("check.html", (1040, 1180), &[], "report.png")?;
        let dark = ["--force-dark-mode", "--blink-settings=preferredColorScheme=0"];
        self.page("check.html", (390, 1000), &dark, "report-phone.png")
    }

    /// The screen of `candor watch`, while something runs.
    fn watch(&self) -> Outcome<()> {
        let target = self.target(FILE);
        let load = [
            "run",
            "--target",
            &target,
            "--seconds",
            "25",
            "--depth",
            "4",
            "--keep",
            "--no-history",
        ];
        let mut load = self.command(&[&load[..], &READS].concat());
        let mut load =
            load.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let words = ["watch", &text(&self.dir), "--count", "20"];
        let recording = Recording::of(&self.command(&words), ROOM);
        load.wait()?;
        self.screen(&recording?, &["candor watch"], "watch.svg")
    }

    /// A run over time, and its latencies.
    fn run(&self) -> Outcome<()> {
        let target = self.target(FILE);
        let mixed = [
            "--size",
            "1g",
            "--rw",
            "randrw",
            "--mix",
            "read:70,write:30",
            "--bs",
            "4k",
            "--direct",
        ];
        // The file may be of another shoot.
        let words =
            ["--target", &target, "--depth", "8", "--seconds", "30", "--keep", "--overwrite"];
        self.report("run.json", &[&words[..], &mixed].concat())?;
        self.chart(&["run.json", "--kind", "timeline"], "timeline.svg")?;
        self.chart(&["run.json", "--kind", "percentiles"], "percentiles.svg")
    }

    /// Depths until the device is full.
    fn depth(&self) -> Outcome<()> {
        let target = self.target(FILE);
        let words = ["--target", &target, "--depth", "1,2,4,8,16,32,64,128", "--seconds", "4"];
        self.report("depth.json", &[&words[..], &READS, &["--keep"]].concat())?;
        self.chart(&["depth.json", "--kind", "depth"], "depth.svg")
    }

    /// Depths by workers.
    fn heatmap(&self) -> Outcome<()> {
        let target = self.target(FILE);
        let words = ["--target", &target, "--depth", "1,4,16,64", "--workers", "1,2,4,8"];
        let words = [&words[..], &["--seconds", "2", "--no-follow-ups", "--keep"], &READS].concat();
        self.report("grid.json", &words)?;
        self.chart(&["grid.json", "--kind", "heatmap"], "heatmap.svg")
    }

    /// The same work on a filesystem, and on one more in an image upon it.
    fn compare(&self) -> Outcome<()> {
        let stack = Stack::below(&self.dir)?;
        for (report, target) in
            [("disk.json", self.dir.join("load")), ("loop.json", stack.path().join("load"))]
        {
            let target = text(&target);
            let words = ["--target", &target, "--size", "256M", "--rw", "randread", "--bs", "4k"];
            let more = ["--direct", "--seconds", "3", "--repeats", "5"];
            self.report(report, &[&words[..], &more].concat())?;
        }
        drop(stack);
        self.candor(&["compare", "disk.json", "loop.json", "--across", "storage"])?;
        self.chart(&["disk.json", "loop.json", "--kind", "bars"], "compare.svg")
    }

    /// The same work again and again, on a disk whose limit is lowered after some runs.
    fn trend(&self) -> Outcome<()> {
        if !self.work.join("history").exists() {
            let limit = Limit::below(&self.dir)?;
            let target = self.target(FILE);
            let words = ["run", "--target", &target, "--seconds", "3", "--keep", "--quiet"];
            let candor = self.command(&[&words[..], &READS].concat());
            for run in 0..18 {
                limit.set(if run < 11 { 2000 } else { 1000 })?;
                // The shell enters the group, and becomes candor.
                let mut within = Command::new("sh");
                within.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(limit.processes());
                within.arg(candor.get_program()).args(candor.get_args()).current_dir(&self.work);
                within.env("CANDOR_HISTORY", self.work.join("history"));
                let ended = within.stdin(Stdio::null()).status()?;
                if !ended.success() {
                    return Err(format!("a run within a limit: {ended}").into());
                }
            }
        }
        let words = ["history", "trend", "--target", &text(&self.dir), "--chart"];
        self.candor(&[&words[..], &[&text(&self.out.join("trend.svg"))]].concat())
    }

    /// Candor with a history of our own.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.candor);
        command.args(words).current_dir(&self.work);
        command.env("CANDOR_HISTORY", self.work.join("history"));
        command
    }

    fn candor(&self, words: &[&str]) -> Outcome<()> {
        let ended = self.command(words).stdin(Stdio::null()).status()?;
        if ended.success() {
            Ok(())
        } else {
            Err(format!("candor {}: {ended}", words.join(" ")).into())
        }
    }

    /// The report of a run, which is made where it is not there.
    fn report(&self, name: &str, words: &[&str]) -> Outcome<()> {
        if self.work.join(name).exists() {
            return Ok(());
        }
        self.candor(&[&["run", "--quiet", "--no-history", "--json", name], words].concat())
    }

    fn chart(&self, words: &[&str], picture: &str) -> Outcome<()> {
        let picture = text(&self.out.join(picture));
        self.candor(&[&["chart"], words, &["-o", &picture]].concat())
    }

    /// The screen when it showed a text for the last time.
    fn screen(&self, recording: &Recording, with: &[&str], picture: &str) -> Outcome<()> {
        let screen = recording.last_with(with).ok_or(format!("no screen showed {with:?}"))?;
        Ok(fs::write(self.out.join(picture), terminal::svg(&screen))?)
    }

    /// The head of a page, as a browser shows it.
    fn page(&self, page: &str, size: (u32, u32), more: &[&str], picture: &str) -> Outcome<()> {
        let (shot, profile) = (self.work.join("shot.png"), self.work.join("profile"));
        let option = |name: &str, value: &OsStr| format!("--{name}={}", value.to_string_lossy());
        let ended = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--disable-sync", "--no-first-run", "--hide-scrollbars"])
            .arg(option("user-data-dir", profile.as_os_str()))
            .arg(option("screenshot", shot.as_os_str()))
            .arg(format!("--window-size={},{}", size.0, size.1))
            .args(more)
            .arg(format!("file://{}", self.work.join(page).display()))
            .stdin(Stdio::null())
            .output()?;
        fs::remove_dir_all(&profile)?;
        if !ended.status.success() {
            return Err(String::from_utf8_lossy(&ended.stderr).into());
        }
        let small = pixels::with_palette(&fs::read(&shot)?)?;
        fs::remove_file(&shot)?;
        Ok(fs::write(self.out.join(picture), small)?)
    }

    fn target(&self, name: &str) -> String {
        text(&self.dir.join(name))
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        // No shoot may have made it.
        let _ = fs::remove_file(self.dir.join(FILE));
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// Prints the size of each picture, and refuses too much.
fn weigh(out: &Path) -> Outcome<()> {
    let mut sum = 0;
    for entry in fs::read_dir(out)? {
        let entry = entry?;
        let bytes = entry.metadata()?.len();
        println!("{bytes:>7} bytes  {}", entry.file_name().to_string_lossy());
        sum += bytes;
    }
    println!("{sum:>7} bytes of {BYTES_MAX}");
    if sum <= BYTES_MAX { Ok(()) } else { Err("the pictures are too large".into()) }
}
