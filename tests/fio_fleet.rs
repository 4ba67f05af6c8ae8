//! fio's `--server` and `--client`: each client runs the jobs by itself.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::support::{Running, Scratch, shared_host};

const TOKEN: (&str, &str) =
    ("CANDOR_TOKEN", "candor-1-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");

/// A port that nobody listens on.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_candor"));
    command.arg("fio").args(words).env(TOKEN.0, TOKEN.1).stdin(Stdio::null());
    command
}

/// A server of these paths, which ends with the test.
fn server(allowed: &str) -> (Running, String) {
    let address = format!("127.0.0.1,{}", port());
    let mut command = command(&[&format!("--server={address}")]);
    let mut running = Running::start(command.env("CANDOR_ALLOW", allowed), Stdio::null());
    running.wait_for("listens on");
    (running, address)
}

fn fio(words: &[&str]) -> Output {
    command(words).output().expect("candor")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn each_client_runs_all_jobs_and_all_clients_is_their_sum() {
    let _host = shared_host();
    let scratch = Scratch::new();
    let servers = [server(&scratch.dir()), server(&scratch.dir())];
    let hosts = scratch.file("hosts", &format!("{}\n{}\n", servers[0].1, servers[1].1));
    let directory = scratch.path("d");
    fs::create_dir(&directory).expect("a directory");
    let jobs = format!(
        "[global]\nsize=256k\nbs=4k\n[w]\nrw=write\nnumjobs=2\ndirectory={directory}\n\
         write_bw_log={0}\n[r]\nstonewall\nrw=randread\nfilename={directory}/r\n",
        scratch.path("log"),
    );
    let jobs = scratch.file("job.fio", &jobs);
    let client = format!("--client={hosts}");
    let ran = fio(&[&client, "--output-format=json", &jobs]);
    assert!(ran.status.success() && ran.stderr.is_empty(), "{}", text(&ran.stderr));
    let document: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    let stats = document["client_stats"].as_array().expect("a list");
    let bytes = |of: &Value, way: &str| of[way]["io_bytes"].as_u64().expect("a number");
    assert_eq!(stats.len(), 2 * 3 + 1, "{stats:?}");
    let (all, each) = stats.split_last().expect("some");
    assert_eq!(all["jobname"], "All clients");
    for (nth, job) in each.iter().enumerate() {
        let way = if nth % 3 < 2 { "write" } else { "read" };
        assert_eq!((bytes(job, way), job[way]["clat_ns"]["N"].as_u64()), (256 << 10, Some(64)));
        let port: u16 = servers[nth / 3].1.split_once(',').expect("a port").1.parse().expect("it");
        assert_eq!((&job["hostname"], &job["port"]), (&"127.0.0.1".into(), &port.into()));
    }
    assert_eq!((bytes(all, "write"), bytes(all, "read")), (4 * (256 << 10), 2 * (256 << 10)));
    let notes = document["candor"].to_string();
    assert!(notes.contains("wrote the same file"), "{notes}");
    let mut made: Vec<String> = fs::read_dir(&directory)
        .expect("listed")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    made.sort();
    assert_eq!(made, ["127.0.0.1.w.0.0", "127.0.0.1.w.1.0", "r"]);
    let logs = scratch.entries().into_iter().filter(|name| name.starts_with("log_bw.")).count();
    assert_eq!(logs, 2 * 2, "a log of each job of each client");
}

#[test]
fn text_of_two_clients_and_what_is_refused() {
    let _host = shared_host();
    let scratch = Scratch::new();
    let servers = [server(&scratch.dir()), server(&scratch.dir())];
    let jobs = scratch
        .file("job.fio", &format!("[a]\nrw=read\nsize=64k\nfilename={}\n", scratch.path("a")));
    let clients = servers.each_ref().map(|(_, address)| format!("--client={address}"));
    let ran = fio(&[&clients[0], &jobs, &clients[1], &jobs]);
    let out = text(&ran.stdout);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    assert_eq!(out.matches("> a: (g=0): rw=read").count(), 2, "{out}");
    assert_eq!(out.matches("\na: (groupid=0, jobs=1): err= 0").count(), 2, "{out}");
    assert_eq!(
        out.matches("\nAll clients: (groupid=0, jobs=2): err= 0: pid=0").count(),
        1,
        "{out}"
    );
    let elsewhere = scratch.file("b.fio", "[a]\nrw=read\nsize=64k\nfilename=/nowhere/a\n");
    let replay = scratch.file("c.fio", "[a]\nread_iolog=x\n");
    let nobody = format!("--client=127.0.0.1,{}", port());
    for (words, sentence) in [
        ([&clients[0], &elsewhere], "this agent does not serve `/nowhere/a`"),
        ([&clients[0], &replay], "read_iolog would replay one trace"),
        ([&nobody, &jobs], "Connection refused"),
    ] {
        let ran = fio(&words.map(String::as_str));
        let err = text(&ran.stderr);
        assert!(ran.status.code() == Some(1) && err.contains(sentence), "{words:?}: {err}");
    }
    let mut stranger = command(&[&clients[0], &jobs]);
    let ran = stranger.env(TOKEN.0, crate::support::fleet::new_token()).output().expect("candor");
    assert_eq!(ran.status.code(), Some(1), "{}", text(&ran.stdout));
}

#[test]
fn a_server_in_the_background_leaves_its_number() {
    let scratch = Scratch::new();
    let (pid, port) = (scratch.path("pid"), port());
    let (server, pid_flag) = (format!("--server=127.0.0.1,{port}"), format!("--daemonize={pid}"));
    let mut command = command(&[&server, &pid_flag]);
    let ran = command.env("CANDOR_ALLOW", scratch.dir()).output().expect("candor");
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let number = fs::read_to_string(&pid).expect("a number");
    let process = rustix::process::Pid::from_raw(number.trim().parse().expect("a number"));
    let process = process.expect("a process");
    let ended = rustix::process::kill_process(process, rustix::process::Signal::TERM);
    ended.expect("it runs");
    let user = rustix::process::getuid().as_raw();
    let log = std::env::temp_dir().join(format!("candor-service-{user}-{port}.log"));
    fs::remove_file(log).expect("its log");
}
