//! From a device to everything below it: partition to disk, array to members, loop to backing.

pub(crate) mod holders;
mod kind;
mod link;
pub(crate) mod mapper;
mod nvme;
mod queue;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use candor_plan::path_of;
use candor_record::facts::{
    ArrayFacts, DeviceFacts, DeviceKind, Fact, FileFacts, LoopBacking, Mapping, QueueFacts, Remote,
    ScsiFacts,
};

use crate::net;
use crate::path::files;
use crate::path::layers::{self, Access};
use crate::path::mounts;
use crate::path::resolve::device_of_path;
use crate::source::Roots;
use crate::source::missing::MissingFacts;
use crate::source::node::{Node, is_numbered};
use crate::source::parse::{flag, number, positive, sectors, words};
use crate::source::stat::FileType;
use crate::stack::holders::holders;
use crate::stack::mapper::Table;

/// The devices of those names and all devices below them, each once, tops first.
pub(crate) fn collect(
    tops: &[String],
    roots: &Roots,
    missing_facts: &mut MissingFacts,
) -> Vec<DeviceFacts> {
    let mut devices: Vec<DeviceFacts> = Vec::new();
    let mut waiting: VecDeque<String> = tops.iter().cloned().collect();
    while let Some(name) = waiting.pop_front() {
        if devices.iter().any(|device| device.name == name) {
            continue;
        }
        let Some(node) = Node::open(&name, roots) else {
            let path = roots.block(&name).display().to_string();
            missing_facts.note(format!("device {name}"), format!("{path} is not there"), "");
            continue;
        };
        let device = describe(&node, roots, missing_facts);
        waiting.extend(device.below.iter().cloned());
        devices.push(device);
    }
    without_cycles(devices)
}

/// A device of which nothing but the name is known.
pub(crate) fn by_name_alone(name: String) -> DeviceFacts {
    let kind = kind::by_name(&name).unwrap_or(DeviceKind::Other);
    DeviceFacts { name, kind, ..DeviceFacts::default() }
}

fn describe(node: &Node, roots: &Roots, missing_facts: &mut MissingFacts) -> DeviceFacts {
    let kind = kind::of(node, roots);
    let disk = node.disk(roots);
    let owner = disk.as_ref().unwrap_or(node);
    let remote = remote(node, kind, roots);
    let table = (kind == DeviceKind::Dm).then(|| mapper::table(node, roots)).flatten();
    let mut way = link::way(node, kind);
    way.extend(remote.as_ref().and_then(|remote| remote.link.clone()));
    let device = DeviceFacts {
        name: node.name.clone(),
        number: node.number(),
        kind,
        size_bytes: node.text("size").and_then(|text| sectors(&text)).unwrap_or(0),
        below: below(node, kind, table.as_ref(), roots),
        model: owner.fact("device/model", words),
        partition_start_bytes: partition_start(node),
        bio_based: queue::bio_based(node),
        counts_io: counts_io(owner),
        queue: queue::of(node, owner),
        loop_backing: loop_backing(node, roots),
        link: link::narrowest(&way),
        way,
        driver: (kind == DeviceKind::Usb).then(|| link::usb_driver(node)).flatten(),
        array: (kind == DeviceKind::Md).then(|| array(node)),
        mapping: (kind == DeviceKind::Dm).then(|| mapping(node, table.as_ref(), roots)),
        scsi: (kind == DeviceKind::Scsi).then(|| scsi(node)).flatten(),
        nvme: is_nvme(kind).then(|| nvme::facts(node)),
        remote,
        numa_node: numa_node(node),
        held_by: holders(&node.name, roots),
    };
    note_missing(&device, missing_facts);
    device
}

/// Names of the devices directly below, as far as sysfs has them.
fn below(node: &Node, kind: DeviceKind, table: Option<&Table>, roots: &Roots) -> Vec<String> {
    let names = match kind {
        DeviceKind::Partition => node.disk(roots).map(|disk| disk.name).into_iter().collect(),
        DeviceKind::Loop => backing_device(node, roots).into_iter().collect(),
        DeviceKind::Nvme | DeviceKind::NvmeFabric => nvme::paths_of(node, roots),
        DeviceKind::Bcache => tiers(node),
        DeviceKind::Dm => mapped(node, table, roots),
        _ => node.names("slaves"),
    };
    names.into_iter().filter(|name| roots.there(&roots.block(name))).collect()
}

fn is_nvme(kind: DeviceKind) -> bool {
    matches!(kind, DeviceKind::Nvme | DeviceKind::NvmeFabric)
}

/// The host at the other end of a device's network.
fn remote(node: &Node, kind: DeviceKind, roots: &Roots) -> Option<Remote> {
    match kind {
        DeviceKind::NvmeFabric => nvme::remote(node, roots),
        DeviceKind::Scsi => net::iscsi(node, roots),
        _ => None,
    }
}

fn array(node: &Node) -> ArrayFacts {
    let members = node.fact("md/raid_disks", positive);
    ArrayFacts { level: node.fact("md/level", words), members }
}

/// The uuid of a mapping begins with the name of its maker: `CRYPT-LUKS2-…`, `LVM-…`.
fn mapping(node: &Node, table: Option<&Table>, roots: &Roots) -> Mapping {
    let maker = |uuid: &str| words(uuid.split('-').next()?);
    let targets = table.map(|table| Fact {
        value: table.kinds.clone(),
        from: mapper::control(roots).display().to_string(),
        privileged: true,
    });
    Mapping { name: node.fact("dm/name", words), maker: node.fact("dm/uuid", maker), targets }
}

/// The parts of a mapped device; of a cache the slow device first, then the fast one, then its
/// metadata.
fn mapped(node: &Node, table: Option<&Table>, roots: &Roots) -> Vec<String> {
    let name = |number: &String| roots.link_name(&roots.sys.join("dev/block").join(number));
    let tiers: Vec<String> = table.iter().flat_map(|t| &t.tiers).filter_map(name).collect();
    let others = node.names("slaves").into_iter().filter(|name| !tiers.contains(name));
    tiers.iter().cloned().chain(others).collect()
}

/// Nothing where the kernel says neither.
fn scsi(node: &Node) -> Option<ScsiFacts> {
    let facts = ScsiFacts {
        state: node.fact("device/state", words),
        access: node.fact("device/access_state", words),
    };
    (facts.state.is_some() || facts.access.is_some()).then_some(facts)
}

/// The devices of a bcache: the backing one, then those of the cache set that it is attached to,
/// whose links are `bcache/cache/cacheN` and lead to the directory `bcache` of each. Most kernels
/// name both kinds among the `slaves`.
fn tiers(node: &Node) -> Vec<String> {
    let set = node.path("bcache/cache");
    let links = node.roots.names(&set).into_iter().filter(|name| is_numbered(name, "cache"));
    let caches: Vec<String> = links
        .filter_map(|link| {
            let place = node.roots.real(&set.join(link))?;
            Some(place.parent()?.file_name()?.to_string_lossy().into_owned())
        })
        .collect();
    let slaves = node.names("slaves").into_iter();
    slaves.filter(|name| !caches.contains(name)).chain(caches.clone()).collect()
}

/// Whether the kernel counts, by `queue/iostats`. Devices without a request queue need not heed it:
/// zram, bcache and the device mapper of older kernels count anyway, brd and NVMe heads never did.
/// There the attribute is no fact, and only an accounting probe tells.
fn counts_io(owner: &Node) -> Option<Fact<bool>> {
    let has_queue = queue::bio_based(owner).is_some_and(|fact| !fact.value);
    has_queue.then(|| owner.fact("queue/iostats", flag))?
}

fn partition_start(node: &Node) -> Option<Fact<u64>> {
    node.is_partition().then(|| node.fact("start", sectors))?
}

fn backing_device(node: &Node, roots: &Roots) -> Option<String> {
    device_of_path(&backing_path(node)?, roots)
}

/// The backing file of a loop device, if its path still leads to it. The kernel appends
/// ` (deleted)` to one that is gone, and its directory would be a guess.
fn backing_path(node: &Node) -> Option<PathBuf> {
    let path = path_of(&node.text("loop/backing_file")?);
    (path.is_absolute() && node.roots.there(&path)).then_some(path)
}

/// Whether a loop device bypasses the page cache.
pub(crate) fn loop_direct(node: &Node) -> Option<Fact<bool>> {
    node.fact("loop/dio", flag)
}

/// Settings of a device's queue, and whether the kernel counts its I/O.
pub(crate) fn settings(node: &Node, roots: &Roots) -> (QueueFacts, Option<Fact<bool>>) {
    let disk = node.disk(roots);
    let owner = disk.as_ref().unwrap_or(node);
    (queue::of(node, owner), counts_io(owner))
}

fn loop_backing(node: &Node, roots: &Roots) -> Option<LoopBacking> {
    Some(LoopBacking {
        file: node.fact("loop/backing_file", words)?,
        direct: loop_direct(node),
        filesystem: backing_path(node).and_then(|path| filesystem_kind(&path, roots)),
        stored: backing_path(node).and_then(|path| stored(&path, roots)),
        offset_bytes: node.fact("loop/offset", number),
    })
}

/// Facts of a backing file; absent for a device.
fn stored(file: &Path, roots: &Roots) -> Option<FileFacts> {
    let is_file = roots.stat(file)?.file_type == FileType::File;
    files::facts(file, roots).filter(|_| is_file)
}

/// Type of the filesystem that holds a file; absent for a device node, whose bytes are not in
/// `/dev`.
fn filesystem_kind(file: &Path, roots: &Roots) -> Option<String> {
    let is_device = roots.stat(file)?.file_type == FileType::Device;
    let mounts = mounts::read(roots);
    let held = layers::holding(file, Access::Read, &mounts, roots).filter(|_| !is_device)?;
    held.mount.map(|mount| mount.kind.clone())
}

/// NUMA node of the nearest controller above; the kernel writes -1 where it does not know.
fn numa_node(node: &Node) -> Option<Fact<i32>> {
    let files = node.above().map(|path| path.join("numa_node"));
    files.into_iter().find(|file| node.roots.there(file)).and_then(|file| {
        node.roots.fact(&file, |text| text.parse().ok().filter(|&node: &i32| node >= 0))
    })
}

fn note_missing(device: &DeviceFacts, missing_facts: &mut MissingFacts) {
    let name = &device.name;
    if link::is_expected(device) && device.link.is_none() {
        missing_facts.note(
            format!("link of {name}"),
            "the kernel shows no negotiated speed on the way to it",
            "a driver and a bus that report one (virtual machines often do not)",
        );
    }
    if device.kind == DeviceKind::Loop && device.below.is_empty() && device.loop_backing.is_some() {
        missing_facts.note(
            format!("device below {name}"),
            "its backing file leads to no block device",
            "a backing file that still has its path, on a filesystem with a block device",
        );
    }
    if device.counts_io.as_ref().is_some_and(|fact| !fact.value) {
        missing_facts.note(
            format!("I/O counters of {name}"),
            format!("queue/iostats of {name} is 0, so the kernel does not count"),
            format!("echo 1 > /sys/class/block/{name}/queue/iostats"),
        );
    }
}

/// A malformed tree could lead in a circle; the arrow that closes one is dropped, because whoever
/// follows `below` relies on an end.
fn without_cycles(mut devices: Vec<DeviceFacts>) -> Vec<DeviceFacts> {
    for index in 0..devices.len() {
        let name = devices[index].name.clone();
        let below = devices[index].below.clone();
        let kept = below.into_iter().filter(|from| !leads_to(&devices, from, &name)).collect();
        devices[index].below = kept;
    }
    devices
}

fn leads_to(devices: &[DeviceFacts], from: &str, to: &str) -> bool {
    let mut seen: Vec<&str> = vec![from];
    let mut at = 0;
    while let Some(&name) = seen.get(at) {
        if name == to {
            return true;
        }
        let found = devices.iter().find(|device| device.name == name);
        for below in found.iter().flat_map(|device| &device.below) {
            if !seen.contains(&below.as_str()) {
                seen.push(below);
            }
        }
        at += 1;
    }
    false
}

#[cfg(test)]
mod tests;
