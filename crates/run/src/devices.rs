//! Devices of the host by name, and the paths that lead to them.

use std::path::{Path, PathBuf};

use candor_observe::trace::BlockTracer;
use candor_observe::{Roots, diskstats};
use candor_plan::PathText;
use candor_record::Facts;
use candor_record::facts::Missing;
use candor_record::requests::RequestStats;

use crate::error::RunError;

/// Paths without links, each under the name that it was given. What is no path may be the name of
/// a device, as the kernel and iostat report it: `sda`.
pub fn named(paths: &[PathBuf]) -> Result<Vec<(String, PathBuf)>, RunError> {
    let find = |path: &PathBuf| {
        let found = path.canonicalize().or_else(|error| device(path).ok_or(error));
        found.map_err(RunError::find(path))
    };
    paths.iter().map(|path| Ok((path.text(), find(path)?))).collect()
}

/// The device of that name.
fn device(name: &Path) -> Option<PathBuf> {
    let roots = Roots::default();
    let name = name.file_name().filter(|alone| *alone == name)?.to_str()?;
    let (_, node) = node(name, &roots);
    (roots.sys.join("class/block").join(name).exists() && node.exists()).then_some(node)
}

/// Facts of some named paths.
///
/// # Errors
/// No block device is below any.
pub fn below(targets: &[(String, PathBuf)], roots: &Roots) -> Result<Facts, RunError> {
    let facts = candor_observe::inspect(targets, roots);
    if facts.devices.is_empty() {
        Err(RunError::NoDevice(targets.iter().map(|(name, _)| name.clone()).collect()))
    } else {
        Ok(facts)
    }
}

/// The devices of the host that can hold anything, with their nodes.
pub fn all(roots: &Roots) -> Vec<(String, PathBuf)> {
    names(roots).iter().map(|name| node(name, roots)).collect()
}

/// Devices of the host, partitions aside.
pub fn whole(roots: &Roots) -> Vec<String> {
    let disks = diskstats(roots).unwrap_or_default().into_iter();
    disks.filter(|disk| disk.partition_of.is_none()).map(|disk| disk.name).collect()
}

/// Devices of the host that can hold anything, partitions aside.
pub fn names(roots: &Roots) -> Vec<String> {
    let has_size = |name: &String| {
        let size = std::fs::read_to_string(roots.sys.join("class/block").join(name).join("size"));
        size.is_ok_and(|size| size.trim() != "0") && node(name, roots).1.exists()
    };
    whole(roots).into_iter().filter(has_size).collect()
}

/// A device and its node.
pub fn node(name: &str, roots: &Roots) -> (String, PathBuf) {
    (name.to_owned(), roots.dev.join(name.replace('!', "/")))
}

/// The requests traced so far; none where the tracer cannot run.
pub fn traced(tracer: &Result<BlockTracer, Missing>) -> RequestStats {
    tracer.as_ref().map(BlockTracer::stats).unwrap_or_default()
}

/// The same with the names of whole processes. In a container the tracer may know processes by
/// their numbers on the host, which are those of others here.
pub fn with_names(stats: RequestStats) -> RequestStats {
    if stats.own_pid == std::process::id() { stats.named(process) } else { stats }
}

/// The name of a process, which its threads may not bear.
fn process(pid: u32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    Some(name.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_found_by_their_names() {
        let Some(name) = names(&Roots::default()).into_iter().next() else { return };
        let found = named(&[PathBuf::from(&name)]).expect("the kernel names it");
        assert_eq!(found, [(name.clone(), Path::new("/dev").join(name.replace('!', "/")))]);
        for none in ["no-such-device", "..", "", "/nowhere/sda"] {
            assert_eq!(device(Path::new(none)), None, "{none}");
        }
    }
}
