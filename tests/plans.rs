//! Plans: all mistakes at once, each with its place; flags and TOML say the same; runs repeat.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::{Mount, Scratch, candor, candor_reading, measured, quiet_host, shared_host};

/// Line, column and a word of the message of each mistake.
const MISTAKES: [(u32, u32, &str); 8] = [
    (3, 1, "sed"),
    (6, 8, "64q"),
    (7, 1, "layuot"),
    (10, 17, "parsecs"),
    (13, 11, "workers"),
    (14, 12, "nowhere"),
    (16, 10, "io_urnig"),
    (17, 9, "depth"),
];

const MISTAKEN: &str = r#"
name = "mistaken"
sed = 5
[[target]]
name = "data"
size = "64q"
layuot = "write"
[[phase]]
name = "p"
stop = { time = "3 parsecs" }
[[phase.job]]
name = "j"
workers = 0
targets = ["nowhere"]
[phase.job.work.blocks]
engine = "io_urnig"
depth = 0
"#;

#[test]
fn all_mistakes_are_reported_at_once_with_their_places() {
    let scratch = Scratch::new();
    let file = scratch.file("mistaken.toml", MISTAKEN);
    let ran = candor(&["run", &file]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.out.is_empty(), "{}", ran.out);
    let missing: Vec<_> = MISTAKES
        .into_iter()
        .filter(|(line, column, word)| {
            !ran.err.contains(&format!("mistaken.toml:{line}:{column}")) || !ran.err.contains(word)
        })
        .collect();
    assert!(missing.is_empty(), "not told: {missing:?}\n{}", ran.err);
}

/// As above, but all of it can be read; what it says makes no sense.
const SENSELESS: &str = r#"
[[target]]
name = "data"
path = "/data/file"
size = "1m"
[[target]]
name = "data"
path = "/data/other"
[[phase]]
repeats = 0
[[phase.job]]
workers = 0
targets = ["nowhere"]
[phase.job.work.blocks]
depth = 0
engine = "null"
[[phase.job]]
targets = ["data"]
[phase.job.work.blocks]
size = "1000"
direct = true
engine = "libaio"
[[phase.job]]
targets = ["data"]
[phase.job.work.blocks]
size = "2m"
"#;

#[test]
fn all_contradictions_are_reported_at_once_with_their_places() {
    let scratch = Scratch::new();
    let file = scratch.file("senseless.toml", SENSELESS);
    let ran = candor(&["run", &file]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    let places = [(7, 8), (10, 11), (12, 11), (13, 12), (15, 9), (20, 8), (26, 8)];
    let missing: Vec<_> = places
        .into_iter()
        .filter(|(line, column)| !ran.err.contains(&format!("senseless.toml:{line}:{column}")))
        .collect();
    assert!(missing.is_empty(), "not told: {missing:?}\n{}", ran.err);
    assert_eq!(ran.err.matches(" = help: ").count(), ran.err.matches(" --> ").count());
}

#[test]
fn mistakes_in_flags_point_at_the_word() {
    let words = ["run", "--target", "f", "--bs", "4q", "--depth", "many", "--engine", "psnyc"];
    let ran = candor(&[&words[..], &["--rw", "raedwrite"]].concat());
    assert_eq!(ran.code, Some(2));
    for part in ["4q", "many", "psync", "--rw raedwrite"] {
        assert!(ran.err.contains(part), "{part}: {}", ran.err);
    }
    assert_eq!(ran.err.matches("command line:1:").count(), 4, "{}", ran.err);
}

#[test]
fn what_cannot_run_yet_is_refused_by_name() {
    let scratch = Scratch::new();
    let plan = r#"
[[target]]
name = "tree"
path = "/data/tree"
kind = "tree"
[[phase]]
[[phase.job]]
targets = ["tree"]
[phase.job.work.entries]
"#;
    let file = scratch.file("entries.toml", plan);
    let ran = candor(&["run", &file]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("entries") && ran.err.contains("entries.toml:"), "{}", ran.err);
}

#[test]
fn files_that_are_no_plans_get_a_sentence() {
    let scratch = Scratch::new();
    let texts = ["", "= =", "[[phase]", "version = 99", "\u{0}\u{1}", "[global]\nrw=randread\n"];
    for text in texts {
        let file = scratch.file("odd.toml", text);
        let ran = candor(&["run", &file]);
        assert_eq!(ran.code, Some(2), "{text:?}: {}", ran.err);
        assert!(ran.err.contains("odd.toml"), "{text:?}: {}", ran.err);
    }
    std::fs::write(scratch.outside("odd.toml"), [0xff, 0xfe, 0]).unwrap();
    for file in [scratch.outside("odd.toml"), scratch.outside("missing.toml"), scratch.dir()] {
        let ran = candor(&["run", &file]);
        assert_eq!(ran.code, Some(2), "{file}: {}", ran.err);
        assert!(ran.err.contains(&file), "{}", ran.err);
    }
}

/// Flags, and the TOML that a person would write for the same.
const TWINS: [(&str, &str); 3] = [
    (
        "--rw randread --bs 4k --depth 32 --engine io_uring --direct --size 1g --seconds 30",
        r#"
stop = { time = "30s" }
job = [{ targets = ["target"], work.blocks = { mix = "read", access = "random", size = "4k", depth = 32,
    engine = "io_uring", direct = true } }]
"#,
    ),
    (
        "--rw write --bs 1m --size 1g --workers 4 --share slice --fsync-end --ramp 1s --passes 2",
        r#"
ramp = "1s"
stop = { passes = 2 }
job = [{ workers = 4, targets = ["target"], work.blocks = { mix = "write", access = "sequential",
    size = "1m", share = "slice", durability = { fsync_at_end = true } } }]
"#,
    ),
    (
        "--rw randread --mix read:70,write:30 --bs 8k:60,64k:40 --size 1g --rate-iops 500 \
         --arrival poisson --ops 1000 --verify=8k",
        r#"
stop = { ops = 1000 }
job = [{ targets = ["target"], work.blocks = { mix = "read:70,write:30", access = "random",
    size = "8k:60,64k:40", pace = { ops = "500/s", arrival = "poisson" },
    verify = { interval = "8k" } } }]
"#,
    ),
];

#[test]
fn flags_and_toml_give_the_same_plan() {
    for (flags, phase) in TWINS {
        let mut words = vec!["run", "--dry-run", "--name", "twin", "--seed", "7", "--target", "f"];
        words.extend(flags.split_whitespace());
        let by_flags = candor(&words);
        assert_eq!(by_flags.code, Some(0), "{}", by_flags.err);
        let target = "[[target]]\npath = \"f\"\nsize = \"1g\"\n[[phase]]\nname = \"twin\"\n";
        let toml = format!("name = \"twin\"\nseed = 7\n{target}{phase}");
        let by_toml = candor_reading(&["run", "-", "--dry-run"], &toml);
        assert_eq!(by_toml.code, Some(0), "{}", by_toml.err);
        assert_eq!(by_flags.out, by_toml.out);
        let again = candor_reading(&["run", "-", "--dry-run"], &by_flags.out);
        assert_eq!(again.out, by_flags.out, "printing a plan changes it");
    }
}

/// The plan, as the report has it.
fn plan_of(report: &str) -> Value {
    let text = std::fs::read_to_string(report).expect("a report");
    serde_json::from_str::<Value>(&text).expect("JSON")["plan"].clone()
}

#[test]
fn a_run_directory_repeats_its_run() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (first, second) = (scratch.outside("first"), scratch.outside("second"));
    let file = scratch.path("own");
    let words = ["run", "--target", &file, "--size", "8m", "--rw", "randrw", "--ops", "500"];
    let more = ["--seed", "42", "--bs", "4k:60,8k:40", "--verbose", "--run-dir", &first];
    let ran = candor(&[&words[..], &more].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for name in ["plan.toml", "report.json", "report.txt"] {
        assert!(std::fs::metadata(format!("{first}/{name}")).is_ok(), "{name} is missing");
    }
    let kept = std::fs::read_to_string(format!("{first}/report.txt")).unwrap();
    assert_eq!(kept, ran.out, "the kept text is not the one that was shown");
    let again = candor(&["run", &format!("{first}/plan.toml"), "--run-dir", &second]);
    assert_eq!(again.code, Some(0), "{}", again.err);
    let report = |dir: &str| format!("{dir}/report.json");
    assert_eq!(plan_of(&report(&first)), plan_of(&report(&second)));
    // The same seed does the same work, to the byte.
    let ops = |dir: &str| {
        let text = std::fs::read_to_string(report(dir)).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        let ops = &value["phases"][0]["measurements"][0]["operations"];
        [&ops["read"]["ops"], &ops["read"]["bytes"], &ops["write"]["ops"], &ops["write"]["bytes"]]
            .map(Value::as_u64)
    };
    assert_eq!(ops(&first), ops(&second));
    // A directory with somebody's files is not taken.
    let ran = candor(&["run", &format!("{first}/plan.toml"), "--run-dir", &scratch.outside("")]);
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

#[test]
fn phases_and_repeats_run_in_order() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let plan = format!(
        "repeats = 2\n[[target]]\npath = \"{}\"\nsize = \"1m\"\n[[phase]]\nname = \"fill\"\n\
         job = [{{ targets = [\"target\"], work.blocks = {{ mix = \"write\" }} }}]\n\
         [[phase]]\nname = \"look\"\nrepeats = 2\n\
         job = [{{ name = \"a\", targets = [\"target\"], work.blocks = {{ mix = \"read\" }} }}, \
         {{ name = \"b\", workers = 2, targets = [\"target\"], work.blocks = {{ mix = \"read\", \
         access = \"random\" }} }}]\n",
        scratch.path("own")
    );
    let file = scratch.file("plan.toml", &plan);
    let (ran, report) = measured(&scratch, &["run", &file]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let phases = report.list("/phases");
    let names: Vec<_> = phases.iter().map(|phase| phase["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fill", "look", "look", "fill", "look", "look"]);
    for (i, phase) in phases.iter().enumerate().filter(|(_, phase)| phase["name"] == "look") {
        let jobs = phase["measurements"].as_array().unwrap();
        assert_eq!((jobs[0]["job"].as_str(), jobs[1]["job"].as_str()), (Some("a"), Some("b")));
        assert_eq!(jobs[0]["operations"]["read"]["ops"], 256, "phase {i}");
        assert_eq!(jobs[1]["workers"], 2);
        assert_eq!(jobs[1]["per_worker"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn a_list_of_depths_is_one_table_with_a_knee() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let json = scratch.path("sweep.json");
    let words = "--rw randread --engine io_uring --direct --size 16m --depth 1,4 --seconds 0.3";
    let (target, words) = (scratch.path("file"), words.split(' '));
    let mut all = vec!["run", "--target", &target, "--json", &json];
    all.extend(words);
    let ran = candor(&all);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.err.contains("2 runs, one after another, about 1 s of load."), "{}", ran.err);
    // One file, laid out once.
    assert_eq!(ran.err.matches("laying out").count(), 1, "{}", ran.err);
    assert!(ran.out.contains("depth  "), "{}", ran.out);
    assert!(ran.out.contains("gain"), "{}", ran.out);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    let sweep = &report["judgement"]["sweep"];
    assert_eq!(sweep["keys"], serde_json::json!(["depth"]));
    assert_eq!(sweep["rows"].as_array().map(Vec::len), Some(2));
    let sentence = sweep["knees"][0]["sentence"].as_str().unwrap_or_default();
    assert!(!sentence.is_empty() && ran.out.contains(&sentence[..30]), "{sentence}: {}", ran.out);
}

#[test]
fn writing_until_full_ends_where_nothing_more_fits_and_shares_are_of_what_is_free() {
    let scratch = Scratch::new();
    let Some(mount) = Mount::tmpfs(&scratch, "8m") else { return };
    let json = scratch.path("full.json");
    let run = |words: &str| {
        let mut all = vec!["run", "--target", &mount.dir, "--json", &json, "--rw", "write"];
        all.extend(words.split(' '));
        let ran = candor(&all);
        let text = std::fs::read_to_string(&json).unwrap_or_default();
        (ran, serde_json::from_str::<Value>(&text).unwrap_or_default())
    };
    let (ran, report) = run("--bs 64k --until-full");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(report["phases"][0]["measurements"][0]["ended"], "full");
    let written = report["phases"][0]["measurements"][0]["operations"]["write"]["bytes"].as_u64();
    assert!(written > Some(7 << 20) && written <= Some(8 << 20), "{written:?}");
    assert!(ran.out.contains("no space left after"), "{}", ran.out);
    let (ran, report) = run("--bs 64k --size 50%");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let size = report["plan"]["target"][0]["size"].as_str().unwrap_or_default();
    assert!(["4MiB", "3MiB"].contains(&size), "{size}");
    let (ran, _) = run("--bs 64k --size 101%");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
}

#[test]
fn shipped_plans_are_printed_with_their_comments_and_run() {
    let scratch = Scratch::new();
    let directory = scratch.dir();
    for name in ["database", "vm", "backup", "log", "web", "analytics"] {
        let words = ["run", "--like", name, "--target", &directory, "--size", "64m", "--dry-run"];
        let ran = candor(&[&words[..], &["--quiet"]].concat());
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(ran.out.starts_with("# ") && ran.out.contains("64MiB"), "{name}: {}", ran.out);
        let again = candor_reading(&["run", "-", "--dry-run", "--quiet"], &ran.out);
        let plain: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with('#')).collect();
        let trimmed = |text: &str| text.trim().to_owned();
        assert_eq!(trimmed(&again.out), trimmed(&plain.join("\n")), "{name}: {}", again.err);
    }
    let words =
        ["run", "--like", "log", "--target", &directory, "--size", "8m", "--seconds", "0.3"];
    let ran = candor(&[&words[..], &["--quiet"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("append"), "{}", ran.out);
    let ran = candor(&[&words[..], &["--bs", "8k"]].concat());
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--set KEY=VALUE"), "{}", ran.err);
}

/// A set of small files needs no directory beforehand, and they are flushed together.
#[test]
fn many_small_files_are_made_in_a_directory_of_their_own() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (mail, read) = (scratch.path("mail"), scratch.path("read"));
    let job = |steps| {
        format!(
            "[[phase]]\njob = [{{ targets = [\"mail\"], workers = 2, work.entries = {{ over = \
             \"target_files\", steps = [{steps}] }} }}]\n"
        )
    };
    let steps = [r#""create", "write", "close""#, r#""open", "read", "close""#, r#""unlink""#];
    let plan = format!(
        "[[target]]\nname = \"mail\"\npath = \"{mail}\"\nkind = \"file_set\"\nfiles = 200\n\
         size = \"4k\"\nkeep = true\n{}",
        steps.map(job).concat()
    );
    let (ran, report) = measured(&scratch, &["run", &scratch.file("mail.toml", &plan)]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    for (phase, name) in ["create", "open", "unlink"].iter().enumerate() {
        let ops = format!("/phases/{phase}/measurements/0/operations/{name}/ops");
        assert_eq!(report.number(&ops), 200.0);
    }
    assert!(std::fs::read_dir(&mail).is_ok_and(|mut left| left.next().is_none()));
    let words = ["--files", "400", "--size", "4k", "--rw", "read", "--workers", "2"];
    let ran = candor(&[&["run", "--target", &read, "--quiet"][..], &words].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(std::fs::metadata(&read).is_err(), "files and directory are removed");
}

/// A large file and small ones that are emptied, written by mappings under locks, and read.
const WITHIN_FILES: &str = r#"
[[target]]
name = "large"
path = "DIR/large"
size = "64k"
layout = "sparse"
CONSENT
[[target]]
name = "small"
kind = "file_set"
path = "DIR"
file_name = "s{number}"
files = 3
size = "16k"
CONSENT
[[phase]]
name = "write"
[[phase.job]]
name = "large"
targets = ["large"]
[phase.job.work.blocks]
mix = "write"
engine = "mmap"
truncate_at_open = true
lock = "posix_file"
hints = { advice = ["sequential", "willneed"], map_advice = "nohugepage" }
[[phase.job]]
name = "small"
targets = ["small"]
[phase.job.work.entries]
over = "target_files"
steps = ["create", "fallocate", "write", "close"]
size = "4k"
access = "permutation"
engine = "mmap"
truncate_at_open = true
lock = "posix_range"
advice = "random"
[[phase]]
name = "read"
[[phase.job]]
targets = ["small"]
[phase.job.work.entries]
over = "target_files"
steps = ["open", "read", "close"]
size = "4k"
depth = 4
engine = "libaio"
"#;

#[test]
fn large_and_small_files_are_emptied_with_consent_and_written_by_mappings() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let names = ["large", "s0", "s1", "s2"].map(|name| scratch.path(name));
    names.iter().for_each(|path| std::fs::write(path, [1; 200_000]).expect("written"));
    let lengths = || names.clone().map(|path| std::fs::metadata(path).expect("there").len());
    let plan = |consent| WITHIN_FILES.replace("DIR", &scratch.dir()).replace("CONSENT", consent);
    let refused = candor(&["run", &scratch.file("refused.toml", &plan(""))]);
    assert_eq!((refused.code, lengths()), (Some(2), [200_000; 4]), "{}", refused.err);
    let file = scratch.file("plan.toml", &plan("overwrite = true\nkeep = true"));
    let (ran, report) = measured(&scratch, &["run", &file]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(lengths(), [65_536, 16_384, 16_384, 16_384]);
    let engine = |at: &str| report.words(&format!("/phases/{at}/engine/name")).to_owned();
    assert_eq!(engine("0/measurements/1"), "mmap");
    assert_eq!(engine("1/measurements/0"), "libaio");
}

/// Whoever gives a job file of fio to `candor run` is told what runs it.
#[test]
fn job_files_of_fio_are_known_by_their_form() {
    let scratch = Scratch::new();
    for text in ["; a job\n[global]\nbs=4k\n", "[reads]\nrw=randread\n"] {
        let job = scratch.file("job.fio", text);
        for more in [&[][..], &["--rw", "write", "--overwrite"]] {
            let ran = candor(&[&["run", &job], more].concat());
            assert_eq!(ran.code, Some(2), "{}", ran.err);
            assert!(ran.err.contains(&format!("candor fio {job} runs it")), "{}", ran.err);
        }
    }
    let typo = scratch.file("plan.toml", "[target]\npath = \"x\"\n");
    let ran = candor(&["run", &typo]);
    assert!(ran.code == Some(2) && !ran.err.contains("candor fio"), "{}", ran.err);
}

/// Commands of the shell blocks of a page, whose lines a backslash joins.
fn commands(text: &str) -> Vec<String> {
    let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    blocks
        .flat_map(|(block, _)| -> Vec<String> {
            block.replace("\\\n", " ").lines().map(str::to_owned).collect()
        })
        .collect()
}

/// The pages below a folder of the documentation.
fn pages(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).expect("the documentation") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(pages(&path));
        } else if path.extension().is_some_and(|end| end == "md") {
            all.push(fs::read_to_string(&path).expect("a page"));
        }
    }
    all
}

/// Every run that a page of the documentation describes by flags is a plan that makes sense.
#[test]
fn commands_of_the_pages_pass_a_dry_run() {
    let pages = pages(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")));
    let all: Vec<String> = pages.iter().flat_map(|page| commands(page)).collect();
    let runs = all.iter().filter_map(|line| line.strip_prefix("candor run --"));
    let runs: BTreeSet<&str> = runs.filter(|words| !words.contains("PLAN")).collect();
    assert!(runs.len() > 30, "{runs:?}");
    for words in runs {
        let line = format!("run --{words} --dry-run");
        let words = shell_words(&line);
        let ran = candor(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "candor {line}: {}", ran.err);
        assert!(!ran.err.contains("warning"), "candor {line}: {}", ran.err);
    }
}

/// The words of a command line, as a shell splits them.
fn shell_words(line: &str) -> Vec<String> {
    let script = format!("set -f; printf '%s\\n' {line}");
    let out = Command::new("sh").args(["-c", &script]).output().expect("a shell").stdout;
    String::from_utf8(out).expect("text").lines().map(str::to_owned).collect()
}
