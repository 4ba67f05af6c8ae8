//! Runs a plan and delivers what it gave as a foreign tool would.

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

/// A command that runs a plan: what is the tool's own of it.
pub trait Foreign: Send {
    /// The tool's name, which begins each complaint.
    const NAME: &'static str;
    /// SIGUSR1 requests results so far; otherwise it interrupts the run.
    const REPORTS_ON_USR1: bool = false;
    /// The exit code of whatever keeps the plan from running.
    const WRONG: u8;

    /// The file that results go to instead of standard output.
    fn output_file(&self) -> Option<&Path>;

    /// Requests to end the run before its time, and for results so far.
    fn requests(&self) -> Requests;

    /// The order of phases, where one decides over another; else all run one after another.
    fn driver(&self) -> Driver {
        Box::new(Run::whole_plan)
    }

    /// The lines before the run.
    fn preamble(&self) -> String;

    /// Begins what goes on beside the run. The error is a sentence.
    fn begin(&mut self) -> Result<(), String>;

    /// The lines that an event adds to the results.
    fn on(&mut self, event: &Event) -> String;

    /// Results so far.
    fn interim(&self, report: &Report) -> String;

    /// Ends what went on beside the run, whatever came of it.
    fn end(&mut self);

    /// Adds to a report what only the command knows.
    fn complete(&mut self, report: &mut Report);

    /// Writes files beside the results. The error is a sentence.
    fn write_files(&self, report: &Report) -> Result<(), String>;

    /// The results, with the verdict among those that `verdict_in` names.
    fn results(&self, report: &Report, verdict_in: VerdictIn) -> String;

    /// The verdict as text, for where it stands alone.
    fn verdict(&self, report: &Report) -> String;

    /// The lines about what failed, for stderr.
    fn failures(&self, report: &Report) -> String;

    /// The exit code.
    fn exit_code(&self, report: &Report) -> u8;

    /// Shows problems of the plan in the user's words.
    fn complain(&self, problems: &[Problem]);
}

/// The hosts that run a plan.
pub enum Place {
    /// This one.
    Here(HostOptions),
    /// Those of a fleet.
    Fleet(Identity, FleetOptions),
}

impl Place {
    /// Number of the hosts of a fleet.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Place::Here(_) => None,
            Place::Fleet(_, options) => Some(options.hosts.len() as u32),
        }
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

/// Runs the plan on this host, and gives the exit code.
fn run<F: Foreign>(command: &mut F, plan: &Plan, (options, host): (Options, HostOptions)) -> u8 {
    run_on(command, plan, (options, Place::Here(host)))
}

/// Runs the plan on the hosts that have its ranks, each with its share of the workers, or on this
/// one; gives the exit code.
pub fn run_ranked<F: Foreign>(
    command: &mut F,
    plan: &Plan,
    (options, host): (Options, HostOptions),
    hosts: Option<&RankHosts>,
) -> u8 {
    let Some(hosts) = hosts else { return run(command, plan, (options, host)) };
    let fleet = FleetOptions { force: host.force, ..hosts.options.clone() };
    let mut jobs = plan.phases.iter().flat_map(|phase| &phase.jobs);
    if hosts.first_elsewhere().is_some() && jobs.any(|job| job.operations_log.is_some()) {
        let sentence = "times of single operations are written on the hosts that --hosts names, \
                        and no file of this host can have them; leave them out";
        return refused(command, sentence);
    }
    match plan.spread(hosts.count()) {
        Ok(plan) => {
            let place = Place::Fleet(hosts.identity.clone(), fleet);
            run_on(command, &plan, (options, place))
        }
        Err(sentence) => refused(command, &sentence),
    }
}

/// Runs the plan, and gives the exit code.
pub fn run_on<F: Foreign>(
    command: &mut F,
    plan: &Plan,
    (options, mut place): (Options, Place),
) -> u8 {
    let verdict = Verdict::chosen();
    // Before files are claimed, and complaints written to them.
    if let Err(error) = candor_run::note_files(plan) {
        return not_started(command, &error);
    }
    let (mut own, mut sink) = match opened(command, &verdict) {
        Ok(opened) => opened,
        Err(sentence) => return refused(command, &sentence),
    };
    if verdict == Verdict::Off && !own.have_readers() {
        // Nobody would read what it saw.
        match &mut place {
            Place::Here(host) => host.block_trace = BlockTraceMode::Off,
            Place::Fleet(_, options) => options.block_trace = BlockTraceMode::Off,
        }
    }
    let control = if F::REPORTS_ON_USR1 {
        candor_run::interrupts_and_interims()
    } else {
        candor_run::interrupts()
    };
    let monitor = Monitor::start(F::NAME, command.requests(), control.clone());
    if let Err(sentence) = command.begin() {
        return refused(command, &sentence);
    }
    let mut undelivered = Ok(());
    let driver = command.driver();
    let consumer = |event: &Event| {
        own.take(event);
        let text = match event {
            Event::Interim { report } => command.interim(report),
            event => command.on(event),
        };
        if !text.is_empty() && undelivered.is_ok() {
            undelivered = sink.put(&text);
            // A reader of interim results reads them now.
            if undelivered.is_ok() && matches!(event, Event::Interim { .. }) {
                undelivered = sink.deliver();
            }
        }
    };
    let runner = |channels: &Channels| place.runner(channels);
    let ran = candor_run::execute_on(runner, plan, &options, &control, consumer, driver);
    drop(monitor);
    command.end();
    let mut report = match ran {
        Ok(report) => report,
        Err(error) => return not_started(command, &error),
    };
    command.complete(&mut report);
    let files = command.write_files(&report);
    let text = command.results(&report, verdict.among_results());
    screen::tell(&command.failures(&report));
    let delivered = undelivered.and_then(|()| sink.put(&text)).and_then(|()| sink.deliver());
    if let Err(sentence) = delivered {
        return refused(command, &sentence);
    }
    // The results stand by now, and stay whatever else cannot be written.
    let delivered = verdict.deliver(|| command.verdict(&report)).and(files).and(own.write(&report));
    own.close(&control);
    match delivered.inspect_err(|sentence| screen::tell(&format!("{}: {sentence}\n", F::NAME))) {
        Ok(()) => command.exit_code(&report),
        Err(_) => F::WRONG,
    }
}

/// Candor's own results, and the sink with the lines before the run in it.
fn opened(command: &impl Foreign, verdict: &Verdict) -> Result<(OwnResults, Sink), String> {
    verdict.claim()?;
    let own = OwnResults::open()?;
    let mut sink = Sink::open(command.output_file())?;
    sink.put(&command.preamble())?;
    Ok((own, sink))
}

fn refused<F: Foreign>(command: &F, sentence: &str) -> u8 {
    Complaints { tool: F::NAME, file: command.output_file() }.sentence(sentence);
    F::WRONG
}

/// Shows why nothing ran, at the words that are to blame where they are known.
fn not_started<F: Foreign>(command: &F, error: &RunError) -> u8 {
    match error.problems() {
        [] => refused(command, &error.to_string()),
        problems => {
            command.complain(problems);
            F::WRONG
        }
    }
}
