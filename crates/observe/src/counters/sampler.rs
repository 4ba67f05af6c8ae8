//! The kernel's counters at a moment, cheaply enough for every second.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use candor_record::{CacheState, Facts, Pressure, Snapshot, State};

use crate::cache;
use crate::counters::state::Watch;
use crate::counters::{formats, in_lines};
use crate::host::clock;
use crate::source::Roots;
use crate::source::node::is_numbered;

/// Asking for the page cache of more files than this takes longer than a sample should.
const LIGHT_FILES_MAX: usize = 64;

/// Asking for the names of more threads than this takes longer than a sample should.
const TASKS_MAX: usize = 256;

/// How much a snapshot reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotDetail {
    /// Everything: before and after a phase.
    Full,
    /// Every second: without the page cache where there are more than 64 files.
    Light,
}

/// Paths of files, by number: listed, or computed when one is looked at.
pub trait Paths: std::fmt::Debug + Send {
    /// Number of files.
    fn count(&self) -> usize;

    /// Path of the file with that number.
    fn path(&self, number: usize) -> PathBuf;
}

impl Paths for Vec<PathBuf> {
    fn count(&self) -> usize {
        self.len()
    }

    fn path(&self, number: usize) -> PathBuf {
        self[number].clone()
    }
}

/// Reads the kernel's counters again and again, from files that it keeps open.
#[derive(Debug)]
pub struct Sampler {
    devices: Vec<(String, Source)>,
    /// Counters of all devices, for those whose file is hidden.
    diskstats: Source,
    process_io: Source,
    vmstat: Source,
    cpu: Source,
    softirqs: Source,
    pressure: PressureFiles,
    interrupts: Source,
    /// Devices whose interrupts can be told apart, and how the names of these begin.
    vectors: Vec<(String, String)>,
    tasks: PathBuf,
    files: Box<dyn Paths>,
    /// Files that are kept open, where they are few enough to be looked at every second.
    open: Vec<Option<OpenFile>>,
    state: Watch,
    page_bytes: u64,
    tick_ns: u64,
    buffer: Vec<u8>,
}

impl Sampler {
    /// Opens the counters of all devices of `facts`, of this process and of the host; `files` are
    /// those whose pages in the cache are counted, existing or not yet.
    pub fn new(facts: &Facts, files: impl Paths + 'static, roots: &Roots) -> Sampler {
        let stat = |name: &str| Source::open(&roots.block(name).join("stat"));
        let devices = facts.devices.iter().map(|device| &device.name);
        let proc = |path: &str| Source::open(&roots.proc.join(path));
        let open = Some(files.count()).filter(|count| *count <= LIGHT_FILES_MAX).unwrap_or(0);
        Sampler {
            devices: devices.map(|name| (name.clone(), stat(name))).collect(),
            diskstats: proc("diskstats"),
            process_io: proc("self/io"),
            vmstat: proc("vmstat"),
            cpu: proc("stat"),
            softirqs: proc("softirqs"),
            pressure: PressureFiles {
                cpu: proc("pressure/cpu"),
                io: proc("pressure/io"),
                memory: proc("pressure/memory"),
            },
            interrupts: proc("interrupts"),
            vectors: facts
                .devices
                .iter()
                .filter_map(|device| vector(&device.name, roots))
                .collect(),
            tasks: roots.proc.join("self/task"),
            files: Box::new(files),
            open: (0..open).map(|_| None).collect(),
            state: Watch::new(facts, roots),
            page_bytes: rustix::param::page_size() as u64,
            tick_ns: formats::tick_ns(rustix::param::clock_ticks_per_second()),
            buffer: Vec::new(),
        }
    }

    /// The counters now. What cannot be read is absent.
    pub fn snapshot(&mut self, detail: SnapshotDetail) -> Snapshot {
        let at_ns = clock::now_ns();
        let buffer = &mut self.buffer;
        let mut devices = Vec::with_capacity(self.devices.len());
        for (name, source) in &self.devices {
            let own = source.read(buffer).and_then(formats::disk);
            if let Some(counters) = own.or_else(|| in_lines(self.diskstats.read(buffer)?, name)) {
                devices.push((name.clone(), counters));
            }
        }
        let process_io = self.process_io.read(buffer).and_then(formats::process_io);
        let page_bytes = self.page_bytes;
        let vmstat = self.vmstat.read(buffer).and_then(|text| formats::vmstat(text, page_bytes));
        let tick_ns = self.tick_ns;
        let cpu = self.cpu.read(buffer).map(|text| formats::cpu(text, tick_ns));
        let (cpu, cpus) = cpu.unwrap_or_default();
        let uring = uring_workers(&self.tasks);
        let softirq_block = self.softirqs.read(buffer).map(formats::softirq_block);
        Snapshot {
            at_ns,
            devices,
            process_io,
            vmstat,
            cpu,
            cpus,
            pressure: self.pressure.read(buffer),
            softirq_block: softirq_block.unwrap_or_default(),
            interrupts: interrupts(&self.interrupts, &self.vectors, detail, buffer),
            uring_workers: uring.map(|(threads, _)| threads),
            uring_worker_bytes: uring.map(|(_, bytes)| bytes),
            cache: self.cache(detail),
            state: match detail {
                SnapshotDetail::Full => self.state.read(),
                SnapshotDetail::Light => State::default(),
            },
        }
    }

    fn cache(&mut self, detail: SnapshotDetail) -> Option<CacheState> {
        if detail == SnapshotDetail::Light && self.files.count() > LIGHT_FILES_MAX {
            return None;
        }
        let mut sum = None;
        for number in 0..self.files.count() {
            let path = self.files.path(number);
            let state = match self.open.get_mut(number) {
                Some(open) => cache_state(&path, open)?,
                None => cache_state(&path, &mut None)?,
            };
            sum = Some(cache::add(sum, &state));
        }
        sum
    }
}

/// How the names of a device's interrupts begin: by the instance of its driver.
fn vector(device: &str, roots: &Roots) -> Option<(String, String)> {
    let driver = roots.link_name(&roots.block(device).join("device"))?;
    let virtio = is_numbered(&driver, "virtio").then(|| format!("{driver}-req"));
    let prefix = virtio.or_else(|| is_numbered(&driver, "nvme").then(|| format!("{driver}q")))?;
    Some((device.to_owned(), prefix))
}

/// Interrupts of each device, for the full snapshot only: on large machines they are many lines.
fn interrupts(
    source: &Source,
    vectors: &[(String, String)],
    detail: SnapshotDetail,
    buffer: &mut Vec<u8>,
) -> Vec<(String, Vec<u64>)> {
    let text = (detail == SnapshotDetail::Full && !vectors.is_empty())
        .then(|| source.read(buffer))
        .flatten();
    let text = text.unwrap_or_default();
    let of = |(device, prefix): &(String, String)| {
        let counts = formats::interrupts(text, prefix);
        (!counts.is_empty()).then(|| (device.clone(), counts))
    };
    vectors.iter().filter_map(of).collect()
}

/// Threads of this process that io_uring waits in, and bytes that they moved.
fn uring_workers(tasks: &Path) -> Option<(u32, u64)> {
    let ids = crate::source::attributes::names(tasks);
    let text =
        |id: &String, file: &str| crate::source::attributes::text(&tasks.join(id).join(file));
    let known = !ids.is_empty() && ids.len() <= TASKS_MAX;
    known.then(|| {
        ids.iter()
            .filter(|id| text(id, "comm").is_some_and(|name| name.starts_with("iou-wrk-")))
            .fold((0, 0), |(threads, bytes), id| {
                let io = text(id, "io").and_then(|io| formats::process_io(&io)).unwrap_or_default();
                (threads + 1, bytes + io.read_bytes + io.write_bytes)
            })
    })
}

/// Files of `/proc/pressure`.
#[derive(Debug)]
struct PressureFiles {
    cpu: Source,
    io: Source,
    memory: Source,
}

impl PressureFiles {
    fn read(&self, buffer: &mut Vec<u8>) -> Option<Pressure> {
        Some(Pressure {
            cpu_some_ns: self.cpu.read(buffer).and_then(formats::pressure_some_ns)?,
            io_some_ns: self.io.read(buffer).and_then(formats::pressure_some_ns)?,
            memory_some_ns: self.memory.read(buffer).and_then(formats::pressure_some_ns)?,
        })
    }
}

/// A file of counters, kept open.
#[derive(Debug)]
struct Source(Option<File>);

impl Source {
    fn open(path: &Path) -> Source {
        Source(File::open(path).ok())
    }

    /// The text now: a read from the start makes the kernel write it again.
    fn read<'a>(&self, buffer: &'a mut Vec<u8>) -> Option<&'a str> {
        const STEP: usize = 16 << 10;
        let file = self.0.as_ref()?;
        let mut length = 0;
        loop {
            if buffer.len() < length + STEP {
                buffer.resize(length + STEP, 0);
            }
            match file.read_at(&mut buffer[length..], length as u64).ok()? {
                0 => break,
                more => length += more,
            }
        }
        std::str::from_utf8(&buffer[..length]).ok()
    }
}

/// A file that is kept open, and what tells it from another at its path.
#[derive(Debug)]
struct OpenFile {
    file: File,
    device: u64,
    inode: u64,
}

impl OpenFile {
    fn new(path: &Path) -> Option<OpenFile> {
        let file = cache::holding(path).ok()?;
        let about = file.metadata().ok()?;
        Some(OpenFile { device: about.dev(), inode: about.ino(), file })
    }

    fn is(&self, about: &Metadata) -> bool {
        (self.device, self.inode) == (about.dev(), about.ino())
    }
}

/// The state of a file in the cache, zero while it does not exist; the file stays open.
fn cache_state(path: &Path, open: &mut Option<OpenFile>) -> Option<CacheState> {
    let Ok(about) = fs::metadata(path) else {
        *open = None;
        return Some(CacheState::default());
    };
    // The path may lead to a new file by now.
    let same = open.take().filter(|file| file.is(&about));
    let open = open.insert(same.or_else(|| OpenFile::new(path))?);
    cache::of_file(&open.file)
}

#[cfg(test)]
mod tests {
    use candor_record::facts::DeviceFacts;

    use super::*;
    use crate::fake::Fake;

    fn facts(name: &str) -> Facts {
        let device = DeviceFacts { name: name.into(), ..DeviceFacts::default() };
        Facts { devices: vec![device], ..Facts::default() }
    }

    #[test]
    fn counters_are_read_anew() {
        let fake = Fake::new();
        fake.disk("sda", "8:0", "pci0000:00/block/sda");
        let stat = "sys/class/block/sda/stat";
        fake.write(stat, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
        let mut sampler = Sampler::new(&facts("sda"), Vec::new(), &fake.roots);
        let before = sampler.snapshot(SnapshotDetail::Full);
        fake.write(stat, "2 2 11 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n");
        let after = sampler.snapshot(SnapshotDetail::Light);
        let delta = before.device_delta(&after, "sda").expect("both");
        assert_eq!((delta.reads, delta.bytes_read()), (1, 4096));
        assert!(after.at_ns >= before.at_ns);
        assert_eq!((before.process_io, before.pressure, before.cache), (None, None, None));
    }

    #[test]
    fn counters_are_read_where_sysfs_is_hidden() {
        let fake = Fake::new();
        let lines =
            |sectors: u64| format!("7 0 loop0 9 9 9 9\n8 0 sda 2 2 {sectors} 4 5 6 7 8 9 10 11\n");
        fake.write("proc/diskstats", &lines(3));
        let mut sampler = Sampler::new(&facts("sda"), Vec::new(), &fake.roots);
        let before = sampler.snapshot(SnapshotDetail::Full);
        fake.write("proc/diskstats", &lines(11));
        let after = sampler.snapshot(SnapshotDetail::Light);
        assert_eq!(before.device_delta(&after, "sda").expect("both").bytes_read(), 4096);
    }

    #[test]
    fn interrupts_and_threads_of_io_uring_are_counted() {
        let fake = Fake::new();
        fake.disk("vdq", "253:16", "pci0000:00/virtio7/block/vdq");
        fake.link(
            "sys/devices/pci0000:00/virtio7/block/vdq/device",
            "sys/devices/pci0000:00/virtio7",
        );
        fake.write("proc/interrupts", "  CPU0 CPU1\n 36: 4 9 PCI-MSIX 1-edge virtio7-req.0\n");
        for (id, name) in [("11", "candor"), ("12", "iou-wrk-11"), ("13", "iou-sqp-11")] {
            fake.write(&format!("proc/self/task/{id}/comm"), name);
        }
        let io = "rchar: 0\nwchar: 0\nread_bytes: 30\nwrite_bytes: 12\ncancelled_write_bytes: 0\n";
        fake.write("proc/self/task/12/io", io);
        let mut sampler = Sampler::new(&facts("vdq"), Vec::new(), &fake.roots);
        let full = sampler.snapshot(SnapshotDetail::Full);
        assert_eq!(full.interrupts, [("vdq".to_owned(), vec![4, 9])]);
        assert_eq!((full.uring_workers, full.uring_worker_bytes), (Some(1), Some(42)));
        assert_eq!(sampler.snapshot(SnapshotDetail::Light).interrupts, []);
    }

    #[test]
    fn garbage_is_absent() {
        let fake = Fake::new();
        for path in ["self/io", "vmstat", "stat", "softirqs", "pressure/cpu"] {
            fake.write(&format!("proc/{path}"), "\u{fffd} some cpu BLOCK: x\n\n:::");
        }
        let snapshot =
            Sampler::new(&facts("gone"), Vec::new(), &fake.roots).snapshot(SnapshotDetail::Full);
        assert_eq!(Snapshot { at_ns: snapshot.at_ns, ..Snapshot::default() }, snapshot);
    }

    #[test]
    fn a_long_file_is_read_to_its_end() {
        let fake = Fake::new();
        let long = format!("{}cpu0 1 2 3 4 5 6 7 8\n", "intr 0 0 0 0 0 0\n".repeat(4000));
        fake.write("proc/stat", &long);
        let snapshot =
            Sampler::new(&Facts::default(), Vec::new(), &fake.roots).snapshot(SnapshotDetail::Full);
        assert_eq!(snapshot.cpus.len(), 1);
    }

    #[test]
    fn many_files_are_for_the_full_snapshot_only() {
        let fake = Fake::new();
        let files: Vec<PathBuf> =
            (0..65).map(|n| fake.path("data").join(format!("f{n}"))).collect();
        for file in &files[1..] {
            fs::write(file, "x").expect("written");
        }
        let mut sampler = Sampler::new(&Facts::default(), files, &fake.roots);
        assert_eq!(sampler.snapshot(SnapshotDetail::Light).cache, None);
        if let Some(cache) = sampler.snapshot(SnapshotDetail::Full).cache {
            assert_eq!(cache.size_bytes, 64);
        }
    }

    #[test]
    fn a_file_made_anew_is_looked_at_anew() {
        let fake = Fake::new();
        let file = fake.path("data").join("f");
        fs::write(&file, "x").expect("written");
        let mut sampler = Sampler::new(&Facts::default(), vec![file.clone()], &fake.roots);
        let size = |snapshot: Snapshot| snapshot.cache.map_or(0, |cache| cache.size_bytes);
        assert_eq!(size(sampler.snapshot(SnapshotDetail::Light)), 1);
        fs::write(fake.path("data").join("g"), "longer").expect("written");
        fs::rename(fake.path("data").join("g"), &file).expect("renamed");
        assert_eq!(size(sampler.snapshot(SnapshotDetail::Light)), 6);
        fs::remove_file(&file).expect("removed");
        assert_eq!(size(sampler.snapshot(SnapshotDetail::Light)), 0);
    }

    #[test]
    fn it_can_go_to_another_thread() {
        fn is_send<T: Send>() {}
        is_send::<Sampler>();
    }
}
