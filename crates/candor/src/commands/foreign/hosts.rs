//! Hosts of a fleet while a foreign command line is lowered: paths are theirs.

use std::cell::RefCell;
use std::path::Path;

use candor_fleet::{Fleet, FleetOptions, Identity};
use candor_front::Found;
use candor_record::facts::PathKind;
use candor_record::{HostRecord, PhaseRecord};
use candor_run::{Channels, RunError, Runner, Survey};

/// Hosts that are asked for what stands at paths.
pub struct Hosts {
    fleet: Fleet,
    /// Why a host could not look.
    wrong: RefCell<Option<String>>,
}

impl Hosts {
    /// Reaches them.
    ///
    /// # Errors
    /// One of them cannot be reached, or refuses, in a sentence.
    pub fn join(identity: &Identity, options: &FleetOptions) -> Result<Hosts, String> {
        let fleet = Fleet::join(identity, options, &Channels::default());
        let fleet = fleet.map_err(|error| error.to_string())?;
        Ok(Hosts { fleet, wrong: RefCell::default() })
    }

    /// Names of the hosts, each another.
    pub fn names(&self) -> Vec<String> {
        let hosts: Vec<HostRecord> = self.fleet.hosts().to_vec();
        PhaseRecord { hosts, ..PhaseRecord::default() }.host_names()
    }

    /// The thing at a path, on all hosts that have it.
    pub fn found(&self, path: &Path) -> Found {
        let Survey { kind, length_bytes, .. } = match self.fleet.survey(path) {
            Ok(survey) => survey,
            Err(RunError::Host { sentence, exit_code: 2 })
                if sentence.contains("does not exist") =>
            {
                return Found::Nothing;
            }
            Err(error) => {
                self.wrong.borrow_mut().get_or_insert(error.to_string());
                return Found::Nothing;
            }
        };
        match (kind, length_bytes) {
            (PathKind::Missing, _) => Found::Nothing,
            (PathKind::Directory, _) => Found::Directory,
            (PathKind::File, Some(bytes)) => Found::File(bytes),
            (PathKind::Device, Some(bytes)) => Found::Device(Some(bytes)),
            _ => Found::Other,
        }
    }

    /// Ends with the reason for which a host could not look.
    ///
    /// # Errors
    /// The reason, in a sentence.
    pub fn looked(self) -> Result<(), String> {
        self.wrong.into_inner().map_or(Ok(()), Err)
    }
}
