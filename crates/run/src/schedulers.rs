//! I/O schedulers of devices: switched for a phase, and put back behind it.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The devices whose scheduler was switched, with the one that they had.
#[derive(Debug, Default)]
pub struct Schedulers(Vec<(PathBuf, String)>);

impl Schedulers {
    /// Switches the device at a path, or the one that holds the file there. A device without a
    /// choice is left as it is.
    ///
    /// # Errors
    /// The kernel's; `EINVAL` for a scheduler that it does not have.
    pub fn switch(&mut self, path: &Path, name: &str) -> io::Result<()> {
        let Some(file) = of_device(path)? else { return Ok(()) };
        let Some(present) = chosen(&fs::read_to_string(&file)?) else { return Ok(()) };
        fs::write(&file, name)?;
        if !self.0.iter().any(|(known, _)| *known == file) {
            self.0.push((file.clone(), present));
        }
        match chosen(&fs::read_to_string(&file)?) {
            Some(now) if now == name => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        }
    }

    /// Gives each device the scheduler back that it had.
    pub fn put_back(&mut self) {
        for (file, name) in self.0.drain(..) {
            // A device that is gone has no scheduler.
            let _ = fs::write(file, name);
        }
    }
}

impl Drop for Schedulers {
    fn drop(&mut self) {
        self.put_back();
    }
}

/// The file of the scheduler of what a path stands for; none where there is no such device.
fn of_device(path: &Path) -> io::Result<Option<PathBuf>> {
    let metadata = path.metadata()?;
    let is_device = metadata.file_type().is_block_device();
    let number = if is_device { metadata.rdev() } else { metadata.dev() };
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let Ok(device) = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")) else {
        return Ok(None);
    };
    // Partitions have the queue of their disk.
    let disk = if device.join("partition").exists() { device.parent() } else { Some(&*device) };
    let file = disk.map(|disk| disk.join("queue/scheduler"));
    Ok(file.filter(|file| file.exists()))
}

/// The one in brackets; none where there is no choice.
fn chosen(list: &str) -> Option<String> {
    let (_, rest) = list.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_one_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber\n").as_deref(), Some("mq-deadline"));
        assert_eq!(chosen("none\n"), None);
    }

    #[test]
    fn what_has_no_device_is_left_alone() {
        let mut schedulers = Schedulers::default();
        assert!(schedulers.switch(Path::new("/proc/self/stat"), "none").is_ok());
        assert!(schedulers.switch(Path::new("/dev/null/x"), "none").is_err());
    }
}
