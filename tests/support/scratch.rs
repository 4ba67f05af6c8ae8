//! Directories and files on a real filesystem.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A number for names that must not meet.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A directory for one test: `data` for what candor works on, and a place beside it for reports.
pub struct Scratch {
    top: PathBuf,
}

impl Scratch {
    /// A new one, below the build's folder, which lies on a disk as a rule.
    pub fn new() -> Scratch {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("whole-{}-{number}", std::process::id());
        let top = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(top.join("data")).expect("a scratch directory");
        Scratch { top }
    }

    /// The directory that candor works in.
    pub fn dir(&self) -> String {
        text(&self.top.join("data"))
    }

    /// False, with a word, where files lie in memory anyway.
    pub fn on_disk(&self) -> bool {
        let on_disk = fs::metadata(self.dir()).is_ok_and(|dir| {
            // Filesystems without a device have major number 0.
            dir.dev() >> 8 != 0
        });
        if !on_disk {
            super::skip("the build's folder is not on a disk");
        }
        on_disk
    }

    /// A path in that directory.
    pub fn path(&self, name: &str) -> String {
        text(&self.top.join("data").join(name))
    }

    /// A path beside it.
    pub fn outside(&self, name: &str) -> String {
        text(&self.top.join(name))
    }

    /// Names of what lies in the directory.
    pub fn entries(&self) -> Vec<String> {
        let entries = fs::read_dir(self.top.join("data")).expect("the directory is readable");
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// A file of incompressible bytes in that directory, on disk when this returns.
    pub fn random_file(&self, name: &str, bytes: u64) -> String {
        let path = self.path(name);
        random_file(&path, bytes);
        path
    }

    /// A file with this text beside the directory.
    pub fn file(&self, name: &str, content: &str) -> String {
        let path = self.outside(name);
        fs::write(&path, content).expect("a scratch file");
        path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed stays below the build's folder.
        let _ = fs::remove_dir_all(&self.top);
    }
}

/// A path as a word of a command line.
pub fn text(path: &Path) -> String {
    path.to_str().expect("scratch paths are UTF-8").to_owned()
}

/// Makes a file of incompressible bytes, on disk when this returns.
pub fn random_file(path: &str, bytes: u64) {
    // The kernel makes noise more slowly than a disk takes it, so a piece of it comes again, with
    // its place in front.
    let mut noise = vec![0; 1 << 20];
    let mut kernel = File::open("/dev/urandom").expect("the kernel's noise");
    kernel.read_exact(&mut noise).expect("the kernel's noise");
    let mut file =
        File::options().write(true).create(true).truncate(true).open(path).expect("a file");
    let mut left = bytes;
    while left > 0 {
        noise[..8].copy_from_slice(&left.to_le_bytes());
        let length = left.min(noise.len() as u64);
        file.write_all(&noise[..length as usize]).expect("a file can be written");
        left -= length;
    }
    file.sync_all().expect("a file can be flushed");
}

/// A number that changes if any byte of the file or device does.
pub fn fingerprint(path: &str) -> u64 {
    let mut file = File::open(path).expect("the file is readable");
    let mut hasher = std::hash::DefaultHasher::new();
    let mut block = vec![0; 1 << 20];
    loop {
        match file.read(&mut block).expect("the file is readable") {
            0 => return hasher.finish(),
            n => hasher.write(&block[..n]),
        }
    }
}
