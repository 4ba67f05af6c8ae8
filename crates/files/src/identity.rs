//! Identity of a file: the same for every spelling, link and hard link.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Longest chain of links that is followed, as in the kernel.
const LINKS_MAX: usize = 40;

/// Identity of a file, or of a name that is free.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// A block device by its number, whichever node names it.
    Device(u64),
    /// A file by its filesystem and inode.
    File {
        /// Number of the filesystem.
        filesystem: u64,
        /// Inode.
        inode: u64,
    },
    /// A free name in a directory.
    Free {
        /// Number of the directory's filesystem.
        filesystem: u64,
        /// Inode of the directory.
        directory: u64,
        /// Name in it.
        name: OsString,
    },
}

impl Identity {
    /// Identity of the file at a path; none where even the directory is missing.
    pub fn of(path: &Path) -> Option<Identity> {
        if let Ok(metadata) = path.metadata() {
            return Some(Identity::of_open(&metadata));
        }
        let Place { directory, name, .. } = Place::find(path).ok()?;
        let metadata = directory.metadata().ok()?;
        let (filesystem, directory) = (metadata.dev(), metadata.ino());
        Some(Identity::Free { filesystem, directory, name })
    }

    /// Identity of an open file.
    pub fn of_open(metadata: &Metadata) -> Identity {
        if metadata.file_type().is_block_device() {
            Identity::Device(metadata.rdev())
        } else {
            Identity::File { filesystem: metadata.dev(), inode: metadata.ino() }
        }
    }
}

/// True for two paths of one file, or of one free name.
pub fn is_same(one: &Path, other: &Path) -> bool {
    Identity::of(one).is_some_and(|identity| Some(identity) == Identity::of(other))
}

/// Place of a file after all links.
#[derive(Debug)]
pub struct Place {
    /// Directory of the file, without links.
    pub directory: PathBuf,
    /// Name in it.
    pub name: OsString,
    /// The name is a descriptor of a process, such as `/dev/stdout`.
    pub is_descriptor: bool,
}

impl Place {
    /// Follows the links of a path, also to a file that does not exist.
    pub fn find(path: &Path) -> io::Result<Place> {
        let mut path = std::path::absolute(path)?;
        for _ in 0..LINKS_MAX {
            let is_a_directory = io::Error::from(io::ErrorKind::IsADirectory);
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                return Err(is_a_directory);
            };
            let (directory, name) = (parent.canonicalize()?, name.to_owned());
            if directory.starts_with("/proc") && directory.ends_with("fd") {
                return Ok(Place { directory, name, is_descriptor: true });
            }
            match fs::read_link(directory.join(&name)) {
                Ok(to) => path = directory.join(to),
                Err(_) => return Ok(Place { directory, name, is_descriptor: false }),
            }
        }
        Err(io::Error::from_raw_os_error(libc::ELOOP))
    }

    /// Path of the file.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }
}

/// A path without links; the end of it may not exist.
pub fn without_links(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut above = path.ancestors();
    let found = above.find_map(|above| Some((above, above.canonicalize().ok()?)));
    found.map_or(path.clone(), |(above, real)| {
        path.strip_prefix(above).map_or(path.clone(), |rest| {
            if rest.as_os_str().is_empty() { real } else { real.join(rest) }
        })
    })
}

/// Name of the loop device that reads its bytes from a file, from `/sys/block`.
pub fn loop_device_of(metadata: &Metadata) -> Option<String> {
    let of = Identity::of_open(metadata);
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut loops =
        devices.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"loop"));
    let device = loops.find(|entry| {
        let path = fs::read(entry.path().join("loop/backing_file")).unwrap_or_default();
        let path = OsStr::from_bytes(path.strip_suffix(b"\n").unwrap_or(&path));
        let backing = Path::new(path).metadata().ok();
        backing.is_some_and(|backing| Identity::of_open(&backing) == of)
    })?;
    Some(device.file_name().to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn each_spelling_and_link_is_one_file_and_a_free_name_is_its_directory_and_name() {
        let top = tempfile::tempdir().expect("a directory");
        let at = |name: &str| top.path().join(name);
        fs::create_dir(at("d")).expect("made");
        fs::write(at("f"), "x").expect("written");
        symlink("f", at("link")).expect("linked");
        fs::hard_link(at("f"), at("hard")).expect("linked");
        symlink("free", at("to_free")).expect("linked");
        let of = |name: &str| Identity::of(&at(name)).expect("known");
        for same in ["d/../f", "./f", "link", "hard"] {
            assert_eq!(of(same), of("f"), "{same}");
        }
        assert_ne!(of("d"), of("f"));
        assert_eq!(of("to_free"), of("d/../free"));
        assert_ne!(of("free"), of("d/free"));
        assert_eq!(Identity::of(&at("none/free")), None);
        symlink("round", at("round")).expect("linked");
        assert_eq!(Identity::of(&at("round")), None);
    }

    #[test]
    fn a_descriptor_is_found_behind_links() {
        let place = Place::find(Path::new("/dev/stdout")).expect("a place");
        assert!(place.is_descriptor, "{place:?}");
    }
}
