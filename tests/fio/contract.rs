//! Contract with scripts: streams, exit codes, forms of output.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;

use super::{command, fio};
use crate::support::{Running, Scratch, candor, candor_reading};

/// A job that ends at once.
const SMALL: [&str; 4] = ["--name=small", "--ioengine=null", "--size=64k", "--rw=randread"];

#[test]
fn success_is_silent_on_stderr() {
    let scratch = Scratch::new();
    let ran = fio(&scratch, &SMALL);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("small: (g=0): rw=randread, bs=(R) 4096B-4096B,"), "{}", ran.out);
    assert!(ran.out.contains("\nfio-3.42\nStarting 1 process\n"), "{}", ran.out);
    assert!(ran.out.contains("  read: IOPS="), "{}", ran.out);
    let by_command = candor(&[&["fio"][..], &SMALL[..]].concat());
    assert_eq!((by_command.code, by_command.err.as_str()), (Some(0), ""));
}

#[test]
fn json_stands_between_bare_braces() {
    let scratch = Scratch::new();
    let ran = fio(&scratch, &[&SMALL[..], &["--output-format=json"]].concat());
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!((lines.first(), lines.last()), (Some(&"{"), Some(&"}")));
    let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["jobs"][0]["jobname"], "small");
    assert_eq!(json["jobs"][0]["read"]["total_ios"], 16);
    assert!(json["candor"]["verdict"].is_string());
}

#[test]
fn output_goes_to_a_file() {
    let scratch = Scratch::new();
    let words = ["--output=out.json", "--output-format=json"];
    let ran = fio(&scratch, &[&SMALL[..], &words].concat());
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let text = fs::read_to_string(scratch.path("out.json")).expect("the file");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
    // What is wrong goes to both.
    let ran = fio(&scratch, &["--output=wrong", "--name=a", "--bs=4q"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(fs::read_to_string(scratch.path("wrong")).expect("the file"), ran.err);
    let ran = fio(&scratch, &[&SMALL[..], &["--output=none/out"]].concat());
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("none/out cannot be made"), "{}", ran.err);
}

#[test]
fn the_environment_decides_where_the_verdict_goes() {
    let scratch = Scratch::new();
    let with = |value: &str| {
        let mut command = command(&scratch, &SMALL);
        Running::start(command.env("CANDOR_VERDICT", value), Stdio::null()).wait()
    };
    assert!(!fio(&scratch, &SMALL).out.contains("candor: "), "text in a pipe is fio's alone");
    let off = with("off");
    assert!(!off.out.contains("candor: ") && off.err.is_empty());
    let stderr = with("stderr");
    assert!(!stderr.out.contains("candor: ") && stderr.err.starts_with("\ncandor: "));
    let file = with("verdict.txt");
    assert!(!file.out.contains("candor: ") && file.err.is_empty());
    let text = fs::read_to_string(scratch.path("verdict.txt")).expect("the file");
    assert!(text.starts_with("\ncandor: "), "{text}");
}

#[test]
fn questions_are_answered_on_stdout() {
    let scratch = Scratch::new();
    for (words, begins) in [
        (&["--version"][..], "fio-3.42\n"),
        (&["-v"], "fio-3.42\n"),
        (&["--help", "--nonsense"], "fio-3.42 (candor "),
        (&["--cmdhelp=bs"], "                  bs: "),
        (&["--cmdhelp"], "description"),
        (&["--enghelp"], "Available IO engines:\n\t"),
        (&["--enghelp=io_uring"], "hipri"),
        (&["--showcmd", "--name=a b", "--bs=4k"], "fio '--name=a b' --bs=4k\n"),
    ] {
        let ran = fio(&scratch, words);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}");
        assert!(ran.out.starts_with(begins), "{words:?}\n{}", ran.out);
    }
    // An option that is none is no failure to fio, an engine is.
    for (words, code) in [(["--cmdhelp=nonsense"], 0), (["--enghelp=nonsense"], 1)] {
        let ran = fio(&scratch, &words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(code), ""), "{words:?}");
        assert!(ran.err.contains("nonsense"), "{}", ran.err);
    }
    let near = fio(&scratch, &["--cmdhelp=blocksze"]);
    assert_eq!(near.code, Some(0));
    assert!(near.out.starts_with("                  bs: "), "{}", near.out);
}

#[test]
fn what_keeps_jobs_from_starting_ends_with_1() {
    let scratch = Scratch::new();
    fs::write(scratch.path("job.fio"), "[a]\nrw=write\nsize=4k\n").expect("a job file");
    for (words, told) in [
        (&[][..], "No job(s) defined"),
        (&["--section=b", "job.fio"], "No job(s) defined"),
        (&["none.fio"], "command line:1:5: `none.fio` cannot be read"),
        (&["--readonly", "job.fio"], "job.fio:1:2: job <a> writes or trims"),
        (&["--name=a", "--ioengine=rbd", "--size=4k"], "engine rbd not loadable"),
        (&["--name=a", "--ioengine=noengine", "--size=4k"], "engine noengine not loadable"),
        (&["--name=a", "--ioengine=libaoi", "--size=4k"], "libaio"),
        (&["--warnings-fatal", "--name=a", "--bs=4KiB", "--parse-only"], "4000 bytes"),
        (&["--remote-config=other", "job.fio"], "--remote-config cannot be done"),
        (&["--terse-version=9", "job.fio"], "`9` is no version"),
    ] {
        let ran = fio(&scratch, words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{words:?}");
        assert!(ran.err.starts_with("fio: ") && ran.err.contains(told), "{words:?}\n{}", ran.err);
    }
    assert_eq!(scratch.entries(), ["job.fio"]);
}

/// fio 3.42 drops these words, and runs the job.
#[test]
fn words_that_fio_drops_keep_no_job_from_running() {
    let scratch = Scratch::new();
    let split = "--bssplit=512/10,1536/10,2560/10,3584/10";
    for (words, shown) in [
        (&["--max-jobs=1", "--numjobs=2"][..], "Starting 2 processes"),
        (&["--rw=randrw", split], "bs=(R) 512B-512B, (W) 1536B-1536B, (T) 2560B-2560B"),
        (&["--rw=write", "--num_range=2"], "rw=write"),
    ] {
        let job = ["--name=a", "--ioengine=null", "--filename=v", "--size=1m"];
        let ran = fio(&scratch, &[&job, words].concat());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{words:?}");
        assert!(ran.out.contains(shown), "{words:?}\n{}", ran.out);
    }
}

#[test]
fn parsing_alone_is_silent_and_runs_nothing() {
    let scratch = Scratch::new();
    fs::write(scratch.path("job.fio"), "[a]\nioengine=rbd\nrw=write\nsize=4k\n").expect("a file");
    let ran = fio(&scratch, &["--parse-only", "job.fio"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    assert_eq!(scratch.entries(), ["job.fio"]);
}

#[test]
fn job_files_come_from_anywhere() {
    let scratch = Scratch::new();
    let ran = candor_reading(&["fio", "-", "--minimal"], "[in]\nioengine=null\nsize=64k\n");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.starts_with("3;fio-3.42;in;0;0;64;"), "{}", ran.out);
    fs::write(scratch.path("1.fio"), "[one]\ninclude more.fio\n").expect("a job file");
    fs::write(scratch.path("more.fio"), "ioengine=null\nsize=${SIZE}\n").expect("a job file");
    fs::write(scratch.path("2.fio"), "[two]\nioengine=null\nsize=4k*2\n").expect("a job file");
    let mut words = command(&scratch, &["1.fio", "--minimal"]);
    let ran = Running::start(words.env("SIZE", "8k"), Stdio::null()).wait();
    assert!(ran.out.starts_with("3;fio-3.42;one;0;0;8;"), "{}\n{}", ran.out, ran.err);
    let ran = fio(&scratch, &["2.fio"]);
    assert!(ran.err.starts_with("fio: 2.fio:3:6: size: `4k*2` is not"), "{}", ran.err);
}

#[test]
fn files_follow_one_another() {
    let scratch = Scratch::new();
    for name in ["1.fio", "2.fio"] {
        fs::write(scratch.path(name), "[a]\n[b]\n").expect("a job file");
    }
    let words = ["--ioengine=null", "--size=4k", "1.fio", "--output-format=json"];
    let groups = |words: &[&str]| -> Vec<(String, u64)> {
        let ran = fio(&scratch, words);
        let json: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON");
        let jobs = json["jobs"].as_array().expect("jobs").iter();
        jobs.map(|job| {
            (job["jobname"].as_str().unwrap_or("").to_owned(), job["groupid"].as_u64().unwrap_or(9))
        })
        .collect()
    };
    assert_eq!(groups(&words), [("a".to_owned(), 0), ("b".to_owned(), 0)]);
    fs::write(scratch.path("2.fio"), "[c]\nioengine=null\nsize=4k\n").expect("a job file");
    let both = groups(&["--ioengine=null", "--size=4k", "1.fio", "2.fio", "--output-format=json"]);
    assert_eq!(both, [("a".to_owned(), 0), ("b".to_owned(), 0), ("c".to_owned(), 1)]);
}

#[test]
fn failed_jobs_are_counted() {
    let scratch = Scratch::new();
    // Shorter than what is read, and not to be made longer.
    fs::write(scratch.path("short"), vec![0; 4096]).expect("a file");
    fs::write(scratch.path("fine"), vec![0; 65536]).expect("a file");
    let bad = ["--name=bad", "--filename=none", "--allow_file_create=0", "--numjobs=3"];
    let good = ["--name=good", "--filename=fine"];
    let ran = fio(&scratch, &[&["--size=64k"][..], &bad, &good].concat());
    assert!(ran.code.is_some_and(|code| code >= 1), "{:?}\n{}", ran.code, ran.out);
    assert!(ran.err.starts_with("fio: ") && ran.err.contains("none"), "{}", ran.err);
    assert!(!fs::exists(scratch.path("none")).unwrap_or(true));
}

#[test]
fn a_signal_ends_with_128_and_results() {
    let scratch = Scratch::new();
    let words = ["--name=long", "--ioengine=null", "--size=1t", "--time_based", "--runtime=30"];
    let running = Running::start(&mut command(&scratch, &words), Stdio::null());
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::INT);
    let ran = running.wait();
    assert_eq!(ran.code, Some(128), "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("fio: terminating on signal"), "{}", ran.out);
    assert!(ran.out.contains("  read: IOPS="), "{}", ran.out);
}

#[test]
fn progress_is_shown_where_it_is_asked_for() {
    let scratch = Scratch::new();
    let words = ["--name=a", "--ioengine=null", "--size=1t", "--time_based", "--runtime=3"];
    let ran = fio(&scratch, &[&words[..], &["--eta=always", "--eta-newline=1"]].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("Jobs: 1 (f=1): [R(1)]["), "{}", ran.out);
    let quiet = fio(&scratch, &[&words[..4], &["--runtime=1"]].concat());
    assert!(!quiet.out.contains("Jobs: "), "{}", quiet.out);
}

#[test]
fn job_files_become_plans() {
    let scratch = Scratch::new();
    let text = "[a]\nioengine=null\nsize=64k\nbs=4KiB\n";
    let job = scratch.file("job.fio", text);
    let ran = candor(&["convert", &job]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.contains("engine = \"null\"") && ran.out.contains("# 4KiB: "), "{}", ran.out);
    let plan = scratch.file("plan.toml", &ran.out);
    assert_eq!(candor(&["run", &plan, "--dry-run"]).code, Some(0));
    assert!(
        ran.out.contains("kb_base=1024 fio counts units with an i in thousands; fio reads it so (")
            && ran.out.contains("job.fio:4:4)\nsize = \"4000B\"\n"),
        "{}",
        ran.out
    );
    assert_eq!(candor(&["convert", "--name=a", "--bs=4q"]).code, Some(2));
    let options = candor(&["options", "fio"]);
    assert!(
        options.out.contains("| `bs`, `blocksize` | exact | `blocks.size` |"),
        "{}",
        options.out
    );
}

#[test]
fn a_replay_is_saved_as_a_plan_and_its_trace() {
    let scratch = Scratch::new();
    let file = format!("{}/replayed", scratch.dir());
    let steps = format!("{file} write 0 4096\n{file} write 4096 8192\n");
    let trace = format!("fio version 2 iolog\n{file} add\n{file} open\n{steps}{file} close\n");
    let trace = scratch.file("trace", &trace);
    let job = scratch.file("job.fio", &format!("[a]\nioengine=psync\nread_iolog={trace}\n"));
    let refused = candor(&["convert", &job]);
    assert!(refused.code == Some(2) && refused.err.contains("--save FILE"), "{}", refused.err);
    let plan = format!("{}/plan.toml", scratch.dir());
    for words in [["convert", "--save", &plan, &job], ["convert", &job, "--save", &plan]] {
        let _ = fs::remove_file(&plan);
        let saved = candor(&words);
        assert_eq!((saved.code, saved.err.as_str(), saved.out.as_str()), (Some(0), "", ""));
        assert!(fs::metadata(&plan).is_ok(), "{words:?}");
    }
    assert_eq!(candor(&["run", &plan, "--quiet"]).code, Some(0));
    assert_eq!(fs::metadata(file).expect("what was written").len(), 12288);
}

#[test]
fn results_stand_though_a_log_cannot_be_written() {
    let scratch = Scratch::new();
    let words = ["--name=a", "--ioengine=null", "--size=64k", "--output-format=json"];
    let more = ["--write_bw_log=absent/x", "--output=out.json"];
    let ran = fio(&scratch, &[&words[..], &more].concat());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("absent/x_bw.1.log cannot be written"), "{}", ran.err);
    let text = fs::read_to_string(format!("{}/out.json", scratch.dir())).expect("results");
    assert!(text.starts_with("{\n") && text.contains("\"jobname\""), "{text}");
}

#[test]
fn compressed_logs_are_shown_as_text() {
    let scratch = Scratch::new();
    let words = ["--name=a", "--ioengine=null", "--size=64k", "--bs=4k", "--rw=write"];
    let more = ["--write_iops_log=x", "--log_store_compressed=1", "--log_offset=1"];
    let ran = fio(&scratch, &[&words[..], &more].concat());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let shown = fio(&scratch, &["--inflate-log=x_iops.1.log.fz"]);
    assert_eq!((shown.code, shown.out.lines().count()), (Some(0), 16), "{}", shown.err);
    assert!(shown.out.ends_with(", 1, 1, 4096, 61440, 0\n"), "{}", shown.out);
    let absent = fio(&scratch, &["--inflate-log=absent"]);
    assert_eq!(absent.code, Some(1));
    assert!(absent.err.contains("absent cannot be read"), "{}", absent.err);
}
