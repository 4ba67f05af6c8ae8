//! What the kernel tells about the file at a path.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use candor_record::facts::DirectIo;
use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::bundle::Ask;
use crate::roots::Roots;

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    File,
    Directory,
    Device,
    Other,
}

/// What `statx` tells, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) what: What,
    /// `major:minor` of the device it lies on.
    pub(crate) on: String,
    /// `major:minor` of the device it is.
    pub(crate) is: String,
    /// Length; 0 for devices.
    pub(crate) size_bytes: u64,
    /// Of blocks that it has.
    pub(crate) blocks_bytes: u64,
    /// What direct I/O on it needs, since Linux 6.1.
    pub(crate) direct: DirectIo,
    /// The kernel's number of the mount it lies on, since Linux 5.8.
    pub(crate) mount: Option<u64>,
}

impl About {
    /// Asks the running kernel.
    pub(crate) fn of(path: &Path) -> io::Result<About> {
        // The library knows what to do where there is no `statx`.
        let plain = fs::metadata(path)?;
        let kind = plain.file_type();
        let what = match () {
            () if kind.is_file() => What::File,
            () if kind.is_dir() => What::Directory,
            () if kind.is_block_device() => What::Device,
            () => What::Other,
        };
        let (direct, mount) = more(path);
        Ok(About {
            what,
            on: number(plain.dev()),
            is: number(plain.rdev()),
            size_bytes: plain.size(),
            blocks_bytes: plain.blocks().saturating_mul(512),
            direct,
            mount,
        })
    }

    /// `what on 8:1 is 0:0 size 5 blocks 4096 direct 512/4096 mount 27`.
    fn spell(&self) -> String {
        let what = match self.what {
            What::File => "file",
            What::Directory => "directory",
            What::Device => "device",
            What::Other => "other",
        };
        let direct = match self.direct {
            DirectIo::Unknown => "unknown".to_owned(),
            DirectIo::Unsupported => "none".to_owned(),
            DirectIo::Aligned { memory, offset } => format!("{memory}/{offset}"),
        };
        let mount = self.mount.map_or("unknown".to_owned(), |mount| mount.to_string());
        let About { on, is, size_bytes, blocks_bytes, .. } = self;
        format!(
            "{what} on {on} is {is} size {size_bytes} blocks {blocks_bytes} direct {direct} \
             mount {mount}"
        )
    }

    fn read(text: &str) -> Option<About> {
        let words: Vec<&str> = text.split(' ').collect();
        let [what, "on", on, "is", is, "size", size, "blocks", blocks, ref rest @ ..] = words[..]
        else {
            return None;
        };
        let ["direct", direct, "mount", mount] = rest[..] else { return None };
        let what = match what {
            "file" => What::File,
            "directory" => What::Directory,
            "device" => What::Device,
            _ => What::Other,
        };
        let direct = match direct.split_once('/') {
            Some((memory, offset)) => {
                DirectIo::Aligned { memory: memory.parse().ok()?, offset: offset.parse().ok()? }
            }
            None if direct == "none" => DirectIo::Unsupported,
            None => DirectIo::Unknown,
        };
        Some(About {
            what,
            on: on.to_owned(),
            is: is.to_owned(),
            size_bytes: size.parse().ok()?,
            blocks_bytes: blocks.parse().ok()?,
            direct,
            mount: mount.parse().ok(),
        })
    }
}

impl Roots {
    /// What the file at a path is; absent if there is none.
    pub(crate) fn about(&self, path: &Path) -> Option<About> {
        if self.is_live() {
            return About::of(path).ok();
        }
        About::read(&self.ask(Ask::About, path, || Some(About::of(path).ok()?.spell()))?)
    }
}

/// What only `statx` tells. The alignments are told only where the mask says so; told as zero,
/// there is no direct I/O.
fn more(path: &Path) -> (DirectIo, Option<u64>) {
    let wanted = StatxFlags::DIOALIGN | StatxFlags::MNT_ID;
    let Ok(about) = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted) else {
        return (DirectIo::Unknown, None);
    };
    let has = |flag: StatxFlags| about.stx_mask & flag.bits() != 0;
    let direct = match (about.stx_dio_mem_align, about.stx_dio_offset_align) {
        _ if !has(StatxFlags::DIOALIGN) => DirectIo::Unknown,
        (0, 0) => DirectIo::Unsupported,
        (memory, offset) => DirectIo::Aligned { memory, offset },
    };
    (direct, has(StatxFlags::MNT_ID).then_some(about.stx_mnt_id))
}

fn number(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spelled_is_read() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for path in [file.path(), Path::new("/"), Path::new("/dev/null")] {
            let about = About::of(path).expect("it is there");
            assert_eq!(About::read(&about.spell()), Some(about.clone()));
            let aligned = DirectIo::Aligned { memory: 4, offset: 512 };
            let about = About { direct: aligned, mount: None, what: What::Device, ..about };
            assert_eq!(About::read(&about.spell()), Some(about));
        }
        assert_eq!(About::read("file on 8:1"), None);
    }
}
