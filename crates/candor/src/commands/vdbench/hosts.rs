//! Several hosts: the systems of `hd=`, which have agents of candor.

use std::path::Path;

use candor_dialects::kit::Found;
use candor_dialects::vdbench::lower::{Host, Systems};
use candor_fleet::{FleetOptions, Identity};
use candor_plan::Engine;

use super::host::ThisHost;
use crate::commands::foreign::hosts::Hosts;
use crate::hosts::Keys;

/// The hosts of a run, and how they let us in.
pub fn fleet(systems: &Systems, force: Vec<String>) -> Result<(Identity, FleetOptions), String> {
    let hosts = systems.addresses();
    let options = FleetOptions { hosts, force, at_once: true, ..FleetOptions::default() };
    Ok((Keys::default().identity()?, options))
}

/// Paths of the systems; what else is asked is this host's.
pub struct There(Vec<Hosts>);

impl There {
    /// Reaches them, each by itself: not all have the same luns.
    pub fn join(systems: &Systems) -> Result<There, String> {
        let identity = Keys::default().identity()?;
        let join = |address: String| {
            let options =
                FleetOptions { hosts: vec![address], at_once: true, ..FleetOptions::default() };
            Hosts::join(&identity, &options)
        };
        systems.addresses().into_iter().map(join).collect::<Result<_, _>>().map(There)
    }

    /// Ends with the reason for which one could not look.
    pub fn looked(self) -> Result<(), String> {
        self.0.into_iter().try_for_each(Hosts::looked)
    }
}

impl Host for There {
    fn found(&self, path: &Path) -> Found {
        self.found_on(0, path)
    }

    fn found_on(&self, number: u32, path: &Path) -> Found {
        self.0.get(number as usize).map_or(Found::Nothing, |hosts| hosts.found(path))
    }

    fn async_engine(&self) -> Engine {
        ThisHost.async_engine()
    }

    fn is_this_host(&self, system: &str) -> bool {
        ThisHost.is_this_host(system)
    }

    fn cpus(&self) -> u32 {
        ThisHost.cpus()
    }

    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        ThisHost.bytes(path)
    }
}
