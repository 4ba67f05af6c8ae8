//! Random parameter files of vdbench, simulated by the real program and by candor, and compared.
//!
//! `mixes_vdbench REAL_PROGRAM CANDOR FOLDER FIRST_SEED SEEDS [--keep]`: the programs get `-s -f`
//! and a parameter file, so that no device is touched. Result: a table on stdout; exit code 1 if a
//! seed differs and no documented reason covers it. `results/mixes_vdbench.md` is the last run.

use std::path::Path;
use std::process::ExitCode;

use candor_bench::mixes::{self, Dialect, Dice, Difference, Facts, Made, Mix, Ran};

struct Vdbench;

/// A parameter file while it is drawn.
struct Sheet<'a> {
    dice: &'a mut Dice,
    text: String,
}

impl Sheet<'_> {
    /// Adds parameters to the last line, each in a percentage of cases.
    fn maybe(&mut self, all: &[(u64, &str)]) {
        for (percent, parameter) in all {
            if self.dice.chance(*percent) {
                self.text += ",";
                self.text += parameter;
            }
        }
    }

    fn line(&mut self, words: &str) {
        self.text += "\n";
        self.text += words;
    }

    fn raw(&mut self) {
        let sds = 1 + self.dice.below(3);
        if self.dice.chance(20) {
            self.line("sd=default,size=1g");
            self.maybe(&[(50, "threads=4"), (30, "openflags=o_direct"), (20, "hitarea=1m")]);
        }
        for nth in 1..=sds {
            self.line(&format!("sd=sd{nth},lun=/dev/rdsk/c0t{nth}d0s0,size=100m"));
            self.maybe(&[
                (30, "threads=3"),
                (20, "align=4k"),
                (10, "offset=4k"),
                (5, "range=(10,90)"),
            ]);
        }
        let wds = 1 + self.dice.below(3);
        for nth in 1..=wds {
            let sd = *self.dice.one_of(&["sd*", "sd1", "(sd1)", "(sd1-sd1)"]);
            self.line(&format!("wd=wd{nth},sd={sd}"));
            self.maybe(&[
                (40, "xfersize=4k"),
                (10, "xf=(4k,50,8k,50)"),
                (30, "rdpct=70"),
                (10, "readpct=0"),
                (20, "seekpct=0"),
                (10, "seekpct=eof"),
                (10, "seekpct=random"),
                (10, "rhpct=20"),
                (5, "whpct=5"),
                (5, "range=(0,50)"),
            ]);
            if wds == 2 && self.dice.chance(40) {
                self.text += ",skew=50";
            }
        }
        let rds = 1 + self.dice.below(3);
        for nth in 1..=rds {
            let wd = *self.dice.one_of(&["wd1", "wd*", "(wd1)"]);
            let rate =
                *self.dice.one_of(&["max", "100", "curve", "(100,200)", "1000", "(100-300,100)"]);
            self.line(&format!("rd=rd{nth},wd={wd},iorate={rate}"));
            self.times();
            self.maybe(&[
                (15, "forthreads=(1,4)"),
                (10, "forthreads=(1-8,d)"),
                (10, "forx=(4k,8k)"),
                (8, "forxfersize=(64k-16k,d)"),
                (8, "forrdpct=(0,50,100)"),
                (6, "forrdpct=(100-0,10)"),
                (5, "forseekpct=(0,100)"),
                (5, "forhitarea=(1m,2m)"),
                (4, "curve=(10,50,100)"),
                (4, "pause=1"),
                (4, "distribution=u"),
                (3, "maxdata=1g"),
                (2, "nonsense=1"),
            ]);
        }
    }

    fn times(&mut self) {
        let elapsed = *self.dice.one_of(&["4", "10", "60", "1m", "2h"]);
        self.text += &format!(",elapsed={elapsed}");
        self.maybe(&[(30, "interval=1"), (15, "warmup=2"), (5, "in=2")]);
    }

    fn files(&mut self) {
        let fsds = 1 + self.dice.below(2);
        for nth in 1..=fsds {
            let (depth, width, files) =
                (1 + self.dice.below(3), 1 + self.dice.below(3), 1 + self.dice.below(20));
            let anchor = format!("/nowhere/dir{nth}");
            self.line(&format!(
                "fsd=fsd{nth},anchor={anchor},depth={depth},width={width},files={files},size=16k"
            ));
            self.maybe(&[(20, "distribution=all"), (10, "openflags=o_direct"), (10, "shared=no")]);
        }
        let fwds = 1 + self.dice.below(3);
        for nth in 1..=fwds {
            let operation = *self
                .dice
                .one_of(&["read", "write", "create", "getattr", "open", "mkdir", "delete"]);
            self.line(&format!("fwd=fwd{nth},fsd=fsd1,operation={operation}"));
            self.maybe(&[
                (50, "xfersize=4k"),
                (30, "fileio=random"),
                (30, "fileselect=random"),
                (40, "threads=2"),
                (10, "stopafter=10"),
            ]);
        }
        let rds = 1 + self.dice.below(3);
        for nth in 1..=rds {
            let fwd = *self.dice.one_of(&["fwd1", "fwd*", "(fwd1)"]);
            let rate = *self.dice.one_of(&["max", "100", "(100,200)"]);
            let format = *self.dice.one_of(&["yes", "no", "restart", "(restart,only)"]);
            self.line(&format!("rd=rd{nth},fwd={fwd},fwdrate={rate},format={format}"));
            self.times();
            self.maybe(&[
                (10, "forthreads=(1,4)"),
                (8, "forxfersize=(4k,8k)"),
                (8, "fordepth=(1-3,1)"),
                (6, "forwidth=(1,2)"),
                (6, "forfiles=(10,20)"),
                (5, "forsizes=(4k,8k)"),
                (5, "forrdpct=(100-0,10)"),
                (5, "operations=(read,write)"),
                (5, "foroperations=(read,write)"),
            ]);
        }
    }
}

impl Dialect for Vdbench {
    const TOOL: &'static str = "vdbench";

    fn draw(dice: &mut Dice) -> Mix {
        let of_files = dice.chance(40);
        let mut sheet = Sheet { dice, text: "* drawn".into() };
        for (percent, general) in
            [(10, "compratio=2"), (6, "data_errors=5"), (5, "report=no"), (4, "messagescan=no")]
        {
            if sheet.dice.chance(percent) {
                sheet.line(general);
            }
        }
        if of_files {
            sheet.files();
        } else {
            sheet.raw();
        }
        let text = sheet.text + "\n";
        let mut run = vec!["-s".to_owned(), "-f".to_owned(), "parm".to_owned()];
        for (percent, word) in [(6, "-e20"), (5, "-i2"), (4, "-w3")] {
            if dice.chance(percent) {
                run.push(word.to_owned());
            }
        }
        run.extend(["-o", "out"].map(str::to_owned));
        Mix {
            made: vec![Made::File("parm".into(), text.into_bytes())],
            runs: vec![run],
            ..Mix::default()
        }
    }

    fn facts(ran: &Ran, _: &Path) -> Facts {
        let runs = ran.stdout.lines().filter_map(|line| line.split_once("Simulating "));
        let runs: Vec<String> = runs.map(|(_, run)| run.trim().to_owned()).collect();
        let mut facts = Facts::from([("runs".to_owned(), runs.len().to_string())]);
        for (nth, run) in runs.into_iter().enumerate() {
            facts.insert(format!("run {nth}"), run);
        }
        facts
    }

    fn is_result(name: &str) -> bool {
        name != "parm"
    }

    fn known(mix: &Mix, difference: &Difference) -> Option<&'static str> {
        let text = mix.made.iter().find_map(|made| match made {
            Made::File(_, bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            Made::Folder(_) => None,
        });
        let text = text.unwrap_or_default();
        let has = |word: &str| text.contains(word);
        if difference.is_of_exits() {
            return match (difference.real.as_str(), difference.candor.as_str()) {
                ("0", "157") if has("rhpct=") || has("whpct=") || has("range=") => {
                    Some("candor has hits, and ranges of hits, for random places only")
                }
                _ => None,
            };
        }
        let loops = |run: &str| run.split_once("For loops: ").map(|(_, loops)| loops.to_owned());
        let is_rate = difference.real.contains("I/O rate: ") && difference.real.contains("iorate=");
        if is_rate && loops(&difference.real) == loops(&difference.candor) {
            return Some("headings of a loop of rates name the first rate in vdbench");
        }
        None
    }
}

fn main() -> ExitCode {
    mixes::main::<Vdbench>()
}
