//! The command line of iostat: its table of options, and what is asked for.

mod read;
mod table;

use std::path::PathBuf;

pub use read::read;
pub use table::TABLE;

/// Everything that a command line requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Only, or also, the time of the CPUs (`-c`).
    pub cpu: bool,
    /// Only, or also, the devices (`-d`).
    pub devices: bool,
    /// Extended figures (`-x`).
    pub extended: bool,
    /// Fewer columns (`-s`).
    pub short: bool,
    /// Unit of amounts of data (`-k`, `-m`).
    pub unit: Unit,
    /// Amounts with a unit of their own (`--human`).
    pub human: bool,
    /// Names at the end of lines, directions in blocks of their own (`--pretty`).
    pub pretty: bool,
    /// All columns on one line even so (`--compact`).
    pub compact: bool,
    /// Decimals (`--dec`).
    pub decimals: usize,
    /// JSON instead of text (`-o JSON`).
    pub json: bool,
    /// Leave out devices that did nothing (`-z`).
    pub skip_idle: bool,
    /// Leave out the report since boot (`-y`).
    pub skip_first: bool,
    /// Tell the time of each report (`-t`).
    pub timestamp: bool,
    /// Names of the device mapper (`-N`).
    pub mapped_names: bool,
    /// Groups without their members (`-H`).
    pub groups_only: bool,
    /// Devices and groups in the order they were given.
    pub entries: Vec<Entry>,
    /// Which partitions (`-p`).
    pub partitions: Partitions,
    /// Directory of further counters (`-f`, `+f`).
    pub directory: Option<CounterDirectory>,
    /// Seconds between reports; one report where there is none.
    pub interval_s: Option<u64>,
    /// The number of reports; until interrupted where there is none.
    pub count: Option<u64>,
}

/// A directory with counters of devices that user space drives: `block/DEVICE/stat`, `diskstats`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterDirectory {
    /// The directory.
    pub path: PathBuf,
    /// Devices of the directory are shown in addition to the kernel's.
    pub with_kernel: bool,
}

/// A word that names devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A device, without `/dev/`.
    Device(String),
    /// A device with its partitions (`-p DEVICE`).
    WithPartitions(String),
    /// A group of the devices that follow (`-g`).
    Group(String),
    /// All devices, also those that never did anything (`ALL`).
    All,
}

/// Which partitions are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partitions {
    /// Those that were named.
    #[default]
    Named,
    /// Those of all devices that did anything (`-p` alone).
    Used,
    /// Those of all devices (`-p ALL`).
    All,
}

/// Unit of amounts of data. What iostat calls kB and MB has powers of 1024.
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

/// Below a complaint.
pub const USAGE: &str = "\
usage: iostat [-c] [-d] [-x] [-s] [-k | -m] [-t] [-y] [-z] [-N] [-h] [--human] [--pretty]
              [--compact] [--dec=0|1|2] [-o JSON] [-p [DEVICE,… | ALL]] [[-H] -g GROUP]
              [{-f | +f} DIRECTORY] [DEVICE… | ALL] [INTERVAL [COUNT]]
";

impl Default for Options {
    fn default() -> Self {
        Options {
            cpu: false,
            devices: false,
            extended: false,
            short: false,
            unit: Unit::Kilo,
            human: false,
            pretty: false,
            compact: false,
            decimals: 2,
            json: false,
            skip_idle: false,
            skip_first: false,
            timestamp: false,
            mapped_names: false,
            groups_only: false,
            entries: Vec::new(),
            partitions: Partitions::Named,
            directory: None,
            interval_s: None,
            count: None,
        }
    }
}
