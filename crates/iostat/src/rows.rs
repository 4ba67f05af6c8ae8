//! Devices and groups of a report, in their order.

use super::figures::{Activity, cpu_percent, elapsed_ns};
use super::options::{Entry, Options, Partitions};
use super::{Disk, Sample};

/// A report on the interval between two samples.
pub(super) struct Report {
    /// CPU time in percent: user, nice, system, iowait, steal, idle.
    pub cpu: [f64; 6],
    /// Devices and groups.
    pub rows: Vec<Row>,
}

/// A line of a device or a group.
pub(super) struct Row {
    /// The printed name; a group's name begins with a blank.
    pub name: String,
    pub did: Activity,
    is_group: bool,
}

pub(super) fn report(options: &Options, before: &Sample, now: &Sample) -> Report {
    let elapsed_s = elapsed_ns(before, now) as f64 / 1e9;
    let row = |disk: &&Disk| {
        let then = before.disks.iter().find(|then| then.name == disk.name);
        let then = then.map(|then| &then.counters);
        let mapped = disk.mapped.as_ref().filter(|_| options.mapped_names);
        Row {
            // The kernel stores `/` of a node's name as `!`.
            name: mapped.unwrap_or(&disk.name).replace('!', "/"),
            did: Activity::between(then, &disk.counters, elapsed_s),
            is_group: false,
        }
    };
    let mut rows = Vec::new();
    for (group, disks) in sections(options, &now.disks) {
        let members: Vec<Row> = disks.iter().map(row).collect();
        let sum = group.map(|name| {
            let mut did = Activity { elapsed_s, ..Activity::default() };
            members.iter().for_each(|member| did.add(&member.did));
            Row { name: format!(" {name}"), did, is_group: true }
        });
        rows.extend(members);
        rows.extend(sum);
    }
    rows.retain(|row| !(options.skip_idle && row.did.is_idle()));
    rows.retain(|row| row.is_group || !options.groups_only);
    Report { cpu: cpu_percent(&before.cpu, &now.cpu), rows }
}

/// The devices of each group, or one list without a group.
fn sections<'a>(options: &'a Options, disks: &'a [Disk]) -> Vec<(Option<&'a str>, Vec<&'a Disk>)> {
    let mut sections: Vec<(Option<&str>, Vec<&Entry>)> = vec![(None, Vec::new())];
    for entry in &options.entries {
        match entry {
            Entry::Group(name) => sections.push((Some(name), Vec::new())),
            _ => sections.last_mut().expect("there is one").1.push(entry),
        }
    }
    // Without names and groups, the report has all devices.
    let has_groups = sections.len() > 1;
    let names_none = sections.iter().all(|(_, entries)| entries.is_empty());
    sections.retain(|(group, entries)| group.is_some() || !entries.is_empty() || !has_groups);
    let chosen = |(group, entries): (Option<&'a str>, Vec<&Entry>)| {
        let mut disks: Vec<&Disk> = if names_none {
            disks.iter().filter(|disk| by_default(options, disk)).collect()
        } else {
            named(options, &entries, disks)
        };
        if group.is_none() || names_none {
            disks.sort_by(|a, b| a.name.cmp(&b.name));
        }
        (group, disks)
    };
    sections.into_iter().map(chosen).collect()
}

/// The named devices, each once, in entry order.
fn named<'a>(options: &Options, entries: &[&Entry], disks: &'a [Disk]) -> Vec<&'a Disk> {
    let mut found: Vec<&Disk> = Vec::new();
    let widened = options.partitions != Partitions::Named;
    for entry in entries {
        for disk in disks.iter().filter(|disk| match entry {
            Entry::Device(name) => is_called(disk, name),
            Entry::WithPartitions(name) => {
                is_called(disk, name) || disk.partition_of.as_deref() == Some(name.as_str())
            }
            Entry::All => widened || disk.partition_of.is_none(),
            Entry::Group(_) => false,
        }) {
            if !found.iter().any(|seen| seen.name == disk.name) {
                found.push(disk);
            }
        }
    }
    found
}

fn is_called(disk: &Disk, name: &str) -> bool {
    disk.name == name || disk.mapped.as_deref() == Some(name)
}

/// Default devices: all devices with activity since boot.
fn by_default(options: &Options, disk: &Disk) -> bool {
    let c = &disk.counters;
    let was_used = c.reads + c.writes + c.discards > 0;
    match options.partitions {
        Partitions::Named => was_used && disk.partition_of.is_none(),
        Partitions::Used => was_used,
        Partitions::All => true,
    }
}
