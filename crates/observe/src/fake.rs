//! A made-up `/sys`, `/proc` and `/dev` in a temporary directory, for tests.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::source::Roots;

/// A tree that vanishes with the value.
pub(crate) struct Fake {
    directory: TempDir,
    pub(crate) roots: Roots,
}

impl Fake {
    pub(crate) fn new() -> Fake {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name);
        let roots = Roots::at(at("sys"), at("proc"), at("dev"));
        let fake = Fake { directory, roots };
        for path in ["sys/class/block", "sys/devices", "sys/dev/block", "proc/self", "dev"] {
            fs::create_dir_all(fake.place(path)).expect("a directory");
        }
        fake
    }

    /// An existing directory for data in the tree.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        let path = self.place(name);
        fs::create_dir_all(&path).expect("a directory");
        fs::canonicalize(path).expect("it exists")
    }

    /// Writes a file, its directories too.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.place(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        fs::write(path, text).expect("a file");
    }

    /// Writes several files under a directory.
    pub(crate) fn write_all(&self, under: &str, files: &[(&str, &str)]) {
        for (name, text) in files {
            self.write(&format!("{under}/{name}"), text);
        }
    }

    /// Makes a symbolic link to another path of the tree.
    pub(crate) fn link(&self, path: &str, to: &str) {
        let path = self.place(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its directory");
        replace_link(&self.place(to), &path);
    }

    /// A whole device at a place under `sys/devices`.
    pub(crate) fn disk(&self, name: &str, number: &str, place: &str) {
        let place = format!("sys/devices/{place}");
        let files = [("dev", number), ("size", "2097152"), ("queue/logical_block_size", "512")];
        self.write_all(&place, &files);
        self.link(&format!("sys/class/block/{name}"), &place);
        self.link(&format!("sys/dev/block/{number}"), &place);
    }

    /// A partition of a disk, starting at that sector.
    pub(crate) fn partition(&self, disk: &str, name: &str, number: &str, start: u64) {
        let place = fs::canonicalize(self.roots.block(disk)).expect("the disk").join(name);
        fs::create_dir_all(&place).expect("a directory");
        let start = start.to_string();
        for (file, text) in
            [("partition", "1"), ("dev", number), ("size", "1048576"), ("start", &start)]
        {
            fs::write(place.join(file), text).expect("a file");
        }
        replace_link(&place, &self.roots.block(name));
        replace_link(&place, &self.place(&format!("sys/dev/block/{number}")));
    }

    /// Adds a line to the mount table.
    pub(crate) fn mount(&self, number: &str, point: &Path, kind: &str, source: &str, opts: &str) {
        let table = self.roots.proc.join("self/mountinfo");
        let mut file =
            fs::OpenOptions::new().create(true).append(true).open(table).expect("the table");
        // Numbers that no real mount has, so that none is taken for one of these.
        writeln!(file, "4000000000 1 {number} / {} rw - {kind} {source} {opts}", point.display())
            .expect("a line");
    }

    /// A directory with data whose real device number stands for that device.
    pub(crate) fn data_on(&self, disk: &str) -> PathBuf {
        let data = self.path("data");
        let device = fs::metadata(&data).expect("it exists").dev();
        let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        let place = fs::canonicalize(self.roots.block(disk)).expect("the disk");
        replace_link(&place, &self.place(&format!("sys/dev/block/{number}")));
        data
    }

    fn place(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }
}

/// The real device under the temporary directory may have the number of a made-up one.
fn replace_link(to: &Path, link: &Path) {
    let _ = fs::remove_file(link);
    symlink(to, link).expect("a link");
}
