//! The start of agents on the hosts of a run, by ssh, a launcher, or users.

use candor_fleet::{FleetOptions, Identity};

use super::launch::{self, Launch, Part};
use crate::hosts::Hosts;
use crate::ssh::Agents;

/// Hosts whose agents wait for a coordinator.
pub struct Led {
    /// Keys.
    pub identity: Identity,
    /// Addresses of agents, and how to reach them.
    pub options: FleetOptions,
    _own: Own,
}

/// Agents that were started for this run, and end with it.
#[derive(Default)]
struct Own {
    _agents: Option<Agents>,
    _launch: Option<Box<Launch>>,
}

/// Starts the agents of a run, and returns the keys of all agents; `None` if another process leads
/// them.
///
/// # Errors
/// A sentence: options contradict each other, keys are missing, or an agent did not start.
pub fn lead(hosts: &Hosts) -> Result<Option<Led>, String> {
    hosts.check()?;
    if hosts.launched {
        return match launch::part(&hosts.keys)? {
            Part::Over => Ok(None),
            Part::Alone => Err("no launcher is known that has started this process among others; \
                                remove --launched"
                .into()),
            Part::Leads(launch) => Ok(Some(Led {
                identity: launch.identity.clone(),
                options: FleetOptions { hosts: launch.options.hosts.clone(), ..hosts.options() },
                _own: Own { _launch: Some(launch), ..Own::default() },
            })),
        };
    }
    let Some(ssh) = &hosts.ssh else {
        return Ok(Some(Led {
            identity: hosts.keys.identity()?,
            options: FleetOptions { hosts: hosts.list.clone(), ..hosts.options() },
            _own: Own::default(),
        }));
    };
    let agents = ssh.start(&hosts.list)?;
    Ok(Some(Led {
        identity: agents.identity.clone(),
        options: FleetOptions { hosts: agents.addresses.clone(), ..hosts.options() },
        _own: Own { _agents: Some(agents), ..Own::default() },
    }))
}
