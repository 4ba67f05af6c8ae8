//! Where the kernel's file trees are, so that tests can replay recorded ones.

use std::path::{Path, PathBuf};

/// The roots of the kernel's file trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// Instead of `/sys`.
    pub sys: PathBuf,
    /// Instead of `/proc`.
    pub proc: PathBuf,
    /// Instead of `/dev`.
    pub dev: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Roots { sys: "/sys".into(), proc: "/proc".into(), dev: "/dev".into() }
    }
}

impl Roots {
    /// Where an absolute path that the kernel named is found: the same place, or the same place
    /// in the recorded tree.
    pub(crate) fn place(&self, path: &Path) -> PathBuf {
        let trees = [("/sys", &self.sys), ("/proc", &self.proc), ("/dev", &self.dev)];
        for (prefix, root) in trees {
            if let Ok(rest) = path.strip_prefix(prefix) {
                return root.join(rest);
            }
        }
        path.to_path_buf()
    }

    /// The directory of a block device, partitions included.
    pub(crate) fn block(&self, name: &str) -> PathBuf {
        self.sys.join("class/block").join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kernel_trees_move() {
        let roots = Roots { sys: "/t/sys".into(), proc: "/t/proc".into(), dev: "/t/dev".into() };
        assert_eq!(roots.place(Path::new("/sys/fs/cgroup")), Path::new("/t/sys/fs/cgroup"));
        assert_eq!(roots.place(Path::new("/dev/sda")), Path::new("/t/dev/sda"));
        assert_eq!(roots.place(Path::new("/system/x")), Path::new("/system/x"));
        assert_eq!(roots.place(Path::new("/home")), Path::new("/home"));
    }
}
