//! The host as the environment of foreign command lines.

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use candor_dialects::fio::lower::{self, Host as _, ThisHost, Zoned};
use candor_dialects::kit::{Environment, Found};
use candor_files::Use;
use candor_plan::units::cpu_list;
use candor_plan::{PathText, path_of};

/// A job file of more than this is refused by whoever reads it; it need not all be in memory.
const BYTES_MAX: u64 = (16 << 20) + 1;

/// This host, its files and its environment.
pub struct HostEnvironment;

impl Environment for HostEnvironment {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match path {
            "-" => io::stdin().take(BYTES_MAX).read_to_end(&mut bytes)?,
            _ => {
                candor_files::uses(&path_of(path), Use::Input)?;
                std::fs::File::open(path_of(path))?.take(BYTES_MAX).read_to_end(&mut bytes)?
            }
        };
        Ok(bytes)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.text())
    }
}

/// This host for fio's jobs. Files that they read are noted: none of them takes results.
pub struct NotedHost;

impl lower::Host for NotedHost {
    fn found(&self, path: &Path) -> lower::Found {
        ThisHost.found(path)
    }

    fn entropy(&self) -> u64 {
        ThisHost.entropy()
    }

    fn variable(&self, name: &str) -> Option<String> {
        ThisHost.variable(name)
    }

    fn zoned(&self, path: &Path) -> Option<Zoned> {
        ThisHost.zoned(path)
    }

    fn first_bytes(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        candor_files::uses(path, Use::Input)?;
        ThisHost.first_bytes(path, most)
    }

    fn state(&self, path: &Path) -> io::Result<Vec<u8>> {
        candor_files::uses(path, Use::State)?;
        ThisHost.state(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead>> {
        if path.as_os_str() != "-" {
            candor_files::uses(path, Use::Trace)?;
        }
        ThisHost.open(path)
    }

    fn device(&self, major: u32, minor: u32) -> Option<PathBuf> {
        ThisHost.device(major, minor)
    }
}

/// The thing at a path; a link to nothing is no place for a file.
pub fn found(path: &Path) -> Found {
    if path.symlink_metadata().is_ok_and(|link| link.is_symlink()) && !path.exists() {
        return Found::Other;
    }
    match ThisHost.found(path) {
        lower::Found::Nothing => Found::Nothing,
        lower::Found::File(bytes) => Found::File(bytes),
        lower::Found::Directory => Found::Directory,
        lower::Found::Device(Some(bytes)) => Found::Device(bytes),
        lower::Found::Device(None) | lower::Found::Character | lower::Found::Other => Found::Other,
    }
}

/// Memory of the host, in MiB.
pub fn memory_mib() -> u64 {
    let info = rustix::system::sysinfo();
    (info.totalram * u64::from(info.mem_unit)) >> 20
}

/// CPUs that are online, as the kernel lists them: `0-3,5`. One where it does not.
pub fn cpus_online() -> u64 {
    let list = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    cpu_list(list.trim()).map_or(1, |cpus| cpus.len().max(1)) as u64
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
}
