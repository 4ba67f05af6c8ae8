//! The same job files through fio and through candor called as `fio`.
//!
//! Each tool reads the file as a user wrote it and prints its JSON. What counts are operations per
//! second by the tool's own account, and the user CPU that the kernel charged to its processes.
//! Two more files tell how soon the first operation completes and how much memory 512 jobs need.

mod measure;
mod table;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::report::{spread_json, thousands};
use crate::stats::Spread;
use crate::targets::Folder;
use crate::workload::Place;
pub use table::JOB_FILES;

/// A job file with what it is run for.
pub struct JobFile {
    /// Name, for `--only`.
    pub name: &'static str,
    /// Where its jobs work.
    pub place: Place,
    /// Lines below file name and time.
    pub lines: &'static str,
    /// Figure that is measured.
    pub asked: Asked,
}

/// Purpose of a job file, and what candor is to reach.
#[derive(Clone, Copy)]
pub enum Asked {
    /// Operations per second: at least this multiple of fio's, at half its user CPU or less.
    Speed(f64),
    /// From the start of the program to the first completion: a tenth of fio's or less.
    Start,
    /// Memory of all its processes: a quarter of fio's or less.
    Memory,
}

/// Goal for candor ÷ fio.
#[derive(Clone, Copy)]
enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

impl Goal {
    fn is_met(self, ratio: f64) -> bool {
        match self {
            Goal::AtLeast(least) => ratio >= least,
            Goal::AtMost(most) => ratio <= most,
        }
    }

    fn text(self) -> String {
        match self {
            Goal::AtLeast(least) => format!("≥ {least}"),
            Goal::AtMost(most) => format!("≤ {most}"),
        }
    }
}

/// One figure of a job file, for both tools, round by round.
pub struct Line {
    file: &'static str,
    what: &'static str,
    decimals: usize,
    goal: Goal,
    candor: Vec<f64>,
    fio: Vec<f64>,
}

impl Line {
    fn new(file: &'static str, what: &'static str, decimals: usize, goal: Goal) -> Line {
        Line { file, what, decimals, goal, candor: Vec::new(), fio: Vec::new() }
    }

    fn of(file: &JobFile) -> Vec<Line> {
        let line = |what, decimals, goal| Line::new(file.name, what, decimals, goal);
        match file.asked {
            Asked::Speed(over_fio) => vec![
                line("operations/s", 0, Goal::AtLeast(over_fio)),
                line("user CPU µs/operation", 3, Goal::AtMost(0.5)),
            ],
            Asked::Start => vec![line("first operation after ms", 0, Goal::AtMost(0.1))],
            Asked::Memory => vec![line("memory kB", 0, Goal::AtMost(0.25))],
        }
    }

    fn ratio(&self) -> Option<Spread> {
        Spread::of(self.candor.iter().zip(&self.fio).map(|(candor, fio)| candor / fio))
    }

    fn cells(&self) -> [String; 6] {
        let median = |figures: &[f64]| match Spread::of(figures.iter().copied()) {
            Some(spread) if self.decimals == 0 => thousands(spread.median),
            Some(spread) => format!("{:.*}", self.decimals, spread.median),
            None => "–".to_owned(),
        };
        let ratio = self.ratio();
        [
            format!("{}: {}", self.file, self.what),
            median(&self.candor),
            median(&self.fio),
            ratio.map_or("–".to_owned(), |ratio| ratio.text(3)),
            self.goal.text(),
            ratio.map_or("–", |r| if self.goal.is_met(r.median) { "met" } else { "missed" }).into(),
        ]
    }

    /// The line for a terminal.
    pub fn text(&self) -> String {
        let [what, candor, fio, ratio, goal, met] = self.cells();
        format!("{what:42} candor {candor:>9}  fio {fio:>9}  {ratio:22} {goal:7} {met}")
    }

    fn json(&self) -> Value {
        json!({
            "job_file": self.file, "what": self.what, "candor": self.candor, "fio": self.fio,
            "candor_over_fio": spread_json(self.ratio()), "goal": self.goal.text(),
            "met": self.ratio().is_some_and(|ratio| self.goal.is_met(ratio.median)),
        })
    }
}

/// Both tools, called alike.
pub struct Pair {
    candor: PathBuf,
    fio: PathBuf,
}

impl Pair {
    /// candor gets the name `fio` in the folder.
    ///
    /// # Errors
    /// A sentence, when the name cannot be given.
    pub fn new(candor: &Path, fio: &Path, folder: &Folder) -> Result<Pair, String> {
        let named = folder.join("fio");
        let failed = |e: std::io::Error| format!("{}: {e}", candor.display());
        symlink(fs::canonicalize(candor).map_err(failed)?, &named).map_err(failed)?;
        Ok(Pair { candor: named, fio: fio.to_owned() })
    }

    /// The rounds of one job file; who comes first changes from round to round.
    ///
    /// # Errors
    /// A sentence, when a tool fails or its answer cannot be read.
    pub fn run(
        &self,
        file: &JobFile,
        at: &Path,
        seconds: f64,
        pairs: usize,
        folder: &Folder,
    ) -> Result<Vec<Line>, String> {
        let path = folder.join("job.fio");
        let text = file.text(&at.display().to_string(), seconds);
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut lines = Line::of(file);
        for round in 0..pairs {
            for turn in [round % 2, 1 - round % 2] {
                let program = [&self.candor, &self.fio][turn];
                let figures = measure::measure(file.asked, program, &path, seconds, folder)?;
                for (line, figure) in lines.iter_mut().zip(figures) {
                    [&mut line.candor, &mut line.fio][turn].push(figure);
                }
            }
        }
        Ok(lines)
    }
}

impl JobFile {
    /// The text of the file.
    fn text(&self, path: &str, seconds: f64) -> String {
        let ms = (seconds * 1000.0).round();
        format!("[job]\nfilename={path}\nruntime={ms}ms\n{}\n", self.lines)
    }
}

/// Writes `fio.json` and `fio.md`.
///
/// # Errors
/// A sentence, when a file cannot be written.
pub fn write(
    out: &Path,
    machine: &[(&'static str, String)],
    [pairs, seconds]: [f64; 2],
    files: &[&JobFile],
    lines: &[Line],
) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", out.display());
    let described: serde_json::Map<String, Value> =
        machine.iter().map(|(what, value)| ((*what).to_owned(), json!(value))).collect();
    let document = json!({
        "machine": described, "pairs": pairs, "seconds": seconds,
        "lines": lines.iter().map(Line::json).collect::<Vec<_>>(),
    });
    let mut text = format!(
        "# The same job files\n\nfio and candor called as `fio`, in turn, {pairs} rounds of \
         {seconds} s each: medians, and the ratio candor ÷ fio of each round as median (least – \
         greatest).\n\n"
    );
    machine.iter().for_each(|(what, value)| text += &format!("- {what}: {value}\n"));
    text += "\n| | candor | fio | candor ÷ fio | goal | |\n|---|---:|---:|---:|---:|---|\n";
    lines.iter().for_each(|line| text += &format!("| {} |\n", line.cells().join(" | ")));
    text += "\n## Job files\n\n`fio --output-format=json FILE`, with these files:\n";
    for file in files {
        let lines = file.text("TARGET", seconds);
        text += &format!("\n{}, on a {}:\n\n```ini\n{lines}```\n", file.name, file.place.text());
    }
    fs::create_dir_all(out).map_err(failed)?;
    fs::write(out.join("fio.json"), format!("{document:#}\n")).map_err(failed)?;
    fs::write(out.join("fio.md"), text).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_judges_the_median_of_the_ratios() {
        let mut line = Line::new("x", "operations/s", 0, Goal::AtLeast(1.05));
        (line.candor, line.fio) = (vec![110.0, 200.0, 330.0], vec![100.0, 200.0, 200.0]);
        assert!(line.text().contains("1.100 (1.000–1.650)") && line.text().ends_with("met"));
        line.goal = Goal::AtMost(0.5);
        assert!(line.text().ends_with("missed") && line.json()["met"] == false);
    }

    #[test]
    fn names_of_job_files_are_unique() {
        for (i, file) in JOB_FILES.iter().enumerate() {
            assert!(JOB_FILES[..i].iter().all(|other| other.name != file.name), "{}", file.name);
        }
    }
}
