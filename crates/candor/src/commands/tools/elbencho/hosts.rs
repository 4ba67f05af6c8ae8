//! Several hosts: services that are agents of candor, and who leads them.
//!
//! elbencho's services obey any client. These speak candor's own protocol and obey clients that
//! have the key of their user, or their password.

use std::net::SocketAddr;
use std::time::Duration;

use candor_elbencho::options::{HostsOptions, Options, Reading};
use candor_elbencho::plan::{self, Lowered};
use candor_fleet::{Chore, FleetOptions, Identity};
use candor_front::Diagnostic;
use candor_plan::{PathText, path_of};

use super::COMPLAINTS;
use crate::commands::foreign::host::ThisHost;
use crate::commands::foreign::hosts::Hosts;
use crate::commands::foreign::service::{Detached, Service};
use crate::hosts::Keys;
use crate::screen;

fn keys(hosts: &HostsOptions) -> Keys {
    let password_file = hosts.secret_file.as_deref().map(path_of);
    Keys { password_file, ..Keys::default() }
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
        Err(sentence) => COMPLAINTS.sentence(&sentence),
    })
}

fn told(identity: &Identity, hosts: &HostsOptions, chore: Chore) -> Result<(), String> {
    if hosts.list.is_empty() {
        return Err("no service is named; add --hosts".into());
    }
    let addresses = hosts.addresses();
    let failed = candor_fleet::tell(identity, &addresses, chore);
    let (mut lines, mut sentences) = (String::new(), Vec::new());
    for address in &addresses {
        match failed.iter().find(|(of, _)| of == address) {
            None => lines += &format!("{address}: OK\n"),
            Some(_) if is_absent(address) => lines += &format!("{address}: Service unreachable\n"),
            Some((_, why)) => sentences.push(format!("{address}: {why}")),
        }
    }
    screen::data(&lines)?;
    if sentences.is_empty() { Ok(()) } else { Err(sentences.join("; ")) }
}

/// True if no service listens at an address: a request to end it has nothing to do.
fn is_absent(address: &str) -> bool {
    let connected = std::net::TcpStream::connect(address);
    connected.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// Serves until it is told to quit; in the background, unless it is to stay.
fn serve(options: &Options) -> Result<(), String> {
    let hosts = &options.hosts;
    let service = Service {
        tool: "elbencho",
        listen: SocketAddr::from(([0, 0, 0, 0], hosts.port)),
        paths: options.paths.iter().map(|path| path_of(path)).collect(),
        keys: &keys(hosts),
        in_background: !hosts.foreground,
    };
    if let Some(Detached { process, log }) = service.serve()? {
        let port = hosts.port;
        println!("service started on port {port}, process {process}, log {}", log.text());
    }
    Ok(())
}

/// A benchmark on several hosts: its paths are theirs.
pub fn lowered(
    reading: &Reading,
    identity: &Identity,
    options: &FleetOptions,
) -> Result<Result<Lowered, Vec<Diagnostic>>, String> {
    let there = ThisHost::with_paths_of(Hosts::join(identity, options)?);
    let lowered = plan::lower(reading, &there);
    there.looked().map(|()| lowered)
}
