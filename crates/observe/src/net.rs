//! The network on the way to a server: which interface, and what that can carry.

use std::net::IpAddr;
use std::path::Path;

use candor_record::facts::{Fact, Link, Remote};

use crate::source::Roots;
use crate::source::parse::positive;

mod route;

/// Bytes of IP and TCP headers (with timestamps) in every packet, and of Ethernet around it:
/// header, checksum, preamble, gap.
const IN_PACKET_BYTES: u64 = 52;
const AROUND_PACKET_BYTES: u64 = 38;

/// Facts about a server before the way to it is looked up.
pub(crate) struct Server {
    /// Protocol.
    pub(crate) protocol: String,
    /// Address as the kernel says it.
    pub(crate) address: Fact<String>,
    /// The interface, where the kernel names it itself.
    pub(crate) interface: Option<Fact<String>>,
    /// Connections the traffic is spread over.
    pub(crate) connections: Option<u64>,
    /// Carried by TCP, so that its headers take their share.
    pub(crate) tcp: bool,
}

/// The server with the way to it.
pub(crate) fn remote(server: Server, roots: &Roots) -> Remote {
    let interface = server.interface.or_else(|| {
        let address = address_of(&server.address.value)?;
        route::interface(address, roots)
    });
    let name = interface.as_ref().map(|fact| fact.value.clone());
    Remote {
        protocol: server.protocol,
        server: server.address,
        members: name.as_deref().map(|name| members(name, roots)).unwrap_or_default(),
        link: name.as_deref().and_then(|name| link(name, server.tcp, roots)),
        interface,
        connections: server.connections,
    }
}

/// The address in a text such as `10.0.0.1`, `fe80::1%eth0` or `[::1]`.
fn address_of(text: &str) -> Option<IpAddr> {
    let text = text.trim_matches(['[', ']']);
    text.split('%').next()?.parse().ok()
}

/// Where an interface's attributes are.
pub(crate) fn directory(interface: &str, roots: &Roots) -> std::path::PathBuf {
    roots.sys.join("class/net").join(interface)
}

/// Interfaces that a bond bundles.
fn members(interface: &str, roots: &Roots) -> Vec<String> {
    let file = directory(interface, roots).join("bonding/slaves");
    let text = roots.text(&file).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The bandwidth of an interface. Many have no speed (loopback, virtual pairs, most virtual
/// machines): then nothing is claimed.
fn link(interface: &str, tcp: bool, roots: &Roots) -> Option<Link> {
    let directory = directory(interface, roots);
    let speed = roots.fact(&directory.join("speed"), speed)?;
    let wire_bytes_per_s = speed.value.checked_mul(125_000)?;
    let mtu = roots.fact(&directory.join("mtu"), positive).filter(|_| tcp);
    let (ceiling_bytes_per_s, share) = match mtu.filter(|mtu| mtu.value > IN_PACKET_BYTES) {
        None => (wire_bytes_per_s, String::new()),
        Some(mtu) => of_payload(wire_bytes_per_s, mtu.value),
    };
    let mb_per_s = ceiling_bytes_per_s / 1_000_000;
    Some(Link {
        kind: "network".into(),
        at: interface.to_owned(),
        arithmetic: format!("{} Mb/s ÷ 8{share} = {mb_per_s} MB/s", speed.value),
        negotiated: Fact::new(format!("{} Mb/s", speed.value), speed.from),
        ceiling_bytes_per_s,
        ..Link::default()
    })
}

/// The bandwidth left for data when every packet is full.
fn of_payload(wire_bytes_per_s: u64, mtu: u64) -> (u64, String) {
    let (payload, packet) = (mtu - IN_PACKET_BYTES, mtu.saturating_add(AROUND_PACKET_BYTES));
    let carried = u128::from(wire_bytes_per_s) * u128::from(payload) / u128::from(packet);
    let share = format!(" × {payload}/{packet} (TCP, MTU {mtu})");
    (u64::try_from(carried).unwrap_or(u64::MAX), share)
}

/// Mb/s; the kernel says -1, or the largest number, where it does not know.
fn speed(text: &str) -> Option<u64> {
    positive(text).filter(|&speed| speed < u64::from(u32::MAX))
}

/// The server of a SCSI disk that is reached by iSCSI: its place contains `sessionN`.
pub(crate) fn iscsi(node: &crate::source::node::Node, roots: &Roots) -> Option<Remote> {
    let session = node.named_above(|name| crate::source::node::is_numbered(name, "session"))?;
    let host = node.named_above(|name| crate::source::node::is_numbered(name, "host"));
    let all = roots.sys.join("class/iscsi_connection");
    let prefix = session.replace("session", "connection") + ":";
    let mine = || roots.names(&all).into_iter().filter(|name| name.starts_with(&prefix));
    let address_in = |directory: &Path| {
        ["address", "persistent_address"].into_iter().find_map(|file| {
            roots.fact(&directory.join(file), |text| address_of(text).map(|_| text.to_owned()))
        })
    };
    let address = mine().find_map(|name| address_in(&all.join(name)))?;
    let interface = host.and_then(|host| {
        let file = roots.sys.join("class/iscsi_host").join(host).join("netdev");
        // Software initiators say `<NULL>` or `default`.
        roots.fact(&file, |name| roots.there(&directory(name, roots)).then(|| name.to_owned()))
    });
    let connections = Some(mine().count() as u64);
    let server = Server { protocol: "iSCSI".into(), address, interface, connections, tcp: true };
    Some(remote(server, roots))
}

#[cfg(test)]
mod tests;
