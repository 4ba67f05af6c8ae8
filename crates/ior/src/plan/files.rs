//! The files of a test, their names, and which of them exist.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candor_plan::{Bytes, Create, FileName, Layout, Member, PathText, Target, TargetKind, path_of};

use crate::options::{Api, TestScope};
use crate::setup::TestSetup;
use candor_front::{Diagnostics, Found, Host};

/// Suffix of the target name of existing files.
const FOUND: &str = ", as found";

/// The files of a repetition of a test.
pub(super) struct Files {
    /// Targets to be written.
    pub written: Vec<Target>,
    /// The same files as found; nothing is created.
    pub found: Vec<Target>,
    /// Path of each file, by rank.
    pub paths: Vec<PathBuf>,
    /// True for a block device, which is neither deleted nor created.
    pub is_device: bool,
}

impl Files {
    /// The files of a repetition.
    pub fn of(
        test: &TestSetup,
        repetition: u32,
        host: &dyn Host,
        scope: &TestScope<'_>,
        out: &mut Diagnostics,
    ) -> Files {
        let layout = &test.options.layout;
        let end = if layout.multi_file { format!(".{repetition}") } else { String::new() };
        if test.options.io.api == Api::Dummy {
            return Files::null(test);
        }
        let names: Vec<&str> = layout.test_file.split('@').collect();
        let paths = paths(test, &names, &end);
        let is_device = look(&paths, host, scope, out);
        let mut targets = match (layout.file_per_process, names.len()) {
            (true, 1) => vec![set(test, names[0], &end)],
            _ => paths.iter().map(|path| file(test, path, is_device)).collect(),
        };
        if is_device {
            targets.iter_mut().for_each(|target| target.kind = TargetKind::Device);
        }
        let found = |target: &Target| Target {
            name: format!("{}{FOUND}", target.name),
            size: target.size.filter(|_| !is_cut(test)),
            create: Create::Nothing,
            layout: Layout::Never,
            ..target.clone()
        };
        Files { found: targets.iter().map(found).collect(), written: targets, paths, is_device }
    }

    /// No file, for the null engine.
    fn null(test: &TestSetup) -> Files {
        let per_process = test.options.layout.file_per_process;
        let target = Target {
            name: test.options.layout.test_file.clone(),
            kind: TargetKind::Null,
            size: Some(Bytes(file_bytes(test))),
            files: if per_process { test.tasks } else { 1 },
            ..Target::default()
        };
        let targets = vec![target];
        Files { written: targets.clone(), found: targets, paths: Vec::new(), is_device: false }
    }
}

/// True if files may be shorter than after a whole write: their current size counts.
fn is_cut(test: &TestSetup) -> bool {
    let ends = &test.options.ends;
    let is_counted = ends.wear_out_iterations > 0 || test.status_iterations > 0;
    ends.deadline_s > 0 || is_counted || test.options.layout.random > 1
}

/// Bytes of a file.
fn file_bytes(test: &TestSetup) -> u64 {
    if test.options.layout.file_per_process { test.task_bytes() } else { test.aggregate_bytes() }
}

/// Paths of all files, by rank.
fn paths(test: &TestSetup, names: &[&str], end: &str) -> Vec<PathBuf> {
    if !test.options.layout.file_per_process {
        return vec![path_of(&format!("{}{end}", names[0]))];
    }
    (0..test.tasks as usize)
        .map(|rank| {
            let path = names[rank % names.len()];
            if test.options.layout.unique_dir {
                let (directory, name) = split_for_own(path);
                return path_of(&format!("{directory}{rank}/{name}.{rank:08}{end}"));
            }
            path_of(&format!("{path}.{rank:08}{end}"))
        })
        .collect()
}

/// Path of the first task's file, without the number of a repetition.
pub fn first_path(test: &TestSetup) -> String {
    let names: Vec<&str> = test.options.layout.test_file.split('@').collect();
    paths(test, &names, "")[0].text()
}

/// The directory of a path, with its last slash, and the file name.
fn split(path: &str) -> (&str, &str) {
    path.split_at(path.rfind('/').map_or(0, |at| at + 1))
}

/// The parts of a path before and after each task's directory (`-u`). IOR searches for the last
/// slash and stops at the first letter: `f` becomes `f0/`, and `abc` becomes `a0/bc`.
fn split_for_own(path: &str) -> (&str, &str) {
    let first = path.chars().next().map_or(0, char::len_utf8);
    path.split_at(path.rfind('/').map_or(first, |at| (at + 1).max(first)))
}

/// One file for all tasks, or one file of several paths.
fn file(test: &TestSetup, path: &Path, is_device: bool) -> Target {
    Target {
        name: path.text(),
        path: path.into(),
        kind: if is_device { TargetKind::Device } else { TargetKind::File },
        ..base(test)
    }
}

/// A file for each task.
fn set(test: &TestSetup, name: &str, end: &str) -> Target {
    let braces = |text: &str| text.replace('{', "{{").replace('}', "}}");
    let (directory, base_name) = split(name);
    let pattern = if test.options.layout.unique_dir {
        let (own, base_name) = split_for_own(name);
        let own = own.strip_prefix(directory).unwrap_or_default();
        format!("{}{{number}}/{}.{{number:08}}{end}", braces(own), braces(base_name))
    } else {
        format!("{}.{{number:08}}{end}", braces(base_name))
    };
    Target {
        name: format!("{name}{end}"),
        path: directory_path(directory),
        kind: TargetKind::FileSet,
        files: test.tasks,
        // Braces are escaped, because the name is a pattern.
        file_name: pattern.parse::<FileName>().ok(),
        create: if test.options.layout.unique_dir { Create::Parents } else { Create::Files },
        ..base(test)
    }
}

fn directory_path(directory: &str) -> PathBuf {
    match directory.trim_end_matches('/') {
        "" if directory.is_empty() => ".".into(),
        "" => "/".into(),
        trimmed => path_of(trimmed),
    }
}

fn base(test: &TestSetup) -> Target {
    let writes_by_mapping = test.options.io.api == Api::Mmap && test.writes();
    Target {
        size: Some(Bytes(file_bytes(test))),
        layout: if writes_by_mapping { Layout::Sparse } else { Layout::Never },
        keep: true,
        overwrite: true,
        ..Target::default()
    }
}

/// Checks the files and reports other types; returns true for a block device.
fn look(paths: &[PathBuf], host: &dyn Host, scope: &TestScope<'_>, out: &mut Diagnostics) -> bool {
    let mut is_device = false;
    for path in paths {
        let shown = path.text();
        match host.found(path) {
            Found::Nothing | Found::File(_) => {}
            Found::Device(Some(_)) => is_device = true,
            Found::Directory => {
                let message = format!("`{shown}` is a directory");
                out.wrong(scope, "testFile", message, "name a file in it");
            }
            Found::Device(None) | Found::Character | Found::Other => {
                let message = format!("`{shown}` is no file and no block device");
                out.wrong(scope, "testFile", message, "name a file");
            }
        }
    }
    is_device
}

/// Existing files while phases follow each other.
#[derive(Default)]
pub(super) struct Present(HashMap<PathBuf, bool>);

impl Present {
    /// Indices of the existing paths.
    pub fn of(&mut self, paths: &[PathBuf], host: &dyn Host) -> Vec<usize> {
        let mut is_there = |path: &PathBuf| {
            let found = || !matches!(host.found(path), Found::Nothing);
            *self.0.entry(path.clone()).or_insert_with(found)
        };
        (0..paths.len()).filter(|nth| is_there(&paths[*nth])).collect()
    }

    /// Marks the paths as existing, or as removed.
    pub fn set(&mut self, paths: &[PathBuf], there: bool) {
        self.0.extend(paths.iter().map(|path| (path.clone(), there)));
    }
}

/// The files with these numbers as found, for deletion.
pub(super) fn old(paths: &[PathBuf], present: &[usize], name: &str) -> Vec<Target> {
    let of_directory = |directory: &Path, members: Vec<Member>, nth: usize| Target {
        name: if nth == 0 { name.to_owned() } else { format!("{name} ({nth})") },
        path: directory.into(),
        kind: TargetKind::FileSet,
        members,
        create: Create::Nothing,
        layout: Layout::Never,
        keep: true,
        overwrite: true,
        ..Target::default()
    };
    let mut by_directory: Vec<(PathBuf, Vec<Member>)> = Vec::new();
    for path in present.iter().map(|nth| &paths[*nth]) {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = parent.unwrap_or(Path::new(".")).to_owned();
        let name = path.file_name().unwrap_or_default().text();
        let member = Member { name, size: None };
        match by_directory.iter_mut().find(|(known, _)| *known == directory) {
            Some((_, members)) => members.push(member),
            None => by_directory.push((directory, vec![member])),
        }
    }
    let all = by_directory.into_iter().enumerate();
    all.map(|(nth, (directory, members))| of_directory(&directory, members, nth)).collect()
}
