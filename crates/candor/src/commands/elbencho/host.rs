//! This host, for paths and places of workers.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_dialects::elbencho::setup::Host;
use candor_dialects::kit::Found;
use candor_plan::units::cpu_list;
use candor_plan::{List, ListError, Listing};

use crate::commands::foreign::host::found;

/// The host that candor runs on.
pub struct ThisHost;

impl Host for ThisHost {
    fn found(&self, path: &Path) -> Found {
        found(path)
    }

    fn is_among_devices(&self, path: &Path) -> bool {
        let parent = std::path::absolute(path).ok();
        let parent = parent.and_then(|path| path.parent()?.canonicalize().ok());
        let device = |path: &Path| path.metadata().ok().map(|metadata| metadata.dev());
        parent.is_some_and(|parent| {
            parent.starts_with("/dev") && device(&parent) == device(Path::new("/dev"))
        })
    }

    fn cpus(&self) -> Vec<u32> {
        listed("/sys/devices/system/cpu/online").unwrap_or_default()
    }

    fn nodes(&self) -> Vec<u32> {
        listed("/sys/devices/system/node/online").unwrap_or_default()
    }

    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        listed(&format!("/sys/devices/system/node/node{node}/cpulist"))
    }

    fn list(&self, root: &Path, listing: &Listing) -> Result<List, ListError> {
        List::of(root, listing)
    }

    fn now(&self) -> (u64, u32) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (now.as_secs(), now.subsec_nanos())
    }
}

/// The numbers of a list that the kernel keeps in a file.
fn listed(path: &str) -> Option<Vec<u32>> {
    cpu_list(std::fs::read_to_string(path).ok()?.trim()).ok()
}
