//! One block device's directory in sysfs.

use std::path::{Path, PathBuf};

use candor_record::facts::Fact;

use crate::source::Roots;

/// A block device's directory in sysfs.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    /// Kernel name.
    pub(crate) name: String,
    /// The directory by class: what a person would type, so facts name it.
    class: PathBuf,
    /// The directory by place: its parents are the hardware that it hangs on.
    pub(crate) place: PathBuf,
    /// Where the places begin.
    devices: PathBuf,
    /// Who answers.
    pub(crate) roots: Roots,
}

impl Node {
    /// The device of that name; absent if sysfs has none.
    pub(crate) fn open(name: &str, roots: &Roots) -> Option<Node> {
        let class = roots.block(name);
        let place = roots.real(&class)?;
        let devices = roots.real(&roots.sys)?.join("devices");
        Some(Node { name: name.to_owned(), class, place, devices, roots: roots.clone() })
    }

    /// Path of an attribute.
    pub(crate) fn path(&self, attribute: &str) -> PathBuf {
        self.class.join(attribute)
    }

    /// Whether the attribute is there.
    pub(crate) fn has(&self, attribute: &str) -> bool {
        self.roots.there(&self.path(attribute))
    }

    /// Text of an attribute.
    pub(crate) fn text(&self, attribute: &str) -> Option<String> {
        self.roots.text(&self.path(attribute))
    }

    /// An attribute as a fact.
    pub(crate) fn fact<T>(
        &self,
        attribute: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<Fact<T>> {
        self.roots.fact(&self.path(attribute), parse)
    }

    /// Names in a directory under the device's.
    pub(crate) fn names(&self, directory: &str) -> Vec<String> {
        self.roots.names(&self.path(directory))
    }

    /// `major:minor`; empty for hidden devices.
    pub(crate) fn number(&self) -> String {
        self.text("dev").unwrap_or_default()
    }

    /// The bus its driver sits on: `nvme`, `scsi`, `virtio`, ….
    pub(crate) fn bus(&self) -> Option<String> {
        self.roots.link_name(&self.path("device/subsystem"))
    }

    /// The whole disk of a partition.
    pub(crate) fn disk(&self, roots: &Roots) -> Option<Node> {
        let parent = self.place.parent()?.file_name()?.to_string_lossy().into_owned();
        self.is_partition().then(|| Node::open(&parent, roots))?
    }

    /// Whether it is a part of a disk.
    pub(crate) fn is_partition(&self) -> bool {
        self.has("partition")
    }

    /// The directories above its own, nearest first, up to the root of all devices.
    pub(crate) fn above(&self) -> impl Iterator<Item = &Path> {
        self.place
            .ancestors()
            .skip(1)
            .take_while(|path| path.starts_with(&self.devices) && *path != self.devices)
    }

    /// The first name above it that satisfies a test, such as `ata1` or `usb2`.
    pub(crate) fn named_above(&self, test: impl Fn(&str) -> bool) -> Option<String> {
        self.above()
            .filter_map(Path::file_name)
            .map(|name| name.to_string_lossy().into_owned())
            .find(|name| test(name))
    }
}

/// True for a name made of that prefix and a number, such as `ata1`.
pub(crate) fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix).unwrap_or("");
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}
