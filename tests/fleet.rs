//! Runs of several hosts: agents on this one, each with a process of its own for each run.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::support::fleet::{Agent, Fleet};
use crate::support::{
    Mount, Ran, Report, Running, Scratch, candor, check_sums, fingerprint, shared_host, spawn,
};

/// Time from a fault to the end of the run.
const END_MAX: Duration = Duration::from_secs(5);
/// Time from a fault until nothing is left.
const CLEAN_MAX: Duration = Duration::from_secs(10);

/// Trees of each rank, and files in them.
fn tree_plan(path: &str, workers: u32, more: &str) -> String {
    let phase = |name: &str, over: &str, steps: &str| {
        format!(
            "[[phase]]\nname = \"{name}\"\njob = [{{ workers = {workers}, targets = [\"t\"], \
             work.entries = {{ over = \"{over}\", steps = [{steps}] }} }}]\n"
        )
    };
    let mut plan = format!(
        "[[target]]\nname = \"t\"\npath = \"{path}\"\nkind = \"tree\"\nkeep = true\n{more}\n\
         [target.tree]\ndepth = 1\nwidth = 2\nitems = 3\nleaves_only = true\nper_rank = true\n\
         file_size = \"6k\"\nroot_name = \"r{{rank}}\"\nitem_name = \"r{{rank}}-f{{number}}\"\n"
    );
    plan += &phase("dirs", "directories", "\"mkdir\"");
    plan += &phase("write", "items", "\"create\", \"write\", \"close\"");
    plan += &phase("read", "items", "\"open\", \"read\", \"close\"");
    plan
}

/// Files below a directory, with a number for the bytes of each.
fn contents(directory: &str) -> BTreeMap<String, u64> {
    let (mut all, mut folders) = (BTreeMap::new(), vec![Path::new(directory).to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a directory").flatten() {
            let path = entry.path();
            let name = path.strip_prefix(directory).expect("below").display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else {
                all.insert(name, fingerprint(&path.display().to_string()));
            }
        }
    }
    all
}

fn went_well(ran: &Ran, report: &Report) {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(report.at("/cut_short").is_null(), "{}", report.told());
    assert_eq!(report.violations(), [""; 0]);
}

#[test]
fn sums_are_those_of_the_hosts_and_nothing_is_left() {
    let mut fleet = Fleet::new(2);
    let file = fleet.scratch.path("f");
    let words = "--size 1m --rw rw --bs 4k,8k --access random --workers 2 --ops 150";
    let words: Vec<&str> = ["--target", &file].into_iter().chain(words.split(' ')).collect();
    let (ran, report) = fleet.measured(&words);
    went_well(&ran, &report);
    // Two phases, two hosts, two workers.
    assert_eq!(check_sums(&report), 2 * 2 * 2 * 150);
    let hosts = report.list("/phases/0/hosts");
    let indices: Vec<_> = hosts.iter().map(|host| host["member"]["index"].as_u64()).collect();
    assert_eq!(indices, [Some(0), Some(1)]);
    for host in hosts {
        assert_eq!(host["member"]["storage_of"], 0, "both see the same files");
        assert_eq!(host["measurements"][0]["per_worker"].as_array().map(Vec::len), Some(2));
    }
    let ranks = report.list("/phases/0/measurements/0/per_worker").iter();
    let ranks: Vec<_> = ranks.map(|worker| worker["rank"].as_u64()).collect();
    assert_eq!(ranks, [Some(0), Some(1), Some(2), Some(3)]);
    // Files, probes, marks and processes.
    fleet.wait_until_clean(Duration::from_secs(2));
    for agent in &mut fleet.agents {
        agent.running.wait_for("run ended: ");
        let log = agent.log();
        assert_eq!(log.len(), 3, "{log:?}");
        assert!(log[1].contains("run begun, process ") && log[2].contains("run ended: "));
        for line in &log[1..] {
            let who = line.split_once("for 127.0.0.1:").expect("an address").1;
            assert!(who.contains(", `candor run --no-live"), "{line}");
        }
    }
}

#[test]
fn ranks_of_two_hosts_do_the_same_as_all_on_one() {
    let fleet = Fleet::new(2);
    let (many, one) = (fleet.scratch.path("many"), Scratch::new());
    let plan = fleet.scratch.file("many.toml", &tree_plan(&many, 2, ""));
    let (ran, report) = fleet.measured(&[&plan]);
    went_well(&ran, &report);
    assert!(check_sums(&report) > 0);
    // Ranks make 2 directories and 6 files each.
    for (phase, step, count) in [(0, "mkdir", 8), (1, "create", 24), (2, "open", 24)] {
        let ops = format!("/phases/{phase}/measurements/0/operations/{step}/ops");
        assert_eq!(report.number(&ops) as u64, count, "{step}");
    }
    let plan = fleet.scratch.file("one.toml", &tree_plan(&one.path("one"), 4, ""));
    let ran = candor(&["run", "--no-live", &plan]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (of_many, of_one) = (contents(&many), contents(&one.path("one")));
    assert_eq!((of_many.len(), of_many), (24, of_one));
    // Blocks: each rank writes a part of its own, and what was there shows what nobody wrote.
    let [many, one] = ["many-blocks", "one-blocks"].map(|name| fleet.scratch.path(name));
    for path in [&many, &one] {
        fs::write(path, vec![0; 1 << 20]).expect("written");
    }
    let words = "--size 1m --rw write --bs 4k --share segments:16k,2 --overwrite --keep --seed 5";
    let words: Vec<&str> = words.split(' ').collect();
    let on = |path, workers| {
        [&["--target", path, "--workers", workers, "--layout", "never"], &words[..]].concat()
    };
    let ran = fleet.run(&on(&many, "2"));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let ran = candor(&[&["run", "--no-live"], &on(&one, "4")[..]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let bytes = fs::read(&many).expect("read");
    // Four ranks, two segments each.
    let is_written = |part: &[u8]| part.chunks(4096).all(|block| block.iter().any(|b| *b != 0));
    assert!(is_written(&bytes[..4 * 2 * 16384]) && bytes[4 * 2 * 16384..].iter().all(|b| *b == 0));
    assert!(bytes == fs::read(&one).expect("read"), "the bytes differ");
}

/// Where time is up, every worker of each host goes on to what the furthest of all has done.
#[test]
fn workers_of_all_hosts_wear_out_to_the_same_count() {
    let fleet = Fleet::new(2);
    let file = fleet.scratch.path("f");
    let plan = format!(
        "[[target]]\nname = \"t\"\npath = \"{file}\"\nsize = \"256m\"\n\
         [[phase]]\nname = \"write\"\nstop = {{ time = \"50ms\", stonewall = \"wear_out\" }}\n\
         job = [{{ workers = 2, targets = [\"t\"], \
         work.blocks = {{ mix = \"write\", size = \"4k\", share = \"slice\" }} }}]\n"
    );
    let plan = fleet.scratch.file("wear.toml", &plan);
    let (ran, report) = fleet.measured(&[&plan]);
    went_well(&ran, &report);
    let workers = report.list("/phases/0/measurements/0/per_worker").iter();
    let ops: Vec<_> = workers.map(|worker| worker["ops"].as_u64()).collect();
    assert_eq!(ops.len(), 4);
    assert!(ops[0] > Some(10) && ops.iter().all(|of| *of == ops[0]), "{ops:?}");
    assert_eq!(check_sums(&report), 4 * ops[0].unwrap_or(0));
}

/// A run of two hosts, under way.
struct UnderWay {
    fleet: Fleet,
    coordinator: Running,
    json: String,
    began: Instant,
}

impl UnderWay {
    /// Operations a second of each host.
    const IOPS: f64 = 400.0;

    fn begin() -> UnderWay {
        let fleet = Fleet::new(2);
        let (file, json) = (fleet.scratch.path("f"), fleet.scratch.outside("cut.json"));
        let hosts = fleet.hosts();
        let words = "--size 1m --rw read --bs 4k --workers 2 --rate-iops 400 --seconds 30 \
                     --interval 200ms --host-timeout 2";
        let words: Vec<&str> = words.split(' ').filter(|word| !word.is_empty()).collect();
        let words = [&["--target", &file, "--json", &json], &words[..]].concat();
        let mut coordinator = spawn(&fleet.words(&hosts, &words));
        coordinator.wait_for("workers 2, 30 s");
        let began = Instant::now();
        // Samples of all hosts have come then.
        thread::sleep(Duration::from_millis(900));
        UnderWay { fleet, coordinator, json, began }
    }

    fn process(&self, host: usize) -> u32 {
        self.fleet.agents[host].run_process().expect("a run goes on")
    }

    /// The run ends, names the host, keeps what was done until then, and leaves nothing.
    fn ends(self, host: usize, why: &str) -> Fleet {
        let fault = Instant::now();
        let fleet = self.cut_at(host, why);
        fleet.wait_until_clean(CLEAN_MAX.saturating_sub(fault.elapsed()));
        fleet
    }

    fn cut_at(self, host: usize, why: &str) -> Fleet {
        let UnderWay { fleet, coordinator, json, began } = self;
        let fault = Instant::now();
        // What the other one does after that is not the lost one's; the line comes late.
        let done_max = UnderWay::IOPS * ((fault - began).as_secs_f64() + 0.3);
        let ran = coordinator.wait();
        assert!(fault.elapsed() < END_MAX, "{:?}", fault.elapsed());
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        let report = Report::read(&json).expect("a partial report");
        let cut = report.words("/cut_short").to_owned();
        let address = &fleet.agents[host].address;
        for word in [address, "was lost in", " s into it", why] {
            assert!(cut.contains(word), "no {word}: {cut}");
        }
        assert!(ran.err.contains(&cut), "{}", ran.err);
        let hosts = report.list("/phases/0/hosts");
        assert_eq!(hosts.len(), 2);
        for (index, of) in hosts.iter().enumerate() {
            assert_eq!(of["member"].get("lost").is_some(), index == host, "{}", of["member"]);
            let done = of["measurements"][0]["last_done"]["ops"].as_u64();
            assert!(done > Some(20), "host {index} did {done:?}");
            let is_possible = index != host || done <= Some(done_max as u64);
            assert!(is_possible, "host {index} did {done:?}, at most {done_max} are possible");
        }
        fleet
    }
}

fn kill(process: u32, signal: Signal) {
    let process = Pid::from_raw(process as i32).expect("a number");
    kill_process(process, signal).expect("it lives");
}

fn is_alive(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Whoever adopts it may be slow to look.
    !status.is_empty() && !status.contains(") Z ")
}

#[test]
fn a_killed_agent_ends_the_run_and_its_process_cleans_up() {
    let run = UnderWay::begin();
    // The first host is the one that has made the files.
    let process = run.process(0);
    run.fleet.agents[0].running.signal(Signal::KILL);
    drop(run.ends(0, "the connection broke"));
    assert!(!is_alive(process));
}

#[test]
fn a_killed_process_of_a_run_ends_the_run_and_its_agent_serves_the_next() {
    let run = UnderWay::begin();
    kill(run.process(1), Signal::KILL);
    let fleet = run.ends(1, "signal: 9 (SIGKILL)");
    let file = fleet.scratch.path("f");
    let (ran, report) = fleet.measured(&["--target", &file, "--size", "64k", "--ops", "8"]);
    went_well(&ran, &report);
    fleet.wait_until_clean(END_MAX);
}

#[test]
fn files_of_a_killed_process_are_removed_by_its_agent() {
    let run = UnderWay::begin();
    // The first host has made the files.
    kill(run.process(0), Signal::KILL);
    drop(run.ends(0, "signal: 9 (SIGKILL)"));
}

#[test]
fn a_frozen_process_of_a_run_ends_the_run_and_is_killed() {
    let run = UnderWay::begin();
    let process = run.process(1);
    kill(process, Signal::STOP);
    let mut fleet = run.ends(1, "silent for 2.");
    assert!(!is_alive(process));
    fleet.agents[1].running.wait_for("killed, since it did not end");
}

#[test]
fn a_host_that_is_silent_for_a_moment_stays_and_the_report_tells_how_long() {
    let fleet = Fleet::new(2);
    let (file, json) = (fleet.scratch.path("f"), fleet.scratch.outside("silent.json"));
    let hosts = fleet.hosts();
    let words = "--size 1m --rw read --bs 4k --rate-iops 200 --seconds 30 --interval 200ms";
    let words: Vec<&str> = words.split(' ').collect();
    let words = [&["--target", &file, "--json", &json], &words[..]].concat();
    let mut coordinator = spawn(&fleet.words(&hosts, &words));
    coordinator.wait_for(", 30 s");
    let process = fleet.agents[1].run_process().expect("a run goes on");
    kill(process, Signal::STOP);
    coordinator.wait_for(&format!("host {} is silent", fleet.agents[1].address));
    kill(process, Signal::CONT);
    // Two more intervals of all hosts show that it is heard again.
    coordinator.wait_for("is heard again");
    coordinator.signal(Signal::INT);
    let ran = coordinator.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    let report = Report::read(&json).expect("a report");
    let hosts = report.list("/phases/0/hosts");
    assert!(hosts.iter().all(|host| host["member"].get("lost").is_none()), "{}", report.told());
    assert!(hosts[0]["member"].get("stalls").is_none(), "{}", hosts[0]["member"]);
    let silent_ns = hosts[1]["member"]["stalls"][0]["silent_ns"].as_u64();
    // Of a silence that began before the phase, its part in the phase counts.
    assert!(silent_ns > Some(0), "{}", hosts[1]["member"]);
    fleet.wait_until_clean(CLEAN_MAX);
}

#[test]
fn two_coordinators_that_start_together_both_have_their_run() {
    let fleet = Fleet::new(2);
    let [one, other] = [0, 1].map(|nth: usize| fleet.agents[nth].address.clone());
    let both = [format!("{one},{other}"), format!("{other},{one}")];
    let files = ["f", "g"].map(|name| fleet.scratch.path(name));
    let start = |nth: usize| {
        let words = ["--target", &files[nth], "--size", "64k", "--ops", "4", "--hosts-wait", "30"];
        spawn(&fleet.words(&both[nth], &words))
    };
    for ran in [start(0), start(1)].map(Running::wait) {
        assert_eq!(ran.code, Some(0), "{}", ran.err);
    }
    fleet.wait_until_clean(CLEAN_MAX);
}

#[test]
fn one_agent_under_two_names_and_hosts_that_are_options_are_refused() {
    for (words, told) in [
        (["--hosts", "a,a:4730"], "host a:4730 is named twice"),
        (["--hosts=-h", "--ssh"], "`-h` is no name of a host"),
    ] {
        let ran = candor(&["run", words[0], words[1], "--target", "x", "--size", "4k"]);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(told), "{}", ran.err);
    }
}

#[test]
fn hosts_end_and_clean_up_when_their_coordinator_is_killed() {
    let UnderWay { mut fleet, coordinator, .. } = UnderWay::begin();
    let processes = [0, 1].map(|host| fleet.agents[host].run_process().expect("a run goes on"));
    coordinator.signal(Signal::KILL);
    fleet.wait_until_clean(END_MAX);
    assert!(processes.iter().all(|process| !is_alive(*process)));
    fleet.agents.iter_mut().for_each(|agent| agent.running.wait_for("run ended: "));
}

#[test]
fn an_agent_that_is_told_to_end_ends_its_run_first() {
    let run = UnderWay::begin();
    let process = run.process(1);
    run.fleet.agents[1].running.signal(Signal::TERM);
    drop(run.ends(1, ""));
    assert!(!is_alive(process));
}

/// Files that are laid out are as good a reason to end at once as a phase is.
#[test]
fn whoever_waits_for_files_can_be_interrupted_and_hosts_lost() {
    for is_lost in [false, true] {
        let fleet = Fleet::new(2);
        let hosts = fleet.hosts();
        let file = fleet.scratch.path("f");
        let words = ["--target", &file, "--size", "8g", "--rw", "read"];
        let mut coordinator = spawn(&fleet.words(&hosts, &words));
        coordinator.wait_for("laying out");
        let began = Instant::now();
        let (code, sentence) = if is_lost {
            // The other one makes the file.
            fleet.agents[1].running.signal(Signal::KILL);
            (1, "the connection broke")
        } else {
            coordinator.signal(Signal::INT);
            (130, "interrupted")
        };
        let ran = coordinator.wait();
        assert!(began.elapsed() < END_MAX, "{:?}", began.elapsed());
        assert_eq!(ran.code, Some(code), "{}", ran.err);
        assert!(ran.err.contains(sentence), "{}", ran.err);
        fleet.wait_until_clean(CLEAN_MAX);
    }
}

#[test]
fn a_full_file_system_ends_the_run_on_all_hosts() {
    let scratch = Scratch::new();
    let Some(mount) = Mount::tmpfs(&scratch, "8m") else { return };
    let fleet = Fleet::serving(scratch, 2, &["--allow", &mount.dir]);
    let words = "--rw write --bs 64k --layout never --size 32m --seconds 20 --workers 2";
    let file = mount.path("f");
    let words: Vec<&str> = ["--target", &file].into_iter().chain(words.split(' ')).collect();
    let began = Instant::now();
    let (ran, report) = fleet.measured(&words);
    assert!(began.elapsed() < 2 * END_MAX, "{:?}", began.elapsed());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let cut = report.words("/cut_short");
    assert!(cut.contains("No space left on device") && cut.contains(&file), "{cut}");
    assert!(check_sums(&report) >= 100, "what ran before the error is lost");
    fleet.wait_until_clean(END_MAX);
    assert_eq!(mount.entries(), [""; 0], "files are left");
}

#[test]
fn a_second_coordinator_is_told_to_wait() {
    let run = UnderWay::begin();
    let began = Instant::now();
    let target = run.fleet.scratch.path("g");
    let ran = run.fleet.run(&["--target", &target, "--size", "64k", "--hosts-wait", "0"]);
    assert!(began.elapsed() < END_MAX);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("this agent has another run, led by 127.0.0.1:"), "{}", ran.err);
    assert!(ran.err.contains("`candor run --no-live --keys"), "{}", ran.err);
    assert!(ran.err.contains("; wait for its end"), "{}", ran.err);
    let UnderWay { fleet, mut coordinator, .. } = run;
    assert!(!coordinator.has_ended(), "the first run goes on: {}", coordinator.err_so_far());
    coordinator.signal(Signal::INT);
    let ran = coordinator.wait();
    assert_eq!(ran.code, Some(130), "{}", ran.err);
    fleet.wait_until_clean(END_MAX);
}

/// Each has one of the hosts when it wants the other one: both let go and try again.
#[test]
fn two_coordinators_that_start_together_both_get_their_turn() {
    let fleet = Fleet::new(2);
    let file = fleet.scratch.random_file("f", 64 << 10);
    let [one, two] = [&fleet.agents[0].address, &fleet.agents[1].address];
    for _ in 0..3 {
        let start = |hosts: &str| {
            let words = ["--target", &file, "--rw", "read", "--ops", "200", "--hosts-wait", "50"];
            spawn(&fleet.words(hosts, &words))
        };
        let both = [start(&format!("{one},{two}")), start(&format!("{two},{one}"))];
        for ran in both.map(Running::wait) {
            assert_eq!(ran.code, Some(0), "{}", ran.err);
        }
    }
}

#[test]
fn eight_agents_start_together() {
    let fleet = Fleet::new(8);
    let file = fleet.scratch.random_file("f", 64 << 10);
    let (ran, report) = fleet.measured(&["--target", &file, "--rw", "read", "--ops", "200"]);
    went_well(&ran, &report);
    assert_eq!(check_sums(&report), 8 * 200);
    let members = report.list("/phases/0/hosts").iter().map(|host| &host["member"]);
    let of = |key: &str| {
        let each = members.clone().map(|member| member[key].as_i64().expect("a number"));
        each.collect::<Vec<_>>()
    };
    let (late, error) = (of("started_late_ns"), of("clock_error_ns"));
    let spread = late.iter().max().unwrap() - late.iter().min().unwrap();
    println!("8 agents: starts within {spread} ns, clocks known to {error:?} ns");
    assert_eq!(late.len(), 8);
    // On a quiet host this is below 1 ms; a busy one only must not be seconds apart.
    assert!(spread < 1_000_000_000 && error.iter().all(|error| (1..500_000_000).contains(error)));
}

/// The coordinator leads 64 agents; the others are led by the first of these.
#[test]
fn a_tree_of_agents_runs_as_one() {
    const AGENTS: u64 = 67;
    let _host = shared_host();
    // Nothing is looked at nor traced: so many on one host are slow enough without that.
    let fleet = Fleet::serving(Scratch::new(), AGENTS as usize, &["--allow", "/dev/null"]);
    let words = "--target /dev/null --size 1m --engine null --rw read --ops 50 --block-trace off";
    let (ran, report) = fleet.measured(&words.split(' ').collect::<Vec<_>>());
    went_well(&ran, &report);
    assert_eq!(check_sums(&report), AGENTS * 50);
    let hosts = report.list("/phases/0/hosts").iter();
    let indices = hosts.map(|host| host["member"]["index"].as_u64());
    assert!(indices.eq((0..AGENTS).map(Some)), "hosts in their order, each once");
}

/// A way to an agent that takes this long in each direction, until it is cut.
struct SlowWay {
    address: String,
    cut: mpsc::Sender<()>,
}

/// Carries bytes in one direction, each this much later.
fn carry(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, chunks) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        for (due, bytes) in chunks {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut bytes) {
            if sender.send((Instant::now() + delay, bytes[..length].to_vec())).is_err() {
                return;
            }
        }
    });
}

impl SlowWay {
    fn to(agent: &Agent, delay: Duration) -> SlowWay {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("a port").to_string();
        let (to, (cut, is_cut)) = (agent.address.clone(), mpsc::channel());
        thread::spawn(move || {
            let (near, _) = listener.accept().expect("a coordinator");
            let far = TcpStream::connect(to).expect("the agent");
            for end in [&near, &far] {
                end.set_nodelay(true).expect("no delay of the kernel's");
            }
            let [near_too, far_too] = [&near, &far].map(|end| end.try_clone().expect("a handle"));
            carry(near_too, far_too, delay);
            carry(far.try_clone().expect("a handle"), near.try_clone().expect("a handle"), delay);
            let _ = is_cut.recv();
            let _ = (near.shutdown(Shutdown::Both), far.shutdown(Shutdown::Both));
        });
        SlowWay { address, cut }
    }
}

#[test]
fn a_slow_way_is_in_the_report_and_its_cut_ends_the_run() {
    let fleet = Fleet::new(2);
    let way = SlowWay::to(&fleet.agents[1], Duration::from_millis(30));
    let hosts = format!("{},{}", fleet.agents[0].address, way.address);
    let (file, json) = (fleet.scratch.path("f"), fleet.scratch.outside("cut.json"));
    let words = ["--target", &file, "--json", &json, "--size", "64k", "--rate-iops", "200"];
    let mut coordinator = spawn(&fleet.words(&hosts, &[&words[..], &["--seconds", "30"]].concat()));
    coordinator.wait_for(", 30 s");
    thread::sleep(Duration::from_millis(500));
    way.cut.send(()).expect("the way is there");
    let cut = Instant::now();
    let ran = coordinator.wait();
    assert!(cut.elapsed() < END_MAX, "{:?}", cut.elapsed());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = Report::read(&json).expect("a partial report");
    let sentence = report.words("/cut_short");
    assert!(sentence.contains(&way.address), "{sentence}");
    let member = report.at("/phases/0/hosts/1/member");
    let trip_ms = member["round_trip_ns"].as_f64().expect("a time") / 1e6;
    assert!((60.0..200.0).contains(&trip_ms), "{trip_ms} ms");
    // Both ways are as slow, and the clock is that of this host.
    let offset = member["clock_offset_ns"].as_i64().expect("a time").unsigned_abs();
    assert!(offset <= member["clock_error_ns"].as_u64().expect("a time"), "{member}");
    fleet.wait_until_clean(CLEAN_MAX);
}
