//! Order of the phases, and the syncs and cache drops between them.

use candor_plan::blocks::Flow;
use candor_plan::entries::{Entries, Over, Step};
use candor_plan::{Create, Job, PathText, Program, RankPart, Target, TargetKind, Work, path_of};

use super::Context;
use crate::setup::{BenchPhase, PathKind, PhaseKind, READERS, Setup};

/// Name of the target that is synced.
const SYNCED: &str = "filesystem of ";

/// A phase, if it is wanted.
pub(super) type Wanted = (bool, PhaseKind);

/// All phases of files in their order.
pub(super) fn of_files(setup: &Setup) -> Vec<Wanted> {
    let asked = setup.asked.phases;
    vec![
        (asked.make_dirs, PhaseKind::MakeDirs),
        (asked.write, PhaseKind::Write),
        (asked.stat, PhaseKind::Stat),
        (asked.read, PhaseKind::Read),
        (asked.remove_files, PhaseKind::RemoveFiles),
        (asked.remove_dirs, PhaseKind::RemoveDirs),
    ]
}

/// The wanted phases in order: syncs and cache drops come before the first phase and after each
/// phase.
pub(super) fn order(setup: &Setup, all: Vec<Wanted>) -> Vec<BenchPhase> {
    let run = &setup.asked.run;
    let chores = [(run.sync, PhaseKind::Sync), (run.drop_caches, PhaseKind::DropCaches)];
    let chores = chores.into_iter().filter(|(wanted, _)| *wanted).map(|(_, kind)| kind);
    let wanted = all.into_iter().filter(|(wanted, _)| *wanted).map(|(_, kind)| kind);
    let kinds = chores.clone().chain(wanted.flat_map(|kind| {
        let then = chores.clone();
        std::iter::once(kind).chain(then)
    }));
    kinds.map(|kind| BenchPhase { kind, name: name(setup, kind) }).collect()
}

/// The name of a phase in tables.
fn name(setup: &Setup, kind: PhaseKind) -> String {
    let (mix, tree) = (&setup.asked.mix, &setup.asked.tree);
    let is_store = setup.store.is_some();
    let inline = || {
        let stat = if tree.stat_inline { "+s" } else { "" };
        let read = if tree.read_inline && kind == PhaseKind::Write { "+r" } else { "" };
        let of_files = setup.path_kind == PathKind::Directory;
        if of_files { format!("{stat}{read}") } else { String::new() }
    };
    match kind {
        PhaseKind::Sync => "SYNC".to_owned(),
        PhaseKind::DropCaches => "DROPCACHE".to_owned(),
        PhaseKind::OfStore(phase) => phase.name().to_owned(),
        PhaseKind::MakeDirs if is_store => "MKBUCKETS".to_owned(),
        PhaseKind::Stat if is_store => "HEADOBJ".to_owned(),
        PhaseKind::RemoveFiles if is_store => "RMOBJECTS".to_owned(),
        PhaseKind::RemoveDirs if is_store => "RMBUCKETS".to_owned(),
        PhaseKind::MakeDirs => "MKDIRS".to_owned(),
        PhaseKind::Write => match (mix.read_threads, mix.read_percent) {
            (Some(readers), _) => format!("MIX-T{readers}{}", inline()),
            (None, Some(percent)) => format!("RWMIX{percent}{}", inline()),
            (None, None) => format!("WRITE{}", inline()),
        },
        PhaseKind::Stat => "STAT".to_owned(),
        PhaseKind::Read => format!("READ{}", inline()),
        PhaseKind::RemoveFiles => "RMFILES".to_owned(),
        PhaseKind::RemoveDirs => "RMDIRS".to_owned(),
    }
}

/// Directories to sync, each once; devices are flushed directly.
fn synced(setup: &Setup) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for path in &setup.asked.paths {
        let directory = match setup.path_kind {
            PathKind::File => match path_of(path).parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent.text(),
                _ => ".".to_owned(),
            },
            PathKind::Directory | PathKind::BlockDevice => path.clone(),
        };
        if !all.contains(&directory) {
            all.push(directory);
        }
    }
    all
}

/// The targets of the syncs.
pub(super) fn targets(setup: &Setup) -> Vec<Target> {
    let has_directories = setup.path_kind != PathKind::BlockDevice && setup.store.is_none();
    let of_names = setup.asked.run.sync && has_directories;
    let wanted = of_names.then(|| synced(setup));
    let target = |path: String| Target {
        name: format!("{SYNCED}{path}"),
        path: path_of(&path),
        kind: TargetKind::File,
        create: Create::Nothing,
        keep: true,
        ..Target::default()
    };
    wanted.into_iter().flatten().map(target).collect()
}

/// Job of a sync or cache drop: the first worker alone runs it.
pub(super) fn chore(context: &Context<'_>, kind: PhaseKind) -> Vec<Job> {
    let setup = context.setup;
    if kind == PhaseKind::DropCaches {
        let drops = ["sh", "-c", "echo 3 > /proc/sys/vm/drop_caches"].map(str::to_owned);
        return vec![program("drop caches", drops.into())];
    }
    if setup.store.is_some() {
        // All filesystems of the host, like elbencho: a bucket is on none of them.
        return vec![program("sync", vec!["sync".to_owned()])];
    }
    if setup.path_kind == PathKind::BlockDevice {
        // A device node's filesystem does not contain the device's data.
        let command = std::iter::once("sync".to_owned()).chain(synced(setup)).collect();
        return vec![program("sync", command)];
    }
    let (over, steps) = (Over::TargetDirectories, vec![Step::Syncfs]);
    let work = Entries { over, steps, ..Entries::default() }.into();
    let targets = synced(setup).into_iter().map(|path| format!("{SYNCED}{path}")).collect();
    vec![Job { name: "sync".into(), targets, work, ..Job::default() }]
}

/// A job that lasts as long as a program.
fn program(name: &str, command: Vec<String>) -> Job {
    let work = Work::Program(Program { command, until_end: true, ..Program::default() });
    Job { name: name.into(), work, ..Job::default() }
}

/// Readers, which have the first ranks, and writers; both keep their share of bytes if shares are
/// requested.
pub(super) fn readers_and_writers(
    setup: &Setup,
    job: impl Fn(&str, u32, PhaseKind) -> Job,
) -> Vec<Job> {
    let (threads, readers) = (setup.asked.run.threads, setup.asked.mix.read_threads.unwrap_or(0));
    let part = |first: u32, job: Job| {
        let part = RankPart { first: first.into(), of: threads.into() };
        Job { part: Some(part), ..job }
    };
    let writers = threads.saturating_sub(readers);
    let both = [
        part(readers, job("writers", writers, PhaseKind::Write)),
        part(0, job(READERS, readers, PhaseKind::Read)),
    ];
    let mut jobs = balanced(setup, both);
    jobs.retain(|job| job.workers > 0);
    jobs
}

fn balanced(setup: &Setup, mut both: [Job; 2]) -> Vec<Job> {
    let share = setup.asked.mix.read_threads_percent;
    let shares = [100 - share, share].map(u32::from);
    for (job, weight) in both.iter_mut().zip(shares).filter(|_| share > 0) {
        let flow = Some(Flow { weight, bytes: true, together: true, ..Flow::default() });
        match &mut job.work {
            Work::Blocks(blocks) => blocks.pace.flow = flow,
            Work::Entries(entries) => entries.pace.flow = flow,
            Work::Objects(objects) => objects.pace.flow = flow,
            Work::Program(_) | Work::Burn(_) | Work::Memory(_) => {}
        }
    }
    both.into()
}
