//! Counters of all block devices of the host, at one reading.

use std::io;
use std::path::Path;
use std::time::Duration;

use candor_record::{CpuTimes, DiskCounters};
use rustix::time::{ClockId, clock_gettime};

use crate::counters::formats;
use crate::source::{Roots, attributes};

/// A block device and its counters since boot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diskstat {
    /// Kernel name; `!` stands for `/`.
    pub name: String,
    /// The disk that it is a part of, where it is a partition.
    pub partition_of: Option<String>,
    /// The name that the device mapper gave it, where it did.
    pub mapped: Option<String>,
    /// Counters of the device.
    pub counters: DiskCounters,
}

/// All block devices, partitions among them, in the kernel's order (`/proc/diskstats`).
///
/// # Errors
/// The file cannot be read.
pub fn diskstats(roots: &Roots) -> io::Result<Vec<Diskstat>> {
    let text = std::fs::read_to_string(roots.proc.join("diskstats"))?;
    Ok(text.lines().filter_map(|line| diskstat(line, roots)).collect())
}

/// Devices that user space drives, from a directory of their counters: `block/DEVICE/stat` and
/// `block/DEVICE/PARTITION/stat` as below `/sys`, else `diskstats` as in `/proc`.
///
/// # Errors
/// The directory has neither, or a file cannot be read.
pub fn user_diskstats(directory: &Path, roots: &Roots) -> io::Result<Vec<Diskstat>> {
    let blocks = directory.join("block");
    if !blocks.is_dir() {
        let mut roots = roots.clone();
        roots.proc = directory.to_owned();
        return diskstats(&roots);
    }
    let mut found = Vec::new();
    for name in names(&blocks)? {
        let place = blocks.join(&name);
        for part in names(&place)? {
            found.extend(stat(part.clone(), Some(name.clone()), &place.join(part)));
        }
        found.extend(stat(name, None, &place));
    }
    Ok(found)
}

/// Names in a directory, in order; none where it is a file.
fn names(directory: &Path) -> io::Result<Vec<String>> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    let mut names: Vec<String> =
        entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// The device whose counters are in the file `stat` of a directory.
fn stat(name: String, partition_of: Option<String>, place: &Path) -> Option<Diskstat> {
    let counters = formats::disk(&attributes::text(&place.join("stat"))?)?;
    Some(Diskstat { name, partition_of, mapped: None, counters })
}

/// Time of all CPUs together since boot (`/proc/stat`).
pub fn cpu_times(roots: &Roots) -> Option<CpuTimes> {
    let text = attributes::text(&roots.proc.join("stat"))?;
    let tick_ns = formats::tick_ns(rustix::param::clock_ticks_per_second());
    formats::cpu(&text, tick_ns).0
}

/// Time since boot, that in which the host slept included.
pub fn uptime() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let part = |part: i64| u64::try_from(part).unwrap_or(0);
    Duration::from_secs(part(now.tv_sec)) + Duration::from_nanos(part(now.tv_nsec))
}

/// A line of `/proc/diskstats`: `major minor name`, then the same numbers as in
/// `/sys/class/block/X/stat`. In sysfs, `!` of a name is `!` as well.
pub(crate) fn diskstats_line(line: &str) -> Option<(String, DiskCounters)> {
    let mut words = line.split_whitespace();
    let name = words.nth(2)?.replace('/', "!");
    Some((name, formats::disk(&words.collect::<Vec<_>>().join(" "))?))
}

/// Counters of one device: its file below `/sys`, or its line of `/proc/diskstats` where `/sys` is
/// hidden.
pub(crate) fn of_device(name: &str, roots: &Roots) -> Option<DiskCounters> {
    let text = attributes::text(&roots.block(name).join("stat"));
    text.and_then(|text| formats::disk(&text)).or_else(|| {
        let text = attributes::text(&roots.proc.join("diskstats"))?;
        in_lines(&text, name)
    })
}

/// Counters of the device of that name in `/proc/diskstats`.
pub(crate) fn in_lines(text: &str, name: &str) -> Option<DiskCounters> {
    let mut lines = text.lines().filter_map(diskstats_line);
    lines.find(|(of, _)| of == name).map(|(_, counters)| counters)
}

fn diskstat(line: &str, roots: &Roots) -> Option<Diskstat> {
    let (name, counters) = diskstats_line(line)?;
    let place = roots.block(&name);
    let partition_of = place.join("partition").exists().then(|| parent(&place)).flatten();
    let mapped = attributes::text(&place.join("dm/name"));
    Some(Diskstat { name, partition_of, mapped, counters })
}

/// The disk in whose folder that of a partition lies.
fn parent(place: &Path) -> Option<String> {
    let place = place.canonicalize().ok()?;
    Some(place.parent()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    #[test]
    fn all_devices_with_their_disks_and_names() {
        let fake = Fake::new();
        fake.disk("sdq", "8:160", "pci0000:00/block/sdq");
        fake.disk("sdq1", "8:161", "pci0000:00/block/sdq/sdq1");
        write(&fake.roots.block("sdq1").join("partition"), "1\n");
        write(&fake.roots.block("sdq").join("dm/name"), "vg-lv\n");
        write(
            &fake.roots.proc.join("diskstats"),
            " 8 160 sdq 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n nonsense\n\
             8 161 sdq1 1 0 8 0 0 0 0 0 0 0 0\n",
        );
        let disks = diskstats(&fake.roots).expect("read");
        let found: Vec<_> = disks.iter().map(|d| (d.name.as_str(), &d.partition_of)).collect();
        assert_eq!(found, [("sdq", &None), ("sdq1", &Some("sdq".to_owned()))]);
        assert_eq!((disks[0].counters.flush_ms, disks[1].counters.read_sectors), (17, 8));
        assert_eq!(disks[0].mapped.as_deref(), Some("vg-lv"));
        assert!(uptime() > Duration::ZERO);
    }

    #[test]
    fn devices_of_user_space_have_files_of_their_own() {
        let fake = Fake::new();
        let directory = fake.roots.proc.join("user");
        assert!(user_diskstats(&directory, &fake.roots).is_err(), "neither file");
        write(&directory.join("block/usr0/stat"), "1 2 3 4 5 6 7 8 9 10 11\n");
        write(&directory.join("block/usr0/usr0p1/stat"), "1 0 8 0 0 0 0 0 0 0 0\n");
        write(&directory.join("block/usr0/queue/scheduler"), "none\n");
        let listed = || {
            let all = user_diskstats(&directory, &fake.roots).expect("read");
            all.into_iter()
                .map(|disk| (disk.name, disk.partition_of, disk.counters.read_sectors))
                .collect::<Vec<_>>()
        };
        let part = ("usr0p1".to_owned(), Some("usr0".to_owned()), 8);
        let disk = ("usr0".to_owned(), None, 3);
        assert_eq!(listed(), [part.clone(), disk.clone()]);
        write(&directory.join("diskstats"), " 7 1 usr1 1 2 5 4 5 6 7 8 9 10 11\n");
        assert_eq!(listed(), [part, disk], "block/ comes first");
        std::fs::remove_dir_all(directory.join("block")).expect("removed");
        assert_eq!(listed(), [("usr1".to_owned(), None, 5)]);
    }

    #[test]
    fn no_file_is_an_error() {
        let fake = Fake::new();
        assert!(diskstats(&fake.roots).is_err());
        assert_eq!(cpu_times(&fake.roots), None);
    }
}
