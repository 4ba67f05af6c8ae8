//! The same questions put to the real host: its own devices, and a loop and a zram device made for
//! it where that is allowed.

use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use candor_record::Facts;
use candor_record::facts::{AccountingOutcome, AccountingProbe, DeviceKind, DirectIo};

use crate::counters::{Sampler, SnapshotDetail};
use crate::source::Roots;
use crate::{
    Access, accounting_probe, cache, device_note, device_of_path, holders, inspect,
    names_no_device, shared_bytes, take_search,
};

const IMAGE_BYTES: usize = 8 << 20;

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: this needs root");
    }
    root
}

/// Bytes that no filesystem and no zram can make smaller.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

fn written(path: &Path, length: usize) {
    let mut file = fs::File::create(path).expect("created");
    file.write_all(&noise(length)).expect("written");
    file.sync_all().expect("synced");
}

fn command(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// A loop device that goes away with the value.
struct Loop(String);

impl Loop {
    fn new(image: &Path, options: &[&str]) -> Option<Loop> {
        let image = image.display().to_string();
        let arguments = [&["--find", "--show"], options, &[&image]].concat();
        let made = command("losetup", &arguments).map(Loop);
        if made.is_none() {
            eprintln!("skipped: losetup cannot make a loop device here");
        }
        made
    }

    fn name(&self) -> &str {
        self.0.trim_start_matches("/dev/")
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        command("losetup", &["--detach", &self.0]);
    }
}

fn inspect_one(path: &Path) -> Facts {
    inspect(&[("t".to_owned(), path.to_path_buf())], &Roots::default())
}

/// The accounting probe on a host where others work too: it may count more, but never less.
fn probed(facts: &Facts, path: &Path) -> AccountingProbe {
    accounting_probe::probe(facts, 0, path, None, &Roots::default()).0
}

#[test]
fn the_host_tells_what_every_host_tells() {
    let directory = tempfile::tempdir().expect("a directory");
    let facts = inspect_one(directory.path());
    let host = &facts.host;
    assert!(host.kernel.is_some() && host.cpus.is_some() && host.memory_bytes.is_some());
    assert!(host.page_bytes >= 4096);
    assert!(host.clock_cost_ns.as_ref().is_some_and(|cost| (1.0..1e6).contains(&cost.value)));
    assert!(facts.targets[0].filesystem.is_some());
    let mut sampler = Sampler::new(&facts, Vec::new(), &Roots::default());
    let (before, after) =
        (sampler.snapshot(SnapshotDetail::Full), sampler.snapshot(SnapshotDetail::Light));
    assert!(before.at_ns > 0 && after.at_ns > before.at_ns);
    assert_eq!(before.devices.len(), facts.devices.len());
    assert_eq!(before.cpus.len(), after.cpus.len());
    assert!(before.cpu.is_some() && before.vmstat.is_some() && before.process_io.is_some());
}

#[test]
fn a_file_here_is_counted() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("data");
    written(&file, IMAGE_BYTES);
    let facts = inspect_one(&file);
    let known = facts.targets[0].device.is_some();
    let direct = facts.targets[0].files.first().map(|file| file.direct);
    if !known || !matches!(direct, Some(DirectIo::Aligned { .. })) {
        return eprintln!("skipped: no device and direct I/O under the temporary directory");
    }
    let probe = probed(&facts, &file);
    assert_eq!((probe.bytes, probe.direct), (65_536, true));
    assert!(probe.counted[0].1 >= probe.bytes || probe.outcome != AccountingOutcome::Counted);
    // A tail that is no whole block can be read too.
    written(&file, 100);
    let probe = probed(&inspect_one(&file), &file);
    assert_eq!(probe.bytes, 100, "{probe:?}");
}

#[test]
fn a_loop_leads_to_the_device_of_its_image() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let image = directory.path().join("image");
    written(&image, IMAGE_BYTES);
    for (options, direct) in [(&[][..], false), (&["--direct-io=on"][..], true)] {
        let Some(device) = Loop::new(&image, options) else { return };
        let path = PathBuf::from(&device.0);
        let facts = inspect_one(&path);
        let top = facts.device(device.name()).expect("collected");
        assert_eq!((top.kind, top.size_bytes), (DeviceKind::Loop, IMAGE_BYTES as u64));
        let below: Vec<String> = device_of_path(&image, &Roots::default()).into_iter().collect();
        assert_eq!(top.below, below);
        let backing = top.loop_backing.as_ref().expect("an image");
        assert_eq!(backing.file.value, image.display().to_string());
        // The filesystem of the image decides whether direct I/O was granted.
        let granted = backing.direct.as_ref().is_some_and(|fact| fact.value);
        assert!(direct || !granted);
        let probe = probed(&facts, &path);
        assert_eq!(probe.outcome, AccountingOutcome::Counted, "{probe:?}");
        assert_eq!((probe.counted[0].0.as_str(), probe.bytes), (device.name(), 65_536));
    }
}

#[test]
fn a_loop_is_sampled_and_evicted() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let image = directory.path().join("image");
    written(&image, IMAGE_BYTES);
    let Some(device) = Loop::new(&image, &[]) else { return };
    let path = PathBuf::from(&device.0);
    let facts = inspect_one(&path);
    let mut sampler = Sampler::new(&facts, vec![path.clone()], &Roots::default());
    let before = sampler.snapshot(SnapshotDetail::Full);
    // The sampler holds the device, so the pages read here stay when this read is over.
    assert_eq!(fs::read(&path).expect("read").len(), IMAGE_BYTES);
    let after = sampler.snapshot(SnapshotDetail::Full);
    let delta = before.device_delta(&after, device.name()).expect("both");
    // Whoever looks at new devices may have read a little before, and may read it again.
    let read = delta.bytes_read() as usize;
    assert!((IMAGE_BYTES / 2..=2 * IMAGE_BYTES).contains(&read), "{read}");
    let Some(cached) = after.cache else { return eprintln!("skipped: no cachestat") };
    assert_eq!((cached.size_bytes, cached.resident_bytes), (8 << 20, 8 << 20));
    let evicted = cache::evict(&path).expect("evicted");
    assert_eq!(evicted.after.resident_bytes, 0, "{evicted:?}");
}

/// A mount that goes away with the value.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let device_of = |path: &Path| fs::metadata(path).map(|of| of.dev()).ok();
        let is_mounted = || device_of(&self.0) != self.0.parent().and_then(device_of);
        // Whoever looks at new file systems may hold it for a moment.
        for _ in 0..20 {
            if !is_mounted() || command("umount", &[&self.0.display().to_string()]).is_some() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
    }
}

/// A filesystem on a loop device on a sparse image; dropped in this order.
struct Scratch {
    mounted: Mounted,
    device: Loop,
    _directory: tempfile::TempDir,
}

impl Scratch {
    fn new(make: &str, image_bytes: u64, options: &str) -> Option<Scratch> {
        let directory = tempfile::tempdir().expect("a directory");
        let (image, point) = (directory.path().join("image"), directory.path().join("a mount"));
        fs::File::create(&image).and_then(|file| file.set_len(image_bytes)).expect("an image");
        fs::create_dir(&point).expect("a directory");
        let device = Loop::new(&image, &[])?;
        let text = point.display().to_string();
        if command(make, &["-q", &device.0]).is_none()
            || command("mount", &["-o", options, &device.0, &text]).is_none()
        {
            eprintln!("skipped: {make} and mount do not work here");
            return None;
        }
        Some(Scratch { mounted: Mounted(point), device, _directory: directory })
    }

    /// A written file on it.
    fn file(&self) -> PathBuf {
        let file = self.mounted.0.join("f");
        written(&file, 1 << 20);
        file
    }
}

#[test]
fn a_mounted_loop_is_held() {
    if !is_root() {
        return;
    }
    let Some(scratch) = Scratch::new("mkfs.ext4", IMAGE_BYTES as u64, "rw") else { return };
    let Scratch { mounted, device, .. } = &scratch;
    let held = holders(device.name(), &Roots::default());
    assert_eq!(held, [mounted.0.display().to_string()]);
    let file = scratch.file();
    let facts = inspect_one(&file);
    let target = &facts.targets[0];
    assert_eq!(target.device.as_ref().map(|fact| fact.value.as_str()), Some(device.name()));
    assert_eq!(target.filesystem.as_ref().map(|fs| fs.kind.as_str()), Some("ext4"));
    let probe = probed(&facts, &file);
    assert_eq!((probe.outcome, probe.direct), (AccountingOutcome::Counted, true), "{probe:?}");
    assert!(probe.counted[0].1 >= 65_536);
    command("umount", &[&mounted.0.display().to_string()]);
    assert!(holders(device.name(), &Roots::default()).is_empty());
}

#[test]
fn a_journal_of_data_takes_no_direct_reads() {
    if !is_root() {
        return;
    }
    let Some(scratch) = Scratch::new("mkfs.ext4", 32 << 20, "data=journal") else { return };
    let file = scratch.file();
    let facts = inspect_one(&file);
    if facts.targets[0].files[0].direct == DirectIo::Unknown {
        return eprintln!("skipped: this kernel does not report support of direct I/O");
    }
    assert_eq!(facts.targets[0].files[0].direct, DirectIo::Unsupported);
    assert_eq!(probed(&facts, &file).outcome, AccountingOutcome::NotMade);
}

#[test]
fn a_btrfs_is_found_by_its_source() {
    if !is_root() {
        return;
    }
    for options in ["rw", "compress-force=zstd"] {
        let Some(scratch) = Scratch::new("mkfs.btrfs", 128 << 20, options) else { return };
        let name = scratch.device.name();
        let file = scratch.file();
        let facts = inspect_one(&file);
        let found = facts.targets[0].device.as_ref().expect("its source");
        assert_eq!((found.value.as_str(), found.from.ends_with("mountinfo")), (name, true));
        let point = scratch.mounted.0.display().to_string();
        assert_eq!(facts.device(name).map(|device| &device.held_by[..]), Some(&[point][..]));
        let probe = probed(&facts, &file);
        assert_eq!((probe.outcome, probe.bytes), (AccountingOutcome::Counted, 65_536), "{probe:?}");
    }
    let Some(scratch) = Scratch::new("mkfs.btrfs", 128 << 20, "compress-force=zstd") else {
        return;
    };
    let zeros = scratch.mounted.0.join("zeros");
    fs::write(&zeros, vec![0; 1 << 20]).expect("written");
    fs::File::open(&zeros).and_then(|file| file.sync_all()).expect("synced");
    let facts = inspect_one(&zeros);
    let extents = facts.targets[0].files[0].extents.as_ref().expect("btrfs tells");
    assert_eq!(extents.value.encoded_bytes, 1 << 20);
    assert_eq!(probed(&facts, &zeros).outcome, AccountingOutcome::NotMade);
}

#[test]
fn files_that_were_copied_by_reference_share_their_bytes() {
    if !is_root() {
        return;
    }
    for kind in ["xfs", "btrfs"] {
        let Some(scratch) = Scratch::new(&format!("mkfs.{kind}"), 512 << 20, "rw") else {
            continue;
        };
        let mounted = &scratch.mounted;
        let [first, second, third] = ["first", "second", "third"].map(|name| mounted.0.join(name));
        written(&first, IMAGE_BYTES);
        written(&third, IMAGE_BYTES);
        let [from, to] = [&first, &second].map(|path| path.display().to_string());
        command("cp", &["--reflink=always", &from, &to]).expect("these filesystems do it");
        fs::File::open(&second).and_then(|file| file.sync_all()).expect("synced");
        let shared = |paths: &[PathBuf]| shared_bytes(paths).map(|fact| fact.value);
        let all = [first.clone(), second, third.clone()];
        assert_eq!(shared(&all), Some(IMAGE_BYTES as u64), "{kind}");
        assert_eq!(shared(&[first, third]), Some(0), "{kind}");
    }
}

impl Mounted {
    /// An overlay above a mounted filesystem, which is then taken out of the mount table, so that
    /// nobody sees the layers.
    fn above(below: &Path) -> Option<Mounted> {
        let top = below.with_extension("top");
        fs::create_dir(&top).expect("a directory");
        for layer in ["lower", "upper", "work"] {
            fs::create_dir(below.join(layer)).expect("a layer");
        }
        let [below, top_text] = [below, &top].map(|path| path.display().to_string());
        let options = format!("lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work");
        let mounted = command("mount", &["-t", "overlay", "-o", &options, "none", &top_text]);
        command("umount", &["--lazy", &below]);
        if mounted.is_none() {
            eprintln!("skipped: no overlay can be mounted here");
        }
        mounted.map(|_| Mounted(top))
    }
}

fn searched(path: &Path) -> (Facts, Option<String>) {
    let (mut facts, roots) = (inspect_one(path), Roots::default());
    assert!(names_no_device(&facts.targets[0]), "{:?}", facts.targets[0]);
    let found = accounting_probe::device_behind(path, Access::Write, &roots);
    take_search(&mut facts, 0, found, &roots);
    let why = facts.missing.iter().find(|missing| missing.what == device_note("t"));
    let why = why.map(|missing| missing.why.clone());
    (facts, why)
}

#[test]
fn the_device_behind_invisible_layers_is_found_by_reads() {
    if !is_root() {
        return;
    }
    let Some(scratch) = Scratch::new("mkfs.ext4", 64 << 20, "rw") else { return };
    let device = &scratch.device;
    let Some(overlay) = Mounted::above(&scratch.mounted.0) else { return };
    let file = overlay.0.join("file");
    written(&file, IMAGE_BYTES);
    let (facts, why) = searched(&file);
    let target = &facts.targets[0];
    assert_eq!(target.device.as_ref().map(|fact| fact.value.as_str()), Some(device.name()));
    assert_eq!(why, None);
    let search = target.device_search.as_ref().expect("it was searched");
    assert!(search.exact >= 5 && search.reads >= search.exact, "{search:?}");
    assert!(facts.device(device.name()).is_some());
    assert_eq!(probed(&facts, &file).outcome, AccountingOutcome::Counted);
}

#[test]
fn memory_behind_invisible_layers_is_no_device() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let below = directory.path().join("memory");
    fs::create_dir(&below).expect("a directory");
    let text = below.display().to_string();
    if command("mount", &["-t", "tmpfs", "none", &text]).is_none() {
        return eprintln!("skipped: no tmpfs can be mounted here");
    }
    let Some(overlay) = Mounted::above(&below) else { return };
    let file = overlay.0.join("file");
    written(&file, IMAGE_BYTES);
    let (facts, why) = searched(&file);
    assert_eq!(facts.targets[0].device, None);
    let why = why.expect("a reason");
    assert!(why.starts_with("overlay names no block device of this host, and "), "{why}");
}

/// A zram device that goes away with the value.
struct Zram(String);

impl Zram {
    fn new() -> Option<Zram> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add").ok()?;
        let zram = Zram(number.trim().to_owned());
        fs::write(zram.attribute("disksize"), "16M").ok()?;
        fs::write(zram.device(), noise(IMAGE_BYTES)).ok()?;
        Some(zram)
    }

    fn device(&self) -> PathBuf {
        format!("/dev/zram{}", self.0).into()
    }

    fn attribute(&self, name: &str) -> PathBuf {
        format!("/sys/block/zram{}/{name}", self.0).into()
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        let _ = fs::write(self.attribute("reset"), "1");
        let _ = fs::write("/sys/class/zram-control/hot_remove", &self.0);
    }
}

#[test]
fn compressed_memory_is_counted() {
    if !is_root() {
        return;
    }
    let Some(zram) = Zram::new() else { return eprintln!("skipped: no zram can be made here") };
    let facts = inspect_one(&zram.device());
    let device = &facts.devices[0];
    assert_eq!((device.kind, device.kind.is_memory()), (DeviceKind::Zram, true));
    assert_eq!(device.bio_based.as_ref().map(|fact| fact.value), Some(true));
    let block = device.queue.logical_block_bytes.as_ref().map(|fact| fact.value);
    let probe = probed(&facts, &zram.device());
    assert_eq!((block, probe.bytes), (Some(4096), 65_536));
    assert_eq!(probe.outcome, AccountingOutcome::Counted, "{probe:?}");
}

#[test]
fn a_device_that_does_not_count_is_found_out() {
    if !is_root() {
        return;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let image = directory.path().join("image");
    written(&image, IMAGE_BYTES);
    let Some(device) = Loop::new(&image, &["--direct-io=on"]) else { return };
    let counts = format!("/sys/block/{}/queue/iostats", device.name());
    if fs::write(&counts, "0").is_err() {
        return eprintln!("skipped: accounting cannot be switched here");
    }
    let path = PathBuf::from(&device.0);
    let facts = inspect_one(&path);
    let probe = probed(&facts, &path);
    // The switch stays with the number, which someone else may get next.
    fs::write(&counts, "1").expect("switched back");
    assert_eq!(facts.devices[0].counts_io.as_ref().map(|fact| fact.value), Some(false));
    assert!(facts.missing.iter().any(|missing| missing.what.contains("I/O counters")));
    assert_eq!((probe.counted[0].1, probe.bytes), (0, 65_536));
    let direct = facts.devices[0].loop_backing.as_ref().and_then(|loop_| loop_.direct.as_ref());
    let leaf_sees = !facts.devices[0].below.is_empty() && direct.is_some_and(|fact| fact.value);
    let found =
        if leaf_sees { AccountingOutcome::CountedBelow } else { AccountingOutcome::NotCounted };
    assert_eq!(probe.outcome, found, "{probe:?}");
}
