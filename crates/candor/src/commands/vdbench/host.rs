//! This host, for luns and engines.

use std::path::Path;

use candor_dialects::kit::Found;
use candor_dialects::vdbench::lower::Host;
use candor_plan::Engine;

use crate::commands::foreign::host::{cpus_online, found};

/// Names and addresses of whatever host this is.
const HERE: [&str; 3] = ["localhost", "::1", "current"];

/// Most bytes of a file of patterns.
const BYTES_MAX: u64 = 1 << 20;

/// The host that candor runs on.
pub struct ThisHost;

impl Host for ThisHost {
    fn found(&self, path: &Path) -> Found {
        found(path)
    }

    fn async_engine(&self) -> Engine {
        candor_blocks::engines::best_of_many()
    }

    fn is_this_host(&self, system: &str) -> bool {
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let short = own.split('.').next().unwrap_or(&own);
        // Whoever names a port means the agent behind it.
        let has_port = system.split_once(':').is_some_and(|(_, port)| !port.contains(':'));
        let is_here = HERE.contains(&system) || system.starts_with("127.");
        !has_port && (is_here || system == own || system == short)
    }

    fn cpus(&self) -> u32 {
        u32::try_from(cpus_online()).unwrap_or(u32::MAX)
    }

    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        let metadata = path.metadata().ok()?;
        let is_short = metadata.is_file() && metadata.len() <= BYTES_MAX;
        is_short.then(|| std::fs::read(path).ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_host_has_many_names() {
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        for system in ["localhost", "127.0.0.1", &own] {
            assert!(ThisHost.is_this_host(system), "{system}");
        }
        for system in ["elsewhere.example.org", "127.0.0.1:4730", "localhost:4730"] {
            assert!(!ThisHost.is_this_host(system), "{system}");
        }
    }
}
