//! Trees of directories on this host: what a phase needs of one is made before it, and what a run
//! made of one is removed after it, by the names that the plan computes or a list has.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_entries::Lists;
use candor_plan::entries::{ALIAS, Entries, Over};
use candor_plan::tree::{EntryName, Place, TreePart};
use candor_plan::{Create, List, PathText, Phase, Plan, Target, TargetKind, Tree};
use candor_record::{Note, fmt};
use serde::{Deserialize, Serialize};

use crate::control::Control;
use crate::error::RunError;
use crate::owned_files;

/// A tree that a plan names, with all of its ranks.
#[derive(Clone, Debug)]
pub struct NamedTree {
    path: PathBuf,
    names: TreeNames,
}

/// Origin of a tree's names.
#[derive(Clone, Debug)]
enum TreeNames {
    Computed(ComputedTree),
    Listed(Arc<List>),
}

/// A tree of a shape.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ComputedTree {
    tree: Tree,
    ranks: u64,
    seed: u64,
    /// Items of each rank that had left a window over them before the run.
    #[serde(default)]
    left: u64,
    /// Items that enter that window in all phases.
    #[serde(default)]
    enter: u64,
    /// Position among the trees of its jobs, and their number.
    home: (u64, u64),
}

/// A path of a tree and the bytes of its file.
pub struct NamedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Length in bytes.
    pub size: u64,
}

impl ComputedTree {
    fn parts(&self) -> impl Iterator<Item = TreePart<'_>> {
        (0..self.ranks).map(|rank| self.tree.part(rank, self.ranks))
    }

    /// True for a place that is in this tree, and not in another one of its jobs.
    fn holds(&self, place: &Place) -> bool {
        let (position, count) = self.home;
        self.tree.home(place, count) == position
    }

    fn directory(&self, root: &Path, place: &Place) -> PathBuf {
        let mut path = root.to_owned().into_os_string().into_vec();
        self.tree.names().write_directory(place, &mut path);
        std::ffi::OsString::from_vec(path).into()
    }

    fn directories(&self) -> impl Iterator<Item = Place> {
        let below = self.parts().flat_map(|part| {
            let count = part.directories();
            (0..count).map(move |nth| part.directory(nth)).filter(|place| self.holds(place))
        });
        self.roots().chain(below)
    }

    fn roots(&self) -> impl Iterator<Item = Place> {
        self.parts().filter_map(|part| part.root())
    }

    /// Items that stand in the tree when a phase begins, and so many more.
    fn items(&self, root: &Path, more: u64) -> impl Iterator<Item = NamedFile> {
        let names = self.tree.names();
        let places = self.parts().flat_map(move |part| {
            let end = self.left + part.items() + more;
            (self.left..end).map(move |nth| part.item(nth)).filter(|place| self.holds(place))
        });
        places.map(move |place| {
            let mut path = root.to_owned().into_os_string().into_vec();
            names.write_directory(&place, &mut path);
            names.write_item(&place, &mut path);
            let path = std::ffi::OsString::from_vec(path).into();
            NamedFile { path, size: self.tree.item_bytes(self.seed, &place) }
        })
    }
}

impl NamedTree {
    /// Names as a mark tells them to a later run; none for listed ones.
    pub fn told(&self) -> Option<String> {
        match &self.names {
            TreeNames::Computed(tree) => serde_json::to_string(tree).ok(),
            TreeNames::Listed(_) => None,
        }
    }

    /// The tree at a path, of what a mark tells.
    fn of_told(path: &Path, told: &str) -> Option<NamedTree> {
        let tree: ComputedTree = candor_plan::values::from_json(told.as_bytes()).ok()?;
        let of_tree = [&tree.tree.root_name, &tree.tree.directory_name, &tree.tree.item_name];
        let are_below = of_tree.into_iter().flatten().all(EntryName::is_single);
        let names = TreeNames::Computed(tree);
        are_below.then(|| NamedTree { path: path.to_owned(), names })
    }

    /// The tree of a target, for the most workers that any job of the plan has on it.
    pub fn of(plan: &Plan, target: &Target, lists: &Lists) -> Option<NamedTree> {
        if target.kind != TargetKind::Tree {
            return None;
        }
        let computed = |tree: Tree| {
            let jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
            let on_it = jobs.filter(|job| job.targets.contains(&target.name));
            let ranks = on_it.map(|job| plan.ranks(job)).max().unwrap_or(1);
            let (left, enter) = window(plan, target, &tree, ranks);
            let (seed, home) = (plan.seed, plan.tree_home(target));
            ComputedTree { tree, ranks, seed, left, enter, home }
        };
        let names = match target.tree.clone() {
            Some(tree) => TreeNames::Computed(computed(tree)),
            None => TreeNames::Listed(lists.known(target)?),
        };
        Some(NamedTree { path: target.path.clone(), names })
    }

    /// Directories with a name of their own, parents before their children.
    pub fn directories(&self) -> Box<dyn Iterator<Item = PathBuf> + '_> {
        match &self.names {
            TreeNames::Computed(tree) => {
                let paths = tree.directories().map(|place| tree.directory(&self.path, &place));
                Box::new(paths.filter(|path| *path != self.path))
            }
            TreeNames::Listed(list) => Box::new(self.listed_directories(list)),
        }
    }

    fn listed_directories<'l>(
        &self,
        list: &'l List,
    ) -> impl DoubleEndedIterator<Item = PathBuf> + use<'l, '_> {
        let count = list.directories() as usize;
        (0..count).map(|nth| self.path.join(OsStr::from_bytes(list.directory(nth))))
    }

    /// The roots that are not the target's path itself.
    fn roots(&self) -> impl Iterator<Item = PathBuf> {
        let computed = match &self.names {
            TreeNames::Computed(tree) => Some(tree),
            TreeNames::Listed(_) => None,
        };
        let roots = computed
            .into_iter()
            .flat_map(|tree| tree.roots().map(|place| tree.directory(&self.path, &place)));
        roots.filter(|path| *path != self.path)
    }

    /// Removes the roots that stand empty below the target's path.
    pub fn remove_roots(&self) {
        for path in self.roots() {
            // One that others use stays.
            let _ = fs::remove_dir(path);
        }
    }

    /// All items.
    pub fn items(&self) -> Box<dyn Iterator<Item = NamedFile> + '_> {
        match &self.names {
            TreeNames::Computed(tree) => Box::new(tree.items(&self.path, 0)),
            TreeNames::Listed(list) => Box::new((0..list.files() as usize).map(|nth| {
                let path = self.path.join(OsStr::from_bytes(list.file(nth)));
                NamedFile { path, size: list.size(nth) }
            })),
        }
    }

    /// All items that may stand there at the end: those, too, that have entered a window.
    fn items_at_end(&self) -> Box<dyn Iterator<Item = NamedFile> + '_> {
        match &self.names {
            TreeNames::Computed(tree) => Box::new(tree.items(&self.path, tree.enter)),
            TreeNames::Listed(_) => self.items(),
        }
    }

    /// True where items may stand in the target's path itself.
    fn has_items_in_path(&self) -> bool {
        match &self.names {
            TreeNames::Computed(tree) => !tree.tree.per_rank,
            TreeNames::Listed(_) => true,
        }
    }

    /// Removes all that has a name of this tree, and nothing else; what others put beside it keeps
    /// its directory. Ends early once `is_over` says so. Returns how many names could not be
    /// removed, and the first of these.
    fn remove(&self, is_over: &dyn Fn() -> bool) -> Option<NotRemoved> {
        let mut left = None;
        let is_empty = |path: &Path| match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let mut tops = self.roots().chain(std::iter::once(self.path.clone()));
        // As a rule the work itself has removed all files.
        let has_items = tops.any(|path| path != self.path && !is_empty(&path))
            || (self.has_items_in_path() && !is_empty(&self.path));
        let items = self.items_at_end().take_while(|_| has_items && !is_over());
        for NamedFile { path, .. } in items {
            let mut alias = path.clone().into_os_string();
            alias.push(ALIAS);
            for path in [path, alias.into()] {
                // A name that is a directory is no file to remove.
                if let Err(error) = fs::remove_file(&path).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound => Err(error),
                    _ => fs::remove_dir(&path).map_err(|_| error),
                }) {
                    NotRemoved::add(&mut left, path, error);
                }
            }
        }
        // One in which others have something stays.
        let remove = |path: PathBuf| drop(fs::remove_dir(path));
        match &self.names {
            TreeNames::Listed(list) => self.listed_directories(list).rev().for_each(remove),
            TreeNames::Computed(_) => {
                let directories: Vec<PathBuf> = self.directories().collect();
                directories.into_iter().rev().for_each(remove);
            }
        }
        left
    }
}

/// Items of each rank that had left the window of a plan's jobs on a target before the run, and
/// those that enter it in all phases.
fn window(plan: &Plan, target: &Target, tree: &Tree, ranks: u64) -> (u64, u64) {
    let mut found = (0, 0_u64);
    for phase in &plan.phases {
        let jobs = phase.jobs.iter().filter(|job| job.targets.contains(&target.name));
        for entries in jobs.filter_map(|job| job.entries()) {
            let Some(window) = &entries.window else { continue };
            let all = tree.part(0, ranks).items();
            let enter = if window.moves() { entries.first.unwrap_or(all) } else { 0 };
            let times = u64::from(phase.repeats) * u64::from(plan.repeats);
            let enter = enter.saturating_mul(times);
            found = (found.0.max(window.start), found.1.saturating_add(enter));
        }
    }
    found
}

/// Removes what a killed run left in the directory of a tree, whose names its mark tells.
pub fn remove_left(path: &Path, told: &str, control: &Control) {
    // An entry that could not be removed keeps its directory, which the note of the mark names.
    let _ = NamedTree::of_told(path, told).and_then(|tree| tree.remove(&|| control.is_stopped()));
}

/// Names of a tree that a run could not remove.
#[derive(Debug)]
pub struct NotRemoved {
    count: u64,
    first: PathBuf,
    why: io::Error,
}

impl NotRemoved {
    fn add(left: &mut Option<NotRemoved>, path: PathBuf, why: io::Error) {
        if why.kind() == io::ErrorKind::NotFound {
            return;
        }
        match left {
            Some(left) => left.count += 1,
            None => *left = Some(NotRemoved { count: 1, first: path, why }),
        }
    }

    fn note(self, tree: &Path) -> Note {
        let (count, first) = (self.count, self.first.text());
        let bytes = self.first.symlink_metadata().map_or(0, |found| found.len());
        let size = fmt::size(bytes as f64);
        Note {
            asked: format!("{} below {}", owned_files::NOT_REMOVED, tree.text()),
            did: format!("left up to {count} names there, the first `{first}` ({size})"),
            why: self.why.to_string(),
            place: None,
        }
    }
}

/// Needs of a phase on a tree that are not met by what an earlier phase of the plan makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Directories that hold items.
    pub directories: bool,
    /// Items.
    pub items: bool,
}

impl Needs {
    /// Needs of entries on a target after the phases before.
    pub fn of(before: &[Phase], target: &Target, entries: &Entries) -> Needs {
        if target.create == Create::Nothing {
            return Needs::default();
        }
        let jobs = before.iter().flat_map(|phase| &phase.jobs);
        let jobs = jobs.filter(|job| job.targets.contains(&target.name));
        let made = |over: Over| {
            let mut entries = jobs.clone().filter_map(|job| job.entries());
            entries.any(|entries| entries.over == over && !entries.needs_names())
        };
        let of_items = entries.over == Over::Items;
        Needs {
            directories: (of_items || entries.needs_names()) && !made(Over::Directories),
            items: of_items && entries.needs_names() && !made(Over::Items),
        }
    }
}

/// Makes the roots of a tree, and its directories where they are needed.
///
/// # Errors
/// The kernel's.
pub fn make_directories(named: &NamedTree, needs: Needs) -> Result<(), RunError> {
    let make = |path: PathBuf| {
        owned_files::create_directory(&path).map_err(RunError::file("make the directory", &path))
    };
    if needs.directories {
        named.directories().try_for_each(make)
    } else {
        named.roots().try_for_each(make)
    }
}

/// Makes an item where there is none; true for a file that has to be written.
///
/// # Errors
/// The kernel's, or something else has that name.
pub fn make_item(entries: &Entries, item: &NamedFile) -> Result<bool, RunError> {
    if entries.is_of_directories() {
        let made = owned_files::create_directory(&item.path);
        return made.map(|()| false).map_err(RunError::file("make the directory", &item.path));
    }
    let mut options = File::options();
    options.write(true).create_new(true).custom_flags(libc::O_NOFOLLOW);
    match options.open(&item.path) {
        Ok(_) => Ok(item.size > 0),
        Err(error) if owned_files::is_taken(&error) => {
            let of = item.path.symlink_metadata().ok().filter(fs::Metadata::is_file);
            Ok(of.is_some_and(|metadata| metadata.len() < item.size))
        }
        Err(error) => Err(RunError::file("create", &item.path)(error)),
    }
}

/// Device and inode of a directory.
type Identity = (u64, u64);

/// Trees whose directory was empty, or not there, when the run began: all that has a name of
/// theirs is the run's own.
#[derive(Debug, Default)]
pub struct OwnTrees(HashMap<PathBuf, Own>);

#[derive(Debug)]
struct Own {
    identity: Option<Identity>,
    /// The tree to remove at the end; none where it is kept.
    named: Option<NamedTree>,
}

impl OwnTrees {
    /// Takes a tree for the run's own if nothing is in its directory; false otherwise.
    pub fn take(&mut self, plan: &Plan, target: &Target, lists: &Lists) -> bool {
        if self.is_own(&target.path) {
            return true;
        }
        let identity = identity(&target.path);
        let is_empty = fs::read_dir(&target.path).is_ok_and(|mut entries| entries.next().is_none());
        if identity.is_some() && !is_empty {
            return false;
        }
        let named = NamedTree::of(plan, target, lists).filter(|_| !target.keep);
        self.0.insert(target.path.clone(), Own { identity, named });
        true
    }

    /// True for the directory of such a tree.
    pub fn is_own(&self, path: &Path) -> bool {
        let own = self.0.get(path);
        own.is_some_and(|own| own.identity.is_none_or(|known| identity(path) == Some(known)))
    }

    /// A tree that is removed at the end.
    pub fn first_to_remove(&self) -> Option<&Path> {
        let mut removed = self.0.iter().filter(|(_, own)| own.named.is_some());
        removed.next().map(|(path, _)| path.as_path())
    }

    /// Removes what is not kept, and tells what could not be removed.
    pub fn remove(&mut self) -> Vec<Note> {
        let mut notes = Vec::new();
        for (path, own) in std::mem::take(&mut self.0) {
            let same = own.identity.is_none_or(|known| identity(&path) == Some(known));
            let left = own.named.filter(|_| same).and_then(|named| named.remove(&|| false));
            notes.extend(left.map(|left| left.note(&path)));
        }
        notes
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata: io::Result<fs::Metadata> = path.symlink_metadata();
    metadata.ok().filter(fs::Metadata::is_dir).map(|metadata| (metadata.dev(), metadata.ino()))
}
