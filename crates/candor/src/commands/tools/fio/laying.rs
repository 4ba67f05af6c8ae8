//! The lines that say that files are laid out, one per job and before the run, as fio has them.

use std::collections::HashMap;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use candor_engine::names;
use candor_fio::job::FioJob;
use candor_fio::output;
use candor_plan::{Layout, Plan, Target, TargetKind};

/// A line for each job that finds files missing or too short, in the order of the jobs. fio says
/// it of files that are only written as well, for which nothing but their length is made.
pub fn lines(plan: &Plan, jobs: &[FioJob]) -> String {
    let targets = plan.targets_by_name();
    // Lengths of files once the jobs before have made them, by the hashes of their paths.
    let (mut made, hasher) = (HashMap::new(), RandomState::new());
    let mut text = String::new();
    for job in jobs.iter().filter(|job| job.shape.lays_out) {
        let names = &plan.phases[job.phase].jobs[job.job].targets;
        let named = names.iter().filter_map(|name| targets.get(name.as_str()));
        let named = named.filter(|target| target.kind != TargetKind::Existing);
        let (mut number, mut bytes) = (0, 0);
        let of = |target: &Target| {
            let layout = target.layout;
            names::named(target).map(move |named| (layout, named))
        };
        for (layout, named) in named.flat_map(|target| of(target)) {
            let Some(wanted) = named.size else { continue };
            let file = hasher.hash_one(&named.path);
            let Some(length) = made.get(&file).copied().or_else(|| length(&named.path)) else {
                continue;
            };
            if length < wanted {
                // Of what only grows as it is written, the next job finds nothing either.
                if layout != Layout::Never {
                    made.insert(file, wanted);
                }
                number += 1;
                bytes += wanted;
            }
        }
        if number > 0 {
            text.push_str(&output::laying_out(&job.name, number, bytes));
        }
    }
    text
}

/// The length of a file, 0 where there is none; nothing for what is not a file.
fn length(path: &Path) -> Option<u64> {
    match fs::metadata(path) {
        Ok(found) => found.is_file().then_some(found.len()),
        Err(_) => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use candor_plan::{Bytes, Job, Phase};

    use super::*;

    fn target(name: &str, bytes: u64) -> Target {
        let path = PathBuf::from("/nowhere/at/all").join(name);
        Target { name: name.into(), path, size: Some(Bytes(bytes)), ..Target::default() }
    }

    fn job(name: &str, number: usize, lays_out: bool) -> FioJob {
        let mut job = FioJob { name: name.into(), job: number, ..FioJob::default() };
        job.shape.lays_out = lays_out;
        job
    }

    #[test]
    fn a_job_has_one_line_however_many_files_it_has_and_a_file_is_made_once() {
        let uses = |targets: &[&str]| Job {
            targets: targets.iter().map(|name| (*name).to_owned()).collect(),
            ..Job::default()
        };
        let jobs = vec![uses(&["a", "b"]), uses(&["b"]), uses(&["c"]), uses(&["d"])];
        let mut device = target("d", 1 << 20);
        device.path = "/dev/null".into();
        let plan = Plan {
            targets: vec![target("a", 2 << 20), target("b", 1 << 20), target("c", 1), device],
            phases: vec![Phase { jobs, ..Phase::default() }],
            ..Plan::default()
        };
        let jobs = [job("x", 0, true), job("y", 1, true), job("z", 2, false), job("w", 3, true)];
        assert_eq!(lines(&plan, &jobs), "x: Laying out IO files (2 files / total 3MiB)\n");
        let jobs = [job("y", 1, true), job("x", 0, true)];
        let two = "y: Laying out IO file (1 file / 1MiB)\nx: Laying out IO file (1 file / 2MiB)\n";
        assert_eq!(lines(&plan, &jobs), two);
    }

    #[test]
    fn what_grows_as_it_is_written_is_said_of_each_job() {
        let uses = Job { targets: vec!["a".to_owned()], ..Job::default() };
        let plan = Plan {
            targets: vec![Target { layout: Layout::Never, ..target("a", 1 << 20) }],
            phases: vec![Phase { jobs: vec![uses.clone(), uses], ..Phase::default() }],
            ..Plan::default()
        };
        let two = "x: Laying out IO file (1 file / 1MiB)\ny: Laying out IO file (1 file / 1MiB)\n";
        assert_eq!(lines(&plan, &[job("x", 0, true), job("y", 1, true)]), two);
    }
}
