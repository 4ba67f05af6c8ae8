//! Random option mixes of elbencho, run by the real program and by candor, and compared.
//!
//! `mixes_elbencho REAL_PROGRAM CANDOR FOLDER FIRST_SEED SEEDS [--keep]`; the folder is scratch on
//! a real disk. Result: a table on stdout; exit code 1 if a seed differs and no documented
//! reason covers it. `results/mixes_elbencho.md` is the last run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use candor_bench::mixes::{self, Dialect, Dice, Difference, Facts, Made, Mix, Ran};
use serde_json::Value;

struct Elbencho;

/// Files of results that commands of a mix write.
const RESULTS: [&str; 6] = ["out.csv", "out.json", "out.txt", "live.csv", "ops.json", "list.txt"];

/// Columns of CSV whose values are times and rates, by a part of their name.
const VARYING: [&str; 6] = ["date", "time ms", "/s [", "IOPS", "CPU%", "lat us"];

/// Kind of the paths of a mix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File,
    Tree,
}

impl Kind {
    /// All phases that a command may have.
    fn all(self) -> &'static [&'static str] {
        match self {
            Kind::File => &["-w", "-w -r", "-r", "-w -r -F", "-F", "-w --stat"],
            _ => &["-d -w", "-d -w -r -F -D", "--stat -r", "-r", "-F -D", "-D", "-w", "-d"],
        }
    }
}

/// Content of the paths between two commands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Empty,
    Folders,
    Full,
}

impl State {
    /// Phases that find the files that they need.
    fn phases(self, dice: &mut Dice, kind: Kind) -> &'static str {
        let all: &[&str] = match (kind, self) {
            (Kind::File, State::Full) => &["-r", "-r", "-w", "-w -r", "-F", "-w -r -F"],
            (Kind::File, _) => &["-w", "-w", "-w", "-w -r", "-w -r -F"],
            (_, State::Full) => &["--stat -r", "-r", "-F -D", "-w", "-d -w", "--stat -r -F -D"],
            (_, State::Folders) => &["-w", "-d -w", "-w -r", "-D"],
            (_, State::Empty) => &["-d -w", "-d -w", "-d -w", "-d -w -r -F -D", "-d"],
        };
        dice.one_of::<&str>(all)
    }

    fn after(self, phases: &str) -> State {
        let has = |phase: &str| phases.split(' ').any(|given| given == phase);
        match () {
            () if has("-D") || has("-F") => State::Empty,
            () if has("-w") => State::Full,
            () if has("-d") && self == State::Empty => State::Folders,
            () => self,
        }
    }
}

/// A command line while it is drawn.
struct Line<'a> {
    dice: &'a mut Dice,
    words: Vec<String>,
}

impl Line<'_> {
    fn add(&mut self, words: &str) {
        self.words.extend(words.split(' ').map(str::to_owned));
    }

    /// Adds words in `percent` of a hundred cases.
    fn maybe(&mut self, percent: u64, words: &str) {
        if self.dice.chance(percent) {
            self.add(words);
        }
    }

    /// Adds an option with one of several values in `percent` of a hundred cases.
    fn maybe_one(&mut self, percent: u64, option: &str, values: &[&str]) {
        if self.dice.chance(percent) {
            let value = *self.dice.one_of(values);
            self.add(&format!("{option} {value}"));
        }
    }
}

/// Parts that all commands of a mix share.
struct Shape {
    kind: Kind,
    sizes: Vec<String>,
    paths: String,
    verifies: bool,
    conflicts: bool,
    /// Blocks are multiples of a sector, and sizes are multiples of blocks.
    is_aligned: bool,
    is_empty: bool,
}

impl Dialect for Elbencho {
    const TOOL: &'static str = "elbencho";

    fn draw(dice: &mut Dice) -> Mix {
        let kind = match dice.below(10) {
            0..=4 => Kind::Folder,
            5..=8 => Kind::File,
            _ => Kind::Tree,
        };
        // Most mixes leave out options that exclude each other; the others compare refusals.
        let conflicts = dice.chance(12);
        let shape = shape(dice, kind, conflicts);
        let mut state = State::Empty;
        let mut runs = Vec::new();
        for _ in 0..1 + dice.below(3) {
            let phases =
                if conflicts { *dice.one_of(kind.all()) } else { state.phases(dice, kind) };
            runs.push(command(dice, &shape, phases));
            state = state.after(phases);
        }
        let mut made = vec![Made::Folder("d".into()), Made::Folder("e".into())];
        made.push(Made::File("list.txt".into(), tree(dice).into_bytes()));
        made.push(Made::File("config.txt".into(), config(dice).into_bytes()));
        Mix { made, runs, compares_bytes: shape.verifies }
    }

    fn facts(ran: &Ran, folder: &Path) -> Facts {
        let mut facts = Facts::new();
        table(&ran.stdout, &mut facts);
        csv(folder, &mut facts);
        json(folder, &mut facts);
        text(folder, &mut facts);
        operations(folder, &mut facts);
        for name in RESULTS.iter().filter(|name| **name != "list.txt") {
            let _ = fs::remove_file(folder.join(name));
        }
        facts
    }

    fn is_result(name: &str) -> bool {
        RESULTS.contains(&name)
    }

    fn known(mix: &Mix, difference: &Difference) -> Option<&'static str> {
        let has = |word: &str| mix.runs.iter().flatten().any(|given| given == word);
        let is_exit = difference.is_of_exits();
        let fact = difference.fact.as_str();
        let of_files = ["iles total", "entries", ".bytes", "MiB", "Ent lat", "Files "];
        let of_sizes = ["--trunctosize", "--preallocfile", "--rand"];
        match () {
            () if is_exit && difference.real == "none" => {
                Some("a signal ends the real program (`--mmap` of a file without its size)")
            }
            () if is_exit && has("--preallocfile") && difference.real == "1" => {
                Some("the real program fails to allocate blocks of an empty file")
            }
            () if has("--rankoffset") && !has("-n") => {
                Some("`--rankoffset` makes the real program skip data or use wrong descriptors")
            }
            () if fact.contains(" operation ") && difference.real.is_empty() => {
                Some("the real program logs no I/O of mappings, removals of named files or lists")
            }
            () if is_exit && has("--rwmixthr") && !has("--trunctosize") => Some(
                "readers of `--rwmixthr` race with the writers of a new file in the real program",
            ),
            () if is_exit && has("--treefile") && has("--trunc") => {
                Some("candor refuses `--trunc` for files that several workers share")
            }
            () if has("--treefile") && of_files.iter().any(|part| fact.contains(part)) => {
                Some("the real program does not count files above the share size")
            }
            () if has("--strided") && (fact.contains("bytes") || fact.contains("MiB")) => Some(
                "`--strided` makes the real program leave out blocks that do not divide evenly",
            ),
            () if fact.contains("file ") && of_sizes.into_iter().any(has) => {
                Some("the real program extends a file before it cuts its size to whole blocks")
            }
            () => None,
        }
    }
}

fn shape(dice: &mut Dice, kind: Kind, conflicts: bool) -> Shape {
    let block = *dice.one_of(&["4k", "16k", "64k", "1m", "1000"]);
    let (mut is_aligned, mut is_empty) = (block != "1000", false);
    let mut sizes = vec![format!("-b {block}")];
    let paths = match kind {
        Kind::Folder => {
            let size = *dice.one_of(&["0", "4k", "10000", "64k", "100k", "1m"]);
            is_aligned &= !["10000", "100k"].contains(&size);
            is_empty = size == "0";
            let (dirs, files) = (dice.below(3), 1 + dice.below(3));
            sizes.push(format!("-s {size} -n {dirs} -N {files}"));
            if dice.chance(20) {
                sizes.push("--dirsharing".into());
            }
            *dice.one_of(&["d", "d", "d", "d e", "file://d", "d,e"])
        }
        Kind::File => {
            // Files of fewer blocks than workers are refused.
            let all = ["64k", "100k", "1000000", "1m", "4m"];
            let fits = match block {
                _ if conflicts => &all[..],
                "64k" => &all[2..],
                "1m" => &all[4..],
                _ => &all[..],
            };
            let size = *dice.one_of(fits);
            is_aligned &= !["100k", "1000000"].contains(&size);
            sizes.push(format!("-s {size}"));
            *dice.one_of(&["f", "f", "f", "f g", "f[1-3]"])
        }
        Kind::Tree => {
            is_aligned = false;
            sizes.push("--treefile list.txt".into());
            if dice.chance(40) {
                sizes.push(format!("--sharesize {}", dice.one_of(&["8k", "64k", "1m"])));
            }
            "d"
        }
    };
    sizes.push(format!("-t {}", 1 + dice.below(3)));
    if dice.chance(if conflicts { 20 } else { 2 }) {
        sizes.push("--rankoffset 1".into());
    }
    let verifies = dice.chance(25);
    Shape { kind, sizes, paths: paths.into(), verifies, conflicts, is_aligned, is_empty }
}

/// Lines of a tree file.
fn tree(dice: &mut Dice) -> String {
    let mut text = String::from("d a\nd a/b\nd c\n");
    for number in 0..3 + dice.below(4) {
        let folder = dice.one_of(&["", "a/", "a/b/", "c/"]);
        let size = dice.one_of(&[0, 1, 4096, 10_000, 65_536, 300_000]);
        text += &format!("f {size} {folder}file{number}\n");
    }
    text
}

/// Lines of a file of options: the command line has others of them, too.
fn config(dice: &mut Dice) -> String {
    let mut text = String::from("# options\nlat=1\n");
    for line in ["threads=2", "block=8k", "nolive=1", "dirstats=true", "direct=false", "log=0"] {
        if dice.chance(30) {
            text += line;
            text.push('\n');
        }
    }
    text
}

fn command(dice: &mut Dice, shape: &Shape, phases: &str) -> Vec<String> {
    let mut line = Line { dice, words: Vec::new() };
    line.add(phases);
    shape.sizes.iter().for_each(|words| line.add(words));
    if shape.verifies {
        line.add("--verify 7");
    }
    let writes = phases.split(' ').any(|phase| phase == "-w");
    if shape.conflicts {
        all_modes(&mut line);
    } else {
        modes(&mut line, shape, writes);
    }
    access(&mut line);
    partners(&mut line);
    output(&mut line);
    line.maybe(90, "--nolive");
    line.words.extend(shape.paths.split(' ').map(str::to_owned));
    let Line { dice, words } = line;
    if dice.chance(10) { words.iter().map(|word| long(dice, word)).collect() } else { words }
}

/// Options of which some exclude others, each drawn by itself.
fn all_modes(line: &mut Line<'_>) {
    line.maybe(20, "--rand");
    line.maybe(6, "--norandalign");
    line.maybe_one(6, "--randamount", &["64k", "256k", "1m"]);
    line.maybe(10, "--backward");
    line.maybe(12, "--strided");
    line.maybe_one(20, "--iodepth", &["1", "2", "4"]);
    line.maybe(15, "--direct");
    line.maybe(4, "--mmap");
    line.maybe(6, "--preallocfile");
    line.maybe(8, "--readinline");
    line.maybe(4, "--verifydirect");
    line.maybe_one(12, "--rwmixpct", &["0", "30", "70"]);
    line.maybe_one(8, "--rwmixthr", &["0", "1", "2"]);
    line.maybe_one(3, "--rwmixthrpct", &["30"]);
    line.maybe(15, "--trunctosize");
}

/// The same options without those that exclude each other.
fn modes(line: &mut Line<'_>, shape: &Shape, writes: bool) {
    let is_file = shape.kind == Kind::File;
    let may_be_random = !(shape.verifies && writes) && (shape.is_aligned || !is_file);
    match line.dice.below(100) {
        0..30 if may_be_random => {
            line.add("--rand");
            line.maybe(12, "--norandalign");
            line.maybe_one(15, "--randalgo", &["fast", "balanced_single", "strong"]);
            if is_file {
                line.maybe_one(15, "--randamount", &["3m", "4m", "6m", "4000001", "5000000"]);
            }
        }
        30..42 => line.add("--backward"),
        42..55 if is_file && shape.is_aligned => line.add("--strided"),
        _ => {}
    }
    match line.dice.below(10) {
        0..3 => line.maybe_one(100, "--iodepth", &["1", "2", "4"]),
        3 => line.add("--readinline"),
        _ => {}
    }
    if shape.is_aligned {
        line.maybe(18, "--direct");
        line.maybe(5, "--nodiocheck");
    }
    if shape.verifies && writes {
        line.maybe(15, "--verifydirect");
    }
    if is_file && !shape.is_empty {
        line.maybe(5, "--preallocfile");
    }
    let mixes = writes && !shape.verifies && !shape.is_empty;
    match line.dice.below(100) {
        0..14 if mixes => {
            line.maybe_one(100, "--rwmixpct", &["0", "30", "70"]);
            line.add("--trunctosize");
        }
        14..20 if mixes && is_file => {
            line.maybe_one(100, "--rwmixthr", &["0", "1"]);
            line.add("--trunctosize");
        }
        20..23 if !writes => line.add("--mmap"),
        23..38 => line.add("--trunctosize"),
        _ => {}
    }
}

/// Options that any command may have.
fn access(line: &mut Line<'_>) {
    line.maybe_one(4, "--madv", &["seq", "rand,willneed"]);
    line.maybe_one(5, "--fadv", &["seq", "willneed,dontneed"]);
    line.maybe_one(8, "--flock", &["range", "full"]);
    line.maybe_one(6, "--limitwrite", &["50m", "100m"]);
    line.maybe_one(6, "--limitread", &["50m", "100m"]);
    line.maybe(6, "--trunc");
    line.maybe(6, "--nofdsharing");
    line.maybe(8, "--statinline");
    line.maybe(8, "--dirstats");
    line.maybe(15, "--nodelerr");
    line.maybe_one(10, "--blockvarpct", &["0", "50", "100"]);
    line.maybe_one(5, "--blockvaralgo", &["fast", "balanced", "strong"]);
}

/// Options that have no effect without another one.
fn partners(line: &mut Line<'_>) {
    for option in ["--treerand", "--treeroundrob", "--opsloglock", "--no0usecerr", "--nosvcshare"] {
        line.maybe(4, option);
    }
    line.maybe_one(3, "--treeroundup", &["4k"]);
    line.maybe_one(3, "--sendbuf", &["64k"]);
    line.maybe_one(3, "--respsize", &["1"]);
    line.maybe_one(3, "--cores", &["0", "all"]);
    line.maybe_one(3, "--zones", &["0"]);
    line.maybe(5, "--sync");
    line.maybe(2, "--dropcache");
    line.maybe_one(10, "-i", &["2"]);
    line.maybe(4, "--dryrun");
    line.maybe_one(3, "--svcupint", &["100"]);
    line.maybe_one(3, "--svcwait", &["1"]);
    line.maybe_one(3, "--recvbuf", &["64k"]);
    line.maybe_one(3, "--numhosts", &["0", "1"]);
    line.maybe_one(3, "--rotatehosts", &["1"]);
    line.maybe_one(3, "--port", &["1700"]);
    line.maybe_one(2, "--phasedelay", &["1"]);
    line.maybe_one(3, "--start", &["1"]);
    line.maybe_one(10, "--timelimit", &["60"]);
    for option in ["--svcelapsed", "--svcping", "--nopathexp", "--live1", "--live1n"] {
        line.maybe(3, option);
    }
    line.maybe(5, "-c config.txt");
}

/// The long form of a short option, or a beginning of it that no other option has.
fn long(dice: &mut Dice, word: &str) -> String {
    let long = match word {
        "-d" => "--mkdirs",
        "-w" => "--write",
        "-r" => "--read",
        "-F" => "--delfiles",
        "-D" => "--deldirs",
        "-t" => "--threads",
        "-i" => "--iterations",
        "-n" => "--dirs",
        "-N" => "--files",
        "-b" => "--block",
        "-s" => "--size",
        _ => return word.to_owned(),
    };
    match long {
        "--iterations" if dice.chance(50) => "--iter".into(),
        "--mkdirs" if dice.chance(50) => "--mkd".into(),
        _ => long.to_owned(),
    }
}

fn output(line: &mut Line<'_>) {
    line.maybe(40, "--lat");
    line.maybe(15, "--latpercent");
    line.maybe_one(10, "--latpercent9s", &["1", "2"]);
    line.maybe(10, "--lathisto");
    line.maybe(10, "--allelapsed");
    line.maybe(15, "--cpu");
    line.maybe(10, "--base10");
    line.maybe_one(15, "--label", &["one", "a,b"]);
    line.maybe_one(10, "--log", &["1"]);
    line.add("--csvfile out.csv --jsonfile out.json --resfile out.txt");
    line.maybe(5, "--nocsvlabels");
    line.maybe(10, "--livecsv live.csv");
    line.maybe(5, "--livecsvex");
    line.maybe_one(5, "--liveint", &["500"]);
    line.maybe(15, "--opslog ops.json");
    line.maybe(4, "--direct=false");
}

/// Rows of the table: counts with their last column, other rows by their names.
fn table(text: &str, facts: &mut Facts) {
    let (mut phase, mut number) = (String::new(), 0);
    for line in text.lines() {
        // With --log 1 the real program begins such a line with the time.
        let said = line.find("[Starting").map_or(line, |at| &line[at..]);
        if ["[Starting", "Phase: ", "* "].iter().any(|begin| said.starts_with(begin)) {
            facts.insert(format!("line {number:02}"), said.to_owned());
            number += 1;
        }
        let Some((head, values)) = line.split_once(" :") else { continue };
        if head.len() < 12 || line.starts_with("* ") {
            continue;
        }
        let (name, row) = head.split_at(12);
        if !name.trim().is_empty() {
            number += 1;
            phase = format!("{number:02} {}", name.trim());
        }
        let row = row.trim();
        let is_count = ["total", "MiB write", "MiB read", "Files write", "Files read", "Total MiB"]
            .iter()
            .any(|end| row.ends_with(end) && !row.contains("/s") && row != "IOPS total");
        let value = if is_count {
            values.split_whitespace().last().unwrap_or_default().to_owned()
        } else {
            form(values)
        };
        facts.insert(format!("{phase} {row}"), value);
    }
}

/// The form of values: a list, or their number.
fn form(values: &str) -> String {
    if values.trim_start().starts_with('[') {
        "list".into()
    } else {
        format!("{} values", values.split_whitespace().count())
    }
}

/// Fields of CSV: counts and settings with their values, others as empty, whole or other numbers.
fn csv(folder: &Path, facts: &mut Facts) {
    let Ok(text) = fs::read_to_string(folder.join("out.csv")) else { return };
    let has_head = text.starts_with("ISO date,");
    facts.insert("csv head".into(), has_head.to_string());
    let mut lines = text.lines();
    let head: Vec<&str> =
        if has_head { lines.next() } else { None }.unwrap_or("").split(',').collect();
    if has_head {
        facts.insert("csv columns".into(), head.join(","));
    }
    for (number, line) in lines.enumerate() {
        for (column, field) in line.split(',').enumerate() {
            let name = head.get(column).copied().unwrap_or("");
            let varies = VARYING.iter().any(|part| name.contains(part)) || name.contains("[first]");
            let value = match (name, varies || name.is_empty()) {
                ("command", _) => without_program(field),
                (_, false) => field.to_owned(),
                (_, true) => kind_of(field),
            };
            facts.insert(format!("csv {number:02} {name}"), value);
        }
    }
}

fn without_program(command: &str) -> String {
    command.split_once(' ').map_or(String::new(), |(_, words)| words.to_owned())
}

fn kind_of(field: &str) -> String {
    match field {
        "" => "empty".into(),
        number if number.parse::<u64>().is_ok() => "whole number".into(),
        number if number.parse::<f64>().is_ok() => "number".into(),
        date if date.len() == 28 && date.starts_with("20") => "date".into(),
        other => other.to_owned(),
    }
}

/// Keys of JSON: counts and settings with their values, others by the kind of their text.
fn json(folder: &Path, facts: &mut Facts) {
    let Ok(text) = fs::read_to_string(folder.join("out.json")) else { return };
    for (number, line) in text.lines().enumerate() {
        match serde_json::from_str::<Value>(line) {
            Ok(value) => leaves(&format!("json {number:02}"), &value, facts),
            Err(error) => {
                facts.insert(format!("json {number:02}"), error.to_string());
            }
        }
    }
}

fn leaves(at: &str, value: &Value, facts: &mut Facts) {
    let exact = at.contains(".config.") || at.ends_with("label") || at.ends_with("phase_type");
    let counts = at.contains(".last_done") && (at.ends_with(".bytes") || at.ends_with(".entries"));
    match value {
        Value::Object(all) => {
            all.iter().for_each(|(key, value)| leaves(&format!("{at}.{key}"), value, facts));
        }
        Value::Array(all) => {
            let of = all.first().map_or("nothing".into(), |first| match first {
                Value::Object(keys) => keys.keys().cloned().collect::<Vec<_>>().join(","),
                other => other.to_string(),
            });
            facts.insert(at.to_owned(), format!("list of {of}"));
        }
        Value::String(text) if at.ends_with(".command") => {
            facts.insert(at.to_owned(), without_program(text));
        }
        Value::String(text) if exact || counts => {
            facts.insert(at.to_owned(), text.clone());
        }
        Value::String(text) if at.ends_with("phase_id") => {
            facts.insert(at.to_owned(), format!("{} characters", text.len()));
        }
        Value::String(text) => {
            facts.insert(at.to_owned(), kind_of(text));
        }
        other => {
            facts.insert(at.to_owned(), other.to_string());
        }
    }
}

/// The lines of the results file that are not in a table.
fn text(folder: &Path, facts: &mut Facts) {
    let Ok(text) = fs::read_to_string(folder.join("out.txt")) else { return };
    let outside = text.lines().filter(|line| !line.contains(" :") && !line.starts_with("Note: "));
    for (number, line) in outside.enumerate() {
        let value = match line.split_once(": ") {
            Some(("ISO DATE", date)) => format!("ISO DATE of {} characters", date.len()),
            Some(("COMMAND LINE", words)) => format!("COMMAND LINE {}", without_program(words)),
            _ => line.to_owned(),
        };
        facts.insert(format!("text {number:02}"), value);
    }
}

/// Operations of the log: keys, and how often each one begins.
fn operations(folder: &Path, facts: &mut Facts) {
    let Ok(text) = fs::read_to_string(folder.join("ops.json")) else { return };
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for line in text.lines() {
        let Ok(Value::Object(line)) = serde_json::from_str::<Value>(line) else {
            facts.insert("operation".into(), "no JSON".into());
            continue;
        };
        let keys: Vec<&str> = line.keys().map(String::as_str).collect();
        facts.insert("operation keys".into(), keys.join(","));
        let name = line.get("op_name").and_then(Value::as_str).unwrap_or_default();
        // Of the others, the real program logs some, or their beginning alone.
        let is_compared = ["openat", "pread", "pwrite", "aioread", "aiowrite"].contains(&name);
        if is_compared && line.get("is_finished") == Some(&Value::Bool(false)) {
            *counts.entry(format!("operation {name}")).or_default() += 1;
        }
    }
    facts.extend(counts.into_iter().map(|(name, count)| (name, count.to_string())));
}

fn main() -> ExitCode {
    mixes::main::<Elbencho>()
}
