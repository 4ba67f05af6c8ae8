//! Which interface leads to an address, by the kernel's main routing tables.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use candor_record::facts::Fact;

use crate::source::Roots;

/// A way to some addresses.
struct Route {
    prefix_bits: u32,
    metric: u64,
    interface: String,
}

/// The interface on the way to an address: the longest matching prefix, then the lowest metric.
/// Addresses of this host itself are not in these tables; only the loopback's are known here.
pub(super) fn interface(address: IpAddr, roots: &Roots) -> Option<Fact<String>> {
    // An IPv4 address may be written as an IPv6 one.
    let address = address.to_canonical();
    if address.is_loopback() {
        return Some(Fact::new("lo".into(), "the address"));
    }
    let (file, parse): (_, fn(&str, IpAddr) -> Option<Route>) = match address {
        IpAddr::V4(_) => ("net/route", of_v4),
        IpAddr::V6(_) => ("net/ipv6_route", of_v6),
    };
    let path = roots.proc.join(file);
    let table = roots.text(&path)?;
    let ways = table.lines().filter_map(|line| parse(line, address));
    let best = ways.min_by_key(|way| (u32::MAX - way.prefix_bits, way.metric))?;
    Some(Fact::new(best.interface, path.display().to_string()))
}

/// `Iface Destination Gateway Flags RefCnt Use Metric Mask …`, addresses in hexadecimal with the
/// bytes of the host's order.
fn of_v4(line: &str, address: IpAddr) -> Option<Route> {
    let IpAddr::V4(address) = address else { return None };
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [interface, destination, _, flags, _, _, metric, mask, ..] = fields[..] else {
        return None;
    };
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    let of_host = |number: u32| u32::from(Ipv4Addr::from(number.to_ne_bytes()));
    let (destination, mask) = (of_host(hex(destination)?), of_host(hex(mask)?));
    let is_up = hex(flags)? & 1 == 1;
    let leads = is_up && u32::from(address) & mask == destination;
    leads.then(|| Route {
        prefix_bits: mask.count_ones(),
        metric: metric.parse().unwrap_or(u64::MAX),
        interface: interface.to_owned(),
    })
}

/// `destination length source length next-hop metric … flags interface`, all in hexadecimal.
fn of_v6(line: &str, address: IpAddr) -> Option<Route> {
    let IpAddr::V6(address) = address else { return None };
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [destination, length, _, _, _, metric, .., interface] = fields[..] else { return None };
    let destination = u128::from_str_radix(destination, 16).ok()?;
    let prefix_bits = u32::from_str_radix(length, 16).ok().filter(|bits| *bits <= 128)?;
    let mask = u128::MAX.checked_shl(128 - prefix_bits).unwrap_or(0);
    let leads = u128::from(address) & mask == u128::from(Ipv6Addr::from(destination)) & mask;
    // What cannot be reached is routed to the loopback.
    (leads && interface != "lo").then(|| Route {
        prefix_bits,
        metric: u64::from_str_radix(metric, 16).unwrap_or(u64::MAX),
        interface: interface.to_owned(),
    })
}
