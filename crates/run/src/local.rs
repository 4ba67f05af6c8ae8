//! The runner of this host.

mod follow_ups;

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use candor_engine::names;
use candor_engine::{Prepared, Session, SkippedJob, Task};
use candor_judge::{Case, conclude, judge, questions};
use candor_observe::{Roots, Sampler, SnapshotDetail};
use candor_plan::{Bytes, Nanos, OnFailure, Phase, Plan, Problem};
use candor_record::{
    Event, Facts, HostRecord, IdleWindow, Judgement, Note, PhaseJudgement, PhaseRecord,
    PrepareStep, REPORT_VERSION, Report,
};

use crate::consent::Guard;
use crate::error::RunError;
use crate::families;
use crate::schedulers::Schedulers;
use crate::stop::interrupted;
use crate::tracer::RunTracer;
use crate::watch::Watcher;
use crate::{Events, Options, Runner, Step, hooks, integrity, laying, ready};

/// How long to look at the devices before candor does anything: traffic of others shows.
const IDLE: Duration = Duration::from_millis(500);

/// A run on this host.
pub struct Local {
    plan: Plan,
    options: Options,
    roots: Roots,
    session: Session,
    facts: Facts,
    phases: Vec<PhaseRecord>,
    judged: Vec<Option<PhaseJudgement>>,
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
        let session = Session::new(families::of);
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
            judged: Vec::new(),
            notes,
            guard,
            schedulers: Schedulers::default(),
            tracer: RunTracer::default(),
            started: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            clock: Instant::now(),
        })
    }

    /// The phase of a step, its index in the plan, and which repeat it is. A phase that the plan
    /// does not have yet is checked and, unless it is a step of a search, added to it.
    fn admit(&mut self, step: Step<'_>) -> Result<(Phase, usize, u32), RunError> {
        let (phase, index, repeat) = match step {
            Step::Planned { index, repeat } => (&self.plan.phases[index], index, repeat),
            Step::Added(phase) | Step::Search(phase) => (phase, self.plan.phases.len(), 0),
        };
        let phase = phase.clone();
        let alone = Plan { phases: vec![phase.clone()], ..self.plan.clone() };
        if !matches!(step, Step::Planned { .. }) {
            sensible(&alone)?;
        }
        // What stands at a path may have changed since the run began.
        self.guard.admit(&alone)?;
        if matches!(step, Step::Added(_)) {
            self.plan.phases.push(phase.clone());
        }
        Ok((phase, index, repeat))
    }

    fn files(&self, phase: &Phase) -> Vec<std::path::PathBuf> {
        let targets = ready::targets(&self.plan, phase);
        targets.iter().flat_map(|(_, target, _)| names::paths(target)).collect()
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

    /// Makes everything ready, inside and outside of the engine.
    fn prepare(
        &mut self,
        phase: &Phase,
        (index, repeat): (Option<usize>, u32),
        events: &mut Events<'_>,
    ) -> Result<(Prepared, Sampler, Option<IdleWindow>), RunError> {
        let mut sampler = Sampler::new(&self.facts, &self.files(phase), &self.roots);
        self.start_tracer();
        let idle = self.idle_window(&mut sampler);
        let absent = self.make_ready(phase, events)?;
        // Files that came into being can have brought their devices with them.
        self.start_tracer();
        // Files may just have come into being.
        let mut sampler = Sampler::new(&self.facts, &self.files(phase), &self.roots);
        rest(phase.delay);
        let task = Task { plan: &self.plan, phase, index, repeat };
        let prepared = Prepared::without(&mut self.session, &task, absent)?;
        self.facts.missing.extend(self.tracer.failure(!self.options.at_once));
        if sampler.snapshot(SnapshotDetail::Full).cache.is_none() {
            let untold = ready::untold_pages(&self.files(phase));
            let untold = untold.filter(|missing| !self.facts.missing.contains(missing));
            self.facts.missing.extend(untold);
        }
        match interrupted().load(Relaxed) {
            true => Err(RunError::Interrupted),
            false => Ok((prepared, sampler, idle)),
        }
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
    fn clean_up(&mut self, phase: &Phase, record: &mut PhaseRecord) {
        self.schedulers.put_back();
        let jobs = phase.jobs.iter().enumerate();
        let hooks = jobs.filter_map(|(at, job)| Some((at, job, job.hooks.after.as_ref()?)));
        for failed in hooks::run(hooks) {
            match failed.may {
                true => self.notes.push(failed.note("what was measured stands")),
                false => record.measurements[failed.at].errors.push(failed.failure),
            }
        }
        for (_, target, work) in ready::targets(&self.plan, phase) {
            let Err(error) = self.guard.remove_of(target) else { continue };
            let at = phase.jobs.iter().position(|job| std::ptr::eq(job, work[0].0)).unwrap_or(0);
            record.measurements[at].errors.extend(error.failure());
        }
    }

    fn run_prepared(
        &self,
        prepared: Prepared,
        sampler: &mut Sampler,
        mut record: PhaseRecord,
        idle: Option<IdleWindow>,
        events: &mut Events<'_>,
    ) -> PhaseRecord {
        let begun = record.clone();
        let mut watcher = Watcher::new(self, &begun, sampler, events);
        record.measurements = prepared.run(interrupted(), &mut watcher);
        let Watcher { before, after, after_flush, during, requests, .. } = watcher;
        let requests = requests.map(|seen| seen.beside(&before, &after));
        let host = HostRecord { before, during, after, after_flush, requests, ..self.host(idle) };
        record.hosts.push(host);
        record
    }

    /// What is known of this host before a phase begins.
    pub(crate) fn host(&self, idle: Option<IdleWindow>) -> HostRecord {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        HostRecord { host, facts: self.facts.clone(), idle, ..HostRecord::default() }
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
    pub(crate) fn interim(&self, running: PhaseRecord) -> Report {
        let mut phases = self.phases.clone();
        phases.push(running);
        let headline = "The run goes on.".into();
        let judged = Judgement { headline, ..conclude(self.judged.clone(), None) };
        Report {
            report_version: REPORT_VERSION,
            candor_version: env!("CARGO_PKG_VERSION").into(),
            started: self.started.clone(),
            elapsed_s: self.clock.elapsed().as_secs_f64(),
            command: self.options.command.clone(),
            plan: self.plan.clone(),
            phases,
            notes: self.notes.clone(),
            judgement: judged,
            cut_short: None,
            interrupted: false,
        }
    }

    fn case<'a>(&'a self, record: &'a PhaseRecord) -> Case<'a> {
        Case::new(&self.plan, record, &self.phases, &self.judged)
    }

    /// Judges a phase, and once more with what follow-ups showed where it could not be decided.
    fn judge(
        &mut self,
        phase: &Phase,
        record: &mut PhaseRecord,
        events: &mut Events<'_>,
    ) -> PhaseJudgement {
        let mut judged = judge(&self.case(record));
        if self.options.follow_ups && !interrupted().load(Relaxed) {
            let questions = questions(&self.case(record), &judged);
            self.follow_ups(phase, record, questions, events);
            self.copy_memory(record, events);
            if !record.follow_ups.is_empty() || record.host().memory_copy.is_some() {
                judged = judge(&self.case(record));
            }
        }
        judged
    }

    /// Keeps a phase that could not be prepared, with what is known of the host.
    fn unprepared(&mut self, (name, index, repeat): (String, usize, u32), step: Step<'_>) {
        let search_step = matches!(step, Step::Search(_));
        let hosts = vec![self.host(None)];
        let record =
            PhaseRecord { phase: index, name, repeat, search_step, hosts, ..Default::default() };
        self.phases.push(record);
        self.judged.push(None);
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

    fn phase(&mut self, step: Step<'_>, events: &mut Events<'_>) -> Result<&PhaseRecord, RunError> {
        let (phase, index, repeat) = self.admit(step)?;
        let name = phase.name.clone();
        // A step of a search is no part of the plan.
        let drawn_as = (!matches!(step, Step::Search(_))).then_some(index);
        let ready = self.prepare(&phase, (drawn_as, repeat), events);
        let (prepared, mut sampler, idle) = match ready {
            Ok(ready) => ready,
            Err(error) => {
                self.unprepared((name, index, repeat), step);
                return Err(error);
            }
        };
        let expected_ns = expected_ns(&phase);
        events(&Event::PhaseStarted { phase: name.clone(), index, expected_ns });
        let search_step = matches!(step, Step::Search(_));
        let record =
            PhaseRecord { phase: index, name, repeat, search_step, ..PhaseRecord::default() };
        let absent_names = self.guard.absent_names(&self.plan, &phase);
        let mut record = self.run_prepared(prepared, &mut sampler, record, idle, events);
        self.guard.adopt(absent_names);
        self.clean_up(&phase, &mut record);
        let judged = (!search_step).then(|| self.judge(&phase, &mut record, events));
        for note in integrity::notes(&record.measurements) {
            events(&Event::Noted { note: note.clone() });
            self.notes.push(note);
        }
        for finding in judged.iter().flat_map(|judged| &judged.findings) {
            let phase = record.name.clone();
            events(&Event::Found { phase, finding: finding.clone() });
        }
        events(&Event::PhaseDone {
            phase: record.name.clone(),
            measurements: record.measurements.clone(),
            after: Box::new(record.host().after.clone()),
        });
        self.phases.push(record);
        self.judged.push(judged);
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
        let judgement = conclude(self.judged, cut_short.as_deref());
        let interrupted = interrupted().load(Relaxed);
        events(&Event::RunDone { verdict: judgement.verdict, interrupted });
        Report {
            report_version: REPORT_VERSION,
            candor_version: env!("CARGO_PKG_VERSION").into(),
            started: std::mem::take(&mut self.started),
            elapsed_s: self.clock.elapsed().as_secs_f64(),
            command: self.options.command,
            plan: self.plan,
            phases: self.phases,
            notes: self.notes,
            judgement,
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
