//! Parts of the path that several devices or targets share: uplinks, network interfaces.

use candor_record::Snapshot;
use candor_record::facts::{DeviceFacts, Link, Remote, value};
use candor_record::fmt::ratio;
use candor_record::http::ServerLink;

use crate::bound::{Bound, Kind, app_rates, device_rates};
use crate::object_jobs;
use crate::observed::Observed;

/// A link on the way to one or more devices.
pub struct Hop<'a> {
    /// The link.
    pub link: &'a Link,
    /// The devices behind it.
    pub devices: Vec<&'a DeviceFacts>,
}

impl Hop<'_> {
    /// Names of the devices behind it.
    pub fn names(&self) -> String {
        let mut names: Vec<_> = self.devices.iter().map(|device| device.name.as_str()).collect();
        names.sort_unstable();
        names.join(", ")
    }

    /// The hop's ceiling and how much of it all devices behind it used.
    pub fn bound(&self, observed: &Observed) -> Bound {
        let rates = self.devices.iter().map(|device| device_rates(observed, device));
        let rates: Option<Vec<(f64, f64)>> = rates.collect();
        fn sum(rates: Vec<(f64, f64)>) -> (f64, f64) {
            rates.into_iter().fold((0.0, 0.0), |sum, rate| (sum.0 + rate.0, sum.1 + rate.1))
        }
        let element = format!("{} link of {}", self.link.kind, self.names());
        Bound::of_link(observed, self.link, &element, rates.map(sum))
    }
}

/// Every link on the way to the devices of a phase, each once.
pub fn hops<'a>(observed: &Observed<'a>) -> Vec<Hop<'a>> {
    let mut hops: Vec<Hop<'a>> = Vec::new();
    for device in observed.devices() {
        let way = if device.way.is_empty() { device.link.as_slice() } else { &device.way };
        for link in way {
            match hops.iter_mut().find(|hop| hop.link.is_same(link)) {
                Some(hop) => hop.devices.push(device),
                None => hops.push(Hop { link, devices: vec![device] }),
            }
        }
    }
    hops
}

/// Ceilings of the links that several devices share. Networks have their own.
pub fn bounds(observed: &Observed) -> Vec<Bound> {
    let shared = hops(observed).into_iter().filter(|hop| hop.devices.len() > 1);
    let shared = shared.filter(|hop| hop.link.kind != "network");
    let bounds = shared.map(|hop| {
        let mut bound = hop.bound(observed);
        bound.kind = Kind::Shared;
        bound.ceiling.element = format!("{} ({})", bound.ceiling.element, hop.link.at);
        bound
    });
    bounds.collect()
}

/// Ceilings of the networks to the servers of the targets' filesystems, each interface once.
pub fn networks(observed: &Observed) -> Vec<Bound> {
    let mut seen: Vec<&Remote> = Vec::new();
    for remote in observed.targets().into_iter().filter_map(|target| target.remote.as_ref()) {
        if !seen.iter().any(|other| value(&other.interface) == value(&remote.interface)) {
            seen.push(remote);
        }
    }
    let alone = seen.len() == 1 && observed.targets().iter().all(|target| target.remote.is_some());
    let bound = |remote: &&Remote| {
        let link = remote.link.as_ref()?;
        let passed = if alone { app_rates(observed) } else { interface_rates(observed, remote) };
        Some(Bound::of_link(observed, link, &network_of(&link.at), passed))
    };
    seen.iter().filter_map(bound).collect()
}

/// Ceilings of the networks to the servers of objects, each interface once. With several interfaces
/// the share of each is unknown.
pub fn server_links(observed: &Observed) -> Vec<Bound> {
    let jobs = object_jobs::ran(observed);
    let mut links: Vec<&ServerLink> = Vec::new();
    for link in jobs.iter().flat_map(|job| &job.http.links) {
        if !links.contains(&link) {
            links.push(link);
        }
    }
    let requests: Vec<_> = jobs.iter().flat_map(|job| &job.http.operations).collect();
    let received: f64 = requests.iter().map(|op| op.received_bytes as f64).sum();
    let sent: f64 = requests.iter().map(|op| op.sent_bytes as f64).sum();
    let rate = ratio(received.max(sent), observed.elapsed_s());
    let passed = Some(rate).filter(|_| links.len() == 1);
    let bounds = links.into_iter().filter_map(|link| {
        let element = network_of(&link.interface);
        let ceiling = link.ceiling_bytes_per_s? as f64;
        let arithmetic = &link.arithmetic;
        Some(Bound::of_bytes(observed, Kind::Network, &element, ceiling, arithmetic, passed))
    });
    bounds.collect()
}

/// Name of the ceiling of an interface.
pub fn network_of(interface: &str) -> String {
    format!("network of {interface}")
}

/// Bytes that an interface received and sent between two moments.
pub fn interface_bytes(from: &Snapshot, to: &Snapshot, remote: &Remote) -> Option<(f64, f64)> {
    let name = value(&remote.interface)?;
    let of = |snapshot: &Snapshot| {
        let found = snapshot.state.interfaces.iter().find(|i| i.interface == *name)?;
        Some((found.received_bytes, found.sent_bytes))
    };
    let (before, after) = (of(from)?, of(to)?);
    Some((after.0.checked_sub(before.0)? as f64, after.1.checked_sub(before.1)? as f64))
}

fn interface_rates(observed: &Observed, remote: &Remote) -> Option<(f64, f64)> {
    let (from, to) = (&observed.host.before, &observed.host.after);
    let (received, sent) = interface_bytes(from, to, remote)?;
    Some((ratio(received, observed.window_s()), ratio(sent, observed.window_s())))
}
