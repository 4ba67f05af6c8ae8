//! Whether what stands at the paths of targets can take the work of a phase: nothing is opened or
//! made, and a plan that cannot run is refused as a mistake.

use std::fs::FileType;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use candor_engine::names::{self, Named};
use candor_plan::blocks::Access;
use candor_plan::{
    Layout, OnFailure, PathText, Phase, Plan, PlanPath, Problem, Target, TargetKind,
};

use candor_blocks::targets::descriptors;

use crate::error::RunError;
use crate::precheck::{Work, targets};

/// Major numbers of the devices of memory (`null`, `zero`, `random`, …) and of terminals.
const NO_STORAGE: [u32; 2] = [1, 5];

/// Lets a phase pass whose targets can take its work. Where jobs fail alone, each finds out.
///
/// # Errors
/// [`RunError::BadPlan`]: no storage, files that nobody gave a size, a set that is no directory,
/// more files than a process may open.
pub fn check(plan: &Plan, phase: &Phase) -> Result<(), RunError> {
    if phase.on_failure != OnFailure::EndRun {
        return Ok(());
    }
    let targets = targets(plan, phase).into_iter();
    let unfit = targets.filter_map(|(index, target, work)| {
        let place = PlanPath::root().key("target").index(index).key("path");
        no_storage(target, &place)
            .or_else(|| no_directory(target, &place))
            .or_else(|| no_size(target, &work, &place))
    });
    let problems: Vec<Problem> = unfit.chain(too_many_files(plan, phase)).collect();
    if problems.is_empty() { Ok(()) } else { Err(RunError::BadPlan(problems)) }
}

fn no_storage(target: &Target, place: &PlanPath) -> Option<Problem> {
    let metadata = target.path.metadata().ok()?;
    let kind = what_kind(metadata.file_type(), metadata.rdev())?;
    let message = format!("`{}` is {kind}, which is no storage", target.path.text());
    let remedy = "name a file, a directory or a block device; --engine null moves no bytes";
    Some(Problem::error("no-storage", place.clone(), message, remedy))
}

/// Kind of what holds no data.
fn what_kind(kind: FileType, number: u64) -> Option<&'static str> {
    if kind.is_char_device() && NO_STORAGE.contains(&rustix::fs::major(number)) {
        return Some("a character device");
    }
    if kind.is_fifo() {
        return Some("a pipe");
    }
    kind.is_socket().then_some("a socket")
}

/// Several files at a path that is there and is no directory.
fn no_directory(target: &Target, place: &PlanPath) -> Option<Problem> {
    let is_other = target.path.metadata().is_ok_and(|metadata| !metadata.is_dir());
    if target.kind != TargetKind::Auto || target.files < 2 || !is_other {
        return None;
    }
    let (path, files) = (target.path.text(), target.files);
    let message = format!("{files} files need a directory, and `{path}` is none");
    let remedy = "name a directory, or a path where nothing is: the directory is made there";
    Some(Problem::error("files", place.clone(), message, remedy))
}

/// A file that is missing or empty, of a target without a size.
fn no_size(target: &Target, work: &[Work<'_>], place: &PlanPath) -> Option<Problem> {
    let traced = work.iter().all(|work| matches!(work.blocks.access, Access::Trace(_)));
    if traced || target.size.is_some() || target.kind == TargetKind::Existing {
        return None;
    }
    let unsized_file = names::named(target).find(lacks_bytes)?;
    let path = unsized_file.path.text();
    let grows = target.layout != Layout::Never || work.iter().any(|work| writes(work.job));
    let (message, remedy) = if unsized_file.path.exists() {
        (
            format!("`{path}` is empty, and no size is given"),
            "give --size, such as --size 1g, and --overwrite to let it grow (`size` and \
             `overwrite` at the target)",
        )
    } else if target.path.is_dir() {
        (
            format!("the files in `{}` have no size", target.path.text()),
            "give --size, such as --size 1g (`size = \"1g\"` at the target)",
        )
    } else if grows {
        (
            format!("`{path}` does not exist, and no size is given"),
            "give --size, such as --size 1g (`size = \"1g\"` at the target), or name a file",
        )
    } else {
        (format!("`{path}` does not exist"), "name a file that exists")
    };
    Some(Problem::error("target-size", place.clone(), message, remedy))
}

/// More files than this process may open at once; raises the limit as far as needed. The files of
/// all jobs stay open while they run.
fn too_many_files(plan: &Plan, phase: &Phase) -> Option<Problem> {
    let files = files_open(plan, phase);
    let most = descriptors::make_room(files.iter().map(|(_, files)| files).sum()).err()?;
    let (index, _) = files.into_iter().max_by_key(|(_, files)| *files)?;
    let place = PlanPath::root().key("target").index(index).key("files");
    Some(too_many(plan, phase, most, place))
}

fn too_many(plan: &Plan, phase: &Phase, most: u64, place: PlanPath) -> Problem {
    let needed: u64 = files_open(plan, phase).iter().map(|(_, files)| files).sum();
    let message = format!(
        "{needed} files are open at once in phase `{}`, and this process may have {most} of them",
        phase.name
    );
    let remedy = format!(
        "raise the limit (`ulimit -Hn {}` as root, LimitNOFILE= of a service, or docker's \
         --ulimit nofile), or use fewer files",
        needed.saturating_mul(2).next_power_of_two()
    );
    Problem::error("open-files", place, message, remedy)
}

/// How many files of each target the jobs of a phase have open.
fn files_open(plan: &Plan, phase: &Phase) -> Vec<(usize, u64)> {
    let files = |(index, target, work): (usize, &Target, Vec<Work<'_>>)| {
        (index, names::paths(target).count() as u64 * work.len() as u64)
    };
    targets(plan, phase).into_iter().map(files).collect()
}

fn writes(job: &candor_plan::Job) -> bool {
    job.work.destroys().is_some()
}

/// True for a regular file without bytes, or none at all, whose size nobody gave.
fn lacks_bytes(named: &Named) -> bool {
    named.size.is_none() && is_missing_or_empty(&named.path)
}

fn is_missing_or_empty(path: &Path) -> bool {
    match path.metadata() {
        Ok(metadata) => metadata.is_file() && metadata.len() == 0,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound && !path.is_symlink(),
    }
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Mix;
    use candor_plan::{Blocks, Bytes, Job};

    use super::*;

    /// The sentence that refuses one job on that target; an empty text where none does.
    fn refused(target: Target, mix: Mix) -> String {
        let work = Blocks { mix, ..Blocks::default() }.into();
        let jobs = vec![Job { targets: vec![target.name.clone()], work, ..Job::default() }];
        let phase = Phase { jobs, ..Phase::default() };
        let plan = Plan { targets: vec![target], ..Plan::default() };
        check(&plan, &phase).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn files_without_bytes_need_a_size() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let (missing, empty) = (dir.path().join("missing"), dir.path().join("empty"));
        let full = dir.path().join("full");
        std::fs::write(&empty, "").expect("written");
        std::fs::write(&full, [7; 4096]).expect("written");
        let of = |path: &Path| Target { path: path.into(), ..Target::default() };
        for (target, word) in [
            (of(&missing), "does not exist, and no size is given"),
            (of(&empty), "is empty, and no size is given"),
            (of(dir.path()), "have no size"),
            (Target { files: 8, ..of(&missing) }, "does not exist, and no size"),
            (Target { files: 8, size: Some(Bytes(1)), ..of(&full) }, "8 files need a directory"),
        ] {
            for mix in [Mix::READ, Mix::WRITE] {
                let sentence = refused(target.clone(), mix);
                assert!(sentence.contains(word), "{target:?}: {sentence}");
            }
            let sized = Target { size: Some(Bytes(4096)), files: 1, ..target };
            assert_eq!(refused(sized, Mix::READ), "");
        }
        assert_eq!(refused(of(&full), Mix::WRITE), "");
        let nowhere = Target { layout: Layout::Never, ..of(&missing) };
        assert!(refused(nowhere, Mix::READ).contains("name a file that exists"));
    }

    #[test]
    fn more_files_than_may_be_open_are_refused_before_any_is_made() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let target = Target {
            path: dir.path().into(),
            files: 1 << 20,
            size: Some(Bytes(4096)),
            ..Target::default()
        };
        let job = || Job {
            targets: vec![target.name.clone()],
            work: Blocks::default().into(),
            ..Job::default()
        };
        let phase = Phase { jobs: vec![job(), job()], name: "read".into(), ..Phase::default() };
        let plan = Plan { targets: vec![target.clone()], ..Plan::default() };
        assert_eq!(files_open(&plan, &phase), [(0, 2 << 20)]);
        let problem = too_many(&plan, &phase, 1024, PlanPath::root());
        assert_eq!(
            problem.message,
            "2097152 files are open at once in phase `read`, and this process may have 1024 of them"
        );
        assert!(problem.remedy.contains("ulimit -Hn 4194304"), "{}", problem.remedy);
    }

    #[test]
    fn devices_of_memory_are_no_storage() {
        for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/urandom", "/dev/tty"] {
            let target = Target { path: path.into(), size: Some(Bytes(4096)), ..Target::default() };
            let sentence = refused(target, Mix::WRITE);
            assert!(sentence.contains("no storage"), "{path}: {sentence}");
        }
    }
}
