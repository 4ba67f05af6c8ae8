//! Counters of all block devices of the host, at one reading.

use std::io;
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

fn diskstat(line: &str, roots: &Roots) -> Option<Diskstat> {
    let (name, counters) = diskstats_line(line)?;
    let place = roots.block(&name);
    let partition_of = place.join("partition").exists().then(|| parent(&place)).flatten();
    let mapped = attributes::text(&place.join("dm/name"));
    Some(Diskstat { name, partition_of, mapped, counters })
}

/// The disk in whose folder that of a partition lies.
fn parent(place: &std::path::Path) -> Option<String> {
    let place = place.canonicalize().ok()?;
    Some(place.parent()?.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn all_devices_with_their_disks_and_names() {
        let fake = Fake::new();
        fake.disk("sdq", "8:160", "pci0000:00/block/sdq");
        fake.disk("sdq1", "8:161", "pci0000:00/block/sdq/sdq1");
        let write = |path: std::path::PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write(fake.roots.block("sdq1").join("partition"), "1\n");
        write(fake.roots.block("sdq").join("dm/name"), "vg-lv\n");
        write(
            fake.roots.proc.join("diskstats"),
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
    fn no_file_is_an_error() {
        let fake = Fake::new();
        assert!(diskstats(&fake.roots).is_err());
        assert_eq!(cpu_times(&fake.roots), None);
    }
}
