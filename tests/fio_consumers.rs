//! Programs that read fio's results read candor's.
//!
//! | program | from | reads |
//! | --- | --- | --- |
//! | `fio-plot` | `pip install fio-plot` | JSON, bandwidth and latency logs |
//! | `fio_jsonplus_clat2csv` | Debian's package fio | JSON with bins |
//! | `fio2gnuplot` | Debian's package fio | bandwidth logs |
//! | `jq` | everywhere | JSON |
//! | `awk`, `grep` | everywhere | text and terse lines |

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{Scratch, candor, skip};

/// True if there is such a program; says so if not.
fn there_is(program: &str, from: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = path.split(':').any(|folder| Path::new(folder).join(program).exists());
    if !found {
        skip(&format!("it needs {program}: {from}"));
        return false;
    }
    // A Python program may be there without what it imports.
    let started = Command::new(program).arg("--help").output();
    let starts =
        started.is_ok_and(|ran| !String::from_utf8_lossy(&ran.stderr).contains("ModuleNotFound"));
    if !starts {
        skip(&format!("{program} does not start here"));
    }
    starts
}

/// Runs a program in a folder; it must succeed.
fn run(folder: &str, program: &str, words: &[&str]) -> Output {
    let mut command = Command::new(program);
    // No consumer may need a screen.
    let ran = command.args(words).current_dir(folder).env("MPLBACKEND", "Agg").output();
    let ran = ran.unwrap_or_else(|error| panic!("{program}: {error}"));
    let err = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{program} {words:?}:\n{err}");
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
    if !there_is("fio-plot", "pip install fio-plot") {
        return;
    }
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
        run(&folder, "fio-plot", &[kind, &words].concat());
    }
    let pictures = std::fs::read_dir(&folder)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "png"));
    assert!(pictures.count() >= 1, "fio-plot has drawn nothing");
}

#[test]
fn bins_become_csv() {
    if !there_is("fio_jsonplus_clat2csv", "it comes with Debian's fio") {
        return;
    }
    let scratch = Scratch::new();
    let json = scratch.outside("plus.json");
    let output = format!("--output={json}");
    fio(&scratch, &["--name=x", "--rw=randrw", "--output-format=json+", &output]);
    let folder = Path::new(&json).parent().unwrap().to_str().unwrap();
    let convert = |words: &[&str]| {
        run(folder, "fio_jsonplus_clat2csv", &[words, &["plus.json", "plus.csv"]].concat())
    };
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
    if !there_is("fio2gnuplot", "it comes with Debian's fio") {
        return;
    }
    let scratch = Scratch::new();
    let folder = scratch.outside("logs");
    std::fs::create_dir(&folder).unwrap();
    let log = format!("--write_bw_log={folder}/x");
    let time = ["--time_based", "--runtime=1", "--log_avg_msec=100"];
    fio(&scratch, &[&["--name=x", "--rw=read", log.as_str()], &time[..]].concat());
    run(&folder, "fio2gnuplot", &["-b"]);
    let lines = std::fs::read_to_string(format!("{folder}/x_bw.1.log")).unwrap();
    // On a busy host some windows come late and long, but never none.
    assert!(lines.lines().count() >= 2, "{lines}");
    for line in lines.lines() {
        let fields: Vec<u64> = line.split(", ").map(|field| field.parse().unwrap()).collect();
        assert_eq!(fields.len(), 5, "{line}");
    }
}

#[test]
fn recipes_of_jq_find_their_figures() {
    if !there_is("jq", "apt-get install jq") {
        return;
    }
    let scratch = Scratch::new();
    let json = scratch.outside("out.json");
    let output = format!("--output={json}");
    let jobs = ["--name=a", "--rw=randread", "--name=b", "--stonewall", "--rw=write"];
    fio(&scratch, &[&jobs[..], &["--output-format=json", output.as_str()]].concat());
    let ask = |recipe: &str| {
        let ran = run("/", "jq", &["-er", recipe, &json]);
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
