//! Questions of lowering to the host that a plan is for.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::time::Duration;

use candor_plan::{Engine, List, ListError, Listing};

use super::found::{Found, Zoned};
use super::machine::{Machine, Space};

/// Use of a file whose first bytes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAs {
    /// The command has it as an input: no result may replace it.
    Input,
    /// State of a verification: no result may replace it.
    State,
    /// An earlier run has left it, and this one may replace it.
    Replaceable,
}

/// The host that a plan is for. Nothing is written. The default answers describe an empty host, so
/// that a test implements only what it needs.
pub trait Host {
    /// Looks at a path; nothing is opened.
    fn found(&self, _path: &Path) -> Found {
        Found::Nothing
    }

    /// Looks at a path of one of several hosts, by its number.
    fn found_on(&self, _number: u32, path: &Path) -> Found {
        self.found(path)
    }

    /// True for a name in the directory of the device nodes.
    fn is_among_devices(&self, _path: &Path) -> bool {
        false
    }

    /// The path of the block device with that major and minor number.
    fn device(&self, _major: u32, _minor: u32) -> Option<PathBuf> {
        None
    }

    /// The zones of the device at a path; none for anything but a zoned device.
    fn zoned(&self, _path: &Path) -> Option<Zoned> {
        None
    }

    /// All regular files below a directory, in the order of their names; links are not followed.
    fn files_below(&self, _directory: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The list of a tree in a directory.
    ///
    /// # Errors
    /// The list cannot be read.
    fn list(&self, _root: &Path, _listing: &Listing) -> Result<List, ListError> {
        List::read(io::empty())
    }

    /// The first bytes of a file, `bytes_max` of them at most.
    ///
    /// # Errors
    /// The kernel's.
    fn first_bytes(&self, _path: &Path, _as: ReadAs, _bytes_max: usize) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// A file to be read from its start; `-` is standard input.
    ///
    /// # Errors
    /// The kernel's.
    fn open(&self, _path: &Path) -> io::Result<Box<dyn BufRead>> {
        Err(io::ErrorKind::NotFound.into())
    }

    /// Space of the file system at a path; none if the path does not exist.
    fn space(&self, _path: &Path) -> Option<Space> {
        None
    }

    /// Names of the machine.
    fn machine(&self) -> Machine {
        Machine::default()
    }

    /// The CPUs that are online; none where the host does not say.
    fn cpus(&self) -> Option<Vec<u32>> {
        None
    }

    /// The NUMA nodes that are online; none where the host does not say.
    fn nodes(&self) -> Option<Vec<u32>> {
        None
    }

    /// The CPUs of a NUMA node; none where there is no such node.
    fn node_cpus(&self, _node: u32) -> Option<Vec<u32>> {
        None
    }

    /// The engine of this kernel that has many operations of one thread in flight.
    fn async_engine(&self) -> Engine {
        Engine::Threads
    }

    /// True where a name or address is that of this host.
    fn is_this_host(&self, _name: &str) -> bool {
        false
    }

    /// This host's address as servers see it, where the jobs are sent to some.
    fn client(&self) -> Option<String> {
        None
    }

    /// A variable of the environment.
    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    /// Names of the variables of the environment that begin so, sorted.
    fn variables(&self, _begin: &str) -> Vec<String> {
        Vec::new()
    }

    /// Time since 1970.
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    /// Milliseconds on a clock of the kernel, by its number in `clock_gettime`; none where there
    /// is no such clock.
    fn clock_ms(&self, _id: u32) -> Option<i64> {
        None
    }

    /// A number that differs from run to run.
    fn entropy(&self) -> u64 {
        0
    }
}

/// Seconds since 1970 in the 31 bits that seeds of MPI programs have.
pub fn seed_31_bits(host: &dyn Host) -> u64 {
    host.now().as_secs() & u64::from(i32::MAX as u32)
}
