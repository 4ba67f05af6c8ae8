//! Agents in network namespaces behind a bridge, with slow and cut links.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::fleet::{Agent, keys};
use crate::support::network::Network;
use crate::support::{Ran, Report, Running, Scratch, check_sums, root, skip};

const NODES: usize = 4;
/// Rates of the links of elbencho's services, in Mbit/s.
const RATES_MBIT: [u32; 8] = [2, 4, 8, 16, 32, 64, 128, 256];

/// A coordinator.
fn candor(network: &Network) -> Command {
    network.on_hub(env!("CARGO_BIN_EXE_candor"))
}

/// A run on all nodes, and its report.
fn measured(network: &Network, scratch: &Scratch, keys: &str, line: &str) -> Report {
    let json = scratch.outside("report.json");
    let mut command = candor(network);
    command.args(["run", "--no-live", "--keys", keys, "--json", &json, "--hosts"]);
    command.arg(network.hosts()).args(line.split(' '));
    let ran = Running::start(&mut command, Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    Report::read(&json).expect("a report")
}

#[test]
fn nodes_behind_slow_links_run_together_until_one_is_cut() {
    if !root() {
        return;
    }
    let network = match Network::new(NODES) {
        Ok(network) => network,
        Err(why) => return skip(&why),
    };
    let scratch = Scratch::new();
    let keys = keys(&scratch, "keys");
    let file = scratch.path("f");
    let agents: Vec<Agent> =
        (0..NODES).map(|node| network.agent(node, &keys, &scratch.dir())).collect();
    let line = format!("--target {file} --size 256k --rw read --ops 100");
    let report = measured(&network, &scratch, &keys, &line);
    assert_eq!(check_sums(&report), 4 * 100);
    let names: Vec<_> =
        report.list("/phases/0/hosts").iter().map(|host| host["host"].clone()).collect();
    assert_eq!(names, network.addresses());
    // A node behind 4 Mbit/s is slower to answer, and takes part.
    match network.queue(0, "tbf rate 4mbit burst 8k latency 500ms") {
        Ok(()) => drop(measured(&network, &scratch, &keys, &line)),
        Err(why) => skip(&why),
    }
    let _ = network.queue(0, "pfifo");
    cut(&network, &scratch, &keys, &agents);
}

/// A node's link goes down in the middle of a run.
fn cut(network: &Network, scratch: &Scratch, keys: &str, agents: &[Agent]) {
    let (file, json) = (scratch.path("f"), scratch.outside("cut.json"));
    let mut command = candor(network);
    command.args(["run", "--no-live", "--keys", keys, "--json", &json, "--hosts"]);
    command.arg(network.hosts()).args(["--target", &file, "--size", "256k"]);
    command.args(["--rate-iops", "200", "--seconds", "30", "--interval", "200ms"]);
    command.args(["--host-timeout", "2"]);
    let mut run = Running::start(&mut command, Stdio::null());
    run.wait_for(", 30 s");
    thread::sleep(Duration::from_millis(500));
    network.cut(2);
    let cut = Instant::now();
    let ran = run.wait();
    assert!(cut.elapsed() < Duration::from_secs(5), "{:?}", cut.elapsed());
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = Report::read(&json).expect("a partial report");
    let sentence = report.words("/cut_short");
    assert!(sentence.contains("10.77.0.3") && sentence.contains("silent for 2."), "{sentence}");
    // The node behind the cut is not led any more: it ends and cleans up by itself.
    while agents.iter().any(|agent| agent.run_process().is_some()) {
        assert!(cut.elapsed() < Duration::from_secs(12), "a process is left");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(scratch.entries(), [""; 0]);
}

/// elbencho's services on all nodes, and those who lead them.
struct Services<'a> {
    network: &'a Network,
    token: String,
    services: Vec<Agent>,
}

impl Services<'_> {
    fn start<'a>(network: &'a Network, scratch: &Scratch) -> Services<'a> {
        let token = scratch.file("token", "a token of this test alone\n");
        let services = (0..RATES_MBIT.len())
            .map(|node| {
                let mut command = network.on_node(node, env!("CARGO_BIN_EXE_candor"));
                command.args(["elbencho", "--service", "--foreground", "--svcpwfile", &token]);
                Agent::of(command.arg(scratch.dir()))
            })
            .collect();
        Services { network, token, services }
    }

    /// A command line of elbencho on all of them.
    fn elbencho(&self, json: &str, line: &str) -> Ran {
        let mut command = candor(self.network);
        command.args(["elbencho", "--hosts", "10.77.0.[1-8]", "--svcpwfile", &self.token]);
        command.env("CANDOR_JSON", json).args(line.split(' '));
        let ran = Running::start(&mut command, Stdio::null()).wait();
        assert_eq!(ran.code, Some(0), "{line}: {}{}", ran.out, ran.err);
        ran
    }
}

#[test]
fn elbencho_leads_services_behind_links_of_different_rates() {
    if !root() {
        return;
    }
    let network = match Network::new(RATES_MBIT.len()) {
        Ok(network) => network,
        Err(why) => return skip(&why),
    };
    for (node, rate) in RATES_MBIT.iter().enumerate() {
        if let Err(why) = network.queue(node, &format!("tbf rate {rate}mbit burst 32k latency 1s"))
        {
            return skip(&why);
        }
    }
    let scratch = Scratch::new();
    let (file, json) = (scratch.path("f"), scratch.outside("elbencho.json"));
    let services = Services::start(&network, &scratch);
    let (threads, bytes, block) = (2, 8 << 20, 64 << 10);
    let ran = services.elbencho(&json, &format!("-w -r -t {threads} -s {bytes} -b {block} {file}"));
    assert!(ran.out.contains("WRITE") && ran.out.contains("READ"), "{}", ran.out);
    assert_eq!(fs::metadata(&file).expect("the file").len(), bytes);
    let report = Report::read(&json).expect("candor's own report");
    assert_eq!(check_sums(&report), 2 * bytes / block);
    for phase in report.list("/phases") {
        let hosts = phase["hosts"].as_array().expect("hosts");
        assert_eq!(hosts.len(), RATES_MBIT.len());
        for host in hosts {
            let per_worker = host["measurements"][0]["per_worker"].as_array();
            assert_eq!(per_worker.map(Vec::len), Some(threads));
            let done = host["measurements"][0]["last_done"]["bytes"].as_u64();
            assert_eq!(done, Some(bytes / hosts.len() as u64), "{}", host["host"]);
        }
    }
    services.elbencho(&json, &format!("-F -t 2 -s {bytes} -b {block} {file}"));
    assert_eq!(scratch.entries(), [""; 0]);
    services.elbencho(&json, "--quit");
    for service in services.services {
        assert_eq!(service.running.wait().code, Some(0));
    }
}
