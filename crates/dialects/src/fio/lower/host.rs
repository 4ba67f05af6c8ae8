//! Lowering's questions to the host: the file at a path, and a number nobody can guess.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use candor_plan::units::cpu_list;
use rustix::time::{ClockId, DynamicClockId};

use crate::fio::state;

/// The thing at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A regular file of so many bytes.
    File(u64),
    /// A block device of so many bytes, or what takes its commands; absent where that cannot be
    /// told.
    Device(Option<u64>),
    /// A character device.
    Character,
    /// A directory.
    Directory,
    /// Something else.
    Other,
}

impl Found {
    /// The size in bytes, where that is known.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Found::File(bytes) => Some(bytes),
            Found::Device(bytes) => bytes,
            Found::Nothing | Found::Character | Found::Directory | Found::Other => None,
        }
    }
}

/// The zones of a zoned device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zoned {
    /// Bytes from the start of a zone to the start of the next.
    pub zone_bytes: u64,
    /// Zones that may be open at a time; absent where there is no limit.
    pub open_max: Option<u32>,
}

/// The CPUs of a list that the kernel keeps in a file.
fn cpus_in(path: &str) -> Option<Vec<u32>> {
    cpu_list(std::fs::read_to_string(path).ok()?.trim()).ok()
}

/// The host, for sizes and kinds of files.
pub trait Host {
    /// Looks at a path. Nothing is opened.
    fn found(&self, path: &Path) -> Found;

    /// The CPUs of a NUMA node; none where there is no such node.
    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        cpus_in(&format!("/sys/devices/system/node/node{node}/cpulist"))
    }

    /// The CPUs that the host has; none where it does not say.
    fn cpus(&self) -> Option<Vec<u32>> {
        cpus_in("/sys/devices/system/cpu/present")
    }

    /// All regular files below a directory, in the order of their names; links are not followed.
    fn files_below(&self, directory: &Path) -> Vec<PathBuf> {
        candor_plan::files_below(directory)
    }

    /// A number that differs from run to run.
    fn entropy(&self) -> u64;

    /// A variable of the environment.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// The zones of the device at a path; none for anything but a zoned device.
    fn zoned(&self, _path: &Path) -> Option<Zoned> {
        None
    }

    /// The first bytes of a file, `most` of them at most.
    ///
    /// # Errors
    /// The kernel's.
    fn first_bytes(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        std::fs::File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The content of a saved state of verification.
    ///
    /// # Errors
    /// The kernel's.
    fn state(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.first_bytes(path, state::BYTES_MAX)
    }

    /// This host's address as servers see it, where the jobs are sent to some.
    fn client(&self) -> Option<String> {
        None
    }

    /// A file to be read from its start; `-` is standard input.
    ///
    /// # Errors
    /// The kernel's.
    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead>>;

    /// Milliseconds on a clock of the kernel, by its number in `clock_gettime`; none where there
    /// is no such clock.
    fn clock_ms(&self, id: u32) -> Option<i64> {
        let id = ClockId::try_from(i32::try_from(id).ok()?).ok()?;
        let now = rustix::time::clock_gettime_dynamic(DynamicClockId::Known(id)).ok()?;
        Some(now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000))
    }

    /// The path of the block device with that major and minor number.
    fn device(&self, major: u32, minor: u32) -> Option<PathBuf>;
}

/// The host that candor runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct ThisHost;

impl Host for ThisHost {
    fn found(&self, path: &Path) -> Found {
        let Ok(metadata) = path.metadata() else { return Found::Nothing };
        let kind = metadata.file_type();
        if kind.is_file() {
            Found::File(metadata.len())
        } else if kind.is_dir() {
            Found::Directory
        } else if kind.is_block_device() {
            Found::Device(device_bytes(path))
        } else if kind.is_char_device() {
            match commanded_bytes(path) {
                None => Found::Character,
                bytes => Found::Device(bytes),
            }
        } else {
            Found::Other
        }
    }

    fn zoned(&self, path: &Path) -> Option<Zoned> {
        let kind = path.metadata().ok()?.file_type();
        let real = path.canonicalize().ok()?;
        let name = real.file_name()?.to_str()?;
        // A namespace's generic device has the zones of its block device.
        let name = match name.strip_prefix("ng") {
            Some(numbers) if kind.is_char_device() => format!("nvme{numbers}"),
            _ if kind.is_block_device() => name.to_owned(),
            _ => return None,
        };
        let queue = Path::new("/sys/class/block").join(name).join("queue");
        let read = |key: &str| std::fs::read_to_string(queue.join(key)).ok();
        if matches!(read("zoned")?.trim(), "none" | "") {
            return None;
        }
        let number = |key: &str| read(key)?.trim().parse::<u64>().ok().filter(|n| *n > 0);
        Some(Zoned {
            zone_bytes: number("chunk_sectors")?.checked_mul(SECTOR)?,
            open_max: number("max_open_zones").and_then(|most| u32::try_from(most).ok()),
        })
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn entropy(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead>> {
        if path.as_os_str() == "-" {
            return Ok(Box::new(io::stdin().lock()));
        }
        Ok(Box::new(BufReader::new(std::fs::File::open(path)?)))
    }

    fn device(&self, major: u32, minor: u32) -> Option<PathBuf> {
        let about = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent"));
        let about = about.ok()?;
        let name = about.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
        Some(Path::new("/dev").join(name))
    }
}

const SECTOR: u64 = 512;

/// Size of the block device that a character device takes commands for; none for any other.
fn commanded_bytes(path: &Path) -> Option<u64> {
    let real = path.canonicalize().ok()?;
    let name = real.file_name()?.to_str()?;
    if let Some(numbers) = name.strip_prefix("ng") {
        return named_bytes(&format!("nvme{numbers}"));
    }
    let disks = format!("/sys/class/scsi_generic/{name}/device/block");
    let disk = std::fs::read_dir(disks).ok()?.next()?.ok()?.file_name();
    named_bytes(disk.to_str()?)
}

/// Size of a block device, as the kernel tells it without the device being opened.
fn device_bytes(path: &Path) -> Option<u64> {
    let real = path.canonicalize().ok()?;
    named_bytes(real.file_name()?.to_str()?)
}

fn named_bytes(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/sys/class/block/{name}/size")).ok()?;
    text.trim().parse::<u64>().ok()?.checked_mul(SECTOR)
}
