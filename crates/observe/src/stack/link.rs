//! The link between host and device: what was negotiated and what it can carry.
//!
//! On the way to a device there may be several links: a SATA cable behind a PCIe slot. The one
//! that can carry least is the device's link. A speed that the kernel calls unknown is no fact.

mod pcie;
mod sas;
mod sata;
mod usb;

use std::path::Path;

use candor_record::facts::{DeviceFacts, DeviceKind, Fact, Link};

use crate::source::node::{Node, is_numbered};

/// Every link on the way to a device, from the host's end to the device's. Paravirtual devices
/// have none, whatever the emulated slot they sit in claims.
pub(crate) fn way(node: &Node, kind: DeviceKind) -> Vec<Link> {
    if kind == DeviceKind::Partition || is_paravirtual(node) {
        return Vec::new();
    }
    let mut links: Vec<Link> = sata::of(node).into_iter().collect();
    links.extend(sas::of(node));
    links.extend(usb::of(node));
    links.extend(pcie::of(node));
    links.reverse();
    links
}

/// The narrowest link of a way; of several alike the one nearest to the device.
pub(crate) fn narrowest(way: &[Link]) -> Option<Link> {
    way.iter().rev().min_by_key(|link| link.ceiling_bytes_per_s).cloned()
}

/// The driver of a USB drive, which decides how many commands it is given at once.
pub(crate) fn usb_driver(node: &Node) -> Option<Fact<String>> {
    node.above().map(|path| path.join("driver")).find_map(|link| {
        let name = node
            .roots
            .link_name(&link)
            .filter(|name| matches!(name.as_str(), "usb-storage" | "uas"))?;
        Some(Fact::new(name, link.display().to_string()))
    })
}

/// The last name of a place, which is how a person would call it.
fn name_of(directory: &Path) -> String {
    directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn is_paravirtual(node: &Node) -> bool {
    node.named_above(|name| is_numbered(name, "virtio")).is_some()
}

/// Whether a device of that kind hangs on a link whose speed a kernel on bare metal reports.
pub(crate) fn is_expected(device: &DeviceFacts) -> bool {
    use DeviceKind::{Ata, Nvme, NvmeFabric, Scsi, Usb};
    let wired = matches!(device.kind, Nvme | NvmeFabric | Ata | Scsi | Usb);
    wired && device.below.is_empty()
}

/// Bandwidth of a serial line after its coding, in MB/s, and how a person would write that down.
struct Line {
    /// Megabytes per second.
    mb_per_s: u64,
    /// Without the result: `6.0 Gb/s × 8/10 ÷ 8`.
    arithmetic: String,
}

/// A SATA or SAS line of that rate in Gb/s.
fn line(gbit_per_s: f64) -> Option<Line> {
    let (code, mb_per_s) = match tenths(gbit_per_s) {
        15 => ("8/10", 150),
        30 => ("8/10", 300),
        60 => ("8/10", 600),
        120 => ("8/10", 1200),
        225 => ("128/150", 2400),
        _ => return None,
    };
    Some(Line { mb_per_s, arithmetic: format!("{gbit_per_s:.1} Gb/s × {code} ÷ 8") })
}

/// Tenths of a rate, so that rates can be compared exactly.
fn tenths(rate: f64) -> u64 {
    // A float that is out of range becomes the nearest number that is in it.
    (rate * 10.0).round() as u64
}

/// Megabytes, as bytes.
fn megabytes(mb: u64) -> u64 {
    mb.saturating_mul(1_000_000)
}

#[cfg(test)]
#[path = "link/tests.rs"]
mod tests;
