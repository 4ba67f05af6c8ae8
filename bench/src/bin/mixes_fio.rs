//! Random command lines of fio, run by fio 3.42 and by candor, and compared.
//!
//! Exit codes, counts of the JSON, lines of `write_iolog` and files are compared. Both tools draw
//! random numbers of their own: where a mix asks for some, the lines are compared as a set if the
//! mix determines that, or else not at all.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use candor_bench::mixes::{self, Dialect, Dice, Difference, Facts, Mix, Ran};
use serde_json::Value;
use sha2::{Digest, Sha256};

const LOG: &str = "operations.log";
const OWN_DRAWS: &str = "each tool draws random numbers of its own";
const OWN_ORDER: &str = "operations in flight end in any order";
const SILENT_LOG: &str = "fio logs sync_file_range, and its own reader refuses that line";
const SPEAKS: &str = "fio warns on stderr, candor in the notes of the results";
const STATE: &str = "a saved state of verification holds another number of entries";
const MAP: &str = "with sizes by direction, the map of fio 3.42 ends passes early";
const PAST_END: &str = "the null engine of fio reads past the end of a file shorter than size";
const ON_OPEN: &str = "a file that is made on opening and only read: EIO in fio, ENOENT here";
const SHARED_LOG: &str = "processes of fio that share a log lose lines of it";
const ON_CLOSE: &str = "fio logs the flush of each close, candor those within the job";
const SHARE: &str = "a share as offset of a new file: fio heeds it from the second pass on";
const GROUPS: &str = "one job with group_reporting: fio adds it to the job before it";
const MSYNC: &str = "a flush of a mapping of odd blocks fails in fio";
const LAST_FLUSH: &str = "fio makes and logs the final flush after each pass";

struct Fio;

/// Words of one job.
struct Job<'d> {
    dice: &'d mut Dice,
    words: Vec<String>,
}

impl Job<'_> {
    fn put(&mut self, name: &str, value: &str) {
        self.words.push(format!("--{name}={value}"));
    }

    /// Puts an option with one of these values in `percent` of a hundred jobs.
    fn perhaps(&mut self, percent: u64, name: &str, values: &[&str]) -> Option<String> {
        if !self.dice.chance(percent) {
            return None;
        }
        let value = (*self.dice.one_of(values)).to_owned();
        self.put(name, &value);
        Some(value)
    }

    fn one(&mut self, name: &str, values: &[&str]) -> String {
        self.perhaps(100, name, values).unwrap_or_default()
    }

    fn draw(&mut self) {
        const ORDERED: &[&str] = &["read", "write", "rw", "write", "read"];
        const RANDOM: &[&str] = &["randread", "randwrite", "randrw"];
        let is_random = self.dice.chance(45);
        let rw = self.one("rw", if is_random { RANDOM } else { ORDERED });
        self.sizes();
        let engines = ["psync", "sync", "pvsync", "libaio", "io_uring", "null", "mmap", "vsync"];
        let engine = self.one("ioengine", &engines);
        if ["libaio", "io_uring"].contains(&engine.as_str()) {
            self.perhaps(60, "iodepth", &["2", "4", "16"]);
        }
        if engine != "mmap" && self.dice.chance(20) {
            self.put("direct", "1");
        }
        self.files();
        if is_random {
            self.order();
        } else {
            self.perhaps(10, "rw", &["read:4k", "write:8k", "rw:4k"]);
        }
        if rw.ends_with("rw") {
            self.perhaps(40, "rwmixread", &["0", "20", "75", "100"]);
        }
        self.ends();
        if rw.contains("write") {
            self.durability();
        }
        self.perhaps(15, "numjobs", &["2", "3"]);
        self.perhaps(20, "group_reporting", &["1"]);
        self.perhaps(10, "unified_rw_reporting", &["mixed", "both"]);
        self.perhaps(8, "zonemode", &["strided"]).inspect(|_| {
            self.words.extend(["--zonesize=16k".to_owned(), "--zonerange=64k".to_owned()]);
        });
        self.perhaps(10, "rate_iops", &["2000", "5000,4000"]);
        self.perhaps(8, "thinktime", &["10", "50us"]);
        self.perhaps(10, "gtod_reduce", &["1"]);
        self.perhaps(10, "thread", &["1"]);
        self.perhaps(8, "clat_percentiles", &["0"]);
        self.perhaps(8, "percentile_list", &["50:99", "1:99.9"]);
        self.perhaps(8, "invalidate", &["0"]);
    }

    fn sizes(&mut self) {
        match self.dice.below(10) {
            0..=5 => drop(self.one("bs", &["4k", "8k", "512", "16k", "3k"])),
            6 => drop(self.one("bs", &["4k,8k", "8k,4k,16k", ",8k"])),
            7 => drop(self.one("bsrange", &["4k-16k", "4k-8k,8k-16k"])),
            _ => drop(self.one("bssplit", &["4k/50:8k/50", "4k/20:16k/80,8k/100", "4k/:8k/:16k/"])),
        }
        self.one("size", &["256k", "512k", "1m", "100k", "1000k"]);
        self.perhaps(12, "blockalign", &["4k", "8k"]);
        self.perhaps(5, "bs_unaligned", &["1"]);
    }

    fn files(&mut self) {
        self.perhaps(20, "nrfiles", &["2", "3", "4"]);
        self.perhaps(8, "filesize", &["128k", "64k", "100k"]);
        let services = ["roundrobin", "sequential", "random", "roundrobin:4", "sequential:2"];
        self.perhaps(12, "file_service_type", &services);
        self.perhaps(12, "offset", &["64k", "16k", "25%"]);
        self.perhaps(6, "offset_increment", &["64k"]);
        self.perhaps(6, "openfiles", &["1", "2"]);
        self.perhaps(6, "overwrite", &["1"]);
        self.perhaps(6, "unlink", &["1"]);
        self.perhaps(6, "create_on_open", &["1"]);
        self.perhaps(6, "fallocate", &["none", "posix", "truncate"]);
    }

    fn order(&mut self) {
        self.perhaps(25, "norandommap", &["1"]);
        self.perhaps(15, "randrepeat", &["0"]);
        self.perhaps(15, "randseed", &["17"]);
        self.perhaps(15, "percentage_random", &["50", "0"]);
        self.perhaps(12, "random_distribution", &["zipf:1.2", "pareto:0.3", "normal:20"]);
        self.perhaps(10, "random_generator", &["lfsr", "tausworthe64"]);
        self.perhaps(8, "rw_sequencer", &["identical"]);
    }

    fn ends(&mut self) {
        self.perhaps(15, "io_size", &["128k", "2m", "300k"]);
        self.perhaps(10, "number_ios", &["7", "40", "1000"]);
        self.perhaps(15, "loops", &["2", "3"]);
    }

    fn durability(&mut self) {
        self.perhaps(15, "fsync", &["3", "16"]);
        self.perhaps(10, "fdatasync", &["4"]);
        self.perhaps(12, "end_fsync", &["1"]);
        self.perhaps(6, "fsync_on_close", &["1"]);
        self.perhaps(6, "sync_file_range", &["write:4"]);
        self.perhaps(6, "sync", &["1"]);
        if self.perhaps(25, "verify", &["crc32c", "md5", "meta", "sha256"]).is_some() {
            self.perhaps(30, "do_verify", &["0"]);
            self.perhaps(20, "verify_interval", &["512", "1k"]);
        }
    }
}

impl Dialect for Fio {
    const TOOL: &'static str = "fio";

    fn draw(dice: &mut Dice) -> Mix {
        let mut words: Vec<String> = ["--output-format=json", "--name=a"].map(str::to_owned).into();
        let mut job = Job { dice: &mut *dice, words: Vec::new() };
        job.draw();
        words.append(&mut job.words);
        words.push(format!("--write_iolog={LOG}"));
        if dice.chance(15) {
            words.push("--name=b".to_owned());
            let mut job = Job { dice, words: Vec::new() };
            job.perhaps(50, "stonewall", &["1"]);
            job.draw();
            words.append(&mut job.words);
        }
        Mix { runs: vec![words], ..Mix::default() }
    }

    fn facts(ran: &Ran, folder: &Path) -> Facts {
        let mut facts = Facts::new();
        facts.insert("silent".to_owned(), ran.stderr.is_empty().to_string());
        let json = ran.stdout.find('{').map(|at| &ran.stdout[at..]);
        let document: Value =
            json.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let jobs = document["jobs"].as_array().map_or(&[][..], Vec::as_slice);
        for (nth, job) in jobs.iter().enumerate() {
            facts.insert(format!("{nth} error"), job["error"].to_string());
            for direction in ["read", "write", "trim", "mixed"] {
                let of = &job[direction];
                let counts = format!("{} {}", of["total_ios"], of["io_bytes"]);
                facts.insert(format!("{nth} {direction}"), counts);
            }
            facts.insert(format!("{nth} syncs"), job["sync"]["total_ios"].to_string());
        }
        if let Ok(text) = fs::read_to_string(folder.join(LOG)) {
            log(&text, &mut facts);
        }
        facts
    }

    fn is_result(name: &str) -> bool {
        name == LOG
    }

    fn known(mix: &Mix, difference: &Difference) -> Option<&'static str> {
        let words = mix.runs.concat();
        let has = |parts: &[&str]| {
            words.iter().any(|word| parts.iter().any(|part| word.starts_with(part)))
        };
        let fact = difference.fact.as_str();
        let (of_log, is_random) = (fact.contains("log"), has(&["--rw=rand"]));
        let counts = ["read", "write", "mixed", "syncs"].iter().any(|end| fact.ends_with(end));
        let draws = has(&DRAWS) || (is_random && has(&DRAWS_OF_RANDOM));
        match () {
            () if fact.ends_with("silent") && difference.candor == "true" => Some(SPEAKS),
            () if fact.ends_with("verify.state") => Some(STATE),
            () if of_log && has(&["--sync_file_range"]) => Some(SILENT_LOG),
            () if of_log && has(&["--fsync_on_close"]) => Some(ON_CLOSE),
            () if of_log && has(&["--numjobs", "--name=b"]) => Some(SHARED_LOG),
            () if draws && (counts || of_log) => Some(OWN_DRAWS),
            () if is_random && has(&["--bs=4k,8k", "--bs=8k,4k,16k", "--bs=,8k"]) => Some(MAP),
            () if has(&["--ioengine=null"]) && has(&["--filesize"]) => Some(PAST_END),
            () if has(&["--offset=25%"]) && (of_log || (counts && has(&["--loops"]))) => {
                Some(SHARE)
            }
            () if counts && has(&["--name=b"]) && has(&["--group_reporting"]) => Some(GROUPS),
            () if has(&["--ioengine=mmap"]) && has(&["--bs=3k"]) => Some(MSYNC),
            () if fact.ends_with("log flushes") && has(&["--sync_file_range"]) => Some(SILENT_LOG),
            () if fact.ends_with("log flushes") && has(&["--end_fsync"]) => Some(LAST_FLUSH),
            () if has(&["--create_on_open"]) => Some(ON_OPEN),
            () if fact.ends_with("log order") && is_random => Some(OWN_DRAWS),
            () if fact.ends_with("log order") && has(&["--iodepth", "--numjobs", "--name=b"]) => {
                Some(OWN_ORDER)
            }
            () => None,
        }
    }
}

/// Options whose work is drawn by chance.
const DRAWS: [&str; 8] = [
    "--bsrange",
    "--bssplit",
    "--rw=rw",
    "--rw=randrw",
    "--norandommap",
    "--random_distribution",
    "--percentage_random",
    "--file_service_type=random",
];

/// Options that turn the map of random blocks off.
const DRAWS_OF_RANDOM: [&str; 5] =
    ["--blockalign", "--zonemode", "--rw_sequencer", "--number_ios", "--io_size"];

/// The lines of operations that move bytes, in their order and sorted, and the number of flushes.
fn log(text: &str, facts: &mut Facts) {
    let lines = text.lines().skip(1).map(|line| line.split_whitespace().skip(1).collect());
    let (mut moves, mut flushes): (Vec<String>, u64) = (Vec::new(), 0);
    for words in lines.collect::<Vec<Vec<&str>>>() {
        match words.get(1) {
            Some(&("read" | "write" | "trim")) => moves.push(words.join(" ")),
            Some(&("sync" | "datasync" | "sync_file_range")) => flushes += 1,
            _ => {}
        }
    }
    facts.insert("log order".to_owned(), digest(&moves));
    moves.sort();
    facts.insert("log set".to_owned(), digest(&moves));
    facts.insert("log flushes".to_owned(), flushes.to_string());
}

fn digest(lines: &[String]) -> String {
    let hash = Sha256::digest(lines.join("\n"));
    let short: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{} lines, {short}", lines.len())
}

fn main() -> ExitCode {
    mixes::main::<Fio>()
}
