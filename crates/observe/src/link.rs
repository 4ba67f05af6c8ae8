//! The link between host and device: what was negotiated and what it can carry.
//!
//! On the way to a device there may be several links: a SATA cable behind a PCIe slot. The one
//! that can carry least is the device's link. A speed that the kernel calls unknown is no fact.

mod pcie;
mod sas;
mod sata;
mod usb;

use candor_record::facts::{DeviceFacts, DeviceKind, Link};

use crate::node::{Node, is_numbered};

/// The narrowest link on the way to a device. Paravirtual devices have none, whatever the
/// emulated slot they sit in claims.
pub(crate) fn of(node: &Node, kind: DeviceKind) -> Option<Link> {
    if kind == DeviceKind::Partition || is_paravirtual(node) {
        return None;
    }
    let links = [sata::of(node), sas::of(node), usb::of(node), pcie::of(node)];
    links.into_iter().flatten().min_by_key(|link| link.ceiling_bytes_per_s)
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

/// What a serial line carries after its coding, in MB/s, and how a person would write that down.
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
