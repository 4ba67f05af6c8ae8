//! Runs a plan and delivers its results as the tool would.

use std::borrow::Cow;
use std::path::Path;

use candor_fleet::{Fleet, FleetOptions, Identity};
use candor_plan::{Plan, Problem};
use candor_record::{Event, Report};
use candor_run::{
    BlockTraceMode, Channels, HostOptions, Local, Options, Run, RunError, Runner, Stopped,
};

use super::Complaints;
use super::monitor::{Monitor, Requests};
use super::own::OwnResults;
use super::ranks::RankHosts;
use super::sink::Sink;
use super::verdict::{Verdict, VerdictIn};
use crate::screen;

/// Runs the phases of a plan, in an order of its own.
pub type Driver = Box<dyn FnOnce(&mut Run) -> Result<(), Stopped>>;

/// One run of a tool's command line: the tool's own part of it.
pub trait Session: Send {
    /// Starts everything that accompanies the run; returns the lines before it.
    ///
    /// # Errors
    /// A sentence that keeps the plan from running.
    fn begin(&mut self) -> Result<String, String>;

    /// Returns the lines that an event adds to the results. [`Event::Interim`] has the results so
    /// far.
    fn on(&mut self, event: &Event) -> String;

    /// Ends everything that accompanied the run, adds notes to the report, writes the tool's files
    /// and returns its results, with the verdict among those that `verdict_in` names.
    fn finish(&mut self, report: &mut Report, verdict_in: VerdictIn) -> Finish;

    /// Problems of the plan in the user's words, a sentence each.
    fn sentences(&self, problems: &[Problem]) -> Vec<String>;

    /// The order of phases, where one phase decides over another; else one after another.
    fn driver(&mut self) -> Driver {
        Box::new(Run::whole_plan)
    }
}

/// Results of a session.
pub struct Finish {
    /// Text for stdout, or for the file of the results.
    pub results: String,
    /// The verdict as text, for stderr or a file of its own.
    pub verdict: String,
    /// Lines on stderr about failures.
    pub failures: String,
    /// A sentence if a file of the tool could not be written.
    pub files: Result<(), String>,
    /// Exit code.
    pub exit_code: u8,
}

/// The hosts that run a plan.
pub enum Place {
    /// This host.
    Here(HostOptions),
    /// The hosts of a fleet.
    Fleet(Identity, FleetOptions),
}

impl Place {
    /// This host, or a fleet. Targets of `force` are written although another process holds them.
    pub fn new(force: Vec<String>, fleet: Option<(Identity, FleetOptions)>) -> Place {
        match fleet {
            None => Place::Here(HostOptions { force, at_once: true, ..HostOptions::default() }),
            Some((identity, options)) => Place::Fleet(identity, FleetOptions { force, ..options }),
        }
    }

    /// Number of the hosts of a fleet.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Place::Here(_) => None,
            Place::Fleet(_, options) => Some(options.hosts.len() as u32),
        }
    }

    /// Runs without the block tracer.
    fn without_trace(&mut self) {
        let mode = match self {
            Place::Here(host) => &mut host.block_trace,
            Place::Fleet(_, options) => &mut options.block_trace,
        };
        *mode = BlockTraceMode::Off;
    }

    /// The runner of these hosts.
    ///
    /// # Errors
    /// One of them cannot be reached, or refuses.
    pub fn runner(self, channels: &Channels) -> Result<Box<dyn Runner>, RunError> {
        Ok(match self {
            Place::Here(options) => Box::new(Local::new(&options, channels)),
            Place::Fleet(identity, options) => {
                Box::new(Fleet::join(&identity, &options, channels)?)
            }
        })
    }
}

/// The request of a command line: a plan, and how its results are delivered.
pub struct Invocation<'a> {
    /// The tool's name, the file that results go to instead of stdout, and the exit code if the
    /// plan does not run or its results are not written.
    pub complaints: Complaints<'a>,
    /// Requests for interim results, and for an early end.
    pub requests: Requests,
    /// The plan.
    pub plan: Cow<'a, Plan>,
    /// The command line, for the report.
    pub command: &'a [String],
    /// The hosts.
    pub place: Place,
}

impl Invocation<'_> {
    /// The same on the hosts that have the ranks, each with its share of the workers.
    ///
    /// # Errors
    /// A sentence if the hosts cannot run the plan.
    pub fn on(mut self, hosts: Option<&RankHosts>) -> Result<Self, String> {
        let Some(hosts) = hosts else { return Ok(self) };
        let mut jobs = self.plan.phases.iter().flat_map(|phase| &phase.jobs);
        if hosts.first_elsewhere().is_some() && jobs.any(|job| job.operations_log.is_some()) {
            return Err("times of single operations are written on the hosts that --hosts names, \
                        and no file of this host can have them; leave them out"
                .to_owned());
        }
        let force = match self.place {
            Place::Here(host) => host.force,
            Place::Fleet(_, options) => options.force,
        };
        self.place = Place::new(force, Some((hosts.identity.clone(), hosts.options.clone())));
        self.plan = Cow::Owned(self.plan.spread(hosts.count())?);
        Ok(self)
    }

    /// Runs the plan, and returns the exit code.
    pub fn run(self, session: &mut dyn Session) -> u8 {
        let Invocation { complaints, requests, plan, command, mut place } = self;
        let verdict = Verdict::chosen();
        // Before files are claimed, and complaints written to them.
        if let Err(error) = candor_run::note_files(&plan) {
            return not_started(complaints, session, &error);
        }
        let (mut own, mut sink) = match opened(&verdict, complaints.file) {
            Ok(opened) => opened,
            Err(sentence) => return complaints.sentence(&sentence),
        };
        if verdict == Verdict::Off && !own.have_readers() {
            // No output shows what the tracer would record.
            place.without_trace();
        }
        let control = if requests.on_usr1 {
            candor_run::interrupts_and_interims()
        } else {
            candor_run::interrupts()
        };
        let monitor = Monitor::start(complaints.tool, requests, control.clone());
        if let Err(sentence) = session.begin().and_then(|lines| sink.put(&lines)) {
            return complaints.sentence(&sentence);
        }
        let mut undelivered = Ok(());
        let driver = session.driver();
        let consumer = |event: &Event| {
            own.take(event);
            let text = session.on(event);
            if !text.is_empty() && undelivered.is_ok() {
                undelivered = sink.put(&text);
                // A reader of interim results reads them now.
                if undelivered.is_ok() && matches!(event, Event::Interim { .. }) {
                    undelivered = sink.deliver();
                }
            }
        };
        let options = Options { command: command.to_vec(), ..Options::default() };
        let runner = |channels: &Channels| place.runner(channels);
        let ran = candor_run::execute_on(runner, &plan, &options, &control, consumer, driver);
        drop(monitor);
        let mut report = match ran {
            Ok(report) => report,
            Err(error) => return not_started(complaints, session, &error),
        };
        let finish = session.finish(&mut report, verdict.among_results());
        screen::tell(&finish.failures);
        let delivered =
            undelivered.and_then(|()| sink.put(&finish.results)).and_then(|()| sink.deliver());
        if let Err(sentence) = delivered {
            return complaints.sentence(&sentence);
        }
        // The results are written; they stay even if nothing else can be.
        let delivered = verdict.deliver(&finish.verdict).and(finish.files).and(own.write(&report));
        own.close(&control);
        match delivered {
            Ok(()) => finish.exit_code,
            Err(sentence) => complaints.aside(&sentence),
        }
    }
}

/// Candor's own results, and the sink of the tool's.
fn opened(verdict: &Verdict, file: Option<&Path>) -> Result<(OwnResults, Sink), String> {
    verdict.claim()?;
    Ok((OwnResults::open()?, Sink::open(file)?))
}

/// Shows why nothing ran, with the position in the user's text where it is known.
fn not_started(complaints: Complaints<'_>, session: &dyn Session, error: &RunError) -> u8 {
    match error.problems() {
        [] => complaints.sentence(&error.to_string()),
        problems => complaints.sentences(&session.sentences(problems)),
    }
}
