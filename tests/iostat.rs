//! candor called as sysstat's iostat, next to sysstat's own.
//!
//! Both read the same counters, though never at the same moment: what is compared is what does not
//! depend on the moment. A device that rests has the same figures since boot in both; a steady load
//! has the same figures over the same half minute.

use std::io::Read;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::support::{Loop, Scratch, Zram, candor, quiet_host, skip};

const MIB: u64 = 1 << 20;
/// One of the two may be held up on a busy host; then it is tried again.
const ATTEMPTS: usize = 2;

/// sysstat's iostat and candor's.
struct Pair {
    sysstat: String,
    candor: String,
}

impl Pair {
    fn find(scratch: &Scratch) -> Option<Pair> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&path).map(|dir| dir.join("iostat"));
        let Some(sysstat) = found.into_iter().find(|path| path.is_file()) else {
            skip("sysstat's iostat is not installed");
            return None;
        };
        let link = scratch.path("iostat");
        symlink(env!("CARGO_BIN_EXE_candor"), &link).expect("a link");
        Some(Pair { sysstat: sysstat.display().to_string(), candor: link })
    }

    /// Runs both with these words at the same time.
    fn both(&self, words: &str) -> [String; 2] {
        let start = |program: &String| {
            let mut command = Command::new(program);
            command.args(words.split_whitespace()).env("LC_ALL", "C").env_remove("S_TIME_FORMAT");
            command.stdout(std::process::Stdio::piped()).spawn().expect("it starts")
        };
        [start(&self.sysstat), start(&self.candor)].map(|child| {
            let output = child.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{words}");
            String::from_utf8(output.stdout).expect("text")
        })
    }

    fn json(&self, words: &str) -> [Value; 2] {
        self.both(&format!("{words} -o JSON")).map(|text| {
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words}: {e}\n{text}"))
        })
    }
}

/// Keys and kinds of values, without the values.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| Value::from(vec![Value::from(&**key), shape(value)]))
            .collect(),
        Value::Array(list) => list.iter().map(shape).collect(),
        Value::Number(number) if number.is_u64() => "whole".into(),
        Value::Number(_) => "number".into(),
        _ => "text".into(),
    }
}

/// Two figures are the same within 2 % or one step of the last digit.
fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= 0.011_f64.max(0.02 * a.abs().max(b.abs()))
}

fn disk(json: &Value, report: usize) -> &Value {
    &json["sysstat"]["hosts"][0]["statistics"][report]["disk"][0]
}

/// Reads and writes some of a device, so that its counters are not zero.
fn touch(device: &Loop) {
    for rw in ["randread", "write"] {
        let words = ["run", "--target", &device.node, "--rw", rw, "--bs", "12k", "--direct"];
        let few = ["--ops", "40", "--engine", "psync", "--overwrite", "--quiet"];
        let ran = candor(&[&words[..], &few].concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
}

#[test]
fn the_tree_of_keys_is_that_of_sysstat() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let (Some(pair), Some(device)) = (Pair::find(&scratch), Loop::direct(&scratch, 16 * MIB))
    else {
        return;
    };
    let name = device.name();
    for selection in ["", "-c", "-d", "-g G", "-H -g G", "-p", "-dp", "-N"] {
        for figures in
            ["", "-x", "-s", "-xs", "-m", "-xm", "-xsm", "-k", "-t", "-x --human", "-xh --dec=0"]
        {
            let words = match selection {
                "-c" => format!("-c {figures}"),
                _ => format!("{selection} {figures} {name}"),
            };
            let [sysstat, candor] = pair.json(&words).map(|json| shape(&json));
            assert!(candor == sysstat, "iostat {words} -o JSON\n{sysstat}\n{candor}");
        }
    }
    let [sysstat, candor] = pair.json(&format!("-xt {name} nosuch 1 2")).map(|json| shape(&json));
    assert_eq!(candor, sysstat);
}

#[test]
fn the_text_is_that_of_sysstat() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let (Some(pair), Some(device)) = (Pair::find(&scratch), Loop::direct(&scratch, 16 * MIB))
    else {
        return;
    };
    touch(&device);
    for words in [
        "-d",
        "-dx",
        "-ds",
        "-dxs",
        "-dm",
        "-dxm",
        "-dh",
        "-dxh",
        "--human -dx",
        "-dx --dec=0",
        "-dx --dec=1",
        "-d --pretty",
        "-dxs --pretty --compact",
        "-dz",
        "-d -g G",
        "-dxH -g G",
        "-c",
        "-x",
        "-dy 1 2",
    ] {
        let words =
            if words == "-c" { words.to_owned() } else { format!("{words} {}", device.name()) };
        let [sysstat, candor] = pair.both(&words);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let (theirs, ours) = (lines(&sysstat), lines(&candor));
        assert_eq!(ours.len(), theirs.len(), "iostat {words}\n{sysstat}\n{candor}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            let pairs: Vec<_> = ours.split_whitespace().zip(theirs.split_whitespace()).collect();
            // Columns end at the same place, and numbers since boot are the same.
            assert_eq!(ours.len(), theirs.len(), "iostat {words}\n{theirs}\n{ours}");
            for (a, b) in pairs {
                let number =
                    |word: &str| word.trim_end_matches(['%', 'k', 'M', 'G']).parse::<f64>();
                let is_same = match (number(a), number(b)) {
                    (Ok(a), Ok(b)) if words.contains("-d") => alike(a, b),
                    (Ok(_), Ok(_)) => true,
                    _ => a == b,
                };
                assert!(is_same, "iostat {words}: {a} instead of {b}\n{theirs}\n{ours}");
            }
        }
    }
}

#[test]
fn figures_since_boot_are_those_of_sysstat() {
    let (_host, scratch) = (quiet_host(), Scratch::new());
    let (Some(pair), Some(device)) = (Pair::find(&scratch), Loop::direct(&scratch, 16 * MIB))
    else {
        return;
    };
    touch(&device);
    for words in ["-d", "-dx", "-dxs", "-dxm"] {
        let [sysstat, candor] = pair.json(&format!("{words} {}", device.name()));
        let theirs = disk(&sysstat, 0).as_object().expect("figures of the device");
        for (key, theirs) in theirs.iter().filter(|(key, _)| *key != "disk_device") {
            let ours = disk(&candor, 0)[key].as_f64().expect("a number");
            let theirs = theirs.as_f64().expect("a number");
            assert!(alike(ours, theirs), "{words} {key}: {ours} instead of {theirs}");
        }
    }
}

/// How long both look at the same load.
const SECONDS: u64 = 15;

#[test]
fn the_figures_of_a_load_are_those_of_sysstat() {
    let (_host, scratch, second) = (quiet_host(), Scratch::new(), Scratch::new());
    let (Some(pair), Some(direct), Some(cached)) =
        (Pair::find(&scratch), Loop::direct(&scratch, 64 * MIB), Loop::new(&second, 64 * MIB, &[]))
    else {
        return;
    };
    let memory = Zram::random(16 * MIB);
    let mut loads = vec![
        (direct.node.clone(), "--rw randrw --bs 4k --direct --depth 4 --rate-iops 600"),
        (cached.node.clone(), "--rw write --bs 64k --fsync-every 16 --rate-iops 200"),
    ];
    let of_memory =
        |memory: &Zram| (memory.node.clone(), "--rw randread --bs 8k --direct --rate-iops 2000");
    loads.extend(memory.as_ref().map(of_memory));
    let mut told = String::new();
    for _ in 0..ATTEMPTS {
        match side_by_side(&pair, &loads) {
            Ok(()) => return,
            Err(difference) => told += &format!("{difference}\n"),
        }
    }
    panic!("{told}");
}

/// Steady loads that begin before both look, and end after.
fn side_by_side(pair: &Pair, loads: &[(String, &str)]) -> Result<(), String> {
    let names: Vec<&str> = loads.iter().map(|(node, _)| node.trim_start_matches("/dev/")).collect();
    let names = names.join(" ");
    let reports = std::thread::scope(|scope| {
        for (node, words) in loads {
            scope.spawn(move || steady(node, words));
        }
        // Half a second is looked at before a load begins.
        std::thread::sleep(Duration::from_secs(2));
        let words = ["-x", "-d", "-s"].map(|words| format!("{words} {names} {SECONDS} 2"));
        let both = words.map(|words| scope.spawn(move || (pair.json(&words), words)));
        both.map(|both| both.join().expect("they ran"))
    });
    for ([theirs, ours], words) in &reports {
        let [theirs, ours] = [theirs, ours].map(|json| report(json, 1));
        same(theirs, ours, "").map_err(|what| format!("iostat {words}:{what}"))?;
    }
    let extended = report(&reports[0].0[1], 1);
    for (at, (node, words)) in loads.iter().enumerate() {
        let direction = if words.contains("write") { "wkB/s" } else { "rkB/s" };
        let rate = extended["disk"][at][direction].as_f64().expect("a rate");
        if rate < 1000.0 {
            return Err(format!("the load on {node} came too late: {rate} {direction}"));
        }
    }
    Ok(())
}

fn report(json: &Value, index: usize) -> &Value {
    &json["sysstat"]["hosts"][0]["statistics"][index]
}

fn steady(node: &str, words: &str) {
    let seconds = (SECONDS + 6).to_string();
    let mut all = vec!["run", "--target", node, "--overwrite", "--quiet", "--seconds", &seconds];
    all.extend(words.split(' '));
    let ran = candor(&all);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
}

/// Every figure within 2 % or a tick; else which is not.
fn same(theirs: &Value, ours: &Value, key: &str) -> Result<(), String> {
    // The clock's tick is 10 ms, of all processors and of a device that is busy.
    let tick = 100.0 * 0.01 / SECONDS as f64 + 0.01;
    match (theirs, ours) {
        (Value::Object(theirs), Value::Object(ours)) if theirs.len() == ours.len() => {
            theirs.iter().try_for_each(|(key, theirs)| same(theirs, &ours[key], key))
        }
        (Value::Array(theirs), Value::Array(ours)) if theirs.len() == ours.len() => {
            let mut pairs = theirs.iter().zip(ours);
            pairs.try_for_each(|(theirs, ours)| same(theirs, ours, key))
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            let of_time =
                matches!(key, "util" | "user" | "nice" | "system" | "iowait" | "steal" | "idle");
            let is_same = alike(a, b) || (of_time && (a - b).abs() <= tick);
            is_same.then_some(()).ok_or(format!(" {key}: {b} instead of {a}"))
        }
        _ if theirs == ours => Ok(()),
        _ => Err(format!(" {key}: {ours} instead of {theirs}")),
    }
}

#[test]
fn mistakes_get_a_sentence_and_the_exit_code_of_sysstat() {
    let scratch = Scratch::new();
    for (words, told) in [
        (&["--iostat", "-Q"][..], "`-Q`"),
        (&["--iostat", "1", "0"], "`0`"),
        (&["--iostat", "-o", "XML"], "`-o XML`"),
        (&["-x", "--iostat", "-j", "UUID"], "`-j` is not done"),
    ] {
        let ran = candor(&[&["watch"], words].concat());
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{words:?}");
        assert!(ran.err.starts_with("iostat: ") && ran.err.contains(told), "{}", ran.err);
    }
    let Some(pair) = Pair::find(&scratch) else { return };
    let ran = Command::new(&pair.candor).args(["-d", "nosuch"]).output().expect("it runs");
    assert!(ran.status.success() && ran.stderr.is_empty());
    // An interrupt leaves whole JSON.
    let mut command = Command::new(&pair.candor);
    command.args(["-o", "JSON", "1"]).stdout(std::process::Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut text = String::new();
    // The end of the first report.
    while !text.contains("\n\t\t\t\t}") {
        let mut letter = [0];
        stdout.read_exact(&mut letter).expect("a report");
        text.push(letter[0].into());
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("sent");
    stdout.read_to_string(&mut text).expect("the rest");
    assert!(child.wait().expect("it ends").success());
    let json: Value = serde_json::from_str(&text).expect("whole JSON");
    let reports = json["sysstat"]["hosts"][0]["statistics"].as_array().map(Vec::len);
    assert!(reports.is_some_and(|reports| reports >= 2), "{json}");
}

/// Names of the devices of a report.
fn devices(text: &str) -> Vec<String> {
    let rows = text.lines().skip_while(|line| !line.starts_with("Device")).skip(1);
    let first = rows.filter_map(|line| line.split_whitespace().next());
    first.map(str::to_owned).collect()
}

#[test]
fn devices_of_user_space_have_their_counters_in_a_directory() {
    let scratch = Scratch::new();
    let Some(pair) = Pair::find(&scratch) else { return };
    let counters = "259 0 usr0 10 0 80 5 20 0 160 7 0 12 12 0 0 0 0 0 0\n";
    std::fs::write(scratch.path("diskstats"), counters).expect("a file");
    let dir = scratch.dir();
    // sysstat leaves out devices that the kernel does not know.
    let [_, ours] = pair.both(&format!("-d -f {dir}"));
    assert_eq!(devices(&ours), ["usr0"]);
    let [_, ours] = pair.both(&format!("-d +f {dir}"));
    let all = devices(&ours);
    assert!(all.contains(&"usr0".to_owned()) && all.len() > 1, "{ours}");
    let parts = scratch.path("block/usr1/usr1p1");
    std::fs::create_dir_all(&parts).expect("folders");
    for place in [&parts, &scratch.path("block/usr1")] {
        std::fs::write(format!("{place}/stat"), "10 0 80 5 20 0 160 7 0 12 12\n").expect("a file");
    }
    // A device of the kernel has the directory's counters, in one row.
    let [kernel, _] = pair.both("-d");
    if let Some(known) = devices(&kernel).first() {
        let place = scratch.path(&format!("block/{known}"));
        std::fs::create_dir_all(&place).expect("folders");
        std::fs::copy(format!("{parts}/stat"), format!("{place}/stat")).expect("a copy");
    }
    for words in ["-d -f", "-d +f"] {
        let both = pair.both(&format!("{words} {dir}"));
        let [theirs, ours] = both.each_ref().map(|text| devices(text));
        assert_eq!(theirs, ours, "{words}: {both:?}");
        assert!(ours.contains(&"usr1".to_owned()), "{words}: {both:?}");
    }
    let [theirs, ours] = pair.both(&format!("-d +f {dir} -p usr1"));
    assert_eq!(devices(&theirs), devices(&ours));
    assert_eq!(devices(&ours), ["usr1", "usr1p1"]);
}

#[test]
fn the_version_is_read_by_scripts() {
    let scratch = Scratch::new();
    let Some(pair) = Pair::find(&scratch) else { return };
    for text in pair.both("-V") {
        assert!(text.starts_with("sysstat version "), "{text}");
        let version = text.split_whitespace().nth(2).unwrap_or_default();
        assert!(version.starts_with(|digit: char| digit.is_ascii_digit()), "{text}");
    }
}
