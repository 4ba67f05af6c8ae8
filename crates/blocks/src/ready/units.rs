//! Units and limits of single operations, which only the files of a job know.

use candor_plan::Bytes;
use candor_plan::blocks::{Engine, UringCmd};
use candor_plan::units::Direction;

use super::{ReadyBlocks, gcd};
use crate::targets::files::OpenFile;
use crate::targets::passthrough::Device;
use crate::targets::passthrough::nvme::{Namespace, Protected};

/// Remedy where the page cache would take what direct I/O does not.
const LARGER: &str = "use larger operations, or direct = false";

impl ReadyBlocks {
    /// Ranges of each trim.
    pub(super) fn trim_ranges(&self) -> u32 {
        match self.blocks.engine {
            Engine::UringCmd(options) => options.trim_ranges.max(1),
            _ => 1,
        }
    }

    /// Checks that the files allow direct I/O in operations of these lengths.
    pub(super) fn check_direct(&self) -> Result<(), (String, &'static str)> {
        if !self.blocks.direct || self.trace.is_some() {
            return Ok(());
        }
        let takes_commands = self.blocks.engine.is_passthrough();
        let moves = |op| (takes_commands || op != Direction::Trim) && self.blocks.mix.of(op) > 0;
        let used = self.blocks.size.iter().filter(|(op, _)| moves(*op)).map(|(_, size)| size);
        let units = used.chain(&self.blocks.jump_size).map(|size| size.unit().0);
        let unit = units.fold(0, gcd);
        let refuses = |file: &&OpenFile| file.direct_unit().is_some_and(|least| unit % least != 0);
        match self.files.all().iter().find(refuses) {
            None => Ok(()),
            Some(file) => {
                let least = Bytes(file.direct_unit().unwrap_or(0));
                let path = file.path.display();
                let message = format!(
                    "direct I/O on `{path}` is in multiples of {least}, not of {}",
                    Bytes(unit)
                );
                Err((message, if takes_commands { "use larger operations" } else { LARGER }))
            }
        }
    }

    /// Checks that one command moves the longest operation.
    pub(super) fn check_commands(&self) -> Result<(), (String, &'static str)> {
        self.check_protection()?;
        let length = u64::from(self.length_moved());
        let most = |file: &OpenFile| file.device.and_then(|device| device.most_bytes());
        let refuses = |file: &&OpenFile| most(file).is_some_and(|most| length > most);
        match self.files.all().iter().find(refuses) {
            None => Ok(()),
            Some(file) => {
                let (path, least) = (file.path.display(), Bytes(most(file).unwrap_or(0)));
                let length = Bytes(length);
                let message = format!("a command to `{path}` moves {least} at most, not {length}");
                Err((message, "use smaller operations: nobody splits commands"))
            }
        }
    }

    /// Checks that blocks have the protection information that is to be checked.
    fn check_protection(&self) -> Result<(), (String, &'static str)> {
        let Engine::UringCmd(UringCmd { protection, .. }) = self.blocks.engine else {
            return Ok(());
        };
        let lacks = |file: &&OpenFile| match file.device {
            Some(Device::Nvme(Namespace { protected: Some(Protected::Placed), .. })) => false,
            Some(Device::Nvme(Namespace { protected: Some(Protected::Anywhere), .. })) => {
                protection.check_reference
            }
            _ => protection.checks(),
        };
        match self.files.all().iter().find(lacks) {
            None => Ok(()),
            Some(file) => {
                let path = file.path.display();
                let message =
                    format!("blocks of `{path}` have no such protection information to be checked");
                Err((message, "remove the checks, or format the namespace with it"))
            }
        }
    }
}
