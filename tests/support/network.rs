//! Hosts on this one: namespaces of network and host name behind a bridge, and one with the bridge
//! in which those run who lead the others.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use super::Scratch;
use super::fleet::Agent;

/// A number for names that must not meet.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Gives a program a host name of its own: `sh -c IN_PLACE NAME PROGRAM WORDS…`.
const NAMED: &str = "echo \"$0\" > /proc/sys/kernel/hostname && exec \"$@\"";

/// Namespaces of nodes, and one of their bridge. Removed when dropped, with all that runs in them.
pub struct Network {
    prefix: String,
    nodes: usize,
}

/// Runs a line, and gives its output; what it said where it failed.
fn tool(line: &str) -> Result<String, String> {
    let mut words = line.split(' ');
    let output = Command::new(words.next().unwrap_or_default()).args(words).output();
    let output = output.map_err(|error| format!("{line}: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }
}

impl Network {
    /// So many nodes; a sentence where this host cannot have them.
    pub fn new(nodes: usize) -> Result<Network, String> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("cnd{}x{number}", std::process::id());
        let network = Network { prefix, nodes };
        let hub = network.hub_name();
        tool(&format!("ip netns add {hub}"))?;
        let in_hub = |line: &str| tool(&format!("ip -n {hub} {line}"));
        in_hub("link set lo up")?;
        in_hub("link add bridge type bridge")?;
        in_hub(&format!("addr add {}/24 dev bridge", Network::HUB))?;
        in_hub("link set bridge up")?;
        for node in 0..nodes {
            let name = network.name(node);
            tool(&format!("ip netns add {name}"))?;
            in_hub(&format!("link add port{node} type veth peer name eth netns {name}"))?;
            in_hub(&format!("link set port{node} master bridge up"))?;
            let in_node = |line: &str| tool(&format!("ip -n {name} {line}"));
            in_node(&format!("addr add {}/24 dev eth", Network::address(node)))?;
            in_node("link set eth up")?;
            in_node("link set lo up")?;
        }
        Ok(network)
    }

    /// The network of all nodes.
    pub const NET: &str = "10.77.0.0/24";
    /// Address of the namespace with the bridge.
    pub const HUB: &str = "10.77.0.254";

    /// Address of a node.
    pub fn address(node: usize) -> String {
        format!("10.77.0.{}", node + 1)
    }

    /// Addresses of all nodes.
    pub fn addresses(&self) -> Vec<String> {
        (0..self.nodes).map(Network::address).collect()
    }

    /// The same, with commas between them.
    pub fn hosts(&self) -> String {
        self.addresses().join(",")
    }

    /// Name of a node, as host and as namespace.
    pub fn name(&self, node: usize) -> String {
        format!("{}n{node}", self.prefix)
    }

    /// Name of the namespace with the bridge, which is that of its host, too.
    pub fn hub_name(&self) -> String {
        format!("{}h", self.prefix)
    }

    fn namespaces(&self) -> impl Iterator<Item = String> + '_ {
        (0..self.nodes).map(|node| self.name(node)).chain([self.hub_name()])
    }

    /// A program on a node.
    pub fn on_node(&self, node: usize, program: &str) -> Command {
        in_namespace(&self.name(node), program)
    }

    /// A program beside the bridge.
    pub fn on_hub(&self, program: &str) -> Command {
        in_namespace(&self.hub_name(), program)
    }

    /// An agent on a node.
    pub fn agent(&self, node: usize, keys: &str, dir: &str) -> Agent {
        let mut command = self.on_node(node, env!("CARGO_BIN_EXE_candor"));
        command.args(["agent", "--keys", keys, "--allow", dir]);
        Agent::of(&mut command)
    }

    /// Gives what leaves a node a queue.
    pub fn queue(&self, node: usize, words: &str) -> Result<(), String> {
        let namespace = self.name(node);
        tool(&format!("ip netns exec {namespace} tc qdisc replace dev eth root {words}")).map(drop)
    }

    /// Takes a node's link down.
    pub fn cut(&self, node: usize) {
        let line = format!("ip -n {} link set port{node} down", self.hub_name());
        tool(&line).expect("a port of the bridge");
    }

    /// A program that launchers take for ssh: it knows the nodes by their addresses, and gives what
    /// it starts there none of its own environment but PATH and HOME.
    pub fn remote_shell(&self, scratch: &Scratch) -> String {
        let Network { prefix, .. } = self;
        let script = format!(
            "#!/bin/sh\n\
             while [ \"${{1#-}}\" != \"$1\" ]; do shift; done\n\
             node={prefix}n$((${{1##*.}} - 1))\n\
             shift\n\
             exec ip netns exec $node unshare --uts sh -c '{NAMED}' $node \\\n\
             env -i PATH=\"$PATH\" HOME=\"$HOME\" sh -c \"$*\"\n"
        );
        let path = scratch.file("remote-shell", &script);
        fs::set_permissions(&path, Permissions::from_mode(0o700)).expect("a program");
        path
    }
}

fn in_namespace(name: &str, program: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name, "unshare", "--uts", "sh", "-c", NAMED, name, program]);
    command
}

/// Ends all processes of a namespace.
fn end_all(namespace: &str) {
    let processes = tool(&format!("ip netns pids {namespace}")).unwrap_or_default();
    for process in processes.lines().filter_map(|line| Pid::from_raw(line.trim().parse().ok()?)) {
        // One that has ended meanwhile is what is wanted.
        let _ = kill_process(process, Signal::KILL);
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for namespace in self.namespaces() {
            // Some may not have been made.
            end_all(&namespace);
            let _ = tool(&format!("ip netns del {namespace}"));
        }
    }
}
