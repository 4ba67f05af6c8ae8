//! This host, as command lines of other tools see it: their files, their environment, and what
//! lowering asks.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use candor_files::Use;
use candor_front::{Environment, Found, Host, Machine, ReadAs, Space, Zoned};
use candor_plan::units::cpu_list;
use candor_plan::{Engine, List, ListError, Listing, PathText, path_of};
use rustix::time::{ClockId, DynamicClockId};

use super::hosts::Hosts;

/// A job file of more than this is refused by whoever reads it; it need not all be in memory.
const BYTES_MAX: u64 = (16 << 20) + 1;
/// Unit of sizes in sysfs.
const SECTOR: u64 = 512;
/// Names and addresses that mean whatever host this is.
const HERE: [&str; 3] = ["localhost", "::1", "current"];

/// This host, its files and its environment.
pub struct HostEnvironment;

impl Environment for HostEnvironment {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match path {
            "-" => io::stdin().take(BYTES_MAX).read_to_end(&mut bytes)?,
            _ => {
                candor_files::uses(&path_of(path), Use::Input)?;
                File::open(path_of(path))?.take(BYTES_MAX).read_to_end(&mut bytes)?
            }
        };
        Ok(bytes)
    }

    fn variable(&self, name: &str) -> Option<String> {
        variable(name)
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.text())
}

/// The host that candor runs on. Files that lowering reads are noted: results may not go there.
#[derive(Default)]
pub struct ThisHost {
    /// Hosts that have the paths instead of this one: either all together, or each alone.
    pub elsewhere: Vec<Hosts>,
    /// This host's address as servers see it, where jobs are sent to some.
    pub client: Option<String>,
}

impl ThisHost {
    /// This host without files: those hosts have them.
    pub fn with_paths_of(hosts: Hosts) -> ThisHost {
        ThisHost { elsewhere: vec![hosts], client: None }
    }

    /// Ends with the reason for which a host could not look.
    ///
    /// # Errors
    /// The reason, in a sentence.
    pub fn looked(self) -> Result<(), String> {
        self.elsewhere.into_iter().try_for_each(Hosts::looked)
    }
}

impl Host for ThisHost {
    fn found(&self, path: &Path) -> Found {
        match self.elsewhere.first() {
            Some(hosts) => hosts.found(path),
            None => found(path),
        }
    }

    fn found_on(&self, number: u32, path: &Path) -> Found {
        match self.elsewhere.get(number as usize) {
            Some(hosts) => hosts.found(path),
            None if self.elsewhere.is_empty() => found(path),
            None => Found::Nothing,
        }
    }

    fn is_among_devices(&self, path: &Path) -> bool {
        let parent = std::path::absolute(path).ok();
        let parent = parent.and_then(|path| path.parent()?.canonicalize().ok());
        let device = |path: &Path| path.metadata().ok().map(|metadata| metadata.dev());
        parent.is_some_and(|parent| {
            parent.starts_with("/dev") && device(&parent) == device(Path::new("/dev"))
        })
    }

    fn device(&self, major: u32, minor: u32) -> Option<PathBuf> {
        let about = std::fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/uevent"));
        let about = about.ok()?;
        let name = about.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
        Some(Path::new("/dev").join(name))
    }

    fn zoned(&self, path: &Path) -> Option<Zoned> {
        if self.elsewhere.is_empty() { zoned(path) } else { None }
    }

    fn files_below(&self, directory: &Path) -> Vec<PathBuf> {
        candor_plan::files_below(directory)
    }

    fn list(&self, root: &Path, listing: &Listing) -> Result<List, ListError> {
        List::of(root, listing)
    }

    fn first_bytes(&self, path: &Path, read_as: ReadAs, bytes_max: usize) -> io::Result<Vec<u8>> {
        match read_as {
            ReadAs::Input => candor_files::uses(path, Use::Input)?,
            ReadAs::State => candor_files::uses(path, Use::State)?,
            ReadAs::Replaceable => {}
        }
        read(path, bytes_max)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead>> {
        if path.as_os_str() == "-" {
            return Ok(Box::new(io::stdin().lock()));
        }
        candor_files::uses(path, Use::Trace)?;
        Ok(Box::new(BufReader::new(File::open(path)?)))
    }

    fn space(&self, path: &Path) -> Option<Space> {
        let stat = rustix::fs::statvfs(path).ok()?;
        Some(Space {
            bytes: stat.f_blocks.saturating_mul(stat.f_frsize),
            bytes_free: stat.f_bfree.saturating_mul(stat.f_frsize),
            inodes: stat.f_files,
            inodes_free: stat.f_ffree,
        })
    }

    fn machine(&self) -> Machine {
        let names = rustix::system::uname();
        let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
        let details = [names.release(), names.version(), names.machine()].map(text);
        Machine {
            system: text(names.sysname()),
            node: text(names.nodename()),
            details: details.join(" "),
        }
    }

    fn cpus(&self) -> Option<Vec<u32>> {
        listed("/sys/devices/system/cpu/online")
    }

    fn nodes(&self) -> Option<Vec<u32>> {
        listed("/sys/devices/system/node/online")
    }

    fn node_cpus(&self, node: u32) -> Option<Vec<u32>> {
        listed(&format!("/sys/devices/system/node/node{node}/cpulist"))
    }

    fn async_engine(&self) -> Engine {
        candor_blocks::engines::best_of_many()
    }

    fn is_this_host(&self, name: &str) -> bool {
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let short = own.split('.').next().unwrap_or(&own);
        // A name with a port means the agent at that port.
        let has_port = name.split_once(':').is_some_and(|(_, port)| !port.contains(':'));
        let is_here = HERE.contains(&name) || name.starts_with("127.");
        !has_port && (is_here || name == own || name == short)
    }

    fn client(&self) -> Option<String> {
        self.client.clone()
    }

    fn variable(&self, name: &str) -> Option<String> {
        variable(name)
    }

    fn variables(&self, begin: &str) -> Vec<String> {
        let names = std::env::vars_os().map(|(name, _)| name.text());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(begin)).collect();
        names.sort();
        names
    }

    fn now(&self) -> Duration {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
    }

    fn clock_ms(&self, id: u32) -> Option<i64> {
        let id = ClockId::try_from(i32::try_from(id).ok()?).ok()?;
        let now = rustix::time::clock_gettime_dynamic(DynamicClockId::Known(id)).ok()?;
        Some(now.tv_sec.saturating_mul(1000).saturating_add(now.tv_nsec / 1_000_000))
    }

    fn entropy(&self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

/// The thing at a path of this host; a link to nothing is no place for a file.
fn found(path: &Path) -> Found {
    let Ok(metadata) = path.metadata() else {
        let is_link = path.symlink_metadata().is_ok_and(|link| link.is_symlink());
        return if is_link { Found::Other } else { Found::Nothing };
    };
    let kind = metadata.file_type();
    if kind.is_file() {
        Found::File(metadata.len())
    } else if kind.is_dir() {
        Found::Directory
    } else if kind.is_block_device() {
        Found::Device(device_bytes(path))
    } else if kind.is_char_device() {
        commanded_bytes(path).map_or(Found::Character, |bytes| Found::Device(Some(bytes)))
    } else {
        Found::Other
    }
}

/// The zones of a device of this host; none for anything but a zoned device.
fn zoned(path: &Path) -> Option<Zoned> {
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

/// The first bytes of a file. A pipe without a writer is empty, so that nothing is waited for.
fn read(path: &Path, bytes_max: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let nonblock = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(nonblock).open(path)?;
    file.take(bytes_max as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The numbers of a list that the kernel keeps in a file: `0-3,5`.
fn listed(path: &str) -> Option<Vec<u32>> {
    cpu_list(std::fs::read_to_string(path).ok()?.trim()).ok()
}

/// Memory of the host, in MiB.
pub fn memory_mib() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram * u64::from(info.mem_unit)) >> 20
}

/// CPUs that are online. One where the kernel does not list them.
pub fn cpus_online() -> u64 {
    ThisHost::default().cpus().map_or(1, |cpus| cpus.len().max(1)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nothing_is_no_place() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (link, file) = (dir.path().join("link"), dir.path().join("file"));
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert_eq!([found(&link), found(&file)], [Found::Other, Found::Nothing]);
        std::fs::write(&file, "four").expect("written");
        assert_eq!([found(&link), found(&file)], [Found::File(4), Found::File(4)]);
        assert_eq!(found(dir.path()), Found::Directory);
    }

    #[test]
    fn the_host_is_what_the_kernel_says() {
        assert!(memory_mib() > 64);
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        assert!(cpus_online() >= cpus);
        assert!(HostEnvironment.file("/nonexistent").is_err());
    }

    #[test]
    fn this_host_has_many_names() {
        let own = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let host = ThisHost::default();
        for name in ["localhost", "127.0.0.1", &own] {
            assert!(host.is_this_host(name), "{name}");
        }
        for name in ["elsewhere.example.org", "127.0.0.1:4730", "localhost:4730"] {
            assert!(!host.is_this_host(name), "{name}");
        }
    }

    #[test]
    fn a_pipe_without_a_writer_is_not_waited_for() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let pipe = dir.path().join("pipe");
        let made = rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        );
        made.expect("a pipe");
        assert_eq!(read(&pipe, 10).expect("it can be opened"), [0; 0]);
    }
}
