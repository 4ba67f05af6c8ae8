//! The comparison as a line, as markdown and as JSON.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::stats::Spread;
use crate::targets::Folder;
use crate::tool::{Invocation, Outcome};
use crate::total;
use crate::workload::Workload;

const ABOUT_CPU: &str = "\
User CPU per operation is over all rounds together: \"thread\" is what the thread that does the \
I/O used, by each tool's own account of its measured time; \"process\" is what the kernel charged \
to the whole process, start-up included. Where the kernel accounts CPU time by ticks, the split \
between user and system time is sampled, so a hundredth of a microsecond means little.";

/// The runs of one tool on one workload.
pub struct Rounds {
    /// How it is called; absent where it has no part.
    pub invocation: Option<Invocation>,
    /// One outcome per round.
    pub outcomes: Vec<Outcome>,
}

impl Rounds {
    /// No round yet.
    pub fn new(invocation: Option<Invocation>) -> Rounds {
        Rounds { invocation, outcomes: Vec::new() }
    }

    /// One round more.
    pub fn run(&mut self, folder: &Folder) -> Result<(), String> {
        if let Some(invocation) = &self.invocation {
            self.outcomes.push(invocation.run(folder)?);
        }
        Ok(())
    }

    fn iops(&self) -> Option<Spread> {
        Spread::of(self.outcomes.iter().map(|o| o.iops))
    }

    fn per_op_us(&self, seconds: impl Fn(&Outcome) -> f64) -> Option<f64> {
        let ops = total(&self.outcomes, |o| o.ops);
        (ops > 0.0).then(|| total(&self.outcomes, seconds) * 1e6 / ops)
    }

    fn thread_user_us(&self) -> Option<f64> {
        self.per_op_us(|o| o.own_user_s)
    }

    fn process_user_us(&self) -> Option<f64> {
        self.per_op_us(|o| o.process_user_s)
    }

    fn json(&self) -> Value {
        let rounds: Vec<Value> = self
            .outcomes
            .iter()
            .map(|o| {
                json!({
                    "ops": o.ops, "iops": o.iops, "thread_user_s": o.own_user_s,
                    "process_user_s": o.process_user_s, "process_system_s": o.process_system_s,
                    "p50_ns": o.p50_ns, "p99_ns": o.p99_ns,
                })
            })
            .collect();
        json!({
            "command": self.invocation.as_ref().map(Invocation::text),
            "iops": spread_json(self.iops()),
            "thread_user_us_per_op": self.thread_user_us(),
            "process_user_us_per_op": self.process_user_us(),
            "process_cpu_us_per_op": self.per_op_us(|o| o.process_user_s + o.process_system_s),
            "rounds": rounds,
        })
    }
}

/// One workload, all tools.
pub struct Row<'a> {
    /// Which.
    pub workload: &'a Workload,
    /// candor.
    pub candor: Rounds,
    /// fio.
    pub fio: Rounds,
    /// The bare loop.
    pub bare: Rounds,
    /// fio's settings that were tried with the operations per second of each, fastest first.
    pub fio_tried: Vec<(String, f64)>,
}

/// A goal with what was reached.
struct Reached {
    what: &'static str,
    goal: f64,
    figure: f64,
    met: bool,
}

impl Row<'_> {
    /// Operations per second of one tool over another's, round by round.
    fn ratio(one: &Rounds, other: &Rounds) -> Option<Spread> {
        Spread::of(one.outcomes.iter().zip(&other.outcomes).map(|(a, b)| a.iops / b.iops))
    }

    fn reached(&self) -> Vec<Reached> {
        let goal = &self.workload.goal;
        let median = |spread: Option<Spread>| spread.map(|s| s.median);
        let above_bare = self.candor.thread_user_us().zip(self.bare.thread_user_us());
        let at_least = [
            ("candor ÷ fio", goal.over_fio, median(Self::ratio(&self.candor, &self.fio))),
            ("candor ÷ bare", goal.over_bare, median(Self::ratio(&self.candor, &self.bare))),
            ("operations per second", goal.ops_per_s, median(self.candor.iops())),
        ];
        let mut all: Vec<Reached> = at_least
            .into_iter()
            .filter_map(|(what, goal, figure)| {
                let (goal, figure) = goal.zip(figure)?;
                Some(Reached { what, goal, figure, met: figure >= goal })
            })
            .collect();
        if let (Some(goal), Some((candor, bare))) = (goal.user_us_above_bare, above_bare) {
            let (what, figure) = ("user µs per operation above bare", candor - bare);
            all.push(Reached { what, goal, figure, met: figure <= goal });
        }
        let over_fio = self.candor.thread_user_us().zip(self.fio.thread_user_us());
        if let (Some(goal), Some((candor, fio))) = (goal.user_over_fio, over_fio) {
            let (what, figure) = ("user CPU per operation, candor ÷ fio", candor / fio);
            all.push(Reached { what, goal, figure, met: figure <= goal });
        }
        all
    }

    fn json(&self) -> Value {
        let goals: Vec<Value> = self
            .reached()
            .iter()
            .map(|r| json!({"what": r.what, "goal": r.goal, "figure": r.figure, "met": r.met}))
            .collect();
        let tried: Vec<Value> = self
            .fio_tried
            .iter()
            .map(|(setting, iops)| json!({"setting": setting, "iops": iops}))
            .collect();
        json!({
            "workload": self.workload.name,
            "title": self.workload.title,
            "candor": self.candor.json(),
            "fio": self.fio.json(),
            "bare": self.bare.json(),
            "candor_over_fio": spread_json(Self::ratio(&self.candor, &self.fio)),
            "candor_over_bare": spread_json(Self::ratio(&self.candor, &self.bare)),
            "fio_over_bare": spread_json(Self::ratio(&self.fio, &self.bare)),
            "goals": goals,
            "fio_settings_tried": tried,
        })
    }
}

/// A spread as an object, or null.
pub fn spread_json(spread: Option<Spread>) -> Value {
    spread.map_or(Value::Null, |s| json!({"median": s.median, "min": s.min, "max": s.max}))
}

/// One workload in one line of the terminal, goals below.
pub fn line(row: &Row) -> String {
    let mut text = format!("{:13}", row.workload.name);
    let sides = [("candor", &row.candor), ("fio", &row.fio), ("bare", &row.bare)];
    for (name, side) in sides {
        if let (Some(iops), Some(user)) = (side.iops(), side.thread_user_us()) {
            let _ = write!(text, "  {name} {} ({user:.3} µs user)", thousands(iops.median));
        }
    }
    let ratios = [
        ("candor/fio", Row::ratio(&row.candor, &row.fio)),
        ("candor/bare", Row::ratio(&row.candor, &row.bare)),
        ("fio/bare", Row::ratio(&row.fio, &row.bare)),
    ];
    for (name, ratio) in ratios {
        if let Some(ratio) = ratio {
            let _ = write!(text, "  {name} {}", ratio.text(3));
        }
    }
    for r in row.reached() {
        let met = if r.met { "met" } else { "missed" };
        let _ = write!(text, "\n               {met}: {} {:.3}, goal {}", r.what, r.figure, r.goal);
    }
    text
}

/// `1234567` as `1 234 567`, rounded to a whole number.
pub fn thousands(figure: f64) -> String {
    let digits = format!("{figure:.0}");
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// Writes `NAME.json` and `NAME.md`.
pub fn write(
    out: &Path,
    name: &str,
    machine: &[(&'static str, String)],
    pairs: usize,
    seconds: f64,
    rows: &[Row],
) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", out.display());
    let described: serde_json::Map<String, Value> =
        machine.iter().map(|(what, value)| ((*what).to_owned(), json!(value))).collect();
    let document = json!({
        "machine": described,
        "pairs": pairs,
        "seconds": seconds,
        "workloads": rows.iter().map(Row::json).collect::<Vec<_>>(),
    });
    fs::create_dir_all(out).map_err(failed)?;
    fs::write(out.join(format!("{name}.json")), format!("{document:#}\n")).map_err(failed)?;
    fs::write(out.join(format!("{name}.md")), markdown(machine, pairs, seconds, rows))
        .map_err(failed)
}

fn markdown(
    machine: &[(&'static str, String)],
    pairs: usize,
    seconds: f64,
    rows: &[Row],
) -> String {
    let mut text = String::from("# Side by side\n\n");
    let _ = writeln!(
        text,
        "candor, fio and a bare loop in turn, {pairs} rounds of {seconds} s each; median (least – \
         greatest) of the ratios of each round.\n"
    );
    for (what, value) in machine {
        let _ = writeln!(text, "- {what}: {value}");
    }
    text.push_str(
        "\n| workload | candor/s | fio/s | bare/s | candor ÷ fio | candor ÷ bare | fio ÷ bare |\n\
         |---|---:|---:|---:|---:|---:|---:|\n",
    );
    for row in rows {
        let iops = |side: &Rounds| side.iops().map_or("–".to_owned(), |s| thousands(s.median));
        let ratio = |a, b| Row::ratio(a, b).map_or("–".to_owned(), |s| s.text(3));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} |",
            row.workload.title,
            iops(&row.candor),
            iops(&row.fio),
            iops(&row.bare),
            ratio(&row.candor, &row.fio),
            ratio(&row.candor, &row.bare),
            ratio(&row.fio, &row.bare),
        );
    }
    cpu_table(&mut text, rows);
    goals_and_commands(&mut text, rows);
    text
}

fn cpu_table(text: &mut String, rows: &[Row]) {
    let _ = writeln!(text, "\n## User CPU per operation\n\n{ABOUT_CPU}\n");
    text.push_str(
        "| workload | candor thread | fio thread | bare thread | candor process | fio process | \
         bare process |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    let us = |figure: Option<f64>| figure.map_or("–".to_owned(), |us| format!("{us:.3} µs"));
    for row in rows {
        let sides = [&row.candor, &row.fio, &row.bare];
        let cells: Vec<String> = sides
            .iter()
            .map(|side| us(side.thread_user_us()))
            .chain(sides.iter().map(|side| us(side.process_user_us())))
            .collect();
        let _ = writeln!(text, "| {} | {} |", row.workload.title, cells.join(" | "));
    }
}

fn goals_and_commands(text: &mut String, rows: &[Row]) {
    text.push_str("\n## Goals\n\n");
    for row in rows {
        for r in row.reached() {
            let met = if r.met { "met" } else { "missed" };
            let Reached { what, goal, figure, .. } = r;
            let _ =
                writeln!(text, "- {}: {what} {figure:.3}, goal {goal}: {met}", row.workload.name);
        }
    }
    text.push_str("\n## Commands\n");
    for row in rows {
        let _ = writeln!(text, "\n{}:\n\n```sh", row.workload.title);
        for side in [&row.candor, &row.fio, &row.bare] {
            if let Some(invocation) = &side.invocation {
                let _ = writeln!(text, "{}", invocation.text());
            }
        }
        text.push_str("```\n");
        if !row.fio_tried.is_empty() {
            text.push_str("\nfio's settings that were tried, fastest first:\n\n");
        }
        for (setting, iops) in &row.fio_tried {
            let setting = if setting.is_empty() { "(defaults)" } else { setting };
            let _ = writeln!(text, "- {}/s: `{setting}`", thousands(*iops));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::WORKLOADS;

    fn rounds(iops: &[f64], user_s: f64) -> Rounds {
        let outcome = |&iops: &f64| Outcome {
            ops: iops,
            iops,
            own_user_s: user_s,
            process_user_s: user_s,
            process_system_s: 0.0,
            p50_ns: None,
            p99_ns: None,
        };
        Rounds { invocation: None, outcomes: iops.iter().map(outcome).collect() }
    }

    #[test]
    fn ratios_are_by_round_and_goals_are_judged() {
        let row = Row {
            workload: &WORKLOADS[0],
            candor: rounds(&[120.0, 240.0, 300.0], 1e-5),
            fio: rounds(&[100.0, 200.0, 300.0], 2e-5),
            bare: rounds(&[130.0, 260.0, 310.0], 0.0),
            fio_tried: Vec::new(),
        };
        let reached = row.reached();
        assert!((reached[0].figure - 1.2).abs() < 1e-9 && reached[0].met);
        assert!((reached[1].figure - 240.0 / 260.0).abs() < 1e-9 && !reached[1].met);
        assert!((reached[2].figure - 3e-5 * 1e6 / 660.0).abs() < 1e-9 && reached[2].met);
        assert!(line(&row).contains("missed: candor ÷ bare 0.923"));
        assert!(markdown(&[], 3, 2.0, &[row]).contains("| 240 | 200 | 260 |"));
    }

    #[test]
    fn big_numbers_are_grouped() {
        assert_eq!(thousands(1_234_567.4), "1 234 567");
        assert_eq!(thousands(12.0), "12");
    }
}
