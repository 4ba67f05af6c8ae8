//! Units and limits of single operations, which only the files of a job know.

use candor_plan::blocks::{Engine, Protection, ScsiWrite, UringCmd};
use candor_plan::units::Direction;
use candor_plan::{Bytes, PathText};

use super::{ReadyBlocks, gcd};
use crate::targets::files::OpenFile;
use crate::targets::passthrough::Device;
use crate::targets::passthrough::nvme::Namespace;

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
                let path = file.path.text();
                let message = format!(
                    "direct I/O on `{path}` is in multiples of {least}, not of {}",
                    Bytes(unit)
                );
                Err((message, if takes_commands { "use larger operations" } else { LARGER }))
            }
        }
    }

    /// Checks that one command moves, or covers, the longest operation.
    pub(super) fn check_commands(&self) -> Result<(), (String, &'static str)> {
        self.check_protection()?;
        let moved = u64::from(self.length_moved());
        let written = u64::from(self.longest(|op| op == Direction::Write));
        for file in self.files.all() {
            let Some(device) = &file.device else { continue };
            let limits = [
                ("moves", moved, device.most_bytes()),
                ("covers", written, self.most_written(device)),
            ];
            let passed =
                limits.into_iter().find(|(_, length, most)| most.is_some_and(|m| *length > m));
            if let Some((verb, length, most)) = passed {
                let (path, most, length) =
                    (file.path.text(), Bytes(most.unwrap_or(0)), Bytes(length));
                let message = format!("a command to `{path}` {verb} {most} at most, not {length}");
                return Err((message, "use smaller operations: commands are not split"));
            }
        }
        Ok(())
    }

    /// Most bytes whose blocks a command that writes can count, whether it moves them or not.
    fn most_written(&self, device: &Device) -> Option<u64> {
        match (device, self.blocks.engine) {
            // The number of blocks has 16 bits, and is one less than it says.
            (Device::Nvme(namespace), _) => Some(namespace.unit() << 16),
            (Device::Scsi(disk), Engine::Sg(options)) if options.write == ScsiWrite::Stream => {
                Some(u64::from(disk.block_bytes) * u64::from(u16::MAX))
            }
            _ => None,
        }
    }

    /// Checks that blocks have the protection information that is to be made or checked, and that
    /// there is room for their metadata.
    fn check_protection(&self) -> Result<(), (String, &'static str)> {
        let Engine::UringCmd(UringCmd { protection, metadata_bytes, .. }) = self.blocks.engine
        else {
            return Ok(());
        };
        for (file, namespace) in self.namespaces() {
            let path = file.path.text();
            let tags = namespace.metadata.and_then(|metadata| metadata.tags);
            let lacks = match tags {
                Some(tags) => protection.check_reference && !tags.is_placed,
                None => protection.checks() || protection.made_by_host,
            };
            if lacks {
                let message = format!("blocks of `{path}` have no such protection information");
                return Err((message, "remove its options, or format the namespace with it"));
            }
            let has_tags_inside =
                namespace.moved_tags().is_some() && namespace.metadata_apart(namespace.unit()) == 0;
            if has_tags_inside && self.blocks.verify.is_some() {
                let message = format!(
                    "protection information lies between the blocks of `{path}`, where verify \
                     expects what it wrote"
                );
                return Err((message, "remove verify: the guards check each block"));
            }
            let needed = namespace.metadata_apart(u64::from(self.length_moved()));
            if let Some(given) = metadata_bytes.filter(|given| given.0 < needed) {
                let message = format!(
                    "the longest operation on `{path}` has {} of metadata, and metadata_bytes is \
                     {given}",
                    Bytes(needed)
                );
                return Err((message, "raise it, or leave it out"));
            }
        }
        Ok(())
    }

    fn namespaces(&self) -> impl Iterator<Item = (&OpenFile, Namespace)> {
        self.files.all().iter().filter_map(|file| match file.device {
            Some(Device::Nvme(namespace)) => Some((file, namespace)),
            _ => None,
        })
    }

    /// Bytes for the metadata of an operation, where that is apart from its blocks.
    pub(super) fn metadata_bytes(&self) -> usize {
        let length = u64::from(self.length_moved());
        let needed = self.namespaces().map(|(_, namespace)| namespace.metadata_apart(length)).max();
        let given = match self.blocks.engine {
            Engine::UringCmd(UringCmd { metadata_bytes, .. }) => metadata_bytes,
            _ => None,
        };
        let needed = needed.filter(|needed| *needed > 0);
        needed.map_or(0, |needed| given.map_or(needed, |given| given.0)) as usize
    }

    /// Protection information that the host makes and checks, where it does.
    pub(super) fn host_protection(&self) -> Option<Protection> {
        match self.blocks.engine {
            Engine::UringCmd(options) if options.protection.made_by_host => {
                Some(options.protection)
            }
            _ => None,
        }
    }
}
