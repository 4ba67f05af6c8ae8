//! Programs that read fio's results read candor's.
//!
//! | program | from | reads |
//! | --- | --- | --- |
//! | `fio-plot` | the Python package index | JSON |
//! | `hwbench` | the Python package index | JSON |
//! | `fio_jsonplus_clat2csv` | Debian's package fio | JSON with bins |
//! | `fio2gnuplot` | Debian's package fio | bandwidth logs |
//! | `jq` | everywhere | JSON |
//! | `awk`, `grep` | everywhere | text and terse lines |

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::support::{Scratch, candor, python_folder, skip};

/// The program's path, if it is here and starts; says so if not.
fn find(program: &str, from: &str) -> Option<PathBuf> {
    let path = std::env::var("PATH").unwrap_or_default();
    let folders = path.split(':').map(PathBuf::from).chain([python_folder()]);
    let Some(found) = folders.map(|folder| folder.join(program)).find(|path| path.exists()) else {
        skip(&format!("it needs {program}: {from}"));
        return None;
    };
    // A Python program may be there without what it imports.
    let started = Command::new(&found).arg("--help").output();
    let starts =
        started.is_ok_and(|ran| !String::from_utf8_lossy(&ran.stderr).contains("ModuleNotFound"));
    if !starts {
        skip(&format!("{program} does not start here"));
    }
    starts.then_some(found)
}

/// Runs a program in a folder; it must succeed.
fn run(folder: &str, program: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    // No consumer may need a screen.
    let ran = command.args(words).current_dir(folder).env("MPLBACKEND", "Agg").output();
    let ran = ran.unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let err = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{} {words:?}:\n{err}", program.display());
    ran
}

/// Runs candor as fio on a file of 4 MiB; its stderr must stay empty.
fn fio(scratch: &Scratch, words: &[&str]) -> String {
    let filename = format!("--filename={}", scratch.path("data"));
    let common = ["fio", "--size=4m", "--bs=4k", "--ioengine=psync", filename.as_str()];
    let ran = candor(&[&common, words].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}");
    ran.out
}

#[test]
fn fio_plot_draws_json() {
    let Some(fio_plot) = find("fio-plot", "cargo run -p xtask -- setup") else { return };
    let scratch = Scratch::new();
    let folder = scratch.outside("plots");
    std::fs::create_dir(&folder).unwrap();
    for depth in ["1", "2", "4"] {
        let (depth_word, output) =
            (format!("--iodepth={depth}"), format!("--output={folder}/randread-{depth}-1.json"));
        let named = ["--name=x", "--rw=randread", "--numjobs=1", "--output-format=json"];
        fio(&scratch, &[&named[..], &[depth_word.as_str(), output.as_str()]].concat());
    }
    for kind in [&["-l"][..], &["-L", "-t", "iops"], &["-L", "-t", "lat"]] {
        let words = ["-i", ".", "--source", "test", "-T", "title", "-r", "randread"];
        run(&folder, &fio_plot, &[kind, &words].concat());
    }
    let pictures = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "png"));
    assert!(pictures.count() >= 1, "fio-plot has drawn nothing");
}

/// hwbench's reader is given what its own command line makes of candor.
#[test]
fn hwbench_reads_json() {
    let Some(hwbench) = find("hwbench", "cargo run -p xtask -- setup") else { return };
    let scratch = Scratch::new();
    let script = "import sys\n\
                  from hwbench.benchmarks.external import fio\n\
                  fio.RUN_SECONDS = 1\n\
                  if sys.argv[1] == 'words':\n    \
                      job = fio.Fio()\n    \
                      print('\\n'.join(job.command(sys.argv[2])[1:]))\n\
                  else:\n    \
                      print(fio.parse_output(open(sys.argv[2]).read()).rates)\n";
    let python = hwbench.with_file_name("python3");
    let ask = |words: [&str; 2]| {
        let ran = run("/", &python, &[&["-c", script], &words[..]].concat());
        String::from_utf8(ran.stdout).expect("text")
    };
    let words = ask(["words", &scratch.path("data")]);
    let size = words.lines().find(|word| word.starts_with("--size=")).expect("a size");
    let words = words.replace(size, "--size=16m");
    let words: Vec<_> = ["fio"].into_iter().chain(words.lines()).collect();
    let ran = candor(&words);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}");
    let json = scratch.outside("out.json");
    std::fs::write(&json, ran.out).unwrap();
    let rates = ask(["rates", &json]);
    for test in ["seq_read", "seq_write", "rand_read_4k", "rand_write_4k"] {
        assert!(rates.contains(&format!("'{test}': ")), "{rates}");
    }
}

#[test]
fn bins_become_csv() {
    let Some(to_csv) = find("fio_jsonplus_clat2csv", "it comes with Debian's fio") else { return };
    let scratch = Scratch::new();
    let json = scratch.outside("plus.json");
    let output = format!("--output={json}");
    fio(&scratch, &["--name=x", "--rw=randrw", "--output-format=json+", &output]);
    let folder = Path::new(&json).parent().unwrap().to_str().unwrap();
    let convert =
        |words: &[&str]| run(folder, &to_csv, &[words, &["plus.json", "plus.csv"]].concat());
    convert(&[]);
    let told = convert(&["--validate"]);
    let told =
        String::from_utf8_lossy(&told.stdout).into_owned() + &String::from_utf8_lossy(&told.stderr);
    assert!(!told.contains("rror"), "{told}");
    let csv = std::fs::read_to_string(format!("{folder}/plus_job0.csv")).unwrap();
    assert!(csv.lines().count() > 3, "{csv}");
}

#[test]
fn logs_become_plots() {
    let Some(to_plots) = find("fio2gnuplot", "it comes with Debian's fio") else { return };
    let scratch = Scratch::new();
    let folder = scratch.outside("logs");
    std::fs::create_dir(&folder).unwrap();
    let log = format!("--write_bw_log={folder}/x");
    let time = ["--time_based", "--runtime=1", "--log_avg_msec=100"];
    fio(&scratch, &[&["--name=x", "--rw=read", log.as_str()], &time[..]].concat());
    run(&folder, &to_plots, &["-b"]);
    let lines = std::fs::read_to_string(format!("{folder}/x_bw.1.log")).unwrap();
    // On a busy host one window can cover almost the whole run.
    assert!(!lines.is_empty());
    for line in lines.lines() {
        let fields: Vec<u64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
        assert_eq!(fields.len(), 5, "{line}");
    }
}

#[test]
fn recipes_of_jq_find_their_figures() {
    let Some(jq) = find("jq", "apt-get install jq") else { return };
    let scratch = Scratch::new();
    let json = scratch.outside("out.json");
    let output = format!("--output={json}");
    let jobs = ["--name=a", "--rw=randread", "--name=b", "--stonewall", "--rw=write"];
    fio(&scratch, &[&jobs[..], &["--output-format=json", output.as_str()]].concat());
    let ask = |recipe: &str| {
        let ran = run("/", &jq, &["-er", recipe, &json]);
        String::from_utf8(ran.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(ask(r#".jobs | map(.jobname) | join(",")"#), "a,b");
    assert_eq!(ask(".jobs[0].read.total_ios"), "1024");
    assert_eq!(ask(".jobs[1].write.io_kbytes"), "4096");
    assert_eq!(ask(r#".jobs[1]["job options"].rw"#), "write");
    assert!(ask(".jobs[0].read.iops").parse::<f64>().unwrap() > 0.0);
    assert!(ask(".jobs[0].read.bw_bytes / 1e6").parse::<f64>().unwrap() > 0.0);
    assert!(ask(r#".jobs[0].read.clat_ns.percentile["99.000000"]"#).parse::<u64>().unwrap() > 0);
    assert!(ask(".jobs | map(.read.iops + .write.iops) | add").parse::<f64>().unwrap() > 0.0);
    assert!(ask(r#"."fio version""#).starts_with("fio-3."));
    assert!(!ask(".candor.headline").is_empty());
}

/// Lines of shell as they stand in people's scripts, each of which gives one number of its run.
const CUTS: &[(&str, &str)] = &[
    ("--rw=read", "grep -E 'READ|WRITE' out | tail -1 | sed 's/.*run=//; s/-.*//'"),
    ("--rw=read --disk_util=0", "tail -1 out | sed 's/.*io=\\([0-9.]*\\)[KM]iB.*/\\1/'"),
    ("--rw=write --disk_util=0", "tail -n1 out | awk -F'run=' '{print $2 + 0}'"),
    ("--rw=read", "awk '/Run status/{getline; print $2}' out | tr -dc 0-9."),
    ("--rw=read", "awk '/Disk stats/{getline} END{print $NF}' out | sed 's/.*util=//' | tr -d %"),
    ("--rw=read", "awk -F'[=,]' '/IOPS=/{print $2}' out | tr -d k"),
    ("--rw=read --minimal", "tail -1 out | cut -d';' -f8"),
    ("--rw=read --minimal", "awk -F';' 'END{print $7}' out"),
    ("--rw=read --output-format=terse --terse-version=5", "tail -n 1 out | cut -d';' -f7"),
];

#[test]
fn lines_of_scripts_find_one_number_each() {
    let scratch = Scratch::new();
    let folder = scratch.outside("cuts");
    std::fs::create_dir(&folder).unwrap();
    for (words, cut) in CUTS {
        let words: Vec<&str> = words.split(' ').collect();
        let text = fio(&scratch, &[&["--name=x"][..], &words].concat());
        std::fs::write(format!("{folder}/out"), &text).unwrap();
        let ran = run(&folder, Path::new("/bin/sh"), &["-c", cut]);
        let number = String::from_utf8(ran.stdout).unwrap();
        let is_number = number.trim().parse::<f64>().is_ok_and(|number| number >= 0.0);
        assert!(is_number, "{cut}: `{number}` of\n{text}");
    }
}

/// Reads json+ as a plotting program does: every bin of every job, by direction.
#[test]
fn a_reader_of_bins_counts_every_operation() {
    let Some(python) = find("python3", "apt-get install python3") else { return };
    let scratch = Scratch::new();
    let json = scratch.outside("bins.json");
    let output = format!("--output={json}");
    fio(&scratch, &["--name=x", "--rw=randrw", "--output-format=json+", &output]);
    let script = "import json, sys\n\
                  for job in json.load(open(sys.argv[1]))['jobs']:\n\
                  \x20   for way in 'read', 'write':\n\
                  \x20       bins = job[way]['clat_ns']['bins']\n\
                  \x20       assert sum(bins.values()) == job[way]['total_ios'], bins\n\
                  \x20       assert all(int(ns) >= 0 for ns in bins)\n";
    run("/", &python, &["-c", script, &json]);
}

#[test]
fn scripts_that_cut_text_find_their_figures() {
    let scratch = Scratch::new();
    let text = fio(&scratch, &["--name=x", "--rw=randrw"]);
    let with = |word: &str| text.lines().filter(|line| line.contains(word)).collect::<Vec<_>>();
    // grep IOPS | cut: one line for reads, one for writes.
    assert_eq!(with("IOPS").len(), 2, "{text}");
    for line in with("IOPS=") {
        let iops = line.split("IOPS=").nth(1).unwrap().split(',').next().unwrap();
        assert!(iops.trim_end_matches(['k', 'M']).parse::<f64>().unwrap() > 0.0, "{line}");
    }
    assert_eq!(with("READ: bw=").len() + with("WRITE: bw=").len(), 2, "{text}");
    assert!(!with("clat (").is_empty() && !with("99.99th=[").is_empty(), "{text}");
    // tail -1: the last line is fio's, of the devices or, without them, of the group.
    let last = text.lines().last().unwrap_or_default();
    assert!(last.contains(", util=") || last.starts_with("  WRITE: bw="), "{last}");
    assert_eq!(text.matches("candor").count(), 0, "text in a pipe is fio's alone: {text}");
    // The head of the text is where fixed line numbers expect it; laying out adds a line, as in
    // fio.
    let laying = usize::from(!with("x: Laying out IO file (1 file / 4MiB)").is_empty());
    let line = |number: usize| text.lines().nth(number).unwrap_or_default();
    assert!(line(4 + laying).starts_with("x: (groupid=0, jobs=1)"), "{text}");
    assert!(line(5 + laying).starts_with("  read: IOPS="), "{text}");

    let terse = fio(&scratch, &["--name=x", "--rw=randrw", "--minimal"]);
    let fields: Vec<&str> = terse.trim().split(';').collect();
    assert_eq!((fields[0], fields[2]), ("3", "x"));
    assert_eq!((fields.len() - 121) % 9, 0, "{terse}");
    let kib = fields[5].parse::<u64>().unwrap() + fields[46].parse::<u64>().unwrap();
    assert_eq!(kib, 4096, "{terse}");
    assert!(fields[7].parse::<u64>().unwrap() > 0 && fields[48].parse::<u64>().unwrap() > 0);
}
