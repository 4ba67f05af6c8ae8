//! candor called as vdbench: runs of parameter files, pages of results, exit codes.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::vdbench::Vdbench;
use crate::support::{candor, quiet_host, shared_host};

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The file with which it all began: its author found by hand that one stream of 32 threads reads
/// ahead of itself from a cache.
const FOUNDING: &str = "sd=disk1,lun=lun,size=8m,openflags=o_direct\n\
    wd=seq_rd_wd,sd=disk1,xfersize=16k,readpct=100,seekpct=0\n\
    rd=default,iorate=max,elapsed=3,interval=1,forthreads=(32)\n\
    rd=seq_rd,wd=seq_rd_wd\n";

#[test]
fn the_founding_file_runs_unchanged() {
    let _host = quiet_host();
    let vdbench = Vdbench::new();
    let told = vdbench.file(FOUNDING, "");
    assert!(told.contains("Starting RD=SD_format"), "the lun is missing at first: {told}");
    assert!(told.contains("Starting RD=seq_rd; I/O rate: Uncontrolled MAX; elapsed=3;"), "{told}");
    assert!(told.contains("For loops: threads=32"), "{told}");
    assert!(told.contains("avg_2-3"), "{told}");
    assert!(told.contains("Vdbench execution completed successfully."), "{told}");
    assert!(!told.contains("\ncandor: "), "output in a pipe is vdbench's: {told}");
    assert_eq!(fs::metadata(vdbench.scratch.path("lun")).map(|lun| lun.len()).ok(), Some(8 << 20));
    let rows = vdbench.flat(&["Run", "Interval", "xfersize", "threads", "seekpct", "rdpct"]);
    let of_run: Vec<_> = rows.iter().filter(|row| row[0] == "seq_rd").collect();
    assert_eq!(of_run.len(), 4, "three intervals and an average: {rows:?}");
    assert_eq!(of_run[3][1..], ["avg_2-3", "16384", "32", "0", "100.0000"]);
}

#[test]
fn what_fio_can_say_exactly_becomes_a_job_file_that_fio_takes() {
    let (_host, vdbench) = (shared_host(), Vdbench::new());
    let (parameters, job) = (vdbench.scratch.path("parm"), vdbench.scratch.path("job.fio"));
    let lun = vdbench.scratch.path("lun");
    fs::write(&lun, vec![0; 1 << 20]).expect("a file");
    let text = |read: u32| {
        format!(
            "sd=sd1,lun={lun}\nwd=wd1,sd=sd1,xfersize=4k,rdpct={read}\n\
             rd=rd1,wd=wd1,iorate=100,elapsed=2,interval=1,forthreads=(1,4)\n"
        )
    };
    fs::write(&parameters, text(100)).expect("a file");
    let words = ["convert", "--to", "fio", "--save", &job, "vdbench", "-f", &parameters];
    let done = candor(&words);
    assert_eq!(done.code, Some(0), "{}", done.err);
    let ran = candor(&["fio", "--output-format=json", &job]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("fio's JSON");
    let jobs = report["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.len(), 1 + 4, "{}", ran.out);
    if Path::new("/usr/bin/fio").exists() {
        let fio = Command::new("/usr/bin/fio").args(["--parse-only", &job]).output();
        let fio = fio.expect("fio");
        assert!(fio.status.success(), "{}", String::from_utf8_lossy(&fio.stdout));
    }
    // A rate of reads and writes together is none of fio's.
    fs::write(&parameters, text(70)).expect("a file");
    let refused = candor(&words);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("pace.ops: the plan has \"100/s\""), "{}", refused.err);
}

#[test]
fn averages_are_made_of_the_rows_that_are_printed() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let file = "sd=sd1,lun=lun,size=4m\nwd=wd1,sd=sd1,rdpct=70\n\
        rd=rd1,wd=wd1,iorate=200,elapsed=4,interval=1\n";
    vdbench.file(file, "");
    let rows = vdbench.flat(&["Run", "Interval", "rate", "read%", "reqrate"]);
    let number = |row: &[String]| row[2].parse::<f64>().expect("a rate");
    let run: Vec<_> = rows.into_iter().filter(|row| row[0] == "rd1").collect();
    assert_eq!(run.len(), 5, "{run:?}");
    let mean = run[1..4].iter().map(|row| number(row)).sum::<f64>() / 3.0;
    let printed = number(&run[4]);
    assert!((mean - printed).abs() < 0.02 * mean, "{mean} {printed}");
    assert!((150.0..250.0).contains(&printed), "the rate that was asked for: {printed}");
    assert_eq!(run[4][4], "200");
    let summary = vdbench.page("summary");
    assert!(summary.contains("avg_2-4") && summary.contains("HREF=\"sd1.html\""), "{summary}");
}

#[test]
fn every_page_is_there_and_holds_its_part() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let file = "report_run_totals=yes\nstartcmd=(\"echo hello\",cons)\nsd=sd1,lun=lun,size=1m\n\
        wd=wd1,sd=sd1\nrd=rd1,wd=wd1,iorate=max,elapsed=2,interval=1\n";
    let told = vdbench.file(file, "");
    assert!(told.contains("hello"), "{told}");
    for (page, part) in [
        ("summary", "Vdbench summary report"),
        ("totals", "avg_2-2"),
        ("flatfile", "reqrate"),
        ("histogram", "min(ms)"),
        ("logfile", "Starting RD=rd1"),
        ("errorlog", "errorlog"),
        ("parmfile", "sd=sd1,lun=lun,size=1m"),
        ("parmscan", "lun=lun"),
        ("status", "Vdbench complete"),
        ("skew", "observed"),
        ("sd1", "avg_2-2"),
        ("wd1", "avg_2-2"),
        ("localhost", "avg_2-2"),
        ("sd1.histogram", "min(ms)"),
        ("totals_optional", "rd1"),
    ] {
        let text = vdbench.page(page);
        assert!(text.starts_with("<title>Vdbench output/"), "{page}");
        assert!(text.contains(part), "{page} has no {part}: {text}");
    }
    let csv = vdbench.run("parseflat -i output -c Run rate -a");
    let csv = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert!(csv.starts_with("Run,rate\nrd1,"), "{csv}");
}

#[test]
fn curves_follow_what_their_first_run_reached() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let file = "sd=sd1,lun=lun,size=4m,threads=1,openflags=o_dsync\nwd=wd1,sd=sd1,rdpct=0\n\
        rd=rd1,wd=wd1,iorate=curve,curve=(50),elapsed=2,interval=1\n";
    vdbench.file(file, "");
    let rows = vdbench.flat(&["Run", "Interval", "reqrate", "rate"]);
    let average = |name: &str| {
        let row = rows.iter().find(|row| row[0] == name && row[1].starts_with("avg"));
        row.unwrap_or_else(|| panic!("{name}: {rows:?}")).clone()
    };
    assert_eq!(average("rd1")[2], "9999977");
    let max: f64 = average("rd1")[3].parse().expect("a rate");
    let asked: f64 = average("rd1_(50%)")[2].parse().expect("a rate");
    assert!(asked >= max / 2.0 && asked <= max / 2.0 + 100.0, "{asked} of {max}");
}

#[test]
fn a_file_ends_runs_by_its_first_line() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let file = "monitor=stop\nsd=sd1,lun=lun,size=1m\nwd=wd1,sd=sd1\n\
        rd=default,wd=wd1,iorate=100,elapsed=60,interval=1\nrd=rd1\nrd=rd2\nrd=rd3\n";
    fs::write(vdbench.scratch.path("parm"), file).expect("a parameter file");
    fs::write(vdbench.scratch.path("stop"), "end_vdbench\n").expect("a word of an earlier run");
    let mut command = vdbench.command("-f parm");
    let running = command.stdout(std::process::Stdio::piped()).spawn().expect("it starts");
    for (run, word) in [("rd1", "end_rd"), ("rd2", "end_vdbench")] {
        let has_begun = || {
            let path = vdbench.scratch.path("output/status.html");
            let status = fs::read_to_string(path).unwrap_or_default();
            status.contains(&format!("Warmup done\trd={run}"))
        };
        let begun = (0..400).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(50));
            has_begun()
        });
        assert!(begun, "{run} does not begin");
        fs::write(vdbench.scratch.path("stop"), word).expect("the file is writable");
    }
    let ran = running.wait_with_output().expect("it ends");
    let told = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert_eq!(ran.status.code(), Some(0), "{told}");
    assert!(told.contains("monitor= asks for end_rd") && !told.contains("RD=rd3"), "{told}");
    let rows = vdbench.flat(&["Run", "Interval", "rate"]);
    for run in ["rd1", "rd2"] {
        let of_run: Vec<_> = rows.iter().filter(|row| row[0] == run).collect();
        let last = of_run.last().expect("rows");
        let intervals = of_run.len() - 1;
        assert!((2..10).contains(&intervals), "{of_run:?}");
        assert_eq!(last[1], format!("avg_2-{intervals}"), "whole intervals alone: {of_run:?}");
    }
    assert_eq!(fs::read_to_string(vdbench.scratch.path("stop")).ok().as_deref(), Some(""));
}

#[test]
fn a_simulation_lists_runs_and_touches_nothing() {
    let vdbench = Vdbench::new();
    let file = "sd=sd1,lun=lun,size=1m\nwd=wd1,sd=sd1\n\
        rd=rd1,wd=wd1,iorate=max,elapsed=10,forthreads=(1,2),forxfersize=(4k,8k)\n";
    let told = vdbench.file(file, "-s -o simulated");
    assert_eq!(told.matches("Simulating RD=rd1").count(), 4, "{told}");
    assert!(told.contains("threads=2 xfersize=8k"), "{told}");
    assert!(told.contains("Vdbench simulation completed successfully"), "{told}");
    assert!(fs::metadata(vdbench.scratch.path("lun")).is_err(), "the lun was made");
}

#[test]
fn faults_are_told_together_and_refused_with_157() {
    let vdbench = Vdbench::new();
    let wrong = vdbench.of_file(
        "sd=sd1,lun=lun,size=1q,nonsense=4\nwd=wd1,sd=sd1\n\
        rd=rd1,wd=wd1,iorate=max,elapsed=x\n",
        "",
    );
    let told = stderr(&wrong);
    assert_eq!(wrong.status.code(), Some(157));
    for part in ["parm:1:", "parm:3:", "nonsense", "1q"] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let missing = vdbench.of_file("sd=sd1,lun=lun\nwd=wd1,sd=sd1\nrd=r,wd=wd1,iorate=1\n", "");
    assert_eq!(missing.status.code(), Some(157));
    assert!(stderr(&missing).contains("size="), "{}", stderr(&missing));
    assert_eq!(vdbench.run("-f nowhere").status.code(), Some(157));
    assert_eq!(vdbench.run("printjournal x").status.code(), Some(157));
}

#[test]
fn a_lun_that_cannot_be_written_fails_with_157() {
    let _host = shared_host();
    let vdbench = Vdbench::new();
    let ran = vdbench.of_file(
        "sd=sd1,lun=missing/lun,size=1m\nwd=wd1,sd=sd1\n\
        rd=r,wd=wd1,iorate=1,elapsed=2\n",
        "",
    );
    assert_eq!(ran.status.code(), Some(157), "{ran:?}");
    assert!(stderr(&ran).contains("missing/lun"), "{}", stderr(&ran));
}
