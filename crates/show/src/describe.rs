//! Hosts, targets and devices in a few words.

use candor_record::Facts;
use candor_record::facts::{
    DeviceFacts, DeviceKind, DeviceSearch, Filesystem, HostFacts, Link, PathKind, Remote,
    TargetFacts, value,
};
use candor_record::fmt::{self, column, counted};

/// The driver of a device, in words.
pub fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Partition => "partition",
        DeviceKind::Loop => "loop device",
        DeviceKind::Dm => "device mapper",
        DeviceKind::Md => "md array",
        DeviceKind::Bcache => "bcache",
        DeviceKind::Zram => "zram, compressed memory",
        DeviceKind::Brd => "RAM disk",
        DeviceKind::Pmem => "persistent memory",
        DeviceKind::Virtio => "virtio",
        DeviceKind::Nvme => "NVMe",
        DeviceKind::NvmeFabric => "NVMe over fabrics",
        DeviceKind::Ata => "ATA",
        DeviceKind::Scsi => "SCSI",
        DeviceKind::Usb => "USB",
        DeviceKind::Nbd => "network block device",
        DeviceKind::NullBlk => "null_blk, no medium",
        DeviceKind::Other => "block device",
    }
}

/// The kind of a path, in words.
pub fn path_kind(kind: PathKind) -> &'static str {
    match kind {
        PathKind::Missing => "not there yet",
        PathKind::File => "file",
        PathKind::Directory => "directory",
        PathKind::Device => "block device",
        PathKind::Other => "not a file, directory or block device",
    }
}

/// The host in one line: kernel, processor, memory.
pub fn host(host: &HostFacts) -> String {
    let mut parts = Vec::new();
    parts.extend(value(&host.kernel).map(|release| format!("Linux {release}")));
    parts.extend(value(&host.cpus).map(|n| fmt::counted(u64::from(*n), "CPU")));
    parts.extend(value(&host.cpu_model).cloned());
    parts.extend(
        value(&host.numa_nodes).filter(|n| **n > 1).map(|nodes| format!("{nodes} NUMA nodes")),
    );
    parts.extend(value(&host.memory_bytes).map(|bytes| format!("{} memory", column::size(*bytes))));
    parts.extend(
        host.memory_occupied
            .map(|memory| format!("{} of it occupied by this run", column::size(memory.bytes))),
    );
    parts.extend(value(&host.hypervisor).filter(|v| **v).map(|_| "virtual machine".to_owned()));
    parts.join(", ")
}

/// A device with what matters about it: `sda (ATA, Samsung SSD 860, 500 GB)`.
pub fn device(device: &DeviceFacts) -> String {
    let model = value(&device.model).map(|model| model.trim().to_owned());
    let parts: Vec<_> = [kind(device.kind).to_owned()]
        .into_iter()
        .chain(model.filter(|model| !model.is_empty()))
        .chain((device.size_bytes > 0).then(|| column::device_size(device.size_bytes)))
        .collect();
    format!("{} ({})", device.name, parts.join(", "))
}

/// A link and what it carries: `SATA 6.0 Gbps, 600 MB/s at most`.
pub fn link(link: &Link) -> String {
    let ceiling = column::rate(link.ceiling_bytes_per_s as f64);
    let negotiated = &link.negotiated.value;
    // The kernel's own words often begin with the kind.
    if negotiated.to_lowercase().contains(&link.kind.to_lowercase()) {
        format!("{negotiated}, {ceiling} at most")
    } else {
        format!("{} {negotiated}, {ceiling} at most", link.kind)
    }
}

/// A server and the way to it: `NFS to 10.0.0.1 through eth1, 10000 Mb/s, 1.18 GB/s at most`.
pub fn remote(remote: &Remote) -> String {
    let mut text = format!("{} to {}", remote.protocol, remote.server.value);
    if let Some(interface) = value(&remote.interface) {
        text = format!("{text} through {interface}");
    }
    if !remote.members.is_empty() {
        text = format!("{text} ({})", remote.members.join(", "));
    }
    if let Some(connections) = remote.connections {
        text = format!("{text}, {}", fmt::counted(connections, "connection"));
    }
    match &remote.link {
        Some(link) => format!(
            "{text}, {}, {} at most",
            link.negotiated.value,
            column::rate(link.ceiling_bytes_per_s as f64)
        ),
        None => format!("{text}, speed unknown"),
    }
}

/// A filesystem and where its bytes are: `ext4`, `nfs4 from host:/export`, `tmpfs (memory)`.
pub fn filesystem(filesystem: &Filesystem) -> String {
    match (filesystem.in_memory, filesystem.remote) {
        (true, _) => format!("{} (this machine's memory)", filesystem.kind),
        (_, true) => format!("{} from {}", filesystem.kind, filesystem.source),
        _ => filesystem.kind.clone(),
    }
}

/// A target from its path down to the devices at the end, in one line.
pub fn target(facts: &Facts, target: &TargetFacts) -> String {
    // Before a run, its own files are not there yet; that is no news.
    let mut text = match target.kind {
        PathKind::Missing => target.path.clone(),
        kind => format!("{} ({})", target.path, path_kind(kind)),
    };
    if let Some(on) = &target.filesystem {
        text = format!("{text}: {}", filesystem(on));
    }
    if let Some(on) = &target.held_on {
        text = format!("{text} over {}", filesystem(on));
    }
    let tops: Vec<&str> = target.devices().collect();
    if tops.is_empty() {
        return text;
    }
    let mut leaves: Vec<&DeviceFacts> = Vec::new();
    for leaf in tops.iter().flat_map(|top| facts.leaves(top)) {
        if !leaves.iter().any(|known| known.name == leaf.name) {
            leaves.push(leaf);
        }
    }
    let top_is_leaf = tops.iter().all(|top| leaves.iter().any(|leaf| leaf.name == *top));
    let joint = if target.filesystem.is_some() { " on" } else { "," };
    let top = tops.join(", ");
    if !top_is_leaf {
        text = format!("{text}{joint} {top}");
    }
    let named: Vec<_> = leaves.iter().map(|leaf| device(leaf)).collect();
    let text = match (named.is_empty(), top_is_leaf) {
        (true, _) => text,
        (false, true) => format!("{text}{joint} {}", named.join(", ")) + &links(&leaves),
        (false, false) => format!("{text} → {}", named.join(", ")) + &links(&leaves),
    };
    match &target.device_search {
        Some(search) => format!("{text}; {top} found by probe: {}", device_search(search)),
        None => text,
    }
}

/// How a device was found that the filesystem does not name.
pub fn device_search(search: &DeviceSearch) -> String {
    format!(
        "the only one of {} that counted {} of {} to the byte",
        counted(u64::from(search.devices), "block device"),
        search.exact,
        counted(u64::from(search.reads), "direct read"),
    )
}

/// The distinct links of some devices, each once.
fn links(devices: &[&DeviceFacts]) -> String {
    let mut texts: Vec<String> = Vec::new();
    for text in devices.iter().filter_map(|device| device.link.as_ref()).map(link) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts.iter().map(|text| format!("; {text}")).collect()
}
