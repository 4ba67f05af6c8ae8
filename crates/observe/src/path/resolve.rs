//! From a path to the block device that it is or lies on.

use std::path::Path;

use candor_plan::path_of;
use candor_record::facts::Fact;

use crate::path::generic;
use crate::path::layers::{self, Access, Held, nearest_existing};
use crate::path::mounts::{self, Mount};
use crate::source::Roots;
use crate::source::stat::FileType;

/// Kernel name of the block device that a path is, or that the filesystem under it is mounted
/// from; for a path that does not exist yet, of its nearest existing parent. Absent where there is
/// none: memory, network, pools that hide their devices. A generic device stands for its block
/// device. From `/sys/dev` and `/proc/self/mountinfo`.
pub fn device_of_path(path: &Path, roots: &Roots) -> Option<String> {
    device_fact(path, roots).map(|fact| fact.value)
}

/// As [`device_of_path`], with the place that told it.
pub(crate) fn device_fact(path: &Path, roots: &Roots) -> Option<Fact<String>> {
    let (_, stat) = nearest_existing(path, roots)?;
    if stat.file_type == FileType::Device {
        return by_number(&stat.is, roots);
    }
    if let Some(commanded) = generic::fact(path, roots) {
        return Some(commanded);
    }
    device_of_held(&layers::holding(path, Access::Read, &mounts::read(roots), roots)?, roots)
}

/// The device of a place that holds bytes: by the number of its filesystem, else by the source of
/// its mount.
pub(crate) fn device_of_held(held: &Held, roots: &Roots) -> Option<Fact<String>> {
    by_number(&held.stat.on, roots).or_else(|| {
        let name = device_of_source(held.mount?, roots)?;
        Some(Fact::new(name, mounts::table_path(roots).display().to_string()))
    })
}

/// The device of a mount: by its number, else by its source if that is a device node.
pub(crate) fn device_of_mount(mount: &Mount, roots: &Roots) -> Option<String> {
    match by_number(&mount.device, roots) {
        Some(fact) => Some(fact.value),
        None => device_of_source(mount, roots),
    }
}

fn device_of_source(mount: &Mount, roots: &Roots) -> Option<String> {
    mount.source.starts_with("/dev/").then(|| device_of_node(&path_of(&mount.source), roots))?
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
