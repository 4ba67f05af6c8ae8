//! Files: names, sizes and creation.

mod zones;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candor_plan::blocks::{Advice, Pieces, Range, WriteLife};
use candor_plan::check::{FILES_MAX, NUMBERED_MAX};
use candor_plan::entries::Over;
use candor_plan::units::Extent;
use candor_plan::{
    Blocks, Bytes, Create, Engine, FileName, Layout, Member, PathText, Plan, Target, TargetKind,
    path_of,
};

use super::instance::{Instance, mixed};
use super::names::{self, Paths};
use crate::lower::offsets::zones::in_bytes;
use crate::options::{self, Amount, Fallocate, FileType, WriteHint};
use candor_front::{Diagnostics, Found, Host};

/// The targets of a clone. Sets the range of each that is used, too.
pub(super) fn lower(
    from: &Instance<'_>,
    plan: &Plan,
    blocks: &mut Blocks,
    diagnostics: &mut Diagnostics,
) -> Vec<Target> {
    let number = from.options.files.number.max(1);
    blocks.hints.advice = advice(from, blocks);
    blocks.hints.write_life = write_life(from);
    if blocks.uses_targets() {
        existing_directories(from, diagnostics);
    }
    let most = if super::engines::entries(from).is_some() { NUMBERED_MAX } else { FILES_MAX };
    if number > most.into() {
        let message = format!("{number} files are more than {most}");
        diagnostics.wrong(from, "nrfiles", message, "use fewer");
        return Vec::new();
    }
    let files = files(from, number, blocks, diagnostics);
    let given = lengths(from, files.count(), blocks, diagnostics);
    // A share of a missing file is created alone.
    let percent = match from.options.area.size {
        Some(Amount::Percent(percent)) => Some(percent),
        _ => None,
    };
    let has_size = from.options.files.size.is_some();
    let makes_share =
        percent.is_some() && has_size && files.iter().all(|file| file.found == Found::Nothing);
    let start = start(from, plan, &files, blocks, diagnostics);
    // A file's size includes the bytes before the offset.
    let before = if has_size { start_bytes(start) } else { 0 };
    let length = |nth: u64| {
        let made = percent.filter(|_| makes_share).unwrap_or(100);
        given(nth).map(|length| share(length, made).saturating_sub(before))
    };
    let first = length(0).filter(|_| (1..files.count()).all(|nth| length(nth) == length(0)));
    blocks.range = Range {
        start,
        start_align: Some(Bytes(from.options.area.offset_align)).filter(|align| align.0 > 0),
        length: first.map(|bytes| Extent::Bytes(Bytes(bytes))),
    };
    if let Some(percent) = percent.filter(|_| !makes_share) {
        blocks.range.length = Some(Extent::Percent(f64::from(percent)));
    }
    zones::fit(from, &files, blocks, diagnostics);
    let used = match &files.paths {
        Paths::Listed(_) => holding(from, &files, &length, start, blocks, diagnostics),
        Paths::Numbered(..) => Vec::new(),
    };
    let mut target =
        |file: &File, nth| target(from, plan, file, length(nth), start, blocks, diagnostics);
    match &files.paths {
        Paths::Listed(_) => sets(used.iter().map(|(file, nth)| target(file, *nth)).collect()),
        Paths::Numbered(name, _) => numbered(name, &files, &length, target),
    }
}

/// Files of a list that can hold an operation, with their numbers. fio skips smaller files of
/// several. Without any, all files, which ends the job.
fn holding(
    from: &Instance<'_>,
    files: &Files<'_>,
    length: &dyn Fn(u64) -> Option<u64>,
    start: Extent,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) -> Vec<(File, u64)> {
    let used = blocks.size.iter().filter(|(op, _)| blocks.mix.of(*op) > 0);
    let needed = used.map(|(_, size)| size.min().0).max().unwrap_or(0);
    let all = || files.iter().zip(0..);
    let (kept, out): (Vec<_>, Vec<_>) = all().partition(|(file, nth)| {
        length(*nth)
            .or(file.found.bytes().map(|bytes| bytes.saturating_sub(start.of(Bytes(bytes)).0)))
            .is_none_or(|bytes| bytes >= needed)
    });
    if kept.is_empty() || out.is_empty() {
        return all().collect();
    }
    let names: Vec<_> = out.iter().map(|(file, _)| file.path.text()).collect();
    let did =
        format!("left out, because they hold less than {}: {}", Bytes(needed), names.join(", "));
    diagnostics.note(from, "bs", &did, "fio skips files that hold no operation");
    kept
}

/// Numbered files that are alike, as one target.
fn numbered(
    name: &FileName,
    files: &Files<'_>,
    length: &dyn Fn(u64) -> Option<u64>,
    mut target: impl FnMut(&File, u64) -> Target,
) -> Vec<Target> {
    let mut sets: Vec<Target> = Vec::new();
    let mut last = None;
    for (file, nth) in files.iter().zip(0..) {
        let is_file = matches!(file.found, Found::Nothing | Found::File(_));
        let alike = is_file.then_some((length(nth), file.found == Found::Nothing));
        match sets
            .last_mut()
            .filter(|set| alike.is_some() && alike == last && set.kind != TargetKind::Device)
        {
            Some(set) => set.files += 1,
            None => sets.push(Target { first_file: nth as u32, ..target(&file, nth) }),
        }
        last = alike;
    }
    sets.into_iter().map(|set| numbered_set(name, set)).collect()
}

/// The target of as many files as the first one represents.
fn numbered_set(name: &FileName, first: Target) -> Target {
    if first.files == 1 {
        return Target { first_file: 0, ..first };
    }
    let name_of_set = format!("{} and {} more", first.name, first.files - 1);
    if first.kind == TargetKind::Null {
        return Target { name: name_of_set, file_name: Some(name.clone()), ..first };
    }
    let (directory, file_name) = name.split();
    let path = match directory.trim_end_matches('/') {
        "" if directory.is_empty() => ".",
        "" => "/",
        directory => directory,
    };
    Target {
        name: name_of_set,
        path: path_of(path),
        kind: TargetKind::FileSet,
        file_name: Some(file_name),
        ..first
    }
}

/// Files of a clone: named or generated files, and all files below `opendir`. fio uses a file below
/// `opendir` that is shorter than an operation only if it gets a share of the size, and extends it.
fn files<'a>(
    from: &'a Instance<'_>,
    number: u64,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) -> Files<'a> {
    let given = &from.options.files;
    let host = Some(from.host).filter(|_| blocks.uses_targets());
    let listed = |paths| Files { host, paths: Paths::Listed(paths) };
    let Some(directory) = given.opendir.as_deref().map(Path::new) else {
        return Files { host, paths: names::paths(from, number) };
    };
    if from.host.found(directory) != Found::Directory {
        diagnostics.refuse(from, "opendir", &format!("{} is not a directory", directory.text()));
        return listed(Vec::new());
    }
    let mut paths = match names::paths(from, number) {
        Paths::Listed(paths) if !given.names.is_empty() => paths,
        _ => Vec::new(),
    };
    let grows = from.options.area.size.is_some() || given.size.is_some();
    let holds = |path: &PathBuf| host.and_then(|host| host.found(path).bytes());
    paths.extend(
        from.host
            .files_below(directory)
            .into_iter()
            .filter(|path| grows || holds(path) >= Some(smallest(blocks))),
    );
    if paths.is_empty() {
        let message = format!("there is no file to use below {}", directory.text());
        diagnostics.wrong(from, "opendir", message, "name a directory that has some");
    }
    listed(paths)
}

/// Files in one directory as one target.
fn sets(targets: Vec<Target>) -> Vec<Target> {
    let mut sets: Vec<Vec<Target>> = Vec::new();
    for target in targets {
        let goes_with = |set: &&mut Vec<Target>| {
            let apart = |target: &Target| Target {
                name: String::new(),
                path: target.path.parent().map(Path::to_owned).unwrap_or_default(),
                size: None,
                ..target.clone()
            };
            let is_file = target.kind == TargetKind::File;
            is_file && set.first().is_some_and(|first| apart(first) == apart(&target))
        };
        match sets.last_mut().filter(goes_with) {
            Some(set) => set.push(target),
            None => sets.push(vec![target]),
        }
    }
    sets.into_iter().filter_map(set).collect()
}

/// One target of one or several files of a directory.
fn set(mut files: Vec<Target>) -> Option<Target> {
    let first = files.first()?.clone();
    if files.len() == 1 {
        return files.pop();
    }
    let directory = match first.path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        parent => parent.map(Path::to_owned).unwrap_or_default(),
    };
    Some(Target {
        name: format!("{} and {} more", first.name, files.len() - 1),
        path: directory,
        kind: TargetKind::FileSet,
        size: None,
        members: files
            .iter()
            .map(|file| Member {
                name: file.path.file_name().unwrap_or_default().text(),
                size: file.size,
            })
            .collect(),
        ..first
    })
}

/// More than any filesystem holds.
const ENDLESS: Bytes = Bytes(1 << 62);

/// Files of a clone; reads properties of a file from the host on demand.
pub(super) struct Files<'a> {
    /// The host; `None` for a simulation.
    host: Option<&'a dyn Host>,
    paths: Paths,
}

impl Files<'_> {
    fn count(&self) -> u64 {
        self.paths.count()
    }

    /// The files, in order.
    pub fn iter(&self) -> impl Iterator<Item = File> + '_ {
        (0..self.count()).map(|nth| {
            let path = self.paths.path(nth);
            let found = self.host.map_or(Found::Nothing, |host| host.found(&path));
            File { path, found }
        })
    }
}

/// A file of a clone.
pub(super) struct File {
    /// Path.
    pub path: PathBuf,
    /// The file as the host has it.
    pub found: Found,
}

fn write_life(from: &Instance<'_>) -> Option<WriteLife> {
    match from.options.files.write_hint {
        WriteHint::Unset => None,
        WriteHint::None => Some(WriteLife::None),
        WriteHint::Short => Some(WriteLife::Short),
        WriteHint::Medium => Some(WriteLife::Medium),
        WriteHint::Long => Some(WriteLife::Long),
        WriteHint::Extreme => Some(WriteLife::Extreme),
    }
}

fn advice(from: &Instance<'_>, blocks: &Blocks) -> Pieces<Advice> {
    // Direct I/O has no page cache to advise.
    if blocks.engine.is_passthrough() {
        return Pieces::default();
    }
    Pieces::one(match from.options.files.advice {
        options::Advice::None => return Pieces::default(),
        options::Advice::Random => Advice::Random,
        options::Advice::Sequential => Advice::Sequential,
        options::Advice::Noreuse => Advice::Noreuse,
        options::Advice::ByPattern if blocks.access.is_random() => Advice::Random,
        options::Advice::ByPattern => Advice::Sequential,
    })
}

/// Refuses missing directories, which are not created; the job would fail much later.
fn existing_directories(from: &Instance<'_>, diagnostics: &mut Diagnostics) {
    for directory in &from.options.files.directories {
        if from.host.found(&path_of(directory)) != Found::Directory {
            let message = format!("{directory} is not a directory");
            diagnostics.wrong(from, "directory", message, "make it first");
        }
    }
}

/// Bytes to use of a file, by its number; absent for all bytes.
fn lengths(
    from: &Instance<'_>,
    files: u64,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) -> Box<dyn Fn(u64) -> Option<u64>> {
    let given = from.options;
    let unit = smallest(blocks).max(1);
    if let Some((low, high)) = given.files.size {
        let span = high.saturating_sub(low).saturating_add(1);
        let seed = given.random.seed ^ from.number.wrapping_mul(0x9e37_79b9);
        let drawn = move |nth: u64| low + mixed(seed ^ (nth + 1)) % span.max(1);
        if low == high {
            return Box::new(move |_| Some(low));
        }
        // Whole blocks, at least one.
        let whole = move |size: u64| (size / unit * unit).max(unit.min(high));
        return Box::new(move |nth| Some(whole(drawn(nth))));
    }
    let size = given.area.size.map(|size| in_bytes(from, size, "size", diagnostics));
    let Some(Amount::Bytes(size)) = size else { return Box::new(|_| None) };
    let each = size / files.max(1);
    // Blocks that do not divide evenly make the first files larger, a block each.
    let larger = (size - each * files) / unit;
    let length = move |nth: u64| if nth < larger { each + unit } else { each };
    Box::new(move |nth| Some(length(nth)).filter(|length| *length > 0))
}

fn smallest(blocks: &Blocks) -> u64 {
    let used = blocks.size.iter().filter(|(op, _)| blocks.mix.of(*op) > 0);
    used.map(|(_, size)| size.min().0).min().unwrap_or(1)
}

/// Writes append at the end of the file at the start of the phase. Mixed reads need a layout after
/// it, so the end must be known earlier ([`behind`]).
fn appends(from: &Instance<'_>) -> bool {
    from.options.files.append && !from.options.rw.direction.reads()
}

/// The common end of files that are read after it.
fn behind(
    from: &Instance<'_>,
    plan: &Plan,
    files: &Files<'_>,
    diagnostics: &mut Diagnostics,
) -> Extent {
    let end = |file: File| match made_before(plan, &file.path) {
        Some(size) => size.max(file.found.bytes()),
        None => file.found.bytes().or(Some(0)),
    };
    let mut ends = files.iter().map(end);
    match ends.next().flatten() {
        Some(first) if ends.all(|end| end == Some(first)) => Extent::Bytes(Bytes(first)),
        _ => {
            diagnostics.refuse(from, "file_append", "files that are read end at different places");
            Extent::Bytes(Bytes(0))
        }
    }
}

/// Start offset of a clone in each file; percentages are rounded up to a block.
fn start(
    from: &Instance<'_>,
    plan: &Plan,
    files: &Files<'_>,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) -> Extent {
    if from.options.files.append && !appends(from) {
        return behind(from, plan, files, diagnostics);
    }
    let area = &from.options.area;
    let first = files.iter().next();
    let found = first.as_ref().and_then(|file| file.found.bytes());
    // fio evaluates a percentage before it creates the file, so a percentage of a missing file is
    // 0. Without files it is a percentage of `size`.
    let known = || match first.as_ref().and_then(|file| made_before(plan, &file.path)) {
        _ if !blocks.uses_targets() => match area.size {
            Some(Amount::Bytes(bytes)) => Some(bytes / files.count().max(1)),
            _ => None,
        },
        Some(size) => size.max(found),
        None => found.or(Some(0)),
    };
    let mut bytes = |amount: Amount, option: &str| match in_bytes(from, amount, option, diagnostics)
    {
        Amount::Bytes(bytes) => Some(bytes),
        Amount::Percent(percent) => known().map(|whole| share(whole, percent)),
        Amount::Zones(_) => None,
    };
    let is_share = |amount: Amount| matches!(amount, Amount::Percent(_));
    let offset = bytes(area.offset, "offset");
    let step = bytes(area.offset_increment, "offset_increment");
    match (area.offset, offset, step) {
        (_, Some(offset), Some(step)) => {
            let start = offset.saturating_add(step.saturating_mul(from.job_number()));
            let unit = if area.offset_align > 0 { area.offset_align } else { smallest(blocks) };
            let up = is_share(area.offset) || is_share(area.offset_increment);
            let start = if up { start.checked_next_multiple_of(unit.max(1)) } else { Some(start) };
            Extent::Bytes(Bytes(start.unwrap_or(u64::MAX)))
        }
        _ if !blocks.uses_targets() => {
            let message = "a share of a size that is not set".to_owned();
            let known_as = "you need to specify valid offset=";
            diagnostics.wrong_known_as(from, "offset", message, known_as, "set size");
            Extent::Bytes(Bytes(0))
        }
        (Amount::Percent(percent), None, Some(0)) => Extent::Percent(f64::from(percent.min(100))),
        _ => {
            diagnostics.refuse(from, "offset", "a share of a file whose size is not known yet");
            Extent::Bytes(Bytes(0))
        }
    }
}

/// Size of a file after an earlier job: `None` if no earlier job uses it, an inner `None` if only
/// the run decides.
fn made_before(plan: &Plan, path: &Path) -> Option<Option<u64>> {
    let size = plan.targets.iter().filter_map(|target| target.size_of(path)).max()?;
    Some(size.map(|bytes| bytes.0))
}

/// N percent of a number of bytes, rounded down.
pub(super) fn share(whole: u64, percent: u32) -> u64 {
    (u128::from(whole) * u128::from(percent.min(100)) / 100) as u64
}

fn target(
    from: &Instance<'_>,
    plan: &Plan,
    file: &File,
    length: Option<u64>,
    start: Extent,
    blocks: &mut Blocks,
    diagnostics: &mut Diagnostics,
) -> Target {
    let name = file.path.text();
    if !blocks.uses_targets() {
        let mut size = length.map(|length| Bytes(length.saturating_add(start_bytes(start))));
        if super::engines::programs::is_one(from) {
            // Nothing lies anywhere.
            size = Some(Bytes(1 << 30));
        }
        if size.is_none() {
            let message = "no size is given, and there is no file to take it from".to_owned();
            diagnostics.wrong(from, "size", message, "set size");
        }
        return Target { name, kind: TargetKind::Null, size, ..Target::default() };
    }
    let making = &from.options.making;
    let directories = super::engines::entries(from)
        .is_some_and(|entries| entries.over == Over::TargetDirectories);
    let size = if directories {
        length.map(Bytes)
    } else {
        size(from, file, length, start, blocks, diagnostics)
    };
    // A file with neither bytes nor a size is not made: the job fails when it begins, alone.
    // A file that is never opened is never made on opening.
    let only_named = super::engines::entries(from).is_some_and(|entries| entries.needs_names());
    let made = making.allowed
        && !(making.on_open && only_named)
        && file.found != Found::Character
        && (size.is_some() || file.found != Found::Nothing);
    Target {
        name,
        path: file.path.clone(),
        kind: kind(from, file, diagnostics),
        size,
        layout: if !made {
            Layout::Never
        } else if reads_beyond(from, plan, file, size, blocks, diagnostics) {
            Layout::Sparse
        } else {
            layout(from, blocks)
        },
        create: if made { Create::Parents } else { Create::Nothing },
        append: appends(from),
        keep: true,
        remove: making.unlink,
        overwrite: true,
        scheduler: from.options.files.scheduler.clone(),
        ..Target::default()
    }
}

fn start_bytes(start: Extent) -> u64 {
    if let Extent::Bytes(bytes) = start { bytes.0 } else { 0 }
}

fn kind(from: &Instance<'_>, file: &File, diagnostics: &mut Diagnostics) -> TargetKind {
    match from.options.files.kind {
        FileType::Found if matches!(file.found, Found::Device(_)) => TargetKind::Device,
        FileType::Found => TargetKind::File,
        FileType::File => TargetKind::File,
        FileType::Block => TargetKind::Device,
        FileType::Char => {
            diagnostics.refuse(from, "filetype", "character devices are not used");
            TargetKind::Auto
        }
    }
}

/// Required size of a file; absent if it exists already.
fn size(
    from: &Instance<'_>,
    file: &File,
    length: Option<u64>,
    start: Extent,
    blocks: &mut Blocks,
    diagnostics: &mut Diagnostics,
) -> Option<Bytes> {
    let shown = || file.path.text();
    let end = length.map(|length| length.saturating_add(start_bytes(start)));
    let endless = fills(from) && end.is_none();
    if endless && !matches!(file.found, Found::Device(_)) {
        blocks.range.length = None;
        return Some(ENDLESS);
    }
    match (file.found, end) {
        (Found::Device(bytes), Some(end)) => {
            // A device has a fixed size; fio uses all of it.
            if bytes.is_some_and(|bytes| bytes < end) {
                blocks.range.length = None;
                let did = format!("all of it from the offset on: {} bytes", bytes.unwrap_or(0));
                diagnostics.note(from, "size", &did, "the device is smaller");
            }
            None
        }
        (Found::Device(_), None) => None,
        (Found::Character, Some(end)) => Some(Bytes(end)),
        (Found::Character, None) => {
            let message = format!("{} is a character device, which has no size", shown());
            diagnostics.wrong(from, "size", message, "set size");
            None
        }
        (Found::Directory | Found::Other, _) => {
            let message = format!("{} is neither a file nor a block device", shown());
            diagnostics.wrong(from, "filename", message, "name a file or a block device");
            None
        }
        // An earlier job may make it.
        (Found::Nothing | Found::File(_), None) => None,
        (Found::Nothing | Found::File(_), Some(end)) => Some(Bytes(end)),
    }
}

/// Writes continue until the device is full.
fn fills(from: &Instance<'_>) -> bool {
    from.options.area.fill_device && from.options.rw.direction.writes()
}

/// True for a job that reads a file which is made on opening, and may find nothing there. fio's
/// engines that queue take the end of a file for a read that is done, so that reads before any
/// write do not fail; holes do not either. The others fail, unless another job makes the file.
fn reads_beyond(
    from: &Instance<'_>,
    plan: &Plan,
    file: &File,
    size: Option<Bytes>,
    blocks: &Blocks,
    diagnostics: &mut Diagnostics,
) -> bool {
    let direction = &from.options.rw.direction;
    let (making, queues) = (&from.options.making, blocks.engine.is_async());
    if !direction.reads() || !making.on_open || !making.allowed || appends(from) {
        return false;
    }
    let beyond = queues || made_before(plan, &file.path).is_some();
    if beyond && !direction.writes() && file.found.bytes().map(Bytes) < size {
        let why = "the file is made on opening, and fio takes its end for a read that is done";
        diagnostics.note(from, "create_on_open", "unwritten blocks read as zeros", why);
    }
    beyond
}

/// Blocks to read must have been written; blocks that are only written need at most their space.
fn layout(from: &Instance<'_>, blocks: &Blocks) -> Layout {
    let options = from.options;
    let making = &options.making;
    if making.on_open
        || !making.allowed
        || appends(from)
        || fills(from)
        || (blocks.engine == Engine::Fallocate && !options.rw.direction.reads())
    {
        return Layout::Never;
    }
    // A mix is laid out even without reads.
    if making.overwrite || (options.rw.direction.reads() && blocks.mix.read == 0) {
        return Layout::Write;
    }
    if options.rw.direction.reads() {
        return Layout::Needed;
    }
    // Bytes beyond the length of a file cannot be mapped.
    let maps = blocks.engine.is_kind_of(Engine::MMAP);
    match making.fallocate {
        Fallocate::None | Fallocate::Keep if maps => Layout::Needed,
        Fallocate::Native | Fallocate::Posix => Layout::Allocate,
        Fallocate::Keep => Layout::Reserve,
        Fallocate::Truncate => Layout::Sparse,
        Fallocate::None => Layout::Never,
    }
}

/// The targets of the plan, by their names.
#[derive(Default)]
pub(super) struct Known(HashMap<String, usize>);

impl Known {
    /// Enters a target into the plan, or finds the equal one that is there. Jobs that use the same
    /// files differently have targets of their own.
    pub fn enter(&mut self, plan: &mut Plan, mut target: Target) -> usize {
        let name = target.name.clone();
        for nth in 2_u64.. {
            let Some(index) = self.0.get(&target.name).copied() else { break };
            let known = &plan.targets[index];
            let size = known.size.max(target.size);
            // Of concurrent jobs, the largest requirement decides the size of a file.
            let alike = Target { size: target.size, ..known.clone() } == target;
            let grows = target.files == 1 && is_used_now(plan, &target.name);
            if alike && (known.size == target.size || grows) {
                plan.targets[index].size = size;
                return index;
            }
            target.name = format!("{name} ({nth})");
        }
        self.0.insert(target.name.clone(), plan.targets.len());
        plan.targets.push(target);
        plan.targets.len() - 1
    }
}

/// True if a job of the phase that is being filled uses a target.
fn is_used_now(plan: &Plan, name: &String) -> bool {
    plan.phases.last().is_some_and(|phase| phase.jobs.iter().any(|job| job.targets.contains(name)))
}
