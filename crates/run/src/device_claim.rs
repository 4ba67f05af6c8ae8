//! A claim on one device outside of a run, for a tool that writes to it without a plan.

use std::fs::Metadata;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use candor_observe::Roots;

use crate::claims::{self, Claims};

/// A device that nobody else uses, for as long as this lives.
#[derive(Debug)]
pub struct DeviceClaim {
    _claims: Claims,
}

/// Claims a block device that is to be written, so that nobody mounts it meanwhile; none for any
/// other file. One that backs a loop device is refused as the device is.
///
/// # Errors
/// A sentence that names who holds it: a mount, swap, a device built on it, or someone whom this
/// namespace does not show.
pub fn claim_device(path: &Path) -> Result<Option<DeviceClaim>, String> {
    let roots = Roots::default();
    match path.metadata() {
        Ok(file) if file.file_type().is_block_device() => {}
        Ok(file) if file.is_file() && file.len() > 0 => {
            return not_backing(&file, &roots).map(|()| None);
        }
        _ => return Ok(None),
    }
    let name = candor_observe::device_of_path(path, &roots);
    let holders = name.map(|name| candor_observe::holders(&name, &roots)).unwrap_or_default();
    if !holders.is_empty() {
        return Err(format!("it is in use by {}", holders.join(", ")));
    }
    let mut claims = Claims::default();
    match claims.take(path) {
        Ok(()) => Ok(Some(DeviceClaim { _claims: claims })),
        Err(error) if claims::is_busy(&error) => {
            Err("it is in use, perhaps in another container or mount namespace".to_owned())
        }
        // Whoever may not open it cannot write to it either, and learns that from the open.
        Err(_) => Ok(None),
    }
}

/// Refuses a file whose bytes are a loop device's.
fn not_backing(file: &Metadata, roots: &Roots) -> Result<(), String> {
    let Some(loop_files) = candor_observe::loop_files(roots) else {
        return Err("its users cannot be found, for sysfs is not mounted on /sys".to_owned());
    };
    let file = (file.dev(), file.ino());
    let Some(held) = loop_files.into_iter().find(|held| held.file == file) else { return Ok(()) };
    Err(match candor_observe::holders(&held.device, roots).as_slice() {
        [] => format!("it is in use as the loop device {}", held.device),
        users => {
            format!("it is in use as {}, which is in use by {}", held.device, users.join(", "))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_devices_are_claimed() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for path in [file.path(), Path::new("/dev/null"), Path::new("/nonexistent")] {
            assert!(claim_device(path).is_ok_and(|claim| claim.is_none()), "{}", path.display());
        }
    }
}
