//! This host, for the files of tests and the head of their results.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use candor_dialects::fio::lower::{self, Host as _};
use candor_dialects::ior::output::{Filesystem, Machine};
use candor_dialects::ior::setup::Host;
use candor_dialects::kit::Found;

use crate::commands::foreign::host::found;

/// Bytes that a status file has at most.
const STATUS_BYTES_MAX: usize = 64;

/// The host that candor runs on.
pub struct ThisHost;

impl Host for ThisHost {
    fn found(&self, path: &Path) -> Found {
        found(path)
    }

    fn now_s(&self) -> u64 {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }

    fn content(&self, path: &Path) -> Option<String> {
        let bytes = lower::ThisHost.first_bytes(path, STATUS_BYTES_MAX)?;
        String::from_utf8(bytes).ok()
    }

    fn variables(&self, begin: &str) -> Vec<String> {
        let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(begin)).collect();
        names.sort();
        names
    }
}

/// The machine as the kernel names it.
pub fn machine() -> Machine {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    let details = [names.release(), names.version(), names.machine()].map(text);
    Machine {
        system: text(names.sysname()),
        node: text(names.nodename()),
        details: details.join(" "),
    }
}

/// The filesystem of a file, which need not be there.
pub fn filesystem(file: &str) -> Option<Filesystem> {
    let first = PathBuf::from(file.split('@').next()?);
    let parent = first.parent().filter(|parent| !parent.as_os_str().is_empty());
    let of = rustix::fs::statvfs(parent.unwrap_or(Path::new("."))).ok()?;
    Some(Filesystem {
        bytes: of.f_blocks.saturating_mul(of.f_frsize),
        bytes_free: of.f_bfree.saturating_mul(of.f_frsize),
        inodes: of.f_files,
        inodes_free: of.f_ffree,
    })
}
