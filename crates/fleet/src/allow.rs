//! Paths and work that an agent serves: those that were named on its own command line.

use std::ffi::OsStr;
use std::os::unix::fs::FileTypeExt;
use std::path::{Component, Path, PathBuf};

use candor_engine::names;
use candor_plan::engine::PriorityClass;
use candor_plan::{Job, PathText, Plan, Target, TargetKind, Tree, Work};

/// How far an agent serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The paths and devices that its command line names.
    #[default]
    Named,
    /// All that its user may touch, but no device in use and no programs: only this user has the
    /// key.
    User,
    /// All: a launcher or ssh has started the agent for a run of this user.
    Everything,
}

/// Paths and kinds of work that an agent serves.
#[derive(Clone, Debug, Default)]
pub struct Allowed {
    /// How far it serves.
    pub reach: Reach,
    /// Directories, files and devices; what is below a directory is served with it.
    pub paths: Vec<PathBuf>,
    /// Block devices that may be written.
    pub written_devices: Vec<PathBuf>,
    /// Programs and commands of jobs may run.
    pub programs: bool,
    /// Runs may change settings of the host: I/O schedulers, priorities above others, memory.
    pub host_settings: bool,
}

impl Allowed {
    /// Checks everything that a plan names.
    ///
    /// # Errors
    /// One sentence for the first thing that is not served.
    pub fn check(&self, plan: &Plan) -> Result<(), String> {
        if self.reach == Reach::Everything {
            return Ok(());
        }
        self.host_settings(plan)?;
        plan.targets.iter().try_for_each(|target| self.target(plan, target))?;
        plan.phases.iter().flat_map(|phase| &phase.jobs).try_for_each(|job| self.job(job))
    }

    /// Checks a path: what stands there, through all links, or where it would be made.
    ///
    /// # Errors
    /// One sentence.
    pub fn path(&self, path: &Path) -> Result<(), String> {
        if self.reach != Reach::Named {
            return Ok(());
        }
        let real = real(path).ok_or_else(|| format!("`{}` cannot be followed", path.text()))?;
        if self
            .paths
            .iter()
            .any(|allowed| allowed.canonicalize().is_ok_and(|allowed| real.starts_with(allowed)))
        {
            Ok(())
        } else {
            Err(format!(
                "this agent does not serve `{}`; start it with --allow {}",
                path.text(),
                shown(real.parent().unwrap_or(&real))
            ))
        }
    }

    /// Checks devices that a run would write although they are in use.
    ///
    /// # Errors
    /// One sentence for the first that this agent keeps from it.
    pub fn force(&self, devices: &[String]) -> Result<(), String> {
        let consents = |device: &String| match self.reach {
            Reach::Everything => true,
            Reach::User => false,
            Reach::Named => self.written_device(Path::new(device), "write").is_ok(),
        };
        match devices.iter().find(|device| !consents(device)) {
            None => Ok(()),
            Some(device) => Err(format!(
                "this agent keeps devices that are in use from runs, and `{device}` would be \
                 written although it may be; start the agent with --write-device {device}"
            )),
        }
    }

    fn target(&self, plan: &Plan, target: &Target) -> Result<(), String> {
        let jobs = || plan.phases.iter().flat_map(|phase| &phase.jobs);
        let mut users = jobs().filter(|job| job.targets.contains(&target.name)).peekable();
        let is_unused = users.peek().is_some() && users.all(|job| !job.work.uses_targets());
        if target.kind == TargetKind::Null || is_unused {
            return Ok(());
        }
        if let Some(list) = target.listing.as_ref().and_then(|listing| listing.file.as_ref()) {
            self.path(list)?;
        }
        self.path(&target.path)?;
        if target.kind == TargetKind::Tree {
            return target.tree.iter().try_for_each(stays_below);
        }
        for path in names::paths(target) {
            self.path(&path)?;
            let destroys = jobs()
                .filter(|job| job.targets.contains(&target.name))
                .find_map(|job| job.work.destroys());
            let is_device = path.metadata().is_ok_and(|found| {
                found.file_type().is_block_device() || found.file_type().is_char_device()
            });
            if let (Some(operation), true) = (destroys, is_device && !is_made_up(&path)) {
                self.written_device(&path, operation.name)?;
            }
        }
        Ok(())
    }

    fn written_device(&self, path: &Path, operation: &str) -> Result<(), String> {
        if self.reach == Reach::User {
            return Ok(());
        }
        let real = path.canonicalize().ok();
        let mut allowed = self.written_devices.iter().map(|device| device.canonicalize().ok());
        if real.is_some() && allowed.any(|allowed| allowed == real) {
            Ok(())
        } else {
            Err(format!(
                "the plan would {operation} `{0}`, to which this agent does not consent; start it \
                 with --write-device {0}",
                path.text()
            ))
        }
    }

    fn host_settings(&self, plan: &Plan) -> Result<(), String> {
        let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
        let scheduler = plan.targets.iter().any(|target| target.scheduler.is_some());
        let change = match () {
            () if self.host_settings => None,
            () if scheduler => Some("switches the I/O scheduler of a device"),
            () if plan.occupy_memory.is_some() => Some("occupies memory of the host"),
            () => jobs.find_map(raised_priority),
        };
        change.map_or(Ok(()), |change| {
            Err(format!(
                "the plan {change}, to which this agent does not consent; start it with \
                 --allow-host-settings"
            ))
        })
    }

    fn job(&self, job: &Job) -> Result<(), String> {
        let runs = matches!(job.work, Work::Program(_)) || !job.hooks.is_empty();
        if runs && !self.programs {
            return Err(format!(
                "job `{}` runs programs, which this agent does not; start it with --allow-programs",
                job.name
            ));
        }
        if job.threads.control_group.is_some() && !self.programs {
            return Err(format!(
                "job `{}` changes control groups, which this agent does not; start it with \
                 --allow-programs",
                job.name
            ));
        }
        files_of(job).try_for_each(|path| self.path(path))
    }
}

/// The priority by which a job would hold up other processes of the host.
fn raised_priority(job: &Job) -> Option<&'static str> {
    let of_operations = job.blocks().into_iter().flat_map(|blocks| &blocks.priorities);
    let mut priorities = of_operations.map(|share| share.priority).chain(job.threads.io_priority);
    if priorities.any(|priority| priority.class == PriorityClass::Realtime) {
        return Some("uses the real-time class of I/O");
    }
    let is_raised = job.threads.nice.is_some_and(|nice| nice < 0);
    is_raised.then_some("runs with a niceness below 0")
}

/// Checks that the names of a tree lead nowhere else.
fn stays_below(tree: &Tree) -> Result<(), String> {
    let mut names = [&tree.root_name, &tree.directory_name, &tree.item_name].into_iter().flatten();
    match names.find(|name| !name.is_single()) {
        None => Ok(()),
        Some(name) => Err(format!(
            "`{name}` is not the name of one file or directory; use a name without a slash"
        )),
    }
}

/// Files that a job names beside its targets.
fn files_of(job: &Job) -> impl Iterator<Item = &Path> {
    let mut files: Vec<&Path> = Vec::new();
    files.extend(job.operations_log.as_ref().map(|log| log.file.as_path()));
    if let Work::Program(program) = &job.work {
        files.extend(program.output.iter().chain(&program.errors).map(PathBuf::as_path));
    }
    if let Some(blocks) = job.blocks() {
        if let Some(verify) = &blocks.verify {
            files.extend(verify.dump.as_deref());
            files.extend(verify.journal.as_ref().map(|journal| journal.directory.as_path()));
        }
        files.extend(blocks.buffers.file.as_deref());
        if let candor_plan::blocks::Access::Trace(trace) = &blocks.access {
            files.push(&trace.file);
        }
    }
    files.into_iter()
}

/// True for devices behind which there is nothing to lose.
fn is_made_up(path: &Path) -> bool {
    ["null", "zero"].iter().any(|name| path == Path::new("/dev").join(name))
}

/// The path without links; of what is not there, that of the closest directory which is, and the
/// names below it.
fn real(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let mut missing: Vec<&OsStr> = Vec::new();
    let mut there = path.as_path();
    loop {
        match there.canonicalize() {
            Ok(found) => {
                return Some(missing.iter().rev().fold(found, |path, name| path.join(name)));
            }
            // A link to nothing leads who knows where.
            Err(_) if there.is_symlink() => return None,
            Err(_) => {
                let Some(Component::Normal(name)) = there.components().next_back() else {
                    return None;
                };
                missing.push(name);
                there = there.parent()?;
            }
        }
    }
}

fn shown(path: &Path) -> String {
    candor_plan::shell::quoted(&path.text())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use candor_plan::units::Extent;
    use candor_plan::{Bytes, Phase, Threads};

    use super::*;

    #[test]
    fn names_of_a_tree_lead_nowhere_else() {
        let named = |name: &str| Tree { root_name: name.parse().ok(), ..Tree::default() };
        assert_eq!(stays_below(&named("r{rank}")), Ok(()));
        for name in ["../..", "a/b", ".."] {
            assert!(stays_below(&named(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn settings_of_the_host_need_consent() {
        use candor_plan::engine::IoPriority;
        let realtime = IoPriority { class: PriorityClass::Realtime, ..IoPriority::default() };
        let threads = [
            Threads { nice: Some(-1), ..Threads::default() },
            Threads { io_priority: Some(realtime), ..Threads::default() },
        ];
        let of_threads = |threads| {
            let jobs = vec![Job { threads, ..Job::default() }];
            Plan { phases: vec![Phase { jobs, ..Phase::default() }], ..Plan::default() }
        };
        let target = Target { scheduler: Some("none".into()), ..Target::default() };
        let mut plans = threads.map(of_threads).to_vec();
        plans.push(Plan { targets: vec![target], ..Plan::default() });
        plans.push(Plan { occupy_memory: Some(Extent::Bytes(Bytes(1))), ..Plan::default() });
        let consents = Allowed { host_settings: true, ..Allowed::default() };
        for plan in &plans {
            let why = Allowed::default().host_settings(plan).expect_err("no consent");
            assert!(why.contains("--allow-host-settings"), "{why}");
            assert_eq!(consents.host_settings(plan), Ok(()));
        }
        let nice = of_threads(Threads { nice: Some(19), ..Threads::default() });
        assert_eq!(Allowed::default().host_settings(&nice), Ok(()));
    }

    #[test]
    fn a_user_has_all_paths_and_no_device_in_use() {
        let of = |reach| Allowed { reach, ..Allowed::default() };
        let device = ["/dev/sda".to_owned()];
        assert!(of(Reach::User).path(Path::new("/anywhere")).is_ok());
        assert!(of(Reach::User).force(&[]).is_ok());
        assert!(of(Reach::User).force(&device).expect_err("kept").contains("--write-device"));
        assert!(of(Reach::Named).force(&device).is_err());
        assert!(of(Reach::Everything).force(&device).is_ok());
        let work = Work::Program(candor_plan::Program::default());
        let job = Job { work, ..Job::default() };
        assert!(of(Reach::User).job(&job).is_err());
    }

    #[test]
    fn nothing_leads_out_of_what_is_served() {
        let folder = tempfile::tempdir().expect("a folder");
        let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
        for folder in [&inside, &outside] {
            std::fs::create_dir(folder).expect("made");
        }
        std::fs::write(outside.join("file"), "words").expect("written");
        symlink(&outside, inside.join("out")).expect("linked");
        symlink(outside.join("nothing"), inside.join("nowhere")).expect("linked");
        symlink(&inside, outside.join("in")).expect("linked");
        let allowed = Allowed { paths: vec![inside.clone()], ..Allowed::default() };
        let served = [
            inside.clone(),
            inside.join("new"),
            inside.join("a/b/c"),
            outside.join("in/new"),
            inside.join("../inside/new"),
        ];
        for path in served {
            assert_eq!(allowed.path(&path), Ok(()), "{}", path.display());
        }
        let refused = [
            outside.join("file"),
            inside.join("out/file"),
            inside.join("nowhere"),
            inside.join("../outside/new"),
            inside.join("new/../../outside"),
            folder.path().join("inside2"),
            PathBuf::from("/"),
        ];
        for path in refused {
            assert!(allowed.path(&path).is_err(), "{}", path.display());
        }
    }
}
