//! Several hosts: services that are agents of candor, and who leads them.
//!
//! elbencho's services do what anyone tells them. These speak candor's own protocol, by keys or a
//! token that all hosts have, and serve the paths that they were started with.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use candor_dialects::elbencho::options::{HostsOptions, Options, Reading};
use candor_dialects::elbencho::plan::{self, Lowered};
use candor_dialects::elbencho::setup::Host;
use candor_dialects::kit::{Diagnostic, Found};
use candor_fleet::{Chore, Fleet, FleetOptions, Identity, Listening, ServeOptions};
use candor_plan::{List, ListError, Listing};
use candor_record::facts::PathKind;
use candor_run::{Channels, RunError, Runner, Survey};

use super::host::ThisHost;
use super::{COMPLAINTS, WRONG};
use crate::commands::agent;
use crate::hosts::Keys;

/// The variable with the paths that a service serves, with colons between them.
const ALLOW: &str = "CANDOR_ALLOW";

/// Set for a service in the background.
const DETACHED: &str = "CANDOR_SERVICE_DETACHED";

fn keys(hosts: &HostsOptions) -> Keys {
    Keys { folder: None, token_file: hosts.secret_file.clone().map(PathBuf::from) }
}

/// The hosts that run a benchmark, where it names some.
pub fn fleet(hosts: &HostsOptions) -> Result<Option<(Identity, FleetOptions)>, String> {
    if hosts.list.is_empty() {
        return Ok(None);
    }
    let identity = keys(hosts).identity()?;
    let options = FleetOptions {
        hosts: hosts.addresses(),
        at_once: true,
        wait: Duration::from_secs(hosts.wait_s),
        ..FleetOptions::default()
    };
    Ok(Some((identity, options)))
}

/// Does what is no benchmark: serving, or a word to services. None where there is nothing of it.
pub fn chore(options: &Options) -> Option<u8> {
    let hosts = &options.hosts;
    let done = if hosts.service {
        serve(options)
    } else if hosts.quit || hosts.interrupt {
        let chore = if hosts.quit { Chore::Quit } else { Chore::Interrupt };
        keys(hosts).identity().and_then(|identity| told(&identity, hosts, chore))
    } else {
        return None;
    };
    Some(match done {
        Ok(()) => 0,
        Err(sentence) => {
            COMPLAINTS.sentence(&sentence);
            WRONG
        }
    })
}

fn told(identity: &Identity, hosts: &HostsOptions, chore: Chore) -> Result<(), String> {
    if hosts.list.is_empty() {
        return Err("no service is named; add --hosts".into());
    }
    let failed = candor_fleet::tell(identity, &hosts.addresses(), chore);
    let sentences: Vec<String> =
        failed.into_iter().map(|(address, why)| format!("{address}: {why}")).collect();
    if sentences.is_empty() { Ok(()) } else { Err(sentences.join("; ")) }
}

/// Serves until it is told to quit; in the background, unless it is to stay.
fn serve(options: &Options) -> Result<(), String> {
    let hosts = &options.hosts;
    let identity = keys(hosts).identity()?;
    let allowed = std::env::var_os(ALLOW).unwrap_or_default();
    let allowed = std::env::split_paths(&allowed).filter(|path| !path.as_os_str().is_empty());
    let paths: Vec<PathBuf> = options.paths.iter().map(PathBuf::from).chain(allowed).collect();
    if paths.is_empty() {
        return Err(format!(
            "a service serves the paths that it is told, and none is named; add them behind \
             --service, or set {ALLOW}=DIR:DIR"
        ));
    }
    if !hosts.foreground && std::env::var_os(DETACHED).is_none() {
        return detach(hosts.port);
    }
    if std::env::var_os(DETACHED).is_some() {
        // It has no terminal then whose end would be its own.
        let _ = rustix::process::setsid();
    }
    let listen = SocketAddr::from(([0, 0, 0, 0], hosts.port));
    let session = agent::session_words(&paths, hosts.secret_file.as_deref());
    let options = ServeOptions { session, once: false };
    let served = Listening::on(listen)
        .and_then(|listening| candor_fleet::serve(listening, &identity, options, agent::log));
    served.map_err(|error| error.to_string())
}

/// Starts the same command line once more in the background.
fn detach(port: u16) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let log = std::env::temp_dir().join(format!("candor-service-{port}.log"));
    let file = File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut command = Command::new(program);
    // Called as elbencho, the name is gone with the path of the program.
    if words.first().is_none_or(|word| word != "elbencho") {
        command.arg("elbencho");
    }
    command.args(words).env(DETACHED, "1");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    // A port that is taken is told at once.
    std::thread::sleep(Duration::from_millis(300));
    match child.try_wait() {
        Ok(None) => {
            println!(
                "service started on port {port}, process {}, log {}",
                child.id(),
                log.display()
            );
            Ok(())
        }
        _ => Err(std::fs::read_to_string(&log).unwrap_or_default().trim().to_owned()),
    }
}

/// A benchmark on several hosts: its paths are theirs.
pub fn lowered(
    reading: &Reading,
    (identity, options): (Identity, FleetOptions),
) -> Result<Result<Lowered, Vec<Diagnostic>>, String> {
    let fleet = Fleet::join(identity, &options, &Channels::default());
    let fleet = fleet.map_err(|error| error.to_string())?;
    let hosts = Hosts { fleet, wrong: RefCell::default() };
    let lowered = plan::lower(reading, &hosts);
    match hosts.wrong.into_inner() {
        Some(sentence) => Err(sentence),
        None => Ok(lowered),
    }
}

/// Paths of the hosts of a fleet; what else is asked is this host's.
struct Hosts {
    fleet: Fleet,
    /// Reason why a host could not look.
    wrong: RefCell<Option<String>>,
}

impl Host for Hosts {
    fn found(&self, path: &Path) -> Found {
        let Survey { kind, length_bytes, .. } = match self.fleet.survey(path) {
            Ok(survey) => survey,
            Err(RunError::Host { sentence, exit_code: 2 })
                if sentence.contains("does not exist") =>
            {
                return Found::Nothing;
            }
            Err(error) => {
                self.wrong.borrow_mut().get_or_insert(error.to_string());
                return Found::Nothing;
            }
        };
        match (kind, length_bytes) {
            (PathKind::Missing, _) => Found::Nothing,
            (PathKind::Directory, _) => Found::Directory,
            (PathKind::File, Some(bytes)) => Found::File(bytes),
            (PathKind::Device, Some(bytes)) => Found::Device(bytes),
            _ => Found::Other,
        }
    }

    fn is_among_devices(&self, path: &Path) -> bool {
        ThisHost.is_among_devices(path)
    }

    fn cpus(&self) -> Vec<u32> {
        ThisHost.cpus()
    }

    fn nodes(&self) -> Vec<u32> {
        ThisHost.nodes()
    }

    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        ThisHost.node_cpus(node)
    }

    fn list(&self, root: &Path, listing: &Listing) -> Result<List, ListError> {
        ThisHost.list(root, listing)
    }

    fn now(&self) -> (u64, u32) {
        ThisHost.now()
    }
}
