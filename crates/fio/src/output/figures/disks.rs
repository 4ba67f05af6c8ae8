//! The kernel's counters of the disks under the targets.

use candor_record::facts::DeviceKind;
use candor_record::{DiskCounters, Report};

use crate::output::figures::Entry;

/// Counters of one disk over all phases.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::output) struct Disk {
    /// The kernel's name.
    pub name: String,
    /// The disk's counters.
    pub counted: DiskCounters,
    /// Utilization in percent.
    pub busy_percent: f64,
    /// Averages of member devices, if any.
    pub members: Option<Members>,
    /// True for a member of the disk before it.
    pub is_member: bool,
}

/// Averages over the members of a disk.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::output) struct Members {
    /// Their counters, each the mean over the members.
    pub counted: DiskCounters,
    /// Of the busiest of them.
    pub busy_percent: f64,
}

/// Disks of the targets, each once, members after their device.
pub(in crate::output) fn disks(report: &Report) -> Vec<Disk> {
    let mut disks: Vec<Disk> = Vec::new();
    for target in &report.facts().targets {
        if let Some(top) = target.device.as_ref().and_then(|d| whole_disk(report, &d.value)) {
            add(report, top, false, &mut disks);
        }
    }
    disks
}

/// The disk itself for a partition.
fn whole_disk<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
    let device = report.facts().device(name)?;
    match (device.kind, device.below.first()) {
        (DeviceKind::Partition, Some(disk)) => Some(disk),
        _ => Some(&device.name),
    }
}

fn add(report: &Report, name: &str, is_member: bool, disks: &mut Vec<Disk>) {
    if disks.iter().any(|disk| disk.name == name) {
        return;
    }
    let (counted, elapsed_ms) = counted(report, name);
    let Some(counted) = counted else { return };
    let percent = |ms: u64| (ms as f64 * 100.0 / elapsed_ms.max(1.0)).min(100.0);
    let at = disks.len();
    let busy_percent = percent(counted.busy_ms);
    disks.push(Disk { name: name.into(), counted, busy_percent, members: None, is_member });
    let members = members_of(report, name);
    for member in &members {
        add(report, member, true, disks);
    }
    let all: Vec<&Disk> = disks.iter().filter(|d| members.contains(&d.name.as_str())).collect();
    let members = mean(&all);
    disks[at].members = members;
}

/// Members of a mapped or RAID device. The backing file of a loop device is not a member.
fn members_of<'a>(report: &'a Report, name: &str) -> Vec<&'a str> {
    let Some(device) = report.facts().device(name) else { return Vec::new() };
    match device.kind {
        DeviceKind::Dm | DeviceKind::Md => {
            let below = device.below.iter().filter_map(|below| whole_disk(report, below));
            below.filter(|below| *below != name).collect()
        }
        _ => Vec::new(),
    }
}

fn mean(members: &[&Disk]) -> Option<Members> {
    let n = members.len() as u64;
    if n == 0 {
        return None;
    }
    let mut sum = DiskCounters::default();
    members.iter().for_each(|disk| sum_up(&mut sum, &disk.counted));
    let counted = DiskCounters {
        reads: sum.reads / n,
        writes: sum.writes / n,
        read_sectors: sum.read_sectors / n,
        write_sectors: sum.write_sectors / n,
        read_merges: sum.read_merges / n,
        write_merges: sum.write_merges / n,
        read_ms: sum.read_ms / n,
        write_ms: sum.write_ms / n,
        weighted_ms: sum.weighted_ms / n,
        ..DiskCounters::default()
    };
    let busy_percent = members.iter().map(|disk| disk.busy_percent).fold(0.0, f64::max);
    Some(Members { counted, busy_percent })
}

/// Counters of a disk over all phases, and their length in ms.
fn counted(report: &Report, name: &str) -> (Option<DiskCounters>, f64) {
    let mut all: Option<DiskCounters> = None;
    let mut elapsed_ms = 0.0;
    for phase in report.results() {
        let host = phase.host();
        let after = host.after_flush.as_ref().unwrap_or(&host.after);
        if let Some(counted) = host.before.device_delta(after, name) {
            sum_up(all.get_or_insert_default(), &counted);
            elapsed_ms += after.at_ns.saturating_sub(host.before.at_ns) as f64 / 1e6;
        }
    }
    (all, elapsed_ms)
}

/// Adds the visible counters.
fn sum_up(sum: &mut DiskCounters, counted: &DiskCounters) {
    sum.reads += counted.reads;
    sum.writes += counted.writes;
    sum.read_merges += counted.read_merges;
    sum.write_merges += counted.write_merges;
    sum.read_sectors += counted.read_sectors;
    sum.write_sectors += counted.write_sectors;
    sum.read_ms += counted.read_ms;
    sum.write_ms += counted.write_ms;
    sum.weighted_ms += counted.weighted_ms;
    sum.busy_ms += counted.busy_ms;
}

/// Engines whose files fio does not map to devices.
const WITHOUT_DEVICES: [&str; 4] = ["filecreate", "dircreate", "dirstat", "dirdelete"];

/// The disks, unless every job turned them off or failed before it began.
pub(in crate::output) fn disks_shown(report: &Report, entries: &[Entry]) -> Vec<Disk> {
    let uses = |entry: &Entry| {
        let failed = entry.figures.trouble.is_some() && !entry.figures.began();
        // fio finds devices of files before it creates them, and none of directories.
        let made = WITHOUT_DEVICES.contains(&entry.job.shape.engine.as_str());
        entry.job.reporting.disk_util && !failed && !made
    };
    if entries.iter().any(uses) { disks(report) } else { Vec::new() }
}
