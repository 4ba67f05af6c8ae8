//! Hosts that are others than this one.

use super::Request;
use crate::file::{HostName, ParameterFile};
use candor_front::{Diagnostic, Diagnostics, Host};

/// Default port of an agent.
const PORT: u16 = 4730;

/// Hosts that run the jobs together, if one of them is remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Systems(Vec<String>);

impl Systems {
    /// Systems of the definitions of hosts, each once.
    pub fn of(file: &ParameterFile, host: &dyn Host) -> Systems {
        let mut systems: Vec<String> = Vec::new();
        if file.hosts.iter().any(|name| name.at.is_some() && !host.is_this_host(&name.system)) {
            for HostName { system, .. } in &file.hosts {
                if !systems.contains(system) {
                    systems.push(system.clone());
                }
            }
        }
        Systems(systems)
    }

    /// True if this host runs all jobs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of hosts that run jobs.
    pub fn count(&self) -> u32 {
        u32::try_from(self.0.len().max(1)).unwrap_or(u32::MAX)
    }

    /// Addresses of their agents, in the order of their numbers.
    pub fn addresses(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|system| match system.rsplit_once(':') {
                Some((name, port)) if !name.contains(':') && port.parse::<u16>().is_ok() => {
                    system.clone()
                }
                _ if system.contains(':') => format!("[{system}]:{PORT}"),
                _ => format!("{system}:{PORT}"),
            })
            .collect()
    }

    /// Number of a host's system; `None` if this host runs all jobs.
    pub fn number(&self, file: &ParameterFile, label: &str) -> Option<u32> {
        let name = file.hosts.iter().find(|host| host.label == label)?;
        let number = self.0.iter().position(|system| *system == name.system)?;
        u32::try_from(number).ok()
    }
}

/// Refuses work that several hosts cannot do.
pub(super) fn check(request: &Request<'_>, out: &mut Diagnostics) {
    let others = request.file.hosts.iter().filter_map(|host| Some((host, host.at?)));
    let mut others = others.filter(|(host, _)| !request.host.is_this_host(&host.system));
    let Some((first, at)) = others.next() else { return };
    let mut refuse = |what: &str, remedy: &str| {
        let message = format!("hd={} is another host, and {what}", first.label);
        out.push(Diagnostic::new(at, "hosts", &first.label, message).remedy(remedy));
    };
    let general = &request.file.general().options;
    if request.asked.validation.is_some()
        || request.asked.journal.is_some()
        || general.validation.is_on
    {
        let what = "data are validated on this host only, which knows what was written";
        refuse(what, "leave validation out, or run candor on that host");
    }
}
