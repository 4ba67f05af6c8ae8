//! I/O schedulers of devices: switched for a phase, and restored after it. A mark keeps the earlier
//! ones, so that a later run restores what a kill left.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use candor_record::Note;

use crate::leftovers::{self, Mark};

/// Directory of the marks. A boot empties it, as it resets schedulers.
const MARKS: &str = "/run/candor";

/// The devices whose scheduler was switched.
#[derive(Debug, Default)]
pub struct Schedulers {
    /// Files of the schedulers, with the earlier one.
    switched: Vec<(PathBuf, String)>,
    /// Keeps the same for a later run; none before the first switch, or where it cannot be made.
    mark: Option<Mark>,
}

impl Schedulers {
    /// Switches the device at a path, or the one that holds the file there. A device without a
    /// choice is left as it is.
    ///
    /// # Errors
    /// The kernel's; `EINVAL` for a scheduler that it does not have.
    pub fn switch(&mut self, path: &Path, name: &str) -> io::Result<()> {
        let Some(file) = of_device(path)? else { return Ok(()) };
        let Some(present) = chosen(&fs::read_to_string(&file)?) else { return Ok(()) };
        if !self.switched.iter().any(|(known, _)| *known == file) {
            self.keep(&file, &present);
            self.switched.push((file.clone(), present));
        }
        fs::write(&file, name)?;
        match chosen(&fs::read_to_string(&file)?) {
            Some(now) if now == name => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        }
    }

    /// Notes the scheduler in a mark. Without a mark it is lost by a kill, which keeps no run from
    /// going on.
    fn keep(&mut self, file: &Path, present: &str) {
        if self.mark.is_none() {
            // Another run may have made it.
            let _ = fs::DirBuilder::new().mode(0o700).create(MARKS);
            self.mark = Mark::create(Path::new(MARKS)).ok();
        }
        let _ = self.mark.as_ref().map(|mark| mark.keep(file, present));
    }

    /// Restores the scheduler of each device.
    pub fn put_back(&mut self) {
        let mut all = true;
        for (file, name) in self.switched.drain(..) {
            all &= restore(&file, &name).is_ok();
        }
        if let Some(mark) = self.mark.take_if(|_| all) {
            let _ = fs::remove_file(mark.path());
        }
    }
}

impl Drop for Schedulers {
    fn drop(&mut self) {
        self.put_back();
    }
}

/// Restores the schedulers that killed runs left; a note for each of those runs.
pub fn restore_left() -> Vec<Note> {
    leftovers::restore_in(Path::new(MARKS), &restore)
}

fn restore(file: &Path, name: &str) -> io::Result<()> {
    match fs::write(file, name) {
        // A device that is gone has no scheduler.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        written => written,
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
