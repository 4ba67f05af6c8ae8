//! The mount table: which filesystem a path lies on.

use std::path::{Path, PathBuf};

use candor_plan::{PathText, path_of};
use candor_record::facts::{Fact, Filesystem, Remote};

use crate::net::{self, Server};
use crate::source::Roots;
use crate::source::bundle::Ask;
use crate::source::parse::unescape;

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The mount's own number.
    pub(crate) id: u64,
    /// `major:minor` of the device; major 0 where there is none.
    pub(crate) device: String,
    /// The directory of the filesystem that is mounted.
    pub(crate) root: PathBuf,
    /// Where.
    pub(crate) point: PathBuf,
    /// Options of the mount, then of the superblock.
    pub(crate) options: Vec<String>,
    /// Type of the filesystem.
    pub(crate) kind: String,
    /// Source of the mount.
    pub(crate) source: String,
}

impl Mount {
    /// The value of an option of the form `key=value`.
    pub(crate) fn option(&self, key: &str) -> Option<&str> {
        self.options.iter().find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }

    /// True where the files are in this host's memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.kind.as_str(), "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs" | "rootfs")
    }

    /// True where the bytes of the files are on another filesystem of this host.
    pub(crate) fn is_stacked(&self) -> bool {
        matches!(self.kind.as_str(), "overlay" | "ecryptfs")
    }

    /// True where the files are on another host.
    pub(crate) fn is_remote(&self) -> bool {
        const KINDS: [&str; 22] = [
            "nfs",
            "nfs4",
            "cifs",
            "smb3",
            "smbfs",
            "ceph",
            "lustre",
            "gpfs",
            "beegfs",
            "orangefs",
            "afs",
            "coda",
            "9p",
            "virtiofs",
            "fuse.sshfs",
            "fuse.glusterfs",
            "fuse.ceph",
            "fuse.s3fs",
            "fuse.gcsfuse",
            "fuse.rclone",
            "fuse.juicefs",
            "fuse.davfs2",
        ];
        KINDS.contains(&self.kind.as_str())
    }

    /// The server of a network filesystem that names its address among its options.
    pub(crate) fn remote(&self, roots: &Roots) -> Option<Remote> {
        let protocol = match self.kind.as_str() {
            "nfs" | "nfs4" => "NFS",
            "cifs" | "smb3" | "smbfs" => "SMB",
            _ => return None,
        };
        let from = table_path(roots).text();
        let transport = self.option("proto").unwrap_or("tcp");
        let rdma = transport.starts_with("rdma") || self.options.iter().any(|o| o == "rdma");
        let number = |key: &str| self.option(key).and_then(|text| text.parse().ok());
        let server = Server {
            protocol: protocol.into(),
            address: Fact::new(self.option("addr")?.to_owned(), from),
            interface: None,
            connections: number("nconnect").or_else(|| number("max_channels")),
            tcp: !rdma,
        };
        Some(net::remote(server, roots))
    }

    /// The mount as a fact, with the sizes that `statvfs` tells for `path` on it.
    pub(crate) fn facts(&self, path: &Path, roots: &Roots) -> Filesystem {
        let [blocks, available, block_bytes] = space(path, roots).unwrap_or_default();
        Filesystem {
            kind: self.kind.clone(),
            source: self.source.clone(),
            mount_point: self.point.text(),
            options: self.options.join(","),
            size_bytes: blocks.saturating_mul(block_bytes),
            available_bytes: available.saturating_mul(block_bytes),
            block_bytes,
            in_memory: self.is_in_memory(),
            remote: self.is_remote(),
        }
    }
}

/// Blocks of the filesystem at a path, those free for everybody, and their bytes.
fn space(path: &Path, roots: &Roots) -> Option<[u64; 3]> {
    let numbers = roots.numbers(Ask::Space, path, || {
        let space = rustix::fs::statvfs(path).ok()?;
        Some(vec![space.f_blocks, space.f_bavail, space.f_frsize])
    });
    numbers?.try_into().ok()
}

/// Path of the mount table.
pub(crate) fn table_path(roots: &Roots) -> PathBuf {
    roots.proc.join("self/mountinfo")
}

/// All mounts of this process, in the order they were made; none if the table cannot be read.
pub(crate) fn read(roots: &Roots) -> Vec<Mount> {
    let table = roots.text(&table_path(roots)).unwrap_or_default();
    table.lines().filter_map(parse).collect()
}

/// One line: `id parent major:minor root point options [tags…] - type source super-options`.
fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let left: Vec<&str> = left.split(' ').collect();
    // An empty source leaves two blanks, so blanks are separators one by one.
    let right: Vec<&str> = right.split(' ').collect();
    let [id, _parent, device, root, point, options, ..] = left[..] else { return None };
    let [kind, source, ..] = right[..] else { return None };
    Some(Mount {
        id: id.parse().ok()?,
        device: device.to_owned(),
        root: path_of(&unescape(root)),
        point: path_of(&unescape(point)),
        options: merged(options, right.get(2).copied().unwrap_or("")),
        kind: kind.to_owned(),
        source: unescape(source),
    })
}

/// Options of mount and superblock, each once.
fn merged(mount: &str, superblock: &str) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    for option in mount.split(',').chain(superblock.split(',')) {
        let option = unescape(option);
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    options
}

/// The mount that an absolute, resolved path lies on: the one with that mount number if it can
/// be, else the one with the longest matching point, of equals the last (it hides the others).
pub(crate) fn covering<'a>(mounts: &'a [Mount], path: &Path, id: Option<u64>) -> Option<&'a Mount> {
    let on_the_way = || mounts.iter().filter(|mount| path.starts_with(&mount.point));
    let by_id = id.and_then(|id| on_the_way().find(|mount| mount.id == id));
    by_id.or_else(|| on_the_way().max_by_key(|mount| mount.point.components().count()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
28 27 0:25 /@home /home rw,noatime shared:3 master:1 - btrfs /dev/mapper/my\\040vol rw,subvol=/@home
29 27 0:30 / /home/a\\040b rw - tmpfs  rw,size=4k
30 27 8:1 / /home rw,relatime - xfs /dev/sda1 rw
garbage
31 27 8:1
";

    fn table() -> Vec<Mount> {
        TABLE.lines().filter_map(parse).collect()
    }

    #[test]
    fn fields_and_escapes() {
        let mounts = table();
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[1].source, "/dev/mapper/my vol");
        assert_eq!(mounts[1].root, Path::new("/@home"));
        assert_eq!(mounts[1].options, ["rw", "noatime", "subvol=/@home"]);
        assert_eq!(mounts[1].option("subvol"), Some("/@home"));
        assert_eq!(mounts[2].point, Path::new("/home/a b"));
        assert_eq!(mounts[2].source, "");
        assert!(mounts[2].is_in_memory());
    }

    #[test]
    fn the_longest_and_last_mount_covers() {
        let mounts = table();
        let point = |path: &str, id| covering(&mounts, Path::new(path), id).map(|mount| mount.id);
        assert_eq!(point("/etc/passwd", None), Some(27));
        assert_eq!(point("/home/user", None), Some(30));
        assert_eq!(point("/home/user", Some(28)), Some(28));
        assert_eq!(point("/home/a b/c", None), Some(29));
        assert_eq!(point("/homely", None), Some(27));
        assert_eq!(point("/etc", Some(29)), Some(27));
    }

    #[test]
    fn remote_filesystems() {
        let of = |kind: &str| Mount { kind: kind.into(), ..Mount::default() }.is_remote();
        assert!(of("nfs4") && of("fuse.sshfs"));
        assert!(!of("ext4") && !of("fuse.ntfs"));
    }

    proptest! {
        #[test]
        fn any_line_is_survived(line in ".{0,120}") {
            let _ = parse(&line);
        }

        #[test]
        fn any_fields_are_survived(line in "[0-9]{1,3} [0-9:]* ?[/\\\\0-7]{0,9} .* - .*") {
            let _ = parse(&line);
        }
    }
}
