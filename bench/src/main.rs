//! candor, fio and bare loops side by side, in one interleaved run.
//!
//! `cargo run --release -p candor-bench -- --help` says how. Root is needed for the zram device;
//! with `--target` any device or file is read instead, and nothing is ever written to it. `--jobs`
//! and `--large` write, but only to what this program made.

mod host;
mod interrupt;
mod jobs;
mod large;
mod report;
use candor_bench::stats;
mod targets;
mod tool;
mod workload;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use jobs::{JOB_FILES, JobFile, Pair};
use report::{Rounds, Row};
use targets::{Folder, Loop, Zram};
use tool::{Invocation, Outcome, Tools};
use workload::{Place, WORKLOADS, Workload};

const USAGE: &str = "\
candor, fio and bare loops side by side.

usage: cargo run --release -p candor-bench -- [options]

  --pairs N          rounds of candor, fio, bare loop per workload (7)
  --seconds S        length of each run (2)
  --jobs             job files through fio and through candor called as fio, instead of the
                     workloads; the results are fio.json and fio.md
  --large            1 MiB direct reads and writes at several depths, and 4 KiB at depth 32, on a
                     file and a loop device; the results are large.json and large.md
  --target PATH      device or file to read instead of a zram device of our own
  --only NAME,…      these workloads or job files only; a wrong name lists them
  --out DIR          where results.json and results.md go (bench/results)
  --dir DIR          where files are made (the system's folder for temporary files)
  --fio PATH         fio (the one on PATH)
  --candor PATH      candor (the one built beside this program)
  --without-candor   fio and bare loops only
  --no-build         do not build candor and the bare loops first
";

/// Options of the command line.
struct Options {
    pairs: usize,
    seconds: f64,
    jobs: bool,
    large: bool,
    target: Option<PathBuf>,
    only: Vec<String>,
    out: PathBuf,
    dir: PathBuf,
    fio: PathBuf,
    candor: Option<PathBuf>,
    without_candor: bool,
    build: bool,
}

impl Options {
    fn read(words: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            pairs: 7,
            seconds: 2.0,
            jobs: false,
            large: false,
            target: None,
            only: Vec::new(),
            out: "bench/results".into(),
            dir: std::env::temp_dir(),
            fio: "fio".into(),
            candor: None,
            without_candor: false,
            build: true,
        };
        let mut words = words;
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            let wrong = |_| format!("{word} needs a number");
            match word.as_str() {
                "--pairs" => options.pairs = value()?.parse().map_err(wrong)?,
                "--seconds" => {
                    options.seconds = value()?.parse().map_err(|_| format!("{word}: a number"))?;
                }
                "--jobs" => options.jobs = true,
                "--large" => options.large = true,
                "--target" => options.target = Some(value()?.into()),
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                "--out" => options.out = value()?.into(),
                "--dir" => options.dir = value()?.into(),
                "--fio" => options.fio = value()?.into(),
                "--candor" => options.candor = Some(value()?.into()),
                "--without-candor" => options.without_candor = true,
                "--no-build" => options.build = false,
                _ => return Err(format!("unknown option {word}\n\n{USAGE}")),
            }
        }
        let names: Vec<&str> = if options.jobs {
            JOB_FILES.iter().map(|file| file.name).collect()
        } else {
            options.workloads().iter().map(|workload| workload.name).collect()
        };
        match options.only.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(format!("there is no {name}; known: {}", names.join(", "))),
            None if options.jobs && options.large => {
                Err("--jobs and --large are two comparisons: one at a time".to_owned())
            }
            None if options.writes() && options.target.is_some() => Err("--jobs and --large \
                 write, and so take no --target: only targets of our own"
                .to_owned()),
            None if options.writes() && options.without_candor => Err("--jobs and --large \
                 compare candor with fio: without candor there is nothing"
                .to_owned()),
            None if options.pairs == 0 => Err("--pairs needs at least 1".to_owned()),
            None if options.seconds.is_nan() || options.seconds < 0.1 => {
                Err("--seconds needs at least 0.1".to_owned())
            }
            None => Ok(options),
        }
    }

    fn writes(&self) -> bool {
        self.jobs || self.large
    }

    fn workloads(&self) -> &'static [Workload] {
        if self.large { large::WORKLOADS } else { WORKLOADS }
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }
}

fn main() -> ExitCode {
    if std::env::args().any(|w| w == "--help" || w == "-h") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    interrupt::catch();
    match Options::read(std::env::args().skip(1)).and_then(|options| compare(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

/// Everything: build, make the targets, run, report.
fn compare(options: &Options) -> Result<(), String> {
    let tools = tools(options)?;
    if host::load() > 0.5 {
        eprintln!("warning: the machine is busy (load {}), expect noise", host::load());
    }
    let machine = host::describe(&tools.fio, tools.candor.as_deref());
    match (options.jobs, &tools.candor) {
        (true, Some(candor)) => compare_jobs(options, &tools.fio, candor, &machine),
        _ => compare_workloads(options, &tools, &machine),
    }
}

fn compare_workloads(
    options: &Options,
    tools: &Tools,
    machine: &[(&'static str, String)],
) -> Result<(), String> {
    let wanted: Vec<&Workload> =
        options.workloads().iter().filter(|w| options.wants(w.name)).collect();
    let places = Places::make(options, |place| wanted.iter().any(|w| w.place == place))?;
    let mut rows = Vec::new();
    for workload in wanted {
        let at = places.path(workload.place);
        let row = run_workload(options, tools, &places.folder, workload, at)?;
        println!("{}", report::line(&row));
        rows.push(row);
    }
    let name = if options.large { "large" } else { "results" };
    report::write(&options.out, name, machine, options.pairs, options.seconds, &rows)?;
    println!("\nwritten: {0}/{name}.md and {0}/{name}.json", options.out.display());
    Ok(())
}

fn compare_jobs(
    options: &Options,
    fio: &Path,
    candor: &Path,
    machine: &[(&'static str, String)],
) -> Result<(), String> {
    let wanted: Vec<&JobFile> = JOB_FILES.iter().filter(|f| options.wants(f.name)).collect();
    let places = Places::make(options, |place| wanted.iter().any(|f| f.place == place))?;
    let pair = Pair::new(candor, fio, &places.folder)?;
    let mut lines = Vec::new();
    for file in &wanted {
        let at = places.path(file.place);
        progress(file.name);
        let of_file = pair.run(file, at, options.seconds, options.pairs, &places.folder)?;
        progress("");
        of_file.iter().for_each(|line| println!("{}", line.text()));
        lines.extend(of_file);
    }
    let how = [options.pairs as f64, options.seconds];
    jobs::write(&options.out, machine, how, &wanted, &lines)?;
    println!("\nwritten: {0}/fio.md and {0}/fio.json", options.out.display());
    Ok(())
}

/// Targets of reads and writes, as far as they are needed; gone at the end.
struct Places {
    device: PathBuf,
    file: PathBuf,
    disk_file: PathBuf,
    // Detached before its backing file goes with the folder.
    loop_device: Option<Loop>,
    _zram: Option<Zram>,
    folder: Folder,
}

impl Places {
    fn make(options: &Options, needs: impl Fn(Place) -> bool) -> Result<Places, String> {
        let folder = Folder::make(&options.dir)?;
        let own_device = needs(Place::Device) && options.target.is_none();
        let zram = if own_device { Some(Zram::add()?) } else { None };
        let device = options.target.clone().or(zram.as_ref().map(Zram::path)).unwrap_or_default();
        let file = |needed, make: &dyn Fn() -> Result<PathBuf, String>| {
            if needed { make() } else { Ok(PathBuf::new()) }
        };
        let cached = file(needs(Place::CachedFile), &|| folder.cached_file())?;
        let disk_file = file(needs(Place::DiskFile), &|| folder.disk_file("file"))?;
        let loop_device = if needs(Place::Loop) {
            Some(Loop::attach(&folder.disk_file("backing")?)?)
        } else {
            None
        };
        Ok(Places { loop_device, _zram: zram, folder, device, file: cached, disk_file })
    }

    fn path(&self, place: Place) -> &Path {
        match place {
            Place::Device => &self.device,
            Place::CachedFile => &self.file,
            Place::DiskFile => &self.disk_file,
            Place::Loop => self.loop_device.as_ref().map_or(Path::new(""), Loop::path),
        }
    }
}

/// Finds the tools, building our own first.
fn tools(options: &Options) -> Result<Tools, String> {
    let here = std::env::current_exe().map_err(|e| format!("this program's path: {e}"))?;
    let beside = here.parent().unwrap_or(Path::new(".")).to_path_buf();
    let own_candor = options.candor.is_none() && !options.without_candor;
    if let (true, Some(cargo)) = (options.build, std::env::var_os("CARGO")) {
        let mut build = Command::new(cargo);
        build.args(["build", "--release", "--bins", "-p", "candor-bench"]);
        if own_candor {
            build.args(["-p", "candor"]);
        }
        let built = build.status().is_ok_and(|status| status.success());
        built.then_some(()).ok_or("the build failed; --no-build skips it")?;
    }
    let candor = options.candor.clone().unwrap_or_else(|| beside.join("candor"));
    let candor = (!options.without_candor).then_some(candor);
    Ok(Tools { fio: options.fio.clone(), candor, bare: beside })
}

/// The rounds of one workload: candor, fio, bare, candor, fio, bare, …
fn run_workload<'a>(
    options: &Options,
    tools: &Tools,
    folder: &Folder,
    workload: &'a Workload,
    at: &Path,
) -> Result<Row<'a>, String> {
    let seconds = options.seconds;
    let (fio, tried) = match workload.fio {
        "" => (None, Vec::new()),
        _ => choose_fio(options, tools, folder, workload, at)?,
    };
    let report = || folder.join("report.json");
    let mut candor = Rounds::new(Invocation::candor(tools, workload, at, seconds, report()));
    let mut fio = Rounds::new(fio);
    let mut bare = Rounds::new(Invocation::bare(tools, workload, at, seconds, report()));
    for round in 0..options.pairs {
        progress(&format!("{}: round {} of {}", workload.name, round + 1, options.pairs));
        for side in [&mut candor, &mut fio, &mut bare] {
            side.run(folder)?;
        }
    }
    progress("");
    Ok(Row { workload, candor, fio, bare, fio_tried: tried })
}

/// fio's settings with the operations per second of each, fastest first.
type Tried = Vec<(String, f64)>;

/// Tries fio's settings in three interleaved rounds of half a second and keeps the fastest.
fn choose_fio(
    options: &Options,
    tools: &Tools,
    folder: &Folder,
    workload: &Workload,
    at: &Path,
) -> Result<(Option<Invocation>, Tried), String> {
    let settings = workload.fio_settings();
    let mut figures = vec![Vec::new(); settings.len()];
    for round in 0..3 {
        progress(&format!("{}: fio's fastest setting, round {} of 3", workload.name, round + 1));
        for (setting, figures) in settings.iter().zip(&mut figures) {
            let run = Invocation::fio(tools, workload, setting, at, 0.5).run(folder)?;
            figures.push(run.iops);
        }
    }
    progress("");
    let median = |f: Vec<f64>| stats::Spread::of(f).map_or(0.0, |s| s.median);
    let mut tried: Tried = settings.into_iter().zip(figures.into_iter().map(median)).collect();
    tried.sort_by(|a, b| b.1.total_cmp(&a.1));
    let best = tried.first().map(|(s, _)| s.as_str()).unwrap_or_default();
    let best = Invocation::fio(tools, workload, best, at, options.seconds);
    Ok((Some(best), tried))
}

/// Shows where the run stands, in place of what was shown before, if anybody watches.
fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}

/// Sum over some outcomes.
fn total(outcomes: &[Outcome], figure: impl Fn(&Outcome) -> f64) -> f64 {
    outcomes.iter().map(figure).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        Options::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn a_command_line_is_read_or_refused_with_a_sentence() {
        let options = read("--pairs 3 --only psync,nop --without-candor").expect("all known");
        assert!(options.pairs == 3 && options.only.len() == 2 && options.without_candor);
        assert!(read("--only nothing").is_err_and(|e| e.contains("nothing")));
        assert!(read("--pairs").is_err_and(|e| e.contains("needs a value")));
        assert!(read("--jobs --only four-jobs").is_ok_and(|options| options.jobs));
        assert!(read("--jobs --target /dev/x").is_err_and(|e| e.contains("write")));
        assert!(read("--large --only loop-read-1m-16").is_ok_and(|options| options.large));
        assert!(read("--large --jobs").is_err_and(|e| e.contains("one at a time")));
        assert!(read("--pairs 0").is_err() && read("--seconds x").is_err());
    }
}
