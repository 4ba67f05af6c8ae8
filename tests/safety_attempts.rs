//! Attempts to make candor write over bytes that its user did not mean: by all front ends, by each
//! output and target, by each spelling of the same file. No byte may change.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Loop, Mount, Scratch, candor, fingerprint, shared_host, skip, spawn};

const MIB: u64 = 1 << 20;

/// Files that no attempt may change, with their names and what they hold.
struct Kept(Vec<(String, u64)>);

impl Kept {
    fn of(paths: &[&str]) -> Kept {
        Kept(paths.iter().map(|path| ((*path).to_owned(), fingerprint(path))).collect())
    }

    /// Panics where a file has changed.
    fn check(&self, attempt: &[String]) {
        for (path, before) in &self.0 {
            let is_there = Path::new(path).exists();
            assert!(is_there, "{path} is gone after {}", attempt.join(" "));
            let is_same = fingerprint(path) == *before;
            assert!(is_same, "{path} has changed after {}", attempt.join(" "));
        }
    }
}

/// Attempts in a scratch directory, and how many there were.
struct Attempts<'a> {
    scratch: &'a Scratch,
    kept: Kept,
    count: u32,
}

impl Attempts<'_> {
    /// Runs candor with a variable and these words in the directory; it must fail, in a sentence,
    /// and change nothing.
    fn refused(&mut self, variable: Option<(&str, &str)>, words: &[&str], codes: &[i32]) {
        // Descriptor 3 is `data`, so that paths below /proc name it as well.
        let mut command = Command::new("sh");
        command.args(["-c", "exec 3<>data; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_candor")]);
        command.args(words).current_dir(self.scratch.dir()).stdin(Stdio::null());
        command.envs(variable).env("CANDOR_HISTORY", "off");
        let ran = command.output().expect("candor runs");
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        let attempt: Vec<String> = variable
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .chain(words.iter().map(|word| (*word).to_owned()))
            .collect();
        self.count += 1;
        self.kept.check(&attempt);
        let code = ran.status.code().unwrap_or(-1);
        assert!(codes.contains(&code), "{}: exit {code}\n{told}", attempt.join(" "));
        assert!(!told.is_empty(), "{}: not a word", attempt.join(" "));
        assert!(!told.contains("panicked"), "{told}");
        let left: Vec<String> =
            self.scratch.entries().into_iter().filter(|name| name.starts_with(".candor")).collect();
        assert!(left.is_empty(), "{}: {left:?} stays", attempt.join(" "));
    }
}

/// Spellings of `data` in the scratch directory, made once.
fn spellings(scratch: &Scratch) -> Vec<String> {
    fs::create_dir(scratch.path("d")).unwrap();
    symlink("data", scratch.path("link")).unwrap();
    symlink("link", scratch.path("link-to-link")).unwrap();
    fs::hard_link(scratch.path("data"), scratch.path("hard")).unwrap();
    let relative =
        ["data", "./data", "d/../data", "link", "d/../link-to-link", "hard", "/dev/fd/3"];
    relative.into_iter().map(str::to_owned).chain([scratch.path("data")]).collect()
}

#[test]
fn no_output_is_written_over_a_target_an_input_or_a_list() {
    let scratch = Scratch::new();
    let data = scratch.random_file("data", MIB);
    let before = fs::read(&data).unwrap();
    let names = spellings(&scratch);
    let report = scratch.path("r.json");
    let made = candor(&["run", "--target", &data, "--rw", "read", "--ops", "3", "--json", &report]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let write = |name: &str, text: &str| {
        fs::write(scratch.path(name), text).unwrap();
        scratch.path(name)
    };
    write("plan.toml", &plan(&data));
    write("job.fio", &format!("[a]\nfilename={data}\nrw=read\nsize=64k\nthread\n"));
    let list = write("list", "d sub\nf 4096 sub/x\n");
    let kept = [&data, &report, &scratch.path("plan.toml"), &scratch.path("job.fio"), &list];
    let kept = Kept::of(&kept.map(String::as_str));
    let mut attempts = Attempts { scratch: &scratch, kept, count: 0 };
    let read = ["--target", "data", "--rw", "read", "--ops", "3", "--quiet"];
    for name in &names {
        for option in ["--json", "--html", "--csv"] {
            attempts.refused(None, &[&["run"], &read[..], &[option, name]].concat(), &[3]);
        }
        // The output is the plain name, and the target has the other spelling.
        let target = ["run", "--target", name, "--rw", "read", "--ops", "3", "--json", "data"];
        attempts.refused(None, &target, &[3]);
        own_formats(&mut attempts, name);
        foreign_outputs(&mut attempts, name);
    }
    inputs(&mut attempts);
    assert_eq!(fs::read(&data).unwrap(), before);
    println!("{} attempts, no byte changed", attempts.count);
    assert!(attempts.count >= 90, "{}", attempts.count);
}

/// Variables of fio's, elbencho's and IOR's front ends, and their own options.
fn foreign_outputs(attempts: &mut Attempts<'_>, name: &str) {
    let fio = ["fio", "--name=a", "--filename=data", "--rw=read", "--size=64k", "--thread"];
    let output = format!("--output={name}");
    attempts.refused(None, &[&fio[..], &[&output]].concat(), &[1]);
    for variable in ["CANDOR_JSON", "CANDOR_HTML", "CANDOR_VERDICT"] {
        attempts.refused(Some((variable, name)), &fio, &[1]);
    }
    let elbencho = ["elbencho", "-r", "-b", "64k", "-s", "64k", "data"];
    for option in ["--resfile", "--jsonfile", "--opslog", "--livecsv"] {
        attempts.refused(None, &[&elbencho[..], &[option, name]].concat(), &[1]);
    }
    let ior = ["ior", "-r", "-k", "-b", "64k", "-t", "64k", "-o", "data", "-O"];
    let summary = format!("summaryFile={name}");
    attempts.refused(None, &[&ior[..], &[&summary]].concat(), &[1]);
}

/// Options of candor's own that are read from plans.
fn own_formats(attempts: &mut Attempts<'_>, name: &str) {
    let log = format!("phase[0].job[0].operations_log.file={name}");
    attempts.refused(None, &["run", "plan.toml", "--set", &log], &[2, 3]);
}

/// Inputs of commands as their outputs.
fn inputs(attempts: &mut Attempts<'_>) {
    for words in [
        &["show", "r.json", "--html", "r.json"][..],
        &["show", "r.json", "--csv", "./r.json"],
        &["judge", "r.json", "--html", "d/../r.json"],
        &["compare", "r.json", "r.json", "--json", "r.json"],
        &["compare", "r.json", "r.json", "--html", "r.json"],
        &["run", "plan.toml", "--json", "plan.toml"],
        &["run", "plan.toml", "--html", "./plan.toml"],
        &["run", "r.json", "--json", "r.json"],
        &["inspect", "data", "--record", "data"],
        &["convert", "--save", "job.fio", "job.fio"],
        &["convert", "job.fio", "--save", "./job.fio"],
        &["convert", "--save", "plan.toml", "--to", "fio", "plan.toml"],
    ] {
        attempts.refused(None, words, &[1, 2, 3]);
    }
    attempts.refused(None, &["fio", "--output=job.fio", "job.fio"], &[1]);
    attempts.refused(Some(("CANDOR_JSON", "job.fio")), &["fio", "job.fio"], &[1]);
    let tree = ["elbencho", "-w", "--treefile", "list", "-t", "1", "d", "--jsonfile", "list"];
    attempts.refused(None, &tree, &[1]);
}

fn plan(data: &str) -> String {
    format!(
        "[[target]]\nname = \"t\"\npath = \"{data}\"\n\n[[phase]]\nname = \"p\"\nstop.ops = 3\n\n\
         [[phase.job]]\nname = \"j\"\ntargets = [\"t\"]\nwork.blocks.access = \"sequential\"\n"
    )
}

#[test]
fn no_output_is_written_to_a_device_or_what_backs_one() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 4 * MIB) else { return };
    let backing = device.backing.clone();
    let Some(mount) = Mount::ext4(&scratch, device, "ro,noload") else { return };
    let node = mount.node().to_owned();
    symlink(&node, scratch.path("dev.svg")).unwrap();
    symlink(&node, scratch.path("dev")).unwrap();
    symlink(&backing, scratch.path("image")).unwrap();
    let data = scratch.random_file("data", MIB);
    let report = scratch.path("r.json");
    let made = candor(&["run", "--target", &data, "--rw", "read", "--ops", "3", "--json", &report]);
    assert_eq!(made.code, Some(0), "{}", made.err);
    let kept = Kept::of(&[&node, &backing, &data, &report]);
    let mut attempts = Attempts { scratch: &scratch, kept, count: 0 };
    for name in [node.as_str(), "dev", "d/../dev", &backing, "image"] {
        let _ = fs::create_dir(scratch.path("d"));
        let read = ["run", "--target", "data", "--rw", "read", "--ops", "3", "--quiet"];
        for option in ["--json", "--html", "--csv"] {
            attempts.refused(None, &[&read[..], &[option, name]].concat(), &[3]);
        }
        for words in [
            &["show", "r.json", "--json", name][..],
            &["show", "r.json", "--html", name],
            &["judge", "r.json", "--json", name],
            &["compare", "r.json", "r.json", "--json", name],
            &["inspect", "data", "--record", name],
            &["convert", "--save", name, "fio", "--name=a", "--filename=x", "--size=1m"],
        ] {
            attempts.refused(None, words, &[3]);
        }
        let fio = ["fio", "--name=a", "--filename=data", "--rw=read", "--size=64k", "--thread"];
        attempts.refused(None, &[&fio[..], &[&format!("--output={name}")]].concat(), &[1]);
        for variable in ["CANDOR_JSON", "CANDOR_HTML", "CANDOR_VERDICT"] {
            attempts.refused(Some((variable, name)), &fio, &[1]);
        }
        let elbencho = ["elbencho", "-r", "-b", "64k", "-s", "64k", "data"];
        for option in ["--resfile", "--jsonfile", "--csvfile", "--opslog", "--livecsv"] {
            attempts.refused(None, &[&elbencho[..], &[option, name]].concat(), &[1]);
        }
        let of = format!("of={name}");
        attempts.refused(None, &["dd", "if=data", &of, "bs=4k", "count=4", "conv=notrunc"], &[1]);
        attempts.refused(None, &["dd", "if=data", &of, "bs=4k", "count=4"], &[1]);
    }
    attempts.refused(None, &["chart", "r.json", "-o", "dev.svg"], &[3]);
    println!("{} attempts, no byte changed", attempts.count);
    assert!(attempts.count >= 100, "{}", attempts.count);
}

#[test]
fn no_output_is_written_into_a_tree_of_the_run() {
    let scratch = Scratch::new();
    let data = scratch.random_file("data", 4096);
    fs::create_dir_all(scratch.path("tree/r0")).unwrap();
    symlink("tree", scratch.path("link")).unwrap();
    let kept = Kept::of(&[&data]);
    let mut attempts = Attempts { scratch: &scratch, kept, count: 0 };
    let tree = ["tree", "tree", "--files", "10", "--size", "0", "--quiet"];
    for name in ["tree/r.json", "link/r.json", "tree/r0/../r.json", "tree/r0/r.json"] {
        for option in ["--json", "--html", "--csv"] {
            attempts.refused(None, &[&tree[..], &[option, name]].concat(), &[3]);
        }
    }
    // elbencho's tree has directories of its own in the one that is named.
    let elbencho = ["elbencho", "-w", "-d", "-n", "1", "-N", "2", "-s", "4k", "tree"];
    attempts.refused(None, &[&elbencho[..], &["--jsonfile", "tree/r0/r.json"]].concat(), &[1]);
    assert_eq!(fs::read_dir(scratch.path("tree")).unwrap().count(), 1, "something was made");
    let ran = Command::new(env!("CARGO_BIN_EXE_candor"))
        .args(elbencho)
        .args(["--jsonfile", "tree/r.json"])
        .current_dir(scratch.dir())
        .output()
        .expect("candor runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(fs::metadata(scratch.path("tree/r.json")).unwrap().len() > 0);
}

#[test]
fn a_link_that_comes_during_the_run_leads_no_result_onto_the_target() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let data = scratch.random_file("data", MIB);
    let before = fs::read(&data).unwrap();
    let out = scratch.path("out.json");
    let mut running =
        spawn(&["run", "--target", &data, "--rw", "read", "--seconds", "1", "--json", &out]);
    running.wait_for("\n");
    symlink(&data, &out).unwrap();
    let ran = running.wait();
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("it is a target of this command"), "{}", ran.err);
    assert_eq!(fs::read(&data).unwrap(), before);
}

#[test]
fn names_do_not_control_a_terminal() {
    let scratch = Scratch::new();
    let data = scratch.random_file("data", MIB);
    let (name, report) = ("\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}x\u{9b}", scratch.path("r.json"));
    let read = ["run", "--target", &data, "--rw", "read", "--ops", "3", "--name", name];
    for words in [
        &[&read[..], &["--json", &report]].concat()[..],
        &["show", &report],
        &["show", &report, "--color", "always"],
        &["judge", &report, "--json", "-"],
        &["compare", &report, &report],
        &["run", "--target", name, "--rw", "read"],
        &["show", name],
        &[
            "fio",
            "--name",
            name,
            "--filename",
            &data,
            "--rw=read",
            "--size=4k",
            "--output-format=json",
        ],
    ] {
        let ran = candor(words);
        let told = format!("{}{}", ran.out, ran.err);
        let own = ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];
        let told = own.iter().fold(told, |told, code| told.replace(code, ""));
        let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!told.contains(hidden), "{words:?}\n{told:?}");
    }
    let text = candor(&["show", &report, "--verbose"]).out;
    assert!(text.contains(r"\u{1b}]0;owned\u{7}"), "{text}");
}

#[test]
fn streams_stay_outputs_and_a_report_may_be_judged_in_place() {
    let scratch = Scratch::new();
    let data = scratch.random_file("data", MIB);
    let report = scratch.path("r.json");
    let read = ["run", "--target", &data, "--rw", "read", "--ops", "3", "--quiet", "--json"];
    for output in [report.as_str(), "/dev/null", "/dev/stdout", "/dev/fd/1"] {
        let ran = candor(&[&read[..], &[output]].concat());
        assert_eq!(ran.code, Some(0), "{output}: {}", ran.err);
        assert_eq!(
            ran.out.contains("report_version"),
            output.contains("/dev/") && output != "/dev/null"
        );
    }
    let ran = candor(&["judge", &report, "--json", &report]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(fs::read_to_string(&report).unwrap().contains("report_version"));
    let both = [&read[..], &["x", "--html", "./x"]].concat();
    let ran = candor(&both);
    assert_eq!(ran.code, Some(2), "one file of two outputs: {}", ran.err);
}

#[test]
fn a_report_that_cannot_be_written_leaves_the_old_one() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let data = scratch.random_file("data", MIB);
    let Some(mount) = Mount::tmpfs(&scratch, "128k") else { return };
    let kept = mount.path("keep.json");
    let read = ["run", "--target", &data, "--rw", "read", "--ops", "3", "--quiet"];
    let ran = candor(&[&read[..], &["--json", &kept]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let before = fs::read(&kept).unwrap();
    // Room for less than another report.
    let rest = 128 * 1024 - before.len().next_multiple_of(4096) - 8192;
    fs::write(mount.path("fill"), vec![7; rest]).unwrap();
    for option in ["--json", "--html", "--csv"] {
        let ran = candor(&[&read[..], &[option, &kept]].concat());
        let is_small = option == "--csv" && ran.code == Some(0);
        if !is_small {
            assert_eq!(ran.code, Some(1), "{option}: {}", ran.err);
            assert_eq!(fs::read(&kept).unwrap(), before, "{option}");
        }
        assert_eq!(mount.entries().len(), 2, "{option}: {:?}", mount.entries());
    }
}

#[test]
fn without_sysfs_no_file_that_may_back_a_loop_device_is_written() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 4 * MIB) else { return };
    let before = fingerprint(&device.backing);
    let hidden = "mount -t tmpfs none /sys || exit 99; exec \"$0\" \"$@\"";
    let of = format!("of={}", device.backing);
    let target = ["--target", &device.backing, "--rw", "randwrite", "--ops", "10", "--overwrite"];
    for (words, code) in [
        (&[&["run"], &target[..]].concat()[..], 3),
        (&["dd", "if=/dev/zero", &of, "bs=4k", "count=4", "conv=notrunc"], 1),
    ] {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", hidden, env!("CARGO_BIN_EXE_candor")]).args(words);
        let ran = command.stdin(Stdio::null()).env("CANDOR_HISTORY", "off").output();
        let Ok(ran) = ran else { return skip("there is no unshare") };
        if ran.status.code() == Some(99) {
            return skip("/sys cannot be hidden");
        }
        let told = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(code), "{words:?}: {told}");
        assert!(told.contains("users") && told.contains("sysfs"), "{told}");
        assert_eq!(fingerprint(&device.backing), before, "{words:?}");
    }
}
