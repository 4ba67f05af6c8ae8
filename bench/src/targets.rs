//! Targets: a zram device, a loop device and files, made for the run and gone after it.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use candor_bench::Offsets;

const DEVICE_BYTES: u64 = 1 << 30;
const FILE_BYTES: u64 = 256 << 20;
const DISK_FILE_BYTES: u64 = 1 << 30;
const CHUNK: usize = 1 << 20;

/// A zram device of our own; dropped, it is removed.
pub struct Zram {
    number: String,
}

impl Zram {
    /// Adds a device of 1 GiB and fills it with random data, so that nothing is compressed.
    pub fn add() -> Result<Zram, String> {
        let control = Path::new("/sys/class/zram-control/hot_add");
        if !control.exists() {
            // Where zram is a module, it may only need loading; if not, the read below says so.
            let _ = Command::new("modprobe").arg("zram").status();
        }
        let number = fs::read_to_string(control).map_err(|e| {
            format!(
                "no zram device could be added ({e}): this needs root and a kernel with zram; \
                 or name a device with --target"
            )
        })?;
        let zram = Zram { number: number.trim().to_owned() };
        let size = format!("/sys/block/zram{}/disksize", zram.number);
        fs::write(&size, DEVICE_BYTES.to_string()).map_err(|e| format!("{size}: {e}"))?;
        fill(&zram.path(), DEVICE_BYTES)?;
        Ok(zram)
    }

    /// The device's path.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/dev/zram{}", self.number))
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // udev may still be looking at it, which makes the removal fail for a moment.
        for _ in 0..50 {
            if fs::write("/sys/class/zram-control/hot_remove", &self.number).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        eprintln!("zram{} could not be removed: write {0} to hot_remove yourself", self.number);
    }
}

/// A loop device of our own over a file; dropped, it is detached.
pub struct Loop {
    path: PathBuf,
}

impl Loop {
    /// Attaches the file as `losetup` does by itself: through the page cache.
    pub fn attach(file: &Path) -> Result<Loop, String> {
        let output = Command::new("losetup").args(["--find", "--show"]).arg(file).output();
        let output = output.map_err(|e| format!("losetup: {e}"))?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if output.status.success() {
            Ok(Loop { path: said(&output.stdout).into() })
        } else {
            Err(format!("no loop device: {}", said(&output.stderr)))
        }
    }

    /// The device's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.path).status();
        if !detached.is_ok_and(|status| status.success()) {
            eprintln!("{} could not be detached: do so yourself", self.path.display());
        }
    }
}

/// A folder of our own for the cached file and the tools' output; dropped, it is removed.
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder below `parent`.
    pub fn make(parent: &Path) -> Result<Folder, String> {
        let path = parent.join(format!("candor-bench-{}", std::process::id()));
        fs::create_dir(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Folder { path })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path within it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes the file, flushes it and reads it once, so that all of it is in the page cache.
    pub fn cached_file(&self) -> Result<PathBuf, String> {
        let path = self.file("cached", FILE_BYTES)?;
        let failed = |e: std::io::Error| format!("{}: {e}", path.display());
        let mut file = File::open(&path).map_err(failed)?;
        let mut chunk = vec![0; CHUNK];
        while file.read(&mut chunk).map_err(failed)? > 0 {}
        Ok(path)
    }

    /// A file of 1 GiB, for direct reads and writes.
    pub fn disk_file(&self, name: &str) -> Result<PathBuf, String> {
        self.file(name, DISK_FILE_BYTES)
    }

    fn file(&self, name: &str, bytes: u64) -> Result<PathBuf, String> {
        let path = self.join(name);
        File::create_new(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        fill(&path, bytes)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(e) = fs::remove_dir_all(&self.path) {
            eprintln!("{} could not be removed: {e}", self.path.display());
        }
    }
}

/// Writes random bytes and makes them durable.
fn fill(path: &Path, bytes: u64) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
    let mut random = Offsets::new(1, 1);
    let mut chunk = vec![0; CHUNK];
    for _ in 0..bytes / CHUNK as u64 {
        if crate::interrupt::asked() {
            return Err("interrupted".to_owned());
        }
        for word in chunk.chunks_exact_mut(8) {
            word.copy_from_slice(&random.bits().to_le_bytes());
        }
        file.write_all(&chunk).map_err(failed)?;
    }
    file.sync_all().map_err(failed)
}
