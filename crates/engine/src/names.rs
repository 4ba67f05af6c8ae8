//! Names of a target's files and directories, by number. They are computed when needed, not listed.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use candor_plan::{Bytes, FileName, Target, TargetKind, files_below, path_of};

/// A file of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Path of the file.
    pub path: PathBuf,
    /// Bytes that the plan uses of the file; none for all of it.
    pub size: Option<u64>,
}

impl Named {
    /// Bytes that are used of it: those of the plan, or as many as there are.
    pub fn length(&self) -> u64 {
        self.size.or_else(|| Some(self.path.metadata().ok()?.len())).unwrap_or(0)
    }
}

/// Source of a target's names.
#[derive(Debug)]
enum Origin {
    /// The target itself, as the only name.
    Itself,
    /// Numbered names, from a first number on, and how many.
    Numbered(FileName, u64, u32),
    /// Names listed in the plan.
    Members(Vec<(PathBuf, Option<Bytes>)>),
    /// Files found below the target, which cannot be computed from a number.
    Found(Vec<PathBuf>),
}

/// Names of one target.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    size: Option<Bytes>,
    origin: Origin,
}

impl Part {
    fn of(target: &Target) -> Part {
        let (path, size) = (target.path.clone(), target.size);
        let is_set = match target.kind {
            TargetKind::FileSet => true,
            TargetKind::Auto => target.files > 1 || path.is_dir(),
            _ => false,
        };
        let origin = match target.kind {
            TargetKind::Existing => Origin::Found(files_below(&path)),
            _ if !is_set => Origin::Itself,
            _ if target.members.is_empty() => {
                Origin::Numbered(target.file_name(), target.first_file.into(), target.files)
            }
            _ => Origin::Members(
                target.members.iter().map(|member| (path_of(&member.name), member.size)).collect(),
            ),
        };
        Part { path, size, origin }
    }

    fn count(&self) -> usize {
        match &self.origin {
            Origin::Itself => 1,
            Origin::Numbered(.., count) => *count as usize,
            Origin::Members(members) => members.len(),
            Origin::Found(paths) => paths.len(),
        }
    }

    fn size(&self, number: usize) -> Option<u64> {
        let own = match &self.origin {
            Origin::Members(members) => members[number].1,
            _ => None,
        };
        own.or(self.size).map(|size| size.0)
    }

    /// Appends the path of a name.
    fn write_path(&self, number: usize, to: &mut Vec<u8>) {
        to.extend_from_slice(match &self.origin {
            Origin::Found(paths) => paths[number].as_os_str().as_bytes(),
            _ => self.path.as_os_str().as_bytes(),
        });
        match &self.origin {
            Origin::Itself | Origin::Found(_) => {}
            Origin::Numbered(name, first, _) => {
                to.push(b'/');
                name.write(first + number as u64, to);
            }
            Origin::Members(members) => {
                to.push(b'/');
                to.extend_from_slice(members[number].0.as_os_str().as_bytes());
            }
        }
    }

    fn name(&self, number: usize) -> Named {
        let mut path = Vec::new();
        self.write_path(number, &mut path);
        Named { path: OsString::from_vec(path).into(), size: self.size(number) }
    }
}

/// Names of several targets, numbered from 0.
#[derive(Debug)]
pub struct Names(Vec<Part>);

impl Names {
    /// Names of these targets, whether the files exist or not.
    pub fn of<'t>(targets: impl IntoIterator<Item = &'t Target>) -> Names {
        Names(targets.into_iter().map(Part::of).collect())
    }

    /// Directories of those that are sets.
    pub fn directories(&self) -> impl Iterator<Item = &Path> {
        self.0
            .iter()
            .filter(|part| matches!(part.origin, Origin::Numbered(..) | Origin::Members(_)))
            .map(|part| part.path.as_path())
    }

    /// Number of names.
    pub fn count(&self) -> usize {
        self.0.iter().map(Part::count).sum()
    }

    /// The name with that number.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn name(&self, number: usize) -> Named {
        let (part, number) = self.part(number);
        part.name(number)
    }

    /// Bytes that the plan uses of the name with that number; none for all there are.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn size(&self, number: usize) -> Option<u64> {
        let (part, number) = self.part(number);
        part.size(number)
    }

    /// Writes the path of the name with that number over what the buffer holds, with a zero byte
    /// behind it. Allocates only where the buffer is too small.
    ///
    /// # Panics
    /// If there is no such number.
    pub fn write_path(&self, number: usize, to: &mut Vec<u8>) {
        let (part, number) = self.part(number);
        to.clear();
        part.write_path(number, to);
        to.push(0);
    }

    fn part(&self, mut number: usize) -> (&Part, usize) {
        for part in &self.0 {
            match number.checked_sub(part.count()) {
                None => return (part, number),
                Some(rest) => number = rest,
            }
        }
        panic!("there is no name with a number this high");
    }

    /// All names, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = Named> + '_ {
        self.0.iter().flat_map(|part| (0..part.count()).map(|number| part.name(number)))
    }
}

/// Names of a target, one after another.
pub fn named(target: &Target) -> impl Iterator<Item = Named> + use<> {
    let part = Part::of(target);
    (0..part.count()).map(move |number| part.name(number))
}

/// Paths of a target, one after another.
pub fn paths(target: &Target) -> impl Iterator<Item = PathBuf> + use<> {
    named(target).map(|named| named.path)
}

#[cfg(test)]
mod tests {
    use candor_plan::Member;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sets_are_named_numbered_or_found() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        std::fs::create_dir(dir.path().join("sub")).expect("made");
        for name in ["b", "a", "sub/c"] {
            std::fs::write(dir.path().join(name), [0; 8]).expect("written");
        }
        let member =
            |name: &str, size: Option<u64>| Member { name: name.into(), size: size.map(Bytes) };
        let set = Target {
            path: dir.path().into(),
            kind: TargetKind::FileSet,
            size: Some(Bytes(4096)),
            members: vec![member("x", None), member("sub/y", Some(512))],
            ..Target::default()
        };
        let found: Vec<_> = named(&set).map(|named| (named.path, named.size)).collect();
        let (x, y) = (dir.path().join("x"), dir.path().join("sub/y"));
        assert_eq!(found, [(x, Some(4096)), (y, Some(512))]);
        let existing = Target { kind: TargetKind::Existing, members: Vec::new(), ..set.clone() };
        let paths: Vec<_> = paths(&existing).collect();
        assert_eq!(paths, ["a", "b", "sub/c"].map(|name| dir.path().join(name)));
        let numbered = Target { members: Vec::new(), files: 1 << 20, ..set };
        let names = Names::of([&existing, &numbered]);
        assert_eq!(names.count(), 3 + (1 << 20));
        assert_eq!(names.name(2).path, dir.path().join("sub/c"));
        assert_eq!(names.name(3 + 70_000).path, dir.path().join("candor.target.70000"));
        let mut path = b"of another name".to_vec();
        names.write_path(3, &mut path);
        assert_eq!(
            path,
            [dir.path().join("candor.target.0").as_os_str().as_bytes(), b"\0"].concat()
        );
    }

    proptest! {
        /// The plan and the engine name the same files, and the writer needs no other buffer.
        #[test]
        fn sets_have_the_names_that_the_plan_gives_them(
            name in "[a-z](\\{number(:0[1-9])?\\}|[a-z./]){0,4}\\{number\\}",
            first_file: u32,
            files in 1..40_u32,
        ) {
            let target = Target {
                path: "/set".into(),
                kind: TargetKind::FileSet,
                file_name: Some(name.parse().expect("a name")),
                first_file,
                files,
                ..Target::default()
            };
            let names = Names::of([&target]);
            prop_assert_eq!(names.count() as u64, target.files_named());
            let mut path = Vec::with_capacity(200);
            let buffer = path.as_ptr();
            for number in 0..files as usize {
                let (planned, _) = target.file_of_set(number as u64);
                names.write_path(number, &mut path);
                prop_assert_eq!(path.strip_suffix(b"\0"), Some(planned.as_os_str().as_bytes()));
                prop_assert_eq!(&names.name(number).path, &planned);
                prop_assert_eq!(target.size_of(&planned), Some(None));
            }
            prop_assert_eq!(path.as_ptr(), buffer);
        }
    }
}
