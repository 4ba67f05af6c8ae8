//! Lowers definitions and runs to a plan: luns in `raw`, file systems in `files`, data validation
//! in `validation`. Each run is one phase; a format before it is a separate phase.

mod content;
pub mod files;
mod host;
mod raw;
mod shares;
mod validation;

use std::collections::HashSet;

use candor_plan::blocks::{Arrival, RateStep};
use candor_plan::{OpsPerSec, Phase, Target, Work};
use candor_record::Note;

pub use host::Systems;

use super::definitions::commands::Commands;
use super::definitions::rd::Rd;
use super::definitions::{Defined, Definition};
use super::file::ParameterFile;
use super::options::Options;
use super::runs::{Run, RunRate};
use candor_front::{Diagnostic, Diagnostics, Host, Origins, Texts};

/// Name of the run that fills luns.
pub const SD_FORMAT: &str = "SD_format";

/// Name of the run that reads all blocks that a journal knows.
pub const JOURNAL_RECOVERY: &str = "journal_recovery";

/// Everything that lowering starts from.
pub struct Request<'a> {
    /// The definitions.
    pub file: &'a ParameterFile,
    /// Their texts.
    pub texts: &'a Texts,
    /// The command line.
    pub asked: &'a Options,
    /// The host.
    pub host: &'a dyn Host,
}

impl Request<'_> {
    /// Number of a host's system; `None` if this host runs all jobs.
    fn system(&self, label: &str) -> Option<u32> {
        Systems::of(self.file, self.host).number(self.file, label)
    }
}

/// Targets and runs, and all that a report cannot tell.
#[derive(Debug, Default)]
pub struct Lowered {
    /// Targets of all runs.
    pub targets: Vec<Target>,
    /// The runs, in order.
    pub runs: Vec<LoweredRun>,
    /// Positions at which a run differs from the request.
    pub notes: Vec<Note>,
    /// Positions of the plan's parts; phases count like runs.
    pub origins: Origins,
    /// Hosts that run the jobs together; empty for this host.
    pub systems: Systems,
}

/// A run as a phase, with data for its results.
#[derive(Clone, Debug, Default)]
pub struct LoweredRun {
    /// The name.
    pub name: String,
    /// Heading after the name.
    pub heading: String,
    /// The loops, as headings have them.
    pub loops: String,
    /// True for a format, whose results do not count.
    pub is_format: bool,
    /// The rate.
    pub rate: Option<RunRate>,
    /// Response time in ms that ends a curve.
    pub curve_stop_ms: Option<f64>,
    /// The phase. A rate that depends on an earlier run is not in it yet.
    pub phase: Phase,
    /// Workloads of the phase, one for each job.
    pub jobs: Vec<JobRow>,
    /// Times between operations.
    pub arrival: Arrival,
    /// Total rates of all jobs in sequence, if the rate changes; and whether all operations of a
    /// second start together.
    pub steps: (Vec<RateStep>, bool),
    /// Length of an interval.
    pub interval_s: u64,
    /// Intervals at the start that averages leave out.
    pub warmup_intervals: u64,
    /// Commands before the run.
    pub start: Option<Commands>,
    /// Commands after the run.
    pub end: Option<Commands>,
    /// Parameters that `flatfile.html` shows.
    pub shown: Shown,
    /// Data of runs on file systems.
    pub files: Option<files::FilesOfRun>,
}

/// A job of a run: a workload on a lun, from a host.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobRow {
    /// The workload.
    pub wd: String,
    /// The lun or file system.
    pub sd: String,
    /// The host.
    pub host: String,
    /// Share of the run's rate, in percent.
    pub share_percent: f64,
    /// The workload's rate in operations per second.
    pub own_rate: Option<f64>,
}

/// Parameters of a run in `flatfile.html`; absent if workloads differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Bytes per operation.
    pub transfer_bytes: Option<u64>,
    /// Operations in flight per lun; absent if luns differ.
    pub threads: Option<u64>,
    /// Share of reads.
    pub read_percent: Option<f64>,
    /// Share of reads in the hit area.
    pub read_hit_percent: Option<f64>,
    /// Share of writes in the hit area.
    pub write_hit_percent: Option<f64>,
    /// Percent of random offsets.
    pub seek_percent: Option<f64>,
    /// Bytes of all luns.
    pub lun_bytes: Option<u64>,
    /// Bytes written per byte that a compressor leaves.
    pub compression_ratio: Option<f64>,
    /// Bytes written per byte that deduplication keeps.
    pub dedup_ratio: Option<f64>,
}

impl LoweredRun {
    /// The phase with a rate for all its jobs together, in operations per second.
    pub fn at_rate(&self, rate: f64) -> Phase {
        let mut phase = self.phase.clone();
        shares::pace(&mut phase.jobs, &self.jobs, rate, self.arrival);
        phase
    }

    /// Text of headings after the name, with the known rate.
    pub fn heading_at(&self, rate: Option<f64>) -> String {
        let depends = matches!(self.rate, Some(RunRate::OfCurve(_) | RunRate::OfPrevious(_)));
        let Some(rate) = rate.filter(|_| depends) else { return self.heading.clone() };
        // The rate of work on file systems follows the times.
        let (before, behind) = if self.files.is_some() {
            self.heading.split_once("fwdrate=").unwrap_or_default()
        } else {
            ("", self.heading.as_str())
        };
        let rest = behind.split_once("; ").map_or("", |(_, rest)| rest);
        let word = if self.files.is_some() { "fwdrate=" } else { "I/O rate: " };
        format!("{before}{word}{rate:.0}; {rest}")
    }

    /// Phases before the run's own phase: the first steps of a format.
    pub fn before(&self) -> &[Phase] {
        self.files.as_ref().map_or(&[], |files| &files.before)
    }

    /// All phases, in order.
    pub fn phases(&self) -> impl Iterator<Item = &Phase> {
        self.before().iter().chain([&self.phase])
    }

    fn phases_mut(&mut self) -> impl Iterator<Item = &mut Phase> {
        let before = self.files.iter_mut().flat_map(|files| &mut files.before);
        before.chain([&mut self.phase])
    }

    /// Duration in seconds, if time ends the run.
    pub fn seconds(&self) -> u64 {
        let time = self.phase.stop.time.map_or(0, |time| time.0);
        (self.phase.ramp.0 + self.phase.delay.0 + time) / 1_000_000_000
    }
}

/// Work that several hosts do not support.
pub fn refused(request: &Request<'_>, runs: &[Run]) -> Vec<Diagnostic> {
    let mut out = Diagnostics::default();
    host::check(request, &mut out);
    if out.errors.is_empty() && request.file.is_of_files() {
        return files::refused(request, runs);
    }
    out.errors
}

/// Makes the phases of runs.
///
/// # Errors
/// Everything that is wrong.
pub fn lower(request: &Request<'_>, runs: &[Run]) -> Result<Lowered, Vec<Diagnostic>> {
    let (mut out, mut lowered) = (Diagnostics::default(), Lowered::default());
    support(request, &mut out);
    host::check(request, &mut out);
    if request.file.is_of_files() {
        files::lower(request, runs, &mut lowered, &mut out);
    } else {
        raw::lower(request, runs, &mut lowered, &mut out);
    }
    validation::lower(request, &mut lowered, &mut out);
    depends(request, runs, &mut out);
    formats(request, &mut out);
    for run in lowered.runs.iter_mut().filter(|run| !run.is_format) {
        shares::settle(run);
    }
    if !out.errors.is_empty() {
        return Err(out.errors);
    }
    lowered.notes = out.notes;
    lowered.systems = Systems::of(request.file, request.host);
    Ok(lowered)
}

/// Refuses a percentage of the previous rate in the first run.
fn depends(request: &Request<'_>, runs: &[Run], out: &mut Diagnostics) {
    let mut has_max = false;
    for run in runs {
        has_max |= matches!(run.rate, RunRate::Max | RunRate::CurveMax);
        if matches!(run.rate, RunRate::OfPrevious(_)) && !has_max {
            let rd = &request.file.rds.all[run.rd];
            let message = format!("rd={} asks for a share of an earlier rate", rd.name.text);
            let rate = if request.file.is_of_files() { "fwdrate" } else { "iorate" };
            let remedy = "let a run as fast as possible go before it";
            out.wrong(&rd.in_texts(request.texts), rate, message, remedy);
        }
    }
}

/// Refuses formats as vdbench does: `format=` belongs to one run definition, and `once` to one with
/// loops.
fn formats(request: &Request<'_>, out: &mut Diagnostics) {
    let rds = &request.file.rds;
    if rds.default.given.has("format") {
        let message = "format= is not for rd=default".to_owned();
        let remedy = "write it in each rd= that is to have a format";
        out.wrong(&rds.default.in_texts(request.texts), "format", message, remedy);
    }
    for rd in rds.all.iter().filter(|rd| rd.options.format.once && rd.options.loops.is_empty()) {
        let message = format!("format=once of rd={} needs a loop: it has no forxxx=", rd.name.text);
        let remedy = "use format=yes, or add a loop such as forthreads=(1,8)";
        out.wrong(&rd.in_texts(request.texts), "format", message, remedy);
    }
}

/// Refusals and notes of the tables.
fn support(request: &Request<'_>, out: &mut Diagnostics) {
    fn of<O: Defined>(
        all: &[Definition<O>],
        request: &Request<'_>,
        seen: &mut HashSet<(usize, usize)>,
        out: &mut Diagnostics,
    ) {
        // Defaults are repeated in later definitions; each position is reported once.
        for definition in all {
            for refusal in O::TABLE.refusals(&definition.options, &definition.given, |_| false) {
                let place = refusal.at.map(|at| (at.text, at.start));
                if place.is_none_or(|place| seen.insert(place)) {
                    out.push(refusal);
                }
            }
            let notes = O::TABLE.notes(&definition.options, &definition.given, request.texts);
            notes.into_iter().for_each(|note| out.add_note(note));
        }
    }
    let (file, seen) = (request.file, &mut HashSet::new());
    of(std::slice::from_ref(&file.general.default), request, seen, out);
    of(&file.host_definitions.all, request, seen, out);
    of(&file.groups.all, request, seen, out);
    of(&file.sds.all, request, seen, out);
    of(&file.wds.all, request, seen, out);
    of(&file.fsds.all, request, seen, out);
    of(&file.fwds.all, request, seen, out);
    of(file.format.as_slice(), request, seen, out);
    of(&file.rds.all, request, seen, out);
}

/// Heading of a run after its name.
fn heading(run: &Run, rd: &Rd, is_controlled: bool) -> String {
    let mut text = format!("I/O rate: {}", run.rate_text(is_controlled));
    text += &format!("; elapsed={}", rd.elapsed_s);
    if rd.warmup_s > 0 {
        text += &format!(" warmup={}", rd.warmup_s);
    }
    text + &format!("; {}", run.loops_text())
}

/// The pace of a job's work, if it has one.
fn pace_of(work: &mut Work) -> Option<&mut candor_plan::blocks::Pace> {
    match work {
        Work::Blocks(blocks) => Some(&mut blocks.pace),
        Work::Entries(entries) => Some(&mut entries.pace),
        Work::Objects(_) | Work::Program(_) | Work::Burn(_) | Work::Memory(_) => None,
    }
}

/// Operations per second, at least one.
fn whole_rate(rate: f64) -> OpsPerSec {
    OpsPerSec(rate.round().max(1.0) as u64)
}

#[cfg(test)]
mod tests;
