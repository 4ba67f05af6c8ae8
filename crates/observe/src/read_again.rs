//! Facts that can change while a run lasts, read again.

use candor_plan::path_of;
use candor_record::Facts;
use candor_record::facts::{DeviceFacts, FileFacts, Filesystem, TargetFacts};

use crate::counters::SnapshotDetail;
use crate::host::{self, cgroup};
use crate::path::files;
use crate::path::mounts::{self, Mount};
use crate::source::Roots;
use crate::source::missing::MissingFacts;
use crate::source::node::Node;
use crate::stack;

/// The facts as they are now. Light: limits of control groups, mount options, flags of loop
/// devices, which is cheap enough for every few seconds. Full: also the settings of all queues, and
/// `with_files` the files as well, backing files of loop devices included.
pub fn read_again(known: &Facts, detail: SnapshotDetail, with_files: bool, roots: &Roots) -> Facts {
    let mut facts = known.clone();
    facts.host.cgroup = cgroup::facts(roots, &mut MissingFacts::default());
    facts.host.traced_by = host::traced_by(roots);
    let mounts = mounts::read(roots);
    for target in &mut facts.targets {
        let on = [target.filesystem.as_mut(), target.held_on.as_mut()];
        on.into_iter().flatten().for_each(|on| read_options(on, &mounts));
        if with_files {
            read_files(target, roots);
        }
    }
    for device in &mut facts.devices {
        read_device(device, detail, with_files, roots);
    }
    facts
}

/// Options of the mount that is on top at its mount point.
fn read_options(on: &mut Filesystem, mounts: &[Mount]) {
    let point = path_of(&on.mount_point);
    let mount = mounts.iter().rev().find(|mount| mount.point == point);
    if let Some(mount) = mount.filter(|mount| mount.kind == on.kind) {
        on.options = mount.options.join(",");
    }
}

fn read_files(target: &mut TargetFacts, roots: &Roots) {
    target.files.iter_mut().for_each(|file| read_file(file, roots));
}

fn read_file(file: &mut FileFacts, roots: &Roots) {
    if let Some(now) = files::facts(&path_of(&file.path), roots) {
        *file = now;
    }
}

fn read_device(device: &mut DeviceFacts, detail: SnapshotDetail, with_files: bool, roots: &Roots) {
    let Some(node) = Node::open(&device.name, roots) else { return };
    if let Some(backing) = &mut device.loop_backing {
        backing.direct = stack::loop_direct(&node);
        if let Some(stored) = backing.stored.as_mut().filter(|_| with_files) {
            read_file(stored, roots);
        }
    }
    if detail == SnapshotDetail::Full {
        (device.queue, device.counts_io) = stack::settings(&node, roots);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::fake::Fake;
    use crate::inspect::inspect;

    #[test]
    fn a_limit_a_flag_and_an_option_that_changed_are_seen() {
        let fake = Fake::new();
        fake.disk("sdq", "8:160", "pci0000:00/block/sdq");
        let data = fake.data_on("sdq");
        fake.mount("8:160", &data, "ext4", "/dev/sdq", "rw,discard");
        fake.write("proc/self/cgroup", "0::/\n");
        fake.mount("0:30", Path::new("/sys/fs/cgroup"), "cgroup2", "cgroup2", "rw");
        fake.write("sys/fs/cgroup/io.max", "");
        let known = inspect(&[("t".to_owned(), data.clone())], &fake.roots);
        let light = |known: &Facts| read_again(known, SnapshotDetail::Light, false, &fake.roots);
        assert_eq!(light(&known), known, "nothing changed");
        fake.write("sys/fs/cgroup/io.max", "8:160 riops=3000\n");
        fake.mount("8:160", &data, "ext4", "/dev/sdq", "rw,sync");
        let now = light(&known);
        assert_eq!(now.host.cgroup.io[0].value.read_ops_per_s, Some(3000));
        assert_eq!(now.targets[0].filesystem.as_ref().map(|on| &*on.options), Some("rw,sync"));
    }

    #[test]
    fn extents_are_read_where_that_is_wanted() {
        let fake = Fake::new();
        let file = fake.path("data").join("f");
        std::fs::write(&file, "hello").expect("written");
        let known = inspect(&[("t".to_owned(), file.clone())], &fake.roots);
        std::fs::write(&file, "hello and more").expect("written");
        let size = |with_files| {
            let now = read_again(&known, SnapshotDetail::Full, with_files, &fake.roots);
            now.targets[0].files[0].size_bytes
        };
        assert_eq!((size(false), size(true)), (5, 14));
    }
}
