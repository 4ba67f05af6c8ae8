//! This host, for the files of tests and the head of their results.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_dialects::fio::lower::{self, Host as _};
use candor_dialects::ior::options::Reading;
use candor_dialects::ior::output::{Filesystem, Machine};
use candor_dialects::ior::plan::{self, Lowered};
use candor_dialects::ior::setup::Host;
use candor_dialects::kit::{Diagnostic, Found};
use candor_plan::{PathText, path_of};

use crate::commands::foreign::host::found;
use crate::commands::foreign::hosts::Hosts;
use crate::commands::foreign::ranks::RankHosts;

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
        let bytes = lower::ThisHost.first_bytes(path, STATUS_BYTES_MAX).ok()?;
        String::from_utf8(bytes).ok()
    }

    fn variables(&self, begin: &str) -> Vec<String> {
        let names = std::env::vars_os().map(|(name, _)| name.text());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(begin)).collect();
        names.sort();
        names
    }
}

/// The tests on this host, or on those that have their ranks.
///
/// # Errors
/// One of these cannot be reached, or refuses, in a sentence.
pub fn lowered(
    reading: &Reading,
    hosts: Option<&RankHosts>,
) -> Result<Result<Lowered, Vec<Diagnostic>>, String> {
    match hosts.map_or(Ok(None), RankHosts::paths)? {
        None => Ok(plan::lower(reading, &ThisHost)),
        Some(paths) => {
            let there = There(paths);
            let lowered = plan::lower(reading, &there);
            there.0.looked().map(|()| lowered)
        }
    }
}

/// Files of the hosts that have the ranks; what else is asked is this host's.
struct There(Hosts);

impl Host for There {
    fn found(&self, path: &Path) -> Found {
        self.0.found(path)
    }

    fn now_s(&self) -> u64 {
        ThisHost.now_s()
    }

    fn content(&self, path: &Path) -> Option<String> {
        ThisHost.content(path)
    }

    fn variables(&self, begin: &str) -> Vec<String> {
        ThisHost.variables(begin)
    }
}

/// The machine as its kernel names it, or as it was named where it is another one.
pub fn machine(elsewhere: Option<&str>) -> Machine {
    if let Some(node) = elsewhere {
        return Machine { system: "Linux".into(), node: node.into(), details: String::new() };
    }
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
    let first = path_of(file.split('@').next()?);
    let parent = first.parent().filter(|parent| !parent.as_os_str().is_empty());
    let of = rustix::fs::statvfs(parent.unwrap_or(Path::new("."))).ok()?;
    Some(Filesystem {
        bytes: of.f_blocks.saturating_mul(of.f_frsize),
        bytes_free: of.f_bfree.saturating_mul(of.f_frsize),
        inodes: of.f_files,
        inodes_free: of.f_ffree,
    })
}
