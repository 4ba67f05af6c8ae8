//! Random option mixes of IOR, run by the real program and by candor, and compared.
//!
//! `mixes_ior REAL_PROGRAM CANDOR FOLDER FIRST_SEED SEEDS [--keep]`. `REAL_PROGRAM` is a script
//! that starts IOR on `$CANDOR_RANKS` ranks with the words that it gets; candor reads the same
//! variable. Result: a table on stdout; exit code 1 if a seed differs and no documented
//! reason covers it. `results/mixes_ior.md` is the last run.

use std::path::Path;
use std::process::ExitCode;

use candor_bench::mixes::{self, Dialect, Dice, Difference, Facts, Mix, Ran};

struct Ior;

/// Lines of the options whose values follow from the words.
const OPTIONS: [&str; 15] = [
    "api",
    "test filename",
    "access",
    "type",
    "segments",
    "ordering in a file",
    "ordering inter file",
    "task offset",
    "tasks",
    "repetitions",
    "xfersize",
    "blocksize",
    "aggregate filesize",
    "stonewallingTime",
    "stoneWallingWearOut",
];

/// Columns of the summary that follow from the words, by their numbers from the end.
const EXACT_COLUMNS: usize = 15;

fn words(text: &str) -> Vec<String> {
    text.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Phases, of which a later command may need the files of an earlier one.
fn phases(dice: &mut Dice) -> Vec<&'static str> {
    match dice.below(8) {
        0 => vec!["-w -k", "-r -k"],
        1 => vec!["-w -k", "-r"],
        2 => vec!["-w -W"],
        3 => vec!["-w -r -R"],
        4 => vec!["-w -k", "-R"],
        5 => vec!["-w -k", "-w -E -k"],
        6 => vec![""],
        _ => vec!["-w -r"],
    }
}

/// Sizes: transfer, block, segments.
fn sizes(dice: &mut Dice) -> String {
    let transfer = 8 << dice.below(11);
    let block = transfer * [1, 1, 2, 4, 5, 16][dice.below(6) as usize];
    let segments = [1, 1, 2, 3, 7][dice.below(5) as usize];
    let shown = |bytes: u64| match bytes % 1024 {
        0 => format!("{}k", bytes / 1024),
        _ => bytes.to_string(),
    };
    // A block that no transfer divides is refused.
    let block = if dice.chance(4) { block + 8 } else { block };
    match dice.below(3) {
        0 => format!("-t {} -b {} -s {segments}", shown(transfer), shown(block)),
        1 => format!("-t={} -b={} -s={segments}", shown(transfer), shown(block)),
        _ => format!("-O transferSize={transfer},blockSize={block},segmentCount={segments}"),
    }
}

/// Words that all commands of a mix share.
fn shared(dice: &mut Dice) -> String {
    let mut line = sizes(dice);
    let mut add = |percent: u64, words: &str| {
        if dice.chance(percent) {
            line += " ";
            line += words;
        }
    };
    add(45, "-F");
    add(70, "-G 77");
    for (percent, words) in [
        (15, "-z"),
        (8, "-z --random-offset-seed 5"),
        (15, "-C"),
        (10, "-Z"),
        (4, "-Z -Z"),
        (8, "-X 3"),
        (10, "-Q 1"),
        (12, "-e"),
        (8, "-Y"),
        (10, "-g"),
        (12, "-i 2"),
        (8, "-m"),
        (10, "-u"),
        (8, "-A 9"),
        (6, "-x"),
        (8, "-v"),
        (4, "-vv"),
        (5, "-N 1"),
        (5, "-c"),
        (5, "-d 0.01"),
        (6, "-D 20"),
        (4, "-D 20 -O stoneWallingWearOut=1"),
        (3, "-T 1"),
        (6, "-l o"),
        (4, "-l i"),
        (4, "-l r"),
        (3, "-j 5"),
        (6, "-K"),
        (8, "-a MMAP"),
        (5, "-a DUMMY"),
        (3, "-O useO_DIRECT=0"),
        (2, "--warningAsErrors"),
        (3, "-v2"),
        (3, "-O summaryAlways=1"),
        (2, "--randomPrefill=8"),
        (2, "-J 4"),
        (2, "--nonsense"),
    ] {
        add(percent, words);
    }
    line
}

impl Dialect for Ior {
    const TOOL: &'static str = "ior";

    fn draw(dice: &mut Dice) -> Mix {
        let phases = phases(dice);
        let shared = shared(dice);
        let name = *dice.one_of(&["f", "./f", "abc", "sub.dir"]);
        let runs: Vec<Vec<String>> =
            phases.iter().map(|phase| words(&format!("{phase} {shared} -o {name}"))).collect();
        // Without a signature the time is in each word.
        let compares_bytes = shared.contains("-G 77");
        Mix { runs, compares_bytes, ..Mix::default() }
    }

    fn facts(ran: &Ran, _: &Path) -> Facts {
        let mut facts = Facts::new();
        let mut add = |name: String, value: String| {
            facts.entry(name).and_modify(|all| *all += &format!("; {value}")).or_insert(value);
        };
        for line in ran.stdout.lines() {
            let cells: Vec<&str> = line.split_whitespace().collect();
            if let Some((name, value)) = line.split_once(':') {
                let name = name.trim();
                if OPTIONS.contains(&name) {
                    add(format!("option {name}"), value.trim().to_owned());
                }
            }
            match cells[..] {
                ["write" | "read", _, _, _, block, xfer, .., iteration] if cells.len() == 11 => {
                    add(format!("row {}", cells[0]), format!("{block} {xfer} {iteration}"));
                }
                ["write" | "read", ..] if cells.len() == 27 => {
                    let exact = cells[cells.len() - EXACT_COLUMNS..].join(" ");
                    add(format!("summary {}", cells[0]), exact);
                }
                ["Pairs", "deadlineForStonewallingaccessed:", count] => {
                    add("pairs".into(), count.to_owned());
                }
                ["WARNING:", "Incorrect", ..] => add("errors".into(), line.to_owned()),
                _ => {}
            }
        }
        facts
    }

    fn is_result(name: &str) -> bool {
        name == "status"
    }

    fn known(mix: &Mix, difference: &Difference) -> Option<&'static str> {
        let all = mix.runs.concat();
        let has = |word: &str| all.iter().any(|known| known == word);
        let counted = |word: &str| mix.runs[0].iter().filter(|known| *known == word).count();
        if difference.is_of_exits() {
            return match (difference.real.as_str(), difference.candor.as_str()) {
                ("0", _) if has("--randomPrefill=8") && has("-z") => None,
                ("0", "1") => None,
                (_, "1") => Some("both fail: MPI's launcher has codes of its own, candor has 1"),
                ("136", "0") if counted("-z") > 1 => {
                    Some("IOR divides by zero in writes with -z -z")
                }
                (_, "0") if has("--warningAsErrors") => {
                    Some("IOR's own warnings about the host end it with --warningAsErrors")
                }
                _ => None,
            };
        }
        if difference.fact.contains("summary ") && has("summaryAlways=1") {
            return Some(
                "IOR prints one summary with -O summaryAlways=1; candor prints one of each test",
            );
        }
        if difference.fact.starts_with("file ") && has("MMAP") && has("-F") {
            return Some(
                "IOR's MMAP makes each file of -F as long as the files of all tasks together",
            );
        }
        let is_of_order =
            difference.fact.starts_with("file ") || difference.fact.ends_with("pairs");
        if is_of_order && has("-z") && !has("-F") {
            return Some("orders of -z in a shared file are drawn by candor's own generator");
        }
        None
    }
}

fn main() -> ExitCode {
    mixes::main::<Ior>()
}
