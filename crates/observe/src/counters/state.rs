//! State that is read before and after a phase only: arrays, temperatures, errors, networks.

use std::path::{Path, PathBuf};

use candor_record::facts::{DeviceFacts, DeviceKind, Remote};
use candor_record::{
    ArrayState, CacheHits, CpuThrottled, ErrorCount, Facts, InodesInUse, InterfaceBytes, LoopFile,
    MountBytes, State, Temperature, ZramPages,
};

use crate::cache;
use crate::host::cgroup;
use crate::net;
use crate::source::Roots;
use crate::source::attributes::text;
use crate::source::node::{Node, is_numbered};
use crate::source::parse::{number, words};
use crate::stack::mapper;

mod mountstats;

/// Where to look, found once.
#[derive(Debug)]
pub(crate) struct Watch {
    arrays: Vec<(String, PathBuf)>,
    sensors: Vec<(String, PathBuf)>,
    errors: Vec<Counter>,
    interfaces: Vec<(String, PathBuf)>,
    mount_points: Vec<String>,
    zram: Vec<(String, PathBuf)>,
    bcaches: Vec<(String, PathBuf)>,
    /// Caches of the device mapper: name and number.
    mapped_caches: Vec<(String, String)>,
    /// Where these are asked.
    mapper: PathBuf,
    /// Figures of ZFS's cache, where a target lies on it.
    arc: Option<PathBuf>,
    /// `cpu.stat` of each group that this process is in: a quota may be set at any time.
    quotas: Vec<PathBuf>,
    /// `/proc`, where a target lies on ext4.
    threads: Option<PathBuf>,
    /// Mount points of targets on filesystems of this host's devices.
    local_mounts: Vec<String>,
    /// Files behind loop devices.
    loop_files: Vec<(String, PathBuf)>,
    proc: PathBuf,
}

/// A counter of errors.
#[derive(Debug)]
struct Counter {
    device: String,
    what: &'static str,
    file: PathBuf,
    read: fn(&str) -> Option<u64>,
}

impl Watch {
    /// Finds what there is to look at under these targets.
    pub(crate) fn new(facts: &Facts, roots: &Roots) -> Watch {
        let of_kind = |kind: DeviceKind, below: &str| {
            let devices = facts.devices.iter().filter(|device| device.kind == kind);
            devices.map(|d| (d.name.clone(), roots.block(&d.name).join(below))).collect()
        };
        let nodes: Vec<Node> = facts
            .devices
            .iter()
            .filter(|device| device.kind != DeviceKind::Partition)
            .filter_map(|device| Node::open(&device.name, roots))
            .collect();
        let on = |kind: &str| {
            facts.targets.iter().any(|t| t.filesystem.as_ref().is_some_and(|on| on.kind == kind))
        };
        Watch {
            arrays: of_kind(DeviceKind::Md, "md"),
            sensors: nodes.iter().filter_map(sensor).collect(),
            errors: nodes.iter().flat_map(errors).collect(),
            interfaces: interfaces(facts, roots),
            mount_points: nfs_mounts(facts),
            zram: of_kind(DeviceKind::Zram, "mm_stat"),
            bcaches: of_kind(DeviceKind::Bcache, "bcache/stats_total"),
            mapped_caches: mapped_caches(facts),
            mapper: mapper::control(roots),
            arc: on("zfs").then(|| roots.proc.join("spl/kstat/zfs/arcstats")),
            quotas: cgroup::cpu_stats(roots),
            threads: on("ext4").then(|| roots.proc.clone()),
            local_mounts: local_mounts(facts),
            loop_files: facts.devices.iter().filter_map(loop_file).collect(),
            proc: roots.proc.clone(),
        }
    }

    /// How things stand now.
    pub(crate) fn read(&self) -> State {
        State {
            arrays: self.arrays.iter().map(|(name, at)| array(name, at)).collect(),
            temperatures: self.sensors.iter().filter_map(|(n, at)| temperature(n, at)).collect(),
            errors: self.errors.iter().filter_map(Counter::count).collect(),
            interfaces: self.interfaces.iter().filter_map(|(n, at)| interface(n, at)).collect(),
            mounts: self.mounts(),
            tcp_retransmits: self.tcp_retransmits(),
            zram: self.zram.iter().filter_map(|(name, file)| zram(name, file)).collect(),
            caches: self.caches(),
            cpu_throttled: self.cpu_throttled(),
            loop_files: self.loop_files.iter().filter_map(|(name, at)| pages(name, at)).collect(),
            ext4_lazy_init: self.threads.as_deref().and_then(lazy_init),
            dentries: self.dentries(),
            inodes: self.local_mounts.iter().filter_map(|at| inodes(at)).collect(),
        }
    }

    /// Of all groups together: each holds back the threads in it.
    fn cpu_throttled(&self) -> Option<CpuThrottled> {
        let of_groups = self.quotas.iter().filter_map(|file| cpu_throttled(&text(file)?));
        of_groups.reduce(|sum, of| CpuThrottled {
            periods: sum.periods + of.periods,
            throttled: sum.throttled + of.throttled,
            throttled_ns: sum.throttled_ns + of.throttled_ns,
        })
    }

    fn dentries(&self) -> Option<u64> {
        let state = (!self.local_mounts.is_empty())
            .then(|| text(&self.proc.join("sys/fs/dentry-state")))
            .flatten()?;
        number(state.split_whitespace().next()?)
    }

    fn mounts(&self) -> Vec<MountBytes> {
        if self.mount_points.is_empty() {
            return Vec::new();
        }
        let all = text(&self.proc.join("self/mountstats")).unwrap_or_default();
        mountstats::read(&all, &self.mount_points)
    }

    fn caches(&self) -> Vec<CacheHits> {
        let bcaches = self.bcaches.iter().filter_map(|(name, at)| bcache(name, at));
        let mapped = self.mapped_caches.iter();
        let mapped = mapped.filter_map(|(name, number)| mapper::hits(name, number, &self.mapper));
        bcaches.chain(mapped).chain(self.arc.as_deref().and_then(arc)).collect()
    }

    fn tcp_retransmits(&self) -> Option<u64> {
        (!self.interfaces.is_empty()).then(|| retransmits(&text(&self.proc.join("net/snmp"))?))?
    }
}

/// The file behind a loop device, where its path leads to one.
fn loop_file(device: &DeviceFacts) -> Option<(String, PathBuf)> {
    let file = device.loop_backing.as_ref()?.stored.as_ref()?;
    Some((device.name.clone(), candor_plan::path_of(&file.path)))
}

fn pages(device: &str, file: &Path) -> Option<LoopFile> {
    Some(LoopFile { device: device.to_owned(), cache: cache::look(file).ok()? })
}

/// Counters of a CPU quota: version 2 counts in microseconds, version 1 in nanoseconds.
fn cpu_throttled(stat: &str) -> Option<CpuThrottled> {
    let from_us = spaced(stat, "throttled_usec").map(|us| us.saturating_mul(1000));
    Some(CpuThrottled {
        periods: spaced(stat, "nr_periods")?,
        throttled: spaced(stat, "nr_throttled")?,
        throttled_ns: from_us.or_else(|| spaced(stat, "throttled_time"))?,
    })
}

/// The number in the line `KEY NUMBER`.
fn spaced(text: &str, key: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(name, _)| *name == key).and_then(|(_, value)| number(value.trim()))
}

/// The directory of a drive's sensor: NVMe has `device/hwmonN`, ATA with drivetemp
/// `device/hwmon/hwmonN`.
fn sensor(node: &Node) -> Option<(String, PathBuf)> {
    let directory = monitor(node, "device").or_else(|| monitor(node, "device/hwmon"))?;
    directory.join("temp1_input").exists().then(|| (node.name.clone(), directory))
}

fn monitor(node: &Node, directory: &str) -> Option<PathBuf> {
    let found = node.names(directory).into_iter().find(|name| is_numbered(name, "hwmon"))?;
    Some(node.path(directory).join(found))
}

fn number_of(file: &Path) -> Option<u64> {
    number(&text(file)?)
}

fn temperature(device: &str, directory: &Path) -> Option<Temperature> {
    let read = |file: &str| text(&directory.join(file))?.parse::<i64>().ok();
    // Absolute zero and some 65 thousand degrees are how drives say that they do not know.
    let sane = |mc: &i64| (1..200_000).contains(mc);
    Some(Temperature {
        device: device.to_owned(),
        now_mc: read("temp1_input")?,
        max_mc: read("temp1_max").filter(sane),
        critical_mc: read("temp1_crit").filter(sane),
    })
}

fn array(device: &str, directory: &Path) -> ArrayState {
    let read = |file: &str| text(&directory.join(file));
    ArrayState {
        device: device.to_owned(),
        state: read("array_state").as_deref().and_then(words),
        degraded: read("degraded").as_deref().and_then(number),
        action: read("sync_action").as_deref().and_then(words),
    }
}

impl Counter {
    fn count(&self) -> Option<ErrorCount> {
        let count = (self.read)(&text(&self.file)?)?;
        let from = self.file.display().to_string();
        Some(ErrorCount { device: self.device.clone(), what: self.what.into(), count, from })
    }
}

/// Counters of errors of a drive and of the slots on the way to it.
fn errors(node: &Node) -> Vec<Counter> {
    let counter = |what, file, read| Counter { device: node.name.clone(), what, file, read };
    let mut found = vec![
        counter("commands timed out", node.path("device/iotmo_cnt"), hexadecimal),
        counter("commands failed", node.path("device/ioerr_cnt"), hexadecimal),
    ];
    for place in node.above() {
        let aer = |what, file: &str| counter(what, place.join(file), total);
        found.push(aer("PCIe errors corrected", "aer_dev_correctable"));
        found.push(aer("PCIe errors not corrected", "aer_dev_nonfatal"));
        found.push(aer("fatal PCIe errors", "aer_dev_fatal"));
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        if is_numbered(&name, "ata") {
            let (link, drive) = (name.replace("ata", "link"), name.replace("ata", "dev") + ".0");
            let file = place.join(link).join(&drive).join("ata_device").join(&drive);
            found.push(counter("times the link was slowed down", file.join("spdn_cnt"), number));
        }
    }
    found.retain(|counter| counter.file.exists());
    found
}

fn bcache(name: &str, directory: &Path) -> Option<CacheHits> {
    let hits = number_of(&directory.join("cache_hits"))?;
    let misses = number_of(&directory.join("cache_misses"))?;
    Some(CacheHits { name: name.to_owned(), hits, misses, from: directory.display().to_string() })
}

fn mapped_caches(facts: &Facts) -> Vec<(String, String)> {
    let caches = facts
        .devices
        .iter()
        .filter(|d| d.mapping.as_ref().is_some_and(|m| m.is("cache") == Some(true)));
    caches.map(|device| (device.name.clone(), device.number.clone())).collect()
}

/// Reads of data that a process waits for, without reads of metadata and read-ahead.
fn arc(file: &Path) -> Option<CacheHits> {
    let all = text(file)?;
    let hits = arc_value(&all, "demand_data_hits")?;
    let misses = arc_value(&all, "demand_data_misses")?;
    Some(CacheHits { name: "ARC".into(), hits, misses, from: file.display().to_string() })
}

/// The value in a line such as `demand_data_hits 4 123`.
fn arc_value(stats: &str, name: &str) -> Option<u64> {
    let mut lines = stats.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.find(|line| line.first() == Some(&name))?.get(2)?.parse().ok()
}

/// SCSI writes `0x1f`.
fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The line `TOTAL_ERR_COR 3` at the end of a list of errors.
fn total(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("TOTAL_ERR"))?;
    line.split_whitespace().last()?.parse().ok()
}

/// Interfaces on the way to any target or device.
fn interfaces(facts: &Facts, roots: &Roots) -> Vec<(String, PathBuf)> {
    let of_targets = facts.targets.iter().filter_map(|target| target.remote.as_ref());
    let of_devices = facts.devices.iter().filter_map(|device| device.remote.as_ref());
    let mut found: Vec<(String, PathBuf)> = Vec::new();
    for name in of_targets.chain(of_devices).filter_map(|remote: &Remote| remote.interface.as_ref())
    {
        let name = &name.value;
        if !found.iter().any(|(seen, _)| seen == name) {
            found.push((name.clone(), net::directory(name, roots).join("statistics")));
        }
    }
    found
}

fn interface(name: &str, directory: &Path) -> Option<InterfaceBytes> {
    Some(InterfaceBytes {
        interface: name.to_owned(),
        received_bytes: number_of(&directory.join("rx_bytes"))?,
        sent_bytes: number_of(&directory.join("tx_bytes"))?,
    })
}

fn nfs_mounts(facts: &Facts) -> Vec<String> {
    let on = facts.targets.iter().filter_map(|target| target.filesystem.as_ref());
    let mut points: Vec<String> = on
        .filter(|on| matches!(on.kind.as_str(), "nfs" | "nfs4"))
        .map(|on| on.mount_point.clone())
        .collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Filesystems on devices, where asking for sizes waits for no server.
fn local_mounts(facts: &Facts) -> Vec<String> {
    let local = facts.targets.iter().filter(|target| target.device.is_some());
    let on = local.filter_map(|target| target.holding()).filter(|on| !on.remote);
    let mut points: Vec<String> = on.map(|on| on.mount_point.clone()).collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Inodes in use; none on filesystems that have no number of them.
fn inodes(mount_point: &str) -> Option<InodesInUse> {
    let sizes = rustix::fs::statvfs(mount_point).ok().filter(|sizes| sizes.f_files > 0)?;
    let count = sizes.f_files.checked_sub(sizes.f_ffree)?;
    Some(InodesInUse { mount_point: mount_point.to_owned(), count })
}

/// `RetransSegs` of the two `Tcp:` lines, names above numbers.
fn retransmits(text: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Tcp:"));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let at = names.split_whitespace().position(|name| name == "RetransSegs")?;
    numbers.split_whitespace().nth(at)?.parse().ok()
}

/// `orig_data_size compr_data_size … same_pages …`: bytes, and as the sixth number pages.
fn zram(device: &str, file: &Path) -> Option<ZramPages> {
    let text = text(file)?;
    let field = |at: usize| text.split_whitespace().nth(at)?.parse::<u64>().ok();
    let page_bytes = rustix::param::page_size() as u64;
    Some(ZramPages {
        device: device.to_owned(),
        stored_bytes: field(0)?,
        same_filled_bytes: field(5)?.saturating_mul(page_bytes),
    })
}

/// Whether the kernel's thread that fills ext4's inode tables is there, among the children of the
/// thread that makes them all, which has number 2; inside a container it is not seen.
fn lazy_init(proc: &Path) -> Option<bool> {
    let threads = text(&proc.join("2/task/2/children"))?;
    let is_it =
        |id: &str| text(&proc.join(id).join("comm")).is_some_and(|comm| comm == "ext4lazyinit");
    Some(threads.split_whitespace().any(is_it))
}

#[cfg(test)]
mod tests;
