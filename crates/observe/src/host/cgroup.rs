//! Limits of the control group this process runs in.
//!
//! Groups are nested and every ancestor's limit holds too, so all of them are read, but for version
//! 1's limits of I/O. A host may use version 2, version 1 with a hierarchy per controller, or both
//! at once.

use std::path::{Path, PathBuf};

use candor_record::facts::{CgroupFacts, Fact, IoLimit};

use crate::path::mounts::{self, Mount};
use crate::source::Roots;
use crate::source::missing::MissingFacts;
use crate::source::parse::{number, positive};
use crate::source::stat::FileType;

/// Version 1 writes "no limit" as the largest multiple of a page; no host has that much memory.
const UNLIMITED_BYTES: u64 = 1 << 62;

/// Limits of this process's groups, from `/proc/self/cgroup` and the files it leads to.
pub(crate) fn facts(roots: &Roots, missing_facts: &mut MissingFacts) -> CgroupFacts {
    let table = roots.proc.join("self/cgroup");
    let Some(own) = roots.text(&table) else {
        let why = format!("{} cannot be read", table.display());
        missing_facts.note("limits of the control group", why, "a kernel with CONFIG_CGROUPS");
        return CgroupFacts::default();
    };
    let mounts = mounts::read(roots);
    let mut limits = CgroupFacts::default();
    for (controllers, path) in own.lines().filter_map(membership) {
        let groups = groups(controllers, path, &mounts, roots);
        for group in &groups {
            read(group, roots, &mut limits);
        }
        // Version 1 throttles I/O by the group of a task alone, not by those above it.
        for (name, set) in THROTTLES {
            let own = groups.first().map(|group| throttle(&group.join(name), set, roots));
            limits.io.extend(own.into_iter().flatten());
        }
    }
    limits
}

/// Files with the counters of CPU quotas: of this process's group and those above it.
pub(crate) fn cpu_stats(roots: &Roots) -> Vec<PathBuf> {
    let own = roots.text(&roots.proc.join("self/cgroup")).unwrap_or_default();
    let mounts = mounts::read(roots);
    let memberships = own.lines().filter_map(membership);
    let groups = memberships.flat_map(|(of, path)| groups(of, path, &mounts, roots));
    groups.map(|group| group.join("cpu.stat")).filter(|file| roots.reads(file)).collect()
}

/// A line of `/proc/self/cgroup`: `number:controllers:path`, without controllers for version 2.
fn membership(line: &str) -> Option<(&str, &str)> {
    let (_number, rest) = line.split_once(':')?;
    rest.split_once(':')
}

/// The directories of a group and its ancestors, nearest first, in every mount of its hierarchy;
/// the first mount that has them tells all.
fn groups(controllers: &str, path: &str, mounts: &[Mount], roots: &Roots) -> Vec<PathBuf> {
    let is_own = |mount: &&Mount| match (mount.kind.as_str(), controllers) {
        ("cgroup2", "") => true,
        ("cgroup", "") | ("cgroup2", _) => false,
        ("cgroup", some) => some.split(',').all(|one| mount.options.iter().any(|o| o == one)),
        _ => false,
    };
    let found = mounts.iter().filter(is_own).map(|mount| ancestors(mount, path, roots));
    found.into_iter().find(|groups| !groups.is_empty()).unwrap_or_default()
}

fn ancestors(mount: &Mount, path: &str, roots: &Roots) -> Vec<PathBuf> {
    let top = roots.place(&mount.point);
    // A container may see its own group mounted as the top, or be told a path outside of it.
    let inside = Path::new(path).strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let group = top.join(inside);
    let up = group.ancestors().take_while(|path| path.starts_with(&top));
    up.filter(|path| roots.stat(path).is_some_and(|stat| stat.file_type == FileType::Directory))
        .map(Path::to_path_buf)
        .collect()
}

/// Reads whatever limits a group's directory has, of either version.
fn read(group: &Path, roots: &Roots, limits: &mut CgroupFacts) {
    let memory = |name: &str| roots.fact(&group.join(name), memory_max);
    for found in [memory("memory.max"), memory("memory.limit_in_bytes")].into_iter().flatten() {
        keep_lower(&mut limits.memory_max_bytes, found);
    }
    for found in
        [roots.fact(&group.join("cpu.max"), cpu_max), cpu_quota(group, roots)].into_iter().flatten()
    {
        keep_lower(&mut limits.cpu_max, found);
    }
    limits.io.extend(io_max(&group.join("io.max"), roots));
}

/// The stricter limit holds; of equal ones the nearer.
fn keep_lower<T: PartialOrd>(kept: &mut Option<Fact<T>>, found: Fact<T>) {
    if kept.as_ref().is_none_or(|kept| found.value < kept.value) {
        *kept = Some(found);
    }
}

fn memory_max(text: &str) -> Option<u64> {
    number(text).filter(|&bytes| bytes < UNLIMITED_BYTES)
}

/// Version 2: `quota period` in microseconds, or `max period`.
fn cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.split_once(' ')?;
    cpus(quota, period.trim())
}

/// Version 1: the same in two files, with -1 for no limit.
fn cpu_quota(group: &Path, roots: &Roots) -> Option<Fact<f64>> {
    let period = roots.text(&group.join("cpu.cfs_period_us"))?;
    roots.fact(&group.join("cpu.cfs_quota_us"), |quota| cpus(quota, &period))
}

fn cpus(quota: &str, period: &str) -> Option<f64> {
    Some(number(quota)? as f64 / positive(period)? as f64)
}

/// Version 2: lines such as `8:0 rbps=1048576 wbps=max riops=max wiops=max`.
fn io_max(path: &Path, roots: &Roots) -> Vec<Fact<IoLimit>> {
    let text = roots.text(path).unwrap_or_default();
    let from = path.display().to_string();
    text.lines().filter_map(io_line).map(|limit| Fact::new(limit, from.clone())).collect()
}

fn io_line(line: &str) -> Option<IoLimit> {
    let mut words = line.split_whitespace();
    let device = words.next().filter(|word| word.contains(':'))?.to_owned();
    let mut limit = IoLimit { device, ..IoLimit::default() };
    for (key, value) in words.filter_map(|word| word.split_once('=')) {
        let value = number(value);
        match key {
            "rbps" => limit.read_bytes_per_s = value,
            "wbps" => limit.write_bytes_per_s = value,
            "riops" => limit.read_ops_per_s = value,
            "wiops" => limit.write_ops_per_s = value,
            _ => {}
        }
    }
    let empty = IoLimit { device: limit.device.clone(), ..IoLimit::default() };
    (limit != empty).then_some(limit)
}

/// Sets one field of a limit.
type Set = fn(&mut IoLimit, u64);

/// Version 1: a file per kind of limit.
const THROTTLES: [(&str, Set); 4] = [
    ("blkio.throttle.read_bps_device", |limit, value| limit.read_bytes_per_s = Some(value)),
    ("blkio.throttle.write_bps_device", |limit, value| limit.write_bytes_per_s = Some(value)),
    ("blkio.throttle.read_iops_device", |limit, value| limit.read_ops_per_s = Some(value)),
    ("blkio.throttle.write_iops_device", |limit, value| limit.write_ops_per_s = Some(value)),
];

/// Lines such as `8:0 1048576`.
fn throttle(path: &Path, set: Set, roots: &Roots) -> Vec<Fact<IoLimit>> {
    let text = roots.text(path).unwrap_or_default();
    let limit = |line: &str| {
        let (device, value) = line.split_once(' ').filter(|(device, _)| device.contains(':'))?;
        let mut limit = IoLimit { device: device.to_owned(), ..IoLimit::default() };
        set(&mut limit, positive(value.trim())?);
        Some(Fact::new(limit, path.display().to_string()))
    };
    text.lines().filter_map(limit).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fake::Fake;

    fn read_all(fake: &Fake) -> CgroupFacts {
        facts(&fake.roots, &mut MissingFacts::default())
    }

    #[test]
    fn version_2_with_a_stricter_ancestor() {
        let fake = Fake::new();
        fake.write("proc/self/cgroup", "0::/a/b\n");
        fake.mount("0:30", Path::new("/sys/fs/cgroup"), "cgroup2", "cgroup2", "rw");
        let top = "sys/fs/cgroup";
        fake.write_all(top, &[("a/memory.max", "1000000\n"), ("a/cpu.max", "max 100000\n")]);
        fake.write_all(top, &[("a/b/memory.max", "max\n"), ("a/b/cpu.max", "150000 100000\n")]);
        fake.write(
            "sys/fs/cgroup/a/io.max",
            "8:0 rbps=max wbps=max riops=max wiops=max\n259:0 rbps=1048576 wbps=max riops=100 x\n",
        );
        let limits = read_all(&fake);
        let memory = limits.memory_max_bytes.expect("the ancestor's");
        assert_eq!(memory.value, 1_000_000);
        assert!(memory.from.ends_with("sys/fs/cgroup/a/memory.max"), "{}", memory.from);
        assert_eq!(limits.cpu_max.map(|fact| fact.value), Some(1.5));
        let io = &limits.io[0].value;
        assert_eq!((limits.io.len(), io.device.as_str()), (1, "259:0"));
        assert_eq!((io.read_bytes_per_s, io.read_ops_per_s), (Some(1_048_576), Some(100)));
        assert_eq!((io.write_bytes_per_s, io.write_ops_per_s), (None, None));
    }

    #[test]
    fn version_1_beside_an_empty_version_2() {
        let fake = Fake::new();
        let own = "7:blkio:/x\n4:memory:/x/y\n1:cpu,cpuacct:/\n0::/\n";
        fake.write("proc/self/cgroup", own);
        let mount = |name: &str, options: &str| {
            let point = PathBuf::from("/sys/fs/cgroup").join(name);
            fake.mount("0:31", &point, "cgroup", "cgroup", options);
        };
        mount("blkio", "rw,blkio");
        mount("memory", "rw,memory");
        mount("cpu,cpuacct", "rw,cpu,cpuacct");
        fake.mount("0:38", Path::new("/sys/fs/cgroup/unified"), "cgroup2", "cgroup2", "rw");
        fake.write_all(
            "sys/fs/cgroup",
            &[
                ("unified/cgroup.procs", ""),
                ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory/x/memory.limit_in_bytes", "268435456\n"),
                ("memory/x/y/memory.limit_in_bytes", "9223372036854771712\n"),
                ("cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
                ("cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
                ("blkio/blkio.throttle.read_iops_device", "254:0 10\n"),
                ("blkio/x/blkio.throttle.read_iops_device", "254:0 1000\n"),
                ("blkio/x/blkio.throttle.write_bps_device", "254:0 2000\n254:16 x\n"),
            ],
        );
        let limits = read_all(&fake);
        assert_eq!(limits.memory_max_bytes.map(|fact| fact.value), Some(268_435_456));
        assert_eq!(limits.cpu_max, None);
        assert_eq!(limits.io.len(), 2);
        assert!(limits.io.iter().any(|fact| fact.value.read_ops_per_s == Some(1000)));
        assert!(limits.io.iter().any(|fact| fact.value.write_bytes_per_s == Some(2000)));
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_top() {
        let fake = Fake::new();
        fake.write("proc/self/cgroup", "0::/../../elsewhere\n");
        fake.mount("0:30", Path::new("/sys/fs/cgroup"), "cgroup2", "cgroup2", "rw");
        fake.write("sys/fs/cgroup/memory.max", "4096\n");
        assert_eq!(read_all(&fake).memory_max_bytes.map(|fact| fact.value), Some(4096));
    }

    #[test]
    fn no_groups_is_noted() {
        let mut missing_facts = MissingFacts::default();
        assert_eq!(facts(&Fake::new().roots, &mut missing_facts), CgroupFacts::default());
        assert_eq!(missing_facts.into_list().len(), 1);
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "(?s).{0,120}") {
            let _ = (membership(&text), memory_max(&text), cpu_max(&text), io_line(&text));
        }
    }
}
