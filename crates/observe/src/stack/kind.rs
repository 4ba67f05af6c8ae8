//! Driver of a block device.

use candor_record::facts::DeviceKind;

use crate::source::Roots;
use crate::source::node::{Node, is_numbered};
use crate::stack::nvme;

/// The driver of a device: by what its directory holds, then by its name, then by its bus.
pub(crate) fn of(node: &Node, roots: &Roots) -> DeviceKind {
    by_directory(node).or_else(|| by_name(&node.name)).unwrap_or_else(|| by_bus(node, roots))
}

fn by_directory(node: &Node) -> Option<DeviceKind> {
    let marks = [
        ("partition", DeviceKind::Partition),
        ("loop", DeviceKind::Loop),
        ("dm", DeviceKind::Dm),
        ("md", DeviceKind::Md),
    ];
    marks.into_iter().find(|(mark, _)| node.has(mark)).map(|(_, kind)| kind)
}

/// Drivers without a bus name their devices themselves.
pub(crate) fn by_name(name: &str) -> Option<DeviceKind> {
    let prefixes = [
        ("loop", DeviceKind::Loop),
        ("bcache", DeviceKind::Bcache),
        ("dm-", DeviceKind::Dm),
        ("md", DeviceKind::Md),
        ("zram", DeviceKind::Zram),
        ("ram", DeviceKind::Brd),
        ("nbd", DeviceKind::Nbd),
        ("nullb", DeviceKind::NullBlk),
    ];
    let starts = |prefix: &str| name.strip_prefix(prefix).unwrap_or("").as_bytes().first().copied();
    // Persistent memory may be `pmem0`, `pmem0.1` or `pmem0s`.
    if starts("pmem").is_some_and(|byte| byte.is_ascii_digit()) {
        return Some(DeviceKind::Pmem);
    }
    prefixes.into_iter().find(|(prefix, _)| is_numbered(name, prefix)).map(|(_, kind)| kind)
}

fn by_bus(node: &Node, roots: &Roots) -> DeviceKind {
    let bus = node.bus().unwrap_or_default();
    let named = |prefix: &str| node.name.starts_with(prefix);
    if bus.starts_with("nvme") || (bus.is_empty() && named("nvme")) {
        let fabric = nvme::is_fabric(node, roots);
        return if fabric { DeviceKind::NvmeFabric } else { DeviceKind::Nvme };
    }
    if bus == "virtio" || (bus.is_empty() && named("vd")) {
        return DeviceKind::Virtio;
    }
    if bus == "scsi" || (bus.is_empty() && (named("sd") || named("sr"))) {
        return scsi(node);
    }
    // Recent kernels call a null_blk device as the user does, so only its driver's number tells.
    let nullb = driver(node, roots).is_some_and(|driver| driver == "nullb");
    if nullb { DeviceKind::NullBlk } else { DeviceKind::Other }
}

/// The name under which the driver of a device has its major number.
fn driver(node: &Node, roots: &Roots) -> Option<String> {
    let number = node.number();
    let (major, _) = number.split_once(':')?;
    let text = roots.text(&roots.proc.join("devices"))?;
    let (_, blocks) = text.split_once("Block devices:")?;
    let mut pairs = blocks.lines().filter_map(|line| line.trim().split_once(' '));
    pairs.find(|(of, _)| *of == major).map(|(_, name)| name.to_owned())
}

/// SCSI is spoken over many wires; the places above the disk tell which.
fn scsi(node: &Node) -> DeviceKind {
    if node.named_above(|name| is_numbered(name, "ata")).is_some() {
        return DeviceKind::Ata;
    }
    if node.named_above(|name| is_numbered(name, "usb")).is_some() {
        return DeviceKind::Usb;
    }
    DeviceKind::Scsi
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_bus() {
        assert_eq!(by_name("zram0"), Some(DeviceKind::Zram));
        assert_eq!(by_name("ram15"), Some(DeviceKind::Brd));
        assert_eq!(by_name("pmem0s"), Some(DeviceKind::Pmem));
        assert_eq!(by_name("dm-12"), Some(DeviceKind::Dm));
        assert_eq!(by_name("md127"), Some(DeviceKind::Md));
        for other in ["sda", "nvme0n1", "ramdisk", "md", "loop", "pmem", ""] {
            assert_eq!(by_name(other), None, "{other}");
        }
    }
}
