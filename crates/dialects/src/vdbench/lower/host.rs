//! Facts of the host that a plan depends on, and hosts that are others.

use std::path::Path;

use candor_plan::Engine;

use super::Request;
use crate::kit::{Diagnostic, Diagnostics, Found};

/// The host that a plan is for, so that lowering can be tested without one.
pub trait Host {
    /// The thing at a path.
    fn found(&self, path: &Path) -> Found;
    /// The engine that has several operations in flight.
    fn async_engine(&self) -> Engine;
    /// True where a name or address is that of this host.
    fn is_this_host(&self, system: &str) -> bool;
    /// Number of CPUs.
    fn cpus(&self) -> u32;
    /// The bytes of a file, where it can be read.
    fn bytes(&self, path: &Path) -> Option<Vec<u8>>;
}

/// Refuses hosts that are others.
pub(super) fn check(request: &Request<'_>, out: &mut Diagnostics) {
    for host in &request.file.hosts {
        let Some(at) = host.at.filter(|_| !request.host.is_this_host(&host.system)) else {
            continue;
        };
        let message = format!(
            "hd={} with system={} is not this host, and candor does not start others yet",
            host.label, host.system
        );
        let error = Diagnostic::new(at, "hosts", &host.label, message);
        out.push(error.remedy("run candor on that host, or use clients= for several at one host"));
    }
}
