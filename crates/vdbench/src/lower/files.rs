//! File systems: definitions and the values of a run become trees, jobs, and phases of a format.

pub mod control;
pub mod format;
mod found;
mod group;
mod runs;
mod seats;
mod shape;
mod steps;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use candor_plan::blocks::Content;
use candor_plan::{Create, Job, PathText, Target, TargetKind, Tree, Work, path_of};

pub use runs::{Anchor, FORMAT_FOR, FilesOfRun, lower, refused};
pub use shape::Shape;

use self::control::Control;
use self::format::{FormatStep, Formatter, steps_of};
use self::group::Group;
use self::seats::Seat;
use crate::definitions::fsd::Fsd;
use crate::definitions::fwd::{FileOperation, Fwd};
use crate::definitions::open_flags::OpenFlags;
use crate::definitions::rd::{Format, LoopKind};

/// A file system definition and its name.
#[derive(Clone, Copy, Debug)]
pub struct FileSystem<'a> {
    /// The name.
    pub name: &'a str,
    /// The definition.
    pub fsd: &'a Fsd,
}

impl FileSystem<'_> {
    /// Directory of the tree.
    pub fn anchor(&self) -> PathBuf {
        path_of(self.fsd.anchor.as_deref().unwrap_or_default())
    }
}

/// A workload definition and its name.
#[derive(Clone, Copy, Debug)]
pub struct Workload<'a> {
    /// The name.
    pub name: &'a str,
    /// The definition.
    pub fwd: &'a Fwd,
}

/// Values of a run that override definitions, one per loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    /// `fordepth`.
    pub depth: Option<u32>,
    /// `forwidth`.
    pub width: Option<u32>,
    /// `forfiles`.
    pub files: Option<u64>,
    /// `forsizes`.
    pub file_size: Option<u64>,
    /// `fortotalsize`; a negative number is a share in percent.
    pub total_size: Option<f64>,
    /// `forwss`.
    pub working_set: Option<f64>,
    /// `foroperations`.
    pub operation: Option<FileOperation>,
    /// `forthreads`.
    pub threads: Option<u32>,
    /// `forxfersize`.
    pub transfer_size: Option<u64>,
    /// `forrdpct`.
    pub read_percent: Option<f64>,
}

impl Values {
    /// Sets the value of a loop over numbers; false for a loop that is of no file systems.
    pub fn set(&mut self, kind: LoopKind, value: f64) -> bool {
        match kind {
            LoopKind::Depth => self.depth = Some(value as u32),
            LoopKind::Width => self.width = Some(value as u32),
            LoopKind::Files => self.files = Some(value as u64),
            LoopKind::FileSize => self.file_size = Some(value as u64),
            LoopKind::TotalSize => self.total_size = Some(value),
            LoopKind::WorkingSet => self.working_set = Some(value),
            LoopKind::Threads => self.threads = Some((value as u32).max(1)),
            LoopKind::TransferSize => self.transfer_size = Some(value as u64),
            LoopKind::ReadPercent => self.read_percent = Some(value),
            _ => return false,
        }
        true
    }
}

/// Everything that the groups of a run share.
#[derive(Clone, Debug)]
pub struct Common {
    /// Open flags of the run, overriding others.
    pub open_flags: Option<OpenFlags>,
    /// Flags of the file system.
    pub of_fsd: OpenFlags,
    /// Bytes per read and write, overriding the workload's.
    pub transfer_size: Option<u64>,
    /// Bytes of files.
    pub content: Content,
}

/// The jobs of one step of a format, each with its host's label, and the step.
pub type FormatPhase = (FormatStep, Vec<(Job, String)>);

/// A file system that is formatted, its shape, and the hosts that do so.
pub type Formatted<'a> = (FileSystem<'a>, Shape, Vec<Seat>);

/// Trees of all runs as targets of the plan, and the state below each anchor.
#[derive(Debug, Default)]
pub struct Trees {
    targets: Vec<Target>,
    standing: BTreeMap<PathBuf, Standing>,
    /// True if anchors are on remote hosts and cannot be read here.
    are_elsewhere: bool,
}

/// State of an anchor between two runs.
#[derive(Clone, Debug, Default)]
struct Standing {
    /// The tree that the runs so far leave.
    tree: Option<Tree>,
    /// The definition that created the tree; `None` if unknown.
    control: Option<Control>,
}

impl Trees {
    /// Trees of this host, or of others.
    pub fn new(are_elsewhere: bool) -> Trees {
        Trees { are_elsewhere, ..Trees::default() }
    }

    /// Targets of the plan.
    pub fn into_targets(self) -> Vec<Target> {
        self.targets
    }

    /// Name of a tree's target, which is added if new.
    fn target(&mut self, name: &str, anchor: &Path, tree: Tree) -> String {
        if let Some(target) = self
            .targets
            .iter()
            .find(|target| target.path == anchor && target.tree.as_ref() == Some(&tree))
        {
            return target.name.clone();
        }
        let is_taken = |name: &String| self.targets.iter().any(|target| target.name == *name);
        let numbered = (2_u32..).map(|number| format!("{name} ({number})"));
        let names = std::iter::once(name.to_owned()).chain(numbered);
        let name = names.into_iter().find(|name| !is_taken(name)).unwrap_or_default();
        self.targets.push(Target {
            name: name.clone(),
            path: anchor.to_owned(),
            kind: TargetKind::Tree,
            create: Create::Nothing,
            keep: true,
            overwrite: true,
            tree: Some(tree),
            ..Target::default()
        });
        name
    }

    /// True once a run has used an anchor.
    fn knows(&self, anchor: &Path) -> bool {
        self.standing.contains_key(anchor)
    }

    /// State of an anchor; at its first use, that on disk.
    fn standing(&mut self, anchor: &Path) -> Result<&mut Standing, String> {
        if !self.are_elsewhere && !self.standing.contains_key(anchor) {
            let path = anchor.join(control::NAME);
            let control = match std::fs::read_to_string(&path) {
                Err(_) => None,
                Ok(text) => match Control::read(&text) {
                    Ok(control) => Some(control),
                    Err(why) => return Err(format!("the control file {}: {why}", path.text())),
                },
            };
            let tree = found::tree_below(anchor);
            self.standing.insert(anchor.to_owned(), Standing { tree, control });
        }
        Ok(self.standing.entry(anchor.to_owned()).or_default())
    }

    /// Notes that a run works on a tree of that shape without a format before it.
    ///
    /// # Errors
    /// Another definition created the existing tree.
    pub fn use_as_is(&mut self, system: &FileSystem<'_>, shape: &Shape) -> Result<(), String> {
        let anchor = system.anchor();
        let new = Control::of(shape);
        let standing = self.standing(&anchor)?;
        let difference = standing.control.as_ref().and_then(|old| old.difference(&new));
        if let Some(difference) = difference {
            let name = system.name;
            return Err(format!(
                "fsd={name}: the tree below {} was made by another definition ({difference}); \
                 correct the definition, or rebuild the tree with format=yes",
                anchor.text()
            ));
        }
        let tree = shape.tree();
        *standing = Standing { tree: Some(tree), control: Some(new) };
        Ok(())
    }

    /// Target name of the tree that an earlier run left below an anchor, from its control file, as
    /// the journal names it; `None` without control file.
    ///
    /// # Errors
    /// A control file that cannot be read.
    pub fn left(&mut self, system: &FileSystem<'_>) -> Result<Option<String>, String> {
        let anchor = system.anchor();
        let standing = self.standing(&anchor)?;
        let Some(control) = &standing.control else { return Ok(None) };
        // Prefers the equal definition, because a control file has integer percentages only.
        let defined = Shape::of(system.fsd, &Values::default()).ok();
        let defined = defined.filter(|shape| Control::of(shape) == *control);
        let tree = defined.unwrap_or_else(|| control.shape()).tree();
        standing.tree = Some(tree.clone());
        Ok(Some(self.target(system.name, &anchor, tree)))
    }

    /// Phases of a format of these file systems.
    ///
    /// # Errors
    /// A control file that cannot be read.
    pub fn format(
        &mut self,
        systems: &[Formatted<'_>],
        format: Format,
        formatter: &Formatter,
        flags: Option<OpenFlags>,
        content: &Content,
    ) -> Result<Vec<FormatPhase>, String> {
        let mut phases = Vec::new();
        for step in steps_of(format) {
            let mut jobs = Vec::new();
            for (system, shape, seats) in systems {
                let anchor = system.anchor();
                let tree = if step.is_of_old_tree() {
                    self.old_tree(&anchor, shape)?
                } else {
                    Some(shape.tree())
                };
                let Some(tree) = tree else { continue };
                let flags = flags.or(formatter.open_flags).unwrap_or(system.fsd.open_flags);
                let job = Job {
                    // All steps have one name, so their metrics are combined.
                    name: format!("format {}", system.name),
                    workers: formatter.threads,
                    targets: vec![self.target(system.name, &anchor, tree)],
                    work: formatter.entries(step, shape, flags, format.restart, content).into(),
                    ..Job::default()
                };
                jobs.extend(on_hosts(&job, step, seats));
            }
            if !jobs.is_empty() {
                phases.push((step, jobs));
            }
        }
        for (system, shape, _) in systems {
            let tree = (!format.clean).then(|| shape.tree());
            let control = (!format.clean).then(|| Control::of(shape));
            *self.standing.entry(system.anchor()).or_default() = Standing { tree, control };
        }
        Ok(phases)
    }

    /// The tree that a format removes. A damaged control file is no reason to keep it. Of other
    /// hosts it has the shape of the new one, unless an earlier run has made another one.
    fn old_tree(&mut self, anchor: &Path, new: &Shape) -> Result<Option<Tree>, String> {
        if self.are_elsewhere {
            let standing = self.standing(anchor)?;
            return Ok(Some(standing.tree.clone().unwrap_or_else(|| new.tree())));
        }
        if self.standing(anchor).is_err() {
            let tree = found::tree_below(anchor);
            self.standing.insert(anchor.to_owned(), Standing { tree, control: None });
        }
        Ok(self.standing(anchor)?.tree.clone())
    }

    /// The jobs of a run: one for each group.
    pub fn jobs(
        &mut self,
        systems: &[FileSystem<'_>],
        groups: &[Group<'_>],
        values: &Values,
        common: &Common,
    ) -> Result<Vec<Job>, String> {
        let mut jobs = Vec::new();
        for group in groups {
            let system = &systems[group.fsd];
            let shape = Shape::of(system.fsd, values)?;
            let to = match group.target.map(|at| &systems[at]) {
                None => None,
                Some(other) => {
                    let of_other = Shape::of(other.fsd, values)?;
                    if of_other.tree() != shape.tree() {
                        let (from, to) = (system.name, other.name);
                        return Err(format!("fsd={from} and target={to} have different trees"));
                    }
                    Some(self.target(other.name, &other.anchor(), of_other.tree()))
                }
            };
            let common = Common { of_fsd: system.fsd.open_flags, ..common.clone() };
            jobs.push(Job {
                name: group.name(systems),
                workers: group.threads,
                targets: vec![self.target(system.name, &system.anchor(), shape.tree())],
                only_on: group.seat.system,
                work: steps::entries(group, &shape, &common, to).into(),
                ..Job::default()
            });
        }
        Ok(jobs)
    }
}

/// The job of a part of a format on each of its hosts. Directories lie in one another, so the first
/// host makes and removes them all.
fn on_hosts<'a>(
    job: &'a Job,
    step: FormatStep,
    seats: &'a [Seat],
) -> impl Iterator<Item = (Job, String)> + 'a {
    let at_work = if step.is_of_directories() { &seats[..seats.len().min(1)] } else { seats };
    at_work.iter().map(move |seat| {
        let mut job = Job { only_on: seat.system, ..job.clone() };
        if seats.len() > 1 {
            job.name += &format!(" from {}", seat.label);
        }
        if let Work::Entries(entries) = &mut job.work
            && let Some(take) = &mut entries.take
        {
            take.host_part = seats::part(at_work, seat);
        }
        (job, seat.label.clone())
    })
}

#[cfg(test)]
mod tests;
