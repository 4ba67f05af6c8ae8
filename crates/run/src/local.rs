//! The runner of this host.

mod slices;

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use candor_engine::targets::files;
use candor_engine::{Prepared, Session, SkippedJob};
use candor_judge::Case;
use candor_observe::{Roots, Sampler, SnapshotDetail};
use candor_plan::{Bytes, Nanos, OnFailure, Phase, Plan, Problem};
use candor_record::{
    Event, Facts, Finding, IdleWindow, Note, PhaseReport, PrepareStep, REPORT_VERSION, Report,
    Verdict,
};

use crate::consent::Guard;
use crate::error::RunError;
use crate::schedulers::Schedulers;
use crate::stop::interrupted;
use crate::tracer::RunTracer;
use crate::watch::Watcher;
use crate::{Events, Options, Runner, hooks, laying, place, ready, wrong};

/// How long to look at the devices before candor does anything: traffic of others shows.
const IDLE: Duration = Duration::from_millis(500);

/// A run on this host.
pub struct Local {
    plan: Plan,
    options: Options,
    roots: Roots,
    session: Session,
    facts: Facts,
    phases: Vec<PhaseReport>,
    notes: Vec<Note>,
    guard: Guard,
    schedulers: Schedulers,
    tracer: RunTracer,
    started: String,
    clock: Instant,
}

impl Local {
    /// Checks the plan and the consent it needs, then inspects host and targets.
    ///
    /// Its phases run through [`Runner::phase`]; phases that it does not have yet are added to it
    /// as they run, each checked in the same way.
    ///
    /// # Errors
    /// The plan is refused.
    pub fn open(
        plan: &Plan,
        options: &Options,
        events: &mut Events<'_>,
    ) -> Result<Local, RunError> {
        let roots = Roots::default();
        // First of all, since its clock is calibrated meanwhile.
        let session = Session::new();
        let mut guard = Guard::new(&options.force, &roots);
        let warnings = match plan.phases.is_empty() {
            true => Vec::new(),
            false => sensible(plan)?,
        };
        guard.admit(plan)?;
        events(&started(plan, options));
        events(&Event::Preparing {
            phase: String::new(),
            step: PrepareStep::Inspect,
            what: plan.targets.first().map_or_else(String::new, |t| t.path.display().to_string()),
            bytes_done: 0,
            bytes_total: 0,
        });
        let named: Vec<_> = plan.targets.iter().map(|t| (t.name.clone(), t.path.clone())).collect();
        let facts = candor_observe::inspect(&named, &roots);
        let notes = warnings.iter().map(warning_note).collect::<Vec<_>>();
        for note in &notes {
            events(&Event::Noted { note: note.clone() });
        }
        Ok(Local {
            plan: plan.clone(),
            options: options.clone(),
            roots,
            session,
            facts,
            phases: Vec::new(),
            notes,
            guard,
            schedulers: Schedulers::default(),
            tracer: RunTracer::default(),
            started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            clock: Instant::now(),
        })
    }

    /// The phase's place in the plan, and how often it ran before. A phase that the plan does not
    /// have yet is checked and, unless it is a probe, added to it.
    fn admit(&mut self, phase: &Phase, probe: bool) -> Result<(usize, u32), RunError> {
        let ran = self.phases.iter().filter(|ran| !ran.probe).map(|ran| ran.plan_phase);
        let ran: Vec<usize> = ran.collect();
        let known = match probe {
            true => None,
            false => place::next(&self.plan.phases, &ran, phase),
        };
        let alone = Plan { phases: vec![phase.clone()], ..self.plan.clone() };
        if known.is_none() {
            sensible(&alone)?;
        }
        // What stands at a path may have changed since the run began.
        self.guard.admit(&alone)?;
        let index = known.unwrap_or(self.plan.phases.len());
        if known.is_none() && !probe {
            self.plan.phases.push(phase.clone());
        }
        Ok((index, ran.iter().filter(|ran| **ran == index).count() as u32))
    }

    fn files(&self, phase: &Phase) -> Vec<std::path::PathBuf> {
        let targets = ready::targets(&self.plan, phase);
        targets.iter().flat_map(|(_, target, _)| files::paths(target)).collect()
    }

    /// Traffic of others on the devices, once per run, before candor does anything.
    fn idle_window(&self, sampler: &mut Sampler) -> Option<IdleWindow> {
        if self.options.at_once || !self.phases.is_empty() || self.facts.devices.is_empty() {
            return None;
        }
        let before = sampler.snapshot(SnapshotDetail::Light);
        thread::sleep(IDLE);
        Some(IdleWindow { before, after: sampler.snapshot(SnapshotDetail::Light) })
    }

    /// Begins to look at single requests.
    fn start_tracer(&mut self) {
        self.tracer.start(&self.facts, self.options.block_trace, &self.roots);
    }

    /// Makes everything ready outside of the engine; the jobs that will not run.
    fn make_ready(
        &mut self,
        phase: &Phase,
        events: &mut Events<'_>,
    ) -> Result<Vec<SkippedJob>, RunError> {
        let held = (&mut self.guard, &mut self.schedulers);
        let mut skipped = laying::lay_out(&mut self.session, held, &self.plan, phase, events)?;
        ready::look(&mut self.facts, &self.plan, phase, &self.roots);
        ready::pre_read(&self.plan, phase)?;
        let notes = ready::evict(&self.plan, phase, events)?;
        for note in &notes {
            events(&Event::Noted { note: note.clone() });
        }
        self.notes.extend(notes);
        self.leave_out(phase, &mut skipped)?;
        Ok(skipped)
    }

    /// Adds the jobs that are only to be made ready, and those whose first command fails.
    fn leave_out(&mut self, phase: &Phase, skipped: &mut Vec<SkippedJob>) -> Result<(), RunError> {
        let failed: HashSet<usize> = skipped.iter().map(|skipped| skipped.job).collect();
        let jobs = || phase.jobs.iter().enumerate().filter(|(at, _)| !failed.contains(at));
        let (only_prepared, run): (Vec<_>, Vec<_>) = jobs().partition(|(_, job)| job.prepare_only);
        skipped.extend(only_prepared.into_iter().map(|(at, job)| SkippedJob::prepared(at, job)));
        let hooks =
            run.iter().filter_map(|(at, job)| Some((*at, *job, job.hooks.before.as_ref()?)));
        for failed in hooks::run(hooks) {
            let job = &phase.jobs[failed.at];
            if failed.may {
                self.notes.push(failed.note(&format!("`{}` did not run", job.name)));
                skipped.push(SkippedJob::prepared(failed.at, job));
            } else if phase.on_failure == OnFailure::EndRun {
                return Err(RunError::Hook(failed.failure.message));
            } else {
                skipped.push(SkippedJob::failed(failed.at, job, failed.failure));
            }
        }
        Ok(())
    }

    /// What is due after a phase: commands, and files to be removed.
    fn clean_up(&mut self, phase: &Phase, report: &mut PhaseReport) {
        self.schedulers.put_back();
        let jobs = phase.jobs.iter().enumerate();
        let hooks = jobs.filter_map(|(at, job)| Some((at, job, job.hooks.after.as_ref()?)));
        for failed in hooks::run(hooks) {
            match failed.may {
                true => self.notes.push(failed.note("what was measured stands")),
                false => report.measurements[failed.at].errors.push(failed.failure),
            }
        }
        for (_, target, work) in ready::targets(&self.plan, phase) {
            let Err(error) = self.guard.remove_of(target) else { continue };
            let at = phase.jobs.iter().position(|job| std::ptr::eq(job, work[0].0)).unwrap_or(0);
            report.measurements[at].errors.extend(error.failure());
        }
    }

    fn run_prepared(
        &self,
        prepared: Prepared,
        sampler: &mut Sampler,
        mut report: PhaseReport,
        events: &mut Events<'_>,
    ) -> PhaseReport {
        let begun = report.clone();
        let mut watcher = Watcher::new(self, &begun, sampler, events);
        report.measurements = prepared.run(interrupted(), &mut watcher);
        let Watcher { before, after, after_flush, during, requests, .. } = watcher;
        report.requests = requests.map(|seen| seen.beside(&before, &after));
        report.before = before;
        report.after = after;
        report.after_flush = after_flush;
        report.during = during;
        report
    }

    /// The block tracer of the run.
    pub(crate) fn tracer(&self) -> &RunTracer {
        &self.tracer
    }

    /// True once for each time that someone asked.
    pub(crate) fn asks_how_far(&self) -> bool {
        let asked = &self.options.asks.how_far;
        asked.load(Relaxed) && asked.swap(false, Relaxed)
    }

    /// True where the run is to end, as if all had been done.
    pub(crate) fn is_called_off(&self) -> bool {
        self.options.asks.end.load(Relaxed)
    }

    /// The report so far, with what a phase that still runs has done.
    pub(crate) fn interim(&self, running: PhaseReport) -> Report {
        let mut phases = self.phases.clone();
        phases.push(running);
        Report {
            report_version: REPORT_VERSION,
            candor_version: env!("CARGO_PKG_VERSION").into(),
            started: self.started.clone(),
            elapsed_s: self.clock.elapsed().as_secs_f64(),
            command: self.options.command.clone(),
            plan: self.plan.clone(),
            facts: self.facts.clone(),
            phases,
            notes: self.notes.clone(),
            verdict: Verdict::NotVerifiable,
            headline: "The run goes on.".into(),
            cut_short: None,
            interrupted: false,
        }
    }

    fn case<'a>(&'a self, phase: &'a Phase, report: &'a PhaseReport) -> Case<'a> {
        Case { plan: &self.plan, phase, facts: &self.facts, report, earlier: &self.phases }
    }

    /// Judges a phase, and once more with what slices after it told where it could not be decided.
    fn judge(
        &mut self,
        phase: &Phase,
        report: &mut PhaseReport,
        preflight: Vec<Finding>,
        events: &mut Events<'_>,
    ) {
        let mut judged = candor_judge::judge(&self.case(phase, report));
        if self.options.slices && !interrupted().load(Relaxed) {
            let questions = candor_judge::questions(&self.case(phase, report), &judged);
            self.slices(phase, report, questions, events);
            self.copy_memory(phase, report, events);
            if !report.slices.is_empty() || report.memory_copy.is_some() {
                judged = candor_judge::judge(&self.case(phase, report));
            }
        }
        report.findings = judged.findings;
        report.not_evaluated = judged.not_evaluated;
        report.ceilings = judged.ceilings;
        report.verdict = judged.verdict;
        report.headline = judged.headline;
        report.limited_by = judged.limited_by;
        for (slice, told) in report.slices.iter_mut().zip(judged.follow_ups_reported) {
            slice.told = told;
        }
        let undecided = candor_judge::undecided(preflight, report);
        report.findings.extend(undecided);
    }
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

/// The first event. A series knows better than its plan how long it will be.
fn started(plan: &Plan, options: &Options) -> Event {
    let repeats = u64::from(plan.repeats);
    let (mut count, mut planned_ns) = (0u64, Some(0u64));
    for phase in &plan.phases {
        let times = u64::from(phase.repeats).saturating_mul(repeats);
        count = count.saturating_add(times);
        planned_ns = planned_ns
            .zip(expected_ns(phase))
            .map(|(sum, time)| sum.saturating_add(time.saturating_mul(times)));
    }
    let (phases, expected_ns) = match options.expected {
        Some((phases, time)) => (phases, Some(time.0)),
        None => (usize::try_from(count).unwrap_or(usize::MAX), planned_ns.filter(|sum| *sum > 0)),
    };
    Event::RunStarted { name: plan.name.clone(), phases, expected_ns }
}

/// How long a phase will take, where its end is bound by time.
fn expected_ns(phase: &Phase) -> Option<u64> {
    let job = |job: &candor_plan::Job| {
        let stop = job.stop.as_ref().unwrap_or(&phase.stop);
        stop.time.map(|Nanos(time)| time.saturating_add(job.delay.0))
    };
    let longest = phase.jobs.iter().map(job).collect::<Option<Vec<_>>>()?.into_iter().max()?;
    Some(longest.saturating_add(phase.ramp.0).saturating_add(phase.delay.0))
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

impl Runner for Local {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn phase(
        &mut self,
        phase: &Phase,
        probe: bool,
        events: &mut Events<'_>,
    ) -> Result<&PhaseReport, RunError> {
        let (plan_phase, repeat) = self.admit(phase, probe)?;
        let mut sampler = Sampler::new(&self.facts, &self.files(phase), &self.roots);
        self.start_tracer();
        let idle = self.idle_window(&mut sampler);
        let skipped = self.make_ready(phase, events)?;
        // Files that came into being can have brought their devices with them.
        self.start_tracer();
        // Files may just have come into being.
        let mut sampler = Sampler::new(&self.facts, &self.files(phase), &self.roots);
        rest(phase.delay);
        let prepared = Prepared::without(&mut self.session, &self.plan, phase, repeat, skipped)?;
        self.facts.missing.extend(self.tracer.failure(!self.options.at_once));
        let before = sampler.snapshot(SnapshotDetail::Full);
        if before.cache.is_none() {
            let untold = ready::untold_pages(&self.files(phase));
            let untold = untold.filter(|missing| !self.facts.missing.contains(missing));
            self.facts.missing.extend(untold);
        }
        let preflight = candor_judge::preflight(&self.plan, phase, &self.facts, &before);
        if interrupted().load(Relaxed) {
            return Err(RunError::Interrupted);
        }
        let expected_ns = expected_ns(phase);
        let name = phase.name.clone();
        events(&Event::PhaseStarted { phase: name.clone(), index: plan_phase, expected_ns });
        let report =
            PhaseReport { name, plan_phase, repeat, probe, idle, ..PhaseReport::default() };
        let absent_names = self.guard.absent_names(&self.plan, phase);
        let mut report = self.run_prepared(prepared, &mut sampler, report, events);
        self.guard.adopt(absent_names);
        self.clean_up(phase, &mut report);
        if !probe {
            self.judge(phase, &mut report, preflight, events);
            for note in wrong::weigh(&mut report) {
                events(&Event::Noted { note: note.clone() });
                self.notes.push(note);
            }
        }
        for finding in &report.findings {
            let phase = report.name.clone();
            events(&Event::Found { phase, finding: finding.clone() });
        }
        events(&Event::PhaseDone {
            phase: report.name.clone(),
            measurements: report.measurements.clone(),
            after: Box::new(report.after.clone()),
        });
        self.phases.push(report);
        let last = self.phases.len() - 1;
        Ok(&self.phases[last])
    }

    fn resize(&mut self, target: &str, size: Bytes) {
        if let Some(target) = self.plan.targets.iter_mut().find(|known| known.name == target) {
            target.size = Some(size);
        }
    }

    fn finish(mut self: Box<Self>, cut_short: Option<String>, events: &mut Events<'_>) -> Report {
        self.guard.remove_files();
        let judged = self.phases.iter().filter(|phase| !phase.probe);
        let worst = judged.max_by_key(|phase| phase.verdict);
        let verdict = worst.map_or(Verdict::NotVerifiable, |phase| phase.verdict);
        let headline = match (&cut_short, worst) {
            (Some(why), _) => format!("Cut short: {why}."),
            (None, Some(phase)) => phase.headline.clone(),
            (None, None) => "Nothing was measured.".into(),
        };
        let interrupted = interrupted().load(Relaxed);
        events(&Event::RunDone { verdict, interrupted });
        Report {
            report_version: REPORT_VERSION,
            candor_version: env!("CARGO_PKG_VERSION").into(),
            started: std::mem::take(&mut self.started),
            elapsed_s: self.clock.elapsed().as_secs_f64(),
            command: self.options.command,
            plan: self.plan,
            facts: self.facts,
            phases: self.phases,
            notes: self.notes,
            verdict,
            headline,
            cut_short,
            interrupted,
        }
    }
}

/// Waits, but not longer than until the user stops it.
fn rest(delay: Nanos) {
    let until = Instant::now() + Duration::from_nanos(delay.0);
    while Instant::now() < until && !interrupted().load(Relaxed) {
        thread::sleep(
            Duration::from_millis(20).min(until.saturating_duration_since(Instant::now())),
        );
    }
}
