//! A limit of reads per second, as a provider sets it on a volume.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{major, minor};

use crate::Outcome;

/// A group of processes whose reads of a disk are limited; dropped, it is removed.
pub struct Limit {
    group: PathBuf,
    /// Number of the disk, as the kernel writes it.
    disk: String,
}

impl Limit {
    /// A group for the disk below a directory, without a limit so far.
    pub fn below(dir: &Path) -> Outcome<Limit> {
        let device = fs::metadata(dir)?.dev();
        let disk = format!("{}:{}", major(device), minor(device));
        let group = PathBuf::from("/sys/fs/cgroup/blkio/candor-pictures");
        fs::create_dir(&group).map_err(|error| format!("{}: {error}", group.display()))?;
        Ok(Limit { group, disk })
    }

    /// Has so many reads per second pass from now on.
    pub fn set(&self, iops: u32) -> Outcome<()> {
        let line = format!("{} {iops}", self.disk);
        Ok(fs::write(self.group.join("blkio.throttle.read_iops_device"), line)?)
    }

    /// The file that takes the processes of the group.
    pub fn processes(&self) -> PathBuf {
        self.group.join("cgroup.procs")
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.group) {
            eprintln!("{} could not be removed: {error}", self.group.display());
        }
    }
}
