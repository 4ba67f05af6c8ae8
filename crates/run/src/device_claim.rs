//! A claim on one device outside of a run, for a tool that writes to it without a plan.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use candor_observe::Roots;

use crate::claims::{self, Claims};

/// A device that nobody else uses, for as long as this lives.
#[derive(Debug)]
pub struct DeviceClaim {
    _claims: Claims,
}

/// Claims a block device that is to be written, so that nobody mounts it meanwhile; none for any
/// other file.
///
/// # Errors
/// A sentence that names who holds it: a mount, swap, a device built on it, or someone whom this
/// namespace does not show.
pub fn claim_device(path: &Path) -> Result<Option<DeviceClaim>, String> {
    let is_device = path.metadata().is_ok_and(|file| file.file_type().is_block_device());
    if !is_device {
        return Ok(None);
    }
    let roots = Roots::default();
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
