//! Hosts that run a plan: this host, or a fleet.

use candor_fleet::{Fleet, FleetOptions, Identity};
use candor_run::{BlockTraceMode, Channels, HostOptions, Local, RunError, Runner};

/// Hosts of a plan.
pub enum Place {
    /// This host.
    Here(HostOptions),
    /// The hosts of a fleet.
    Fleet(Identity, FleetOptions),
}

impl Place {
    /// This host, or a fleet. Targets of `force` are written even if another process holds them.
    pub fn new(force: Vec<String>, fleet: Option<(Identity, FleetOptions)>) -> Place {
        match fleet {
            None => Place::Here(HostOptions { force, at_once: true, ..HostOptions::default() }),
            Some((identity, options)) => Place::Fleet(identity, FleetOptions { force, ..options }),
        }
    }

    /// Number of the hosts of a fleet.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Place::Here(_) => None,
            Place::Fleet(_, options) => Some(options.hosts.len() as u32),
        }
    }

    /// Runs without the block tracer.
    pub fn without_trace(&mut self) {
        let mode = match self {
            Place::Here(host) => &mut host.block_trace,
            Place::Fleet(_, options) => &mut options.block_trace,
        };
        *mode = BlockTraceMode::Off;
    }

    /// The runner of these hosts.
    ///
    /// # Errors
    /// A host cannot be reached, or refuses.
    pub fn runner(self, channels: &Channels) -> Result<Box<dyn Runner>, RunError> {
        Ok(match self {
            Place::Here(options) => Box::new(Local::new(&options, channels)),
            Place::Fleet(identity, options) => {
                Box::new(Fleet::join(&identity, &options, channels)?)
            }
        })
    }
}
