//! Devices that are written to are claimed for the length of the run, as a mount would: the
//! kernel refuses if anyone holds them, in whichever mount namespace, and nobody can take them
//! meanwhile.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The devices claimed by this run, by number.
#[derive(Debug, Default)]
pub struct Claims(HashMap<u64, File>);

impl Claims {
    /// Claims a device that is not claimed yet.
    ///
    /// # Errors
    /// `EBUSY` where someone holds it.
    pub fn take(&mut self, path: &Path) -> io::Result<()> {
        if self.holds(path) {
            return Ok(());
        }
        // Reading is enough for a claim, and closing it later does not look like a change.
        let flags = libc::O_EXCL | libc::O_NONBLOCK;
        let file = File::options().read(true).custom_flags(flags).open(path)?;
        self.0.insert(file.metadata()?.rdev(), file);
        Ok(())
    }

    /// True for a claimed device.
    pub fn holds(&self, path: &Path) -> bool {
        let Ok(metadata) = path.metadata() else { return false };
        metadata.file_type().is_block_device() && self.0.contains_key(&metadata.rdev())
    }
}

/// True for the kernel's answer that someone else holds a device.
pub fn is_busy(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}
