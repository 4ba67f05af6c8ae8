//! Filesystems that keep no bytes of their own: from a path on one of them to the path below that
//! holds the bytes.

use std::path::{Path, PathBuf};

use candor_plan::path_of;
use candor_record::facts::Filesystem;

use crate::path::mounts::{self, Mount};
use crate::source::Roots;
use crate::source::stat::{FileStat, FileType};

/// Layers may lie on layers; a circle of them would be a broken table.
const LAYERS_MAX: usize = 8;

/// Use of a path. A file of an overlay moves to its upper layer when it is opened for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reads take the bytes from where they are.
    Read,
    /// Writes take the bytes to another place, if need be.
    Write,
}

/// The existing place that holds, or will hold, the bytes of a path.
pub(crate) struct Held<'a> {
    pub(crate) path: PathBuf,
    pub(crate) stat: FileStat,
    /// The mount of that place; absent where the table has none.
    pub(crate) mount: Option<&'a Mount>,
}

impl Held<'_> {
    /// The filesystem that holds the bytes, where the one that covers the path stacks on it.
    pub(crate) fn beneath(&self, covering: Option<&Mount>, roots: &Roots) -> Option<Filesystem> {
        let stacked = covering.is_some_and(Mount::is_stacked);
        let mount = self.mount.filter(|_| stacked)?;
        Some(mount.facts(&self.path, roots))
    }
}

/// Follows a path through all filesystems that stack on others. Nothing where one of them does not
/// name what lies below, or names what this process cannot see.
pub(crate) fn holding<'a>(
    path: &Path,
    access: Access,
    mounts: &'a [Mount],
    roots: &Roots,
) -> Option<Held<'a>> {
    let mut path = path.to_path_buf();
    for _ in 0..LAYERS_MAX {
        let (existing, stat) = nearest_existing(&path, roots)?;
        let is_new = std::path::absolute(&path).ok()? != existing;
        let Some(mount) = mount_of(&existing, mounts, roots).filter(|mount| mount.is_stacked())
        else {
            let mount = mount_of(&existing, mounts, roots);
            return Some(Held { path: existing, stat, mount });
        };
        path = match mount.kind.as_str() {
            "overlay" => {
                let written = is_new || access == Access::Write;
                layer(mount, &roots.real(&existing)?, &stat, written, roots)?
            }
            // Names below may be encrypted; their directory is enough.
            _ => there(&path_of(&mount.source), roots)?,
        };
    }
    None
}

/// The layer of an overlay that has a file, or that its writes go to.
fn layer(
    overlay: &Mount,
    path: &Path,
    stat: &FileStat,
    written: bool,
    roots: &Roots,
) -> Option<PathBuf> {
    let inside = path.strip_prefix(&overlay.point).ok()?;
    let inside = overlay.root.strip_prefix("/").ok()?.join(inside);
    let upper = overlay.option("upperdir").map(path_of);
    let goes_up = written || stat.file_type != FileType::File;
    if let (Some(upper), true) = (&upper, goes_up) {
        return Some(there(upper, roots)?.join(inside));
    }
    // A path of another mount namespace may mean something else here: the file has to be like ours.
    let is_same = |candidate: &PathBuf| {
        roots.stat(candidate).is_some_and(|found| {
            found.file_type == stat.file_type
                && found.size_bytes == stat.size_bytes
                && (stat.file_type != FileType::File || found.blocks_bytes == stat.blocks_bytes)
        })
    };
    let layers = upper.into_iter().chain(lower_layers(overlay));
    layers.map(|layer| layer.join(&inside)).find(is_same)
}

/// The lower layers of an overlay, the upmost first: all in one option, or each in its own.
fn lower_layers(overlay: &Mount) -> Vec<PathBuf> {
    let each = |option: &String| {
        let single = ["lowerdir+=", "datadir+="].iter().find_map(|key| option.strip_prefix(key));
        match (single, option.strip_prefix("lowerdir=")) {
            (Some(directory), _) => vec![path_of(directory)],
            (None, Some(all)) => separated(all),
            (None, None) => Vec::new(),
        }
    };
    overlay.options.iter().flat_map(each).collect()
}

/// Directories between colons; one that is part of a name has a backslash before it.
fn separated(text: &str) -> Vec<PathBuf> {
    let (mut directories, mut name, mut letters) = (Vec::new(), String::new(), text.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => name.extend(letters.next()),
            ':' => directories.push(std::mem::take(&mut name)),
            _ => name.push(letter),
        }
    }
    directories.push(name);
    directories.into_iter().filter(|name| !name.is_empty()).map(|name| path_of(&name)).collect()
}

/// An absolute path, if it exists.
fn there(path: &Path, roots: &Roots) -> Option<PathBuf> {
    (path.is_absolute() && roots.there(path)).then(|| path.to_path_buf())
}

/// The mount that an existing path lies on.
pub(crate) fn mount_of<'a>(
    existing: &Path,
    mounts: &'a [Mount],
    roots: &Roots,
) -> Option<&'a Mount> {
    let path = roots.real(existing)?;
    let number = roots.stat(&path).and_then(|stat| stat.mount);
    mounts::covering(mounts, &path, number)
}

/// The path itself if it exists, else its nearest parent that does, and what that is.
pub(crate) fn nearest_existing(path: &Path, roots: &Roots) -> Option<(PathBuf, FileStat)> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|path| Some((path.to_path_buf(), roots.stat(path)?)))
}

/// The kind of filesystem that keeps a file in memory and nowhere else, such as tmpfs; none for
/// files that lie elsewhere and for nodes of devices.
pub fn lies_in_memory(file: &Path, roots: &Roots) -> Option<String> {
    let mounts = mounts::read(roots);
    let held = holding(file, Access::Read, &mounts, roots)?;
    let is_file = held.stat.file_type == FileType::File;
    let mount = held.mount.filter(|mount| is_file && mount.is_in_memory())?;
    Some(mount.kind.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::Fake;

    /// An overlay over two lower layers, each on a filesystem of its own.
    struct Layers {
        fake: Fake,
        merged: PathBuf,
    }

    impl Layers {
        fn new() -> Layers {
            let fake = Fake::new();
            let [upper, first, second] = ["upper", "first", "second"].map(|name| fake.path(name));
            for (number, point, kind) in
                [("0:41", &upper, "tmpfs"), ("0:42", &first, "ext4"), ("0:43", &second, "xfs")]
            {
                fake.mount(number, point, kind, "none", "rw");
            }
            let merged = fake.path("merged");
            let options = format!(
                "rw,lowerdir={}:{},upperdir={}",
                first.display(),
                second.display(),
                upper.display()
            );
            fake.mount("0:44", &merged, "overlay", "overlay", &options);
            Layers { fake, merged }
        }

        /// A file as the overlay shows it, in the layers that have it.
        fn file(&self, name: &str, layers: &[&str]) -> PathBuf {
            for place in layers.iter().chain(&["merged"]) {
                self.fake.write(&format!("{place}/{name}"), "content");
            }
            self.merged.join(name)
        }

        fn held_on(&self, path: &Path, access: Access) -> Option<String> {
            let mounts = mounts::read(&self.fake.roots);
            Some(holding(path, access, &mounts, &self.fake.roots)?.mount?.kind.clone())
        }
    }

    #[test]
    fn reads_come_from_the_first_layer_that_has_the_file() {
        let layers = Layers::new();
        for (name, places, kind) in [
            ("a", &["second"][..], "xfs"),
            ("b", &["first", "second"], "ext4"),
            ("c", &["upper", "second"], "tmpfs"),
        ] {
            let file = layers.file(name, places);
            assert_eq!(layers.held_on(&file, Access::Read).as_deref(), Some(kind), "{name}");
            assert_eq!(layers.held_on(&file, Access::Write).as_deref(), Some("tmpfs"), "{name}");
        }
    }

    #[test]
    fn new_files_and_directories_are_in_the_upper_layer() {
        let layers = Layers::new();
        for path in [layers.merged.clone(), layers.merged.join("new/file")] {
            assert_eq!(layers.held_on(&path, Access::Read).as_deref(), Some("tmpfs"));
        }
        let file = layers.file("kept", &["upper"]);
        assert_eq!(lies_in_memory(&file, &layers.fake.roots).as_deref(), Some("tmpfs"));
    }

    #[test]
    fn a_file_that_no_layer_has_is_nowhere() {
        let layers = Layers::new();
        let file = layers.file("hidden", &[]);
        assert_eq!(layers.held_on(&file, Access::Read), None);
        layers.fake.write("first/hidden", "of other content");
        assert_eq!(layers.held_on(&file, Access::Read), None);
    }

    #[test]
    fn an_encrypting_filesystem_lies_on_a_directory() {
        let fake = Fake::new();
        let (lower, point) = (fake.path("lower"), fake.path("clear"));
        fake.mount("0:41", &lower, "ext4", "none", "rw");
        fake.mount("0:42", &point, "ecryptfs", &lower.display().to_string(), "rw");
        let mounts = mounts::read(&fake.roots);
        let held = holding(&point.join("f"), Access::Write, &mounts, &fake.roots).expect("found");
        let beneath = held.beneath(mounts.last(), &fake.roots).expect("it is stacked");
        assert_eq!(beneath.kind, "ext4");
    }

    #[test]
    fn layers_are_separated_by_colons() {
        let names = |text: &str| separated(text).iter().map(|p| p.display().to_string()).collect();
        let of: [(&str, Vec<String>); 3] = [
            ("/a:/b", vec!["/a".into(), "/b".into()]),
            ("/a\\:b::/c", vec!["/a:b".into(), "/c".into()]),
            ("", vec![]),
        ];
        for (text, expected) in of {
            let found: Vec<String> = names(text);
            assert_eq!(found, expected, "{text}");
        }
    }
}
