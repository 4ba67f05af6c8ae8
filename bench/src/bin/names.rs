//! Names made, looked up and removed: candor, fio's `filecreate`, `filestat` and `filedelete`, and
//! a bare loop, in turn: `names CANDOR FIO DIRECTORY ROUNDS [FILES]`. A table on stdout.
//!
//! The directory lies on the filesystem that is measured; each tool works in a fresh one below it,
//! with 1, 2 and 8 workers, each in a directory of its own and all in one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const STEPS: [&str; 3] = ["create", "stat", "unlink"];

/// Rate and user CPU of the three steps.
type Figures = [(f64, f64); 3];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [candor, fio, directory, rounds, files @ ..] = &words[..] else {
        eprintln!("usage: names CANDOR FIO DIRECTORY ROUNDS [FILES]");
        std::process::exit(2);
    };
    let files: u64 = files.first().map_or(40_000, |files| files.parse().expect("a number"));
    let bench = Bench { candor, fio, dir: Path::new(directory).join("candor-names"), files };
    println!(
        "| workers | directory | step | candor/s | fio/s | bare/s | candor ÷ fio | candor ÷ \
              bare | user µs candor | fio | bare |"
    );
    println!("|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|");
    for workers in [1, 2, 8] {
        for own in [true, false] {
            bench.rows(workers, own, rounds.parse().expect("a number of rounds"));
        }
    }
}

struct Bench<'a> {
    candor: &'a str,
    fio: &'a str,
    dir: PathBuf,
    files: u64,
}

impl Bench<'_> {
    /// The three rows of one shape.
    fn rows(&self, workers: u64, own: bool, rounds: usize) {
        let mut all: [Vec<Figures>; 3] = Default::default();
        for _ in 0..rounds {
            for (tool, of) in all.iter_mut().enumerate() {
                fs::create_dir_all(&self.dir).expect("a directory");
                of.push(match tool {
                    0 => self.candor(workers, own),
                    1 => self.fio(workers, own),
                    _ => self.bare(workers, own),
                });
                fs::remove_dir_all(&self.dir).expect("a directory that can be removed");
            }
        }
        let manner = if own { "own" } else { "one" };
        for (at, step) in STEPS.iter().enumerate() {
            let rate = |tool: usize| median(all[tool].iter().map(|figures| figures[at].0));
            let user = |tool: usize| median(all[tool].iter().map(|figures| figures[at].1));
            let ratio = |other: usize| {
                let pairs = all[0].iter().zip(&all[other]);
                spread(pairs.map(|(one, other)| one[at].0 / other[at].0))
            };
            println!(
                "| {workers} | {manner} | {step} | {:.0} | {:.0} | {:.0} | {} | {} | {:.3} | \
                 {:.3} | {:.3} |",
                rate(0),
                rate(1),
                rate(2),
                ratio(1),
                ratio(2),
                user(0),
                user(1),
                user(2)
            );
        }
    }

    fn candor(&self, workers: u64, own: bool) -> Figures {
        let dir = self.dir.display();
        let each = self.files / workers;
        let shape = if own {
            format!("per_rank = true\nitems = {each}")
        } else {
            format!("items_per_rank = true\nitems = {each}")
        };
        let target = |name: &str, more: &str| {
            format!(
                "[[target]]\nname = \"{name}\"\npath = \"{dir}/t\"\nkind = \"tree\"\n{more}\
                 [target.tree]\n{shape}\n"
            )
        };
        let phase = |name: &str, of: &str, step: &str, stop: &str| {
            format!(
                "[[phase]]\nname = \"{name}\"\nstop = {{ {stop} }}\n\
                 job = [{{ workers = {workers}, targets = [\"{of}\"], \
                 work.entries = {{ steps = [\"{step}\"] }} }}]\n"
            )
        };
        // fio looks each name up before its clock, and what is known to be missing is made faster.
        let mut plan = target("t", "") + &target("missing", "create = \"nothing\"\n");
        plan += &phase("directories", "t", "create", "ops = 1");
        plan += &phase("lookups", "missing", "stat", "continue_on_error = true");
        plan.extend(STEPS.map(|step| phase(step, "t", step, "")));
        let file = self.dir.join("plan.toml");
        fs::write(&file, plan).expect("a plan");
        let report = self.dir.join("report.json");
        let words = ["run", "--quiet", "--json"].map(str::to_owned);
        let files = [report.display().to_string(), file.display().to_string()];
        self.run(self.candor, words.iter().chain(&files));
        let report: Value =
            serde_json::from_slice(&fs::read(report).expect("a report")).expect("a report");
        std::array::from_fn(|at| {
            let measured = &report["phases"][2 + at]["measurements"][0];
            let of = &measured["operations"][STEPS[at]];
            let workers = measured["per_worker"].as_array().expect("workers").iter();
            let user: f64 = workers.filter_map(|worker| worker["cpu_user_ns"].as_f64()).sum();
            let ops = of["ops"].as_f64().expect("a count");
            (of["ops_per_s"].as_f64().expect("a rate"), user / 1e3 / ops)
        })
    }

    fn fio(&self, workers: u64, own: bool) -> Figures {
        let each = self.files / workers;
        let mut words = vec!["--output-format=json".to_owned(), "--thread=1".into()];
        words.push("--filesize=4k".into());
        for engine in ["filecreate", "filestat", "filedelete"] {
            let dirs: Vec<String> = (0..workers)
                .map(|worker| {
                    if own {
                        self.dir.join(format!("rank.{worker}")).display().to_string()
                    } else {
                        self.dir.display().to_string()
                    }
                })
                .collect();
            for (worker, dir) in dirs.iter().enumerate() {
                fs::create_dir_all(dir).expect("a directory");
                words.push(format!("--name={engine}{worker}"));
                if worker == 0 {
                    words.push("--stonewall".into());
                }
                words.extend([
                    format!("--ioengine={engine}"),
                    format!("--directory={dir}"),
                    format!("--nrfiles={each}"),
                    format!("--filename_format=f{worker}.$filenum"),
                    "--openfiles=1".into(),
                    "--file_service_type=sequential".into(),
                    "--create_on_open=1".into(),
                ]);
            }
        }
        let out = self.run(self.fio, words.iter());
        let out: Value = serde_json::from_slice(&out).expect("fio's JSON");
        let jobs = out["jobs"].as_array().expect("jobs");
        std::array::from_fn(|at| {
            let of = &jobs[at * workers as usize..(at + 1) * workers as usize];
            let slowest =
                of.iter().filter_map(|job| job["job_runtime"].as_f64()).fold(1.0, f64::max);
            let user: f64 = of
                .iter()
                .filter_map(|job| Some(job["usr_cpu"].as_f64()? * job["job_runtime"].as_f64()?))
                .sum();
            let files = self.files as f64;
            // Runtime in ms, CPU in percent of it.
            (files / slowest * 1e3, user / 100.0 * 1e3 / files)
        })
    }

    fn bare(&self, workers: u64, own: bool) -> Figures {
        let here = std::env::current_exe().expect("this program");
        let bare = here.with_file_name("bare_names").display().to_string();
        let manner = if own { "own" } else { "shared" };
        let dir = self.dir.display().to_string();
        let words = [dir, workers.to_string(), self.files.to_string(), manner.into()];
        let out = self.run(&bare, words.iter());
        let lines: Vec<Value> = String::from_utf8_lossy(&out)
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line of JSON"))
            .collect();
        std::array::from_fn(|at| {
            let number = |key: &str| lines[at][key].as_f64().expect("a number");
            (number("ops_per_s"), number("user_us"))
        })
    }

    fn run<'w>(&self, program: &str, words: impl Iterator<Item = &'w String>) -> Vec<u8> {
        let output = Command::new(program)
            .args(words)
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"));
        let told = String::from_utf8_lossy(&output.stderr);
        // candor says with a 1 that the lookups found nothing, as they should.
        let is_well = output.status.success() || output.status.code() == Some(1);
        assert!(is_well, "{program}: {told}");
        output.stdout
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// Median, least and greatest.
fn spread(figures: impl Iterator<Item = f64>) -> String {
    let mut sorted: Vec<f64> = figures.collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len() - 1;
    format!("{:.2} ({:.2}–{:.2})", sorted[last / 2 + last % 2], sorted[0], sorted[last])
}
