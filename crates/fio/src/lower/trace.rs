//! Traces: replayed traces, and the trace of a job's own operations.

use std::path::PathBuf;
use std::sync::Arc;

use candor_plan::blocks::{Access, Position, Range, Rotation, Stay, TraceFile};
use candor_plan::check::FILES_MAX;
use candor_plan::trace::Trace;
use candor_plan::units::{Direction, Mix, PerDirection};
use candor_plan::{Blocks, Bytes, Create, Layout, PathText, Stop, Target, TargetKind, path_of};

use super::instance::Instance;
use crate::job::FioJob;
use crate::options::{JobOptions, RwMode, Trace as TraceOptions};
use crate::trace::{self, Fault, Recorded, merge};
use candor_front::{Diagnostics, Found};

/// The trace that a clone replays.
pub(super) struct Replay {
    file: String,
    recorded: Recorded,
    trace: Arc<Trace>,
}

/// Options that a trace overrides.
const OVERRIDDEN: &[&str] = &[
    "rw",
    "filename",
    "directory",
    "size",
    "filesize",
    "nrfiles",
    "io_size",
    "offset",
    "number_ios",
    "loops",
    "time_based",
];

/// Reads the trace of a clone, if it replays one. Merged traces become a file to write, with its
/// bytes.
pub(super) fn read(
    from: &Instance<'_>,
    jobs: &[FioJob],
    written: &mut Vec<(PathBuf, Vec<u8>)>,
    diagnostics: &mut Diagnostics,
) -> Option<Replay> {
    let given = &from.options.trace;
    if given.read.is_empty() {
        return None;
    }
    if let Some(job) = jobs
        .iter()
        .find(|job| job.logs.trace.as_ref().is_some_and(|name| given.read.contains(name)))
    {
        let why =
            format!("job {} of the same run writes it; run that one by itself before", job.name);
        diagnostics.refuse(from, "read_iolog", &why);
        return None;
    }
    let read = match &given.merge {
        Some(file) => merged(from, file, written),
        None => {
            let name = &given.read[nth(from)];
            open(from, name).and_then(|bytes| Ok((name.clone(), recorded(from, name, bytes)?)))
        }
    };
    match read {
        Ok((file, mut recorded)) => {
            let steps = std::mem::take(&mut recorded.steps);
            remarks(from, &recorded, diagnostics);
            overridden(from, diagnostics);
            Some(Replay { file, recorded, trace: Arc::new(Trace::new(steps)) })
        }
        Err(fault) => {
            diagnostics.wrong(from, "read_iolog", fault.to_string(), &fault.remedy);
            None
        }
    }
}

/// Trace of a clone: in turns, but fio counts its clones down.
fn nth(from: &Instance<'_>) -> usize {
    let (many, clones) = (from.options.trace.read.len() as u64, from.options.runtime.clones);
    let number = if from.clone == 0 { 0 } else { clones.saturating_sub(from.clone) };
    (number % many.max(1)) as usize
}

fn open(from: &Instance<'_>, name: &str) -> Result<Box<dyn std::io::BufRead>, Fault> {
    from.host.open(&path_of(name)).map_err(|error| trace::unreadable(name, &error))
}

fn recorded(
    from: &Instance<'_>,
    name: &str,
    bytes: Box<dyn std::io::BufRead + '_>,
) -> Result<Recorded, Fault> {
    trace::read(name, bytes, &from.options.trace, &|major, minor| from.host.device(major, minor))
}

/// The traces of `read_iolog` as one.
fn merged(
    from: &Instance<'_>,
    file: &str,
    written: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<(String, Recorded), Fault> {
    let given = &from.options.trace;
    let known = written.iter().find(|(path, _)| path.as_os_str() == file);
    let bytes = match known {
        Some((_, bytes)) => bytes.clone(),
        None => merge::merge(parts(from, given)?)?,
    };
    let recorded = recorded(from, file, Box::new(&bytes[..]))?;
    if known.is_none() {
        written.push((path_of(file), bytes));
    }
    Ok((file.to_owned(), recorded))
}

fn parts<'a>(from: &Instance<'_>, given: &'a TraceOptions) -> Result<Vec<merge::Part<'a>>, Fault> {
    let many = given.read.len();
    let lists = [
        ("merge_blktrace_scalars", &given.merge_scalars),
        ("merge_blktrace_iters", &given.merge_iterations),
    ];
    for (option, list) in lists {
        if !list.is_empty() && list.len() != many {
            let message = format!("{} values for {many} traces", list.len());
            let remedy = "give one for each file of read_iolog".to_owned();
            return Err(Fault { place: option.to_owned(), message, remedy });
        }
    }
    given
        .read
        .iter()
        .enumerate()
        .map(|(nth, name)| {
            let percent = given.merge_scalars.get(nth).copied().unwrap_or(100.0);
            let times = given.merge_iterations.get(nth).map_or(1, |times| *times as u64);
            Ok(merge::Part { name, bytes: open(from, name)?, percent, times })
        })
        .collect()
}

fn remarks(from: &Instance<'_>, recorded: &Recorded, diagnostics: &mut Diagnostics) {
    for remark in &recorded.remarks {
        let times = match remark.times {
            1 => String::new(),
            times => format!(" and {} more", times - 1),
        };
        let did = format!("{}{times}: {}", remark.place, remark.did);
        diagnostics.note(from, "read_iolog", &did, remark.why);
    }
    if recorded.files.len() as u64 > u64::from(FILES_MAX) {
        diagnostics.refuse(
            from,
            "read_iolog",
            &format!("the trace has more than {FILES_MAX} files"),
        );
    }
}

fn overridden(from: &Instance<'_>, diagnostics: &mut Diagnostics) {
    let given = OVERRIDDEN.iter().filter(|option| {
        let given = from.options.given.get(option);
        given.is_some_and(|given| !given.is_default)
    });
    for option in given {
        diagnostics.note(
            from,
            option,
            "it has no effect",
            "read_iolog defines all operations, once",
        );
    }
    if from.options.trace.write.is_some() {
        diagnostics.note(from, "write_iolog", "nothing is written", "read_iolog overrides it");
    }
}

impl Replay {
    /// Options of a section in addition to its trace.
    pub(super) fn options(&self, given: &JobOptions) -> JobOptions {
        let mut options = given.clone();
        let mix = self.mix();
        options.rw.direction = match (mix.read > 0, mix.write > 0) {
            (true, true) => RwMode::ReadWrite,
            (false, true) => RwMode::Write,
            (false, false) if mix.trim > 0 => RwMode::Trim,
            _ => RwMode::Read,
        };
        options.rw.suffix = None;
        options.trace.write = None;
        options
    }

    /// The directions that occur, in shares that add up to 100.
    fn mix(&self) -> Mix {
        let ops = self.trace.steps().iter().filter_map(|step| step.action.op());
        let mut used = PerDirection::all(0u8);
        ops.for_each(|op| *used.of_mut(op) = 1);
        let many = used.read + used.write + used.trim;
        if many == 0 {
            return Mix::READ;
        }
        let share = |op: Direction| 100 / many * used.of(op);
        let mut mix = Mix {
            read: share(Direction::Read),
            write: share(Direction::Write),
            trim: share(Direction::Trim),
        };
        let rest = 100 - mix.total() as u8;
        match used.read {
            0 => mix.write += rest,
            _ => mix.read += rest,
        }
        mix
    }

    /// The work of the trace, which overrides the section.
    pub(super) fn lower(&self, from: &Instance<'_>, blocks: &mut Blocks) {
        let file = path_of(&self.file);
        blocks.access = Access::Trace(TraceFile { file, trace: Some(self.trace.clone()) });
        blocks.mix = self.mix();
        blocks.position = Position::default();
        (blocks.pairs, blocks.stay, blocks.jump_size) = (false, Stay::default(), None);
        blocks.random_percent = PerDirection::all(0);
        (blocks.windows, blocks.align) = (None, None);
        (blocks.rotation, blocks.range) = (Rotation::default(), Range::default());
        if let Some(depth) = self.recorded.depth
            && blocks.engine.is_async()
            && !from.options.given.has("iodepth")
        {
            blocks.depth = depth;
        }
    }

    /// Files to open, without layout: data to read must exist or be written earlier.
    pub(super) fn targets(&self, from: &Instance<'_>, blocks: &Blocks) -> Vec<Target> {
        let mut ends = vec![0; self.recorded.files.len()];
        for step in self.trace.steps() {
            let end: &mut u64 = &mut ends[step.file as usize];
            *end = step.end().max(*end);
        }
        let files = self.recorded.files.iter().zip(ends);
        files.map(|(path, end)| target(from, path, end, blocks)).collect()
    }

    /// A trace ends when its last step is done.
    pub(super) fn stop(&self, stop: &mut Stop) {
        stop.passes = Some(1);
    }
}

fn target(from: &Instance<'_>, path: &str, end: u64, blocks: &Blocks) -> Target {
    let name = path.to_owned();
    let bytes = |bytes: u64| Some(Bytes(bytes)).filter(|bytes| bytes.0 > 0);
    if !blocks.uses_targets() {
        let size = bytes(end).or(Some(Bytes(1)));
        return Target { name, kind: TargetKind::Null, size, ..Target::default() };
    }
    let found = from.host.found(&path_of(path));
    let (kind, size) = match found {
        Found::Device(_) => (TargetKind::Device, None),
        Found::File(present) => (TargetKind::File, bytes(end.max(present))),
        _ => (TargetKind::File, bytes(end)),
    };
    let making = &from.options.making;
    Target {
        name,
        path: path_of(path),
        kind,
        size,
        layout: Layout::Never,
        create: if making.allowed { Create::Files } else { Create::Nothing },
        keep: true,
        remove: making.unlink,
        overwrite: true,
        ..Target::default()
    }
}

/// The trace that a clone writes of itself.
pub(super) fn write(from: &Instance<'_>, blocks: &mut Blocks, diagnostics: &mut Diagnostics) {
    let Some(name) = &from.options.trace.write else { return };
    let file = path_of(name);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| from.host.found(folder) != Found::Directory) {
        let message = format!("{} is not a directory", folder.text());
        return diagnostics.wrong(from, "write_iolog", message, "make it first");
    }
    blocks.measure.log.trace = true;
}
