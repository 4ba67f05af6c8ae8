//! The host as the environment of foreign command lines.

use std::io::{self, Read};

use candor_dialects::kit::Environment;
use candor_plan::units::cpu_list;

/// A job file of more than this is refused by whoever reads it; it need not all be in memory.
const BYTES_MAX: u64 = (16 << 20) + 1;

/// This host, its files and its environment.
pub struct HostEnvironment;

impl Environment for HostEnvironment {
    fn file(&mut self, path: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match path {
            "-" => io::stdin().take(BYTES_MAX).read_to_end(&mut bytes)?,
            _ => std::fs::File::open(path)?.take(BYTES_MAX).read_to_end(&mut bytes)?,
        };
        Ok(bytes)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
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
    fn the_host_is_what_the_kernel_says() {
        assert!(memory_mib() > 64);
        let cpus = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        assert!(cpus_online() >= cpus);
        assert!(HostEnvironment.file("/nonexistent").is_err());
    }
}
