//! This host, for the files of tests and the head of their results.

use std::path::Path;

use candor_front::Diagnostic;
use candor_ior::options::Reading;
use candor_ior::output::{Filesystem, Machine};
use candor_ior::plan::{self, Lowered};
use candor_plan::path_of;

use crate::commands::foreign::host::ThisHost;
use crate::commands::foreign::ranks::RankHosts;

/// The tests on this host, or on those that have their ranks.
///
/// # Errors
/// One of these cannot be reached, or refuses, in a sentence.
pub fn lowered(
    reading: &Reading,
    hosts: Option<&RankHosts>,
) -> Result<Result<Lowered, Vec<Diagnostic>>, String> {
    match hosts.map_or(Ok(None), RankHosts::paths)? {
        None => Ok(plan::lower(reading, &ThisHost::default())),
        Some(paths) => {
            let there = ThisHost::with_paths_of(paths);
            let lowered = plan::lower(reading, &there);
            there.looked().map(|()| lowered)
        }
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
