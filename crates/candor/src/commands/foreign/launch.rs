//! Tools that MPI launches: the first process on each host has the host's ranks as threads, and the
//! others have nothing to do. Of several hosts the first process of all leads a fleet, and those of
//! the other hosts are its agents.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use candor_fleet::{Allowed, Chore, FleetOptions, Identity, Listening, Met, Reach, ServeOptions};

use candor_front::launcher::{self, Launched};
use candor_front::ranks;

use rustix::process::{Pid, getppid};
use rustix::thread::{sched_getaffinity, sched_setaffinity};

use super::Complaints;
use super::host::HostEnvironment;
use crate::commands::agent;
use crate::hosts::{Hosts, Keys};

/// Shells and scripts around a rank's process that are looked through, one above the other.
const SHELLS_MAX: u32 = 16;

/// Longest time for this process's own agent to end: its run has ten minutes to clean up.
const OWN_MAX: Duration = Duration::from_secs(610);
/// The same where the agent has not heard that it is to end.
const DEAF_MAX: Duration = Duration::from_secs(10);
/// Time between two looks whether it has.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Words of a tool, and the hosts of its launcher.
pub struct Led {
    /// The words with the ranks of the launcher, the program's name first.
    pub argv: Vec<OsString>,
    /// The agents of all hosts, where there are several.
    pub fleet: Option<Launch>,
}

/// The hosts that a launcher has brought together. Dropped, their agents end.
pub struct Launch {
    /// Keys of this run alone.
    pub identity: Identity,
    /// The hosts, in the order of their ranks.
    pub options: FleetOptions,
    /// Ranks on each of them.
    pub ranks_per_host: u32,
    own: OwnAgent,
    /// Kept until all have done what they met for.
    _met: Option<Met>,
}

/// The agent of the first process's host, a thread of that process.
struct OwnAgent {
    thread: JoinHandle<()>,
    port: u16,
}

impl Drop for Launch {
    fn drop(&mut self) {
        let quit = |to: &[String]| candor_fleet::tell(&self.identity, to, Chore::Quit);
        let OwnAgent { thread, port } = &self.own;
        // This host may not reach itself by the address that others have for it.
        let is_deaf = !quit(&[format!("127.0.0.1:{port}")]).is_empty();
        // An agent that does not hear it ends with its launcher.
        let _ = quit(&self.options.hosts);
        let until = Instant::now() + if is_deaf { DEAF_MAX } else { OWN_MAX };
        while !thread.is_finished() && Instant::now() < until {
            thread::sleep(LOOK_AGAIN);
        }
    }
}

/// The words with the ranks of the launcher; else the exit code of a process that has nothing more
/// to do, or of ranks that cannot be had.
pub fn led(argv: &[OsString], hosts: &Hosts, complaints: Complaints<'_>) -> Result<Led, u8> {
    let alone = |argv: Vec<OsString>| Led { argv, fleet: None };
    let Some(of) = launcher::detect(&HostEnvironment) else { return Ok(alone(argv.to_owned())) };
    let Launched { by, rank, size, .. } = of;
    if let Err(why) = check_keys(&hosts.keys, by) {
        return Err(complaints.sentence(&why));
    }
    if of.is_on_one_host() && rank > 0 {
        return Err(0);
    }
    let fleet = if of.is_on_one_host() {
        None
    } else {
        match met(&of) {
            Ok(Some(mut fleet)) => {
                let FleetOptions { wait, host_timeout, .. } = hosts.options();
                (fleet.options.wait, fleet.options.host_timeout) = (wait, host_timeout);
                Some(fleet)
            }
            Ok(None) => return Err(0),
            Err(why) => {
                let sentence = format!("rank {rank} of {by} on several hosts: {why}");
                return Err(complaints.sentence(&sentence));
            }
        }
    };
    if size == 1 {
        complaints.sentence(&format!(
            "{by} has started 1 rank; --ranks N gives as many without a launcher"
        ));
        return Ok(alone(argv.to_owned()));
    }
    take_cpus_of_launcher(of.variable);
    let mut words = argv.to_owned();
    if !ranks::is_given(argv) {
        words.splice(1..1, [ranks::FLAG.into(), size.to_string().into()]);
    }
    Ok(Led { argv: words, fleet })
}

/// True in a process that a launcher has started.
pub fn is_launched() -> bool {
    launcher::detect(&HostEnvironment).is_some()
}

/// Part of this process in a run that a launcher has started on all hosts.
pub enum Part {
    /// The only process.
    Alone,
    /// Others do the work, or have done it with this one as their agent.
    Over,
    /// Leader of the agents of all hosts.
    Leads(Box<Launch>),
}

/// The variables of an indexed job of Kubernetes: number of the pod, and addresses of all pods.
const POD: &str = "JOB_COMPLETION_INDEX";
const PODS: &str = "CANDOR_JOB_HOSTS";

/// Finds this process's part among those that a launcher, or a job of Kubernetes, has started. Pods
/// take the keys that are named.
///
/// # Errors
/// They cannot meet, in a sentence.
pub fn part(keys: &Keys) -> Result<Part, String> {
    if let (Ok(pod), Ok(pods)) = (std::env::var(POD), std::env::var(PODS)) {
        return of_pods(&pod, &pods, keys);
    }
    let Some(of) = launcher::detect(&HostEnvironment) else { return Ok(Part::Alone) };
    check_keys(keys, of.by)?;
    if !of.is_on_one_host() {
        return Ok(met(&of)?.map_or(Part::Over, |launch| Part::Leads(Box::new(launch))));
    }
    Ok(if of.rank > 0 { Part::Over } else { Part::Alone })
}

/// Pods know each other by their names, and have the same keys or token.
fn of_pods(pod: &str, pods: &str, keys: &Keys) -> Result<Part, String> {
    let mut hosts = Hosts::default();
    hosts.add(pods).map_err(|why| format!("{PODS}: {why}"))?;
    let source = keys.source()?;
    if source.user_key().is_some_and(|key| matches!(key.read(), Ok(None))) {
        return Err("pods have no key in common; give all of them the same CANDOR_TOKEN, made by \
                    `candor fleet token`"
            .into());
    }
    let identity = source.identity()?;
    let listening = Listening::on(SocketAddr::from((Ipv4Addr::UNSPECIFIED, candor_fleet::PORT)));
    let listening = listening.map_err(|error| error.to_string())?;
    let port = listening.port();
    let serve = {
        let (identity, session) = (identity.clone(), agent::session_of_everything_by(keys));
        move || {
            let allowed = Allowed { reach: Reach::Everything, ..Allowed::default() };
            let options = ServeOptions { session, allowed, once: false, user_key: None };
            candor_fleet::serve(listening, &identity, options, agent::log)
                .map_err(|error| error.to_string())
        }
    };
    if pod.trim() != "0" {
        return serve().map(|()| Part::Over);
    }
    let own = OwnAgent { thread: serving(move || drop(serve()))?, port };
    let options = FleetOptions { hosts: hosts.list, ..FleetOptions::default() };
    let launch = Launch { identity, options, ranks_per_host: 1, own, _met: None };
    Ok(Part::Leads(Box::new(launch)))
}

/// Meets the other processes of a launcher on several hosts. The first of all gets the hosts; the
/// first of each other one serves until the run is over, and the rest has nothing to do.
fn met(of: &Launched) -> Result<Option<Launch>, String> {
    let Launched { rank, size, .. } = *of;
    let is_first_here = of.rank_here == Some(0);
    let text = |error: candor_fleet::KeyError| error.to_string();
    let listening = if is_first_here {
        Some(
            Listening::on(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))
                .map_err(|e| e.to_string())?,
        )
    } else {
        None
    };
    let token = if rank == 0 { candor_fleet::new_token().map_err(text)? } else { String::new() };
    let mine = listening.as_ref().map_or(String::new(), |listening| {
        let here = of.size_here.unwrap_or(0);
        format!("{}:{}|{here}|{token}", own_address(), listening.port())
    });
    let met = candor_fleet::meet(rank, size, &mine)?;
    let Some(listening) = listening else { return Ok(None) };
    let port = listening.port();
    let leaders = met.texts.iter().filter(|text| !text.is_empty()).map(|text| {
        let mut parts = text.split('|');
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default(), parts.next())
    });
    let token = leaders.clone().find_map(|(_, _, token)| token.filter(|token| !token.is_empty()));
    let identity = Identity::of_token(token.unwrap_or_default()).map_err(text)?;
    let hosts: Vec<String> = leaders.clone().map(|(address, ..)| address.to_owned()).collect();
    check_shares(leaders.map(|(_, here, _)| here))?;
    take_cpus_of_launcher(of.variable);
    let serve = {
        let (identity, token) = (identity.clone(), token_variable(&met.texts));
        move || {
            let session = agent::session_of_everything(&token);
            let allowed = Allowed { reach: Reach::Everything, ..Allowed::default() };
            let options = ServeOptions { session, allowed, once: false, user_key: None };
            candor_fleet::serve(listening, &identity, options, |_| {}).map_err(|e| e.to_string())
        }
    };
    if rank > 0 {
        return serve().map(|()| None);
    }
    // A coordinator that cannot reach its own agent says so.
    let thread = serving(move || drop(serve()))?;
    let own = OwnAgent { thread, port };
    let options = FleetOptions { hosts, at_once: true, ..FleetOptions::default() };
    let ranks_per_host = of.size_here.unwrap_or(size / options.hosts.len().max(1) as u32);
    Ok(Some(Launch { identity, options, ranks_per_host, own, _met: Some(met) }))
}

/// The thread of the agent that serves this host.
fn serving(serve: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, String> {
    let thread = thread::Builder::new().name("candor/agent".into()).spawn(serve);
    thread.map_err(|error| format!("the agent of this host gets no thread: {error}"))
}

/// Refuses keys that are named where a launcher's processes have those of their meeting.
fn check_keys(keys: &Keys, by: &str) -> Result<(), String> {
    if keys.are_named() {
        Err(format!(
            "the processes that {by} has started get keys of this run alone, and others are \
             named; remove --keys and --token-file"
        ))
    } else {
        Ok(())
    }
}

/// Checks that all hosts have the same number of ranks.
fn check_shares<'a>(shares: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let shares: Vec<u32> = shares.map(|share| share.parse().unwrap_or(0)).collect();
    match (shares.iter().min(), shares.iter().max()) {
        (Some(least), Some(most)) if least < most => Err(format!(
            "it has started {least} on one and {most} on another of the {} hosts; give each as \
             many (srun --ntasks-per-node=N, mpirun -N N, mpiexec -ppn N)",
            shares.len()
        )),
        _ => Ok(()),
    }
}

/// The token among the texts of all processes.
fn token_variable(texts: &[String]) -> String {
    let mut tokens = texts.iter().filter_map(|text| text.rsplit('|').next());
    tokens.find(|token| !token.is_empty() && !token.contains(':')).unwrap_or_default().into()
}

/// An address of this host that others reach: that of its default route, else any of its own.
fn own_address() -> String {
    // Nothing is sent: the kernel only chooses the address that would be used.
    let routed = UdpSocket::bind("0.0.0.0:0").and_then(|socket| {
        socket.connect("198.51.100.1:9")?;
        socket.local_addr()
    });
    let is_usable = |ip: &std::net::IpAddr| !ip.is_loopback() && !ip.is_unspecified();
    if let Some(ip) = routed.ok().map(|address| address.ip()).filter(is_usable) {
        return ip.to_string();
    }
    let table = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let lines: Vec<&str> = table.lines().map(str::trim).collect();
    let local = lines.windows(2).filter(|pair| pair[1].starts_with("/32 host LOCAL"));
    let addresses = local.filter_map(|pair| pair[0].strip_prefix("|-- ")?.parse::<Ipv4Addr>().ok());
    let other = addresses.into_iter().find(|address| !address.is_loopback());
    other.unwrap_or(Ipv4Addr::LOCALHOST).to_string()
}

/// Launchers bind each process to a CPU of its own, and this one has the threads of all: it takes
/// the CPUs that the launcher itself may use, so that whoever bound that one is obeyed.
fn take_cpus_of_launcher(variable: &str) {
    let cpus = launcher_of(variable).map(|pid| sched_getaffinity(Some(pid)));
    if let Some(Ok(cpus)) = cpus {
        // A refusal leaves the CPUs as they are.
        let _ = sched_setaffinity(None, &cpus);
    }
}

/// The nearest process above that is not one of the rank's own, such as a shell around it.
fn launcher_of(variable: &str) -> Option<Pid> {
    let mut pid = getppid()?;
    for _ in 0..SHELLS_MAX {
        let directory = format!("/proc/{}", pid.as_raw_nonzero());
        // The environment of another user's process cannot be read, and that is no rank of ours.
        let variables = std::fs::read(format!("{directory}/environ")).unwrap_or_default();
        if !variables.split(|byte| *byte == 0).any(|entry| {
            entry.strip_prefix(variable.as_bytes()).is_some_and(|rest| rest.starts_with(b"="))
        }) {
            return Some(pid);
        }
        let stat = std::fs::read_to_string(format!("{directory}/stat")).ok()?;
        // The name may have spaces and brackets; behind it stand the state and the parent.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        pid = Pid::from_raw(parent)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_different_numbers_of_ranks_are_refused() {
        assert_eq!(check_shares(["2", "2", "2"].into_iter()), Ok(()));
        let why = check_shares(["3", "1", "3"].into_iter()).expect_err("not the same");
        assert!(
            why.starts_with("it has started 1 on one and 3 on another of the 3 hosts"),
            "{why}"
        );
    }

    #[test]
    fn keys_are_those_of_the_meeting() {
        assert_eq!(check_keys(&Keys::default(), "srun"), Ok(()));
        let named = Keys { folder: Some("k".into()), ..Keys::default() };
        let why = check_keys(&named, "srun").expect_err("named");
        assert!(why.starts_with("the processes that srun has started get keys of this"), "{why}");
    }

    #[test]
    fn the_own_agent_ends_where_its_host_does_not_reach_itself() {
        let identity = Identity::of_password("of this test").expect("keys");
        let listening = Listening::on(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)));
        let listening = listening.expect("a port");
        let (port, of_agent) = (listening.port(), identity.clone());
        let (sender, ended) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let session = candor_fleet::SessionCommand::default();
            let allowed = Allowed::default();
            let options = ServeOptions { session, allowed, once: false, user_key: None };
            candor_fleet::serve(listening, &of_agent, options, |_| {}).expect("it serves");
            sender.send(()).expect("somebody waits");
        });
        // Nobody listens there.
        let hosts = vec!["127.0.0.1:1".to_owned()];
        let options = FleetOptions { hosts, ..FleetOptions::default() };
        let own = OwnAgent { thread, port };
        drop(Launch { identity, options, ranks_per_host: 1, own, _met: None });
        assert_eq!(ended.try_recv(), Ok(()));
    }

    #[test]
    fn the_launcher_is_above_all_that_belongs_to_the_rank() {
        assert_eq!(launcher_of("CANDOR_NO_SUCH_VARIABLE"), getppid());
        // Whatever runs the tests has a PATH, so that this one is not the launcher by it.
        assert_ne!(launcher_of("PATH"), getppid());
    }
}
