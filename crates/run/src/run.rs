//! A run: a plan's phases one after another, judged above all hosts, gathered into a report.

mod ends;
mod expected;
mod follow_ups;

use std::path::Path;
use std::time::Instant;

use candor_judge::{Case, ceilings, conclude, judge, judge_again, sweep};
use candor_plan::{Bytes, Nanos, Phase, Plan, Problem, Stop, Tree};
use candor_record::{
    Event, Facts, Judgement, Note, PhaseJudgement, PhaseRecord, REPORT_VERSION, Report,
};

use crate::control::Control;
use crate::error::RunError;
use crate::events::Channels;
use crate::files_in_use;
use crate::integrity;
use crate::phase_snapshots::joined_note;
use crate::runner::{Collected, Runner, Survey, Task};
use crate::sizes;

pub use self::ends::Stopped;

/// Options of a run, beside its plan.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The command line, for the report.
    pub command: Vec<String>,
    /// After a phase that could not show by itself what limited it, run short trials of other work
    /// on its targets: twice the load, the same places once more, one operation at a time.
    pub follow_ups: bool,
    /// Differences between the plan and what the user asked for, for the report.
    pub notes: Vec<Note>,
}

/// The phase to run next.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A phase of the plan, by its index, for the `repeat`th time from 0.
    Planned {
        /// Index of the phase.
        index: usize,
        /// Number of the repeat.
        repeat: u32,
    },
    /// A phase that the plan does not have yet; it is added to it.
    Added(&'a Phase),
    /// A short trial that only serves to choose the next step: recorded, not judged.
    Search(&'a Phase),
}

/// A run under way on the hosts of a runner.
pub struct Run {
    runner: Box<dyn Runner>,
    options: Options,
    channels: Channels,
    /// The report so far, without its judgement.
    report: Report,
    judged: Vec<Option<PhaseJudgement>>,
    /// Approximate size of all intervals in the report so far.
    bytes_of_intervals: u64,
    clock: Instant,
}

/// Most bytes that intervals take in a report; the rest of [`candor_record::REPORT_BYTES_MAX`] is
/// for what a report holds besides. A phase gets an eighth of what those before it left.
const INTERVALS_BYTES_MAX: u64 = candor_record::REPORT_BYTES_MAX / 4 * 3;
/// A phase gets that much in any case.
const INTERVALS_BYTES_LEAST: u64 = 64 << 10;

impl Run {
    /// Of a plan that has no targets yet: paths may be surveyed before [`Run::open`].
    pub fn new(runner: Box<dyn Runner>, options: &Options, channels: &Channels) -> Run {
        let report = Report {
            report_version: REPORT_VERSION,
            candor_version: env!("CARGO_PKG_VERSION").into(),
            started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            command: options.command.clone(),
            ..Report::default()
        };
        let (options, channels) = (options.clone(), channels.clone());
        let (judged, bytes_of_intervals, clock) = (Vec::new(), 0, Instant::now());
        Run { runner, options, channels, report, judged, bytes_of_intervals, clock }
    }

    /// A path, before there is a plan.
    ///
    /// # Errors
    /// Nothing is there.
    pub fn survey(&self, path: &Path) -> Result<Survey, RunError> {
        self.runner.survey(path)
    }

    /// Checks the plan and the consent it needs, gives targets their sizes in bytes, and has hosts
    /// and targets inspected. A series
    /// says how many phases and how much time it expects, since its plan does not.
    ///
    /// # Errors
    /// The plan is refused.
    pub fn open(
        &mut self,
        mut plan: Plan,
        expected: Option<(usize, Nanos)>,
    ) -> Result<(), RunError> {
        let warnings = if plan.phases.is_empty() { Vec::new() } else { sensible(&plan)? };
        files_in_use::note(&plan)?;
        sizes::settle(&mut plan, &|path| self.runner.survey(path))?;
        self.channels.events.send(expected::run_started(&plan, expected));
        self.runner.open(&plan)?;
        self.report.plan = plan;
        let notes = std::mem::take(&mut self.options.notes);
        self.note(notes);
        self.note(warnings.iter().map(warning_note).collect());
        Ok(())
    }

    /// The plan as it stands: the targets, and the phases run so far.
    pub fn plan(&self) -> &Plan {
        &self.report.plan
    }

    /// Commands to the run.
    pub fn control(&self) -> &Control {
        &self.channels.control
    }

    /// Facts of the first host.
    pub fn facts(&self) -> &Facts {
        &self.runner.hosts()[0].facts
    }

    /// From now on a target has that size.
    pub fn resize(&mut self, target: &str, size: Bytes) {
        let mut targets = self.report.plan.targets.iter_mut();
        if let Some(target) = targets.find(|known| known.name == target) {
            target.size = Some(size);
        }
    }

    /// From now on a target's tree has that shape.
    pub fn reshape(&mut self, target: &str, tree: Tree) {
        let mut targets = self.report.plan.targets.iter_mut();
        if let Some(target) = targets.find(|known| known.name == target) {
            target.tree = Some(tree);
        }
    }

    /// From now on the jobs of a phase of the plan end so, where an earlier phase decides it.
    pub fn end_jobs(&mut self, index: usize, stop: &Stop) {
        for job in self.report.plan.phases.get_mut(index).into_iter().flat_map(|of| &mut of.jobs) {
            job.stop = Some(stop.clone());
        }
    }

    /// Runs all phases of the plan, as often as they repeat.
    ///
    /// # Errors
    /// The reason why the run ends before its time.
    pub fn whole_plan(&mut self) -> Result<(), Stopped> {
        for round in 0..self.plan().repeats.max(1) {
            for index in 0..self.plan().phases.len() {
                let repeats = self.plan().phases[index].repeats.max(1);
                for repeat in 0..repeats {
                    let repeat = round.saturating_mul(repeats).saturating_add(repeat);
                    self.phase(Step::Planned { index, repeat })?;
                }
            }
        }
        Ok(())
    }

    /// Runs one phase, has it judged, and adds it to the report.
    ///
    /// # Errors
    /// The phase could not run, or it was the last. I/O errors are in its measurements.
    pub fn phase(&mut self, step: Step<'_>) -> Result<&PhaseRecord, Stopped> {
        let (phase, mut record) = self.begin(step)?;
        let ran = self.run_phase(&phase, &mut record);
        let judged = match &ran {
            // A search step is no part of the plan.
            Ok(()) if !record.search_step => Some(self.judge(&phase, &mut record)),
            _ => None,
        };
        if let Err(error) = ran {
            if error.problems().is_empty() {
                // The report keeps what is known of the hosts.
                record.hosts = self.runner.hosts().to_vec();
                self.keep(record, None);
            } else if matches!(step, Step::Added(_)) {
                self.report.plan.phases.pop();
            }
            return Err(error.into());
        }
        self.note(integrity::notes(&record.measurements));
        if let Some(judged) = &judged {
            let (verdict, headline) = (judged.verdict, judged.headline.clone());
            let phase = record.name.clone();
            self.channels.events.send(Event::PhaseJudged { phase, verdict, headline });
        }
        for finding in judged.iter().flat_map(|judged| &judged.findings) {
            let (phase, finding) = (record.name.clone(), Box::new(finding.clone()));
            self.channels.events.send(Event::Found { phase, finding });
        }
        self.channels.events.send(Event::PhaseDone { record: Box::new(record.clone()) });
        let end = ends::after(&phase, &record, &self.channels.control);
        let record = self.keep(record, judged);
        end.map_or(Ok(record), Err)
    }

    /// Cleans up and gives the report of a run that ended in that way.
    ///
    /// # Errors
    /// The reason why nothing has run.
    pub fn finish(mut self, ended: Result<(), Stopped>) -> Result<Report, RunError> {
        let notes = self.runner.close();
        self.note(notes);
        let cut_short = match ended {
            Err(Stopped::Error(error)) if self.report.phases.is_empty() => return Err(error),
            Err(Stopped::Error(error)) => Some(error.to_string()),
            Err(Stopped::Early(sentence)) => Some(sentence),
            Err(Stopped::Done) | Ok(()) => None,
        };
        let is_sweep = sweep(&self.report.plan, &self.report.phases, &self.judged).is_some();
        let judgement = conclude(&self.report.phases, self.judged, cut_short.as_deref());
        let interrupted = self.channels.control.is_stopped();
        let elapsed_s = self.clock.elapsed().as_secs_f64();
        let mut report = Report { elapsed_s, judgement, cut_short, interrupted, ..self.report };
        if is_sweep {
            // Phases of a sweep answer each other's open questions.
            report.judgement = judge_again(&report);
        }
        let verdict = report.judgement.verdict;
        self.channels.events.send(Event::RunDone { verdict, interrupted });
        Ok(report)
    }

    /// The phase of a step and its empty record. A phase that the plan does not have yet is checked
    /// and, unless it is a step of a search, added to it.
    fn begin(&mut self, step: Step<'_>) -> Result<(Phase, PhaseRecord), RunError> {
        let plan = &mut self.report.plan;
        let (phase, index, repeat) = match step {
            Step::Planned { index, repeat } => (plan.phases[index].clone(), index, repeat),
            Step::Added(phase) | Step::Search(phase) => {
                sensible(&alone(plan, phase))?;
                (phase.clone(), plan.phases.len(), 0)
            }
        };
        if matches!(step, Step::Added(_)) {
            plan.phases.push(phase.clone());
        }
        let search_step = matches!(step, Step::Search(_));
        let name = phase.name.clone();
        let tried = search_step.then(|| phase.clone());
        let record =
            PhaseRecord { phase: index, name, repeat, search_step, tried, ..Default::default() };
        Ok((phase, record))
    }

    /// Has a phase run and fills its record.
    fn run_phase(&mut self, phase: &Phase, record: &mut PhaseRecord) -> Result<(), RunError> {
        let (report, judged, events) = (&self.report, &self.judged, &self.channels.events);
        let (index, repeat) = ((!record.search_step).then_some(record.phase), record.repeat);
        // Hosts find in the plan whose trees and files these are, also for a step of a search.
        let searching;
        let plan = if record.search_step {
            searching = with(&report.plan, phase);
            &searching
        } else {
            &report.plan
        };
        let task = Task { plan, phase, index, repeat, follow_up: false };
        let hosts = self.runner.hosts().to_vec();
        let announced = PhaseRecord { hosts, ..record.clone() };
        let ceilings = ceilings(&Case::new(plan, &announced, &report.phases, judged));
        let ready = self.runner.prepare(&task)?;
        self.channels.control.begin_phase();
        events.send(Event::PhaseStarted {
            phase: phase.name.clone(),
            index: record.phase,
            search_step: record.search_step,
            expected_ns: expected::phase_ns(phase),
            ceilings,
        });
        let mut interim = |Collected { measurements, hosts, .. }| {
            let mut report = report.clone();
            report.phases.push(PhaseRecord { measurements, hosts, ..record.clone() });
            let headline = "The run continues.".into();
            let concluded = conclude(&report.phases, judged.clone(), None);
            report.judgement = Judgement { headline, ..concluded };
            report.elapsed_s = self.clock.elapsed().as_secs_f64();
            events.send(Event::Interim { report: Box::new(report) });
        };
        let collected = ready.start(None).collect(&mut interim);
        (record.measurements, record.hosts) = (collected.measurements, collected.hosts);
        self.note(collected.notes);
        Ok(())
    }

    fn case<'a>(&'a self, record: &'a PhaseRecord) -> Case<'a> {
        Case::new(&self.report.plan, record, &self.report.phases, &self.judged)
    }

    /// Judges a phase, and once more with what follow-ups showed where it could not be decided.
    fn judge(&mut self, phase: &Phase, record: &mut PhaseRecord) -> PhaseJudgement {
        let mut judged = judge(&self.case(record));
        if self.options.follow_ups && !self.channels.control.is_stopped() {
            self.follow_ups(phase, record);
            self.copy_memory(record);
            if !record.follow_ups.is_empty()
                || record.hosts.iter().any(|host| host.memory_copy.is_some())
            {
                judged = judge(&self.case(record));
            }
        }
        judged
    }

    /// Keeps a phase; one of many, or of many hosts, with fewer intervals.
    fn keep(&mut self, mut record: PhaseRecord, judged: Option<PhaseJudgement>) -> &PhaseRecord {
        let left = INTERVALS_BYTES_MAX.saturating_sub(self.bytes_of_intervals);
        if record.thin((left / 8).max(INTERVALS_BYTES_LEAST)) {
            self.note(vec![joined_note(&record.name)]);
        }
        self.bytes_of_intervals += record.bytes_of_intervals();
        self.judged.push(judged);
        let phases = &mut self.report.phases;
        phases.push(record);
        &phases[phases.len() - 1]
    }

    fn note(&mut self, notes: Vec<Note>) {
        for note in notes {
            // Hosts that run the same phase have the same to say.
            if !self.report.notes.contains(&note) {
                self.channels.events.send(Event::Noted { note: note.clone() });
                self.report.notes.push(note);
            }
        }
    }
}

/// The plan with that phase only.
fn alone(plan: &Plan, phase: &Phase) -> Plan {
    Plan { phases: vec![phase.clone()], ..plan.clone() }
}

/// The plan with that phase behind its own.
fn with(plan: &Plan, phase: &Phase) -> Plan {
    let mut plan = plan.clone();
    plan.phases.push(phase.clone());
    plan
}

/// Checks a plan by itself; the warnings, if it makes sense.
fn sensible(plan: &Plan) -> Result<Vec<Problem>, RunError> {
    let problems = candor_plan::check::check(plan);
    if candor_plan::check::can_run(&problems) {
        Ok(problems)
    } else {
        Err(RunError::BadPlan(problems))
    }
}

/// A warning about the plan, as a note of the report: the option is not used as written.
fn warning_note(problem: &Problem) -> Note {
    Note {
        asked: problem.place.to_string(),
        did: problem.message.clone(),
        why: problem.remedy.clone(),
        place: None,
    }
}
