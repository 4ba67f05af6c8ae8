//! Sizes that only the host knows: shares of what there is, and files that are filled.

use std::collections::HashMap;
use std::path::Path;

use candor_plan::{Bytes, Job, Phase, Plan, Target, TargetKind};

use crate::error::RunError;
use crate::runner::Survey;

/// Sizes are whole multiples of it, where they are larger.
const UNIT_BYTES: u64 = 1 << 20;
const SMALL_UNIT_BYTES: u64 = 4096;

/// Gives each target its size in bytes, where the plan has a share, or files without a size that
/// are written until the filesystem is full.
///
/// # Errors
/// A target that is neither there, nor in a directory that is.
pub fn settle(
    plan: &mut Plan,
    survey: &dyn Fn(&Path) -> Result<Survey, RunError>,
) -> Result<(), RunError> {
    let filled: Vec<bool> = plan.targets.iter().map(|target| is_filled(plan, target)).collect();
    let mut places = Vec::new();
    // Files that share what is free on a filesystem.
    let mut files: HashMap<u64, u64> = HashMap::new();
    for (index, target) in plan.targets.iter().enumerate() {
        if target.size_percent.is_none() && !filled[index] {
            continue;
        }
        let place = place(target, survey)?;
        if let (None, Some(space), Some(_)) = (place.whole(), place.space, target.size_percent) {
            *files.entry(space.filesystem).or_default() += target.files_named().max(1);
        }
        places.push((index, place));
    }
    for (index, place) in places {
        let target = &mut plan.targets[index];
        let free = place.space.map(|space| {
            let sharing = files.get(&space.filesystem).copied().unwrap_or(1);
            (space.available_bytes, sharing)
        });
        let size = match (target.size_percent.take(), place.whole(), free) {
            (Some(percent), Some(length), _) => Some(share(length, percent, 1)),
            (Some(percent), None, Some((bytes, files))) => Some(share(bytes, percent, files)),
            // A device has its end; a file that is longer than its filesystem has none.
            (None, ..) if place.is_device() => None,
            (None, ..) => place.space.map(|space| share(space.total_bytes, 100, 1) + UNIT_BYTES),
            (Some(_), None, None) => None,
        };
        target.size = size.map(Bytes);
    }
    Ok(())
}

/// Whether a job writes files of a target that have no size until nothing more can be stored.
fn is_filled(plan: &Plan, target: &Target) -> bool {
    let fills = |phase: &Phase, job: &Job| {
        let stop = job.stop.as_ref().unwrap_or(&phase.stop);
        let writes = job.blocks().is_some_and(|blocks| blocks.mix.write > 0);
        stop.until_full && writes && job.targets.contains(&target.name)
    };
    let has_size = target.size.is_some() || target.size_percent.is_some();
    let can_grow = !matches!(target.kind, TargetKind::Null | TargetKind::Existing);
    let mut phases = plan.phases.iter();
    let by = phases.any(|phase| phase.jobs.iter().any(|job| fills(phase, job)));
    by && !has_size && can_grow
}

/// The object at a target's path, or the nearest directory in which it is to be made.
fn place(
    target: &Target,
    survey: &dyn Fn(&Path) -> Result<Survey, RunError>,
) -> Result<Survey, RunError> {
    let missing = match survey(&target.path) {
        Ok(found) => return Ok(found),
        Err(error) => error,
    };
    let above = target.path.ancestors().skip(1);
    let mut above = above.map(|path| if path == Path::new("") { Path::new(".") } else { path });
    above.find_map(|path| survey(path).ok()).ok_or(missing)
}

/// A share of so many bytes, divided between some files.
fn share(bytes: u64, percent: u8, files: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(percent) / 100 / u128::from(files.max(1));
    // A share of 64 bits has 64 bits.
    let share = share as u64;
    let unit = if share < UNIT_BYTES { SMALL_UNIT_BYTES } else { UNIT_BYTES };
    share / unit * unit
}

#[cfg(test)]
mod tests {
    use candor_plan::units::Mix;
    use candor_plan::{Blocks, Engine, Stop};
    use candor_record::facts::PathKind;

    use super::*;
    use crate::runner::Space;

    const GIB: u64 = 1 << 30;

    /// A host with a directory `/data` on a filesystem of 100 GiB with 40 GiB free, a file of 2 GiB
    /// in it, and a device of 10 GiB.
    fn survey(path: &Path) -> Result<Survey, RunError> {
        let (kind, length_bytes) = match path.to_str() {
            Some("/data") => (PathKind::Directory, None),
            Some("/data/there") => (PathKind::File, Some(2 * GIB)),
            Some("/dev/sdx") => (PathKind::Device, Some(10 * GIB)),
            _ => return Err(RunError::find(path)(std::io::ErrorKind::NotFound.into())),
        };
        let space = Space {
            filesystem: 1,
            total_bytes: 100 * GIB,
            available_bytes: 40 * GIB,
            available_inodes: u64::MAX,
        };
        Ok(Survey {
            path: path.into(),
            kind,
            length_bytes,
            takes_direct: true,
            engine: Engine::IO_URING,
            space: Some(space),
        })
    }

    fn target(path: &str, size_percent: Option<u8>) -> Target {
        Target { name: path.into(), path: path.into(), size_percent, ..Target::default() }
    }

    fn sizes(mut plan: Plan) -> Vec<Option<u64>> {
        settle(&mut plan, &survey).expect("all stand somewhere");
        assert!(plan.targets.iter().all(|target| target.size_percent.is_none()));
        plan.targets.iter().map(|target| target.size.map(|size| size.0)).collect()
    }

    #[test]
    fn a_share_is_of_what_is_there_or_of_what_is_free() {
        let paths = ["/dev/sdx", "/data/there", "/data/new"];
        let targets = paths.map(|path| target(path, Some(50))).to_vec();
        let plan = Plan { targets, ..Plan::default() };
        assert_eq!(sizes(plan), [Some(5 * GIB), Some(GIB), Some(20 * GIB)]);
    }

    #[test]
    fn files_of_one_filesystem_share_what_is_free() {
        let set = Target { files: 3, ..target("/data", Some(100)) };
        let plan = Plan { targets: vec![set, target("/data/new", Some(50))], ..Plan::default() };
        assert_eq!(sizes(plan), [Some(10 * GIB), Some(5 * GIB)]);
    }

    #[test]
    fn files_that_are_filled_are_longer_than_their_filesystem() {
        let paths = ["/data/new", "/dev/sdx", "/data/read"];
        let targets = paths.map(|path| target(path, None)).to_vec();
        let job = |path: &str, mix| {
            let work = Blocks { mix, ..Blocks::default() }.into();
            Job { targets: vec![path.into()], work, ..Job::default() }
        };
        let jobs = vec![
            job("/data/new", Mix::WRITE),
            job("/dev/sdx", Mix::WRITE),
            job("/data/read", Mix::READ),
        ];
        let stop = Stop { until_full: true, ..Stop::default() };
        let phases = vec![Phase { stop, jobs, ..Phase::default() }];
        let plan = Plan { targets, phases, ..Plan::default() };
        assert_eq!(sizes(plan), [Some(100 * GIB + UNIT_BYTES), None, None]);
    }

    #[test]
    fn a_target_that_stands_nowhere_is_an_error() {
        let targets = vec![target("/nowhere/file", Some(50))];
        assert!(settle(&mut Plan { targets, ..Plan::default() }, &survey).is_err());
    }
}
