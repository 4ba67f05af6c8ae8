//! The surface: help, suggestions, exit codes, what goes to stdout and what to stderr, `inspect`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{
    Loop, Mount, Report, Scratch, Zram, candor, candor_reading, fingerprint, measured, quiet_host,
    shared_host, skip, spawn,
};

const MIB: u64 = 1 << 20;

#[test]
fn every_command_has_help_with_its_exit_codes() {
    for words in [
        &["--help-all"][..],
        &["check", "--help-all"],
        &["run", "--help-all"],
        &["inspect", "--help"],
    ] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        for word in ["Usage: candor", "Exit codes:", "--help"] {
            assert!(ran.out.contains(word), "{words:?}: {}", ran.out);
        }
        assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{}", ran.out);
    }
    let ran = candor(&["--version"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.out.starts_with("candor 0."), "{}", ran.out);
    assert!(ran.out.contains("features:") && ran.out.contains("io_uring"), "{}", ran.out);
    let scratch = Scratch::new();
    let script = candor(&["completions", "fish"]);
    assert!(script.code == Some(0) && script.out.contains("complete -c candor"), "{}", script.err);
    let ran = candor(&["man", &scratch.path("man1")]);
    let page = fs::read_to_string(scratch.path("man1/candor-run.1")).unwrap();
    assert!(ran.code == Some(0) && page.contains("\\-\\-depth"), "{}", ran.err);
}

/// Two screens of 24 rows.
#[test]
fn the_help_of_each_command_fits_two_screens() {
    let commands = candor(&["--help"]).out;
    assert!(commands.lines().count() <= 48, "{commands}");
    let (_, rest) = commands.split_once("Commands:\n").expect("a list");
    let names = rest.lines().take_while(|line| !line.trim().is_empty());
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.len() > 20, "{names:?}");
    for name in names.into_iter().filter(|name| {
        !["fio", "elbencho", "ior", "md-workbench", "mdtest", "dd", "help"].contains(name)
    }) {
        let ran = candor(&[name, "--help"]);
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(ran.out.lines().count() <= 48, "{name}: {} lines", ran.out.lines().count());
    }
    let all = candor(&["run", "--help-all"]).out;
    assert!(all.contains("--batch-reap-max") && all.contains("Exit codes:"), "{all}");
    assert!(!candor(&["run", "--help"]).out.contains("--batch-reap-max"));
}

#[test]
fn words_that_do_not_exist_get_a_suggestion() {
    for (words, near) in [
        (&["chek", "/data"][..], "check"),
        (&["run", "--dept", "4"], "--depth"),
        (&["check", "--secnods", "4"], "--seconds"),
        (&["inspect", "--jsn", "x"], "--json"),
        (&["run", "--target", "f", "--engine", "iouring"], "io_uring"),
    ] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}");
        assert!(ran.err.contains(near), "{words:?}: {}", ran.err);
    }
}

#[test]
fn too_few_words_are_a_mistake_of_use() {
    for words in [&[][..], &["run"], &["run", "--rw", "read"], &["show"]] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}: {}", ran.err);
        assert!(!ran.err.is_empty(), "{words:?}");
    }
}

#[test]
fn stdout_is_data_and_stderr_the_rest() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("own");
    let words = ["run", "--target", &file, "--size", "1m", "--rw", "read", "--passes", "1"];
    let plain = candor(&words);
    assert_eq!(plain.code, Some(0), "{}", plain.err);
    assert!(plain.out.contains("sequential read") && !plain.err.is_empty());
    let json = candor(&[&words[..], &["--json", "-"]].concat());
    assert_eq!(json.code, Some(0), "{}", json.err);
    assert_eq!(Report::of(&json.out).words("/phases/0/name"), "sequential read 4 KiB");
    let quiet = candor(&[&words[..], &["--quiet"]].concat());
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""));
    assert!(!plain.out.contains('\u{1b}') && !plain.err.contains('\u{1b}'), "colours in a file");
    let coloured = candor(&[&words[..], &["--color", "always"]].concat());
    assert!(coloured.out.contains('\u{1b}'));
    let csv = candor(&[&words[..], &["--csv", "-"]].concat());
    assert_eq!(csv.code, Some(0), "{}", csv.err);
    let rows = |kind: &str| csv.out.lines().filter(|line| line.starts_with(kind)).count();
    assert_eq!(
        (rows("row,phase,"), rows("result,sequential read 4 KiB,1,")),
        (1, 1),
        "{}",
        csv.out
    );
    let two = candor(&[&words[..], &["--json", "-", "--csv", "-"]].concat());
    assert_eq!((two.code, two.out.as_str()), (Some(2), ""), "{}", two.err);
    let both = scratch.outside("both.json");
    let written = candor(&[&words[..], &["--json", &both]].concat());
    assert!(written.out.contains("sequential read"), "{}", written.out);
    assert!(written.err.contains("both.json"), "{}", written.err);
}

/// A stored run is read again: shown byte for byte, judged again, repeated.
#[test]
fn a_stored_report_is_shown_judged_and_repeated() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let (file, dir) = (scratch.path("own"), scratch.outside("kept"));
    let words = ["run", "--target", &file, "--size", "4m", "--rw", "randread", "--passes", "2"];
    let ran = candor(&[&words[..], &["--direct", "--verbose", "--run-dir", &dir]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = format!("{dir}/report.json");
    for report in [&dir, &json] {
        let shown = candor(&["show", report]);
        assert_eq!((shown.code, &shown.out, shown.err.as_str()), (Some(0), &ran.out, ""));
        let judged = candor(&["judge", report]);
        assert_eq!((judged.code, &judged.out), (Some(0), &ran.out), "{}", judged.err);
    }
    let text = std::fs::read_to_string(&json).expect("kept");
    for command in ["show", "judge"] {
        let again = candor(&[command, &json, "--json", "-"]);
        assert!(again.out == text, "{command} writes another report:\n{}", again.out);
    }
    let plan = |file: &str| candor(&["run", file, "--dry-run"]).out;
    assert!(plan(&json).contains(&file));
    assert_eq!(plan(&dir), plan(&format!("{dir}/plan.toml")));
    let mut old: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    old["report_version"] = 1.into();
    let old_file = scratch.outside("old.json");
    std::fs::write(&old_file, old.to_string()).expect("written");
    for command in ["show", "judge", "run"] {
        let refused = candor(&[command, &old_file]);
        assert!(refused.code != Some(0) && refused.out.is_empty(), "{command}");
        assert!(refused.err.contains("report version 1"), "{}", refused.err);
    }
}

/// Files of other tools are shown as they are, a log of fio with those beside it.
#[test]
fn results_of_other_tools_are_shown_and_not_judged() {
    let scratch = Scratch::new();
    let file =
        |name: &str| format!("{}/../readers/tests/results/{name}", env!("CARGO_MANIFEST_DIR"));
    let told = [
        ("fio.txt", ["results of fio-3.33, started 2026-11-23T18:08:43.523Z", "mixed.1"]),
        ("rd_bw.1.log", ["99.7   409 kB/s", "1.29 ms"]),
        ("elbencho.json", ["results of elbencho 3.1-10", "mkdir"]),
        ("iostat-x.json", ["vda on vm", "is left out"]),
        ("sadf.json", ["results of sar", "412"]),
    ];
    for (name, words) in told {
        let shown = candor(&["show", &file(name)]);
        assert_eq!((shown.code, shown.err.as_str()), (Some(0), ""), "{name}");
        for word in words.into_iter().chain(["Not judged"]) {
            assert!(shown.out.contains(word), "{name}: no {word}:\n{}", shown.out);
        }
    }
    let json = candor(&["show", &file("fio.txt"), "--json", "-"]);
    let results: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(results["phases"][0]["jobs"][0]["operations"][0]["ops"], 400);
    let cut = scratch.file("cut.json", "{\n\"fio version\": \"fio-3.33\",\n");
    let whole = file("fio.txt");
    let faults = [
        (&["show", &cut][..], "cut.json:3:"),
        (&["show", &whole, "--csv", "-"], "--csv needs a report of candor"),
    ];
    for (words, told) in faults {
        let refused = candor(words);
        assert!(refused.code != Some(0) && refused.out.is_empty(), "{words:?}");
        assert!(refused.err.contains(told), "{}", refused.err);
    }
}

#[test]
fn rules_are_explained_by_the_names_that_reports_give_them() {
    let list = candor(&["explain"]);
    assert_eq!((list.code, list.err.as_str()), (Some(0), ""));
    assert!(list.out.contains("\n  B4  "), "{}", list.out);
    let one = candor(&["explain", "b4", "A16"]);
    assert!(one.out.starts_with("B4  ") && one.out.contains("\nA16  "), "{}", one.out);
    assert!(one.out.contains("(measured on Linux)"), "{}", one.out);
    let json = candor(&["explain", "B4", "--json", "-"]);
    let rules: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(rules[0]["rule"], "B4");
    assert!(rules[0]["thresholds"][0]["value"].is_number(), "{rules}");
    let none = candor(&["explain", "B99"]);
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""));
    assert!(none.err.contains("B99"), "{}", none.err);
}

#[test]
fn reports_fit_the_documented_schema() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.random_file("file", 4 * MIB);
    let memory = Zram::random(4 * MIB);
    let mut wrong = std::collections::BTreeSet::new();
    let targets = [Some(file.as_str()), memory.as_ref().map(|memory| memory.node.as_str())];
    for target in targets.into_iter().flatten() {
        for words in [
            "--rw read",
            "--rw randwrite --overwrite --fsync-end --verify",
            "--rw randread --engine libaio --depth 4 --direct",
            "--rw randread --engine io_uring --rate-iops 5000 --workers 2",
        ] {
            let fixed = ["run", "--target", target, "--ops", "500"];
            let words: Vec<_> = words.split(' ').collect();
            let (_, report) = measured(&scratch, &[&fixed[..], &words].concat());
            wrong.extend(report.violations());
        }
    }
    let wrong: Vec<_> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "reports do not fit docs/report-schema.json:\n{}", wrong.join("\n"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.path("own");
    for last in [&["--json", "-"][..], &["--quiet"]] {
        let words = ["run", "--target", &file, "--size", "1m", "--rw", "read", "--passes", "1"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
        command.args(words).args(last).stdin(Stdio::null());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = child.expect("candor starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("candor ends");
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(!err.contains("panicked") && !err.contains("error"), "{err}");
    }
}

#[test]
fn a_place_for_the_report_that_cannot_be_is_reported_before_the_run() {
    let scratch = Scratch::new();
    let words = ["run", "--target", &scratch.path("own"), "--size", "1m", "--rw", "write"];
    for place in [scratch.path("no/such/folder/report.json"), scratch.dir()] {
        let ran = candor(&[&words[..], &["--seconds", "30", "--json", &place]].concat());
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(&place), "{}", ran.err);
        assert!(ran.wall.as_secs() < 5, "it ran first");
    }
    assert_eq!(scratch.entries(), [""; 0]);
}

#[test]
fn a_plan_can_come_from_stdin() {
    let ran = candor_reading(&["run", "-", "--dry-run"], "[[phase]]\nnmae = \"x\"\n");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("stdin:2:1") && ran.err.contains("name"), "{}", ran.err);
}

#[test]
fn the_next_command_of_a_finding_runs() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file with a blank", MIB);
    fingerprint(&file);
    let words = ["run", "--target", &file, "--rw", "read", "--bs", "64k", "--seconds", "1"];
    let ran = candor(&[&words[..], &["--json", "-"]].concat());
    let report = Report::of(&ran.out);
    let next = report.named("A1")["next"].as_str().expect("a next command").to_owned();
    let folder = Path::new(env!("CARGO_BIN_EXE_candor")).parent().expect("a folder").display();
    let script = format!("PATH={folder}:$PATH; {next} --dry-run");
    let shell = Command::new("sh").args(["-c", &script]).output();
    let shell = shell.expect("a shell");
    assert!(shell.status.success(), "{next}: {}", String::from_utf8_lossy(&shell.stderr));
    let plan = String::from_utf8_lossy(&shell.stdout);
    assert!(plan.contains("file with a blank"), "{plan}");
}

/// A plan whose second job reads what the page cache holds.
fn two_jobs(file: &str) -> String {
    format!(
        r#"
[[target]]
path = "{file}"
[[phase]]
stop = {{ time = "1s" }}
[[phase.job]]
name = "burns"
work.burn = {{ chunk = "1ms", rest = "20ms" }}
[[phase.job]]
name = "reads"
workers = 2
targets = ["target"]
work.blocks = {{ access = "random", size = "4k:60,16k:40", mix = "read" }}
"#
    )
}

#[test]
fn a_finding_on_a_plan_file_changes_one_key_of_it() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let file = scratch.random_file("file", MIB);
    fingerprint(&file);
    let plan = scratch.file("plan.toml", &two_jobs(&file));
    let ran = candor(&["run", &plan, "--json", "-"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let next = Report::of(&ran.out).named("A1")["next"].as_str().expect("a command").to_owned();
    assert_eq!(next, format!("candor run {plan} --set direct=true"));
    let dry = |words: &[&str]| candor(&[&["run", &plan, "--dry-run"], words].concat()).out;
    let (before, after) = (dry(&[]), dry(&["--set", "direct=true"]));
    let added: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(added, ["direct = true"], "{after}");
    assert!(before.lines().all(|line| after.contains(line)), "{after}");
}

#[test]
fn keys_that_are_set_are_checked() {
    let scratch = Scratch::new();
    let plan = scratch.file("plan.toml", &two_jobs("/nowhere"));
    for (setting, told) in [
        ("dept=4", "did you mean `depth`?"),
        ("workers=4", "`workers` can be phase[0].job[0].workers, phase[0].job[1].workers"),
        ("depth=many", "`depth` is a whole number"),
        ("job[1].workers=0", "workers"),
        ("depth", "`depth` has no value"),
    ] {
        let ran = candor(&["run", &plan, "--set", setting]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        let shown = ran.err.contains(told) && ran.err.contains("--> command line:1:");
        assert!(shown && ran.err.contains(setting), "{}", ran.err);
    }
}

#[test]
fn inspect_without_a_path_lists_the_devices_and_reads_from_each() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let before = fingerprint(&device.node);
    let listed = candor(&["devices"]);
    let ran = candor(&["inspect"]);
    assert_eq!((listed.code, ran.code), (Some(0), Some(0)), "{}{}", listed.err, ran.err);
    fn row(page: &str, name: &str) -> Option<String> {
        page.lines().find(|line| line.split_whitespace().next() == Some(name)).map(str::to_owned)
    }
    let shown = row(&ran.out, device.name()).unwrap_or_else(|| panic!("{}", ran.out));
    assert!(shown.contains(" yes "), "the kernel counts loop devices: {shown}");
    assert!(row(&listed.out, device.name()).is_some_and(|line| !line.contains(" yes ")));
    assert_eq!(fingerprint(&device.node), before);
}

/// `candor inspect` of this, as text; it leaves no trace.
fn inspected(path: &str) -> String {
    let ran = candor(&["inspect", path]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let json = candor(&["inspect", path, "--json", "-"]);
    let facts: serde_json::Value = serde_json::from_str(&json.out).expect("JSON on stdout");
    assert_eq!(facts["targets"].as_array().map(Vec::len), Some(1), "{}", json.out);
    assert_eq!(facts["targets"][0]["path"], path);
    ran.out
}

#[test]
fn inspect_names_the_stack_below_a_directory_and_a_file() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 32 * MIB) else { return };
    let (name, backing) = (device.name().to_owned(), device.backing.clone());
    let Some(mount) = Mount::ext4(&scratch, device, "defaults") else { return };
    let file = mount.path("thesis");
    std::fs::write(&file, "words").unwrap();
    for path in [&mount.dir, &file] {
        let text = inspected(path);
        for word in ["ext4", &name, &backing, "direct"] {
            assert!(text.contains(word), "no {word} in\n{text}");
        }
    }
    assert_eq!(mount.entries(), ["thesis"], "inspect left something");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "words");
}

#[test]
fn inspect_of_devices_changes_nothing() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let before = fingerprint(&device.node);
    let text = inspected(&device.node);
    assert!(text.contains(device.name()) && text.contains("ounted"), "{text}");
    assert_eq!(fingerprint(&device.node), before);
    let Some(memory) = Zram::random(4 * MIB) else { return };
    let text = inspected(&memory.node);
    assert!(text.contains("zram") && text.contains("memory"), "{text}");
}

#[test]
fn a_recorded_host_is_shown_as_it_was() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 32 * MIB) else { return };
    let node = device.node.clone();
    let Some(mount) = Mount::ext4(&scratch, device, "defaults") else { return };
    let (file, bundle) = (mount.path("my thesis"), scratch.path("bundle"));
    std::fs::write(&file, "words that are nobody's business").unwrap();
    let recorded = candor(&["inspect", "--record", &bundle, &file, &node]);
    assert_eq!(recorded.code, Some(0), "{}", recorded.err);
    // What it was is gone, and another user reads the bundle.
    drop(mount);
    let replayed = candor(&["inspect", "--replay", &bundle]);
    assert_eq!((replayed.code, replayed.err), (Some(0), String::new()));
    assert_eq!(replayed.out, recorded.out);
    let text = std::fs::read_to_string(&bundle).unwrap();
    assert!(text.starts_with("candor inspect --record, form 1\n") && !text.contains("nobody's"));
    let all = candor(&["inspect", "--record", &bundle, "--json", "-"]);
    assert_eq!(all.code, Some(0), "{}", all.err);
    for (words, told) in [
        (&["inspect", "--replay", "/nowhere"][..], "cannot be read"),
        (&["inspect", "--replay", "/etc/passwd"], "is no bundle: line 1 is"),
        (&["inspect", "--record", "/nowhere/at/all", "/"], "cannot be written"),
    ] {
        let ran = candor(words);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(ran.err.contains(told), "{}", ran.err);
    }
    for words in [&["inspect", "--replay", &bundle, "/"][..], &["inspect", "--replay"]] {
        assert_eq!(candor(words).code, Some(2));
    }
}

#[test]
fn paths_that_are_not_there_are_mistakes_of_the_command_line() {
    for words in [
        &["check", "/no/such/path"][..],
        &["inspect", "/no/such/path"],
        &["watch", "/no/such/path", "--count", "1"],
        &["align", "/no/such/path", "--seconds", "1"],
        &["cache", "status", "/no/such/path"],
    ] {
        let ran = candor(words);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{words:?}: {}", ran.err);
        let told = "`/no/such/path` does not exist; name a file, a directory or a block device";
        assert!(ran.err.contains(told), "{words:?}: {}", ran.err);
    }
}

/// Reads and bytes read that a device has completed.
fn reads(device: &Loop) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(device.sys("stat")).ok()?;
    let mut fields = stat.split_whitespace().map_while(|field| field.parse::<u64>().ok());
    let (ios, sectors) = (fields.next()?, fields.nth(1)?);
    Some((ios, sectors * 512))
}

#[test]
fn inspect_reads_no_more_than_its_accounting_probe() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let Some(device) = Loop::direct(&scratch, 16 * MIB) else { return };
    let Some(before) = reads(&device) else { return skip("the device does not count") };
    let ran = candor(&["inspect", &device.node]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let Some(after) = reads(&device) else { return skip("the device does not count") };
    let bytes = after.1 - before.1;
    assert!((1..=128 * 1024).contains(&bytes), "inspect read {bytes} bytes");
}

#[test]
fn threads_are_named_after_the_program() {
    let mut running = spawn(&["run", "--engine", "null", "--workers", "2", "--seconds", "1"]);
    running.wait_for(", 1 s");
    let tasks = format!("/proc/{}/task", running.pid());
    let wanted = ["candor/w0\n", "candor/w1\n", "candor/sample\n", "candor/events\n"];
    let mut names: Vec<String> = Vec::new();
    // A thread names itself a moment after it was started, and may be late on a busy host.
    for _ in 0..50 {
        let tasks = fs::read_dir(&tasks).into_iter().flatten().flatten();
        names =
            tasks.filter_map(|task| fs::read_to_string(task.path().join("comm")).ok()).collect();
        if wanted.iter().all(|name| names.iter().any(|has| has == name)) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(running.wait().code == Some(0));
    for wanted in wanted {
        assert!(names.iter().any(|name| name == wanted), "no {wanted}: {names:?}");
    }
    assert!(names.iter().all(|name| name.starts_with("candor")), "{names:?}");
}

#[test]
fn several_operations_in_flight_get_an_engine_and_cached_work_a_warning() {
    let (_host, scratch) = (shared_host(), Scratch::new());
    let file = scratch.random_file("data", MIB);
    let words = ["run", "--target", &file, "--rw", "randread", "--ops", "100"];
    let dry = candor(&[&words[..], &["--depth", "8", "--dry-run"]].concat());
    assert!(dry.out.contains("# depth 8 and no engine: the engine is"), "{}", dry.out);
    let (ran, report) = measured(&scratch, &[&words[..], &["--depth", "8"]].concat());
    let engine = report.words("/plan/phase/0/job/0/work/blocks/engine");
    assert!(["io_uring", "libaio"].contains(&engine), "{engine}");
    assert!(report.words("/notes/0/did").contains(engine), "{}", report.told());
    let cached = "through the page cache, which holds 100 % of it";
    assert!(ran.err.contains(cached), "{}", ran.err);
    for silent in ["--direct", "--evict", "--quiet"] {
        let ran = candor(&[&words[..], &[silent]].concat());
        assert!(!ran.err.contains(cached), "{silent}: {}", ran.err);
    }
}

#[test]
fn devices_of_the_host_have_a_line_each() {
    let ran = candor(&["devices"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.starts_with("device"), "{}", ran.out);
    let json = candor(&["devices", "--all", "--json", "-"]);
    let facts: serde_json::Value = serde_json::from_str(&json.out).expect("JSON");
    let targets = facts["targets"].as_array().map_or(0, Vec::len);
    // Devices that cannot hold anything are among all of them only.
    assert!(ran.out.lines().count() - 1 <= targets, "{}: {targets}", ran.out);
}
