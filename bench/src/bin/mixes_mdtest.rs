//! Random option mixes of mdtest, run by the real program and by candor, and compared.
//!
//! `mixes_mdtest REAL_PROGRAM CANDOR FOLDER FIRST_SEED SEEDS [--keep]`. `REAL_PROGRAM` is a
//! script that starts mdtest on `$CANDOR_RANKS` ranks with the words that it gets; candor reads the
//! same variable. Result: a table on stdout; exit code 1 if a seed differs and no documented
//! reason covers it. `results/mixes_mdtest.md` is the last run.

use std::path::Path;
use std::process::ExitCode;

use candor_bench::mixes::{self, Dialect, Dice, Difference, Facts, Mix, Ran};

struct Mdtest;

/// Rows of the block of rates.
const ROWS: [&str; 10] = [
    "Directory creation",
    "Directory stat",
    "Directory rename",
    "Directory removal",
    "File creation",
    "File stat",
    "File read",
    "File removal",
    "Tree creation",
    "Tree removal",
];

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Operations of each command: later ones may need the files of earlier ones.
fn operations(dice: &mut Dice) -> Vec<&'static str> {
    match dice.below(9) {
        0 => vec!["-C", "-T", "-r"],
        1 => vec!["-C", "-E", "-r"],
        2 => vec!["-C"],
        3 => vec!["-C -T -r"],
        4 => vec!["-C -T -E"],
        5 => vec!["-C -U -D", "-r -D"],
        6 => vec!["-T"],
        _ => vec![""],
    }
}

/// Words that all commands of a mix share.
fn shared(dice: &mut Dice) -> String {
    let mut line = match dice.below(5) {
        0 => format!("-I {}", 1 + dice.below(5)),
        1 => format!("-n {} -I 2", 2 * (1 + dice.below(4))),
        _ => format!("-n {}", dice.below(30)),
    };
    if dice.chance(40) {
        line += &format!(" -z {} -b {}", dice.below(4), 1 + dice.below(3));
    }
    let mut add = |percent: u64, words: &str| {
        if dice.chance(percent) {
            line += " ";
            line += words;
        }
    };
    for (percent, words) in [
        (30, "-F"),
        (15, "-D"),
        (20, "-u"),
        (12, "-L"),
        (12, "-N 1"),
        (8, "-i 2"),
        (20, "-w 100"),
        (12, "-e 50"),
        (8, "-w 64 -e 64 -X"),
        (5, "--verify-write"),
        (50, "-G 3"),
        (6, "-y"),
        (5, "-Y"),
        (6, "-c"),
        (5, "-S"),
        (6, "-k"),
        (8, "-P"),
        (6, "-Z"),
        (8, "-R"),
        (4, "-R42"),
        (6, "-v"),
        (5, "-V 1"),
        (6, "-f 1 -l 2"),
        (4, "-s 1"),
        (4, "-W 30"),
        (4, "-t"),
        (4, "--print-all-procs"),
        (5, "--showRankStatistics"),
        (4, "-a DUMMY"),
        (3, "-p 0"),
        (3, "--dataPacketType=o"),
        (2, "--warningAsErrors"),
        (2, "--nonsense"),
        (2, "-B"),
    ] {
        add(percent, words);
    }
    line
}

impl Dialect for Mdtest {
    const TOOL: &'static str = "mdtest";

    fn draw(dice: &mut Dice) -> Mix {
        let operations = operations(dice);
        let shared = shared(dice);
        let line = |of: &&str| words(&format!("{of} {shared} -d md"));
        // The default content has the time in it, and a seed is not enough for -l t in all files.
        let compares_bytes = shared.contains("-G 3");
        Mix { runs: operations.iter().map(line).collect(), compares_bytes, ..Mix::default() }
    }

    fn facts(ran: &Ran, _: &Path) -> Facts {
        let mut facts = Facts::new();
        let mut add = |name: String, value: String| {
            facts.entry(name).and_modify(|all| *all += &format!("; {value}")).or_insert(value);
        };
        let mut is_of_rates = false;
        for line in ran.stdout.lines() {
            let text = line.trim();
            if line.contains(" tasks, ") {
                add("totals".into(), text.to_owned());
            }
            if let Some(of) = line.strip_prefix("SUMMARY ") {
                is_of_rates = of.starts_with("rate");
                add("blocks".into(), of.split(' ').next().unwrap_or_default().to_owned());
            }
            if let Some(errors) = line.strip_prefix("ERROR: verifying the data") {
                add("errors".into(), errors.to_owned());
            }
            let row = ROWS.iter().find(|row| line.starts_with("   ") && text.starts_with(**row));
            if let Some(row) = row {
                let cells: Vec<f64> =
                    text[row.len()..].split_whitespace().flat_map(str::parse).collect();
                // Times of few items are 0 in the digits that are shown.
                let is_there = is_of_rates && cells.first().is_some_and(|rate| *rate > 0.0);
                add(format!("row {row}"), format!("{} {is_there}", cells.len()));
            }
        }
        facts
    }

    fn is_result(_: &str) -> bool {
        false
    }

    fn known(mix: &Mix, difference: &Difference) -> Option<&'static str> {
        let all = mix.runs.concat();
        let has = |word: &str| all.iter().any(|known| known == word);
        if difference.is_of_exits() {
            return match (difference.real.as_str(), difference.candor.as_str()) {
                ("0", _) if has("-W") && has("-I") && has("-n") => {
                    Some("mdtest ends after the first test directory of -n and -I with -W")
                }
                ("0", _) => None,
                (_, "1") => Some("both fail: MPI's launcher has codes of its own, candor has 1"),
                (_, "0") if has("-B") => Some("mdtest refuses -B by a rule about -W"),
                (_, "0") if has("--warningAsErrors") => {
                    Some("warnings about the back end itself end mdtest with --warningAsErrors")
                }
                (_, "0") if has("-c") && has("-u") => {
                    Some("mdtest cannot make the trees of -u by task 0 (-c); candor can")
                }
                _ => None,
            };
        }
        if has("-S") && has("-D") {
            return Some("mdtest does nothing where -S shares files and -D leaves them out");
        }
        let is_deep = has("-z");
        if is_deep && has("-u") && has("-N") && difference.fact.starts_with("file ") {
            return Some("mdtest looks below trees of other tasks with -u, -N and several levels");
        }
        if is_deep && has("-n") && has("-I") {
            return Some("mdtest miscounts the items of -n and -I in a tree of several levels");
        }
        let makes = has("-C") || !["-T", "-E", "-r", "-U"].iter().any(|word| has(word));
        if difference.fact == "file md" && !makes {
            return Some("mdtest makes the directory of -d even where nothing is made in it");
        }
        if difference.fact.ends_with("totals") && difference.real.contains("WARNING") {
            return Some("lines of mdtest's tasks run into each other");
        }
        if difference.fact.contains(" row ") && difference.real.contains("true") {
            return Some("mdtest counts operations that failed as work; candor does not");
        }
        None
    }
}

fn main() -> ExitCode {
    mixes::main::<Mdtest>()
}
