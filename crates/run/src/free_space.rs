//! Whether files of a plan have room on their filesystems, before the first byte is written.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use candor_engine::names;
use candor_plan::entries::{Over, Step};
use candor_plan::units::Direction;
use candor_plan::{
    Layout, OnFailure, PathText, Phase, PlanPath, Problem, Stop, Target, TargetKind,
};
use candor_record::fmt;

use crate::error::RunError;
use crate::layout::is_laid_out;
use crate::precheck::{Work, targets};
use crate::trees::Needs;
use crate::upcoming::Upcoming;

/// How long the bytes of removed files may take to come back.
const MOMENT: Duration = Duration::from_secs(2);

/// Bytes and names that files of one filesystem still lack, and the first target there.
struct Need {
    bytes: u64,
    names: u64,
    at: PathBuf,
    place: PlanPath,
}

/// Lets phases pass whose files have room. Work that is to go on until a filesystem is full needs
/// none, and jobs that fail alone find out by themselves.
///
/// # Errors
/// [`RunError::Unsafe`] with a problem for each filesystem that has too little.
pub fn check(upcoming: &Upcoming<'_>) -> Result<(), RunError> {
    let needs = needs(upcoming).into_values();
    let problems: Vec<Problem> =
        needs.filter_map(|need| too_little(&need).or_else(|| too_few_names(&need))).collect();
    if problems.is_empty() { Ok(()) } else { Err(RunError::Unsafe(problems)) }
}

/// The needs of some phases by the number of their filesystem.
fn needs(upcoming: &Upcoming<'_>) -> BTreeMap<u64, Need> {
    let plan = upcoming.plan;
    // A file of several phases or targets grows once.
    let mut grown: HashMap<PathBuf, u64> = HashMap::new();
    let mut needs: BTreeMap<u64, Need> = BTreeMap::new();
    for (index, target) in plan.targets.iter().enumerate() {
        let (bytes, names) = tree_growth(upcoming, target);
        let Some(at) = existing(&target.path).filter(|_| names > 0) else { continue };
        let Ok(metadata) = at.metadata() else { continue };
        let need = needs.entry(metadata.dev()).or_insert_with(|| Need::new(at, index));
        need.bytes = need.bytes.saturating_add(bytes);
        need.names = need.names.saturating_add(names);
    }
    for phase in upcoming.phases.iter().filter(|phase| is_bounded(phase)) {
        for (index, target, work) in targets(plan, phase) {
            let (Some(first), bytes) = (names::paths(target).next(), growth(phase, target, &work))
            else {
                continue;
            };
            let Some(at) = existing(&first) else { continue };
            let Ok(metadata) = at.metadata() else { continue };
            let known = grown.entry(first).or_default();
            let more = bytes.saturating_sub(*known);
            *known += more;
            needs.entry(metadata.dev()).or_insert_with(|| Need::new(at, index)).bytes += more;
        }
    }
    needs
}

impl Need {
    fn new(at: PathBuf, target: usize) -> Need {
        let place = PlanPath::root().key("target").index(target).key("path");
        Need { bytes: 0, names: 0, at, place }
    }
}

/// Least bytes, and names, of a tree that some phases make; none where something is there already,
/// or only time bounds what is made.
fn tree_growth(upcoming: &Upcoming<'_>, target: &Target) -> (u64, u64) {
    if target.kind != TargetKind::Tree {
        return (0, 0);
    }
    let is_there =
        std::fs::read_dir(&target.path).is_ok_and(|mut entries| entries.next().is_some());
    let (mut made, mut written, mut ranks) = (false, false, 0);
    let phases = upcoming.phases.iter().enumerate();
    for (at, phase) in phases.filter(|(_, phase)| is_bounded(phase) && !is_there) {
        for job in phase.jobs.iter().filter(|job| job.targets.contains(&target.name)) {
            let Some(entries) = job.entries().filter(|entries| entries.over == Over::Items) else {
                continue;
            };
            let stop = job.stop.as_ref().unwrap_or(&phase.stop);
            let whole = stop.time.is_none() && stop.ops.is_none() && stop.bytes.is_none();
            let lays_out = Needs::of(upcoming.before(at), target, entries).items;
            made |= lays_out || (whole && !entries.needs_names());
            let fills = entries.has(Step::Write) || entries.has(Step::Fallocate);
            written |= lays_out || (whole && fills);
            ranks = ranks.max(upcoming.plan.ranks(job));
        }
    }
    let (items, bytes) = match (&target.tree, upcoming.lists.known(target)) {
        (Some(tree), _) => {
            let (_, homes) = upcoming.plan.tree_home(target);
            let items = tree.totals(ranks).items / homes;
            (items, items.saturating_mul(tree.file_size.min().0))
        }
        (None, Some(list)) => (list.files(), list.bytes()),
        (None, None) => (0, 0),
    };
    (if written { bytes } else { 0 }, if made { items } else { 0 })
}

fn is_bounded(phase: &Phase) -> bool {
    let mut stops = phase.jobs.iter().map(|job| job.stop.as_ref().unwrap_or(&phase.stop));
    phase.on_failure == OnFailure::EndRun && !stops.any(|stop| stop.until_full)
}

/// Bytes by which a phase would make the files of a target longer.
fn growth(phase: &Phase, target: &Target, work: &[Work<'_>]) -> u64 {
    if target.kind == TargetKind::Device || target.path.metadata().is_ok_and(|m| is_device(&m)) {
        return 0;
    }
    let lacks = |named: names::Named| {
        let present = named.path.metadata().map_or(0, |metadata| metadata.len());
        let present = if target.append { 0 } else { present };
        named.size.map_or(0, |size| size.saturating_sub(present))
    };
    let lacking = || names::named(target).map(lacks).fold(0, u64::saturating_add);
    let is_sparse = target.layout == Layout::Sparse;
    if is_laid_out(target, work) && !is_sparse {
        return lacking();
    }
    match work.iter().fold(0_u64, |known, work| known.saturating_add(written(phase, target, work)))
    {
        0 => 0,
        written => written.min(lacking()),
    }
}

fn is_device(metadata: &std::fs::Metadata) -> bool {
    !metadata.is_file() && !metadata.is_dir()
}

/// Most bytes that a job can write; none where only time bounds what it leaves of a file with
/// holes.
fn written(phase: &Phase, target: &Target, work: &Work<'_>) -> u64 {
    let Work { job, blocks, .. } = work;
    if blocks.mix.write == 0 || !blocks.moves_bytes() {
        return 0;
    }
    let Stop { time, bytes, ops, .. } = job.stop.as_ref().unwrap_or(&phase.stop);
    let whole = matches!(target.layout, Layout::Needed | Layout::Write);
    let size = blocks.size.of(Direction::Write).max().0;
    let bounds = [bytes.map(|bytes| bytes.0), ops.map(|ops| ops.saturating_mul(size))];
    let each = bounds.into_iter().flatten().min();
    match each {
        Some(each) => each.saturating_mul(job.workers.into()),
        None if time.is_some() && !whole => 0,
        None => u64::MAX,
    }
}

/// The path, or the closest directory above it that is there.
fn existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find(|path| path.exists()).map(Path::to_owned)
}

/// Bytes that are free where a path is; none where the filesystem has no limit.
fn free_at(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok()?;
    // Blocks that are reserved for root keep the system alive: no benchmark takes them.
    (space.f_blocks > 0).then(|| space.f_bavail.saturating_mul(space.f_frsize))
}

/// Bytes that are free once those of files that were just removed have come back, which takes a
/// commit of the journal, and the end of a ring of io_uring that had them open.
fn free_in_a_moment(need: &Need) -> Option<u64> {
    // Without the commit it takes longer.
    let _ = File::open(&need.at).map(rustix::fs::syncfs);
    let began = Instant::now();
    loop {
        let free = free_at(&need.at)?;
        if free >= need.bytes || began.elapsed() >= MOMENT {
            return Some(free);
        }
        thread::sleep(MOMENT / 20);
    }
}

fn too_little(need: &Need) -> Option<Problem> {
    if free_at(&need.at)? >= need.bytes {
        return None;
    }
    let free = free_in_a_moment(need).filter(|free| *free < need.bytes)?;
    let (bytes, free) = (fmt::size(need.bytes as f64), fmt::size(free as f64));
    let message = format!(
        "the plan would write {bytes} of new data below `{}`, and {free} are free there",
        need.at.text()
    );
    let remedy = "give a smaller --size, make room, or write until it is full with \
                  --until-full (`until_full = true` in the phase's `stop`)";
    Some(Problem::error("free-space", need.place.clone(), message, remedy))
}

/// A filesystem with a fixed number of inodes has room for so many names and no more.
fn too_few_names(need: &Need) -> Option<Problem> {
    let space = rustix::fs::statvfs(&need.at).ok()?;
    let free = space.f_favail;
    if space.f_files == 0 || free >= need.names {
        return None;
    }
    let message = format!(
        "the plan would make {} files below `{}`, whose filesystem has inodes for {free} more",
        need.names,
        need.at.text()
    );
    let remedy = "make fewer of them, or a filesystem with more inodes (mkfs.ext4 -N)";
    Some(Problem::error("free-space", need.place.clone(), message, remedy))
}

#[cfg(test)]
mod tests {
    use candor_plan::entries::Entries;
    use candor_plan::units::{Mix, SizeSpec};
    use candor_plan::{Blocks, Bytes, Job, Nanos, Tree};

    use candor_entries::Lists;
    use candor_plan::Plan;

    use super::*;

    const PIB: u64 = 1 << 50;

    fn plan(path: &Path, layout: Layout, mix: Mix, stop: Stop) -> Plan {
        let target =
            Target { path: path.into(), size: Some(Bytes(PIB)), layout, ..Target::default() };
        let work = Blocks { mix, ..Blocks::default() }.into();
        let jobs = vec![Job { targets: vec![target.name.clone()], work, ..Job::default() }];
        let phases = vec![Phase { jobs, stop, ..Phase::default() }];
        Plan { targets: vec![target], phases, ..Plan::default() }
    }

    fn bytes(plan: &Plan) -> u64 {
        needs(&Upcoming::all(plan, &Lists::default())).into_values().map(|need| need.bytes).sum()
    }

    #[test]
    fn files_of_a_tree_are_counted_where_they_are_not_there_yet() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let grows = |steps: &[Step]| {
            let tree =
                Tree { items: 10, file_size: SizeSpec::Fixed(Bytes(4096)), ..Tree::default() };
            let target = Target {
                path: dir.path().join("tree"),
                kind: TargetKind::Tree,
                tree: Some(tree),
                ..Target::default()
            };
            let work = Entries { steps: steps.to_vec(), ..Entries::default() }.into();
            let jobs = vec![Job { targets: vec![target.name.clone()], work, ..Job::default() }];
            let phases = vec![Phase { jobs, ..Phase::default() }];
            let plan = Plan { targets: vec![target], phases, ..Plan::default() };
            tree_growth(&Upcoming::all(&plan, &Lists::default()), &plan.targets[0])
        };
        assert_eq!(grows(&[Step::Create]), (0, 10));
        assert_eq!(grows(&[Step::Create, Step::Write, Step::Close]), (40_960, 10));
        assert_eq!(grows(&[Step::Create, Step::Fallocate, Step::Close]), (40_960, 10));
        assert_eq!(grows(&[Step::Stat]), (40_960, 10), "laid out");
        std::fs::create_dir_all(dir.path().join("tree/f0")).expect("made");
        assert_eq!(grows(&[Step::Stat]), (0, 0), "it may all be there");
    }

    #[test]
    fn what_would_be_laid_out_or_written_is_counted_once() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let path = dir.path().join("file");
        let (all, time) = (Stop::default(), Stop { time: Some(Nanos(1)), ..Stop::default() });
        let some = Stop { bytes: Some(Bytes(1 << 20)), ..Stop::default() };
        let full = Stop { until_full: true, ..Stop::default() };
        for (layout, mix, stop, wanted) in [
            (Layout::Needed, Mix::READ, &time, PIB),
            (Layout::Needed, Mix::WRITE, &all, PIB),
            (Layout::Needed, Mix::WRITE, &some, 1 << 20),
            (Layout::Needed, Mix::WRITE, &full, 0),
            (Layout::Allocate, Mix::WRITE, &some, PIB),
            (Layout::Sparse, Mix::READ, &all, 0),
            (Layout::Sparse, Mix::WRITE, &all, PIB),
            (Layout::Sparse, Mix::WRITE, &time, 0),
            (Layout::Never, Mix::WRITE, &time, 0),
        ] {
            let plan = plan(&path, layout, mix, stop.clone());
            assert_eq!(bytes(&plan), wanted, "{layout:?} {mix:?} {stop:?}");
        }
        let mut twice = plan(&path, Layout::Write, Mix::WRITE, all);
        twice.phases.push(twice.phases[0].clone());
        twice.targets.push(Target { name: "same".into(), ..twice.targets[0].clone() });
        twice.phases[0].jobs[0].targets.push("same".into());
        assert_eq!(bytes(&twice), PIB);
        let file = std::fs::File::create(&path).expect("made");
        file.set_len(1 << 20).expect("sized");
        assert_eq!(bytes(&twice), PIB - (1 << 20), "less what is there");
    }

    #[test]
    fn too_little_is_told_with_figures_and_a_remedy() {
        let dir = tempfile::tempdir().expect("a scratch directory");
        let mut plan = plan(&dir.path().join("a/b"), Layout::Write, Mix::READ, Stop::default());
        let refused = check(&Upcoming::all(&plan, &Lists::default())).expect_err("a pebibyte");
        assert_eq!(refused.exit_code(), 3);
        let sentence = refused.to_string();
        for word in ["1 PiB", "are free there", "--size"] {
            assert!(sentence.contains(word), "no {word}: {sentence}");
        }
        plan.targets[0].size = Some(Bytes(1));
        assert!(check(&Upcoming::all(&plan, &Lists::default())).is_ok());
    }
}
