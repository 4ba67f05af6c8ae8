//! Job files of fio and parameter files of vdbench, mutated, odd words of dd, elbencho, mdtest and
//! md-workbench, and mutated results of warp and other tools: reading and lowering end in
//! sentences, in a checked plan or in results, never in a panic.
//!
//! `FUZZ_SECONDS=3600 cargo test -p candor --release --test fuzz -- --nocapture` runs each test for
//! an hour of CPU time [default: two seconds]. `FUZZ_SEED` sets the first input. A failure prints
//! the input and its seed.

use std::ffi::OsString;
use std::io::{BufRead, Cursor};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_dd as dd;
use candor_elbencho as elbencho;
use candor_fio as fio;
use candor_fio::ast::{FioEnvironment, Keyword};
use candor_fio::lower;
use candor_fio::options;
use candor_fio::trace;
use candor_front::{Environment, Plain, ReadAs, Table};
use candor_front::{Found, Host};
use candor_md_workbench as md_workbench;
use candor_mdtest as mdtest;
use candor_plan::{List, ListError, Listing};
use candor_readers as results;
use candor_vdbench as vdbench;
use candor_warp as warp;

/// Time that no input may exceed. A job file can name a million files, at some 10 µs each.
const SLOW: Duration = Duration::from_secs(40);

/// Values that have broken parsers before.
const ODD: &[&str] = &[
    "",
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "1e3",
    "0x",
    "0xffffffffffffffffff",
    "1.5k",
    "nan",
    "inf",
    "4k",
    "4ki",
    "4kib",
    "100%",
    "101%",
    "0%",
    "1z",
    "99999999z",
    ",",
    ",,",
    "4k,",
    ",4k",
    ":",
    "::",
    "4k/50:8k/50",
    "/",
    "1-",
    "-1-2",
    "4k-1k",
    "(",
    ")",
    "((((1))))",
    "(1/0)",
    "(2^64)",
    "(1-2)k",
    "${HOME}",
    "${",
    "$",
    "$ncpus",
    "é",
    "\u{0}",
    "\"",
    "'",
    "\\",
    "%o",
    "zipf:",
    "zipf:0",
    "zipf:nan",
    "zoned:",
    "zoned:50/50:50/50",
    "random",
    "a:b:c",
    "1s",
    "1d",
    "1us",
    "ff",
    "0-63",
    "5,1-3,",
    "true",
    "false",
    "none",
];

/// Text of every trace of a job file.
const TRACE: &str = "fio version 3 iolog
15 a.0.0 add
114 a.0.0 open
117 a.0.0 read 0 4096
20266 b open
";

/// Traces to begin with.
const TRACES: &[&str] = &[
    TRACE,
    "fio version 2 iolog\nf add\nf open\nf write 0 4096\nf wait 5 0\nf sync 0 0\nf close\n",
    "fio version 3 iolog\n0 f add\n1 f open\n2 f trim 0 512\n3 f datasync 0 0\n9 f close\n",
    "\x07tae\0\0\0\0\0\0\0\0\0\0\0\0\x08\0\0\0\0\0\0\0\0\x10\0\0\x01\0\x12\0\x07\0\0\0\
     \0\0\x40\0\0\0\0\0\0\0\0\0",
];

struct Files(String);

impl Environment for Files {
    fn file(&mut self, path: &str) -> std::io::Result<Vec<u8>> {
        match path {
            "job.fio" => Ok(self.0.clone().into_bytes()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "HOME").then(|| "4k".to_owned())
    }
}

impl FioEnvironment for Files {
    fn keyword(&self, _: Keyword) -> u64 {
        4096
    }
}

struct Nowhere;

impl Host for Nowhere {
    fn found(&self, path: &Path) -> Found {
        match path.to_string_lossy() {
            name if name.starts_with("/dev") => Found::Device(Some(1 << 40)),
            name if name.ends_with(".0") || name.ends_with('n') => Found::Nothing,
            name if name.contains('f') => Found::File(1 << 20),
            name if name.contains('x') || name.contains('.') => Found::File(1 << 30),
            name if name.ends_with('0') => Found::Other,
            _ => Found::Directory,
        }
    }

    fn cpus(&self) -> Option<Vec<u32>> {
        Some(vec![0, 1])
    }

    fn nodes(&self) -> Option<Vec<u32>> {
        Some(vec![0, 1])
    }

    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        (node < 2).then(|| vec![node])
    }

    fn is_this_host(&self, name: &str) -> bool {
        name == "localhost"
    }

    fn now(&self) -> Duration {
        Duration::from_secs(1 << 30)
    }

    fn entropy(&self) -> u64 {
        1
    }

    fn list(&self, root: &Path, listing: &Listing) -> Result<List, ListError> {
        if listing.file.as_deref() == Some(Path::new("4k")) {
            List::read(&b"d a\nf 10 a/b\nf 100000000 c\n"[..])
        } else {
            List::scan(&root.join("none"))
        }
    }

    fn first_bytes(&self, path: &Path, _: ReadAs, bytes_max: usize) -> std::io::Result<Vec<u8>> {
        let name = path.to_string_lossy().into_owned();
        Ok(format!("pos: {name}").into_bytes()[..bytes_max.min(name.len())].to_vec())
    }

    fn open(&self, _: &Path) -> std::io::Result<Box<dyn BufRead>> {
        Ok(Box::new(TRACE.as_bytes()))
    }

    fn device(&self, _: u32, minor: u32) -> Option<PathBuf> {
        (minor == 0).then(|| "/dev/a".into())
    }
}

/// Xorshift: what matters is that a seed repeats.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

fn corpus() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fio_peer/jobs");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the job files").flatten().map(|e| e.path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).expect("a job file")).collect()
}

/// A job file with a few things done to it.
fn mutated(dice: &mut Dice, corpus: &[String], names: &[&str]) -> String {
    let mut lines: Vec<String> = corpus[dice.below(corpus.len())].lines().map(Into::into).collect();
    for _ in 0..=dice.below(4) {
        let at = dice.below(lines.len());
        match dice.below(7) {
            0 => lines.insert(at, format!("{}={}", dice.of(names), dice.of(ODD))),
            1 => lines.insert(at, dice.of(names).to_owned()),
            2 => {
                let name = lines[at].split('=').next().unwrap_or_default();
                lines[at] = format!("{name}={}", dice.of(ODD));
            }
            3 => drop(lines.remove(at)),
            4 => lines.extend(corpus[dice.below(corpus.len())].lines().map(str::to_owned)),
            5 => {
                let mut bytes = std::mem::take(&mut lines[at]).into_bytes();
                let place = dice.below(bytes.len() + 1);
                bytes.insert(place, dice.below(256) as u8);
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => lines[at].push_str(dice.of(ODD)),
        }
        if lines.is_empty() {
            lines.push("[a]".to_owned());
        }
    }
    lines.join(if dice.below(9) == 0 { "\r\n" } else { "\n" })
}

/// A trace with a few things done to it.
fn mutated_trace(dice: &mut Dice) -> Vec<u8> {
    let mut bytes = dice.of(TRACES).as_bytes().to_vec();
    for _ in 0..=dice.below(6) {
        let at = dice.below(bytes.len() + 1);
        match dice.below(5) {
            0 => bytes.insert(at, dice.below(256) as u8),
            1 => bytes.truncate(at),
            2 => bytes.splice(at..at, dice.of(ODD).bytes()).for_each(drop),
            3 => bytes.splice(at..at, dice.of(TRACES).bytes()).for_each(drop),
            _ if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            _ => bytes.push(b'\n'),
        }
    }
    bytes
}

/// Reads it; true if it is a trace.
fn digest_trace(bytes: Vec<u8>) -> bool {
    let said = options::Trace { redirect: Some("x".into()), ..options::defaults().trace };
    match trace::read("t", Box::new(Cursor::new(bytes)), &said, &|_, _| None) {
        Ok(recorded) => {
            assert!(!recorded.steps.is_empty() && !recorded.files.is_empty());
            true
        }
        Err(fault) => {
            assert!(!fault.message.is_empty() && !fault.place.is_empty());
            false
        }
    }
}

/// Reads and lowers it; true if it came to a plan.
fn digest(text: &str) -> bool {
    let argv = ["fio", "job.fio"].map(OsString::from);
    let (ast, diagnostics) = fio::read(&argv, &mut Files(text.to_owned()));
    let message: Vec<_> =
        diagnostics.iter().map(|diagnostic| diagnostic.describe(&ast.texts)).collect();
    assert!(message.iter().all(|sentence| !sentence.is_empty()));
    match lower::lower(&ast, &Nowhere) {
        Ok(_) => message.is_empty(),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            diagnostics.iter().for_each(|diagnostic| drop(diagnostic.describe(&ast.texts)));
            false
        }
    }
}

/// CPU time of this thread; other work on the host does not count.
fn cpu_time() -> Duration {
    let line =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel's account");
    let ns = line.split(' ').next().and_then(|ns| ns.parse().ok());
    Duration::from_nanos(ns.expect("ns on a CPU"))
}

/// Looks for inputs that break something, as long as it was asked for.
fn look(what: &str, mut one: impl FnMut(&mut Dice) -> (String, Box<dyn FnOnce() -> bool>)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let end = cpu_time() + Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(2));
    let (mut inputs, mut taken, mut seed) = (0u64, 0u64, number("FUZZ_SEED").unwrap_or(0));
    while cpu_time() < end {
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let (text, digest) = one(&mut Dice(seed));
        let began = cpu_time();
        match catch_unwind(AssertUnwindSafe(digest)) {
            Ok(is_taken) => taken += u64::from(is_taken),
            Err(_) => panic!("seed {seed:#x} panics on:\n{text}"),
        }
        let took = cpu_time() - began;
        assert!(took < SLOW, "seed {seed:#x} takes {took:?}:\n{text}");
        inputs += 1;
    }
    println!("{inputs} inputs, {taken} of them {what}");
    assert!(taken > 0 && taken < inputs, "the mutations are of one kind only");
}

#[test]
fn mutated_job_files_end_in_a_plan_or_in_sentences() {
    let corpus = corpus();
    let names: Vec<&str> = options::TABLE.names().collect();
    look("plans", |dice| {
        let text = mutated(dice, &corpus, &names);
        (text.clone(), Box::new(move || digest(&text)))
    });
}

#[test]
fn mutated_traces_end_in_steps_or_in_a_sentence() {
    look("traces", |dice| {
        let bytes = mutated_trace(dice);
        (format!("{}", bytes.escape_ascii()), Box::new(move || digest_trace(bytes)))
    });
}

/// A command line of dd, some of whose values are odd ones.
fn operands(dice: &mut Dice) -> Vec<OsString> {
    const WORDS: &[&str] =
        &["sync,block", "ascii", "count_bytes", "direct", "none", "a", "1kx2x3", "5B", "0x1"];
    let names: Vec<&str> = dd::options::TABLE.names().collect();
    let count = dice.below(6);
    let operand = |dice: &mut Dice| {
        let value = match dice.below(3) {
            0 => dice.of(ODD).to_owned(),
            1 => "1x".repeat(dice.below(9000)) + dice.of(ODD),
            _ => dice.of(WORDS).to_owned(),
        };
        OsString::from(format!("{}={value}", dice.of(&names)))
    };
    let operands: Vec<_> = (0..count).map(|_| operand(dice)).collect();
    std::iter::once("dd".into()).chain(operands).collect()
}

#[test]
fn odd_operands_of_dd_end_in_a_copy_or_in_a_sentence() {
    look("copies", |dice| {
        let argv = operands(dice);
        let shown = format!("{argv:?}");
        let digest = move || match dd::options::read(&argv) {
            Ok(dd::options::Request::Copy(options)) => {
                let mut conversion = dd::convert::Conversion::of(&options);
                // A record may be larger than memory: pieces of it are handed on.
                let mut pieces = 0;
                let mut put = |_: &[u8]| {
                    pieces += 1;
                    if pieces < 9 { Ok(()) } else { Err(()) }
                };
                conversion.as_mut().is_none_or(|of| of.convert(b"a\n b", &mut put).is_ok())
            }
            Ok(_) => false,
            Err(mistake) => {
                assert!(mistake.sentences.iter().all(|sentence| !sentence.is_empty()));
                false
            }
        };
        (shown, Box::new(digest))
    });
}

/// A command line of elbencho, some of whose values are odd ones.
fn words_of_elbencho(dice: &mut Dice) -> Vec<OsString> {
    const VALUES: &[&str] = &["1", "4", "4k", "1m", "all", "0,[1-3]", "seq", "range", "fast"];
    const PATHS: &[&str] = &["/d", "/f", "/f[1-3]", "/dev/x", "/a0,/b0@/c", "f[", "s3://b", "["];
    let names: Vec<&str> = elbencho::options::TABLE.names().collect();
    let mut words = vec!["elbencho".to_owned(), dice.of(&["-w", "-r", "--stat", "-wr"]).to_owned()];
    for _ in 0..dice.below(6) {
        let value = if dice.below(3) == 0 { dice.of(ODD) } else { dice.of(VALUES) };
        let name = dice.of(&names);
        let name = &name[..dice.below(2 * name.len()).clamp(1, name.len())];
        words.push(match dice.below(3) {
            0 => format!("--{name}"),
            1 => format!("-{}{value}", &name[..1]),
            _ => format!("--{name}={value}"),
        });
    }
    words.push(dice.of(PATHS).to_owned());
    words.into_iter().map(OsString::from).collect()
}

#[test]
fn odd_words_of_elbencho_end_in_a_plan_or_in_sentences() {
    look("plans", |dice| {
        let argv = words_of_elbencho(dice);
        let shown = format!("{argv:?}");
        let digest = move || {
            let mut files = Files("threads=2\nblock=4k\n".to_owned());
            let reading = elbencho::options::read(&argv, &mut files);
            let sentences = |errors: &[candor_front::Diagnostic]| {
                assert!(errors.iter().all(|error| !error.describe(&reading.texts).is_empty()));
            };
            if !reading.errors.is_empty() {
                sentences(&reading.errors);
                return false;
            }
            match elbencho::plan::lower(&reading, &Nowhere) {
                Ok(lowered) => {
                    assert!(!elbencho::plan::totals(&lowered).is_empty());
                    candor_plan::check::can_run(&candor_plan::check::check(&lowered.plan))
                }
                Err(errors) => {
                    sentences(&errors);
                    false
                }
            }
        };
        (shown, Box::new(digest))
    });
}

/// Files of results that the tools wrote, each with its name.
fn results_of_tools() -> Vec<(String, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../readers/tests/results");
    let entries = std::fs::read_dir(folder).expect("the results").flatten();
    let mut all: Vec<_> = entries
        .map(|e| (e.file_name().display().to_string(), std::fs::read(e.path()).expect("results")))
        .collect();
    all.sort();
    all
}

/// A file with a few things done to its bytes: numbers become odd ones, pieces go or come twice.
fn mutated_results(dice: &mut Dice, file: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..dice.below(5) {
        let at = dice.below(bytes.len() + 1);
        let is_digit = |byte: &u8| byte.is_ascii_digit();
        let begin = at + bytes[at..].iter().position(is_digit).unwrap_or(0);
        let end = begin + bytes[begin..].iter().take_while(|byte| is_digit(byte)).count();
        match dice.below(6) {
            0 => bytes.truncate(at),
            1 if at < bytes.len() => bytes[at] ^= 1 << dice.below(8),
            2 => drop(bytes.drain(at..bytes.len().min(at + dice.below(300)))),
            3 => bytes.extend_from_within(at..),
            _ => bytes.splice(begin..end, dice.of(ODD).bytes()).for_each(drop),
        }
    }
    bytes
}

#[test]
fn mutated_results_of_tools_end_in_figures_or_in_a_sentence() {
    let files = results_of_tools();
    look("results", |dice| {
        let (name, file) = &files[dice.below(files.len())];
        let (name, bytes) = (name.clone(), mutated_results(dice, file));
        let shown = format!("{name}: {}", bytes.escape_ascii());
        let digest = move || match results::read(&name, &bytes) {
            Ok(results) => {
                assert!(!results.phases.is_empty());
                let intervals = results.phases.iter().flat_map(|phase| &phase.jobs);
                let mut intervals =
                    intervals.flat_map(|job| &job.operations).map(|op| &op.intervals);
                assert!(intervals.all(|all| all.is_sorted_by_key(|of| of.start_ns)));
                true
            }
            Err(sentence) => {
                assert!(sentence.contains(&name), "no place: {sentence}");
                false
            }
        };
        (shown, Box::new(digest))
    });
}

/// Requests as warp stores them.
const REQUESTS: &str = "\
thread\top\tn_objects\tbytes\tendpoint\terror\tstart\tfirst_byte\tend
0\tGET\t1\t4096\thttp://a\t\t2026-01-02T03:04:05Z\t2026-01-02T03:04:06Z\t2026-01-02T03:04:09Z
1\tPUT\t1\t4096\thttp://b\t503\t2026-01-02T03:04:05Z\t\t2026-01-02T03:04:08.5Z
# warp mixed
";

/// Summaries as warp stores them.
const SUMMARIES: &str = r#"{"v": 2, "by_op_type": {"GET": {"concurrency": 8, "total_requests": 9,
"throughput": {"measure_duration_millis": 1000, "segmented": {"segment_duration_millis": 1000,
"segments": [{"start": "2026-01-02T03:04:05Z", "bytes_per_sec": 2e6, "obj_per_sec": 4}]}},
"requests_by_client": {"a": [{"single_sized_requests": {"requests": 9, "dur_avg_millis": 3}}]}}}}"#;

#[test]
fn mutated_files_of_warp_end_in_results_or_in_a_sentence() {
    look("results", |dice| {
        let file = dice.of(&[REQUESTS, SUMMARIES]);
        let bytes = mutated_results(dice, file.as_bytes());
        let shown = bytes.escape_ascii().to_string();
        (shown, Box::new(move || is_of_warp(&bytes)))
    });
}

/// Reads and prints it; true if it has results.
fn is_of_warp(bytes: &[u8]) -> bool {
    match warp::file::read("file", bytes, &warp::aggregate::Settings::default()) {
        Ok(results) => {
            assert!(!warp::text::results(&results, true).is_empty());
            assert!(!warp::text::segments(&results).is_empty());
            true
        }
        Err(sentence) => {
            assert!(sentence.starts_with("file:"), "no place: {sentence}");
            false
        }
    }
}

/// A command line of mdtest or md-workbench, some of whose values are odd ones.
fn words_of_family<O: 'static>(
    tool: &str,
    table: &Table<Plain<O>>,
    dice: &mut Dice,
) -> Vec<OsString> {
    const VALUES: &[&str] = &["0", "1", "2", "3", "10", "4k", "1m", "/d", "/a@/b", "random", "CSV"];
    let rows: Vec<_> = table.rows().collect();
    let mut words = vec![tool.to_owned()];
    if dice.below(2) == 0 {
        words.push(format!("--ranks={}", dice.of(&["1", "4", "64", "x"])));
    }
    for _ in 0..dice.below(8) {
        let value = if dice.below(4) == 0 { dice.of(ODD) } else { dice.of(VALUES) };
        let row = rows[dice.below(rows.len())];
        match (row.letter, dice.below(4)) {
            (Some(letter), 0) => words.push(format!("-{letter}{value}")),
            (Some(letter), 1) => words.extend([format!("-{letter}"), value.to_owned()]),
            (Some(letter), _) => words.push(format!("-{letter}={value}")),
            (None, 0) => words.push(format!("--{}", row.name)),
            (None, _) => words.push(format!("--{}={value}", row.name)),
        }
    }
    words.into_iter().map(OsString::from).collect()
}

#[test]
fn odd_words_of_mdtest_end_in_a_plan_or_in_sentences() {
    look("plans", |dice| {
        let argv = words_of_family("mdtest", &mdtest::options::TABLE, dice);
        let shown = format!("{argv:?}");
        let digest = move || {
            let reading = mdtest::options::read(&argv, &mut Files(String::new()));
            let sentences = |errors: &[candor_front::Diagnostic]| {
                assert!(errors.iter().all(|error| !error.describe(&reading.texts).is_empty()));
            };
            if !reading.errors.is_empty() {
                sentences(&reading.errors);
                return false;
            }
            match mdtest::plan::lower(&reading, &Nowhere) {
                Ok(lowered) => {
                    assert!(!lowered.setup.totals(1).is_empty());
                    candor_plan::check::can_run(&candor_plan::check::check(&lowered.plan))
                }
                Err(errors) => {
                    sentences(&errors);
                    false
                }
            }
        };
        (shown, Box::new(digest))
    });
}

#[test]
fn odd_words_of_md_workbench_end_in_a_plan_or_in_sentences() {
    look("plans", |dice| {
        let argv = words_of_family("md-workbench", &md_workbench::options::TABLE, dice);
        let shown = format!("{argv:?}");
        let digest = move || {
            let reading = md_workbench::options::read(&argv, &mut Files(String::new()));
            let sentences = |errors: &[candor_front::Diagnostic]| {
                assert!(errors.iter().all(|error| !error.describe(&reading.texts).is_empty()));
            };
            if !reading.errors.is_empty() {
                sentences(&reading.errors);
                return false;
            }
            match md_workbench::plan::lower(&reading, &Nowhere) {
                Ok(lowered) => {
                    assert!(lowered.setup.working_set_mib() >= 0.0);
                    candor_plan::check::can_run(&candor_plan::check::check(&lowered.plan))
                }
                Err(errors) => {
                    sentences(&errors);
                    false
                }
            }
        };
        (shown, Box::new(digest))
    });
}

/// Parameter files: all cases of the corpus.
fn parameter_files() -> Vec<String> {
    let all = include_str!("../crates/vdbench/tests/files.cases");
    let files = all.split("== ").filter_map(|case| case.split_once('\n'));
    files.map(|(_, text)| text.to_owned()).collect()
}

/// One of the files with values, keywords and lines of others in it.
fn mutated_parameters(dice: &mut Dice, corpus: &[String]) -> String {
    const WORDS: &[&str] = &[
        "sd=default,",
        "xf=(1k,50,2k,50)",
        "range=(90,110)",
        "hotband=(1,2)",
        "skew=30",
        "iorate=curve",
        "fort=(1-9,d)",
        "count=(1,5)",
        "warmup=9",
        "seekpct=-1",
        "stride=(1,2)",
        "streams=3",
        "(",
        ")",
        "\"",
        ",",
        "maxdata=2",
        "rhpct=50",
        "openflags=directio",
        "journal=yes",
        "$x",
        "#hosts",
        "include=p",
        "eof",
        "*",
        "threads=70000",
        "size=-50",
        "hitarea=0",
        "dedupratio=9",
    ];
    let pick = dice.below(corpus.len());
    let mut lines: Vec<String> = corpus[pick].lines().map(str::to_owned).collect();
    for _ in 0..dice.below(4) {
        let at = dice.below(lines.len());
        let line = &mut lines[at];
        match dice.below(4) {
            0 => *line += &format!(",{}", dice.of(WORDS)),
            1 => {
                if let Some((front, _)) = line.clone().rsplit_once('=') {
                    *line = format!("{front}={}", dice.of(ODD));
                }
            }
            2 => {
                let other = dice.below(corpus.len());
                let others: Vec<&str> = corpus[other].lines().collect();
                let other = others[dice.below(others.len())].to_owned();
                lines.insert(at, other);
            }
            _ => {
                let mut at = dice.below(line.len() + 1);
                while !line.is_char_boundary(at) {
                    at -= 1;
                }
                line.insert_str(at, dice.of(WORDS));
            }
        }
    }
    lines.join("\n")
}

#[test]
fn mutated_parameter_files_of_vdbench_end_in_plans_or_in_sentences() {
    let corpus = parameter_files();
    look("plans", |dice| {
        let text = mutated_parameters(dice, &corpus);
        let shown = text.clone();
        let digest = move || {
            let argv = ["vdbench", "-f", "job.fio"].map(OsString::from);
            let reading = vdbench::options::read(&argv, &mut Files(text));
            let sentences = |errors: &[candor_front::Diagnostic]| {
                assert!(!errors.is_empty(), "refused without a reason");
                assert!(errors.iter().all(|error| !error.describe(&reading.texts).is_empty()));
                false
            };
            if !reading.errors.is_empty() {
                return sentences(&reading.errors);
            }
            let runs = match vdbench::runs::expand(&reading.file) {
                Ok(runs) => runs,
                Err(errors) => return sentences(&errors),
            };
            let vdbench::options::Reading { file, texts, options: asked, .. } = &reading;
            let request = vdbench::lower::Request { file, texts, asked, host: &Nowhere };
            match vdbench::lower::lower(&request, &runs) {
                Ok(lowered) => {
                    for run in &lowered.runs {
                        let phase = run.at_rate(1000.0);
                        let targets = lowered.targets.clone();
                        let phases = vec![phase];
                        let plan = candor_plan::Plan { targets, phases, ..Default::default() };
                        drop(candor_plan::check::check(&plan));
                    }
                    true
                }
                Err(errors) => sentences(&errors),
            }
        };
        (shown, Box::new(digest))
    });
}
