//! Devices that take commands past the block layer: generic devices of NVMe namespaces, and SCSI
//! disks.

pub mod nvme;
pub mod scsi;

use std::fs::File;
use std::io;
use std::path::Path;

use candor_plan::{Engine, PathText};

/// A device, with what it says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A namespace that takes NVMe commands.
    Nvme(nvme::Namespace),
    /// A disk that takes SCSI commands.
    Scsi(scsi::Disk),
}

impl Device {
    /// Asks an open device what it is, in the commands of an engine.
    ///
    /// # Errors
    /// The kernel's, or the device's; `ENOTTY` and the like for what takes no such commands.
    pub fn identify(file: &File, engine: &Engine) -> io::Result<Device> {
        match engine {
            Engine::UringCmd(options) => {
                nvme::identify(file, options.protection.made_by_host).map(Device::Nvme)
            }
            _ => scsi::identify(file).map(Device::Scsi),
        }
    }

    /// Length of the device in bytes, as commands count them.
    pub fn bytes(&self) -> u64 {
        self.blocks().saturating_mul(self.unit())
    }

    /// Bytes of which offsets and lengths are multiples: those of a block, with its metadata where
    /// that follows it.
    pub fn unit(&self) -> u64 {
        match self {
            Device::Nvme(namespace) => namespace.unit(),
            Device::Scsi(disk) => u64::from(disk.block_bytes),
        }
    }

    fn blocks(&self) -> u64 {
        match self {
            Device::Nvme(namespace) => namespace.blocks,
            Device::Scsi(disk) => disk.blocks,
        }
    }

    /// Most bytes of one command that moves some; none where the device does not say.
    pub fn most_bytes(&self) -> Option<u64> {
        match self {
            Device::Nvme(namespace) => namespace.most_bytes,
            Device::Scsi(disk) => disk.most_bytes,
        }
    }

    /// Flushes the device's cache.
    ///
    /// # Errors
    /// The kernel's, or the device's.
    pub fn flush(&self, file: &File) -> io::Result<()> {
        match self {
            Device::Nvme(namespace) => namespace.flush(file),
            Device::Scsi(disk) => disk.flush(file),
        }
    }

    /// Reads a part of the device by a single command.
    ///
    /// # Errors
    /// The kernel's, or the device's.
    pub fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> io::Result<u64> {
        match self {
            Device::Nvme(namespace) => namespace.read(file, buffer, offset),
            Device::Scsi(disk) => disk.read(file, buffer, offset),
        }
    }
}

/// Meaning of an error number of an engine's commands, where the number's own sentence does not say
/// it; none for other engines.
pub fn meaning(engine: &Engine, errno: i32) -> Option<&'static str> {
    let is_nvme = matches!(engine, Engine::UringCmd(_));
    match errno {
        _ if !engine.is_passthrough() => None,
        libc::EOPNOTSUPP => Some("the device does not know the command, or one of its options"),
        libc::EILSEQ if is_nvme => {
            Some("the controller found protection information that does not fit the block")
        }
        libc::EILSEQ => {
            Some("the disk found other data, or protection information that does not fit")
        }
        libc::EREMOTEIO => Some("the device refused the command"),
        libc::ENODATA => Some("the device cannot read the blocks"),
        _ => None,
    }
}

/// Why an engine's commands found no device, and what to do about it.
pub fn refusal(path: &Path, engine: &Engine, error: &io::Error) -> (String, &'static str) {
    let shown = path.text();
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            (format!("`{shown}` takes commands from root only ({error})"), "run candor as root")
        }
        _ if matches!(engine, Engine::UringCmd(_)) => (
            format!("`{shown}` takes no NVMe commands ({error})"),
            "name the generic device of a namespace: /dev/ng0n1 belongs to /dev/nvme0n1",
        ),
        _ => (
            format!("`{shown}` takes no SCSI commands ({error})"),
            "name a SCSI disk or its generic device, such as /dev/sg0",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_failed_commands_have_sentences() {
        let of = |engine, errno| meaning(&engine, errno).unwrap_or_default();
        assert!(of(Engine::SG, libc::EOPNOTSUPP).contains("does not know the command"));
        assert!(of(Engine::SG, libc::EILSEQ).contains("other data"));
        assert!(of(Engine::IO_URING_CMD, libc::EILSEQ).contains("protection information"));
        assert_eq!(meaning(&Engine::IO_URING, libc::EOPNOTSUPP), None);
        assert_eq!(meaning(&Engine::SG, libc::EACCES), None);
    }
}
