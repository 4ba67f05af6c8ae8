//! The targets of a phase before it runs: files, counters, pages in the cache.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candor_blocks::Known;
use candor_blocks::layout::{self, Wanted};
use candor_blocks::targets::files;
use candor_blocks::targets::passthrough::Device;
use candor_engine::names::{self, Names};
use candor_entries::Lists;
use candor_observe::{Access, Paths, Roots, accounting_probe, cache};
use candor_plan::{Blocks, Engine, Job, PathText, Phase, Plan, Target};
use candor_record::facts::{AccountingOutcome, Missing, PathKind};
use candor_record::{Event, Facts, Note, PrepareStep};

use crate::control::Control;
use crate::error::RunError;
use crate::events::Events;
use crate::owned_files::OwnedFiles;

/// A job of a phase, with its work.
#[derive(Clone, Copy)]
pub struct Work<'a> {
    /// Place of the job in the phase.
    pub at: usize,
    /// The job.
    pub job: &'a Job,
    /// Work on data that it does.
    pub blocks: &'a Blocks,
}

/// The targets of a phase that have files or devices, with the work on each.
pub fn targets<'a>(plan: &'a Plan, phase: &'a Phase) -> Vec<(usize, &'a Target, Vec<Work<'a>>)> {
    let work = |target: &'a Target| -> Vec<Work<'a>> {
        let jobs = phase.jobs.iter().enumerate();
        jobs.filter(|(_, job)| job.targets.contains(&target.name))
            .filter_map(|(at, job)| Some(Work { at, job, blocks: job.blocks()? }))
            .filter(|work| !files::is_null(target, work.blocks))
            .collect()
    };
    plan.targets
        .iter()
        .enumerate()
        .map(|(index, target)| (index, target, work(target)))
        .filter(|(.., work)| !work.is_empty())
        .collect()
}

/// The files of a phase.
#[derive(Clone, Debug)]
pub struct PhaseFiles(Arc<Names>);

impl PhaseFiles {
    /// Those of the targets that a phase works on.
    pub fn of(plan: &Plan, phase: &Phase) -> PhaseFiles {
        let targets = targets(plan, phase).into_iter().map(|(_, target, _)| target);
        PhaseFiles(Arc::new(Names::of(targets)))
    }
}

impl Paths for PhaseFiles {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn path(&self, number: usize) -> PathBuf {
        self.0.name(number).path
    }
}

/// Reads the files of a phase as they now are, and proves each target's counters once.
pub fn refresh(facts: &mut Facts, plan: &Plan, lists: &Lists, phase: &Phase, roots: &Roots) {
    count_names(facts, plan, lists, phase);
    for (index, target, work) in targets(plan, phase) {
        find_device(facts, index, target, &work, roots);
        // Files of a large set are alike; a few stand for all.
        const FILES_MAX: usize = 32;
        let names = Names::of([target]);
        let paths: Vec<_> = names.iter().take(FILES_MAX).map(|named| named.path).collect();
        let seen = paths.iter().filter_map(|path| candor_observe::file_facts(path).ok()).collect();
        if let Some(target_facts) = facts.targets.get_mut(index) {
            target_facts.files = seen;
            target_facts.files_in_all = Some(names.count() as u64);
            let is_set = paths.len() > 1;
            target_facts.shared_bytes =
                is_set.then(|| candor_observe::shared_bytes(&paths)).flatten();
            if target_facts.kind == PathKind::Missing && target.path.is_file() {
                target_facts.kind = PathKind::File;
            }
        }
        let proven = facts.targets.get(index).and_then(|t| t.accounting_probe.as_ref());
        let mut engines = work.iter().map(|work| work.blocks.engine);
        let commanding = engines.find(Engine::is_passthrough);
        let settled = proven.is_some_and(|probe| {
            probe.passthrough == commanding.is_some()
                && matches!(
                    probe.outcome,
                    AccountingOutcome::Counted | AccountingOutcome::CountedBelow
                )
        });
        if let (false, Some(path)) = (settled, paths.first()) {
            prove(facts, index, path, commanding.as_ref(), roots);
            prove_where_made(facts, index, path, &work, roots);
        }
    }
}

/// Finds what holds the bytes of a target in this phase; another device has yet to be proven.
fn find_device(facts: &mut Facts, index: usize, target: &Target, work: &[Work], roots: &Roots) {
    let writes = work.iter().any(|work| work.blocks.destroys().is_some());
    let access = if writes { Access::Write } else { Access::Read };
    let Some(path) = names::paths(target).next() else { return };
    if candor_observe::inspect_again(facts, index, &path, access, roots) {
        facts.targets[index].accounting_probe = None;
    }
    search_device(facts, index, &path, access, roots);
}

/// Searches the device behind a filesystem that names none, by reads. Where the phase is to write,
/// and its file has nothing to read yet, a small file of our own stands for it.
fn search_device(facts: &mut Facts, index: usize, path: &Path, access: Access, roots: &Roots) {
    let is_unknown = facts.targets.get(index).is_some_and(candor_observe::names_no_device);
    // Opening a pipe would wait for whoever holds its other end.
    if !is_unknown || (path.exists() && !path.is_file()) {
        return;
    }
    let mut found = accounting_probe::device_behind(path, access, roots);
    let has_nothing = found.as_ref().is_err_and(|error| error.nothing_to_read);
    if let (true, Access::Write, Some(directory)) = (has_nothing, access, path.parent()) {
        found = on_own_file(directory, |file| accounting_probe::device_behind(file, access, roots))
            .unwrap_or(found);
    }
    candor_observe::take_search(facts, index, found, roots);
}

/// Counts the names beside those that a phase works on, and its own where they are listed.
fn count_names(facts: &mut Facts, plan: &Plan, lists: &Lists, phase: &Phase) {
    let on_names = phase.jobs.iter().filter(|job| job.entries().is_some());
    for name in on_names.flat_map(|job| &job.targets) {
        let Some(index) = plan.targets.iter().position(|target| target.name == *name) else {
            continue;
        };
        let path = &plan.targets[index].path;
        let directory = if path.is_dir() { Some(path.as_path()) } else { path.parent() };
        if let (Some(target), Some(directory)) = (facts.targets.get_mut(index), directory) {
            target.names_in_directory = candor_observe::names_in(directory);
        }
        if let (Some(target), Some(list)) =
            (facts.targets.get_mut(index), lists.known(&plan.targets[index]))
        {
            target.files_in_all = Some(list.files());
        }
    }
}

/// Makes the accounting probe on a file or device and keeps what it showed: by a command past the
/// block layer, where an engine works so.
fn prove(facts: &mut Facts, index: usize, path: &Path, engine: Option<&Engine>, roots: &Roots) {
    if !path.exists() {
        return;
    }
    let device = engine.map(|engine| commanded(path, engine));
    let read = |buffer: &mut [u8], offset: u64| match &device {
        Some(Ok((file, device))) => device.read(file, buffer, offset),
        Some(Err(error)) => Err(error.kind().into()),
        None => Err(std::io::ErrorKind::Unsupported.into()),
    };
    let command: Option<&accounting_probe::ByCommand<'_>> = device.as_ref().map(|_| &read as _);
    let (probe, missing) = accounting_probe::probe(facts, index, path, command, roots);
    if let Some(target) = facts.targets.get_mut(index) {
        target.accounting_probe = Some(probe);
    }
    // The last try counts: a file that was empty may have been written since.
    let of_this = format!("accounting probe of {}", path.text());
    facts.missing.retain(|known| known.what != of_this);
    facts.missing.extend(missing);
}

/// Proves the counters for a file that workers make in the phase: a small file of our own in its
/// directory stands for it. What cannot be proven is not verifiable, and keeps no run from going
/// on.
fn prove_where_made(
    facts: &mut Facts,
    index: usize,
    path: &Path,
    work: &[Work<'_>],
    roots: &Roots,
) {
    let makes = |work: &Work| work.blocks.opening.is_in_phase() && work.blocks.destroys().is_some();
    let Some(directory) = path.parent().filter(|_| !path.exists() && work.iter().any(makes)) else {
        return;
    };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let proven = on_own_file(directory, |file| prove(facts, index, file, None, roots));
    if let Err(why) = proven {
        unproven(facts, directory, &why);
    }
}

/// A device that takes the commands of an engine.
fn commanded(path: &Path, engine: &Engine) -> std::io::Result<(File, Device)> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    let device = Device::identify(&file, engine)?;
    Ok((file, device))
}

/// Proves the counters of a path for an inspection: in a directory, on a small file of our own.
pub fn prove_path(facts: &mut Facts, index: usize, path: &Path, roots: &Roots) {
    let kind = facts.targets.get(index).map(|target| target.kind);
    let mut look = |file: &Path| {
        search_device(facts, index, file, Access::Read, roots);
        prove(facts, index, file, None, roots);
    };
    if kind != Some(PathKind::Directory) {
        return look(path);
    }
    if let Err(why) = on_own_file(path, look) {
        unproven(facts, path, &why);
    }
}

/// Does something with a written file of 1 MiB in a directory, which is removed then.
fn on_own_file<T>(directory: &Path, act: impl FnOnce(&Path) -> T) -> Result<T, String> {
    const PROBE_BYTES: u64 = 1 << 20;
    let wanted = Wanted::written(PROBE_BYTES, u64::from(std::process::id()));
    let mut files = OwnedFiles::default();
    let probe = files.create_probe(directory).map_err(|error| error.to_string())?;
    let control = Control::default();
    let stop = control.stop_flag();
    let laid_out = layout::lay_out(&mut Known::default(), &probe, &wanted, stop, &mut |_| {});
    if let Some(file) = laid_out.map_err(|error| error.to_string())? {
        file.sync_all().map_err(|error| error.to_string())?;
    }
    Ok(act(&probe))
}

/// Files whose pages in the cache the kernel does not report to this user, all in one.
pub fn unreadable_pages(files: &PhaseFiles) -> Option<Missing> {
    let mut found = files.0.iter().map(|named| named.path).filter(|path| {
        cache::look(path).is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied)
    });
    let first = found.next()?;
    let first = first.text();
    let what = match found.count() {
        0 => format!("pages of {first} in the page cache"),
        more => format!("pages of {first} and {more} more files in the page cache"),
    };
    Some(Missing {
        what,
        why: "the kernel reports them only to users with write access to the file".into(),
        enable: "root, or the owner of the file".into(),
    })
}

/// Whether something is missing because an accounting probe showed nothing.
pub fn is_of_accounting_probe(missing: &Missing) -> bool {
    missing.what.starts_with("accounting probe of ")
}

fn unproven(facts: &mut Facts, path: &Path, why: &str) {
    facts.missing.push(Missing {
        what: format!("accounting probe of {}", path.text()),
        why: why.into(),
        enable: "make the directory writable".into(),
    });
}

/// Drops the files of work that asks for it from the page cache; a note where pages stay.
pub fn evict(plan: &Plan, phase: &Phase, events: &Events) -> Result<Vec<Note>, RunError> {
    let mut notes = Vec::new();
    for (_, target, work) in targets(plan, phase) {
        if !work.iter().any(|work| work.blocks.hints.evict) {
            continue;
        }
        for path in names::paths(target).filter(|path| path.exists()) {
            preparing_to_evict(&path, phase, events);
            notes.extend(stayed(&path, phase, evict_one(&path)?));
        }
    }
    let evicting = phase.jobs.iter().filter(|job| job.entries().is_some_and(|work| work.evict));
    let names: Vec<&String> = evicting.flat_map(|job| &job.targets).collect();
    for target in plan.targets.iter().filter(|target| names.contains(&&target.name)) {
        for root in names::paths(target).filter(|path| path.exists()) {
            preparing_to_evict(&root, phase, events);
            notes.extend(stayed(&root, phase, evict_all(&root)?));
        }
    }
    Ok(notes)
}

/// Pages that an eviction left in the page cache.
#[derive(Clone, Copy, Default)]
struct Left {
    bytes: u64,
    rounds: u32,
}

fn preparing_to_evict(path: &Path, phase: &Phase, events: &Events) {
    events.send(Event::Preparing {
        phase: phase.name.clone(),
        step: PrepareStep::Evict,
        what: path.text(),
        bytes_done: 0,
        bytes_total: 0,
    });
}

fn evict_one(path: &Path) -> Result<Left, RunError> {
    let evicted = cache::evict(path).map_err(RunError::file("drop from the page cache", path))?;
    Ok(Left { bytes: evicted.after.resident_bytes, rounds: evicted.rounds })
}

/// Drops a file, or every file below a directory.
fn evict_all(path: &Path) -> Result<Left, RunError> {
    if !path.is_dir() {
        return evict_one(path);
    }
    let mut all = Left::default();
    for entry in fs::read_dir(path).map_err(RunError::file("read", path))? {
        let entry = entry.map_err(RunError::file("read", path))?;
        let kind = entry.file_type().map_err(RunError::file("read", &entry.path()))?;
        if kind.is_dir() || kind.is_file() {
            let left = evict_all(&entry.path())?;
            all.bytes += left.bytes;
            all.rounds = all.rounds.max(left.rounds);
        }
    }
    Ok(all)
}

/// A note on pages that an eviction left.
fn stayed(path: &Path, phase: &Phase, left: Left) -> Option<Note> {
    (left.bytes > 0).then(|| Note {
        asked: format!("drop `{}` from the page cache before `{}`", path.text(), phase.name),
        did: format!("{} bytes stayed after {} rounds", left.bytes, left.rounds),
        why: "pages that are dirty, being written, or mapped by a process cannot be dropped".into(),
        place: None,
    })
}

/// Reads the files of work that asks for it once, so that they are in the page cache.
pub fn pre_read(plan: &Plan, phase: &Phase, control: &Control) -> Result<(), RunError> {
    const CHUNK_BYTES: usize = 1 << 20;
    let mut buffer = Vec::new();
    for (_, target, work) in targets(plan, phase) {
        if !work.iter().any(|work| work.blocks.hints.pre_read) {
            continue;
        }
        buffer.resize(CHUNK_BYTES, 0);
        for path in names::paths(target).filter(|path| path.exists()) {
            let mut file = File::open(&path).map_err(RunError::file("read", &path))?;
            while !control.is_stopped()
                && file.read(&mut buffer).map_err(RunError::file("read", &path))? > 0
            {}
        }
    }
    Ok(())
}
