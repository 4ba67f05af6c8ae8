//! Lowers the options of all sections to a plan, and to facts for the output.
//!
//! Each clone of a section becomes one job with one worker and its own targets. Each topic has one
//! file, which fills its part of the job and refuses what the plan cannot express. Refusals and
//! notes of rows need no code there.

mod content;
mod engines;
mod files;
mod groups;
mod instance;
mod measures;
mod names;
mod offsets;
mod pacing;
mod processes;
mod report_meta;
#[cfg(test)]
pub(crate) mod tests;
mod trace;

use std::path::PathBuf;

use candor_plan::check::{self, FILES_MAX};
use candor_plan::{Blocks, Create, Job, Layout, Plan, Work};
use candor_record::Note;
use candor_s3::Credentials;

use super::ast::{Ast, Section};
use super::job::FioJob;
use super::options::JobOptions;
use super::options::{self, Reading};
use candor_front::{Diagnostic, Diagnostics, Host, Origins};

use instance::Instance;

/// Result of lowering a command line.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// The plan that runs.
    pub plan: Plan,
    /// Positions of the plan's parts.
    pub origins: Origins,
    /// Facts about each job that the output needs in addition to its measurement.
    pub jobs: Vec<FioJob>,
    /// Differences between the run and the request.
    pub notes: Vec<Note>,
    /// Devices that are written to although they are mounted or otherwise held.
    pub mounted_write: bool,
    /// Options of `[global]` as written, in order; absent without any.
    pub global_options: Option<Vec<(String, String)>>,
    /// Secrets that the plan names by their access keys.
    pub secrets: Vec<Credentials>,
    /// Files that are to be written before anything runs, with their bytes: merged traces.
    pub merged: Vec<(PathBuf, Vec<u8>)>,
}

impl Lowered {
    /// Create or extend no file: a job with a missing file fails.
    pub fn make_nothing(&mut self) {
        for target in &mut self.plan.targets {
            (target.layout, target.create) = (Layout::Never, Create::Nothing);
        }
    }

    /// Every operation of blocks is kept, to be printed by itself.
    pub fn log_operations(&mut self) {
        let jobs = self.plan.phases.iter_mut().flat_map(|phase| &mut phase.jobs);
        jobs.filter_map(|job| job.blocks_mut()).for_each(|blocks| blocks.measure.log.each = true);
    }
}

/// Lowers everything that was written.
///
/// # Errors
/// All diagnostics: values that cannot be read, options that cannot be done, a plan that makes no
/// sense.
pub fn lower(ast: &Ast, host: &dyn Host) -> Result<Lowered, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let sections: Vec<_> = ast
        .sections
        .iter()
        .map(|section| (section, read(ast, section, &mut diagnostics)))
        .collect();
    if !diagnostics.errors.is_empty() {
        return Err(diagnostics.errors);
    }
    let mut lowered = Lowered {
        plan: Plan::default(),
        origins: Origins::default(),
        jobs: Vec::new(),
        notes: Vec::new(),
        mounted_write: sections.iter().any(|(_, options)| options.making.mounted_write),
        global_options: report_meta::global_options(ast),
        secrets: Vec::new(),
        merged: Vec::new(),
    };
    content::seeds::lower(&sections, &ast.texts, host, &mut lowered.plan, &mut diagnostics);
    let aux_path = aux_path(ast);
    let mut groups = groups::Groups::default();
    let mut files = 0_u64;
    for (section, options) in &sections {
        groups.enter(section, options, &mut diagnostics, &mut lowered.plan);
        if lowered.jobs.len() as u64 + options.runtime.clones > JOBS_MAX {
            diagnostics.push(too_many(section, options));
            break;
        }
        files = files.saturating_add(files_listed(options));
        if files > u64::from(FILES_MAX) {
            diagnostics.push(too_many_files(section, options, files));
            break;
        }
        for clone in 0..options.runtime.clones {
            let from = Instance {
                options,
                name: options.about.name.as_deref().unwrap_or(&section.name.text),
                section: &section.name.text,
                clone,
                number: lowered.jobs.len() as u64,
                at: section.name.at,
                texts: &ast.texts,
                aux_path,
                host,
            };
            instance(&from, section, &mut groups, &mut lowered, &mut diagnostics);
        }
    }
    pacing::stops::ramps(&sections, &groups, &ast.texts, &mut lowered.plan, &mut diagnostics);
    finish(lowered, diagnostics)
}

/// The last `--aux-path`.
fn aux_path(ast: &Ast) -> Option<&str> {
    let given = ast.flags.iter().rfind(|flag| flag.name == "aux-path")?;
    given.value.as_ref().map(|word| word.text.as_str())
}

/// Maximum number of jobs of a run, as in fio.
const JOBS_MAX: u64 = 4096;

fn too_many(section: &Section, options: &JobOptions) -> Diagnostic {
    let at = options.given.at("numjobs").unwrap_or(section.name.at);
    let message =
        format!("with {} clones there are more than {JOBS_MAX} jobs", options.runtime.clones);
    Diagnostic::new(at, "max-jobs", &section.name.text, message).remedy("use fewer, and more depth")
}

/// Listed files of the clones of a section; several clones may share one.
fn files_listed(options: &JobOptions) -> u64 {
    let number = if names::is_listed(options) { options.files.number } else { 1 };
    options.runtime.clones.saturating_mul(number.max(1))
}

/// Each is in the plan, with its size.
fn too_many_files(section: &Section, options: &JobOptions, files: u64) -> Diagnostic {
    let at = options.given.at("nrfiles").unwrap_or(section.name.at);
    let message = format!("with these there are {files} files to list, more than {FILES_MAX}");
    Diagnostic::new(at, "nrfiles", &section.name.text, message).remedy("use fewer, or fewer clones")
}

/// The options of a section; remarks and refusals are reported.
fn read(ast: &Ast, section: &Section, diagnostics: &mut Diagnostics) -> JobOptions {
    let Reading { options, remarks, errors } = options::read(ast, section);
    errors.into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
    options::refusals(&options).into_iter().for_each(|diagnostic| diagnostics.push(diagnostic));
    report_meta::blanks::notes(ast, section, diagnostics);
    options::notes(&options, &ast.texts).into_iter().for_each(|note| diagnostics.add_note(note));
    for remark in remarks {
        diagnostics.add_note(Note {
            asked: remark.at.map_or("", |at| ast.texts.snippet(at)).to_owned(),
            did: remark.message,
            why: "fio reads it so".to_owned(),
            place: remark.at.map(|at| ast.texts.location(at)),
        });
    }
    options
}

/// One clone into one job.
fn instance(
    from: &Instance<'_>,
    section: &Section,
    groups: &mut groups::Groups,
    lowered: &mut Lowered,
    diagnostics: &mut Diagnostics,
) {
    let Some(seat) = groups.current() else { return };
    let replay = trace::read(from, &lowered.jobs, &mut lowered.merged, diagnostics);
    let (given, replayed) = (from, replay.as_ref().map(|replay| replay.options(from.options)));
    let from = &Instance { options: replayed.as_ref().unwrap_or(given.options), ..*given };
    let mut blocks = Blocks::default();
    let mut job = Job::default();
    offsets::lower(from, &mut blocks, diagnostics);
    engines::lower(from, &mut blocks, diagnostics);
    content::durability::lower(from, &mut blocks, diagnostics);
    content::lower(from, &mut blocks, diagnostics);
    content::verify::lower(from, &mut blocks, diagnostics);
    pacing::lower(from, &mut blocks, diagnostics);
    measures::lower(from, &mut blocks, diagnostics);
    processes::lower(from, &mut job, diagnostics);
    pacing::stops::lower(from, seat.phase, &mut job, diagnostics);
    let other = engines::programs::lower(from, &mut job, diagnostics);
    trace::write(from, &mut blocks, diagnostics);
    let shape = blocks.clone();
    let targets = match &replay {
        Some(replay) => {
            replay.lower(from, &mut blocks);
            replay.targets(from, &blocks)
        }
        None => files::lower(from, &lowered.plan, &mut blocks, diagnostics),
    };
    match (&mut job.stop, &replay) {
        (Some(stop), Some(replay)) => replay.stop(stop),
        (Some(stop), None) => offsets::amounts::lower(from, &blocks, &targets, stop, diagnostics),
        (None, _) => {}
    }
    let plan = &mut lowered.plan;
    engines::http::lower(from, &mut blocks, &targets, plan, &mut lowered.secrets, diagnostics);
    let indices: Vec<_> =
        targets.into_iter().map(|target| groups.targets.enter(plan, target)).collect();
    job.targets = indices.iter().map(|index| plan.targets[*index].name.clone()).collect();
    (job.name, job.after) = groups.enter_job(from);
    let place = lowered.origins.job(seat.phase, plan.phases[seat.phase].jobs.len(), from);
    lowered.origins.targets(&indices, from, &place);
    let nth = plan.phases[seat.phase].jobs.len();
    lowered.jobs.push(report_meta::of(
        given,
        section,
        seat,
        nth,
        &shape,
        other.as_ref(),
        diagnostics,
    ));
    job.work =
        other.or_else(|| engines::entries(from).map(Work::from)).unwrap_or_else(|| blocks.into());
    plan.phases[seat.phase].jobs.push(job);
}

/// Checks the plan; problems point to the user's words.
fn finish(mut lowered: Lowered, mut diagnostics: Diagnostics) -> Result<Lowered, Vec<Diagnostic>> {
    if diagnostics.errors.is_empty() {
        let problems = check::check(&lowered.plan);
        let errors = problems.iter().filter(|problem| problem.is_error());
        errors.for_each(|problem| diagnostics.push(lowered.origins.diagnostic(problem)));
    }
    lowered.notes = diagnostics.notes;
    if diagnostics.errors.is_empty() { Ok(lowered) } else { Err(diagnostics.errors) }
}
