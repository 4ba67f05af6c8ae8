//! Random command lines, each run by the real tool and by candor in fresh folders, and compared.
//!
//! A [`Dialect`] draws a [`Mix`] from a seed and reads facts out of what a program printed. The
//! frame runs both programs and compares exit codes, facts, names and sizes of files, and the
//! SHA-256 of their content where the mix determines it. One seed always gives the same mix.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

/// Longest time of one command.
const TIME_MAX: Duration = Duration::from_secs(30);

/// Random numbers of a seed (splitmix64).
pub struct Dice(u64);

impl Dice {
    /// The numbers of that seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 to `end`, `end` excluded.
    pub fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One element of a list.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// Command lines of one seed, run one after another in one folder.
#[derive(Clone, Debug, Default)]
pub struct Mix {
    /// Folders and files that exist before the first command: a name, and bytes of a file.
    pub made: Vec<Made>,
    /// Words of each command, without the program's name.
    pub runs: Vec<Vec<String>>,
    /// The words determine every byte of the files.
    pub compares_bytes: bool,
}

/// Something that exists before the first command.
#[derive(Clone, Debug)]
pub enum Made {
    /// An empty folder.
    Folder(String),
    /// A file with this content.
    File(String, Vec<u8>),
}

/// Output of one command.
pub struct Ran {
    /// Exit code; absent if a signal or the time limit ended the program.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Facts about a run by name. Two programs agree if they have the same facts.
pub type Facts = BTreeMap<String, String>;

/// A fact with two values: the real tool's and candor's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Name of the fact.
    pub fact: String,
    /// Value of the real tool; empty if it has none.
    pub real: String,
    /// Value of candor; empty if it has none.
    pub candor: String,
}

impl Difference {
    /// True if the fact is an exit code.
    pub fn is_of_exits(&self) -> bool {
        self.fact.ends_with(" exit")
    }
}

/// Command lines of one tool.
pub trait Dialect {
    /// Name by which programs are called.
    const TOOL: &'static str;
    /// Draws a mix.
    fn draw(dice: &mut Dice) -> Mix;
    /// The command that starts a program, without the words of a mix.
    fn command(program: &Path) -> Command {
        let mut command = Command::new(program);
        command.arg0(Self::TOOL);
        command
    }
    /// Facts about one command: from its output, and from result files in its folder.
    fn facts(ran: &Ran, folder: &Path) -> Facts;
    /// True for a result file, whose bytes are not compared.
    fn is_result(name: &str) -> bool;
    /// The known fault of the real tool, or the documented decision, that explains a difference.
    fn known(mix: &Mix, difference: &Difference) -> Option<&'static str>;
}

/// Judgement of one seed.
#[derive(Debug, PartialEq, Eq)]
enum Ruling {
    Same,
    BothRefused,
    Known(BTreeSet<&'static str>),
    Differs(Vec<Difference>),
}

/// Arguments of a comparison.
struct Args {
    real: PathBuf,
    candor: PathBuf,
    folder: PathBuf,
    seeds: std::ops::Range<u64>,
    keeps: bool,
}

const USAGE: &str = "usage: REAL_PROGRAM CANDOR FOLDER FIRST_SEED SEEDS [--keep]";

fn args() -> Option<Args> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let keeps = words.last().is_some_and(|word| word == "--keep");
    words.truncate(words.len() - usize::from(keeps));
    let [real, candor, folder, first, seeds] = &words[..] else { return None };
    let (first, seeds): (u64, u64) = (first.parse().ok()?, seeds.parse().ok()?);
    let path = |word: &String| std::path::absolute(word).ok();
    let (real, candor, folder) = (path(real)?, path(candor)?, path(folder)?);
    Some(Args { real, candor, folder, seeds: first..first + seeds, keeps })
}

/// Compares the seeds that the command line names and prints the result as Markdown.
pub fn main<D: Dialect>() -> ExitCode {
    let Some(args) = args() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    let mut known: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
    for seed in args.seeds.clone() {
        let mix = D::draw(&mut Dice::new(seed));
        let (ruling, said) = compared::<D>(&args, seed, &mix);
        let name = match &ruling {
            Ruling::Same => "same",
            Ruling::BothRefused => "both refused",
            Ruling::Known(_) => "documented",
            Ruling::Differs(_) => "differs",
        };
        *counts.entry(name).or_default() += 1;
        match ruling {
            Ruling::Differs(differences) => report::<D>(seed, &mix, &differences, &said),
            Ruling::Known(reasons) => {
                reasons.into_iter().for_each(|reason| known.entry(reason).or_default().push(seed));
            }
            Ruling::Same | Ruling::BothRefused => {}
        }
    }
    println!("| result | seeds |\n|---|---:|");
    counts.iter().for_each(|(name, count)| println!("| {name} | {count} |"));
    println!("\n| documented difference | seeds |\n|---|---|");
    for (reason, seeds) in known {
        let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
        println!("| {reason} | {} |", seeds.join(", "));
    }
    ExitCode::from(u8::from(counts.contains_key("differs")))
}

fn report<D: Dialect>(seed: u64, mix: &Mix, differences: &[Difference], said: &[String; 2]) {
    println!("seed {seed}:");
    for words in &mix.runs {
        println!("  {} {}", D::TOOL, words.join(" "));
    }
    for Difference { fact, real, candor } in differences {
        println!("    {fact}: real `{real}`, candor `{candor}`");
    }
    for (name, said) in ["real", "candor"].iter().zip(said) {
        said.lines().for_each(|line| println!("    {name} said: {line}"));
    }
    println!();
}

/// The ruling, and what each program said before it failed.
fn compared<D: Dialect>(args: &Args, seed: u64, mix: &Mix) -> (Ruling, [String; 2]) {
    let run = |program: &Path, side: &str| {
        let folder = args.folder.join(format!("{seed}-{side}"));
        let found = facts_of::<D>(program, &folder, mix);
        if !args.keeps {
            fs::remove_dir_all(&folder).expect("a folder of this run can be removed");
        }
        found
    };
    let (real, candor) = (run(&args.real, "real"), run(&args.candor, "candor"));
    (ruled::<D>(mix, &real.0, &candor.0), [real.1, candor.1])
}

fn ruled<D: Dialect>(mix: &Mix, real: &Facts, candor: &Facts) -> Ruling {
    let names: BTreeSet<&String> = real.keys().chain(candor.keys()).collect();
    let of = |facts: &Facts, name: &String| facts.get(name).cloned().unwrap_or_default();
    let all = names.into_iter().map(|name| Difference {
        fact: name.clone(),
        real: of(real, name),
        candor: of(candor, name),
    });
    let mut differences: Vec<_> = all.filter(|found| found.real != found.candor).collect();
    if differences.iter().any(Difference::is_of_exits) {
        // Everything after the first of these exits differs, too.
        differences.retain(Difference::is_of_exits);
        differences.truncate(1);
    }
    if differences.is_empty() {
        let refused = real.iter().any(|(name, code)| name.ends_with(" exit") && code != "0");
        return if refused { Ruling::BothRefused } else { Ruling::Same };
    }
    let reasons: Option<BTreeSet<_>> = differences.iter().map(|d| D::known(mix, d)).collect();
    reasons.map_or(Ruling::Differs(differences), Ruling::Known)
}

/// Runs the commands of a mix in a new folder; all facts, and the complaint of one that fails.
fn facts_of<D: Dialect>(program: &Path, folder: &Path, mix: &Mix) -> (Facts, String) {
    fs::create_dir_all(folder).expect("a folder can be made");
    for made in &mix.made {
        let done = match made {
            Made::Folder(name) => fs::create_dir_all(folder.join(name)),
            Made::File(name, bytes) => fs::write(folder.join(name), bytes),
        };
        done.expect("files of a mix can be made");
    }
    let mut facts = Facts::new();
    for (number, words) in (1..).zip(&mix.runs) {
        let mut command = D::command(program);
        command.args(words).current_dir(folder).env("HOME", folder).env("CANDOR_HISTORY", "off");
        let ran = run(&mut command, folder);
        let code = ran.code.map_or("none".to_owned(), |code| code.to_string());
        let failed = code != "0";
        facts.insert(format!("{number} exit"), code);
        if failed {
            // Programs stop at an error in different states.
            return (facts, ran.stderr);
        }
        let of_run = D::facts(&ran, folder);
        facts.extend(of_run.into_iter().map(|(name, value)| (format!("{number} {name}"), value)));
    }
    files(folder, Path::new(""), &mut |name, found| {
        if !D::is_result(name) {
            facts.insert(format!("file {name}"), described(folder, name, found, mix));
        }
    });
    (facts, String::new())
}

fn described(folder: &Path, name: &str, found: &fs::Metadata, mix: &Mix) -> String {
    match (found.is_dir(), mix.compares_bytes) {
        (true, _) => "folder".to_owned(),
        (false, false) => format!("{} bytes", found.len()),
        (false, true) => format!("{} bytes, {}", found.len(), sha256(&folder.join(name))),
    }
}

/// Visits everything below a folder, names relative to it.
fn files(folder: &Path, below: &Path, visit: &mut dyn FnMut(&str, &fs::Metadata)) {
    let listed = fs::read_dir(folder.join(below)).expect("a folder of this run can be read");
    for entry in listed {
        let entry = entry.expect("a folder of this run can be read");
        let found = entry.metadata().expect("a file of this run can be looked up");
        let name = below.join(entry.file_name());
        visit(&name.to_string_lossy(), &found);
        if found.is_dir() {
            files(folder, &name, visit);
        }
    }
}

fn sha256(path: &Path) -> String {
    let mut file = File::open(path).expect("a file of this run can be opened");
    let (mut hash, mut bytes) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut bytes).expect("a file of this run can be read") {
            0 => break,
            count => hash.update(&bytes[..count]),
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs a command to its end, or kills it after [`TIME_MAX`].
fn run(command: &mut Command, folder: &Path) -> Ran {
    // Pipes without a reader would stop the program: its output goes to files.
    let [out, err] = ["stdout", "stderr"].map(|name| folder.with_extension(name));
    let file = |path: &Path| File::create(path).expect("a file of this run can be made");
    command.stdin(Stdio::null()).stdout(file(&out)).stderr(file(&err));
    let mut child = command.spawn().expect("the program can be started");
    let code = ended(&mut child);
    let text = |path: &Path| {
        let bytes = fs::read(path).expect("a file of this run can be read");
        fs::remove_file(path).expect("a file of this run can be removed");
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ran { code, stdout: text(&out), stderr: text(&err) }
}

fn ended(child: &mut Child) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < TIME_MAX {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("a child can be killed");
    child.wait().expect("a child can be waited for");
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Echo;

    impl Dialect for Echo {
        const TOOL: &'static str = "echo";
        fn draw(dice: &mut Dice) -> Mix {
            let words = vec!["-c".to_owned(), format!("echo {}", dice.below(100))];
            Mix { runs: vec![words], ..Mix::default() }
        }
        fn facts(ran: &Ran, _: &Path) -> Facts {
            Facts::from([("said".to_owned(), ran.stdout.clone())])
        }
        fn is_result(name: &str) -> bool {
            name == "log"
        }
        fn known(_: &Mix, difference: &Difference) -> Option<&'static str> {
            (difference.real == "known").then_some("it is known")
        }
    }

    #[test]
    fn a_seed_always_gives_the_same_mix() {
        let drawn = |seed| Echo::draw(&mut Dice::new(seed)).runs;
        assert_eq!(drawn(7), drawn(7));
        assert!((0..20).any(|seed| drawn(seed) != drawn(7)));
        let mut dice = Dice::new(1);
        assert!((0..100).all(|_| dice.below(3) < 3));
    }

    #[test]
    fn exit_codes_output_and_files_are_facts() {
        let folder = std::env::temp_dir().join(format!("candor-mixes-{}", std::process::id()));
        let script = "echo hi; printf abc > d/f; printf x > log";
        let made = vec![Made::Folder("d".into())];
        let runs = vec![vec!["-c".to_owned(), script.to_owned()]];
        let mix = Mix { made, runs, compares_bytes: true };
        let (facts, _) = facts_of::<Echo>(Path::new("/bin/sh"), &folder, &mix);
        fs::remove_dir_all(&folder).expect("the folder can be removed");
        let of = |name: &str| facts.get(name).map(String::as_str);
        assert_eq!(of("1 exit"), Some("0"));
        assert_eq!(of("1 said"), Some("hi\n"));
        assert_eq!(of("file d"), Some("folder"));
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(of("file d/f"), Some(&format!("3 bytes, {hash}")[..]));
        assert_eq!(of("file log"), None);
    }

    #[test]
    fn a_ruling_knows_what_is_documented() {
        let facts = |code: &str, said: &str| {
            Facts::from([("1 exit".into(), code.into()), ("1 said".into(), said.into())])
        };
        let ruled = |real: &Facts, candor: &Facts| ruled::<Echo>(&Mix::default(), real, candor);
        assert_eq!(ruled(&facts("0", "a"), &facts("0", "a")), Ruling::Same);
        assert_eq!(ruled(&facts("1", "a"), &facts("1", "a")), Ruling::BothRefused);
        let known = BTreeSet::from(["it is known"]);
        assert_eq!(ruled(&facts("0", "known"), &facts("0", "b")), Ruling::Known(known));
        let found = ruled(&facts("0", "a"), &facts("0", "b"));
        assert!(matches!(found, Ruling::Differs(differences) if differences.len() == 1));
    }
}
