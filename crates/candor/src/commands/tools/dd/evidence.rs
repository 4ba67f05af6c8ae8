//! A copy as counters of the kernel show it.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, Instant};

use candor_copy::Counts;
use candor_dd::meaning::{self, Copied, End};
use candor_dd::options::Options;
use candor_observe::Roots;
use candor_record::facts::value;

/// Sectors of counters.
const SECTOR_BYTES: u64 = 512;
/// Number of `/dev/zero`.
const ZERO: (u32, u32) = (1, 5);
/// Numbers of `/dev/random` and `/dev/urandom`: a read of these takes nothing away.
const GENERATORS: [(u32, u32); 2] = [(1, 8), (1, 9)];

/// Counters at a moment.
#[derive(Debug, Default)]
struct Counters {
    /// Bytes that each device has written.
    written: HashMap<String, u64>,
    /// Bytes that this process made devices read.
    fetched_bytes: Option<u64>,
}

/// Counters before and after a copy, and the time between them.
#[derive(Debug)]
pub struct Evidence {
    before: Counters,
    after: Counters,
    began: Instant,
    seconds: f64,
}

impl Counters {
    fn now() -> Counters {
        let disks = candor_observe::diskstats(&Roots::default()).unwrap_or_default();
        let written =
            disks.into_iter().map(|disk| (disk.name, disk.counters.write_sectors * SECTOR_BYTES));
        Counters { written: written.collect(), fetched_bytes: fetched_bytes() }
    }
}

/// Bytes that this process made devices read, from `/proc/self/io`.
fn fetched_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("read_bytes: "))?;
    line.parse().ok()
}

impl Evidence {
    /// Reads the counters before a copy.
    pub fn begin() -> Evidence {
        let before = Counters::now();
        Evidence { before, after: Counters::default(), began: Instant::now(), seconds: 0.0 }
    }

    /// Reads them behind it.
    pub fn end(self) -> Evidence {
        let seconds = self.began.elapsed().as_secs_f64();
        Evidence { after: Counters::now(), seconds, ..self }
    }

    /// The sentence about a copy, and the command that measures the storage.
    pub fn text(&self, options: &Options, counts: &Counts) -> String {
        let fetched = self.after.fetched_bytes.zip(self.before.fetched_bytes);
        let output = end_of(&options.output, "/proc/self/fd/1");
        let output_devices = match output {
            End::File | End::Device => leaves(&options.output),
            _ => Vec::new(),
        };
        let wrote = |device: &String| {
            let of = |counters: &Counters| counters.written.get(device).copied();
            of(&self.after)?.checked_sub(of(&self.before)?)
        };
        let copied = Copied {
            input: end_of(&options.input, "/proc/self/fd/0"),
            output,
            bytes: (counts.bytes_read, counts.bytes_written),
            holes_bytes: counts.bytes_of_holes,
            fetched_bytes: fetched.map(|(after, before)| after.saturating_sub(before)),
            devices_wrote_bytes: output_devices.iter().filter_map(wrote).sum(),
            output_devices,
            seconds: self.seconds,
            source_bytes_per_s: source_rate(&options.input),
        };
        let sentence = meaning::sentence(&copied, options);
        let command = meaning::command(&copied, options);
        let command = command.map_or_else(String::new, |line| format!("; the storage: {line}"));
        format!("candor: {sentence}{command}\n")
    }
}

/// The storage at one end of a copy.
fn end_of(path: &Option<OsString>, stream: &str) -> End {
    let path = path.as_ref().map_or(Path::new(stream), Path::new);
    let Ok(file) = path.metadata() else { return End::Other };
    let kind = file.file_type();
    let number = (rustix::fs::major(file.rdev()), rustix::fs::minor(file.rdev()));
    if kind.is_block_device() {
        End::Device
    } else if kind.is_file() {
        let memory = candor_observe::lies_in_memory(path, &Roots::default());
        memory.map_or(End::File, End::Memory)
    } else if kind.is_char_device() && number == ZERO {
        End::Zeros
    } else {
        End::Other
    }
}

/// Bytes per second that a character device gives by itself, such as `/dev/urandom`, tried for a
/// short time. Pipes and terminals gave what they had.
fn source_rate(path: &Option<OsString>) -> Option<f64> {
    const TRIED: Duration = Duration::from_millis(20);
    let mut file = File::open(path.as_ref()?).ok()?;
    let kind = file.metadata().ok()?;
    let number = (rustix::fs::major(kind.rdev()), rustix::fs::minor(kind.rdev()));
    if !GENERATORS.contains(&number) || !kind.file_type().is_char_device() {
        return None;
    }
    let (mut bytes, mut block) = (0, vec![0; 1 << 16]);
    let began = Instant::now();
    while began.elapsed() < TRIED {
        match file.read(&mut block) {
            Ok(read @ 1..) => bytes += read,
            _ => return None,
        }
    }
    Some(bytes as f64 / began.elapsed().as_secs_f64())
}

/// Kernel names of the devices at the end of a path.
fn leaves(path: &Option<OsString>) -> Vec<String> {
    let path = path.as_ref().map_or(Path::new("/proc/self/fd/1"), Path::new);
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let facts = candor_observe::inspect(&[("output".to_owned(), path)], &Roots::default());
    let device = facts.targets.first().and_then(|target| value(&target.device));
    let leaves = device.map(|device| facts.leaves(device)).unwrap_or_default();
    leaves.into_iter().map(|leaf| leaf.name.clone()).collect()
}
