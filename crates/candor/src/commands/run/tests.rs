//! From words to plans, and to messages about them.

mod rows;
mod s3;

use candor_plan::{Nanos, Stop, check, text};
use insta::assert_snapshot;

use super::*;

/// The plan of a command line as TOML, or what is wrong with it.
fn output(words: &str) -> String {
    let words: Vec<String> = format!("candor run {words}").split(' ').map(str::to_owned).collect();
    let matches = match command().try_get_matches_from(&words[1..]) {
        Ok(matches) => matches,
        Err(error) => return error.to_string(),
    };
    let mut line = CommandLine::new(&words);
    match by_flags(&matches, &mut line) {
        Ok((plan, source)) => {
            let found = check::check(&plan);
            if found.is_empty() {
                text::write(&plan)
            } else {
                candor_show::problems::text(&found, &source, false)
            }
        }
        Err(Unusable::Sentence(sentence)) => sentence,
        Err(Unusable::Plan(problems, source)) => {
            candor_show::problems::text(&problems, &source, false)
        }
    }
}

#[test]
fn a_simple_job() {
    assert_snapshot!(
        output("--target /data/file --rw randread --bs 4k --depth 32 --engine io_uring --direct \
              --size 1g --seconds 10"),
        @r#"
    version = 2
    name = "random read 4 KiB, depth 32"

    [[target]]
    name = "target"
    path = "/data/file"
    size = "1GiB"

    [[phase]]
    name = "random read 4 KiB, depth 32"
    stop = { time = "10s" }

    [[phase.job]]
    name = "job"
    targets = ["target"]

    [phase.job.work.blocks]
    access = "random"
    depth = 32
    engine = "io_uring"
    direct = true
    "#
    );
}

/// Every option at least once, and the plan says each of them.
#[test]
fn all_options() {
    assert_snapshot!(
        output("--target /data/a --target /data/b --size 1g --files 4 --layout allocate --keep \
              --overwrite --name all --rw randrw --mix read:70,write:30 --bs 4k:60,64k:40 \
              --access zipf:1.2 --align 4k --range 0-50% --engine io_uring --depth 8 --direct \
              --batch-submit 4 --batch-reap 2 --batch-reap-max 6 --sqpoll --sqpoll-cpu 1 --iopoll \
              --no-fixed-buffers --no-fixed-files --huge-pages --workers 2 --sharing own \
              --cpus 0-1 --split-cpus --numa 0 --seed 7 --time 1m --bytes 1g --ops 1000 \
              --passes 2 --continue-on-error --ramp 1s --rate-iops 10k --rate 100MB \
              --arrival poisson --fsync-every 10 --fsync-end \
              --open-sync dsync --evict --advice random --content fresh --compressible 30 \
              --duplicate 10"),
        @r#"
    version = 2
    name = "all"
    seed = 7

    [[target]]
    name = "target1"
    path = "/data/a"
    size = "1GiB"
    files = 4
    layout = "allocate"
    keep = true
    overwrite = true

    [[target]]
    name = "target2"
    path = "/data/b"
    size = "1GiB"
    files = 4
    layout = "allocate"
    keep = true
    overwrite = true

    [[phase]]
    name = "all"
    stop = { time = "60s", bytes = "1GiB", ops = 1000, passes = 2, continue_on_error = true }
    ramp = "1s"

    [[phase.job]]
    name = "job"
    workers = 2
    targets = ["target1", "target2"]
    sharing = "own"
    placement = { cpus = [0, 1], split = true, numa_node = 0 }

    [phase.job.work.blocks]
    mix = "read:70,write:30"
    access = { zipf = { theta = 1.2 } }
    size = "4KiB:60,64KiB:40"
    align = "4KiB"
    range = { start = "0%", length = "50%" }
    depth = 8
    batch_submit = 4
    batch_reap = 2
    batch_reap_max = 6
    engine = { io_uring = { sqpoll = true, sqpoll_cpu = 1, iopoll = true, fixed_buffers = false, fixed_files = false } }
    direct = true
    durability = { open = "dsync", fsync_every = 10, fsync_at_end = true }
    hints = { evict = true, advice = "random", huge_pages = true }
    pace = { ops = "10000/s", bytes = "100000000B/s", arrival = "poisson" }
    content = { fill = "fresh", compressible_percent = 30, duplicate_percent = 10 }
    "#
    );
}

#[test]
fn the_options_that_exclude_those() {
    assert_snapshot!(
        output("--target /data/a --size 1g --rw rw --random-percent 10 --share segments:16m,4 \
              --bs 1m --engine pvsync --rwf dsync,nowait --think 1ms:10 --verify=64k \
              --verify-continue --buffered --fdatasync-every 5"),
        @r#"
    version = 2
    name = "sequential read/write 50/50 1 MiB"

    [[target]]
    name = "target"
    path = "/data/a"
    size = "1GiB"

    [[phase]]
    name = "sequential read/write 50/50 1 MiB"

    [[phase.job]]
    name = "job"
    targets = ["target"]

    [phase.job.work.blocks]
    mix = "read:50,write:50"
    random_percent = 10
    size = "1MiB"
    share = { segments = { block = "16MiB", count = 4 } }
    engine = { pvsync = { flags = { nowait = true, dsync = true } } }
    durability = { fdatasync_every = 5 }
    pace = { think = { time = "1ms", every = 10 } }
    verify = { interval = "64KiB", continue_on_mismatch = true }
    "#
    );
}

#[test]
fn a_run_that_moves_no_bytes_needs_no_target() {
    assert_snapshot!(output("--engine null --depth 64 --rw randread --seconds 5"), @r#"
    version = 2
    name = "random read 4 KiB, depth 64"

    [[target]]
    name = "target"
    kind = "null"
    size = "1GiB"

    [[phase]]
    name = "random read 4 KiB, depth 64"
    stop = { time = "5s" }

    [[phase.job]]
    name = "job"
    targets = ["target"]

    [phase.job.work.blocks]
    access = "random"
    depth = 64
    engine = "null"
    "#);
}

#[test]
fn all_wrong_values_are_reported_at_once() {
    assert_snapshot!(
        output("--target /data/file --rw ranread --bs 4q --depth many --access zipf --seconds 1e3"),
        @"
        error[value]: `ranread` is not known; did you mean randread?
         --> command line:1:32
          |
        1 | candor run --target /data/file --rw ranread --bs 4q --depth many --access zipf --seconds 1e3
          |                                ^^^^^^^^^^^^
          |
          = help: --rw WORD[,WORD…]: read, write, trim, rw, randread, …; of buckets get, put, get:70,put:30, …; a list runs each

        error[value]: `4q` is not a size; write a whole number of bytes, with k, m, g, t or p (powers of 1024) or kB, MB, … (powers of 1000)
         --> command line:1:45
          |
        1 | candor run --target /data/file --rw ranread --bs 4q --depth many --access zipf --seconds 1e3
          |                                             ^^^^^^^
          |
          = help: --bs SIZE[,SIZE…]: Bytes per operation: 4k, 4k-64k, 4k:60,64k:40; of buckets, per range; a list runs each [default: 4k]

        error[value]: `many` is not a whole number, or is too large
         --> command line:1:53
          |
        1 | candor run --target /data/file --rw ranread --bs 4q --depth many --access zipf --seconds 1e3
          |                                                     ^^^^^^^^^^^^
          |
          = help: --depth N[,N…]: Operations in flight per worker; a list runs each in turn [default: 1]

        error[value]: `zipf` has 0 values after its name, not 1
         --> command line:1:66
          |
        1 | candor run --target /data/file --rw ranread --bs 4q --depth many --access zipf --seconds 1e3
          |                                                                  ^^^^^^^^^^^^^
          |
          = help: --access ORDER: zipf:1.2, pareto:0.2, normal:10, hot:80,10, permutation, backward, holes:64k, …

        error[value]: `1e3` is no time; write seconds, such as 30, or 90s, 1m30s, 5m
         --> command line:1:80
          |
        1 | candor run --target /data/file --rw ranread --bs 4q --depth many --access zipf --seconds 1e3
          |                                                                                ^^^^^^^^^^^^^
          |
          = help: --seconds N: Stop after N seconds, such as 30 or 1.5; the same as --time

        5 errors; nothing was run
        "
    );
}

#[test]
fn the_plan_is_checked_against_the_words() {
    assert_snapshot!(
        output("--target /data/file --rw randread --bs=4k --engine psync --depth 32"),
        @r#"
    warning[depth-sync]: psync keeps one operation in flight per worker; depth 32 has no effect
     --> command line:1:69
      |
    1 | candor run --target /data/file --rw randread --bs=4k --engine psync --depth 32
      |                                                                     ^^^^^^^^^^
      |
      = help: set workers = 32, or engine = "io_uring"

    1 warning
    "#
    );
}

#[test]
fn nothing_to_run_on() {
    assert_snapshot!(output("--rw read"), @r#"
    error[no-targets]: no target is given
     --> command line:1:1
      |
    1 | candor run --rw read
      | ^^^^^^^^^^
      |
      = help: add --target PATH, or name a plan: candor run FILE.toml

    1 error; nothing was run
    "#);
}

#[test]
fn a_file_and_flags_exclude_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let job = dir.path().join("job.toml").display().to_string();
    std::fs::write(&job, "version = 2\n").unwrap();
    let sentence = refused(&["candor", "run", &job, "--depth", "4", "--json", "out.json"]);
    assert_eq!(
        sentence,
        format!(
            "{job} defines the work, and so does --depth; change {job} with --set KEY=VALUE, or \
             give flags only"
        )
    );
}

/// The sentence with which words that give no plan are refused.
fn refused(words: &[&str]) -> String {
    let matches = command().try_get_matches_from(&words[1..]).unwrap();
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match plan(None, &matches, &mut CommandLine::new(&words)) {
        Err(Unusable::Sentence(sentence)) => sentence,
        _ => panic!("they were taken"),
    }
}

#[test]
fn a_target_in_place_of_a_plan_gets_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::write(at("data"), [0; 64]).unwrap();
    std::fs::write(at("empty"), "").unwrap();
    std::fs::write(at("table"), "one,two\n1,2\n").unwrap();
    for (path, what) in [
        (at("data"), "holds data, no plan"),
        (at("empty"), "is empty, no plan"),
        (at("table"), "holds data, no plan"),
        ("/dev/null".to_owned(), "is a character device, no plan"),
        (dir.path().display().to_string(), "is a directory, no plan"),
        (at("new"), "does not exist, so it is no plan"),
    ] {
        let sentence = refused(&["candor", "run", &path, "--rw", "randread"]);
        assert!(sentence.contains(what), "{sentence}");
        assert!(
            sentence.ends_with(&format!(": candor run --target {path} --rw randread")),
            "{sentence}"
        );
    }
    let missing = refused(&["candor", "run", &at("plan.toml")]);
    assert!(missing.contains("cannot be read"), "{missing}");
}

/// The output of `--dry-run` reads back as the same plan.
#[test]
fn a_printed_plan_reads_back() {
    let printed = output("--target /data/file --rw randrw --mix read:70,write:30 --size 1g");
    let (plan, _) = text::read("plan.toml", &printed).unwrap();
    assert_eq!(text::write(&plan), printed);
}

#[test]
fn a_list_is_a_phase_for_each_value() {
    assert_snapshot!(
        output("--target /data/file --rw randread --engine io_uring --direct --size 1g \
              --depth 1,16 --seconds 10"),
        @r#"
    version = 2
    name = "random read 4 KiB, by depth"

    [[target]]
    name = "target"
    path = "/data/file"
    size = "1GiB"

    [[phase]]
    name = "depth 1"
    stop = { time = "10s" }

    [[phase.job]]
    name = "job"
    targets = ["target"]

    [phase.job.work.blocks]
    access = "random"
    engine = "io_uring"
    direct = true

    [[phase]]
    name = "depth 16"
    stop = { time = "10s" }

    [[phase.job]]
    name = "job"
    targets = ["target"]

    [phase.job.work.blocks]
    access = "random"
    depth = 16
    engine = "io_uring"
    direct = true
    "#
    );
}

/// Names of the phases of a command line.
fn phases(words: &str) -> Vec<String> {
    let (plan, _) = text::read("plan.toml", &output(words)).unwrap();
    plan.phases.into_iter().map(|phase| phase.name).collect()
}

#[test]
fn two_lists_are_a_product() {
    let words = "--engine null --rw randread,write --workers 1,8";
    let names = [
        "random read, 1 worker",
        "random read, 8 workers",
        "sequential write, 1 worker",
        "sequential write, 8 workers",
    ];
    assert_eq!(phases(words), names);
    assert!(output(words).contains("name = \"4 KiB, by rw and workers\""), "{}", output(words));
    assert_eq!(phases("--engine null --bs 4k,4k-64k"), ["4 KiB", "4KiB-64KiB"]);
    assert_eq!(phases("--engine null --bs 4k:60,64k:40"), ["sequential read 4KiB:60,64KiB:40"]);
}

#[test]
fn lists_that_cannot_be_run_are_refused() {
    for (words, sentence) in [
        (
            "--engine null --bs 4k,8k --depth 1,2 --workers 1,2",
            "--bs, --depth, --workers are lists; at most 2 may be",
        ),
        ("--engine null --rw read,write --mix read:70,write:30", "and --mix would set the same"),
        ("--engine psync --target /data/file --depth 1,2", "psync has one operation in flight"),
        ("--engine null --depth 1,2,1", "`1,2,1` has 1 twice"),
        ("--engine null --depth 1,", "`` is not a whole number"),
        (
            "--engine null --seconds 1,2",
            "`1,2` is a list, and --seconds takes one value; lists are for --rw, --bs, --depth, \
             --workers",
        ),
        ("--engine null,psync", "`null,psync` is a list, and --engine takes one value"),
    ] {
        assert!(output(words).contains(sentence), "{words}: {}", output(words));
    }
}

#[test]
fn several_runs_are_announced() {
    let told = |words: &str| {
        let (plan, _) = text::read("plan.toml", &output(words)).unwrap();
        lists::announcement(&plan)
    };
    let words = "--engine null --depth 1,2,4 --seconds 20 --ramp 5s";
    assert_eq!(told(words), "3 runs, one after another, about 1 min 15 s of load.\n");
    let words = "--engine null --depth 1,2";
    assert_eq!(told(words), "2 runs, one after another, each as long as its pass takes.\n");
    assert_eq!(told("--engine null --seconds 20"), "");

    // Jobs converted from fio have their own times; a phase ends with its last job.
    let (mut plan, _) = text::read("plan.toml", &output("--engine null --depth 1,2")).unwrap();
    for phase in &mut plan.phases {
        phase.jobs.push(phase.jobs[0].clone());
        for (job, seconds) in phase.jobs.iter_mut().zip([4, 5]) {
            job.stop = Some(Stop { time: Some(Nanos::from_secs(seconds)), ..Stop::default() });
        }
    }
    let about = "2 runs, one after another, about 10 s of load.\n";
    assert_eq!(lists::announcement(&plan), about);
    plan.phases[0].jobs[1].stop = None;
    let passes = "2 runs, one after another, each as long as its pass takes.\n";
    assert_eq!(lists::announcement(&plan), passes);
}
