//! Runs on file systems: phases, each after the phases of its format.

use std::path::PathBuf;

use candor_plan::blocks::Arrival;
use candor_plan::{Job, Nanos, PathText, Phase, Stop};

use super::control::Control;
use super::format::Formatter;
use super::group::{self, Group, groups};
use super::seats::Seats;
use super::{Common, FileSystem, FormatPhase, Formatted, Shape, Trees, Values, Workload};
use crate::definitions::Definition;
use crate::definitions::dedup::Dedup;
use crate::definitions::fwd::FileOperation;
use crate::definitions::open_flags::OpenFlags;
use crate::definitions::rate;
use crate::definitions::rd::{Format, LoopKind, Rd};
use crate::lower::content::content;
use crate::lower::{JobRow, Lowered, LoweredRun, Request, shares, validation};
use crate::options::FormatWish;
use crate::runs::{LoopValue, Run, RunRate};
use crate::values::matches;
use candor_front::{Diagnostic, Diagnostics, Found, Span};

/// Name of the run that creates the trees of another run.
pub const FORMAT_FOR: &str = "format_for_";

/// Everything about a run on file systems that other runs do not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilesOfRun {
    /// Operations that the run's rate counts.
    pub requested: Vec<FileOperation>,
    /// Steps of a format before the run's own phase.
    pub before: Vec<Phase>,
    /// Anchors of the run's trees.
    pub anchors: Vec<Anchor>,
}

/// The directory of a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The path.
    pub path: PathBuf,
    /// Position of the path in the parameter file.
    pub at: Option<Span>,
    /// The control file without its date; `None` if no tree remains.
    pub control: Option<Control>,
}

/// Makes the phases of runs on file systems.
pub fn lower(request: &Request<'_>, runs: &[Run], lowered: &mut Lowered, out: &mut Diagnostics) {
    let lowering = Lowering::of(request);
    let wrong = lowering.anchors();
    let is_wrong = !wrong.is_empty();
    wrong.into_iter().for_each(|error| out.push(error));
    if is_wrong {
        return;
    }
    let mut trees = Trees::new(lowering.seats.are_systems());
    let mut told = Vec::<String>::new();
    lowering.recover(&mut trees, lowered, out);
    for run in runs {
        match lowering.run(run, &mut trees, out) {
            Ok(more) => lowered.runs.extend(more),
            // Runs of one loop are wrong alike.
            Err(errors) => {
                for error in errors {
                    if !told.contains(&error.message) {
                        told.push(error.message.clone());
                        out.push(error);
                    }
                }
            }
        }
    }
    lowered.targets.extend(trees.into_targets());
}

/// Work that several hosts do not support.
pub fn refused(request: &Request<'_>, runs: &[Run]) -> Vec<Diagnostic> {
    let lowering = Lowering::of(request);
    let mut errors: Vec<Diagnostic> = Vec::new();
    for error in runs.iter().filter_map(|run| lowering.groups(run).err()).flatten() {
        if !errors.iter().any(|known| known.message == error.message) {
            errors.push(error);
        }
    }
    errors
}

/// Definitions of a file, as runs use them.
struct Lowering<'a> {
    request: &'a Request<'a>,
    systems: Vec<FileSystem<'a>>,
    seats: Seats,
    wish: FormatWish,
    formatter: Formatter,
}

impl<'a> Lowering<'a> {
    fn of(request: &'a Request<'a>) -> Lowering<'a> {
        let file = request.file;
        let formatter = Formatter::of(file.format.as_ref().map(|format| {
            let has = |name: &str| format.given.at(name).is_some();
            (&format.options, has("threads"), has("xfersizes"))
        }));
        let systems = file
            .fsds
            .all
            .iter()
            .map(|fsd| FileSystem { name: &fsd.name.text, fsd: &fsd.options })
            .collect();
        let seats = Seats::of(request);
        Lowering { request, systems, seats, wish: request.asked.format, formatter }
    }

    /// Anchors that are missing, or lie in one another.
    fn anchors(&self) -> Vec<Diagnostic> {
        let all = &self.request.file.fsds.all;
        let mut errors = Vec::new();
        for (at, system) in self.systems.iter().enumerate() {
            let place = all[at].name.at;
            if system.fsd.anchor.is_none() {
                let message = format!("fsd={} has no anchor", system.name);
                let missing = Diagnostic::new(place, "anchor", system.name, message);
                errors.push(missing.remedy("add anchor=, the directory of its tree"));
            }
            if let Some(other) = self.systems[..at].iter().find(|other| {
                let (mine, theirs) = (system.anchor(), other.anchor());
                mine != theirs && (mine.starts_with(&theirs) || theirs.starts_with(&mine))
            }) {
                let message = format!(
                    "the anchors of fsd={} and fsd={} lie in one another",
                    other.name, system.name
                );
                let wrong = Diagnostic::new(place, "anchor", system.name, message);
                errors.push(wrong.remedy("use directories that do not contain each other"));
            }
        }
        errors
    }

    /// Adds the run that reads all files in recovered journals.
    fn recover(&self, trees: &mut Trees, lowered: &mut Lowered, out: &mut Diagnostics) {
        let [true, reads] = validation::recovers(self.request) else { return };
        let mut left = Vec::new();
        for (system, definition) in self.systems.iter().zip(&self.request.file.fsds.all) {
            match trees.left(system) {
                Ok(target) => left.extend(target.map(|target| (system.name, target))),
                Err(message) => {
                    let place = definition.name.at;
                    out.push(Diagnostic::new(place, "anchor", system.name, message));
                }
            }
        }
        if reads && !left.is_empty() {
            let requested = vec![FileOperation::Read];
            lowered.runs.push(LoweredRun {
                files: Some(FilesOfRun { requested, ..FilesOfRun::default() }),
                ..validation::recovery_of_files(&left)
            });
        }
    }

    fn rd(&self, run: &Run) -> &'a Definition<Rd> {
        &self.request.file.rds.all[run.rd]
    }

    /// Values of a run's loops, and its groups.
    fn groups(&self, run: &Run) -> Result<(Values, Vec<Group<'a>>), Vec<Diagnostic>> {
        let (rd, values) = (self.rd(run), values(run));
        let wrong = |sentences: Vec<String>| {
            sentences.iter().map(|sentence| wrong(rd, sentence)).collect::<Vec<_>>()
        };
        let workloads = self.workloads(rd).map_err(|sentence| wrong(vec![sentence]))?;
        let operations = &rd.options.operations;
        let groups = groups(&self.systems, &workloads, operations, &values, &self.seats);
        Ok((values, groups.map_err(wrong)?))
    }

    /// The phases of a run: its format, if any, and itself.
    fn run(
        &self,
        run: &Run,
        trees: &mut Trees,
        out: &mut Diagnostics,
    ) -> Result<Vec<LoweredRun>, Vec<Diagnostic>> {
        let rd = self.rd(run);
        let wrong = |message: String| wrong(rd, &message);
        let one = |message: String| vec![wrong(message)];
        if !self.request.file.general().options.dedup.hot_sets.is_empty() {
            let message = "deduphotsets= are sets of blocks of luns".to_owned();
            return Err(vec![wrong(message).remedy("remove it, or use sd= with lun=FILE")]);
        }
        if rd.options.distribution.variable {
            let message = "distribution=variable and spike are for luns (iorate=)".to_owned();
            return Err(vec![wrong(message).remedy("remove the word, or list fwdrate= as a loop")]);
        }
        let (values, groups) = self.groups(run)?;
        let (systems, shapes) = self.used(&groups, &values).map_err(one)?;
        self.look_for_anchors(&groups, &systems)?;
        let general = &self.request.file.general().options;
        let ratio = run.number(LoopKind::CompressionRatio).unwrap_or(general.compression_ratio);
        let bytes = values.transfer_size.unwrap_or(4096);
        let content = content(self.request, &Dedup::default(), ratio, bytes, out);
        let format = self.format(rd, run);
        let used: Vec<Formatted<'_>> = systems
            .iter()
            .zip(&shapes)
            .map(|(at, shape)| (self.systems[*at], shape.clone(), group::users(&groups, *at)))
            .collect();
        let mut all = Vec::new();
        match self.made_first(format, &systems, trees) {
            Some(made) => {
                let phases = trees
                    .format(&used, made, &self.formatter, rd.options.open_flags, &content)
                    .map_err(one)?;
                let anchors = self.anchors_of(&used, !made.clean);
                all.extend(formatting(run, rd, phases, anchors, made.limited));
            }
            // A simulation looks at no tree.
            None if self.request.asked.is_simulation => {}
            None => {
                for (system, shape, _) in &used {
                    trees.use_as_is(system, shape).map_err(one)?;
                }
            }
        }
        if format.only {
            return Ok(all);
        }
        let common = Common {
            open_flags: rd.options.open_flags,
            of_fsd: OpenFlags::default(),
            transfer_size: values.transfer_size,
            content,
        };
        let jobs = trees.jobs(&self.systems, &groups, &values, &common).map_err(one)?;
        let anchors = self.anchors_of(&used, true);
        let itself = self.itself(run, rd, &groups, jobs, anchors);
        let has_skew = groups.iter().any(|group| group.workload.skew.is_some());
        if has_skew && !shares::are_kept(&itself.phase.jobs, &itself.jobs, run.rate) {
            return Err(vec![wrong(shares::NOT_KEPT.to_owned()).remedy(shares::KEEP)]);
        }
        all.push(itself);
        Ok(all)
    }

    /// Finds the directories of file systems on remote hosts.
    fn look_for_anchors(
        &self,
        groups: &[Group<'_>],
        used: &[usize],
    ) -> Result<(), Vec<Diagnostic>> {
        let mut missing = Vec::new();
        for at in used.iter().filter(|_| !self.request.asked.is_simulation) {
            let (system, anchor) = (&self.systems[*at], self.systems[*at].anchor());
            for seat in group::users(groups, *at) {
                let Some(number) = seat.system else { continue };
                if self.request.host.found_on(number, &anchor) == Found::Directory {
                    continue;
                }
                let (shown, label) = (anchor.text(), seat.label);
                let message = format!("the anchor {shown} is no directory on host {label}");
                let place = self.request.file.fsds.find(system.name).map(|fsd| fsd.at("anchor"));
                let wrong = Diagnostic::nowhere("anchor", message);
                let remedy = "create it there; create_anchors=yes creates anchors of one host \
                              only";
                missing.push(Diagnostic { at: place, ..wrong }.remedy(remedy));
            }
        }
        if missing.is_empty() { Ok(()) } else { Err(missing) }
    }

    /// The run itself.
    fn itself(
        &self,
        run: &Run,
        rd: &Definition<Rd>,
        groups: &[Group<'_>],
        jobs: Vec<Job>,
        anchors: Vec<Anchor>,
    ) -> LoweredRun {
        let Rd { elapsed_s, warmup_s, interval_s, pause_s, .. } = rd.options;
        let rows = groups.iter().map(|group| JobRow {
            host: group.seat.label.clone(),
            wd: group.fwd.to_owned(),
            sd: self.systems[group.fsd].name.to_owned(),
            share_percent: group.share,
            ..JobRow::default()
        });
        let mut lowered = LoweredRun {
            heading: heading(run, &rd.options),
            rate: Some(run.rate),
            jobs: rows.collect(),
            arrival: arrival(rd.options.distribution.arrival),
            warmup_intervals: (warmup_s / interval_s.max(1)).max(1),
            files: Some(FilesOfRun { requested: requested(groups), anchors, before: Vec::new() }),
            ..begun(run, rd)
        };
        let time = Nanos::from_secs(elapsed_s + warmup_s);
        lowered.phase = Phase {
            name: run.name.clone(),
            stop: Stop { time: Some(time), ..Stop::default() },
            delay: Nanos::from_secs(pause_s),
            interval: Nanos::from_secs(interval_s),
            jobs,
            ..Phase::default()
        };
        // One group alone has no share to keep.
        if groups.len() > 1 {
            shares::keep(&mut lowered.phase.jobs, &lowered.jobs);
        }
        lowered
    }

    /// Anchors of file systems with the control files of remaining trees. Anchors of remote hosts
    /// have none, like shared ones in vdbench.
    fn anchors_of(&self, used: &[Formatted<'_>], is_left: bool) -> Vec<Anchor> {
        let here = used.iter().filter(|_| !self.seats.are_systems());
        let each = here.map(|(system, shape, _)| Anchor {
            path: system.anchor(),
            at: self.request.file.fsds.find(system.name).map(|fsd| fsd.at("anchor")),
            control: is_left.then(|| Control::of(shape)),
        });
        each.collect()
    }

    /// The format before a run: its own, or a clean-up at the first use of an anchor.
    fn made_first(&self, format: Format, systems: &[usize], trees: &Trees) -> Option<Format> {
        let is_new = systems.iter().any(|at| !trees.knows(&self.systems[*at].anchor()));
        match (format.is_wanted, self.wish == FormatWish::Clean && is_new) {
            (true, true) => Some(Format { restart: false, ..format }),
            (true, false) => Some(format),
            (false, true) => Some(Format { clean: true, ..Format::default() }),
            (false, false) => None,
        }
    }

    /// Workloads of a run, by name or wildcard.
    fn workloads(&self, rd: &Definition<Rd>) -> Result<Vec<Workload<'a>>, String> {
        if rd.options.fwds.is_empty() {
            return Err("it has no workload; add fwd=".into());
        }
        let mut found: Vec<Workload<'a>> = Vec::new();
        for name in &rd.options.fwds {
            let more: Vec<_> = self
                .request
                .file
                .fwds
                .all
                .iter()
                .filter(|fwd| matches(name, &fwd.name.text))
                .collect();
            if more.is_empty() {
                return Err(format!("there is no fwd={name}"));
            }
            for fwd in more {
                if !found.iter().any(|known| known.name == fwd.name.text) {
                    found.push(Workload { name: &fwd.name.text, fwd: &fwd.options });
                }
            }
        }
        Ok(found)
    }

    /// File systems that groups use, with their shapes.
    fn used(
        &self,
        groups: &[Group<'_>],
        values: &Values,
    ) -> Result<(Vec<usize>, Vec<Shape>), String> {
        let mut used: Vec<usize> =
            groups.iter().flat_map(|group| [Some(group.fsd), group.target]).flatten().collect();
        used.sort_unstable();
        used.dedup();
        let shapes = used
            .iter()
            .map(|at| {
                let system = &self.systems[*at];
                let shape = Shape::of(system.fsd, values);
                let shape = shape.and_then(|shape| shape.check().map(|()| shape));
                shape.map_err(|message| format!("fsd={}: {message}", system.name))
            })
            .collect::<Result<Vec<_>, _>>()?;
        Ok((used, shapes))
    }

    /// The format before a run, as the definition and the command line have it.
    fn format(&self, rd: &Definition<Rd>, run: &Run) -> Format {
        let mut format = rd.options.format;
        match self.wish {
            FormatWish::AsWritten | FormatWish::Clean => {}
            FormatWish::Always => format.is_wanted = true,
            FormatWish::Only => (format.is_wanted, format.only) = (true, true),
            FormatWish::Never => format.is_wanted = false,
        }
        // Points of a curve follow their first run, and runs of a loop one format for all.
        let is_point = matches!(run.rate, RunRate::OfCurve(_));
        format.is_wanted &= !is_point && (!format.once || run.is_first);
        format
    }
}

/// Fault of a run.
fn wrong(rd: &Definition<Rd>, message: &str) -> Diagnostic {
    let told = format!("rd={}: {message}", rd.name.text);
    Diagnostic::new(rd.name.at, "file-systems", &rd.name.text, told)
}

/// Values of a run's loops.
fn values(run: &Run) -> Values {
    let mut values = Values { operation: run.operation(), ..Values::default() };
    for (kind, value) in &run.loops {
        if let LoopValue::Number(number) = value {
            values.set(*kind, *number);
        }
    }
    values
}

/// All that a run and its format have in common.
fn begun(run: &Run, rd: &Definition<Rd>) -> LoweredRun {
    LoweredRun {
        name: run.name.clone(),
        loops: run.loops_text(),
        interval_s: rd.options.interval_s,
        start: rd.options.start.clone(),
        end: rd.options.end.clone(),
        ..LoweredRun::default()
    }
}

/// The format of a run: its steps in order; the last one is the run's phase.
fn formatting(
    run: &Run,
    rd: &Definition<Rd>,
    phases: Vec<FormatPhase>,
    anchors: Vec<Anchor>,
    is_limited: bool,
) -> Option<LoweredRun> {
    let time = is_limited.then(|| Nanos::from_secs(rd.options.elapsed_s));
    let name = format!("{FORMAT_FOR}{}", run.name);
    let hosts: Vec<String> = phases.last()?.1.iter().map(|(_, host)| host.clone()).collect();
    let phase = |(step, jobs): FormatPhase| Phase {
        name: format!("{name}: {}", step.name()),
        stop: Stop { time, ..Stop::default() },
        interval: Nanos::from_secs(rd.options.interval_s),
        jobs: jobs.into_iter().map(|(job, _)| job).collect(),
        ..Phase::default()
    };
    let mut before: Vec<Phase> = phases.into_iter().map(phase).collect();
    let last = before.pop()?;
    let rows = last.jobs.iter().zip(hosts).map(|(job, host)| JobRow {
        host,
        wd: crate::file::FORMAT.to_owned(),
        // A tree of another shape has a numeric suffix after its file system's name.
        sd: job.targets[0].split(' ').next().unwrap_or_default().to_owned(),
        ..JobRow::default()
    });
    Some(LoweredRun {
        is_format: true,
        jobs: rows.collect(),
        files: Some(FilesOfRun { requested: vec![FileOperation::Write], before, anchors }),
        phase: last,
        name: name.clone(),
        ..begun(run, rd)
    })
}

/// Text after the name in a run's headings.
fn heading(run: &Run, rd: &Rd) -> String {
    let rate = match run.rate {
        RunRate::Max => "fwdrate=max.".to_owned(),
        RunRate::CurveMax => "fwdrate=curve.".to_owned(),
        _ => format!("fwdrate={};", run.rate_text(false)),
    };
    let warmup = match rd.warmup_s {
        0 => String::new(),
        warmup_s => format!(" warmup={warmup_s}"),
    };
    format!("elapsed={}{warmup}; {rate} {}", rd.elapsed_s, run.loops_text())
}

fn arrival(arrival: rate::Arrival) -> Arrival {
    match arrival {
        rate::Arrival::Exponential => Arrival::Poisson,
        rate::Arrival::Uniform | rate::Arrival::Deterministic => Arrival::Fixed,
    }
}

/// Operations that the rate of a run counts.
fn requested(groups: &[Group<'_>]) -> Vec<FileOperation> {
    FileOperation::ALL
        .iter()
        .copied()
        .filter(|operation| {
            groups.iter().any(|group| match group.read_percent {
                Some(_) => matches!(operation, FileOperation::Read | FileOperation::Write),
                None => group.operation == *operation,
            })
        })
        .collect()
}
