//! Meaning of a copy's rate in one sentence, and the command that measures the storage.

use std::path::Path;

use candor_plan::shell::quoted;

use super::lines::size;
use super::options::Options;

/// Share of the bytes from which on all bytes count as moved: the kernel moves whole pages and
/// blocks, and metadata.
const NEARLY_ALL: f64 = 0.9;
/// Share of the bytes below which no bytes count as moved.
const HARDLY_ANY: f64 = 0.1;

/// File type at one end of a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// A file on a filesystem with a device, or with an unknown device.
    File,
    /// A block device.
    Device,
    /// A file on a filesystem in memory, with the type of the filesystem.
    Memory(String),
    /// `/dev/zero`.
    Zeros,
    /// A pipe, a terminal, `/dev/null` or another file.
    #[default]
    Other,
}

/// A successful copy, with the counters that belong to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Copied {
    /// The input.
    pub input: End,
    /// The output.
    pub output: End,
    /// Bytes read and written.
    pub bytes: (u64, u64),
    /// Bytes of holes in the output (`conv=sparse`).
    pub holes_bytes: u64,
    /// Bytes that devices read for this process, by the kernel's count.
    pub fetched_bytes: Option<u64>,
    /// Devices of the output; empty if unknown.
    pub output_devices: Vec<String>,
    /// Bytes that these devices wrote during the copy, for any process.
    pub devices_wrote_bytes: u64,
    /// Time of the copy in s.
    pub seconds: f64,
    /// Rate of the input alone in bytes per second, if it can be measured again.
    pub source_bytes_per_s: Option<f64>,
}

impl End {
    fn is_storage(&self) -> bool {
        matches!(self, End::File | End::Device)
    }
}

/// The sentence, without a full stop.
pub fn sentence(copied: &Copied, options: &Options) -> String {
    let said = match (&copied.input, &copied.output) {
        (_, output) if output.is_storage() => written(copied, options),
        (input, _) if input.is_storage() => read(copied, options),
        (_, End::Memory(name)) => format!("memory: the output lies in {name}"),
        (End::Memory(name), _) => format!("memory: the input lies in {name}"),
        _ => "memory and system calls: no storage takes part".to_owned(),
    };
    format!("this is the rate of {said}{}", source(copied, options))
}

/// Share of the input's own rate from which on the input limits the copy.
const LIMIT_OF_SOURCE: f64 = 0.5;

/// Sentence for a copy that its input limits.
fn source(copied: &Copied, options: &Options) -> String {
    let Some(alone) = copied.source_bytes_per_s.filter(|_| copied.output.is_storage()) else {
        return String::new();
    };
    let rate = copied.bytes.0 as f64 / copied.seconds.max(1e-9);
    if rate < alone * LIMIT_OF_SOURCE {
        return String::new();
    }
    let name = options.input.as_ref().map_or("the input".into(), |name| name.to_string_lossy());
    let alone = size(alone as u64, 1000);
    format!("; {name} is the limit: it gives {alone}/s by itself, without any write")
}

/// Sentence for a copy that one thread with one block at a time limits.
fn manner(block: usize) -> String {
    format!("one block of {} at a time", size(block as u64, 1024))
}

fn written(copied: &Copied, options: &Options) -> String {
    let holes = copied.holes_bytes;
    if holes == 0 {
        return stored(copied, options);
    }
    let of_all = format!("{} of {}", size(holes, 1024), size(copied.bytes.1, 1024));
    if holes as f64 >= copied.bytes.1 as f64 * NEARLY_ALL {
        format!("seeks over zeros: {of_all} became holes, which nothing wrote")
    } else {
        format!("{}; {of_all} became holes, which nothing wrote", stored(copied, options))
    }
}

/// The claim about written bytes.
fn stored(copied: &Copied, options: &Options) -> String {
    let bytes = copied.bytes.1 - copied.holes_bytes;
    let flags = options.output_flags;
    let shown = match (&*copied.output_devices, copied.devices_wrote_bytes) {
        ([], _) => "no device below it is visible, so nothing shows what reached one".to_owned(),
        (devices, wrote) => format!(
            "{} counted {} written meanwhile, of {}",
            devices.join(", "),
            size(wrote, 1024),
            size(bytes, 1024)
        ),
    };
    let reached = copied.devices_wrote_bytes as f64 >= bytes as f64 * NEARLY_ALL;
    let is_seen = reached && !copied.output_devices.is_empty();
    let flushed = options.has("fsync") || options.has("fdatasync");
    let how = if flags.has("direct") {
        "direct writes"
    } else if flags.has("sync") || flags.has("dsync") {
        "writes that each wait for the device"
    } else if flushed {
        "writes to the page cache and one flush at the end"
    } else {
        let between = between(copied);
        return format!("writes to the page cache, which nothing flushed{between}: {shown}");
    };
    let extent = if is_seen { "" } else { ", and not of a device alone" };
    format!("{how}, {}{}{extent}: {shown}", manner(options.output_block), between(copied))
}

/// The claim about the input's share of the time.
fn between(copied: &Copied) -> &'static str {
    match copied.input {
        End::Zeros => ", of zeros that storage may compress or leave out",
        End::Other => "",
        _ => ", with the reads of the input in between",
    }
}

fn read(copied: &Copied, options: &Options) -> String {
    let (bytes, manner) = (copied.bytes.0, manner(options.input_block));
    let Some(fetched) = copied.fetched_bytes else {
        return format!("reads, {manner}; nothing shows whether a device took part");
    };
    let share = fetched as f64 / bytes.max(1) as f64;
    let shown = format!("a device had to give {} of {}", size(fetched, 1024), size(bytes, 1024));
    if options.input_flags.has("direct") {
        let no_device = "holes, unwritten blocks, or a cache of the filesystem";
        return match share {
            hardly if hardly < HARDLY_ANY => {
                format!("memory, not of a device: {shown}; the rest were {no_device}")
            }
            nearly if nearly >= NEARLY_ALL => format!("direct reads, {manner}: {shown}"),
            _ => format!("a device and memory mixed: {shown}; the rest were {no_device}"),
        };
    }
    match share {
        hardly if hardly < HARDLY_ANY => format!("reads from the page cache: {shown}"),
        nearly if nearly >= NEARLY_ALL => {
            format!("reads through the page cache, which reads ahead, {manner}: {shown}")
        }
        _ => format!("the page cache and a device mixed: {shown}"),
    }
}

/// A path as an argument; `None` if it is absent or no text.
fn argument(path: Option<&std::ffi::OsString>) -> Option<String> {
    let path = path?.to_str()?;
    // A word with a leading dash would be an option.
    Some(if path.starts_with('-') { format!("./{path}") } else { path.to_owned() })
}

/// The command that measures the storage of a copy; `None` if a command line cannot hold the file
/// names.
pub fn command(copied: &Copied, options: &Options) -> Option<String> {
    match (&copied.input, &copied.output) {
        (_, End::Device) => {
            Some(format!("candor check {}", quoted(&argument(options.output.as_ref())?)))
        }
        (_, End::File) => {
            let output = argument(options.output.as_ref())?;
            let block = block_size(options.output_block);
            let bytes = copied.bytes.1.max(64 << 20).div_ceil(1 << 20);
            let target = quoted(&format!("{output}.candor"));
            let flags = options.output_flags;
            let sync = match (flags.has("sync"), flags.has("dsync")) {
                (true, _) => " --open-sync sync",
                (false, true) => " --open-sync dsync",
                (false, false) => "",
            };
            Some(format!(
                "candor run --target {target} --size {bytes}m --rw write --bs {block} \
                 --direct{sync}"
            ))
        }
        (End::Device, _) => {
            let (input, block) =
                (argument(options.input.as_ref())?, block_size(options.input_block));
            let target = quoted(&input);
            Some(format!(
                "candor run --target {target} --rw read --bs {block} --direct --seconds 10"
            ))
        }
        (End::File, _) => {
            let input = argument(options.input.as_ref())?;
            let folder = Path::new(&input).parent().and_then(Path::to_str).unwrap_or_default();
            let folder = if folder.is_empty() { "." } else { folder };
            let block = block_size(options.input_block);
            let whole = copied.bytes.0 >= block_bytes(options.input_block);
            Some(if whole {
                format!("candor run --target {} --rw read --bs {block} --direct", quoted(&input))
            } else {
                format!("candor check {}", quoted(folder))
            })
        }
        _ => Some("candor check".to_owned()),
    }
}

/// Block size for direct I/O, nearest to the block size of the copy.
fn block_bytes(bytes: usize) -> u64 {
    match bytes as u64 {
        odd if !odd.is_multiple_of(4096) => 4096,
        even => even.min(16 << 20),
    }
}

fn block_size(bytes: usize) -> String {
    match block_bytes(bytes) {
        bytes if bytes.is_multiple_of(1 << 20) => format!("{}m", bytes >> 20),
        bytes => format!("{}k", bytes >> 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::tests::copying;

    const MIB: u64 = 1 << 20;

    fn to_file(operands: &[&str], devices: &[&str], wrote: u64) -> String {
        let copied = Copied {
            input: End::Zeros,
            output: End::File,
            bytes: (MIB, MIB),
            output_devices: devices.iter().map(|&name| name.to_owned()).collect(),
            devices_wrote_bytes: wrote,
            ..Copied::default()
        };
        sentence(&copied, &copying(operands))
    }

    #[test]
    fn writes_come_from_counters() {
        let cached = to_file(&[], &["vda"], 0);
        assert_eq!(
            cached,
            "this is the rate of writes to the page cache, which nothing flushed, of zeros that \
             storage may compress or leave out: vda counted 0 B written meanwhile, of 1.0 MiB"
        );
        let direct = to_file(&["oflag=direct", "bs=1M"], &["vda"], MIB);
        assert!(direct.contains("direct writes") && !direct.contains("not of a device alone"));
        let lost = to_file(&["oflag=direct"], &["vda"], MIB / 2);
        assert!(lost.contains("not of a device alone"), "{lost}");
        let unseen = to_file(&["conv=fsync"], &[], 0);
        assert!(unseen.contains("no device below it is visible"), "{unseen}");
        assert!(to_file(&["oflag=dsync"], &["vda"], MIB).contains("each wait"));
    }

    #[test]
    fn holes_are_no_writes() {
        let of = |holes_bytes| {
            let copied = Copied {
                input: End::File,
                output: End::File,
                bytes: (MIB, MIB),
                holes_bytes,
                output_devices: vec!["vda".into()],
                ..Copied::default()
            };
            sentence(&copied, &copying(&["conv=sparse"]))
        };
        assert_eq!(
            of(MIB),
            "this is the rate of seeks over zeros: 1.0 MiB of 1.0 MiB became holes, which nothing \
             wrote"
        );
        let half = of(MIB / 2);
        assert!(
            half.contains("vda counted 0 B written meanwhile, of 512 KiB; 512 KiB of"),
            "{half}"
        );
    }

    #[test]
    fn a_slow_source_is_named() {
        let of = |alone: Option<f64>, output| {
            let copied = Copied {
                output,
                bytes: (64_000_000, 64_000_000),
                seconds: 1.0,
                source_bytes_per_s: alone,
                ..Copied::default()
            };
            sentence(&copied, &copying(&["if=/dev/urandom"]))
        };
        let slow = of(Some(85e6), End::File);
        assert!(
            slow.ends_with(
                "; /dev/urandom is the limit: it gives 85 MB/s by itself, without any write"
            ),
            "{slow}"
        );
        for (alone, output) in
            [(Some(500e6), End::File), (None, End::File), (Some(85e6), End::Other)]
        {
            assert!(!of(alone, output).contains("is the limit"));
        }
    }

    #[test]
    fn reads_come_from_the_process() {
        let read = |fetched, operands: &[&str]| {
            let copied = Copied {
                input: End::File,
                bytes: (MIB, MIB),
                fetched_bytes: fetched,
                ..Copied::default()
            };
            sentence(&copied, &copying(operands))
        };
        assert!(read(Some(0), &[]).contains("from the page cache: a device had to give 0 B"));
        assert!(read(Some(MIB / 2), &[]).contains("mixed"));
        assert!(read(Some(MIB), &[]).contains("reads ahead"));
        assert!(read(Some(MIB), &["iflag=direct"]).contains("direct reads"));
        let hole = read(Some(0), &["iflag=direct"]);
        assert!(hole.contains("rate of memory") && hole.contains("were holes"), "{hole}");
        assert!(read(Some(MIB / 2), &["iflag=direct"]).contains("a device and memory mixed"));
        assert!(read(None, &[]).contains("nothing shows"));
    }

    #[test]
    fn without_storage_there_is_none() {
        let none = Copied { input: End::Zeros, ..Copied::default() };
        assert!(sentence(&none, &Options::default()).contains("no storage takes part"));
        let memory = Copied { output: End::Memory("tmpfs".into()), ..none };
        assert!(
            sentence(&memory, &Options::default()).ends_with("memory: the output lies in tmpfs")
        );
    }

    #[test]
    fn commands_name_the_users_files() {
        let of = |input, output, operands: &[&str]| {
            let copied = Copied { input, output, bytes: (MIB, MIB), ..Copied::default() };
            command(&copied, &copying(operands))
        };
        for (input, output, operands, line) in [
            (
                End::Zeros,
                End::File,
                &["of=/a b/c", "bs=8k"][..],
                "candor run --target '/a b/c.candor' --size 64m --rw write --bs 8k --direct",
            ),
            (
                End::Zeros,
                End::File,
                &["of=f", "bs=4k", "oflag=direct,dsync"],
                "candor run --target f.candor --size 64m --rw write --bs 4k --direct --open-sync \
                 dsync",
            ),
            (End::Zeros, End::Device, &["of=/dev/sdb"], "candor check /dev/sdb"),
            (End::File, End::Other, &["if=-f", "bs=2M"], "candor check ."),
            (
                End::File,
                End::Other,
                &["if=-f"],
                "candor run --target ./-f --rw read --bs 4k --direct",
            ),
            (
                End::Device,
                End::Other,
                &["if=/dev/sdb", "bs=1M"],
                "candor run --target /dev/sdb --rw read --bs 1m --direct --seconds 10",
            ),
            (End::Zeros, End::Other, &[], "candor check"),
        ] {
            assert_eq!(of(input, output, operands).as_deref(), Some(line));
        }
        assert_eq!(of(End::File, End::Other, &[]), None);
    }
}
