//! The tree below an anchor, by the names on disk, whichever definition created it.

use std::fs;
use std::path::Path;

use candor_plan::Tree;

use super::format::old_tree;

/// Extents of the names that were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extent {
    depth: u32,
    width: u32,
    files: u64,
}

/// The smallest tree that contains all vdbench names below a directory, if any.
pub fn tree_below(anchor: &Path) -> Option<Tree> {
    let (mut found, mut left) = (Extent::default(), vec![(anchor.to_owned(), 0_u32)]);
    while let Some((directory, level)) = left.pop() {
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            match (is_directory, directory_number(name), file_number(name)) {
                (true, Some((of_level, number)), _) if of_level == level + 1 => {
                    found.depth = found.depth.max(of_level);
                    found.width = found.width.max(number);
                    left.push((entry.path(), of_level));
                }
                // An anchor itself contains no files.
                (false, _, Some(number)) if level > 0 => found.files = found.files.max(number),
                _ => {}
            }
        }
    }
    (found.depth > 0).then(|| old_tree(found.depth, found.width, found.files))
}

/// Level and number of a directory of that name.
fn directory_number(name: &str) -> Option<(u32, u32)> {
    let (level, number) = name.strip_prefix("vdb.")?.strip_suffix(".dir")?.split_once('_')?;
    Some((plain(level)?, plain(number)?))
}

/// Number of a file of that name.
fn file_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("vdb_f")?.strip_suffix(".file")?;
    let number: u64 = digits.parse().ok().filter(|number| *number > 0)?;
    (format!("{number:04}") == digits).then_some(number)
}

/// A number without zeros in front.
fn plain(digits: &str) -> Option<u32> {
    let number: u32 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_has_all_names_that_are_there() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        assert_eq!(tree_below(dir.path()), None);
        let make = |path: &str| fs::create_dir_all(dir.path().join(path)).expect("made");
        make("vdb.1_3.dir/vdb.2_1.dir");
        make("vdb.1_1.dir/other.dir");
        make("vdb.2_9.dir");
        let write = |path: &str| fs::write(dir.path().join(path), "").expect("written");
        write("vdb.1_3.dir/vdb.2_1.dir/vdb_f0012.file");
        write("vdb.1_3.dir/vdb.2_1.dir/vdb_f99.file");
        write("vdb_f0077.file");
        write("vdb_control.file");
        assert_eq!(tree_below(dir.path()), Some(old_tree(2, 3, 12)));
        assert_eq!(tree_below(Path::new("/no/such/directory")), None);
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        assert_eq!(directory_number("vdb.12_3.dir"), Some((12, 3)));
        assert_eq!(
            (file_number("vdb_f0001.file"), file_number("vdb_f12345.file")),
            (Some(1), Some(12_345))
        );
        for name in ["vdb.1_0.dir", "vdb.01_1.dir", "vdb.1.dir", "vdb.1_1.dirs"] {
            assert_eq!(directory_number(name), None, "{name}");
        }
        for name in ["vdb_f0000.file", "vdb_f1.file", "vdb_f00001.file", "vdb_control.file"] {
            assert_eq!(file_number(name), None, "{name}");
        }
    }
}
