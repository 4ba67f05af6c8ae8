//! Several hosts: the systems of `hd=`, which have agents of candor.

use candor_fleet::{FleetOptions, Identity};
use candor_vdbench::lower::Systems;

use crate::commands::foreign::host::ThisHost;
use crate::commands::foreign::hosts::Hosts;
use crate::hosts::Keys;

/// The hosts of a run with their identity; none if this host runs it.
pub fn fleet(systems: &Systems) -> Result<Option<(Identity, FleetOptions)>, String> {
    if systems.is_empty() {
        return Ok(None);
    }
    let hosts = systems.addresses();
    let options = FleetOptions { hosts, at_once: true, ..FleetOptions::default() };
    Ok(Some((Keys::default().identity()?, options)))
}

/// This host with the paths of the systems, each by itself: not all have the same luns.
pub fn join(systems: &Systems) -> Result<ThisHost, String> {
    let identity = Keys::default().identity()?;
    let join = |address: String| {
        let options =
            FleetOptions { hosts: vec![address], at_once: true, ..FleetOptions::default() };
        Hosts::join(&identity, &options)
    };
    let elsewhere = systems.addresses().into_iter().map(join).collect::<Result<_, _>>()?;
    Ok(ThisHost { elsewhere, client: None })
}
