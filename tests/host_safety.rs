//! Runs leave no programs, settings and files on a host after kills, and end in a sentence where
//! the host has no threads or memory left.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::fleet::Fleet;
use crate::support::{
    Loop, NOBODY, Running, Scratch, candor, root, shared_host, skip, spawn, spawn_as_nobody,
};

/// Limit of every wait.
const LIMIT: Duration = Duration::from_secs(30);

/// Waits until this is so.
fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A plan of a program that starts another one, which leaves its session and writes its number.
fn plan_with_orphan(scratch: &Scratch, number: &str, seconds: u32) -> String {
    let script = format!(
        "setsid sh -c 'echo $$ > {number}.new; mv {number}.new {number}; exec sleep 334' & wait"
    );
    let text = format!(
        "[[phase]]\nname = \"p\"\nstop.time = \"{seconds}s\"\njob = [{{ name = \"j\", \
         work.program = {{ command = [\"sh\", \"-c\", \"{script}\"] }} }}]\n"
    );
    scratch.file("orphan.toml", &text)
}

fn number_in(file: &str) -> String {
    wait_until("a program that left its session", || Path::new(file).exists());
    fs::read_to_string(file).expect("its number").trim().to_owned()
}

fn is_gone(process: &str) {
    wait_until("the end of that program", || !Path::new("/proc").join(process).exists());
}

#[test]
fn a_program_that_leaves_its_session_ends_with_the_run() {
    let scratch = Scratch::new();
    let number = scratch.outside("number");
    let plan = plan_with_orphan(&scratch, &number, 1);
    let ran = candor(&["run", "--no-live", &plan]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let process = number_in(&number);
    assert!(!Path::new("/proc").join(&process).exists(), "{process} outlives its run");
}

#[test]
fn a_program_that_leaves_its_session_ends_with_its_host_s_run() {
    let scratch = Scratch::new();
    let number = scratch.outside("number");
    let plan = plan_with_orphan(&scratch, &number, 30);
    let dir = scratch.dir();
    let fleet = Fleet::serving(scratch, 1, &["--allow", &dir, "--allow-programs"]);
    // Whatever ends the run: the coordinator is killed, or the process of the run.
    for kills_coordinator in [true, false] {
        let hosts = fleet.hosts();
        let coordinator = spawn(&fleet.words(&hosts, &[&plan]));
        let process = number_in(&number);
        let killed = if kills_coordinator {
            coordinator.pid()
        } else {
            fleet.agents[0].run_process().expect("a run")
        };
        let pid = Pid::from_raw(killed as i32).expect("a process");
        kill_process(pid, Signal::KILL).expect("killed");
        is_gone(&process);
        fs::remove_file(&number).expect("its number");
        coordinator.wait();
        fleet.wait_until_clean(LIMIT);
    }
}

/// A plan that reads a device for that time with another scheduler.
fn plan_with_scheduler(scratch: &Scratch, path: &str, scheduler: &str, seconds: u32) -> String {
    let text = format!(
        "[[target]]\nname = \"t\"\npath = \"{path}\"\nsize = \"1m\"\nscheduler = \"{scheduler}\"\n\
         overwrite = true\n\
         [[phase]]\nname = \"p\"\nstop.time = \"{seconds}s\"\njob = [{{ targets = [\"t\"], \
         work.blocks = {{ mix = \"read\" }} }}]\n"
    );
    scratch.file("scheduler.toml", &text)
}

#[test]
fn a_scheduler_is_restored_after_a_kill() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::blank(&scratch, 4 << 20) else { return };
    let file = format!("/sys/block/{}/queue/scheduler", device.name());
    let present = || fs::read_to_string(&file).unwrap_or_default();
    let before = present();
    let Some(other) = before.split_whitespace().find(|name| !name.starts_with('[')) else {
        skip("the kernel has one I/O scheduler only");
        return;
    };
    let plan = plan_with_scheduler(&scratch, &device.node, other, 30);
    let mut killed = spawn(&["run", "--no-live", &plan]);
    killed.wait_for(", 30 s");
    assert!(present().contains(&format!("[{other}]")), "{}", present());
    killed.signal(Signal::KILL);
    killed.wait();
    // A run of another test may find the mark first; a unit test holds the note.
    let words = ["run", "--no-live", "--rw", "read", "--ops", "3", "--size", "64k", "--target"];
    let next = candor(&[&words[..], &[&scratch.path("own")]].concat());
    assert_eq!(next.code, Some(0), "{}", next.err);
    assert_eq!(present(), before);
}

#[test]
fn settings_of_a_host_need_its_agent_s_consent() {
    let fleet = Fleet::new(1);
    let path = fleet.scratch.path("own");
    let plan = plan_with_scheduler(&fleet.scratch, &path, "none", 1);
    let nice = format!(
        "[[target]]\nname = \"t\"\npath = \"{path}\"\nsize = \"1m\"\n[[phase]]\nname = \"p\"\n\
         stop.ops = 3\njob = [{{ targets = [\"t\"], threads = {{ nice = -5 }}, work.blocks = {{ \
         mix = \"read\" }} }}]\n"
    );
    let nice = fleet.scratch.file("nice.toml", &nice);
    for plan in [&plan, &nice] {
        let ran = fleet.run(&[plan]);
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains("--allow-host-settings"), "{}", ran.err);
    }
    if !root() {
        return;
    }
    let (scratch, words) = (Scratch::new(), ["--allow-host-settings"]);
    let dir = scratch.dir();
    let consents = Fleet::serving(scratch, 1, &[&words[..], &["--allow", &dir]].concat());
    let text = fs::read_to_string(&nice).expect("the plan");
    let own = text.replace(&path, &consents.scratch.path("own"));
    let own = consents.scratch.file("nice.toml", &own);
    let ran = consents.run(&[&own]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// Runs candor as a user with that limit of threads.
fn with_threads(threads: u32, directory: &str, words: &[&str]) -> crate::support::Ran {
    let limited = format!("ulimit -u {threads} && exec \"$0\" \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &limited, env!("CARGO_BIN_EXE_candor")]).args(words);
    command.uid(NOBODY).gid(NOBODY).env("HOME", "/").current_dir(directory);
    Running::start(&mut command, Stdio::null()).wait()
}

#[test]
fn no_command_panics_without_threads() {
    if !root() {
        return;
    }
    let scratch = Scratch::new();
    let Some(able) = spawn_as_nobody(&["--version"]) else { return };
    able.wait();
    let dir = scratch.dir();
    std::os::unix::fs::chown(&dir, Some(NOBODY), Some(NOBODY)).expect("given away");
    let parameters = format!(
        "sd=s,lun={dir}/v,size=1m\nwd=w,sd=s,rdpct=100\nrd=r,wd=w,iorate=max,elapsed=2,interval=1\n"
    );
    let parameters = scratch.file("threads.vdb", &parameters);
    let commands: [&[&str]; 7] = [
        &["run", "--no-live", "--target", "own", "--size", "1m", "--ops", "5"],
        &["check", "--no-live", ".", "--size", "1m", "--seconds", "1"],
        &["fio", "--name=x", "--size=1m", "--rw=randread", "--number_ios=5"],
        &["elbencho", "-w", "-t", "1", "-s", "1m", "-b", "64k", "elbencho"],
        &["ior", "-a", "POSIX", "-b", "64k", "-t", "64k", "-o", "ior"],
        &["mdtest", "-n", "5", "-d", "mdtest"],
        &["vdbench", "-f", &parameters, "-o", "vdbench"],
    ];
    for words in commands {
        for threads in 1..=5 {
            let ran = with_threads(threads, &dir, words);
            let is_sound = ran.code.is_some_and(|code| code != 101) && !ran.err.contains("panic");
            assert!(is_sound, "{words:?} with {threads}: {:?}: {}", ran.code, ran.err);
            assert!(ran.code == Some(0) || !ran.err.is_empty() || !ran.out.is_empty());
        }
    }
}

/// Runs candor under a limit of the shell.
fn limited(limit: &str, words: &[&str]) -> crate::support::Ran {
    let mut command = Command::new("sh");
    let script = format!("ulimit -c 0 && ulimit {limit} && exec \"$0\" \"$@\"");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_candor")]).args(words);
    Running::start(&mut command, Stdio::null()).wait()
}

#[test]
fn little_room_for_stack_and_memory_ends_in_a_sentence() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let ran = limited("-s 64", &["--version"]);
    assert!(ran.code == Some(1) && ran.err.contains("ulimit -s"), "{:?}: {}", ran.code, ran.err);
    let ran = limited("-S -s 64", &["--version"]);
    assert_eq!(ran.code, Some(0), "the hard limit has room: {}", ran.err);
    // The program itself, and a little more.
    let starts = |mib: &u32| limited(&format!("-v {}", mib << 10), &["--version"]).code == Some(0);
    let mib = (16..4096).step_by(8).find(starts).expect("a limit under which it starts");
    let limit = format!("-v {}", (mib + 4) << 10);
    let own = scratch.path("own");
    let ran =
        limited(&limit, &["run", "--no-live", "--target", &own, "--size", "1m", "--ops", "3"]);
    assert!(ran.code == Some(3) && ran.err.contains("ulimit -v"), "{:?}: {}", ran.code, ran.err);
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn a_run_does_not_rest_after_its_last_operation() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let own = scratch.path("own");
    let words = ["run", "--no-live", "--size", "64k", "--think", "100h", "--ops", "1"];
    let ran = candor(&[&words[..], &["--target", &own]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let tree = scratch.path("tree");
    let plan = format!(
        "[[target]]\nname = \"t\"\npath = \"{tree}\"\nkind = \"tree\"\n[target.tree]\nitems = 3\n\
         [[phase]]\nname = \"p\"\nstop.ops = 1\njob = [{{ targets = [\"t\"], work.entries = {{ \
         steps = [\"create\"], pace = {{ think = {{ time = \"100h\" }} }} }} }}]\n"
    );
    let plan = scratch.file("think.toml", &plan);
    let ran = candor(&["run", "--no-live", &plan]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

#[test]
fn sigusr1_has_fio_print_results_so_far() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("own");
    let name = format!("--filename={file}");
    let words = ["fio", "--name=x", &name, "--size=1m", "--rw=randread", "--time_based"];
    let mut running = spawn(&[&words[..], &["--runtime=30"]].concat());
    wait_until("the file", || fs::metadata(&file).is_ok_and(|found| found.len() == 1 << 20));
    std::thread::sleep(Duration::from_millis(700));
    running.signal(Signal::USR1);
    running.wait_for_rows("IOPS=");
    assert!(!running.has_ended());
    running.signal(Signal::INT);
    assert_eq!(running.wait().code, Some(128));
}
