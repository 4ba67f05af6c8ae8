//! The command line of iostat, and its table of options.

mod read;
mod table;

use std::path::PathBuf;

use smart_default::SmartDefault;

pub use read::read;
pub use table::TABLE;

/// Everything that a command line requests.
#[derive(Clone, Debug, SmartDefault, PartialEq, Eq)]
pub struct Options {
    /// Print CPU utilisation (`-c`).
    pub cpu: bool,
    /// Print devices (`-d`).
    pub devices: bool,
    /// Print extended metrics (`-x`).
    pub extended: bool,
    /// Print fewer columns (`-s`).
    pub short: bool,
    /// Unit of amounts of data (`-k`, `-m`).
    pub unit: Unit,
    /// Print each amount with its unit (`--human`).
    pub human: bool,
    /// Print names at the end of lines, and directions in separate blocks (`--pretty`).
    pub pretty: bool,
    /// Print all columns on one line despite `--pretty` (`--compact`).
    pub compact: bool,
    /// Decimals (`--dec`).
    #[default(2)]
    pub decimals: usize,
    /// Print JSON instead of text (`-o JSON`).
    pub json: bool,
    /// Omit idle devices (`-z`).
    pub skip_idle: bool,
    /// Omit the report since boot (`-y`).
    pub skip_first: bool,
    /// Print the time of each report (`-t`).
    pub timestamp: bool,
    /// Print names of the device mapper (`-N`).
    pub mapped_names: bool,
    /// Print groups without their members (`-H`).
    pub groups_only: bool,
    /// Devices and groups, in the order given.
    pub entries: Vec<Entry>,
    /// Partitions to print (`-p`).
    pub partitions: Partitions,
    /// Directory of additional counters (`-f`, `+f`).
    pub directory: Option<CounterDirectory>,
    /// Seconds between reports; a single report if absent.
    pub interval_s: Option<u64>,
    /// Number of reports; no limit if absent.
    pub count: Option<u64>,
}

/// A directory with counters of devices in user space: `block/DEVICE/stat`, `diskstats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterDirectory {
    /// The directory.
    pub path: PathBuf,
    /// Print the kernel's devices in addition.
    pub with_kernel: bool,
}

/// A word that names devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A device, without `/dev/`.
    Device(String),
    /// A device with its partitions (`-p DEVICE`).
    WithPartitions(String),
    /// A group of the next devices (`-g`).
    Group(String),
    /// All devices, including unused ones (`ALL`).
    All,
}

/// Partitions to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partitions {
    /// Named partitions.
    #[default]
    Named,
    /// Partitions of all used devices (`-p` alone).
    Used,
    /// Partitions of all devices (`-p ALL`).
    All,
}

/// Unit of amounts of data. iostat's kB and MB are powers of 1024.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// 512 bytes.
    Sector,
    /// 1024 bytes.
    #[default]
    Kilo,
    /// 1024 × 1024 bytes.
    Mega,
}

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Reports.
    Reports(Box<Options>),
    /// The version (`-V`).
    Version,
}

/// Usage to print after an error.
pub const USAGE: &str = "\
usage: iostat [-c] [-d] [-x] [-s] [-k | -m] [-t] [-y] [-z] [-N] [-h] [--human] [--pretty]
              [--compact] [--dec=0|1|2] [-o JSON] [-p [DEVICE,… | ALL]] [[-H] -g GROUP]
              [{-f | +f} DIRECTORY] [DEVICE… | ALL] [INTERVAL [COUNT]]
";
