//! IOR's command line under real launchers on several hosts, which are namespaces here.

use std::path::Path;
use std::process::Stdio;

use crate::support::launched::LaunchedIor;
use crate::support::network::Network;
use crate::support::{Running, quiet_host, root, skip};

const NODES: usize = 8;
const RANKS_PER_NODE: usize = 2;

/// Runs IOR's command line, which reads in an order, behind the words of a launcher, which are made
/// of the program that starts processes on other hosts and of the hosts.
fn runs_on_all_hosts(launcher: &str, order: &str, words: impl Fn(&str, &str) -> String) {
    if !root() {
        return;
    }
    if !Path::new(launcher).exists() {
        return skip(&format!("it needs {launcher}"));
    }
    let _host = quiet_host();
    let network = match Network::new(NODES) {
        Ok(network) => network,
        Err(why) => return skip(&why),
    };
    let ior = LaunchedIor::new(NODES as u64, RANKS_PER_NODE as u64, order);
    let shell = network.remote_shell(&ior.scratch);
    let hosts: Vec<String> =
        network.addresses().iter().map(|address| format!("{address}:{RANKS_PER_NODE}")).collect();
    let mut command = network.on_hub(launcher);
    command.args(words(&shell, &hosts.join(",")).split(' ')).args(&ior.words);
    // The launcher carries the words with which processes meet: there is no place for files.
    command.env("CANDOR_JSON", &ior.json).env("CANDOR_RENDEZVOUS", "/nonexistent");
    command.current_dir(ior.scratch.dir());
    ior.check(&Running::start(&mut command, Stdio::null()).wait());
}

#[test]
fn mpirun_of_open_mpi_runs_iors_command_line_on_all_hosts() {
    let net = Network::NET;
    runs_on_all_hosts("/usr/bin/mpirun.openmpi", "-C", |shell, hosts| {
        format!(
            "--allow-run-as-root --mca plm_rsh_agent {shell} --mca oob_tcp_if_include {net} \
             -x CANDOR_JSON -x CANDOR_HISTORY -x CANDOR_RENDEZVOUS --host {hosts}"
        )
    });
}

#[test]
fn mpiexec_of_mpich_runs_iors_command_line_on_all_hosts() {
    runs_on_all_hosts("/usr/bin/mpiexec.hydra", "-Z", |shell, hosts| {
        format!("-iface bridge -launcher ssh -launcher-exec {shell} -hosts {hosts}")
    });
}
