//! From a path to the block device that it is or lies on.

use std::path::{Path, PathBuf};

use candor_record::facts::Fact;

use crate::path::mounts::{self, Mount};
use crate::source::Roots;
use crate::source::stat::{FileStat, FileType};

/// Overlays may lie on overlays; a loop of them would be a broken table.
const OVERLAYS_MAX: usize = 8;

/// Kernel name of the block device that a path is, or that the filesystem under it is mounted
/// from; for a path that does not exist yet, of its nearest existing parent. Absent where there is
/// none: memory, network, pools that hide their devices. From `/sys/dev/block` and
/// `/proc/self/mountinfo`.
pub fn device_of_path(path: &Path, roots: &Roots) -> Option<String> {
    device_fact(path, roots).map(|fact| fact.value)
}

/// As [`device_of_path`], with the place that told it.
pub(crate) fn device_fact(path: &Path, roots: &Roots) -> Option<Fact<String>> {
    let mounts = mounts::read(roots);
    device_on(path, &mounts, roots, OVERLAYS_MAX)
}

fn device_on(path: &Path, mounts: &[Mount], roots: &Roots, depth: usize) -> Option<Fact<String>> {
    let (path, stat) = nearest_existing(path, roots)?;
    if stat.file_type == FileType::Device {
        return by_number(&stat.is, roots);
    }
    by_number(&stat.on, roots)
        .or_else(|| by_mount(mount_of(&path, mounts, roots)?, mounts, roots, depth))
}

/// The device of a mount whose device number says nothing.
fn by_mount(mount: &Mount, mounts: &[Mount], roots: &Roots, depth: usize) -> Option<Fact<String>> {
    if mount.kind == "overlay" {
        // What is written lands in the upper directory. From inside a container its path may mean
        // nothing, and then nothing is known.
        let upper = PathBuf::from(mount.option("upperdir")?);
        let further = depth.checked_sub(1)?;
        return roots.there(&upper).then(|| device_on(&upper, mounts, roots, further))?;
    }
    let name = device_of_source(mount, roots)?;
    Some(Fact::new(name, mounts::table_path(roots).display().to_string()))
}

/// The device of a mount: by its number, else by its source if that is a device node.
pub(crate) fn device_of_mount(mount: &Mount, roots: &Roots) -> Option<String> {
    match by_number(&mount.device, roots) {
        Some(fact) => Some(fact.value),
        None => device_of_source(mount, roots),
    }
}

fn device_of_source(mount: &Mount, roots: &Roots) -> Option<String> {
    mount.source.starts_with("/dev/").then(|| device_of_node(Path::new(&mount.source), roots))?
}

/// The device that a node such as `/dev/mapper/x` stands for: by its number, else by the name it
/// resolves to (which is all that a recorded tree has).
pub(crate) fn device_of_node(node: &Path, roots: &Roots) -> Option<String> {
    let node = roots.real(&roots.place(node))?;
    let stat = roots.stat(&node)?;
    if stat.file_type == FileType::Device {
        return by_number(&stat.is, roots).map(|fact| fact.value);
    }
    let name = node.file_name()?.to_string_lossy().into_owned();
    roots.there(&roots.block(&name)).then_some(name)
}

/// The device with that `major:minor`.
fn by_number(number: &str, roots: &Roots) -> Option<Fact<String>> {
    let link = roots.sys.join("dev/block").join(number);
    Some(Fact::new(roots.link_name(&link)?, link.display().to_string()))
}

/// The mount that an existing path lies on.
pub(crate) fn mount_of<'a>(
    existing: &Path,
    mounts: &'a [Mount],
    roots: &Roots,
) -> Option<&'a Mount> {
    let path = roots.real(existing)?;
    let number = roots.stat(&path).and_then(|stat| stat.mount);
    mounts::covering(mounts, &path, number)
}

/// The kind of filesystem that keeps a file in memory and nowhere else, such as tmpfs; none for
/// files that lie elsewhere and for nodes of devices.
pub fn lies_in_memory(file: &Path, roots: &Roots) -> Option<String> {
    let is_file = roots.stat(file).is_some_and(|stat| stat.file_type == FileType::File);
    let mounts = mounts::read(roots);
    let mount = mount_of(file, &mounts, roots).filter(|mount| is_file && mount.is_in_memory())?;
    Some(mount.kind.clone())
}

/// The path itself if it exists, else its nearest parent that does, and what that is.
pub(crate) fn nearest_existing(path: &Path, roots: &Roots) -> Option<(PathBuf, FileStat)> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|path| Some((path.to_path_buf(), roots.stat(path)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    #[test]
    fn a_path_is_found_by_its_device_number() {
        let fake = Fake::new();
        fake.disk("sdq", "4000:160", "pci0000:00/0000:00:1f.2/ata1/block/sdq");
        let home = fake.data_on("sdq");
        assert_eq!(device_of_path(&home, &fake.roots).as_deref(), Some("sdq"));
        let absent = home.join("not/yet/there");
        assert_eq!(device_of_path(&absent, &fake.roots).as_deref(), Some("sdq"));
    }

    #[test]
    fn an_anonymous_number_is_found_by_the_source() {
        let fake = Fake::new();
        fake.disk("dm-3", "4000:3", "virtual/block/dm-3");
        fake.link("dev/mapper/my vol", "dev/dm-3");
        fake.write("dev/dm-3", "");
        let point = fake.path("mnt");
        fake.mount("0:99", &point, "btrfs", "/dev/mapper/my\\040vol", "rw");
        assert_eq!(device_of_path(&point, &fake.roots).as_deref(), Some("dm-3"));
    }

    #[test]
    fn an_overlay_is_where_its_upper_directory_is() {
        let fake = Fake::new();
        fake.disk("sdq", "4000:160", "pci0000:00/block/sdq");
        fake.write("dev/sdq", "");
        let (top, store) = (fake.path("merged"), fake.path("store"));
        fake.mount("0:40", &store, "btrfs", "/dev/sdq", "rw");
        let upper = format!("rw,upperdir={}", store.display());
        fake.mount("0:41", &top, "overlay", "overlay", &upper);
        assert_eq!(device_of_path(&top, &fake.roots).as_deref(), Some("sdq"));
    }

    #[test]
    fn an_overlay_on_itself_ends() {
        let fake = Fake::new();
        let top = fake.path("merged");
        let upper = format!("rw,upperdir={}", top.display());
        fake.mount("0:41", &top, "overlay", "overlay", &upper);
        assert_eq!(device_of_path(&top, &fake.roots), None);
    }

    #[test]
    fn memory_has_no_device() {
        let fake = Fake::new();
        let point = fake.path("shm");
        fake.mount("0:9", &point, "tmpfs", "tmpfs", "rw");
        assert_eq!(device_of_path(&point, &fake.roots), None);
        assert_eq!(device_of_path(Path::new(""), &fake.roots), None);
    }
}
