//! Who else holds a device: mounts, swap, arrays and volumes built on it, loops backed by it.

use std::os::unix::fs::MetadataExt;

use candor_plan::{PathText, path_of};

use crate::path::mounts::{self, Mount};
use crate::path::resolve::{device_of_mount, device_of_node};
use crate::source::Roots;
use crate::source::node::Node;

/// Who holds a block device or one of its partitions: mount points, `swap`, kernel names of the
/// devices built on it (dm, md, bcache) and of loop devices backed by it. From
/// `/proc/self/mountinfo`, `/proc/swaps`, `holders/` and `loop*/loop/backing_file`. Mounts of
/// other mount namespaces are not seen: an exclusive open tells about those.
pub fn holders(device_name: &str, roots: &Roots) -> Vec<String> {
    let mut parts = partitions(device_name, roots);
    parts.insert(0, device_name.to_owned());
    let found = mounted(&parts, roots)
        .into_iter()
        .chain(swapped(&parts, roots))
        .chain(built_on(&parts, roots))
        .chain(looped(&parts, roots));
    let mut held: Vec<String> = Vec::new();
    for holder in found {
        if !held.contains(&holder) {
            held.push(holder);
        }
    }
    held
}

/// Kernel names of the partitions of a disk, from `/sys/class/block`. A disk that has any is not
/// free, even if nobody holds them.
pub fn partitions(device_name: &str, roots: &Roots) -> Vec<String> {
    let Some(disk) = Node::open(device_name, roots) else { return Vec::new() };
    let is_part = |name: &String| {
        Node::open(name, roots).is_some_and(|part| {
            part.is_partition() && part.place.parent() == Some(disk.place.as_path())
        })
    };
    roots.names(&roots.sys.join("class/block")).into_iter().filter(is_part).collect()
}

fn mounted(parts: &[String], roots: &Roots) -> Vec<String> {
    let is_held = |mount: &Mount| {
        let Some(device) = device_of_mount(mount, roots) else { return false };
        parts.contains(&device)
            || btrfs_members(&device, roots).iter().any(|member| parts.contains(member))
    };
    let mounts = mounts::read(roots);
    mounts.iter().filter(|mount| is_held(mount)).map(|m| m.point.text()).collect()
}

/// All devices of the btrfs that a device belongs to: its mounts name only one of them.
pub(crate) fn btrfs_members(device: &str, roots: &Roots) -> Vec<String> {
    let all = roots.sys.join("fs/btrfs");
    let members = |id: String| roots.names(&all.join(id).join("devices"));
    let mut found = roots.names(&all).into_iter().map(members);
    found.find(|members| members.iter().any(|member| member == device)).unwrap_or_default()
}

fn swapped(parts: &[String], roots: &Roots) -> Option<String> {
    let table = roots.text(&roots.proc.join("swaps"))?;
    let devices = table.lines().skip(1).filter_map(|line| {
        let path = crate::source::parse::unescape(line.split_whitespace().next()?);
        path.starts_with("/dev/").then(|| device_of_node(&path_of(&path), roots))?
    });
    devices.into_iter().any(|device| parts.contains(&device)).then(|| "swap".to_owned())
}

fn built_on(parts: &[String], roots: &Roots) -> Vec<String> {
    parts.iter().flat_map(|part| roots.names(&roots.block(part).join("holders"))).collect()
}

/// Loop devices whose backing file is one of the device nodes; those backed by a file are held
/// through the mount of its filesystem.
fn looped(parts: &[String], roots: &Roots) -> Vec<String> {
    let is_backed = |name: &String| {
        let backing = roots.text(&roots.block(name).join("loop/backing_file"));
        let node = backing.filter(|path| path.starts_with("/dev/"));
        node.and_then(|path| device_of_node(&path_of(&path), roots))
            .is_some_and(|device| parts.contains(&device))
    };
    roots.names(&roots.sys.join("class/block")).into_iter().filter(is_backed).collect()
}

/// A file that a loop device is backed by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFile {
    /// Kernel name of the loop device.
    pub device: String,
    /// Number of the filesystem, and the file's inode there.
    pub file: (u64, u64),
}

/// Files that loop devices are backed by, from `loop*/loop/backing_file`. Files of other mount
/// namespaces, and removed ones, have no path here and are not seen. None if sysfs is not mounted
/// and `/proc/partitions` does not exclude loop devices.
pub fn loop_files(roots: &Roots) -> Option<Vec<LoopFile>> {
    let devices = roots.names(&roots.sys.join("class/block"));
    if devices.is_empty() {
        let table = roots.text(&roots.proc.join("partitions"))?;
        let mut names = table.lines().filter_map(|line| line.split_whitespace().nth(3));
        return (!names.any(|name| name.starts_with("loop"))).then(Vec::new);
    }
    let of = |device: String| {
        let path = roots.text(&roots.block(&device).join("loop/backing_file"))?;
        let metadata = path_of(path.trim_end_matches('\n')).metadata().ok()?;
        metadata.is_file().then(|| LoopFile { device, file: (metadata.dev(), metadata.ino()) })
    };
    Some(devices.into_iter().filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fake::Fake;

    fn disk() -> Fake {
        let fake = Fake::new();
        fake.disk("sda", "8:0", "pci0000:00/ata1/block/sda");
        fake.partition("sda", "sda1", "8:1", 2048);
        fake.partition("sda", "sda2", "8:2", 4096);
        fake.write("dev/sda1", "");
        fake.write("dev/sda2", "");
        fake
    }

    #[test]
    fn a_free_disk_is_held_by_nobody() {
        let fake = disk();
        assert!(holders("sda", &fake.roots).is_empty());
        assert_eq!(partitions("sda", &fake.roots), ["sda1", "sda2"]);
        assert!(partitions("sda1", &fake.roots).is_empty());
        assert!(holders("nothing", &fake.roots).is_empty());
    }

    #[test]
    fn mounts_of_partitions_hold_the_disk() {
        let fake = disk();
        fake.mount("8:1", Path::new("/mnt/a\\040b"), "ext4", "/dev/sda1", "rw");
        fake.mount("0:77", Path::new("/data"), "btrfs", "/dev/sda2", "rw");
        assert_eq!(holders("sda", &fake.roots), ["/mnt/a b", "/data"]);
        assert_eq!(holders("sda1", &fake.roots), ["/mnt/a b"]);
        assert_eq!(holders("sda2", &fake.roots), ["/data"]);
    }

    #[test]
    fn files_behind_loop_devices_are_known() {
        let fake = disk();
        fake.disk("loop3", "7:3", "virtual/block/loop3");
        let file = tempfile::NamedTempFile::new().expect("a file");
        let backing = format!("{}\n", file.path().display());
        fake.write("sys/class/block/loop3/loop/backing_file", &backing);
        let metadata = file.path().metadata().expect("it is there");
        let file = (metadata.dev(), metadata.ino());
        assert_eq!(loop_files(&fake.roots), Some(vec![LoopFile { device: "loop3".into(), file }]));
    }

    #[test]
    fn without_sysfs_only_a_table_without_loop_devices_rules_them_out() {
        let fake = Fake::new();
        assert_eq!(loop_files(&fake.roots), None);
        let head = "major minor  #blocks  name\n\n 254 0 1024 vda\n";
        fake.write("proc/partitions", head);
        assert_eq!(loop_files(&fake.roots), Some(vec![]));
        fake.write("proc/partitions", &format!("{head} 7 0 64 loop0\n"));
        assert_eq!(loop_files(&fake.roots), None);
    }

    #[test]
    fn every_member_of_a_btrfs_is_held() {
        let fake = disk();
        fake.write("sys/fs/btrfs/1-2-3/devices/sda1/size", "1");
        fake.write("sys/fs/btrfs/1-2-3/devices/sda2/size", "1");
        fake.write("sys/fs/btrfs/features/x", "1");
        fake.mount("0:77", Path::new("/data"), "btrfs", "/dev/sda2", "rw");
        assert_eq!(holders("sda1", &fake.roots), ["/data"]);
    }

    #[test]
    fn swap_volumes_and_loops_hold_it() {
        let fake = disk();
        fake.write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n");
        fake.write("sys/class/block/sda1/holders/dm-0/x", "");
        fake.disk("loop3", "7:3", "virtual/block/loop3");
        fake.write("sys/class/block/loop3/loop/backing_file", "/dev/sda1\n");
        assert_eq!(holders("sda", &fake.roots), ["swap", "dm-0", "loop3"]);
        assert_eq!(holders("sda1", &fake.roots), ["dm-0", "loop3"]);
        assert_eq!(holders("sda2", &fake.roots), ["swap"]);
    }
}
