//! Agents in network namespaces behind a bridge, with slow and cut links.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::support::fleet::{Agent, check_sums, keys};
use crate::support::{Report, Running, Scratch, root, skip};

const NODES: usize = 4;
/// Delay of each node's link, in ms, where the kernel has netem.
const DELAY_MS: u64 = 20;

/// Namespaces of nodes, and one with a bridge between them, in which coordinators run. Removed when
/// dropped, with all that is in them.
struct Network {
    prefix: String,
}

/// Runs a line; what it said where it failed.
fn tool(line: &str) -> Result<(), String> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output();
    let output = output.map_err(|error| format!("{line}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

impl Network {
    fn new() -> Result<Network, String> {
        let network = Network { prefix: format!("cnd{}", std::process::id() % 100_000) };
        let Network { prefix } = &network;
        tool(&format!("ip netns add {prefix}h"))?;
        let hub = |line: &str| tool(&format!("ip -n {prefix}h {line}"));
        hub("link add bridge type bridge")?;
        hub("addr add 10.77.0.254/24 dev bridge")?;
        hub("link set bridge up")?;
        for node in 0..NODES {
            tool(&format!("ip netns add {prefix}n{node}"))?;
            hub(&format!("link add port{node} type veth peer name eth netns {prefix}n{node}"))?;
            hub(&format!("link set port{node} master bridge"))?;
            hub(&format!("link set port{node} up"))?;
            let node_line = |line: &str| tool(&format!("ip -n {prefix}n{node} {line}"));
            node_line(&format!("addr add {}/24 dev eth", Network::address(node)))?;
            node_line("link set eth up")?;
            node_line("link set lo up")?;
        }
        Ok(network)
    }

    fn address(node: usize) -> String {
        format!("10.77.0.{}", node + 1)
    }

    fn hosts() -> String {
        let addresses: Vec<String> = (0..NODES).map(Network::address).collect();
        addresses.join(",")
    }

    /// A command in the namespace with that end of its name.
    fn command(&self, namespace: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &format!("{}{namespace}", self.prefix)]);
        command.arg(env!("CARGO_BIN_EXE_candor"));
        command
    }

    fn agent(&self, node: usize, keys: &str, dir: &str) -> Agent {
        let mut command = self.command(&format!("n{node}"));
        command.args(["agent", "--keys", keys, "--allow", dir]);
        Agent::of(&mut command)
    }

    /// Gives what leaves a node a queue.
    fn queue(&self, node: usize, words: &str) -> Result<(), String> {
        let namespace = format!("{}n{node}", self.prefix);
        tool(&format!("ip netns exec {namespace} tc qdisc replace dev eth root {words}"))
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for node in 0..NODES {
            // Some may not have been made.
            let _ = tool(&format!("ip netns del {}n{node}", self.prefix));
        }
        let _ = tool(&format!("ip netns del {}h", self.prefix));
    }
}

/// A run on all nodes, and its report.
fn measured(network: &Network, scratch: &Scratch, keys: &str, line: &str) -> Report {
    let json = scratch.outside("report.json");
    let mut command = network.command("h");
    command.args(["run", "--no-live", "--keys", keys, "--json", &json, "--hosts"]);
    command.arg(Network::hosts()).args(line.split(' '));
    let ran = Running::start(&mut command, std::process::Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    Report::read(&json).expect("a report")
}

fn round_trips_ms(report: &Report) -> Vec<f64> {
    let hosts = report.list("/phases/0/hosts").iter();
    let trips = hosts.map(|host| host["member"]["round_trip_ns"].as_f64().expect("a time"));
    trips.map(|ns| ns / 1e6).collect()
}

#[test]
fn nodes_behind_slow_links_run_together_until_one_is_cut() {
    if !root() {
        return;
    }
    let network = match Network::new() {
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
    assert_eq!(names, (0..NODES).map(Network::address).collect::<Vec<_>>());
    // A node behind 4 Mbit/s is slower to answer, and takes part.
    match network.queue(0, "tbf rate 4mbit burst 8k latency 500ms") {
        Ok(()) => drop(measured(&network, &scratch, &keys, &line)),
        Err(why) => skip(&why),
    }
    match network.queue(1, &format!("netem delay {DELAY_MS}ms")) {
        Ok(()) => {
            let trips = round_trips_ms(&measured(&network, &scratch, &keys, &line));
            let delay = DELAY_MS as f64;
            assert!((delay..5.0 * delay).contains(&trips[1]), "{trips:?}");
        }
        Err(why) => skip(&why),
    }
    let _ = network.queue(0, "pfifo");
    elbencho(&network, &scratch, &keys);
    cut(&network, &scratch, &keys, &agents);
}

/// elbencho's command line reaches the same agents.
fn elbencho(network: &Network, scratch: &Scratch, keys: &str) {
    let link = scratch.path("from-elbencho");
    let mut command = network.command("h");
    command.env("CANDOR_KEYS", keys).args(["elbencho", "--hosts", &Network::hosts()]);
    command.args(["--port", "4730", "-w", "-t", "2", "-s", "1m", "-b", "64k", &link]);
    let ran = Running::start(&mut command, std::process::Stdio::null()).wait();
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("WRITE"), "{}", ran.out);
    assert_eq!(std::fs::metadata(&link).expect("the file").len(), 1 << 20);
    std::fs::remove_file(link).expect("the file");
}

/// A node's link goes down in the middle of a run.
fn cut(network: &Network, scratch: &Scratch, keys: &str, agents: &[Agent]) {
    let (file, json) = (scratch.path("f"), scratch.outside("cut.json"));
    let mut command = network.command("h");
    command.args(["run", "--no-live", "--keys", keys, "--json", &json, "--hosts"]);
    command.arg(Network::hosts()).args(["--target", &file, "--size", "256k"]);
    command.args(["--rate-iops", "200", "--seconds", "30", "--interval", "200ms"]);
    let mut run = Running::start(&mut command, std::process::Stdio::null());
    run.wait_for(", 30 s");
    thread::sleep(Duration::from_millis(500));
    tool(&format!("ip -n {}h link set port2 down", network.prefix)).expect("a port");
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
