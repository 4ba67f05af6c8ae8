//! `--server` and `--client`: servers are agents of candor, clients are hosts with such a server.
//!
//! fio's servers obey any client. These speak candor's own protocol and obey clients that have the
//! key of their user.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::Path;

use candor_fio::ast::{Address, Ast};
use candor_fio::flags::Flags;
use candor_fio::job::ClientName;
use candor_fio::lower::{self, Lowered};
use candor_fio::options;
use candor_fleet::{FleetOptions, Identity};
use candor_front::Diagnostic;
use candor_plan::PathText;

use crate::commands::foreign::host::ThisHost;
use crate::commands::foreign::hosts::Hosts;
use crate::commands::foreign::service::{Detached, Service};
use crate::hosts::Keys;

/// Serves clients until it is ended.
pub fn serve(address: &Address, pid_file: Option<&Path>) -> Result<(), String> {
    let listen = match address.host.as_str() {
        "" => SocketAddr::from((Ipv4Addr::UNSPECIFIED, address.port)),
        host => {
            let found = (host, address.port).to_socket_addrs();
            let mut found = found.map_err(|why| format!("{host}: {why}"))?;
            found.next().ok_or_else(|| format!("{host} has no address"))?
        }
    };
    let service = Service {
        tool: "fio",
        listen,
        paths: Vec::new(),
        keys: &Keys::default(),
        in_background: pid_file.is_some(),
    };
    let detached = service.serve()?;
    if let (Some(Detached { process, .. }), Some(file)) = (detached, pid_file) {
        candor_files::replace(file, format!("{process}\n"))
            .map_err(|error| format!("{}: {error}", file.text()))?;
    }
    Ok(())
}

/// Clients that run the jobs.
#[derive(Clone)]
pub struct Clients {
    /// How they let us in.
    pub identity: Identity,
    /// Where they are.
    pub options: FleetOptions,
    /// Their names.
    pub names: Vec<ClientName>,
}

/// Options of jobs and flags that clients cannot do.
pub fn refused(ast: &Ast, flags: &Flags) -> Vec<Diagnostic> {
    if ast.clients.is_empty() {
        return Vec::new();
    }
    let of = |at, what: &str, why: &str, remedy: &str| {
        Diagnostic::new(at, "client", what, format!("{what} {why}")).remedy(remedy)
    };
    let flag = |name: &str| ast.flags.iter().find(|flag| flag.name == name).map(|flag| flag.at);
    let idle = flags.idle.and_then(|_| flag("idle-prof"));
    let mut all: Vec<Diagnostic> = idle
        .map(|at| of(at, "--idle-prof", "measures this host", "start it on each of the clients"))
        .into_iter()
        .collect();
    for section in &ast.sections {
        let asked = options::read(ast, section).options;
        let at = |name: &str| asked.given.at(name).unwrap_or(section.name.at);
        if !asked.trace.read.is_empty() {
            let why = "would replay one trace of this host on all clients";
            all.push(of(at("read_iolog"), "read_iolog", why, "start fio on each of the clients"));
        }
        if asked.files.opendir.is_some() {
            let why = "would list a directory of this host for all clients";
            all.push(of(at("opendir"), "opendir", why, "name the files by filename"));
        }
        if asked.verify.state_load {
            let why = "would load one state of this host on all clients";
            let remedy = "start fio on each of the clients";
            all.push(of(at("verify_state_load"), "verify_state_load", why, remedy));
        }
    }
    all
}

/// The jobs as the clients run them, each by itself.
pub fn lowered(ast: &Ast) -> Result<Result<(Lowered, Clients), Vec<Diagnostic>>, String> {
    let identity = Keys::default().identity()?;
    let hosts: Vec<String> = ast.clients.iter().map(|client| client.address.text()).collect();
    let options = FleetOptions { hosts, at_once: true, ..FleetOptions::default() };
    let own = ast.clients.first().and_then(|client| own_address(&client.address));
    let hosts = Hosts::join(&identity, &options)?;
    let names = hosts.names().into_iter();
    let there = ThisHost { elsewhere: vec![hosts], client: own };
    let addresses = ast.clients.iter().map(|client| &client.address);
    let names = names
        .zip(addresses)
        .map(|(name, address)| ClientName { name, host: address.host.clone(), port: address.port })
        .collect();
    let lowered = lower::lower(ast, &there);
    there.looked()?;
    Ok(lowered.map(|mut lowered| {
        lowered.plan.hosts = u32::try_from(ast.clients.len()).unwrap_or(u32::MAX);
        lowered.plan.hosts_apart = lowered.plan.hosts > 1;
        (lowered, Clients { identity, options, names })
    }))
}

/// The address under which a server knows this host.
fn own_address(server: &Address) -> Option<String> {
    let to = (server.host.as_str(), server.port).to_socket_addrs().ok()?.next()?;
    let any = match to {
        SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
    };
    // Nothing is sent: the kernel only chooses the address that would be used.
    let socket = UdpSocket::bind(any).ok()?;
    socket.connect(to).ok()?;
    Some(socket.local_addr().ok()?.ip().to_string())
}
