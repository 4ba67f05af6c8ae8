//! The type, length and devices of the file at a path, by `stat` and `statx`.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use candor_record::facts::DirectIo;
use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::source::Roots;
use crate::source::bundle::Ask;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileType {
    File,
    Directory,
    Device,
    Other,
}

/// The answer of `stat` and `statx`, links followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileStat {
    pub(crate) file_type: FileType,
    /// `major:minor` of the device it lies on.
    pub(crate) on: String,
    /// `major:minor` of the device it is.
    pub(crate) is: String,
    /// Length; 0 for devices.
    pub(crate) size_bytes: u64,
    /// Of blocks that it has.
    pub(crate) blocks_bytes: u64,
    /// Requirements of direct I/O on it, since Linux 6.1.
    pub(crate) direct: DirectIo,
    /// The kernel's number of the mount it lies on, since Linux 5.8.
    pub(crate) mount: Option<u64>,
    /// Number of the file on its filesystem; absent in recordings of earlier versions.
    pub(crate) inode: Option<u64>,
}

impl FileStat {
    /// Asks the running kernel.
    pub(crate) fn of(path: &Path) -> io::Result<FileStat> {
        // The library falls back to `stat` where there is no `statx`.
        let plain = fs::metadata(path)?;
        let kind = plain.file_type();
        let file_type = match () {
            () if kind.is_file() => FileType::File,
            () if kind.is_dir() => FileType::Directory,
            () if kind.is_block_device() => FileType::Device,
            () => FileType::Other,
        };
        let (direct, mount) = more(path);
        Ok(FileStat {
            file_type,
            on: number(plain.dev()),
            is: number(plain.rdev()),
            size_bytes: plain.size(),
            blocks_bytes: plain.blocks().saturating_mul(512),
            direct,
            mount,
            inode: Some(plain.ino()),
        })
    }

    /// `file on 8:1 is 0:0 size 5 blocks 4096 direct 512/4096 mount 27 inode 12`.
    fn spell(&self) -> String {
        let file_type = match self.file_type {
            FileType::File => "file",
            FileType::Directory => "directory",
            FileType::Device => "device",
            FileType::Other => "other",
        };
        let direct = match self.direct {
            DirectIo::Unknown => "unknown".to_owned(),
            DirectIo::Unsupported => "none".to_owned(),
            DirectIo::Aligned { memory, offset } => format!("{memory}/{offset}"),
        };
        let mount = self.mount.map_or("unknown".to_owned(), |mount| mount.to_string());
        let inode = self.inode.map_or_else(String::new, |inode| format!(" inode {inode}"));
        let FileStat { on, is, size_bytes, blocks_bytes, .. } = self;
        format!(
            "{file_type} on {on} is {is} size {size_bytes} blocks {blocks_bytes} direct {direct} \
             mount {mount}{inode}"
        )
    }

    fn read(text: &str) -> Option<FileStat> {
        let words: Vec<&str> = text.split(' ').collect();
        let [file_type, "on", on, "is", is, "size", size, "blocks", blocks, ref rest @ ..] =
            words[..]
        else {
            return None;
        };
        let ["direct", direct, "mount", mount, ref rest @ ..] = rest[..] else { return None };
        let inode = match rest[..] {
            ["inode", inode] => inode.parse().ok(),
            _ => None,
        };
        let file_type = match file_type {
            "file" => FileType::File,
            "directory" => FileType::Directory,
            "device" => FileType::Device,
            _ => FileType::Other,
        };
        let direct = match direct.split_once('/') {
            Some((memory, offset)) => {
                DirectIo::Aligned { memory: memory.parse().ok()?, offset: offset.parse().ok()? }
            }
            None if direct == "none" => DirectIo::Unsupported,
            None => DirectIo::Unknown,
        };
        Some(FileStat {
            file_type,
            on: on.to_owned(),
            is: is.to_owned(),
            size_bytes: size.parse().ok()?,
            blocks_bytes: blocks.parse().ok()?,
            direct,
            mount: mount.parse().ok(),
            inode,
        })
    }
}

impl Roots {
    /// The stat of the file at a path; absent if there is none.
    pub(crate) fn stat(&self, path: &Path) -> Option<FileStat> {
        if self.is_live() {
            return FileStat::of(path).ok();
        }
        FileStat::read(&self.ask(Ask::Stat, path, || Some(FileStat::of(path).ok()?.spell()))?)
    }
}

/// The answers that only `statx` has. Alignments are known only where the mask says so; zero means
/// that there is no direct I/O.
fn more(path: &Path) -> (DirectIo, Option<u64>) {
    let wanted = StatxFlags::DIOALIGN | StatxFlags::MNT_ID;
    let Ok(statx) = rustix::fs::statx(CWD, path, AtFlags::empty(), wanted) else {
        return (DirectIo::Unknown, None);
    };
    let has = |flag: StatxFlags| statx.stx_mask & flag.bits() != 0;
    let direct = match (statx.stx_dio_mem_align, statx.stx_dio_offset_align) {
        _ if !has(StatxFlags::DIOALIGN) => DirectIo::Unknown,
        (0, 0) => DirectIo::Unsupported,
        (memory, offset) => DirectIo::Aligned { memory, offset },
    };
    (direct, has(StatxFlags::MNT_ID).then_some(statx.stx_mnt_id))
}

fn number(device: u64) -> String {
    format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stat_is_read_as_it_was_spelled() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        for path in [file.path(), Path::new("/"), Path::new("/dev/null")] {
            let stat = FileStat::of(path).expect("it is there");
            assert_eq!(FileStat::read(&stat.spell()), Some(stat.clone()));
            let aligned = DirectIo::Aligned { memory: 4, offset: 512 };
            let stat =
                FileStat { direct: aligned, mount: None, file_type: FileType::Device, ..stat };
            assert_eq!(FileStat::read(&stat.spell()), Some(stat));
        }
        assert_eq!(FileStat::read("file on 8:1"), None);
    }
}
