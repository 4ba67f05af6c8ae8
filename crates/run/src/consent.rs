//! Whether a plan may do what it would do: checked before a run, and again before each phase.

use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use candor_engine::names::{self, Named, Names};
use candor_observe::{LoopFile, Roots};
use candor_plan::entries::Over;
use candor_plan::work::Operation;
use candor_plan::{
    Create, Job, Layout, PathText, Phase, Plan, PlanPath, Problem, Target, TargetKind, Work,
    path_of,
};
use candor_record::Note;

use crate::claims::{self, Claims};
use crate::error::RunError;
use crate::owned_files::{self, OwnedFiles};
use crate::signature;
use crate::trees::{NamedTree, Needs, OwnTrees};
use crate::upcoming::Upcoming;

/// Names that workers of a phase make and that nobody had.
#[derive(Debug)]
pub struct AbsentNames {
    /// Those whose files stay.
    kept: Absent,
    /// Those whose files are removed at the end of the run.
    removed: Absent,
}

/// Names, and which of them nobody had.
#[derive(Debug)]
struct Absent {
    names: Names,
    absent: Vec<bool>,
}

impl Absent {
    fn of<'t>(targets: impl IntoIterator<Item = &'t Target>) -> Absent {
        let names = Names::of(targets);
        let is_absent = |named: Named| named.path.symlink_metadata().is_err();
        Absent { absent: names.iter().map(is_absent).collect(), names }
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let absent = self.names.iter().zip(&self.absent).filter(|(_, absent)| **absent);
        absent.map(|(named, _)| named.path)
    }
}

/// Keeps a run from doing harm: knows what is its own, and what the user consented to.
#[derive(Debug, Default)]
pub struct Guard {
    /// Kernel names of devices that are written to although they are held.
    force: Vec<String>,
    files: OwnedFiles,
    trees: OwnTrees,
    claims: Claims,
    /// Backing files of loop devices, as of the last phase; absent where they cannot be found.
    loop_files: Option<Vec<LoopFile>>,
    roots: Roots,
}

impl Guard {
    /// Of a run that may write to these devices, given by kernel name or path, although they are
    /// held.
    pub fn new(force: &[String], roots: &Roots) -> Guard {
        let name = |given: &String| {
            if given.starts_with('/') {
                candor_observe::device_of_path(&path_of(given), roots)
            } else {
                Some(given.clone())
            }
        };
        let force = force.iter().filter_map(name).collect();
        Guard { force, roots: roots.clone(), loop_files: Some(Vec::new()), ..Guard::default() }
    }

    /// Lets phases pass if nothing speaks against them, and claims the devices they write to.
    ///
    /// # Errors
    /// [`RunError::Unsafe`] with everything that speaks against it.
    pub fn admit(&mut self, upcoming: &Upcoming<'_>) -> Result<(), RunError> {
        self.loop_files = candor_observe::loop_files(&self.roots);
        let mut problems = Vec::new();
        for (index, target) in upcoming.plan.targets.iter().enumerate() {
            problems.extend(match target.kind {
                TargetKind::Tree => self.check_tree(upcoming, index, target),
                _ => self.check_target(upcoming.phases, index, target),
            });
        }
        if problems.is_empty() {
            self.claim(&upcoming.plan.targets, upcoming.phases)
        } else {
            Err(RunError::Unsafe(problems))
        }
    }

    /// Makes a file of a target where there is none; `destroys` is what changes it. One
    /// that is there, or has appeared since the plan was admitted, must be fit for use.
    ///
    /// # Errors
    /// The file is someone else's, or cannot be made.
    pub fn create(
        &mut self,
        target: &Target,
        index: usize,
        path: &Path,
        destroys: Option<&Operation>,
    ) -> Result<(), RunError> {
        if target.kind != TargetKind::Device && !self.is_among_devices(path) {
            let mut made = self.files.create(path, target.keep);
            let no_parent = made.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
            if no_parent && target.create == Create::Parents {
                owned_files::create_parents(path)
                    .map_err(RunError::file("make the directory of", path))?;
                made = self.files.create(path, target.keep);
            } else if no_parent && self.create_directory(target)? {
                made = self.files.create(path, target.keep);
            }
            match made {
                Ok(()) => return Ok(()),
                Err(error) if owned_files::is_taken(&error) => {}
                Err(error) => return Err(RunError::file("create", path)(error)),
            }
        }
        let problems = self.check_path(target, path, destroys, &place(index));
        if problems.is_empty() { Ok(()) } else { Err(RunError::Unsafe(problems)) }
    }

    /// Makes the directory of a set of files where it is not there; true if it did.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create_directory(&mut self, target: &Target) -> Result<bool, RunError> {
        let is_free = target.path.symlink_metadata().is_err();
        let is_directory = match target.kind {
            TargetKind::FileSet | TargetKind::Tree => true,
            TargetKind::Auto => target.files > 1,
            _ => false,
        };
        let makes = is_directory && is_free && !self.is_among_devices(&target.path);
        if makes {
            let made = self.files.create_directory(&target.path, target.keep);
            made.map_err(RunError::file("make the directory", &target.path))?;
        }
        Ok(makes)
    }

    /// Notes the names of a tree whose directory this run has made, for a run that finds it after a
    /// kill.
    pub fn tell(&self, target: &Target, tree: &NamedTree) {
        if let Some(told) = tree.told().filter(|_| !target.keep) {
            self.files.tell(&target.path, &told);
        }
    }

    /// Removes the files of a target that says so, whoever made them; nothing but files.
    ///
    /// # Errors
    /// The kernel's.
    pub fn remove_of(&self, target: &Target) -> Result<(), RunError> {
        if !target.remove {
            return Ok(());
        }
        for path in names::paths(target) {
            if path.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                std::fs::remove_file(&path).map_err(RunError::file("remove", &path))?;
            }
        }
        Ok(())
    }

    /// Names that a phase is to make and that nobody has now: what stands there after it is the
    /// run's own.
    pub fn absent_names(&self, plan: &Plan, phase: &Phase) -> AbsentNames {
        let makes_names = |job: &Job| {
            let of_targets = job.entries().filter(|entries| entries.over.is_of_targets());
            of_targets.is_some_and(|entries| !entries.needs_names())
        };
        let makes_files = |job: &Job| {
            let opens = job.blocks().filter(|blocks| blocks.opening.is_in_phase());
            opens.is_some_and(|blocks| blocks.destroys().is_some())
        };
        let used_by = |makes: &dyn Fn(&Job) -> bool, target: &Target| {
            let mut jobs = phase.jobs.iter().filter(|job| makes(job));
            jobs.any(|job| job.targets.contains(&target.name))
        };
        AbsentNames {
            kept: Absent::of(plan.targets.iter().filter(|target| {
                used_by(&makes_names, target) || (target.keep && used_by(&makes_files, target))
            })),
            removed: Absent::of(
                plan.targets.iter().filter(|target| !target.keep && used_by(&makes_files, target)),
            ),
        }
    }

    /// Takes what stands at these names for the run's own.
    pub fn adopt(&mut self, names: &AbsentNames) {
        names.kept.paths().for_each(|path| self.files.adopt(&path, true));
        names.removed.paths().for_each(|path| self.files.adopt(&path, false));
    }

    /// Makes the directories of a file that workers make in the phase, where there is none.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create_directories_of(&mut self, target: &Target, path: &Path) -> Result<(), RunError> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if parent.is_none_or(Path::exists) {
            return Ok(());
        }
        match target.create {
            Create::Parents => owned_files::create_parents(path)
                .map_err(RunError::file("make the directory of", path)),
            _ => self.create_directory(target).map(drop),
        }
    }

    /// True where that path still is a file that this run made.
    pub fn owns(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    /// A path of those that are removed at the end: a tree, where there is one.
    pub fn first_to_remove(&self) -> Option<&Path> {
        self.trees.first_to_remove().or_else(|| self.files.first_to_remove())
    }

    /// Removes the files that the run made, but for those to be kept, and reports what could not be
    /// removed.
    pub fn remove_files(&mut self) -> Vec<Note> {
        let mut left = self.trees.remove();
        left.extend(self.files.remove());
        left
    }

    fn claim(&mut self, targets: &[Target], phases: &[Phase]) -> Result<(), RunError> {
        for (index, target) in targets.iter().enumerate() {
            if destroys(phases, target).is_none() {
                continue;
            }
            for path in names::paths(target) {
                let path = self.block_device(&path);
                if !is_block_device(&path) {
                    continue;
                }
                let name = candor_observe::device_of_path(&path, &self.roots).unwrap_or_default();
                if self.forces(&name) {
                    continue;
                }
                self.claims.take(&path).map_err(|error| {
                    if claims::is_busy(&error) {
                        let why = "is in use, perhaps in another container or mount namespace";
                        RunError::Unsafe(vec![held_by(&path, &place(index), why, &name)])
                    } else {
                        RunError::file("open exclusively", &path)(error)
                    }
                })?;
            }
        }
        Ok(())
    }

    fn forces(&self, name: &str) -> bool {
        self.force.iter().any(|forced| forced == name)
    }

    /// Problems of a target; of many files, those of the first that is not fit.
    fn check_target(&self, phases: &[Phase], index: usize, target: &Target) -> Vec<Problem> {
        if uses(phases, target).next().is_none() {
            return Vec::new();
        }
        let (destroys, place) = (destroys(phases, target), place(index));
        let directories = names_directories(phases, target);
        let paths = names::paths(target);
        let mut checked = paths.map(|path| {
            if directories {
                self.check_directory(target, &path, destroys, &place)
            } else {
                self.check_path(target, &path, destroys, &place)
            }
        });
        checked.find(|problems| !problems.is_empty()).unwrap_or_default()
    }

    /// The directory of a tree: what is in it is the run's own, only looked at, or given up by the
    /// user.
    fn check_tree(
        &mut self,
        upcoming: &Upcoming<'_>,
        index: usize,
        target: &Target,
    ) -> Vec<Problem> {
        if uses(upcoming.phases, target).next().is_none() {
            return Vec::new();
        }
        let place = place(index).key("path");
        if target.path.exists() && !target.path.is_dir() {
            let message = format!("`{}` is no directory", target.path.text());
            let remedy = "name a directory, or a name that is free";
            return vec![Problem::error("target-kind", place, message, remedy)];
        }
        if target.overwrite || self.trees.take(upcoming.plan, target, upcoming.lists) {
            return Vec::new();
        }
        let Some(what) = changes(upcoming, target) else { return Vec::new() };
        let path = target.path.text();
        let message =
            format!("`{path}` holds what this run did not make, and the plan would {what} it");
        let remedy = "name an empty directory or a free name; or set create = \"nothing\" to use \
                      existing files, or consent with `overwrite = true`";
        vec![Problem::error("consent-tree", place, message, remedy)]
    }

    /// A directory that stands at a path: only one of this run, or one that the user consented to,
    /// may be removed.
    fn check_directory(
        &self,
        target: &Target,
        path: &Path,
        destroys: Option<&Operation>,
        place: &PlanPath,
    ) -> Vec<Problem> {
        let Ok(metadata) = path.symlink_metadata() else { return Vec::new() };
        let Some(operation) = destroys.filter(|_| !target.overwrite && !self.files.contains(path))
        else {
            return Vec::new();
        };
        let kind = if metadata.is_dir() { "a directory" } else { "no directory" };
        let message = format!(
            "`{}` is {kind} that this run did not make, and the plan would {} it",
            path.text(),
            operation.name
        );
        let remedy = "name one that does not exist, or consent with `overwrite = true`";
        vec![Problem::error("consent-directory", place.key("path"), message, remedy)]
    }

    fn check_path(
        &self,
        target: &Target,
        path: &Path,
        destroys: Option<&Operation>,
        place: &PlanPath,
    ) -> Vec<Problem> {
        let metadata = match path.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.check_missing(target, path, place).into_iter().collect();
            }
            // Opening it will tell.
            Err(_) => return Vec::new(),
        };
        let kind = metadata.file_type();
        let files_only = matches!(target.kind, TargetKind::File | TargetKind::FileSet);
        if kind.is_block_device() && !files_only {
            return destroys.map_or_else(Vec::new, |by| self.check_device(target, path, by, place));
        }
        if kind.is_char_device() && !made_up_device(metadata.rdev()) {
            let takes_commands = self.block_device(path) != path && !files_only;
            return if takes_commands {
                destroys.map_or_else(Vec::new, |by| self.check_device(target, path, by, place))
            } else {
                vec![not_usable(target, path, place)]
            };
        }
        if kind.is_char_device() && target.layout == Layout::Never && target.size.is_some() {
            return Vec::new();
        }
        if !kind.is_file() || target.kind == TargetKind::Device {
            return vec![not_usable(target, path, place)];
        }
        let grows = target.size.is_some_and(|size| size.0 > metadata.len())
            && target.layout != Layout::Never;
        let changes = destroys.is_some() || grows;
        let is_foreign = changes && !target.overwrite && !self.files.contains(path);
        let foreign = is_foreign.then(|| foreign_file(path, place, destroys));
        let may_be_held = changes && metadata.len() > 0;
        let held = may_be_held.then(|| self.check_loop(path, &metadata, place)).flatten();
        foreign.into_iter().chain(held).collect()
    }

    /// A file whose bytes are a loop device's: whoever uses that one would lose them.
    fn check_loop(&self, path: &Path, metadata: &Metadata, place: &PlanPath) -> Option<Problem> {
        let file = (metadata.dev(), metadata.ino());
        let Some(loop_files) = &self.loop_files else {
            return if self.files.contains(path) { None } else { users_unknown(path, place) };
        };
        let mut held = loop_files.iter().filter(|held| held.file == file);
        let device = &held.find(|held| !self.forces(&held.device))?.device;
        let why = match candor_observe::holders(device, &self.roots).as_slice() {
            [] => format!("is in use as the loop device {device}"),
            users => format!("is in use as {device}, which is in use by {}", users.join(", ")),
        };
        Some(held_by(path, place, &why, device))
    }

    /// A name that stands for nothing is made a file, unless it was meant for something else.
    fn check_missing(&self, target: &Target, path: &Path, place: &PlanPath) -> Option<Problem> {
        let (why, remedy) = if path.is_symlink() {
            ("is a link to nothing", "name the file itself")
        } else if target.kind == TargetKind::Device {
            ("is to be a block device and does not exist", "name a device that exists")
        } else if self.is_among_devices(path) {
            ("does not exist, and no file is made among the devices", "name a device that exists")
        } else {
            return None;
        };
        let message = format!("`{}` {why}", path.text());
        Some(Problem::error("target-kind", place.key("path"), message, remedy))
    }

    /// True for a name in the directory of device nodes itself; what is mounted below it, such as
    /// shared memory, holds files like any other.
    fn is_among_devices(&self, path: &Path) -> bool {
        let parent = std::path::absolute(path).and_then(|path| match path.parent() {
            Some(parent) => parent.canonicalize(),
            None => Ok(path),
        });
        let Ok(parent) = parent else { return false };
        let device = |path: &Path| path.metadata().ok().map(|metadata| metadata.dev());
        parent.starts_with(&self.roots.dev) && device(&parent) == device(&self.roots.dev)
    }

    fn check_device(
        &self,
        target: &Target,
        path: &Path,
        by: &Operation,
        place: &PlanPath,
    ) -> Vec<Problem> {
        let mut problems = Vec::new();
        let device = &self.block_device(path);
        if !target.overwrite {
            let shown = path.text();
            let is = if device == path {
                "is a block device".to_owned()
            } else {
                format!("takes the commands of {}", device.text())
            };
            let message = format!(
                "`{shown}` {is}, and the plan would {} it: its data would be lost",
                by.name
            );
            let remedy = "consent with --overwrite, or `overwrite = true` at the target";
            problems.push(Problem::error("consent-device", place.key("path"), message, remedy));
        }
        // Nobody can have come to hold what this run has claimed.
        if !self.claims.holds(device) {
            problems.extend(self.check_holders(path, device, place));
        }
        problems
    }

    /// The block device whose data is at stake: a generic device's, or what stands at the path.
    fn block_device(&self, path: &Path) -> PathBuf {
        let name = candor_observe::block_device_of_commands(path, &self.roots);
        name.map_or_else(|| path.to_path_buf(), |name| self.roots.dev.join(name))
    }

    fn check_holders(&self, path: &Path, device: &Path, place: &PlanPath) -> Option<Problem> {
        let Some(name) = candor_observe::device_of_path(path, &self.roots) else {
            return users_unknown(path, place);
        };
        if self.forces(&name) {
            return None;
        }
        if !is_block_device(device) {
            let why = format!("reaches {name}, whose node is not here to be claimed");
            return Some(held_by(path, place, &why, &name));
        }
        let holders = candor_observe::holders(&name, &self.roots);
        let partitions = candor_observe::partitions(&name, &self.roots);
        let why = if !holders.is_empty() {
            format!("is in use by {}", holders.join(", "))
        } else if !partitions.is_empty() {
            format!("is partitioned: {}", partitions.join(", "))
        } else {
            format!("is {}", signature::membership(device)?)
        };
        Some(held_by(path, place, &why, &name))
    }
}

/// A device, or a file that may be one's, whose users are unknown.
fn users_unknown(path: &Path, place: &PlanPath) -> Option<Problem> {
    let message = format!("the users of `{}` cannot be found", path.text());
    let remedy = "mount sysfs on /sys, which lists the users of every device";
    Some(Problem::error("held-device", place.key("path"), message, remedy))
}

/// The work that uses a target; a null target is used by none.
fn uses<'a>(phases: &'a [Phase], target: &'a Target) -> impl Iterator<Item = &'a Work> {
    let jobs = phases.iter().flat_map(|phase| &phase.jobs);
    jobs.filter(|job| job.targets.contains(&target.name) && target.kind != TargetKind::Null)
        .map(|job| &job.work)
        .filter(|work| work.uses_targets())
}

/// Name of what the first job that changes a tree does to it.
fn changes(upcoming: &Upcoming<'_>, target: &Target) -> Option<&'static str> {
    upcoming.phases.iter().enumerate().find_map(|(at, phase)| {
        phase.jobs.iter().filter(|job| job.targets.contains(&target.name)).find_map(|job| {
            let entries = job.entries()?;
            let makes = !entries.needs_names();
            let lays_out = Needs::of(upcoming.before(at), target, entries) != Needs::default();
            let what = job.work.destroys().map(|operation| operation.name);
            what.or((makes || lays_out).then_some("make files in"))
        })
    })
}

/// The first operation of some phases that changes or removes what a target holds.
fn destroys(phases: &[Phase], target: &Target) -> Option<&'static Operation> {
    uses(phases, target).find_map(Work::destroys)
}

/// True where some work takes a target for directories.
fn names_directories(phases: &[Phase], target: &Target) -> bool {
    uses(phases, target)
        .any(|work| work.entries().is_some_and(|e| e.over == Over::TargetDirectories))
}

/// True for a device, or a link to one: nothing is laid out on it.
pub fn is_device(path: &Path) -> bool {
    is_block_device(path)
        || path.metadata().is_ok_and(|metadata| metadata.file_type().is_char_device())
}

fn is_block_device(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.file_type().is_block_device())
}

fn place(index: usize) -> PlanPath {
    PlanPath::root().key("target").index(index)
}

fn held_by(path: &Path, place: &PlanPath, why: &str, name: &str) -> Problem {
    Problem::error(
        "held-device",
        place.key("path"),
        format!("`{}` {why}", path.text()),
        format!("release it first, or insist by name with --force {name}"),
    )
}

fn foreign_file(path: &Path, place: &PlanPath, destroys: Option<&Operation>) -> Problem {
    let shown = path.text();
    let what = match destroys {
        Some(operation) => format!("would {} it", operation.name),
        None => "would make it longer".to_owned(),
    };
    Problem::error(
        "consent-file",
        place.key("path"),
        format!("`{shown}` exists and was not made by this run, and the plan {what}"),
        "name a file that does not exist, or consent with --overwrite (`overwrite = true`)",
    )
}

/// True for `null`, `zero`, `full`, `random` and `urandom`, behind which there is nothing to lose.
fn made_up_device(number: u64) -> bool {
    libc::major(number) == 1 && [3, 5, 7, 8, 9].contains(&libc::minor(number))
}

fn not_usable(target: &Target, path: &Path, place: &PlanPath) -> Problem {
    let wanted = match target.kind {
        TargetKind::Device => "not a block device",
        TargetKind::File | TargetKind::FileSet => "not a regular file",
        _ => "neither a regular file nor a block device",
    };
    Problem::error(
        "target-kind",
        place.key("path"),
        format!("`{}` is {wanted}", path.text()),
        "name a file, a block device, or a directory with `kind = \"file_set\"`",
    )
}

#[cfg(test)]
mod tests;
